#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare_optimize.py TAPER MODEL.pt [--rounds R]

Compares the command `taper optimize MODEL.pt` with loading the model, optimize_for_mobile and _save_for_lite_interpreter in a running PyTorch.
Taper and PyTorch alternate. Prints the medians of wall time and processor time, and the medians of the ratios in the rounds."""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
import torch
from torch.utils.mobile_optimizer import optimize_for_mobile

torch.set_num_threads(1)


def processor(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def taper(program, model, out):
    """Returns the (wall, processor) seconds of the command."""
    before, start = processor(resource.RUSAGE_CHILDREN), time.perf_counter()
    p = subprocess.run([program, "optimize", model, "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if p.returncode != 0:
        sys.exit(p.stderr)
    return time.perf_counter() - start, processor(resource.RUSAGE_CHILDREN) - before


def pytorch(model, out):
    before, start = processor(resource.RUSAGE_SELF), time.perf_counter()
    optimize_for_mobile(torch.jit.load(model))._save_for_lite_interpreter(out)
    return time.perf_counter() - start, processor(resource.RUSAGE_SELF) - before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=5)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.ptl")
        pytorch(a.model, out)  # the first call loads modules of PyTorch and is not measured
        rounds = [(taper(a.taper, a.model, out), pytorch(a.model, out)) for _ in range(a.rounds)]
    for k, what in enumerate(("wall", "processor")):
        ours, theirs = [r[0][k] * 1e3 for r in rounds], [r[1][k] * 1e3 for r in rounds]
        ratio = statistics.median(t / o for o, t in zip(ours, theirs))
        print(f"{what}: taper {statistics.median(ours):.0f} ms, PyTorch {statistics.median(theirs):.0f} ms, ratio {ratio:.1f}")


if __name__ == "__main__":
    main()
