# SPDX-License-Identifier: BSD-2-Clause
"""Operators in the layouts for which the CPU backend has its own loops: channels-last inputs, results of convolutions (hidden NHWC), broadcast
factors, products of strided matrices."""
import torch

SUMS = True
CASES = []


def case(name, source, *args, **options):
    CASES.append((name, source, args) + ((options,) if options else ()))


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)) * 3


X = rand(2, 19, 13, 17)
LAYOUTS = {"plain": "x", "last": "x.contiguous(memory_format=torch.channels_last)", "conv": "F.conv2d(x, w)",
           "conv_last": "F.conv2d(x.contiguous(memory_format=torch.channels_last), w)", "turned": "x.transpose(2, 3)",
           "cut": "x[:, 1:, 2:, ::2]"}
W = rand(19, 19, 1, 1, seed=1) / 4


def laid(name, layout, expression, *more, names="", **options):
    source = "def f(x, w%s):\n    y = %s\n    return %s" % (names, LAYOUTS[layout], expression)
    case("%s/%s" % (name, layout), source, X, W, *more, **options)


UNARY = ["torch.relu(y)", "F.relu6(y)", "F.hardtanh(y, -0.5, 1.5)", "F.hardswish(y)", "F.hardsigmoid(y)", "F.silu(y)",
         "torch.sigmoid(y)", "F.gelu(y)", "torch.tanh(y)", "torch.exp(y)", "F.leaky_relu(y, 0.1)", "torch.clamp(y, min=0.25)",
         "torch.clamp(y, max=0.25)", "torch.clamp(y, 1.0, -1.0)", "torch.erf(y)", "y.clone().relu_()", "y * 2.5", "3 - y", "2 / y.abs().clamp(min=1.0)",
         "y.clone().mul_(0.5).add_(y)", "y + y", "y * y.mean((2, 3), keepdim=True)", "y.mean((2, 3), keepdim=True) * y",
         "y + y.mean((2, 3), keepdim=True)", "y - y.mean((2, 3), keepdim=True)", "y.mean((2, 3), keepdim=True) - y",
         "y / (y.abs().amax((0, 2, 3), keepdim=True) + 1)", "y * y[:, :1]", "y + y[:1]", "y * y[:, :, :1]", "y + y[..., :1]",
         "y.add(y.relu(), alpha=2)", "y.mul_(y.mean((2, 3), keepdim=True).sigmoid())", "y + torch.arange(y.size(3))",
         "F.max_pool2d(y, 3, 2, 1)", "F.max_pool2d(y, 3, 2, ceil_mode=True)", "F.max_pool2d(y, 3, 1, 1, 2)",
         "F.avg_pool2d(y, 3, 2, 1)", "F.avg_pool2d(y, 3, 2, 1, count_include_pad=False)", "F.avg_pool2d(y, 2, divisor_override=3)",
         "F.adaptive_avg_pool2d(y, 1)", "F.adaptive_avg_pool2d(y, [5, 3])", "F.adaptive_avg_pool2d(y, [4, 1])",
         "F.avg_pool2d(y, [4, y.size(3)])",
         "F.interpolate(y, size=[29, 23], mode='bilinear', align_corners=False)",
         "F.interpolate(y, scale_factor=2.0, mode='bilinear', align_corners=True)",
         "F.interpolate(y[:, :16], size=[7, 5], mode='bilinear', align_corners=False)",
         "F.softmax(y, -1)", "F.log_softmax(y, -1)", "F.softmax(y, 1)", "F.layer_norm(y, [y.size(3)])",
         "F.layer_norm(y.permute(0, 2, 3, 1), [y.size(1)])",
         "F.batch_norm(y, torch.zeros(y.size(1)) + 0.5, torch.ones(y.size(1)) * 2)",
         "F.batch_norm(y, torch.zeros(y.size(1)) + 0.5, torch.ones(y.size(1)) * 2).relu_()",
         "F.instance_norm(y)", "torch.matmul(y, y.transpose(-2, -1))", "torch.matmul(y.transpose(-2, -1), y)"]
for expression in UNARY:
    for layout in LAYOUTS:
        laid(expression.replace("/", "|"), layout, expression)

for groups, channels in ((8, 32), (4, 32), (32, 128), (16, 48), (7, 21)):
    for kernel, stride, dilation in ((3, 1, 1), (3, 2, 1), (1, 1, 1), (3, 1, 2)):
        case("grouped/%d,%d,%d,%d,%d" % (groups, channels, kernel, stride, dilation),
             "def f(x, w, b):\n    return F.conv2d(x, w, b, %d, %d, %d, %d)" % (stride, kernel // 2, dilation, groups),
             rand(2, channels, 11, 9), rand(channels, channels // groups, kernel, kernel, seed=1) / 3, rand(channels, seed=2))

MATRICES = [((5, 7), (7, 9)), ((37, 64), (64, 50)), ((3, 40), (40, 33)), ((1, 100), (100, 70)), ((70, 33), (33, 1)),
            ((4, 2, 49, 32), (4, 2, 32, 49)), ((4, 2, 49, 32), (2, 32, 49)), ((4, 1, 20, 16), (1, 3, 16, 20)),
            ((6, 30, 20), (20, 35)), ((30, 20), (6, 20, 35)), ((9, 1, 64), (9, 64, 31)), ((2, 5, 65), (2, 65, 65))]
for number, (a, b) in enumerate(MATRICES):
    for ta in (False, True):
        for tb in (False, True):
            sa, sb = a[:-2] + (a[-1], a[-2]) if ta else a, b[:-2] + (b[-1], b[-2]) if tb else b
            case("matmul/%d/%d%d" % (number, ta, tb), "def f(a, b):\n    return torch.matmul(a%s, b%s)" %
                 (".transpose(-2, -1)" if ta else "", ".transpose(-2, -1)" if tb else ""), rand(*sa), rand(*sb, seed=1))
case("baddbmm", "def f(c, a, b):\n    return torch.baddbmm(c, a, b, beta=0.5, alpha=2)", rand(3, 20, 30), rand(3, 20, 16, seed=1),
     rand(3, 16, 30, seed=2))
case("addmm", "def f(c, a, b):\n    return torch.addmm(c, a, b)", rand(30), rand(20, 16, seed=1), rand(16, 30, seed=2))
case("addbmm", "def f(c, a, b):\n    return torch.addbmm(c, a, b)", rand(20, 30), rand(3, 20, 16, seed=1), rand(3, 16, 30, seed=2))
case("masked attention", "def f(a, b, m):\n    return torch.softmax(torch.matmul(a, b.transpose(-2, -1)) + m, -1) @ b",
     rand(8, 49, 32), rand(8, 49, 32, seed=1), torch.full((49, 49), -100.0).triu(1))
special = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, -1e-40, 1e30, -1e30, 88.0, -88.0, 3.0, -3.0] * 3)
for function in ("torch.relu", "F.relu6", "F.hardswish", "F.hardsigmoid", "F.silu", "torch.sigmoid", "F.gelu", "torch.tanh", "torch.exp",
                 "torch.erf", "F.leaky_relu"):
    case("special/%s" % function, "def f(x):\n    return %s(x)" % function, special)

# Arithmetic in the dtype of the tensors (kernels of ops/kernels/native.h). There are enough elements for several threads and for blocks of
# converted elements, elements that fill no whole vector, and operands with unusual strides, with stride 0, or of a dtype other than the
# first operand's.
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
OPERANDS = {"plain": "y", "turned": "y.transpose(0, 1).contiguous().transpose(0, 1)", "cut": "torch.cat([y, y], 1)[:, ::2]",
            "row": "y[:1]", "column": "y[:, :1]", "alone": "y[0, 0]", "number": "3"}
ARITHMETIC = ["x + {0}, x - {0}, x * {0}, torch.add(x, {0}, alpha=2), x ** 2",
              "torch.bitwise_and(x, {0}), torch.bitwise_or(x, {0}), torch.bitwise_xor(x, {0}), ~x, -x, x.abs()",
              "x == {0}, x != {0}, x < {0}, x <= {0}, x > {0}, x >= {0}, x.clamp(2, 9), x.clamp(min=3)",
              "torch.div(x, {0}, rounding_mode='floor'), torch.div(x, {0}, rounding_mode='trunc'), x % {0}, torch.fmod(x, {0}), x / {0}",
              "torch.bitwise_left_shift(x, {0}.clamp(0, 5)), torch.bitwise_right_shift(x, {0}.clamp(0, 5)), torch.maximum(x, {0}), "
              "torch.minimum(x, {0}), torch.where(x > 3, x, {0}), x.masked_fill(x > 5, 7)"]


def whole(dtype, seed, low=-9):
    """Returns nonzero integers in the range of the dtype, most of which are small."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randint(max(low, torch.iinfo(dtype).min), 100, (131, 173), generator=generator)
    wide = torch.randint(-2 ** 62, 2 ** 62, x.shape, generator=generator)
    x = torch.where(torch.rand(x.shape, generator=generator) < 0.05, wide, x).to(dtype)
    return torch.where(x == 0, torch.ones_like(x), x)


for dtype in DTYPES:
    for layout, operand in OPERANDS.items():
        for number, expression in enumerate(ARITHMETIC):
            if layout == "number" and number == 4:
                continue
            case("native/%s/%s/%d" % (str(dtype)[6:], layout, number),
                 "def f(x, y):\n    z = %s\n    return %s" % (operand, expression.format("z")), whole(dtype, 0), whole(dtype, 1))
    for other in DTYPES + [torch.bool, torch.float16, torch.float32, torch.float64]:
        y = whole(torch.int8, 2, 1).abs().to(other)
        case("native/%s/%s" % (str(dtype)[6:], str(other)[6:]),
             "def f(x, y):\n    return x + y, x * y, x == y, x < y, x / y, torch.where(x > 3, x, x + 1), x.to(y.dtype), y.to(x.dtype)",
             whole(dtype, 0), y)
    case("native/%s/into" % str(dtype)[6:],
         "def f(x, y):\n    z = x.clone()\n    z += y\n    z[1:, 2:] *= y[:-1, :-2]\n    z[:, ::2] -= y[:, ::2]\n    z.t()[:100, :100] += y[:100, :100]\n"
         "    w = torch.zeros(131, 173)\n    w[:, 1:] = x[:, 1:]\n    return z, w, torch.add(x, y, out=w), x.eq_(y)",
         whole(dtype, 0), whole(dtype, 1))
    case("native/%s/by zero" % str(dtype)[6:], "def f(x, y):\n    return torch.div(x, y - y[0, 5], rounding_mode='floor')", whole(dtype, 0),
         whole(dtype, 1))

FLAGS = rand(131, 173) > 0
case("native/bool", "def f(x, y):\n    return x == y, x != y, x & y, x | y, x ^ y, ~x, torch.logical_and(x, y), torch.where(x, y, x), x < y, x * y",
     FLAGS, rand(131, 173, seed=1) > 1)
for layout, operand in OPERANDS.items():
    if layout != "number":
        case("native/float/%s" % layout,
             "def f(x, y, w):\n    z = %s\n    return torch.clamp(x, z, w), torch.addcmul(x, z, w, value=0.5), torch.addcdiv(x, z, w, value=2.5), "
             "torch.lerp(x, z, w), torch.nextafter(x, z), torch.hypot(x, z), torch.where(x > z, x, z)" % operand,
             rand(131, 173), rand(131, 173, seed=1), rand(131, 173, seed=2).abs() + 0.5)
        case("native/complex/%s" % layout,
             "def f(x, y):\n    z = %s\n    return x + z, x - z, x * z, x.abs(), -x, x.conj().resolve_conj(), x * 2, x * z.real, torch.add(x, z, alpha=2)" %
             operand, torch.complex(rand(131, 173), rand(131, 173, seed=1)), torch.complex(rand(131, 173, seed=2), rand(131, 173, seed=3)))
inf, nan = float("inf"), float("nan")
SPECIAL_PAIRS = torch.tensor([[a, b, c] for a in (inf, -inf, nan, 0.0, -0.0, 1e-44, 3e38, -1.0) for b in (inf, -inf, nan, 0.0, -0.0, 1e-44, 3e38, 2.0)
                              for c in (inf, nan, 0.0, 0.75)])
case("native/special", "def f(x, y, z):\n    return torch.clamp(x, y, z), torch.nextafter(x, y), torch.hypot(x, y), torch.lerp(x, y, z)",
     *(SPECIAL_PAIRS[:, k].contiguous() for k in range(3)))
# Conversions from each dtype to each dtype, directly and through floats.
for dtype in DTYPES + [torch.bool, torch.float16, torch.bfloat16, torch.float32, torch.float64]:
    x = whole(torch.int8, 3).to(dtype)
    case("native/casts/%s" % str(dtype)[6:],
         "def f(x):\n    return x.to(torch.uint8), x.to(torch.int8), x.to(torch.int16), x.to(torch.int32), x.to(torch.int64), "
         "x.to(torch.float16), x.to(torch.bfloat16).to(torch.float32), x.to(torch.float32), x.to(torch.float64), x.to(torch.bool), "
         "x.t().to(torch.float32), x[:, ::2].to(torch.float16), x[:, ::2].to(torch.int16)", x.abs() if dtype != torch.bool else x)

# Functions with vector kernels, also complex ones: with elements that fill no whole vector, with numbers that the vector kernels leave
# to the C library, and with numbers at the edges of the functions.
inside = torch.tanh(rand(131, 173))
for function in ("torch.atan", "torch.tan", "torch.sinh", "torch.cosh", "torch.erfc", "torch.frac", "torch.exp2"):
    case("vectors/%s" % function, "def f(x, y):\n    return %s(x), %s(y), %s(x.t())" % ((function,) * 3), rand(131, 173), special)
for function in ("torch.asin", "torch.acos", "torch.erfinv", "torch.logit"):
    case("vectors/%s" % function, "def f(x, y):\n    return %s(x), %s(y)" % ((function,) * 2), inside,
         torch.tensor([1.0, -1.0, 1.5, 0.0, -0.0, 0.5, -0.5, float("nan"), 0.99999994, 1e-40] * 2))
for function in ("torch.log2", "torch.log10"):
    case("vectors/%s" % function, "def f(x, y):\n    return %s(x), %s(y), %s(2.0 ** torch.arange(-140, 128))" % ((function,) * 3),
         rand(131, 173).abs(), special)
case("vectors/logit eps", "def f(x):\n    return torch.logit(x, 0.125), torch.logit(x, 0.0)", rand(131, 173))
for function in ("torch.atan2", "torch.xlogy", "torch.special.xlog1py", "torch.logaddexp", "torch.logaddexp2"):
    case("vectors/%s" % function, "def f(x, y, a, b):\n    return %s(x, y), %s(x, y[0]), %s(a, b), %s(a[:1], y.t())" % ((function,) * 4),
         rand(131, 173), rand(131, 173, seed=1), SPECIAL_PAIRS[:, 0].contiguous(), SPECIAL_PAIRS[:, 1].contiguous())
Z = torch.complex(rand(131, 173), rand(131, 173, seed=1))
case("vectors/complex", "def f(x, y):\n    a, b = x.real.contiguous(), y.imag.contiguous()\n"
     "    return x / y, x.angle(), torch.polar(a, b), torch.complex(a, b), torch.exp(x), x.t().angle(), x / 3.0, x / y.real", Z,
     torch.complex(rand(131, 173, seed=2), rand(131, 173, seed=3)))
case("vectors/complex, large", "def f(x, y):\n    a, b = x.real * 4000, y.imag * 4000\n    return x / (y * 1e20), torch.polar(a, b), torch.exp(x.t() * 5)", Z,
     torch.complex(rand(131, 173, seed=2), rand(131, 173, seed=3)))

# Losses of floats: enough elements for several threads, operands that are broadcast or not contiguous, and special numbers.
PROBABILITIES = torch.sigmoid(rand(131, 173))
for loss in ("mse_loss(x, t, {})", "smooth_l1_loss(x, t, {}, 0.3)", "smooth_l1_loss(x, t, {}, 0.0)", "huber_loss(x, t, {}, 0.7)",
             "binary_cross_entropy(p, q, None, {})", "binary_cross_entropy(p, q, w, {})", "binary_cross_entropy_with_logits(x, q, None, None, {})",
             "binary_cross_entropy_with_logits(x, q, w[0], None, {})", "binary_cross_entropy_with_logits(x, q, w, w[0], {})",
             "kl_div(x, q, {})", "kl_div(x, t / 4, {}, log_target=True)", "soft_margin_loss(x, t.sign(), {})",
             "hinge_embedding_loss(x, t.sign(), 0.5, {})", "poisson_nll_loss(x / 2, q, True, False, 1e-08, {})",
             "poisson_nll_loss(p, q, False, False, 1e-08, {})", "poisson_nll_loss(p, q * 5, False, True, 1e-08, {})",
             "mse_loss(x, t.t().contiguous().t(), {})", "smooth_l1_loss(x[:, ::2], t[:, ::2], {})"):
    for reduction in (0, 1, 2):
        case("loss/%s" % loss.format(reduction), "def f(x, t, p, q, w):\n    return torch.ops.aten.%s" % loss.format(reduction), rand(131, 173),
             rand(131, 173, seed=1), PROBABILITIES, torch.sigmoid(rand(131, 173, seed=3)), rand(131, 173, seed=4).abs())
for loss in ("mse_loss", "smooth_l1_loss", "huber_loss"):
    case("loss/special %s" % loss, "def f(x, y):\n    return torch.ops.aten.%s(x, y, 0)" % loss, SPECIAL_PAIRS[:, 0].contiguous(),
         SPECIAL_PAIRS[:, 1].contiguous())
case("loss/edges", "def f(p, x):\n    return torch.ops.aten.binary_cross_entropy(p, p, None, 0), torch.ops.aten.binary_cross_entropy_with_logits(x, p, None, None, 0)",
     torch.tensor([0.0, 1.0, 0.5, 1e-40]), torch.tensor([200.0, -200.0, float("inf"), 0.0]))
for number in (1.5, -0.25, float("nan")):
    case("loss/no probability %s" % number, "def f(p, q):\n    return torch.ops.aten.binary_cross_entropy(p, q)",
         torch.where(torch.arange(173) == 170, torch.tensor(number), PROBABILITIES), PROBABILITIES)

# Distances of floats: batches that are broadcast, columns of transposed matrices, equal rows, and rows whose sums overflow.
for p in (0.0, 1.0, 2.0, 3.0, 1.5, float("inf")):
    case("distance/cdist %s" % p, "def f(a, b, p: float):\n    return torch.ops.aten.cdist(a, b, p, 2), torch.ops.aten.cdist(a.transpose(-1, -2), b[..., :20, :].transpose(-1, -2), p, 2)",
         rand(2, 1, 20, 37), rand(3, 33, 37, seed=1).masked_fill(rand(3, 33, 37, seed=2) > 3, 0.5), p)
    case("distance/pdist %s" % p, "def f(a, p: float):\n    return torch.pdist(a, p), torch.pdist(torch.cat([a, a])[:, :5], p), torch.pdist(a[:1], p)",
         rand(41, 23), p)
case("distance/equal", "def f(a):\n    return torch.cdist(a, a, 1.0), torch.ops.aten.cdist(a, a, 2.0, 2), torch.cdist(a[:0], a, 2.0), torch.cdist(a[:, :0], a[:, :0], 2.0)", rand(9, 130))
case("distance/long", "def f(a):\n    return torch.cdist(a, a * 2, 1.0), torch.ops.aten.cdist(a, a * 2, 2.0, 2)", rand(3, 5000))
case("distance/nan", "def f(a):\n    b = a.clone()\n    b[1, 2] = float('nan')\n    b[2, 3] = float('inf')\n    return torch.cdist(b, a, 1.0), torch.cdist(b, a, 0.0)",
     rand(5, 7))

# Cosines of floats: rows and columns, broadcast and transposed operands, products outside the range of floats, zeros.
for dim in (0, 1, 2, -1):
    case("cosine/%d" % dim, "def f(a, b, dim: int):\n    return torch.cosine_similarity(a, b, dim), torch.cosine_similarity(a, b[:1, :1], dim), "
         "torch.cosine_similarity(a.transpose(0, 2), b.transpose(0, 2), dim), torch.cosine_similarity(a * 1e25, b * 1e-25, dim), "
         "torch.cosine_similarity(a * 0.0, b, dim), torch.cosine_similarity(a, b, dim, 100.0), torch.cosine_similarity(a[:, :0], b[:, :0], dim)",
         rand(5, 70, 301), rand(5, 70, 301, seed=1), dim)
case("cosine/long", "def f(a, b):\n    return torch.cosine_similarity(a, b, 1), torch.cosine_similarity(a.t(), b.t(), 0)", rand(3, 9001), rand(3, 9001, seed=1))
case("cosine/special", "def f(a, b):\n    return torch.cosine_similarity(a, b, 1)", SPECIAL_PAIRS, SPECIAL_PAIRS.flip(0).contiguous())

# Reductions of tensors that are not float32; the loop converts their elements.
for dtype in DTYPES + [torch.bool, torch.float16, torch.float64]:
    x = whole(torch.int8, 5).to(dtype) if dtype.is_floating_point or dtype == torch.bool else whole(dtype, 5)
    extremes = "x.sum(), x.any()" if dtype == torch.bool else "x.amax(1), x.amin(0), x.amax(), x.t().amax(1), x[:, ::2].amax(1), x.argmax(1)"
    case("reduce/%s" % str(dtype)[6:], "def f(x):\n    return x.sum(1), x.sum(0), x[:, 1:].sum(), x.mean(1, dtype=torch.float32), x.any(1), " + extremes,
         x if dtype != torch.float16 else x / 256)
