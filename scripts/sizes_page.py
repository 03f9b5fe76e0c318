#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""sizes_page.py: writes docs/sizes.md from the measured sizes of docs/sizes.tsv and from the limits, which it reads from the tests.
sizes_page.py --check fails if the page is out of date, or if a size is above its limit.
sizes_page.py --set KEY FILE [FILE…] measures: the row KEY gets the total size of the files, stripped if they are ELF files, and today's
date. The page is written anew.

A row of docs/sizes.tsv has a key, a table, what is measured, bytes, a limit (a function of this file and its argument, or nothing), and the
date. To add a row, write it with 0 bytes and measure with --set; a row that has 0 bytes is not shown. A new table has a row in TABLES."""
import argparse
import collections
import datetime
import pathlib
import shutil
import subprocess
import sys
import tempfile

import figure_rules

TOP = pathlib.Path(__file__).resolve().parent.parent
DATA, PAGE = TOP / "docs" / "sizes.tsv", TOP / "docs" / "sizes.md"

Row = collections.namedtuple("Row", "key table what bytes limit date")

INTRODUCTION = """# Sizes

This page is for a reader who wants to know how many bytes Taper adds to an app. The sizes are those of files without symbols (stripped files). The
column `limit` of a table is the largest size that a test accepts. `scripts/sizes_page.py` writes this page from `docs/sizes.tsv`.

The smallest library is one that is built for a single model: [how to build it](start.md#i-need-a-small-library). [Small builds](inside/small-builds.md) says what
each profile and option leaves out.
"""

# Tables in the order of the page: heading, a text before the table, and the names of the columns.
TABLES = {
    "linux": ("Linux", "The table has the sizes of `libtaper.so` for each profile, compiled by gcc 12. A library includes Vulkan only if its row says so. The "
              "profile `one` was built for the demo's classifier. The libraries zlib and libc of the system are not included.", "build"),
    "android": ("Android", "The table has the sizes of the stripped `libpytorch_jni.so` that `./dev android` builds. Each size includes the unwind "
                "tables, which crash reports need. The libraries were built by clang 14 and lld. Headers and stubs took the place of the NDK.", "ABI"),
    "apple": ("Apple's systems", "The table has the sizes of a short program that contains the static library. Unused code and symbols were removed "
              "from the program. Clang and zig built the program, without Xcode.", "features of the library"),
    "packages": ("Packages", "The table has the sizes of the compressed packages that `./dev release --dry-run` makes.", "file"),
    "peers": ("PyTorch Mobile", "The table has the sizes of the files that `org.pytorch:pytorch_android:1.13.1` (Maven Central) adds to an app for one ABI. The "
              "files are `libpytorch_jni.so`, `libfbjni.so` and `libc++_shared.so`. `scripts/sizes_page.py --set` adds up their sizes.", "ABI"),
}


# ---- limits: each is read from the file from which the test reads it

def size(tree, name):
    return figure_rules.size_limit(tree, name), "scripts/size.sh"


def android(tree, abi):
    return figure_rules.android_limit(tree, abi), "scripts/android/build.sh"


def android_vulkan(tree, abi):
    return android(tree, abi)[0] + figure_rules.android_limit(tree, "VULKAN"), "scripts/android/build.sh"


def apple(tree, name):
    return figure_rules.apple_limit(tree, name), "scripts/apple/size.sh"


LIMITS = {function.__name__: function for function in (size, android, android_vulkan, apple)}


def limit_of(row, tree):
    """Returns (limit in bytes, file that sets it), or None if the row has no limit."""
    if not row.limit:
        return None
    name, _, argument = row.limit.partition(" ")
    return LIMITS[name](tree, argument)


# ---- rows of docs/sizes.tsv

def rows():
    lines = DATA.read_text(encoding="utf-8").splitlines()
    found = [Row(*line.split("\t")) for line in lines if line and not line.startswith("#")]
    return [row._replace(bytes=int(row.bytes)) for row in found]


def stripped_size(path):
    data = path.read_bytes()
    if data[:4] != b"\x7fELF":
        return len(data)
    tool = shutil.which("llvm-strip") or shutil.which("llvm-strip-14") or shutil.which("strip")
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([tool, "-s", "-o", file.name, path], check=True)
        return len(pathlib.Path(file.name).read_bytes())


def measure(key, files):
    known = [row.key for row in rows()]
    if key not in known:
        sys.exit(f"sizes_page.py: docs/sizes.tsv has no row {key}; it has: {' '.join(known)}")
    total = sum(stripped_size(pathlib.Path(file)) for file in files)
    lines = DATA.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if line.split("\t")[0] == key:
            row = Row(*line.split("\t"))
            lines[number] = "\t".join(row._replace(bytes=str(total), date=datetime.date.today().isoformat()))
            print(f"{key}: {row.bytes} -> {total}")
    DATA.write_text("\n".join(lines) + "\n", encoding="utf-8")


# ---- the page

def page(found, tree):
    out = [INTRODUCTION]
    for table, (heading, text, column) in TABLES.items():
        members = [row for row in found if row.table == table and row.bytes]
        if not members:
            continue
        limits = {row.key: limit_of(row, tree) for row in members}
        files = sorted({limit[1] for limit in limits.values() if limit})
        dates = sorted({row.date for row in members})
        held = f" The limits are in `{'`, `'.join(files)}`." if files else ""
        out.append(f"## {heading}\n\n{text}{held} The sizes were measured on {dates[0]}{f' to {dates[-1]}' if len(dates) > 1 else ''}.\n")
        out.append(f"| {column} | bytes | limit |\n| --- | ---: | ---: |" if files else f"| {column} | bytes |\n| --- | ---: |")
        for row in members:
            limit = f" {limits[row.key][0]:,} |" if limits[row.key] else " |" if files else ""
            out.append(f"| {row.what} | {row.bytes:,} |{limit}")
        out.append("")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--set", nargs="+", metavar=("KEY", "FILE"))
    options = parser.parse_args()
    if options.set:
        measure(options.set[0], options.set[1:])
    tree = figure_rules.Tree(TOP)
    found = rows()
    unknown = [row.key for row in found if row.table not in TABLES]
    above = [f"{row.key}: {row.bytes:,} bytes are above the limit, {limit_of(row, tree)[0]:,}" for row in found
             if row.limit and row.bytes > limit_of(row, tree)[0]]
    text = page(found, tree)
    if options.check:
        stale = [] if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text else ["docs/sizes.md is not what docs/sizes.tsv and the limits make: run scripts/sizes_page.py"]
        problems = [f"{key}: its table is not in TABLES" for key in unknown] + above + stale
        print("\n".join([*problems, f"{len(found)} sizes, {len(problems)} failed"]))
        sys.exit(1 if problems else 0)
    PAGE.write_text(text, encoding="utf-8")
    print("\n".join(above) or f"{PAGE.relative_to(TOP)}: {len(found)} sizes")


if __name__ == "__main__":
    main()
