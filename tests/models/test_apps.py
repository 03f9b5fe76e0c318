#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs models like those of public apps (apps/) in PyTorch and in Taper and compares structure, values, dtypes, sizes and strides.

  test_apps.py TAPER [--quick] [--filter TEXT] [--forms A,B] [--modes A,B] [--keep DIR] [--write DIR] [--verbose]

Every module is written in several forms: script, trace, flatbuffer, mobile (optimize_for_mobile), mobile_plain (without some passes), frozen, bundled
(inputs bundled, run with --bundled), and bytecode 7, 6, 5, 4 and 3 made from script. Each file is run optimized, with --no-optimize and with
--reference; all calls of a case run on one loaded model, with sizes A, B, A, A. A call that raises in PyTorch must raise in
Taper. --quick: only the forms script and mobile of every case, optimized. Needs python3-torch. Ends with "N passed, N failed"."""
import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
import zlib

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "apps"), os.path.join(HERE, "..", "ops")]
import torch
import torchvision  # noqa: F401 (registers its operators)
from torch.jit.mobile import _backport_for_mobile
from torch.utils.bundled_inputs import augment_model_with_bundled_inputs
from torch.utils.mobile_optimizer import MobileOptimizerType, optimize_for_mobile

import oracle
from case import stir

torch.set_num_threads(1)
torch._C._enable_mobile_interface_call_export()
FILES = ("vision", "detection", "text", "speech", "program")
MODES = {"default": [], "no-optimize": ["--no-optimize"], "reference": ["--reference"]}
FORMS = ("script", "trace", "torchscript", "torchscript_trace", "flatbuffer", "mobile", "mobile_plain", "frozen", "bundled", "bc7", "bc6", "bc5", "bc4", "bc3")


def run_torch(module, calls):
    """Returns [(result, exception)], up to the first call that raises."""
    results = []
    torch.manual_seed(67280421310721)
    for method, args in calls:
        args = plain(args)
        try:
            with torch.no_grad():
                value = module(*args) if method == "forward" else module.run_method(method, *args) if hasattr(
                    module, "run_method") else getattr(module, method)(*args)
        except Exception as e:  # noqa: BLE001: models raise many kinds of exceptions
            lines = [line for line in str(e).strip().split("\n") if line.strip()]
            results.append((None, lines[-1] if lines else type(e).__name__))
            break
        results.append((plain(value, shown=True), None))
    return results


def plain(value, shown=False):
    """Returns copies with the same strides. shown: with keys in the form of JSON."""
    if isinstance(value, torch.Tensor):
        return value.new_empty(0).set_(value.detach().storage().clone(), value.storage_offset(), value.size(), value.stride())
    if isinstance(value, tuple):
        return tuple(plain(v, shown) for v in value)
    if isinstance(value, list):
        return [plain(v, shown) for v in value]
    if isinstance(value, dict):
        return {str(k) if shown else k: plain(v, shown) for k, v in value.items()}
    return value


# Numbers may differ by 1e-5, because a model computed them from float32 values.
oracle.same_number = lambda a, b, same=oracle.same_number: same(a, b, 1e-5)


class Forms:
    """Writes the forms of a case. Each is (path, expected results, reason if it could not be written)."""

    def __init__(self, case, folder):
        self.case, self.folder = case, folder
        self.script = self.scripted()
        self.expected = run_torch(self.scripted(), case.calls)
        if self.expected[-1][1] and "raise" not in case.name:
            print(f"note: {case.name} raises in PyTorch: {self.expected[-1][1]}")

    def module(self):
        """Returns a new copy of the same module, because calls may change its parameters."""
        torch.manual_seed(zlib.crc32(self.case.name.encode()))
        with torch.no_grad():
            return stir(self.case.make()).eval()

    def scripted(self):
        return torch.jit.script(self.module()).eval()

    def path(self, form):
        return os.path.join(self.folder, f"{self.case.name}.{form}.ptl")

    def save(self, module, form, debug=False, flatbuffer=False):
        path = self.path(form)
        module._save_for_lite_interpreter(path, _save_mobile_debug_info=debug, **({"_use_flatbuffer": True} if flatbuffer else {}))
        return path

    def make(self, form):
        """Writes the case in a form. Returns (path, expected results), or None if the case has no such form."""
        case = self.case
        if form == "script":
            return self.save(self.script, form, debug=True), self.expected
        if form == "flatbuffer":
            return self.save(self.script, form, flatbuffer=True), self.expected
        if form in ("torchscript", "torchscript_trace"):
            if form == "torchscript_trace" and not case.trace:
                return None
            module = self.script if form == "torchscript" else torch.jit.trace(self.module(), case.calls[0][1], check_trace=False)
            path = self.path(form)[:-1]  # the form's path ends in .ptl; this file is a .pt
            module.save(path)
            return path, self.expected if form == "torchscript" else run_torch(module, case.calls)
        if form == "trace":
            if not case.trace:
                return None
            traced = torch.jit.trace(self.module(), case.calls[0][1], check_trace=False)
            return self.save(traced, form), run_torch(traced, case.calls)
        if form == "frozen":
            if not case.mobile or not hasattr(self.script, "forward"):
                return None
            frozen = torch.jit.freeze(self.scripted(), preserved_attrs=case.preserve or None)
            return self.save(frozen, form), run_torch(frozen, case.calls)
        if form in ("mobile", "mobile_plain"):
            if not case.mobile:
                return None
            blocked = {MobileOptimizerType.INSERT_FOLD_PREPACK_OPS, MobileOptimizerType.CONV_BN_FUSION} if form == "mobile_plain" else set()
            optimized = optimize_for_mobile(self.scripted(), blocked, preserved_methods=case.preserve or None)
            path = self.save(optimized, form)
            return path, run_torch(torch.jit.load(path), case.calls)  # the results of the .pt file; its functions for the lite interpreter compute the same results
        if form == "bundled":
            if any(method != "forward" for method, _ in case.calls) or self.expected[-1][1] or not case.mobile:
                return None
            module = self.scripted()
            augment_model_with_bundled_inputs(module, [tuple(plain(args)) for _, args in case.calls[:2]], skip_size_check=True)
            results = [run_torch(self.scripted(), [call])[0] for call in case.calls[:2]]
            return self.save(module, form), results
        version = int(form[2:])
        source = self.path("plain")
        if not os.path.exists(source):
            self.script._save_for_lite_interpreter(source)
        path = self.path(form)
        if version == 3:
            if not case.no_schema:
                return None
            _backport_for_mobile(source, self.path("bc4"), 4)
            subprocess.run([sys.executable, os.path.join(HERE, "make_bytecode3.py"), self.path("bc4"), path], check=True)
        else:
            _backport_for_mobile(source, path, version)
        if version <= 4 and not case.no_schema:
            return None
        return path, self.expected


def run_bundled(taper, path, expected, case, extra):
    for k, (want, _) in enumerate(expected):
        p = subprocess.run([taper, "run", path, "--bundled", str(k), "--json"] + extra, capture_output=True, text=True, timeout=120)
        wrong = p.stderr.strip()[:400] if p.returncode else compare_results(case, want, json.loads(p.stdout))
        if wrong:
            return f"bundled input {k}: {wrong}"
    return None


def compare_results(case, want, got):
    return (near if case.loose_bytes else oracle.compare)(want, got, {"rtol": case.rtol})


def near(want, got, options):
    """Returns true for rounded images whose integers differ by at most one."""
    if isinstance(want, torch.Tensor) and not want.is_floating_point() and isinstance(got, dict):
        flat = torch.tensor(got["data"]).flatten()
        if list(want.shape) == got["shape"] and list(want.stride()) == got["strides"] and (flat - want.long().flatten()).abs().max() <= 1:
            return None
    return oracle.compare(want, got, options)


def run_taper(taper, path, calls, expected, case, extra, folder, verbose=False):
    """Returns None if Taper's results of all calls agree with the expected results."""
    files = []
    spec = [{"method": m, "inputs": [oracle.to_input(a, folder, files) for a in args]} for m, args in calls[:len(expected)]]
    calls_file = os.path.join(folder, "calls.json")
    with open(calls_file, "w") as file:
        json.dump(spec, file)
    try:
        p = subprocess.run([taper, "run", path, "--calls", calls_file, "--json"] + extra, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "timed out"
    if p.returncode not in (0, 1) or (p.returncode == 1 and not p.stderr.lstrip().splitlines()):
        return f"ended with {p.returncode}: {p.stderr.strip()[-400:]}"
    raised = expected[-1][1]
    if (raised is not None) != (p.returncode == 1):
        return p.stderr.strip()[:400] if p.returncode else f"did not raise; PyTorch: {raised}"
    if raised is not None:
        text = raised.split(": ")[-1]
        if verbose and "Error: " in raised and text not in p.stderr:
            print(f"note: {case.name}: PyTorch says {raised!r}, Taper {p.stderr.strip()[:200]!r}")
    got = json.loads(p.stdout) if p.stdout.strip() else []
    if len(got) != len(expected) - (raised is not None):
        return f"{len(got)} results, wanted {len(expected) - (raised is not None)}: {p.stderr.strip()[:300]}"
    for i, result in enumerate(got):
        wrong = compare_results(case, expected[i][0], result)
        if wrong:
            return f"call {i} ({calls[i][0]}): {wrong}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taper")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--forms")
    parser.add_argument("--modes")
    parser.add_argument("--keep", help="leave the models of failing cases here")
    parser.add_argument("--write", help="leave every model here and do not run it")
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    forms = a.forms.split(",") if a.forms else ("script", "torchscript", "mobile") if a.quick else FORMS
    modes = a.modes.split(",") if a.modes else ("default",) if a.quick else tuple(MODES)
    passed = failed = models = 0
    unwritten = []
    for name in FILES:
        for case in importlib.import_module(name).CASES:
            if a.filter not in case.name:
                continue
            models += 1
            with tempfile.TemporaryDirectory() as folder:
                try:
                    maker = Forms(case, folder)
                except Exception as e:  # noqa: BLE001
                    failed += 1
                    print(f"FAILED {case.name}: the case itself: {type(e).__name__}: {str(e).strip()[-600:]}", flush=True)
                    continue
                for form in forms:
                    try:
                        made = maker.make(form)
                    except Exception as e:  # noqa: BLE001: PyTorch cannot write this form
                        unwritten.append(f"{case.name}.{form}: {(str(e).strip().splitlines() or [''])[-1][:120]}")
                        continue
                    if made is None:
                        continue
                    if a.write:
                        os.makedirs(a.write, exist_ok=True)
                        subprocess.run(["cp", made[0], a.write], check=True)
                        passed += 1
                        continue
                    for mode in modes:
                        if form == "bundled":
                            wrong = run_bundled(a.taper, made[0], made[1], case, MODES[mode])
                        else:
                            wrong = run_taper(a.taper, made[0], case.calls, made[1], case, MODES[mode], folder, a.verbose)
                        passed, failed = passed + (wrong is None), failed + (wrong is not None)
                        if wrong:
                            print(f"FAILED {case.name}.{form} {mode}: {wrong}", flush=True)
                            if a.keep:
                                os.makedirs(a.keep, exist_ok=True)
                                subprocess.run(["cp", made[0], a.keep], check=False)
                        elif a.verbose:
                            print(f"passed {case.name}.{form} {mode}", flush=True)
    for line in unwritten:
        print("not written by PyTorch:", line)
    print(f"{models} models: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
