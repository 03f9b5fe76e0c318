"""Makes the demo's sample pictures (images/) and PyTorch's results for them (expected.json).

The scenes are laid out by hand.  Their photographic backgrounds come from the
part of the photographs that training does not use, and the drawn backgrounds
are not used in training either.
"""
import json
import os

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFilter

import data

W, H = 480, 360


def photo(name, left, top, width, blur=0.0):
    """A 4:3 piece of a photograph, from its held-out part."""
    assert left >= data.HELDOUT_START and left + width <= 640
    image = Image.open(data.PHOTOS + name).convert("RGB")
    box = (left, top, left + width, top + width * H / W)
    image = image.resize((W, H), Image.Resampling.BICUBIC, box=box)
    return image.filter(ImageFilter.GaussianBlur(blur)) if blur else image


def sky(top, bottom, height=H):
    """A vertical gradient between two colours given as #rrggbb."""
    ends = [np.array([int(c[i:i + 2], 16) for i in (1, 3, 5)], np.float32) for c in (top, bottom)]
    t = (np.clip(np.arange(H) / height, 0, 1) ** 1.2).astype(np.float32)[:, None, None]
    return Image.fromarray(np.broadcast_to(ends[0] * (1 - t) + ends[1] * t, (H, W, 3))
                           .astype(np.uint8))


def drawn(image, draw_on, factor=3):
    """Draws on an enlarged copy of the image and shrinks the copy, so that edges are smooth."""
    big = image.resize((W * factor, H * factor), Image.Resampling.BICUBIC)
    draw_on(ImageDraw.Draw(big), factor)
    return big.resize((W, H), Image.Resampling.LANCZOS)


def night():
    rng = data.generator("sample", 1)
    stars = [(rng.uniform(0, W), rng.uniform(0, H * 0.8), rng.uniform(0.4, 1.4)) for _ in range(90)]

    def paint(draw, f):
        for x, y, r in stars:
            draw.ellipse([f * (x - r), f * (y - r), f * (x + r), f * (y + r)], fill="#fff6d8")
        draw.ellipse([f * v for v in (372, 34, 432, 94)], fill="#f4ecc8")
        draw.ellipse([f * v for v in (-140, 310, 360, 560)], fill="#2b2350")
        draw.ellipse([f * v for v in (190, 322, 700, 620)], fill="#1d1840")
    return drawn(sky("#0b1033", "#5b3f8c"), paint)


def hills():
    def paint(draw, f):
        draw.ellipse([f * v for v in (360, 28, 424, 92)], fill="#fff3b0")
        for points, fill in (((0.42, 0.055, 1.7, 0.4), "#9cc5a1"), ((0.55, 0.05, 1.2, 2.6), "#6fae75"),
                             ((0.70, 0.035, 0.8, 4.4), "#4c8f54")):
            base, height, waves, phase = points
            xs = np.linspace(0, W, 160)
            ys = H * (base + height * np.sin(xs / W * 2 * np.pi * waves + phase))
            draw.polygon([(0, f * H), *((f * x, f * y) for x, y in zip(xs, ys)), (f * W, f * H)],
                         fill=fill)
        draw.polygon([f * v for v in (0, 318, W, 300, W, 344, 0, 360)], fill="#8d8a86")
        for x in range(20, W, 60):
            draw.polygon([f * v for v in (x, 339 - x * 0.038, x + 30, 338 - x * 0.038,
                                          x + 30, 341 - x * 0.038, x, 342 - x * 0.038)],
                         fill="#f2efe6")
    return drawn(sky("#7cc6f2", "#fdf0d5", 170), paint)


def tablecloth():
    """Blue and white gingham."""
    x = (np.arange(W) // 30 % 2)[None, :, None]
    y = (np.arange(H) // 30 % 2)[:, None, None]
    t = (x + y) / 2.0
    cloth = np.array([246, 247, 243]) * (1 - t) + np.array([120, 160, 205]) * t
    return Image.fromarray(cloth.astype(np.uint8)).filter(ImageFilter.GaussianBlur(0.6))


# file: (background, [(class, index of its drawing, longest side, angle, left, top)])
SCENES = {
    "lake.jpg": (lambda: photo("china.jpg", 372, 150, 268), [("dog", 1, 205, 0, 150, 130)]),
    "garden.jpg": (lambda: photo("flower.jpg", 368, 60, 272), [("butterfly", 0, 190, 18, 205, 75)]),
    "night.png": (night, [("rocket", 0, 215, 5, 130, 70)]),
    "hills.png": (hills, [("tree", 0, 150, 0, 18, 140), ("tree", 1, 105, 0, 340, 150),
                          ("car", 0, 125, 3, 190, 248), ("dog", 1, 92, 0, 372, 232),
                          ("butterfly", 0, 70, -15, 190, 80)]),
    "picnic.jpg": (tablecloth, [("pizza", 0, 165, -12, 30, 40), ("strawberry", 0, 95, 15, 215, 45),
                                ("strawberry", 0, 75, -25, 200, 150), ("cat", 0, 135, 0, 315, 190),
                                ("sunflower", 0, 110, 10, 350, 25)]),
    "forest.jpg": (lambda: photo("china.jpg", 440, 190, 200), [
        ("owl", 0, 145, 0, 60, 60), ("cat", 1, 140, 0, 290, 180), ("tree", 1, 120, 0, 205, 30),
        ("sunflower", 0, 95, -8, 170, 235)]),
}


def compose(scene):
    make_background, things = scene
    canvas, rng = make_background(), data.generator("sample", 0)
    for label, which, side, angle, x, y in things:
        sprite = data.sprites(label)[which]
        scale = side / max(sprite.size)
        sprite = sprite.resize([round(n * scale) for n in sprite.size], Image.Resampling.LANCZOS)
        sprite = sprite.rotate(angle, Image.Resampling.BICUBIC, expand=True)
        data.paste(rng, canvas, None, sprite, x, y, 0, True)
    return canvas


def network_input(image, meta):
    """Prepares a picture as every user of the models must do: resizes the whole picture, scales and normalises it."""
    image = image.convert("RGB").resize(meta["size"], Image.Resampling.BILINEAR)
    x = torch.from_numpy(np.asarray(image).astype(np.float32) / 255)
    x = (x - torch.tensor(meta["mean"])) / torch.tensor(meta["std"])
    return x.permute(2, 0, 1).unsqueeze(0).contiguous()


def load(path):
    extra = {"taper.json": ""}
    network = torch.jit.load(path, _extra_files=extra)
    return network, json.loads(extra["taper.json"])


def make(out):
    folder = os.path.join(out, "images")
    os.makedirs(folder, exist_ok=True)
    classifier, classify_meta = load(os.path.join(out, "classifier.pt"))
    segmenter, segment_meta = load(os.path.join(out, "segmenter.pt"))
    expected = {}
    for name, scene in SCENES.items():
        path = os.path.join(folder, name)
        image = compose(scene)
        image.save(path, **({"quality": 88} if name.endswith("jpg") else {"optimize": True}))
        image = Image.open(path)                 # reads the written file, because JPEG changes the pixels a little
        with torch.no_grad():
            scores = classifier(network_input(image, classify_meta))[0].softmax(0)
            classes = segmenter(network_input(image, segment_meta))["out"][0].argmax(0)
        best = scores.topk(3)
        fractions = np.bincount(classes.flatten().numpy(), minlength=len(segment_meta["labels"]))
        expected[name] = {
            "classify": [{"label": classify_meta["labels"][i], "probability": round(p, 7)}
                         for p, i in zip(best.values.tolist(), best.indices.tolist())],
            "segment": {label: round(n / classes.numel(), 5)
                        for label, n in zip(segment_meta["labels"], fractions.tolist())},
        }
        print(name, os.path.getsize(path), "bytes;",
              ", ".join(f"{e['label']} {e['probability']:.3f}" for e in expected[name]["classify"]),
              "|", ", ".join(f"{l} {f:.3f}" for l, f in expected[name]["segment"].items() if f))
    with open(os.path.join(out, "expected.json"), "w") as file:
        json.dump(expected, file, indent=1)
        file.write("\n")
