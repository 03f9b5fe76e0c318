#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_torchscript.py TAPER [NAME…]: compares small modules with PyTorch on the same .pt file: features of TorchScript that the lite interpreter
cannot export, and contents of older files. Ends with "N passed, N failed"."""
import enum
import json
import math
import os
import pickletools
import re
import subprocess
import sys
import tempfile
import zipfile
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ops"))
import torch
from torch import Tensor

import oracle


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

    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, int, str]:
        c = Color.RED
        if n > 2:
            c = Color.BLUE
        if c == self.color:
            x = x + c.value
        return x, c.value, Text.B.value + c.name


class Pair(NamedTuple):
    first: Tensor
    second: Optional[int]


class Tuples(torch.nn.Module):
    def pair(self, x: Tensor, n: int) -> Pair:
        return Pair(x * 2, n if n > 0 else None)

    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, Tensor, int]:
        p = self.pair(x, n)
        a, b = p
        t = (x, x + 1, (n, "a", 2.5))
        k = 0
        if b is not None:
            k = b
        return t[1], p.first + a, k + t[2][0] + len(t[0:2])


@torch.jit.script
class Account:
    def __init__(self, owner: str, start: float):
        self.owner = owner
        self.sum = start
        self.history: List[float] = []

    def add(self, x: float):
        self.history.append(x)
        self.sum += x

    def report(self) -> str:
        return f"{self.owner}: {self.sum}"


class Objects(torch.nn.Module):
    def forward(self, x: Tensor, n: int) -> Tuple[str, List[float]]:
        a = Account("me", 1.5)
        for i in range(n):
            a.add(float(x[i]))
        return a.report(), a.history


@torch.jit.interface
class Step(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Twice(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2


class Weighted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.w


class Interfaces(torch.nn.Module):
    a: Step
    b: Step

    def __init__(self):
        super().__init__()
        self.a, self.b = Twice(), Weighted()

    def forward(self, x: Tensor) -> Tensor:
        return self.b.forward(self.a.forward(x)) + self.a.forward(x)


class Hooked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Twice()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) + 1


def hooked():
    def pre(self, input: Tuple[Tensor]) -> Tuple[Tensor]:
        return (input[0] + 10,)

    def post(self, input: Tuple[Tensor], output: Tensor) -> Tensor:
        return output * 3 + input[0]

    m = Hooked()
    m.inner.register_forward_pre_hook(pre)
    m.inner.register_forward_hook(post)
    m.register_forward_pre_hook(pre)
    m.register_forward_hook(post)
    return m


class Forks(torch.nn.Module):
    def work(self, x: Tensor, n: int) -> Tensor:
        return x * n

    def forward(self, x: Tensor) -> Tensor:
        f = [torch.jit.fork(self.work, x, i) for i in range(3)]
        g = torch.jit.fork(self.work, x, 10)
        total = torch.jit.wait(g)
        for one in f:
            total = total + torch.jit.wait(one)
        return total


class NoGrad(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = x * 2
        return y + 1


class States(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.ones(2)
        self.table = {"x": [1, 2], "y": [3]}
        self.training = True

    @torch.jit.export
    def __getstate__(self) -> Tuple[Tensor, Dict[str, List[int]], bool]:
        return (self.a * 5, self.table, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[Tensor, Dict[str, List[int]], bool]):
        self.a = state[0] + 1
        self.table = state[1]
        self.training = state[2]

    def forward(self, x: Tensor) -> Tensor:
        return x * self.a + self.table["x"][1]


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.s = States()

    def forward(self, x: Tensor) -> Tensor:
        return self.s(x)


class Attributes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.names = torch.jit.Attribute(["a\n\"b\"\\", "ü"], List[str])
        self.maybe = torch.jit.Attribute(None, Optional[Tensor])
        self.deep = torch.jit.Attribute({"k": [(1, 2.5)]}, Dict[str, List[Tuple[int, float]]])

    def forward(self, x: Tensor) -> Tuple[Tensor, str, int, float]:
        self.count += 1
        maybe = self.maybe
        if maybe is not None:
            x = x + maybe
        self.maybe = x
        self.deep["k"].append((self.count, 0.5))
        return x, self.names[0] + self.names[1], len(self.deep["k"]), self.deep["k"][0][1]


class Plain(torch.nn.Module):
    """Lists and dicts of archives of versions 1 and 2, whose types only the class states."""
    names: List[str]
    table: Dict[str, Tensor]
    empty: List[float]
    nested: List[List[int]]
    maybe: Optional[List[str]]
    deep: Dict[str, List[str]]
    pair: Tuple[List[str], Dict[str, int]]

    def __init__(self):
        super().__init__()
        self.names, self.table, self.empty, self.nested = ["a", "b"], {"x": torch.ones(2)}, [], [[1], [2, 3], []]
        self.maybe, self.deep, self.pair = ["m"], {"k": ["q"], "l": []}, ([], {})
        self.linear = torch.nn.Linear(3, 2)

    def forward(self, x: Tensor, n: int):
        self.names.append(str(n))
        self.empty.append(float(n) / 2)
        self.table["y"] = self.linear(x)
        self.nested[0].append(n)
        maybe = self.maybe
        if maybe is not None:
            maybe.append(str(n))
        self.deep["l"].append("z")
        self.pair[0].append("p")
        self.pair[1]["w"] = n
        return self.names, self.table, self.empty, self.nested, self.maybe, self.deep, self.pair


class Returns(torch.nn.Module):
    def forward(self, x: Tensor, n: int) -> Tensor:
        return x * n


class Steps(torch.nn.Module):
    def forward(self, n: int):
        return torch.linspace(0, 1, n), torch.logspace(0.0, 1.0, n), torch.linspace(0, 1, n, dtype=torch.float64)


class Logs(torch.nn.Module):
    def forward(self, n: int):
        return torch.logspace(0.0, 1.0, n)


class Numbers(torch.nn.Module):
    def forward(self, n: int, f: float) -> Tuple[List[float], List[int], complex, bool, str]:
        a = [1e-5, 1e300, float("inf"), -float("inf"), 0.1, -0.0, f / 3, f // 2, f % 3, f ** 2, math.sqrt(f), float(n)]
        b = [n // 3, n % 3, -n // 3, n << 2, n >> 1, n & 5, n | 5, n ^ 5, int(f), abs(-n), max(n, 2), min(n, 2), int(round(f)), 9223372036854775807]
        return a, b, complex(1.5, -2.0) * 2, not (n > 1 and f < 2) or n == 3, f"{n} {f}" + "x".upper() + str(n)


class Loops(torch.nn.Module):
    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, int, List[int]]:
        i, seen = 0, torch.jit.annotate(List[int], [])
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            if i > 6:
                break
            seen.append(i)
            x = x + i
        for a, b in zip([1, 2, 3], [4, 5, 6]):
            seen.append(a * b)
        for k, v in {"a": 1, "b": 2}.items():
            seen.append(v + len(k))
        for j, v in enumerate(seen):
            i += j * v
        return x, i, [v + 1 for v in seen]


class Optionals(torch.nn.Module):
    def forward(self, x: Tensor, y: Optional[Tensor] = None, n: Optional[int] = None, u: Union[int, str] = "text") -> Tensor:
        if y is None:
            y = x
        elif n is not None:
            y = y * n
        if isinstance(u, int):
            y = y + u
        else:
            y = y + len(u)
        return x + y


class Anything(torch.nn.Module):
    def kind(self, v: Any) -> str:
        if isinstance(v, Tensor):
            return "tensor"
        elif isinstance(v, (int, float)):
            return "number"
        elif isinstance(v, List[int]):
            return "list"
        return "else"

    def forward(self, x: Tensor) -> str:
        return self.kind(x) + self.kind(3) + self.kind(2.5) + self.kind([1]) + self.kind("a")


class Containers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)])
        self.heads = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2), "b": torch.nn.Tanh()})
        self.params = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.zeros(2))])

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        for layer in self.layers:
            x = layer(x)
        out: Dict[str, Tensor] = {}
        for name, head in self.heads.items():
            out[name] = head(x)
        out["p"] = self.params[0] + self.params[1]
        return out


class Lists(torch.nn.Module):
    def forward(self, x: Tensor) -> Tuple[List[List[float]], List[int], bool, float]:
        y = x.reshape(1, -1)
        a: List[List[float]] = y.tolist()
        b: List[int] = (x > 1).long().tolist()
        return a, b, bool((x > 0).all()), float(x.sum())


class Raises(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.dim() != 2:
            raise ValueError("needs two dimensions, not {}".format(x.dim()))
        assert x.size(0) > 1, "too few rows"
        return x


class Training(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = torch.nn.BatchNorm1d(3)

    def forward(self, x: Tensor) -> Tensor:
        return self.bn(x)


class Evaluated(torch.nn.Module):
    """A module that is saved in training mode and sets submodules, shared or deeper ones, to the other mode."""

    def __init__(self):
        super().__init__()
        shared = torch.nn.Dropout(0.9)
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 3), Training(), torch.nn.ModuleList([shared, Training()])[1], shared)
        self.again = shared

    def forward(self, x: Tensor) -> Tuple[Tensor, bool]:
        y = self.again(self.layers(x))
        return torch.nn.functional.dropout(y, 0.5, self.training), self.training


class Switch(torch.nn.Module):
    """The load treats an attribute that no code sets as a constant. A method sets `on`, and another module sets `pushed`."""
    scale: Optional[float]

    def __init__(self, scale: Optional[float], mode: str):
        super().__init__()
        self.scale, self.mode, self.on, self.pushed, self.count = scale, mode, False, False, 3
        self.bias = torch.nn.Parameter(torch.ones(3)) if scale is None else None

    @torch.jit.export
    def turn(self):
        self.on = not self.on

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            x = x * 100
        if self.on:
            x = x + 10
        if self.pushed:
            x = x - 1000
        scale = self.scale
        if scale is not None:
            x = x * scale
        bias = self.bias
        if bias is not None:
            x = x + bias
        if self.mode != "zeros":
            x = -x
        return x * self.count


class Fixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Switch(None, "zeros"), Switch(2.5, "circular")
        self.both = torch.nn.ModuleList([self.a, self.b, self.a])
        self.training_steps = 0

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, bool]:
        for m in self.both:
            x = m(x)
        self.a.turn()
        self.b.pushed = True
        self.training_steps += 1
        return x, self.a(x), self.b(x), self.training_steps > 1


class Full(torch.nn.Module):
    def forward(self, n: int, t: Optional[int] = None) -> Tuple[Tensor, Tensor, Tensor]:
        return torch.full((2,), n), torch.full((2,), n, dtype=t), torch.full((2,), n, dtype=torch.int32)


class Divide(torch.nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        return torch.div(x, y), torch.div(x, 2), x.clone().div_(y)


class Chosen(torch.nn.Module):
    """A module list indexed by a number that is only known at run time."""
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Twice(), Weighted()])

    def forward(self, x: Tensor, n: int) -> Tensor:
        one: Step = self.layers[n]
        return one.forward(x) + 1


@torch.jit.script
class Counter:
    def __init__(self):
        self.count = 0

    def __enter__(self) -> int:
        self.count += 1
        return self.count

    def __exit__(self, kind: Any, value: Any, trace: Any):
        self.count += 10


class Targets(torch.nn.Module):
    """Names that loops carry and that are set only as the target of a for or with statement."""
    def forward(self, x: Tensor, n: int) -> Tuple[Tensor, int, int, int]:
        a, b, c = 0, 0, 0
        counter = Counter()
        for k in range(n):
            for a, b in [(k, 2), (k + 1, 3)]:
                x = x + a * b
            with counter as c:
                x = x * c
        return x, a, b, c + counter.count


class Ranks(torch.nn.Module):
    """Checks of ranks that must not be assumed to be known."""
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.line = torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2), torch.nn.BatchNorm1d(2)

    def forward(self, x: Tensor) -> Tuple[Tensor, int, int]:
        before = x.dim()
        y = torch.relu(torch.relu(self.conv(x)))
        after = y.dim()
        y = self.norm(y)
        z = y.flatten(2)
        z = self.line(z)
        z = z.clone()
        z.unsqueeze_(0)
        return z, before, after + z.dim()


def rewritten(path, version, change=lambda name, text: text, repickle=lambda name, data: data, more=()):
    """Returns the archive with another version number, modified sources and pickles, and additional records."""
    old = zipfile.ZipFile(path)
    content = [(i.filename, old.read(i)) for i in old.infolist()]
    old.close()
    content += [(content[0][0].split("/")[0] + "/" + name, text) for name, text in more]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for name, data in content:
            if name.endswith("/version"):
                data = b"%d\n" % version
            if name.endswith(".py"):
                data = change(name, data.decode()).encode()
            new.writestr(name, repickle(name, data))


RETURNS = {
    "one branch": ("Tensor", """    if torch.gt(n, 2):
      return torch.add(x, 1)
    else:
      pass
    return torch.mul(x, n)
"""), "no else": ("Tensor", """    if torch.gt(n, 2):
      return torch.add(x, 1)
    y = torch.neg(x)
    if torch.gt(n, 0):
      return y
    return torch.mul(y, n)
"""), "nested": ("Tensor", """    y = x
    if torch.gt(n, 0):
      if torch.gt(n, 4):
        return torch.add(x, 1)
      else:
        y = torch.sub(y, 7)
      y = torch.neg(y)
    else:
      if torch.lt(n, -3):
        y = torch.exp(y)
      else:
        return torch.mul(y, 100)
      y = torch.abs(y)
    if torch.eq(n, 1):
      return y
    else:
      pass
    for i in range(n):
      y = torch.add(y, i)
    return y
"""), "None": ("Optional[Tensor]", """    if torch.gt(n, 2):
      return None
    else:
      pass
    return torch.mul(x, n)
"""), "raises": ("Tensor", """    if torch.gt(n, 4):
      ops.prim.RaiseException("no")
      return torch.mul(x, n)
    else:
      return x
"""), "a number": ("float", """    if torch.gt(n, 2):
      return torch.sum(x)
    else:
      return torch.add(n, 0.5)
""")}


def returning(kind):
    """Returns sources with return inside if, which PyTorch does not write."""
    def change(name, text):
        of_type, body = RETURNS[kind]
        head = text.index("  def forward")
        owner = text[text.index("self: ", head) + 6:].split(",")[0]  # the name depends on the code that makes the class
        return text[:head] + f"  def forward(self: {owner},\n    x: Tensor,\n    n: int) -> {of_type}:\n{body}"
    return change


PROPERTIES = """    return (ops.prim.shape(x), ops.prim.ndim(x), ops.prim.T(x), ops.prim.mT(x), (ops.prim.shape(x))[n])
"""
RETURNS["properties"] = ("Tuple[List[int], int, Tensor, Tensor, int]", PROPERTIES)
OWN = """    return (torch.mul(2, x), torch.add(2.5, x), torch.sub(2, x), torch.div(n, x), torch.lt(2, x), torch.ge(2.5, x), torch.eq(n, x), torch.floordiv(x, n), torch._pair(n), torch._triple([1, 2, n]), torch._single(2.5))
"""
RETURNS["own functions"] = ("Tuple[" + "Tensor, " * 8 + "List[int], List[int], List[float]]", OWN)


def before_1_3(name, data):
    """Returns data.pkl as PyTorch wrote it before 1.3: storages with a sixth field, None."""
    if not name.endswith("data.pkl"):
        return data
    persistent = [at for op, arg, at in pickletools.genops(data) if op.name == "BINPERSID"]
    for at in reversed(persistent):
        data = data[:at - 1] + b"N" + data[at - 1:]  # inserts before the end of the tuple
    return data


def old_head(name, text):
    return "op_version_set = 1\n" + text


def old_steps(given):
    """Returns linspace and logspace as in files of PyTorch 1.9 and before: without `steps`, or with `steps` that are None."""
    def change(name, text):
        text = text.replace("n: int", "n: Optional[int]") if given == "n" else text
        return text.replace("1, n", "1, " + given if given else "1").replace("1., n", "1., " + given if given else "1.")
    return change


def untagged(name, data):
    """Returns data.pkl as in archives of versions 1 and 2, whose lists and dicts have no types."""
    if not name.endswith("data.pkl"):
        return data
    opcodes = list(pickletools.genops(data))
    ends = [at for op, arg, at in opcodes[1:]] + [len(data)]
    kept, memo, i = [], {}, 0
    while i < len(opcodes):
        op, arg, at = opcodes[i]
        tag = op.name == "GLOBAL" and arg == "torch.jit._pickle restore_type_tag"
        of_tag = op.name == "BINGET" and memo.get(arg) == "tag"
        text = (op.name == "BINUNICODE" and re.match(r"(List|Dict)\[", arg)) or (op.name == "BINGET" and memo.get(arg) == "text")
        if tag or of_tag or text:
            stored = opcodes[i + 1][0].name == "BINPUT"
            if stored:
                memo[opcodes[i + 1][1]] = "text" if text else "tag"
            i += 1 + stored + 2 * bool(text)  # skips the TUPLE2 and the REDUCE after a text
            continue
        kept.append(data[at:ends[i]])
        i += 1
    return b"".join(kept)


BROKEN = [("code/__torch__/broken.py", b"class C(Module):\n  def forward(self: ) -> (\n")]
X = torch.tensor([1.0, -2.0, 3.5])
M = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
I = torch.tensor([7, -7, 9])
IN_TRAINING = ("training", "evaluated", "fixed and in training")  # these cases are saved in training mode, the other cases in evaluation mode
CASES = [
    ("enums", Enums, [(X, 1), (X, 3)], None), ("tuples", Tuples, [(X, 0), (X, 4)], None), ("objects", Objects, [(X, 0), (X, 3)], None),
    ("interfaces", Interfaces, [(X,)], None), ("hooks", hooked, [(X,)], None), ("forks", Forks, [(X,)], None), ("no_grad", NoGrad, [(X,)], None),
    ("set_state", Outer, [(torch.ones(2),)], None), ("attributes", Attributes, [(X,), (X,)], None), ("numbers", Numbers, [(7, 2.5), (1, 1.0)], None),
    ("loops", Loops, [(X, 0), (X, 9)], None), ("optionals", Optionals, [(X,), (X, X, 3), (X, None, 2, 5), (X, X, None, "ab")], None),
    ("anything", Anything, [(X,)], None), ("containers", Containers, [(M,)], None), ("lists", Lists, [(X,)], None),
    ("raises", Raises, [(M,), (X,)], None), ("asserts", Raises, [(M[:1],)], None), ("training", Training, [(M,), (M,)], None),
    ("evaluated", Evaluated, [(M,), (M,)], None),
    ("fixed", Fixed, [(X,), (X,), (X,)], None), ("fixed and in training", Fixed, [(X,), (X,)], None),
    ("fixed, a source that nobody asks for is broken", Fixed, [(X,), (X,)], (10, lambda name, text: text, lambda name, data: data, BROKEN)),
    ("chosen", Chosen, [(X, 0), (X, 1)], None), ("targets", Targets, [(X, 0), (X, 2)], None),
    ("ranks", Ranks, [(torch.rand(2, 1, 3, 3),)], None), ("ranks without a batch", Ranks, [(torch.rand(1, 3, 3),)], None),
    ("full", Full, [(3,), (3, 6)], None), ("full of version 4", Full, [(3,), (3, 3)], (4,)), ("full of version 5", Full, [(3,)], (5,)),
    ("div", Divide, [(I, I)], None), ("div of version 3", Divide, [(I, torch.tensor([2, 2, 4])), (X, X + 1)], (3,)),
    ("div of version 4", Divide, [(X, X + 1)], (4,)), ("oldest heads", Containers, [(M,)], (3, old_head)),
    ("plain containers", Plain, [(X, 1), (X, 2)], None),
]
CASES += [(f"version {v}", Plain, [(X, 1), (X, 2)], (v, lambda name, text, v=v: f"op_version_set = {v}\nimport __torch__.torch.nn.modules.linear\n" + text, untagged)) for v in (1, 2)]
CASES += [(f"heads of version {v}", Attributes, [(X,), (X,)], (v, lambda name, text, v=v: f"op_version_set = {v}\n" + text, untagged)) for v in (1, 2)]
CASES += [(f"steps {given or 'left out'} of version {v}", Steps, [(7,)], (v, old_steps(given))) for given in ("None", "", "n") for v in (3, 7)]
CASES += [(f"return in an if: {kind}", Returns, [(X, n) for n in (-5, 0, 1, 2, 3, 5)], (10, returning(kind))) for kind in RETURNS if kind not in ("properties", "own functions")]
CASES += [("properties of tensors", Returns, [(M, 0), (M, 1)], (10, returning("properties"))),
          ("functions of its own", Returns, [(M, 1), (M, 3)], (10, returning("own functions"))),
          ("storages of six fields", Attributes, [(X,), (X,)], (1, lambda name, text: "op_version_set = 1\n" + text, lambda name, data: before_1_3(name, untagged(name, data))))]
CASES += [("logarithmic steps left out of version 8", Logs, [(7,)], (8, old_steps("")))]
REFUSED = [("steps left out of version 8", "linspace", Steps, (8, old_steps(""))), ("steps left out of version 9", "logspace", Logs, (9, old_steps("")))]
if torch.backends.mkldnn.is_available():
    REFUSED.append(("weights of oneDNN", "to_mkldnn", lambda: torch.jit.optimize_for_inference(torch.jit.script(torch.nn.Conv2d(1, 1, 1).eval())), (10,)))
CASES += [("steps that are None", Steps, [(None,), (4,)], (7, old_steps("n")))]


def run_torch(path, calls, evaluated):
    module, results = torch.jit.load(path), []
    if evaluated:
        module.eval()
    for args in calls:
        try:
            with torch.no_grad():
                results.append((module(*oracle.clone(args)), None))
        except Exception as e:
            results.append((None, str(e).strip().split("\n")[-1]))
            break
    return results


def run_case(taper, extra, case, folder):
    name, make, calls, rewrite = case
    torch.manual_seed(0)
    path = os.path.join(folder, "case.pt")
    module = torch.jit.script(make())
    (module.train() if name in IN_TRAINING else module.eval()).save(path)
    if rewrite is not None:
        rewritten(path, *rewrite)
    if name == "evaluated":
        extra = extra + ["--eval"]
    want, files = run_torch(path, calls, name == "evaluated"), []
    spec = [{"method": "forward", "inputs": [oracle.to_input(a, folder, files) for a in args]} for args in calls]
    with open(os.path.join(folder, "calls.json"), "w") as f:
        json.dump(spec, f)
    p = subprocess.run([taper, "run", path, "--calls", f.name, "--json"] + extra, capture_output=True, text=True, timeout=60)
    raised = want[-1][1]
    if p.returncode not in (0, 1) or (p.returncode == 1) != (raised is not None):
        return p.stderr.strip()[:500] or f"did not raise; PyTorch: {raised}"
    if raised is not None and raised.split(": ")[-1] not in p.stderr:
        return f"raised {p.stderr.strip()[:300]!r}; PyTorch: {raised!r}"
    if raised is not None and "Traceback of TorchScript, serialized code" not in p.stderr:
        return f"no line of source: {p.stderr.strip()[:300]!r}"
    if raised is not None and raised.split(": ")[-1] not in p.stderr.strip().split("\n")[-1]:
        return f"the last line has no reason: {p.stderr.strip()[-300:]!r}"
    got = json.loads(p.stdout) if p.stdout.strip() else []
    for i, result in enumerate(got):
        wrong = oracle.compare(want[i][0], result, {})
        if wrong:
            return f"call {i}: {wrong}"
    return None if len(got) == len(want) - (raised is not None) else f"{len(got)} results"


def refused(taper, operator, make, rewrite, folder):
    """Returns None if neither PyTorch nor Taper accepts the file, and Taper names the operator."""
    path = os.path.join(folder, "case.pt")
    torch.jit.script(make()).save(path)
    rewritten(path, *rewrite)
    try:
        torch.jit.load(path)
        return "PyTorch takes it"
    except RuntimeError:
        pass
    p = subprocess.run([taper, "run", path, "-i", "7"], capture_output=True, text=True)
    told = operator != "to_mkldnn" or "save the module before it" in p.stderr
    return None if p.returncode == 1 and told and f"aten::{operator}" in p.stderr else f"ended with {p.returncode}: {p.stderr[:300]}"


def main():
    taper, names = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for case in CASES:
        if names and case[0] not in names:
            continue
        for mode, extra in (("", []), (" without the optimizer", ["--no-optimize"])):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    wrong = run_case(taper, extra, case, folder)
                except Exception as e:
                    wrong = f"the case itself: {type(e).__name__}: {str(e).strip()[:600]}"
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {case[0]}{mode}: {wrong}", flush=True)
    for name, operator, make, rewrite in REFUSED:
        with tempfile.TemporaryDirectory() as folder:
            wrong = refused(taper, operator, make, rewrite, folder) if not names or name in names else None
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong:
            print(f"FAILED {name}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
