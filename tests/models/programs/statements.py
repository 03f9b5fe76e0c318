# SPDX-License-Identifier: BSD-2-Clause
"""Statements of a function: assignments, writes, branches, loops, returns, exceptions."""
import idioms
import kinds
from expressions import Expressions
from kinds import BOOL, FLOAT, INT, STR, is_kind, keyed, listed, optional, spell, tensor

RETURNABLE = ("tensor", "list", "dict", "tuple", "opt", "named")


class Body(Expressions):
    """The lines of one function. result: the return type, or None if the last statement of the body decides it."""

    def __init__(self, r, module=None, world=None, result=None, depth=2):
        super().__init__(r, module, world)
        self.lines, self.level, self.loops, self.result, self.start, self.calm = [], depth, 0, result, depth, False

    def put(self, text):
        self.lines.append("    " * self.level + text)

    def fresh(self, letter="v"):
        self.count += 1
        return f"{letter}{self.count}"

    def block(self, size, names=()):
        """Returns lines that are indented by one level more. Names that these lines define are out of scope after them."""
        outer, frozen = dict(self.vars), set(self.frozen)
        self.vars.update(names)
        self.level += 1
        at = len(self.lines)
        for _ in range(size):
            self.statement()
        if len(self.lines) == at:
            self.put("pass")
        self.level -= 1
        self.vars, self.frozen = outer, frozen

    # ---- assignments

    def assign(self):
        r = self.r
        old = [(n, t) for n, t in self.vars.items() if n not in self.frozen and t[0] not in ("opt", "union")]
        if old and r.random() < 0.3:
            name, t = r.choice(old)
            value = self.expr(t)
            return self.put(f"{name} = {value}" + ("[:40]" if t == STR else ""))
        t = self.random_type()
        value, name = self.expr(t), self.fresh()
        self.put(f"{name}: {spell(t, r, True)} = {value}" if r.random() < 0.25 else f"{name} = {value}")
        self.vars[name] = t

    def assign_wide(self):
        t = self.wide_type()
        name = self.fresh("o")
        self.put(f"{name}: {spell(t, self.r, True)} = {self.argument(t, 2)}")
        self.vars[name] = t

    def unpack(self):
        r = self.r
        types = [self.random_type(0) for _ in range(r.randrange(2, 4))]
        values, names = [self.expr(t) for t in types], [self.fresh() for _ in types]
        if r.random() < 0.2:
            self.put(f"({names[0]}, {names[1]}), *_ = ({values[0]}, {values[1]}), 1, 2" if r.random() < 0.3 else f"({names[0]}, {names[1]}), {names[-1]}x = ({values[0]}, {values[1]}), 1")
            names, types = names[:2], types[:2]
        else:
            self.put(f"{', '.join(names)} = {r.choice(['{}', '({})']).format(', '.join(values))}")
        self.vars.update(zip(names, types))

    def augment(self):
        r = self.r
        old = [(n, t) for n, t in self.vars.items() if n not in self.frozen and (t in (INT, FLOAT, STR) or is_kind(t, "list") or is_kind(t, "tensor"))]
        if self.module:
            old += [(n, t) for n, t in self.module.attributes.items() if t in (INT, FLOAT) or (is_kind(t, "tensor") and t[1] == "float32")]
        if not old:
            return self.assign()
        name, t = r.choice(old)
        if t == INT:
            ways = ["+=", "-=", "*="] + (["|=", "&=", "^="] if "." not in name else [])
            self.put(f"{name} {r.choice(ways)} {r.choice(['2', '3', '5'])}" if r.random() < 0.5 else f"{name} += {self.expr(INT)}")
        elif t == FLOAT:
            self.put(f"{name} {r.choice(['+=', '-=', '*='])} {self.expr(r.choice([FLOAT, INT]))}" if r.random() < 0.7 else f"{name} /= {r.choice(['2', '0.5'])}")
        elif t == STR:
            self.put(f"{name} += {self.expr(STR)}[:9]")
        elif is_kind(t, "list"):
            self.put(f"{name} += [{self.expr(t[1])}]")
        elif t[1] == "bool":
            self.put(f"{name} {r.choice(['|=', '&=', '^='])} {self.expr(t)}")
        elif t[1] == "float32":
            self.put(f"{name} {r.choice(['+=', '-=', '*=', '/='])} {r.choice([self.expr(tensor('float32', t[2])), '2', '0.5'])}")
        else:
            self.put(f"{name} {r.choice(['+=', '-=', '*='])} {r.choice([self.expr(t), '2'])}")

    # ---- writes

    def write_list(self):
        r = self.r
        old = self.named("list") + ([(n, t) for n, t in self.module.attributes.items() if is_kind(t, "list")] if self.module else [])
        if not old:
            return self.assign()
        name, t = r.choice(old)
        item = lambda: self.expr(t[1], 1)
        ways = [lambda: f"{name}.append({item()})"] * 3 + [lambda: f"{name}.extend([{item()}, {item()}])", lambda: f"{name}.insert({self.r.choice(['0', '1', '-1', '5'])}, {item()})", lambda: f"{name}.reverse()", lambda: f"{name}.clear()"]
        guarded = [lambda: f"{name}[{r.choice(['0', '-1'])}] = {item()}", lambda: f"{name}.pop({r.choice(['', '0', '-1'])})", lambda: f"del {name}[{r.choice(['0', '-1'])}]"]
        if t[1] in (INT, FLOAT, STR):
            ways.append(lambda: f"{name}.sort({r.choice(['', 'reverse=True', 'True'])})")
            guarded.append(lambda: f"{name}.remove({name}[0])")
        if t[1] in (INT, FLOAT):
            guarded.append(lambda: f"{name}[0] += {item()}")
        if r.random() < 0.5:
            return self.put(r.choice(ways)())
        if r.random() < 0.92:
            self.put(f"if len({name}) > 0:")
            self.level += 1
            self.put(r.choice(guarded)())
            self.level -= 1
        else:
            self.put(r.choice(guarded)())

    def write_dict(self):
        r = self.r
        old = self.named("dict") + ([(n, t) for n, t in self.module.attributes.items() if is_kind(t, "dict")] if self.module else [])
        if not old:
            return self.assign()
        name, t = r.choice(old)
        key, item = lambda: self.key(t[1], 1), lambda: self.expr(t[2], 1)
        ways = [lambda: f"{name}[{key()}] = {item()}"] * 4 + [lambda: f"{name}.setdefault({key()}, {item()})", lambda: f"{name}.update({self.expr(t, 1)})", lambda: f"{name}.pop({key()}, {item()})",
                                                              lambda: f"{name}.clear()"]
        if r.random() < 0.1:
            ways = [lambda: f"{name}.pop({key()})", lambda: f"del {name}[{key()}]", lambda: f"{name}.popitem()", lambda: f"{self.fresh()} = {name}[{key()}]"]
        elif r.random() < 0.2:
            k = self.fresh("k")
            self.put(f"{k} = {key()}")
            self.put(f"if {k} in {name}:")
            self.level += 1
            self.put(r.choice([f"del {name}[{k}]", f"{name}.pop({k})", f"{name}[{k}] = {item()}"] + ([f"{name}[{k}] += {item()}"] if t[2] in (INT, FLOAT) else [])))
            self.level -= 1
            return None
        return self.put(r.choice(ways)())

    def write_tensor(self):
        r = self.r
        old = self.named("tensor") + ([(n, t) for n, t in self.module.attributes.items() if is_kind(t, "tensor")] if self.module else [])
        if not old:
            return self.assign()
        name, t = r.choice(old)
        dtype, shape = t[1], t[2]
        scalar = {"bool": "1"}.get(dtype, "2")
        same = lambda: self.expr(t, 1)
        ways = [lambda: f"{name}.{r.choice(['zero_()', f'fill_({scalar})'])}", lambda: f"{name}.copy_({same()})", lambda: f"{name}.masked_fill_({self.expr(tensor('bool', shape), 1)}, {scalar})"]
        if shape:
            ways += [lambda: f"{name}[{r.choice(['0', '-1', '...', ':1', '0:2', '::2'])}] = {scalar}", lambda: f"{name}[0] = {self.expr(tensor(dtype, shape[1:]), 1)}", lambda: f"{name}[{self.expr(tensor('bool', shape), 1)}] = {scalar}",
                     lambda: f"{name}[torch.tensor([0, -1])] = {scalar}", lambda: f"{name}[..., 0] = {self.expr(tensor(dtype, shape[:-1]), 1)}"]
        if dtype != "bool":
            ways += [lambda: f"{name}.{r.choice(['add_', 'sub_', 'mul_'])}({r.choice([same(), '2'])})"] * 3
            if shape:
                ways += [lambda: f"{name}[0] {r.choice(['+=', '*=', '-='])} {r.choice([self.expr(tensor(dtype, shape[1:]), 1), '3'])}", lambda: f"{name}[-1].{r.choice(['mul_(2)', 'add_(1)', 'neg_()'])}"]
        if dtype in kinds.FLOATS:
            ways += [lambda: f"{name}.{r.choice(['relu_()', 'clamp_(-1, 1)', 'sigmoid_()', 'tanh_()', 'abs_()', 'neg_()'])}", lambda: f"F.{r.choice(['relu', 'hardtanh', 'relu6'])}({name}, inplace=True)", lambda: f"{name}.div_({r.choice(['2', '-0.5'])})"]
        self.put(r.choice(ways)())

    def view(self):
        """Adds a second name for a part of a tensor, for writes."""
        r = self.r
        old = [(n, t) for n, t in self.named("tensor") if t[2]]
        if not old:
            return self.assign()
        name, t = r.choice(old)
        new = self.fresh()
        kind, shape = r.choice(["select", "all", "flip", "slice"]), t[2]
        if kind == "select":
            self.put(f"{new} = {name}[{r.choice(['0', '-1'])}]")
            shape = shape[1:]
        elif kind == "flip" and len(shape) >= 2:
            self.put(f"{new} = {name}.transpose(0, 1)")
            shape = (shape[1], shape[0]) + shape[2:]
        elif kind == "slice" and shape[0] > 1:
            self.put(f"{new} = {name}[1:]")
            shape = (shape[0] - 1,) + shape[1:]
        else:
            self.put(f"{new} = {r.choice([name, name + '.detach()', name + '.unsqueeze(0).squeeze(0)'])}")
        self.vars[new] = tensor(t[1], shape)

    def write_object(self):
        r = self.r
        old = self.named("class")
        if r.random() < 0.5 and self.module:
            plain = [(n, t) for n, t in self.module.attributes.items() if t in kinds.SCALARS or (is_kind(t, "opt")) or is_kind(t, "list")]
            if plain:
                name, t = r.choice(plain)
                return self.put(f"{name} = {self.argument(t, 1)}" + ("[:40]" if t == STR else ""))
        if not old:
            return self.assign()
        name, t = r.choice(old)
        field, of = r.choice(list(zip(t[3], t[2])))
        writers = [f for c in self.world.classes if c[0] == t for f in c[2]] if self.world.building != t[1] else []
        if writers and r.random() < 0.5:
            params, form = r.choice(writers)
            return self.put(form.format(name, *[self.expr(k, 1) for k in params]))
        value = self.expr(of, 1)
        self.put(f"{name}.{field} += {value}" if of in (INT, FLOAT) and r.random() < 0.5 else f"{name}.{field} = {value}" + ("[:40]" if of == STR else ""))

    # ---- control flow

    def condition(self):
        r, wide = self.r, self.named("opt") + self.named("union")
        if wide and r.random() < 0.5:
            name, t = r.choice(wide)
            if t[0] == "opt":
                yes, no = {name: t[1]}, {}
                if r.random() < 0.3:
                    return f"{name} is None", no, yes
                more = f" and {self.within_all(yes, lambda: self.expr(BOOL, 1))}" if r.random() < 0.3 else ""
                return f"{name} is not None{more}", yes, no
            one = r.choice(t[1:])
            if is_kind(one, "list"):
                return f"torch.jit.isinstance({name}, List[int])", {name: one}, {}
            rest = [k for k in t[1:] if k != one]
            return f"isinstance({name}, {'Tensor' if is_kind(one, 'tensor') else one})", {name: one}, {name: rest[0]} if len(rest) == 1 else {}
        return self.expr(BOOL), {}, {}

    def within_all(self, names, make):
        outer = dict(self.vars)
        self.vars.update(names)
        made = make()
        self.vars = outer
        return made

    def branch(self):
        r = self.r
        condition, yes, no = self.condition()
        self.frozen |= set(yes) | set(no)
        self.put(f"if {condition}:")
        self.block(r.randrange(1, 4), yes)
        if r.random() < 0.2:
            self.put(f"elif {self.within_all(no, lambda: self.expr(BOOL, 1))}:")
            self.block(r.randrange(1, 3), no)
        if r.random() < 0.6:
            self.put("else:")
            self.block(r.randrange(1, 3), no)
        self.frozen -= set(yes) | set(no)

    def both(self):
        """Adds a name that both branches of an if set."""
        t, name = self.random_type(), self.fresh()
        self.put(f"if {self.expr(BOOL)}:")
        for after in ("else:", None):
            self.level += 1
            self.put(f"{name} = {self.expr(t)}")
            self.level -= 1
            if after:
                self.put(after)
        self.vars[name] = t

    def loop(self):
        r = self.r
        if self.loops >= 2:
            return self.assign()
        self.loops += 1
        name, names, choice = self.fresh("i"), {}, r.random()
        if choice < 0.35:
            self.put(f"for {name} in range({r.choice(['3', '2', '1, 4', '4, 0, -2', '0', f'{self.expr(INT, 1)} % 4'])}):")
            names[name] = INT
        elif choice < 0.5:
            of = r.choice((INT, FLOAT, STR, tensor("float32", (3,))))
            over = self.expr(listed(of), 1)
            self.put(f"for {name} in {over}[:3]:")
            names[name] = of
        elif choice < 0.6:
            other = self.fresh("j")
            self.put(f"for {name}, {other} in enumerate({self.expr(listed(STR), 1)}[:3]):" if r.random() < 0.6 else f"for {name}, {other} in zip({self.expr(listed(INT), 1)}[:3], {self.expr(listed(STR), 1)}):")
            names.update({name: INT, other: STR})
        elif choice < 0.7:
            of, other = keyed(STR, INT), self.fresh("j")
            if r.random() < 0.5:
                self.put(f"for {name}, {other} in {self.expr(of, 1)}.items():")
                names.update({name: STR, other: INT})
            else:
                self.put(f"for {name} in {self.expr(of, 1)}{r.choice(['', '.keys()'])}:")
                names[name] = STR
        elif choice < 0.76:
            self.put(f"for {name} in {self.expr(tensor(), 1)}:")
            names[name] = tensor("float32", (3,))
        elif choice < 0.8:
            self.put(f"for {name} in {self.expr(STR, 1)}[:4]:")
            names[name] = STR
        else:
            self.put(f"{name} = 0")
            self.put(f"while {r.choice([f'{name} < 3', f'{name} < 4 and {self.expr(BOOL, 1)}', f'{self.expr(BOOL, 1)} and {name} < 3'])}:")
            self.level += 1
            self.put(f"{name} += 1")
            self.level -= 1
            self.frozen.add(name)
            names[name] = INT
        self.frozen |= set(names)
        self.block(r.randrange(1, 4), names)
        if r.random() < 0.25:
            self.level += 1
            condition = self.within_all(names, lambda: self.expr(BOOL, 1))
            self.put(f"if {condition}:")
            self.level += 1
            self.put(r.choice(["break", "continue", "break"]))
            self.level -= 1
            if r.random() < 0.6:
                self.vars, outer = {**self.vars, **names}, self.vars
                self.statement()
                self.vars = outer
            self.level -= 1
        self.loops -= 1

    def leave(self):
        r = self.r
        choice = r.random()
        if choice < 0.25:
            self.put(f"assert {r.choice([self.expr(BOOL), 'True', self.expr(INT) + ' > -100', self.expr(INT) + ' > -100'])}, {r.choice([repr('no good'), 'f' + repr('bad {' + self.expr(INT, 0) + '}')])}")
        elif choice < 0.4 and not self.calm:
            self.put(f"if {self.expr(BOOL)} and {self.expr(BOOL)} and {self.expr(INT)} > 3:")
            self.put(f"    raise {r.choice(['ValueError', 'RuntimeError', 'Exception', 'IndexError'])}({r.choice([repr('too bad'), repr('got {}') + '.format(' + self.expr(INT, 1) + ')'])})")
        elif self.result is not None:
            self.put(f"if {self.expr(BOOL)}:")
            self.put(f"    return {self.argument(self.result, 1)}")
        else:
            self.assign()

    def call(self):
        """Adds a call for its side effects only."""
        able = [f for f in self.world.functions if not f.method or self.module] if self.world else []
        return self.put(self.r.choice(able).call(self, 1)) if able else self.assign()

    def no_grad(self):
        if self.world is None or not self.world.scopes:
            return self.assign()
        self.put("with torch.no_grad():")
        t, name = self.random_type(), self.fresh()
        self.level += 1
        self.put(f"{name} = {self.expr(t)}")
        self.level -= 1
        self.vars[name] = t

    def idiom(self):
        idioms.statement(self)

    STATEMENTS = ((assign, 34), (assign_wide, 6), (unpack, 4), (augment, 9), (write_list, 7), (write_dict, 6), (write_tensor, 9), (view, 4), (write_object, 5), (branch, 9), (both, 4), (loop, 8), (leave, 5), (call, 3),
                  (no_grad, 3), (idiom, 6))

    def statement(self):
        kind = self.r.choices([s for s, _ in self.STATEMENTS], [w for _, w in self.STATEMENTS])[0]
        if self.level > self.start + 3 and kind in (Body.branch, Body.loop, Body.both, Body.idiom):
            kind = Body.assign
        kind(self)
