#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""segmentation_test.py PROGRAM DEMO: checks that the share of each class in the demo's photos is equal to PyTorch's."""
import json
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image


def main():
    program, demo = sys.argv[1], pathlib.Path(sys.argv[2])
    expected = json.loads((demo / "expected.json").read_text())
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        picture = scratch + "/in.ppm"
        for name in ("lake.jpg", "garden.jpg"):
            Image.open(demo / "images" / name).convert("RGB").resize((192, 192), Image.BILINEAR).save(picture)
            for model in ("segmenter.ptl", "segmenter.pt"):
                done = subprocess.run([program, demo / model, picture], capture_output=True, text=True, check=False)
                parts = [float(line) for line in done.stdout.split()]
                wanted = list(expected[name]["segment"].values())
                if done.returncode == 0 and len(parts) == len(wanted) and all(abs(a - b) < 0.02 for a, b in zip(parts, wanted)):
                    passed += 1
                else:
                    failed += 1
                    print("FAILED  %s of %s: %s %s, not %s" % (name, model, done.stderr, parts, wanted))
        done = subprocess.run([program, demo / "expected.json", picture], capture_output=True, text=True, check=False)
        if done.returncode == 1 and "cannot be read" in done.stderr:
            passed += 1
        else:
            failed += 1
            print("FAILED  no model: %s" % done)
    print("%d passed, %d failed" % (passed, failed))
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main())
