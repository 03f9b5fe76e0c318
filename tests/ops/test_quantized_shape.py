# SPDX-License-Identifier: BSD-2-Clause
"""Quantized tensors in pooling, resizing, padding, reductions, sorting and comparisons."""
import torch

CASES = []
FEW = [("quint8", 0.05, 100), ("qint8", 0.03125, -5), ("qint32", 0.0001, 77), ("quint8", 0.0237, 0)]


def numbers(*shape, spread=3.0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape) + len(shape))) * spread


def quantized(name, body, *inputs, qparams=FEW):
    for dtype, scale, zero_point in qparams:
        source = f"def f(x: Tensor):\n    q = torch.quantize_per_tensor(x, {scale}, {zero_point}, torch.{dtype})\n    return {body}"
        for number, x in enumerate(inputs):
            CASES.append((f"{name}/{dtype}/{scale}/{number}", source.replace("DTYPE", f"torch.{dtype}"), (x,)))


F = "torch.nn.functional."
IMAGE = numbers(2, 3, 8, 9)
LAST = IMAGE.to(memory_format=torch.channels_last)
WIDE = numbers(2, 40, 7, 6).to(memory_format=torch.channels_last)
PLANES = [IMAGE, LAST, WIDE, numbers(1, 11, 8, 8).to(memory_format=torch.channels_last)]
BYTES, OTHERS = [p for p in FEW if p[0] == "quint8"], [p for p in FEW if p[0] != "quint8"]

POOLS = {"max2": "max_pool2d(q, 2)", "max3": "max_pool2d(q, [3, 2], [2, 1], 1)", "max_dilated": "max_pool2d(q, 2, 1, 0, 2)", "max_ceil": "max_pool2d(q, 3, 2, 1, 1, True)",
         "avg2": "avg_pool2d(q, 2)", "avg3": "avg_pool2d(q, [3, 2], [2, 1], [1, 0])", "avg_ceil": "avg_pool2d(q, 3, 2, 1, True)", "avg_not_pad": "avg_pool2d(q, 3, 2, 1, False, False)",
         "avg_divisor": "avg_pool2d(q, 2, divisor_override=3)", "adaptive1": "adaptive_avg_pool2d(q, 1)", "adaptive23": "adaptive_avg_pool2d(q, [2, 3])", "adaptive57": "adaptive_avg_pool2d(q, [5, 4])",
         "adaptive_same": "adaptive_avg_pool2d(q, q.shape[-2:])"}
for name, body in POOLS.items():
    quantized("pool/" + name, F + body, *PLANES)
    quantized("pool/strided/" + name, F + body.replace("q", "q[:, 1:].transpose(2, 3)", 1), *PLANES)
for name in ("max2", "max_ceil", "avg_ceil", "adaptive57"):
    quantized("pool/unbatched/" + name, F + POOLS[name].replace("q", "q[0]", 1), *PLANES, qparams=FEW if "max" not in name or "ceil" in name else OTHERS)  # QNNPACK needs a batch
quantized("pool/unbatched/others", f"({F}avg_pool2d(q[0], 2), {F}adaptive_avg_pool2d(q[0], 2))", *PLANES, qparams=OTHERS)
# Rows and pixels with more elements than a kernel pools at once.
BROAD = [numbers(1, 600, 5, 31).to(memory_format=torch.channels_last), numbers(1, 4100, 4, 5).to(memory_format=torch.channels_last),
         numbers(2, 16, 6, 700).to(memory_format=torch.channels_last)]
quantized("pool/max_broad", f"({F}max_pool2d(q, 3, 2, 1), {F}max_pool2d(q, [2, 4], 1, [1, 2], [1, 1], True))", *BROAD, qparams=BYTES[:1])
quantized("pool/max1", f"{F}max_pool1d(q[0], 2)", *PLANES)
quantized("pool/max1_batch", f"{F}max_pool1d(q[0], 3, 2, 1)", *PLANES)
quantized("pool/avg1", f"{F}avg_pool1d(q[0], 2)", *PLANES)
quantized("pool/adaptive1d", f"{F}adaptive_avg_pool1d(q[0], 2)", *PLANES)
quantized("pool/avg3d", f"({F}avg_pool3d(q.unsqueeze(2), [1, 2, 2]), {F}avg_pool3d(q.unsqueeze(2), [1, 3, 3], 2, [0, 1, 1], False, False))", *PLANES)
quantized("pool/adaptive3d", f"{F}adaptive_avg_pool3d(q.unsqueeze(2), [1, 2, 3])", *PLANES)
quantized("pool/own", "(torch.ops.quantized.max_pool2d(q, [2, 2], [2, 2], [0, 0], [1, 1], False), torch.ops.quantized.max_pool2d(q, [3, 3], [2, 2], [1, 1], [1, 1], True), torch.quantized_max_pool2d(q, 2), "
          "torch.quantized_max_pool1d(q[0], 2), torch.ops.quantized.max_pool1d(q[0], [2], [2], [0], [1], False))", *PLANES)
quantized("pool/refused", f"{F}max_pool3d(q.unsqueeze(2), 1)", IMAGE, qparams=FEW[:1])
quantized("pool/refused_adaptive", f"{F}adaptive_max_pool2d(q, 2)", IMAGE, qparams=FEW[:1])

RESIZES = {"nearest2": "interpolate(q, scale_factor=2.0)", "nearest": "interpolate(q, [5, 13])", "nearest_scales": "interpolate(q, scale_factor=[1.7, 0.6])", "exact": "interpolate(q, [5, 13], mode='nearest-exact')",
           "bilinear": "interpolate(q, [5, 13], mode='bilinear')", "bilinear2": "interpolate(q, scale_factor=2.0, mode='bilinear')", "bilinear_corners": "interpolate(q, [11, 13], mode='bilinear', align_corners=True)",
           "bilinear_scales": "interpolate(q, scale_factor=[1.7, 2.3], mode='bilinear')", "bilinear_same": "interpolate(q, q.shape[-2:], mode='bilinear')", "upsample": "interpolate(q, [3, 4], mode='bilinear')"}
for name, body in RESIZES.items():
    quantized("resize/" + name, F + body, *PLANES, qparams=[p for p in FEW if p[0] != "qint32"])
    quantized("resize/strided/" + name, F + body.replace("q", "q[:, 1:].transpose(2, 3)", 1), IMAGE, LAST, qparams=FEW[:2])
quantized("resize/3d", f"({F}interpolate(q.unsqueeze(2), scale_factor=2.0), {F}interpolate(q.unsqueeze(2), [3, 5, 5], mode='nearest-exact'))", *PLANES, qparams=FEW[:2])
quantized("resize/refused_1d", f"{F}interpolate(q[0], 7)", IMAGE, qparams=FEW[:1])
quantized("resize/refused_bicubic", f"{F}interpolate(q, [7, 5], mode='bicubic')", IMAGE, qparams=FEW[:1])

for name, body in {"reflect1": "pad(q[0], [1, 2], mode='reflect')", "reflect2": "pad(q, [1, 2, 3, 1], mode='reflect')", "reflect2_unbatched": "pad(q[0], [1, 2, 3, 1], mode='reflect')", "constant": "pad(q, [1, 2], value=0.3)",
                   "constant_many": "pad(q, [1, 2, 0, 1, 2, 0], value=-1.7)", "constant_zero": "pad(q, [1, 2, 1, 1])", "negative": "pad(q, [-1, 2])"}.items():
    quantized("pad/" + name, F + body, *PLANES)

ORDER = ["q.sort()", "q.sort(1, True)", "torch.sort(q, stable=True, dim=0, descending=False)", "q.argsort()", "torch.msort(q)", "q.topk(2)", "q.topk(2, 1, False)", "q.topk(3, -2, True, True)", "q.max()", "q.min()", "q.max(1)", "q.min(2, True)",
         "q.max(0)[0]"]
for body in ORDER:
    quantized("order/" + body, body, *PLANES[:3])
    quantized("order/strided/" + body, body.replace("q", "q[:, 1:].transpose(1, 3)", 1) if body.startswith("q") else body.replace("(q", "(q[:, 1:].transpose(1, 3)"), IMAGE, LAST, qparams=FEW[:2])
quantized("fill", "(q.fill_(0.3), torch.full_like(q, 0.7), q.clone().masked_fill_(x > 0, -1.3), q.masked_fill(x > 0, torch.tensor(0.3)))", *PLANES[:2])
quantized("index_put", "q.clone().index_put_([torch.tensor([1, 0])], x[:, :1] * 2)", IMAGE)
quantized("index_put_number", "q.clone().index_put_([torch.tensor([1])], torch.tensor(0.7))", IMAGE)
quantized("index_put_accumulate", "q.clone().index_put_([torch.tensor([1])], torch.tensor(0.7), True)", IMAGE, qparams=FEW[:1])
quantized("meshgrid", "torch.cat([q, q], 1)", *PLANES)

for name, body in {"all": "q.mean()", "inner": "q.mean(3)", "inner2": "q.mean([2, 3])", "inner2_keep": "q.mean([2, 3], True)", "negative": "q.mean([-1, -2])", "outer": "q.mean(1)", "outer2": "q.mean([0, 2], True)",
                   "three": "q.mean([1, 2, 3])", "strided": "q.transpose(1, 2).mean(3)", "vector": "q[0, 0, 0].mean(0)", "dtype": "q.mean(3, dtype=torch.float)"}.items():
    # In all cases except these three PyTorch computes the mean of floats, whose last bit decides between two integers.
    exact = name in ("inner2", "inner2_keep", "dtype")
    quantized("mean/" + name, body, *(PLANES if exact else PLANES[:1] if name in ("all", "inner", "negative", "three", "vector") else ()), qparams=BYTES if exact else FEW)
for op in ("eq", "ne", "lt", "le", "gt", "ge", "greater"):
    quantized(f"compare/{op}", f"(q.{op}(q), q.{op}(torch.quantize_per_tensor(x.flip([3]), 0.05, 3, DTYPE)), q.{op}(0.5), q.{op}(q[0, 0, 0]), q.{op}(x), x.{op}(q))", *PLANES[:2])
quantized("compare/sizes", "q.eq(q[:, :2])", IMAGE, qparams=FEW[:1])
for dim in (0, 1, 3):
    quantized(f"softmax/{dim}", f"(torch.ops.quantized.softmax(q, {dim}, 0.00390625, 0), torch.ops.quantized.softmax(q, {dim}, 0.005, 3))", *PLANES[:2], numbers(2, 3, 4, 70), qparams=[p for p in FEW if p[0] != "qint32"])
quantized("matmul", "(torch.ops.quantized.matmul(q, q.transpose(2, 3), 0.5, 3), torch.ops.quantized.matmul(q[0, 0], q[0, 1].t(), 0.7, 30))", *PLANES[:2])
quantized("refused", "q.sum()", IMAGE, qparams=FEW[:1])
