#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_zoo.py TAPER [BUILDER… | --all | --kind KIND]… [--dir DIR] [--taper-arg ARG]…

Builds torchvision networks with scripts/oracle/make_zoo.py, runs their script, trace and optimized .ptl files and their script and
trace .pt files in Taper at two input sizes and compares with PyTorch's lite interpreter: max|a-b| <= 1e-4 max|b| + 1e-5 per output. If this fails,
the error against float64 may be twice PyTorch's own float32 error; such networks are counted separately. same_detections compares detections, which
are counted separately too. Networks that PyTorch itself cannot export or run are counted as such. Networks of kind quantization ("+int8") must give
the same numbers bit for bit.
--all: the rows of scripts/oracle/zoo.tsv of every kind except quantization; --kind: of one kind."""
import argparse
import csv
import glob
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = ("classification", "segmentation", "detection", "video", "optical_flow")
FORMS = (("script", ".ptl", "expected"), ("trace", ".trace.ptl", "expected_trace"), ("opt", ".opt.ptl", "expected_opt"),
         ("script_pt", ".script.pt", "expected_script_pt"), ("trace_pt", ".trace.pt", "expected_trace_pt"))


def builders(kinds):
    rows = csv.DictReader(open(os.path.join(TOP, "scripts/oracle/zoo.tsv")), delimiter="\t")
    return [r["builder"] for r in rows if r["kind"] in kinds and (r["kind"] != "quantization" or r["builder"].endswith("+int8"))]


def expected(stem, name):
    """Returns {".out": array} of NAME.expected.out.npy and so on."""
    found = {}
    for path in glob.glob(f"{stem}.{name}.npy") + glob.glob(f"{stem}.{name}.*.npy"):
        found[path[len(f"{stem}.{name}"):-4]] = np.load(path)
    return found


def compare(got, want, exact):
    """Returns (None or the difference, true if the comparison with float64 decided)."""
    if sorted(got) != sorted(want):
        return f"results {sorted(got)}, wanted {sorted(want)}", False
    judged = False
    for key, b in want.items():
        a = got[key]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output{key}: {a.dtype}{a.shape}, wanted {b.dtype}{b.shape}", judged
        error = np.abs(a.astype("f8") - b.astype("f8")).max() if a.size else 0.0
        if b.size == 0 or error <= 1e-4 * np.abs(b).max() + 1e-5:
            continue
        if key not in exact:
            return f"output{key}: error {error:.3g} of {np.abs(b).max():.3g}", judged
        if exact[key].shape != b.shape:
            return f"output{key}: error {error:.3g} of {np.abs(b).max():.3g}; float64 gives {exact[key].shape}", judged
        ours, theirs = np.abs(a - exact[key]).max(), np.abs(b - exact[key]).max()
        if not ours <= 2 * theirs:
            return f"output{key}: error {error:.3g} of {np.abs(b).max():.3g}; against float64 {ours:.3g}, PyTorch {theirs:.3g}", judged
        judged = True
    return None, judged


def same_detections(got, want, near):
    """Returns true if the outputs of a detector, N rows each, have the same rows. Detections whose scores differ only by rounding may be swapped
    (both are ordered by score). The tolerance is compare()'s or, if it is larger, twice the change of PyTorch's own result when the pixels change
    by one rounding. near: PyTorch's results for such changed pixels."""
    if sorted(got) != sorted(want) or any(got[k].shape != want[k].shape or got[k].dtype != want[k].dtype for k in want):
        return False
    rows = {len(v) for v in want.values()}
    if len(rows) != 1:
        return False
    bound = {k: 1e-4 * np.abs(v.astype("f8")).max() + 1e-5 if v.size else 0 for k, v in want.items()}
    for other in near:
        for k, v in want.items():
            if k in other and other[k].shape == v.shape and v.size and v.dtype.kind == "f":
                # Compares row i with the most similar of its neighbours, because rows may have changed places.
                moved = [min(np.abs(v[i] - other[k][j]).max() for j in range(max(0, i - 3), min(len(v), i + 4))) for i in range(len(v))]
                bound[k] = max(bound[k], 2 * max(moved))
    free = list(range(rows.pop()))
    for i in list(free):
        near = [j for j in free if abs(i - j) <= 3]
        fits = (j for j in near if all(np.abs(got[k][j].astype("f8") - want[k][i].astype("f8")).max() <= bound[k] for k in want))
        j = next(fits, None)
        if j is None:
            return False
        free.remove(j)
    return True


def neighbours(stem, name):
    return [expected(stem, name.replace("expected", f"near{i}")) for i in range(3)]


def inputs(stem, traced):
    """Returns the -i options of a set of inputs: one file, several arguments, or a list of images (one tensor for a traced detector)."""
    if os.path.exists(stem + ".input.npy"):
        return ["-i", stem + ".input.npy"]
    files = sorted(glob.glob(stem + ".input.*.npy"))
    if len(files) > 1 or traced:
        return [x for f in files for x in ("-i", f)]
    return ["-i", json.dumps(["@" + f for f in files])]


def run_form(taper, extra, stem, set_stem, suffix, name, traced, detector, folder):
    out = os.path.join(folder, "out.npz")
    p = subprocess.run([taper, "run", stem + suffix, "-o", out] + inputs(set_stem, traced) + extra, capture_output=True, text=True)
    if p.returncode != 0:
        return f"exit {p.returncode}: {p.stderr.strip()[:300]}", False
    got = {k[len("output"):]: v for k, v in np.load(out).items()}
    want, exact = expected(set_stem, name), expected(set_stem, "expected64")
    if len(exact) == len(want) == 1:
        # A traced network returns a tensor; the script of the same network returns a named tuple of this tensor and
        # Nones.
        exact = dict(zip(want, exact.values()))
    if stem.endswith("_int8"):
        same = sorted(got) == sorted(want) and all(np.array_equal(got[k], want[k]) for k in want)
        return None if same else f"another result: {max(np.abs(got[k] - want[k]).max() for k in want if k in got)} at most", False
    wrong, judged = compare(got, want, exact)
    if wrong and detector and same_detections(got, want, neighbours(set_stem, name)):
        return None, "order of equal scores, or what one rounding of the input moves"
    return wrong, judged and "float64"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("builders", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS + ("quantization",))
    parser.add_argument("--dir", help="keep the models here and use those that are there")
    parser.add_argument("--taper-arg", action="append", default=[])
    a = parser.parse_args()
    passed = failed = without = 0
    judged, detectors = [], builders(("detection",))
    for builder in builders(KINDS if a.all else a.kind) + a.builders:
        folder = a.dir or tempfile.mkdtemp()
        stem = os.path.join(folder, builder.replace("+", "_"))
        if not os.path.exists(stem + ".forms.json"):
            p = subprocess.run(["/usr/bin/python3", os.path.join(TOP, "scripts/oracle/make_zoo.py"), builder, folder],
                               capture_output=True, text=True)
            if p.returncode != 0:
                print(f"FAILED {builder}: {p.stderr.strip()[-300:]}", flush=True)
                failed += 1
                continue
        forms = json.load(open(stem + ".forms.json"))
        for set_stem, (form, suffix, name) in itertools.product((stem, stem + ".2"), FORMS):
            if form not in forms or not expected(set_stem, name):
                without += 1
                continue
            traced = forms[form]["traced"]
            wrong, clause = run_form(a.taper, a.taper_arg, stem, set_stem, suffix, name, traced, builder in detectors, folder)
            case = f"{builder} {form}{', second size' if set_stem != stem else ''}"
            if wrong:
                print(f"FAILED {case}: {wrong}", flush=True)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if clause and not wrong:
                judged.append(f"{case}: {clause}")
        print(f"{builder}: done, {passed} passed so far", flush=True)
        if not a.dir:
            shutil.rmtree(folder)
    for name in judged:
        print("agrees by a clause:", name)
    if without:
        print(f"{without} not exported or not run by PyTorch itself")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
