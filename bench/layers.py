#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""layers.py TAPER [--seed S] [--count N] [--only 3,17] [--rounds R] [--over RATIO] [--save FILE.json] [--any-blas]

Measures random layers (layer_draw.py), one per row, in Taper and in PyTorch's JIT with the module frozen. Both have the same file and inputs and
one thread, and alternate. The time of a side is the minimum of R rounds. Results are compared first. Rows with a ratio above --over are printed
immediately. At the end the script prints the numbers of rows above 1.0, 1.05 and 1.3, and the rows above 1.0 from the slowest on. These rows are
measured again with three times the rounds, so that a disturbed row is not counted. Pin the script to a core (taskset -c 1). Needs python3-torch
with an optimized BLAS (torch_blas.py)."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch

import layer_draw
import torch_blas
from operators import Operator, arrays, same

WORKER = r"""
import json, sys, time
import numpy as np, torch
torch.set_num_threads(1)
now = time.perf_counter
path = None
for line in sys.stdin:
    new, *files = json.loads(line)
    if new != path:
        path = new
        m = torch.jit.freeze(torch.jit.load(path).eval())
        x = [torch.from_numpy(np.load(p)) for p in files]
    least, count, begin = 1e9, 0, now()
    with torch.inference_mode():
        for _ in range(5):
            m(*x)
        while count < 15 or (now() - begin < 0.06 and count < 1000):
            t = now(); m(*x); least = min(least, now() - t); count += 1
    print(json.dumps(least * 1e6), flush=True)
"""


class Peer:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL, env=torch_blas.environment(1))

    def time(self, path, files):
        self.process.stdin.write(json.dumps([path, *files]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def ours(taper, path, files, count):
    command = [taper, "bench", path, "--threads", "1", "--json", "--warmup", "5", "--iter", str(count)]
    p = subprocess.run(command + [part for file in files for part in ("-i", file)], check=True, capture_output=True, text=True)
    return json.loads(p.stdout)["min_ms"] * 1e3


def nearly(got, want, quantum):
    """Returns true if the floats of quantized results differ by at most one quantum, in at most 1% of the elements, because ties may be rounded
    differently."""
    apart = np.abs(got - want)
    return got.shape == want.shape and np.max(apart, initial=0) <= 1.01 * quantum and np.count_nonzero(apart > quantum / 2) <= got.size / 100


def quantum_of(module):
    """Returns the scale of a quantized layer's result, if it is quantized."""
    inner = module.inner if isinstance(module, layer_draw.Quantized) else None
    return None if inner is None else getattr(inner, "scale", 0.1)  # the result's scale; a function without an attribute `scale` has at most this scale


def prepare(arguments, folder, module, inputs):
    """Returns the files of the model and of the inputs, None if PyTorch cannot run the layer, or an error text if the results of Taper and PyTorch
    differ."""
    operator, quantum = Operator(module, inputs).eval(), quantum_of(module)
    inputs = operator.stored(inputs)
    path = os.path.join(folder, "layer.pt")
    try:
        with torch.no_grad():
            traced = torch.jit.trace(operator, tuple(inputs), check_trace=False)
            want = arrays(traced(*inputs))
    except RuntimeError as reason:
        return None, str(reason).splitlines()[0]
    traced.save(path)
    files = []
    for i, x in enumerate(inputs):
        files.append(os.path.join(folder, f"{i}.npy"))
        np.save(files[-1], x.numpy())
    out = os.path.join(folder, "out.npz")
    p = subprocess.run([arguments.taper, "run", path, *[part for file in files for part in ("-i", file)], "--threads", "1", "-o", out], capture_output=True, text=True)
    if p.returncode != 0:
        return None, p.stderr.strip()[-300:]
    got = list(np.load(out).values())
    if len(got) != len(want) or not all(same(g, w) or quantum is not None and nearly(g, w, quantum) for g, w in zip(got, want)):
        return None, "results differ"
    return (path, files), None


def measure(arguments, peer, path, files, rounds):
    least, theirs = 1e9, 1e9
    for _ in range(rounds):
        theirs = min(theirs, peer.time(path, files))
        least = min(least, ours(arguments.taper, path, files, int(min(1000, max(15, 6e4 / theirs)))))
    return least, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--only", type=lambda text: {int(t) for t in text.split(",")}, help="rows of the draw, by number")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--over", type=float, default=1.0)
    parser.add_argument("--save", help="a file of JSON for all rows")
    parser.add_argument("--any-blas", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch_blas.require(arguments.any_blas)
    peer, rows, left = Peer(), [], []
    for number, (text, module, inputs) in enumerate(layer_draw.layers(arguments.seed, arguments.count)):
        if arguments.only and number not in arguments.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found, reason = prepare(arguments, folder, module, inputs)
            if found is None:
                left.append((number, text, reason))
                print(f"{number:4} {text}: left out, {reason}", flush=True)
                continue
            mine, theirs = measure(arguments, peer, *found, arguments.rounds)
            if mine > theirs:
                again = measure(arguments, peer, *found, 3 * arguments.rounds)
                mine, theirs = min(mine, again[0]), min(theirs, again[1])
        rows.append((mine / theirs, number, text, mine, theirs))
        if mine / theirs > arguments.over:
            print(f"{number:4} {text}: {mine:.1f} us, {theirs:.1f} us, {mine / theirs:.2f}", flush=True)
        elif sys.stderr.isatty():
            print(f"\r{number + 1} of {arguments.count}", end="", file=sys.stderr, flush=True)
    ratios = [row[0] for row in rows]
    if arguments.save:
        with open(arguments.save, "w") as file:
            json.dump(rows, file, indent=0)
    print(f"seed {arguments.seed}: {len(rows)} layers, {len(left)} left out; median of ratios {statistics.median(ratios):.2f}, above 1.0: "
          f"{sum(r > 1 for r in ratios)}, above 1.05: {sum(r > 1.05 for r in ratios)}, above 1.3: {sum(r > 1.3 for r in ratios)}")
    for ratio, number, text, mine, theirs in sorted(rows, reverse=True):
        if ratio > 1:
            print(f"    {ratio:5.2f}  {number:4} {text} ({mine:.1f} us)")


if __name__ == "__main__":
    main()
