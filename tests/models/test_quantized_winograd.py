#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_quantized_winograd.py TAPER

Tests quantized convolutions of 3x3 with stride 1. They must give PyTorch's bytes with each algorithm, in the first run and in later runs, with one to
six threads, with every instruction set of this machine that has transforms, and with --memory low. Covers sizes that fill tiles and that do not,
paddings, dilations, batches, zero points, and weights whose transformed sums would be too large, which are multiplied directly. Winograd's transforms
must be chosen exactly if they are faster."""
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
except ImportError:
    print("skipped: PyTorch 1.13 (python3-torch) is not installed")
    sys.exit(77)

from torch.nn.intrinsic.quantized import ConvReLU2d
from torch.nn.quantized import Conv2d

torch.backends.quantized.engine = "qnnpack"
TRANSFORM = ("avx2", "avx512", "avx512vnni", "neon", "neon32", "simd128")


class Layer(torch.nn.Module):
    def __init__(self, conv, scale, zero_point):
        super().__init__()
        self.conv, self.scale, self.zero_point = conv, scale, zero_point

    def forward(self, x):
        return self.conv(torch.quantize_per_tensor(x, self.scale, self.zero_point, torch.quint8)).int_repr()


def cases():
    """Yields (in, out, height, width, batch, padding, dilation, zero point, relu, magnitude of weights, True if Winograd's transforms must be chosen;
    None: both are equally fast)."""
    yield 64, 64, 56, 56, 1, 1, 1, 0, True, 30, True
    yield 128, 128, 28, 28, 1, 1, 1, 0, False, 30, True
    yield 256, 128, 28, 28, 1, 1, 1, 7, True, 127, True
    yield 256, 256, 14, 14, 1, 1, 1, 0, True, 30, None  # the number of tiles is small, compared with the weights
    yield 96, 80, 29, 31, 1, 1, 1, 128, False, 127, True
    yield 34, 50, 33, 18, 3, 0, 1, 3, True, 60, True
    yield 64, 48, 41, 37, 2, (2, 1), (2, 1), 255, False, 127, True
    yield 64, 64, 40, 40, 1, 3, 3, 9, True, 30, True
    yield 320, 32, 30, 30, 1, 1, 1, 100, False, "most", False  # the transformed sums would be too large, so the layer uses direct sums
    yield 228, 32, 30, 30, 1, 1, 1, 255, False, "most", True  # the transformed sums are just small enough
    yield 33, 32, 30, 30, 1, 1, 1, 1, False, 30, False  # the number of input channels is odd
    yield 16, 64, 30, 30, 1, 1, 1, 1, False, 30, False  # fewer input channels than a vector has lanes


def layer(number, i, o, padding, dilation, zero_point, relu, magnitude):
    torch.manual_seed(number)
    w = torch.full((o, i, 3, 3), -128) if magnitude == "most" else torch.randint(-magnitude, magnitude + 1, (o, i, 3, 3))
    if magnitude == "most":
        w[::2] = 127
    scales = torch.rand(o, dtype=torch.float64) * 0.02 + 0.005
    conv = (ConvReLU2d if relu else Conv2d)(i, o, 3, padding=padding, dilation=dilation)
    conv.set_weight_bias(torch._make_per_channel_quantized_tensor(w.to(torch.int8), scales, torch.zeros(o, dtype=torch.int64), 0), torch.randn(o))
    conv.scale, conv.zero_point = (4.0 if magnitude == "most" else 0.01 * i ** 0.5 * magnitude / 30), 12
    return Layer(conv, 0.05, zero_point).eval()


def run(taper, *arguments):
    p = subprocess.run([taper, *arguments], capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(p.stderr.strip()[-300:])
    return p.stdout


def kernel_of(taper, model, sizes, *options):
    told = json.loads(run(taper, "bench", model, "--input-dims", ",".join(map(str, sizes)), "--iter", "2", "--warmup", "1", "--profile", "--json", *options))
    return next(op["kernel"] for op in told["ops"] if "conv" in op["name"])


def main():
    taper, passed, failed, sets = sys.argv[1], 0, 0, []

    def check(good, what):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print("FAILED", what, flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        model, out = os.path.join(scratch, "m.pt"), os.path.join(scratch, "y.npz")
        for number, (i, o, h, w, n, padding, dilation, zero_point, relu, magnitude, pays) in enumerate(cases()):
            module = layer(number, i, o, padding, dilation, zero_point, relu, magnitude)
            inputs = [torch.rand(n, i, h, w) * 14 - 0.05 * zero_point for _ in range(3)]
            if magnitude == "most":
                inputs[1], inputs[2] = torch.full((n, i, h, w), 20.0), torch.full((n, i, h, w), -20.0)
            torch.jit.trace(module, inputs[0]).save(model)
            with torch.no_grad():
                wanted = [module(x).numpy() for x in inputs]
            for k, x in enumerate(inputs):
                np.save(os.path.join(scratch, f"{k}.npy"), x.numpy())
            with open(os.path.join(scratch, "calls.json"), "w") as f:
                json.dump([{"method": "forward", "inputs": [{"@tensor": os.path.join(scratch, f"{k}.npy")}]} for k in (0, 1, 2)], f)
            name = f"{i} to {o}, {n} x {h} x {w}, padding {padding}, dilation {dilation}, zero point {zero_point}"
            if number == 0:  # the instruction sets of this machine that have transforms
                there = subprocess.run([taper, "run", model, "--cpu", "none"], capture_output=True, text=True).stderr.rpartition("there are: ")[2].strip().split(", ")
                sets = [s for s in there if s in TRANSFORM]
            for options in ([], ["--memory", "low"], *(["--threads", str(t)] for t in (2, 3, 6)), *(["--cpu", s] for s in sets), ["--cpu", "scalar"]):
                run(taper, "run", model, "--calls", os.path.join(scratch, "calls.json"), "-o", out, *options)
                y = np.load(out)
                for k in (0, 1, 2):
                    check((y[f"{k}.output"] == wanted[k]).all(), f"{name}, {options}: call {k} differs by up to "
                          f"{np.abs(y[f'{k}.output'].astype(int) - wanted[k]).max()}")
            for s in sets:
                kernel = kernel_of(taper, model, inputs[0].shape, "--cpu", s)
                if pays is not None and (s.startswith("avx512") or number in (0, 1, 8, 9, 10)):
                    check(kernel.startswith("winograd_i8") == pays, f"{name}: {kernel} was chosen by {s}")
                check(not kernel_of(taper, model, inputs[0].shape, "--cpu", s, "--memory", "low").startswith("winograd"),
                      f"{name}: transformed by {s} with --memory low")
        check("TAPER_USE_winograd_k3" in run(taper, "ops", model, "--config"), "--config of a quantized layer lacks the transforms")
    print(f"{passed} passed, {failed} failed; instruction sets: {' '.join(sets) or 'none that transforms'}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
