#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_models.py FOLDER: writes the models that these tests call (tests/data/python), with PyTorch 1.13."""
import collections
import sys
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import torch
from torch import Tensor


class Point(NamedTuple):
    x: Tensor
    name: str


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.total = start
        self.name = "counter"

    def add(self, n: int):
        self.total += n


class Values(torch.nn.Module):
    """Methods that take and return every kind of value."""

    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.arange(6.0).reshape(2, 3))
        self.register_buffer("state", torch.zeros(4))
        self.count = 0

    def forward(self, x: Tensor, scale: float = 2.0, shift: Optional[int] = None) -> Tensor:
        y = x * scale
        if shift is not None:
            y = y + shift
        return y

    @torch.jit.export
    def anything(self, x: Any) -> Any:
        return x

    @torch.jit.export
    def number(self, a: int, b: float, c: bool, d: complex, e: str) -> Tuple[int, float, bool, complex, str]:
        return a, b, c, d, e

    @torch.jit.export
    def ints(self, x: List[int]) -> List[int]:
        return x + [len(x)]

    @torch.jit.export
    def floats(self, x: List[float]) -> float:
        total = 0.0
        for i in x:
            total += i
        return total

    @torch.jit.export
    def tensors(self, x: List[Tensor]) -> Tensor:
        return torch.stack(x).sum(0)

    @torch.jit.export
    def table(self, x: Dict[str, Tensor]) -> Dict[str, Tensor]:
        return {"sum": x["a"] + x["b"]}

    @torch.jit.export
    def numbered(self, x: Dict[int, List[float]]) -> Dict[int, List[float]]:
        x[len(x)] = [0.5]
        return x

    @torch.jit.export
    def pair(self, x: Tuple[Tensor, int]) -> Tuple[Tensor, int]:
        return x[0] + x[1], x[1]

    @torch.jit.export
    def point(self, p: Point) -> Point:
        return Point(p.x + 1, p.name + "!")

    @torch.jit.export
    def union(self, x: Union[int, str, List[int]]) -> str:
        if isinstance(x, int):
            return "int"
        elif isinstance(x, str):
            return "str"
        else:
            return "list"

    @torch.jit.export
    def optional(self, x: Optional[Tensor]) -> int:
        return 0 if x is None else 1

    @torch.jit.export
    def alias(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.export
    def add_one(self, x: Tensor) -> Tensor:
        return x.add_(1)

    @torch.jit.export
    def grow(self, x: Tensor) -> Tensor:
        return x.resize_([100000])

    @torch.jit.export
    def get_state(self) -> Tensor:
        return self.state

    @torch.jit.export
    def grow_state(self) -> None:
        self.state.resize_([200000])

    @torch.jit.export
    def get_weight(self) -> Tensor:
        return self.weight

    @torch.jit.export
    def step(self) -> int:
        self.count += 1
        return self.count

    @torch.jit.export
    def spin(self, n: int) -> int:
        total = 0
        i = 0
        while i < n:
            total += i % 3
            i += 1
        return total

    @torch.jit.export
    def say(self, text: str) -> None:
        print(text)

    @torch.jit.export
    def warn(self, text: str) -> None:
        warnings.warn(text)

    @torch.jit.export
    def fail(self, text: str) -> None:
        raise ValueError(text)

    @torch.jit.export
    def wide(self, depth: int) -> List[Any]:
        x: List[Any] = []
        for _ in range(depth):
            x = torch.jit.annotate(List[Any], [x, x])
        return x

    @torch.jit.export
    def deep(self, depth: int) -> List[Any]:
        x: List[Any] = []
        for _ in range(depth):
            x = torch.jit.annotate(List[Any], [x])
        return x

    @torch.jit.export
    def itself(self) -> List[Any]:
        x: List[Any] = []
        x.append(x)
        return x

    @torch.jit.export
    def bfloat(self, x: Tensor) -> Tensor:
        return x.to(torch.bfloat16)

    @torch.jit.export
    def halves(self, x: Tensor) -> Tensor:
        return x.to(torch.half)

    @torch.jit.export
    def integers(self, x: Tensor) -> Tensor:
        return torch.quantize_per_tensor(x, 0.5, 3, torch.quint8)

    @torch.jit.export
    def strided(self, x: Tensor) -> Tensor:
        return x.t()[:, 1:]

    @torch.jit.export
    def counter(self, start: int) -> Counter:
        return Counter(start)

    @torch.jit.export
    def add_to(self, counter: Counter, n: int) -> int:
        counter.add(n)
        return counter.total

    @torch.jit.export
    def many(self, n: int) -> List[Tensor]:
        return [torch.full([2], i) for i in range(n)]


class Small(torch.nn.Module):
    """A network that optimizing and quantizing change."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.last = torch.nn.Linear(8, 5)

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x)))
        return self.last(y.mean([2, 3]))

    @torch.jit.export
    def classes(self) -> int:
        return 5


def main(folder):
    torch.manual_seed(0)
    torch.jit.script(Values()).save(folder + "/values.pt")
    small = Small()
    for _ in range(3):
        small(torch.randn(4, 3, 8, 8))
    torch.jit.script(small.eval()).save(folder + "/small.pt", _extra_files=collections.OrderedDict(note="hello"))


main(sys.argv[1])
