#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_nested.py OUT: writes nested.pt for the tests of the bindings, with PyTorch: methods with nested types."""
import pathlib
import sys
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

import torch
from torch import Tensor


class Point(NamedTuple):
    x: int
    name: str


class Nested(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.export
    def ints(self, x: List[List[int]]) -> List[List[int]]:
        x.append([len(x)])
        return x

    @torch.jit.export
    def floats(self, x: List[List[float]]) -> List[List[float]]:
        x.append([0.5])
        return x

    @torch.jit.export
    def deep(self, x: List[List[List[str]]]) -> int:
        total = 0
        for a in x:
            for b in a:
                total += len(b)
        return total

    @torch.jit.export
    def pairs(self, x: List[Tuple[int, str]]) -> List[Tuple[str, int]]:
        return [(b, a) for a, b in x]

    @torch.jit.export
    def optionals(self, x: List[Optional[int]]) -> List[int]:
        out: List[int] = []
        for i in x:
            out.append(-1 if i is None else i)
        return out

    @torch.jit.export
    def masks(self, x: List[Optional[Tensor]]) -> List[int]:
        out: List[int] = []
        for i in x:
            out.append(-1 if i is None else i.numel())
        return out

    @torch.jit.export
    def table(self, x: Dict[str, List[float]]) -> Dict[str, List[float]]:
        x["size"] = [float(len(x))]
        return x

    @torch.jit.export
    def numbered(self, x: Dict[int, Dict[str, List[int]]]) -> Dict[int, Dict[str, List[int]]]:
        x[len(x)] = {"new": [7]}
        return x

    @torch.jit.export
    def mixed(self, x: List[Dict[str, Tuple[List[Optional[float]], int]]]) -> float:
        total = 0.0
        for d in x:
            for floats, n in d.values():
                for f in floats:
                    if f is not None:
                        total += f * n
        return total

    @torch.jit.export
    def both(self, x: Tuple[List[int], Tuple[float, List[float]]]) -> Tuple[List[int], Tuple[float, List[float]]]:
        return x

    @torch.jit.export
    def maybe(self, x: Optional[List[List[int]]] = None) -> int:
        return -1 if x is None else len(x)

    @torch.jit.export
    def maybe_inner(self, x: List[Optional[List[int]]]) -> List[int]:
        out: List[int] = []
        for i in x:
            out.append(-1 if i is None else len(i))
        return out

    @torch.jit.export
    def points(self, x: List[Point]) -> List[Point]:
        return [Point(p.x + 1, p.name + "!") for p in x]

    @torch.jit.export
    def complexes(self, x: List[complex]) -> List[complex]:
        return [i * 2 for i in x]

    @torch.jit.export
    def either(self, x: Union[int, List[str], Dict[str, List[int]]]) -> str:
        if isinstance(x, int):
            return "int"
        elif torch.jit.isinstance(x, List[str]):
            return "list"
        else:
            return "dict"


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    torch.jit.script(Nested()).save(str(out / "nested.pt"))


if __name__ == "__main__":
    main()
