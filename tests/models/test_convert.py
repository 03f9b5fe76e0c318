#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_convert.py TAPER DIR...: converts every sample of each DIR with `taper convert` to every version of bytecode, to a flatbuffer, and back. A
converted file must give bit-identical results in Taper, and load in PyTorch with the results of the original. Archives keep sources, extra
files and debug records, their records are aligned, and no operator is upgraded twice. Files of `taper optimize` in each form must give the
same results within tolerances."""
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import torch
from torch.jit.mobile import _load_for_lite_interpreter

import run_samples
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling
from test_write import apart, names, own_flatbuffer, same, to_input, tree

BYTECODE = (4, 5, 6, 7, 8)
ALIGNMENT = 64
# {operator: the version since which it has today's meaning}
CHANGED = {"aten::div": 4, "aten::div_": 4, "aten::full": 5, "aten::linspace": 8, "aten::logspace": 9, "aten::gelu": 10}
LACKING = "operators that this build of Taper does not have"


def convert(taper, model, out, *options):
    p = subprocess.run([taper, "convert", model, "-o", out, *options], capture_output=True, text=True)
    return None if p.returncode == 0 else f"`taper convert {' '.join(options)}`: {p.stderr.strip()[:200]}"


# ---- in Taper

def outcome(taper, folder, model, calls, out):
    """Returns Taper's result of each call, with a new module after a raising call: JSON, or the exception."""
    results, current = [], []
    for i, one in enumerate(calls):
        current.append({"method": one["method"], "inputs": [run_samples.to_input(folder, a) for a in one["args"]]})
        if "raises" not in one and i + 1 < len(calls):
            continue
        with open(os.path.join(out, "calls.json"), "w") as file:
            json.dump(current, file)
        p = subprocess.run([taper, "run", model, "--calls", file.name, "--json"], capture_output=True, text=True)
        first = p.stderr.split("\n")[0].replace(model, "MODEL") if p.returncode else ""  # read only after a failure, because after a success stderr has remarks, such as the note about training mode
        results.append((p.returncode, p.stdout, first))
        current = []
    return results


# ---- in PyTorch

def load(path):
    """Loads TorchScript with torch.jit, and everything else in the lite interpreter; both have run_method."""
    if not path.endswith(".pt"):
        return _load_for_lite_interpreter(path)
    module = torch.jit.load(path)
    module.run_method = lambda name, *inputs: getattr(module, name)(*inputs)
    return module


class Raised(str):
    """Returns the text of an exception without the place in the source. TorchScript prints the place before the text, the lite interpreter after
    it, if the file has debug records."""

    def bare(self):
        line = self.strip().split("\n")[-1 if "Traceback of TorchScript, serialized" in self else 0]
        return re.sub(r"^(builtins\.\w+|RuntimeError): ", "", line).strip()


def call(module, folder, c):
    try:
        return module.run_method(c["method"], *[to_input(folder, a) for a in c["args"]])
    except Exception as e:
        return Raised(e)


def cannot_run(original, folder, calls):
    module = load(original)
    for c in calls:
        result = call(module, folder, c)
        if isinstance(result, Raised) and "ret" in c:
            return result.bare()
    return None


def compare_with(original, copy, folder, calls, places):
    """places: true if both files contain the places of calls in the source, so the places must be equal."""
    a, b = load(original), load(copy)
    for c in calls:
        want, got = call(a, folder, c), call(b, folder, c)
        if isinstance(want, Raised) and isinstance(got, Raised) and not places:
            want, got = want.bare(), got.bare()
        if not same(want, got):
            return f"{c['method']}() gives {str(got)[:100]!r} in PyTorch, wanted {str(want)[:100]!r}"
    return None


# ---- records

def aligned(archive, path):
    """Checks that every record starts at a multiple of 64 bytes."""
    with open(path, "rb") as file:
        for info in archive.infolist():
            file.seek(info.header_offset + 26)
            lengths = file.read(4)
            start = info.header_offset + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
            if start % ALIGNMENT:
                return f"{info.filename} starts at {start}"
    return None


def compare_records(original, copy):
    """original: the file from which the copy was made."""
    b = zipfile.ZipFile(copy)
    folder, written = names(b)
    if b.testzip() is not None:
        return f"zipfile finds {b.testzip()} damaged"
    wrong = aligned(b, copy)
    if wrong:
        return wrong
    program = tree(b, folder + "bytecode.pkl")
    version = int(b.read(folder + (".data/version" if ".data/version" in written else "version")))
    for function in program[1:]:
        for op in dict(function[1])["operators"]:
            if version < CHANGED.get(op[0], 0):
                return f"version {version}: PyTorch would upgrade {op[0]}"
    if not zipfile.is_zipfile(original):
        return None
    a = zipfile.ZipFile(original)
    a_folder, there = names(a)
    own = int(a.read(a_folder + (".data/version" if ".data/version" in there else "version")))
    # The sources are not kept if the meaning of an operator changed between the original's version and the copy's
    # version.
    kept = not any(own < change <= version for change in (4, 5, 8, 9))
    for name in there:
        if name.startswith("extra/") or (kept and name.startswith("code/")) or (kept and name == "constants.pkl"):
            if name not in written or a.read(a_folder + name) != b.read(folder + name):
                return f"{name} is missing or differs"
    if not kept and any(n.startswith("code/") and n.endswith(".py") for n in written):
        return f"the sources of version {own} are in a file of version {version}"
    if {"mobile_debug_handles.pkl", "callstack_debug_map.pkl"} <= set(there):
        if not {"mobile_debug_handles.pkl", "callstack_debug_map.pkl"} <= set(written):
            return "the debug records are missing"
        handles = tree(b, folder + "mobile_debug_handles.pkl")
        functions = {f[0]: len(dict(f[1])["instructions"]) for f in program[1:]}
        if {name: len(table[0][1][0].arguments[0]) for name, table in handles[1:]} != functions:
            return "the debug handles are not one for each instruction"
    return None


# ----

def forms(taper, original, out, name):
    """Yields the files made from one model: description, path, source file, and the reason if it could not be made."""
    for version in BYTECODE:
        copy = os.path.join(out, f"{name}.bc{version}.ptl")
        yield f"bytecode {version}", copy, original, convert(taper, original, copy, "--bytecode", str(version))
    flat = os.path.join(out, f"{name}.flat.ptl")
    yield "flatbuffer", flat, original, convert(taper, original, flat, "--flatbuffer")
    for of in ("bc4", "bc6", "flat"):
        source, copy = os.path.join(out, f"{name}.{of}.ptl"), os.path.join(out, f"{name}.{of}.back.ptl")
        yield f"bytecode 8 again, of {of}", copy, source, convert(taper, source, copy)


def examine(taper, folder, entry, model, out):
    """Returns (cases, [differences]) of one model."""
    original, calls, wrong, cases = os.path.join(folder, model), entry["calls"], [], 0
    want = outcome(taper, folder, original, calls, out)
    if any(LACKING in said for _, _, said in want):
        print(f"skipped {model}: {want[0][2][:200]}")
        return 0, []
    unfit = apart(lambda: cannot_run(original, folder, calls))
    if unfit:
        print(f"skipped {model} in PyTorch, which does not run it: {unfit[:80]}")
    flat = None if unfit else own_flatbuffer(folder, entry, out)
    unfit_flat = unfit or (apart(lambda: cannot_run(flat, folder, calls)) if flat else None)
    if unfit_flat and not unfit:
        print(f"skipped {model} as flatbuffer in PyTorch, which does not run its own: {unfit_flat[:80]}")
    for form, copy, source, failure in forms(taper, original, out, model):
        checks = [lambda: failure]
        if not failure:
            checks = [lambda: None if outcome(taper, folder, copy, calls, out) == want else "gives something else in Taper"]
            places = original.endswith(".ptl") and "flat" not in form and zipfile.is_zipfile(original)
            base, lame = (flat or original, unfit_flat) if form == "flatbuffer" else (original, unfit)
            checks += [] if lame else [lambda: apart(lambda: compare_with(base, copy, folder, calls, places))]
            checks += [lambda: compare_records(source, copy)] if zipfile.is_zipfile(copy) else []
        for check in checks:
            cases += 1
            said = check()
            if said:
                wrong.append(f"{model} as {form}: {said}")
    return cases, wrong


class Old(torch.nn.Module):
    """Makes cases with operators whose meaning has changed."""

    def forward(self, x, y):
        return torch.div(x, y), x / 3, torch.full([2], 3), torch.linspace(0., 1., 100), torch.logspace(0., 1., 100)


class WithoutGradients(torch.nn.Module):
    """Makes objects that PyTorch's lite interpreter cannot read from a zip archive."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(3, 3)

    def forward(self, x):
        y = x
        for _ in range(2):
            with torch.no_grad():
                y = self.line(y)
                with torch.no_grad():
                    if bool(y.sum() > 100):
                        return y
        return y + 1


def make_without_gradients(folder):
    torch.manual_seed(0)
    torch.jit.script(WithoutGradients()).save(os.path.join(folder, "without_gradients.pt"))
    np.save(os.path.join(folder, "x.npy"), np.ones((2, 3), np.float32))
    args = [{"t": "tensor", "dtype": "float32", "shape": [2, 3], "strides": [3, 1], "npy": "x.npy"}]
    return {"name": "without_gradients", "models": ["without_gradients.pt"], "calls": [{"method": "forward", "args": args, "ret": {"t": "tensor"}}]}


def make_old(folder, version):
    """Writes a TorchScript file of that version, and its entry in a manifest."""
    saved = io.BytesIO()
    torch.jit.save(torch.jit.script(Old()), saved)
    name = f"old{version}.pt"
    with zipfile.ZipFile(saved) as a, zipfile.ZipFile(os.path.join(folder, name), "w") as b:
        for record in a.namelist():
            data = a.read(record)
            if record.endswith("/version"):
                data = b"%d\n" % version
            elif record.endswith(".debug_pkl"):
                continue
            b.writestr(record, data)
    args = []
    for i, values in enumerate(([7, -7, 9], [2, 2, -4])):
        np.save(os.path.join(folder, f"in{i}.npy"), np.array(values))
        args.append({"t": "tensor", "dtype": "int64", "shape": [3], "strides": [1], "npy": f"in{i}.npy"})
    return {"name": name[:-3], "models": [name], "calls": [{"method": "forward", "args": args, "ret": {"t": "tuple"}}]}


def close(a, b):
    """Returns true if the results are within the tolerance of an optimized model, which may add numbers in another order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return False
        if not a.is_floating_point() or not a.numel():
            return same(a.contiguous(), b.contiguous())
        return bool((a - b).abs().max() <= 1e-4 * a.abs().max() + 1e-5)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(close(a[k], b[k]) for k in a)
    return same(a, b)


def optimized_in_pytorch(original, copy, folder, calls):
    a, b = load(original), load(copy)
    for c in calls:
        want, got = call(a, folder, c), call(b, folder, c)
        if isinstance(want, Raised) and isinstance(got, Raised):
            want, got = want.bare(), got.bare()
        if not close(want, got):
            return f"{c['method']}() gives {str(got)[:100]!r} in PyTorch, wanted {str(want)[:100]!r}"
    return None


def alike(a, b):
    """Compares JSON of results."""
    if isinstance(a, dict) and isinstance(b, dict):
        if "data" in a and "shape" in a:
            if a["shape"] != b.get("shape") or a["dtype"] != b.get("dtype"):
                return False
            x, y = np.array(a["data"], dtype=np.float64), np.array(b["data"], dtype=np.float64)
            return not x.size or bool(np.abs(x - y).max() <= 1e-4 * np.abs(x).max() + 1e-5)
        return list(a) == list(b) and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    return a == b


def optimized_in_taper(taper, folder, original, copy, calls, out):
    for (status, printed, first), (s, p, f) in zip(outcome(taper, folder, original, calls, out), outcome(taper, folder, copy, calls, out)):
        if status != s or first != f or (printed or p) and not alike(json.loads(printed or "[]"), json.loads(p or "[]")):
            return f"gives {f or p[:150]!r} in Taper, wanted {first or printed[:150]!r}"
    return None


def examine_optimized(taper, folder, entry, model, out):
    """Compares files of `taper optimize` in each form with the original, within tolerances."""
    original, calls, wrong, cases = os.path.join(folder, model), entry["calls"], [], 0
    preserve = [word for method in sorted({c["method"] for c in calls}) for word in ("--preserve", method)]
    unfit = apart(lambda: cannot_run(original, folder, calls))
    for form in [["--bytecode", str(v)] for v in BYTECODE] + [["--flatbuffer"]]:
        copy = os.path.join(out, f"{model}.{form[-1]}.optimized.ptl")
        p = subprocess.run([taper, "optimize", original, "-o", copy, *form, *preserve], capture_output=True, text=True)
        if LACKING in p.stderr:
            return 0, []
        checks = [lambda: p.stderr.strip()[:300] if p.returncode else None]
        if not p.returncode:
            checks = [lambda: optimized_in_taper(taper, folder, original, copy, calls, out)]
            checks += [lambda: apart(lambda: optimized_in_pytorch(original, copy, folder, calls))] if not unfit and form[0] != "--flatbuffer" else []
            checks += [lambda: compare_records(copy, copy)] if form[0] != "--flatbuffer" else []
        for check in checks:
            cases += 1
            said = check()
            if said:
                wrong.append(f"{model} optimized as {' '.join(form)}: {said}")
    return cases, wrong


def main():
    with tempfile.TemporaryDirectory() as old:
        with open(os.path.join(old, "manifest.json"), "w") as file:
            json.dump([make_old(old, version) for version in (3, 4, 5, 10)] + [make_without_gradients(old)], file)
        return examine_all(sys.argv[1], [old] + sys.argv[2:])


def examine_named_tuple(taper):
    """Checks a program exported by PyTorch 2 whose result has a named tuple that contains a dict."""
    program, wrong = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "pt2", "2.15_containers.pt2"), []
    inputs = ["-i", "ones:2x3", "-i", "ones:2x3", "-i", "ones:2x3", "-i", "null", "-i", "1.5", "-i", '"up"']
    with tempfile.TemporaryDirectory() as folder:
        written, printed = os.path.join(folder, "w.ptl"), []
        for verb, *options in (("convert",), ("optimize",), ("convert", "--flatbuffer")):
            p = subprocess.run([taper, verb, program, "-o", written, *options], capture_output=True, text=True)
            try:
                assert p.returncode == 0, p.stderr.strip()[:200]
                _load_for_lite_interpreter(written)
                printed = [subprocess.run([taper, "run", file, "--json", *inputs], capture_output=True, text=True) for file in (program, written)]
                assert printed[1].returncode == 0, printed[1].stderr.strip()[:200]
                assert json.loads(printed[0].stdout) == json.loads(printed[1].stdout), "other results"
            except (AssertionError, RuntimeError) as e:
                wrong.append(f"named tuple, {verb} {' '.join(options)}: {str(e)[:300]}")
    return 3, wrong


def examine_all(taper, folders):
    cases, wrong = examine_named_tuple(taper)
    differing = len(wrong)
    for line in wrong:
        print("FAILED " + line)
    for folder in folders:
        if not os.path.exists(os.path.join(folder, "manifest.json")):
            print(f"skipped {folder}: it has no samples")
            continue
        with open(os.path.join(folder, "manifest.json")) as file:
            manifest = json.load(file)
        for entry in manifest:
            for model in entry["models"]:
                if not sampling.taken(model, 0.4):
                    continue
                if not os.path.exists(os.path.join(folder, model)):
                    print(f"skipped {model}: it is not there")
                    continue
                with tempfile.TemporaryDirectory() as out:
                    for some, wrong in (examine(taper, folder, entry, model, out), examine_optimized(taper, folder, entry, model, out)):
                        cases, differing = cases + some, differing + len(wrong)
                        for line in wrong:
                            print("FAILED " + line)
    print(f"{cases} cases, {differing} differing")
    return 1 if differing or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
