# SPDX-License-Identifier: BSD-2-Clause
# Numbers: arithmetic, comparison, math and conversions, with every pair of kinds.
import torch

CASES = []
INF, NAN = float("inf"), float("nan")
INTS = [0, 1, -1, 2, -7, 3, 64, 2**31, -(2**62), 2**63 - 1]
FLOATS = [0.0, -0.0, 0.5, -2.5, 1.5, 3.0, 1e-5, 1e10, INF, -INF, NAN]


def add(name, source, *args):
    CASES.append((name, source, tuple(args)))


def every_pair(label, expression):
    """Applies one function to two lists, so that a case tests many pairs."""
    for x in ("int", "float"):
        for y in ("int", "float"):
            source = (f"def f(xs: List[{x}], ys: List[{y}]):\n    out = [{expression.format('xs[0]', 'ys[0]')}]\n    for x in xs:\n"
                      f"        for y in ys:\n            out.append({expression.format('x', 'y')})\n    return out\n")
            add(f"{label}-{x}-{y}", source, INTS if x == "int" else FLOATS, (INTS if y == "int" else FLOATS))


for label, expression in [("add", "{} + {}"), ("sub", "{} - {}"), ("mul", "{} * {}"), ("div", "{} / {}"), ("eq", "{} == {}"), ("ne", "{} != {}"),
                          ("lt", "{} < {}"), ("gt", "{} > {}"), ("le", "{} <= {}"), ("ge", "{} >= {}"), ("min", "min({}, {})"),
                          ("max", "max({}, {})")]:
    every_pair(label, expression)
for name in ["fmod", "copysign", "atan2"]:
    for a, b in [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (0.0, 3.0), (INF, 1.0)]:
        add(f"{name}-{a}-{b}", f"def f(a: float, b: float):\n    return math.{name}(a, b)\n", a, b)
for a, b in [(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 5), (1, 0), (2**62, 3)]:
    add(f"floordiv-{a}-{b}", "def f(a: int, b: int):\n    return a // b\n", a, b)
    add(f"divmod-{a}-{b}", "def f(a: int, b: int):\n    return divmod(a, b)\n", a, b)
    if b != 0:  # skipped for b = 0, because x % 0 ends PyTorch's process
        add(f"remainder-{a}-{b}", "def f(a: int, b: int):\n    return a % b\n", a, b)
    add(f"pow-{a}-{b}", "def f(a: int, b: int):\n    return a ** b\n", a, b)
for a, b in [(7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (1.0, 0.0), (-1.0, INF), (0.0, -1.0)]:
    for name, expression in [("floordiv", "a // b"), ("remainder", "a % b"), ("pow", "a ** b"), ("divmod", "divmod(a, b)")]:
        add(f"{name}-{a}-{b}", f"def f(a: float, b: float):\n    return {expression}\n", a, b)
for a, b in [(6, 3), (-1, 5), (2**62, 2**61 + 1), (1, 63)]:
    add(f"bits-{a}-{b}", "def f(a: int, b: int):\n    return a & b, a | b, a ^ b, math.gcd(a, b)\n", a, b)
    if b < 64:
        add(f"shift-{a}-{b}", "def f(a: int, b: int):\n    return a << b, a >> b\n", a, b)
add("bool-bits", "def f(a: bool, b: bool):\n    return a & b, a | b, a ^ b, a == b, a != b, not a\n", True, False)
for name in ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh",
             "atanh", "expm1", "log1p", "erf", "erfc", "gamma", "lgamma", "fabs", "degrees", "radians"]:
    add(f"{name}-float", f"def f(v: List[float]):\n    return [math.{name}(x) for x in v]\n", [0.0, 0.5, -0.75, 1.0, 2.5, INF, NAN])
    add(f"{name}-int", f"def f(x: int):\n    return math.{name}(x)\n", 2)
    add(f"{name}-scalar", f"def f(x: Tensor):\n    return math.{name}(x.item())\n", torch.tensor(0.7))
for name in ["floor", "ceil"]:
    add(f"{name}-float", f"def f(v: List[float]):\n    return [math.{name}(x) for x in v]\n", [0.0, 0.5, -0.5, 2.5, -3.0, 1e15])
    add(f"{name}-inf", f"def f(x: float):\n    return math.{name}(x)\n", INF)
add("round", "def f(v: List[float]):\n    return [round(x) for x in v]\n", [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 1e300])
add("abs-neg", "def f(a: int, b: float):\n    return abs(a), -a, abs(b), -b\n", -5, -2.5)
add("is", "def f(v: List[float]):\n    return [math.isnan(x) for x in v], [math.isinf(x) for x in v], [math.isfinite(x) for x in v]\n",
    [0.0, INF, -INF, NAN])
add("factorial", "def f(v: List[int]):\n    return [math.factorial(x) for x in v]\n", [0, 1, 5, 20, 21, 25])
add("factorial-negative", "def f(x: int):\n    return math.factorial(x)\n", -1)
add("frexp-modf-ldexp", "def f(x: float):\n    return math.frexp(x), math.modf(x), math.ldexp(x, 3)\n", -10.75)
add("complex-arithmetic", "def f(a: float, b: float):\n    z = complex(a, b)\n    w = z * z + 2 - z / complex(1.0, 1.0)\n"
    "    return str(w), abs(z), z == z, w != z\n", 1.5, -0.5)
for t, label in [(torch.tensor(3), "int"), (torch.tensor(2.75), "float"), (torch.tensor([[True]]), "bool"), (torch.tensor(1e30), "large"),
                 (torch.tensor([1, 2]), "two"), (torch.tensor(NAN), "nan")]:
    add(f"int-of-{label}", "def f(x: Tensor):\n    return int(x)\n", t)
    add(f"float-of-{label}", "def f(x: Tensor):\n    return float(x)\n", t)
    add(f"bool-of-{label}", "def f(x: Tensor):\n    return bool(x)\n", t)
    add(f"item-of-{label}", "def f(x: Tensor):\n    return x.item()\n", t)
add("implicit", "def f(x: Tensor, n: Tensor):\n    return x.view(n, 2), x * float(n)\n", torch.arange(6.0), torch.tensor(3))
add("implicit-rank", "def f(x: Tensor, n: Tensor):\n    return x.view(n, 2)\n", torch.arange(6.0), torch.tensor([3]))
add("implicit-float", "def f(x: Tensor, n: Tensor):\n    return x.view(n, 2)\n", torch.arange(6.0), torch.tensor(3.0))
for text in ["12", " -3", "+7", "1e3", "x", "", "nan", "12x", "99999999999999999999"]:
    add(f"int-of-str-{text!r}", "def f(s: str):\n    return int(s)\n", text)
    add(f"float-of-str-{text!r}", "def f(s: str):\n    return float(s)\n", text)
add("conversions", "def f(a: int, b: float, c: bool):\n    return float(a), int(b), int(c), float(c), bool(a), bool(b)\n", 3, -2.9, True)
for r in [(0, 10, 3), (10, 0, -3), (5, 5, 1), (3, -4, -1), (0, 3, 0)]:
    add(f"range-{r}", "def f(a: int, b: int, c: int):\n    return [i for i in range(a, b, c)]\n", *r)
