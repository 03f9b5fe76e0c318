#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that 10,000 calls of each kind leak neither memory nor references."""
import gc
import sys
import unittest

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np

import taper

MODEL = taper.load(support.model_path("values.pt"))
CALLS = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 10000
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def fails(call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except Exception:
        return
    raise AssertionError("it did not fail")


class Leaks(unittest.TestCase):
    def check(self, call, calls=CALLS):
        for _ in range(calls // 10 + 10):
            call()
        gc.collect()
        blocks, memory, references = sys.getallocatedblocks(), resident(), sys.getrefcount(X)
        for _ in range(calls):
            call()
        gc.collect()
        self.assertEqual(sys.getrefcount(X), references)
        self.assertLess(sys.getallocatedblocks() - blocks, calls // 20 + 50)
        self.assertLess(resident() - memory, 3 << 20)


CASES = {
    "arrays": lambda: MODEL(X),
    "copies": lambda: MODEL(X[::-1]),
    "keywords": lambda: MODEL(x=X, shift=3),
    "numpy": lambda: MODEL(X).numpy(),
    "dlpack": lambda: np.from_dlpack(MODEL(X)),
    "unused_capsules": lambda: (MODEL(X).__dlpack__(), MODEL(X).__dlpack__(max_version=(1, 0), copy=True)),
    "numbers": lambda: MODEL.number(1, 2.0, True, 3j, "text"),
    "containers": lambda: MODEL.anything([("a", {"k": [X, None]})]),
    "named_tuples": lambda: MODEL.point((X, "a")),
    "dicts": lambda: MODEL.table({"a": X, "b": X}),
    "lists": lambda: MODEL.many(10),
    "attributes": lambda: MODEL.attribute("weight"),
    "aliases": lambda: MODEL.alias(X),
    "wrong_inputs": lambda: (fails(MODEL, "x"), fails(MODEL), fails(MODEL, X, y=1), fails(MODEL, object())),
    "wrong_items": lambda: (fails(MODEL.anything, [X, object()]), fails(MODEL.table, {"a": X, "b": object()}), fails(MODEL.pair, (X,))),
    "raised": lambda: fails(MODEL.fail, "boo"),
    "wrong_dlpack": lambda: fails(MODEL.integers(X).__dlpack__),
    "facts": lambda: (MODEL.inspect(), MODEL.signature("point"), MODEL.methods),
    "printing": lambda: MODEL.anything("x"),
    "quantized": lambda: MODEL.integers(X).dequantize(),
    "bfloat": lambda: MODEL.bfloat(X).to("float32"),
}
SLOW = {
    "clones": lambda: MODEL.clone().step(),
    "loads": lambda: taper.load(support.model_path("values.pt")),
    "loads_of_bytes": lambda: taper.load(MODEL.to_bytes())(X),
    "wrong_loads": lambda: (fails(taper.load, b"PK"), fails(taper.load, "/nothing"), fails(taper.load, MODEL, device=3)),
    "contexts": lambda: taper.Context(threads=1),
    "optimize": lambda: taper.optimize_for_mobile(support.model_path("small.pt"), extra_files={"a": "b"}),
    "graphs": lambda: (MODEL.graph(), fails(MODEL.graph, "nothing")),
    "other_contexts": lambda: OTHER.alias(MODEL(X)),
}
OTHER = taper.load(support.model_path("values.pt"), threads=1)
for name, case in CASES.items():
    setattr(Leaks, "test_" + name, lambda self, case=case: self.check(case))
for name, case in SLOW.items():
    setattr(Leaks, "test_" + name, lambda self, case=case: self.check(case, CALLS // 40))

if __name__ == "__main__":
    support.main()
