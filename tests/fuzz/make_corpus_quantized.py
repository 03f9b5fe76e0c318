#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_corpus_quantized.py TAPER: writes quantized models, made by PyTorch, to corpus/program next to this file: seeds in which fuzz_program
changes packed parameters, scales and zero points. The models accept the generated input of fuzz_program, float32 [1, 3, 8, 8]. TAPER writes
them again, as shorter flatbuffers."""
import os
import subprocess
import sys
import tempfile
import warnings

import torch
from torch import nn
from torch.ao import quantization as ao
from torch.nn import functional as F

warnings.simplefilter("ignore")
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "program")


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.last = nn.LSTM(8, 4, 1), nn.GRU(4, 3, 1, bidirectional=True), nn.Linear(6, 2)

    def forward(self, x):
        return self.last(self.gru(self.lstm(x[0])[0])[0])


class Static(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = ao.QuantStub(), ao.DeQuantStub()
        self.conv, self.deep, self.up = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, groups=8), nn.ConvTranspose2d(8, 4, 2, 2)
        self.norm, self.act, self.last = nn.BatchNorm2d(4), nn.Hardswish(), nn.Linear(4, 2)
        self.add, self.mul, self.cat = (nn.quantized.FloatFunctional() for _ in range(3))

    def forward(self, x):
        y = self.deep(F.relu(self.conv(self.quant(x))))
        y = self.act(self.norm(self.up(y)))
        y = self.mul.mul(y, torch.sigmoid(F.adaptive_avg_pool2d(y, 1)))
        y = self.cat.cat([self.add.add_relu(y, y), F.max_pool2d(y, 3, 1, 1)], 1)[:, :4]
        y = F.interpolate(y, scale_factor=0.5, mode="bilinear")
        return self.dequant(self.last(y.mean([2, 3])))


def static(config):
    model = Static().eval()
    model.qconfig = ao.get_default_qconfig(config)
    model.up.qconfig = ao.get_default_qconfig("qnnpack")  # the transposed convolution supports only this configuration
    ao.prepare(model, inplace=True)
    model(torch.randn(1, 3, 8, 8))
    return ao.convert(model)


torch.manual_seed(0)
torch.backends.quantized.engine = "qnnpack"
for name, model in {"quantized": static("qnnpack"), "quantized_channels": static("fbgemm"),
                    "quantized_dynamic": ao.quantize_dynamic(Dynamic().eval(), {nn.LSTM, nn.GRU, nn.Linear})}.items():
    traced = torch.jit.trace(model, torch.randn(1, 3, 8, 8))
    with tempfile.TemporaryDirectory() as scratch:
        traced._save_for_lite_interpreter(f"{scratch}/model.ptl")
        subprocess.run([sys.argv[1], "convert", f"{scratch}/model.ptl", "-o", os.path.join(FOLDER, name), "--flatbuffer"], check=True)
