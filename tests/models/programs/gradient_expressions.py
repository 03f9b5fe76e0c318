# SPDX-License-Identifier: BSD-2-Clause
"""Expressions of tensors of float64 with a given shape, and views, for programs that compute gradients (gradients.py)."""
DTYPE = "dtype=torch.float64"
SHAPES = [(2, 3)] * 4 + [(3,)] * 3 + [(3, 3), (3, 2), (4,), (2, 2, 3), (1, 3), (6,), ()]


def count(shape):
    n = 1
    for s in shape:
        n *= s
    return n


def of_shape(torch, r, shape):
    """Returns an argument. Its elements differ, and are not at edges of functions."""
    g = torch.Generator().manual_seed(r.randrange(1 << 30))
    return (torch.rand(shape, generator=g, dtype=torch.float64) * 3 - 1.5) + 0.01


def permuted(r, values):
    values = list(values)
    r.shuffle(values)
    return values


class Expressions:
    def __init__(self, p, module):
        self.p, self.r, self.module, self.vars = p, p.r, module, {}
        self.level = 0

    def names(self, shape):
        return [n for n, s in self.vars.items() if s == shape]

    def any(self):
        return self.r.choice(sorted(self.vars))

    def number(self):
        return self.r.choice(["0.5", "2.0", "-1.5", "0.3", "3", "-2", "1.25"])

    def constant(self, shape):
        r, n = self.r, count(shape)
        return r.choice([f"torch.full({list(shape)}, {self.number()}, {DTYPE})", f"torch.ones({list(shape)}, {DTYPE})", f"torch.linspace(-1.0, 1.0, {n}, {DTYPE}).reshape({list(shape)})",
                         f"torch.arange({n}, {DTYPE}).reshape({list(shape)})"])

    def expr(self, shape, d=1):
        """Returns an expression of this shape. d: how deep it may be."""
        r, known = self.r, self.names(shape)
        if d <= 0 or r.random() < 0.25:
            if known and r.random() < 0.9:
                return r.choice(known)
            if self.module is not None and r.random() < 0.15:
                return self.p.parameter(shape)
            return self.from_other(shape) if r.random() < 0.8 else self.constant(shape)
        if r.random() < 0.2:
            return self.from_other(shape)
        if r.random() < 0.15:
            return self.shaped(shape, d - 1)
        if r.random() < 0.1:
            called = self.call(shape, d - 1)
            if called:
                return called
        return r.choice(self.makers(shape))(d - 1)

    def from_other(self, shape):
        """Returns an expression made from a variable, whose shape may differ from the requested shape."""
        r = self.r
        if not self.vars:
            return self.constant(shape)
        name = self.any()
        of = self.vars[name]
        if of == shape and r.random() < 0.7:
            return name
        if shape == ():
            return r.choice([f"{name}.sum()", f"{name}.mean()", f"{name}.max()", f"{name}.min()", f"{name}.norm()", f"({name} * {name}).sum()", f"{name}.flatten()[{r.choice([0, -1])}]", f"{name}.var(unbiased=False)", f"torch.logsumexp({name}.flatten(), 0)",
                             f"{name}.tanh().prod()", f"torch.dot({name}.flatten(), {name}.reshape(-1).cos())", f"{name}.flatten().topk(1)[0].sum()", f"{name}.amax()"])
        if of == ():
            return f"{name}.expand({list(shape)})" if r.random() < 0.5 else f"({name} * {self.constant(shape)})"
        if shape[-1] == of[-1] and len(shape) > len(of):
            return f"{name}.expand({list(shape)})" if of == shape[-len(of):] else f"{name}.mean().expand({list(shape)})"
        if count(of) == count(shape):
            return f"{name}.reshape({list(shape)})"
        if count(of) > count(shape):
            return f"{name}.flatten()[{r.choice([':', f'{count(of) - count(shape)}:'])}]".replace("[:]", f"[:{count(shape)}]") + f".reshape({list(shape)})"
        return f"{name}.flatten()[torch.tensor({[r.randrange(count(of)) for _ in range(count(shape))]})].reshape({list(shape)})"

    def mask(self, shape):
        r = self.r
        if r.random() < 0.2:
            return f"(torch.arange({count(shape)}).reshape({list(shape)}) % {r.choice([2, 3])} == 0)"
        return f"({self.expr(shape, 0)} {r.choice(['>', '<', '>=', '<='])} {r.choice(['0', '0.25', '-0.5'])})"

    def condition(self):
        r, name = self.r, self.any()
        return r.choice([f"bool({name}.sum() {r.choice('<>')} {r.choice(['0', '0.5', '-1'])})", f"float({name}.mean()) {r.choice('<>')} {r.choice(['0.0', '0.2'])}", f"{name}.requires_grad", f"bool({name}.max() > {name}.abs().mean())",
                         f"{name}.numel() {r.choice('<>')} 3", f"{name}.dim() == {r.randrange(4)}", f"{name}.sum().item() > 0.1"])

    def call(self, shape, d):
        r = self.r
        ways = [f for f in self.p.functions if f[2] == shape and (self.module is not None or not f[3])]
        if self.module is not None and shape in ((2, 3), (3,), (3, 3)) and (not ways or r.random() < 0.4):
            return f"{self.p.layer(shape)}({self.expr(shape, d)})"
        if not ways:
            return None
        name, shapes, _, _ = r.choice(ways)
        return f"{name}({', '.join(self.expr(s, d) for s in shapes)})"

    def narrower(self, shape):
        r = self.r
        if shape and r.random() < 0.3:
            return shape[1:]
        return tuple(1 if r.random() < 0.25 else s for s in shape)

    def makers(self, shape):
        r, x = self.r, self.expr
        same = lambda d: x(shape, d)
        made = [lambda d: f"{same(d)}.{r.choice(['sin', 'cos', 'tanh', 'sigmoid', 'atan', 'erf', 'neg', 'square', 'relu', 'abs', 'clone', 'contiguous', 'detach', 'asinh', 'expm1', 'sign', 'sinc'])}()",
                lambda d: f"F.{r.choice(['softplus', 'silu', 'gelu', 'elu', 'leaky_relu', 'logsigmoid', 'mish', 'hardswish', 'selu', 'relu6', 'softsign', 'hardtanh'])}({same(d)})",
                lambda d: f"({same(d)} {r.choice('+-*')} {same(d)})", lambda d: f"({same(d)} {r.choice('+-*')} {x(self.narrower(shape), d)})", lambda d: f"({same(d)} {r.choice('+-*/')} {self.number()})",
                lambda d: f"({self.number()} {r.choice('+-*')} {same(d)})", lambda d: f"({same(d)} / ({same(d)}.abs() + 1))", lambda d: f"({same(d)} ** {r.choice([2, 3])})", lambda d: f"{same(d)}.tanh().exp()", lambda d: f"({same(d)}.square() + 1).{r.choice(['sqrt', 'log', 'rsqrt', 'reciprocal', 'log2'])}()",
                lambda d: f"torch.where({self.mask(shape)}, {same(d)}, {same(d)})", lambda d: f"torch.{r.choice(['maximum', 'minimum', 'atan2', 'hypot', 'fmax', 'logaddexp'])}({same(d)}, {same(d)})", lambda d: f"{same(d)}.clamp({r.choice(['-1.0, 1.0', 'min=-0.5', 'max=0.7'])})",
                lambda d: f"{same(d)}.masked_fill({self.mask(shape)}, {self.number()})", lambda d: f"torch.lerp({same(d)}, {same(d)}, {r.choice(['0.3', same(0)])})", lambda d: f"torch.add({same(d)}, {same(d)}, alpha={r.choice(['2', '0.5'])})",
                lambda d: f"torch.addcmul({same(d)}, {same(d)}, {same(d)}, value=0.5)", lambda d: f"torch.addcdiv({same(d)}, {same(d)}, ({same(d)}.square() + 1))", lambda d: f"torch.pow({same(d)}.abs() + 0.5, {r.choice(['2.5', '-1', same(0)])})",
                lambda d: f"torch.stack([{same(d)}, {same(d)}]).{r.choice(['sum(0)', 'mean(0)', 'amax(0)', 'prod(0)', 'norm(2, [0])', 'logsumexp(0)', 'max(0)[0]', 'median(0)[0]'])}", lambda d: f"({same(d)} * {x((), d)})", lambda d: f"{same(d)}.double()", lambda d: f"({same(d)}.float().double())" if r.random() < 0.02 else same(d),
                lambda d: f"F.{r.choice(['mse_loss', 'smooth_l1_loss', 'l1_loss', 'huber_loss'])}({same(d)}, {same(d)}, reduction='none')", lambda d: f"torch.{r.choice(['zeros_like', 'ones_like'])}({same(d)})", lambda d: f"{same(d)}.{r.choice(['type_as', 'to'])}({x((3,), 0)})",
                lambda d: f"torch.rsub({same(d)}, {same(d)})", lambda d: f"{same(d)}.requires_grad_()" if self.daring() else same(d)]
        if shape:
            dim = r.randrange(len(shape))
            made += [lambda d: f"{same(d)}.{r.choice(['cumsum', 'softmax', 'log_softmax', 'cumprod', 'logcumsumexp'])}({dim})", lambda d: f"{same(d)}.{r.choice(['flip([0])', 'roll(1, 0)', 'sort(-1)[0]', 'roll(1)'])}", lambda d: f"({same(d)} - {same(d)}.mean({dim}, keepdim=True))",
                     lambda d: f"F.layer_norm({same(d)}, [{shape[-1]}])", lambda d: f"({same(d)} / {same(d)}.norm(2, [{dim}], keepdim=True).clamp_min(0.1))", lambda d: f"F.normalize({same(d)}, dim={dim})", lambda d: f"{same(d)}.cummax({dim})[0]",
                     lambda d: f"({same(d)} * {same(d)}.amax({dim}, keepdim=True))", lambda d: f"{same(d)}.gather({dim}, torch.zeros({list(shape)}, dtype=torch.int64))", lambda d: f"torch.index_select({same(d)}, {dim}, torch.tensor({[r.randrange(shape[dim]) for _ in range(shape[dim])]}))",
                     lambda d: f"{same(d)}.index_add({dim}, torch.tensor({[r.randrange(shape[dim])]}), {x(shape[:dim] + (1,) + shape[dim + 1:], d)})", lambda d: f"{same(d)}.scatter_add({dim}, torch.zeros({list(shape)}, dtype=torch.int64), {same(d)})",
                     lambda d: f"torch.{r.choice(['select_scatter'])}({same(d)}, {x(shape[:dim] + shape[dim + 1:], d)}, {dim}, {r.randrange(shape[dim])})", lambda d: f"torch.slice_scatter({same(d)}, {x(shape[:dim] + (1,) + shape[dim + 1:], d)}, {dim}, 0, 1)",
                     lambda d: f"{same(d)}.index_copy({dim}, torch.tensor([{r.randrange(shape[dim])}]), {x(shape[:dim] + (1,) + shape[dim + 1:], d)})", lambda d: f"{same(d)}.masked_scatter({self.mask(shape)}, {same(d)})", lambda d: f"{same(d)}.renorm(2, 0, 1.5)" if len(shape) > 1 else same(d)]
        if len(shape) == 1:
            n = shape[0]
            made += [lambda d: f"({x((n, 3), d)} @ {x((3,), d)})", lambda d: f"torch.mv({x((n, 2), d)}, {x((2,), d)})", lambda d: f"torch.einsum('ij,ij->i', {x((n, 2), d)}, {x((n, 2), d)})", lambda d: f"{x((n, 2), d)}.sum(1)", lambda d: f"{x((n, n), d)}.diagonal()",
                     lambda d: f"torch.cat([{x((n - 1,), d)}, {x((1,), d)}])" if n > 1 else same(d), lambda d: f"F.linear({x((2,), d)}, {x((n, 2), d)}, {same(d)})", lambda d: f"torch.stack([{', '.join(x((), d) for _ in range(n))}])"]
        if len(shape) == 2:
            a, b = shape
            made += [lambda d: f"torch.{r.choice(['mm', 'matmul'])}({x((a, 2), d)}, {x((2, b), d)})", lambda d: f"({x((a, 3), d)} @ {x((3, b), d)})", lambda d: f"torch.einsum('ij,jk->ik', {x((a, 2), d)}, {x((2, b), d)})", lambda d: f"torch.einsum('i,j->ij', {x((a,), d)}, {x((b,), d)})",
                     lambda d: f"torch.addmm({same(d)}, {x((a, 2), d)}, {x((2, b), d)}, beta=0.5)", lambda d: f"torch.outer({x((a,), d)}, {x((b,), d)})", lambda d: f"F.linear({x((a, 3), d)}, {x((b, 3), d)})", lambda d: f"{x((b, a), d)}.{r.choice(['t()', 'transpose(0, 1)', 'T', 'mT'])}",
                     lambda d: f"{same(d)}.{r.choice(['tril', 'triu'])}()", lambda d: f"torch.cat([{x((a, b), d)}, {x((a, b), d)}], {r.choice([0, 1])})[:{a}, -{b}:]", lambda d: f"torch.cdist({x((a, 2), d)}, {x((b, 2), d)})", lambda d: f"{x((b,), d)}.repeat({a}, 1)"]
        if len(shape) == 3:
            a, b, c = shape
            made += [lambda d: f"torch.bmm({x((a, b, 2), d)}, {x((a, 2, c), d)})", lambda d: f"torch.einsum('bij,jk->bik', {x((a, b, 2), d)}, {x((2, c), d)})", lambda d: f"torch.matmul({x((a, b, 3), d)}, {x((3, c), d)})", lambda d: f"{x((c, b, a), d)}.permute(2, 1, 0)"]
        return made

    def daring(self):
        return self.r.random() < self.p.daring

    def shaped(self, shape, d):
        """Returns an expression of this shape, made by cutting or reshaping a tensor of another shape."""
        r = self.r
        ways = [lambda: f"{self.expr((2,) + shape, d)}[{r.choice(['0', '1', '-1'])}]", lambda: f"{self.expr((2,) + shape, d)}.sum({r.choice(['0', '[0]'])})", lambda: f"{self.expr((2,) + shape, d)}.unbind(0)[{r.randrange(2)}]", lambda: f"{self.expr((1,) + shape, d)}.squeeze(0)",
                lambda: f"{self.expr((2,) + shape, d)}.{r.choice(['mean', 'amax', 'logsumexp'])}(0)", lambda: f"{self.expr((2,) + shape, d)}.select(0, {r.randrange(2)})"]
        if shape:
            ways += [lambda: f"{self.expr((shape[0] + 1,) + shape[1:], d)}[{r.choice(['1:', ':-1'])}]", lambda: f"{self.expr((2 * shape[0],) + shape[1:], d)}.{r.choice(['chunk(2)', f'split({shape[0]})', f'split_with_sizes([{shape[0]}, {shape[0]}])'])}[{r.randrange(2)}]",
                     lambda: f"{self.expr((2 * shape[0],) + shape[1:], d)}[::2]", lambda: f"torch.cat([{self.expr((1,) + shape[1:], d)}] * {shape[0]})", lambda: f"{self.expr(shape[:-1] + (1,), d)}.expand({list(shape)})",
                     lambda: f"{self.expr((shape[0] + 1,) + shape[1:], d)}.narrow(0, {r.randrange(2)}, {shape[0]})", lambda: f"{self.expr((3,) + shape[1:], d)}[torch.tensor({[r.randrange(-3, 3) for _ in range(shape[0])]})]", lambda: f"{self.expr((count(shape),), d)}.{r.choice(['view', 'reshape'])}({list(shape)})"]
        if len(shape) == 2 and shape[1] == 2:
            ways += [lambda: f"{self.expr((shape[0] + 1,), d)}.unfold(0, 2, 1)"]
        if count(shape) > 40 or len(shape) > 3:
            return self.constant(shape)
        return r.choice(ways)()

    def view(self, name):
        """Returns (expression, shape) of a view of a variable."""
        r, shape = self.r, self.vars[name]
        n = count(shape)
        ways = [(f"{name}.unsqueeze(0)", (1,) + shape), (f"{name}[None]", (1,) + shape), (f"{name}.view([-1])", (n,)), (f"{name}.reshape([{n}])", (n,)), (f"{name}.flatten()", (n,)), (f"{name}.expand({[2] + list(shape)})", (2,) + shape), (f"{name}.view({list(shape)})", shape), (f"{name}.view_as({name})", shape),
                (f"{name}.squeeze()", tuple(s for s in shape if s != 1)), (f"{name}.as_strided([{max(n - 1, 1)}], [1], {r.choice([0, 1]) if n > 1 else 0})", (max(n - 1, 1),)), (f"{name}.expand_as({name})", shape)]
        if shape:
            k, dim = shape[0], r.randrange(len(shape))
            i = r.randrange(shape[dim])
            less = shape[:dim] + shape[dim + 1:]
            part = lambda c: shape[:dim] + (c,) + shape[dim + 1:]
            ways += [(f"{name}[{r.choice([0, k - 1, -1])}]", shape[1:])] * 2 + [(f"{name}.select({dim}, {i})", less), (f"{name}.narrow({dim}, {i}, {shape[dim] - i})", part(shape[dim] - i)), (f"{name}[..., ::2]", shape[:-1] + ((shape[-1] + 1) // 2,)), (f"{name}.unbind({dim})[{i}]", less),
                     (f"{name}.split(1, {dim})[{i}]", part(1)), (f"{name}.chunk({shape[dim]}, {dim})[{i}]", part(1)), (f"{name}.movedim(0, -1)", shape[1:] + shape[:1]), (f"{name}.transpose(0, -1)", shape if len(shape) == 1 else (shape[-1],) + shape[1:-1] + (shape[0],)),
                     (f"{name}[{r.choice([0, 1])}:]" if k > 1 else name + "[:]", None), (f"{name}.tensor_split({shape[dim]}, {dim})[{i}]", part(1)), (f"{name}.swapaxes(0, {len(shape) - 1})", shape if len(shape) == 1 else (shape[-1],) + shape[1:-1] + (shape[0],))]
            if shape[dim] > 1:
                ways += [(f"{name}.unfold({dim}, 2, 1)", part(shape[dim] - 1) + (2,))]
        if len(shape) == 2:
            ways += [(f"{name}.{r.choice(['t()', 'T', 'mT'])}", shape[::-1])] * 2 + [(f"{name}.diagonal()", (min(shape),)), (f"{name}[:, {r.randrange(shape[1])}]", (shape[0],)), (f"{name}[{r.randrange(shape[0])}, {r.randrange(shape[1])}]", ())]
        if len(shape) == 3:
            order = permuted(r, range(3))
            ways += [(f"{name}.permute({order})", tuple(shape[i] for i in order)), (f"{name}[:, {r.randrange(shape[1])}]", (shape[0], shape[2]))]
        text, of = r.choice(ways)
        if of is None:
            of = (shape[0] - int(text[-3]),) + shape[1:] if text[-3].isdigit() else shape
        return (text, of) if len(of) <= 3 and 0 < count(of) <= 40 else (f"{name}.view({list(shape)})", shape)
