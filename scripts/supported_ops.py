#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The page of supported operators. It is made from the operator list, the lists of the backends, and docs/data/operators.tsv.

  supported_ops.py [--page FILE]            writes the page to FILE, or prints it
  supported_ops.py --check                  fails unless docs/data/operators.tsv has one row for each operator of the list
  supported_ops.py --tests                  measures the column "tests": scripts each case of tests/ops to see which operators it has.
                                            Needs PyTorch 1.13 (python3-torch)
  supported_ops.py --measure TAPER CASES    measures the columns "dtypes" and "tests". TAPER: the program; CASES: a folder that
                                            tests/ops/run_opinfo.py --cases wrote, whose samples run. Needs PyTorch 1.13"""
import collections
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOP / "scripts"))
import op_rows  # noqa: E402

DATA = TOP / "docs/data/operators.tsv"
FAMILIES = {"container": "lists and dicts", "conv": "convolution", "create": "creation and random numbers", "fft": "Fourier transforms",
            "index": "indexing, sorting, searching", "linalg": "linear algebra", "linear": "products of matrices",
            "norm": "normalization, softmax, losses", "pool": "pooling and padding", "prim": "primitives", "recurrent": "recurrent layers",
            "caffe2": "Detectron2's mobile detectors", "class": "classes", "reduce": "reductions", "resize": "resizing",
            "scalar": "numbers", "string": "strings", "view": "views and copies", "vision": "torchvision"}

# The file format has instructions for these operators, so a model does not name them.
INSTRUCTIONS = ("prim::TupleIndex", "prim::RaiseException", "prim::unchecked_unwrap_optional", "prim::Uninitialized", "prim::dtype", "prim::device",
                "prim::is_cuda", "prim::NumToTensor", "prim::tolist", "aten::__is__", "aten::__isnot__", "aten::__not__", "aten::warn", "aten::dim",
                "aten::format", "aten::len", "aten::size", "prim::EnumName", "prim::EnumValue")


def family_of(row):
    return row.file.stem[len("list_"):]


def is_own(name):
    """True for an operator that only Taper's own graphs contain, and no file."""
    return name.startswith("taper::")


def named_rows(top=TOP):
    """Returns the rows of the operator list that files can name, in the order of the lists."""
    return [row for row in op_rows.rows(top) if not is_own(row.name)]


def split_name(name):
    """Returns (operator, overload); the overload without a name is "default"."""
    operator, _, overload = name.partition(".")
    return operator, overload or "default"


def counts(top=TOP):
    """Returns (operators, overloads, own rows): the number of names that files have; of their rows; of the rows that only Taper's own
    graphs contain."""
    every = op_rows.rows(top)
    theirs = [row.name for row in every if not is_own(row.name)]
    return len({split_name(name)[0] for name in theirs}), len(theirs), len(every) - len(theirs)


# ---- columns of the backends; a function of a row returns its text, or "" if the backend does not support the row

def listed(top, path, form):
    """Returns {row: text} of a backend's list. The form has a group for the row and may have one for the text."""
    return {match.group(1): (match.groups() + ("yes",))[1] for match in re.finditer(form, (top / path).read_text(), re.M)}


def work_of(row):
    """Returns the id of the row whose rule applies, as taper_node_work of src/ops/list/op_table.c does."""
    differs = {"TAPER_OP_RESIZES", "TAPER_OP_REPLACES", "RESULT(BOOL)"} & set(row.facts)
    return row.id if differs else row.in_place_of or row.id


def quantized(row):
    word = next((word for word in row.own if word.startswith("ON_QUANTIZED(")), "")
    what, _, kernel = word[len("ON_QUANTIZED("):-1].partition(",")
    text = {"": "", "ANY": "any", "UNIFORM": "per tensor", "CHANNELS": "per tensor and per channel"}[what]
    return text + (" by a kernel of its own" if kernel.strip() else "")


def columns(top=TOP):
    """Returns [(title, function of a row)]."""
    cpu = listed(top, "src/backends/cpu/cpu_list.inc", r"^CPU\((\w+),")
    gpu = listed(top, "src/backends/gpu/gpu_rules.inc", r"^(?:RULE|STEP)\((\w+),")
    nnapi = listed(top, "src/backends/nnapi/translate_list.inc", r"^RULE\((\w+),.*, (\d+), (?:true|false)\)$")
    return [("CPU", lambda row: "own kernel" if row.id in cpu else "reference"),
            ("Vulkan, Metal", lambda row: gpu.get(work_of(row), "")),
            ("NNAPI", lambda row: f"level {nnapi[work_of(row)]}" if work_of(row) in nnapi else ""),
            ("Quantized tensors", quantized)]


def cell(texts):
    """Joins the texts of an operator's overloads, [(overload, text)], to one cell: "yes", or "yes: Tensor, Scalar; no: int"."""
    by_text = collections.OrderedDict()
    for overload, text in texts:
        by_text.setdefault(text, []).append(overload)
    if len(by_text) == 1:
        return texts[0][1]
    return "; ".join(f"{text}: {', '.join(overloads)}" for text, overloads in by_text.items() if text)


# ---- measured columns

def cases_of_tests():
    """Returns {operator: {test file}} for the operators of the cases of tests/ops."""
    sys.path.insert(0, str(TOP / "tests/ops"))
    import oracle
    import torch
    tested = collections.defaultdict(set)
    for path in sorted((TOP / "tests/ops").glob("test_*.py")):
        spec = importlib.util.spec_from_file_location("cases", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for number, case in enumerate(getattr(module, "CASES", ())):
            try:
                scripted = oracle.scripted_module(case[1], number)
            except Exception:
                continue
            # An operator with its own instruction (prim::dtype) occurs only in the graph, not in the list of operators.
            graph = scripted.inlined_graph
            own = {kind for kind in INSTRUCTIONS if graph.findNode(kind)}
            for name in own | set(torch.jit.export_opnames(scripted)):
                tested[name.split(".")[0]].add(path.stem[len("test_"):])
    return tested


def dtypes_of_opinfo(taper, folder):
    """Runs OpInfo samples. Returns {operator: {dtype}} of the samples that agree with PyTorch."""
    report = os.path.join(folder + ".tsv")
    subprocess.run([sys.executable, str(TOP / "tests/ops/run_opinfo.py"), taper, "--cases", folder, "--report", report],
                   stdout=subprocess.DEVNULL)
    dtypes = collections.defaultdict(set)
    for line in open(report):
        label, case, _, result = line.rstrip("\n").split("\t")
        if result != "agrees":
            continue
        model = os.path.join(folder, label, case, "model.ptl")
        names = subprocess.run([taper, "ops", model], capture_output=True, text=True).stdout.split()
        for name in names:
            if name.startswith(("aten::", "torchvision::")):
                dtypes[name.split(".")[0]].add(case.rsplit("_", 1)[0])
    return dtypes


def known(top=TOP):
    """Returns {operator: (dtypes, tests)} of docs/data/operators.tsv."""
    found = {}
    for number, line in enumerate((top / DATA.relative_to(TOP)).read_text().split("\n"), 1):
        if line and not line.startswith("#"):
            operator, dtypes, tests = line.split("\t")
            if operator in found:
                sys.exit(f"docs/data/operators.tsv:{number}: {operator} has a row already")
            found[operator] = dtypes, tests
    return found


def write(measured):
    """Writes docs/data/operators.tsv: the lines of its head, and a row for each operator of the list."""
    head = [line for line in DATA.read_text().split("\n") if line.startswith("#")]
    operators = sorted({split_name(row.name)[0] for row in named_rows()})
    DATA.write_text("\n".join(head + ["\t".join((operator, *measured.get(operator, ("", "")))) for operator in operators]) + "\n")
    print(f"{len(operators)} operators; {sum(not any(measured.get(one, ())) for one in operators)} of them in no case by name")


def retested():
    """Returns known() with the column "tests" measured anew."""
    tested, columns_of = cases_of_tests(), known()
    return {operator: (columns_of.get(operator, ("", ""))[0], ", ".join(sorted(tested.get(operator, ())))) for operator in set(tested) | set(columns_of)}


def measured(taper, folder):
    """Returns {operator: (dtypes, tests)}, as known() does, with both columns measured anew."""
    tested, dtypes = cases_of_tests(), dtypes_of_opinfo(taper, folder)
    order = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128")
    short = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "uint8": "u8",
             "complex64": "c64", "complex128": "c128", "int16": "i16", "int8": "i8"}
    return {operator: (" ".join(short.get(d, d) for d in order if d in dtypes.get(operator, ())), ", ".join(sorted(tested.get(operator, ()))))
            for operator in set(tested) | set(dtypes)}


def check(top=TOP):
    want, have = {split_name(row.name)[0] for row in named_rows(top)}, set(known(top))
    for operator in sorted(want ^ have):
        print(f"docs/data/operators.tsv: {operator} " + ("has no row; run scripts/supported_ops.py --tests" if operator in want else "is not in the list"))
    print(f"{len(want & have)} operators in the list and in docs/data/operators.tsv")
    return 1 if want != have else 0


# ---- the page

def page(top=TOP):
    operators, count, own = counts(top)
    backends, cases = columns(top), known(top)
    out = ["# Supported operators", "",
           f"The operator list has {operators:,} operators, {count:,} overloads. `scripts/supported_ops.py` makes this page from it. An operator with",
           f"overloads in several lists has a row in several tables. The list has {own} more rows, `taper::…`, which only Taper's own graphs contain.", "",
           "- *CPU*: every operator has a portable reference. \"own kernel\" marks overloads with vectorized, threaded kernels besides.",
           "- *Vulkan, Metal*: the GPU backends have a rule for the operator. A rule can decline a call; `taper inspect` says why.",
           "- *NNAPI*: the lowest level of Android's API that the rule uses.",
           "- *Quantized tensors*: the quantized tensors that the operator takes on the CPU.",
           "- *Dtypes*: samples of PyTorch's operator database (OpInfo) that contain the operator agree with PyTorch 1.13 in these dtypes. f32, i64,",
           "  bool, f16, bf16 and c64 were tried.",
           "- *Tested by*: OpInfo (`tests/ops/run_opinfo.py`) and the files `tests/ops/test_NAME.py`, which compare with PyTorch. Every row is also",
           "  called with wrong arguments (`tests/limits/op_arguments.c`).",
           "- `taper inspect MODEL` says if the operators of a model are supported. `taper ops MODEL` lists them.", "",
           "A cell that depends on the overload names the overloads.", ""]
    tables = collections.OrderedDict()
    for row in named_rows(top):
        operator, overload = split_name(row.name)
        tables.setdefault(family_of(row), collections.OrderedDict()).setdefault(operator, []).append((overload, row))
    titles = ["Operator", "Overloads", *(title for title, _ in backends), "Dtypes", "Tested by"]
    for family, found in tables.items():
        name = FAMILIES.get(family, family.replace("_", " "))
        out += [f"## {name[0].upper()}{name[1:]}", "", f"| {' | '.join(titles)} |", "|---" * len(titles) + "|"]
        for operator, overloads in found.items():
            dtypes, tests = cases.get(operator, ("", ""))
            cells = [operator, ", ".join(overload for overload, _ in overloads), *(cell([(o, text(row)) for o, row in overloads]) for _, text in backends),
                     dtypes, ", ".join(["OpInfo"] * bool(dtypes) + [tests] * bool(tests))]
            out.append(f"| {' | '.join(cells)} |")
        out.append("")
    return "\n".join(out)


def main():
    arguments = sys.argv[1:]
    if arguments == []:
        print(page(), end="")
    elif len(arguments) == 2 and arguments[0] == "--page":
        pathlib.Path(arguments[1]).write_text(page(), encoding="utf-8")
    elif len(arguments) == 3 and arguments[0] == "--measure":
        write(measured(*arguments[1:]))
    elif arguments == ["--tests"]:
        write(retested())
    elif arguments == ["--check"]:
        sys.exit(check())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
