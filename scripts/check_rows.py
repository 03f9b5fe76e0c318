#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The operator list: every row's id is its name and overload with '::' and other non-letters as '_' (selective builds rely on it), and
one '_' more for add_out beside add.out; no schema stands twice."""
import pathlib
import re
import subprocess
import sys

top = pathlib.Path(__file__).resolve().parent.parent
source = '#define OP(id, schema, kernel, param, flags) @@ id @@ schema @@\n#include "ops/list/op_list.h"\n'
text = subprocess.run(["cc", "-E", "-P", f"-I{top}/src", f"-I{top}/include", "-x", "c", "-"], input=source, capture_output=True, text=True).stdout
bad, seen = [], {}
for row, schema in re.findall(r"@@ (\w+) @@ ((?:\"(?:[^\"\\]|\\.)*\"\s*)+)@@", text):
    schema = "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", schema))
    name = schema.split("(")[0]
    want = re.sub(r"\W", "_", name.replace("::", "_"))
    if row == want + "_" and name.endswith("_out") and name[:-4] + ".out" in seen:
        want = row
    if row != want:
        bad.append(f"{row}: should be {want}")
    if name in seen:
        bad.append(f"{name}: twice")
    seen[name] = row
print("\n".join(bad) if bad else f"rows: {len(seen)} in order")
sys.exit(1 if bad or not seen else 0)
