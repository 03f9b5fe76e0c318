#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hello_test.py PROGRAM DEMO: checks that the example's program classifies the photos of the demo, and that its errors are clear."""
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

from PIL import Image


def run(*command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def main():
    program, demo = sys.argv[1], pathlib.Path(sys.argv[2])
    passed = failed = 0
    model = demo / "classifier.pt"
    with zipfile.ZipFile(model) as archive:
        name = next(n for n in archive.namelist() if n.endswith("extra/taper.json"))
        labels = json.loads(archive.read(name))["labels"]
    expected = json.loads((demo / "expected.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        (pathlib.Path(scratch) / "labels.txt").write_text("\n".join(labels) + "\n")
        for picture in ("lake.jpg", "picnic.jpg", "forest.jpg"):
            Image.open(demo / "images" / picture).convert("RGB").resize((96, 96), Image.BILINEAR).save(scratch + "/in.ppm")
            result = run(program, model, scratch + "/in.ppm", scratch + "/labels.txt")
            lines = result.stdout.split("\n")
            if result.returncode == 0 and len(lines) == 4 and lines[0].split()[0] == expected[picture]["classify"][0]["label"]:
                passed += 1
            else:
                failed += 1
                print(f"FAILED {picture}: {result}")
        for command in ((program, demo / "absent.pt", scratch + "/in.ppm", scratch + "/labels.txt"),
                        (program, model, scratch + "/labels.txt", scratch + "/labels.txt")):
            result = run(*command)
            if result.returncode == 1 and "hello_world: " in result.stderr:
                passed += 1
            else:
                failed += 1
                print(f"FAILED {command}: {result}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
