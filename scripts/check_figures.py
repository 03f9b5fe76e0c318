#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_figures.py [TREE]: compares the numbers in the documents (figures) with the files of the tree that determine them, and fails if a number
differs. Nothing needs to be built.

A figure that follows from the sources is stated in the sources. A document may repeat the figure in one of the forms of RULES, and then both must
be equal. FORBIDDEN has the forms in which a document must not state such a figure, because no rule would read it. LISTS has pages that name all
members of a list. Times of ./dev's verbs stand in its usage text; a document that states another time fails.

To add a figure, add a row to CONSTANTS of scripts/figure_rules.py, or a function that reads it from a Tree, and a rule with the form in
which documents state it. Each rule has an example, from which tests/docs/figures_test.py makes a wrong example.

Every other number of a page must be a fact that scripts/figure_facts.py lists, or be in a section that names the command that measures it and the
date. A section around it may name them instead, and the beginning of the page may have the date. A number without a rule fails.

A measured time, rate or size is not compared. Its section, a section around it, or the beginning of its page names the command that
measures it, and for times and rates the processor."""
import collections
import functools
import os
import re
import sys

import figure_facts
from figure_rules import FORBIDDEN, TOP, UNITS, WORDS, NUMBER, Tree, Unknown, number_of, rules_of
from figure_rules import all_rows, overloads, operators, size_limit  # noqa: F401 (for tests)


@functools.lru_cache(maxsize=None)
def pattern_of(form):
    return re.compile(form.replace(" ", r"\s+"), re.M)


@functools.lru_cache(maxsize=None)
def matches_of(form, text):
    return tuple(pattern_of(form).finditer(text))


def plain(path, text):
    """Returns the text with the stars of comments in headers blanked, so that a sentence can extend over several lines."""
    return re.sub(r"(?m)^[ \t]*\*(?!/)", lambda match: " " * len(match.group()), text) if path.endswith((".h", ".ts")) else text


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def shown(figure):
    return f"{figure:,}" if isinstance(figure, int) and figure > 999 else str(figure)


Finding = collections.namedtuple("Finding", "path line said true name")


def figures_of(match):
    """Returns the groups that matched, with a size and its unit as one."""
    groups = [group for group in match.groups() if group is not None]
    if groups and groups[-1] in UNITS:
        groups[-2:] = [" ".join(groups[-2:])]
    return groups


def check_rules(tree, texts):
    findings, rules = [], rules_of(tree)
    covered = collections.defaultdict(list)
    for rule in rules:
        trues = None
        for path, text in texts.items():
            for match in matches_of(rule.form, text):
                trues = trues or [true(tree) for true in rule.true]
                covered[path].append(match.span())
                findings += [Finding(path, line_of(text, match.start()), said, shown(true), rule.name)
                             for said, true in zip(figures_of(match), trues) if not rule.equal(said, true)]
    for name, form in FORBIDDEN:
        for path, text in texts.items():
            for match in matches_of(form, text):
                if not any(start < match.end() and match.start() < end for start, end in covered[path]):
                    findings.append(Finding(path, line_of(text, match.start()), " ".join(match.group().split()), None, name))
    return findings


# ---- lists that a page must name completely

def header_names(tree):
    return {name[:-2] for name in tree.names("include/taper", ".h")}


def fuzz_targets(tree):
    return set(re.findall(r"^\s*taper_fuzz_target\((\w+)", tree.read("tests/fuzz/CMakeLists.txt"), re.M))


def gpu_options(tree):
    return set(re.findall(r'\w+\(TAPER_GPU_\w+, GPUS, "(\w+)"', tree.read("src/backends/option_list.inc")))


def gpu_defaults(tree):
    """Returns the beginning and the end of the row of each option whose default does not depend on the device."""
    return {(f"| `{name}` |", value) for name, value in re.findall(r'^FLAG\(TAPER_GPU_\w+, GPUS, "(\w+)", ([01]),', tree.read("src/backends/option_list.inc"), re.M)}


def build_options(tree):
    return set(re.findall(r"^option\((TAPER_WITH_\w+) ", tree.read("CMakeLists.txt"), re.M))


def table_of_targets(text):
    rows = re.search(r"^\| Target \| What it does.*?\n\|[-|]+\n((?:\|.*\n)*)", text, re.M)
    return {name for cell in re.findall(r"^\| ([^|]*) \|", rows.group(1) if rows else "", re.M) for name in cell.split(", ")}


# (name, document, the members that the document names, the members in the tree, True if the document may name no others). A
# row whose document is None reads all documents together.
LISTS = [
    ("public headers", "docs/c.md", lambda text: set(re.findall(r"\(api/(taper\w*)\.md\)", text)), header_names, True),
    ("fuzz targets", "docs/fuzzing.md", table_of_targets, fuzz_targets, True),
    ("options of GPUs", "docs/gpu.md", lambda text: set(re.findall(r"`(\w+)(?:=[01])?`", text)), gpu_options, False),
    ("defaults of the options of GPUs", "docs/gpu.md", lambda text: set(re.findall(r"^(\| `\w+` \|).*\| ([01]) \|$", text, re.M)), gpu_defaults, True),
    ("options of the build", None, lambda text: set(re.findall(r"(?:-D|^\| `)(TAPER_WITH_\w+)[=`]", text, re.M)), build_options, False),
]


def check_lists(tree, texts):
    findings = []
    for name, path, read, true, alone in LISTS:
        text = texts.get(path, "") if path else "\n".join(texts.values())
        named, there = read(text), true(tree)
        if not there:
            raise Unknown(f"no {name} are found in the tree")
        named, there = ({" ".join(one) if isinstance(one, tuple) else one for one in some} for some in (named, there))
        findings += [Finding(path or "documents", 1, one, None, f"{name}: it is not named") for one in sorted(there - named)]
        findings += [Finding(path or "documents", 1, one, None, f"{name}: there is none of that name") for one in sorted(named - there) if alone]
    return findings


# ---- times of ./dev's verbs

SECONDS = {"second": 1, "minute": 60, "hour": 3600}
COUNT = r"\d[\d,.]*|" + "|".join(WORDS)
TIME = re.compile(rf"\b(?:(half an?)|({COUNT}))(?: to ({COUNT}))?( and a half)?[ -](second|minute|hour)s?( and a half)?\b".replace(" ", r"\s+"), re.I)


def times_of(text):
    """Returns [(position, seconds, text)]. "ten to twelve minutes" gives two entries. "a second" is ignored, because it may be the ordinal."""
    found = []
    for match in TIME.finditer(text):
        half, number, most, more, unit, behind = match.groups()
        if unit.lower() == "second" and (number or "").lower() in ("a", "an", "one"):
            continue
        for count in [0.5 if half else number_of(number)] + ([number_of(most)] if most else []):
            count += 0.5 if more or behind else 0
            found.append((match.start(), count * SECONDS[unit.lower()], " ".join(match.group().split())))
    return found


def dev_times(tree):
    """Returns {(verb, option): seconds, …}: the times in the usage text of ./dev, each for the option before it. "without an option" is the
    option "". A number without a unit ("a minute, without an option in some ten") has the unit before it. "S seconds (60)" is 60."""
    usage = re.search(r"^usage\(\) \{\n.*?<<'END'\n(.*?)^END$", tree.read("dev"), re.M | re.S)
    if not usage:
        raise Unknown("dev has no function usage() with a text up to END")
    times = collections.defaultdict(set)
    for verb, text in re.findall(r"^  ([a-z]+)\b((?:.*\n)(?:^   +.*\n)*)", usage.group(1), re.M):
        text = re.sub(r"^(?: \[[^\]]*\])+", "", text)
        text = re.sub(r"\b[A-Z] (seconds)([^()]*)\((\d+)\)", r"\3 \1\2", text)
        text = re.sub(rf"((second|minute|hour)s?\b[^.]*?\b(?:some|about) {NUMBER})\b(?!\s+(?:second|minute|hour|to\b|and a half))", r"\1 \2s", text)
        option, at = "", 0
        for mark in [*re.finditer(r"(--[\w-]+)|\bwithout (?:an )?options?\b", text), None]:
            end = mark.start() if mark else len(text)
            times[verb, option] |= {seconds for _, seconds, _ in times_of(text[at:end])}
            if mark:
                option, at = mark.group(1) or "", mark.end()
    return times


def sentences(text):
    """Yields (start, sentence). A sentence ends at a full stop, at a blank line, before a row of a table or before an item of a list. In code, each line
    is a sentence."""
    code = False
    at = 0
    for block in re.split(r"(^```.*\n)", text, flags=re.M):
        if block.startswith("```"):
            code = not code
        else:
            start = 0
            for end in [*re.finditer(r"\n" if code else r"\.(?=\s)|\n\s*\n|\n(?=\|)|\n(?=\s*(?:[-*]|\d+\.)\s)", block), None]:
                stop = end.start() if end else len(block)
                yield at + start, block[start:stop]
                start = end.end() if end else stop
        at += len(block)


def check_times(tree, texts):
    findings, times = [], dev_times(tree)
    for path, text in texts.items():
        if not path.endswith(".md"):
            continue
        for start, sentence in sentences(text):
            verbs = list(re.finditer(r"\./dev ([a-z]+)((?:\s+--[\w-]+)*)", sentence))
            for at, seconds, said in times_of(sentence) if verbs else []:
                verb = [mark for mark in verbs if mark.start() < at][-1:] or verbs[:1]
                key = verb[0].group(1), (verb[0].group(2).split() or [""])[0]
                if seconds not in times[key]:
                    true = ", ".join(f"{one / 60:g} minutes" if one >= 60 else f"{one:g} seconds" for one in sorted(times[key]))
                    name = f"the time of ./dev {' '.join(key).strip()}"
                    findings.append(Finding(path, line_of(text, start + at), said, true or None,
                                            name + (" in its usage text" if true else ", which its usage text does not say")))
    return findings


# ---- measured figures

PLAIN = r"(?<![\w.,^-])\d[\d.,]*(?:[–-]\d[\d.,]*)? "
TIMED = re.compile(PLAIN + r"(?:ms|µs|ns|s|GB/s|GFLOP/s|GOP/s)(?![\w/])")
SIZED = re.compile(PLAIN + r"(?:KB|kB|MB)(?![\w/])")
COMMAND = re.compile(r"(?:\./dev|\bbench/|\bbuild/bin/|\btaper bench|\bscripts/|\btests/|--preset |\bcompare\.py|\bgpu_\w+\.py|\btrain\.py|performance\.md#how-we-measure)")
PROCESSOR = re.compile(r"\b(?:AMD|Intel|EPYC|Xeon|Cortex|qemu|H100|SwiftShader|Mesa|the machine is the one of)\b", re.I)
# Pages without current measurements, with the reason.
UNMEASURED = {"CHANGELOG.md": "history", "docs/fuzzing.md": "its times are budgets, and faults that are mended"}


def sections(text):
    """(start, text, texts of the sections around it): parts from one heading to the next. The beginning of the page is around all
    parts."""
    found, around = [], {}
    for start, part in ((match.start(), match.group()) for match in re.finditer(r"(?:^#|\A)(?:(?!^#).|\n)*", text, re.M) if match.group()):
        level = len(re.match(r"#*", part).group())
        around = {one: other for one, other in around.items() if one < level}
        found.append((start, part, list(around.values())))
        around[level] = part
    return found


def check_measured(tree, texts):
    findings = []
    for path, text in texts.items():
        if not path.endswith(".md") or path in UNMEASURED:
            continue
        plain = re.sub(r"^```.*?^```$", lambda match: re.sub(r"[^\n#]", " ", match.group()).replace("#", " "), text, flags=re.M | re.S)
        stated = [match.span() for rule in rules_of(tree) for match in matches_of(rule.form, plain)]
        for start, part, around in sections(plain):
            end = start + len(part)
            said = "\n".join([text[start:end], *around])
            for form, wanted, name in ((TIMED, PROCESSOR, "a time or rate without its processor"), (TIMED, COMMAND, "a time or rate without its command"),
                                       (SIZED, COMMAND, "a size without its command")):
                for match in form.finditer(part):
                    at = start + match.start()
                    allowed = re.search(r"\b(?:up to|at most|of|every|than|limit is)\s+$", plain[max(0, at - 12):at]) if form is SIZED else None
                    if not wanted.search(said) and not allowed and not any(one <= at < other for one, other in stated):
                        findings.append(Finding(path, line_of(text, at), match.group(), None, name))
    return findings


# ---- numbers without a rule

def section_texts(text):
    plain = re.sub(r"^```.*?^```$", lambda match: re.sub(r"[^\n#]", " ", match.group()).replace("#", " "), text, flags=re.M | re.S)
    return [(start, text[start:start + len(part)], around) for start, part, around in sections(plain)]


def check_unread(tree, texts, whole=True):
    """Reports numbers that no rule reads and that are not facts. whole: also reports facts that no page
    states."""
    findings, forms, stated = [], [rule.form for rule in rules_of(tree)], set()
    for path, text in texts.items():
        if not path.endswith(".md"):
            continue
        covered = [match.span() for form in forms for match in matches_of(form, text)]
        findings += [Finding(path, line_of(text, at), number, None, "no rule reads this number, and it is no fact of scripts/figure_facts.py")
                     for at, number in figure_facts.unread(path, text, covered, section_texts(text))]
        stated |= {name for name, _, _ in figure_facts.facts(text)}
    unused = [name for name, _, _ in figure_facts.FACTS if whole and name not in stated]
    return findings + [Finding("scripts/figure_facts.py", 1, name, None, "no page states such a fact") for name in unused]


# ---- the whole check

def check(tree, documents=None, unread=True):
    """Returns the checked documents and the findings. documents: check only these, and skip the check for missing members of lists. unread: report
    numbers without a rule."""
    texts = {path: plain(path, tree.read(path)) for path in documents or tree.documents()}
    findings = check_rules(tree, texts) + check_times(tree, texts) + check_measured(tree, texts) + ([] if documents else check_lists(tree, texts))
    findings += check_unread(tree, texts, not documents) if unread else []
    return texts, sorted(set(findings), key=lambda one: one[:3])


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    try:
        texts, findings = check(Tree(sys.argv[1] if len(sys.argv) == 2 else TOP))
    except Unknown as problem:
        sys.exit(f"scripts/check_figures.py looks in the wrong place: {problem}")
    for one in findings:
        print(f"{one.path}:{one.line}: \"{one.said}\"" + (f" should be {one.true}" if one.true is not None else "") + f" ({one.name})")
    print(f"{len(texts)} documents, {len(findings)} wrong figures")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
