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
    """Returns an iterator over several items."""
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

    threads, cache_dir, cpu   settings of a context of the model's own (include/taper/taper.h says what they mean); or `context`,
                              which several models share; without any of them the models of the process share one
    device                    where it runs: "cpu", "vulkan", …; None: the GPU or NNAPI if the file was prepared for it, or the CPU
    optimize                  False runs the model as it was saved; disable_passes leaves out passes by name
    evaluation                True: Module.eval() first, for a file that was saved in training mode
    copy                      True: the file is read, not mapped, so that whoever truncates it later does no harm
    reference                 True: the portable operators only, to check results
    methods                   of a TorchScript file: which to read besides forward
    precision                 of the layers' weights, "fp32", "fp16" or "bf16": halves take half the memory, and are multiplied faster by
                              CPUs that have instructions for them; of a GPU "fp16" is all that lies in its memory
    gradients                 True: taper.grad computes gradients of results; runs keep what it needs
    guards                    False: inputs of an exported program are not checked against the sizes it was exported for
    time_budget, instruction_budget, memory_budget
                              of each run: seconds, executed instructions, bytes
    load_memory_limit, load_step_limit
                              of the load: bytes and steps
    results_stay              True: tensors that a GPU made and a call returns stay there until they are looked at, so that the next call
                              which is given them (the state of a recurrent model) takes them from there. One thread at a time looks at
                              them, and not while the model runs
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
