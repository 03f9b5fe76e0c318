#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_gradients.py [FOLDER]: writes small models that ask for gradients (tests/models/data), for tests without PyTorch. forces.pt has a
network on distances, writes to views, a loop, and a second derivative. Its method energy asks for no gradient. pairs.pt has no branches:
its gradient is computed ahead of time. Needs PyTorch 1.13 (Debian's python3-torch)."""
import os
import sys

import torch
from torch import Tensor

HERE = os.path.dirname(os.path.abspath(__file__))


class Forces(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first, self.last = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)

    @torch.jit.export
    def energy(self, x: Tensor) -> Tensor:
        i, j = torch.tensor([0, 1, 2, 0]), torch.tensor([1, 2, 0, 2])
        d = x[i] - x[j]
        r = d.norm(p=2, dim=1, keepdim=True)
        features = torch.zeros(4, 3)
        features[:, 0:1] = torch.exp(-r)
        for k in range(1, 3):
            features[:, k] = r.squeeze(1) ** float(k)
        energies = self.last(torch.nn.functional.silu(self.first(features)))
        return torch.zeros(3).index_add(0, i, energies.squeeze(1)).sum()

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        energy = self.energy(x)
        g = torch.autograd.grad([energy], [x], create_graph=True)[0]
        assert g is not None
        h = torch.autograd.grad([(g * g).sum()], [x], allow_unused=True)[0]
        assert h is not None
        return energy, -g, h


class Pairs(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.layer = torch.nn.Linear(3, 4)

    def forward(self, x: Tensor, y: Tensor):
        x.requires_grad_(True)
        pairs = torch.nn.functional.silu(self.layer(x.unsqueeze(0) - y.unsqueeze(1)))
        a, b, c = x.split(1, dim=1)
        norms = torch.zeros(3)
        norms.index_add_(0, torch.tensor([0, 2, 1]), x.norm(p=2, dim=1))
        energy = pairs.sum() + (a * c).sum() + (norms * norms * x[:, 1]).sum()
        g = torch.autograd.grad([energy], [x])[0]
        assert g is not None
        return energy.detach(), -g


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "models", "data")
    os.makedirs(folder, exist_ok=True)
    torch.jit.script(Forces()).save(os.path.join(folder, "forces.pt"))
    torch.jit.script(Pairs()).save(os.path.join(folder, "pairs.pt"))
