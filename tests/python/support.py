# SPDX-License-Identifier: BSD-2-Clause
"""Code that the tests of the Python binding share: paths of models, and a main() that prints counts as all tests do.

TAPER_PYTHON_PACKAGE is the folder with the package (build/python); without this variable the installed package is used."""
import importlib.util
import os
import sys
import unittest

needed = "mypy" if "stubs_test" in sys.argv[0] else "numpy"
if importlib.util.find_spec(needed) is None:
    print(f"SKIPPED: {os.path.basename(sys.argv[0])} needs Python's {needed} (Debian: python3-{needed})")
    sys.exit(77)

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
PACKAGE = os.environ.get("TAPER_PYTHON_PACKAGE", os.path.join(SOURCE, "build", "python"))
if os.path.exists(PACKAGE):
    sys.path.insert(0, PACKAGE)


def model_path(name):
    for folder in ("tests/data/python", "tests/data/samples", "tests/models/data", "examples/demo", "tests/data/pt2", "tests/data/nested"):
        path = os.path.join(SOURCE, folder, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(name)


def main():
    result = unittest.main(exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(failed != 0)
