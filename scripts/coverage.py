#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""coverage.py BUILD [--room PATH] [--files N] [--lines FILE]

Reports the lines of src that ran, from a build with --coverage (made by ./dev coverage) whose tests have run. --room: files below that path
(src/ops); --files: the N files with the most lines that did not run; --lines: those lines of one file."""
import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent


def collect(build):
    """Returns {file: {line: number of runs}} of src."""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    objects = sorted(str(p) for p in pathlib.Path(build).rglob("*.gcda"))
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(objects), 200):
            subprocess.run(["gcov", "--json-format", "--hash-filenames", *objects[first:first + 200]], cwd=folder, check=True, capture_output=True)
        for report in pathlib.Path(folder).glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(report.read_bytes()))["files"]:
                path = pathlib.Path(build, file["file"]).resolve()
                if TOP / "src" not in path.parents:
                    continue
                of_file = lines[str(path.relative_to(TOP))]
                for line in file["lines"]:
                    of_file[line["line_number"]] += line["count"]
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--room", default="src")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--lines")
    a = parser.parse_args()
    lines = collect(a.build)
    if a.lines:
        source = (TOP / a.lines).read_text().split("\n")
        for number, count in sorted(lines[a.lines].items()):
            if count == 0:
                print(f"{number:5} {source[number - 1]}")
        return 0
    rooms, missed = collections.defaultdict(lambda: [0, 0]), []
    for file, counts in lines.items():
        if not file.startswith(a.room):
            continue
        ran = sum(c > 0 for c in counts.values())
        missed.append((len(counts) - ran, len(counts), file))
        room = "/".join(file.split("/")[:2])
        rooms[room][0] += ran
        rooms[room][1] += len(counts)
    for without, of, file in sorted(missed, reverse=True)[:a.files]:
        print(f"{without:6} of {of:6} lines did not run: {file}")
    for room, (ran, of) in sorted(rooms.items()):
        print(f"{100 * ran / of:6.1f} %  {ran} of {of} lines of {room}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
