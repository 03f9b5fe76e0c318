#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_bands.py TAPER

Compares layers that are computed some rows at a time (src/ops/call/bands.h) with PyTorch in float64: the first call of a model, which computes
whole layers, and later calls, which replay the layers in bands. Covers strides, kernels, paddings, dilations, batches and activations, residual
sums, images of odd sizes, several threads, alternating inputs and sizes, and inputs that outlive the call or do not. Bands must be used exactly by
the networks for which they are useful. Quantized layers must give PyTorch's integers."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
warnings.filterwarnings("ignore")
try:
    import numpy as np
    import torch
    from torch import nn
    from torch.nn import quantized as nnq
    from torch.nn.intrinsic import quantized as nniq
except ImportError:
    print("skipped: PyTorch 1.13 (python3-torch) is not installed")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling  # noqa: E402

ACTIVATIONS = {"relu": nn.ReLU, "six": nn.ReLU6, "hard": nn.Hardswish, "silu": nn.SiLU, "none": nn.Identity}


def conv(i, o, kernel=1, stride=1, padding=None, groups=1, dilation=1, act="six", norm=True):
    padding = (kernel - 1) * dilation // 2 if padding is None else padding
    parts = [nn.Conv2d(i, o, kernel, stride, padding, dilation, groups, bias=not norm)]
    if norm:
        parts.append(nn.BatchNorm2d(o))
        nn.init.uniform_(parts[1].weight, 0.5, 2)
        nn.init.uniform_(parts[1].running_var, 0.5, 2)
        nn.init.uniform_(parts[1].running_mean, -1, 1)
    return nn.Sequential(*parts, ACTIVATIONS[act]())


class Residual(nn.Module):
    def __init__(self, inner, activation="none"):
        super().__init__()
        self.inner, self.activation = inner, ACTIVATIONS[activation]()

    def forward(self, x):
        return self.activation(x + self.inner(x))


class Twice(nn.Module):
    """Two layers whose intermediate value is used twice, so bands are not possible."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x):
        y = self.first(x)
        return self.second(y).mean() + y.mean()


def inverted(i, wide, o, kernel=3, stride=1, act="six", residual=False, padding=None):
    layers = nn.Sequential(conv(i, wide, act=act), conv(wide, wide, kernel, stride, padding, wide, act=act), conv(wide, o, act="none"))
    return Residual(layers) if residual else layers


def ends(channels, *layers):
    """Adds a layer at each end that is not computed in bands; the first layer converts NCHW to the layout of the layers between."""
    return nn.Sequential(conv(channels, channels, act="relu"), *layers, nn.AdaptiveAvgPool2d((3, 5)))


def cases():
    """Yields name, network, sizes, and true if bands must be used."""
    yield "expand, 3x3 with stride 2, project", ends(16, inverted(16, 96, 24, stride=2)), (1, 16, 160, 144), True
    yield "with a sum", ends(24, inverted(24, 144, 24, residual=True), inverted(24, 144, 24, residual=True)), (1, 24, 113, 121), True
    yield "5x5, stride 2, hard swish", ends(24, inverted(24, 72, 40, 5, 2, "hard")), (1, 24, 150, 168), True
    yield "5x5, silu, a batch", ends(16, inverted(16, 64, 16, 5, 1, "silu", True)), (3, 16, 97, 90), True
    yield "7x7", ends(16, inverted(16, 64, 16, 7, 1, "relu")), (1, 16, 140, 133), True
    yield "no padding", ends(16, inverted(16, 80, 16, padding=0)), (1, 16, 131, 127), True
    yield "padding of two", ends(16, inverted(16, 80, 16, padding=2)), (2, 16, 99, 127), True
    yield "no activation, no norm", ends(16, nn.Sequential(
        conv(16, 112, act="none", norm=False), conv(112, 112, 3, 2, groups=112, act="none", norm=False),
        conv(112, 20, act="none", norm=False))), (1, 16, 128, 128), True
    yield "two layers", ends(16, conv(16, 96), conv(96, 96, 3, 1, groups=96)), (1, 16, 150, 150), True
    yield "pointwise ones alone", ends(16, conv(16, 96), conv(96, 96, act="hard"), conv(96, 16)), (1, 16, 150, 150), True
    yield "an image's first layers", nn.Sequential(
        conv(3, 32, 3, 2), conv(32, 32, 3, 1, groups=32), conv(32, 16, act="none"), inverted(16, 96, 24, stride=2),
        inverted(24, 144, 24, residual=True)), (1, 3, 288, 320), True
    yield "an image of 7x7", nn.Sequential(conv(3, 64, 7, 2, act="relu"), conv(64, 64, 3, 2, groups=64), conv(64, 8)), (2, 3, 301, 333), True
    yield "a first layer with stride 1", nn.Sequential(conv(3, 32, 3, 1, dilation=1), conv(32, 32, 3, 2, groups=32)), (1, 3, 190, 201), True
    yield "a grey image", nn.Sequential(conv(1, 32, 5, 1), conv(32, 32, 3, 2, groups=32)), (1, 1, 211, 190), True
    yield "an image and its pool", nn.Sequential(conv(3, 64, 7, 2, act="relu"), nn.MaxPool2d(3, 2, 1), conv(64, 24)), (1, 3, 259, 260), True
    yield "an image and its pool, again", nn.Sequential(conv(3, 64, 3, 1, act="six"), nn.MaxPool2d(2, 2), conv(64, 24)), (2, 3, 131, 120), True
    yield "a pool whose windows lie apart", ends(16, conv(16, 96), nn.MaxPool2d(3, 2, 1, dilation=2, ceil_mode=True), conv(96, 8)), \
        (1, 16, 150, 151), True
    yield "averages", ends(16, conv(16, 96), nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), conv(96, 8)), (2, 16, 120, 111), True
    yield "averages of few", ends(16, conv(16, 96), nn.AvgPool2d((2, 3), (1, 2)), conv(96, 96, 3, groups=96)), (1, 16, 120, 151), True
    yield "narrow and tall", ends(16, inverted(16, 96, 16)), (1, 16, 1500, 15), True
    yield "rings of less than a kilobyte", ends(1, inverted(1, 5, 2)), (1, 1, 31000, 2), True
    yield "long rows", ends(8, inverted(8, 48, 8)), (1, 8, 9, 9000), None
    yield "small images", ends(16, inverted(16, 96, 16)), (1, 16, 14, 14), False
    yield "looked at twice", Twice(conv(16, 96), conv(96, 96, 3, groups=96)), (1, 16, 150, 150), False


def quantized(i, o, kernel=1, stride=1, padding=None, groups=1, dilation=1, act=True, point=3):
    padding = (kernel - 1) * dilation // 2 if padding is None else padding
    layer = (nniq.ConvReLU2d if act else nnq.Conv2d)(i, o, kernel, stride, padding, dilation, groups)
    weight = torch.randn(o, i // groups, kernel, kernel)
    scales = weight.abs().amax((1, 2, 3)).clamp(min=1e-3).double() / 127
    layer.set_weight_bias(torch.quantize_per_channel(weight, scales, torch.zeros(o, dtype=torch.long), 0, torch.qint8), torch.randn(o))
    layer.scale, layer.zero_point = 0.05 * (kernel * kernel * i // groups) ** 0.5, point if act else 120
    return layer


class QuantizedResidual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner, self.sum = inner, nnq.QFunctional()
        self.sum.scale, self.sum.zero_point = 0.2, 110

    def forward(self, x):
        return self.sum.add(x, self.inner(x))


class QuantizedSum(nn.Module):
    """Sums the results of two layers with one input; `order` selects the layer that is computed last, and the first summand."""
    def __init__(self, first, second, order):
        super().__init__()
        self.first, self.second, self.order, self.sum = first, second, order, nnq.QFunctional()
        self.sum.scale, self.sum.zero_point = 0.15, 20

    def forward(self, x):
        if self.order == 0:
            a = self.first(x)
            return self.sum.add_relu(a, self.second(x))
        if self.order == 1:
            b = self.second(x)
            return self.sum.add_relu(self.first(x), b)
        if self.order == 2:
            return self.sum.add_relu(self.first(x), x)
        a = self.first(x)
        return self.sum.add(a, a)


def quantized_ends(channels, *layers):
    return nn.Sequential(nnq.Quantize(0.03, 121, torch.quint8), quantized(channels, channels), *layers, nnq.DeQuantize())


def quantized_inverted(i, wide, o, kernel=3, stride=1, padding=None, dilation=1):
    return nn.Sequential(quantized(i, wide, point=0), quantized(wide, wide, kernel, stride, padding, wide, dilation, point=7),
                         quantized(wide, o, act=False))


def quantized_cases():
    yield "int8, 3x3 with stride 2", quantized_ends(16, quantized_inverted(16, 96, 24, stride=2)), (1, 16, 160, 144), True
    yield "int8, 3x3 and a sum", quantized_ends(24, QuantizedResidual(quantized_inverted(24, 144, 24))), (1, 24, 113, 121), True
    yield "int8, 5x5, a batch", quantized_ends(16, quantized_inverted(16, 64, 12, 5)), (3, 16, 117, 111), True
    yield "int8, 5x5, stride 2", quantized_ends(16, quantized_inverted(16, 72, 40, 5, 2)), (1, 16, 150, 141), True
    yield "int8, taps apart", quantized_ends(16, quantized_inverted(16, 72, 16, dilation=2)), (1, 16, 131, 140), True
    yield "int8, no padding", quantized_ends(16, quantized_inverted(16, 80, 16, padding=0)), (1, 16, 131, 127), True
    yield "int8, padding of two", quantized_ends(16, quantized_inverted(16, 84, 16, padding=2)), (2, 16, 119, 127), True
    yield "int8, two layers", quantized_ends(16, quantized(16, 96), quantized(96, 96, 3, groups=96)), (1, 16, 150, 150), True
    yield "int8, pointwise ones alone", quantized_ends(16, quantized(16, 96), quantized(96, 100), quantized(100, 16)), (1, 16, 150, 150), True
    yield "int8, an image's first layers", nn.Sequential(
        nnq.Quantize(0.03, 121, torch.quint8), quantized(3, 32, 3, 2), quantized(32, 32, 3, groups=32), quantized(32, 16, act=False),
        quantized_inverted(16, 96, 24, stride=2), nnq.DeQuantize()), (2, 3, 289, 320), True
    yield "int8, narrow and tall", quantized_ends(16, quantized_inverted(16, 96, 16)), (1, 16, 1500, 15), True
    yield "int8, small images and their sum", quantized_ends(48, QuantizedResidual(quantized(48, 48, act=False))), (1, 48, 21, 19), False
    yield "int8, sums of two layers", quantized_ends(
        32, QuantizedSum(quantized(32, 48), quantized(32, 48, act=False), 0), QuantizedSum(quantized(48, 80, act=False), quantized(48, 80), 1),
        QuantizedSum(quantized(80, 80), None, 2)), (2, 32, 35, 17), False
    yield "int8, a chain of sums", quantized_ends(40, *(QuantizedResidual(nn.Sequential(
        quantized(40, 24), quantized(24, 24, 3), quantized(24, 40, act=False))) for _ in range(4))), (3, 40, 29, 31), False
    yield "int8, twice the same", quantized_ends(40, QuantizedSum(quantized(40, 48), None, 3)), (1, 40, 21, 19), False
    yield "int8, few rows and a sum", quantized_ends(48, QuantizedResidual(quantized(48, 48, act=False))), (1, 48, 5, 70), False
    yield "int8, small images", quantized_ends(16, quantized_inverted(16, 96, 16)), (1, 16, 14, 14), False


def fitted(sizes):
    """Adapts sizes for an L2 cache of 1 MB to this machine's: a smaller cache holds the same number of rows of a narrower image."""
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index2/size", encoding="ascii") as f:
            text = f.read().strip()
        kilobytes = int(text[:-1]) * {"K": 1, "M": 1024}[text[-1]]
    except (OSError, ValueError, KeyError):
        return sizes
    times = max(1, 1024 // max(kilobytes, 64))
    return (*sizes[:2], sizes[2] * times, max(sizes[3] // times, 2))


def all_cases():
    for number, (name, network, sizes, bands) in enumerate(cases()):
        yield number, name, network, fitted(sizes) if bands else sizes, bands, True
    torch.backends.quantized.engine = "qnnpack"
    torch.manual_seed(0)
    for number, (name, network, sizes, bands) in enumerate(quantized_cases()):
        yield number, name, network, fitted(sizes) if bands else sizes, bands, False


def run(taper, *arguments):
    p = subprocess.run([taper, *arguments], capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(p.stderr.strip()[-300:])
    return p.stdout


def banded_of(taper, model, sizes, threads):
    told = json.loads(run(taper, "bench", model, "--input-dims", ",".join(map(str, sizes)), "--iter", "2", "--warmup", "3", "--json",
                          "--threads", threads))
    assert told["allocations_per_iter"] == 0, told["allocations_per_iter"]
    return told["banded_operators"]


def results_of(taper, model, inputs, scratch, threads):
    """Returns the results of consecutive calls in one session."""
    calls = []
    for number, x in enumerate(inputs):
        np.save(os.path.join(scratch, f"x{number}.npy"), x)
        calls.append({"method": "forward", "inputs": ["@" + os.path.join(scratch, f"x{number}.npy")]})
    with open(os.path.join(scratch, "calls.json"), "w", encoding="utf-8") as f:
        json.dump(calls, f)
    run(taper, "run", model, "--calls", os.path.join(scratch, "calls.json"), "-o", os.path.join(scratch, "y.npz"), "--threads", threads)
    made = np.load(os.path.join(scratch, "y.npz"))
    return [made[f"{number}.output"] for number in range(len(inputs))]


def main():
    taper, passed, failed = sys.argv[1], 0, 0

    def check(good, what):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print("FAILED", what, flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        model = os.path.join(scratch, "m.pt")
        for number, name, network, sizes, bands, floats in all_cases():
            if not sampling.taken(name, 0.5):
                continue
            torch.manual_seed(number)
            x, other = torch.randn(sizes), torch.randn(*sizes[:2], sizes[2] - 3, sizes[3] + 2)
            network = network.eval()
            # Scripted networks check the ranks of values between layers.
            (torch.jit.script(network) if number % 2 else torch.jit.trace(network, x)).save(model)
            inputs = [x, x, -x, x, other, x, other, other, x]
            with torch.no_grad():
                exact = network.double() if floats else network  # computed in float64, because PyTorch's float32 results of long sums are not exact enough
                wanted = [exact(i.double() if floats else i).numpy() for i in inputs]
            for threads in ("1", "2", "3"):
                for call, (y, w) in enumerate(zip(results_of(taper, model, [i.numpy() for i in inputs], scratch, threads), wanted)):
                    off, bound = np.abs(y - w).max(), 1e-4 * np.abs(w).max() + 1e-5 if floats else 0
                    check(y.shape == w.shape and off <= bound, f"{name}, {threads} threads, call {call}: off by {off}, bound {bound}")
            used = banded_of(taper, model, sizes, "1")
            check(bands is None or (used > 0) == bands, f"{name}: {used} operators in bands")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
