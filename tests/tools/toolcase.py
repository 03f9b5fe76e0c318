# SPDX-License-Identifier: BSD-2-Clause
"""Code that the tests of the programs share: a scratch folder, running a program, reading its results.

TAPER_BIN names the folder of the programs (default: build/bin of the source tree)."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("SKIPPED: NumPy is missing")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BIN = os.environ.get("TAPER_BIN", os.path.join(ROOT, "build", "bin"))
VALUES = os.path.join(HERE, "data", "values.ptl")
BUNDLED = os.path.join(HERE, "data", "bundled.ptl")
DEMO = os.path.join(ROOT, "examples", "demo")


IN_TRAINING = ": the model was saved in training mode and ran in it; --eval runs it in evaluation mode\n"


class ToolCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def write(self, name, content):
        with open(self.path(name), "wb" if isinstance(content, bytes) else "w") as file:
            file.write(content)
        return self.path(name)

    def call(self, *arguments, program="taper", status=0, env=None):
        """Runs a program, which must end with the given exit status. Returns the finished process."""
        done = subprocess.run([os.path.join(BIN, program), *map(str, arguments)], capture_output=True, text=True,
                              cwd=self.folder.name, env={**os.environ, **(env or {})}, timeout=300)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def remarks(self, *arguments):
        """Returns a program's output on stderr without the note about the model's mode, because most models of these tests were saved in training
        mode."""
        done = self.call(*arguments)
        return "".join(line for line in done.stderr.splitlines(True) if not line.endswith(IN_TRAINING))

    def run_npz(self, *arguments, status=0):
        out = self.path("out.npz")
        self.call("run", *arguments, "-o", out, status=status)
        with np.load(out) as archive:
            return {key: archive[key] for key in archive.files}

    def run_json(self, *arguments, status=0):
        return json.loads(self.call("run", *arguments, "--json", status=status).stdout)

    def fails(self, *arguments, program="taper", status=1, says=""):
        """Checks that the first line of stderr is `taper: error: …` and contains `says`, and that nothing is left in the folder."""
        before = sorted(os.listdir(self.folder.name))
        done = self.call(*arguments, program=program, status=status)
        first = done.stderr.split("\n")[0]
        self.assertTrue(first.startswith(program + ": error: "), done.stderr)
        self.assertIn(says, first)
        self.assertEqual(before, sorted(os.listdir(self.folder.name)))
        return done


    def misused(self, *arguments, says="", command=None):
        """Checks a wrong use: the first line must say what is wrong, and the last line must name the help."""
        done = self.fails(*arguments, status=2, says=says)
        command = arguments[0] if command is None else command
        self.assertEqual(done.stderr.split("\n")[1:], [f'see "taper {command} --help"' if command else 'see "taper --help"', ""])
        self.assertEqual(done.stdout, "")
        return done


def main():
    if not os.path.exists(os.path.join(BIN, "taper")):
        print(f"SKIPPED: no programs in {BIN}; set TAPER_BIN")
        sys.exit(77)
    unittest.main()
