# SPDX-License-Identifier: BSD-2-Clause
# Reductions in all their forms: out=, in-place, and the inner operators that PyTorch's functions call.
import functools

from forms import case, forms, plain, raising

CASES = []
A = "torch.ops.aten."
forms = functools.partial(forms, other=None)
for name in ("_softmax", "_log_softmax"):
    CASES += forms(name, "x, 1, False", "q, -1, False", "x.t(), 0, False", "s, 0, False", "d, 0, False", gaps=False)  # PyTorch's softmax misreads an out tensor with gaps
    CASES += raising(f"{A}{name}(x, 2, False)", f"{A}{name}(i, 0, False)")
for name in ("softmax", "log_softmax", "special_softmax", "special_log_softmax"):
    CASES += forms(name, "x, 1", "x.t(), 0", out="special" not in name, gaps=False)
    CASES += [plain(f"{name}/dtype", f"{A}{name}(x.t(), 0, dtype=torch.float64)", f"{A}{name}(i, 0, dtype=torch.float32)")]
for name in ("logcumsumexp", "_logcumsumexp", "cumsum", "cumprod"):
    # PyTorch's _logcumsumexp.out writes floats into out tensors of other dtypes.
    CASES += forms(name, "x, 0", "x, 1", "q, -2", "x.t(), 0", "s, 0", "e, 1", other=False if name == "_logcumsumexp" else None)
for name in ("cummax", "cummin"):
    CASES += forms(name, "x, 0", "x, -1", "i, 1", "s, 0")
for name in ("logsumexp", "special_logsumexp", "amax", "amin"):
    CASES += forms(name, "x, [0]", "x, [1], True", "q, [0, -1]", "x.t(), [0]", "s, [0]")
CASES += forms("_aminmax", "x", "i", "x.t()", outs="out0 out1") + forms("_aminmax", "x, 0", "x, 1, True", "i, -1", outs="out0 out1") + forms("aminmax", "x", "x, dim=1", "i, dim=0, keepdim=True")
CASES += raising(A + "_aminmax(e)", A + "cumsum_(i, 3)", A + "cumprod(x, 2)", A + "amax(e, [0])")
CASES += forms("all", "b", "x", "b, 0", "i, 1, True") + forms("any", "b", "x", "b, 0", "i, 1, True")
for name in ("argmax", "argmin"):
    CASES += forms(name, "x", "x, 0", "x, 1, True", "i, -1")
CASES += forms("argsort", "x, stable=True", "x, stable=False, dim=0", "i, stable=True, dim=1, descending=True") + forms("count_nonzero", "b", "i, 0", "i, [0, 1]") + forms("dist", "x, y", "x, y, 1", "x, r, 0")
CASES += forms("frobenius_norm", "x, [0]", "x, [0, 1], True") + [plain("frobenius_norm", A + "frobenius_norm(x)")]
CASES += forms("kthvalue", "x, 2", "x, 1, 0, True") + forms("linalg_vector_norm", "x", "x, 1, [0]", "x, 3, [1], True")
for name in ("max", "min"):
    CASES += forms(name, "x, y", "i, j", outs="out") + forms(name, "x, 0", "x, 1, True", "i, -1", outs="max max_values" if name == "max" else "min min_indices")
for name in ("median", "nanmedian", "mode"):
    CASES += forms(name, "x, 0", "x, 1, True", "i, -1")
for name in ("mean", "nanmean", "nansum", "sum"):
    CASES += forms(name, "x, [0]", "x, [0, 1], True", "x.t(), [1]", "x, [0], dtype=torch.float64") + [plain(name, f"{A}{name}(x)", f"{A}{name}(x, dtype=torch.float64)")]
CASES += forms("prod", "x, 0", "x, 1, True", "i, 0") + forms("msort", "x", "i") + forms("sort", "x", "x, 0", "i, -1, True", "x, stable=True, dim=0") + forms("topk", "x, 2", "x, 1, 0, False")
CASES += forms("norm", "x, 2, [0], False", "x, 1, [1], True, dtype=torch.float64") + [plain("norm", A + "norm(x)", A + "norm(x, 1)", A + "norm(x, 1, dtype=torch.float64)")]
for name in ("std", "var"):
    CASES += forms(name, "x, dim=[0], correction=1", "x, [1]", "x, [0], False, True") + forms(name, "x, dim=[0, 1], correction=0", other=False)
for name in ("std_mean", "var_mean"):
    CASES += forms(name, "x, dim=[0], correction=1", "x, dim=[1], correction=0, keepdim=True")
