# SPDX-License-Identifier: BSD-2-Clause
# Elementwise operators in all their forms: functional, out= and in-place, under all their names.
from forms import case, forms, plain, raising

CASES = []

# Operators on one tensor that have in-place forms. Inputs are floats, integers and, if the operator accepts them, complex numbers.
UNARY = """abs absolute acosh arccosh arcsinh arctan asinh atan ceil cos cosh deg2rad digamma erf erfc exp exp2 expm1 fix floor frac i0 lgamma
neg negative rad2deg reciprocal relu round sgn sigmoid sign sin sinc sinh sqrt square tan tanh trunc bitwise_not logical_not nan_to_num
log log10 log1p log2 rsqrt conj_physical elu celu silu mish hardswish hardsigmoid hardtanh leaky_relu""".split()
BELOW_ONE = "acos arccos arcsin arctanh asin atanh erfinv logit special_logit special_ndtri".split()
ABOVE_ONE = "acosh arccosh log log2 log10 log1p rsqrt sqrt lgamma digamma special_gammaln special_digamma special_psi".split()
FUNCTIONS = """special_erf special_erfc special_exp2 special_expit special_expm1 special_i0 special_i1 special_i0e special_i1e special_log1p
special_sinc special_entr special_erfcx special_log_ndtr special_ndtr angle signbit isneginf isposinf isinf isnan
hardshrink softshrink softplus log_sigmoid glu special_digamma special_gammaln special_psi""".split()
NO_INTEGERS = "elu celu gelu silu mish hardswish hardsigmoid hardshrink softshrink softplus log_sigmoid glu frac special_ndtri leaky_relu".split()
NO_FLOATS = ["bitwise_not"]
# These operators copy their result to the out tensor, so it may have any dtype and is contiguous.
COPIED = "relu celu isnan isinf special_ndtr bitwise_not signbit isneginf isposinf".split()
for name in UNARY:
    CASES += forms(name, other=None if name in COPIED else True, *([] if name in NO_FLOATS else ["x", *(["x.t()"] if name not in COPIED else []), "e", "s", "d"]), *([] if name in NO_INTEGERS else ["i", "b"]))
for name in BELOW_ONE:
    CASES += forms(name, "u", "u.t()", "e", *([] if name in NO_INTEGERS else ["b"]))
for name in ABOVE_ONE:
    CASES += forms(name, "p", "p.t()", "j")
for name in FUNCTIONS:
    CASES += forms(name, "x", *(["x.t()"] if name not in COPIED else []), "e", *([] if name in NO_INTEGERS else ["i", "b"]), other=None if name in COPIED else True)
for name in ("abs absolute angle sgn conj_physical square exp log reciprocal neg negative sqrt rsqrt sin cos tanh acos asin atan sinh "
             "cosh sigmoid isnan isinf").split():
    CASES += forms(name, "z", in_place=name not in ("abs", "absolute"), other=None)

# Operators on two tensors.
BOTH = ["x, y", "x, r", "x.t(), y.t()", "x, s", "s, x", "e, r"]
for name in "add sub subtract mul multiply div divide true_divide rsub floor_divide fmod remainder pow float_power atan2 arctan2 copysign".split():
    calls = ["p, y", "p, r", "p.t(), x.t()", "p, s", "e, r", "i, j", "x, i"] if name in ("pow", "float_power") else BOTH + ["i, j", "x, i"]
    CASES += forms(name, *calls, in_place=False, other=None if name in ("float_power", "rsub") else True)
    if name not in ("rsub",):
        CASES += [plain(f"{name}_/{t}, {o}", f"torch.ops.aten.{name}_(({t}).clone(), {o})") for t, o in (("p", "x"), ("p", "r"), ("p", "s"), ("p", "i"))]
    if name not in ("atan2", "arctan2"):
        alias = name in ("subtract", "multiply", "divide", "true_divide", "floor_divide")  # skipped for aliases, which have no .out form for a number
        CASES += forms(name, "p, 2", "p, 1.5", "j, 3", in_place=False, other=None, out=not alias)
        CASES += forms(name, "p.t(), -2", in_place=False, other=None, out=not alias)
        if name != "rsub":
            CASES += [plain(f"{name}_/{t}, {o}", f"torch.ops.aten.{name}_(({t}).clone(), {o})") for t, o in (("p", 2), ("p", 1.5), ("j", 3), ("j", 1.5))]
for name in ("pow", "float_power"):
    CASES += forms(name, "2, x", "1.5, i", "3, j", "2, x.t()", *(["1, x.t()"] if name == "float_power" else []), in_place=False)
for name in ("remainder", "special_xlog1py", "special_xlogy", "special_zeta", "xlogy"):
    CASES += forms(name, "2, p", "1.5, j", in_place=False, other=None if name == "remainder" else True)
for name in ("add", "sub", "subtract", "rsub"):
    CASES += forms(name, "x, y, alpha=2.5", "i, j, alpha=3", "x, 2, 3", "i, 2, 3", other=None, in_place=name != "rsub", out=name != "subtract")
    CASES += raising(f"torch.ops.aten.{name}(i, j, alpha=0.5)", f"torch.ops.aten.{name}(x, torch.ones([3]))")
for name in ("div", "divide"):
    for mode in ("floor", "trunc"):
        CASES += forms(name, f"x, y, rounding_mode='{mode}'", f"i, j, rounding_mode='{mode}'", f"x.t(), s, rounding_mode='{mode}'")
        CASES += forms(name, f"x, 1.5, rounding_mode='{mode}'", f"i, 3, rounding_mode='{mode}'", out=name == "div", other=None)
    CASES += forms(name, "x, y, rounding_mode=None") + forms(name, "x, 3, rounding_mode=None", out=name == "div", other=None)
    CASES += raising(f"torch.ops.aten.{name}(x, y, rounding_mode='up')", f"torch.ops.aten.{name}_(i, j)")
for name in "eq ne not_equal lt less le less_equal gt greater ge greater_equal".split():
    CASES += forms(name, *BOTH, "i, j", "x, i", "b, c", in_place=False)
    CASES += forms(name, "x, 0.5", "i, 2", "i, 2.5", "b, 1", "x.t(), 0", in_place=False, other=None)
    CASES += forms(name, "x, y", "i, j", "x, 1", "i, 0.5", "b, c", out=False)
for name in "bitwise_and bitwise_or bitwise_xor".split():
    CASES += forms(name, "i, j", "b, c", "i.t(), j.t()", "i, j[1]", "i, 5", "i, n")
    CASES += forms(name, "6, j", in_place=False, other=None)
    CASES += raising(f"torch.ops.aten.{name}(x, y)", f"torch.ops.aten.{name}(i, 1.5)", f"torch.ops.aten.{name}_(b, i)")
for name in "bitwise_left_shift bitwise_right_shift".split():
    CASES += forms(name, "i, k.long()", "i.t(), k.long().t()", "i, 2", "j, n")
    CASES += forms(name, "6, k", in_place=False, other=None)
for name in "__and__ __or__ __xor__".split():
    CASES += [plain(name, f"torch.ops.aten.{name}(i, j)", f"torch.ops.aten.{name}(i, 5)", f"torch.ops.aten.{name}(b, c)",
                    f"torch.ops.aten.{name}(k, 3)")]
for name in "__iand__ __ior__ __ixor__".split():
    CASES += [plain(name, f"torch.ops.aten.{name}(i.clone(), j)", f"torch.ops.aten.{name}(i.t(), 5)", f"torch.ops.aten.{name}(b, c)",
                    f"torch.ops.aten.{name}(k, 3)")]
    CASES += raising(f"torch.ops.aten.{name}(x, y)", f"torch.ops.aten.{name}(b, i)", f"torch.ops.aten.{name}(i[0], j)")
for name in "__ilshift__ __irshift__".split():
    CASES += [plain(name, f"torch.ops.aten.{name}(i, k)", f"torch.ops.aten.{name}(j, 2)")]
for name in "__lshift__ __rshift__".split():
    CASES += forms(name, "i, k", "i, 2", "x, 2", "x, y", other=None)
for name in "logical_and logical_or logical_xor".split():
    CASES += forms(name, "x, y", "b, c", "i, j[0]", "i, x", "x.t(), y.t()", "e, r")
for name in "maximum minimum fmax fmin".split():
    CASES += forms(name, *BOTH, "i, j", "b, c")
for name in "hypot nextafter igamma igammac special_gammainc special_gammaincc logaddexp logaddexp2 heaviside".split():
    CASES += forms(name, "p, p", "p.t(), u.t()", "p, u[0]", in_place=name != "heaviside")
SPREAD = "torch.tensor([0.01, 0.5, 3., 20., 300., 5000., 0., float('inf')]).to(%s.dtype)"
CASES += [plain(f"{name}/{factor}/{of}", f"torch.ops.aten.{name}({SPREAD % of}[:, None], {SPREAD % of} * {factor})")
          for name in ("igamma", "igammac") for factor, of in ((0.3, "x"), (1.0, "x"), (1.03, "x"), (2.5, "x"), (0.3, "d"), (2.5, "d"))]  # for x near a PyTorch's float64 results have errors of 1e-10
for name in "xlogy special_xlogy special_xlog1py special_zeta".split():
    CASES += forms(name, "p, u + 1", "p.t(), p.t()", "p, 2.5", "p, p[1]")
CASES += forms("gcd", "i, j", "i.t(), j.t()", "i, n", "k, k") + forms("lcm", "i, j", "i, n", "k, k") + forms("heaviside", "x, y", "i, j", "x, s", "b, c", "x, d", "i, k", "x, n")
# Arguments near a large a, where the function changes over thousands: PyTorch's float64 results have errors of 1e-10 for these
# arguments, so only float32 is compared.
CASES.append(("igamma/large", "def f():\n    a = torch.tensor([[1e4], [3e5], [8504701.0], [1e8], [86900000000.5]], dtype=torch.float64)\n    x = a + torch.tensor([0., 0.5, -0.5, 3., -3., 4.4], dtype=torch.float64) * a.sqrt()\n"
              "    return (torch.igamma(a, x), torch.igammac(a, x), torch.igamma(a, 2 * a), torch.igammac(a, 2 * a), torch.igamma(a, a / 2))\n", (), {"rtol": 1e-9}))
CASES += forms("ldexp", "x, k", "x.t(), k.t()", "x, n", in_place=True, other=None) + forms("ldexp", "i, k", in_place=False)
CASES += raising("torch.ops.aten.gcd(x, y)", "torch.ops.aten.lcm(x, y)", "torch.ops.aten.ldexp_(i, j)",
                 "torch.ops.aten.atan2_(i, j)", "torch.ops.aten.hypot(i, j)", "torch.ops.aten.nextafter(i, j)", "torch.ops.aten.igamma(i, j)")

# Operators with parameters.
CASES += forms("addcmul", "x, y, w", "x, y, w, value=0.5", "x, r, s", "i, j, k, value=2", "x.t(), y.t(), w.t()", "d, x, y")
CASES += forms("addcdiv", "x, p, p", "x, y, p, value=0.5", "x, r, s", "x.t(), y.t(), p.t()")
CASES += raising("torch.ops.aten.addcdiv(i, j, j)", "torch.ops.aten.addcmul(i, j, j, value=0.5)", "torch.ops.aten.addcmul_(i, x, y)")
CASES += forms("lerp", "x, y, 0.3", "x, y, 0.7", "x, y, u", "x.t(), y.t(), u.t()", "x, y, s", "x, r, 0.5")
CASES += raising("torch.ops.aten.lerp(x, d, 0.5)", "torch.ops.aten.lerp(i, j, 0.5)")
for name in ("clip", "clamp"):
    CASES += forms(name, "x, -0.5, 0.5", "x, max=0.5", "x, 0.5, None", "i, -2, 3", "x, y, y + 1", "x, None, r", "x, r, None", "x.t(), s, None", "i, j, None",
                   "x, 0.5, -0.5")
    CASES += raising(f"torch.ops.aten.{name}_(i, x, None)", f"torch.ops.aten.{name}(b, 0, 1)")
    CASES += [plain(f"{name}/int by float", f"torch.ops.aten.{name}(i, -0.5, 1.5)")]
for name in ("clamp_max", "clamp_min"):
    CASES += forms(name, "x, 0.5", "i, 2", "x, y", "x, r", "i, j", "x.t(), s", "e, 1")
CASES += forms("masked_fill", "x, b, 2.5", "x, b[0], -1", "i, b, 7", "x, b, s", "x.t(), b.t(), 1", "e, b[0], 1", "i, b, n", other=None)
CASES += raising("torch.ops.aten.masked_fill_(x, i, 1)", "torch.ops.aten.masked_fill_(x, b, r)", "torch.ops.aten.masked_fill(i, b, torch.tensor(1j))", "torch.ops.aten.masked_fill(x, b, torch.tensor(1j))", "torch.ops.aten.masked_fill(i, b, 1j)", "torch.ops.aten.masked_fill_(x[0], b, 1)")
CASES += forms("mvlgamma", "p, 1", "p + 2, 2", "p.t() + 2, 2") + forms("special_multigammaln", "p, 1", "p + 2, 2", "p.t() + 2, 2")
CASES += forms("nan_to_num", "x / 0", "x / 0, 1.5", "(x - x) / 0, 2.0, 3.0, 4.0", "i, 1.0", "x.t() / 0, None, 1.0, -1.0", "h / 0", "d / 0")
CASES += forms("round", "x * 100, decimals=1", "x * 100, decimals=-1", "x, decimals=0", "d.t(), decimals=3", "x")
CASES += forms("special_round", "x * 100, decimals=1", "x * 100, decimals=-1", "x.t()") + forms("logit", "u, 0.2", "u.t(), None", "u, 0.45")
CASES += forms("special_logit", "u, 0.2", "u.t()")
CASES += [plain("polygamma_", "torch.ops.aten.polygamma_(p.clone(), 1)", "torch.ops.aten.polygamma_(p.t(), 2)", "torch.ops.aten.polygamma_(u, 0)")]
CASES += forms("polygamma", "1, p", "2, p.t()", "0, p", "3, p", in_place=False) + forms("special_polygamma", "1, p", "2, p.t()", "0, p", in_place=False)
CASES += raising("torch.ops.aten.polygamma(-1, x)", "torch.ops.aten.mvlgamma(p, 0)", "torch.ops.aten.mvlgamma(p - 9, 3)")
# PyTorch's gelu does not write an out tensor with gaps.
CASES += forms("gelu", "x", "x.t()", "d", "e", "x, approximate='tanh'", "x.t(), approximate='none'", out=False)
CASES += [case("gelu/out", "    a = torch.empty([0])\n    b = torch.ops.aten.gelu(x, approximate='tanh', out=a)\n    return a, b\n", "x")]
CASES += forms("special_round", "x", "x.t()", "d", "e", "i", "i, decimals=1") + forms("round", "i, decimals=0", "i, decimals=1")
CASES += raising("torch.ops.aten.gelu(x, approximate='some')", "torch.ops.aten.gelu(i)")
CASES += forms("glu", "x", "x, 1", "x.t(), 0", "x, -1", "t, 2") + raising("torch.ops.aten.glu(x, 0)", "torch.ops.aten.glu(s)")
CASES += forms("threshold", "x, 0.1, 20", "i, 2, -1", "x.t(), 0, 0") + forms("prelu", "x, r", "x, s.reshape(1)", "q, r[:3]", other=None)
CASES += forms("elu", "x, 0.5, 1.5, 2", "x.t(), 2") + forms("celu", "x, 0.5", other=None) + forms("leaky_relu", "x, 0.2") + forms("hardtanh", "x, -0.5, 0.25")
CASES += forms("softplus", "x, 2, 0.5", "x * 30") + forms("hardshrink", "x, 0.8") + forms("softshrink", "x, 0.8")
CASES += forms("log_sigmoid_forward", "x", "x.t()", "d", "e", other=None, out=False) + raising("torch.ops.aten.log_sigmoid_forward(i)")
CASES += forms("complex", "x, y", "x.t(), y.t()", "x, r", other=None) + forms("polar", "p, y", "p.t(), y.t()", "p, r", other=None)
CASES += forms("frexp", "x", "x.t()", "d", "e", "h", other=None) + raising("torch.ops.aten.frexp(i)")
CASES += forms("where", "b, x, y", "b, x, r", "b.t(), x.t(), y.t()", other=None)
CASES += [plain("where/scalars", "torch.ops.aten.where(b, 1.5, y)", "torch.ops.aten.where(b, x, 2)", "torch.ops.aten.where(b, i, 2.5)", "torch.ops.aten.where(b, 1, 2)",
                "torch.ops.aten.where(b, 1.5, 2)", "torch.ops.aten.where(b.t(), x.t(), 1)")]
CASES += forms("fill", "x, 2.5", "i, 3", "b, 2", "x, s", "i, n", "e, 1", "q[:, ::2], 4", other=None) + raising("torch.ops.aten.fill(x, r)", "torch.ops.aten.fill_(x, y)")
CASES += forms("zero", "x", "i", "b", "e", "s", "q[:, ::2]", other=None)
CASES += forms("copy", "x, y", "x, r", "x, i", "i, x", "b, x", "x, s", "x.t(), g", "x.t(), y.t()", "x, g.t()", "x.t(), r[:3]", "x, r[:3].unsqueeze(1)", other=None)
CASES += [plain("copy_", "torch.ops.aten.copy_(x, 2)", "torch.ops.aten.copy_(x, 2.5)", "torch.ops.aten.copy_(i, 2.5)", "torch.ops.aten.copy_(b, 2)",
                "torch.ops.aten.copy_(x.t(), n)")]
CASES += raising("torch.ops.aten.copy_(r, x)", "torch.ops.aten.copy(r, x)")
CASES += forms("_add_relu", "x, y", "x, y, alpha=2", "x, 0.5", "x.t(), y.t()", "x, r", other=None)
CASES += [plain("_add_relu/scalar alpha", "torch.ops.aten._add_relu(x, 0.5, 2)", "torch.ops.aten._add_relu(i, j)")]
CASES += forms("native_dropout", "x, 0.0, True", "x, 0.5, False", "x.t(), 0.5, False", "x[:, ::2], 0.5, False", other=None)

# Operators that lack some of the forms functional, out= and in-place, or need other arguments for a form.
for dtype in "Byte Char Double Float Half Int Long Short".split():
    CASES += [plain(f"_cast_{dtype}", *(f"torch.ops.aten._cast_{dtype}({t})" for t in ("x", "i", "b", "x.t()", "e", "d", "h")))]
CASES += [plain("_conj", "torch.ops.aten._conj(z).resolve_conj()", "torch.ops.aten._conj(z.t()).resolve_conj()")]
CASES += forms("_conj_physical", "x", "z", "i", other=None)
CASES += forms("_to_copy", "x", "x.t()", "i", "e", other=None)
CASES += [plain("_to_copy/options", "torch.ops.aten._to_copy(x, dtype=torch.float64)", "torch.ops.aten._to_copy(x.t(), dtype=torch.int32)",
                "torch.ops.aten._to_copy(q, memory_format=torch.channels_last)", "torch.ops.aten._to_copy(x.t(), memory_format=torch.contiguous_format)",
                "torch.ops.aten._to_copy(x, device=torch.device('cpu'), non_blocking=True)")]
CASES += [case("to", "    return x.to(d), x.to(torch.float16, copy=True), x.t().to(dtype=torch.int64, layout=torch.strided), "
               "x.to(device=torch.device('cpu'), dtype=torch.float64), i.to(x), x.to(b), x.t().to(d, copy=True), "
               "q.to(torch.float32, memory_format=torch.channels_last)\n", "x d i b q")]
CASES += [plain("result_type", *(f"torch.ops.aten.result_type({p})" for p in ("x, i", "i, k", "i, 2.5", "x, 2", "i, 2", "2, x", "2.5, i", "1, 2", "1, 2.5",
                "h, x", "h, s", "i, s", "b, 1", "b, i", "h, d", "z, d")))]
CASES += [case("rrelu_with_noise", "    n = torch.zeros_like(x)\n    A = torch.ops.aten.rrelu_with_noise(x, n, 0.2, 0.4, False)\n    B = torch.empty([0])\n"
               "    torch.ops.aten.rrelu_with_noise(x, n, 0.2, 0.4, False, out=B)\n    C = x.t().clone()\n    D = torch.ops.aten.rrelu_with_noise_(C, n.t(), 0.1, 0.3)\n"
               "    return A, B, C, D, n\n", "x")]
