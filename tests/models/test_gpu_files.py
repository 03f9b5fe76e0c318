#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_gpu_files.py TAPER DIR: checks the files of `taper optimize --backend vulkan` and `metal`. For the network of the samples in DIR the files
must have the same objects as PyTorch's (s13, s14), field by field. A recurrent network must get Vulkan's contexts. MobileNetV2 for Metal must
have the operators listed in PyTorch's tutorial. All files must run in Taper with the module's results."""
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import torch

from test_write import names, tree

CONV = "__torch__.torch.classes.{}.Conv2d{}Context"
# The tutorial's operators. In the tutorial the last layer is addmm, after a reshape that needs sizes; in later versions of PyTorch both are
# one operator.
TUTORIAL = ["aten::adaptive_avg_pool2d", "aten::add.Tensor", "aten::flatten.using_ints", "metal::copy_to_host", "metal_prepack::conv2d_run",
            "metal_prepack::linear_run"]


def optimize(taper, model, out, backend, *options):
    p = subprocess.run([taper, "optimize", model, "-o", out, "--backend", backend, *options], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return out


def attributes(path):
    archive = zipfile.ZipFile(path)
    return tree(archive, names(archive)[0] + "data.pkl").state


def operators(path):
    archive = zipfile.ZipFile(path)
    program = tree(archive, names(archive)[0] + "bytecode.pkl")
    return [f"{op[0]}.{op[1]}" if op[1] else op[0] for op in dict(program[1][1])["operators"]]


def states(path):
    """Returns the packed objects of an archive, as lists, by their class."""
    found = {}
    for value in attributes(path).values():
        if hasattr(value, "text") and value.text.startswith("__torch__.torch.classes."):
            state = value.state
            found.setdefault(value.text, []).append(list(state) if isinstance(state, tuple) else list(state.arguments[0]))
    return found


def run(taper, model, inputs, out):
    for i, x in enumerate(inputs):
        np.save(os.path.join(out, f"{i}.npy"), x.numpy())
    result = os.path.join(out, "result.npz")
    given = [word for i in range(len(inputs)) for word in ("-i", os.path.join(out, f"{i}.npy"))]
    subprocess.run([taper, "run", model, *given, "-o", result], check=True)
    with np.load(result) as archive:
        return [archive[key] for key in sorted(archive.files)]


def close(wanted, got):
    return len(wanted) == len(got) and all(np.abs(a - b).max() <= 1e-4 * np.abs(a).max() + 1e-5 for a, b in zip(wanted, got))


# ---- cases: each yields its errors

def samples(taper, folder, out):
    for sample, backend, form in (("s13_vulkan", "vulkan", "Packed"), ("s14_metal", "metal", "Op")):
        source, wanted = os.path.join(folder, "s01_convnet.pt"), os.path.join(folder, sample + ".ptl")
        if not os.path.exists(wanted) or not os.path.exists(source):
            print(f"skipped {sample}: not among the samples")
            continue
        plain = optimize(taper, source, os.path.join(out, backend + ".ptl"), backend, "--disable", "fuse_clamp")
        a, b = attributes(wanted), attributes(plain)
        if list(a) != list(b):
            yield f"{sample}: attributes {list(b)}, wanted {list(a)}"
        for name in a:
            if a[name] != b.get(name) or type(a[name]) is not type(b.get(name)) or repr(a[name]) != repr(b[name]):
                yield f"{sample}: {name} is {b.get(name)}, wanted {a[name]}"
        # Fusing relu6 must set the bounds of the layer's state, as floats, and keep all fields except the bounds.
        fused = states(optimize(taper, source, plain, backend))[CONV.format(backend, form)]
        first = list(states(wanted)[CONV.format(backend, form)][0])
        if repr(fused[0]) != repr(first[:-2] + [0.0, 6.0]):
            yield f"{sample}: with bounds {fused[0]}"
        unknown = [op for op in operators(plain) if op not in operators(wanted) + ["metal::copy_to_host"]]
        if unknown:
            yield f"{sample}: operators {unknown}, which PyTorch does not write"


class Layers(torch.nn.Module):
    """Layers for the check of the fields that packed contexts have after the weights: bounds, output padding, no bias."""

    def __init__(self):
        super().__init__()
        self.a = torch.nn.Conv2d(3, 4, 3, padding=(1, 2), stride=2)
        self.b = torch.nn.Conv2d(4, 4, 1, bias=False, groups=2)
        self.t = torch.nn.ConvTranspose2d(4, 4, 3, 2, 1, output_padding=1)
        self.linear = torch.nn.Linear(4, 5)

    def forward(self, x):
        y = torch.nn.functional.hardtanh(self.b(torch.relu(self.a(x))), -1., 2.)
        y = torch.relu(self.t(y))
        return y, torch.relu(self.linear(y.mean([2, 3])))


def layers(taper, _, out):
    module = torch.jit.script(Layers().eval())
    source, x = os.path.join(out, "layers.pt"), torch.randn(1, 3, 9, 8)
    module.save(source)
    wanted = [t.detach().numpy() for t in module(x)]
    tails = {  # fields of the states after the weights; None if the class has no such object
        "vulkan": ([[[2, 2], [1, 2], [1, 1], False, False, [0], 1, 0.0, None], [[1, 1], [0, 0], [1, 1], False, False, [0], 2, -1.0, 2.0],
                    [[2, 2], [1, 1], [1, 1], True, False, [1, 1], 1, 0.0, None]], []),
        "metal": ([[[2, 2], [1, 2], [1, 1], 1, 0.0, None], [[1, 1], [0, 0], [1, 1], 2, -1.0, 2.0]], [0.0, None])}
    for backend, form, linear in (("vulkan", "Packed", "LinearPackedContext"), ("metal", "Op", "LinearOpContext")):
        made = optimize(taper, source, os.path.join(out, "layers.ptl"), backend)
        found = states(made)
        got = [[i.arguments[0] if hasattr(i, "text") else i for i in s[2:]] for s in found[CONV.format(backend, form)]]
        if repr(got) != repr(tails[backend][0]):
            yield f"layers for {backend}: {got}"
        got = found["__torch__.torch.classes.{}.{}".format(backend, linear)][0][2:]
        if repr(got) != repr(tails[backend][1]):
            yield f"layers for {backend}: linear {got}"
        if not close(wanted, run(taper, made, [x], out)):
            yield f"layers for {backend}: other results"


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(4, 3, 2, batch_first=True)
        self.lstm = torch.nn.LSTM(4, 3, 1, batch_first=True)
        # Vulkan does not support bidirectional layers, so this layer must stay unchanged.
        self.both = torch.nn.GRU(4, 3, 1, batch_first=True, bidirectional=True)

    def forward(self, x, h, c):
        a, b = self.gru(x, h)
        d, (e, f) = self.lstm(x, (h[:1], c))
        return a, b, d, e, f, self.both(x, h)[0]


def recurrent(taper, _, out):
    module = torch.jit.script(Recurrent().eval())
    source, inputs = os.path.join(out, "recurrent.pt"), [torch.randn(2, 5, 4), torch.randn(2, 2, 3), torch.randn(1, 2, 3)]
    module.save(source)
    made = optimize(taper, source, os.path.join(out, "recurrent.ptl"), "vulkan")
    found = {name: [s[1:] for s in many] for name, many in states(made).items()}
    if repr(found) != repr({"__torch__.torch.classes.vulkan.GruPackedContext": [[True, 2, 0.0, False, False, True]],
                            "__torch__.torch.classes.vulkan.LstmPackedContext": [[True, 1, 0.0, False, False, True]]}):
        yield f"recurrent: states {found}"
    if not {"vulkan_prepack::run_gru_context", "vulkan_prepack::run_lstm_context", "aten::gru.input"} <= set(operators(made)):
        yield f"recurrent: operators {operators(made)}"
    if not close([t.detach().numpy() for t in module(*inputs)], run(taper, made, inputs, out)):
        yield "recurrent: other results"


def tutorial(taper, _, out):
    try:
        import torchvision
    except ImportError:
        print("skipped the tutorial: torchvision is missing")
        return
    module = torch.jit.script(torchvision.models.mobilenet_v2().eval())
    source, x = os.path.join(out, "mobilenet.pt"), torch.rand(1, 3, 64, 64)
    module.save(source)
    made = optimize(taper, source, os.path.join(out, "mobilenet.ptl"), "metal")
    listed = subprocess.run([taper, "ops", made], capture_output=True, text=True, check=True).stdout.split()
    if listed != TUTORIAL:
        yield f"the tutorial: operators {listed}"
    if not close([module(x).detach().numpy()], run(taper, made, [x], out)):
        yield "the tutorial: other results"


def main():
    taper, folder = sys.argv[1:3]
    torch.manual_seed(0)
    cases, wrong = (samples, layers, recurrent, tutorial), []
    with tempfile.TemporaryDirectory() as out, torch.no_grad():
        for case in cases:
            wrong += list(case(taper, folder, out))
    for line in wrong:
        print("FAILED " + line)
    print(f"{len(cases)} cases, {len(wrong)} differing")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
