# SPDX-License-Identifier: BSD-2-Clause
"""figures_test.py SOURCE: plants right and wrong figures in a copy of the documents and compares the findings of scripts/check_figures.py with
them. The copy has only the files that the check reads."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(SOURCE, "scripts"))
import check_figures as figures  # noqa: E402

PLANTED = "docs/planted.md"
passed = failed = 0


def expect(what, ok, got):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {what}: {got}")


def write(tree, path, text):
    with open(os.path.join(tree.top, path), "w", encoding="utf-8") as file:
        file.write(text)


def planted(tree, text, path=PLANTED, unread=False):
    """Returns the findings in a document with this text. unread: true to also report numbers without a rule."""
    write(tree, path, text)
    found = figures.check(tree, [path], unread)[1]
    os.remove(os.path.join(tree.top, path))
    return found


def changed(tree, path, old, new):
    """Returns the findings that are new after a change of a file."""
    text, before = tree.read(path), set(figures.check(tree)[1])
    expect(f"{path} has {old!r}", old in text, "it is not there")
    write(tree, path, text.replace(old, new, 1))
    found = set(figures.check(tree)[1]) - before
    write(tree, path, text)
    return found


def wrong_of(rule, true):
    return true + 1 if isinstance(true, int) else true + "9"


def check_rules(tree):
    for rule in figures.rules_of(tree):
        trues = [true(tree) for true in rule.true][:rule.example.count("{}")]
        found = planted(tree, "# Page\n\n" + rule.example.format(*trues) + "\n")
        expect(rule.example.format(*trues), not found, found)
        for index, true in enumerate(trues):
            said = [wrong_of(rule, one) if at == index else one for at, one in enumerate(trues)]
            text = "# Page\n\n" + rule.example.format(*said) + "\n"
            found = planted(tree, text)
            line = next(number for number, one in enumerate(text.split("\n"), 1) if str(said[index]) in one)
            ok = len(found) == 1 and found[0].said.startswith(str(said[index])) and found[0].true == figures.shown(true)
            ok = ok and abs(found[0].line - line) <= 1
            expect(text.strip().split("\n")[-1], ok, found)


def check_forms(tree):
    overloads, operators = figures.overloads(tree), figures.operators(tree)
    for text in (f"{overloads} overloads of {operators:,} operators", f"{overloads:,} overloads\nof {operators} operators",
                 "Two operators, 977 operators measured, 4096 inputs on as many rows", "products of 2048 by 512",
                 "a library is loaded at most twice", "compilers and their passes", "node 20", "two instructions"):
        found = planted(tree, text + "\n")
        expect(text, not found, found)
    for text in ("some 2,950 operators and overloads", "2950\noperators", f"{overloads} rows of the list", "3,049+ ops", "three thousand operators",
                 "nearly 3000 supported operators", "operators: 3049", "overloads (3,049)", "the library has a limit of 1.5 MB",
                 "libtaper.so takes less than 2 MB", "`TAPER_WITH_VULKAN` adds not more than 900 KB"):
        found = planted(tree, f"# Page\n\nTaper: {text}.\n")
        expect(text, len(found) == 1 and found[0].line == 3 and found[0].true is None, found)
    whole = figures.size_limit(tree, "WHOLE")
    for text, right in ((f"{whole:,} bytes", True), (f"{whole / 1000000:.1f} MB", True), (f"{round(whole / 1000)} KB", True),
                        (f"{whole / 1000000 + 0.2:.1f} MB", False), (f"{round(whole / 1000) + 1} KB", False)):
        found = planted(tree, f"The whole library has at most {text}.\n")
        expect(text, len(found) == (not right), found)
    # Tests that a sentence with a figure may extend over several lines of a header's comment.
    found = planted(tree, "/* SPDX\n *\n * There are 2,950 overloads\n * of 1 operators. */\n", "include/taper/taper_planted.h")
    expect("a header", sorted((one.line, one.said) for one in found) == [(3, "1"), (3, "2,950")], found)


def check_times(tree):
    usage = ("usage() {\n    cat <<'END'\n  test [--quick | --full]\n"
             "                    run the tests: --quick in a minute, without an option in some ten, with PyTorch; --full in 1.5 hours\n"
             "  fuzz [TARGET [S]] S seconds each (60)\n  size              sizes\nEND\n}\n")
    before = tree.read("dev")
    write(tree, "dev", usage)
    for text in ("`./dev test` takes ten minutes.", "In one minute `./dev test --quick` is done.", "`./dev fuzz`: 60 seconds each.",
                 "`./dev test --quick` (a minute, no PyTorch), `./dev test` (some 10 minutes), `./dev test --full` (an hour and a half).",
                 "```sh\n./dev test --quick # a minute\n./dev test # ten minutes\n```", "| `./dev test` | ten minutes |",
                 "`./dev test` tests. Training takes 16 minutes.", "A second run of `./dev test` takes half the time."):
        found = planted(tree, text + "\n")
        expect(text, not found, found)
    for text, said in (("`./dev test` takes an hour.", "an hour"), ("`./dev test --quick` takes ten minutes.", "ten minutes"),
                       ("Ten minutes are enough for `./dev test --full`.", "Ten minutes"), ("`./dev size` takes\ntwenty minutes.", "twenty minutes"),
                       ("```sh\n./dev test # half an hour\n```", "half an hour"), ("| `./dev test` | 50 minutes |", "50 minutes"),
                       ("`./dev fuzz`: 30 seconds each.", "30 seconds"), ("`./dev test` takes ten to twelve minutes.", "ten to twelve minutes")):
        found = planted(tree, text + "\n")
        expect(text, len(found) == 1 and found[0].said == said, found)
    write(tree, "dev", before)


def check_measured(tree):
    """A measured figure has its conditions in its section, in a section around it, or at the beginning of the page."""
    for text in ("# A\n\nIt takes 3 ms on an AMD EPYC (`bench/layers.py`).", "# A\n\nAn AMD EPYC, `./dev bench`.\n\n## B\n\nIt takes 3.5 ms.",
                 "# A\n\n## B\n\n`taper bench` on Intel.\n\n### C\n\n| 2–3 µs |", "# A\n\n`scripts/size.sh`: 3 MB.", "# A\n\nFiles of up to 3 MB, blocks of 4 KB.",
                 "# A\n\nAn AMD EPYC.\n\n```sh\n# comment\n./dev bench\n```\n\nIt takes 3 ms.", "# A\n\nversion 3 s3, 12 million, 3 models"):
        expect(text, not planted(tree, text + "\n"), planted(tree, text + "\n"))
    for text, said in (("# A\n\nIt takes 3 ms on an AMD EPYC.", ["3 ms"]), ("# A\n\nIt takes 3 ms (`bench/layers.py`).", ["3 ms"]),
                       ("# A\n\nIt takes 2–3 µs.", ["2–3 µs", "2–3 µs"]), ("# A\n\nIt has 3.5 MB.", ["3.5 MB"]),
                       ("# A\n\n## B\n\nAMD, `./dev bench`.\n\n## C\n\nIt reads 40 GB/s.", ["40 GB/s", "40 GB/s"])):
        found = planted(tree, text + "\n")
        expect(text, [one.said for one in found] == said, found)


def unread(tree, text):
    return [one for one in planted(tree, text, unread=True) if one.name.startswith("no rule reads")]


def check_unread(tree):
    """A number without a rule is reported, unless it is a fact, in code, or measured."""
    for rule in figures.rules_of(tree):
        text = rule.example.format(*[true(tree) for true in rule.true][:rule.example.count("{}")])
        found = unread(tree, f"# Page\n\n{text}\n")
        expect(f"no unread number in {text}", not found, found)
    for name, _, example in figures.figure_facts.FACTS:
        for text in (f"{example}\n", f"- {example}\n", f"| {example} | text |\n"):
            found = unread(tree, "# Page\n\nWords.\n\n" + text)
            expect(f"{name}: {text}", not found, found)
        found = unread(tree, f"# Page\n\n{example} It has 37 rows.\n")
        expect(f"{name} hides no other number", [one.said for one in found] == ["37"], found)
    for text in ("The list has `37` rows.", "```sh\n./run 37\n```", "# 37 things", "37. A step.", "See [it](page37.md#s-37).", "Taper37 has fp16 and q37.",
                 "`./dev test` counted 37 rows on 29 November 2026.", "# A\n\nNovember 2026.\n\n## B\n\n`bench/layers.py` drew 37 layers.",
                 "# A\n\n## B\n\n`bench/layers.py`, November 2026.\n\n### C\n\nIt drew 37 layers."):
        found = unread(tree, f"{text}\n")
        expect(f"not read: {text}", not found, found)
    for text, said in (("The pool has 37 threads.", ["37"]), ("| a | 1,234 rows |", ["1,234"]), ("- It takes −3 or 2.5e-7 of it.", ["2.5e-7", "−3"]),
                       ("`./dev test` counted 37 rows.", ["37"]), ("On 29 November 2026 it had 37 rows.", ["37"]), ("Its limit is 37.", ["37"]),
                       ("## A\n\n`./dev test`, November 2026.\n\n## B\n\nIt has 37 rows.", ["37"]),
                       ("`bench/layers.py`, November 2026.\n\n## B\n\nIt has 37 layers.", ["37"])):
        found = unread(tree, f"# Page\n\n{text}\n")
        expect(f"unread: {text}", [one.said for one in found] == said, found)
    for path, said in (("docs/decisions/0099-planted.md", ["37"]), ("docs/performance.md", ["37"]), ("CHANGELOG.md", [])):
        before = tree.read(path) if os.path.exists(os.path.join(tree.top, path)) else None
        os.makedirs(os.path.dirname(os.path.join(tree.top, path)), exist_ok=True)
        write(tree, path, "# Page\n\nIt has 37 rows.\n")
        found = [one.said for one in figures.check(tree)[1] if one.path == path and one.name.startswith("no rule reads")]
        expect(f"the pages that are read: {path}", found == said, found)
        if before is None:
            os.remove(os.path.join(tree.top, path))
        else:
            write(tree, path, before)
    path = "docs/glossary.md"
    text = tree.read(path)
    write(tree, path, text.replace("16 rows by 64 bytes", "some rows"))
    found = [one.said for one in figures.check(tree)[1] if one.path == "scripts/figure_facts.py"]
    expect("a fact that no page states", found == ["a tile register of AMX"], found)
    write(tree, path, text)


def check_changes(tree):
    """Changes a number in a source, and checks that the script then reports the documents that state the old number."""
    for path, old, new, document in (
            ("src/ops/list/list_view.inc", "OP(aten_is_vulkan_available,",
             'OP(aten_new, "aten::new() -> bool", f, 0, 0)\nOP(aten_is_vulkan_available,', "README.md"),
            ("CMakeLists.txt", "project(taper VERSION ", "project(taper VERSION 9.", "docs/android.md"),
            ("src/base/limits.h", "TAPER_LOAD_STEPS_A_BYTE ", "TAPER_LOAD_STEPS_A_BYTE 9", "SECURITY.md"),
            ("docs/fuzzing.md", "| zip | opens", "| zap | opens", "docs/fuzzing.md"),
            ("docs/c.md", "(api/taper_app.md)", "(api/taper_ape.md)", "docs/c.md"),
            ("src/backends/option_list.inc", 'GPUS, "tiles"', 'GPUS, "stripes"', "docs/gpu.md"),
            ("src/backends/option_list.inc", 'GPUS, "checks", 1', 'GPUS, "checks", 0', "docs/gpu.md"),
            ("src/backends/option_list.inc", 'GPUS, "times", 0', 'GPUS, "times", -1', "docs/gpu.md"),
            ("src/ops/call/prepared.c", "MOST_MADE = ", "MOST_MADE = 1", "docs/inside/runtime.md"),
            ("CMakeLists.txt", "option(TAPER_WITH_PT2 ", "option(TAPER_WITH_PT9 ", "documents")):
        found = changed(tree, path, old, new)
        expect(f"{path}: {new}", document in {one.path for one in found}, found)


def check_rows(tree):
    """Checks that the preprocessor and scripts/check_figures.py count the same number of rows in the operator list."""
    if shutil.which("cc") is None:
        print("without cc the rows of the operator list are not counted by the preprocessor")
        return
    text = subprocess.run(["cc", "-E", "-P", "-DTAPER_WITH_GRADIENTS", f"-I{SOURCE}/src", f"-I{SOURCE}/include", "-x", "c", "-"], capture_output=True, text=True,
                          input='#define OP(id, schema, kernel, param, flags) @@ id @@\n#define IN_PLACE(id, of, flags) @@ id @@\n'
                                '#define OUT(id, of, flags) @@ id @@\n#include "ops/list/op_list.h"\n').stdout
    rows = len(re.findall(r"@@ \w+ @@", text))
    expect("rows of the operator list", rows == figures.all_rows(tree), (rows, figures.all_rows(tree)))


def check_command(tree):
    command = [sys.executable, os.path.join(SOURCE, "scripts", "check_figures.py"), tree.top]
    write(tree, PLANTED, "# Page\n\nTaper has 2,950 overloads of 1 operators.\n")
    done = subprocess.run(command, capture_output=True, text=True)
    right = figures.shown(figures.overloads(tree))
    expect("the command", done.returncode == 1 and f'{PLANTED}:3: "2,950" should be {right} (' in done.stdout, done)
    os.remove(os.path.join(tree.top, PLANTED))
    os.remove(os.path.join(tree.top, "scripts", "size.sh"))
    done = subprocess.run(command, capture_output=True, text=True)
    expect("a source that is not there", done.returncode == 1 and "scripts/size.sh cannot be read" in done.stderr, done)


def main():
    whole = figures.Tree(SOURCE)
    figures.check(whole)
    for rule in figures.rules_of(whole):
        for true in rule.true:
            true(whole)
    with tempfile.TemporaryDirectory() as folder:
        tree = figures.Tree(folder)
        for path in whole.read_files:
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            shutil.copyfile(os.path.join(SOURCE, path), os.path.join(folder, path))
        os.makedirs(os.path.join(folder, "tests", "data", "pt2"), exist_ok=True)
        for name in whole.names("tests/data/pt2"): # the check reads only the names of these files, so empty files are enough
            write(tree, os.path.join("tests", "data", "pt2", name), "")
        for part in (check_rules, check_forms, check_times, check_measured, check_unread, check_changes, check_rows, check_command):
            part(tree)
    print(f"{passed} passed, {failed} failed")
    return failed


sys.exit(1 if main() else 0)
