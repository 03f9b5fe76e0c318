#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_words.py [--top TREE] [FILE...]: reports sentences that break the rules for words, each with its file, line and rule.

Without FILE it reads the files of HELD, and the sources of the folders in ROOMS. A page or a folder is added when it passes. Documents are
held to every rule. Comments and docstrings of sources are held to the rules for openings and phrases, because a comment on a member is a
noun phrase and not a sentence. Code blocks, text in backquotes, headings and the header row of a table are exempt from the rules for sentences.

To add a rule, add a row to PHRASES, or a function to RULES. Each has an example that breaks it and one that does not;
tests/docs/words_test.py checks both."""
import argparse
import ast
import collections
import io
import pathlib
import re
import sys
import tokenize

TOP = pathlib.Path(__file__).resolve().parent.parent

# Files and patterns of files, from the top of the tree.
HELD = [".ci/run", "CHANGELOG.md", "CMakeLists.txt", "CONTRIBUTING.md", "README.md", "SECURITY.md", "dev", "docs/*.md", "docs/decisions/*.md", "docs/inside/*.md", "docs/tutorials/*.md", "examples/demo/README.md", "packaging/README.md",
        "bindings/wasm/package/README.md", "packaging/debian/rules", "pyproject.toml", "scripts/apple/zig-cc", "src/lean/README.md", "tests/README.md"]

# The largest number of words of a page that people read first and in one go.
PAGE_WORDS = {"README.md": 700, "docs/architecture.md": 1500}

# Folders whose sources are read. Folders inside are read too.
ROOMS = [".github", "include", "src", "bench", "bindings", "cmake", "examples", "packaging", "scripts", "tests", "tools"]

# Endings of sources that have comments in the form of C.
C_FILES = (".c", ".h", ".inc", ".cpp", ".m", ".mm", ".java", ".kt", ".swift", ".js", ".mjs", ".ts")

PYTHON_FILES = (".py", ".pyi")
HASH_FILES = (".sh", ".cmake", ".toml", ".yml", "CMakeLists.txt", ".ci/run", "dev", "debian/rules", "zig-cc")

# Comments that are words for a tool.
DIRECTIVES = re.compile(r"SPDX-|noqa\b|shellcheck |pylint:|type: |v\d[\d.]*$|!")

MOST_WORDS = 25

Rule = collections.namedtuple("Rule", "name form example fine")
Sentence = collections.namedtuple("Sentence", "line text kind first")  # kind: "prose", "comment" or "label"; first: true if a comment begins here
Finding = collections.namedtuple("Finding", "path line rule text")


# ---- rules: the function `form` of a rule returns the text that breaks the rule, or None

def too_long(sentence):
    words = [word for word in sentence.text.split() if re.search(r"\w", word)]
    return f"{len(words)} words" if sentence.kind == "prose" and len(words) > MOST_WORDS else None


def two_semicolons(sentence):
    return "two semicolons" if sentence.kind == "prose" and sentence.text.count(";") > 1 else None


def opening(sentence):
    words = r"[\W_]*(Of|What|Whether|Who|Where|Those|As)\b"
    match = re.match(words, sentence.text, re.I if sentence.kind == "comment" else 0)
    return match.group(1) if match and sentence.kind != "label" else None


def pronoun(sentence):
    """Returns the pronoun that begins a comment, or None. Such a pronoun has no antecedent, because no text stands before the comment."""
    match = re.match(r"[\W_]*(?:(It|They|Them|Their)|(This|These|Both) (?:is|are|was|were|has|have|had|do|does|can|cannot|may|must|need|needs|takes|fails|uses))\b",
                     sentence.text, re.I)
    return match.group(1) or match.group(2) if match and sentence.kind == "comment" and sentence.first else None


def phrase(form):
    pattern = re.compile(form.replace(" ", r"\s+"), re.I)

    def found(sentence):
        match = pattern.search(sentence.text)
        return " ".join(match.group().split()) if match else None
    return found


LONG = "The reader opens the file and checks each record and then the writer copies every byte of it to the sink and closes it at the very end."

# (form, what to write instead, an example that breaks the rule, an example that does not). A blank in a form is any white space.
PHRASES = [
    (r"\b(?:not |in )?so many\b", "that many", "The pool starts so many threads.", "The pool starts that many threads."),
    (r"\b(?:lies|lie|lay|lain) (?!down)", "is stored, is, stands", "The tensor lies in the arena.", "The arena stores the tensor."),
    (r"\bwho(?:ever|soever)\b|\b(?:for|to|by|of|from|with|and|than|if) who \w+", "name the reader or the code",
     "Memory belongs to whoever allocated it.", "The caller owns the memory."),
    (r"\b(?:those|that|these) of (?:that|those|these)\b", "repeat the noun", "It keeps those of that run.", "It keeps the blocks of the last run."),
    (r"\blikewise\b", "say what happens", "The writer does likewise.", "The writer checks the size too."),
    (r"\bthere is not\b|\bwhat there is\b", "nothing, missing", "The log says what there is not.", "The log names the missing operators."),
    (r"\bnobody\b|\bsomebody\b|\banybody\b", "nothing, no code, no thread", "Nobody writes there.", "No kernel writes there."),
    (r"\bbehind (?!a\b|an\b)", "after", "The row is behind the table.", "The row is after the table."),
    (r"\bbut for\b", "except", "All rows pass but for one.", "All rows pass, except one."),
    (r"\ball else\b|\bnothing else than\b|\bwho else\b|\bor else\b", "everything else, otherwise", "It refuses all else.", "It refuses everything else."),
    (r"\b(?:where|if|when) not\b", "otherwise", "It is mapped where aligned and copied where not.", "It is mapped if aligned, otherwise copied."),
    (r"\b(?:has|have|had) [^.;,]{0,40}\bin it\b", "contains", "The file has weights in it.", "The file contains weights."),
    (r"\bas (?:that|those) of\b|\bthan (?:that|those) of before\b|\b(?:of|than) before\b", "repeat the noun", "The time is 0.8 of before.",
     "The time is 0.8 of the previous time."),
    (r"\bso that \w+ stay \w+\b", "say what remains what", "It counts storages, so that two stay two.", "Two storages remain two."),
    (r"\bat hand\b|\ball at once as\b|\bby itself alone\b", "name the place", "All classes at hand are lowered.", "Every class of the archive is lowered."),
    (r"\bgoes? by\b", "uses, follows", "The device goes by that list.", "The device uses that list."),
    (r"\b(?:can|could|cannot|to) be had\b", "is available", "The device names what can be had.", "The device names what is available."),
    (r"\bholds? [^.;]{1,30} against\b|\bheld against\b", "compares with", "The test holds results against PyTorch.", "The test compares results with PyTorch."),
    (r"\bit is (?:he|she|him|her|himself|herself)\b|\b(?:himself|herself)\b", "a machine is \"it\"", "The reader frees it himself.", "The caller frees it."),
    (r"\bknow(?:s)? nothing of\b|\bknow(?:s)? no word\b|\bneed(?:s)? no word\b", "does not depend on", "The planner knows nothing of operators.",
     "The planner does not depend on operators."),
    (r"\bstands? (?:behind|beside)\b", "follows, is next to", "The facts stand beside the row.", "The facts follow the row."),
    (r"\bstands? on\b", "uses, needs", "The program stands on the reader.", "The program uses the reader."),
    (r"\bsa(?:y|ys|id)(?: nothing)? of\b", "says about, contains", "The archive says nothing of its folder.", "The archive does not contain its folder."),
    (r"\bgo(?:es)? without\b|\bdoes without (?:it|that|them)\b", "omits", "Small builds go without versions.", "Small builds omit versions."),
    (r"\bas [^.;,]{1,40} (?:has|have) (?:it|them)\b", "name the form", "Scales are floats, as files have them.", "Files store scales as floats."),
    (r"\b(?:that|which) (?:is|are) (?:here|there)\b", "that exists, that is installed", "It keeps a file that is there.", "It keeps a file that exists."),
    (r"\bis another(?: one)?[.,;:]", "differs, is out of date", "It fails if the page is another.", "It fails if the page is out of date."),
    (r"\b(?:what|whatever) (?:is|was) left of\b", "the rest of", "It adds what is left of the row.", "It adds the rest of the row."),
    (r"\bthe begin\b", "the beginning", "It reads the begin of the file.", "It reads the beginning of the file."),
    (r"\bmade up at random\b", "random", "Programs made up at random run.", "Random programs run."),
    (r"\bknows? no others?\b", "does not support", "The converter knows no others.", "The converter supports no others."),
]

RULES = [
    Rule(f"more than {MOST_WORDS} words", too_long, LONG, "The reader opens the file."),
    Rule("two semicolons", two_semicolons, "It reads; it checks; it writes.", "It reads; it writes."),
    *[Rule("opening", opening, f"{word} the rows, the last one wins.", f"The last one wins, {word.lower()} the rows say.")
      for word in ("Of", "What", "Whether", "Who", "Where", "Those", "As")],
    *[Rule("a comment that begins with a pronoun", pronoun, f"{opening} the last row.", f"The last row: {opening.lower()} one.")
      for opening in ("It is", "They are", "Their order is", "This cannot be", "These are", "Both must be")],
    *[Rule(f"write: {instead}", phrase(form), example, fine) for form, instead, example, fine in PHRASES],
]


# ---- texts

def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def without_code(text):
    """Replaces code by one word and a link by its label. All positions and lines stay the same."""
    text = re.sub(r"^```.*?^```$", blank, text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", lambda match: "x" * len(match.group()), text)
    return re.sub(r"\]\([^)\s]*\)", blank, text).replace("[", " ")


def units_of_page(text):
    """Returns [line, text, kind] of each paragraph, item, cell and heading."""
    found, lines, open_unit = [], without_code(text).split("\n"), None
    for number, line in enumerate(lines, 1):
        table = line.lstrip().startswith("|")
        if not line.strip() or table or line.startswith("#") or re.match(r"\s*([-*]|\d+\.) ", line):
            open_unit = None
        if not line.strip() or re.fullmatch(r"[\s|:-]+", line):
            continue
        if line.startswith("#"):
            found.append([number, line, "label"])
        elif table:
            header = number < len(lines) and re.fullmatch(r"[\s|:-]*-[\s|:-]*", lines[number])
            found += [[number, cell, "label" if header else "prose"] for cell in line.split("|") if cell.strip()]
        elif open_unit is None:
            open_unit = [number, re.sub(r"^\s*([-*]|\d+\.) ", "", line), "prose"]
            found.append(open_unit)
        else:
            open_unit[1] += "\n" + line
    return found


C_TOKEN = re.compile(r'''"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*''', re.S)


def without_names(text):
    """Returns the text with "x" in place of each name in backticks, because the rules are for English words."""
    return re.sub(r"`[^`\n]*`", "x", text)


def units_of_c(text):
    """Returns [line, text, kind] of each paragraph of the comments. A comment beside code may continue in lines of its own, at the same column."""
    found = []
    for match in C_TOKEN.finditer(text):
        if not match.group().startswith("/"):
            continue
        lines, before = match.group().split("\n"), text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        open_unit = None
        for number, line in enumerate(lines, text.count("\n", 0, match.start()) + 1):
            words = re.sub(r"^\s*(?:\*(?!/)|//+)|/\*+|\*+/", " ", line)
            apart = before.strip() and len(line) - len(line.lstrip()) != len(before) and line is not lines[0]
            if not words.strip() or apart or words.strip().startswith("SPDX-"):
                open_unit, before = None, ""
            if not words.strip() or words.strip().startswith("SPDX-"):
                continue
            if open_unit is None:
                open_unit = [number, words, "label" if words.strip().startswith("----") else "comment"]
                found.append(open_unit)
            else:
                open_unit[1] += "\n" + words
    return [[number, without_names(words), kind] for number, words, kind in found]


def joined(comments):
    """Returns [line, text, kind] of each paragraph of [line, column, text, true if nothing is before it]."""
    found, before = [], None
    for line, column, words, alone in comments:
        if DIRECTIVES.match(words) or not words:
            before = None
        elif before == (line - 1, column) and alone:
            found[-1][1] += "\n" + words
            before = line, column
        else:
            found.append([line, words, "label" if words.startswith("----") else "comment"])
            before = line, column
    return [[line, without_names(words), kind] for line, words, kind in found]


def units_of_python(text):
    """Returns [line, text, kind] of each paragraph of the comments and docstrings."""
    comments, docstrings = [], []
    opens = True  # true at the beginning of a module and of an indented block, whose first statement may be a docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append([*token.start, token.string.lstrip("#").strip(), not token.line[:token.start[1]].strip()])
        elif token.type != tokenize.NL:
            if opens and token.type == tokenize.STRING:
                docstrings += [[token.start[0] + number, 0, line.strip(), True]
                               for number, line in enumerate(ast.literal_eval(token.string).split("\n"))]
            opens = token.type == tokenize.INDENT
    return sorted(joined(comments) + joined(docstrings))


def units_of_hash(text):
    """Returns [line, text, kind] of each paragraph of the comments of a shell script or a list of CMake."""
    comments = []
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"""((?:[^'"#]|'[^']*'|"(?:\\.|[^"\\])*")*)(?<!\S)# +(.*)$""", line)
        if match:
            comments.append([number, len(match.group(1)), match.group(2).strip(), not match.group(1).strip()])
    return joined(comments)


def units_of(path):
    """Returns the function that finds the paragraphs of a file."""
    if path.suffix in C_FILES:
        return units_of_c
    if path.suffix in PYTHON_FILES:
        return units_of_python
    return units_of_hash if str(path).endswith(HASH_FILES) else units_of_page


def is_source(path):
    return path.is_file() and units_of(path) is not units_of_page


def sentences(path, text):
    lines = text.split("\n")
    for line, unit, kind in units_of(path)(text):
        start = 0
        first = line < 2 or lines[line - 2].strip() not in ("//", "#", "*")  # false for a further paragraph of a comment
        for end in [match.end() for match in re.finditer(r"[.!?:][\"')\]*]*\s+(?=[\"'(*]*[A-Z])|[.!?][\"')\]*]*\s+(?=x{3}|\d)", unit)] + [len(unit)]:
            sentence = unit[start:end]
            lead = len(sentence) - len(sentence.lstrip())
            yield Sentence(line + unit.count("\n", 0, start + lead), sentence.strip(), kind, first and start == 0)
            start = end


def check(path, name):
    text = path.read_text(encoding="utf-8")
    found = set()
    if len(text.split()) > PAGE_WORDS.get(name, sys.maxsize):
        found.add(Finding(name, 1, f"more than {PAGE_WORDS[name]} words in the page", str(len(text.split()))))
    for sentence in sentences(path, text):
        for rule in RULES:
            said = rule.form(sentence)
            if said:
                found.add(Finding(name, sentence.line, rule.name, said))
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=pathlib.Path, default=TOP)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    names, findings = options.files, []
    if not names:
        for form in HELD:
            matched = sorted(str(path.relative_to(options.top)) for path in options.top.glob(form))
            if not matched:
                sys.exit(f"check_words.py: {form} is in HELD and does not exist")
            names = [*names, *matched]
        for room in ROOMS:
            matched = sorted(str(path.relative_to(options.top)) for path in (options.top / room).rglob("*") if is_source(path))
            if not matched:
                sys.exit(f"check_words.py: {room} is in ROOMS and has no sources")
            names = [*names, *matched]
    for name in names:
        findings += check(options.top / name, name)
    for one in findings:
        print(f"{one.path}:{one.line}: {one.rule}: \"{one.text}\"")
    print(f"{len(names)} files, {len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
