#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs operator cases in PyTorch and in Taper and compares values, dtypes, sizes and strides.

  oracle.py TAPER CASEFILE… [--filter TEXT] [--keep DIR] [--verbose] [--taper-arg ARG]…

A case file is a Python file with CASES = [(name, source, args), …]: source is a function, "def f(x): return x.relu()", which may follow functions
that it calls. The function becomes the forward of a module that is scripted, saved for the lite interpreter and run by `taper run`. args is a tuple
of inputs or a function that makes it; tensors are passed contiguous or channels-last, quantized ones (per tensor) contiguous. Instead of a source
there may be a function that makes a module to script, for cases with attributes. Quantized results must have the same integers, scale and zero point;
cases with tensors quantized per channel return q_per_channel_scales() too. A fourth item may be a dict with "rtol", "atol" and "expect", a function
of args that computes the expected results if this build of PyTorch cannot run the case. Numbers are compared element by element (agreement.py). SUMS
= True in a file says that its results are sums along rows or channels, whose error grows with the root of their length. The option "whole" compares
tensors as wholes. A case that raises in PyTorch must raise in Taper, and for the same reason. Needs python3-torch. Ends with "N passed, N failed"."""
import argparse
import importlib.util
import json
import linecache
import math
import os
import re
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
warnings.filterwarnings("ignore")
import numpy as np
import torch

import agreement

torch.set_num_threads(1)
torch.backends.quantized.engine = "qnnpack"  # the engine that PyTorch uses on phones


def scripted_module(source, number):
    """Returns a scripted module whose forward is the function in source, or the module that source makes."""
    if callable(source):
        return torch.jit.script(source())
    lines = source.strip("\n").split("\n")
    start = max(i for i, line in enumerate(lines) if line.startswith("def "))
    head = re.sub(r"^def \w+\(", "def forward(self, ", lines[start])
    head = head.replace("(self, )", "(self)")
    body = lines[:start] + ["class M(torch.nn.Module):", "    " + head] + ["    " + line for line in lines[start + 1:]]
    text = "\n".join(body) + "\n"
    file = f"<case {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"__name__": "cases", "torch": torch, "F": torch.nn.functional, "math": math}
    exec("from typing import *\nfrom torch import Tensor", space)
    exec(compile(text, file, "exec"), space)
    return torch.jit.script(space["M"]())


def clone(v):
    if isinstance(v, torch.Tensor):
        return v.clone()
    if isinstance(v, (list, tuple)):
        return type(v)(clone(x) for x in v)
    if isinstance(v, dict):
        return {k: clone(x) for k, x in v.items()}
    return v


def is_channels_last(v):
    return v.dim() == 4 and not v.is_contiguous() and v.is_contiguous(memory_format=torch.channels_last)


def passable(v):
    """Returns the value in a layout that the CLI accepts: contiguous or channels-last."""
    if isinstance(v, torch.Tensor):
        return v if is_channels_last(v) else v.contiguous()
    if isinstance(v, (list, tuple)):
        return type(v)(passable(x) for x in v)
    if isinstance(v, dict):
        return {k: passable(x) for k, x in v.items()}
    return v


def to_input(v, folder, files):
    """Returns the value in the form of the CLI: JSON, tensors as "@file.npy"."""
    if isinstance(v, torch.Tensor):
        path = os.path.join(folder, f"in{len(files)}.npy")
        if v.is_quantized:  # quantized per tensor, and contiguous
            np.save(path, v.int_repr().contiguous().numpy())
            files.append(path)
            return {"@tensor": path, "scale": v.q_scale(), "zero_point": v.q_zero_point(), "dtype": str(v.dtype)[6:]}
        v = v.detach().resolve_conj().resolve_neg()
        np.save(path, (v.float() if v.dtype == torch.bfloat16 else v).contiguous().numpy())
        files.append(path)
        if v.dtype == torch.bfloat16:
            return {"@tensor": path, "dtype": "bfloat16"} | ({"memory_format": "channels_last"} if is_channels_last(v) else {})
        if is_channels_last(v):
            return {"@tensor": path, "memory_format": "channels_last"}
        return "@" + path
    if isinstance(v, (list, tuple)):
        return [to_input(x, folder, files) for x in v]
    if isinstance(v, dict):
        return {str(k): to_input(x, folder, files) for k, x in v.items()}
    return v


def flatten(v, path, out):
    """Yields (path, value) of every leaf, with tensors unchanged."""
    if isinstance(v, (list, tuple)):
        for i, x in enumerate(v):
            flatten(x, f"{path}[{i}]", out)
        out.append((path + ".len", len(v)))
    elif isinstance(v, dict):
        for k, x in v.items():
            flatten(x, f"{path}[{k!r}]", out)
    else:
        out.append((path, v))
    return out


def flatten_json(v, path, out):
    if isinstance(v, dict) and "dtype" in v and "data" in v:
        out.append((path, v))
    elif isinstance(v, dict) and list(v) == ["complex"]:
        out.append((path, complex(*v["complex"])))
    elif isinstance(v, list):
        for i, x in enumerate(v):
            flatten_json(x, f"{path}[{i}]", out)
        out.append((path + ".len", len(v)))
    elif isinstance(v, dict):
        for k, x in v.items():
            flatten_json(x, f"{path}[{k!r}]", out)
    else:
        out.append((path, v))
    return out


def same_number(a, b, rtol=1e-12):
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str) or a is None:
        return a == b and type(a) == type(b)
    if isinstance(a, float) and isinstance(b, (int, float)):
        return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= rtol * abs(a)
    if isinstance(a, complex):
        return isinstance(b, complex) and same_number(a.real, b.real) and same_number(a.imag, b.imag)
    return a == b


def compare_tensor(want, got, options):
    if str(want.dtype) != "torch." + got["dtype"]:
        return f"dtype {got['dtype']}, wanted {want.dtype}"
    if list(want.shape) != got["shape"]:
        return f"sizes {got['shape']}, wanted {list(want.shape)}"
    if want.layout == torch.strided and "strides" in got and list(want.stride()) != got["strides"]:
        return f"strides {got['strides']}, wanted {list(want.stride())} (sizes {got['shape']})"
    data = got["data"]
    if want.is_quantized:
        if want.qscheme() == torch.per_tensor_affine and (want.q_scale(), want.q_zero_point()) != (got["scale"], got["zero_point"]):
            return f"quantizer {got['scale']!r}, {got['zero_point']}, wanted {want.q_scale()!r}, {want.q_zero_point()}"
        want = want.int_repr()
    if want.is_complex():
        a = torch.view_as_real(want.resolve_conj()).double().flatten()
    else:
        a = (want.double() if want.is_floating_point() else want.to(torch.int64)).flatten()
    flat = torch.tensor(np.array(data, dtype=np.float64 if want.is_floating_point() or want.is_complex() else np.int64).ravel())
    if not (want.is_floating_point() or want.is_complex()):
        return None if torch.equal(a, flat) else f"values {flat[:8].tolist()}, wanted {a[:8].tolist()}"
    finite = torch.isfinite(a)
    if not torch.equal(torch.nan_to_num(a[~finite], 7, 8, 9), torch.nan_to_num(flat[~finite], 7, 8, 9)):
        return f"infinities or NaNs differ: {flat[~finite][:6].tolist()}, wanted {a[~finite][:6].tolist()}"
    a, flat = a[finite], flat[finite]
    if a.numel() == 0:
        return None
    bounds = agreement.bounds(want, options)
    if bounds is not None:
        error = (a - flat).abs()
        allowed = bounds[0] * a.abs() + bounds[1]
        worst = int((error / allowed).argmax())
        if error[worst] <= allowed[worst]:
            return None
        return (f"element {worst} of the finite ones: {flat[worst].item()!r}, wanted {a[worst].item()!r}, error {error[worst].item():.3g}, "
                f"allowed {allowed[worst].item():.3g}")
    rtol, atol = agreement.whole_bounds(want, options)
    error = (a - flat).abs().max().item()
    bound = rtol * a.abs().max().item() + atol
    return None if error <= bound else f"error {error:.3g}, allowed {bound:.3g}: {flat[:6].tolist()}, wanted {a[:6].tolist()}"


def compare(want, got, options):
    w, g = flatten(want, "result", []), flatten_json(got, "result", [])
    if [p for p, _ in w] != [p for p, _ in g]:
        return f"structure {[p for p, _ in g][:12]}, wanted {[p for p, _ in w][:12]}"
    for (path, a), (_, b) in zip(w, g):
        if isinstance(a, torch.Tensor):
            wrong = compare_tensor(a, b, options) if isinstance(b, dict) else f"{b!r}, wanted a tensor"
        else:
            a = str(a) if isinstance(a, torch.device) else a
            wrong = None if not isinstance(b, dict) and same_number(a, b) else f"{b!r}, wanted {a!r}"
        if wrong:
            return f"{path}: {wrong}"
    return None


def run_taper(command):
    """Returns (the finished process, None or an error other than an error of the model)."""
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return None, "timed out"
    if p.returncode not in (0, 1):
        return p, f"taper ended with {p.returncode}: {p.stderr.strip()[-300:]}"
    if "this build of Taper does not have" in p.stderr:
        return p, p.stderr.strip()[:300]  # a missing operator is not an exception of the model
    return p, None


def same_operators(taper, model):
    """Returns None if `taper ops` lists the same operators as PyTorch, which means that the same overloads were chosen."""
    try:
        want = sorted(torch.jit.export_opnames(torch.jit.load(model)))  # operators of the saved file, whose text omits defaults
    except RuntimeError:
        return None  # the lite interpreter does not support this case
    p = subprocess.run([taper, "ops", model], capture_output=True, text=True)
    got = p.stdout.split()
    if p.returncode != 0:
        return f"taper ops: {p.stderr.strip()[:300]}"
    return None if got == want else f"operators {got}, PyTorch lists {want}"


def run_case(taper, extra, case, number, folder, torchscript=False, sums=False, record=None):
    """Returns None if the case agrees, otherwise the difference. Cases that agree are passed to record(name, module, model, args, want, raised,
    options)."""
    name, source, args = case[:3]
    options = case[3] if len(case) > 3 else {}
    args = passable(tuple(args() if callable(args) else args))
    module = scripted_module(source, number)
    model = os.path.join(folder, "case.pt" if torchscript else "case.ptl")
    if torchscript:
        module.save(model)
        module = torch.jit.load(model)  # the module is loaded from the file, because the file's text may change the type of a number: 1e12 becomes an int
    else:
        module._save_for_lite_interpreter(model)
    try:
        torch.manual_seed(67280421310721)
        with torch.no_grad():
            want, raised = options.get("expect", module)(*clone(args)), None
    except Exception as e:
        want, raised = None, str(e).strip().split("\n")[-1]
    command = [taper, "run", model, "--json"] + extra
    files = []
    for a in args:
        command += ["-i", json.dumps(to_input(a, folder, files))]
    p, wrong = run_taper(command)
    for f in files:
        os.unlink(f)
    if wrong:
        return wrong
    if raised is not None:
        wrong = agreement.same_error(raised, p.stderr) if p.returncode == 1 else f"did not raise; PyTorch: {raised}"
        if record is not None and wrong is None:
            record(name, module, open(model, "rb").read(), args, None, "", options)
        return wrong
    if p.returncode != 0:
        return p.stderr.strip()[:300]
    if not options.get("whole"):
        options = {"scale": agreement.scale(args) or agreement.scale(want)} | options
    if sums:
        options = {"length": agreement.length(args)} | options
    wrong = compare(want, json.loads(p.stdout), options)
    if record is not None and wrong is None:
        record(name, module, open(model, "rb").read(), args, want, None, options)
    return same_operators(taper, model) if torchscript and wrong is None else wrong


def load(file):
    spec = importlib.util.spec_from_file_location("cases", file)
    cases = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cases)
    return cases


def try_case(taper, extra, cases, number, folder, torchscript=False, record=None):
    """Returns the result of run_case for cases.CASES[number]; an exception counts as a difference."""
    try:
        return run_case(taper, extra, cases.CASES[number], number, folder, torchscript, getattr(cases, "SUMS", False), record)
    except Exception as e:
        return f"the case itself: {type(e).__name__}: {str(e).strip().splitlines()[-1][:200] if str(e).strip() else ''}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep", help="leave the models of failing cases here")
    parser.add_argument("--torchscript", action="store_true", help="save the cases as TorchScript; compare the lists of operators too")
    parser.add_argument("--every", type=int, default=1, help="take every so many cases only")
    parser.add_argument("--names", help="a JSON list of the cases to take")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--taper-arg", action="append", default=[])
    a = parser.parse_args()
    names = set(json.load(open(a.names))) if a.names else None
    seed = int(os.environ.get("TAPER_SEED") or 0)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in a.files:
            cases = load(file)
            for number, case in enumerate(cases.CASES):
                if a.filter not in case[0] or (number + seed) % a.every or (names is not None and case[0] not in names):
                    continue
                wrong = try_case(a.taper, a.taper_arg, cases, number, folder, a.torchscript)
                if wrong is None:
                    passed += 1
                else:
                    failed += 1
                    print(f"FAILED {os.path.basename(file)}:{case[0]}: {wrong}", flush=True)
                    if a.keep:
                        os.makedirs(a.keep, exist_ok=True)
                        name = "case.pt" if a.torchscript else "case.ptl"
                        os.replace(os.path.join(folder, name), os.path.join(a.keep, case[0].replace("/", "_") + name[4:]))
                if a.verbose and wrong is None:
                    print("passed", case[0], flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
