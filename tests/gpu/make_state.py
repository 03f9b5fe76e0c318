#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_state.py FILE: writes the model with states for gpu_test.c (tests/models/data/gpu_state.pt): tensors that pass from one call to the next,
by the caller or in an attribute, and from one part of the network to the next, with an operator of the CPU between the parts."""
import sys

import torch
from torch import nn


class State(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 24)
        self.b = nn.Linear(24, 24)
        self.out = nn.Linear(24, 6)
        self.register_buffer("h", torch.zeros(1, 24))

    def forward(self, x, h):
        h = torch.tanh(self.a(x) + self.b(h))
        return self.out(h), h

    @torch.jit.export
    def keep(self, x):
        h = torch.tanh(self.a(x) + self.b(self.h))
        self.h = h
        return self.out(h)

    @torch.jit.export
    def cut(self, x):
        h = torch.relu(self.a(x))
        scale = 0.5
        if float(x[0, 0].item()) > 1e9:
            scale = 2.0
        return self.out(torch.relu(self.b(h * scale)))


torch.manual_seed(1)
torch.jit.script(State().eval()).save(sys.argv[1])
