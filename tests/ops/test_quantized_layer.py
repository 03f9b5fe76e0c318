# SPDX-License-Identifier: BSD-2-Clause
"""Cases for oracle.py: quantized layers with packed parameters, against QNNPACK. Integers must be equal. The parameters are
attributes of the modules, so that their states are read from files; some are packed in the run."""
import linecache

import numpy as np
import torch

torch.backends.quantized.engine = "qnnpack"
q = torch.ops.quantized
rng = np.random.default_rng(7)
CASES = []


def pick(*items):
    return items[int(rng.integers(len(items)))]


def floats(*shape):
    return torch.from_numpy(rng.standard_normal(shape).astype(np.float32))


def weight(shape, channel_axis=None, zero_point=None):
    """Returns int8 weights, per tensor or with a scale and a zero point for each index of channel_axis."""
    w = floats(*shape)
    if channel_axis is None:
        return torch.quantize_per_tensor(w, float(rng.uniform(0.01, 0.05)), int(rng.integers(-20, 20)) if zero_point is None else zero_point, torch.qint8)
    n = shape[channel_axis]
    points = torch.from_numpy(rng.integers(-20, 20, n)) if zero_point is None else torch.full((n,), zero_point)
    return torch.quantize_per_channel(w, torch.from_numpy(rng.uniform(0.01, 0.05, n)), points, channel_axis, torch.qint8)


CLASSES = []


def layer(operator, packed, dtype=torch.quint8):
    """A module around one static operator; the strides are part of the comparison."""
    def make():
        lines = ["class Layer(torch.nn.Module):", "    def __init__(self, packed):", "        super().__init__()",
                 "        self.packed = packed", "    def forward(self, x, scale: float, zero_point: int, out_scale: float, out_zero_point: int):",
                 f"        qx = torch.quantize_per_tensor(x, scale, zero_point, {dtype})",
                 f"        return torch.ops.{operator}(qx, self.packed, out_scale, out_zero_point)"]
        return build(lines)(packed)
    return make


def build(lines):
    text = "\n".join(lines) + "\n"
    file = f"<layer {len(CLASSES)}>"  # TorchScript reads the source through linecache
    CLASSES.append(file)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"torch": torch}
    exec("from typing import *\nfrom torch import Tensor", space)
    exec(compile(text, file, "exec"), space)
    return space["Layer"]


def volume_case(i, operator, w, bias, arguments, x, values):
    """QNNPACK cannot save the parameters of conv3d, so they are packed in the run; static and dynamic."""
    source = ("def f(x, w, b: Optional[Tensor], stride: List[int], padding: List[int], dilation: List[int], groups: int, scale: float, zero_point: int, "
              "out_scale: float, out_zero_point: int):\n    qw = torch.quantize_per_tensor(w, 0.02, 3, torch.qint8)\n"
              "    p = torch.ops.quantized.conv3d_prepack(qw, b, stride, padding, dilation, groups)\n"
              "    qx = torch.quantize_per_tensor(x, scale, zero_point, torch.quint8)\n"
              f"    return torch.ops.{operator}(qx, p, out_scale, out_zero_point), torch.ops.quantized.conv3d_dynamic(x, p)")
    CASES.append((f"conv-{i}-{operator}", source, (x, w.dequantize(), bias, *arguments, *values)))


def float_layer(operator, packed, extra=""):
    """A module around one dynamic operator."""
    def make():
        return build(["class Layer(torch.nn.Module):", "    def __init__(self, packed):", "        super().__init__()",
                      "        self.packed = packed", "    def forward(self, x):",
                      f"        return torch.ops.{operator}(x, self.packed{extra})"])(packed)
    return make


def numbers(dtype):
    low = 0 if dtype == torch.quint8 else -128
    return [float(rng.uniform(0.01, 0.03)), low + int(rng.integers(0, 256)), float(rng.uniform(0.02, 0.4)), low + int(rng.integers(0, 250))]


def spatial(rank, low, high):
    return [int(v) for v in rng.integers(low, high, rank)]


# ---- convolutions

def conv_cases(count):
    for i in range(count):
        rank = pick(1, 2, 2, 2, 3)
        transposed = rank < 3 and rng.random() < 0.3
        groups = pick(1, 1, 2, 3)
        ins, outs = groups * pick(1, 2, 5, 8), groups * pick(1, 2, 3, 9)
        depthwise = not transposed and rng.random() < 0.2
        if depthwise:
            groups, ins = outs, outs
        kernel, stride, dilation = spatial(rank, 1, 4), spatial(rank, 1, 3), spatial(rank, 1, 3)
        padding = [int(rng.integers(0, k)) for k in kernel]
        per_channel = rng.random() < 0.5 and not (transposed and groups > 1)
        shape = [ins, outs // groups] + kernel if transposed else [outs, ins // groups] + kernel
        bias = floats(outs) if rng.random() < 0.7 else None
        signed = rank < 3 and not transposed and rng.random() < 0.2  # qint8 inputs, with which XNNPACK computes
        w = weight(shape, (1 if transposed else 0) if per_channel else None, 0 if signed else None)
        if transposed:
            out_padding = [int(rng.integers(0, s)) for s in stride]
            packed = getattr(q, f"conv_transpose{rank}d_prepack")(w, bias, stride, padding, out_padding, dilation, groups)
            name = f"quantized.conv_transpose{rank}d"
        else:
            packed = getattr(q, f"conv{rank}d_prepack")(w, bias, stride, padding, dilation, groups)
            name = f"quantized.conv{rank}d" + pick("", "_relu")
        dtype = torch.qint8 if signed else torch.quint8
        size = [int(d * (k - 1) + 1 + rng.integers(0, 6)) for k, d in zip(kernel, dilation)]
        x = floats(pick(1, 2, 3), ins, *size) * 2
        if rank == 3:
            volume_case(i, name, w, bias, (stride, padding, dilation, groups), x, numbers(dtype))
            continue
        if rank == 2 and rng.random() < 0.4:
            x = x.contiguous(memory_format=torch.channels_last)
        CASES.append((f"conv-{i}-{name}-{dtype}-g{groups}", layer(name, packed, dtype), (x, *numbers(dtype))))
        if not signed:
            dynamic = name.replace("_relu", "") + "_dynamic"
            CASES.append((f"conv-{i}-{dynamic}", float_layer(dynamic, packed), (x,)))


conv_cases(60)

CONV2D = ("def f(x, w, b{optional}, stride: List[int], padding: List[int], dilation: List[int], groups: int):\n"
          "    qx = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)\n    qw = torch.quantize_per_tensor(w, 0.02, 3, torch.qint8)\n")


def old_forms():
    """conv2d with the arguments of the layer, the forms of _quantized, parameters packed during the run, and their unpacked values."""
    x, w, b = floats(2, 4, 6, 7), floats(6, 2, 3, 2), floats(6)
    for name in ("conv2d", "conv2d_relu"):
        source = (CONV2D.format(optional="") + "    p = torch.ops.quantized.conv2d_prepack(qw, b, stride, padding, dilation, groups)\n"
                  f"    return torch.ops.quantized.{name}(qx, p, stride, padding, dilation, groups, 0.1, 40)")
        CASES.append((f"old-{name}", source, (x, w, b, [2, 1], [1, 0], [1, 2], 2)))
        CASES.append((f"other-arguments-{name}", source.replace("(qx, p, stride", "(qx, p, padding"), (x, w, b, [2, 1], [1, 0], [1, 2], 2)))
    for name in ("conv2d", "conv2d_relu"):
        CASES.append((f"_quantized-{name}", CONV2D.format(optional="") + "    p = torch.ops._quantized.conv2d_prepack(qw, b, stride, padding, dilation, groups)\n"
                      f"    return torch.ops._quantized.{name}(qx, p, 0.1, 40)", (x, w, b, [2, 1], [1, 0], [1, 2], 2)))
    CASES.append(("conv_prepack", CONV2D.format(optional=": Optional[Tensor]") + "    p = torch.ops.quantized.conv_prepack(qw, b, stride, padding, dilation, groups)\n"
                  "    return torch.ops.quantized.conv_unpack(p), torch.ops.quantized.conv2d(qx, p, 0.1, 40)", (x, w, None, [2, 1], [1, 0], [1, 2], 2)))
    for rank in (1, 2, 3):
        for transposed in (False, True):
            if rank == 3:  # QNNPACK cannot unpack the parameters of 3-D layers
                continue
            t = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
            out_padding = "output_padding, " if transposed else ""
            getters = ["stride", "padding", "output_padding", "dilation", "groups", "transpose"] if rank != 1 else []
            source = (f"def f(w, b: Optional[Tensor], stride: List[int], padding: List[int], output_padding: List[int], dilation: List[int], groups: int):\n"
                      "    qw = torch.quantize_per_tensor(w, 0.02, 3, torch.qint8)\n"
                      f"    p = torch.ops.quantized.{t}_prepack(qw, b, stride, padding, {out_padding}dilation, groups)\n"
                      f"    return torch.ops.quantized.{t}_unpack(p), " + ", ".join(f"torch.ops.quantized.{t}_{g}(p)" for g in getters))
            shape = [4, 3] + spatial(rank, 1, 4) if transposed else [6, 2] + spatial(rank, 1, 4)
            for bias in (None, floats(6)):
                CASES.append((f"unpack-{t}-{bias is None}", source, (floats(*shape), bias, spatial(rank, 1, 4), spatial(rank, 0, 3), [0] * rank, spatial(rank, 1, 3), 2)))
    CASES.append(("unpack_sizes", "def f(w) -> Any:\n    qw = torch.quantize_per_tensor(w, 0.02, 3, torch.qint8)\n"
                  "    return torch.ops.quantized.conv2d_unpack_sizes(torch.ops.quantized.conv2d_prepack(qw, None, [1, 2], [0, 1], [1, 1], 2))", (w,)))


old_forms()

# ---- linear

def linear_cases(count):
    for i in range(count):
        ins, outs = pick(1, 3, 8, 17, 64), pick(1, 2, 5, 16, 33)
        signed = rng.random() < 0.2
        per_channel = not signed and rng.random() < 0.5
        packed = q.linear_prepack(weight((outs, ins), 0 if per_channel else None, 0 if signed else None), floats(outs) if rng.random() < 0.7 else None)
        lead = pick([1], [3], [2, 3], [2, 3, 4], [0], [1, 1, 2, 2])
        x = floats(*lead, ins) * 2
        dtype = torch.qint8 if signed else torch.quint8
        name = "quantized.linear" + pick("", "_relu")
        if 0 not in lead:
            CASES.append((f"linear-{i}-{name}-{dtype}", layer(name, packed, dtype), (x, *numbers(dtype))))
        if not signed:
            name = pick("quantized.linear_dynamic", "quantized.linear_relu_dynamic")
            CASES.append((f"linear-{i}-{name}", float_layer(name, packed, pick("", ", False")), (x * pick(1.0, 100.0, 0.01),)))


linear_cases(40)
for number, x in enumerate((torch.zeros(2, 8), floats(3, 8).abs(), -floats(3, 8).abs(), floats(2, 8) * 1e-6, floats(2, 8).abs() * 1e-6, floats(2, 8) * 1e-38,
                            floats(2, 8) * 1e30, torch.full((2, 8), float("nan")), torch.full((2, 8), float("inf")), floats(2, 8).double(), floats(8))):
    CASES.append((f"linear_dynamic-range-{number}", float_layer("quantized.linear_dynamic", q.linear_prepack(weight((5, 8)), floats(5))), (x,)))
CASES.append(("_quantized-linear", "def f(x, w, b):\n    p = torch.ops._quantized.linear_prepack(torch.quantize_per_tensor(w, 0.02, 3, torch.qint8), b)\n"
              "    qx = torch.quantize_per_tensor(x, 0.05, 120, torch.quint8)\n"
              "    return torch.ops._quantized.linear(qx, p, 0.1, 40), torch.ops._quantized.linear_dynamic(x, p), torch.ops.quantized.linear_unpack(p)",
              (floats(3, 8), floats(5, 8), floats(5))))
CASES.append(("linear_unpack-no-bias", "def f(w):\n    return torch.ops.quantized.linear_unpack(torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(w, 0.02, 3, torch.qint8)))",
              (floats(5, 8),)))

# ---- half-precision weights, which this build of PyTorch cannot pack: they are floats that were rounded to half

HALF = "def f(x, w, b: Optional[Tensor]):\n    p = torch.ops.quantized.linear_prepack_fp16(w, b)\n"


def half(w):
    return w.clamp(-65504, 65504).half().float()


for bias in (None, floats(5)):
    x, w = floats(2, 3, 8), floats(5, 8)
    w[0, 0] = 1e6
    CASES.append((f"linear_dynamic_fp16-{bias is None}", HALF + "    return torch.ops.quantized.linear_dynamic_fp16(x, p)", (x, w, bias),
                  {"expect": lambda x, w, b: torch.nn.functional.linear(x, half(w), b)}))
    CASES.append((f"linear_relu_dynamic_fp16-{bias is None}", HALF + "    return torch.ops.quantized.linear_relu_dynamic_fp16(x, p)", (x, w, bias),
                  {"expect": lambda x, w, b: torch.nn.functional.linear(x, half(w), b).relu()}))
    CASES.append((f"linear_unpack_fp16-{bias is None}", HALF + "    return torch.ops.quantized.linear_unpack_fp16(p)", (x, w, bias),
                  {"expect": lambda x, w, b: (half(w), b), "rtol": 0, "atol": 1e-7}))

# ---- recurrent networks and cells

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def int8_layer(rows, columns, bias=True):
    return q.linear_prepack(weight((rows, columns), pick(None, 0)), floats(rows) if bias else None)


def network_case(i, kind, biases=True):
    ins, hidden, layers, ways = pick(1, 4, 9), pick(1, 3, 8), pick(1, 2), pick(1, 2)
    batch_first, packed = pick(False, True), pick(False, True)
    params = []
    for l in range(layers):
        for _ in range(ways):
            inner = ins if l == 0 else hidden * ways
            params.append(q.make_quantized_cell_params_dynamic(int8_layer(GATES[kind] * hidden, inner, biases), int8_layer(GATES[kind] * hidden, hidden, biases),
                                                               floats(GATES[kind] * hidden), floats(GATES[kind] * hidden), pick(False, True)))
    states = "[h, c]" if kind == "lstm" else "h"
    batch_argument, last = ("batch_sizes, ", "") if packed else ("", f", {batch_first}")
    names = [f"p{n}" for n in range(len(params))]
    lines = ["class Layer(torch.nn.Module):", f"    def __init__(self, {', '.join(names)}):", "        super().__init__()"]
    lines += [f"        self.{n} = {n}" for n in names]
    lines += ["    def forward(self, x, batch_sizes, h, c):",
              f"        return torch.quantized_{kind}(x, {batch_argument}{states}, [{', '.join('self.' + n for n in names)}], {biases}, {layers}, 0.0, False, {ways == 2}{last})"]
    steps, batch = pick(1, 2, 5), pick(1, 2, 4)
    state = floats(layers * ways, batch, hidden), floats(layers * ways, batch, hidden)
    sizes = torch.from_numpy(np.sort(rng.integers(1, batch + 1, steps))[::-1].copy())
    sizes[0] = batch
    x = floats(int(sizes.sum()), ins) if packed else floats(batch, steps, ins) if batch_first else floats(steps, batch, ins)
    CASES.append((f"quantized_{kind}-{i}{'-packed' if packed else ''}{'' if biases else '-no-biases'}", lambda: build(lines)(*params), (x, sizes, *state)))


for i in range(12):
    network_case(i, "lstm")
    network_case(i, "gru")

for kind, gates in GATES.items():
    ins, hidden = 5, 3
    layers = ", ".join(f"torch.ops.quantized.linear_prepack(torch.quantize_per_tensor({w}, 0.01, 2, torch.qint8), {b})" for w, b in (("w", "b"), ("v", "d")))
    states = "[h, c]" if kind == "lstm" else "h"
    lead = [2, 4] if kind == "rnn_tanh" else [4]
    CASES.append((f"quantized_{kind}_cell_dynamic", "def f(x, h, c, w, v, b, d):\n"
                  f"    return torch.ops.quantized.quantized_{kind}_cell_dynamic(x, {states}, {layers}, b, d)",
                  (floats(*lead, ins), floats(*lead, hidden), floats(*lead, hidden), floats(gates * hidden, ins), floats(gates * hidden, hidden),
                   floats(gates * hidden), floats(gates * hidden))))

for i in range(6):
    network_case(i, "lstm", False)
    network_case(i, "gru", False)

# These kinds of parameters need FBGEMM. The expected results come from QNNPACK's layers, which compute the same
# integers.
NETWORK = ("def f(x, h, c, w, v, b, d):\n    p = {make}\n    return torch.quantized_lstm(x, [h, c], [p], True, 1, 0.0, False, False, False)")
NETWORK_ARGS = (floats(4, 2, 5), floats(1, 2, 3), floats(1, 2, 3), floats(12, 5) + 0.3, floats(12, 3), floats(12), floats(12))


def by_range(w):
    """Computes the same as fbgemm_linear_quantize_weight."""
    low, high = min(w.min().item(), 0.0), max(w.max().item(), 0.0)
    scale = (high - low) / 255
    from_low, from_high = -128 - low / scale, 127 - high / scale
    point = from_low if 128 - abs(low / scale) < 127 - abs(high / scale) else from_high
    return torch.quantize_per_tensor(w, scale, int(np.rint(np.clip(point, -128, 127))), torch.qint8)


def int8_network(x, h, c, w, v, b, d):
    p = q.make_quantized_cell_params_dynamic(q.linear_prepack(by_range(w), b), q.linear_prepack(by_range(v), d), b, d, False)
    return torch.quantized_lstm(x, [h, c], [p], True, 1, 0.0, False, False, False)


def half_network(x, h, c, w, v, b, d):
    return torch.lstm(x, [h, c], [half(w), half(v), b, d], True, 1, 0.0, False, False, False)


CASES.append(("make_quantized_cell_params", NETWORK.format(make="torch.ops.quantized.make_quantized_cell_params(w, v, b, d)"), NETWORK_ARGS,
              {"expect": int8_network}))
CASES.append(("make_quantized_cell_params_fp16", NETWORK.format(
    make="torch.ops.quantized.make_quantized_cell_params_fp16(torch.ops.quantized.linear_prepack_fp16(w, b), torch.ops.quantized.linear_prepack_fp16(v, d))"),
    NETWORK_ARGS, {"expect": half_network}))
CASES.append(("make_quantized_cell_params_dynamic", NETWORK.format(
    make="torch.ops.quantized.make_quantized_cell_params_dynamic(torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(w, 0.01, 2, torch.qint8), b), "
    "torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(v, 0.01, 2, torch.qint8), d), b, d, True)"), NETWORK_ARGS))
for kind, gates in GATES.items():
    states = "[h, c]" if kind == "lstm" else "h"
    made = [torch.quantize_per_tensor(floats(gates * 3, n), 0.015, 3, torch.qint8) for n in (5, 3)]

    def expect(x, h, c, w, v, b, d, made=made, kind=kind):
        layers = q.linear_prepack(made[0], b), q.linear_prepack(made[1], d)
        return getattr(q, f"quantized_{kind}_cell_dynamic")(x, [h, c] if kind == "lstm" else h, *layers, b, d)

    CASES.append((f"quantized_{kind}_cell", "def f(x, h, c, w, v, b, d):\n"
                  f"    return torch.quantized_{kind}_cell(x, {states}, w, v, b, d, w, v, b, d, 0.015, 0.015, 3, 3)",
                  (floats(2, 5), floats(2, 3), floats(2, 3), made[0].int_repr(), made[1].int_repr(), floats(gates * 3), floats(gates * 3)), {"expect": expect}))
    if gates > 1:
        legacy = "[h, c]" if kind == "lstm" else "h"
        CASES.append((f"quantized_{kind}-legacy", f"def f(x, h, c, w):\n    return torch.quantized_{kind}(x, {legacy}, [w, w, w, w], True, 1, 0.0, False, False, False)",
                      (floats(4, 2, 5), floats(1, 2, 3), floats(1, 2, 3), floats(3, 3))))

# ---- embeddings

def table(rows, columns, dtype):
    scales, points = torch.from_numpy(rng.uniform(0.01, 0.1, rows).astype(np.float32)), torch.from_numpy(rng.uniform(0, 9, rows).astype(np.float32))
    return torch.quantize_per_channel(floats(rows, columns), scales, points, 0, dtype)


def table_layer(operator, packed, arguments, signature):
    def make():
        return build(["class Layer(torch.nn.Module):", "    def __init__(self, packed):", "        super().__init__()", "        self.packed = packed",
                      f"    def forward(self, {signature}):", f"        return torch.ops.quantized.{operator}(self.packed, {arguments})"])(packed)
    return make


def ints(high, *shape, dtype=torch.int64):
    return torch.from_numpy(rng.integers(0, high, shape)).to(dtype)


BAG = "i, offsets: Optional[Tensor], pruned: bool, weights: Optional[Tensor], mapping: Optional[Tensor], last: bool"
BAG_ARGUMENTS = "i, offsets, False, 0, pruned, weights, mapping, last"
MAPPING = torch.tensor([0, -1, 2, -1, 3, 1, 6], dtype=torch.int32)
BAGS = [("plain", ints(7, 9), torch.tensor([0, 2, 2, 6]), False, None, None, False), ("last", ints(7, 9), torch.tensor([0, 2, 6]), False, None, None, True),
        ("offset", ints(7, 9), torch.tensor([1, 4]), False, None, None, True), ("back", ints(7, 9), torch.tensor([4, 1]), False, None, None, False),
        ("too-many", ints(7, 9), torch.tensor([0, 20]), False, None, None, True),
        ("int32", ints(7, 9, dtype=torch.int32), torch.tensor([0, 4], dtype=torch.int32), False, None, None, False),
        ("mixed", ints(7, 9), torch.tensor([0, 4], dtype=torch.int32), False, None, None, False), ("matrix", ints(7, 3, 4), None, False, None, None, False),
        ("matrix-last", ints(7, 3, 4), None, False, None, None, True), ("matrix-offsets", ints(7, 3, 4), torch.tensor([0]), False, None, None, False),
        ("no-offsets", ints(7, 9), None, False, None, None, False), ("weights", ints(7, 9), torch.tensor([0, 4]), False, floats(9), None, False),
        ("matrix-weights", ints(7, 3, 4), None, False, floats(3, 4), None, False), ("double", ints(7, 9), torch.tensor([0, 4]), False, floats(9).double(), None, False),
        ("half", ints(7, 9), torch.tensor([0, 4]), False, floats(9).half(), None, False), ("pruned", ints(7, 9), torch.tensor([0, 4]), True, None, MAPPING, False),
        ("pruned-weights", ints(7, 9), torch.tensor([0, 4]), True, floats(9), MAPPING, True),
        ("unpruned", ints(7, 9), torch.tensor([0, 4]), True, None, torch.tensor([0], dtype=torch.int32), False),
        ("mapping-alone", ints(7, 9), torch.tensor([0, 4]), False, None, MAPPING, False), ("no-mapping", ints(7, 9), torch.tensor([0, 4]), True, None, None, False),
        ("beyond", torch.tensor([0, 7]), torch.tensor([0]), False, None, None, False), ("below", torch.tensor([0, -1]), torch.tensor([0]), False, None, None, False)]
BELOW = (torch.tensor([1]), torch.tensor([0]), True, None, torch.tensor([0, -2, 2, -1, 3, 1, 6], dtype=torch.int32), False)


def below(*args):
    """The expected result is an error, although PyTorch raises no error and reads before the beginning of the table."""
    raise RuntimeError("compressed_indices_mapping: element 1 is -2, the table has 7 rows")


for name, dtype, columns in (("byte", torch.quint8, 5), ("4bit", torch.quint4x2, 6)):
    packed = q.embedding_bag_prepack(table(7, columns, dtype))
    for number, indices in enumerate((ints(7, 4), ints(7, 2, 3), ints(7, 3, dtype=torch.int32), torch.tensor(3), ints(7, 1, 2, 3), torch.tensor([7]), torch.tensor([-1]),
                                      ints(7, 2).double())):
        CASES.append((f"embedding_{name}-{number}", table_layer(f"embedding_{name}", packed, "i", "i"), (indices,)))
    CASES.append((f"embedding_{name}-pruned", table_layer(f"embedding_{name}", packed, "i, True", "i"), (ints(7, 4),)))
    CASES.append((f"embedding_bag_{name}-mapping-below", table_layer(f"embedding_bag_{name}", packed, BAG_ARGUMENTS, BAG), BELOW, {"expect": below}))
    for bag, *args in BAGS:
        CASES.append((f"embedding_bag_{name}-{bag}", table_layer(f"embedding_bag_{name}", packed, BAG_ARGUMENTS, BAG), tuple(args)))
    CASES.append((f"embedding_bag_unpack-{name}", lambda packed=packed, name=name: build([
        "class Layer(torch.nn.Module):", "    def __init__(self, packed):", "        super().__init__()", "        self.packed = packed",
        "    def forward(self, i):", "        again = torch.ops.quantized.embedding_bag_prepack(torch.ops.quantized.embedding_bag_unpack(self.packed))",
        f"        return torch.ops.quantized.embedding_{name}(again, i)"])(packed), (ints(7, 4),)))

for name in ("byte", "4bit", "2bit"):
    pack, unpack = f"torch.ops.quantized.embedding_bag_{name}_prepack", f"torch.ops.quantized.embedding_bag_{name}_unpack"
    both = "def f(x):\n    p = " + pack + "(x{more})\n    return p, " + unpack + "(p)"
    for number, x in enumerate((floats(6, 8), floats(3, 64) * 100, torch.ones(2, 4), floats(3, 8).half(), torch.full((2, 4), 1e-30), floats(2, 4).double(), floats(5, 1),
                                floats(3, 6), floats(3, 12) + 7)):
        if name != "byte" or number != 3:  # PyTorch writes a wrong first row for a half-precision weight
            CASES.append((f"fused-{name}-{number}", both.format(more=""), (x,)))
        if name != "byte" and number not in (5, 6):
            CASES.append((f"fused-{name}-{number}-optimized", both.format(more=", True"), (x,)))
            CASES.append((f"fused-{name}-{number}-optimized-bins", both.format(more=", True, 37, 0.5"), (x,)))
    if name == "byte":
        CASES.append(("fused-byte-volume", both.format(more=""), (floats(2, 3, 4),)))
    source = (f"def f(x, {BAG}):\n    return torch.ops.quantized.embedding_bag_{name}_rowwise_offsets({pack}(x), {BAG_ARGUMENTS})")
    for bag, *args in BAGS:
        CASES.append((f"embedding_bag_{name}_rowwise_offsets-{bag}", source, (floats(7, 8), *args)))
