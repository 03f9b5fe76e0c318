#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""record.py TAPER RECORDED_CASES CASEFILE… [--out DIR] [--most BYTES] [--file BYTES]

Runs case files in PyTorch, as oracle.py does, and writes the results to DIR/NAME.rec (tests/data/recorded). Cases in which Taper and PyTorch disagree
are omitted.
Cases whose inputs and results have more than --most bytes (16384) are omitted too; this limit is halved until the recording has at most --file
bytes (400,000). A case file may set RECORDED_CASE and RECORDED_FILE to higher limits. RECORDED_CASES runs the recording without PyTorch. Ends
with "N passed, N failed". Needs python3-torch."""
import argparse
import os
import subprocess
import sys
import tempfile

import oracle
import recording

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def size(v):
    return sum(t.numel() * t.element_size() for t in oracle.agreement.numbers(v))


def messages(player, path):
    """Returns {number of a case: the library's message} for all cases that raise."""
    p = subprocess.run([player, "--messages", path], capture_output=True, check=True)
    found, last = {}, None
    for line in p.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        number, tab, message = line.partition("\t")
        if tab and number.isdigit():
            last = int(number)
            found[last] = message
        else:
            found[last] += "\n" + line  # a further line of the message
    return found


def write(path, kept, player):
    """Writes the recording of the kept cases. Returns (bytes, names that cannot be recorded)."""
    said, left = {}, []
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        pass
    for _ in range(2):  # recorded twice: the first recording has no messages, and running it gives the messages for the second
        rec = recording.Recording()
        for name, module, model, args, want, raised, options in kept:
            try:
                rec.add(name, module, model, args, want, said.get(len(rec.cases), "") if raised is not None else None, options)
            except TypeError:  # a recording cannot contain a sparse tensor or an object
                left.append(name)
        data = rec.packed()
        with open(file.name, "wb") as out:
            out.write(data)
        said = messages(player, file.name)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
    return len(data), sorted(set(left))


def run_file(taper, player, file, path, most, file_bytes=None):
    """Returns (passed, failed, names that are not in the recording)."""
    cases = oracle.load(file)
    if file_bytes is not None:  # a file of cases may have higher limits
        most, file_bytes = max(most, getattr(cases, "RECORDED_CASE", 0)), max(file_bytes, getattr(cases, "RECORDED_FILE", 0))
    kept, left, passed, failed = [], [], 0, 0

    def fits(name, module, model, args, want, raised, options):
        return size(args) + size(want) <= most and len(model) <= 8 * most + 8192

    def keep(*case):
        kept.append(case) if fits(*case) else left.append(case[0])

    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(cases.CASES):
            wrong = oracle.try_case(taper, [], cases, number, folder, record=keep)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print(f"FAILED {os.path.basename(file)}:{case[0]}: {wrong}", flush=True)
    size_of, odd = write(path, kept, player)
    while file_bytes is not None and size_of > file_bytes:
        most //= 2
        left += [case[0] for case in kept if not fits(*case)]
        kept = [case for case in kept if fits(*case)]
        size_of, odd = write(path, kept, player)
    p = subprocess.run([player, path], capture_output=True, text=True, errors="surrogateescape")
    print(f"{path}: {len(kept) - len(odd)} cases, {size_of} bytes; left out: {len(left)} as too large, {len(odd)} of kinds that are not recorded")
    if p.returncode != 0:
        print(p.stdout + p.stderr)
        failed += 1
    return passed, failed, left + odd


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("player")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", default=os.path.join(TOP, "tests/data/recorded"))
    parser.add_argument("--most", type=int, default=16384)
    parser.add_argument("--file", type=int, default=400_000)
    a = parser.parse_args()
    passed = failed = 0
    for file in a.files:
        path = os.path.join(a.out, os.path.basename(file)[len("test_"):-len(".py")] + ".rec")
        p, f, _ = run_file(a.taper, a.player, file, path, a.most, a.file)
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
