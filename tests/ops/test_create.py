# SPDX-License-Identifier: BSD-2-Clause
# Tensor creation against PyTorch. CASES: (name, source of a scripted function f, builder of its arguments). A case returns
# several results, so that one run checks a family.
import torch

CASES = []


def case(name, source, builder=tuple, **options):
    CASES.append((name, source, builder) + ((options,) if options else ()))


def results(name, arguments, expressions, builder=tuple, **options):
    case(name, f"def f({arguments}):\n    return (" + ", ".join(expressions) + ",)\n", builder, **options)


DTYPES = ("float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64")
X = "x: Tensor"


def plain():
    return (torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)),)


for name in ("zeros", "ones"):
    results(f"{name}/dtypes", "", [f"torch.{name}([2, 3])", f"torch.{name}([])", f"torch.{name}([0, 4])"] +
            [f"torch.{name}([3], dtype=torch.{d})" for d in DTYPES])
    case(f"{name}/negative", f"def f():\n    return torch.{name}([2, -3])\n")
    results(f"{name}_like/layouts", X, [f"torch.{name}_like({v})" for v in (
        "x", "x.contiguous(memory_format=torch.channels_last)", "x.transpose(0, 3)", "x[:, ::2]", "x[:1].expand(3, 3, 4, 5)",
        "x, dtype=torch.int32", "x, memory_format=torch.channels_last",
        "x.contiguous(memory_format=torch.channels_last), memory_format=torch.contiguous_format")], plain)
for value in ("3", "2.5", "-1", "float('inf')"):
    results(f"full/{value}", "", [f"torch.full([2], {value}, dtype=torch.{d})" for d in DTYPES
                                  if not (value == "float('inf')" and d[0] in "iu")] + [f"torch.full([2, 2], {value})"])
for value, dtype in (("300", "uint8"), ("-300", "int8"), ("1e40", "float32"), ("70000.0", "float16"), ("float('nan')", "int32")):
    case(f"full/overflow/{dtype}", f"def f():\n    return torch.full([2], {value}, dtype=torch.{dtype})\n")
results("full_like", X, ["torch.full_like(x, 7)", "torch.full_like(x, 1.5, dtype=torch.float64)"], plain)
results("new", X, ["x.new_zeros([2])", "x.new_ones([2, 2])", "x.new_full([3], 2.5)", "x.new_full([3], 2, dtype=torch.int64)",
                   "x.new_zeros([2], dtype=torch.bool)", "x.new_empty([0, 3])"], plain)
results("empty/strides", "", ["torch.empty([2, 3, 4, 5]).fill_(1)", "torch.empty([2, 3, 4, 5], memory_format=torch.channels_last).fill_(1)",
                              "torch.empty_strided([2, 3], [1, 2]).fill_(2)", "torch.empty([0])"])
case("empty/format", "def f():\n    return torch.empty([2, 3], memory_format=torch.channels_last)\n")

for dtype in ("float32", "float64", "int64", "int32", "uint8"):
    results(f"arange/{dtype}", "", [f"torch.arange({a}, dtype=torch.{dtype})" for a in ("5", "0", "1, 6", "0, 10, 3", "2, 9, 2")])
results("arange/inferred", "", ["torch.arange(4)", "torch.arange(4.5)", "torch.arange(1, 3.5)", "torch.arange(0, 1, 0.1)",
                                "torch.arange(10, 0, -3)", "torch.arange(-3, 3, 0.5)"])
for a in ("3, 1", "0, 5, 0", "0, float('inf')", "0, 5, -1"):
    case(f"arange/wrong/{a}", f"def f():\n    return torch.arange({a})\n")
results("range", "", ["torch.range(0, 4)", "torch.range(0, 1, 0.25)", "torch.range(5, 1, -2)"])
results("linspace", "", [f"torch.linspace({a})" for a in ("0, 1, 5", "0, 10, 11", "-3, 3, 1", "1, 2, 0", "5, -5, 7",
                                                          "0, 10, 4, dtype=torch.int64", "0, 1, 3, dtype=torch.float64")])
results("logspace", "", ["torch.logspace(0, 3, 4)", "torch.logspace(-2, 2, 5, 2.0)", "torch.logspace(0, 1, 1)"])
results("logspace/bases", "", ["torch.logspace(-3, 30, 21, 10.0)", "torch.logspace(0, 40, 7)", "torch.logspace(1, 3, 9, 0.5)", "torch.logspace(1, 3, 3, 1.0)", "torch.logspace(0, 2, 3, -2.0)",
                                "torch.logspace(-1, 1, 3, 0.0)", "torch.logspace(-50, -30, 5)"])
# Tensors that are longer than the blocks in which they are made.
results("arange/long", "", ["torch.arange(3000)", "torch.arange(3000, dtype=torch.int32)", "torch.arange(-1e3, 1e3, 0.7)", "torch.arange(9000, 0, -3)",
                            "torch.arange(0, 1e3, 0.3, dtype=torch.float64)", "torch.arange(0, 3000, dtype=torch.int16)"])
results("linspace/long", "", [f"torch.linspace({a})" for a in ("0, 1, 3001", "-3, 7.5, 1040", "0.1, 0.7, 17", "2, -5, 31", "1e30, -1e30, 999")])
results("triangles/long", "", ["torch.tril_indices(40, 60, 3)", "torch.triu_indices(40, 60, -2)", "torch.tril_indices(60, 40, -70)"])
case("linspace/negative", "def f():\n    return torch.linspace(0, 1, -1)\n")
results("eye", "", ["torch.eye(3)", "torch.eye(2, 4)", "torch.eye(4, 2, dtype=torch.int64)", "torch.eye(0)"])
results("scalar_tensor", "", ["torch.scalar_tensor(3)", "torch.scalar_tensor(2.5, dtype=torch.float64)"])
results("tril_indices", "", [f"torch.{t}_indices({a})" for t in ("tril", "triu") for a in ("3, 3", "3, 4, 1", "4, 3, -1", "0, 3", "2, 2, 5")])
for window in ("hann", "hamming", "bartlett", "blackman"):
    results(f"{window}_window", "", [f"torch.{window}_window({n})" for n in (0, 1, 2, 7, 12)] +
            [f"torch.{window}_window(8, {p}, dtype=torch.float64)" for p in (True, False)], rtol=1e-6, atol=1e-6)
results("hamming_window/parameters", "", ["torch.hamming_window(6, True, 0.3)", "torch.hamming_window(6, False, 0.3, 0.2)"])
results("kaiser_window", "", ["torch.kaiser_window(6)", "torch.kaiser_window(7, False)", "torch.kaiser_window(7, True, 5.0)"])

results("tensor/number", "i: int, d: float, b: bool", ["torch.tensor(i)", "torch.tensor(d)", "torch.tensor(b)", "torch.tensor(d, dtype=torch.int64)",
                                                       "torch.tensor(i, dtype=torch.float16)", "torch.as_tensor(i)", "torch.as_tensor(d)"],
        lambda: (3, 2.5, True))
results("tensor/list", "", ["torch.tensor([1, 2, 3])", "torch.tensor([[1.5, 2.0], [3.0, 4.0]])", "torch.tensor([[[True], [False]]])",
                            "torch.tensor([1, 2], dtype=torch.float64)", "torch.tensor([1.7, -1.7], dtype=torch.int32)",
                            "torch.as_tensor([1.0, 2.0])"])
results("tensor/rounded", "d: float", ["torch.tensor(d / 100, dtype=torch.float64)", "torch.tensor([[d / 100], [0.1]], dtype=torch.float64)", "torch.tensor(0.1 + 0.7j, dtype=torch.complex128)",
                                      "torch.tensor(16777217.0, dtype=torch.int64)", "torch.tensor([16777217.0], dtype=torch.int32)", "torch.tensor([1e-50], dtype=torch.bool)",
                                      "torch.as_tensor(0.1, dtype=torch.complex128)", "torch.as_tensor([0.1], dtype=torch.float64)", "torch.scalar_tensor(0.1, dtype=torch.float64)"], lambda: (2.5,))
case("tensor/written", "def f(x):\n    x = x.double()\n    x[1:] = 0.1\n    x[x < -1] = 0.3\n    return x\n", lambda: (torch.tensor([-3.0, 1.0, 2.0]),))
case("tensor/empty", "def f():\n    a: List[int] = []\n    b: List[float] = []\n    return torch.tensor(a), torch.tensor(b)\n")
case("tensor/ragged", "def f():\n    return torch.tensor([[1, 2], [3]])\n")
results("as_tensor", X, ["torch.as_tensor(x)", "torch.as_tensor(x, dtype=torch.float64)"], plain)

AXES = "a: Tensor, b: Tensor, c: Tensor"


def axes():
    return (torch.tensor([1.0, 2, 3]), torch.tensor([4.0, 5]), torch.tensor([6.0]))


results("meshgrid", AXES, ["torch.meshgrid([a, b, c])", "torch.meshgrid([a, b], indexing='ij')", "torch.meshgrid([a, b, c], indexing='xy')",
                           "torch.meshgrid([c])"], axes)
results("cartesian_prod", AXES, ["torch.cartesian_prod([a, b])", "torch.cartesian_prod([a, b, c])", "torch.cartesian_prod([a])"], axes)
results("combinations", AXES, ["torch.combinations(a)", "torch.combinations(a, 3)", "torch.combinations(a, 2, True)", "torch.combinations(b, 3)"], axes)
results("vander", AXES, ["torch.vander(a)", "torch.vander(a, 4, True)", "torch.vander(a * 30, 27)", "torch.vander(torch.cat([a, a])[::2], 3)", "torch.vander(b.to(torch.int64), 3)"], axes)

# The CPU generator's streams; the runner seeds PyTorch with PyTorch's default seed, with which a session of Taper also
# starts.
for n in (3, 15, 16, 17, 100):
    results(f"rand/{n}", "", [f"torch.rand([{n}])", f"torch.rand([{n}], dtype=torch.float64)"], rtol=1e-6, atol=1e-7)
    results(f"randn/{n}", "", [f"torch.randn([{n}])", f"torch.randn([{n}], dtype=torch.float64)", "torch.randn([3])"], rtol=1e-4, atol=1e-5)
results("randint", "", ["torch.randint(10, [20])", "torch.randint(-5, 5, [20])", "torch.randint(0, 1099511627776, [5])",
                        "torch.randint(100, [6], dtype=torch.int32)"])
results("randperm", "", ["torch.randperm(10)", "torch.randperm(0)", "torch.randperm(300, dtype=torch.int32)"])
results("rand_like", X, ["torch.rand_like(x)", "torch.rand_like(x.contiguous(memory_format=torch.channels_last))",
                         "torch.randn_like(x)", "torch.randint_like(x, 7)"], plain, rtol=1e-4, atol=1e-5)
results("fills", X, ["x.uniform_(-2.0, 3.0)", "x.clone().normal_(1.0, 2.0)", "x.clone().random_(0, 9)", "x.clone().exponential_(2.0)",
                     "x.clone().bernoulli_(0.3)", "x.clone().geometric_(0.2)", "x.clone().log_normal_(0.5, 0.5)"], plain, rtol=1e-4, atol=1e-5)
results("bernoulli", "p: Tensor", ["torch.bernoulli(p)", "torch.bernoulli(p, 0.4)", "p.clone().bernoulli_(p)"],
        lambda: (torch.rand(4, 5, generator=torch.Generator().manual_seed(1)),))
results("multinomial", "p: Tensor", ["torch.multinomial(p, 1)", "torch.multinomial(p, 3)", "torch.multinomial(p, 5, True)"],
        lambda: (torch.rand(4, 6, generator=torch.Generator().manual_seed(1)),))
results("normal", "m: Tensor, s: Tensor", ["torch.normal(m, s)", "torch.normal(m, 2.0)", "torch.normal(1.0, s)", "torch.normal(1.0, 2.0, [20])"],
        lambda: (torch.arange(12.0).view(3, 4), torch.arange(4.0)), rtol=1e-4, atol=1e-5)
case("uniform_/order", "def f(x: Tensor):\n    return x.transpose(0, 1).uniform_(), x\n", lambda: (torch.zeros(3, 4),), rtol=1e-6, atol=1e-7)

# ---- sequences of whole numbers are computed in vectors of 32 bytes

for dtype in ("int64", "int32", "int16", "uint8", "float32", "float64", "bfloat16"):
    for steps in (1, 2, 7, 8, 9, 50, 200):
        results(f"linspace/{dtype}/{steps}", "", [f"torch.linspace({bounds}, {steps}, dtype=torch.{dtype})"
                                                  for bounds in ("4, 90", "90, 4", "4.3, 50.0")])
    results(f"logspace/{dtype}", "", [f"torch.logspace(0.3, 1.9, 9, dtype=torch.{dtype})"])
results("linspace/complex", "", ["torch.linspace(1+2j, 3-1j, 7)", "torch.linspace(0.5, 2, 5, dtype=torch.complex128)", "torch.logspace(0.5+1j, 2, 6)",
                                 "torch.linspace(1j, 2, 1)", "torch.linspace(1j, 2, 0, dtype=torch.complex64)"])
case("linspace/complex ends of a real result", "def f():\n    return torch.linspace(1+2j, 3-1j, 7, dtype=torch.float32)\n", ())

# Numbers outside the range of a dtype. Tensors wrap or saturate like conversions on x86; a single float is rounded to
# float32 first.
for d in ("int32", "int64", "int16", "int8", "uint8", "bool"):
    CASES.append((f"tensor/beyond/{d}", f"def f():\n    return ([torch.tensor(v, dtype=torch.{d}) for v in [float('inf'), float('-inf'), float('nan'), 3e9, -3e9, 1e19, 70000.5, -300.5]],\n"
                  f"            torch.tensor([float('inf'), float('nan'), 3e9, -3e9, 1e19, 300.0], dtype=torch.{d}), torch.full([20], float('inf')).to(torch.{d}),\n"
                  f"            torch.full([20], float('nan')).double().to(torch.{d}), torch.full([20], 3e9).to(torch.{d}), torch.zeros([3], dtype=torch.{d}).copy_(torch.full([3], float('inf'))))\n", ()))
CASES += [(f"numbers/{e}", f"def f():\n    return {e}\n", ()) for e in (
    "torch.tensor(1e300)", "torch.tensor(-1e300, dtype=torch.double)", "torch.tensor(1e300, dtype=torch.half)", "torch.tensor(70000.0, dtype=torch.half)", "torch.as_tensor(1e300)", "torch.tensor([1e300])",
    "torch.tensor(float('-inf'))", "torch.linspace(0.0, 1e39, 3)", "torch.linspace(0.0, 1e39, 3, dtype=torch.double)", "torch.full([2], 1e300)", "torch.full([2], 1e300, dtype=torch.double)")]
results("linspace/bits", "", [f"torch.linspace({a}).view(torch.int32)" for a in ("-1, 2, 100", "0, 1, 50", "-3.3, 7.1, 33", "0.1, 5.7, 200")] +
        [f"torch.linspace({a}, dtype=torch.double).view(torch.int64)" for a in ("-1, 2, 100", "0.1, 5.7, 200")])
