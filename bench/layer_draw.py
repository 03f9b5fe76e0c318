# SPDX-License-Identifier: BSD-2-Clause
"""Draws random layers for layers.py. A layer has a kind, sizes that are common in models or awkward (1 to 17 channels, maps of 1 to 7, up to 33
images), strides, dilations, layouts and dtypes. A draw is a tuple: the layer's text, a module or function, and its inputs."""
import random

import torch
from torch.nn import functional as F

USUAL_CHANNELS = (16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 512)
USUAL_SIZES = (8, 10, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112, 128, 224)
MOST_WORK = 3e8     # largest number of multiplications of a layer, so that 500 layers take only minutes
MOST_ELEMENTS = 2e6


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)
        torch.manual_seed(seed)

    def pick(self, *of):
        return self.random.choice(of)

    def channels(self):
        return self.random.randint(1, 17) if self.random.random() < 0.4 else self.random.choice(USUAL_CHANNELS)

    def size(self):
        return self.random.randint(1, 7) if self.random.random() < 0.3 else self.random.choice(USUAL_SIZES)

    def batch(self):
        return 1 if self.random.random() < 0.6 else self.random.randint(2, 33)

    def fitting(self, make, most=MOST_ELEMENTS):
        """Returns sizes made by `make` whose product is at most `most`."""
        while True:
            sizes = make()
            product = 1
            for size in sizes:
                product *= size
            if product <= most:
                return sizes

    def image(self, channels=None, least=1):
        n, c, h, w = self.fitting(lambda: (self.batch(), channels or self.channels(), max(self.size(), least), max(self.size(), least)))
        if self.random.random() < 0.5:
            w = h
        return n, c, h, w

    def tensor(self, sizes, last=None):
        x = torch.randn(sizes)
        return x.contiguous(memory_format=torch.channels_last) if last else x

    def last(self):
        return self.random.random() < 0.25

    def shape(self, least=1, most=4):
        """Returns random sizes of a tensor."""
        return self.fitting(lambda: tuple(self.random.choice((self.size(), self.channels())) for _ in range(self.random.randint(least, most))))


def sizes(x):
    return "x".join(map(str, x.shape)) + (" last" if x.dim() == 4 and not x.is_contiguous() else "")


def layer(text, module, *inputs):
    module.requires_grad_(False)
    return f"{text}, {' '.join(map(sizes, inputs))}", module, list(inputs)


def conv(d, kernel, groups=None, least_out=1):
    """Draws a convolution. groups: None for one group, "depth" for a group per channel, "some" for a random number of groups."""
    while True:
        c, k = d.channels(), max(d.channels(), least_out)
        if groups == "depth":
            k = c
        g = 1
        if groups == "depth":
            g = c
        elif groups == "some":
            g = d.pick(2, 3, 4, 8, 16, 32)
            c, k = g * d.pick(1, 2, 3, 4, 8, 16), g * d.pick(1, 2, 3, 4, 8, 16)
        n, c, h, w = d.image(c)
        stride, dilation = d.pick(1, 1, 1, 2), d.pick(1, 1, 1, 1, 2)
        if n * k * c // g * kernel * kernel * h * w // stride**2 <= MOST_WORK and n * k * h * w <= MOST_ELEMENTS and min(h, w) > dilation * (kernel - 1) // 2:
            break
    pad = dilation * (kernel - 1) // 2
    module = torch.nn.Conv2d(c, k, kernel, stride, pad, dilation, g, bias=d.pick(True, False))
    return layer(f"conv {c}->{k} {kernel}x{kernel} stride {stride} dilation {dilation} groups {g}", module, d.tensor((n, c, h, w), d.last()))


def conv_few(d):
    while True:
        n, c, h, w = d.image()
        if n * c * h * w * 3 <= MOST_WORK:
            k = d.pick(1, 2, 3)
            return layer(f"conv {c}->{k} 1x1", torch.nn.Conv2d(c, k, 1), d.tensor((n, c, h, w), d.last()))


def conv1d(d):
    while True:
        n, c, k, length, kernel = d.batch(), d.channels(), d.channels(), d.size() * d.pick(1, 4, 16), d.pick(1, 1, 3, 5, 9)
        stride, groups = d.pick(1, 1, 2), d.pick(1, 1, 1, 0)
        if groups == 0:
            k = groups = c
        if n * k * c // groups * kernel * length <= MOST_WORK and n * max(c, k) * length <= MOST_ELEMENTS:
            break
    module = torch.nn.Conv1d(c, k, kernel, stride, kernel // 2, groups=groups)
    return layer(f"conv1d {c}->{k} {kernel} stride {stride} groups {groups}", module, d.tensor((n, c, length)))


def conv3d(d):
    while True:
        n, c, k, t, h, kernel = d.pick(1, 1, 2, 5), d.channels(), d.channels(), d.pick(1, 3, 4, 8, 16), d.size(), d.pick(1, 3, 3)
        if n * c * k * t * h * h * kernel**3 <= MOST_WORK and n * max(c, k) * t * h * h <= MOST_ELEMENTS:
            break
    stride = d.pick(1, 1, 2)
    return layer(f"conv3d {c}->{k} {kernel} stride {stride}", torch.nn.Conv3d(c, k, kernel, stride, kernel // 2), d.tensor((n, c, t, h, h)))


def transposed(d):
    while True:
        n, c, h, w = d.image()
        k, kernel, stride = d.channels(), d.pick(2, 3, 4), d.pick(1, 2, 2)
        groups = d.pick(1, 1, 1, 0)
        if groups == 0:
            k = groups = c
        if d.random.random() < 0.2:
            k = groups = 1
        if n * c * k // groups * kernel**2 * h * w <= MOST_WORK and n * k * h * w * stride**2 <= MOST_ELEMENTS:
            break
    module = torch.nn.ConvTranspose2d(c, k, kernel, stride, d.pick(0, 1) if kernel > 2 else 0, groups=groups)
    return layer(f"conv_transpose {c}->{k} {kernel} stride {stride} groups {groups}", module, d.tensor((n, c, h, w), d.last()))


def linear(d):
    rows, into, out = d.fitting(lambda: (d.pick(1, 1, 2, 7, 16, 64, 197, 512), d.pick(5, 17, 64, 128, 384, 768, 1000), d.pick(1, 3, 10, 64, 256, 768, 1000)), MOST_WORK)
    return layer(f"linear {into}->{out}", torch.nn.Linear(into, out, bias=d.pick(True, False)), d.tensor((rows, into)))


def matmul(d):
    b, m, k, n = d.fitting(lambda: (d.pick(1, 1, 4, 12), d.size(), d.size(), d.size()), MOST_WORK)
    return layer("matmul", Function(torch.matmul), d.tensor((b, m, k)), d.tensor((b, k, n)))


class Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *x):
        return self.function(*x)


def function(text, f, *inputs):
    return layer(text, Function(f), *inputs)


def max_pool(d):
    kernel, stride = d.pick(2, 3, 3, 5), d.pick(1, 2, 2)
    x = d.tensor(d.image(least=kernel), d.last())
    pad = d.pick(0, kernel // 2)
    indices = d.random.random() < 0.25
    return function(f"max_pool2d {kernel} {stride} {pad} indices {indices}", lambda x: F.max_pool2d(x, kernel, stride, pad, return_indices=indices), x)


def avg_pool(d):
    kernel, stride = d.pick(2, 3, 3, 5), d.pick(1, 2, 2)
    x = d.tensor(d.image(least=kernel), d.last())
    pad, count = d.pick(0, kernel // 2), d.pick(True, True, False)
    return function(f"avg_pool2d {kernel} {stride} {pad} {count}", lambda x: F.avg_pool2d(x, kernel, stride, pad, count_include_pad=count), x)


def adaptive_pool(d):
    x = d.tensor(d.image(), d.last())
    out = d.pick(1, 1, 2, 3, 7)
    kind = d.pick("avg", "avg", "max")
    f = F.adaptive_avg_pool2d if kind == "avg" else F.adaptive_max_pool2d
    return function(f"adaptive_{kind}_pool2d {out}", lambda x: f(x, out), x)


def pool_other(d):
    if d.pick(True, False):
        n, c, length = d.fitting(lambda: (d.batch(), d.channels(), 4 * d.size()))
        f = d.pick(F.max_pool1d, F.avg_pool1d)
        return function(f"{f.__name__} 3 2", lambda x: f(x, 3, 2), d.tensor((n, c, length)))
    f = d.pick(F.max_pool3d, F.avg_pool3d)
    sides = d.fitting(lambda: (d.pick(1, 2), d.channels(), 2 * d.pick(1, 2, 4, 8), max(2, d.size()), max(2, d.size())))
    return function(f"{f.__name__} 2", lambda x: f(x, 2), d.tensor(sides))


def batch_norm(d):
    x = d.tensor(d.image(), d.last())
    module = torch.nn.BatchNorm2d(x.shape[1]).eval()
    module.running_mean.normal_(), module.running_var.uniform_(0.5, 2)
    return layer("batch_norm", module, x)


def norm(d):
    kind = d.pick("layer", "group", "instance")
    if kind == "layer":
        rows, width = d.fitting(lambda: (d.size() * d.pick(1, 16), d.pick(5, 17, 64, 96, 384, 768)))
        return layer("layer_norm", torch.nn.LayerNorm(width), d.tensor((rows, width)))
    n, c, h, w = d.image(d.pick(8, 16, 32, 64, 128, 320, 512))
    module = torch.nn.GroupNorm(d.pick(1, 4, 8), c) if kind == "group" else torch.nn.InstanceNorm2d(c, affine=d.pick(True, False))
    if h * w == 1:
        w = 2
    return layer(f"{kind}_norm", module, d.tensor((n, c, h, w)))


def softmax(d):
    x = d.tensor(d.shape(1, 4))
    dim, f = d.random.randrange(x.dim()), d.pick(torch.softmax, torch.softmax, torch.log_softmax)
    return function(f"{f.__name__} {dim}", lambda x: f(x, dim), x)


def reduction(d):
    x = d.tensor(d.shape(1, 4))
    dims = sorted(d.random.sample(range(x.dim()), d.random.randint(1, min(2, x.dim()))))
    f = d.pick("mean", "mean", "sum", "amax", "var", "prod", "norm", "argmax", "max", "logsumexp", "any", "std")
    if f in ("prod", "argmax", "max", "any"):
        dims = dims[0]
    keep = d.pick(True, False)
    if f == "norm":
        return function(f"norm {dims}", lambda x: x.norm(dim=dims, keepdim=keep), x)
    if f == "any":
        return function(f"any {dims}", lambda x: (x > 1).any(dims, keep), x)
    return function(f"{f} {dims}", lambda x: getattr(x, f)(dims, keepdim=keep), x)


def scan(d):
    x = d.tensor(d.shape(1, 3))
    dim = d.random.randrange(x.dim())
    f = d.pick("cumsum", "cumsum", "cumprod")
    return function(f"{f} {dim}", lambda x: getattr(x, f)(dim), x)


def sort(d):
    rows, width = d.fitting(lambda: (d.size(), d.pick(3, 10, 33, 100, 300, 1000, 4096)), 1e5)
    x, down = d.tensor((rows, width)), d.pick(True, False)
    if d.pick(True, False):
        return function(f"sort descending {down}", lambda x: x.sort(-1, down), x)
    k = min(width, d.pick(1, 5, 20))
    return function(f"topk {k}", lambda x: x.topk(k), x)


def cat(d):
    x = d.tensor(d.image())
    dim = d.pick(1, 1, 1, 0, 2, 3)
    shape = list(x.shape)
    shape[dim] = max(1, shape[dim] // d.pick(1, 2, 3))
    last = d.last()
    xs = [t.contiguous(memory_format=torch.channels_last) if last else t for t in (x, torch.randn(shape), x * 2)][: d.pick(2, 3)]
    return function(f"cat {dim}", lambda *x: torch.cat(x, dim), *xs)


def pad(d):
    x = d.tensor(d.image(least=3), d.last())
    mode = d.pick("constant", "constant", "reflect", "replicate")
    p = [d.pick(0, 1, 2) for _ in range(4)]
    return function(f"pad {mode} {p}", lambda x: F.pad(x, p, mode), x)


def resize(d):
    n, c, h, w = d.image()
    mode = d.pick("nearest", "bilinear", "bilinear", "bicubic")
    scale = d.pick(0.5, 2.0, 2.0, 1.5) if min(h, w) > 1 else 2.0
    if n * c * h * w * scale**2 > MOST_ELEMENTS:
        scale = 0.5
    corners = None if mode == "nearest" else d.pick(True, False)
    return function(f"{mode} {scale} {corners}", lambda x: F.interpolate(x, scale_factor=scale, mode=mode, align_corners=corners), d.tensor((n, c, h, w), d.last()))


UNARY = ("sigmoid", "tanh", "exp", "log1p", "sqrt", "abs", "neg", "round", "floor", "erf", "sin", "rsqrt", "reciprocal", "square", "sign")
ACTIVATIONS = ("relu", "relu6", "gelu", "silu", "hardswish", "hardsigmoid", "elu", "leaky_relu", "softplus", "mish", "logsigmoid", "selu", "hardtanh")


def pointwise(d):
    x = d.tensor(d.shape(1, 4)).abs() + 0.1
    if d.pick(True, False):
        name = d.pick(*UNARY)
        return function(name, lambda x: getattr(torch, name)(x), x)
    name = d.pick(*ACTIVATIONS)
    return function(name, lambda x: getattr(F, name)(x - 0.5), x)


def binary(d):
    shape = d.shape(1, 4)
    other = [s if d.random.random() < 0.7 else 1 for s in shape]
    name = d.pick("add", "sub", "mul", "div", "maximum", "pow", "atan2", "gt", "eq", "fmod")
    x, y = torch.rand(shape) + 0.5, torch.rand(other) + 0.5
    return function(f"{name}", lambda x, y: getattr(torch, name)(x, y), x, y)


def integers(d):
    shape = d.shape(1, 4)
    dtype = d.pick(torch.int64, torch.int32, torch.uint8, torch.int16)
    name = d.pick("add", "mul", "sub", "maximum", "eq", "bitwise_and")
    x, y = torch.randint(1, 100, shape, dtype=dtype), torch.randint(1, 100, shape, dtype=dtype)
    return function(f"{name} {dtype}", lambda x, y: getattr(torch, name)(x, y), x, y)


def casts(d):
    x = torch.rand(d.shape(1, 4)) * 100
    to = d.pick(torch.int64, torch.int32, torch.uint8, torch.float16, torch.bool, torch.float64)
    return function(f"to {to}", lambda x: x.to(to), x)


def halves(d):
    """Draws operators for which PyTorch 1.13 has half precision on the CPU: operators that move elements, and few others."""
    x = torch.randn(d.shape(1, 4)).half()
    name = d.pick("add", "mul", "to float", "cat", "permute")
    if name == "to float":
        return function("half to float", lambda x: x.to(torch.float32), x)
    if name == "cat":
        return function("cat of halves", lambda a, b: torch.cat([a, b], -1), x, x)
    if name == "permute":
        return function("permute of halves", lambda x: x.transpose(0, -1).contiguous(), x)
    return function(name + " of halves", lambda x, y: getattr(torch, name)(x, y), x, x)


def permute(d):
    x = d.tensor(d.shape(2, 4))
    order = d.random.sample(range(x.dim()), x.dim())
    return function(f"permute {order}", lambda x: x.permute(order).contiguous(), x)


def select(d):
    rows, width = d.fitting(lambda: (d.pick(3, 17, 100, 512), d.channels() * d.pick(1, 4)))
    x, i = d.tensor((rows, width)), torch.randint(0, rows, (d.pick(1, 7, 64, 300),))
    kind = d.pick("index_select", "index", "embedding", "gather", "scatter", "index_add")
    wide = i[:, None].expand(-1, width).contiguous()
    functions = {"index_select": (lambda x, i: x.index_select(0, i), i), "index": (lambda x, i: x[i], i), "embedding": (lambda x, i: F.embedding(i, x), i),
                 "gather": (lambda x, i: x.gather(0, i), wide), "scatter": (lambda x, i: x.scatter(0, i, 1.0), wide[:rows]),
                 "index_add": (lambda x, i: x.index_add(0, i[: x.shape[0]], x[: i.shape[0]]), i)}
    f, index = functions[kind]
    return function(kind, f, x, index)


def masks(d):
    x = d.tensor(d.shape(1, 4))
    kind = d.pick("where", "masked_fill", "masked_select", "nonzero", "clamp")
    f = {"where": lambda x: torch.where(x > 0, x, x * 0.1), "masked_fill": lambda x: x.masked_fill(x > 0, -1.0), "masked_select": lambda x: x.masked_select(x > 0),
         "nonzero": lambda x: (x > 1).nonzero(), "clamp": lambda x: x.clamp(-0.5, 0.5)}[kind]
    return function(kind, f, x)


def recurrent(d):
    into, hidden, steps, n = d.pick(5, 16, 64, 128), d.pick(8, 17, 64, 128), d.pick(1, 5, 20), d.pick(1, 1, 4, 8)
    kind = d.pick(torch.nn.LSTM, torch.nn.GRU)
    module = kind(into, hidden, bidirectional=d.pick(False, False, True), batch_first=d.pick(True, False))
    x = torch.randn(steps, n, into)

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = module

        def forward(self, x):
            return self.cell(x)[0]

    return layer(f"{kind.__name__} {into} {hidden}", First(), x)


def attention(d):
    heads, length, width = d.pick(1, 4, 8, 12), d.pick(4, 16, 49, 64, 128, 197), d.pick(16, 32, 64)
    q = [d.tensor((1, heads, length, width)) for _ in range(3)]
    return function("attention", lambda q, k, v: ((q @ k.transpose(-1, -2)) * 0.125).softmax(-1) @ v, *q)


def movement(d):
    x = d.tensor(d.image(d.pick(4, 8, 16, 32, 64)))
    kind = d.pick("pixel_shuffle", "flip", "roll", "unfold", "repeat", "stack", "slice")
    f = {"pixel_shuffle": lambda x: F.pixel_shuffle(x, 2), "flip": lambda x: x.flip(-1), "roll": lambda x: torch.roll(x, (1, 1), (2, 3)),
         "unfold": lambda x: F.unfold(x, 1), "repeat": lambda x: x[:, :1].repeat(1, 3, 1, 1), "stack": lambda x: torch.stack([x, x], 1),
         "slice": lambda x: x[:, :, ::2, ::2].contiguous()}[kind]
    return function(kind, f, x)


def grid_sample(d):
    n, c, h, w = d.image()
    grid = torch.rand(n, d.pick(3, 7, 14, 28), d.pick(3, 7, 14, 28), 2) * 2 - 1
    return function("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), d.tensor((n, c, h, w)), grid)


class Quantized(torch.nn.Module):
    """Quantizes its input, runs the layer and returns its result as floats."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(torch.quantize_per_tensor(x, 0.05, 64, torch.quint8)).dequantize()


def quantized(d):
    kind = d.pick("conv", "conv", "linear", "add", "pool", "sigmoid", "cat")
    if kind == "linear":
        rows, into, out = d.pick(1, 7, 64), d.pick(16, 64, 384), d.pick(10, 64, 256)
        inner = torch.ao.nn.quantized.Linear(into, out)
        inner.set_weight_bias(torch.quantize_per_tensor(torch.randn(out, into), 0.02, 0, torch.qint8), torch.randn(out))
        inner.scale, inner.zero_point = 0.3, 64
        return f"quantized linear {into}->{out}, {rows}", Quantized(inner), [torch.randn(rows, into)]
    while True:
        n, c, h, w = d.image()
        k, kernel, g = d.channels(), d.pick(1, 3), d.pick(1, 1, 0)
        if g == 0:
            k = g = c
        if n * k * c // g * kernel**2 * h * w <= MOST_WORK and n * max(c, k) * h * w <= MOST_ELEMENTS:
            break
    x = d.tensor((n, c, h, w), d.last())
    if kind == "conv":
        stride = d.pick(1, 2)
        inner = torch.ao.nn.quantized.Conv2d(c, k, kernel, stride, kernel // 2, groups=g)
        inner.set_weight_bias(torch.quantize_per_tensor(torch.randn(k, c // g, kernel, kernel), 0.02, 0, torch.qint8), torch.randn(k))
        inner.scale, inner.zero_point = 0.3, 64
        return f"quantized conv {c}->{k} {kernel}x{kernel} stride {stride} groups {g}, {sizes(x)}", Quantized(inner), [x]
    inner = {"add": Function(lambda q: torch.ops.quantized.add(q, q, 0.1, 64)), "pool": Function(lambda q: F.avg_pool2d(q, 2) if min(h, w) > 1 else q),
             "sigmoid": Function(torch.sigmoid), "cat": Function(lambda q: torch.ops.quantized.cat([q, q], 1, 0.05, 64))}[kind]
    return f"quantized {kind}, {sizes(x)}", Quantized(inner), [x]


KINDS = (lambda d: conv(d, 1), lambda d: conv(d, 1), conv_few, lambda d: conv(d, 3), lambda d: conv(d, 3), lambda d: conv(d, d.pick(2, 5, 7)),
         lambda d: conv(d, d.pick(3, 5), "depth"), lambda d: conv(d, d.pick(1, 3), "some"), conv1d, conv3d, transposed, linear, matmul, max_pool, avg_pool,
         adaptive_pool, pool_other, batch_norm, norm, softmax, softmax, reduction, reduction, scan, sort, cat, pad, resize, pointwise, binary,
         integers, casts, halves, permute, select, masks, recurrent, attention, movement, grid_sample, quantized, quantized)


def layers(seed, count):
    """Yields the layers of a seed, in order."""
    d = Draw(seed)
    for _ in range(count):
        yield d.random.choice(KINDS)(d)
