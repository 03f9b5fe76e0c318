#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""python_calls.py BUILD [ROUNDS]: compares the time of a call from Python in Taper and in torch.jit, and the time of the same runs in C (`taper
bench`).

The three programs use one thread each, and run in turns. A figure is the median of the rounds' medians, in microseconds."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

build, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
sys.path.insert(0, os.path.join(build, "python"))
import numpy as np
import torch

import taper

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CASES = [("tests/data/python/values.pt", (4,)), ("tests/data/samples/s01_convnet.pt", (1, 3, 10, 12)), ("tests/data/python/small.pt", (1, 3, 8, 8)),
         ("examples/demo/classifier.pt", (1, 3, 96, 96))]
torch.set_num_threads(1)


def each(call, seconds=0.1):
    """Returns the microseconds of a call: the median over small batches, as `taper bench` reports the median of its runs."""
    begin = time.perf_counter()
    call()
    batch = max(1, min(20, int(1e-4 / (time.perf_counter() - begin))))
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - begin) / batch)
    return 1e6 * statistics.median(times)


print(f"{'':36} {'torch.jit':>10} {'taper':>10} {'in C':>10}   taper - C, torch/taper")
with tempfile.TemporaryDirectory() as folder:
    for path, shape in CASES:
        path = os.path.join(SOURCE, path)
        array = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.save(folder + "/x.npy", array)
        theirs, ours, x = torch.jit.load(path).eval(), taper.load(path, threads=1, evaluation=True), torch.from_numpy(array)
        times = {"torch": [], "taper": [], "c": []}
        with torch.no_grad():
            for _ in range(200):
                theirs(x), ours(array)
            for _ in range(rounds):
                times["torch"].append(each(lambda: theirs(x)))
                times["taper"].append(each(lambda: ours(array)))
                bench = subprocess.run([build + "/bin/taper", "bench", path, "-i", folder + "/x.npy", "--threads", "1", "--warmup", "50", "--iter", "2000", "--json"],
                                       capture_output=True, text=True, check=True)
                times["c"].append(1e3 * json.loads(bench.stdout)["median_ms"])
        t, o, c = (statistics.median(times[key]) for key in ("torch", "taper", "c"))
        print(f"{os.path.basename(path):36} {t:10.2f} {o:10.2f} {c:10.2f}   {o - c:6.2f}   {t / o:6.2f}", flush=True)
