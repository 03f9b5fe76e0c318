# SPDX-License-Identifier: BSD-2-Clause
"""words_test.py SOURCE: checks that each rule of scripts/check_words.py finds its example, at its line, and accepts the sentence next to the
example."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
SCRIPT = os.path.join(SOURCE, "scripts", "check_words.py")
spec = importlib.util.spec_from_file_location("check_words", SCRIPT)
words = importlib.util.module_from_spec(spec)
spec.loader.exec_module(words)

passed = failed = 0


def expect(what, right, said):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    if not right:
        print(f"FAILED {what}: {said}")


def findings(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text, encoding="utf-8")
    return {(one.line, one.rule) for one in words.check(path, name)}


def check_examples(folder):
    for rule in words.RULES:
        for_pages = rule.form is not words.pronoun
        found = findings(folder, "page.md", f"# Page\n\nThis is a page.\n{rule.example}\n")
        expect(f"{rule.name}: {rule.example}", ((4, rule.name) in found) == for_pages, found)
        found = findings(folder, "page.md", f"# Page\n\nThis is a page.\n{rule.fine}\n")
        expect(f"{rule.name}: {rule.fine}", rule.name not in {name for _, name in found}, found)
        for_comments = rule.form not in (words.too_long, words.two_semicolons)
        found = findings(folder, "file.c", f"// Text.\n\n// {rule.example}\nint a; // {rule.fine}\n")
        expect(f"{rule.name} in C: {rule.example}", {line for line, name in found if name == rule.name} == ({3} if for_comments else set()), found)


def check_places(folder):
    """The parts of a page and of a header in which the script finds a wrong sentence at the right line, and the parts that are exempt."""
    opening, broken, long = "opening", "Of the rows one is taken.", words.LONG
    most = f"more than {words.MOST_WORDS} words"
    halves = " ".join(long.split()[:12]) + "\n" + " ".join(long.split()[12:])
    for what, name, text, found in (
            ("an item of a list", "page.md", f"- One.\n- {broken}\n", {(2, opening)}),
            ("a numbered item", "page.md", f"1. One.\n2. {broken}\n", {(2, opening)}),
            ("a cell of a table", "page.md", f"| a | b |\n| --- | --- |\n| one | {broken} |\n", {(3, opening)}),
            ("after a sentence that ends in code", "page.md", f"It calls `f()`. {broken}\n", {(1, opening)}),
            ("in the middle of a paragraph", "page.md", f"The first line\nends here. {broken}\n", {(2, opening)}),
            ("a sentence over two lines", "page.md", f"One.\n\n{halves}\n", {(3, most)}),
            ("a phrase over two lines", "page.md", "The pool starts so\nmany threads.\n", {(1, "write: that many")}),
            ("the header row of a table", "page.md", "| What it is | b |\n| --- | --- |\n| one | two |\n", set()),
            ("a heading", "page.md", "## What a reader does\n", set()),
            ("a phrase in a heading", "page.md", "## So many threads\n", {(1, "write: that many")}),
            ("a block of code", "page.md", f"```text\n{broken} {long}\n```\n", set()),
            ("code in a sentence", "page.md", "It prints `Of the rows; so many; one more;`.\n", set()),
            ("a block comment of a header", "page.h", f"#define A 1\n\n/* The first line.\n * {broken} */\n", {(4, opening)}),
            ("a line comment of a header", "page.h", f"int a; // {broken}\n", {(1, opening)}),
            ("a long comment of a header", "page.h", f"/* {long} */\n", set()),
            ("code of a header", "page.h", "int so, many; /* the sizes */\n", set()),
            ("a comment after a license", "file.c", f"// SPDX-License-Identifier: BSD-2-Clause\n// {broken}\n", {(2, opening)}),
            ("a comment that begins with a small letter", "file.c", "int a; // of the rows\n", {(1, opening)}),
            ("a list", "list.inc", f"// {broken}\nROW(1)\n", {(1, opening)}),
            ("the second line of a comment beside code", "file.c", "int a; // the sizes\n       // of the rows\n", set()),
            ("a comment below a comment beside code", "file.c", f"int a; // the sizes\n// {broken}\n", {(2, opening)}),
            ("a pronoun in a further sentence", "file.c", "// The row ends.\n// It is long.\n", set()),
            ("a pronoun in a further paragraph", "file.c", "// The row ends.\n//\n// It is long.\n", set()),
            ("a pronoun below other code", "file.c", "// The row ends.\nint a;\n// It is long.\n", {(3, "a comment that begins with a pronoun")}),
            ("a pronoun beside code", "file.c", "int a; // it is long\n", {(1, "a comment that begins with a pronoun")}),
            ("a noun after this", "file.c", "// This row is long, and these tests fail.\n", set()),
            ("a text", "file.c", f'const char *a = "// {broken}", b = \'"\'; // "\n', set()),
            ("a comment of Java", "File.java", f"/** {broken} */\n", {(1, opening)}),
            ("a heading of C", "file.c", "// ---- what a reader does\n", set()),
            ("a comment of Python", "file.py", f"#!/usr/bin/env python3\n# SPDX-License-Identifier: BSD-2-Clause\na = 1  # noqa: E402\n# {broken}\n", {(4, opening)}),
            ("a comment of Python over two lines", "file.py", "a = 1\n# The pool starts so\n# many threads.\n", {(2, "write: that many")}),
            ("a comment beside code of Python", "file.py", "a = 1  # the sizes\n# of the rows\n", {(2, opening)}),
            ("a docstring of Python", "file.py", f'def f():\n    """Returns.\n\n    The first line.\n    {broken}"""\n', {(5, opening)}),
            ("a text of Python", "file.py", f'a = "# {broken}"\n', set()),
            ("a comment of a script", "file.sh", f"#!/bin/sh\n# shellcheck disable=SC2086\n# {broken}\n", {(3, opening)}),
            ("a comment beside code of a script", "file.sh", "a=1 # of the rows\n", {(1, opening)}),
            ("a text of a script", "file.sh", f"echo \"# {broken}\" '# {broken}' \"$#\"\n", set()),
            ("a comment of CMake", "CMakeLists.txt", f"set(a 1) # the sizes\n# {broken}\n", {(2, opening)})):
        said = findings(folder, name, text)
        expect(what, said == found, said)


def check_command(folder):
    path = pathlib.Path(folder) / "docs" / "planted.md"
    path.parent.mkdir()
    path.write_text("# Page\n\nOf the rows one is taken.\n", encoding="utf-8")
    done = subprocess.run([sys.executable, SCRIPT, "--top", folder, "docs/planted.md"], capture_output=True, text=True)
    expect("the command", done.returncode == 1 and 'docs/planted.md:3: opening: "Of"' in done.stdout, done)
    path.write_text("# Page\n\nThe last row is taken.\n", encoding="utf-8")
    done = subprocess.run([sys.executable, SCRIPT, "--top", folder, "docs/planted.md"], capture_output=True, text=True)
    expect("a page that passes", done.returncode == 0, done)
    for count, status in ((700, 0), (701, 1)):
        (pathlib.Path(folder) / "README.md").write_text("Row.\n" * count, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, "--top", folder, "README.md"], capture_output=True, text=True)
        expect(f"a README of {count} words", done.returncode == status, done)
    done = subprocess.run([sys.executable, SCRIPT, "--top", folder], capture_output=True, text=True)
    expect("a tree without the pages", done.returncode != 0 and "does not exist" in done.stderr, done)


def check_rooms():
    """Each folder of ROOMS is read with the folders inside it, and must have sources."""
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        for form in words.HELD:
            path = top / form.replace("*", "page")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("", encoding="utf-8")
        for room in words.ROOMS:
            (top / room / "below").mkdir(parents=True, exist_ok=True)
            (top / room / "file.c").write_text("// Of the rows one is taken.\n", encoding="utf-8")
            (top / room / "below" / "file.c").write_text("// Of the rows one is taken.\n", encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, "--top", folder], capture_output=True, text=True)
        found = {line.split(":")[0] for line in done.stdout.splitlines() if ": opening: " in line}
        expect("the rooms", done.returncode == 1 and found == {f"{room}/{file}" for room in words.ROOMS for file in ("file.c", "below/file.c")}, done)
        (top / words.ROOMS[-1] / "file.c").unlink()
        (top / words.ROOMS[-1] / "below" / "file.c").unlink()
        done = subprocess.run([sys.executable, SCRIPT, "--top", folder], capture_output=True, text=True)
        expect("a room without files", done.returncode != 0 and f"{words.ROOMS[-1]} is in ROOMS" in done.stderr, done)


def check_draw():
    """draw_words.py prints as many comments and sentences as asked for, and the same ones for the same seed."""
    command = [sys.executable, os.path.join(SOURCE, "scripts", "draw_words.py"), "5", "--count", "3"]
    for kind, endings in (("python", r"\.pyi?"), ("hash", r"\.\w+|/run|dev|rules|zig-cc"), ("c", r"\.\w+")):
        done = subprocess.run([*command, "--kinds", kind], capture_output=True, text=True)
        expect(f"a draw of {kind}", len(re.findall(rf"^\[comment \d+\] \S*(?:{endings}):\d+$", done.stdout, re.M)) == 3, done)
    first, again = (subprocess.run(command, capture_output=True, text=True) for _ in range(2))
    expect("a draw", first.returncode == 0 and first.stdout.count("\n[comment ") == 3 and first.stdout.count("\n[sentence ") == 3, first)
    expect("the same draw", first.stdout == again.stdout, again)


check_rooms()
check_draw()
with tempfile.TemporaryDirectory() as temporary:
    for part in (check_examples, check_places, check_command):
        part(temporary)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
