#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_custom_ops.py: writes tests/models/data/custom_ops.pt and .ptl, which call operators that PyTorch does not have, and prints their results;
and custom_types.pt and .ptl, whose operators take and return values of all types. tests/api/registered_test.c and tests/cpp/same_operators.cpp
register the same operators. Needs PyTorch 1.13."""
import os
from typing import List, Optional, Tuple

import torch

LIBRARY = torch.library.Library("my_ops", "DEF")


def operator(schema):
    def define(function):
        LIBRARY.define(schema)
        LIBRARY.impl(schema[:schema.index("(")], function, "CompositeExplicitAutograd")
        return function
    return define


@operator("warp(Tensor image, Tensor flow, float scale=1.5) -> Tensor")
def warp(image, flow, scale=1.5):
    return image * scale + flow


@operator("add_to_(Tensor(a!) self, int by) -> Tensor(a!)")
def add_to_(self, by):
    return self.add_(by)


@operator("parts(Tensor x, int[] sizes, str mode='plain') -> (Tensor, Tensor[])")
def parts(x, sizes, mode="plain"):
    pieces = x.split(sizes)
    return pieces[0].sum() if mode == "sum" else pieces[0], list(pieces)


@operator("note(Tensor(a!) x) -> ()")
def note(x):
    print("noted", x.numel())


@operator("pick.at(Tensor x, int i) -> Tensor")
def pick_at(x, i):
    return x[i]


@operator("pick.name(Tensor x, str name) -> Tensor")
def pick_name(x, name):
    return x[0] if name == "first" else x[-1]


class Custom(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.flow = torch.nn.Parameter(torch.tensor([10.0, 20.0, 30.0]), requires_grad=False)

    def forward(self, x) -> Tuple[torch.Tensor, torch.Tensor, List[torch.Tensor], torch.Tensor]:
        y = torch.ops.my_ops.warp(x, self.flow)
        torch.ops.my_ops.note(y)
        for i in range(3):
            torch.ops.my_ops.add_to_(y, i)  # the result is not used: the operator writes to y
        z = torch.ops.my_ops.warp(x, self.flow)
        total, pieces = torch.ops.my_ops.parts(y + 0, [1, 2], mode="sum")
        picked = torch.ops.my_ops.pick(y, 1) + torch.ops.my_ops.pick(y, "last")
        return y, z, pieces, torch.relu(total - picked)


TYPES = torch.library.Library("my_types", "DEF")
TYPES.define("kinds(Dict(str, Tensor) named, bool? flag, float[] weights, bool[] marks, str[] words, Tensor?[] maybe, Scalar by, Device place, "
             "int? count=None, *, ScalarType? dtype=None, int[2] pair=1) -> (Dict(str, Tensor) all, int? sum, float[] scaled, (int, str) last)")
TYPES.define("swap((Tensor, int) both) -> (int, Tensor)")


class Types(torch.nn.Module):
    def forward(self, x, flag: bool):
        named = {"a": x, "b": x + 1}
        maybe: List[Optional[torch.Tensor]] = [x, None]
        first = torch.ops.my_types.kinds(named, flag, [0.5, 2.0], [True, False], ["one", "two"], maybe, 3, x.device, dtype=torch.int64)
        second = torch.ops.my_types.kinds(named, None, [], [], [], maybe, 2.5, torch.device("cpu"), 7, pair=[4, 5])
        return first, second, torch.ops.my_types.swap((x, 3))


if __name__ == "__main__":
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    model = torch.jit.script(Custom().eval())
    model.save(os.path.join(data, "custom_ops.pt"))
    model._save_for_lite_interpreter(os.path.join(data, "custom_ops.ptl"))
    print(model(torch.tensor([1.0, -2.0, 3.0])))
    types = torch.jit.script(Types().eval())
    types.save(os.path.join(data, "custom_types.pt"))
    types._save_for_lite_interpreter(os.path.join(data, "custom_types.ptl"))
