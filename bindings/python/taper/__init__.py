# SPDX-License-Identifier: BSD-2-Clause
"""Taper runs models that PyTorch saved: TorchScript (.pt), lite (.ptl) and exported programs (.pt2).

    import taper
    model = taper.load("model.pt")
    scores = model(x).numpy()      # x: a NumPy array, a torch tensor, anything with DLPack or the buffer protocol
"""
import logging as _logging
import os as _os
import warnings as _warnings

from . import _models, _taper, _text
from ._errors import Error, FileNotFound, NoMethod, OutOfRange, TooDeep, TooLarge, WrongType, WrongValue
from ._models import Profile, Row
from ._prepare import Layer, Quantized, bundle, convert, optimize_for_mobile, quantize
from ._sources import context_of as _context_of, default_context, load
from ._taper import Context, Method, Model, Object, Status, Tensor

__version__ = _taper.version
__all__ = [
    "Context", "Error", "FileNotFound", "Layer", "Method", "Model", "NoMethod", "Object", "OutOfRange", "Profile", "Quantized", "Row",
    "Status", "Tensor", "TooDeep", "TooLarge", "WrongType", "WrongValue", "build", "bundle", "convert", "default_context", "load",
    "optimize_for_mobile", "passes", "quantize", "quantize_tensor", "tensor",
]


def tensor(array, dtype=None, *, context=None):
    """Makes a Tensor over the memory of an array; with another dtype, given by name, a copy of it."""
    made = _taper.tensor(_context_of(context), array)
    return made if dtype is None or dtype == made.dtype else made.to(dtype)


def quantize_tensor(array, scale, zero_point, dtype="quint8", *, context=None):
    """Quantizes the elements of a float tensor, rounding as torch.quantize_per_tensor does, and returns the quantized Tensor."""
    return _taper.quantize_tensor(_context_of(context), array, scale, zero_point, dtype)


def passes():
    """Returns the optimizer's passes in their order: (name, what it does, runs at load, runs in optimize_for_mobile)."""
    return _taper.passes()


def build():
    """Returns facts about this build: its version, its instruction sets for this machine, its dtypes."""
    return {"version": _taper.version, "stable_abi": "cp311", "cpu_sets": _taper.cpu_sets(), "dtypes": _taper.dtypes()}


def _log(level, text):
    # What a model prints goes where Python prints; warnings are Python's; Taper's own remarks are the logger's.
    if level == 0:
        print(text, end="")
    elif level == 1:
        _warnings.warn(text.removeprefix("Warning: ").rstrip("\n"), stacklevel=3)
    else:
        _logging.getLogger("taper").info("%s", text.rstrip("\n"))


_taper.set_log(_log)
_models.complete(Model)
Tensor.__str__ = _text.text
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_taper.after_fork)
