# SPDX-License-Identifier: BSD-2-Clause
"""Sources of models, and the options of loading."""
import functools
import io
import operator
import os
import sys
import threading

from . import _taper
from ._errors import WrongType, WrongValue

_making = threading.Lock()


@functools.cache
def _make_default():
    return _taper.Context()


def default_context():
    """Returns the context of models that are loaded without settings for threads, cache_dir and cpu."""
    with _making:
        return _make_default()


def context_of(context):
    if context is None:
        return default_context()
    if not isinstance(context, _taper.Context):
        raise WrongType(f"context: a taper.Context is wanted, not {type(context).__name__}")
    return context


def path_of(path, what):
    try:
        return os.path.abspath(os.fsdecode(path))
    except TypeError:
        raise WrongType(f"{what}: a path is wanted, not {type(path).__name__}") from None


def items_of(items, what):
    """Returns an iterator over `items`. Raises WrongType if this is not a list or another iterable; `what` names it in the message."""
    try:
        return iter(items)
    except TypeError:
        raise WrongType(f"{what}: several are wanted, as a list, not {type(items).__name__}") from None


def count_of(number, what, least=0):
    try:
        number = operator.index(number)
    except TypeError:
        raise WrongType(f"{what}: an int is wanted, not {type(number).__name__}") from None
    if number < least:
        raise WrongValue(f"{what}: at least {least}")
    return number


def context_for(context, threads, cache_dir, cpu):
    if context is not None:
        context = context_of(context)
        if threads is not None or cache_dir is not None or cpu is not None:
            raise WrongValue("context has its own threads, cache_dir and cpu")
        return context
    if threads is None and cache_dir is None and cpu is None:
        return default_context()
    return _taper.Context(threads=threads, cache_dir=cache_dir, cpu=cpu)


def source_of(source):
    """Returns a path as str, or bytes, for a path, bytes, a file that is open for reading, a torch.jit.ScriptModule, a
    torch.export.ExportedProgram or a taper.Model."""
    if isinstance(source, bytes):
        return source
    if isinstance(source, (str, os.PathLike)):
        return path_of(source, "source")
    if isinstance(source, _taper.Model):
        return source._source
    if hasattr(source, "save_to_buffer"):
        return bytes(source.save_to_buffer())
    kind = type(source)
    if kind.__name__ == "ExportedProgram" and kind.__module__.startswith("torch."):
        buffer = io.BytesIO()
        sys.modules["torch"].export.save(source, buffer)
        return buffer.getvalue()
    if hasattr(source, "state_dict") and hasattr(source, "named_modules"):
        raise WrongType("a module is saved as a program first: give torch.jit.script(module), torch.jit.trace(…) or torch.export.export(…)")
    if hasattr(source, "read"):
        data = source.read()
        if not isinstance(data, bytes):
            raise WrongType("the file must be open for reading bytes, not text")
        return data
    try:
        return bytes(memoryview(source))
    except TypeError:
        raise WrongType(f"a model is a path, bytes, a file, a ScriptModule, an ExportedProgram or a taper.Model, not {kind.__name__}") from None


def names_of(names, what):
    """Returns a list of str for one str or several; members of an enumeration stand for their names."""
    if names is None:
        return []
    if isinstance(names, str):
        names = [names]
    found = [name if isinstance(name, str) else getattr(name, "name", None) for name in items_of(names, what)]
    if not all(isinstance(name, str) for name in found):
        raise WrongType(f"{what}: names are wanted")
    return found


def passes_of(names, what):
    found = names_of(names, what)
    for name in found:
        if not _taper.has_pass(name):
            raise WrongValue(f"{what}: there is no pass {name!r}: taper.passes() lists them")
    return ",".join(found) or None


def load(source, *, threads=None, device=None, cache_dir=None, optimize=True, disable_passes=None, evaluation=False, copy=False,
         reference=False, methods=None, low_memory=False, precision=None, guards=True, device_options=None, cpu=None, context=None,
         time_budget=None, instruction_budget=None, memory_budget=None, load_memory_limit=None, load_step_limit=None, results_stay=False,
         gradients=False):
    """Loads a model. `source` is a path, bytes, a file open for reading, a torch.jit.ScriptModule or a torch.export.ExportedProgram.

    threads, cache_dir, cpu   settings of the model's own context (include/taper/taper.h describes them). `context` is a context that
                              several models share. Without any of them the models of the process share one context
    device                    device that runs the model: "cpu", "vulkan", …; None: the GPU or NNAPI if the file was prepared for it,
                              otherwise the CPU
    optimize                  False runs the model as it was saved; disable_passes is the names of passes to omit
    evaluation                True calls Module.eval() first, for a file that was saved in training mode
    copy                      True reads the file and does not map it, so that the model remains valid if the file is truncated
    reference                 True uses only the portable operators, to check results
    methods                   methods of a TorchScript file to read in addition to forward
    precision                 precision of the layers' weights, "fp32", "fp16" or "bf16". Weights in half precision take half the memory,
                              and are faster on CPUs that have instructions for them. On a GPU "fp16" stores all tensors in half precision
    gradients                 True makes runs keep what taper.grad needs to compute gradients of their results
    guards                    False does not compare the inputs of an exported program with the sizes of its export
    time_budget, instruction_budget, memory_budget
                              limits of each run: seconds, executed instructions, bytes
    load_memory_limit, load_step_limit
                              limits of the load: bytes and steps
    results_stay              True keeps a returned tensor on the GPU that made it until its elements are read. A later call that gets the
                              tensor (the state of a recurrent model) uses it there. Only one thread at a time may read such tensors,
                              and not while the model runs
    """
    options = {
        "optimize": bool(optimize), "disable_passes": passes_of(disable_passes, "disable_passes"), "evaluation": bool(evaluation),
        "copy": bool(copy), "reference": bool(reference), "methods": None if methods is None else names_of(methods, "methods"),
        "low_memory": bool(low_memory), "precision": precision, "no_guards": not guards, "device": device, "device_options": device_options,
        "gradients": bool(gradients),
        "memory_limit": load_memory_limit, "step_limit": load_step_limit,
    }
    budgets = {"time_budget": time_budget, "instruction_budget": instruction_budget, "memory_budget": memory_budget,
               "results_stay": bool(results_stay)}
    return _taper.load(context_for(context, threads, cache_dir, cpu), source_of(source), options, budgets)
