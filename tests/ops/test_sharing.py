# SPDX-License-Identifier: BSD-2-Clause
"""Writes to memory that is read or written in several places. PyTorch refuses a target whose elements share memory if the order of writes would
matter, and a target that shares memory with an argument: for operators that select by indices if they share any memory, for elementwise operators
only if they overlap partly. If PyTorch accepts a call, Taper must give the same result."""
import torch

CASES = []
X, N, O = torch.arange(16.).view(4, 4), torch.tensor([0, 1, 2, 1]), torch.tensor([True, False, True, False])
I, L = "torch.tensor([0, 2])", "torch.zeros([3, 4], dtype=torch.long)"
# a and b are rows of x, shifted by one row, so that they share half of their memory. m contains indices that are all 0.
SHARING = (
    "a.copy_(b)", "a.add_(b)", "a.mul_(b)", "a.addcmul_(b, b)", "a.lerp_(b, 0.5)", "a.clamp_(b)", "torch.ops.aten.maximum(b, b, out=a)",
    f"a.index_copy_(0, {I}, b[:2])", f"a.index_add_(0, {I}, b[:2])",
    f"a.index_fill_(0, {I}, b[0, 0])", f"a.index_put_([{I}], b[:2])",
    f"a.index_put_([{I}], b[:2], True)", "n[1:].index_put_([n[:-1]], torch.tensor(1))", f"a[{I}] = b[:2]",
    "a.masked_scatter_(a > 0, b)", "a.masked_scatter_(a > 0, a)", "a.masked_fill_(a > 0, b[0, 0])",
    f"a.scatter_(0, {L}, b)", f"a.scatter_(0, {L}, a)",
    f"a.scatter_add_(0, {L}, b)", f"a.scatter_reduce_(0, {L}, b, 'sum')",
    "m[1:].scatter_(0, m[:-1], 1)", "m[1:].scatter_(0, m[1:], 1)", f"a.put_({I}, b[0, :2])",
    f"a.put_({I}, a[0, :2])", f"a.index_copy_(0, {I}, a[:2])", "a.index_copy_(0, torch.tensor([2, 1, 0]), a)",
    "a.index_add_(0, torch.tensor([2, 1, 0]), a)", "a.index_put_([torch.tensor([2, 1, 0])], a)",
    f"torch.gather(b, 0, {L}, out=a)", f"torch.gather(a, 0, {L}, out=a)",
    "torch.index_select(b, 0, torch.tensor([2, 1, 0]), out=a)", "torch.index_select(a, 0, torch.tensor([2, 1, 0]), out=a)",
    f"torch.take(b, {L}, out=a)", f"torch.take(a, {L}, out=a)",
    "torch.cat([b[:1], b[1:]], 0, out=a)", "torch.cat([a[:1], a[1:]], 0, out=a)", "torch.stack([b[0], b[1], b[2]], 0, out=a)",
    "torch.cumsum(b, 0, out=a)", "torch.cumsum(a, 0, out=a)", "torch.masked_select(x.view([-1])[:4], torch.ones([4]) > 0, out=x.view([-1])[1:5])",
    f"torch.ops.aten.sort(b, 0, False, values=a, indices={L})",
    f"torch.ops.aten.sort(a, 0, False, values=a, indices={L})",
    "a.fill_(a[0, 0])", "a.lerp_(b, b)", "a.pow_(b)", "a.div_(b)", "a.sub_(b)", "a.eq_(b)", "a.logical_and_(b)", "torch.sigmoid(b, out=a)",
    "torch.exp(b, out=a)", "x[:, :].copy_(x.t())", "x.add_(x.t())", "a.add_(a)", "a.copy_(a)", "a.copy_(x[1:])", "a.copy_(a.flip([0]))",
    "x.t().add_(x)", "a.fill_diagonal_(2.)", "x.view([-1]).unfold(0, 4, 4).add_(x)", f"a.index_add_(1, {I}, b[:, :2])",
    f"a.index_reduce_(0, {I}, b[:2], 'prod')", "a.copy_(torch.where(a > 0, a, b))", "a.atan2_(b)", "torch.nan_to_num(b, out=a)",
    "torch.clamp(b, 0., 1., out=a)", "a.remainder_(b)", "a.fmod_(b)", "torch.ops.aten.silu(b, out=a)", "torch.ops.aten.gelu(b, out=a)",
    "torch.cumprod(b, 0, out=a)", "torch.logcumsumexp(b, 0, out=a)",
    "torch.ops.aten.kthvalue(x, 1, 0, False, values=x[0], indices=torch.zeros([4], dtype=torch.long))", "torch.ops.aten.roll(b, [1], [0], out=a)",
    "torch.ops.aten.topk(b, 2, 0, values=a[:2], indices=torch.zeros([2, 4], dtype=torch.long))", "a.renorm_(2., 0, 1.)",
    "n[1:].index_fill_(0, n[:-1] % 3, 1)", "torch.index_select(n, 0, n[1:] % 3, out=n[:-1])", "torch.take(n, n[1:] % 3, out=n[:-1])",
    "torch.gather(n, 0, n[1:] % 3, out=n[:-1])", "n[1:].put_(n[:-1] % 3, n[:-1])", "o[1:].index_put_([o[:-1]], torch.tensor(True))",
    "n[1:].index_fill_(0, n[:-1], 1)", "torch.gather(n, 0, m, out=m)", "torch.gather(n[:2], 0, m[1:], out=m[:-1])",
    f"torch.scatter(a, 0, {L}, torch.ones([3, 4]), out=a)",
    f"torch.scatter(b, 0, {L}, torch.ones([3, 4]), out=a)",
    f"torch.scatter(a, 0, {L}, 2., out=a)",
    f"torch.scatter_add(a, 0, {L}, torch.ones([3, 4]), out=a)",
    f"torch.index_add(a, 0, {I}, torch.ones([2, 4]), out=a)",
    f"torch.index_add(b, 0, {I}, torch.ones([2, 4]), out=a)",
    f"torch.index_copy(a, 0, {I}, torch.ones([2, 4]), out=a)",
    "torch.index_copy(torch.ones([3, 4]), 0, torch.tensor([0, 1, 2]), a, out=a)",
    f"torch.scatter_reduce(a, 0, {L}, torch.ones([3, 4]), 'sum', out=a)", "torch.stack([x[0], x[1]], 0, out=x[:2])",
    "torch.cat([x[:1], x[1:2]], 0, out=x[2:])", "a.copy_(x[1:])", "x.view([-1])[:8].copy_(x.view([-1])[8:])", "x.view(torch.int32).copy_(x)",
    f"torch.ops.aten.topk(a, 3, 0, values=a, indices={L})",
    "torch.ops.aten.kthvalue(x[1:], 1, 0, False, values=x[0], indices=torch.zeros([4], dtype=torch.long))", "torch.logcumsumexp(a, 0, out=a)",
    "x.put_(torch.tensor([0, 1]), x[1, :2])", "x[torch.tensor([0, 1])] = x[2:]", "x[x > 3.] = x[0, 0]",
    "x[:2].index_put_([torch.tensor([0, 1])], x[2:])", "torch.masked_select(x[0], torch.ones([4]) > 0, out=x[1])",
    f"torch.take_along_dim(b, {L}, 0, out=a)", "torch.hstack([b[:1], b[1:]], out=x.view([-1])[:12].view([2, 6]))",
    "torch.vstack([b[:1], b[1:]], out=a)", "torch.dstack([b], out=a.view([3, 4, 1]))", "torch.row_stack([b[:1], b[1:]], out=a)",
    f"torch.ops.aten.index_fill(b, 0, {I}, 2., out=a)", "torch.ops.aten.masked_fill(b, b > 1., 2., out=a)",
    "torch.ops.aten.roll(a, [1], [0], out=a)", "torch.ops.aten.flip(b, [0], out=a)", "torch.where(b > 1., b, b)",
    "torch.ops.aten.repeat(b, [1, 1], out=a)", "torch.bucketize(x[:1, :2].to(torch.long), torch.tensor([1., 2.]), out=n[:2].view([1, 2]))",
    "torch.searchsorted(n.sort()[0], n[:2], out=n[2:])",
    f"torch.ops.aten.sort(b, stable=True, dim=0, descending=False, values=a, indices={L})",
    "torch.ops.aten.mode(x, 0, False, values=x[0], indices=torch.zeros([4], dtype=torch.long))", "torch.renorm(b, 2., 0, 1., out=a)",
    "torch.addcmul(b, b, b, out=a)", "torch.std(x, [0], out=x[0])", "torch.nonzero(n, out=n.view([4, 1])[:3])",
    "torch.index_select(x, 0, torch.tensor([0, 1]), out=x[1:3])", "a.add_(x[:-1], alpha=2)", "torch.diag(x, out=x[0])",
    "torch.lerp(b, b, 0.5, out=a)", "torch.cross(b[:, :3], b[:, :3], 1, out=a[:, :3])", "a.copy_(b.clone())", "o[1:].masked_fill_(o[:-1], 1)",
    "o.masked_fill_(o, 0)",
)
# e is a row that is expanded to three rows.
EXPANDED = (
    f"e.index_put_([{I}], torch.tensor(5.))", f"e.index_put_([{I}], torch.tensor(5.), True)",
    f"e[{I}] = 5.", "e[e > 0] = 5.", "e[0] = 5.", "e[:, 1:] = 5.", "e[0:1] = 5.", "e[e > 0] = torch.tensor(3.)",
    "e[:] = torch.ones([3,4])", f"e.index_fill_(0, {I}, 2.)", f"e.index_fill_(1, {I}, 2.)",
    f"e.index_copy_(0, {I}, torch.ones([2, 4]))", f"e.index_copy_(1, {I}, torch.ones([3, 2]))",
    f"e.index_add_(0, {I}, torch.ones([2, 4]))", f"e.index_reduce_(0, {I}, torch.ones([2, 4]), 'prod')",
    f"e.scatter_(0, {L}, torch.ones([3, 4]))", f"e.scatter_(0, {L}, 2.)",
    f"e.scatter_add_(0, {L}, torch.ones([3, 4]))",
    f"e.scatter_reduce_(0, {L}, torch.ones([3, 4]), 'sum')",
    f"e.scatter_(0, {L}, torch.ones([3, 4]), reduce='add')", "e.masked_fill_(e > 0, 2.)",
    "e.masked_fill_(e > 0, torch.tensor(2.))", "e.masked_scatter_(e > 0, torch.ones([12]))", f"e.put_({I}, torch.ones([2]))",
    "e.copy_(torch.ones([3, 4]))", "e.copy_(torch.ones([4]))", "e.fill_(2.)", "e.zero_()", "e.add_(1.)", "e.add_(torch.ones([3,4]))", "e.mul_(2.)",
    "e.relu_()", "e.sigmoid_()", "e.clamp_(0., 1.)", "e.clamp_min_(0.)", "e.addmm_(torch.ones([3, 2]), torch.ones([2, 4]))",
    "e.addcmul_(torch.ones([4]), torch.ones([4]))", "e.lerp_(torch.ones([4]), 0.5)", "e.pow_(2.)", "e.cumsum_(0)", "e.cumprod_(1)", "e.tril_()",
    "e.triu_()", "e.fill_diagonal_(1.)", "e.renorm_(2., 0, 1.)", "torch.threshold_(e, 0.5, 1.)", "torch.dropout_(e, 0.0, True)",
    "torch.nn.functional.leaky_relu_(e)", "torch.nn.functional.hardtanh_(e)", "torch.nn.functional.elu_(e)", "torch.celu_(e)", "torch.selu_(e)",
    "torch.rrelu_(e)", "torch.nn.functional.hardswish(e, True)", "torch.nn.functional.silu(e, True)", "torch.nn.functional.mish(e, True)",
    "e.logical_and_(torch.ones([4]))", "e.eq_(1.)", "e.floor_divide_(2.)", "e.remainder_(2.)", "e.atan2_(torch.ones([4]))", "e.nan_to_num_()",
    "e.sgn_()", "e.copy_(torch.where(e > 0, e, e))", "e.addr_(torch.ones([3]), torch.ones([4]))", "e.digamma_()", "e.polygamma_(1)",
    "torch.alpha_dropout_(e, 0.0, True)", "torch.feature_dropout_(e, 0.0, True)", "e.erfinv_()",
    f"torch.ops.aten.index_put_(e, [None, {I}], torch.tensor(1.))",
    f"torch.ops.aten._index_put_impl_(e, [{I}], torch.tensor(1.))", "e.sub_(1)", "e.div_(2)", "e.div_(2, rounding_mode='floor')",
    "e.neg_()", "e.addbmm_(torch.ones([1, 3, 2]), torch.ones([1, 2, 4]))", "e.fmod_(2)", "e.double().expand([3,4]).float_power_(2)",
    "e.ldexp_(torch.ones([4]))", "e.lt_(2)", "e.to(torch.long)[:1].expand([3, 4]).bitwise_and_(1)", "torch.ops.aten.add(e, e, out=e)",
    "torch.sigmoid(x.expand([3, 4]), out=e)", "torch.mm(torch.ones([3, 2]), torch.ones([2, 4]), out=e)",
    "torch.cat([x[None], x[None], x[None]], 0, out=e)", "torch.cumsum(torch.ones([3, 4]), 0, out=e)", "torch.stack([x, x, x], 0, out=e)",
    f"torch.gather(torch.ones([3, 4]), 0, {L}, out=e)",
    "torch.index_select(torch.ones([3, 4]), 0, torch.tensor([0, 1, 2]), out=e)",
    f"torch.take(torch.ones([3, 4]), {L}, out=e)", "torch.ops.aten.where(torch.ones([3, 4]) > 0, e, e)",
    f"torch.ops.aten.scatter(torch.ones([3, 4]), 0, {L}, torch.ones([3, 4]), out=e)",
    "x.unfold(0, 2, 1)[:, :] = 1.", "x.unfold(0, 2, 1).masked_fill_(x.unfold(0, 2, 1) > 0, 2.)",
    "x.as_strided([2, 2], [1, 1]).index_put_([torch.tensor([0])], torch.tensor(5.))",
    "x.as_strided([2, 2], [1, 1]).scatter_(0, torch.zeros([2, 2], dtype=torch.long), 1.)",
    "e.index_put_([torch.tensor([True, False, True])], torch.tensor(5.))", "e.clamp_(torch.zeros([4]))",
    f"e.index_add_(1, {I}, torch.ones([3, 2]))", f"e.put_({I}, torch.ones([2]), True)", "e.fill_(torch.tensor(2.))",
    "e.diagonal().fill_(1.)",
)

# Rows of a result that the computation of later rows reads. PyTorch cannot tell that the memory of such parts is shared, so it computes in order.
IN_ORDER = ("x[1:, :3].add_(x[:-1, :3])", "x[1:, :3].mul_(x[:-1, :1])", "x[1:].mul_(x[:-1, :1])", "x.mul_(x[0])", "x.add_(x[3])", "x[:, :3].mul_(x[2, :3])",
            "x[1:].add_(x[0])", "x.mul_(x[5, 2])")
for call in IN_ORDER:
    for columns in (3, 4, 9):
        for dtype in ("float", "double"):
            given = (torch.rand(40, columns, generator=torch.Generator().manual_seed(columns)) + 0.5).to(getattr(torch, dtype))
            CASES.append((f"in order/{call} of {columns} columns, {dtype}", f"def f(x):\n    {call}\n    return x\n", (given,)))

for call in SHARING:
    CASES.append(("sharing/" + call, f"def f(x, n, o):\n    a = x[1:]\n    b = x[:-1]\n    m = (x > 100.).to(torch.long)\n    {call}\n    return x, n, o\n", (X, N, O)))
for call in EXPANDED:
    CASES.append(("expanded/" + call, f"def f(x):\n    e = x.expand(3, 4)\n    {call}\n    return x\n", (X[0] + 1,)))
