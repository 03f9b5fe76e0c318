# SPDX-License-Identifier: BSD-2-Clause
"""Numbers in documents that no file of the tree states: facts of the outside world, notations, and measured figures.
scripts/check_figures.py reports each number in prose or in a table that neither these lists nor a rule of scripts/figure_rules.py covers.

Add a pattern for a kind of fact, not for a single number. If a number follows from the tree, add a rule instead."""
import bisect
import functools
import re

PRODUCTS = ("PyTorch|Torch|torchvision|timm|torchao|transformers|ultralytics|ONNX Runtime|onnxruntime-web|interpreter|Debian|gcc|clang|Python|iOS|macOS|Xcode|"
            "Android|Chrome|Firefox|Safari|node|Gradle|Vulkan|language|NumPy|webpack")
NUMBERS = r"\d[\d.]*(?:(?:, | and | to | or )\d[\d.]*)*"

# (kind of fact, form, an example with the numbers that the form covers). A blank in a form is any white space.
FACTS = [
    ("a version of another product", rf"\b(?:{PRODUCTS})\b(?:'s|`)? \(?{NUMBERS}", "It needs PyTorch 2.1, 2.3 and 2.5, or Debian 12."),
    ("a version of a language", r"\bC(?:\+\+)?(?:11|14|17)\b", "The headers need C++14."),
    ("a version of Python's stable ABI", r"\bABI includes [\w ]* since 3\.\d+", "The stable ABI includes the buffer protocol since 3.11."),
    ("a version of Taper in an example", r"\bversion (?:\(?\d\.\d[\d.]*(?: to \d\.\d[\d.]*)?)", "a patch version (0.2.0 to 0.2.1), before version 1.0"),
    ("the name of a licence", r"\bBSD 2-Clause|\bLicense \d\.\d|\bAttribution \d\.\d", "BSD 2-Clause licence"),
    ("a month or a date", r"\b(?:\d+ )?(?:October|November) 20\d\d\b", "The runs were made in November 2026."),
    ("bits, dimensions", r"\b\d+(?:-bit|-D)\b|\b(?:\d+ (?:or|and) )?\d+ bits\b", "A 3-D tensor has 16-bit weights of 8 or 4 bits."),
    ("the size of a filter or an image", r"\b\d+[x×]\d+(?:[x×]\d+)?\b", "a 3x3 filter on 192x192 pixels"),
    ("a stride of a convolution", r"\bstrides? \d(?: or \d)?\b|\bstride or dilation 0|\b(?:output stride|dilations) \d(?:, \d)*", "with stride 1 or 2"),
    ("Winograd's transforms", r"\bF\(\d(?:x\d)?,\s?\d(?:x\d)?\)|\bpoints 0, ±[^.]*?infinity|±\d(?:/\d+)?|\bwith 36 products between two transforms|\ball 16 results of its tile",
     "F(4,3) uses the points 0, ±21/32, ±3/2 and infinity."),
    ("a power of two", r"\b2\^-?\d+", "below 2^24"),
    ("limits of half precision", r"\b65504\b|\bbelow 3e-8\b|`normalize`, 1e-12", "Numbers above 65504 become infinite."),
    ("limits of float32", r"\bbelow 1\.2e-38\b|\b1\.3, not 1\.29999995\b", "The error is below 1.2e-38."),
    ("numbers of 8 bits", r"\b(?:all )?256 (?:integers|results)\b|\bfrom 0 to 255\b|\bdivide by 255\b|\b255 times\b|\blarger by 128\b|\b300 with a uint8 tensor becomes 44\b",
     "a table of 256 results"),
    ("a bytecode version, a level of NNAPI", r"\b[Bb]ytecode \d(?: (?:or|and) \d)?\b|\bversion [78]\b|\blevel (?:2[7-9]|3[01])\b|\breusable \(31\)|\bburst \(29\)|^\| \d(?:, \d)? (?=\| )",
     "Before level 29 NNAPI has no list of devices."),
    ("a step, a section or a decision", r"\b(?:step|section) \d\b", "The thread continues at step 3."),
    ("an example of rounding", r"\bnorm is −3e-8 in PyTorch and 0 in Taper, `% 3` gives 3 in PyTorch and 0 in Taper|\bis 0\.10000000149, because|\bconverts 0\.1 to float32", "`x[mask] = 0.1` converts 0.1 to float32 too."),
    ("arithmetic that the sentence explains", r"\bwindow of three channels takes 28 products for its 27 numbers|\[N\]\[C/4\]\[H\]\[W\]\[4\]|\bwidth x 4 bytes|\b32BGRA|\bThe entry \"60 of 60\"[^.]*60 networks|\b9 has an inverse|\bexceed 100\b",
     "A 3x3 window of three channels takes 28 products for its 27 numbers."),
    ("a limit of PyTorch", r"\b64 dimensions\b|\bonly in lists of up to 16 objects\b", "PyTorch has no limit, except 64 dimensions in reductions."),
    ("what a test must bear", r"\bthree times slower\b", "Choose a time limit for a machine that is three times slower."),
    ("a layout of bytes, an instruction", r"\binterleaves four rows\b|\beight times the bytes\b|\badds four products\b", "The transformed weights take eight times the bytes of the weights."),
    ("the length of a list that follows", r"\bThree forms of programs\b|\bthree operators\b", "For each layer it writes three operators."),
    ("the dimensions of a convolution", r"\bone to three dimensions\b", "convolutions over one to three dimensions"),
    ("the files of PyTorch's tutorial for NNAPI", r"\bfor NNAPI in three modes\b|\bmakes the six files\b", "This page makes the six files without Python."),
    ("a tile register of AMX", r"\bregister of 16 rows by 64 bytes\b", "a tile is a register of 16 rows by 64 bytes"),
    ("the vectors of NEON", r"\bNEON \(64 and 32 bits\)", "NEON (64 and 32 bits)"),
    ("pages of old libraries for Android", r"\baligned at 4 KB\b", "PyTorch's last libraries for Android are aligned at 4 KB."),
    ("a fault that is mended", r"\bfile of [\d.]+ KB took [\d.]+ GB|\([\d.]+ s for \d+ KB\)", "a file of 2 KB took 11 GB"),
]

PATTERNS = [re.compile(form.replace(" ", r"\s+"), re.M) for _, form, _ in FACTS]

# Pages whose numbers are not checked, with the reason.
HISTORY = {"CHANGELOG.md": "its numbers were right when a release was made"}
COMMAND = re.compile(r"\./dev |\bbench/|\bbuild/bin/|\btaper (?:bench|inspect)\b|\bscripts/|\btests/|\bfuzz_\w+`|\btrain\.py")
DATE = re.compile(r"\b(?:October|November)\s+20\d\d\b|\b20\d\d-\d\d-\d\d\b")

# In tables of these pages, the columns that describe a case or PyTorch have facts of the outside world.
CASE_PAGES = ("docs/numerics.md", "docs/numerics-differences.md")

# These numbers are no figures: they are values of flags, bounds of intervals, and neutral elements.
NO_FIGURES = ("0", "1", "−0")

# Number words are checked from "three" on, because "two" mostly stands for "both".
WORDS = ("three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
         "sixty|dozen|hundred|thousand")
NUMBER = re.compile(rf"(?<![\w.,/^-])(?:[−-](?=\d))?\d(?:[\d.,]*\d)?(?:e-?\d+)?|\b(?:{WORDS})\b", re.I)
SKIPPED = [(r"^```.*?^```$", re.M | re.S), (r"<!-- made by.*?<!-- end -->", re.S), (r"<!--.*?-->", re.S), (r"`[^`\n]*`", 0), (r"\]\([^)\s]*\)", 0), (r"<https?:[^>]*>", 0),
           (r"\bhttps?://\S+", 0), (r"^#.*$", re.M), (r"^\s*\d+\. ", re.M)]


def blanked(text):
    """Returns the text without code, links, headings and the numbers of lists. All positions stay the same."""
    for form, flags in SKIPPED:
        text = re.sub(form, lambda match: re.sub(r"[^\n]", "\0" if match.group().startswith("`") else " ", match.group()), text, flags=flags)
    return text


def columns_of_facts(text):
    """Yields (start, end) of each cell in a column whose header names PyTorch, and in the first column."""
    for table in re.finditer(r"^\|.*\n\|[-| :]+\|\n(?:\|.*\n?)*", text, re.M):
        at, wanted = table.start(), None
        for line in table.group().split("\n"):
            bars = [match.start() for match in re.finditer(r"(?<!\\)\|", line)]
            cells = list(zip(bars, bars[1:]))
            wanted = [0] + [i for i, (a, b) in enumerate(cells) if "PyTorch" in line[a:b]] if wanted is None else wanted
            yield from ((at + cells[i][0], at + cells[i][1]) for i in wanted if i < len(cells))
            at += len(line) + 1


@functools.lru_cache(maxsize=None)
def facts(text):
    """Returns [(name, start, end)] of the facts in a text."""
    return [(fact[0], *match.span()) for fact, pattern in zip(FACTS, PATTERNS) for match in pattern.finditer(text)]


def is_measured(part, around):
    """Returns true if the section, or a section around it, names the command that measured its figures, and one of them or the beginning of the page
    has the date. The beginning of the page names no command for its sections, because it cannot say which of them the command measured.
    around: the sections around, the beginning of the page first."""
    beginning = [text for text in around if not text.startswith("##")]
    return any(map(COMMAND.search, [part, *(text for text in around if text not in beginning)])) and any(map(DATE.search, [part, *around]))


def unread(path, text, covered, sections):
    """Yields (position, number) of each number of a page that is neither in `covered` (spans of rules) nor covered by the lists of this file, nor
    in a section with measured figures. sections: as check_figures.sections returns them."""
    if path in HISTORY:
        return
    spans = list(covered) + [span[1:] for span in facts(text)]
    spans += columns_of_facts(text) if path in CASE_PAGES else []
    measured = [is_measured(part, around) for _, part, around in sections]
    starts = [start for start, _, _ in sections]
    for match in NUMBER.finditer(blanked(text)):
        section = bisect.bisect(starts, match.start()) - 1
        if match.group() not in NO_FIGURES and not measured[section] and not any(start <= match.start() < end for start, end in spans):
            yield match.start(), match.group()
