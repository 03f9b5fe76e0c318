# SPDX-License-Identifier: BSD-2-Clause
# Pooling against PyTorch. CASES: (name, source of a scripted function f, builder of its arguments).
import torch


def prelude(layout, rank):
    """Returns the line that changes the layout of x, because inputs are contiguous."""
    return {
        "contiguous": "",
        "channels_last": f"    x = x.contiguous(memory_format=torch.channels_last{'_3d' if rank == 5 else ''})\n",
        "transposed": "    x = x.transpose(-1, -2).contiguous().transpose(-1, -2)\n",
        "nan": "",
        "sliced": "    x = torch.cat([x, x], 1)[:, ::2]\n",
    }[layout]


def image(*sizes, layout="contiguous", seed=0):
    x = torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))
    if layout == "nan":
        x.view(-1)[::7] = float("nan")
        x.view(-1)[3::11] = -float("inf")
    return x


def source(expression, arguments="x: Tensor", result="Tensor", before=""):
    return f"def f({arguments}) -> {result}:\n{before}    return {expression}\n"


PAIR = "Tuple[Tensor, Tensor]"
LAYOUTS = ["contiguous", "channels_last", "transposed", "sliced", "nan"]
CASES = []


def add(name, expression, *sizes, result="Tensor", layouts=LAYOUTS, dtype=None):
    convert = f"    x = x.to({dtype})\n" if dtype else ""
    for layout in layouts:
        CASES.append((f"{name}-{layout}", source(expression, result=result, before=convert + prelude(layout, len(sizes))),
                      lambda sizes=sizes, layout=layout: (image(*sizes, layout=layout),)))


WINDOWS = ["[3, 3], [2, 2], [1, 1], [1, 1], False", "[2, 3], [], [0, 1], [1, 1], True", "[3, 3], [2, 2], [1, 1], [2, 2], True",
           "[1, 1], [1, 1], [0, 0], [1, 1], False", "[2, 2], [3, 3], [1, 1], [4, 4], True"]
for i, window in enumerate(WINDOWS):
    add(f"max_pool2d-{i}", f"torch.max_pool2d(x, {window})", 2, 5, 9, 7)
    add(f"max_pool2d_indices-{i}", f"torch.ops.aten.max_pool2d_with_indices(x, {window})", 2, 5, 9, 7, result=PAIR)
add("max_pool2d-unbatched", "torch.max_pool2d(x, [3, 3], [2, 2], [1, 1])", 5, 9, 7, layouts=["contiguous", "transposed"])
NAN = "    x = torch.where(x > 2, x / 0 - x / 0, x.mul(2).round())\n    x = x.contiguous(memory_format=torch.channels_last)\n"
for expression in ("torch.ops.aten.max_pool2d_with_indices(x, [3, 2], [2, 2], [1, 1], [1, 2])", "torch.ops.aten.adaptive_max_pool2d(x, [4, 3])"):
    CASES.append((f"wide-{expression}", source(expression, result=PAIR, before=NAN), lambda: (image(2, 300, 9, 7),)))
add("max_pool2d-one-channel", "torch.max_pool2d(x, [3, 3], [2, 2], [1, 1])", 1, 1, 9, 7, layouts=["contiguous", "channels_last"])
for dtype in (torch.float64, torch.bfloat16):
    add(f"max_pool2d-{dtype}", "torch.max_pool2d(x, [3, 3], [2, 2], [1, 1])", 2, 5, 9, 7, dtype=dtype)
# Rows of doubles: windows inside the row, windows that reach beyond the row's ends, rows without a window inside, and
# zeros of both signs.
for i, window in enumerate(WINDOWS + ["[2, 2], [2, 2]", "[1, 5], [1, 1], [0, 2]", "[2, 17], [1, 3], [1, 8], [1, 1], True", "[3, 4], [5, 4], [1, 2], [1, 6], True", "[9, 40], [1, 1], [4, 20]"]):
    add(f"max_pool2d-rows-{i}", f"torch.max_pool2d(x, {window})", 2, 3, 9, 23, dtype=torch.float64)
    add(f"max_pool2d-zeros-{i}", f"torch.max_pool2d(x.clamp(-1, 0.5).round(), {window}).reciprocal()", 1, 2, 9, 37, dtype=torch.float64, layouts=["contiguous", "transposed"])
add("max_pool2d-columns", "torch.max_pool2d(x[:, :, :, :1].expand(2, 5, 9, 7), [3, 3], [2, 2], [1, 1])", 2, 5, 9, 7, dtype=torch.float64, layouts=["contiguous", "channels_last"])
add("max_pool1d-double", "torch.max_pool1d(x, [3], [2], [1])", 2, 3, 30, dtype=torch.float64, layouts=["contiguous", "transposed", "nan"])
add("max_pool3d-double", "torch.max_pool3d(x, [3, 2, 3], [2, 2, 2], [1, 1, 1], [1, 2, 1], True)", 2, 4, 5, 6, 17, dtype=torch.float64)
add("max_pool1d", "torch.max_pool1d(x, [3], [2], [1])", 2, 3, 8, layouts=["contiguous", "transposed"])
add("max_pool1d_indices", "torch.max_pool1d_with_indices(x, [3], [2], [1])", 2, 3, 8, result=PAIR,
    layouts=["contiguous", "transposed"])
add("max_pool3d", "torch.max_pool3d(x, [3, 3, 3], [2, 2, 2], [1, 1, 1])", 2, 4, 5, 6, 7)
add("max_pool3d_indices", "torch.ops.aten.max_pool3d_with_indices(x, [2, 3, 1], [], [0, 1, 0], [1, 1, 2], True)", 2, 4, 5, 6, 7,
    result=PAIR)

AVERAGES = ["[3, 3], [2, 2], [1, 1], False, True, None", "[2, 3], [], [0, 1], True, False, None",
            "[3, 3], [2, 2], [1, 1], True, True, None", "[3, 3], [2, 2], [1, 1], True, False, 5",
            "[9, 7], [1, 1], [4, 3], False, True, None"]
for i, window in enumerate(AVERAGES):
    add(f"avg_pool2d-{i}", f"torch.ops.aten.avg_pool2d(x, {window})", 2, 5, 9, 7)
add("avg_pool2d-int64", "torch.ops.aten.avg_pool2d((x * 100).to(torch.int64), [3, 3], [2, 2], [1, 1])", 2, 5, 9, 7,
    layouts=["contiguous", "channels_last"])
add("avg_pool1d", "torch.avg_pool1d(x, [3], [2], [1], True, False)", 2, 3, 8, layouts=["contiguous", "transposed"])
add("avg_pool3d", "torch.ops.aten.avg_pool3d(x, [2, 3, 2], [2, 1, 2], [1, 1, 0], True, False)", 2, 4, 5, 6, 7)

for size in ("[1, 1]", "[3, 4]", "[9, 7]", "[12, 2]"):
    add(f"adaptive_avg_pool2d-{size}", f"torch.ops.aten.adaptive_avg_pool2d(x, {size})", 2, 5, 9, 7)
    add(f"_adaptive_avg_pool2d-{size}", f"torch.ops.aten._adaptive_avg_pool2d(x, {size})", 2, 5, 9, 7)
    add(f"adaptive_max_pool2d-{size}", f"torch.ops.aten.adaptive_max_pool2d(x, {size})", 2, 5, 9, 7, result=PAIR)
add("adaptive_avg_pool2d-large", "torch.ops.aten.adaptive_avg_pool2d(x, [1, 1])", 2, 30, 61, 63)
add("adaptive_avg_pool1d", "torch.adaptive_avg_pool1d(x, [3])", 2, 3, 8, layouts=["contiguous", "transposed"])
add("adaptive_max_pool1d", "torch.adaptive_max_pool1d(x, [3])", 2, 3, 8, result=PAIR, layouts=["contiguous", "transposed"])
add("adaptive_avg_pool3d", "torch.ops.aten.adaptive_avg_pool3d(x, [2, 3, 4])", 2, 4, 5, 6, 7)
add("adaptive_avg_pool3d-1", "torch.ops.aten.adaptive_avg_pool3d(x, [1, 1, 1])", 2, 4, 5, 6, 7)
add("adaptive_max_pool3d", "torch.ops.aten.adaptive_max_pool3d(x, [2, 3, 4])", 2, 4, 5, 6, 7, result=PAIR)

for layout in ("contiguous", "channels_last"):
    CASES.append((f"max_unpool2d-{layout}", "def f(x: Tensor) -> Tensor:\n" + prelude(layout, 4) +
                  "    y, i = torch.ops.aten.max_pool2d_with_indices(x, [2, 2], [2, 2])\n"
                  "    return torch.ops.aten.max_unpool2d(y, i, [8, 6])\n", lambda: (image(2, 5, 8, 6),)))
CASES.append(("fractional_max_pool2d", source("torch.ops.aten.fractional_max_pool2d(x, [2, 3], [4, 5], r)", "x: Tensor, r: Tensor", PAIR),
              lambda: (image(2, 3, 11, 13), torch.rand(2, 3, 2, generator=torch.Generator().manual_seed(1)))))
# Every plane and dimension has its own samples.
SAMPLES = torch.tensor([0.02, 0.97, 0.55, 0.31, 0.8, 0.13]).repeat(4)
CASES.append(("fractional_max_pool2d-samples", source("torch.ops.aten.fractional_max_pool2d(x, [2, 2], [3, 4], r)", "x: Tensor, r: Tensor", PAIR),
              lambda: (image(2, 3, 11, 13), SAMPLES[:12].reshape(2, 3, 2))))
CASES.append(("fractional_max_pool3d-samples", source("torch.ops.aten.fractional_max_pool3d(x, [2, 2, 2], [3, 2, 4], r)", "x: Tensor, r: Tensor", PAIR),
              lambda: (image(2, 3, 7, 6, 11), SAMPLES[:18].reshape(3, 3, 2).permute(2, 0, 1))))

# PyTorch pools to one pixel by a mean over the last dimensions, so it accepts any rank.
for spatial, ranks in ((2, (2, 5, 6)), (3, (3, 6))):
    for rank in ranks:
        CASES.append((f"adaptive_avg/one pixel of {rank}", f"def f(x: Tensor):\n    return (torch._C._nn.adaptive_avg_pool{spatial}d(x, [1] * {spatial}),\n"
                      f"            torch._C._nn.adaptive_avg_pool{spatial}d(x.transpose(0, 1).double(), [1] * {spatial}))\n",
                      (torch.randn(2, 3, 2, 3, 4, 5, generator=torch.Generator().manual_seed(0)).flatten(0, 6 - rank),)))
CASES += [(f"raises/adaptive_avg of 5/{k}", f"def f(x: Tensor):\n    return {k}\n", (torch.ones(2, 2, 3, 3, 3),))
          for k in ("torch._adaptive_avg_pool2d(x, [1, 1])", "torch._C._nn.adaptive_avg_pool2d(x, [1, 2])", "torch._C._nn.adaptive_avg_pool2d(x.int(), [1, 1])")]

# Windows of many elements, whole planes, and equal elements, of which the first must be reported.
SEVERAL = ["contiguous", "channels_last", "nan"]
for size in ([1, 1], [3, 2], [5, 7]):
    add(f"adaptive_max_pool2d-long-{size}", f"torch.ops.aten.adaptive_max_pool2d(x.mul(2).round(), {size})", 2, 3, 41, 75, result=PAIR, layouts=SEVERAL)
    add(f"adaptive_avg_pool2d-long-{size}", f"torch.ops.aten.adaptive_avg_pool2d(x, {size})", 2, 3, 41, 75, layouts=SEVERAL)
for channels in (8, 37, 96):
    add(f"adaptive_max_pool2d-channels-{channels}", "torch.ops.aten.adaptive_max_pool2d(x.mul(2).round(), [3, 2])", 1, channels, 19, 17, result=PAIR, layouts=["channels_last", "nan"])
    add(f"adaptive_avg_pool2d-channels-{channels}", "torch.ops.aten.adaptive_avg_pool2d(x, [2, 3]), torch.ops.aten.avg_pool2d(x, [5, 3], [2, 1], [2, 1])", 1, channels, 67, 101,
        result="Tuple[Tensor, Tensor]", layouts=["channels_last", "nan"])
for width in (4, 5, 7):
    add(f"avg_pool3d-narrow-{width}", "torch.ops.aten.avg_pool3d(x, [2, 2, 2]), torch.ops.aten.avg_pool3d(x, [2, 3, 3], [2, 3, 1])", 1, 3, 8, 150, width, result="Tuple[Tensor, Tensor]", layouts=["contiguous"])
add("adaptive_max_pool1d-long", "torch.ops.aten.adaptive_max_pool1d(x.round(), [4])", 2, 3, 400, result=PAIR, layouts=["contiguous", "nan"])
add("adaptive_avg_pool3d-whole", "torch.ops.aten.adaptive_avg_pool3d(x, [1, 1, 1])", 2, 3, 9, 20, 30, layouts=["contiguous", "nan"])
add("adaptive_max_pool3d-ties", "torch.ops.aten.adaptive_max_pool3d(x.round(), [2, 3, 4])", 2, 3, 9, 20, 30, result=PAIR, layouts=["contiguous", "nan"])
add("max_pool2d_indices-ties", "torch.ops.aten.max_pool2d_with_indices(x.round(), [2, 2])", 2, 3, 40, 42, result=PAIR, layouts=SEVERAL)
add("max_pool2d_indices-wide", "torch.ops.aten.max_pool2d_with_indices(x.round(), [3, 40], [2, 3], [1, 20])", 2, 3, 9, 120, result=PAIR,
    layouts=SEVERAL)
# Integers, which PyTorch accepts since version 2. The expected results and indices come from pooling the same numbers as
# doubles, which represent them exactly.
for t in ("uint8", "int8", "int16", "int32", "int64"):
    for e, r in (("max_pool2d(x, [3, 2], [2, 1], [1, 1])", 2), ("max_pool3d(x, [2, 3, 2], [1, 2, 1], [1, 1, 0])", 3), ("max_pool2d(x[0], [2, 2])", 2),
                 ("max_pool2d(x.contiguous(memory_format=torch.channels_last), [2, 2], [1, 1])", 2), ("max_pool2d(x, [3, 3], [2, 2], [1, 1], [2, 2], True)", 2)):
        for f in (e, e.replace("pool2d(", "pool2d_with_indices(").replace("pool3d(", "pool3d_with_indices(")):
            whole = (image(2, 3, 5, 6, *(4,) * (r - 2)) * 50).to(getattr(torch, t))
            text = f"    return torch.ops.aten.{f}\n"

            def expect(x, f=f, t=t):
                y = eval("torch.ops.aten." + f, {"torch": torch}, {"x": x.double()})
                return (y[0].to(getattr(torch, t)), y[1]) if isinstance(y, tuple) else y.to(getattr(torch, t))
            CASES.append((f"whole/{t}/{f}", f"def f(x: Tensor):\n{text}", (whole,), {"expect": expect}))
# Integers that a double cannot represent. Without indices a pool of one dimension accepts only floats.
CASES += [("whole/exact", "def f(x: Tensor):\n    return torch.ops.aten.max_pool2d(x, [1, 2], [1, 1], [0, 1], [1, 3])\n", (torch.arange(8).reshape(1, 2, 4) - 2**62,),
           {"expect": lambda x: torch.stack([torch.stack([x[0, :, 2], x[0, :, 3], x[0, :, 1]], 1)])}),
          ("whole/one dimension", "def f(x: Tensor):\n    return torch.max_pool1d(x, [2])\n", (torch.arange(8).reshape(1, 2, 4),)),
          ("whole/adaptive", "def f(x: Tensor):\n    return torch.ops.aten.adaptive_max_pool2d(x, [2, 2])\n", (torch.arange(16).reshape(1, 4, 4),))]
# Small planes, several of which a vector computes side by side: numbers of planes that do not fill vectors, equal
# maxima, and NaN.
TIES = "    x = torch.where(x > 1.5, x / 0 - x / 0, x.mul(2).round())\n"
for h, w in ((3, 3), (6, 6), (7, 7), (1, 5), (2, 64), (4, 20), (14, 14), (9, 16)):
    for window in ("[2, 2], [2, 2], [1, 1]", "[3, 3], [2, 2], [1, 1]", "[3, 3], [1, 1], [1, 1]", "[5, 5], [1, 1], [2, 2]", "[1, 1], [1, 2]", "[3, 3], [2, 2], [1, 1], %s True"):
        for channels in (19, 70):
            most = f"torch.ops.aten.max_pool2d_with_indices(x, {window.replace('%s', '[1, 1],')})"
            mean = f"torch.ops.aten.avg_pool2d(x, {window.replace('%s', '')})"
            CASES.append((f"small-{h}x{w}-{channels}-{window}", f"def f(x: Tensor):\n    y = {mean}\n{TIES}    return {most}, y\n", lambda h=h, w=w, c=channels: (image(2, c, h, w),)))
    for size in ("[1, 1]", "[2, 2]", "[3, 3]", "[7, 7]", "[4, 1]"):
        CASES.append((f"small-adaptive-{h}x{w}-{size}", f"def f(x: Tensor):\n    y = torch.ops.aten._adaptive_avg_pool2d(x, {size}), torch.ops.aten.adaptive_max_pool2d(x, {size})\n{TIES}"
                      f"    return torch.ops.aten.adaptive_max_pool2d(x, {size}), y\n", lambda h=h, w=w: (image(3, 21, h, w),)))
add("small-3d", "torch.ops.aten.avg_pool3d(x, [2, 2, 2], [2, 1, 2], [1, 0, 1]), torch.ops.aten.max_pool3d_with_indices(x, [2, 3, 2], [1, 2, 1], [1, 1, 0])", 2, 20, 3, 4, 5,
    result="Tuple[Tensor, Tuple[Tensor, Tensor]]", layouts=["contiguous", "channels_last", "nan"])
add("average-apart", "torch.ops.aten._adaptive_avg_pool2d(x, [5, 7])", 2, 3, 33, 64, layouts=["contiguous"])
add("average-half", "torch.ops.aten.avg_pool2d(x, [2, 3], [2, 2], [0, 1])", 2, 3, 40, 14, layouts=["contiguous"])
# Windows of neighbouring channels with more elements than a kernel processes at once.
CASES.append(("wide-window", source("torch.ops.aten.adaptive_max_pool2d(x, [2, 1])", result=PAIR, before=NAN), lambda: (image(2, 70, 27, 31),)))
