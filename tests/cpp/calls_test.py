#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""calls_test.py COMPILER LIBRARY INCLUDE;INCLUDE…: compiles make_calls.py's program with PyTorch's headers (Debian: libtorch-dev) and with
Taper's and compares the output: the program calls every function and method made from the operator list with arguments that PyTorch accepts.
Numbers may differ by 1e-4 of the largest number on their line, and by one in the last printed digit."""
import pathlib
import subprocess
import sys
import tempfile

import compare_text

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ["-lz", "-lm", "-lpthread", "-ldl"]
# Calls whose results may differ from PyTorch's, with the reason.
DIFFER = {
    "_embedding_bag": "the last results, which only gradients read", "embedding_bag": "the last results, which only gradients read",
    "_unique2": "the order of what is not sorted is nobody's",
    "bitwise_left_shift_.Tensor_Scalar (method)": "PyTorch shifts by -1, which C leaves open",
    "fft_ihfft2.out": "PyTorch leaves out as it was",
    "fft_ihfftn.out": "PyTorch leaves out as it was",
    "resize.out": "PyTorch gives out the sizes of self",
}


def blocks(text):
    """Returns the name and the lines of output of each call."""
    found = []
    for line in text.split("\n"):
        if line.startswith("== "):
            found.append([line[3:]])
        elif found:
            found[-1].append(line)
    return found


def same(ours, theirs):
    return len(ours) == len(theirs) and all(a == b or compare_text.near(a, b) for a, b in zip(ours, theirs))


def main():
    compiler, library, includes = sys.argv[1:]
    made = subprocess.run([sys.executable, str(HERE / "make_calls.py")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if made.returncode == 77:
        print(made.stdout.strip())
        return 77
    print(made.stderr.strip(), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        source, ours, theirs = (pathlib.Path(scratch, name) for name in ("calls.cpp", "ours", "theirs"))
        source.write_text(made.stdout)
        compare_text.compile_with_torch(compiler, source, theirs, "-I", str(HERE))
        subprocess.run([compiler, "-std=c++14", "-O0", "-I", str(HERE), *(w for i in includes.split(";") for w in ("-I", i)), str(source),
                        "-o", str(ours), library, *LIBRARIES], check=True)
        answers = []
        for program in (ours, theirs):
            p = subprocess.run([str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
            if p.returncode != 0:
                print(f"FAILED: {program.name} ends with {p.returncode} in {blocks(p.stdout)[-1][0]}")
            answers.append((blocks(p.stdout), p.stderr))
    said = dict(line.split(": ", 1) for line in answers[0][1].split("\n") if ": " in line)
    passed = failed = left = 0
    for mine, other in zip(answers[0][0], answers[1][0]):
        name = mine[0]
        if other[1:2] == ["ended"] or mine[:2] == [name, "threw"] and other[1:2] == ["threw"]:
            left += 1  # PyTorch gave no result to compare with
        elif mine == other or (name == other[0] and same(mine, other) and mine[1:2] != ["threw"]):
            passed += 1
        elif name in DIFFER:
            print(f"NOTE {name}: {DIFFER[name]}")
            passed += 1
        else:
            failed += 1
            print(f"FAILED {name}: {said.get(name, '')}", "Taper printed", *mine[1:8], "PyTorch", *other[1:8], sep="\n    ")
    if len(answers[0][0]) != len(answers[1][0]):
        print("FAILED: one of them made fewer calls")
        failed += 1
    print(f"{left} calls of which PyTorch makes nothing in C++")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 2500 else 0


sys.exit(main())
