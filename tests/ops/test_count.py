# SPDX-License-Identifier: BSD-2-Clause
"""Cases of histograms, reductions of segments and the CTC loss; see test_elementwise.py."""
import itertools

import torch

from test_fft import args, label, numbers

CASES = []


def case(name, source, builder, **options):
    CASES.append((name, source if "\n" in source else "def f(%s):\n    return %s\n" % tuple(source.split(" : ")), builder, options))


# ---- histograms

for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64):
    for extra in ("", ", 7", ", 5, -1., 1.", ", 5, 2., 2.", ", 0", ", 5, 2., 1."):
        case("histc/%s/%s" % (label(dtype), extra), "x : torch.histc(x%s)" % extra, args(numbers(40, 30, dtype=dtype)))
    for extra in ("7", "1", "0", "-2", "5, range=[-1., 1.]", "5, range=[1., 1.]", "5, range=[1., -1.]", "5, range=[1.]", "6, density=True"):
        case("histogram/%s/%s" % (label(dtype), extra), "x : torch.histogram(x, %s)" % extra, args(numbers(40, 30, dtype=dtype)))
case("histc/large counts", "x : torch.histc(x, 3)", args(lambda: numbers(5000)().bfloat16()))
for shape in ((), (0,), (1,), (5, 0)):
    case("histogram/%s" % (shape,), "x : torch.histogram(x, 4)", args(numbers(*shape)))
for weights in (numbers(40, 30, seed=2), numbers(1200, seed=2), numbers(30, seed=2), numbers(40, 30, dtype=torch.float64)):
    for extra in ("", ", density=True"):
        case("histogram/weights/%d/%s" % (len(CASES), extra), "x, w : torch.histogram(x, 9, weight=w%s)" % extra, args(numbers(40, 30), weights))
        case("histogram/edges, weights/%d/%s" % (len(CASES), extra), "x, e, w : torch.histogram(x, e, weight=w%s)" % extra,
             args(numbers(40, 30), lambda: torch.tensor([-1.0, -0.5, 0.1, 2.0]), weights))
for edges in ([0.0], [], [1.0, 0.0], [-9.0, 9.0], [0.0, 0.0, 1.0], [float("nan"), 1.0], [float("-inf"), 0.0, float("inf")]):
    case("histogram/edges/%s" % edges, "x, e : torch.histogram(x, e)", args(numbers(40), lambda e=edges: torch.tensor(e)))
case("histogram/edges/dtype", "x, e : torch.histogram(x, e)", args(numbers(40), lambda: torch.tensor([0, 1])))
case("histogram/edges/rank", "x, e : torch.histogram(x, e)", args(numbers(40), lambda: torch.tensor([[0.0, 1.0]])))
case("histogram/whole", "x : torch.histogram(x, 8)", lambda: (torch.arange(33.0) / 4,))
case("histogram/NaN", "x : torch.histogram(x, 8)", lambda: (torch.tensor([1.0, float("nan")]),))
case("histogram/infinite in range", "x : torch.histogram(x, 8, range=[0., 2.])", lambda: (torch.tensor([1.0, float("inf"), 2.0, 0.0]),))
case("histogram/NaN among edges", "x, e : torch.histogram(x, e)", lambda: (torch.tensor([float("nan"), 0.5]), torch.tensor([0.0, 0.7, 1.0])))
case("histogram/out", "def f(x):\n    h = torch.empty([0])\n    e = torch.empty([0])\n    torch.histogram(x, 8, hist=h, bin_edges=e)\n    return h, e\n",
     args(numbers(40)))
case("histogram/on the edges", "x : [torch.histogram(x, 10)[0], torch.histogram(x, 10, range=[0.1, 0.7])[0], torch.histc(x, 10), torch.histc(x, 7, 0.1, 0.8)]",
     lambda: (torch.arange(2001.0) / 1000,))
case("histc/on the edges, double", "x : [torch.histc(x, 10), torch.histc(x, 7, 0.1, 0.8)]",
     lambda: (torch.arange(2001.0, dtype=torch.float64) / 1000,))
case("histogram/strided", "x : torch.histogram(x.t()[::2], 4)", args(numbers(7, 9)))
DD = "x, w: Optional[Tensor] : torch.histogramdd(x, %s, weight=w%s)"
for bins, shape in (("[3, 4]", (50, 2)), ("[3, 4]", (5, 6, 2)), ("5", (50, 3)), ("[2]", (50, 2)), ("[2]", (50,)), ("[2, 0]", (50, 2)), ("3", (50, 1)), ("[2, 2]", (0, 2)),
                    ("2", (4, 0))):
    for extra in ("", ", density=True") + ((", range=[-1., 1., -2., 2.]",) if "," in bins else ()):
        case("histogramdd/%s/%s/%s" % (bins, shape, extra), DD % (bins, extra), args(numbers(*shape), lambda: None))
        case("histogramdd/%s/%s/%s/weights" % (bins, shape, extra), DD % (bins, extra), args(numbers(*shape), numbers(*shape[:-1], seed=5)))
for edges in (([0.0, 1.0], [-1.0, 0.0, 0.5]), ([0.0, 1.0],), ([], [1.0, 2.0])):
    case("histogramdd/%s" % (edges,), "x, e: List[Tensor] : torch.histogramdd(x, e, density=True)", lambda e=edges: (numbers(50, 2)(), [torch.tensor(t) for t in e]))
case("_histogramdd", "x : [torch._histogramdd_from_bin_cts(x, [2, 3]), torch._histogramdd_from_bin_tensors(x, [torch.arange(3.), torch.arange(2.)])], "
     "torch._histogramdd_bin_edges(x, [2, 3])", args(numbers(50, 2)))

# ---- reductions of segments

for reduce, dtype, initial in itertools.product(("max", "min", "sum", "mean", "prod"), (torch.float32, torch.float64, torch.float16, torch.bfloat16),
                                                ("", ", initial=1", ", initial=-2.5")):
    case("segment_reduce/%s/%s/%s" % (reduce, label(dtype), initial), "x, n : torch.segment_reduce(x, '%s', lengths=n%s)" % (reduce, initial),
         args(numbers(9, 4, dtype=dtype), lambda: torch.tensor([3, 0, 1, 5])))
    case("segment_reduce/%s/%s/%s/rows" % (reduce, label(dtype), initial), "x, n : torch.segment_reduce(x, '%s', lengths=n, axis=1%s)" % (reduce, initial),
         args(numbers(2, 5, 3, dtype=dtype), lambda: torch.tensor([[3, 0, 2], [1, 4, 0]])))
    case("segment_reduce/%s/%s/%s/offsets" % (reduce, label(dtype), initial), "x, n : torch.segment_reduce(x, '%s', offsets=n, axis=1%s)" % (reduce, initial),
         args(numbers(2, 5, 3, dtype=dtype), lambda: torch.tensor([[0, 3, 3], [1, 4, 5]])))
for lengths, extra in (([3, 5], ""), ([3, 5], ", unsafe=True"), ([9, -1], ""), ([3, 3], ", axis=1"), ([], ""), ([[3, 6]], ""), ([9], ", axis=-2")):
    case("segment_reduce/%s/%s" % (lengths, extra), "x, n : torch.segment_reduce(x, 'sum', lengths=n%s)" % extra,
         args(numbers(9, 4), lambda n=lengths: torch.tensor(n, dtype=torch.int64)))
for dtype in (torch.int32, torch.int16, torch.float32):
    case("segment_reduce/lengths %s" % label(dtype), "x, n : torch.segment_reduce(x, 'sum', lengths=n)", args(numbers(9, 4), lambda d=dtype: torch.tensor([4, 5]).to(d)))
case("segment_reduce/int64", "x, n : torch.segment_reduce(x, 'sum', lengths=n)", args(numbers(9, 4, dtype=torch.int64), lambda: torch.tensor([4, 5])))
case("segment_reduce/other", "x, n : torch.segment_reduce(x, 'other', lengths=n)", args(numbers(9, 4), lambda: torch.tensor([4, 5])))
case("segment_reduce/neither", "x : torch.segment_reduce(x, 'sum')", args(numbers(9, 4)))
case("segment_reduce/NaN", "x, n : [torch.segment_reduce(x, 'max', lengths=n), torch.segment_reduce(x, 'min', lengths=n)]",
     lambda: (torch.tensor([1.0, float("nan"), 2.0, 3.0, float("inf")]), torch.tensor([3, 2])))
case("segment_reduce/permuted", "x, n : torch.segment_reduce(x.permute(2, 0, 1), 'sum', lengths=n)", args(numbers(3, 4, 9), lambda: torch.tensor([4, 5])))

# ---- CTC


def logs(frames, batch, labels, dtype=torch.float32):
    return lambda: numbers(frames, batch, labels)().log_softmax(-1).to(dtype)


def ints(*values):
    return lambda: torch.tensor(values)


CTC = "x, t, i, n : torch.ctc_loss(x, t, i, n, %s)"
for dtype, reduction, infinite, blank in itertools.product((torch.float32, torch.float64, torch.float16), (0, 1, 2), (False, True), (0, 3)):
    case("ctc/%s/%d/%s/%d" % (label(dtype), reduction, infinite, blank), CTC % ("%d, %d, %s" % (blank, reduction, infinite)),
         args(logs(12, 3, 5, dtype), lambda: torch.tensor([[1, 2, 2, 4], [4, 1, 1, 1], [2, 1, 2, 4]]), ints(12, 10, 3), ints(4, 2, 4)))
    case("ctc/joined/%s/%d/%s/%d" % (label(dtype), reduction, infinite, blank), CTC % ("%d, %d, %s" % (blank, reduction, infinite)),
         args(logs(12, 3, 5, dtype), ints(1, 2, 2, 4, 4, 1), ints(12, 10, 7), ints(4, 2, 0)))
for dtype in (torch.int32, torch.uint8, torch.float32, torch.int64):
    case("ctc/targets/%s" % label(dtype), CTC % "0", args(logs(12, 2, 5), lambda d=dtype: torch.tensor([[1, 2], [4, 1]]).to(d), ints(12, 12), ints(2, 1)))
    case("ctc/lengths/%s" % label(dtype), CTC % "0", args(logs(12, 2, 5), lambda: torch.tensor([[1, 2], [4, 1]]), lambda d=dtype: torch.tensor([12, 9]).to(d), ints(2, 1)))
    case("_ctc_loss/%s" % label(dtype), "x, t : torch._ctc_loss(x, t, [12, 12], [2, 2])[0]", args(logs(12, 2, 5), lambda d=dtype: torch.tensor([[1, 2], [4, 1]]).to(d)))
case("_ctc_loss/alpha", "x, t : torch._ctc_loss(x, t, [6, 6], [2, 2])", args(logs(6, 2, 5), lambda: torch.tensor([[1, 2], [4, 1]])))
for reduction in (0, 1, 2):
    case("ctc/plain/%d" % reduction, "x, t : torch.ctc_loss(x, t, [6], [2], 0, %d)" % reduction, args(lambda: logs(6, 1, 5)()[:, 0].contiguous(), ints(1, 2)))
    case("ctc/plain tensors/%d" % reduction, "x, t, i, n : torch.ctc_loss(x, t, i, n, 0, %d)" % reduction,
         args(lambda: logs(6, 1, 5)()[:, 0].contiguous(), ints(1, 2), lambda: torch.tensor(6), lambda: torch.tensor(2)))
for text in ("[13], [2], 0", "[12], [3], 0", "[12], [2], 5", "[12], [2], -1", "[12, 12], [2], 0", "[12], [2, 2], 0"):
    case("ctc/wrong/%s" % text, "x, t : torch.ctc_loss(x, t, %s)" % text, args(logs(12, 1, 5), ints(1, 2)))
case("ctc/strided", "x, t, i, n : torch.ctc_loss(x.transpose(0, 1), t, i, n)", args(logs(2, 12, 5), lambda: torch.tensor([[1, 2], [4, 1]]), ints(12, 12), ints(2, 1)))
case("ctc/F", "x, t, i, n : F.ctc_loss(x, t, i, n, reduction='sum', zero_infinity=True)", args(logs(12, 2, 5), lambda: torch.tensor([[1, 2], [4, 1]]), ints(12, 12), ints(2, 1)))
case("ctc/long", "x, t, i, n : torch.ctc_loss(x, t, i, n, 0, 0)", args(logs(90, 2, 7), lambda: torch.arange(80).reshape(2, 40) % 3 // 2 + 1, ints(90, 85), ints(40, 33)))
case("ctc/infinite", "x, t, i, n : torch.ctc_loss(x, t, i, n, 0, 0)",
     args(lambda: logs(12, 3, 5)().index_put((torch.tensor([3, 5]), torch.tensor([0, 2])), torch.tensor([[-float("inf")], [float("nan")]])),
          lambda: torch.tensor([[1, 2], [4, 1], [2, 2]]), ints(12, 12, 12), ints(2, 1, 2)))
case("ctc/impossible", "x, t, i, n : F.ctc_loss(x, t, i, n)", args(logs(2, 2, 5), lambda: torch.tensor([[1, 2], [1, 1]]), ints(1, 2), ints(2, 2)))
