# SPDX-License-Identifier: BSD-2-Clause
"""operators_test.py SOURCE: scripts/supported_ops.py makes the page of operators. This test compares the page with the lists, which it
reads with its own code: each row of the operator list is on the page once, and each column marks the rows of its backend's list. Then the
test changes a copy of the lists, and the page has to change."""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
import op_rows  # noqa: E402

READ = ("scripts/supported_ops.py", "scripts/op_rows.py", "docs/data/operators.tsv", "src/backends/cpu/cpu_list.inc",
        "src/backends/gpu/gpu_rules.inc", "src/backends/nnapi/translate_list.inc")
QUANTIZED = {"ANY": "any", "UNIFORM": "per tensor", "CHANNELS": "per tensor and per channel"}
TITLES = ["Operator", "Overloads", "CPU", "Vulkan, Metal", "NNAPI", "Quantized tensors", "Dtypes", "Tested by"]

passed = failed = 0


def check(what, right, got=""):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    if not right:
        print(f"FAILED {what}: {got}")


def page_of(top):
    path = pathlib.Path(top) / "page.md"
    subprocess.run([sys.executable, str(pathlib.Path(top) / "scripts/supported_ops.py"), "--page", str(path)], check=True)
    return path.read_text(encoding="utf-8")


def by_overload(text, overloads):
    """Returns {overload: its part of a cell}."""
    if ": " not in text:
        return {overload: text for overload in overloads}
    parts = {}
    for part in text.split("; "):
        said, _, names = part.partition(": ")
        for name in names.split(", "):
            check(f"{text}: {name} is an overload, and named once", name in overloads and name not in parts, overloads)
            parts[name] = said
    return {overload: parts.get(overload, "") for overload in overloads}


def rows_of(page):
    """Returns the page's tables as {name of an overload: {title of a column: text of its cell}}."""
    found = {}
    for line in page.split("\n"):
        cells = [part.strip() for part in line.strip("|").split("|")]
        if not line.startswith("| ") or cells == TITLES:
            continue
        check(f"{line}: it has {len(TITLES)} cells", len(cells) == len(TITLES), len(cells))
        overloads = cells[1].split(", ")
        columns = {title: by_overload(text, overloads) for title, text in zip(TITLES[2:6], cells[2:6])}
        for overload in overloads:
            name = cells[0] + ("" if overload == "default" else "." + overload)
            check(f"{name} is on the page once", name not in found)
            found[name] = {**{title: texts[overload] for title, texts in columns.items()}, "Dtypes": cells[6], "Tested by": cells[7]}
    return found


def functional(name, forms):
    """Returns the name of the functional row of an in-place form, or None for other names. forms: {name: functional row} of rows with
    FORM( )."""
    if name in forms:
        return forms[name]
    match = re.fullmatch(r"(\w+::\w*[a-z0-9])_((?:\..*)?)", name)
    return match.group(1) + match.group(2) if match else None


def check_column(found, by_id, forms, title, path, form, text):
    """Checks that each row of the list has the text, and that each row with a text is in the list or is the in-place form of a row in the
    list."""
    listed = {match.group(1): match.groups()[-1] for match in re.finditer(form, (SOURCE / path).read_text(), re.M)}
    check(f"{path} has rows", len(listed) > 20, len(listed))
    names = {}
    for row, said in listed.items():
        check(f"{path}: {row} is in the operator list", row in by_id)
        if row in by_id and not by_id[row].startswith("taper::"):
            names[by_id[row]] = text.format(said)
            check(f"{by_id[row]}: {title}", found[by_id[row]][title] == text.format(said), found[by_id[row]][title])
    for name, cells in found.items():
        own = cells[title] not in ("", "reference")
        check(f"{name}: {title}, {cells[title]}", not own or cells[title] == names.get(name, names.get(functional(name, forms))), names.get(name))


def check_page(page):
    rows, found = op_rows.rows(SOURCE), rows_of(page)
    names = collections.Counter(row.name for row in rows if not row.name.startswith("taper::"))
    check("all rows of the list are on the page, and no others", set(names) == set(found), sorted(set(names) ^ set(found))[:10])
    check("no name is twice in the list", max(names.values()) == 1, names.most_common(3))
    by_id = {row.id: row.name for row in rows}
    texts = {row.name: row.file.read_text()[row.start:row.end] for row in rows}
    forms = {name: by_id[match.group(1)] for name, match in ((name, re.search(r"\bFORM\((\w+)\)", text)) for name, text in texts.items()) if match}
    check_column(found, by_id, forms, "CPU", "src/backends/cpu/cpu_list.inc", r"^CPU\((\w+),", "own kernel")
    check_column(found, by_id, forms, "Vulkan, Metal", "src/backends/gpu/gpu_rules.inc", r"^(?:RULE|STEP)\((\w+),", "yes")
    check_column(found, by_id, forms, "NNAPI", "src/backends/nnapi/translate_list.inc", r"^RULE\((\w+),.*?(\d\d), \w+\)$", "level {}")
    for row in rows:
        word = re.search(r"ON_QUANTIZED\((\w+)(, \w+)?\)", texts[row.name])
        wanted = QUANTIZED[word.group(1)] + (" by a kernel of its own" if word.group(2) else "") if word else ""
        if not row.name.startswith("taper::"):
            check(f"{row.name}: quantized tensors", found[row.name]["Quantized tensors"] == wanted, found[row.name]["Quantized tensors"])
    check("in-place forms have the rules of their functional rows", found["aten::relu_"]["NNAPI"] == "level 27", found["aten::relu_"])
    check("a comparison in place has no rule", found["aten::eq.Tensor"]["Vulkan, Metal"] == "yes" and not found["aten::eq_.Tensor"]["Vulkan, Metal"])
    for line in (SOURCE / "docs/data/operators.tsv").read_text().split("\n"):
        operator, dtypes, tests = line.split("\t") if "\t" in line else ("", "", "")
        if operator:
            cells = next(cells for name, cells in found.items() if name.partition(".")[0] == operator)
            check(f"{operator}: measured columns", (cells["Dtypes"], cells["Tested by"].removeprefix("OpInfo").strip(", ")) == (dtypes, tests), cells)
            for name in filter(None, tests.split(", ")):
                check(f"{operator}: tests/ops/test_{name}.py", (SOURCE / f"tests/ops/test_{name}.py").exists())


def check_changes(page):
    """A changed list changes the page at its row, and nowhere else."""
    changes = [("src/backends/cpu/cpu_list.inc", "CPU(aten_layer_norm, taper_cpu_layer_norm)\n", ""),
               ("src/backends/gpu/gpu_rules.inc", "STEP(aten_mish, MISH)\n", ""),
               ("src/backends/nnapi/translate_list.inc", "RULE(aten_exp, unary, ANEURALNETWORKS_EXP, 29, false)",
                "RULE(aten_exp, unary, ANEURALNETWORKS_EXP, 30, false)"),
               ("docs/data/operators.tsv", "\naten::mish\t", "\naten::mish\tc128 ")]
    wanted = [{"aten::layer_norm"}, {"aten::mish", "aten::mish_"}, {"aten::exp", "aten::exp_"}, {"aten::mish"}]
    with tempfile.TemporaryDirectory() as top:
        for name in (*READ, *(str(path.relative_to(SOURCE)) for path in (SOURCE / "src/ops/list").glob("list_*.inc"))):
            (pathlib.Path(top) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(SOURCE / name, pathlib.Path(top) / name)
        for (path, old, new), names in zip(changes, wanted):
            file = pathlib.Path(top) / path
            text = file.read_text()
            check(f"{path} has {old.strip()}", old in text)
            file.write_text(text.replace(old, new))
            differ = set(page.split("\n")) ^ set(page_of(top).split("\n"))
            file.write_text(text)
            got = {line.split("|")[1].strip() for line in differ}
            check(f"{path} without {old.strip()}", got == names, got)
        for path, old, new in (("docs/data/operators.tsv", "\naten::mish\t", "\naten::wish\t"),
                               ("src/ops/list/list_norm.inc", '"aten::layer_norm(', '"aten::layer_norms(')):
            file = pathlib.Path(top) / path
            text = file.read_text()
            check(f"{path} has {old.strip()}", old in text)
            file.write_text(text.replace(old, new))
            done = subprocess.run([sys.executable, str(pathlib.Path(top) / "scripts/supported_ops.py"), "--check"], capture_output=True, text=True)
            file.write_text(text)
            check(f"--check of {path} with {new.strip()}", done.returncode == 1 and done.stdout.count("docs/data/operators.tsv: ") == 2, done.stdout)


with tempfile.TemporaryDirectory() as folder:
    made = pathlib.Path(folder) / "page.md"
    subprocess.run([sys.executable, str(SOURCE / "scripts/supported_ops.py"), "--page", str(made)], check=True)
    PAGE = made.read_text(encoding="utf-8")
check_page(PAGE)
check_changes(PAGE)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
