#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_optimize to corpus/optimize beside this file: the first byte (fuzz_optimize.c says what it chooses) and a model
of fuzz_program's or of the unit tests' data. Everything is made here, without PyTorch, and comes out the same every time."""
import os

import make_corpus_program as program
from make_corpus_flatbuffer import write

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "data", "flatbuffer")
# cpu, vulkan, metal, only converted; with passes left out, with samples, as a flatbuffer, in versions 5 to 8 of bytecode.
CHOICES = (0, 1, 2, 3, 4 + 64, 5 + 32, 24 + 128, 24 + 32, 1 + 192, 6 + 128)


def main():
    for i, (name, data) in enumerate(sorted((program.run_programs() | program.stop_programs()).items())):
        write("optimize", name, bytes([CHOICES[i % len(CHOICES)]]) + data)
    for i, name in enumerate(sorted(os.listdir(MODELS))):
        with open(os.path.join(MODELS, name), "rb") as file:
            data = file.read()
        if name.endswith(".fb.ptl"):
            for choice in (CHOICES[i % 3], CHOICES[3 + i % 7]):
                write("optimize", f"{name[:-7]}_{choice}", bytes([choice]) + data)


if __name__ == "__main__":
    main()
