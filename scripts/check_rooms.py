#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_rooms.py [--top TREE]: compares the drawing of docs/architecture.md with the tree.

Every folder of src that has sources is in the drawing, and the drawing has no other folders. A folder is written with its path from src and
a slash at its end; braces stand for several folders: "ops/kernels/{arm,x86}/". src/lean and src/one repeat the folders of src, so one name
is enough for each."""
import argparse
import pathlib
import re
import sys

SOURCES = {".c", ".h", ".inc", ".m", ".comp"}
MIRRORS = ("lean", "one")
FOLDER = re.compile(r"(?<![\w./-])((?:[\w-]+/)*(?:[\w-]+|\{[\w,-]+\})/)(?![\w{])")


def folders_of(top):
    """Returns the folders of src with sources, relative to src, each with a slash."""
    found = set()
    for path in (top / "src").rglob("*"):
        if path.suffix in SOURCES and path.parent != top / "src":
            inside = path.parent.relative_to(top / "src")
            found.add((inside.parts[0] if inside.parts[0] in MIRRORS else str(inside)) + "/")
    return found


def drawn(page):
    """Returns the folders of the first block of text."""
    block = re.search(r"^```text\n(.*?)^```", page, re.M | re.S)
    found = set()
    for name in FOLDER.findall(block.group(1) if block else ""):
        before, _, last = name[:-1].rpartition("/")
        for one in last.strip("{}").split(","):
            found.add((before + "/" if before else "") + one + "/")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    top = parser.parse_args().top
    page = top / "docs/architecture.md"
    there, shown = folders_of(top), drawn(page.read_text(encoding="utf-8"))
    bad = [f"docs/architecture.md: the drawing lacks src/{name}" for name in sorted(there - shown)]
    bad += [f"docs/architecture.md: the drawing has src/{name}, which does not exist" for name in sorted(shown - there)]
    for one in bad:
        print(one)
    print(f"rooms: {len(there)} folders of src, {len(bad)} findings")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
