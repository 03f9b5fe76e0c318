#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_pt2.py TAPER [NAME…]

Runs the exported programs of tests/data/pt2/calls, for whose calls PyTorch's results are recorded (scripts/oracle/make_pt2_cases.py). The results
of the optimized program, of the plain program and of the portable operators must agree. Inputs of other sizes than those of the export must give
an error that says so. Results that are quantized last may differ by a step. Results of a network quantized by PT2E may differ by the change that
quantization made; INTEGERS lists the operators that such a network must use."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIPPED: NumPy is missing")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data", "pt2", "calls")
WRONG = [  # (program, shapes of its inputs, text of the error, result with --no-guards)
    ("convnet", [(1, 3, 15, 16)], "input 0 (input) should be a tensor of sizes 1x3x16x16", True),
    ("convnet", [(3, 16, 16)], "input 0 (input) should be a tensor of sizes 1x3x16x16", None),
    ("convnet_batch", [(9, 3, 16, 16)], "input 0 (input): dimension 0 should be at most 8", True),
    ("convnet_batch", [(2, 4, 16, 16)], "input 0 (input) should be a tensor of sizes ?x3x16x16, where ? is any size", False),
    ("sizes", [(2, 5)], "the program was exported for arguments of which this holds: ((-1) + L['x'].size()[0]) != 1", True),
    ("attention", [(2, 4, 6, 8), (2, 4, 9, 8), (2, 4, 9, 8), (6, 1)], "input 3 (m) should be a tensor of sizes 6x9", True),
]
INTEGERS = {  # {program: (operators of the optimized program that compute with integers, True if operators with floats remain)}
    "pt2e_convnet": ("quantized::conv2d_relu.new quantized::conv2d.new quantized::hardswish quantized::linear aten::adaptive_avg_pool2d", False),
    "pt2e_convnet_core": ("quantized::conv2d.new quantized::linear", False),
    "pt2e_convnet_x86": ("quantized::conv2d", True),  # hardswish computes with floats in this program
    "pt2e_batch": ("quantized::conv2d_relu.new quantized::conv2d.new quantized::hardswish quantized::linear", False),
    "pt2e_mixed": ("quantized::conv2d.new quantized::add_relu quantized::mul quantized::linear", False),
    "pt2e_linear": ("quantized::linear_relu quantized::linear_with_input_q_dq_qweight_dq_output_fp32", True),
    "pt2e_dynamic": ("quantized::linear_with_input_q_dq_qweight_dq_output_fp32 quantized_decomposed::choose_qparams", True),
    "pt2e_told": ("quantized::linear_with_input_q_dq_qweight_dq_output_fp32 quantized::linear_with_input_q_dq_qweight_dq_relu_output_fp32", False),
    "pt2e_told_by_range": ("quantized::linear_with_input_q_dq_qweight_dq_output_fp32", False),
    "pt2e_viewed": ("quantized::conv2d.new quantized::mul", False),
    "pt2e_conv1d": ("quantized::conv1d_relu", False),
    "pt2e_conv3d": ("quantized::conv3d.new", False),
    "pt2e_transposed": ("quantized::conv_transpose2d aten::relu", False),
    **{f"narrow_{kind}": ("taper::linear_integers", False) for kind in (
        "int8", "int8_unwrapped", "int8_core", "int8_bf16", "int4", "int4_unwrapped", "int4_core", "int4_bf16", "int4_rows",
        "int4_points", "8da4w", "8da4w_unwrapped", "8da4w_core")},
    "pt2e_functions": ("aten::sigmoid quantized::elu quantized::leaky_relu aten::permute", True),
}

# The files of these programs must contain only operators that PyTorch's lite interpreter has.
WHOLLY = ("pt2e_convnet", "pt2e_convnet_core", "pt2e_batch", "pt2e_mixed", "pt2e_dynamic", "pt2e_conv1d", "pt2e_conv3d", "pt2e_transposed")
# A file for the lite interpreter has quantized::linear_dynamic, which does not have a smallest scale (docs/numerics.md).
NOT_WRITTEN = ("pt2e_dynamic_small",)


def run(taper, model, calls, folder, *options):
    path, out = os.path.join(folder, "calls.json"), os.path.join(folder, "out.npz")
    with open(path, "w") as file:
        json.dump(calls, file)
    done = subprocess.run([taper, "run", model, "--calls", path, "-o", out, *options], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return None, done.stderr
    with np.load(out) as archive:
        return {name: archive[name] for name in archive.files}, ""


def read_calls(recorded, folder):
    calls = []
    for name in sorted((name for name in recorded.files if name.startswith("in.")), key=lambda name: [int(n) for n in name.split(".")[1:3]]):
        _, call, _, *kind = name.split(".")
        while len(calls) <= int(call):
            method = f"method.{len(calls)}"
            calls.append({"method": str(recorded[method]) if method in recorded.files else "forward", "inputs": []})
        value = recorded[name]
        if kind:
            calls[int(call)]["inputs"].append(None if kind[0] == "none" else value.tolist())
            continue
        path = os.path.join(folder, name + ".npy")
        np.save(path, value)
        calls[int(call)]["inputs"].append("@" + path)
    return calls


def differences(got, recorded):
    wanted = [name for name in recorded.files if not name.startswith(("in.", "method.")) and name != "within"]
    within = 1.001 * float(recorded["within"]) if "within" in recorded.files else 0
    found = []
    for name in wanted:
        a, b = got.get(name), recorded[name]
        if a is None or a.shape != b.shape:
            found.append(f"{name}: {None if a is None else a.shape} for {b.shape}")
        elif np.issubdtype(b.dtype, np.floating):
            worst = np.abs(a.astype(np.float64) - b).max(initial=0)
            if not worst <= max(1e-4 * np.abs(b).max(initial=0) + 1e-5, within):
                found.append(f"{name}: {worst:g}")
        elif not np.array_equal(a, b):
            found.append(f"{name}: {a.tolist()} for {b.tolist()}")
    return found + [f"{name}: not wanted" for name in got if name not in wanted]


def main():
    taper, names = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for name in sorted(file[:-4] for file in os.listdir(DATA) if file.endswith(".pt2")):
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder, np.load(os.path.join(DATA, name + ".npz")) as recorded:
            calls = read_calls(recorded, folder)
            model, ways = os.path.join(DATA, name + ".pt2"), [(), ("--no-optimize",), ("--reference",), ("--no-guards",)]
            for verb in ("optimize", "convert") if name not in NOT_WRITTEN else ():  # converts the program to a file for the lite interpreter
                written = os.path.join(folder, verb + ".ptl")
                subprocess.run([taper, verb, model, "-o", written], capture_output=True, text=True, timeout=300)
                ways += [(written,), (written, "--reference")]
                if verb == "optimize" and name in WHOLLY:
                    said = subprocess.run([taper, "inspect", written], capture_output=True, text=True, timeout=300).stdout
                    good = "quantized::" in said and "quantized_decomposed::" not in said
                    passed, failed = passed + good, failed + (not good)
                    if not good:
                        print(f"FAILED {name}: its file has decomposed operators")
            for options in ways:
                file = options[0] if options and os.path.isabs(options[0]) else model
                got, error = run(taper, file, calls, folder, *options[file != model:])
                wrong = [error] if got is None else differences(got, recorded)
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"FAILED {name} {' '.join(options)}: {'; '.join(wrong)}")
    for name, (operators, more) in INTEGERS.items():
        if names and name not in names:
            continue
        graph = subprocess.run([taper, "inspect", os.path.join(DATA, name + ".pt2"), "--graph"], capture_output=True, text=True, timeout=300).stdout
        missing = [operator for operator in operators.split() if f"= {operator}" not in graph]
        left = [] if more else [floats for floats in ("aten::conv", "aten::linear", "dequantize_per_channel") if floats in graph]
        passed, failed = passed + (not missing + left), failed + bool(missing + left)
        if missing or left:
            print(f"FAILED {name}: without {missing}, with {left}")
    for name, shapes, says, unguarded in WRONG:
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            inputs = []
            for i, shape in enumerate(shapes):
                np.save(os.path.join(folder, f"{i}.npy"), np.ones(shape, np.float32))
                inputs.append("@" + os.path.join(folder, f"{i}.npy"))
            calls = [{"method": "forward", "inputs": inputs}]
            got, error = run(taper, os.path.join(DATA, name + ".pt2"), calls, folder)
            good = got is None and says in error.split("\n")[0]
            if unguarded is not None:
                good = good and (run(taper, os.path.join(DATA, name + ".pt2"), calls, folder, "--no-guards")[0] is not None) == unguarded
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAILED {name} of {shapes}: {error.strip() if got is None else 'ran'}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
