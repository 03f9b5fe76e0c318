#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_listing.py TAPER [NAME…]: compares the output of `taper ops` for scripted modules with torch.jit.export_opnames: training branches,
constants, methods that nothing calls and unused results. PyTorch lists the methods of the root as they are in the file. PyTorch inlines the
functions that these methods call, and simplifies a method if it can decide a branch inside. Every module is therefore listed as the root and as a
part of another one. A traced module that calls operators by their aliases is listed as well. Ends with "N passed, N failed"."""
import os
import subprocess
import sys
import tempfile
from enum import Enum
from typing import Any, Dict, List, Optional, Tuple, Union

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.jit.mobile import _export_operator_list, _load_for_lite_interpreter


class Holder(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class HolderOfTwo(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor, n: int):
        return self.inner(x, n)


class HolderOfPowers(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor, n: int):
        return self.inner(x, n + 0.5, n)


class Choice(nn.Module):
    """Contains a random draw whose only use is in a dead branch, as in torchvision's detection transform."""

    def __init__(self):
        super().__init__()
        self.sizes = (8,)
        self.skip = True
        self.fixed: Optional[Tuple[int, int]] = (4, 4)

    def draw(self, k: List[int]) -> int:
        return k[int(torch.empty(1).uniform_(0.0, float(len(k))).item())]

    def forward(self, x: Tensor) -> Tensor:
        return self.resize(x)

    def resize(self, x: Tensor) -> Tensor:
        if self.training:
            if self.skip:
                return x
            size = float(self.draw(self.sizes))
        else:
            size = float(self.sizes[-1])
        return resized(x, size, (4, 4))


def resized(x: Tensor, size: float, fixed: Optional[Tuple[int, int]]) -> Tensor:
    if fixed is not None:
        y = torch.relu(x)[:fixed[0]]
    else:
        y = torch.sigmoid(x) * size
    return y


class Unused(nn.Module):
    def helper(self, x: Tensor) -> Tensor:
        return torch.tanh(x) + torch.sigmoid(x)

    def forward(self, x: Tensor) -> Tensor:
        y = self.helper(x)
        return torch.relu(x)


class TwoUsedOne(nn.Module):
    def helper(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return torch.tanh(x), torch.sigmoid(x)

    def forward(self, x: Tensor) -> Tensor:
        a, b = self.helper(x)
        return a


class DeadBranch(nn.Module):
    __constants__ = ["flag"]

    def __init__(self, flag: bool):
        super().__init__()
        self.flag = flag

    def other(self, x: Tensor) -> Tensor:
        return torch.cos(x)

    def forward(self, x: Tensor) -> Tensor:
        if self.flag:
            x = self.other(x)
        return torch.sin(x)


class DeadArgument(nn.Module):
    def pick(self, x: Tensor, flag: bool) -> Tensor:
        if flag:
            return torch.cos(x)
        y = torch.zeros(3)
        y.add_(1)
        y.fill_(2.0)
        return torch.sin(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.pick(x, False)


class DeadWrite(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = torch.zeros(3)
        y.fill_(2.0)
        return torch.sin(x)


class DeadList(nn.Module):
    def f(self, x: Tensor, k: Optional[int]) -> Tensor:
        out: List[Tensor] = []
        for i in range(3):
            out.append(x.exp())
        if k is not None:
            return torch.cat(out)
        return torch.cos(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, None)


class LoopDead(nn.Module):
    def f(self, x: Tensor, flag: bool) -> Tensor:
        a = x
        b = torch.tanh(x)
        for i in range(3):
            a = a + 1
            b = b.exp() * i
        if flag:
            return b
        return a

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, False)


class WhileDead(nn.Module):
    def f(self, x: Tensor, flag: bool) -> Tensor:
        n = 0
        while bool(x.sum() > 10) and n < 5:
            n += int(x.size(0))
        if flag:
            return x + n
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, False)


class Raises(nn.Module):
    def f(self, x: Tensor, mode: str) -> Tensor:
        if mode == "a":
            return x.exp()
        elif mode == "b":
            return x.log()
        else:
            raise ValueError(f"bad {mode}")

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, "b")


class Rand(nn.Module):
    def f(self, x: Tensor, p: float) -> Tensor:
        noise = torch.rand(3)
        mask = torch.bernoulli(torch.full([3], 0.5))
        if p > 0.0:
            return x * noise * mask
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, 0.0)


class Assert(nn.Module):
    def f(self, x: Tensor, size: List[int]) -> Tensor:
        assert len(size) == 2, "two"
        assert size[0] > 0
        return x.view(size)

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, [2, 3])


class IfDeadOutput(nn.Module):
    def f(self, x: Tensor, k: Optional[Tensor]) -> Tensor:
        if x.size(0) > 1:
            a, b = x.exp(), x.log()
        else:
            a, b = x.sin(), x.cos()
        if k is None:
            return a
        return b

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, None)


class IfDeadDirect(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.size(0) > 1:
            a, b = x.exp(), x.log()
        else:
            a, b = x.sin(), x.cos()
        return a


class Dropouts(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.Dropout(0.5)
        self.b = nn.BatchNorm2d(3)
        self.c = nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect")
        self.u = nn.Upsample(scale_factor=2.0)

    def forward(self, x: Tensor) -> Tensor:
        return self.u(self.d(self.b(self.c(x))))


class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.MultiheadAttention(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.a(x, x, x)[0]


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.LSTM(3, 4, 2, dropout=0.1, bidirectional=True)
        self.g = nn.GRU(8, 4)
        self.h = nn.LSTMCell(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.l(x)
        y, _ = self.g(y)
        return self.h(y[0])[0]


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.t(x)


class Exported(nn.Module):
    @torch.jit.export
    def extra(self, x: Tensor) -> Tensor:
        return self.inner(x).cumsum(0)

    def inner(self, x: Tensor) -> Tensor:
        y = x.erf()
        return x.atan()

    def forward(self, x: Tensor) -> Tensor:
        return x


class SubExport(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = Exported()

    def forward(self, x: Tensor) -> Tensor:
        return self.e.extra(x)


class Loss(nn.Module):
    def forward(self, x: Tensor, t: Optional[Tensor] = None) -> Dict[str, Tensor]:
        if self.training:
            assert t is not None
            return {"loss": torch.nn.functional.mse_loss(x, t)}
        return {"x": x.softmax(0)}


class Interp(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.nn.functional.interpolate(x, size=[4, 4], mode="bilinear", align_corners=False)


class DictDead(nn.Module):
    def f(self, x: Tensor, keep: bool) -> Tensor:
        d: Dict[str, Tensor] = {}
        d["a"] = x.exp()
        d.update({"b": x.log()})
        if keep:
            return d["a"]
        return x.sin()

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, False)


class ViewWrite(nn.Module):
    def f(self, x: Tensor, keep: bool) -> Tensor:
        y = torch.zeros([4])
        y[1:2].add_(x.sum())
        z = torch.ones([4])
        z[0] = 5
        w = x.clone()
        w.mul_(2)
        x.view(-1)[0].sub_(1)
        if keep:
            return y
        return z

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, False)


class LoopWrite(nn.Module):
    def f(self, x: Tensor, keep: bool) -> Tensor:
        y = torch.zeros([4])
        z = torch.zeros([4])
        for i in range(x.size(0)):
            y[i] = x.sum()
            z[i] = x.prod()
        if keep:
            return y
        return z

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, False)


class ObjectDead(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def f(self, x: Tensor, keep: bool) -> Tensor:
        self.count += 1
        s = "a" + str(self.count)
        if keep:
            print(s)
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, False)


class NoFold(nn.Module):
    """Writes to a value that nothing reads remain in PyTorch's list of operators if PyTorch folds no constant."""

    def f(self, x: Tensor, y: Tensor) -> Tensor:
        return x

    def g(self, x: Tensor) -> Tensor:
        return self.f(x, x.exp().add_(1))

    def forward(self, x: Tensor) -> Tensor:
        return self.g(x)


class Prints(nn.Module):
    def f(self, x: Tensor, n: int) -> Tensor:
        if n == 3:
            print("x")
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, 2)


class Sequential(nn.Module):
    def __init__(self):
        super().__init__()
        self.s = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.LayerNorm(3), nn.Softmax(dim=1))
        self.m = nn.ModuleList([nn.Linear(3, 3), nn.Tanh()])

    def forward(self, x: Tensor) -> Tensor:
        for m in self.m:
            x = m(x)
        return self.s(x)


class Levels(nn.Module):
    """A function reads a constant that an outer caller passes."""

    def inner(self, x: Tensor, k: Optional[int]) -> Tuple[Tensor, Tensor]:
        if k is None:
            return x.exp(), x.log()
        return x.sin(), x.cos()

    def middle(self, x: Tensor, k: Optional[int]) -> Tuple[Tensor, Tensor]:
        a, b = self.inner(x, k)
        c, d = self.other(x)
        return a, c

    def other(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return x.tan(), x.acos()

    def outer(self, x: Tensor) -> Tensor:
        a, c = self.middle(x, None)
        return a

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(x)


class Levels2(nn.Module):
    """Folding inside a call keeps unused code outside of it."""

    def inner(self, x: Tensor, k: Optional[int]) -> Tensor:
        if k is None:
            return x.exp()
        return x.sin()

    def middle(self, x: Tensor) -> Tensor:
        return self.inner(x, None)

    def other(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return x.tan(), x.acos()

    def outer(self, x: Tensor) -> Tensor:
        a, c = self.other(x)
        return a + self.middle(x)

    def forward(self, x: Tensor) -> Tensor:
        return self.outer(x)


class Returned(nn.Module):
    """A constant that a call returns."""

    def flag(self, x: Tensor) -> Tuple[bool, Tensor]:
        return True, x.neg()

    def other(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return x.tan(), x.acos()

    def f(self, x: Tensor) -> Tensor:
        flag, y = self.flag(x)
        a, b = self.other(x)
        if flag:
            return x.exp()
        return a + y

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x)


class Lists(nn.Module):
    def f(self, x: Tensor, size: List[int]) -> Tensor:
        if len(size) == 2:
            x = x.exp()
        if size[-1] == 3:
            x = x.sin()
        else:
            x = x.cos()
        size.append(3)
        return x

    def g(self, x: Tensor, size: List[int]) -> Tensor:
        if size[0] == 4:
            return x.tan()
        return x.acos()

    def h(self, x: Tensor) -> Tensor:
        return self.f(x, [2, 3]) + self.g(x, [4])

    def forward(self, x: Tensor) -> Tensor:
        return self.h(x)


class Grow(nn.Module):
    def f(self, x: Tensor) -> Tensor:
        t = [x]
        while len(t) < 3:
            t.append(x.exp())
        if len(t) == 1:
            return x.sin()
        return torch.cat(t)

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x)


class Nested(nn.Module):
    def f(self, x: Tensor, k: Optional[Tensor], deep: bool) -> Tensor:
        s = torch.zeros([])
        for i in range(x.size(0)):
            for j in range(x.size(1)):
                if bool(x[i, j] > 0):
                    s.add_(x[i, j])
                elif k is not None:
                    s.mul_(k[i])
                else:
                    raise RuntimeError("no")
        if deep:
            return s
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, None, False)


class Normals(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = nn.BatchNorm2d(2, track_running_stats=False)
        self.i = nn.InstanceNorm2d(2, affine=True)
        self.g = nn.GroupNorm(1, 2)
        self.e = nn.EmbeddingBag(4, 2, mode="mean")
        self.p = nn.AdaptiveMaxPool2d(2, return_indices=True)

    def forward(self, x: Tensor, n: Tensor) -> Tensor:
        return self.p(self.g(self.i(self.n(x))))[0].sum() + self.e(n).sum()


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Transformer(8, 2, 1, 1, 16)

    def forward(self, x: Tensor) -> Tensor:
        return self.t(x, x)


class FirstOfCall(nn.Module):
    """PyTorch keeps the unused item of a tuple in a method of the root if one item is used. In a function the unused item is removed."""

    def both(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        return torch.tanh(x), torch.sigmoid(x)

    def add(self, x: Tensor, y: Optional[Tensor]) -> Tensor:
        return x if y is None else x + y

    def forward(self, x: Tensor) -> Tensor:
        pair = (torch.relu(x), torch.cos(x))
        return self.add(self.both(x)[0] + pair[0], None)


class Quantized(nn.Module):
    """The operators that save and load states of modules are listed, at any depth."""

    def __init__(self):
        super().__init__()
        self.conv = nn.quantized.Conv2d(3, 4, 3)
        self.layers = nn.Sequential(nn.quantized.Linear(4, 4), nn.quantized.dynamic.Linear(4, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers[1](self.layers[0](self.conv(x)).dequantize())


class Shade(Enum):
    RED = 1
    GREEN = 2


class Enums(nn.Module):
    def f(self, x: Tensor, shade: Shade) -> Tensor:
        if shade == Shade.RED:
            return x + 1
        elif shade.name == "GREEN":
            return x * shade.value
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, Shade.GREEN)


class Formats(nn.Module):
    def f(self, x: Tensor, name: str) -> Tensor:
        why = "{} is not the one".format(name)
        if len(why) > 0:
            x = x.exp()
        else:
            x = x.log()
        return x.sin() if name == "a" else x.cos()

    def forward(self, x: Tensor) -> Tensor:
        return self.f(x, "a")


class Kinds(nn.Module):
    """Casts that add no information remain in PyTorch's list of operators if the types decide no branch."""

    def kind(self, v: Any) -> str:
        if isinstance(v, Tensor):
            return "tensor"
        elif isinstance(v, (int, float)):
            return "number"
        return "else"

    def forward(self, x: Tensor) -> Tensor:
        return x + len(self.kind(x)) + len(self.kind(3))


class OwnLists(nn.Module):
    """For a list that never changes, PyTorch knows the length, and the items with constant indices."""

    def windows(self, x: Tensor, n: int) -> Tensor:
        for a in ((0, n), (n, n + 1)):
            for b in ((0, -n), (-n, n)):
                x = x + a[0] * b[1]
        return x

    def picked(self, x: Tensor) -> Tensor:
        items = [x, x + 1]
        return items[1] - items[-2]

    def forward(self, x: Tensor) -> Tensor:
        return self.windows(x, x.size(0)) + self.picked(x)


class GrownList(nn.Module):
    def grown(self, x: Tensor) -> Tensor:
        items = [x, x + 1]
        n = len(items)
        items.append(x)
        return items[0] * n + len(items)

    def forward(self, x: Tensor) -> Tensor:
        return self.grown(x)


class Numbers(nn.Module):
    """A value that is an int or a float is a number."""

    def f(self, v: Any) -> int:
        if isinstance(v, (int, float)):
            return int(v)
        return 0

    def forward(self, x: Tensor) -> Tensor:
        return x + self.f(2.5) + self.f(x)


class Powers(nn.Module):
    """Functions that take an int or a float use the operator for their actual argument."""

    def __init__(self):
        super().__init__()
        self.pool, self.p = nn.LPPool2d(2, 2), 2.5

    def over(self, p: Union[int, float], q: Union[int, float]) -> float:
        return p / q

    def forward(self, x: Tensor, p: float, k: int):
        return self.pool(x), F.lp_pool2d(x, p, k), F.lp_pool2d(x, self.p, k), self.over(k, p), self.over(3, p), self.over(k, k)


class KnownLists(nn.Module):
    """Takes sums, slices and items of lists and dicts that a function makes and that never change. PyTorch lists these operators in a method of
    the root, but not in a function that it inlines."""

    def sums(self, n: int):
        return ([n, 2] + [n])[0], ["a"] + ["b", "c"], len([n] + [4]), [1, 2, n][1:]

    def parts(self, n: int):
        a, b = [n, 3][:2]
        return a * b, ["a", "b"][n:], [n, 1, 2][::2][1], [[n].copy(), list(range(3))][1]

    def dicts(self, n: int):
        return len({1: n, 2: n}), {"a": n, "b": 2}["b"] + n, {n: 1}[n], {True: n}[True], len({1: n, 1: 2})

    def changed(self, n: int):
        l, m, d = [n, 2], [n], {1: n}
        l.append(3)
        m += [4]
        d[2] = 3
        return len(l), m[0] + l[1], len(d), (l + [1])[2]

    def joined(self, n: int):
        l = [n, 2]
        if n > 1:
            l = [n]
        return len(l), len([n, n]) == 2

    def never(self, x: Tensor, n: int):
        d = {q: x for q in range(0 % 4)}
        for i in range(n - n):
            x = x.exp()
        while False:
            x = x.log()
        for i in [x, x][2:]:
            x = x + i.cos()
        return len(d), x

    def forward(self, x: Tensor, n: int):
        return self.sums(n), self.parts(n), self.dicts(n), self.changed(n), self.joined(n), self.never(x, n)


class Decided(nn.Module):
    """Branches on lists of known length, and on conditions that a branch returns, for example by an inner return statement."""

    def branch(self, x: Tensor, n: int) -> Tensor:
        if len([n] + [1]) == 2:
            return x.exp()
        return x.log()

    def early(self, x: Tensor, n: int) -> Tensor:
        y = self.unused(x)
        if n > 1:
            if bool(x.sum() > 1):
                return x.sin()
        return x.cos()

    def unused(self, x: Tensor) -> Tensor:
        return x.tan()

    def forward(self, x: Tensor, n: int) -> Tensor:
        return self.branch(x, n) + self.early(x, n)


class Kinded(nn.Module):
    """Calls of isinstance that the types decide."""

    def kind(self, p: Union[int, float]) -> int:
        if isinstance(p, int):
            return 2
        return 3

    def forward(self, x: Tensor, p: Union[str, int]) -> Tensor:
        same: Union[str, bool] = (x << 3).device == x.device
        if isinstance(same, bool):
            x = x.exp()
        if isinstance(p, (str, int)):
            x = x.sin()
        if isinstance(p, str):
            x = x.cos()
        return x * self.kind(2) + self.kind(2.5)


class TakenOut(nn.Module):
    """A value that comes from a list and is written to may be shared. Such a value counts as used if a loop with effects uses it."""

    def __init__(self):
        super().__init__()
        self.seen = [0]

    def items(self, x: Tensor) -> Tensor:
        for i in [x.exp(), x.log()][:1]:
            i.fill_(2)
        return x

    def loop(self, x: Tensor, n: int) -> Tensor:
        y = x.cumsum(0)
        for i in range(n):
            y *= 2
            self.seen.append(i)
        y.fill_(2)
        return x

    def forward(self, x: Tensor, n: int) -> Tensor:
        return self.items(x) + self.loop(x, n)


MODULES = [Powers, KnownLists, Decided, Kinded, TakenOut, Enums, Formats, Kinds, Numbers, OwnLists, GrownList, Choice, Unused, TwoUsedOne, DeadArgument, DeadWrite, DeadList, LoopDead, WhileDead, Raises, Rand, Assert,
           IfDeadOutput, IfDeadDirect, Dropouts, Attn, Rnn, Transformer, Exported, SubExport, Loss, Interp, DictDead,
           ViewWrite, LoopWrite, ObjectDead, NoFold, Prints, Sequential, Levels, Levels2, Returned, Lists, Grow,
           Nested, Normals, Decoder, FirstOfCall, Quantized]

CASES = [("DeadBranch kept", lambda: DeadBranch(True)), ("DeadBranch", lambda: DeadBranch(False))]
CASES += [(m.__name__, m) for m in MODULES]
CASES += [(m.__name__ + " inside", lambda m=m: Holder(m())) for m in MODULES if m not in (Normals, Loss, Powers, KnownLists, Decided, Kinded, TakenOut)]
CASES += [(m.__name__ + " inside", lambda m=m: HolderOfTwo(m())) for m in (KnownLists, Decided, Kinded, TakenOut)]
CASES += [("Powers inside", lambda: HolderOfPowers(Powers()))]


def run_case(taper, make, path):
    torch.jit.script(make()).save(path)
    want = sorted(torch.jit.export_opnames(torch.jit.load(path)))
    p = subprocess.run([taper, "ops", path], capture_output=True, text=True, timeout=60)
    got = p.stdout.split()
    if p.returncode != 0:
        return p.stderr.strip()[:500]
    return None if got == want else f"too many: {sorted(set(got) - set(want))}, too few: {sorted(set(want) - set(got))}"


def run_deep(taper, folder):
    """Functions with deeply nested blocks call each other, and the root calls them from the last function to the first. Inlined, they exceed the
    limit of depth."""
    lines = ["import torch", "class Deep(torch.nn.Module):"]
    for i in range(14):
        lines.append(f"    def f{i}(self, x: torch.Tensor, n: int) -> torch.Tensor:")
        lines += [" " * (8 + d) + f"if n > {d}:" for d in range(80)]
        lines += [" " * 88 + (f"x = self.f{i + 1}(x, n) + 1" if i < 13 else "x = x * 2"), "        return x"]
    lines += ["    def forward(self, x: torch.Tensor, n: int):", "        y = x"] + [f"        y = self.f{i}(y, n)" for i in reversed(range(14))] + ["        return y"]
    with open(os.path.join(folder, "deep_listing.py"), "w") as file:
        file.write("\n".join(lines) + "\n")
    sys.path.insert(0, folder)
    import deep_listing
    path = os.path.join(folder, "deep.pt")
    torch.jit.script(deep_listing.Deep()).save(path)
    p = subprocess.run([taper, "ops", path], capture_output=True, text=True, timeout=60)
    return None if p.returncode == 1 and "nested too deep" in p.stderr else f"exit {p.returncode}: {p.stderr.strip()[:300]}"


ALIASES = """
torch.absolute(x); x.clone().absolute_(); torch.adjoint(x); torch.arccos(x); x.clone().arccos_(); torch.arcsin(x)
x.clone().arcsin_(); torch.arcsinh(x); x.clone().arcsinh_(); torch.arctan(x); x.clone().arctan_(); torch.arctan2(x, y)
x.clone().arctan2_(y); torch.arctanh(x); x.clone().arctanh_(); torch.clip(x, 0.2, 0.5); x.clone().clip_(0.2)
x.clone().clip_(y); torch.concat([x, y]); torch.concatenate([x, y], 1); torch.det(x); torch.divide(x, y)
torch.divide(x, 2); torch.divide(x, y, rounding_mode='floor'); x.clone().divide_(y); x.clone().divide_(2.5)
x.clone().divide_(y, rounding_mode='trunc'); torch.fix(x); x.clone().fix_(); torch.ger(x[0], y[0]); torch.greater(x, y)
torch.greater(x, 0.5); x.clone().greater_(y); torch.greater_equal(x, y); x.clone().greater_equal_(0.5); torch.inverse(x)
torch.less(x, y); x.clone().less_(0.3); torch.less_equal(x, 0.5); x.clone().less_equal_(y); torch.linalg.matmul(x, y)
torch.matrix_exp(x); torch.matrix_power(x, 3); torch.moveaxis(x, 0, 1); torch.moveaxis(x, (0, 1), (1, 0))
torch.multiply(x, y); torch.multiply(x, 2.5); x.clone().multiply_(y); torch.negative(x); x.clone().negative_()
torch.not_equal(x, y); x.clone().not_equal_(0.5); torch.orgqr(x, y[0]); torch.row_stack([x, y])
torch.special.digamma(x); torch.special.erf(x); torch.special.erfc(x); torch.special.erfinv(x); torch.special.exp2(x)
torch.special.expit(x); torch.special.expm1(x); torch.special.gammainc(x, y); torch.special.gammaincc(x, y)
torch.special.gammaln(x); torch.special.i0(x); torch.special.log1p(x); torch.special.log_softmax(x, 0)
torch.special.logit(x); torch.special.logit(x, 0.1); torch.special.logsumexp(x, [0]); torch.special.multigammaln(x, 1)
torch.special.polygamma(1, x); torch.special.psi(x); torch.special.round(x); torch.special.round(x, decimals=1)
torch.special.sinc(x); torch.special.softmax(x, 0); torch.special.softmax(x, 0, dtype=torch.float64)
torch.special.xlogy(x, y); torch.special.xlogy(x, 2.0); torch.special.xlogy(2.0, y); torch.subtract(x, y)
torch.subtract(x, y, alpha=2); torch.subtract(x, 2); x.clone().subtract_(y); torch.swapaxes(x, 0, 1)
x.clone().swapaxes_(0, 1); torch.swapdims(x, 0, 1); x.clone().swapdims_(0, 1); torch.true_divide(x, y)
torch.true_divide(x, 2); x.clone().true_divide_(y); torch.rsub(x, y); torch.rsub(x, 2); torch.arccosh(y)
y.clone().arccosh_(); torch.clip(x, y, y)
"""


def run_aliases(taper, folder):
    """A traced submodule keeps the aliases that it calls until PyTorch loads the file. Files of Taper have the operators' names."""
    expressions = [e.strip() for line in ALIASES.strip().splitlines() for e in line.split(";")]
    with open(os.path.join(folder, "alias_listing.py"), "w", encoding="utf-8") as file:
        file.write("import torch\nclass Inner(torch.nn.Module):\n    def forward(self, x, y):\n        return (\n")
        file.write("".join(f"            {e},\n" for e in expressions) + "        )\n")
    sys.path.insert(0, folder)
    import alias_listing
    inner = HolderOfTwo(alias_listing.Inner())
    path, lite = os.path.join(folder, "aliases.pt"), os.path.join(folder, "aliases.ptl")
    x, y = torch.rand(3, 3) * .8 + .1, torch.rand(3, 3) * .8 + .1
    torch.jit.trace(inner, (x, y), check_trace=False).save(path)
    want = sorted(torch.jit.export_opnames(torch.jit.load(path)))
    p = subprocess.run([taper, "ops", path], capture_output=True, text=True, timeout=60)
    if p.stdout.split() != want:
        return f"{p.stderr.strip()[:300]} too many: {sorted(set(p.stdout.split()) - set(want))}, too few: {sorted(set(want) - set(p.stdout.split()))}"
    p = subprocess.run([taper, "convert", path, "-o", lite], capture_output=True, text=True, timeout=60)
    if p.returncode != 0:
        return p.stderr.strip()[:300]
    module = _load_for_lite_interpreter(lite)
    # Taper's file unpacks the result of the inner function, which is inlined.
    written = sorted(_export_operator_list(module) | {"prim::TupleUnpack"})
    if written != want:
        return f"written: too many: {sorted(set(written) - set(want))}, too few: {sorted(set(want) - set(written))}"
    off = [e for e, a, b in zip(expressions, module(x, y), inner(x, y)) if not torch.allclose(a, b, 1e-4, 1e-5, equal_nan=True)]
    return f"other results: {off}" if off else None


def main():
    taper, names = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for name, make in CASES:
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                wrong = run_case(taper, make, os.path.join(folder, "case.pt"))
            except Exception as e:
                wrong = f"the case itself: {type(e).__name__}: {str(e).strip()[:600]}"
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong:
            print(f"FAILED {name}: {wrong}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, run in (("deep", run_deep), ("aliases", run_aliases)):
            wrong = run(taper, folder)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {name}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
