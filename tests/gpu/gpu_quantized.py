# SPDX-License-Identifier: BSD-2-Clause
"""Quantized models on the GPU. Their results must be bit-identical to the CPU's, at odd sizes and with sums that floats cannot represent
exactly."""
import copy
import os
import re
import subprocess

import numpy as np
import torch
from torch import nn
from torch.ao import quantization


class Quantized(nn.Module):
    """Layers between QuantStub and DeQuantStub. `then`: a function that makes several results from the result."""

    def __init__(self, *parts, then=None):
        super().__init__()
        self.quant, self.dequant, self.parts = quantization.QuantStub(), quantization.DeQuantStub(), nn.Sequential(*parts)
        self.then = then

    def forward(self, x):
        y = self.parts(self.quant(x))
        return self.dequant(y if self.then is None else self.then(y))


class Residual(nn.Module):
    def __init__(self, relu, channels=9):
        super().__init__()
        self.a, self.b = nn.Conv2d(channels, channels, 3, padding=1), nn.Conv2d(channels, channels, 1)
        self.sum, self.relu = nn.quantized.FloatFunctional(), relu

    def forward(self, x):
        return (self.sum.add_relu if self.relu else self.sum.add)(self.a(x), self.b(x))


class Product(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a, self.b, self.product = nn.Conv2d(channels, channels, 3, padding=1), nn.Conv2d(channels, channels, 1), nn.quantized.FloatFunctional()

    def forward(self, x):
        return self.product.mul(self.a(x), self.b(x))


class Excite(nn.Module):
    """Multiplies each channel by a factor, as in MobileNetV3."""

    def __init__(self, channels):
        super().__init__()
        self.a, self.b, self.product = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 1), nn.quantized.FloatFunctional()
        self.pool, self.gate = nn.AdaptiveAvgPool2d(1), nn.Hardsigmoid()

    def forward(self, x):
        y = self.a(x)
        return self.product.mul(self.gate(self.b(self.pool(y))), y)


class Joined(nn.Module):
    def __init__(self, channels, dim):
        super().__init__()
        self.a, self.b, self.joined, self.dim = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 3, padding=1), nn.quantized.FloatFunctional(), dim

    def forward(self, x):
        return self.joined.cat([self.a(x), x, self.b(x)], self.dim)


class Halved(nn.Module):
    """The GPU's first input is a quantized tensor of the CPU, which is split in two; its parts are combined with results of the GPU."""

    def __init__(self, how, channels=5):
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(channels, channels, 1) for _ in range(3))
        self.less, self.last, self.relu, self.how = nn.quantized.FloatFunctional(), nn.quantized.FloatFunctional(), nn.ReLU(), how

    def forward(self, x):
        y = self.less.mul_scalar(self.a(self.relu(x)), 0.5)
        if self.how == "relu":
            return self.b(self.relu(y))
        if self.how == "map":
            return self.b(nn.functional.hardtanh(y, -0.1, 0.2))
        return self.last.cat([self.b(y), y], 1) if self.how == "cat" else getattr(self.last, self.how)(self.b(y), y)


def converted(model, x, fuse=(), largest=False):
    model = model.eval()
    if fuse:
        model = quantization.fuse_modules(model, [[f"parts.{i}", f"parts.{i + 1}"] for i in fuse])
    if largest:  # weights of one sign, at the end of their range
        with torch.no_grad():
            for module in model.modules():
                if isinstance(module, nn.Conv2d):
                    module.weight.copy_((torch.rand_like(module.weight) > 0.02).float() * 0.02)
                    module.bias.zero_()
                    module.bias -= model(x).mean([0, 2, 3])  # the mean is removed, so that small differences between sums change the results
    model.qconfig = quantization.get_default_qconfig("qnnpack")
    prepared = quantization.prepare(copy.deepcopy(model))
    with torch.no_grad():
        for _ in range(3):
            prepared(x if largest else torch.randn_like(x))
    return quantization.convert(prepared)


def cases():
    for channels, out in ((3, 5), (4, 8), (17, 6), (64, 33)):
        yield f"conv1x1_{channels}_{out}", Quantized(nn.Conv2d(channels, out, 1)), (2, channels, 7, 5), (), False
        yield f"conv3x3_{channels}_{out}", Quantized(nn.Conv2d(channels, out, 3, 2, 1), nn.ReLU()), (2, channels, 9, 7), (0,), False
    yield "conv_dilated", Quantized(nn.Conv2d(8, 12, 3, padding=4, dilation=4)), (1, 8, 13, 11), (), False
    yield "conv_groups", Quantized(nn.Conv2d(12, 24, 3, padding=1, groups=3), nn.ReLU()), (1, 12, 9, 7), (0,), False
    yield "conv_groups_odd", Quantized(nn.Conv2d(6, 9, 3, padding=1, groups=3)), (2, 6, 9, 7), (), False
    yield "conv_no_bias", Quantized(nn.Conv2d(5, 7, (3, 1), (2, 1), (1, 0), bias=False)), (1, 5, 12, 9), (), False
    for kernel in (3, 5, 7):
        for stride in (1, 2):
            yield f"depthwise{kernel}s{stride}", Quantized(nn.Conv2d(9, 9, kernel, stride, kernel // 2, groups=9), nn.ReLU()), (2, 9, 15, 11), (0,), False
    yield "conv_largest", Quantized(nn.Conv2d(256, 64, 3)), (1, 256, 9, 8), (), True
    yield "conv_largest_one", Quantized(nn.Conv2d(1100, 9, 1)), (1, 1100, 1, 2), (), True
    yield "depthwise_largest", Quantized(nn.Conv2d(4, 4, 25, padding=12, groups=4)), (1, 4, 29, 27), (), True
    yield "add", Quantized(Residual(False)), (2, 9, 7, 5), (), False
    yield "add_relu", Quantized(Residual(True, 8)), (1, 8, 13, 12), (), False
    yield "max_pool", Quantized(nn.Conv2d(3, 9, 3), nn.MaxPool2d(3, 2, 1)), (2, 3, 13, 11), (), False
    for size in (1, (3, 2)):
        yield f"mean_{size}", Quantized(nn.Conv2d(3, 9, 1), nn.AdaptiveAvgPool2d(size)), (2, 3, 9, 8), (), False
    yield "classifier", Quantized(nn.Conv2d(3, 17, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(17, 10)), (3, 3, 9, 9), (0,), False
    yield "linear", Quantized(nn.Linear(19, 7)), (5, 19), (), False
    yield "linear_relu", Quantized(nn.Linear(33, 12), nn.ReLU(), nn.Linear(12, 3)), (1, 33), (0,), False
    yield "linear_tokens", Quantized(nn.Linear(12, 7)), (2, 11, 12), (), False
    for name, module in {"hardswish": nn.Hardswish(), "sigmoid": nn.Sigmoid(), "hardsigmoid": nn.Hardsigmoid(), "tanh": nn.Tanh(),
                         "leaky_relu": nn.LeakyReLU(0.2), "elu": nn.ELU(), "relu": nn.ReLU(), "relu6": nn.ReLU6(), "hardtanh": nn.Hardtanh(-0.3, 0.4)}.items():
        yield f"map_{name}", Quantized(nn.Conv2d(3, 9, 3), module, nn.Conv2d(9, 5, 1)), (2, 3, 9, 8), (), False
    for size in ((2, 9, 7, 5), (1, 8, 13, 12)):
        yield f"mul{size[1]}", Quantized(Product(size[1])), size, (), False
        yield f"excite{size[1]}", Quantized(Excite(size[1])), size, (), False
    for dim, channels in ((1, 8), (1, 7), (2, 9), (3, 4)):
        yield f"cat{dim}_{channels}", Quantized(Joined(channels, dim), nn.Conv2d(3 * channels if dim == 1 else channels, 5, 1)), (2, channels, 7, 5), (), False
    yield "views", Quantized(nn.Conv2d(3, 8, 1), then=lambda y: y.flatten(2).transpose(1, 2)[:, 3:9]), (2, 3, 7, 5), (), False
    for how in ("mul", "add", "cat", "relu", "map"):
        yield f"outside_{how}", Quantized(Halved(how)), (2, 5, 7, 4), (), False


def check(taper, device, folder, wanted):
    torch.backends.quantized.engine = "qnnpack"
    passed = failed = 0
    for name, model, shape, fuse, largest in cases():
        if not re.search(wanted, f"quantized_{name}"):
            continue
        x = torch.rand(*shape) * 2 + 1 if largest else torch.randn(*shape)
        path, given, out = (os.path.join(folder, part) for part in ("m.pt", "x.npy", "y.npz"))
        with torch.no_grad():
            torch.jit.trace(converted(model, x, fuse, largest), x, check_trace=False).save(path)
        if not largest:
            x.view(-1)[:4] = torch.tensor([float("nan"), float("inf"), -float("inf"), 1e30])
        np.save(given, x.numpy())
        results = []
        for where in ("cpu", device + "!"):
            run = subprocess.run([taper, "run", path, "-i", given, "-o", out, "--device", where], capture_output=True, text=True, check=False)
            results.append(np.load(out)["output"] if run.returncode == 0 else (run.stderr.strip().splitlines() or ["?"])[-1][:200])
        if any(isinstance(one, str) for one in results) or not np.array_equal(*results):
            print(f"quantized_{name}: {[one if isinstance(one, str) else (one != results[0]).sum() for one in results]}")
            failed += 1
        else:
            passed += 1
    return passed, failed
