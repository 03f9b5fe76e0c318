#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""operators.py TAPER [--filter TEXT] [--threads N] [--rounds R] [--over RATIO]

One operator a row, at sizes that models use, in Taper and in PyTorch's lite interpreter: the same file, the same inputs, in turn, each in
a process of its own. Prints the medians in microseconds and the median of the ratios; --over prints only rows above it. Results are held
against each other first. Pin it (taskset -c 1) for one thread. Needs python3-torch."""
import argparse
import json
import os
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
torch.set_num_threads(int(sys.argv[2]))
m = _load_for_lite_interpreter(sys.argv[1])
x = [torch.from_numpy(np.load(p)) for p in sys.argv[3:]]
now, times = time.perf_counter, []
with torch.inference_mode():
    for _ in range(5):
        m(*x)
    begin = now()
    while len(times) < 15 or (now() - begin < 0.3 and len(times) < 2000):
        t = now(); m(*x); times.append(now() - t)
print(json.dumps(sorted(times)[len(times) // 2] * 1e6))
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


class Operator(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def measure(arguments, folder, function, inputs):
    module = Operator(function).eval()
    path = os.path.join(folder, "operator.ptl")
    with torch.no_grad():
        traced = torch.jit.trace(module, tuple(inputs), check_trace=False)
        want = traced(*inputs).numpy()
    traced._save_for_lite_interpreter(path)
    files = []
    for i, x in enumerate(inputs):
        files.append(os.path.join(folder, f"{i}.npy"))
        np.save(files[-1], x.numpy())
    given = [part for file in files for part in ("-i", file)]
    threads = ["--threads", str(arguments.threads)]
    out = os.path.join(folder, "out.npz")
    subprocess.run([arguments.taper, "run", path, *given, *threads, "-o", out], check=True, capture_output=True)
    got = np.load(out)["output"]
    if got.shape != want.shape or not np.allclose(got, want, rtol=1e-3, atol=1e-4, equal_nan=True):
        return None
    ours, theirs = [], []
    for _ in range(arguments.rounds):
        p = subprocess.run([arguments.taper, "bench", path, *given, *threads, "--json", "--warmup", "5", "--iter", "60"], check=True,
                           capture_output=True, text=True)
        ours.append(json.loads(p.stdout)["median_ms"] * 1e3)
        p = subprocess.run([sys.executable, "-c", WORKER, path, str(arguments.threads), *files], check=True, capture_output=True, text=True)
        theirs.append(json.loads(p.stdout))
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
    for name, function, inputs in cases():
        if arguments.filter not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = measure(arguments, folder, function, inputs)
        if row is None:
            print(f"{name:24} results differ", flush=True)
            continue
        ratios.append(row[2])
        if row[2] >= arguments.over:
            print(f"{name:24} {row[0]:9.1f} us {row[1]:9.1f} us  {row[2]:6.2f}", flush=True)
    if ratios:
        print(f"{len(ratios)} operators, geometric mean {statistics.geometric_mean(ratios):.2f}, above 1: {sum(r > 1 for r in ratios)}")


if __name__ == "__main__":
    main()
