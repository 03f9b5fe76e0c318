#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gpu_networks.py TAPER [NAME…] [--all]: runs torchvision's networks on the GPU, with weights from a seed. Each network is scripted (NAME:lite
is also saved for the lite interpreter, NAME:mobile is also prepared by optimize_for_mobile) and run by PyTorch and on the device. The device
name ends with "!", so that an operator that the device declines is a failure, except for networks in PARTLY, which run without "!". Prints the
number of segments and dispatches of each network. TAPER_GPU names the device (vulkan:llvmpipe)."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision
from torch.utils.mobile_optimizer import optimize_for_mobile

FEW = ["mobilenet_v2", "resnet18", "vit_tiny", "shufflenet_v2_x0_5:lite", "resnet18:mobile"]
SIZES = {"inception_v3": 299}


def vit_tiny():
    return torchvision.models.VisionTransformer(image_size=96, patch_size=16, num_layers=3, num_heads=4, hidden_dim=64, mlp_dim=128)


def build(name):
    torch.manual_seed(1)
    if name == "vit_tiny":
        model = vit_tiny()
    else:
        options = {"weights": None}
        builder = getattr(torchvision.models, name, None) or getattr(torchvision.models.segmentation, name)
        if hasattr(torchvision.models.segmentation, name):
            options["weights_backbone"] = None
        if name in ("googlenet", "inception_v3"):
            options["init_weights"] = False
        model = builder(**options)
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            torch.nn.init.uniform_(module.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(module.running_var, 0.7, 1.3)
        if isinstance(module, torchvision.models.VisionTransformer):
            torch.nn.init.normal_(module.heads.head.weight, std=0.05)
    return model.eval()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--size", type=int, default=96)
    args = parser.parse_args()
    device = os.environ.get("TAPER_GPU", "vulkan:llvmpipe")
    names = args.names or FEW
    if args.all:
        names = [n for n in sorted(vars(torchvision.models)) if n[0].islower() and callable(vars(torchvision.models)[n]) and
                 n not in ("list_models", "get_model", "get_model_builder", "get_model_weights", "get_weight")]
        names += [n for n in sorted(vars(torchvision.models.segmentation)) if "_resnet" in n or "mobilenet" in n]
    folder = tempfile.mkdtemp()
    passed = failed = 0
    for said in names:
        name, _, form = said.partition(":")
        size = SIZES.get(name, 224 if name.startswith(("vit_b", "vit_l", "vit_h", "maxvit", "swin")) else args.size)
        model = build(name)
        x = torch.rand(1, 3, size, size)
        with torch.no_grad():
            want = model(x)
        want = want["out"] if isinstance(want, dict) else want
        path = os.path.join(folder, "m.pt")
        scripted = torch.jit.script(model)
        scripted = optimize_for_mobile(scripted) if form == "mobile" else scripted
        (scripted._save_for_lite_interpreter if form else scripted.save)(path)
        np.save(os.path.join(folder, "x.npy"), x.numpy())
        out = os.path.join(folder, "y.npz")
        for insists in ("!", ""):
            run = subprocess.run([args.taper, "run", path, "-i", os.path.join(folder, "x.npy"), "-o", out, "--device", device + insists,
                                  "--device-options", "checks=0,estimate=0", "--verbose"], capture_output=True, text=True, check=False)
            if run.returncode == 0:
                break
        dispatches = [int(n) for n in re.findall(r": (\d+) dispatches", run.stderr)]
        if run.returncode != 0:
            print(f"{said}: {(run.stderr.strip() or '?').splitlines()[-1][:160]} ({run.returncode})", flush=True)
            failed += 1
            continue
        result = np.load(out)
        got = result[[k for k in result.files if result[k].shape == tuple(want.shape)][0]]
        error = np.abs(got.astype("f8") - want.numpy()).max() / np.abs(want.numpy()).max()
        left = re.findall(r"the CPU runs this segment: (.*)", run.stderr)
        ok = error <= 1e-4
        whole = "" if insists else f"; partly: {left[:2]}"
        print(f"{said}: {len(dispatches)} segments, {sum(dispatches)} dispatches, off by {error:.1e}{'' if ok else ' TOO FAR'}{whole}", flush=True)
        passed += ok
        failed += not ok
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
