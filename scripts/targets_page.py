#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""targets_page.py [--check]: writes docs/targets.md from the table tests/targets/targets.tsv and from the counts and sizes of
docs/data/targets.tsv, which `scripts/targets.py NAME --record` measured. --check writes nothing. It fails if the page is out of date, or if a row of
one of the files is wrong."""
import argparse
import os
import sys

import targets

PAGE = targets.TOP / "docs" / "targets.md"

INTRODUCTION = """# Targets

This page is for a reader who wants to know on which systems and processors Taper is tested. The tables name the tests that are left out.
`scripts/targets_page.py` writes this page from `tests/targets/targets.tsv` and `docs/data/targets.tsv`.

`./dev test --target NAME` installs the Debian packages that a target needs, builds the target, and runs its tests. `./dev test --full` and the
hosted workflow run all targets. The page [Support](support.md#where-taper-was-tested) lists the other systems and devices.
"""

HOW = """## How each target is tested

The tests of a target run on the building machine or in an emulator. An emulator shows only if results are right, and times in an emulator mean
nothing. The fast tests need no PyTorch. They test single files, the public interface, limits, backends and NNAPI. They also run the kernels, the
recorded operator cases and the committed models. With `TAPER_STRIDE=7` long sweeps take every seventh step ([tiers](../tests/README.md)).
"""

RESULTS = """## Results

`./dev test --target NAME` measured the counts and sizes{dates}. The size is the size of the file without symbols.
"""

# Words for the arguments of ctest. The row of a target that a script tests has words instead of arguments.
TESTS = {"-L foreign": "the fast tests", "-L kernels": "the checks of the kernels", "-L foreign -R ^(kernels|small_kernels|recorded|samples_quick|nnapi_quick|bytecode3|demo)$": "kernels, operators and models", "-L foreign -E ^demo$": "the fast tests, except the demo's pictures",
         "-L foreign -LE nnapi -E ^demo$": "the fast tests, except NNAPI's and the demo's pictures"}


def built_with(target, known):
    script, *options = target.how.split()
    if script == "as":
        return f"as `{options[0]}`"
    if script.endswith(".cmake"):
        script = f"`{script}`"
        return f"{script} with {' '.join(f'`{option}`' for option in options)}" if options else script
    return f"`{' '.join([script, *options])}`"


def runs_on(target):
    words = [f"`{part}`" for part in (target.environment, target.emulator) if part]
    return " ".join(words) or "the building machine"


def page(known, rows):
    out = [INTRODUCTION, HOW]
    out.append("| target | system | built with | runs on | tests | left out |\n| --- | --- | --- | --- | --- | --- |")
    for target in known.values():
        tests = TESTS.get(target.tests, target.tests)
        out.append(f"| {target.name} | {target.system} | {built_with(target, known)} | {runs_on(target)} | {tests} | {target.left_out} |")
    dates = sorted({row.date for row in rows.values() if row.date})
    when = f" on {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "") if dates else ""
    out.append("\n" + RESULTS.format(dates=when))
    out.append("| target | passed | failed | skipped | file | bytes | note |\n| --- | ---: | ---: | ---: | --- | ---: | --- |")
    for target in known.values():
        row = rows[target.name]
        if not row.passed:
            out.append(f"| {target.name} | | | | | | untried: {row.note} |")
            continue
        counts = " | ".join(f"{int(number):,}" for number in (row.passed, row.failed, row.skipped))
        file, size = (f"`{target.file.rpartition('/')[2]}`", f"{int(row.bytes):,}") if row.bytes else ("", "")
        out.append(f"| {target.name} | {counts} | {file} | {size} | {row.note} |")
    return "\n".join(out) + "\n"


def problems(known, rows):
    """Yields what is wrong with the rows."""
    for target in known.values():
        script, *options = target.how.split()
        if script == "as":
            if options[0] not in known or known[options[0]].how.startswith("as "):
                yield f"{target.name}: {options[0]} is no target with a build of its own"
            if target.file or target.libraries:
                yield f"{target.name}: the file and the libraries belong to the row of {options[0]}"
        elif not (targets.TOP / script).is_file():
            yield f"{target.name}: there is no {script}"
        elif script.endswith(".sh") and not os.access(targets.TOP / script, os.X_OK):
            yield f"{target.name}: {script} is not executable"
        if targets.built_as(target, known).how.split()[0].endswith(".cmake") and target.tests not in TESTS:
            yield f"{target.name}: scripts/targets_page.py has no words for the tests {target.tests!r}"
        if not target.system:
            yield f"{target.name}: the row does not say what the system is"
        if target.name not in rows:
            yield f"docs/data/targets.tsv: the target {target.name} has neither counts nor a reason why it is untried"
        elif not rows[target.name].passed and not rows[target.name].note:
            yield f"docs/data/targets.tsv: {target.name} gives no reason why it is untried"
    yield from (f"docs/data/targets.tsv: there is no target {name}" for name in rows if name not in known)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    known, rows = targets.targets(), targets.measured()
    found = list(problems(known, rows))
    text = page(known, rows) if not found else ""
    if not options.check:
        if not found:
            PAGE.write_text(text, encoding="utf-8")
    elif not found and (not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text):
        found.append("docs/targets.md is not what tests/targets/targets.tsv and docs/data/targets.tsv make: run scripts/targets_page.py")
    print("\n".join([*found, f"{len(known)} targets, {len(found)} failed"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
