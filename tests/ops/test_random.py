# SPDX-License-Identifier: BSD-2-Clause
"""Cases of training-mode operators and random counts: the same seed gives PyTorch's numbers; see test_elementwise.py."""
import itertools

import torch

from test_fft import args, label, numbers

CASES = []


def case(name, source, builder, **options):
    CASES.append((name, source if "\n" in source else "def f(%s):\n    return %s\n" % tuple(source.split(" : ")), builder, options))


DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.complex64)

for op in ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "native_dropout"):
    for dtype, p in itertools.product(DTYPES, ("0.", "0.3", "0.5", "1.", "-0.1", "1.1")):
        case("%s/%s/%s" % (op, label(dtype), p), "x : [torch.%s(x, %s, True), torch.%s(x, %s, True)]" % (op, p, op, p), args(numbers(3, 4, 5, dtype=dtype)))
    case(op + "/evaluation", "x : torch.%s(x, 0.3, False)" % op, args(numbers(3, 4)))
    for shape in ((), (5,), (2, 0), (2, 3), (2, 3, 4, 5)):
        case("%s/%s" % (op, shape), "x : torch.%s(x, 0.4, True)" % op, args(numbers(*shape)))
    case(op + "/permuted", "x : torch.%s(x.permute(2, 0, 1), 0.4, True)" % op, args(numbers(3, 4, 5)))
    case(op + "/slice", "x : torch.%s(x[:, ::2], 0.4, True)" % op, args(numbers(3, 8)))
    case(op + "/expanded", "x : torch.%s(x.expand(3, 8), 0.4, True)" % op, args(numbers(1, 8)))
    case(op + "/channels last", "x : torch.%s(x, 0.4, True)" % op, lambda: (numbers(2, 4, 5, 6)().contiguous(memory_format=torch.channels_last),))
    case(op + "/infinite", "x : torch.%s(x, 1., True)" % op, lambda: (torch.tensor([[1.0, float("inf"), float("nan"), -0.0]]),))
    if op != "native_dropout":
        case(op + "/in place", "def f(x):\n    y = x.clone()\n    torch.%s_(y, 0.4, True)\n    return y\n" % op, args(numbers(3, 4, 5)))
        case(op + "/in place, permuted", "def f(x):\n    y = x.clone()\n    torch.%s_(y.t(), 0.4, True)\n    return y\n" % op, args(numbers(3, 4)))
    case(op + "/of a convolution", "x, w : torch.%s(torch.conv2d(x, w).relu(), 0.4, True)" % op, args(numbers(2, 3, 8, 8), numbers(4, 3, 3, 3)))
for form in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
    case("F/" + form, "x : F.%s(x, 0.3, True)" % form, args(numbers(2, 3, 4, 5) if form != "dropout1d" else numbers(2, 3, 4)))

for dtype in DTYPES:
    case("rrelu/%s" % label(dtype), "x : torch.rrelu(x, 0.1, 0.4, True)", args(numbers(3, 4, 5, dtype=dtype)))
    case("rrelu_with_noise/%s" % label(dtype), "def f(x):\n    n = torch.zeros_like(x)\n    return torch.rrelu_with_noise(x, n, 0.1, 0.4, True), n\n".replace(
        "torch.rrelu_with", "torch._C._nn.rrelu_with"), args(numbers(3, 4, 5, dtype=dtype)))
case("rrelu/bounds", "x : torch.rrelu(x, 0.5, 0.4, True)", args(numbers(3)))
case("rrelu/permuted", "x : torch.rrelu(x.permute(2, 0, 1), training=True)", args(numbers(3, 4, 5)))
case("rrelu/in place", "def f(x):\n    y = x.clone()\n    torch.rrelu_(y.t(), training=True)\n    return y\n", args(numbers(3, 4)))
case("rrelu/evaluation", "x : torch.rrelu(x, training=False)", args(numbers(3, 4)))

# ---- counts

for dtype in DTYPES:
    case("poisson/%s" % label(dtype), "x : torch.poisson(x)", args(lambda d=dtype: numbers(300)().abs().mul(20).to(d)))
    case("binomial/%s" % label(dtype), "n, p : torch.binomial(n, p)",
         args(lambda d=dtype: numbers(300)().abs().mul(40).round().to(d), lambda d=dtype: torch.linspace(0, 1, 300).to(d)))
case("poisson/large", "x : torch.poisson(x)", lambda: (torch.tensor([0.0, 1e-9, 9.99, 10.0, 1e3, 1e6, 1e9], dtype=torch.float64).repeat(40),))
case("poisson/negative", "x : torch.poisson(x)", lambda: (torch.tensor([1.0, -1.0]),))
case("poisson/NaN", "x : torch.poisson(x)", lambda: (torch.tensor([float("nan")]),))
case("poisson/permuted", "x : torch.poisson(x.t())", args(lambda: torch.rand(3, 4) * 9))
case("poisson/empty", "x : torch.poisson(x)", args(numbers(0, 3)))
case("poisson/out", "def f(x):\n    y = torch.empty([0])\n    torch.poisson(x, out=y)\n    return y\n", args(lambda: torch.rand(3, 4) * 9))
for dtype in (torch.float32, torch.float64):
    for p in (0.0, 1e-4, 0.1, 0.5, 0.7, 0.99, 1.0):
        case("binomial/%s/%g" % (label(dtype), p), "n : torch.binomial(n, torch.full_like(n, %g))" % p,
             lambda d=dtype: (torch.tensor([0.0, 1.0, 5.0, 50.0, 1e3, 1e6], dtype=d).repeat(50),))
case("binomial/broadcast", "n, p : torch.binomial(n, p)", args(lambda: torch.full((4, 1), 30.0), lambda: torch.rand(5)))
case("binomial/NaN", "n, p : torch.binomial(n, p)", lambda: (torch.full((2,), 30.0), torch.full((2,), float("nan"))))
case("binomial/dtypes", "n, p : torch.binomial(n, p)", args(lambda: torch.full((2,), 30.0).double(), lambda: torch.rand(2)))
case("binomial/sizes", "n, p : torch.binomial(n, p)", args(lambda: torch.full((2,), 30.0), lambda: torch.rand(3)))
case("binomial/permuted", "n, p : torch.binomial(n.t(), p)", args(lambda: torch.rand(4, 3).mul(30).round(), lambda: torch.rand(3, 4)))
for low in ("", "2, "):
    for dtype in (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bfloat16):
        case("randint_like/%s%s" % (low, label(dtype)), "x : [torch.randint_like(x, %s10), torch.randint_like(x, %s10)]" % (low, low),
             args(numbers(3, 4, dtype=dtype)))
case("rand/complex", "x : [torch.rand([3, 5], dtype=torch.complex64), torch.rand([4], dtype=torch.complex128), torch.rand_like(x), x.uniform_(2., 3.)]",
     args(numbers(2, 9, dtype=torch.complex64)))
case("in a row", "x : [torch.dropout(x, 0.2, True), torch.poisson(x.abs() * 30), torch.rrelu(x, training=True), torch.rand_like(x), torch.randn_like(x), "
     "torch.binomial(x.abs().mul(50).round(), torch.rand_like(x))]", args(numbers(7, 5)))
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64):
    case("gamma/%s" % label(dtype), "x : [torch._standard_gamma(x), torch._standard_gamma(x * 0.05), torch.rand(3), torch._standard_gamma(x * 90)]", args(lambda d=dtype: torch.rand(300).mul(4).to(d)))
case("gamma/edges", "x : [torch._standard_gamma(x), torch.rand(3)]", lambda: (torch.tensor([0.0, 1e-9, 1.0, 0.999, 1e6, -2.5, float("nan"), 1e-3, 1e30] * 20),))
case("gamma/permuted", "x : torch._standard_gamma(x.t())", args(lambda: torch.rand(3, 4)))
case("gamma/out", "def f(x):\n    y = torch.empty([0])\n    torch.ops.aten._standard_gamma(x, out=y)\n    return y\n", args(lambda: torch.rand(3, 4) * 9))
