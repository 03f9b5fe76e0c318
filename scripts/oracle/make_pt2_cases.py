#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_pt2_cases.py OUT [NAME…]: exports small modules with the installed PyTorch (2.8 and newer) as OUT/NAME.pt2, and writes calls of the
modules with PyTorch's results to OUT/NAME.npz. The arrays are in.CALL.LEAF (in.CALL.LEAF.number for numbers) and CALL.output…. Quantized modules
have `within`, a tolerance. It is the scale of a final quantize or, if that is larger, the difference of PyTorch's results from the results of
the float module. tests/models/test_pt2.py runs them. In an archive with several programs, method.CALL names the called one. The cases pt2e_… and
narrow_… need torchao, and those of XNNPACK's quantizer executorch."""
import functools
import pathlib
import sys
import warnings
import zipfile

warnings.filterwarnings("ignore")
import numpy as np
import torch
from torch import nn
from torch.export import Dim, export, save
from torch.nn import functional as F
from torch.utils import _pytree

torch.manual_seed(3)


class Case:
    """A module, its arguments for the export, and further calls. decompose: export to core ATen; quantizer: quantize (PT2E), calibrated with
    these calls."""

    def __init__(self, module, args, calls=(), kwargs=None, dynamic=None, decompose=False, quantizer=None):
        self.quantizer = quantizer
        self.module, self.args, self.kwargs, self.dynamic, self.decompose = module.eval(), args, kwargs or {}, dynamic, decompose
        self.calls = [(args, self.kwargs), *((call, self.kwargs) if isinstance(call, tuple) else call for call in calls)]


def module(function, **parts):
    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                if isinstance(part, torch.Tensor):
                    self.register_buffer(name, part)
                else:
                    setattr(self, name, part)

    Made.forward = function
    return Made()


def convnet():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2),
                        nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=8), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    nn.init.uniform_(net[1].running_var, 0.5, 2)
    nn.init.uniform_(net[1].running_mean, -1, 1)
    return net


def x(*sizes):
    return torch.randn(*sizes)


def counted(self, x):
    self.count.add_(1)
    return x * self.count, self.count + 0


def arithmetic(self, x):
    n, m = x.shape
    return (x.reshape(n * m), x.new_zeros(n // 2 + 1, max(n, 4) % 5 + 1), x * n, x + m / 2, x[: n - 1], torch.full((2, n), m),
            x.new_ones(n).cumsum(0) if n > 0 else x, n * m)


def branches(self, x):
    return torch.cond(x.sum() > 0, lambda a: torch.cond(a.mean() > 1, lambda b: b + 1, lambda b: b * 2, (a,)), lambda a: a - 1, (x,))


def loop(self, x):
    from torch._higher_order_ops.while_loop import while_loop
    return while_loop(lambda i, a: i < a.abs().max().to(torch.int64), lambda i, a: (i + 1, a / 2 + 1), (torch.tensor(0), x))


def scanned(self, x, start):
    from torch._higher_order_ops.scan import scan
    return scan(lambda carry, item: (carry * 0.5 + item, carry + item * self.weight), start, x, dim=0)


def mapped(self, xs, y):
    from torch._higher_order_ops.map import map as over
    return over(lambda item, other: item @ other + self.weight, xs, y)


def no_grad(self, x):
    with torch.no_grad():
        y = x * self.weight
    return y + 1


def cast(self, x, image):
    """Returns numbers that bfloat16 rounds and whose products bfloat16 represents exactly."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a = self.layer(x)
        b = torch.cat([a, x[:, :2]])
        c = torch.stack([a, a + 1]).relu()
        d = F.relu(self.conv(image)).amax(-1)
        with torch.autocast("cpu", enabled=False):
            e = x @ x.t()
        with torch.autocast("cpu", dtype=torch.float16):
            f = x @ x.t()
        g = a.prod(1) + F.mse_loss(a, x[:, :2])
    return [y.float() for y in (a, b, c, d, e, f, g, x @ self.layer.weight.t())], [y.dtype == torch.float32 for y in (a, b, c, d, e, f, g)]


def whole(layer):
    for parameter in layer.parameters():
        nn.init.constant_(parameter, 2)
        parameter.data.view(-1)[::2] = -1
    return layer


def asserted(self, x):
    n = x.max().item()
    torch._check(n >= 2)
    torch._check(n < 10)
    return torch.zeros(n + 1), x.sum().item()


def containers(self, x, more, *, scale=1.0, flag=None):
    y = more["a"] * scale + more["b"][0]
    return {"y": y, "list": [x, (y, x + 1)], "none": flag, "number": 3}


def xnnpack(**options):
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(**options))


def x86(**options):
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as of
    return of.X86InductorQuantizer().set_global(of.get_default_x86_inductor_quantization_config(**options))


def mixed(self, x):
    a = self.first(x)
    b = F.relu(self.second(a) + a)
    c = torch.cat([a * b, F.hardtanh(b, 0.0, 1.0)], 1)
    return self.last(F.avg_pool2d(c, 2).flatten(1))


def quantized(x, scale, point, low=-128, high=127, dtype=torch.int8):
    q = torch.ops.quantized_decomposed
    return q.dequantize_per_tensor(q.quantize_per_tensor(x, scale, point, low, high, dtype), scale, point, low, high, dtype)


def of_channels(weight, axis=0):
    """Dequantizes a weight that is stored in parts, as buffers."""
    return {"weight": torch.randint(-127, 128, weight, dtype=torch.int8), "scales": torch.rand(weight[axis]) * 0.01 + 0.001,
            "points": torch.zeros(weight[axis], dtype=torch.int64)}


def channels(self, axis=0):
    return torch.ops.quantized_decomposed.dequantize_per_channel(self.weight, self.scales, self.points, axis, -127, 127, torch.int8)


def one_dimension(self, x):
    return quantized(F.relu(F.conv1d(quantized(x, 0.02, 3), channels(self), self.bias, padding=1, stride=2)), 0.03, -100)


def three_dimensions(self, x):
    return quantized(F.conv3d(quantized(x, 0.02, 3), channels(self), self.bias, padding=1), 0.06, 7)


def transposed(self, x):
    weight = torch.ops.quantized_decomposed.dequantize_per_tensor(self.weight, 0.004, 0, -127, 127, torch.int8)
    y = F.relu(F.conv_transpose2d(quantized(x, 0.02, 3, 0, 255, torch.uint8), weight, self.bias, stride=2))
    return quantized(y, 0.05, 5, 0, 255, torch.uint8)


def viewed(self, x):
    y = quantized(F.conv2d(quantized(x, 0.02, 3), channels(self), self.bias, padding=1), 0.06, 7)
    gate = quantized(torch.sigmoid(y.mean((2, 3), keepdim=True)), 0.003, -128)
    return y.view(2, -1) * 2, y, quantized(gate * y, 0.05, 0)


def told(self, x):
    y = F.linear(quantized(x, 0.02, 3), channels(self), self.bias)
    return y, F.relu(F.linear(quantized(x, 0.03, 200, 0, 255, torch.uint8), channels(self)))


def told_by_range(self, x):
    q = torch.ops.quantized_decomposed
    scale, point = q.choose_qparams.tensor(x, -128, 127, 1e-4, torch.int8)
    y = q.dequantize_per_tensor.tensor(q.quantize_per_tensor.tensor(x, scale, point, -128, 127, torch.int8), scale, point, -128, 127, torch.int8)
    return F.linear(y, channels(self), self.bias)


def functions(self, x):
    a = quantized(x, 0.05, -7)
    b = quantized(torch.sigmoid(a), 1 / 256, -128) + quantized(F.elu(a), 0.05, 4)
    c = quantized(F.leaky_relu(quantized(b, 0.06, 2), 0.1), 0.05, 9)
    return quantized(c.permute(0, 2, 1), 0.05, 9), a  # the float result `a` is a second result


def seen_in_part(self, q, k, v):
    """Attention of many rows whose masks hide most keys: a causal mask, the mask of a cache, a window, masks with the lowest float, and rows
    that see no key. A row with only the lowest float hides nothing."""
    at, keys = torch.arange(q.shape[2])[:, None], torch.arange(k.shape[2])
    cached, window = keys <= at + 3, (keys <= at + 20) & (keys > at - 40)
    zeros = torch.zeros(q.shape[2], k.shape[2])
    lowest = zeros.masked_fill(~cached | (at == 7), torch.finfo(torch.float32).min)
    blind = zeros.masked_fill(~window | (at == 90) | (at < 65), float("-inf"))
    attend = functools.partial(F.scaled_dot_product_attention, q, k, v, enable_gqa=True)
    return attend(is_causal=True), attend(cached[None]), attend(window), attend(lowest), attend(blind[None, None]), attend(at < 0)


def shared_heads(self, q, k, v):
    """Attention in which several query heads share a head of keys, in the forms that programs use, and copies that look like shared heads."""
    attend = functools.partial(F.scaled_dot_product_attention, is_causal=True)
    b, h, s, d = k.shape
    expanded = [x[:, :, None].expand(b, h, 3, s, d).reshape(b, h * 3, s, d) for x in (k, v)]
    repeated = [x.repeat_interleave(3, 1) for x in (k, v)]
    written = k.clone()
    before = written.repeat_interleave(3, dim=-3)
    written.zero_()
    return (attend(q, *expanded), attend(q, *repeated), attend(q, expanded[0], repeated[1]), attend(q, before, repeated[1]),
            attend(q[0], k[0].repeat_interleave(3, -3), v[0].repeat_interleave(3, -3)), attend(q[:, :1], *repeated),
            attend(q[0, :2], k[0].repeat_interleave(2, 1), v[0].repeat_interleave(2, 1)),
            attend(q, *[x[:, :, None].expand(b, h, 3, s, d).reshape(b, h * 3, -1, d).clone() for x in (k, v)]))


class Answer(dict):
    """A dict registered with PyTorch, with its keys as context, like the results of transformers."""


_pytree.register_pytree_node(Answer, lambda a: (list(a.values()), list(a.keys())), lambda values, keys: Answer(zip(keys, values)),
                             serialized_type_name="made.Answer")


def cases():
    try:
        yield from quantized_cases()
    except ImportError as error:
        print(f"no pt2e_…: {error}")
    yield from narrow_cases()
    attention = module(lambda self, q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.2))
    yield "convnet", Case(convnet(), (x(1, 3, 16, 16),))
    yield "convnet_core", Case(convnet(), (x(1, 3, 16, 16),), decompose=True)
    yield "convnet_batch", Case(convnet(), (x(2, 3, 16, 16),), [(x(1, 3, 16, 16),), (x(5, 3, 16, 16),)],
                                dynamic=({0: Dim("batch", max=8)},))
    yield "counter", Case(module(counted, count=torch.zeros(1)), (x(2),), [(x(2),), (x(2),)])
    yield "counter_core", Case(module(counted, count=torch.zeros(1)), (x(2),), [(x(2),), (x(2),)], decompose=True)
    yield "sizes", Case(module(arithmetic), (x(3, 5),), [(x(4, 2),), (x(7, 9),)], dynamic=({0: Dim.AUTO, 1: Dim.AUTO},))
    squares = module(lambda self, x: (x[:1].expand((x.shape[0] // 2) ** 2 + 1, -1), x * x.shape[0] ** 2))
    yield "power", Case(squares, (x(6, 3),), [(x(2, 3),), (x(7, 3),)], dynamic=({0: Dim.AUTO},))
    yield "branches", Case(module(branches), (x(4),), [(-torch.ones(4),), (torch.full((4,), 0.5),), (torch.full((4,), 3.0),)])
    yield "loop", Case(module(loop), (x(4) * 9,), [(torch.full((4,), 100.0),), (torch.zeros(4),)])
    yield "scan", Case(module(scanned, weight=x(3)), (x(5, 3), x(3)))
    yield "map", Case(module(mapped, weight=x(4)), (x(3, 2, 4), x(4, 4)))
    yield "no_grad", Case(module(no_grad, weight=x(3)), (x(2, 3),))
    fine = 1 + torch.arange(12.0).reshape(4, 3) / 512
    yield "autocast", Case(module(cast, layer=whole(nn.Linear(3, 2)), conv=whole(nn.Conv2d(1, 2, 3))), (fine, 1 + x(1, 1, 5, 5).sign() / 512),
                           [(-fine, 1 + x(1, 1, 5, 5).sign() / 512)])
    yield "asserted", Case(module(asserted), (torch.tensor([3, 4]),), [(torch.tensor([9, 2]),)])
    yield "containers", Case(module(containers), (x(2), {"a": x(2), "b": [x(2)]}), kwargs={"scale": 1.5, "flag": None})
    yield "answer", Case(module(lambda self, x: Answer(logits=x * 2, hidden=(x + 1, Answer(last=x)))), (x(2),))
    yield "attention", Case(attention, (x(2, 4, 6, 8), x(2, 4, 9, 8), x(2, 4, 9, 8), x(6, 9)),
                            [(x(2, 4, 6, 8), x(2, 4, 9, 8), x(2, 4, 9, 8), x(6, 9))])
    grouped = module(lambda self, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True))
    yield "attention_groups", Case(grouped, (x(1, 8, 5, 8), x(2, 2, 7, 8), x(2, 2, 7, 4)))
    seen = torch.rand(2, 1, 6, 9) > 0.4
    seen[0, 0, 2] = False
    masked = module(lambda self, q, k, v, m: F.scaled_dot_product_attention(q, k, v, m))
    yield "attention_mask", Case(masked, (x(2, 4, 6, 8), x(2, 4, 9, 8), x(2, 4, 9, 8), seen))
    yield "attention_shared", Case(module(shared_heads), (x(1, 6, 5, 4), x(1, 2, 7, 4), x(1, 2, 7, 4)))
    yield "attention_blocks", Case(module(seen_in_part), (x(1, 2, 130, 4), x(1, 1, 200, 4), x(1, 1, 200, 4)))
    yield "guard_float", Case(module(lambda self, y: y + 1 if y.shape[0] * 0.5 < 20 else y), (x(4, 3),), [(x(9, 3),)], dynamic=({0: Dim.AUTO},))
    yield "encoder", Case(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (x(2, 5, 16),), decompose=True)
    yield "lstm", Case(nn.LSTM(4, 6, 2, bidirectional=True, batch_first=True), (x(2, 5, 4),))
    fused = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU()).bfloat16()
    yield "half_fused", Case(module(lambda self, y: self.layers(y.bfloat16()).float(), layers=fused), (x(1, 1, 5, 5),))
    yield "half", Case(module(lambda self, x: (x.to(torch.bfloat16) * self.weight).to(torch.float32), weight=x(4).bfloat16()), (x(3, 4),))


def quantized_cases():
    import torchao.quantization.pt2e  # noqa: F401
    image, images = (x(1, 3, 16, 16),), [(x(1, 3, 16, 16),), (x(1, 3, 16, 16) * 2,)]
    parts = dict(first=nn.Conv2d(3, 8, 3, padding=1), second=nn.Conv2d(8, 8, 1), last=nn.Linear(16 * 64, 5))
    rows, far = (x(3, 16),), [(x(3, 16) * 4,), (torch.full((3, 16), 0.25),)]
    mlp = nn.Sequential(nn.Linear(16, 24), nn.GELU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 5))
    yield "pt2e_convnet", Case(convnet(), image, images, quantizer=xnnpack(is_per_channel=True))
    yield "pt2e_convnet_core", Case(convnet(), image, images, quantizer=xnnpack(is_per_channel=False), decompose=True)
    yield "pt2e_convnet_x86", Case(convnet(), image, images, quantizer=x86())
    yield "pt2e_mixed", Case(module(mixed, **parts), image, images, quantizer=xnnpack(is_per_channel=True))
    yield "pt2e_batch", Case(convnet(), (x(2, 3, 16, 16),), [(x(5, 3, 16, 16),)], quantizer=xnnpack(), dynamic=({0: Dim("batch", max=8)},))
    yield "pt2e_linear", Case(mlp, rows, far, quantizer=x86())
    yield "pt2e_dynamic", Case(mlp, rows, far, quantizer=xnnpack(is_per_channel=True, is_dynamic=True))
    yield "pt2e_dynamic_small", Case(nn.Linear(16, 5), rows, [(x(3, 16) * 1e-3,), (torch.zeros(3, 16),)], quantizer=xnnpack(is_dynamic=True))
    rows, far = x(2, 5, 16), torch.tensor(float("inf")).copysign(x(2, 5, 16))
    yield "pt2e_told", Case(module(told, bias=x(7), **of_channels((7, 16))), (rows,), [(rows * 9,), (far,)])
    yield "pt2e_told_by_range", Case(module(told_by_range, bias=x(7), **of_channels((7, 16))), (rows,), [(rows.abs(),), (-rows.abs() * 99,)])
    yield "pt2e_viewed", Case(module(viewed, bias=x(4), **of_channels((4, 3, 3, 3))), (x(2, 3, 6, 5),), [(x(2, 3, 6, 5) * 2,)])
    yield "pt2e_conv1d", Case(module(one_dimension, bias=x(4), **of_channels((4, 3, 3))), (x(2, 3, 9),), [(x(2, 3, 9),)])
    yield "pt2e_conv3d", Case(module(three_dimensions, bias=x(4), **of_channels((4, 3, 3, 3, 3))), (x(1, 3, 4, 5, 6),))
    yield "pt2e_transposed", Case(module(transposed, bias=x(4), weight=of_channels((3, 4, 2, 2))["weight"]), (x(1, 3, 5, 5),))
    yield "pt2e_functions", Case(module(functions), (x(2, 3, 8) * 3,), [(x(2, 3, 8) * 9,)])


def several():
    """The programs of one archive by name: the program that torch.export.save writes, and two others."""
    shared = nn.Linear(4, 3)
    yield "model", Case(nn.Sequential(shared, nn.ReLU()), (x(2, 4),))
    yield "encode.first", Case(nn.Sequential(nn.Linear(5, 4), shared), (x(2, 5),), dynamic=({0: Dim("n", min=1, max=8)},), calls=[(x(7, 5),)])
    yield "count", Case(module(counted, count=torch.zeros(1)), (x(2),), [(x(2),)])


def write_several(out):
    from torch.export.pt2_archive._package import package_pt2
    made, number, cases_ = {}, 0, list(several())
    programs = {name: export(case.module, case.args, dynamic_shapes=case.dynamic) for name, case in cases_}
    package_pt2(out / "several.pt2", exported_programs=programs)
    for name, case in cases_:
        run = programs[name].module()
        for args, _ in case.calls:
            made[f"method.{number}"] = np.asarray("forward" if name == "model" else name.replace(".", "_"))
            made.update({f"in.{number}.{leaf}": value.numpy() for leaf, value in enumerate(args)})
            with torch.no_grad():
                flatten(f"{number}.output", run(*args), made)
            number += 1
    np.savez_compressed(out / "several.npz", **made)


def narrow_cases():
    """Layers with torchao's weights of 8 and 4 bits, in three forms: tensors of a subclass, their parts (unwrapped), and core operators."""
    try:
        from torchao import quantization as ao
        from torchao.utils import unwrap_tensor_subclass
    except ImportError:
        return
    four = {"weight_dtype": torch.int4}
    kinds = {"int8": ao.Int8WeightOnlyConfig(), "int8_dynamic": ao.Int8DynamicActivationInt8WeightConfig(),
             "int4": ao.IntxWeightOnlyConfig(**four, granularity=ao.PerGroup(32)), "int4_rows": ao.IntxWeightOnlyConfig(**four, granularity=ao.PerAxis(0)),
             "int4_points": ao.IntxWeightOnlyConfig(**four, granularity=ao.PerGroup(16), mapping_type=ao.MappingType.ASYMMETRIC),
             "8da4w": ao.Int8DynamicActivationIntxWeightConfig(**four, weight_granularity=ao.PerGroup(32))}
    for kind, config in kinds.items():
        for spelling in ("", "_unwrapped", "_core") if kind in ("int8", "int4", "8da4w") else ("",):
            for dtype in (torch.float32, torch.bfloat16) if kind in ("int8", "int4") and not spelling else (torch.float32,):
                net = nn.Sequential(nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 20, bias=False)).to(dtype)
                ao.quantize_(net, config)
                net = unwrap_tensor_subclass(net) if spelling == "_unwrapped" else net
                half = dtype == torch.bfloat16
                # Converts results to floats, because NumPy has no bfloat16.
                made = module(lambda self, x, dtype=dtype: self.net(x.to(dtype)).float(), net=net)
                calls = [(x(rows, 64),) for rows in (1, 3, 17)]
                yield f"narrow_{kind}{'_bf16' if half else ''}{spelling}", Case(made, (x(5, 64),), calls, dynamic=({0: Dim("rows", min=1, max=64)},),
                                                                              decompose=spelling == "_core")


def quantize(case):
    """Returns the module that PT2E makes, calibrated with the calls, and the difference of its results from the results of the case."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    prepared = prepare_pt2e(export(case.module, case.args, dynamic_shapes=case.dynamic).module(), case.quantizer)
    with torch.no_grad():
        for args, kwargs in case.calls:
            prepared(*args, **kwargs)
        made = convert_pt2e(prepared)
        return made, max(float((made(*args) - case.module(*args)).abs().max()) for args, _ in case.calls)


def deflate(path):
    """Writes the archive again, compressed."""
    with zipfile.ZipFile(path) as archive:
        records = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for record, content in records:
            archive.writestr(zipfile.ZipInfo(record), content, zipfile.ZIP_DEFLATED)


def last_scale(program):
    """Returns the scale of the quantize before the first result, or 0 if the first result is not quantized."""
    result = next(node for node in program.graph.nodes if node.op == "output").args[0][0]
    return result.args[1] if "dequantize_per_tensor.default" in str(result.target) else 0


def main():
    out, names = pathlib.Path(sys.argv[1]), set(sys.argv[2:])
    out.mkdir(parents=True, exist_ok=True)
    for name, case in cases():
        if names and name not in names:
            continue
        case.module, within = quantize(case) if case.quantizer else (case.module, 0)
        program = export(case.module, case.args, case.kwargs, dynamic_shapes=case.dynamic)
        program = program.run_decompositions() if case.decompose else program
        save(program, out / f"{name}.pt2")
        run, arrays = program.module(), {}
        if name.startswith("pt2e_"):
            arrays["within"] = np.asarray(max(within, last_scale(program)))
        if name.startswith(("pt2e_", "narrow_")):
            deflate(out / f"{name}.pt2")
        for number, (args, kwargs) in enumerate(case.calls):
            for leaf, value in enumerate(_pytree.tree_leaves((args, kwargs))):
                if isinstance(value, torch.Tensor):
                    arrays[f"in.{number}.{leaf}"] = value.numpy()
                elif value is not None:
                    arrays[f"in.{number}.{leaf}.number"] = np.asarray(value)
                else:
                    arrays[f"in.{number}.{leaf}.none"] = np.zeros(0)
            with torch.no_grad():
                result = run(*args, **kwargs)
            flatten(f"{number}.output", result, arrays)
        if "_bf16" in name:  # PyTorch rounds the weights to bfloat16 before it multiplies; Taper rounds only the results
            arrays["within"] = np.asarray(2.0**-7 * max(np.abs(value).max() for key, value in arrays.items() if ".output" in key))
        np.savez_compressed(out / f"{name}.npz", **arrays)
    if not names or "several" in names:
        write_several(out)


def flatten(name, value, arrays):
    if isinstance(value, dict):
        for key, item in value.items():
            flatten(f"{name}.{key}", item, arrays)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            flatten(f"{name}.{i}", item, arrays)
    elif value is not None:
        arrays[name] = value.detach().numpy().copy() if isinstance(value, torch.Tensor) else np.asarray(value)


if __name__ == "__main__":
    main()
