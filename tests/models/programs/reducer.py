# SPDX-License-Identifier: BSD-2-Clause
"""Shortens a failing program: removes statements, with their blocks, while it still fails."""
import time

START = "class M("


def depth(line):
    return len(line) - len(line.lstrip())


def block(lines, i):
    """Returns the end of the statement that starts at line i."""
    end = i + 1
    while end < len(lines) and (not lines[end].strip() or depth(lines[end]) > depth(lines[i])):
        end += 1
    return end


def candidates(lines):
    """Yields shorter programs: without a statement, with the block instead of its if or loop, with fewer results."""
    i = len(lines) - 1
    while i >= 12:  # the lines before this one are imports
        if i < len(lines) and lines[i].strip():
            end = block(lines, i)
            yield i, lines[:i] + lines[end:]
            head = lines[i].strip()
            if end > i + 1 and head.endswith(":") and head.split()[0] in ("if", "for", "while", "with", "else:", "elif"):
                yield i, lines[:i] + [line[4:] for line in lines[i + 1:end]] + lines[end:]
            if head.startswith("return (") and head.endswith(",)"):
                parts = split(head[8:-2])
                for k in range(len(parts)):
                    if len(parts) > 1:
                        yield i, lines[:i] + [" " * depth(lines[i]) + f"return ({', '.join(parts[:k] + parts[k + 1:])},)"] + lines[i + 1:]
        i -= 1


def split(text):
    """Splits at commas outside of brackets."""
    parts, at, level = [], 0, 0
    for i, c in enumerate(text):
        level += (c in "([{") - (c in ")]}")
        if c == "," and level == 0:
            parts.append(text[at:i].strip())
            at = i + 1
    return [p for p in parts + [text[at:].strip()] if p]


def reduce(source, fails, seconds=60):
    """Returns the shortest source found within the time for which fails(source) is true."""
    lines, end, changed = source.rstrip().split("\n"), time.time() + seconds, True
    while changed and time.time() < end:
        changed, at = False, None
        while time.time() < end:
            for i, shorter in candidates(lines):
                if at is not None and i > at:
                    continue
                if time.time() > end:
                    break
                if fails("\n".join(shorter) + "\n"):
                    lines, changed, at = shorter, True, i
                    break
            else:
                break
    return "\n".join(lines) + "\n"
