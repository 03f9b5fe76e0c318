#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes data/int8_convnet.ptl, a small network with the kinds of quantized layers that mobile networks have, and data/int8_dynamic.ptl,
dynamically quantized linear and recurrent layers, for sweeps over whole models. Needs PyTorch 1.13; the numbers are made from a seed."""
import os

import torch
from torch import nn
from torch.ao.quantization import DeQuantStub, QuantStub, convert, fuse_modules, get_default_qconfig, prepare, quantize_dynamic

torch.backends.quantized.engine = "qnnpack"
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU())
        self.depthwise = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.ReLU())
        self.pointwise = nn.Conv2d(8, 8, 1)
        self.sum, self.cat = nn.quantized.FloatFunctional(), nn.quantized.FloatFunctional()
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        x = self.stem(self.quant(x))
        x = self.sum.add(x, self.pointwise(self.depthwise(x)))
        x = self.cat.cat([nn.functional.max_pool2d(x, 2), nn.functional.avg_pool2d(x, 2)], 1)
        return self.dequant(self.fc(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1)))


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        self.lstm = nn.LSTM(6, 5)

    def forward(self, x):
        return self.lstm(torch.relu(self.fc(x)).unsqueeze(1))[0]


torch.manual_seed(1)
net = fuse_modules(ConvNet().eval(), [["stem.0", "stem.1"], ["depthwise.0", "depthwise.1"]])
net.qconfig = get_default_qconfig("qnnpack")
prepare(net, inplace=True)
net(torch.rand(2, 3, 12, 12) * 2 - 1)
convert(net, inplace=True)
torch.jit.script(net)._save_for_lite_interpreter(os.path.join(DATA, "int8_convnet.ptl"))
dynamic = quantize_dynamic(Dynamic().eval(), {nn.Linear, nn.LSTM}, dtype=torch.qint8)
torch.jit.script(dynamic)._save_for_lite_interpreter(os.path.join(DATA, "int8_dynamic.ptl"))
