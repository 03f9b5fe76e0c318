# SPDX-License-Identifier: BSD-2-Clause
# Numbers of every kind, complex ones too: the overloads of arithmetic, comparison and math functions.
import itertools

CASES = []
VALUES = {"int": (3, -2), "float": (2.5, -0.75), "complex": ((1.5, -2.0), (0.0, 1.0)), "bool": (True, False)}
KINDS = {"int": "int", "float": "float", "bool": "bool", "complex": "complex"}


def given(kind, name):
    """Returns the lines that make a number of this kind from an input of the program, and the input."""
    return f"    {name} = complex({name}r, {name}i)\n" if kind == "complex" else ""


def parameters(kind, name):
    return f"{name}r: float, {name}i: float" if kind == "complex" else f"{name}: {kind}"


def add(name, kinds, expression, values, wrap=False):
    """Adds a case for each tuple of values. wrap: true to pass the numbers as Scalars, whose kind only the run knows."""
    names = "xyw"[:len(kinds)]
    head = f"def f({', '.join(parameters(k, n) for k, n in zip(kinds, names))}):\n" + "".join(given(k, n) for k, n in zip(kinds, names))
    for at, row in enumerate(values):
        flat = []
        for v in row:
            flat += list(v) if isinstance(v, tuple) else [v]
        CASES.append((f"{name}/{'-'.join(kinds)}/{at}", head + f"    return {expression}\n", tuple(flat)))


def pairs(name, expression, kinds=("int", "float", "complex"), values=VALUES):
    for a, b in itertools.product(kinds, kinds):
        add(name, (a, b), expression, list(itertools.product(values[a], values[b])))


for label, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/"), ("eq", "=="), ("ne", "!=")):
    pairs(label, f"x {sign} y", ("complex",) if label == "div" else ("int", "float"))
    if label in ("add", "sub", "mul"):
        pairs(label, f"x {sign} y")
    elif label != "div":  # PyTorch fails with an internal error in divisions and comparisons of complex numbers with numbers of other kinds
        pairs(label, f"x {sign} y", ("float", "complex"))
pairs("pow", "x ** y", values={"int": (3, 2), "float": (2.5, 0.75), "complex": ((1.5, -2.0), (0.5, 1.0))})
for label, expression in (("floordiv", "x // y"), ("remainder", "x % y"), ("fmod", "torch.ops.aten.fmod(x, y)"), ("copysign", "torch.ops.aten.copysign(x, y)"), ("atan2", "torch.ops.aten.atan2(x, y)"), ("divmod", "divmod(x, y)"),
                          ("polar", "torch.ops.aten.polar(x, y)"), ("mathremainder", "math.remainder(x, y)"), ("lt", "x < y"), ("gt", "x > y"), ("le", "x <= y"), ("ge", "x >= y"), ("min", "min(x, y)"), ("max", "max(x, y)")):
    pairs(label, expression, ("int", "float"))
for label in ("floordiv", "remainder", "mathremainder", "fmod", "divmod", "div"):
    expression = {"floordiv": "x // y", "remainder": "x % y", "mathremainder": "math.remainder(x, y)", "fmod": "math.fmod(x, y)", "divmod": "divmod(x, y)", "div": "x / y"}[label]
    pairs(label + " by zero", expression, ("float",) if label in ("remainder", "divmod") else ("int", "float"), {"int": (3, 0), "float": (2.5, 0.0)})  # int % 0 ends PyTorch's process
pairs("log of base", "torch.ops.aten.log(x, y)", values={"int": (3, 2), "float": (2.5, 0.75), "complex": ((1.5, -2.0), (0.5, 1.0))})
for name in "exp log log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh angle isnan isinf isfinite neg".split():
    add(name, ("complex",), f"torch.ops.aten.{name}(x)", [((1.5, -2.0),), ((0.25, 0.5),), ((-1.0, 0.0),)])
for name in "round floor ceil angle neg".split():
    add(name, ("int",), f"torch.ops.aten.{name}(x)", [(3,), (-2,), (0,)])
    add(name, ("float",), f"torch.ops.aten.{name}(x)", [(2.5,), (-0.5,), (0.0,), (3.5,)])
for kinds in itertools.product(("int", "float", "bool"), repeat=2):
    add("complex", kinds, "complex(x, y)", [tuple(VALUES[k][0] for k in kinds), tuple(VALUES[k][1] for k in kinds)])
for kind in ("int", "float", "bool"):
    if kind != "bool":
        add("complex of one", (kind,), "complex(x)", [(v,) for v in VALUES[kind]])
add("abs", ("complex",), "abs(x)", [((3.0, -4.0),), ((0.0, 0.0),)])
# Scalars made from tensors: numbers whose kind only the run knows.
for v in ("torch.tensor(3)", "torch.tensor(-2.5)"):
    for e in ("a + a", "a - a", "a * a", "a / a", "a // a", "a % 2", "a == a", "a != 3", "a < 3", "a > 3", "a <= 3", "a >= 3", "-a", "float(a)", "int(a)", "bool(a)", "complex(a)", "abs(a)", "min(a, a)", "max(a, a)",
              "a ** 2", "2 ** a", *(f"torch.ops.aten.{n}(a)" for n in "round floor ceil exp log10 sqrt sin angle neg log1p gamma lgamma erf".split()),
              *(f"torch.ops.aten.{n}(a, a)" for n in "fmod copysign atan2 polar log mathremainder".split())):
        CASES.append((f"scalar/{v}/{e}", f"def f():\n    a = {v}.item()\n    return {e}\n", ()))
for e in ("torch.ops.aten.is_nonzero(torch.tensor([2]))", "torch.ops.aten._local_scalar_dense(torch.tensor([2.5]))", "torch.ops.aten._local_scalar_dense(torch.tensor(True))", "torch.ops.aten.FloatImplicit(torch.tensor(2.5))",
          "torch.ops.aten.IntImplicit(torch.tensor(2))", "torch.ops.aten.ScalarImplicit(torch.tensor(2))", "torch.ops.aten.ComplexImplicit(torch.tensor(2) * 1j)", "torch.ops.aten.__round_to_zero_floordiv(-7, 2)",
          "torch.ops.aten.__round_to_zero_floordiv(7, -2)", "torch.ops.aten.FloatImplicit(torch.tensor(2))", "int('12')", "float('1e3')",
          *(f"complex({a}, {b})" for a in ("torch.tensor(2)", "1", "0.5", "True") for b in ("torch.tensor(1.5)",)), *(f"complex(torch.tensor(1.5), {b})" for b in ("2", "0.5", "True", "torch.tensor(3)"))):
    CASES.append((e, f"def f():\n    return {e}\n", ()))
