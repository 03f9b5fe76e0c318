# SPDX-License-Identifier: BSD-2-Clause
"""Expressions of a given type from the names in scope: variables, fields, items, attributes, calls. The scope is a dict of names to types."""
import kinds
import numbers_and_text
import tensors
from kinds import BOOL, COMPLEX, FLOAT, INT, STR, is_kind, keyed, listed, literal, optional, spell, tensor

KEYS = (STR, STR, INT, FLOAT, BOOL)
ITEMS = (INT, INT, FLOAT, STR, BOOL, tensor(), tensor("int64", (3,)))


class Expressions:
    def __init__(self, r, module=None, world=None):
        self.r, self.module, self.world = r, module, world
        self.vars, self.frozen, self.count = {}, set(), 0

    # ---- names

    def leaves(self, t):
        found = []
        for name, of in list(self.vars.items()) + (list(self.module.attributes.items()) if self.module else []):
            if of == t:
                found.append(name)
            elif of[0] in ("class", "named"):
                found += [f"{name}.{f}" for f, k in zip(of[3], of[2]) if k == t]
            elif of[0] == "tuple":
                found += [f"{name}[{i}]" for i, k in enumerate(of[1:]) if k == t]
        return found

    def named(self, kind):
        """Returns (name, type) of the variables of a kind that may be written to."""
        return [(n, t) for n, t in self.vars.items() if is_kind(t, kind)]

    def any_tensor(self, d):
        return self.expr(tensors.random_tensor(self.r), d)

    # ---- expressions of a type

    def expr(self, t, d=None):
        r = self.r
        d = r.choice([1, 2, 2, 3]) if d is None else d
        leaves = self.leaves(t)
        if d <= 0 or r.random() < 0.3:
            return r.choice(leaves) if leaves and r.random() < 0.93 else literal(t, r)
        makers = self.makers(t)
        return r.choice(makers)(d - 1) if makers else r.choice(leaves or [literal(t, r)])

    def makers(self, t):
        r, x = self.r, self.expr
        made = []
        if t in numbers_and_text.MAKERS:
            made += numbers_and_text.MAKERS[t](self)
        elif t[0] == "tensor":
            made += tensors.makers(self, t[1], t[2])
        elif t[0] == "list":
            made += self.lists(t) * 2
        elif t[0] == "dict":
            made += self.dicts(t) * 2
        elif t[0] == "tuple":
            made += [lambda d: "(" + "".join(x(k, d) + ", " for k in t[1:]) + ")"] * 4
            if len(t) == 3:
                made.append(lambda d: f"({x(t[1], d)}, {x(t[2], d)}, {x(INT, d)})[:2]")
        elif t[0] in ("named", "class"):
            made += [lambda d: self.constructed(t, d)] * 3
        elif t[0] in ("opt", "union"):
            return [lambda d: self.annotated(t, d)]
        made += [lambda d: f"({x(t, d)} if {x(BOOL, d)} else {x(t, d)})", lambda d: f"({x(t, d)}, {x(r.choice((INT, STR)), d)})[0]", lambda d: f"[{x(t, d)}, {x(t, d)}][{r.choice(['0', '1', '-1'])}]",
                 lambda d: f"{{'a': {x(t, d)}, 'b': {x(t, d)}}}[{r.choice(['a', 'b', 'a', 'b', 'b', 'c'])!r}]" if r.random() < 0.3 else x(t, d)]
        calls = self.calls(t)
        return made + calls * max(1, len(made) // (3 * len(calls))) if calls else made

    def constructed(self, t, d):
        values = [self.expr(k, d) for k in t[2]]
        if t[0] == "named" and self.r.random() < 0.4:
            values[1:] = [f"{n}={v}" for n, v in zip(t[3][1:], values[1:])]
        return f"{t[1]}({', '.join(values)})"

    def annotated(self, t, d):
        """Returns an annotated value of an Optional or Union."""
        leaves = self.leaves(t)
        if leaves and self.r.random() < 0.7:
            return self.r.choice(leaves)
        value = "None" if t[0] == "opt" and self.r.random() < 0.4 else self.expr(self.r.choice(t[1:]), d)
        return f"torch.jit.annotate({spell(t, self.r, True)}, {value})"

    def argument(self, t, d):
        """Returns an argument for a declared type, for which None and members of a Union need no annotation."""
        if t[0] not in ("opt", "union"):
            return self.expr(t, d)
        leaves = self.leaves(t)
        if leaves and self.r.random() < 0.4:
            return self.r.choice(leaves)
        return "None" if t[0] == "opt" and self.r.random() < 0.4 else self.expr(self.r.choice(t[1:]), d)

    def calls(self, t):
        if self.world is None:
            return []
        made = []
        for f in self.world.functions:
            if f.result == t and (not f.method or self.module is not None):
                made.append(lambda d, f=f: f.call(self, d))
        for cls in self.world.classes:
            for result, params, form in cls[1]:
                if result == t and (self.world.building != cls[0][1]):
                    made.append(lambda d, c=cls[0], p=params, s=form: s.format(self.expr(c, 0), *[self.expr(k, d) for k in p]))
        for enum in self.world.enums:
            if enum[3] == t:
                made.append(lambda d, n=enum: f"{self.expr(n, 0)}.value")
            if t == STR:
                made.append(lambda d, n=enum: f"{self.expr(n, 0)}.name")
            if t == BOOL:
                made.append(lambda d, n=enum: f"({self.expr(n, 0)} {self.r.choice(['==', '!=', 'is'][:2])} {self.expr(n, 0)})")
        return made

    def without_effects(self, t, d):
        """Each time PyTorch compiles a source, it runs the code before `.tolist()` again, so calls that may write are excluded."""
        made = self.expr(t, d)
        called = [f"{f.name}(" for f in self.world.functions] + [f"{c[0][1]}(" for c in self.world.classes] + [f"{n}." for n, k in self.vars.items() if is_kind(k, "class")] if self.world else []
        return literal(t, self.r) if any(name in made for name in called) else made

    def layers(self, shape):
        return self.module.layers(self, shape) if self.module else []

    # ---- containers

    def bound(self, t):
        """Returns a new name for the variable of a comprehension."""
        self.count += 1
        return f"q{self.count}"

    def within(self, name, t, make):
        self.vars[name] = t
        made = make()
        del self.vars[name]
        return made

    def lists(self, t):
        r, x, item = self.r, self.expr, t[1]
        made = [lambda d: "[" + ", ".join(x(item, d) for _ in range(r.randrange(1, 4))) + "]", lambda d: f"({x(t, d)} + {x(t, d)})", lambda d: f"{x(t, d)}[{r.choice(['1:', ':2', ':-1', '::2', '-2:', '::-1'])}]",
                lambda d: self.comprehension(item, d), lambda d: f"list({x(t, d)})", lambda d: f"{x(t, d)}.copy()", lambda d: f"([{x(item, d)}] * {r.randrange(4)})"]
        if item in (INT, FLOAT, STR):
            made += [lambda d: f"sorted({x(t, d)})"] * 2
        if item == INT:
            made += [lambda d: f"list(range({x(INT, d)} % 5))", lambda d: f"list(range({r.randrange(3)}, {r.randrange(6)}, {r.choice([1, 2, -1])}))", lambda d: f"list({self.any_tensor(d)}.shape)", lambda d: f"{self.any_tensor(d)}.size()"]
        if item in (INT, FLOAT, BOOL):
            dtype = {INT: "int64", FLOAT: "float32", BOOL: "bool"}[item]
            made += [lambda d: f"torch.jit.annotate({spell(t, r, True)}, {self.without_effects(tensor(dtype, (3,)), d)}.tolist())"]
        if item == listed(INT):
            made += [lambda d: f"torch.jit.annotate({spell(t, r, True)}, {self.without_effects(tensor('int64', (2, 3)), d)}.tolist())"]
        if item == STR:
            made += [lambda d: f"{x(STR, d)}.split({r.choice(['', repr(','), repr('a')])})", lambda d: f"{x(STR, d)}.splitlines()", lambda d: f"list({x(STR, d)})"]
        if item in (STR, INT, FLOAT, BOOL):
            made += [lambda d: f"list({x(keyed(item, INT), d)}.keys())"]
        if item in (INT, tensor()):
            made += [lambda d: f"list({x(keyed(STR, item), d)}.values())"]
        if item == tensor("float32", (3,)):
            made += [lambda d: f"list({x(tensor(), d)}.unbind(0))", lambda d: f"list(torch.unbind({x(tensor(), d)}))"]
        return made

    def comprehension(self, item, d):
        source = self.r.choice((INT, FLOAT, STR, "range", item if item in ITEMS else INT))
        name = self.bound(INT)
        if source == "range":
            over, of = f"range({self.expr(INT, d)} % 4)", INT
        else:
            over, of = self.expr(listed(source), d), source
        return f"[{self.within(name, of, lambda: self.expr(item, d))} for {name} in {over}]"

    def dicts(self, t):
        r, x, key, item = self.r, self.expr, t[1], t[2]

        def entries(d):
            keys = sorted({literal(key, r) for _ in range(r.randrange(1, 4))})
            return [(k, x(item, d)) for k in keys]

        def over(d):
            name = self.bound(key)
            if key == FLOAT:
                return f"{{float({name}) / 2: {self.within(name, INT, lambda: x(item, d))} for {name} in range({x(INT, d)} % 4)}}"
            of, source = (INT, f"range({x(INT, d)} % 4)") if key == INT else (key, x(listed(key), d))
            return f"{{{name}: {self.within(name, of, lambda: x(item, d))} for {name} in {source}}}"
        return [lambda d: "{" + ", ".join(f"{k}: {v}" for k, v in entries(d)) + "}", lambda d: "dict([" + ", ".join(f"({k}, {v})" for k, v in entries(d)) + "])", lambda d: f"{x(t, d)}.copy()", over,
                lambda d: "{" + f"{self.key(key, d)}: {x(item, d)}" + "}"]

    def key(self, t, d):
        """Returns a key; floats that are keys must be equal to the last bit."""
        return literal(t, self.r) if t == FLOAT else self.expr(t, d)

    def random_type(self, deep=1):
        r = self.r
        known = [t for t in self.vars.values() if t[0] not in ("opt", "union", "class") and t not in (("tensor", "float32", (1, 4, 5, 5)), ("tensor", "float32", (2, 3, 4)))]
        if known and r.random() < 0.4:
            return r.choice(known)  # prefers types that variables in scope have, so that later statements use the values
        choice = r.random()
        if choice < 0.42 or deep < 0:
            return r.choice((INT, INT, FLOAT, BOOL, STR, STR, COMPLEX))
        if choice < 0.62:
            return tensors.random_tensor(r)
        if choice < 0.74:
            return listed(self.random_type(deep - 1) if r.random() < 0.3 else r.choice(ITEMS))
        if choice < 0.84:
            return keyed(r.choice(KEYS), self.random_type(deep - 1) if r.random() < 0.2 else r.choice(ITEMS))
        if choice < 0.90:
            return kinds.tupled(*[self.random_type(deep - 1) for _ in range(r.randrange(1, 4))])
        if choice < 0.97 and self.world is not None and self.world.types():
            return r.choice(self.world.types())
        return listed(r.choice((INT, FLOAT)))

    def wide_type(self):
        """Returns a value for a place with a declared type."""
        r = self.r
        if r.random() < 0.25:
            of = r.choice([INT, FLOAT, STR, BOOL, tensor(), listed(INT), keyed(STR, INT), kinds.tupled(INT, STR), COMPLEX])
            return optional(of)
        if r.random() < 0.08:
            return kinds.union(*r.choice([(INT, STR), (FLOAT, STR), (INT, listed(INT)), (STR, tensor()), (BOOL, STR), (STR, INT, FLOAT)]))
        return self.random_type()
