# SPDX-License-Identifier: BSD-2-Clause
"""str() of tensors: prints numbers as NumPy does, without NumPy, which need not be installed to run models."""
import math
import struct
import sys

FORMATS = {"float64": "d", "float32": "f", "float16": "e", "bfloat16": "bf", "complex128": "dd", "complex64": "ff", "complex32": "ee", "bool": "?",
           "uint8": "B", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "quint8": "B", "qint8": "b", "qint32": "i"}
SHOWN = 1000  # largest number of elements printed; of a larger tensor, only both ends of each dimension are printed
DIGITS = 8  # largest number of digits printed after the decimal point
WIDTH = 75


def _pack(number, form):
    """Returns the number as an element of the format `form` of module struct. "bf" means bfloat16: the upper half of a float's bits."""
    if form != "bf":
        return struct.pack(form, number)
    bits = struct.unpack("=I", struct.pack("=f", number))[0]
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def _unpack(raw, form):
    if form == "bf":
        return struct.unpack("=f", struct.pack("=I", int.from_bytes(raw, sys.byteorder) << 16))[0]
    return struct.unpack("=" + form, raw)


def _digits(number, form):
    """Returns how many digits after the first one distinguish the number from its neighbours in the format `form`: 0 for a float32 of 0.1."""
    packed = _pack(number, form)
    for digits in range(17):
        try:
            if _pack(float(f"{number:.{digits}e}"), form) == packed:
                return digits
        except OverflowError:  # rounding gave a number above the largest number of the format
            pass
    return 16


def _scientific(finite, form):
    digits = min(max(_digits(number, form) for number in finite), DIGITS)
    return [f"{number:#.{digits}e}" for number in finite]


def _fixed(finite, form):
    """Returns the digits of each number, with aligned points."""
    texts = []
    for number in finite:
        digits = _digits(number, form)
        exponent = int(f"{number:.{digits}e}".partition("e")[2])
        texts.append(f"{number:#.{min(max(digits - exponent, 0), DIGITS)}f}".rstrip("0"))
    width = max(len(text.partition(".")[2]) for text in texts)
    return [text + " " * (width - len(text.partition(".")[2])) for text in texts]


def _floats(numbers, form):
    """Returns the texts of the numbers, all of the same width."""
    finite = [number for number in numbers if math.isfinite(number)]
    sizes = [abs(number) for number in finite if number != 0]
    scientific = bool(sizes) and (max(sizes) >= 1e8 or min(sizes) < 1e-4 or max(sizes) / min(sizes) > 1000)
    texts = iter((_scientific if scientific else _fixed)(finite, form) if finite else ())
    texts = [next(texts) if math.isfinite(number) else str(number) for number in numbers]
    width = max(len(text) for text in texts)
    return [text.rjust(width) for text in texts]


def _scalar(numbers, form):
    """Returns the text of a tensor of rank 0, with all digits."""
    parts = [float(f"{part:.{_digits(part, form)}e}") if math.isfinite(part) else part for part in numbers]
    return str(parts[0] if len(parts) == 1 else complex(*parts))


def _texts(tensor, places):
    """Returns the texts of the elements at the positions `places`."""
    if not places:
        return []
    form = FORMATS[tensor.dtype]
    numbers = [_unpack(tensor._element(place), form) for place in places]
    if tensor.ndim == 0 and form[0] in "dfe":
        return [_scalar(numbers[0], form[0])]
    if len(form) == 2 and form != "bf":
        real = _floats([number[0] for number in numbers], form[0])
        imaginary = _floats([abs(number[1]) for number in numbers], form[0])
        signs = ["-" if math.copysign(1, number[1]) < 0 else "+" for number in numbers]
        return [f"{a}{sign}{b.strip()}j{' ' * (len(b) - len(b.strip()))}" for a, sign, b in zip(real, signs, imaginary)]
    if form == "bf":
        return _floats(numbers, form)
    numbers = [number[0] for number in numbers]
    if form in "dfe":
        return _floats(numbers, form)
    if tensor.scale is not None:
        return _floats([(number - tensor.zero_point) * tensor.scale for number in numbers], "d")
    texts = [str(number) for number in numbers]
    if form == "?" and tensor.ndim != 0:
        texts.append("False")  # True and False get the same width, as in NumPy
    width = max(len(text) for text in texts)
    return [text.rjust(width) for text in texts[:len(numbers)]]


def _shown(shape):
    """Returns for each dimension the indices that are shown, with None for an omitted range, or None if there are too many of them."""
    if math.prod(shape) <= SHOWN:
        return [list(range(size)) for size in shape]
    for edge in (3, 2, 1):
        if math.prod(min(size, 2 * edge) for size in shape) <= SHOWN:
            return [list(range(size)) if size <= 2 * edge else [*range(edge), None, *range(size - edge, size)] for size in shape]
    return None


def _row(texts, depth):
    """Returns the numbers of the last dimension, in lines that leave room for the closing brackets."""
    lines, line = [], "["
    for index, text in enumerate(texts):
        if index and depth + len(line) + 1 + len(text) > WIDTH - depth - 1:
            lines.append(line.rstrip())
            line = " " + text
        else:
            line += (" " if index else "") + text
    return ("\n" + " " * depth).join([*lines, line + "]"])


def _block(shown, texts, place, depth):
    if not shown:
        return texts[place]
    if len(shown) == 1:
        return _row(["..." if index is None else texts[place + (index,)] for index in shown[0]], depth)
    parts = ["..." if index is None else _block(shown[1:], texts, place + (index,), depth + 1) for index in shown[0]]
    return "[" + ("\n" * (len(shown) - 1) + " " * (depth + 1)).join(parts) + "]"


def _places(shown):
    places = [()]
    for indices in shown:
        places = [place + (index,) for place in places for index in indices if index is not None]
    return places


def text(tensor):
    shown = _shown(tensor.shape)
    if shown is None or tensor.dtype not in FORMATS:
        return repr(tensor)
    if 0 in tensor.shape:
        return f"[]\n{tensor!r}"
    places = _places(shown)
    return f"{_block(shown, dict(zip(places, _texts(tensor, places))), (), 0)}\n{tensor!r}"
