#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_thread_bits.py TAPER [--all]

Checks that networks give the same bits with 1, 2, 3, 4 and 7 threads, for every instruction set. It runs whole networks, in which weights are
packed and layers are fused; ops/thread_layers.c tests single operators. --all: more networks and sizes."""
import os
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy as np
    import torch
    import torchvision
    from torch import nn
except ImportError:
    print("skipped: PyTorch 1.13 and torchvision (python3-torch, python3-torchvision) are not installed")
    sys.exit(77)

THREADS = ("1", "2", "3", "4", "7")
passed = failed = 0


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru = nn.LSTM(40, 72, 2, batch_first=True, bidirectional=True), nn.GRU(144, 50, batch_first=True)

    def forward(self, x):
        return self.gru(self.lstm(x)[0])[0]


class Images(nn.Module):
    """Layers that networks of torchvision do not have: dilated, grouped, transposed, over three dimensions, wide and flat."""
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(3, 32, 5, 1, 2), nn.SiLU(), nn.Conv2d(32, 64, 3, 1, 2, 2), nn.GroupNorm(4, 64), nn.Conv2d(64, 64, 3, 1, 1, groups=4),
                               nn.Hardswish(), nn.ConvTranspose2d(64, 24, 3, 2, 1), nn.AvgPool2d(3, 2, 1), nn.Conv2d(24, 32, (1, 7), 1, (0, 3)), nn.PReLU(32))
        self.b = nn.Sequential(nn.Conv3d(4, 16, 3, 1, 1), nn.ReLU(), nn.MaxPool3d(2))
        self.c = nn.Sequential(nn.Conv1d(32, 48, 3, 1, 1), nn.ReLU(), nn.Conv1d(48, 16, 1))

    def forward(self, x):
        y = self.a(x)
        z = self.b(y[:, :4].unsqueeze(2).expand(-1, -1, 4, -1, -1).contiguous())
        return self.c(y.flatten(2)), z, torch.softmax(y, 1), y.mean((2, 3)), y.sum(1), nn.functional.interpolate(y, scale_factor=1.7, mode="bilinear")


def networks(everything):
    """Yields (name, module, sizes of the input)."""
    model = torchvision.models
    yield "resnet18", model.resnet18(), [(1, 3, 80, 112), (3, 3, 65, 97)]
    yield "mobilenet_v2", model.mobilenet_v2(), [(1, 3, 96, 96)]
    yield "mobilenet_v3_small", model.mobilenet_v3_small(), [(2, 3, 64, 96)]
    yield "shufflenet", model.shufflenet_v2_x0_5(), [(1, 3, 96, 96)]
    yield "recurrent", Recurrent(), [(3, 17, 40)]
    yield "encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(96, 4, 200, batch_first=True), 2), [(2, 37, 96)]
    yield "images", Images(), [(1, 3, 41, 53), (2, 3, 30, 37)]
    yield "MLP", nn.Sequential(nn.Linear(100, 300), nn.GELU(), nn.Linear(300, 77), nn.LayerNorm(77)), [(50, 100), (7, 100), (1, 100)]
    if everything:
        yield "resnet18", model.resnet18(), [(1, 3, 224, 224)]
        yield "resnet50", model.resnet50(), [(1, 3, 80, 112), (3, 3, 65, 97)]
        yield "mobilenet_v3_large", model.mobilenet_v3_large(), [(1, 3, 224, 224)]
        yield "densenet121", model.densenet121(), [(1, 3, 96, 96)]
        yield "efficientnet_b0", model.efficientnet_b0(), [(1, 3, 96, 96)]
        yield "regnet_y_400mf", model.regnet_y_400mf(), [(2, 3, 96, 96)]
        yield "squeezenet", model.squeezenet1_1(), [(1, 3, 97, 111)]
        yield "googlenet", model.googlenet(init_weights=False, aux_logits=False), [(1, 3, 96, 96)]
        yield "convnext_tiny", model.convnext_tiny(), [(1, 3, 64, 96)]
        yield "swin_t", model.swin_t(), [(1, 3, 64, 96)]
        yield "vit_b_32", model.vit_b_32(image_size=96), [(2, 3, 96, 96)]
        yield "deeplabv3_resnet50", model.segmentation.deeplabv3_resnet50(weights=None, weights_backbone=None), [(1, 3, 97, 129)]


def instruction_sets(taper):
    """Returns the instruction sets of this machine. --cpu SET enables a set and the sets that it needs."""
    listed = subprocess.run([taper, "devices"], capture_output=True, text=True, check=True).stdout
    return [name for name in ("avx512", "avx2", "neon") if name in listed] + ["scalar"]


def run(taper, path, image, folder, *options):
    out = os.path.join(folder, "out.npz")
    subprocess.run([taper, "run", path, "-i", image, "-o", out, *options], check=True, capture_output=True)
    with np.load(out) as arrays:
        return [(name, arrays[name].shape, arrays[name].tobytes()) for name in arrays.files]


def main():
    global passed, failed
    taper, everything = sys.argv[1], "--all" in sys.argv
    torch.manual_seed(5)
    with tempfile.TemporaryDirectory() as folder:
        path, image = os.path.join(folder, "m.pt"), os.path.join(folder, "x.npy")
        for name, module, inputs in networks(everything):
            torch.jit.script(module.eval()).save(path)
            for sizes in inputs:
                np.save(image, torch.randn(sizes).numpy())
                for isa in instruction_sets(taper):
                    if isa == "scalar" and not everything and name not in ("images", "MLP"):
                        continue  # skipped, because the scalar kernels are slow
                    wanted = run(taper, path, image, folder, "--threads", "1", "--cpu", isa)
                    for threads in THREADS[1:]:
                        same = run(taper, path, image, folder, "--threads", threads, "--cpu", isa) == wanted
                        passed, failed = passed + same, failed + (not same)
                        if not same:
                            print(f"FAILED {name} of {sizes}, {isa}: {threads} threads give other bits than one")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
