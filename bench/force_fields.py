#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""force_fields.py TAPER [NAME…] [--atoms 100,1000] [--types float32,float64] [--rounds R] [--any-blas]

Measures networks that compute forces by torch.autograd.grad (tests/models/force_fields.py), frozen, in Taper and in PyTorch. Both have the same
file and inputs and one thread, and each run is a new process; the two sides alternate. A process runs the network twice before it measures three
runs. The table has the medians of R rounds: milliseconds of a run, the median of the rounds' ratios, and the peak memory of a side: of the whole
process for Taper, and of the growth since the load of the file began for PyTorch. Pin the script to a core (taskset -c 1). Needs python3-torch
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
os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "models"))
import torch

import force_fields
import torch_blas
from test_force_fields import write

PEER = r"""
import json, sys, time, torch
def peak():
    with open("/proc/self/status") as status:
        return int(next(x for x in status if x.startswith("VmHWM")).split()[1]) / 1024
def clone(v):
    if isinstance(v, torch.Tensor):
        return v.detach().clone()
    return {k: clone(x) for k, x in v.items()} if isinstance(v, dict) else type(v)(clone(x) for x in v)
torch.set_num_threads(1)
inputs = torch.load(sys.argv[2])
before = peak()
module = torch.jit.load(sys.argv[1])
times = []
for _ in range(5):
    own = clone(inputs)
    start = time.perf_counter()
    module(*own)
    times.append(1e3 * (time.perf_counter() - start))
print(json.dumps([sorted(times[2:])[1], peak() - before]))
"""


def run_peer(folder):
    """Returns PyTorch's milliseconds and MB, or None if the process ends, for example because memory is exhausted."""
    command = [sys.executable, "-W", "ignore", "-c", PEER, os.path.join(folder, "model.pt"), os.path.join(folder, "inputs.pt")]
    done = subprocess.run(command, capture_output=True, text=True, env=torch_blas.environment(1))
    return json.loads(done.stdout) if done.returncode == 0 else None


def run_taper(taper, folder, arguments):
    command = [taper, "bench", os.path.join(folder, "model.pt"), "--threads", "1", "--warmup", "2", "--iter", "3", "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    found = json.loads(done.stdout) if done.returncode == 0 else None
    return found and [found["median_ms"], found["peak_rss_kb"] / 1024]


def measure(taper, module, inputs, rounds):
    with tempfile.TemporaryDirectory() as folder:
        torch.jit.freeze(torch.jit.script(module)).save(os.path.join(folder, "model.pt"))
        torch.save(inputs, os.path.join(folder, "inputs.pt"))
        arguments = [word for x in inputs for word in ("-i", json.dumps(write(x, folder)))]
        found = [(run_peer(folder), run_taper(taper, folder, arguments)) for _ in range(rounds)]
    found = [(a, b) for a, b in found if a is not None and b is not None]
    if not found:
        return None
    return [statistics.median(x) for x in ([a[0] for a, _ in found], [b[0] for _, b in found], [b[0] / a[0] for a, b in found],
                                           [a[1] for a, _ in found], [b[1] for _, b in found])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--atoms", default="100,1000")
    parser.add_argument("--types", default="float32,float64")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--any-blas", action="store_true")
    a = parser.parse_args()
    torch_blas.require(a.any_blas)
    print("| network | atoms | type | PyTorch, ms | Taper, ms | ratio | PyTorch, MB | Taper, MB |\n|---|---|---|---|---|---|---|---|", flush=True)
    for count in a.atoms.split(","):
        for dtype in a.types.split(","):
            for name, (module, inputs) in force_fields.cases(int(count), getattr(torch, dtype)).items():
                if a.names and name not in a.names:
                    continue
                row = measure(a.taper, module, inputs, a.rounds)
                text = "{:.1f} | {:.1f} | {:.2f} | {:.0f} | {:.0f}".format(*row) if row else "no side or only one finished | | | |"
                print(f"| {name} | {count} | {dtype} | {text} |", flush=True)


if __name__ == "__main__":
    main()
