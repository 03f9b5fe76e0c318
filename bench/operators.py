#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""operators.py TAPER [--filter TEXT] [--threads N] [--rounds R] [--over RATIO] [--any-blas]

Measures one operator per row, at sizes of real models, in Taper and in PyTorch's lite interpreter, with an optimized BLAS (torch_blas.py). Both
have the same file and inputs, and alternate, each in its own process (PyTorch's runs for all rows). Results are compared first. Prints the medians
in microseconds and the median of the ratios; --over prints only rows with a larger ratio. Pin the script to a core (taskset -c 1) for one thread.
Needs python3-torch, and python3-torchvision for the rows of boxes."""
import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch
from torch.nn import functional as F

import torch_blas

WORKER = r"""
import json, sys, time
import numpy as np, torch
from torch.jit.mobile import _load_for_lite_interpreter
try:
    import torchvision
except ImportError:
    pass
torch.set_num_threads(int(sys.argv[1]))
now = time.perf_counter
for line in sys.stdin:
    path, *files = json.loads(line)
    m = _load_for_lite_interpreter(path)
    x = [torch.from_numpy(np.load(p)) for p in files]
    times = []
    with torch.inference_mode():
        for _ in range(5):
            m(*x)
        begin = now()
        while len(times) < 15 or (now() - begin < 0.15 and len(times) < 1000):
            t = now(); m(*x); times.append(now() - t)
    print(json.dumps(sorted(times)[len(times) // 2] * 1e6), flush=True)
"""


def image(*sizes):
    return torch.randn(*sizes)


def cases():
    """Rows of (name, function, inputs)."""
    x, row, seq = image(1, 64, 56, 56), image(1, 1000), image(1, 197, 768)
    rows, wide, ids = image(512, 512), image(64, 4096), torch.randint(0, 512, (512, 512))
    signal = image(1, 16000)
    prelu, group, instance = torch.nn.PReLU(64), torch.nn.GroupNorm(8, 64), torch.nn.InstanceNorm2d(64, affine=True)
    layer = torch.nn.LayerNorm(768)
    depth = torch.nn.BatchNorm2d(64).eval()
    stem, few, grouped = torch.nn.Conv2d(3, 64, 7, 2, 3), torch.nn.Conv2d(4, 8, 3, padding=1), torch.nn.Conv2d(64, 64, 3, padding=1, groups=8)
    same, conv1d = torch.nn.Conv2d(64, 64, 3, padding="same"), torch.nn.Conv1d(64, 64, 3, padding=1)
    strip = image(1, 64, 2048)
    grid = torch.rand(1, 56, 56, 2) * 2 - 1
    yield "sum, all", lambda x: x.sum(), [x]
    yield "sum, last", lambda x: x.sum(-1), [rows]
    yield "sum, first", lambda x: x.sum(0), [rows]
    yield "mean, space", lambda x: x.mean([2, 3]), [x]
    yield "mean, channels", lambda x: x.mean(1), [x]
    yield "mean, last", lambda x: x.mean(-1), [seq]
    yield "amax, last", lambda x: x.amax(-1), [rows]
    yield "amax, first", lambda x: x.amax(0), [rows]
    yield "max, dim", lambda x: torch.max(x, 1)[0], [rows]
    yield "max, channels", lambda x: torch.max(x, 1)[1], [x]
    yield "argmax, channels", lambda x: x.argmax(1), [image(1, 21, 224, 224)]
    yield "var, last", lambda x: x.var(-1), [seq]
    yield "norm, last", lambda x: x.norm(dim=-1), [seq]
    yield "prod, last", lambda x: x.prod(-1), [rows]
    yield "any, last", lambda x: (x > 3).any(-1), [rows]
    yield "logsumexp", lambda x: x.logsumexp(1), [rows]
    yield "softmax, last", lambda x: x.softmax(-1), [seq]
    yield "softmax, short", lambda x: x.softmax(-1), [image(4096, 16)]
    yield "softmax, channels", lambda x: x.softmax(1), [image(1, 21, 224, 224)]
    yield "log_softmax, last", lambda x: x.log_softmax(-1), [row]
    yield "log_softmax, channels", lambda x: x.log_softmax(1), [x]
    yield "cumsum, last", lambda x: x.cumsum(-1), [rows]
    yield "cumsum, first", lambda x: x.cumsum(0), [rows]
    yield "cumprod, last", lambda x: x.cumprod(-1), [rows]
    yield "cummax, last", lambda x: x.cummax(-1)[0], [rows]
    yield "gather, last", lambda x, i: x.gather(1, i), [rows, ids]
    yield "gather, first", lambda x, i: x.gather(0, i), [rows, ids]
    yield "index_select", lambda x, i: x.index_select(0, i), [rows, ids[0]]
    yield "scatter", lambda x, i: x.scatter(1, i, 1.0), [rows, ids]
    yield "where", lambda x: torch.where(x > 0, x, x * 0.1), [x]
    yield "where, number", lambda x: torch.where(x > 0, x, torch.zeros(1)), [x]
    yield "masked_fill", lambda x: x.masked_fill(x > 0, -1.0), [x]
    yield "masked_select", lambda x: x.masked_select(x > 0), [x]
    yield "nonzero", lambda x: (x > 1).nonzero(), [rows]
    yield "topk", lambda x: x.topk(5)[0], [row]
    yield "sort", lambda x: x.sort(-1)[0], [rows]
    yield "to uint8", lambda x: (x * 10).to(torch.uint8), [x.abs()]
    yield "to int64", lambda x: x.to(torch.int64), [x]
    yield "clamp", lambda x: x.clamp(0, 1), [x]
    yield "prelu", prelu, [x]
    yield "leaky_relu", lambda x: F.leaky_relu(x, 0.1), [x]
    yield "elu", F.elu, [x]
    yield "gelu", F.gelu, [seq]
    yield "silu", F.silu, [x]
    yield "hardswish", F.hardswish, [x]
    yield "sigmoid", torch.sigmoid, [x]
    yield "tanh", torch.tanh, [x]
    yield "exp", torch.exp, [x]
    yield "pow 2", lambda x: x ** 2, [x]
    yield "pow 0.5", lambda x: x.abs() ** 0.5, [x]
    yield "add, channels", lambda x: x + x[:, :, :1, :1], [x]
    yield "mul, last", lambda x: x * x[:, :1], [seq]
    yield "batch_norm", depth, [x]
    yield "group_norm", group, [x]
    yield "instance_norm", instance, [x]
    yield "layer_norm", layer, [seq]
    yield "max_pool1d", lambda x: F.max_pool1d(x, 3, 2), [strip]
    yield "avg_pool1d", lambda x: F.avg_pool1d(x, 3, 2), [strip]
    yield "adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 16), [strip]
    yield "max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1), [x]
    yield "avg_pool2d", lambda x: F.avg_pool2d(x, 2), [x]
    yield "adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, 7), [x]
    yield "avg_pool3d", lambda x: F.avg_pool3d(x, 2), [image(1, 16, 16, 32, 32)]
    yield "max_pool3d", lambda x: F.max_pool3d(x, 2), [image(1, 16, 16, 32, 32)]
    yield "bilinear", lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), [x]
    yield "nearest", lambda x: F.interpolate(x, scale_factor=2.0), [x]
    yield "grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), [x, grid]
    yield "stft", lambda x: torch.view_as_real(torch.stft(x, 400, 160, 400, torch.ones(400), return_complex=True)), [signal]
    yield "fft", lambda x: torch.view_as_real(torch.fft.rfft(x)), [image(64, 1024)]
    yield "complex abs", lambda x: torch.view_as_complex(x).abs(), [image(512, 512, 2)]
    yield "conv 7x7 stem", stem, [image(1, 3, 224, 224)]
    yield "conv, few channels", few, [image(1, 4, 112, 112)]
    yield "conv, groups", grouped, [x]
    yield "conv, same", same, [x]
    yield "conv1d", conv1d, [strip]
    yield "linear, one row", torch.nn.Linear(1024, 1000), [image(1, 1024)]
    yield "linear, rows", torch.nn.Linear(768, 768), [seq]
    yield "matmul, heads", lambda q: q @ q.transpose(-1, -2), [image(1, 12, 197, 64)]
    yield "einsum", lambda a: torch.einsum("bhid,bhjd->bhij", a, a), [image(1, 12, 197, 64)]
    yield "cat, channels", lambda x: torch.cat([x, x], 1), [x]
    yield "transpose", lambda x: x.transpose(1, 2).contiguous(), [seq]
    yield "permute", lambda x: x.permute(0, 2, 3, 1).contiguous(), [x]
    yield "pad", lambda x: F.pad(x, (1, 1, 1, 1)), [x]
    yield "pad, reflect", lambda x: F.pad(x, (1, 1, 1, 1), "reflect"), [x]
    yield "pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), [x]
    yield "unfold", lambda x: F.unfold(x, 3), [image(1, 16, 56, 56)]
    yield "embedding", lambda i: F.embedding(i, rows), [ids[:4]]
    yield "one_hot", lambda i: F.one_hot(i, 512), [ids[0]]
    yield "flip", lambda x: x.flip(-1), [x]
    yield "roll", lambda x: torch.roll(x, (3, 3), (2, 3)), [x]
    yield "sum of products", lambda x: (x * x).sum((2, 3)), [x]
    yield "bmm", torch.bmm, [image(12, 197, 64), image(12, 64, 197)]
    yield "eq", lambda x: x == 0, [x]
    yield "int add", lambda i: i + i, [ids]
    yield "int mul", lambda i: i * 3, [ids]


def more_cases():
    """Rows of operators that are less common in models than the operators above, and of further layouts and dtypes."""
    x, rows, seq = image(1, 64, 56, 56), image(512, 512), image(1, 197, 768)
    last = x.contiguous(memory_format=torch.channels_last)
    ids, bytes_, flags = torch.randint(0, 512, (512, 512)), torch.randint(0, 256, (1, 3, 224, 224), dtype=torch.uint8), rows > 0
    small = torch.randint(-100, 100, (512, 512), dtype=torch.int32)
    volume = image(1, 16, 16, 32, 32)
    wide, strip = image(64, 4096), image(1, 64, 2048)
    norm2, batch1 = torch.nn.LayerNorm(64), torch.nn.BatchNorm2d(64).eval()
    gain = torch.nn.Parameter(torch.rand(768), requires_grad=False)
    up = torch.nn.ConvTranspose2d(64, 32, 2, 2)
    up3, up1 = torch.nn.ConvTranspose2d(64, 32, 3, 2, 1, 1), torch.nn.ConvTranspose1d(64, 32, 4, 2, 1)
    wave, strided1 = torch.nn.Conv1d(1, 32, 9, 2), torch.nn.Conv1d(64, 64, 5, 2, 2)
    depth1 = torch.nn.Conv1d(64, 64, 7, padding=3, groups=64)
    dilated1 = torch.nn.Conv1d(64, 64, 3, padding=4, dilation=4)
    conv3, depth3 = torch.nn.Conv3d(16, 16, 3, padding=1), torch.nn.Conv3d(16, 16, 3, padding=1, groups=16)
    regnet, resnext = torch.nn.Conv2d(128, 128, 3, padding=1, groups=8), torch.nn.Conv2d(128, 128, 3, padding=1, groups=32)
    regnet2 = torch.nn.Conv2d(128, 128, 3, stride=2, padding=1, groups=8)
    shuffle = torch.nn.Conv2d(64, 64, 1, groups=4)
    gray, eight = torch.nn.Conv2d(1, 8, 5, padding=2), torch.nn.Conv2d(8, 16, 3, padding=1)
    rgb = torch.nn.Conv2d(16, 3, 3, padding=1)
    strided = torch.nn.Conv2d(3, 32, 3, 2, 1)
    cell, gru_cell = torch.nn.LSTMCell(128, 256).requires_grad_(False), torch.nn.GRUCell(128, 256)
    lstm, gru = torch.nn.LSTM(128, 128).requires_grad_(False), torch.nn.GRU(128, 128).requires_grad_(False)
    classes = torch.randint(0, 1000, (64,))
    points = image(256, 16)
    edges = torch.linspace(-3, 3, 65)
    boxes = torch.rand(1000, 4) * 200
    boxes[:, 2:] += boxes[:, :2] + 1
    regions = torch.cat([torch.zeros(100, 1), boxes[:100]], 1)
    scores = torch.rand(1000)
    yield "mean, space, last", lambda x: x.mean([2, 3]), [last]
    yield "sum, short", lambda x: x.sum(-1), [image(4096, 16)]
    yield "sum, int", lambda i: i.sum(-1), [ids]
    yield "max, all", lambda x: x.max(), [rows]
    yield "min, dim", lambda x: torch.min(x, 0), [rows]
    yield "argmax, last", lambda x: x.argmax(-1), [rows]
    yield "argmax, all", lambda x: x.argmax(), [rows]
    yield "argmax, int", lambda x: x.argmax(-1), [small]
    yield "amax, middle", lambda x: x.amax((1, 2)), [x]
    yield "any, all", lambda x: (x > 3).any(), [rows]
    yield "all, first", lambda f: f.all(0), [flags]
    yield "prod, first", lambda x: x.prod(0), [rows]
    yield "std, space", lambda x: x.std((2, 3)), [x]
    yield "var, channels", lambda x: x.var(1), [x]
    yield "norm, first", lambda x: x.norm(dim=0), [rows]
    yield "norm, all", lambda x: x.norm(), [rows]
    yield "normalize", lambda x: F.normalize(x, dim=1), [x]
    yield "cosine", lambda x: F.cosine_similarity(x, x * 2, dim=-1), [seq]
    yield "cosine, channels", lambda x: F.cosine_similarity(x, x * 2, dim=1), [x]
    yield "count_nonzero", lambda f: f.sum(), [flags]
    yield "median", lambda x: x.median(-1)[0], [wide]
    yield "softmax, shorter", lambda x: x.softmax(-1), [image(4096, 5)]
    yield "softmax, heads", lambda x: x.softmax(-1), [image(12, 64, 64)]
    yield "softmax, first", lambda x: x.softmax(0), [rows]
    yield "softmax, last channels", lambda x: x.softmax(1), [last]
    yield "log_softmax, nll", lambda x, c: F.nll_loss(F.log_softmax(x, 1), c), [image(64, 1000), classes]
    yield "cross_entropy", lambda x, c: F.cross_entropy(x, c), [image(64, 1000), classes]
    yield "mse", lambda x: F.mse_loss(x, x * 0.5), [x]
    yield "smooth_l1", lambda x: F.smooth_l1_loss(x, x * 0.5), [x]
    yield "huber", lambda x: F.huber_loss(x, x * 0.5), [x]
    yield "bce, logits", lambda x: F.binary_cross_entropy_with_logits(x, x.sigmoid()), [x]
    yield "kl_div", lambda x: F.kl_div(x, x.softmax(1)), [image(64, 1000)]
    yield "cumsum, int", lambda i: i.cumsum(-1), [ids]
    yield "logcumsumexp", lambda x: x.logcumsumexp(-1), [rows]
    yield "gather, rows", lambda x, i: x.gather(1, i), [image(512, 64), ids[:, :64] % 64]
    yield "index_select, last", lambda x, i: x.index_select(-1, i), [rows, ids[0]]
    yield "index_select, channels", lambda x, i: x.index_select(1, i), [x, ids[0, :64] % 64]
    yield "index", lambda x, i: x[i], [rows, ids[0]]
    yield "index, two", lambda x, i: x[i, i], [rows, ids[0]]
    yield "index, last", lambda x, i: x[:, i], [rows, ids[0]]
    yield "index, mask", lambda x: x[x > 0.5], [rows]
    yield "index_put", lambda x, i: x.index_put((i,), torch.zeros(1)), [rows, ids[0]]
    yield "index_add", lambda x, i: x.index_add(0, i, x), [rows, ids[0]]
    yield "scatter_add", lambda x, i: x.scatter_add(1, i, x), [rows, ids]
    yield "take", lambda x, i: x.take(i * 500), [rows, ids]
    yield "embedding, wide", lambda i: F.embedding(i, wide), [ids[0] % 64]
    yield "embedding_bag", lambda i: F.embedding_bag(i, rows), [ids[:64, :32]]
    yield "where, bool", lambda f, x: torch.where(f, x, -x), [flags, rows]
    yield "where, broadcast", lambda f, x: torch.where(f, x, x * 2), [image(1, 1, 56, 56) > 0, x]
    yield "masked_fill, broadcast", lambda f, x: x.masked_fill(f, -1e9), [image(1, 1, 64, 64) > 0, image(1, 12, 64, 64)]
    yield "masked_fill, first", lambda f, x: x.masked_fill(f, 0.0), [image(512, 1) > 0, rows]
    yield "nonzero, bool", lambda f: f.nonzero(), [flags]
    yield "topk, 100", lambda x: x.topk(100)[0], [image(1, 16384)]
    yield "topk, rows", lambda x: x.topk(5), [rows]
    yield "argsort", lambda x: x.argsort(-1), [image(1, 4096)]
    yield "sort, all", lambda x: x.sort(-1, descending=True), [image(16384)]
    yield "sort, int", lambda i: i.sort(-1)[0], [ids]
    yield "sort, first", lambda x: x.sort(0)[0], [rows]
    yield "unique", lambda i: torch.unique(i), [ids]
    yield "bucketize", lambda x: torch.bucketize(x, edges), [rows]
    yield "searchsorted", lambda x: torch.searchsorted(edges, x), [rows]
    yield "histc", lambda x: x.histc(64, -3, 3), [rows]
    yield "bincount", lambda i: torch.bincount(i), [ids.flatten()]
    yield "uint8 to float", lambda b: b.float(), [bytes_]
    yield "uint8 normalize", lambda b: (b.float() / 255 - 0.5) / 0.25, [bytes_]
    yield "int8 to float", lambda b: b.to(torch.float32), [bytes_.to(torch.int8)]
    yield "int64 to float", lambda i: i.float(), [ids]
    yield "bool to float", lambda f: f.float(), [flags]
    yield "to int32", lambda x: x.to(torch.int32), [x]
    yield "to double", lambda x: x.double(), [x]
    yield "to bool", lambda x: x.bool(), [x]
    yield "int32 to int64", lambda x: x.long(), [small]
    yield "half to float", lambda x: x.float(), [x.half()]
    yield "float to half", lambda x: x.half(), [x]
    yield "int32 to float64", lambda i: i.double(), [small]
    yield "uint8 to bool", lambda b: b.bool(), [bytes_]
    yield "half add", lambda x: x + x, [rows.half()]
    yield "isnan", torch.isnan, [x]
    yield "isfinite", torch.isfinite, [x]
    yield "lt", lambda x: x < 0.5, [x]
    yield "ge, two", lambda x: x >= x * 2, [x]
    yield "int eq", lambda i: i == 3, [ids]
    yield "int lt", lambda i: i < 100, [small]
    yield "and", lambda f: f & ~f, [flags]
    yield "logical_not", lambda f: ~f, [flags]
    yield "logical_and", lambda x: torch.logical_and(x, x * 2), [rows]
    yield "int32 add", lambda i: i + i, [small]
    yield "int32 mul", lambda i: i * 3, [small]
    yield "int16 sub", lambda i: i - i, [small.to(torch.int16)]
    yield "int32 clamp", lambda i: i.clamp(10, 100), [small]
    yield "int32 div", lambda i: torch.div(i, 7, rounding_mode="floor"), [small]
    yield "uint8 lt", lambda b: b < 100, [bytes_]
    yield "bool eq", lambda f: f == ~f, [flags]
    yield "where, int", lambda f, i: torch.where(f, i, -i), [flags, ids]
    yield "int div", lambda i: torch.div(i, 7, rounding_mode="floor"), [ids]
    yield "int remainder", lambda i: i % 7, [ids]
    yield "int and", lambda i: i & 15, [ids]
    yield "int clamp", lambda i: i.clamp(10, 100), [ids]
    yield "int and float", lambda i, x: i * x, [ids, rows]
    yield "uint8 add", lambda b: b + b, [bytes_]
    yield "floor", torch.floor, [x]
    yield "round", torch.round, [x]
    yield "neg", lambda x: -x, [x]
    yield "abs", torch.abs, [x]
    yield "sign", torch.sign, [x]
    yield "log", torch.log, [x.abs() + 0.1]
    yield "log1p", torch.log1p, [x.abs()]
    yield "sin", torch.sin, [x]
    yield "cos", torch.cos, [x]
    yield "atan2", torch.atan2, [x, x + 1]
    yield "atan", torch.atan, [x]
    yield "tan", torch.tan, [x]
    yield "acos", torch.acos, [x.tanh()]
    yield "sinh", torch.sinh, [x]
    yield "log2", torch.log2, [x.abs()]
    yield "erfc", torch.erfc, [x]
    yield "erfinv", torch.erfinv, [x.tanh()]
    yield "logaddexp", torch.logaddexp, [x, x + 1]
    yield "xlogy", torch.xlogy, [x, x.abs()]
    yield "hypot", torch.hypot, [x, x + 1]
    yield "sqrt", torch.sqrt, [x.abs()]
    yield "rsqrt", torch.rsqrt, [x.abs() + 0.1]
    yield "reciprocal", torch.reciprocal, [x]
    yield "erf", torch.erf, [x]
    yield "mish", F.mish, [x]
    yield "softplus", F.softplus, [x]
    yield "gelu, tanh", lambda x: F.gelu(x, approximate="tanh"), [seq]
    yield "selu", F.selu, [x]
    yield "logsigmoid", F.logsigmoid, [x]
    yield "hardsigmoid", F.hardsigmoid, [x]
    yield "relu", F.relu, [x]
    yield "relu6", F.relu6, [x]
    yield "glu", lambda x: F.glu(x, 1), [x]
    yield "pow, tensor", lambda x: torch.pow(x, x), [x.abs()]
    yield "pow 3", lambda x: x ** 3, [x]
    yield "pow -1", lambda x: x ** -1, [x.abs() + 1]
    yield "pow of 2", lambda x: 2 ** x, [x]
    yield "pow 1.7", lambda x: x ** 1.7, [x.abs()]
    yield "exp, last", torch.exp, [last]
    yield "maximum", lambda x: torch.maximum(x, x * 2), [x]
    yield "minimum, number", lambda x: torch.minimum(x, torch.ones(1)), [x]
    yield "fmod", lambda x: torch.fmod(x, 0.7), [x]
    yield "remainder", lambda x: x % 0.7, [x]
    yield "floor_divide", lambda x: torch.div(x, 0.7, rounding_mode="floor"), [x]
    yield "lerp", lambda x: torch.lerp(x, x * 2, 0.3), [x]
    yield "addcmul", lambda x: torch.addcmul(x, x, x, value=0.5), [x]
    yield "clamp, tensors", torch.clamp, [x, x - 1, x + 1]
    yield "add, alpha", lambda x: torch.add(x, x, alpha=0.5), [x]
    yield "add, bias", lambda x: x + gain, [seq]
    yield "add, column", lambda x: x + x[:, :1], [rows]
    yield "add, transposed", lambda x: x + x.t(), [rows]
    yield "mul, last channels", lambda x: x * x[:, :, :1, :1], [last]
    yield "add, mixed layouts", lambda x, y: x + y, [x, last]
    yield "add, small", lambda x: x + x, [image(1, 64)]
    yield "double add", lambda x: x + x, [rows.double()]
    yield "complex mul", lambda x: torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(x)), [image(512, 256, 2)]
    yield "complex angle", lambda x: torch.view_as_complex(x).angle(), [image(128, 256, 2)]
    yield "complex div", lambda x: torch.view_as_real(torch.view_as_complex(x) / torch.view_as_complex(x + 1)), [image(512, 256, 2)]
    yield "polar", lambda x: torch.view_as_real(torch.polar(x.abs(), x)), [image(128, 256)]
    yield "batch_norm, last", batch1, [last]
    yield "layer_norm, short", norm2, [image(3136, 64)]
    yield "rms", lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * gain, [seq]
    yield "max_pool2d, 2", lambda x: F.max_pool2d(x, 2), [x]
    yield "max_pool2d, last", lambda x: F.max_pool2d(x, 3, 2, 1), [last]
    yield "max_pool2d, same", lambda x: F.max_pool2d(x, 5, 1, 2), [x]
    yield "avg_pool2d, same", lambda x: F.avg_pool2d(x, 3, 1, 1), [x]
    yield "adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, 7), [x]
    yield "max_pool2d, indices", lambda x: F.max_pool2d(x, 2, return_indices=True), [x]
    yield "lp_pool2d", lambda x: F.lp_pool2d(x, 2, 2), [x]
    yield "bilinear, last", lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), [last]
    yield "bilinear, corners", lambda x: F.interpolate(x, (40, 40), mode="bilinear", align_corners=True), [x]
    yield "bilinear, rgb", lambda x: F.interpolate(x, (320, 320), mode="bilinear"), [image(1, 3, 224, 224)]
    yield "nearest, last", lambda x: F.interpolate(x, scale_factor=2.0), [last]
    yield "bicubic", lambda x: F.interpolate(x, scale_factor=2.0, mode="bicubic"), [image(1, 3, 112, 112)]
    yield "bicubic, last", lambda x: F.interpolate(x, (112, 112), mode="bicubic"), [last]
    yield "linear resize", lambda x: F.interpolate(x, 4096, mode="linear"), [strip]
    yield "trilinear", lambda x: F.interpolate(x, scale_factor=2.0, mode="trilinear"), [image(1, 8, 8, 32, 32)]
    yield "bilinear, antialias", lambda x: F.interpolate(x, (96, 96), mode="bilinear", antialias=True), [image(1, 3, 224, 224)]
    yield "grid_sample, rgb", lambda x, g: F.grid_sample(x, g, align_corners=False), [image(1, 3, 112, 112), torch.rand(1, 112, 112, 2) * 2 - 1]
    yield "grid_sample, last", lambda x, g: F.grid_sample(x, g, align_corners=False), [last, torch.rand(1, 56, 56, 2) * 2 - 1]
    yield "grid_sample, nearest", lambda x, g: F.grid_sample(x, g, "nearest", align_corners=True), [x, torch.rand(1, 56, 56, 2) * 2 - 1]
    yield "affine_grid", lambda t: F.affine_grid(t, (1, 3, 112, 112), align_corners=False), [image(1, 2, 3)]
    yield "irfft", lambda x: torch.fft.irfft(torch.view_as_complex(x)), [image(64, 513, 2)]
    yield "rfft, one line", lambda x: torch.view_as_real(torch.fft.rfft(x)), [image(1, 16384)]
    yield "fft, complex", lambda x: torch.view_as_real(torch.fft.fft(torch.view_as_complex(x))), [image(64, 512, 2)]
    yield "fft, 2d", lambda x: torch.view_as_real(torch.fft.rfft2(x)), [image(4, 128, 128)]
    yield "stft, 512", lambda x: torch.stft(x, 512, 128, 512, torch.hann_window(512), return_complex=True).abs(), [image(1, 16000)]
    yield "conv, regnet", regnet, [image(1, 128, 28, 28)]
    yield "conv, regnet, stride", regnet2, [image(1, 128, 56, 56)]
    yield "conv, resnext", resnext, [image(1, 128, 28, 28)]
    yield "conv, groups, last", resnext, [image(1, 128, 28, 28).contiguous(memory_format=torch.channels_last)]
    yield "conv 1x1, groups", shuffle, [x]
    yield "conv, gray", gray, [image(1, 1, 112, 112)]
    yield "conv, 8 to 16", eight, [image(1, 8, 112, 112)]
    yield "conv, to rgb", rgb, [image(1, 16, 112, 112)]
    yield "conv, 3x3 stem", strided, [image(1, 3, 224, 224)]
    yield "conv1d, wave", wave, [image(1, 1, 16000)]
    yield "conv1d, stride", strided1, [strip]
    yield "conv1d, depthwise", depth1, [strip]
    yield "conv1d, dilated", dilated1, [strip]
    yield "conv_transpose2d", up, [x]
    yield "conv_transpose2d, 3", up3, [x]
    yield "conv_transpose1d", up1, [strip]
    yield "conv3d", conv3, [volume]
    yield "conv3d, depthwise", depth3, [volume]
    yield "matmul, context", lambda p, v: p @ v, [image(1, 12, 197, 197), image(1, 12, 197, 64)]
    yield "matmul, small", torch.matmul, [image(32, 16, 16), image(32, 16, 16)]
    yield "matmul, vector", torch.matmul, [image(1024, 1024), image(1024)]
    yield "baddbmm", lambda a, b: torch.baddbmm(image(1), a, b, beta=0.0, alpha=0.125), [image(12, 197, 64), image(12, 64, 197)]
    yield "einsum, outer", lambda a: torch.einsum("bi,bj->bij", a, a), [image(64, 64)]
    yield "einsum, nhwpqc", lambda a: torch.einsum("nhwpqc->nchpwq", a), [image(1, 16, 16, 8, 8, 16)]
    yield "linear, tokens", lambda x: F.linear(x, rows[:64]), [image(1, 16, 512)]
    yield "lstm cell", lambda x: cell(x)[0], [image(1, 128)]
    yield "gru cell", gru_cell, [image(1, 128)]
    yield "lstm", lambda x: lstm(x)[0], [image(32, 1, 128)]
    yield "gru", lambda x: gru(x)[0], [image(32, 1, 128)]
    yield "cat, last", lambda x: torch.cat([x, x], -1), [rows]
    yield "cat, channels, last", lambda x: torch.cat([x, x], 1), [last]
    yield "cat, many", lambda x: torch.cat([x] * 16, 0), [image(1, 64)]
    yield "stack", lambda x: torch.stack([x, x, x], -1), [rows]
    yield "stack, first", lambda x: torch.stack([x, x, x]), [rows]
    yield "chunk, cat", lambda x: torch.cat(x.chunk(2, 1)[::-1], 1), [x]
    yield "channel shuffle", lambda x: x.view(1, 2, 32, 56, 56).transpose(1, 2).reshape(1, 64, 56, 56), [x]
    yield "to NCHW", lambda x: x.contiguous(), [last]
    yield "transpose, int", lambda i: i.t().contiguous(), [ids]
    yield "transpose, uint8", lambda b: b.permute(0, 2, 3, 1).contiguous(), [bytes_]
    yield "transpose, heads", lambda x: x.view(1, 197, 12, 64).transpose(1, 2).contiguous(), [seq]
    yield "permute, 5", lambda x: x.permute(0, 3, 2, 4, 1).contiguous(), [volume]
    yield "slice, strided", lambda x: x[:, :, ::2, ::2].contiguous(), [x]
    yield "pad, replicate", lambda x: F.pad(x, (1, 1, 1, 1), "replicate"), [x]
    yield "pad, circular", lambda x: F.pad(x, (1, 1, 1, 1), "circular"), [x]
    yield "pad, last", lambda x: F.pad(x, (1, 1, 1, 1)), [last]
    yield "pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), [x]
    yield "pixel_shuffle, last", lambda x: F.pixel_shuffle(x, 2), [last]
    yield "fold", lambda x: F.fold(x, (56, 56), 3, padding=1), [image(1, 144, 3136)]
    yield "unfold, padded", lambda x: F.unfold(x, 3, padding=1, stride=2), [x]
    yield "unfold, dim", lambda x: x.unfold(-1, 400, 160).contiguous(), [image(1, 16000)]
    yield "flip, rows", lambda x: x.flip(2), [x]
    yield "flip, bytes", lambda b: b.flip(-1), [bytes_]
    yield "repeat", lambda x: x.repeat(1, 2, 1, 1), [x]
    yield "repeat, last", lambda x: x.repeat(1, 3), [rows]
    yield "expand", lambda x: x.expand(64, 64, 56, 56)[:8].contiguous(), [image(1, 64, 1, 56)]
    yield "repeat_interleave", lambda x: x.repeat_interleave(2, 1), [rows]
    yield "tril", torch.tril, [rows]
    yield "triu", lambda x: torch.triu(x, 1), [image(12, 128, 128)]
    yield "tril, ones", lambda x: torch.tril(torch.ones(256, 256)) * x, [image(256, 256)]
    yield "zeros", lambda x: torch.zeros(512, 512) + x, [image(1)]
    yield "arange", lambda x: torch.arange(0, 65536) + x, [torch.tensor(3)]
    yield "meshgrid", lambda x: torch.stack(torch.meshgrid(x, x)), [image(256)]
    yield "clone", lambda x: x.clone(), [x]
    yield "copy into slice", lambda x: x.clone().index_fill_(1, torch.tensor([0, 5]), 0.0), [rows]
    yield "diagonal", lambda x: torch.diag_embed(x), [image(64, 64)]
    yield "cdist", lambda a: torch.cdist(a, a * 2), [points]
    yield "cdist, wide", lambda a: torch.cdist(a, a * 2), [image(256, 128)]
    yield "dist, l1", lambda a: torch.cdist(a, a, p=1.0), [points]
    yield "pdist", F.pdist, [points]
    yield "inverse", torch.inverse, [torch.eye(32) * 4 + torch.rand(32, 32)]
    try:
        import torchvision
    except ImportError:
        return
    yield "nms", lambda b, s: torch.ops.torchvision.nms(b, s, 0.5), [boxes, scores]
    yield "roi_align", lambda x, r: torch.ops.torchvision.roi_align(x, r, 0.25, 7, 7, 2, True), [x, regions]


def rarer_cases():
    """Rows of operators that sort, count, move or combine elements, without the operators of the functions above."""
    x, rows, seq = image(1, 64, 56, 56), image(512, 512), image(1, 197, 768)
    wide, ids = image(64, 4096), torch.randint(0, 512, (512, 512))
    codes, runs = torch.randint(0, 1 << 40, (20000,)), torch.arange(65536) // 7
    voxels = torch.randint(0, 20, (4096, 3))
    edges = torch.linspace(-3, 3, 65)
    volume = image(1, 16, 16, 32, 32)
    theta = torch.eye(3, 4)[None] + 0.1 * image(1, 3, 4)
    corners = torch.rand(1000, 4) * 200
    corners[:, 2:] += corners[:, :2] + 1
    regions = torch.cat([torch.zeros(100, 1), corners[:100]], 1)
    yield "unique, floats", lambda x: torch.unique(x), [image(20000)]
    yield "unique, codes", lambda i: torch.unique(i), [codes]
    yield "unique, inverse", lambda i: torch.unique(i, return_inverse=True, return_counts=True), [ids]
    yield "unique, few", lambda i: torch.unique(i), [ids[0, :100]]
    yield "unique, rows", lambda i: torch.unique(i, dim=0, return_inverse=True), [voxels]
    yield "unique_consecutive", lambda i: torch.unique_consecutive(i), [runs]
    yield "isin", lambda i: torch.isin(i, i[0] * 3), [ids]
    yield "median, all", lambda x: x.median(), [wide]
    yield "median, short", lambda x: x.median(-1)[0], [image(4096, 9)]
    yield "median, first", lambda x: x.median(0)[0], [wide]
    yield "nanmedian", lambda x: x.nanmedian(-1)[0], [wide]
    yield "kthvalue", lambda x: x.kthvalue(100, -1), [wide]
    yield "mode", lambda i: i.mode(-1)[0], [ids]
    yield "quantile", lambda x: x.quantile(0.9, dim=-1), [wide]
    yield "topk, all sorted", lambda x: x.topk(512), [rows]
    yield "topk, anchors", lambda x: x.topk(1000), [image(1, 159882)]
    yield "topk, int", lambda i: i.topk(5)[0], [ids]
    yield "topk, channels", lambda x: x.topk(3, 1), [x]
    yield "argsort, short", lambda x: x.argsort(-1), [image(4096, 8)]
    yield "argsort, scores", lambda x: x.argsort(-1, descending=True), [torch.rand(20000)]
    yield "sort, stable", lambda x: torch.sort(x, stable=True, dim=-1), [rows]
    yield "sort, uint8", lambda b: b.sort(-1)[0], [ids.to(torch.uint8)]
    yield "searchsorted, rows", lambda x: torch.searchsorted(x, x), [torch.arange(4096.0).expand(16, 4096).contiguous()]
    yield "bucketize, int", lambda i: torch.bucketize(i, ids[0].sort()[0]), [ids]
    yield "histogram", lambda x: torch.histogram(x, 64, range=(-3.0, 3.0))[0], [rows]
    yield "bincount, weights", lambda i, x: torch.bincount(i, x, 600), [ids.flatten(), rows.flatten()]
    yield "put", lambda x, i: x.put(i, x), [rows, ids * 500]
    yield "index_copy", lambda x, i: x.index_copy(0, i, x), [rows, ids[0]]
    yield "index_copy, last", lambda x, i: x.index_copy(1, i, x), [rows, ids[0]]
    yield "index_fill", lambda x, i: x.index_fill(0, i, 1.0), [rows, ids[0, :100]]
    yield "index_add, last", lambda x, i: x.index_add(1, i, x), [rows, ids[0]]
    yield "index_put, add", lambda x, i: x.index_put((i,), x, accumulate=True), [rows, ids[0]]
    yield "index_put, mask", lambda x: x.index_put((x > 0,), torch.zeros(())), [rows]
    yield "scatter, source", lambda x, i: x.scatter(1, i, x * 2), [rows, ids]
    yield "scatter, first", lambda x, i: x.scatter(0, i, x), [rows, ids]
    yield "scatter_add, first", lambda x, i: x.scatter_add(0, i, x), [rows, ids]
    yield "scatter_reduce", lambda x, i: x.scatter_reduce(1, i, x, "amax"), [rows, ids]
    yield "take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), [rows, ids]
    yield "embedding_bag, offsets", lambda i: F.embedding_bag(i.flatten(), rows, torch.arange(0, 2048, 32), mode="sum"), [ids[:64, :32]]
    yield "embedding_bag, max", lambda i: F.embedding_bag(i, rows, mode="max"), [ids[:64, :32]]
    yield "masked_scatter", lambda x: x.masked_scatter(x > 0, x), [rows]
    yield "masked_fill, int", lambda i: i.masked_fill(i > 100, 7), [ids]
    yield "repeat_interleave, first", lambda x: x.repeat_interleave(2, 0), [rows]
    yield "repeat_interleave, counts", lambda x, i: x.repeat_interleave(i, 0), [rows, ids[0] % 4]
    yield "roll, flat", lambda x: torch.roll(x, 100), [rows]
    yield "roll, rows", lambda x: torch.roll(x, 7, 0), [rows]
    yield "flip, two", lambda x: x.flip(2, 3), [x]
    yield "rot90", lambda x: torch.rot90(x, 1, (2, 3)), [x]
    yield "tril, batch", torch.tril, [image(12, 197, 197)]
    yield "tril, bool", torch.tril, [torch.ones(512, 512, dtype=torch.bool)]
    yield "tril_indices", lambda x: torch.tril_indices(64, 64) + x, [torch.tensor(1)]
    yield "one_hot, image", lambda i: F.one_hot(i, 21), [ids[:224, :224] % 21]
    yield "cdist, rectangle", lambda a, b: torch.cdist(a, b), [image(20, 64), image(400, 64)]
    yield "pairwise_distance", lambda a: F.pairwise_distance(a, a * 2), [image(512, 128)]
    yield "einsum, vectors", lambda a: torch.einsum("i,j->ij", a, a), [image(512)]
    yield "einsum, linear", lambda a: torch.einsum("bsd,ed->bse", a, rows), [image(4, 32, 512)]
    yield "einsum, sum", lambda a: torch.einsum("bij->bj", a), [image(4, 128, 256)]
    yield "einsum, diagonal", lambda a: torch.einsum("ii->i", a), [rows]
    yield "einsum, product", lambda a: torch.einsum("bij,bij->b", a, a), [image(4, 128, 256)]
    yield "einsum, context", lambda p, v: torch.einsum("bhij,bhjd->bhid", p, v), [image(1, 12, 64, 64), image(1, 12, 64, 64)]
    yield "einsum, relative", lambda q: torch.einsum("bhwc,hkc->bhwk", q, q[0]), [image(12, 14, 14, 64)]
    yield "einsum, three", lambda a: torch.einsum("bi,ij,bj->b", a, rows, a), [image(64, 512)]
    yield "tensordot", lambda a: torch.tensordot(a, rows, 1), [image(4, 32, 512)]
    yield "tensordot, two", lambda a: torch.tensordot(a, a, ([1, 2], [1, 2])), [image(16, 32, 64)]
    yield "outer", torch.outer, [image(512), image(512)]
    yield "addr", lambda x, a: torch.addr(x, a, a), [rows, image(512)]
    yield "addmm", torch.addmm, [image(512), image(64, 512), rows]
    yield "addmm, transposed", lambda x, a: torch.addmm(x, a, a.t()), [image(197), image(197, 64)]
    yield "addmm, first transposed", lambda x, a: torch.addmm(x, a.t(), a), [image(64), image(197, 64)]
    yield "mm, beta", lambda x, a: torch.addmm(x, a, a, beta=0.5, alpha=2), [image(128, 128), image(128, 128)]
    yield "baddbmm, bias", lambda c, a, b: torch.baddbmm(c, a, b), [image(12, 64, 64), image(12, 64, 64), image(12, 64, 64)]
    yield "addbmm", lambda c, a, b: torch.addbmm(c, a, b), [image(64, 64), image(12, 64, 64), image(12, 64, 64)]
    yield "bmm, vectors", torch.bmm, [image(64, 1, 128), image(64, 128, 1)]
    yield "bmm, one row", torch.bmm, [image(12, 1, 64), image(12, 64, 197)]
    yield "mv", torch.mv, [rows, image(512)]
    yield "dot", torch.dot, [image(4096), image(4096)]
    yield "vector, matrix", torch.matmul, [image(512), rows]
    yield "matmul, double", torch.matmul, [image(64, 64).double(), image(64, 64).double()]
    yield "matmul, int", torch.matmul, [ids[:64, :64], ids[:64, :64]]
    yield "chain_matmul", lambda a: torch.linalg.multi_dot([a, a, a]), [image(64, 64)]
    yield "kron", torch.kron, [image(16, 16), image(16, 16)]
    yield "affine_grid, batch", lambda t: F.affine_grid(t, (8, 3, 64, 64), align_corners=True), [image(8, 2, 3)]
    yield "affine_grid, volume", lambda t: F.affine_grid(t, (1, 3, 16, 32, 32), align_corners=False), [theta]
    yield "grid_sample, border", lambda x, g: F.grid_sample(x, g, padding_mode="border", align_corners=False), [x, torch.rand(1, 56, 56, 2) * 3 - 1.5]
    yield "grid_sample, reflection", lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=False), [x, torch.rand(1, 56, 56, 2) * 3 - 1.5]
    yield "grid_sample, bicubic", lambda x, g: F.grid_sample(x, g, "bicubic", align_corners=False), [x, torch.rand(1, 56, 56, 2) * 2 - 1]
    yield "grid_sample, volume", lambda x, g: F.grid_sample(x, g, align_corners=False), [image(1, 8, 16, 16, 16), torch.rand(1, 16, 16, 16, 3) * 2 - 1]
    yield "bilinear, half", lambda x: F.interpolate(x, scale_factor=0.5, mode="bilinear"), [x]
    yield "bilinear, mask", lambda x: F.interpolate(x, (224, 224), mode="bilinear"), [image(1, 21, 28, 28)]
    yield "nearest, half", lambda x: F.interpolate(x, scale_factor=0.5), [x]
    yield "nearest, exact", lambda x: F.interpolate(x, (80, 80), mode="nearest-exact"), [x]
    yield "nearest, line", lambda x: F.interpolate(x, 4096), [image(1, 64, 2048)]
    yield "nearest, volume", lambda x: F.interpolate(x, scale_factor=2.0), [volume]
    yield "nearest, uint8", lambda b: F.interpolate(b, (112, 112)), [torch.randint(0, 256, (1, 3, 224, 224), dtype=torch.uint8)]
    yield "area", lambda x: F.interpolate(x, (14, 14), mode="area"), [x]
    yield "bicubic, antialias", lambda x: F.interpolate(x, (96, 96), mode="bicubic", antialias=True), [image(1, 3, 224, 224)]
    yield "trilinear, corners", lambda x: F.interpolate(x, (24, 48, 48), mode="trilinear", align_corners=True), [image(1, 8, 16, 32, 32)]
    yield "pad, reflect 1d", lambda x: F.pad(x, (200, 200), "reflect"), [image(1, 1, 16000)]
    yield "pad, reflect 3d", lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), "reflect"), [volume]
    yield "pad, replicate 1d", lambda x: F.pad(x, (3, 3), "replicate"), [image(1, 64, 2048)]
    yield "pad, replicate 3d", lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), "replicate"), [volume]
    yield "pad, one side", lambda x: F.pad(x, (0, 1, 0, 1)), [x]
    yield "fold, patches", lambda x: F.fold(x, (224, 224), 16, stride=16), [image(1, 768, 196)]
    yield "unfold, patches", lambda x: F.unfold(x, 16, stride=16), [image(1, 3, 224, 224)]
    yield "unfold, two", lambda x: x.unfold(2, 7, 7).unfold(3, 7, 7).contiguous(), [x]
    yield "roi_pool", lambda x, r: torch.ops.torchvision.roi_pool(x, r, 0.25, 7, 7), [x, regions]
    yield "ps_roi_align", lambda x, r: torch.ops.torchvision.ps_roi_align(x, r, 0.25, 4, 4, 2), [x, regions]
    yield "roi_align, one", lambda x, r: torch.ops.torchvision.roi_align(x, r, 0.25, 7, 7, 2, False), [x, regions[:1]]


def further_cases():
    """Rows of operators that the functions above do not have: rare arithmetic, losses, matrices, composite operators, further dtypes and
    dimensions."""
    x, rows, seq, strip = image(1, 64, 56, 56), image(512, 512), image(1, 197, 768), image(1, 64, 2048)
    last = x.contiguous(memory_format=torch.channels_last)
    ids = torch.randint(0, 512, (512, 512))
    small, bytes_ = ids.to(torch.int32), torch.randint(0, 256, (1, 3, 224, 224), dtype=torch.uint8)
    volume, matrices = image(1, 16, 16, 32, 32), image(16, 32, 32)
    definite = matrices @ matrices.transpose(1, 2) + torch.eye(32)
    square = image(64, 64) + torch.eye(64) * 8
    logits, classes = image(64, 1000), torch.randint(0, 1000, (64,))
    pair = image(256, 256, 2)
    pooled, indices = F.max_pool2d(x, 2, return_indices=True)
    offsets, deformed = image(1, 18, 28, 28), torch.nn.Parameter(image(32, 32, 3, 3), requires_grad=False)
    score = image(1, 21, 128, 128)
    labels = torch.randint(0, 21, (1, 128, 128))
    corners = torch.rand(200, 4) * 200
    corners[:, 2:] += corners[:, :2] + 1
    regions = torch.cat([torch.zeros(200, 1), corners], 1)
    turned = torch.rand(200, 5) * 50 + 1
    for name in ("acosh", "asin", "asinh", "atanh", "ceil", "cosh", "deg2rad", "digamma", "exp2", "expm1", "frac", "i0", "lgamma", "log10", "logit",
                 "nan_to_num", "positive", "sgn", "signbit", "sinc", "square", "trunc", "isinf", "isposinf", "rad2deg"):
        yield name, getattr(torch, name), [x.abs() + 1 if name == "acosh" else x.sigmoid() if name in ("logit", "asin", "atanh") else x.abs() + 0.1 if name in ("digamma", "lgamma", "log10") else x]
    for name in ("entr", "erfcx", "i0e", "i1", "i1e", "log_ndtr", "ndtr", "ndtri"):
        yield "special " + name, getattr(torch.special, name), [x.sigmoid() if name == "ndtri" else x]
    for name in ("copysign", "fmax", "fmin", "heaviside", "logaddexp2", "nextafter", "ldexp"):
        yield name, getattr(torch, name), [x, x.flip(1)]
    for name in ("gcd", "lcm", "bitwise_or", "bitwise_xor", "maximum"):
        yield "int " + name, getattr(torch, name), [ids, ids.t().contiguous()]
    yield "igamma", torch.igamma, [rows.abs() + 0.1, rows.abs() * 2]
    yield "polygamma", lambda x: torch.polygamma(1, x), [rows.abs() + 0.1]
    yield "int shift", lambda i: i << 2, [ids]
    yield "int abs", torch.abs, [small]
    yield "int neg", lambda i: -i, [ids]
    yield "int pow", lambda i: i ** 2, [ids]
    yield "int where", lambda i: torch.where(i > 3, i, i * 2), [small]
    yield "int div, true", lambda i: i / 7, [ids]
    yield "int to uint8", lambda i: i.to(torch.uint8), [ids]
    yield "uint8 to int64", lambda b: b.long(), [bytes_]
    yield "double to float", lambda x: x.float(), [rows.double()]
    yield "double exp", torch.exp, [rows.double()]
    yield "double mul", lambda x: x * 0.5, [rows.double()]
    yield "half mul", lambda x: x * 0.5, [rows.half()]
    yield "bfloat16", lambda x: x.to(torch.bfloat16).float(), [x]
    yield "celu", F.celu, [x]
    yield "hardshrink", F.hardshrink, [x]
    yield "softshrink", F.softshrink, [x]
    yield "hardtanh", F.hardtanh, [x]
    yield "threshold", lambda x: F.threshold(x, 0.1, 0.0), [x]
    yield "softsign", F.softsign, [x]
    yield "tanhshrink", F.tanhshrink, [x]
    yield "rrelu", lambda x: F.rrelu(x), [x]
    yield "addcdiv", lambda x: torch.addcdiv(x, x, x.abs() + 1, value=0.5), [x]
    yield "addcmul, vector", lambda x, a: torch.addcmul(a, x, a, value=0.5), [seq, image(768)]
    yield "addcmul, plain", lambda x, y, z: torch.addcmul(x, y, z), [x, x + 1, x - 1]
    yield "lerp, tensor", torch.lerp, [x, x + 1, x.sigmoid()]
    yield "rsub", lambda x: 1 - x, [x]
    yield "clamp_min", lambda x: x.clamp_min(0.1), [x]
    yield "float_power", lambda x: torch.float_power(x, 2), [rows]
    yield "mul, row and column", lambda a, b: a * b, [image(512, 1), image(1, 512)]
    yield "add, small broadcast", lambda a, b: a + b, [image(1, 64, 1, 1), image(1, 64, 7, 7)]
    yield "add, number", lambda x: x + 1, [x]
    yield "sub, last", lambda x: x - x.mean(-1, keepdim=True), [seq]
    yield "equal all", lambda x: torch.eq(x, x).all(), [x]
    yield "not_equal, int32", lambda i: i != 3, [small]
    yield "logical_xor", lambda f, g: torch.logical_xor(f, g), [rows > 0, rows > 1]
    yield "sum, all int32", lambda i: i.sum(), [small]
    yield "sum, middle", lambda x: x.sum(1), [image(32, 64, 128)]
    yield "sum, two ends", lambda x: x.sum((0, 2)), [image(32, 64, 128)]
    yield "sum, double", lambda x: x.sum(-1), [rows.double()]
    yield "sum, double, first", lambda x: x.sum(0), [rows.double()]
    yield "sum, int, first", lambda i: i.sum(0), [ids]
    yield "sum, bool", lambda f: f.sum(-1), [rows > 0]
    yield "sum, uint8", lambda b: b.sum(), [bytes_]
    yield "sum, half", lambda x: x.sum(-1), [rows.half()]
    yield "sum, strided", lambda x: x.t().sum(-1), [rows]
    yield "mean, all", lambda x: x.mean(), [x]
    yield "mean, int", lambda i: i.float().mean(), [ids]
    yield "mean, tokens", lambda x: x.mean(1), [seq]
    yield "nansum", lambda x: x.nansum(-1), [rows]
    yield "nanmean", lambda x: x.nanmean(-1), [rows]
    yield "prod, all", lambda x: x.prod(), [rows]
    yield "prod, int", lambda i: i.prod(-1), [ids]
    yield "prod, short", lambda x: x.prod(-1), [image(4096, 4)]
    yield "amin, first", lambda x: x.amin(0), [rows]
    yield "amax, channels", lambda x: x.amax(1), [x]
    yield "amax, int", lambda i: i.amax(-1), [ids]
    yield "amax, int, first", lambda i: i.amax(0), [ids]
    yield "amax, uint8", lambda b: b.amax((2, 3)), [bytes_]
    yield "amax, double", lambda x: x.amax(-1), [rows.double()]
    yield "aminmax", lambda x: torch.aminmax(x), [x]
    yield "max, int", lambda i: torch.max(i, 1), [ids]
    yield "max, short", lambda x: torch.max(x, -1), [image(4096, 9)]
    yield "max, int, all", lambda i: i.max(), [ids]
    yield "min, all", lambda x: x.min(), [x]
    yield "argmin, first", lambda x: x.argmin(0), [rows]
    yield "argmax, short", lambda x: x.argmax(-1), [image(4096, 5)]
    yield "argmax, classes last", lambda x: x.argmax(-1), [image(64, 64, 21)]
    yield "var, all", lambda x: x.var(), [rows]
    yield "var, first", lambda x: x.var(0), [rows]
    yield "std_mean", lambda x: torch.std_mean(x, -1), [rows]
    yield "var_mean, channels", lambda x: torch.var_mean(x, 1), [x]
    yield "var, double", lambda x: x.var(-1), [rows.double()]
    yield "norm, 1", lambda x: x.norm(p=1, dim=-1), [rows]
    yield "norm, 3", lambda x: x.norm(p=3, dim=-1), [rows]
    yield "norm, inf", lambda x: torch.linalg.vector_norm(x, float("inf"), -1), [rows]
    yield "norm, channels", lambda x: x.norm(dim=1), [x]
    yield "matrix norm", lambda x: torch.linalg.matrix_norm(x), [matrices]
    yield "all, all", lambda f: f.all(), [rows > -100]
    yield "any, first", lambda f: f.any(0), [rows > 3]
    yield "all, last", lambda f: f.all(-1), [rows > -100]
    yield "any, float", lambda x: x.any(-1), [rows]
    yield "count_nonzero, float", lambda x: x.count_nonzero(-1), [rows]
    yield "logsumexp, first", lambda x: x.logsumexp(0), [rows]
    yield "logsumexp, channels", lambda x: x.logsumexp(1), [x]
    yield "cumsum, channels", lambda x: x.cumsum(1), [x]
    yield "cumsum, double", lambda x: x.cumsum(-1), [rows.double()]
    yield "cumsum, bool", lambda f: f.cumsum(-1), [rows > 0]
    yield "cumsum, mask", lambda i: i.ne(1).int().cumsum(1), [ids[:8, :128]]
    yield "cumprod, first", lambda x: x.cumprod(0), [rows]
    yield "cummax, first", lambda x: x.cummax(0)[0], [rows]
    yield "cummin, int", lambda i: i.cummin(-1), [ids]
    yield "diff", lambda x: x.diff(dim=-1), [rows]
    yield "trapezoid", lambda x: torch.trapezoid(x), [rows]
    yield "nanquantile", lambda x: x.nanquantile(0.5, -1), [rows]
    yield "quantile, all", lambda x: x.quantile(0.5), [rows]
    yield "msort", torch.msort, [rows]
    yield "cov", torch.cov, [image(64, 512)]
    yield "corrcoef", torch.corrcoef, [image(64, 512)]
    yield "softmax, double", lambda x: x.softmax(-1), [rows.double()]
    yield "softmax, middle", lambda x: x.softmax(1), [image(8, 64, 64)]
    yield "softmin", lambda x: F.softmin(x, -1), [rows]
    yield "log_softmax, first", lambda x: x.log_softmax(0), [rows]
    yield "gumbel", lambda x: (x / 0.5).softmax(-1), [rows]
    yield "l1_loss", F.l1_loss, [x, x.flip(1)]
    yield "bce", F.binary_cross_entropy, [rows.sigmoid(), rows.flip(0).sigmoid()]
    yield "soft_margin", F.soft_margin_loss, [rows, rows.sign()]
    yield "poisson_nll", F.poisson_nll_loss, [rows, rows.abs()]
    yield "gaussian_nll", lambda x, y, v: F.gaussian_nll_loss(x, y, v), [rows, rows + 1, rows.abs() + 0.1]
    yield "hinge_embedding", F.hinge_embedding_loss, [rows, rows.sign()]
    yield "margin_ranking", F.margin_ranking_loss, [rows[0], rows[1], rows[2].sign()]
    yield "triplet", lambda a: F.triplet_margin_loss(a, a + 0.1, a.flip(0)), [image(64, 128)]
    yield "cosine_embedding", F.cosine_embedding_loss, [image(64, 128), image(64, 128), torch.ones(64)]
    yield "multi_margin", F.multi_margin_loss, [logits, classes]
    yield "multilabel", F.multilabel_soft_margin_loss, [logits, (logits > 0).float()]
    yield "cross_entropy, image", F.cross_entropy, [score, labels]
    yield "cross_entropy, smooth", lambda x, c: F.cross_entropy(x, c, label_smoothing=0.1), [logits, classes]
    yield "nll_loss, image", lambda x, c: F.nll_loss(x, c), [score, labels]
    yield "ctc_loss", lambda x: F.ctc_loss(x.log_softmax(2), torch.ones(4, 10, dtype=torch.long), torch.full((4,), 50), torch.full((4,), 10)), [image(50, 4, 20)]
    yield "solve", torch.linalg.solve, [square, image(64, 8)]
    yield "solve, batch", torch.linalg.solve, [definite, image(16, 32, 4)]
    yield "inverse, batch", torch.inverse, [definite]
    yield "inverse, 3", torch.inverse, [image(256, 3, 3) + torch.eye(3) * 3]
    yield "inverse, 4", torch.inverse, [image(4, 4) + torch.eye(4) * 3]
    yield "det", torch.det, [square]
    yield "det, batch", torch.det, [matrices]
    yield "slogdet", torch.slogdet, [square]
    yield "logdet", torch.logdet, [definite]
    yield "cholesky", torch.linalg.cholesky, [definite]
    yield "cholesky_solve", lambda b, a: torch.cholesky_solve(b, a), [image(32, 4), torch.linalg.cholesky(definite[0])]
    yield "triangular_solve", lambda a, b: torch.linalg.solve_triangular(a, b, upper=False), [torch.linalg.cholesky(definite), image(16, 32, 4)]
    yield "lu", lambda a: torch.linalg.lu_factor(a)[0], [square]
    yield "qr", lambda a: torch.linalg.qr(a)[1].abs(), [image(64, 32)]
    yield "svdvals", torch.linalg.svdvals, [image(64, 32)]
    yield "svd", lambda a: torch.linalg.svd(a, full_matrices=False)[1], [image(64, 32)]
    yield "svd, 3", lambda a: torch.linalg.svd(a)[1], [image(64, 3, 3)]
    yield "eigvalsh", torch.linalg.eigvalsh, [definite[0]]
    yield "eigh", lambda a: torch.linalg.eigh(a)[0], [definite]
    yield "eigvals", lambda a: torch.view_as_real(torch.linalg.eigvals(a)).pow(2).sum(-1).sort()[0], [square]
    yield "pinv", torch.pinverse, [image(32, 16)]
    yield "lstsq", lambda a, b: torch.linalg.lstsq(a, b)[0], [image(64, 16), image(64, 2)]
    yield "matrix_exp", torch.matrix_exp, [matrices * 0.1]
    yield "matrix_power", lambda a: torch.matrix_power(a, 5), [matrices * 0.2]
    yield "cross", lambda a: torch.cross(a, a.flip(-1), -1), [image(4096, 3)]
    yield "vander", lambda a: torch.vander(a, 4), [image(512)]
    yield "trace", torch.trace, [rows]
    yield "inner", torch.inner, [image(64, 128), image(32, 128)]
    yield "vdot", torch.vdot, [image(4096), image(4096)]
    yield "bmm, int", torch.bmm, [ids[:8].view(8, 16, 32), ids[8:16].view(8, 32, 16)]
    yield "matmul, int32", torch.matmul, [small[:64, :64].contiguous(), small[:64, :64].contiguous()]
    yield "matmul, int, wide", torch.matmul, [ids[:128], ids]
    yield "matmul, int, vector", torch.matmul, [ids, ids[0]]
    yield "dot, int", torch.dot, [ids[0], ids[0]]
    yield "matmul, double, wide", torch.matmul, [rows.double(), rows.double()]
    yield "matmul, double, vector", torch.matmul, [rows.double(), rows.double()[0]]
    yield "linear, double", lambda x: F.linear(x, x), [image(128, 256).double()]
    yield "matmul, complex", lambda x: torch.view_as_real(torch.view_as_complex(x) @ torch.view_as_complex(x)), [pair[:64, :64].contiguous()]
    yield "matmul, 3x3", torch.matmul, [image(4096, 3, 3), image(4096, 3, 3)]
    yield "matmul, points", torch.matmul, [image(1, 3, 3), image(1, 3, 4096)]
    yield "matmul, transposed", lambda a, b: a.t() @ b, [image(197, 768), image(197, 64)]
    yield "bilinear layer", lambda a, b, w: F.bilinear(a, b, w), [image(32, 16), image(32, 16), image(8, 16, 16)]
    yield "attention", lambda q: (q @ q.transpose(-1, -2) * 0.125).softmax(-1) @ q, [image(1, 8, 64, 64)]
    yield "complex add", lambda x: torch.view_as_real(torch.view_as_complex(x) + torch.view_as_complex(x)), [pair]
    yield "complex exp", lambda x: torch.view_as_real(torch.view_as_complex(x).exp()), [pair]
    yield "complex conj", lambda x: torch.view_as_real((torch.view_as_complex(x).conj() * 2).resolve_conj()), [pair]
    yield "complex sum", lambda x: torch.view_as_real(torch.view_as_complex(x).sum(-1)), [pair]
    yield "complex real", lambda x: torch.view_as_complex(x).real + torch.view_as_complex(x).imag, [pair]
    yield "complex", lambda x: torch.view_as_real(torch.complex(x, x * 2)), [rows]
    yield "rfft, 400", lambda x: torch.view_as_real(torch.fft.rfft(x)), [image(98, 400)]
    yield "rfft, double", lambda x: torch.view_as_real(torch.fft.rfft(x)), [image(16, 1024).double()]
    yield "rfft, prime", lambda x: torch.view_as_real(torch.fft.rfft(x)), [image(16, 1021)]
    yield "rfft, 480000", lambda x: torch.view_as_real(torch.fft.rfft(x)), [image(1, 480000)]
    yield "rfft, 65536", lambda x: torch.view_as_real(torch.fft.rfft(x)), [image(1, 65536)]
    yield "fft, 8192", lambda x: torch.view_as_real(torch.fft.fft(torch.view_as_complex(x))), [image(4, 8192, 2)]
    yield "fft, one line", lambda x: torch.view_as_real(torch.fft.fft(torch.view_as_complex(x))), [image(1, 16384, 2)]
    yield "irfft, one line", lambda x: torch.fft.irfft(torch.view_as_complex(x)), [image(1, 8193, 2)]
    yield "fft, first", lambda x: torch.view_as_real(torch.fft.fft(torch.view_as_complex(x), dim=0)), [image(512, 64, 2)]
    yield "fft2, image", lambda x: torch.view_as_real(torch.fft.fft2(torch.view_as_complex(x))), [image(256, 256, 2)]
    yield "irfft2", lambda x: torch.fft.irfft2(torch.view_as_complex(x)), [image(4, 128, 65, 2)]
    yield "fftshift", lambda x: torch.fft.fftshift(x), [image(256, 256)]
    yield "istft", lambda x: torch.istft(torch.view_as_complex(x), 512, 128, window=torch.hann_window(512)), [image(257, 126, 2)]
    yield "stft, 1024", lambda x: torch.stft(x, 1024, 256, window=torch.hann_window(1024), return_complex=True).abs(), [image(1, 48000)]
    yield "hann_window", lambda x: torch.hann_window(512) * x, [image(1)]
    yield "mel", lambda x, m: (x @ m).clamp_min(1e-5).log10(), [image(126, 257).abs(), image(257, 80).abs()]
    yield "max_pool1d, indices", lambda x: F.max_pool1d(x, 2, return_indices=True), [strip]
    yield "adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 16), [strip]
    yield "adaptive_max_pool2d, 1", lambda x: F.adaptive_max_pool2d(x, 1), [x]
    yield "adaptive_max_pool2d, indices", lambda x: F.adaptive_max_pool2d(x, 7, return_indices=True), [x]
    yield "adaptive_max_pool2d, last", lambda x: F.adaptive_max_pool2d(x, 7), [last]
    yield "adaptive_max_pool2d, uneven", lambda x: F.adaptive_max_pool2d(x, 5), [x]
    yield "adaptive_max_pool3d", lambda x: F.adaptive_max_pool3d(x, 4), [volume]
    yield "adaptive_avg_pool2d, 1", lambda x: F.adaptive_avg_pool2d(x, 1), [x]
    yield "adaptive_avg_pool2d, uneven", lambda x: F.adaptive_avg_pool2d(x, 5), [x]
    yield "adaptive_avg_pool2d, pyramid", lambda x: F.adaptive_avg_pool2d(x, 6), [image(1, 64, 28, 28)]
    yield "adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, 4), [volume]
    yield "adaptive_avg_pool3d, 1", lambda x: F.adaptive_avg_pool3d(x, 1), [volume]
    yield "max_pool2d, indices 3", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), [x]
    yield "max_pool2d, last indices", lambda x: F.max_pool2d(x, 2, return_indices=True), [last]
    yield "max_pool3d, 3", lambda x: F.max_pool3d(x, 3, 2, 1), [volume]
    yield "max_pool3d, indices", lambda x: F.max_pool3d(x, 2, return_indices=True), [volume]
    yield "max_pool2d, double", lambda x: F.max_pool2d(x, 2), [x.double()]
    yield "avg_pool2d, 3", lambda x: F.avg_pool2d(x, 3, 2, 1), [x]
    yield "avg_pool2d, last", lambda x: F.avg_pool2d(x, 2), [last]
    yield "max_unpool2d", lambda p, i: F.max_unpool2d(p, i, 2), [pooled, indices]
    yield "lp_pool1d", lambda x: F.lp_pool1d(x, 2, 2), [strip]
    yield "local_response_norm", lambda x: F.local_response_norm(x, 5), [x]
    yield "instance_norm 1d", lambda x: F.instance_norm(x), [strip]
    yield "group_norm, last", lambda x: F.group_norm(x, 8), [last]
    yield "group_norm 1d", lambda x: F.group_norm(x, 8), [strip]
    yield "layer_norm, image", lambda x: F.layer_norm(x, (64, 56, 56)), [x]
    yield "layer_norm, plain", lambda x: F.layer_norm(x, (768,)), [seq]
    yield "layer_norm, double", lambda x: F.layer_norm(x, (512,)), [rows.double()]
    yield "batch_norm 1d", lambda x, a: F.batch_norm(x, a, a.abs(), a, a), [image(128, 256), image(256)]
    yield "batch_norm, batch", lambda x: F.batch_norm(x, None, None, training=True), [x]
    yield "batch_norm 3d", lambda x, a: F.batch_norm(x, a, a.abs(), a, a), [volume, image(16)]
    yield "renorm", lambda x: torch.renorm(x, 2, 0, 5.0), [rows]
    yield "weight_norm", lambda v, g: torch._weight_norm(v, g, 0), [image(256, 64, 3), image(256, 1, 1)]
    yield "cat, first", lambda x: torch.cat([x, x], 0), [rows]
    yield "cat, uint8", lambda b: torch.cat([b, b], 1), [bytes_]
    yield "cat, last, many", lambda x: torch.cat([x] * 8, -1), [image(196, 4)]
    yield "cat, int", lambda i: torch.cat([i, i], -1), [ids]
    yield "cat, volume", lambda x: torch.cat([x, x], 2), [volume]
    yield "stack, middle", lambda x: torch.stack([x, x], 1), [rows]
    yield "split, sum", lambda x: sum(x.split(16, 1)), [x]
    yield "unbind, stack", lambda x: torch.stack(x.unbind(0), 1), [image(16, 64, 64)]
    yield "hstack", lambda x: torch.hstack([x, x]), [rows]
    yield "dstack", lambda x: torch.dstack([x, x]), [rows]
    yield "column_stack", lambda a: torch.column_stack([a, a, a]), [image(4096)]
    yield "block_diag", lambda a: torch.block_diag(a, a), [image(64, 64)]
    yield "cartesian_prod", lambda a: torch.cartesian_prod(a, a), [image(128)]
    yield "tile", lambda x: x.tile(2, 2), [image(128, 128)]
    yield "narrow", lambda x: x.narrow(1, 8, 32).contiguous(), [x]
    yield "swapaxes", lambda x: x.swapaxes(0, 1).contiguous(), [image(64, 8, 128)]
    yield "transpose, last two", lambda x: x.transpose(-1, -2).contiguous(), [image(12, 64, 197)]
    yield "transpose, half", lambda x: x.t().contiguous(), [rows.half()]
    yield "transpose, double", lambda x: x.t().contiguous(), [rows.double()]
    yield "permute, back", lambda x: x.permute(0, 3, 1, 2).contiguous(), [image(1, 56, 56, 64)]
    yield "permute, rgb", lambda x: x.permute(0, 3, 1, 2).contiguous(), [image(1, 224, 224, 3)]
    yield "permute, uint8 back", lambda b: b.permute(0, 3, 1, 2).contiguous(), [bytes_.view(1, 224, 224, 3)]
    yield "permute, windows", lambda x: x.view(1, 8, 7, 8, 7, 96).permute(0, 1, 3, 2, 4, 5).contiguous(), [image(1, 56, 56, 96)]
    yield "permute, batch last", lambda x: x.permute(1, 2, 0).contiguous(), [image(16, 64, 128)]
    yield "slice, columns", lambda x: x[:, ::2].contiguous(), [rows]
    yield "slice, rows", lambda x: x[::2].contiguous(), [rows]
    yield "select, last", lambda x: x[..., 0].contiguous(), [image(4096, 4)]
    yield "boxes to corners", lambda b: torch.cat([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2], 1), [corners]
    yield "pad, value", lambda x: F.pad(x, (2, 2), value=1.0), [rows]
    yield "pad, channels", lambda x: F.pad(x, (0, 0, 0, 0, 0, 16)), [x]
    yield "pad, int", lambda i: F.pad(i, (1, 1, 1, 1)), [ids]
    yield "pad, uint8", lambda b: F.pad(b, (16, 16, 16, 16)), [bytes_]
    yield "pad, causal", lambda x: F.pad(x, (2, 0)), [strip]
    yield "pad, crop", lambda x: F.pad(x, (-4, -4, -4, -4)), [x]
    yield "pad, circular 1d", lambda x: F.pad(x, (3, 3), "circular"), [strip]
    yield "pad, reflect last", lambda x: F.pad(x, (1, 1, 1, 1), "reflect"), [last]
    yield "pixel_shuffle, rgb", lambda x: F.pixel_shuffle(x, 4), [image(1, 48, 56, 56)]
    yield "unfold, 1", lambda x: F.unfold(x, (1, 9)), [image(1, 8, 16, 256)]
    yield "unfold, dilated", lambda x: F.unfold(x, 3, dilation=2, padding=2), [x]
    yield "unfold, batch", lambda x: F.unfold(x, 2, stride=2), [image(8, 32, 28, 28)]
    yield "fold, two", lambda x: F.fold(x, (56, 56), 2, stride=2), [image(8, 128, 784)]
    yield "fold, stride", lambda x: F.fold(x, (56, 56), 3, padding=1, stride=2), [image(1, 576, 784)]
    yield "fold, overlap-add", lambda x: F.fold(x, (1, 16240), (1, 400), stride=(1, 160)), [image(1, 400, 100)]
    yield "as_strided", lambda x: torch.as_strided(x, (98, 400), (160, 1)).contiguous(), [image(16000)]
    yield "roll, one", lambda x: torch.roll(x, 1, -1), [rows]
    yield "flip, int", lambda i: i.flip(0, 1), [ids]
    yield "flip, last axis", lambda x: x.flip(-1), [image(65536, 3)]
    yield "diagonal, view", lambda x: torch.diagonal(x, dim1=-2, dim2=-1).contiguous(), [matrices]
    yield "diag", torch.diag, [image(512)]
    yield "tril, int", torch.tril, [ids]
    yield "triu, mask", lambda x: torch.triu(torch.ones(128, 128, dtype=torch.bool), 1) & x, [torch.tensor(True)]
    yield "triu_indices", lambda x: torch.triu_indices(128, 128) + x, [torch.tensor(1)]
    yield "eye", lambda x: torch.eye(256) + x, [image(1)]
    yield "full", lambda x: torch.full((512, 512), 3.0) + x, [image(1)]
    yield "ones_like", lambda x: torch.ones_like(x), [x]
    yield "zeros_like, int", lambda i: torch.zeros_like(i), [ids]
    yield "new_zeros", lambda x: x.new_zeros(64, 64), [x]
    yield "linspace", lambda x: torch.linspace(-1, 1, 4096) + x, [image(1)]
    yield "logspace", lambda x: torch.logspace(0, 1, 512) + x, [image(1)]
    yield "arange, float", lambda x: torch.arange(0.0, 65536.0) + x, [image(1)]
    yield "arange, int32", lambda x: torch.arange(0, 65536, dtype=torch.int32) + x, [torch.tensor(3, dtype=torch.int32)]
    yield "arange, few", lambda x: torch.arange(0, 128) + x, [torch.tensor(3)]
    yield "meshgrid, grid", lambda x: torch.stack(torch.meshgrid(x, x, indexing="xy"), -1), [image(80)]
    yield "copy_", lambda x, y: torch.zeros_like(x).copy_(y), [x, last]
    yield "slice assign", lambda x: x.clone().narrow(1, 0, 16).fill_(1.0), [x]
    yield "index, rows and cols", lambda x, i, j: x[i, j], [rows, ids[:64, :1], ids[0, :64]]
    yield "index, three", lambda x, i: x[0, i, i % 56], [x, ids[0] % 56]
    yield "index, int", lambda x, i: x[i], [ids, ids[0]]
    yield "index, pixels", lambda x, i: x[:, :, i, i], [x, ids[0] % 56]
    yield "index, matrix", lambda x, i: x[i], [rows, ids[:32, :16]]
    yield "index_put, rows", lambda x, i: x.index_put((i,), x[:64]), [rows, ids[0, :64]]
    yield "index_put, two", lambda x, i: x.index_put((i, i), torch.ones(())), [rows, ids[0]]
    yield "index_select, int", lambda x, i: x.index_select(0, i), [ids, ids[0]]
    yield "index_select, bytes", lambda x, i: x.index_select(-1, i), [bytes_, ids[0] % 224]
    yield "index_fill, last", lambda x, i: x.index_fill(1, i, 1.0), [rows, ids[0, :100]]
    yield "gather, int", lambda x, i: x.gather(1, i), [ids, ids]
    yield "gather, middle", lambda x, i: x.gather(1, i), [image(8, 512, 64), ids[:, :1].expand(8, 512, 64).contiguous()]
    yield "gather, one", lambda x, i: x.gather(1, i), [logits, classes[:, None]]
    yield "gather, positions", lambda x, i: x.gather(1, i[..., None].expand(-1, -1, 2)), [image(4, 512, 2), ids[:4]]
    yield "scatter, one hot", lambda x, i: torch.zeros(64, 1000).scatter(1, i, 1.0) + x, [image(1), classes[:, None]]
    yield "scatter_add, int", lambda x, i: x.scatter_add(1, i, x), [ids, ids]
    yield "scatter_add, nodes", lambda x, i: torch.zeros(512, 64).scatter_add(0, i[:, None].expand(-1, 64), x), [image(4096, 64), ids[:8].flatten()]
    yield "scatter_reduce, mean", lambda x, i: x.scatter_reduce(1, i, x, "mean"), [rows, ids]
    yield "scatter_reduce, sum", lambda x, i: x.scatter_reduce(0, i, x, "sum"), [rows, ids]
    yield "scatter_reduce, nodes", lambda x, i: torch.zeros(512, 64).scatter_reduce(0, i[:, None].expand(-1, 64), x, "amax"), [image(4096, 64), ids[:8].flatten()]
    yield "scatter_reduce, prod", lambda x, i: x.scatter_reduce(1, i, x, "prod"), [rows, ids]
    yield "index_reduce", lambda x, i: x.index_reduce(0, i, x, "amax"), [rows, ids[0]]
    yield "index_add, nodes", lambda x, i: torch.zeros(512, 64).index_add(0, i, x), [image(4096, 64), ids[:8].flatten()]
    yield "segment_reduce", lambda x: torch.segment_reduce(x, "sum", lengths=torch.full((64,), 8)), [image(512)]
    yield "where, one", lambda x: torch.where(x > 0)[0], [rows]
    yield "where, numbers", lambda x: torch.where(x > 0, 1.0, 0.0), [x]
    yield "where, double", lambda x: torch.where(x > 0, x, -x), [rows.double()]
    yield "argwhere", lambda x: torch.argwhere(x > 1), [rows]
    yield "nonzero, line", lambda x: (x > 0.5).nonzero(), [torch.rand(20000)]
    yield "masked_select, bool", lambda f, x: x.masked_select(f), [rows > 0, ids]
    yield "masked_fill, tensor", lambda f, x: x.masked_fill(f, torch.zeros(())), [rows > 0, rows]
    yield "masked_fill, causal", lambda f, x: x.masked_fill(f, float("-inf")), [torch.ones(64, 64, dtype=torch.bool).triu(1), image(8, 64, 64)]
    yield "histc, int range", lambda x: x.histc(16), [rows]
    yield "bincount, many", lambda i: torch.bincount(i.flatten(), minlength=4096), [ids * 7]
    yield "unique, counts", lambda i: torch.unique_consecutive(i, return_counts=True)[1], [torch.arange(20000) // 9]
    yield "isin, few", lambda i: torch.isin(i, i[0, :4]), [ids]
    yield "topk, smallest", lambda x: x.topk(10, largest=False), [image(64, 1000)]
    yield "topk, half", lambda x: x.topk(256)[0], [rows]
    yield "topk, one", lambda x: x.topk(1), [image(64, 1000)]
    yield "sort, double", lambda x: x.sort(-1)[0], [rows.double()]
    yield "sort, bool", lambda f: f.sort(-1)[0], [rows > 0]
    yield "sort, int32", lambda i: i.sort(-1), [small]
    yield "argsort, first", lambda x: x.argsort(0), [rows]
    yield "embedding_bag, mean", lambda i: F.embedding_bag(i, rows, mode="mean"), [ids[:64, :32]]
    yield "embedding_bag, sum", lambda i, w: F.embedding_bag(i, rows, mode="sum", per_sample_weights=w), [ids[:64, :32], torch.rand(64, 32)]
    yield "embedding, tokens", lambda i: F.embedding(i, seq[0]), [ids[:1, :128] % 197]
    yield "one_hot, few", lambda i: F.one_hot(i, 10), [ids[:64, 0] % 10]
    yield "cosine, rows", lambda a: F.cosine_similarity(a[:, None], a[None], -1), [image(64, 128)]
    yield "dist, inf", lambda a: torch.cdist(a, a + 1, p=float("inf")), [image(128, 32)]
    yield "dist, 3", lambda a: torch.cdist(a, a + 1, p=3.0), [image(64, 32)]
    yield "nearest, 3", lambda x: F.interpolate(x, scale_factor=3.0), [image(1, 3, 112, 112)]
    yield "nearest, last half", lambda x: F.interpolate(x, scale_factor=0.5), [last]
    yield "nearest, odd", lambda x: F.interpolate(x, (75, 91)), [x]
    yield "bilinear, down rgb", lambda x: F.interpolate(x, (224, 224), mode="bilinear"), [image(1, 3, 480, 640)]
    yield "bilinear, uneven", lambda x: F.interpolate(x, (65, 65), mode="bilinear", align_corners=True), [image(1, 64, 33, 33)]
    yield "bilinear, double", lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), [image(1, 8, 56, 56).double()]
    yield "bicubic, down", lambda x: F.interpolate(x, (112, 112), mode="bicubic"), [image(1, 3, 224, 224)]
    yield "linear, corners", lambda x: F.interpolate(x, 1000, mode="linear", align_corners=True), [strip]
    yield "grid_sample, 3 channels last", lambda x, g: F.grid_sample(x, g, align_corners=True), [image(8, 3, 64, 64), torch.rand(8, 64, 64, 2) * 2 - 1]
    yield "grid_sample, volume nearest", lambda x, g: F.grid_sample(x, g, "nearest", align_corners=False), [image(1, 8, 16, 16, 16), torch.rand(1, 16, 16, 16, 3) * 2 - 1]
    yield "grid_sample, flow", lambda x, g: F.grid_sample(x, g, align_corners=True), [image(1, 32, 64, 64), F.affine_grid(torch.eye(2, 3)[None], (1, 32, 64, 64), align_corners=True) + 0.01 * image(1, 64, 64, 2)]
    layers = {
        "conv, 1x1": (torch.nn.Conv2d(64, 128, 1), x), "conv, 1x1 stride": (torch.nn.Conv2d(64, 128, 1, 2), x),
        "conv, 3x3": (torch.nn.Conv2d(64, 64, 3, padding=1), x), "conv, 3x3 stride": (torch.nn.Conv2d(64, 128, 3, 2, 1), x),
        "conv, 5x5": (torch.nn.Conv2d(32, 32, 5, padding=2), image(1, 32, 28, 28)), "conv, dilated": (torch.nn.Conv2d(64, 64, 3, padding=2, dilation=2), image(1, 64, 28, 28)),
        "conv, 7 small": (torch.nn.Conv2d(512, 512, 3, padding=1), image(1, 512, 7, 7)), "conv, patches": (torch.nn.Conv2d(3, 768, 16, 16), image(1, 3, 224, 224)),
        "conv, depthwise": (torch.nn.Conv2d(64, 64, 3, padding=1, groups=64), x), "conv, depthwise 5": (torch.nn.Conv2d(64, 64, 5, padding=2, groups=64), x),
        "conv, depthwise 7": (torch.nn.Conv2d(96, 96, 7, padding=3, groups=96), image(1, 96, 56, 56)), "conv, depthwise stride": (torch.nn.Conv2d(64, 64, 3, 2, 1, groups=64), x),
        "conv, multiplier": (torch.nn.Conv2d(32, 64, 3, padding=1, groups=32), image(1, 32, 56, 56)), "conv, 1x7": (torch.nn.Conv2d(64, 64, (1, 7), padding=(0, 3)), image(1, 64, 17, 17)),
        "conv1d, 1": (torch.nn.Conv1d(64, 128, 1), strip), "conv1d, depthwise 3": (torch.nn.Conv1d(64, 64, 3, padding=1, groups=64), strip),
        "conv1d, depthwise 31": (torch.nn.Conv1d(256, 256, 31, padding=15, groups=256), image(1, 256, 100)), "conv1d, groups": (torch.nn.Conv1d(64, 64, 5, padding=2, groups=4), strip),
        "conv1d, depthwise causal": (torch.nn.Conv1d(64, 64, 4, groups=64, dilation=2), strip), "conv1d, text": (torch.nn.Conv1d(128, 100, 3), image(1, 128, 50)),
        "conv1d, depthwise stride": (torch.nn.Conv1d(64, 64, 5, 2, 2, groups=64), strip),
        "conv3d, 1": (torch.nn.Conv3d(16, 32, 1), volume), "conv3d, stride": (torch.nn.Conv3d(3, 16, 3, 2, 1), image(1, 3, 16, 56, 56)),
        "conv_transpose2d, 4": (torch.nn.ConvTranspose2d(32, 16, 4, 2, 1), image(1, 32, 56, 56)), "conv_transpose2d, depthwise": (torch.nn.ConvTranspose2d(21, 21, 4, 2, 1, groups=21), image(1, 21, 28, 28)),
        "conv_transpose2d, generator": (torch.nn.ConvTranspose2d(128, 64, 4, 2, 1), image(1, 128, 16, 16)), "conv_transpose3d": (torch.nn.ConvTranspose3d(16, 8, 2, 2), image(1, 16, 8, 16, 16)),
        "conv_transpose1d, vocoder": (torch.nn.ConvTranspose1d(64, 32, 16, 8, 4), image(1, 64, 100)),
        "conv, batch": (torch.nn.Conv2d(32, 32, 3, padding=1), image(8, 32, 28, 28)), "linear, batch": (torch.nn.Linear(256, 128), image(64, 256)),
        "linear, small": (torch.nn.Linear(16, 4), image(1, 16)), "linear, wide": (torch.nn.Linear(512, 2048), image(32, 512)),
        "rnn": (torch.nn.RNN(64, 64), image(32, 1, 64)), "lstm, two ways": (torch.nn.LSTM(64, 64, bidirectional=True), image(32, 1, 64)), "lstm, two": (torch.nn.LSTM(64, 64, 2, batch_first=True), image(4, 32, 64)),
        "gru, batch": (torch.nn.GRU(64, 128), image(16, 8, 64)), "rnn cell": (torch.nn.RNNCell(64, 64), image(1, 64)), "encoder": (torch.nn.TransformerEncoderLayer(64, 4, 128), image(32, 1, 64)),
        "multihead": (torch.nn.MultiheadAttention(64, 4), image(32, 1, 64)), "prelu, one": (torch.nn.PReLU(), x),
    }
    for name, (layer, given) in layers.items():
        layer = layer.eval().requires_grad_(False)
        function = (lambda l: lambda x: l(x, x, x)[0])(layer) if name == "multihead" else (lambda l: lambda x: l(x)[0])(layer) if isinstance(layer, torch.nn.RNNBase) else layer
        yield name, function, [given]
    try:
        import torchvision
    except ImportError:
        return
    boxes = torch.ops.torchvision
    yield "nms, few", lambda b, s: boxes.nms(b, s, 0.5), [corners, torch.rand(200)]
    yield "ps_roi_pool", lambda x, r: boxes.ps_roi_pool(x, r, 0.25, 4, 4), [x, regions]
    yield "deform_conv2d", lambda x, o: torchvision.ops.deform_conv2d(x, o, deformed, padding=1), [image(1, 32, 28, 28), offsets]
    yield "box_iou", lambda b: torchvision.ops.box_iou(b, b), [corners]
    yield "roi_pool, small", lambda x, r: boxes.roi_pool(x, r, 0.0625, 7, 7), [image(1, 256, 14, 14), regions]


def quantized_cases():
    """Rows of operators on quantized images, and of networks with layouts, lengths and sizes that the functions above do not have."""
    x, last = image(1, 64, 56, 56), image(1, 64, 56, 56).contiguous(memory_format=torch.channels_last)
    ids, seq, rows = torch.randint(0, 512, (512, 512)), image(1, 197, 768), image(512, 512)

    def bytes_of(x, scale=0.05):
        return torch.quantize_per_tensor(x, scale, 128, torch.quint8)

    # Files of inputs contain only floats, so the measured functions quantize: Taper and PyTorch both read an image and
    # quantize it.
    yield "quantize", lambda x: bytes_of(x).int_repr(), [x]
    yield "quantize, last", lambda x: bytes_of(x).int_repr(), [last]
    yield "dequantize", lambda x: bytes_of(x).dequantize(), [x]
    yield "quantized relu", lambda x: F.relu(bytes_of(x)).int_repr(), [last]
    yield "quantized sigmoid", lambda x: torch.sigmoid(bytes_of(x)).int_repr(), [last]
    yield "quantized hardswish", lambda x: torch.ops.quantized.hardswish(bytes_of(x), 0.04, 120).int_repr(), [last]
    yield "quantized add", lambda x, y: torch.ops.quantized.add(bytes_of(x), bytes_of(y, 0.03), 0.07, 120).int_repr(), [last, last.flip(0)]
    yield "quantized add_relu", lambda x, y: torch.ops.quantized.add_relu(bytes_of(x), bytes_of(y, 0.03), 0.07, 120).int_repr(), [last, last.flip(0)]
    yield "quantized mul", lambda x: torch.ops.quantized.mul(bytes_of(x), bytes_of(x[:, :, :1, :1]), 0.07, 120).int_repr(), [last]
    yield "quantized cat", lambda x: torch.ops.quantized.cat([bytes_of(x), bytes_of(x, 0.03)], 1, 0.05, 128).int_repr(), [last]
    yield "quantized max_pool2d", lambda x: F.max_pool2d(bytes_of(x), 3, 2, 1).int_repr(), [last]
    yield "quantized avg_pool2d", lambda x: F.avg_pool2d(bytes_of(x), 2).int_repr(), [last]
    yield "quantized adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(bytes_of(x), 1).int_repr(), [last]
    yield "quantized mean", lambda x: bytes_of(x).mean([2, 3]).int_repr(), [last]
    yield "quantized bilinear", lambda x: F.interpolate(bytes_of(x), scale_factor=2.0, mode="bilinear").int_repr(), [last]
    yield "quantized nearest", lambda x: F.interpolate(bytes_of(x), scale_factor=2.0).int_repr(), [last]
    yield "quantized clamp", lambda x: bytes_of(x).clamp(0.0, 6.0).int_repr(), [last]
    yield "quantized leaky_relu", lambda x: torch.ops.quantized.leaky_relu(bytes_of(x), 0.1, False, 0.05, 128).int_repr(), [last]
    yield "quantized layer_norm", lambda x: torch.ops.quantized.layer_norm(bytes_of(x), [768], None, None, 1e-5, 0.05, 128).int_repr(), [seq]
    yield "quantized pad", lambda x: F.pad(bytes_of(x), (1, 1, 1, 1)).int_repr(), [x]
    yield "quantized reshape", lambda x: bytes_of(x).permute(0, 2, 3, 1).contiguous().int_repr(), [x]
    yield "per channel", lambda x: torch.quantize_per_channel(x, torch.full((512,), 0.05), torch.zeros(512, dtype=torch.long), 0, torch.qint8).int_repr(), [rows]
    yield "fake_quantize", lambda x: torch.fake_quantize_per_tensor_affine(x, 0.05, 128, 0, 255), [x]
    # Layouts and sizes that the rows above do not have, for the same operators.
    projected, two_ways = torch.nn.LSTM(64, 128, proj_size=32).requires_grad_(False), torch.nn.GRU(64, 64, batch_first=True, bidirectional=True).requires_grad_(False)
    attention, mask = torch.nn.MultiheadAttention(256, 8, batch_first=True).eval().requires_grad_(False), torch.full((64, 64), float("-inf")).triu(1)
    yield "multihead, masked", lambda x: attention(x, x, x, attn_mask=mask, need_weights=False)[0], [image(2, 64, 256)]
    yield "multihead, padded", lambda x: attention(x, x, x, key_padding_mask=torch.arange(64)[None].expand(2, 64) > 50)[0], [image(2, 64, 256)]
    yield "multihead, cross", lambda x, y: attention(x, y, y, need_weights=False)[0], [image(1, 100, 256), image(1, 400, 256)]
    decoder = torch.nn.TransformerDecoderLayer(128, 4, 256, batch_first=True).eval().requires_grad_(False)
    yield "decoder", decoder, [image(1, 20, 128), image(1, 60, 128)]
    yield "embedding, last ids", lambda i: F.embedding(i, rows).sum(1), [ids[:64, :32]]
    yield "fold, image", lambda x: F.fold(x, (56, 56), 3, padding=1, stride=2), [image(1, 144, 784)]
    yield "unfold, last", lambda x: F.unfold(x, 3, padding=1), [last]
    yield "pixel_unshuffle, last", lambda x: F.pixel_unshuffle(x, 2), [last]
    yield "space to depth", lambda x: torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1), [image(1, 3, 224, 224)]
    yield "roll, last", lambda x: torch.roll(x, (-3, -3), (1, 2)), [image(1, 56, 56, 96)]
    yield "windows", lambda x: x.view(1, 8, 7, 8, 7, 96).permute(0, 1, 3, 2, 4, 5).reshape(-1, 49, 96), [image(1, 56, 56, 96)]
    yield "cumsum, middle", lambda x: x.cumsum(1), [image(8, 128, 64)]
    yield "cumsum, mask int", lambda x: (x != 1).int().cumsum(1) * 2, [ids]
    yield "bilinear, factor", lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear"), [x]
    yield "bilinear, corners last", lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=True), [last]
    yield "trilinear, last", lambda x: F.interpolate(x, scale_factor=2.0, mode="trilinear", align_corners=True), [image(1, 8, 16, 28, 28)]
    yield "linear resize, down", lambda x: F.interpolate(x, 512, mode="linear"), [image(1, 64, 2048)]
    yield "bicubic, corners", lambda x: F.interpolate(x, (40, 40), mode="bicubic", align_corners=True), [x]
    yield "batch_norm 1d, line", torch.nn.BatchNorm1d(64).eval().requires_grad_(False), [image(1, 64, 2048)]
    yield "batch_norm 3d, layer", torch.nn.BatchNorm3d(16).eval().requires_grad_(False), [image(1, 16, 16, 28, 28)]
    yield "instance_norm 3d", lambda x: F.instance_norm(x), [image(1, 16, 16, 28, 28)]
    yield "group_norm, attention", lambda x: F.group_norm(x, 32), [image(1, 320, 32, 32)]
    yield "layer_norm, first", lambda x: F.layer_norm(x.permute(0, 2, 3, 1), (64,)).permute(0, 3, 1, 2), [x]
    yield "cdist, points", lambda a, b: torch.cdist(a, b), [image(1, 1024, 3), image(1, 1024, 3)]
    yield "einsum, bchw", lambda a, b: torch.einsum("bchw,kc->bkhw", a, b), [x, image(32, 64)]
    yield "einsum, heads", lambda a, b: torch.einsum("bnhd,bmhd->bhnm", a, b), [image(1, 64, 8, 32), image(1, 64, 8, 32)]
    yield "adaptive_avg_pool2d, last", lambda x: F.adaptive_avg_pool2d(x, 7), [last]
    yield "adaptive_max_pool2d, roi", lambda x: F.adaptive_max_pool2d(x, 2), [image(64, 64, 7, 7)]
    yield "max_pool2d, ceil", lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), [x]
    yield "avg_pool2d, divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), [x]
    yield "pad, replicate last", lambda x: F.pad(x, (1, 1, 1, 1), "replicate"), [last]
    yield "pad, same last", lambda x: F.pad(x, (0, 1, 0, 1)), [last]
    yield "where, scalar mask", lambda x, m: torch.where(m, x, torch.tensor(-1e4)), [image(1, 8, 64, 64), image(1, 1, 1, 64) > 0]
    yield "softmax, masked", lambda x, m: (x + m).softmax(-1), [image(1, 8, 64, 64), mask]
    yield "nonzero, points", lambda x: torch.nonzero(x > 0.9), [torch.rand(1, 80, 80)]
    yield "topk, flat", lambda x: x.flatten(1).topk(100), [torch.rand(1, 20, 80, 80)]
    yield "index_put, columns", lambda x, i: x.index_put((torch.arange(512), i), torch.ones(512)), [rows, ids[0]]
    yield "slice, strided", lambda x: x[:, :, ::2, ::2].contiguous(), [x]
    yield "narrow, cat", lambda x: torch.cat([x[:, 1:], x[:, :1]], 1), [seq]
    yield "chunk, last", lambda x: [p.contiguous() for p in x.chunk(3, -1)], [image(1, 197, 2304)]
    yield "split, heads", lambda x: x.view(1, 197, 3, 12, 64).permute(2, 0, 3, 1, 4).contiguous(), [image(1, 197, 2304)]
    yield "norm, rms layer", lambda x: x / (x.norm(dim=-1, keepdim=True) + 1e-6), [seq]
    yield "gather, tokens", lambda x, i: x.gather(1, i[:1, :100, None].expand(1, 100, 768)), [image(1, 512, 768), ids]
    yield "to float, int32", lambda x: x.to(torch.float32) * 0.1, [ids.int()]
    yield "clamp, int64", lambda i: i.clamp(0, 255), [ids]
    yield "round, half", lambda x: (x * 255).round().clamp(0, 255).to(torch.uint8), [torch.rand(1, 3, 224, 224)]
    yield "bce loss, mean", lambda x, y: F.binary_cross_entropy_with_logits(x, y, pos_weight=torch.tensor(2.0)), [rows, (rows > 0).float()]
    yield "logical, masks", lambda a: (a > 0) & (a < 1) | (a > 2), [rows]
    yield "sum, bool", lambda a: (a > 0).sum(-1), [rows]
    yield "max, space", lambda x: x.flatten(2).max(-1)[0], [x]
    yield "argmax, last dim long", lambda x: x.argmax(-1), [image(1, 128, 30000)]
    yield "std_mean", lambda x: torch.std_mean(x, dim=(2, 3)), [x]
    yield "conv_transpose3d, 3", torch.nn.ConvTranspose3d(16, 8, 3, 2, 1, 1).requires_grad_(False), [image(1, 16, 8, 14, 14)]
    yield "conv_transpose2d, last depthwise", lambda x: F.conv_transpose2d(x, torch.ones(64, 1, 2, 2), None, 2, groups=64), [last]
    yield "conv2d, dilated depthwise", torch.nn.Conv2d(64, 64, 3, padding=2, dilation=2, groups=64).requires_grad_(False), [x]
    yield "conv3d, depth", torch.nn.Conv3d(32, 32, (3, 1, 1), padding=(1, 0, 0)).requires_grad_(False), [image(1, 32, 8, 28, 28)]
    yield "lstm, projected", lambda x: projected(x)[0], [image(16, 1, 64)]
    yield "gru, two ways", lambda x: two_ways(x)[0], [image(4, 32, 64)]


class Operator(torch.nn.Module):
    """The function as a module. Files store inputs without strides. An image in channels_last is therefore [N, H, W, C] in the file, and the
    module begins with a view, in Taper and in PyTorch."""

    def __init__(self, function, inputs):
        super().__init__()
        self.function = function
        self.last = [x.dim() == 4 and not x.is_contiguous() and x.is_contiguous(memory_format=torch.channels_last) for x in inputs]

    def stored(self, inputs):
        return [x.permute(0, 2, 3, 1) if last else x for last, x in zip(self.last, inputs)]

    def forward(self, *inputs):
        return self.function(*[x.permute(0, 3, 1, 2) if last else x for last, x in zip(self.last, inputs)])


class Peer:
    """PyTorch in its own process, which reads a line of file names and prints the median."""

    def __init__(self, threads):
        self.process = subprocess.Popen([sys.executable, "-c", WORKER, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=torch_blas.environment(threads))

    def time(self, files):
        self.process.stdin.write(json.dumps(files) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def arrays(value):
    """Returns the arrays in a result, in the form of `taper run -o`."""
    if isinstance(value, torch.Tensor):
        return [value.numpy()]
    return [array for part in value for array in arrays(part)]


def same(got, want):
    if got.shape != want.shape:
        return False
    # Each element may differ by the tolerance of the largest element: small results of transforms and of PyTorch's distances are differences of
    # large numbers.
    return np.allclose(got, want, rtol=1e-3, atol=1e-4, equal_nan=True) or np.max(np.abs(got - want)) <= 1e-4 * np.max(np.abs(want)) + 1e-5


def measure(arguments, peer, folder, function, inputs):
    module = Operator(function, inputs).eval()
    inputs = module.stored(inputs)
    path = os.path.join(folder, "operator.ptl")
    with torch.no_grad():
        traced = torch.jit.trace(module, tuple(inputs), check_trace=False)
        want = arrays(traced(*inputs))
    traced._save_for_lite_interpreter(path)
    files = []
    for i, x in enumerate(inputs):
        files.append(os.path.join(folder, f"{i}.npy"))
        np.save(files[-1], x.numpy())
    given = [part for file in files for part in ("-i", file)]
    threads = ["--threads", str(arguments.threads)]
    out = os.path.join(folder, "out.npz")
    subprocess.run([arguments.taper, "run", path, *given, *threads, "-o", out], check=True, capture_output=True)
    got = list(np.load(out).values())
    if len(got) != len(want) or not all(map(same, got, want)):
        return None
    ours, theirs = [], []
    for _ in range(arguments.rounds):
        p = subprocess.run([arguments.taper, "bench", path, *given, *threads, "--json", "--warmup", "5", "--iter", "60"], check=True,
                           capture_output=True, text=True)
        ours.append(json.loads(p.stdout)["median_ms"] * 1e3)
        theirs.append(peer.time([path, *files]))
    return statistics.median(ours), statistics.median(theirs), statistics.median(a / b for a, b in zip(ours, theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--over", type=float, default=0)
    parser.add_argument("--any-blas", action="store_true")
    arguments = parser.parse_args()
    torch_blas.require(arguments.any_blas)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ratios = []
    peer = Peer(arguments.threads)
    for name, function, inputs in itertools.chain(cases(), more_cases(), rarer_cases(), further_cases(), quantized_cases()):
        if not re.search(arguments.filter, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = measure(arguments, peer, folder, function, inputs)
        if row is None:
            print(f"{name:24} results differ", flush=True)
            continue
        ratios.append(row[2])
        if row[2] >= arguments.over:
            print(f"{name:24} {row[0]:9.1f} us {row[1]:9.1f} us  {row[2]:6.2f}", flush=True)
    peer.close()
    if ratios:
        print(f"{len(ratios)} operators, geometric mean {statistics.geometric_mean(ratios):.2f}, above 1: {sum(r > 1 for r in ratios)}")


if __name__ == "__main__":
    main()
