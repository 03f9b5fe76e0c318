# SPDX-License-Identifier: BSD-2-Clause
"""Features of modules: hooks, interfaces, properties, inherited and excluded methods, constants, containers of modules, attributes of submodules.
Each function adds statements to a body of the program's module, and definitions to the module."""
from idioms import inside, named
from kinds import BOOL, FLOAT, INT, STR, is_kind, keyed, listed, literal, spell, tensor
from statements import Body


def small(b, level, params, result, count=2):
    """Returns the lines of a function's body."""
    body = Body(b.r, None, b.world, result, level)
    body.calm, body.small = True, True
    body.vars.update(params)
    for _ in range(b.r.randrange(count)):
        body.statement()
    body.put(f"return {body.expr(result, 2)}")
    return body.lines


def interfaces(b):
    """Adds modules with an interface, selected by an attribute or an index."""
    r, module = b.r, b.module
    face = b.world.definition("Face")
    result = r.choice([tensor(), tensor(), INT])
    head = f"def go(self, x: Tensor, n: int) -> {spell(result, r, True)}:"
    lines = ["", "", "@torch.jit.interface", f"class {face}(nn.Module):", "    " + head, "        pass"]
    made = [f"{face}{k}" for k in "AB"]
    for k, one in enumerate(made):
        lines += ["", "", f"class {one}(nn.Module):", "    def __init__(self):", "        super().__init__()", "        self.own = nn.Parameter(torch.randn(3, 3))", f"        self.by = {literal(INT, r)}", "", "    @torch.jit.export", "    " + head,
                  *([f"        self.by += {r.choice(['1', 'n'])}"] if r.random() < 0.4 else []), f"        x = {r.choice(['x @ self.own', 'x * self.by', 'x + n'])}"]
        lines += small(b, 2, {"x": tensor(), "n": INT, "self.by": INT}, result)
    b.world.lines += lines
    name = face.lower()
    module.notes.append(f"{name}: {face}")
    module.init += [f"self.{name} = {made[0]}()", f"self.{name}_list = nn.ModuleList([{made[0]}(), {made[1]}()])", f"self.{name}_other = {made[1]}()"]
    call = lambda on: f"{on}.go({b.expr(tensor(), 1)}, {b.expr(INT, 1)})"
    named(b, "v", result, call(f"self.{name}"))
    way = r.randrange(3)
    if way == 0:
        module.notes.append(f"{name}_second: {face}")
        module.init.append(f"self.{name}_second = {made[1]}()")
        b.put(f"self.{name} = self.{name}_second")
        named(b, "v", result, call(f"self.{name}"))
    elif way == 1:
        total = named(b, "v", result, call(f"self.{name}"))
        each = b.fresh("m")
        inside(b, f"for {each} in self.{name}_list:", f"{total} = {total} + {each}.go({b.expr(tensor(), 0)}, 1)")
    else:
        named(b, "v", result, call(f"self.{name}_other"))


def hooks(b):
    """Adds hooks that PyTorch calls before and after a submodule."""
    r, name = b.r, b.world.definition("hooked")
    lines = ["", "", f"def {name}_before(self, input: Tuple[Tensor]) -> Tuple[Tensor]:", "    x = input[0]"] + [line.replace("return ", "x = ") for line in small(b, 1, {"x": tensor()}, tensor())] + ["    return (x,)"]
    lines += ["", "", f"def {name}_behind(self, input: Tuple[Tensor], result: Tensor):", "    y = input[0] + result"] + small(b, 1, {"y": tensor(), "result": tensor()}, tensor())
    b.world.lines += lines
    b.module.init.append(f"self.{name} = {r.choice(['nn.Linear(3, 3)', 'nn.ReLU()', 'nn.Sequential(nn.Linear(3, 3), nn.Tanh())'])}")
    both = r.randrange(3)
    if both != 1:
        b.module.init.append(f"self.{name}.register_forward_pre_hook({name}_before)")
    if both != 0:
        b.module.init.append(f"self.{name}.register_forward_hook({name}_behind)")
    for _ in range(r.randrange(1, 3)):
        named(b, "v", tensor(), f"self.{name}({b.expr(tensor(), 1)})")


def properties(b):
    """Adds a property of the module without a setter, and a property with a setter."""
    r, name = b.r, b.world.definition("prop")
    t = r.choice([INT, FLOAT, listed(INT)])
    b.module.init.append(f"self.{name}_at = {literal(INT, r)}")
    b.module.more += ["", "    @property", f"    def {name}(self) -> {spell(t, r, True)}:"] + small(b, 2, {"self." + name + "_at": INT}, t, 1)
    named(b, "v", t, f"self.{name}")
    if r.random() < 0.5 and t == INT:
        b.module.more += ["", f"    @{name}.setter", f"    def {name}(self, value: int):", f"        self.{name}_at = value {r.choice(['+ 1', '* 2'])}"]
        b.put(f"self.{name} = {b.expr(INT, 1)}")
        named(b, "v", INT, f"self.{name} + 1")


def left_out(b):
    """Adds a method that PyTorch does not compile, and a call of this method that TorchScript does not run."""
    r, name = b.r, b.world.definition("plain")
    b.module.more += ["", "    @torch.jit.unused", f"    def {name}(self, x: Tensor) -> Tensor:", "        import os", "        return x * len(os.environ)"]
    got = named(b, "v", tensor(), b.expr(tensor(), 1))
    if r.random() < 0.6:
        inside(b, f"if {r.choice(['not torch.jit.is_scripting()', b.expr(BOOL, 1) + ' and False', f'{got}.dim() > 5'])}:", f"{got} = self.{name}({got})")
        b.put(f"{got} = {got} + 1")
    else:
        inside(b, "if torch.jit.is_scripting():", f"{got} = {got} * 2")
        inside(b, "else:", f"{got} = self.{name}({got})")


def constants(b):
    """Adds attributes that are constants of the program: the compiler decides branches on them."""
    r, name = b.r, b.world.definition("fixed")
    t = r.choice([INT, FLOAT, BOOL, STR, ("tuple", INT, INT)])
    b.module.notes.append(f"{name}: torch.jit.Final[{spell(t, r, True)}]") if r.random() < 0.5 else b.module.notes.append(f"__constants__ = [{name!r}]")
    b.module.init.append(f"self.{name} = {literal(t, r)}")
    got = b.fresh()
    if t in (BOOL, INT):
        inside(b, f"if self.{name}{'' if t == BOOL else ' > 1'}:", f"{got} = {b.expr(INT, 1)}")
        inside(b, "else:", f"{got} = {b.expr(INT, 1)}")
        b.vars[got] = INT
    elif is_kind(t, "tuple"):
        b.put(f"{got} = 0")
        inside(b, f"for q in self.{name}:", f"{got} += q * 2")
        b.vars[got] = INT
    else:
        named(b, "v", t, f"self.{name}")


def reflected(b):
    """Adds hasattr and getattr, which the compiler evaluates."""
    r, got = b.r, b.fresh()
    known = sorted(n for n, t in b.module.attributes.items() if t in (INT, FLOAT, STR, BOOL))
    if not known:
        return constants(b)
    name = r.choice(known)
    t = b.module.attributes[name]
    inside(b, f"if hasattr(self, {r.choice([name[5:], 'missing'])!r}):", f"{got} = getattr(self, {name[5:]!r})")
    inside(b, "else:", f"{got} = {b.expr(t, 1)}")
    b.vars[got] = t


def inherited(b):
    """Adds a module that inherits a method of its base class, and a module that overrides this method."""
    r, base, name = b.r, b.world.definition("Base"), b.world.definition("heir")
    lines = ["", "", f"class {base}(nn.Module):", "    def __init__(self):", "        super().__init__()", f"        self.factor = {literal(FLOAT, r)}", f"        self.count = {literal(INT, r)}", "",
             "    def scaled(self, x: Tensor) -> Tensor:", *small(b, 2, {"x": tensor(), "self.factor": FLOAT, "self.count": INT}, tensor()), "", "    def bias(self) -> float:", f"        return {b.expr(FLOAT, 0) if False else literal(FLOAT, r)}", "",
             "    def forward(self, x: Tensor) -> Tensor:", "        self.count += 1", "        return self.scaled(x) + self.bias()"]
    lines += ["", "", f"class {base}Heir({base}):", "    def bias(self) -> float:", f"        return self.factor {r.choice('+-*')} self.count"]
    b.world.lines += lines
    b.module.init += [f"self.{name} = {base}Heir()", f"self.{name}_base = {base}()"]
    named(b, "v", tensor(), f"self.{name}({b.expr(tensor(), 1)})")
    if r.random() < 0.5:
        named(b, "v", tensor(), f"self.{name}_base({b.expr(tensor(), 1)}) + self.{name}.bias()")
    if r.random() < 0.5:
        b.put(f"self.{name}.{r.choice(['count += 1', 'factor = ' + b.expr(FLOAT, 1), 'factor *= 2.0', 'count = ' + b.expr(INT, 1)])}")
        named(b, "v", FLOAT, f"self.{name}.factor + self.{name}.count")


def containers(b):
    """Adds sequences and dicts of modules and of parameters, which are used whole, by index, sliced and nested."""
    r, name, i, layer = b.r, b.world.definition("many"), b.fresh("q"), b.fresh("q")
    way = r.randrange(7)
    made = {0: "nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3, bias=False))", 1: "nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Tanh(), nn.Linear(3, 3)))",
            2: "nn.ModuleList([nn.ModuleList([nn.Linear(3, 3), nn.ReLU()]), nn.ModuleList([nn.Linear(3, 3)])])", 3: "nn.ModuleDict({'one': nn.Sequential(nn.Linear(3, 3), nn.Sigmoid()), 'two': nn.Linear(3, 3)})",
            4: "nn.ParameterList([nn.Parameter(torch.randn(2, 3)) for i in range(3)])", 5: "nn.ModuleList([nn.Linear(3, 3), nn.Identity(), nn.Linear(3, 3)])",
            6: "nn.ModuleDict({'list': nn.ModuleList([nn.Linear(3, 3), nn.Tanh()]), 'last': nn.ModuleList([nn.ReLU()])})"}[way]
    b.module.init.append(f"self.{name} = {made}")
    x = named(b, "v", tensor(), b.expr(tensor(), 1))
    if way == 0:
        b.put(r.choice([f"{x} = self.{name}[0]({x})", f"{x} = self.{name}[-1]({x}) + len(self.{name})"]))
        if r.random() < 0.6:
            inside(b, f"for {layer} in self.{name}:", f"{x} = {layer}({x})")
    elif way == 1:
        b.put(f"{x} = self.{name}[1][{r.choice(['0', '1', '-1'])}](self.{name}[0]({x}))")
    elif way == 2:
        group = b.fresh("q")
        inside(b, f"for {group} in self.{name}:", f"for {layer} in {group}:", f"    {x} = {layer}({x})", f"{x} = {x} * len({group})")
    elif way == 3:
        b.put(r.choice([f"{x} = self.{name}['one']({x})", f"{x} = self.{name}['one'][0](self.{name}['two']({x}))"]))
        inside(b, f"for {layer} in self.{name}.values():", f"{x} = {layer}({x})")
        inside(b, f"if {r.choice(['one', 'none'])!r} in self.{name}:", f"{x} = {x} - 1")
    elif way == 4:
        inside(b, f"for {layer} in self.{name}:", f"{x} = {x} {r.choice('+*-')} {layer}")
        b.put(f"{x} = {x} + self.{name}[{r.choice(['0', '1'])}]")
    elif way == 5:
        b.put(f"{x} = self.{name}[{r.choice(['0', '1', '-1'])}]({x})")
        inside(b, f"for {i}, {layer} in enumerate(self.{name}, 1):", f"{x} = {layer}({x}) * {i}")
    else:
        key, layers = b.fresh("k"), b.fresh("q")
        inside(b, f"for {key}, {layers} in self.{name}.items():", f"for {i}, {layer} in enumerate({layers}):", f"    {x} = {layer}({x}) + {i} + len({key})")


def states(b):
    """Adds buffers that calls change, in place and by assignment, and attributes of submodules."""
    r, name = b.r, b.world.definition("state")
    b.module.init += [f"self.register_buffer({name!r}, torch.zeros(2, 3){r.choice(['', ', persistent=False'])})", f"self.register_buffer('{name}_count', torch.tensor({r.choice(['0', '5'])}))", f"self.{name}_seen: Dict[str, int] = {{'calls': 0}}"]
    for _ in range(r.randrange(1, 4)):
        b.put(r.choice([f"self.{name} += {b.expr(tensor(), 1)}", f"self.{name} = self.{name} * 0.5 + {b.expr(tensor(), 1)}", f"self.{name}.mul_({r.choice(['0.5', '2'])}).add_({b.expr(tensor(), 1)}, alpha=0.1)", f"self.{name}[{r.choice(['0', '-1', '...'])}] = {r.choice(['1.5', '-2'])}",
                        f"self.{name}[:, {r.choice(['0', '-1', '1:', '::2'])}] {r.choice(['+=', '*=', '='])} {r.choice(['2', '0.5'])}", f"self.{name}_count += 1", f"self.{name}.copy_({b.expr(tensor(), 1)})", f"self.{name}_seen['calls'] += 1",
                        f"self.{name}_seen[{b.expr(STR, 1)}] = {b.expr(INT, 1)}", f"self.{name}_count = self.{name}_count {r.choice(['+ 2', '* 3'])}", f"self.{name}.t()[{r.choice(['0', '1'])}] = -1"]))
    named(b, "v", tensor(), f"self.{name}.clone()")
    named(b, "v", tensor("int64", ()), f"self.{name}_count + {b.expr(INT, 0)}")
    named(b, "v", keyed(STR, INT), f"self.{name}_seen.copy()")


def traced(b):
    """Adds a traced module in a scripted module."""
    r, name = b.r, b.world.definition("traced")
    made = r.choice(["nn.Sequential(nn.Linear(3, 3), nn.ReLU())", "nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4, eps=0.5), nn.Linear(4, 3))", "nn.Linear(3, 3)"])
    b.module.init.append(f"self.{name} = torch.jit.trace({made}.eval(), torch.randn(2, 3))")
    named(b, "v", tensor(), f"self.{name}({b.expr(tensor(), 1)})")


def floats_of_quantized(b):
    """Adds float arithmetic of quantized tensors in a module, and layers that take quantized tensors."""
    r, name = b.r, b.world.definition("quant")
    b.module.init += [f"self.{name} = nnq.QFunctional()", f"self.{name}.scale = {r.choice(['0.1', '0.25'])}", f"self.{name}.zero_point = {r.choice(['0', '64'])}"]
    x, y = b.fresh("z"), b.fresh("z")
    for one in (x, y):
        b.put(f"{one} = torch.quantize_per_tensor({b.expr(tensor(), 1)}, 0.1, 64, torch.quint8)")
    named(b, "v", tensor(), f"self.{name}.{r.choice(['add', 'mul', 'add_relu'])}({x}, {y}).dequantize()" if r.random() < 0.7 else f"self.{name}.{r.choice(['add_scalar', 'mul_scalar'])}({x}, {r.choice(['1.5', '-0.5', '2.0'])}).dequantize()")
    if r.random() < 0.5:
        layer = r.choice(["nnq.ReLU6()", "nnq.Hardswish(0.1, 3)", "nnq.LeakyReLU(0.1, 5)", "nnq.Sigmoid(0.00390625, 0)", "nnq.LayerNorm([3], nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3)), 0.1, 60, eps=0.5)", "nnq.ELU(0.1, 10)"])
        b.module.init.append(f"self.{name}_layer = {layer}")
        named(b, "v", tensor(), f"self.{name}_layer({x}).dequantize()")


def dynamic(b):
    """Adds recurrent layers and cells with integer weights."""
    r, name = b.r, b.world.definition("rec")
    cell = r.choice(["LSTMCell", "GRUCell", "RNNCell", "GRU", "LSTM"])
    b.module.init.append(f"self.{name} = nnqd.{cell}(3, 3{r.choice(['', ', bias=False' if 'Cell' not in cell else ''])})")
    x = b.expr(tensor(), 1) if "Cell" in cell else b.expr(tensor("float32", (2, 2, 3)), 1)
    if cell == "LSTMCell":
        named(b, "v", tensor(), f"self.{name}({x})[{r.randrange(2)}]")
    elif "Cell" in cell:
        named(b, "v", tensor(), f"self.{name}({x}, {b.expr(tensor(), 1)})")
    else:
        named(b, "v", tensor("float32", (2, 2, 3)), f"self.{name}({x})[0]")


STATEMENTS = (interfaces, interfaces, hooks, properties, left_out, constants, reflected, inherited, containers, containers, states, states, traced, floats_of_quantized, dynamic)


def statement(b):
    b.r.choice(STATEMENTS)(b)
