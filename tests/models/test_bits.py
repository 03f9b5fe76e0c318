#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_bits.py TAPER [--verbose]

After an operator, a quantizer turns a different last bit into a different integer. This test runs operators that occur before quantizers. If
PyTorch's two builds for x86, with AVX2 and without, give the same bits, Taper must give these bits too: the order of additions is then PyTorch's
choice and not a compiler's. OTHERWISE lists the exceptions with their reasons; a line without a differing case must be removed."""
import os
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
try:
    import numpy as np
    import torch
    import torchvision  # noqa: F401
except ImportError:
    print("skipped: PyTorch 1.13 and torchvision (python3-torch, python3-torchvision) are not installed")
    sys.exit(77)

SOURCES, INPUTS = {}, {}


def case(name, body, *inputs):
    """Adds a case. body: an expression of x0, x1, …. If the name contains "channels last", x0 has that format."""
    types = ", ".join(f"x{i}: Tensor" for i in range(len(inputs)))
    order = "    x0 = x0.contiguous(memory_format=torch.channels_last)\n" if "channels last" in name else ""
    SOURCES[name] = f"def forward(self, {types}):\n{order}    return {body}\n"
    INPUTS[name] = inputs


def some(*sizes):
    """Returns pixels like those of a picture: 8-bit numbers divided by 255."""
    return torch.randint(0, 256, sizes, generator=torch.Generator().manual_seed(sum(sizes))).float() / 255


def signed(*sizes):
    return torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes)))


def rois(count, height, width, batch):
    g = torch.Generator().manual_seed(count)
    a, b = torch.rand(count, 2, generator=g) * torch.tensor([width, height]) * 0.6, torch.rand(count, 2, generator=g) * torch.tensor([width, height]) * 0.5
    return torch.cat([torch.randint(0, batch, (count, 1), generator=g).float(), a, a + b + 1], 1)


for last in False, True:
    form = ", channels last" if last else ""
    x, y = some(2, 3, 96, 80), some(1, 16, 33, 29)
    for scale in 0.5, 0.25, 2.0, 0.35, 1.7:
        for mode in "nearest", "nearest-exact", "bilinear", "bicubic", "area":
            align = ", align_corners=False" if mode.startswith("bi") else ""
            case(f"{mode} by {scale}{form}", f'torch.nn.functional.interpolate(x0, scale_factor={scale}, mode="{mode}"{align})', x)
    for size in (48, 40), (64, 64), (19, 200):
        for mode in "bilinear", "bicubic":
            case(f"{mode} to {size}{form}", f'torch.nn.functional.interpolate(x0, size={list(size)}, mode="{mode}", align_corners=True)', x)
            case(f"{mode} to {size}, antialias{form}", f'torch.nn.functional.interpolate(x0, size={list(size)}, mode="{mode}", antialias=True)', x)
    for window, stride, padding in (2, 2, 0), (3, 2, 1), (3, 1, 1), (7, 7, 0), (5, 2, 2):
        for count in "True", "False":
            case(f"avg_pool2d {window}, {stride}, {padding}, {count}{form}", f"torch.nn.functional.avg_pool2d(x0, {window}, {stride}, {padding}, False, {count})", y)
    for size in 1, 2, 7, (5, 3):
        case(f"adaptive_avg_pool2d {size}{form}", f"torch.nn.functional.adaptive_avg_pool2d(x0, {list(size) if isinstance(size, tuple) else size})", y)
    for dims in [2, 3], [1], [3], [2], [0, 2, 3]:
        case(f"mean {dims}{form}", f"torch.mean(x0, {dims})", y)
        case(f"sum {dims}{form}", f"torch.sum(x0, {dims})", y)
    for mode in "bilinear", "nearest", "bicubic":
        for padding in "zeros", "border", "reflection":
            case(f"grid_sample {mode}, {padding}{form}", f'torch.nn.functional.grid_sample(x0, x1, mode="{mode}", padding_mode="{padding}", align_corners=False)',
                 x, signed(2, 31, 27, 2).clamp(-1.3, 1.3))
    case(f"batch_norm{form}", "torch.nn.functional.batch_norm(x0, x1, x2, x3, x1)", y, some(16), some(16) + 0.5, signed(16))
    case(f"group_norm{form}", "torch.nn.functional.group_norm(x0, 4, x1, x2)", y, some(16), signed(16))
    case(f"instance_norm{form}", "torch.nn.functional.instance_norm(x0)", y)
    case(f"softmax 1{form}", "torch.softmax(x0, 1)", y)
    case(f"prelu{form}", "torch.prelu(x0, x1)", signed(1, 16, 9, 9), signed(16))
x = signed(1, 8, 40, 50)
for ratio in -1, 2:
    for aligned in "False", "True":
        for scale in 1.0, 0.25:
            case(f"roi_align {ratio}, {aligned}, {scale}", f"torch.ops.torchvision.roi_align(x0, x1, {scale}, 7, 7, {ratio}, {aligned})", x, rois(20, 40 / scale, 50 / scale, 1))
case("roi_pool", "torch.ops.torchvision.roi_pool(x0, x1, 1.0, 7, 7)[0]", x, rois(20, 40, 50, 1))
case("ps_roi_align", "torch.ops.torchvision.ps_roi_align(x0, x1, 1.0, 2, 2, 2)[0]", x, rois(20, 40, 50, 1))
case("ps_roi_pool", "torch.ops.torchvision.ps_roi_pool(x0, x1, 1.0, 2, 2)[0]", x, rois(20, 40, 50, 1))
case("linear by 1.7", 'torch.nn.functional.interpolate(x0, scale_factor=1.7, mode="linear", align_corners=False)', some(2, 5, 77))
case("linear by 0.5", 'torch.nn.functional.interpolate(x0, scale_factor=0.5, mode="linear", align_corners=False)', some(2, 5, 78))
case("trilinear by 0.5", 'torch.nn.functional.interpolate(x0, scale_factor=0.5, mode="trilinear", align_corners=False)', some(1, 3, 12, 14, 10))
case("trilinear by 2", 'torch.nn.functional.interpolate(x0, scale_factor=2.0, mode="trilinear", align_corners=False)', some(1, 3, 12, 14, 10))
case("avg_pool1d", "torch.nn.functional.avg_pool1d(x0, 3, 2, 1)", some(2, 5, 77))
case("avg_pool3d", "torch.nn.functional.avg_pool3d(x0, 3, 2, 1)", some(1, 3, 12, 14, 10))
for width in 10, 100, 1000:
    z = signed(50, width)
    case(f"softmax of {width}", "torch.softmax(x0, -1)", z)
    case(f"log_softmax of {width}", "torch.log_softmax(x0, -1)", z)
    case(f"layer_norm of {width}", f"torch.nn.functional.layer_norm(x0, [{width}])", z)
    case(f"mean of {width}", "torch.mean(x0, -1)", z)
    case(f"mean of 50 x {width}", "torch.mean(x0, 0)", z)
    case(f"var of {width}", "torch.var(x0, -1)", z)
    case(f"cumsum of {width}", "torch.cumsum(x0, -1)", z)
for name in "sigmoid", "tanh", "exp", "nn.functional.gelu", "nn.functional.silu", "nn.functional.hardswish", "nn.functional.hardsigmoid", "nn.functional.elu", "nn.functional.mish", \
        "nn.functional.leaky_relu", "nn.functional.softplus", "sqrt", "rsqrt", "log", "reciprocal":
    case(name, f"torch.{name}(x0)", signed(3000).abs() if name in ("sqrt", "rsqrt", "log") else signed(3000) * 2)

OTHERWISE = [
    (r"(mean|sum) ", "PyTorch's order follows its vectors and the blocks of its cascade; sums here are closer to float64's (test_accuracy.py)"),
    (r"adaptive_avg_pool2d 1($|,)", "it is a mean"),
    (r"bilinear .*, channels last", "along rows first, as planes are: PyTorch adds vectors of eight channels from the last pixel on, and channels behind them in doubles"),
    (r"area by 0.35, channels last", "PyTorch divides channels behind its vectors twice, others once"),
    (r"trilinear by 0.5", "the rows of both depths are weighted before they are added"),
    (r"nn.functional.gelu", "another polynomial for erf(); both are within two units in the last place"),
    (r"nn.functional.hard", "a product with 1/6 instead of a quotient, which would take 4 % of MobileNetV3's time"),
]


def answers(folder):
    """Returns PyTorch's results, with this process's build of its kernels."""
    torch.set_num_threads(1)
    found = {}
    for i, name in enumerate(SOURCES):
        module = torch.jit.load(os.path.join(folder, f"{i}.pt"))
        with torch.no_grad():
            inputs = [torch.from_numpy(np.load(os.path.join(folder, f"{i}_{k}.npy"))) for k in range(len(INPUTS[name]))]  # inputs come from files, because randn() could give other bits in this process
            found[str(i)] = module(*inputs).contiguous().numpy()
    np.savez(os.path.join(folder, os.environ["ATEN_CPU_CAPABILITY"] + ".npz"), **found)


def bits(a):
    return np.ascontiguousarray(a).view(np.int32)


def main():
    taper, verbose = sys.argv[1], "--verbose" in sys.argv
    passed = failed = 0
    met = set()
    with tempfile.TemporaryDirectory() as folder:
        for i, name in enumerate(SOURCES):
            module = type(f"Case{i}", (torch.jit.ScriptModule,), {})()
            module.define(SOURCES[name])
            module.save(os.path.join(folder, f"{i}.pt"))
            for k, x in enumerate(INPUTS[name]):
                np.save(os.path.join(folder, f"{i}_{k}.npy"), x.numpy())
        for build in "avx2", "default":
            subprocess.run([sys.executable, __file__, "--answers", folder], env=os.environ | {"ATEN_CPU_CAPABILITY": build}, check=True)
        with np.load(os.path.join(folder, "avx2.npz")) as a, np.load(os.path.join(folder, "default.npz")) as b:
            for i, name in enumerate(SOURCES):
                options = [o for k in range(len(INPUTS[name])) for o in ("-i", os.path.join(folder, f"{i}_{k}.npy"))]
                subprocess.run([taper, "run", os.path.join(folder, f"{i}.pt"), *options, "-o", os.path.join(folder, "o.npz")], check=True, capture_output=True)
                with np.load(os.path.join(folder, "o.npz")) as ours:
                    got = ours[ours.files[0]]
                want, other = a[str(i)], b[str(i)]
                agree = bits(want) == bits(other)
                differ = int((agree & (bits(got) != bits(want))).sum()) if agree.all() else 0
                listed = [line for line, _ in OTHERWISE if re.match(line, name)]
                met |= set(listed) if differ else set()
                good = differ == 0 or listed
                passed, failed = passed + bool(good), failed + (not good)
                if verbose and not agree.all():
                    print(f"{name}: PyTorch's builds differ in {int((~agree).sum())} of {want.size}")
                elif not good or verbose:
                    print(f"{'' if good else 'FAILED '}{name}: {differ} of {int(agree.sum())} results differ where PyTorch's builds agree ({want.size} in all; "
                          f"{int((bits(got) != bits(want)).sum())} from AVX2's, {int((bits(got) != bits(other)).sum())} from the plain build's)")
    for line, _ in OTHERWISE:
        if line not in met:
            failed += 1
            print(f"FAILED OTHERWISE has {line}, of which no case differs")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    if sys.argv[1] == "--answers":
        answers(sys.argv[2])
    else:
        sys.exit(main())
