# SPDX-License-Identifier: BSD-2-Clause
"""Features of TorchScript around the network: several methods, interfaces, named tuples, classes, strings, exceptions, state."""
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from case import Case, calls_of

Prediction = NamedTuple("Prediction", [("logits", Tensor), ("label", int), ("note", Optional[str])])
Nested = NamedTuple("Nested", [("first", Prediction), ("rest", List[Tensor]), ("by_name", Dict[str, int])])


class Pipeline(nn.Module):
    """Has preprocess, encode, decode and reset as separate methods."""
    log: List[str]

    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(6, 3), nn.Linear(3, 6)
        self.register_buffer("mean", torch.full((6,), 0.5))
        self.calls: int = 0
        self.log = []
        self.scale: float = 2.0

    @torch.jit.export
    def preprocess(self, raw: Tensor) -> Tensor:
        self.calls += 1
        self.log.append("pre" + str(raw.dim()))
        return (raw.float() / 255.0 - self.mean) * self.scale

    @torch.jit.export
    def encode(self, x: Tensor) -> Tuple[Tensor, Tensor]:
        z = self.enc(x)
        return z, z.abs().sum()

    @torch.jit.export
    def decode(self, z: Tensor, clamp: Optional[float] = None) -> Tensor:
        y = self.dec(z)
        if clamp is not None:
            y = y.clamp(-clamp, clamp)
        return y

    @torch.jit.export
    def set_scale(self, s: float) -> float:
        old = self.scale
        self.scale = s
        return old

    @torch.jit.export
    def reset(self):
        self.calls = 0
        self.log = torch.jit.annotate(List[str], [])

    @torch.jit.export
    def status(self) -> Dict[str, Any]:
        d: Dict[str, Any] = {"calls": self.calls, "scale": self.scale, "log": self.log}
        return d

    def forward(self, raw: Tensor) -> Tensor:
        return self.decode(self.encode(self.preprocess(raw))[0], None)


@torch.jit.interface
class Head(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass

    def size(self) -> int:
        pass


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(2, 4))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.w)

    def size(self) -> int:
        return 2


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(8, 4)), nn.Parameter(torch.randn(5, 8))
        self.used: int = 0

    def forward(self, x: Tensor) -> Tensor:
        self.used += 1
        return F.linear(F.relu(F.linear(x, self.a)), self.b) + self.used

    def size(self) -> int:
        return 5


class Interfaces(nn.Module):
    head: Head
    other: Head
    picks: List[int]

    def __init__(self):
        super().__init__()
        self.head = Small()
        self.other = Large()
        self.picks = []

    def forward(self, x: Tensor, which: bool) -> Tuple[Tensor, int]:
        if which:
            self.picks.append(self.other.size())
            y = self.other.forward(x)
        else:
            self.picks.append(self.head.size())
            y = self.head.forward(x)
        return y, len(self.picks)


class NamedResults(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def predict(self, x: Tensor) -> Prediction:
        y = self.fc(x)
        label = int(y.sum(0).argmax())
        return Prediction(y, label, "big" if float(y.max()) > 0.5 else None)

    def forward(self, x: Tensor) -> Nested:
        p = self.predict(x)
        q = p._replace(label=-1) if False else Prediction(p.logits * 2, p.label + 1, p.note)
        return Nested(q, [p.logits, q.logits], {"label": p.label, "n": x.size(0)})


class Strings(nn.Module):
    def forward(self, x: Tensor, name: str, n: int) -> List[str]:
        print("values", x.size(), name, n, [1, 2], (1, "a"), {"k": 2.5}, None, True)
        s = "{} has {} of {:}".format(name, n, 0.5) if n != 9 else "{{}}"
        t = "%s|%d|%s" % (name, n, 2.5)
        out = [s, t, name.upper(), name[::-1], name[1:], str(n) + "!", ",".join(["a", name]), name.replace("o", "0"), str(x.dtype),
               f"{n}:{name}", str([1.0, float(n)]), str((n, name))]
        if name.startswith("hel") and "l" in name:
            out.append(name.strip("h"))
        out.extend(name.split("l"))
        out.append(str(name.find("o")) + str(len(name)) + str(ord(name[0])) + chr(100 + n))
        return out


class Raises(nn.Module):
    """Raises a different error for each number, from nested calls."""

    class Inner(nn.Module):
        def forward(self, x: Tensor, n: int) -> Tensor:
            if n == 1:
                raise ValueError("inner says no to {}".format(n))
            if n == 2:
                assert x.size(0) == 99, "first size is not 99"
            if n == 3:
                return x.view(7, -1)
            if n == 4:
                return x @ x.t() @ torch.ones(11)
            if n == 5:
                d: Dict[str, int] = {}
                return x + d["missing"]
            if n == 6:
                l: List[int] = []
                return x + l[3]
            if n == 7:
                return x[:, 100]
            if n == 8:
                return x + torch.ones(9)
            if n == 9:
                return x // int(x.size(1) - 3)
            return x * 2

    class Middle(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Raises.Inner()

        def forward(self, x: Tensor, n: int) -> Tensor:
            return self.inner(x, n) - 1

    def __init__(self):
        super().__init__()
        self.middle = Raises.Middle()

    def forward(self, x: Tensor, n: int) -> Tensor:
        return self.middle(x, n)


class Tabular(nn.Module):
    """Takes a dict of columns, arguments with defaults, and an optional mask."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleDict({"city": nn.Embedding(10, 3), "day": nn.Embedding(7, 2)})
        self.norm = nn.BatchNorm1d(2)
        self.mlp = nn.Sequential(nn.Linear(7, 8), nn.LeakyReLU(), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 1))

    def forward(self, columns: Dict[str, Tensor], weights: Optional[Dict[str, float]] = None, threshold: float = 0.5,
                names: Optional[List[str]] = None) -> Tuple[Tensor, List[str], Dict[str, float]]:
        parts: List[Tensor] = []
        for key, table in self.tables.items():
            e = table(columns[key])
            if weights is not None and key in weights:
                e = e * weights[key]
            parts.append(e)
        parts.append(self.norm(columns["numeric"]))
        y = torch.sigmoid(self.mlp(torch.cat(parts, 1))).squeeze(1)
        means: Dict[str, float] = {}
        for k, c in columns.items():
            means[k] = float(c.float().mean())
        if names is None:
            names = ["no", "yes"]
        labels: List[str] = []
        for v in y:
            labels.append(names[int(bool(v > threshold))])
        return y, labels, means


class Dtypes(nn.Module):
    """Takes and returns uint8, bool, int64, float64 and half."""

    def forward(self, u: Tensor, b: Tensor, i: Tensor, d: Tensor) -> Dict[str, Tensor]:
        out: Dict[str, Tensor] = {}
        out["u"] = u + 250
        out["ub"] = u * b
        out["not"] = ~b
        out["i"] = i // 3 - (i % 4) * 2
        out["mix"] = i.to(torch.int16) * d
        out["half"] = (d * 3).half()
        out["any"] = torch.stack([b.any(), b.all()])
        out["shift"] = (i << 2) | 1
        out["sum"] = torch.stack([u.sum(), b.sum(), i.sum()])
        out["where"] = torch.where(b, u, torch.zeros_like(u))
        out["index"] = i[b]
        out["cmp"] = (u > 3) & (i < 5)
        out["mean"] = d.mean(0)
        out["onehot"] = F.one_hot(i.abs() % 5, 5)
        out["bits"] = torch.bitwise_xor(u, 7).to(torch.int32)
        return out


class Diverging(nn.Module):
    """Runs with equal shapes take different paths, so the lifetimes of tensors change from run to run."""
    kept: List[Tensor]
    last: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.kept = []
        self.last = None

    def forward(self, x: Tensor, mode: int) -> List[Tensor]:
        y = F.relu(self.bn(self.conv(x)))
        out: List[Tensor] = []
        if mode == 1:
            self.kept.append(y)
        elif mode == 2:
            out.append(y)
            y = y + 1
        elif mode == 3:
            y = torch.cat([y, self.conv(x)], 1)
        last = self.last
        if mode == 4 and last is not None:
            out.append(last)
            last.add_(1)
        n = 0
        while float(y.sum()) > 10.0 and n < mode + 2:
            z = y * 0.5
            if n % 2 == 0:
                out.append(z[:, :1])
            y = z - 0.01
            n += 1
        self.last = y
        for k in self.kept:
            out.append(k.sum())
        out.append(y.mean((2, 3)))
        return out


class Keeper(nn.Module):
    """A module whose methods change weights and statistics between calls."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1)
        self.bn = nn.BatchNorm2d(3)
        self.fc = nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(F.relu(self.bn(self.conv(x))).mean([2, 3]))

    @torch.jit.export
    def scale(self, f: float) -> int:
        self.conv.weight.mul_(f)
        return 0

    @torch.jit.export
    def shift_norm(self, d: Tensor) -> int:
        self.bn.running_mean += d
        self.bn.weight.data.add_(d)
        return 1

    @torch.jit.export
    def tune(self, v: float) -> int:
        self.fc.weight[0].fill_(v)
        self.fc.bias.zero_()
        return 2


class TrainNorm(nn.Module):
    """Batch norm in training mode, whose statistics change with every call."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 1)
        self.w, self.b = nn.Parameter(torch.rand(3) + 0.5), nn.Parameter(torch.rand(3))
        self.register_buffer("m", torch.zeros(3))
        self.register_buffer("v", torch.ones(3))

    def forward(self, x: Tensor, train: bool) -> Tuple[Tensor, Tensor]:
        y = F.relu(F.batch_norm(self.conv(x), self.m, self.v, self.w, self.b, train, 0.3, 1e-3))
        return y, self.m.clone()


class Pickled(nn.Module):
    """__getstate__ and __setstate__ of a module: the state is rebuilt while the file is loaded."""

    def __init__(self):
        super().__init__()
        self.w = torch.randn(3, 4)
        self.table: Dict[str, int] = {"a": 1}
        self.training = False

    @torch.jit.export
    def __getstate__(self):
        return (self.w * 2, self.table, [1, 2], self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, Dict[str, int], List[int], bool]):
        self.w = state[0] / 2
        self.table = state[1]
        self.training = state[3]

    def forward(self, x: Tensor) -> Tensor:
        self.table["n"] = self.table.get("n", 0) + 1
        return x @ self.w.t() + self.table["a"] + self.table["n"]


class HasPickled(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = Pickled()
        self.q = Pickled()

    def forward(self, x: Tensor) -> Tensor:
        return self.p(x) - self.q(x).abs()


class Warns(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tensor:
        if n > 2:
            warnings.warn("n is large")
        if n < 0:
            torch._assert(n == -1, "n must be -1")
        return x + n


class InPlaceInput(nn.Module):
    """Writes into views, slices and list items."""

    def forward(self, x: Tensor, items: List[Tensor]) -> Tuple[Tensor, List[Tensor], Tensor]:
        y = x.clone()
        v = y.view(-1)
        v[::2] += 10
        y[0].mul_(2)
        y.t()[1].zero_()
        a, b = y.chunk(2)
        a[:b.size(0)].copy_(b)
        items[0] = items[0] + y.sum()
        items.append(v[1:3])
        y.unsqueeze_(0).transpose_(1, 2)
        z = y.expand(2, -1, -1)
        w = torch.zeros(x.shape)
        w.index_put_([torch.tensor([0, 1]), torch.tensor([1, 0])], torch.tensor([3.0, 4.0]))
        w.masked_fill_(x > 0.5, -1)
        w.scatter_(1, torch.zeros(x.size(0), 1, dtype=torch.long), 7.0)
        return z, items, w


class Flow(nn.Module):
    """Loops, breaks, continues, early returns, comprehensions, nested tuples, ternaries."""

    def forward(self, x: Tensor, n: int, pairs: List[Tuple[int, float]], flag: Optional[bool] = None) -> Tuple[Tensor, Dict[int, List[int]], Tuple[int, Tuple[float, str]]]:
        total = 0.0
        groups: Dict[int, List[int]] = {}
        for i, (a, b) in enumerate(pairs):
            if a < 0:
                continue
            if a > 100:
                break
            key = a % 3
            if key not in groups:
                groups[key] = torch.jit.annotate(List[int], [])
            groups[key].append(i)
            total += b if flag is None or flag else -b
        if n == 0:
            return x, groups, (0, (total, "early"))
        for i in range(n):
            for j in range(i, n, 2):
                if i == j and i > 2:
                    return x * i, groups, (j, (total, "inner"))
                x = x + i * j
        k = n
        while True:
            k -= 3
            if k < 0:
                break
        squares = [s * s for s in range(n)]
        return x[[min(n, x.size(0)) - 1]], groups, (sum(squares) + k, (total, "end"))


class Shared(nn.Module):
    """One weight, one norm, one sub-module used twice; a result that is an attribute."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.bn = nn.BatchNorm2d(3)
        self.tail = nn.Conv2d(3, 3, 1)
        self.tail.weight = nn.Parameter(self.conv.weight[:, :, :1, :1].detach())
        self.register_buffer("bias", torch.ones(3, 1, 1))

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
        a = self.conv(x)
        b = self.bn(a)
        c = self.bn(self.conv(b))
        a.relu_()
        d = c + a
        c.mul_(2)
        return d, self.tail(F.relu(c)), self.bias, a


FLOW = [("forward", (torch.randn(5, 2), 4, [(1, 2.0), (-1, 3.0), (4, 0.5), (200, 1.0)], None)), ("forward", (torch.randn(3, 2), 0, [], False)),
        ("forward", (torch.randn(5, 2), 2, [(3, 1.5)], False)), ("forward", (torch.randn(5, 2), 4, [(3, 1.5)], True))]
PIPE = [("preprocess", (torch.arange(12, dtype=torch.uint8).view(2, 6),)), ("encode", (torch.randn(2, 6),)), ("decode", (torch.randn(2, 3), 0.25)),
        ("decode", (torch.randn(4, 3),)), ("status", ()), ("set_scale", (3.5,)), ("forward", (torch.arange(12, dtype=torch.uint8).view(2, 6),)),
        ("status", ()), ("reset", ()), ("forward", (torch.arange(6, dtype=torch.uint8).view(1, 6),)), ("status", ())]
X = torch.randn(1, 2, 5, 5)
KEEP = [("forward", (X,)), ("forward", (X,)), ("scale", (0.5,)), ("forward", (X,)), ("shift_norm", (torch.tensor([0.5, -1.0, 0.25]),)),
        ("forward", (X,)), ("tune", (0.125,)), ("forward", (X,)), ("forward", (torch.randn(2, 2, 4, 6),)), ("scale", (-3.0,)), ("forward", (X,))]
COLUMNS = {"city": torch.tensor([1, 9, 4]), "day": torch.tensor([0, 6, 2]), "numeric": torch.randn(3, 2)}
TABLE = [("forward", (COLUMNS,)), ("forward", (COLUMNS, {"city": 0.5}, 0.1)), ("forward", (COLUMNS, None, 0.7, ["low", "high"])),
         ("forward", ({k: v[:1] for k, v in COLUMNS.items()}, {}))]
INT = torch.tensor([[3, -7, 12], [0, 5, -1]])
TYPES = calls_of((torch.tensor([[1, 2, 9], [250, 4, 5]], dtype=torch.uint8), torch.tensor([[True, False, True], [False, False, True]]), INT, INT.double() / 7),
                 (torch.tensor([8, 3], dtype=torch.uint8), torch.tensor([True, True]), torch.tensor([4, -9]), torch.tensor([0.1, -0.7]).double()))
DIVERGE = [("forward", (X, m)) for m in (0, 0, 0, 1, 2, 3, 4, 0, 2, 1, 0, 4, 4, 3, 3, 0, 0)]
TRAIN = [("forward", (X, t)) for t in (False, True, False, False, True, True, False)]


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Mix(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.n, self.calls = n, 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return self.fc(x) + self.n * self.calls


class Double(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mul_(2)


class Containers(nn.Module):
    """Module lists and module dicts, indexed at run time."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Mix(1), Double(), Mix(3)])
        self.heads = nn.ModuleDict({"plain": Mix(5), "twice": Double(), "0": Mix(-1)})

    def forward(self, x: Tensor, order: List[int], head: str) -> Tuple[Tensor, List[Tensor]]:
        x = x.clone()
        steps: List[Tensor] = []
        for i in order:
            layer: Step = self.layers[i]
            x = layer.forward(x)
            steps.append(x)
        last: Step = self.heads[head]
        return last.forward(x), steps


class Assignments(nn.Module):
    """All targets of assignments: masks, tensors of indices among slices, ellipses, steps, views of views."""

    def forward(self, x: Tensor, i: int) -> List[Tensor]:
        a = x.clone()
        a[a > 0.5] = 9.0
        a[i, :, 1] = torch.arange(a.size(1), dtype=a.dtype)
        b = x.clone()
        b[:, torch.tensor([2, 0])] = -b[:, [0, 2]]
        b[..., -1] *= 2
        b[torch.tensor([True, False]), 1:, ::2] += 100
        c = torch.zeros(3, 4, 5, dtype=torch.long)
        c[torch.arange(3), :, torch.tensor([4, 0, 2])] = torch.tensor([1, 2, 3, 4])
        c[1:, 2:][:, 0] = -7
        c[c.sum((1, 2)) > 0, 0] = 5
        c[None, 2, ..., None, 1:3].fill_(6)
        d = x.new_zeros(x.shape)
        d[:, :, 0] = x.amax(2)
        d[-1][x[-1] < 0] = x[-1][x[-1] < 0]
        d[0, [1, 0]] = d[0, [0, 1]]
        d.select(2, 1).copy_(x.select(1, 0)[:, :1])
        e = x.double()
        e[x.argmax(0), torch.arange(x.size(1)).unsqueeze(1), torch.arange(x.size(2))] -= 1
        e[:, 1:3, None][..., 0] = 0.25
        f = torch.ones(4, 6)
        f.diagonal().zero_()
        f.view(2, 2, 6)[1].narrow(1, 2, 3).add_(torch.arange(3))
        f[torch.tensor([3, 0, 1])] = torch.tensor([[2.0], [3.0], [4.0]])
        f.unfold(1, 2, 3).mul_(0.5)
        return [a, b, c, d, e, f]


class Losses(nn.Module):
    """A model that computes custom losses and quantiles."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)
        self.register_buffer("weight", torch.tensor([1.0, 2.0, 0.5, 1.5]))
        self.levels: List[float] = [0.1, 0.5, 0.9]

    def focal(self, p: Tensor, y: Tensor, gamma: float = 2.0) -> Tensor:
        ce = F.cross_entropy(p, y, self.weight, reduction="none", label_smoothing=0.1, ignore_index=-100)
        return ((1 - torch.exp(-ce)) ** gamma * ce).mean()

    def dice(self, p: Tensor, y: Tensor) -> Tensor:
        hot = F.one_hot(y.clamp(min=0), 4).to(p.dtype)
        q = p.softmax(1)
        return 1 - ((2 * (q * hot).sum(0) + 1) / (q.sum(0) + hot.sum(0) + 1)).mean()

    def pinball(self, p: Tensor, t: Tensor) -> Tensor:
        total = torch.zeros(())
        for k, level in enumerate(self.levels):
            e = t - p[:, k]
            total = total + torch.max((level - 1) * e, level * e).mean()
        return total

    def contrast(self, a: Tensor, b: Tensor) -> Tensor:
        s = F.cosine_similarity(a.unsqueeze(1), b.unsqueeze(0), dim=2) / 0.1
        y = torch.arange(a.size(0))
        return (F.cross_entropy(s, y) + F.cross_entropy(s.t(), y)) / 2

    def forward(self, x: Tensor, y: Tensor) -> Dict[str, Tensor]:
        p = self.fc(x)
        out: Dict[str, Tensor] = {"focal": self.focal(p, y), "dice": self.dice(p, y), "pinball": self.pinball(p, x[:, 0])}
        out["contrast"] = self.contrast(p, x[:, :4])
        out["huber"] = F.huber_loss(p, x[:, :4], delta=0.5) + F.smooth_l1_loss(p, x[:, 2:], beta=0.3)
        out["triplet"] = F.triplet_margin_loss(p, x[:, :4], x[:, 2:], swap=True)
        out["kl"] = F.kl_div(p.log_softmax(1), x[:, :4].softmax(1), reduction="batchmean")
        out["quantiles"] = torch.quantile(p, torch.tensor(self.levels), dim=0)
        out["nan"] = torch.nanquantile(p.masked_fill(p > 1, float("nan")), 0.75, dim=1, keepdim=True, interpolation="lower")
        out["median"] = p.median(0)[0] + torch.kthvalue(p, 2, 1)[0].sum() + torch.std_mean(p, 0, unbiased=False)[0]
        low, high = torch.aminmax(p, dim=0)
        out["scaled"] = (p - low) / (high - low + 1e-6)
        out["histogram"] = torch.histc(p, 5, -2.0, 2.0)
        return out


class Growing(nn.Module):
    """Shapes that change in each iteration of a loop."""

    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv1d(2, 2, 3, padding=1), nn.Linear(3, 3)

    def forward(self, x: Tensor, turns: int) -> Tuple[List[Tensor], List[List[Tensor]], Dict[str, List[int]]]:
        levels: List[Tensor] = []
        nested: List[List[Tensor]] = []
        shapes: Dict[str, List[int]] = {}
        y = x
        for i in range(turns):
            y = F.relu(self.conv(y))
            y = torch.cat([y, y[:, :, :i + 1].flip(2)], 2) if i % 2 == 0 else F.avg_pool1d(y, 2)
            levels.append(y)
            shapes["level" + str(i)] = y.shape
            nested.append([t for t in y.unbind(1)] + [y.new_full((i, 2), float(i))])
        rest = y.flatten()
        while rest.numel() >= 3:
            rest = rest[: rest.numel() // 3 * 3].view(-1, 3)
            rest = self.fc(rest).sum(1) if rest.size(0) > 1 else rest.new_empty(0)
            nested.append(list(torch.split(rest, 4)))
        return levels, nested, shapes


CASES = [
    Case("pipeline", Pipeline, PIPE, preserve=("preprocess", "encode", "decode", "set_scale", "reset", "status"), mobile=False, no_schema=False),
    Case("interfaces", Interfaces, [("forward", (torch.randn(2, 4), w)) for w in (False, True, True, False)], mobile=False),
    Case("named", NamedResults, calls_of((torch.randn(2, 3),), (torch.randn(5, 3),)), mobile=False),
    Case("strings", Strings, [("forward", (torch.randn(2), s, n)) for s, n in (("hello", 3), ("a", 1), ("hello", 9), ("help", 3))]),
    Case("tabular", Tabular, TABLE, no_schema=False),
    Case("dtypes", Dtypes, TYPES),
    Case("diverging", Diverging, DIVERGE, mobile=False),
    Case("keeper", Keeper, KEEP, mobile=False, preserve=("scale", "shift_norm", "tune")),
    Case("train_norm", TrainNorm, TRAIN, mobile=False),
    Case("pickled", HasPickled, calls_of((torch.randn(2, 4),), (torch.randn(1, 4),)), mobile=False),
    Case("warns", Warns, [("forward", (torch.randn(2), n)) for n in (0, 3, -1, 5)]),
    Case("in_place", InPlaceInput, calls_of((torch.randn(4, 4), [torch.ones(2)]), (torch.randn(2, 6), [torch.zeros(3), torch.ones(1)]))),
    Case("flow", Flow, FLOW, no_schema=False),
    Case("shared", Shared, calls_of((torch.randn(1, 3, 5, 5),), (torch.randn(2, 3, 4, 6),))),
    Case("containers", Containers, [("forward", (torch.randn(2, 4), o, h)) for o, h in (([0, 1, 2], "plain"), ([], "twice"), ([2, 2, 1], "0"), ([0], "plain"))],
         mobile=False, no_schema=False),
    Case("containers_raise", Containers, [("forward", (torch.randn(2, 4), [0], "plain")), ("forward", (torch.randn(2, 4), [3], "plain"))], mobile=False),
    Case("containers_raise_key", Containers, [("forward", (torch.randn(2, 4), [0], "plain")), ("forward", (torch.randn(2, 4), [], "none"))], mobile=False),
    Case("assignments", Assignments, [("forward", (torch.randn(2, 3, 4), i)) for i in (0, 1, -1)]),
    Case("losses", Losses, calls_of((torch.randn(5, 6), torch.tensor([0, 3, 1, 2, 2])), (torch.randn(9, 6), torch.tensor([1, 1, 0, 3, -100, 2, 2, 0, 1])))),
    Case("growing", Growing, calls_of((torch.randn(1, 2, 5), 4), (torch.randn(2, 2, 3), 7))),
] + [Case(f"raise{n}", Raises, [("forward", (torch.randn(2, 3), 0)), ("forward", (torch.randn(2, 3), n))]) for n in range(1, 10)]
