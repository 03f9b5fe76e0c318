# SPDX-License-Identifier: BSD-2-Clause
"""Arithmetic of quantized tensors: activations, sums and products, concatenation, normalisation."""
import torch

CASES = []
QPARAMS = [("quint8", 0.05, 100), ("qint8", 0.03125, -5), ("qint32", 0.0001, 77), ("quint8", 0.5, 0), ("quint8", 1e-3, 255), ("qint8", 3.7, 127), ("quint8", 0.0237, 131)]
FEW = [QPARAMS[i] for i in (0, 1, 2, 6)]


def numbers(*shape, spread=3.0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape))) * spread


def quantized(name, body, *inputs, qparams=FEW):
    """Adds a case for each layout and quantizer: the body with q, a quantized x; SCALE and ZERO stand for the result's scale and zero point."""
    for dtype, scale, zero_point in qparams:
        source = f"def f(x: Tensor):\n    q = torch.quantize_per_tensor(x, {scale}, {zero_point}, torch.{dtype})\n    return {body}"
        source = source.replace("DTYPE", f"torch.{dtype}")
        for to, (out_scale, out_zero) in enumerate(((0.1, 3), (0.0417, 100), (scale, zero_point))):
            text = source.replace("SCALE", str(out_scale)).replace("ZERO", str(out_zero))
            if text == source and to > 0:
                break
            for number, x in enumerate(inputs):
                CASES.append((f"{name}/{dtype}/{scale}/{number}/{to}", text, (x,)))


EVERY = torch.arange(-600, 600).float() * 0.05  # numbers that quantize to each integer; vectors of 32 bytes leave some of them over
IMAGE = numbers(2, 3, 4, 5)
LAST = IMAGE.to(memory_format=torch.channels_last)
WIDE = numbers(2, 40, 5, 7).to(memory_format=torch.channels_last)
SHAPES = [torch.tensor(1.25), numbers(0), EVERY, numbers(2, 0, 3), IMAGE, LAST, WIDE]

UNARY = {"relu": "q.relu()", "relu_": "q.relu_()", "relu6": "torch.nn.functional.relu6(q)", "q_relu6": "torch.ops.quantized.relu6(q)", "q_relu6_": "(torch.ops.quantized.relu6(q, True), q)",
         "hardtanh": "torch.nn.functional.hardtanh(q)", "hardtanh_": "torch.nn.functional.hardtanh(q, -0.5, 2.0, True)", "clamp": "q.clamp(-0.7, 1.3)", "clamp_int": "q.clamp(-1, 2)",
         "clamp_min": "q.clamp(min=0.0)", "clamp_": "q.clamp_(0, 1)", "q_clamp": "torch.ops.quantized.clamp(q, -0.33, 0.77)", "q_clamp_max": "torch.ops.quantized.clamp(q, None, 0.5)",
         "leaky_relu": "torch.nn.functional.leaky_relu(q, 0.13)", "leaky_relu_": "torch.nn.functional.leaky_relu(q, 0.13, True)",
         "q_leaky_relu": "torch.ops.quantized.leaky_relu(q, 0.13, False, SCALE, ZERO)", "q_leaky_relu_inplace": "(torch.ops.quantized.leaky_relu(q, 0.13, True, SCALE, ZERO), q)",
         "threshold": "torch.nn.functional.threshold(q, 0.5, -0.7)", "q_threshold": "torch.ops.quantized.threshold(q, 0.5, 20.0)", "hardswish": "torch.ops.quantized.hardswish(q, SCALE, ZERO)",
         "sigmoid": "q.sigmoid()", "q_sigmoid": "torch.ops.quantized.sigmoid(q, SCALE, ZERO)", "q_sigmoid_256": "torch.ops.quantized.sigmoid(q, 0.00390625, 0)", "tanh": "q.tanh()",
         "hardsigmoid": "torch.nn.functional.hardsigmoid(q)", "elu": "torch.ops.quantized.elu(q, SCALE, ZERO, 1.0)", "elu_scaled": "torch.ops.quantized.elu(q, SCALE, ZERO, 0.7, 1.3, 0.9)",
         "celu": "torch.ops.quantized.celu(q, SCALE, ZERO, 1.7)", "gelu": "torch.nn.functional.gelu(q)", "gelu_tanh": "torch.nn.functional.gelu(q, approximate='tanh')",
         "dropout": "torch.ops.quantized.dropout(q, SCALE, ZERO, 0.5, False)", "dropout_training": "torch.ops.quantized.dropout(q, SCALE, ZERO, 0.5, True)",
         "aten_dropout": "torch.nn.functional.dropout(q, 0.5, False)", "refused_elu": "torch.nn.functional.elu(q)", "refused_silu": "torch.nn.functional.silu(q)", "refused_hardswish": "torch.nn.functional.hardswish(q)"}
# When PyTorch clamps quint8, it refuses tensors without dimensions, divides by zero on empty tensors, and mixes up the elements
# of channels-last tensors.
PLAIN = [EVERY, IMAGE]
CLAMPS = ("relu6", "q_relu6", "q_relu6_", "hardtanh", "hardtanh_", "clamp", "clamp_int", "q_clamp")
# Results of 32 bits are compared with a tolerance, because they show the last bits of exp and tanh.
INEXACT = ("sigmoid", "q_sigmoid", "q_sigmoid_256", "tanh", "elu", "elu_scaled", "celu", "gelu", "gelu_tanh")
BYTES = [p for p in FEW if p[0] == "quint8"]
for name, body in UNARY.items():
    OTHERS = [p for p in FEW if p[0] == "qint8" or (p[0] == "qint32" and name not in INEXACT)]
    quantized("unary/" + name, body, *(PLAIN if name in CLAMPS else PLAIN + [LAST, WIDE]), qparams=BYTES)
    quantized("unary/" + name, body, *SHAPES, qparams=OTHERS)
    if "_(" not in body and "True" not in body:
        part = "q[:, 1:].transpose(1, 3)"
        quantized("strided/" + name, part + body[1:] if body.startswith("q.") else body.replace("(q", "(" + part), LAST, WIDE, qparams=OTHERS[:1])
        if name not in CLAMPS:
            quantized("strided/" + name, part + body[1:] if body.startswith("q.") else body.replace("(q", "(" + part), LAST, WIDE, qparams=BYTES[:1])
for name in ("sigmoid", "tanh", "hardsigmoid", "relu", "clamp", "hardswish"):
    quantized("params/" + name, UNARY[name], EVERY, qparams=[p for p in QPARAMS if p[0] != "qint32"])

# Cases with two operands. The second operand, written @, has another quantizer, and in some cases another layout or
# size than the first.
OTHER = {"quint8": "torch.quantize_per_tensor(x.flip([-1]) * 1.7, 0.031, 91, torch.quint8)", "qint8": "torch.quantize_per_tensor(x.flip([-1]) * 1.7, 0.031, 17, torch.qint8)",
         "qint32": "torch.quantize_per_tensor(x.flip([-1]) * 1.7, 0.00031, -17, torch.qint32)"}


def binary(name, body, *inputs, qparams=FEW):
    for dtype, other in OTHER.items():
        quantized(name, body.replace("@", f"({other})"), *inputs, qparams=[p for p in qparams if p[0] == dtype])


for op in ("add", "add_relu", "mul", "mul_relu"):
    call = f"torch.ops.quantized.{op}"
    binary(f"binary/{op}", f"{call}(q, @, SCALE, ZERO)", EVERY, numbers(3000), IMAGE, LAST, WIDE, qparams=[p for p in QPARAMS if p[2] not in (255, 127) or "relu" not in op])  # skipped for relu quantizers that PyTorch refuses, because no integer is above their zero point
    binary(f"binary/{op}/coarse", f"{call}(q, @, 1.0, ZERO)", EVERY)
    binary(f"binary/{op}/fine", f"{call}(q, @, 0.0009, ZERO)", EVERY)
    binary(f"binary/{op}/self", f"{call}(q, q, SCALE, ZERO)", EVERY, IMAGE)
    binary(f"binary/{op}/layouts", f"({call}(q, @.contiguous(), SCALE, ZERO), {call}(q.contiguous(), @, SCALE, ZERO))", LAST, WIDE)
    binary(f"binary/{op}/out", f"{call}(q, @, out=torch.quantize_per_tensor(x, SCALE, ZERO, DTYPE))", EVERY, IMAGE, LAST, WIDE)
    for number, part in enumerate(("[:1]", "[:, :1]", "[..., :1]", "[0]", "[0, 0]", "[:, :, :1, :1]")):
        binary(f"binary/{op}/broadcast{number}", f"{call}(q, @{part}, SCALE, ZERO)", IMAGE, numbers(2, 3, 5, 70))
        binary(f"binary/{op}/broadcast_other{number}", f"{call}(q{part}, @, SCALE, ZERO)", IMAGE, numbers(2, 3, 5, 70), qparams=[p for p in FEW if p[0] != "qint8"])
    binary(f"binary/{op}/mismatch", f"{call}(q, @[:, :2], SCALE, ZERO)", IMAGE)
    quantized(f"binary/{op}/dtypes", f"{call}(q, torch.quantize_per_tensor(x, 0.1, 3, torch.quint8), SCALE, ZERO)", IMAGE, qparams=FEW[1:2])
    quantized(f"binary/{op}/float", f"{call}(q, x, SCALE, ZERO)", IMAGE, qparams=FEW[:1])
    quantized(f"binary/{op}/range", f"{call}(q, q, 1e-9, ZERO)", IMAGE, qparams=[FEW[0]] if op[:3] == "add" else [])
binary("binary/_quantized", "torch.ops._quantized.add(q, @, SCALE, ZERO)", IMAGE)

NUMBERS = ("1.5", "-0.7", "0.0", "3", "-2", "100.0", "-100.0", "0.001", "1e-6")
for op in ("add", "add_relu", "mul", "mul_relu"):
    for number in NUMBERS:
        quantized(f"number/{op}/{number}", f"torch.ops.quantized.{op}(q, {number})", EVERY, LAST, qparams=[p for p in QPARAMS if p[1] != 0.0001 or number[-3:] != "0.0"])
    scalar = op.replace("add", "add_scalar").replace("mul", "mul_scalar")
    quantized(f"number/{op}/forms", f"(torch.ops.quantized.{scalar}(q, 1.5), torch.ops.quantized.{scalar}(q, torch.tensor(1.5)), torch.ops.quantized.{op}(1.5, q))", IMAGE)
    quantized(f"number/{op}/out", f"(torch.ops.quantized.{scalar}_out(q, 1.5, torch.quantize_per_tensor(x, 0.5, 3, DTYPE)), torch.ops.quantized.{op}(q, -1.5, out=torch.quantize_per_tensor(x, 0.5, 3, DTYPE)))", IMAGE)
    quantized(f"number/{op}/strided", f"torch.ops.quantized.{op}(q.transpose(1, 3), 0.3)", IMAGE, LAST)

for name, body in {"one": "torch.ops.quantized.prelu(q, torch.quantize_per_tensor(torch.tensor([0.3]), 0.013, 7, DTYPE), SCALE, ZERO)",
                   "many": "torch.ops.quantized.prelu(q, torch.quantize_per_tensor(x[0, :, 0, 0], 0.013, 7, DTYPE), SCALE, ZERO)",
                   "aten": "torch.prelu(q, torch.quantize_per_tensor(x[0, :, 0, 0], 0.013, 7, DTYPE))", "wrong": "torch.prelu(q, torch.quantize_per_tensor(x[0, :2, 0, 0], 0.013, 7, DTYPE))"}.items():
    quantized("prelu/" + name, body, IMAGE, LAST, WIDE, numbers(2, 3, 9, 16))

# Concatenation of quantized tensors.
SECOND = "torch.quantize_per_tensor(x * 1.3, 0.07, 31, DTYPE)"
for op in ("cat", "cat_relu"):
    for dim in (0, 1, -1):
        quantized(f"cat/{op}/{dim}", f"torch.ops.quantized.{op}([q, {SECOND}, q], {dim}, SCALE, ZERO)", IMAGE, LAST, WIDE, numbers(2, 70, 3, 2).to(memory_format=torch.channels_last))
        quantized(f"cat/{op}/own{dim}", f"torch.ops.quantized.{op}([q, {SECOND}], {dim}, None, None)", IMAGE, LAST, WIDE)
    quantized(f"cat/{op}/same", f"torch.ops.quantized.{op}([q, q], 1, {{}}, {{}})".format("q.q_scale()", "q.q_zero_point()"), IMAGE, LAST, WIDE)
    quantized(f"cat/{op}/layouts", f"torch.ops.quantized.{op}([q, {SECOND}.contiguous()], 1, SCALE, ZERO)", LAST, WIDE)
    quantized(f"cat/{op}/out", f"torch.ops.quantized.{op}_out([q, {SECOND}], 1, torch.quantize_per_tensor(torch.cat([x, x], 1), 0.11, 5, DTYPE))", IMAGE, LAST)
    quantized(f"cat/{op}/sizes", f"torch.ops.quantized.{op}([q, q[:, :, 1:]], 1, SCALE, ZERO)", IMAGE, LAST, qparams=FEW[:1])
    quantized(f"cat/{op}/dtypes", f"torch.ops.quantized.{op}([q, torch.quantize_per_tensor(x, 0.1, 3, torch.qint32)], 1, SCALE, ZERO)", IMAGE, qparams=FEW[:1])
quantized("cat/aten", f"torch.cat([q, {SECOND}], 1)", IMAGE, LAST, WIDE, qparams=FEW[:2])
quantized("cat/short", f"(torch.ops.quantized.cat([q, q], 0, SCALE, ZERO), torch.cat([q]))", numbers(7))

# Normalisation. The numbers for each channel come from x.
VECTORS = "x[0, :, 0, 0].contiguous(), x[0, :, 1, 1].contiguous(), x[0, :, 2, 2].contiguous(), x[0, :, 3, 3].abs() + 0.3"
SQUARE = [numbers(2, 3, 6, 5), numbers(2, 3, 6, 5).to(memory_format=torch.channels_last), numbers(2, 40, 5, 7).to(memory_format=torch.channels_last), numbers(1, 11, 4, 4)]
for op in ("batch_norm", "batch_norm_relu", "batch_norm2d", "batch_norm2d_relu"):
    quantized(f"norm/{op}", f"torch.ops.quantized.{op}(q, {VECTORS}, 1e-5, SCALE, ZERO)", *SQUARE)
quantized("norm/batch_norm1d", f"(torch.ops.quantized.batch_norm1d(q[:, :, 0], {VECTORS}, 1e-3, SCALE, ZERO), torch.ops.quantized.batch_norm1d_relu(q[:, :, 0, 0], {VECTORS}, 1e-3, SCALE, ZERO))", *SQUARE)
quantized("norm/batch_norm3d", f"(torch.ops.quantized.batch_norm3d(q.unsqueeze(2), {VECTORS}, 1e-3, SCALE, ZERO), torch.ops.quantized.batch_norm3d_relu(q.unsqueeze(3), {VECTORS}, 1e-3, SCALE, ZERO))", *SQUARE)
quantized("norm/aten", f"torch.quantized_batch_norm(q, {VECTORS}, 1e-5, SCALE, ZERO)", *SQUARE[:2])
quantized("norm/refused", f"torch.ops.quantized.batch_norm2d(q, None, None, x[0, :, 0, 0], x[0, :, 0, 0], 1e-5, SCALE, ZERO)", SQUARE[0], qparams=FEW[:1])
quantized("norm/wrong_rank", f"torch.ops.quantized.batch_norm1d(q, {VECTORS}, 1e-5, SCALE, ZERO)", SQUARE[0], qparams=FEW[:1])
for name, body in {"layer": "layer_norm(q, [x.size(3)], x[0, 0, 0].contiguous(), x[0, 0, 1].contiguous(), 1e-5, SCALE, ZERO)", "layer2": "layer_norm(q, x.shape[2:], x[0, 0].contiguous(), x[0, 1].contiguous(), 1e-5, SCALE, ZERO)",
                   "layer_plain": "layer_norm(q, x.shape[1:], None, None, 1e-5, SCALE, ZERO)", "group": "group_norm(q, 1, x[0, :, 0, 0].contiguous(), x[0, :, 1, 1].contiguous(), 1e-5, SCALE, ZERO)",
                   "group_all": "group_norm(q, x.size(1), None, None, 1e-5, SCALE, ZERO)", "instance": "instance_norm(q, x[0, :, 0, 0].contiguous(), x[0, :, 1, 1].contiguous(), 1e-5, SCALE, ZERO)",
                   "instance_plain": "instance_norm(q, None, None, 1e-5, SCALE, ZERO)", "layer_wrong": "layer_norm(q, [77], None, None, 1e-5, SCALE, ZERO)", "group_wrong": "group_norm(q, 7, None, None, 1e-5, SCALE, ZERO)"}.items():
    quantized("norm/" + name, "torch.ops.quantized." + body, *SQUARE, qparams=[p for p in FEW if p[0] != "qint32"])
ROWS = [numbers(3, 67), numbers(2, 130), numbers(5, 1), numbers(2, 3000, spread=30.0), torch.full((2, 40), 3.0), numbers(0, 5)]
quantized("norm/layer_rows", "(torch.ops.quantized.layer_norm(q, [x.size(1)], x[0] * 2, x[1] + 1, 1e-5, SCALE, ZERO), torch.ops.quantized.layer_norm(q, [x.size(1)], None, None, 1e-5, SCALE, ZERO))", *ROWS[:-1], qparams=FEW[:2])
quantized("norm/layer_half", "torch.ops.quantized.layer_norm(q, [x.size(1)], x[0] * 2, None, 1e-5, SCALE, ZERO)", *ROWS[:3], qparams=FEW[:2])
quantized("norm/layer_odd", "(torch.ops.quantized.layer_norm(q, [x.size(1)], x[0] * float('nan'), x[1], 1e-5, SCALE, ZERO), torch.ops.quantized.layer_norm(q, [x.size(1)], x[0] * 1e6, x[1], 1e-5, SCALE, ZERO), "
          "torch.ops.quantized.layer_norm(q, [x.size(1)], x[0], x[1] * float('inf'), 1e-5, SCALE, ZERO))", numbers(3, 64), numbers(2, 128), qparams=FEW[:1])
quantized("norm/layer_none", "torch.ops.quantized.layer_norm(q, [5], None, None, 1e-5, SCALE, ZERO)", ROWS[-1], qparams=FEW[:2])
quantized("norm/groups", "(torch.ops.quantized.group_norm(q, 3, x[0, :, 0], x[1, :, 1], 1e-5, SCALE, ZERO), torch.ops.quantized.instance_norm(q, None, x[0, :, 1], 1e-5, SCALE, ZERO))", numbers(2, 6, 37), numbers(2, 9, 200), qparams=FEW[:2])
quantized("norm/group4", "torch.ops.quantized.group_norm(q, 4, x[0, :, 0, 0].contiguous(), x[0, :, 1, 1].contiguous(), 1e-5, SCALE, ZERO)", SQUARE[2], numbers(2, 8, 30, 20), numbers(2, 8, 30, 20).to(memory_format=torch.channels_last), qparams=FEW[:2])
