#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_old_bytecode.py TAPER: tests files of bytecode 4 and 5 with the operators of PyTorch 1.9. Files of these versions pass all arguments of an
operator and do not store the number of arguments. The files are made from files of today's PyTorch: arguments that were added later are removed,
and removed arguments are added. Both the original and the rewritten file must give the module's results, and so must the file that Taper writes
from it."""
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import torch
from torch.jit.mobile import _backport_for_mobile

import make_bytecode3

# {operator: number of arguments that PyTorch 1.9 lacked; -1: an argument that was removed later}
CHANGED = {("aten::gelu", ""): 1, ("aten::einsum", ""): 1, ("aten::index_add", ""): 1, ("aten::index_add_", ""): 1,
           ("aten::repeat_interleave", "self_int"): 1, ("aten::repeat_interleave", "self_Tensor"): 1, ("aten::quantile", ""): 1,
           ("aten::quantile", "scalar"): 1, ("aten::nanquantile", "scalar"): 1, ("aten::searchsorted", "Tensor"): 2,
           ("aten::cross_entropy_loss", ""): 1, ("aten::linalg_cholesky", ""): 1, ("aten::linalg_solve", ""): 1,
           ("prim::RaiseException", ""): 1,
           ("aten::unflatten", "int"): -1}
torch.manual_seed(0)
X = torch.randn(2, 3, 4)


class Gelu(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(4))

    def forward(self, x):
        return x + torch.nn.functional.gelu(x) * torch.nn.functional.gelu(self.w) + torch.nn.functional.gelu(x * 2)


class Einsum(torch.nn.Module):
    def forward(self, x):
        y = torch.einsum("bij,bkj->bik", x, x)
        return torch.einsum("bij->bji", [y]) + torch.einsum("bij,bij->bij", (y, torch.einsum("bij->bij", y)))


class Index(torch.nn.Module):
    def forward(self, x):
        i = torch.tensor([0, 2])
        y = torch.index_add(x, 1, i, x[:, :2]) + x
        y.index_add_(1, i, x[:, 1:])
        return y, x.repeat_interleave(2), x.repeat_interleave(2, dim=1) + x.repeat_interleave(torch.tensor([2, 2, 2]), 1)


class Numbers(torch.nn.Module):
    def forward(self, x):
        q = torch.tensor([0.25, 0.5])
        a = torch.quantile(x, q, 1, True)
        b = x + torch.quantile(x, 0.5, 1, True) + torch.nanquantile(x, 0.5)
        return a, b, torch.searchsorted(q, x), torch.searchsorted(q, x, right=True)


class Losses(torch.nn.Module):
    def forward(self, x):
        t = torch.tensor([1, 0])
        a = torch.nn.functional.cross_entropy(x[:, :, 0], t)
        w = torch.tensor([1., 2., 3.])
        return a + torch.nn.functional.cross_entropy(x[:, :, 1], t, w, reduction="sum")


class Linear(torch.nn.Module):
    def forward(self, x):
        y = torch.matmul(x[:, :, :3], x[:, :, :3].transpose(1, 2)) + 3 * torch.eye(3)
        return torch.linalg.cholesky(y), torch.linalg.solve(y, x)


class Unflatten(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Unflatten(2, (2, 2))

    def forward(self, x):
        return x + 1, self.layer(x) + self.layer(x * 2)


class Resize(torch.nn.Module):
    def forward(self, x):
        y = torch.nn.functional.interpolate(x[None], [5, 6], mode="bilinear", align_corners=False)
        return x + 1, torch.nn.functional.interpolate(y, [2, 2])


class Raises(torch.nn.Module):
    def forward(self, x):
        if x.dim() != 3:
            raise ValueError("three dimensions, not {}".format(x.dim()))
        assert x.size(0) == 2, "two"
        y = x * 2
        for i in range(2):
            if i > 5:
                raise RuntimeError("never")
            y = y + torch.nn.functional.gelu(y)
        return y


def older(table):
    """Returns (a function's table with the operators of 1.9, the changed operators)."""
    table, changed, at = dict(table), set(), 0
    code, constants, nothing = list(table["instructions"]), list(table["constants"]), ("DROPR", table["register_size"] + 1, 0)
    while at < len(code):
        called = tuple(table["operators"][code[at][1]]) if code[at][0] == "OP" else None
        extra = CHANGED.get(called, 0)
        for back in range(1, extra + 1):
            assert code[at - back][0] == "LOADC", code[at - back]
            code[at - back] = nothing
        if extra < 0:
            assert not any(i[0] in ("JF", "JMP", "LOOP") for i in code), "one instruction more: the jumps would have to follow"
            constants.append(None)
            code.insert(at, ("LOADC", len(constants) - 1, 0))
            at += 1
        changed.update([called] if extra != 0 else [])
        at += 1
    table.update(instructions=tuple(code), constants=tuple(constants), register_size=table["register_size"] + 1)
    return tuple(table.items()), changed


def rewrite(source, target):
    """Rewrites the operators that have another number of arguments in the old version."""
    total = set()
    with zipfile.ZipFile(source) as read, zipfile.ZipFile(target, "w") as write:
        for name in read.namelist():
            data = read.read(name)
            if name.endswith("/bytecode.pkl"):
                program = list(make_bytecode3.read(data))
                for i, function in enumerate(program[1:], 1):
                    table, changed = older(function[1])
                    program[i], total = (function[0], table) + tuple(function[2:]), total | changed
                data = b"\x80\x02" + make_bytecode3.write(tuple(program)) + b"."
            write.writestr(name, data)
    return total


def run(taper, model, x, options):
    """Returns Taper's results, or its error text."""
    folder = os.path.dirname(model)
    given, out = os.path.join(folder, "x.npy"), os.path.join(folder, "out.npz")
    np.save(given, x.numpy())
    p = subprocess.run([taper, "run", model, "-i", given, "-o", out, *options], capture_output=True, text=True)
    if p.returncode != 0:
        return p.stderr
    with np.load(out) as archive:
        return [archive[key] for key in sorted(archive.files)]


def wanted(module, x):
    try:
        results = module(x)
    except torch.jit.Error as e:
        return str(e).strip().splitlines()[-1].split(": ", 1)[1]
    return [t.detach().numpy() for t in (results if isinstance(results, tuple) else (results,))]


def differs(want, got):
    if isinstance(want, str) or isinstance(got, str):
        return None if isinstance(want, str) and isinstance(got, str) and want in got else f"{got} where {want} is expected"
    if len(want) != len(got) or any(a.shape != b.shape for a, b in zip(want, got)):
        return "results of other shapes"
    worst = max(np.abs(a - b).max() for a, b in zip(want, got))
    return None if worst <= 1e-5 * max(1, *(np.abs(a).max() for a in want)) else f"results differ by {worst}"


class Attention(torch.nn.Module):
    """Calls operators on None in code that never runs."""
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(4, 2)

    def forward(self, x):
        return self.attention(x, x, x)


CASES = ((Gelu(), X), (Einsum(), X), (Index(), X), (Numbers(), X), (Losses(), X), (Linear(), X), (Unflatten(), X), (Resize(), X),
         (Raises(), X), (Raises(), X[0]), (Raises(), torch.cat([X, X])), (Attention(), X))


def main():
    taper = sys.argv[1]
    passed = failed = 0
    met = set()
    with tempfile.TemporaryDirectory() as scratch:
        new, backported, old, converted = (os.path.join(scratch, name + ".ptl") for name in ("new", "backported", "old", "converted"))
        for module, x in CASES:
            scripted = torch.jit.script(module.eval())
            want = wanted(scripted, x)
            scripted._save_for_lite_interpreter(new)
            for version in (4, 5):
                _backport_for_mobile(new, backported, version)
                met |= rewrite(backported, old)
                said = subprocess.run([taper, "convert", new, "-o", converted, "--bytecode", str(version)], capture_output=True, text=True)
                if said.returncode:
                    failed += 1
                    print(f"FAILED {type(module).__name__} as bytecode {version}: {said.stderr}")
                for model in (backported, old) + (() if said.returncode else (converted,)):
                    for options in ([], ["--no-optimize"]):
                        wrong = differs(want, run(taper, model, x, options))
                        passed, failed = passed + (wrong is None), failed + (wrong is not None)
                        if wrong:
                            print(f"FAILED {type(module).__name__} {tuple(x.shape)} {os.path.basename(model)} {version} {options}: {wrong}")
    assert met == set(CHANGED), f"no case calls {set(CHANGED) - met}"
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
