#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""targets.py NAME [--folder FOLDER] [--record] [--counts FILE] [-- arguments of ctest]: builds Taper for a target of tests/targets/targets.tsv, and
runs the target's tests. FOLDER (build/targets) gets the builds and the libraries that they link; targets that differ only in the processor share a
build. Exit status 77 if this machine lacks something that the target needs.

--record writes the counts and the size to docs/data/targets.tsv if the tests ran. --counts appends the counts to a file, as `./dev test` does. targets.py --names
prints all names, and targets.py --packages NAME the Debian packages that a target needs."""
import argparse
import collections
import datetime
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import count_tests

TOP = pathlib.Path(__file__).resolve().parent.parent
HERE, TABLE, DATA = TOP / "tests" / "targets", TOP / "tests" / "targets" / "targets.tsv", TOP / "docs" / "data" / "targets.tsv"
PACKAGES = "gcc libc6-dev binutils cmake ninja-build python3 python3-numpy"  # packages that each target needs

Target = collections.namedtuple("Target", "name packages how libraries emulator environment needs tests file system left_out")
Measured = collections.namedtuple("Measured", "name passed failed skipped bytes date note")  # untried: no counts, and the note has the reason


class Skip(Exception):
    """This machine lacks something that a target needs."""


class Failed(Exception):
    """A build failed, or a script without counts did."""


def lines_of(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def targets():
    return {row[0]: Target(*row) for row in lines_of(TABLE)}


def measured():
    return {row[0]: Measured(*row) for row in lines_of(DATA)} if DATA.exists() else {}


def built_as(target, known):
    """Returns the target whose build this target uses: itself, or the target after "as"."""
    how = target.how.split()
    return known[how[1]] if how[0] == "as" else target


def packages(target, known):
    both = f"{PACKAGES} {built_as(target, known).packages} {target.packages}".split()
    return list(dict.fromkeys(both))


def need(program, target, known):
    if shutil.which(program) is None:
        raise Skip(f"the target {target.name} needs {program} (packages {' '.join(packages(target, known))})")


def processor_flags():
    try:
        found = re.search(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return set(found.group(1).split()) if found else set()


def quietly(command, log, **more):
    """Runs a command whose output goes to a log. Its errors and last lines are printed if it fails."""
    with open(log, "w", encoding="utf-8", errors="replace") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, **more).returncode
    if status:
        lines = pathlib.Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
        skipped = [line.partition(": ")[2] for line in lines if line.startswith("SKIPPED: ")]
        if status == 77:
            raise Skip(skipped[-1] if skipped else f"{command[0]} skips itself")
        errors = [line for line in lines if re.search(r"\b(error|Error|FAILED)\b", line)][:20]
        print("\n".join(errors or lines[-20:]))
        raise Failed(f"{' '.join(map(str, command[:2]))} fails: {log}")


def libraries(target, folder):
    """Returns the root of the libraries that the target links, which is filled first."""
    kind, name, *more = target.libraries.split()
    root = folder / "libraries" / name
    script = {"debian": "foreign_libraries.sh", "sources": "foreign_sources.sh"}[kind]
    root.parent.mkdir(parents=True, exist_ok=True)
    quietly([TOP / "scripts" / script, name, *more, root], root.parent / f"{name}.log")
    return root / "root"


def build(target, folder, known):
    """Builds the library, the programs and the tests with a toolchain file. Returns the build folder."""
    made = built_as(target, known)
    toolchain, *options = made.how.split()
    out = folder / made.name
    out.mkdir(parents=True, exist_ok=True)
    # Scripts start the program by its path, so a script at another path starts it in the emulator.
    program = folder / f"{made.name}.taper"
    program.write_text(f'#!/bin/sh\nexec "{HERE}/emulator.sh" "{out}/bin/taper" "$@"\n')
    program.chmod(0o755)
    quietly(["cmake", "-S", TOP, "-B", out, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_TOOLCHAIN_FILE={TOP / toolchain}",
             f"-DTAPER_FOREIGN_ROOT={libraries(made, folder)}", f"-DTAPER_TARGET_EMULATOR={HERE}/emulator.sh", f"-DTAPER_TEST_PROGRAM={program}",
             "-DTAPER_WITH_VULKAN=OFF", *options], folder / f"{made.name}.configure.log")
    quietly(["cmake", "--build", out, "-j", os.environ.get("JOBS", "2"), "--target", "foreign_tests", "taper_shared"], folder / f"{made.name}.build.log")
    return out


def run_tests(target, out, environment, arguments):
    """Runs the tests of a build. Returns (passed, failed, skipped)."""
    command = ["ctest", "--test-dir", out, "--output-on-failure", "-j", os.environ.get("JOBS", "2"), "--timeout", "3000", *target.tests.split(), *arguments]
    status = subprocess.run(command, env=environment).returncode
    passed, failed, skipped = count_tests.count_log(str(out))
    return passed, failed or (1 if status else 0), skipped


def run_script(target, folder, environment):
    """Runs a script of tests/targets, which builds and tests in a folder of its own. Returns its folder and (passed, failed, skipped)."""
    script, *arguments = target.how.split()
    out = folder / target.name
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([TOP / script, *arguments, out], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    print(done.stdout, end="")
    skipped = re.findall(r"^SKIPPED: (.*)", done.stdout, re.M)
    if done.returncode == 77:
        raise Skip(skipped[-1] if skipped else f"{script} skips itself")
    return out, count_tests.count(done.stdout, done.returncode == 0)


def stripped_size(path, out):
    """Returns the size of a file of a build without symbols. The build's strip removes them; a module of WebAssembly has none."""
    if path.suffix == ".wasm":
        return path.stat().st_size
    cache = out / "CMakeCache.txt"
    found = re.search(r"^CMAKE_STRIP:\w+=(.+)", cache.read_text(encoding="utf-8"), re.M) if cache.exists() else None
    tool = found.group(1) if found and "NOTFOUND" not in found.group(1) else "strip"
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, path.name)
        shutil.copyfile(path, copy)
        subprocess.run([tool, copy], check=True)
        return os.path.getsize(copy)


def record(target, counts, size):
    """Writes a row of docs/data/targets.tsv; the rows stay in the order of the table."""
    rows = measured()
    before = rows.get(target.name)
    note = before.note if before and before.passed else ""
    rows[target.name] = Measured(target.name, *map(str, counts), str(size or ""), datetime.date.today().isoformat(), note)
    comments = [line for line in DATA.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    DATA.write_text("\n".join(comments + ["\t".join(rows[name]) for name in targets() if name in rows]) + "\n", encoding="utf-8")


def test(target, folder, known, arguments):
    """Builds and tests a target. Returns ((passed, failed, skipped), size or None)."""
    lacks = [flag for flag in target.needs.split() if flag not in processor_flags()]
    if lacks:
        raise Skip(f"this machine does not run the target {target.name}: its processor lacks {' '.join(lacks)}")
    for program in target.emulator.split()[:1] + ["cmake", "ninja"]:
        need(program, target, known)
    environment = dict(os.environ, TAPER_EMULATOR=target.emulator, **dict(pair.split("=", 1) for pair in target.environment.split()))
    if built_as(target, known).how.split()[0].endswith(".cmake"):
        for package in packages(target, known):
            if package.startswith("gcc-"):
                need(package[len("gcc-"):] + "-gcc", target, known)
        out = build(target, folder, known)
        program = subprocess.run([HERE / "emulator.sh", out / "bin" / "taper", "--version"], env=environment, capture_output=True, text=True, errors="replace")
        if program.returncode and not target.emulator:
            raise Skip(f"this machine does not run programs of the target {target.name}")  # not every kernel of x86-64 runs 32-bit programs
        counts = run_tests(target, out, environment, arguments)
    else:
        out, counts = run_script(target, folder, environment)
    return counts, stripped_size(out / target.file, out) if target.file else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--packages", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path, default=TOP / "build" / "targets")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--counts")
    own = sys.argv[1:]
    arguments = own[own.index("--") + 1:] if "--" in own else []
    options = parser.parse_args(own[:own.index("--")] if "--" in own else own)
    known = targets()
    if options.names:
        print("\n".join(known))
        return
    if options.name not in known:
        print(f"targets.py: error: there is no target \"{options.name or ''}\"; there are: {' '.join(known)}", file=sys.stderr)
        sys.exit(2)
    target = known[options.name]
    if options.packages:
        print(" ".join(packages(target, known)))
        return
    status, size, ran = 0, None, False
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        counts, size = test(target, options.folder.resolve(), known, arguments)
        status, ran = 1 if counts[1] else 0, True
    except Skip as why:
        print(f"SKIPPED: {why}")
        counts = (0, 0, 1) if count_tests.may_skip(str(why)) else (0, 1, 0)
        status = 1 if counts[1] else 77
    except Failed as why:
        print(f"FAILED: {why}")
        counts, status = (0, 1, 0), 1
    if options.counts:
        with open(options.counts, "a", encoding="utf-8") as file:
            print(*counts, file=file)
    if options.record and ran:
        record(target, counts, size)
    print(f"{target.name}: {size:,} bytes of {target.file}, stripped" if size else f"{target.name}: no size is measured")
    print(f"{counts[0]} passed, {counts[1]} failed" + (f", {counts[2]} skipped" if counts[2] else ""))
    sys.exit(status)


if __name__ == "__main__":
    main()
