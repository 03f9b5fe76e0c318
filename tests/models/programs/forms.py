# SPDX-License-Identifier: BSD-2-Clause
"""Runs every form of a program's file in Taper and compares with PyTorch's results."""
import json
import os
import random
import re
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder) for folder in ("..", "../../ops", "../apps")]
import torch
from torch.jit.mobile import _load_for_lite_interpreter

import agreement
import oracle
import scripted
import test_apps

VERSIONS = [["--flatbuffer"]] + [["--bytecode", str(v)] for v in (4, 5, 6, 7, 8)]
MODES = [[], [], ["--no-optimize"], ["--reference"]]
TOLERANCES = {"rtol": 2e-4, "atol": 1e-5}


class Refused(Exception):
    """Raised if PyTorch does not accept the program, or the file that PyTorch wrote of it."""


class Forms:
    def __init__(self, taper, source, calls, folder, seed, tally):
        self.taper, self.calls, self.folder, self.tally, self.seed = taper, calls, folder, tally, seed
        self.in_python = None
        self.r, self.source = random.Random(seed), source
        self.pt, self.ptl = self.path("program.pt"), self.path("program.ptl")
        try:
            module = scripted.build(source, seed)
            module.save(self.pt)
            loaded = torch.jit.load(self.pt)
        except Exception as e:  # noqa: BLE001: the compiler raises many kinds of exceptions, for the source and for its own text
            raise Refused(next((line for line in str(e).split("\n") if line.strip()), type(e).__name__)[:60]) from e
        try:
            module._save_for_lite_interpreter(self.ptl)
        except RuntimeError as e:
            tally[f"PyTorch writes no .ptl: {str(e).split('.')[0][:70]}"] += 1
            self.ptl = None
        with torch.jit.optimized_execution(False):
            self.wanted = test_apps.run_torch(loaded, calls)
        self.raised = self.wanted[-1][1]
        if self.raised and "INTERNAL ASSERT" in self.raised:
            raise Refused("when it runs")
        self.unraised = self.without_dead_code() if self.raised else None
        tally["raising"] += self.raised is not None
        files = []
        spec = [{"method": m, "inputs": [oracle.to_input(a, folder, files) for a in args]} for m, args in calls[:len(self.wanted)]]
        self.list = self.path("calls.json")
        with open(self.list, "w") as file:
            json.dump(spec, file)
        self.methods = sorted({m for m, _ in calls} - {"forward"})

    def without_dead_code(self):
        """Returns PyTorch's result after optimization. PyTorch then removes code whose value is unused, even if the code raises."""
        got = test_apps.run_torch(torch.jit.load(self.pt), self.calls)
        return got if got[-1][1] != self.raised or len(got) > len(self.wanted) else None

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *arguments):
        return subprocess.run([self.taper, *arguments], capture_output=True, text=True, timeout=60)

    def run(self, model, extra):
        """Returns None if Taper's result is PyTorch's, including a final exception."""
        p = self.start("run", model, "--calls", self.list, "--json", *extra)
        if p.returncode not in (0, 1):
            return f"ended with {p.returncode}: {p.stderr.strip()[-300:]}"
        got = json.loads(p.stdout) if p.stdout.strip() else []
        wrong = compared(self.wanted, got, p)
        if wrong and self.unraised and compared(self.unraised[:len(self.wanted)], got, p) is None:
            return None
        if wrong and self.raised and len(got) >= len(self.wanted) - 1 and (model not in (self.pt, self.ptl) or "--no-optimize" not in extra):
            # The optimizer omits code that raises if nothing uses its result. The file as saved raises.
            self.tally["what raises left out by the optimizer"] += 1
            return self.run(model, ["--no-optimize"]) if model in (self.pt, self.ptl) else None
        if wrong and p.returncode and (self.raised is None or len(got) + 1 < len(self.wanted)) and self.python_raises(len(got)):
            # PyTorch omits a write to a value that nothing uses.
            self.tally["what raises left out by PyTorch"] += 1
            return None
        if wrong and not self.raised and self.loses_a_value():
            return compared(self.in_python, got, p)
        return wrong

    def loses_a_value(self):
        """Returns true if TorchScript returns None where Python has a value, because PyTorch moves a value that a loop uses twice."""
        if self.in_python is None:
            with scripted.module(self.source, self.seed) as module:
                self.in_python = test_apps.run_torch(module, self.calls)
        pairs = zip(oracle.flatten([v for v, _ in self.wanted], "", []), oracle.flatten([v for v, _ in self.in_python], "", []))
        lost = any(a[0] == b[0] and a[1] is None and b[1] is not None for a, b in pairs)
        self.tally["values that PyTorch loses"] += lost
        return lost

    def python_raises(self, call):
        """Returns true if Python itself raises in this call and not before."""
        with scripted.module(self.source, self.seed) as module:
            got = test_apps.run_torch(module, self.calls[:call + 1])
        return len(got) == call + 1 and got[-1][1] is not None

    def in_lite(self, model):
        """Returns None if PyTorch's lite interpreter gives the same result; unsupported programs are counted. The lite interpreter runs in
        its own process: called from Python, it crashes on results that are named tuples, on arguments that are Unions, and in other
        cases."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                got = test_apps.run_torch(_load_for_lite_interpreter(model), self.calls)
                text = (f"refused: {got[-1][1]}" if got[-1][1] and not self.raised else None) or ("" if self.raised else differ(self.wanted, got, "optimized" in model) or "")
            except Exception as e:  # noqa: BLE001
                text = f"refused: {e}"
            os.write(writer, text.encode()[:4000])
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as file:
            text = file.read()
        status = os.waitpid(child, 0)[1]
        if status or text.startswith("refused"):
            self.tally["lite interpreter crashes" if status else f"lite interpreter {text[:60]}"] += 1
            return None
        return text or None

    def written(self, command, model, out, *options):
        """Runs a command of Taper that writes a file. Returns the path of the file, or the error."""
        p = self.start(command, model, "-o", self.path(out), *options)
        return (self.path(out), None) if p.returncode == 0 else (None, f"{p.stderr.strip()[:300]}")

    def failures(self, listed):
        """Returns (form, difference) of the first form whose results differ, or None if no form differs."""
        for check in (self.as_saved, self.optimized, self.converted, self.bundled, self.quantized) + ((self.listed,) if listed else ()):
            wrong = check()
            if wrong:
                return wrong
        return None

    def as_saved(self):
        for model in filter(None, (self.pt, self.ptl)):
            for extra in ([], self.r.choice(MODES[2:])):
                wrong = self.run(model, extra)
                if wrong:
                    return f"{os.path.basename(model)} {' '.join(extra)}".strip(), wrong
        return None

    def listed(self):
        try:
            want = set(torch.jit.export_opnames(torch.jit.load(self.pt)))
        except RuntimeError:
            return None  # the lite interpreter does not accept this program
        got = set(self.start("ops", self.pt).stdout.split())
        return None if got == want else ("ops", f"too many: {sorted(got - want)}, too few: {sorted(want - got)}")

    def model(self):
        return self.r.choice([self.pt, self.ptl or self.pt])

    def optimized(self):
        model, options = self.model(), [o for m in self.methods for o in ("--preserve", m)]
        options += self.r.choice([[], [], ["--backend", "vulkan"], ["--flatbuffer"]])
        out, wrong = self.written("optimize", model, "optimized.ptl", *options)
        wrong = wrong or self.run(out, self.r.choice(MODES)) or ("vulkan" not in options and self.r.random() < 0.4 and self.in_lite(out)) or None
        return (f"optimize {os.path.basename(model)} {' '.join(options)}", wrong) if wrong else None

    def converted(self):
        model, options = self.model(), self.r.choice(VERSIONS)
        out, wrong = self.written("convert", model, "converted.ptl", *options)
        if wrong and options[-1] in "45" and "bytecode before 6 does not say how many arguments a call has" in wrong:
            self.tally["not for bytecode 4 and 5"] += 1
            return None
        wrong = wrong or self.run(out, self.r.choice(MODES)) or (self.r.random() < 0.5 and self.in_lite(out)) or None
        return (f"convert {os.path.basename(model)} {' '.join(options)}", wrong) if wrong else None

    def bundled(self):
        if self.r.random() < 0.5:
            return None
        model = self.model()
        out, wrong = self.written("bundle", model, "bundled.ptl", "--calls", self.list)
        if not wrong and self.wanted[0][1] is None:
            p = self.start("run", out, "--bundled", "0", "--json")
            wrong = p.stderr.strip()[:300] if p.returncode else oracle.compare(self.wanted[0][0], json.loads(p.stdout), TOLERANCES)
            if p.returncode == 1 and self.python_raises(0):
                self.tally["what raises left out by PyTorch"] += 1
                return None
        return (f"bundle {os.path.basename(model)}", wrong) if wrong else None


    def quantized(self):
        """Quantized results are near the float results, and a program may amplify the difference. The file must be written or refused with a
        reason, and run to results of the same kinds unless it raises."""
        forward = [args for m, args in self.calls[:len(self.wanted)] if m == "forward"]
        if "nn." not in self.source or self.raised or not forward:
            return None
        files, model, mode = [], self.model(), self.r.choice(["core", "dynamic"])
        samples = self.path("samples.json")
        with open(samples, "w") as file:
            json.dump([oracle.to_input(a, self.folder, files) for a in forward[0]], file)
        out, wrong = self.written("quantize", model, "quantized.ptl", "--mode", mode, "--compare", "0", *(["--calibrate", samples] if mode == "core" else []))
        if out is None:
            self.tally[f"quantize {mode}: {wrong.split(': ')[-1][:60]}"] += 1
            return None if wrong.startswith("taper: error: ") else (f"quantize {os.path.basename(model)} --mode {mode}", wrong)
        self.tally[f"quantized {mode}"] += 1
        p = self.start("run", out, "--json", *[word for a in forward[0] for word in ("-i", json.dumps(oracle.to_input(a, self.folder, files)))])
        if p.returncode == 1 and p.stderr.startswith("taper: error: "):
            self.tally[f"quantized and raises: {p.stderr.split(': ')[-1].strip()[:60]}"] += 1
            return None
        wanted = self.wanted[[m for m, _ in self.calls].index("forward")][0]
        kinds = [[(path, v.dtype if isinstance(v, torch.Tensor) else type(v)) for path, v in oracle.flatten(wanted, "", [])],
                 [(path, getattr(torch, v["dtype"]) if isinstance(v, dict) else type(v)) for path, v in oracle.flatten_json(json.loads(p.stdout or "null"), "", [])]]
        wrong = p.stderr.strip()[:300] if p.returncode else None if kinds[0] == kinds[1] else f"kinds {kinds[1]}, wanted {kinds[0]}"
        return (f"quantize {os.path.basename(model)} --mode {mode}", wrong) if wrong else None


def compared(wanted, got, p):
    raised = wanted[-1][1]
    for i, (want, _) in enumerate(wanted[:-1] if raised else wanted):
        if i >= len(got):
            return f"call {i}: {p.stderr.strip()[:300]}"
        wrong = oracle.compare(want, got[i], TOLERANCES)
        if wrong:
            return f"call {i}: {wrong}"
    if raised is None:
        return p.stderr.strip()[:300] if p.returncode else None
    return agreement.same_error(raised, re.sub(r"(?<=: )call \d+ \(\w+\): ", "", p.stderr, count=1)) if p.returncode else f"did not raise; PyTorch: {raised}"


def same_leaf(a, b, same=oracle.same_number):
    """Returns true if leaves are equal; numbers in a text may differ in their last digits, too."""
    if isinstance(a, str) and isinstance(b, str) and a != b:
        of_a, of_b = re.split(REALS, a), re.split(REALS, b)
        return len(of_a) == len(of_b) and all(x == y if i % 2 == 0 else same(float(x), float(y)) for i, (x, y) in enumerate(zip(of_a, of_b)))
    return same(a, b)


REALS = r"(-?\d+\.\d+(?:e[+-]?\d+)?)"
oracle.same_number = same_leaf


def differ(want, got, clamps):
    """Compares PyTorch's own results of two files; clamps: the second file may have layers with bounds, which convert NaN to the lower bound."""
    for i, ((a, _), (b, _)) in enumerate(zip(want, got)):
        a, b = oracle.flatten(a, f"call {i}", []), oracle.flatten(b, f"call {i}", [])
        if [p for p, _ in a] != [p for p, _ in b]:
            return "PyTorch's lite interpreter: another structure"
        for (path, x), (_, y) in zip(a, b):
            if isinstance(x, torch.Tensor) != isinstance(y, torch.Tensor) or not (same_tensor(x, y, clamps) if isinstance(x, torch.Tensor) else oracle.same_number(x, y)):
                return f"PyTorch's lite interpreter: {path}: {y}, wanted {x}"
    return None


def same_tensor(a, b, clamps):
    if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride():
        return False
    a, b = (t.dequantize() if t.is_quantized else t for t in (a, b))
    return torch.allclose(a, torch.where(a.isnan(), a, b) if clamps else b, 2e-4, 1e-5, True)
