#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_demo.py TAPER DEMO: checks that `taper classify` and `taper segment` give PyTorch's results for the demo's pictures (expected.json)."""
import json
import os
import subprocess
import sys
import tempfile


def call(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[:300])
    return json.loads(done.stdout)


def check_classes(taper, demo, image, expected):
    found = call(taper, "classify", os.path.join(demo, "classifier.ptl"), image, "--top", "3", "--json")[image]
    for wanted, got in zip(expected, found):
        if abs(wanted["probability"] - got["probability"]) > 1e-3:
            return f"{got['label']} {got['probability']}, wanted {wanted['label']} {wanted['probability']}"
        if wanted["probability"] > 0.01 and wanted["label"] != got["label"]:
            return f"{got['label']}, wanted {wanted['label']}"
    return None


def check_parts(taper, demo, image, expected, out):
    found = call(taper, "segment", os.path.join(demo, "segmenter.ptl"), image, "-o", out, "--json")
    parts = {item["label"]: item["part"] for item in found["classes"]}
    for label, part in expected.items():
        if abs(parts.get(label, 0.0) - part) > 2e-3:
            return f"{label} has {parts.get(label)} of the picture, wanted {part}"
    with open(out, "rb") as file:
        return None if file.read(8) == b"\x89PNG\r\n\x1a\n" else "the overlay is not a PNG file"


def main():
    taper, demo = sys.argv[1:3]
    with open(os.path.join(demo, "expected.json")) as file:
        expected = json.load(file)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, wanted in expected.items():
            image = os.path.join(demo, "images", name)
            for what, check in (
                ("classify", lambda: check_classes(taper, demo, image, wanted["classify"])),
                ("segment", lambda: check_parts(taper, demo, image, wanted["segment"], os.path.join(scratch, "overlay.png"))),
            ):
                try:
                    wrong = check()
                except Exception as error:
                    wrong = f"{type(error).__name__}: {error}"
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if wrong:
                    print(f"FAILED {what} {name}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
