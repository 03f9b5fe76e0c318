#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""circles.py BUILD [--most N] [--list] [--why]

Finds files of one room that call one another in a circle, by the symbols that their objects define and need (nm). A room is a folder of src. A
file in a circle can only be understood together with the circle's other files. Prints the number of circles, with --list their files, and with
--why the symbols; with --most, fails if there are more than N."""
import argparse
import os
import pathlib
import subprocess
import sys


def symbols(objects):
    """Returns {file: (defined, needed)}."""
    found = {}
    out = subprocess.run(["nm", "-A", "--format=posix", *map(str, objects)], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        path, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        defined, wanted = found.setdefault(path, (set(), set()))
        if kind in "TDBRVW":
            defined.add(name)
        elif kind in "Uvw":
            wanted.add(name)
    return found


def circles(edges):
    """Returns the strongly connected components of more than one file (Tarjan's algorithm, without recursion)."""
    order, low, stack, on, parts = {}, {}, [], set(), []
    for root in edges:
        if root in order:
            continue
        work = [(root, iter(sorted(edges[root])))]
        order[root] = low[root] = len(order)
        stack.append(root), on.add(root)
        while work:
            file, rest = work[-1]
            for to in rest:
                if to not in order:
                    order[to] = low[to] = len(order)
                    stack.append(to), on.add(to)
                    work.append((to, iter(sorted(edges[to]))))
                    break
                if to in on:
                    low[file] = min(low[file], order[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[file])
                if low[file] == order[file]:
                    part = []
                    while not part or part[-1] != file:
                        part.append(stack.pop())
                        on.discard(part[-1])
                    if len(part) > 1:
                        parts.append(sorted(part))
    return sorted(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--most", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--why", action="store_true")
    options = parser.parse_args()
    root = pathlib.Path(options.build) / "CMakeFiles" / "taper_objects.dir" / "src"
    objects = sorted(root.rglob("*.c.o"))
    if not objects:
        sys.exit(f"there are no objects in {root}: build the library first")
    found = {os.path.relpath(path, root)[: -len(".o")]: value for path, value in symbols(objects).items()}
    rooms, count, files = {}, 0, 0
    for file in found:
        rooms.setdefault(os.path.dirname(file), []).append(file)
    for room in sorted(rooms):
        owner = {name: file for file in rooms[room] for name in found[file][0]}
        edges = {file: {owner[name] for name in found[file][1] if name in owner} - {file} for file in rooms[room]}
        for part in circles(edges):
            count, files = count + 1, files + len(part)
            if options.list or options.why:
                print(f"{room}: {' '.join(os.path.basename(file) for file in part)}")
            for file in part if options.why else ():
                wanted = {}
                for name in sorted(found[file][1]):
                    if owner.get(name) in part and owner[name] != file:
                        wanted.setdefault(os.path.basename(owner[name]), []).append(name)
                for other, names in wanted.items():
                    print(f"    {os.path.basename(file)} -> {other}: {' '.join(names)}")
    print(f"{count} circles of {files} files, of {len(found)}")
    sys.exit(options.most is not None and count > options.most)


if __name__ == "__main__":
    main()
