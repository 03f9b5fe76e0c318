# SPDX-License-Identifier: BSD-2-Clause
"""Compares results of Taper with PyTorch's: numbers element by element, errors by their messages."""
import math
import pathlib
import re

import torch

EPS = {torch.float64: 2.0**-52, torch.complex128: 2.0**-52, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
# Tolerances relative to an element: another formula, or another order of a few operations, changes its last bits.
RELATIVE = {torch.float64: 1e-11, torch.complex128: 1e-11, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
# Tolerances relative to the scale of the inputs, in units of the last place: they allow the error that remains after large terms have cancelled each
# other.
ULPS = {torch.float16: 1, torch.bfloat16: 1}

OTHER_WORDS = pathlib.Path(__file__).with_name("other_words.txt")


def numbers(v):
    if isinstance(v, torch.Tensor):
        yield v
    elif isinstance(v, (list, tuple)):
        for x in v:
            yield from numbers(x)
    elif isinstance(v, dict):
        yield from numbers(list(v.values()))
    elif isinstance(v, (int, float, complex)) and not isinstance(v, bool):
        yield torch.tensor(v, dtype=torch.complex128 if isinstance(v, complex) else torch.float64)


def scale(values):
    """Returns the largest finite magnitude."""
    most = 0.0
    for t in numbers(values):
        t = (t.dequantize() if t.is_quantized else t).detach()
        t = t.abs().double() if t.is_complex() else t.double().abs()
        t = t[torch.isfinite(t)]
        most = max(most, float(t.max()) if t.numel() else 0.0)
    return most


def length(args):
    """Returns the greatest number of products or terms in a sum over a row or a channel of these sizes."""
    return max([t.numel() // max(t.shape[0], 1) if t.dim() > 1 else t.numel() for t in numbers(args)] + [1])


def bounds(want, options):
    """Returns (tolerance relative to each element's magnitude, absolute tolerance), or None if whole tensors are compared."""
    if "scale" not in options:
        return None
    eps = EPS.get(want.dtype, 2.0**-23)
    beside = ULPS.get(want.dtype, 4) * eps * options["scale"] * math.sqrt(options.get("length", 1))
    return options.get("rtol", RELATIVE.get(want.dtype, 1e-5)), max(options.get("atol", 0.0), beside, 3e-45)


def whole_bounds(want, options):
    """Returns (tolerance relative to the largest magnitude, absolute tolerance) for a tensor as a whole."""
    half, fine = want.dtype in (torch.float16, torch.bfloat16), want.dtype in (torch.float64, torch.complex128)
    return (options.get("rtol", 1e-9 if fine else 2e-2 if want.dtype == torch.bfloat16 else 2e-3 if half else 1e-4),
            options.get("atol", 1e-12 if fine else 1e-3 if half else 1e-5))


def plain(text):
    return re.sub(r"[^a-z0-9.+-]+", " ", text.lower()).strip().rstrip(".")


DTYPE = "Half|BFloat16|Float|Double|Byte|Char|Short|Int|Long|Bool|Complex(?:Half|Float|Double)|QUInt8|QInt8|QInt32"


def shape(text):
    """Returns a message without the parts that differ between calls: the operator's name at the beginning, numbers, dtypes, lists of numbers."""
    text = re.sub(r"^(?:\S+\.ptl?: )?(?:\w+::[\w.]+: )?", "", text)
    text = re.sub(rf"torch\.\w*(?:{DTYPE})\w*", "<T>", text)
    text = re.sub(rf"\b(?:{DTYPE})\b", "<t>", text)
    text = re.sub(r"\b(float16|bfloat16|float32|float64|uint8|int8|int16|int32|int64|bool|complex64|complex128|quint8|qint8|qint32)\b", "<t>", text)
    text = re.sub(r"-?\d+(\.\d*)?(e[+-]?\d+)?", "#", text)
    return re.sub(r"([\[(])#(, *#)*,?([\])])", r"\1#\3", text).strip()


def other_words():
    """Returns the messages of the list, which has pairs of lines, as {(PyTorch's, Taper's)}."""
    lines = [line for line in OTHER_WORDS.read_text().splitlines() if line and not line.startswith("# ")]
    return set(zip(lines[::2], lines[1::2]))


def same_error(raised, stderr):
    """Returns None if Taper's message contains PyTorch's, or if OTHER_WORDS lists both messages as equivalent. raised: for example "RuntimeError:
    text"."""
    first = stderr.strip().split("\n")[0]
    if not first.startswith("taper: error: "):
        return f"no error of Taper's: {first[:200]}"
    first = first[len("taper: error: "):]
    if re.match(r"(\S+: )?input \d+", first):
        return f"the inputs did not reach the model: {first[:300]}"
    want = re.sub(r"^[\w.]*(Error|Exception): ?", "", raised)
    if plain(want) and plain(want) in plain(first):
        return None
    kernel = re.fullmatch(rf"\"\w+\" not implemented for '({DTYPE})'", want)  # the message contains the name of PyTorch's kernel
    if kernel and f"not implemented for '{kernel[1]}'" in first:
        return None
    if (shape(want) or "(none)", shape(first)) in other_words():
        return None
    return f"raised other words: {first[:300]}; PyTorch: {want}"
