#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_nnapi_operators.py TAPER [--filter TEXT]: tests every operator that PyTorch's NNAPI converter supports, in small models (nnapi_cases.py).
Taper's results of the converted model, as .pt, .ptl and flatbuffer, unoptimized, optimized, and written by `taper optimize`, must be equal to
those of the traced module in PyTorch. Inputs that such a model must refuse are tested too."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from typing import List

import numpy as np
import torch
from torch.backends._nnapi.prepare import convert_model_to_nnapi, process_for_nnapi
from torch.backends._nnapi.serializer import _NnapiSerializer
from torch.utils.mobile_optimizer import optimize_for_mobile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling
import nnapi_cases
from nnapi_cases import nhwc, numbers, quant

passed = failed = 0
seen = set()  # operators that occurred in the tested models


def check(wrong, what):
    global passed, failed
    passed, failed = passed + (not wrong), failed + bool(wrong)
    if wrong:
        print(f"FAILED {what}: {wrong}", flush=True)


def convert(case):
    """Returns the module that PyTorch runs, and the converted module."""
    module = case.module.eval()
    plain = torch.jit.script(module) if case.scripted else torch.jit.trace(module, case.inputs, check_trace=False)
    seen.update(node.kind() for node in torch.jit.freeze(plain).graph.nodes())
    return plain, convert_model_to_nnapi(plain, case.flexible or case.inputs, **case.options)


def give(folder, i, tensor):
    """Returns a tensor as an argument of `taper run`."""
    path = f"{folder}/in{i}.npy"
    np.save(path, (tensor.int_repr() if tensor.is_quantized else tensor).contiguous().numpy())
    if not tensor.is_quantized:
        return path
    return json.dumps({"@tensor": path, "scale": tensor.q_scale(), "zero_point": tensor.q_zero_point(), "dtype": "quint8"})


def taper(*arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True)


def run(folder, model, inputs, *options):
    """Returns descriptions and arrays of the results, or the error."""
    arguments = [part for i, x in enumerate(inputs) for part in ("-i", give(folder, i, x))]
    done = taper("run", model, *arguments, "-o", f"{folder}/out.npz", "--json", *options)
    if done.returncode != 0:
        return None, f"ended with {done.returncode}: {done.stderr.strip()[:300]}"
    return (json.loads(done.stdout), dict(np.load(f"{folder}/out.npz"))), None


def strides(shape, order):
    """Returns the strides of an output written by NNAPI, without the strides of dimensions of size 1: [N, C, H, W], or [N, H, W, C] as a permuted
    view (order 1)."""
    steps = torch.empty(shape).stride() if order != 1 else torch.empty([shape[i] for i in (0, 2, 3, 1)]).permute(0, 3, 1, 2).stride()
    return [step for step, size in zip(steps, shape) if size != 1]


def differs(want, said, got, order):
    """Returns the difference of a result from PyTorch's."""
    for key, value in (("dtype", str(want.dtype).replace("torch.", "")), ("shape", list(want.shape))):
        if said[key] != value:
            return f"{key} {said[key]}, wanted {value}"
    wrong = []
    if want.is_quantized and (said["scale"], said["zero_point"]) != (want.q_scale(), want.q_zero_point()):
        wrong.append(f"scale {said['scale']} and zero point {said['zero_point']}, wanted {want.q_scale()} and {want.q_zero_point()}")
    if [step for step, size in zip(said["strides"], want.shape) if size != 1] != strides(want.shape, order):
        wrong.append(f"strides {said['strides']} of {list(want.shape)}, wanted {strides(want.shape, order)}")
    want = (want.int_repr() if want.is_quantized else want).numpy().astype(np.float64)
    odd = ~np.isfinite(want)
    if not np.array_equal(got[odd], want[odd].astype(got.dtype), equal_nan=True):
        wrong.append(f"{got[odd][:4]}, wanted {want[odd][:4]}")
    want, got = np.append(want[~odd], 0), np.append(got[~odd].astype(np.float64), 0)
    allowed = 1e-4 * np.abs(want).max() + 1e-5 if said["dtype"] == "float32" else 0
    error = np.abs(got - want).max()
    if not error <= allowed:
        wrong.append(f"error {error:.6g}, allowed {allowed:.3g}")
    return "; ".join(wrong)


def compare(want, result, orders):
    said, arrays = result
    if isinstance(want, torch.Tensor):
        return differs(want, said, arrays["output"], orders[0])
    if not isinstance(said, list) or len(said) != len(want):
        return f"{len(want)} outputs were wanted"
    wrong = [differs(w, s, arrays[f"output.{i}"], orders[i]) for i, (w, s) in enumerate(zip(want, said))]
    return "; ".join(f"output {i}: {text}" for i, text in enumerate(wrong) if text)


def forms(folder, model):
    """Yields (name, file, options) of all ways to run a model."""
    model.save(f"{folder}/model.pt")
    model._save_for_lite_interpreter(f"{folder}/model.ptl")
    model._save_for_lite_interpreter(f"{folder}/model.fb.ptl", _use_flatbuffer=True)
    for kind in ("pt", "ptl", "fb.ptl"):
        yield f".{kind}", f"{folder}/model.{kind}", []
        yield f".{kind} as it is", f"{folder}/model.{kind}", ["--no-optimize"]
        done = taper("optimize", f"{folder}/model.{kind}", "-o", f"{folder}/from_{kind}.ptl", *(["--flatbuffer"] if kind == "fb.ptl" else []))
        check(done.returncode and done.stderr.strip()[:300], f"{kind} written by taper optimize")
        if done.returncode == 0:
            yield f".{kind} after taper optimize", f"{folder}/from_{kind}.ptl", []
    yield ".ptl with portable operators", f"{folder}/model.ptl", ["--reference"]


def check_models(folder, filter):
    for case in nnapi_cases.cases():
        if filter not in case.name:
            continue
        plain, model = convert(case)
        if not (filter or sampling.taken(case.name, 0.5)):
            continue
        want = plain(*(x.contiguous() if case.in_order else x for x in case.inputs))
        for name, file, options in forms(folder, model):
            result, wrong = run(folder, file, case.inputs, *options)
            check(wrong or compare(want, result, model.mod.out_mem_fmts), f"{case.name}, {name}")
            if os.path.exists(f"{folder}/out.npz"):
                os.remove(f"{folder}/out.npz")


def check_refusals(folder, filter):
    """Checks that the converted model refuses inputs unlike those of the conversion, for example of other sizes."""
    x, conv = numbers(2, 3, 6, 7), torch.nn.Conv2d(3, 4, 3, padding=1)
    sizes = {"batch": numbers(3, 3, 6, 7), "height": numbers(2, 3, 5, 7), "width": numbers(2, 3, 6, 8), "channels": numbers(2, 4, 6, 7),
             "height and width exchanged": numbers(2, 3, 7, 6), "rank": numbers(3, 6, 7), "no batch": numbers(0, 3, 6, 7)}
    relu = nnapi_cases.Call(lambda m, x: torch.relu(x))
    both = nnapi_cases.Call(lambda m, x, y: x + y)
    uses = [(nnapi_cases.Case(f"conv of other sizes, {order}", conv, [turn(x)]),
             {name: [turn(t) if t.dim() == 4 else t] for name, t in sizes.items()}) for order, turn in nnapi_cases.ORDERS]
    uses += [
        (nnapi_cases.Case("relu", relu, [x]), {**{name: [t] for name, t in sizes.items()}, "quint8": [quant(x)], "int32": [x.int()],
                                               "float64": [x.double()], "no input": [], "two inputs": [x, x]}),
        (nnapi_cases.Case("relu of quint8", relu, [quant(x)]),
         {"float": [x], "another scale": [quant(x, 0.05)], "another zero point": [quant(x, 0.03, 90)], "another height": [quant(sizes["height"])]}),
        (nnapi_cases.Case("add", both, [x, x]), {"one input": [x], "three inputs": [x, x, x], "one of another size": [x, sizes["width"]],
                                                 "one to broadcast": [x, x[:1]]}),
        (nnapi_cases.Case("flexible height and width", conv, [x], [torch.zeros(2, 3, 0, 0)]),
         {"batch": [sizes["batch"]], "channels": [sizes["channels"]], "rank": [sizes["rank"]], "too small": [x[:, :, :0]]}),
        (nnapi_cases.Case("two of a flexible size", both, [x, x], [torch.zeros(0, 3, 6, 7)] * 2), {"that differ": [x, sizes["batch"]]}),
        (nnapi_cases.Case("linear of a flexible batch", torch.nn.Linear(6, 4), [numbers(2, 6)], [torch.zeros(0, 6)]),
         {"columns": [numbers(2, 5)]}),
    ]
    for case, wrong_inputs in uses:
        model = convert(case)[1]
        for form, file, options in list(forms(folder, model)):
            result, wrong = run(folder, file, case.inputs, *options)
            check(wrong, f"right use of {case.name}, {form}")
            for name, inputs in wrong_inputs.items():
                if filter not in f"{case.name}: {name}":
                    continue
                arguments = [part for i, t in enumerate(inputs) for part in ("-i", give(folder, i, t))]
                done = taper("run", file, *arguments, *options)
                good = done.returncode == 1 and done.stderr.startswith("taper: error: ")
                check(not good and f"ended with {done.returncode}, {done.stderr.strip()[:200] or 'no error'}",
                      f"refusal of {case.name}: {name}, {form}")


class Around(torch.nn.Module):
    """A module that contains two converted modules, one of which it calls several times."""

    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x):
        y = self.first(x) * 0.5
        for i in range(3):
            y = self.second(y) + float(i)
        return y.sum(1)


def check_parts(folder):
    first, second = torch.nn.Linear(6, 4), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.PReLU())
    x, y = numbers(3, 6), numbers(3, 4)
    plain = torch.jit.script(Around(first, second))
    model = torch.jit.script(Around(convert(nnapi_cases.Case("", first, [x]))[1], convert(nnapi_cases.Case("", second, [y]))[1]))
    for form, file, options in forms(folder, model):
        result, wrong = run(folder, file, [x], *options)
        check(wrong or compare(plain(x), result, [0]), f"converted modules within another, {form}")


def check_calls(folder):
    """The first call determines the sizes. A later call with the same sizes must be correct; a call with other sizes must be correct or refused."""
    line = torch.nn.Linear(6, 4)
    plain, model = convert(nnapi_cases.Case("", line, [numbers(3, 6)], [torch.zeros(0, 6)]))
    same, others, none = [numbers(3, 6), numbers(3, 6)], [numbers(3, 6), numbers(5, 6), numbers(2, 6)], [numbers(0, 6)]
    for form, file, options in forms(folder, model):
        for inputs in (same, others, none):
            with open(f"{folder}/calls.json", "w") as stream:
                json.dump([{"inputs": ["@" + give(folder, i, x)]} for i, x in enumerate(inputs)], stream)
            done = taper("run", file, "--calls", f"{folder}/calls.json", "--json", *options)
            results = json.loads(done.stdout) if done.returncode == 0 else []
            good = len(results) == len(inputs) and all(
                r["shape"] == list(plain(x).shape) and np.allclose(plain(x).numpy(), np.array(r["data"]).reshape(r["shape"]), atol=1e-5)
                for x, r in zip(inputs, results))
            good = good or inputs is not same and done.returncode == 1 and done.stderr.startswith("taper: error: ")
            check(not good and f"ended with {done.returncode}: {done.stderr.strip()[:200]}",
                  f"calls with batches of {[len(x) for x in inputs]} of a flexible model, {form}")


class Bare(torch.nn.Module):
    """A Compilation without NnapiModule, made and run twice in each call."""

    def __init__(self, words, weights: List[torch.Tensor]):
        super().__init__()
        self.words, self.weights = words, weights

    def forward(self, x):
        compilation = torch.classes._nnapi.Compilation()
        compilation.init(self.words, self.weights)
        first, second = torch.zeros([0]), torch.zeros([0])
        compilation.run([x.contiguous()], [first])
        compilation.run([(x + 1).contiguous()], [second])
        return [first, second]


def check_rewritten(folder):
    """Checks converted modules that PyTorch's own optimizers have rewritten, and a Compilation on its own."""
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, 2, 1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 5)).eval()
    x = numbers(1, 3, 6, 8)
    for order, turn in nnapi_cases.ORDERS:
        case = nnapi_cases.Case("", net[:2], [turn(x)])
        for name, rewrite in (("frozen", torch.jit.freeze), ("optimized for mobile", optimize_for_mobile),
                              ("frozen but for the module", lambda m: torch.jit.freeze(m, preserved_attrs=["mod"]))):
            plain, model = convert(case)
            for form, file, options in forms(folder, rewrite(model.eval())):
                result, wrong = run(folder, file, case.inputs, *options)
                check(wrong or compare(plain(*case.inputs), result, model.mod.out_mem_fmts), f"{name}, {order}, {form}")
                if name != "frozen but for the module":
                    graph = taper("inspect", file, "--graph", *[o for o in options if o != "--reference"]).stdout
                    check("conv2d" not in graph and graph[:200], f"{name}, {order}, {form}: the model is in the graph")
    # An unknown operation follows operations that are lowered. The error of the run must name the unknown operation.
    last = torch.jit.trace(nnapi_cases.Call(lambda m, x: torch.softmax(torch.cat([torch.relu(x), x + x], 1), 1)).eval(), numbers(2, 4))
    model = convert_model_to_nnapi(last, [numbers(2, 4)])
    operands, values, operations = model.mod.ser_model[1:4].tolist()
    model.mod.ser_model[6 + 4 * operands + 3 * values + 3 * (operations - 1)] = 200
    for form, file, options in forms(folder, model):
        wrong = run(folder, file, [numbers(2, 4)], *options)[1]
        said = f"NNAPI operation {operations - 1} (code 200): the operation is not supported"
        check(said not in (wrong or "") and (wrong or "no error"), f"an unknown operation, {form}")
    plain = torch.jit.trace(net, x)
    words, weights = process_for_nnapi(plain, x)[1:3]
    model = torch.jit.script(Bare(words, [w.contiguous() for w in weights]))
    for form, file, options in forms(folder, model):
        result, wrong = run(folder, file, [x], *options)
        check(wrong or compare([plain(x), plain(x + 1)], result, [0, 0]), f"a bare Compilation, {form}")


def main():
    global program
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.taper)
    torch.backends.quantized.engine = "qnnpack"
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        check_models(folder, arguments.filter)
        check_refusals(folder, arguments.filter)
        if not arguments.filter:
            check_parts(folder)
            check_rewritten(folder)
            check_calls(folder)
    if not arguments.filter:
        # Freezing removes aten::detach before the converter sees it.
        missing = {name for name in _NnapiSerializer.ADDER_MAP if not name.startswith("prim::")} - seen - {"aten::detach"}
        check(missing and " ".join(sorted(missing)), "every operator of the converter occurs")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
