#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_nnapi_samples.py: writes tests/data/nnapi: models written by PyTorch's NNAPI converter, with inputs and the results of the traced modules,
so that the quick tests need no PyTorch. They are cases of tests/models/nnapi_cases.py; the manifest has the form of the other samples. Needs
PyTorch 1.13 (Debian's python3-torch)."""
import json
import os
import re
import shutil
import sys
import warnings

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"
import numpy as np
import torch
from torch.backends._nnapi.prepare import convert_model_to_nnapi

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(ROOT, "tests", "data", "nnapi")
sys.path.insert(0, os.path.join(ROOT, "tests", "models"))
import nnapi_cases

NAMES = ("_convolution (3, 5), stride (2, 1), padding (1, 2), float NHWC", "quantized::conv2d depthwise, NHWC",
         "transposed _convolution, stride (2, 3), padding (1, 2), NHWC", "quantized::linear, batch of 3", "quantized::add_relu to 0.05, 128, NHWC",
         "quantized::mul to 0.05, 128, NCHW", "max_pool2d((3, 5), (2, 1), (1, 2)), quantized NHWC", "avg_pool2d((3, 5), (2, 1), (1, 2)), float NCHW",
         "upsample_nearest2d by (2.0, 3.0), float NHWC", "concat, slice and mean", "softmax(1)", "conv and relu, flexible, float NHWC",
         "two outputs, float NHWC", "a small int8 network, NHWC")


def describe(name, tensor):
    """Returns the tensor's row of the manifest and writes its elements to a file."""
    np.save(os.path.join(OUT, name), (tensor.int_repr() if tensor.is_quantized else tensor).contiguous().numpy())
    row = {"t": "tensor", "dtype": str(tensor.dtype).replace("torch.", ""), "shape": list(tensor.shape), "strides": list(tensor.stride()),
           "npy": name}
    return {**row, "scale": tensor.q_scale(), "zero_point": tensor.q_zero_point()} if tensor.is_quantized else row


def record(case):
    name = re.sub("_+", "_", re.sub("[^a-z0-9]", "_", case.name.lower())).strip("_")
    model = case.module.eval()
    plain = torch.jit.trace(model, case.inputs, check_trace=False)
    converted = convert_model_to_nnapi(plain, case.flexible or case.inputs, **case.options)
    converted._save_for_lite_interpreter(os.path.join(OUT, f"{name}.ptl"))
    results = plain(*case.inputs)
    several = isinstance(results, tuple)
    # The values are from the traced module, the strides from the converted module.
    formats = [torch.channels_last if order == 1 else torch.contiguous_format for order in converted.mod.out_mem_fmts]
    rows = [describe(f"{name}.out{i}.npy", result.contiguous(memory_format=form))
            for i, (result, form) in enumerate(zip(results if several else [results], formats))]
    call = {"method": "forward", "args": [describe(f"{name}.in{i}.npy", x) for i, x in enumerate(case.inputs)],
            "ret": {"t": "tuple", "v": rows} if several else rows[0]}
    return {"name": name, "models": [f"{name}.ptl"], "note": case.name, "calls": [call]}


def main():
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "qnnpack"
    torch.set_num_threads(1)
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    with torch.no_grad():
        entries = [record(case) for case in nnapi_cases.cases() if case.name in NAMES]
    assert len(entries) == len(NAMES), set(NAMES) - {entry["note"] for entry in entries}
    with open(os.path.join(OUT, "manifest.json"), "w") as file:
        json.dump(entries, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
