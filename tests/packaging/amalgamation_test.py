#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""amalgamation_test.py FOLDER LIBRARY: tests the library as one file (scripts/amalgamate.py). The file must compile with `cc -O2 -c` without a
warning. It may be at most 5 percent larger than the same files of LIBRARY, a static library. Its results must be bit-identical, with portable
kernels and with all kernels that the machine supports. If the environment has CC, that compiler is used with the flag that taper.c requires, and
sizes are not compared."""
import json
import os
import re
import resource
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_SECONDS = 120 # seconds of one processor; a slow machine may need three times as long
HEADERS = ("taper", "taper_compile", "taper_app", "taper_device", "taper_inspect", "taper_memory", "taper_operator")
failed = passed = 0


def check(good, what):
    global failed, passed
    passed, failed = passed + bool(good), failed + (not good)
    print("%s: %s" % ("ok" if good else "FAILED", what), flush=True)


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(command), done.stdout))
    return done.stdout


def size_of(path, members=None):
    """Returns the bytes of code and data. members: the members of a static library that count; None for all."""
    rows = [line.split() for line in run("size", path).splitlines()[1:]]
    return sum(int(row[0]) + int(row[1]) for row in rows if members is None or row[5] in members)


def compile_one(folder, compiler):
    flags = ["-fno-strict-aliasing"] if "__clang__" in run(*compiler, "-dM", "-E", "-x", "c", os.devnull) else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = run(*compiler, "-O2", *flags, "-Wall", "-c", "taper.c", "-o", "taper.o", cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    check(said == "", "no warning" + said[:2000])
    check(seconds <= 3 * MOST_SECONDS, "%s compiles taper.c in %.0f processor-seconds" % (" ".join(compiler), seconds))


def check_size(folder, library):
    with open(os.path.join(folder, "cmake/compile_commands.json")) as file:
        members = {os.path.basename(command["file"]) + ".o" for command in json.load(file)}
    one, many = size_of(os.path.join(folder, "taper.o")), size_of(library, members)
    check(one <= 1.05 * many, "taper.o has %d bytes of code and data, the same files of the library %d: %.3f" % (one, many, one / many))


def check_results(folder, library):
    os.makedirs(os.path.join(folder, "one/taper"), exist_ok=True)
    for name in HEADERS:
        with open(os.path.join(folder, "one/taper", name + ".h"), "w") as file:
            file.write('#include "../../taper.h"\n')
    sources = [os.path.join(ROOT, name) for name in ("tests/packaging/print_results.c", "tests/api/fixture.c")]
    flags = ["-O1", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-I" + ROOT]
    flags += ['-DTEST_%s="%s"' % pair for pair in (("SAMPLES", "tests/data/samples"), ("DEMO", "examples/demo"), ("MODELS", "tests/models/data"))]
    for program, include, objects in (("one", os.path.join(folder, "one"), [os.path.join(folder, "taper.o")]),
                                      ("many", os.path.join(ROOT, "include"), [library, "-lz", "-ldl"])):
        run("cc", *flags, "-I" + include, *sources, *objects, "-lcmocka", "-lpthread", "-lm", "-o", os.path.join(folder, "results_of_" + program))
    for sets in ("scalar", ""):
        lines = [run(os.path.join(folder, "results_of_" + program), cwd=ROOT, env={**os.environ, "TAPER_CPU_MASK": sets}).splitlines()
                 for program in ("one", "many")]
        differ = [pair for pair in zip(*lines) if pair[0] != pair[1]]
        for pair in differ[:10]:
            print("  one file: %s\n  library:  %s" % pair)
        ran = [line for line in lines[0] if re.search(r": 0 [0-9a-f]{16} $", line)]
        check(not differ and len(lines[0]) == len(lines[1]) and len(ran) >= 70, "%d calls, %d of which give a result, end alike with instruction sets: %s"
              % (len(lines[0]), len(ran), sets or "all"))


def main():
    folder, library = (os.path.abspath(path) for path in sys.argv[1:3])
    if shutil.which("cmake") is None:
        print("SKIPPED: there is no cmake")
        sys.exit(77)
    run(sys.executable, os.path.join(ROOT, "scripts/amalgamate.py"), folder)
    compile_one(folder, os.environ.get("CC", "cc").split())
    if "CC" not in os.environ:
        check_size(folder, library)
    check_results(folder, library)
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
