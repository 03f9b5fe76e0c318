# SPDX-License-Identifier: BSD-2-Clause
"""Runs the files of a program that computes gradients (gradients.py) in Taper and compares with PyTorch's results: as saved, frozen, optimized
by taper, and traced. PyTorch's interpreter runs without its own optimizer."""
import json
import os
import random
import re
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder) for folder in ("..", "../../ops")]
import torch

import agreement
import gradient_reasons
import oracle
import scripted
from forms import Refused
from run_gradients import strip

PRECISE, COARSE = {"rtol": 1e-9, "atol": 1e-11}, {"rtol": 1e-4, "atol": 1e-5}
# Patterns for PyTorch's messages that say more than Taper's messages, because they name functions of PyTorch or count
# versions.
CUT = ((r"Expected a proper Tensor but got None .* for argument #\d+ '(\w+)'", r"argument '\1' (position 0): expected a Tensor, got None"), (r"modified by an inplace operation: .*", "modified by an inplace operation"), (r"(Can't detach views in-place. Use detach\(\) instead\.).*", r"\1"), (r"Output \d+ of .*? is a view", "Output is a view"))
# Messages of the reasons to refuse a program that writes to tensors. If several reasons apply to a gradient, PyTorch and Taper may name different
# ones.
REFUSES = r"refers? to a single memory location|modified by an inplace operation|view .*(is being|its base or another view of its base has been) modified inplace"


def run_torch(module, calls):
    """Returns [(result, exception)], up to the first call that raises."""
    results = []
    for _, args in calls:
        torch.set_grad_enabled(True)
        try:
            value = module(*oracle.clone(args))
        except Exception as e:  # noqa: BLE001: whatever it raises
            lines = [line for line in str(e).strip().split("\n") if line.strip()]
            results.append((None, lines[-1] if lines else type(e).__name__))
            break
        results.append((strip(value), None))
    torch.set_grad_enabled(True)
    return results


def words(message):
    for pattern, short in CUT:
        message = re.sub(pattern, short, message)
    return message


class Forms:
    def __init__(self, taper, source, calls, folder, seed, tally):
        self.taper, self.source, self.calls, self.folder, self.seed, self.tally = taper, source, calls, folder, seed, tally
        self.r, self.pt = random.Random(seed), self.path("program.pt")
        self.tolerance = COARSE if ".float()" in source or "torch.float64" not in source else PRECISE
        try:
            scripted.build(source, seed).save(self.pt)
            self.wanted = self.results_of(self.pt, self.calls)
        except Exception as e:  # noqa: BLE001: whatever the compiler raises
            raise Refused(next((line for line in str(e).split("\n") if line.strip()), type(e).__name__)[:60]) from e
        raised = self.wanted[-1][1]
        if raised and re.search("INTERNAL ASSERT|the derivative for .* is not implemented|could not compute gradients for some|dependency not found for", raised):
            raise Refused("when it runs")
        tally["raising"] += raised is not None
        files = []
        self.list = self.path("calls.json")
        with open(self.list, "w") as file:
            json.dump([{"inputs": [oracle.to_input(a, folder, files) for a in args]} for _, args in calls[:len(self.wanted)]], file)

    def path(self, name):
        return os.path.join(self.folder, name)

    def results_of(self, module, calls):
        """Returns PyTorch's results. module: a module, or the path of a file."""
        with torch.jit.optimized_execution(False):
            return run_torch(torch.jit.load(module) if isinstance(module, str) else module, calls)

    def start(self, *arguments):
        return subprocess.run([self.taper, *arguments], capture_output=True, text=True, timeout=60)

    def run(self, model, wanted, *extra):
        """Returns None if Taper's result is PyTorch's, including a final exception."""
        p = self.start("run", model, "--calls", self.list, "--json", *extra)
        if p.returncode not in (0, 1):
            return f"ended with {p.returncode}: {p.stderr.strip()[-300:]}"
        got = json.loads(p.stdout) if p.stdout.strip() else []
        wrong = self.compared(wanted, got, p)
        reason = gradient_reasons.find(self, model, wanted, lambda found: self.compared(found, got, p) is None, p.stderr) if wrong else None
        if reason:
            self.tally[reason] += 1
            return None
        if wrong and wanted[-1][1] and "--no-optimize" not in extra:
            self.tally["what raises left out by the optimizer"] += 1
            return self.run(model, wanted, "--no-optimize") if model == self.pt else None
        if wrong and self.is_unstable(model):
            self.tally["results that roundings change"] += 1
            return None
        return wrong

    def compared(self, wanted, got, p):
        raised = wanted[-1][1]
        for i, (want, _) in enumerate(wanted[:-1] if raised else wanted):
            if i >= len(got):
                return f"call {i}: {p.stderr.strip()[:300]}"
            wrong = oracle.compare(want, strip(got[i]), self.tolerance)
            if wrong:
                return f"call {i}: {wrong}"
        if raised is None:
            return p.stderr.strip()[:300] if p.returncode else None
        if p.returncode and all(re.search(REFUSES, text) for text in (raised, p.stderr)):
            self.tally["refused with another reason"] += words(raised).split(": ", 1)[-1] not in words(p.stderr)
            return None
        return agreement.same_error(words(raised), words(re.sub(r"(?<=: )call \d+ \(\w+\): ", "", p.stderr, count=1))) if p.returncode else f"did not raise; PyTorch: {raised}"

    def is_unstable(self, model):
        """Returns true if PyTorch's own results change much when only the last bits of the inputs change."""
        if not model.endswith(".pt"):
            model = self.pt
        before = self.results_of(model, self.calls)
        for factor in (1 + 3e-14, 1 - 7e-14) if "torch.float64" in self.source else (1 + 3e-7, 1 - 7e-7):
            after = self.results_of(model, [(m, [a * factor for a in args]) for m, args in self.calls])
            if any(not self.alike(a, b) for (a, _), (b, _) in zip(before, after)) or [words(a[1] or "") for a in before] != [words(a[1] or "") for a in after]:
                return True
        return False

    def alike(self, a, b):
        if isinstance(a, torch.Tensor):
            near = self.tolerance["rtol"] * float(a.abs().max() if a.numel() else 0) + self.tolerance["atol"]
            return isinstance(b, torch.Tensor) and torch.allclose(a, b, 0, near if near == near and near < float("inf") else 0, True)
        return all(map(self.alike, a, b)) if isinstance(a, (list, tuple)) else a == b

    # ---- the forms

    def failures(self, _listed=False):
        """Returns (form, difference) of the first form whose results differ, or None if no form differs."""
        for check in (self.as_saved, self.optimized, self.frozen, self.traced):
            wrong = check()
            if wrong:
                return wrong
        return None

    def as_saved(self):
        for extra in ([], [self.r.choice(["--no-optimize", "--reference"])]):
            wrong = self.run(self.pt, self.wanted, *extra)
            if wrong:
                return f"program.pt {' '.join(extra)}".strip(), wrong
        return None

    def optimized(self):
        """A file that taper optimizes. Its parameters need no gradient, as in a file that PyTorch freezes, so
        programs with parameters have no such form."""
        if "self.w" in self.source or "self.layer" in self.source:
            return None
        options = self.r.choice([[], ["--flatbuffer"]])
        p = self.start("optimize", self.pt, "-o", self.path("optimized.ptl"), *options)
        wrong = p.stderr.strip()[:300] if p.returncode else self.run(self.path("optimized.ptl"), self.wanted, *self.r.choice([[], ["--no-optimize"]]))
        return (f"optimize {' '.join(options)}", wrong) if wrong else None

    def other(self, name, make):
        """Runs a file that PyTorch makes of the program."""
        path = self.path(name)
        try:
            made = make()
            if not re.search("aten::(grad|backward)\\(", str(made.inlined_graph)):  # without a gradient, Taper records nothing
                self.tally[f"{name} that asks for no gradient"] += 1
                return None
            made.save(path)
            wanted = self.results_of(path, self.calls[:len(self.wanted)])
        except Exception as e:  # noqa: BLE001: whatever it raises
            self.tally[f"no {name}: {(str(e).strip().split(chr(10)) or [''])[0][:50]}"] += 1
            return None
        if wanted[-1][1] and "INTERNAL ASSERT" in wanted[-1][1]:
            return None
        self.tally[f"runs of {name}"] += 1
        wrong = self.run(path, wanted)
        if name == "traced_gradients.pt" and wrong and "that this build of Taper does not have" in wrong:
            self.tally["traces of operators that only gradients call"] += 1
            return None
        return (name, wrong) if wrong else None

    def frozen(self):
        return self.other("frozen.pt", lambda: torch.jit.freeze(torch.jit.load(self.pt).eval())) if self.r.random() < 0.4 else None

    def traced(self):
        """Makes a trace of a module that calls the program, and a trace of the program itself, which contains the operators of its gradients."""
        if self.wanted[-1][1] or self.r.random() > 0.3 or any(not isinstance(v, torch.Tensor) for v in self.wanted[0][0]):
            return None
        args = tuple(oracle.clone(self.calls[0][1]))
        if self.r.random() < 0.5:
            return self.other("traced.pt", lambda: torch.jit.trace(Calls(torch.jit.load(self.pt)), args, check_trace=False))
        with scripted.module(self.source, self.seed) as made, torch.enable_grad():
            return self.other("traced_gradients.pt", lambda: torch.jit.trace(made, args, check_trace=False))


class Calls(torch.nn.Module):
    def __init__(self, program):
        super().__init__()
        self.program = program

    def forward(self, *args):
        return self.program(*args)
