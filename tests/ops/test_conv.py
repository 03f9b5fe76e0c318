# SPDX-License-Identifier: BSD-2-Clause
# Convolutions, patches as columns, and layers prepared for XNNPACK, against PyTorch.
# CASES: (name, source of a scripted function, builder of its arguments).
import torch

LAST = ".contiguous(memory_format=torch.channels_last)"
SUMS = True
CASES = []


def random(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def add(name, expression, *shapes, before="", options=None, dtype=None):
    names = ["x", "w", "b"][:len(shapes)]
    convert = "".join(f"    {n} = {n}.to({dtype})\n" for n in names) if dtype else ""
    text = f"def f({', '.join(n + ': Tensor' for n in names)}) -> Tensor:\n{convert}{before}    return {expression}\n"
    args = lambda: tuple(random(*shape, seed=i) * (4 if dtype else 1) for i, shape in enumerate(shapes))
    CASES.append((name, text, args) if options is None else (name, text, args, options))


LAYOUTS = {
    "contiguous": "",
    "input_last": f"    x = x{LAST}\n",
    "weight_last": f"    w = w{LAST}\n",
    "transposed": "    x = x.transpose(-1, -2).contiguous().transpose(-1, -2)\n    w = w.transpose(0, 1).contiguous().transpose(0, 1)\n",
}
# batch, in, out, height, width, groups, kernel, stride, padding, dilation
SHAPES = [(2, 4, 6, 6, 7, 1, 3, 1, 0, 1), (1, 4, 6, 6, 7, 2, 3, 2, 1, 1), (1, 6, 6, 9, 8, 6, 3, 1, 1, 2),
          (2, 3, 5, 9, 8, 1, 1, 1, 0, 1), (1, 8, 16, 20, 21, 1, 5, 2, 2, 1), (1, 6, 12, 9, 8, 6, 3, 2, 1, 1),
          (1, 33, 17, 30, 31, 1, 3, 1, 1, 1), (1, 1, 1, 1, 1, 1, 1, 1, 0, 1), (1, 3, 4, 5, 6, 1, 2, 3, 3, 2)]
for i, (n, c, o, h, w, g, k, s, p, d) in enumerate(SHAPES):
    for layout, before in LAYOUTS.items():
        add(f"conv2d-{i}-{layout}", f"F.conv2d(x, w, b, [{s}], [{p}], [{d}], {g})", (n, c, h, w), (o, c // g, k, k), (o,), before=before)
        add(f"conv2d-same-{i}-{layout}", f"F.conv2d(x, w, None, 1, 'same', {d}, {g})", (n, c, h, w), (o, c // g, k, k), before=before)
        add(f"transposed2d-{i}-{layout}", f"F.conv_transpose2d(x, w, b, {s}, {min(p, k - 1)}, {s - 1}, {g})", (n, c, h, w),
            (c, o // g, k, k), (o,), before=before)
# Few channels, and groups with few channels, which are computed plane by plane. (batch, in, out, height, width, groups, kernel, stride, padding,
# dilation)
PLANES = [(1, 1, 8, 37, 41, 1, (5, 5), 1, 2, 1), (2, 16, 3, 40, 61, 1, (3, 3), 1, 1, 1), (1, 32, 32, 30, 29, 8, (3, 3), 1, 1, 1),
          (1, 32, 64, 30, 29, 8, (3, 3), 2, 1, 1), (3, 24, 24, 20, 17, 6, (3, 3), 1, (3, 0), 1), (1, 20, 10, 33, 24, 5, (3, 5), (2, 3), (1, 4), (2, 1)),
          (1, 4, 4, 19, 200, 1, (7, 1), (3, 1), (9, 0), 1), (1, 6, 18, 12, 70, 3, (1, 9), (1, 4), (0, 11), (1, 3)), (2, 12, 28, 15, 15, 4, (2, 2), 2, 0, 3),
          (1, 64, 64, 28, 28, 16, (3, 3), 1, 1, 1), (1, 3, 2, 130, 90, 1, (3, 3), 1, (1, 40), 1), (1, 2, 5, 64, 64, 1, (3, 3), 4, 1, 1)]
for i, (n, c, o, h, w, g, (kh, kw), s, p, d) in enumerate(PLANES):
    for layout in ("contiguous", "input_last", "weight_last"):
        add(f"conv2d-planes-{i}-{layout}", f"F.conv2d(x, w, b, {s}, {p}, {d}, {g})".replace("(", "[").replace(")", "]").replace("F.conv2d[", "F.conv2d(", 1)[:-1] + ")",
            (n, c, h, w), (o, c // g, kh, kw), (o,), before=LAYOUTS[layout])
# Transposed convolutions that are computed as products and sums: in bands of rows, several images together, each tap alone, in groups, and with rows
# that no tap reaches. (batch, in, out, height, width, groups, kernel, stride, padding, output padding, dilation)
COLLECTED = [(1, 16, 9, 1, 1, 1, (4, 4), 1, 0, 0, 1), (3, 8, 8, 4, 5, 1, (4, 4), 2, 1, 0, 1), (2, 6, 24, 7, 3, 2, (3, 2), (2, 3), (1, 0), (1, 2), 1),
             (1, 5, 16, 6, 9, 1, (3, 3), (3, 2), (2, 4), 0, (1, 2)), (1, 3, 33, 40, 3, 1, (5, 1), (1, 4), (0, 0), (0, 3), (3, 1)),
             (2, 2, 8, 90, 17, 1, (2, 2), 2, 0, 0, 1), (1, 24, 40, 3, 2, 1, (1, 5), 1, (0, 2), 0, 1), (1, 4, 8, 5, 6, 1, (2, 2), 3, 0, 2, 1)]
for i, (n, c, o, h, w, g, (kh, kw), s, p, e, d) in enumerate(COLLECTED):
    for layout in LAYOUTS:
        add(f"transposed2d-collected-{i}-{layout}", f"F.conv_transpose2d(x, w, b, {s}, {p}, {e}, {g}, {d})".replace("(", "[").replace(")", "]")
            .replace("F.conv_transpose2d[", "F.conv_transpose2d(", 1)[:-1] + ")", (n, c, h, w), (c, o // g, kh, kw), (o,), before=LAYOUTS[layout])
add("transposed2d-collected-nan", "F.conv_transpose2d(x / (x > -2), w, None, 2, 1, 1)", (1, 9, 5, 6), (9, 16, 3, 3))
add("transposed2d-collected-relu", "F.relu(F.conv_transpose2d(F.conv2d(x, torch.ones(8, 4, 1, 1)), w, b, 2, 1))", (2, 4, 5, 6), (8, 16, 3, 3), (16,))
# Kernels of one pixel. Images are computed as lines, and few output channels as dot products. (batch, in, out, height, width)
PIXELS = [(1, 2, 1, 33, 40), (3, 70, 1, 9, 14), (2, 130, 2, 40, 17), (1, 256, 4, 1, 3), (1, 200, 3, 1, 1), (2, 64, 9, 18, 18), (1, 16, 24, 50, 7), (1, 300, 5, 20, 20), (1, 1100, 2, 2, 3)]
for i, (n, c, o, h, w) in enumerate(PIXELS):
    for layout in LAYOUTS:
        for behind in ("", "relu", "sigmoid"):
            expression = "F.conv2d(x, w, b)" if i % 2 else "F.conv2d(x * 1, w)"  # in turn, the input's memory belongs to the caller and to Taper
            add(f"conv2d-pixels-{i}-{layout}-{behind}", f"torch.{behind}({expression})" if behind else expression, (n, c, h, w), (o, c, 1, 1),
                *([(o,)] if i % 2 else []), before=LAYOUTS[layout])
    add(f"linear-few-{i}", "F.linear(x, w, b)" if i % 2 else "F.relu(F.linear(x, w))", (n, h * w, c), (o, c), *([(o,)] if i % 2 else []))
    add(f"conv1d-pixels-{i}", "F.conv1d(x, w)", (n, c, h * w), (o, c, 1))
# Kernels of one pixel with a stride: the pixels that the kernel reads are copied from the planes.
for i, (n, c, o, h, w, s, g) in enumerate([(1, 64, 24, 28, 131, 2, 1), (2, 70, 33, 9, 8, 2, 1), (3, 11, 40, 7, 7, 3, 1), (1, 32, 32, 12, 13, 2, 4), (2, 130, 2, 10, 11, 2, 1), (1, 9, 16, 1, 5, 2, 1)]):
    for layout in LAYOUTS:
        add(f"conv2d-sampled-{i}-{layout}", f"F.conv2d(x, w, b, {s}, 0, 1, {g})", (n, c, h, w), (o, c // g, 1, 1), (o,), before=LAYOUTS[layout])
        add(f"conv2d-sampled-{i}-{layout}-more", f"F.relu(F.conv2d(x * 1, w, None, [{s}, 1], 0, 1, {g}))", (n, c, h, w), (o, c // g, 1, 1), before=LAYOUTS[layout])
# Activations after layers with few channels. They are applied to many pixels at a time: by planes, by rows, and by groups.
for i, (n, c, o, h, w, g, k, a) in enumerate([(1, 8, 2, 33, 21, 1, 3, "tanh"), (2, 32, 1, 9, 11, 1, 1, "sigmoid"), (1, 16, 16, 13, 14, 4, 3, "silu"),
                                              (1, 6, 3, 20, 15, 3, 5, "elu"), (2, 40, 5, 6, 7, 1, 1, "hardswish"), (1, 12, 24, 9, 8, 12, 3, "gelu")]):
    for layout in ("contiguous", "input_last"):
        add(f"conv2d-activation-{i}-{layout}", f"F.{a}(F.conv2d(x, w, b, 1, {k // 2}, 1, {g}))".replace("F.tanh", "torch.tanh").replace("F.sigmoid", "torch.sigmoid"),
            (n, c, h, w), (o, c // g, k, k), (o,), before=LAYOUTS[layout])
# Convolutions over lines: depthwise, and with few channels. (batch, in, out, length, groups, kernel, stride, padding, dilation, function after the
# layer)
LINES_OF = [(1, 5, 5, 40, 5, 3, 1, 1, 1, ""), (2, 20, 20, 1000, 20, 7, 1, 3, 1, "torch.relu"), (1, 8, 8, 700, 8, 31, 1, 15, 1, "F.silu"),
            (1, 3, 3, 9001, 3, 4, 1, 0, 2, ""), (1, 6, 6, 333, 6, 5, 2, 2, 1, "F.hardtanh"), (1, 4, 4, 5000, 4, 9, 3, 70, 5, ""), (2, 3, 3, 4, 3, 4, 4, 9, 2, ""),
            (1, 2, 2, 2, 2, 1, 1, 0, 1, ""), (1, 2, 2, 600, 2, 100, 1, 0, 3, ""), (1, 1, 8, 5000, 1, 9, 2, 0, 1, "torch.sigmoid"), (2, 8, 16, 1500, 4, 3, 1, 70, 2, ""),
            (1, 4, 4, 20, 4, 5, 1, 200, 1, ""), (1, 6, 6, 4160, 6, 3, 1, 2, 1, ""), (1, 16, 4, 800, 2, 5, 3, 2, 1, "")]
for i, (n, c, o, l, g, k, s, p, d, follows) in enumerate(LINES_OF):
    for layout in ("contiguous", "input_last", "weight_last"):
        add(f"conv2d-lines-{i}-{layout}", f"{follows}(F.conv2d(x, w, b, [1, {s}], [0, {p}], [1, {d}], {g}))", (n, c, 1, l), (o, c // g, 1, k), (o,), before=LAYOUTS[layout])
add("conv2d-unbatched", "F.conv2d(x, w, b)", (4, 6, 7), (6, 4, 3, 3), (6,))
add("conv2d-unbatched-last", "F.conv2d(x, w, b)", (4, 6, 7), (6, 4, 3, 3), (6,), before=LAYOUTS["weight_last"])
add("conv2d-valid", "F.conv2d(x, w, b, padding='valid')", (1, 4, 6, 7), (6, 4, 3, 3), (6,))
for dtype in ("torch.int64", "torch.int32", "torch.uint8"):
    add(f"conv2d-{dtype}", "F.conv2d(x, w, None, 1, 1)", (2, 4, 6, 7), (6, 4, 3, 2), dtype=dtype)
# Small whole numbers, whose sums bfloat16 represents exactly. PyTorch rounds partial sums, in an order that depends on the processor.
add("conv2d-bfloat16", "F.conv2d(x, w, b, 1, 1).float()", (2, 4, 6, 7), (6, 4, 3, 2), (6,), dtype="torch.bfloat16",
    before="".join(f"    {n} = ({n}.float() / 4).round().to(torch.bfloat16)\n" for n in "xwb"))
add("conv2d-float64", "F.conv2d(x, w, b, 1, 1)", (2, 4, 6, 7), (6, 4, 3, 2), (6,), dtype="torch.float64")

TURNED = "    x = x.transpose(1, 2).contiguous().transpose(1, 2)\n"
for name, before in (("", ""), ("-turned", TURNED), ("-weight", TURNED.replace("x", "w"))):
    add("conv1d" + name, "F.conv1d(x, w, b, 2, 1, 1, 2)", (2, 4, 20), (6, 2, 3), (6,), before=before)
    add("conv1d-same" + name, "F.conv1d(x, w, b, 1, 'same', 2, 2)", (2, 4, 20), (6, 2, 3), (6,), before=before)
    add("transposed1d" + name, "F.conv_transpose1d(x, w, b, 2, 1, 1, 2)", (2, 4, 20), (4, 3, 3), (6,), before=before)
# A transposed sequence of one channel is contiguous, and looks like channels last.
for i, (n, l, o) in enumerate([(2, 7, 2), (1, 7, 2), (3, 4, 1), (2, 1, 3)]):
    add(f"conv1d-one-channel-{i}", "F.conv1d(x.transpose(1, 2), w, b, 2, 1)", (n, l, 1), (o, 1, 2), (o,))
for name, before in (("", ""), ("-last", "    x = x.contiguous(memory_format=torch.channels_last_3d)\n")):
    add("conv3d" + name, "F.conv3d(x, w, b, [1, 2, 1], [1, 0, 1], [1, 1, 2], 2)", (2, 4, 5, 6, 7), (6, 2, 3, 2, 3), (6,), before=before)
    add("conv3d-depthwise" + name, "F.conv3d(x, w, None, groups=4)", (2, 4, 5, 6, 7), (4, 1, 3, 2, 3), before=before)
    add("transposed3d" + name, "F.conv_transpose3d(x, w, b, [1, 2, 1], [1, 0, 1], [0, 1, 0], 2, [1, 1, 2])", (2, 4, 5, 6, 7),
        (4, 3, 3, 2, 3), (6,), before=before)
for kind, double in (("complex64", ""), ("complex128", ".double()")):
    COMPLEX = "".join(f"    {n} = torch.complex({n}{double}, {n}{double}.flip(0))\n" for n in "xwb")
    for name, before in (("", ""), ("-turned", TURNED)):
        add(f"transposed1d-{kind}{name}", "F.conv_transpose1d(x, w, b, 2, 1, 1, 2)", (2, 4, 20), (4, 3, 3), (6,), before=COMPLEX + before)
# Dilated depthwise convolutions, which are computed from every dilation-th row. (channels, height, width, kernel, padding, dilation, expression
# around the layer)
for i, (c, h, w, k, p, d, after) in enumerate([(20, 13, 17, 3, (2, 2), (2, 2), "F.relu(%s)"), (5, 12, 9, 3, (0, 0), (3, 2), "%s"), (33, 9, 11, 5, (4, 8), (2, 4), "F.hardswish(%s)"), (8, 10, 10, 3, (36, 36), (36, 36), "%s"),
                                               (16, 21, 14, 7, (3, 6), (1, 2), "F.relu6(%s)"), (16, 9, 40, 3, (5, 1), (5, 1), "F.silu(%s)"), (4, 6, 7, 3, (1, 2), (2, 3), "%s"), (4, 40, 3, 3, (3, 4), (3, 4), "%s")]):
    for layout, before in LAYOUTS.items():
        add(f"conv2d-depthwise-dilated-{i}-{layout}", after % f"F.conv2d(x, w, b, 1, {list(p)}, {list(d)}, {c})", (2, c, h, w), (c, 1, k, k), (c,), before=before)
add("conv2d-depthwise-dilated-nan", "F.conv2d(x / (x > -2), w, None, 1, 2, 2, 16)", (1, 16, 9, 8), (16, 1, 3, 3))
add("conv2d-depthwise-dilated-sum", "F.conv2d(x, w, b, 1, 2, 2, 16) + x", (1, 16, 9, 8), (16, 1, 3, 3), (16,))
# Transposed convolutions with a kernel for each channel, computed by phases. (kernel, stride, padding, output padding, dilation)
for i, (k, t, p, e, d) in enumerate([((4, 4), (2, 2), (1, 1), (0, 0), (1, 1)), ((3, 5), (3, 4), (0, 2), (1, 3), (2, 1)), ((3, 2), (1, 3), (2, 1), (0, 2), (1, 3)), ((2, 2), (5, 5), (0, 0), (4, 4), (1, 1)),
                                     ((1, 7), (1, 1), (0, 5), (0, 0), (1, 2))]):
    for layout, before in LAYOUTS.items():
        add(f"transposed2d-depthwise-{i}-{layout}", f"F.conv_transpose2d(x, w, b, {list(t)}, {list(p)}, {list(e)}, 5, {list(d)})", (2, 5, 9, 11), (5, 1, *k), (5,), before=before)
add("transposed2d-depthwise-nan", "F.conv_transpose2d(x / (x > -1), w, None, 2, 1, 0, 3)", (1, 3, 5, 6), (3, 1, 4, 4))
add("transposed2d-depthwise-conv", "F.conv_transpose2d(F.conv2d(x, torch.ones(12, 4, 1, 1)), w, b, 2, 1, 0, 12)", (2, 4, 5, 6), (12, 1, 4, 4), (12,))
add("transposed2d-depthwise-mixed", "F.conv_transpose2d(x.permute(0, 3, 1, 2), w, b, 2, 1, 0, 12)", (2, 5, 6, 12), (12, 1, 4, 4), (12,))
add("transposed1d-depthwise", "F.conv_transpose1d(x, w, b, 4, 2, 1, 6)", (2, 6, 300), (6, 1, 9), (6,))
add("transposed3d-depthwise", "F.conv_transpose3d(x, w, b, [1, 2, 3], [1, 0, 1], [0, 1, 0], 4, [1, 1, 2])", (2, 4, 5, 6, 7), (4, 1, 3, 2, 4), (4,))
add("transposed2d-int64", "F.conv_transpose2d(x, w, b, 2, 1, 1, 2)", (2, 4, 5, 6), (4, 3, 3, 3), (6,), dtype="torch.int64")
add("conv_tbc", "torch.conv_tbc(x, w, b, 1)", (5, 2, 3), (3, 3, 4), (4,))
add("convolution", "torch.convolution(x, w, b, [1, 2], [1], [1], False, [0], 1)", (1, 4, 6, 7), (6, 4, 3, 3), (6,))

add("unfold", "F.unfold(x, [2, 3], dilation=[2, 1], padding=[1, 2], stride=[2, 1])", (2, 3, 5, 6))
add("unfold-last", "F.unfold(x, [2, 3])", (2, 3, 5, 6), before=f"    x = x{LAST}\n")
add("unfold-unbatched", "F.unfold(x, [2, 3])", (3, 5, 6))
for k, d, p, t in (([3, 3], 1, 1, 1), ([3, 5], [2, 3], [4, 2], [1, 2]), ([2, 2], 1, 0, 2), ([1, 7], 1, [0, 9], [3, 1]), ([5, 1], [1, 4], [6, 3], [1, 5])):
    add(f"unfold-{k}-{d}-{p}-{t}", f"F.unfold(x, {k}, dilation={d}, padding={p}, stride={t})", (2, 2, 11, 13))
    add(f"fold-{k}-{d}-{p}-{t}", f"F.fold(F.unfold(x, {k}, dilation={d}, padding={p}, stride={t}), [11, 13], {k}, dilation={d}, padding={p}, stride={t})", (2, 2, 11, 13))
for k, d, p, t, w in ((2, 1, 0, 2, 40), (3, 1, 1, 2, 41), (5, 1, 2, 2, 37), (4, 1, 3, 2, 6), (3, 2, 2, 2, 40), (4, 1, 0, 4, 41), (3, 1, 1, 5, 44), (16, 1, 0, 16, 48), (2, 1, 1, 3, 2)):
    add(f"fold-rows-{k}-{d}-{p}-{t}-{w}", f"F.fold(F.unfold(x, {k}, dilation={d}, padding={p}, stride={t}), [17, {w}], {k}, dilation={d}, padding={p}, stride={t})", (2, 2, 17, w))
add("fold-minus-zero", "F.fold(x * -0.0, [6, 8], 2, stride=2).reciprocal()", (2, 8, 12))
add("fold-columns-apart", "F.fold(x.transpose(1, 2), [6, 8], 2, stride=2)", (2, 12, 8))
add("fold", "F.fold(x, [4, 4], [2, 2], dilation=2, padding=1, stride=2)", (2, 12, 4))
add("fold-unbatched", "F.fold(x, [3, 4], [2, 2])", (12, 6))

# Empty inputs, and calls that must fail.
add("conv2d-no-batch", "F.conv2d(x, w)", (0, 4, 6, 7), (6, 4, 3, 3))
add("conv2d-no-channels", "F.conv2d(x, w)", (2, 0, 6, 7), (6, 0, 3, 3))
for i, (expression, *shapes) in enumerate([
        ("F.conv2d(x, w)", (3, 4), (6, 4, 3, 3)), ("F.conv2d(x, w)", (1, 4, 6, 7), (6, 3, 3, 3)),
        ("F.conv2d(x, w)", (1, 4, 2, 2), (6, 4, 3, 3)), ("F.conv2d(x, w, None, 0)", (1, 4, 6, 7), (6, 4, 3, 3)),
        ("F.conv2d(x, w, None, 1, -1)", (1, 4, 6, 7), (6, 4, 3, 3)), ("F.conv2d(x, w, None, 1, 0, 0)", (1, 4, 6, 7), (6, 4, 3, 3)),
        ("F.conv2d(x, w, None, 1, 0, 1, 3)", (1, 4, 6, 7), (6, 4, 3, 3)), ("F.conv2d(x, w, b)", (1, 4, 6, 7), (6, 4, 3, 3), (5,)),
        ("F.conv2d(x, w, None, 2, 'same')", (1, 4, 6, 7), (6, 4, 3, 3)), ("F.conv2d(x, w.double())", (1, 4, 6, 7), (6, 4, 3, 3)),
        ("F.conv_transpose2d(x, w, None, 1, 0, 1)", (1, 4, 6, 7), (4, 5, 3, 3)),
        ("F.conv_transpose2d(x, w, None, 1, 4)", (1, 4, 6, 7), (4, 5, 1, 1)),
        ("F.fold(x, [4, 4], [2, 2])", (2, 12, 6)), ("F.unfold(x, [7, 3])", (1, 2, 5, 6))]):
    add(f"fails-{i}", expression, *shapes)

PACK = "torch.ops.prepacked.conv2d_clamp_prepack(w, b, [{s}, {s}], [{p}, {p}], [1, 1], {g}, {low}, {high})"
RUN = "torch.ops.prepacked.conv2d_clamp_run(x, {pack})"
for name, before in (("", ""), ("-last", f"    x = x{LAST}\n")):
    for low, high in (("None", "None"), ("0.0", "None"), ("-1.0", "1.5")):
        add(f"prepacked-{low}-{high}{name}", RUN.format(pack=PACK.format(s=2, p=1, g=1, low=low, high=high)), (2, 4, 9, 8), (6, 4, 3, 3), (6,),
            before=before)
        add(f"prepacked-depthwise-{low}-{high}{name}", RUN.format(pack=PACK.format(s=1, p=1, g=4, low=low, high=high)), (2, 4, 9, 8),
            (4, 1, 3, 3), (4,), before=before)
    add("prepacked-1x1-image" + name, RUN.format(pack=PACK.format(s=1, p=0, g=1, low="None", high="None")), (2, 4, 3, 3), (6, 4, 3, 3), (6,),
        before=before)
    add("prepacked-transposed" + name,
        "torch.ops.prepacked.conv2d_transpose_clamp_run(x, torch.ops.prepacked.conv2d_transpose_clamp_prepack("
        "w, b, [2, 1], [1, 1], [1, 0], [1, 1], 1, None, 0.5))", (2, 4, 9, 8), (4, 5, 3, 3), (5,), before=before)
    add("prepacked-transposed-collected" + name,
        "torch.ops.prepacked.conv2d_transpose_clamp_run(x, torch.ops.prepacked.conv2d_transpose_clamp_prepack("
        "w, b, [2, 2], [1, 0], [1, 0], [1, 1], 1, -0.5, 0.75))", (2, 4, 9, 8), (4, 10, 3, 3), (10,), before=before)

# Products treat denormal numbers as zero and never return denormals. XNNPACK also does this, but all other code of PyTorch does not. Operators that
# are not products keep denormals.
TINY = (1e-40, 1.0), (1.0, 1e-40), (1e-25, 1e-17)
PRODUCTS = {"conv2d": "F.conv2d(x, w)", "conv2d/channels last": "F.conv2d(x.contiguous(memory_format=torch.channels_last), w)", "conv2d/depthwise": "F.conv2d(x, w[:, :1].contiguous(), groups=8)",
            "conv2d/1x1": "F.conv2d(x, w[:, :, :1, :1].contiguous())", "conv2d/fused": "F.relu(F.conv2d(x, w) + x[:, :, 1:-1, 1:-1] * 0)", "conv1d": "F.conv1d(x[0], w[0])",
            "conv3d": "F.conv3d(x.unsqueeze(2), w.unsqueeze(2))", "conv_transpose2d": "F.conv_transpose2d(x, w)", "linear": "F.linear(x, w[0, 0, 0].repeat(5, 16))",
            "matmul": "torch.matmul(x, x.transpose(2, 3) * 0 + w[0, 0, 0, 0])", "mv": "torch.mv(x[0, 0], w[0, 0, 0].repeat(16))", "dot": "torch.dot(x[0, 0, 0, :3], w[0, 0, 0])",
            "einsum": "torch.einsum('nchw,ocij->no', x[:, :, :1, :1], w[:, :, :1, :1])", "addmm": "torch.addmm(x[0, 0, :, :3] * 0, x[0, 0, :, :3], w[0, 0])"}
for name, expression in PRODUCTS.items():
    for a, b in TINY:
        for d in ("float32", "float64"):
            scale = "" if d == "float32" else " * 1e-270"  # makes the numbers denormal in float64
            CASES.append((f"denormal/{name}/{a}/{d}", f"def f(x: Tensor, w: Tensor):\n    x = x.to(torch.{d}){scale if a < 1 else ''}\n    w = w.to(torch.{d}){scale if a == 1.0 else ''}\n"
                          f"    y = {expression}\n    return (y != 0).any(), y\n", lambda a=a, b=b: (torch.full((2, 8, 48, 48), a), torch.full((8, 8, 3, 3), b)),
                          {"expect": lambda x, w, e=expression, d=d: (torch.tensor(False), torch.zeros_like(eval(e, {"torch": torch, "F": torch.nn.functional}, {"x": x, "w": w})).to(getattr(torch, d)))}))
CASES.append(("denormal/elementwise", "def f(x: Tensor):\n    y = F.conv2d(x, torch.ones(1, 1, 1, 1))\n    return y, (x * 1 != 0).all(), (x + x > x).all(), (x.relu() == x).all(), x.sum() != 0\n",
              lambda: (torch.full((1, 1, 8, 8), 1e-40),), {"expect": lambda x: (torch.zeros(1, 1, 8, 8), *[torch.tensor(True)] * 4)}))

# A NaN or an infinity must stay in its group, also if a kernel computes several groups at a time.
for groups, ins, outs in ((2, 2, 2), (4, 1, 2), (4, 3, 4), (8, 2, 1), (16, 2, 2), (6, 2, 5)):
    for k in (1, 3):
        for v in ("inf", "nan"):
            source = ("def f(x: Tensor, w: Tensor, b: Tensor):\n    y = torch.cat([x[:, :1] * 0 + float('%s'), x[:, 1:]], 1)\n    z = x.clone()\n    z[1, -1, 3, 2] = float('-%s')\n"
                      "    return (F.conv2d(x, w, b, groups=%d), F.conv2d(y, w, b, groups=%d), F.conv2d(z, w, b, padding=1, groups=%d),\n            F.relu(F.conv2d(z, w, b, groups=%d)),"
                      " F.hardswish(F.conv2d(y.contiguous(memory_format=torch.channels_last), w, groups=%d)))\n" % ((v, v) + (groups,) * 5))
            CASES.append((f"grouped/{groups}x{ins}x{outs}/{k}/{v}", source, lambda g=groups, i=ins, o=outs, k=k: (*(torch.randn(*s, generator=torch.Generator().manual_seed(0)) for s in ((2, g * i, 9, 8), (g * o, i, k, k), (g * o,))),)))
# Convolutions of volumes, and transposed convolutions to few channels. They are drawn at random, so that sizes, strides, paddings and groups are
# combined; some taps are only in the padding.
DRAW = __import__("random").Random(54)
for i in range(120):
    transposed, rank = DRAW.random() < 0.5, DRAW.choice((1, 2, 3, 3))
    groups = DRAW.choice((1, 1, 1, 2, 3))
    c, o = groups * DRAW.choice((1, 2, 3, 7, 20)), groups * DRAW.choice((1, 2, 5, 9, 33))
    kernel = [DRAW.choice((1, 2, 3, 3, 4)) for _ in range(rank)]
    stride, dilation = [DRAW.choice((1, 1, 2, 3)) for _ in range(rank)], [DRAW.choice((1, 1, 2)) for _ in range(rank)]
    pad = [DRAW.choice((0, 1, min(2, k))) for k in kernel]
    size = [max(DRAW.choice((1, 2, 3, 5, 9, 20)), 1 if transposed else d * (k - 1) + 1 - 2 * p) for k, d, p in zip(kernel, dilation, pad)]
    if transposed:
        pad = [min(p, (d * (k - 1)) // 2) for k, d, p in zip(kernel, dilation, pad)]
    more = [DRAW.randrange(max(s, d)) if transposed and DRAW.random() < 0.3 else 0 for s, d in zip(stride, dilation)]
    bias, layout = DRAW.random() < 0.7, DRAW.choice(("contiguous", "contiguous", "transposed", "weight_last"))
    call = f"F.conv{'_transpose' if transposed else ''}{rank}d(x, w, {'b' if bias else 'None'}, {stride}, {pad}, {f'{more}, ' if transposed else ''}{f'{groups}, {dilation}' if transposed else f'{dilation}, {groups}'})"
    weight = (c, o // groups, *kernel) if transposed else (o, c // groups, *kernel)
    before = LAYOUTS["transposed"] if layout == "transposed" and rank > 1 and groups == 1 else LAYOUTS["weight_last"] if layout == "weight_last" and rank == 2 else ""
    add(f"volume-{i}-{layout}", call if DRAW.random() < 0.7 else f"F.relu({call})", (DRAW.choice((1, 2, 3)), c, *size), weight, *([(o,)] if bias else []), before=before)
for i, (n, c, o, size, k, s, p) in enumerate([(1, 40, 6, (3, 40, 50), 3, 1, 1), (2, 3, 24, (5, 33, 70), (3, 7, 7), (1, 2, 2), (1, 3, 3)), (1, 70, 20, (1, 9, 9), 3, 1, 1), (1, 2, 3, (30, 9, 60), 3, 1, 1),
                                              (1, 130, 70, (4, 3, 3), 3, 2, 1), (3, 9, 5, (2, 64, 3), (1, 3, 3), 1, (0, 1, 1)), (1, 10, 6, (1, 30, 31), 1, 1, 0), (1, 3, 2, (9, 5, 5), (5, 1, 1), 1, (4, 0, 0))]):
    kernel = (k,) * 3 if isinstance(k, int) else k
    stride, pad = f"[{', '.join(map(str, (s,) * 3 if isinstance(s, int) else s))}]", f"[{', '.join(map(str, (p,) * 3 if isinstance(p, int) else p))}]"
    for before in ("", "    x = torch.where(x > 2.5, x / 0 - x / 0, x)\n"):
        add(f"volume-large-{i}-{'nan' if before else 'plain'}", f"F.conv3d(x, w, b, {stride}, {pad})", (n, c, *size), (o, c, *kernel), (o,), before=before)
for i, (n, c, o, h, w, k, s, p) in enumerate([(1, 24, 4, 28, 28, 3, 1, 1), (2, 14, 1, 80, 70, 4, 2, 1), (1, 3, 7, 6, 200, (1, 5), (1, 3), (0, 2)), (1, 40, 2, 40, 6, 2, 2, 0)]):
    for layout in LAYOUTS:
        add(f"transposed2d-few-{i}-{layout}", f"F.conv_transpose2d(F.relu(x), w, b, {list(s) if isinstance(s, tuple) else s}, {list(p) if isinstance(p, tuple) else p})", (n, c, h, w),
            (c, o, *(k if isinstance(k, tuple) else (k, k))), (o,), before=LAYOUTS[layout])
# Groups of pixels; short lines of several images; strips along rows and along columns, with taps in the padding.
for i, (n, c, o, h, w, g, k, s, p, d) in enumerate([(2, 24, 8, 9, 40, 4, 1, 1, 0, 1), (1, 12, 36, 17, 5, 12, 1, 1, 0, 1), (19, 12, 12, 1, 8, 12, (1, 5), 2, (0, 2), 1), (7, 6, 18, 1, 40, 3, (1, 3), 1, (0, 1), 1),
                                                    (5, 4, 4, 1, 9, 4, (1, 4), 3, (0, 1), 1), (20, 16, 40, 6, 5, 1, 5, 1, 2, 1), (9, 20, 33, 7, 7, 1, 3, 2, 1, 1), (1, 16, 32, 50, 7, 1, 7, 1, 6, 2),
                                                    (3, 17, 24, 40, 4, 1, (1, 5), 1, (0, 2), 1), (30, 32, 20, 3, 3, 2, 3, 1, 1, 1), (4, 1, 3, 20, 30, 1, 1, 1, 0, 1)]):
    for layout in ("contiguous", "input_last"):
        for behind in ("", "F.silu"):
            add(f"conv2d-cut-{i}-{layout}-{behind}", f"{behind}(F.conv2d(x, w, b, {s}, {list(p) if isinstance(p, tuple) else p}, {d}, {g}))", (n, c, h, w),
                (o, c // g, *(k if isinstance(k, tuple) else (k, k))), (o,), before=LAYOUTS[layout])
