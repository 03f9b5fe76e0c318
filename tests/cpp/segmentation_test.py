#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""segmentation_test.py PROGRAM DEMO: checks that the example's program finds PyTorch's classes in the demo's photos and writes them, and that its
errors are clear."""
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
        picture, mask = scratch + "/in.ppm", scratch + "/mask.pgm"
        for name in ("lake.jpg", "garden.jpg"):
            Image.open(demo / "images" / name).convert("RGB").resize((192, 192), Image.BILINEAR).save(picture)
            for model in ("segmenter.ptl", "segmenter.pt"):
                done = subprocess.run([program, demo / model, picture, mask], capture_output=True, text=True, check=False)
                parts, wanted = [float(line) for line in done.stdout.split()], list(expected[name]["segment"].values())
                right = done.returncode == 0 and len(parts) == len(wanted) and all(abs(a - b) < 0.02 for a, b in zip(parts, wanted))
                if right:
                    pixels = Image.open(mask).histogram()
                    right = all(abs(n / (192 * 192) - part) < 1e-3 for n, part in zip(pixels, parts))
                passed, failed = passed + right, failed + (not right)
                if not right:
                    print(f"FAILED {name} of {model}: {done.stderr} {parts}, not {wanted}")
        for command in ((demo / "absent.pt", picture, mask), (demo / "segmenter.pt", demo / "expected.json", mask),
                        (demo / "segmenter.pt", picture, scratch + "/absent/mask.pgm")):
            done = subprocess.run([program, *command], capture_output=True, text=True, check=False)
            right = done.returncode == 1 and "image_segmentation: " in done.stderr
            passed, failed = passed + right, failed + (not right)
            if not right:
                print(f"FAILED {command}: {done}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
