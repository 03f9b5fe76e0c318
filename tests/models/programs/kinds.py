# SPDX-License-Identifier: BSD-2-Clause
"""Types of generated programs: scalar types are strings (their names), all other types are tuples. This file has their annotations and literals."""
INT, FLOAT, BOOL, STR, COMPLEX = "int", "float", "bool", "str", "complex"
SCALARS = (INT, FLOAT, BOOL, STR)
FLOATS, WHOLES = ("float32", "float64"), ("int64", "int32", "uint8")
WORDS = ["", "a", "abc", "Hello World", " pad ", "a,b,,c", "12", "x_1", "it's", "Zz9", "aXbX", "-7", "ab ab"]
NUMBERS = ["0", "1", "2", "3", "-1", "-2", "5", "7", "-4", "10", "255", "1000"]
REALS = ["0.0", "1.0", "0.5", "-1.5", "2.0", "3.25", "-0.25", "1e-3", "100.0", "-7.0", "2.5", "0.1"]


def listed(t):
    return ("list", t)


def keyed(k, v):
    return ("dict", k, v)


def optional(t):
    return ("opt", t)


def tupled(*of):
    return ("tuple",) + of


def union(*of):
    return ("union",) + of


def tensor(dtype="float32", shape=(2, 3)):
    return ("tensor", dtype, tuple(shape))


def is_kind(t, kind):
    return isinstance(t, tuple) and t[0] == kind


def spell(t, r, inner=False):
    """Returns an annotation, in one of its spellings. inner: true inside other types, in bodies and in classes, where PyTorch does not
    support `list[int]`."""
    if isinstance(t, str):
        return t
    kind = t[0]
    if kind == "tensor":
        return r.choice(["Tensor", "Tensor", "torch.Tensor"])
    if kind in ("class", "named", "enum"):
        return t[1]
    if kind == "list":
        return f"{r.choice(['List', 'List', 'List' if inner else 'list'])}[{spell(t[1], r, True)}]"
    if kind == "dict":
        return f"{r.choice(['Dict', 'Dict', 'Dict' if inner else 'dict'])}[{spell(t[1], r, True)}, {spell(t[2], r, True)}]"
    if kind == "opt":
        one = spell(t[1], r, True)
        return r.choice([f"Optional[{one}]", f"Optional[{one}]", f"Union[{one}, None]", f"Union[None, {one}]"])
    if kind == "tuple":
        return f"{r.choice(['Tuple', 'Tuple' if inner else 'tuple'])}[{', '.join(spell(x, r, True) for x in t[1:])}]"
    of = list(t[1:])
    r.shuffle(of)
    return f"Union[{', '.join(spell(x, r, True) for x in of)}]"


def shape_text(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


def count(shape):
    n = 1
    for s in shape:
        n *= s
    return n


def literal(t, r):
    """Returns a constant of the type, which uses no names of the scope."""
    if t == INT:
        return r.choice(NUMBERS)
    if t == FLOAT:
        return r.choice(REALS)
    if t == BOOL:
        return r.choice(["True", "False"])
    if t == STR:
        return repr(r.choice(WORDS))
    if t == COMPLEX:
        return f"complex({r.choice(REALS)}, {r.choice(REALS)})"
    kind = t[0]
    if kind == "tensor":
        return tensor_literal(t[1], t[2], r)
    if kind == "list":
        n = r.choice([0, 1, 2, 3, 3])
        return "[" + ", ".join(literal(t[1], r) for _ in range(n)) + "]" if n else f"torch.jit.annotate({spell(t, r, True)}, [])"
    if kind == "dict":
        keys = sorted({literal(t[1], r) for _ in range(r.choice([0, 1, 2, 3, 2]))})
        if not keys:
            return f"torch.jit.annotate({spell(t, r, True)}, {{}})"
        return "{" + ", ".join(f"{k}: {literal(t[2], r)}" for k in keys) + "}"
    if kind == "opt":
        return r.choice([f"torch.jit.annotate({spell(t, r, True)}, None)", f"torch.jit.annotate({spell(t, r, True)}, {literal(t[1], r)})"])
    if kind == "tuple":
        return "(" + "".join(literal(x, r) + ", " for x in t[1:]) + ")"
    if kind == "named" or kind == "class":
        return f"{t[1]}({', '.join(literal(x, r) for x in t[2])})"
    if kind == "enum":
        return f"{t[1]}.{r.choice(t[2])}"
    return f"torch.jit.annotate({spell(t, r, True)}, {literal(t[1], r)})"


def tensor_literal(dtype, shape, r):
    n, size = count(shape), shape_text(shape)
    choice = r.random()
    if choice < 0.3:
        return f"torch.{r.choice(['zeros', 'ones'])}({size}, dtype=torch.{dtype})"
    if choice < 0.5 and dtype == "int64":
        return f"torch.arange({n}).reshape({size})"
    if choice < 0.5 and dtype == "float32":
        return f"torch.linspace(-1.0, 2.0, {n}).reshape({size})"
    if choice < 0.7 and n <= 8 and dtype in ("float32", "int64", "bool"):
        of = {"float32": FLOAT, "int64": INT, "bool": BOOL}[dtype]
        return f"torch.tensor([{', '.join(literal(of, r) for _ in range(n))}]).reshape({size})"
    if dtype == "bool":
        return f"(torch.arange({n}).reshape({size}) % {r.choice(['2', '3'])} == 1)"
    value = {"complex64": "2.5"}.get(dtype) or r.choice(["1", "2", "3"])
    return f"torch.full({size}, {value}, dtype=torch.{dtype})"


def value(t, r, torch):
    """Returns an argument of the type."""
    if t == INT:
        return r.choice([0, 1, 2, 3, 4, 5, -1, -3, 7])
    if t == FLOAT:
        return r.choice([0.0, 1.0, 0.5, -1.5, 2.25, 3.0, -0.125])
    if t == BOOL:
        return r.random() < 0.5
    if t == STR:
        return r.choice(WORDS)
    kind = t[0]
    if kind == "tensor":
        g = torch.Generator().manual_seed(r.randrange(1 << 30))
        dtype = getattr(torch, t[1])
        if dtype == torch.bool:
            return torch.randint(0, 2, t[2], generator=g).bool()
        if dtype.is_complex:
            return torch.complex(torch.randint(-8, 9, t[2], generator=g) / 4, torch.randint(-8, 9, t[2], generator=g) / 4)
        if dtype.is_floating_point:
            return torch.randint(-12, 13, t[2], generator=g).to(dtype) / 4
        return torch.randint(0 if dtype == torch.uint8 else -5, 6, t[2], generator=g).to(dtype)
    if kind == "list":
        return [value(t[1], r, torch) for _ in range(r.choice([0, 1, 2, 3, 4, 2, 3]))]
    if kind == "dict":
        return {value(t[1], r, torch): value(t[2], r, torch) for _ in range(r.choice([0, 1, 2, 3, 2]))}
    if kind == "opt":
        return None if r.random() < 0.4 else value(t[1], r, torch)
    if kind in ("tuple",):
        return tuple(value(x, r, torch) for x in t[1:])
    one = value(r.choice(t[1:]), r, torch)
    return [1] if one == [] else one  # PyTorch does not accept an empty list for a Union
