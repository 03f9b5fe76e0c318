# SPDX-License-Identifier: BSD-2-Clause
"""Cases of reductions, scans, softmax and sorting for the op-module runner; see test_elementwise.py."""
import itertools

import torch

from test_elementwise import ALL, FLOATS, LAYOUTS, NUMBERS, SHAPE, build, label, tensor

CASES = []


def case(name, source, builder):
    CASES.append((name, "def f(%s):\n    return %s\n" % source, builder))


def plain(shape, dtype=torch.float32, layout="contiguous"):
    """Without special numbers, which sums turn into NaN alone."""
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
    if layout != "expanded":  # equal elements: any of their positions is right
        case("topk/%d/%s" % (dim, layout), ("x", "torch.topk(x, 2, %d)" % dim), plain(SHAPE, layout=layout))
        case("kthvalue/%d/%s" % (dim, layout), ("x", "torch.kthvalue(x, 2, %d)" % dim), plain(SHAPE, layout=layout))
        case("median/%d/%s" % (dim, layout), ("x", "torch.median(x, %d)" % dim), plain(SHAPE, layout=layout))
for dtype in NUMBERS:
    case("cumsum/" + label(dtype), ("x", "torch.cumsum(x, 1)"), plain((3, 40), dtype))
    case("sort/" + label(dtype), ("x", "torch.sort(x, dim=-1, descending=True, stable=True)"), build(((3, 40), dtype)))
    case("max dim/" + label(dtype), ("x", "torch.max(x, 1)"), build(((3, 40), dtype)))
for shape, dim in (((3, 1100), 1), ((1100, 3), 0), ((2, 130, 9), 1), ((1, 21, 16, 16), 1), ((5, 1), 1), ((), 0)):
    for op in ("softmax", "log_softmax"):
        case("%s/%s/%d" % (op, shape, dim), ("x", "torch.nn.functional.%s(x, dim=%d)" % (op, dim)), plain(shape))
    case("sort/%s/%d" % (shape, dim), ("x", "torch.sort(x, %d)" % dim), plain(shape))
    case("argmax/%s/%d" % (shape, dim), ("x", "torch.argmax(x, %d)" % dim), plain(shape))
case("softmax/dtype", ("x", "torch.softmax(x, 1, torch.float64)"), build((SHAPE, torch.int32)))
case("softmax/infinite", ("x", "torch.softmax(x, 1)"), lambda: [torch.tensor([[-float("inf"), 0.0], [float("-inf"), float("-inf")], [float("inf"), 1.0]])])
case("aminmax", ("x", "torch.aminmax(x, dim=1, keepdim=True)"), build((SHAPE,)))
case("nanmedian", ("x", "torch.nanmedian(x)"), build((SHAPE,)))
case("msort", ("x", "torch.msort(x)"), plain(SHAPE, layout="channels_last"))
case("sum_to_size", ("x", "x.sum_to_size([3, 1, 5])"), plain(SHAPE))
