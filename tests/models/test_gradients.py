#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_gradients.py TAPER [NAME…]: runs TorchScript programs that compute gradients and compares with PyTorch: control flow, dicts,
writes in place, views, flags of torch.autograd.grad, backward, and the errors. Each program is called three times. Ends with "N
passed, N failed"."""
import os
import subprocess
import sys
import tempfile
from typing import Dict, List, Optional, Tuple

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ops"))
import json

import torch
import torch.nn.functional as F
from torch import Tensor

import oracle
from run_gradients import strip


def given(g: Optional[Tensor]) -> Tensor:
    assert g is not None
    return g


class Plain(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = (x * x.sin()).sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.SiLU(), torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        e = self.net(x).sum()
        return e, given(torch.autograd.grad([e], [x])[0])


class Second(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = (x ** 3).sum() + torch.exp(x.mean())
        g = given(torch.autograd.grad([y], [x], create_graph=True)[0])
        h = given(torch.autograd.grad([(g * g).sum()], [x])[0])
        return g.detach(), h, g.requires_grad


class Determinants(torch.nn.Module):
    """First and second derivatives of determinants of singular matrices, in a batch with others, and the trace of a matrix that is not square."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        first = x[:3]
        other = torch.stack([first[0], first[1], first[0] * 2 - first[1]])
        y = torch.det(torch.stack([first, other, torch.outer(x[0], x[1])]) + torch.zeros(2, 1, 1, 1))
        g = given(torch.autograd.grad([(y * y + y).sum() + torch.trace(x)], [x], create_graph=True)[0])
        return y, g.detach(), given(torch.autograd.grad([(g * g).sum()], [x])[0])


class LargeProducts(torch.nn.Module):
    """Gradients of products that are summed over dimensions in blocks of rows, because they have more elements than a cache."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        rows = torch.arange(2400, dtype=x.dtype).view(800, 3).sin() * x[0] * 50
        a, b, c = rows.unsqueeze(-1), rows[:, :1].unsqueeze(-1).expand(800, 1, 64) * x[1, 1], torch.linspace(0, 1, 64).to(x.dtype) * x[2, 2]
        y = (a * b * c * (a + b)).mean()
        g = torch.autograd.grad([y], [x, a, b, c])
        return y, g[0], g[1], g[2], g[3]


class Hessian(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.flatten().detach().requires_grad_(True)
        y = (x.unsqueeze(0) * x.unsqueeze(1)).sin().sum()
        g = given(torch.autograd.grad([y], [x], create_graph=True)[0])
        rows: List[Tensor] = []
        for i in range(x.numel()):
            rows.append(given(torch.autograd.grad([g[i]], [x], retain_graph=True)[0]))
        return torch.stack(rows)


class ControlFlow(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x
        for i in range(5):
            if bool(y.sum() > 2):
                y = y * 0.5
            else:
                y = y.exp() + float(i)
        while bool(y.max() > 1):
            y = y / 2
        total = y.sum()
        return total, given(torch.autograd.grad([total], [x])[0])


class InDict(torch.nn.Module):
    def forward(self, data: Dict[str, Tensor]) -> Dict[str, Tensor]:
        data["x"].requires_grad_(True)
        strain = torch.zeros(2, 2).requires_grad_(True)
        data["y"] = torch.mm(data["x"][:, :2], torch.eye(2) + 0.5 * (strain + strain.t()))
        data["e"] = (data["y"] ** 2).sum() * data["x"].norm()
        g = torch.autograd.grad([data["e"]], [data["x"], strain])
        data["force"], data["virial"] = -given(g[0]), given(g[1])
        return data


class Slices(torch.nn.Module):
    """Writes to views, through which the gradient of the base passes."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        out = torch.zeros(4, 3)
        for i in range(4):
            out[i] = x[i] * float(i) + x[0]
        out[1:3].mul_(2.0)
        v = out.view(2, 6)
        v += 1
        out[:, 1].copy_(x[:, 0].sin())
        w = out.t()
        w[0, 0] = 3.0
        y = (out ** 3).sum() + (w * v.view(4, 3).t()).sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class Masks(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        y[x > 0] = 0.5
        y[torch.tensor([0, 0, 2])] += x[1]
        y.masked_fill_(x < -1, 7.0)
        z = torch.where(y > 1, y, x)
        total = (z * z).sum()
        return total, given(torch.autograd.grad([total], [x])[0])


class InPlaceChain(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x.clone()
        y.mul_(x)
        y.add_(x, alpha=3)
        y.unsqueeze_(0)
        y.transpose_(0, 1)
        y = y.squeeze(1)
        y.sigmoid_()
        y = y / (x.abs().sum() + 1)
        total = y.sum()
        return total, y.shape, given(torch.autograd.grad([total], [x])[0])


class Several(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        w = torch.ones(3).requires_grad_(True)
        unused = torch.ones(2).requires_grad_(True)
        a, b = (x * w).sum(), x.prod()
        g = torch.autograd.grad([a, b], [x, w, unused], allow_unused=True)
        return g[0], g[1], g[2]


class Weighted(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y, z = x * x, x.cos()
        weights: Optional[List[Optional[Tensor]]] = [torch.ones_like(y) * 2, torch.arange(x.numel()).reshape(x.shape).float()]
        return torch.autograd.grad([y, z], [x], weights)[0]


class Middle(torch.nn.Module):
    """Asks for the gradient of a computed tensor, and of a view."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 3
        z = y.t()
        total = (z * z).sum() + y.sum()
        g = torch.autograd.grad([total], [y, z, x], retain_graph=True)
        return g[0], g[1], g[2]


class Lists(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        parts = torch.split(x, 1, dim=0)
        items: List[Tensor] = []
        for i, p in enumerate(parts):
            items.append(p * float(i + 1))
        items[0] = items[0] + items[1]
        a, b = torch.unbind(torch.cat(items, dim=0).t()[:2])
        m = torch.stack([a, b]).max(dim=0)
        y = (m.values * m.values).sum() + torch.topk(x.flatten(), 3).values.sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class Modes(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        with torch.no_grad():
            quiet = (x * 2).sum()
        y = x * 5
        cut = y.detach() * x
        flags = [quiet.requires_grad, y.requires_grad, cut.requires_grad, y.is_leaf, x.is_leaf, y.detach().requires_grad]
        total = cut.sum() + quiet
        return flags, given(torch.autograd.grad([total], [x])[0])


class Backward(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        (x * x).sum().backward()
        g = x.grad
        assert g is not None
        first = g.clone()
        (x * 3).sum().backward()
        again = x.grad
        assert again is not None
        return first, again


class Shared(torch.nn.Module):
    """One tensor used many times, and a result that is used by two paths."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x
        for i in range(30):
            y = y + y * 0.01
        z = y * y + y.sum() * y
        total = z.sum() / 1000
        return total, given(torch.autograd.grad([total], [x])[0])


class Methods(torch.nn.Module):
    def energy(self, x: Tensor, scale: float) -> Tensor:
        return (torch.relu(x) * scale).pow(2).sum()

    def forces(self, x: Tensor, scale: float) -> Tuple[Tensor, Tensor]:
        e = self.energy(x, scale)
        g = torch.autograd.grad([e], [x])[0]
        assert g is not None
        return e, -g

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        return self.forces(x, 0.5), self.forces(x, 2.0)


class Parameters(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(12.0).reshape(4, 3))

    def forward(self, x: Tensor):
        y = (x * self.w).sum().tanh()
        return given(torch.autograd.grad([y], [self.w])[0])


class ViewsOfParameters(torch.nn.Module):
    """The compiler must not fold constants that are computed from parameters that need gradients."""
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(12.0).reshape(4, 3))

    def forward(self, x: Tensor):
        y, part = x * 2, self.w[1:, 0]
        y.add_(self.w.view([4, 3]), alpha=2)
        g = given(torch.autograd.grad([self.w[0].sum() * y.mean() + (self.w.t() * 3).sum()], [self.w])[0])
        return g, y.requires_grad, part.requires_grad, part.is_leaf


class ParametersOfLayers(torch.nn.Module):
    """Layers whose weights the compiler turns or reshapes if nothing asks for their gradients."""
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.w, self.b = torch.nn.Parameter(torch.randn(3, 5)), torch.nn.Parameter(torch.randn(5))
        self.conv = torch.nn.Conv1d(4, 2, 2)

    def forward(self, x: Tensor):
        y = (torch.matmul(x, self.w) + self.b).square().sum() + torch.addmm(self.b, x, self.w).sum() + self.conv(x.unsqueeze(0)).square().sum()
        g = torch.autograd.grad([y], [self.w, self.b, self.conv.weight])
        return given(g[0]), given(g[1]), given(g[2])


class NormAfterConv1d(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.net = torch.nn.Sequential(torch.nn.Conv1d(4, 2, 2), torch.nn.BatchNorm1d(2), torch.nn.ReLU()).eval().requires_grad_(False)

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        return given(torch.autograd.grad([self.net(x.unsqueeze(0)).square().sum()], [x])[0])


class SecondOfCorners(torch.nn.Module):
    """The gradient of a piecewise linear function depends on the function's argument, but the derivative of this gradient is 0."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        results = torch.jit.annotate(List[Tensor], [])
        for y in [x.relu(), F.relu6(x), F.leaky_relu(x), F.hardtanh(x), F.softshrink(x), F.hardshrink(x), F.threshold(x, 0.1, 0.0)]:
            g = given(torch.autograd.grad([y.sum()], [x], create_graph=True)[0])
            results.append(given(torch.autograd.grad([g.sum()], [x])[0]) + g.detach())
        return results


class SecondOfChosen(torch.nn.Module):
    """The gradient of an operator that chooses elements, such as max or sort, does not depend on x, so this gradient needs no gradient itself."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        results = torch.jit.annotate(List[bool], [])
        for y in [x.max(0)[0], x.sort(0)[0], x.topk(2)[0], x.cummax(0)[0], x.kthvalue(2)[0], x.mode()[0]]:
            results.append(given(torch.autograd.grad([y.sum()], [x], create_graph=True)[0]).requires_grad)
        return results


class ComparedQuietView(torch.nn.Module):
    """A comparison records nothing, although its arguments need gradients."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        with torch.no_grad():
            view = y[0]
        y.mul_(3)
        return view > 0.25, torch.isnan(view), given(torch.autograd.grad([y.sum()], [x])[0])


class Deep(torch.nn.Module):
    """A chain of many operators, which no recursive function may follow."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x[0]
        for i in range(20000):
            y = y + 0.5
        total = (y * y).sum()
        return given(torch.autograd.grad([total], [x])[0])


class Integers(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        n = (x > 0).sum()
        y = x.round() * n + (x * 2).floor() + x * n
        return given(torch.autograd.grad([y.sum()], [x])[0])


class Doubles(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x.double() ** 2
        total = y.sum()
        return total, given(torch.autograd.grad([total], [x])[0])


# Programs like those generated programs (generate_programs.py --gradients) whose gradients were once wrong.
class WrittenMean(torch.nn.Module):
    """A tensor of which a gradient reads only the sizes may be written to."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        m = x.mean()
        m.clamp_(-1.0, 1.0)
        a, b = x * 2, torch.zeros(4, 3)
        s = torch.stack([a, b]).sum(0) + torch.cat([a, b])[:4]
        a.sin_()
        b.add_(x)
        u = a.flatten()
        v = u.unfold(0, 2, 2).sum() + u.as_strided([3], [1], 2).sum()
        u.zero_()
        y = m + m * m + (s * s).sum() + v + b.sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class WrittenFactor(torch.nn.Module):
    """If only one factor of einsum needs a gradient, this gradient reads the other factors. The gradient of a right-hand side reads the matrix."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        z = torch.einsum("ij,kj->ik", y, torch.ones([2, 3]) * 3)
        solved = torch.linalg.solve(torch.eye(4) * 5, y)
        y.mul_(2)
        return given(torch.autograd.grad([(z * z).sum() + y.sum() + (solved * solved).sum()], [x])[0])


class Reshaped(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = torch.cat([x, x[:1]])
        y.unsqueeze_(0)
        z = (x * 2).clone()
        z.t_()
        total = (y * y).sum() + (z.sin() * torch.arange(12.0).reshape(3, 4)).sum()
        return total, given(torch.autograd.grad([total], [x])[0])


class VisitedAgain(torch.nn.Module):
    """Without retain_graph, only nodes that saved elements are freed."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        v = x.view(3, 4)
        first = given(torch.autograd.grad([(v * v).sum()], [x])[0])
        y = v * x.mean()
        middle = given(torch.autograd.grad([y], [y], torch.jit.annotate(Optional[List[Optional[Tensor]]], [torch.ones(3, 4)]))[0])
        return first, middle, given(torch.autograd.grad([(v.t() * v.t()).sum() + y.sum()], [x])[0])


class QuietView(torch.nn.Module):
    """A view that was made while nothing was recorded needs a gradient, but the gradient does not reach its base."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        with torch.no_grad():
            v = x[1:]
        y = (v * v).sum() + x.sum()
        g = torch.autograd.grad([y], [x, v], allow_unused=True)
        same = x.transpose(0, 0)
        return v.requires_grad, v.is_leaf, g[0], g[1], torch.autograd.grad([(x * x).sum()], [same], allow_unused=True)[0]


class Data(torch.nn.Module):
    """A write to `tensor.data` does not count as a write to the tensor."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = (x * x).sum()
        x.data.mul_(2)
        x.data[0] = 1.0
        return x.detach(), given(torch.autograd.grad([y], [x])[0])


class SumsOfExpanded(torch.nn.Module):
    """The gradients that are added up for a leaf get memory of their own, also with create_graph."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        x.sum().backward(retain_graph=True, create_graph=True)
        (x * x).sum().backward()
        return x.grad


class LeafOfView(torch.nn.Module):
    """If a tensor needs no gradient, requires_grad_ makes a view of it a leaf. The view remains a leaf after a write to its data."""
    def forward(self, x: Tensor):
        w = torch.linspace(-1.0, 1.0, 12).reshape(4, 3).requires_grad_(True)
        w.detach().mul_(2)
        return given(torch.autograd.grad([(w * x).sum() + w.mean()], [w])[0])


class SecondOfWrite(torch.nn.Module):
    """The gradient that reaches a write to a view is a view itself, and begins in the middle of its storage."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        v = x[2:] + x[:2]
        v[0] *= x[2]
        g = given(torch.autograd.grad([v.sum()], [x], create_graph=True)[0])
        return g.detach(), given(torch.autograd.grad([(g * g).sum()], [x])[0])


class StridesOfExpanded(torch.nn.Module):
    """Elements of an expanded tensor share the gradient of their place in the storage."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        v = x[1].expand(2, 3).as_strided([3], [1], 3)
        return given(torch.autograd.grad([(v * v).sum()], [x])[0])


class LeafSums(torch.nn.Module):
    """The program holds the gradient of a leaf, to which later calls add in place."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        (x * x).sum().backward()
        first = given(x.grad)
        x.sum().backward()
        (x * x * x).sum().backward(create_graph=True)
        last = given(x.grad)
        return first, last, given(torch.autograd.grad([last.sum()], [x])[0])


class OffsetOfGradient(torch.nn.Module):
    """The gradient that reaches a write to a view is a slice of a larger tensor."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * x.mean()
        y[:, 1].add_(1)
        w = torch.arange(30.0).reshape(5, 6)
        g = torch.autograd.grad([y.flatten()[:3].view(1, 3), y], [x], torch.jit.annotate(Optional[List[Optional[Tensor]]], [w[1:2, 3:], w[1:, 3:]]))
        z = x[:1] * x.mean()
        z[:, 1].add_(1)
        return g[0], given(torch.autograd.grad([z], [x], torch.jit.annotate(Optional[List[Optional[Tensor]]], [w[1:2, 3:]]))[0])


class OverlappingView(torch.nn.Module):
    """A view whose elements share memory, and whose base was written to after the view was made."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        v, u = y.expand(2, 4, 3), y.flatten().unfold(0, 3, 1)
        y[0] += x[1].sin()
        total = (v * v).sum() + (u * u).sum()
        return total, given(torch.autograd.grad([total], [x])[0])


class WrittenAndRead(torch.nn.Module):
    """A second derivative reads what a write to a view computed."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        v = y[None]
        v.view(1, 12).hypot_(x.flatten() * 3)
        g = given(torch.autograd.grad([v.sum()], [x], create_graph=True)[0])
        return g, given(torch.autograd.grad([(y * y).sum() + (g * x).sum()], [x])[0])


class Diagonal(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 3
        y.fill_diagonal_(1.0)
        y[torch.tensor([0, 0])] += x[:2]
        return given(torch.autograd.grad([(y * y).sum()], [x])[0])


# Programs that PyTorch refuses; `says` is a part of PyTorch's message.
class Unused(torch.nn.Module):
    says = "appears to not have been used in the graph"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        w = torch.ones(2).requires_grad_(True)
        return torch.autograd.grad([x.sum()], [w])[0]


class NotNeeded(torch.nn.Module):
    says = "does not require grad"

    def forward(self, x: Tensor):
        y = x.detach().sum()
        return torch.autograd.grad([y], [x])[0]


class WrongTarget(torch.nn.Module):
    says = "One of the differentiated Tensors does not require grad"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        return torch.autograd.grad([x.sum()], [torch.ones(2)])[0]


class NotScalar(torch.nn.Module):
    says = "grad can be implicitly created only for scalar outputs"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        return torch.autograd.grad([x * 2], [x])[0]


class Leaf(torch.nn.Module):
    says = "a leaf Variable that requires grad is being used in an in-place operation"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        x.mul_(2)
        return torch.autograd.grad([x.sum()], [x])[0]


class ViewOfLeaf(torch.nn.Module):
    says = "a view of a leaf Variable that requires grad is being used in an in-place operation"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        x[0].mul_(2)
        return torch.autograd.grad([x.sum()], [x])[0]


class Overwritten(torch.nn.Module):
    says = "has been modified by an inplace operation"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        z = y.sin().sum()
        y.add_(1)
        return torch.autograd.grad([z], [x])[0]


class Freed(torch.nn.Module):
    says = "Trying to backward through the graph a second time"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x.sin().sum()
        g = torch.autograd.grad([y], [x])[0]
        return torch.autograd.grad([y], [x])[0]


class Whole(torch.nn.Module):
    says = "floating point"

    def forward(self, x: Tensor):
        return torch.autograd.grad([x.sum()], [x.long().requires_grad_(True)])[0]


class WrittenByItself(torch.nn.Module):
    says = "has been modified by an inplace operation"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        y.mul_(y)
        return torch.autograd.grad([y.sum()], [x])[0]


class FilledView(torch.nn.Module):
    """A write to the base after the view was made gives the base a gradient, so the view is no leaf."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = torch.ones(3, 3)
        v = y.unsqueeze(0)[0]
        y *= x[:3]
        v.fill_diagonal_(0.5)
        total = (y * y).sum()
        return total, given(torch.autograd.grad([total], [x])[0])


class OneOfSeveral(torch.nn.Module):
    says = "This view is the output of a function that returns multiple views. Such functions do not allow the output views"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        (x * 2).split(2)[0].mul_(2)
        return torch.autograd.grad([x.sum()], [x])[0]


class WrittenQuietView(torch.nn.Module):
    says = "A view was created in no_grad mode and is being modified inplace with grad mode enabled."

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = torch.zeros(3)
        with torch.no_grad():
            v = y[1:]
        v.mul_(x[0, 0])
        return torch.autograd.grad([y.sum()], [x])[0]


class ComparedView(torch.nn.Module):
    says = "a leaf Variable that requires grad is being used in an in-place operation"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        view = torch.full([2, 3, 2], 2.0)[-1]
        view.squeeze().index_copy_(0, torch.tensor([1]), (x * x)[:1, :2])
        view.index_put_([view > 0.25], x.mean())
        return torch.autograd.grad([view.sum()], [x])[0]


class WrittenExpanded(torch.nn.Module):
    says = "more than one element of the written-to tensor refers to a single memory location"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        view = (x * x).expand([2, 4, 3])
        view.masked_fill_(view > 0.25, 0.3)
        return torch.autograd.grad([view.sum()], [x])[0]


class WrittenBase(torch.nn.Module):
    says = "is a view and its base or another view of its base has been modified inplace."

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        y = x * 2
        v = y.unbind(0)[1]
        y.mul_(2)
        return torch.autograd.grad([v.sum()], [x])[0]


class FlagOfComputed(torch.nn.Module):
    says = "you can only change requires_grad flags of leaf variables."

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        (x * 2).requires_grad_(False)
        return torch.autograd.grad([x.sum()], [x])[0]


class DetachedView(torch.nn.Module):
    says = "Can't detach views in-place. Use detach() instead."

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        (x * 2)[0].detach_()
        return torch.autograd.grad([x.sum()], [x])[0]


class NotScalarFirst(torch.nn.Module):
    says = "grad can be implicitly created only for scalar outputs"

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        return torch.autograd.grad([torch.ones(2), x * 2], [torch.ones(2)], torch.jit.annotate(Optional[List[Optional[Tensor]]], [torch.ones(2), None]))[0]


PROGRAMS = [Plain, Network, Second, Determinants, LargeProducts, Hessian, ControlFlow, InDict, Slices, Masks, InPlaceChain, Several, Weighted, Middle, Lists, Modes,
            Backward, Shared, Methods, Parameters, ViewsOfParameters, ParametersOfLayers, NormAfterConv1d,
            SecondOfCorners, SecondOfChosen, ComparedQuietView, ComparedView,
            SumsOfExpanded, WrittenExpanded, WrittenFactor, Deep, Integers, Doubles, Unused, NotNeeded, WrongTarget, NotScalar, Leaf, ViewOfLeaf,
            Overwritten, Freed, Whole, WrittenMean, Reshaped, VisitedAgain, QuietView, Data, LeafSums, LeafOfView, SecondOfWrite,
            StridesOfExpanded, OffsetOfGradient, OverlappingView,
            WrittenAndRead, Diagonal, WrittenByItself, FilledView, OneOfSeveral, WrittenQuietView, WrittenBase, FlagOfComputed, DetachedView, NotScalarFirst]


def inputs_of(program):
    torch.manual_seed(5)
    x = torch.randn(4, 3)
    return [{"x": x}] if program is InDict else [x]


def detached(v):
    if isinstance(v, torch.Tensor):
        return v.detach().clone()
    if isinstance(v, dict):
        return {k: detached(x) for k, x in v.items()}
    return type(v)(detached(x) for x in v) if isinstance(v, (list, tuple)) else v


REWRITTEN = "rewritten by taper optimize"
# Parameters of an optimized file do not require gradients, as in a file that PyTorch has frozen.
NOT_REWRITTEN = (Parameters, ViewsOfParameters, ParametersOfLayers)


def run(taper, program, folder, arguments):
    """Returns None if Taper agrees with PyTorch, otherwise the difference."""
    module = torch.jit.script(program())
    path = os.path.join(folder, "model.pt")
    module.save(path)
    # Gradients of parameters need the parameters as attributes, so the test does not freeze the module.
    inputs = inputs_of(program)
    try:
        want = detached(module(*oracle.clone(inputs)))
    except Exception as e:
        want = str(e)
    files = []
    call = [oracle.to_input(oracle.passable(x), folder, files) for x in inputs]
    calls = os.path.join(folder, "calls.json")
    with open(calls, "w") as f:
        json.dump([{"inputs": call}] * 3, f)
    if arguments == [REWRITTEN]:
        given_path, path, arguments = path, os.path.join(folder, "model.ptl"), []
        done = subprocess.run([taper, "optimize", given_path, "-o", path], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stderr[:400]
    done = subprocess.run([taper, "run", path, "--json", "--calls", calls] + arguments, capture_output=True, text=True)
    if isinstance(want, str):
        says = getattr(program, "says", None)
        if says is None or says not in want:
            return "PyTorch says: " + want.strip()[-200:]
        return None if done.returncode != 0 and says in done.stderr else "wanted the error: " + says + "; got: " + done.stderr[:300]
    if done.returncode != 0:
        return done.stderr[:400] or f"exit status {done.returncode}"
    for got in json.loads(done.stdout):
        wrong = oracle.compare(strip(want), strip(got), {"rtol": 2e-5, "atol": 1e-5})
        if wrong:
            return wrong
    return None


def main():
    taper, names = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for program in PROGRAMS:
        if names and program.__name__ not in names:
            continue
        for arguments in [], ["--no-optimize"], [REWRITTEN]:
            if arguments == [REWRITTEN] and program in NOT_REWRITTEN:
                continue
            with tempfile.TemporaryDirectory() as folder:
                wrong = run(taper, program, folder, arguments)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {program.__name__} {' '.join(arguments)}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
