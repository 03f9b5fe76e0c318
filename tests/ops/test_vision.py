# SPDX-License-Identifier: BSD-2-Clause
# torchvision's operators against torchvision. CASES: (name, source of a scripted function f, builder of its arguments).
import torch
import torchvision  # noqa: F401  registers the operators

RECORDED_CASE = 131072
CASES = []


def boxes(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    corners = torch.rand(count, 4, generator=generator) * 50
    corners[:, 2:] += corners[:, :2]
    scores = torch.rand(count, generator=generator)
    scores[::5] = 0.5
    return corners, scores


def regions(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    samples = torch.randint(0, 3, (count, 1), generator=generator).float()
    corners = torch.rand(count, 4, generator=generator) * 20
    corners[:, 2:] += corners[:, :2]
    return torch.cat([samples, corners], 1)


def image():
    return torch.randn(3, 8, 20, 17, generator=torch.Generator().manual_seed(0))


for count in (0, 1, 5, 200):
    for threshold in (0.0, 0.3, 0.9):
        CASES.append((f"nms-{count}-{threshold}", f"def f(b: Tensor, s: Tensor) -> Tensor:\n"
                      f"    return torch.ops.torchvision.nms(b, s, {threshold})\n", lambda count=count: boxes(count)))
PAIR = "Tuple[Tensor, Tensor]"
for layout, before in (("contiguous", ""), ("channels_last", "    x = x.contiguous(memory_format=torch.channels_last)\n")):
    for name, call, result in [("roi_align", "roi_align(x, r, 0.5, 3, 2, -1, False)", "Tensor"),
                               ("roi_align-aligned", "roi_align(x, r, 0.5, 3, 2, 2, True)", "Tensor"),
                               ("roi_pool", "roi_pool(x, r, 0.5, 3, 2)", PAIR), ("ps_roi_align", "ps_roi_align(x, r, 0.5, 2, 2, -1)", PAIR),
                               ("ps_roi_pool", "ps_roi_pool(x, r, 0.5, 2, 2)", PAIR)]:
        CASES.append((f"{name}-{layout}", f"def f(x: Tensor, r: Tensor) -> {result}:\n{before}    return torch.ops.torchvision.{call}\n",
                      lambda: (image(), regions(5))))
# Returns inputs with many regions and channels, and with NaN and infinities among the elements.
def crowd():
    g = torch.Generator().manual_seed(3)
    x = torch.randn(2, 70, 19, 23, generator=g)
    x.view(-1)[::301] = float("nan")
    x.view(-1)[7::401] = -float("inf")
    corners = torch.rand(30, 4, generator=g) * 40
    return x, torch.cat([(torch.arange(30) % 2)[:, None].float(), corners[:, :2], corners[:, :2] + corners[:, 2:]], 1)


CASES.append(("roi_pool-crowd", f"def f(x: Tensor, r: Tensor) -> {PAIR}:\n    return torch.ops.torchvision.roi_pool(x, r, 0.5, 3, 4)\n", crowd))
CASES.append(("ps_roi_pool-crowd", f"def f(x: Tensor, r: Tensor) -> {PAIR}:\n    return torch.ops.torchvision.ps_roi_pool(x, r, 0.5, 2, 5)\n", crowd))
CASES.append(("deform_conv2d", "def f(x: Tensor, w: Tensor, o: Tensor, m: Tensor, b: Tensor) -> Tensor:\n"
              "    return torch.ops.torchvision.deform_conv2d(x, w, o, m, b, 1, 1, 1, 1, 1, 1, 2, 2, True)\n",
              lambda: (torch.randn(2, 4, 9, 8), torch.randn(6, 2, 3, 3), torch.randn(2, 36, 9, 8), torch.rand(2, 18, 9, 8), torch.randn(6))))


def edges():
    """A small image, and regions with samples at its border, at -1 and outside, and regions without area."""
    x = torch.arange(40, dtype=torch.float32).reshape(2, 1, 4, 5) ** 1.5
    return x, torch.tensor([[0., -2, -2, 0, 0], [1., -1.5, -1.5, 5.5, 4.5], [0., 3, 2, 6, 6], [1., 4, 3, 1, 1], [0., 2, 2, 2, 2],
                            [0., -9, -9, -5, -5], [1., 0, 0, 4, 3], [0., -1, -1, 1, 1], [0., 1.5, 0.5, 2.5, 1.5], [1., -0.5, 3.5, 5.5, 4.5]])


for scale in (1.0, 0.5):
    for ratio in (1, 2, -1):
        for aligned in (False, True):
            CASES.append((f"roi_align-rim-{scale}-{ratio}-{aligned}", f"def f(x: Tensor, r: Tensor) -> Tensor:\n"
                          f"    return torch.ops.torchvision.roi_align(x, r, {scale}, 2, 2, {ratio}, {aligned})\n", edges))
    CASES.append((f"roi_pool-rim-{scale}", f"def f(x: Tensor, r: Tensor) -> {PAIR}:\n"
                  f"    return torch.ops.torchvision.roi_pool(x, r, {scale}, 2, 3)\n", edges))
    for name, more in (("ps_roi_align", ", 1"), ("ps_roi_align", ", -1"), ("ps_roi_pool", "")):
        CASES.append((f"{name}-rim-{scale}{more}", f"def f(x: Tensor, r: Tensor) -> {PAIR}:\n"
                      f"    return torch.ops.torchvision.{name}(torch.cat([x, x + 1, -x, x * x], 1), r, {scale}, 2, 2{more})\n", edges))
for offset in (0.0, -1.0, -0.5, 1.0, 2.5):
    CASES.append((f"deform_conv2d-rim-{offset}", "def f(x: Tensor, o: Tensor) -> Tensor:\n"
                  "    w, m, b = torch.ones(1, 1, 2, 2), torch.ones(2, 4, 5, 6), torch.zeros(1)\n"
                  "    return torch.ops.torchvision.deform_conv2d(x, w, o, m, b, 1, 1, 1, 1, 1, 1, 1, 1, True)\n",
                  lambda offset=offset: (edges()[0], torch.full((2, 8, 5, 6), offset))))
CASES.append(("nms-equal-and-touching", "def f(b: Tensor, s: Tensor) -> Tensor:\n    return torch.ops.torchvision.nms(b, s, 0.5)\n",
              (torch.tensor([[0., 0, 2, 2], [0, 0, 2, 2], [2, 0, 4, 2], [0, 0, 2, 4], [1, 0, 3, 2], [5, 5, 5, 5], [5, 5, 5, 5]]),
               torch.tensor([0.5, 0.5, 0.5, 0.9, 0.1, 0.2, 0.2]))))

# Stride, padding and dilation; torchvision refuses a negative padding, and divides by a stride of zero.
for numbers in ("1, 1, 0, 0, 1, 1", "2, 1, 0, 1, 1, 1", "1, 2, 1, 0, 1, 1", "1, 1, 1, 1, 2, 1", "1, 1, 0, 1, 1, 2", "1, 1, -1, 0, 1, 1",
                "1, 1, 0, -1, 1, 1"):
    s_h, s_w, p_h, p_w, d_h, d_w = map(int, numbers.split(", "))
    sizes = [(n + 2 * p - d - 1) // max(s, 1) + 1 for n, p, d, s in ((4, p_h, d_h, s_h), (5, p_w, d_w, s_w))]
    CASES.append((f"deform_conv2d-{numbers}", "def f(x: Tensor) -> Tensor:\n"
                  f"    w, o, m, b = torch.ones(2, 1, 2, 2), torch.zeros(2, 8, {sizes[0]}, {sizes[1]}) + 0.25, torch.ones(2, 4, {sizes[0]}, {sizes[1]}), torch.zeros(2)\n"
                  f"    return torch.ops.torchvision.deform_conv2d(x, w, o, m, b, {numbers}, 1, 1, True)\n", lambda: (edges()[0],)))
