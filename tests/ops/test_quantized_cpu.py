# SPDX-License-Identifier: BSD-2-Clause
"""Cases for oracle.py: quantized layers whose weights have no zero points, which the CPU backend's kernels require. The sizes reach each path
of the kernels: tails of rows, columns, channels and depth, borders, stems with few channels, groups, depthwise. Integers must be equal."""
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from test_quantized_layer import float_layer, layer  # noqa: E402

torch.backends.quantized.engine = "qnnpack"
q = torch.ops.quantized
rng = np.random.default_rng(11)
CASES = []


def pick(*items):
    return items[int(rng.integers(len(items)))]


def floats(*shape):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


def weight(shape, per_channel):
    w = floats(*shape)
    if not per_channel:
        return torch.quantize_per_tensor(w, float(rng.uniform(0.01, 0.03)), 0, torch.qint8)
    n = shape[0]
    return torch.quantize_per_channel(w, torch.from_numpy(rng.uniform(0.005, 0.03, n)), torch.zeros(n, dtype=torch.int64), 0, torch.qint8)


def case(name, x, outs, kernel, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    """Adds a case. The scales of input and result keep most of the result within its range."""
    rank = len(kernel)
    depth = x.shape[1] // groups * int(np.prod(kernel))
    packed = getattr(q, f"conv{rank}d_prepack")(weight([outs, x.shape[1] // groups, *kernel], rng.random() < 0.5), floats(outs) if rng.random() < 0.8 else None,
                                                list(stride), list(padding), list(dilation), groups)
    numbers = [float(rng.uniform(0.01, 0.03)), pick(0, 255, int(rng.integers(0, 256))), float(rng.uniform(0.01, 0.06) * depth**0.5), pick(0, 255, int(rng.integers(0, 256)))]
    if rank == 2 and rng.random() < 0.5:
        x = x.contiguous(memory_format=torch.channels_last)
    operator = f"quantized.conv{rank}d" + pick("", "_relu")
    CASES.append((f"{name}-{operator}-{tuple(x.shape)}-{outs}-k{kernel}-s{stride}-p{padding}-d{dilation}-g{groups}", layer(operator, packed), (x, *numbers)))


for ins in (5, 8, 12, 15, 16, 33):  # pointwise convolutions, with numbers of channels around the kernels' widths
    for outs in (1, 7, 16, 17, 31, 32, 33, 65):
        case("pointwise", floats(pick(1, 2), ins, pick(1, 3, 7), pick(1, 4, 9)), outs, (1, 1))
for i in range(40):
    kernel = [pick(1, 2, 3, 5), pick(1, 2, 3, 7)]
    dilation = (pick(1, 1, 2), pick(1, 1, 3))
    size = [d * (k - 1) + 1 + int(rng.integers(0, 7)) for k, d in zip(kernel, dilation)]
    groups = pick(1, 1, 1, 2, 3)
    case("dense", floats(pick(1, 2, 3), groups * pick(2, 5, 8, 13), *size), groups * pick(3, 16, 21), tuple(kernel), (pick(1, 2, 3), pick(1, 2)),
         tuple(int(rng.integers(0, k + 1)) for k in kernel), dilation, groups)
for ins in (1, 2, 3, 4):  # first layers, with few input channels
    for kernel in ((3, 3), (7, 7), (2, 5), (1, 3)):
        case("stem", floats(pick(1, 2), ins, pick(9, 16), pick(7, 13)), pick(5, 32, 40), kernel, (pick(1, 2), pick(1, 2)), (kernel[0] // 2, int(rng.integers(0, kernel[1]))),
             (pick(1, 2) if kernel[0] < 4 else 1, 1))
for channels in (2, 3, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 97, 130, 144):  # depthwise convolutions, with numbers of channels around the vectors' widths
    for kernel in ((3, 3), pick((5, 5), (1, 3), (3, 1), (2, 2), (7, 7), (4, 3))):
        dilation = (pick(1, 1, 2), pick(1, 1, 2))
        size = [max(1, d * (k - 1) + 1 - pick(0, 2) + int(rng.integers(0, 9))) for k, d in zip(kernel, dilation)]
        padding = tuple(d * (k - 1) // 2 + (1 if s < d * (k - 1) + 1 else 0) for k, d, s in zip(kernel, dilation, size))
        case("depthwise", floats(pick(1, 2), channels, *size), channels, kernel, (pick(1, 2), pick(1, 2, 3)), padding, dilation, channels)
for i in range(12):  # convolutions over one dimension
    groups = pick(1, 1, 2, 8)
    ins = 8 if groups == 8 else groups * pick(1, 3, 8)
    case("line", floats(pick(1, 2), ins, int(rng.integers(5, 20))), 8 if groups == 8 else groups * pick(4, 9), (pick(1, 3, 5),), (pick(1, 2),), (pick(0, 1, 2),), (pick(1, 1, 2),), groups)
case("large", floats(1, 64, 28, 28), 128, (3, 3), (2, 2), (1, 1))
case("large", floats(1, 512, 7, 7), 96, (3, 3), (1, 1), (1, 1))
for ins in (1, 3, 4, 31, 64, 130):  # linear layers
    for outs in (1, 15, 16, 17, 32, 33, 100):
        packed = q.linear_prepack(weight((outs, ins), rng.random() < 0.5), floats(outs) if rng.random() < 0.8 else None)
        x = floats(*pick([1], [4], [5, 3], [2, 3, 4], [29]), ins)
        numbers = [float(rng.uniform(0.01, 0.03)), int(rng.integers(0, 256)), float(rng.uniform(0.01, 0.06) * ins**0.5), int(rng.integers(0, 256))]
        operator = "quantized.linear" + pick("", "_relu")
        CASES.append((f"{operator}-{tuple(x.shape)}-{outs}", layer(operator, packed), (x, *numbers)))
        operator = pick("quantized.linear_dynamic", "quantized.linear_relu_dynamic")
        CASES.append((f"{operator}-{tuple(x.shape)}-{outs}", float_layer(operator, packed), (x * pick(0.01, 1.0, 50.0),)))
# Averages: QNNPACK's factor is scale / (scale * size), which differs from 1 / size for some scales.
AVERAGES = {"adaptive": "torch.nn.functional.adaptive_avg_pool2d(y, 1)", "3": "torch.nn.functional.avg_pool2d(y, 3, 2, 1)",
            "5x2": "torch.nn.functional.avg_pool2d(y, [5, 2], [1, 2])"}
for size in ((6, 5), (7, 7), (9, 13), (10, 6)):
    for kind, pool in AVERAGES.items():
        for i in range(3):
            x = (floats(1, pick(24, 65, 672), *size) * 40).contiguous(memory_format=torch.channels_last)
            source = f"def f(x, s: float, z: int):\n    y = torch.quantize_per_tensor(x, s, z, torch.quint8)\n    return {pool}"
            CASES.append((f"average-{kind}-{tuple(x.shape)}-{i}", source, (x, float(rng.uniform(0.1, 0.5)), int(rng.integers(60, 200)))))
# Stems and depthwise 3x3 layers whose kernels process whole rows: groups of four planes with one, two or three planes left over, padding up to the
# kernel's width, odd numbers of rows, and parts of a row.
for ins in (1, 2, 3, 4):
    for kernel in ((3, 3), (7, 7), (5, 5), (1, 3), (3, 6), (4, 4), (2, 2), (5, 9)):
        dilation = (pick(1, 2) if kernel[0] < 5 else 1, 1)
        case("wide-stem", floats(pick(1, 2), ins, 2 * kernel[0] + int(rng.integers(0, 14)), int(rng.integers(28, 90))), pick(5, 16, 24, 32, 40, 64), kernel, (pick(1, 2), pick(1, 2)),
             (kernel[0] // 2, int(rng.integers(0, kernel[1]))), dilation)
for channels in (8, 16, 24, 32, 48, 64, 72, 96, 120, 128, 144, 200):
    for stride in ((1, 1), (2, 2)):
        case("wide-depthwise", floats(pick(1, 2), channels, int(rng.integers(1, 40)), int(rng.integers(2, 60))), channels, (3, 3), stride, (1, pick(0, 1, 1, 2)), (1, 1), channels)
