#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""prepare.py SNIPPET THEN: runs a tutorial's Python unmodified, then the code in THEN, which can use the names of the tutorial.

Downloads of the tutorials are replaced by networks with random weights: torch.hub.load uses torchvision's builders, and pretrained=True loads
nothing. If PyTorch was built without Metal and Vulkan, GPU_STUB names a library with stand-ins."""
import os
import runpy
import sys
import warnings

import torch
import torchvision
from torch.utils.mobile_optimizer import optimize_for_mobile
from torchvision.models._api import WeightsEnum

warnings.simplefilter("ignore")
NOTHING = {"nothing": None}
load_state_dict = torch.nn.Module.load_state_dict


def builder(repository, name, pretrained=False):
    return getattr(torchvision.models.segmentation, name)(pretrained=pretrained)


WeightsEnum.get_state_dict = lambda self, *arguments, **options: NOTHING
torch.nn.Module.load_state_dict = lambda self, state, *more, **options: None if state is NOTHING else load_state_dict(self, state, *more, **options)
torch.hub.load = builder
torch.backends.quantized.engine = "qnnpack"
torch.manual_seed(3)
torch.set_num_threads(1)
if os.environ.get("GPU_STUB"):
    torch.ops.load_library(os.environ["GPU_STUB"])


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 1))

    def forward(self, x):
        return self.layers(x)


# Names that a snippet uses without defining them; the tutorial's reader has to define them.
reader = {"my_model": torch.jit.script(Small().eval()), "model": torch.jit.script(Small().eval()), "out_path": "optimized.pt",
          "optimize_for_mobile": optimize_for_mobile}
names = {**reader, **runpy.run_path(sys.argv[1], init_globals=reader, run_name="__main__")}


def write(name, model, shape, key=None):
    """Writes name.in and name.want: an input and PyTorch's result."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        y = model(x)
    x.numpy().tofile(name + ".in")
    (y if key is None else y[key]).contiguous().numpy().tofile(name + ".want")


exec(sys.argv[2], {**names, "write": write, "torch": torch})
