#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Build lists are explicit, so a file that no list names is neither built nor tested. This check finds such files: sources, C tests,
operator cases, recordings, pages, shaders, classes. It also finds globs that are read again at every build."""
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parent.parent
# (files that must be named, the files that name them, the form of the name: base name, stem or path)
LISTED = [
    ("src/**/*.c", "src/**/*.cmake", "path"), ("src/**/*.m", "src/**/*.cmake", "path"),
    ("src/backends/gpu/shaders/*.comp", "src/backends/gpu/gpu_kernels.inc", "stem"),
    ("src/backends/gpu/shaders/*.glsl", "src/backends/gpu/sources.cmake", "name"),
    ("src/ops/list/list_*.inc", "src/**/*.[hc]", "name"),
    ("tests/unit/*_test.c", "tests/CMakeLists.txt", "stem"), ("tests/api/*_test.c", "tests/CMakeLists.txt", "stem"),
    ("tests/limits/*_test.c", "tests/CMakeLists.txt", "stem"), ("tests/data/recorded/*.rec", "tests/CMakeLists.txt", "stem"),
    ("tests/ops/test_*.py", "tests/models/models.cmake", "family"), ("tests/models/test_*.py", "tests/models/models.cmake", "name"),
    ("tests/tools/*_test.py", "tests/*/CMakeLists.txt", "stem"), ("tests/python/*_test.py", "tests/python/CMakeLists.txt", "python"),
    ("tests/android/*.java", "tests/android/CMakeLists.txt", "name"), ("tests/fuzz/fuzz_*.c", "tests/fuzz/CMakeLists.txt", "target"),
    ("tests/kernels/*_check.c", "tests/kernels/CMakeLists.txt", "name"), ("tests/gpu/*_test.c", "tests/**/*.cmake", "stem"),
    ("bindings/android/java/**/*.java", "bindings/android/CMakeLists.txt", "name"),
    ("bindings/android/stubs/**/*.java", "bindings/android/CMakeLists.txt", "name"),
    ("bindings/python/taper/*.py*", "bindings/python/CMakeLists.txt", "name"), ("bindings/wasm/package/*.js", "bindings/wasm/CMakeLists.txt", "name"),
    ("examples/*.c", "examples/CMakeLists.txt", "name"), ("examples/*.c", "tests/tools/CMakeLists.txt", "stem"),
    ("*.md", "tests/docs/CMakeLists.txt", "path"), ("docs/*.md", "tests/docs/CMakeLists.txt", "path"),
    ("docs/tutorials/*.md", "tests/docs/CMakeLists.txt", "path"), ("scripts/check_*.py", "tests/**/CMakeLists.txt", "name"),
]
# Files that need not be in a build list: the kernels, which cmake/TaperIsa.cmake finds by the rows of their own lists, programs that run during the
# build, and a header for a build's own compiler.
ELSEWHERE = re.compile(r"src/ops/kernels/(scalar|x86|x64|arm|arm32|wasm)/|/make_\w+\.c$|src/compiler_hook\.h")


def word(path, how):
    stem = path.stem
    return {"path": str(path.relative_to(top)), "name": path.name, "stem": stem, "family": stem[len("test_"):],
            "python": stem[:-len("_test")], "target": stem[len("fuzz_"):]}[how]


def main():
    bad, count = [], 0
    for pattern, lists, how in LISTED:
        named = set(re.findall(r"[\w./+-]+", "\n".join(p.read_text() for p in sorted(top.glob(lists)))))
        if how != "path":
            named |= {name.rsplit("/", 1)[-1] for name in named}
            named |= {name.rsplit(".", 1)[0] for name in named}
        found = sorted(top.glob(pattern))
        if not found:
            bad.append(f"scripts/check_lists.py: nothing is {pattern} any more")
        for path in found:
            count += 1
            if not ELSEWHERE.search(str(path.relative_to(top))) and word(path, how) not in named:
                bad.append(f"{path.relative_to(top)}: {lists} does not name {word(path, how)}: it is neither built nor tested")
    for path in sorted([*top.glob("**/CMakeLists.txt"), *top.glob("**/*.cmake")]):
        where = str(path.relative_to(top))
        if where.startswith("build"):
            continue
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if re.search(r"file\(GLOB.*CONFIGURE_DEPENDS", line):
                bad.append(f"{where}:{number}: a glob that every build reads again; write the list out")
    print("\n".join(bad) if bad else f"lists: {count} files are named")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
