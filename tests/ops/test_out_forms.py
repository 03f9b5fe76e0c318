# SPDX-License-Identifier: BSD-2-Clause
# The .out and in-place forms, and the inner functions, of products, decompositions, indexing, losses, pooling, resizing and convolution.
import functools

import torch

from forms import POOL, case, forms, integers, numbers, plain, raising

CASES = []
A = "torch.ops.aten."
POOL = POOL | {"o": numbers(4, 4, seed=9) @ numbers(4, 4, seed=9).T + 4 * numbers(4, 4).new_ones(4).diag(), "f": numbers(2, 3, 4, 4, 4), "k": integers(4, low=0, high=3)}
forms = functools.partial(forms, other=None, pool=POOL)
plain = functools.partial(plain, pool=POOL)
raising = functools.partial(raising, pool=POOL)

# Products.
for name, calls in {"mm": ("x, m", "x.t(), y"), "bmm": ("t, t.transpose(1, 2)",), "mv": ("x, r",), "matmul": ("x, m", "t, m", "r, v"), "linalg_matmul": ("x, m", "t, m"), "dot": ("r, v",), "vdot": ("r, v",), "linear": ("x, m, r", "t, x"),
                    "addmm": ("y, x, m", "r, x, m, beta=2, alpha=0.5"), "_addmm_activation": ("y, x, m", "r, x, m, use_gelu=False"), "addmv": ("r[:3], x, v", "r[:3], x, v, beta=2, alpha=0.5"),
                    "baddbmm": ("t[:, :, :3], t, t.transpose(1, 2)", "t[:, :, :3], t, t.transpose(1, 2), beta=2, alpha=0.5"), "addbmm": ("x[:, :3], t, t.transpose(1, 2)", "x[:, :3], t, t.transpose(1, 2), beta=0.5, alpha=2"),
                    "addr": ("m, r, v", "m, r, v, beta=2, alpha=0.5"), "outer": ("r, v", "k, v"), "ger": ("r, v",), "inner": ("x, m", "r, v"), "chain_matmul": ("[x, m, m]",), "linalg_multi_dot": ("[x, m, m]",),
                    "_cdist_forward": ("x, y, 2.0, None", "x, y, 1.0, None"), "_euclidean_dist": ("x, y",), "_pdist_forward": ("x", "x, 1.0"), "tensordot": ("x, m, [1], [0]",)}.items():
    CASES += forms(name, *calls)
CASES += raising(A + "mm(x, y)", A + "addr_(m, r, x[0, :2])", A + "ger(x, r)", A + "addmv_(x, x, r)", A + "baddbmm_(t, t, t)", A + "addbmm_(x, t, t)")
# Decompositions.
for name, calls in {"inverse": ("o",), "linalg_inv": ("o",), "linalg_inv_ex": ("o",), "linalg_det": ("o",), "linalg_slogdet": ("o",), "slogdet": ("o",), "linalg_cholesky_ex": ("o",), "linalg_cholesky": ("o",), "_linalg_det": ("o",), "_linalg_slogdet": ("o",), "linalg_solve": ("o, m",), "linalg_solve_ex": ("o, m",), "_linalg_solve_ex": ("o, m",),
                    "triangular_solve": ("m, o",), "linalg_tensorinv": ("o.view(2, 2, 4)",), "linalg_tensorsolve": ("o, r",), "linalg_lu_factor": ("o",), "linalg_lu_factor_ex": ("o",), "linalg_svdvals": ("o", "x"), "linalg_eigvalsh": ("o",),
                    "linalg_pinv": ("o", "x, 0.01"), "linalg_matrix_rank": ("o", "x, 0.01"), "linalg_norm": ("x", "x, 'fro'", "x, 1"), "linalg_matrix_norm": ("x", "x, 'nuc'", "x, 1"), "linalg_cond": ("o", "o, 'fro'", "o, 1"),
                    "linalg_cross": ("g, g.flip(1)",), "cross": ("g, g.flip(1)",), "linalg_vecdot": ("x, y",), "linalg_matrix_exp": ("m",), "matrix_power": ("m, 3",), "linalg_matrix_power": ("m, 2",)}.items():
    CASES += forms(name, *calls, options={"rtol": 1e-4})
for name, call in (("cholesky", "o"), ("cholesky_solve", "m, o"), ("_cholesky_solve_helper", "m, o, False"), ("matrix_power", "o, -1")):
    CASES += forms(name, call)
CASES += [plain("matrix_exp", A + "matrix_exp(m)", A + "det(o)", A + "matrix_power(m, 0)")]
# Indexing.
I = "torch.tensor([[0, 1, 2, 0]])"
V = "torch.tensor([0, 2])"
L = f"torch.jit.annotate(List[Optional[Tensor]], [{V}])"
for name, calls in {"index_select": (f"x, 0, {V}", f"x, 1, {V}"), "index_add": (f"x, 0, {V}, y[:2]", f"x, 0, {V}, y[:2], alpha=2"), "index_copy": (f"x, 0, {V}, y[:2]",), "index_fill": (f"x, 0, {V}, 2.5", f"x, 1, {V}, s"),
                    "index_reduce": (f"x, 0, {V}, y[:2], 'prod'", f"x, 0, {V}, y[:2], 'amax', include_self=False"), "gather": (f"x, 0, {I}",), "scatter": (f"x, 0, {I}, y[:1]", f"x, 0, {I}, 2.5", f"x, 0, {I}, y[:1], reduce='add'", f"x, 0, {I}, 2.5, reduce='multiply'"),
                    "scatter_add": (f"x, 0, {I}, y[:1]",), "scatter_reduce": (f"x, 0, {I}, y[:1], 'sum'", f"x, 0, {I}, y[:1], 'amin', include_self=False"), "masked_scatter": ("x, b, y",), "masked_select": ("x, b",),
                    "take": (f"x, {V}",), "take_along_dim": (f"x, {I}, 0",), "put": (f"x, {V}, r[:2]", f"x, {V}, r[:2], True"), "trace": ("m",), "diag": ("r", "m, 1"), "diag_embed": ("x",), "bincount": ("k", "k, v"), "histc": ("x", "x, 5, -1, 1"),
                    "bucketize": ("x, r.sort()[0]", "0.5, r.sort()[0]"), "searchsorted": ("r.sort()[0], v", "r.sort()[0], 0.5"), "isin": ("i, i[0]", "i, 2", "2, i"), "embedding": ("x, k",), "_unique": ("k", "k, True, True"), "_unique2": ("k, True, True, True",),
                    "unique_dim": ("i, 0, True, True, True",), "unique_dim_consecutive": ("i, 0", "i, 1, True, True"), "unique_consecutive": ("k", "k, True, True"), "index_put": (f"x, {L}, y[:2]", f"x, {L}, y[:2], True"),
                    "_index_put_impl": (f"x, {L}, y[:2]", f"x, {L}, y[:2], True")}.items():
    CASES += forms(name, *calls)
CASES += forms("index", f"x, {L}", other=False)  # no out tensors of another dtype, because PyTorch copies bytes without converting them
CASES += forms("nonzero", "b", "x")
CASES += [case("embedding_renorm", f"    a = x.clone()\n    b = {A}embedding_renorm_(a, k, 0.5, 2.0)\n    return a, b, {A}embedding_renorm(x, k, 0.5, 2.0)\n", "x k", pool=POOL)]
for mode in range(3):
    for name in ("_embedding_bag", "_embedding_bag_forward_only", "embedding_bag"):
        CASES.append(plain(f"{name}/{mode}", f"{A}{name}(x, k, {V}, False, {mode}, False, None)[0]"))
# Normalization and losses.
for name, calls in {"mse_loss": ("x, y", "x, y, 0"), "smooth_l1_loss": ("x, y", "x, y, 2, 0.5"), "huber_loss": ("x, y", "x, y, 0, 0.5"), "binary_cross_entropy_with_logits": ("x, u",), "soft_margin_loss": ("x, y.sign()",),
                    "nll_loss": ("x, k[:3]", "x, k[:3], None, 0"), "nll_loss_forward": ("x, k[:3], None, 1, -100", "x, k[:3], v, 0, 1"), "nll_loss2d": ("q, torch.zeros([2, 4, 5], dtype=torch.int64)",), "nll_loss2d_forward": ("q, torch.zeros([2, 4, 5], dtype=torch.int64), None, 1, -100",),
                    "multi_margin_loss": ("x, k[:3]",), "multilabel_margin_loss": ("x, i.clamp(-1, 3)",), "multilabel_margin_loss_forward": ("x, i.clamp(-1, 3), 1",), "native_group_norm": ("q, None, None, 2, 3, 20, 3, 1e-5", "q, r[:3], v[:3], 2, 3, 20, 1, 1e-5"),
                    "native_layer_norm": ("x, [4], r, v, 1e-5",)}.items():
    # For the first three losses PyTorch accepts an out tensor of another dtype than the result, because they are built on its TensorIterator.
    CASES += forms(name, *calls, gaps=False, other=False if name in ("mse_loss", "smooth_l1_loss", "huber_loss") else None)
# PyTorch does not resize the out tensors of these operators.
CASES += forms("binary_cross_entropy", "u, u.flip(0)", "u, u.flip(0), None, 0", out=False)
CASES += [plain("_batch_norm_impl_index", f"{A}_batch_norm_impl_index(q, r[:3], v[:3], r[:3], v[:3].abs(), False, 0.1, 1e-5, False)[0]"), plain("_transform_bias_rescale_qkv", f"{A}_transform_bias_rescale_qkv(torch.cat([t, t, t], 2), torch.cat([r, r, v]), 2)"),
          plain("_scaled_dot_product_attention_math", f"{A}_scaled_dot_product_attention_math(q, q, q, None, 0.0, True, False)", f"{A}_scaled_dot_product_attention_forward(q, q, q, None, 0.0, False, True)")]
# Pooling and padding.
for name, calls in {"max_pool2d_with_indices": ("q, [2, 2]",), "max_pool3d_with_indices": ("f, [2, 2, 2]",), "adaptive_max_pool2d": ("q, [2, 2]",), "adaptive_max_pool3d": ("f, [2, 2, 2]",), "avg_pool2d": ("q, [2, 2]",), "avg_pool3d": ("f, [2, 2, 2]",),
                    "adaptive_avg_pool2d": ("q, [2, 2]",), "adaptive_avg_pool3d": ("f, [2, 2, 2]",), "_adaptive_avg_pool2d": ("q, [2, 3]",), "_adaptive_avg_pool3d": ("f, [2, 3, 2]", "f[0], [1, 1, 1]"), "constant_pad_nd": ("x, [1, 2], 0.5",), "reflection_pad1d": ("t, [1, 2]",),
                    "reflection_pad2d": ("q, [1, 2, 1, 1]",), "reflection_pad3d": ("f, [1, 1, 1, 1, 1, 1]",), "replication_pad1d": ("t, [1, 2]",), "replication_pad2d": ("q, [1, 2, 1, 1]",), "replication_pad3d": ("f, [1, 1, 1, 1, 1, 1]",)}.items():
    CASES += forms(name, *calls, gaps=False)
CASES += [plain("_pad", *(f"{A}_pad_enum(q, [1, 1, 1, 1], {m})" for m in range(4)), A + "_pad_circular(q, [1, 1, 0, 2])")] + raising(A + "_pad_enum(q, [1, 1], 9)")
# Resizing of images.
for name, calls in {"upsample_nearest1d": ("t, [6]",), "upsample_nearest2d": ("q, [6, 7]",), "upsample_nearest3d": ("f, [6, 5, 3]",), "_upsample_nearest_exact1d": ("t, [6]",), "_upsample_nearest_exact2d": ("q, [6, 7]",), "_upsample_nearest_exact3d": ("f, [6, 5, 3]",),
                    "upsample_linear1d": ("t, [6], False",), "upsample_bilinear2d": ("q, [6, 7], True",), "upsample_trilinear3d": ("f, [6, 5, 3], False",), "upsample_bicubic2d": ("q, [6, 7], False",), "_upsample_bilinear2d_aa": ("q, [3, 3], False",),
                    "_upsample_bicubic2d_aa": ("q, [3, 3], False",), "grid_sampler_2d": ("q, torch.tanh(q[..., :2])[:, :, :, :2], 0, 0, False", "q, q[:, :, :, :2], 1, 1, True"), "grid_sampler_3d": ("f, f[:, :, :, :, :3], 0, 0, False",),
                    "_grid_sampler_2d_cpu_fallback": ("q, q[:, :, :, :2], 0, 0, False",), "affine_grid_generator": ("t[:, :2, :3], [2, 3, 4, 5], False",)}.items():
    CASES += forms(name, *calls, gaps=False)
# Convolution.
W2, W3 = "torch.ones([2, 3, 2, 2])", "torch.ones([2, 3, 2, 2, 2])"
for name, calls in {"thnn_conv2d": (f"q, {W2}, [2, 2]",), "_slow_conv2d_forward": (f"q, {W2}, [2, 2], None, [1, 1], [0, 0]",), "slow_conv3d": (f"f, {W3}, [2, 2, 2]",), "slow_conv3d_forward": (f"f, {W3}, [2, 2, 2], None, [1, 1, 1], [0, 0, 0]",),
                    "slow_conv_dilated2d": (f"q, {W2}, [2, 2], None, 1, 0, 2",), "slow_conv_dilated3d": (f"f, {W3}, [2, 2, 2], None, 1, 0, 2",), "slow_conv_transpose2d": ("q, torch.ones([3, 2, 2, 2]), [2, 2]",), "slow_conv_transpose3d": ("f, torch.ones([3, 2, 2, 2, 2]), [2, 2, 2]",),
                    "convolution": (f"q, {W2}, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1",), "_convolution": (f"q, {W2}, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, False, False",), "conv_tbc": ("t, torch.ones([2, 4, 3]), r[:3]",),
                    "im2col": ("q, [2, 2], [1, 1], [0, 0], [1, 1]",), "col2im": ("t, [3, 3], [2, 2], [1, 1], [0, 0], [1, 1]",)}.items():
    CASES += forms(name, *calls, gaps=False)
CASES += [plain("_convolution_mode", f"{A}_convolution_mode(q, {W2}, None, [1, 1], 'same', [1, 1], 1)", f"{A}_convolution_mode(q, {W2}, None, [2, 2], 'valid', [1, 1], 1)", f"{A}conv3d(f, {W3}, None, [1, 1, 1], 'same')")]
CASES += [plain("_convolution deprecated", f"{A}_convolution(q, {W2}, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, False)")]

# Writes to elements that share memory: PyTorch refuses such writes in most operators, and only warns in some.
OVERLAPPING = ("y.abs_()", "y.add_(1)", "y += z", "y.mul_(2)", "y.clamp_(0, 1)", "y.fill_(1)", "y.zero_()", "y.copy_(z)", "y.masked_fill_(z > 0, 1.0)", "y.masked_scatter_(z > 0, z)", "y.lerp_(z, 0.5)",
               "y.addcmul_(z, z)", "y.addmm_(torch.ones(3, 3), z)", "y.addr_(torch.ones(3), torch.ones(4))", "y.t().addmv_(torch.ones(4, 4), torch.ones(4))", "y.gt_(0)",
               "y.scatter_(0, i, z)", "y.scatter_(0, i, 1.0)", "y.scatter_add_(0, i, z)", "y.index_add_(0, i[:3, 0], z)", "y.index_copy_(0, i[:3, 0], z)", "y.index_fill_(0, i[:2, 0], 1.0)",
               "y.index_put_([i[:2, 0]], torch.tensor(1.0))", "y[0] = 1", "y[:] = 1", "y[:, 0] = 1", "y[y > 0] = 1.0", "y.put_(i[0, :2], z[0, :2])", "y.cumsum_(0)", "y.renorm_(2, 0, 1.0)",
               "F.relu(y, inplace=True)", "F.threshold(y, 0.1, 20.0, True)", "F.dropout(y, 0.5, False, True)", "y.fill_diagonal_(1.0)", "y.bernoulli_(0.5)", "y.normal_(0.0, 1.0)", "y.tril_()", "y.triu_()",
               "y.squeeze_()", "y.transpose_(0, 1)", "y[0].add_(1)", "y[:1].mul_(3)", "y[:0].add_(1)",
               "torch.abs(z, out=y)", "torch.add(z, 1, out=y)", "torch.mm(z, torch.ones(4, 4), out=y)", "torch.cat([z[:1], z[1:]], out=y)", "torch.index_select(z, 0, i[:3, 0], out=y)", "torch.gather(z, 0, i, out=y)",
               "torch.softmax(z, 0, out=y)", "torch.addmm(z, torch.ones(3, 3), z, out=y)", "torch.outer(z[:, 0], z[0], out=y)",
               "torch.arange(12, out=y)", "torch.normal(z, 1.0, out=y)", "torch.kron(z, torch.ones(1, 1), out=y)", "torch.inner(z, torch.ones(4, 4), out=y)", "torch.index_copy(z, 0, i[:1, 0], z[:1], out=y)",
               "torch.diff(torch.ones(3, 5), out=y)", "torch.add(z[:2], 1, out=y[:2])")
CASES += [(f"overlapping/{e}", f"def f(x: Tensor):\n    y = x.expand(3, 4)\n    z = torch.ones([3, 4])\n    i = torch.zeros([3, 4], dtype=torch.long)\n    {e}\n    return y, x\n",
           (torch.tensor([[0.5, -1.0, 2.0, -0.25]]),)) for e in OVERLAPPING]
