#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare_text.py [--near] COMPILER SOURCE PROGRAM ARGUMENT…: compiles the source with PyTorch's headers (Debian: libtorch-dev) and compares its
output with the output of PROGRAM, the same source compiled with Taper. The output must be equal up to the line "models". After it, numbers may differ
by 1e-4 of the largest number on their line, and by one in the last printed digit. --near allows this difference in all lines."""
import pathlib
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"(-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan))")


def compile_with_torch(compiler, source, program, *flags):
    include = next((p for p in ("/usr/include", "/usr/local/include") if pathlib.Path(p, "torch/script.h").exists()), None)
    if include is None:
        print("SKIPPED: PyTorch's C++ headers are not installed (Debian: libtorch-dev)")
        sys.exit(77)
    command = [compiler, "-std=c++14", "-O0", str(source), "-o", str(program), "-I", include + "/torch/csrc/api/include", *flags, "-ltorch",
               "-ltorch_cpu", "-lc10"]
    subprocess.run(command, check=True)


def split(text):
    lines = text.split("\n")
    at = lines.index("models")
    return lines[:at], lines[at:]


def near(ours, theirs):
    a, b = NUMBER.split(ours), NUMBER.split(theirs)
    if len(a) != len(b) or [t.split() for t in a[0::2]] != [t.split() for t in b[0::2]]:
        return False
    pairs = [(float(x), float(y)) for x, y in zip(a[1::2], b[1::2])]
    largest = max((abs(y) for _, y in pairs if y == y), default=0)
    digit = max((10.0 ** -len(y.split(".")[1]) if "." in y and "e" not in y else 0 for y in b[1::2]), default=0)
    return all(x == y or (x != x and y != y) or abs(x - y) <= 1e-4 * largest + 1e-5 + 1.001 * digit for x, y in pairs)


def blocks(lines):
    """Returns the output of each call: a title, which names a file and a method, and its text."""
    found = []
    for line in lines[1:]:
        if re.match(r"\S+\.ptl? \w+$", line):
            found.append([line])
        elif found:
            found[-1].append(line)
    return found


def main():
    is_near = sys.argv[1] == "--near"
    compiler, source, program, *arguments = sys.argv[2 if is_near else 1:]
    with tempfile.TemporaryDirectory() as scratch:
        other = pathlib.Path(scratch, "same_text")
        compile_with_torch(compiler, source, other)
        texts = [subprocess.run([str(p), *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout for p in (program, other)]
        ours, theirs = split(texts[0]), split(texts[1])
    passed = failed = 0
    for number in range(max(len(ours[0]), len(theirs[0]))):
        a, b = (part[0][number] if number < len(part[0]) else "(nothing)" for part in (ours, theirs))
        if a == b or (is_near and near(a, b)):
            passed += 1
        else:
            failed += 1
            print(f"FAILED line {number + 1}: Taper printed {a!r}, PyTorch {b!r}")
    ours, theirs = blocks(ours[1]), blocks(theirs[1])
    if [b[0] for b in ours] != [b[0] for b in theirs]:
        print("FAILED: other calls")
        failed += 1
    for mine, other in zip(ours, theirs):
        if len(mine) == len(other) and all(near(a, b) for a, b in zip(mine[1:], other[1:])):
            passed += 1
        else:
            failed += 1
            print(f"FAILED {mine[0]}: Taper printed", *mine[1:6], "PyTorch", *other[1:6], sep="\n    ")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
