#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_border.py: writes tests/models/data/border.ptl, whose methods pass tensors between a device and the host: tensors in containers,
attributes, views, and tensors that are written in place. tests/backend/border_test.c runs it. Needs PyTorch 1.13."""
import os
from typing import Dict, List, Tuple

import torch


class Border(torch.nn.Module):
    kept: List[torch.Tensor]

    def __init__(self):
        super().__init__()
        self.kept = []
        self.state = torch.zeros(3, 4)

    def forward(self, x):
        return torch.tanh(x * 2.0 + 1.0)

    @torch.jit.export
    def several(self, x) -> Tuple[torch.Tensor, List[torch.Tensor], Dict[str, torch.Tensor], Tuple[torch.Tensor, torch.Tensor]]:
        a = torch.relu(x + 1.0)
        b = a * 2.0
        c = torch.sigmoid(b - a)
        return a, [b, c, b], {"c": c}, (torch.exp(c), a)

    @torch.jit.export
    def grow(self, x, n: int) -> int:
        items: List[torch.Tensor] = []
        for i in range(n):
            items.append(torch.relu(x + float(i)) * 0.5)
        return len(items)

    @torch.jit.export
    def join(self, x, n: int):
        items: List[torch.Tensor] = []
        for i in range(n):
            items.append(torch.relu(x + float(i)) * 0.5)
            if i % 3 == 2:
                items[i - 1] = items.pop()
                items.append(items[0] + 1.0)
        return torch.cat(items, 1), items

    @torch.jit.export
    def keep(self, x) -> int:
        self.kept.append(torch.exp(x) + 1.0)
        return len(self.kept)

    @torch.jit.export
    def get(self) -> List[torch.Tensor]:
        return self.kept

    @torch.jit.export
    def step(self, x) -> int:
        self.state = torch.tanh(self.state + x)
        return 0

    @torch.jit.export
    def read(self):
        return self.state * 1.0

    @torch.jit.export
    def write(self, x):
        y = torch.exp(x) * 2.0
        z = y + 1.0
        y[0] = 1.0
        y[:, 1].mul_(x[:, 1])
        y.add_(z)
        z.relu_()
        return y, z, torch.exp(y - z)

    @torch.jit.export
    def views(self, x):
        y = torch.exp(x) * 2.0
        flat = y.view(-1)
        turned = y.t()
        wide = y[0].expand(2, 5, 4)
        part = y[1:, ::2]
        return flat, turned, wide, part, turned * 2.0 + 1.0, wide + 0.5, part.contiguous() - 1.0

    @torch.jit.export
    def shares(self, x):
        y = torch.exp(x) * 2.0
        row = y[1]
        same = y.view(-1).view(3, 4)
        y.add_(row.clone())
        same[0] = 0.0
        return y, row, same * 1.0

    @torch.jit.export
    def twice(self, x):
        y = torch.exp(x) + 1.0
        z = torch.maximum(y, y) * 2.0
        w = torch.cat([y, z, y], 1) * 0.5
        return y + z, w, torch.stack([y, torch.minimum(z, z), torch.maximum(z, z)]) - 1.0

    @torch.jit.export
    def both(self):
        s = self.state
        return torch.maximum(s, s), torch.minimum(s, s), s * s, s - s, torch.atan2(s, s), torch.cat([s, s]), s + s

    @torch.jit.export
    def ask(self, x) -> Tuple[int, int, bool, List[int], float, bool]:
        y = torch.relu(x) + 1.0
        t = (y * 2.0).t()
        return t.dim(), t.size(0), t.is_contiguous(), list(t.shape), float(y.sum()), bool((y > 0.5).all())

    @torch.jit.export
    def printed(self, x) -> str:
        return "{} {}".format([(torch.relu(x) + 1.0, 2)], torch.exp(x).sum() * 0.0)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    torch.jit.script(Border().eval())._save_for_lite_interpreter(os.path.join(here, "data", "border.ptl"))


main()
