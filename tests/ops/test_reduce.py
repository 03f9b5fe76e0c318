# SPDX-License-Identifier: BSD-2-Clause
"""Cases of reductions, scans, softmax and sorting for the op-module runner; see test_elementwise.py."""
import itertools

import torch

from test_elementwise import ALL, FLOATS, LAYOUTS, NUMBERS, SHAPE, build, label, tensor

CASES = []


def case(name, source, builder):
    CASES.append((name, "def f(%s):\n    return %s\n" % source, builder))


def plain(shape, dtype=torch.float32, layout="contiguous"):
    """Returns elements without special numbers, because sums of special numbers are only NaN."""
    return lambda: [tensor(shape, dtype, layout, special=False)]


DIMS = ("[0]", "[1]", "[-1]", "[2, 3]", "[0, 2]", "[1, 3]", "[0, 1, 2, 3]")
SHAPES = (SHAPE, (2, 3, 33, 17), (1, 300, 1, 7))

# ---- sums, means, norms

for op in ("sum", "mean", "amax", "amin", "logsumexp", "var", "std", "nansum"):
    for dims, keep, layout in itertools.product(DIMS, (False, True), LAYOUTS):
        case("%s/%s/%s/%s" % (op, dims, keep, layout), ("x", "torch.%s(x, %s, keepdim=%s)" % (op, dims, keep)), plain(SHAPE, layout=layout))
    for shape in SHAPES:
        case("%s/%s" % (op, shape), ("x", "torch.%s(x, [2, 3])" % op), plain(shape))
for op in ("sum", "mean", "prod", "max", "min", "any", "all", "var", "std", "median", "norm", "argmax", "argmin", "count_nonzero"):
    for dtype, layout in itertools.product(FLOATS, LAYOUTS):
        case("%s/all/%s/%s" % (op, label(dtype), layout), ("x", "torch.%s(x)" % op), plain(SHAPE, dtype, layout))
    case(op + "/scalar", ("x", "torch.%s(x)" % op), plain(()))
for op in ("sum", "prod", "max", "min", "any", "all", "median", "argmax", "argmin", "count_nonzero"):
    for dtype in ALL:
        if not (dtype == torch.bool and op in ("median", "argmax", "argmin")):
            case("%s/%s" % (op, label(dtype)), ("x", "torch.%s(x)" % op), build(((3, 4), dtype)))
for op in ("max", "min", "amax", "amin", "argmax", "argmin", "any", "all", "sum", "norm"):
    case(op + "/special", ("x", "torch.%s(x)" % op), build((SHAPE,)))
# Dtypes other than float32, reduced along lines and across lines that are long enough for kernels.
for op, dim, dtype in itertools.product(("sum", "prod", "amax", "amin", "any", "all", "count_nonzero", "nansum"), (0, 1, -1),
                                        (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool)):
    if op != "nansum" or dtype.is_floating_point:
        x = "torch.abs(x)" if op in ("sum", "nansum") and dtype == torch.float32 else "x"
        case("%s/long/%s/%d" % (op, label(dtype), dim), ("x", "torch.%s(%s, %d)" % (op, x, dim)), build(((3, 70, 150), dtype)))
for op, dim, dtype in itertools.product(("max", "min", "argmax", "argmin"), (0, 1, -1), (torch.float32, torch.int64, torch.int32, torch.uint8)):
    for shape in ((3, 70, 150), (40, 33, 7), (9, 128, 4), (5, 2000, 3)):
        case("%s/long/%s/%d/%d" % (op, label(dtype), dim, shape[0]), ("x", "torch.%s(x, %d)" % (op, dim)), build((shape, dtype)))
# Many lines of a few vectors, and results that are stored together. Some sums overflow, and some products underflow.
for op, dims, shape in itertools.product(("sum", "mean", "amax", "amin", "prod"), ("-1", "0", "1"), ((37, 5, 16), (3, 33, 49), (9, 30, 127), (2, 40, 128), (70, 3, 31))):
    over = dims if op == "prod" else "[%s]" % dims
    of = "torch.abs(x)" if op in ("sum", "mean") else "x"  # avoids sums that are nearly 0
    case("%s/lines/%s/%s" % (op, dims, shape), ("x", "torch.%s(%s, %s)" % (op, of, over)), plain(shape))
    if op in ("amax", "amin"):
        case("%s/lines/special/%s/%s" % (op, dims, shape), ("x", "torch.%s(x, %s)" % (op, over)), build((shape,)))
for op in ("sum", "mean", "amax", "amin"):
    case(op + "/lines/apart", ("x", "torch.%s(x, [0, 2])" % op), plain((13, 40, 65)))
    case(op + "/lines/slices", ("x", "torch.%s(x[:, 1:, 3:60], [2])" % op), plain((13, 40, 65)))
    if op != "mean":
        case(op + "/lines/large", ("x", "torch.%s(x.abs() * 1e38, [2]), torch.%s(x.abs() * 1e38, [1])" % (op, op)), plain((2, 40, 65)))
case("prod/lines/ends", ("x", "torch.prod(x * 1e-9, 2), torch.prod(x * 1e9, 1), torch.prod(torch.where(x > 2, torch.zeros_like(x), x), 2)"), plain((3, 40, 65)))
# Dimensions of one element: the result is equal to the input, except for its dtype or sizes.
for layout in LAYOUTS:
    for dtype in (torch.float32, torch.float64, torch.int64, torch.bool, torch.float16):
        names = ("amax", "amin", "any", "all", "argmax", "max", "sum", "cumsum", "cumprod", "sort", "median", "topk", "mode") + (("mean", "logcumsumexp", "cummax") if dtype.is_floating_point else ())
        if dtype in (torch.bool, torch.float16):
            names = ("any", "all", "amax") if dtype == torch.bool else ("sum", "mean", "amax")
        for op in names:
            calls = ["torch.%s(x[:, 1:2], %s)" % (op, "1, 1" if op == "topk" else "1")]
            if op in ("amax", "amin", "any", "all", "argmax", "max", "sum", "mean", "median"):
                calls.append("torch.%s(x[..., :1], -1, True)" % op)
            case("one/%s/%s/%s" % (op, label(dtype), layout), ("x", ", ".join(calls)), build((SHAPE, dtype, layout)))
case("one/prod", ("x", "torch.prod(x[:, :1], 1), torch.prod(x[:1], 0, True), torch.prod(x[:1, :0], 0), torch.sum(x[:1, :, :1], [0, 2]), torch.amax(x[:1, :, :1], [0, 2], True)"), plain(SHAPE))
case("sum/dtype", ("x", "torch.sum(x, [1], dtype=torch.float64)"), build((SHAPE, torch.int32)))
case("mean/dtype", ("x", "torch.mean(x, [1], dtype=torch.float64)"), build((SHAPE, torch.int32)))
case("prod/dim", ("x", "torch.prod(x, 1)"), plain(SHAPE))
case("nanmean", ("x", "torch.nanmean(x, [2, 3])"), build((SHAPE,)))
for empty in ("sum", "mean", "prod", "any", "all"):
    case(empty + "/of none", ("x", "torch.%s(x)" % empty), plain((2, 0, 3)))
case("sum/empty dim", ("x", "torch.sum(x, [1])"), plain((2, 0, 3)))
for correction in (0, 1, 2):
    case("var/correction %d" % correction, ("x", "torch.var(x, [1], correction=%d)" % correction), plain(SHAPE))
for op in ("var_mean", "std_mean"):
    for layout in LAYOUTS:
        case("%s/%s" % (op, layout), ("x", "torch.%s(x, [2, 3], False)" % op), plain(SHAPE, layout=layout))
for p in ("0", "1", "2", "3", "2.5", "float('inf')", "float('-inf')"):
    case("norm/" + p, ("x", "torch.norm(x, %s)" % p), plain(SHAPE))
    case("norm/dim/" + p, ("x", "torch.norm(x, %s, [1, 2], True)" % p), plain(SHAPE, layout="channels_last"))
    case("vector_norm/" + p, ("x", "torch.linalg.vector_norm(x, %s, [-1])" % p), plain(SHAPE))
    case("dist/" + p, ("x, y", "torch.dist(x, y, %s)" % p), lambda: [tensor(SHAPE, special=False), tensor((5,), special=False, seed=9)])
case("equal", ("x, y", "[torch.equal(x, y), torch.equal(x, x), torch.allclose(x, x), torch.allclose(x, y)]"),
     lambda: [tensor(SHAPE, special=False), tensor(SHAPE, special=False, seed=9)])

# ---- one dimension at a time

for dim, layout in itertools.product((0, 1, 2, -1), LAYOUTS):
    for op in ("max", "min"):
        for keep in (False, True):
            case("%s/%d/%s/%s" % (op, dim, keep, layout), ("x", "torch.%s(x, %d, %s)" % (op, dim, keep)), build((SHAPE, torch.float32, layout)))
    for op in ("argmax", "argmin", "any", "all"):
        case("%s/%d/%s" % (op, dim, layout), ("x", "torch.%s(x, %d)" % (op, dim)), build((SHAPE, torch.float32, layout)))
    for op in ("softmax", "log_softmax"):
        case("%s/%d/%s" % (op, dim, layout), ("x", "torch.nn.functional.%s(x, dim=%d)" % (op, dim)), plain(SHAPE, layout=layout))
    for op in ("cumsum", "cumprod", "logcumsumexp"):
        case("%s/%d/%s" % (op, dim, layout), ("x", "torch.%s(x, %d)" % (op, dim)), plain(SHAPE, layout=layout))
    for op in ("cummax", "cummin"):
        case("%s/%d/%s" % (op, dim, layout), ("x", "torch.%s(x, %d)" % (op, dim)), plain(SHAPE, layout=layout))
    for descending in (False, True):
        case("sort/%d/%s/%s" % (dim, descending, layout), ("x", "torch.sort(x, dim=%d, descending=%s, stable=True)" % (dim, descending)),
             build((SHAPE, torch.float32, layout)))
    case("argsort/%d/%s" % (dim, layout), ("x", "torch.argsort(x, %d)" % dim), plain(SHAPE, layout=layout))
    if layout != "expanded":  # the expanded layout has equal elements, of which any position is correct
        case("topk/%d/%s" % (dim, layout), ("x", "torch.topk(x, 2, %d)" % dim), plain(SHAPE, layout=layout))
        case("kthvalue/%d/%s" % (dim, layout), ("x", "torch.kthvalue(x, 2, %d)" % dim), plain(SHAPE, layout=layout))
        case("median/%d/%s" % (dim, layout), ("x", "torch.median(x, %d)" % dim), plain(SHAPE, layout=layout))
for (shape, dim), dtype in itertools.product((((7, 20), 1), ((8, 20), 1), ((70, 9), 1), ((9, 130), 0), ((3, 12, 17), 1), ((2, 12, 1), 1)), (torch.float32, torch.float64)):  # the kernels scan single lines, and many lines at a time
    case("logcumsumexp/lines/%s/%d/%s" % (shape, dim, label(dtype)), ("x", "[torch.logcumsumexp(x, %d), torch.logcumsumexp(x * 200, %d)]" % (dim, dim)), plain(shape, dtype))
    case("logcumsumexp/special/%s/%d/%s" % (shape, dim, label(dtype)), ("x", "torch.logcumsumexp(x, %d)" % dim), build((shape, dtype)))
INFINITE = [[-float("inf")] * 3 + [1.0], [float("inf"), float("inf"), 1.0, -float("inf")], [1.0, float("inf"), -float("inf"), 2.0], [-float("inf"), float("inf"), float("nan"), 1.0], [0.0, 0.0, -0.0, -800.0]]
case("logcumsumexp/infinite", ("x", "[torch.logcumsumexp(x, 1), torch.logcumsumexp(x.double(), 1), torch.logcumsumexp(x[:5], 1)]"), lambda: [torch.tensor(INFINITE * 3)])
for large in (2**31, -2**31 - 1, 2**31 - 1, -2**31, 2**40, 2**63 - 1):  # all integers of a line except one fit 32 bits
    case("sort/large/%d" % large, ("x", "[torch.sort(x, dim=1, stable=True)[0], torch.topk(x, 3)[0], torch.topk(x, 3, largest=False)[0], torch.topk(x, 200)[0], torch.kthvalue(x, 500)[0], torch.kthvalue(x.t(), 1, 0)[0], torch.median(x, 1)[0], x.mode(1)[0]]"),
         lambda large=large: [torch.cat([torch.arange(599) * 7919 % 1009 - 500, torch.tensor([large])])[None]])
for dtype in NUMBERS:
    case("cumsum/" + label(dtype), ("x", "torch.cumsum(x, 1)"), plain((3, 40), dtype))
    case("sort/" + label(dtype), ("x", "torch.sort(x, dim=-1, descending=True, stable=True)"), build(((3, 40), dtype)))
    case("max dim/" + label(dtype), ("x", "torch.max(x, 1)"), build(((3, 40), dtype)))
for dim, dtype in itertools.product((0, 1, -1), (torch.float64, torch.int32, torch.int64, torch.uint8, torch.bool)):
    for op in ("cumsum", "cummax", "cummin", "cumprod")[:1 if dtype == torch.bool else 4 if dtype == torch.float64 else 3]:
        case("%s/long/%s/%d" % (op, label(dtype), dim), ("x", "torch.%s(x, %d)" % (op, dim)), plain((3, 70, 150), dtype) if op in ("cumsum", "cumprod") else build(((3, 70, 150), dtype)))
for dim in (0, 1, -1):
    case("sum/long/complex/%d" % dim, ("x", "[torch.view_as_real(torch.view_as_complex(x.abs()).sum(%d)), torch.view_as_real(torch.view_as_complex(x.abs()).mean(%d))]" % (dim, dim)),
         plain((3, 70, 2150, 2)))
case("sum/complex/large", ("x", "torch.view_as_real(torch.view_as_complex(x * 3e38).sum(-1))"), lambda: [torch.tensor([1.0, -1.0] * 130).view(130, 2)[[0, 1] * 65].reshape(1, 130, 2)])
for shape, dim in (((3, 1100), 1), ((1100, 3), 0), ((2, 130, 9), 1), ((1, 21, 16, 16), 1), ((5, 1), 1), ((), 0)):
    for op in ("softmax", "log_softmax"):
        case("%s/%s/%d" % (op, shape, dim), ("x", "torch.nn.functional.%s(x, dim=%d)" % (op, dim)), plain(shape))
    case("sort/%s/%d" % (shape, dim), ("x", "torch.sort(x, %d)" % dim), plain(shape))
    case("argmax/%s/%d" % (shape, dim), ("x", "torch.argmax(x, %d)" % dim), plain(shape))
# The largest elements of long lines, with and without equal elements.
for k, shape in ((5, (7, 300)), (20, (3, 1000)), (1, (4, 50)), (9, (2, 3, 290))):
    case("topk/tried/%d" % k, ("x", "[torch.topk(x, %d)[0], torch.topk(x, %d)[1].float(), torch.topk(x.round(), %d, -1, False)[0], torch.topk(x.round(), %d)[1].float(), torch.topk(x.masked_fill(x > 1, float('nan')), %d)[1].float()]" % ((k,) * 5)), plain(shape))
# Short lines with few neighbours, which the kernel transposes. Several dimensions are reduced as one line.
for shape in ((33, 17, 3), (4, 100, 7), (70, 5), (5, 70), (3, 1, 70), (2, 33, 31), (2, 3, 4, 5), (1, 65, 32), (300, 1), (2, 6, 40), (2, 300, 2), (70, 2, 17), (16, 30, 4), (130, 5, 7), (70, 40), (9, 4, 56), (66, 57)):
    for dim in range(len(shape)):
        for op in ("softmax", "log_softmax", "logsumexp"):
            case("%s/turned/%s/%d" % (op, shape, dim), ("x", "[torch.%s(x, %d), torch.%s(x * 50, %d)]" % (op, dim, op, dim)), plain(shape))
for op in ("softmax(x, %d)", "log_softmax(x, %d)", "logsumexp(x, [%d])"):
    for dim in (0, 1, 2):
        case("turned/special/%s/%d" % (op[:-6], dim), ("x", "torch." + op % dim), lambda: [torch.tensor(INFINITE * 6).view(6, 5, 4)])
for dims in ((0, 1), (1, 2), (0, 2), (1, 3), (0, 1, 2, 3), (0, 3)):
    for keep in (False, True):
        case("logsumexp/%s/%s" % (dims, keep), ("x", "torch.logsumexp(x, %s, %s)" % (list(dims), keep)), plain((5, 4, 6, 7)))
for op, (shape, dim) in itertools.product(("softmax", "log_softmax"), (((3, 1100), 1), ((1100, 3), 0), ((2, 130, 9), 1), ((3, 9000), -1), ((40, 7), -1), ((9, 64), 1), ((), 0))):
    case("%s/double/%s/%d" % (op, shape, dim), ("x", "torch.nn.functional.%s(x, dim=%d)" % (op, dim)), plain(shape, torch.float64))
case("softmax/double/special", ("x", "torch.softmax(x, 1), torch.log_softmax(x, 1), torch.softmax(x * 300, 0)"),
     lambda: [torch.tensor([[-float("inf"), 0.0, 1.0], [float("-inf")] * 3, [float("inf"), 1.0, 2.0], [float("nan"), 1.0, 2.0], [-800.0, 0.0, 5.0]], dtype=torch.float64)])
case("cumsum/beside others", ("x", "x[:, :130].cumsum_(0), x"), plain((3, 260)))  # the elements of x outside the view must not change
case("softmax/dtype", ("x", "torch.softmax(x, 1, torch.float64)"), build((SHAPE, torch.int32)))
case("softmax/infinite", ("x", "torch.softmax(x, 1)"), lambda: [torch.tensor([[-float("inf"), 0.0], [float("-inf"), float("-inf")], [float("inf"), 1.0]])])
case("aminmax", ("x", "torch.aminmax(x, dim=1, keepdim=True)"), build((SHAPE,)))
case("nanmedian", ("x", "torch.nanmedian(x)"), build((SHAPE,)))
case("msort", ("x", "torch.msort(x)"), plain(SHAPE, layout="channels_last"))
case("sum_to_size", ("x", "x.sum_to_size([3, 1, 5])"), plain(SHAPE))

# ---- ties: equal elements have the order in which PyTorch's sort, nth_element and partial_sort leave them


def ties(shape, dtype=torch.int64, kinds=4):
    return lambda: [torch.randint(0, kinds, shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)]


for dtype in (torch.int64, torch.float32, torch.float64):
    case("topk/number/" + label(dtype), ("x", "torch.topk(x, 0), torch.topk(x, 1, largest=False)"), plain((), dtype))
for dtype in (torch.int64, torch.float32, torch.float16, torch.bfloat16, torch.uint8):
    for shape in ((3, 10), (3, 100), (1, 3000)):
        name = "%s/%s" % (label(dtype), shape)
        case("sort/ties/" + name, ("x", "torch.sort(x)"), ties(shape, dtype))
        case("sort/ties down/" + name, ("x", "torch.sort(x, descending=True)"), ties(shape, dtype))
        case("argsort/ties/" + name, ("x", "torch.argsort(x, 0)"), ties(shape, dtype))
        if dtype == torch.float16:
            continue
        case("topk/ties/" + name, ("x", "torch.topk(x, 5)"), ties(shape, dtype))
        case("topk/ties few/" + name, ("x", "torch.topk(x, 1, largest=False)"), ties(shape, dtype))
        case("topk/ties unsorted/" + name, ("x", "torch.topk(x, 7, -1, False, False)"), ties(shape, dtype))
        case("kthvalue/ties/" + name, ("x", "torch.kthvalue(x, 4)"), ties(shape, dtype))
        case("median/ties/" + name, ("x", "torch.median(x, -1)"), ties(shape, dtype))
        case("mode/ties/" + name, ("x", "torch.mode(x)"), ties(shape, dtype))


def unlike(dtype, *shape):
    """Returns distinct elements, in which the elements at the given positions are made equal."""
    def make():
        g = torch.Generator().manual_seed(len(shape))
        n = torch.Size(shape).numel()
        if dtype.is_floating_point:
            x = torch.randperm(n, generator=g).to(dtype) * 1.37 - n * 0.4
            x[n // 3] = float("nan")
            x[n // 2] = float("inf")
        else:
            x = torch.randperm(n, generator=g).to(dtype) * (1 if n < 40000 and dtype != torch.int64 else 1 << 33) - 5
        return [x.view(shape)]
    return make


for dtype in (torch.int64, torch.float32, torch.float64, torch.int32):
    for shape in ((3, 50), (2, 700), (1, 5000)):
        name = "%s/%s" % (label(dtype), shape)
        for down in (False, True):
            case("sort/unlike/%s/%s" % (name, down), ("x", "torch.sort(x, descending=%s)" % down), unlike(dtype, *shape))
            case("sort/unlike, stable/%s/%s" % (name, down), ("x", "torch.sort(x // 7, dim=-1, descending=%s, stable=True)" % down), unlike(dtype, *shape))
            case("topk/unlike/%s/%s" % (name, down), ("x", "[torch.topk(x, k, -1, %s) for k in [1, 7, 45]]" % down), unlike(dtype, *shape))
        case("median/unlike/" + name, ("x", "[torch.median(x, -1), torch.nanmedian(x, -1), torch.kthvalue(x, 20), torch.mode(torch.nan_to_num(x, 0.0, 0.0) // 7)]"), unlike(dtype, *shape))
        case("median/unlike, first/" + name, ("x", "[torch.median(x.t(), 0), torch.sort(x.t(), 0), torch.topk(x.t(), 3, 0)]"), unlike(dtype, *shape))
case("median/equal", ("x", "torch.median(x // 100, -1)"), lambda: [torch.arange(900).flip(0).view(3, 300)])
case("median/NaN", ("x", "[torch.median(x, -1), torch.nanmedian(x, -1)]"), lambda: [torch.tensor([float("nan"), 2.0, 1.0, float("nan"), -0.0, 0.0]).repeat(2, 30)])
case("sort/ties/bool", ("x", "torch.sort(x)"), ties((5000,), torch.bool, 2))
case("topk/partial", ("x", "torch.topk(x, 40)"), ties((2, 4000), torch.int64, 300))
case("sort/organ pipe", ("x", "torch.sort(x)"), lambda: [torch.cat([torch.arange(3000), torch.arange(3000).flip(0)])])
case("sort/sorted", ("x", "torch.sort(x // 3, descending=True)"), lambda: [torch.arange(5000)])
for width in (41, 52, 64, 65, 100, 127, 160, 161):  # lines long enough for several sorted runs, which are merged; the last run has any length
    for dtype in (torch.float32, torch.float64, torch.int64):
        case("sort/merged/%d/%s" % (width, label(dtype)), ("x", "[torch.sort(x // 3, dim=-1, stable=True), torch.sort(x // 3, dim=-1, descending=True, stable=True), torch.sort(x, -1)]"),
             plain((5, width), dtype))
case("sort/NaN", ("x", "torch.sort(x)"), lambda: [torch.tensor([2.0, float("nan"), 1.0, float("nan"), 0.0] * 20)])
case("nanmedian/NaN", ("x", "torch.nanmedian(x, 0)"), lambda: [torch.tensor([2.0, float("nan"), 1.0, float("nan"), 0.0] * 20)])
case("aminmax/number", ("x", "torch.aminmax(x, dim=0, keepdim=True)"), plain(()))
case("sum_to_size/bool", ("x", "[x.sum_to_size([1, 4]), x[0, 0].sum_to_size([])]"), build(((3, 4), torch.bool)))
for p in ("1", "2", "3"):
    case("vector_norm/half/" + p, ("x", "torch.linalg.vector_norm(x, %s, [-1])" % p),
         lambda: [torch.tensor([[30.0, 40.0], [300.0, 200.0], [0.5, 1.0]]).half()])

# ---- differences, integrals, covariances, quantiles, norms

for dtype in (torch.float32, torch.float64, torch.int64, torch.float16):
    name = "/" + label(dtype)
    case("diff" + name, ("x", "[torch.diff(x), torch.diff(x, 2, 1), torch.diff(x, 9, 0), torch.diff(x, 0)]"), plain((3, 4, 5), dtype))
    case("diff/around" + name, ("x, a", "[torch.diff(x, 1, 0, a, a), torch.diff(x, 2, 0, a), torch.diff(x, 0, 0, a)]"),
         lambda dtype=dtype: [tensor((3, 4), dtype, special=False), tensor((2, 4), dtype, special=False, seed=3)])
    case("trapezoid" + name, ("y, x", "[torch.trapezoid(y, x), torch.trapz(y, x, dim=0)]"),
         lambda dtype=dtype: [tensor((4, 4), dtype, special=False), tensor((4,), dtype, special=False, seed=3)])
    case("trapezoid/dx" + name, ("y", "[torch.trapezoid(y), torch.trapezoid(y, dx=2, dim=0), torch.trapz(y, dx=0.5), torch.trapz(y)]"),
         plain((3, 4), dtype))
    if dtype == torch.float16:
        continue
    case("cumulative_trapezoid" + name, ("y, x", "[torch.cumulative_trapezoid(y, x), torch.cumulative_trapezoid(y, dx=1.5, dim=0)]"),
         lambda dtype=dtype: [tensor((4, 4), dtype, special=False), tensor((4,), dtype, special=False, seed=3)])
    case("cov" + name, ("x", "[torch.cov(x), torch.cov(x, correction=0), torch.cov(x[0]), torch.corrcoef(x), torch.corrcoef(x[0])]"),
         plain((3, 6), dtype))
case("diff/bool", ("x", "torch.diff(x)"), build(((3, 9), torch.bool)))
for shape in ((3, 0, 5), (0, 4), (2, 0)):
    case(f"diff/empty-{shape}", ("x", "[torch.diff(x, 1), torch.diff(x, 3, 0), torch.diff(x, 2), torch.diff(x, 7)]"), build((shape, torch.bool)))
case("diff/transposed", ("x", "torch.diff(x.transpose(0, 1))"), plain((3, 4, 5)))
case("diff/out", ("x, y", "torch.diff(x, out=y)"), lambda: [tensor((3, 4), special=False), torch.zeros(0)])
case("diff/number", ("x", "torch.diff(x)"), plain(()))
case("diff/negative order", ("x", "torch.diff(x, -1)"), plain((3,)))
case("diff/empty", ("x", "torch.diff(x)"), plain((3, 0)))
case("cumulative_trapezoid/uint8", ("y, x", "[torch.cumulative_trapezoid(y * 20, x * 9), torch.trapezoid(y * 20, x * 9)]"),
     lambda: [tensor((4, 4), torch.uint8), tensor((4,), torch.uint8, seed=3)])
case("trapezoid/none", ("y", "torch.trapezoid(y, dim=1)"), plain((3, 0, 2)))
case("trapezoid/bool", ("y", "torch.trapezoid(y)"), build(((3, 4), torch.bool)))
case("trapezoid/points", ("y, x", "torch.trapezoid(y, x)"), lambda: [tensor((3, 4), special=False), tensor((5,), special=False)])
case("trapezoid/padded", ("y, x", "torch.trapezoid(y, x, dim=-1)"), lambda: [tensor((2, 3, 4), special=False), tensor((3, 4), special=False, seed=3)])
for weights in ("fweights=f", "aweights=a", "fweights=f, aweights=a", "correction=0, aweights=a", "correction=9, fweights=f"):
    case("cov/" + weights, ("x, f, a", "torch.cov(x, %s)" % weights),
         lambda: [tensor((3, 5), special=False), torch.tensor([1, 2, 0, 3, 1]), torch.tensor([0.5, 1.0, 2.0, 0.0, 1.0])])
case("cov/negative", ("x, f", "torch.cov(x, fweights=f)"), lambda: [tensor((3, 5), special=False), torch.tensor([1, 2, -1, 3, 1])])
case("cov/complex", ("x", "[torch.cov(x), torch.corrcoef(x)]"), build(((3, 5), torch.complex64)))
case("cov/volume", ("x", "torch.cov(x)"), plain((3, 5, 2)))
for edge in (1, 2):
    for arguments in ("", "spacing=2, ", "spacing=0.5, dim=1, ", "dim=[0, 1], ", "spacing=2, dim=[1, 0], ", "spacing=[a, b], ", "spacing=[b], dim=[1], "):
        case("gradient/%s%d" % (arguments, edge), ("x, a, b", "torch.gradient(x, %sedge_order=%d)" % (arguments, edge)),
             lambda: [tensor((4, 5), special=False), torch.tensor([0.0, 1.0, 3.0, 3.5]), torch.tensor([-1.0, 0.0, 0.5, 2.0, 5.0])])
case("gradient/int64", ("x", "torch.gradient(x, spacing=2, edge_order=2)"), plain((4, 5), torch.int64))
case("gradient/uint8", ("x", "torch.gradient(x)"), plain((4, 5), torch.uint8))
case("gradient/small", ("x", "torch.gradient(x, edge_order=2)"), plain((2, 5)))
for op, mode in itertools.product(("quantile", "nanquantile"), ("linear", "lower", "higher", "midpoint", "nearest")):
    for arguments in ("q", "q, 1", "q, 0, True", "q, None, True", "q[0], -1", "0.3", "0.3, 1, True"):
        case("%s/%s/%s" % (op, mode, arguments), ("x, q", 'torch.%s(x, %s, interpolation="%s")' % (op, arguments, mode)),
             lambda: [tensor((4, 5, 3)).clamp(-9, 9), torch.tensor([0.0, 0.25, 0.5, 0.9, 1.0])])
    case("%s/out/%s" % (op, mode), ("x, y", 'torch.%s(x, 0.75, 0, interpolation="%s", out=y)' % (op, mode)),
         lambda: [tensor((4, 5), torch.float64), torch.zeros(0, dtype=torch.float64)])
case("quantile/tensor out", ("x, q, y", "torch.quantile(x, q, 0, out=y)"), lambda: [tensor((4, 5), special=False), torch.tensor([0.5, 0.1]), torch.zeros(0)])
case("nanquantile/tensor out", ("x, q, y", "torch.nanquantile(x, q, 0, out=y)"), lambda: [tensor((4, 5)), torch.tensor([0.5, 0.1]), torch.zeros(0)])
case("quantile/range", ("x", "torch.quantile(x, 1.5)"), plain((3,)))
case("quantile/mode", ("x", 'torch.quantile(x, 0.5, interpolation="cubic")'), plain((3,)))
case("quantile/empty", ("x", "torch.quantile(x, 0.5)"), plain((0,)))
case("quantile/int", ("x", "torch.quantile(x, 0.5)"), plain((3,), torch.int64))
for p, dim in itertools.product(("1", "2", "3.5", 'float("inf")'), (0, 1, -1)):
    case("renorm/%s/%d" % (p, dim), ("x", "torch.renorm(x, %s, %d, 2.5)" % (p, dim)), plain((3, 4, 5)))
case("renorm/half", ("x", "torch.renorm(x, 2, 0, 1.0)"), plain((3, 4), torch.float16))
case("renorm/complex", ("x", "torch.renorm(x, 2, 0, 1.0)"), build(((3, 4), torch.complex64)))
case("renorm/transposed", ("x", "[torch.renorm(x.t(), 2, 0, 1.0), x.t().renorm_(2, 0, 1.0)]"), plain((3, 4)))
case("renorm/out", ("x, y", "torch.renorm(x, 2, 0, 1.0, out=y)"), lambda: [tensor((3, 4), special=False), torch.zeros(0)])
case("renorm/p", ("x", "torch.renorm(x, 0, 0, 1.0)"), plain((3, 4)))
for dim, shape in ((0, (3, 1, 1)), (1, (1, 4, 1)), (2, (1, 1, 5))):
    case("weight_norm/%d" % dim, ("v, g", "torch._weight_norm(v, g, %d)" % dim),
         lambda shape=shape: [tensor((3, 4, 5), special=False), tensor(shape, special=False, seed=4)])
    case("norm_except_dim/%d" % dim, ("v", "[torch.norm_except_dim(v, 2, %d), torch.norm_except_dim(v, 1, %d)]" % (dim, dim)), plain((3, 4, 5)))
case("weight_norm/transposed", ("v, g", "torch._weight_norm(v.transpose(0, 2), g, 0)"),
     lambda: [tensor((3, 4, 5), special=False), tensor((5, 1, 1), special=False, seed=4)])
case("weight_norm/all", ("v, g", "torch._weight_norm(v, g, -1)"), lambda: [tensor((3, 4), special=False), tensor((1, 4), special=False)])
case("weight_norm/interface", ("v, g", "torch._weight_norm_interface(v, g, 0)"),
     lambda: [tensor((3, 4), special=False), tensor((3, 1), special=False)])
case("norm_except_dim/all", ("v", "torch.norm_except_dim(v, 2, -1)"), plain((3, 4)))
for dtype in (torch.float32, torch.float64, torch.int64):
    def spiked(dtype=dtype):
        x = (torch.arange(3 * 75) * 37 % 101).reshape(3, 75).to(dtype)
        if dtype.is_floating_point:
            x[1, 50], x[2, 3], x[2, 20] = float("nan"), float("inf"), float("inf")
        return (x,)
    CASES += [(f"{f}/spiked/{str(dtype)[6:]}", f"def f(x: Tensor):\n    return torch.{f}(x, 1), torch.{f}(x.sort(1)[0], 1), torch.{f}(x[:, :32], -1)\n", spiked) for f in ("cummax", "cummin")]
case("cummax_helper", ("x, v, i", "torch._cummax_helper(x, v, i, 1), torch._cummin_helper(x, v[:], i[:], 0), v, i"),
     lambda: [tensor((3, 4)), torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.int64)])

CASES += [("equal/dtypes", "def f(x: Tensor):\n    i = x.int()\n    return (torch.equal(x, x.double()), torch.equal(i, i.long()), torch.equal(x, x[:2].double()), torch.equal(x[:0], x[:0].double()),\n"
           "            torch.equal(i > 0, (i > 0).int()), torch.equal(torch.tensor(1), torch.tensor(1.0)), torch.equal(torch.tensor([300]), torch.tensor([44], dtype=torch.uint8)),\n"
           "            torch.equal(torch.tensor([1]), torch.tensor([1.5])), torch.equal(torch.tensor(1.0), torch.tensor([1.0])))\n",
           (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)) * 3,))]
# For a tensor without dimensions cummax and cummin of PyTorch do not check `dim`, but PyTorch's operator _cummax_helper does.
CASES += [(f"extremes/{f}/{d}", f"def f(x: Tensor):\n    return torch.{f}(x, {d})\n", (torch.tensor(1.5),)) for f in ("cummax", "cummin") for d in (-3, -1, 0, 5)]
CASES += [("raises/_cummax_helper", "def f(x: Tensor):\n    torch._cummax_helper(x, x.clone(), x.long(), 5)\n    return x\n", (torch.tensor(1.5),))]
# Norms of integers need a dtype, or are refused.
for d in ("int32", "int64", "uint8", "bool"):
    for e in ("torch.norm(x)", "torch.norm(x, 2, [0])", "torch.norm(x, 0.0)", "torch.norm(x, float('inf'))", "torch.norm(x, 'fro')", "x.norm(2)", "x.norm(2, 0)", "torch.linalg.vector_norm(x)",
              "torch.frobenius_norm(x)", "torch.frobenius_norm(x, [0, 1])", "torch.dist(x, x)", "F.normalize(x, 2.0, 1)", "torch.norm(x, dtype=torch.float)", "torch.norm(x, 2, [0], dtype=torch.double)",
              "torch.linalg.vector_norm(x, dtype=torch.float)"):
        CASES.append((f"norm/whole/{d}/{e}", f"def f(x: Tensor):\n    x = x.to(torch.{d})\n    return {e}\n", (torch.arange(12.0).reshape(3, 4),)))
# For a tensor without elements no kernel of PyTorch runs, so PyTorch does not check the dimension or the dtype.
EMPTY = {"torch.cummax(x, D)": (0, -1, 2, -4), "torch.cummin(x, D)": (1, 7), "torch.softmax(x, D)": (0, -1, 5), "torch.log_softmax(x, D)": (1, -3), "torch._softmax(x, D, False)": (0, 4),
         "torch._log_softmax(x, D, False)": (-1,), "torch.softmax(x, D, dtype=torch.float)": (0,), "torch.roll(x, [1], [D])": (0, 2, -4), "torch.cumsum(x, D)": (0, 5), "torch.cumprod(x, D)": (-2,),
         "torch.argmax(x, D)": (0, -1), "torch.argmin(x, D)": (1,), "torch.flip(x, [D])": (0, 4)}
for e, dims in EMPTY.items():
    for d in dims:
        for s in ((0,), (0, 3), (2, 0, 3)):
            for t in ("float", "long", "bool", "uint8", "half", "cfloat"):
                CASES.append((f"empty/{e}/{d}/{s}/{t}", f"def f(x: Tensor):\n    return {e.replace('D', str(d))}\n", (torch.zeros(s, dtype=getattr(torch, t)),)))
# The gradients of softmax, which core programs may contain.
for k, d in itertools.product(("softmax", "log_softmax"), (0, -1)):
    for t in ("float32", "float64", "float32, transposed"):
        x, g = (torch.randn(3, 5, generator=torch.Generator().manual_seed(s)).to(getattr(torch, t.split(",")[0])) for s in (1, 2))
        y = f"x.t(), torch.{k}(y.t(), {d})" if "," in t else f"x, torch.{k}(y, {d})"
        CASES.append((f"gradient/{k}/{d}/{t}", f"def f(x: Tensor, y: Tensor):\n    return torch.ops.aten._{k}_backward_data({y}, {d}, 6)\n", (x, g)))
CASES += [(f"gradient/{k}/{s}", f"def f(x: Tensor):\n    return torch.ops.aten._{k}_backward_data(x, x, 0, 6)\n", (torch.ones(s),)) for k in ("softmax", "log_softmax") for s in ((), (0, 3))]
CASES += [(f"chalf/{t}", "def f(x: Tensor):\n    return torch.view_as_real(x.chalf()).float(), x.t().chalf().stride()\n", (torch.arange(6).reshape(2, 3).to(getattr(torch, t)),))
          for t in ("float32", "int64", "bool", "cfloat", "half", "bfloat16")]
