#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_conv_algorithms.py TAPER

Compares convolutions of 3x3 with stride 1 and 2, computed by the algorithm that Taper chooses, and transposed convolutions, with results in
float64. The largest error may be twice the error of direct sums (--memory low), and the result must be within the usual tolerance of PyTorch's.
Covers sizes that fill tiles and that do not, paddings, dilations, batches, few and many channels, operators that are fused after a layer, one to
24 threads, infinities and NaN in the input, and the kernels that ops --config lists. Each of Winograd's algorithms must be chosen by some case,
and none with --memory low."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
warnings.filterwarnings("ignore")
try:
    import numpy as np
    import torch
    from torch import nn
except ImportError:
    print("skipped: PyTorch 1.13 (python3-torch) is not installed")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling  # noqa: E402


class Layer(nn.Module):
    def __init__(self, i, o, padding, dilation, norm, add, act, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, stride, padding=padding, dilation=dilation, bias=not norm)
        self.norm = nn.BatchNorm2d(o) if norm else nn.Identity()
        self.add, self.act = add, act
        if norm:
            nn.init.uniform_(self.norm.weight, 0.5, 2)
            nn.init.uniform_(self.norm.running_var, 0.5, 2)
            nn.init.uniform_(self.norm.running_mean, -1, 1)

    def forward(self, x):
        y = self.norm(self.conv(x))
        if self.add:
            y = y + x
        return y if self.act is None else torch.relu(y) if self.act == "relu" else torch.clamp(y, 0.0, 6.0) if self.act == "six" else \
            torch.nn.functional.silu(y)


def cases():
    """Yields (in, out, height, width, batch, padding, dilation, norm, add, act, stride)."""
    yield 64, 64, 56, 56, 1, 1, 1, True, True, "relu"
    yield 128, 128, 28, 28, 1, 1, 1, True, True, "relu"
    yield 256, 256, 14, 14, 1, 1, 1, False, False, None
    yield 512, 512, 7, 7, 1, 1, 1, True, False, "relu"
    yield 256, 64, 14, 14, 1, 1, 1, True, False, "relu"
    yield 512, 512, 28, 28, 1, 2, 2, True, False, "relu"
    yield 128, 256, 29, 31, 1, 1, 1, False, False, "six"
    yield 256, 128, 17, 18, 2, 0, 1, True, False, "silu"
    yield 144, 208, 20, 20, 1, 2, 1, False, False, None
    yield 128, 128, 28, 28, 1, 2, 2, True, True, "relu"
    yield 256, 256, 33, 35, 1, 4, 4, False, False, "relu"
    yield 512, 256, 28, 28, 1, 12, 12, True, False, "relu"
    # These weights are larger than any cache, and many tiles read them several times.
    yield 512, 208, 65, 65, 1, 12, 12, True, False, "relu"
    yield 320, 272, 81, 79, 1, 1, 1, False, False, "six"
    yield 256, 256, 28, 28, 1, 24, 24, True, False, "relu"
    yield 256, 64, 28, 28, 1, 36, 36, True, False, "relu"
    yield 128, 128, 40, 24, 3, (1, 2), (1, 2), False, False, None
    yield 160, 160, 19, 23, 1, (3, 0), (2, 3), True, False, "six"
    yield 32, 32, 112, 112, 1, 1, 1, True, False, "relu"
    yield 96, 100, 30, 30, 1, 1, 1, False, False, "relu"
    yield 200, 136, 13, 50, 1, 1, 1, False, False, "silu"
    yield 48, 80, 64, 33, 1, 1, 1, True, False, "six"
    yield 16, 16, 90, 90, 2, 1, 1, False, True, "relu"
    yield 64, 128, 56, 56, 1, 1, 1, True, False, "relu", 2
    yield 128, 256, 28, 28, 1, 1, 1, True, False, "relu", 2
    yield 256, 512, 14, 14, 1, 1, 1, True, False, "relu", 2
    yield 64, 64, 57, 55, 2, 0, 1, False, False, "silu", 2
    yield 32, 48, 61, 90, 1, (2, 1), 1, True, False, "six", 2
    yield 16, 32, 112, 112, 1, 1, 1, True, False, None, 2
    # With few output channels, tiles at the edges are computed whole.
    yield 128, 40, 30, 29, 2, 1, 1, True, False, "relu"
    yield 160, 48, 57, 63, 1, 1, 1, False, False, "six", 2


def transposed_cases():
    """Yields (in, out, height, width, batch, kernel, stride, padding, output padding, dilation, norm)."""
    yield 64, 32, 20, 22, 1, 2, 2, 0, 0, 1, True
    yield 32, 16, 9, 31, 2, 4, 2, 1, 0, 1, True
    yield 16, 24, 13, 7, 1, 3, 2, 1, 1, 1, False
    yield 40, 33, 6, 8, 1, (2, 5), (3, 4), (0, 2), (2, 1), 1, False  # no tap contributes to some outputs
    yield 24, 8, 5, 9, 1, 3, (2, 3), 2, 1, (2, 3), False
    yield 520, 130, 8, 9, 1, 4, 2, 1, 0, 1, True  # the weights are larger than any cache
    yield 64, 3, 16, 16, 1, 4, 2, 1, 0, 1, False


def run(taper, *arguments):
    p = subprocess.run([taper, *arguments], capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(p.stderr.strip()[-300:])
    return p.stdout


def result_of(taper, model, x, scratch, *options):
    np.save(os.path.join(scratch, "x.npy"), x)
    run(taper, "run", model, "-i", os.path.join(scratch, "x.npy"), "-o", os.path.join(scratch, "y.npz"), *options)
    return np.load(os.path.join(scratch, "y.npz"))["output"]


def kernel_of(taper, model, sizes, *options):
    told = json.loads(run(taper, "bench", model, "--input-dims", ",".join(map(str, sizes)), "--iter", "2", "--warmup", "1", "--profile", "--json",
                          *options))
    return next(op["kernel"] for op in told["ops"] if "conv" in op["name"])


def errors(y, wanted):
    off = np.abs(y.astype(np.float64) - wanted)
    return off.max(), np.sqrt(np.square(off).mean()), np.abs(wanted).max()


def main():
    taper, passed, failed, chosen = sys.argv[1], 0, 0, {}

    def check(good, what):
        nonlocal passed, failed
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print("FAILED", what, flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        model = os.path.join(scratch, "m.pt")
        for number, (i, o, h, w, n, padding, dilation, norm, add, act, *stride) in enumerate(cases()):
            if not sampling.taken(number, 0.5):
                continue
            torch.manual_seed(number)
            module, x = Layer(i, o, padding, dilation, norm, add, act, *stride).eval(), torch.randn(n, i, h, w)
            torch.jit.trace(module, x).save(model)
            with torch.no_grad():
                wanted = module.double()(x.double()).numpy()
            y, kernel = result_of(taper, model, x.numpy(), scratch), kernel_of(taper, model, x.shape)
            name = f"{i} to {o}, {n} x {h} x {w}, padding {padding}, dilation {dilation}, stride {(stride or [1])[0]}, {kernel}"
            ours, direct = errors(y, wanted), errors(result_of(taper, model, x.numpy(), scratch, "--memory", "low"), wanted)
            if "--verbose" in sys.argv:
                print(f"{name}: error {ours[0]:.2e}, root mean square {ours[1]:.2e}; {ours[0] / direct[0]:.2f} and {ours[1] / direct[1]:.2f} "
                      "of the direct sums'")
            check(ours[0] <= 2 * direct[0] and ours[0] <= 1e-5 * ours[2],
                  f"{name}: error {ours[0]:.2e}, the direct sums' {direct[0]:.2e}, of {ours[2]:.2e}")
            for threads in "2", "3", "6", "24":
                shared = errors(result_of(taper, model, x.numpy(), scratch, "--threads", threads), wanted)
                check(shared[0] <= 2 * direct[0] and shared[0] <= 1e-5 * shared[2],
                      f"{name}: error {shared[0]:.2e} with {threads} threads, the direct sums' {direct[0]:.2e}, of {shared[2]:.2e}")
            chosen[kernel.split("_")[0]] = chosen.get(kernel.split("_")[0], 0) + 1
            check(not kernel_of(taper, model, x.shape, "--memory", "low").startswith(("f", "s")), name + ": chosen with --memory low too")
            # A NaN or an infinity must reach the outputs whose windows contain it, and no others.
            for special in (float("nan"), float("inf")):
                x[n - 1, i // 2, h // 2, w // 3] = special
                with torch.no_grad():
                    own = module.float()(x).numpy()
                y = result_of(taper, model, x.numpy(), scratch)
                same = np.isnan(own) == np.isnan(y)
                finite = np.isfinite(own) & np.isfinite(y)
                check(same.all() and (np.isfinite(own) == np.isfinite(y)).all() and
                      np.abs(own[finite] - y[finite]).max() <= 1e-4 * np.abs(own[finite]).max() + 1e-5, f"{name}: {special} in the input")
        # Transposed convolutions are computed by phases of the stride. Their errors must not exceed the errors of direct sums, with any number
        # of threads.
        for number, (i, o, h, w, n, kernel, stride, padding, more, dilation, norm) in enumerate(transposed_cases()):
            if not sampling.taken(number, 0.5):
                continue
            torch.manual_seed(number)
            layer = nn.ConvTranspose2d(i, o, kernel, stride, padding, more, dilation=dilation, bias=not norm)
            module, x = nn.Sequential(layer, *([nn.BatchNorm2d(o), nn.ReLU()] if norm else [])).eval(), torch.randn(n, i, h, w)
            name = f"transposed, {i} to {o}, {n} x {h} x {w}, {kernel} by {stride}, padding {padding} and {more}, dilation {dilation}"
            for make in (lambda: torch.jit.trace(module, x), lambda: torch.jit.script(module)):
                make().save(model)
                with torch.no_grad():
                    wanted = module.double()(x.double()).numpy()
                module.float()
                for options in ([], ["--threads", "3"], ["--cpu", "avx2"], ["--cpu", "scalar"]):
                    error, _, magnitude = errors(result_of(taper, model, x.numpy(), scratch, *options), wanted)
                    check(error <= 4e-6 * magnitude, f"{name}, {options}: error {error:.2e} of {magnitude:.2e}")
        # A selective build contains the kernels that are fastest for the groups of its model.
        for channels, groups, planes in (64, 32, True), (64, 8, True), (64, 64, False), (256, 1, False):
            torch.jit.script(nn.Conv2d(channels, channels, 3, 1, 1, groups=groups).eval()).save(model)
            check(("TAPER_USE_conv_planar" in run(taper, "ops", model, "--config")) == planes, f"--config: {channels} channels in {groups} groups")
        for outputs, planes in (1, True), (64, False):
            torch.jit.script(nn.Conv2d(64, outputs, 1).eval()).save(model)
            check(("TAPER_USE_conv_planar" in run(taper, "ops", model, "--config")) == planes, f"--config: pixels to {outputs} channels")
            check(("TAPER_USE_few_outputs" in run(taper, "ops", model, "--config")) == planes, f"--config: few of {outputs} outputs")
    for algorithm in ("f2", "f4", "s4"):
        check(algorithm in chosen or sampling.stride() > 1, f"{algorithm} was never chosen")
    print(f"{passed} passed, {failed} failed; kernels: {chosen}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
