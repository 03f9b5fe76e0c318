#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks names and sizes of files. Base names of .c files are unique in src/ (headers are included by their path). Files have at most 800 lines;
tables may be longer. Each file begins with its licence; in src/ a description follows. No conditional expression rounds to a float
(base/single.h has the reason). If build/lib has a shared library, it exports only taper_*."""
import pathlib
import re
import subprocess
import sys

top = pathlib.Path(__file__).resolve().parent.parent
bad, seen = [], {}
for path in sorted(p for p in top.glob("src/**/*") if p.suffix == ".c"):
    where = str(path.relative_to(top))
    if path.name in seen:
        bad.append(f"{where}: there is also {seen[path.name]}")
    seen[path.name] = where
for path in sorted(p for d in ("src", "include", "tools", "tests", "examples") for p in top.glob(d + "/**/*") if p.suffix in (".c", ".h", ".inc")):
    where, lines = str(path.relative_to(top)), path.read_text().split("\n")
    if not any("SPDX-License-Identifier" in line for line in lines[:3]) and where != "examples/demo/operators.h":  # `taper ops` wrote this file
        bad.append(f"{where}: no licence line")
    if where.startswith("src/") and path.suffix == ".c" and not lines[1].startswith("//"):
        bad.append(f"{where}: its second line does not say what it is")
    if len(lines) > 800 and path.suffix != ".inc":
        bad.append(f"{where}: {len(lines)} lines")
    for number, line in enumerate(lines, 1):
        if line.rstrip() != line:
            bad.append(f"{where}:{number}: trailing blanks")
        if where.startswith("src/") and re.search(r"[?:] \(double\)\(float\)", line) and not line.lstrip().startswith("//"):
            bad.append(f"{where}:{number}: GCC may lose this rounding; use taper_step of base/single.h")
library = top / "build/lib/libtaper.so"
if library.exists():
    out = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True).stdout
    for line in out.split("\n"):
        name = line.split()[-1] if line.split() else ""
        if name and not name.startswith("taper_") and not line.split()[-2] == "A" and name not in ("_init", "_fini", "_edata", "_end", "__bss_start"):
            bad.append(f"libtaper.so exports {name}")
print("\n".join(bad) if bad else "names: in order")
sys.exit(1 if bad else 0)
