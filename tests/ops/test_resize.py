# SPDX-License-Identifier: BSD-2-Clause
# Resizing and grid sampling against PyTorch. CASES: (name, source of a scripted function f, builder of its arguments).
import torch

CASES = []


def prelude(layout, rank):
    """Returns the line that changes the layout of x, because inputs are contiguous."""
    return {
        "contiguous": "",
        "channels_last": f"    x = x.contiguous(memory_format=torch.channels_last{'_3d' if rank == 5 else ''})\n",
        "transposed": "    x = x.transpose(-1, -2).contiguous().transpose(-1, -2)\n",
        "sliced": "    x = torch.cat([x, x], 1)[:, ::2]\n",
    }[layout]


def image(*sizes):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(0))


def add(name, expression, *sizes, before="", layouts=("contiguous", "channels_last", "transposed")):
    for layout in layouts:
        CASES.append((f"{name}-{layout}", f"def f(x: Tensor) -> Tensor:\n{before}{prelude(layout, len(sizes))}    return {expression}\n",
                      lambda: (image(*sizes),)))


def op(name, *arguments):
    return f"torch.ops.aten.{name}(x, {', '.join(str(a) for a in arguments)})"


SIZES = [[1, 1], [2, 3], [14, 10], [7, 5], [13, 11], [3, 17]]
SCALES = [[2.0, 2.0], [0.5, 1.7], [1.3, 0.4], [0.6, 0.99]]
NEAREST = ["upsample_nearest2d", "_upsample_nearest_exact2d"]
WEIGHTED = ["upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"]
for size in SIZES:
    for name in NEAREST:
        add(f"{name}-{size}", op(name, size, None, None), 2, 5, 7, 5)
    for name in WEIGHTED:
        for align in (False, True):
            add(f"{name}-{size}-{align}", op(name, size, align, None, None), 2, 5, 7, 5)
for scale in SCALES:
    for name in NEAREST:
        add(f"{name}.vec-{scale}", op(name, None, scale), 2, 5, 7, 5)
    for name in WEIGHTED:
        for align in (False, True):
            add(f"{name}.vec-{scale}-{align}", op(name, None, align, scale), 2, 5, 7, 5)
for scale in (0.5, 1.3, 3.0):  # the call gives a scale factor, which the size of the result does not determine
    for height, width in ((7, 5), (14, 10), (7, 10)):
        add(f"upsample_nearest2d-{height}x{width}-by-{scale}", op("upsample_nearest2d", [height, width], scale, scale), 2, 5, 7, 5)
        add(f"upsample_nearest2d-one-channel-{height}x{width}-by-{scale}", op("upsample_nearest2d", [height, width], scale, scale), 2, 1, 7, 5)
    for size in (9, 18):
        add(f"upsample_nearest1d-{size}-by-{scale}", op("upsample_nearest1d", [size], scale), 2, 3, 9, layouts=("contiguous", "transposed"))
    add(f"upsample_nearest3d-by-{scale}", op("upsample_nearest3d", [4, 10, 6], scale, scale, scale), 2, 3, 4, 5, 6)
add("upsample_nearest2d-uint8", op("upsample_nearest2d", [9, 8], None, None), 2, 5, 7, 5, before="    x = (x * 50).to(torch.uint8)\n")
add("upsample_bilinear2d-float64", op("upsample_bilinear2d", [9, 8], False, None, None), 2, 5, 7, 5, before="    x = x.to(torch.float64)\n")
for name, sizes, size in (("upsample_bicubic2d", (2, 5, 7, 5), [9, 8]), ("upsample_bicubic2d", (2, 5, 7, 5), [3, 4]), ("upsample_bilinear2d", (2, 5, 7, 5), [4, 12])):
    for align in (False, True):
        add(f"{name}-double-{size}-{align}", op(name, size, align, None, None), *sizes, before="    x = x.double()\n")
add("upsample_trilinear3d-double", op("upsample_trilinear3d", [5, 9, 4], False, None, None, None), 2, 3, 4, 5, 6, before="    x = x.double()\n")
add("upsample_linear1d-double", op("upsample_linear1d", [21], True, None), 2, 3, 9, before="    x = x.double()\n", layouts=("contiguous", "transposed"))
for size in ([1], [4], [9], [18], [20]):
    plain = ("contiguous", "transposed")
    add(f"upsample_nearest1d-{size}", op("upsample_nearest1d", size, None), 2, 3, 9, layouts=plain)
    add(f"_upsample_nearest_exact1d-{size}", op("_upsample_nearest_exact1d", size, None), 2, 3, 9, layouts=plain)
    for align in (False, True):
        add(f"upsample_linear1d-{size}-{align}", op("upsample_linear1d", size, align, None), 2, 3, 9, layouts=plain)
for size in ([1, 1, 1], [4, 5, 6], [8, 10, 12], [3, 7, 11]):
    add(f"upsample_nearest3d-{size}", op("upsample_nearest3d", size, None, None, None), 2, 3, 4, 5, 6)
    for align in (False, True):
        add(f"upsample_trilinear3d-{size}-{align}", op("upsample_trilinear3d", size, align, None, None, None), 2, 3, 4, 5, 6)
add("upsample_trilinear3d.vec", op("upsample_trilinear3d", None, False, [0.5, 1.7, 2.0]), 2, 3, 4, 5, 6)
for mode, extra in [("nearest", ""), ("bilinear", ", align_corners=False"), ("bicubic", ", align_corners=True"), ("area", "")]:
    add(f"interpolate-{mode}", f"torch.nn.functional.interpolate(x, size=[9, 6], mode='{mode}'{extra})", 2, 5, 7, 5)
    add(f"interpolate-scale-{mode}", f"torch.nn.functional.interpolate(x, scale_factor=1.7, mode='{mode}'{extra})", 2, 5, 7, 5)

for mode in (0, 1, 2):
    for padding in (0, 1, 2):
        for align in (False, True):
            head, code = "def f(x: Tensor, g: Tensor) -> Tensor:\n", f"    return torch.grid_sampler(x, g, {mode}, {padding}, {align})\n"
            for layout in ("contiguous", "channels_last"):
                CASES.append((f"grid_sampler-{mode}-{padding}-{align}-{layout}", head + prelude(layout, 4) + code, lambda: (
                    image(2, 4, 5, 6), torch.rand(2, 3, 7, 2, generator=torch.Generator().manual_seed(1)) * 3 - 1.5)))
            if mode < 2:
                CASES.append((f"grid_sampler3d-{mode}-{padding}-{align}", head + code, lambda: (
                    image(2, 3, 4, 5, 6), torch.rand(2, 2, 3, 4, 3, generator=torch.Generator().manual_seed(1)) * 3 - 1.5)))


for align in (False, True):  # images that become smaller, so that rows are blended before columns; images of which only height or width changes; images with gaps between rows and columns
    for name, size, x in (("small", "[11, 12]", "x"), ("low", "[5, 120]", "x"), ("narrow", "[24, 12]", "x"), ("little", "[22, 38]", "x"), ("rows", "[5, 12]", "x[:, :, ::2]"), ("columns", "[11, 6]", "x[..., ::2]"),
                          ("turned", "[12, 11]", "x.transpose(2, 3)"), ("one", "[1, 1]", "x"), ("last", "[11, 12]", "x.contiguous(memory_format=torch.channels_last)")):
        if not align or name in ("small", "rows"):
            CASES.append((f"bilinear-{name}-{align}", f"def f(x: Tensor) -> Tensor:\n    return torch.nn.functional.interpolate({x}, size={size}, mode='bilinear', align_corners={align})\n",
                          lambda: (image(1, 2, 24, 40),)))


def edges():
    """An image with an infinity, and positions on its edges, next to them, far away and undefined."""
    g = torch.rand(2, 9, 17, 2, generator=torch.Generator().manual_seed(2)) * 2.4 - 1.2
    g[0, 0, :6, 0] = torch.tensor([-1.0, 1.0, 0.0, 1e30, -1e9, float("nan")])
    g[1, 2, :6, 1] = torch.tensor([-1.0, 1.0, float("inf"), -float("inf"), 1.0000001, float("nan")])
    g[1, 5, :, 0] = g[1, 6] = float("nan")
    x = image(2, 3, 9, 11)
    x[1, 2, 0, 0] = x[0, 1, 4, 5] = float("inf")
    return x, g


for mode in (0, 1):
    for padding in (0, 1, 2):
        for align in (False, True):
            CASES.append((f"grid_sampler-edges-{mode}-{padding}-{align}", f"def f(x: Tensor, g: Tensor) -> Tensor:\n"
                          f"    return torch.grid_sampler(x, g, {mode}, {padding}, {align})\n", edges))
        # Images of one pixel, row or column, and few or many neighbouring channels.
        for name, x in (("pixel", "x[:, :, 4:5, 5:6].contiguous()"), ("row", "x[:, :, 4:5]"), ("column", "x[..., 5:6]"), ("two", "x[:, :1, 3:5, 4:6]"),
                        ("few-last", "x.contiguous(memory_format=torch.channels_last)"), ("many-last", "x.repeat(1, 15, 1, 1).contiguous(memory_format=torch.channels_last)")):
            CASES.append((f"grid_sampler-edges-{name}-{mode}-{padding}", f"def f(x: Tensor, g: Tensor) -> Tensor:\n"
                          f"    return torch.grid_sampler({x}, g, {mode}, {padding}, False)\n", edges))
    CASES.append((f"grid_sampler-lines-{mode}", f"def f(x: Tensor, g: Tensor) -> Tensor:\n"
                  f"    return torch.cat([torch.grid_sampler(x.transpose(2, 3), g[:, :, ::2], {mode}, 0, True).flatten(),\n"
                  f"                      torch.grid_sampler(x[:, :, :1], g.transpose(1, 2), {mode}, 1, False).flatten()])\n", edges))


def volume_edges():
    """A volume with an infinity, and positions on its edges, next to them, far away and undefined."""
    g = torch.rand(2, 5, 6, 17, 3, generator=torch.Generator().manual_seed(2)) * 2.4 - 1.2
    for axis in range(3):
        g[0, axis, 0, :8, axis] = torch.tensor([-1.0, 1.0, 0.0, 1e30, -1e9, float("nan"), float("inf"), -float("inf")])
    x = image(2, 3, 4, 5, 7)
    x[1, 2, 0, 0, 0] = x[0, 1, 2, 4, 5] = float("inf")
    return x, g


for padding in (0, 1, 2):
    for align in (False, True):
        CASES.append((f"grid_sampler3d-edges-{padding}-{align}", f"def f(x: Tensor, g: Tensor) -> Tensor:\n"
                      f"    return torch.cat([torch.grid_sampler(x, g, 1, {padding}, {align}).flatten(), torch.grid_sampler(x, g[:, :, :, ::2], 1, {padding}, {align}).flatten(),\n"
                      f"                      torch.grid_sampler(x.transpose(2, 4), g[:, ::2], 1, {padding}, {align}).flatten(), torch.grid_sampler(x[:, :, :1], g.transpose(1, 2), 1, {padding}, {align}).flatten(),\n"
                      f"                      torch.grid_sampler(x[:, :1], g[:, :1].expand(2, 4, 6, 17, 3), 1, {padding}, {align}).flatten()])\n", volume_edges))
for align in (False, True):
    CASES.append((f"affine_grid_generator-long-{align}", f"def f(x: Tensor) -> Tensor:\n"
                  f"    return torch.affine_grid_generator(x, [1, 3, 2, 131], {align})\n", lambda: (image(1, 2, 3),)))
    CASES.append((f"affine_grid_generator-{align}", f"def f(x: Tensor) -> Tensor:\n"
                  f"    return torch.affine_grid_generator(x, [2, 3, 4, 5], {align})\n", lambda: (image(2, 2, 3),)))
    CASES.append((f"affine_grid_generator3d-{align}", f"def f(x: Tensor) -> Tensor:\n"
                  f"    return torch.affine_grid_generator(x, [2, 3, 4, 5, 6], {align})\n", lambda: (image(2, 3, 4),)))

# If only one size of a quantized image stays the same, the given scale factor is still used for this size. If both
# sizes stay the same, a contiguous image is copied.
QUANTIZED = "def f(x: Tensor):\n    q = torch.quantize_per_tensor(x, 0.02, 78, torch.quint8){}\n    return F.interpolate(q, scale_factor=[{}, {}], mode='bilinear', align_corners=False)\n"
CASES += [(f"quantized bilinear/{h}x{w}{m}", QUANTIZED.format(m, h, w), lambda: (torch.randn(2, 17, 5, 6, generator=torch.Generator().manual_seed(0)),))
          for h, w in ((1.001, 1.515), (1.515, 1.001), (1.1, 1.1), (1.1, 2.0), (0.7, 1.15)) for m in ("", ".contiguous(memory_format=torch.channels_last)")]
