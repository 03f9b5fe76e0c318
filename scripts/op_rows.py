# SPDX-License-Identifier: BSD-2-Clause
"""Reads the rows of the operator list, src/ops/list/list_*.inc, for scripts: rows(top). The forms IN_PLACE() and OUT() get the schema, the
kernel, the param and the facts that src/ops/list/expand_rows.h derives in a build."""
import dataclasses
import pathlib
import re

OWN = ("WANTS(", "FORM(", "ON_QUANTIZED(", "CPP(")


@dataclasses.dataclass
class Row:
    file: pathlib.Path
    start: int  # offset of the row's first letter in its file
    end: int    # offset after the row's last letter
    id: str
    schema: str
    kernel: str
    param: str
    facts: list
    own: list    # words of the row that are not facts: WANTS( ), FORM( ), ON_QUANTIZED( ), CPP( )
    of: str      # id of the functional row of IN_PLACE( ) and OUT( ); "" for other rows

    @property
    def in_place_of(self):
        """Returns the id of the functional row of an in-place form, or "" for other rows."""
        return next((word[len("FORM("):-1] for word in self.own if word.startswith("FORM(")), "") if not self.of else self.of if "(a!) self" in self.schema else ""

    @property
    def name(self):
        """The name with its overload, such as aten::add.Tensor."""
        return self.schema.partition("(")[0]


def pieces(text, start):
    """Returns (the arguments of the macro whose name begins here, the offset of its end)."""
    depth, at, quoted, found, begin = 0, text.index("(", start), False, [], 0
    begin = at + 1
    while True:
        c = text[at]
        if quoted:
            at += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "({":
            depth += 1
        elif c in ")}":
            depth -= 1
            if depth == 0:
                return [*found, text[begin:at].strip()], at + 1
        elif c == "," and depth == 1:
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1


def flags_of(text):
    return [flag for flag in (part.strip() for part in text.split("|")) if flag != "0"]


def form_schema(kind, form, of):
    """Returns the schema that expand_rows.h makes. Raises ValueError if the operator has no such form."""
    parts = re.fullmatch(r"([^.(]+)(?:\.(\w+))?\((.*)\) -> Tensor", of.schema)
    if not parts:
        raise ValueError(f"{of.id} does not give one new tensor")
    name, overload, taken = parts.groups()
    if kind == "IN_PLACE":
        if not taken.startswith("Tensor self"):
            raise ValueError(f"{of.id} takes no self first")
        return f"{name}_{'.' + overload if overload else ''}(Tensor(a!) self{taken[len('Tensor self'):]}) -> Tensor(a!)"
    base = of.id[:len(of.id) - len(overload or "") - bool(overload)]
    if not form.startswith(base + "_"):
        raise ValueError(f"{form}: its id is not {base} and the overload")
    return f"{name}.{form[len(base) + 1:]}({taken}, {'' if '*, ' in taken else '*, '}Tensor(a!) out) -> Tensor(a!)"


def rows(top):
    """Returns all rows, file by file, in the order of the files."""
    found, forms, by_id = [], [], {}
    for path in sorted((pathlib.Path(top) / "src/ops/list").glob("list_*.inc")):
        text = path.read_text(encoding="utf-8")
        for match in re.finditer(r"^(OP|IN_PLACE|OUT)\(", text, re.M):
            given, end = pieces(text, match.start())
            flags = flags_of(given[-1])
            own = [flag for flag in flags if flag.startswith(OWN)]
            row = Row(path, match.start(), end, given[0], "", "", "", [flag for flag in flags if not flag.startswith(OWN)], own, "")
            if match[1] == "OP":
                row.schema = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', given[1])).replace('\\"', '"')
                row.kernel, row.param = given[2:4]
                by_id[row.id] = row
            else:
                row.of = given[1]
                forms.append((match[1], row))
            found.append(row)
    for kind, row in forms:
        of = by_id[row.of]
        row.schema, row.kernel, row.param = form_schema(kind, row.id, of), of.kernel, of.param
        row.facts = of.facts + row.facts
    return found
