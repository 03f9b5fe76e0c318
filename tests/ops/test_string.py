# SPDX-License-Identifier: BSD-2-Clause
# Strings: the methods of str, formatting, and how values and tensors print.
import torch

CASES = []
TEXTS = ["", "a", "abc", "Hello World", "  pad\t\n", "a,b,,c", "12", "x_1", "it's A1", "aaa", "Zz9", "\tcol\tumn", "l1\nl2\r\nl3", "ABC"]


def add(name, source, *args):
    CASES.append((name, source, tuple(args)))


def over_texts(name, expression):
    add(name, f"def f(v: List[str]):\n    return [{expression} for s in v]\n", TEXTS)


for method in ["upper", "lower", "swapcase", "title", "capitalize", "strip", "lstrip", "rstrip", "isalnum", "isalpha", "isdecimal", "isdigit",
               "isnumeric", "isspace", "isprintable", "islower", "isupper", "istitle", "isidentifier", "splitlines", "split", "expandtabs"]:
    over_texts(method, f"s.{method}()")
for label, expression in [("len", "len(s)"), ("split-comma", "s.split(',')"), ("split-max", "s.split('a', 1)"), ("rsplit", "s.rsplit(',', 1)"),
                          ("partition", "s.partition('b')"), ("rpartition", "s.rpartition('l')"), ("find", "s.find('a')"),
                          ("find-range", "s.find('l', 0, 8)"), ("rfind", "s.rfind('l')"), ("count", "s.count('l')"),
                          ("count-two", "s.count('aa')"), ("replace", "s.replace('l', 'LL')"), ("replace-max", "s.replace('a', '', 1)"),
                          ("startswith", "s.startswith('a')"), ("endswith", "s.endswith('c')"), ("center", "s.center(9)"),
                          ("center-even", "s.center(8, '*')"), ("ljust", "s.ljust(6, '.')"), ("rjust", "s.rjust(6)"), ("zfill", "s.zfill(5)"),
                          ("strip-set", "s.strip('aH')"), ("slice", "s[1:3]"), ("slice-negative", "s[-3:]"), ("slice-step", "s[::2]"),
                          ("concat", "s + 'x' + s"), ("list", "list(s)"), ("join", "','.join([s, s])"), ("keepends", "s.splitlines(True)"),
                          ("compare", "[s == 'abc', s != 'abc', s < 'abc', s > 'abc', s <= 'abc', s >= 'abc']"), ("in", "'a' in [s, 'b']")]:
    over_texts(label, expression)
add("item", "def f(s: str, i: int):\n    return s[i]\n", "abc", -1)
add("item-out", "def f(s: str, i: int):\n    return s[i]\n", "abc", 3)
add("index", "def f(s: str, t: str):\n    return s.index(t), s.rindex(t)\n", "abcabc", "bc")
add("index-missing", "def f(s: str, t: str):\n    return s.index(t)\n", "abc", "x")
add("split-empty", "def f(s: str, t: str):\n    return s.split(t)\n", "abc", "")
add("fill-two", "def f(s: str):\n    return s.center(9, 'xx')\n", "abc")
add("ord-chr", "def f(s: str, i: int):\n    return ord(s), chr(i)\n", "a", 66)
add("ord-two", "def f(s: str):\n    return ord(s)\n", "ab")
for n in [0, 5, -255, 2**63 - 1]:
    add(f"digits-{n}", "def f(i: int):\n    return hex(i), oct(i), bin(i), str(i)\n", n)
for v in [0.0, -0.0, 1.5, 0.1, 1e10, 1e-5, 1e19, 123456789.123, float("inf"), float("-inf"), float("nan")]:
    add(f"float-{v}", "def f(x: float):\n    return str(x), '{}|{}'.format(x, [x]), '%s %f %e %d' % (x, x, x, 3)\n", v)
add("values", "def f(a: int, b: bool, c: Optional[str], d: Dict[str, float]):\n"
    "    return '{} {} {} {} {} {}'.format(a, b, c, d, (a,), (a, [b]))\n", 3, True, None, {"k": 2.0})
add("braces", "def f(a: int):\n    return '{0} {'.format(a), '{}}'.format(a)\n", 3)
add("format-few", "def f(a: int):\n    return '{} {}'.format(a)\n", 3)
add("percent", "def f(a: int, s: str):\n    return '%d%% %s %c %i' % (a, s, s, 2.5)\n", 3, "z")
add("percent-many", "def f(a: int):\n    return '%d' % (a, a)\n", 3)
add("percent-few", "def f(a: int):\n    return '%d %d' % a\n", 3)
add("percent-unknown", "def f(a: int):\n    return '%x' % a\n", 3)
PRINT = "def f(x: Tensor):\n    return str(x), 'got {}'.format(x)\n"
RANDOM = torch.Generator().manual_seed(1)
for sizes in [(), (3,), (2, 3), (2, 30), (2, 2, 3), (1, 2, 1, 2), (0,), (2, 0)]:
    values = torch.randn(sizes, generator=RANDOM)
    for label, t in [("unit", values), ("large", values * 1e6), ("small", values * 1e-6), ("wide", (values * 9).exp()), ("whole", (values * 50).round()),
                     ("long", (values * 1000).long()), ("bool", values > 0), ("half", values.half()), ("nan", values * float("nan"))]:
        add(f"tensor-{label}-{sizes}", PRINT, t)
# By default strip removes blanks of every kind, and nothing else.
add("strip/letters", "def f(s: str, t: str):\n    return s.strip(), s.lstrip(), s.rstrip(), t.strip(), t.lstrip(), t.rstrip()\n", "fnt\\v tent\\v", " \n\t\f\vab\v\f\t\n ")
# Every start and end position, also negative positions and positions after the end of the text. Counting an empty text is
# not tested, because PyTorch may search for it forever.
for method in ["find", "rfind", "count", "startswith", "endswith"]:
    for text in ["", "a", "aba", "aabab"]:
        add(f"range/{method}-{text}", "def f(s: str, v: List[str]):\n    r: List[int] = []\n    for t in v:\n        for a in range(-7, len(s) + 1):\n"
            f"            for b in range(-7, 8):\n                r.append(int(s.{method}(t, a, b)))\n    return r\n", text, ["a", "ab", "b"] + ([""] if method != "count" else []))
for method in ["find", "rfind", "count", "startswith", "endswith", "index"]:
    for end in [2, -1, 5]:
        add(f"range-behind/{method}-{end}", f"def f(s: str, n: int):\n    return s.{method}('a', 4, n), s.{method}('', 4, n)\n", "abc", end)
# hash must give PyTorch's numbers on 64-bit Linux, for every number of bytes after the last whole word of 8 bytes, for both zeros, and for items of
# tuples.
over_texts("hash", "hash(s)")
add("hash-lengths", "def f(s: str):\n    return [hash(s[:n]) for n in range(40)], [hash(s[n:]) for n in range(40)]\n",
    "The quick brown fox jumps \u00e4\u00f6\u00fc over\x7f the lazy dog")
add("hash-floats", "def f(v: List[float]):\n    return [hash(x) for x in v], [hash((x, x)) for x in v]\n",
    [0.0, -0.0, 1.0, -1.0, 2.5, 0.1, 1e300, -1e-300, 5e-324, float("inf"), float("-inf"), float("nan")])
add("hash-ints", "def f(v: List[int]):\n    return [hash(n) for n in v], [hash((n, n + 1)) for n in v]\n", [0, 1, -1, 7, 2**31, -2**31, 2**63 - 1, -2**63])
add("hash-kinds", "def f(a: bool, b: bool, c: Optional[str], s: str):\n    return hash(a), hash(b), hash((a, b)), hash((c, s)), hash(((s, 1.5), (s,), 3))\n",
    True, False, None, "seed")
add("hash-devices", "def f(n: int):\n    return hash(torch.device('cpu')), hash((torch.device('cpu'), n)), hash(torch.device('cuda:1'))\n", 3)
