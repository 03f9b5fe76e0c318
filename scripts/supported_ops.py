#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""docs/supported-ops.md, made from the operator list.

  supported_ops.py --check               every row of the list stands in the document and nothing else does
  supported_ops.py --rows                brings its rows up to date; what is known of dtypes and tests stays
  supported_ops.py --tests               scripts each case of tests/ops to see which operators it holds, and brings the column of the tests
                                         up to date. Needs python3-torch.
  supported_ops.py --write TAPER CASES   writes it anew; TAPER: the program; CASES: a folder of run_opinfo.py --cases, which is run."""
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

DOCUMENT = TOP / "docs/supported-ops.md"
ROOMS = {"container": "lists and dicts", "conv": "convolution", "create": "creation and random numbers",
         "elementwise": "elementwise", "fft": "Fourier transforms", "index": "indexing, sorting, searching", "linalg": "linear algebra",
         "linear": "products of matrices", "norm": "normalization, softmax, losses", "pool": "pooling and padding",
         "prepacked": "prepacked", "prim": "primitives", "quantized": "quantized", "recurrent": "recurrent layers",
         "caffe2": "Detectron2's mobile detectors", "class": "classes", "reduce": "reductions", "resize": "resizing", "scalar": "numbers", "string": "strings", "view": "views and copies",
         "vision": "torchvision"}

# Operators that the format has instructions for, so that a model does not name them.
INSTRUCTIONS = ("prim::TupleIndex", "prim::RaiseException", "prim::unchecked_unwrap_optional", "prim::Uninitialized", "prim::dtype", "prim::device",
                "prim::is_cuda", "prim::NumToTensor", "prim::tolist", "aten::__is__", "aten::__isnot__", "aten::__not__", "aten::warn", "aten::dim",
                "aten::format", "aten::len", "aten::size", "prim::EnumName", "prim::EnumValue")


def list_names(top=TOP):
    """{list: [NAME.OVERLOAD, …]}: every row of the operator list."""
    names = {}
    for row in op_rows.rows(top):
        names.setdefault(row.file.stem[len("list_"):], []).append(row.name)
    return names


def is_own(name):
    """Only graphs of Taper's own contain such an operator, no file names it."""
    return name.startswith("taper::")


def rows():
    """{list: {operator: [overload, …]}} in the order of the lists, and the names of the CPU backend's rows."""
    lists = {}
    for title, names in list_names().items():
        found = collections.OrderedDict()
        for name in names:
            operator, _, overload = name.partition(".")
            if not is_own(name):
                found.setdefault(operator, []).append(overload or "default")
        if found:
            lists[title] = found
    fast = set(re.findall(r"CPU\((\w+),", (TOP / "src/backends/cpu/cpu_list.inc").read_text()))
    return lists, fast


def counts(top=TOP):
    """(operators, overloads, own rows): names that files have, counted once each; their rows; the rows that only Taper's own
    graphs contain."""
    names = [name for found in list_names(top).values() for name in found]
    theirs = [name for name in names if not is_own(name)]
    return len({name.partition(".")[0] for name in theirs}), len(theirs), len(names) - len(theirs)


def row_id(operator, overload):
    return re.sub(r"\W", "_", operator.replace("::", "_")) + ("" if overload == "default" else "_" + overload)


def backends_of(operator, overloads, fast):
    return "reference, **cpu**" if any(row_id(operator, o) in fast for o in overloads) else "reference"


def cases_of_tests():
    """{operator: {test file}} of tests/ops."""
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
            # Operators that have their own instruction (prim::dtype) are in the graph only.
            graph = scripted.inlined_graph
            own = {kind for kind in INSTRUCTIONS if graph.findNode(kind)}
            for name in own | set(torch.jit.export_opnames(scripted)):
                tested[name.split(".")[0]].add(path.stem[len("test_"):])
    return tested


def dtypes_of_opinfo(taper, folder):
    """{operator: {dtype}} of OpInfo samples that agree; runs them."""
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


def known():
    """{operator: (dtypes, tests)} as the document has them."""
    if not DOCUMENT.exists():
        return {}
    found = re.findall(r"^\| (\w+::\w+) \| [^|]* \| [^|]* \| ([^|]*) \| ([^|]*) \|", DOCUMENT.read_text(), flags=re.M)
    return {operator: (kinds.strip(), by.strip()) for operator, kinds, by in found}


def retested():
    """known() with the files of tests/ops as they are now."""
    tested, columns = cases_of_tests(), known()
    return {operator: (kinds, ", ".join((["OpInfo"] if by.startswith("OpInfo") else []) + sorted(tested.get(operator, ()))))
            for operator, (kinds, by) in columns.items()}


def measured(taper, folder):
    """The same, from PyTorch."""
    tested, dtypes = cases_of_tests(), dtypes_of_opinfo(taper, folder)
    order = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64", "complex128")
    short = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "uint8": "u8",
             "complex64": "c64", "complex128": "c128", "int16": "i16", "int8": "i8"}
    return {operator: (" ".join(short.get(d, d) for d in order if d in dtypes.get(operator, ())),
                       ", ".join((["OpInfo"] if dtypes.get(operator) else []) + sorted(tested.get(operator, ()))))
            for operator in set(tested) | set(dtypes)}


def write(columns):
    lists, fast = rows()
    operators, count, own = counts()
    out = ["# Supported operators", "",
           f"Made by `scripts/supported_ops.py` from the operator list: {operators:,} operators, {count:,} overloads. An operator with overloads",
           f"in several lists stands in several tables. The list has {own} more rows, `taper::…`, which only Taper's own graphs contain.", "",
           "- *Backends*: every operator runs on the CPU by its portable reference; **cpu** marks those with vectorized, threaded versions.",
           "- *Dtypes*: those in which samples of PyTorch's operator database (OpInfo: f32, i64, bool, f16, bf16, c64) that hold the operator",
           "  agree with PyTorch 1.13. Operators without an entry there are tested by the cases of `tests/ops`, in the dtypes named in them.",
           "- *Tested by*: OpInfo (`tests/ops/run_opinfo.py`) and the files `tests/ops/test_NAME.py`, all against PyTorch; every row is also called",
           "  with wrong arguments (`tests/limits/op_arguments.c`).",
           "- `taper inspect MODEL` says whether a model's operators are all there; `taper ops MODEL` lists them.", ""]
    for name, found in lists.items():
        out += [f"## {ROOMS.get(name, name)[0].upper()}{ROOMS.get(name, name)[1:]}", "",
                "| Operator | Overloads | Backends | Dtypes | Tested by |", "|---|---|---|---|---|"]
        for operator, overloads in found.items():
            kinds, by = columns.get(operator, ("", ""))
            out.append(f"| {operator} | {', '.join(overloads)} | {backends_of(operator, overloads, fast)} | {kinds} | {by} |")
        out.append("")
    DOCUMENT.write_text("\n".join(out))
    untested = [o for found in lists.values() for o in found if not columns.get(o, ("", ""))[1]]
    print(f"{count} overloads; operators that no case holds by name: {len(untested)}")
    print("\n".join(untested))


def check():
    lists, fast = rows()
    want = {(operator, ", ".join(overloads), backends_of(operator, overloads, fast))
            for found in lists.values() for operator, overloads in found.items()}
    have = set(re.findall(r"^\| ([\w]+::\w+) \| ([^|]*) \| ([^|]*) \|", DOCUMENT.read_text(), flags=re.M))
    for row in sorted(want ^ have):
        operator, overloads, backends = row
        print(f"{operator} ({overloads}; {backends}): {'not in' if row in want else 'only in'} docs/supported-ops.md;"
              " run scripts/supported_ops.py --rows")
    print(f"{len(want & have)} rows of tables in both")
    return 1 if want != have else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--write":
        write(measured(sys.argv[2], sys.argv[3]))
    elif sys.argv[1:] == ["--rows"]:
        write(known())
    elif sys.argv[1:] == ["--tests"]:
        write(retested())
    elif sys.argv[1:] == ["--check"]:
        sys.exit(check())
    else:
        sys.exit(__doc__)
