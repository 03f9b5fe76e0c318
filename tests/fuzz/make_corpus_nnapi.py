#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_corpus_nnapi.py: writes the seeds of fuzz_nnapi_blob to corpus/nnapi_blob: small models that PyTorch's converter wrote, one or two for
each of its operators, and operations in forms that the converter does not write (tests/models/nnapi_form_cases.py). A seed is a byte of flags
(see fuzz_nnapi_blob.c), the number of words, the words, the weights."""
import os
import struct
import sys
import warnings

import torch
from torch import nn
from torch.backends._nnapi import prepare
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import nnapi_form_cases  # noqa: E402
import test_nnapi_forms  # noqa: E402

warnings.simplefilter("ignore")
torch.backends.quantized.engine = "qnnpack"
OUT = os.path.join(HERE, "corpus", "nnapi_blob")


class Call(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def quantized(x, scale=0.1, zero=10):
    return torch.quantize_per_tensor(x, scale, zero, torch.quint8)


def last(x):
    x = x.contiguous(memory_format=torch.channels_last)
    x.nnapi_nhwc = True
    return x


def qconv(transposed=False, relu=False, groups=1):
    weight = torch.quantize_per_tensor(torch.randn(4, 4 // groups, 3, 3), 0.02, 0, torch.qint8)
    if transposed:
        layer = torch.nn.quantized.ConvTranspose2d(4, 4, 3, 2, 1)
    else:
        layer = (torch.nn.intrinsic.quantized.ConvReLU2d if relu else torch.nn.quantized.Conv2d)(4, 4, 3, 1, 1, groups=groups)
    layer.set_weight_bias(weight, torch.randn(4))
    layer.scale, layer.zero_point = 0.2, 100
    return layer


def qlinear():
    layer = torch.nn.quantized.Linear(8, 3)
    layer.set_weight_bias(torch.quantize_per_tensor(torch.randn(3, 8), 0.02, 0, torch.qint8), torch.randn(3))
    layer.scale, layer.zero_point = 0.2, 100
    return layer


def cases():
    image, wide = torch.randn(1, 4, 5, 6), torch.randn(2, 3, 4)
    q = quantized(image)
    yield "conv_nhwc", nn.Conv2d(4, 3, 3, 2, 1), [last(image)]
    yield "conv_nchw", nn.Conv2d(4, 3, 3, (2, 1), (1, 0)), [image]
    yield "conv_depthwise", nn.Conv2d(4, 4, 3, 1, 1, groups=4), [last(image)]
    yield "conv_transposed", nn.ConvTranspose2d(4, 3, 3, 2, 1), [last(image)]
    yield "qconv", qconv(), [last(q)]
    yield "qconv_relu", qconv(relu=True), [last(q)]
    yield "qconv_depthwise", qconv(groups=4), [last(q)]
    yield "qconv_transposed", qconv(transposed=True), [last(q)]
    yield "linear", nn.Linear(8, 3), [torch.randn(2, 8)]
    yield "qlinear", qlinear(), [quantized(torch.randn(2, 8))]
    yield "max_pool", nn.MaxPool2d(3, 2, 1), [last(image)]
    yield "avg_pool", nn.AvgPool2d(2, 2), [image]
    yield "adaptive_pool", nn.AdaptiveAvgPool2d(1), [last(q)]
    yield "upsample", nn.UpsamplingNearest2d(scale_factor=2), [last(image)]
    yield "binary", Call(lambda a, b: (a + b) * a - b / (a * a)), [image, image]
    yield "broadcast", Call(lambda a, b: a + b), [image, torch.randn(4, 5, 6)]
    yield "qadd", Call(lambda a, b: torch.ops.quantized.mul(torch.ops.quantized.add_relu(a, b, 0.3, 5), b, 0.7, 3)), [q, q]
    yield "unary", Call(lambda a: torch.sigmoid(F.hardtanh(F.hardtanh(torch.relu(a), 0.0, 6.0), -1.0, 1.0))), [wide]
    yield "prelu", nn.PReLU(4), [last(image)]
    yield "softmax", nn.Softmax(1), [torch.randn(2, 5)]
    yield "log_softmax", nn.LogSoftmax(1), [torch.randn(2, 5)]
    yield "mean", Call(lambda a: a.mean([2, 3])), [last(image)]
    yield "shapes", Call(lambda a: torch.cat([a.reshape(2, 12), a.flatten(1)], 1)[:, 1:9:2].unsqueeze(1)), [wide]
    yield "between", Call(lambda a: torch.quantize_per_tensor(a, 0.1, 4, torch.quint8).dequantize()), [last(image)]
    yield "two_results", Call(lambda a: (a + a, a * a)), [wide]
    yield "flexible", nn.Conv2d(4, 3, 3, 1, 1), [torch.zeros(0, 4, 5, 6)]


def main():
    torch.manual_seed(0)
    os.makedirs(OUT, exist_ok=True)
    for number, (name, model, inputs) in enumerate(cases()):
        model.eval()
        given = [torch.randn(1, 4, 5, 6) if x.numel() == 0 else x for x in inputs]
        with torch.no_grad():
            traced = torch.jit.trace(model, given)
        try:
            _, words, weights, *_ = prepare.process_for_nnapi(traced, inputs)
        except Exception as error:
            print("left out:", name, str(error).split("\n")[0])
            continue
        write(number, name, words, weights)
    written = set()
    for number, case in enumerate(nnapi_form_cases.cases()):
        # Each operation has one seed of floats for each number of inputs, and one seed of integers. Every second seed is in NHWC.
        key = (case.code, "quantized") if case.inputs[0].is_quantized else (case.code, len(case.inputs) + len(case.arguments))
        if key in written:
            continue
        written.add(key)
        blob = test_nnapi_forms.Model(case, "nhwc" if case.after or number % 2 else "nchw" if case.flagged else "plain").blob
        write(number, "form_" + "_".join(map(str, key)).lower(), blob.words(), blob.weights)


def write(number, name, words, weights):
    """Writes the weights as one buffer. References to the model's other buffers get a new number and offset."""
    words, buffer = words.tolist(), b""
    places = []
    for weight in weights:
        plain = weight.contiguous()
        plain = plain.int_repr() if plain.is_quantized else plain
        buffer += b"\0" * (-len(buffer) % 4)
        places.append(len(buffer))
        buffer += plain.numpy().tobytes()
    operands, values, operations = words[1:4]
    at = 6 + 4 * operands
    heads = [words[at + 3 * i:at + 3 * i + 3] for i in range(values)]
    at += 3 * values + 3 * operations + sum(words[6 + 4 * i + 1] for i in range(operands))
    for _, source, size in heads:
        if source == 2:
            words[at + 1] += places[words[at]]
            words[at] = 0
        at += (size + 3) // 4
    data = struct.pack("<BH", number % 4, len(words)) + struct.pack("<%di" % len(words), *words) + buffer
    with open(os.path.join(OUT, name), "wb") as file:
        file.write(data)


if __name__ == "__main__":
    main()
