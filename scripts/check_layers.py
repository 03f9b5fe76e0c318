#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that a room includes only rooms to its left: base <- platform <- ir <- format <- ops <- frontend, compiler, backends <- runtime <-
app. ROOMS has the order inside ops. Inside a room no two files (a .c and its .h are one) include each other, directly or in a circle. Tools
and examples include only the public headers and those in SHARED."""
import pathlib
import re
import sys

RANK = {"base": 0, "platform": 1, "ir": 2, "format": 3, "ops": 4, "frontend": 5, "compiler": 5, "backends": 5, "runtime": 6, "app": 7}
ALSO = {"compiler_hook.h": 5}  # the table by which the runtime calls the compiler
# The rooms of ops: each room may include the rooms before it. list/ is not in this order, because it has the prototypes of every room's
# kernels and the tables that are made of all rooms.
ROOMS = ["kernels", "call", "engine", "gradient", "math", "lang", "tensor", "nn", "linalg", "signal", "vision", "quantized"]
BESIDE = {"list"}
SHARED = {"tools/common/json_value.c": "base/json.h", "tools/common/json_fail.c": "base/status.h"}  # the programs share the library's reader of JSON
top = pathlib.Path(__file__).resolve().parent.parent
bad = []
includes = {}  # {file: the files it includes}, without their endings
for path in sorted(top.glob("src/**/*.[ch]")) + sorted(top.glob("src/**/*.inc")):
    inside = path.relative_to(top / "src")
    if inside.parts[0] in ("lean", "one"):  # replaces the file of src with the same path
        inside = inside.relative_to(inside.parts[0])
    room = inside.parts[0]
    rank = RANK.get(room, ALSO.get(room, 6))
    for number, line in enumerate(path.read_text().split("\n"), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m:
            continue
        other = m.group(1).split("/")[0]
        needed = RANK.get(other, ALSO.get(other))
        stem = str(inside.with_suffix(""))
        if m.group(1).endswith(".h") and m.group(1)[:-2] != stem:
            includes.setdefault(stem, {})[m.group(1)[:-2]] = f"{path.relative_to(top)}:{number}"
        if needed is None and other != "taper":
            bad.append(f"{path.relative_to(top)}:{number}: include paths start at src/: {m.group(1)}")
        elif room == "ops" and other == "ops":
            here, there = inside.parts[1], m.group(1).split("/")[1]
            here, there = ("call" if name == "backend.h" else name for name in (here, there))  # backend.h, the interface to backends, counts as part of call
            if not {here, there} & BESIDE and ROOMS.index(there) > ROOMS.index(here):
                bad.append(f"{path.relative_to(top)}:{number}: ops/{here} must not include {m.group(1)}")
        elif needed is not None and (needed > rank or (needed == rank and other != room and other not in ALSO)):
            bad.append(f"{path.relative_to(top)}:{number}: {room} must not include {m.group(1)}")


def find_circle(stem, way, done):
    """Returns the files of a circle that begins with `stem`, each of which includes the next, or
    None."""
    if stem in way:
        return way[way.index(stem):] + [stem]
    if stem in done:
        return None
    done.add(stem)
    for other in sorted(includes.get(stem, ())):
        circle = find_circle(other, way + [stem], done)
        if circle:
            return circle
    return None


done = set()
for stem in sorted(includes):
    circle = find_circle(stem, [], done)
    if circle:
        bad.append(f"{includes[circle[0]][circle[1]]}: a circle: {' -> '.join(circle)}")
for folder in ("tools", "examples"):
    for path in sorted((top / folder).glob("**/*.[ch]")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if m and m.group(1).split("/")[0] in RANK and SHARED.get(str(path.relative_to(top))) != m.group(1):
                bad.append(f"{path.relative_to(top)}:{number}: {folder} include public headers only: {m.group(1)}")
print("\n".join(bad) if bad else "layers: in order")
sys.exit(1 if bad else 0)
