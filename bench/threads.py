#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""threads.py BIN MODEL.ptl --input-dims 1,3,96,96 [--rounds R] [--iter K] [--only busy,pinned,sessions]

Measures the costs and benefits of threads on two cores. BIN is the folder of `taper` and `session_bench`. Everything runs on the first two cores
that this process may use. The variants alternate; figures are medians of the rounds and of the ratios of each round.
  busy      with three busy loops on the two cores: first run and median run, default threads compared with one
  pinned    on one core: default threads, and two threads, compared with one thread
  sessions  runs per second of 16 sessions in 16 threads, compared with two sessions"""
import argparse
import json
import os
import statistics
import subprocess
import sys


def output(command, cores):
    p = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if p.returncode != 0:
        sys.exit(p.stderr)
    return p.stdout


def interleaved(rounds, ways):
    """ways: a dict {name: function that returns a dict of figures}. Each round runs all of them, every second round in reverse order."""
    seen = {name: [] for name in ways}
    for i in range(rounds):
        for name in reversed(ways) if i % 2 == 1 else ways:
            seen[name].append(ways[name]())
    return seen


def report(seen, figure, base, others, unit):
    print(f"  {figure:10} {base}: {statistics.median(r[figure] for r in seen[base]):.3f} {unit}")
    for name in others:
        ratio = statistics.median(a[figure] / b[figure] for a, b in zip(seen[name], seen[base]))
        whole = statistics.median(r[figure] for r in seen[name]) / statistics.median(r[figure] for r in seen[base])
        print(f"  {figure:10} {name}: {statistics.median(r[figure] for r in seen[name]):.3f} {unit}, "
              f"ratio {whole:.3f}, median of ratios {ratio:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("model")
    parser.add_argument("--input-dims", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--iter", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--only", default="busy,pinned,sessions")
    a = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        sys.exit("SKIPPED: this needs two cores")

    def bench(threads, where):
        command = [os.path.join(a.bin, "taper"), "bench", a.model, "--input-dims", a.input_dims, "--iter", str(a.iter), "--json"]
        return lambda: json.loads(output(command + (["--threads", str(threads)] if threads else []), where))

    def sessions(count):
        command = [os.path.join(a.bin, "session_bench"), a.model, a.input_dims, str(count), "2", str(a.seconds)]
        return lambda: {"runs": float(output(command, cores))}

    only = a.only.split(",")
    print(f"{os.path.basename(a.model)}, {a.input_dims}, {a.rounds} rounds, cores {cores}")
    if "busy" in only:
        print("three busy loops on two cores")
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.sched_setaffinity(0, cores))
                 for _ in range(3)]
        try:
            seen = interleaved(a.rounds, {"default": bench(0, cores), "one": bench(1, cores)})
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        report(seen, "first_ms", "one", ["default"], "ms")
        report(seen, "median_ms", "one", ["default"], "ms")
    if "pinned" in only:
        print("one core")
        one = cores[:1]
        seen = interleaved(a.rounds, {"default": bench(0, one), "two": bench(2, one), "one": bench(1, one),
                                      "one on two cores": bench(1, cores)})
        report(seen, "first_ms", "one", ["default", "two", "one on two cores"], "ms")
        report(seen, "median_ms", "one", ["default", "two", "one on two cores"], "ms")
    if "sessions" in only:
        print("sessions of one model, a pool of two threads")
        report(interleaved(a.rounds, {"2": sessions(2), "16": sessions(16)}), "runs", "2", ["16"], "a second")


if __name__ == "__main__":
    main()
