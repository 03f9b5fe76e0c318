# SPDX-License-Identifier: BSD-2-Clause
"""The part of taper.Model that is written in Python: facts, bundled inputs, profiles, saving."""
import os
import tempfile
from typing import List, NamedTuple

from . import _taper
from ._errors import Error, NoMethod, own_file_errors
from ._sources import count_of, path_of


class Row(NamedTuple):
    """One call site of the program, and its time in all runs of a profile."""
    name: str
    kernel: str
    fused: bool
    calls: int
    seconds: float
    flops: float


class Profile:
    """The profile of some runs: a Row for each operator in the order of the program; str() is a table."""

    def __init__(self, rows: List[Row], runs: int):
        self.rows = rows
        self.runs = runs

    @property
    def seconds(self):
        return sum(row.seconds for row in self.rows)

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __str__(self):
        lines = [f"{'ms/run':>10} {'share':>6} {'calls':>7} {'GFLOP/s':>8}  operator, kernel"]
        total = self.seconds or 1
        for row in sorted(self.rows, key=lambda row: -row.seconds):
            speed = f"{row.flops * row.calls / row.seconds / 1e9:8.1f}" if row.flops and row.seconds else " " * 8
            lines.append(f"{1e3 * row.seconds / self.runs:10.3f} {100 * row.seconds / total:5.1f}% {row.calls:7d} {speed}  "
                         f"{row.name}, {row.kernel}{' and what follows' if row.fused else ''}")
        return "\n".join(lines)

    def __repr__(self):
        return f"<taper.Profile of {self.runs} runs, {1e3 * self.seconds / self.runs:.3f} ms each>"


def write_whole(path, data):
    """Writes a file atomically: after a failure there is no partial file."""
    path = path_of(path, "path")
    with own_file_errors(os.path.dirname(path)):
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".taper-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def fact(name):
    def get(model):
        return model._facts()[name]
    return get


FACTS = {
    "name": "The class of the root: \"__torch__.Net\".",
    "bytecode_version": "Of a lite file; 0 of others.",
    "operator_version": "Of PyTorch's operators, as the file says.",
    "training": "Whether it was saved in training mode, and not loaded with evaluation=True.",
    "exported_by": "The PyTorch that exported the program; None where the file is none.",
    "operators": "Operators that it calls, and in how many places.",
    "extra_files": "Files that were saved beside it.",
}


def methods(self):
    """The names of the methods."""
    return [name for name, _, _ in self._facts()["methods"]]


def signature(self, method="forward"):
    """Returns the arguments of a method as (name, type) and the type of its result, with None for facts that the file does not contain."""
    for name, arguments, result in self._facts()["methods"]:
        if name == method:
            return arguments, result
    raise NoMethod(f"the model has no method {method!r}: see its methods")


def inspect(self):
    """Returns all facts in a dict: name, versions, methods with their arguments, operators, extra files."""
    facts = self._facts()
    facts["methods"] = {name: {"arguments": arguments, "returns": result} for name, arguments, result in facts["methods"]}
    return facts


def graph(self, method="forward"):
    """Returns the graph of a method in the form that runs, as text."""
    return self._graph(method)


def memory(self):
    """Returns the memory of the session: allocator calls of the last run, bytes of activations, of the pool, of packed weights."""
    return self._memory()


def bundled_inputs(self, method="forward"):
    """Returns the file's bundled inputs for a method: a list of tuples."""
    name = "get_all_bundled_inputs" if method == "forward" else "get_all_bundled_inputs_for_" + method
    return [tuple(sample) for sample in self.method(name)()] if name in methods(self) else []


def profile(self, *inputs, method="forward", runs=10, warmup=2, **keywords):
    """Runs a method and returns the profile. If the method needs inputs and none are given, the bundled input 0 is used."""
    runs, warmup = count_of(runs, "runs", 1), count_of(warmup, "warmup")
    call = self.method(method)
    if not inputs and not keywords and signature(self, method)[0]:
        bundled = bundled_inputs(self, method)
        inputs = bundled[0] if bundled else inputs
    for _ in range(warmup):
        call(*inputs, **keywords)
    self._profile_set(True)
    try:
        for _ in range(runs):
            call(*inputs, **keywords)
    finally:
        self._profile_set(False)
    return Profile([Row(*row) for row in self._profile_get() if row[3] != 0], runs)


def clone(self, *, time_budget=None, instruction_budget=None, memory_budget=None, results_stay=False):
    """Returns the same file with its own state, for another thread, so that both can run at once. The weights are shared."""
    return self._clone({"time_budget": time_budget, "instruction_budget": instruction_budget, "memory_budget": memory_budget,
                        "results_stay": bool(results_stay)})


def to_bytes(self):
    """Returns the bytes of the file that the model was loaded from."""
    source = self._source
    if isinstance(source, bytes):
        return source
    with own_file_errors(source), open(source, "rb") as file:
        return file.read()


def save(self, path):
    """Writes the file that the model was loaded from, atomically. For the result of optimize_for_mobile or quantize this is the new file."""
    write_whole(path, to_bytes(self))


def eval(self):
    """Returns the model itself, like PyTorch's eval(). Raises an Error if the model was loaded in training mode, which cannot be changed."""
    return train(self, False)


def train(self, mode=True):
    """Returns the model itself if it is in the mode that `mode` names (True: training), otherwise raises an Error that says what to do."""
    if bool(mode) == self.training:
        return self
    if mode:
        error = Error("the model is in evaluation mode: only a file that was saved in training mode runs in it")
    else:
        error = Error("the model was saved in training mode: taper.load(…, evaluation=True) loads it in evaluation mode")
    error.status = _taper.Status.UNSUPPORTED
    raise error


def forward_text(model):
    """Returns the signature of forward in Python's syntax."""
    if "forward" not in methods(model):
        return "no forward"
    arguments, result = signature(model)
    inside = "…" if arguments is None else ", ".join(f"{name}: {kind}" for name, kind in arguments)
    return f"forward({inside})" + (f" -> {result}" if result is not None else "")


def describe(self):
    source = "bytes" if isinstance(self._source, bytes) else repr(self._source)
    return f"<taper.Model of {source}: {forward_text(self)}, on {self.device}>"


def names(self):
    """Returns the attributes, including the model's own methods."""
    return sorted({*object.__dir__(self), *methods(self)})


def complete(model_class):
    for name, text in FACTS.items():
        setattr(model_class, name, property(fact(name), doc=text))
    model_class.methods = property(methods, doc=methods.__doc__)
    for function in (signature, inspect, graph, memory, bundled_inputs, profile, clone, to_bytes, save, eval, train):
        setattr(model_class, function.__name__, function)
    model_class.__dir__ = names
    model_class.__repr__ = describe
    # Scripts for PyTorch Mobile call these methods on the result of optimize_for_mobile.
    model_class._save_for_lite_interpreter = save
    model_class._save_to_buffer_for_lite_interpreter = to_bytes
