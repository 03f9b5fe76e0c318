#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_commits.py RANGE: compares the messages of the commits in RANGE with the rules of CONTRIBUTING.md, and fails if one breaks a rule.

RANGE is a range of git ("HEAD~3..HEAD", "main..") or --last N, the last N commits. If RANGE is missing, or git does not know where it begins (a new
branch, a history that was replaced), the last 20 commits are checked. Merges are not checked, nor commits that are older than this script. Exit
status 77 if there is no history."""
import pathlib
import re
import subprocess
import sys

SCRIPT = pathlib.Path(__file__).resolve()
TOP = SCRIPT.parent.parent
MOST_SUBJECT, MOST_BODY, LAST = 72, 80, 20
SUBJECT = re.compile(r"[\w.][\w./+-]*(?:, [\w.][\w./+-]*)*: \S")
# These words end in s, ed or ing although they are imperatives.
IMPERATIVE = re.compile(r"\w*ss|focus|alias|bias|need|feed|seed|speed|exceed|proceed|succeed|embed|shed|bring|ring|string|spring")


def problems(message):
    """Returns the rules that a message breaks, as texts."""
    subject, *rest = message.rstrip("\n").split("\n")
    found = []
    if len(subject) > MOST_SUBJECT:
        found.append(f"the subject has {len(subject)} columns, and may have {MOST_SUBJECT}")
    if subject.endswith("."):
        found.append("the subject ends with a period")
    if ";" in subject:
        found.append("the subject has a semicolon: make it two commits, or name the one change")
    if not SUBJECT.match(subject):
        found.append("the subject is not \"area: imperative\", such as \"gpu: free the arena after a failed run\"")
    else:
        verb = subject.partition(": ")[2].split()[0]
        if not verb[0].islower():
            found.append(f"\"{verb}\" is not a verb in lower case")
        elif re.fullmatch(r"\w+(?:ed|ing|s)", verb) and not IMPERATIVE.fullmatch(verb):
            found.append(f"\"{verb}\" is not an imperative")
    if rest and rest[0].strip():
        found.append("the line after the subject is not blank")
    for number, line in enumerate(rest, 2):
        if len(line) > MOST_BODY and re.search(r"\S\s", line.strip()): # a line that is one long word, such as an address, cannot be wrapped
            found.append(f"line {number} has {len(line)} columns, and may have {MOST_BODY}")
    return found


def git(*arguments):
    """Returns the output of git, or None if git fails or is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(TOP), *arguments], capture_output=True, encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def commits(wanted):
    """Returns [(hash, message)] of the range, the newest first, without commits that are older than this script."""
    name = str(SCRIPT.relative_to(TOP))
    first = (git("log", "--format=%H", "--diff-filter=A", "--", name) or "").split()
    older = [f"^{first[-1]}^@"] if first else []
    text = git("log", "-z", "--no-merges", "--format=%H%n%B", *wanted, *older, "--")
    if text is None:
        sys.exit(f"check_commits.py: git does not know {' '.join(wanted)}")
    return [tuple(one.split("\n", 1)) for one in text.split("\0") if one.strip()]


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 2 and arguments[0] == "--last" and arguments[1].isdecimal():
        wanted = [f"-{arguments[1]}", "HEAD"]
    elif not arguments:
        wanted = [f"-{LAST}", "HEAD"]
    elif len(arguments) == 1 and not arguments[0].startswith("-"):
        wanted = arguments
    else:
        sys.exit(__doc__)
    if (git("rev-parse", "--show-prefix") or "-").strip() != "":
        skip("this tree has no git history")
    shallow = (git("rev-parse", "--is-shallow-repository") or "").strip() == "true"
    start = wanted[0].partition("..")[0]
    if len(wanted) == 1 and ".." in wanted[0] and start and git("cat-file", "-e", start + "^{commit}") is None:
        if shallow:
            skip(f"this is a shallow clone, which lacks {start}")
        print(f"git does not know {start}; the last {LAST} commits are checked")
        wanted = [f"-{LAST}", wanted[0].partition("..")[2].lstrip(".") or "HEAD"]
    elif wanted[0].startswith("-") and shallow:
        skip("this is a shallow clone, which lacks older commits")
    found, bad = commits(wanted), 0
    for commit, message in found:
        for problem in problems(message):
            print(f"{commit[:8]} \"{message.partition(chr(10))[0]}\": {problem}")
            bad += 1
    print(f"{len(found)} commits, {bad} findings")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
