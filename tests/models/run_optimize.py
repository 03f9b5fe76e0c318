#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_optimize.py TAPER [BUILDER… | --all | --kind KIND]… [--dir DIR] [--backend NAME]… [--each-pass]

Runs `taper optimize` on the networks that scripts/oracle/make_zoo.py builds, in each of their forms, for cpu, vulkan and metal. In Taper
the written file must give the results of the original file with --no-optimize, at two input sizes: max|a-b| <= 1e-4 max|b| + 1e-5 per
output, or one of run_zoo.py's clauses, which are counted separately. A file for the CPU must also give these results in PyTorch's lite
interpreter, if that can run the network. Prints the nodes and operators before and after.
--each-pass: also optimizes the scripted .pt with each pass omitted, and with each pass alone."""
import argparse
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import run_zoo

# (form, suffix of the file, name of the results of PyTorch's lite interpreter).
FORMS = (("script_pt", ".script.pt", "expected"), ("trace_pt", ".trace.pt", "expected_trace"), ("script", ".ptl", "expected"),
         ("trace", ".trace.ptl", "expected_trace"), ("opt", ".opt.ptl", "expected_opt"))
BACKENDS = ("cpu", "vulkan", "metal")

# Runs files in PyTorch. Each file has its own process, because the lite interpreter may crash. A row has a model, sets of input files,
# and true if the inputs are a list.
WORKER = r"""
import json, os, sys
import numpy as np, torch
import torchvision
sys.path.insert(0, sys.argv[1])
from make_zoo import save_arrays
from torch.jit.mobile import _load_for_lite_interpreter
torch.set_num_threads(1)
torch.backends.quantized.engine = "qnnpack"
for model, sets, as_list in json.load(sys.stdin):
    sys.stdout.flush()
    if os.fork() == 0:
        try:
            lite = _load_for_lite_interpreter(model)
            for files, out in sets:
                x = [torch.from_numpy(np.load(f)) for f in files]
                with torch.no_grad():
                    save_arrays(out, "lite", lite(x) if as_list else lite(*x))
        except Exception as e:
            open(model + ".error", "w").write(str(e).strip()[:300])
        os._exit(0)
    _, status = os.wait()
    if status != 0:
        open(model + ".error", "w").write(f"ended with {status}")
"""


class Form:
    """A file of a network: its inputs, and Taper's results without optimization."""

    def __init__(self, builder, stem, form, suffix, name, traced):
        self.builder, self.stem, self.form, self.file, self.name, self.traced = builder, stem, form, stem + suffix, name, traced
        self.sets = (stem, stem + ".2")
        self.detector = builder in run_zoo.builders(("detection",))
        self.base = {}

    def input_files(self, set_stem):
        options = run_zoo.inputs(set_stem, True)
        return [x for x in options if x != "-i"]

    def run(self, taper, model, set_stem, extra=()):
        """Returns (results, None), or (None, error) if the run fails."""
        out = self.stem + ".out.npz"
        p = subprocess.run([taper, "run", model, "-o", out] + run_zoo.inputs(set_stem, self.traced) + list(extra), capture_output=True, text=True)
        if p.returncode != 0:
            return None, f"exit {p.returncode}: {p.stderr.strip()[:300]}"
        with np.load(out) as arrays:
            return {k[len("output"):]: v for k, v in arrays.items()}, None

    def judge(self, got, set_stem):
        """Returns (the difference or None, the rule that allowed a difference, or False)."""
        want, exact = self.base[set_stem], run_zoo.expected(set_stem, "expected64")
        if len(exact) == len(want) == 1:
            exact = dict(zip(want, exact.values()))
        wrong, judged = run_zoo.compare(got, want, exact)
        if wrong and self.detector and run_zoo.same_detections(got, want, run_zoo.neighbours(set_stem, self.name)):
            return None, "order of equal scores, or what one rounding of the input moves"
        return wrong, judged and "float64"


class Tally:
    def __init__(self):
        self.passed, self.failed, self.without, self.clauses = 0, 0, 0, []

    def add(self, case, wrong, clause=None):
        if wrong:
            print(f"FAILED {case}: {wrong}", flush=True)
        elif clause:
            self.clauses.append(f"{case}: {clause}")
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)


def operators(text):
    """Returns the numbers of operator calls before and after, from the output of --operators."""
    parts = re.split(r"^(before|after):$", text, flags=re.M)
    sums = {parts[i]: sum(int(n) for n in re.findall(r"^ +(\d+)  ", parts[i + 1], re.M)) for i in range(1, len(parts), 2)}
    return sums.get("before", 0), sums.get("after", 0)


def optimize(taper, form, backend, out, extra=()):
    """Returns (None or the error, "nodes and operators")."""
    p = subprocess.run([taper, "optimize", form.file, "--backend", backend, "-o", out, "--operators"] + list(extra),
                       capture_output=True, text=True)
    if p.returncode != 0:
        return f"exit {p.returncode}: {p.stderr.strip()[:300]}", ""
    nodes = re.search(r": (\d+) nodes, (\d+) before$", p.stdout.strip())
    before, after = operators(p.stdout)
    return None, f"{nodes.group(2)} -> {nodes.group(1)} nodes, {before} -> {after} calls of operators" if nodes else ""


def agree(taper, tally, form, model, case, sets, extra=()):
    for set_stem in sets:
        if set_stem in form.base:
            got, wrong = form.run(taper, model, set_stem, extra)
            tally.add(case + (", second size" if set_stem != form.stem else ""), *(form.judge(got, set_stem) if not wrong else (wrong,)))


def check_form(taper, tally, form, backends, lite):
    for set_stem in form.sets:
        got, wrong = form.run(taper, form.file, set_stem, ["--no-optimize"])
        if wrong and set_stem == form.stem:
            tally.add(f"{form.builder} {form.form} unoptimized", wrong)
        elif wrong:
            tally.without += 1  # skipped, because not every network accepts the second input size
        else:
            form.base[set_stem] = got
    for backend in backends:
        case, out = f"{form.builder} {form.form} {backend}", f"{form.file}.{backend}.ptl"
        wrong, counts = optimize(taper, form, backend, out)
        if wrong:
            tally.add(case, wrong)
            continue
        print(f"  {case}: {counts}", flush=True)
        agree(taper, tally, form, out, case, form.sets)
        if backend == "cpu":
            lite.append((form, out))
        else:
            os.remove(out)


def check_lite(tally, models):
    """Checks all of a network's optimized files in PyTorch."""
    rows = []
    for form, model in models:
        sets = [(form.input_files(s), f"{model}{'' if s == form.stem else '.2'}") for s in form.sets if s in form.base]
        rows.append((model, sets, form.detector and not form.traced))
    subprocess.run(["/usr/bin/python3", "-c", WORKER, os.path.join(run_zoo.TOP, "scripts/oracle")], input=json.dumps(rows), text=True,
                   stderr=subprocess.DEVNULL, env=dict(os.environ, ATEN_CPU_CAPABILITY="avx2"), check=False)
    for form, model in models:
        error = open(model + ".error").read() if os.path.exists(model + ".error") else "no result"
        for set_stem in form.base:
            case = f"{form.builder} {form.form} in PyTorch{', second size' if set_stem != form.stem else ''}"
            got = run_zoo.expected(f"{model}{'' if set_stem == form.stem else '.2'}", "lite")
            if got:
                tally.add(case, *form.judge(got, set_stem))
            elif run_zoo.expected(set_stem, form.name):
                tally.add(case, error)
            else:
                tally.without += 1
        os.remove(model)


def passes(taper):
    text = subprocess.run([taper, "optimize", "--list-passes"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in text.splitlines() if line.strip() and not line.endswith(" (at load)")]
    return list(dict.fromkeys(names))


def check_passes(taper, tally, form):
    """Checks files with each pass omitted, and with each pass alone. The files run with --no-optimize, because otherwise the load would
    run all passes."""
    names = passes(taper)
    for name in names:
        for title, disabled in ((f"without {name}", [name]), (f"{name} alone", [n for n in names if n != name])):
            out = f"{form.file}.pass.ptl"
            wrong, _ = optimize(taper, form, "cpu", out, ["--disable", ",".join(disabled)])
            case = f"{form.builder} {form.form} {title}"
            if wrong:
                tally.add(case, wrong)
            else:
                agree(taper, tally, form, out, case, form.sets[:1], ["--no-optimize"])
                os.remove(out)


def check_builder(a, tally, builder, folder):
    stem = os.path.join(folder, builder.replace("+", "_"))
    if not os.path.exists(stem + ".forms.json"):
        p = subprocess.run(["/usr/bin/python3", os.path.join(run_zoo.TOP, "scripts/oracle/make_zoo.py"), builder, folder],
                           capture_output=True, text=True)
        if p.returncode != 0:
            tally.add(builder, p.stderr.strip()[-300:] or f"make_zoo.py ended with {p.returncode}")
            return
    forms, lite = json.load(open(stem + ".forms.json")), []
    for name, suffix, expected in FORMS:
        if name not in forms:
            tally.without += 1
            continue
        form = Form(builder, stem, name, suffix, expected, forms[name]["traced"])
        if name == "script_pt" and forms.get("script", {"traced": True})["traced"]:
            form.name = "none"  # PyTorch cannot export the script, so the .ptl was made from the trace
        check_form(a.taper, tally, form, a.backend or BACKENDS, lite)
        if a.each_pass and name == "script_pt" and form.base:
            check_passes(a.taper, tally, form)
    if lite:
        check_lite(tally, lite)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("builders", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kind", action="append", default=[], choices=run_zoo.KINDS + ("quantization",))
    parser.add_argument("--dir", help="keep the models here and use those that are there")
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="only for this one")
    parser.add_argument("--each-pass", action="store_true")
    a = parser.parse_intermixed_args()
    tally = Tally()
    for builder in itertools.chain(a.builders, run_zoo.builders(run_zoo.KINDS if a.all else a.kind)):
        folder = a.dir or tempfile.mkdtemp()
        try:
            check_builder(a, tally, builder, folder)
        finally:
            if not a.dir:
                shutil.rmtree(folder)
        print(f"{builder}: done, {tally.passed} of {tally.passed + tally.failed} so far", flush=True)
    for name in tally.clauses:
        print("agrees by a clause:", name)
    if tally.without:
        print(f"{tally.without} not exported or not run by PyTorch itself")
    print(f"{tally.passed} of {tally.passed + tally.failed} agree")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
