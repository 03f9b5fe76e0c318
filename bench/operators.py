#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""operators.py TAPER [--filter TEXT] [--threads N] [--rounds R] [--over RATIO]

One operator a row, at sizes that models use, in Taper and in PyTorch's lite interpreter: the same file, the same inputs, in turn, each in
a process of its own (PyTorch's stays for all rows). Prints the medians in microseconds and the median of the ratios; --over prints only
rows above it. Results are held against each other first. Pin it (taskset -c 1) for one thread. Needs python3-torch, and
python3-torchvision for the rows of boxes."""
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
    """name, function, inputs"""
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
    """The same, of operators that fewer models have, of further layouts and dtypes"""
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
    yield "cdist", lambda a: torch.cdist(a, a), [points]
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
    """The same, of operators that sort, count, move and combine elements where the rows above have none"""
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


class Operator(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Peer:
    """PyTorch in a process of its own: one line of file names in, the median out"""

    def __init__(self, threads):
        self.process = subprocess.Popen([sys.executable, "-c", WORKER, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)

    def time(self, files):
        self.process.stdin.write(json.dumps(files) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def arrays(value):
    """The arrays in a result, as `taper run -o` writes them"""
    if isinstance(value, torch.Tensor):
        return [value.numpy()]
    return [array for part in value for array in arrays(part)]


def same(got, want):
    return got.shape == want.shape and np.allclose(got, want, rtol=1e-3, atol=1e-4, equal_nan=True)


def measure(arguments, peer, folder, function, inputs):
    module = Operator(function).eval()
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
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    ratios = []
    peer = Peer(arguments.threads)
    for name, function, inputs in itertools.chain(cases(), more_cases(), rarer_cases()):
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
