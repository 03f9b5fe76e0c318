#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_bytecode3.py TAPER SAMPLES: checks that the sample of bytecode 4 gives the same results after it is rewritten as version 3, with
and without the version number."""
import json
import os
import subprocess
import sys
import tempfile

from run_samples import run_calls

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    taper, samples = sys.argv[1:3]
    with open(os.path.join(samples, "manifest.json")) as file:
        entry = next(e for e in json.load(file) if e["name"] == "s03_control_flow")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for options in ([], ["--unnumbered"]):
            model = os.path.join(scratch, "bytecode3.ptl")
            subprocess.run([sys.executable, os.path.join(HERE, "make_bytecode3.py"), os.path.join(samples, "s03_control_flow.bc4.ptl"),
                            model, *options], check=True)
            wrong = run_calls(taper, os.path.abspath(samples), model, entry["calls"], [], scratch)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {options}: {wrong}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
