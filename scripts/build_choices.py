#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""build_choices.py [--most N] [--list] [--top TREE]

Counts files of src that test for the size of a build, by a macro of any name in NAMES. The choice of files decides the size
(docs/inside/small-builds.md), so no code needs to test for it. Prints their number, and with --list their names; with --most, fails if there are more
than N. Files in src/lean and src/one, which small builds use first, must replace a file with the same path, and must not test for the size either."""
import argparse
import pathlib
import re
import sys

# Names for a build's size and its profile, today's names and earlier names. A macro that is derived from one of them must be added.
NAMES = re.compile(r"\b(TAPER_SMALL\w*|TAPER_PROFILE\w*|TAPER_LEAN\w*|TAPER_FULL\w*|TAPER_FAST\w*|TAPER_LENDS\w*|TAPER_LEFT_OUT\w*|"
                   r"TAPER_WITH_(?:WINOGRAD|HALVES|RECORDINGS|PACKS_FILE|CACHING)|MinSizeRel|__OPTIMIZE_SIZE__)\b")
FIRST = ("lean", "one")  # folders of src that are searched before src itself; the last one is searched first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--top", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    src, found, bad = options.top / "src", [], []
    for path in sorted(p for p in src.rglob("*") if p.suffix in (".c", ".h", ".inc", ".cmake")):
        names = sorted({m.group(0) for m in NAMES.finditer(path.read_text())})
        where = path.relative_to(src)
        if names:
            found.append(f"src/{where}: {', '.join(names)}")
        if where.parts[0] in FIRST:
            if names:
                bad.append(f"src/{where}: stands for one choice and asks again: {', '.join(names)}")
            if not (src / where.relative_to(where.parts[0])).exists():
                bad.append(f"src/{where}: there is no src/{where.relative_to(where.parts[0])} that it would take the place of")
    if options.list:
        print("\n".join(found))
    print(f"{len(found)} files of src choose by the size of a build")
    if options.most is not None and len(found) > options.most:
        bad.append(f"these are more than {options.most}:\n" + "\n".join(found))
    print("\n".join(bad), end="\n" if bad else "")
    sys.exit(1 if bad else 0)


main()
