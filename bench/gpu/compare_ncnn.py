#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare_ncnn.py TAPER FOLDER [--models NAME,…] [--rounds N]: compares Taper's Vulkan backend with ncnn's on the same driver. Taper and ncnn run
in turns for each model. FOLDER has NAME.pt, NAME.ncnn.param and NAME.input (made by bench/compare/compare.py). ncnn runs in its own process
(--ncnn PYTHON with the wheel `ncnn`). Prints the smallest time of Taper and of ncnn, and the median of the ratios."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PEER = r"""
import sys, time
import ncnn, numpy
model, path = sys.argv[1], sys.argv[2]
net = ncnn.Net()
net.opt.use_vulkan_compute = True
net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_fp16_packed = False
net.opt.num_threads = 2
net.load_param(model + ".ncnn.param"); net.load_model(model + ".ncnn.bin")
x = numpy.load(path)[0]
def run():
    ex = net.create_extractor()
    ex.input("in0", ncnn.Mat(x))
    return numpy.array(ex.extract("out0")[1])
run()
numpy.save(sys.argv[3], run())
print("ready", flush=True)
for line in sys.stdin:
    begin = time.perf_counter(); run(); print(time.perf_counter() - begin, flush=True)
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("folder")
    parser.add_argument("--ncnn", default="python3")
    parser.add_argument("--models", default="mobilenet_v2,resnet18,resnet50")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="vulkan:llvmpipe!")
    args = parser.parse_args()
    import numpy
    scratch = tempfile.mkdtemp()
    print(f"{'model':20} {'taper ms':>9} {'ncnn ms':>9} {'ratio':>6}")
    for name in args.models.split(","):
        base = os.path.join(args.folder, name)
        size = int((os.path.getsize(base + ".input") // 12) ** 0.5)
        x, y = os.path.join(scratch, "x.npy"), os.path.join(scratch, "y.npy")
        numpy.save(x, numpy.fromfile(base + ".input", dtype="f4").reshape(1, 3, size, size))
        peer = subprocess.Popen([args.ncnn, "-c", PEER, base, x, y], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while peer.stdout.readline().strip() != "ready":
            if peer.poll() is not None:
                sys.exit(f"ncnn cannot run {name}")
        mine, other = [], []
        out = os.path.join(scratch, "out.npz")
        subprocess.run([args.taper, "run", base + ".pt", "-i", x, "-o", out, "--device", args.device], check=True, capture_output=True)
        got, want = numpy.load(out), numpy.load(y)
        got = got[got.files[0]]
        error = abs(got.reshape(-1) - want.reshape(-1)).max() / abs(want).max()
        for _ in range(args.rounds):
            begin = time.perf_counter()
            text = subprocess.run([args.taper, "bench", base + ".pt", "-i", x, "--device", args.device, "--iter", "5", "--json"], check=True,
                                  capture_output=True, text=True).stdout

            mine.append(json.loads(text)["min_ms"])
            times = []
            for _ in range(5):
                peer.stdin.write("\n")
                peer.stdin.flush()
                times.append(1e3 * float(peer.stdout.readline()))
            other.append(min(times))
        peer.stdin.close()
        ratio = statistics.median(a / b for a, b in zip(mine, other))
        print(f"{name:20} {min(mine):9.1f} {min(other):9.1f} {ratio:6.2f}   outputs apart {error:.1e}", flush=True)


main()
