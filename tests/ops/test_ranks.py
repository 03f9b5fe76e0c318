# SPDX-License-Identifier: BSD-2-Clause
# Tensors of 9 to 16 dimensions: some operators of each kind, and calls that would need more than 16.
import torch

CASES = []
torch.manual_seed(3)
NINE = torch.randn(2, 1, 2, 1, 3, 1, 2, 1, 2)
TWELVE = torch.randn(1, 2, 1, 2, 1, 1, 2, 1, 1, 1, 3, 2).permute(11, 0, 9, 3, 4, 5, 2, 7, 8, 1, 10, 6)  # a tensor of 12 dimensions whose strides are in no order
SIXTEEN = torch.randn(*[2, 1] * 5, 1, 1, 2, 1, 1, 2)
INPUTS = {9: (NINE,), 12: (TWELVE,), 16: (SIXTEEN,)}


def case(rank, expression, inputs=None):
    CASES.append((f"ranks/{rank}/{expression}", f"def f(x: Tensor):\n    n = x.dim()\n    return {expression}\n", inputs or INPUTS[rank]))


for rank in INPUTS:
    for expression in (
            # elementwise, broadcast, types
            "x + x", "x * 2 - x.neg()", "torch.relu(x), torch.sigmoid(x)", "x > 0", "x + x.sum(0, keepdim=True)", "x + torch.arange(x.size(-1))", "x.double() + x", "torch.where(x > 0, x, x.flip([0]))",
            "x.clamp(-0.5, 0.5)", "x.to(torch.int32), x.half()", "x.clone().mul_(x)", "torch.addcmul(x, x, x[:1])", "torch.atan2(x, x.flip([-1]))", "x.to(torch.complex64)",
            # operators that move elements
            "x.permute(list(range(n - 1, -1, -1)))", "x.permute(list(range(n - 1, -1, -1))).contiguous()", "x.transpose(0, -1).contiguous()", "x.transpose(1, -2) + x.transpose(1, -2)", "x.reshape(-1)", "x.reshape(x.transpose(0, -1).shape)",
            "x.flatten(1, -2)", "x.squeeze()", "x.squeeze().unsqueeze(0)", "x.expand([2] + list(x.shape)[1:]) if x.size(0) == 1 else x.expand_as(x)", "x.flip([0, -1])", "x.roll(1, -1)", "x.movedim(0, -1)",
            "x.repeat([2] + [1] * (n - 1))", "torch.cat([x, x], -1)", "torch.cat([x, x.flip([0])], 0)", "torch.split(x, 1, -1)", "torch.chunk(x, 2, 0)", "x.select(0, 0)", "x.narrow(-1, 0, 1)", "x[..., ::2]", "x[0, :, 0]",
            "x.diagonal(0, 0, -1)", "x.unbind(-1)", "x.stride(), x.is_contiguous(), x.numel()", "x.tile([1] * (n - 1) + [2])", "torch.constant_pad_nd(x, [1, 0], 0.5)", "x.rot90(1, [0, -1])",
            "x.tril(), x.triu()", "x.unfold(-1, 2, 1) if n < 16 else x", "torch.zeros_like(x), x.new_ones(x.shape)",
            # reductions, sorting
            "x.sum()", "x.sum(-1)", "x.sum([0, -1])", "x.sum(list(range(0, n, 2)))", "x.mean([1, -1], True)", "x.amax(list(range(n)))", "x.max(-1)", "x.argmax(0)", "x.var([0, -1])", "x.prod(0)", "(x > 0).any(-1), (x > 0).all()",
            "x.cumsum(-1)", "x.cumsum(0)", "torch.logsumexp(x, [0, -1])", "x.norm()", "torch.linalg.vector_norm(x, 2, [0, -1])", "x.sort(-1)", "x.topk(1, -1)", "x.median(-1)", "torch.var_mean(x, [-1])",
            "torch.softmax(x, -1)", "torch.softmax(x, 0)", "F.layer_norm(x, x.shape[-2:])", "F.layer_norm(x, x.shape)", "F.normalize(x, 2.0, -1)", "torch.aminmax(x)", "x.count_nonzero(-1)", "torch.equal(x, x.clone()), torch.allclose(x, x * 1)",
            # indices
            "x[torch.tensor([0, -1])]", "x[:, torch.tensor([0, 0])]", "x[x > 0]", "x[torch.tensor([0]), :, torch.tensor([0])]", "torch.index_select(x, -1, torch.tensor([0, 0]))", "torch.gather(x, 0, torch.zeros(x.shape, dtype=torch.int64))",
            "x.scatter(-1, torch.zeros(x.shape, dtype=torch.int64), 2.0)", "x.index_add(0, torch.tensor([0]), x[:1])", "x.masked_fill(x > 0, -1.0)", "x.masked_select(x > 0)", "(x > 0).nonzero()", "torch.take(x, torch.tensor([0, 1, -1]))",
            "x.index_put([torch.tensor([0, 0])], torch.tensor(1.0), True)", "x.scatter_add(0, torch.zeros(x.shape, dtype=torch.int64), x)", "x.index_fill(-1, torch.tensor([0]), 3.0)",
            # products
            "torch.matmul(x, x.transpose(-1, -2))", "torch.matmul(x, torch.ones(x.size(-1)))", "torch.matmul(torch.ones(x.size(-2)), x)", "torch.tensordot(x, x, n - 1)" if rank < 12 else "torch.tensordot(x, x, n)",
            "F.linear(x, torch.ones(2, x.size(-1)))", "torch.matmul(torch.ones(3, x.size(-2)), x)", "torch.baddbmm(x.reshape(-1, 2, 1), x.reshape(-1, 2, 1), torch.ones(x.numel() // 2, 1, 1))",
            # properties of a tensor
            "str(x.shape)", "list(x.shape)", "x.dim(), x.size(), x.size(-1)"):
        case(rank, expression)
case(9, "x.unsqueeze(0).unsqueeze(-1)")
case(12, "torch.stack([x, x], 3)")
case(9, "torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize().permute(8, 7, 6, 5, 4, 3, 2, 1, 0)")
case(9, "torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).transpose(0, -1).int_repr()")
case(9, "torch.einsum('abcdefghi,abcdefghi->aci', x, x)")
