"""Makes pictures for the demo's two networks from files of Debian packages.

Colour emoji of fonts-noto-color-emoji are pasted, with random size, rotation,
flip, shadow and colour, on backgrounds that are crops of the two photographs of
python3-sklearn or drawn procedurally.  The emoji's own alpha channel gives the
segmentation mask for free.

Every picture is a function of (split, index) alone, so a set can be made again.
The splits share only the emoji: "train" crops its backgrounds from the left
part of each photograph, "heldout" and "sample" from the right part (with a gap
between them), and each split draws its random numbers from other seeds.
"""
import math

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

FONT = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
PHOTOS = "/usr/lib/python3/dist-packages/sklearn/datasets/images/"
TRAIN_END, HELDOUT_START = 352, 368          # "train" uses columns 0 to TRAIN_END of the 640 pixel wide photographs, the other splits columns from HELDOUT_START on
SPLITS = {"train": 1, "heldout": 2, "sample": 3}

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]

# A class may have several drawings.
GLYPHS = {
    "dog": "🐶🐕", "cat": "🐱🐈", "panda": "🐼", "penguin": "🐧", "owl": "🦉",
    "fish": "🐟🐠", "butterfly": "🦋", "tree": "🌳🌲", "sunflower": "🌻", "mushroom": "🍄",
    "pizza": "🍕", "burger": "🍔", "ice cream": "🍦🍨", "strawberry": "🍓", "banana": "🍌",
    "car": "🚗🚙", "bicycle": "🚲", "airplane": "✈", "rocket": "🚀", "guitar": "🎸",
}
CLASSIFY_LABELS = list(GLYPHS)
CLASSIFY_SIZE = 96

SEGMENT_COLORS = {
    "background": "#000000", "dog": "#ff9f1c", "cat": "#ffd60a", "owl": "#9b5de5",
    "butterfly": "#f15bb5", "tree": "#2ec27e", "sunflower": "#c6ff00", "pizza": "#fb5607",
    "strawberry": "#e01e5a", "car": "#3a86ff", "rocket": "#00e5ff",
}
SEGMENT_LABELS = list(SEGMENT_COLORS)
SEGMENT_SIZE = 192
STRANGERS = [label for label in GLYPHS if label not in SEGMENT_COLORS]    # classes of the classifier that the segmenter treats as background


# ---------------------------------------------------------------- emoji

_sprites = {}


def sprites(label):
    """Returns the drawings of a class as RGBA images, cut to their visible part."""
    if label not in _sprites:
        font = ImageFont.truetype(FONT, 109)       # this bitmap font has only one size
        _sprites[label] = []
        for glyph in GLYPHS[label]:
            image = Image.new("RGBA", (136, 128), (0, 0, 0, 0))
            ImageDraw.Draw(image).text((0, 0), glyph, font=font, embedded_color=True)
            box = image.getchannel("A").point(lambda a: 255 * (a > 8)).getbbox()
            _sprites[label].append(image.crop(box))
    return _sprites[label]


def transformed(rng, label, side, squash, max_angle, jitter=True):
    """Returns one drawing of `label`, about `side` pixels long, rotated, with its width multiplied by `squash`."""
    choice = sprites(label)
    image = choice[rng.integers(len(choice))]
    if rng.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    scale = side / max(image.size)
    image = image.resize([max(4, round(n * scale)) for n in image.size], Image.Resampling.BICUBIC)
    image = image.rotate(rng.uniform(-max_angle, max_angle), Image.Resampling.BICUBIC, expand=True)
    if squash != 1:
        image = image.resize((max(4, round(image.width * squash)), image.height),
                             Image.Resampling.BILINEAR)
    if jitter:
        pixels = np.asarray(image).astype(np.float32)
        pixels[..., :3] = colour_jitter(rng, pixels[..., :3], 0.2, 0.1)
        image = Image.fromarray(pixels.astype(np.uint8), "RGBA")
    return image


# ---------------------------------------------------------------- backgrounds

_photos = []


def photo_crop(rng, split, w, h):
    """Returns a random crop from the part of a photograph that belongs to `split`."""
    if not _photos:
        _photos.extend(Image.open(PHOTOS + n).convert("RGB") for n in ("china.jpg", "flower.jpg"))
    photo = _photos[rng.integers(2)]
    left, right = (0, TRAIN_END) if split == "train" else (HELDOUT_START, photo.width)
    scale = rng.uniform(0.3, 1.0) * min((right - left) / w, photo.height / h)
    if scale > 1:                               # enlarges the crop, and roughly keeps its aspect ratio
        cw, ch = w * scale, h * scale * rng.uniform(0.75, 1.0)
    else:
        cw, ch = w * scale, h * scale
    x, y = rng.uniform(left, right - cw), rng.uniform(0, photo.height - ch)
    crop = photo.resize((w, h), Image.Resampling.BILINEAR, box=(x, y, x + cw, y + ch))
    if rng.random() < 0.5:
        crop = crop.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return np.asarray(crop).astype(np.float32)


def colour(rng):
    """A random colour: a hue of some saturation and brightness."""
    hue, saturation, value = rng.random() * 6, rng.random(), rng.uniform(0.15, 1.0)
    rgb = np.clip(np.abs((hue + np.array([0, 4, 2])) % 6 - 3) - 1, 0, 1)
    return (255 * value * (1 - saturation * (1 - rgb))).astype(np.float32)


def gradient(rng, w, h):
    """A gradient of three colours along a random direction."""
    a = rng.uniform(0, 2 * math.pi)
    t = (math.cos(a) * np.linspace(-1, 1, w)[None, :] + math.sin(a) * np.linspace(-1, 1, h)[:, None])
    t = (t / 1.5 + 1) / 2
    stops = np.stack([colour(rng) for _ in range(3)])
    return np.stack([np.interp(t, [0, rng.uniform(0.3, 0.7), 1], stops[:, c]) for c in range(3)],
                    -1).astype(np.float32)


def clouds(rng, w, h):
    """Smooth noise, the sum of a few octaves, whose values select colours between two or three given colours."""
    total = np.zeros((h, w), np.float32)
    cells, weight = int(rng.integers(2, 6)), 1.0
    for _ in range(int(rng.integers(1, 5))):
        grid = Image.fromarray(rng.random((cells + 1, cells + 1), np.float32))
        total += weight * np.asarray(grid.resize((w, h), Image.Resampling.BICUBIC))
        cells, weight = cells * 2, weight * rng.uniform(0.4, 0.8)
    total = (total - total.min()) / (np.ptp(total) + 1e-6)
    stops = np.stack([colour(rng) for _ in range(3)])
    return np.stack([np.interp(total, [0, 0.5, 1], stops[:, c]) for c in range(3)],
                    -1).astype(np.float32)


def landscape(rng, w, h, layers=3):
    """A sky, perhaps a sun, and ranges of hills."""
    top, bottom = colour(rng), colour(rng)
    t = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
    image = Image.fromarray(np.broadcast_to(top * (1 - t) + bottom * t, (h, w, 3)).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    if rng.random() < 0.5:
        r, x, y = rng.uniform(0.05, 0.12) * h, rng.uniform(0, w), rng.uniform(0, h * 0.5)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(colour(rng).astype(int)))
    for layer in range(layers):
        base = h * (0.45 + 0.18 * layer)
        xs = np.arange(0, w + 4, 4)
        ys = base + sum(h * 0.06 / k * np.sin(xs / w * 2 * math.pi * k * rng.uniform(0.5, 1.5)
                                              + rng.uniform(0, 6.3)) for k in (1, 2, 3))
        draw.polygon([(0, h), *zip(xs.tolist(), ys.tolist()), (w + 4, h)],
                     fill=tuple(colour(rng).astype(int)))
    return np.asarray(image).astype(np.float32)


def shapes(rng, w, h):
    """A background of shapes: ellipses, boxes and lines over a gradient."""
    image = Image.fromarray(gradient(rng, w, h).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(3, 12))):
        x, y, a, b = rng.uniform(0, w), rng.uniform(0, h), *rng.uniform(3, h * 0.25, 2)
        fill = tuple(colour(rng).astype(int))
        kind = rng.integers(3)
        if kind == 0:
            draw.ellipse((x - a, y - b, x + a, y + b), fill=fill)
        elif kind == 1:
            draw.rectangle((x - a, y - b, x + a, y + b), fill=fill)
        else:
            draw.line((x - 2 * a, y - b, x + 2 * a, y + b), fill=fill, width=int(rng.integers(1, 6)))
    return np.asarray(image).astype(np.float32)


def colour_jitter(rng, pixels, amount, tint):
    """Random brightness, contrast and colour balance of a float image in 0..255."""
    gain = rng.uniform(1 - amount, 1 + amount) * rng.uniform(1 - tint, 1 + tint, 3)
    contrast = rng.uniform(1 - amount, 1 + amount)
    return np.clip(((pixels - 128) * contrast + 128) * gain.astype(np.float32), 0, 255)


def background(rng, split, w, h):
    kind = rng.random()
    if kind < 0.6:
        pixels = colour_jitter(rng, photo_crop(rng, split, w, h), 0.35, 0.2)
    elif kind < 0.7:
        pixels = gradient(rng, w, h)
    elif kind < 0.8:
        pixels = clouds(rng, w, h)
    elif kind < 0.9:
        pixels = landscape(rng, w, h)
    else:
        pixels = shapes(rng, w, h)
    return Image.fromarray(pixels.astype(np.uint8))


# ---------------------------------------------------------------- composition

def paste(rng, canvas, mask, sprite, x, y, value, shadow):
    """Draws a sprite on the canvas (and its class into the mask), over an optional soft shadow."""
    alpha = sprite.getchannel("A")
    if shadow:
        margin = max(2, sprite.height // 7)
        soft = ImageOps.expand(alpha, margin).filter(ImageFilter.BoxBlur(margin // 2))
        soft = soft.point(lambda a: int(a * 0.4))
        canvas.paste((0, 0, 0), (x + sprite.width // 16 - margin, y + sprite.height // 12 - margin), soft)
    canvas.paste(sprite, (x, y), alpha)
    if mask is not None:
        mask.paste(value, (x, y), alpha.point(lambda a: 255 * (a > 127)))


def place(rng, sprite, size, slack):
    """Returns a random position; up to the fraction `slack` of the sprite may be outside the picture."""
    def along(length):
        low, high = -slack * length, size - (1 - slack) * length
        return int(low + rng.random() * (high - low))
    return along(sprite.width), along(sprite.height)


def noise(rng, canvas):
    """Adds a little sensor noise, in half of the pictures."""
    if rng.random() < 0.5:
        return np.asarray(canvas)
    pixels = np.asarray(canvas).astype(np.float32)
    pixels += rng.standard_normal(pixels.shape, np.float32) * rng.uniform(1, 8)
    return pixels.clip(0, 255).astype(np.uint8)


def generator(split, index):
    return np.random.default_rng([SPLITS[split], index])


def classify_example(split, index, size=CLASSIFY_SIZE):
    """Returns (pixels [size,size,3] uint8, class number): one emoji somewhere in the picture."""
    rng = generator(split, index)
    label = int(rng.integers(len(CLASSIFY_LABELS)))
    canvas = background(rng, split, size, size)
    sprite = transformed(rng, CLASSIFY_LABELS[label], rng.uniform(0.4, 1.0) * size,
                         rng.uniform(0.7, 1.2), 30)
    x, y = place(rng, sprite, size, 0.1)
    paste(rng, canvas, None, sprite, x, y, 0, rng.random() < 0.5)
    return noise(rng, canvas), label


def segment_example(split, index, size=SEGMENT_SIZE):
    """Returns (pixels [size,size,3], mask [size,size]), both uint8: several emoji that overlap a little. A few are of classes that the segmenter
    must ignore."""
    rng = generator(split, 10_000_000 + index)
    canvas = background(rng, split, size, size)
    mask = Image.new("L", (size, size), 0)
    squash = rng.uniform(0.7, 1.1)
    shadow = rng.random() < 0.5
    wanted = int(rng.integers(1, 4 if size < 160 else 6))
    for _ in range(wanted):
        value = int(rng.integers(1, len(SEGMENT_LABELS)))
        label = SEGMENT_LABELS[value]
        if rng.random() < 0.12:
            value, label = 0, STRANGERS[rng.integers(len(STRANGERS))]
        sprite = transformed(rng, label, rng.uniform(30, 100), squash, 35)
        for _ in range(6):
            x, y = place(rng, sprite, size, 0.2)
            under = mask.crop((x, y, x + sprite.width, y + sprite.height)).point(lambda v: 255 * (v > 0))
            covered = ImageChops.multiply(under, sprite.getchannel("A")).histogram()
            if sum(covered[128:]) < 0.12 * sprite.width * sprite.height:
                paste(rng, canvas, mask, sprite, x, y, value, shadow)
                break
    return noise(rng, canvas), np.asarray(mask)
