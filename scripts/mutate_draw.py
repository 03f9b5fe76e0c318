# SPDX-License-Identifier: BSD-2-Clause
"""The changes for mutate.py: which changes a line allows, and which are drawn."""
import contextlib
import dataclasses
import pathlib
import re

NUMERIC = ("ops", "backends")  # folders of operators and kernels
SWAPS = {"comparison": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}, "sign": {"+": "-", "-": "+", "+=": "-=", "-=": "+="},
         "condition": {"&&": "||", "||": "&&"}}
STATEMENT = re.compile(r"^\s+(?!return\b|break\b|continue\b|goto\b|case\b|const\b|static\b|struct\b|enum\b|else\b)[\w>.\[\]*()-]+ (?:[-+*/|&]?= .*|)\S*;$|^\s+\(?void\)?\s*\w+\(.*\);$")
SKIPPED = re.compile(r"^\s*(#|//|\*|TAPER_FAIL|return taper_fail)|\b(assert|_Static_assert|printf|snprintf|TAPER_FAIL|taper_fail\w*)\b|^\s*\"")


def blanked(line):
    """Returns the line with texts and comments as blanks, of the same length."""
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'', lambda m: " " * len(m[0]), line)
    return re.sub(r"//.*|/\*.*?\*/", lambda m: " " * len(m[0]), line)


def places(line):
    """Returns (kind, changed line) of all possible changes in a line."""
    code, found = blanked(line), []
    if SKIPPED.search(line) or not code.strip():
        return found
    for kind, swaps in SWAPS.items():
        for m in re.finditer(r"(?<= )(<=|>=|==|!=|\+=|-=|&&|\|\||[<>+-])(?= )", code):
            if m[1] in swaps:
                found.append((kind, line[:m.start()] + swaps[m[1]] + line[m.end():]))
    for m in re.finditer(r"(?<![\w.])(\d+)(\.\d+)?(?=[^\w.]|f\b)", code):
        other = f"{int(m[1]) + 2}{m[2]}" if m[2] else str(int(m[1]) + 1)
        found.append(("constant", line[:m.start()] + other + line[m.end():]))
    for m in re.finditer(r"(?<=\w)\[(\w+)\]", code):
        if not re.match(r"\s*(static |const )*[\w ]+\*? \w+\[", code) and not m[1].isupper():
            found.append(("index", line[:m.start(1)] + m[1] + " + 1" + line[m.end(1):]))
    if STATEMENT.match(code.rstrip()):
        found.append(("statement", re.match(r"\s*", line)[0] + ";"))
    return found


@dataclasses.dataclass(frozen=True)
class Change:
    draw: int  # number of the draw, from 1
    source: pathlib.Path
    path: pathlib.Path
    line: int  # number of the line, from 1
    kind: str
    old: str
    new: str

    def __str__(self):
        return f"{self.kind} in {self.path.relative_to(self.source)}:{self.line}"

    @property
    def room(self):
        return self.path.relative_to(self.source).parts[1]

    @contextlib.contextmanager
    def made(self):
        """A context in which the file has the change."""
        text = self.path.read_text()
        lines = text.split("\n")
        lines[self.line - 1] = self.new
        self.path.write_text("\n".join(lines))
        try:
            yield
        finally:
            self.path.write_text(text)


def draws(source, rng, only):
    """Yields changes of files in source/src, without end."""
    files = sorted(p for p in (source / "src").rglob("*.c") if only in str(p.relative_to(source)))
    numeric = [p for p in files if p.relative_to(source).parts[1] in NUMERIC]
    others = [p for p in files if p not in set(numeric)]
    number = 0
    while True:
        group = (numeric if rng.random() < 0.5 else others) or files
        path = rng.choices(group, [p.stat().st_size for p in group])[0]
        lines = path.read_text().split("\n")
        at = rng.randrange(len(lines))
        options = places(lines[at])
        if options:
            kinds = sorted({kind for kind, _ in options})
            kind = rng.choice(kinds)
            number += 1
            yield Change(number, source, path, at + 1, kind, lines[at], rng.choice([new for k, new in options if k == kind]))
