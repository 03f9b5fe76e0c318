#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests the package's types, __init__.pyi. mypy checks a program that uses them, and stubtest compares them with the
package."""
import os
import subprocess
import sys
import tempfile

import support

environment = {**os.environ, "MYPYPATH": support.PACKAGE, "PYTHONPATH": support.PACKAGE}
here = os.path.dirname(os.path.abspath(__file__))
failed = 0
with tempfile.TemporaryDirectory() as folder:
    allowed = os.path.join(folder, "allowed")
    with open(allowed, "w") as file:  # names that stubtest ignores: private modules, and members that C code defines
        file.write("taper\\._.*\ntaper\\.Tensor\\.__(buffer|getattr)__\ntaper\\.(Model|Object)\\.__getattr__\ntaper\\.Context\\.__(init|new)__\n"
                   "taper\\.Status\\..*\ntaper\\.Error\\..*\ntaper\\.Tensor\\.__array__\n")
    for command in (["-m", "mypy", "--strict", "--cache-dir", folder, os.path.join(here, "typed_use.py")],
                    ["-m", "mypy.stubtest", "taper", "--allowlist", allowed, "--ignore-unused-allowlist"]):
        done = subprocess.run([sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            failed += 1
            print(done.stdout, done.stderr)
print(f"{2 - failed} passed, {failed} failed")
sys.exit(failed != 0)
