# SPDX-License-Identifier: BSD-2-Clause
# Lists and dicts.
import torch

CASES = []
LIST = [3, 1, 2, 1]


def add(name, source, *args):
    CASES.append((name, source, tuple(args)))


def on_list(name, body, *args, element="int", value=None):
    types = "".join(f", {chr(97 + i)}: {type(a).__name__}" for i, a in enumerate(args))
    add(name, f"def f(l: List[{element}]{types}):\n    {body}\n    return l\n", LIST if value is None else value, *args)


for i in [0, 2, -1, -4, 4, -5]:
    on_list(f"getitem[{i}]", "l = [l[a]]", i)
    on_list(f"setitem[{i}]", "l[a] = 9", i)
    on_list(f"pop[{i}]", "l.append(l.pop(a))", i)
    on_list(f"insert[{i}]", "l.insert(a, 9)", i)
    on_list(f"del[{i}]", "del l[a]", i)
on_list("pop-empty", "l.pop()", value=[])
on_list("del-empty", "del l[0]", value=[])
for label, body in [("append", "l.append(7)"), ("extend", "l.extend([8, 9])"), ("extend-self", "l.extend(l)"), ("clear", "l.clear()"),
                    ("reverse", "l.reverse()"), ("copy", "l = l.copy()"), ("list", "l = list(l)"), ("add", "l = l + [5]"), ("iadd", "l += [5, 6]"),
                    ("mul", "l = l * 2"), ("mul-zero", "l = l * 0"), ("imul", "l *= 3"), ("sort", "l.sort()"), ("sort-reverse", "l.sort(reverse=True)"),
                    ("sorted", "l = sorted(l)"), ("remove", "l.remove(1)"), ("remove-missing", "l.remove(77)"), ("len", "l = [len(l)]"),
                    ("index", "l = [l.index(1), l.count(1)]"), ("index-missing", "l = [l.index(77)]"), ("minmax", "l = [min(l), max(l), sum(l)]"),
                    ("alias", "m = l\n    m.append(4)\n    l[0] = len(m)")]:
    on_list(label, body)
for n in [-1, -5]:  # a list is multiplied by a negative number, and PyTorch raises when it makes the list
    for label, body in [("mul", "l = l * a"), ("rmul", "l = a * l"), ("imul", "l *= a")]:
        on_list(f"{label}/{n}", body, n)
        on_list(f"{label}/empty-{n}", body, n, value=[])
for start in ["", "1", "-2", "9", "-9"]:
    for end in ["", "2", "-1", "9", "-9"]:
        for step in ["", ":2", ":-1", ":-2"]:
            on_list(f"slice[{start}:{end}{step}]", f"l = l[{start}:{end}{step}]")
add("slice-step-zero", "def f(l: List[int], a: int):\n    return l[::a]\n", LIST, 0)
for element, value in [("float", [2.5, -1.0, 0.0]), ("str", ["b", "a", "ab", ""]), ("bool", [True, False, True])]:
    on_list(f"sort-{element}", "l.sort()", element=element, value=value)
    on_list(f"sort-reverse-{element}", "l.sort(reverse=True)", element=element, value=value)
    add(f"compare-{element}", f"def f(a: List[{element}], b: List[{element}]):\n    return a == b, a != b, a == a, a == b[:1]\n", value, value[::-1])
    add(f"count-{element}", f"def f(a: List[{element}]):\n    return a.count(a[0]), a.index(a[1])\n", value)
add("in", "def f(a: List[int], b: List[str], c: List[float]):\n    return 1 in a, 9 in a, 'x' in b, 2.5 in c\n", [1, 2], ["x"], [2.5])
add("any-all", "def f(a: List[bool], b: List[int]):\n    return any(a), all(a), any(b), all(b)\n", [True, False], [1, 2])
add("min-lists", "def f(a: List[int], b: List[int]):\n    return min(a, b), max(a, b)\n", [1, 2], [1, 3, 0])
add("min-empty", "def f(a: List[int]):\n    return min(a)\n", [])
PAIRS = [(2, "b"), (1, "z"), (2, "a"), (-1, ""), (1, "y")]
for name, kind, value in (("pair", "Tuple[int, str]", PAIRS), ("nested", "Tuple[Tuple[float, bool], int]", [((1.5, True), 3), ((1.5, False), 4), ((0.5, True), 9),
                                                                                                     ((1.5, True), 1)])):
    for call in ("l.sort()", "l.sort(reverse=True)", "l = sorted(l)"):
        add(f"sort-{name}-{call}", f"def f(l: List[{kind}]):\n    {call}\n    return l\n", value)
add("sort-tensor-tuples", "def f(x: Tensor):\n    l = [(x[i], i) for i in range(4)]\n    l.sort()\n    return [b for _, b in l]\n",
    torch.tensor([3.0, 1.0, 2.0, 1.0]))
add("tensors", "def f(l: List[Tensor]):\n    l.sort()\n    return l, l.index(l[1]), l.count(l[0]), l == l\n",
    [torch.tensor(3), torch.tensor(1), torch.tensor(2)])
add("tensors-large", "def f(l: List[Tensor]):\n    return l == l\n", [torch.tensor([1, 2])])
add("nested", "def f(l: List[List[int]]):\n    l[0].append(5)\n    l.append(l[0])\n    l[2][0] = 7\n    return l\n", [[1], [2, 3]])
add("channels-last-list", "def f(x: Tensor):\n    l: List[Tensor] = []\n    for i in range(3):\n        l.append(x + i)\n"
    "    return torch.cat(l, 1), l[1]\n", torch.randn(1, 2, 3, 4))


def on_dict(name, body, key="str", value=None):
    add(name, f"def f(d: Dict[{key}, int]):\n    {body}\n", {"a": 1, "b": 2, "c": 3} if value is None else value)


for label, body in [("getitem", "return d['b']"), ("missing", "return d['z']"), ("get", "return d.get('a'), d.get('z'), d.get('z', 7)"),
                    ("set", "d['z'] = 9\n    d['a'] = 8\n    return d"), ("in", "return 'a' in d, 'z' in d, 'z' not in d"), ("len", "return len(d)"),
                    ("keys", "return d.keys()"), ("values", "return d.values()"), ("items", "return d.items()"),
                    ("loop", "s = 0\n    for k, v in d.items():\n        s += v * len(k)\n    return s"), ("pop", "return d.pop('b'), d"),
                    ("pop-missing", "return d.pop('z')"), ("pop-default", "return d.pop('z', 4), d"), ("popitem", "return d.popitem(), d"),
                    ("setdefault", "return d.setdefault('a', 5), d.setdefault('z', 6), d"), ("update", "d.update({'c': 7, 'q': 8})\n    return d"),
                    ("del", "del d['b']\n    return d"), ("clear", "d.clear()\n    return d"), ("copy", "e = d.copy()\n    e['a'] = 5\n    return d, e"),
                    ("dict", "e = dict(d)\n    e['a'] = 5\n    return d, e"), ("order", "v = d.pop('a')\n    d['a'] = v\n    return d.keys()"),
                    ("comprehension", "return {k: v * 2 for k, v in d.items()}")]:
    on_dict("dict-" + label, body)
on_dict("dict-popitem-empty", "return d.popitem()", value={})
add("dict-int", "def f(n: int):\n    d: Dict[int, str] = {}\n    for i in range(n):\n        d[i * 37 % 101] = str(i)\n"
    "    d.pop(37)\n    return d.keys(), d.values(), len(d), 74 in d, d[74]\n", 100)
add("dict-float", "def f(x: float):\n    d = {x: 1, -0.0: 2}\n    d[0.0] = 3\n    return d.keys(), d[x], d.values()\n", 1.5)
add("dict-bool", "def f(x: bool):\n    d = {True: 1, False: 2}\n    d[x] = 5\n    return d.values()\n", False)
add("dict-tensor-key", "def f(x: Tensor):\n    d: Dict[Tensor, int] = {}\n    d[x] = 4\n    return d[x], len(d), x in d\n", torch.ones(2))
add("dict-pairs", "def f(l: List[Tuple[str, int]]):\n    d = dict(l)\n    return d, d['x']\n", [("x", 1), ("y", 2), ("x", 3)])
add("dict-tensor-values", "def f(x: Tensor):\n    d = {'out': x * 2}\n    d['aux'] = d['out'] + 1\n    return d\n", torch.randn(1, 2, 2, 3))
