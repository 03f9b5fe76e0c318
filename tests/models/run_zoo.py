#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_zoo.py TAPER [BUILDER… | --all] [--dir DIR] [--taper-arg ARG]…

Builds torchvision networks with scripts/oracle/make_zoo.py, runs their script, trace and optimized .ptl files in Taper and compares
with PyTorch: max|a-b| <= 1e-4 max|b| + 1e-5 per output or, listed apart, at most twice PyTorch's own float32 error against float64.
--all: the rows of scripts/oracle/zoo.tsv of kind classification or segmentation that export as script and trace."""
import argparse
import csv
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FORMS = (("script", ".ptl", "expected"), ("trace", ".trace.ptl", "expected_trace"), ("optimized", ".opt.ptl", "expected_opt"))


def builders():
    rows = csv.DictReader(open(os.path.join(TOP, "scripts/oracle/zoo.tsv")), delimiter="\t")
    return [r["builder"] for r in rows if r["kind"] in ("classification", "segmentation") and r["lite_export"] == "script+trace"]


def expected(stem, name):
    """{".out": array} of NAME.expected.out.npy and so on."""
    found = {}
    for path in glob.glob(f"{stem}.{name}.npy") + glob.glob(f"{stem}.{name}.*.npy"):
        found[path[len(f"{stem}.{name}"):-4]] = np.load(path)
    return found


def compare(got, want, exact):
    """(None or what is wrong, whether float64 judged)"""
    if sorted(got) != sorted(want):
        return f"results {sorted(got)}, wanted {sorted(want)}", False
    judged = False
    for key, b in want.items():
        a = got[key]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output{key}: {a.dtype}{a.shape}, wanted {b.dtype}{b.shape}", judged
        error = np.abs(a.astype("f8") - b.astype("f8")).max() if a.size else 0.0
        if error <= 1e-4 * np.abs(b).max() + 1e-5:
            continue
        if key not in exact:
            return f"output{key}: error {error:.3g} of {np.abs(b).max():.3g}", judged
        ours, theirs = np.abs(a - exact[key]).max(), np.abs(b - exact[key]).max()
        if not ours <= 2 * theirs:
            return f"output{key}: error {error:.3g} of {np.abs(b).max():.3g}; against float64 {ours:.3g}, PyTorch {theirs:.3g}", judged
        judged = True
    return None, judged


def run_form(taper, extra, stem, suffix, name, folder):
    if not os.path.exists(stem + suffix):
        return "PyTorch wrote no file", False
    out = os.path.join(folder, "out.npz")
    p = subprocess.run([taper, "run", stem + suffix, "-i", stem + ".input.npy", "-o", out] + extra, capture_output=True, text=True)
    if p.returncode != 0:
        return f"exit {p.returncode}: {p.stderr.strip()[:300]}", False
    got = {k[len("output"):]: v for k, v in np.load(out).items()}
    base = expected(stem, "expected")
    want = {**base, **expected(stem, name)}
    exact = expected(stem, "expected64")
    if len(got) == len(want) == 1 and set(got) != set(want):
        # A traced net returns the tensor where the script returns a named tuple of it and Nones.
        got = {key: value for key, value in zip(want, got.values())}
    return compare(got, want, exact)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("builders", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--dir", help="keep the models here and use those that are there")
    parser.add_argument("--taper-arg", action="append", default=[])
    a = parser.parse_args()
    passed = failed = 0
    judged = []
    for builder in builders() if a.all else a.builders:
        folder = a.dir or tempfile.mkdtemp()
        stem = os.path.join(folder, builder)
        if not os.path.exists(stem + ".input.npy"):
            p = subprocess.run(["/usr/bin/python3", os.path.join(TOP, "scripts/oracle/make_zoo.py"), builder, folder],
                               capture_output=True, text=True)
            if p.returncode != 0:
                print(f"FAILED {builder}: {p.stderr.strip()[-300:]}", flush=True)
                failed += 1
                continue
        for form, suffix, name in FORMS:
            wrong, by_float64 = run_form(a.taper, a.taper_arg, stem, suffix, name, folder)
            if wrong:
                print(f"FAILED {builder} {form}: {wrong}", flush=True)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if by_float64 and not wrong:
                judged.append(f"{builder} {form}")
        print(f"{builder}: done, {passed} passed so far", flush=True)
        if not a.dir:
            shutil.rmtree(folder)
    for name in judged:
        print("by the float64 clause:", name)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
