#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compiler and runtime know no backend from another: no device's name stands in them, in code, comments, names of files or build lists, and of
src/backends they include nothing but its lists (backend_list.inc, preparer_list.inc, converter_list.inc), which say what they have to know of
a device. The names are those of the rows of backend_list.inc and of those who pack weights (taper_op_packer in ir/op.h). "CPU" in prose is the
processor that all of them run on; as a device it is a text that begins with cpu, or the end of a name as backend_cpu. No words of file formats
are excepted: operators and classes of prepared files are found by what their rows say of them. Given a tree, checks that one."""
import pathlib
import re
import sys

ROOMS = ("src/compiler", "src/runtime")
HOST = "cpu"


def names_in(top):
    backends = re.findall(r"^BACKEND\((\w+)\)", (top / "src/backends/backend_list.inc").read_text(), re.M)
    packers = [name.lower() for name in re.findall(r"\bTAPER_PACKER_([A-Z]+),?$", (top / "src/ir/op.h").read_text(), re.M)]
    return sorted({*backends, *packers} - {HOST, "none"})


def main():
    top = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    names = names_in(top)
    if len(names) < 4:
        print(f"check_devices: only {names} found: its patterns no longer fit the lists")
        return 1
    pattern = re.compile("|".join(names) + rf'|"{HOST}\b|(?:backend|converter|device|packer|portable|preparer)_{HOST}\b', re.I)
    count = includes = 0
    for path in sorted(p for room in ROOMS for p in (top / room).rglob("*") if p.is_file()):
        where = str(path.relative_to(top))
        for number, line in enumerate([path.name, *path.read_text().split("\n")]):
            for found in pattern.findall(line):
                count += 1
                print(f"{where}:{number or 'its name'}: {found} is a device's name: it belongs in a list of src/backends")
            include = re.match(r'\s*#\s*include\s+"(backends/[^"]+)"', line)
            if include and not re.fullmatch(r"backends/\w+_list\.inc", include.group(1)):
                includes += 1
                print(f"{where}:{number}: {include.group(1)} is no list of src/backends")
    print(f"devices: {count} names in {' and '.join(ROOMS)}")
    return 1 if count or includes else 0


if __name__ == "__main__":
    sys.exit(main())
