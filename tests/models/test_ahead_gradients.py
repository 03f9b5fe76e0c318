#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_ahead_gradients.py TAPER [NAME…]: programs whose gradients the pass `differentiate` computes ahead of time, and programs that it must
leave to the tape. Each program joins lines that compute `y` from `x` (BODIES) and lines that ask for gradients (ENDS), and is compared with
PyTorch. The bodies in ON_TAPE must keep the call of aten::grad, and the others must lose it. PROGRAMS are whole programs about names of one tensor. Ends with "N passed, N failed"."""
import importlib.util
import os
import subprocess
import sys
import tempfile
from typing import Dict

os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import torch
from torch import Tensor

import test_gradients
from test_gradients import given

BODIES = {
    "twice": """
y = (x*x + x.sin()*x).sum() + x[0].sum()*x[1].prod()
""",
    "dtypes": """
y = (x.double().exp().float() * x.to(torch.float32)).sum() + (x.to(torch.int64).to(torch.float32)*x).sum() + ((x > 0).to(torch.float32)*x).sum()
""",
    "half": """
y = (x.half().float()*x).sum() + (x.double()*x).sum().float()
""",
    "typeas": """
y = (x.double().type_as(x)*x).sum() + (x*2).to(x).sum()
""",
    "maxes": """
m = x.max(dim=0)
s = x.sort(1)
y = m[0].sum()*2 + x.gather(1, s[1])[:,0].sum() + s[0][:,1].prod() + x.topk(2,1)[0].sum() + x.amax() + x.min()
""",
    "where": """
y = torch.where(x > 0, x*x, x.exp()).sum() + x.clamp(-0.5,0.5).sum() + x.masked_fill(x < 0, 1.0).prod() + torch.maximum(x, x*2).sum()
""",
    "views": """
e = x.unsqueeze(0).expand(2,4,3)
y = (e*e).sum() + x.t().reshape(-1)[2:7].sum() + x.view(2,6).transpose(0,1)[1].prod() + x.unfold(0,2,1).sum() + x.flatten().as_strided([2,2],[1,3],1).prod()
""",
    "fresh": """
z = torch.zeros(4,3)
z += x
z.mul_(2)
z[1] = x[0]
z[:,1] += x[:,2]
y = (z*z).sum()
""",
    "fresh2": """
z = torch.zeros(4,3)
z.add_(x)
z.mul_(2.0)
z.add_(x, alpha=3)
w = z.exp()
y = w.sum()
""",
    "fresh3": """
z = x*2
w = z.sum()
z.mul_(3.0)
y = w + (z*z).sum()
""",
    "index": """
i = torch.tensor([0,2,2,1])
z = torch.zeros(4,3).index_add(0, i, x)
z = z.index_put([i], x*x, accumulate=True)
y = (z*z).sum() + x[i].prod() + x[i, torch.tensor([0,1,2,0])].sum()*x.index_select(1, torch.tensor([2,0])).sum() + torch.zeros(4,3).scatter_add_(0, torch.tensor([[0,1,2],[3,3,3],[0,0,0],[1,1,1]]), x).pow(2).sum()
""",
    "lists": """
a, b, c = x.unbind(1)
p = x.split([1,3])
q = torch.chunk(x, 2)
y = (a*b).sum() + torch.stack([a,c,a]).prod(0).sum() + torch.cat([p[0],p[1],p[0]]).pow(2).sum() + q[1].sum()*q[0][0,0]
""",
    "norms": """
y = x.norm() + torch.linalg.norm(x, dim=1).sum() + torch.linalg.norm(x) + x.norm(dim=0, p=3.0).sum() + x.std() + x.var(dim=0).sum() + x.mean(1).prod() + x.logsumexp(1).sum()
""",
    "nets": """
y = (torch.softmax(x,1)*x).sum() + torch.nn.functional.layer_norm(x,[3]).pow(3).sum() + torch.nn.functional.gelu(x).sum() + torch.tanh(x).sum() + torch.log_softmax(x,0)[1].sum() + torch.nn.functional.softplus(x).sum() + torch.sigmoid(x).prod()
""",
    "matmul": """
y = (x @ x.t()).sum() + torch.mm(x.t(), x).trace() + torch.einsum('ij,kj->ik', x, x*2).prod() + torch.einsum('ij,j->i', x, torch.ones(3)).sum() + torch.mv(x, x[0]).sum() + torch.bmm(x.view(2,2,3), x.view(2,3,2)).sum() + torch.dot(x[0], x[1]) + torch.addmm(x@x.t(), x, x.t()).sum()
""",
    "conv": """
v = x.view(1,1,4,3)
w = torch.ones(2,1,2,2)
y = torch.nn.functional.conv2d(v, w).pow(2).sum() + torch.nn.functional.max_pool2d(v,2).sum() + torch.nn.functional.avg_pool2d(v,2).pow(2).sum()
""",
    "complex": """
c = torch.complex(x, x*x)
y = c.abs().sum() + (c*c.conj()).real.sum() + torch.view_as_real(c*c).sum() + c.angle().sum() + torch.fft.rfft(x).abs().sum()
""",
    "loops": """
z = x
for i in range(3):
    z = z*x + float(i)
y = z.sum()
""",
    "dynloop": """
z = x
for i in range(x.size(0)):
    z = z*x[i].sum()
y = z.sum()
""",
    "branch": """
z = x*2
if bool(x.sum() > -1e9):
    z = z*z
y = z.sum()
""",
    "detach": """
d = (x*2).detach()
y = (d*x).sum() + x.data.sum()*x.sum()
""",
    "same": """
z = x
w = z
y = (z*w).sum()+w.sum()
""",
    "contig": """
z = (x*x).contiguous()
w = z.contiguous().view(-1)
y = (z*2).sum()+(w*w).sum()
""",
    "scalars": """
y = x.sum()*x.size(0) + float(x.detach().sum())*x.sum() + (x*x.detach().max().item()).sum() + x.numel()*x.mean()
""",
    "alias": """
z = torch.zeros(4,3)
v = z[0]
v += x[1]
y = (z*x).sum()
""",
    "unused": """
u = x.exp()
u.split(2)[0].sum()
y = x.sum()
""",
    "inplview": """
z = x*1
z[0].mul_(2)
z.select(1,1).copy_(x[:,0])
y = (z*z).sum()
""",
    "pow": """
y = (x.abs()+0.5).pow(1.7).sum() + (x.abs()+0.5).pow(x).sum() + torch.pow(2.0, x).sum() + x.square().sum() + (x.abs()+0.1).sqrt().sum() + (x.abs()+0.1).rsqrt().sum() + (x*x).reciprocal().clamp(max=3.).sum() + torch.atan2(x, x+2).sum() + torch.div(x, x.abs()+1).sum() + (x/2.5).sum()
""",
    "cumsum": """
y = x.cumsum(0).pow(2).sum() + x.cumprod(1).sum() + x.flip(0).tril().sum()*x.triu().sum() + x.roll(1,0)[0].prod() + x.diag().prod() + torch.diag_embed(x[0]).pow(2).sum() + x.repeat(2,1).pow(2).sum() + x.expand_as(x).sum()
""",
    "outer": """
y = torch.outer(x[0],x[1]).pow(2).sum() + torch.cross(x[0:2], x[2:4], dim=1).pow(2).sum() + torch.det(x[:3]) + torch.inverse(x[:3]+3*torch.eye(3)).sum() + torch.cdist(x,x[1:]).sum()
""",
    "noncontig": """
t = x.t()
y = (t.contiguous()*t).sum() + t.reshape(-1).pow(3).sum() + (t+1).t().select(0,1).prod()
""",
    "zeros": """
z = torch.zeros_like(x)
z[0, 1] = x[2, 0]
y = (z*x).sum()
""",
    "embed": """
w = x.repeat(2,1)
y = torch.nn.functional.embedding(torch.tensor([1,5,1]), w).pow(2).sum()
""",
    "pad": """
y = torch.nn.functional.pad(x,[1,1],'constant',0.).pow(2).sum() + torch.nn.functional.normalize(x, dim=1).sum()
""",
    "silu": """
y = torch.nn.functional.silu(x).sum()+torch.nn.functional.relu(x).sum()+torch.nn.functional.leaky_relu(x).sum()+torch.nn.functional.elu(x).sum()+torch.nn.functional.hardtanh(x).sum()
""",
    "emptysum": """
y = x[0:0].sum() + x.sum()
""",
    "addalpha": """
y = torch.add(x, x*x, alpha=2).sum() + torch.sub(x, x*x, alpha=3).pow(2).sum() + torch.rsub(x, 2.0).pow(2).sum() + torch.lerp(x, x*x, 0.3).sum() + torch.addcmul(x, x, x, value=0.5).sum() + torch.addcdiv(x, x, x.abs()+1, value=2.0).sum()
""",
    "broadcast": """
y = (x * x[0]).sum() + (x + x[:, :1]).pow(2).sum() + (x / (x[1:2].abs()+1)).sum() + (x.unsqueeze(2)*x.unsqueeze(1)).sum() + (x*torch.tensor(2.0)).sum() + (torch.ones(5,4,3)*x).pow(2).sum()
""",
    "listed": """
l: List[Tensor] = []
for i in range(3): l.append(x[i].cos())
y = torch.stack(l).sum() + x.sum()
""",
    "extended": """
l: List[Tensor] = []
for i in range(2): l.extend([x[i].cos(), x[i].sin()])
y = torch.stack(l).sum() + x.sum()
""",
    "comprehended": """
l: List[Tensor] = []
for i in range(3): l.append(x[i].cos())
y = torch.cat([t.view(-1) for t in l]).sum() + x.sum()
""",
    "keyed": """
d: Dict[str, Tensor] = {}
for i in range(3): d[str(i)] = x[i].exp()
y = torch.stack(list(d.values())).sum() + x.sum()
""",
}

# Bodies whose gradient stays on the tape, because they have a branch, a loop of unknown length, a write to a view, a
# container that gets values after it was made, or an operator whose derivative has no single formula.
ON_TAPE = ("fresh", "conv", "complex", "dynloop", "branch", "alias", "inplview", "outer", "zeros", "pad", "extended", "comprehended", "keyed")

ENDS = {
    "plain": """
return y, given(torch.autograd.grad([y],[x])[0])
""",
    "twice": """
return torch.autograd.grad([y],[x, x], retain_graph=True), torch.autograd.grad([y*2],[x])
""",
    "given": """
return torch.autograd.grad([y, x.sin()],[x], torch.jit.annotate(Optional[List[Optional[Tensor]]], [torch.tensor(2.0), torch.ones_like(x)]))
""",
    "mid": """
m = x*x
e = (m*m).sum() + m.exp().mean() + y*0
return torch.autograd.grad([e],[m, x])
""",
    "unused": """
u = torch.ones(2).requires_grad_(True)
return torch.autograd.grad([y],[x, u], allow_unused=True)[0], torch.autograd.grad([y + u.sum()],[u])[0]
""",
    "written": """
g = given(torch.autograd.grad([y],[x])[0])
g2 = g*1
g2.mul_(2)
return g, g2, y.detach()
""",
    "create": """
g = given(torch.autograd.grad([y],[x], create_graph=True)[0])
return g.detach()
""",
}

class SameTensor(torch.nn.Module):
    """`contiguous` returns its argument, so a requires_grad_ of the result also marks the argument."""
    def forward(self, x: Tensor):
        x = x.detach().clone()
        c = x.contiguous()
        x.requires_grad_(True)
        y = (c * c).sum() + x.sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class SameLeaf(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().clone()
        c = x.contiguous().requires_grad_(True)
        y = (x * x).sum() + c.sum()
        return y, given(torch.autograd.grad([y], [c])[0])


class FlagOfItem(torch.nn.Module):
    """A branch puts another tensor into a dict, so only a run knows whether the dict's tensor requires a gradient."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        d = {"x": x.detach()}
        if bool(x.sum() > -1e9):
            d["x"] = x * 2
        y = (x * x).sum()
        return given(torch.autograd.grad([y], [x])[0]), d["x"].requires_grad


class ManyParts(torch.nn.Module):
    """Items of one list have gradients, gradients of some parts are missing, and a part is used twice."""
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        a, b = x.t().chunk(2, 1)
        c = torch.split(x, 1, dim=0)
        y = (torch.cat([a, a, b], 1) ** 2).sum() + torch.stack([c[0], c[1] * 3]).sum() + x[:, 1].prod()
        return y, given(torch.autograd.grad([y], [x])[0])


class KeptInAttribute(torch.nn.Module):
    """A value between the input and the output is stored in an attribute and read from it."""
    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(2, 2)

    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
        self.kept = x.cos()
        y = self.kept.sin().sum() + x.sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class ListedFirst(torch.nn.Module):
    """A list holds the input before its flag requires_grad is set; in the next two classes a dict and an attribute hold it."""
    def forward(self, x: Tensor):
        x = x.detach().clone()
        listed = [x, x.cos()]
        x.requires_grad_(True)
        y = torch.stack(listed).sin().sum() + x.sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class KeyedFirst(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().clone()
        keyed = torch.jit.annotate(Dict[str, Tensor], {})
        keyed["x"] = x
        x.requires_grad_(True)
        y = torch.stack(list(keyed.values())).sin().sum() + x.sum()
        return y, given(torch.autograd.grad([y], [x])[0])


class KeptFirst(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(2, 2)

    def forward(self, x: Tensor):
        x = x.detach().clone()
        self.kept = x
        x.requires_grad_(True)
        y = self.kept.sin().sum() + x.sum()
        return y, given(torch.autograd.grad([y], [x])[0])


PROGRAMS = [SameTensor, SameLeaf, FlagOfItem, ManyParts, KeptInAttribute, ListedFirst, KeyedFirst, KeptFirst]

SOURCE = """from typing import Dict, List, Optional

import torch
from torch import Tensor
from test_gradients import given


class Program(torch.nn.Module):
    def forward(self, x: Tensor):
        x = x.detach().requires_grad_(True)
"""


def program_of(body, end, folder):
    """Returns the class of the program. TorchScript reads its source from a file."""
    lines = (BODIES[body] + ENDS[end]).split("\n")
    path = os.path.join(folder, f"{body}_{end}.py")
    with open(path, "w") as f:
        f.write(SOURCE + "".join(f"        {line}\n" for line in lines if line))
    spec = importlib.util.spec_from_file_location(f"{body}_{end}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Program


def check(taper, body, end, folder):
    """Returns a text about what is wrong, or None if all is right."""
    wrong = test_gradients.run(taper, program_of(body, end, folder), folder, [])
    if wrong or end != "plain":
        return wrong
    graph = subprocess.run([taper, "inspect", os.path.join(folder, "model.pt"), "--graph"], capture_output=True, text=True).stdout
    asks = "aten::grad(" in graph
    return None if asks == (body in ON_TAPE) else "the call remains" if asks else "the call is replaced"


def main():
    taper, names = sys.argv[1], sys.argv[2:]
    passed = failed = 0
    for body in BODIES:
        for end in ENDS:
            if names and body not in names:
                continue
            with tempfile.TemporaryDirectory() as folder:
                wrong = check(taper, body, end, folder)
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"FAILED {body} {end}: {wrong}", flush=True)
    for program in PROGRAMS:
        if names and program.__name__ not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong = test_gradients.run(taper, program, folder, [])
        passed, failed = passed + (wrong is None), failed + (wrong is not None)
        if wrong:
            print(f"FAILED {program.__name__}: {wrong}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
