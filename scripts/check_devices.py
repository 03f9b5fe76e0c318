#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that compiler and runtime do not depend on single backends. No name of a device occurs in their code, comments, file names or build
lists. They include nothing of src/backends except its lists (backend_list.inc, preparer_list.inc, converter_list.inc), which have everything
they need to know about a device. The checked names are the rows of backend_list.inc and the devices that pack weights (taper_op_packer in
ir/op.h). "CPU" in prose is the processor, which is allowed; as a device it is a text that begins with cpu, or the end of a name such as
backend_cpu. Words of file formats are no exception: operators and classes of prepared files are found by the facts in their rows. The
argument, if there is one, is the tree to check."""
import pathlib
import re
import sys

ROOMS = ("src/compiler", "src/runtime")
HOST = "cpu"


def names_in(top):
    backends = re.findall(r"^BACKEND\((\w+)\)", (top / "src/backends/backend_list.inc").read_text(), re.M)
    packers = [name.lower() for name in re.findall(r"\bTAPER_PACKER_([A-Z]+),?$", (top / "src/ir/op.h").read_text(), re.M)]
    return sorted({*backends, *packers} - {HOST, "none"})


def lists_apart(top):
    """Checks that a device has one name in all lists, and a converter if its preparer says so."""
    lists = {name: (top / f"src/backends/{name}_list.inc").read_text() for name in ("backend", "preparer", "converter")}
    rows = {name: re.findall(rf'^{name.upper()}\((?:\.name = ")?(\w+)', text, re.M) for name, text in lists.items()}
    prepared = re.split(r"^PREPARER", lists["preparer"], flags=re.M)[1:]
    converts = [name for name, row in zip(rows["preparer"], prepared) if ".converts = true" in row]
    wrong = [f"src/backends/preparer_list.inc: {name} is no row of backend_list.inc" for name in rows["preparer"] if name not in rows["backend"]]
    if rows["preparer"][:1] != rows["backend"][:1]:
        wrong.append("src/backends/preparer_list.inc: its first row is not that of backend_list.inc, the host's own")
    if converts != rows["converter"]:
        wrong.append(f"src/backends/converter_list.inc: its rows are {rows['converter']}, those that preparer_list.inc says convert {converts}")
    return wrong


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
    wrong = lists_apart(top) if (top / "src/backends/preparer_list.inc").exists() else []
    print("".join(f"{line}\n" for line in wrong), end="")
    print(f"devices: {count} names in {' and '.join(ROOMS)}")
    return 1 if count or includes or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
