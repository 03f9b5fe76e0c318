#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""overload_order.py [--write]: compares the order of the overloads of each operator in src/ops/list/list_*.inc with PyTorch's. PyTorch's compiler
takes the first overload that fits the arguments of a call in TorchScript source. Within a file the order must be the same. If a name has rows
in several files, which op_list.h concatenates, every call with up to three arguments must take the same row in both orders. --write sorts the
rows of a name within a file in PyTorch's order."""
import collections
import glob
import itertools
import os
import re
import sys

import op_rows
import torch
import torchvision  # noqa: F401 (its operators)

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS = op_rows.rows(TOP)
C = torch._C
PLAIN = [C.TensorType.get(), C.IntType.get(), C.FloatType.get(), C.BoolType.get(), C.ComplexType.get(), C.StringType.get()]
TYPES = PLAIN + [C.NoneType.get(), C.DeviceObjType.get(), C.NumberType.get(), C.AnyType.get(), C.TupleType([PLAIN[1]] * 2), C.ListType(C.ListType(PLAIN[1])),
                 C.OptionalType(PLAIN[0]), C.OptionalType(PLAIN[1])] + [C.ListType(t) for t in PLAIN] + [C.DictType(k, PLAIN[1]) for k in PLAIN]


def fits_type(formal, actual, convert, bound):
    """Returns true if PyTorch's compiler passes a value of type `actual` for an argument of type `formal`; bound: the types of type variables."""
    kind = formal.kind()
    if kind == "VarType":
        return bound.setdefault(formal.annotation_str, actual.annotation_str) == actual.annotation_str
    if kind == "OptionalType" and actual.kind() != "OptionalType":
        return actual.kind() == "NoneType" or fits_type(formal.getElementType(), actual, convert, bound)
    if kind == "ListType" and actual.kind() == "ListType":
        return fits_type(formal.getElementType(), actual.getElementType(), False, bound)
    if kind == "ListType" and actual.kind() == "TupleType":
        return all(fits_type(formal.getElementType(), t, False, bound) for t in actual.elements())
    if kind == "DictType" and actual.kind() == "DictType":
        return fits_type(formal.getKeyType(), actual.getKeyType(), False, bound) and fits_type(formal.getValueType(), actual.getValueType(), False, bound)
    if convert and actual.kind() == "TensorType" and kind in ("IntType", "FloatType", "ComplexType", "NumberType"):
        return True
    return actual.isSubtypeOf(formal) or (convert and actual.kind() == "StringType" and kind == "DeviceObjType")


def taken(schemas, call):
    """Returns the name of the overload that the call takes, in this order."""
    for convert in (False, True):
        for s in schemas:
            formals = [a for a in s.arguments if not a.kwarg_only]
            bound = {}
            if len(call) <= len(formals) and all(a.has_default_value() for a in s.arguments[len(call):]) and all(
                    fits_type(f.type, a, convert, bound) for f, a in zip(formals, call)):
                return s.overload_name
    return None


def calls_that_differ(ours, theirs):
    """Yields (types, overload in our order, overload in PyTorch's) of calls that take different overloads."""
    for count in range(1, 4):
        for call in itertools.product(TYPES if count < 3 else PLAIN, repeat=count):
            a, b = taken(ours, call), taken(theirs, call)
            if a != b:
                yield [t.annotation_str for t in call], a, b


def across_files():
    """Returns the number of names with rows in several files for which some call takes another row than in PyTorch."""
    listed = re.findall(r'"ops/list/(list_\w+\.inc)"', open(os.path.join(TOP, "src/ops/list/op_list.h")).read())
    files, by_name, wrong, noticed = collections.defaultdict(set), collections.defaultdict(list), 0, False
    for file in listed:
        for row in (row for row in ROWS if row.file.name == file):
            name, _, overload = row.name.partition(".")
            files[name].add(file)
            by_name[name].append(overload)
    for name in (n for n in by_name if len(files[n]) > 1 and "::" in n):
        theirs = {s.overload_name: s for s in C._jit_get_schemas_for_operator(name)}
        ours = [theirs[o] for o in by_name[name] if o in theirs]
        theirs = [s for o, s in theirs.items() if o in by_name[name]]
        noticed = noticed or any(calls_that_differ(theirs[::-1], theirs))
        if [s.overload_name for s in ours] == [s.overload_name for s in theirs]:
            continue
        for types, a, b in itertools.islice(calls_that_differ(ours, theirs), 1):
            wrong += 1
            print(f"{name} of {', '.join(types)} takes '{a}', in PyTorch '{b}': its rows stand in {', '.join(sorted(files[name]))}")
    if not noticed:
        sys.exit("calls take the same rows in any order: this script notices nothing")
    return wrong


def main():
    write, wrong = "--write" in sys.argv, 0
    for path in sorted(glob.glob(os.path.join(TOP, "src/ops/list/list_*.inc"))):
        text = open(path).read()
        rows = [(row.start, row.end, row.name) for row in ROWS if str(row.file) == path]
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
                continue  # Debian's build of PyTorch does not have this operator
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
    wrong += across_files()
    print(f"{wrong} operators have their overloads in another order than PyTorch")
    return 1 if wrong and not write else 0


if __name__ == "__main__":
    sys.exit(main())
