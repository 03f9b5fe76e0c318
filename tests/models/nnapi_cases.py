# SPDX-License-Identifier: BSD-2-Clause
"""Small models with every operator that PyTorch's NNAPI converter supports, for test_nnapi_operators.py and for the recorded models of
scripts/oracle/make_nnapi_samples.py. Cases that the converter itself gets wrong are omitted: slices and softmax of NHWC tensors (it
does not permute their dimensions), steps that do not divide a slice, output_padding, transposed depthwise convolutions, ceil_mode."""
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn import quantized as nnq
from torch.nn.intrinsic.quantized import ConvReLU2d

SYMMETRIC, ASYMMETRIC = 7, 12  # NNAPI's TENSOR_QUANT16_SYMM and TENSOR_QUANT16_ASYMM


class Case(NamedTuple):
    name: str
    module: nn.Module
    inputs: list
    flexible: Optional[list] = None  # inputs for the converter; a size of 0 is decided in the first run of the model
    options: dict = {}  # arguments of convert_model_to_nnapi
    scripted: bool = False
    in_order: bool = False  # true if PyTorch's own result is wrong for NHWC tensors, so that PyTorch runs with NCHW tensors


class Call(nn.Module):
    """A function of the inputs, and of this module if it has parameters."""

    def __init__(self, function, **parts):
        super().__init__()
        self.function = function
        for name, part in parts.items():
            if isinstance(part, torch.Tensor):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class FlattenBySize(nn.Module):
    def forward(self, x):
        return F.relu(x.reshape(x.size(0), -1))


def numbers(*shape, low=-2.0, high=2.0):
    return torch.rand(*shape) * (high - low) + low


def quant(tensor, scale=0.03, zero_point=117):
    return torch.quantize_per_tensor(tensor, scale, zero_point, torch.quint8)


def nhwc(tensor):
    tensor = tensor.clone().contiguous(memory_format=torch.channels_last)
    tensor.nnapi_nhwc = True
    return tensor


ORDERS = ("NCHW", lambda tensor: tensor), ("NHWC", nhwc)


def int16(tensor, scale=0.5, zero_point=0, kind=SYMMETRIC):
    tensor = tensor.to(torch.int16)
    tensor.nnapi_dtype, tensor.nnapi_scale, tensor.nnapi_zero_point = kind, scale, zero_point
    return tensor


def layouts(name, module, *inputs, kinds=("float", "quantized"), zero_point=117, **rest):
    """Yields the module on float and quantized tensors, each in NCHW and NHWC."""
    for kind in kinds:
        tensors = [quant(x, zero_point=zero_point) for x in inputs] if kind == "quantized" else list(inputs)
        yield Case(f"{name}, {kind} NCHW", module, tensors, **rest)
        yield Case(f"{name}, {kind} NHWC", module, [nhwc(x) for x in tensors], **rest)


def quantized_layer(layer, weight, scale, zero_point, weight_scale=0.01, weight_zero_point=0, bias=None):
    outs = weight.shape[1] if isinstance(layer, nnq.ConvTranspose2d) else weight.shape[0]
    bias = numbers(outs, low=-1, high=1) if bias is None else bias
    layer.set_weight_bias(torch.quantize_per_tensor(weight, weight_scale, weight_zero_point, torch.qint8), bias)
    layer.scale, layer.zero_point = scale, zero_point
    return layer


def functional(name, scale, zero_point):
    function = nnq.QFunctional()
    function.scale, function.zero_point = scale, zero_point
    return Call(lambda m, *x: getattr(m.f, name)(*x), f=function)


def shapes():
    x = numbers(4, 3, 2)
    for dim in (-2, -1, 0, 2):
        yield Case(f"unsqueeze({dim})", Call(lambda m, x, dim=dim: x.unsqueeze(dim)), [x])
    yield Case("unsqueeze(1), quantized", Call(lambda m, x: x.unsqueeze(1)), [quant(x)])
    yield Case("to and detach", Call(lambda m, x: F.relu(x.to("cpu").detach())), [x])
    yield Case("to and detach, flexible", Call(lambda m, x: F.relu(x.to("cpu").detach())), [numbers(1, 2, 3, 5)],
               [torch.zeros(1, 2, 0, 0)])
    yield Case("reshape", Call(lambda m, x: x.reshape(2, 12)), [x])
    yield Case("reshape with -1, quantized", Call(lambda m, x: x.reshape(3, -1, 2)), [quant(x)])
    yield Case("reshape [8, -1], NHWC", Call(lambda m, x: x.reshape(8, -1)), [nhwc(numbers(4, 6, 1, 1))])
    yield Case("size", FlattenBySize(), [numbers(3, 2, 2, 5)], scripted=True)
    for start, end in ((1, -1), (2, 3), (0, -2), (0, 4)):
        yield Case(f"flatten({start}, {end})", nn.Flatten(start, end), [numbers(4, 2, 1, 3, 7)])
    yield Case("flatten, NHWC with H = W = 1", nn.Flatten(), [nhwc(numbers(3, 5, 1, 1))])
    yield Case("flatten, quantized NHWC with C = 1", nn.Flatten(), [nhwc(quant(numbers(3, 1, 2, 5)))])
    yield Case("flatten, flexible batch", Call(lambda m, x: torch.flatten(x, 1)), [numbers(5, 2, 3, 4)], [torch.zeros(0, 2, 3, 4)])
    yield Case("slice", Call(lambda m, x: x[1:, 1:5:2, :]), [numbers(4, 6, 2)])
    yield Case("slice of a vector", Call(lambda m, x: x[3:]), [numbers(5)])
    yield Case("slice with negative ends", Call(lambda m, x: x[:, -4:-1]), [numbers(3, 7)])
    yield Case("slice, quantized NCHW", Call(lambda m, x: x[:, 1:3, :, 2:]), [quant(numbers(2, 4, 3, 5))])
    yield Case("slice, flexible", Call(lambda m, x: x[1:, 1:5:2, :]), [numbers(4, 6, 3)], [torch.zeros(4, 6, 0)])
    for dim in (0, 1, 2, 3):
        other = [2, 3, 4, 5]
        other[dim] += 1
        yield from layouts(f"cat at {dim}", Call(lambda m, x, y, dim=dim: torch.cat([x, y, x], dim)), numbers(2, 3, 4, 5), numbers(*other))
    yield Case("cat of other scales", Call(lambda m, x, y: torch.cat([x, y], 1)),
               [nhwc(quant(numbers(2, 3, 4, 5))), nhwc(quant(numbers(2, 2, 4, 5), 0.021, 90))])
    yield Case("cat, flexible", Call(lambda m, x, y: torch.cat([x, y], 1)), [numbers(3, 2, 4), numbers(3, 2, 4)],
               [torch.zeros(0, 2, 0), torch.zeros(0, 2, 0)])
    yield Case("cat at a flexible dimension", Call(lambda m, x, y: torch.cat([x, y], 1)), [numbers(3, 2, 4), numbers(3, 5, 4)],
               [torch.zeros(3, 0, 4), torch.zeros(3, 0, 4)])


def arithmetic():
    for name, function in (("add", torch.add), ("sub", torch.sub), ("mul", torch.mul), ("div", torch.div)):
        call = Call(lambda m, x, y, function=function: function(x, y))
        y = numbers(2, 3, 4, 5, low=0.5)
        yield from layouts(name, call, numbers(2, 3, 4, 5), y, kinds=("float",))
        yield from layouts(f"{name}, broadcast", call, numbers(2, 3, 1, 5), y[:1, :, :, :1], kinds=("float",))
        yield Case(f"{name} of an NHWC image and [1, C, 1, 1]", call, [nhwc(numbers(2, 3, 4, 5)), y[:1, :, :1, :1].clone()])
        yield Case(f"{name} of [1, C, 1, 1] and an NHWC image", call, [y[:1, :, :1, :1].clone(), nhwc(y)])
        yield Case(f"{name} of vectors", call, [numbers(7), numbers(7, low=0.5)])
        yield Case(f"{name}, flexible", call, [numbers(2, 3), y[:1, 0, 0, :3].clone()], [torch.zeros(0, 0), torch.zeros(1, 0)])
    for name, other in (("one number", torch.full((1, 1, 1, 1), 0.75)), ("each channel", numbers(1, 3, 1, 1)),
                        ("each element", numbers(1, 3, 4, 5))):
        yield from layouts(f"add a constant for {name}", Call(lambda m, x: x + m.w, w=other), numbers(2, 3, 4, 5), kinds=("float",))
        yield from layouts(f"subtract from a constant for {name}", Call(lambda m, x: m.w - x, w=other), numbers(2, 3, 4, 5), kinds=("float",))
    yield from layouts("an input used twice", Call(lambda m, x: x * x + F.relu(x)), numbers(2, 3, 4, 5), kinds=("float",))
    for name in ("add", "sub", "mul"):
        call = Call(lambda m, x, y, name=name: getattr(torch, name)(x, y))
        yield Case(f"{name}, int32", call, [torch.tensor([[20000003, -7, 5]], dtype=torch.int32), torch.tensor([[1], [3]], dtype=torch.int32)])
    for scale, zero_point in ((0.05, 128), (0.011, 0), (0.02, 250)):
        for name in ("add", "add_relu", "mul"):
            yield from ((Case(f"quantized::{name} to {scale:g}, {zero_point}, {order}", functional(name, scale, zero_point),
                              [turn(quant(numbers(2, 3, 4, 5))), turn(quant(numbers(2, 3, 4, 5), 0.017, 100))])
                         for order, turn in ORDERS))
    yield Case("quantized::add, an input twice", Call(lambda m, x: m.f.add(x, x), f=functional("add", 0.06, 120).f),
               [nhwc(quant(numbers(1, 3, 4, 5)))])
    yield Case("quantized::add, flexible", functional("add", 0.05, 128), [quant(numbers(2, 3)), quant(numbers(2, 3))],
               [quant(torch.zeros(0, 3)), quant(torch.zeros(0, 3))])
    yield Case("quantized::mul by a constant",
               Call(lambda m, x: m.f.mul(x, m.w), f=functional("mul", 0.04, 110).f, w=quant(numbers(2, 3, 4, 5))),
               [nhwc(quant(numbers(2, 3, 4, 5)))])


def activations():
    wide = numbers(2, 3, 4, 5, low=-9, high=9)
    for zero_point in (117, 0, 250):
        kinds = ("float", "quantized") if zero_point == 117 else ("quantized",)
        note = "" if zero_point == 117 else f" with zero point {zero_point}"
        yield from layouts("relu" + note, Call(lambda m, x: F.relu(x)), numbers(2, 3, 4, 5), kinds=kinds, zero_point=zero_point)
        yield from layouts("sigmoid" + note, Call(lambda m, x: torch.sigmoid(x)), wide, kinds=kinds, zero_point=zero_point)
    yield from layouts("hardtanh(-1, 1)", nn.Hardtanh(), numbers(2, 3, 4, 5), in_order=True)
    yield from layouts("hardtanh(0, 6)", nn.Hardtanh(0.0, 6.0), wide, in_order=True)
    yield Case("hardtanh(0, 6), a wide range", nn.Hardtanh(0.0, 6.0), [nhwc(quant(wide, 0.08, 110))], in_order=True)
    yield from layouts("relu, flexible", Call(lambda m, x: F.relu(x)), numbers(2, 3, 4, 5), kinds=("float",), flexible=[torch.zeros(0, 3, 0, 0)])
    yield Case("sigmoid, flexible NHWC", Call(lambda m, x: torch.sigmoid(x)), [nhwc(wide)], [nhwc(torch.zeros(0, 3, 0, 0))])
    for name, module in (("softmax", nn.Softmax), ("log_softmax", nn.LogSoftmax)):
        for dim in (0, 1, -1):
            yield Case(f"{name}({dim})", module(dim), [numbers(3, 5, low=-30, high=30)])
        yield Case(f"{name}(2) of four dimensions", module(2), [numbers(2, 3, 4, 5)])
    yield Case("softmax, flexible", nn.Softmax(1), [numbers(3, 5)], [torch.zeros(0, 0)])
    yield from layouts("prelu", nn.PReLU(init=0.3), numbers(2, 4, 3, 5), kinds=("float",))
    each = nn.PReLU(4)
    each.weight.data.copy_(torch.tensor([0.1, -0.2, 0.3, 1.4]))
    yield Case("prelu for each channel, NHWC", each, [nhwc(numbers(2, 4, 3, 5))])
    yield Case("prelu for each channel, flexible NHWC", each, [nhwc(numbers(1, 4, 3, 5))], [nhwc(torch.zeros(1, 4, 0, 0))])
    yield Case("quantize_per_tensor", nnq.Quantize(0.013, 99, torch.quint8), [nhwc(numbers(2, 3, 4, 5))])
    yield Case("dequantize, NHWC", nnq.DeQuantize(), [nhwc(quant(numbers(2, 3, 4, 5)))])
    yield Case("dequantize, NCHW", nnq.DeQuantize(), [quant(numbers(2, 3))])


def images():
    x = numbers(2, 3, 11, 14)
    for name, module in (("(2)", nn.MaxPool2d(2)), ("((3, 4))", nn.MaxPool2d((3, 4))), ("((3, 4), (1, 2))", nn.MaxPool2d((3, 4), (1, 2))),
                         ("((3, 5), (2, 1), (1, 2))", nn.MaxPool2d((3, 5), (2, 1), (1, 2)))):
        yield from layouts("max_pool2d" + name, module, x)
    for name, module in (("(2)", nn.AvgPool2d(2)), ("((3, 4), (1, 2))", nn.AvgPool2d((3, 4), (1, 2))),
                         ("((3, 5), (2, 1), (1, 2))", nn.AvgPool2d((3, 5), (2, 1), (1, 2)))):
        yield from layouts("avg_pool2d" + name, module, x)
    yield from layouts("avg_pool2d of negative numbers, padded", nn.AvgPool2d(3, 2, 1), -1 - x.abs(), kinds=("float",))
    for order, turn in ORDERS:
        yield Case(f"avg_pool2d, flexible {order}", nn.AvgPool2d((3, 4), (1, 2)), [turn(x)], [turn(torch.zeros(0, 3, 0, 0))])
    yield Case("avg_pool2d, flexible quantized NHWC", nn.AvgPool2d((3, 4), (1, 2)), [nhwc(quant(x))], [nhwc(quant(torch.zeros(2, 3, 0, 0)))])
    yield from layouts("adaptive_avg_pool2d", nn.AdaptiveAvgPool2d((1, 1)), x)
    for dim, keep in ((0, False), (1, False), ([1, 2], True)):
        yield Case(f"mean over {dim}, {'kept' if keep else 'gone'}", Call(lambda m, x, dim=dim, keep=keep: x.mean(dim, keep)),
                   [numbers(2, 3, 5)])
    for dims, keep in (([2, 3], False), ([-1, -2], True), ([2, 3], True), ([1, 2, 3], False)):
        yield from layouts(f"mean over {dims}, {'kept' if keep else 'gone'}", Call(lambda m, x, dims=dims, keep=keep: x.mean(dims, keep)), x,
                           kinds=("float",) if 1 in dims else ("float", "quantized"))
    yield from layouts("mean over channels, kept", Call(lambda m, x: x.mean([1], True)), x, kinds=("float",))
    y = numbers(2, 3, 7, 10)
    for size in ((14, 20), (9, 23), (3, 5)):
        yield from layouts(f"upsample_nearest2d to {size}", nn.UpsamplingNearest2d(size=size), y)
    for scale in ((2.0, 3.0), (1.5, 1.5), (1.3, 1.3), (1.4, 2.0)):
        yield from layouts(f"upsample_nearest2d by {scale}", nn.UpsamplingNearest2d(scale_factor=scale), y)
    yield from layouts("upsample_nearest2d to (14, 20), flexible", nn.UpsamplingNearest2d(size=(14, 20)), y, kinds=("float",),
                       flexible=[torch.zeros(2, 3, 0, 0)])
    yield Case("upsample_nearest2d by (2, 3), flexible NHWC", nn.UpsamplingNearest2d(scale_factor=(2.0, 3.0)), [nhwc(y)],
               [nhwc(torch.zeros(2, 3, 0, 0))])


def layers():
    for batch in (1, 3):
        yield Case(f"linear, batch of {batch}", nn.Linear(10, 7), [numbers(batch, 10)])
    yield Case("linear, flexible batch", nn.Linear(10, 7), [numbers(4, 10)], [torch.zeros(0, 10)])
    yield Case("addmm", Call(lambda m, x: torch.addmm(m.b, x, m.w), b=numbers(5), w=numbers(10, 5)), [numbers(3, 10)])
    for batch, scale, zero_point in ((1, 0.2, 90), (3, 0.04, 200)):
        layer = quantized_layer(nnq.Linear(20, 7), numbers(7, 20), scale, zero_point, 0.016)
        yield Case(f"quantized::linear, batch of {batch}", layer, [quant(numbers(batch, 20), 0.02, 130)])
    yield Case("quantized::linear, a weight with a zero point",
               quantized_layer(nnq.Linear(9, 4), numbers(4, 9, low=-1, high=2), 0.1, 90, 0.012, -40), [quant(numbers(3, 9), 0.02, 130)])
    forms = (("3x3", (4, 6, 3), {}), ("without a bias", (4, 6, 3), {"bias": False}), ("(3, 5), stride (2, 1), padding (1, 2)", (4, 6, (3, 5)),
             {"stride": (2, 1), "padding": (1, 2)}), ("1x1", (4, 9, 1), {}), ("depthwise", (4, 4, (3, 2)), {"groups": 4, "padding": (2, 1)}),
             ("depthwise, stride 2", (4, 4, 3), {"groups": 4, "stride": 2, "padding": 1}))
    x = numbers(2, 4, 9, 12)
    for name, sizes, options in forms:
        yield from layouts(f"_convolution {name}", nn.Conv2d(*sizes, **options), x, kinds=("float",))
        plain = {**options, "bias": True}
        for order, turn in ORDERS:
            for kind, layer in (("conv2d", nnq.Conv2d), ("conv2d_relu", ConvReLU2d)):
                made = layer(*sizes, **plain)
                weight = numbers(*made.weight().shape, low=-1, high=1)
                quantized_layer(made, weight, 0.05, 60 if kind == "conv2d_relu" else 128, 0.008, 3 if name == "1x1" else 0)
                yield Case(f"quantized::{kind} {name}, {order}", made, [turn(quant(x, 0.03, 110))])
    for order, turn in ORDERS:
        yield Case(f"conv2d, {order}", nn.Conv2d(4, 5, (3, 2), (1, 2), (1, 0)), [turn(x)], scripted=True)
        yield Case(f"_convolution, one image, flexible {order}", nn.Conv2d(4, 5, (3, 2), (1, 2), (1, 0)), [turn(x[:1])],
                   [turn(torch.zeros(0, 4, 0, 0))])
        yield Case(f"quantized::conv2d, flexible {order}",
                   quantized_layer(nnq.Conv2d(4, 5, (3, 2), (1, 2)), numbers(5, 4, 3, 2, low=-1, high=1), 0.05, 128),
                   [turn(quant(x))], [turn(quant(torch.zeros(0, 4, 0, 0)))])
        yield Case(f"transposed _convolution, {order}", nn.ConvTranspose2d(4, 5, (2, 3)), [turn(x)])
        yield Case(f"transposed _convolution, stride (2, 3), padding (1, 2), {order}",
                   nn.ConvTranspose2d(4, 5, (3, 5), (2, 3), (1, 2), bias=False), [turn(x)])
        yield Case(f"transposed _convolution, flexible {order}", nn.ConvTranspose2d(4, 5, 3, 2, 1), [turn(x)], [turn(torch.zeros(2, 4, 0, 0))])
        yield Case(f"quantized::conv_transpose2d, {order}", quantized_layer(nnq.ConvTranspose2d(4, 5, (2, 3), (2, 1), (0, 1)),
                   numbers(4, 5, 2, 3, low=-1, high=1), 0.05, 140), [turn(quant(x))])


def networks():
    conv, point, depth, line = nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 3, 1, 1, groups=4), nn.Linear(4, 5)

    def block(m, x):
        y = m.conv(x)
        y = F.hardtanh(m.depth(F.relu(y)), 0.0, 6.0) + m.point(y)
        return m.line(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1))

    block = Call(block, conv=conv, depth=depth, point=point, line=line)
    for batch in (1, 3):
        yield from layouts(f"a small network, batch of {batch}", block, numbers(batch, 3, 8, 13), kinds=("float",))
    yield from layouts("conv and relu, flexible", Call(lambda m, x: F.relu(m.conv(x)), conv=conv), numbers(2, 3, 8, 13), kinds=("float",),
                       flexible=[torch.zeros(0, 3, 0, 0)])
    first = quantized_layer(ConvReLU2d(3, 4, 3, 2, 1), numbers(4, 3, 3, 3, low=-1, high=1), 0.03, 0)
    second = quantized_layer(nnq.Conv2d(4, 4, 3, 1, 1, groups=4), numbers(4, 1, 3, 3, low=-1, high=1), 0.05, 130)
    last = quantized_layer(nnq.Linear(4, 5), numbers(5, 4), 0.05, 120, 0.016)
    within = Call(lambda m, x: m.last(torch.flatten(F.adaptive_avg_pool2d(m.f.add(m.first(x), m.second(m.first(x))), 1), 1)),
                  first=first, second=second, last=last, f=functional("add", 0.06, 100).f)
    yield Case("a small int8 network, NHWC", within, [nhwc(quant(numbers(2, 3, 8, 13)))])
    yield Case("float to int8 to float, NHWC", Call(lambda m, x: m.leave(m.first(m.enter(x))), enter=nnq.Quantize(0.03, 117, torch.quint8),
               first=first, leave=nnq.DeQuantize()), [nhwc(numbers(2, 3, 8, 13))])
    yield from layouts("two outputs", Call(lambda m, x: (m.conv(x), x.mean([2, 3])), conv=conv), numbers(2, 3, 8, 13), kinds=("float",))
    yield Case("an NHWC and an NCHW input and output", Call(lambda m, x, y: (F.relu(x), y - y * y)),
               [nhwc(numbers(2, 3, 4, 5)), numbers(2, 3, 4, 5)])
    yield Case("a float and an int8 output", Call(lambda m, x: (m.q(x), F.relu(x)), q=nnq.Quantize(0.02, 128, torch.quint8)),
               [nhwc(numbers(2, 3, 4, 5))])
    yield Case("a tuple of one output", Call(lambda m, x: (F.relu(x),)), [numbers(2, 3)])
    yield Case("an output twice", Call(lambda m, x: (lambda y: (y, y))(F.relu(x))), [numbers(2, 3)])
    yield Case("three inputs", Call(lambda m, x, y, z: x * y + z), [numbers(2, 3), numbers(2, 3), numbers(2, 1)])
    for name, sizes in (("more than there are", (16, 5)), ("-1", (-1, 5))):
        yield Case(f"return_shapes of {name}", Call(lambda m, x: F.relu(m.line(x)), line=line), [numbers(3, 4)], [torch.zeros(0, 4)],
                   {"return_shapes": [sizes]})
    yield Case("relaxed to fp16", line, [numbers(3, 4)], options={"relax_f32_to_f16": True, "compilation_preference": 0})
    yield Case("concat, slice and mean", Call(lambda m, x, y: torch.cat([x, y], 1)[:, 1:4].mean([2, 3], True)),
               [numbers(2, 3, 4, 5), numbers(2, 2, 4, 5)])
    special = torch.tensor([float("nan"), float("inf"), float("-inf"), -0.0, 3e38, -1.5]).repeat(4).reshape(2, 3, 2, 2)
    for name, function in (("relu", F.relu), ("hardtanh", lambda x: F.hardtanh(x, 0.0, 6.0)), ("sigmoid", torch.sigmoid), ("add", lambda x: x + x),
                           ("max_pool2d", lambda x: F.max_pool2d(x, (1, 2), (1, 2))), ("softmax", lambda x: torch.softmax(x.reshape(6, 4), 1)),
                           ("mean", lambda x: x.mean([2, 3], True))):
        yield Case(f"{name} of numbers that are not finite", Call(lambda m, x, function=function: function(x)), [special])


def wide_integers():
    options = {"use_int16_for_qint16": True}
    x, y = torch.randint(-32768, 32767, (2, 3, 4)), torch.randint(-32768, 32767, (2, 2, 4))
    for name, kind, zero_point in (("symmetric", SYMMETRIC, 0), ("asymmetric", ASYMMETRIC, 77)):
        a, b = int16(x, 0.5, zero_point, kind), int16(y, 0.5, zero_point, kind)
        yield Case(f"int16 {name}: reshape", Call(lambda m, x: x.reshape(4, 6)), [a], options=options)
        yield Case(f"int16 {name}: unsqueeze, cat and slice", Call(lambda m, x, y: torch.cat([x, y], 1).unsqueeze(0)[:, :, 1:4]), [a, b],
                   options=options)
    yield Case("int16 symmetric: relu", Call(lambda m, x: torch.relu(x)), [int16(x)], options=options)
    yield Case("int16 symmetric: add", Call(lambda m, x, y: x + y), [int16(x // 3), int16(x // 5)], options=options)


def cases():
    torch.manual_seed(21)
    for family in (shapes, arithmetic, activations, images, layers, networks, wide_integers):
        yield from family()
