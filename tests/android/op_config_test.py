#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""op_config_test.py TAPER MODEL.ptl …: checks the header that scripts/android/op_config.py makes from a model's operator list. The header must
have everything that `taper ops --config` finds in the model. Unknown operators, and files that are not lists, must be refused."""
import os
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "android", "op_config.py")
taper, models = sys.argv[1], sys.argv[2:]
passed = failed = 0


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("FAILED  " + what)


def config(text, folder):
    path = os.path.join(folder, "list.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=False)


def defines(text):
    return {line for line in text.splitlines() if line.startswith("#define")}


with tempfile.TemporaryDirectory() as scratch:
    for model in models:
        names = subprocess.run([taper, "ops", model], capture_output=True, text=True, check=True).stdout.split()
        exact = subprocess.run([taper, "ops", model, "--config"], capture_output=True, text=True, check=True).stdout
        made = config("".join("- %s\n" % n for n in names), scratch)
        check(made.returncode == 0 and names, "%s: %s" % (model, made.stderr))
        lacks = defines(exact) - defines(made.stdout)
        check(not lacks, "%s: %s" % (model, sorted(lacks)))
    selected = config("operators:\n  aten::add.Tensor:\n    is_root_operator: true\n", scratch)
    check("#define TAPER_USE_aten_add_Tensor 1" in selected.stdout, "keys of a selected_operators.yaml")
    unknown = config("- aten::add.Tensor\n- mine::one\n- mine::two\n", scratch)
    check(unknown.returncode != 0 and "mine::one" in unknown.stderr and "mine::two" in unknown.stderr, "unknown operators")
    for text in ("", "- some words\n"):
        check(config(text, scratch).returncode != 0, "a list of %r" % text)
    old = config("- aten::div.Tensor\n", scratch)
    check("#define TAPER_USE_aten_div_Tensor_mode 1" in old.stdout, "what older files are upgraded to")
print("%d passed, %d failed" % (passed, failed))
sys.exit(failed != 0)
