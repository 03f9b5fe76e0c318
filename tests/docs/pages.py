# SPDX-License-Identifier: BSD-2-Clause
"""Reads the documentation's pages: blocks of code with the comments about them, links, headings."""
import collections
import os
import re

# A comment on the line before a block says what the block needs, or why it cannot run:
#   <!-- not run: needs Xcode -->        <!-- run: model.ptl -->: arguments of a program in C
#   <!-- fails -->: every command of the block ends with a status other than 0
Block = collections.namedtuple("Block", "line language body said")

CODE = {"sh", "console", "c", "cpp", "python", "java", "kotlin", "groovy", "swift", "objc", "cmake", "diff", "xml", "html", "javascript"}
TEXT = {"text", "json"}


def pages(source):
    """Returns the pages for users of Taper and the pages for its developers, without decisions, which are history."""
    found = [name for name in os.listdir(source) if name.endswith(".md")]
    for folder in ("docs", "docs/inside", "docs/tutorials", "packaging", "examples/demo"):
        found += [f"{folder}/{name}" for name in os.listdir(os.path.join(source, folder)) if name.endswith(".md")]
    return sorted(found)


def read(source, page):
    with open(os.path.join(source, page), encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """Returns the fenced blocks, and a list of problems: blocks that are not fenced, or have no language."""
    found, problems = [], []
    inside, language, body, said, before = 0, "", [], "", ""
    in_list = False
    for number, line in enumerate(text.split("\n"), 1):
        if inside:
            if line.startswith("```"):
                found.append(Block(inside, language, "\n".join(body) + "\n", said))
                inside = 0
            else:
                body.append(line)
        elif line.startswith("```"):
            inside, language, body = number, (line[3:].split() or [""])[0], [] # the words after the language are for tests
            comment = re.fullmatch(r"<!-- ?(.*?) ?-->", before.strip())
            said = comment.group(1) if comment else ""
            if language not in CODE | TEXT:
                problems.append(f"{number}: a block of \"{language}\": {', '.join(sorted(CODE | TEXT))} are known")
        elif line.startswith("    ") and not in_list and not before.strip():
            problems.append(f"{number}: code is fenced (```sh), not indented")
        if line.strip() and not inside:
            in_list = bool(re.match(r"\s*([-*]|\d+\.) ", line)) or (in_list and line.startswith(" "))
        if not (inside and body):
            before = line
    return found, problems


def without_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def links(text):
    text = re.sub(r"`[^`]*`", "", without_code(text))
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", text)


def quotations(text):
    """Returns (file, text) of each <!-- FILE says: TEXT -->. The file has to contain the text, which the page explains or
    repeats."""
    return re.findall(r"^<!-- ([\w./-]+) says: (.*) -->$", without_code(text), re.M)


def anchors(text):
    """Returns the anchors that GitHub and mkdocs make for headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-"))
    return found



# Names with which an app or an installer requests a package from a server.
COORDINATES = r"dev\.taper:[\w$*…]|from 'taper-wasm'|taper-wasm-[\d.]+\.tgz|taper-runtime|:path => '…/build/apple"


def published(source):
    """Returns true if the version of the tree is released. If it is, CHANGELOG.md has the date of the version."""
    return "not yet released" not in re.search(r"^## .*$", read(source, "CHANGELOG.md"), re.M).group()


def says_published(text):
    """Returns false if a page with coordinates says that no version is published yet, otherwise true. Returns None for a
    page without coordinates."""
    if not re.search(COORDINATES, text):
        return None
    return not re.search(r"[Nn]o version( of Taper)? is\s+published\s+yet", text)
