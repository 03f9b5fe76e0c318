# SPDX-License-Identifier: BSD-2-Clause
"""Expressions of tensors with a given dtype and shape."""
import torch

from kinds import FLOAT, FLOATS, INT, WHOLES, count, listed, shape_text, tensor

DTYPES = ["float32"] * 6 + ["int64"] * 3 + ["bool", "bool", "float64", "int32", "uint8", "complex64"]
SHAPES = [(2, 3)] * 5 + [(3,), (3, 2), (), (2, 2, 3), (1, 3)]
PAIRS = {}
for a in sorted(set(DTYPES)):
    for b in sorted(set(DTYPES)):
        PAIRS.setdefault(str(torch.promote_types(getattr(torch, a), getattr(torch, b)))[6:], []).append((a, b))


def random_tensor(r):
    return tensor(r.choice(DTYPES), r.choice(SHAPES))


def narrower(shape, r):
    """Returns a shape that broadcasts to the given shape."""
    shape = list(shape)
    if shape and r.random() < 0.4:
        return tuple(shape[1:])
    return tuple(1 if r.random() < 0.3 else s for s in shape)


def makers(e, dtype, shape):
    r, x = e.r, e.expr
    same = lambda d: x(tensor(dtype, shape), d)
    of = lambda dt, sh, d: x(tensor(dt, sh), d)
    made = [lambda d: shaped(e, dtype, shape, d)] * 3 + [
        lambda d: f"{same(d)}.{r.choice(['clone()', 'contiguous()', 'detach()'])}", lambda d: f"torch.where({of('bool', shape, d)}, {same(d)}, {same(d)})",
        lambda d: converted(e, dtype, shape, d), lambda d: f"{r.choice(['torch.zeros_like', 'torch.ones_like'])}({of(r.choice(DTYPES), shape, d)}, dtype=torch.{dtype})",
        lambda d: f"{of(r.choice(DTYPES), (2,), d)}.new_{r.choice(['zeros', 'ones'])}({shape_text(shape)}, dtype=torch.{dtype})",
        lambda d: f"torch.stack([{same(d)}, {same(d)}])[{r.choice(['0', '1', '-1'])}]",
        lambda d: f"{of(r.choice(['bool', dtype]), shape, d)}.to({of(dtype, (3,), 0)}.dtype)", lambda d: f"{same(d)}.to({r.choice([repr('cpu'), 'torch.device(' + repr('cpu') + ')', same(0) + '.device'])})",
        lambda d: f"torch.{r.choice(['zeros', 'ones'])}({of('float32', shape, d)}.shape, dtype=torch.{dtype}, device={same(0)}.device)", lambda d: f"torch.full_like({same(d)}, {r.choice(['1', '0'])})",
    ]
    if dtype == "bool":
        other = r.choice(["float32", "int64", "float32", "float64", "int32"])
        return made + [
            lambda d: f"({of(other, shape, d)} {r.choice(['<', '>', '<=', '>=', '==', '!='])} {of(other, narrower(shape, r), d)})",
            lambda d: f"({of(other, shape, d)} {r.choice(['<', '>', '==', '!='])} {x(r.choice([INT, FLOAT]), d)})", lambda d: f"(~{same(d)})",
            lambda d: f"({same(d)} {r.choice('&|^')} {of('bool', narrower(shape, r), d)})", lambda d: f"torch.logical_{r.choice(['and', 'or', 'xor'])}({same(d)}, {of(other, shape, d)})",
            lambda d: f"torch.logical_not({of(other, shape, d)})", lambda d: f"torch.isnan({of('float32', shape, d)})", lambda d: f"torch.isfinite({of('float32', shape, d)})",
            lambda d: f"{of('bool', (2,) + shape, d)}.{r.choice(['any', 'all'])}(0)"]
    two = lambda: r.choice(PAIRS[dtype])

    def mixed(d):
        a, b = two()
        if a == b == "bool":
            b = dtype
        op = r.choice("+-*") if "bool" not in (a, b) else r.choice("+*")  # `-` of bool tensors raises
        left, right = of(a, shape, d), of(b, narrower(shape, r), d)
        return f"({left} {op} {right})" if r.random() < 0.6 else f"({right} {op} {left})"
    made += [mixed] * 3 + [lambda d: f"(-{same(d)})", lambda d: f"({same(d)} * {x(INT, d)})", lambda d: f"({x(INT, d)} {r.choice('+-*')} {same(d)})"]
    if dtype == "complex64":
        return made + [lambda d: f"torch.complex({of('float32', shape, d)}, {of('float32', shape, d)})", lambda d: f"{same(d)}.conj().resolve_conj()",
                       lambda d: f"({same(d)} * {r.choice(['2j', '0.5', '(1+1j)'])})", lambda d: f"({of('float32', shape, d)} * 1j)"]
    made += [
        lambda d: f"torch.{r.choice(['maximum', 'minimum'])}({same(d)}, {same(d)})", lambda d: f"{same(d)}.clamp({r.choice(['-1', '0', 'min=1', 'max=2', '0, 2'])})" if dtype != "uint8" else same(d),
        lambda d: f"torch.add({same(d)}, {same(d)}, alpha={r.choice(['2', '3'])})", lambda d: f"{same(d)}.abs()", lambda d: f"{same(d)}.sign()" if dtype in ("int64", "int32", "uint8") else f"{same(d)}.neg()", lambda d: f"torch.{r.choice(['relu', 'square'])}({same(d)})",
        lambda d: f"{same(d)}.masked_fill({of('bool', shape, d)}, {x(INT, 0) if dtype != 'uint8' else '3'})", lambda d: f"({same(d)} {r.choice(['//', '%'])} {r.choice(['2', '3'])})",
    ]
    if shape:
        made += [lambda d: f"{same(d)}.cumsum({r.choice([0, -1])}, dtype=torch.{dtype})", lambda d: f"{same(d)}.sort({r.choice([0, -1])})[0]", lambda d: f"{same(d)}.{r.choice(['flip([0])', 'roll(1, 0)'])}"]
    if dtype in WHOLES:
        return made + [lambda d: f"({same(d)} {r.choice('&|^')} {same(d)})", lambda d: f"(~{same(d)})", lambda d: f"({same(d)} {r.choice(['<<', '>>'])} {r.randrange(4)})"] + (
            [lambda d: f"{of(r.choice(['float32', 'int64']), shape + (3,), d)}.{r.choice(['argmax', 'argmin'])}(-1)", lambda d: f"{of('bool', (2,) + shape, d)}.sum(0)",
             lambda d: f"({of('bool', shape, d)} + {x(INT, d)})"] if dtype == "int64" else [])
    made += [
        lambda d: f"torch.{r.choice(['sigmoid', 'tanh', 'sin', 'cos', 'floor', 'round', 'erf', 'atan'])}({same(d)})", lambda d: f"{same(d)}.abs().{r.choice(['sqrt', 'log1p'])}()",
        lambda d: f"F.{r.choice(['relu', 'gelu', 'silu', 'hardswish', 'relu6', 'elu', 'leaky_relu', 'softplus', 'hardsigmoid'])}({same(d)})", lambda d: f"({same(d)} / ({same(d)}.abs() + 1))",
        lambda d: f"({same(d)} {r.choice('+-*')} {x(FLOAT, d)})", lambda d: f"({x(FLOAT, d)} - {same(d)})", lambda d: f"({same(d)} ** {r.choice(['2', '2.0', '3'])})", lambda d: f"({same(d)} / {r.choice(['2', '0.5', '-4'])})",
        lambda d: f"F.dropout({same(d)}, 0.5, training=False)", lambda d: f"F.hardtanh({same(d)}, -1.0, 1.5)", lambda d: f"{of(dtype, (2,) + shape, d)}.mean({r.choice(['0', '[0]', 'dim=0'])})",
        lambda d: f"torch.nan_to_num({same(d)})",
    ]
    if shape:
        made += [lambda d: f"F.softmax({same(d)}, dim={r.choice([0, -1])})", lambda d: f"F.log_softmax({same(d)}, -1)", lambda d: f"(F.layer_norm({same(d)}.clamp(-50, 50), [{shape[-1]}], eps=0.5) + 0.013)"]
    if len(shape) == 2:
        a, b = shape
        made += [lambda d: f"torch.{r.choice(['mm', 'matmul'])}({of(dtype, (a, 2), d)}, {of(dtype, (2, b), d)})", lambda d: f"({of(dtype, (a, 3), d)} @ {of(dtype, (3, b), d)})"]
        made += [lambda d: f"torch.einsum('ij,jk->ik', {of(dtype, (a, 2), d)}, {of(dtype, (2, b), d)})", lambda d: f"torch.addmm({same(d)}, {of(dtype, (a, 2), d)}, {of(dtype, (2, b), d)})"]
    if dtype == "float32" and shape == (3,):
        made += [lambda d: f"torch.tensor([{x(FLOAT, d)}, {x(FLOAT, d)}, {x(INT, 0)} * 1.0])", lambda d: f"torch.topk({of(dtype, (5,), d)}, 3)[0]"]
    if dtype == "float32":
        made += [lambda d: f"({of('int64', shape, d)} / {r.choice(['2', '4', '2.5'])})", lambda d: f"({of(r.choice(['int64', 'bool', 'uint8']), shape, d)} * {x(FLOAT, d)})",
                 lambda d: f"{of('complex64', shape, d)}.{r.choice(['real', 'abs()'])}"] + e.layers(shape)
    return made


def converted(e, dtype, shape, d):
    r = e.r
    old = r.choice([t for t in DTYPES if t != "complex64"])
    text = e.expr(tensor(old, shape), d)
    if dtype in WHOLES and old in FLOATS:
        text = f"torch.nan_to_num({text}).clamp({0 if dtype == 'uint8' else -50}, 50)"  # C does not define conversions of floats outside an integer's range
    short = {"float32": ".float()", "float64": ".double()", "int64": ".long()", "int32": ".int()", "uint8": ".byte()"}
    return text + r.choice([short.get(dtype, f".to(torch.{dtype})"), f".to(torch.{dtype})", f".to(dtype=torch.{dtype}, copy=True)", f".type_as({e.expr(tensor(dtype, (3,)), 0)})"])


def shaped(e, dtype, shape, d):
    """Returns an expression with this shape made from an expression with another shape."""
    r, rank, n = e.r, len(shape), count(shape)
    of = lambda sh: e.expr(tensor(dtype, sh), d)
    ways = [lambda: f"{of((2,) + shape)}[{r.choice(['0', '1', '-1', e.expr(INT, 0) + ' % 2'])}]", lambda: f"{of((1,) + shape)}.squeeze(0)", lambda: f"{of((2,) + shape)}.select(0, 1)",
            lambda: f"{of((2,) + shape)}.unbind(0)[{r.randrange(2)}]"]
    if dtype != "bool":
        ways += [lambda: f"{of((2,) + shape)}.sum({r.choice(['0', '[0]'])}, dtype=torch.{dtype})"]
        if dtype != "complex64":
            ways += [lambda: f"{of((2,) + shape)}.{r.choice(['max', 'min'])}(0)[0]", lambda: f"{of((2,) + shape)}.{r.choice(['amax', 'amin'])}(0)"]
    if rank:
        other = list(shape)
        r.shuffle(other)
        flat = r.choice([(n,), tuple(other), (1, n)])
        ways += [lambda: f"{of(flat)}.{r.choice(['reshape', 'contiguous().view'])}({shape_text(shape)})", lambda: f"{of((shape[0] + 1,) + shape[1:])}[{r.choice(['1:', ':-1'])}]",
                 lambda: f"torch.cat([{of((1,) + shape[1:])}] * {shape[0]})", lambda: f"{of(narrower(shape, r))}.expand({shape_text(shape)}).clone()",
                 lambda: f"{of(shape[:-1] + (2 * shape[-1],))}[..., ::2]", lambda: f"{of(shape[:-1])}.unsqueeze(-1).repeat({shape_text([1] * (rank - 1) + [shape[-1]])})",
                 lambda: f"{of(shape[:-1] + (2 * shape[-1],))}.chunk(2, -1)[{r.randrange(2)}]", lambda: f"{of((3,) + shape[1:])}[torch.tensor({[r.randrange(-3, 3) for _ in range(shape[0])]})]",
                 lambda: f"{of((3,) + shape[1:])}.index_select(0, torch.tensor({[r.randrange(3) for _ in range(shape[0])]}))"]
        ways += [lambda: f"{of((4,) + shape[1:])}[{e.expr(INT, 0)} % 2:][:{shape[0]}]" if shape[0] <= 2 else of(shape), lambda: f"torch.split({of((2 * shape[0],) + shape[1:])}, {shape[0]})[{r.randrange(2)}]",
                 lambda: f"{of(shape[1:])}[None].expand({shape_text(shape)}).clone()", lambda: f"{of((3,) + shape[1:])}[{[r.randrange(-3, 3) for _ in range(shape[0])]}]"]
    if rank >= 2:
        swapped = shape[:-2] + (shape[-1], shape[-2])
        ways += [lambda: f"{of(swapped)}.{r.choice(['transpose(-1, -2)', 'mT', 'transpose(-2, -1).contiguous()'])}", lambda: f"{of(shape[::-1])}.permute({shape_text(range(rank - 1, -1, -1))})"]
    if rank == 1:
        ways += [lambda: f"{of((1, n))}.flatten()", lambda: f"{of((n, 1))}.reshape(-1)"]
    if rank == 0:
        ways += [lambda: f"{of((2, 3))}.{r.choice(['max()', 'min()'] if dtype not in ('bool', 'complex64') else ['flatten()[0]'])}", lambda: f"{of((3,))}[{r.choice(['0', '-1'])}]"]
    if count(shape) > 60 or rank > 3:
        return of(shape)
    return r.choice(ways)()
