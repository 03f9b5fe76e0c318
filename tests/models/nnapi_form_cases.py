# SPDX-License-Identifier: BSD-2-Clause
"""Models of one NNAPI operation each, in the forms that PyTorch's own converter does not write, for test_nnapi_forms.py: the arguments have
NNAPI's form, and PyTorch's functions compute the result."""
from typing import Callable, NamedTuple

import torch
import torch.nn.functional as F

from nnapi_blob import Bias, Pairs

FLAG = object()  # placeholder in a list of arguments for the flag that is true if images are NCHW


class Case(NamedTuple):
    name: str
    code: str
    inputs: list
    arguments: list  # arguments of the operation after its inputs
    want: Callable  # computes the result from the inputs, as floats
    flagged: bool = False  # true if the inputs are images in PyTorch's order, which are tested in both orders of NNAPI; false if they are tensors in NNAPI's order
    result: tuple = None  # scale and zero point of 8-bit results; None: those of the first input
    after: bool = False  # true if the images come from a previous layer, so that only NHWC is tested


def numbers(*shape, low=-2.0, high=2.0):
    return torch.rand(*shape) * (high - low) + low


def quant(tensor, scale=0.03, zero_point=117):
    return torch.quantize_per_tensor(tensor, scale, zero_point, torch.quint8)


# ---- layers and pools

def share(size, kernel, stride, dilation=1):
    """Returns (padding before, padding after) of NNAPI's scheme SAME."""
    total = max(0, (-(-size // stride) - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def around(x, pads, value=0.0):
    (top, bottom), (left, right) = pads
    return F.pad(x, (left, right, top, bottom), value=value)


def pads_of(scheme, x, kernel, stride, dilation=(1, 1)):
    return [share(x.shape[2 + i], kernel[i], stride[i], dilation[i]) if scheme == 1 else (0, 0) for i in range(2)]


def layer(name, code, x, weight, bias, pads, stride, dilation=(1, 1), groups=1, number=None, fuse=0, scheme=None, bare=False):
    """A convolution of a float and of a quantized image. pads: ((top, bottom), (left, right)), or scheme 1 or 2."""
    order = (1, 2, 3, 0) if code == "DEPTHWISE_CONV_2D" else (0, 2, 3, 1)
    pads = pads_of(scheme, x, weight.shape[2:], stride, dilation) if scheme else pads
    (top, bottom), (left, right) = pads
    arguments = [scheme] if scheme else [left, right, top, bottom]
    arguments += [stride[1], stride[0]] + ([number] if number else []) + [fuse]
    if not bare:
        arguments += [FLAG] + ([dilation[1], dilation[0]] if code != "GROUPED_CONV_2D" and (scheme is None or dilation != (1, 1)) else [])

    def want(x, weight, bias):
        y = F.conv2d(around(x, pads), weight, bias, stride, 0, dilation, groups)
        return [y, F.relu(y), y.clamp(-1, 1), y.clamp(0, 6)][fuse]

    yield Case(name, code, [x], [weight.permute(*order).contiguous(), bias, *arguments], lambda x: want(x, weight, bias), True, after=bare)
    q, w = quant(x), quant(weight, 0.011, 131)
    whole = (bias / (0.03 * 0.011)).round().to(torch.int32)
    yield Case(f"{name}, quantized", code, [q], [w.permute(*order).contiguous(), Bias(whole, 0.03 * 0.011), *arguments],
               lambda x: want(x, w.dequantize(), whole * (0.03 * 0.011)), True, (0.07, 120), bare)


def layers():
    x, odd = numbers(2, 6, 9, 12), numbers(1, 6, 10, 7)
    full, deep, wide = numbers(4, 6, 3, 3, low=-1, high=1), numbers(6, 1, 3, 3), numbers(12, 1, 3, 2)
    group, bias = numbers(4, 3, 3, 2, low=-1, high=1), numbers(12)
    none, one, uneven = ((0, 0), (0, 0)), ((1, 1), (1, 1)), ((0, 1), (2, 1))
    yield from layer("CONV_2D dilated", "CONV_2D", x, full, bias[:4], one, (1, 1), (2, 3))
    yield from layer("CONV_2D dilated, strides, relu6", "CONV_2D", x, full, bias[:4], ((2, 2), (1, 1)), (2, 1), (2, 2), fuse=3)
    yield from layer("CONV_2D with uneven paddings", "CONV_2D", x, full, bias[:4], uneven, (2, 2), fuse=1)
    yield from layer("CONV_2D, 10 inputs with paddings", "CONV_2D", x, full, bias[:4], one, (1, 2), bare=True)
    yield from layer("DEPTHWISE_CONV_2D dilated", "DEPTHWISE_CONV_2D", x, deep, bias[:6], one, (1, 1), (2, 2), 6, 1)
    yield from layer("DEPTHWISE_CONV_2D, multiplier 2", "DEPTHWISE_CONV_2D", x, wide, bias, one, (2, 1), (1, 1), 6, 2, 1)
    yield from layer("DEPTHWISE_CONV_2D, 11 inputs with paddings", "DEPTHWISE_CONV_2D", x, deep, bias[:6], one, (1, 1), (1, 1), 6, 1, bare=True)
    for stride in ((1, 1), (2, 1)):
        yield from layer(f"GROUPED_CONV_2D, stride {stride}", "GROUPED_CONV_2D", x, group, bias[:4], one, stride, groups=2, number=2, fuse=1)
    yield from layer("GROUPED_CONV_2D with uneven paddings", "GROUPED_CONV_2D", x, group, bias[:4], uneven, (1, 1), groups=2, number=2)
    for scheme, word in ((1, "SAME"), (2, "VALID")):
        for image, size in ((x, "9 by 12"), (odd, "10 by 7")):
            name = f"by {word}, {size}"
            yield from layer(f"CONV_2D {name}", "CONV_2D", image, full, bias[:4], none, (2, 2), fuse=2, scheme=scheme)
            yield from layer(f"CONV_2D {name}, dilated", "CONV_2D", image, full, bias[:4], none, (1, 1), (2, 2), scheme=scheme)
            yield from layer(f"CONV_2D {name}, no flag", "CONV_2D", image, full, bias[:4], none, (2, 1), scheme=scheme, bare=True)
            yield from layer(f"DEPTHWISE_CONV_2D {name}", "DEPTHWISE_CONV_2D", image, wide, bias, none, (2, 2), (1, 1), 6, 2, scheme=scheme)
            yield from layer(f"DEPTHWISE_CONV_2D {name}, dilated", "DEPTHWISE_CONV_2D", image, deep, bias[:6], none, (1, 1), (2, 3), 6, 1,
                             scheme=scheme)
            yield from layer(f"GROUPED_CONV_2D {name}", "GROUPED_CONV_2D", image, group, bias[:4], none, (2, 2), groups=2, number=2,
                             scheme=scheme)
    yield from transposed()


def transposed():
    size = (4, 5)
    for kernel, stride, out, scheme in (((3, 3), (2, 2), (8, 10), 1), ((3, 3), (2, 2), (7, 9), 1), ((2, 4), (3, 1), (12, 5), 1),
                                        ((3, 2), (2, 2), (9, 10), 2), ((3, 2), (2, 2), (10, 11), 2), ((3, 4), (2, 3), None, None)):
        x, weight, bias = numbers(2, 3, *size), numbers(3, 4, *kernel, low=-1, high=1), numbers(4)
        if scheme:
            before = [share(out[i], kernel[i], stride[i])[0] if scheme == 1 else 0 for i in range(2)]
        else:  # explicit paddings instead of a scheme
            before, after = [0, 2], [1, 1]
            out = [(size[i] - 1) * stride[i] + kernel[i] - before[i] - after[i] for i in range(2)]

        def want(x, weight, bias, before=before, out=out, stride=stride):
            y = F.pad(F.conv_transpose2d(x, weight, None, stride), (0, 5, 0, 5))
            y = y[:, :, before[0]:before[0] + out[0], before[1]:before[1] + out[1]]
            return F.relu(y + bias.reshape(1, -1, 1, 1))

        word = {1: "by SAME", 2: "by VALID", None: "with uneven paddings"}[scheme]
        name = f"TRANSPOSE_CONV_2D {word}, kernel {kernel}, stride {stride}, to {tuple(out)}"
        sized = ("sizes", [2, *out, 4]) if scheme else None
        arguments = [sized, scheme] if scheme else [before[1], after[1], before[0], after[0]]
        arguments += [stride[1], stride[0], 1, FLAG]
        yield Case(name, "TRANSPOSE_CONV_2D", [x], [weight.permute(1, 2, 3, 0).contiguous(), bias, *arguments],
                   lambda x, w=weight, b=bias, want=want: want(x, w, b), True)
        w, whole = quant(weight, 0.011, 131), (bias / (0.03 * 0.011)).round().to(torch.int32)
        yield Case(f"{name}, quantized", "TRANSPOSE_CONV_2D", [quant(x)],
                   [w.permute(1, 2, 3, 0).contiguous(), Bias(whole, 0.03 * 0.011), *arguments],
                   lambda x, w=w, b=whole, want=want: want(x, w.dequantize(), b * (0.03 * 0.011)), True, (0.05, 60))


def pools():
    for size in ((9, 12), (10, 7)):
        x = numbers(2, 3, *size) - 1.5
        for kernel, stride, scheme in (((3, 3), (2, 2), 1), ((2, 2), (1, 1), 1), ((2, 3), (2, 1), 1), ((4, 2), (1, 3), 1), ((1, 1), (3, 2), 1),
                                       ((2, 2), (3, 3), 1), ((3, 2), (2, 2), 2), (size, (1, 1), 2)):
            pads = pads_of(scheme, x, kernel, stride)

            def most(x, pads=pads, kernel=kernel, stride=stride):
                return F.max_pool2d(around(x, pads, float("-inf")), kernel, stride)

            def mean(x, pads=pads, kernel=kernel, stride=stride):
                return F.avg_pool2d(around(x, pads), kernel, stride) / F.avg_pool2d(around(torch.ones_like(x), pads), kernel, stride)

            arguments = [scheme, stride[1], stride[0], kernel[1], kernel[0], 0, FLAG]
            word = f"by {'SAME' if scheme == 1 else 'VALID'}, {kernel} of {size}, stride {stride}"
            for code, want in (("MAX_POOL_2D", most), ("AVERAGE_POOL_2D", mean)):
                yield Case(f"{code} {word}", code, [x], arguments, want, True)
                yield Case(f"{code} {word}, quantized", code, [quant(x, 0.03, 200)], arguments, want, True)
    # Paddings that differ between the sides, as PyTorch's ceil_mode causes them.
    x = numbers(2, 3, 10, 8) - 1.5
    for kernel, stride, pads in (((3, 3), (2, 2), ((0, 1), (0, 1))), ((3, 2), (2, 2), ((1, 2), (0, 0))),
                                 ((3, 3), (2, 3), ((2, 0), (1, 1))), ((4, 4), (1, 1), ((1, 2), (3, 0)))):
        arguments = [pads[1][0], pads[1][1], pads[0][0], pads[0][1], stride[1], stride[0], kernel[1], kernel[0], 0, FLAG]
        for word, image in (("", x), (", quantized", quant(x, 0.03, 200))):
            yield Case(f"MAX_POOL_2D {kernel}, stride {stride}, paddings {pads}{word}", "MAX_POOL_2D", [image], arguments,
                       lambda x, k=kernel, s=stride, p=pads: F.max_pool2d(around(x, p, float("-inf")), k, s), True)
    x = numbers(1, 2, 6, 8)
    yield Case("MAX_POOL_2D, 7 inputs", "MAX_POOL_2D", [x], [2, 2, 2, 2, 2, 1], lambda x: F.relu(F.max_pool2d(x, 2)), True, after=True)
    yield Case("AVERAGE_POOL_2D, 10 inputs", "AVERAGE_POOL_2D", [x], [0, 0, 0, 0, 2, 3, 2, 3, 0], lambda x: F.avg_pool2d(x, (3, 2)),
               True, after=True)


def resizes():
    x = numbers(2, 3, 7, 10)
    for size in ((14, 20), (9, 23), (3, 5), (7, 10)):
        for code, align, half, mode in (("RESIZE_BILINEAR", True, False, "bilinear"), ("RESIZE_BILINEAR", False, True, "bilinear"),
                                        ("RESIZE_NEAREST_NEIGHBOR", False, True, "nearest-exact"),
                                        ("RESIZE_NEAREST_NEIGHBOR", False, False, "nearest")):
            def want(x, size=size, mode=mode, align=align):
                return F.interpolate(x, size, mode=mode, align_corners=align if mode == "bilinear" else None)

            name = f"{code} to {size}{', aligned corners' if align else ''}{', half pixel centers' if half else ''}"
            yield Case(name, code, [x], [size[1], size[0], FLAG, align, half], want, True)
            yield Case(f"{name}, quantized", code, [quant(x)], [size[1], size[0], FLAG, align, half], want, True)
    for code, mode in (("RESIZE_BILINEAR", "bilinear"), ("RESIZE_NEAREST_NEIGHBOR", "nearest-exact")):
        for scale in ((2.0, 3.0), (1.5, 1.3), (0.5, 0.7)):
            size = tuple(int(torch.tensor(s) * n) for s, n in zip(scale, x.shape[2:]))
            yield Case(f"{code} by {scale}, half pixel centers", code, [x], [scale[1], scale[0], FLAG, False, True],
                       lambda x, size=size, mode=mode: F.interpolate(x, size, mode=mode, align_corners=False if mode == "bilinear" else None),
                       True)
    yield Case("RESIZE_BILINEAR, 5 inputs", "RESIZE_BILINEAR", [x], [13, 9, FLAG, True],
               lambda x: F.interpolate(x, (9, 13), mode="bilinear", align_corners=True), True)


# ---- operations without the flag, with dimensions in NNAPI's order. Tensors of four dimensions are tested as plain tensors and as images.

def plain(name, code, x, arguments, want, kinds="fq", result=None, others=(), scale=0.03, zero_point=117):
    others = list(others)
    if "f" in kinds:
        yield Case(name, code, [x, *others], arguments, want)
    if "q" in kinds:
        yield Case(f"{name}, quantized", code, [quant(x, scale, zero_point), *(quant(o, 0.021, 90) for o in others)],
                   arguments(scale, zero_point) if callable(arguments) else arguments, want, result=result)


def functions():
    x, y, positive = numbers(2, 3, 4, 5, low=-5, high=5), numbers(2, 3, 4, 5), numbers(2, 3, 4, 5, low=0.1, high=4)
    row = numbers(7, low=-5, high=5)
    for shape, x in (("", x), (" of a vector", row)):
        yield from plain("HARD_SWISH" + shape, "HARD_SWISH", x, [], F.hardswish, result=(0.025, 12), scale=0.04)
        yield from plain("TANH" + shape, "TANH", x, [], torch.tanh, result=(1 / 128, 128))
        for code, function in (("ABS", torch.abs), ("EXP", torch.exp), ("NEG", torch.neg), ("FLOOR", torch.floor)):
            yield from plain(code + shape, code, x, [], function, "f")
        for code, function in (("SQRT", torch.sqrt), ("RSQRT", torch.rsqrt), ("LOG", torch.log)):
            yield from plain(code + shape, code, x.abs() + 0.1, [], function, "f")
    for code, function in (("ABS", torch.abs), ("NEG", torch.neg)):
        yield Case(f"{code} of integers", code, [torch.tensor([[3, -7], [0, 20000003]], dtype=torch.int32)], [], function)
    for code, function in (("MAXIMUM", torch.maximum), ("MINIMUM", torch.minimum)):
        yield from plain(code, code, y, [], function, result=(0.025, 100), others=[positive - 2])
        yield from plain(f"{code}, broadcast", code, y, [], function, others=[numbers(1, 1, 5)])
        yield Case(f"{code} of integers", code, [torch.tensor(n, dtype=torch.int32) for n in ([3, -7, 9], [4, -8, 9])], [], function)
    # With constants of fewer dimensions, images must remain images.
    for name, other in (("a constant for each channel", numbers(5, low=0.5)), ("one number", numbers(1, low=0.5)),
                        ("a constant for each column", numbers(4, 1)), ("a constant for rows and channels", numbers(3, 1, 5, low=0.5))):
        for code, function in (("ADD", torch.add), ("MUL", torch.mul), ("DIV", torch.div), ("MAXIMUM", torch.maximum), ("POW", torch.pow)):
            yield Case(f"{code} with {name}", code, [positive], [other] + ([0] if code in ("ADD", "MUL", "DIV") else []),
                       lambda x, other=other, function=function: function(x, other))
    for of in (y, row):
        yield from plain(f"PRELU with one number of {list(of.shape)}", "PRELU", of, [torch.tensor([0.2])], lambda x: F.leaky_relu(x, 0.2), "f")
    low = quant(numbers(5), 0.02, 99)
    yield Case("ADD of a quantized constant for each channel", "ADD", [quant(y)], [low, 1],
               lambda x: F.relu(x + low.dequantize()), result=(0.05, 60))
    yield from plain("POW", "POW", positive, [], torch.pow, "f", others=[y])
    yield from plain("POW, broadcast", "POW", positive, [], torch.pow, "f", others=[numbers(1)])
    for code, function in (("REDUCE_SUM", torch.sum), ("REDUCE_MAX", torch.amax), ("REDUCE_MIN", torch.amin)):
        for axes, keep in (([1, 2], False), ([1, 2], True), ([-1], False), ([3], True), ([0, 1], False),
                           ([1, -1, 2, 0], False), ([2, 2], False)):
            dims = sorted({a % 4 for a in axes})
            yield from plain(f"{code} over {axes}, {'kept' if keep else 'gone'}", code, y, [axes, keep],
                             lambda x, dims=dims, keep=keep, f=function: f(x, dims, keep).reshape(-1) if len(dims) == 4 else f(x, dims, keep),
                             "f" if code == "REDUCE_SUM" else "fq")
    yield from plain("MEAN over all, gone", "MEAN", y, [[0, 1, 2, 3], 0], lambda x: x.mean().reshape(1))


def moves():
    x = numbers(2, 4, 6, 8)
    for pairs in (((0, 0), (1, 2), (3, 0), (0, 0)), ((0, 0), (0, 0), (0, 0), (0, 5)), ((1, 0), (0, 1), (2, 2), (1, 1)), ((0, 0),) * 4):
        flat = [n for pair in reversed(pairs) for n in pair]
        yield from plain(f"PAD {pairs}", "PAD", x, [Pairs(pairs)], lambda x, flat=flat: F.pad(x, flat))
        yield Case(f"PAD_V2 {pairs}", "PAD_V2", [x], [Pairs(pairs), -1.5], lambda x, flat=flat: F.pad(x, flat, value=-1.5))
        yield Case(f"PAD_V2 {pairs}, quantized", "PAD_V2", [quant(x)], [Pairs(pairs), 30],
                   lambda x, flat=flat: F.pad(x, flat, value=(30 - 117) * 0.03))
    yield from plain("PAD of a vector", "PAD", numbers(5), [Pairs(((2, 1),))], lambda x: F.pad(x, (2, 1)))
    for axis, parts in ((0, 2), (1, 2), (2, 3), (-1, 4), (3, 1)):
        yield from plain(f"SPLIT at {axis} in {parts}", "SPLIT", x, [axis, parts], lambda x, axis=axis, parts=parts: torch.chunk(x, parts, axis))
    yield from plain("SLICE", "SLICE", x, [[0, 1, 2, 3], [1, -1, 3, 2]], lambda x: x[:1, 1:, 2:5, 3:5])
    yield from plain("SLICE of all", "SLICE", x, [[0, 0, 0, 0], [2, -1, 6, 8]], lambda x: x * 1)
    for shape, axes in (((2, 1, 1, 5), [1, 2]), ((2, 3, 4, 1), [3]), ((1, 3, 1, 5), [-2]), ((1, 3, 1, 5), [0, 2])):
        left = [size for d, size in enumerate(shape) if d not in {a % 4 for a in axes}]
        yield from plain(f"SQUEEZE {axes} of {shape}", "SQUEEZE", numbers(*shape), [axes], lambda x, left=left: x.reshape(left))
    for block, channels in ((2, 8), (3, 9), (1, 3)):
        image = numbers(2, channels, 3, 4)

        def want(x, b=block):
            n, c, h, w = x.shape
            return x.reshape(n, b, b, c // b // b, h, w).permute(0, 3, 4, 1, 5, 2).reshape(n, c // b // b, h * b, w * b)

        yield Case(f"DEPTH_TO_SPACE {block}", "DEPTH_TO_SPACE", [image], [block, FLAG], want, True)
        yield Case(f"DEPTH_TO_SPACE {block}, quantized", "DEPTH_TO_SPACE", [quant(image)], [block, FLAG], want, True)
        yield Case(f"DEPTH_TO_SPACE {block}, no flag", "DEPTH_TO_SPACE", [image], [block], want, True, after=True)
    for axis, groups in ((3, 2), (-1, 4), (1, 2), (2, 3), (0, 2), (3, 1), (3, 8)):
        def want(x, axis=axis % 4, groups=groups):
            sizes = list(x.shape)
            apart = sizes[:axis] + [groups, sizes[axis] // groups] + sizes[axis + 1:]
            return x.reshape(apart).transpose(axis, axis + 1).reshape(sizes)

        yield from plain(f"CHANNEL_SHUFFLE at {axis} in {groups}", "CHANNEL_SHUFFLE", x, [groups, axis], want)


def cases():
    torch.manual_seed(33)
    for family in (layers, pools, resizes, functions, moves):
        yield from family()
