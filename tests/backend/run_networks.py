#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_networks.py TAPER TAPER_AWAY [BUILDER… | --all] [--dir DIR]

Builds torchvision networks with scripts/oracle/make_zoo.py and runs their script, trace and optimized .ptl files and their script .pt
files, at two input sizes, on the CPU and on the backend for tests (backend/away_everywhere.h) at each of its claim policies: the results
are the same bit for bit. --all: the classification networks of scripts/oracle/zoo.tsv."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "models"))
import numpy as np
import run_zoo

FORMS = ((".ptl", "expected"), (".trace.ptl", "expected_trace"), (".opt.ptl", "expected_opt"), (".script.pt", "expected_script_pt"))
POLICIES = ("everything,plain", "every-second,plain,records,always", "odd-pairs,plain,declines,records")


def run(command, words, out):
    if os.path.exists(out):
        os.remove(out)
    p = subprocess.run(command + ["-o", out], capture_output=True, text=True, env=dict(os.environ, TAPER_AWAY=words, TAPER_AWAY_TALK="1"))
    if p.returncode != 0:
        return None, f"exit {p.returncode}: {p.stderr.strip()[:300]}"
    return dict(np.load(out)), p.stderr


def compare(got, want):
    if sorted(got) != sorted(want):
        return f"results {sorted(got)}, wanted {sorted(want)}"
    for key, b in want.items():
        a = got[key]
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            return f"{key}: another result, {np.abs(a.astype('f8') - b.astype('f8')).max() if a.shape == b.shape else a.shape} off"
    return None


def check(a, file, calls, folder):
    """What is wrong at a policy, and on how many segments it ran."""
    out = os.path.join(folder, "away.npz")
    want, wrong = run([a.taper, "run", file, "--calls", calls, "--disable", "segments"], "", out)
    if want is None:
        return [f"the CPU: {wrong}"], 0
    failures, segments = [], 0
    for words in POLICIES:
        got, said = run([a.away, "run", file, "--calls", calls], words, out)
        wrong = said if got is None else compare(got, want)
        if wrong:
            failures.append(f"{words}: {wrong}")
        elif "away: " in said:
            segments += int(said.split("away: ")[1].split()[0])
    return failures, segments


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("away")
    parser.add_argument("builders", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--dir", help="keep the models here and use those that are there")
    a = parser.parse_args()
    passed = failed = 0
    scratch = tempfile.mkdtemp()
    calls = os.path.join(scratch, "calls.json")
    for builder in (run_zoo.builders(("classification",)) if a.all else []) + a.builders:
        folder = a.dir or tempfile.mkdtemp()
        stem = os.path.join(folder, builder.replace("+", "_"))
        if not os.path.exists(stem + ".forms.json"):
            p = subprocess.run(["/usr/bin/python3", os.path.join(run_zoo.TOP, "scripts/oracle/make_zoo.py"), builder, folder],
                               capture_output=True, text=True)
            if p.returncode != 0:
                print(f"FAILED {builder}: {p.stderr.strip()[-300:]}", flush=True)
                failed += 1
                continue
        segments = 0
        for suffix, name in FORMS:
            # The first size twice, so that calls are prepared and planned; sizes that PyTorch itself ran.
            sets = [s + ".input.npy" for s in (stem, stem, stem + ".2") if run_zoo.expected(s, name)]
            if not os.path.exists(stem + suffix) or not sets:
                continue
            with open(calls, "w") as file:
                json.dump([{"method": "forward", "inputs": ["@" + os.path.abspath(s)]} for s in sets], file)
            wrong, count = check(a, stem + suffix, calls, scratch)
            for text in wrong:
                print(f"FAILED {builder}{suffix} {text}", flush=True)
            segments += count
            passed, failed = passed + (not wrong), failed + bool(wrong)
        if segments == 0:
            print(f"FAILED {builder}: nothing ran on the backend for tests", flush=True)
            failed += 1
        print(f"{builder}: {segments} segments, {passed} passed so far", flush=True)
        if not a.dir:
            shutil.rmtree(folder)
    shutil.rmtree(scratch)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
