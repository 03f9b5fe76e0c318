#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mutate.py [--quick [--compare]] [--count N] [--seed S] [--skip D] [--draws D,D] [--only PATH]: changes places of src, one at a time, and
reports the changes that no test detects.

A change replaces a comparison, a constant, a sign, a condition or an index, or removes a statement. Half of the changes are in operators and
kernels. All changes are drawn first. In a copy of the tree (build-mutate) each test runs once to find which changes it reaches (mutate_reach.py).
Then each change is tried: the object is rebuilt, the tests that reach the change run, the fast ones first, and the file is restored. Prints a
line for each change, and the survivors as diffs at the end. Every survivor needs a test, or a reason.

--quick runs only the quick tier, with its samples. --compare then runs the tests without PyTorch that the quick tier omits, including the whole
sweeps, on the survivors. A change that they detect is a gap of the quick tier."""
import argparse
import collections
import functools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

import mutate_draw
import mutate_reach

TOP = pathlib.Path(__file__).resolve().parent.parent
WORK = TOP / "build-mutate"
SOURCE, BUILD = WORK / "source", WORK / "build"
STRIDE = 7  # TAPER_STRIDE of the quick tier
ROOMS = ["-L", "unit|api|limits|models|passes|kernels|tools|ops", "-LE", "^(oracle|full)$"]
QUICK = ["-L", "^quick$"]
# Tests without PyTorch that are not run: they build the tree again, run on other machines, measure time for minutes, or read only headers and
# shaders.
LEFT_OUT = "^(limits_long_calls|load_families|cpp_headers.*|gpu_spirv)$"
WHOLE = ["-LE", "^(oracle|package|wasm|docs|style|apple|android|python)$", "-E", LEFT_OUT]
# Targets that scripts of tests use, in addition to the programs that ctest names.
SCRIPTS = ["taper_program", "taper_shared", "room_tools", "taper_python_package", "pytorch_jni"]
JOBS = str(os.cpu_count() or 1)
MEMORY = 16 << 30  # bytes for one process, which a change may cause to allocate without end
# The tests with PyTorch for each room.
ORACLE = {"backends": "samples|zoo|ops_cpu|ops_conv|ops_linear|ops_linalg|ops_pool|ops_quantized.*|ops_edges",
          "compiler": "optimize|quantize|random_programs|generated_programs|listing|apps|gpu_files", "format": "samples|convert|write|debug_info|gpu_files|old_bytecode",
          "frontend": "samples|torchscript|language|listing|old_bytecode|ops_as_torchscript|generated_programs", "ops": "ops_(?!as_torchscript).*|opinfo"}
OTHERS = "samples|torchscript|language|optimize|convert|quantize"


def drawn(options):
    """Returns the changes to try: those that compile without a warning, in files that this machine builds."""
    listed = json.loads(subprocess.run(["ninja", "-C", str(BUILD), "-t", "compdb"], capture_output=True, text=True, check=True).stdout)
    objects = {entry["file"]: entry["output"] for entry in listed if entry["output"].startswith("CMakeFiles/taper_objects.dir/src/")}
    if not any(options.only in str(pathlib.Path(file).relative_to(SOURCE)) for file in objects):
        sys.exit(f"no file that is built here has \"{options.only}\" in its path")
    changes, last = [], max(options.draws or [sys.maxsize])
    for change in mutate_draw.draws(SOURCE, random.Random(options.seed), options.only):
        if len(changes) == (len(options.draws) or options.count) or change.draw > last:
            return changes
        if (change.draw in options.draws if options.draws else change.draw > options.skip) and str(change.path) in objects:
            with change.made():
                if build(objects[str(change.path)]):
                    changes.append(change)


def run(command, limit=7200, stride=1):
    """Returns (true if the command succeeded, its output)."""
    environment = os.environ | {"TAPER_STRIDE": str(stride)}
    try:
        done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, errors="replace", timeout=limit, env=environment)
        return done.returncode == 0, done.stdout
    except subprocess.TimeoutExpired:
        return False, ""


def build(*targets):
    return run(["cmake", "--build", str(BUILD), "-j", JOBS] + [t for target in targets for t in ("--target", target)])[0]


def configure(*settings):
    # The counts of --coverage name files by their path, so the compiler must not shorten paths.
    return run(["cmake", "-S", str(SOURCE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTAPER_WARNINGS_AS_ERRORS=ON",
                "-DTAPER_KNOWS_PREFIX_MAP=OFF", *settings])[0]


def failed(selection, limit, stride):
    """Returns the names of tests that fail twice; other work on the machine may let a test fail once."""
    command = ["ctest", "--test-dir", str(BUILD), "-j", JOBS, "--stop-on-failure", "--repeat", "until-pass:2", "--timeout", str(int(limit))]
    passed, output = run([*command, *selection], stride=stride)
    return [] if passed else re.findall(r"^\s*\d+ - (\S+) \(", output.partition("tests FAILED:")[2], re.M) or ["ctest"]


def failing(tests, stride):
    names = "|".join(re.escape(test.name) for test in tests)
    return failed(["-R", f"^({names})$"], 30 + 4 * max(test.seconds for test in tests), stride)


@functools.cache
def for_scripts():
    known = run(["ninja", "-C", str(BUILD), "-t", "targets", "all"])[1]
    return [target for target in SCRIPTS if f"\n{target}: " in known]


def targets(tests):
    """Returns the targets that are built for tests."""
    return sorted({target for test in tests for target in test.targets}) + (for_scripts() if any(test.is_script for test in tests) else [])


def learn(selection, changes, stride):
    """Returns {change: tests that reach it} of the selected tests."""
    covered = WORK / "covered.cmake"
    mutate_reach.covering(covered, {change.path for change in changes})
    if not configure(f"-DCMAKE_PROJECT_taper_INCLUDE={covered}") or not build():
        sys.exit(f"the tree does not build with counters: see {covered}")
    tests = mutate_reach.listed(BUILD, selection)
    if selection is WHOLE:  # quick tests without steps are the same in both tiers
        tests = [test for test in tests if "quick" not in test.labels or test.takes_steps]
    found = mutate_reach.learn(BUILD, tests, changes, stride, say)
    if not configure("-UCMAKE_PROJECT_taper_INCLUDE") or not build():
        sys.exit("the tree does not build any more without counters")
    return found


def with_torch(changes):
    """Returns {change: tests with PyTorch about its room}; their coverage is not measured."""
    rooms = {change.room for change in changes}
    tests = {room: mutate_reach.listed(BUILD, ["-R", f"^({ORACLE.get(room, OTHERS)})$"]) for room in rooms}
    return {change: tests[change.room] for change in changes}


def batches(tests):
    """Yields the tests in batches of increasing size: the first batch detects many changes, and each batch links its programs."""
    first = [test for test in tests if test.name == "recorded"]
    rest, size = [test for test in tests if test.name != "recorded"], 4
    if first:
        yield first
    while rest:
        yield rest[:size]
        rest, size = rest[size:], 2 * size


def noticed(tests, stride):
    """Runs the tests that reach a change. Returns the names of the tests that failed, "the build", or None."""
    for lot in batches(tests):
        if not build(*targets(lot)):
            return "the build"
        names = failing(lot, stride)
        if names:
            return ", ".join(names)
    return None


def fails_as_it_is(test, stride, passing):
    """Returns true if a test that failed with a change also fails without the change. passing: tests known to pass."""
    if test not in passing and build(*targets([test])) and not failing([test], stride):
        passing.add(test)
    return test not in passing


def tried(step, changes, reaching, stride, passing):
    """Tries one change after the other and returns the survivors."""
    survivors, unreached, who, broken = [], 0, collections.Counter(), set()
    for number, change in enumerate(changes):
        begin, by, left = time.time(), None, True
        while left:
            tests = [test for test in reaching[change] if test not in broken]
            with change.made():
                by = noticed(tests, stride)
            left = {test for test in tests if by and test.name in by.split(", ") and fails_as_it_is(test, stride, passing)}
            for test in left:
                say(f"{test.name} fails as it is, and is left out")
            broken |= left
        who[by if by in ("recorded", "the build") else step] += by is not None
        reached = any(test.counts for test in tests)
        what = f"noticed by {by}" if by else "survived" if reached else "survived, as no test reaches it"
        say(f"{number + 1}/{len(changes)} (draw {change.draw}) {what}: {change} ({time.time() - begin:.0f} s)")
        if by is None:
            survivors.append(change)
            unreached += not reached
            say("  -" + change.old.strip() + "\n  +" + change.new.strip())
    say(f"{len(changes)} changes: " + "".join(f"{count} noticed by {name}, " for name, count in who.items() if count) +
        f"{len(survivors)} survived {step}, {unreached} of them unreached")
    return survivors


def say(text):
    print(text, flush=True)


def prepare(options):
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\n")
    files = [file for file in files if file and (TOP / file).is_file()]
    for old in [p for p in SOURCE.rglob("*") if p.is_file() and str(p.relative_to(SOURCE)) not in set(files)]:
        old.unlink()
    for file in files:
        copy = SOURCE / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.is_file() or copy.read_bytes() != (TOP / file).read_bytes():  # this also restores a file whose change was interrupted
            shutil.copy(TOP / file, copy)
            copy.touch()
    tests = "core" if options.quick and not options.compare else "ON"
    if not configure("-UCMAKE_PROJECT_taper_INCLUDE", f"-DTAPER_BUILD_TESTS={tests}") or not build():
        sys.exit("the tree does not build; see ./dev build")
    if options.quick:
        bad = failed(QUICK, 600, STRIDE)
    else:  # this run also stores PyTorch's results for the runs that follow (tests/ops/kept.py)
        bad = failed(ROOMS, 600, 1) or failed(["-R", f"^({ORACLE['ops']})$"], 600, 1)
    if bad:
        sys.exit(f"{', '.join(bad)}: fails as it is; see ./dev test")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the quick tier alone")
    parser.add_argument("--compare", action="store_true", help="with --quick: what survives is run against all tests without PyTorch")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="changes that are drawn first and not tried")
    parser.add_argument("--draws", type=lambda text: {int(draw) for draw in text.split(",")}, default=set(), help="the changes of these draws alone, as 3,17")
    parser.add_argument("--only", default="", help="files whose path has this")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    say(f"building {BUILD}")
    prepare(options)
    say(f"drawing {len(options.draws) or options.count} changes")
    changes = drawn(options)
    passing = set()
    if options.quick:
        survivors = tried("the quick tier", changes, learn(QUICK, changes, STRIDE), STRIDE, passing)
        if options.compare and survivors:
            survivors = tried("whole sweeps", survivors, learn(WHOLE, survivors, 1), 1, passing)
    else:
        survivors = tried("tests without PyTorch", changes, learn(ROOMS, changes, 1), 1, passing)
        survivors = tried("PyTorch", survivors, with_torch(survivors), 1, passing)
    say("\n\n".join(["", *(f"{change}\n-{change.old}\n+{change.new}" for change in survivors)]))


if __name__ == "__main__":
    main()
