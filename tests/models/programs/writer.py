# SPDX-License-Identifier: BSD-2-Clause
"""Writes whole programs from a seed: enums, named tuples, classes, functions, submodules and a module, with the calls to make."""
import random

import layers
import modules
from expressions import Expressions
from kinds import BOOL, FLOAT, INT, SCALARS, STR, is_kind, keyed, listed, literal, optional, shape_text, spell, tensor, value
from statements import Body

HEAD = """import enum
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.quantized as nnq
import torch.nn.quantized.dynamic as nnqd
import typing
from torch import Tensor
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union
"""


class Function:
    def __init__(self, name, params, result, method=False):
        self.name, self.params, self.result, self.method = name, params, result, method  # params: [(name, type, default value or None)] of the parameters

    def call(self, e, d):
        r, given, named = e.r, [], False
        for name, t, default in self.params:
            if default is not None and r.random() < 0.4:
                named = True  # this argument is omitted, so later arguments are passed by name
                continue
            text = e.argument(t, d)
            named = named or r.random() < 0.15
            given.append(f"{name}={text}" if named else text)
        return f"{'self.' if self.method else ''}{self.name}({', '.join(given)})"


class World:
    """The definitions of a program outside of its module."""

    def __init__(self):
        self.functions, self.classes, self.enums, self.named, self.building, self.lines = [], [], [], [], None, []
        self.defined = 0  # number of names that were defined so far
        self.scopes = False  # true if the program uses `with`, which the lite interpreter does not support

    def definition(self, letters):
        """Returns a new name."""
        self.defined += 1
        return f"{letters}{self.defined}"

    def types(self):
        return [c[0] for c in self.classes if c[0][1] != self.building] + self.named


def returnable(t):
    """Returns a type that the caller can receive, which has a form in JSON."""
    if is_kind(t, "class") or is_kind(t, "enum"):
        return False
    return all(returnable(k) for k in t[1:] if isinstance(k, (str, tuple)) and k and not isinstance(k, str)) if t[0] in ("list", "dict", "tuple", "opt") else all(map(returnable, t[2])) if t[0] == "named" else True


def parameters(e, r, least, most, given=False):
    """given: true if the caller passes the arguments, which restricts their types."""
    made, defaults = [], False
    for i in range(r.randrange(least, most)):
        t = e.wide_type()
        while given and not passable(t):
            t = e.wide_type()
        default = None
        if defaults or r.random() < 0.2:
            if t[0] == "opt" or t in SCALARS:
                default, defaults = "None" if t[0] == "opt" else literal(t, r), True
            elif defaults:
                continue
        made.append((f"p{i}", t, default))
    return made


def passable(t):
    if isinstance(t, str):
        return t != "complex"
    if t[0] in ("class", "enum", "named"):
        return False
    if t[0] == "dict" and t[1] not in (STR, INT):
        return False
    return all(passable(k) for k in t[1:]) if t[0] != "tensor" else True


def signature(name, params, result, r, method):
    """Returns the lines of a function's head; types are next to the names, or in a comment."""
    of_self = ["self"] if method else []
    if params and r.random() < 0.1 and result is not None:
        plain = [n + (f"={d}" if d is not None else "") for n, _, d in params]
        return [f"def {name}({', '.join(of_self + plain)}):", f"    # type: ({', '.join(spell(t, r, True) for _, t, _ in params)}) -> {spell(result, r, True)}"]
    typed = [f"{n}: {spell(t, r)}" + (f" = {d}" if d is not None else "") for n, t, d in params]
    arrow = f" -> {spell(result, r)}" if result is not None else ""
    return [f"def {name}({', '.join(of_self + typed)}){arrow}:"]


def function(world, r, name, module=None, method=False, level=0):
    """Returns the lines of a function that returns one type."""
    e = Expressions(r, module, world)
    params, result = parameters(e, r, 0, 4), e.wide_type() if r.random() < 0.3 else e.random_type()
    body = Body(r, module, world, result, level + 1)
    body.calm = r.random() < 0.7
    body.vars.update({n: t for n, t, _ in params})
    for _ in range(r.randrange(1, 6)):
        body.statement()
    body.put(f"return {body.argument(result, 2)}")
    written = result if result[0] in ("opt", "union") or any("return" in line for line in body.lines[:-1]) or r.random() < 0.7 else None
    head = ["    " * level + line for line in signature(name, params, written, r, method)]
    return Function(name, params, result, method), head + body.lines


def named_tuple(world, r, name):
    e = Expressions(r)
    types = tuple(e.random_type(0) for _ in range(r.randrange(1, 4)))
    fields = tuple(f"f{i}" for i in range(len(types)))
    world.named.append(("named", name, types, fields))
    world.lines += ["", "", f"class {name}(NamedTuple):"] + [f"    {f}: {spell(t, r, True)}" for f, t in zip(fields, types)]


def enumeration(world, r, name):
    of = r.choice([INT, STR, FLOAT])
    members = tuple(("RED", "GREEN", "BLUE")[:r.randrange(2, 4)])
    values = {INT: ["1", "2", "7"], STR: ["'a'", "'bc'", "''"], FLOAT: ["0.5", "2.0", "-1.5"]}[of]
    world.enums.append(("enum", name, members, of))
    world.lines += ["", "", f"class {name}(enum.Enum):"] + [f"    {m} = {v}" for m, v in zip(members, values)]


def script_class(world, r, name):
    """Writes a class with fields, methods and some magic methods."""
    e = Expressions(r)
    types = (INT,) + tuple(r.choice([FLOAT, STR, BOOL, listed(INT), keyed(STR, FLOAT), tensor(), listed(STR)]) for _ in range(r.randrange(1, 4)))
    fields = tuple(f"f{i}" for i in range(len(types)))
    kind, forms, writers = ("class", name, types, fields), [], []
    lines = ["", "", f"class {name}:", "    def __init__(self, " + ", ".join(f"{f}: {spell(t, r)}" for f, t in zip(fields, types)) + "):"] + [f"        self.{f} = {f}" for f in fields]
    world.building = name
    scope = {f"self.{f}": t for f, t in zip(fields, types)}

    def method(method_name, params, result, form, written=None):
        body = Body(r, None, world, result, 2)
        body.calm = True
        body.vars.update(scope)
        body.frozen |= {f for f, t in scope.items() if r.random() < 0.5}
        body.vars.update({f"p{i}": t for i, t in enumerate(params)})
        for _ in range(r.randrange(0, 3)):
            body.statement()
        body.put(f"return {body.expr(result)}")
        head = "    " + f"def {method_name}(self" + "".join(f", p{i}: {spell(t, r)}" for i, t in enumerate(params)) + f") -> {spell(result, r)}:"
        lines.extend([""] + [head] + body.lines)
        forms.append((result, params, form))

    for i in range(r.randrange(1, 3)):
        params = [e.random_type(0) for _ in range(r.randrange(0, 3))]
        method(f"m{i}", params, e.random_type(0), f"{{0}}.m{i}({', '.join('{%d}' % (k + 1) for k in range(len(params)))})")
    magic = [("__len__", [], INT, "len({0})"), ("__getitem__", [INT], e.random_type(0), "{0}[{1}]"), ("__contains__", [STR], BOOL, "({1} in {0})"), ("__neg__", [], FLOAT, "(-{0})"),
             ("__add__", [INT], INT, "({0} + {1})"), ("__mul__", [FLOAT], FLOAT, "({0} * {1})"), ("__mod__", [INT], INT, "({0} % {1})"),
             ("__sub__", [tensor()], tensor(), "({0} - {1})"), ("__call__", [INT], STR, "{0}({1})"), ("__and__", [INT], INT, "({0} & {1})"), ("__truediv__", [FLOAT], FLOAT, "({0} / {1})")]
    for row in r.sample(magic, r.randrange(0, 4)):
        method(*row)
    if r.random() < 0.5:
        ops = {"__lt__": "<", "__eq__": "==", "__ne__": "!=", "__gt__": ">", "__le__": "<=", "__ge__": ">="}
        for magic_name in ["__lt__"] + r.sample(sorted(ops)[:5], 2):
            if any(f"def {magic_name}(" in line for line in lines):
                continue
            lines.extend(["", f"    def {magic_name}(self, other: \"{name}\") -> bool:", f"        return self.f0 {ops[magic_name]} other.f0"])
            forms.append((BOOL, [kind], f"({{0}} {ops[magic_name]} {{1}})"))
        forms.append((INT, [kind, kind], "sorted([{0}, {1}, {2}])[0].f0"))
    if r.random() < 0.3:
        lines.extend(["", "    def __setitem__(self, i: int, v: int):", "        self.f0 = i * v"])
        writers.append(([INT, INT], "{0}[{1}] = {2}"))
    if r.random() < 0.4:
        field, of = r.choice(list(zip(fields, types)))
        lines.extend(["", f"    def put(self, v: {spell(of, r)}):", f"        self.{field} = v"])
        writers.append(([of], "{0}.put({1})"))
    world.building = None
    world.classes.append((kind, forms, writers))
    world.lines += lines


class Module:
    """The attributes and layers of a module while its methods are written."""

    def __init__(self, r, world):
        self.r, self.world, self.attributes, self.init, self.made, self.notes, self.methods = r, world, {}, [], {}, [], []
        self.whole, self.more = False, []  # whole: true for the program's main module; more: lines of methods that come after all other methods

    def layer(self, text):
        known = self.made.setdefault(text, [])
        if known and self.r.random() < 0.4:
            return self.r.choice(known)
        name = f"self.layer{sum(map(len, self.made.values()))}"
        known.append(name)
        self.init.append(f"{name} = {text}")
        return name

    def parameter(self, shape):
        name = f"self.w_{'_'.join(map(str, shape))}"
        line = f"{name} = nn.Parameter(torch.randn({shape_text(shape)}))"
        if line not in self.init:
            self.init.append(line)
        return name

    def layers(self, e, shape):
        return layers.makers(self, e, shape)

    def attribute(self):
        r, name = self.r, f"a{len(self.attributes)}"
        t = r.choice([INT, INT, FLOAT, BOOL, STR, listed(INT), listed(STR), keyed(STR, INT), keyed(INT, tensor()), optional(tensor()), optional(INT), ("tuple", INT, STR), listed(tensor()), tensor(), tensor("int64", (3,)), "buffer"])
        if t == "buffer" or is_kind(t, "tensor"):
            t = tensor() if t == "buffer" else t
            self.init.append(r.choice([f"self.register_buffer('{name}', {literal(t, r)})", f"self.{name} = {literal(t, r)}"] if t[1] != "float32" else [f"self.register_buffer('{name}', torch.randn([2, 3]))", f"self.{name} = torch.zeros([2, 3])"]))
        elif isinstance(t, str):
            self.init.append(f"self.{name} = {literal(t, r)}")
        else:
            value = r.choice(["None", literal(t[1], r)]) if t[0] == "opt" else literal(t, r)
            if r.random() < 0.3:
                self.init.append(f"self.{name} = torch.jit.Attribute({value}, {spell(t, r, True)})")
            else:
                self.notes.append(f"{name}: {spell(t, r, True)}")
                self.init.append(f"self.{name} = {value}")
        self.attributes["self." + name] = t

    def containers(self, body):
        """Adds loops over lists and dicts of modules, which are unrolled."""
        r = self.r
        if "self.list" not in " ".join(self.init):
            self.init.append("self.list = nn.ModuleList([nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3)])")
            self.init.append("self.table = nn.ModuleDict({'a': nn.Linear(3, 3), 'b': nn.Tanh()})")
        x = body.fresh()
        body.put(f"{x} = {body.expr(tensor())}")
        body.vars[x] = tensor()
        way = r.randrange(6)
        if way == 0:
            body.put("for layer in self.list:")
            body.put(f"    {x} = layer({x})")
        elif way == 1:
            body.put("for i, layer in enumerate(self.list):")
            body.put(f"    {x} = layer({x}) + i")
        elif way == 2:
            body.put("for name, layer in self.table.items():")
            body.put("    if name " + r.choice(["== 'a'", "!= 'b'", "in ['a', 'c']"]) + ":")
            body.put(f"        {x} = layer({x})")
        elif way == 3:
            body.put("for layer, again in zip(self.list, self.list):")
            body.put(f"    {x} = layer(again({x}))")
        elif way == 4:
            body.put(f"{x} = self.list[{r.choice(['0', '-1', '2'])}](self.table['a']({x}))")
        else:
            body.put("for name in self.table:")
            body.put(f"    {x} = {x} + len(name) + len(self.list)")


def submodule(r, world, name):
    """Writes a module with state, which other modules call."""
    module = Module(r, world)
    for _ in range(r.randrange(1, 4)):
        module.attribute()
    f, lines = function(world, r, "forward", module, True, 1)
    head = ["", "", f"class {name}(nn.Module):"] + ["    " + n for n in module.notes] + ["    def __init__(self):", "        super().__init__()"]
    world.lines += head + ["        " + line for line in module.init] + [""] + lines
    return f


def program(seed):
    """Returns (source of the program, [(method, arguments)] of the calls to make)."""
    import torch
    r = random.Random(seed)
    world = World()
    world.scopes = r.random() < 0.05
    for i in range(r.choice([0, 0, 0, 0, 1])):
        enumeration(world, r, f"E{i}")
    for i in range(r.choice([0, 0, 1, 2])):
        named_tuple(world, r, f"N{i}")
    for i in range(r.choice([0, 0, 0, 0, 1, 2])):
        script_class(world, r, f"C{i}")
    for i in range(r.choice([0, 1, 2])):
        made, lines = function(world, r, f"fn{i}")
        world.functions.append(made)
        world.lines += ["", ""] + lines
    inner = [(f"inner{i}", submodule(r, world, f"Inner{i}")) for i in range(r.choice([0, 0, 1, 2]))]
    module = Module(r, world)
    module.whole = True
    for name, f in inner:
        module.init.append(f"self.{name} = {name.capitalize()}()")
        world.functions.append(Function(name, f.params, f.result, True))
    for _ in range(r.randrange(1, 5)):
        module.attribute()
    for i in range(r.choice([0, 1, 1, 2])):
        made, lines = function(world, r, f"helper{i}", module, True, 1)
        world.functions.append(made)
        module.methods += [""] + lines
    entries = [("forward", entry(r, world, module, "forward"))]
    if r.random() < 0.4:
        module.methods += ["", "    @torch.jit.export"]
        entries.append(("other", entry(r, world, module, "other")))
    head = ["", "", "class M(nn.Module):"] + ["    " + n for n in module.notes] + ["    def __init__(self):", "        super().__init__()"] + ["        " + line for line in module.init]
    source = HEAD + "\n".join(world.lines + head + module.methods + module.more) + "\n"
    calls = []
    for name, params in [entries[0], entries[0]] + entries[1:] + [entries[0]]:
        kept = len(params)
        while kept and params[kept - 1][2] is not None and r.random() < 0.3:
            kept -= 1
        calls.append((name, [value(t, r, torch) for _, t, _ in params[:kept]]))
    return source, calls


def entry(r, world, module, name):
    """Writes a method that the caller calls, and returns its parameters. The method returns most of its values."""
    body = Body(r, module, world, None, 2)
    body.calm = r.random() < 0.7
    params = [(f"{t[0]}{i}" if isinstance(t, str) else f"t{i}", t, None) for i, t in enumerate((INT, FLOAT, STR, BOOL, listed(INT), tensor(), tensor("int64"), tensor("float32", (3,)))) if r.random() < 0.45]
    params += parameters(body, r, 0 if params else 1, 4, given=True)
    body.vars.update({n: t for n, t, _ in params})
    if r.random() < 0.25:
        body.vars["image"] = tensor("float32", layers.IMAGE)
        body.put(f"image = {literal(body.vars['image'], r)}")
    if r.random() < 0.15:
        body.vars["steps"] = tensor("float32", layers.SEQUENCE)
        body.put(f"steps = {literal(body.vars['steps'], r)}")
    for _ in range(r.randrange(4, 16)):
        choice = r.random()
        module.containers(body) if choice < 0.04 else modules.statement(body) if choice < 0.08 else body.statement()
        for big in ("image", "steps"):
            if big in body.vars and r.random() < 0.3:
                body.put(f"{big} = {body.expr(body.vars[big])}")
    scope = [(n, t) for n, t in body.vars.items() if returnable(t) and t[0] != "union"]
    # PyTorch gives an Optional that is known to be None the type None, so the type is annotated.
    kept = [f"torch.jit.annotate({spell(t, r, True)}, {n})" if t[0] == "opt" else n for n, t in scope if r.random() < 0.75] or ["1"]
    kept += [f"{n}.f0" for n, t in body.named("class")] + [n for n, t in module.attributes.items() if returnable(t)]
    body.put(f"return ({', '.join(kept)},)")
    head = ["    " + line for line in signature(name, params, None, r, True)]
    module.methods += [""] * (name == "forward") + head + body.lines
    return params
