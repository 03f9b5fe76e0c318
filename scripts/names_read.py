#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""names_read.py [--most N] [--twins N] [--list]

Counts the places of src that compare or scan the text of an operator's name, overload or schema, or find a row by such a text. The row of an
operator has all facts about it (src/ops/list/op_list.h), and code names a row as TAPER_OP(id). These are not checked: front ends and formats,
whose files have operator names; the files of the list itself; functions that only list operators or explain an error (ALLOWED, with the reason).
Also counts twins: rows of backends' lists for an in-place form that repeat the functional row. With --list prints each of them; with --most and
--twins, fails if there are more than N."""
import argparse
import pathlib
import re
import sys

import op_rows

TOP = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("src/frontend/", "src/format/", "src/ops/list/")  # folders that must read names
ALLOWED = {  # function: the reason
    "src/compiler/emit_bytecode.c: instruction_of": "PyTorch's bytecode has instructions for operators of these names",
    "src/compiler/quantize_plan.c: add_step": "makes a name for what has none",
    "src/ops/nn/conv_args.c: name_in_errors": "explains an error",
    "src/runtime/draft.c: taper_draft_operator_name": "lists operators that a file names",
    "src/runtime/model_config.c: look_at_needs": "looks up operators that a file names",
    "src/runtime/model_config.c: taper_inspect_config": "lists operators that a file names",
    "src/runtime/model_info.c: add_operator": "lists operators that a file names",
    "src/runtime/model_info.c: add_graphs": "lists operators that a file names",
    "src/runtime/operator.c: find": "the host asks for an operator by its name",
    "src/runtime/operator.c: not_found": "the host asks for an operator by its name",
}
# Expressions that are the text of an operator's name.
SOURCE = re.compile(r"schema->(?:name|overload|text)\b|\bop_name\b|\btaper_row_text\(|\bneeds?->(?:items\[\w+\]\.)?"
                    r"(?:name|overload)\b")
READS = re.compile(r"\b(?:strn?cmp|strr?chr|strstr|mem(?:cmp|chr)|strspn|taper_row_(?:find|first|is_listed)|taper_bytecode_instruction_of)\(")
FUNCTION = re.compile(r"^(?:\w[\w \*]*?[\s\*])?(\w+)\(([^;{}]*)\)\n\{\n(.*?)^\}", re.M | re.S)


def arguments_of(text, start):
    """Returns the text inside the parentheses that open directly before `start`."""
    depth, at = 1, start
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at - 1]


def word(name):
    return rf"(?<![>.\w])(?:{name})\b(?!\()"


def scans(body, held):
    """Yields the offsets of calls that compare or scan a text matching the pattern, or find a row by any text."""
    return {match.start() for match in READS.finditer(body) if "taper_row_" in match[0] or re.search(held, arguments_of(body, match.end()))} | {
        match.start() for match in re.finditer(rf"(?:{held})\[\w", body)}


def readers_of(functions):
    """Returns the functions of a file that compare or scan a text argument."""
    found = set()
    for name, parameters, body in functions:
        given = re.findall(r"const char \*(?:const )?(\w+)", parameters)
        if given and any("taper_row_" not in body[at:at + 10] for at in scans(body, word("|".join(given)))):
            found.add(name)
    return found


def places(parameters, body, readers):
    """Yields the offsets in a function at which it reads the name of an operator."""
    tainted = {rf"{name}->{text}" for name in re.findall(r"\btaper_schema \*(?:const )?(\w+)", parameters + body) for text in ("name", "overload", "text")}
    for name, value in re.findall(r"([\w.]+) = ([^,;{}]+)", body):
        if not re.match(r"[\w.>-]*(?:strcspn|strlen)\(", value) and (SOURCE.search(value) or set(re.findall(r"(?<![>.])\b\w+(?:->\w+)?", value)) & tainted):
            tainted.add(re.escape(name))
    held = SOURCE.pattern + "".join("|" + word(name) for name in sorted(tainted))
    found = scans(body, held)
    if readers:
        found |= {match.start() for match in re.finditer(rf"\b(?:{'|'.join(sorted(readers))})\(", body)
                  if re.search(held, arguments_of(body, match.end()))}
    return sorted(found)


LISTS = ("src/backends/*/*.inc",)


def twins():
    """Returns (list, form) of each in-place form that a list names although the list also names the functional operator."""
    rows = {row.name: row.id for row in op_rows.rows(TOP)}
    functional = {}
    for full, row in rows.items():
        name, dot, overload = full.partition(".")
        if name.endswith("_") and not name.endswith("__"):
            functional[row] = rows.get(name[:-1] + dot + overload) or next((other for one, other in rows.items() if one.partition(".")[0] == name[:-1]), None)
    found = []
    for pattern in LISTS:
        for path in sorted(TOP.glob(pattern)):
            listed = re.findall(r"^[A-Z_]+\((\w+), ", path.read_text(), re.M)
            found += [(str(path.relative_to(TOP)), row) for row in listed if functional.get(row)]
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--most", type=int)
    parser.add_argument("--twins", type=int)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    count, files, unused = 0, 0, set(ALLOWED)
    for path in sorted([*TOP.glob("src/**/*.c"), *TOP.glob("src/**/*.h"), *TOP.glob("src/**/*.m")]):
        where = str(path.relative_to(TOP))
        if where.startswith(ROOMS):
            continue
        text = re.sub(r"//[^\n]*", "", path.read_text())
        functions = [(match[1], match[2], match[3]) for match in FUNCTION.finditer(text)]
        starts = [match.start(3) for match in FUNCTION.finditer(text)]
        readers, here, asked = readers_of(functions), [], set()
        for (name, parameters, body), start in zip(functions, starts):
            found = places(parameters, body, readers)
            if f"{where}: {name}" in ALLOWED:
                unused -= {f"{where}: {name}"} if found else set()
                continue
            here += [(start + at, name) for at in found]
            # If a function compares the name of its node with an argument, each of its calls is a place that reads the name.
            if found and "const char *" in parameters:
                asked.add(name)
        for name in asked:
            here += [(match.start(), name) for match in re.finditer(rf"\b{name}\((?![^()]*const char)[^()]*[\w\"]\)", text)]
        files += 1
        count += len(here)
        if options.list:
            for at, name in sorted(here):
                line = text.count("\n", 0, at) + 1
                print(f"{where}:{line}: {name}: {text.splitlines()[line - 1].strip()}")
    for function in sorted(unused):
        print(f"{function}: reads no name any more: take it out of ALLOWED")
    doubled = twins()
    if options.list:
        print(*(f"{path}: {row}" for path, row in doubled), sep="\n")
    print(f"{count} places of {files} files read the text of an operator's name\n{len(doubled)} rows of backends' lists are twins")
    if options.most is not None and count > options.most:
        print(f"There may be {options.most} places: let the row of the operator say what it is (CONTRIBUTING.md), or say in ALLOWED why not")
    if options.twins is not None and len(doubled) > options.twins:
        print(f"There may be {options.twins} twins: let what a list says of an operator hold for its form in place")
    sys.exit(bool(unused) or count > (count if options.most is None else options.most) or len(doubled) > (len(doubled) if options.twins is None else options.twins))


if __name__ == "__main__":
    main()
