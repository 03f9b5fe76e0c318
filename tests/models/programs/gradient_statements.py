# SPDX-License-Identifier: BSD-2-Clause
"""Statements of programs that compute gradients (gradients.py): views, writes in place, branches, loops, lists, modes, and the calls that ask
for gradients. A body notes which variables may be leaves, because PyTorch forbids writes to them, and which probably need a gradient."""
import re

from gradient_expressions import DTYPE, SHAPES, Expressions, count

EARLY = "# returns early"


class Body(Expressions):
    def __init__(self, p, level, module):
        super().__init__(p, module)
        self.level, self.start, self.lines = level, level, []
        self.leaves, self.guarded, self.needing = [], set(), set()  # leaves; names of leaves and of their views; names of variables
                                                                    # that need a gradient
        self.results, self.flags, self.roots = [], [], {}  # roots: for each variable, the variable of which it may be a
                                                           # view
        self.result, self.quiet, self.early = None, False, []

    def put(self, line):
        self.lines.append("    " * self.level + line)

    def declare(self, name, shape, needs=False, root=None):
        self.vars[name] = shape
        self.roots[name] = self.roots.get(root, root or name)
        self.guarded.discard(name)
        (self.needing.add if needs and not self.quiet else self.needing.discard)(name)

    def mentions(self, text, names):
        return any(re.search(rf"(?<![\w.]){n}\b", text) for n in names)

    def let(self, shape, text, name=None):
        """Assigns an expression to a new variable, or to a variable of the same shape."""
        r, same = self.r, [n for n in self.names(shape) if n not in self.leaves]
        name = name or (r.choice(same) if same and r.random() < 0.35 else self.p.fresh())
        needs, alias = self.mentions(text, self.needing), text in self.guarded
        self.put(f"{name} = {text}")
        self.declare(name, shape, needs, self.viewed(text))
        if alias:
            self.guarded.add(name)
        return name

    def viewed(self, text):
        """Returns the variable of which an expression may be a view, or None."""
        chain = re.fullmatch(r"(\w+)(\.\w+\([^()]*\)|\[[^\[\]]*\]|\.m?T)*", text)
        return chain[1] if chain and chain[1] in self.vars else None

    def value(self, shape, target, d=1, own=False):
        """Returns an expression to be written to a tensor. The expression shares no elements with the tensor, because PyTorch would write to
        shared elements while it reads them. own: the write is element by element, so the expression may be the tensor itself."""
        text = self.expr(shape, d)
        root = self.viewed(text)
        if not own and self.mentions(text, [n for n in self.vars if self.roots[n] == self.roots[target]]):
            return f"{text}.clone()"
        return text if root is None or self.roots[root] != self.roots[target] or own and text == target and self.r.random() < 0.5 else f"{text}.clone()"

    def make_leaf(self, name):
        r = self.r
        self.put(r.choice([f"{name} = {name}.detach().requires_grad_(True)", f"{name}.requires_grad_()", f"{name} = {name}.clone().requires_grad_()", f"{name} = ({name} * 0.5).requires_grad_(True)"]))
        self.leaf(name)

    def leaf(self, name):
        self.leaves.append(name)
        self.guarded.add(name)
        self.needing.add(name)

    # ---- statements

    def assign(self):
        shape = self.r.choice(SHAPES)
        self.let(shape, self.expr(shape, self.r.choice([1, 2, 2, 3])))

    def new_leaf(self):
        name, shape = self.p.fresh(), self.r.choice(SHAPES)
        text = self.r.choice([self.constant(shape), self.expr(shape, 1) + ".detach()"])
        self.put(f"{name} = {text}.requires_grad_(True)")
        self.declare(name, shape)
        self.leaf(name)

    def take_view(self):
        name = self.any()
        text, shape = self.view(name)
        new = self.p.fresh()
        self.put(f"{new} = {text}")
        self.declare(new, shape, name in self.needing, name)
        if name in self.guarded or ".unfold(" in text or ".expand" in text:  # elements that overlap
            self.guarded.add(new)

    def target(self):
        """Returns the name of a tensor that may be written to: often of a new tensor."""
        r = self.r
        free = [n for n in sorted(self.vars) if n not in self.guarded]
        if r.random() < self.p.daring:
            return self.any()
        if not free or r.random() < 0.35:
            shape = r.choice(SHAPES)
            text = r.choice([f"{self.expr(shape, 1)}.clone()", f"({self.expr(shape, 1)} + {self.expr(shape, 1)})", f"torch.zeros({list(shape)}, {DTYPE})", f"torch.empty({list(shape)}, {DTYPE}).fill_(0.25)"])
            return self.let(shape, text, self.p.fresh())
        return r.choice(free)

    def write(self):
        r, name = self.r, self.target()
        shape = self.vars[name]
        if r.random() < 0.3:
            text, inner = self.view(name)
            if r.random() < 0.3 and not any(part in text for part in (".squeeze()", ".unfold(", ".as_strided(", ".expand")):
                new = self.p.fresh()
                self.put(f"{new} = {text}")
                self.declare(new, inner, name in self.needing, name)
                text, deeper = self.view(new)
                inner = deeper
        else:
            text, inner = name, shape
        if ".unfold(" in text or ".as_strided(" in text or ".expand" in text and not self.daring():
            text, inner = name, shape  # PyTorch does not say which write to overlapping elements is the last
        value = r.choice(self.writers(inner, name))(text)
        self.put(value)
        if self.mentions(value, self.needing) and not self.quiet:
            self.needing.add(name)

    def writers(self, shape, target):
        r, x = self.r, lambda shape, d: self.value(shape, target, d)
        same, narrow = lambda: self.value(shape, target, 1, True), lambda: x(self.narrower(shape), 1)
        # PyTorch 1.13 writes the elements of masked_scatter_ in the order of memory, so only contiguous tensors get PyTorch 2's result.
        made = [lambda t: f"{t}.{r.choice(['mul_', 'add_', 'sub_', 'copy_', 'atan2_', 'hypot_'])}({same()})", lambda t: f"{t}.{r.choice(['mul_', 'add_', 'sub_', 'copy_'])}({narrow()})", lambda t: f"{t}.{r.choice(['mul_', 'add_', 'div_', 'fill_', 'sub_', 'clamp_min_'])}({self.number()})",
                lambda t: f"{t}.{r.choice(['sin_', 'cos_', 'tanh_', 'sigmoid_', 'neg_', 'zero_', 'relu_', 'square_', 'exp_', 'abs_', 'erf_', 'expm1_'])}()", lambda t: f"{t}.add_({same()}, alpha={r.choice(['2', '-0.5'])})", lambda t: f"{t}.div_({same()}.square() + 1)",
                lambda t: f"{t}.masked_fill_({self.mask(shape)}, {self.number()})", lambda t: f"{t}.fill_({x((), 1)})", lambda t: f"{t}.addcmul_({same()}, {same()}, value=0.5)", lambda t: f"{t}.lerp_({same()}, 0.25)", lambda t: f"{t}.clamp_(-1.0, 1.0)", lambda t: f"{t}.pow_({r.choice([2, 3])})",
                lambda t: f"F.{r.choice(['relu', 'elu', 'hardtanh', 'silu', 'leaky_relu'])}({t}, inplace=True)", lambda t: f"{t}.index_put_([{self.mask(shape)}], {x((), 1)}{r.choice(['', ', accumulate=True'])})" if shape else f"{t}.mul_({x((), 1)})", lambda t: f"{t}.masked_scatter_({self.mask(shape)}, {same()}) if {t}.is_contiguous() else {t}.neg_()",
                lambda t: f"{t}.addcdiv_({same()}, {same()}.square() + 1)"]
        if shape:
            dim = r.randrange(len(shape))
            i = r.randrange(shape[dim])
            part = shape[:dim] + (1,) + shape[dim + 1:]
            made += [lambda t: f"{t}.index_add_({dim}, torch.tensor([{i}]), {x(part, 1)})", lambda t: f"{t}.index_fill_({dim}, torch.tensor([{i}]), {self.number()})", lambda t: f"{t}.index_copy_({dim}, torch.tensor([{i}]), {x(part, 1)})", lambda t: f"{t}.scatter_({dim}, torch.zeros({list(part)}, dtype=torch.int64), {x(part, 1)})",
                     lambda t: f"{t}.select({dim}, {i}).{r.choice(['copy_', 'add_', 'mul_'])}({x(shape[:dim] + shape[dim + 1:], 1)})", lambda t: f"{t}.index_put_([torch.tensor([0, {r.randrange(shape[0])}])], {x((2,) + shape[1:], 1)}, accumulate={r.choice(['True', 'True', 'False'])})" if shape[0] > 1 else f"{t}.neg_()",
                     lambda t: f"{t}.scatter_add_({dim}, torch.zeros({list(shape)}, dtype=torch.int64), {same()})"]
            made += [lambda t: f"{t}[{r.randrange(shape[0])}] {r.choice(['=', '+=', '*=', '-='])} {r.choice([self.number(), x(shape[1:], 1)])}"] * 3 + [lambda t: f"{t}[..., {r.choice([0, -1])}] {r.choice(['=', '+=', '*='])} {x(shape[:-1], 1)}"] * 2 + [
                lambda t: f"{t}[{r.choice(['1:', ':-1', '::2', ':1'])}] {r.choice(['*=', '+=', '='])} {r.choice([self.number(), x((), 1)])}", lambda t: f"{t}[{self.mask(shape)}] {r.choice(['=', '+=', '*='])} {r.choice([self.number(), x((), 1)])}",
                lambda t: f"{t}[torch.tensor([{r.randrange(shape[0])}])] {r.choice(['=', '+='])} {x(shape[1:], 1)}"]
        if len(shape) == 2:
            made += [lambda t: f"{t}.t().{r.choice(['add_', 'copy_', 'mul_'])}({x(shape[::-1], 1)})", lambda t: f"{t}.{r.choice(['tril_', 'triu_'])}()", lambda t: f"{t}.fill_diagonal_(0.5)", lambda t: f"{t}.addmm_({x((shape[0], 2), 1)}, {x((2, shape[1]), 1)}, beta={r.choice(['1', '0.5'])})",
                     lambda t: f"{t}.diagonal().{r.choice(['mul_(2)', 'zero_()', 'sin_()'])}", lambda t: f"{t}[:, {r.randrange(shape[1])}] {r.choice(['=', '+='])} {x((shape[0],), 1)}"]
        return made

    def augment(self):
        name = self.target()
        self.put(f"{name} {self.r.choice(['+=', '*=', '-='])} {self.r.choice([self.number(), self.value(self.narrower(self.vars[name]), name)])}")

    def reshaping(self):
        """Changes the shape of a new tensor in place."""
        r = self.r
        shape = r.choice([s for s in SHAPES if s])
        name = self.let(shape, f"{self.expr(shape, 1)}.clone()", self.p.fresh())
        way = r.randrange(4)
        if way == 0:
            self.put(f"{name}.unsqueeze_(0)")
            self.vars[name] = (1,) + shape
        elif way == 1 and len(shape) == 2:
            self.put(f"{name}.{r.choice(['t_()', 'transpose_(0, 1)'])}")
            self.vars[name] = shape[::-1]
        elif way == 2:
            self.put(f"{name}.squeeze_()")
            self.vars[name] = tuple(s for s in shape if s != 1)
        else:
            self.put(f"{name}.detach_()")
            self.needing.discard(name)

    def block(self, head, count_of=2):
        """Puts a head and a block. Variables that the block declares are out of scope after the block."""
        self.put(head)
        self.level += 1
        kept = dict(self.vars)
        before = len(self.lines)
        for _ in range(self.r.randrange(1, count_of + 1)):
            self.statement()
        if len(self.lines) == before:
            self.put("pass")
        self.level -= 1
        for name in [n for n in self.vars if n not in kept]:
            self.forget(name)

    def forget(self, name):
        self.vars.pop(name, None)
        self.leaves = [n for n in self.leaves if n != name]
        self.guarded.discard(name)
        self.needing.discard(name)

    def branch(self):
        r = self.r
        self.block(f"if {self.condition()}:")
        if r.random() < 0.2:
            self.block(f"elif {self.condition()}:")
        if r.random() < 0.6:
            self.block("else:")

    def loop(self):
        r, i = self.r, self.p.fresh("i")
        times = r.choice(["2", "3", "1", f"{self.any()}.dim()", f"int(({self.any()} > 0).sum()) % 4", "0", f"len([1, 2])"])
        if r.random() < 0.7:
            self.block(f"for {i} in range({times}):")
        else:
            self.put(f"{i} = 0")
            self.block(f"while {i} < {r.choice(['2', '3'])} and {self.condition()}:")
            self.put(f"    {i} += 1")

    def over_rows(self):
        """Reads or writes the rows of a tensor, or the items of its parts."""
        r = self.r
        name = self.any()
        shape = self.vars[name]
        if not shape:
            return self.assign()
        i, out = self.p.fresh("i"), self.p.fresh()
        way = r.randrange(4)
        if way == 0:
            self.put(f"{out} = torch.zeros({list(shape)}, {DTYPE})")
            self.put(f"for {i} in range({shape[0]}):")
            self.put(f"    {out}[{i}] {r.choice(['=', '+='])} {name}[{i}]{r.choice(['.sin()', f' * {i}', '', f' * {name}[0]'])}")
        elif way == 1:
            self.put(f"{out} = {name}[0] * 1")
            self.put(f"for {i} in {r.choice([f'{name}.unbind(0)', name, f'{name}.split(1)', f'torch.chunk({name}, 2)'])}:")
            self.put(f"    {out} = {out} + {i}.tanh().sum()")
            shape = shape[1:]
        elif way == 2:
            self.put(f"{out} = {name}.clone()")
            self.put(f"for {i} in range(1, {shape[0]}):")
            self.put(f"    {out}[{i}] {r.choice(['+=', '=', '-='])} {out}[{i} - 1]{r.choice(['', '.clone()', ' * 0.5'])}")
        else:
            parts = self.p.fresh("l")
            self.put(f"{parts} = torch.jit.annotate(List[Tensor], [])")
            self.put(f"for {i} in range({shape[0]}):")
            self.put(f"    {parts}.append({name}[{i}]{r.choice(['.cos()', f' * {i}', ''])})")
            self.put(f"{out} = torch.stack({parts})")
        self.declare(out, shape, name in self.needing)

    def containers(self):
        r = self.r
        shape = r.choice(SHAPES)
        name, x = self.p.fresh("l"), lambda: self.expr(shape, 1)
        way = r.randrange(5)
        if way == 0:
            self.put(f"{name} = [{x()}, {x()}]")
            for _ in range(r.randrange(3)):
                self.put(r.choice([f"{name}.append({x()})", f"{name}[0] = {name}[1] + {x()}", f"{name}[-1] = {x()}", f"{name}[0].mul_({x()})", f"{name}.reverse()"]))
            self.let(shape, r.choice([f"torch.stack({name}).sum(0)", f"{name}[0] * {name}[1]", f"{name}[-1]", f"torch.stack({name}, -1).mean(-1)"]))
        elif way == 1:
            self.put(f"{name} = {{'a': {x()}, 'b': {x()}}}")
            self.put(r.choice([f"{name}['c'] = {name}['a'] * {x()}", f"{name}['a'] += {x()}", f"{name}['b'].add_({x()})", f"{name}['a'] = {x()}"]))
            self.let(shape, r.choice([f"{name}['a'] + {name}['b']", f"{name}['b']", f"torch.stack(list({name}.values())).prod(0)"]))
        elif way == 2:
            a, b = self.p.fresh(), self.p.fresh()
            other = r.choice(SHAPES)
            text = f"({x()}, {self.expr(other, 1)})"
            self.put(f"{a}, {b} = {text}" if r.random() < 0.5 else f"{name} = {text}")
            if "=" not in self.lines[-1].split(name)[0]:
                self.put(f"{a}, {b} = {name}")
            self.declare(a, shape, self.mentions(text, self.needing))
            self.declare(b, other, self.mentions(text, self.needing))
        elif way == 3:
            self.put(f"{name} = torch.jit.annotate(Optional[Tensor], None)")
            self.put(f"if {self.condition()}:")
            self.put(f"    {name} = {x()}")
            self.let(shape, f"{x()} if {name} is None else given({name})")
        else:
            self.put(f"{name} = {self.expr((2,) + shape, 1) if len(shape) < 3 else f'torch.stack([{x()}, {x()}])'}.{r.choice(['unbind(0)', 'split(1)', 'chunk(2)'])}")
            self.let(shape, f"({name}[0] + {name}[1]{r.choice(['', ' * 2', '.sin()'])}).reshape({list(shape)})")
            if self.daring():
                self.put(f"{name}[0].mul_(2)")

    def modes(self):
        r = self.r
        quiet, self.quiet = self.quiet, True
        if r.random() < 0.75:
            self.block("with torch.no_grad():")
        else:
            mode = self.p.fresh("m")
            self.put(f"{mode} = torch.is_grad_enabled()")
            self.put("torch.set_grad_enabled(False)")
            for _ in range(r.randrange(1, 3)):
                self.statement()
            self.put(f"torch.set_grad_enabled({mode})")
        self.quiet = quiet

    def risk(self):
        """Adds a statement that gradients depend on: a write that is not recorded, a detached alias, or a change of requires_grad."""
        r, name = self.r, self.any()
        if not self.daring() and r.random() < 0.7:
            return self.assign()
        self.put(r.choice([f"{name}.detach().mul_(2)", f"{name}.data.mul_(2)", f"{name}.detach_()", f"{name}.requires_grad_(False)", f"{name}.requires_grad_()", f"{name}.add_(1)", f"{name}.view([-1])[0:1].mul_(2)", f"{name}.data.zero_()",
                           f"{name}.unsqueeze(0).mul_(3)", f"{name}.unbind(0)[0].add_(1)" if self.vars[name] else f"{name}.zero_()"]))

    def flag(self):
        if self.level == self.start:
            name = self.p.fresh("b")
            self.put(f"{name} = {self.any()}.{self.r.choice(['requires_grad', 'requires_grad', 'is_leaf'])}")
            self.flags.append(name)

    def leave(self):
        """Returns early from a function, or from the program."""
        if self.quiet or self.level > self.start + 2:
            return self.assign()
        if self.result is not None:
            self.put(f"if {self.condition()}:")
            self.put(f"    return {self.expr(self.result, 1)}")
        elif self.leaves:
            self.put(f"if {self.condition()}:")
            self.put(f"    {EARLY} {len(self.early)}")
            self.early.append([self.r.choice(sorted(self.vars)) for _ in range(4)])

    def inner_gradient(self):
        """Asks for a gradient within the body, as a step of an optimization does."""
        if not self.leaves or self.quiet:
            return self.assign()
        r, name = self.r, self.r.choice(self.leaves)
        g, self.p.asked = self.p.fresh("g"), True
        self.put(f"{g} = some(torch.autograd.grad([{self.loss(name)}], [{name}], create_graph={r.choice(['True', 'True', 'False'])}, retain_graph=True, allow_unused=True)[0], {name})")
        self.declare(g, self.vars[name], True)
        self.let(self.vars[name], f"{name} - {r.choice(['0.1', '0.01'])} * {g}", self.p.fresh())

    STATEMENTS = ((assign, 30), (take_view, 14), (write, 22), (augment, 6), (reshaping, 2), (branch, 7), (loop, 7), (over_rows, 5), (containers, 8), (modes, 4), (risk, 2), (flag, 3), (leave, 2), (new_leaf, 3), (inner_gradient, 3))

    def statement(self):
        r = self.r
        kinds, weights = [s for s, _ in self.STATEMENTS], [w * (self.p.writes if s in (Body.write, Body.augment) else 1) * (4 if s.__name__ in self.p.more else 1) for s, w in self.STATEMENTS]
        kind = r.choices(kinds, weights)[0]
        if self.level > self.start + 2 and kind in (Body.branch, Body.loop, Body.modes):
            kind = Body.assign
        kind(self)

    # ---- gradients

    def loss(self, leaf):
        r = self.r
        names = [r.choice(sorted(self.needing or self.vars)) for _ in range(r.randrange(1, 4))]
        names = [n for n in names if n in self.vars] or [leaf]
        terms = [r.choice([f"{n}.sum()", f"({n} * {n}).sum()", f"{n}.mean()", f"{n}.tanh().sum()", f"({n} * {self.expr(self.vars[n], 1)}).sum()"]) for n in names]
        if r.random() > self.p.daring:
            terms.append(r.choice([f"{leaf}.sum()", f"({leaf} * {leaf}).sum()", f"({leaf} ** 3).mean()"]))
        return " + ".join(terms)

    def gradient(self):
        """Asks for gradients of one or several outputs."""
        r = self.r
        if not self.leaves:
            self.new_leaf()
        leaf = r.choice(self.leaves)
        if r.random() < 0.25 and not self.p.asked:  # after some writes, PyTorch 1.13 adds to the sum of a leaf even for torch.autograd.grad
            return self.backward(leaf)
        self.p.asked = True
        outputs, given = [], []
        for _ in range(r.choice([1, 1, 1, 2])):
            scalar = r.random() < 0.6
            if scalar:
                name = self.let((), self.loss(leaf), self.p.fresh("s"))
            else:
                shape = r.choice(SHAPES)
                name = self.let(shape, f"({self.expr(shape, 2)} * {leaf}.mean())" if not self.daring() else self.expr(shape, 2), self.p.fresh())
            outputs.append(name)
            plain = scalar and r.random() < 0.8 or self.daring()
            given.append("None" if plain else self.expr(self.vars[name], 1))
        needing = [n for n in sorted(self.needing) if n in self.vars]
        inputs = [r.choice(self.leaves if r.random() < 0.65 else needing or self.leaves) for _ in range(r.choice([1, 1, 2, 3]))]
        if self.p.parameters and r.random() < 0.4:
            inputs.append(r.choice(sorted(self.p.parameters)))
        if self.daring():
            inputs.append(self.any())
        create, keep, unused = r.random() < 0.4, r.random() < 0.85, r.random() < 0.9 and not self.daring()
        options = [f"torch.jit.annotate(Optional[List[Optional[Tensor]]], [{', '.join(given)}])"] if any(g != "None" for g in given) or r.random() < 0.1 else []
        options += [f"retain_graph={r.choice(['True', 'True', 'not False'])}"] if keep else r.choice([[], ["retain_graph=False"]])
        options += ["create_graph=True"] if create else []
        options += ["allow_unused=True"] if unused else []
        g = self.p.fresh("g")
        self.put(f"{g} = torch.autograd.grad([{', '.join(outputs)}], [{', '.join(inputs)}]{''.join(', ' + o for o in options)})")
        for k, name in enumerate(inputs):
            shape = self.p.parameters.get(name) if name.startswith("self.") else self.vars[name]
            if r.random() < 0.75 or create:
                new = self.p.fresh()
                self.put(f"{new} = some({g}[{k}], {name})" if unused else f"{new} = given({g}[{k}])")
                self.declare(new, shape, create)
                self.results.append(new)
            else:
                self.results.append(f"{g}[{k}]")

    def backward(self, leaf):
        """Asks for the gradients of all leaves."""
        r = self.r
        total = self.let((), f"{self.loss(leaf)} + {leaf}.sum()", self.p.fresh("s"))
        self.put(f"{total}.backward({r.choice(['retain_graph=True', 'retain_graph=True', '', 'retain_graph=True, create_graph=True', f'torch.ones([], {DTYPE}), retain_graph=True'])})")
        new = self.p.fresh()
        self.put(f"{new} = given({leaf}.grad){r.choice(['', '.clone()', '.clone()'])}")
        self.declare(new, self.vars[leaf])
        self.results.append(new)

    def finish(self):
        """Adds the last return statement, and inserts the early return statements. Returns the lines."""
        r = self.r
        kept = [n for n in sorted(self.vars) if r.random() < 0.3 and n not in self.results][:6]
        results = self.results + kept + [f"{n}.requires_grad" for n in kept if r.random() < 0.3] + self.flags
        self.put(f"return ({', '.join(results)},)")
        lines = []
        for line in self.lines:
            if EARLY in line:
                names = self.early[int(line.split()[-1])]
                values = ["True" if e in self.flags or e.endswith("requires_grad") else "torch.jit.annotate(Optional[Tensor], None)" if "[" in e else r.choice(names) for e in results]
                line = line[:line.index(EARLY)] + f"return ({', '.join(values)},)"
            lines.append(line)
        return lines


__all__ = ["Body", "count"]
