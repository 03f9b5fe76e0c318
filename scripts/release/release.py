#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""release.py [--dry-run] [--only NAME]… [--out FOLDER]: makes the artefacts of a release, each in FOLDER/NAME, and prints a table of them.

artefacts.tsv lists the artefacts with their machines and scripts. With --dry-run an artefact that this machine cannot make is a row with the
reason. Without --dry-run it is an error, and --only has to name the artefacts to make. release.py --packages NAME prints the Debian packages
that an artefact needs; --names prints all names. Called by `./dev release`."""
import argparse
import os
import platform
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ELSEWHERE = ("GitHub", "none", "ci")


class Artefact:
    def __init__(self, line):
        self.name, self.machine, command, packages, self.text = line.split("\t")
        self.command, self.packages = command.split(), packages.split()


def artefacts():
    with open(os.path.join(HERE, "artefacts.tsv"), encoding="utf-8") as file:
        return [Artefact(line.rstrip("\n")) for line in file if line.strip() and not line.startswith("#")]


def this_machine():
    """Returns system-processor, in the form of artefacts.tsv. A Linux whose C library is not glibc is called Musl."""
    system = platform.system()
    if system == "Linux" and platform.libc_ver()[0] != "glibc":
        system = "Musl"
    return f"{system}-{platform.machine()}"


def why_not_here(artefact):
    """Returns the reason why this machine cannot make an artefact, or None."""
    if artefact.machine in ("any", this_machine()):
        return None
    return {"none": artefact.text, "GitHub": "a job of release.yml alone can do it",
            "ci": f"makes no artefact; {' '.join(artefact.command)} runs it"}.get(artefact.machine, f"needs {artefact.machine}; this is {this_machine()}")


class Result:
    def __init__(self, artefact, state, why="", files=(), checked=()):
        self.artefact, self.state, self.why, self.files, self.checked = artefact, state, why, list(files), list(checked)


def make(artefact, out, log):
    """Runs the artefact's script. Its output goes to the log. `checked:` lines are kept; a line SKIPPED has the reason why nothing was made."""
    folder = os.path.join(out, artefact.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [os.path.join(HERE, artefact.command[0]), *artefact.command[1:], folder]
    with open(log, "w+", encoding="utf-8", errors="replace") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode
        file.seek(0)
        lines = file.read().splitlines()
    files = sorted((name, os.path.getsize(os.path.join(folder, name))) for name in os.listdir(folder))
    checked = [line.partition(": ")[2] for line in lines if line.startswith("checked: ")]
    if status == 77:
        shutil.rmtree(folder)
        return Result(artefact, "untried here", next((line.partition(": ")[2].rstrip(":") for line in reversed(lines) if line.startswith("SKIPPED: ")), "its script skips"))
    if status:
        why = next((line for line in lines if line.startswith("FAILED")), lines[-1] if lines else "no output")
        return Result(artefact, "FAILED", f"status {status}, {os.path.relpath(log, ROOT)}: {why}")
    if not files:
        os.rmdir(folder)
        checked = checked or lines[-1:]
    return Result(artefact, "here", files=files, checked=checked)


def rows(result):
    """Returns the lines of the table for a result: artefact, file, bytes, machine, and how it was checked or why it was not made."""
    last = "; ".join(result.checked) if result.state == "here" else result.why
    files = result.files or [("", None)]
    lines = []
    for number, (name, size) in enumerate(files):
        lines.append((result.artefact.name if number == 0 else "", name, f"{size:,}" if size is not None else "",
                      result.state if number == 0 else "", last if number == 0 else ""))
    return lines


def show(results, file=sys.stdout):
    header = ("artefact", "file", "bytes", "where", "checked how, or why not")
    table = [header] + [row for result in results for row in rows(result)]
    widths = [max(len(row[column]) for row in table) for column in range(4)]
    for row in table:
        cells = [cell.rjust(width) if column == 2 else cell.ljust(width) for column, (cell, width) in enumerate(zip(row, widths))]
        print("  ".join(cells + [row[4]]).rstrip(), file=file)


def main():
    known = artefacts()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--only", action="append", metavar="NAME", help="this artefact; may be repeated")
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--packages", metavar="NAME")
    options = parser.parse_args()
    by_name = {artefact.name: artefact for artefact in known}
    for name in [*(options.only or []), *([options.packages] if options.packages else [])]:
        if name not in by_name:
            parser.error(f"there is no artefact \"{name}\"; there are: {' '.join(by_name)}")
    if options.names or options.packages:
        print("\n".join(by_name) if options.names else " ".join(by_name[options.packages].packages))
        return 0
    if not options.dry_run and not options.only:
        parser.error("say --dry-run, or --only and the artefact to make: a release is a tag, and .github/workflows/release.yml makes all of it")
    logs = os.path.join(ROOT, "build", "release-work", "logs")
    os.makedirs(logs, exist_ok=True)
    results = []
    for artefact in (by_name[name] for name in options.only or by_name):
        why = why_not_here(artefact)
        if why:
            results.append(Result(artefact, "left out" if artefact.machine == "none" else "untried here", why))
            continue
        print(f"== {artefact.name}: {artefact.text}", file=sys.stderr, flush=True)
        begin = time.monotonic()
        results.append(make(artefact, os.path.abspath(options.out), os.path.join(logs, artefact.name + ".log")))
        print(f"   {results[-1].state}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    show(results)
    bad = [result for result in results if result.state == "FAILED" or (not options.dry_run and result.state != "here")]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
