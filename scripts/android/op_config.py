#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""op_config.py LIST.yaml [LIST.yaml …] >taper_ops.h: writes the header of a selective build (-DTAPER_OP_CONFIG) from operator lists of
torch.jit.export_opnames, which have lines `- aten::add.Tensor`. A list has less information than a model (`taper ops MODEL --config`). The
header therefore also has the operators of instructions, the replacements in upgraded files, and the kernels for each size of depthwise
convolutions. Operators that Taper does not have are an error, which names all of them."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import op_rows  # noqa: E402


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def rows():
    """Returns {name with overload: id} of Taper's operators."""
    found = {}
    for row, name in re.findall(r'^CLASS\(\s*(\w+),\s*"([^"(]+)', read("src", "ops", "list", "list_class.inc"), re.M):
        found[name] = row
    for row in op_rows.rows(ROOT):
        found[row.name] = row.id
    return found


def names_in(text):
    """Returns the items of a list, or the keys of PyTorch's selected_operators.yaml."""
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        match = re.fullmatch(r"""(?:-\s*)?["']?([A-Za-z_]\w*::[\w.]+)["']?\s*:?""", line)
        if match:
            yield match[1]
        elif line.startswith("- "):
            sys.exit("op_config.py: this is no operator: %s" % line)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    known, wanted = rows(), []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            wanted += names_in(file.read())
    if not wanted:
        sys.exit("op_config.py: no operators in %s" % ", ".join(sys.argv[1:]))
    missing = sorted({name for name in wanted if name not in known})
    if missing:
        sys.exit("op_config.py: Taper does not have\n  " + "\n  ".join(missing))
    ids = {known[name] for name in wanted}
    for name, overload in re.findall(r'\{TAPER_LITE_\w+, \{"([^"]+)", "([^"]*)"', read("src", "format", "bytecode_rows.c")):
        ids.add(known[name + "." + overload if overload else name])
    upgrades = re.findall(r'\{"([\w:.]+)\(", \d+, "(\w+)", "([\w:]+)"\}', read("src", "frontend", "upgrade.c"))
    for schema, overload, name in upgrades:
        if known[schema] in ids:
            ids |= {known["%s.%s" % (name, overload)], known["aten::is_floating_point"]}
    ids |= {row for name, row in known.items() if name.startswith("__torch__.")}
    if any("conv" in row for row in ids):
        ids |= {"dwconv_k3", "dwconv_k5", "dwconv_k7", "winograd_k3", "conv_planar"}
    if any("conv" in row or "linear" in row for row in ids):
        ids.add("few_outputs")
    print("// What %s needs, made by scripts/android/op_config.py." % ", ".join(os.path.basename(p) for p in sys.argv[1:]))
    for row in sorted(ids):
        print("#define TAPER_USE_%s 1" % row)


if __name__ == "__main__":
    main()
