# SPDX-License-Identifier: BSD-2-Clause
"""fake_quantize: the operators of models trained for quantization, in evaluation, with and without observers."""
import torch
from torch import nn

CASES = []


def numbers(*shape, spread=3.0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape))) * spread


IMAGE = numbers(2, 3, 4, 5)
LAST = IMAGE.to(memory_format=torch.channels_last)
EXTREMES = torch.tensor([0.0, -0.0, 0.05, 0.15, 0.25, 1.0, -1.0, 30, -30, float("inf"), -float("inf"), float("nan"), 1e30, -1e30, 12.75, 1e-42, 9.3e17, -9.3e17])
TIES = torch.arange(-300, 600).float() / 20
INPUTS = [torch.tensor(1.25), numbers(0), numbers(7), numbers(2, 0, 3), numbers(300), IMAGE, LAST, EXTREMES, TIES]
RANGES = [(0.1, 3, 0, 255), (0.1, -3, -128, 127), (0.03, 0, 0, 15), (7.5, 100, 0, 255), (1e-3, 0, -2147483648, 2147483647), (-0.1, 3, 0, 255), (0.0, 3, 0, 255)]
Q = "torch.ops.aten."


def case(name, head, body, *args):
    CASES.append((name, f"def f({head}):\n    return {body}", args))


for number, x in enumerate(INPUTS):
    for scale, point, low, high in RANGES:
        for dtype in ("float", "double", "half"):
            if dtype != "float" and (scale, high) not in ((0.1, 255), (1e-3, 2147483647)):
                continue
            of = f"x.{dtype}()" if dtype != "float" else "x"
            case(f"tensor/{number}/{scale}/{low}/{dtype}", "x: Tensor",
                 f"torch.fake_quantize_per_tensor_affine({of}, {scale}, {point}, {low}, {high}), "
                 f"{Q}fake_quantize_per_tensor_affine_cachemask({of}, {scale}, {point}, {low}, {high})", x)
    for point in (torch.tensor(3, dtype=torch.int32), torch.tensor([3]), torch.tensor(3.7), torch.tensor(300)):
        case(f"qparams/{number}/{point.dtype}", "x: Tensor, s: Tensor, z: Tensor", "torch.fake_quantize_per_tensor_affine(x, s, z, 0, 255)", x, torch.tensor(0.1), point)
    for on in (0, 1, 2):
        case(f"switch/{number}/{on}", "x: Tensor, s: Tensor, z: Tensor, on: Tensor", f"{Q}_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(x, s, z, on, 0, 255)",
             x, torch.tensor([0.1]), torch.tensor([3], dtype=torch.int32), torch.tensor([on]))
    for point in (0.0, 2.5, 3.5, -3.7, 300.0, -200.0):
        case(f"learned/{number}/{point}", "x: Tensor, s: Tensor, z: Tensor", "torch._fake_quantize_learnable_per_tensor_affine(x, s, z, -128, 127, 1.0)",
             x, torch.tensor([0.1]), torch.tensor([point]))
for view in ("x.transpose(1, 3)", "x[:, :, 1:3]", "x[:, :, :1].expand(2, 3, 4, 5)", "x.flip(1)[..., ::2]"):
    case(f"view/{view}", "x: Tensor", f"torch.fake_quantize_per_tensor_affine({view}, 0.1, 3, 0, 255)", IMAGE)

# Quantization per channel, with zero points that are integers, that are floats, and that are learned.
POINTS = [("int", torch.tensor([1, 200, 3], dtype=torch.int32)), ("float", torch.tensor([1.5, -2.25, 300.0])), ("half", torch.tensor([1.5, -2.25, 300.0]).half())]
for number, x in enumerate([IMAGE, LAST, numbers(2, 3), numbers(4, 3, 2), EXTREMES.reshape(6, 3), TIES.reshape(300, 3)]):
    for kind, points in POINTS:
        for dtype in ("float", "double", "half"):
            of = f"x.{dtype}()" if dtype != "float" else "x"
            case(f"channels/{number}/{kind}/{dtype}", "x: Tensor, s: Tensor, z: Tensor",
                 f"torch.fake_quantize_per_channel_affine({of}, s, z, 1, 0, 255), {Q}fake_quantize_per_channel_affine_cachemask({of}, s, z, 1, 0, 255)",
                 x, torch.tensor([0.1, 0.2, 0.03]), points)
    case(f"channels_learned/{number}", "x: Tensor, s: Tensor, z: Tensor", "torch._fake_quantize_learnable_per_channel_affine(x, s, z, 1, -128, 127, 1.0)",
         x, torch.tensor([0.1, 0.2, 0.03]), torch.tensor([2.5, -3.5, 200.0]))
case("channels_learned_int", "x: Tensor, s: Tensor, z: Tensor", "torch._fake_quantize_learnable_per_channel_affine(x, s, z, 1, 0, 255, 1.0), "
     "torch._fake_quantize_learnable_per_channel_affine(x, s, z.long(), 1, 0, 2, 1.0)", IMAGE, torch.tensor([0.1, 0.2, 0.03]), torch.tensor([1, 2, 3], dtype=torch.int32))
case("channels_first", "x: Tensor, s: Tensor, z: Tensor", "torch.fake_quantize_per_channel_affine(x, s, z, 0, 0, 255)", IMAGE, torch.tensor([0.1, 0.2]), torch.tensor([0, 3], dtype=torch.int32))
case("channels_strided", "x: Tensor, s: Tensor, z: Tensor", "torch.fake_quantize_per_channel_affine(x.transpose(1, 3)[:, 1:3], s[::2], z[::2], 1, 0, 255)",
     IMAGE, torch.tensor([0.1, 9.0, 0.2]), torch.tensor([0, 9, 3], dtype=torch.int32))

# Calls that PyTorch and Taper refuse.
for body in ("torch.fake_quantize_per_tensor_affine(x, 0.1, 300, 0, 255)", "torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 5, 2)", "torch.fake_quantize_per_tensor_affine(x.int(), 0.1, 3, 0, 255)",
             "torch.fake_quantize_per_tensor_affine(x, s, z, 0, 255)", "torch.fake_quantize_per_channel_affine(x, s, z, 0, 0, 255)", "torch.fake_quantize_per_channel_affine(x, s, z, -1, 0, 255)",
             "torch.fake_quantize_per_channel_affine(x, s, z.long(), 1, 0, 255)", "torch.fake_quantize_per_channel_affine(x, s, z + 300, 1, 0, 255)",
             "torch.fake_quantize_per_channel_affine(x, s.double(), z, 1, 0, 255)", "torch._fake_quantize_learnable_per_channel_affine(x, s.double(), z, 1, 0, 255, 1.0)",
             "torch.fake_quantize_per_tensor_affine(torch.quantize_per_tensor(x, 0.1, 0, torch.quint8), 0.1, 3, 0, 255)"):
    case(f"refused/{body}", "x: Tensor, s: Tensor, z: Tensor", body, IMAGE, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3], dtype=torch.int32))

# Moving-average observers, which write to the ranges, the scale and the zero point.
for number, (x, low, high) in enumerate([(IMAGE, -1.0, 1.0), (LAST, float("inf"), -float("inf")), (numbers(3, 7) + 20, 1.0, 2.0), (EXTREMES[:6], -0.5, 0.0), (numbers(0), -1.0, 1.0), (IMAGE * 1e-7, 0.0, 0.0)]):
    for on in ((0, 0), (0, 1), (1, 0), (1, 1)):
        for symmetric, least, most in ((False, 0, 255), (True, 0, 255), (True, -128, 127), (False, 0, 127)):
            row = f"torch.fused_moving_avg_obs_fake_quant(x, torch.tensor([{on[0]}]), torch.tensor([{on[1]}]), a, b, s, z, 0.01, {least}, {most}, 0, False, {symmetric})"
            case(f"observed/{number}/{on}/{symmetric}/{least}/{most}", "x: Tensor, a: Tensor, b: Tensor, s: Tensor, z: Tensor", f"{row}, a, b, s, z",
                 x, torch.tensor(low), torch.tensor(high), torch.tensor([1.0]), torch.tensor([0], dtype=torch.int32))
for number, x in enumerate([numbers(3, 7), numbers(3, 2, 2, 2), numbers(3, 4)]):
    for on in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row = f"{Q}_fused_moving_avg_obs_fq_helper(x, torch.tensor([{on[0]}]), torch.tensor([{on[1]}]), a, b, s, z, 0.25, -128, 127, 0, True, True)"
        case(f"observed_rows/{number}/{on}", "x: Tensor, a: Tensor, b: Tensor, s: Tensor, z: Tensor", f"{row}, a, b, s, z",
             x, torch.tensor([-1.0, -2.0, 0.0]), torch.tensor([1.0, 2.0, 0.0]), torch.tensor([1.0, 1.0, 1.0]), torch.tensor([0, 0, 0], dtype=torch.int32))


def trained(backend="qnnpack"):
    """Returns a module prepared for quantization-aware training, as it is exported for evaluation."""
    torch.manual_seed(0)
    config = torch.ao.quantization.get_default_qat_qconfig(backend)
    prepared = nn.Sequential(config.activation(), nn.qat.Conv2d(3, 4, 3, qconfig=config), nn.ReLU(), config.activation(), nn.qat.Conv2d(4, 2, 1, qconfig=config)).train()
    for i in range(3):
        prepared(numbers(2, 3, 8, 8 + i))
    return prepared.eval()


for backend in ("qnnpack", "fbgemm"):
    CASES.append((f"trained/{backend}", lambda backend=backend: trained(backend), (numbers(1, 3, 8, 8),)))
    CASES.append((f"frozen/{backend}", lambda backend=backend: trained(backend).apply(torch.ao.quantization.disable_observer), (numbers(1, 3, 8, 8),)))
