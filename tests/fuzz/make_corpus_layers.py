#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_corpus_layers.py TAPER: writes the seeds of fuzz_optimize, fuzz_quantize and fuzz_program that PyTorch makes, to corpus/ next to this file:
the cases of the passes (tests/models/optimize_cases.py) and small float networks. A seed is a byte of choices (see fuzz_*.c) and a flatbuffer that
TAPER wrote. The networks accept the fuzz targets' generated input, float32 [1, 3, 8, 8]."""
import os
import subprocess
import sys
import tempfile
import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import optimize_cases  # noqa: E402
import test_old_bytecode  # noqa: E402

warnings.simplefilter("ignore")
# Choices of make_corpus_optimize.py: the choices in INEXACT allow sums in another order than the model's, the choices
# in EXACT do not.
INEXACT, EXACT = (0, 1, 2, 24 + 32, 1 + 192), (3, 4 + 64, 5 + 32, 6 + 128)


class One(nn.Module):
    """Runs a case on its own argument plus an element of the generated input."""

    def __init__(self, inner, arguments):
        super().__init__()
        self.inner = inner
        for i, a in enumerate(arguments):
            self.register_buffer(f"a{i}", a)

    def forward(self, x):
        return self.inner(self.a0 + x[0, 0, 0, 0])


class Two(One):
    def forward(self, x):
        return self.inner(self.a0 + x[0, 0, 0, 0], self.a1 + x[0, 0, 0, 1])


class Convolutions(nn.Module):
    """Layers whose neighbours can be equalized, a residual sum, a join, and tables."""

    def __init__(self):
        super().__init__()
        self.stem, self.deep, self.wide = nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1)
        self.norm, self.squeeze, self.excite = nn.BatchNorm2d(8), nn.Conv2d(8, 2, 1), nn.Conv2d(2, 8, 1)
        self.last = nn.Linear(16, 3)

    def forward(self, x):
        x = F.relu6(self.norm(self.stem(x)))
        y = self.wide(F.relu(self.deep(x)))
        y = y * torch.sigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))))
        y = F.relu(x + y)
        y = torch.cat([F.hardswish(y), F.max_pool2d(y, 3, 1, 1)], 1)
        return self.last(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1))


class Upwards(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.up, self.norm = nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(4, 4, 2, 2), nn.BatchNorm2d(4)
        self.act, self.last = nn.ELU(), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        y = self.up(self.act(self.first(x)))
        y = F.leaky_relu(self.norm(y), 0.1)
        y = F.interpolate(y, size=[8, 8], mode="bilinear", align_corners=False)
        a, b = torch.chunk(self.last(y), 2, 1)
        return {"out": torch.tanh(a), "aux": F.interpolate(b, scale_factor=2.0, mode="nearest")}


class Lines(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.line = nn.Conv1d(3, 4, 3, padding=1), nn.BatchNorm1d(4), nn.Linear(64, 4)
        self.layer, self.out = nn.LayerNorm(4), nn.Linear(4, 4, bias=False)

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x.reshape(1, 3, 64))))
        y = F.relu(self.line(y))
        return F.softmax(self.out(self.layer(y)).permute(0, 2, 1), -1), y


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(8, 4, 2, bidirectional=True), nn.GRU(8, 3, 1, batch_first=True)
        self.second = nn.LSTM(3, 3, 2, batch_first=True)
        self.last = nn.Linear(3, 2)

    def forward(self, x):
        y, _ = self.lstm(x[0])
        return torch.relu(self.last(self.second(self.gru(y)[0])[0]))


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.p = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 3, padding=1), nn.PReLU()

    def forward(self, x):
        y = self.a(x)
        for i in range(x.size(1)):
            y = F.relu(self.b(y)) + i
        if bool(y.sum() > 0):
            y = self.p(self.a(y))
        return y.mean([2, 3]), torch.matmul(y[0, 0], y[0, 1])


def write(taper, target, name, module, choice, backend=None):
    with tempfile.TemporaryDirectory() as scratch:
        model, packed, short = f"{scratch}/model.pt", f"{scratch}/packed.ptl", f"{scratch}/short.ptl"
        torch.jit.script(module).save(model)
        if backend is not None:
            subprocess.run([taper, "optimize", model, "-o", packed, "--backend", backend], check=True, stdout=subprocess.DEVNULL)
            model = packed
        subprocess.run([taper, "convert", model, "-o", short, "--flatbuffer"], check=True, stdout=subprocess.DEVNULL)
        with open(short, "rb") as file, open(os.path.join(HERE, "corpus", target, name), "wb") as seed:
            seed.write(bytes([choice]) + file.read())


def write_old_bytecode():
    """Writes modules with the operators of PyTorch 1.9 to corpus/program."""
    for module in (test_old_bytecode.Gelu(), test_old_bytecode.Index(), test_old_bytecode.Unflatten(), test_old_bytecode.Raises()):
        with tempfile.TemporaryDirectory() as folder:
            new, backported = os.path.join(folder, "new.ptl"), os.path.join(folder, "backported.ptl")
            torch.jit.script(module.eval())._save_for_lite_interpreter(new)
            test_old_bytecode._backport_for_mobile(new, backported, 5)
            name = f"old_{type(module).__name__.lower()}"
            test_old_bytecode.rewrite(backported, os.path.join(HERE, "corpus", "program", name))


def main():
    taper = sys.argv[1]
    write_old_bytecode()
    os.makedirs(os.path.join(HERE, "corpus", "quantize"), exist_ok=True)
    torch.manual_seed(0)
    for i, (name, make, calls) in enumerate(optimize_cases.CASES):
        arguments = calls[0]
        if all(isinstance(a, Tensor) and a.dtype == torch.float32 for a in arguments) and len(arguments) in (1, 2):
            module = (One if len(arguments) == 1 else Two)(make().eval(), arguments)
            for choices in INEXACT, EXACT:
                write(taper, "optimize", f"case_{name.replace(' ', '_')}_{choices[i % len(choices)]}", module, choices[i % len(choices)])
    networks = [Convolutions, Upwards, Lines, Recurrent, Branches]
    for i, network in enumerate(networks):
        module = network()
        optimize_cases.stir(module)
        name = network.__name__.lower()
        module.eval()
        for choice in sorted({INEXACT[i], 1}):
            write(taper, "optimize", f"{name}_{choice}", module, choice)
        for n, choice in enumerate((0 + 16 + 64, 1 + 4 + 32, 2, 0 + 12 + 32 + 64, 1 + 8)):
            write(taper, "quantize", f"{name}_{choice}", module, choice, (None, "cpu", None, "vulkan", "metal")[n])


if __name__ == "__main__":
    main()
