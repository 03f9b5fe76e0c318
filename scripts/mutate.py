#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mutate.py [--quick [--compare]] [--count N] [--seed S] [--skip D] [--only PATH]: changes one place of src after the other, and says which
changes no test notices.

A change is a comparison, a constant, a sign, a condition, an index or a dropped statement; half of them are in operators and kernels. In
a copy of the tree (build-mutate) the object is built again and the tests of its room run, the quick ones first; then the file
is as before. Prints a line for each change, and the survivors as diffs at the end. Every survivor wants a test, or a reason.

--quick runs the quick tier alone, with the samples that it takes. --compare then runs every test that needs no PyTorch, with whole sweeps, on
what survived: a change that they notice is one that the quick tier has lost."""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
WORK = TOP / "build-mutate"
SOURCE, BUILD = WORK / "source", WORK / "build"
ROOMS = ["-L", "unit|api|limits|models|passes|kernels|tools|ops", "-LE", "^(oracle|full)$"]
QUICK = ["-L", "^quick$"]
# Every test without PyTorch, but for those that build the tree again or run elsewhere.
WHOLE = ["-LE", "^(oracle|package|wasm|docs|style|apple|android|python)$"]
STRIDE = 7  # of the quick tier
NUMERIC = ("ops", "backends")  # rooms of operators and kernels
# The tests with PyTorch that are about a room.
ORACLE = {"backends": "samples|zoo|ops_cpu|ops_conv|ops_linear|ops_linalg|ops_pool|ops_quantized.*|ops_edges",
          "compiler": "optimize|quantize|random_programs|generated_programs|listing|apps|gpu_files", "format": "samples|convert|write|debug_info|gpu_files|old_bytecode",
          "frontend": "samples|torchscript|language|listing|old_bytecode|ops_as_torchscript|generated_programs", "ops": "ops_(?!as_torchscript).*|opinfo"}
OTHERS = "samples|torchscript|language|optimize|convert|quantize"

SWAPS = {"comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}, "sign": {"+": "-", "-": "+", "+=": "-=", "-=": "+="},
         "condition": {"&&": "||", "||": "&&"}}
STATEMENT = re.compile(r"^\s+(?!return\b|break\b|continue\b|goto\b|case\b|const\b|static\b|struct\b|enum\b|else\b)[\w>.\[\]*()-]+ (?:[-+*/|&]?= .*|)\S*;$|^\s+\(?void\)?\s*\w+\(.*\);$")
SKIPPED = re.compile(r"^\s*(#|//|\*|TAPER_FAIL|return taper_fail)|\b(assert|_Static_assert|printf|snprintf|TAPER_FAIL|taper_fail\w*)\b|^\s*\"")


def blanked(line):
    """The line with texts and comments as blanks, of the same length."""
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'', lambda m: " " * len(m[0]), line)
    return re.sub(r"//.*|/\*.*?\*/", lambda m: " " * len(m[0]), line)


def places(line):
    """(kind, changed line) of all that can be changed in a line."""
    code, found = blanked(line), []
    if SKIPPED.search(line) or not code.strip():
        return found
    for kind, swaps in SWAPS.items():
        for m in re.finditer(r"(?<= )(<=|>=|==|!=|\+=|-=|&&|\|\||[<>+-])(?= )", code):
            if m[1] in swaps:
                found.append((kind, line[:m.start()] + swaps[m[1]] + line[m.end():]))
    for m in re.finditer(r"(?<![\w.])(\d+)(\.\d+)?(?=[^\w.]|f\b)", code):
        other = f"{int(m[1]) + 2}{m[2]}" if m[2] else str(int(m[1]) + 1)
        found.append(("constant", line[:m.start()] + other + line[m.end():]))
    for m in re.finditer(r"(?<=\w)\[(\w+)\]", code):
        if not re.match(r"\s*(static |const )*[\w ]+\*? \w+\[", code) and not m[1].isupper():
            found.append(("index", line[:m.start(1)] + m[1] + " + 1" + line[m.end(1):]))
    if STATEMENT.match(code.rstrip()):
        found.append(("statement", re.match(r"\s*", line)[0] + ";"))
    return found


def draw(rng, only):
    """(path, line number, kind, old line, new line)"""
    files = sorted(p for p in (SOURCE / "src").rglob("*.c") if only in str(p.relative_to(SOURCE)))
    numeric = [p for p in files if p.relative_to(SOURCE).parts[1] in NUMERIC]
    others = [p for p in files if p not in set(numeric)]
    while True:
        group = (numeric if rng.random() < 0.5 else others) or files
        path = rng.choices(group, [p.stat().st_size for p in group])[0]
        lines = path.read_text().split("\n")
        at = rng.randrange(len(lines))
        options = places(lines[at])
        if options:
            kinds = sorted({kind for kind, _ in options})
            kind = rng.choice(kinds)
            return path, at, kind, lines[at], rng.choice([new for k, new in options if k == kind])


def run(command, limit=3600, stride=1):
    environment = os.environ | {"TAPER_STRIDE": str(stride)}
    try:
        return subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=limit, env=environment).returncode
    except subprocess.TimeoutExpired:
        return -1


def build(*targets):
    return run(["cmake", "--build", str(BUILD)] + [t for target in targets for t in ("--target", target)]) == 0


def test(arguments, limit=600, stride=1):
    return run(["ctest", "--test-dir", str(BUILD), "-j3", "--stop-on-failure", "--timeout", str(limit)] + arguments, stride=stride) == 0


def noticed(path, options):
    """Which step of the tests fails; None: none."""
    if not test(["-R", "^recorded$"], 60):  # which takes a second
        return "recorded cases"
    if not build():
        return "the build"
    if options.quick:
        if not test(QUICK, 150, STRIDE):
            return "quick tests"
        return "whole sweeps, and not by quick tests" if options.compare and not test(WHOLE, 900) else None
    if not test(ROOMS, 150):
        return "tests without PyTorch"
    return None if test(["-R", f"^({ORACLE.get(path.relative_to(SOURCE).parts[1], OTHERS)})$"]) else "PyTorch"


def prepare(options):
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, capture_output=True, text=True, check=True).stdout.split("\n")
    shutil.rmtree(SOURCE, ignore_errors=True)
    for file in filter(None, files):
        if (TOP / file).is_file():
            (SOURCE / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / file, SOURCE / file)  # new times: an object of a change that was broken off is built again
    tests = "core" if options.quick and not options.compare else "ON"
    if run(["cmake", "-S", str(SOURCE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DTAPER_BUILD_TESTS={tests}"]) != 0 or not build():
        sys.exit("the tree does not build; see ./dev build")
    if options.quick:
        if not test(QUICK, stride=STRIDE):
            sys.exit("its quick tests fail as it is; see ./dev test --quick")
        return
    # What PyTorch answers now is kept (tests/ops/kept.py).
    if not test(ROOMS) or not test(["-R", f"^({ORACLE['ops']})$"]):
        sys.exit("its tests fail as it is; see ./dev test")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the quick tier alone")
    parser.add_argument("--compare", action="store_true", help="with --quick: what survives is run against all tests without PyTorch")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="changes that are drawn first and not tried")
    parser.add_argument("--only", default="", help="files whose path has this")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"building {BUILD}", flush=True)
    prepare(options)
    survivors, done, drawn = [], 0, 0
    while done < options.count:
        path, at, kind, old, new = draw(rng, options.only)
        drawn += 1
        if drawn <= options.skip:
            continue
        text, begin = path.read_text(), time.time()
        lines = text.split("\n")
        lines[at] = new
        path.write_text("\n".join(lines))
        try:
            if not build("recorded_cases"):  # or a warning, which is an error
                continue
            step = noticed(path, options)
        finally:
            path.write_text(text)
        done += 1
        where = f"{path.relative_to(SOURCE)}:{at + 1}"
        print(f"{done}/{options.count} (draw {drawn}) {'survived' if step is None else 'noticed by ' + step}: {kind} in {where} ({time.time() - begin:.0f} s)", flush=True)
        if step is None:
            survivors.append(f"{where} ({kind})\n-{old}\n+{new}")
            print("  -" + old.strip() + "\n  +" + new.strip(), flush=True)
    print("\n\n".join([""] + survivors))
    print(f"{done} changes, {len(survivors)} survived")


if __name__ == "__main__":
    main()
