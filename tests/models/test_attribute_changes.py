#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_attribute_changes.py TAPER: tests all ways to change an attribute, combined with all ways to reach it, in three calls of one module. Each
module runs in PyTorch and in Taper, optimized and not, as TorchScript and for the lite interpreter.

A change is one of a tensor's data, shape, strides or storage, of a container, or of an object's slot. A way is the attribute itself, an alias, an
item of a list or dict, a submodule, a called method, a loop over a ModuleDict, or a branch. Ends with "N passed, N failed"."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
warnings.filterwarnings("ignore")
import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling

CALLS = 3
# Changes of a tensor t with sizes 2 x 3. x has 2 elements.
TENSORS = {
    "data": "t.add_(x[0])", "data by index": "t[0] = x[0]", "data by mask": "t[t > 0.5] = x[1]", "data by copy": "t.copy_(t * 2)",
    "transpose_": "t.transpose_(0, 1)", "swapaxes_": "t.swapaxes_(0, 1)", "t_": "t.t_()", "unsqueeze_": "t.unsqueeze_(0)",
    "squeeze_": "t.unsqueeze_(0).squeeze_(0).t_()", "resize_": "t.resize_(3, 2)", "as_strided_": "t.as_strided_([3], [1])",
    "set_": "t.set_(t * 2)", "set_ of another shape": "t.set_((t + x[0]).flatten())", "data and shape": "t.mul_(2).transpose_(0, 1)",
    "out": "torch.add(t, x[0], out=t)", "out of another shape": "torch.sum(t * 2, [0], out=t)", "zero_": "t.zero_()",
    "through a view": "t.view(-1).add_(x[0])", "through a slice": "t[:, 1:].mul_(x[1])", "by detach": "t.detach().add_(1.0)",
}
HOW_TENSOR = {
    "attribute": ("", "t = self.a", "self.a"),
    "alias": ("", "t = self.a\n        s = [self.b, t]\n        t = s[1]", "self.a"),
    "list": ("", "t = self.l[1]", "self.l[1]"),
    "dict": ("", "t = self.d['k']", "self.d['k']"),
    "tuple": ("", "t = self.p[0]", "self.p[0]"),
    "submodule": ("", "t = self.sub.a", "self.sub.a"),
    "branch": ("", "t = self.a if x[0] > 0 else self.b", "self.a"),
    "loop over modules": ("", "t = self.b\n        for name, m in self.many.items():\n            t = m.a", "self.many['two'].a"),
    "shared": ("", "t = self.sub.a", "self.same"),
}
CONTAINERS = {
    "append": ("self.l.append(x)", "torch.stack([q.sum() for q in self.l]).sum() + len(self.l)"),
    "list item": ("self.l[0] = self.l[0] + x[0]", "self.l[0].clone()"),
    "pop": ("self.l.append(x)\n        self.l.insert(0, x)\n        y = self.l.pop()", "torch.tensor(len(self.l))"),
    "dict item": ("self.d['n'] = x * len(self.d)\n        self.d['k'] = x", "self.d['k'] + len(self.d)"),
    "number": ("self.n += 2", "torch.tensor(self.n)"),
    "text": ("self.s = self.s + 'ab'", "torch.tensor(len(self.s))"),
    "slot": ("self.a = self.a.t() * 2", "self.a.clone()"),
    "slot of a submodule": ("self.sub.a = self.sub.a.t() * 2", "self.sub.a.clone()"),
    "slot to another's": ("self.a = self.b\n        self.a.add_(1.0)", "self.b.clone()"),
}
SOURCE = """
class Sub(torch.nn.Module):
    def __init__(self, a: Tensor):
        super().__init__()
        self.a = a
    def change(self, x: Tensor):
        t = self.a
        {change_in_method}

class Net(torch.nn.Module):
    n: int
    s: str
    def __init__(self):
        super().__init__()
        a = torch.arange(6.0).reshape(2, 3) / 8
        self.a, self.b, c = a, a + 1, a + 2
        self.same = a.clone()
        self.l: List[Tensor] = [self.b.clone(), c]
        self.d: Dict[str, Tensor] = {{'k': a.clone()}}
        self.p = (a.clone(), 3)
        self.sub = Sub(self.same)
        self.many = torch.nn.ModuleDict({{'one': Sub(a + 3), 'two': Sub(a + 4)}})
        self.n, self.s = 1, 'x'
    def forward(self, x: Tensor):
        before = {look}
        {body}
        return before, {look}
"""


def cases():
    for way, (_, reach, look) in HOW_TENSOR.items():
        for name, change in TENSORS.items():
            yield f"{name}, {way}", f"{reach}\n        {change}", f"({look}) * 2", "return t"
    for name, change in TENSORS.items():
        yield f"{name}, method", "self.sub.change(x)", "(self.sub.a) * 2", f"{change}\n        return t"
    for name, (change, look) in CONTAINERS.items():
        yield f"{name}", change, look, "return t"


def answers(module, x):
    """Returns the result of each call. A text is an exception and ends the list."""
    found = []
    for _ in range(CALLS):
        try:
            found.append([t.detach().clone() for t in module(x)])
        except Exception as e:  # noqa: BLE001
            return found + [str(e).strip().split("\n")[-1]]
    return found


def make(body, look, change):
    space = {"torch": torch, "__name__": "changes"}
    exec("from typing import *\nfrom torch import Tensor", space)
    import linecache
    text = SOURCE.format(body=body, look=look, change_in_method=change)
    file = f"<changes {hash((body, look, change))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), space)
    return torch.jit.script(space["Net"]().eval())


def run(taper, model, folder, count, options):
    calls, out = os.path.join(folder, "calls.json"), os.path.join(folder, "out.npz")
    with open(calls, "w") as file:
        json.dump([{"method": "forward", "inputs": ["@" + os.path.join(folder, "x.npy")]}] * count, file)
    if os.path.exists(out):
        os.unlink(out)
    p = subprocess.run([taper, "run", model, "--calls", calls, "-o", out, *options], capture_output=True, text=True)
    kept = np.load(out) if os.path.exists(out) else {}
    return p, [[kept[f"{k}.output.{i}"] for i in range(2)] for k in range(count) if f"{k}.output.0" in kept]


def compare(wanted, p, got):
    raised = isinstance(wanted[-1], str)
    if raised != (p.returncode != 0):
        return p.stderr.strip().split("\n")[0][:200] or f"did not raise {wanted[-1]!r}"
    for number, (w, g) in enumerate(zip(wanted[:-1] if raised else wanted, got)):
        for place, a, b in zip(("before", "after"), w, g):
            if tuple(a.shape) != b.shape or not np.allclose(a.numpy(), b, rtol=1e-5, atol=1e-6):
                return f"call {number}, {place}: {b.shape} {b.ravel()[:6]}, wanted {tuple(a.shape)} {a.flatten()[:6].tolist()}"
    return None if len(got) == len(wanted) - raised else f"{len(got)} calls, wanted {len(wanted) - raised}"


def main():
    taper, passed, failed, refused = sys.argv[1], 0, 0, 0
    x = torch.tensor([0.25, 2.0])
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), x.numpy())
        for name, body, look, change in cases():
            if not (sys.argv[2:] or sampling.taken(name, 0.4)) or (sys.argv[2:] and sys.argv[2] not in name):
                continue
            try:
                module = make(body, look, change)
            except Exception as e:  # noqa: BLE001
                print(f"refused by PyTorch's compiler: {name}: {str(e).strip().splitlines()[0]}")
                refused += 1
                continue
            for form in ("m.pt", "m.ptl"):
                model = os.path.join(folder, form)
                module.save(model) if form == "m.pt" else module._save_for_lite_interpreter(model)
                wanted = answers(torch.jit.load(os.path.join(folder, "m.pt")), x)
                for options in ([], ["--no-optimize"], ["--threads", "2"]):
                    wrong = compare(wanted, *run(taper, model, folder, len(wanted), options))
                    passed, failed = passed + (wrong is None), failed + (wrong is not None)
                    if wrong:
                        print(f"FAILED {name}, {form} {' '.join(options)}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed or refused > 0.2 * (passed / 6) else 0


if __name__ == "__main__":
    sys.exit(main())
