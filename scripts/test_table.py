#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_table.py [--times BUILD] [--check]: writes the table of tests/README.md from tests/tests.tsv: test, tier, seconds, and the fault that
only this test finds.

--times BUILD takes the seconds from the last ctest runs in a build folder; otherwise the page keeps its seconds. --check writes nothing. It fails
if the page and tests.tsv differ in anything except the seconds."""
import argparse
import fnmatch
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parent.parent
PAGE = top / "tests/README.md"
BEGIN, END = "<!-- made by scripts/test_table.py -->", "<!-- end -->"
TIERS = ("quick", "plain", "full")


def rows():
    found = []
    for line in (top / "tests/tests.tsv").read_text().split("\n"):
        if line and not line.startswith("#"):
            name, tier, where, catches = line.split("\t")
            if tier not in TIERS or where not in ("", "sanitized", "unsanitized") or not catches:
                sys.exit(f"tests/tests.tsv: {name}: tier {tier!r}, third column {where!r}, fault {catches!r}")
            found.append((name, tier, where, catches))
    return found


def measured(build):
    """Returns {row: seconds of all its tests}; each test is counted for the first row that fits."""
    seconds = {}
    for line in (pathlib.Path(build) / "Testing/Temporary/CTestCostData.txt").read_text().split("\n"):
        parts = line.split()
        if len(parts) == 3:
            row = next((name for name, *_ in rows() if fnmatch.fnmatchcase(parts[0], name)), None)
            if row:
                seconds[row] = seconds.get(row, 0) + float(parts[2])
    return seconds


def table(seconds):
    lines = ["| test | tier | sanitizers | seconds | the fault that it finds |", "| --- | --- | --- | ---: | --- |"]
    for name, tier, where, catches in sorted(rows(), key=lambda row: TIERS.index(row[1])):
        time = seconds.get(name)
        lines.append(f"| {name.replace('*', chr(92) + '*')} | {tier} | {where} | {'' if time is None else f'{time:.1f}'} | {catches} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", metavar="BUILD")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = PAGE.read_text()
    head, old, tail = re.fullmatch(f"(.*{BEGIN}\n)(.*)(\n{END}.*)", text, re.S).groups()
    seconds = {}
    for line in old.split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and re.fullmatch(r"[\d.]+", cells[3]):
            seconds[cells[0].replace("\\", "")] = float(cells[3])
    if options.times:
        seconds |= measured(options.times)
    new = table(seconds)
    if options.check:
        if new != old:
            sys.exit("tests/README.md is not what tests/tests.tsv says: run scripts/test_table.py")
        print(f"tests/README.md: {len(rows())} rows")
        return
    PAGE.write_text(head + new + tail)


if __name__ == "__main__":
    main()
