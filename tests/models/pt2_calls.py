# SPDX-License-Identifier: BSD-2-Clause
"""Calls of operators as modules, for test_pt2_operators.py and record_pt2.py. A call is (function, args, kwargs)."""
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 (its operators)
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

SEED = 67280421310721  # the seed with which Taper's generator starts
# Results that may differ, with the reason (docs/numerics.md).
KNOWN = {"aten._fft_c2r.default": "the strides of MKL's result, which other builds of PyTorch do not have",
         "aten._embedding_bag.default": "the second result, which is for training: other sizes since 2.x"}


class Call(torch.nn.Module):
    """One call, whose tensors are arguments of forward."""

    def __init__(self, function, args, kwargs):
        super().__init__()
        self.function = function
        self.leaves, self.spec = tree_flatten((args, kwargs))
        self.where = [i for i, x in enumerate(self.leaves) if isinstance(x, torch.Tensor)]

    def forward(self, *tensors):
        leaves = list(self.leaves)
        for i, x in zip(self.where, tensors):
            leaves[i] = x
        args, kwargs = tree_unflatten(leaves, self.spec)
        return self.function(*args, **kwargs)


def name_of(call):
    return getattr(call[0], "label", str(call[0]))


def result_of(module, tensors, seed=SEED):
    torch.manual_seed(seed)
    with torch.no_grad():
        return module(*[x.clone() for x in tensors])


def resolved(v):
    return tree_map(lambda x: x.resolve_conj().resolve_neg() if isinstance(x, torch.Tensor) and x.layout == torch.strided else x, v)


def numbers(*sizes):
    return torch.randn(sizes, generator=torch.Generator().manual_seed(5))


def core():
    """Calls of core operators that OpInfo's samples do not reach."""
    aten = torch.ops.aten
    x, image = numbers(3, 4), numbers(2, 4, 6, 6)
    norm = (numbers(4), numbers(4), numbers(4), numbers(4).abs())
    yield aten._local_scalar_dense.default, (torch.tensor(2.5),), {}
    yield aten.mul.Tensor, (x, 0.5 - 2j), {}
    yield aten.div.Tensor, (torch.complex(x, x.flip(0)), 1j), {}
    yield aten.sub.Tensor, (x, 3j), {"alpha": 2}
    yield aten._native_batch_norm_legit.default, (image, *norm, True, 0.1, 1e-5), {}
    yield aten._native_batch_norm_legit.no_stats, (image, *norm[:2], True, 0.1, 1e-5), {}
    yield aten._native_batch_norm_legit_no_training.default, (image, *norm, 0.1, 1e-5), {}
    yield aten._pdist_forward.default, (x, 2.0), {}
    yield aten._adaptive_avg_pool2d_backward.default, (numbers(2, 4, 3, 3), image), {}
    yield aten._adaptive_avg_pool2d.default, (image, (3, 2)), {}
    yield aten._adaptive_avg_pool3d.default, (numbers(2, 2, 4, 5, 6), (3, 2, 2)), {}
    yield aten.add.Scalar, (x, 2.5, 2), {}
    yield aten.sub.Scalar, (x, 2.5, 2), {}
    yield aten.mul.Scalar, (x, 2.5), {}
    yield aten.div.Scalar, (x, 2.5), {}
    yield aten.div.Scalar_mode, (x, 0.3), {"rounding_mode": "floor"}
    for name in ("and", "or", "xor"):
        packet = getattr(aten, "bitwise_" + name)
        yield packet.Scalar, (torch.arange(-4, 8), 5), {}
    yield aten.any.dims, (image > 2, (1, 2), True), {}
    yield aten.any.dims, (image > 2,), {}
    yield aten.arange.start_step, (1, 9, 2), {}
    yield aten.atan2.out, (x, numbers(3, 4)), {"out": torch.empty(3, 4)}
    yield aten.avg_pool2d_backward.default, (numbers(2, 4, 3, 3), image, (2, 2), (2, 2), (0, 0), False, True, None), {}
    yield aten.convolution_backward.default, (numbers(2, 3, 4, 4), image, numbers(3, 4, 3, 3), [3], (1, 1), (0, 0), (1, 1), False, (0, 0), 1,
                                              [True, True, True]), {}
    yield aten._embedding_bag.default, (x, torch.tensor([0, 2, 1, 1]), torch.tensor([0, 1, 3])), {}
    yield aten.col2im.default, (numbers(2, 8, 9), (4, 4), (2, 2), (1, 1), (0, 0), (1, 1)), {}
    yield aten.fmod.Scalar, (x, 0.75), {}
    yield aten.pow.Scalar, (2.5, x), {}
    yield aten.copy.default, (x, numbers(4)), {}
    yield aten.embedding_dense_backward.default, (numbers(2, 3, 4), torch.tensor([[0, 2, 1], [2, 2, 4]]), 5, 1, False), {}
    yield aten.empty_strided.default, ((2, 3), (1, 2)), {}
    yield aten.fill.Scalar, (x, 3), {}
    yield aten.max_pool2d_with_indices_backward.default, (numbers(2, 4, 3, 3), image, (2, 2), (2, 2), (0, 0), (1, 1), False,
                                                          aten.max_pool2d_with_indices(image, (2, 2))[1]), {}
    yield aten.native_dropout.default, (x, 0.25, True), {}
    yield aten.native_group_norm_backward.default, (numbers(2, 4, 6, 6), image, numbers(2, 2), numbers(2, 2).abs(), norm[0], 2, 4, 36, 2,
                                                    [True, True, True]), {}
    yield aten.native_layer_norm_backward.default, (numbers(3, 4), x, [4], numbers(3, 1), numbers(3, 1).abs(), norm[0], norm[1],
                                                    [True, True, True]), {}
    yield aten.prod.default, (x,), {}
    yield aten.rand.default, ((3, 4),), {}
    yield aten.randn.default, ((3, 4),), {}
    yield aten.randperm.default, (9,), {}
    yield aten.scalar_tensor.default, (2.5,), {}
    yield aten.scatter.value, (x, 1, torch.tensor([[0, 2], [1, 1]]), 2.5), {}
    yield aten.squeeze.dims, (numbers(1, 3, 1, 2), (0, 2, 3)), {}
    yield aten.sym_numel.default, (x,), {}
    yield aten.sym_size.int, (x, 1), {}
    yield aten.sym_storage_offset.default, (x,), {}
    yield aten.sym_stride.int, (x, 0), {}
    yield aten.sym_is_contiguous.default, (x,), {}
    yield aten.upsample_bilinear2d.vec, (image, (9, 7), True, None), {}
    yield aten.upsample_bilinear2d.vec, (image, None, False, (1.5, 2.0)), {}
    yield aten.upsample_nearest2d.vec, (image, None, (1.5, 2.0)), {}
    yield aten.var.dim, (x, (1,), False, True), {}
    yield aten.var.correction, (x, (0,)), {"correction": 0.5}


def define_embeddings():
    """Defines the embeddings of ExecuTorch's quantizers with PyTorch's operators. The first element of a packed byte is in the high half, or in
    the lowest bits."""
    library = torch.library.Library("quantized_decomposed", "FRAGMENT")
    schema = "(Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices"
    shifts = {"byte": [], "4bit": [4, 0], "2bit": [0, 2, 4, 6]}
    for name, steps in shifts.items():
        def look_up(weight, scales, points, low, high, indices, dtype=None, steps=steps):
            if steps:
                mask, middle = (15, 8) if len(steps) == 2 else (3, 2)
                parts = [(weight.int() >> step) & mask for step in steps]
                weight = (torch.stack(parts, -1).reshape(weight.shape[0], -1) - middle).to(torch.int8)
            group = weight.shape[1] // (scales.shape[1] if scales.dim() == 2 else 1)
            table = torch.ops.quantized_decomposed.dequantize_per_channel_group(weight, scales, points, low, high, weight.dtype, group,
                                                                                dtype or scales.dtype)
            return torch.nn.functional.embedding(indices, table)

        for overload, more in (("", ")"), (".dtype", ", *, ScalarType? dtype=None)")):
            library.define(f"embedding_{name}{overload}{schema}{more} -> Tensor")
            library.impl(f"embedding_{name}{overload}", look_up, "CompositeExplicitAutograd")
    return library


LIBRARY = define_embeddings()


def embeddings():
    q = torch.ops.quantized_decomposed
    table, signed = (numbers(6, 8) * 90).to(torch.int8).view(torch.uint8), (numbers(6, 8) * 40).to(torch.int8)
    rows, scales, points = torch.tensor([[0, 5, 3], [1, 1, 2]]), numbers(6).abs(), numbers(6).round()
    for given in (table, signed):
        yield q.embedding_byte.default, (given, scales, points, -128, 127, rows), {}
        yield q.embedding_byte.default, (given, numbers(6, 2).half(), None, -128, 127, rows.int()), {}
        yield q.embedding_byte.dtype, (given, scales.half(), points.half(), -128, 127, rows), {"dtype": torch.float32}
    for name, low, high in (("4bit", -8, 7), ("2bit", -2, 1)):
        yield getattr(q, "embedding_" + name).default, (table, scales, points, low, high, rows), {}
        yield getattr(q, "embedding_" + name).default, (table, numbers(6, 4), numbers(6, 4), low, high, rows[0, 0]), {}
        yield getattr(q, "embedding_" + name).dtype, (table, numbers(6, 2).half(), None, low, high, rows), {"dtype": torch.float16}


def resized():
    """Calls that resize uint8 images, which PyTorch 1.13 does not support. Tensors with more than four channels are not resized to the width 1,
    because PyTorch 2 is wrong there."""
    aten, generator = torch.ops.aten, torch.Generator().manual_seed(8)
    small, large = (torch.randint(0, 256, sizes, dtype=torch.uint8, generator=generator) for sizes in ((2, 3, 9, 11), (1, 5, 7, 6)))
    for name in ("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"):
        f = getattr(aten, name)
        for image, size in ((small, [5, 14]), (small, [9, 1]), (small, [30, 2]), (large, [13, 9]), (large, [2, 6])):
            yield f.default, (image, size, False), {}
        yield f.default, (small.contiguous(memory_format=torch.channels_last), [4, 11], True), {}
        yield f.default, (small, [9, 12], False, 1.04, 1.1), {}
        yield f.vec, (large, None, False, [0.4, 1.7]), {}
    for image in (small.float(), small.double(), small.float().contiguous(memory_format=torch.channels_last)):
        yield aten._upsample_lanczos2d_aa.default, (image, [4, 17], False), {}
        yield aten._upsample_lanczos2d_aa.vec, (image, None, False, [1.7, 0.3]), {}


def composed():
    """Calls that Taper computes with several operators."""
    aten = torch.ops.aten
    x, far = numbers(3, 4), torch.tensor([[2, 9, 1], [0, 1, -7]])
    inside = torch.tensor([[True, False, True], [False, True, False]])
    for index in (far, far.int()):
        yield aten._unsafe_masked_index.default, (x, inside, [index, torch.tensor([1, 3, -2])], -2.5), {}
        yield aten._unsafe_masked_index.default, (x.t(), inside.unsqueeze(-1), [index, None], 7), {}
        yield aten._unsafe_masked_index_put_accumulate.default, (x, inside, [None, index], numbers(3, 2, 3)), {}
    for index in (torch.tensor([2, -1, 0], dtype=torch.int32), torch.tensor([[1], [0]], dtype=torch.int32)):
        yield aten.index.Tensor, (x, [index]), {}
        yield aten.index.Tensor, (x, [index, torch.tensor([3, 0, 1])]), {}
        yield aten.index_put.default, (x, [None, index], torch.tensor(5.0)), {}
    yield aten._unsafe_masked_index_put_accumulate.default, (x, inside, [far, torch.tensor([1, 3, -2])], numbers(2, 3)), {}
    byte, other = (numbers(19, 16) * 60).to(torch.int8), (numbers(16, 8) * 60).to(torch.int8)
    yield aten._int_mm.default, (byte, other), {}
    yield aten._int_mm.default, (byte[::2], other.t().contiguous().t()), {}
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        yield aten._weight_int8pack_mm.default, (numbers(5, 32).to(dtype), (numbers(16, 32) * 60).to(torch.int8), numbers(16).abs().to(dtype)), {}
    many = [numbers(4, 5, 3), numbers(4, 6), numbers(4, 2, 2, 2), numbers(4, 3, 1)]
    yield aten._chunk_cat.default, (many, 1, 3), {}
    yield aten._chunk_cat.default, (many[::2], 0, 3), {}
    yield aten._chunk_cat.default, ([many[1], many[1].flip(0)], 1, 4), {}
    yield aten._chunk_cat.default, ([many[1], many[1].flip(0)], -1, 4), {}
    tall, square = numbers(2, 5, 3), numbers(4, 4)
    for given in (tall, square, tall[0].double(), torch.complex(tall, tall.flip(1)), tall[:, :0, :0], tall[:0]):
        yield aten.linalg_polar.default, (given,), {}
    hermitian = torch.complex(square, square.t())
    for given in (square @ square.t(), square + square.t(), (tall.mT @ tall).double(), hermitian @ hermitian.mH, torch.zeros(2, 0, 0)):
        yield aten.linalg_matrix_sqrth.default, (given,), {}
    for gradient in (aten._softmax_backward_data, aten._log_softmax_backward_data):
        yield gradient.default, (numbers(3, 5), torch.softmax(numbers(3, 5), 1), 1, torch.float32), {}
    for t in (torch.uint8, torch.int64):
        yield aten.max_pool2d_with_indices.default, ((numbers(2, 3, 6, 5) * 9).abs().to(t), [2, 3], [1, 2], [1, 1]), {}
        yield aten.max_pool3d_with_indices.default, ((numbers(2, 3, 4, 6, 5) * 9).abs().to(t), [2, 2, 2]), {}
    yield aten._trilinear.default, (numbers(5, 3), numbers(2, 3, 4), numbers(5, 4), [1, 3], [0], [1, 2], [2, 3]), {}
    yield aten._trilinear.default, (numbers(5, 3), numbers(3, 2), numbers(5, 2), [-1], [0], [1], [-2]), {}


def define_grouped():
    """Defines the function that transformers calls if PyTorch's own grouped product does not support its matrices."""
    def multiply(x, weights, ends):
        y, start = torch.zeros(x.shape[0], weights.shape[2], dtype=x.dtype), 0
        for i, end in enumerate(ends.tolist()):
            y[start:end] = x[start:end] @ weights[i]
            start = end
        return y

    library = torch.library.Library("transformers", "FRAGMENT")
    library.define("grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor")
    library.impl("grouped_mm_fallback", multiply, "CPU")
    torch.library.register_fake("transformers::grouped_mm_fallback", lambda x, weights, ends: x.new_empty(x.shape[0], weights.shape[2]), lib=library)
    return library


GROUPED = define_grouped()


def grouped():
    aten = torch.ops.aten

    def columns(x, weights, ends=None):  # any number of columns; rows of the result are padded
        return aten._grouped_mm(x, weights.mT, ends)
    columns.label = "aten._grouped_mm.columns"

    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        rows, columns_, parts = (torch.tensor(ends, dtype=torch.int32) for ends in ([2, 2, 7, 9], [4, 9, 9, 13], [8, 8, 11, 16]))
        x, y = (numbers(*sizes).to(dtype) for sizes in ((9, 16), (4, 5, 16)))
        weights, other = numbers(4, 16, 8).to(dtype), numbers(4, 7, 16).to(dtype)
        yield aten._grouped_mm.default, (x, weights, rows), {}
        yield aten._grouped_mm.default, (y, weights), {}
        yield columns, (x, other, rows), {}
        yield columns, (y, other), {}
        yield columns, (y, numbers(13, 16).to(dtype), columns_), {}
        yield columns, (numbers(9, 16).to(dtype), numbers(7, 16).to(dtype), parts), {}
        yield aten._grouped_mm.default, (numbers(16, 8).to(dtype).t(), numbers(16, 24).to(dtype), parts), {}
        yield torch.ops.transformers.grouped_mm_fallback.default, (x, weights, rows.long()), {}
        yield torch.ops.transformers.grouped_mm_fallback.default, (x, other.mT, rows), {}
    yield torch.ops.transformers.grouped_mm_fallback.default, (numbers(5, 3), numbers(2, 3, 5), torch.tensor([1, 5], dtype=torch.int32)), {}


def attended():
    """Attention whose second result is used, too."""
    f = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    q, k, v = numbers(2, 4, 5, 8), numbers(2, 4, 7, 8).flip(0), numbers(2, 4, 7, 8)
    mask = numbers(5, 7)
    yield f, (q, k, v), {}
    yield f, (q, k, v), {"scale": 0.7}
    yield f, (q, k, v), {"attn_mask": mask}
    yield f, (q, k, v), {"attn_mask": mask.masked_fill(mask > 0.5, -float("inf")).expand(2, 1, 5, 7)}
    yield f, (q, k[:, :, :5], v[:, :, :5], 0.0, True), {}
    yield f, (q.double(), k.double(), v.double(), 0.0, False), {}
    yield f, (q.bfloat16(), k.bfloat16(), v.bfloat16()), {}


def rotated():
    """Boxes of torchvision 0.23 and newer, if it is installed."""
    try:
        import torchvision  # noqa: F401 (its operators)
        overlap = torch.ops.torchvision.box_iou_rotated.default
    except (ImportError, AttributeError):
        return
    if not hasattr(rotated, "exports"):  # torchvision has no function for the sizes of the result
        rotated.exports = torch.library.register_fake("torchvision::box_iou_rotated", lambda a, b: a.new_empty(a.shape[0], b.shape[0], dtype=torch.float32))
    boxes = torch.tensor([[5.0, 5, 4, 2, 30], [5, 5, 4, 2, -60], [6, 4, 3, 3, 45], [5, 5, 1, 1, 200], [0, 0, -2, -2, 0], [1, 1, 0, 5, 0],
                          [float("nan"), 0, 1, 1, 0], [20, 20, 40, 41, 89], [5, 5, 2, 4, 120], [1e5, 0, 3, 2, 10], [1e5, 1, 3, 2, 0]])
    generator = torch.Generator().manual_seed(9)
    drawn = torch.rand(12, 5, generator=generator) * torch.tensor([9.0, 9, 6, 6, 720]) - torch.tensor([0.0, 0, 0, 0, 360])
    yield overlap, (boxes, boxes), {}
    yield overlap, (drawn, boxes), {}
    yield overlap, (drawn.double().t().contiguous().t(), drawn.double()[::2]), {}
    yield overlap, (boxes[:0], drawn), {}


def quantized():
    q = torch.ops.quantized_decomposed
    x, odd = numbers(3, 5, 4), torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 0.5, 1.5, 2.5, -0.5, 1e30, -1e30, 3e9])
    scale, point = torch.tensor([0.037]), torch.tensor([3])
    low, high = torch.tensor(-128), torch.tensor(127)
    ints = {dtype: (numbers(3, 5, 4) * 40).to(dtype) for dtype in (torch.int8, torch.int16, torch.int32)}
    bytes_ = (numbers(3, 5, 4).abs() * 60).to(torch.uint8)
    for given in (x, odd, x.permute(2, 0, 1), x.half(), x.bfloat16(), x[:0], numbers()):
        yield q.quantize_per_tensor.default, (given, 0.037, 3, -128, 127, torch.int8), {}
    yield q.quantize_per_tensor.default, (odd, 1.0, 0, 0, 255, torch.uint8), {}
    yield q.quantize_per_tensor.default, (odd, 0.001, -7, -32768, 32767, torch.int16), {}
    yield q.quantize_per_tensor.default, (x, 1e-4, 0, -2147483648, 2147483647, torch.int32), {}
    yield q.quantize_per_tensor.tensor, (x, scale, point, 0, 255, torch.uint8), {}
    yield q.quantize_per_tensor.tensor2, (x, scale, point, low, high, torch.int8), {}
    for dtype, given in [*ints.items(), (torch.uint8, bytes_)]:
        for out in (None, torch.float32, torch.float16, torch.bfloat16, torch.float64):
            yield q.dequantize_per_tensor.default, (given, 0.037, 3, 0, 100, dtype), {"out_dtype": out}
    yield q.dequantize_per_tensor.default, (ints[torch.int8].permute(1, 2, 0), 0.037, -3, -128, 127, torch.int8), {}
    yield q.dequantize_per_tensor.tensor, (bytes_, scale, point, 0, 255, torch.uint8), {}
    yield q.dequantize_per_tensor.tensor2, (ints[torch.int8], scale, point, low, high, torch.int8), {}
    for axis, channels in ((0, 3), (1, 5), (2, 4)):
        scales, points = numbers(channels).abs() / 50 + 0.01, torch.arange(channels) - 2
        for given in (x, x.bfloat16(), x.permute(0, 2, 1).contiguous().permute(0, 2, 1)):
            yield q.quantize_per_channel.default, (given, scales, points, axis, -127, 127, torch.int8), {}
        yield q.quantize_per_channel.default, (x, scales.double(), points.int(), axis, -127, 127, torch.int8), {}
        for out in (None, torch.float16, torch.float64):
            yield q.dequantize_per_channel.default, (ints[torch.int8], scales, points, axis, -128, 127, torch.int8), {"out_dtype": out}
        yield q.dequantize_per_channel.default, (ints[torch.int32], scales.double(), points, axis, -2**31, 2**31 - 1, torch.int32), {}
        yield q.dequantize_per_channel.default, (ints[torch.int8], scales, None, axis, -128, 127, torch.int8), {}
        yield q.dequantize_per_channel.default, (ints[torch.int8], scales.half(), points, axis, -128, 127, torch.int8), {}
        yield q.fake_quant_per_channel.default, (x, scales, points, axis, -20, 20), {}
    for given in (x, x.half(), x.bfloat16(), x.abs(), -x.abs(), torch.zeros(3)):
        yield q.choose_qparams.tensor, (given, -128, 127, 1.2e-7, torch.int8), {}
        yield q.choose_qparams.tensor, (given, 0, 255, 6.1e-5, torch.uint8), {}
        yield q.choose_qparams_symmetric.tensor, (given, -127, 127, 1.2e-7, torch.int8), {}
        yield q.choose_qparams_symmetric.tensor, (given, 0, 255, 1.2e-7, torch.uint8), {}
        yield q.choose_qparams_per_token.default, (given, torch.int8), {}
        yield q.choose_qparams_per_token_asymmetric.default, (given, torch.int8), {}
    scales, points = numbers(3, 5, 1).abs() / 50 + 0.01, (torch.arange(15) - 7).reshape(3, 5, 1)
    for kind in (torch.float32, torch.float64):
        yield q.quantize_per_token.default, (x, scales.to(kind), points, -128, 127, torch.int8), {}
        yield q.dequantize_per_token.default, (ints[torch.int8], scales.to(kind), points, -128, 127, torch.int8, torch.float32), {}
    yield q.quantize_per_token.default, (x.half(), scales.half(), points, -128, 127, torch.int8), {}
    yield q.dequantize_per_token.default, (ints[torch.int8], scales.half(), points, -128, 127, torch.int8, torch.float16), {}
    flat, groups = numbers(4, 8), numbers(4, 2).abs() / 20 + 0.01
    small = (flat * 3).round().clamp(-8, 7).to(torch.int8)
    yield q.quantize_per_channel_group.default, (flat, groups, torch.zeros(4, 2, dtype=torch.int32), -8, 7, torch.int8, 4), {}
    yield q.dequantize_per_channel_group.default, (small, groups, torch.ones(4, 2, dtype=torch.int32), -8, 7, torch.int8, 4, torch.float32), {}
    yield q.dequantize_per_channel_group.default, (small, groups[:, :1].half(), None, -8, 7, torch.int8, 32, torch.float16), {}
    # These rows are long enough for the kernels, which work on blocks.
    many, odds = numbers(2, 1100) * 3, odd.repeat(4)
    for given, low, high, dtype in ((many, -127, 127, torch.int8), (many, 3, 200, torch.uint8), (odds, -128, 127, torch.int8), (odds, 0, 255, torch.uint8)):
        for step in (0.5, 0.0371):
            yield q.quantize_per_tensor.default, (given, step, 7, low, high, dtype), {}
            yield q.quantize_per_channel.default, (given.reshape(2, -1), torch.tensor([step, 0.02]), torch.tensor([7, 100]), 0, low, high, dtype), {}
            for kind in (torch.float32, torch.float64):
                tokens = torch.tensor([[step], [0.02]], dtype=kind), torch.tensor([[7], [100]])
                yield q.quantize_per_token.default, (given.reshape(2, -1), *tokens, low, high, dtype), {}
                whole = (many * 40).clamp(low, high).to(dtype)
                yield q.dequantize_per_token.default, (whole, *tokens, low, high, dtype, torch.float32), {}
                yield q.dequantize_per_channel.default, (whole, tokens[0][:, 0], tokens[1][:, 0], 0, low, high, dtype), {}
            yield q.dequantize_per_tensor.default, (whole, step, 7, low, high, dtype), {}
            yield q.dequantize_per_channel_group.default, (whole, numbers(2, 22).abs(), None, low, high, dtype, 50, torch.float32), {}
    wide = torch.arange(600, dtype=torch.int32).reshape(1, 600) % 4
    yield torch.ops.aten.gather.default, (numbers(1, 600), 1, wide), {}
    yield torch.ops.aten.gather.default, (numbers(4, 600), 0, wide), {}
    yield q.convert_element_type.no_fuse, (x, torch.float16), {}


def affine():
    """Calls of torchao's operators on blocks of elements."""
    try:
        import torchao.quantization.quant_primitives  # noqa: F401 (its operators)
    except ImportError:
        return
    q, x, odd = torch.ops.torchao, numbers(2, 3, 8) * 3, torch.tensor([[0.5, 1.5, float("inf"), -0.0], [-2.5, 1e30, -float("inf"), -0.5]])
    for given in (x, x.half(), x.bfloat16(), x.abs(), -x.abs(), torch.zeros(2, 3, 8), x.permute(1, 0, 2)):
        for kind in ("SYMMETRIC", "ASYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"):
            sizes = [1, 1, 8] if kind == "SYMMETRIC" else [given.shape[0], 1, 4]
            yield q.choose_qparams_affine.default, (given, kind, sizes, torch.int8, -8, 7), {}
            yield q.choose_qparams_affine.default, (given, kind, sizes, torch.uint8, None, None, 1e-3, torch.float32, torch.int64), {"keepdim": True}
    for block in ([2, 3, 8], [1, 1, 1], [1, 3, 2], [2, 1, 4]):
        count = [size // part for size, part in zip(x.shape, block)]
        scale, point = numbers(*count).abs() / 20 + 0.01, (numbers(*count) * 3).round().to(torch.int32)
        small = (x * 9).round().clamp(-128, 127).to(torch.int8)
        for given in (x, x.half(), x.bfloat16()):
            yield q.quantize_affine.default, (given, block, scale, point, torch.int8), {}
            yield q.quantize_affine.default, (given, block, scale.to(given.dtype), point.to(torch.int8), torch.int8, -8, 7), {}
            yield q.dequantize_affine.default, (small, block, scale.to(given.dtype), point, torch.int8, -128, 127, given.dtype), {}
        yield q.quantize_affine.default, (x, block, scale, point.float(), torch.uint8, 0, 15), {}
        yield q.dequantize_affine.default, (small, block, scale, None, torch.int8), {}
        yield q.dequantize_affine.default, (small.to(torch.int32), block, scale.half(), point, torch.int32, -8, 7, torch.float16), {}
    yield q.quantize_affine.default, (odd, [1, 4], torch.tensor([[0.5], [0.25]]), torch.tensor([[3], [-4]]), torch.int8), {}
    yield torch.ops.aten._int_mm.default, (small[0].repeat(6, 4), small[1].t().repeat(4, 8)), {}


def gradients():
    aten = torch.ops.aten
    image, column = numbers(2, 4, 7, 5), torch.tensor([[0, 2, 1], [2, 2, 4]])
    for scaled in (False, True):
        yield aten.embedding_dense_backward.default, (numbers(2, 3, 4), column.int() if scaled else column, 6, -1, scaled), {}
    for arguments in (((3, 2), (2, 2), (1, 0), False, False, None), ((3, 3), (2, 2), (1, 1), True, True, None), ((2, 2), (1, 1), (0, 0), False, True, 3)):
        for given in (image, image[0]):
            yield aten.avg_pool2d_backward.default, (torch.ones_like(aten.avg_pool2d(given, *arguments)) * given.mean(), given, *arguments), {}
    yield aten._adaptive_avg_pool2d_backward.default, (numbers(4, 3, 2), image[1]), {}
    _, indices = aten.max_pool2d_with_indices(image, (3, 3), (2, 2), (1, 1), (1, 1), True)
    yield aten.max_pool2d_with_indices_backward.default, (numbers(*indices.shape), image, (3, 3), (2, 2), (1, 1), (1, 1), True, indices), {}
    yield aten.native_layer_norm_backward.default, (numbers(2, 3, 4), numbers(2, 3, 4) + 1, [3, 4], numbers(2, 1, 1), numbers(2, 1, 1).abs(), None,
                                                    None, [True, False, False]), {}
    yield aten.native_group_norm_backward.default, (image, image * 2 + 1, numbers(2, 4), numbers(2, 4).abs(), None, 2, 4, 35, 4,
                                                    [True, False, False]), {}
    line, weight = numbers(2, 4, 9), numbers(6, 2, 3)
    yield aten.convolution_backward.default, (numbers(2, 6, 4), line, weight, [6], (2,), (1,), (2,), False, (0,), 2, [True, True, True]), {}
    yield aten.convolution_backward.default, (numbers(2, 4, 19), numbers(2, 6, 9), weight, [4], (2,), (0,), (1,), True, (0,), 2, [True, True, True]), {}
    yield aten.convolution_backward.default, (numbers(1, 2, 3, 3, 3), numbers(1, 2, 4, 4, 4), numbers(2, 2, 2, 2, 2), None, (1, 1, 1), (0, 0, 0), (1, 1, 1),
                                              False, (0, 0, 0), 1, [True, True, False]), {}


def first(function):
    """Returns only the function's first result; all other results are for training."""
    def call(*args, **kwargs):
        return function(*args, **kwargs)[0]
    call.label = str(function) + ".first"
    return call


def layers():
    aten = torch.ops.aten
    image, norm = numbers(2, 4, 6, 6), (numbers(4), numbers(4))
    q, k, v = numbers(2, 3, 5, 8), numbers(2, 3, 7, 8), numbers(2, 3, 7, 8) + 1
    mask = numbers(5, 7)
    yield first(aten.native_layer_norm.default), (image, [6], None, None, 1e-5), {}
    yield first(aten.native_group_norm.default), (image, *norm, 2, 4, 36, 2, 1e-5), {}
    yield first(aten._fused_rms_norm.default), (image, [6, 6], numbers(6, 6), 1e-5), {}
    yield first(aten.max_pool2d_with_indices.default), (image, (3, 3), (2, 2), (1, 1)), {}
    yield first(aten.max_pool3d_with_indices.default), (image[None], (2, 2, 2)), {}
    flash = first(aten._scaled_dot_product_flash_attention_for_cpu.default)
    yield flash, (q, k, v), {}
    yield flash, (q, k, v, 0.0, False), {"attn_mask": mask, "scale": 0.3}
    yield flash, (q, q, q, 0.0, True), {}


def others():
    """Calls of operators that are not core and for which OpInfo has no samples, or few."""
    aten = torch.ops.aten
    x, image = numbers(3, 4), numbers(2, 4, 6, 6)
    norm = (numbers(4), numbers(4), numbers(4), numbers(4).abs())
    yield aten._native_batch_norm_legit_functional.default, (image, *norm, True, 0.1, 1e-5), {}
    yield aten._native_batch_norm_legit_functional.default, (image, *norm, False, 0.1, 1e-5), {}
    for given, sizes in ((x, [4]), (image, [6, 6]), (image.permute(0, 2, 3, 1), [4]), (x.half(), [4]), (x.double(), [3, 4]), (x[:0], [4])):
        weight = numbers(*sizes).to(given.dtype)
        yield aten.rms_norm.default, (given, sizes, weight, 1e-6), {}
        yield aten.rms_norm.default, (given, sizes), {}
        yield aten._fused_rms_norm.default, (given, sizes, weight, None), {}
    for dims in (None, [], [0], [-1, 0]):
        for given in (x > 0.5, (x > 0).to(torch.uint8), x):
            yield aten.all.dims, (given, dims), {}
            yield aten.any.dims, (given, dims, True), {}
    yield aten.squeeze_copy.dims, (numbers(1, 3, 1), [0, 1]), {}
    yield aten.squeeze.dims, (numbers(1, 3, 1), []), {}
    yield aten.std.correction, (x,), {"correction": 1.5}
    yield aten.var_mean.correction, (x,), {}
    yield aten.var_mean.correction, (x, [1]), {"correction": 7, "keepdim": True}
    for kind in (torch.int32, torch.int64):
        index = torch.tensor([[0, 2], [1, 1]], dtype=kind)
        yield aten.gather.default, (x, 1, index), {}
        yield aten.scatter.src, (x, 1, index, numbers(2, 2)), {}
        yield aten.scatter_add.default, (x, 0, index, numbers(2, 2)), {}
        yield aten.scatter_reduce.two, (x, 1, index, numbers(2, 2), "amax"), {}
    yield aten.constant_pad_nd.default, (x, [-1, -3, 1, 0], 2.0), {}
    yield aten._unsafe_index.Tensor, (x, [torch.tensor([2, 0]), None]), {}
    yield aten._unsafe_index_put.default, (x, [torch.tensor([2, 0])], numbers(2, 4), True), {}
    yield aten.nonzero_static.default, (x > 0,), {"size": 3}
    yield aten.nonzero_static.default, (x > 1,), {"size": 20, "fill_value": 7}
    yield aten.nonzero_static.default, (torch.tensor(3),), {"size": 2}
    for start, end in ((torch.tensor(1), torch.tensor(2.5)), (torch.tensor(1.5), 3), (0, torch.tensor(4))):
        overload = "_".join("Tensor" if isinstance(v, torch.Tensor) else "Scalar" for v in (start, end))
        yield getattr(aten.linspace, overload), (start, end, 5), {}
        yield getattr(aten.logspace, overload), (start, end, 4, 2.0), {}
    blind = torch.tensor([[float("-inf")] * 3, [0.0, float("-inf"), 1.0], [float("nan"), 0.0, 1.0]])
    for dim in (0, 1, -1):
        yield aten._safe_softmax.default, (blind, dim), {}
    yield aten._safe_softmax.default, (blind.half(), 1, torch.float32), {}
    yield aten._prelu_kernel.default, (image, norm[0].reshape(4, 1, 1)), {}
    yield aten._lazy_clone.default, (x.t(),), {}
    yield aten._reshape_copy.default, (x.t(), (2, 6)), {}
    yield aten._is_all_true.default, (x > -9,), {}
    yield aten._is_any_true.default, (x > 9,), {}
    yield from gradients()
    yield from layers()
    yield from quantized()
    yield from affine()
    yield from embeddings()
    yield from resized()
    yield from rotated()
    yield from composed()
    yield from grouped()
    yield from attended()
