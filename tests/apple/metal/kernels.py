#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kernels.py OUT FILE.metal…: converts the kernels to C++ (msl.h), in OUT/NAME.cpp, and writes their list to OUT/kernels.c. Constants that a
pipeline sets become macros that read them while a kernel runs; the function `main0` gets its arguments from an array."""
import os
import re
import sys

CONSTANT = re.compile(r"^constant \w+ (\w+) \[\[function_constant\((\d+)\)\]\];$", re.M)
VALUE = re.compile(r"^constant (\w+) (\w+)(?: \[\[maybe_unused\]\])? = (.*);$", re.M)
KERNEL = re.compile(r"^kernel void main0\((.*)\)$", re.M)
POSITIONS = {"thread_position_in_grid": "grid", "threadgroup_position_in_grid": "group", "thread_position_in_threadgroup": "local"}


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return h


def translate(name, text):
    text = re.sub(r"^#include .*$|^#pragma .*$|^using namespace metal;$", "", text, flags=re.M)
    text = re.sub(r"^template<typename T, size_t Num>\nstruct spvUnsafeArray\n\{.*?^\};$", "", text, flags=re.M | re.S)
    text = CONSTANT.sub(r"#define \1 (metal_constants[\2])", text)
    text = VALUE.sub(lambda m: f"#define {m.group(2)} ({m.group(1)}({m.group(3)}))", text)
    text = re.sub(r"is_function_constant_defined\(\w+\) \? (\w+) : \w+", r"\1", text)
    text = re.sub(r"threadgroup (\w+) \(&", r"msl_type<\1> (&", text)  # arrays of a workgroup as arguments of functions
    parameters, call = [], []
    for one in KERNEL.search(text).group(1).split(", "):
        kind, what, name_of = re.match(r"(.*) \[\[(\w+(?:\(\d+\))?)\]\]()$", one).groups()
        parameters.append(kind)
        if what.startswith("buffer"):
            of = kind.split("&")[0].replace("device", "").replace("constant", "").replace("const", "").strip()
            call.append(f"*({of} *)buffers[{what[7:-1]}]")
        elif what == "thread_index_in_threadgroup":
            call.append("position->index")
        else:
            call.append(f"msl_position(position->{POSITIONS[what]})")
    text = KERNEL.sub("static void main0(" + ", ".join(parameters) + ")", text)
    return f"""#include "metal/msl.h"
namespace {{
using namespace metal;
{text}
}}
extern "C" void kernel_{name}(void *const *buffers, const metal_position *position)
{{
    main0({", ".join(call)});
}}
"""


def main():
    out, files = sys.argv[1], sys.argv[2:]
    rows, declarations = [], []
    os.makedirs(out, exist_ok=True)
    for path in files:
        name = os.path.splitext(os.path.basename(path))[0]
        with open(path, "rb") as file:
            source = file.read()
        with open(os.path.join(out, name + ".cpp"), "w", encoding="utf-8") as file:
            file.write(translate(name, source.decode()))
        declarations.append(f"void kernel_{name}(void *const *, const metal_position *);\n")
        rows.append(f"    {{UINT64_C({fnv(source):#x}), kernel_{name}}},\n")
    with open(os.path.join(out, "kernels.c"), "w", encoding="utf-8") as file:
        file.write('#include "metal/kernels.h"\n' + "".join(declarations) + "const metal_kernel metal_kernels[] = {\n" + "".join(rows) +
                   "};\nconst size_t metal_kernel_count = sizeof metal_kernels / sizeof *metal_kernels;\n")


if __name__ == "__main__":
    main()
