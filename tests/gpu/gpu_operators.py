#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gpu_operators.py TAPER [--filter EXPRESSION]: compares small models on the GPU, each kernel at awkward sizes, with PyTorch. The name of the
device ends with "!", so a node that the GPU cannot run is a failure. --half: use half precision, with the tolerance of rounding to halves in memory. TAPER_GPU names the
device (vulkan:llvmpipe). --module FOLDER: use the Python binding in that folder and run all cases in one process, which compiles each kernel once.
This is faster with drivers that compile a kernel for seconds."""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling
import gpu_dtypes
import gpu_quantized

CASES = []
STEPS = ("conv_Hardshrink", "two_remainder", "two_remainder_number", "two_remainder_behind")


def case(name, function, *inputs, bound=1e-4):
    """inputs: sizes of random inputs, or tensors."""
    CASES.append((name, function, inputs, bound))


class Calls(nn.Module):
    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)


def layers(name, *modules, shape):
    case(name, nn.Sequential(*modules), shape)


def convolutions():
    for channels in (1, 3, 4, 5, 17, 32):
        for out in (1, 3, 8, 17):
            layers(f"conv1x1_{channels}_{out}", nn.Conv2d(channels, out, 1), shape=(1, channels, 7, 5))
    for kernel in (1, 2, 3, 5, 7):
        for stride in (1, 2, 3):
            layers(f"conv{kernel}s{stride}", nn.Conv2d(6, 10, kernel, stride, kernel // 2), shape=(2, 6, 17, 13))
    layers("conv_dilated", nn.Conv2d(8, 12, 3, padding=4, dilation=4), shape=(1, 8, 19, 17))
    layers("conv_no_bias", nn.Conv2d(8, 12, 3, padding=1, bias=False), shape=(1, 8, 9, 9))
    layers("conv_rectangle", nn.Conv2d(5, 7, (3, 1), (2, 1), (1, 0)), shape=(1, 5, 12, 9))
    layers("conv_same", nn.Conv2d(5, 7, 4, padding="same"), shape=(1, 5, 12, 9))
    layers("conv_large", nn.Conv2d(64, 96, 3, padding=1), shape=(1, 64, 28, 28))
    for padding in (0, 1, 2):  # convolutions that use Winograd's transforms
        layers(f"conv_winograd{padding}", nn.Conv2d(33, 45, 3, padding=padding), nn.ReLU(), shape=(2, 33, 27, 25))
    layers("conv_winograd_silu", nn.Conv2d(32, 36, 3, padding=1), nn.SiLU(), nn.Conv2d(36, 64, 3, padding=1), shape=(1, 32, 29, 34))
    for groups in (2, 3, 4, 6):
        layers(f"conv_groups{groups}", nn.Conv2d(12, 24, 3, padding=1, groups=groups), shape=(1, 12, 9, 7))
    layers("conv_groups_many", nn.Conv2d(32, 64, 3, padding=1, groups=16), shape=(2, 32, 9, 7))
    layers("conv1d", nn.Conv1d(6, 9, 5, 2, 2), shape=(2, 6, 33))
    for kernel in (3, 5, 7):
        for stride in (1, 2):
            layers(f"depthwise{kernel}s{stride}", nn.Conv2d(9, 9, kernel, stride, kernel // 2, groups=9), shape=(2, 9, 15, 11))
    layers("depthwise_dilated", nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8), shape=(1, 8, 15, 11))
    for stride in (1, 2, 3):
        layers(f"conv_transposed_s{stride}", nn.ConvTranspose2d(6, 10, 3, stride, 1), shape=(2, 6, 7, 5))
    layers("conv_transposed_more", nn.ConvTranspose2d(8, 12, (4, 3), 2, (1, 0), output_padding=1, groups=2, dilation=2), nn.ReLU(), shape=(1, 8, 7, 5))
    layers("conv_transposed_depthwise", nn.ConvTranspose2d(6, 6, 3, 2, 1, groups=6), shape=(1, 6, 7, 5))
    layers("conv_transposed1d", nn.ConvTranspose1d(6, 9, 4, 2), shape=(2, 6, 11))
    layers("conv_norm", nn.Conv2d(5, 9, 3), nn.BatchNorm2d(9), nn.ReLU6(), shape=(1, 5, 11, 11))
    layers("norm_alone", nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 3, 1), shape=(2, 6, 5, 5))
    for name in ("Hardswish", "Hardsigmoid", "Sigmoid", "SiLU", "Tanh", "GELU", "LeakyReLU", "ELU", "Mish", "Softplus", "PReLU", "Hardshrink"):
        layers(f"conv_{name}", nn.Conv2d(5, 9, 3, padding=1), getattr(nn, name)(), shape=(1, 5, 9, 9))

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 1)

        def forward(self, x):
            return F.relu(self.a(x) + x) + F.relu(self.b(x) * self.a(x))

    case("residual", Residual(), (1, 8, 9, 7))

    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.norm = nn.Conv2d(40, 40, 3, padding=1), nn.Conv2d(40, 40, 3, padding=1, bias=False), nn.BatchNorm2d(40)

        def forward(self, x):
            return F.relu(self.norm(self.b(F.relu(self.a(x)))) + x)

    case("residual_winograd", Wide(), (1, 40, 30, 27))

    class Squeeze(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 3, 1), nn.Conv2d(3, 8, 1)

        def forward(self, x):
            y = F.hardswish(self.a(x))
            return F.hardsigmoid(self.c(F.relu(self.b(F.adaptive_avg_pool2d(y, 1))))) * y

    case("squeeze_excite", Squeeze(), (2, 8, 9, 7))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.anchor = nn.Conv2d(1, 1, 1)

    def forward(self, *x):
        return self.function(*x)


class Recurrent(nn.Module):
    """Returns all results as one tensor."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        out, states = self.network(x)
        states = states if isinstance(states, tuple) else (states,)
        return torch.cat([out.reshape(1, -1)] + [s.reshape(1, -1) for s in states], 1)


class Halves(nn.Module):
    """Makes ranges on the CPU. Their lengths are computed from sizes of the GPU's result, also with negative numbers."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x: torch.Tensor):
        y = self.conv(x)
        return y, torch.arange(-(-y.size(2) // 2)), torch.arange(y.size(3) % 3 + y.size(1))


class Channels(nn.Module):
    """Shuffles channels in the two common forms: with sizes requested one at a time, and together."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 12, 1), nn.Conv2d(6, 6, 3, padding=1)

    def forward(self, x):
        y = self.a(x)
        n, c, h, w = y.shape
        y = y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, -1, h, w)
        one, two = y.chunk(2, dim=1)
        z = torch.cat([one, self.b(two)], 1)
        z = z.reshape(z.size(0), z.size(1) // 3, 3, z.size(2), z.size(3)).permute(0, 2, 1, 3, 4)
        return z.reshape(z.shape[0], -1, z.shape[3], z.shape[4])


class Scores(nn.Module):
    """Attention whose scale is computed from sizes, in several ways; it must be one part of the network."""

    def __init__(self, way: int):
        super().__init__()
        self.way, self.qkv, self.out = way, nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).reshape(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4).unbind(0)
        more = 1.0
        if self.way == 0:
            q = q * (c // 4) ** -0.5
        elif self.way == 1:
            q = q / math.sqrt(q.size(-1))
        else:
            q = q * (1.0 / math.sqrt(float(k.size(-1))))
            more = 0.5 * (t / 2) * float(max(t, 3))
        y = torch.softmax(torch.matmul(q, k.transpose(-2, -1)), -1) @ v
        return self.out(y.transpose(1, 2).reshape(b, t, c))[:, -min(t, 3):] * more


class Sequence(nn.Module):
    """A network whose weights, if it is scripted, are items of a list that is an attribute."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        y, _ = self.network(x)
        return y * 2


class Tokens(nn.Module):
    """Uses lists of sizes: slices of them, and their items."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 8)

    def forward(self, x):
        y = self.a(x)
        sizes = y.shape[:-1]
        z = y.reshape(sizes[0] * sizes[1], y.shape[-1])
        return (z * (y.size(-1) - 1)).view(sizes[0], -1, 4) + len(sizes)


def sizes_outside(x):
    """Operators of the CPU need sizes of results of the GPU."""
    padded = F.pad(x.relu(), (0, 1))
    mask = padded.new_zeros((padded.shape[2], padded.shape[3]))
    mask[1:, :2] = 1
    return padded * 2 + mask


def grows(x, channels):
    """Layers that use all earlier results."""
    parts = [x.relu()]
    for i in range(4):
        parts.append(torch.cat(parts, 1)[:, i:i + channels] * (i + 2))
    return torch.cat(parts, 1) + 1, torch.cat(parts[:3], 1)


def functions():
    """Functions after a convolution, so that the segment is large enough for the GPU."""
    for kind in ("scripted", "lite"):
        case(f"{kind}_channels", (kind, Channels()), (2, 3, 5, 7))
        case(f"{kind}_tokens", (kind, Tokens()), (2, 4, 6))
        for way in range(3):
            case(f"{kind}_scores{way}", (kind, Scores(way)), (2, 9, 16))
        case(f"{kind}_lstm", (kind, Sequence(nn.LSTM(6, 8, 2, bidirectional=True))), (5, 3, 6))
        case(f"{kind}_gru", (kind, Sequence(nn.GRU(6, 5))), (5, 3, 6))
    pools = {"max3s2": nn.MaxPool2d(3, 2, 1), "max2": nn.MaxPool2d(2), "max_dilated": nn.MaxPool2d(3, 1, 1, 2),
             "max_ceil": nn.MaxPool2d(3, 2, ceil_mode=True), "avg3s2": nn.AvgPool2d(3, 2, 1),
             "avg_without": nn.AvgPool2d(3, 2, 1, count_include_pad=False), "avg_ceil": nn.AvgPool2d(3, 2, 1, ceil_mode=True),
             "avg_divisor": nn.AvgPool2d(3, 2, 1, divisor_override=5), "adaptive1": nn.AdaptiveAvgPool2d(1),
             "adaptive3": nn.AdaptiveAvgPool2d((3, 5)), "bilinear": nn.Upsample(size=(23, 19), mode="bilinear", align_corners=False),
             "bilinear_corners": nn.Upsample(size=(23, 19), mode="bilinear", align_corners=True),
             "bilinear_scale": nn.Upsample(scale_factor=1.7, mode="bilinear"), "nearest": nn.Upsample(scale_factor=2),
             "nearest_size": nn.Upsample(size=(20, 11))}
    for name, module in pools.items():
        layers(f"pool_{name}", nn.Conv2d(3, 6, 1), module, shape=(2, 3, 13, 11))
    images = {
        "flatten": lambda x: x.flatten(1), "view": lambda x: x.view(x.shape[0], -1), "view_parts": lambda x: x.view(2, 4, 2, 7, 5),
        "permute": lambda x: x.permute(0, 2, 3, 1) * 2, "tokens": lambda x: x.flatten(2).transpose(1, 2) + 1,
        "mean_space": lambda x: x.mean([2, 3]), "mean_keep": lambda x: x.mean([2, 3], keepdim=True), "mean_channels": lambda x: x.mean(1),
        "mean_all": lambda x: x.mean(), "sum_rows": lambda x: x.sum(2), "amax": lambda x: x.amax([2, 3]), "amin": lambda x: x.amin(1, keepdim=True),
        "softmax_channels": lambda x: x.softmax(1), "softmax_columns": lambda x: x.softmax(-1), "log_softmax": lambda x: x.log_softmax(1),
        "slice": lambda x: x[:, :, 1:5, ::2], "slice_channels": lambda x: x[:, 3:6], "slice_vectors": lambda x: x[:, 4:], "slice_every_second": lambda x: x[:, 1::2] + x[:, ::2, :, :], "power": lambda x: (x.pow(2) + 1).pow(0.5) * (x.abs() + 1).pow(-0.5),
        "size_scale": lambda x: x * (x.size(1) // 3) ** -0.5, "pad_to_multiple": lambda x: F.pad(x, (0, (4 - x.size(3) % 4) % 4)), "expand_as": lambda x: x[:, :1].expand_as(x) + x,
        "dropout_none": lambda x: F.dropout(x, 0.0, True) * 2,
        "select": lambda x: x[:, :, 2] + x[:, :, 3], "select_channel": lambda x: x[:, 5], "cat_channels": lambda x: torch.cat([x, x * 2], 1),
        "cat_odd": lambda x: torch.cat([x[:, :3], x, x[:, :1]], 1), "cat_made": lambda x: torch.cat([x.relu(), F.max_pool2d(x, 3, 1, 1), x], 1) + 1,
        "cat_rows": lambda x: torch.cat([x, x * 2], 2), "chunk": lambda x: x.chunk(2, 1)[0] * x.chunk(2, 1)[1],
        "pad": lambda x: F.pad(x, (1, 2, 3, 0)), "pad_value": lambda x: F.pad(x, (1, 0, 0, 0, 1, 2), value=2.5),
        "broadcast_channel": lambda x: x * x[:, :1], "broadcast_space": lambda x: x + x.mean([2, 3], keepdim=True),
        "scalars": lambda x: (x * 3 + 1) / 2 - 5, "reverse": lambda x: 1 - x, "chain": lambda x: (x.exp() + 1).log().abs().sqrt(),
        "max_min": lambda x: torch.maximum(x, x * 2).minimum(x * 0.5), "expand": lambda x: x[:, :, :1].expand(-1, -1, 7, -1) + x,
        "shuffle": lambda x: x.view(2, 2, 4, 7, 5).transpose(1, 2).contiguous().view(2, 8, 7, 5) * 2,
        "clamp": lambda x: x.clamp(-0.5, 0.7), "trigonometry": lambda x: x.sin() + x.cos(), "erf": lambda x: torch.erf(x),
        "pad_reflect": lambda x: F.pad(x, (2, 3, 1, 4), mode="reflect"), "pad_replicate": lambda x: F.pad(x, (2, 6, 9, 4), mode="replicate"),
        "pad_circular": lambda x: F.pad(x, (2, 5, 7, 4), mode="circular"), "pad_cut_reflect": lambda x: F.pad(x, (-1, 3, 2, -2), mode="reflect"),
        "stack_front": lambda x: torch.stack([x, x * 2, x + 1]).sum(0), "stack_channels": lambda x: torch.stack([x, x * 2], 2),
        "stack_last": lambda x: torch.stack([x, x * 2], -1), "flip": lambda x: x.flip([2, 3]) * 2, "flip_channels": lambda x: x.flip([1]),
        "flip_all": lambda x: x.flip([0, 1, 2, 3]), "roll": lambda x: torch.roll(x, (2, -3), (2, 3)) + x, "roll_channels": lambda x: torch.roll(x, 3, 1),
        "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2), "pixel_unshuffle": lambda x: F.pixel_unshuffle(x[:, :, :6, :4], 2),
        "channel_shuffle": lambda x: torch.channel_shuffle(x, 4), "channel_shuffle2": lambda x: torch.channel_shuffle(x, 2) * 2,
        "full": lambda x: x + torch.full((1, 8, 1, 5), 2.5), "full_like": lambda x: torch.cat([torch.full_like(x, -1.5)[:, :3], x], 1),
        "ones": lambda x: x[:, :3] * 2 + torch.ones(1, 3, 7, 1), "zeros": lambda x: torch.cat([x.new_zeros(2, 1, 7, 5), x], 1),
        "lerp": lambda x: torch.lerp(x, x * 2, 0.3), "lerp_tensor": lambda x: torch.lerp(x, x * 2, x.sigmoid()), "glu": lambda x: F.glu(x, 1),
        "glu_rows": lambda x: F.glu(x[:, :, :6], 2), "addcmul": lambda x: torch.addcmul(x, x, x.sigmoid(), value=0.5),
        "group_norm": lambda x: F.group_norm(x, 2), "group_norm8": lambda x: F.group_norm(x, 8),
        "instance_norm": lambda x: F.instance_norm(x), "cumsum_channels": lambda x: x.cumsum(1), "cumsum_rows": lambda x: x.cumsum(2),
        "repeat": lambda x: x.repeat(1, 2, 1, 3), "repeat_batch": lambda x: x.repeat(2, 1, 1, 1) * 2, "repeat_odd": lambda x: x[:, :3].repeat(1, 3, 4, 1),
        "repeat_more": lambda x: x.repeat(2, 1, 1, 2, 1), "repeat_truths": lambda x: x * (x[:, :, :1] > 0).repeat(1, 1, 7, 1), "repeat_splat": lambda x: x[:, :1].repeat(1, 5, 1, 1),
        "expand_copy": lambda x: x[:, :1].expand(-1, 5, -1, -1).contiguous() + 1, "expand_last": lambda x: x[..., :1].expand(-1, -1, -1, 9).clone() * x[:, :, :, 1:2],
        "cumsum_columns": lambda x: x.cumsum(3), "add_relu": lambda x: torch.ops.aten._add_relu(x, x.sin(), alpha=-0.5) * 2,
        "add_relu_number": lambda x: torch.ops.aten._add_relu(x, 0.25), "add_relu_swapped": lambda x: torch.ops.aten._add_relu(x[:, :1], x),
        "add_relu_in_place": lambda x: torch.ops.aten._add_relu_(x * 2, F.max_pool2d(x, 3, 1, 1)), "add_relu_nan": lambda x: torch.ops.aten._add_relu(x.log(), x),
    }
    # In-place forms use the rules of their functional rows, except forms that write bools as numbers or change sizes.
    in_place = {"sin": lambda y, x: y.sin_(), "addcmul": lambda y, x: y.addcmul_(x, x, value=2.0), "clamp": lambda y, x: y.clamp_(min=x, max=x + 1),
                "floor": lambda y, x: y.div_(x.abs() + 1, rounding_mode="floor"),
                "equal": lambda y, x: y.round_().eq_(x.round()), "less": lambda y, x: y.lt_(x), "not": lambda y, x: y.relu_().logical_not_(),
                "transpose": lambda y, x: y.transpose_(2, 3), "unsqueeze": lambda y, x: y.unsqueeze_(1)}
    images.update({f"in_place_{name}": lambda x, f=f: f(x * 2 + 0.5, x) * 3 + 1 for name, f in in_place.items()})
    for name, function in images.items():
        case(f"image_{name}", ("traced", nn.Conv2d(3, 8, 1), function), (2, 3, 7, 5))
    rows = {
        "linear": lambda x: x * 1, "layer_norm": lambda x: F.layer_norm(x, (18,)), "softmax": lambda x: x.softmax(-1),
        "softmax_rows": lambda x: x.softmax(1), "matmul": lambda x: x @ x.transpose(1, 2), "matmul_values": lambda x: (x @ x.transpose(-2, -1)) @ x,
        "heads": lambda x: x.view(2, 11, 3, 6).transpose(1, 2).reshape(2, 11, 18), "bmm": lambda x: torch.bmm(x.transpose(1, 2), x),
        "cat_tokens": lambda x: torch.cat([x[:, :1], x], 1), "mean_last": lambda x: x.mean(-1), "mean_tokens": lambda x: x.mean(1),
        "first": lambda x: x[:, 0], "gelu": lambda x: F.gelu(x), "add_row": lambda x: x + x[:1, :1], "unsqueeze": lambda x: x.unsqueeze(1) * 2,
        "cumsum": lambda x: x.cumsum(-1), "cumsum_tokens": lambda x: x.cumsum(1), "glu": lambda x: F.glu(x), "flip": lambda x: x.flip([-1]), "roll": lambda x: torch.roll(x, 5, -1),
        "repeat": lambda x: x.repeat(1, 3, 1), "repeat_last": lambda x: x[:, :, :7].repeat(1, 1, 3), "repeat_front": lambda x: x.repeat(3, 2, 1, 1),
        "group_norm": lambda x: F.group_norm(x.transpose(1, 2), 3), "stack": lambda x: torch.stack([x, x * 2], 1),
    }
    for name, function in rows.items():
        case(f"row_{name}", ("traced", nn.Linear(7, 18), function), (2, 11, 7))

    class Attention(nn.Module):
        def __init__(self, heads, size):
            super().__init__()
            self.heads, self.qkv, self.out = heads, nn.Linear(size, 3 * size), nn.Linear(size, size)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
            y = ((q * 0.25) @ k.transpose(-2, -1)).softmax(-1) @ v
            return self.out(y.transpose(1, 2).reshape(b, t, c))

    case("attention", Attention(3, 24), (2, 13, 24))
    case("attention_odd", Attention(2, 12), (1, 5, 12))
    layers("group_norm_weights", nn.Conv2d(3, 12, 1), nn.GroupNorm(3, 12), nn.ReLU(), nn.Conv2d(12, 4, 3), nn.GroupNorm(2, 4), shape=(2, 3, 9, 7))
    layers("instance_norm_weights", nn.Conv2d(3, 10, 1), nn.InstanceNorm2d(10, affine=True), nn.ReLU(), nn.Conv2d(10, 4, 3), shape=(2, 3, 9, 7))
    for kind in (nn.LSTM, nn.GRU):
        for name, options in {"": {}, "_first": {"batch_first": True}, "_both": {"bidirectional": True, "num_layers": 2}, "_plain": {"bias": False}}.items():
            for hidden in (8, 5):
                case(f"{kind.__name__.lower()}{name}{hidden}", Recurrent(kind(6, hidden, **options)), (5, 3, 6))
    layers("classifier", nn.Conv2d(3, 17, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(17, 10), shape=(3, 3, 9, 9))
    layers("linear_rank1", nn.Linear(9, 5), nn.ReLU(), nn.Linear(5, 3), shape=(1, 9))


def build(function, xs):
    if isinstance(function, tuple) and function[0] in ("scripted", "lite"):
        return torch.jit.script(function[1].eval())
    if isinstance(function, tuple):
        _, layer, then = function

        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = layer

            def forward(self, x):
                return then(self.layer(x))
        return torch.jit.trace(Both().eval(), xs, check_trace=False)
    return torch.jit.trace(function.eval(), xs, check_trace=False)


def difference(got, want, bound):
    """Returns a text about the difference of two arrays, or None if they agree. NaN, infinities and bools must be equal."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {got.shape} for {want.dtype} {want.shape}"
    if got.dtype != np.float32:
        return None if np.array_equal(got, want) else f"{(got != want).sum()} of {got.size} differ"
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "other infinities, or other NaN"
    largest = np.abs(want[finite]).max(initial=0)
    error = np.abs(got[finite].astype("f8") - want[finite]).max(initial=0)
    return None if error <= bound * largest + 1e-5 else f"off by {error:.3g} of {largest:.3g}"


def by_program(taper, path, xs, device, half, options=None):
    """Returns (the results, or None after an error, the program's output)."""
    folder, given = os.path.dirname(path), []
    for i, x in enumerate(xs):
        np.save(os.path.join(folder, f"x{i}.npy"), x)
        given += ["-i", os.path.join(folder, f"x{i}.npy")]
    out = os.path.join(folder, "y.npz")
    run = subprocess.run([taper, "run", path, *given, "-o", out, "--device", device + "!", "--precision", "fp16" if half else "fp32", "--verbose",
                          *(["--device-options", options] if options else [])],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return None, f"{(run.stderr.strip() or '?').splitlines()[-1][:200]} ({run.returncode})"
    results = np.load(out)
    return [results[key] for key in sorted(results.files)], run.stderr


def by_module(taper, path, xs, device, half, options=None):
    try:
        options = ",".join(filter(None, ("half=1" if half else None, options))) or None
        results = taper.load(path, device=device + "!", device_options=options)(*xs)
        return [np.asarray(one) for one in (results if isinstance(results, (tuple, list)) else (results,))], ""
    except taper.Error as error:
        return None, str(error)[:200]


class DeepHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.attention = nn.Linear(160, 160), nn.MultiheadAttention(160, 2, batch_first=True)

    def forward(self, x):
        x = self.before(x)
        m = self.attention
        return torch._native_multi_head_attention(x, x, x, 160, 2, m.in_proj_weight, m.in_proj_bias, m.out_proj.weight, m.out_proj.bias,
                                                  need_weights=False)[0] + 1


def later():
    """Added after all older cases, so that the older cases keep their random numbers. Arguments of a remainder must not be near a multiple of the
    divisor, where the remainder jumps."""
    for kind in ("scripted", "lite"):
        case(f"{kind}_halves", (kind, Halves()), (2, 3, 7, 9))
    images = {
        "unflatten": lambda x: x.unflatten(1, (-1, 2)) * 2, "narrow": lambda x: x.narrow(2, 1, 2) * 2,
        "swapaxes": lambda x: x.swapaxes(1, -1) * 2, "swapdims": lambda x: x.swapdims(2, 3) + 1,
        "normalize": lambda x: F.normalize(x, dim=1), "normalize_last": lambda x: F.normalize(x, dim=-1) + x.norm(2, [2, 3], True),
        "vector_norm": lambda x: torch.linalg.vector_norm(x, dim=(1, 3)), "sizes_outside": sizes_outside,
        "einsum_dots": lambda x: torch.einsum("bchd,bckd->bchk", x, x.cos()),
        "einsum_plain": lambda x: torch.einsum("b c h d, b c d k -> b c h k", x, x.sin().transpose(2, 3)),
        "cat_grows": lambda x: grows(x, 4), "cat_grows_odd": lambda x: grows(x, 3),
        "cat_truths": lambda x: (torch.cat([x > 0, x], 1), torch.stack([x < 0, x.sin()], 2), torch.cat([x > 1, x < -1], 1))}
    images["scale_recomputed"] = lambda x: tuple(F.interpolate(x, scale_factor=s, mode=mode, recompute_scale_factor=True) * 2
                                                 for s in (2.5, 0.6) for mode in ("bilinear", "nearest"))
    # Scales that keep a size, or double it.
    for mode in ("bilinear", "nearest"):
        scaled = lambda x, mode=mode: tuple(F.interpolate(x, scale_factor=s, mode=mode) for s in ((1.1, 1.7), (1.7, 1.15), (2.1, 2.1), (1.1, 1.15)))
        images.update({f"scale_{mode}": scaled, f"scale_{mode}_one": lambda x, scaled=scaled: scaled(x.mean(1, keepdim=True))})
    # Functions of zero and of numbers below zero.
    images.update({f"outside_{f.__name__}": lambda x, f=f: f(torch.cat([x * 0.1 + 1, x - 9, x.relu() * 0, x.relu() * -0.0], 1))
                   for f in (torch.log, torch.log2, torch.log1p, torch.sqrt, torch.rsqrt)})
    # In-place forms use the rules of their functional rows, except forms that write bools as numbers or change sizes.
    in_place = {"sin": lambda y, x: y.sin_(), "addcmul": lambda y, x: y.addcmul_(x, x, value=2.0), "clamp": lambda y, x: y.clamp_(min=x, max=x + 1),
                "floor": lambda y, x: y.div_(x.abs() + 1, rounding_mode="floor"),
                "equal": lambda y, x: y.round_().eq_(x.round()), "less": lambda y, x: y.lt_(x), "not": lambda y, x: y.relu_().logical_not_(),
                "transpose": lambda y, x: y.transpose_(2, 3), "unsqueeze": lambda y, x: y.unsqueeze_(1)}
    images.update({f"in_place_{name}": lambda x, f=f: f(x * 2 + 0.5, x) * 3 + 1 for name, f in in_place.items()})
    for name, function in images.items():
        case(f"image_{name}", ("traced", nn.Conv2d(3, 8, 1), function), (2, 3, 7, 5))

    # This model needs more rows of threads than the number of workgroups that every device supports.
    case("image_many", ("traced", nn.Conv2d(3, 4, 1), lambda x: F.max_pool2d(x, 3, 1, 1).sigmoid() * 2), (1, 3, 740, 740))

    # Heads of 80 numbers are too large for the kernel that computes attention in one dispatch. The weights of
    # conv_heavy are larger than lavapipe's buffers.
    case("deep_heads", DeepHeads(), (2, 5, 160))
    case("deep_product", ("traced", nn.Linear(7, 160), lambda x: F.scaled_dot_product_attention(x, x.sin(), x.cos())
                          if hasattr(F, "scaled_dot_product_attention") else torch._C._nn._scaled_dot_product_attention(x, x.sin(), x.cos())[0]),
         (2, 3, 9, 7))
    layers("conv_heavy", nn.Conv2d(2000, 17000, 1), nn.ReLU(), shape=(1, 2000, 1, 3))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("--filter", default="")
    parser.add_argument("--half", action="store_true", help="half precision")
    parser.add_argument("--options", help="of the device, as of `taper run --device-options`")
    parser.add_argument("--keep", help="a folder for the models")
    parser.add_argument("--module", help="a folder with the Python binding")
    args = parser.parse_args()
    device = os.environ.get("TAPER_GPU", "vulkan:llvmpipe")
    run, what = by_program, args.taper
    if args.module:
        sys.path.insert(0, args.module)
        run, what = by_module, __import__("taper")
    torch.manual_seed(1)
    convolutions()
    functions()
    gpu_dtypes.add(case)
    later()
    passed = failed = 0
    folder = args.keep or tempfile.mkdtemp()
    for name, function, inputs, bound in CASES:
        # With --half, cases of functions with steps are omitted, because rounding makes large differences there, and so
        # are values outside the range.
        if not re.search(args.filter, name) or not (args.filter or sampling.taken(name)) or (args.half and (name in STEPS or name.startswith("far_"))):
            continue
        xs = tuple(one if isinstance(one, torch.Tensor) else torch.randn(*one) for one in inputs)
        with torch.no_grad():
            for module in function.modules() if isinstance(function, nn.Module) else []:
                if isinstance(module, nn.BatchNorm2d):
                    module.running_mean.uniform_(-0.3, 0.3)
                    module.running_var.uniform_(0.5, 1.5)
            model = build(function, xs)
            want = model(*xs)
        path = os.path.join(folder, "m.pt")
        if isinstance(function, tuple) and function[0] == "lite":  # a "lite" case is saved as bytecode, in which values have no types
            model._save_for_lite_interpreter(path)
        else:
            model.save(path)
        got, said = run(what, path, [x.numpy() for x in xs], device, args.half, args.options)
        if got is None:
            print(f"{name}: {said}", flush=True)
            failed += 1
            continue
        bound = 2**-8 if args.half else bound  # tolerance for the rounding of inputs, weights and results, and for the growth of these errors in layers
        want = want if isinstance(want, tuple) else (want,)
        wrong = [difference(one, other.numpy(), bound) for one, other in zip(got, want)]
        wrong = [text for text in wrong if text] + [f"{len(got)} results"] * (len(got) != len(want))
        if name.startswith(("scripted_", "lite_")) and not name.endswith(("_lstm", "_gru")) and said.count(" dispatches of ") > 1:
            wrong.append(f"{said.count(' dispatches of ')} parts")
        if wrong:
            print(f"{name}: {'; '.join(wrong)}")
            failed += 1
        else:
            passed += 1
    if re.search(args.filter, "refusals"):
        failed += gpu_dtypes.refusals(args.taper, device, folder)
    if not args.half:  # quantized models do not run in half precision
        more = gpu_quantized.check(args.taper, device, folder, args.filter)
        passed, failed = passed + more[0], failed + more[1]
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
