# SPDX-License-Identifier: BSD-2-Clause
"""Serialized NNAPI models, built word by word (src/frontend/nnapi/serialized.h has the layout) and put into PyTorch's own NnapiModule, for
operations that PyTorch's converter does not write. Used by test_nnapi_forms.py and make_corpus_nnapi.py."""
import struct
from typing import NamedTuple

import torch
from torch.backends._nnapi.prepare import NnapiModule

CODES = dict(ADD=0, AVERAGE_POOL_2D=1, CONV_2D=3, DEPTHWISE_CONV_2D=4, DEPTH_TO_SPACE=5, FLOOR=8, LOGISTIC=14, MAX_POOL_2D=17, MUL=18, RELU=19,
             RESHAPE=22, RESIZE_BILINEAR=23, TANH=28, DIV=30, MEAN=31, PAD=32, SQUEEZE=34, TRANSPOSE=37, ABS=38, CHANNEL_SHUFFLE=46, EXP=49,
             GROUPED_CONV_2D=55, LOG=60, MAXIMUM=65, MINIMUM=66, NEG=67, PAD_V2=69, POW=70, PRELU=71, REDUCE_MAX=77, REDUCE_MIN=78, REDUCE_SUM=80, RSQRT=83,
             SLICE=86, SPLIT=87, SQRT=88, TRANSPOSE_CONV_2D=91, RESIZE_NEAREST_NEIGHBOR=94, HARD_SWISH=99)
FLOAT32, INT32, TENSOR_FLOAT32, TENSOR_INT32, TENSOR_QUANT8_ASYMM, BOOL = 0, 1, 3, 4, 5, 6
IMMEDIATE, BUFFER = 0, 2


class Pairs(NamedTuple):
    """A constant that is an int tensor of sizes [n, 2]."""
    numbers: tuple


class Bias(NamedTuple):
    """A bias, whose integers count units of a scale."""
    tensor: torch.Tensor
    scale: float


class Blob:
    def __init__(self):
        self.operands, self.values, self.data, self.operations, self.uses = [], [], [], [], []
        self.inputs, self.outputs, self.weights = [], [], []

    def operand(self, kind, shape=(), scale=0.0, zero_point=0):
        self.operands.append((kind, tuple(shape), scale, zero_point))
        return len(self.operands) - 1

    def tensor(self, like, shape=None):
        """Returns an operand like a tensor."""
        shape = like.shape if shape is None else shape
        if like.is_quantized:
            return self.operand(TENSOR_QUANT8_ASYMM, shape, like.q_scale(), like.q_zero_point())
        return self.operand(TENSOR_INT32 if like.dtype == torch.int32 else TENSOR_FLOAT32, shape)

    def value(self, operand, source, data, size):
        self.values.append((operand, source, size))
        self.data.append(data)
        return operand

    def constant(self, value):
        """Adds a constant: a scalar (bool, int, float), a list of ints, pairs of ints, a bias, or a tensor."""
        if isinstance(value, Bias):
            at = self.operand(TENSOR_INT32, value.tensor.shape, value.scale)
            self.weights.append(value.tensor)
            return self.value(at, BUFFER, struct.pack("iii", len(self.weights) - 1, 0, 4 * value.tensor.numel()), 12)
        if isinstance(value, torch.Tensor):
            self.weights.append(value)
            size = value.numel() * (1 if value.is_quantized else 4)
            return self.value(self.tensor(value), BUFFER, struct.pack("iii", len(self.weights) - 1, 0, size), 12)
        if isinstance(value, bool):
            return self.value(self.operand(BOOL), IMMEDIATE, struct.pack("i", value), 1)
        if isinstance(value, (int, float)):
            kind, letter = (INT32, "i") if isinstance(value, int) else (FLOAT32, "f")
            return self.value(self.operand(kind), IMMEDIATE, struct.pack(letter, value), 4)
        numbers = [n for pair in value.numbers for n in pair] if isinstance(value, Pairs) else list(value)
        shape = (len(numbers) // 2, 2) if isinstance(value, Pairs) else (len(numbers),)
        return self.value(self.operand(TENSOR_INT32, shape), IMMEDIATE, struct.pack(f"{len(numbers)}i", *numbers), 4 * len(numbers))

    def add(self, name, inputs, outputs):
        """Adds an operation. inputs, outputs: indices of operands."""
        self.operations.append((CODES.get(name, name), len(inputs), len(outputs)))
        self.uses += [*inputs, *outputs]

    def words(self):
        data = struct.pack("6i", 1, len(self.operands), len(self.values), len(self.operations), len(self.inputs), len(self.outputs))
        data += b"".join(struct.pack("iifi", kind, len(shape), scale, zero) for kind, shape, scale, zero in self.operands)
        data += b"".join(struct.pack("3i", *value) for value in self.values)
        data += b"".join(struct.pack("3i", *operation) for operation in self.operations)
        sizes = [size for _, shape, _, _ in self.operands for size in shape]
        data += struct.pack(f"{len(sizes)}i", *sizes) + b"".join(self.data)
        numbers = self.uses + self.inputs + self.outputs
        return torch.frombuffer(bytearray(data + struct.pack(f"{len(numbers)}i", *numbers)), dtype=torch.int32).clone()

    def open_sizes(self):
        """Returns (word, operand, dimension) of each size that is 0."""
        at = 6 + 4 * len(self.operands) + 3 * (len(self.values) + len(self.operations))
        places = [(number, d, size) for number, (_, shape, _, _) in enumerate(self.operands) for d, size in enumerate(shape)]
        return [(at + i, number, d) for i, (number, d, size) in enumerate(places) if size == 0]


def template(operand, shape):
    kind, _, scale, zero_point = operand
    if kind == TENSOR_QUANT8_ASYMM:
        return f"torch.quantize_per_tensor(torch.zeros({list(shape)}), {scale!r}, {zero_point}, torch.quint8)"
    return f"torch.zeros({list(shape)}, dtype=torch.{'int32' if kind == TENSOR_INT32 else 'float32'})"


def module(blob, in_formats, out_formats, shapes=None, lines=()):
    """Returns PyTorch's scripted module for the model. shapes: shapes of results whose sizes the model does not fix; lines: code that
    computes these sizes."""
    class Shapes(torch.nn.Module):
        pass

    class Whole(torch.nn.Module):
        def __init__(self, mod):
            super().__init__()
            self.mod = mod

    results = [template(blob.operands[at], shapes[i] if shapes else blob.operands[at][1]) for i, at in enumerate(blob.outputs)]
    compute = torch.jit.script(Shapes())
    compute.define("def prepare(self, ser_model: torch.Tensor, args: List[torch.Tensor]) -> List[torch.Tensor]:\n"
                   + "".join(f"    {line}\n" for line in lines) + f"    return [{', '.join(results)}]\n")
    whole = torch.jit.script(Whole(NnapiModule(compute, blob.words(), blob.weights, list(in_formats), list(out_formats), 2, False)))
    arguments = ", ".join(f"x{i}" for i in range(len(blob.inputs)))
    many = "".join(f"y[{i}], " for i in range(len(blob.outputs))) if len(blob.outputs) > 1 else "y[0]"
    whole.define(f"def forward(self, {arguments}):\n    y = self.mod([{arguments}])\n    return {many}\n")
    return whole
