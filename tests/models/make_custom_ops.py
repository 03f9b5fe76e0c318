#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_custom_ops.py: writes tests/models/data/custom_ops.pt and .ptl, which call operators that PyTorch does not have, and says what they
give. tests/api/registered_test.c registers the same ones. Needs PyTorch 1.13."""
import os
from typing import List, Tuple

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
            torch.ops.my_ops.add_to_(y, i)  # nobody takes its result
        z = torch.ops.my_ops.warp(x, self.flow)
        total, pieces = torch.ops.my_ops.parts(y + 0, [1, 2], mode="sum")
        picked = torch.ops.my_ops.pick(y, 1) + torch.ops.my_ops.pick(y, "last")
        return y, z, pieces, torch.relu(total - picked)


if __name__ == "__main__":
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    model = torch.jit.script(Custom().eval())
    model.save(os.path.join(data, "custom_ops.pt"))
    model._save_for_lite_interpreter(os.path.join(data, "custom_ops.ptl"))
    print(model(torch.tensor([1.0, -2.0, 3.0])))
