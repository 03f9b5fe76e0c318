#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_nnapi_convert.py TAPER FOLDER_OF_DOUBLES [--levels 27,28] [--filter TEXT]: converts small models (nnapi_convert_cases.py) with taper
optimize --backend nnapi at each level. The expected operators must stay on the CPU. The file must give the results of the model in Taper, and in
stock PyTorch on the imitation of NNAPI: floats within 1e-4 of the largest, integers within 1. The log of misuse must stay empty. If PyTorch's
converter supports a model, both files must be equal word by word."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
import numpy as np
import torch

import nnapi_convert_cases as all_cases

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "nnapi"))
from run_networks_nnapi import modules_of

counts = [0, 0]


def check(wrong, name):
    counts[bool(wrong)] += 1
    if wrong:
        print(f"FAILED {name}: {wrong}", flush=True)


def differs(want, got, unit):
    if got is None or list(want.shape) != list(got.shape):
        return f"shape {None if got is None else list(got.shape)}, wanted {list(want.shape)}"
    error, allowed = np.abs(want.astype("f8") - got).max(), 1.01 * unit if unit else 1e-4 * np.abs(want).max() + 1e-6
    return "" if error <= allowed else f"error {error:.6g}, allowed {allowed:.3g}"


class Run:
    def __init__(self, taper, folder, case):
        self.taper, self.folder, self.case = taper, folder, case
        with torch.no_grad():
            want = case.module(*case.inputs)
        self.want = [y.numpy() for y in (want if isinstance(want, tuple) else (want,))]
        self.unit = 0
        if case.name.startswith("quantized"):
            values = np.unique(self.want[0])
            self.unit = float(np.diff(values).min()) if len(values) > 1 else 1
            self.unit *= 2 if "per channel" in case.name else 1  # with scales per channel, several layers round from floats, so two steps are allowed
        self.traced = (torch.jit.script(case.module) if isinstance(case, all_cases.Scripted)
                       else torch.jit.trace(case.module, tuple(case.inputs), check_trace=False))
        torch.jit.save(self.traced, self.path("net.pt"))
        self.inputs = []
        for i, x in enumerate(case.inputs):
            np.save(self.path(f"x{i}.npy"), x.numpy())
            self.inputs += ["-i", self.path(f"x{i}.npy")]

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, level, layout="nhwc", source="net.pt", more=""):
        return subprocess.run([self.taper, "optimize", self.path(source), "-o", self.path("net.ptl"), "--backend", "nnapi", *self.inputs,
                               "--backend-options", f"layout={layout},level={level}{more}"], capture_output=True, text=True)

    def with_other_sizes(self, flexible):
        """Returns inputs of other sizes, which the file must accept, or None if the traced model does not accept them."""
        more = (1, 0, 3, 2) if flexible == "sizes" else (1, 0, 0, 0)
        torch.manual_seed(7)
        inputs = []
        for x in self.case.inputs:
            sizes = [size + (more[d] if x.dim() == 4 or d == 0 else 0) for d, size in enumerate(x.shape)]
            y = torch.randn(sizes)
            inputs.append(torch.quantize_per_tensor(y, x.q_scale(), x.q_zero_point(), torch.quint8) if x.is_quantized else y)
        try:
            with torch.no_grad():
                want = self.traced(*inputs)
        except RuntimeError:
            return False
        self.case.inputs = inputs
        self.want = [y.numpy() for y in (want if isinstance(want, tuple) else (want,))]
        for i, x in enumerate(inputs):
            np.save(self.path(f"x{i}.npy"), x.numpy())
        return True

    def compare(self, results):
        return "; ".join(filter(None, (differs(w, g, self.unit) for w, g in zip(self.want, results)))) or (
            "" if len(results) == len(self.want) else f"{len(results)} results")

    def on_taper(self):
        p = subprocess.run([self.taper, "run", self.path("net.ptl"), *self.inputs, "-o", self.path("y.npz")], capture_output=True, text=True)
        if p.returncode:
            return p.stderr.strip()[-300:]
        y = np.load(self.path("y.npz"))
        return self.compare([y[key] for key in (["output"] if len(self.want) == 1 else [f"output.{i}" for i in range(len(self.want))])])

    def on_the_double(self):
        from torch.jit.mobile import _load_for_lite_interpreter

        log = os.environ["TAPER_NNAPI_DOUBLE_LOG"]
        if os.path.exists(log):
            os.remove(log)
        try:
            with torch.no_grad():
                y = _load_for_lite_interpreter(self.path("net.ptl"))(*self.case.inputs)
        except RuntimeError as error:
            return ([line for line in str(error).split("\n") if line.strip()] or [""])[-1][:300]
        said = open(log).read().strip() if os.path.exists(log) else ""
        return said[:300] or self.compare([t.numpy() for t in (y if isinstance(y, tuple) else (y,))])

    def equal(self, layout):
        """Returns None if PyTorch's converter does not support the model, or gives the same words."""
        from torch.backends._nnapi.serializer import serialize_model

        frozen = torch.jit.freeze(self.traced.eval())
        for run_pass in ("remove_mutation", "fold_frozen_conv_bn", "dce"):
            getattr(torch._C, "_jit_pass_" + run_pass)(frozen.graph)
        inputs = [x.clone() for x in self.case.inputs]
        for x in inputs:
            x.nnapi_nhwc = layout == "pytorch_nhwc" and x.dim() == 4
        try:
            words, weights = serialize_model(frozen, inputs)[:2]
        except Exception:
            return None
        torch.jit.save(frozen, self.path("frozen.pt"))
        p = self.convert(29, layout, "frozen.pt")
        made = modules_of(self.path("net.ptl")) if p.returncode == 0 else []
        if len(made) != 1:
            return f"{len(made)} modules: {p.stdout.strip()[-300:]} {p.stderr.strip()[-200:]}"
        plain = [(w.contiguous().int_repr() if w.is_quantized else w.contiguous()).numpy().ravel() for w in weights]
        same = list(words) == list(made[0][0]) and len(plain) == len(made[0][1]) and all(
            np.array_equal(a, b) for a, b in zip(plain, made[0][1]))
        return "" if same else "other words or weights"


# For these cases PyTorch's converter writes wrong operations, or other operations than in the graph. Taper refuses to write them in
# PyTorch's layout.
NOT_AS_PYTORCH = ("max pool, sizes up", "slice", "softmax of")


def run_flexible(run, level, flexible, name):
    """Runs a model with flexible sizes, in Taper and with PyTorch on the imitation of NNAPI. The inputs have the sizes of the sample, and other
    sizes."""
    name += f", flexible {flexible}"
    p = run.convert(level, more=f",flexible={flexible}")
    if p.returncode:
        check("nothing of forward can be converted" not in p.stderr and p.stderr.strip()[-300:], f"{name}, refused")
        return
    check(run.on_taper(), f"{name}, taper")
    check(run.on_the_double(), f"{name}, PyTorch on the double")
    if run.with_other_sizes(flexible):
        check(run.on_taper(), f"{name}, other sizes, taper")
        check(run.on_the_double(), f"{name}, other sizes, PyTorch on the double")


def run_level(arguments, level, cases):
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            run = Run(arguments.taper, folder, case)
            name = f"{case.name}, level {level}"
            p = run.convert(level)
            if p.returncode and level < case.level and "nothing of forward can be converted for NNAPI (aten" in p.stderr:
                check(os.path.exists(run.path("net.ptl")) and "a file is left", f"{name}, refused")
                continue
            if p.returncode:
                check(p.stderr.strip()[-300:], name)
                continue
            left = [op for count, op in re.findall(r"  CPU +(\d+) x (\S+)", p.stdout) for _ in range(int(count))]
            if level >= case.level:
                check(sorted(left) != sorted(case.kept) and f"left on the CPU: {p.stdout.strip()}", f"{name}, placement")
            else:
                check(not left and "nothing is left on the CPU, though the level has no such operation", f"{name}, placement")
            check(run.on_taper(), f"{name}, taper")
            check(run.on_the_double(), f"{name}, PyTorch on the double")
            if level in (28, 30):
                run_flexible(run, level, "sizes" if level == 30 else "batch", name)
            for layout in ("pytorch", "pytorch_nhwc") if level == 29 else ():
                wrong = run.equal(layout)
                if wrong is not None and not case.name.startswith(NOT_AS_PYTORCH):
                    check(wrong, f"{case.name}, {layout} beside PyTorch's converter")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("folder")
    parser.add_argument("--filter", default="")
    parser.add_argument("--levels", default="27,28,29,30,31")
    parser.add_argument("--level", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not hasattr(torch.classes._nnapi, "Compilation"):
        print("skipped: this PyTorch was built without NNAPI")
        sys.exit(77)
    if arguments.level is None:
        total = [0, 0]
        for level in map(int, arguments.levels.split(",")):  # each level has its own process, because a library stays loaded; PyTorch needs level 29
            double = os.path.join(arguments.folder, str(max(level, 29)))
            with tempfile.TemporaryDirectory() as folder:
                environment = dict(os.environ, LD_LIBRARY_PATH=double, TAPER_NNAPI_DOUBLE_LOG=os.path.join(folder, "log"))
                p = subprocess.run([sys.executable, os.path.abspath(__file__), arguments.taper, arguments.folder, "--level", str(level),
                                    "--filter", arguments.filter], env=environment, capture_output=True, text=True)
            print(p.stdout, end="", flush=True)
            found = re.search(r"(\d+) passed, (\d+) failed", p.stdout)
            total[0] += int(found[1]) if found else 0
            total[1] += int(found[2]) if found else 1
            if not found:
                print(p.stderr[-1000:])
        print(f"all levels: {total[0]} passed, {total[1]} failed")
        sys.exit(total[1] != 0)
    cases = [case for case in all_cases.float_cases() + all_cases.quantized_cases() if arguments.filter in case.name]
    torch.set_num_threads(1)
    run_level(arguments, arguments.level, cases)
    print(f"level {arguments.level}: {counts[0]} passed, {counts[1]} failed")


if __name__ == "__main__":
    main()
