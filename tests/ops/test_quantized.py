# SPDX-License-Identifier: BSD-2-Clause
"""Quantizing, dequantizing, quantizers, and operators that move elements of quantized tensors."""
import torch

CASES = []

# (dtype, scale, zero point): usual values, extremes, and scales that are not powers of two.
QPARAMS = [("quint8", 0.05, 100), ("qint8", 0.03125, -5), ("qint32", 0.0001, 77), ("quint8", 0.5, 0), ("quint8", 1e-3, 255), ("qint8", 3.7, 127)]
FEW = QPARAMS[:3]


def numbers(*shape, spread=3.0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape))) * spread


def quantized(name, body, *inputs, qparams=FEW, head="x: Tensor"):
    """Adds a case for each layout and quantizer: the body with q, a quantized x."""
    for dtype, scale, zero_point in qparams:
        source = f"def f({head}):\n    q = torch.quantize_per_tensor(x, {scale}, {zero_point}, torch.{dtype})\n    return {body}"
        for number, x in enumerate(inputs):
            CASES.append((f"{name}/{dtype}/{scale}/{number}", source, x if isinstance(x, tuple) else (x,)))


def per_channel(name, body, axis=1, shape=(2, 3, 4, 4), dtype="quint8"):
    n = shape[axis]
    scales = [round(0.03 * (i + 1), 3) for i in range(n)]
    points = [7 * i + 3 for i in range(n)]
    source = (f"def f(x: Tensor):\n    q = torch.quantize_per_channel(x, torch.tensor({scales}), torch.tensor({points}), {axis}, torch.{dtype})\n"
              f"    return {body}")
    CASES.append((f"channels/{name}", source, (numbers(*shape),)))


IMAGE = numbers(2, 3, 4, 5)
LAST = IMAGE.to(memory_format=torch.channels_last)
EXTREMES = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e30, -1e30, 5e9, -5e9, 2147483648.0, 1e19, 3e-39])
SHAPES = [torch.tensor(1.25), numbers(0), numbers(7), numbers(2, 0, 3), numbers(2, 3, 4), IMAGE, LAST, numbers(2, 3, 2, 2, 3)]
TIES = (torch.arange(-40, 600).float() / 2)

quantized("quantize", "q", *SHAPES, EXTREMES, TIES, TIES * 0.05, qparams=QPARAMS + [("quint8", 1.0, 3), ("qint8", 1.0, 0), ("qint32", 1.0, 1)])
quantized("quantize_long", "(q, q.dequantize())", EXTREMES.repeat(6), numbers(67), numbers(3, 1030), qparams=QPARAMS)
quantized("quantize_strided", "torch.quantize_per_tensor(x.transpose(0, 1), 0.1, 3, torch.quint8)", IMAGE, LAST, numbers(4, 5), qparams=FEW[:1])
quantized("quantize_channels_last_3d", "torch.quantize_per_tensor(x.contiguous(memory_format=torch.channels_last_3d), 0.1, 3, torch.quint8)", numbers(2, 3, 2, 2, 3), qparams=FEW[:1])
quantized("dequantize", "(q.dequantize(), torch.dequantize(q))", *SHAPES, EXTREMES, qparams=QPARAMS)
quantized("dequantize_strided", "(q.permute(0, 2, 3, 1).dequantize(), q[:, 1:].dequantize(), q[..., ::2].dequantize())", IMAGE, LAST)
quantized("dequantize_list", "torch.dequantize([q, q.flatten()])", IMAGE, LAST)
quantized("dequantize_float", "torch.dequantize(x)", IMAGE, LAST, qparams=FEW[:1])
quantized("int_repr", "(q.int_repr(), q.int_repr().dtype)", *SHAPES, qparams=QPARAMS)
quantized("int_repr_strided", "(q.transpose(1, 2).int_repr(), q[:, 1:].int_repr(), q.permute(0, 3, 1, 2).int_repr())", IMAGE, LAST)
quantized("params", "(q.q_scale(), q.q_zero_point(), q.is_quantized, q.dtype, x.is_quantized, q.element_size())", IMAGE, qparams=QPARAMS)
quantized("tensor_qparams", "torch.quantize_per_tensor(x, torch.tensor(0.1), torch.tensor(3), torch.quint8)", IMAGE, LAST, qparams=FEW[:1])
quantized("tensor_qparams_vectors", "torch.quantize_per_tensor(x, torch.tensor([0.1]), torch.tensor([3]), torch.quint8)", IMAGE, qparams=FEW[:1])
quantized("tensors", "torch.quantize_per_tensor([x, x + 1], torch.tensor([0.1, 0.2]), torch.tensor([3, 4]), torch.quint8)", IMAGE, qparams=FEW[:1])
quantized("make_per_tensor", "(torch._make_per_tensor_quantized_tensor(q.int_repr(), 0.5, 3), torch._make_per_tensor_quantized_tensor(q.int_repr().transpose(0, 1), 0.5, 3))", *SHAPES[4:7])

# Operators that only move elements keep the quantizer.
MOVES = ["q.view(2, 3, -1)", "q.reshape(6, -1)", "q.flatten(1)", "q.permute(0, 2, 3, 1)", "q.transpose(1, 3)", "q.select(1, 2)", "q[:, 1]", "q[:, ::2]", "q[0]",
         "q.narrow(1, 1, 2)", "q.unsqueeze(1)", "q[:, :1].squeeze(1)", "q[0:1].squeeze()", "q[:, :1].expand(-1, 4, -1, -1)", "q.chunk(2, 1)", "q.split(2, 1)",
         "q.split([1, 2], 1)", "q.unbind(1)", "q.contiguous()", "q.contiguous(memory_format=torch.channels_last)", "q.clone()", "q.detach()", "q.t() if q.dim() < 3 else q.mT",
         "q.movedim(1, 3)", "q.swapaxes(0, 1)", "q.unfold(2, 2, 1)", "q.diagonal(0, 2, 3)", "q.repeat(1, 2, 1, 1)", "q.tile((2,))", "q.flip([2])", "q.flip([0, 3])",
         "q.as_strided([2, 2], [3, 1], 1)", "q.view_as(q)", "q.reshape_as(q)", "q.expand_as(q)", "torch.atleast_3d(q)", "q.tensor_split(2, 3)", "q.ravel()", "q.unflatten(3, [1, 5])",
         "q[:, torch.tensor([2, 0])]", "q[torch.tensor([1]), torch.tensor([2])]", "q.index_select(1, torch.tensor([2, 0, 1]))", "q.index_select(0, torch.tensor([1]))",
         "q.masked_fill(q.int_repr() > 3, 0.5)", "torch.stack([q, q])", "torch.stack([q, q], 1)", "torch.cat([q, q], 1)", "torch.cat([q, q, q])", "torch.cat([q, q], -1)",
         "q.clone(memory_format=torch.preserve_format)", "q.clone(memory_format=torch.contiguous_format)", "q.clone(memory_format=torch.channels_last)",
         "q.transpose(1, 2).clone()", "q.transpose(1, 2).contiguous()", "q[:, 1:].clone()", "q.to(torch.device('cpu'))", "q.cpu()", "q.squeeze(0)", "q.size()", "q.stride()",
         "(q.is_contiguous(), q.is_contiguous(memory_format=torch.channels_last), q.numel(), q.dim(), q.shape)", "q.repeat_interleave(2, 1)", "q.new_zeros([2])",
         "q.hsplit(3)", "torch.pixel_shuffle(torch.cat([q, q, q, q], 1), 2)", "torch.channel_shuffle(q, 3)", "torch.roll(q, 1, 0)", "torch.rot90(q, 1, [2, 3])",
         "q.alias()", "torch.broadcast_tensors(q, q[0])", "torch.broadcast_to(q, [2, 2, 3, 4, 5])", "torch.meshgrid(q[0, 0, 0], q[0, 0, 1])"]
for move in MOVES:
    quantized("move/" + move, move, IMAGE, LAST, qparams=FEW[:2])
for move in ("q.view(-1)", "q.unsqueeze(0)", "q.squeeze()", "q.clone()", "q.contiguous()", "q.flatten()", "q.reshape([1, -1])", "q.flip([0])", "q.detach()", "q.t()"):
    quantized("small/" + move, move, torch.tensor(1.25), numbers(0), numbers(7), numbers(2, 3), qparams=FEW[:1])
quantized("unsqueeze_", "q.unsqueeze_(0)", IMAGE, LAST, qparams=FEW[:1])
quantized("transpose_", "q.transpose_(0, 1)", IMAGE, LAST, qparams=FEW[:1])
quantized("squeeze_", "q[:, :1].squeeze_(1)", IMAGE, LAST, qparams=FEW[:1])

# Tensors quantized per channel: Taper refuses the calls that PyTorch refuses.
Q = "(q, q.q_per_channel_scales(), q.q_per_channel_zero_points(), q.q_per_channel_axis())"
per_channel("quantize", Q)
per_channel("quantize_axis0", Q, 0)
per_channel("quantize_axis3", Q, 3)
per_channel("quantize_vector", Q, 0, (6,))
per_channel("quantize_qint8", Q, 0, (6, 3), "qint8")
per_channel("quantize_qint32", Q, 1, (6, 3), "qint32")
for dtype in ("quint8", "qint8"):  # the axis is outermost (rows of one channel) or innermost (channels side by side), also with more channels than a vector has lanes
    for axis, shape in ((0, (6, 70)), (0, (5, 1100)), (1, (9, 21)), (1, (2, 3, 17)), (1, (3, 2, 15)), (2, (2, 2, 40)), (0, (3, 1)), (1, (0, 3, 4))):
        per_channel(f"rows/{axis}/{'x'.join(map(str, shape))}/{dtype}", "(q, q.dequantize())", axis, shape, dtype)
    CASES.append((f"channels/extremes/{dtype}", f"def f(x: Tensor):\n    s, z = torch.tensor([1.0, 0.3]), torch.tensor([0, 77])\n    return (torch.quantize_per_channel(x, s, z, 0, torch.{dtype}).int_repr(), "
                  f"torch.quantize_per_channel(x.t().contiguous(), s, z, 1, torch.{dtype}).int_repr())", (torch.stack([EXTREMES.repeat(6), -EXTREMES.repeat(6)]),)))
per_channel("dequantize", "(q.dequantize(), q.int_repr())")
per_channel("dequantize_axis0", "q.dequantize()", 0)
per_channel("dequantize_last", "(q.contiguous(memory_format=torch.channels_last).dequantize(), q.contiguous(memory_format=torch.channels_last))")
per_channel("dequantize_last0", "(q.contiguous(memory_format=torch.channels_last).dequantize(), q.contiguous(memory_format=torch.channels_last))", 0)
per_channel("quantize_last", "torch.quantize_per_channel(x.contiguous(memory_format=torch.channels_last), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3]), 1, torch.quint8)")
per_channel("q_scale", "q.q_scale()")
per_channel("make", "torch._make_per_channel_quantized_tensor(q.int_repr(), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1, 2, 3]), 1).dequantize()")
# Parts for which PyTorch computes a wrong axis, so that it raises an error later, are omitted (select of a dimension
# after the axis, unsqueeze_).
PARTS = ("q[1:]", "q[:, 1:]", "q[:, ::2]", "q.narrow(1, 1, 1)", "q.chunk(2, 1)[1]", "q.split(1, 1)[2]", "q.unbind(0)[1]", "q[0]", "q[0:1]", "q.split([1, 2], 1)[1]", "q.unsqueeze(0)", "q.unsqueeze(1)",
         "q.unsqueeze(-1)", "q.clone()", "q.contiguous()", "q.detach()", "q.view(2, 3, 4, 4, 1)", "q[0:1].squeeze(0)", "q[:, :, 0:1].squeeze(2)")
for axis, skipped in ((0, ()), (1, ()), (2, ())):
    for part in PARTS:
        per_channel(f"part{axis}/{part}", f"({part}).dequantize()", axis)
per_channel("select", "(q[:, 1].q_scale(), q[:, 1].q_zero_point(), q[:, 1], q[:, 1].dequantize(), q.unbind(1)[2].dequantize(), q[:, 1:2].q_scale())")
for refused in ("q.permute(0, 2, 1, 3)", "q.transpose(0, 1)", "q.expand(2, 3, 4, 4)", "q.as_strided([2], [1])", "q[torch.tensor([0])]", "q.index_select(1, torch.tensor([0]))", "torch.cat([q, q])",
                "torch.stack([q, q])", "q.flip([0])", "q.masked_fill(torch.ones(4) > 0, 1.0)", "q.unfold(2, 2, 1)", "q.diagonal(0, 2, 3)", "q.repeat(1, 1, 1, 2)", "q.movedim(0, 1)"):
    per_channel(f"refused/{refused}", f"({refused}).dequantize()")

# Copies into quantized tensors and from them.
quantized("copy_", "torch.quantize_per_tensor(x * 0, 0.5, 3, torch.quint8).copy_(q)", IMAGE, LAST, qparams=FEW[:1])
quantized("copy_float", "q.copy_(x * 2)", IMAGE, qparams=QPARAMS)
quantized("copy_to_float", "x.copy_(q)", IMAGE, qparams=FEW[:1])
quantized("copy_slice", "(q[:, 1].copy_(q[:, 0]), q)", IMAGE, qparams=FEW[:1])
quantized("to_other_dtype", "q.to(torch.float)", IMAGE, qparams=FEW[:1])
quantized("to_same", "q.to(torch.quint8)", IMAGE, LAST, qparams=FEW[:1])
quantized("to_copy", "q.to(torch.quint8, copy=True)", IMAGE, qparams=FEW[:1])
quantized("float_to_quantized", "x.to(torch.quint8)", IMAGE, qparams=FEW[:1])
quantized("empty_like", "(torch.empty_like(q).q_scale(), torch.empty_like(q).q_zero_point(), torch.empty_like(q).stride(), torch.empty_like(q).dtype)", IMAGE, LAST, qparams=FEW)
quantized("fill_", "q.fill_(0.7)", IMAGE, LAST, qparams=QPARAMS)
quantized("equal", "(torch.equal(q, q), torch.equal(q, q.clone()), torch.equal(q, x), torch.equal(q, torch.quantize_per_tensor(x, 0.5, 3, torch.quint8)), torch.equal(q, q[0]))", IMAGE)

# PyTorch has no kernels for these calls, so Taper must refuse the calls, and must not compute with the stored integers.
for refused in ("torch.isin(q, q)", "torch.unique(q)", "torch.searchsorted(q.flatten(), q)", "torch.mode(q)[0]", "q + q", "q * 2", "q - q", "q.abs()", "q.exp()", "q.sum()", "torch.matmul(q, q)", "q @ q.transpose(2, 3)", "torch.softmax(q, 1)", "q.float()", "q.long()", "q.neg()",
                "q.sqrt()", "q.cumsum(0)", "q.argmax()", "torch.nn.functional.conv2d(q, q)", "torch.nn.functional.linear(q, q)", "torch.where(q.int_repr() > 2, q, q)", "torch.where(q.int_repr() > 2, x, q)",
                "q.add_(1)", "q.mul_(q)", "x.add_(q)", "torch.nn.functional.layer_norm(q, [5])", "torch.einsum('nchw,nchw->n', q, q)", "q.tril()", "torch.addcmul(q, q, q)",
                "q.gather(1, q.int_repr().long())", "torch.nn.functional.gelu(q, approximate='other')", "torch.kron(q, q)", "q.var()",
                "torch.nonzero(q)", "q.cumprod(0)", "q.bernoulli()", "torch.norm(q)", "q.pow(2)", "torch.maximum(q, q)", "q.any()", "torch.nn.functional.one_hot(q)", "torch.bincount(q.flatten())"):
    quantized("refused/" + refused, refused, IMAGE, qparams=FEW[:1])

# Arguments with which a tensor cannot be quantized.
for source in ("torch.quantize_per_tensor(x, 0.1, 256, torch.quint8)", "torch.quantize_per_tensor(x, 0.1, -1, torch.quint8)", "torch.quantize_per_tensor(x, 0.1, 200, torch.qint8)",
               "torch.quantize_per_tensor(x, 0.1, 0, torch.float)", "torch.quantize_per_tensor(x.double(), 0.1, 0, torch.quint8)", "torch.quantize_per_tensor(x.to(torch.int), 0.1, 0, torch.quint8)",
               "torch.quantize_per_tensor(q, 0.1, 0, torch.quint8)", "x.int_repr()", "x.q_scale()", "x.q_zero_point()", "q.q_per_channel_scales()", "q.q_per_channel_axis()",
               "torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([1, 2]), 1, torch.quint8)", "torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([1]), 0, torch.quint8)",
               "torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([1, 300]), 0, torch.quint8)", "torch.quantize_per_channel(x, torch.tensor([0.1, 0.2]), torch.tensor([1, 3]), 9, torch.quint8)"):
    quantized("bad/" + source, source, IMAGE, qparams=FEW[:1])

# The operator computes scale and zero point from the numbers.
for number, x in enumerate((IMAGE, LAST, IMAGE.abs(), -IMAGE.abs(), IMAGE * 1e-3, IMAGE.abs() * 1e-3, -IMAGE.abs() * 1e-4, IMAGE * 0, IMAGE * 1e30, torch.tensor([1.0]), torch.tensor(-3.5), numbers(1000))):
    for dtype in ("quint8", "qint8"):
        CASES.append((f"dynamic/{dtype}/{number}", f"def f(x: Tensor):\n    return (torch.quantize_per_tensor_dynamic(x, torch.{dtype}, False), torch.quantize_per_tensor_dynamic(x, torch.{dtype}, True))", (x,)))
    CASES.append((f"choose_qparams/{number}", "def f(x: Tensor):\n    return torch._choose_qparams_per_tensor(x, True)", (x,)))
CASES.append(("dynamic/qint32", "def f(x: Tensor):\n    return torch.quantize_per_tensor_dynamic(x, torch.qint32, False)", (IMAGE,)))
CASES.append(("dynamic/empty", "def f(x: Tensor):\n    return torch.quantize_per_tensor_dynamic(x, torch.quint8, False)", (numbers(0),)))

# New quantized tensors are not initialized, so they are filled and then compared.
EMPTY = ["torch._empty_affine_quantized([2, 3], scale=0.5, zero_point=3, dtype=torch.quint8)", "torch._empty_affine_quantized([2, 0], dtype=torch.qint8)",
         "torch._empty_affine_quantized([2, 3, 4, 5], scale=0.5, zero_point=3, dtype=torch.qint32, memory_format=torch.channels_last)", "torch.empty_quantized([2, 3], q)",
         "torch.empty_quantized([2, 3, 4, 5], q, dtype=torch.qint32)", "torch.empty_like(q)", "torch.empty_like(q, memory_format=torch.channels_last)"]
for body in EMPTY:
    quantized(f"empty/{body}", f"({body}).fill_(1.25)", IMAGE, LAST, qparams=FEW[:2])
quantized("ones_like", "torch.ones_like(q), torch.ones_like(q, memory_format=torch.channels_last)", IMAGE, LAST, numbers(0), numbers(3, 2).t(), qparams=QPARAMS)
E = "torch._empty_per_channel_affine_quantized([2, 3, 4, 5], scales=torch.tensor([0.1, 0.2, 0.3]), zero_points=torch.tensor([1, 2, 3]), axis=1, dtype=torch.qint8{})"
for kind in ("", ", memory_format=torch.channels_last"):
    quantized(f"empty/channels{kind}", f"({E.format(kind)}.copy_(torch.quantize_per_channel(x, torch.tensor([0.3, 0.2, 0.1]), torch.tensor([3, 2, 1]), 1, torch.qint8)), {E.format(kind)}.q_per_channel_scales(), {E.format(kind)}.stride())", IMAGE, LAST, qparams=FEW[:1])
for body in ("torch._empty_affine_quantized([2])", "torch._empty_affine_quantized([-2], dtype=torch.quint8)", "torch._empty_affine_quantized([2], dtype=torch.float32)", "torch.empty_quantized([2], x)",
             "torch.zeros_like(q)", "torch.ones_like(q, dtype=torch.float32)", "torch.rand_like(q)", "torch._empty_affine_quantized([2], dtype=torch.quint8, memory_format=torch.channels_last)"):
    quantized(f"empty/refused/{body}", body, IMAGE, qparams=FEW[:1])

# Forms with an out tensor, which gets the result's scale and zero point. The out tensor is empty or has the result's
# sizes.
W = "torch.quantize_per_tensor(torch.zeros({}), 0.5, 1, torch.quint8)"
for form, arguments in [("_adaptive_avg_pool2d.out", "[2, 2]"), ("channel_shuffle.out", "3"), ("clone.out", ""), ("constant_pad_nd.out", "[1, 1], 0.5"), ("flip.out", "[1]"),
                        ("ones_like.out", ""), ("mean.out", "[1]"), ("mean.out", "[2, 3], True"), ("pixel_unshuffle.out", "1"), ("relu.out", ""), ("repeat.out", "[1, 2, 1, 1]"),
                        ("rot90.out", ""), ("fill.Scalar_out", "1.25"), ("masked_fill.Scalar_out", "x > 0, 0.5")]:
    rest = ", " + arguments if arguments else ""
    quantized(f"out/{form}/{arguments}", f"torch.ops.aten.{form.split('.')[0]}(q{rest}, out={W.format('[0]')})", IMAGE, LAST, qparams=FEW[:1])
for compare in ("eq", "ne", "lt", "le", "gt", "ge"):
    quantized(f"out/{compare}", f"torch.{compare}(q, q[:1], out=torch.zeros([0], dtype=torch.bool)), torch.{compare}(q, 0.5, out=torch.zeros([2, 3, 4, 5], dtype=torch.bool))", IMAGE, LAST, qparams=FEW[:1])
for form in ("add", "add_relu", "mul", "mul_relu"):
    for name in (f"{form}_out", form):
        quantized(f"out/quantized::{name}", f"torch.ops.quantized.{name}(q, torch.quantize_per_tensor(x * 0.5, 0.03, 7, torch.quint8), {'' if name != form else 'out='}{W.format('[2, 3, 4, 5]')})",
                  IMAGE, LAST, qparams=FEW[:1])
for body in (f"torch.sigmoid(q, out={W.format('[0]')})", "torch.ops.aten.relu(q, out=torch.zeros([0]))", f"torch.ops.quantized.add_out(q, q, {W.format('[2]')})"):
    quantized(f"out/refused/{body}", body, IMAGE, qparams=FEW[:1])

# In PyTorch, dequantize of a tensor that is not quantized gives floats, and a quantized tensor cannot be converted to
# another dtype.
CASES += [
    ("dequantize/plain", "def f(x: Tensor):\n    y = x.dequantize()\n    y += 1\n    return (x, y, x.double().dequantize(), torch.dequantize(x.half()), (x * 3).int().dequantize(),\n"
     "            x.double().t().dequantize(), x.double()[:, ::2].dequantize())\n", (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),)),
]
