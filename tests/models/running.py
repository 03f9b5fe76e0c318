# SPDX-License-Identifier: BSD-2-Clause
"""Runs the program taper for tests of models."""
import subprocess


def taper(program, *arguments):
    """Returns the program's output; raises RuntimeError with the end of its stderr if it fails."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-300:])
    return done.stdout
