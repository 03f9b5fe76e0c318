#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Generates random programs with the features of TorchScript (programs/), saves them in every form and runs them in PyTorch and in
Taper.

  generate_programs.py TAPER [--count N] [--seed S] [--only K] [--jobs N] [--keep DIR] [--no-reduce] [--show] [--ops] [--gradients]
                       [--shape SHAPE]

Number K of seed S is always the same program, with the same module, classes, functions, inputs, calls and forms of files. Taper must give
PyTorch's results, attributes that calls changed, messages of exceptions, and list of operators. Taper runs the .pt and .ptl files as saved,
optimized, converted and with bundled inputs. With --gradients the programs compute gradients (programs/gradients.py), and their files are as
saved, frozen, optimized and traced. SHAPE gives these programs more statements of a kind (loops, views, writes, modes), float32 instead of float64
and more layers (single), or each of these in turn (all). A failing program is shortened and printed. passes/random_programs.py and
scripts/oracle/random_nets.py generate programs that are difficult for compiler passes. Needs python3-torch. Ends with "N passed, N failed"."""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
os.environ.setdefault("GLOG_minloglevel", "2")  # suppresses QNNPACK's warnings
warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "programs"), os.path.join(HERE, "..")]
import torch

import forms
import gradient_forms
import gradients
import reducer
import sampling
import writer

CHUNK = 400  # number of programs that one process runs; a new process follows, because PyTorch never frees a class that it compiled


def check(options, source, calls, number, folder, tally):
    """Returns a text about the difference, None if the results agree, or Ellipsis if PyTorch does not accept the source."""
    try:
        form = (gradient_forms if options.gradients else forms).Forms(options.taper, source, calls, folder, number, tally)
    except forms.Refused as e:
        tally[f"refused: {e}"] += 1
        return ...
    return form.failures(options.ops)


def kind(text):
    """Returns a message without paths, numbers and other parts that differ between programs with the same mistake."""
    return re.sub(r"\S*/\S*|__torch__\S*|-?\d+(\.\d*)?(e[+-]?\d+)?", "", text)[:90]


def report(options, number, source, calls, wrong):
    print(f"FAILED {number}: {wrong[0]}: {wrong[1]}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        def fails(text):
            try:
                found = check(options, text, calls, number, folder, collections.Counter())
            except Exception:  # noqa: BLE001
                return False
            return found not in (None, ...) and found[0] == wrong[0] and kind(found[1]) == kind(wrong[1])
        if options.reduce:
            source = reducer.reduce(source, fails)
    print("    " + "\n    ".join(source[len(writer.HEAD):].strip().split("\n")), flush=True)
    print(f"    calls: {str(calls)[:1200]}", flush=True)
    if options.keep:
        place = os.path.join(options.keep, str(number))
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        with open(os.path.join(place, "program.py"), "w") as file:
            file.write(source)
        try:
            check(options, source, calls, number, place, collections.Counter())
        except Exception as e:  # noqa: BLE001
            print(f"    --keep: {e}")


def run(options, numbers):
    tally = collections.Counter()
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            source, calls = gradients.program(number, options.shape) if options.gradients else writer.program(number)
            if options.show:
                print(f"{number}\n{source}\n{calls}", flush=True)
            try:
                wrong = check(options, source, calls, number, folder, tally)
            except Exception as e:  # noqa: BLE001
                wrong = ("the program itself", f"{type(e).__name__}: {str(e).strip()[-300:]}")
        if wrong is ...:
            continue
        tally["failed" if wrong else "passed"] += 1
        if wrong:
            report(options, number, source, calls, wrong)
    return tally


def in_processes(options, first):
    """Runs chunks of the numbers, each in its own process, several at the same time."""
    command = [sys.executable, __file__, options.taper, "--chunk"] + (["--keep", options.keep] if options.keep else []) + (["--ops"] if options.ops else []) + (["--gradients", "--shape", options.shape] if options.gradients else []) + ([] if options.reduce else ["--no-reduce"])
    starts, running, tally = list(range(first, first + options.count, CHUNK)), [], collections.Counter()
    while starts or running:
        while starts and len(running) < options.jobs:
            start = starts.pop(0)
            running.append((start, subprocess.Popen(command + ["--seed", "0", "--first", str(start), "--count", str(min(CHUNK, first + options.count - start))], stdout=subprocess.PIPE, text=True)))
        start, p = running.pop(0)
        for line in p.stdout:
            if line.startswith("tally "):
                name, n = line[6:].rsplit(" ", 1)
                tally[name] += int(n)
            else:
                print(line, end="", flush=True)
        if p.wait() not in (0, 1):
            tally["failed"] += 1
            print(f"FAILED {start}…: the process ended with {p.returncode}", flush=True)
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("taper")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this number alone")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="leave sources, files and inputs of failing programs here")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false", help="print failing programs as they are")
    parser.add_argument("--ops", action="store_true", help="compare what `taper ops` lists, too")
    parser.add_argument("--gradients", action="store_true", help="programs that compute gradients")
    parser.add_argument("--shape", choices=["all", *gradients.PROGRAM_SHAPES], default="any", help="with --gradients: the kind of programs")
    parser.add_argument("--show", action="store_true", help="print every program")
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--chunk", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    first = options.first if options.first is not None else options.seed * 1000000
    if sampling.stride() > 1 and not options.chunk and options.count >= 3:  # the plain tier runs a third of the programs
        options.count //= 3
        first += sampling.seed() % 3 * options.count
    if options.only is not None:
        tally = run(options, [options.only])
    elif options.chunk or (options.count <= CHUNK and options.jobs == 1):
        tally = run(options, range(first, first + options.count))
    else:
        tally = in_processes(options, first)
    if options.chunk:
        for name, n in tally.items():
            print("tally", *name.split(), n)  # removes line breaks of messages, because a tally is one line
        return 0
    refused = sum(n for name, n in tally.items() if name.startswith("refused"))
    print("; ".join(f"{name}: {n}" for name, n in sorted(tally.items()) if name not in ("passed", "failed")))
    print(f"{tally['passed']} passed, {tally['failed']} failed")
    return 1 if tally["failed"] or not tally["passed"] or refused > 0.05 * options.count else 0


if __name__ == "__main__":
    sys.exit(main())
