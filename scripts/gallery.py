#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gallery.py [BUILD]: makes the pictures of docs/gallery.md anew, from the demo's photos and models with BUILD/bin/taper. Needs Pillow."""
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
DEMO = TOP / "examples" / "demo"
CELL = (300, 225)  # pixels of a photo
COLUMNS = 3


def overlays(taper, folder, out):
    from PIL import Image
    photos = sorted((DEMO / "images").iterdir())
    rows = -(-len(photos) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * CELL[0], rows * CELL[1]), "white")
    for number, photo in enumerate(photos):
        painted = folder / f"{photo.stem}.png"
        subprocess.run([taper, "segment", DEMO / "segmenter.ptl", photo, "-o", painted], check=True, stdout=subprocess.DEVNULL)
        with Image.open(painted) as picture:
            small = picture.convert("RGB").resize(CELL, Image.LANCZOS)
        sheet.paste(small, (number % COLUMNS * CELL[0], number // COLUMNS * CELL[1]))
    sheet.save(out, quality=75, optimize=True)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TOP / "build")
    taper = build / "bin" / "taper"
    with tempfile.TemporaryDirectory() as folder:
        overlays(taper, pathlib.Path(folder), TOP / "docs" / "gallery-overlays.jpg")
    # The portable kernels and a relative name, so that each machine draws the same graph.
    subprocess.run([taper.resolve(), "inspect", "classifier.ptl", "--graph", "--cpu", "scalar", "-i", "rand:1x3x96x96",
                    "-o", TOP / "docs" / "gallery-graph.svg"], check=True, stdout=subprocess.DEVNULL, cwd=DEMO)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    main()
