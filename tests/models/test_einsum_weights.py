#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_einsum_weights.py TAPER

Tests einsum whose second operand belongs to the model. This operand is packed once, like a layer's weight, also if it has a layer for each
head. Compares with PyTorch, with one and three threads, for every instruction set, and with weights that the model changes between calls."""
import json
import os
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy as np
    import torch
except ImportError:
    print("skipped: PyTorch 1.13 (python3-torch) is not installed")
    sys.exit(77)

from running import taper

# equation, sizes of the input, sizes of the weight, True if the weight is packed
CASES = [("bsd,ed->bse", (2, 5, 48), (70, 48), True), ("bsd,de->bse", (2, 5, 48), (48, 70), True), ("...d,ed->...e", (2, 3, 4, 33), (48, 33), True),
         ("bsd,ed->seb", (2, 5, 48), (70, 48), True), ("bsd,ed->bs", (2, 5, 48), (70, 48), False), ("dbs,ed->bse", (48, 2, 5), (70, 48), True),
         ("bnd,hdk->bhnk", (2, 7, 64), (4, 64, 24), True), ("bnd,hdk->nhbk", (2, 7, 64), (4, 64, 24), True), ("bnd,dhk->bnhk", (2, 7, 64), (64, 4, 24), True),
         ("bnhk,hkd->bnd", (2, 7, 4, 24), (4, 24, 64), True), ("bnhk,hdk->bnd", (2, 7, 4, 24), (4, 64, 24), True), ("bhnk,hdk->bnd", (2, 4, 7, 24), (4, 64, 24), True),
         ("bnhk,hdke->bned", (2, 7, 3, 40), (3, 40, 40, 2), True), ("bnd,hdk->bhnk", (2, 7, 5), (100, 5, 3), False), ("bnd,hdk->bhnk", (2, 7, 5), (3, 5, 7), False),
         ("bd,ed->be", (1, 64), (40, 64), False), ("bd,de->be", (1, 64), (64, 40), True), ("bhwc,hkc->bhwk", (2, 3, 4, 5), (3, 4, 5), False),
         ("oc,bcl->bol", (6, 5), (2, 5, 9), False), ("bij,bjk->bik", (3, 4, 5), (3, 5, 6), False), ("nd,d->n", (9, 40), (40,), True), ("bi,bj->bij", (5, 33), (5, 70), False),
         ("bsd,ed->bse", (2, 0, 48), (70, 48), False), ("bsd,ed->bse", (2, 5, 0), (70, 0), False), ("bsd,ed->bse", (2, 5, 48), (0, 48), False)]


class Weighted(torch.nn.Module):
    def __init__(self, equation, sizes):
        super().__init__()
        self.equation = equation
        self.weight = torch.nn.Parameter(torch.randn(*sizes), requires_grad=False)

    def forward(self, x):
        return torch.einsum(self.equation, [x, self.weight])


class Changing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.randn(40, 32))

    def forward(self, x):
        y = torch.einsum("bd,ed->be", [x, self.weight])
        self.weight.mul_(2)
        return y


def main():
    program, failed = sys.argv[1], []
    with tempfile.TemporaryDirectory() as folder:
        model, given, out = (os.path.join(folder, name) for name in ("m.pt", "x.npy", "y.npz"))
        for number, (equation, sizes, weight, packed) in enumerate(CASES):
            torch.manual_seed(number)
            module, x = Weighted(equation, weight).eval(), torch.randn(*sizes)
            torch.jit.trace(module, x).save(model)
            np.save(given, x.numpy())
            want = module(x).numpy()
            for options in (["--threads", "1"], ["--threads", "3"], ["--cpu", "scalar"], ["--cpu", "avx2"], ["--reference"]):
                taper(program, "run", model, "-i", given, "-o", out, *options)
                y = np.load(out)["output"]
                if y.shape != want.shape or not np.allclose(y, want, rtol=1e-4, atol=1e-4):
                    failed.append(f"{equation} {weight} {options}")
            told = json.loads(taper(program, "inspect", model, "--memory", "-i", given, "--json"))
            if (told["packed_bytes"] != 0) != packed:
                failed.append(f"{equation} {weight}: {told['packed_bytes']} bytes are packed")
        module, x = Changing().eval(), torch.randn(6, 32)
        torch.jit.script(module).save(model)
        np.save(given, x.numpy())
        calls = os.path.join(folder, "calls.json")
        with open(calls, "w") as f:
            json.dump([{"method": "forward", "inputs": [given]}] * 3, f)
        taper(program, "run", model, "--calls", calls, "-o", out)
        got = np.load(out)
        for call in range(3):
            if not np.allclose(got[f"{call}.output"], module(x).numpy(), rtol=1e-4, atol=1e-4):
                failed.append(f"weights that change, call {call}")
    print("\n".join(failed) if failed else f"{len(CASES)} equations, weights that change")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
