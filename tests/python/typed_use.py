# SPDX-License-Identifier: BSD-2-Clause
"""A program for mypy: uses of the package with correct types, and some with wrong types."""
from typing import Any, List, Optional

import numpy as np

import taper

model: taper.Model = taper.load("model.pt", threads=2, optimize=False)
scores: np.ndarray[Any, Any] = model(np.zeros(3)).numpy()
twice = model.method("twice")(3)
rows: List[taper.Row] = model.profile(np.zeros(3), runs=3).rows
seconds: float = rows[0].seconds
small: taper.Model = taper.optimize_for_mobile("model.pt", preserved_methods=["twice"])
small.save("small.ptl")
quantized: taper.Quantized = taper.quantize("model.pt", [np.zeros(3)], mode="full")
scale: Optional[float] = taper.tensor(np.zeros(3)).scale
try:
    model.cancel()
except taper.Error as error:
    status: taper.Status = error.status
try:
    evaluated: taper.Model = taper.load("model.pt").eval().train(False)
except taper.FileNotFound as missing:
    number: Optional[int] = missing.errno
    rest: str = missing.detail

taper.load("model.pt", thread=2)  # type: ignore[call-arg]
taper.load("model.pt", threads="2")  # type: ignore[arg-type]
shape: str = taper.tensor(np.zeros(3)).shape  # type: ignore[assignment]
