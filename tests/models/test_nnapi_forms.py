#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_nnapi_forms.py TAPER FOLDER_OF_DOUBLES [--filter TEXT]: tests NNAPI operations in forms that PyTorch's converter does not write
(nnapi_form_cases.py). PyTorch runs each file on the imitation of libneuralnetworks, Taper lowers it, and both must give the results of PyTorch's
functions: floats within 1e-4 of the largest, integers within 1. Some models must be refused. Exit status 77 if PyTorch cannot load the imitation."""
import argparse
import os
import sys
import tempfile
import warnings

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling
import test_nnapi_operators as operators
from nnapi_blob import Blob, Pairs, module
from nnapi_form_cases import FLAG, cases, numbers, quant

LEVEL = 30  # the first level with all of the operations
LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
check = operators.check


class Model:
    """A case with one order of dimensions. `how` is "nchw", "plain", or "nhwc" (4-D tensors are images in NNAPI's order)."""

    def __init__(self, case, how):
        self.inputs, formats, blob = case.inputs, [], Blob()
        image = how == "nhwc"
        given = []
        for x in case.inputs:
            seen = image and x.dim() == 4
            # The model gets [N, C, H, W], and NNAPI gets [N, H, W, C].
            given.append(x.permute(*FIRST).contiguous() if seen and not case.flagged else x)
            blob.inputs.append(blob.tensor(x, [x.shape[d] for d in LAST] if seen and case.flagged else None))
            formats.append(1 if seen else 0)
        self.inputs = given
        want = case.want(*(x.dequantize() if x.is_quantized else x for x in case.inputs))
        want = list(want) if isinstance(want, (list, tuple)) else [want]
        scale = case.result or ((case.inputs[0].q_scale(), case.inputs[0].q_zero_point()) if case.inputs[0].is_quantized else None)
        self.want, out_formats = [], []
        for y in want:
            y = torch.quantize_per_tensor(y, *scale, torch.quint8) if scale else y
            seen = image and y.dim() == 4
            shape = [y.shape[d] for d in LAST] if seen and case.flagged else None
            blob.outputs.append(blob.tensor(y, shape))
            out_formats.append(1 if seen else 0)
            self.want.append(y.permute(*FIRST) if seen and not case.flagged else y)
        arguments = []
        for value in case.arguments:
            if isinstance(value, tuple) and value[:1] == ("sizes",):
                n, h, w, c = value[1]
                value = [n, h, w, c] if image else [n, c, h, w]
            arguments.append(blob.constant(not image if value is FLAG else value))
        blob.add(case.code, [*blob.inputs, *arguments], blob.outputs)
        self.blob, self.module = blob, module(blob, formats, out_formats)


def integers(tensor):
    return (tensor.int_repr() if tensor.is_quantized else tensor).detach().numpy().astype(np.float64)


def differs(want, got, slack=None):
    """slack: tolerance of integers; the tolerance of floats is relative to their size."""
    if list(want.shape) != list(got.shape):
        return f"shape {list(got.shape)}, wanted {list(want.shape)}"
    error = np.abs(want - got).max()
    allowed = 1e-4 * np.abs(want).max() + 1e-6 if slack is None else slack
    return "" if error <= allowed else f"error {error:.6g}, allowed {allowed:.3g}"


def compare(want, got):
    slacks = [1 if w.is_quantized else 0 if w.dtype == torch.int32 else None for w in want]
    return "; ".join(filter(None, (differs(integers(w), g, slack) for w, g, slack in zip(want, got, slacks))))


def logged():
    path = os.environ["TAPER_NNAPI_DOUBLE_LOG"]
    text = open(path).read() if os.path.exists(path) else ""
    if text:
        os.remove(path)
    return text.strip()[:300]


def on_the_double(made, inputs):
    """Returns PyTorch's results, or its error text."""
    try:
        results = made(*inputs)
    except RuntimeError as error:
        said = [line for line in str(error).split("\n") if line.strip()]
        return None, logged() or said[-1][:300]
    return list(results) if isinstance(results, tuple) else [results], logged()


def on_taper(folder, made, inputs, want, name):
    made._save_for_lite_interpreter(f"{folder}/model.ptl")
    for options in ([], ["--no-optimize", "--reference"]):
        result, wrong = operators.run(folder, f"{folder}/model.ptl", inputs, *options)
        if not wrong:
            said, arrays = result
            got = [arrays[key] for key in (["output"] if len(want) == 1 else [f"output.{i}" for i in range(len(want))])]
            kinds = [s["dtype"] for s in (said if isinstance(said, list) else [said])]
            wrong = compare(want, [g.astype(np.float64) for g in got])
            wrong = wrong or (kinds != [str(w.dtype)[6:] for w in want] and f"dtypes {kinds}")
        check(wrong, f"{name}, taper {' '.join(options)}")


def check_models(folder, filter):
    for case in cases():
        ways = ["nchw", "nhwc"] if case.flagged else ["plain", "nhwc"] if case.inputs[0].dim() == 4 else ["plain"]
        ways = ["nhwc"] if case.after else ways
        for how in ways:
            name = f"{case.name}, {how}"
            if filter not in name or not (filter or sampling.taken(name, 0.5)):
                continue
            model = Model(case, how)
            got, wrong = on_the_double(model.module, model.inputs)
            if got is not None and not wrong:
                wrong = compare(model.want, [integers(g) for g in got])
            check(wrong, f"{name}, PyTorch on the double")
            on_taper(folder, Model(case, how).module, model.inputs, model.want, name)


# ---- several operations

def net(x_shape=(1, 16, 24, 24)):
    """Tests dilated and grouped layers with functions between them, and a number for each channel as in a batch norm. The blob is in NHWC; a
    module computes the expected result."""
    torch.manual_seed(4)
    first, second, third = (torch.nn.Conv2d(16, 32, 3, 1, 2, 2), torch.nn.Conv2d(32, 32, 3, 1, 1, groups=4),
                            torch.nn.Conv2d(32, 32, 3, 1, 2, 2, groups=32))
    fourth, factors, summands = torch.nn.Conv2d(32, 16, 1), numbers(32), numbers(32)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third, self.fourth = first, second, third, fourth
            self.factors, self.summands = factors.reshape(1, -1, 1, 1), summands.reshape(1, -1, 1, 1)

        def forward(self, x):
            y = torch.nn.functional.hardswish(self.first(x) * self.factors + self.summands)
            y = torch.relu(self.third(torch.relu(self.second(y))))
            return torch.maximum(self.fourth(y), x)

    blob, (n, c, h, w) = Blob(), x_shape
    x = blob.operand(3, (n, h, w, c))
    blob.inputs = [x]

    def conv(code, at, layer, tail, order=(0, 2, 3, 1)):
        pad, stride = layer.padding[0], layer.stride[0]
        weight, bias = layer.weight.detach().permute(*order).contiguous(), layer.bias.detach()
        y = blob.operand(3, (n, h, w, layer.out_channels))
        blob.add(code, [at, blob.constant(weight), blob.constant(bias), *(blob.constant(v) for v in [pad] * 4 + [stride] * 2 + tail)], [y])
        return y

    y = conv("CONV_2D", x, first, [0, False, 2, 2])
    for code, other in (("MUL", factors), ("ADD", summands)):
        z = blob.operand(3, (n, h, w, 32))
        blob.add(code, [y, blob.constant(other), blob.constant(0)], [z])
        y = z
    z = blob.operand(3, (n, h, w, 32))
    blob.add("HARD_SWISH", [y], [z])
    y = conv("GROUPED_CONV_2D", z, second, [4, 1, False])
    y = conv("DEPTHWISE_CONV_2D", y, third, [1, 1, False, 2, 2], (1, 2, 3, 0))
    y = conv("CONV_2D", y, fourth, [0, False, 1, 1])
    z = blob.operand(3, (n, h, w, 16))
    blob.add("MAXIMUM", [y, x], [z])
    blob.outputs = [z]
    return Net().eval(), blob


def check_net(folder):
    plain, blob = net()
    x = numbers(1, 16, 24, 24)
    made = module(blob, [1], [1])
    got, wrong = on_the_double(made, [x])
    want = plain(x)
    check(wrong or compare([want], [integers(got[0])]), "a net, PyTorch on the double")
    made = module(blob, [1], [1])
    on_taper(folder, made, [x], [want], "a net")
    graph = operators.taper("inspect", f"{folder}/model.ptl", "--graph").stdout
    check("permute" in graph and graph, "a net of images has no permutes")
    # Tests a model whose first run decides the sizes, which padding by a scheme needs.
    blob = Blob()
    blob.inputs, blob.outputs = [blob.operand(3, (1, 0, 0, 3))], [blob.operand(3, (1, 0, 0, 4))]
    weight, bias, x = numbers(4, 3, 3, 3), numbers(4), numbers(1, 3, 7, 10)
    blob.add("CONV_2D", [*blob.inputs, *map(blob.constant, (weight.permute(0, 2, 3, 1).contiguous(), bias, 1, 2, 2, 0, False))], blob.outputs)
    lines = [f"ser_model[{word}] = " + (f"args[0].shape[{d + 1}]" if at == 0 else f"(args[0].shape[{d + 1}] + 1) // 2")
             for word, at, d in blob.open_sizes()]
    want = torch.nn.functional.conv2d(torch.nn.functional.pad(x, (0, 1, 1, 1)), weight, bias, 2)
    got, wrong = on_the_double(module(blob, [1], [1], [(1, 4, 5, 4)], lines), [x])
    check(wrong or compare([want], [integers(got[0])]), "a scheme for open sizes, PyTorch on the double")
    on_taper(folder, module(blob, [1], [1], [(1, 4, 5, 4)], lines), [x], [want], "a scheme for open sizes")


# ---- models that must be refused

def check_refusals(folder, filter):
    """Checks (name, code, sizes of the input, arguments, sizes of results, words of the error)."""
    image, weight, deep, bias = (1, 6, 6, 4), numbers(4, 3, 3, 4), numbers(1, 3, 3, 4), numbers(4)
    conv, down = [weight, bias, 0, 0, 0, 0, 1, 1, 0, False], (1, 4, 4, 4)

    def changed(values, **changes):
        return [changes.get(f"at{i}", value) for i, value in enumerate(values)]

    group = [numbers(4, 3, 3, 2), bias, 0, 0, 0, 0, 1, 1, 2, 0, False]
    pool = [1, 2, 2, 2, 2, 0, False]
    flat = (2, 6)
    damaged = [
        ("12 inputs of CONV_2D", "CONV_2D", image, conv + [1], down, "12 inputs"),
        ("14 inputs of CONV_2D", "CONV_2D", image, conv + [1, 1, 1], down, "14 inputs"),
        ("9 inputs of CONV_2D", "CONV_2D", image, conv[:-2], down, "9 inputs"),
        ("two results of CONV_2D", "CONV_2D", image, conv, [down, down], "2 outputs"),
        ("negative padding", "CONV_2D", image, changed(conv, at2=-1), down, "paddings"),
        ("stride 0", "CONV_2D", image, changed(conv, at6=0), down, "stride 0"),
        ("dilation 0", "CONV_2D", image, conv + [0, 1], down, "dilation 0"),
        ("activation 4", "CONV_2D", image, changed(conv, at8=4), down, "activation 4"),
        ("scheme 3", "CONV_2D", image, [weight, bias, 3, 1, 1, 0, False], down, "padding scheme 3"),
        ("an image of 3 dimensions", "CONV_2D", (6, 6, 4), conv, down, "wrong sizes for a weight of this input"),
        ("10 inputs of GROUPED_CONV_2D", "GROUPED_CONV_2D", image, group[:-2], down, "10 inputs"),
        ("groups that do not divide", "GROUPED_CONV_2D", image, changed(group, at8=3), down, "do not fit"),
        ("0 groups", "GROUPED_CONV_2D", image, changed(group, at8=0), down, "do not fit"),
        ("groups for other weights", "GROUPED_CONV_2D", image, changed(group, at8=4), down, "do not fit"),
        ("a multiplier that does not divide", "DEPTHWISE_CONV_2D", image, [deep, bias, 0, 0, 0, 0, 1, 1, 3, 0, False], down, "do not fit"),
        ("a multiplier of 0", "DEPTHWISE_CONV_2D", image, [deep, bias, 0, 0, 0, 0, 1, 1, 0, 0, False], down, "do not fit"),
        ("no sizes of a transposed result", "TRANSPOSE_CONV_2D", image, [weight, bias, [1, 12, 12], 1, 2, 2, 0, False], (1, 12, 12, 4), "no image's sizes"),
        ("paddings that leave nothing", "TRANSPOSE_CONV_2D", image, [weight, bias, 0, 0, 4, 4, 1, 1, 0, False], (1, 1, 8, 4), "leave nothing"),
        ("a pool with stride 0", "MAX_POOL_2D", image, changed(pool, at1=0), (1, 3, 3, 4), "stride 0"),
        ("a pool of no window", "AVERAGE_POOL_2D", image, changed(pool, at3=0), (1, 3, 3, 4), "a window of 0"),
        ("9 inputs of a pool", "MAX_POOL_2D", image, pool + [1], (1, 3, 3, 4), "9 inputs"),
        ("both corners and centers", "RESIZE_BILINEAR", image, [3, 3, False, True, True], (1, 3, 3, 4), "at once"),
        ("a size of 0", "RESIZE_BILINEAR", image, [0, 3, False, True, False], (1, 3, 3, 4), "3 by 0"),
        ("a size and a scale", "RESIZE_BILINEAR", image, [2.0, 3, False, True, False], (1, 3, 3, 4), "a scale for the other"),
        ("three paddings of four", "PAD", image, [Pairs(((0, 0),) * 3)], image, "6 paddings"),
        ("a negative padding", "PAD", image, [Pairs(((0, 0), (-1, 1), (0, 0), (0, 0)))], image, "paddings -1"),
        ("an axis of a shuffle", "CHANNEL_SHUFFLE", image, [2, 4], image, "axis 4"),
        ("groups of a shuffle", "CHANNEL_SHUFFLE", image, [3, 3], image, "in 3 groups"),
        ("a block of 0", "DEPTH_TO_SPACE", image, [0, False], image, "blocks of 0"),
        ("a block of 3", "DEPTH_TO_SPACE", image, [3, False], image, "blocks of 3"),
        ("a block of 46341", "DEPTH_TO_SPACE", image, [46341, False], image, "blocks of 46341"),
        ("an axis of a split", "SPLIT", flat, [2, 2], [(2, 3), (2, 3)], "axis 2"),
        ("parts that do not divide", "SPLIT", flat, [1, 4], [(2, 2)] * 4, "split into 4"),
        ("fewer results than parts", "SPLIT", flat, [1, 3], [(2, 2)] * 2, "split into 3"),
        ("no parts", "SPLIT", flat, [1, 0], [(2, 2)], "split into 0"),
        ("a slice beyond the end", "SLICE", flat, [[0, 4], [2, 3]], (2, 3), "3 elements from 4 of 6"),
        ("a slice of nothing", "SLICE", flat, [[0, 0], [2, 0]], (2, 3), "0 elements"),
        ("a slice from before the start", "SLICE", flat, [[0, -1], [2, 3]], (2, 3), "from -1"),
        ("a slice of one number", "SLICE", flat, [[0], [2]], (2, 3), "the slice of a tensor with 2 dimensions"),
        ("a dimension that cannot go", "SQUEEZE", flat, [[1]], (2,), "size 6 cannot go"),
        ("a dimension that is not there", "SQUEEZE", flat, [[2]], (2,), "axis 2"),
        ("an axis of a reduction", "REDUCE_MAX", flat, [[-3], True], (1, 6), "axis -3"),
        ("two inputs of EXP", "EXP", flat, [1], flat, "2 inputs"),
        ("an activation of POW", "POW", flat, [numbers(2, 6), 0], flat, "3 inputs"),
    ]
    unsupported = [
        ("neither corners nor centers", "RESIZE_BILINEAR", image, [3, 3, False], (1, 3, 3, 4), "RESIZE_BILINEAR with neither"),
        ("aligned corners of the nearest", "RESIZE_NEAREST_NEIGHBOR", image, [3, 3, False, True], (1, 3, 3, 4), "RESIZE_NEAREST_NEIGHBOR with aligned"),
        ("a transposed result out of reach", "TRANSPOSE_CONV_2D", image, [weight, bias, [1, 40, 12, 4], 1, 2, 2, 0, False], (1, 40, 12, 4), "does not reach"),
        ("no axis", "REDUCE_SUM", flat, [[], True], flat, "no dimension"),
        ("a scheme for an open size", "CONV_2D", (1, 0, 6, 4), [weight, bias, 1, 1, 1, 0, False], (1, 6, 6, 4), "unknown size"),
        ("an open size is split", "SPLIT", (2, 0), [1, 2], [(2, 3), (2, 3)], "unknown size"),
    ]
    for name, code, shape, arguments, results, text in damaged + unsupported:
        if filter not in name:
            continue
        blob = Blob()
        blob.inputs = [blob.operand(3, shape)]
        blob.outputs = [blob.operand(3, sizes) for sizes in (results if isinstance(results, list) else [results])]
        blob.add(code, [*blob.inputs, *map(blob.constant, arguments)], blob.outputs)
        made = module(blob, [0], [0] * len(blob.outputs))
        made._save_for_lite_interpreter(f"{folder}/model.ptl")
        for options in ([], ["--no-optimize"]):
            wrong = operators.run(folder, f"{folder}/model.ptl", [numbers(*(s or 6 for s in shape))], *options)[1] or "no error"
            good = text in wrong and wrong.count("error:") == 1 and wrong.startswith("ended with 1:")
            check("" if good else f"{wrong}, wanted {text!r}", f"refusal: {name} {' '.join(options)}")
    # Two operations write the same result, and a split writes one result twice.
    for twice in (False, True):
        blob = Blob()
        x, y, z = (blob.operand(3, sizes) for sizes in (flat, (2, 3), (2, 3)))
        blob.inputs, blob.outputs = [x], [y]
        for outputs in ([[y, z], [z, z]] if twice else [[y, y]]):
            blob.add("SPLIT", [x, blob.constant(1), blob.constant(2)], outputs)
        module(blob, [0], [0])._save_for_lite_interpreter(f"{folder}/model.ptl")
        wrong = operators.run(folder, f"{folder}/model.ptl", [numbers(2, 6)])[1] or "no error"
        check("" if "has a value already" in wrong else wrong, "refusal: a result of two operations" if twice else "refusal: a result twice")


def main():
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("doubles")
    parser.add_argument("--filter", default="")
    arguments = parser.parse_args()
    if "TAPER_NNAPI_DOUBLE_LOG" not in os.environ:  # the loader reads LD_LIBRARY_PATH only when a process starts
        with tempfile.TemporaryDirectory() as folder:
            level = os.path.abspath(f"{arguments.doubles}/{LEVEL}")
            environment = dict(os.environ, LD_LIBRARY_PATH=level, TAPER_NNAPI_DOUBLE_LOG=f"{folder}/log")
            return os.spawnve(os.P_WAIT, sys.executable, [sys.executable, *sys.argv], environment)
    operators.program = os.path.abspath(arguments.taper)
    torch.backends.quantized.engine = "qnnpack"
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        blob = Blob()
        blob.inputs, blob.outputs = [blob.operand(3, (2,))], [blob.operand(3, (2,))]
        blob.add("RELU", blob.inputs, blob.outputs)
        wrong = on_the_double(module(blob, [0], [0]), [numbers(2)])[1]
        if "libneuralnetworks" in wrong:
            print("SKIPPED: PyTorch cannot load the double:", wrong)
            return 77
        check(wrong, "PyTorch on the double")
        check_models(folder, arguments.filter)
        check_refusals(folder, arguments.filter)
        if not arguments.filter:
            check_net(folder)
    print(f"{operators.passed} passed, {operators.failed} failed")
    return 1 if operators.failed or not operators.passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
