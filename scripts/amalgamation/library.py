# SPDX-License-Identifier: BSD-2-Clause
"""The files of the library as a build folder describes them: sources, include paths, definitions, and the kernels of all architectures."""
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import tempfile

from amalgamation import c_text

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]')
# The macro that a compiler defines for each flag of src/platform/isa_list.inc.
FLAG_MACROS = {
    "-mavx2": "__AVX2__", "-mfma": "__FMA__", "-mf16c": "__F16C__", "-mavx512f": "__AVX512F__", "-mavx512bw": "__AVX512BW__",
    "-mavx512dq": "__AVX512DQ__", "-mavx512vl": "__AVX512VL__", "-mavx512vnni": "__AVX512VNNI__", "-mavx512bf16": "__AVX512BF16__",
    "-mamx-tile": "__AMX_TILE__", "-mamx-int8": "__AMX_INT8__", "-mamx-bf16": "__AMX_BF16__",
    "-march=armv8.2-a+dotprod": "__ARM_FEATURE_DOTPROD", "-march=armv8.2-a+fp16": "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC",
    "-march=armv8.2-a+i8mm": "__ARM_FEATURE_MATMUL_INT8", "-march=armv8.2-a+bf16": "__ARM_FEATURE_BF16_VECTOR_ARITHMETIC",
    "-mfpu=neon": "__ARM_NEON", "-msimd128": "__wasm_simd128__"}
# ARCHITECTURES has the condition that is true if the compiler's target is the architecture. PREPROCESSOR has the macros
# that make this condition true.
ARCHITECTURES = {
    "any": "1", "x86": "(defined(__x86_64__) || defined(__i386__))", "x64": "defined(__x86_64__)", "arm": "defined(__aarch64__)",
    "arm32": "(defined(__arm__) && !defined(__aarch64__))", "wasm": "defined(__wasm__)"}
PREPROCESSOR = {"x86": ["__x86_64__"], "x64": ["__x86_64__"], "arm": ["__aarch64__", "__ARM_NEON"], "arm32": ["__arm__"], "wasm": ["__wasm__"]}

Isa = collections.namedtuple("Isa", "key architecture flags")


class Library:
    def __init__(self, build):
        with open(os.path.join(build, "compile_commands.json")) as file:
            self.commands = {os.path.relpath(c["file"], ROOT): c["command"].split() for c in json.load(file)}
        self.roots, self.definitions, self.small, self.fast = [], {}, set(), set()
        for source, words in self.commands.items():
            for word in words:
                if word.startswith("-I") and word[2:] not in self.roots:
                    self.roots.append(word[2:])
                elif word.startswith("-D"):
                    name, _, value = word[2:].partition("=")
                    self.definitions.setdefault(name, value or "1")
            level = [w for w in words if re.match(r"-O[s\d]$", w)][-1]
            if level in ("-Os", "-O3"):
                (self.small if level == "-Os" else self.fast).add(source)
        self.isas = _read_isas()
        self.kernels = _read_kernels()
        own = {source for _, source in self.kernels}
        self.fast |= own | _read_hot()
        # (instruction set or None, source), in the order in which the amalgamated file contains them
        self.parts = [(None, source) for source in self.commands if source not in own] + self.kernels
        self._texts, self._includes = {}, {}

    def text(self, path):
        if path not in self._texts:
            with open(path) as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def find(self, name, beside):
        for folder in [os.path.dirname(beside)] + self.roots:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return os.path.realpath(path)
        return None

    def includes(self, path):
        """Returns the project's headers that a file includes."""
        if path not in self._includes:
            lines = [INCLUDE.match(line) for line in re.findall(r"^[ \t]*#[ \t]*include.*$", self.text(path), re.M)]
            found = [self.find(m.group(2), path) for m in lines if m and m.group(1) == '"']
            self._includes[path] = [header for header in found if header]
        return self._includes[path]

    def system_headers(self):
        """Returns the system headers that the files read so far include."""
        return sorted({name for text in self._texts.values() for name in re.findall(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", text, re.M)})

    def made_names(self):
        """Returns {name: sources} of static names that macros make. Kernels of other architectures are preprocessed as well, without the headers
        that they include."""
        isas = {isa.key: isa for isa in self.isas}
        owners = collections.defaultdict(set)
        with tempfile.TemporaryDirectory() as empty, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name in self.system_headers():
                os.makedirs(os.path.dirname(os.path.join(empty, name)), exist_ok=True)
                open(os.path.join(empty, name), "w").close()

            def read(part):
                key, source = part
                if source in self.commands:
                    words = self.commands[source]
                    command = words[:words.index("-o")]
                else:
                    macros = PREPROCESSOR[isas[key].architecture] + [FLAG_MACROS[flag] for flag in isas[key].flags]
                    command = ["cc", "-U__x86_64__", "-U__i386__", "-nostdinc", "-I" + empty] + ["-I" + root for root in self.roots] + \
                              ["-D%s=1" % macro for macro in macros]
                text = preprocess(command, os.path.join(ROOT, source))
                return source, c_text.statics(text) | (set(c_text.TAG.findall(text)) if key else set())

            for source, found in pool.map(read, self.parts):
                for name in found:
                    owners[name].add(source)
        return owners


def preprocess(command, path, text=None):
    return subprocess.run(command + ["-E", "-P", path], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def _read_hot():
    """The files with loops over elements, which even small builds compile for speed."""
    with open(os.path.join(ROOT, "cmake/TaperOptimize.cmake")) as file:
        return set(re.search(r"set\(TAPER_HOT_SOURCES\n([^)]*)\)", file.read()).group(1).split())


def _read_isas():
    with open(os.path.join(ROOT, "src/platform/isa_list.inc")) as file:
        text = "".join(line for line in file if not line.startswith("//"))
    rows = re.findall(r'ISA\((\w+), (\w+),[^"]*"([^"]*)",\s*"[^"]*"\)', text)
    return [Isa(key, architecture, flags.split()) for key, architecture, flags in rows]


def _read_kernels():
    """Returns [(instruction set, source)] of all architectures, as cmake/TaperIsa.cmake prints them for a build without CMake."""
    found = {}
    for architecture in PREPROCESSOR:
        said = subprocess.run(["cmake", "-DTAPER_ARCHITECTURE=" + architecture, "-P", os.path.join(ROOT, "cmake/TaperIsa.cmake")],
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        for source in re.findall(r"^(\S+_([a-z0-9]+)\.c)\b", said, re.M):
            found[source[0]] = source[1]
    return [(key, source) for source, key in found.items()]
