# SPDX-License-Identifier: BSD-2-Clause
# Views, their copying variants and joins in all their forms, and properties of tensors.
import functools

from forms import case, forms, plain, raising

# Most .out forms of these operators copy the result to an out tensor of any dtype.
forms = functools.partial(forms, other=None)

CASES = []
A = "torch.ops.aten."
# Cases of operators that do not resize the out tensor, which always has the result's sizes.
copies = functools.partial(forms, empty=False)


def views(name, *calls):
    """Adds a case for each view: it returns the view, its strides, and the tensor after a write to the view, which shows that both share memory."""
    for at, call in enumerate(calls):
        first = call.split(",")[0].replace(".t()", "")
        CASES.append(case(f"{name}({call})", f"    {first} = {first}.clone()\n    A = {A}{name}({call})\n    o = A.storage_offset()\n"
                          f"    A.fill_(1)\n    return A, {first}, o\n", call))


def lists(name, *calls):
    CASES.append(case(f"{name}", "".join(f"    L{n} = {A}{name}({call})\n" for n, call in enumerate(calls)) + f"    return ({', '.join(f'L{n}' for n in range(len(calls)))},)\n", *calls))


views("moveaxis", "q, 0, 2", "q, [0, 1], [2, 0]", "q, -1, 0", "q, [], []", "s, 0, 0", "x.t(), 0, -1")
for name in ("swapaxes", "swapdims"):
    views(name, "q, 0, 2", "q, -1, -2", "x.t(), 0, 1", "s, 0, -1", "e, 0, 1")
    CASES.append(plain(f"{name}_", f"{A}{name}_(q.clone(), 0, 2)", f"{A}{name}_(x.clone(), -1, 0)", f"{A}{name}_(s.clone(), 0, 0)", f"{A}{name}_(x.t(), 0, 1)"))
    CASES += raising(f"{A}{name}(x, 0, 2)", f"{A}{name}(s, 0, 1)", f"{A}{name}_(x, -3, 0)")
views("adjoint", "x", "q")
views("alias", "x", "x.t()", "s", "e")
views("linalg_diagonal", "m", "q", "x.t()", "m, offset=1", "q, offset=-1, dim1=0, dim2=2")
views("_reshape_alias", "x, [4, 3], [3, 1]", "x.t(), [2, 2, 3], [1, 2, 4]")
views("_unsafe_view", "x, [12]", "x, [2, -1]", "q, [6, 20]")
views("unflatten", "x, 1, [2, 2]", "q, -1, [5, 1]", "q, 0, [-1, 1]", "x.t(), 1, [3, 1]")
for name in ("moveaxis(q, 0, 4)", "moveaxis(q, [0, 0], [1, 2])", "moveaxis(q, [0, 1], [1])", "adjoint(r)", "unflatten(x, 1, [3, 2])", "unflatten(x, 2, [1])",
             "_unsafe_view(x, [5])", "linalg_diagonal(r)", "linalg_diagonal(x, dim1=0, dim2=0)", "split_with_sizes(x, [1, 1], 0)", "unsafe_split(x, -1)",
             "unsafe_split_with_sizes(x, [1, 1], 0)", "unsafe_chunk(x, 0)", "split_copy(x, 0)", "unbind_copy(s)", "as_strided_(x, [99], [9])", "slice_copy(s)",
             "select_copy(x, 0, 3)", "t_copy(q)", "transpose_copy(x, 0, 2)", "permute_copy(x, [0, 0])", "expand_copy(x, [2, 4])", "view_copy(x, [5])",
             "view_as_complex_copy(x[:, :3])", "view_as_real_copy(x)", "concat([x, q])", "row_stack([x, r[:3]])", "_stack([x, x.t()])", "squeeze_copy(x, 2)",
             "unsqueeze_copy(x, 3)", "unfold_copy(x, 0, 4, 1)", "diagonal_copy(r)"):
    CASES += raising(A + name)
lists("split_with_sizes", "x, [1, 2]", "x, [1, 0, 3], 1", "q, [2, 3], -1", "x.t(), [4]", "e, [0]", "e, [2, 2], 1")
lists("split", "x, 2", "q, [2, 3], -1", "x, [1, 2], 0", "x.t(), 3", "e, 0")
for name in ("unsafe_split", "split_copy"):
    lists(name, "x, 2", "x, 3, 1", "q, 2, -1", "x.t(), 3", "e, 0", "e, 2, 1", "i, 1")
for name in ("unsafe_split_with_sizes", "split_with_sizes_copy"):
    lists(name, "x, [1, 2]", "x, [1, 0, 3], 1", "q, [2, 3], -1", "x.t(), [4]", "e, [0]")
lists("unsafe_chunk", "x, 2", "x, 3, 1", "q, 2, -1", "x.t(), 5", "e, 2")
lists("unbind_copy", "x", "x, 1", "q, -2", "x.t()", "e", "i")
for name, call, count in (("split_copy", "x, 2", 2), ("split_with_sizes_copy", "x, [1, 2]", 2),
                          ("unbind_copy", "x", 3), ("unbind_copy", "x.t(), 1", 3), ("unsafe_split", "x.t(), 2", 2), ("unsafe_split_with_sizes", "x, [1, 2]", 2)):
    CASES.append(case(f"{name}({call}) out", f"    o = [{', '.join(['torch.empty([0])'] * count)}]\n    {A}{name}({call}, out=o)\n    return o\n", call))
CASES.append(case("unsafe_split out of another dtype", f"    o = [torch.ones([2], dtype=torch.int32), torch.empty([0], dtype=torch.float64)]\n    {A}unsafe_split(x, 2, out=o)\n    return o\n", "x"))
CASES += copies("as_strided_copy", "x, [2, 2], [1, 3]", "x, [3], [2], 1", "x.t(), [2, 3], [1, 2]") + forms("as_strided", "x, [2, 2], [1, 3]", "x.t(), [3], [2], 1")
CASES += copies("alias_copy", "x", "x.t()", "s", "i") + copies("detach_copy", "x", "x.t()", "i") + copies("t_copy", "x", "x.t()", "r", "s")
CASES += copies("diagonal_copy", "m", "q, 1, 2, 3", "q, -1, 3, 0") + copies("expand_copy", "r, [3, 4]", "x, [2, -1, 4]", "s, [2]")
CASES += copies("permute_copy", "q, [3, 0, 2, 1]", "x, [-1, 0]", "s, []") + copies("transpose_copy", "q, 0, 2", "x, -1, 0", "s, 0, 0")
CASES += copies("select_copy", "q, 1, 2", "x.t(), -1, -1", "r, 0, 0") + copies("slice_copy", "q, 1, 0, 3, 2", "x", "x, -1, -3, 9", "x, 0, 2, 1", "x.t(), 0, None, None, 3")
CASES += copies("squeeze_copy", "q[:1]", "x", "q[:, :1], 1", "q, 0", "s", "q[:1], -4") + copies("unsqueeze_copy", "x, 0", "x, -1", "x.t(), 1", "s, 0")
CASES += copies("unfold_copy", "q, 3, 2, 2", "x, 0, 3, 1", "x.t(), -1, 1, 2") + copies("view_copy", "x, [12]", "q, [6, -1]", "x, dtype=torch.int32", "x, dtype=torch.uint8", "s, []")
CASES += copies("view_as_complex_copy", "x.view(3, 2, 2)", "q[..., :2]") + copies("view_as_real_copy", "z", "z.t()") + copies("_reshape_alias_copy", "x, [4, 3], [3, 1]", "x, [2], [5]")
CASES += copies("lift", "x", "x.t()", "i") + copies("lift_fresh_copy", "x", "x.t()", "i") + [plain("lift_fresh", A + "lift_fresh(x)", A + "lift_fresh(x.t())")]
CASES += forms("as_strided_scatter", "x, y[:2, :2], [2, 2], [1, 3]", "x, r, [4], [2], 1") + forms("diagonal_scatter", "m, r", "m, r[:3], 1", "q, t[..., :2] * 1, 0, 0, 1")
CASES += forms("select_scatter", "x, r, 0, 1", "x.t(), r[:3], 0, -1") + forms("slice_scatter", "x, y[:, 1:3], 1, 0, 4, 2", "x, y[1:], 0, 1", "x, y")
for name in ("concat", "concatenate", "cat"):
    CASES += forms(name, "[x, y]", "[x, y], 1", "[x, i], -1", "[x.t(), g]", "[x, e]", "[x]", "[i, k]")
for name in ("_stack", "stack", "row_stack", "vstack", "hstack", "dstack", "column_stack"):
    CASES += forms(name, "[x, y]", "[x.t(), g]", "[r, v]", "[i, j]", "[s, s]", *(["[x, y], 1", "[x, y], -1"] if "_" not in name[1:] and name.endswith("_stack") or name == "stack" else []))
CASES += forms("block_diag", "[x, r]", "[s, x.t()]") + forms("channel_shuffle", "q[:, :2], 2", "q, 3") + forms("clone", "x", "x.t()", "q, memory_format=torch.channels_last")
CASES += [plain("native_channel_shuffle", A + "native_channel_shuffle(q[:, :2], 2)", A + "native_channel_shuffle(q, 3)", A + "native_channel_shuffle(q, 1)")]
CASES += forms("flip", "x, [0]", "q, [1, -1]", "x.t(), [0]") + forms("kron", "x, y", "r, x", "i, j", "x, i") + forms("narrow_copy", "x, 0, 1, 2", "q, -1, 2, 3", "x.t(), 0, 0, 0", out=False)
CASES += raising(A + "narrow_copy(x, 0, 1, 2, out=y[1:].double())", A + "kron(x, y, out=torch.empty([9, 16], dtype=torch.int32))")
CASES += forms("pixel_shuffle", "q[:, :1].expand(2, 4, 4, 5), 2", "q, 1") + forms("pixel_unshuffle", "q[..., :4], 2", "q, 1") + forms("repeat", "x, [2, 1]", "x, [2, 1, 3]", "s, [2]", "x.t(), [1, 2]")
CASES += forms("repeat_interleave", "torch.tensor([1, 0, 2])", "torch.tensor([3, 1], dtype=torch.int32)", "n[None]")
CASES += forms("roll", "x, [1], [0]", "x, [5]", "q, [1, -2], [0, -1]", "x.t(), [1], [1]") + forms("rot90", "x, 1, [0, 1]", "q, -1, [1, 3]", "x.t(), 2, [0, 1]")
CASES += forms("tril", "x", "x, 1", "q, -1", "x.t()", "b") + forms("triu", "x", "x, 1", "q, -1", "x.t()", "i")
CASES += forms("resize", "x, [2, 3]", "x, [12]", "x.t(), [2, 2]", "q, [2, 3, 4, 5], memory_format=torch.channels_last") + forms("resize_as", "x, m[:2, :3]", "x.t(), y", "x, r[:2]")
CASES += [plain("resize_", A + "resize_(x, [2, 3])", A + "resize_as_(y, r)")]
CASES += [
    case("set_", "    a = x.clone()\n    r1 = " + A + "set_(a, y)\n    a.fill_(2)\n    b = i.clone()\n    " + A + "set_(b, j)\n    return a, y, r1, b\n", "x y i j"),
    case("set_/offset", "    a = x.clone()\n    " + A + "set_(a, y, 1, [2, 2], [1, 4])\n    a.mul_(3)\n    b = x.clone()\n    " + A + "set_(b, y, 2, [3])\n    return a, b, y\n", "x y"),
    case("set_data", "    a = x.clone()\n    " + A + "set_data(a, y.t())\n    a.fill_(3)\n    return a, y\n", "x y"),
    case("data", "    a = " + A + "data(x)\n    a.fill_(3)\n    return a, x, x.t().data\n", "x"),
    case("detach_", "    a = x.t()\n    " + A + "detach_(x)\n    b = " + A + "detach(a)\n    b.fill_(1)\n    return a, b, x\n", "x"),
    case("as_strided_", "    a = x.clone()\n    " + A + "as_strided_(a, [2, 2], [1, 3], 1)\n    b = y.t().clone()\n    " + A + "as_strided_(b, [3], [2])\n    return a, b\n", "x y"),
    case("squeeze_", "    a = q[:1].clone()\n    " + A + "squeeze_(a)\n    b = q[:, :1].clone()\n    " + A + "squeeze_(b, 1)\n    " + A + "squeeze_(b, 0)\n    return a, b\n", "q"),
    case("requires_grad_", "    return " + A + "requires_grad_(x, False), " + A + "requires_grad_(i, False)\n", "x i"),
    case("raises requires_grad_", "    return " + A + "requires_grad_(i, True)\n", "i"),
    case("_reshape_from_tensor", "    return " + A + "_reshape_from_tensor(x, torch.tensor([2, 6])), " + A + "_reshape_from_tensor(x.t(), torch.tensor([-1]))\n", "x"),
    case("_assert_async", "    " + A + "_assert_async(s)\n    " + A + "_assert_async(b.any())\n    return s\n", "s b"),
    plain("view/dtype", A + "view(x, torch.int32)", A + "view(x, torch.float64)", A + "view(x, torch.uint8)"),
]
for name in ("mH", "mT", "matrix_H", "numpy_T", "adjoint"):
    CASES += [case(f"{name}", f"    return {A}{name}(x), {A}{name}(x.t()){'' if name == 'matrix_H' else f', {A}{name}(q)'}\n", "x q")]
for name in ("_is_zerotensor  is_conj is_distributed is_inference is_leaf is_neg is_non_overlapping_and_dense is_pinned retains_grad dim output_nr "
             "_version sym_numel sym_size sym_stride sym_storage_offset numel is_complex is_floating_point is_signed is_nonzero").split():
    tensors = ("s", "n", "b[0, 0]") if name == "is_nonzero" else ("x", "x.t()", "x[:, ::2]", "x[1]", "s", "i", "z", "e", "q.contiguous(memory_format=torch.channels_last)")
    for t in tensors:
        CASES.append(plain(f"{name}({t})", f"{A}{name}({t})"))
CASES += [plain(f"{name}", *(f"{A}{name}({c})" for c in ("x, 0", "x.t(), 1", "q, 2"))) for name in ("sym_size", "sym_stride")]
CASES += [plain("is_same_size", *(f"{A}is_same_size({c})" for c in ("x, y", "x, x.t()", "x, d", "x, r", "s, s"))), plain("is_set_to", *(f"{A}is_set_to({c})" for c in ("x, y", "x, x", "x, x.t()", "x, x.view(3, 4)", "x, x.view(12)", "e, e"))),
          plain("is_strides_like_format", *(f"{A}is_strides_like_format({t}, {f})" for t in ("q", "q.contiguous(memory_format=torch.channels_last)", "q[:, :1]", "x") for f in ("torch.channels_last", "torch.contiguous_format"))),
          plain("builds", A + "is_vulkan_available()")]
CASES += raising(A + "_assert_async(s * 0)", A + "is_nonzero(x)", A + "is_nonzero(e)")
