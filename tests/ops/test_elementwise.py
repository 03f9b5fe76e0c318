# SPDX-License-Identifier: BSD-2-Clause
"""Cases of the elementwise operators for the op-module runner (oracle.py): values, dtypes, shapes and strides.

CASES is a list of (name, source, builder): source defines f, which is scripted; builder returns its arguments."""
import itertools

import torch

RECORDED_FILE = 600_000
FLOATS = (torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
NUMBERS = FLOATS + INTEGERS
ALL = NUMBERS + (torch.bool,)
LAYOUTS = ("contiguous", "channels_last", "transposed", "sliced", "stepped", "expanded")
SPECIAL = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, -1.0)

CASES = []


def case(name, source, builder):
    CASES.append((name, "def f(%s):\n    return %s\n" % source, builder))


def tensor(shape, dtype=torch.float32, layout="contiguous", seed=0, special=True, low=-4.0, high=4.0):
    """Returns deterministic elements, including the special numbers, with the requested layout."""
    count = 1
    for size in shape:
        count *= size
    generator = torch.Generator().manual_seed(seed + count)
    if dtype == torch.bool:
        t = torch.rand(shape, generator=generator) > 0.5
    elif dtype.is_floating_point or dtype.is_complex:
        t = torch.rand(shape, generator=generator, dtype=torch.float64) * (high - low) + low
        if special and dtype.is_floating_point and count >= 2 * len(SPECIAL):
            t.view(-1)[: len(SPECIAL)] = torch.tensor(SPECIAL, dtype=torch.float64)
        if dtype.is_complex:
            t = torch.complex(t, t.flip(0) if t.dim() else t)
        t = t.to(dtype)
    else:
        t = torch.randint(0 if dtype == torch.uint8 else -9, 10, shape, generator=generator).to(dtype)
    if layout == "channels_last" and t.dim() == 4:
        t = t.contiguous(memory_format=torch.channels_last)
    elif layout == "transposed" and t.dim() > 1:
        t = t.transpose(0, 1).contiguous().transpose(0, 1)
    elif layout == "sliced" and t.dim():
        t = torch.cat([t, t], -1)[..., : t.size(-1)]
    elif layout == "stepped" and t.dim():
        t = torch.stack([t, t], -1)[..., 1]
    elif layout == "expanded" and t.dim() > 1:
        t = t[:1].expand(t.shape)
    return t


def build(*specs):
    """Makes arguments from (shape, dtype, layout) tuples; other values are passed unchanged."""
    return lambda: [tensor(*s, seed=i) if isinstance(s, tuple) else s for i, s in enumerate(specs)]


def label(dtype):
    return str(dtype)[6:]


SHAPE = (2, 3, 4, 5)

# ---- one operand

UNARY_FLOAT = """exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sigmoid sin cos tan asin acos atan sinh cosh tanh asinh
acosh atanh sinc deg2rad rad2deg erf erfc erfinv lgamma digamma special.erfcx special.i0e special.i1e special.ndtr special.ndtri
special.log_ndtr special.entr logit angle""".split()
UNARY_ANY = "sign sgn signbit isnan isinf isfinite isposinf isneginf isreal logical_not square".split()
UNARY_NUMBER = "abs neg ceil floor trunc positive relu nan_to_num".split()
ACTIVATIONS = """relu6(x) hardtanh(x) hardtanh(x,-2.5,1.5) leaky_relu(x) leaky_relu(x,0.3) elu(x) elu(x,2.0) selu(x) celu(x,0.7)
gelu(x) gelu(x,approximate="tanh") silu(x) mish(x) hardswish(x) hardsigmoid(x) softplus(x) softplus(x,2.0,1.0) softshrink(x)
hardshrink(x,1.0) threshold(x,0.5,-1.0) logsigmoid(x) rrelu(x) softsign(x) tanhshrink(x) dropout(x,0.5,False)""".split()

for op in UNARY_FLOAT:
    for dtype, layout in itertools.product(FLOATS, LAYOUTS):
        case("%s/%s/%s" % (op, label(dtype), layout), ("x", "torch.%s(x)" % op), build((SHAPE, dtype, layout)))
    case(op + "/int32", ("x", "torch.%s(x)" % op), build(((3, 4), torch.int32)))
    case(op + "/bool", ("x", "torch.%s(x)" % op), build(((3, 4), torch.bool)))
    case(op + "/empty", ("x", "torch.%s(x)" % op), build(((2, 0, 3),)))
    case(op + "/scalar", ("x", "torch.%s(x)" % op), build(((),)))
for op in UNARY_ANY + UNARY_NUMBER:
    dtypes = ALL if op in UNARY_ANY else NUMBERS
    for dtype, layout in itertools.product(dtypes, LAYOUTS):
        case("%s/%s/%s" % (op, label(dtype), layout), ("x", "torch.%s(x)" % op), build((SHAPE, dtype, layout)))
for expression, layout in itertools.product(ACTIVATIONS, LAYOUTS):
    case("%s/%s" % (expression, layout), ("x", "torch.nn.functional.%s" % expression), build((SHAPE, torch.float32, layout)))
# A dimension of size 1 whose stride differs from a contiguous tensor's: some operators keep this stride, and some do
# not.
for op in ["torch.%s(x)" % op for op in UNARY_FLOAT + UNARY_ANY + UNARY_NUMBER] + ["torch.nn.functional." + op for op in ACTIVATIONS]:
    case("one/" + op, ("x", op.replace("(x", "(x.transpose(0, 1)", 1)), build(((1, 3, 4),)))
for op in "exp log sqrt sin cosh tanh asin atanh sigmoid reciprocal abs angle square sgn isnan neg".split():
    case(op + "/complex", ("x", "torch.%s(x)" % op), build((SHAPE, torch.complex64)))
for decimals in (0, 1, 3, -1):
    case("round/%d" % decimals, ("x", "torch.round(x, decimals=%d)" % decimals), build((SHAPE,)))
case("bitwise_not/bool", ("x", "~x"), build((SHAPE, torch.bool)))
case("bitwise_not/uint8", ("x", "~x"), build((SHAPE, torch.uint8)))
case("frexp", ("x", "torch.frexp(x)"), build((SHAPE,)))
case("polygamma", ("x", "torch.polygamma(2, x)"), lambda: [tensor((3, 4), low=0.5)])
for op in ("i0(x)", "special.i0e(x)", "special.i1(x)", "special.i1e(x)", "special.ndtr(x)", "special.ndtri(x * 0.05 + 0.5)", "digamma(x)", "lgamma(x)", "atanh(x / 9)",
           "polygamma(1, x)", "exp(x * 80)", "expm1(x)", "log(x.abs() * 1e-3)", "log1p(x.abs())", "tanh(x)", "sigmoid(x * 9)"):
    for dtype in (torch.float32, torch.float64)[:1 if "polygamma" in op else 2]:  # float64 is skipped for polygamma, because PyTorch's result has errors of 1e-9
        case("grid/%s/%s" % (op, label(dtype)), ("x", "torch." + op), lambda dtype=dtype: [torch.linspace(-9.13, 9.17, 777, dtype=dtype)])
for op in ("x + y", "x - y", "x * y", "x / y", "torch.add(x, y, alpha=2)", "torch.sub(x, y, alpha=0.5)", "x * 3", "2 / x", "x.t() * y.t()", "F.silu(x)"):
    case("doubles/" + op, ("x, y", op.replace("F.", "torch.nn.functional.")), build(((5, 37), torch.float64), ((5, 37), torch.float64)))
for n in (5, 9, 17, 31, 33, 40, 41):  # many and few rows, with a second operand of one row that is used for all rows
    for rows in (3, 40):
        case("same rows/%d/%d" % (n, rows), ("x, y", "[torch.max(x, y), x / y, y / x, x + y, x * y, x - y, torch.add(x, y, alpha=3), torch.atan2(y, x), x[:, :, 1:] * y[..., 1:], x[:, ::2] / y, x.mul(y[0])]"),
             lambda n=n, rows=rows: [tensor((4, rows, n), special=False), tensor((4, 1, n), special=False, seed=9)])
for n in (2, 3, 4, 7, 8, 9):  # short rows, each combined with one element of the second operand: elements with gaps between them, or one element for all rows
    case("spread/%d" % n, ("x, y", "[x[:, :, :{0}] * y[:, :, :1], y[:, :, 1:2] - x[:, :, :{0}].contiguous(), x[:, :, :{0}] / y[:, :1, :1], torch.add(x[0, :, :{0}], y[0, :, :1], alpha=2), "
                           "torch.maximum(x[:, :, :{0}], y[:1, :, :1]), torch.where(x[:, :, :{0}] > y[:, :, :1], x[:, :, :{0}], y[:, :, :1])]".format(n)),
         lambda: [tensor((5, 40, 12), special=False), tensor((5, 40, 12), special=False, seed=3)])
for n in (1, 2, 3, 4, 7, 8, 9):  # short rows, which are broadcast or are parts of longer rows
    case("short rows/%d" % n, ("x, y", "[torch.max(x[:, None, :{0}], y[None, :, 1:{1}]), x[:, None, 2:{2}] - y[None, :, :{0}], x[:, :{0}] / y[:1, :{0}], x[:, 1:{1}].exp(), "
                                       "x[:, None, :{0}] * y[:, :{0}], x[:, None, 1:{1}] + y[:, :{0}]]".format(n, n + 1, n + 2)),
         lambda: [tensor((41, 12), special=False), tensor((29, 12), special=False, seed=3)])
case("mvlgamma", ("x", "torch.mvlgamma(x, 2)"), lambda: [tensor((3, 4), low=2.0)])
case("logit/eps", ("x", "torch.logit(x, 0.1)"), lambda: [tensor((3, 4), low=0.0, high=1.0)])
for dim, layout in itertools.product((0, 1, 2, -1), LAYOUTS[:5]):
    case("glu/%d/%s" % (dim, layout), ("x", "torch.nn.functional.glu(x, %d)" % dim), build(((2, 4, 6, 2), torch.float32, layout)))

# ---- two operands

ARITHMETIC = {
    "add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y", "floordiv": "torch.div(x, y, rounding_mode='floor')",
    "truncdiv": "torch.div(x, y, rounding_mode='trunc')", "remainder": "x % y", "fmod": "torch.fmod(x, y)", "alpha": "torch.add(x, y, alpha=2)",
    "rsub": "torch.rsub(x, y, alpha=3)", "pow": "torch.pow(x, y)", "maximum": "torch.maximum(x, y)", "minimum": "torch.minimum(x, y)",
    "fmax": "torch.fmax(x, y)", "fmin": "torch.fmin(x, y)", "atan2": "torch.atan2(x, y)", "copysign": "torch.copysign(x, y)",
    "xlogy": "torch.xlogy(x, y)", "eq": "x == y", "ne": "x != y", "lt": "x < y", "le": "x <= y", "gt": "x > y", "ge": "x >= y",
    "logical_and": "torch.logical_and(x, y)", "logical_or": "torch.logical_or(x, y)", "logical_xor": "torch.logical_xor(x, y)",
}
BROADCASTS = [
    ((SHAPE, SHAPE), "same"), ((SHAPE, (3, 1, 1)), "channel"), ((SHAPE, (5,)), "last"), (((1, 4), (3, 1)), "both"), ((SHAPE, ()), "scalar"),
    (((), SHAPE), "scalar first"), (((2, 0, 3), (1, 3)), "empty"), ((SHAPE, (2, 3, 1, 1)), "pooled"),
]
for op, expression in ARITHMETIC.items():
    for (a, b), shapes in BROADCASTS:
        case("%s/%s" % (op, shapes), ("x, y", expression), build((a,), (b,)))
    for first, second in itertools.product(LAYOUTS, LAYOUTS):
        case("%s/%s,%s" % (op, first, second), ("x, y", expression), build((SHAPE, torch.float32, first), (SHAPE, torch.float32, second)))
for op in ("add", "mul", "div", "eq", "lt", "maximum"):
    for a, b in itertools.product(ALL + (torch.float16, torch.bfloat16), repeat=2):
        case("%s/%s,%s" % (op, label(a), label(b)), ("x, y", ARITHMETIC[op]), build(((3, 4), a), ((4,), b)))
        case("%s/%s,%s 0-dim" % (op, label(a), label(b)), ("x, y", ARITHMETIC[op]), build(((3, 4), a), ((), b)))
for op, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
    for dtype in INTEGERS + (torch.bool,):
        case("bitwise_%s/%s" % (op, label(dtype)), ("x, y", "x %s y" % sign), build((SHAPE, dtype), ((5,), dtype)))
for dtype in INTEGERS:
    case("shift/" + label(dtype), ("x", "(x << 2) >> 1"), build((SHAPE, dtype)))
    case("gcd/" + label(dtype), ("x, y", "torch.gcd(x, y)"), build((SHAPE, dtype), (SHAPE, dtype)))
for scalar in ("2", "2.5", "-1", "0.5", "3", "1e-4"):
    for dtype in ALL:
        for op, expression in (("add", "x + %s"), ("mul", "x * %s"), ("div", "x / %s"), ("gt", "x > %s"), ("rsub", "%s * x")):
            case("%s %s/%s" % (op, scalar, label(dtype)), ("x", expression % scalar), build(((3, 4), dtype)))
for exponent in ("2", "3", "0.5", "-0.5", "-1.0", "-2.0", "0", "1.7"):
    case("pow %s" % exponent, ("x", "torch.pow(x, %s)" % exponent), build((SHAPE,)))
case("pow/base", ("x", "torch.pow(2, x)"), build((SHAPE, torch.float32, "channels_last")))
case("uint8 wraps", ("x", "x + 300"), build(((3, 4), torch.uint8)))
for op in "hypot logaddexp logaddexp2 heaviside nextafter ldexp float_power".split():
    case(op, ("x, y", "torch.%s(x, y)" % op), build((SHAPE,), (SHAPE,)))
case("isclose", ("x, y", "torch.isclose(x, y, 0.5, 0.1, True)"), build((SHAPE,), (SHAPE,)))
for layout in LAYOUTS:
    case("prelu/" + layout, ("x, w", "torch.nn.functional.prelu(x, w)"), build((SHAPE, torch.float32, layout), ((3,),)))
    case("prelu one/" + layout, ("x, w", "torch.nn.functional.prelu(x, w)"), build((SHAPE, torch.float32, layout), ((1,),)))

# ---- three operands

CLAMPS = ("torch.clamp(x, -1.0, 1.0)", "torch.clamp(x, min=0.5)", "torch.clamp(x, max=2)", "torch.clamp_min(x, 1)", "torch.clamp_max(x, -1)",
          "torch.clamp(x, 2, 1)")
for number, expression in enumerate(CLAMPS):
    for dtype in NUMBERS:
        if dtype != torch.uint8:
            case("clamp%d/%s" % (number, label(dtype)), ("x", expression), build((SHAPE, dtype, "channels_last")))
case("clamp tensors", ("x, y, z", "torch.clamp(x, y, z)"), build((SHAPE,), ((5,),), ((4, 1),)))
for a, b in itertools.product((torch.float32, torch.int64, torch.float64, torch.bool), repeat=2):
    case("where/%s,%s" % (label(a), label(b)), ("c, x, y", "torch.where(c, x, y)"), build((SHAPE, torch.bool), (SHAPE, a, "channels_last"), ((5,), b)))
case("where scalar", ("c, x", "torch.where(c, x, 2.5)"), build((SHAPE, torch.bool), (SHAPE,)))
for layout in LAYOUTS:
    case("masked_fill/" + layout, ("x, m", "x.masked_fill(m, -1.0)"), build((SHAPE, torch.float32, layout), ((4, 5), torch.bool)))
    case("addcmul/" + layout, ("x, y, z", "torch.addcmul(x, y, z, value=2)"), build((SHAPE, torch.float32, layout), (SHAPE,), ((5,),)))
    case("addcdiv/" + layout, ("x, y, z", "torch.addcdiv(x, y, z, value=0.5)"), build((SHAPE, torch.float32, layout), (SHAPE,), ((5,),)))
    case("lerp/" + layout, ("x, y", "torch.lerp(x, y, 0.3)"), build((SHAPE, torch.float32, layout), (SHAPE,)))
case("lerp tensor", ("x, y, z", "torch.lerp(x, y, z)"), build((SHAPE,), (SHAPE,), (SHAPE,)))

# ---- in place, conversions, fills

# The factor alpha of bools is a bool.
CASES.append(("alpha of bools", "def f(x: Tensor, y: Tensor):\n    z = x.clone()\n    z.add_(y, alpha=-1)\n    return (torch.add(x, y, alpha=-1), torch.add(x, y, alpha=2), torch.add(x, y, alpha=0), z)\n",
              (torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False]))))
for op in ("add_(y)", "mul_(y)", "sub_(y, alpha=2)", "div_(y)", "copy_(y)", "eq_(y)"):
    for layout in LAYOUTS[:5]:
        case("%s/%s" % (op, layout), ("x, y", "x.clone().%s" % op), build((SHAPE, torch.float32, layout), ((3, 1, 1),)))
for op in ("relu_()", "sigmoid_()", "clamp_(-1.0, 1.0)", "zero_()", "fill_(2.5)", "exp_()", "neg_()"):
    case(op, ("x", "x.clone().%s" % op), build((SHAPE, torch.float32, "channels_last")))
for a, b in itertools.product(ALL + (torch.float16, torch.bfloat16), repeat=2):
    case("to/%s,%s" % (label(a), label(b)), ("x", "x.to(%s)" % b), lambda a=a: [tensor((3, 4), a, special=False, low=0.0)])
for layout in LAYOUTS:
    case("to half/" + layout, ("x", "x.to(torch.float16)"), build((SHAPE, torch.float32, layout)))
    case("to copy/" + layout, ("x", "x.to(torch.float32, copy=True)"), build((SHAPE, torch.float32, layout)))
    case("to format/" + layout, ("x", "x.to(torch.float64, memory_format=torch.channels_last)"), build((SHAPE, torch.float32, layout)))
    case("type_as/" + layout, ("x, y", "x.type_as(y)"), build((SHAPE, torch.float32, layout), ((1,), torch.int64)))
case("half precision", ("x, y", "(x * y + 1) / 3"), build((SHAPE, torch.bfloat16), (SHAPE, torch.bfloat16)))
case("chain", ("x, y", "torch.sigmoid(x * 2 + y).relu() - 0.5"), build((SHAPE,), ((5,),)))

# ---- polynomials and Bessel functions

POLYNOMIALS = ["%schebyshev_polynomial_%s" % (shifted, kind) for shifted in ("", "shifted_") for kind in "tuvw"]
POLYNOMIALS += ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
for op in POLYNOMIALS:
    for dtype in FLOATS:
        case("%s/%s" % (op, label(dtype)), ("x, n", "torch.special.%s(x, n)" % op),
             lambda dtype=dtype: [torch.cat([torch.linspace(-2, 2, 33), torch.tensor([float("nan"), -1.0, 1.0, 0.0])]).to(dtype),
                                  torch.arange(-2, 13).to(dtype).unsqueeze(1)])
    case(op + "/numbers", ("x, n, y, z", "[torch.special.{0}(x, 5), torch.special.{0}(0.3, n), torch.special.{0}(x, 3, out=y), "
                           "torch.special.{0}(2, n, out=z)]".format(op)),
         lambda: [tensor((3, 4), special=False, low=-1, high=1), torch.arange(6), torch.zeros(0), torch.zeros(0)])
    case(op + "/out", ("x, n, y", "torch.special.%s(x, n, out=y)" % op),
         lambda: [tensor((3, 4), special=False, low=-1, high=1), torch.arange(4), torch.zeros(0)])
    case(op + "/half", ("x", "torch.special.%s(x, 2)" % op), build(((3, 4), torch.float16)))
for op in """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1
scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0""".split():
    for dtype, low, high in ((torch.float32, -20.0, 30.0), (torch.float32, 0.0, 60.0), (torch.float64, -12.0, 12.0), (torch.float64, 0.0, 60.0)):
        if dtype == torch.float64 and ("bessel_j" in op or "bessel_y" in op or op == "airy_ai") and "spherical" not in op:
            continue  # PyTorch's functions have only seven correct digits, also in float64: see docs/numerics.md
        case("%s/%s/%g" % (op, label(dtype), high), ("x", "torch.special.%s(x)" % op),
             lambda dtype=dtype, low=low, high=high: [torch.linspace(low, high, 501, dtype=torch.float64).to(dtype)],)
    case(op + "/edges", ("x", "torch.special.%s(x)" % op),
         lambda: [torch.tensor([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1e-30, 1e4, 200.0])])
    case(op + "/int32", ("x", "torch.special.%s(x)" % op), build(((3, 4), torch.int32)))
    case(op + "/out", ("x, y", "torch.special.%s(x, out=y)" % op), lambda: [tensor((3, 4), special=False), torch.zeros(0)])
    case(op + "/half", ("x", "torch.special.%s(x)" % op), build(((3, 4), torch.float16)))

# ---- questions about dtypes

case("can_cast", ("x", "[torch.can_cast(x.dtype, torch.float16), torch.can_cast(torch.float32, torch.int64)]"), build(((2,), torch.int8)))
case("promote_types", ("x", "torch.zeros(2, dtype=torch.promote_types(x.dtype, torch.uint8))"), build(((2,), torch.int8)))
case("no_grad fills", ("x", "[torch.nn.init.constant_(x.clone(), 3.0), torch.nn.init.zeros_(x.clone())]"), build(((2, 3),)))
case("polygamma/poles", ("x", "torch.polygamma(1, x)"), lambda: [torch.tensor([0, -1, -2, -3, 1, 2])])

# Finite numbers that would be infinite in the dtype are refused; infinities are accepted.
TOO_LARGE = ("torch.where(x > 0, x, 1e300)", "torch.where(x > 0, 1e300, x)", "torch.where(x > 0, 1e300, 2.0)", "torch.where(x > 0, x.half(), 70000.0)", "torch.where(x > 0, x.double(), 1e300)",
             "torch.where(x > 0, x.int(), 10**12)", "torch.where(x > 0, x, float('inf'))", "F.pad(x, [1, 1], value=1e300)", "F.pad(x, [1, 1], value=float('-inf'))", "F.pad(x.half(), [1, 1], value=70000.0)",
             "F.pad(x.int(), [1, 1], value=3e9)", "torch.constant_pad_nd(x.int(), [1, 1], 10**12)", "torch.add(x, x, alpha=1e300)", "torch.add(x.double(), x, alpha=1e300)", "torch.lerp(x, x, 1e300)",
             "torch.addcmul(x, x, x, value=1e300)", "torch.addcdiv(x, x, x, value=1e300)", "F.leaky_relu(x, 1e300)", "F.elu(x, 1e300)", "F.celu(x, 1e300)", "F.softplus(x, 1e300, 1e300)",
             "F.hardshrink(x, 1e300)", "F.softshrink(x, 1e300)", "F.hardtanh(x, -1e300, 1e300)", "x + 1e300", "x.half() * 1e6", "x.clamp(max=1e300)", "x > 1e300", "x.masked_fill(x > 0, -1e300)")
CASES += [(f"too large/{e}", f"def f(x: Tensor):\n    return {e}\n", (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),)) for e in TOO_LARGE]
CASES += [("sinc/bfloat16", "def f(x: Tensor):\n    return torch.sinc(x.to(torch.bfloat16)), torch.special.sinc(x.to(torch.bfloat16) * 10)\n",
           (torch.cat([torch.randn(40, generator=torch.Generator().manual_seed(0)), torch.tensor([0.0, 1e-20, float("inf"), float("nan"), 1.0, 2.0])]),))]

# ---- short lines, of which many are computed at once: more than a block of them, of every width, converted, and
# written in place

LINES = (((700, 3), (700, 1)), ((150, 7), (7,)), ((5, 150, 3), (5, 1, 3)), ((3, 70, 65), (3, 70, 1)), ((40, 33), (40, 33)))
for dtype, (a, b) in itertools.product((torch.uint8, torch.int32, torch.int64, torch.float64, torch.bool), LINES):
    for layout in ("contiguous", "transposed"):
        for op in ("x < y",) if dtype == torch.bool else ("x + y", "x <= y"):
            case("lines/%s/%s/%s/%s" % (op, label(dtype), layout, a), ("x, y", op), build((a, dtype), (b, dtype, layout)))
for first, second in ((torch.int16, torch.int64), (torch.uint8, torch.float32), (torch.float16, torch.float32),
                      (torch.bfloat16, torch.float64), (torch.complex64, torch.complex64)):
    case("lines/mixed/%s/%s" % (label(first), label(second)), ("x, y", "x * y"),
         build(((300, 5), first, "transposed"), ((300, 1), second)))
    case("lines/into/%s/%s" % (label(first), label(second)), ("x, y, z", "torch.mul(x, y, out=z.t())"),
         build(((300, 5), second), ((300, 1), second), ((5, 300), torch.complex64 if second.is_complex else torch.float64)))
for dtype in (torch.float32, torch.int32, torch.bool):
    case("lines/long/%s" % label(dtype), ("x, y", "x <= y.permute(2, 0, 1)" if dtype == torch.bool else "x + y.permute(2, 0, 1)"),
         build(((4, 150, 140), dtype), ((150, 140, 4), dtype)))
case("lines/where", ("m, x, y", "torch.where(m, x, y)"),
     build(((200, 6), torch.bool, "transposed"), ((200, 1), torch.int64), ((6,), torch.int64)))
case("lines/floor_divide", ("x, y", "torch.div(x, y.abs() + 1, rounding_mode='floor')"),
     build(((200, 3), torch.int64), ((200, 1), torch.int64)))
for at in ("x[1:, :5].add_(x[:-1, :5])", "x[:-1, :5].add_(x[1:, :5])", "x[:, 1:].mul_(x[:, :1].clone())"):
    for dtype in (torch.int32, torch.float64):
        CASES.append(("lines/over/%s/%s" % (label(dtype), at), "def f(x):\n    %s\n    return x\n" % at,
                      build(((60, 9), dtype))))
