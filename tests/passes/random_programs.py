#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""random_programs.py TAPER [--modules N] [--seed S] [--keep DIR] [--disable PASS,…]: makes random programs with features that are difficult for
passes: views, in-place writes, lists that grow and are shared, branches, loops, attributes. A module has many methods; each is called twice in
PyTorch and in Taper, in one session, with the optimizer and without. Needs python3-torch."""
import argparse
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
import numpy as np
import torch

METHODS = 24
torch.set_num_threads(1)


class Program:
    """One method. A random method of a module. Tensors are all 3x3, so that nothing raises. Names begin with their type: t tensors, n ints, l
    lists of tensors, m lists of ints, b bools, o optional tensors."""

    def __init__(self, rng):
        self.rng = rng
        self.count = 0
        self.lines = []

    def new(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def pick(self, scope, kind):
        return self.rng.choice([v for v in scope if v[0] == kind])

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def target(self, scope, kind, fresh):
        # Sometimes assigns to an existing name, while other names may still refer to its old value.
        old = [v for v in scope if v[0] == kind]
        if old and self.rng.random() < 0.25:
            return self.rng.choice(old)
        name = self.new(kind)
        fresh.append(name)
        return name

    def tensor(self, scope):
        r, t = self.rng, lambda: self.pick(scope, "t")
        n = lambda: self.pick(scope, "n")
        return r.choice([
            lambda: f"torch.relu({t()})", lambda: f"{t()} + {t()}", lambda: f"{t()} - {t()}", lambda: f"{t()} * 0.5", lambda: f"-{t()}",
            lambda: f"{t()}.t()", lambda: f"{t()}.t().t()", lambda: f"{t()}.transpose(0, 1)", lambda: f"{t()}.transpose(0, 1).transpose(1, 0)",
            lambda: f"{t()}.contiguous().view(-1).view(3, 3)", lambda: f"{t()}.reshape(3, 3)",
            lambda: f"{t()}.contiguous()", lambda: f"{t()}.contiguous().contiguous()", lambda: f"{t()}.clone()", lambda: f"{t()}.detach()",
            lambda: f"{t()}.to(torch.float32)", lambda: f"{t()}.to(torch.float64).to(torch.float32)", lambda: "torch.zeros([3, 3])",
            lambda: "torch.ones([3, 3]) * 2", lambda: "torch.full([3, 3], 1.5)", lambda: "self.w", lambda: "self.w.t()", lambda: "self.pair[1]",
            lambda: f"torch.nn.functional.linear({t()}, self.w)",
            lambda: f"torch.clamp({t()}, -1.0, 2.0)", lambda: f"torch.relu_({t()} + 1)",
            lambda: f"torch.sigmoid_(torch.nn.functional.linear({t()}, self.w))", lambda: f"{t()} + {n()}", lambda: f"{t()}.expand(3, 3)",
            lambda: f"torch.stack([{t()}, {t()}]).sum(0)", lambda: f"torch.cat([{t()}, {t()}])[3:]",
            lambda: f"{self.pick(scope, 'l')}[{r.choice([0, -1])}]", lambda: f"torch.stack({self.pick(scope, 'l')}).sum(0)",
            lambda: f"[{t()}, {t()}, {t()}][{r.randrange(3)}]", lambda: f"({t()}, {t()})[{r.randrange(2)}]",
            lambda: f"{{'a': {t()}, 'b': {t()}}}['{r.choice('ab')}']", lambda: f"F.dropout({t()}, 0.5, False)",
        ])()

    def integer(self, scope):
        r, n, t = self.rng, lambda: self.pick(scope, "n"), lambda: self.pick(scope, "t")
        return r.choice([
            lambda: str(r.randrange(4)), lambda: f"{n()} + 0", lambda: f"{n()} * 1", lambda: f"({n()} + {n()}) % 7", lambda: f"{t()}.size(0)",
            lambda: f"{t()}.size()[1]", lambda: f"len({t()}.size())", lambda: f"{t()}.dim()", lambda: f"len({self.pick(scope, 'l')}) % 5",
            lambda: f"{self.pick(scope, 'm')}[{r.choice([0, -1])}]", lambda: f"len({self.pick(scope, 'm')}) % 5", lambda: "self.sizes[0]",
            lambda: "self.n", lambda: f"[3, {n()}, 5][1]",
        ])()

    def boolean(self, scope):
        r, n, t = self.rng, lambda: self.pick(scope, "n"), lambda: self.pick(scope, "t")
        return r.choice([
            lambda: f"{n()} > {n()}", lambda: f"{n()} == {n()}", lambda: f"not not ({n()} > 2)", lambda: f"{n()} > 1 and True",
            lambda: f"{n()} > 1 or False", lambda: f"{t()} is not None", lambda: f"bool({t()}.sum() > 0)", lambda: "True", lambda: "False",
            lambda: f"{self.pick(scope, 'o')} is None", lambda: f"{t()}.is_cuda",
            lambda: f"{t()}.dtype == torch.float32",
        ])()

    def write(self, scope):
        r, t = self.rng, lambda: self.pick(scope, "t")
        l, m = self.pick(scope, "l"), self.pick(scope, "m")
        return r.choice([
            lambda: f"{t()}.add_(1)", lambda: f"{t()}.mul_(0.5)", lambda: f"torch.relu_({t()})", lambda: f"{t()}.zero_()",
            lambda: f"{t()}.copy_({t()}.clone())", lambda: f"{t()}[0].add_(1)", lambda: f"{t()}[1:, :2] = 0.5", lambda: f"{t()}.clamp_(-2, 2)",
            lambda: f"{t()}.t().sub_(1)", lambda: f"{t()}[2].neg_()",
            lambda: f"torch.nn.functional.hardtanh({t()}, inplace=True)", lambda: f"{l}.append({t()})", lambda: f"{l}[0] = {t()}",
            lambda: f"{l}[-1] = {t()}", lambda: f"{m}.append({self.pick(scope, 'n')})",
            lambda: f"{m}[0] = {self.pick(scope, 'n')}", lambda: "self.n = (self.n + 1) % 5", lambda: f"self.state = {t()}.clone()", lambda: "self.counter.add_(1)",
        ])()

    def block(self, scope, depth, size, loops):
        scope, added = list(scope), []
        for _ in range(size):
            kind = self.rng.random()
            fresh = []
            if kind < 0.34:
                value = self.tensor(scope)
                self.put(depth, f"{self.target(scope, 't', fresh)} = {value}")
            elif kind < 0.44:
                value = self.integer(scope)
                self.put(depth, f"{self.target(scope, 'n', fresh)} = {value}")
            elif kind < 0.49:
                value = self.boolean(scope)
                self.put(depth, f"{self.target(scope, 'b', fresh)} = {value}")
            elif kind < 0.55:
                names = [self.pick(scope, "t") for _ in range(self.rng.randrange(1, 4))]
                self.put(depth, f"{self.target(scope, 'l', fresh)} = [{', '.join(names)}]")
            elif kind < 0.59:
                names = [self.pick(scope, "n") for _ in range(self.rng.randrange(1, 4))]
                self.put(depth, f"{self.target(scope, 'm', fresh)} = [{', '.join(names)}]")
            elif kind < 0.62:
                name = self.new("t"), self.new("t")
                self.put(depth, f"{name[0]}, {name[1]} = {self.pick(scope, 't')}, {self.pick(scope, 't')}")
                fresh += name
            elif kind < 0.65:
                old = self.pick(scope, "o")
                self.put(depth, f"if {old} is not None:")
                self.put(depth + 1, f"{self.pick(scope, 't')}.add_({old})")
            elif kind < 0.83:
                self.put(depth, self.write(scope))
            elif kind < 0.93 and depth < 5:
                self.put(depth, f"if {self.rng.choice([self.pick(scope, 'b'), self.boolean(scope)])}:")
                self.block(scope, depth + 1, self.rng.randrange(1, 5), loops)
                self.put(depth, "else:")
                self.block(scope, depth + 1, self.rng.randrange(1, 4), loops)
            elif depth < 4 and loops < 2:
                index = self.new("n")
                trips = self.rng.choice(["2", "3", "1", "0", f"{self.pick(scope, 'n')} % 4"])
                self.put(depth, f"for {index} in range({trips}):")
                self.block(scope + [index], depth + 1, self.rng.randrange(1, 5), loops + 1)
            scope += fresh
            added += fresh
        if not self.lines[-1].startswith("    " * depth):
            self.put(depth, "pass")
        self.put(depth, "pass")
        return scope

    def method(self, name):
        self.put(1, "@torch.jit.export")
        self.put(1, f"def {name}(self, t0: Tensor, t1: Tensor, n0: int, o0: Optional[Tensor]):")
        self.put(2, "l0 = [t0, t1 + 1]")
        self.put(2, "m0 = [n0, 2]")
        self.put(2, "b0 = n0 > 1")
        scope = self.block(["t0", "t1", "n0", "l0", "m0", "b0", "o0"], 2, self.rng.randrange(6, 30), 0)
        kept = [v for v in scope if v[0] in "tnlm" and self.rng.random() < 0.7] or ["t0"]
        self.put(2, f"return ({', '.join(kept)}, self.w, self.state, self.counter)")
        return "\n".join(self.lines)


HEAD = """
import torch
import torch.nn.functional as F
from torch import Tensor
from typing import Optional, List, Tuple

class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([[1., -2, 3], [0, .5, 1], [-1, 2, .25]]), requires_grad=False)
        self.register_buffer("counter", torch.zeros(1))
        self.state: Tensor = torch.zeros(3, 3)
        self.pair: Tuple[Tensor, Tensor] = (torch.eye(3), torch.ones(3, 3) * 3)
        self.sizes: List[int] = [3, 3]
        self.n: int = 2

    def forward(self, x: Tensor):
        return x
"""


def flatten(value, key, out):
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            flatten(item, f"{key}.{i}", out)
    elif isinstance(value, torch.Tensor):
        out[key] = value.detach().clone().numpy()
    else:
        out[key] = np.asarray(value)


def inputs(call):
    g = torch.Generator().manual_seed(call)
    return [torch.randint(-8, 8, (3, 3), generator=g).float() / 4, torch.randint(-8, 8, (3, 3), generator=g).float() / 4, 1 + call % 4,
            None if call % 3 == 0 else torch.ones(3, 3)]


def same(a, b):
    return a.shape == b.shape and np.allclose(np.asarray(a, np.float64), np.asarray(b, np.float64), rtol=1e-5, atol=1e-6, equal_nan=True)


def run_module(taper, rng, folder, options):
    source = HEAD + "".join("\n" + Program(rng).method(f"f{i}") + "\n" for i in range(METHODS))
    path = os.path.join(folder, "programs.py")
    open(path, "w").write(source)
    spec = importlib.util.spec_from_file_location("programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scripted = torch.jit.script(module.M().eval())
    calls, wanted = [], {}
    for name in ("programs.ptl", "programs.pt"):
        file = os.path.join(folder, name)
        scripted._save_for_lite_interpreter(file) if name.endswith("ptl") else scripted.save(file)
    for i in range(2 * METHODS):
        args = inputs(i)
        files = []
        for k, arg in enumerate(args):
            if isinstance(arg, torch.Tensor):
                np.save(os.path.join(folder, f"{i}.{k}.npy"), arg.numpy())
                files.append("@" + os.path.join(folder, f"{i}.{k}.npy"))
            else:
                files.append(arg)
        calls.append({"method": f"f{i % METHODS}", "inputs": files})
        try:
            with torch.no_grad(), torch.jit.optimized_execution(False):
                flatten(getattr(scripted, f"f{i % METHODS}")(*args), f"{i}.output", wanted)
        except RuntimeError:
            return None  # PyTorch sometimes loses a value: "Expected Tensor but got None"
    json.dump(calls, open(os.path.join(folder, "calls.json"), "w"))
    failures = []
    for name, extra in (("programs.ptl", options), ("programs.pt", options), ("programs.ptl", ["--no-optimize"])):
        out = os.path.join(folder, "out.npz")
        if os.path.exists(out):
            os.remove(out)
        ran = subprocess.run([taper, "run", os.path.join(folder, name), "--calls", os.path.join(folder, "calls.json"), "-o", out, *extra],
                             capture_output=True, text=True)
        if ran.returncode != 0:
            failures.append(f"{name} {extra}: {ran.stderr.strip().splitlines()[:2]}")
            continue
        got = np.load(out)
        wrong = sorted(k for k in set(wanted) | set(got.files) if k not in wanted or k not in got.files or not same(wanted[k], got[k]))
        if wrong:
            methods = sorted({f"f{int(k.split('.')[0]) % METHODS}" for k in wrong})
            failures.append(f"{name} {extra}: {len(wrong)} values differ, first {wrong[0]}, methods {methods}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taper")
    parser.add_argument("--modules", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="leave the modules that fail here")
    parser.add_argument("--disable")
    args = parser.parse_args()
    options = ["--disable", args.disable] if args.disable else []
    failed = skipped = 0
    for i in range(args.modules):
        with tempfile.TemporaryDirectory() as temporary:
            folder = temporary
            if args.keep:
                folder = os.path.join(args.keep, str(args.seed + i))
                os.makedirs(folder, exist_ok=True)
            failures = run_module(args.taper, random.Random(args.seed + i), folder, options)
            skipped += failures is None
            for failure in failures or []:
                print(f"seed {args.seed + i}: {failure}")
            failed += bool(failures)
    print(f"{args.modules - failed - skipped} passed, {failed} failed, {skipped} that PyTorch does not run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
