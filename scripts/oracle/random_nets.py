#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests the optimizer with random small networks. Each runs in PyTorch and in Taper: optimized, with --no-optimize and with
--reference.

  random_nets.py TAPER [--seed N] [--count N] [--keep DIR] [--verbose]

A network of a seed is always the same: convolutions, norms, activations, sums, views, in-place operators, dropout, branches,
loops and buffers, with the traps that fusing, folding and packing can fall into: in-place writes into views of fused values, a
summand that changes later, one weight or norm used twice, weights and statistics that a method changes between calls, inputs of
other sizes and layouts. Several networks share a process. A network that fails is written to --keep with its source."""
import argparse
import json
import linecache
import os
import random
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "tests", "ops"), os.path.join(HERE, "..", "..", "tests", "models"),
                os.path.join(HERE, "..", "..", "tests", "models", "apps")]
import torch
from torch.jit.mobile import _load_for_lite_interpreter

import test_apps
from case import stir

ACTIVATIONS = ["F.relu({})", "F.relu6({})", "F.hardswish({})", "F.silu({})", "F.hardsigmoid({})", "torch.sigmoid({})", "torch.tanh({})",
               "F.gelu({})", "torch.clamp({}, -0.5, 0.75)", "torch.clamp({}, min=-0.25)", "F.hardtanh({}, -1.0, 2.0)", "F.leaky_relu({}, 0.1)",
               "F.elu({})", "F.mish({})", "{}.abs()", "F.softplus({})", "torch.clamp({}, max=0.5)", "F.gelu({}, approximate='tanh')"]
IN_PLACE = ["F.relu_({})", "{}.mul_(0.5)", "{}.add_(0.25)", "F.hardtanh({}, -1.0, 1.0, True)", "F.hardswish({}, True)", "F.silu({}, True)",
            "{}.sigmoid_()", "{}.tanh_()", "{}.clamp_(-0.5, 0.5)", "F.relu6({}, True)", "{}.neg_()", "F.hardsigmoid({}, True)", "F.leaky_relu_({}, 0.2)"]


class Writer:
    """The source of one network. Values are 4-D [n, c, h, w]. The writer knows c, and the stride: the factor by which h and w are
    smaller than in the input."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.attributes, self.lines, self.methods = [], [], []
        self.values = []  # (name, channels, stride of h and w)
        self.layers = []  # (name, kind, in, out) of layers that may be used again
        self.indent = "        "
        self.count = 0
        self.calls = []

    def fresh(self, prefix="v"):
        self.count += 1
        return f"{prefix}{self.count}"

    def emit(self, line):
        self.lines.append(self.indent + line)

    def put(self, expression, c, s):
        name = self.fresh()
        self.emit(f"{name} = {expression}")
        self.values.append((name, c, s))
        return name

    def pick(self):
        recent = self.values[-3:] if self.r.random() < 0.7 else self.values
        return self.r.choice(recent)

    def layer(self, kind, inp, out, text):
        if self.r.random() < 0.2:
            for name, k, i, o in self.layers:
                if (k, i, o) == (kind, inp, out):
                    return name
        name = self.fresh(kind)
        self.attributes.append(f"self.{name} = {text}")
        self.layers.append((name, kind, inp, out))
        return name

    def convolution(self):
        name, c, s = self.pick()
        r = self.r
        kind = r.choice(["plain", "plain", "point", "depthwise", "grouped", "transposed", "functional"])
        bias = r.choice(["True", "False"])
        out = r.choice([1, 2, 3, 4, 5, 8, 12, 17])
        if kind == "depthwise":
            k = r.choice([3, 5])
            l = self.layer("dw", c, c, f"nn.Conv2d({c}, {c}, {k}, padding={k // 2}, groups={c}, bias={bias})")
            return self.put(f"self.{l}({name})", c, s)
        if kind == "grouped" and c % 2 == 0:
            l = self.layer("gr", c, c, f"nn.Conv2d({c}, {c}, 3, padding=1, groups=2, bias={bias})")
            return self.put(f"self.{l}({name})", c, s)
        if kind == "point":
            l = self.layer("pw", c, out, f"nn.Conv2d({c}, {out}, 1, bias={bias})")
            return self.put(f"self.{l}({name})", out, s)
        if kind == "transposed" and s == 1 and r.random() < 0.5:
            l = self.layer("tr", c, out, f"nn.ConvTranspose2d({c}, {out}, 3, padding=1, bias={bias})")
            return self.put(f"self.{l}({name})", out, s)
        if kind == "functional":
            w = self.layer("w", c, out, f"nn.Parameter(torch.randn({out}, {c}, 3, 3) * 0.2)")
            scale = r.choice(["", " * 0.5", ".abs()", ".clone()", ".flip(2)"])
            return self.put(f"F.conv2d({name}, self.{w}{scale}, None, 1, 1)", out, s)
        d = r.choice([1, 1, 2])
        l = self.layer(f"cv{d}", c, out, f"nn.Conv2d({c}, {out}, 3, padding={d}, dilation={d}, bias={bias})")
        return self.put(f"self.{l}({name})", out, s)

    def norm(self):
        name, c, s = self.pick()
        options = self.r.choice(["", "", ", affine=False", ", eps=0.1"])
        l = self.layer("bn", c, c, f"nn.BatchNorm2d({c}{options})")
        self.put(f"self.{l}({name})", c, s)

    def linear(self):
        name, c, s = self.pick()
        out = self.r.choice([1, 3, 4, 8])
        l = self.layer("fc", c, out, f"nn.Linear({c}, {out}, bias={self.r.choice(['True', 'False'])})")
        self.put(f"self.{l}({name}.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)", out, s)

    def activation(self):
        name, c, s = self.pick()
        self.put(self.r.choice(ACTIVATIONS).format(name), c, s)

    def in_place(self):
        name, c, s = self.pick()
        view = self.r.choice(["{}", "{}", "{}", "{}[:, :1]", "{}[:, 0]", "{}.view(-1)[::2]", "{}.transpose(2, 3)", "{}[0]", "{}.detach()",
                              "{}.select(3, 0)", "{}.narrow(2, 0, 1)"])
        if "view" in view:
            view = "{}.flatten()" if self.r.random() < 0.3 else "{}"
        expression = self.r.choice(IN_PLACE).format(view.format(name))
        if self.r.random() < 0.4 and view == "{}":
            self.put(expression, c, s)
        else:
            self.emit(expression)

    def partner(self, c, s):
        fits = [v for v in self.values if v[1] in (c, 1) and v[2] == s]
        return self.r.choice(fits)[0] if fits else None

    def summed(self):
        name, c, s = self.pick()
        other = self.partner(c, s)
        form = self.r.choice(["{} + {}", "{} + {}", "{} * {}", "torch.add({}, {}, alpha=0.5)", "{} - {}", "{}.add_({})", "torch.maximum({}, {})",
                              "{1} + {0}", "{}.mul_({})", "F.relu({} + {})"])
        self.put(form.format(name, other), c, s)
        if self.r.random() < 0.2:
            self.emit(self.r.choice(IN_PLACE).format(other))

    def scalar_sum(self):
        name, c, s = self.pick()
        self.put(self.r.choice([f"{name} + 1", f"{name} * 2.5", f"1 - {name}", f"{name} + torch.tensor(0.5)", f"{name} / 3",
                                f"{name} + self.offset", f"{name} * self.gain"]), c, s)

    def concatenate(self):
        name, c, s = self.pick()
        fits = [v for v in self.values if v[2] == s]
        others = [self.r.choice(fits) for _ in range(self.r.choice([1, 2]))]
        total = c + sum(o[1] for o in others)
        if total <= 24:
            self.put("torch.cat([" + ", ".join([name] + [o[0] for o in others]) + "], 1)", total, s)

    def view(self):
        name, c, s = self.pick()
        r = self.r
        choice = r.choice(["slice", "chunk", "shuffle", "twice", "same", "layout", "clone", "expand", "dropout"])
        if choice == "slice" and c > 1:
            self.put(f"{name}[:, 1:]", c - 1, s)
        elif choice == "chunk" and c % 2 == 0:
            a, b = self.fresh(), self.fresh()
            self.emit(f"{a}, {b} = {name}.chunk(2, 1)")
            self.values += [(a, c // 2, s), (b, c // 2, s)]
        elif choice == "shuffle" and c % 2 == 0:
            self.put(f"{name}.reshape({name}.size(0), 2, {c // 2}, {name}.size(2), {name}.size(3)).transpose(1, 2).flatten(1, 2)", c, s)
        elif choice == "twice":
            self.put(f"{name}.transpose(2, 3).transpose(2, 3)", c, s)
        elif choice == "same":
            self.put(r.choice(["{}.reshape({}.shape)", "{}.view_as({})", "{}.expand_as({})", "{}.to({}.dtype)", "torch.squeeze(torch.unsqueeze({}, 0), 0)"])
                     .replace("{}", name) if r.random() < 0.8 else name, c, s)
        elif choice == "layout":
            self.put(f"{name}.contiguous(memory_format=torch.{r.choice(['channels_last', 'contiguous_format'])})", c, s)
        elif choice == "clone":
            self.put(f"{name}.clone()", c, s)
        elif choice == "expand":
            self.put(f"{name}.mean((2, 3), keepdim=True) * {name}", c, s)
        elif choice == "dropout":
            self.put(f"F.dropout({name}, 0.5, False{r.choice(['', ', True'])})", c, s)

    def resize(self):
        name, c, s = self.pick()
        r = self.r
        if s == 1:
            self.put(r.choice(["F.max_pool2d({}, 2)", "F.avg_pool2d({}, 2)", "{}[:, :, ::2, ::2][:, :, :{}.size(2) // 2, :{}.size(3) // 2]",
                               "F.max_pool2d({}, 3, 2, 1)[:, :, :{}.size(2) // 2, :{}.size(3) // 2]"]).replace("{}", name), c, 2)
        elif any(v[2] == 1 for v in self.values):
            like = r.choice([v[0] for v in self.values if v[2] == 1])
            mode = r.choice(["mode='nearest'", "mode='bilinear', align_corners=False", "mode='bilinear', align_corners=True"])
            self.put(f"F.interpolate({name}, size={like}.shape[2:], {mode})", c, 1)

    def branch(self):
        name, c, s = self.pick()
        other = self.partner(c, s)
        out = self.fresh()
        a, b = self.r.choice(ACTIVATIONS).format(name), self.r.choice([f"{name} + {other}", name, f"{other}.clone().add_({name})"])
        condition = self.r.choice(["flag", "not flag", f"float({name}.sum()) > 0", f"{name}.size(0) > 1", "n > 1"])
        self.emit(f"if {condition}:")
        self.emit(f"    {out} = {a}")
        if self.r.random() < 0.3:
            self.emit("    " + self.r.choice(IN_PLACE).format(out))
        self.emit("else:")
        self.emit(f"    {out} = {b}")
        self.values.append((out, c, s))

    def loop(self):
        name, c, s = self.pick()
        out = self.fresh()
        self.emit(f"{out} = {name}")
        self.emit(f"for i{out} in range({self.r.choice(['2', 'n', '3'])}):")
        body = self.r.choice(["act", "conv", "inplace", "list"])
        if body == "conv":
            l = self.layer("lp", c, c, f"nn.Conv2d({c}, {c}, 3, padding=1)")
            self.emit(f"    {out} = F.relu(self.{l}({out})) + {name}")
        elif body == "inplace":
            self.emit(f"    {out} = {out} * 0.5")
            self.emit("    " + self.r.choice(IN_PLACE).format(out))
        elif body == "list":
            self.emit(f"    kept.append({out})")
            self.emit(f"    {out} = {out} + i{out}")
        else:
            self.emit(f"    {out} = " + self.r.choice(ACTIVATIONS).format(out))
        self.values.append((out, c, s))

    def state(self):
        name, c, s = self.pick()
        r = self.r
        choice = r.choice(["accumulate", "keep", "count", "weight"])
        if choice == "accumulate":
            b = self.fresh("acc")
            self.attributes.append(f"self.register_buffer('{b}', torch.zeros(1, {c}, 1, 1))")
            self.emit(f"self.{b} += {name}.mean((0, 2, 3), keepdim=True)")
            self.put(f"{name} + self.{b}", c, s)
        elif choice == "keep":
            b = self.fresh("last")
            self.attributes.append(f"self.register_buffer('{b}', torch.zeros(1, {c}, 1, 1))")
            self.put(f"{name} - self.{b}", c, s)
            self.emit(f"self.{b} = {name}.amax((0, 2, 3), keepdim=True)")
        elif choice == "count":
            self.emit("self.steps += 1")
            self.put(f"{name} * (1.0 + 0.1 * self.steps)", c, s)
        elif self.layers:
            convs = [l[0] for l in self.layers if l[1][:2] in ("pw", "cv", "dw", "gr", "tr", "lp", "fc")]
            if convs and r.random() < 0.5:
                self.emit(f"self.{r.choice(convs)}.weight.mul_(0.9)")

    def method(self):
        """Writes a method that changes weights between calls."""
        r = self.r
        convs = [l[0] for l in self.layers if l[1][:2] in ("pw", "cv", "dw", "gr", "tr", "lp", "fc")]
        norms = [l[0] for l in self.layers if l[1] == "bn"]
        lines = []
        for l in r.sample(convs, min(len(convs), 2)):
            lines.append(r.choice([f"self.{l}.weight.mul_(f)", f"self.{l}.weight[0].fill_(f)", f"self.{l}.weight.data.add_(0.1 * f)",
                                   f"self.{l}.weight.copy_(self.{l}.weight.flip(0))"]))
        for l in r.sample(norms, min(len(norms), 1)):
            lines.append(r.choice([f"self.{l}.running_mean += 0.1 * f", f"self.{l}.running_var.mul_(1.5)"]))
        if lines:
            self.methods.append("    @torch.jit.export\n    def change(self, f: float) -> int:\n" + "".join(f"        {x}\n" for x in lines) + "        return 0\n")

    def write(self):
        r = self.r
        c = r.choice([1, 2, 3, 4, 6])
        self.channels = c
        self.values.append(("x", c, 1))
        if r.random() < 0.5:
            self.put("x * 1.0", c, 1)
        steps = [self.convolution] * 6 + [self.norm] * 3 + [self.activation] * 4 + [self.in_place] * 3 + [self.summed] * 4 + [
            self.scalar_sum, self.concatenate, self.view, self.view, self.resize, self.branch, self.loop, self.state, self.linear]
        for _ in range(r.randrange(4, 16)):
            r.choice(steps)()
            if r.random() < 0.5 and self.lines:  # sequences that fusion looks for
                for step in r.choice([[self.convolution, self.norm, self.activation], [self.convolution, self.norm, self.summed, self.activation],
                                      [self.convolution, self.in_place], [self.convolution, self.activation, self.in_place]]):
                    step()
        self.method()
        results = [v[0] for v in ([self.values[-1]] + r.sample(self.values, min(len(self.values), r.randrange(0, 3)))) if v[0] != ""]
        forward = [f"    def forward(self, x: Tensor, flag: bool, n: int) -> List[Tensor]:", "        kept: List[Tensor] = []"] + self.lines
        forward.append("        return [" + ", ".join(results) + "] + kept")
        head = ["class M(nn.Module):", "    def __init__(self):", "        super().__init__()", "        self.steps: int = 0",
                "        self.register_buffer('offset', torch.tensor(0.5, dtype=torch.float64))", "        self.gain = nn.Parameter(torch.tensor(1.5))"]
        return "\n".join(head + ["        " + a for a in self.attributes] + forward) + "\n" + "\n".join(self.methods)

    def inputs(self):
        r = self.r
        g = torch.Generator().manual_seed(r.randrange(1 << 30))
        sizes = [(1, 6, 6), (2, 4, 8), (1, 2, 2)]
        a, b = r.sample(sizes, 2)

        def call(size, flag, n):
            return "forward", (torch.randn(size[0], self.channels, size[1], size[2], generator=g), flag, n)
        calls = [call(a, True, 1), call(b, False, 2), call(a, True, 1), call(a, False, 2)]
        if self.methods:
            calls += [("change", (0.5,)), call(a, True, 1), call(b, True, 2), ("change", (-1.5,)), call(a, True, 1)]
        return calls


class Case:
    named, loose_bytes, rtol = False, False, 2e-4

    def __init__(self, name):
        self.name = name


def build(source, seed):
    file = f"<network {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    exec("from typing import *\nfrom torch import Tensor", space)
    exec(compile(source, file, "exec"), space)
    torch.manual_seed(seed)
    with torch.no_grad():
        return torch.jit.script(stir(space["M"]()).eval()).eval()


def run_seed(taper, seed, folder, keep):
    """Returns None if the results agree, a text if they differ, and Ellipsis if PyTorch itself refuses the network."""
    w = Writer(seed)
    source = w.write()
    calls = w.inputs()
    try:
        module = build(source, seed)
    except Exception as e:  # noqa: BLE001
        return f"case: {str(e)[-300:]}\n{source}"
    path = os.path.join(folder, "net.ptl")
    module._save_for_lite_interpreter(path)
    # The TorchScript executor is not used: it assumes that dropout outside training returns a copy, and omits writes into the
    # result.
    expected = test_apps.run_torch(_load_for_lite_interpreter(path), calls)
    if any(not torch.isfinite(t).all() or t.abs().max() > 1e6 for result, raised in expected if isinstance(result, list) for t in result if t.numel()):
        return ...
    for mode, extra in test_apps.MODES.items():
        wrong = test_apps.run_taper(taper, path, calls, expected, Case(f"net{seed}"), extra, folder)
        if wrong:
            if keep:
                os.makedirs(keep, exist_ok=True)
                subprocess.run(["cp", path, os.path.join(keep, f"net{seed}.ptl")], check=False)
                with open(os.path.join(keep, f"net{seed}.py"), "w") as file:
                    file.write(source)
            return f"{mode}: {wrong}"
    return None if expected[-1][1] is None else ...


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taper")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", help="leave failing networks here")
    parser.add_argument("--verbose", action="store_true")
    a = parser.parse_args()
    passed = failed = raised = 0

    def report():
        print(f"{passed} passed, {failed} failed, {raised} set aside (they raise or overflow in PyTorch)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(a.seed, a.seed + a.count):
            wrong = run_seed(a.taper, seed, folder, a.keep)
            if wrong is None:
                passed += 1
            elif wrong is ...:
                raised += 1
            else:
                failed += 1
                print(f"FAILED net {seed}: {wrong[:1500]}", flush=True)
            if (seed - a.seed + 1) % 100 == 0 and a.verbose:
                report()
    report()
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
