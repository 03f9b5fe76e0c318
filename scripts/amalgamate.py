#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""amalgamate.py OUT: writes the library as one source, OUT/taper.c, and one header, OUT/taper.h. `cc -O2 -c taper.c` compiles it.

The source contains the complete CPU runtime: the readers of files, the optimizer, drafts, operators, and the kernels of every architecture, which the
compiler's own macros select. The source contains no GPU backend, and an inflate of its own. CMake configures OUT/cmake for such a library; the
folder's compile_commands.json lists the files and definitions.

Headers that several files include come first. After the headers, each source file is a part of the text. If a part declares a name outside
functions and another part or a header has the same name, the file's name is appended to it: `count` of budget.c becomes `count_in_budget`. Names
that macros paste together are renamed by a #define around the part. The macros of a part are undefined at its end."""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from amalgamation import c_text
from amalgamation.library import ARCHITECTURES, FLAG_MACROS, INCLUDE, ROOT, Library, preprocess

PUBLIC = ("taper", "taper_compile", "taper_app", "taper_device", "taper_inspect", "taper_memory", "taper_operator", "taper_archive", "taper_gradient")
OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DTAPER_PROFILE=full", "-DTAPER_BUILD_TOOLS=OFF", "-DTAPER_BUILD_TESTS=OFF", "-DTAPER_BUILD_BENCH=OFF",
           "-DTAPER_WITH_VULKAN=OFF", "-DTAPER_WITH_ZLIB=OFF", "-DTAPER_CCACHE=",
           "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
FEATURES = ("_GNU_SOURCE", "_DEFAULT_SOURCE", "_DARWIN_C_SOURCE")
STANDARD = ("assert", "ctype", "errno", "fenv", "float", "inttypes", "limits", "math", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio",
            "stdlib", "string", "time")
# For each instruction set, the header that a compiler has if it supports the set in a pragma.
INTRINSICS = {"avx2": "immintrin.h", "avx512": "avx512bwintrin.h", "avx512vnni": "avx512vnniintrin.h", "avx512bf16": "avx512bf16intrin.h",
              "amx": "amxtileintrin.h"}
# Headers of intrinsics, which are included before any name is declared.
INTRINSIC_HEADERS = {"defined(__x86_64__) || defined(__i386__)": "immintrin.h", "defined(__ARM_NEON)": "arm_neon.h",
                     "defined(__wasm_simd128__)": "wasm_simd128.h"}
HEAD = """/* SPDX-License-Identifier: BSD-2-Clause
 * Taper %s in one file, for the CPU. Compile it with a C11 compiler: cc -O2 -c taper.c
 * Add -fno-strict-aliasing if the compiler is clang, zig cc or another one that has no #pragma GCC optimize.
 * Link with -lpthread -lm, and -ldl where a system has that. The file is made by scripts/amalgamate.py; edit the sources, not this. */
"""
# The first two pragmas repeat CMake's flags: sums of products are not contracted, and memory may be read as another type. Since all code is in
# one file, gcc would make copies of functions for single callers. These copies, and passes whose gain is in hot loops, would take a seventh of
# gcc's time, so the pragmas disable them. The macro TAPER_FAST_BEGIN enables the passes again before files with hot loops: kernels, the files
# that CMake compiles with -O3, and TAPER_HOT_SOURCES of cmake/TaperOptimize.cmake.
HOT_PASSES = ("schedule-insns2", "thread-jumps", "tree-pre", "gcse", "code-hoisting", "tree-slp-vectorize", "tree-tail-merge", "ivopts")
FLAGS = """#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wignored-attributes"
#pragma clang diagnostic ignored "-Wunused-function"
#pragma clang diagnostic ignored "-Wpragma-clang-attribute"
#define TAPER_SMALL_BEGIN _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)")
#define TAPER_SMALL_END _Pragma("clang attribute pop")
#define TAPER_FAST_BEGIN
#define TAPER_FAST_END
#define TAPER_TARGET_END _Pragma("clang attribute pop")
#else
#pragma GCC optimize("-fno-strict-aliasing", "-ffp-contract=off", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-icf", "-fno-partial-inlining")
#pragma GCC optimize(COLD)
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define TAPER_SMALL_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(\\"Os\\")")
#define TAPER_SMALL_END _Pragma("GCC pop_options")
#define TAPER_FAST_BEGIN _Pragma("GCC push_options") _Pragma("GCC optimize(HOT)")
#define TAPER_FAST_END _Pragma("GCC pop_options")
#define TAPER_TARGET_END _Pragma("GCC pop_options")
#endif
""".replace("COLD", ", ".join(['"-fno-%s"' % name for name in HOT_PASSES] + ['"-fira-region=one"'])) \
   .replace("HOT", ", ".join(['\\"-f%s\\"' % name for name in HOT_PASSES] + ['\\"-fira-region=mixed\\"']))


def level(isa):
    """Returns the condition to compile the kernels of an instruction set. On x86 all are compiled, each with a pragma of its own, and selected at
    run time."""
    if isa.architecture not in ("x86", "x64"):
        conditions = [ARCHITECTURES[isa.architecture]] + ["defined(%s)" % FLAG_MACROS[flag] for flag in isa.flags]
        return "#if %s\n#define TAPER_BUILT_%s 1\n#endif\n" % (" && ".join(conditions), isa.key)
    names = ",".join(flag[len("-m"):] for flag in isa.flags)
    return ("#if %s\n#if __has_include(<%s>)\n#define TAPER_BUILT_%s 1\n#if defined(__clang__)\n"
            '#define TAPER_TARGET_%s _Pragma("clang attribute push(__attribute__((target(\\"%s\\"))), apply_to = function)")\n#else\n'
            '#define TAPER_TARGET_%s _Pragma("GCC push_options") _Pragma("GCC target(\\"%s\\")")\n#endif\n#endif\n#endif\n') % (
                ARCHITECTURES[isa.architecture], INTRINSICS[isa.key], isa.key, isa.key, names, isa.key, names)


class Amalgamation:
    def __init__(self, library):
        self.library = library
        self.users = collections.defaultdict(set) # {header: sources that include it}
        for _, source in library.parts:
            self.find_users(os.path.join(ROOT, source), source, set())
        self.shared = self.find_shared()
        self.emitted = set()

    def find_users(self, path, source, seen):
        for header in self.library.includes(path):
            if header not in seen:
                seen.add(header)
                self.users[header].add(source)
                self.find_users(header, source, seen)

    def find_shared(self):
        """Finds the headers that are put into the file once. All other headers are copied into each part that includes them: lists, templates,
        headers with one user, headers of kernels, which differ between instruction sets, and headers that declare a name of another header."""
        library = self.library
        kernels = {source for _, source in library.kernels}
        shared = {header for header, users in self.users.items()
                  if len(users) > 1 and not users <= kernels and (guarded(library.text(header)) or only_defines(library.text(header)))}
        owners = collections.defaultdict(set)
        for header in shared:
            parts = c_text.tokens(library.text(header))
            undefined = set(re.findall(r"^#undef (\w+)", library.text(header), re.M))
            for name in c_text.names(parts) | c_text.macros(parts, c_text.OBJECT_DEFINE) - undefined:
                if not name.startswith("taper_"): # names with this prefix may be declared in several headers
                    owners[name].add(header)
        shared -= {header for headers in owners.values() if len(headers) > 1 for header in headers}
        left = None
        while left != len(shared): # repeats until nothing changes: a header that includes a header outside `shared` leaves the set
            left = len(shared)
            shared = {header for header in shared
                      if not any(inner not in shared and len(self.users[inner]) > 1 and inner.endswith(".h") for inner in library.includes(header))}
        return shared

    def expand(self, path):
        """Returns the text of a file and of its headers that are not yet in the file."""
        out = []
        for kind, text in c_text.tokens(self.library.text(path)):
            m = INCLUDE.match(text) if kind == "line" else None
            header = self.library.find(m.group(2), path) if m else None
            if m and m.group(2).startswith("taper/") or re.match(r"#define (%s)\b" % "|".join(FEATURES), text):
                continue
            if m and m.group(1) == "<": # functions of the system keep their default visibility
                if m.group(2)[:-len(".h")] not in STANDARD:
                    out.append("#pragma GCC visibility push(default)\n%s\n#pragma GCC visibility pop\n" % text)
            elif not m or header is None:
                out.append(text)
            elif header not in self.shared or header not in self.emitted:
                if header in self.shared:
                    self.emitted.add(header)
                out.append(self.expand(header) + "\n")
        return "".join(out)

    def expand_shared(self):
        out = []

        def visit(path, seen):
            for header in self.library.includes(path):
                if header in self.shared and header not in self.emitted:
                    self.emitted.add(header)
                    out.append(self.expand(header))
                elif header not in self.shared and header not in seen:
                    seen.add(header)
                    visit(header, seen)

        for _, source in self.library.parts:
            visit(os.path.join(ROOT, source), set())
        return "\n".join(out)

    def write(self, out):
        library = self.library
        with open(os.path.join(out, "taper.h"), "w") as file:
            file.write(header := public_header())
        shared = self.expand_shared()
        bodies = [(key, source, c_text.tokens(self.expand(os.path.join(ROOT, source)))) for key, source in library.parts]
        prologue = self.prologue()
        declared = [c_text.names(parts) for _, _, parts in bodies]
        counts = collections.Counter(name for names in declared for name in names)
        words = set(re.findall(r"\w+", shared + header + system_text(library)))
        plain = "".join(text for kind, text in c_text.tokens(shared) if kind != "comment")
        tags = set(re.findall(r"\b(?:struct|union|enum) (\w+)", plain)) # a part may define a struct, union or enum that a header only declares
        clash = {name for name, count in counts.items() if (count > 1 or name in words) and name not in tags and not name.startswith("taper_")}
        made = self.made_names(prologue + shared, out)
        with open(os.path.join(out, "taper.c"), "w") as file:
            file.write(prologue + shared)
            for (key, source, parts), names in zip(bodies, declared):
                file.write(self.part(key, source, parts, names & clash, made[source]))
            file.write("\n#pragma GCC visibility pop\n")

    def made_names(self, shared, out):
        """Returns the names that macros create in more than one part, as {source: names}."""
        text = preprocess(["cc", "-I", out], "-", shared)
        of_headers = c_text.statics(text) | set(c_text.TAG.findall(text))
        made = collections.defaultdict(set)
        for name, sources in self.library.made_names().items():
            for source in sources if len(sources) > 1 and name not in of_headers else ():
                made[source].add(name)
        return made

    def part(self, key, source, parts, clash, made):
        text = "".join(text for _, text in parts)
        if not key: # names in the source's own text are left out of `made`: they are local, or were found in `clash`
            made = made - c_text.statics("".join(text for kind, text in parts if kind not in ("comment", "line")))
        new = {name: "%s_in_%s" % (name, os.path.basename(source)[:-len(".c")]) for name in clash | made}
        # If macros paste names, only the preprocessor can rename them. A #define would also rename members of structs,
        # so names of members are excluded.
        pastes = "##" in text
        code = "".join(text for kind, text in parts if kind != "comment") # a comment may have a name after a full stop
        whole = {name for name in new if pastes and not re.search(r"(\.|->)\s*%s\b" % name, code)}
        renamed = c_text.rename(parts, {name: text for name, text in new.items() if name not in whole})
        left = set(re.findall(r"\w+", renamed))
        pasted = sorted(name for name in new if name in whole or name not in left) if pastes or made else []
        around = []
        isa = next((isa for isa in self.library.isas if isa.key == key), None)
        if isa:
            around.append(("#if TAPER_BUILT_%s\n" % key, "#endif\n"))
            if isa.architecture in ("x86", "x64"): # clang's attribute does not define __FMA__ and __F16C__
                renamed = renamed.replace("__FMA__", "TAPER_FMA").replace("__F16C__", "TAPER_F16C")
                around.append(("TAPER_TARGET_%s\n#define TAPER_FMA\n#define TAPER_F16C\n" % key, "#undef TAPER_FMA\n#undef TAPER_F16C\nTAPER_TARGET_END\n"))
        if source in self.library.small:
            around.append(("TAPER_SMALL_BEGIN\n", "TAPER_SMALL_END\n"))
        if source in self.library.fast:
            around.append(("TAPER_FAST_BEGIN\n", "TAPER_FAST_END\n"))
        around.append(("".join("#define %s %s\n" % (name, new[name]) for name in pasted),
                       "".join("#undef %s\n" % name for name in sorted(c_text.macros(parts) | set(pasted)))))
        return "\n\n// ==== %s\n" % source + "".join(begin for begin, _ in around) + renamed + "\n" + "".join(end for _, end in reversed(around))

    def prologue(self):
        lines = [HEAD % version()] + ["#define %s 1\n" % name for name in FEATURES] + ["#define _FILE_OFFSET_BITS 64\n", FLAGS]
        lines += ["#define %s %s\n" % item for item in sorted(self.library.definitions.items())
                  if not item[0].startswith(("TAPER_BUILT_", "_")) and item[0] != "NDEBUG"]
        lines += [level(isa) for isa in self.library.isas]
        lines += ["#include <%s.h>\n" % name for name in STANDARD]
        lines += ["#if %s\n#include <%s>\n#endif\n" % item for item in INTRINSIC_HEADERS.items()]
        return "".join(lines) + '#include "taper.h"\n#pragma GCC visibility push(hidden)\n\n'


def guarded(text):
    return re.search(r"^#ifndef TAPER_\w+_H$", text, re.M) is not None


def only_defines(text):
    return all(line.startswith(("#define", "//")) or not line for line in text.splitlines())


def system_text(library):
    names = [name for name in library.system_headers() if os.path.exists(os.path.join("/usr/include", name))]
    return preprocess(["cc", "-D_GNU_SOURCE"], "-", "".join("#include <%s>\n" % name for name in names))


def public_header():
    out = []
    for name in PUBLIC:
        with open(os.path.join(ROOT, "include/taper", name + ".h")) as file:
            out.append(re.sub(r"#include <taper/[^>]+>[^\n]*\n", "", file.read()))
    return "\n".join(out)


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"^project\(taper VERSION ([\d.]+)", file.read(), re.M).group(1)


def main():
    parser = argparse.ArgumentParser(description="Writes the library as one C source and one header.")
    parser.add_argument("out", help="folder for taper.c, taper.h and the build folder cmake")
    out = os.path.abspath(parser.parse_args().out)
    build = os.path.join(out, "cmake")
    os.makedirs(out, exist_ok=True)
    # ./dev installs Ninja and not make. A folder that was configured before keeps its generator.
    generator = ["-G", "Ninja"] if shutil.which("ninja") and not os.path.exists(os.path.join(build, "CMakeCache.txt")) else []
    for command in (["cmake", "-S", ROOT, "-B", build, *generator, *OPTIONS], ["cmake", "--build", build, "--target", "taper_generated"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit("%s\namalgamate.py: %s failed" % (done.stdout, " ".join(command)))
    Amalgamation(Library(build)).write(out)
    for name in ("taper.c", "taper.h"):
        print("%s/%s: %d bytes" % (out, name, os.path.getsize(os.path.join(out, name))))


if __name__ == "__main__":
    main()
