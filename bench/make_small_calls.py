#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""bench/make_small_calls.py FOLDER: writes models whose time is dominated by calls, not by arithmetic.

adds.pt        500 sums of two run-time inputs of 4 floats
convs.pt       300 convolutions 1x1 of 8 channels over one pixel
NAME.pt        100 copies of the small layer NAME

Time the models with: taper bench FILE --threads 1 --iter 3000 --input-dims DIMS --disable segments,fold_constants DIMS is printed with the name of
the file."""

import argparse
import os

import torch
from torch import nn


class Adds(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, x, y):
        for _ in range(self.count):
            x = x + y
        return x


def layers(make, count):
    return nn.Sequential(*[make() for _ in range(count)])


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def models():
    yield "adds", Adds(500), [(4,), (4,)]
    yield "convs", layers(lambda: nn.Conv2d(8, 8, 1), 300), [(1, 8, 1, 1)]
    yield "depthwise", layers(lambda: nn.Conv2d(8, 8, 3, padding=1, groups=8), 100), [(1, 8, 4, 4)]
    yield "linear", layers(lambda: nn.Linear(8, 8), 100), [(1, 8)]
    yield "unary", layers(nn.Sigmoid, 100), [(1, 8, 8, 8)]
    yield "broadcast", Adds(100), [(1, 8, 4, 4), (8, 1, 1)]
    yield "maxpool", layers(lambda: nn.MaxPool2d(3, 1, 1), 100), [(1, 8, 4, 4)]
    yield "avgpool", layers(lambda: nn.AvgPool2d(3, 1, 1), 100), [(1, 8, 4, 4)]
    yield "adaptive", layers(lambda: nn.AdaptiveAvgPool2d(4), 100), [(1, 8, 4, 4)]
    yield "mean", layers(lambda: Function(lambda x: x.mean([2, 3], keepdim=True)), 100), [(1, 8, 4, 4)]
    yield "softmax", layers(lambda: nn.Softmax(-1), 100), [(4, 8)]
    yield "cat", layers(lambda: Function(lambda x: torch.cat([x[:, :4], x[:, 4:]], 1)), 100), [(1, 8, 4, 4)]
    yield "stem", nn.Conv2d(3, 8, 3, 2, 1), [(1, 3, 8, 8)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    os.makedirs(folder, exist_ok=True)
    for name, model, sizes in models():
        inputs = [torch.randn(size) for size in sizes]
        with torch.no_grad():
            torch.jit.trace(model.eval(), inputs).save(os.path.join(folder, name + ".pt"))
        print(f"{name}.pt", ";".join(",".join(map(str, size)) for size in sizes))


if __name__ == "__main__":
    main()
