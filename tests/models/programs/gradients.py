# SPDX-License-Identifier: BSD-2-Clause
"""Writes programs that compute gradients, from a seed: tensors that need a gradient, a body of expressions, views, writes in place, loops and
branches (gradient_statements.py), and calls of torch.autograd.grad and backward. The shape of each tensor is known, so most programs run."""
import random

import gradient_statements
from gradient_expressions import DTYPE, SHAPES, Expressions, of_shape
from writer import HEAD

HELPERS = """

def given(g: Optional[Tensor]) -> Tensor:
    assert g is not None
    return g


def some(g: Optional[Tensor], x: Tensor) -> Tensor:
    if g is None:
        return torch.zeros_like(x)
    return g
"""


# Shapes of programs, and the statements of which they have more.
PROGRAM_SHAPES = {"any": (), "loops": ("branch", "loop", "over_rows"), "views": ("take_view", "write"), "writes": ("write", "augment", "reshaping", "containers"),
          "modes": ("modes", "risk", "flag", "leave", "new_leaf", "inner_gradient"), "single": ()}
# Layers with parameters from (2, 3) to the same shape. None returns the result of a convolution without a batch, which is a view in PyTorch.
LAYERS = ["nn.Sequential(nn.Unflatten(0, (1, 2)), nn.Conv1d(2, 2, 3, padding=1), nn.Flatten(0, 1))", "nn.Sequential(nn.Conv1d(2, 4, 1), nn.ReLU(), nn.Conv1d(4, 2, 3, padding=1), nn.Tanh())", "nn.Sequential(nn.Unflatten(0, (1, 2)), nn.BatchNorm1d(2), nn.Flatten(0, 1))",
          "nn.Sequential(nn.Unflatten(0, (1, 2)), nn.Conv1d(2, 3, 1), nn.BatchNorm1d(3), nn.ReLU6(), nn.Conv1d(3, 2, 1), nn.Flatten(0, 1))", "nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv2d(2, 2, (1, 3), padding=(0, 1)), nn.Flatten(1, 2))",
          "nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 3), nn.Hardtanh())", "nn.PReLU()", "nn.Sequential(nn.Linear(3, 6), nn.GLU())"]


class Program:
    """State of the whole program: functions, methods, the module's parameters, and how often its statements break rules of gradients."""

    def __init__(self, r, shape):
        self.more, self.single = PROGRAM_SHAPES[shape], shape == "single"
        self.r, self.functions, self.methods, self.init, self.lines, self.names = r, [], [], [], [], 0
        self.daring = r.choice([0.0, 0.0, 0.0, 0.02, 0.02, 0.3])  # probability with which a statement may break the rules of gradients
        self.writes = r.choice([0.3, 1.0, 1.0, 2.0])  # how often writes in place occur, relative to other statements
        self.parameters = {}  # parameters of the module, {name: shape}
        self.asked = False  # true after a call of torch.autograd.grad

    def fresh(self, letter="v"):
        self.names += 1
        return f"{letter}{self.names}"

    def parameter(self, shape):
        known = [n for n, s in self.parameters.items() if s == shape]
        if known and self.r.random() < 0.6:
            return self.r.choice(known)
        name = f"self.w{len(self.parameters)}"
        self.parameters[name] = shape
        self.init.append(f"{name} = nn.Parameter(torch.randn({list(shape)}, {DTYPE}))")
        return name

    def layer(self, shape):
        """Returns the name of a submodule from a shape whose last size is 3 to the same shape."""
        text = self.r.choice((LAYERS if self.single and shape == (2, 3) else []) + ["nn.Linear(3, 3)", "nn.Linear(3, 3, bias=False)", "nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))", "nn.LayerNorm(3)", "nn.Softplus()", "nn.SiLU()", "nn.GELU()", "nn.Softmax(-1)"])
        name = f"self.layer{len(self.init)}"
        self.init.append(f"{name} = {text}.double()")
        return name


def function(p, method):
    """Adds a function, or a method, of tensors with known shapes."""
    r = p.r
    name = p.fresh("fn")
    shapes = [r.choice(SHAPES) for _ in range(r.randrange(1, 3))]
    body = gradient_statements.Body(p, 2 if method else 1, p if method else None)
    for i, shape in enumerate(shapes):
        body.declare(f"p{i}", shape)
    result = r.choice([shapes[0], shapes[0], ()])
    body.result = result if r.random() < 0.4 else None
    for _ in range(r.randrange(1, 5)):
        body.statement()
    body.put(f"return {body.expr(result, 2)}")
    indent = "    " if method else ""
    head = f"{indent}def {name}({'self, ' if method else ''}{', '.join(f'p{i}: Tensor' for i in range(len(shapes)))}) -> Tensor:"
    (p.methods if method else p.lines).extend(["", *([] if method else [""]), head, *body.lines])
    p.functions.append((("self." if method else "") + name, shapes, result, method))


def in_single(source):
    """Returns the program with float32. PyTorch 1.13 computes another gradient of gelu if the gradient that it is given is transposed."""
    source = source.replace("torch.float64", "torch.float32").replace(".double()", ".float()")
    return source.replace("nn.GELU()", "nn.GELU('tanh')").replace("F.gelu(", "F.mish(")


def program(seed, shape="any"):
    """Returns (source, [("forward", arguments)]). shape: of PROGRAM_SHAPES, or "all" for each of them in turn."""
    import torch
    r = random.Random(seed)
    p = Program(r, sorted(PROGRAM_SHAPES)[seed % len(PROGRAM_SHAPES)] if shape == "all" else shape)
    for _ in range(r.choice([0, 0, 1, 2])):
        function(p, r.random() < 0.4)
    body = gradient_statements.Body(p, 2, p)
    inputs = [(f"x{i}", r.choice(SHAPES)) for i in range(r.randrange(1, 4))]
    for name, shape in inputs:
        body.declare(name, shape)
    for i, (name, shape) in enumerate(inputs):
        if i == 0 or r.random() < 0.5:
            body.make_leaf(name)
    for _ in range(r.randrange(3, 11)):
        body.statement()
    for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
        body.gradient()
        for _ in range(r.choice([0, 0, 0, 1, 2])):
            body.statement()
    lines = body.finish()
    head = ["", "", "class M(nn.Module):", "    def __init__(self):", "        super().__init__()"] + ["        " + line for line in p.init]
    source = HEAD + HELPERS + "\n".join(p.lines + head + p.methods + ["", f"    def forward(self, {', '.join(n + ': Tensor' for n, _ in inputs)}):"] + lines) + "\n"
    if p.single:
        source = in_single(source)
    arguments = lambda: [of_shape(torch, r, s).to(torch.float32 if p.single else torch.float64) for _, s in inputs]
    first = arguments()
    return source, [("forward", first), ("forward", first), ("forward", arguments())][:r.choice([1, 2, 3])]
