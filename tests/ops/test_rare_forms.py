# SPDX-License-Identifier: BSD-2-Clause
# Overloads that no other case reaches: the second .out forms of an operator, and operators that a script calls only by their inner names.
import functools

from forms import POOL, case, forms, integers, numbers, plain, raising

CASES = []
A = "torch.ops.aten."
POOL = POOL | {"o": numbers(4, 4, seed=9) @ numbers(4, 4, seed=9).T + 4 * numbers(4, 4).new_ones(4).diag(), "f": numbers(2, 3, 4, 4, 4), "k": integers(4, low=0, high=3)}
forms = functools.partial(forms, other=None, gaps=False, pool=POOL)
plain = functools.partial(plain, pool=POOL)
raising = functools.partial(raising, pool=POOL)

# Decompositions.
for name, outs, *calls in (("qr", "Q R", "x", "m, False"), ("ormqr", "out", "m, r, m", "m, r, x, False, True"),
                           ("linalg_ldl_factor", "LD pivots", "o"), ("linalg_ldl_factor_ex", "LD pivots info", "o"), ("_linalg_svd", "U S Vh", "x, False, False"), ("svd", "U S V", "x", "x.t(), False"),
                           ("linalg_pinv", "out", "x, atol=0.1, rtol=0.2", "x, torch.tensor(0.3)"), ("linalg_matrix_rank", "out", "x, atol=0.1, rtol=0.2", "x, torch.tensor(0.3)"), ("_linalg_eigh", "eigenvalues eigenvectors", "o, 'L', False"),
                           ("linalg_eigvals", "out", "o"), ("symeig", "e V", "o"), ("inverse", "out", "o"), ("matrix_power", "out", "o, 2")):
    CASES += forms(name, *calls, outs=outs, options={"rtol": 1e-3, "atol": 1e-4})
# An out tensor of wrong sizes becomes contiguous, and an empty out tensor becomes column-major.
CASES += forms("geqrf", "m", "x", outs="a tau", other=False) + forms("orgqr", "m, r", "x.t().contiguous(), r[:3]", outs="out", other=False)
FACTORED = f"    L, p, n = {A}linalg_lu_factor_ex(o)\n"
CASES += [case("lu_unpack", FACTORED + f"    a = [torch.empty([0]), torch.empty([0]), torch.ones([7])]\n    b = {A}lu_unpack(L, p, P=a[0], L=a[1], U=a[2])\n    return a, b\n", "o", pool=POOL),
          case("linalg_lu_solve", FACTORED + f"    a = torch.empty([0])\n    b = {A}linalg_lu_solve(L, p, x.t(), out=a)\n    c = torch.zeros([4, 3])\n    {A}lu_solve(x.t(), L, p, out=c)\n    return a, b, c\n", "o x", pool=POOL),
          case("linalg_ldl_solve", f"    L, p = {A}linalg_ldl_factor(o)\n    a = torch.empty([0])\n    b = {A}linalg_ldl_solve(L, p, x.t(), out=a)\n    return a, b\n", "o x", pool=POOL),
          case("_linalg_check_errors", f"    {A}_linalg_check_errors(torch.zeros([2], dtype=torch.int32), 'a', is_matrix=False)\n    return o\n", "o", pool=POOL),
          case("raises _linalg_check_errors", f"    {A}_linalg_check_errors(torch.ones([], dtype=torch.int32), 'linalg.inv', is_matrix=True)\n    return o\n", "o", pool=POOL)]
CASES += [plain("_symeig_helper", A + "_symeig_helper(o, False, True)[0]")]
# Reductions of all elements, in addition to reductions of dimensions.
CASES += forms("median", "x", "i", outs="out") + forms("nanmedian", "x", outs="out") + forms("sum", "x", "i", outs="out") + forms("prod", "x", "i", outs="out")
CASES += forms("norm", "x", "x, 1", "x, 2, dtype=torch.float64", outs="out") + forms("special_logsumexp", "x, [0]", outs="out")
CASES += forms("segment_reduce", "r, 'sum', lengths=torch.tensor([1, 3])", "r, 'max', lengths=torch.tensor([2, 2])", outs="out") + forms("_weight_norm_interface", "x, x[:, :1].abs(), 0", outs="out0 out1")
# Resizing by a list of sizes or of factors.
for name, t in (("nearest1d", "t"), ("nearest2d", "q"), ("nearest3d", "f"), ("linear1d", "t"), ("bilinear2d", "q"), ("trilinear3d", "f"), ("bicubic2d", "q")):
    rank, align = {"t": 1, "q": 2, "f": 3}[t], "" if "nearest" in name else " False,"
    for kind in ("upsample_",) + (("_upsample_",) if "nearest" in name else ()) :
        exact = kind + name.replace("nearest", "nearest_exact") if kind[0] == "_" else kind + name
        CASES += forms(exact, f"{t}, [{', '.join(['6'] * rank)}],{align} None", f"{t}, None,{align} [{', '.join(['1.5'] * rank)}]", outs="out")
for name in ("bilinear2d", "bicubic2d"):
    CASES += forms(f"_upsample_{name}_aa", "q, [3, 3], False, None", "q, None, False, [0.5, 0.5]", outs="out")
for name in ("__interpolate", "__upsample"):
    factor = "2.0" if name == "__interpolate" else "2"
    CASES += [plain(name, f"{A}{name}(t, 6)", f"{A}{name}(q, None, {factor})", f"{A}{name}(q, [6, 7])", f"{A}{name}(q, [6, 7], None, 'bilinear', False)", *([f"{A}{name}(q, None, [2.0, 1.5])", f"{A}{name}(q, [6, 7], None, 'bicubic', True)"] if factor == "2.0" else []))]
CASES += [plain("__upsample_nearest", A + "__upsample_nearest(t, 6)", A + "__upsample_nearest(q, [6, 7])", A + "__upsample_nearest(q, None, 2)"),
          plain("__upsample_bilinear", A + "__upsample_bilinear(q, 6)", A + "__upsample_bilinear(q, [6, 7])", A + "__upsample_bilinear(q, None, [2, 3])", A + "__upsample_bilinear(q, None, 2)")]
# Pooling, normalization, losses.
CASES += [case("max_unpool", f"    a, n = {A}max_pool2d_with_indices(q, [2, 2])\n    b = torch.empty([0])\n    c = {A}max_unpool2d(a, n, [4, 5], out=b)\n    d, n = {A}max_pool3d_with_indices(f, [2, 2, 2])\n    e = torch.empty([0])\n"
               f"    {A}max_unpool3d(d, n, [4, 4, 4], [2, 2, 2], [0, 0, 0], out=e)\n    return b, c, e\n", "q f", pool=POOL)]
CASES += forms("fractional_max_pool2d", "q, [2, 2], [2, 3], u[:2, :3, None].expand(2, 3, 2).contiguous()", outs="output indices") + forms("fractional_max_pool3d", "f, [2, 2, 2], [2, 1, 2], u[:2, :3, None].expand(2, 3, 3).contiguous()", "f, [2, 2, 2], [2, 3, 2], u[:2, :3, None].expand(2, 3, 3).contiguous()", outs="output indices")
CTC = "torch.log_softmax(t.transpose(0, 1), 2), torch.tensor([[1, 2], [3, 1]]), "
CASES += [case("_ctc_loss", f"    a = torch.ones([7], dtype=torch.float64)\n    {A}_ctc_loss({CTC}[3, 3], [2, 1], out0=a, out1=torch.empty([0]))\n    return a.float(), {A}_ctc_loss({CTC}torch.tensor([3, 3]), torch.tensor([2, 1]))[0]\n", "t", pool=POOL)]
CASES += forms("log_sigmoid_forward", "x", outs="output buffer")
# Indexing.
V = "torch.tensor([0, 2])"
for name in ("_embedding_bag", "_embedding_bag_forward_only"):
    out = ", ".join(f"out{n}=torch.empty([0], dtype=torch.int64)" for n in (1, 2, 3))
    CASES.append(case(name + " out", f"    a = torch.ones([7], dtype=torch.float64)\n    b = torch.empty([0])\n    {A}{name}(x, k, {V}, out0=a, {out})\n    {A}{name}(x, k, {V}, False, 1, out0=b, {out})\n    return a.float(), b\n", "x k", pool=POOL))
CASES += forms("embedding_renorm", "x, k, 0.5, 2.0", outs="out") + [case("_no_grad_embedding_renorm_", f"    a = x.clone()\n    b = {A}_no_grad_embedding_renorm_(a, k, 0.5, 2.0)\n    return a\n", "x k", pool=POOL)]
CASES += [plain("hacked twins", f"{A}index(x, [{V}])", f"{A}_index_put_impl_(x.clone(), [{V}], y[:2])")]
CASES += forms("histogram", "x, r.sort()[0]", "x, r.sort()[0], density=True", outs="hist bin_edges") + forms("_histogramdd_from_bin_cts", "x[:, :2], [2, 3]", outs="out") + forms("_histogramdd_from_bin_tensors", "x[:, :2], [r.sort()[0], v.sort()[0]]", outs="out")
CASES += [plain("histogramdd", A + "histogramdd(x[:, :2], [r.sort()[0], v.sort()[0]])")]
# Views, convolutions, creation.
CASES += forms("_unsafe_view", "x, [12]", "x, [2, -1]", outs="out")
CASES += forms("col2im", "t, [3, 2], [2, 2], [1, 1], [0, 0], [1, 1]", "torch.ones([2, 12, 4]), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1]", outs="out") + forms("_efficientzerotensor", "[2, 3]", outs="out", functional=False) + forms("range", "1, 5", outs="out")
# Attention.
CASES += forms("_transform_bias_rescale_qkv", "torch.cat([t, t, t], 2), torch.cat([r, r, v]), 2", outs="out0 out1 out2")
HEADS = "4, 2, torch.cat([m, m, m]), torch.cat([r, r, v]), m, r"
CASES += forms("_native_multi_head_attention", "t, t, t, " + HEADS, outs="out0 out1") + forms("_transformer_encoder_layer_fwd", "t, " + HEADS + ", False, False, 1e-5, r, v, r, v, m, r, m, v", outs="out")
CASES += forms("_pack_padded_sequence", "t, torch.tensor([3, 2]), True", outs="out0 out1")
# Functions about tensors, lists and the interpreter.
for name in ("_tensor_to_list(i[0].to(torch.int32))", "_list_to_tensor([1, 2])", "_size_if_not_equal([1, 2], [2, 1])", "_size_if_not_equal([1], [1])", "_infer_size([2, 1, 3], [4, 1])", "_infer_size([2], [3])", "Size([1, 2])", "is_scripting()", "is_autocast_enabled()", "_get_tracing_state()", "result_type(1, 2.5)", "Float(3)",
             "sorted([s, s - 1])", "__round_to_zero_floordiv(-7, 2)", "hash('a') == torch.ops.aten.hash('a')", "_nnpack_available() or True", "to(x, torch.device('cpu'))", "to(x, 7)", "copy_(x.clone(), y)", "rsub(x, y)", "cuda(x)"):
    CASES.append(plain(name, A + name))
for name in ("rangelist(3)", "infer_squeeze_size([1, 2, 1])", "infer_squeeze_size([1, 2], 0)", "infer_unsqueeze_size([2, 3], -1)", "StringIndex('abc', -1)", "abs(x)", "is_cpu(x)", "is_nested(x)"):
    CASES.append(plain("prim " + name, "torch.ops.prim." + name))
for name in ("cpu", "cuda", "mps", "meta", "sparse_csr", "ipu", "ort", "vulkan", "xpu"):
    CASES.append(plain("prim is_" + name, f"torch.ops.prim.is_{name}(x)"))
CASES += [plain("prim numbers", "torch.ops.prim.NumToTensor(2)", "torch.ops.prim.NumToTensor(2.5)", "torch.ops.prim.NumToTensor(True)", "torch.ops.prim.NumToTensor(x.dim() > 1)", "torch.ops.prim.dtype(x)", A + "pow(2, 3)", A + "dim(x)", A + "is_grad_enabled() or x.dim() >= 0"),
          plain("devices", A + "ne(torch.device('cpu'), x.device)", A + "is_autocast_cpu_enabled()"),
          plain("lists", A + "len(['a', 'b'])", A + "len([x, y])", A + "select([1, 2, 3], -1)", A + "split(x, [1, 2])", A + "moveaxis(x, 0, 1)"),
          plain("dicts", A + "dict([(1, x), (2, y)])[2]", "dict([('a', 1.5)])", "dict([(1.5, 2)])[1.5]", "dict([(True, x)])[True]", A + "dict()", "{1: x}[1]", "{True: x}[True]", "{1.5: y}[1.5]", "{1: 2}[1]", "{'a': 1.5}['a']")]
# Quantized tensors, nested tensors, packed weights.
QUANTIZED = A + "quantize_per_tensor(x, 0.1, 10, 13)"
CASES += [plain("quantize_per_tensor", f"{A}int_repr({QUANTIZED})", f"{A}dequantize({QUANTIZED})", f"torch.dequantize({QUANTIZED})", f"{A}q_scale({QUANTIZED})", f"{A}q_zero_point({QUANTIZED})", f"{A}dequantize({A}quantize_per_tensor(x, 0.1, 0, 12))",
                f"{A}dequantize({A}quantize_per_tensor(x, 0.05, 3, 14))")]
MASK = "torch.tensor([[True, True, False], [True, False, False]])"
CASES += [plain("nested", f"{A}to_padded_tensor({A}_nested_tensor_from_mask(t, {MASK}), 0.5)", f"{A}nested_to_padded_tensor({A}_nested_tensor_from_mask(t, {MASK}), 0.5)", f"{A}_nested_tensor_from_mask_left_aligned(t, {MASK})",
                f"{A}_nested_tensor_from_mask_left_aligned(t, {MASK}.flip(1))")]
CASES += [plain("unpack_prepacked_sizes", "torch.ops.prepacked.unpack_prepacked_sizes_conv2d(torch.ops.prepacked.conv2d_clamp_prepack(torch.ones([2, 3, 2, 2]), None, [1, 1], [0, 0], [1, 1], 1, None, None))",
                "torch.ops.prepacked.unpack_prepacked_sizes_linear(torch.ops.prepacked.linear_clamp_prepack(m, r, None, None))")]
