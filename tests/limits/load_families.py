#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""load_families.py TAPER [--sizes 1000,30000,…] [--only NAME]… [--verbs inspect,ops,…] [--slack X] [--write DIR]

Passes small files that need much work, families of files (families/) with growing sizes, to all commands that open files. Each command must end,
successfully or with one clear line, within 1 s + 2 s per megabyte of processor time and 128 MB + 16 times its size of memory, so that neither time
nor memory grows faster than the file. --slack multiplies the seconds, for slower machines. Prints a row for each family: seconds and megabytes of
the most expensive command at each size."""
import argparse
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fuzz")]
from families import exports, flatbuffers, pickles, scripts  # noqa: E402

FAMILIES = {**pickles.FAMILIES, **scripts.FAMILIES, **flatbuffers.FAMILIES, **exports.FAMILIES}
VERBS = {
    "inspect": ["inspect", "FILE"], "ops": ["ops", "FILE"], "config": ["ops", "FILE", "--config"], "graph": ["inspect", "FILE", "--graph"],
    "run": ["run", "FILE", "-i", "1"], "optimize": ["optimize", "FILE", "-o", "OUT"], "convert": ["convert", "FILE", "-o", "OUT"],
    "bundle": ["bundle", "FILE", "-i", "1", "-o", "OUT"], "quantize": ["quantize", "FILE", "-o", "OUT", "--calibrate", "FILE", "--mode", "core"],
}


class Starter:
    """Starts programs from a small process, because the measured memory of a child begins with the memory of its parent."""

    def __init__(self):
        mine, its = socket.socketpair()
        if os.fork() == 0:
            mine.close()
            self.serve(its.makefile("rwb"))
        its.close()
        self.stream = mine.makefile("rwb")

    def serve(self, stream):
        for line in stream:
            stream.write((json.dumps(measure(*json.loads(line))) + "\n").encode())
            stream.flush()
        os._exit(0)

    def __call__(self, command, seconds):
        self.stream.write((json.dumps([command, seconds]) + "\n").encode())
        self.stream.flush()
        return json.loads(self.stream.readline())


def measure(command, seconds):
    """Returns (exit status, processor seconds, peak memory in MB, first line of stderr)."""
    with tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=err,
                                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 2, int(seconds) + 3)))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        first = err.read(4000).decode(errors="replace").splitlines()[:1]
    return child.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, first[0] if first else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("--sizes", default="1000,30000,300000")
    parser.add_argument("--only", action="append")
    parser.add_argument("--verbs", default="inspect,ops,run,optimize,bundle")
    parser.add_argument("--slack", type=float, default=3)
    parser.add_argument("--write", help="leave the files in this folder")
    parser.add_argument("--show", action="store_true", help="what the programs said")
    options = parser.parse_args()
    start = Starter()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        file, out = os.path.join(folder, "m.ptl"), os.path.join(folder, "out.ptl")
        for name, make in FAMILIES.items():
            if options.only and name not in options.only:
                continue
            row, said = [], []
            for size in map(int, options.sizes.split(",")):
                data = make(size)
                pathlib.Path(file).write_bytes(data)
                if options.write:
                    (pathlib.Path(options.write) / f"{name}_{size}.ptl").write_bytes(data)
                seconds = (1 + 2 * len(data) / 1e6) * options.slack
                megabytes = 128 + 16 * len(data) / 1e6
                worst = (0.0, 0.0)
                for verb in options.verbs.split(","):
                    command = [options.taper] + [{"FILE": file, "OUT": out}.get(a, a) for a in VERBS[verb]]
                    status, took, held, line = start(command, seconds)
                    good = status in (0, 1) and took <= seconds and held <= megabytes
                    passed, failed = passed + good, failed + (not good)
                    worst = max(worst[0], took), max(worst[1], held)
                    if not good or options.show:
                        said.append(f"    {'' if good else 'FAILED '}{verb} at {len(data)} bytes: status {status}, {took:.2f} s of {seconds:.2f}, {held:.0f} MB of {megabytes:.0f}: {line[:200]}")
                row.append(f"{len(data) / 1000:9.0f} kB {worst[0]:6.2f} s {worst[1]:5.0f} MB")
            print(f"{name:32s}", " ".join(row), flush=True)
            for line in said:
                print(line, flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
