#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare_torch.py TAPER MODEL.ptl TORCH_MODEL.ptl [--threads N] [--size S] [--rounds R] [--iter K] [--realtime] [--any-blas]

Compares Taper with PyTorch's lite interpreter in its fastest form (optimize_for_mobile file, channels_last input, whose conversion is timed too,
OMP_WAIT_POLICY=passive). Taper and PyTorch alternate, each in a new process. Prints the median of the rounds' medians, the median of the ratios of
each round, the time of load plus first run, and peak memory. --realtime runs both under SCHED_RR, so that other load on the machine has no effect;
this needs a privilege."""
import argparse
import json
import os
import statistics
import subprocess
import sys

import torch_blas

WORKER = r"""
import json, os, resource, sys, time
import torch
sys.path.insert(0, sys.argv[5])
import torch_blas
torch_blas.require(sys.argv[6] == "any")
from torch.jit.mobile import _load_for_lite_interpreter
path, threads, size, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(threads)
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
x = torch.ones(1, 3, size, size)
now = time.perf_counter
t0 = now(); m = _load_for_lite_interpreter(path); t1 = now()
with torch.inference_mode():
    m(x.contiguous(memory_format=torch.channels_last)); t2 = now()
    for _ in range(2):
        m(x.contiguous(memory_format=torch.channels_last))
    times = []
    for _ in range(count):
        t = now(); m(x.contiguous(memory_format=torch.channels_last)); times.append((now() - t) * 1e3)
print(json.dumps({"load_ms": (t1 - t0) * 1e3, "first_ms": (t2 - t1) * 1e3, "median_ms": sorted(times)[count // 2],
                  "peak_rss_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "base_kb": base}))
"""
HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, threads, realtime):
    env = dict(torch_blas.environment(threads), ATEN_CPU_CAPABILITY="avx2")
    before = (lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(50))) if realtime else None
    p = subprocess.run(command, capture_output=True, text=True, env=env, preexec_fn=before)
    if p.returncode != 0:
        sys.exit(p.stderr)
    return json.loads(p.stdout)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("taper")
    a.add_argument("model")
    a.add_argument("torch_model")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--size", type=int, default=224)
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--iter", type=int, default=30)
    a.add_argument("--realtime", action="store_true")
    a.add_argument("--any-blas", action="store_true")
    o = a.parse_args()
    ours, theirs = [], []
    for _ in range(o.rounds):
        ours.append(run([o.taper, "bench", o.model, "--input-dims", f"1,3,{o.size},{o.size}", "--threads", str(o.threads), "--iter",
                         str(o.iter), "--json"], o.threads, o.realtime))
        theirs.append(run(["/usr/bin/python3", "-c", WORKER, o.torch_model, str(o.threads), str(o.size), str(o.iter), HERE,
                           "any" if o.any_blas else "fast"], o.threads, o.realtime))

    def middle(rows, key):
        return statistics.median(r[key] for r in rows)

    def ratio(function):
        return statistics.median(function(x) / function(y) for x, y in zip(ours, theirs))

    print(f"{os.path.basename(o.model)}, {o.threads} thread(s), {o.size}x{o.size}, {o.rounds} rounds of {o.iter}")
    print(f"  steady      taper {middle(ours, 'median_ms'):9.3f} ms   torch lite {middle(theirs, 'median_ms'):9.3f} ms   "
          f"ratio {ratio(lambda r: r['median_ms']):.3f}")
    print(f"  load+first  taper {middle(ours, 'load_ms') + middle(ours, 'first_ms'):9.1f} ms   torch lite "
          f"{middle(theirs, 'load_ms') + middle(theirs, 'first_ms'):9.1f} ms   ratio {ratio(lambda r: r['load_ms'] + r['first_ms']):.3f}")
    print(f"  peak memory taper {middle(ours, 'peak_rss_kb') / 1024:9.1f} MB   torch lite {middle(theirs, 'peak_rss_kb') / 1024:9.1f} MB "
          f"({(middle(theirs, 'peak_rss_kb') - middle(theirs, 'base_kb')) / 1024:.1f} above the empty process)")
    print(f"  allocations per run {ours[-1]['allocations_per_iter']}")


if __name__ == "__main__":
    main()
