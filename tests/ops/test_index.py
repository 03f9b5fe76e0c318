# SPDX-License-Identifier: BSD-2-Clause
# Indexing, gathering, scattering, lookups and counting against PyTorch. CASES: (name, source of a scripted function f,
# builder of its arguments).
import torch

CASES = []
RECORDED_CASE = 65536
LAYOUTS = {
    "contiguous": "",
    "transposed": "    x = x.transpose(0, 2).contiguous().transpose(0, 2)\n",
    "sliced": "    x = torch.cat([x, x], 1)[:, ::2]\n",
}
ALL = tuple(LAYOUTS)


def input3():
    return (torch.randn(4, 5, 6, generator=torch.Generator().manual_seed(0)),)


def add(name, expressions, builder=input3, layouts=("contiguous",), arguments="x: Tensor", prelude="", **options):
    for layout in layouts:
        source = f"def f({arguments}):\n{LAYOUTS[layout]}{prelude}    return (" + ", ".join(expressions) + ",)\n"
        CASES.append((f"{name}/{layout}", source, builder) + ((options,) if options else ()))


def raises(expression, builder=input3):
    CASES.append((f"raises/{expression}", f"def f(x: Tensor):\n    return {expression}\n", builder))


I = "    i = torch.tensor([0, 2, -1])\n    j = torch.tensor([[0, 1], [2, 3]])\n    m = x > 0\n"
INDICES = ("i", ":, i", ":, :, i", "i, i", "i, :, i", ":, i, i", "j", ":, j", "j[:, :1], torch.tensor([1, 2])", "j[:, :1], :, torch.tensor([1, 2])",
           "m", "m[:, :, 0]", ":, m[0]", "m[:, 0, 0]", "torch.tensor([True, False, True, False]), torch.tensor([1, 2])", "i[:0]", "i, 1",
           "1, :, i", "None, i", "i, None, i", "j.t()", "torch.tensor(2)")
add("index", [f"x[{k}]" for k in INDICES], layouts=ALL, prelude=I)
add("index/dtypes", [f"x.to(torch.{d})[:, i]" for d in ("float64", "float16", "int64", "uint8", "bool")], prelude=I)
CASES.append(("index/channels_last", "def f(x: Tensor):\n    x = x.contiguous(memory_format=torch.channels_last)\n    i = torch.tensor([0, 1])\n"
              "    return x[i], x[:, i], x[:, :, i], x[i, :, i], x[:, :, i, i], x[x > 0]\n",
              lambda: (torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0)),)))
for k in ("i", ":, i", ":, :, i", "i, :, i", "j", "m", ":, m[0]", "m[:, 0, 0]", "i, 1"):
    CASES.append((f"index_put/{k}", f"def f(x: Tensor):\n{I}    a = x.clone()\n    a[{k}] = 7.0\n    b = x.clone()\n    b[{k}] = x[{k}] * 2\n"
                  f"    return a, b\n", input3))
CASES += [
    ("index_put/accumulate", "def f(x: Tensor):\n    i = torch.tensor([0, 1, 0, 0])\n    a = x.clone().index_put_([i], torch.ones([]), True)\n"
     "    b = torch.index_put(x, [i], x, True)\n    return a, b, x\n", input3),
    ("masked", "def f(x: Tensor):\n    m = x > 0\n    return (x.masked_select(m), x.masked_select(m[0]), x.masked_select(m[..., :1]),\n"
     "            x.masked_scatter(m, x.flatten()), x.clone().masked_scatter_(m[0], -x))\n", input3),
]
add("nonzero", ["(x > 0).nonzero()", "torch.nonzero(x[:0])", "torch.where(x > 0)", "torch.argwhere(x > 1)", "x[0].nonzero_numpy()",
                "torch.tensor(3.0).nonzero()"], layouts=ALL)
# Shapes whose dimensions the library treats as one dimension, because they have few elements.
for shape in ((20, 16, 16, 1), (7, 3, 5), (2, 3, 300), (3, 256), (300, 2, 2), (2, 0, 3), (1, 1, 1), (2, 257, 1)):
    CASES.append((f"nonzero/{shape}", "def f(x: Tensor):\n    return ((x > 0).nonzero(), x.nonzero(), (x > 1).nonzero_numpy())\n",
                  lambda shape=shape: (torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))).round(),)))
ROWS = "    i = torch.tensor([0, 2, 2, 3])\n    k = torch.tensor([3, 1])\n"
add("index_select", [f"x.index_select({d}, i)" for d in (0, 1, 2, -1)] + ["x.index_select(0, torch.tensor(1))", "x.index_select(1, i.to(torch.int32))",
                                                                          "x.index_select(2, i[:0])"], layouts=ALL, prelude=ROWS)
# One index along the last dimension of a tensor without elements.
for sizes in ((0, 1), (0, 3), (0, 1, 1, 1), (0, 3, 1)):
    add(f"empty/{len(sizes)}-{sizes[1]}", ["x.index_select(x.dim() - 1, torch.tensor([0]))", "x.repeat_interleave(1, x.dim() - 1)", "x.gather(0, x.long())"],
        builder=lambda sizes=sizes: (torch.zeros(sizes),))
add("index_add", ["x.index_add(0, i, x)", "x.index_add(1, k, x[:, :2], alpha=2)", "x.clone().index_add_(2, i, x[:, :, :4])",
                  "x.index_copy(1, k, x[:, :2])", "x.clone().index_copy_(0, k, -x[:2])", "x.index_fill(1, k, 2.5)",
                  "x.clone().index_fill_(0, torch.tensor([-1]), 3)", "x.index_fill(2, k, torch.tensor(1.0))", "x.index_fill(2, k, -2)",
                  "x.transpose(0, 2).index_fill(2, k - 1, 7)"] +
    [f"x.index_reduce(0, i, x, '{r}', include_self={s})" for r in ("prod", "mean", "amax", "amin") for s in (True, False)],
    layouts=ALL, prelude=ROWS)
GATHER = "    g = (x * 7).abs().to(torch.int64) % 4\n"
add("gather", [f"x.gather({d}, g)" for d in (0, 1, -1)] + ["x.gather(1, g[:2, :3, :4])", "torch.take_along_dim(x, g, 1)",
                                                           "torch.take_along_dim(x, g[:, :1], 1)"],
    layouts=ALL, prelude=GATHER)
add("gather/short", [f"torch.gather({v}, {d}, (torch.arange(4 * 70 * {n}).view(4, 70, {n}) * 7) % 4)" for v, d, n in (("y", 1, 2), ("y", 0, 2), ("y.transpose(0, 1).contiguous().transpose(0, 1)", 1, 1),
                                                                                                          ("y.double()", 1, 3), ("y.to(torch.uint8)", 0, 5))] +
    ["torch.gather(y, 1, (torch.arange(280).view(4, 70) % 70)[..., None].expand(-1, -1, 5))", "torch.gather(y, 1, torch.full([4, 70, 2], 71))"],
    prelude="    y = torch.arange(4 * 71 * 5).view(4, 71, 5).float()\n")
add("scatter_reduce/nan", [f"torch.scatter_reduce(y, 0, torch.arange(64) % 9, z, '{r}')" for r in ("amax", "amin")],
    prelude="    y = torch.tensor([1.0, float('nan'), float('inf'), -1.0, 0.0, -0.0, float('-inf'), 2.0, 3.0])\n    z = torch.arange(64).float() - 30\n    z[20] = float('nan')\n    z[4] = 0.0\n")
add("take_along_dim", ["torch.take_along_dim(x, g[0, 0])", "torch.take_along_dim(x, g)"], prelude=GATHER)
add("scatter", ["x.scatter(1, g, 2.5)", "x.scatter_add(1, g, x)", "x.clone().scatter_add_(0, g[:2], x)",
                "x.scatter(2, g[..., :1], x)", "x.scatter(1, g, x, reduce='add')", "x.scatter(0, g, 2.0, reduce='multiply')",
                "x.to(torch.int64).scatter_add(1, g, g)"] +
    [f"x.scatter_reduce(1, g, x, '{r}', include_self={s})" for r in ("sum", "prod", "mean", "amax", "amin") for s in (True, False)],
    layouts=ALL, prelude=GATHER)
add("take", ["x.take(torch.tensor([[0, 5], [-1, 119]]))", "torch.put(x, torch.tensor([0, 3]), torch.tensor([1.0, 2.0]))",
             "x.clone().put_(torch.tensor([1, 1]), torch.tensor([1.0, 2.0]), True)"], layouts=ALL)
W = "    w = x[0]\n    i = torch.tensor([[1, 2, 0], [4, 0, 3]])\n    v = i.flatten()\n    o = torch.tensor([0, 2, 2])\n"
add("embedding", ["F.embedding(i, w)", "F.embedding(i.to(torch.int32), w)", "F.embedding(torch.tensor(2), w)", "F.embedding(i.t(), w)"],
    layouts=ALL, prelude=W)
add("embedding_bag", [f"F.embedding_bag(v, w, o, mode='{m}')" for m in ("sum", "mean", "max")] +
    ["F.embedding_bag(i, w)", "F.embedding_bag(v, w, o, mode='sum', per_sample_weights=x[1, 1])",
     "F.embedding_bag(v, w, torch.tensor([0, 2, 6]), include_last_offset=True)"], layouts=ALL, prelude=W)
add("one_hot", ["F.one_hot(torch.tensor([[0, 2], [1, 0]]))", "F.one_hot(torch.tensor([1, 0]), 4)"])
S = "    s = torch.sort(x[0, 0])[0]\n    t = torch.sort(x, -1)[0]\n"
add("searchsorted", ["torch.searchsorted(s, x)", "torch.searchsorted(s, x, right=True)", "torch.searchsorted(t, x)", "torch.searchsorted(s, 0.1)",
                     "torch.searchsorted(s, x, out_int32=True)", "torch.bucketize(x, s)", "torch.bucketize(x, s, right=True)",
                     "torch.bucketize(torch.tensor([1, 2, 3]), torch.tensor([1, 2, 2, 5]))"], prelude=S)
add("bincount", ["torch.bincount(torch.tensor([0, 3, 3, 1]))", "torch.bincount(torch.tensor([0, 3]), minlength=6)",
                 "torch.bincount(torch.tensor([0, 3, 0]), torch.tensor([0.5, 1.0, 2.0]))", "torch.histc(x, 10, -1, 1)", "torch.histc(x, 4)"])
U = "    u = torch.tensor([[3, 1, 1], [3, 1, 1], [2, 2, 0]])\n"
add("unique", ["torch.ops.aten._unique2(u, True, True, True)", "torch.ops.aten._unique2(u.to(torch.float32), True, True, False)",
               "torch.ops.aten.unique_dim(u, 0, True, True, True)", "torch.ops.aten.unique_dim(u, 1, True, True, True)",
               "torch.ops.aten.unique_consecutive(u, True, True)", "torch.ops.aten.unique_consecutive(u, True, True, 0)"], prelude=U)
add("isin", ["torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 5]))", "torch.isin(x, 0.5)", "torch.isin(torch.tensor([1, 2]), torch.tensor([2]), invert=True)"])
add("diag", ["torch.trace(x[0])", "torch.trace(torch.ones([2, 3], dtype=torch.int32))", "torch.diag(x[0])", "torch.diag(x[0], -1)", "torch.diag(x[0, 0], 1)",
             "torch.diagflat(x[0, :2])", "torch.diag_embed(x[0])", "torch.diag_embed(x[0], 1, 0, 2)", "x[0].clone().fill_diagonal_(5)",
             "x.flatten().view(20, 6)[:, :3].clone().fill_diagonal_(5.0, True)"], layouts=ALL)
for expression in ("x[torch.tensor([4])]", "x[:, torch.tensor([-6])]", "x[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]", "x[x[0] > 0]",
                   "x[torch.tensor([0.5])]", "x.index_select(0, torch.tensor([4]))", "x.index_select(0, torch.tensor([-1]))",
                   "x.gather(0, torch.full([1, 1, 1], 4))", "x.gather(0, torch.tensor([0]))", "x.scatter(0, torch.full([1, 1, 1], 9), 1.0)",
                   "x.scatter(0, torch.zeros([9, 9, 9], dtype=torch.int64), 1.0)", "x.take(torch.tensor([120]))", "F.embedding(torch.tensor([4]), x[0, :4])",
                   "F.embedding(torch.tensor([-1]), x[0])", "F.one_hot(torch.tensor([-1]))", "F.one_hot(torch.tensor([3]), 3)",
                   "torch.bincount(torch.tensor([-1]))", "x.index_add(0, torch.tensor([0, 1]), x)", "x.index_fill(0, torch.tensor([7]), 1.0)",
                   "x.index_copy(0, torch.tensor([9]), x[:1])", "x.masked_select(x)", "torch.put(x, torch.tensor([500]), torch.tensor([1.0]))",
                   "x.scatter_reduce(0, torch.zeros([1, 1, 1], dtype=torch.int64), x, 'median')"):
    raises(expression)

# A mask without dimensions is not an index. If such a mask is the only index, PyTorch assigns a single number with
# masked_fill.
T, F0 = "torch.tensor(True)", "torch.tensor(False)"
for k in (f"y[{T}] = -1", f"y[{F0}] = -1", f"y[{T}, 0] = 5", f"y[{F0}, 0] = 5", f"y[0, {T}] = 5", f"y[:, {T}] = 9", f"y[{T}, i] = 9", f"y[{F0}, i] = 9",
          "y[torch.tensor(1, dtype=torch.uint8)] = 2", "y[y[0, 0, 0] > -9] = 3", f"y[{T}] = x * 2", f"y = x[{T}]", f"y = x[{F0}]", f"y = x[{T}, i]", f"y = x[i, {F0}]",
          f"y = x[:, {T}]", f"y = x[{T}, {T}]", f"y = x[i, i, i, {T}]", f"y = x[m, {T}]", f"y = y[0, 0, 0][{T}]",
          f"y = torch.index_put(x, [{T}], torch.tensor(5.0), True)", f"y = torch.index_put(x, [{T}, {T}], torch.tensor(5.0))"):
    CASES.append((f"index/no dimensions/{k}", f"def f(x: Tensor):\n    y = x.clone()\n    i = torch.tensor([0, 2])\n    m = torch.tensor([True, False, True, True])\n    {k}\n    return y\n",
                  input3))
# Parts of the source are broadcast to parts of self, except in index_copy.
for k in ("index_add(x, 0, torch.tensor([0, 1, 2, 0]), x[0, 0, :4])", "index_add(x, 0, i, x[0, :3])", "index_add(x, 0, i, x[0, :3, :1], alpha=2)", "index_add(x, 1, i, x[0, :1, :3])",
          "index_add(x, 2, i, x[:1, :1, :3])", "index_add(x, 1, i, x[:, :3, 0])", "index_add(x, 0, i, x[:3, :2])", "index_add(x, 0, i, x[:3].unsqueeze(1))",
          "index_add(x[0, 0], 0, i, x[0, :3])", "index_add(x[0], 1, i, x[0, 0, :3])", "index_add(x[:, :1], 0, i, x[:3])", "index_add(x, 0, i[:0], x[0, 0, :0])",
          "index_add(x.unsqueeze(0), 0, i * 0, x[0, :3])", "index_reduce(x, 0, i, x[0, 0, :3], 'prod')", "index_reduce(x, 0, i, x[0, :3, :1], 'mean')",
          "index_reduce(x, 0, i, x[0, :3, :6], 'amax', include_self=False)", "index_copy(x, 0, i, x[0, :3])", "index_copy(x, 0, i, x[:3, :1])"):
    CASES.append((f"index_rows/broadcast/{k}", f"def f(x: Tensor):\n    i = torch.tensor([0, 1, 2])\n    return torch.{k}\n", input3))
# The dtype of an index without elements is not checked.
for k in ("scatter(x, 0, e, x)", "scatter(x, 0, e, 1.0)", "scatter_add(x, 0, e, x)", "scatter(x, 0, e, x, reduce='add')", "scatter(x, 0, e, 2, reduce='multiply')",
          "scatter_reduce(x, 0, e, x, 'sum')", "gather(x, 0, e)", "scatter(x, 0, e, x.double())"):
    for d in ("int32", "bool", "float32"):
        CASES.append((f"scatter/empty/{d}/{k}", f"def f(x: Tensor):\n    e = torch.zeros([0], dtype=torch.{d})\n    return torch.{k}\n", input3))

# A tensor without dimensions has one element to select.
for index in ([0], [0, 0], [0, 1], [-1]):
    CASES.append((f"index_select/number-{index}", f"def f(x: Tensor, i: Tensor):\n    return torch.index_select(x, 0, i)\n", (torch.tensor(2.5), torch.tensor(index, dtype=torch.int64))))

# Tensors that are large enough for sorting by digits, binary searches, and copies of whole rows.


def longer(seed=5):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(9, 70, generator=g)
    x[2, :9] = torch.tensor([float("nan"), 0.0, -0.0, float("inf"), -float("inf"), float("nan"), 0.0, 1.0, 1.0])
    return x, torch.randint(-30, 30, (9, 70), generator=g), torch.randint(0, 9, (9, 70), generator=g)


L = dict(builder=longer, arguments="x: Tensor, c: Tensor, i: Tensor")
U2 = "torch.ops.aten._unique2(%s, True, True, True)"
add("unique/longer", [U2 % v for v in ("c", "c.to(torch.uint8)", "c > 3", "c * (1 << 40)", "c.to(torch.float64) / 7", "torch.nan_to_num(x)", "torch.nan_to_num(x).t()", "c[:0]")] +
    ["torch.ops.aten._unique2(c, True, False, False)", "torch.ops.aten._unique2(c * 1000003, True, False, True)"] +
    [f"torch.ops.aten.unique_consecutive({v}, True, True)" for v in ("i // 5", "c * 0", "x", "i.to(torch.int8)")] +
    ["torch.ops.aten.unique_consecutive(i // 5, False, False)"], **L)
add("isin/longer", ["torch.isin(c, i)", "torch.isin(c * (1 << 40), i * (1 << 40))", "torch.isin(c * 1000003, c[0] * 1000003, invert=True)", "torch.isin(x, x[:3])",
                    "torch.isin(x.double(), x[2])", "torch.isin(c, c[0, :0])", "torch.isin(c, x)"], **L)
SORTED = "    s = x[0].sort()[0]\n    k = c[0].sort()[0]\n    n = torch.cat([s, x[2, :1]])\n"
add("searchsorted/longer", [f"torch.bucketize({v}, {e}, right={r})" for v, e in (("x", "s"), ("x", "n"), ("c", "k"), ("x.double()", "s"), ("c", "s"), ("c.to(torch.int8)", "k.to(torch.int8)"),
                                                                             ("x", "x[1]"), ("x.half()", "s.half()"), ("x", "s[:0]"), ("x", "s[:1]"))
                            for r in (False, True)] +
    ["torch.searchsorted(x[:2].sort(-1)[0], x[2:4])", "torch.searchsorted(x[1], x, sorter=x[1].argsort())", "torch.searchsorted(k, 9223372036854775807, right=True)",
     "torch.searchsorted(k, torch.full([3], 9223372036854775807), right=True)", "torch.searchsorted(s, x, out_int32=True, right=True)"], prelude=SORTED, **L)
add("bincount/longer", ["torch.bincount(i.flatten())", "torch.bincount(i.t().flatten().to(torch.uint8), minlength=40)", "torch.bincount(i[0], x[0])",
                        "torch.bincount(i[0], c[0])", "torch.bincount(i[0], x[0].double())", "torch.bincount(i[:, 0], x[:, 0])"], **L)
for d in ("x", "x.double()", "c", "c.to(torch.int32)", "x.half()", "x > 0"):
    whole = d not in ("x > 0",)
    add(f"scatter/longer/{d}", [f"torch.scatter({d}, 1, i, ({d}) * 2)", f"torch.scatter({d}, 0, i, {d})", f"torch.scatter({d}, 1, i.t().contiguous().t(), {d})"] +
        ([f"torch.scatter_add({d}, 1, i, {d})"] + [f"torch.scatter_reduce({d}, {k}, i, {d}, '{r}', include_self={m})" for r in ("amax", "amin", "prod", "mean")
                                                   for k in (0, 1) for m in (True, False)] if whole and "half" not in d else []), **L)
    add(f"index_rows/longer/{d}", [f"torch.index_copy({d}, 1, torch.tensor([5, 69, 0, 33]), ({d})[:, 6:10])", f"torch.index_copy({d}, 0, torch.tensor([8, 3, 0]), ({d})[2:5])",
                                   f"torch.index_fill({d}, 1, i[0], 1)"] +
        ([f"torch.index_add({d}, 1, i[0], {d})", f"torch.index_add({d}, 0, i[0, :9], {d})", f"torch.index_add({d}, 1, i[0], ({d})[:1])", f"torch.index_add(({d}).t(), 1, i[0, :9], ({d}).t(), alpha=2)"]
         if whole else []), **L)
    # One index for each row of the table: an index that is expanded over the elements of the rows.
    rows = f"(i[:5, :1] % 7).expand(5, ({d}).size(1))"
    cubes = f"(i[:5, 0] % 7).view(5, 1, 1).expand(5, 2, ({d}).size(1) // 2)"
    halves = f"({d})[:, :({d}).size(1) // 2 * 2].reshape(({d}).size(0), 2, -1)"
    add(f"scatter/expanded/{d}", [f"torch.scatter({d}, 0, {rows}, ({d})[:5])", f"torch.gather({d}, 0, {rows})", f"torch.gather(({d}).t(), 1, {rows}.t())",
                                  f"torch.gather({halves}, 0, {cubes})", f"torch.scatter({halves}, 0, {cubes}, {halves})",
                                  f"torch.gather({halves}, 1, (i[:3, :1] % 2).view(3, 1, 1).expand(3, 1, ({d}).size(1) // 2))"] +
        ([f"torch.scatter_add({d}, 0, {rows}, {d})", f"torch.scatter_add({halves}, 0, {cubes}, {halves})", f"torch.scatter({d}, 0, {rows}, {d}, reduce='multiply')",
          f"torch.scatter_add({halves}, 0, {cubes}, ({halves})[:, :1].expand(-1, 2, -1))"] if whole else []), **L)
    add(f"positions/longer/{d}", [f"torch.take({d}, i * 69)", f"torch.take({d}, i * 69 - 630)", f"torch.put({d}, i * 69, {d})", f"torch.put({d}, i * 69 - 600, {d})",
                                  f"torch.put(({d}).t(), i, {d})", f"torch.masked_scatter({d}, c > 0, {d})", f"torch.masked_scatter(({d}).t(), (c > 0).t(), {d})",
                                  f"torch.index_put({d}, [c > 0], ({d})[3, 3])", f"torch.index_put(({d}).t(), [(c > 0).t()], ({d})[3, 3])"] +
        ([f"torch.put({d}, i * 69, {d}, accumulate=True)"] if whole else []), **L)
raises("torch.scatter_add(x, 0, torch.tensor([[[0]], [[9]]]).expand(2, 3, 4), x)")
raises("torch.gather(x, 0, torch.tensor([[[0]], [[-1]]]).expand(2, 3, 4))")
raises("torch.masked_scatter(x, x < 9, x[0])")
raises("torch.put(x, torch.full([4, 5, 6], 120), x)")
BAGS = "    w = x.t().contiguous()\n    o = torch.tensor([0, 2, 2, 40])\n"
for m in ("sum", "mean", "max"):
    add(f"embedding_bag/longer/{m}", [f"F.embedding_bag(i[0], x, o, mode='{m}')", f"F.embedding_bag(i, x, mode='{m}')", f"F.embedding_bag(i[0], w, o, mode='{m}')",
                                      f"F.embedding_bag(i[0], x, o, mode='{m}', padding_idx=3)", f"F.embedding_bag(i[0], x.t().contiguous().t(), o, mode='{m}')",
                                      f"F.embedding_bag(i.to(torch.int32), x, mode='{m}')"] +
        (["F.embedding_bag(i[0], x, o, mode='sum', per_sample_weights=x[1])"] if m == "sum" else []), prelude=BAGS, **L)
# A mask without dimensions selects nothing from a tensor without elements. A tensor without dimensions accepts no
# index.
for m in (True, False):
    for s in ((0, 3), (2, 0), ()):
        for e in ("torch.ops.aten.index(x, [m])", "x.index_put([m], torch.tensor(2.))", "x.index_put([m], torch.tensor(2.), True)", "x.index_put([m], x * 2)",
                  "x.index_put_([m], torch.tensor(2.))", "x.masked_fill(m, 2.)"):
            CASES.append((f"one mask/{m}/{s}/{e}", f"def f(x: Tensor, m: Tensor):\n    return {e}\n", (torch.ones(s), torch.tensor(m))))
