# SPDX-License-Identifier: BSD-2-Clause
"""Writes data/values.ptl, data/bundled.ptl, data/defaults.ptl, data/listener.ptl and others with PyTorch 1.13: a method for each kind of value
that a model takes or returns; a model with bundled inputs; a model of sound; a classifier whose classes have no names; a layer in training mode.
The files are committed; run this script only to change the files."""
import os
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.utils.bundled_inputs as bundled_inputs

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


class Point(NamedTuple):
    x: torch.Tensor
    n: int


class Values(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls: int = 0
        self.register_buffer("weight", torch.arange(6, dtype=torch.float32).reshape(2, 3))

    def forward(self, x: torch.Tensor, n: int = 2):
        return x * n

    @torch.jit.export
    def same(self, x: torch.Tensor):
        return x

    @torch.jit.export
    def same_any(self, x: Any) -> Any:
        return x

    @torch.jit.export
    def real(self, x: float):
        return x

    @torch.jit.export
    def ints(self, x: List[int]):
        return x

    @torch.jit.export
    def scalars(self, i: int, f: float, b: bool, s: str, o: Optional[float]):
        return i, f, b, s, o

    @torch.jit.export
    def pair(self, p: Tuple[torch.Tensor, int]) -> Tuple[torch.Tensor, int]:
        return p[0] + p[1], p[1]

    @torch.jit.export
    def table(self, d: Dict[str, torch.Tensor]):
        return d

    @torch.jit.export
    def numbered(self, d: Dict[int, float]):
        return d

    @torch.jit.export
    def tensors(self, x: List[torch.Tensor]):
        return x

    @torch.jit.export
    def nested(self, x: List[Tuple[int, List[float]]]):
        return x

    @torch.jit.export
    def structure(self, x: torch.Tensor) -> Dict[str, List[Tuple[torch.Tensor, int]]]:
        return {"a": [(x, 1), (x + 1, 2)], "b": [(x.t(), 3)]}

    @torch.jit.export
    def transposed(self, x: torch.Tensor):
        return x.t()

    @torch.jit.export
    def expanded(self, x: torch.Tensor):
        return x.expand(3, 4)

    @torch.jit.export
    def narrow(self, x: torch.Tensor):
        return x.to(torch.bfloat16)

    @torch.jit.export
    def half(self, x: torch.Tensor):
        return x.to(torch.half)

    @torch.jit.export
    def quantized(self, x: torch.Tensor):
        return torch.quantize_per_tensor(x, 0.5, 3, torch.quint8)

    @torch.jit.export
    def dequantized(self, x: torch.Tensor):
        return x.dequantize()

    @torch.jit.export
    def nothing(self):
        return None

    @torch.jit.export
    def words(self):
        return "say \"hi\"\n\tünïcode"

    @torch.jit.export
    def named(self, x: torch.Tensor):
        return Point(x, 4)

    @torch.jit.export
    def add_one_(self, x: torch.Tensor):
        return x.add_(1)

    @torch.jit.export
    def count(self) -> int:
        self.calls += 1
        return self.calls

    @torch.jit.export
    def says(self, x: int):
        print("model says", x)
        return x

    @torch.jit.export
    def refuse(self, x: int):
        if x > 1:
            raise ValueError("too large")
        return x


class Doubler(torch.nn.Module):
    def forward(self, x: torch.Tensor, k: int = 2):
        return x * k


class AllDefaults(torch.nn.Module):
    def forward(self, k: float = 2.5):
        return k


class Listener(torch.nn.Module):
    """Takes sound in pieces of a multiple of 16 samples; returns the recent loudness and its state."""
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.remember = torch.nn.GRU(16, 8, batch_first=True)
        self.head = torch.nn.Linear(8, 1)

    def forward(self, sound: torch.Tensor, state: Optional[torch.Tensor] = None) -> Tuple[torch.Tensor, torch.Tensor]:
        frames = sound.reshape(1, -1, 16)
        if state is None:
            state = torch.zeros(1, 1, 8)
        steps, state = self.remember(frames, state)
        return torch.sigmoid(self.head(steps[:, -1])), state


class Classes(torch.nn.Module):
    """A model with as many classes as a data set, which finds one class in any picture."""
    def __init__(self, classes: int, seen: int, side: int):
        super().__init__()
        self.classes, self.seen, self.side = classes, seen, side

    def forward(self, x: torch.Tensor):
        near = -(torch.arange(self.classes) - self.seen).abs().to(x.dtype)
        return (x.mean() * 0 + near).reshape(1, -1, 1, 1).expand(1, self.classes, self.side, self.side)


class Endless(torch.nn.Module):
    """A model whose code for bundled inputs never ends."""
    def forward(self, x: torch.Tensor):
        return x

    @torch.jit.export
    def get_all_bundled_inputs(self) -> List[Tuple[torch.Tensor]]:
        n = 1
        while n > 0:
            n = 3 - n
        return [(torch.ones(n),)]


class Map(torch.nn.Module):
    """Returns a map of classes as integers, which has the first `seen` classes for any picture."""
    def __init__(self, seen: int):
        super().__init__()
        self.seen = seen

    def forward(self, x: torch.Tensor):
        return torch.arange(self.seen).reshape(1, 1, -1)


class Branches(torch.nn.Module):
    """A method with operators in branches and loops; some have effects, and the results of some are not used."""
    def __init__(self):
        super().__init__()
        self.kept: List[torch.Tensor] = [torch.zeros(2)]

    def forward(self, x: torch.Tensor, n: int):
        if n > 1:
            first = self.kept[0]
            first.mul_(2)
        for i in range(n):
            if i == 2:
                self.kept.append(torch.sigmoid(x))
                torch.tanh(x)
        if n > 100:
            print("many", torch.relu(x))
        known: Any = x
        if isinstance(known, torch.Tensor):
            return known + 1
        return x


class Whole(torch.nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x: torch.Tensor, n: int):
        return self.part(x, n)


def main():
    os.makedirs(DATA, exist_ok=True)
    torch.jit.script(Values())._save_for_lite_interpreter(os.path.join(DATA, "values.ptl"))
    model = torch.jit.script(Doubler())
    bundled_inputs.augment_model_with_bundled_inputs(model, inputs=[
        (torch.ones(2, 2), 3), (torch.full((1, 4), 5.0), 10)])
    model._save_for_lite_interpreter(os.path.join(DATA, "bundled.ptl"))
    torch.jit.script(AllDefaults())._save_for_lite_interpreter(os.path.join(DATA, "defaults.ptl"))
    torch.jit.script(Listener().eval())._save_for_lite_interpreter(os.path.join(DATA, "listener.ptl"))
    for name, model in (("thousand", Classes(1000, 999, 1)), ("voc", Classes(21, 12, 4))):
        torch.jit.script(model.eval())._save_for_lite_interpreter(os.path.join(DATA, name + ".ptl"))
    torch.jit.script(Endless().eval())._save_for_lite_interpreter(os.path.join(DATA, "endless.ptl"))
    torch.jit.script(torch.nn.Sequential(torch.nn.BatchNorm1d(2)))._save_for_lite_interpreter(os.path.join(DATA, "training.ptl"))
    scripted = torch.jit.script(Whole(Branches()))
    scripted.save(os.path.join(DATA, "branches.pt"))
    print(torch.jit.export_opnames(scripted))  # the operators that ops_test.py expects
    torch.jit.script(Map(21).eval())._save_for_lite_interpreter(os.path.join(DATA, "map.ptl"))


if __name__ == "__main__":
    main()
