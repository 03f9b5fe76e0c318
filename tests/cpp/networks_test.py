#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""networks_test.py COMPILER SOURCE PROGRAM ARGUMENT…: runs compare_text.py with torchvision's small networks, which have weights from a seed
and are saved as .pt and .ptl in turn. Needs python3-torch and python3-torchvision."""
import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch
import torchvision

NETWORKS = ["densenet121", "efficientnet_b0", "googlenet", "mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3", "mobilenet_v2",
            "mobilenet_v3_large", "mobilenet_v3_small", "regnet_x_400mf", "regnet_x_800mf", "regnet_y_400mf", "regnet_y_800mf", "resnet18",
            "resnet34", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "squeezenet1_0", "squeezenet1_1"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, name in enumerate(NETWORKS):
            torch.manual_seed(number)
            network = getattr(torchvision.models, name)(weights=None, **({"init_weights": True} if name == "googlenet" else {})).eval()
            traced = torch.jit.trace(network, torch.zeros(1, 3, 64, 64), check_trace=False)
            path = pathlib.Path(folder, name + (".pt" if number % 2 else ".ptl"))
            if number % 2:
                traced.save(str(path))
            else:
                traced._save_for_lite_interpreter(str(path))
            files.append(str(path))
        here = pathlib.Path(__file__).resolve().parent
        return subprocess.run([sys.executable, str(here / "compare_text.py"), *sys.argv[1:], *files], check=False).returncode


sys.exit(main())
