#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_android_models.py OUT: writes the models of tests/android, with PyTorch. kinds.pt and kinds.ptl return their input, or values of every
kind; kinds.ptl has extra files; slow.ptl runs for long."""
import pathlib
import sys
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor


class Pair(NamedTuple):
    first: Tensor
    second: int


class Kinds(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.arange(6, dtype=torch.float32).reshape(2, 3))
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        return x * 2

    @torch.jit.export
    def same(self, x: Tensor) -> Tensor:
        return x

    @torch.jit.export
    def add_one_(self, x: Tensor) -> Tensor:
        return x.add_(1)

    @torch.jit.export
    def compare(self, x: Tensor) -> Tensor:
        return x > 0

    @torch.jit.export
    def cast(self, x: Tensor, dtype: int) -> Tensor:
        return x.to(dtype)

    @torch.jit.export
    def quantize(self, x: Tensor) -> Tensor:
        return torch.quantize_per_tensor(x, 0.5, 3, torch.quint8)

    @torch.jit.export
    def dequantize(self, x: Tensor) -> Tensor:
        return x.dequantize()

    @torch.jit.export
    def transpose(self, x: Tensor) -> Tensor:
        return x.transpose(0, 1)

    @torch.jit.export
    def channels_last(self, x: Tensor) -> Tensor:
        return x.contiguous(memory_format=torch.channels_last)

    @torch.jit.export
    def strides(self, x: Tensor) -> List[int]:
        return [x.stride(i) for i in range(x.dim())]

    @torch.jit.export
    def own(self) -> Tensor:
        return self.weight

    @torch.jit.export
    def fail(self, text: str) -> Tensor:
        raise RuntimeError(text)

    @torch.jit.export
    def optional(self, x: Optional[Tensor]) -> Optional[int]:
        return None if x is None else x.numel()

    @torch.jit.export
    def bools(self, x: List[bool]) -> List[bool]:
        return [not i for i in x]

    @torch.jit.export
    def longs(self, x: List[int]) -> List[int]:
        return [i + 1 for i in x]

    @torch.jit.export
    def doubles(self, x: List[float]) -> List[float]:
        return [i * 2 for i in x]

    @torch.jit.export
    def tensors(self, x: List[Tensor]) -> List[Tensor]:
        return [i + 1 for i in x]

    @torch.jit.export
    def strings(self, x: List[str]) -> List[str]:
        return [i + "!" for i in x]

    @torch.jit.export
    def nested(self, x: List[List[int]]) -> List[List[int]]:
        x.append([len(x)])
        return x

    @torch.jit.export
    def by_name(self, x: Dict[str, int]) -> Dict[str, int]:
        x["size"] = len(x)
        return x

    @torch.jit.export
    def by_number(self, x: Dict[int, Tensor]) -> Dict[int, Tensor]:
        for k in x.keys():
            x[k] = x[k] + k
        return x

    @torch.jit.export
    def text(self, x: str) -> str:
        return x + x

    @torch.jit.export
    def pair(self, x: Tensor) -> Pair:
        return Pair(x, 7)

    @torch.jit.export
    def scalar(self, b: bool, i: int, f: float) -> Tuple[bool, int, float]:
        return not b, i + 1, f / 2

    # Speech models return their state in this form: hypotheses with nested parts, each of which may be empty.
    @torch.jit.export
    def step(self, x: Tensor, state: Optional[List[List[Tensor]]],
             hypothesis: Optional[List[Tuple[List[int], Tensor, List[List[Tensor]], float]]]
             ) -> Tuple[List[List[Tensor]], List[Tuple[List[int], Tensor, List[List[Tensor]], float]]]:
        s: List[List[Tensor]] = [[x]] if state is None else state
        h: List[Tuple[List[int], Tensor, List[List[Tensor]], float]] = []
        if hypothesis is not None:
            for i in hypothesis:
                h.append((i[0] + [len(i[0])], i[1] + x, i[2], i[3] + 1.0))
        else:
            none: List[int] = []
            empty: List[List[Tensor]] = []
            h.append((none, x, empty, 0.0))
        return s, h

    @torch.jit.export
    def complexes(self) -> complex:
        return complex(1.0, 2.0)

    @torch.jit.export
    def magnitude(self, x: complex) -> float:
        return abs(x)

    @torch.jit.export
    def runs(self) -> int:
        self.count += 1
        return self.count


class Slow(torch.nn.Module):
    def forward(self, x: Tensor, times: int) -> Tensor:
        for _ in range(times):
            x = torch.tanh(x @ x)
        return x


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    kinds = torch.jit.script(Kinds().eval())
    kinds.save(str(out / "kinds.pt"))
    kinds._save_for_lite_interpreter(str(out / "kinds.ptl"), _extra_files={"labels.txt": "cat\ndög\n"})
    torch.jit.script(Slow().eval())._save_for_lite_interpreter(str(out / "slow.ptl"))


main()
