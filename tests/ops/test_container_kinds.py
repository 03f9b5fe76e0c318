# SPDX-License-Identifier: BSD-2-Clause
# Lists and dicts of every kind of key and item: the overloads of each of their methods.
import torch

CASES = []
KEYS = {"str": ("'a'", "'b'", "'z'"), "int": ("1", "-2", "9"), "bool": ("True", "False", None), "float": ("0.5", "-1.5", "9.0"),
        "complex": ("complex(1.0, 2.0)", "complex(0.0, 1.0)", "complex(9.0, 9.0)"), "Tensor": ("x", "y", None)}
HEAD = "def f(x: Tensor, y: Tensor):\n"
XY = (torch.ones(2), torch.zeros(3))


def add(name, body):
    CASES.append((name, HEAD + "".join(f"    {line}\n" for line in body.split("; ")), XY))


for kind, (k, l, missing) in KEYS.items():
    made = f"d: Dict[{kind}, int] = {{{k}: 4, {l}: 5}}; "
    for label, body in (("[]", f"return d[{k}], d[{l}], len(d)"), ("in", f"return {k} in d, {missing or l} in d"), ("get", f"a = d.get({k}); return a, d.get({missing or l}), d.get({l}, 7)"),
                        ("get missing", f"d.pop({l}); return d.get({l}), d.get({l}, 7)"), ("set", f"d[{k}] = 8; d[{l}] = 9; return d[{k}], d[{l}]"), ("pop", f"return d.pop({k}), d.pop({k}, 3), len(d)"),
                        ("del", f"del d[{k}]; return len(d), d[{l}]"), ("clear", "d.clear(); return len(d)"), ("copy", f"c = d.copy(); c[{k}] = 1; return d[{k}], c[{k}]"),
                        ("keys", "return list(d.keys())"), ("values", "return list(d.values())"), ("items", "return d.items()"), ("setdefault", f"return d.setdefault({k}, 1), len(d)"),
                        ("setdefault missing", f"d.clear(); return d.setdefault({k}, 1), len(d)"), ("popitem", "return d.popitem(), len(d)"),
                        ("update", f"e: Dict[{kind}, int] = {{{l}: 70}}; d.update(e); return d[{k}], d[{l}], len(d)"), ("dict", f"c = dict([({k}, 1), ({l}, 2)]); return len(c), c[{k}]"),
                        ("dict of dict", f"c = dict(d); c[{k}] = 3; return c[{k}], d[{k}]"), ("dict()", f"c: Dict[{kind}, int] = dict(); return len(c)"),
                        ("missing", f"d.pop({l}); return d[{l}]"), ("del missing", f"d.clear(); del d[{k}]; return 1"), ("pop missing", f"d.clear(); return d.pop({k})"),
                        ("popitem empty", "d.clear(); return d.popitem()")):
        if (kind, label) == ("complex", "dict"):
            continue  # PyTorch cannot hash tuples of complex constants
        add(f"dict {kind}/{label}", made + body)
# {kind: (an item, another item, an item that is not in the list)}
ITEMS = {"int": ("3", "-1", "9"), "float": ("2.5", "-0.5", "9.0"), "bool": ("True", "False", None), "str": ("'b'", "'a'", "'z'"), "Tensor": ("x", "y", None), "complex": ("complex(1.0, 2.0)", "complex(0.0, 1.0)", "complex(9.0, 0.0)")}
for kind, (a, b, missing) in ITEMS.items():
    made = f"l: List[{kind}] = [{a}, {b}, {a}]; "
    bodies = [("append", f"l.append({b}); return l, len(l)"), ("extend", "l.extend([l[1]]); return l"), ("insert", f"l.insert(1, {b}); l.insert(-1, {a}); l.insert(99, {b}); return l"), ("pop", "return l.pop(), l.pop(0), l"),
              ("pop beyond", "return l.pop(5)"), ("reverse", "l.reverse(); return l"), ("copy", "c = l.copy(); c.clear(); return l, len(c)"), ("list", "return list(l)"), ("+", "return l + l"),
              ("slice", "return l[1:], l[::2], l[-2:9]"), ("[]", "return l[0], l[-1]"), ("beyond", "return l[3]"), ("set", f"l[0] = {b}; l[-1] = {b}; return l"), ("set beyond", f"l[7] = {b}; return l"), ("+=", "l += [l[1]]; return l"),
              ("del", "del l[1]; return l"), ("aten", "c = torch.ops.aten.copy(l); torch.ops.aten.clear(l); return c, len(l)"), ("mul_", "l *= 2; return l")]
    if kind != "complex":  # PyTorch cannot put complex constants into lists that it multiplies
        bodies += [("*", "return l * 2, 2 * l, l * 0")]
        bodies += [("in", f"return {a} in l, {missing or b} in l")] if kind != "bool" and kind != "Tensor" else []
        bodies += [("count", f"return l.count({a}), l.count({b}), l.count({missing or b})"), ("index", f"return l.index({b})"),
                   ("remove", f"l.remove({b}); return l"), ("==", f"return l == l, l == [{a}], l != l, l != [{a}]"), ("index missing", f"l.remove({b}); return l.index({b})"), ("remove missing", f"l.remove({b}); l.remove({b}); return l")]
        bodies += [("sort", "l.sort(); return l"), ("sort reversed", "l.sort(reverse=True); return l"), ("sorted", "return sorted(l), l")] if kind != "Tensor" else []
    bodies += [("min", f"return min(l), max(l), min(l, [{b}]), max(l, [{b}])"), ("min empty", "l.clear(); return min(l)")] if kind in ("int", "float", "bool") else []
    bodies += [("sum", "return sum(l)")] if kind in ("int", "float", "bool", "complex") else []
    bodies += [("any", "return any(l)")] if kind in ("int", "float", "bool", "str") else []
    bodies += [("all", "return all(l)")] if kind in ("int", "float", "bool") else []
    for label, body in bodies:
        add(f"list {kind}/{label}", made + body)
add("len of tuples", "l = [(1, 2), (3, 4)]; return len(l), l[0], l[-1]")
add("dict of tensors", "d = {'a': x, 'b': y}; d['c'] = x; return d['a'], d.pop('b'), d['c'], list(d.values())")
