#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_lines.py TAPER

Compares convolutions over one dimension and the layers after them, which are computed as images with one row (src/compiler/conv1d_to_conv2d.c),
with PyTorch. Batch norm must be fused in traced files; scripted files check ranks between the layers. Batch norm must also be fused for inputs
without a batch, over the other dimension, and with sums in place."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy as np
    import torch
    from torch import nn
except ImportError:
    print("skipped: PyTorch 1.13 (python3-torch) is not installed")
    sys.exit(77)

from running import taper


class Residual(nn.Module):
    def __init__(self, channels, in_place):
        super().__init__()
        self.inner = nn.Sequential(*layer(channels, channels), *layer(channels, channels, act=nn.Identity))
        self.relu, self.in_place = nn.ReLU(in_place), in_place

    def forward(self, x):
        y = self.inner(x)
        if self.in_place:
            y += x
        else:
            y = y + x
        return self.relu(y)


def layer(i, o, kernel=3, stride=1, groups=1, dilation=1, act=nn.ReLU):
    norm = nn.BatchNorm1d(o)
    for parameter, low, high in ((norm.weight, 0.5, 2), (norm.bias, -1, 1), (norm.running_mean, -1, 1), (norm.running_var, 0.5, 2)):
        nn.init.uniform_(parameter, low, high)
    return nn.Conv1d(i, o, kernel, stride, (kernel - 1) * dilation // 2, dilation, groups), norm, act()


def cases():
    """Yields name, module, sizes of inputs, and true if batch norm remains separate."""
    yield "layers", nn.Sequential(*layer(16, 32), *layer(32, 32, act=nn.SiLU), *layer(32, 8)), [(2, 16, 100), (1, 16, 1), (3, 16, 33), (0, 16, 5)], False
    yield "no activations", nn.Sequential(*layer(16, 32)[:2], *layer(32, 12)[:2]), [(2, 16, 50)], False
    yield "residual", nn.Sequential(*layer(8, 64, 7, 2), Residual(64, False), Residual(64, True), nn.AdaptiveAvgPool1d(1)), [(2, 8, 320), (1, 8, 64)], False
    yield "depthwise", nn.Sequential(*layer(32, 32, 9, 1, 32), *layer(32, 64, 1, act=nn.Hardswish), *layer(64, 64, 5, 2, 64), *layer(64, 32, 1, act=nn.GELU)), [(1, 32, 200)], False
    yield "dilated", nn.Sequential(*layer(64, 64, dilation=4, act=nn.LeakyReLU), *layer(64, 64, dilation=16, act=nn.Tanh)), [(1, 64, 400)], False
    yield "one channel", nn.Sequential(*layer(1, 1), *layer(1, 1)), [(2, 1, 40), (1, 1)], False
    yield "no batch", nn.Sequential(*layer(16, 32), *layer(32, 32)), [(16, 32), (2, 16, 32)], True
    yield "no batch, residual", nn.Sequential(nn.Conv1d(4, 4, 1), Residual(4, True)), [(4, 4), (1, 4, 9)], True


def main():
    program, failed, count = sys.argv[1], [], 0
    with tempfile.TemporaryDirectory() as folder:
        model, given, out = (os.path.join(folder, name) for name in ("m.pt", "x.npy", "y.npz"))
        for number, (name, module, shapes, alone) in enumerate(cases()):
            torch.manual_seed(number)
            module.eval()
            for kind in ("scripted",) if alone else ("traced", "scripted"):
                (torch.jit.trace(module, torch.randn(*shapes[0])) if kind == "traced" else torch.jit.script(module)).save(model)
                for shape in shapes:
                    x = torch.randn(*shape)
                    np.save(given, x.numpy())
                    with torch.no_grad():
                        want = module(x).numpy()
                    for options in (["--threads", "1"], ["--threads", "3"], ["--cpu", "scalar"], ["--memory", "low"]):
                        taper(program, "run", model, "-i", given, "-o", out, *options)
                        y = np.load(out)["output"]
                        count += 1
                        if y.shape != want.shape or not np.allclose(y, want, rtol=1e-4, atol=1e-4):
                            failed.append(f"{name}, {kind}, {shape}, {options}")
                told = json.loads(taper(program, "bench", model, "--input-dims", ",".join(map(str, shapes[0])), "--iter", "2", "--profile", "--json"))
                first = "rand:" + "x".join(map(str, shapes[0]))
                if subprocess.run([program, "diff", model, "-i", first], capture_output=True).returncode != 0:
                    failed.append(f"{name}, {kind}: an operator's result has another shape, or is another")
                if kind == "traced" and any("batch_norm" in op["name"] for op in told["ops"]):
                    failed.append(f"{name}, {kind}: batch norm is left")
    print("\n".join(failed) if failed else f"{count} runs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
