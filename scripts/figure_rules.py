# SPDX-License-Identifier: BSD-2-Clause
"""The figures that documents repeat: functions that read them from the tree, and RULES, the forms in which documents state them.
scripts/check_figures.py compares the documents' figures with the tree's.

A constant of the sources that few documents repeat is a row of CONSTANTS, so no function is written for it."""
import collections
import importlib.util
import io
import json
import math
import os
import pickle
import re
import zipfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("bench", "bindings", "docs", "examples", "packaging", "scripts", "src", "tests", "tools") # folders with pages


class Unknown(Exception):
    """The tree does not have the figure at the place that this script reads."""


class Tree:
    """The files of a tree. `read_files` has the names of the files that were read."""

    def __init__(self, top):
        self.top, self.read_files = os.path.abspath(top), set()

    def read(self, path):
        self.read_files.add(path)
        try:
            with open(os.path.join(self.top, path), encoding="utf-8") as file:
                return file.read()
        except OSError as error:
            raise Unknown(f"{path} cannot be read: {error.strerror}") from error

    def names(self, folder, suffix=""):
        path = os.path.join(self.top, folder)
        return sorted(name for name in os.listdir(path) if name.endswith(suffix)) if os.path.isdir(path) else []

    def find(self, path, pattern):
        """Returns the text that the pattern's group matches in a file, or a tuple of texts if there are several groups."""
        match = re.search(pattern, self.read(path), re.M)
        if not match:
            raise Unknown(f"{path} has nothing like {pattern}")
        return match.group(1) if len(match.groups()) == 1 else match.groups()

    def documents(self):
        """Every page, the public headers, and the descriptions of packages."""
        found = [*self.names("", ".md"), "packaging/debian/control", "pyproject.toml", "bindings/wasm/package/taper.d.ts",
                 "tools/taper/load_limits.h"]
        for room in ROOMS:
            for folder, folders, names in os.walk(os.path.join(self.top, room)):
                folders[:] = [name for name in folders if name != "node_modules"]
                found += [os.path.relpath(os.path.join(folder, name), self.top) for name in names if name.endswith(".md")]
        found += ["include/taper/" + name for name in self.names("include/taper", ".h")]
        return sorted(name for name in found if os.path.exists(os.path.join(self.top, name)))


# ---- figures of the tree

def operator_counts(tree):
    """(operators, overloads, own rows): names in the operator list that files have; rows of these names; rows of `taper::`."""
    for name in re.findall(r'"(ops/list/list_\w+\.inc)"', tree.read("src/ops/list/op_list.h")):
        tree.read("src/" + name)
    spec = importlib.util.spec_from_file_location("supported_ops", os.path.join(TOP, "scripts", "supported_ops.py"))
    supported_ops = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(supported_ops)
    counts = supported_ops.counts(supported_ops.pathlib.Path(tree.top))
    if counts[1] < 1000:
        raise Unknown(f"src/ops/list has {counts[1]} rows")
    return counts


def operators(tree):
    return operator_counts(tree)[0]


def overloads(tree):
    return operator_counts(tree)[1]


def own_rows(tree):
    return operator_counts(tree)[2]


def all_rows(tree):
    return overloads(tree) + own_rows(tree)


def passes(tree):
    """Returns the number of names that `--disable` accepts: passes, each name once."""
    table = tree.find("src/compiler/compiler.c", r"static const pass passes\[\] = \{([^}]*)\}")
    return len(set(re.findall(r"^\s*[A-Z_]+\((\w+), \"", table, re.M)))


def instruction_sets(tree):
    """Returns the number of rows of the list, except "scalar", which is no instruction set."""
    return len(re.findall(r"^ISA\((?!scalar\b)\w+,", tree.read("src/platform/isa_list.inc"), re.M))


def headers(tree):
    return len(tree.names("include/taper", ".h"))


def functions(tree):
    """Returns the number of functions of the C interface: of all public headers."""
    found = set()
    for name in tree.names("include/taper", ".h"):
        text = re.sub(r"/\*.*?\*/", "", tree.read("include/taper/" + name), flags=re.S)
        found |= set(re.findall(r"^TAPER_API\b[^;({]*?\b(taper_\w+)\(", text, re.M))
    return len(found)


def version(tree):
    return tree.find("CMakeLists.txt", r"^project\(taper VERSION ([\d.]+)")


def bytecode_read(tree, end):
    return int(tree.find("src/format/lite_bytecode.c", rf"\b{end}_VERSION = (\d+)"))


def bytecode_written(tree, end):
    return int(tree.find("src/format/module_write.c", r"holds versions (\d+) to (\d+)")[end])


def newest_archive(tree):
    return int(tree.find("src/format/archive.c", r"\bNEWEST_VERSION = (\d+)"))


def nnapi_level(tree, end):
    return end(map(int, re.findall(r'\{"level=(\d+)"', tree.read("src/backends/nnapi/convert/convert_options.c"))))


def exported_by(tree, end):
    """Returns the first or the last version of PyTorch of which tests/data/pt2 has programs. end: min or max."""
    found = {tuple(map(int, match.groups())) for match in (re.match(r"(\d+)\.(\d+)_", name) for name in tree.names("tests/data/pt2")) if match}
    return ".".join(map(str, end(found or {(2, 1), (2, 15)})))


def load_limit(tree, name, unit=1):
    match = re.fullmatch(r"\(?(?:\(uint64_t\))?(\d+)(?: << (\d+))?\)?", tree.find("src/base/limits.h", rf"^#define {name} (.*)$"))
    if not match:
        raise Unknown(f"src/base/limits.h: {name} is no number")
    return (int(match.group(1)) << int(match.group(2) or 0)) // unit


def most_dimensions(tree):
    return int(tree.find("include/taper/taper.h", r"^#define TAPER_MAX_RANK (\d+)"))


def size_limit(tree, name):
    """Returns a limit in bytes: of the WHOLE library, of a library for ONE model, or of the growth by an option."""
    if name in ("WHOLE", "ONE"):
        return int(tree.find("scripts/size.sh", rf"\b{name}_LIMIT=(\d+)"))
    return int(tree.find("scripts/size.sh", rf"^\s*{name}\) echo (\d+) ;;"))


def apple_limit(tree, name):
    """Returns a limit of scripts/apple/size.sh in bytes, by its name: whole-arm64, whole-x86_64 or one-*."""
    return int(tree.find("scripts/apple/size.sh", rf"^\s*{re.escape(name)}\) echo (\d+) ;;"))


def measured_size(tree, key):
    return int(tree.find("docs/sizes.tsv", rf"^{key}\t[^\t]*\t[^\t]*\t(\d+)\t"))


def android_limit(tree, name):
    return int(tree.find("scripts/android/build.sh", rf"\bVULKAN_LIMIT=(\d+)" if name == "VULKAN" else rf"^\s*{name}\) echo (\d+) ;;"))


def node_version(tree):
    return tree.find("bindings/wasm/package/package.json.in", r'"node": ">=(\d+)"')


def python_version(tree):
    return tree.find("pyproject.toml", r'^requires-python = ">=([\d.]+)"')


# ---- figures of documents

WORDS = {word: number for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split())}
WORDS.update({"a": 1, "an": 1, "twice": 2, "tenth": 10, "dozen": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60})
NUMBER = r"(\d[\d,]*|" + "|".join(word for word in WORDS if word not in ("a", "an", "zero")) + ")"
SIZE = r"(\d[\d,.]*\d|\d) (bytes|KB|kB|MB)"
UNITS = {"bytes": 1, "KB": 1000, "kB": 1000, "MB": 1000000}


def number_of(text):
    text = text.lower()
    return WORDS[text] if text in WORDS else float(text.replace(",", ""))


def equal_number(said, true):
    return number_of(said) == float(true)


def equal_text(said, true):
    return said.rstrip(".") == str(true)


def near_size(said, true):
    """True if the figures are equal in the digits that the document states."""
    number, unit = said.split(" ")
    decimals = len(number.partition(".")[2]) if unit != "bytes" else 0
    return abs(number_of(number) * UNITS[unit] - true) <= 0.5 * 10 ** -decimals * UNITS[unit] * (unit != "bytes")


# name: what the figure is, for the reader of a finding. form: a regular expression, in which a blank is any white space; its groups are
# the figures, and the two groups of SIZE are one figure. true: a function of a Tree for each figure. equal: compares a figure as it is
# written with the true one. example: a sentence that the form fits, with {} for each figure.
Rule = collections.namedtuple("Rule", "name form true equal example", defaults=(equal_number, ""))

RULES = [
    Rule("names in the operator list that files have, and their rows", r"([\d,]+) operators, ([\d,]+) overloads", (operators, overloads),
         example="The list has {} operators, {} overloads."),
    Rule("rows of the operator list that files name, and their names", r"([\d,]+) overloads of ([\d,]+) operators", (overloads, operators),
         example="Taper has {} overloads of {} operators."),
    Rule("rows of the operator list that no file names (`taper::`)", r"list has ([\d,]+) more rows?", (own_rows,),
         example="The list has {} more rows."),
    Rule("all rows of the operator list", r"([\d,]+) rows of the operator list", (all_rows,), example="There are {} rows of the operator list."),
    Rule("names of passes in src/compiler/compiler.c", rf"\b{NUMBER} (?:compiler )?passes\b", (passes,), example="The compiler has {} passes."),
    Rule("rows of src/platform/isa_list.inc but scalar", rf"\b{NUMBER} instruction sets\b", (instruction_sets,),
         example="There are kernels for {} instruction sets."),
    Rule("headers in include/taper", rf"\b{NUMBER} public headers\b", (headers,), example="It has {} public headers."),
    Rule("functions in include/taper", rf"\b{NUMBER} public functions\b", (functions,), example="It has {} public functions."),
    Rule("the version in CMakeLists.txt", r"dev\.taper:[\w$-]+:(\d[\d.]*)", (version,), equal_text, "`dev.taper:pytorch_android:{}`"),
    Rule("the version in CMakeLists.txt", r"taper-wasm-(\d[\d.]*\d)\.tgz", (version,), equal_text, "`taper-wasm-{}.tgz`"),
    Rule("bytecode versions that src/format/lite_bytecode.c reads", r"`\.ptl`[:,] bytecode (\d+) to (\d+)",
         (lambda t: bytecode_read(t, "OLDEST"), lambda t: bytecode_read(t, "NEWEST")), example="Lite `.ptl`, bytecode {} to {}, opens."),
    Rule("bytecode versions that src/format/lite_bytecode.c reads", r"(?:reads |runs |\()bytecode versions (\d+) to (\d+)",
         (lambda t: bytecode_read(t, "OLDEST"), lambda t: bytecode_read(t, "NEWEST")), example="It reads bytecode versions {} to {}."),
    Rule("bytecode versions that src/format/module_write.c writes", r"(?:writes|`lite_archive_write\.c`,) bytecode (?:versions )?(\d+) to (\d+)",
         (lambda t: bytecode_written(t, 0), lambda t: bytecode_written(t, 1)), example="`convert` writes bytecode {} to {}."),
    Rule("archive versions that src/format/archive.c reads", r"(?:archive versions|archives) 1 to (\d+)", (newest_archive,),
         example="It reads archives 1 to {}."),
    Rule("levels in src/backends/nnapi/convert/convert_options.c", r"\blevels? (?:from )?(\d\d) to (\d\d)\b|\blevel=(\d\d) to (\d\d)\b",
         (lambda t: nnapi_level(t, min), lambda t: nnapi_level(t, max)) * 2, example="Android's levels {} to {}."),
    Rule("PyTorch's versions in tests/data/pt2", r"runs files of PyTorch (2\.\d+) to (2\.\d+)\b",
         (lambda t: exported_by(t, min), lambda t: exported_by(t, max)), equal_text, "Taper runs files of PyTorch {} to {}."),
    Rule("limits of a load in src/base/limits.h",
         r"(\d+) MB and (\d+) bytes for each byte of the file(?:[,;]|\. The default budget of steps is) (\d+) million(?: steps)? and (\d+) for each byte",
         (lambda t: load_limit(t, "TAPER_LOAD_BYTES", 1 << 20), lambda t: load_limit(t, "TAPER_LOAD_BYTES_A_BYTE"),
          lambda t: load_limit(t, "TAPER_LOAD_STEPS", 1000000), lambda t: load_limit(t, "TAPER_LOAD_STEPS_A_BYTE")),
         example="{} MB and {} bytes for each byte of the file, {} million steps and {} for each byte"),
    Rule("limits of a load in src/base/limits.h", r"\(default: (\d+) and (\d+) times the file's size\)",
         (lambda t: load_limit(t, "TAPER_LOAD_BYTES", 1 << 20), lambda t: load_limit(t, "TAPER_LOAD_BYTES_A_BYTE")),
         example="(default: {} and {} times the file's size)"),
    Rule("limits of a load in src/base/limits.h", r"\(default: (\d+) and (\d+) for each megabyte\)",
         (lambda t: load_limit(t, "TAPER_LOAD_STEPS", 1000000), lambda t: load_limit(t, "TAPER_LOAD_STEPS_A_BYTE")),
         example="(default: {} and {} for each megabyte)"),
    Rule("TAPER_MAX_RANK", r"`TAPER_MAX_RANK` dimensions, (\d+)", (most_dimensions,), example="at most `TAPER_MAX_RANK` dimensions, {}"),
    Rule("WHOLE_LIMIT in scripts/size.sh", rf"\bwhole library (?:has|takes|is) at most {SIZE}", (lambda t: size_limit(t, "WHOLE"),), near_size,
         "The whole library has at most {} bytes."),
    Rule("ONE_LIMIT in scripts/size.sh", rf"\blibrary for one model (?:has|takes|is) at most {SIZE}", (lambda t: size_limit(t, "ONE"),), near_size,
         "The library for one model has at most {} bytes."),
    Rule("the limit of arm64-v8a in scripts/android/build.sh", rf"\bsize for arm64-v8a \| at most {SIZE}",
         (lambda t: android_limit(t, "arm64-v8a"),), near_size, "\n| size for arm64-v8a | at most {} bytes |"),
    Rule("VULKAN_LIMIT in scripts/android/build.sh", rf"\bVulkan adds at most {SIZE}", (lambda t: android_limit(t, "VULKAN"),), near_size,
         "Vulkan adds at most {} bytes."),
    Rule("the sizes of Apple's systems in docs/sizes.tsv", r"^\| all features: [^|]*\| ([\d,]+) \| ([\d,]+) \|",
         (lambda t: measured_size(t, "apple-arm64"), lambda t: measured_size(t, "apple-x86_64")),
         example="\n| all features: all operators | {} | {} |\n"),
    Rule("the sizes of Apple's systems in docs/sizes.tsv", r"^\| only the code for the demo's classifier \| ([\d,]+) \| ([\d,]+) \|",
         (lambda t: measured_size(t, "apple-arm64-one"), lambda t: measured_size(t, "apple-x86_64-one")),
         example="\n| only the code for the demo's classifier | {} | {} |\n"),
    Rule("node's version in bindings/wasm/package/package.json.in", r"\bnode (\d+) (?:or|and) newer", (node_version,), equal_text,
         "node {} or newer"),
    Rule("Python's version in pyproject.toml", r"\bPython (\d[\d.]*\d) or newer", (python_version,), equal_text, "Python {} or newer"),
]

# The growth by an option: rules_of() makes a rule for each option of scripts/size.sh.
OPTION_FORM = r"`(?:-D)?{name}(?:=\w+)?` (?:adds|takes|saves) at most " + SIZE

def constants(path, pattern, convert=lambda text: int(text.replace("_", "").replace(",", ""))):
    """Returns functions of a Tree, one for each group of the pattern in that file."""
    def group(tree, index):
        found = tree.find(path, pattern)
        return convert(found[index] if isinstance(found, tuple) else found)
    return tuple(lambda tree, index=index: group(tree, index) for index in range(re.compile(pattern).groups))


def sample_version(tree, index):
    """Returns a version of PyTorch in tests/data/pt2. index: 0 is the first version, 1 the last version before a gap, 2 and more each version after a
    gap."""
    versions = sorted({tuple(map(int, match.groups())) for match in (re.match(r"(\d+)\.(\d+)_", name) for name in tree.names("tests/data/pt2")) if match})
    after = [one for before, one in zip(versions, versions[1:]) if one[1] != before[1] + 1]
    last = versions[versions.index(after[0]) - 1] if after else versions[-1]
    found = [versions[0], last, *after]
    return ".".join(map(str, found[index])) if index < len(found) else "none"


def scripts_of_package(tree):
    names = tree.names("bindings/wasm/package", ".js")
    for name in names:
        tree.read("bindings/wasm/package/" + name)
    return len(names)


def demo_labels(tree, model):
    """Returns the number of classes that a model of the demo names."""
    path = f"examples/demo/{model}.pt"
    tree.read_files.add(path)
    try:
        with zipfile.ZipFile(os.path.join(tree.top, path)) as file:
            name = next(name for name in file.namelist() if name.endswith("/extra/taper.json"))
            return len(json.loads(file.read(name))["labels"])
    except (OSError, StopIteration) as error:
        raise Unknown(f"{path} has no labels: {error}") from error


def parameters(tree, model):
    """Returns the number of parameters of a model of the demo: elements of the tensors `weight` and `bias` of its modules."""
    class Module:
        def __setstate__(self, state):
            self.attributes = state

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            functions = {"_rebuild_tensor_v2": lambda storage, offset, sizes, *_: math.prod(sizes), "OrderedDict": dict}
            return functions.get(name) or (list if name.startswith("build_") else type(name, (Module,), {}))

        def persistent_load(self, key):
            return key

    def count(module):
        return sum(count(value) if isinstance(value, Module) else value if name in ("weight", "bias") and isinstance(value, int) else 0
                   for name, value in module.attributes.items())

    path = f"examples/demo/{model}.pt"
    tree.read_files.add(path)
    try:
        with zipfile.ZipFile(os.path.join(tree.top, path)) as file:
            name = next(name for name in file.namelist() if name.endswith("/data.pkl"))
            return count(Reader(io.BytesIO(file.read(name))).load())
    except (OSError, StopIteration) as error:
        raise Unknown(f"{path} has no parameters: {error}") from error


def kilobytes(text):
    return int(text) // 1024


def times_four(text):
    return 4 * int(text)


def count_of(path, pattern, part=r"(?s)(.*)"):
    """Returns a function of a Tree: the number of different texts that the pattern matches in a part of a file."""
    return lambda tree: len(set(re.findall(pattern, tree.find(path, part), re.M)))


# Constants of the sources: form, functions of a Tree, example, how a figure is compared. A rule's name is the file that has the constant.
CONSTANTS = [
    ("scripts/rebuilds.py", r"may rebuild (\d+) objects, and a change of `ir/tensor\.h` (\d+)",
     constants("scripts/rebuilds.py", r'list_elementwise\.inc", (\d+),') + constants("scripts/rebuilds.py", r'"src/ir/tensor\.h", (\d+),'),
     "A row may rebuild {} objects, and a change of `ir/tensor.h` {}."),
    (".clang-format", r"at most (\d+) columns, and `\.clang-format`", constants(".clang-format", r"^ColumnLimit: (\d+)"), "at most {} columns, and `.clang-format`"),
    ("scripts/check_names.py", r"Split a file well before (\d+)\b", constants("scripts/check_names.py", r"len\(lines\) > (\d+)"), "Split a file well before {}."),
    ("scripts/check_commits.py", r"`area: imperative`, in at most (\d+) columns", constants("scripts/check_commits.py", r"^MOST_SUBJECT, MOST_BODY, LAST = (\d+)"),
     "Its subject is `area: imperative`, in at most {} columns."),
    ("tests/CMakeLists.txt", r"`commits` runs it on the last (\d+) commits", constants("tests/CMakeLists.txt", r"check_commits\.py --last (\d+)"),
     "the test `commits` runs it on the last {} commits"),
    ("scripts/android/library.sh", r"\(API (\d+)\)|its libraries for API (\d+)", constants("scripts/android/library.sh", r"aarch64-linux-android(\d+)") * 2,
     "Android 5 (API {})"),
    ("scripts/android/check_library.py", r"pages of (\d+) KB", constants("scripts/android/check_library.py", r"^PAGE = (\d+)", kilobytes), "pages of {} KB"),
    ("scripts/android/check_apk.py", r"libraries are aligned at multiples of ([\d,]+)\b(?!,)", constants("scripts/android/check_apk.py", r"^PAGE = (\d+)"),
     "libraries are aligned at multiples of {} bytes"),
    ("src/app/settings.c", r"\| (\d+) x (\d+); for `\"segment\"`", constants("src/app/settings.c", r"\.width = (\d+), \.height = (\d+),"),
     "| {} x {}; for `\"segment\"` the whole picture |"),
    ("src/app/settings.c", r"otherwise (\d+), or (\d+) for `\"segment\"`",
     constants("src/app/settings.c", r"\.resize = (\d+), \.mean") + constants("src/app/settings.c", r"full\.resize = (\d+);"),
     "otherwise {}, or {} for `\"segment\"` |"),
    ("tests/fuzz/fuzz_program.c", r"with at most ([\d,]+) instructions, (\d+) MB and (\d+) s\b",
     constants("tests/fuzz/fuzz_program.c", r"instruction_budget = (\d+),\s+\.time_budget = (?:\d+)\.0,") +
     constants("tests/fuzz/fuzz_program.c", r"time_budget = \d+\.0,\s+\.memory_budget = \(size_t\)(\d+) << 20") +
     constants("tests/fuzz/fuzz_program.c", r"time_budget = (\d+)\.0,"), "with at most {} instructions, {} MB and {} s |"),
    ("tests/fuzz/CMakeLists.txt", r"CTest runs (\d+) changed files", constants("tests/fuzz/CMakeLists.txt", r"sample (\d+) "), "CTest runs {} changed files."),
    ("bindings/wasm/package", rf"\b{NUMBER} small JavaScript files", (scripts_of_package,), "one module and {} small JavaScript files"),
    ("bindings/wasm/package/taper.js", r"A value has at most (\d+) levels", constants("bindings/wasm/package/taper.js", r"\bMOST_DEPTH = (\d+)"),
     "A value has at most {} levels."),
    ("scripts/android/package.py", r"`org\.pytorch:…`, version ([\d.]+\d)", constants("scripts/android/package.py", r'^OLD_VERSION = "([\d.]+)"', str),
     "the capabilities `org.pytorch:…`, version {}.", equal_text),
    ("src/backends/nnapi/convert/convert_draft.c", rf"more than {NUMBER} segments", constants("src/backends/nnapi/convert/convert_draft.c", r"\bALWAYS = (\d+)"),
     "If there are more than {} segments"),
    ("tests/api/precision_test.c", r"(\d+) roundings of the format \((\d+) on arm64 with FP16 arithmetic\)",
     constants("tests/api/precision_test.c", r"of_bf16 <= (\d+)\)") + constants("tests/api/precision_test.c", r'"neonfp16"\) == 0\) \{\s+return (\d+);'),
     "{} roundings of the format ({} on arm64 with FP16 arithmetic)"),
    ("examples/demo/classifier.pt", r"classifier knows (\d+) things", (lambda t: demo_labels(t, "classifier"),), "The classifier knows {} things."),
    ("examples/demo/segmenter.pt", r"mean IoU [\d.]+ \((\d+) classes", (lambda t: demo_labels(t, "segmenter"),), "mean IoU 0.8727 ({} classes)"),
    ("src/ops/call/parallel.c", r"at most about (\d+) µs", constants("src/ops/call/parallel.c", r"\bPIECE_MOST = (\d+)e3\b"), "A piece takes at most about {} µs."),
    ("src/ops/call/prepared.c", r"most (\d+) times for an instruction", constants("src/ops/call/prepared.c", r"\bMOST_MADE = (\d+)"), "at most {} times for an instruction"),
    ("src/backends/cpu/conv_algorithm.c", r"F\(4,3\) from (\d+) input channels, or F\(2,3\) from (\d+)\b",
     constants("src/backends/cpu/conv_algorithm.c", r"\bLEAST_CHANNELS_FOUR = (\d+)") + constants("src/backends/cpu/conv_algorithm.c", r"\bLEAST_CHANNELS = (\d+)"),
     "Winograd's F(4,3) from {} input channels, or F(2,3) from {} input channels"),
    ("tests/ops/agreement.py", r"float32 \| (1e-\d+) of the element", constants("tests/ops/agreement.py", r"RELATIVE\.get\(want\.dtype, (1e-\d+)\)", str), "\n| an operator in float32 | {} of the element |", equal_text),
    ("tests/ops/agreement.py", r"float64 \| (1e-\d+) of the element", constants("tests/ops/agreement.py", r"torch\.float64: (1e-\d+),", str), "\n| an operator in float64 | {} of the element |", equal_text),
    ("tests/ops/agreement.py", r"(1e-\d+) of the largest element(?:,| and) (?:plus )?(1e-\d+)",
     constants("tests/ops/agreement.py", r"if half else (1e-\d+)\),", str) + constants("tests/ops/agreement.py", r"if half else (1e-\d+)\)\)", str),
     "{} of the largest element, plus {} |", equal_text),
    ("src/backends/gpu/gpu_check.c", r"first run on a GPU \| (1e-\d+) of the CPU", constants("src/backends/gpu/gpu_check.c", r"\bmost_apart = (1e-\d+)", str), "the first run on a GPU | {} of the CPU", equal_text),
    ("tests/ops/agreement.py", r"element, plus (\d+) units of the largest", constants("tests/ops/agreement.py", r"ULPS\.get\(want\.dtype, (\d+)\)"),
     "of the element, plus {} units of the largest input"),
    ("tests/models/run_zoo.py", r"(1e-\d+) of the largest output(?: of the installed PyTorch 2)?, plus (1e-\d+)",
     constants("tests/models/run_zoo.py", r"error <= (1e-\d+) \* np\.abs", str) + constants("tests/models/run_zoo.py", r"error <= 1e-\d+ \* np\.abs\(b\)\.max\(\) \+ (1e-\d+)", str),
     "{} of the largest output, plus {}", equal_text),
    ("tests/models/run_zoo.py", r"exceed (1e-\d+) of the largest output", constants("tests/models/run_zoo.py", r"error <= (1e-\d+) \* np\.abs", str),
     "networks that exceed {} of the largest output", equal_text),
    ("tests/models/test_nnapi_forms.py", r"(1e-\d+) of the largest absolute value, and (\d+) for integers",
     constants("tests/models/test_nnapi_forms.py", r"allowed = (1e-\d+) \* np", str) + constants("tests/models/test_nnapi_forms.py", r"slacks = \[(\d) if w\.is_quantized", str),
     "{} of the largest absolute value, and {} for integers", equal_text),
    ("tests/gpu/gpu_networks.py", r"most (1e-\d+) of the largest output$|GPU in float32 \| (1e-\d+) of the largest output", constants("tests/gpu/gpu_networks.py", r"error <= (1e-\d+)", str) * 2,
     "by at most {} of the largest output\n", equal_text),
    ("tests/gpu/gpu_operators.py", r"Single operators differ by at most (1e-\d+)", constants("tests/gpu/gpu_operators.py", r"def case\(.*bound=(1e-\d+)\)", str),
     "Single operators differ by at most {} too", equal_text),
    ("tests/gpu/gpu_operators.py", r"operator is at most 2\^-(\d+) of its largest result", constants("tests/gpu/gpu_operators.py", r"bound = 2\*\*-(\d+) if args\.half"),
     "The error of a single operator is at most 2^-{} of its largest result."),
    ("src/ops/kernels/winograd_i8.h", r"modulo 2\^32 is (\d+) times the result", constants("src/ops/kernels/winograd_i8.h", r"result is (\d+) times the sum"),
     "The sum of a tile modulo 2^32 is {} times the result."),
    ("src/ops/kernels/winograd_i8.h", r"layers of up to (\d+) input channels", constants("src/ops/kernels/winograd_i8.h", r"for up to (\d+) inputs with any weights"),
     "This is true for layers of up to {} input channels."),
    ("src/ops/kernels/arm/gemm_half_neonfp16.c", r"\b[Ss]ums? of (\d+) products", constants("src/ops/kernels/arm/gemm_half_neonfp16.c", r"\bROUNDS = (\d+)"), "sums of {} products in fp16"),
    ("src/backends/cpu/int_mm_cpu.c", r"exact for (\d+) inputs", constants("src/backends/cpu/int_mm_cpu.c", r"\bCHUNK = (\d+)"), "They return floats, which are exact for {} inputs."),
    ("src/backends/cpu/conv_transposed.c", r"transposed convolutions from (\d+) output channels", constants("src/backends/cpu/conv_transposed.c", r"\bLEAST_CHANNELS = (\d+)"),
     "transposed convolutions from {} output channels on"),
    ("src/backends/gpu/gpu_kernels.inc", r"thread computes (\d+) pixels by (\d+) channels",
     constants("src/backends/gpu/gpu_kernels.inc", r"KERNEL\(CONV_7X4, conv, -DPIXELS=(\d+)u") + constants("src/backends/gpu/gpu_kernels.inc", r"KERNEL\(CONV_7X4, .*-DGROUPS=(\d+)u", times_four),
     "Each thread computes {} pixels by {} channels."),
    ("include/taper/taper.h", r"Views and loops also support (\d+) dimensions", (most_dimensions,), "Views and loops also support {} dimensions."),
    ("src/backends/gpu/rules_attention.c", r"a head has at most (\d+) channels", constants("src/backends/gpu/rules_attention.c", r"\bMOST_DEPTH = (\d+)", times_four),
     "if a head has at most {} channels"),
    ("src/ops/call/prepared.h", r"tensors of more than (\d+) dimensions are not prepared", constants("src/ops/call/prepared.h", r"\bTAPER_GUARD_RANK = (\d+)"),
     "Calls with tensors of more than {} dimensions are not prepared."),
    ("scripts/android/check_library.py", r"libraries are aligned at (\d+) KB", constants("scripts/android/check_library.py", r"^PAGE = (\d+)", kilobytes), "Taper's libraries are aligned at {} KB."),
    ("examples/demo/classifier.pt", r"ReLU6\), ([\d,]+) parameters", (lambda t: parameters(t, "classifier"),), "batch norm, ReLU6), {} parameters"),
    ("examples/demo/segmenter.pt", r"image pooling\), ([\d,]+) parameters|The network has ([\d,]+) parameters", (lambda t: parameters(t, "segmenter"),) * 2, "image pooling), {} parameters"),
    ("examples/demo/data.py", r"columns (\d+) to 639 for tests", constants("examples/demo/data.py", r"^TRAIN_END, HELDOUT_START = \d+, (\d+)"), "columns {} to 639 for tests"),
    (".clang-format", r"Indentation is (\d+) spaces", constants(".clang-format", r"^IndentWidth: (\d+)"), "Indentation is {} spaces."),
    ("tests/CMakeLists.txt", r"with exit status (\d+) and a message", constants("tests/packaging/CMakeLists.txt", r"SKIP_RETURN_CODE (\d+)"), "is skipped, with exit status {} and a message"),
    ("scripts/draw_words.py", r"draws (\d+) comments and (\d+) sentences", constants("scripts/draw_words.py", r'"--count", type=int, default=(\d+)') * 2, "draws {} comments and {} sentences"),
    ("scripts/draw_words.py", r"At most (\d+) of the comments and (\d+) of the sentences", constants("scripts/draw_words.py", r"^MOST_UNCLEAR = (\d+)") * 2,
     "At most {} of the comments and {} of the sentences"),
    ("scripts/check_commits.py", r"in lines of at most (\d+) columns", constants("scripts/check_commits.py", r"^MOST_SUBJECT, MOST_BODY, LAST = \d+, (\d+)"), "in lines of at most {} columns"),
    ("src/format/lite_bytecode.c", r"\(bytecode (\d+) to (\d+)\)|\| bytecode (\d+) to (\d+),", (lambda t: bytecode_read(t, "OLDEST"), lambda t: bytecode_read(t, "NEWEST")) * 2,
     "`.ptl` (bytecode {} to {})"),
    ("src/backends/gpu/gpu_view.h", rf"Tensors on the GPU have up to {NUMBER} dimensions", constants("src/backends/gpu/gpu_view.h", r"\bTAPER_GPU_RANK = (\d+)"),
     "Tensors on the GPU have up to {} dimensions."),
    ("src/backends/gpu/gpu_view.h", rf"vectors with {NUMBER} elements of one dimension|vector has {NUMBER} (?:channels|elements of the last)|a vector of {NUMBER} channels",
     constants("src/backends/gpu/gpu_view.h", r"\bTAPER_GPU_VECTOR = (\d+)") * 3, "A tensor on the device consists of vectors with {} elements of one dimension."),
    ("src/backends/gpu/gpu_steps.h", rf"A kernel has up to {NUMBER} steps", constants("src/backends/gpu/gpu_steps.h", r"\bTAPER_GPU_STEPS = (\d+)"), "A kernel has up to {} steps."),
    ("src/backends/gpu/gpu_estimate.c", r"estimate is at most (twice|\d+) the CPU's time", constants("src/backends/gpu/gpu_estimate.c", r"\bmost_unsure = (\d+),"),
     "the estimate is at most {} the CPU's time"),
    ("src/backends/gpu/gpu_submit.c", r"every (tenth|\d+) run prints the time", constants("src/backends/gpu/gpu_submit.c", r"\bEVERY = (\d+)"), "every {} run prints the time of each dispatch"),
    ("src/backends/common/trial.h", rf"measures {NUMBER} runs on the device and then {NUMBER} runs", constants("src/backends/common/trial.h", r"\bTAPER_TRIAL_RUNS = (\d+)") * 2,
     "Taper measures {} runs on the device and then {} runs on the CPU."),
    ("src/backends/cpu/few_outputs.h", rf"many input and at most {NUMBER} output channels", constants("src/backends/cpu/few_outputs.h", r"\bTAPER_FEW_OUTPUTS = (\d+)"),
     "with many input and at most {} output channels"),
    ("src/backends/cpu/linear_halves.c", rf"has one to {NUMBER} rows, these layers read", constants("src/backends/cpu/linear_halves.c", r"\bFEW_ROWS = (\d+)"), "If the input has one to {} rows, these layers read the weights."),
    ("src/backends/cpu/linear_integers_cpu.c", rf"has one to {NUMBER} rows, the kernel", constants("src/backends/cpu/linear_integers_cpu.c", r"\bFEW_ROWS = (\d+)"),
     "If the input has one to {} rows, the kernel reads a panel."),
    ("tests/models/test_conv_algorithms.py", r"(?:more than |most |\| )(twice|\d+) (?:that|the error) of direct sums", constants("tests/models/test_conv_algorithms.py", r"ours\[0\] <= (\d+) \* direct"),
     "at most {} the error of direct sums"),
    ("tests/models/run_zoo.py", r"\| (twice|\d+) the error of PyTorch's float32", constants("tests/models/run_zoo.py", r"ours <= (\d+) \* theirs"), "\n| networks | {} the error of PyTorch's float32 results |"),
    ("tests/fuzz/pt2_mutate.c", rf"[Mm]akes? one to {NUMBER} changes", constants("tests/fuzz/pt2_mutate.c", r"\bMOST_CHANGES = (\d+)"), "It makes one to {} changes in the JSON."),
    ("tests/CMakeLists.txt", rf"(?i:{NUMBER}) circles are left", constants("tests/CMakeLists.txt", r"circles\.py \S+ --most (\d+)"), "{} circles are left."),
    ("tests/tests.tsv", rf"There are {NUMBER} tiers", (count_of("tests/tests.tsv", r"^\w+\t(quick|plain|full)\t"),), "There are {} tiers."),
    ("include/taper/taper.h", rf"set the {NUMBER} budgets|set all {NUMBER} budgets",
     (count_of("include/taper/taper.h", r"\b(\w+_budget);", r"(?s)typedef struct taper_session_options \{(.*?)\} taper_session_options;"),) * 2, "An app should set all {} budgets."),
    ("cmake/TaperInstall.cmake", rf"link one of {NUMBER} targets", (count_of("cmake/TaperInstall.cmake", r"\btaper::(shared|static|runtime)\b"),), "link one of {} targets"),
    ("tests/models/force_fields.py", rf"{NUMBER} families of force fields", (count_of("tests/models/force_fields.py", r'^    out\["(\w+)"\]'),), "networks of {} families of force fields"),
    ("include/taper/taper_compile.h", rf"one or both of {NUMBER} stages", (count_of("include/taper/taper_compile.h", r"^#define (TAPER_PASS_\w+)"),), "A pass runs in one or both of {} stages."),
    ("bindings/wasm/CMakeLists.txt", r"memory grows up to (\d+) GB", constants("bindings/wasm/CMakeLists.txt", r"MAXIMUM_MEMORY=(\d+)GB"), "This memory grows up to {} GB."),
    ("scripts/android/build.sh", rf"builds PyTorch for {NUMBER} ABIs", (lambda tree: len(tree.find("scripts/android/build.sh", r"^abis=\$\{ANDROID_ABIS:-([^}]*)\}").split()),),
     "The tutorial builds PyTorch for {} ABIs."),
    ("docs/size-and-speed.tsv", rf"beside {NUMBER} peers",
     (count_of("docs/size-and-speed.tsv", r"^(?!Taper)([^\t\n]+)\ttime ", r"(?s)panel\tTime on x86-64: MobileNetV2([^$]*?)\npanel"),), "times on x86-64 beside {} peers"),
    ("bindings/android/java/org/pytorch/DType.java", rf"PyTorch Mobile's {NUMBER} constants|one of the {NUMBER} constants",
     (count_of("bindings/android/java/org/pytorch/DType.java", r"^  ([A-Z]\w+)\(\d+\)[,;]", r"(?s)public enum DType (.*)"),) * 2, "`DType` keeps PyTorch Mobile's {} constants"),
    ("tests/fuzz/pt2_check.c", rf"[Ll]oads? (?:the|each) file in {NUMBER} ways", (count_of("tests/fuzz/pt2_check.c", r'"([\w ]+)"', r"(?s)names\[\] = \{(.*?)\};"),), "It loads each file in {} ways."),
    ("examples/demo/images", rf"(?i:{NUMBER}) photos with the things|has {NUMBER} pictures with which",
     (lambda tree: len([name for name in tree.names("examples/demo/images") if name.endswith((".jpg", ".png"))]),) * 2, "`images/` has {} pictures with which no network was trained."),
    ("examples/demo", rf"[Aa]ll {NUMBER} files contain", (lambda tree: len(tree.names("examples/demo", ".pt") + tree.names("examples/demo", ".ptl")),), "All {} files contain the extra file."),
    ("examples/demo/segmenter.pt", rf"knows the background and {NUMBER} things", (lambda tree: demo_labels(tree, "segmenter") - 1,), "The segmenter knows the background and {} things."),
    ("scripts/apple/package.py", rf"The first {NUMBER} pods|names one of these {NUMBER}\b",
     (lambda tree: len(re.findall(r'"[^"]+"', tree.find("scripts/apple/package.py", r"^PODS = \[(.*)\]"))),) * 2, "The first {} pods have the same content."),
    ("src/ops/signal/fft_plan.c", r"prime factors of up to (\d+)", constants("src/ops/signal/fft_plan.c", r"\bLARGEST_PRIME = (\d+)"), "lengths with prime factors of up to {}"),
    ("src/ops/kernels/fft_f32.h", rf"(?:transforms|processes) groups of {NUMBER} rows", constants("src/ops/kernels/fft_f32.h", r"\bTAPER_FFT_LANES = (\d+)"), "It transforms groups of {} rows."),
    ("src/platform/threads.c", r"waits spins for (\d+) µs|each other within (\d+) µs",
     constants("src/platform/threads.c", r"\bSPIN = (\d+)") + constants("src/platform/threads.c", r"\bNEAR = (\d+)"), "A thread that waits spins for {} µs."),
    ("src/platform/threads.c", rf"no workers for {NUMBER} times as long", constants("src/platform/threads.c", r"end \+ (\d+) \* \(waited"), "It uses no workers for {} times as long."),
    ("tests/packaging/amalgamation_test.py", r"may be at most (\d+) percent larger", constants("tests/packaging/amalgamation_test.py", r"one <= 1\.0(\d) \* many"),
     "The code may be at most {} percent larger."),
    ("tests/packaging/amalgamation_test.py", r"which should be below (\d+)\s+seconds", constants("tests/packaging/amalgamation_test.py", r"^MOST_SECONDS = (\d+)"),
     "the processor time of the compiler, which should be below {} seconds"),
    ("src/ir/heap.c", rf"a block of up to {NUMBER} times its size", constants("src/ir/heap.c", r"up to (\w+) times its size", number_of), "a block of up to {} times its size"),
    ("examples/demo/expected.json", rf"it has the {NUMBER} best classes", (lambda tree: len(next(iter(json.loads(tree.read("examples/demo/expected.json")).values()))["classify"]),),
     "Under `classify` it has the {} best classes."),
    ("examples/demo", rf"the demo with {NUMBER} trained networks", (lambda tree: len(tree.names("examples/demo", ".pt")),), "the demo with {} trained networks"),
    ("tests/data/pt2", r"`\.pt2` from PyTorch (2\.\d+) to (2\.\d+)|programs of PyTorch (2\.\d+) to (2\.\d+)",
     (lambda t: exported_by(t, min), lambda t: exported_by(t, max)) * 2, "`.pt2` from PyTorch {} to {}", equal_text),
    ("tests/data/pt2", r"has sample files of PyTorch (2\.\d+) to (2\.\d+), of (2\.\d+) and of (2\.\d+)",
     tuple(lambda t, index=index: sample_version(t, index) for index in range(4)), "`tests/data/pt2` has sample files of PyTorch {} to {}, of {} and of {}.", equal_text),
]
RULES += [Rule(name, form, true, (equal or [equal_number])[0], example) for name, form, true, example, *equal in CONSTANTS]

# (text to write instead, form): figures in forms that no rule reads. Text that a rule matches is exempt.
MANY = r"(?:\d,?\d{3}\b|(?:\w+ )?(?:thousand|hundred)\b)"
FORBIDDEN = [
    ("a count of operators is written \"N overloads of M operators\"",
     rf"\b{MANY}\+? (?:[\w-]+ ){{0,2}}?(?:operators|overloads|ops|rows of the (?:operator )?list)\b"),
    ("a count of operators is written \"N overloads of M operators\"", rf"\b(?:operators|overloads)(?:\s*[:(]| are)\s*(?:some |about |over )?{MANY}"),
    ("a limit of size is written \"the whole library has at most N bytes\", \"`TAPER_WITH_NAME` adds at most N bytes\"",
     r"\b(?:library|libtaper[\w.]*|TAPER_WITH_\w+)[^.;|\n]{0,60}\b(?:limit|at most|more than|less than|under)\b[^.;|\n]{0,30}? " + SIZE),
]


def rules_of(tree):
    options = re.findall(r"^\s*(TAPER_WITH_\w+)\) echo", tree.read("scripts/size.sh"), re.M)
    return RULES + [Rule(f"what scripts/size.sh lets {name} add", OPTION_FORM.replace("{name}", name), (lambda t, name=name: size_limit(t, name),),
                         near_size, f"`-D{name}=ON` adds at most {{}} bytes.") for name in options]
