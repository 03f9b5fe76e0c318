# SPDX-License-Identifier: BSD-2-Clause
# Creation of tensors in forms that are rare in models: with out=, with the generator None, and random numbers of given sizes and
# dtypes.
import functools

from forms import case, forms, plain, raising

CASES = []
A = "torch.ops.aten."
forms = functools.partial(forms, other=None)
for name in ("ones", "zeros", "full"):
    CASES += forms(name, *(f"{s}{', 2.5' if name == 'full' else ''}" for s in ("[2, 3]", "[]", "[0, 2]")))
for name in ("ones_like", "zeros_like"):
    CASES += forms(name, "x", "i", "e", "b")
CASES += forms("full_like", "x, 2.5", "i, 3", "b, 1")
for name in ("new_zeros", "new_ones"):
    CASES += forms(name, "x, [2, 3]", "i, []", "b, [0]")
CASES += forms("new_full", "x, [2, 3], 1.5", "i, [], 3", "b, [0], 1") + forms("scalar_tensor", "2", "2.5", "-1")
CASES += forms("eye", "3", "0", "3, 4", "4, 2") + forms("tril_indices", "3, 4", "3, 4, 1", "0, 2") + forms("triu_indices", "3, 4", "3, 4, -1", "0, 2")
CASES += forms("linspace", "0, 1, 5", "3.0, -2.0, 4", "1, 1, 1", "0, 1, 0") + forms("logspace", "0, 2, 5", "0, 3, 4, 2.0", "1, 1, 1")
CASES += forms("arange", "5", "2.5", "1, 5", "5, 1, -2", "0, 1, 0.25") + forms("range", "1, 5", "5, 1, -2", "0, 1, 0.25", "1, 4")
for name in ("bartlett_window", "blackman_window", "hann_window", "hamming_window", "kaiser_window"):
    CASES += forms(name, "5", "6, False", "1", "0", *(["6, True, 0.5", "6, True, 0.5, 0.4"] if name == "hamming_window" else ["6, True, 8.0"] if name == "kaiser_window" else []))
for name in ("fft_fftfreq", "fft_rfftfreq"):
    CASES += forms(name, "5", "6, 0.5", "1", *(["-1", "-2"] if "rfft" in name else []), gaps=False)  # PyTorch's fftfreq cannot fill an out tensor with gaps
CASES += forms("_efficientzerotensor", "[2, 3]", out=False)
CASES += [plain("_dim_arange", A + "_dim_arange(x, 0)", A + "_dim_arange(x.t(), -1)", A + "_dim_arange(e, 0)"), plain("_shape_as_tensor", A + "_shape_as_tensor(x)", A + "_shape_as_tensor(s)", A + "_shape_as_tensor(q.t() if q.dim() < 3 else q)")]
CASES += raising(A + "_dim_arange(x, 2)", A + "eye(-1)", A + "linspace(0, 1, -1)", A + "range(1, 2, 0)", A + "range(1, 5, -1)", A + "new_full(x, [-1], 1)", A + "scalar_tensor(x)")
for name, calls in (("empty", ("[2, 3]",)), ("empty_like", ("x", "i")), ("new_empty", ("x, [2]",)), ("new_empty_strided", ("x, [2, 2], [2, 1]",)), ("empty_strided", ("[2, 2], [2, 1]", "[2, 3], [1, 2]"))):
    CASES += [case(f"{name}({c}) out", f"    a = torch.empty([0])\n    b = {A}{name}({c}, out=a)\n    return a.zero_(), b\n", c) for c in calls]
# Random numbers must be equal, because the generator is the same.
RANDOM = {"cauchy": ("x", "d", "x, 1.0, 2.0"), "exponential": ("x", "d", "x, 2.0"), "geometric": ("x, 0.3", "i, 0.5"), "log_normal": ("x", "d, 1.0, 0.5"), "uniform": ("x", "d, -1.0, 2.0"),
          "random": ("x", "i", "k, 5", "i, 2, 9", "x, 3", "b"), "normal_functional": ("x", "d, 1.0, 2.0")}
for name, calls in RANDOM.items():
    for call in calls:
        CASES.append(plain(f"{name}({call})", f"{A}{name}({call})"))
        if name != "normal_functional":
            CASES.append(case(f"{name}({call}) out", f"    a = torch.empty_like({call.split(',')[0]})\n    b = {A}{name}({call}, out=a)\n    return a, b\n", call))
            CASES.append(plain(f"{name}_({call})", f"{A}{name}_({call})"))
for name, calls in (("rand", ("[2, 3]", "[2, 3], generator=None")), ("randn", ("[2, 3]", "[2, 3], generator=None")), ("randint", ("7, [3]", "7, [3], generator=None", "2, 9, [3]", "2, 9, [3], generator=None")), ("randperm", ("6", "6, generator=None")),
                    ("rand_like", ("x",)), ("randn_like", ("x",)), ("randint_like", ("x, 5", "x, 2, 9")), ("bernoulli", ("u", "u, 0.3", "u, u")), ("multinomial", ("p, 2", "p, 9, True", "p[0], 3")), ("normal", ("x, p", "1.0, p")), ("binomial", ("p.round(), u",))):
    for call in calls:
        CASES.append(plain(f"{name}({call})", f"{A}{name}({call})"))
        CASES.append(case(f"{name}({call}) out", f"    a = torch.empty([0], dtype={A}{name}({call}).dtype)\n    torch.manual_seed(5)\n    b = {A}{name}({call}, out=a)\n    return a, b\n", call))
# If the standard deviation is a number, the out tensor of normal keeps its sizes.
CASES.append(case("normal/out", f"    a = torch.zeros([2, 3, 4])\n    b = torch.zeros([7])\n    return {A}normal(x, 2.0, out=a), {A}normal(x, p, out=b), a, b\n", "x p"))
CASES += raising(A + "normal(x, 2.0, out=torch.zeros([0]))", A + "normal(x, 2.0, out=y[1:])")
CASES.append(case("normal/sizes", f"    a = torch.empty([0])\n    b = {A}normal(1.0, 2.0, [2, 3], out=a)\n    return a, b, {A}normal(0.5, 0.1, [3])\n", "s"))
CASES += [plain("_no_grad_normal_", A + "_no_grad_normal_(x, 1.0, 2.0)", A + "_no_grad_uniform_(y, -1.0, 2.0)"), case("manual_seed", "    torch.manual_seed(3)\n    a = torch.rand([3])\n    torch.manual_seed(3)\n    return a, torch.rand([3])\n", "s"),
          plain("tensor of complex", "torch.tensor(1j)", "torch.as_tensor(2j)")]
