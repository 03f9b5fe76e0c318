#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_rooms.py [--top TREE]: compares the drawing of docs/architecture.md, and the names in docs/inside, with the tree.

Every folder of src that has sources is in the drawing, and the drawing has no other folders. A folder is written with its path from src and
a slash at its end; braces hold several: "ops/kernels/{arm,x86}/". src/lean and src/one repeat the folders of src, so one name is enough for
each. The names of files and the identifiers of docs/architecture.md and docs/inside exist in the tree."""
import argparse
import pathlib
import re
import sys

SOURCES = {".c", ".h", ".inc", ".m", ".comp"}
MIRRORS = ("lean", "one")
FOLDER = re.compile(r"(?<![\w./-])((?:[\w-]+/)*(?:[\w-]+|\{[\w,-]+\})/)(?![\w{])")
FILE = re.compile(r"(?:[\w.-]+/)*\w+\.(?:c|h|inc|m|comp|py|sh|cmake|txt|ir|md|tsv|map)")
NAME = re.compile(r"\b(taper_\w*[a-z0-9]|TAPER_\w*[A-Z0-9])\b")
TOPS = ("src", "include", "cmake", "tests", "bench", "scripts", "tools", "bindings", "docs", "packaging", "examples", "dev", ".ci")


def folders_of(top):
    """The folders of src with sources, from src, each with a slash."""
    found = set()
    for path in (top / "src").rglob("*"):
        if path.suffix in SOURCES and path.parent != top / "src":
            inside = path.parent.relative_to(top / "src")
            found.add((inside.parts[0] if inside.parts[0] in MIRRORS else str(inside)) + "/")
    return found


def drawn(page):
    """The folders of the first block of text."""
    block = re.search(r"^```text\n(.*?)^```", page, re.M | re.S)
    found = set()
    for name in FOLDER.findall(block.group(1) if block else ""):
        before, _, last = name[:-1].rpartition("/")
        for one in last.strip("{}").split(","):
            found.add((before + "/" if before else "") + one + "/")
    return found


def files_of(top):
    """All files, and all text of those that are named like sources."""
    files, text = [], []
    for room in TOPS:
        at = top / room
        for path in [at] if at.is_file() else sorted(at.rglob("*")):
            if path.is_file():
                files.append("/" + str(path.relative_to(top)))
                if path.suffix in SOURCES | {".cmake", ".txt", ".py", ".sh", ".tsv"} and path.stat().st_size < 2000000:
                    text.append(path.read_text(encoding="utf-8", errors="replace"))
    for path in sorted(top.iterdir()):
        if path.is_file():
            files.append("/" + path.name)
            if path.suffix == ".txt":
                text.append(path.read_text(encoding="utf-8"))
    return files, "\n".join(text)


def check_names(top, pages):
    files, text = files_of(top)
    known, bad = set(NAME.findall(text)), []
    for page in pages:
        for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
            for code in re.findall(r"`([^`]+)`", line):
                where = f"{page.relative_to(top)}:{number}"
                if FILE.fullmatch(code) and "NAME" not in code and not any(file.endswith("/" + code) for file in files) and \
                        "${TAPER_GENERATED}/" + code not in text:
                    bad.append(f"{where}: `{code}` does not exist")
                for name in NAME.findall(code):
                    if name not in known and not re.search(re.escape(name) + r"[<*{]", code):
                        bad.append(f"{where}: `{name}` is not in the tree")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    top = parser.parse_args().top
    page = top / "docs/architecture.md"
    there, shown = folders_of(top), drawn(page.read_text(encoding="utf-8"))
    bad = [f"docs/architecture.md: the drawing lacks src/{name}" for name in sorted(there - shown)]
    bad += [f"docs/architecture.md: the drawing has src/{name}, which does not exist" for name in sorted(shown - there)]
    bad += check_names(top, [page, *sorted((top / "docs/inside").glob("*.md"))])
    for one in bad:
        print(one)
    print(f"rooms: {len(there)} folders of src, {len(bad)} findings")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
