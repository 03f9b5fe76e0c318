#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""count_tests.py BUILD: prints how many tests passed, failed and were skipped in the last ctest run, as counted by the tests themselves.

A test that prints "N passed, N failed" (", N skipped") counts as these numbers; CMocka's summary counts its cases; any other test counts as one.
If CI is set in the environment, a test that was skipped because something installable is missing counts as failed."""
import os
import re
import sys

MAY_SKIP = "this machine does not run|there is no apt-get here|apt cannot get" if os.environ.get("CI") else "."


def may_skip(reason):
    """Returns true if a test that skips itself for this reason counts as skipped, and false if it counts as failed."""
    return re.search(MAY_SKIP, reason) is not None


def count(output, ok):
    """Returns (passed, failed, skipped) of one test, given its output and whether it succeeded."""
    skip = re.search(r"^SKIPPED(.*)", output, flags=re.M)  # ctest's log says that skipped tests passed
    plain = re.findall(r"^(?:\d+ models: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", output, flags=re.M)
    cmocka = re.findall(r"^\[  PASSED  \] (\d+) test\(s\)", output, flags=re.M)
    bad = re.findall(r"^\[  FAILED  \] (\d+) test\(s\)", output, flags=re.M)
    if plain:
        p, f, s = map(int, (number or 0 for number in plain[-1]))
        return p, f or (0 if ok else 1), s
    if cmocka:
        return sum(map(int, cmocka)), sum(map(int, bad)) or (0 if ok else 1), 0
    if skip:
        if may_skip(skip.group(1)):
            return 0, 0, 1
        print(f"skipped, which CI does not allow: {skip.group()}", file=sys.stderr)
        return 0, 1, 0
    return (1, 0, 0) if ok else (0, 1, 0)


def count_log(build):
    """Returns (passed, failed, skipped) of the last ctest run in a build folder."""
    with open(build + "/Testing/Temporary/LastTest.log", errors="replace") as file:
        parts = re.split(r"^\d+/\d+ Testing: ", file.read(), flags=re.M)[1:]
    return tuple(map(sum, zip((0, 0, 0), *(count(part, "Test Passed." in part) for part in parts))))


if __name__ == "__main__":
    print(*count_log(sys.argv[1]))
