#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compile_cost_test.py FOLDERS [--record]: compiles an empty program with torch/script.h, and one with torch/torch.h, and compares their costs
with compile_cost.txt: the lines after the preprocessor, and the megabytes that the compiler allocates (-ftime-report). Unlike seconds, both
numbers are the same in each run. FOLDERS: the folders of the headers, with colons between them. --record writes the file."""
import pathlib
import re
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("compile_cost.txt")
VERSION = "12"  # other versions of GCC allocate other amounts of memory
MARGIN = 1.02  # allowed ratio, because minor versions of the compiler and of its library differ a little


def costs(header, flags):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as unit:
        unit.write(f"#include <{header}>\nint main()\n{{\n}}\n")
        unit.flush()
        text = subprocess.run(["g++", *flags, "-E", "-P", unit.name], check=True, stdout=subprocess.PIPE, text=True).stdout
        report = subprocess.run(["g++", *flags, "-O2", "-c", "-ftime-report", "-o", "/dev/null", unit.name], check=True, stderr=subprocess.PIPE,
                                text=True).stderr
    megabytes = int(re.search(r"^ *TOTAL .*?(\d+)M *$", report, re.M).group(1))
    return text.count("\n"), megabytes


def main():
    try:
        version = subprocess.run(["g++", "-dumpversion"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        version = "missing"
    if version.split(".")[0] != VERSION:
        print(f"SKIPPED: the costs were recorded with g++ {VERSION}, and this machine has {version}")
        sys.exit(77)
    flags = ["-std=c++14"] + [f"-I{folder}" for folder in re.split("[:;]", sys.argv[1])]
    found = {header: costs(header, flags) for header in ("torch/script.h", "torch/torch.h")}
    if "--record" in sys.argv:
        TABLE.write_text("# Costs of an empty program that includes a header: lines after the preprocessor, and megabytes that g++ 12 allocates.\n" +
                         "".join(f"{header}\t{lines}\t{megabytes}\n" for header, (lines, megabytes) in found.items()))
    failed = 0
    for row in TABLE.read_text().splitlines():
        if row.startswith("#"):
            continue
        header, *recorded = row.split("\t")
        for what, had, now in zip(("lines", "megabytes"), map(int, recorded), found[header]):
            print(f"{header}: {now} {what}, recorded {had}")
            if now > had * MARGIN:
                failed += 1
                print(f"FAILED: {header} costs more {what} to compile. Templates, or another place for an include, make it cheaper; "
                      "--record accepts the cost")
    print(f"{2 * len(found) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
