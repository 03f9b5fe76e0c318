#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_lent_packs.py TAPER

The first run borrows packed weights, the second run stores them permanently, and later runs read the stored weights (src/ops/call/packs.c). All
runs must give the same bits, and float results must be PyTorch's within the usual tolerance. Covers layers that are called several times in a
run, two alternating sizes of input, one thread and three."""
import json
import os
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

ORDER = (0, 0, 0, 0, 1, 1, 0, 1, 1)  # index of the input of each call


class Repeated(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.conv = nn.Linear(256, 256), nn.Conv2d(64, 64, 3, padding=1)

    def forward(self, x):
        for _ in range(3):
            x = torch.relu(self.linear(x)) + x
        x = x.reshape(-1, 64, 2, 2)
        for _ in range(2):
            x = self.conv(x)
        return x


def quantized(module, *sizes):
    torch.backends.quantized.engine = "qnnpack"
    module.qconfig = torch.quantization.get_default_qconfig("qnnpack")
    module = nn.Sequential(torch.quantization.QuantStub(), module, torch.quantization.DeQuantStub())
    module.qconfig = module[1].qconfig
    torch.quantization.prepare(module, inplace=True)
    module(torch.randn(*sizes))
    return torch.quantization.convert(module)


def cases():
    """Yields name, module, sizes of two inputs, and true for a float module."""
    yield "linear", nn.Sequential(nn.Linear(192, 256), nn.ReLU(), nn.Linear(256, 320)), (4, 192), (9, 192), True
    yield "convolutions", nn.Sequential(nn.Conv2d(32, 96, 3, padding=1), nn.BatchNorm2d(96), nn.ReLU(), nn.Conv2d(96, 200, 1)), (1, 32, 19, 17), (2, 32, 9, 9), True
    yield "repeated", Repeated(), (4, 256), (6, 256), True
    yield "encoder", nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), (2, 7, 128), (1, 9, 128), True
    yield "int8 convolutions", quantized(nn.Sequential(nn.Conv2d(64, 128, 3, padding=1), nn.Conv2d(128, 640, 1)).eval(), 1, 64, 14, 14), (1, 64, 14, 14), (2, 64, 7, 7), False
    yield "int8 linear", quantized(nn.Sequential(nn.Linear(256, 512), nn.Linear(512, 256)).eval(), 4, 256), (4, 256), (7, 256), False


def main():
    program, failed = sys.argv[1], []
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        model, calls, out = (os.path.join(folder, name) for name in ("m.pt", "calls.json", "y.npz"))
        for name, module, *sizes, floats in cases():
            module.eval()
            given = [os.path.join(folder, f"x{i}.npy") for i in range(2)]
            inputs = [torch.randn(*size) for size in sizes]
            for path, x in zip(given, inputs):
                np.save(path, x.numpy())
            with torch.no_grad():
                want = [module(x).numpy() for x in inputs]
            torch.jit.script(module).save(model)
            with open(calls, "w") as f:
                json.dump([{"method": "forward", "inputs": [given[i]]} for i in ORDER], f)
            for threads in ("1", "3"):
                taper(program, "run", model, "--calls", calls, "-o", out, "--threads", threads)
                got = np.load(out)
                first = {}
                for call, i in enumerate(ORDER):
                    y = got[f"{call}.output"]
                    first.setdefault(i, y)
                    if floats and not np.allclose(y, want[i], rtol=1e-4, atol=1e-4):
                        failed.append(f"{name}, {threads} threads: call {call} is not PyTorch's")
                    if y.tobytes() != first[i].tobytes():
                        failed.append(f"{name}, {threads} threads: call {call} is not the first one's")
    print("\n".join(failed) if failed else f"{len(ORDER)} calls of each, alike")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
