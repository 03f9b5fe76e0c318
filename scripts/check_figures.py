#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_figures.py [TREE]: compares figures in the documents with the tree, and fails if one differs. Nothing needs to be built.

A figure that follows from the sources is stated in the sources. A document may repeat it in one of the forms of RULES, and then it has
to be equal. FORBIDDEN has the forms in which a document must not state such a figure, because no rule would read it. LISTS has pages that
name all members of a list. Times of ./dev's verbs stand in its usage text; a document that states another time fails.

To add a figure, write a function that reads it from a Tree, and a rule with the form in which documents state it. Each rule has an
example, of which tests/docs/figures_test.py makes a wrong one. Figures of measured performance are not checked."""
import collections
import importlib.util
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("bench", "bindings", "docs", "examples", "packaging", "scripts", "src", "tests", "tools") # where pages are


class Unknown(Exception):
    """The tree does not have the figure where this script looks for it."""


class Tree:
    """The files of a tree. `read_files` has the names of those that were read."""

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
        """What the groups of the pattern match in a file; a text for one group, a tuple for several."""
        match = re.search(pattern, self.read(path), re.M)
        if not match:
            raise Unknown(f"{path} has nothing like {pattern}")
        return match.group(1) if len(match.groups()) == 1 else match.groups()

    def documents(self):
        """Every page but the decisions, which are history; the public headers; what packages say of themselves."""
        found = [*self.names("", ".md"), "packaging/debian/control", "pyproject.toml", "bindings/wasm/package/taper.d.ts",
                 "tools/taper/load_limits.h"]
        for room in ROOMS:
            for folder, folders, names in os.walk(os.path.join(self.top, room)):
                folders[:] = [name for name in folders if name not in ("decisions", "node_modules")]
                found += [os.path.relpath(os.path.join(folder, name), self.top) for name in names if name.endswith(".md")]
        found += ["include/taper/" + name for name in self.names("include/taper", ".h")]
        return sorted(name for name in found if os.path.exists(os.path.join(self.top, name)))


# ---- what is true

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
    """Names of passes, each once: what `--disable` takes."""
    table = tree.find("src/compiler/compiler.c", r"static const pass passes\[\] = \{([^}]*)\}")
    return len(set(re.findall(r"^\s*[A-Z_]+\((\w+), \"", table, re.M)))


def instruction_sets(tree):
    """Rows of the list but "scalar", which is none."""
    return len(re.findall(r"^ISA\((?!scalar\b)\w+,", tree.read("src/platform/isa_list.inc"), re.M))


def headers(tree):
    return len(tree.names("include/taper", ".h"))


def functions(tree):
    """Functions of all public headers, those of the C interface."""
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
    """The first and the last PyTorch of which tests/data/pt2 has programs."""
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
    """Bytes: WHOLE, ONE, or what an option may add."""
    if name in ("WHOLE", "ONE"):
        return int(tree.find("scripts/size.sh", rf"\b{name}_LIMIT=(\d+)"))
    return int(tree.find("scripts/size.sh", rf"^\s*{name}\) echo (\d+) ;;"))


def apple_limit(tree, name):
    """Bytes: whole-arm64, whole-x86_64 or one-*."""
    return int(tree.find("scripts/apple/size.sh", rf"^\s*{re.escape(name)}\) echo (\d+) ;;"))


def measured_size(tree, key):
    return int(tree.find("docs/sizes.tsv", rf"^{key}\t[^\t]*\t[^\t]*\t(\d+)\t"))


def android_limit(tree, name):
    return int(tree.find("scripts/android/build.sh", rf"\bVULKAN_LIMIT=(\d+)" if name == "VULKAN" else rf"^\s*{name}\) echo (\d+) ;;"))


def node_version(tree):
    return tree.find("bindings/wasm/package/package.json.in", r'"node": ">=(\d+)"')


def python_version(tree):
    return tree.find("pyproject.toml", r'^requires-python = ">=([\d.]+)"')


# ---- what documents say

WORDS = {word: number for number, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split())}
WORDS.update({"a": 1, "an": 1, "dozen": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60})
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
    """Equal to as many digits as are said."""
    number, unit = said.split(" ")
    decimals = len(number.partition(".")[2]) if unit != "bytes" else 0
    return abs(number_of(number) * UNITS[unit] - true) <= 0.5 * 10 ** -decimals * UNITS[unit] * (unit != "bytes")


# name: what the figure is, for the reader of a finding. form: a regular expression, in which a blank is any white space; its groups are
# the figures, the groups of SIZE are one. true: a function of a Tree for each figure. equal: compares a figure as it is written with the
# true one. example: a sentence that the form fits, with {} for each figure.
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
    Rule("bytecode versions that src/format/lite_bytecode.c reads", r"`\.pt2`; bytecode (\d+) to (\d+)",
         (lambda t: bytecode_read(t, "OLDEST"), lambda t: bytecode_read(t, "NEWEST")), example="Also exported `.pt2`; bytecode {} to {}."),
    Rule("bytecode versions that src/format/module_write.c writes", r"(?:writes|`lite_archive_write\.c`,) bytecode (\d+) to (\d+)",
         (lambda t: bytecode_written(t, 0), lambda t: bytecode_written(t, 1)), example="`convert` writes bytecode {} to {}."),
    Rule("archive versions that src/format/archive.c reads", r"(?:archive versions|archives) 1 to (\d+)", (newest_archive,),
         example="It reads archives 1 to {}."),
    Rule("levels in src/backends/nnapi/convert/convert_options.c", r"\blevels? (?:from )?(\d\d) to (\d\d)\b|\blevel=(\d\d) to (\d\d)\b",
         (lambda t: nnapi_level(t, min), lambda t: nnapi_level(t, max)) * 2, example="Android's levels {} to {}."),
    Rule("PyTorch's versions in tests/data/pt2", r"PyTorch (2\.\d+) to (2\.\d+) write",
         (lambda t: exported_by(t, min), lambda t: exported_by(t, max)), equal_text, "as PyTorch {} to {} write them"),
    Rule("limits of a load in src/base/limits.h",
         r"(\d+) MB and (\d+) bytes for each byte of the file[,;] (\d+) million steps and (\d+) for each byte",
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
    Rule("the limit of arm64-v8a in scripts/android/build.sh", rf"\blibrary for arm64-v8a has at most {SIZE}",
         (lambda t: android_limit(t, "arm64-v8a"),), near_size, "The library for arm64-v8a has at most {} bytes."),
    Rule("VULKAN_LIMIT in scripts/android/build.sh", rf"\bVulkan adds at most {SIZE}", (lambda t: android_limit(t, "VULKAN"),), near_size,
         "Vulkan adds at most {} bytes."),
    Rule("the sizes of Apple's systems in docs/sizes.tsv", r"^\| everything: [^|]*\| ([\d,]+) \| ([\d,]+) \|",
         (lambda t: measured_size(t, "apple-arm64"), lambda t: measured_size(t, "apple-x86_64")),
         example="\n| everything: all operators | {} | {} |\n"),
    Rule("the sizes of Apple's systems in docs/sizes.tsv", r"^\| for the demo's classifier alone \| ([\d,]+) \| ([\d,]+) \|",
         (lambda t: measured_size(t, "apple-arm64-one"), lambda t: measured_size(t, "apple-x86_64-one")),
         example="\n| for the demo's classifier alone | {} | {} |\n"),
    Rule("node's version in bindings/wasm/package/package.json.in", r"\bnode (\d+) (?:or|and) newer", (node_version,), equal_text,
         "node {} or newer"),
    Rule("Python's version in pyproject.toml", r"\bPython (\d[\d.]*\d) or newer", (python_version,), equal_text, "Python {} or newer"),
]

# What an option may add: as many rules as scripts/size.sh has options, made in rules_of().
OPTION_FORM = r"`(?:-D)?{name}(?:=\w+)?` (?:adds|takes|saves) at most " + SIZE

# (what to write instead, form): figures in forms that no rule reads. What a rule matches is exempt.
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


def pattern_of(form):
    return re.compile(form.replace(" ", r"\s+"), re.M)


def plain(path, text):
    """The text, with the stars of comments in headers blanked, so that a sentence can go over a line's end."""
    return re.sub(r"(?m)^[ \t]*\*(?!/)", lambda match: " " * len(match.group()), text) if path.endswith((".h", ".ts")) else text


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def shown(figure):
    return f"{figure:,}" if isinstance(figure, int) and figure > 999 else str(figure)


Finding = collections.namedtuple("Finding", "path line said true name")


def figures_of(match):
    """The groups that matched, with a size and its unit as one."""
    groups = [group for group in match.groups() if group is not None]
    if groups and groups[-1] in UNITS:
        groups[-2:] = [" ".join(groups[-2:])]
    return groups


def check_rules(tree, texts):
    findings, rules = [], rules_of(tree)
    covered = collections.defaultdict(list)
    for rule in rules:
        pattern, trues = pattern_of(rule.form), None
        for path, text in texts.items():
            for match in pattern.finditer(text):
                trues = trues or [true(tree) for true in rule.true]
                covered[path].append(match.span())
                findings += [Finding(path, line_of(text, match.start()), said, shown(true), rule.name)
                             for said, true in zip(figures_of(match), trues) if not rule.equal(said, true)]
    for name, form in FORBIDDEN:
        for path, text in texts.items():
            for match in pattern_of(form).finditer(text):
                if not any(start < match.end() and match.start() < end for start, end in covered[path]):
                    findings.append(Finding(path, line_of(text, match.start()), " ".join(match.group().split()), None, name))
    return findings


# ---- lists that a page has all of

def header_names(tree):
    return {name[:-2] for name in tree.names("include/taper", ".h")}


def fuzz_targets(tree):
    return set(re.findall(r"^\s*taper_fuzz_target\((\w+)", tree.read("tests/fuzz/CMakeLists.txt"), re.M))


def gpu_options(tree):
    return set(re.findall(r'\w+\(TAPER_GPU_\w+, GPUS, "(\w+)"', tree.read("src/backends/option_list.inc")))


def build_options(tree):
    return set(re.findall(r"^option\((TAPER_WITH_\w+) ", tree.read("CMakeLists.txt"), re.M))


def table_of_targets(text):
    rows = re.search(r"^\| Target \| What it does.*?\n\|[-|]+\n((?:\|.*\n)*)", text, re.M)
    return {name for cell in re.findall(r"^\| ([^|]*) \|", rows.group(1) if rows else "", re.M) for name in cell.split(", ")}


# (name, document, what it names, what there is, whether it may name nothing else). Without a document: all of them together.
LISTS = [
    ("public headers", "docs/c.md", lambda text: set(re.findall(r"\(api/(taper\w*)\.md\)", text)), header_names, True),
    ("fuzz targets", "docs/fuzzing.md", table_of_targets, fuzz_targets, True),
    ("options of GPUs", "docs/gpu.md", lambda text: set(re.findall(r"`(\w+)(?:=[01])?`", text)), gpu_options, False),
    ("options of the build", None, lambda text: set(re.findall(r"(?:-D|^\| `)(TAPER_WITH_\w+)[=`]", text, re.M)), build_options, False),
]


def check_lists(tree, texts):
    findings = []
    for name, path, read, true, alone in LISTS:
        text = texts.get(path, "") if path else "\n".join(texts.values())
        named, there = read(text), true(tree)
        if not there:
            raise Unknown(f"no {name} are found in the tree")
        findings += [Finding(path or "documents", 1, one, None, f"{name}: it is not named") for one in sorted(there - named)]
        findings += [Finding(path or "documents", 1, one, None, f"{name}: there is none of that name") for one in sorted(named - there) if alone]
    return findings


# ---- times of ./dev's verbs

SECONDS = {"second": 1, "minute": 60, "hour": 3600}
COUNT = r"\d[\d,.]*|" + "|".join(WORDS)
TIME = re.compile(rf"\b(?:(half an?)|({COUNT}))(?: to ({COUNT}))?( and a half)?[ -](second|minute|hour)s?( and a half)?\b".replace(" ", r"\s+"), re.I)


def times_of(text):
    """[(where, seconds, as written)], of "ten to twelve minutes" both. "a second" is as often the next one, so it is no time."""
    found = []
    for match in TIME.finditer(text):
        half, number, most, more, unit, behind = match.groups()
        if unit.lower() == "second" and (number or "").lower() in ("a", "an", "one"):
            continue
        for count in [0.5 if half else number_of(number)] + ([number_of(most)] if most else []):
            count += 0.5 if more or behind else 0
            found.append((match.start(), count * SECONDS[unit.lower()], " ".join(match.group().split())))
    return found


def dev_times(tree):
    """{(verb, option): seconds, …}: times in the usage text of ./dev, each of the option named last before it. "without an option" is
    the option "". A number without a unit ("a minute, without an option in some ten") has the unit before it. "S seconds (60)" is 60."""
    usage = re.search(r"^usage\(\) \{\n.*?<<'END'\n(.*?)^END$", tree.read("dev"), re.M | re.S)
    if not usage:
        raise Unknown("dev has no function usage() with a text up to END")
    times = collections.defaultdict(set)
    for verb, text in re.findall(r"^  ([a-z]+)\b((?:.*\n)(?:^   +.*\n)*)", usage.group(1), re.M):
        text = re.sub(r"^(?: \[[^\]]*\])+", "", text)
        text = re.sub(r"\b[A-Z] (seconds)([^()]*)\((\d+)\)", r"\3 \1\2", text)
        text = re.sub(rf"((second|minute|hour)s?\b[^.]*?\b(?:some|about) {NUMBER})\b(?!\s+(?:second|minute|hour|to\b|and a half))", r"\1 \2s", text)
        option, at = "", 0
        for mark in [*re.finditer(r"(--[\w-]+)|\bwithout (?:an )?options?\b", text), None]:
            end = mark.start() if mark else len(text)
            times[verb, option] |= {seconds for _, seconds, _ in times_of(text[at:end])}
            if mark:
                option, at = mark.group(1) or "", mark.end()
    return times


def sentences(text):
    """(start, sentence): parts of a page that end with a full stop, a blank line, a row of a table, an item of a list or, in code, a line."""
    code = False
    at = 0
    for block in re.split(r"(^```.*\n)", text, flags=re.M):
        if block.startswith("```"):
            code = not code
        else:
            start = 0
            for end in [*re.finditer(r"\n" if code else r"\.(?=\s)|\n\s*\n|\n(?=\|)|\n(?=\s*(?:[-*]|\d+\.)\s)", block), None]:
                stop = end.start() if end else len(block)
                yield at + start, block[start:stop]
                start = end.end() if end else stop
        at += len(block)


def check_times(tree, texts):
    findings, times = [], dev_times(tree)
    for path, text in texts.items():
        if not path.endswith(".md"):
            continue
        for start, sentence in sentences(text):
            verbs = list(re.finditer(r"\./dev ([a-z]+)((?:\s+--[\w-]+)*)", sentence))
            for at, seconds, said in times_of(sentence) if verbs else []:
                verb = [mark for mark in verbs if mark.start() < at][-1:] or verbs[:1]
                key = verb[0].group(1), (verb[0].group(2).split() or [""])[0]
                if seconds not in times[key]:
                    true = ", ".join(f"{one / 60:g} minutes" if one >= 60 else f"{one:g} seconds" for one in sorted(times[key]))
                    name = f"the time of ./dev {' '.join(key).strip()}"
                    findings.append(Finding(path, line_of(text, start + at), said, true or None,
                                            name + (" in its usage text" if true else ", which its usage text does not say")))
    return findings


# ---- all of it

def check(tree, documents=None):
    """The documents and the findings in them. documents: these alone, and not what a list of theirs leaves out."""
    texts = {path: plain(path, tree.read(path)) for path in documents or tree.documents()}
    findings = check_rules(tree, texts) + check_times(tree, texts) + ([] if documents else check_lists(tree, texts))
    return texts, sorted(set(findings), key=lambda one: one[:3])


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    try:
        texts, findings = check(Tree(sys.argv[1] if len(sys.argv) == 2 else TOP))
    except Unknown as problem:
        sys.exit(f"scripts/check_figures.py looks in the wrong place: {problem}")
    for one in findings:
        print(f"{one.path}:{one.line}: \"{one.said}\"" + (f" should be {one.true}" if one.true is not None else "") + f" ({one.name})")
    print(f"{len(texts)} documents, {len(findings)} wrong figures")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
