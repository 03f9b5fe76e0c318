#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""random_programs_nnapi.py TAPER FOLDER [--programs N] [--seed S] [--no-pytorch] [--show]: converts the programs of passes/random_programs.py,
each as the forward of a module, with `taper optimize --backend nnapi`. Every third program is converted for any sizes, the others for known sizes.
The programs have linear layers, which NNAPI runs, among views, in-place writes, and lists that grow and are shared. PyTorch's results must be
given by the converted file, by the original module on the device, in two calls of a session each, and by stock PyTorch on the imitation of NNAPI
(FOLDER has LEVEL/libneuralnetworks.so). The log of misuse must stay empty. Needs python3-torch."""
import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "passes"))
import numpy as np
import torch

from random_programs import HEAD, Program, flatten

LEVEL = 30
STOCK = """
import sys, json, numpy as np, torch
sys.path.insert(0, sys.argv[1])
from random_programs import flatten
from torch.jit.mobile import _load_for_lite_interpreter
model, out = _load_for_lite_interpreter(sys.argv[2]), {}
for i, call in enumerate(json.load(open(sys.argv[3]))):
    flatten(model(*[torch.from_numpy(np.load(a[1:])) if isinstance(a, str) else a for a in call["inputs"]]), f"{i}.output", out)
np.savez(sys.argv[4], **out)
"""


class LayeredProgram(Program):
    """Adds layers, because NNAPI only runs parts with a layer. Adds sizes that depend on the lengths of lists."""

    def tensor(self, scope):
        t = lambda: self.pick(scope, "t")  # noqa: E731
        if self.rng.random() < 0.6:
            return super().tensor(scope)
        return self.rng.choice([f"F.linear({t()}, self.weight)", f"torch.relu(F.linear({t()}, self.weight))", f"F.linear({t()}, self.weight) + {t()}",
                                f"torch.cat({self.pick(scope, 'l')})[-3:] * 0.5", f"torch.cat([{t()}, {t()}], 1).chunk(2, 1)[1]"])

    def integer(self, scope):
        if self.rng.random() < 0.8:
            return super().integer(scope)
        return f"torch.cat({self.pick(scope, 'l')}, {self.rng.randrange(2)}).size({self.rng.randrange(2)}) % 7"


def inputs(call):
    g = torch.Generator().manual_seed(call)
    return [torch.randint(-8, 8, (3, 3), generator=g).float() / 4, torch.randint(-8, 8, (3, 3), generator=g).float() / 4, 3, torch.ones(3, 3)]


def differences(wanted, got):
    def same(a, b):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        return a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True)
    return sorted(k for k in set(wanted) | set(got) if k not in wanted or k not in got or not same(wanted[k], got[k]))


class Trial:
    def __init__(self, arguments, number, folder):
        self.arguments, self.number, self.folder = arguments, number, folder
        rng = random.Random(number)
        source = HEAD.split("    def forward")[0] + "        self.weight = torch.nn.Parameter(torch.tensor([[.5, -1, 1], [0, .5, 1], [-1, .25, .25]]), requires_grad=False)\n" + "\n" + LayeredProgram(rng).method("forward").replace("    @torch.jit.export\n", "") + "\n"
        self.source = source
        with open(self.path("program.py"), "w") as file:
            file.write(source)
        spec = importlib.util.spec_from_file_location("program", self.path("program.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.scripted = torch.jit.script(module.M().eval())
        self.scripted.save(self.path("program.pt"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def prepare(self):
        """Returns PyTorch's results, or None if PyTorch cannot run the program."""
        wanted, calls = {}, []
        for i in range(2):
            args = inputs(self.number + i)
            for k, arg in enumerate(args):
                if isinstance(arg, torch.Tensor):
                    np.save(self.path(f"{i}.{k}.npy"), arg.numpy())
            calls.append({"method": "forward", "inputs": [f"@{self.path(f'{i}.{k}.npy')}" if isinstance(a, torch.Tensor) else a
                                                          for k, a in enumerate(args)]})
            try:
                with torch.no_grad(), torch.jit.optimized_execution(False):
                    flatten(self.scripted(*args), f"{i}.output", wanted)
            except RuntimeError:
                return None
        with open(self.path("calls.json"), "w") as file:
            json.dump(calls, file)
        self.calls = calls
        return wanted

    def call(self, command, **environment):
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})

    def run(self, name, *options, **environment):
        p = self.call([self.arguments.taper, "run", self.path(name), "--calls", self.path("calls.json"), "-o", self.path("out.npz"), *options],
                      **environment)
        return (None, p.stderr.strip()[:300]) if p.returncode else (dict(np.load(self.path("out.npz"))), "")

    def convert(self):
        options = [f"level={LEVEL}"] + (["flexible=sizes"] if self.number % 3 == 0 else [])
        sample = [str(x) for x in self.calls[0]["inputs"]]
        return self.call([self.arguments.taper, "optimize", self.path("program.pt"), "-o", self.path("program.ptl"), "--backend", "nnapi",
                          "--backend-options", ",".join(options)] + [part for x in sample for part in ("-i", x)])

    def failures(self, wanted):
        """Returns (errors, true if something was converted)."""
        found = []
        double = {"LD_LIBRARY_PATH": os.path.join(self.arguments.folder, str(LEVEL)), "TAPER_NNAPI_DOUBLE_LOG": self.path("log")}
        p = self.convert()
        converted = p.returncode == 0
        if not converted and "nothing of forward can be converted" not in p.stderr:
            found.append(f"optimize: {p.stderr.strip()[:300]}")
        ways = [("on the device", lambda: self.run("program.pt", "--device", "nnapi", **double))]
        if converted:
            ways.append(("converted", lambda: self.run("program.ptl")))
            if not self.arguments.no_pytorch:
                ways.append(("converted, PyTorch", lambda: self.stock(double)))
        for name, way in ways:
            got, said = way()
            wrong = differences(wanted, got) if got is not None else [said]
            if wrong:
                found.append(f"{name}: {len(wrong)} differ, first {wrong[0]}")
        if os.path.exists(self.path("log")):
            with open(self.path("log")) as file:
                found.append(f"misuse: {file.read()[:300]}")
        return found, converted

    def stock(self, environment):
        p = self.call([sys.executable, "-c", STOCK, os.path.join(HERE, os.pardir, "passes"), self.path("program.ptl"), self.path("calls.json"),
                       self.path("out.npz")], **environment)
        return (None, p.stderr.strip()[-300:]) if p.returncode else (dict(np.load(self.path("out.npz"))), "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("folder")
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-pytorch", action="store_true")
    parser.add_argument("--show", action="store_true", help="the programs that fail")
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(arguments.folder, str(LEVEL), "libneuralnetworks.so")):
        print("skipped: there is no double of NNAPI in this build")
        return 77
    passed = failed = converted = 0
    for number in range(arguments.seed, arguments.seed + arguments.programs):
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(arguments, number, folder)
            wanted = trial.prepare()
            if wanted is None:
                continue
            found, done = trial.failures(wanted)
            converted += done
            passed += not found
            failed += bool(found)
            for failure in found:
                print(f"program {number}: {failure}", flush=True)
            if found and arguments.show:
                print(trial.source.split("self.n: int = 2")[1])
    print(f"{converted} of {passed + failed} programs were converted")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or converted < passed / 10 else 0


if __name__ == "__main__":
    sys.exit(main())
