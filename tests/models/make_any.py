#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_any.py: writes tests/models/data/any.ptl, whose methods return their arguments, which are values of every kind.
tests/api/shared_values_test.c runs it. Needs PyTorch 1.13."""
import os
from typing import Any, List

import torch


class Anything(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x

    @torch.jit.export
    def twice(self, x: Any) -> Any:
        return (x, x)

    @torch.jit.export
    def text(self, x: Any) -> str:
        return str(x)

    @torch.jit.export
    def count(self, x: List[Any]) -> int:
        return len(x)


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "any.ptl")
    torch.jit.script(Anything())._save_for_lite_interpreter(path)
