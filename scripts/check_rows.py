#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the operator list. The id of a row is its name and overload with '::' and other non-letters as '_' (selective builds rely on it), and
one more '_' for add_out, because add.out has that id. No schema occurs twice, and operators that front ends call by name exist. The facts
about an operator are in its row. Outside src/ops the only names of operators are those that PyTorch's files store as text (LITERALS lists the
files, with today's counts), and no list has more than three rows. Rows of one operator with one kernel and param, including its in-place and
out forms, have the same facts (ir/op.h), except those in tests/limits/forms_that_differ.txt."""
import collections
import pathlib
import re
import sys

import op_rows

top = pathlib.Path(__file__).resolve().parent.parent
bad, seen, groups = [], {}, collections.defaultdict(list)
for one in op_rows.rows(top):
    row, name = one.id, one.name
    want = re.sub(r"\W", "_", name.replace("::", "_"))
    if row == want + "_" and name.endswith("_out") and name[:-4] + ".out" in seen:
        want = row
    if row != want:
        bad.append(f"{row}: should be {want}")
    if name in seen:
        bad.append(f"{name}: twice")
    seen[name] = row
    groups[one.kernel, one.param].append(one)
names = {full.split(".")[0] for full in seen}
for path in ("op_names.h", "own_names.inc"):
    for name in re.findall(r'"((?:aten|prim)::\w+)"', (top / "src/ops/list" / path).read_text()):
        # own_names.inc has functions of PyTorch that are not operators. Lowering replaces aten::wait.
        if name not in names | {"aten::wait"} and path != "own_names.inc":
            bad.append(f"src/ops/list/{path}: there is no {name}")

# Files outside src/ops that may contain names of operators, with their number: opcodes and versions of old files, upgraders, kinds of
# nodes that PyTorch prints, examples in comments, and names with an overload for numbers.
LITERALS = {"src/format/bytecode_rows.c": 14, "src/format/module_write.c": 9, "src/frontend/export/symbols.c": 35, "src/frontend/needs.c": 1,
            "src/frontend/upgrade.c": 20, "src/frontend/upgrade.h": 1, "src/ir/graph_print.c": 15}
literals = 0
for path in sorted(top.glob("src/**/*.[chi]*")):
    where = str(path.relative_to(top))
    if where.startswith("src/ops/"):
        continue
    code = re.sub(r"//.*", "", path.read_text())
    count = len(re.findall(r'"(?:aten|prim|quantized|taper|prepacked|torchvision|_caffe2|metal\w*|vulkan\w*|profiler)::\w', code))
    literals += count
    if count > LITERALS.get(where, 0):
        bad.append(f"{where}: {count} names of operators; what an operator is, its row says (ir/op.h), and a row is TAPER_OP(id)")
    for table in re.findall(r"=\s*\{[^;]*?\};", code):
        if len(re.findall(r"TAPER_OP\(|TAPER_ROW_", table)) > 3:
            bad.append(f"{where}: a list of more than three operators: {table[:60]!r}")

# ---- facts of forms

# Facts about how a form writes: what it does with the sizes, dtype and memory of the tensor that it gets.
OF_WRITING = {f"TAPER_OP_{fact}" for fact in ("OUT_COPY", "OUT_CAST", "OUT_SAME", "OVERLAP", "APART", "WHOLE", "RESIZES")}
OPTIONS = {"dtype", "layout", "device", "pin_memory"}  # arguments that describe a new tensor; a form that writes into a given tensor lacks them


def operator_of(schema):
    """Returns (name, types of the arguments, True if the row writes into an argument) of the operator of which the row is a form."""
    name = re.match(r"[^.(]+", schema)[0]
    arguments = re.findall(r"([\w.]+(?:\(\w!?(?: -> \*)?\))?(?:\[\d*\])*\??(?:\(\w!?\))?(?:\[\d*\])?) (\w+)", schema[schema.index("(") + 1:schema.rindex(" -> ")])
    written = [argument for argument in arguments if "!" in argument[0]]
    in_place = bool(written) and name.endswith("_")
    if in_place or name.endswith("_out"):
        name = name[:-1] if in_place else name[:-4]
    types = tuple(re.sub(r"\(.*?\)", "", of) for of, called in arguments if called not in OPTIONS and (in_place or (of, called) not in written))
    return name, types, bool(written)


def facts_of(row):
    """Returns the facts of a row by field of ir/op.h, or flag."""
    return {fact.split("(")[0]: fact for fact in row.facts if fact not in OF_WRITING}


def differing(one, other):
    one, other = facts_of(one), facts_of(other)
    return {fact for fact in one.keys() | other.keys() if one.get(fact) != other.get(fact)}


def follows(kind, form, of):
    """Returns true if the form's row can be derived from the row of its functional operator."""
    try:
        return op_rows.form_schema(kind, form.id, of) == form.schema
    except ValueError:
        return False


# Features that selective builds keep: code must ask for each one that a row wants, and for no others.
wanted = {word[len("WANTS("):-1] for rows in groups.values() for row in rows for word in row.own if word.startswith("WANTS(")}
asked = set(re.findall(r"\bTAPER_WANTS\(([A-Z_]+)\)", (top / "src/ops/list/op_features.h").read_text()))
bad += [f"src/ops/list/op_features.h: {what} is {'asked for by no code' if what in wanted else 'wanted by no row'}" for what in sorted(wanted ^ asked)]

# A call with a quantized tensor is refused unless the row has ON_QUANTIZED. These operators are made for quantized tensors, or accept
# them. Gradients are never quantized.
gradients = set(re.findall(r"^OP\((\w+)", (top / "src/ops/list/list_derivative.inc").read_text(), re.M))
for row in (row for rows in groups.values() for row in rows):
    taken = row.schema[row.schema.index("("):row.schema.rindex("->")]
    if re.match(r"_?quantized::|prim::|taper::", row.name) and row.id not in gradients and re.search(r"Tensor|\.\.\.", taken) and not any(word.startswith("ON_QUANTIZED(") for word in row.own):
        bad.append(f"{row.id}: say ON_QUANTIZED(ANY), or what else it does with quantized tensors")

# The functional rows of these operators make doubles; their in-place rows do not.
NO_FORMS = {"aten_float_power__Tensor", "aten_float_power__Scalar"}
by_operator, by_id = collections.defaultdict(list), {}
for row in (row for rows in groups.values() for row in rows):
    name, types, writes = operator_of(row.schema)
    by_id[row.id] = row
    if not writes:
        by_operator[name, types].append(row)
for row in by_id.values():
    name, types, writes = operator_of(row.schema)
    fitting = [of.id for of in by_operator[name, types]] if re.match(r"[^.(]*[^_]_[.(]", row.schema) and writes else []
    if row.in_place_of and row.in_place_of not in fitting:
        bad.append(f"{row.id}: is no form in place of {row.in_place_of}")
    elif fitting and not row.in_place_of and row.id not in NO_FORMS:
        bad.append(f"{row.id}: add FORM({fitting[0]}), whose form in place it is")

listed, met = set(), set()
for line in (top / "tests/limits/forms_that_differ.txt").read_text().splitlines():
    who, *what = line.partition("#")[0].split() or [""]
    listed |= {(who, fact) for fact in what}
for rows in groups.values():
    operators = collections.defaultdict(dict)  # {name: {types: rows}}; the row that does not write is first
    for row in rows:
        name, types, writes = operator_of(row.schema)
        operators[name].setdefault(types, []).insert(0 if not writes else 99, row)
    for name, overloads in operators.items():
        for first, *forms in overloads.values():
            for form in forms:
                found = {(form.name, fact) for fact in differing(first, form)}
                bad += [f"{who}: its {fact} is not that of {first.name}; give it the same, or list it in forms_that_differ.txt with the reason"
                        for who, fact in sorted(found - listed)]
                bad += [f"{form.name}: write it as {kind}({form.id}, {first.id}, …)" for kind in ("IN_PLACE", "OUT")
                        if not found and not form.of and follows(kind, form, first)]
                met |= found
        first, *others = [rows[0] for rows in overloads.values()]
        found = {(name, fact): other.name for other in others for fact in differing(first, other)}
        bad += [f"{other}: its {fact} is not that of {first.name}; give it the same, or list {name} in forms_that_differ.txt with the reason"
                for (name, fact), other in sorted(found.items()) if (name, fact) not in listed]
        met |= found.keys()
bad += [f"forms_that_differ.txt: {who} {fact} differs no longer: take it out" for who, fact in sorted(listed - met)]

print("\n".join(bad) if bad else f"names of operators outside src/ops: {literals}\nrows: {len(seen)} in order")
sys.exit(1 if bad or not seen else 0)
