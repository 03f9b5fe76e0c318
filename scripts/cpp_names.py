#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reports how much of libtorch's public C++ interface the C++ binding has. The names come from the headers of Debian's libtorch-dev, as clang
reads them; names of training, CUDA and internals are left out by the rules of tests/cpp/names_left_out.txt. The binding has a name if a program
that uses the name compiles with Taper's headers. If such a program cannot be written (for a member template), the headers must declare the name
with the same number of parameters.

    scripts/cpp_names.py build [--missing [GROUP]] [--record] [--check]

prints the shares of the groups, and with --missing the missing names. --check compares the shares with tests/cpp/names_share.txt, --record writes
them there."""
import argparse
import collections
import fnmatch
import pathlib
import re
import shutil
import sys

import cpp_ast
import cpp_probes

TOP = pathlib.Path(__file__).resolve().parent.parent
TABLES = TOP / "tests" / "cpp"
TORCH = pathlib.Path("/usr/include")
API = TORCH / "torch/csrc/api/include"
ROOTS = tuple(f"{TORCH}/{d}/" for d in ("torch", "ATen", "c10", "caffe2"))
# A name belongs to the group of the first row that fits its qualified name or the path of its header.
GROUPS = [
    ("nn::functional", "torch::nn::functional::*", None), ("nn modules", "torch::nn::*", None), ("serialize", "torch::serialize::*", None),
    ("serialize", None, "torch/csrc/api/include/torch/serialize*"), ("serialize", None, "torch/csrc/jit/serialization/pickle.h"),
    ("IValue", None, "ATen/core/[ijqt]*val*"), ("IValue", None, "ATen/core/jit_type*"), ("IValue", None, "ATen/core/function_schema*"),
    ("IValue", None, "ATen/core/List*"), ("IValue", None, "ATen/core/Dict*"), ("IValue", None, "ATen/core/stack.h"),
    ("IValue", None, "ATen/core/type_ptr.h"), ("IValue", None, "ATen/core/qualified_name.h"), ("IValue", None, "ATen/core/function.h"),
    ("jit", "torch::jit::*", None), ("jit", None, "torch/custom_class.h"), ("jit", None, "torch/library.h"), ("jit", None, "ATen/core/custom_class.h"),
    ("jit", None, "ATen/core/op*"), ("jit", None, "ATen/core/dispatch/*"), ("jit", None, "caffe2/*"),
    ("Tensor", "at::Tensor::*", None), ("Tensor", "at::TensorBase*", None), ("Tensor", "at::Tensor", None), ("Tensor", None, "ATen/core/Tensor*"),
    ("Tensor", None, "ATen/TensorOperators.h"), ("Tensor", None, "ATen/TensorIndexing.h"),
    ("c10", "c10::*", None), ("c10", "caffe2::*", None), ("at", "*", None)]
Item = collections.namedtuple("Item", "group text name")


def rows(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]


def qualified(name):
    return "::".join((*name.scope, name.name))


def relative(name):
    return re.sub(r"^(/usr/include|.*/bindings/cpp/include|.*/made)/", "", name.file)


def described(name):
    """Returns the name as the report prints it, with the types of the parameters."""
    if name.kind in ("function", "method", "constructor"):
        return f"{qualified(name)}({', '.join(t for t, _ in name.parameters)}){' const' if 'const' in name.const else ''}"
    return qualified(name)


class Rules:
    """Returns the rules of names_left_out.txt, with one regular expression for each run of rules of one kind."""

    def __init__(self):
        self.all = [(kind, re.compile(fnmatch.translate(pattern))) for kind, pattern, _ in rows(TABLES / "names_left_out.txt")]

    def leave_out(self, name):
        path, file = qualified(name), relative(name)
        types = [t for t, _ in name.parameters]
        for kind, pattern in self.all:
            if kind == "type" and any(pattern.match(t) for t in types):
                return True
            if kind in ("file", "keepfile") and pattern.match(file) or kind in ("keep", "out") and pattern.match(path):
                return not kind.startswith("keep")
        return False

    def header(self, path):
        """Returns true if the rules leave out the names of a whole header."""
        for kind, pattern in self.all:
            if kind in ("file", "keepfile") and (pattern.match(path) or pattern.match("torch/csrc/api/include/" + path)):
                return kind == "file"
        return False


def group_of(name, generated):
    path, file = qualified(name), relative(name)
    if name.name in generated and (name.scope == ("at", "Tensor") or name.scope == ("at",) or file.endswith("variable_factories.h")):
        return "operators"
    for group, by_name, by_file in GROUPS:
        if (by_name and fnmatch.fnmatchcase(path, by_name)) or (by_file and fnmatch.fnmatchcase(file, by_file)):
            return group
    return "at"


def inherited(found, rules):
    """Adds to each class the public members of its internal template bases. An example is ConvNdImpl, the base of Conv2dImpl: programs only know
    its members by the names of the derived classes."""
    members = collections.defaultdict(list)
    templates = {}
    for name in found.names:
        if len(name.scope) > name.space:
            members["::".join(name.scope)].append(name)
            templates["::".join(name.scope)] = name.outer
    added = []
    for record in sorted(found.bases):
        waiting, seen = list(found.bases[record]), set()
        while waiting:
            base = waiting.pop()
            path, arguments = re.match(r"([\w:]+)(?:<(.*)>)?$", base, re.S).groups() if re.match(r"([\w:]+)(?:<(.*)>)?$", base, re.S) else ("", "")
            if not arguments or not path.startswith("torch::nn") or path in seen or templates.get(record) or path == "torch::nn::ModuleHolder":
                continue
            seen.add(path)
            values = re.split(r", (?![^<]*>)", arguments)
            names = [n for _, n in templates.get(path, [])]
            change = {n: v for n, v in zip(names, values) if n}

            def put(text, change=change):
                return re.sub(r"\b(" + "|".join(map(re.escape, change)) + r")\b", lambda m: change[m.group(1)], text) if change else text
            own = {n.name for n in members[record]}
            scope = tuple(record.split("::"))
            for name in members[path]:
                if name.kind != "constructor" and name.name not in own:
                    added.append(name._replace(scope=scope, space=len(scope) - 1, outer=[], parameters=[(put(t), d) for t, d in name.parameters]))
            waiting += [put(b) for b in found.bases.get(path, [])]
    return added


def listed(found, rules):
    """Returns the public names, without repetitions."""
    generated = {n.scope[2] for n in found.names if n.scope[:2] == ("at", "_ops") and len(n.scope) == 3}
    generated = {re.sub(r"(?<=\w)_(?:[A-Z]\w*|out|self|dim\w*)$", "", g) for g in generated} | generated
    functions = {n.name for n in found.names if relative(n).startswith("ATen/ops/") and n.kind == "function"}
    generated = (generated | functions) & ({n.name for n in found.names if n.scope == ("at", "Tensor")} | functions)
    items, seen = [], set()
    for name in found.names + inherited(found, rules):
        if not rules.leave_out(name) and not (name.kind == "constructor" and "::".join(name.scope) in found.abstract):
            text = described(name)
            if text not in seen:
                seen.add(text)
                items.append(Item(group_of(name, generated), text, name))
    return items


def declared(found):
    """Returns the numbers of parameters of each name: {name: [(required, all)]}."""
    counts = collections.defaultdict(list)
    for name in found.names:
        total = len(name.parameters)
        variadic = any("..." in t for t, _ in name.parameters)
        counts[qualified(name)].append((sum(not d and "..." not in t for t, d in name.parameters), 99 if variadic else total))
    return counts


def looked_up(name, counts):
    wanted = sum(not d and "..." not in t for t, d in name.parameters)
    scopes = [name.scope] + ([("at",), ("c10",)] if len(name.scope) == name.space == 1 else [])
    return any(low <= wanted <= high for s in scopes for low, high in counts.get("::".join((*s, name.name)), []))


def unit_of(headers):
    # Some headers of libtorch compile only after torch.h and script.h.
    headers = ["torch/torch.h", "torch/script.h", *headers]
    return "".join(f"#if __has_include(<{h}>)\n#include <{h}>\n#endif\n" for h in headers)


def measure(args):
    rules = Rules()
    headers = [r[0] for r in rows(TABLES / "names_headers.txt")]
    theirs_flags = ["-std=c++17", f"-I{API}"]
    ours_flags = ["-std=c++17", f"-I{TOP}/bindings/cpp/include", f"-I{args.build}/bindings/cpp/made", f"-I{TOP}/include"]
    read = [h for h in headers if not rules.header(h)]
    theirs_unit = unit_of([h for h in read if (TORCH / h).exists() or (API / h).exists()])
    ours_unit = unit_of([h for h in read if (TOP / "bindings/cpp/include" / h).exists()])
    theirs = cpp_ast.read([args.clang, *theirs_flags, "-x", "c++", "-"], ROOTS, theirs_unit)
    items = listed(theirs, rules)
    ours = cpp_ast.read([args.clang, *ours_flags, "-x", "c++", "-"], (str(TOP / "bindings"), str(args.build)), ours_unit)
    counts = declared(ours)
    probes = [(i.name.scope[:i.name.space], cpp_probes.probe(i.name)) for i in items]
    tried = [(n, p) for n, p in enumerate(probes) if p[1] is not None]
    # A probe that does not compile with libtorch itself says nothing about Taper.
    wrong = {tried[n][0] for n in cpp_probes.failing(args.clang, theirs_flags, theirs_unit, [p for _, p in tried])}
    tried = [(n, p) for n, p in tried if n not in wrong]
    missing = {tried[n][0] for n in cpp_probes.failing(args.clang, ours_flags, ours_unit, [p for _, p in tried])}
    real = {n for n, _ in tried}
    for n, item in enumerate(items):
        if n not in real and not looked_up(item.name, counts):
            missing.add(n)
    present = [Item("headers", h, None) for h in headers]
    lost = {len(items) + n for n, h in enumerate(headers) if not (TOP / "bindings/cpp/include" / h).exists()}
    return items + present, missing | lost, len(real)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--clang", default="clang++")
    parser.add_argument("--missing", nargs="?", const="*", help="print the missing names of the group, or of all groups")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    args.build = args.build.resolve()
    if shutil.which(args.clang) is None:
        print(f"SKIPPED: {args.clang} is not installed")
        sys.exit(77)
    if not (API / "torch/torch.h").exists():
        print("SKIPPED: Debian's libtorch-dev is not installed")
        sys.exit(77)
    items, missing, compiled = measure(args)
    total, found = collections.Counter(), collections.Counter()
    for number, item in enumerate(items):
        total[item.group] += 1
        found[item.group] += number not in missing
    for number, item in enumerate(items):
        if args.missing and number in missing and fnmatch.fnmatchcase(item.group, args.missing):
            print(f"{item.group}\t{item.text}")
    print(f"{'group':16} found / listed   per cent")
    for group in sorted(total):
        print(f"{group:16} {found[group]:5} / {total[group]:6} {100 * found[group] / total[group]:9.1f}")
    print(f"{compiled} of the names were compiled, the others looked up")
    share = TABLES / "names_share.txt"
    if args.record:
        share.write_text("# The shares that scripts/cpp_names.py --record wrote: group, names found, names listed.\n" +
                         "".join(f"{g}\t{found[g]}\t{total[g]}\n" for g in sorted(total)))
    if args.check:
        check(share, total, found)


def check(share, total, found):
    failed = 0
    for group, had, out_of in rows(share):
        if total[group] != int(out_of):
            print(f"FAILED: {group} has {total[group]} names, not {out_of}. Give the new names rules in names_left_out.txt, or record them with --record")
            failed += 1
        if found[group] < int(had):
            print(f"FAILED: {group} has only {found[group]} of the {had} names that it had. --missing {group!r} lists them")
            failed += 1
    print(f"{len(total) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
