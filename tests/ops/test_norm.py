# SPDX-License-Identifier: BSD-2-Clause
# Normalisation and losses against PyTorch. CASES: (name, source of a scripted function f, builder of its arguments).
import torch


def random(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed)) * 2 + 3


def prelude(layout, rank):
    """Returns the line that changes the layout of x, because inputs are contiguous."""
    return {
        "contiguous": "",
        "channels_last": f"    x = x.contiguous(memory_format=torch.channels_last{'_3d' if rank == 5 else ''})\n",
        "transposed": "    x = x.transpose(-1, -2).contiguous().transpose(-1, -2)\n",
        "sliced": "    x = torch.cat([x, x], 1)[:, ::2]\n",
    }[layout]


def statistics(channels):
    return (random(channels, seed=1), random(channels, seed=2), random(channels, seed=3), random(channels, seed=4).abs() + 0.1)


FIVE = "x: Tensor, w: Tensor, b: Tensor, m: Tensor, v: Tensor"
CASES = []
SIZES = [(4, 6), (3, 6, 5), (2, 6, 5, 7), (2, 6, 3, 4, 5), (2, 6, 1, 1)]
for sizes in SIZES:
    layouts = ["contiguous"] + (["channels_last"] if len(sizes) > 3 else []) + (["transposed"] if len(sizes) > 2 else []) + (
        ["sliced"] if len(sizes) == 4 else [])
    for layout in layouts:
        def build(sizes=sizes):
            return (random(*sizes),) + statistics(sizes[1])

        name = f"{sizes}-{layout}"
        before = prelude(layout, len(sizes))
        for training in (False, True):
            CASES.append((f"batch_norm-{training}-{name}", f"def f({FIVE}) -> Tuple[Tensor, Tensor, Tensor]:\n{before}"
                          "    m = m.clone()\n    v = v.clone()\n"
                          f"    y = torch.batch_norm(x, w, b, m, v, {training}, 0.1, 1e-05, False)\n    return y, m, v\n", build))
        CASES.append((f"native_batch_norm-{name}", f"def f({FIVE}) -> Tuple[Tensor, Tensor, Tensor]:\n{before}"
                      "    return torch.native_batch_norm(x, w, b, m, v, True, 0.1, 1e-05)\n", build))
        CASES.append((f"group_norm-{name}", f"def f({FIVE}) -> Tensor:\n{before}    return torch.group_norm(x, 2, w, b, 1e-05)\n", build))
        if len(sizes) > 2 and sizes[-1] > 1:
            CASES.append((f"instance_norm-{name}", f"def f({FIVE}) -> Tensor:\n{before}"
                          "    return torch.instance_norm(x, w, b, None, None, True, 0.1, 1e-05, False)\n", build))
            CASES.append((f"instance_norm-running-{name}", f"def f({FIVE}) -> Tensor:\n{before}"
                          "    return torch.instance_norm(x, w, b, m, v, False, 0.1, 1e-05, False)\n", build))

# More pixels and channels than the kernels process at once. The values are near 0, so that PyTorch's differences of
# squares do not cancel.
for sizes in ((2, 130, 6, 11), (1, 4, 33, 34)):
    def build(sizes=sizes):
        return (random(*sizes) - 3,) + statistics(sizes[1])

    for call, what in (("group_norm(x, 2, w, b, 1e-05)", "group"), ("instance_norm(x, w, b, None, None, True, 0.1, 1e-05, False)", "instance"),
                       ("batch_norm(x, w, b, m, v, True, 0.1, 1e-05, False)", "batch")):
        CASES.append((f"{what}_norm-{sizes}-blocks", f"def f({FIVE}) -> Tensor:\n{prelude('channels_last', 4)}    return torch.{call}\n", build))


def doubles(*sizes):
    return tuple(t.double() for t in (random(*sizes),) + statistics(sizes[1]))


for training in (False, True):
    CASES.append((f"batch_norm-{training}-float64", f"def f({FIVE}) -> Tensor:\n    return torch.batch_norm(x, w, b, m, v, {training}, 0.1, 1e-05, False)\n", lambda: doubles(2, 6, 5, 7)))

THREE = "x: Tensor, w: Tensor, b: Tensor"
for name, sizes, shape, order in [("tokens", (1, 197, 768), (768,), None), ("convnext", (2, 96, 7, 9), (96,), (0, 2, 3, 1)),
                                  ("swapped", (2, 7, 9, 96), (96,), (0, 2, 1, 3)), ("planes", (3, 4, 5, 6), (5, 6), None),
                                  ("all", (4, 5), (4, 5), None), ("inner", (4, 6, 5), (6,), (0, 2, 1))]:
    def build(sizes=sizes, shape=shape):
        return (random(*sizes), random(*shape, seed=1), random(*shape, seed=2))

    before = f"    x = x.permute({list(order)})\n" if order else ""

    CASES.append((f"layer_norm-{name}", f"def f({THREE}) -> Tensor:\n{before}    return torch.layer_norm(x, {list(shape)}, w, b, 1e-06)\n",
                  build))
    CASES.append((f"layer_norm-plain-{name}", f"def f({THREE}) -> Tensor:\n{before}    return torch.layer_norm(x, {list(shape)})\n", build))
    CASES.append((f"native_layer_norm-{name}", f"def f({THREE}) -> Tuple[Tensor, Tensor, Tensor]:\n{before}"
                  f"    return torch.native_layer_norm(x, {list(shape)}, w, b, 1e-05)\n", build))
CASES.append(("local_response_norm", "def f(x: Tensor) -> Tensor:\n"
              "    return torch.nn.functional.local_response_norm(x, 3, 0.0001, 0.75, 1.0)\n", lambda: (random(2, 6, 5, 5),)))
CASES.append(("normalize", "def f(x: Tensor) -> Tensor:\n    return torch.nn.functional.normalize(x, 2.0, 1)\n",
              lambda: (random(2, 6, 5),)))

PAIR = "x: Tensor, t: Tensor"
for loss in ["mse_loss(x, t, {})", "l1_loss(x, t, {})", "smooth_l1_loss(x, t, {}, 0.3)", "huber_loss(x, t, {}, 0.7)",
             "binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(t), None, {})",
             "binary_cross_entropy_with_logits(x, torch.sigmoid(t), None, None, {})", "kl_div(x, torch.sigmoid(t), {})",
             "soft_margin_loss(x, torch.sign(t), {})", "hinge_embedding_loss(x, torch.sign(t), 1., {})"]:
    for reduction in (0, 1, 2):
        CASES.append((f"{loss.split('(')[0]}-{reduction}", f"def f({PAIR}) -> Tensor:\n"
                      f"    return torch.ops.aten.{loss.format(reduction)}\n", lambda: (random(3, 4) - 3, random(3, 4, seed=1) - 3)))
for reduction in (0, 1, 2):
    for smoothing in (0.0, 0.2):
        CASES.append((f"cross_entropy_loss-{reduction}-{smoothing}", f"def f(x: Tensor, t: Tensor, w: Tensor) -> Tensor:\n"
                      f"    return torch.ops.aten.cross_entropy_loss(x, t, w, {reduction}, -100, {smoothing})\n",
                      lambda: (random(2, 4, 3), torch.tensor([[0, 1, -100], [3, 2, 2]]), random(4, seed=1).abs())))
    CASES.append((f"cross_entropy_loss-image-{reduction}", f"def f(x: Tensor, t: Tensor) -> Tensor:\n"
                  f"    return torch.ops.aten.cross_entropy_loss(x, t, None, {reduction}, 2, 0.0)\n",
                  lambda: (torch.randn(2, 5, 20, 31, generator=torch.Generator().manual_seed(5)),
                           torch.randint(0, 5, (2, 20, 31), generator=torch.Generator().manual_seed(6)))))
    CASES.append((f"nll_loss2d-{reduction}", f"def f(x: Tensor, t: Tensor) -> Tensor:\n"
                  f"    return torch.ops.aten.nll_loss2d(x, t, None, {reduction})\n",
                  lambda: (random(2, 4, 1, 3), torch.tensor([[[0, 1, -100]], [[3, 2, 2]]]))))

# 2^40 samples without elements: no loop may visit the samples.
for reduction in (1, 2):
    CASES.append((f"cross_entropy_loss-no-elements-{reduction}", "def f(x: Tensor, t: Tensor) -> Tensor:\n"
                  "    x, t = x[:0].as_strided([1 << 40, 2, 0], [0, 0, 0]), t[:0].as_strided([1 << 40, 0], [0, 0])\n"
                  f"    return torch.ops.aten.cross_entropy_loss(x, x, None, {reduction}, -100, 0.0) + torch.ops.aten.cross_entropy_loss(x, t, None, {reduction}, -100, 0.0)\n",
                  lambda: (random(3), torch.tensor([1]))))

for reduction in (0, 1, 2):
    for weight in ("None", "w"):
        CASES.append((f"binary_cross_entropy_with_logits-positive-{reduction}-{weight}", f"def f({PAIR}, w: Tensor, p: Tensor, q: Tensor) -> Tuple[Tensor, Tensor, Tensor]:\n"
                      f"    t = torch.sigmoid(t)\n    return (torch.ops.aten.binary_cross_entropy_with_logits(x, t, {weight}, p, {reduction}),"
                      f" torch.ops.aten.binary_cross_entropy_with_logits(x * 30, (t > 0.5).to(x.dtype), {weight}, q, {reduction}),"
                      f" torch.ops.aten.binary_cross_entropy_with_logits(x[:1], t, {weight}, p, {reduction}))\n",
                      lambda: (random(9, 40), random(9, 40, seed=1), random(9, 40, seed=2).abs(), random(40, seed=3).abs(), torch.tensor(2.5))))
# Losses that are made of other operators accept every dtype that these operators accept.
THREE_ROWS = "a: Tensor, b: Tensor, c: Tensor"
for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.complex64):
    def rows(dtype=dtype):
        return tuple((random(4, 5, seed=i) * 3).to(dtype) for i in range(3))

    name = str(dtype)[6:]
    for reduction in (0, 1, 2):
        for form in ("l1_loss(a, b, {})", "triplet_margin_loss(a, b, c, 0.5, 2., 1e-06, False, {})",
                     "triplet_margin_loss(a, b, c, 1., 2., 1e-06, True, {})", "cosine_embedding_loss(a, b, c.real[:, 0].sign(), 0.1, {})",
                     "margin_ranking_loss(a, b, c, 0.25, {})"):
            CASES.append((f"{form.split('(')[0]}-{name}-{reduction}-{form.count('True')}", f"def f({THREE_ROWS}) -> Tensor:\n"
                          f"    return torch.ops.aten.{form.format(reduction)}\n", rows))
    for p in ("0.", "1.", "2.", "3.5", "float('inf')"):
        CASES.append((f"pairwise_distance-{name}-{p}", f"def f({THREE_ROWS}) -> Tensor:\n"
                      f"    return torch.ops.aten.pairwise_distance(a, b[:1], {p}, 1e-06, True)\n", rows))
for loss, target in (("multi_margin_loss", "0"), ("multilabel_margin_loss", "0")):
    CASES.append((f"{loss}-number", f"def f(x: Tensor) -> Tensor:\n    return torch.nn.functional.{loss}(x, torch.tensor({target}))\n",
                  lambda: (torch.tensor(2.5),)))
for power, margin, reduction in ((1, 1.0, 0), (2, 0.25, 0), (1, -0.5, 1), (2, 1.0, 2)):
    for dtype in (torch.float32, torch.float64):
        CASES.append((f"multi_margin_loss-wide-{power}-{margin}-{str(dtype)[6:]}", f"def f(x: Tensor, t: Tensor, w: Tensor) -> Tuple[Tensor, Tensor]:\n"
                      f"    return torch.nn.functional.multi_margin_loss(x, t, {power}, {margin}, w, None, None, '{('none', 'mean', 'sum')[reduction]}'),"
                      f" torch.nn.functional.multi_margin_loss(x[:, :1], t * 0, {power}, {margin})\n",
                      lambda dtype=dtype: (random(3, 1100).to(dtype), torch.tensor([0, 1099, 600]), random(1100, seed=1).abs().to(dtype))))
CASES.append(("multi_margin_loss-special", "def f(x: Tensor, t: Tensor) -> Tensor:\n    return torch.nn.functional.multi_margin_loss(x, t, reduction='none')\n",
              lambda: (torch.tensor([[1.0, float("nan"), 2.0, 0.5], [float("inf"), 1.0, 2.0, 3.0], [-float("inf"), 1.0, 2.0, 3.0], [float("nan"), 1.0, 2.0, 3.0]]),
                       torch.tensor([2, 1, 0, 0]))))
CASES.append(("nll_loss-image", "def f(x: Tensor, t: Tensor) -> Tuple[Tensor, Tensor]:\n    return torch.nn.functional.nll_loss(x, t), torch.nn.functional.nll_loss(x, t, None, None, 3, None, 'sum')\n",
              lambda: (random(2, 5, 7, 11), (torch.arange(154) % 5).reshape(2, 7, 11))))
CASES.append(("batch_norm-nothing", "def f(x: Tensor) -> Tensor:\n"
              "    return torch.nn.functional.batch_norm(x, None, None, None, None, True)\n", lambda: (torch.zeros(0),)))
for width in (3, 64, 100, 520):
    for weights in ("None, None", "w, None", "None, b", "w, b"):
        CASES.append((f"layer_norm-double-{width}-{weights}", f"def f({THREE}) -> Tensor:\n    return torch.layer_norm(x, [{width}], {weights})\n",
                      lambda width=width: (random(5, width).double(), random(width, seed=1).double(), random(width, seed=2).double())))
CASES.append(("layer_norm-double-mixed", f"def f({THREE}) -> Tuple[Tensor, Tensor, Tensor]:\n    return torch.native_layer_norm(x.transpose(0, 1), [70], w, b, 1e-05)\n",
              lambda: (random(70, 9).double(), random(70, seed=1).double(), random(70, seed=2).double())))
for name, call in (("group", "torch.group_norm(x, 2, w, b, 1e-05)"), ("instance", "torch.instance_norm(x, w, b, None, None, True, 0.1, 1e-05, False)"),
                   ("batch", "torch.batch_norm(x, w, b, m, v, False, 0.1, 1e-05, False)"), ("training", "torch.batch_norm(x, w, b, m, v, True, 0.1, 1e-05, False)")):
    for layout in ("contiguous", "channels_last", "transposed", "sliced"):
        CASES.append((f"{name}_norm-double-{layout}", f"def f({FIVE}) -> Tensor:\n{prelude(layout, 4)}    return {call}\n", lambda: doubles(2, 6, 9, 17)))
for call in ("torch.group_norm(x, 4, w, b, 1e-05)", "torch.instance_norm(x, w, b, None, None, True, 0.1, 1e-05, False)"):
    CASES.append((f"wide-{call}", f"def f({FIVE}) -> Tensor:\n{prelude('channels_last', 4)}    return {call}\n", lambda: (random(2, 140, 9, 11),) + statistics(140)))
CASES.append(("layer_norm-one", "def f(x: Tensor) -> Tensor:\n    return torch.layer_norm(x, [1])\n", lambda: (random(7, 1),)))

# A target of zero does not contribute to the divergence, with any logarithm.
CASES.append(("kl_div/ends", "def f(x: Tensor, t: Tensor):\n    return (F.kl_div(x, t, reduction='none'), F.kl_div(x, t, reduction='none', log_target=True))\n",
              (torch.tensor([-1.0, -0.5, 0.0, -2.0, -0.25, -1.0, -3.0]), torch.tensor([0.0, 0.5, 1.0, 2.0, float("inf"), float("nan"), -1.0]))))

# Neighbouring channels, of which sixteen are added at a time: about sixteen channels and many more, and more pixels than a
# kernel processes at once.
for channels in (15, 16, 23, 147):
    for code in ("torch.group_norm(x, 1, None, None, 1e-05)", "torch.instance_norm(x, None, None, None, None, True, 0.1, 1e-05, False)",
                 "torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-05, False)"):
        CASES.append((f"neighbours/{channels}/{code[6:16]}", f"def f(x: Tensor) -> Tensor:\n    return {code}\n", lambda channels=channels: (
            (torch.randn(1, channels, 7, 10, generator=torch.Generator().manual_seed(channels)) * 3 + 1).contiguous(memory_format=torch.channels_last),)))

# Planes of few pixels: the statistics of a group are computed as one line. The coefficients have gaps, or another dtype.
for shape in ((5, 24, 1, 2), (3, 24, 3, 3), (2, 24, 7, 7), (2, 24, 4, 5)):
    for name, code in (("", "torch.group_norm(x, 4, w, b, 1e-05)"), ("none", "torch.group_norm(x, 8, None, b, 1e-05)"), ("apart", "torch.group_norm(x, 1, w[::2], b[::2], 1e-05)"),
                       ("native", "torch.native_group_norm(x, w, b, %d, 24, %d, 3, 1e-05)" % (shape[0], shape[2] * shape[3])),
                       ("instance", "torch.instance_norm(x, w, b, None, None, True, 0.1, 1e-05, False)")):
        if name == "instance" and shape[3] == 2:
            continue  # skipped: in planes of two nearly equal pixels, the rounding of the mean exceeds any tolerance
        many = 48 if name == "apart" else 24
        CASES.append((f"small-planes/{shape[2]}x{shape[3]}/{code}", f"def f({THREE}):\n    return {code}\n", lambda shape=shape, many=many: (
            random(*shape) * 3 + 1, random(many, seed=1), random(many, seed=2))))
CASES.append(("small-planes/nan", f"def f({THREE}):\n    return torch.group_norm(x, 4, w, b, 1e-05)\n", lambda: (
    random(2, 24, 3, 3).index_fill(1, torch.tensor([7]), float("nan")), random(24, seed=1), random(24, seed=2))))
