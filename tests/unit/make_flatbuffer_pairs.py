#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_flatbuffer_pairs.py DIR: writes small models twice, as NAME.ptl (zip) and NAME.fb.ptl (flatbuffer), for lite_flatbuffer_test, which
compares both files. Needs PyTorch 1.13. The script made the committed pairs in tests/unit/data/flatbuffer."""
import os
import sys
from typing import Dict, List, Optional, Tuple

import torch
from torch import nn

torch.manual_seed(7)
torch.backends.quantized.engine = "qnnpack"


class Containers(nn.Module):
    """Named tuples are missing: the flatbuffer writer refuses them."""
    ints: List[int]
    floats: List[float]
    flags: List[bool]
    strings: List[str]
    tensors: List[torch.Tensor]
    nested: List[List[int]]
    optionals: List[Optional[int]]
    nothing: List[int]
    nothing_more: List[float]
    none_of_them: List[bool]
    no_texts: List[str]
    named: Dict[str, torch.Tensor]
    numbered: Dict[int, List[float]]
    by_float: Dict[float, int]
    empty: Dict[str, int]
    pair: Tuple[int, str]
    maybe: Optional[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.ints = [1, -2, 1 << 40]
        self.floats = [1.5, float("inf"), -0.0]
        self.flags = [True, False]
        self.strings = ["a", "", "\u00e4\x00b"]
        self.tensors = [torch.ones(2), torch.zeros(0)]
        self.nested = [[1], [], [2, 3]]
        self.optionals = [1, None]
        self.nothing = []
        self.nothing_more = []
        self.none_of_them = []
        self.no_texts = []
        self.named = {"b": torch.ones(1), "a": torch.zeros(2, 2)}
        self.numbered = {3: [1.0], 1: []}
        self.by_float = {0.5: 1}
        self.empty = {}
        self.pair = (3, "x")
        self.maybe = None

    def forward(self, x: torch.Tensor, scale: float = 2.5, axes: Optional[List[int]] = None, name: str = "n", flag: bool = True):
        y = x * scale
        if axes is not None:
            y = y.sum(axes)
        out: Dict[str, torch.Tensor] = {name: y}
        for i, t in enumerate(self.tensors):
            out[self.strings[i] + str(i)] = t + len(self.ints)
        return out, [self.pair[0], len(self.nested)], (y, 3)


class Tensors(nn.Module):
    """Every dtype, views that share a storage, expanded, empty and scalar tensors, gradients."""

    def __init__(self):
        super().__init__()
        base = torch.arange(24.0)
        self.register_buffer("base", base)
        self.register_buffer("part", base[5:11].view(2, 3))
        self.register_buffer("turned", base.view(4, 6).t())
        self.register_buffer("spread", torch.ones(1).expand(3, 4))
        self.register_buffer("nhwc", torch.rand(1, 3, 2, 2).to(memory_format=torch.channels_last))
        self.register_buffer("hollow", torch.zeros(2, 0, 3))
        self.register_buffer("single", torch.tensor(3.25))
        self.weight = nn.Parameter(torch.rand(3))
        for d in ("uint8", "int8", "int16", "int32", "int64", "float16", "float64", "bfloat16", "bool", "complex64", "complex128"):
            self.register_buffer("t_" + d, torch.tensor([1, 0, 1]).to(getattr(torch, d)))

    def forward(self, x):
        return x + self.part.sum() + self.weight.sum() + self.turned[0, 0]


class Constants(nn.Module):
    def forward(self, x: torch.Tensor, z: complex = 1 + 2j, device: torch.device = torch.device("cpu")):
        y = x.to(device)
        w = torch.zeros([2], device=torch.device("cuda:1")) if x.numel() > 1000 else y
        d: Dict[torch.Tensor, int] = {x: 1}
        return y + w, z * (2 + 0.5j), d[x], -1 << 40, 1e300, "text", float("nan") if x.numel() == 77 else 0.25


@torch.jit.interface
class Shaper(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Twice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x


class Stateful(nn.Module):
    """A module that is saved through __getstate__."""

    def __init__(self, k: int):
        super().__init__()
        self.k = k
        self.t = torch.full((2,), float(k))

    @torch.jit.export
    def __getstate__(self):
        return (self.k, self.t, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[int, torch.Tensor, bool]):
        self.k = state[0] + 1
        self.t = state[1]
        self.training = state[2]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.k + self.t[0]


class Methods(nn.Module):
    shaper: Shaper

    def __init__(self):
        super().__init__()
        self.shaper = Twice()
        self.one = Stateful(1)
        self.two = Stateful(5)
        self.count = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        if x.numel() > 100:
            raise RuntimeError("too large")
        for i in range(self.count):
            x = self.shaper.forward(x)
        return self.two(self.one(x))

    @torch.jit.export
    def counted(self, start: int = 3) -> int:
        return self.count + start


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(torch.relu(self.bn(self.conv(x))).mean([2, 3]))


class Quantized(nn.Module):
    def __init__(self, per_channel):
        super().__init__()
        self.quant = torch.quantization.QuantStub()
        self.conv = nn.Conv2d(3, 4, 3)
        self.fc = nn.Linear(4, 2)
        self.dequant = torch.quantization.DeQuantStub()
        weights = torch.quantization.default_per_channel_weight_observer if per_channel else torch.quantization.default_weight_observer
        self.qconfig = torch.quantization.QConfig(
            activation=torch.quantization.default_observer, weight=weights)

    def forward(self, x):
        x = self.conv(self.quant(x))
        return self.dequant(self.fc(x.mean([2, 3])))


class QuantizedTensors(nn.Module):
    def __init__(self):
        super().__init__()
        x = torch.rand(3, 4)
        self.a = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
        self.b = torch.quantize_per_tensor(x, 0.1, -3, torch.qint8)
        self.c = torch.quantize_per_tensor(x, 0.001, 0, torch.qint32)
        self.d = torch.quantize_per_channel(x, torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64), torch.arange(4), 1, torch.qint8)

    def forward(self, x):
        return x


def main():
    folder = sys.argv[1]

    def save(name, module, example=None, optimize=False):
        module.eval()
        scripted = torch.jit.trace(module, example) if example is not None else torch.jit.script(module)
        if optimize:
            from torch.utils.mobile_optimizer import optimize_for_mobile
            scripted = optimize_for_mobile(scripted)
        extra = {"note.txt": "hello", "empty": ""} if name == "containers" else {}
        scripted._save_for_lite_interpreter(os.path.join(folder, name + ".ptl"), _extra_files=extra)
        scripted._save_for_lite_interpreter(os.path.join(folder, name + ".fb.ptl"), _extra_files=extra, _use_flatbuffer=True)

    def try_to_save(*arguments, **keywords):
        try:
            save(*arguments, **keywords)
        except Exception as e:  # one of the two writers does not support this model
            print(arguments[0], "not written:", str(e).splitlines()[0], file=sys.stderr)

    save("containers", Containers())
    try_to_save("tensors", Tensors())
    try_to_save("constants", Constants())
    save("methods", Methods())
    save("net", Net(), torch.rand(1, 3, 8, 8))
    try_to_save("prepacked", Net(), optimize=True)
    for per_channel in (False, True):
        q = Quantized(per_channel).eval()
        torch.quantization.prepare(q, inplace=True)
        q(torch.rand(1, 3, 6, 6))
        torch.quantization.convert(q, inplace=True)
        save("per_channel" if per_channel else "per_tensor", q)
    save("dynamic", torch.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), dtype=torch.qint8))
    try_to_save("qtensors", QuantizedTensors())


main()
