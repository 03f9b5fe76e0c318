#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""kept.py TAPER RECORDED_CASES CASEFILE FOLDER

Compares a case file with PyTorch, which runs only once: its results are kept in FOLDER, named by a hash of the case file, the scripts and the version
of PyTorch, and from then on RECORDED_CASES compares with the kept results. If there is a difference, and for the few cases that cannot be recorded,
PyTorch runs again. Ends with "N passed, N failed".

With TAPER_STRIDE=N, PyTorch runs only every Nth of the cases in tests/data/recorded, which the test `recorded` runs, and every N/2th of the cases
that are too large for tests/data/recorded. TAPER_SEED selects these cases."""
import hashlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ("oracle.py", "agreement.py", "recording.py", "record.py", "forms.py", "other_words.txt")
MOST = 1 << 20  # largest number of bytes of a case's tensors


def key(file):
    content = hashlib.sha256()
    version = os.path.join(os.path.dirname(importlib.util.find_spec("torch").origin), "version.py")
    for path in [file, version] + [os.path.join(HERE, s) for s in SCRIPTS]:
        content.update(hashlib.sha256(open(path, "rb").read()).digest())
    return content.hexdigest()[:16]


def counts(text):
    found = re.findall(r"^(\d+) passed, (\d+) failed", text, re.M)
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 1)


def again(player, path, taper, file):
    """Returns (passed, failed) without running PyTorch for kept results, or None if a case differs."""
    p = subprocess.run([player, path], capture_output=True, text=True, errors="surrogateescape")
    passed, failed = counts(p.stdout)
    if p.returncode != 0 or failed:
        print("differs from what was kept:", *[line for line in p.stdout.split("\n") if line.startswith("FAILED")][:5], sep="\n")
        return None
    left = json.load(open(path + ".left"))
    if left:
        p = subprocess.run([sys.executable, os.path.join(HERE, "oracle.py"), taper, file, "--names", path + ".left"], capture_output=True, text=True)
        sys.stdout.write(p.stdout)
        sys.stderr.write(p.stderr)
        passed, failed = [a + b for a, b in zip((passed, failed), counts(p.stdout))]
    return passed, failed


def sampled(taper, player, file, recording, stride, seed):
    """Returns (passed, failed) of a sample of the cases."""
    import oracle
    said = subprocess.run([player, "--names", recording], capture_output=True, text=True, errors="surrogateescape").stdout
    recorded = set(re.findall(r"^case (.*)$", said, re.M))
    cases = oracle.load(file)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, case in enumerate(cases.CASES):
            if (number + seed) % (stride if case[0] in recorded else max(1, stride // 2)):
                continue
            wrong = oracle.try_case(taper, [], cases, number, scratch)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print(f"FAILED {os.path.basename(file)}:{case[0]}: {wrong}", flush=True)
    return passed, failed


def main():
    taper, player, file, folder = sys.argv[1:]
    name = os.path.basename(file)[len("test_"):-len(".py")]
    stride = int(os.environ.get("TAPER_STRIDE") or 1)
    if stride > 1:
        recording = os.path.join(os.path.dirname(HERE), "data", "recorded", name + ".rec")
        passed, failed = sampled(taper, player, file, recording, stride, int(os.environ.get("TAPER_SEED") or 0))
        print(f"{passed} passed, {failed} failed")
        return 1 if failed else 0
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{name}-{key(file)}.rec")
    result = again(player, path, taper, file) if os.path.exists(path) and os.path.exists(path + ".left") else None
    if result is None:
        import record
        passed, failed, left = record.run_file(taper, player, file, path + ".new", MOST)
        result = passed, failed
        if failed:
            os.unlink(path + ".new")  # a recording with a difference is removed, because later runs must not use it
        else:
            with open(path + ".left", "w") as f:
                json.dump(left, f)
            os.replace(path + ".new", path)
    print(f"{result[0]} passed, {result[1]} failed")
    return 1 if result[1] else 0


if __name__ == "__main__":
    sys.exit(main())
