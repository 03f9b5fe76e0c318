#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests the models of PyTorch's tutorial "Convert MobileNetV2 to NNAPI", with random weights. The tutorial's script makes
mobilenetv2-quant_{none,core,full}-cpu.pt and -nnapi.pt. Each model runs with its bundled input and with another input, from the .pt and from a
lite file of the same model. Integers must be PyTorch's. PyTorch itself cannot run NNAPI models on this machine, so they are compared with the
traced core. Usage: test_nnapi_tutorial.py TAPER"""
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torch.backends._nnapi.prepare
import torch.utils.bundled_inputs
import torchvision
from torch.utils.mobile_optimizer import optimize_for_mobile

warnings.simplefilter("ignore")
taper = os.path.abspath(sys.argv[1])
MODES = {"none": (False, False), "core": (True, False), "full": (True, True)}
passed = failed = 0


def check(good, what):
    global passed, failed
    passed += bool(good)
    failed += not good
    print("ok  " if good else "FAILED", what, flush=True)


class BundleWrapper(torch.nn.Module):
    def __init__(self, mod):
        super().__init__()
        self.mod = mod

    def forward(self, arg):
        return self.mod(arg)


def save(folder, name, model, tensor):
    torch.utils.bundled_inputs.augment_model_with_bundled_inputs(model, [(torch.utils.bundled_inputs.bundle_large_tensor(tensor),)])
    model.save(f"{folder}/{name}.pt")
    model._save_for_lite_interpreter(f"{folder}/{name}.ptl")


def make(folder, mode):
    """The tutorial's function. Returns the CPU model, the traced core, and the quantizer and dequantizer around the core."""
    quantize_core, quantize_iface = MODES[mode]
    torch.manual_seed(3)
    model = torchvision.models.quantization.mobilenet.mobilenet_v2(weights=None, quantize=quantize_core)
    model.eval()
    if not quantize_core:
        model.fuse_model()
    model.classifier[0] = torch.nn.Identity()
    input_float = torch.zeros(1, 3, 224, 224)
    input_tensor, quantizer, dequantizer = input_float, None, None
    if quantize_core:
        quantizer, dequantizer = model.quant, model.dequant
        model.quant, model.dequant = torch.nn.Identity(), torch.nn.Identity()
        input_tensor = quantizer(input_float)
    input_tensor = input_tensor.contiguous(memory_format=torch.channels_last)
    input_tensor.nnapi_nhwc = True
    with torch.no_grad():
        traced = torch.jit.trace(model, input_tensor)
    nnapi_model = torch.backends._nnapi.prepare.convert_model_to_nnapi(traced, input_tensor)
    if quantize_core and not quantize_iface:
        nnapi_model = torch.nn.Sequential(quantizer, nnapi_model, dequantizer)
        model.quant, model.dequant = quantizer, dequantizer
        input_tensor = input_float.contiguous(memory_format=torch.channels_last)
    model = optimize_for_mobile(torch.jit.script(model))
    save(folder, f"mobilenetv2-quant_{mode}-cpu", model, input_tensor)
    save(folder, f"mobilenetv2-quant_{mode}-nnapi", torch.jit.script(BundleWrapper(nnapi_model)), input_tensor)
    return model, traced, quantizer, dequantizer


def run(folder, name, arguments):
    done = subprocess.run([taper, "run", f"{folder}/{name}", "-o", f"{folder}/out.npz", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr)
        return {}
    return dict(np.load(f"{folder}/out.npz"))


def agrees(want, got, exact):
    if want.is_quantized:
        return (np.array_equal(got.get("output"), want.int_repr().numpy()) and got["output.scale"] == want.q_scale()
                and got["output.zero_point"] == want.q_zero_point())
    want, got = want.numpy(), got.get("output")
    if got is None or got.shape != want.shape:
        return False
    return np.array_equal(got, want) if exact else np.abs(got - want).max() <= 1e-4 * np.abs(want).max() + 1e-5


with tempfile.TemporaryDirectory() as folder, torch.no_grad():
    torch.backends.quantized.engine = "qnnpack"
    torch.set_num_threads(1)
    for mode, (core, interface) in MODES.items():
        model, traced, quantizer, dequantizer = make(folder, mode)
        x = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(5)).contiguous(memory_format=torch.channels_last)
        if interface:
            x = quantizer(x)
            np.save(f"{folder}/x.npy", x.int_repr().numpy())
            given = json.dumps({"@tensor": f"{folder}/x.npy", "scale": x.q_scale(), "zero_point": x.q_zero_point(), "dtype": "quint8"})
        else:
            np.save(f"{folder}/x.npy", x.numpy())
            given = f"{folder}/x.npy"
        for suffix in (".pt", ".ptl"):
            name = f"mobilenetv2-quant_{mode}-cpu{suffix}"
            bundled = model.get_all_bundled_inputs()[0][0]
            check(agrees(model(bundled), run(folder, name, ["--bundled", "0"]), core), f"{name}, bundled input")
            check(agrees(model(x), run(folder, name, ["-i", given]), core), f"{name}, another input")
            # The NNAPI model must compute the traced core, with the quantizer and the dequantizer if the model has them.
            want = dequantizer(traced(quantizer(x))) if core and not interface else traced(x)
            name = f"mobilenetv2-quant_{mode}-nnapi{suffix}"
            check(agrees(want, run(folder, name, ["-i", given]), core), name)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
