#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes data/recurrent.ptl: a bidirectional LSTM followed by a GRU, whose numbers of units are not multiples of a kernel's vectors. The
input is [batch, steps, 12]. Needs python3-torch."""
import os

import torch

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.LSTM(12, 20, batch_first=True, bidirectional=True)
        self.second = torch.nn.GRU(40, 23, batch_first=True)

    def forward(self, x):
        return self.second(self.first(x)[0])[0]


torch.manual_seed(0)
torch.jit.script(Recurrent().eval())._save_for_lite_interpreter(os.path.join(DATA, "recurrent.ptl"))
