#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes data/per_channel.ptl: a convolution and a linear layer with int8 weights and a scale for each channel, for tests of packing. Needs
PyTorch 1.13; the numbers come from a seed."""
import os

import torch
from torch.ao.quantization import DeQuantStub, MinMaxObserver, PerChannelMinMaxObserver, QConfig, QuantStub, convert, prepare

torch.backends.quantized.engine = "qnnpack"


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = QuantStub()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.fc = torch.nn.Linear(8, 4)
        self.dequant = DeQuantStub()

    def forward(self, x):
        return self.dequant(self.fc(self.conv(self.quant(x)).mean([2, 3])))


torch.manual_seed(1)
net = Net().eval()
net.qconfig = QConfig(activation=MinMaxObserver.with_args(dtype=torch.quint8, reduce_range=False),
                      weight=PerChannelMinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_channel_symmetric))
prepare(net, inplace=True)
net(torch.rand(2, 3, 8, 8) * 2 - 1)
convert(net, inplace=True)
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "per_channel.ptl")
torch.jit.script(net)._save_for_lite_interpreter(path)
