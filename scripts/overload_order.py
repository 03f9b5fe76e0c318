#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""overload_order.py [--write]: holds the order of the overloads of every operator in src/ops/list/list_*.inc against PyTorch's, in which its
compiler takes the first that fits the arguments of a call in TorchScript source. Within a file the order must be the same; rows of one
name in different files take different kinds of arguments. --write puts the rows of a name into that order, in the places they have."""
import collections
import glob
import os
import re
import sys

import torch
import torchvision  # noqa: F401 (its operators)

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def rows_of(text):
    """(start, end, "aten::add.Tensor") of every row."""
    found = []
    for start in (m.start() for m in re.finditer(r"^OP\(", text, re.M)):
        depth, at, quoted = 0, start + 2, False
        while True:
            c = text[at]
            if quoted:
                at += c == "\\"
                quoted = c != '"'
            elif c == '"':
                quoted = True
            elif c == "(":
                depth += 1
            elif c == ")":
                depth -= 1
                if depth == 0:
                    break
            at += 1
        schema = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text[start:at]))
        found.append((start, at + 1, schema.split("(")[0]))
    return found


def main():
    write, wrong = "--write" in sys.argv, 0
    for path in sorted(glob.glob(os.path.join(TOP, "src/ops/list/list_*.inc"))):
        text = open(path).read()
        rows = rows_of(text)
        by_name = collections.defaultdict(list)
        for i, (_, _, key) in enumerate(rows):
            by_name[key.partition(".")[0]].append(i)
        pieces = [text[start:end] for start, end, _ in rows]
        for name, places in by_name.items():
            if "::" not in name or len(places) == 1:
                continue
            try:
                order = [s.overload_name for s in torch._C._jit_get_schemas_for_operator(name)]
            except RuntimeError:
                continue  # an operator of a build that Debian's is not
            known = [i for i in places if rows[i][2].partition(".")[2] in order]
            wanted = sorted(known, key=lambda i: order.index(rows[i][2].partition(".")[2]))
            if known != wanted:
                wrong += 1
                print(f"{os.path.basename(path)}: {name}: {[rows[i][2].partition('.')[2] for i in wanted]}")
                old = list(pieces)
                for to, source in zip(known, wanted):
                    pieces[to] = old[source]
        if write:
            out, at = [], 0
            for (start, end, _), piece in zip(rows, pieces):
                out += [text[at:start], piece]
                at = end
            open(path, "w").write("".join(out) + text[at:])
    print(f"{wrong} operators have their overloads in another order than PyTorch")
    return 1 if wrong and not write else 0


if __name__ == "__main__":
    sys.exit(main())
