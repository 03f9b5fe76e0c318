# SPDX-License-Identifier: BSD-2-Clause
# Products of matrices and vectors, einsum, distances and small linear algebra, against PyTorch.
# CASES: (name, source of a scripted function, builder of its arguments).
import torch

SUMS = True
CASES = []


def random(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed)) if sizes else torch.tensor(0.75)


def add(name, expression, *shapes, before="", options=None, dtype=None, result="Tensor"):
    names = ["a", "b", "c", "d"][:len(shapes)]
    convert = "".join(f"    {n} = {n}.to({dtype})\n" for n in names) if dtype else ""
    text = f"def f({', '.join(n + ': Tensor' for n in names)}) -> {result}:\n{convert}{before}    return {expression}\n"
    args = lambda: tuple(random(*shape, seed=i) * (4 if dtype else 1) for i, shape in enumerate(shapes))
    CASES.append((name, text, args) if options is None else (name, text, args, options))


TURN = {"": "", "-ta": "    a = a.transpose(-1, -2).contiguous().transpose(-1, -2)\n",
        "-tb": "    b = b.transpose(-1, -2).contiguous().transpose(-1, -2)\n"}
SIZES = [(3, 4, 5), (1, 7, 9), (17, 300, 33), (64, 65, 66), (5, 3, 1), (0, 3, 4), (3, 0, 4), (40, 2, 50)]
for m, k, n in SIZES:
    for turn, before in TURN.items():
        tag = f"-{m}-{k}-{n}{turn}"
        add("mm" + tag, "torch.mm(a, b)", (m, k), (k, n), before=before)
        add("bmm" + tag, "torch.bmm(a, b)", (2, m, k), (2, k, n), before=before)
        add("addmm" + tag, "torch.addmm(c, a, b, beta=0.5, alpha=2)", (m, k), (k, n), (n,), before=before)
        add("baddbmm" + tag, "torch.baddbmm(c, a, b, beta=0.5, alpha=2)", (2, m, k), (2, k, n), (n,), before=before)
        add("addbmm" + tag, "torch.addbmm(c, a, b)", (2, m, k), (2, k, n), (n,), before=before)
        add("linear" + tag, "F.linear(a, b, c)", (m, k), (n, k), (n,), before=before)
    add(f"linear3d-{m}-{k}-{n}", "F.linear(a, b)", (2, m, k), (n, k))
    add(f"mv-{m}-{k}", "torch.mv(a, b)", (m, k), (k,))
    add(f"addmv-{m}-{k}", "torch.addmv(c, a, b, beta=2, alpha=3)", (m, k), (k,), (m,))
    add(f"outer-{m}-{n}", "torch.outer(a, b)", (m,), (n,))
    add(f"addr-{m}-{n}", "torch.addr(c, a, b, beta=2)", (m,), (n,), (m, n))
for dtype in ("torch.float64", "torch.int64", "torch.int8"):
    add(f"mm-{dtype}", "torch.mm(a, b)", (17, 30), (30, 33), dtype=dtype)
    add(f"matmul-{dtype}", "torch.matmul(a, b)", (2, 3, 4), (4, 5), dtype=dtype)
    add(f"dot-{dtype}", "torch.dot(a, b)", (30,), (30,), dtype=dtype)
add("mm-bfloat16", "torch.mm(a, b).float()", (17, 30), (30, 33), dtype="torch.bfloat16", options={"rtol": 2e-2, "atol": 2.0})
for a in [(4,), (3, 4), (2, 3, 4), (5, 2, 3, 4), (0, 4), (2, 0, 4), (1, 1, 3, 4)]:
    for b in [(4,), (4, 5), (2, 4, 5), (1, 4, 5), (5, 2, 4, 3), (4, 0)]:
        add(f"matmul-{a}-{b}", "torch.matmul(a, b)", a, b)
add("addmm-in-place", "a.addmm_(b, c)", (3, 5), (3, 4), (4, 5))
add("addmm-beta-0", "torch.addmm(a * float('nan'), b, c, beta=0)", (3, 5), (3, 4), (4, 5))
add("linear-vector", "F.linear(a, b)", (5, 3), (3,))
add("linear-row", "F.linear(a, b, c)", (3,), (4, 3), (4,))
add("linear-turned", "F.linear(a.transpose(0, 1), b, c)", (5, 3, 4), (6, 4), (6,))
add("addr-numbers", "[torch.addr(c, a, b, beta=0.5, alpha=-2), torch.addr(c[0], a, b, beta=2), torch.addr(c[:, :1], a, b), torch.addr(c * float('nan'), a, b, beta=0)]",
    (20,), (65,), (20, 65), result="List[Tensor]")
for m, n in ((20, 65), (3, 16), (5, 1), (1, 33), (0, 4), (4, 0)):
    add(f"addr-rows-{m}-{n}", "[torch.addr(c, a, b), torch.addr(c, a.flip(0), b.flip(0)), c.addr(a, b, beta=1, alpha=1)]", (m,), (n,), (m, n), result="List[Tensor]")
add("addr-apart", "[torch.addr(c[::2, 3:], a[::2], b[3:]), torch.addr(c[0], a, b), torch.addr(c[:, :1], a, b), torch.addr(c, a[:1].expand(20), b), torch.addr(c, a, b[::2].repeat(2)[:65]), torch.addr(c.double(), a, b), "
    "torch.addr(c / 0, a * float('inf'), b)]", (20,), (65,), (20, 65), result="List[Tensor]")
add("addr-in-place", "c.addr_(a, b)", (20,), (65,), (20, 65))
add("outer-forms", "[a[:, None] * b, b * a[:, None], a[:, None, None] * b[:6].view(2, 3)[:, None, :], a.view(2, 5, 2, 1) * b[:13], (a.view(4, 5, 1) * b[:5].view(5, 1)) * b[:7], a[::3, None] * b, a[:1].expand(20)[:, None] * b]",
    (20,), (65,), result="List[Tensor]")
add("baddbmm-column", "torch.baddbmm(c, a, b, beta=0.5)", (2, 9, 4), (2, 4, 33), (9, 1))
# Half precision: products are added as floats and rounded once. Products of a few rows read the weights in place, products of more
# rows use packed weights. Some weights are views, or have rows that are parts of longer rows, and some inputs are not contiguous.
# This PyTorch has no linear layers of float16.
for dtype, close in (("torch.bfloat16", {"rtol": 1e-2, "atol": 1e-2}),):
    for rows in (1, 3, 4, 5, 37):
        for k, n in ((1, 1), (7, 3), (33, 17), (64, 48), (130, 65)):
            add(f"linear-{dtype}-{rows}-{k}-{n}", "F.linear(a / 4, b / 4, c).float()", (rows, k), (n, k), (n,), dtype=dtype, options=close)
        # PyTorch 1.13 adds in bfloat16 for transposed weights. All sums of these numbers are integers up to 80, which
        # bfloat16 can represent.
        add(f"linear-{dtype}-{rows}-turned", "F.linear(a.round().clamp(-2, 2), b.round().clamp(-2, 2).t()).float()", (rows, 20), (20, 9),
            dtype=dtype, options={"rtol": 0, "atol": 0})
        add(f"linear-{dtype}-{rows}-part", "F.linear(a[:, ::2] / 4, (b / 4)[:, 3:13], c[:9]).float()", (rows, 20), (9, 15), (12,), dtype=dtype, options=close)
    add(f"linear-{dtype}-no-rows", "F.linear(a, b, c).float()", (0, 5), (3, 5), (3,), dtype=dtype, options=close)
    add(f"linear-{dtype}-relu-sum", "(F.relu(F.linear(a / 4, b / 4, c)) + a[:, :1]).float()", (3, 40), (9, 40), (9,), dtype=dtype, options=close)
    add(f"linear-{dtype}-batches", "F.linear(a / 4, b / 4, c).float()", (2, 3, 40), (9, 40), (9,), dtype=dtype, options=close)

for dtype in ("torch.int64", "torch.bool", "torch.complex64", "torch.float64", "torch.bfloat16"):
    add(f"outer-{dtype}", "[torch.outer(a, b), torch.einsum('i,j->ji', a, b)]", (20,), (65,), dtype=dtype, result="List[Tensor]")
    add(f"kron-{dtype}", "[torch.kron(a, b), torch.kron(a[0], b), torch.kron(a[0, 0], b), torch.kron(b, a)]", (3, 5), (4, 17), dtype=dtype, result="List[Tensor]")
add("kron", "[torch.kron(a, b), torch.kron(b, a[0]), torch.kron(a, b.double()), torch.kron(a[:0], b)]", (3, 5), (4, 2, 17), result="List[Tensor]")
for dtype in ("torch.complex64", "torch.complex128"):  # the kernel computes square blocks, and the remaining elements separately
    for m, k, n in ((17, 30, 33), (2, 300, 9), (130, 7, 140), (40, 140, 6), (3, 1, 5), (5, 40, 3), (1, 90, 60), (60, 90, 1)):
        add(f"mm-{dtype}-{m}-{k}-{n}", "[torch.mm(a, b), torch.mm(b.t(), a.t()), torch.mm(a * 1j, (b * (2 - 1j)).t().contiguous().t())]", (m, k), (k, n), dtype=dtype, result="List[Tensor]")
    add(f"addbmm-{dtype}", "[torch.addbmm(c, a, b), torch.bmm(a[:, ::2, ::3], b[:, ::3]), torch.matmul(a[:, :, :1], b[:, :1])]", (3, 20, 30), (3, 30, 16), (20, 16), dtype=dtype, result="List[Tensor]")
add("inner", "torch.inner(a, b)", (2, 6, 3), (4, 5, 3))
add("vdot", "torch.vdot(a, b)", (5,), (5,))
add("tensordot", "torch.tensordot(a, b, [[1, 2], [2, 1]])", (2, 3, 4), (5, 4, 3, 6))
add("tensordot-0", "torch.tensordot(a, b, 0)", (2, 3), (5, 4))
# Products in the kernels' tiles, and products that are so small that a loop computes them.
for dtype in ("torch.int64", "torch.int32", "torch.float64"):
    add(f"matmul-tiles-{dtype}", "torch.matmul(a, b)", (37, 70), (70, 51), dtype=dtype)
    add(f"bmm-tiles-{dtype}", "torch.bmm(a, b)", (3, 9, 300), (3, 300, 17), dtype=dtype)
for sizes in (((300, 3, 3), (300, 3, 3)), ((2, 5, 4, 4), (5, 4, 1)), ((50, 2, 7), (50, 7, 3)), ((64, 3, 4), (4, 2))):
    add(f"matmul-tiny-{sizes[0]}", "torch.matmul(a, b)", *sizes)
add("matmul-tiny-turned", "torch.matmul(a.transpose(1, 2), b.transpose(1, 2))", (40, 3, 5), (40, 4, 3))
# Few rows, few columns, or small depth: sizes for which a kernel is just faster than a loop, and sizes for which it is
# just slower.
for sizes in (((3, 3, 64), (3, 64, 224)), ((2, 2, 64), (2, 64, 33)), ((1, 64), (64, 50)), ((5, 28, 64), (5, 64, 2)), ((2, 130, 33), (2, 33, 4)), ((4, 31), (31, 3)),
              ((7, 1030), (1030, 2)), ((3, 64, 3), (3, 3, 64)), ((2, 64, 1), (2, 1, 80)), ((2, 33, 2), (2, 2, 70)), ((70, 40), (40, 1)),
              ((2, 9, 33), (2, 33, 130)), ((16, 40), (40, 65)), ((3, 40, 8), (3, 8, 5)), ((4, 8, 8), (4, 8, 4))):
    add(f"matmul-few-{sizes}", "torch.matmul(a, b)", *sizes)
add("matmul-few-turned", "[torch.matmul(a.transpose(1, 2), b.transpose(1, 2)), torch.matmul(b, a), torch.matmul(a[:, :, ::2], b.transpose(1, 2)[:, ::2, 1:])]", (3, 64, 64), (3, 3, 64), result="List[Tensor]")
add("matmul-few-more", "[torch.baddbmm(c, a, b), torch.baddbmm(c, a, b, beta=0.5, alpha=2)]", (3, 40, 64), (3, 64, 3), (3, 40, 3), result="List[Tensor]")
add("chain_matmul", "torch.linalg.multi_dot([a, b, c])", (3,), (3, 4), (4,))
add("bilinear", "F.bilinear(a, b, c, d)", (2, 7, 3), (2, 7, 4), (5, 3, 4), (5,))
for n in (-2, -1, 0, 1, 2, 5):
    add(f"matrix_power-{n}", f"torch.matrix_power(a + 3 * torch.eye(3), {n})", (2, 3, 3))
for i, shapes in enumerate([((3, 4), (5, 5)), ((2, 4, 4), (2, 3, 5)), ((2, 4, 4), (3, 4, 5)), ((4,), (5,)), ((), (5,))]):
    add(f"matmul-fails-{i}", "torch.matmul(a, b)", *shapes)
add("mm-fails-rank", "torch.mm(a, b)", (2, 3, 4), (4, 5))
add("mm-fails-dtype", "torch.mm(a, b.double())", (3, 4), (4, 5))
add("addmm-fails", "torch.addmm(a, b, c)", (7,), (2, 3), (3, 4))
add("linear-fails", "F.linear(a, b)", (2, 3), (4, 5))

EQUATIONS = [("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk->ki", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("bij,bjk->ikb", (2, 3, 4), (2, 4, 5)),
             ("ij->ji", (2, 3)), ("ij->i", (2, 3)), ("ij->", (2, 3)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("iij->j", (3, 3, 4)),
             ("ij,ji->ij", (2, 3), (3, 2)), ("i,j->ji", (2,), (3,)), ("ij,ji->", (2, 3), (3, 2)),
             ("...ij,...jk->...ik", (5, 2, 3, 4), (2, 4, 6)), ("...ij->...ji", (5, 2, 3)), ("i...->...", (2, 3, 4)), ("...->", (2, 3)),
             ("b...i,b...i->b...", (2, 3, 4), (2, 3, 4)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("ij,kl->ijkl", (2, 3), (4, 5)),
             ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)), ("bhij,bhjd->bihd", (2, 3, 4, 6), (2, 3, 6, 5)), ("ab,b->ab", (3, 4), (4,)),
             ("ij,i->ji", (3, 4), (3,)), ("ij,k->i", (3, 4), (5,)), ("ij,jk->ik", (2, 1), (3, 4)), ("Ab,bC", (2, 3), (3, 4)),
             ("bqhd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 4, 5)), ("ntg,ncg->nct", (2, 3, 4), (2, 5, 4)), ("ij,kj,lj->ikl", (2, 3), (4, 3), (5, 3)),
             ("i j , j k -> i k", (2, 3), (3, 4)), ("ij,jk->ik", (2, 0), (0, 3)),
             ("aij,ajk->aik", (1, 2, 3), (1, 3, 4)), ("aij,jk->aik", (1, 3, 4), (4, 4)), ("ij,kj->ik", (2, 3), (1, 3)), ("ij,kj->ik", (1, 3), (2, 3)),
             ("bij,bjk->ikb", (1, 2, 3), (1, 3, 4)), ("ij,bjk->ikb", (2, 3), (1, 3, 4)), ("bhqd,bhkd->bhqk", (1, 4, 1, 3), (1, 4, 7, 3)),
             ("bhqk,bhkd->bqhd", (1, 2, 5, 7), (1, 2, 7, 3)), ("bij,jk->kbi", (1, 2, 3), (3, 1)), ("ab,cb->ca", (1, 4), (3, 4)),
             ("ij,kj,lj->ikl", (1, 3), (4, 3), (1, 3)), ("bi,bj->bij", (5, 33), (5, 70)), ("bi,bj->jib", (5, 33), (5, 70)), ("ij,ij->ij", (9, 40), (9, 40)),
             ("bij->bj", (3, 20, 65)), ("bij->b", (3, 20, 65)), ("bij->", (3, 20, 65)), ("bij,bk->jk", (3, 20, 17), (3, 9)), ("i,j,k->kij", (9,), (17,), (3,))]
for equation, *shapes in EQUATIONS:
    operands = ", ".join("abcd"[:len(shapes)])
    add(f"einsum {equation} {shapes}", f"torch.einsum({equation!r}, [{operands}])", *shapes)
# Products whose cheapest order is not from left to right, with the strides of their results.
for equation, *shapes in [("eui,ej,ijk->euk", (40, 16, 5), (40, 5), (5, 5, 3)), ("eui,ej,ijk->kue", (40, 16, 5), (40, 5), (5, 5, 3)),
                          ("ij,jk,kl->li", (3, 60), (60, 70), (70, 2)), ("ij,jk,kl->il", (60, 2), (2, 70), (70, 3)), ("ab,bc,cd,da->b", (3, 50), (50, 4), (4, 60), (60, 3)),
                          ("ijk,kec,be,bci,bcj->bc", (9, 9, 4), (4, 3, 8), (20, 3), (20, 8, 9), (20, 8, 9)), ("ijl,ekc,be->bcijl", (9, 9, 2), (3, 2, 8), (20, 3)),
                          ("...i,ij,j...->...", (30, 4, 40), (40, 50), (50, 4)), ("ij,kj,k,->i", (40, 30), (50, 30), (50,), ()), ("ij,jk,kl->il", (1, 60), (60, 70), (70, 1)),
                          ("ij,jk,kl->li", (60, 0), (0, 70), (70, 3))]:
    operands = ", ".join("abcde"[:len(shapes)])
    for dtype in ("float", "double"):
        CASES.append((f"einsum {equation} of {dtype}, in another order", f"def f({operands}):\n    y = torch.einsum({equation!r}, [{operands}])\n    return y, y.stride()\n",
                      tuple(random(*shape, seed=i).to(getattr(torch, dtype)) for i, shape in enumerate(shapes))))
for m, k, n in ((5, 3, 7), (16, 5, 5), (8, 9, 17), (32, 32, 31), (2, 40, 3)):
    for turn, before in TURN.items():
        for dtype in ("torch.float32", "torch.float64"):
            add(f"bmm-small-{m}-{k}-{n}{turn}-{dtype}", "torch.bmm(a, b)", (33, m, k), (33, k, n), before=before, dtype=dtype)
            add(f"matmul-small-{m}-{k}-{n}{turn}-{dtype}", "torch.matmul(a, b)", (9, 4, m, k), (4, k, n), before=before, dtype=dtype)
for m, k, n in ((150, 600, 37), (9, 300, 8), (70, 1, 9)):
    add(f"mm-{m}-{k}-{n}-double", "torch.mm(a, b)", (m, k), (k, n), dtype="torch.float64")
for i, (equation, *shapes) in enumerate([("i1", (2,)), ("ij,jk->iz", (2, 3), (3, 4)), ("ij,jk", (2, 3)), ("ij,jk->ii", (2, 3), (3, 4)),
                                         ("ij,jk->ik", (2, 3), (4, 5)), ("i..j", (2, 3)), ("ij->", (2, 3), (3,)), ("ijk", (2, 3))]):
    add(f"einsum-fails-{i}", f"torch.einsum({equation!r}, [{', '.join('abcd'[:len(shapes)])}])", *shapes)

for p in ("0.", "1.", "2.", "3.", "float('inf')"):
    add(f"cdist-{p}", f"torch.cdist(a, b, {p})", (2, 1, 5, 3), (4, 6, 3), options={"rtol": 1e-4, "atol": 1e-4})
    add(f"cdist-longer-{p}", f"torch.cdist(a, b, {p}, 'donot_use_mm_for_euclid_dist')", (2, 1, 5, 130), (3, 70, 130))
    add(f"cdist-turned-{p}", f"torch.cdist(a.t(), b.t(), {p}, 'donot_use_mm_for_euclid_dist')", (7, 24), (7, 129))
    # Points without dimensions, with strides that no loop may use.
    add(f"cdist-huge-strides-{p}", f"torch.cdist(torch.as_strided(a, [3, 5, 4, 0], [4611686018427387904, 4611686018427387904, 1, 1]), torch.as_strided(b, [3, 5, 4, 0], [4611686018427387904, 4611686018427387904, 1, 1]), {p}, 'donot_use_mm_for_euclid_dist')", (4,), (4,))
    add(f"pdist-{p}", f"F.pdist(a, {p})", (5, 3))
    add(f"pairwise-{p}", f"F.pairwise_distance(a, b, {p}, 1e-6, True)", (4, 3), (3,))
add("cosine", "F.cosine_similarity(a, b, 1)", (2, 3, 4), (3, 4))
add("cosine-last", "F.cosine_similarity(a, b, -1)", (2, 3, 4), (2, 3, 4))
add("cosine-zero", "F.cosine_similarity(a * 0, b, 1)", (2, 3), (2, 3))

SQUARE = "    a = a + 4 * torch.eye(4)\n"
for name in ("inverse", "det", "logdet"):
    add(name, f"torch.{name}(a)", (2, 4, 4), before=SQUARE)
add("slogdet", "torch.slogdet(a)", (2, 4, 4), before=SQUARE, result="Tuple[Tensor, Tensor]")
for upper in ("False", "True"):
    add(f"cholesky-{upper}", f"torch.linalg.cholesky(a @ a.transpose(-1, -2), upper={upper})", (2, 4, 4), before=SQUARE)
    add(f"triangular-{upper}", f"torch.triangular_solve(b, a, upper={upper})", (2, 4, 4), (2, 4, 3), before=SQUARE,
        result="Tuple[Tensor, Tensor]")
for shape in ((2, 4, 3), (4, 3), (2, 4)):
    add(f"solve-{shape}", "torch.linalg.solve(a, b)", (2, 4, 4), shape, before=SQUARE)
add("inverse-fails", "torch.inverse(a * 0)", (3, 3))
add("cholesky-fails", "torch.linalg.cholesky(-(a @ a.t()))", (3, 3))

PACKED = "torch.ops.prepacked.linear_clamp_run(a, torch.ops.prepacked.linear_clamp_prepack(b, c, {}, {}))"
for shape in ((2, 4), (4,), (2, 3, 4), (0, 4)):
    add(f"prepacked-{shape}", PACKED.format("None", "None"), shape, (5, 4), (5,))
    add(f"prepacked-clamped-{shape}", PACKED.format("-0.5", "1"), shape, (5, 4), (5,))

# torch.inner with a 0-D tensor is an elementwise product, with the dtypes and strides of mul.
CASES += [("inner/numbers", "def f(x: Tensor):\n    n = torch.tensor(2.5)\n    return (torch.inner(x, n.double()), torch.inner(x.int(), n), torch.inner(torch.tensor(2), x), torch.inner(n.double(), x.half()),\n"
           "            torch.inner(x.int(), torch.tensor(2)), torch.inner(x > 0, torch.tensor(True)), torch.inner(x > 0, torch.tensor(2)), torch.inner(x.t(), n), torch.inner(n, x.t()),\n"
           "            torch.inner(torch.tensor(2).int(), n.double()), torch.inner(n, n), torch.inner(x[:0], n))\n", (torch.randn(3, 4, generator=torch.Generator().manual_seed(0)),)),
          ("raises/inner/dtypes", "def f(x: Tensor):\n    return torch.inner(x, x.double())\n", (torch.ones(3, 4),)),
          ("raises/addmm/beta", "def f(x: Tensor):\n    return torch.addmm(x, x, x, beta=1e300)\n", (torch.ones(3, 3),)),
          ("raises/addmm/alpha", "def f(x: Tensor):\n    return torch.addmm(x, x, x, alpha=1e300)\n", (torch.ones(3, 3),))]
# Operands of two dtypes: element-wise products promote, sums of products do not.
for e, d in (("ij,ij->ij", "long float"), ("ij,ij->ij", "int half"), ("ij,ij->i", "long float"), ("i,j->ij", "uint8 double"), ("i,j->ij", "float double"), ("ij,k->ijk", "bool float"),
             ("ij,ik->ij", "long float"), ("ij,ik->ij", "float int"), ("i,->i", "long float"), (",->", "int float"), ("ij,kj->ik", "float double"), ("i,j,k->ijk", "int float double"),
             ("i,i,j->ij", "long long float"), ("ij,jk->ik", "int long"), ("ij,ik->ij", "int short")):
    given, number = e.split("->")[0].split(","), {"i": 3, "j": 4, "k": 5}
    tensors = tuple((torch.arange(float(torch.Size([number[c] for c in s]).numel())).reshape([number[c] for c in s]) + 1).to(getattr(torch, t)) for s, t in zip(given, d.split()))
    names = ", ".join("abc"[:len(given)])
    CASES.append((f"einsum {e} of {d}", f"def f({names}):\n    return torch.einsum({e!r}, [{names}])\n", tensors))
