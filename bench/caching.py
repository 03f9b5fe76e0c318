#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""caching.py BIN MODEL.ptl SMALLEST STEP COUNT [--rounds R] [--runs K]

Measures the effect of an allocator that caches freed memory (taper_memory.h) on a session whose images have another size in each run: COUNT
heights and widths, STEP apart. COUNT 1 measures one constant size, for which no effect is expected. BIN is the folder of `sizes_bench`. Runs with
and without the caching allocator alternate on one core. Times are processor times; all figures are medians of the rounds, and ratios are medians
of the ratios of each round."""
import argparse
import json
import os
import statistics
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("model")
    parser.add_argument("sizes", nargs=3, metavar="N")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--runs", type=int, default=100)
    a = parser.parse_args()
    core = {max(os.sched_getaffinity(0))}
    seen = {"plain": [], "kept": []}
    for i in range(a.rounds):
        for way in ("plain", "kept") if i % 2 == 0 else ("kept", "plain"):
            p = subprocess.run([os.path.join(a.bin, "sizes_bench"), a.model, *a.sizes, str(a.runs), way], capture_output=True, text=True,
                               preexec_fn=lambda: os.sched_setaffinity(0, core))
            if p.returncode != 0:
                sys.exit(p.stderr)
            seen[way].append(json.loads(p.stdout))
    for way, rounds in seen.items():
        m = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
        print(f"{way:5}: {m['ms']:.3f} ms a run, {m['calls']:.1f} calls of the system's allocator, {m['faults']:.0f} page faults; "
              f"{m['megabytes']:.1f} MB held, {m['trimmed']:.1f} after trimming")
    ratios = sorted(k["ms"] / p["ms"] for k, p in zip(seen["kept"], seen["plain"]))
    print(f"kept to plain: median of {len(ratios)} ratios {statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f}")


main()
