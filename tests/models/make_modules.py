#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_modules.py: writes tests/models/data/modules.pt, a model in training mode with submodules, parameters, buffers and attributes of many
types, and modules_cuda.pt, the same model as if it had been saved on a GPU. All weights are multiples of 1/8, so that results are exact.
tests/cpp/same_module.cpp loads them. Writes saved_values.pt too, which torch.save wrote, for same_archives.cpp. Needs PyTorch 1.13."""
import os
import zipfile
from typing import Dict, List, Optional, Tuple

import torch


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)
        self.register_buffer("count", torch.tensor([1, 2]))
        self.factor = 3

    def forward(self, x):
        return self.linear(x) * self.factor + self.count.sum()


class Net(torch.nn.Module):
    scale: float
    limit: torch.jit.Final[int]
    words: List[str]
    settings: Dict[str, int]
    maybe: Optional[torch.Tensor]
    pair: Tuple[int, str]

    def __init__(self):
        super().__init__()
        self.part = Part()
        self.words = ["a", "b"]
        self.scale = 2.0
        self.limit = 7
        self.norm = torch.nn.BatchNorm1d(2)
        self.offset = torch.nn.Parameter(torch.ones(2))
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Dropout(0.5)])
        self.settings = {"a": 1}
        self.maybe = None
        self.pair = (1, "one")

    def forward(self, x):
        y = self.part(x)
        if self.training:
            y = y + 1
        for layer in self.layers:
            y = layer(y)
        maybe = self.maybe
        if maybe is not None:
            y = y + maybe
        return y * self.scale + self.offset

    @torch.jit.export
    def add_to_scale(self, by: int, name: str = "none", ratio: float = 0.5) -> float:
        self.scale = self.scale + by
        return self.scale

    @torch.jit.export
    def norm_of(self, x):
        return self.norm(x)


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    net = Net()
    with torch.no_grad():
        for number, parameter in enumerate(net.parameters()):
            parameter.copy_((torch.arange(parameter.numel()) + number).reshape(parameter.shape) / 8)
        net.layers[1].p = 0.0  # without dropout, results in training mode are always equal
    path = os.path.join(folder, "modules.pt")
    torch.jit.script(net).save(path)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(os.path.join(folder, "modules_cuda.pt"), "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("/data.pkl"):
                data = data.replace(b"X\3\0\0\0cpu", b"X\6\0\0\0cuda:0")
            target.writestr(zipfile.ZipInfo(name), data)
    torch.save({"a": torch.arange(4), "b": [1, 2.5, "x"], "c": (None, True)}, os.path.join(folder, "saved_values.pt"))


if __name__ == "__main__":
    main()
