#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""count_tests.py BUILD: prints how many tests passed, failed and were skipped in the last ctest run, as counted by the tests themselves.

A test that prints "N passed, N failed" (", N skipped") counts as these numbers; CMocka's summary counts its cases; any other test counts as one.
If CI is set in the environment, a test that was skipped because something installable is missing counts as failed."""
import os
import re
import sys

MAY_SKIP = "this machine does not run|there is no apt-get here|apt cannot get" if os.environ.get("CI") else "."
log = open(sys.argv[1] + "/Testing/Temporary/LastTest.log", errors="replace").read()
passed = failed = skipped = 0
for part in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
    ok = "Test Passed." in part
    skip = re.search(r"^SKIPPED", part, flags=re.M)  # ctest's log says that skipped tests passed
    plain = re.findall(r"^(?:\d+ models: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", part, flags=re.M)
    cmocka = re.findall(r"^\[  PASSED  \] (\d+) test\(s\)", part, flags=re.M)
    bad = re.findall(r"^\[  FAILED  \] (\d+) test\(s\)", part, flags=re.M)
    if plain:
        p, f, s = plain[-1]
        passed, failed, skipped = passed + int(p), failed + int(f), skipped + int(s or 0)
        failed += 0 if ok or int(f) else 1
    elif cmocka:
        passed += sum(map(int, cmocka))
        failed += sum(map(int, bad)) or (0 if ok else 1)
    elif skip:
        may = re.search(f"^SKIPPED.*({MAY_SKIP})", part, flags=re.M)
        skipped, failed = skipped + bool(may), failed + (not may)
        if not may:
            print(f"skipped, which CI does not allow: {skip.string[skip.start():].splitlines()[0]}", file=sys.stderr)
    else:
        passed, failed = passed + ok, failed + (not ok)
print(passed, failed, skipped)
