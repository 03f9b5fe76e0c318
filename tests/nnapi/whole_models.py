#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""whole_models.py TAPER FOLDER [NAME…]: runs PyTorch's models on the device "nnapi", with the imitation of each level (FOLDER has
LEVEL/libneuralnetworks.so). Results must be equal to the CPU's: floats within 1e-4 of the largest, integers of quantized results within 1. The
imitation must log no misuse. The number of compiled operations is checked. With "nnapi!" a model runs completely on the device, or the error names
the declined operators."""
import os
import re
import subprocess
import sys
import tempfile
import warnings

LEVELS = (27, 28, 29, 30, 31)


def make_cases():
    """Returns (name, module, inputs, least number of operations that the driver compiles at the highest level of
    NNAPI)."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    torch.manual_seed(11)
    torch.backends.quantized.engine = "qnnpack"

    class Net(nn.Module):
        """A function as a module, with the modules that it calls as submodules."""

        def __init__(self, function, **modules):
            super().__init__()
            self.function = function
            for name, module in modules.items():
                setattr(self, name, module)

        def forward(self, *inputs):
            return self.function(self, *inputs)

    class Bottleneck(nn.Module):
        def __init__(self, i, o, stride):
            super().__init__()
            e = 4 * i
            self.body = nn.Sequential(nn.Conv2d(i, e, 1, bias=False), nn.BatchNorm2d(e), nn.ReLU6(),
                                      nn.Conv2d(e, e, 3, stride, 1, groups=e, bias=False), nn.BatchNorm2d(e), nn.ReLU6(),
                                      nn.Conv2d(e, o, 1, bias=False), nn.BatchNorm2d(o))
            self.stays = stride == 1 and i == o

        def forward(self, x):
            return x + self.body(x) if self.stays else self.body(x)

    def mobilenet():
        return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU6(), Bottleneck(8, 8, 1), Bottleneck(8, 12, 2),
                             Bottleneck(12, 12, 1), nn.Conv2d(12, 24, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))

    def last(module):  # the same inputs in channels-last order
        return Net(lambda self, x: self.m(x.contiguous(memory_format=torch.channels_last)), m=module)

    image = torch.randn(2, 3, 19, 24)
    conv = nn.Conv2d(3, 6, 3, padding=1)
    fire = Net(lambda self, x: torch.cat([F.relu(self.a(F.relu(self.s(x)))), F.relu(self.b(F.relu(self.s(x))))], 1), s=nn.Conv2d(3, 4, 1),
               a=nn.Conv2d(4, 6, 1), b=nn.Conv2d(4, 6, 3, padding=1))
    cases = [("mobilenet", mobilenet(), [image], 15), ("mobilenet channels last", last(mobilenet()), [image], 15), ("fire", fire, [image], 4),
             ("fire channels last", last(fire), [image], 4), ("image out", nn.Sequential(conv, nn.ReLU()), [image], 1),
             ("image out channels last", last(nn.Sequential(conv, nn.ReLU())), [image], 1),
             ("one channel out", nn.Conv2d(3, 1, 3), [image], 1), ("one channel out channels last", last(nn.Conv2d(3, 1, 3)), [image], 1),
             ("two out", Net(lambda self, x: (self.c(x), torch.sigmoid(self.c(x))), c=conv), [image], 2),
             ("two in", Net(lambda self, x, y: self.c(x) + y, c=conv), [image, torch.randn(1, 6, 19, 24)], 2),
             ("pools", Net(lambda self, x: F.max_pool2d(F.avg_pool2d(self.c(x), 2), 3, 2), c=conv), [image], 3),
             ("transposed", nn.Sequential(nn.ConvTranspose2d(3, 4, 3, 2, 1), nn.Hardswish()), [image], 1),
             ("mlp", nn.Sequential(nn.Linear(7, 16), nn.ReLU(), nn.Linear(16, 5), nn.Softmax(-1)), [torch.randn(4, 7)], 3),
             ("upsample", Net(lambda self, x: F.interpolate(self.c(x), size=(38, 48), mode="nearest"), c=conv), [image], 2),
             ("twice the same", Net(lambda self, x: [self.c(x), self.c(x)], c=conv), [image], 1),
             ("mean", Net(lambda self, x: self.c(x).mean([2, 3]), c=conv), [image], 2)]

    class Quantized(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.q, self.m, self.d = torch.quantization.QuantStub(), module, torch.quantization.DeQuantStub()

        def forward(self, x):
            return self.d(self.m(self.q(x)))

    def quantize(module, whole, per_channel=False):
        made = Quantized(module).eval()
        weight = torch.quantization.default_per_channel_weight_observer if per_channel else torch.quantization.default_weight_observer
        made.qconfig = torch.quantization.QConfig(activation=torch.quantization.default_histogram_observer, weight=weight)
        torch.quantization.prepare(made, inplace=True)
        for _ in range(4):
            made(torch.randn_like(image))
        torch.quantization.convert(made, inplace=True)
        return made if whole else Net(lambda self, x: self.m(self.q(x)), q=made.q, m=made.m)

    def small():
        return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 6, 1), nn.ReLU())

    cases += [("int8", quantize(small(), True), [image], 3), ("int8 out", quantize(small(), False), [image], 3),
              ("int8 per channel", quantize(small(), False, True), [image], 3),
              ("int8 per channel, groups", quantize(nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.Conv2d(8, 6, 3, groups=2), nn.ReLU(),
                                                                  nn.Conv2d(6, 6, 3, 2, 2, dilation=2, groups=6)), False, True), [image], 3),
              ("int8 linear", quantize(nn.Sequential(nn.Flatten(), nn.Linear(3 * 19 * 24, 5)), False), [image], 1)]
    return cases


def load(path, shown):
    """Returns the file's arrays by name, and the strides of all its tensors in order."""
    import numpy
    with numpy.load(path) as archive:
        return {key: archive[key] for key in archive.files}, re.findall(r'"strides": \[[^]]*\]', shown)


def differ(got, want):
    import numpy
    (got, got_strides), (want, want_strides) = got, want
    if got_strides != want_strides:
        return f"{got_strides} instead of {want_strides}"
    if got.keys() != want.keys():
        return f"{sorted(got)} instead of {sorted(want)}"
    for key, w in want.items():
        g = got[key]
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"{key}: {g.dtype}{g.shape} instead of {w.dtype}{w.shape}"
        most = numpy.abs(g.astype(float) - w.astype(float)).max() if w.size else 0
        if key.endswith((".scale", ".zero_point")):
            limit = 0
        else:
            limit = 1e-4 * numpy.abs(w).max() + 1e-5 if w.dtype == numpy.float32 else 1
        if not most <= limit:
            return f"{key}: {most} off, {limit} allowed"
    return None


def run(taper, model, inputs, out, *options, level=None, log=None):
    """Returns (the results, the program's output); the results are None if the run failed."""
    env = dict(os.environ)
    if level is not None:
        env.update(LD_LIBRARY_PATH=level, TAPER_NNAPI_DOUBLE_LOG=log)
    words = [taper, "run", model, "-o", out, "--json", "--verbose", *options]
    for path in inputs:
        words += ["-i", path]
    p = subprocess.run(words, env=env, capture_output=True, text=True)
    return (load(out, p.stdout) if p.returncode == 0 else None), p.stderr


def check(taper, folder, scratch, name, module, inputs, least):
    import numpy
    import torch
    failures, kept = [], 0
    model, out, log = (os.path.join(scratch, f) for f in ("m.ptl", "out.npz", "log"))
    paths = []
    for i, x in enumerate(inputs):
        paths.append(os.path.join(scratch, f"in{i}.npy"))
        numpy.save(paths[-1], x.numpy())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(module.eval(), inputs)._save_for_lite_interpreter(model)
    want, said = run(taper, model, paths, out)
    if want is None:
        return [f"{name}: {said}"], 0
    for level in LEVELS:
        here = os.path.join(folder, str(level))
        for device in ("nnapi", "nnapi!"):
            if os.path.exists(log):
                os.remove(log)
            got, said = run(taper, model, paths, out, "--device", device, level=here, log=log)
            operations = sum(int(n) for n in re.findall(r": the driver compiled (\d+) operations", said))
            if got is None and not (device == "nnapi!" and re.search("declined(: | aten::)", said)):
                failures.append(f"{name}, {level}, {device}: {said}")
            elif got is not None and differ(got, want):
                failures.append(f"{name}, {level}, {device}: {differ(got, want)}; {said}")
            if os.path.exists(log):
                failures.append(f"{name}, {level}, {device}: misuse: {open(log).read()[:500]}")
            if device == "nnapi" and level == LEVELS[-1]:
                kept = operations
                if operations < least:
                    failures.append(f"{name}: {operations} operations compiled, not {least}: {said}")
    return failures, kept


def main():
    taper, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    if not os.path.exists(os.path.join(folder, "31", "libneuralnetworks.so")):
        print("skipped: there is no double of NNAPI in this build")
        sys.exit(77)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, module, inputs, least in make_cases():
            if names and name not in names:
                continue
            failures, kept = check(taper, folder, scratch, name, module, inputs, least)
            for failure in failures:
                print(f"FAILED {failure}")
            failed += len(failures) != 0
            passed += len(failures) == 0
            print(f"{name}: {kept} operations")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
