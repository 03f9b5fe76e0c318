# SPDX-License-Identifier: BSD-2-Clause
"""mentions_test.py SOURCE: checks that scripts/check_mentions.py accepts a small tree, and names each thing that a page mentions and the
tree lacks."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
FILES = {
    "dev": "usage() {\n    cat <<'END'\nusage: ./dev VERB\n\n  build [--fast]    builds\n                    all; --slow too\n  docs              pages\nEND\n}\n",
    "CMakeLists.txt": 'option(TAPER_WITH_GPU "GPUs" ON)\nset(TAPER_PAGES "" CACHE STRING "")\nadd_executable(taper_show show.c)\n'
                      "set(made ${TAPER_GENERATED}/ops/rows.h ${CMAKE_INSTALL_INCLUDEDIR}/taper-more)\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "release"}]}\n',
    "tests/CMakeLists.txt": "add_test(NAME rows COMMAND x)\nforeach(room IN ITEMS base gpu)\nadd_test(NAME unit_${room} COMMAND y)\n"
                            "endforeach()\nadd_test(NAME fuzz_${name}_corpus COMMAND z)\n",
    "tests/tests.tsv": "rows\tquick\t\ta row\nunit_*\tquick\t\ta unit\nfuzz_*\tquick\t\ta file\n",
    "tests/docs/foreign_names.txt": "# others\nEValue --theirs app/build.gradle\n",
    "src/base/text.c": "int taper_text_length(void);\nenum { TAPER_OP_OUT_CAST };\n",
    "src/base/list_text.inc": "",
    "src/ops/nn/conv_cpu.c": 'void taper_pass_fold(void); // {"print_output", 1}, "--device" vulkan\n',
    "scripts/size.sh": "case $1 in --all) ;; esac\n",
    "docs/inside/others.md": "# Page\n\n`EValue`, `--theirs`, `app/build.gradle`\n",
    "docs/page.md": "",
    **{f"{folder}/README.md": "# Page\n" for folder in ("docs/inside", "docs/tutorials", "packaging", "examples/demo")},
}
RIGHT = ["`src/base/text.c`, `base/text.c`, `text.c`, `src/ops/`, `nn/`, `docs/page.md` and `inside/README.md` exist",
         "`src/base/list_*.inc`, `src/ops/{nn,nn}/conv_cpu.c`, `base/list_NAME.inc` and `ops/nn/FAMILY_cpu.c` are patterns",
         "`build/bin/taper_show` is built, `ops/rows.h` is made and `include/taper-more` installed", "`app/build.gradle` is the reader's", "In src/base/text.c, a table: | src/ops/nn/ |, and [this](src/none.c)",
         "`taper_text_length`, `taper_pass_PASS`, `TAPER_OP_OUT_`, `_length`, `taper_…` and `EValue` are names", "`.ptl` files, `//` and `a/b - c`",
         "the test `rows`, the tests `unit_base` and `unit_gpu`, and `fuzz_NAME_corpus`", "Tests: `rows`, `unit_ROOM`.",
         "`./dev build --fast`, `./dev build --slow` and `./dev docs`", "`scripts/size.sh --all`", "`--device vulkan`, `--print_output`, `--theirs`",
         "`-DTAPER_WITH_GPU=ON`, `-DTAPER_PAGES=3`", "<!-- not run: long -->\n```sh\ncmake --preset release && ./dev build --fast # all\n```"]
WRONG = [("`src/base/texts.c`", "`src/base/texts.c` does not exist"), ("`base/texts.c`", "`base/texts.c` does not exist"),
         ("See src/base/texts.c.", "`src/base/texts.c` does not exist"), ("`text.h`", "`text.h` does not exist"), ("`src/op/`", "`src/op/` does not exist"), ("`src/base/row_*.inc`", "`src/base/row_*.inc` does not exist"),
         ("`ops/{nn,base}/conv_cpu.c`", "`ops/{nn,base}/conv_cpu.c` does not exist"), ("`build/bin/taper_shows`", "`build/bin/taper_shows` does not exist"),
         ("`taper_text_size`", "`taper_text_size`: taper_text_size is not in the tree"), ("`TAPER_OP_IN_`", "`TAPER_OP_IN_`: TAPER_OP_IN_ is not in the tree"),
         ("`taper_step_PASS`", "`taper_step_PASS`: taper_step_* is not in the tree"), ("the test `row`", "`row` is not a test"),
         ("the tests `rows` and `unit_gpus`", "`unit_gpus` is not a test"), ("Tests: `rows`, `units_ROOM`.", "`units_ROOM` is not a test"),
         ("`./dev builds`", "`./dev builds`: ./dev has no verb builds"), ("`./dev docs --fast`", "`./dev docs --fast`: ./dev docs has no option --fast"),
         ("`scripts/size.sh --none`", "`scripts/size.sh --none`: scripts/size.sh has no option --none"),
         ("`scripts/sizes.sh --all`", "`scripts/sizes.sh --all`: scripts/sizes.sh does not exist"), ("`--devices`", "`--devices`: nothing has the option --devices"),
         ("`-DTAPER_WITH_CPU=ON`", "`-DTAPER_WITH_CPU=ON`: the build has no option TAPER_WITH_CPU"),
         ("<!-- not run: long -->\n```sh\ncmake --preset fast\n```", "`cmake --preset fast`: there is no preset fast"),
         ("<!-- not run: long -->\n```sh\nscripts/sizes.sh\n```", "`scripts/sizes.sh`: scripts/sizes.sh does not exist")]

passed = failed = 0


def check(text, wanted):
    """Returns the findings in a page with this text, without page and line."""
    global passed, failed
    (TREE / "docs/page.md").write_text(f"# Page\n\n{text}\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(TREE / "scripts/check_mentions.py")], capture_output=True, text=True)
    said = [line.partition(": ")[2] for line in done.stdout.split("\n")[:-2]]
    right = bool(said) == bool(wanted) and (wanted is None or wanted in said) and done.returncode == bool(wanted) and not done.stderr
    passed, failed = passed + right, failed + (not right)
    if not right:
        print(f"FAILED {text}: {said} {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    TREE = pathlib.Path(folder)
    for name, content in FILES.items():
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        (TREE / name).write_text(content, encoding="utf-8")
    shutil.copy(SOURCE / "tests/docs/pages.py", TREE / "tests/docs/pages.py")
    shutil.copy(SOURCE / "scripts/check_mentions.py", TREE / "scripts/check_mentions.py")
    for text in RIGHT:
        check(text, None)
    for text, problem in WRONG:
        check(text, problem)
    (TREE / "docs/inside/others.md").write_text("# Page\n\n`EValue`, `--theirs`\n", encoding="utf-8")
    check("Nothing.", "no page mentions app/build.gradle")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
