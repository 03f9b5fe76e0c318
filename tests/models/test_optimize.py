#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_optimize.py TAPER [--samples DIR]… [--part samples|torchscript|apps|passes]… [--filter TEXT] [--each-pass] [--keep DIR] [--verbose]

Tests `taper optimize` with small models: the samples of each DIR, the modules of test_torchscript.py and of apps/, and modules of
optimize_cases.py, some of which only look like the pattern of a pass. In Taper the files for cpu, vulkan and metal must do the same as the
original with --no-optimize --eval, over all calls of one loaded model: results, their dtypes, sizes and strides, and exceptions. Files for
the CPU must also do so in PyTorch's lite interpreter, if that can run the model. --each-pass: also with each pass omitted, and with each pass
alone. Ends with "N of N agree"."""
import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "apps"), os.path.join(HERE, "..", "ops"), os.path.join(HERE, "..")]
import numpy as np
import torch
from torch.jit.mobile import _load_for_lite_interpreter

import optimize_cases
import oracle
import run_optimize
import sampling
import test_apps
import test_torchscript
import test_write

torch.set_num_threads(1)
torch.backends.quantized.engine = "qnnpack"
torch._C._enable_mobile_interface_call_export()
PARTS = ("samples", "torchscript", "apps", "passes")


class Model:
    """A file and its calls, (method, args), up to the first call that raises. folded: an operator that must not remain."""

    def __init__(self, name, path, calls, rtol=1e-4, folded=None):
        self.name, self.path, self.calls, self.rtol, self.folded = name, path, calls, rtol, folded


# ---- sources of models

def from_samples(folder, scratch, wanted):
    if not os.path.exists(os.path.join(folder, "manifest.json")):
        print(f"skipped: {folder} has no samples")
        return
    for entry in json.load(open(os.path.join(folder, "manifest.json"))):
        calls = [(c["method"], tuple(test_write.to_input(folder, a) for a in c["args"])) for c in entry["calls"]]
        ends = [i + 1 for i, c in enumerate(entry["calls"]) if "raises" in c] + [len(calls)]
        for file in entry["models"]:
            if file.endswith((".pt", ".ptl")) and wanted(file):
                for k, (start, end) in enumerate(zip([0] + ends, ends)):
                    if start < end:
                        yield Model(f"{file}{f' from call {start}' if k else ''}", os.path.join(folder, file), calls[start:end])


def from_torchscript(scratch, wanted):
    for k, (name, make, calls, rewrite) in enumerate(test_torchscript.CASES):
        if not wanted(name):
            continue
        torch.manual_seed(0)
        path = os.path.join(scratch, f"torchscript{k}.pt")
        module = torch.jit.script(make())
        (module.train() if name in test_torchscript.IN_TRAINING else module.eval()).save(path)
        if rewrite is not None:
            test_torchscript.rewritten(path, *rewrite)
        yield Model(name, path, [("forward", args) for args in calls])


def from_apps(scratch, wanted, forms):
    for name in test_apps.FILES:
        for case in importlib.import_module(name).CASES:
            if not wanted(case.name):
                continue
            maker = test_apps.Forms(case, scratch)
            for form in forms:
                try:
                    made = maker.make(form)
                except Exception:
                    continue  # PyTorch cannot write this form
                if made is not None:
                    yield Model(f"{case.name}.{form}", made[0], case.calls, case.rtol)


def from_passes(scratch, wanted):
    for k, (name, source, calls) in enumerate(optimize_cases.CASES):
        if not wanted(name):
            continue
        torch.manual_seed(0)
        path = os.path.join(scratch, f"passes{k}.pt")
        module = oracle.scripted_module(source, k)
        module.eval().save(path)
        yield Model(name, path, [("forward", args) for args in calls], folded=optimize_cases.FOLDED.get(name))


# ---- running

class Result:
    """Returns the outcome of a file: results as JSON, and the last line of an exception."""

    def __init__(self, results, raised, wrong=None):
        self.results, self.raised, self.wrong = results, raised, wrong


def run_taper(taper, path, model, scratch, extra=()):
    files = []
    spec = [{"method": m, "inputs": [as_input(a, scratch, files) for a in args]} for m, args in model.calls]
    calls = os.path.join(scratch, "calls.json")
    with open(calls, "w") as file:
        json.dump(spec, file)
    try:
        p = subprocess.run([taper, "run", path, "--calls", calls, "--json"] + list(extra), capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return Result([], None, "timed out")
    finally:
        for file in files:
            os.unlink(file)
    if p.returncode not in (0, 1):
        return Result([], None, f"ended with {p.returncode}: {p.stderr.strip()[-300:]}")
    raised = p.stderr.strip() if p.returncode == 1 else None
    return Result(json.loads(p.stdout) if p.stdout.strip() else [], raised)


def as_input(v, folder, files):
    if isinstance(v, torch.Tensor) and v.is_quantized:
        path = os.path.join(folder, f"in{len(files)}.npy")
        np.save(path, v.int_repr().numpy())
        files.append(path)
        return {"@tensor": path, "scale": v.q_scale(), "zero_point": v.q_zero_point(), "dtype": str(v.dtype).split(".")[1]}
    if isinstance(v, (list, tuple)):
        return [as_input(x, folder, files) for x in v]
    if isinstance(v, dict):
        return {str(k): as_input(x, folder, files) for k, x in v.items()}
    return oracle.to_input(v, folder, files)


def message(raised):
    """Returns the line of an error with the model's exception."""
    lines = [line.strip() for line in raised.splitlines() if line.strip()]
    return lines[-1].split(": ")[-1] if lines else ""


def shape_of(v):
    """Returns the facts about a tensor without its elements. Strides of an empty tensor are omitted, because XNNPACK's operators make them
    channels-last."""
    left_out = ("data", "strides") if isinstance(v, dict) and 0 in v.get("shape", ()) else ("data",)
    return {k: x for k, x in v.items() if k not in left_out} if isinstance(v, dict) else v


def same(want, got, rtol):
    """Returns None if two results in JSON agree."""
    if isinstance(want, dict) and "data" in want and "dtype" in want:
        if not isinstance(got, dict) or shape_of(want) != shape_of(got):
            return f"{shape_of(got)}, wanted {shape_of(want)}"
        return same_data(want, got, rtol)
    if isinstance(want, dict) and isinstance(got, dict) and list(want) == list(got):
        return next((w for w in (same(want[k], got[k], rtol) for k in want) if w), None)
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return next((w for w in map(lambda a, b: same(a, b, rtol), want, got) if w), None)
    if isinstance(want, float) and isinstance(got, (int, float)):
        near = want == got or (math.isnan(want) and math.isnan(got)) or abs(want - got) <= 1e-5 * abs(want)
        return None if near else f"{got!r}, wanted {want!r}"
    return None if type(want) is type(got) and want == got else f"{str(got)[:200]}, wanted {str(want)[:200]}"


def same_data(want, got, rtol):
    a, b = (np.array(v["data"], dtype=np.float64).ravel() for v in (want, got))
    if a.size != b.size:
        return f"{b.size} elements, wanted {a.size}"
    if "float" not in want["dtype"] and "complex" not in want["dtype"]:
        return None if np.array_equal(a, b) else f"values {b[:6].tolist()}, wanted {a[:6].tolist()}"
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return f"infinities or NaNs {b[~finite][:6].tolist()}, wanted {a[~finite][:6].tolist()}"
    if finite.any():
        error, bound = np.abs(a[finite] - b[finite]).max(), rtol * np.abs(a[finite]).max() + 1e-5
        if not error <= bound:
            return f"error {error:.3g}, allowed {bound:.3g}"
    return None


def agree(base, got, rtol):
    if got.wrong:
        return got.wrong
    if (base.raised is None) != (got.raised is None):
        return got.raised[:300] if got.raised else f"did not raise {base.raised[:200]!r}"
    if len(base.results) != len(got.results):
        return f"{len(got.results)} results, wanted {len(base.results)}"
    for i, (a, b) in enumerate(zip(base.results, got.results)):
        wrong = same(a, b, rtol)
        if wrong:
            return f"call {i}: {wrong}"
    return None


# ---- PyTorch's lite interpreter

def lite_agrees(path, model, base):
    """Returns None if the file gives the same outcome in PyTorch as in Taper. PyTorch runs in its own process."""
    module = _load_for_lite_interpreter(path)
    torch.manual_seed(67280421310721)
    for i, (method, args) in enumerate(model.calls):
        try:
            value = module.run_method(method, *oracle.clone(args))  # gradients are enabled here, so the results must be detached
        except Exception as e:
            return None if base.raised and i == len(base.results) else f"call {i} raises {str(e).strip().splitlines()[-1][:200]}"
        if i >= len(base.results):
            return f"did not raise {base.raised[:200]!r}"
        wrong = oracle.compare(test_apps.plain(value, shown=True), without_empty_strides(base.results[i]), {"rtol": model.rtol})
        if wrong:
            return f"call {i}: {wrong}"
    return None


def without_empty_strides(v):
    if isinstance(v, dict):
        return shape_of(v) | {"data": v["data"]} if "data" in v and "shape" in v else {k: without_empty_strides(x) for k, x in v.items()}
    return [without_empty_strides(x) for x in v] if isinstance(v, list) else v


def plain_lite(model, base, scratch):
    """Returns true if PyTorch's lite interpreter gives the same outcome for the original model."""
    path = model.path
    if not path.endswith(".ptl"):
        path = os.path.join(scratch, "plain.ptl")
        wrong = test_write.apart(lambda: torch.jit.load(model.path)._save_for_lite_interpreter(path))
        if wrong:
            return wrong
    return test_write.apart(lambda: lite_agrees(path, model, base))


# ----

class Run:
    def __init__(self, a, scratch):
        self.a, self.scratch = a, scratch
        self.agreeing = self.differing = self.in_lite = self.without = 0

    def tell(self, case, path, wrong):
        self.agreeing, self.differing = self.agreeing + (not wrong), self.differing + bool(wrong)
        if wrong:
            print(f"FAILED {case}: {wrong}", flush=True)
            if self.a.keep:
                os.makedirs(self.a.keep, exist_ok=True)
                subprocess.run(["cp", path, self.a.keep], check=False)
        elif self.a.verbose:
            print(f"agrees: {case}", flush=True)

    def optimize(self, model, out, extra):
        methods = {m for m, _ in model.calls} - {"forward"}
        p = subprocess.run([self.a.taper, "optimize", model.path, "-o", out] + [x for m in sorted(methods) for x in ("--preserve", m)] + extra,
                           capture_output=True, text=True)
        return None if p.returncode == 0 else f"ended with {p.returncode}: {p.stderr.strip()[:300]}"

    def check(self, model, base, title, extra, run_with=(), lite=False):
        out = os.path.join(self.scratch, "out.ptl")
        wrong = self.optimize(model, out, extra)
        wrong = wrong or agree(base, run_taper(self.a.taper, out, model, self.scratch, run_with), model.rtol)
        self.tell(f"{model.name}: {title}", model.path, wrong)
        if lite and model.name in optimize_cases.BATCHES_ONLY:
            refused = test_write.apart(lambda: lite_agrees(out, model, base))
            self.tell(f"{model.name}: {title}", model.path, None if refused else "PyTorch's lite interpreter runs it: the list is wrong")
        elif lite and not wrong:
            wrong = test_write.apart(lambda: lite_agrees(out, model, base))
            if wrong:
                reason = plain_lite(model, base, self.scratch)
                if reason:
                    self.without += 1
                    print(f"skipped {model.name} in PyTorch's lite interpreter, which does not run it as it is either: {reason[:120]}")
                    return
            self.in_lite += 1
            self.tell(f"{model.name}: {title}, in PyTorch's lite interpreter", model.path, wrong)

    def check_all(self, model):
        base = run_taper(self.a.taper, model.path, model, self.scratch, ["--no-optimize", "--eval"])
        if base.raised and "this build of Taper does not have" in base.raised:
            print(f"skipped {model.name}: {base.raised.splitlines()[0][:160]}")
            return
        if base.wrong:
            self.tell(f"{model.name} as it is", model.path, base.wrong)
            return
        for backend in run_optimize.BACKENDS:
            self.check(model, base, backend, ["--backend", backend], lite=backend == "cpu")
            if model.folded:
                left = subprocess.run([self.a.taper, "ops", os.path.join(self.scratch, "out.ptl")], capture_output=True, text=True).stdout
                self.tell(f"{model.name}: {backend}", model.path, f"{model.folded} is left" if model.folded in left.split() else None)
        if self.a.each_pass:
            names = run_optimize.passes(self.a.taper)
            for name in names:
                others = ",".join(n for n in names if n != name)
                self.check(model, base, f"without {name}", ["--disable", name], ["--no-optimize"])
                self.check(model, base, f"{name} alone", ["--disable", others], ["--no-optimize"], lite=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("--samples", action="append", default=[])
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--filter", default="")
    parser.add_argument("--forms", default="torchscript,torchscript_trace,script", help="of apps: as test_apps.py names them")
    parser.add_argument("--each-pass", action="store_true")
    parser.add_argument("--keep", help="leave the models of failing cases here")
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run, wanted = Run(a, scratch), lambda name: a.filter in name
        sources = {"samples": [lambda f=f: from_samples(f, scratch, wanted) for f in a.samples],
                   "torchscript": [lambda: from_torchscript(scratch, wanted)], "apps": [lambda: from_apps(scratch, wanted, a.forms.split(","))],
                   "passes": [lambda: from_passes(scratch, wanted)]}
        models = 0
        for part in a.part or PARTS:
            for source in sources[part]:
                for model in source():
                    if not (a.filter or sampling.taken(model.name, 0.5)):
                        continue
                    models += 1
                    run.check_all(model)
    print(f"{models} models, {run.agreeing} of {run.agreeing + run.differing} agree, {run.in_lite} of them in PyTorch's lite interpreter, "
          f"which does not run {run.without} of the models")
    return 1 if run.differing or not run.agreeing else 0


if __name__ == "__main__":
    sys.exit(main())
