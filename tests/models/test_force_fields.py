#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_force_fields.py TAPER [NAME…] [--atoms N] [--double] [--times]: runs the networks of force_fields.py, scripted and frozen, and compares
energies, forces and stresses with PyTorch's. A force may differ by 1e-5 of the largest force, or by PyTorch's own distance from float64.
--times prints milliseconds of one run with one thread; PyTorch and Taper run in turns. PyTorch needs a fast BLAS for this comparison. Ends
with "N passed, N failed"."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
import torch

import force_fields

torch.set_num_threads(1)
RESULTS = {"nequip": ("total_energy", "forces", "stress")}


def clone(v):
    if isinstance(v, torch.Tensor):
        return v.detach().clone()
    return {k: clone(x) for k, x in v.items()} if isinstance(v, dict) else type(v)(clone(x) for x in v)


def double(v):
    if isinstance(v, torch.Tensor):
        return v.double() if v.dtype == torch.float32 else v
    return {k: double(x) for k, x in v.items()} if isinstance(v, dict) else type(v)(double(x) for x in v)


def results(name, out):
    return [np.asarray(x.detach()) for x in ([out[k] for k in RESULTS[name]] if name in RESULTS else out)]


def write(v, folder):
    """Returns the input for the program taper, whose tensors are files in the folder."""
    if isinstance(v, torch.Tensor):
        path = os.path.join(folder, f"{len(os.listdir(folder))}.npy")
        np.save(path, v.numpy())
        return "@" + path
    return {k: write(x, folder) for k, x in v.items()}


def distance(a, b):
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30))


def compare(taper, name, module, inputs, exact, folder, times):
    """Returns a text about the difference, or None if the results agree. exact: PyTorch's results in float64."""
    path = os.path.join(folder, "model.pt")
    module.save(path)
    want = results(name, module(*clone(inputs)))
    arguments = ["--threads", "1"]
    for x in inputs:
        arguments += ["-i", json.dumps(write(x, folder))]
    out = os.path.join(folder, "out.npz")
    done = subprocess.run([taper, "run", path, "-o", out, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip()[:300]
    got = np.load(out)
    keys = ["output." + k for k in RESULTS[name]] if name in RESULTS else ["output.0", "output.1"]
    for key, w, e in zip(keys, want, exact):
        if got[key].shape != w.shape or got[key].dtype != w.dtype:
            return f"{key}: {got[key].dtype}{list(got[key].shape)}, wanted {w.dtype}{list(w.shape)}"
        if not distance(got[key], e) <= max(1e-5, 1.5 * distance(w, e)):
            return f"{key}: {distance(got[key], e):.2e} of the largest number, PyTorch {distance(w, e):.2e}"
    if times:
        print_times(taper, name, module, inputs, path, arguments)
    return None


def print_times(taper, name, module, inputs, path, arguments):
    theirs, ours = [], []
    for _ in range(3):
        module(*clone(inputs))
    for _ in range(5):
        own = clone(inputs)
        start = time.perf_counter()
        module(*own)
        theirs.append(1e3 * (time.perf_counter() - start))
        done = subprocess.run([taper, "bench", path, "--warmup", "2", "--iter", "3", "--json", *arguments], capture_output=True, text=True)
        ours.append(json.loads(done.stdout)["median_ms"] if done.returncode == 0 else float("nan"))
    ratio = sorted(a / b for a, b in zip(ours, theirs))[2]
    print(f"{name}: PyTorch {sorted(theirs)[2]:.2f} ms, Taper {sorted(ours)[2]:.2f} ms, ratio {ratio:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--atoms", type=int, default=12)
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--times", action="store_true")
    a = parser.parse_args()
    passed = failed = 0
    for name, (module, inputs) in force_fields.cases(a.atoms, torch.float64 if a.double else torch.float32).items():
        if a.names and name not in a.names:
            continue
        scripted = torch.jit.script(module)
        state = {k: v.clone() for k, v in module.state_dict().items()}
        exact = results(name, module.double()(*double(clone(inputs))))
        module.to(torch.float64 if a.double else torch.float32).load_state_dict(state)
        for form, model in ("scripted", scripted), ("frozen", torch.jit.freeze(scripted)):
            with tempfile.TemporaryDirectory() as folder:
                wrong = compare(a.taper, name, model, inputs, exact, folder, a.times and form == "frozen")
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {name}, {form}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
