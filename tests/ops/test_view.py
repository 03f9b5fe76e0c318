# SPDX-License-Identifier: BSD-2-Clause
# Views, rearrangements and joins against PyTorch: values, sizes and exact strides. CASES: (name, source of a scripted
# function f, builder of its arguments).
import torch

CASES = []
LAYOUTS = {
    "contiguous": "",
    "channels_last": "    x = x.contiguous(memory_format=torch.channels_last)\n",
    "transposed": "    x = x.transpose(1, 3)\n",
    "sliced": "    x = torch.cat([x, x], 1)[:, ::2]\n",
    "expanded": "    x = x[:, :1].expand(2, 3, 4, 5)\n",
}


def input4():
    return (torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)),)


def add(name, expressions, builder=input4, layouts=("contiguous",), arguments="x: Tensor"):
    for layout in layouts:
        CASES.append((f"{name}/{layout}", f"def f({arguments}):\n{LAYOUTS[layout]}    return (" + ", ".join(expressions) + ",)\n", builder))


def raises(name, expression, builder=input4):
    CASES.append((f"raises/{name}", f"def f(x: Tensor):\n    return {expression}\n", builder))


ALL = tuple(LAYOUTS)
add("reshape", [f"x.reshape({s})" for s in ("[-1]", "[2, -1]", "[6, 20]", "[2, 3, 20]", "[2, 1, 3, 4, 5]", "[2, 3, 2, 2, 5]", "[120, 1]",
                                            "[4, 30]")], layouts=ALL)
add("reshape/view", ["x.reshape_as(x)", "x.view_as(x)", "x.view([2, 3, 2, 2, 5])", "x.view([1, 2, 3, 4, 5])"],
    layouts=("contiguous", "channels_last", "sliced"))
add("flatten", ["x.flatten()", "x.flatten(1)", "x.flatten(0, 1)", "x.flatten(2, 3)", "x.flatten(1, 1)", "x.flatten(-2)", "x.ravel()"], layouts=ALL)
add("squeeze", ["x.squeeze()", "x.squeeze(0)", "x[:1].squeeze(0)", "x[:1, :, :1].squeeze()", "x[:, :, :1].squeeze(-2)"], layouts=ALL)
add("unsqueeze", [f"x.unsqueeze({d})" for d in range(-5, 5)], layouts=ALL)
add("expand", ["x[:1].expand(4, -1, -1, -1)", "x[:, :1].expand([2, 6, 4, 5])", "x.expand([7, 2, 3, 4, 5])", "x[0, 0, 0].expand(2, 3, 5)",
               "x[:1].expand_as(x)", "x.broadcast_to([1, 2, 3, 4, 5])"], layouts=("contiguous", "channels_last", "transposed"))
add("permute", ["x.permute(0, 2, 3, 1)", "x.permute(3, 2, 1, 0)", "x.permute(0, -1, 1, 2)", "x.transpose(1, 2)", "x.transpose(-1, 0)",
                "x.movedim(1, 3)", "x.movedim([0, 1], [2, 0])", "x.mT", "x[0, 0].t()", "x[0, 0, 0].t()", "x.swapaxes(0, 2)",
                "x.swapdims(1, 2)"], layouts=ALL)
add("select", ["x[0]", "x[:, -1]", "x.select(2, 1)", "x.select(-1, -5)", "x[1, 2, 3, 4]"], layouts=ALL)
add("slice", ["x[1:]", "x[:, 1:3]", "x[..., ::2]", "x[:, :, -3:-1]", "x[:, 5:]", "x[0:0]", "x[:, :, 1::2, 3:1]", "x.narrow(1, 1, 2)",
              "x.narrow(3, -2, 1)", "x.narrow(0, 2, 0)"], layouts=ALL)
add("split", ["x.split(2, 1)", "x.split([1, 2], 1)", "x.chunk(2, 1)", "x.chunk(3, 3)", "x.chunk(7, 2)", "torch.tensor_split(x, 3, 3)",
              "torch.tensor_split(x, [1, 3], 2)", "x.unbind(1)", "x.unbind(-1)", "torch.hsplit(x, 3)", "torch.vsplit(x, [1])",
              "torch.dsplit(x, 2)"], layouts=ALL)
add("diagonal", ["x.diagonal()", "x.diagonal(1, 2, 3)", "x.diagonal(-1, 3, 0)", "x.diagonal(9, 1, 2)", "x.unfold(3, 3, 2)", "x.unfold(1, 1, 1)",
                 "torch.as_strided(x, [2, 2], [1, 3])", "torch.as_strided(x, [3], [2], 5)"], layouts=ALL)
add("clone", ["x.clone()", "x.contiguous()", "x.contiguous(memory_format=torch.channels_last)", "x.clone(memory_format=torch.contiguous_format)",
              "x.clone(memory_format=torch.channels_last)", "x.detach()"], layouts=ALL)
add("queries", ["x.size()", "x.size(1)", "x.stride()", "x.stride(-1)", "x.dim()", "x.numel()", "len(x)", "x.is_contiguous()",
                "x.is_contiguous(memory_format=torch.channels_last)", "x.storage_offset()", "x[1].storage_offset()", "x.element_size()",
                "x.is_floating_point()", "x.is_complex()", "x.is_signed()"], layouts=ALL)
add("flip", ["x.flip([0])", "x.flip([1, 3])", "x.flip([])", "torch.fliplr(x)", "torch.flipud(x)", "torch.rot90(x, 1, [2, 3])",
             "torch.rot90(x, 2, [0, 1])", "torch.rot90(x, -1, [1, 2])", "torch.rot90(x, 4, [0, 1])"], layouts=ALL)
add("roll", ["x.roll(2, 1)", "x.roll([1, -1], [2, 3])", "x.roll(7)", "x.roll(0, 0)"], layouts=ALL)
add("repeat", ["x.repeat(1, 2, 1, 1)", "x.repeat(2, 1, 1, 1, 3)", "x.repeat(1, 0, 1, 1)", "torch.tile(x, [2])", "torch.tile(x, [2, 1, 1, 1, 2])",
               "x.repeat_interleave(2, 1)", "x.repeat_interleave(2)", "x.repeat_interleave(torch.tensor([1, 0, 2]), 1)"], layouts=ALL)
add("tril", ["x.tril()", "x.triu(1)", "x.tril(-2)", "x.triu(-9)", "x.tril(9)", "x.clone().tril_(1)", "x.clone().triu_()"], layouts=ALL)
add("cat", [f"torch.cat([x, x[:, :2], x], {d})" if d == 1 else f"torch.cat([x, x], {d})" for d in (0, 1, 2, -1)] + ["torch.cat([x[:0], x])"],
    layouts=ALL)
add("stack", [f"torch.stack([x, x], {d})" for d in (0, 1, 2, 3, -1)] + ["torch.hstack([x, x])", "torch.vstack([x, x])", "torch.dstack([x, x])"],
    layouts=ALL)
add("cat/mixed", ["torch.cat([x, x.to(torch.float64)])", "torch.cat([x.to(torch.int32), x.to(torch.uint8)])", "torch.cat([x, torch.zeros([0])])",
                  "torch.cat([torch.zeros([0]), torch.zeros([0])])", "torch.stack([torch.tensor(1), torch.tensor(2)])",
                  "torch.column_stack([x[0, 0, 0], x[0, 0, :, :].t()])", "torch.block_diag([x[0, 0], x[0, 0, 0]])"])
add("atleast", ["torch.atleast_1d(torch.tensor(1.0))", "torch.atleast_2d(x[0, 0, 0])", "torch.atleast_3d(x[0, 0, 0])", "torch.atleast_3d(x[0, 0])"])
add("broadcast_tensors", ["torch.broadcast_tensors([x[:, :1], x[0]])"])
add("pixel_shuffle", ["F.pixel_shuffle(x, 2)", "F.pixel_shuffle(x[0], 2)", "F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2)",
                      "torch.channel_shuffle(x, 4)"], lambda: (torch.randn(2, 8, 3, 4, generator=torch.Generator().manual_seed(0)),),
    layouts=("contiguous", "channels_last"))
add("shuffle block", ["x.view(2, 2, 4, 3, 4).transpose(1, 2).contiguous().view(2, 8, 3, 4)", "x.chunk(2, 1)[1].contiguous()"],
    lambda: (torch.randn(2, 8, 3, 4, generator=torch.Generator().manual_seed(0)),))
add("kron", ["torch.kron(x[0, 0], x[0, 0, 0])", "torch.kron(torch.arange(3), torch.arange(2.0))"])
add("pad_sequence", ["torch._C._nn.pad_sequence([x[0, 0], x[0, 0, :2]], True, 0.5)"])
add("view dtype", ["x.view(torch.int32)", "x.view(torch.uint8)", "x.view(torch.float16)"])
add("trivial", ["F.adaptive_avg_pool2d(x, [1, 1]).flatten(1)", "F.adaptive_avg_pool2d(x, [1, 1]).squeeze()",
                "F.adaptive_avg_pool2d(x, [1, 1]).view(2, 3)", "F.avg_pool2d(x, 2).flatten(1)", "F.avg_pool2d(x, 2).stride()"],
    layouts=("contiguous", "channels_last"))
CASES += [
    ("views share", "def f(x: Tensor):\n    y = x.view(-1)\n    y[3] = 9.0\n    z = x[:, 1].transpose(0, 1)\n    z.fill_(2.0)\n"
     "    w = x.reshape(6, 20)\n    w[0].zero_()\n    return x, y, z, w\n", input4),
    ("in place", "def f(x: Tensor):\n    a = x.clone()\n    a.unsqueeze_(0)\n    b = x[:1].clone()\n    b.squeeze_(0)\n    c = x.clone()\n"
     "    c.transpose_(1, 2)\n    d = x[0, 0].clone()\n    d.t_()\n    return a, b, c, d\n", input4),
    ("resize_", "def f(x: Tensor):\n    a = x.clone()\n    a.resize_([3, 4])\n    b = x.clone()\n    b.resize_([2, 3, 4, 5], "
     "memory_format=torch.channels_last)\n    return a, b\n", input4),
    ("complex views", "def f(x: Tensor):\n    c = torch.view_as_complex(x)\n    return torch.view_as_real(c), torch.view_as_real(c.t())\n",
     lambda: (torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(0)),)),
]
# A transposed tensor with gaps is converted to a tensor without gaps, in the order of its memory. Planes of a few elements
# have whole squares and the elements left over, in all dtypes.
for rows, columns in ((8, 8), (7, 7), (5, 12), (8, 3), (12, 6), (2, 9), (9, 2), (17, 8), (8, 33), (4, 5), (1, 8), (5, 70), (70, 5), (16, 9), (9, 16), (15, 15)):
    for dtype in ("float32", "float16", "float64", "uint8", "int64", "complex64"):
        CASES.append((f"permute-small/{rows}x{columns}/{dtype}", f"def f(x: Tensor):\n    y = (x * 100).abs().to(torch.{dtype})\n"
                      "    return y.transpose(1, 2).contiguous(), y.permute(2, 0, 1).contiguous(), y[:, 1:, :-1].transpose(1, 2).contiguous()\n",
                      lambda rows=rows, columns=columns: (torch.randn(6, rows, columns, generator=torch.Generator().manual_seed(rows)),)))
for name, view in (("rows", "permute(2, 1, 3, 0)[:, :, ::2]"), ("columns", "permute(3, 0, 2, 1)[:, :1]"), ("last", "permute(0, 3, 1, 2)[..., :2]"), ("line", "select(1, 1).permute(2, 1, 0)[..., :1]"),
                   ("repeated", "transpose(0, 3)[:, :1].expand(-1, 3, -1, -1)")):
    CASES.append((f"converted/{name}", f"def f(x: Tensor):\n    i = (x * 4).to(torch.int64).{view}\n    x = x.{view}\n    return (x.to(torch.float64), x.to(torch.float32, copy=True), x.half(), "
                  "i.to(torch.float32), torch.tanh(i), i / 3, i + x, torch.where(i > 0, x, x.double()), x.to(torch.float64).permute(3, 2, 1, 0) if x.dim() == 4 else x)\n", input4))
for expression in ("x.view(7)", "x.transpose(1, 3).view(-1)", "x.view(-1, -1)", "x.reshape(-1, 7)", "x.view(2, -2)", "x.unsqueeze(9)", "x.select(0, 2)",
                   "x.select(4, 0)", "x.narrow(1, 2, 2)", "x.narrow(1, 4, 0)", "x.narrow(2, -5, 1)", "x.split([1, 1], 1)", "x.chunk(0)", "x.permute(0, 0, 1, 2)", "x.permute(0, 1)",
                   "x.expand(2, 4, 4, 5)", "x.expand(3)", "x.t()", "x.unfold(1, 4, 1)", "torch.as_strided(x, [99], [9])", "torch.cat([x, x[0]])",
                   "torch.cat([x, x[:, :1]], 2)", "torch.stack([x, x[:1]])", "x.repeat(2)", "x.flip([0, 0])", "x.flatten(2, 1)", "x.size(4)",
                   "F.pixel_shuffle(x, 2)", "torch.hsplit(x, 2)", "x.roll([1, 2], [0])"):
    raises(expression, expression)
add("asserted", ["torch.is_vulkan_available()", "torch._assert_async(x.abs().sum())"])
raises("assert_async/zero", "torch._assert_async(x.sum() * 0)")
raises("assert_async/many", "torch._assert_async(x)")

# Tensors with dimensions decide the dtype of a concatenation. Pieces of every size are joined: of rows, of pixels in
# channels_last, with empty pieces, and of more tensors than a kernel accepts.
for width in (1, 2, 3, 4, 16, 23):
    for dtype in (torch.float32, torch.uint8, torch.int64):
        CASES.append((f"cat/pieces/{width}/{str(dtype)[6:]}", "def f(x: Tensor, y: Tensor):\n"
                      "    a, b = x.contiguous(memory_format=torch.channels_last), y.contiguous(memory_format=torch.channels_last)\n"
                      "    return (torch.cat([x, y, x], -1), torch.cat([x, x], 1), torch.cat([x, x[:, :, :, :0], y], 3), torch.cat([a, b], 1), torch.cat([a, b, a], 3),"
                      " torch.cat([x, b, x], 2), torch.cat([x] * 19, 2), torch.cat([x.transpose(2, 3), y], 0), torch.stack([x, y], 2))\n",
                      lambda dtype=dtype, width=width: ((torch.arange(2 * 5 * width * width) % 251).reshape(2, 5, width, width).to(dtype),
                                                        (torch.arange(2 * 5 * width * width) % 241).reshape(2, 5, width, width).to(dtype))))
# Elements of every width are transposed and flipped, in whole squares and in the elements left over.
for dtype in (torch.uint8, torch.float16, torch.int32, torch.float64, torch.complex128):
    for rows, columns in ((8, 16), (13, 35), (70, 9), (5, 4), (33, 40)):
        CASES.append((f"transposed/{str(dtype)[6:]}/{rows}x{columns}", "def f(x: Tensor):\n    return (x.transpose(1, 2).contiguous(), x.flip([1]).transpose(1, 2).contiguous(), x[:, 1:, 1:].transpose(1, 2).contiguous())\n",
                      lambda dtype=dtype, rows=rows, columns=columns: ((torch.arange(2 * rows * columns) % 251).reshape(2, rows, columns).to(dtype),)))
    for width in (1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 19):
        CASES.append((f"flipped/{str(dtype)[6:]}/{width}", "def f(x: Tensor):\n    return (x.flip([1]), x.flip([0]), x.flip([0, 1]), x[:, :2].flip([1]), x[::2].flip([1]))\n",
                      lambda dtype=dtype, width=width: ((torch.arange(9 * width) % 251).reshape(9, width).to(dtype),)))
CASES += [("kron/numbers", "def f(x: Tensor):\n    n = torch.tensor(2.5)\n    return (torch.kron(x, n.double()), torch.kron(n.double(), x.half()), torch.kron(x.int(), torch.tensor(3)),\n"
           "            torch.kron(x.int(), n), torch.kron(torch.tensor(3), x), torch.kron(torch.tensor(3).int(), n.double()), torch.kron(x, x.double()))\n",
           (torch.arange(6.0).reshape(2, 3),))]

# A stack is a concatenation whose dimension is split. After the split, a dimension of size 1 has the stride that a view
# has.
for batch in (1, 2):
    for channels in (1, 4):
        for dim in range(5):
            CASES.append((f"stack/channels-last-{batch}-{channels}-{dim}", f"def f(x: Tensor):\n    return (torch.stack([x, x + 1], {dim}), torch.stack([x], {dim}))\n",
                          (torch.randn(batch, channels, 3, 2).contiguous(memory_format=torch.channels_last),)))

CASES += [("block_diag/dtypes", "def f(x: Tensor):\n    return (torch.block_diag([x.double(), x.int()]), torch.block_diag([x.int()]), torch.block_diag([x.to(torch.bool), x[0].to(torch.uint8)]),\n"
           "            torch.block_diag([x.half(), torch.tensor(3)]))\n", (torch.arange(6.0).reshape(2, 3),))]
