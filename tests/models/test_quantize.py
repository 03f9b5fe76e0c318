#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_quantize.py TAPER: compares taper quantize with PyTorch. The ranges must be those of PyTorch's observers. Written files must give the
same integers in PyTorch's lite interpreter with the QNNPACK engine. The difference from the float model must be at most quantize_fx's. Dynamic
models must give the numbers of quantize_dynamic."""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch import nn
from torch.ao import quantization as ao
from torch.ao.quantization import quantize_fx
from torch.jit.mobile import _load_for_lite_interpreter
from torch.utils.mobile_optimizer import optimize_for_mobile

warnings.simplefilter("ignore")
taper = os.path.abspath(sys.argv[1])
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def run(*arguments, fails=False):
    done = subprocess.run([taper, *arguments], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        check(False, f"{' '.join(arguments)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def sqnr(want, got):
    return 10 * np.log10((want.astype(np.float64) ** 2).sum() / max(((want - got).astype(np.float64) ** 2).sum(), 1e-300))


def conv(i, o, kernel=3, stride=1, groups=1, act=nn.ReLU6):
    layers = [nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(o)]
    return nn.Sequential(*layers, *([act()] if act else []))


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, 4, 1), nn.Conv2d(4, channels, 1)

    def forward(self, x):
        y = nn.functional.adaptive_avg_pool2d(x, 1)
        return x * nn.functional.hardsigmoid(self.up(nn.functional.relu(self.down(y))))


class Mobile(nn.Module):
    """Has all layers of mobile networks."""

    def __init__(self):
        super().__init__()
        self.stem = conv(3, 8, stride=2, act=nn.Hardswish)
        self.wide, self.deep, self.thin = conv(8, 16, 1), conv(16, 16, groups=16), conv(16, 8, 1, act=None)
        self.squeeze = Squeeze(8)
        self.left, self.right = conv(8, 4, act=nn.ReLU), conv(8, 4, 1, act=None)
        self.res = conv(8, 8, act=None)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 5))

    def forward(self, x):
        x = self.stem(x)
        x = self.squeeze(x + self.thin(self.deep(self.wide(x))))
        x = self.pool(torch.cat([self.left(x), self.right(x)], 1))
        y = self.res(x)
        y += x
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(torch.relu(y), 1), 1))


class Upward(nn.Module):
    """A network that changes shapes and returns several results. A part in the middle stays float."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(4, 8, 3, padding=1), nn.ConvTranspose2d(8, 6, 2, 2)
        self.c, self.d = nn.Conv1d(6, 4, 3, bias=False), nn.Linear(4, 3)

    def forward(self, x):
        y = nn.functional.leaky_relu(self.a(x), 0.1)
        z = torch.tanh(self.b(y))
        z = nn.functional.interpolate(z, scale_factor=2.0, mode="nearest") - 0.25
        c = torch.clamp(self.c(z.mean(3)), -0.5, 0.5)
        return y, (self.d(c.transpose(1, 2)), z)


def settle(m, *samples):
    """Sets the statistics of batch norm to keep the signal's magnitude."""
    m.train()
    with torch.no_grad():
        for x in samples:
            m(x)
    return m.eval()


def flat(value):
    if isinstance(value, dict):
        return [t for v in value.values() for t in flat(v)]
    return [t for v in value for t in flat(v)] if isinstance(value, (tuple, list)) else [value]


def in_torch(path, x):
    with torch.no_grad():
        return flat(_load_for_lite_interpreter(path)(x))


def in_taper(path, given):
    run("run", path, "-i", given, "-o", "out.npz")
    out = np.load("out.npz")
    return [out[k] for k in out.files if not k.endswith((".scale", ".zero_point"))]


def same(path, x, given, what):
    wanted, got = in_torch(path, x), in_taper(path, given)
    check(len(wanted) == len(got), f"{what}: {len(wanted)} results, {len(got)} here")
    for w, g in zip(wanted, got):
        w = w.int_repr().numpy() if w.is_quantized else w.numpy()
        differing = int((w != g).sum()) if w.shape == g.shape else -1
        check(differing == 0, f"{what}: {differing} of {w.size} are not as in PyTorch, of {w.shape}")
    return wanted


def fx_sqnr(m, samples, x, per_channel):
    mapping = ao.get_default_qconfig_mapping("qnnpack")
    if per_channel:
        config = ao.QConfig(activation=ao.HistogramObserver.with_args(reduce_range=False),
                            weight=ao.default_per_channel_weight_observer)
        for kind in [*mapping.object_type_qconfigs]:
            if mapping.object_type_qconfigs[kind] == mapping.global_qconfig:
                mapping.set_object_type(kind, config)
        mapping.set_global(config)
    with torch.no_grad():
        prepared = quantize_fx.prepare_fx(copy.deepcopy(m), mapping, (samples[0],))
        for s in samples:
            prepared(s)
        return sqnr(m(x).numpy(), quantize_fx.convert_fx(prepared)(x).numpy())


def test_mobile():
    torch.manual_seed(1)
    m = Mobile()
    samples = [torch.randn(2, 3, 32, 32) + 0.3 * i for i in range(4)]
    settle(m, *samples)
    torch.jit.script(m).save("mobile.pt")
    os.makedirs("samples", exist_ok=True)
    for i, s in enumerate(samples):
        np.save(f"samples/{i}.npy", s.numpy())
    x = torch.randn(16, 3, 32, 32)
    np.save("x.npy", x.numpy())
    for options in ([], ["--per-channel"], ["--bias-correction", "--equalize"], ["--observer", "percentile"],
                    ["--observer", "min-max", "--keep-float", "squeeze", "--keep-float", "head.0"]):
        what = "mobile " + " ".join(options)
        run("quantize", "mobile.pt", "-o", "q.ptl", "--mode", "core", "--calibrate", "samples", "--report", "r.json",
            *options)
        got = same("q.ptl", x, "x.npy", what)[0].numpy()
        want = m(x).detach().numpy()
        if "--observer" not in options and "--equalize" not in options:
            theirs = fx_sqnr(m, samples, x, "--per-channel" in options)
            check(sqnr(want, got) > theirs - 0.3, f"{what}: {sqnr(want, got):.2f} dB, quantize_fx {theirs:.2f} dB")
        check(sqnr(want, got) > 15, f"{what}: {sqnr(want, got):.2f} dB")
        layers = {layer["name"]: layer for layer in json.load(open("r.json"))["layers"]}
        kept = {name for name, layer in layers.items() if layer["float"]}
        wanted = {"squeeze.down", "squeeze.up", "head.0"} if "--keep-float" in options else set()
        check(kept == wanted, f"{what}: {kept} stayed float")
        check({"stem.0", "deep.0", "head.3"} <= set(layers), f"{what}: layers {list(layers)}")
    report = run("quantize", "mobile.pt", "-o", "q.ptl", "--mode", "full", "--calibrate", "samples")
    line = next(line for line in report.split("\n") if line.startswith("input 0")).split()
    scale, zero_point = float(line[5]), int(line[-1])
    q = torch.quantize_per_tensor(x, scale, zero_point, torch.quint8)
    np.save("q.npy", q.int_repr().numpy())
    given = json.dumps({"@tensor": "q.npy", "scale": scale, "zero_point": zero_point, "dtype": "quint8"})
    result = same("q.ptl", q, given, "mobile full")[0]
    same("q.ptl", q, "x.npy", "mobile full, given floats")
    check(result.is_quantized, "mobile full: the result is float")


def test_upward():
    m = Upward().eval()
    torch.jit.script(m).save("upward.pt")
    x = torch.randn(1, 4, 8, 8)
    np.save("u.npy", x.numpy())
    for mode in ("core", "full"):
        run("quantize", "upward.pt", "-o", "u.ptl", "--mode", mode, "--calibrate", "u.npy", "--per-channel")
        if mode == "core":
            wanted = same("u.ptl", x, "u.npy", "upward")
            for w, f in zip(wanted, flat(m(x))):
                check(sqnr(f.detach().numpy(), w.numpy()) > 15, f"upward: {sqnr(f.detach().numpy(), w.numpy()):.2f} dB")


class Normed(nn.Module):
    """A batch norm between two layers, which does not write statistics, although the operator can write statistics."""

    def __init__(self, training_norm):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3)
        self.norm = nn.BatchNorm2d(8, track_running_stats=False) if training_norm else nn.InstanceNorm2d(8, affine=True)

    def forward(self, x):
        return self.b(self.norm(torch.relu(self.a(x))))


class Lines(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Conv1d(3, 8, 3, padding=1), nn.BatchNorm1d(8), nn.Conv1d(8, 8, 3, groups=2, dilation=2)
        self.c = nn.Conv1d(8, 4, 1)

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.norm(self.a(x))))))


class Branches(nn.Module):
    """A branch that no sample reaches, and a layer without an integer operator."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.volume = nn.Linear(8, 16), nn.Linear(16, 4), nn.Linear(16, 4), nn.Conv3d(1, 1, 1)

    def forward(self, x):
        y = torch.relu(self.a(x))
        if bool(y.sum() > -1):
            z = self.b(y)
        else:
            z = self.c(y)
        return z + self.volume(z.view(1, 1, 1, -1, 4)).view(-1, 4)


class Joined(nn.Module):
    """A concatenation needs inputs of one scale. An operator that keeps the scale of its input passes this requirement on to its input."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.pool = nn.Conv2d(3, 4, 3), nn.Conv2d(3, 4, 3), nn.MaxPool2d(2)
        with torch.no_grad():
            self.b.weight *= 50

    def forward(self, x):
        return torch.cat([self.pool(self.a(x)), self.pool(torch.flatten(self.b(x), 2).reshape(-1, 4, 6, 6))], 1)


def test_joined():
    torch.manual_seed(7)
    x = torch.randn(2, 3, 8, 8)
    torch.jit.script(Joined().eval()).save("joined.pt")
    np.save("j.npy", x.numpy())
    run("quantize", "joined.pt", "-o", "j.ptl", "--mode", "core", "--calibrate", "j.npy")
    same("j.ptl", x, "j.npy", "joined")
    scales = re.findall(r"quantized::conv2d.*?\(%\d+, %?[^,]*, ([0-9.e-]+), (\d+)\)", run("inspect", "j.ptl", "--graph", "--no-optimize"))
    check(len(scales) == 2 and len(set(scales)) == 1, f"joined: scales {scales}")


class Enlarged(nn.Module):
    """Enlarges images to sizes that the call passes, not to multiples of their own sizes."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 3), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        x = self.b(torch._C._nn.upsample_nearest2d(self.a(x), [12, 15]))
        return self.c(torch._C._nn.upsample_bilinear2d(x, [21, 20], False))


def test_enlarged():
    torch.manual_seed(9)
    x = torch.randn(2, 3, 8, 8)
    torch.jit.script(Enlarged().eval()).save("enlarged.pt")
    np.save("e.npy", x.numpy())
    run("quantize", "enlarged.pt", "-o", "e.ptl", "--mode", "core", "--calibrate", "e.npy")
    same("e.ptl", x, "e.npy", "enlarged")
    graph = run("inspect", "e.ptl", "--graph", "--no-optimize")
    check("upsample_nearest2d(" in graph and "upsample_bilinear2d(" in graph, f"enlarged: other overloads: {graph}")
    check(graph.count("aten::quantize_per_tensor") == 1, f"enlarged: floats between the layers: {graph}")


def kinds_of(path):
    return set(run("ops", path).split())


def test_between():
    """All layers become integers, with any operators between them. Operators that remain float are counted and named."""
    torch.manual_seed(5)
    for m, x in ((Normed(False), torch.randn(2, 3, 12, 12)), (Normed(True), torch.randn(2, 3, 12, 12)), (Lines(), torch.randn(4, 3, 20))):
        settle(m, x)
        torch.jit.script(m).save("between.pt")
        np.save("b.npy", x.numpy())
        run("quantize", "between.pt", "-o", "b.ptl", "--mode", "core", "--calibrate", "b.npy", "--report", "b.json")
        what = f"between {type(m).__name__}"
        got = same("b.ptl", x, "b.npy", what)[0].numpy() if type(m) is Lines else in_torch("b.ptl", x)[0].numpy()
        check(abs(in_taper("b.ptl", "b.npy")[0] - got).max() < 0.05 * abs(got).max(), f"{what}: other numbers here")
        want = m(x).detach().numpy()
        theirs = fx_sqnr(m, [x], x, False) if type(m) is Lines else 25
        check(sqnr(want, got) > theirs - 0.3, f"{what}: {sqnr(want, got):.2f} dB, quantize_fx {theirs:.2f} dB")
        check(not {"aten::conv1d", "aten::conv2d"} & kinds_of("b.ptl"), f"{what}: {kinds_of('b.ptl')}")
    m, x = Branches().eval(), torch.randn(6, 8)
    torch.jit.script(m).save("branches.pt")
    np.save("b.npy", x.numpy())
    said = run("quantize", "branches.pt", "-o", "b.ptl", "--mode", "core", "--calibrate", "b.npy", "--report", "b.json")
    kept = {layer["name"] for layer in json.load(open("b.json"))["layers"] if layer["float"]}
    check(kept == {"c", "volume"}, f"branches: {kept} stayed float")
    check(", 2 kept float" in said and "kept float: c (aten::linear), volume (aten::conv3d)" in said, f"branches: says {said}")
    said = run("quantize", "branches.pt", "-o", "b.ptl", "--mode", "dynamic", "--report", "b.json")
    check("3 operators quantized, 0 kept float" in said and "quantized::linear_dynamic" in kinds_of("b.ptl"), f"branches: says {said}")


def test_packed():
    """Layers packed by an optimizer are quantized like the original layers, up to the order of float sums."""
    torch.manual_seed(2)
    m, x = Mobile(), torch.randn(16, 3, 32, 32)
    samples = [torch.randn(2, 3, 32, 32) for _ in range(4)]
    settle(m, *samples)
    plain = torch.jit.script(m)
    plain.save("plain.pt")
    optimize_for_mobile(plain)._save_for_lite_interpreter("packed.ptl")
    run("optimize", "plain.pt", "-o", "ours.ptl")
    run("optimize", "plain.pt", "-o", "metal.ptl", "--backend", "metal")
    run("optimize", "plain.pt", "-o", "vulkan.ptl", "--backend", "vulkan")
    os.makedirs("packed", exist_ok=True)
    for i, s in enumerate(samples):
        np.save(f"packed/{i}.npy", s.numpy())
    np.save("p.npy", x.numpy())
    want = m(x).detach().numpy()
    for options in (["--mode", "core"], ["--mode", "core", "--per-channel"], ["--mode", "full"]):
        noise, operators = {}, {}
        for name in ("plain.pt", "packed.ptl", "ours.ptl", "metal.ptl", "vulkan.ptl"):
            run("quantize", name, "-o", "p.ptl", "--calibrate", "packed", "--report", "p.json", *options)
            report = json.load(open("p.json"))
            operators[name] = [layer["operator"] for layer in report["layers"]]
            noise[name] = report["sqnr"]
            if "full" not in options:
                got = same("p.ptl", x, "p.npy", f"{name} {options}")[0].numpy()
                noise[name] = sqnr(want, got)
        for name in noise:
            check(abs(noise[name] - noise["plain.pt"]) < 1,
                  f"{name} {options}: {noise[name]:.2f} dB, {noise['plain.pt']:.2f} dB of the plain model")
            check(operators[name] == operators["plain.pt"],
                  f"{name} {options}: {operators[name]}, of the plain model {operators['plain.pt']}")
        print("packed", " ".join(options), " ".join(f"{name} {noise[name]:.2f} dB" for name in noise))
    m = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 4)).eval()
    plain = torch.jit.script(m)
    plain.save("plain.pt")
    optimize_for_mobile(plain)._save_for_lite_interpreter("packed.ptl")
    x = torch.randn(3, 6)
    np.save("p.npy", x.numpy())
    theirs = ao.quantize_dynamic(copy.deepcopy(m), {nn.Linear})(x).detach().numpy()
    for name in ("plain.pt", "packed.ptl"):
        run("quantize", name, "-o", "p.ptl", "--mode", "dynamic")
        check(np.array_equal(theirs, same("p.ptl", x, "p.npy", f"dynamic {name}")[0].numpy()),
              f"dynamic {name}: not quantize_dynamic's numbers")


def diff(*arguments):
    """Returns the output of taper diff, and true if nothing diverges."""
    done = subprocess.run([taper, "diff", *arguments, "--json"], capture_output=True, text=True)
    check(done.returncode in (0, 1) and done.stdout, f"diff {arguments}: {done.stderr}")
    return json.loads(done.stdout), done.returncode == 0


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = [y.reshape(b, n, self.heads, d // self.heads).transpose(1, 2) for y in (q, k, v)]
        weights = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k) * (d // self.heads) ** -0.5, -1)
        return x + self.out(torch.einsum("bhij,bhjd->bhid", weights, v).transpose(1, 2).reshape(b, n, d))


class Transformer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.patch = nn.Linear(49, width)
        self.layers = nn.Sequential(*[nn.Sequential(Attention(width, 4), nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))
                                      for _ in range(3)])
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 10))

    def forward(self, x):
        x = x.unfold(2, 7, 7).unfold(3, 7, 7).reshape(x.size(0), 16, 49)
        return self.head(self.layers(self.patch(x)).mean(1))


def wrong_layer(m, kinds):
    """Gives one of the layers that PyTorch quantized a wrong bias and returns its name."""
    layers = [(n, k) for n, k in m.named_modules() if isinstance(k, kinds)]
    name, layer = layers[len(layers) // 2]
    with torch.no_grad():
        weight, bias = layer._weight_bias()
        layer.set_weight_bias(weight, bias + 3 * weight.dequantize().abs().max())
    return name


def test_diff():
    """Runs taper diff on a float model and PyTorch's quantized model. The command must find all layers, and name the wrong layer."""
    torch.manual_seed(4)
    m, x = Mobile(), torch.randn(2, 3, 32, 32)
    settle(m, x)
    np.save("x.npy", x.numpy())
    torch.jit.script(m).save("float.pt")
    with torch.no_grad():
        prepared = quantize_fx.prepare_fx(copy.deepcopy(m), ao.get_default_qconfig_mapping("qnnpack"), (x,))
        prepared(x)
        q = quantize_fx.convert_fx(prepared)
    kinds = (torch.ao.nn.quantized.Conv2d, torch.ao.nn.quantized.Linear)
    names = [n for n, k in q.named_modules() if isinstance(k, kinds)]
    for wrong in (False, True):
        name = wrong_layer(q, kinds) if wrong else None
        torch.jit.script(q).save("q.pt")
        torch.jit.script(q)._save_for_lite_interpreter("q.ptl")
        for path in ("q.pt", "q.ptl"):
            figures, same = diff("float.pt", "--against", path, "-i", "x.npy", "--tolerance", "0.4")
            seen = {row["module"] for row in figures["nodes"] if row["got"]["name"].startswith("quantized::")}
            check(set(names) <= seen, f"diff {path}: {set(names) - seen} were not compared")
            if wrong:
                check(not same and figures["first"]["module"] == name, f"diff {path}: {name} is wrong, {figures['first']}")
            else:
                check(same, f"diff {path}: {figures['first']}")
    x = torch.randn(2, 5, 6)
    np.save("d.npy", x.numpy())
    m = Speech("LSTM", True).eval()
    torch.jit.script(m).save("float.pt")
    q = ao.quantize_dynamic(copy.deepcopy(m), {nn.Linear, nn.LSTM})
    torch.jit.script(q).save("q.pt")
    figures, same = diff("float.pt", "--against", "q.pt", "-i", "d.npy", "--tolerance", "0.05")
    check(same, f"diff of a dynamic model: {figures['first']}")
    kinds = [row["got"]["name"] for row in figures["nodes"]]
    check(kinds.count("quantized::linear_dynamic") == 2 and any("lstm" in kind for kind in kinds),
          f"diff of a dynamic model compares {kinds}")
    m, x = Transformer().eval(), torch.randn(1, 1, 28, 28)
    np.save("v.npy", x.numpy())
    torch.jit.script(m).save("float.pt")
    q = ao.quantize_dynamic(copy.deepcopy(m), {nn.Linear})
    kinds = (torch.ao.nn.quantized.dynamic.Linear,)
    names = [n for n, k in q.named_modules() if isinstance(k, kinds)]
    for wrong in (False, True):
        name = wrong_layer(q, kinds) if wrong else None
        torch.jit.script(q)._save_for_lite_interpreter("q.ptl")
        torch.jit.trace(q, x).save("q.pt")
        for path in ("q.ptl", "q.pt"):
            figures, same = diff("float.pt", "--against", path, "-i", "v.npy", "--tolerance", "0.05")
            seen = [row["module"] for row in figures["nodes"] if row["got"]["name"] == "quantized::linear_dynamic"]
            check(seen == names, f"diff of a transformer {path}: compares {seen}")
            check(same != wrong and (same or figures["first"]["module"] == name),
                  f"diff of a transformer {path}: {name} is wrong, {figures['first']}")
    run("quantize", "float.pt", "-o", "ours.ptl", "--mode", "dynamic")
    want, got = m(x).detach().numpy(), in_taper("ours.ptl", "v.npy")[0]
    check(want.argmax() == got.argmax() and abs(want - got).max() <= 0.05 * abs(want).max(),
          f"a transformer quantized here is {abs(want - got).max() / abs(want).max():.3f} from the float one")


def observed_scale(samples, observer):
    """Returns the scale of --mode full for an input with these samples."""
    layer = nn.Conv2d(1, 1, 1)
    torch.jit.script(layer.eval()).save("one.pt")
    for i, s in enumerate(samples):
        np.save(f"one{i}.npy", s.numpy())
    report = run("quantize", "one.pt", "-o", "one.ptl", "--mode", "full", "--observer", observer, "--compare", "0",
                 "--calibrate", *[f"one{i}.npy" for i in range(len(samples))])
    line = next(line for line in report.split("\n") if line.startswith("input 0")).split()
    return np.float32(line[5]), int(line[-1])


def test_observers():
    kinds = {"histogram": ao.HistogramObserver, "min-max": ao.MinMaxObserver,
             "moving-average": ao.MovingAverageMinMaxObserver}
    makers = [lambda i: torch.randn(1, 1, 40, 40) * (1 + 3 * i), lambda i: torch.rand(1, 1, 40, 40) * 0.7,
              lambda i: torch.relu(torch.randn(1, 1, 40, 40)) ** 3, lambda i: torch.randn(1, 1, 40, 40).exp() * 20 - 5 * i,
              lambda i: torch.zeros(1, 1, 9, 9) + (i == 2), lambda i: torch.randn(1, 1, 3, 3) * 1e-6]
    for number, make in enumerate(makers):
        samples = [make(i) for i in range(4)]
        for name, kind in kinds.items():
            observer = kind(dtype=torch.quint8)
            for s in samples:
                observer(s)
            scale, zero_point = observer.calculate_qparams()
            got = observed_scale(samples, name)
            wanted = (np.float32(scale.item()), int(zero_point.item()))
            check(got == wanted, f"{name} of distribution {number}: {got}, PyTorch has {wanted}")


class Speech(nn.Module):
    def __init__(self, kind, both):
        super().__init__()
        self.first = nn.Linear(6, 10)
        self.rnn = getattr(nn, kind)(10, 8, 2, bidirectional=both, batch_first=True)
        self.last = nn.Linear(16 if both else 8, 4)

    def forward(self, x):
        y, _ = self.rnn(torch.relu(self.first(x)))
        return self.last(y)


def test_dynamic():
    x = torch.randn(2, 5, 6)
    np.save("d.npy", x.numpy())
    for kind in ("LSTM", "GRU"):
        for both in (False, True):
            for options, config in (([], ao.default_dynamic_qconfig),
                                    (["--per-channel"], ao.per_channel_dynamic_qconfig)):
                m = Speech(kind, both).eval()
                torch.jit.script(m).save("d.pt")
                run("quantize", "d.pt", "-o", "d.ptl", "--mode", "dynamic", *options)
                theirs = ao.quantize_dynamic(copy.deepcopy(m), {nn.Linear: config, getattr(nn, kind): config})
                what = f"dynamic {kind} {both} {options}"
                want = theirs(x).detach().numpy()
                check(np.array_equal(want, in_torch("d.ptl", x)[0].numpy()), f"{what}: not quantize_dynamic's numbers")
                check(abs(want - in_taper("d.ptl", "d.npy")[0]).max() < 1e-6, f"{what}: other numbers here")
    m = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 4)).eval()
    theirs = ao.quantize_dynamic(copy.deepcopy(m), {nn.Linear})
    for save in (lambda: torch.jit.script(m), lambda: torch.jit.trace(m, x)):
        save().save("d.pt")
        run("quantize", "d.pt", "-o", "d.ptl", "--mode", "dynamic")
        for rows in (torch.randn(6), torch.randn(1, 6), torch.randn(3, 6), torch.randn(2, 1, 3, 6)):
            np.save("rows.npy", rows.numpy())
            want = theirs(rows.reshape(-1, 6)).reshape(*rows.shape[:-1], 4).detach().numpy()
            check(np.array_equal(want, in_torch("d.ptl", rows)[0].numpy()), f"dynamic rows {rows.shape}: not quantize_dynamic's numbers")
            check(np.array_equal(want, in_taper("d.ptl", "rows.npy")[0]), f"dynamic rows {rows.shape}: other numbers here")


def test_refusals():
    def refuses(text, *arguments):
        said = run("quantize", *arguments, fails=True)
        check(text in said, f"{arguments}: says {said!r}")
    core = ["-o", "no.ptl", "--mode", "core"]
    os.makedirs("empty", exist_ok=True)
    np.save("nan.npy", np.full((1, 3, 32, 32), np.nan, np.float32))
    torch.jit.script(nn.Sequential(nn.ReLU())).save("nothing.pt")
    broken = nn.Conv2d(3, 2, 1)
    broken.weight.data[0, 0] = float("inf")
    torch.jit.script(broken.eval()).save("broken.pt")
    refuses("not finite", "mobile.pt", *core, "--calibrate", "nan.npy")
    refuses("holds no samples", "mobile.pt", *core, "--calibrate", "empty")
    refuses('no layer "steam"', "mobile.pt", *core, "--calibrate", "samples", "--keep-float", "steam")
    refuses("stem.0", "mobile.pt", *core, "--calibrate", "samples", "--keep-float", "steam")
    refuses("nothing.pt: there is nothing to quantize", "nothing.pt", *core, "--calibrate", "samples")
    refuses("nothing to quantize", "nothing.pt", "-o", "no.ptl", "--mode", "dynamic")
    refuses("finite", "broken.pt", *core, "--calibrate", "samples")
    refuses("u.npy: ", "mobile.pt", *core, "--calibrate", "u.npy")
    refuses("channels", "mobile.pt", *core, "--calibrate", "u.npy")
    check(not os.path.exists("no.ptl"), "a refused model was written")


torch.manual_seed(3)
torch.set_num_threads(1)
torch.backends.quantized.engine = "qnnpack"
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (test_observers, test_mobile, test_upward, test_joined, test_enlarged, test_between, test_packed, test_dynamic, test_diff,
                 test_refusals):
        test()
        print(test.__name__)
    os.chdir("/")
print(f"{len(failures)} failures" if failures else "all as PyTorch has it")
sys.exit(1 if failures else 0)
