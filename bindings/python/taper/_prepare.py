# SPDX-License-Identifier: BSD-2-Clause
"""Makes files from files, in memory: optimized, quantized, converted, with bundled inputs."""
import json
from collections.abc import Mapping
from types import NoneType
from typing import Any, List, NamedTuple, Optional, Tuple

from . import _models, _taper
from ._errors import WrongType, WrongValue
from ._sources import context_of, count_of, items_of, load, names_of, passes_of, source_of

MODES = ("core", "full", "dynamic")  # in the order of the enumerators of taper_quantize_mode and taper_observer_kind
OBSERVERS = ("histogram", "min-max", "moving-average", "percentile")


def load_options(evaluation=False, methods=None):
    return {"evaluation": bool(evaluation), "methods": None if methods is None else names_of(methods, "methods")}


def save_options(bytecode, flatbuffer, name, debug_info, extra_files):
    if not isinstance(extra_files, (Mapping, NoneType)):
        raise WrongType(f"extra_files: a dict of names with bytes or str is wanted, not {type(extra_files).__name__}")
    extra = dict(extra_files or {})
    for key, data in extra.items():
        if not isinstance(key, str):
            raise WrongType(f"extra_files: a name is a str, not {type(key).__name__}")
        if isinstance(data, str):
            extra[key] = data.encode()
        elif not isinstance(data, bytes):
            raise WrongType("extra_files: names with bytes or str")
    first = next(iter(extra.items()), (None, None))
    return {"bytecode": bytecode, "flatbuffer": bool(flatbuffer), "name": name, "debug_info": bool(debug_info),
            "extra_name": first[0], "extra_data": first[1]}, dict(list(extra.items())[1:])


def finish(context, data, save, more):
    """Adds the extra files after the first one, because a save takes only one extra file."""
    for name, text in more.items():
        data = _taper.prepare(context, data, load_options(), {**save, "extra_name": name, "extra_data": text})
    return load(data, context=context)


def optimize_for_mobile(script_module, optimization_blocklist=None, preserved_methods=None, backend="CPU", *, inputs=None,
                        backend_options=None, bytecode=None, flatbuffer=False, name=None, debug_info=False, extra_files=None,
                        context=None):
    """Does the same as torch.utils.mobile_optimizer.optimize_for_mobile, for any lite interpreter. `script_module` is any source that
    taper.load accepts. Returns a Model of the new file: save(path) writes the file, to_bytes() returns it.

    optimization_blocklist   passes to omit, by Taper's names or PyTorch's (MobileOptimizerType)
    preserved_methods        methods to keep in addition to forward
    backend                  "CPU", "Vulkan", "Metal", or "NNAPI" with a sample of the inputs
    bytecode, flatbuffer     form of the file: bytecode version 4 to 8, or a flatbuffer
    """
    if not isinstance(backend, str):
        raise WrongType("backend: a name is wanted")
    context = context_of(context)
    save, more = save_options(bytecode, flatbuffer, name, debug_info, extra_files)
    what = {"optimize": True, "backend": backend.lower(), "disable_passes": passes_of(optimization_blocklist, "optimization_blocklist"),
            "preserve": names_of(preserved_methods, "preserved_methods"), "inputs": None if inputs is None else list(items_of(inputs, "inputs")),
            "backend_options": backend_options, **save}
    return finish(context, _taper.prepare(context, source_of(script_module), load_options(), what), save, more)


def convert(source, *, bytecode=None, flatbuffer=False, name=None, debug_info=False, extra_files=None, context=None):
    """Returns the model as a lite file of another version, with unchanged graphs."""
    context = context_of(context)
    save, more = save_options(bytecode, flatbuffer, name, debug_info, extra_files)
    return finish(context, _taper.prepare(context, source_of(source), load_options(), save), save, more)


def bundle(source, samples, *, method="forward", bytecode=None, flatbuffer=False, context=None):
    """Returns the model with sample inputs of the method in the model's file. A sample is a tuple or list of the arguments. If the method has only
    one argument, a sample may be this argument itself."""
    context = context_of(context)
    save, _ = save_options(bytecode, flatbuffer, None, False, None)
    what = {"bundle": [as_inputs(sample) for sample in items_of(samples, "samples")], "method": method, **save}
    return load(_taper.prepare(context, source_of(source), load_options(), what), context=context)


def as_inputs(sample):
    return list(sample) if isinstance(sample, (tuple, list)) else [sample]


class Layer(NamedTuple):
    """A layer or other operator that was quantized or kept float."""
    name: str
    operator: str
    kept_float: bool
    scale: float
    zero_point: int
    sqnr: float


class Quantized:
    """A quantized model and its difference from the float model. It is called and saved like the model itself."""

    def __init__(self, model, layers: List[Layer], sqnr: float, inputs: List[Optional[Tuple[float, int]]]):
        self.model = model
        self.layers = layers
        self.sqnr = sqnr
        self.inputs = inputs

    def __call__(self, *inputs: Any, **keywords: Any):
        return self.model(*inputs, **keywords)

    def save(self, path):
        self.model.save(path)

    def to_bytes(self):
        return self.model.to_bytes()

    def __repr__(self):
        return f"<taper.Quantized {self.model!r}, {sum(not layer.kept_float for layer in self.layers)} layers>"


def choice(names, name, what):
    if name not in names:
        raise WrongValue(f"{what}: {', '.join(names)} are, not {name!r}")
    return names.index(name)


def with_settings(data, inputs):
    """Writes for mode "full" the scale and zero point of each input to taper.json, where `taper run` looks for them."""
    return {**json.loads(data or b"{}"), "inputs": [None if pair is None else {"dtype": "quint8", "scale": pair[0], "zero_point": pair[1]}
                                                    for pair in inputs]}


def quantize(source, samples=None, *, mode="core", observer="histogram", percentile=None, per_channel=False, bias_correction=False,
             equalize=False, keep_float=None, preserved_methods=None, compare=8, bytecode=None, flatbuffer=False, extra_files=None,
             context=None):
    """Makes an int8 model from a float model and samples of its inputs, as PyTorch's quantize_fx and quantize_dynamic do for QNNPACK.

    samples      inputs for calibration: an iterable of tuples, or of values for the only argument; mode "dynamic" needs none
    mode         "core": integers inside, floats in and out; "full": quint8 tensors in and out; "dynamic": linear and recurrent layers
    observer     "histogram", "min-max", "moving-average" or "percentile"
    keep_float   layers, or modules with all their layers, that stay float
    compare      number of samples that both models then run: gives sqnr, in dB, of the result and of each layer
    """
    context = context_of(context)
    save, more = save_options(bytecode, flatbuffer, None, False, extra_files)
    what = {"mode": choice(MODES, mode, "mode"), "observer": choice(OBSERVERS, observer, "observer"), "percentile": percentile,
            "per_channel": bool(per_channel), "bias_correction": bool(bias_correction), "equalize": bool(equalize),
            "keep_float": names_of(keep_float, "keep_float"), "preserve": names_of(preserved_methods, "preserved_methods")}
    if mode != "dynamic" and samples is None:
        raise WrongValue(f"samples are missing: from which shall mode {mode!r} take the ranges?")
    compare, samples = count_of(compare, "compare"), items_of(samples if samples is not None else (), "samples")
    data = source_of(source)
    calibrator = _taper.Calibrator(context, data, load_options(evaluation=True), what)
    kept = []
    for sample in samples:
        sample = as_inputs(sample)
        if mode != "dynamic":
            calibrator.run(sample)
        if len(kept) < compare:
            kept.append(sample)
    result = calibrator.finish(save)
    if mode == "full":
        settings = with_settings(more.get("taper.json") or load(result, context=context).extra_files.get("taper.json"), calibrator.inputs())
        more["taper.json"] = json.dumps(settings).encode()
    model = finish(context, result, save, more)
    for sample in kept:
        calibrator.compare(sample)
    layers = [Layer(*row) for row in calibrator.layers()]
    return Quantized(model, layers, calibrator.sqnr(), calibrator.inputs() if mode == "full" else [])
