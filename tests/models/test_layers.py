#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_layers.py TAPER

Tests the parts of bench/layers.py. A seed always draws the same layers, and a draw of 500 has every kind. Taper computes PyTorch's results
of the first layers. A PyTorch with the reference BLAS is refused for comparisons, unless an option allows it. No times are compared."""
import os
import subprocess
import sys

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench")
sys.path.insert(0, BENCH)
try:
    import layer_draw
    import torch_blas
except ImportError:
    print("skipped: PyTorch 1.13 (python3-torch) is not installed")
    sys.exit(77)

passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def main():
    texts = [text for text, _, _ in layer_draw.layers(7, 40)]
    check(texts == [text for text, _, _ in layer_draw.layers(7, 40)], "the layers of a seed")
    check(texts != [text for text, _, _ in layer_draw.layers(8, 40)], "the layers of two seeds")
    taken = set()
    random = layer_draw.Draw(1).random
    for _ in range(500):
        taken.add(random.choice(range(len(layer_draw.KINDS))))
    check(len(taken) == len(layer_draw.KINDS), "the kinds of a draw of 500")
    command = [sys.executable, os.path.join(BENCH, "layers.py"), sys.argv[1], "--count", "12", "--rounds", "1"]
    p = subprocess.run([*command, "--any-blas"], capture_output=True, text=True)
    check(p.returncode == 0 and "12 layers, 0 left out" in p.stdout, f"12 layers: {p.stdout[-300:]}{p.stderr[-300:]}")
    if torch_blas.loaded() is None:
        p = subprocess.run(command, capture_output=True, text=True)
        check(p.returncode == 1 and p.stderr.strip() == torch_blas.WAY_OUT, f"the reference BLAS: {p.stderr[-300:]}")
    print(f"{passed} passed, {failed} failed; PyTorch's BLAS: {torch_blas.loaded() or 'the reference one'}")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
