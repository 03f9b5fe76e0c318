# SPDX-License-Identifier: BSD-2-Clause
"""Cases of every family of operators with inputs at the edges: little variance, a large offset, NaN or an infinity in one element, group or
channel, denormal numbers, negative zero. These cases find an epsilon that is too large or is used at a wrong place; see test_elementwise.py."""
import torch

RECORDED_FILE = 600_000
CASES = []
SHAPE = (2, 6, 5, 7)


def numbers(*sizes, seed=1):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed))


def with_one(value, *place):
    x = numbers(*SHAPE)
    x[place] = value
    return x


INPUTS = {
    "small variance": numbers(*SHAPE) * 1e-3,
    "tiny variance": numbers(*SHAPE) * 1e-6 + 0.25,
    "no variance": torch.full(SHAPE, 0.75),
    "large offset": numbers(*SHAPE) + 1000,
    "large": numbers(*SHAPE) * 1e15,
    "NaN in an element": with_one(float("nan"), 1, 2, 3, 4),
    "NaN in a channel": with_one(float("nan"), 0, 3),
    "infinity in an element": with_one(float("inf"), 1, 2, 3, 4),
    "infinity in a channel": with_one(float("-inf"), 0, 3),
}
# Inputs for operators that keep denormal numbers and the signs of zeros. Products do not keep denormals (docs/numerics.md).
KEPT = {"denormal": numbers(*SHAPE) * 1e-40, "zeros": torch.tensor([0.0, -0.0]).repeat(210).view(SHAPE)}

PARAMETERS = {"c": numbers(6, seed=2), "d": numbers(6, seed=3), "v": numbers(6, seed=4).abs() + 0.5, "s": torch.full((6,), 1e-7), "w": numbers(7, seed=5),
              "k": numbers(4, 6, 3, 3, seed=6), "g": numbers(6, 2, 3, 3, seed=7), "p": numbers(6, 1, 3, 3, seed=8), "m": numbers(4, 7, seed=9),
              "t": numbers(6, 3, 2, 2, seed=10)}


def family(label, expressions, inputs, names="", whole=False, least=0.0):
    for expression in expressions:
        for name, x in inputs.items():
            source = "def f(x%s):\n    return %s\n" % ("".join(", " + n for n in names), expression)
            scale = float(x[torch.isfinite(x)].abs().max()) * (4 * max(float(PARAMETERS[n].abs().max()) for n in names) if names else 1)
            CASES.append(("%s/%s/%s" % (label, expression, name), source, (x,) + tuple(PARAMETERS[n] for n in names),
                          {"whole": True} if whole else {"scale": max(scale, least)}))


# The results of normalization are near 1 for all inputs; a large offset of the inputs costs digits.
CLEAN = {name: x for name, x in INPUTS.items() if name not in ("large offset", "tiny variance")}
NORMS = ["F.layer_norm(x, [7])", "F.layer_norm(x, [5, 7])", "F.group_norm(x, 3)", "F.group_norm(x, 6)", "F.instance_norm(x)", "F.layer_norm(x, [7], eps=1e-12)"]
for expression in NORMS:
    for name, x in INPUTS.items():
        if "1e-12" in expression and name == "tiny variance":
            continue  # skipped, because the variance is smaller than the resolution of the numbers
        offset = name in ("large offset", "tiny variance", "no variance")
        CASES.append(("norm/%s/%s" % (expression, name), "def f(x):\n    return %s\n" % expression, (x,), {"scale": 1e4 if offset else 4.0}))
family("norm", ["F.batch_norm(x, c, v, d, c, False, 0.1, 1e-5)", "F.batch_norm(x, c, v, None, None, False, 0.1, 1e-3)"], INPUTS, "cdv")
family("norm", ["F.batch_norm(x, c, s, d, c, False, 0.1, 1e-5)", "F.batch_norm(x * 1e-3, c * 1e-3, s, None, None, False, 0.1, 1e-7)"],
       {name: x for name, x in CLEAN.items() if name != "large"}, "cds", whole=True)
family("norm", ["F.layer_norm(x, [7], w, w)", "F.normalize(x, dim=1)", "F.local_response_norm(x, 3)", "F.softmax(x, 1)", "F.log_softmax(x, -1)", "F.softmin(x, 2)"],
       CLEAN, "w")

ACTIVATIONS = ["relu", "relu6", "gelu", "silu", "sigmoid", "tanh", "hardswish", "hardsigmoid", "hardtanh", "softplus", "leaky_relu",
               "mish", "logsigmoid", "softsign", "tanhshrink", "softshrink", "hardshrink"]
family("activation", ["F.%s(x)" % name for name in ACTIVATIONS], INPUTS | KEPT)
# PyTorch subtracts 1 from exp(x), so a small x is rounded away; Taper's expm1 keeps a small x.
family("activation", ["F.elu(x)", "F.celu(x)", "F.selu(x)"], INPUTS | KEPT, least=1.0)
family("elementwise", ["x + 1.5", "x * 0.5", "x / 3", "-x", "x.abs()", "x.sign()", "x.floor()", "x.round()", "x.trunc()", "x.frac()", "torch.clamp(x, -1., 1.)",
                       "torch.maximum(x, -x)", "torch.minimum(x, x.flip(-1))", "torch.fmax(x, x.flip(-1))", "x == x", "x < x.flip(-1)", "x != 0", "torch.isnan(x)",
                       "torch.isinf(x)", "torch.signbit(x)", "torch.copysign(torch.ones_like(x), x)", "torch.where(x > 0, x, -x)", "x.masked_fill(x > 0, -0.0)",
                       "torch.nan_to_num(x)", "x.sqrt()", "x * x.flip(-1)", "x - x.flip(-1)", "torch.atan2(x, x.flip(-1))", "torch.hypot(x, x)",
                       "x.to(torch.float64)", "x.half()", "torch.heaviside(x, x)", "torch.lerp(x, -x, 0.25)"],
       INPUTS | KEPT)
family("sign of zero", ["torch.signbit(%s)" % e for e in ("F.relu(x)", "-x", "x.abs()", "x * -1.0", "x.round()", "x.trunc()",
                                                           "torch.clamp(x, -1., 1.)", "F.leaky_relu(x)", "x + 0.0", "x.sqrt()", "F.hardtanh(x)")],
       {"zeros": KEPT["zeros"]})
family("reduce", ["x.sum(1)", "x.mean([2, 3])", "x.mean()", "x.amax(1)", "x.amin([2, 3])", "x.max(1)[0]", "x.argmax(1)", "x.argmin(-1)", "x.cumsum(2)",
                  "x.logsumexp(1)", "x.norm(2, dim=1)", "x.prod(2)", "x.sort(-1)[0]", "x.topk(3, 1)[0]", "x.median(-1)[0]", "x.nansum(1)", "x.cummax(1)[0]",
                  "x.any(1)", "x.all(1)", "torch.count_nonzero(x, 1)"], INPUTS, whole=True)
family("reduce", ["x.var(1)", "x.std([2, 3])", "x.var([1, 2, 3], unbiased=False)", "torch.var_mean(x, 2)[0]"], INPUTS, whole=True)
family("pool", ["F.max_pool2d(x, 3, 2, 1)", "F.avg_pool2d(x, 3, 2, 1)", "F.adaptive_avg_pool2d(x, 1)", "F.adaptive_avg_pool2d(x, [2, 3])",
                "F.adaptive_max_pool2d(x, 2)", "F.interpolate(x, scale_factor=2.)", "F.interpolate(x, scale_factor=1.7, mode='bilinear')",
                "F.pad(x, [1, 2, 3, 1])", "F.unfold(x, 2)"], INPUTS | KEPT, whole=True)
family("product", ["F.conv2d(x, k, None, 2, 1)"], INPUTS, "k", whole=True)
family("product", ["F.conv2d(x, g, c, 1, 1, 1, 3)"], INPUTS, "gc", whole=True)
family("product", ["F.conv2d(x, p, c, 1, 1, 1, 6)", "F.relu(F.conv2d(x, p, None, 2, 1, 1, 6))"], INPUTS, "pc", whole=True)
family("product", ["F.linear(x, m)", "torch.matmul(x, m.t())"], INPUTS, "m", whole=True)
family("product", ["F.conv_transpose2d(x, t, None, 2)"], INPUTS, "t", whole=True)
