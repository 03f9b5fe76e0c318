# SPDX-License-Identifier: BSD-2-Clause
"""targets_test.py SOURCE: tests scripts/targets.py and scripts/targets_page.py without a build: names, packages, targets that this machine cannot
run, counts, and rows that are wrong."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = sys.argv.pop(1)
sys.path.insert(0, os.path.join(SOURCE, "scripts"))
sys.dont_write_bytecode = True
import count_tests  # noqa: E402
import targets  # noqa: E402
import targets_page  # noqa: E402

ROW = targets.Target("one", "tool", "cmake/MinGW.cmake -DA=1", "debian amd64", "", "", "", "-L foreign", "lib/one", "a system", "")
ALIKE = ROW._replace(name="two", packages="emulator", how="as one", libraries="", file="")
MEASURED = targets.Measured("one", "3", "0", "0", "1234567", "2026-11-30", "")
UNTRIED = targets.Measured("two", "", "", "", "", "", "no machine")


def run(*command, **variables):
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **variables))


def script(*arguments, **variables):
    return run(sys.executable, os.path.join(SOURCE, "scripts", "targets.py"), *arguments, **variables)


class Names(unittest.TestCase):
    def test_unknown(self):
        for command in ([os.path.join(SOURCE, "dev"), "test", "--target", "abacus"], [os.path.join(SOURCE, "dev"), "test", "--target"]):
            done = run(*command)
            self.assertEqual(done.returncode, 2)
            for name in targets.targets():
                self.assertIn(f" {name} ", done.stderr)
        self.assertEqual(script("abacus").returncode, 2)
        self.assertEqual(script("--names").stdout.split(), list(targets.targets()))

    def test_packages(self):
        known = {"one": ROW, "two": ALIKE}
        self.assertIs(targets.built_as(ALIKE, known), ROW)
        self.assertLessEqual({"cmake", "tool", "emulator"}, set(targets.packages(ALIKE, known)))


class Skipped(unittest.TestCase):
    def test_processor(self):
        """A target whose processor this machine lacks is skipped, also in CI, and is counted as skipped."""
        with tempfile.TemporaryDirectory() as scratch, mock.patch.object(targets, "processor_flags", return_value={"avx2"}):
            with self.assertRaisesRegex(targets.Skip, "this machine does not run the target two: its processor lacks abacus"):
                targets.test(ALIKE._replace(needs="avx2 abacus"), pathlib.Path(scratch), {"one": ROW, "two": ALIKE}, [])

    def test_tools(self):
        with tempfile.TemporaryDirectory() as scratch, self.assertRaisesRegex(targets.Skip, r"needs no-such-emulator \(packages .*tool"):
            targets.test(ROW._replace(emulator="no-such-emulator -cpu max"), pathlib.Path(scratch), {"one": ROW}, [])

    def test_counts_in_ci(self):
        said = "import count_tests; print(count_tests.count('SKIPPED: the target one needs abacus\\n', True), count_tests.may_skip('this machine does not run it'))"
        for ci, counted in (("", "(0, 0, 1) True"), ("true", "(0, 1, 0) True")):
            done = run(sys.executable, "-c", said, CI=ci, PYTHONPATH=os.path.join(SOURCE, "scripts"))
            self.assertEqual(done.stdout.strip(), counted)


class Counts(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count_tests.count("x\n5 passed, 0 failed, 2 skipped\n", True), (5, 0, 2))
        self.assertEqual(count_tests.count("5 passed, 0 failed\n", False), (5, 1, 0))
        self.assertEqual(count_tests.count("[  PASSED  ] 4 test(s)\n[  FAILED  ] 1 test(s)\n", False), (4, 1, 0))
        self.assertEqual(count_tests.count("words\n", True), (1, 0, 0))
        self.assertEqual(count_tests.count("words\n", False), (0, 1, 0))


class Page(unittest.TestCase):
    def test_rows(self):
        text = targets_page.page({"one": ROW, "two": ALIKE}, {"one": MEASURED, "two": UNTRIED})
        self.assertIn("| one | 3 | 0 | 0 | `one` | 1,234,567 |  |", text)
        self.assertIn("| two | | | | | | untried: no machine |", text)
        self.assertIn("on 2026-11-30.", text)

    def test_problems(self):
        def found(*rows, measured=None):
            return "; ".join(targets_page.problems({row.name: row for row in rows}, measured or {"one": MEASURED, "two": UNTRIED}))
        self.assertEqual(found(ROW, ALIKE), "")
        self.assertIn("belong to the row of one", found(ROW, ALIKE._replace(file="lib/two")))
        self.assertIn("no target with a build of its own", found(ROW, ALIKE, ALIKE._replace(name="three", how="as two"), measured={"one": MEASURED}))
        self.assertIn("there is no cmake/Abacus.cmake", found(ROW._replace(how="cmake/Abacus.cmake")))
        self.assertIn("no words for the tests", found(ROW._replace(tests="-L abacus")))
        self.assertIn("two has neither counts nor a reason", found(ROW, ALIKE, measured={"one": MEASURED}))
        self.assertIn("two gives no reason", found(ROW, ALIKE, measured={"one": MEASURED, "two": UNTRIED._replace(note="")}))
        self.assertIn("there is no target two", found(ROW))


unittest.main()
