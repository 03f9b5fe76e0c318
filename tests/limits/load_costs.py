#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""load_costs.py LOAD_COST [--size BYTES] [--only NAME]… [--known] [--ratio X]

Compares the work that the files of families/ cause in the library (instructions, which perf or valgrind counts) with the charged work (steps of
the budget of a load, load_cost.c). If work is not charged, a file could make a load take forever. The instructions for each step must therefore
stay below --ratio, plus some for each byte of the file, which may be read a few times. For files that were expensive once, the steps must not
grow faster than the file. Prints a table, the most expensive file first. --known tests only files that were expensive once. Exit status 77 if no
tool counts instructions."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fuzz"), str(HERE.parent)]
from families import exports, flatbuffers, pickles, scripts  # noqa: E402

FAMILIES = {**pickles.FAMILIES, **scripts.FAMILIES, **flatbuffers.FAMILIES, **exports.FAMILIES}
KNOWN = ["complex_keys", "debug_handles", "handles_of_long_name", "script_enum_members", "script_enum_names", "script_last_attribute",
         "script_last_field", "script_last_method", "flat_class_name", "pt2_ranges_by_symbols", "pt2_guards_of_many", "pt2_guards_by_name"]
SMALL, LARGE, GROWTH = 100000, 800000, 1.7  # two sizes in bytes, and the largest growth of the steps between them, relative to the growth of the file
MOST_STEPS = 20000000                 # a load with more steps counts as having used its budget, and is not measured further
FREE, FREE_A_BYTE = 3000000, 100      # number of instructions that a load may execute without charging steps, in total and for each byte of the file
COUNTERS = [(["perf", "stat", "-x,", "-e", "instructions:u"], r"(\d+),,instructions"),
            (["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"], r"I +refs: +([\d,]+)")]


def count(counter, command):
    said = subprocess.run(counter[0] + command, capture_output=True, text=True).stderr
    found = re.search(counter[1], said)
    return int(found[1].replace(",", "")) if found else None


def steps_of(load_cost, file, what, data):
    pathlib.Path(file).write_bytes(data)
    steps, how, said = subprocess.run([load_cost, file, what], capture_output=True, text=True, check=True).stdout.split(None, 2)
    return MOST_STEPS if how == "spent" else int(steps), said.strip()


def growth(load_cost, file, name):
    """Returns the growth of the steps divided by the growth of the file."""
    small, large = FAMILIES[name](SMALL), FAMILIES[name](LARGE)
    more = steps_of(load_cost, file, "save", large)[0]
    return more / steps_of(load_cost, file, "save", small)[0] / (len(large) / len(small)) if more != MOST_STEPS else float("inf")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("load_cost")
    parser.add_argument("--size", type=int, help="of the files, 20000; of those of --known 150000")
    parser.add_argument("--only", action="append")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--ratio", type=float, default=30)
    options = parser.parse_args()
    names = [n for n in (KNOWN if options.known else FAMILIES) if not options.only or n in options.only]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "m.ptl")
        pathlib.Path(file).write_bytes(pickles.numbers(10))
        counter = next((c for c in COUNTERS if shutil.which(c[0][0]) and count(c, [options.load_cost, file, "nothing", "once"])), None)
        if counter is None:
            print("SKIPPED: neither perf nor valgrind counts instructions here")
            return 77
        base = count(counter, [options.load_cost, file, "nothing", "once"])
        rows, failed = [], 0
        for name in names:
            data = FAMILIES[name](options.size or (150000 if options.known else 20000))
            for what in ("load", "save"):
                steps, said = steps_of(options.load_cost, file, what, data)
                instructions = count(counter, [options.load_cost, file, what, "once"] + ([str(MOST_STEPS)] if steps == MOST_STEPS else [])) - base
                ratio = (instructions - FREE - FREE_A_BYTE * len(data)) / steps
                rows.append((ratio, f"{name:28s} {what:4s} {len(data):9d} bytes {steps / 1e6:8.2f} million steps "
                             f"{instructions / 1e6:9.2f} million instructions {max(ratio, 0):7.1f} a step  {said[:70]}"))
        grown = [(growth(options.load_cost, file, name), name) for name in names if name in KNOWN]
    for ratio, row in sorted(rows, reverse=True):
        failed += ratio > options.ratio
        print("FAILED" if ratio > options.ratio else "      ", row)
    for factor, name in sorted(grown, reverse=True):
        failed += factor > GROWTH
        print("FAILED" if factor > GROWTH else "      ", f"{name:28s} steps grow {factor:4.2f} times as fast as the file")
    print(f"{len(rows) + len(grown) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
