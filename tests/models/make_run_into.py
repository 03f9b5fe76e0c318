#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_run_into.py [FILE]: writes the model of tests/api/run_into_test.c, whose methods return results of every kind: new tensors, views, tuples
and lists, inputs, attributes, results that the model keeps, and others. One method writes to its inputs before it refuses them
(advice_test.c). Needs PyTorch."""
import os
import sys
from typing import Dict, List, Tuple

import torch
from torch import Tensor, nn

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


class Results(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1)
        self.last = torch.zeros(2, 3)
        self.kept: List[Tensor] = [torch.zeros(1)]
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.conv(x))

    @torch.jit.export
    def pair(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return x + 1, torch.sum(x, dim=0)

    @torch.jit.export
    def listed(self, x: Tensor) -> List[Tensor]:
        return [x * 2, x > 0]

    @torch.jit.export
    def given(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.export
    def attribute(self, x: Tensor) -> Tensor:
        return self.table

    @torch.jit.export
    def seen(self, x: Tensor) -> Tensor:
        return self.table.view(6)

    @torch.jit.export
    def twice(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        y = x + 1
        return y, y.t()

    @torch.jit.export
    def part(self, x: Tensor) -> Tensor:
        y = x + 1
        return y[:, 1:]

    @torch.jit.export
    def turned(self, x: Tensor) -> Tensor:
        return (x + 1).t()

    @torch.jit.export
    def branch(self, x: Tensor) -> Tensor:
        if bool(x.sum() > 0):
            return x + 1
        return (x + 1).to(torch.int32)

    @torch.jit.export
    def chopped(self, x: Tensor) -> Tensor:
        y = x * 3
        return y[:int(x[0, 0])]

    @torch.jit.export
    def keeps(self, x: Tensor) -> Tensor:
        y = x + 1
        self.last = y
        return y

    @torch.jit.export
    def collects(self, x: Tensor) -> Tensor:
        y = x + 1
        self.kept.append(y)
        return y

    @torch.jit.export
    def raises(self, x: Tensor) -> Tensor:
        y = x + 1
        if bool(y.sum() > 1000):
            raise ValueError("too large")
        return y

    @torch.jit.export
    def number(self, x: Tensor) -> int:
        return x.dim()

    @torch.jit.export
    def named(self, x: Tensor) -> Dict[str, Tensor]:
        return {"a": x + 1}

    @torch.jit.export
    def empty(self, x: Tensor) -> Tensor:
        return x[0:0] + 1

    @torch.jit.export
    def refuses(self, x: Tensor, seen: List[Tensor]) -> Tensor:
        x.add_(1)
        seen.append(x)
        seen[0].mul_(2)
        return self.conv(x)


def main():
    torch.manual_seed(0)
    torch.jit.script(Results().eval()).save(sys.argv[1] if len(sys.argv) > 1 else os.path.join(DATA, "run_into.pt"))


if __name__ == "__main__":
    main()
