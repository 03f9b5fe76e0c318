#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""rebuilds.py BUILD [--check]: reports what a change of ten typical files recompiles: objects, and processor-seconds on the machine of BUILD.

Reads Ninja's data of an up-to-date build: the files that each object includes (-t deps), and the time of each object (.ninja_log; with two
compilers on two cores, the time of an object is processor time). --check fails if a file is above its limit."""
import collections
import os
import re
import subprocess
import sys

# (file, largest number of objects or None, the kind of change). A row of the operator list also changes the files that are made of the list.
MADE_OF_ROWS = ["generated/ops/list/op_table.inc", "generated/ops/list/op_rows.h", "taper/cpp/generated/functions.h", "taper/cpp/generated/methods.inc"]
FILES = [
    ("src/ops/list/list_elementwise.inc", 15, "a new row of the operator list"),
    ("src/ops/math/unary.c", 1, "a kernel of the reference"),
    ("src/ops/kernels/x86/vector_f32_avx2.c", 1, "a kernel of an instruction set"),
    ("src/compiler/cse.c", 1, "a pass"),
    ("src/ops/list/shared_kernels.h", 30, "the kernels that other operators are made of"),
    ("src/backends/gpu/gpu_api.h", 50, "the interface of GPUs"),
    ("src/ir/tensor.h", 164, "making tensors"),
    ("src/ir/storage.h", 40, "making storages"),
    ("src/ir/graph.h", None, "the IR"),
    ("src/ops/call/call.h", None, "the calling convention of operators"),
]


def main():
    build = sys.argv[1]
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout
    users, target = collections.defaultdict(set), None
    for line in text.split("\n"):
        if line and not line.startswith(" "):
            target = line.split(":")[0]
        elif line.strip():
            users[line.strip()].add(target)
    if not users:
        print(f"SKIPPED: {build} was not made by Ninja, or nothing is built yet")
        return 77
    seconds = {}
    with open(os.path.join(build, ".ninja_log")) as log:
        for line in log:
            if not line.startswith("#"):
                begin, end, _, output, _ = line.split("\t")
                seconds[output] = (int(end) - int(begin)) / 1000
    bad = []
    print("| change | objects | seconds |\n| --- | ---: | ---: |")
    for path, most, what in FILES:
        ends = [path] + (MADE_OF_ROWS if "/list_" in path else [])
        objects = {o for file, of in users.items() if any(file.endswith(e) for e in ends) for o in of if re.search(r"\.(o|obj)$", o)}
        objects.add(path)  # a new row also changes its kernel's file
        if "/list_" not in path:
            objects.discard(path)
        print(f"| `{path}`: {what} | {len(objects)} | {sum(seconds.get(o, 0) for o in objects):.1f} |")
        if most is not None and len(objects) > most:
            bad.append(f"{path}: {len(objects)} objects include it, at most {most} should")
    print("\n".join(bad))
    return 1 if bad and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
