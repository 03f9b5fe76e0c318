#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""fuzz_test.py [COUNT [SEED]]: calls models with random arguments. A value that a model accepts must be returned unchanged. Any other value must
raise one of the exceptions below and leave the model unchanged."""
import decimal
import math
import random
import sys
import unittest

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np

import taper

SEED = int(sys.argv.pop()) if len(sys.argv) > 2 and sys.argv[-1].isdigit() else 1
COUNT = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 20000
EXPECTED = (taper.Error, TypeError, ValueError, OverflowError, RecursionError, BufferError, MemoryError)
MODEL = taper.load(support.model_path("values.pt"), instruction_budget=100000, memory_budget=1 << 28)
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", "bool"]


class Hostile:
    """Returns an unsuitable value for every attribute."""

    def __init__(self, rng):
        self.rng = rng

    def __getattr__(self, name):
        if name.startswith("__") and name not in ("__dlpack__", "__dlpack_device__", "__array__", "__array_interface__", "__index__", "__float__"):
            raise AttributeError(name)
        pick = self.rng.randrange(7)
        if pick == 0:
            raise AttributeError(name)
        if pick == 1:
            raise RuntimeError(name)
        return [None, 3, (1, 0), lambda *a, **k: (1, 0), lambda *a, **k: self][pick - 2]


def array(rng):
    shape = tuple(rng.randrange(4) for _ in range(rng.randrange(5)))
    x = np.array(np.random.default_rng(rng.randrange(1 << 30)).integers(0, 2, shape)).astype(rng.choice(DTYPES))
    if rng.random() < 0.3:
        x = x.astype(x.dtype.newbyteorder(rng.choice("<>=")))
    if x.ndim and rng.random() < 0.5:
        x = x.transpose(rng.sample(range(x.ndim), x.ndim))[tuple(slice(None, None, rng.choice([1, -1, 2, -2])) for _ in range(x.ndim))]
    if rng.random() < 0.2:
        x.setflags(write=False)
    return x


def good(rng, depth=0):
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([0, 1, -1, 2 ** 63 - 1, -2 ** 63, rng.randrange(-10 ** 6, 10 ** 6)])
    if kind == 1:
        return rng.choice([0.0, -0.0, 1e308, math.inf, math.nan, rng.random()])
    if kind == 2:
        return rng.choice([True, False, None])
    if kind == 3:
        return "".join(chr(rng.choice([0, 65, 233, 0x4e00, 0x1f600])) for _ in range(rng.randrange(6)))
    if kind == 4:
        return complex(rng.random(), rng.random())
    if kind == 5:
        return array(rng)
    if kind == 6:
        return tuple(good(rng, depth + 1) for _ in range(rng.randrange(4)))
    if kind == 7:
        item = good(rng, depth + 1)
        return [item] * rng.randrange(1, 4)
    keys = rng.sample([1, 2, 3, 7], rng.randrange(3)) if rng.random() < 0.5 else rng.sample(["a", "b", "", "c d"], rng.randrange(3))
    value = good(rng, depth + 1)
    return {key: value for key in keys}


def bad(rng, depth=0):
    kind = rng.randrange(14 if depth < 3 else 12)
    loop = []
    loop.append(loop)
    return [lambda: good(rng), lambda: good(rng), object, lambda: 2 ** 70, lambda: "\ud800", lambda: {1, 2}, lambda: decimal.Decimal(1), lambda: loop,
            lambda: Hostile(rng), lambda: np.zeros(2, rng.choice(["u2", "u8", "S3", "U2", "M8[s]", "O", "g", "f4,i4"])), lambda: np.zeros((1,) * rng.randrange(15, 33)),
            lambda: rng.choice([b"ab", bytearray(3), range(4), Ellipsis, NotImplemented, type, len, memoryview(b"abc")[::-1], np.float32(2), np.int16(3)]),
            lambda: [bad(rng, depth + 1) for _ in range(rng.randrange(4))],
            lambda: {rng.choice([1, "a", None, 2.5, (1,), b"x"]): bad(rng, depth + 1) for _ in range(rng.randrange(3))}][kind]()


def same(a, b):
    if isinstance(a, taper.Tensor):
        b = np.asarray(b)
        return a.dtype == b.dtype.newbyteorder("=").name and a.shape == b.shape and np.array_equal(a.numpy(), b)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and (a == b or (a != a and b != b)) and math.copysign(1, a if isinstance(a, float) else 1) == math.copysign(1, b if isinstance(b, float) else 1)


class Fuzz(unittest.TestCase):
    def test_what_fits_comes_back(self):
        rng = random.Random(SEED)
        done = 0
        for i in range(COUNT):
            value = good(rng)
            try:
                got = MODEL.anything(value)
            except taper.Error as error:  # raised, for example, for items of a list or dict that differ in type
                self.assertRegex(str(error), "should be|hash|key", value)
                continue
            done += 1
            self.assertTrue(same(got, value), f"seed {SEED}, value {i}: {value!r} became {got!r}")
        self.assertGreater(done, COUNT * 0.9)

    def test_what_does_not_fit_is_refused(self):
        rng = random.Random(SEED + 1)
        methods = [name for name in MODEL.methods if name not in ("say", "warn", "grow_state", "step")]
        raised = 0
        for i in range(COUNT):
            name = rng.choice(methods)
            arguments = MODEL.signature(name)[0]
            args = [rng.choice([good, bad])(rng) for _ in range(rng.randrange(len(arguments) + 2))]
            keywords = {rng.choice([argument for argument, _ in arguments] + ["other"]): bad(rng) for _ in range(rng.randrange(3))} if rng.random() < 0.3 else {}
            try:
                MODEL.method(name)(*args, **keywords)
            except EXPECTED as error:
                raised += 1
                self.assertTrue(str(error) or isinstance(error, MemoryError), f"seed {SEED}, call {i} of {name}: {type(error)} without a word")
            except (RuntimeError, AttributeError) as error:  # exceptions that an object of class Hostile raises itself
                self.assertIn("__", str(error))
        self.assertGreater(raised, COUNT // 2)
        self.assertEqual(MODEL.ints([1]), [1, 1])


if __name__ == "__main__":
    support.main()
