# SPDX-License-Identifier: BSD-2-Clause
"""rooms_test.py SOURCE: checks that scripts/check_rooms.py accepts a small tree, and names each folder that the drawing of a changed tree lacks or
has in excess."""
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.abspath(sys.argv[1]), "scripts", "check_rooms.py")
FILES = {
    "src/base/text.c": "int taper_text_length(void);\n",
    "src/ops/list.h": "",
    "src/ops/kernels/arm/add.c": "",
    "src/ops/kernels/x86/add.h": "",
    "src/lean/ops/list.h": "",
    "src/empty/README.md": "",
    "docs/architecture.md": "# Page\n\n```text\n  base/ (text)   ops/ ops/kernels/{arm,x86}/   lean/\n```\n",
}

passed = failed = 0


def check(what, changes, wanted):
    """changes: {file: its new text}; the text None removes the file."""
    global passed, failed
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**FILES, **changes}.items():
            if text is not None:
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, "--top", folder], capture_output=True, text=True)
    said = done.stdout.split("\n")[:-2]
    right = said == ([wanted] if wanted else []) and done.returncode == bool(wanted)
    passed, failed = passed + right, failed + (not right)
    if not right:
        print(f"FAILED {what}: {done.stdout}{done.stderr}")


drawing = FILES["docs/architecture.md"]
check("a tree that is right", {}, None)
check("a new folder", {"src/ir/graph.h": ""}, "docs/architecture.md: the drawing lacks src/ir/")
check("a folder within a folder", {"src/ops/nn/conv.c": ""}, "docs/architecture.md: the drawing lacks src/ops/nn/")
check("a folder in braces", {"src/ops/kernels/wasm/add.c": ""}, "docs/architecture.md: the drawing lacks src/ops/kernels/wasm/")
check("a folder that has gone", {"src/base/text.c": None},
      "docs/architecture.md: the drawing has src/base/, which does not exist")
check("a folder within lean", {"src/lean/base/text.h": ""}, None)
check("a folder that is drawn too much", {"docs/architecture.md": drawing.replace("lean/", "lean/ one/")},
      "docs/architecture.md: the drawing has src/one/, which does not exist")
check("no drawing", {"docs/architecture.md": drawing.replace("text\n", "sh\n"), "src/ops/list.h": None, "src/ops/kernels/arm/add.c": None,
                     "src/ops/kernels/x86/add.h": None, "src/lean/ops/list.h": None}, "docs/architecture.md: the drawing lacks src/base/")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
