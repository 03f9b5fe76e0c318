#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_samples.py TAPER DIR: runs the sample models of DIR (made by scripts/oracle/make_samples.py) and compares every call with PyTorch's result:
values, dtypes, scales, sizes and strides, and exceptions."""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np


def npy(folder, v):
    return np.load(os.path.join(folder, v["npy"]))


def to_input(folder, v):
    t = v["t"]
    if t == "tensor":
        if "scale" in v:
            return {"@tensor": os.path.join(folder, v["npy"]), "scale": v["scale"], "zero_point": v["zero_point"], "dtype": v["dtype"]}
        return "@" + os.path.join(folder, v["npy"])
    if t in ("list", "tuple"):
        return [to_input(folder, x) for x in v["v"]]
    if t == "dict":
        return {str(k["v"]): to_input(folder, x) for k, x in v["v"]}
    return v["v"]


def compare(folder, want, got, path):
    t = want["t"]
    if t == "tensor":
        if not isinstance(got, dict) or "data" not in got:
            return f"{path}: not a tensor: {str(got)[:80]}"
        for key, mine in (("dtype", want["dtype"]), ("shape", want["shape"]), ("strides", want["strides"])):
            if got[key] != mine:
                return f"{path}: {key} {got[key]}, wanted {mine}"
        # Files for NNAPI have scales in single precision.
        if "scale" in want and (np.float32(got["scale"]), got["zero_point"]) != (np.float32(want["scale"]), want["zero_point"]):
            return f"{path}: scale {got['scale']} and zero point {got['zero_point']}, wanted {want['scale']} and {want['zero_point']}"
        a = npy(folder, want).astype(np.float64).ravel()
        b = np.array(got["data"], dtype=np.float64).ravel()
        if a.size != b.size:
            return f"{path}: {b.size} elements, wanted {a.size}"
        if a.size and "float" in want["dtype"]:
            bound = 1e-4 * np.abs(a).max() + 1e-5
            if not np.abs(a - b).max() <= bound:
                return f"{path}: error {np.abs(a - b).max():.3g}, allowed {bound:.3g}"
        elif not np.array_equal(a, b):
            return f"{path}: values differ"
        return None
    if t in ("list", "tuple"):
        if not isinstance(got, list) or len(got) != len(want["v"]):
            return f"{path}: {str(got)[:80]}, wanted {len(want['v'])} items"
        for i, (w, g) in enumerate(zip(want["v"], got)):
            wrong = compare(folder, w, g, f"{path}[{i}]")
            if wrong:
                return wrong
        return None
    if t == "dict":
        if not isinstance(got, dict) or list(got) != [str(k["v"]) for k, _ in want["v"]]:
            return f"{path}: keys {list(got)[:8] if isinstance(got, dict) else got}"
        for k, w in want["v"]:
            wrong = compare(folder, w, got[str(k["v"])], f"{path}[{k['v']!r}]")
            if wrong:
                return wrong
        return None
    if t == "float" and isinstance(got, (int, float)):
        return None if got == want["v"] or (math.isnan(got) and math.isnan(want["v"])) else f"{path}: {got}, wanted {want['v']}"
    return None if got == want["v"] else f"{path}: {got!r}, wanted {want['v']!r}"


def run_calls(taper, folder, model, calls, extra, scratch):
    """Runs all calls. A call that raises ends a run, so each run has the calls up to a call that raises, on one loaded module."""
    groups, current = [], []
    for call in calls:
        current.append(call)
        if "raises" in call:
            groups.append(current)
            current = []
    groups.append(current)
    for group in groups:
        if not group:
            continue
        spec = [{"method": c["method"], "inputs": [to_input(folder, a) for a in c["args"]]} for c in group]
        file = os.path.join(scratch, "calls.json")
        json.dump(spec, open(file, "w"))
        p = subprocess.run([taper, "run", os.path.join(folder, model), "--calls", file, "--json"] + extra, capture_output=True, text=True)
        if p.returncode not in (0, 1):
            return f"ended with {p.returncode}: {p.stderr[-200:]}"
        raising = "raises" in group[-1]
        if raising != (p.returncode == 1):
            return p.stderr.strip()[:300] or "did not raise"
        if raising:
            text = group[-1]["raises"].split(": ")[-1]
            if text not in p.stderr:
                return f"raised {p.stderr.strip()[:200]!r}, wanted {group[-1]['raises']!r}"
        got = json.loads(p.stdout) if p.stdout.strip() else []
        for i, call in enumerate(group):
            if "ret" in call:
                wrong = compare(folder, call["ret"], got[i], f"{call['method']}()")
                if wrong:
                    return wrong
    return None


def main():
    taper, folder = sys.argv[1:3]
    extra = sys.argv[3:]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for entry in json.load(open(os.path.join(folder, "manifest.json"))):
            for model in entry["models"]:
                wrong = run_calls(taper, folder, model, entry["calls"], extra, scratch)
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if wrong:
                    print(f"FAILED {model}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
