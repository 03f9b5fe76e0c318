#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""copy_samples.py: writes tests/data/samples, the part of the sample models that is committed so that the quick tests need no PyTorch.

Runs make_samples.py without a path, because the models contain the names of their source files, and copies the .ptl forms of the float
samples with their inputs, results and manifest. Needs PyTorch 1.13 (Debian's python3-torch)."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(os.path.dirname(os.path.dirname(HERE)), "tests", "data", "samples")
QUANTIZED = ("s07", "s08", "s09", "s10", "s16")
RUN = "import sys; __file__ = 'make_samples.py'; exec(compile(open(__file__).read(), __file__, 'exec'))"


def arrays(description):
    """Returns the names of the .npy files that a part of the manifest refers to."""
    if isinstance(description, dict):
        for key, value in description.items():
            yield from [value] if key == "npy" else arrays(value)
    elif isinstance(description, list):
        for value in description:
            yield from arrays(value)


def main():
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([sys.executable, "-c", RUN, made], cwd=HERE, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "ATEN_CPU_CAPABILITY": "avx2"})
        with open(os.path.join(made, "manifest.json")) as file:
            entries = [entry for entry in json.load(file) if not entry["name"].startswith(QUANTIZED)]
        shutil.rmtree(OUT, ignore_errors=True)
        os.makedirs(OUT)
        for entry in entries:
            entry["models"] = [name for name in entry["models"] if name.endswith(".ptl")]
            for name in entry["models"] + sorted(set(arrays(entry["calls"]))):
                shutil.copyfile(os.path.join(made, name), os.path.join(OUT, name))
        with open(os.path.join(OUT, "manifest.json"), "w") as file:
            json.dump(entries, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
