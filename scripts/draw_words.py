#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""draw_words.py SEED [--count N] [--within PATH...] [--kinds c,python,hash]: prints N comments with the code after them, and N sentences of documents,
for a reader who counts those that need a second reading. The seed decides the draw. The folders and documents are those of check_words.py. Each
comment, paragraph of a docstring and sentence is drawn with the same chance. --within draws from files whose paths begin with one of these. --kinds
draws comments only from sources of these kinds: c (comments in the form of C), python, and hash (other sources with comments after "#")."""
import argparse
import random

import check_words as words

CODE_LINES = 4  # lines of code that are printed after a comment
KINDS = {"c": words.units_of_c, "python": words.units_of_python, "hash": words.units_of_hash}
MOST_UNCLEAR = 4  # comments, and as many sentences, of a draw that may need a second reading


def comments(top, kinds):
    """Yields (file, line, comment, code) for each block of comments that has a word."""
    paths = [path for form in words.HELD for path in sorted(top.glob(form))]
    paths += [path for room in words.ROOMS for path in sorted((top / room).rglob("*"))]
    for path in dict.fromkeys(paths):
        units_of = words.units_of(path)
        if not words.is_source(path) or units_of not in kinds:
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for line, unit, _ in units_of(text):
            if any(c.isalpha() for c in unit):
                last = line - 1 + unit.count("\n")
                yield path.relative_to(top), line, unit, "\n".join(lines[last:last + 1 + CODE_LINES])


def sentences(top):
    """Yields (file, line, the lines of the document that have the sentence, its first word) for the prose of each document."""
    for form in words.HELD:
        for path in sorted(top.glob(form)):
            if path.suffix != ".md":
                continue
            text = path.read_text(encoding="utf-8")
            lines = text.splitlines()
            for sentence in words.sentences(path, text):
                if sentence.kind == "prose" and len(sentence.text.split()) > 2:
                    last = sentence.line + sentence.text.count("\n")
                    yield path.relative_to(top), sentence.line, "\n".join(lines[sentence.line - 1:last]), sentence.text.split()[0]


def draw(found, options, chance):
    """Returns at most options.count of the rows found, in the order in which they were drawn."""
    rows = [row for row in found if str(row[0]).startswith(tuple(options.within))]
    return chance.sample(rows, min(options.count, len(rows)))


def main():
    parser = argparse.ArgumentParser(description="Draws comments and sentences for a reader.")
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--within", nargs="+", default=[""])
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of sources, separated by commas: " + ", ".join(KINDS))
    options = parser.parse_args()
    words.without_names = lambda text: text  # the reader sees the names
    chance = random.Random(options.seed)
    print(f"seed {options.seed}: at most {MOST_UNCLEAR} comments and {MOST_UNCLEAR} sentences may need a second reading")
    for number, (path, line, comment, code) in enumerate(draw(comments(words.TOP, [KINDS[kind] for kind in options.kinds.split(",")]), options, chance), 1):
        print(f"\n[comment {number}] {path}:{line}\n{comment.strip()}\n    | " + code.replace("\n", "\n    | "))
    for number, (path, line, text, first) in enumerate(draw(sentences(words.TOP), options, chance), 1):
        print(f"\n[sentence {number}, from \"{first}\"] {path}:{line}\n{text}")


if __name__ == "__main__":
    main()
