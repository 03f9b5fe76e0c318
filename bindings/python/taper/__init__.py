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
    "Status", "Tensor", "TooDeep", "TooLarge", "WrongType", "WrongValue", "build", "bundle", "convert", "default_context", "grad", "load",
    "optimize_for_mobile", "passes", "quantize", "quantize_tensor", "tensor",
]


def tensor(array, dtype=None, *, context=None):
    """Makes a Tensor that shares the memory of an array. If `dtype` names another dtype, the Tensor is a converted copy."""
    made = _taper.tensor(_context_of(context), array)
    return made if dtype is None or dtype == made.dtype else made.to(dtype)


def quantize_tensor(array, scale, zero_point, dtype="quint8", *, context=None):
    """Quantizes the elements of a float tensor, rounding as torch.quantize_per_tensor does, and returns the quantized Tensor."""
    return _taper.quantize_tensor(_context_of(context), array, scale, zero_point, dtype)


def _listed(tensors):
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def grad(outputs, inputs, grad_outputs=None, *, retain_graph=None, create_graph=False, allow_unused=False):
    """Returns the gradients of the sum of the outputs with respect to the inputs, as torch.autograd.grad does.

    `outputs` and `inputs` are a tensor or several. The model was loaded with gradients=True, and before the call each input was a tensor
    with requires_grad = True:

        x = taper.tensor(positions)
        x.requires_grad = True
        (gradient,) = taper.grad(model(x), x)

    grad_outputs   for each output a tensor of its shape with which its gradient begins, or None for the number 1
    retain_graph   True keeps what the run recorded, for another call
    create_graph   True gives gradients that can themselves be differentiated
    allow_unused   True gives None for an input on which no output depends; otherwise it is an error
    """
    outputs, inputs = _listed(outputs), _listed(inputs)
    if outputs and not any(getattr(each, "requires_grad", False) for each in outputs):
        raise WrongValue("no output requires a gradient: load the model with gradients=True, and set requires_grad of an input")
    grads = None if grad_outputs is None else _listed(grad_outputs)
    keep = create_graph if retain_graph is None else retain_graph
    return tuple(_taper.grad(outputs, inputs, grads, bool(keep), bool(create_graph), bool(allow_unused)))


def passes():
    """Returns the optimizer's passes in their order: (name, what it does, runs at load, runs in optimize_for_mobile)."""
    return _taper.passes()


def build():
    """Returns facts about this build: its version, its instruction sets for this machine, its dtypes."""
    return {"version": _taper.version, "stable_abi": "cp311", "cpu_sets": _taper.cpu_sets(), "dtypes": _taper.dtypes()}


def _log(level, text):
    # Text that a model prints goes to Python's print, warnings go to Python's warnings, and Taper's own remarks go to the
    # logger.
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
