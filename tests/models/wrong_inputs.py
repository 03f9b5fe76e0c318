#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs models of apps/ and the samples with wrong inputs. Taper must never crash, and if PyTorch raises, Taper must print an error with the reason.

  wrong_inputs.py TAPER [--samples DIR] [--filter TEXT] [--verbose]

Every input of the first call is replaced in turn: other counts, types, ranks, channels, dtypes, empty and odd sizes, NaN. Taper
must end with 0 or 1. Whenever PyTorch raises, it must end with 1 and print "taper: error: …" as first line. For a wrong count
or type this line must name the input. The test also runs with sanitizers. Needs python3-torch. Ends with "N passed, N
failed"."""
import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile

# Taper must refuse sizes that no machine has. This option keeps ASan from refusing them first.
os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1")
import numpy as np
import torch

import test_apps
import oracle

NAMES = ("mobilenet", "unet", "style", "video", "ssd", "yolo_post", "bytes", "gru_tagger", "packed_lstm", "bert", "stateful_lm", "ctc", "tabular",
         "named", "in_place", "transducer")
# Inputs that PyTorch refuses by accident, or because it lacks a kernel, and that Taper accepts.
ACCIDENTS = ("not implemented for 'Half'", "select(): index 0 out of range for tensor of size [0]",)
DTYPES = (torch.int64, torch.bool, torch.uint8, torch.float64, torch.float16, torch.complex64)


def tensors(t):
    """Yields (name, tensor) for each wrong tensor that replaces t."""
    yield "rank + 1", t.unsqueeze(0)
    if t.dim():
        yield "rank - 1", t[0]
        yield "scalar", t.flatten()[0].clone()
        for d in range(t.dim()):
            if t.size(d) > 1:
                yield f"size {d} - 1", t.narrow(d, 0, t.size(d) - 1).contiguous()
            yield f"size {d} + 1", torch.cat([t, t.narrow(d, 0, 1)], d)
            empty = list(t.shape)
            empty[d] = 0
            yield f"size {d} = 0", torch.empty(empty, dtype=t.dtype)
            empty = [1] * t.dim()
            yield "all sizes 1", torch.zeros(empty, dtype=t.dtype)
            empty[d] = 0
            yield f"empty with ones, {d}", torch.empty(empty, dtype=t.dtype)
            empty = [1 << 40 if i != d else 0 for i in range(min(t.dim(), 2))]
            if len(empty) > 1 and d < 2:
                yield f"empty and huge {d}", torch.empty(empty, dtype=t.dtype)
        yield "rank 8", t.reshape([1] * (8 - min(t.dim(), 8)) + list(t.shape))[tuple([slice(None)] * 8)] if t.dim() <= 8 else t
    for dtype in DTYPES:
        if dtype != t.dtype:
            yield str(dtype), t.to(dtype)
    if t.is_floating_point():
        yield "nan", torch.full_like(t, float("nan"))
        yield "inf", torch.full_like(t, float("inf"))
        yield "large", torch.full_like(t, 3e38)
    elif t.dtype == torch.int64:
        yield "negative", -t - 1
        yield "out of range", t + (1 << 40)
        yield "most", torch.full_like(t, (1 << 63) - 1)


def others(v):
    """Yields (name, true if the type is wrong, value) for each wrong value that replaces v."""
    for name, x in (("None", None), ("int", 7), ("float", 0.5), ("str", "text"), ("bool", True), ("list", [1, 2]), ("empty list", []),
                    ("dict", {"a": 1}), ("empty dict", {}), ("list of str", ["a"]), ("tensor", torch.zeros(2, 2)), ("list of tensors", [torch.zeros(1)])):
        yield name, x
    if isinstance(v, int) and not isinstance(v, bool):
        for x in (-1, 0, 1 << 20 if v > 100 else 33, -(1 << 63), (1 << 63) - 1):
            yield f"int {x}", x
    if isinstance(v, torch.Tensor):
        yield from tensors(v)
    if isinstance(v, list) and v:
        yield "shorter", v[1:]
        yield "longer", v + v[:1]
        for name, x in others(v[0]):
            yield "item: " + name, [x] + v[1:]
    if isinstance(v, dict):
        for k in v:
            yield f"without {k}", {a: b for a, b in v.items() if a != k}
            for name, x in others(v[k]):
                yield f"[{k}]: {name}", {**v, k: x}


def wrong_calls(args):
    """Yields (name, arguments, index). The index is that of the argument whose type may be wrong, or None."""
    yield "one too few", args[:-1], None
    yield "none at all", (), None
    yield "one too many", tuple(args) + (1,) * 9, None
    for i, v in enumerate(args):
        for name, x in others(v):
            yield f"input {i}: {name}", args[:i] + (x,) + args[i + 1:], i


class Runner:
    def __init__(self, taper, verbose):
        self.taper, self.verbose, self.passed, self.failed, self.softer = taper, verbose, 0, 0, 0

    def run(self, label, path, method, args, folder, expected_to_raise, raised=""):
        files = []
        try:
            texts = [json.dumps(oracle.to_input(a, folder, files)) for a in args]
        except (oracle.Skip, TypeError):
            return
        command = [self.taper, "run", path, "--method", method, "--json"]
        for t in texts:
            command += ["-i", t]
        try:
            p = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            self.fail(label, "timed out")
            return
        lines = [line for line in p.stderr.strip().split("\n") if line]
        if p.returncode not in (0, 1) or "ERROR: AddressSanitizer" in p.stderr or "runtime error" in p.stderr:
            self.fail(label, f"ended with {p.returncode}: {p.stderr[-1500:]}")
        elif p.returncode == 1 and not any(line.startswith("taper: error: ") and len(line) > 20 for line in lines):
            self.fail(label, f"no message: {p.stderr[:300]}")
        elif expected_to_raise and p.returncode == 0 and not any(text in raised for text in ACCIDENTS):
            self.fail(label, f"did not fail; PyTorch: {raised}")
        else:
            self.passed += 1
            if p.returncode == 1 and not expected_to_raise:
                self.softer += 1
                print(f"refused although PyTorch does not raise: {label}: {lines[0][:260]}", flush=True)
            elif self.verbose:
                print(f"passed {label}: {lines[0][:260] if lines and p.returncode else 'ran'}", flush=True)

    def fail(self, label, what):
        self.failed += 1
        print(f"FAILED {label}: {what}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taper")
    parser.add_argument("--samples")
    parser.add_argument("--filter", default="")
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    runner = Runner(a.taper, a.verbose)
    cases = [c for f in test_apps.FILES for c in importlib.import_module(f).CASES if c.name in NAMES and a.filter in c.name]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            forms = test_apps.Forms(case, folder)
            path = forms.save(forms.script, "script", debug=True)
            method, args = case.calls[0]
            for label, wrong, _ in wrong_calls(tuple(args)):
                result = test_apps.run_torch(forms.scripted(), [(method, wrong)])
                runner.run(f"{case.name}, {label}", path, method, wrong, folder, result[-1][1] is not None, result[-1][1])
        for entry in json.load(open(os.path.join(a.samples, "manifest.json"))) if a.samples else []:
            model = next((m for m in entry["models"] if m.endswith(".ptl")), None)
            if model is None or a.filter not in entry["name"] or not os.path.exists(os.path.join(a.samples, model)):
                continue
            call = entry["calls"][0]
            path = os.path.join(a.samples, model)
            args = tuple(torch.from_numpy(np.load(os.path.join(a.samples, x["npy"]))) if x["t"] == "tensor" else x.get("v") for x in call["args"])
            for label, wrong, _ in wrong_calls(args):
                runner.run(f"{entry['name']}, {label}", path, call["method"], wrong, folder, label in ("one too many",))
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed or not runner.passed else 0


if __name__ == "__main__":
    sys.exit(main())
