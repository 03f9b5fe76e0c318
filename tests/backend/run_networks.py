#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_networks.py TAPER TAPER_AWAY [BUILDER… | --all] [--dir DIR]

Builds torchvision networks with scripts/oracle/make_zoo.py and runs their script, trace and optimized .ptl files and their script .pt files, at
two input sizes, on the CPU and on the backend for tests (backend/away_everywhere.h) with each claim policy. The results must be equal bit for bit.
They must also be equal if the backend declines a call, or its device is lost; each form of a network is tested with every third of these failures.
--all: the classification networks of scripts/oracle/zoo.tsv."""
import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "models"))
import numpy as np
import run_zoo

FORMS = (".ptl", ".trace.ptl", ".opt.ptl", ".script.pt")
POLICIES = ("everything,plain", "every-second,plain,records,always", "odd-pairs,plain,declines,records")
# (kind of the call that fails, largest number of the failing call among these calls, ",lost" if the device is lost). If tensors cannot be
# fetched from a lost device, the run and the program end with an error.
FAILURES = [(call, most, lost) for call, most in (("open", 1), ("claim", 2), ("plan", 4), ("record", 4), ("run", 12), ("store", 8))
            for lost in ("", ",lost")] + [("fetch", 6, ",lost")]


def run(command, words, out):
    if os.path.exists(out):
        os.remove(out)
    p = subprocess.run(command + ["-o", out], capture_output=True, text=True, env=dict(os.environ, TAPER_AWAY=words, TAPER_AWAY_TALK="1"))
    if p.returncode != 0:
        return None, f"exit {p.returncode}: {p.stderr.strip()}"
    return dict(np.load(out)), p.stderr


def compare(got, want):
    if sorted(got) != sorted(want):
        return f"results {sorted(got)}, wanted {sorted(want)}"
    for key, b in want.items():
        a = got[key]
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            return f"{key}: another result, {np.abs(a.astype('f8') - b.astype('f8')).max() if a.shape == b.shape else a.shape} off"
    return None


def check(a, file, calls, folder, third):
    """Returns (what is wrong with a policy or after a failure, the number of segments, the number of failures)."""
    out = os.path.join(folder, "away.npz")
    want, wrong = run([a.taper, "run", file, "--calls", calls, "--disable", "segments"], "", out)
    if want is None:
        return [f"the CPU: {wrong}"], 0, 0
    failures, segments, came = [], 0, 0
    for words in POLICIES:
        got, said = run([a.away, "run", file, "--calls", calls], words, out)
        wrong = said if got is None else compare(got, want)
        if wrong:
            failures.append(f"{words}: {wrong}")
        elif "away: " in said:
            segments += int(said.split("away: ")[1].split()[0])
    for i, (call, most, lost) in enumerate(FAILURES):
        if i % 3 != third:
            continue
        at = 1 + zlib.crc32(f"{os.path.basename(file)} {call}{lost}".encode()) % most
        words = f"{POLICIES[(i // 3) % 2]},records,fails-at-{call}-{at}{lost}"
        got, said = run([a.away, "run", file, "--calls", calls], words, out)
        here = f"times {call}," in said and int(said.split(f" times {call},")[0].split()[-1]) >= at
        came += here
        if call == "fetch" and here:
            wrong = None if got is None and "exit 1:" in said and ("on command" in said or "went with the device" in said) else said
        else:
            wrong = said if got is None else compare(got, want)
        if wrong:
            failures.append(f"{words}: {wrong}")
    return failures, segments, came


def parameters(builder):
    rows = csv.DictReader(open(os.path.join(run_zoo.TOP, "scripts/oracle/zoo.tsv")), delimiter="\t")
    return int({r["builder"]: r["params"] for r in rows}[builder])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("away")
    parser.add_argument("builders", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--small-first", action="store_true", help="in the order of their sizes")
    parser.add_argument("--dir", help="keep the models here and use those that are there")
    a = parser.parse_args()
    passed = failed = came = 0
    scratch = tempfile.mkdtemp()
    calls = os.path.join(scratch, "calls.json")
    networks = (run_zoo.builders(("classification",)) if a.all else []) + a.builders
    for builder in sorted(networks, key=parameters) if a.small_first else networks:
        folder = a.dir or tempfile.mkdtemp()
        stem = os.path.join(folder, builder.replace("+", "_"))
        if not os.path.exists(stem + ".forms.json"):
            p = subprocess.run(["/usr/bin/python3", os.path.join(run_zoo.TOP, "scripts/oracle/make_zoo.py"), builder, folder, "--no-results"],
                               capture_output=True, text=True)
            if p.returncode != 0:
                print(f"FAILED {builder}: {p.stderr.strip()[-300:]}", flush=True)
                failed += 1
                continue
        segments = 0
        for form, suffix in enumerate(FORMS):
            if not os.path.exists(stem + suffix):
                continue
            # The first size runs twice, so that calls are prepared and planned. The second size runs only if the network
            # accepts it.
            for stems in ((stem, stem, stem + ".2"), (stem, stem)):
                with open(calls, "w") as file:
                    json.dump([{"method": "forward", "inputs": ["@" + os.path.abspath(s) + ".input.npy"]} for s in stems], file)
                if run([a.taper, "run", stem + suffix, "--calls", calls], "", os.path.join(scratch, "any.npz"))[0] is not None:
                    break
            wrong, count, met = check(a, stem + suffix, calls, scratch, (form + len(builder)) % 3)
            for text in wrong:
                print(f"FAILED {builder}{suffix} {text[:1000]}", flush=True)
            segments, came = segments + count, came + met
            passed, failed = passed + (not wrong), failed + bool(wrong)
        if segments == 0:
            print(f"FAILED {builder}: nothing ran on the backend for tests", flush=True)
            failed += 1
        print(f"{builder}: {segments} segments, {passed} passed and {came} failures met so far", flush=True)
        if not a.dir:
            shutil.rmtree(folder)
    shutil.rmtree(scratch)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
