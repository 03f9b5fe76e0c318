# SPDX-License-Identifier: BSD-2-Clause
"""Finds the tests that reach each line of src, for mutate.py: a test that does not run a line cannot detect a change of it.

The files with a change are compiled with --coverage, and each test runs once with its own folder for counts. If the counts are incomplete, the
test is assumed to reach the line: it failed, ended a process without counts, or is a script that reads the source."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

# These tests kill a process, or end it with _exit(), on purpose. The lines that such a process ran are not counted.
UNCOUNTED = {"unit_pool_test", "unit_packs_file_test", "tools_failures_test"}
LIMIT = 1200  # seconds for one test, with counters


class Test:
    def __init__(self, entry, build):
        properties = {p["name"]: p["value"] for p in entry["properties"]}
        self.name, self.command = entry["name"], entry["command"]
        self.environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        self.folder = properties.get("WORKING_DIRECTORY", str(build))
        self.skipped = properties.get("SKIP_RETURN_CODE")
        self.labels = set(properties.get("LABELS", []))
        programs = [pathlib.Path(word) for word in self.command]
        self.targets = {str(p.relative_to(build)) for p in programs if build in p.parents and p.is_file() and p.parts[len(build.parts)] in ("bin", "lib")}
        self.is_script = build not in programs[0].parents
        self.takes_steps = any(p.is_file() and re.search(rb"TAPER_STRIDE|import sampling", p.read_bytes()) for p in programs)
        self.seconds = 60.0  # replaced by the measured time
        self.counts = True  # False if a run of the test counted nothing


def listed(build, selection):
    """Returns the tests that a selection of ctest has, after their programs are built."""
    answer = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1", *selection], capture_output=True, text=True, check=True)
    return [Test(entry, build) for entry in json.loads(answer.stdout)["tests"]]


def covering(file, paths):
    """Writes the CMake include that makes these files count their lines. Functions are not split or inlined before the counters are added, so
    that each function counts its own lines."""
    lines = [f'set_property(SOURCE {path} APPEND_STRING PROPERTY COMPILE_FLAGS "--coverage -fno-early-inlining -w")' for path in sorted(map(str, paths))]
    file.write_text("\n".join([*lines, "add_link_options(--coverage)", ""]))


def run(test, counts, stride):
    """Returns None if the test passed or was skipped, otherwise the reason why its counts are incomplete."""
    environment = os.environ | test.environment | {"TAPER_STRIDE": str(stride), "GCOV_PREFIX": str(counts)}
    begin = time.time()
    try:
        status = subprocess.run(test.command, cwd=test.folder, env=environment, capture_output=True, timeout=LIMIT).returncode
    except subprocess.TimeoutExpired:
        return "it ran out of time"
    test.seconds = time.time() - begin
    return None if status in (0, test.skipped) else f"it ended with {status}"


def counted(counts):
    """Returns {file: ({line: runs}, [(first line, last line, runs) of a function])} from a folder of counts; copies of a file are added up."""
    found, objects = {}, []
    for data in counts.rglob("*.gcda"):
        notes = pathlib.Path("/", data.relative_to(counts)).with_suffix(".gcno")
        data.with_suffix(".gcno").symlink_to(notes)
        objects.append(str(data))
    for first in range(0, len(objects), 50):
        text = subprocess.run(["gcov", "--json-format", "--stdout", *objects[first:first + 50]], cwd=counts, check=True, capture_output=True, text=True).stdout
        for report in map(json.loads, text.splitlines()):
            for file in report["files"]:
                path = os.path.normpath(os.path.join(report["current_working_directory"], file["file"]))
                if not path.endswith(".c"):
                    continue
                lines, functions = found.setdefault(path, ({}, []))
                for line in file["lines"]:
                    lines[line["line_number"]] = lines.get(line["line_number"], 0) + line["count"]
                functions += [(f["start_line"], f["end_line"], f["execution_count"]) for f in file["functions"]]
    return found


def code_of(counts, change):
    """Returns how often the line ran. For a line without code it returns the runs of its function, or None outside of functions, for example in a
    table."""
    lines, functions = counts.get(str(change.path), ({}, []))
    around = [times for first, last, times in functions if first <= change.line <= last]
    return lines.get(change.line, max(around, default=None))


def learn(build, tests, changes, stride, say):
    """Returns {change: tests that reach it, the fast ones first}; a change has a path and a line, and its file counts in this build."""
    root = build.parent / "counts"
    shutil.rmtree(root, ignore_errors=True)
    ran, near, everything, code = {}, {}, {}, set()

    def one(test):
        folder = root / test.name
        folder.mkdir(parents=True)
        why = run(test, folder, stride)
        counts = counted(folder)
        shutil.rmtree(folder)
        if why is None and not counts and test.is_script:
            why, test.counts = "it counts nothing", False  # a script that reads the source counts nothing
        if why:
            everything[test] = why
        code.update(change for change in changes if code_of(counts, change) is not None)
        ran[test] = {change for change in changes if code_of(counts, change)}
        near[test] = {change for change in changes if any(counts.get(str(change.path), ({},))[0].values())}

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, tests))
    for why in sorted(set(everything.values())):
        say(f"taken to reach every line, as {why}: {' '.join(test.name for test in tests if everything.get(test) == why)}")

    def reaches(test, change):
        """Returns the tests that reach a line. A line without code is reached by all tests that run its file. If no test runs the file, it may be a
        table that other files read, and all tests reach it."""
        if test in everything or (test.name in UNCOUNTED and change in near[test]):
            return True
        if change in code:
            return change in ran[test]
        return change in near[test] or not any(change in changes for changes in near.values())

    # Tests that are assumed to reach everything come last, because few of them detect a change.
    return {change: sorted((t for t in tests if reaches(t, change)), key=lambda t: (t in everything, t.seconds)) for change in changes}
