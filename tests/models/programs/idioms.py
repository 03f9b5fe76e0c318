# SPDX-License-Identifier: BSD-2-Clause
"""Idioms of several lines: facts about an Optional, nested containers, parts of tensors, objects that hold others, asynchronous calls, overloads.
Each function adds statements to a body, and definitions before the module."""
from kinds import BOOL, FLOAT, INT, STR, keyed, listed, literal, optional, spell, tensor, tupled


def named(b, letter, t, text):
    """Adds a variable of the type."""
    name = b.fresh(letter)
    b.put(f"{name} = {text}")
    b.vars[name] = t
    return name


def inside(b, head, *lines):
    b.put(head)
    for line in lines:
        b.put("    " + line)


# ---- Optionals

def counted_down(b):
    """Adds a loop that counts down to zero."""
    r, name, at, steps = b.r, b.fresh("o"), b.fresh(), b.fresh()
    b.put(f"{name}: Optional[int] = {b.argument(optional(INT), 1)}")
    b.put(f"{steps} = 0")
    stop = r.choice(["> 3", "< 1", "% 3 == 0"])
    if r.random() < 0.5:
        inside(b, f"while {name} is not None and {steps} < 4:", f"{steps} += 1", f"{at} = {name}", f"if {at} is not None and {at} {stop}:", f"    {name} = None", f"elif {at} is not None:", f"    {name} = {at} + {r.choice([1, 2, -1])}")
    else:
        inside(b, f"while {name} is not None:", f"{at} = torch.jit._unwrap_optional({name})", f"{steps} += {at}", f"if {steps} {stop} or {steps} > 20 or {steps} < -20 or {at} == 0:", f"    {name} = None",
               "else:", f"    {name} = {at} {r.choice(['- 1', '// 2'])}")
    b.vars[name], b.vars[steps] = optional(INT), INT


def refined(b):
    r = b.r
    of = r.choice([INT, STR, FLOAT, tensor(), listed(INT)])
    name, got = b.fresh("o"), b.fresh()
    b.put(f"{name}: {spell(optional(of), r, True)} = {b.argument(optional(of), 1)}")
    way = r.randrange(5)
    if way == 0:
        inside(b, f"if {name} is None:", f"{name} = {b.expr(of, 1)}")
        b.put(f"{got} = {name}")
    elif way == 1:
        b.put(f"{got} = {name} if {name} is not None else {b.expr(of, 1)}")
    elif way == 2:
        inside(b, f"if not ({name} is None):", f"{got} = {name}")
        inside(b, "else:", f"{got} = {b.expr(of, 1)}")
    elif way == 3:
        other = b.fresh("o")
        b.put(f"{other}: {spell(optional(of), r, True)} = {b.argument(optional(of), 1)}")
        inside(b, f"if {name} is not None and {other} is not None:", f"{got} = [{name}, {other}][{r.randrange(2)}]")
        inside(b, f"elif {name} is None or {b.expr(BOOL, 1)}:", f"{got} = {b.expr(of, 1)}")
        inside(b, "else:", f"{got} = {name}")
    else:
        inside(b, f"if {name} is None and {b.expr(BOOL, 1)}:", f"{got} = {b.expr(of, 1)}")
        inside(b, f"elif {name} is None:", "raise ValueError('nothing there')" if r.random() < 0.2 else f"{got} = {b.expr(of, 0)}")
        inside(b, "else:", f"assert {name} is not None", f"{got} = {name}")
    b.vars[got] = of


# ---- containers

def nested(b):
    """Adds nested lists, tuples and dicts, which are read and written by index."""
    r = b.r
    way = r.randrange(7)
    if way == 0:
        name = named(b, "v", keyed(STR, listed(INT)), f"{{'a': {b.expr(listed(INT), 1)}, 'b': [{b.expr(INT, 1)}]}}")
        b.put(f"{name}['b'][0] {r.choice(['+=', '-=', '*=', '='])} {b.expr(INT, 1)}")
        b.put(f"{name}['a'].append({b.expr(INT, 1)})")
        b.put(f"{name}[{r.choice(['a', 'b'])!r}] += [{b.expr(INT, 1)}]") if r.random() < 0.5 else b.put(f"{name}['a'][{r.choice(['-1', '0'])}] -= 1")
    elif way == 1:
        name = named(b, "v", listed(listed(FLOAT)), f"[[{b.expr(FLOAT, 1)}], {b.expr(listed(FLOAT), 1)}]")
        b.put(f"{name}[0][{r.choice(['0', '-1'])}] {r.choice(['+=', '*=', '-='])} {b.expr(r.choice([FLOAT, INT]), 1)}")
        b.put(f"{name}[-1].extend({name}[0])")
        named(b, "v", listed(FLOAT), f"[q * 2 for q in {name}[0]]")
    elif way == 2:
        key = r.choice([STR, INT])
        of = tupled(INT, tupled(STR, r.choice([BOOL, tensor()])))
        name = named(b, "v", keyed(key, of), f"{{{literal(key, r)}: {b.expr(of, 1)}}}")
        whole, first, second, rest = b.fresh("q"), b.fresh(), b.fresh(), b.fresh()
        b.put(f"{second} = ''")
        inside(b, f"for {whole} in {name}.values():", f"{first}, ({rest}, _) = {whole}", f"{second} += {rest}[:4] + str({first})")
        b.vars[second] = STR
    elif way == 3:
        name = named(b, "v", listed(tupled(STR, INT)), f"list({b.expr(keyed(STR, INT), 1)}.items())")
        named(b, "v", listed(INT), f"[q[1] * 2 for q in {name}]")
        if r.random() < 0.5:
            b.put(f"{name}.sort()")
        named(b, "v", keyed(STR, INT), f"dict({name})")
    elif way == 4:
        got = b.fresh("o")
        b.put(f"{got} = {b.expr(keyed(STR, INT), 1)}.get({b.expr(STR, 1)})")
        b.vars[got] = optional(INT)
    elif way == 5:
        a, c = b.random_type(0), b.random_type(0)
        name = named(b, "v", tupled(a, c, a), f"({b.expr(a, 1)}, {b.expr(c, 1)}) + ({b.expr(a, 1)},)")
        x, y = b.fresh(), b.fresh()
        b.put(f"{x}, *{y} = {name}") if r.random() < 0.3 else b.put(f"{x}, {y} = {name}[1:]")
        b.vars[x] = a if b.lines[-1].strip().startswith(f"{x}, *") else c
    else:
        name = named(b, "v", listed(listed(INT)), f"[[i * j for i in range({r.randrange(4)})] for j in range({r.randrange(4)})]")
        named(b, "v", INT, f"sum([len(q) for q in {name}])")


def loops(b):
    r, total, i = b.r, b.fresh(), b.fresh("i")
    b.put(f"{total} = {b.expr(INT, 1)}")
    a, c = b.fresh("q"), b.fresh("q")
    way = r.randrange(8)
    if way == 0:
        inside(b, f"for {i}, ({a}, {c}) in enumerate(zip({b.expr(listed(INT), 1)}[:3], {b.expr(listed(STR), 1)}[:3])):", f"{total} += {i} * {a} + len({c})")
    elif way == 1:
        over = named(b, "v", listed(INT), b.expr(listed(INT), 1))
        inside(b, f"for {i} in range(len({over}) - 1, -1, -1):", f"{total} {r.choice(['+=', '-=', '^='])} {over}[{i}] * {i}")
    elif way == 2:
        inside(b, "while True:", f"{total} {r.choice(['+= 3', f'= {total} // 2', '-= 1'])}", f"if {total} > 5 or {total} < 1:", "    break")
    elif way == 3:
        inside(b, f"for {i}, {a} in enumerate({b.expr(listed(INT), 1)}[:4], {r.choice(['1', '5', '-1'])}):", f"if {a} {r.choice(['>', '==', '<='])} {i}:", "    continue", f"{total} += {a}")
    elif way == 4:
        inside(b, f"for {a} in (1, {r.choice(['2.5', '-1.5'])}, {b.expr(BOOL, 0)}):", f"{total} += int({a})")
    elif way == 5:
        inside(b, f"for {i} in range(3):", f"for {a} in range({i}):", f"    if {a} == {r.randrange(3)}:", f"        {r.choice(['break', 'continue'])}", f"    {total} += {a} * {i} + 1",
               f"if {total} > {b.expr(INT, 0)}:", f"    {r.choice(['break', 'continue'])}", f"{total} -= 1")
    elif way == 6:
        inside(b, f"for {a} in sorted({b.expr(keyed(STR, INT), 1)}.keys()):", f"{total} = {total} * 2 + len({a})")
    else:
        over = named(b, "v", listed(STR), b.expr(listed(STR), 1))
        inside(b, f"for {i} in range(min(len({over}), {r.choice(['2', '9'])})):", f"{over}[{i}] {r.choice(['+=', '='])} {over}[-1] + str({i})", f"{total} += {over}[{i}].count('a')")
    b.vars[total] = INT


def compared(b):
    r, x, y = b.r, b.fresh(), b.fresh()
    b.put(f"{x} = {y} = {b.expr(INT, 1)}")
    b.put(f"{x} {r.choice(['+=', '*='])} 2")
    b.vars[x] = b.vars[y] = INT
    named(b, "v", BOOL, r.choice([f"{b.expr(INT, 1)} < {x} <= {b.expr(INT, 1)}", f"{b.expr(STR, 1)} not in [{b.expr(STR, 1)}, 'a']", f"{x} in {b.expr(listed(INT), 1)}", f"({x}, {y}) == ({y}, {b.expr(INT, 0)})",
                                  f"not {b.expr(BOOL, 1)} or {x} != {y} and {b.expr(BOOL, 1)}", f"{b.expr(STR, 1)} not in {b.expr(keyed(STR, INT), 1)}", f"{b.expr(listed(INT), 1)} == [{x}, {y}]",
                                  f"{b.expr(listed(STR), 1)} != {b.expr(listed(STR), 1)}", f"0 <= {x} and {b.expr(FLOAT, 1)} < {y} == {x}"]))


# ---- tensors

def parts(b):
    """Adds three kinds of reads and writes: with several indices at once, with steps, and with indices that count from the end."""
    r = b.r
    dtype = r.choice(["float32", "float32", "int64"])
    name = named(b, "v", tensor(dtype, (2, 2, 3)), b.expr(tensor(dtype, (2, 2, 3)), 1) + ".clone()")
    forms = {"[0, 1]": (3,), "[:, 0]": (2, 3), "[:, -1, ::2]": (2, 2), "[..., -1]": (2, 2), "[0, :, 1]": (2,), "[1, 0, -1]": (), "[:, None, 1, 1:]": (2, 1, 2), "[..., 1:, 0]": (2, 1), "[-1:, :, ::2]": (1, 2, 2),
             "[torch.tensor([1, 0]), 0]": (2, 3), "[0, torch.tensor([0, 1, 1])]": (3, 3), "[:, :, torch.tensor([2, 0])]": (2, 2, 2), "[0][1][2]": (), "[1, ..., :2]": (2, 2), "[:, [0, -1], 1]": (2, 2), "[-2, :-1, -3:-1]": (1, 2)}
    at = lambda: r.choice(sorted(forms))
    one = at()
    named(b, "v", tensor(dtype, forms[one]), name + one)
    for _ in range(r.randrange(1, 4)):
        one = at()
        text = b.expr(tensor(dtype, forms[one]), 1)
        number = r.choice(["2", "-1", "3"])
        if one.startswith("[0][1]"):
            b.put(f"{name}{one} = {number}")
        else:
            b.put(f"{name}{one} {r.choice(['=', '+=', '*=', '-='])} {r.choice([text, number])}")
    if r.random() < 0.4:
        b.put(f"{name}[{name} > {r.choice(['0', '1'])}] {r.choice(['= 0', '+= 1', '*= 2'])}")
    if r.random() < 0.3:
        i = b.fresh("i")
        inside(b, f"for {i} in range(2):", f"{name}[{i}, 1 - {i}] = {name}[1 - {i}, {i}] + {i}")


def quantities(b):
    """Adds quantized tensors and their parts."""
    r = b.r
    made = f"torch.quantize_per_tensor({b.expr(tensor(), 1)}, {r.choice(['0.1', '0.5'])}, {r.choice(['0', '12', '100'])}, torch.{r.choice(['quint8', 'qint8', 'qint32'])})"
    if r.random() < 0.35:
        made = f"torch.quantize_per_channel({b.expr(tensor(), 1)}, torch.tensor([0.1, 0.25]), torch.tensor([{r.choice(['0, 0', '3, 7'])}]), 0, torch.{r.choice(['quint8', 'qint8'])})"
        name = b.fresh("z")
        b.put(f"{name} = {made}")
        named(b, "v", tensor(), r.choice([f"{name}.dequantize()", f"{name}.int_repr().float()", f"{name}.q_per_channel_scales().float()[:1].expand([2, 3]).clone()", f"{name}.clone().dequantize()"]))
        return
    name = b.fresh("z")
    b.put(f"{name} = {made}")
    way = r.randrange(5)
    if way == 0:
        named(b, "v", FLOAT, f"{name}.q_scale()")
        named(b, "v", INT, f"{name}.q_zero_point()")
    elif way == 1:
        named(b, "v", tensor("float32", (3, 2)), f"{name}.{r.choice(['transpose(0, 1)', 'reshape([3, 2])', 't()', 'permute([1, 0])'])}.dequantize()")
    elif way == 2:
        named(b, "v", tensor("float32", (3,)), f"{name}[{r.choice(['0', '-1'])}].dequantize()")
    elif way == 3:
        named(b, "v", tensor(), f"torch.cat([{name}, {name}]).dequantize()[{r.choice(['0:2', '1:3'])}]")
    else:
        named(b, "v", tensor("int64"), f"{name}.int_repr().long()")


# ---- functions

def waited(b):
    """Adds calls of torch.jit.fork and torch.jit.wait."""
    r = b.r
    able = [f for f in b.world.functions if not f.method and f.params and all(t[0] not in ("opt", "union") for _, t, _ in f.params) and f.result[0] not in ("opt", "union", "class")]
    if not able or b.world.building:
        return compared(b)
    f = r.choice(able)
    # The arguments must not raise: PyTorch computes arguments that the function does not use, and Taper omits them.
    call = lambda: f"torch.jit.fork({f.name}, {', '.join(b.expr(t, 0) for _, t, _ in f.params)})"
    future = b.fresh("w")
    b.put(f"{future} = {call()}")
    if r.random() < 0.4:
        futures = b.fresh("w")
        b.put(f"{futures} = [{future}, {call()}]")
        named(b, "v", listed(f.result), f"[torch.jit.wait(q) for q in {futures}]")
    else:
        b.statement()
        named(b, "v", f.result, f"torch.jit.wait({future})")


def anything(b):
    """Adds a function that takes Any."""
    if b.world.building:
        return compared(b)
    r, name = b.r, b.world.definition("any")
    b.world.lines += ["", "", f"def {name}(x: Any, n: int = {r.randrange(4)}) -> str:", "    if isinstance(x, int):", "        return str(x + n)", "    elif isinstance(x, str):", "        return x.ljust(n, '!') + '!'",
                      "    elif torch.jit.isinstance(x, List[int]):", "        return 'list of ' + str(len(x))", "    elif isinstance(x, Tensor):", "        return str(x.dim())", "    return 'other'"]
    named(b, "v", STR, f"{name}({b.expr(r.choice([INT, STR, FLOAT, listed(INT), tensor(), listed(STR)]), 1)})")
    named(b, "v", listed(STR), f"[{name}({b.expr(INT, 1)}), {name}({b.expr(tensor(), 1)}, 1)]")


def overloaded(b):
    """Adds two functions with one name, selected by their arguments."""
    if b.world.building:
        return compared(b)
    r, name = b.r, b.world.definition("over")
    a, c = r.sample([INT, STR, FLOAT, tensor(), listed(INT)], 2)
    for t in (a, c):
        b.world.lines += ["", "", "@torch.jit._overload", f"def {name}(x: {spell(t, r, True)}) -> {spell(t, r, True)}:", "    ..."]
    b.world.lines += ["", "", f"def {name}(x):", "    return x + x"]
    named(b, "v", a, f"{name}({b.expr(a, 1)})")
    named(b, "v", c, f"{name}({b.expr(c, 1)})")


# ---- objects

def holders(b):
    """Adds lists and dicts of objects, and an object that contains another object."""
    r = b.r
    able = [c[0] for c in b.world.classes if c[0][1] != b.world.building]
    if not able or b.world.building:
        return nested(b)
    kind = r.choice(able)
    way = r.randrange(4)
    if way == 0:
        name = b.fresh("c")
        b.put(f"{name} = [{b.expr(kind, 1)}, {b.expr(kind, 1)}]")
        b.put(f"{name}.append({b.expr(kind, 1)})")
        b.put(f"{name}[{r.choice(['0', '-1', '1'])}].f0 {r.choice(['+=', '-=', '='])} {b.expr(INT, 1)}")
        if r.random() < 0.5:
            b.put(f"{name}[0] = {name}[2]")
        i = b.fresh("i")
        inside(b, f"for {i} in {name}:", f"{i}.f0 += 1")
        named(b, "v", listed(INT), f"[q.f0 for q in {name}]")
    elif way == 1:
        name = b.fresh("c")
        b.put(f"{name} = {{'x': {b.expr(kind, 1)}, 'y': {b.expr(kind, 1)}}}")
        b.put(f"{name}['y'] = {name}[{r.choice(['x', 'y'])!r}]")
        b.put(f"{name}['x'].f0 {r.choice(['+=', '='])} {b.expr(INT, 1)}")
        named(b, "v", INT, f"{name}['y'].f0 + len({name})")
    elif way == 2:
        holder = b.world.definition("H")
        b.world.lines += ["", "", f"class {holder}:", f"    def __init__(self, one: {kind[1]}, n: int):", "        self.one = one", "        self.n = n", "", "    def deep(self, by: int) -> int:", f"        self.one.f0 {r.choice(['+=', '-='])} by",
                          f"        return self.one.f0 {r.choice('+-*')} self.n", "", f"    def swap(self, other: {kind[1]}) -> {kind[1]}:", "        before = self.one", "        self.one = other", "        return before"]
        name, old = b.fresh("h"), b.fresh("c")
        b.put(f"{name} = {holder}({b.expr(kind, 1)}, {b.expr(INT, 1)})")
        b.put(f"{old} = {name}.swap({b.expr(kind, 1)})")
        b.put(f"{name}.one.f0 {r.choice(['+=', '='])} {old}.f0 + {name}.n")
        named(b, "v", INT, f"{name}.deep({b.expr(INT, 1)}) + {old}.f0")
    else:
        entered = b.world.definition("W")
        if not b.world.scopes:
            return holders_of_tuples(b)
        b.world.lines += ["", "", f"class {entered}:", "    def __init__(self, log: List[str]):", "        self.log = log", "", "    def __enter__(self) -> int:", "        self.log.append('in')", "        return len(self.log)", "",
                          "    def __exit__(self, a: Any, b: Any, c: Any) -> None:", "        self.log.append('out')"]
        log, got = b.fresh(), b.fresh()
        b.put(f"{log} = {b.expr(listed(STR), 1)}")
        inside(b, f"with {entered}({log}) as {got}:", f"{log}.append(str({got}))")
        b.vars[log] = listed(STR)


def holders_of_tuples(b):
    """Adds named tuples in containers, and a named tuple whose fields are read."""
    r = b.r
    if not b.world.named or b.world.building:
        return nested(b)
    kind = r.choice(b.world.named)
    name = b.fresh("n")
    b.put(f"{name} = [{b.expr(kind, 1)}, {b.expr(kind, 1)}]")
    b.put(f"{name}[0] = {b.expr(kind, 1)}")
    parts = [b.fresh() for _ in kind[2]]
    b.put(f"{', '.join(parts)}{',' if len(parts) == 1 else ''} = {name}[{r.choice(['0', '-1'])}]")
    b.vars.update(zip(parts, kind[2]))
    named(b, "v", kind[2][0], f"{{'k': {name}[1]}}['k'].f0")


STATEMENTS = (counted_down, refined, nested, nested, loops, loops, compared, parts, parts, quantities, waited, anything, overloaded, holders, holders, holders_of_tuples)


def statement(b):
    (b.r.choice(STATEMENTS) if b.world is not None else b.r.choice((counted_down, refined, nested, loops, compared, parts)))(b)
