#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""classify.py MODEL PICTURE…: prints the classes of pictures. The model's taper.json says how to prepare pictures, and has the
names of the classes. Pictures are read with Pillow."""
import json
import sys

import numpy as np

try:
    from PIL import Image
except ImportError:
    sys.exit("classify.py reads pictures with Pillow, which is missing: pip install pillow (Debian: python3-pil)")

import taper

model = taper.load(sys.argv[1])
settings = json.loads(model.extra_files["taper.json"])
for path in sys.argv[2:]:
    picture = Image.open(path).convert("RGB").resize(settings["size"], Image.BILINEAR)
    x = (np.asarray(picture, np.float32) / 255 - np.float32(settings["mean"])) / np.float32(settings["std"])
    scores = model(x.transpose(2, 0, 1)[np.newaxis]).numpy()[0]
    chances = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    print(f"{path}: {settings['labels'][int(scores.argmax())]} {100 * chances.max():.1f} %")
