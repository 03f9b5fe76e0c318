#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_mentions.py [--top TREE]: compares what pages mention in backquotes with the tree, and fails if something does not exist.

Paths         a file or a folder exists under the name, from the top, from the page, or as the end of a path. Words in capitals, stars and
              dots stand for any name, and braces for each name inside. A file that a build makes is named in a list of the build. Paths
              from the top are also read without backquotes.
Names         each word occurs in the tree outside of the pages, or in tests/docs/foreign_names.txt, which has names of other projects.
Tests         a name after "test", "tests" or "Tests:" is a test (tests/tests.tsv and the lists of CMake).
Commands      a verb and the options of ./dev are in its usage text, and the options of a script are in the script. An option without a
              command occurs in the tree. tests/docs/options_test.py asks the programs for their options.
Build options a -DTAPER_… is declared by a list of CMake.

The script reads the pages of tests/docs/pages.py and the README.md of each folder, except CHANGELOG.md, which is history. It reads the commands of
code blocks that are not run; tests/docs/pages_test.py runs all other code blocks."""
import argparse
import fnmatch
import functools
import itertools
import pathlib
import re
import shlex
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "tests/docs"))
import pages  # noqa: E402

ROOMS = (".ci", ".github", "bench", "bindings", "cmake", "docs", "examples", "include", "packaging", "scripts", "src", "tests", "tools")
FOREIGN = "tests/docs/foreign_names.txt"
# No names are taken from these files: pages, the list of names that are not in the tree, and the test of this script, which
# plants such names.
UNREAD = re.compile(r"\.(?:md|rec|ptl?|pt2|npy|npz|jpg|png|ppm|bin|onnx|zip|gz|dat)$|^tests/(?:fuzz/corpus|docs/(?:foreign_names\.txt|mentions_test\.py))")
PART = r"[\w.{},*+…-]+"
PATH = re.compile(rf"\.?/?{PART}(?:/{PART})+/?|{PART}/|[\w*{{}}-][\w.*{{}}-]*\.(?:c|h|inc|m|comp|py|sh|cmake|ir|tsv|map|mjs|md|in|abi)")
BARE = re.compile(rf"(?<![\w./`-])((?:{'|'.join(room for room in ROOMS if room[0] != '.')})/[\w./*{{}},-]*\w)")
# Words that stand for any name.
HOLE = re.compile(r"(?<![A-Za-z])(?:NAME|FAMILY|KEY|CASE|PASS|TARGET|ARCHITECTURE|OPERATOR|VERSION|FOLDER|MODEL|FILE|DIR|N)(?![A-Za-z])|…|\.\.\.|<\w+>")
WORD = re.compile(r"[A-Za-z_]\w{2,}")
WORD_OR_PATTERN = re.compile(r"(?:[A-Za-z_]|(?<!\w)\*(?=\w))[\w*]{2,}")
LIST = r"((?:`[\w*]+`(?:, and |, or |, | and | or )?)+)"
NAMES_OF_TESTS = re.compile(rf"(?:\b[Tt]ests?:? |\b[Tt]ests? run: ){LIST}".replace(" ", r"\s+"))


class Tree:
    """The names and the text of a tree."""

    def __init__(self, top):
        self.top, self.files, self.folders, texts = top, set(), set(), {}
        for path in itertools.chain(top.iterdir(), *((top / room).rglob("*") for room in ROOMS if (top / room).is_dir())):
            name = str(path.relative_to(top))
            if "__pycache__" in name or "node_modules" in name or not path.is_file():
                continue
            self.files.add(name)
            self.folders.update(str(parent) for parent in pathlib.PurePath(name).parents)
            if not UNREAD.search(name) and path.stat().st_size < 3000000:
                texts[name] = path.read_text(encoding="utf-8", errors="replace")
        self.texts = texts
        self.ends = {name[at:] for name in self.files | self.folders for at in (0, *(match.end() for match in re.finditer("/", name)))}
        self.words = {word for text in texts.values() for word in WORD.findall(text)}
        self.words |= {word for name in self.files for word in WORD.findall(name)}

    @functools.cached_property
    def foreign(self):
        lines = (self.top / FOREIGN).read_text(encoding="utf-8").split("\n")
        return {word for line in lines if not line.startswith("#") for word in line.split()}

    @functools.cached_property
    def build(self):
        """The text of all CMake lists and all scripts, which name the files that a build makes."""
        return "\n".join(text for name, text in self.texts.items() if re.search(r"CMakeLists\.txt$|\.cmake$|\.sh$|^dev$|^scripts/|^\.ci/|\.gradle", name))

    @functools.cached_property
    def lists(self):
        return "\n".join(text for name, text in self.texts.items() if re.search(r"CMakeLists\.txt$|\.cmake$", name))

    @functools.cached_property
    def tests(self):
        rows = (self.top / "tests/tests.tsv").read_text(encoding="utf-8").split("\n")
        return [row.split("\t")[0] for row in rows if row and not row.startswith("#")]

    @functools.cached_property
    def verbs(self):
        """Returns {verb of ./dev: its part of the usage text}."""
        usage = re.search(r"^usage\(\) \{\n.*?<<'END'\n(.*?)^END$", self.texts.get("dev", ""), re.M | re.S)
        return dict(re.findall(r"^  ([a-z]+)\b((?:.*\n)(?:^   +.*\n)*)", usage.group(1), re.M)) if usage else {}


# ---- each check returns what is wrong with a text, or ""

def braces(text):
    """Returns the texts that "a{b,c}" stands for."""
    match = re.search(r"\{([^{}]*)\}", text)
    if not match:
        return [text]
    return [one for part in match.group(1).split(",") for one in braces(text[:match.start()] + part + text[match.end():])]


def exists(tree, path, page):
    path = HOLE.sub("*", path).rstrip("/")
    path = path[2:] if path.startswith("./") else path
    if re.match(r"build[\w-]*(?:/|$)", path):
        last = path.rsplit("/", 1)[-1]
        return "/" not in path or "*" in last or bool(re.search(rf"(?<![\w-]){re.escape(last)}(?![\w-])", tree.build))
    if "*" not in path:
        # The build makes ${TAPER_GENERATED}/ops/list/x.h, which a page calls ops/list/x.h. It installs
        # ${CMAKE_INSTALL_INCLUDEDIR}/x, which a page calls include/x.
        if any(re.search(rf"\}}/{re.escape(one)}(?![\w./-])", tree.lists) for one in (path, path.partition("/")[2]) if one):
            return True
        return path in tree.ends or str(pathlib.PurePath(page).parent / path) in tree.files | tree.folders
    pattern = re.compile(fnmatch.translate(path))
    return any(pattern.match(end) for end in tree.ends)


def wrong_path(tree, code, page):
    is_path = PATH.fullmatch(code) and not re.match(r"\.\w+$|-|//", code)
    return f"`{code}` does not exist" if is_path and not all(exists(tree, one, page) for one in braces(code)) else ""


def is_known(tree, word):
    """True for a word of the tree or of another project, the beginning or the end of such a word ("TAPER_WITH_", "_out"), and a pattern
    that fits one."""
    if word in tree.words or word in tree.foreign:
        return True
    pattern = "*" * word.startswith("_") + word + "*" * word.endswith("_")
    return "*" in pattern and (any(map(re.compile(fnmatch.translate(pattern)).match, tree.words)) or is_made(tree, pattern))


def wrong_names(tree, code):
    lost = [word for word in WORD_OR_PATTERN.findall(HOLE.sub("*", re.sub(r"-D(?=TAPER_)", "", code))) if not is_known(tree, word)]
    return f"`{code}`: {', '.join(lost)} is not in the tree" if lost else ""


def wrong_test(tree, name):
    """True for a row of tests.tsv. If a row with a star fits the name, a list of CMake must have the name or make it
    (fuzz_${target}_corpus)."""
    pattern = re.sub(r"(?<![A-Za-z])[A-Z]+(?![A-Za-z])", "*", name.replace("_", "/")).replace("/", "_")
    if any(fnmatch.fnmatchcase(row, pattern) for row in tree.tests):
        return ""
    rows = [row for row in tree.tests if "*" in row and fnmatch.fnmatchcase(name, row)]
    return "" if rows and (is_made(tree, pattern) or any(is_made_of(tree, name, row) for row in rows)) else f"`{name}` is not a test"


def is_made(tree, pattern):
    """True if a list of CMake has such a name, with a variable instead of a star."""
    form = r"[\w${}]+".join(map(re.escape, pattern.split("*")))
    return bool(re.search(rf"(?<![\w$]){form}(?![\w$])", tree.lists))


def is_made_of(tree, name, row):
    """True if the lists of CMake make names for the row, and contain the text that replaces the row's star."""
    before, _, behind = row.partition("*")
    middle = name[len(before):len(name) - len(behind)]
    return bool(re.search(rf"NAME {re.escape(before)}\$\{{", tree.lists) and re.search(rf"\b{re.escape(middle)}(?:_test)?\b", tree.lists))


def words_of(command):
    try:
        return shlex.split(command, comments=True)
    except ValueError: # an apostrophe, or a quote without its second
        return command.split()


def wrong_command(tree, command, page):
    words = [word for word in words_of(command) if not re.match(r"\w+=", word)]
    while words and words[0] in ("taskset", "-c", "1", "python3", "/usr/bin/python3", "node", "sh", "chrt", "-r", "60", "sudo"):
        words = words[1:]
    if not words:
        return ""
    options = [re.match(r"--[\w-]+", word.lstrip("[")).group() for word in words[1:] if re.match(r"\[?--\w", word)]
    if words[0] == "./dev" and len(words) > 1:
        if words[1] not in tree.verbs:
            return f"`{command}`: ./dev has no verb {words[1]}"
        lost = [one for one in options if not re.search(rf"{one}\b", tree.verbs[words[1]])]
        return f"`{command}`: ./dev {words[1]} has no option {', '.join(lost)}" if lost else ""
    if re.match(rf"(?:{'|'.join(ROOMS)})/", words[0]):
        if not all(exists(tree, one, page) for one in braces(words[0])):
            return f"`{command}`: {words[0]} does not exist"
        lost = [one for one in options if one not in tree.texts.get(words[0], one)]
        return f"`{command}`: {words[0]} has no option {', '.join(lost)}" if lost else ""
    if words[0] == "cmake" and "--preset" in words[:-1]:
        preset = words[words.index("--preset") + 1]
        return "" if f'"{preset}"' in tree.texts.get("CMakePresets.json", "") else f"`{command}`: there is no preset {preset}"
    return ""


def wrong_option(tree, code):
    match = re.match(r"--[a-z][\w-]+", code)
    if not match or match.group() in tree.foreign or any(
            match.group() in text or f'{{"{match.group()[2:]}",' in text for name, text in tree.texts.items() if not name.startswith("tests/")):
        return ""
    return f"`{code}`: nothing has the option {match.group()}"


def wrong_build_option(tree, code):
    lost = [name for name in re.findall(r"-D(TAPER_\w+)", code)
            if not re.search(rf"^\s*(?:option\({name}\b|set\({name}\b.*\bCACHE\b|taper_\w*option\({name}\b)", tree.lists, re.M) and not
            re.search(rf"\bDEFINED {name}\b|\b{name}\b", tree.lists)]
    return f"`{code}`: the build has no option {', '.join(lost)}" if lost else ""


# ---- pages

def mentions(text):
    """Returns (line, code) of each text in backquotes, and (line, command) of each command in the blocks that are not run."""
    plain = re.sub(r"^```.*?^```$", lambda match: "\n" * match.group().count("\n"), text, flags=re.M | re.S)
    spans = [(plain.count("\n", 0, match.start()) + 1, match.group(1)) for match in re.finditer(r"`([^`\n]+)`", plain)]
    commands = []
    for block in pages.blocks(text)[0]:
        if block.said.startswith("not run: ") and block.language in ("sh", "console"):
            joined = re.sub(r"\\\n\s*", " ", block.body)
            commands += [(block.line, part.strip().removeprefix("$ ")) for line in joined.split("\n") for part in re.split(r"&&|[|;]", line)]
    tests = [(plain.count("\n", 0, match.start()) + 1, name) for match in NAMES_OF_TESTS.finditer(plain) for name in re.findall(r"`([\w*]+)`", match.group(1))]
    bare = [(plain.count("\n", 0, match.start()) + 1, match.group(1)) for match in BARE.finditer(re.sub(r"`[^`\n]*`|\]\([^)\s]*\)", "", plain))]
    return spans, commands, tests, bare


def check_page(tree, page):
    spans, commands, tests, bare = mentions(pages.read(tree.top, page))
    found = [(line, wrong_path(tree, code, page)) for line, code in bare]
    for line, code in spans:
        if code in tree.foreign or (re.fullmatch(r"\w+", code) and not wrong_test(tree, code)):
            continue
        said = wrong_path(tree, code, page) or wrong_option(tree, code) or wrong_build_option(tree, code) or wrong_command(tree, code, page) or \
            wrong_names(tree, code)
        found.append((line, said))
    found += [(line, wrong_command(tree, command, page) or wrong_build_option(tree, command)) for line, command in commands]
    found += [(line, wrong_test(tree, name)) for line, name in tests]
    return [f"{page}:{line}: {said}" for line, said in sorted(found) if said]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=pathlib.Path, default=TOP)
    tree = Tree(parser.parse_args().top)
    every = sorted({*pages.pages(tree.top), *(name for name in tree.files if name.endswith("/README.md"))} - {"CHANGELOG.md"})
    bad = [problem for page in every for problem in check_page(tree, page)]
    text = "\n".join(pages.read(tree.top, page) for page in every)
    bad += [f"{FOREIGN}: no page mentions {name}" for name in sorted(tree.foreign) if name not in text]
    bad += [f"{FOREIGN}: {name} is in the tree" for name in sorted(tree.foreign & tree.words)]
    print("\n".join([*bad, f"{len(every)} pages, {len(bad)} findings"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
