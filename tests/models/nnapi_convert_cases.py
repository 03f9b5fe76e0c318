# SPDX-License-Identifier: BSD-2-Clause
"""Small models for `taper optimize --backend nnapi`: one for each operator that NNAPI supports completely or partly."""
import torch
from torch import nn
from torch.nn import functional as F


class Case:
    """left: operators that stay on the CPU at levels below `level`; kept: operators that stay on the CPU at every level."""

    def __init__(self, name, function, inputs, level=27, kept=(), left=(), **modules):
        self.name, self.inputs, self.level, self.kept, self.left = name, inputs, level, tuple(kept), tuple(left)
        self.module = Net(function, modules).eval()


class Net(nn.Module):
    def __init__(self, function, modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Scripted(Case):
    """A module that is made from source text."""

    def __init__(self, name, module, inputs, level=27, kept=()):
        self.name, self.inputs, self.level, self.kept, self.left = name, inputs, level, tuple(kept), ()
        self.module = module.eval()


class GrowingList(nn.Module):
    """Sizes depend on the contents of a list when it is joined, not on its initial contents."""

    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(6, 4, 1)

    def forward(self, x):
        y = self.c(x)
        pieces = [y]
        if bool((y.sum() > -1e9).item()):
            pieces.append(y)
        z = torch.cat(pieces, 1)
        return self.c(x), z * float(z.size(1))


class Pieces(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(6, 6, 1)

    def forward(self, x):
        a, b = torch.split(self.c(x), [2, 4], 1)
        n, c, h, w = b.shape
        return torch.cat([b, a], 1), b.reshape(n, 2, c // 2, h * w) * float(h + n)


class Conv(nn.Conv2d):
    """A convolution whose weights keep results near 1."""


def float_cases():
    torch.manual_seed(11)
    image, small, row, seq = torch.randn(2, 6, 9, 11), torch.randn(1, 6, 4, 4), torch.randn(3, 8), torch.randn(2, 5, 8)
    conv = lambda *a, **k: nn.Conv2d(6, *a, **k)  # noqa: E731
    head = lambda self, x: self.c(x)  # noqa: E731
    norm = nn.BatchNorm2d(6)
    norm.running_mean.copy_(torch.randn(6))
    norm.running_var.copy_(torch.rand(6) + 0.5)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    cases = [
        Case("conv", head, [image], c=conv(8, 3, stride=2, padding=1)),
        Case("conv without bias", head, [image], c=conv(8, (3, 1), padding=(1, 0), bias=False)),
        Case("conv dilated", head, [image], 29, c=conv(8, 3, padding=2, dilation=2)),
        Case("conv grouped", head, [image], 29, c=conv(8, 3, padding=1, groups=2)),
        Case("conv depthwise", head, [image], c=conv(6, 3, padding=1, groups=6)),
        Case("conv depthwise, dilated", head, [image], 29, c=conv(6, 3, padding=2, dilation=2, groups=6)),
        Case("conv depthwise, twice", head, [image], c=conv(12, 3, padding=1, groups=6)),
        Case("conv same", head, [image], c=conv(8, 3, padding="same")),
        Case("conv transposed", head, [image], 29, c=nn.ConvTranspose2d(6, 8, 3, stride=2, padding=1)),
        Case("conv relu", lambda self, x: F.relu(self.c(x)), [image], c=conv(8, 3)),
        Case("conv relu6", lambda self, x: F.relu6(self.c(x)), [image], c=conv(8, 3)),
        Case("conv hardtanh", lambda self, x: F.hardtanh(self.c(x)), [image], c=conv(8, 3)),
        Case("conv norm relu", lambda self, x: F.relu(self.n(self.c(x))), [image], c=conv(6, 1), n=norm),
        Case("norm conv", lambda self, x: self.c(F.relu(self.n(x))), [image], c=conv(4, 1), n=norm),
        Case("conv hardswish", lambda self, x: F.hardswish(self.c(x)), [image], c=conv(8, 1)),
        Case("conv hardsigmoid", lambda self, x: F.hardsigmoid(self.c(x)), [image], c=conv(8, 1)),
        Case("conv silu", lambda self, x: F.silu(self.c(x)), [image], c=conv(8, 1)),
        Case("conv leaky relu", lambda self, x: F.leaky_relu(self.c(x), 0.2), [image], 29, c=conv(8, 1)),
        Case("conv prelu", lambda self, x: self.p(self.c(x)), [image], 29, c=conv(8, 1), p=nn.PReLU(8)),
        Case("conv clamp", lambda self, x: torch.clamp(self.c(x), -0.5, 0.25), [image], 29, c=conv(8, 1)),
        Case("conv clamp above", lambda self, x: torch.clamp(self.c(x), max=0.25), [image], 29, c=conv(8, 1)),
        Case("conv sigmoid tanh", lambda self, x: torch.tanh(torch.sigmoid(self.c(x))), [image], c=conv(8, 1)),
        Case("functions", lambda self, x: torch.sqrt(torch.abs(self.c(x))) + torch.exp(-x), [image], 29, c=conv(6, 1)),
        Case("log rsqrt floor", lambda self, x: torch.log(torch.abs(self.c(x)) + 1) * torch.rsqrt(x * x + 2) + torch.floor(x), [image], 29,
             c=conv(6, 1)),
        Case("residual", lambda self, x: F.relu(self.c(x) + x), [image], c=conv(6, 3, padding=1)),
        Case("sum difference product quotient", lambda self, x: (self.c(x) + x) * (self.c(x) - x) / (x * x + 2), [image], 28, c=conv(6, 1)),
        Case("numbers", lambda self, x: (self.c(x) * 3 + 0.5 - 2) / 4, [image], 28, c=conv(6, 1)),
        Case("constants of channels", lambda self, x: self.c(x) * self.factor + self.summand, [image], c=conv(6, 1),
             factor=nn.Parameter(torch.randn(1, 6, 1, 1)), summand=nn.Parameter(torch.randn(6, 1, 1))),
        Case("maximum minimum", lambda self, x: torch.maximum(torch.minimum(self.c(x), x), x * 0.5), [image], 29, c=conv(6, 1)),
        Case("squeeze and excite", lambda self, x: self.c(x) * torch.sigmoid(self.d(F.adaptive_avg_pool2d(x, 1))), [image], c=conv(6, 1),
             d=conv(6, 1)),
        Case("max pool", lambda self, x: F.max_pool2d(self.c(x), 3, 2, 1), [image], c=conv(6, 1)),
        Case("max pool, sizes up", lambda self, x: F.max_pool2d(self.c(x), 3, 2, ceil_mode=True), [torch.randn(1, 6, 10, 12)], c=conv(6, 1)),
        Case("average pool", lambda self, x: F.avg_pool2d(self.c(x), 2), [image], c=conv(6, 1)),
        Case("average pool, padded", lambda self, x: F.avg_pool2d(self.c(x), 3, 1, 1), [image], 28, c=conv(6, 1)),
        Case("average pool without padding", lambda self, x: F.avg_pool2d(self.c(x), 3, 1, 1, count_include_pad=False), [image], c=conv(6, 1),
             kept=["aten::avg_pool2d"]),
        Case("adaptive pool", lambda self, x: F.adaptive_avg_pool2d(self.c(x), (2, 2)), [small], c=conv(6, 1)),
        Case("adaptive pool, the same", lambda self, x: F.adaptive_avg_pool2d(self.c(x), (4, 4)) * 2, [small], c=conv(6, 1)),
        Case("adaptive pool, uneven", lambda self, x: F.adaptive_avg_pool2d(self.c(x), (3, 3)), [small], c=conv(6, 1),
             kept=["aten::adaptive_avg_pool2d"]),
        Case("nearest", lambda self, x: F.interpolate(self.c(x), scale_factor=2), [image], 29, c=conv(6, 1)),
        Case("nearest to a size", lambda self, x: F.interpolate(self.c(x), size=(5, 20)), [image], 29, c=conv(6, 1)),
        Case("bilinear", lambda self, x: F.interpolate(self.c(x), size=(17, 20), mode="bilinear"), [image], 30, c=conv(6, 1)),
        Case("bilinear, corners", lambda self, x: F.interpolate(self.c(x), size=(17, 20), mode="bilinear", align_corners=True), [image], 30,
             c=conv(6, 1)),
        Case("bilinear of a pixel", lambda self, x: F.interpolate(self.c(x.mean([2, 3], True)), size=(4, 5), mode="bilinear"), [image], 29,
             c=conv(6, 1)),
        Case("padded", lambda self, x: F.pad(self.c(x), (1, 2, 0, 3)), [image], 28, c=conv(6, 1)),
        Case("padded with ones", lambda self, x: F.pad(self.c(x), (1, 2), value=1.0), [image], 29, c=conv(6, 1)),
        Case("reflected", lambda self, x: self.c(F.pad(x, (1, 1, 1, 1), "reflect")), [image], c=conv(6, 3), kept=["aten::pad"]),
        Case("cat", lambda self, x: torch.cat([self.c(x), x, self.c(x) * 2], 1), [image], c=conv(4, 1)),
        Case("cat of rows", lambda self, x: torch.cat([self.c(x), x], 2), [image], c=conv(6, 1)),
        Case("chunk", lambda self, x: self.c(x).chunk(2, 1)[1] * (x * 2).chunk(2, 1)[0], [image], 28, c=conv(6, 1)),
        Case("split", lambda self, x: torch.cat([y * 2 for y in torch.split(self.c(x), [1, 2, 3], 1)], 1), [image], 28, c=conv(6, 1)),
        Case("slice", lambda self, x: self.c(x)[:, 1:5, ::2, -6:], [torch.randn(2, 6, 10, 11)], 28, c=conv(6, 1)),
        Case("shuffle", lambda self, x: shuffle(self.c(x), 3), [image], 29, c=conv(6, 1)),
        Case("permuted", lambda self, x: self.c(x).permute(0, 2, 3, 1) * 2, [image], 28, c=conv(6, 1)),
        Case("permuted and back", lambda self, x: self.c((self.c(x).permute(0, 2, 3, 1) * 2).permute(0, 3, 1, 2)), [image], 28, c=conv(6, 1)),
        Case("transposed", lambda self, x: self.c(x).transpose(2, 3), [image], 28, c=conv(6, 1)),
        Case("reshaped", lambda self, x: self.c(x).reshape(2, 3, -1), [image], 28, c=conv(6, 1)),
        Case("unsqueezed", lambda self, x: self.l(x).unsqueeze(1).squeeze(1), [row], l=nn.Linear(8, 4)),
        Case("means", lambda self, x: self.c(x).mean([2, 3]) + x.mean([2, 3]), [image], 28, c=conv(6, 1)),
        Case("mean of channels", lambda self, x: self.c(x).mean(1), [image], 28, c=conv(6, 1)),
        Case("mean of rows", lambda self, x: self.c(x).mean(2), [image], 28, c=conv(6, 1)),
        Case("softmax of channels", lambda self, x: F.softmax(self.c(x), 1), [image], 29, c=conv(6, 1)),
        Case("softmax of rows", lambda self, x: F.softmax(self.c(x), 2), [image], 29, c=conv(6, 1)),
        Case("classifier", lambda self, x: F.softmax(self.l(torch.flatten(F.adaptive_avg_pool2d(self.c(x), 1), 1)), 1), [image], c=conv(6, 1),
             l=nn.Linear(6, 4)),
        Case("flatten", lambda self, x: self.l(torch.flatten(self.c(x), 1)), [small], 28, c=conv(2, 1), l=nn.Linear(32, 4)),
        Case("linear", lambda self, x: self.l(x), [row], l=nn.Linear(8, 4)),
        Case("linear without bias", lambda self, x: F.relu(self.l(x)), [row], l=nn.Linear(8, 4, bias=False)),
        Case("linear of a sequence", lambda self, x: self.l(x) * 2, [seq], l=nn.Linear(8, 4)),
        Case("log softmax", lambda self, x: F.log_softmax(self.l(x), -1), [row], 29, l=nn.Linear(8, 4)),
        Case("addmm", lambda self, x: torch.addmm(self.b, x, self.w), [row], w=nn.Parameter(torch.randn(8, 4)), b=nn.Parameter(torch.randn(4))),
        Case("two inputs", lambda self, x, y: self.c(x) + self.c(y), [image, torch.randn(2, 6, 9, 11)], c=conv(6, 1)),
        Case("two results", lambda self, x: (self.c(x), F.relu(self.c(x)) * 2), [image], c=conv(6, 1)),
        Case("gelu between", lambda self, x: self.d(F.gelu(self.c(x))), [image], c=conv(6, 3), d=conv(4, 3), kept=["aten::gelu"]),
        Case("double inside", lambda self, x: self.c(x).double().float() * 2, [image], c=conv(6, 1), kept=["aten::to.dtype"] * 2 + ["aten::mul.Scalar"]),
        Case("sizes asked for", lambda self, x: self.c(x).view(x.size(0), -1, x.shape[3]), [image], 28, c=conv(6, 1)),
        Scripted("list that grows", GrowingList(), [image],
                 kept=["aten::" + name for name in ("Bool.int", "Float.Scalar", "Int.Scalar", "append.t", "cat", "gt.Scalar", "item", "mul.Scalar",
                                                    "size.int", "sum")]),
        Scripted("pieces by name", Pieces(), [image], 28),
    ]
    return cases


def shuffle(x, groups):
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).contiguous().view(n, -1, h, w)


class Quantized(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.quant, self.body, self.dequant = torch.ao.quantization.QuantStub(), body, torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(self.body(self.quant(x)))


class Body(nn.Module):
    """The operators of a residual block, and others."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.a, self.b, self.c = nn.Conv2d(6, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1)
        self.relu, self.f, self.linear = nn.ReLU(), nn.quantized.FloatFunctional(), nn.Linear(8, 5)
        self.swish, self.sigmoid, self.leaky = nn.Hardswish(), nn.Hardsigmoid(), nn.LeakyReLU(0.1)

    def forward(self, x):
        y = self.relu(self.a(x))
        z = self.c(self.b(y))
        if self.kind == "add":
            return self.f.add(y, z)
        if self.kind == "add relu":
            return self.f.add_relu(y, z)
        if self.kind == "mul":
            return self.f.mul(y, z)
        if self.kind == "cat":
            return self.f.cat([y, z], 1)
        if self.kind == "pools":
            return F.max_pool2d(F.avg_pool2d(z, 2), 2)
        if self.kind == "hardswish":
            return self.swish(z)
        if self.kind == "hardsigmoid":
            return self.sigmoid(z)
        if self.kind == "sigmoid":
            return torch.sigmoid(z)
        if self.kind == "relu6":
            return F.hardtanh(z.contiguous(), 0, 6)  # without contiguous() PyTorch's result would have another memory format
        if self.kind == "upsample":
            return F.interpolate(z, scale_factor=2)
        if self.kind == "leaky relu":
            return self.leaky(z)
        return self.linear(torch.flatten(F.adaptive_avg_pool2d(z, 1), 1))


def quantized_cases():
    """per_channel: weights with a scale for each channel, which files cannot store, so that these layers compute with floats."""
    torch.manual_seed(12)
    torch.backends.quantized.engine = "qnnpack"
    cases = []
    x = torch.randn(2, 6, 9, 11)
    for per_channel in (False, True):
        for kind in ("add", "add relu", "mul", "cat", "pools", "hardswish", "hardsigmoid", "sigmoid", "relu6", "upsample", "leaky relu", "classifier"):
            model = Quantized(Body(kind)).eval()
            engine = torch.ao.quantization.get_default_qconfig("qnnpack")
            weight = torch.ao.quantization.default_per_channel_weight_observer if per_channel else engine.weight
            model.qconfig = torch.ao.quantization.QConfig(activation=engine.activation, weight=weight)
            torch.ao.quantization.fuse_modules(model, [["body.a", "body.relu"]], inplace=True)
            torch.ao.quantization.prepare(model, inplace=True)
            with torch.no_grad():
                for _ in range(3):
                    model(torch.randn(2, 6, 9, 11))
            torch.ao.quantization.convert(model, inplace=True)
            case = Case(f"quantized {kind}{', per channel' if per_channel else ''}", None, [x], 29)
            case.module = model
            cases.append(case)
    return cases
