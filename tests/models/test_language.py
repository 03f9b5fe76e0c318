#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_language.py TAPER [NAME…]: runs programs with all features of the language in Taper and compares with PyTorch's result of the
same file. PyTorch saves each program as TorchScript and for the lite interpreter. Ends with "N passed, N failed"."""
import enum
import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ops"))
import torch
from torch import Tensor
from torch.jit.mobile import _load_for_lite_interpreter

import oracle


class ToLists(torch.nn.Module):
    def forward(self, x: Tensor, n: int):
        a: List[bool] = (x > 1).tolist()
        b: List[List[bool]] = (x > 1).reshape(1, -1).tolist()
        c: List[complex] = torch.complex(x, x).tolist()
        d: List[int] = x.long().tolist()
        e: bool = (x.sum() > 1).tolist()
        return a, b, c, d, e, [float(n), float(n + 1)]


class ToListTwice(torch.nn.Module):
    """PyTorch runs the code before .tolist() twice, and once more each time the file's own text is compiled."""
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.ones(2))

    def look(self, x: Tensor) -> Tensor:
        self.seen *= 2
        return x + self.seen.sum()

    def forward(self, x: Tensor):
        a: List[float] = self.look(x).tolist()
        b: List[float] = torch.tensor(torch.jit.annotate(List[float], x.tolist())).tolist()
        return a, b, self.seen.clone()


class OwnSettings(torch.nn.Module):
    """Copies of lists that are attributes. A branch assigns the old item or a new one to an item of such a copy, as in Swin's shifts."""
    def __init__(self):
        super().__init__()
        self.still: List[int] = [0, 0]
        self.shift: List[int] = [3, -2]

    def moved(self, x: Tensor, by: List[int]):
        by = by.copy()
        if 3 >= x.size(0):
            by[0] = 0
        if 3 >= x.size(1):
            by[1] = 0
        y = x
        if sum(by) > 0:
            y = torch.roll(x, shifts=(-by[0], -by[1]), dims=(0, 1))
        return y, by

    def forward(self, x: Tensor, n: int):
        a, b = self.moved(x, self.still)
        c, d = self.moved(x, self.shift)
        e = self.still.copy()
        e[n] = 5
        f = self.still.copy()
        f[-1] = 0
        g = self.shift.copy()
        g[0] = 3
        return a, b, c, d, e, f, sum(f), g, sum(g), sum(self.shift), self.still


class Dimensions(torch.nn.Module):
    """A buffer of 16 dimensions with unordered strides. The results are made from it and from an input of nine dimensions."""
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.rand([2, 1, 1, 2] * 4).permute(list(range(1, 16)) + [0]))

    def forward(self, x: Tensor):
        y = x.reshape([1] * (16 - x.dim()) + list(x.shape))
        return y + self.table.sum(), self.table[0] * 2, self.table.sum([0, 2, 15]), x.permute(list(range(x.dim() - 1, -1, -1)))


class Numbers(torch.nn.Module):
    """A number that may be an int or a float, as in LPPool."""
    norm: Union[int, float]

    def __init__(self):
        super().__init__()
        self.norm = 3

    def twice(self, p: Union[int, float]) -> float:
        return float(p) * 2

    def forward(self, x: Tensor, p: Union[int, float], q: Optional[Union[int, float]] = None):
        y = x.abs().pow(p) * self.norm
        whole = isinstance(p, int)
        if q is not None:
            y = y + q
        k = torch.full([2], 1.5) * p
        return y, self.twice(2), self.twice(2.5), float(p), int(p), k, x.norm(p), whole


class Pool(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.LPPool2d(2, 2), torch.nn.LPPool1d(1.5, 2, stride=1)

    def forward(self, x: Tensor):
        return self.a(x), self.b(x[0])


class Wider(torch.nn.Module):
    def width(self, n: Optional[Union[int, List[int], Tensor]]) -> int:
        if n is None:
            return -1
        if isinstance(n, int):
            return n
        if isinstance(n, Tensor):
            return n.numel()
        return len(n)

    def forward(self, x: Tensor, n: Optional[int], m: Optional[List[int]] = None):
        y: Optional[Tensor] = None
        if x.numel() > 2:
            y = x
        return self.width(n), self.width(m), self.width(y)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Text(enum.Enum):
    A = "alpha"
    B = "beta"


class Enums(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.color = Color.BLUE
        self.colors = [Color.RED, Color.BLUE]

    def forward(self, x: Tensor, n: int):
        c = Color.RED
        if n > 2:
            c = Color.BLUE
        if c == self.color:
            x = x + c.value
        return x, c.value, Text.B.value + c.name, self.colors[0] == c, self.colors[1] != c


class Profiled(torch.nn.Module):
    def forward(self, x: Tensor):
        h = torch.ops.profiler._record_function_enter("part")
        y = x * 2
        torch.ops.profiler._record_function_exit(h)
        g = torch.ops.profiler._record_function_enter_new("again", "with arguments")
        y = y + 1
        torch.ops.profiler._record_function_exit(g)
        return y


class Deep(torch.nn.Module):
    def __init__(self, depth: int):
        super().__init__()
        self.inner = torch.nn.Identity() if depth == 0 else Deep(depth - 1)
        self.scale = float(depth)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) + self.scale


class Instances(torch.nn.Module):
    def kind(self, v: Any) -> str:
        if isinstance(v, str):
            return "str"
        if isinstance(v, bool):
            return "bool"
        if isinstance(v, (int, float)):
            return "number"
        return "else"

    def forward(self, x: Tensor, b: bool):
        flag = True
        a = isinstance(flag, str)
        c = isinstance(flag, int)
        d = isinstance(flag, bool)
        e = isinstance(b, (str, int)), isinstance(b, (str, bool)), isinstance(1, bool), isinstance(1, float), isinstance(None, str)
        return a, c, d, e, self.kind(True), self.kind(1), self.kind(b), self.kind("a"), self.kind(None)


class WholeFloats(torch.nn.Module):
    """Floats that PyTorch writes without a point and then reads as ints: it cannot read its own file."""
    def forward(self, x: Tensor):
        a: List[float] = []
        a.extend([0.5, 1e10, -2e15])
        b: List[float] = [1e10, 0.5]
        d: Dict[str, float] = {"a": 1e10, "b": 0.25}
        return a, b, d, torch.tensor([1e10, 0.5]), torch.tensor([[1e10, 0.5], [1.0, 2e20]])


class Mixed(torch.nn.Module):
    """Lists and dicts whose items have no common type."""
    def forward(self, x: Tensor, n: int):
        a = [0.5, 2]
        b = {"a": 1.5, "z": 2}
        c = dict([("a", 1.5), ("z", 2)])
        d = [n, "a", x, None]
        k = 7
        first = d[0]
        if isinstance(first, int):
            k = first
        for i in a:
            x = x + i
        return x * a[n], x * b["z"], x * c["z"], len(a), len(c), len(d), k


class Traced(torch.nn.Module):
    """A trace keeps numbers as tensors of rank 0."""
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x: Tensor):
        n = x.long()
        half = (x > 0) * 0.5
        return self.linear(half), half, n * 2.5, n + 1, (x > 0) + 1, n / 2, half - 0.25, torch.add(n, 1.5, alpha=2), n * (1 + 2j), n + torch.tensor(3, dtype=torch.uint8)


@torch.jit.script
class Card:
    def __init__(self, rank: int, name: str):
        self.rank, self.name = rank, name

    def __lt__(self, other: "Card") -> bool:
        return self.rank < other.rank


class Sorting(torch.nn.Module):
    """Sorts objects by their class's order; equal objects keep their order."""
    def forward(self, x: Tensor, n: int, back: bool):
        cards: List[Card] = []
        for i in range(n):
            cards.append(Card(int(x[i]) % 3, str(i)))
        in_order = "".join([c.name for c in sorted(cards)])
        before = "".join([c.name for c in cards])
        cards.sort(reverse=back)
        again = "".join([c.name for c in cards])
        cards.sort()
        return in_order, before, again, [c.rank for c in cards], cards is None


@torch.jit.script
class Counted:
    def __init__(self, rank: int, calls: List[int]):
        self.rank, self.calls = rank, calls

    def __lt__(self, other: "Counted") -> bool:
        self.calls[0] += 1
        if self.rank < 0:
            raise ValueError("no rank")
        return self.rank < other.rank


class Comparisons(torch.nn.Module):
    """Sorting makes a number of comparisons proportional to n log n, and ends with an exception of a comparison."""
    def forward(self, n: int, least: int, back: bool):
        calls = [0]
        counted = [Counted((i * 7919) % n + least, calls) for i in range(n)]
        counted.sort(reverse=back)
        again = sorted(counted)
        return [c.rank for c in counted], [c.rank for c in again], calls[0] <= 24 * n


class Unread(torch.nn.Module):
    """The expression that is assigned to an attribute raises, even if nothing reads the attribute."""
    def forward(self, n: int, key: str):
        ranks = {"a": [n]}[key]
        return Counted(n, ranks).rank


class Raising(torch.nn.Module):
    def forward(self, x: Tensor, n: int):
        return x[n]


class Ranks(torch.nn.Module):
    """Checks of ranks, some of which cannot fail."""
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.rows = torch.nn.BatchNorm1d(4)

    def forward(self, x: Tensor, rows: bool):
        if rows:
            return self.rows(self.conv(x)), 0
        y = [torch.relu(self.norm(self.conv(x)))]
        y.append(torch.relu(y[0]))
        z = torch.cat(y, 1)
        assert len(z.size()) > 2
        return z, z.dim()


class Again(torch.nn.Module):
    """Each call has other shapes, layouts, numbers and tensors, and writes to the weights."""
    def __init__(self):
        super().__init__()
        self.wide = torch.nn.Conv2d(4, 8, 3, padding=1)
        self.conv = torch.nn.Conv2d(8, 4, 1)

    def forward(self, x: Tensor, y: Tensor, s: float, grows: bool):
        z = (x + y) * s - y
        z = self.conv(torch.relu(self.wide(z))) + x
        if grows:
            self.conv.weight.mul_(2.0)
        return z, z - z, torch.sigmoid(z + z)


X = torch.tensor([1.0, -2.0, 3.5])
A4, B4 = torch.rand(2, 4, 3, 3), torch.rand(2, 4, 3, 3)
S = torch.tensor([5.0, 3.0, 8.0, 1.0, 0.0, 2.0, 5.0, 4.0, 7.0])
ANY, SCRIPT = (".pt", ".ptl"), (".pt",)  # kinds of files that PyTorch can save and load for a case
CASES = [
    ("tolist and float", ToLists, [(X, 16777216)], ANY),
    ("own settings", OwnSettings, [(torch.rand(n, m), i) for n, m in ((2, 2), (2, 6), (6, 7)) for i in (0, 1)], ANY),
    ("dimensions", Dimensions, [(torch.rand(2, 1, 1, 2, 1, 1, 1, 1, 1),), (X,)], ANY),
    ("tolist of a call", ToListTwice, [(X,), (X,)], ANY), ("numbers", Numbers, [(X, 2), (X, 2.5), (X, 2, 3), (X, 2.0, 1.5)], SCRIPT),
    ("LPPool", Pool, [(torch.rand(1, 2, 4, 4),)], ANY), ("wider", Wider, [(X, None), (X, 3), (X[:1], 3, [1, 2])], ANY),
    ("enums", Enums, [(X, 1), (X, 3)], SCRIPT),
    ("profiled", Profiled, [(X,)], ANY), ("deep", lambda: Deep(120), [(X,)], ANY), ("instances", Instances, [(X, True)], ANY),
    ("whole floats", WholeFloats, [(X,)], ANY), ("mixed", Mixed, [(X, 0), (X, 1)], SCRIPT),
    ("traced", lambda: torch.jit.trace(Traced(), (X,)), [(X,), (X,)], SCRIPT),
    ("sorted objects", Sorting, [(S, n, b) for n in (0, 1, 2, 9) for b in (False, True)], SCRIPT),
    ("comparisons", Comparisons, [(n, 0, b) for n in (15, 300) for b in (False, True)] + [(9, -5, False)], SCRIPT),
    ("unread", Unread, [(3, "a"), (3, "c")], SCRIPT, ["--no-optimize"]),  # run without the optimizer, which may omit the call that raises
    ("called again", Again, [(a, b, s, g) for g in (False, True) for s in (1.0, 0.5) for a, b in (
        (A4, B4), (A4, A4), (A4, B4), (A4[:, :, :2], B4[:, :, 1:]), (A4.contiguous(memory_format=torch.channels_last), B4), (A4, B4[:1]),
        (A4[0], B4[0]), (A4, B4))], ANY),
    ("raising", Raising, [(X, 1), (X, 5)], SCRIPT),
    ("images", Ranks, [(torch.rand(2, 3, 5, 5), False)], SCRIPT),
    ("rows of images", Ranks, [(torch.rand(2, 3, 5, 5), True)], SCRIPT),
]


def run_torch(module, path, calls):
    results = []
    if not isinstance(module, WholeFloats):
        module = (_load_for_lite_interpreter if path.endswith(".ptl") else torch.jit.load)(path)
    for args in calls:
        try:
            with torch.no_grad():
                results.append((module(*oracle.clone(args)), None))
        except Exception as e:
            results.append((None, str(e).strip().split("\n")[-1]))
            break
    return results


def run_case(taper, extra, case, suffix, folder):
    name, make, calls = case[:3]
    torch.manual_seed(0)
    path = os.path.join(folder, "case" + suffix)
    module = make().eval()
    script = module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module)
    script._save_for_lite_interpreter(path) if suffix == ".ptl" else script.save(path)
    want, files = run_torch(module, path, calls), []
    spec = [{"method": "forward", "inputs": [oracle.to_input(a, folder, files) for a in args]} for args in calls]
    with open(os.path.join(folder, "calls.json"), "w") as f:
        json.dump(spec, f)
    p = subprocess.run([taper, "run", path, "--calls", f.name, "--json"] + extra, capture_output=True, timeout=60)
    stderr = p.stderr.decode(errors="replace").strip()
    raised = want[-1][1]
    if p.returncode not in (0, 1) or (p.returncode == 1) != (raised is not None):
        return stderr[:500] or f"did not raise; PyTorch: {raised}"
    if raised is not None and raised.split(": ")[-1] not in stderr:
        return f"raised {stderr[:300]!r}; PyTorch: {raised!r}"
    got = json.loads(p.stdout) if p.stdout.strip() else []
    for i, result in enumerate(got):
        wrong = oracle.compare(want[i][0], result, {})
        if wrong:
            return f"call {i}: {wrong}"
    return None if len(got) == len(want) - (raised is not None) else f"{len(got)} results"


def main():
    taper, names = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for case in CASES:
        if names and case[0] not in names:
            continue
        for suffix, extra in [(s, e) for s in case[3] for e in case[4:] or ([], ["--no-optimize"])]:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    wrong = run_case(taper, extra, case, suffix, folder)
                except Exception as e:
                    wrong = f"the case itself: {type(e).__name__}: {str(e).strip()[:600]}"
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {case[0]} {suffix} {' '.join(extra)}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
