# SPDX-License-Identifier: BSD-2-Clause
"""Small force fields, built from the equations of the papers that their docstrings name: PaiNN, NequIP, ANI, DeePMD, MACE, Allegro. The
networks have random weights. Each computes the gradient of its energy inside forward."""
import math
from typing import Dict, Tuple
import torch
from torch import Tensor, nn
import torch.nn.functional as F


def bessel(r: Tensor, n: int, cutoff: float) -> Tensor:
    k = torch.arange(1, n + 1, dtype=r.dtype, device=r.device) * (math.pi / cutoff)
    return math.sqrt(2.0 / cutoff) * torch.sin(r.unsqueeze(-1) * k) / r.unsqueeze(-1)


def polynomial_cutoff(r: Tensor, cutoff: float, p: float) -> Tensor:
    x = r / cutoff
    out = 1.0 - ((p + 1.0) * (p + 2.0) / 2.0) * torch.pow(x, p) + p * (p + 2.0) * torch.pow(x, p + 1.0) - (p * (p + 1.0) / 2) * torch.pow(x, p + 2.0)
    return out * (x < 1.0)


def cosine_cutoff(r: Tensor, cutoff: float) -> Tensor:
    return 0.5 * (torch.cos(r * (math.pi / cutoff)) + 1.0) * (r < cutoff).to(r.dtype)


def harmonics(v: Tensor) -> Tensor:
    """Real spherical harmonics to l = 2 of unit vectors, component normalization."""
    x, y, z = v[:, 0], v[:, 1], v[:, 2]
    s3, s15, s5 = math.sqrt(3.0), math.sqrt(15.0), math.sqrt(5.0)
    return torch.stack([torch.ones_like(x), s3 * y, s3 * z, s3 * x, s15 * x * y, s15 * y * z, s5 / 2.0 * (3.0 * z * z - 1.0), s15 * x * z,
                        s15 / 2.0 * (x * x - y * y)], dim=-1)


class MLP(nn.Module):
    def __init__(self, sizes, act=nn.SiLU):
        super().__init__()
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), act()]
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class PaiNN(nn.Module):
    """Scalar and vector messages (Schuett et al. 2021)."""
    def __init__(self, features: int = 64, layers: int = 3, rbf: int = 20, cutoff: float = 5.0):
        super().__init__()
        self.features, self.rbf, self.cutoff = features, rbf, cutoff
        self.embedding = nn.Embedding(20, features)
        self.filters = nn.ModuleList([nn.Linear(rbf, 3 * features) for _ in range(layers)])
        self.contexts = nn.ModuleList([MLP([features, features, 3 * features]) for _ in range(layers)])
        self.mixes = nn.ModuleList([nn.Linear(features, 2 * features, bias=False) for _ in range(layers)])
        self.updates = nn.ModuleList([MLP([2 * features, features, 3 * features]) for _ in range(layers)])
        self.out = MLP([features, features // 2, 1])

    def forward(self, z: Tensor, pos: Tensor, edge_index: Tensor, shift: Tensor) -> Tuple[Tensor, Tensor]:
        pos.requires_grad_(True)
        i, j = edge_index[0], edge_index[1]
        d = pos[j] - pos[i] + shift
        r = torch.linalg.vector_norm(d, dim=-1)
        u = d / r.unsqueeze(-1)
        basis = bessel(r, self.rbf, self.cutoff)
        cut = cosine_cutoff(r, self.cutoff).unsqueeze(-1)
        s = self.embedding(z)
        v = torch.zeros(s.size(0), 3, self.features, dtype=s.dtype)
        for w, context, mix, update in zip(self.filters, self.contexts, self.mixes, self.updates):
            filt = w(basis) * cut
            x = context(s)[j] * filt
            ds, dv1, dv2 = torch.split(x, self.features, dim=-1)
            s = s + torch.zeros_like(s).index_add(0, i, ds)
            dv = v[j] * dv1.unsqueeze(1) + dv2.unsqueeze(1) * u.unsqueeze(-1)
            v = v + torch.zeros_like(v).index_add(0, i, dv)
            uv = mix(v)
            vv, vw = torch.split(uv, self.features, dim=-1)
            norm = torch.sqrt((vw * vw).sum(1) + 1e-8)
            a, b, c = torch.split(update(torch.cat([s, norm], dim=-1)), self.features, dim=-1)
            s = s + a + b * (vv * vw).sum(1)
            v = v + c.unsqueeze(1) * vv
        energy = self.out(s).sum()
        grad = torch.autograd.grad([energy], [pos])[0]
        assert grad is not None
        return energy, -grad


class NequIP(nn.Module):
    """Tensor products of features with spherical harmonics (Batzner et al. 2022). The gradient for the strain gives the stress. The results are a
    dict."""
    def __init__(self, mul: int = 16, layers: int = 3, rbf: int = 8, cutoff: float = 5.0):
        super().__init__()
        torch.manual_seed(3)
        self.mul, self.rbf, self.cutoff, self.layers = mul, rbf, cutoff, layers
        self.embedding = nn.Linear(4, mul)
        self.dims = [1, 3, 5]
        self.slices = [(0, 1), (1, 4), (4, 9)]
        paths = []
        for a in range(3):
            for b in range(3):
                for c in range(3):
                    if abs(a - b) <= c <= a + b:
                        paths.append((a, b, c))
        self.paths = paths
        for n, (a, b, c) in enumerate(paths):
            self.register_buffer(f"cg{n}", torch.randn(self.dims[a], self.dims[b], self.dims[c]) / math.sqrt(self.dims[a] * self.dims[b]))
        self.radials = nn.ModuleList([MLP([rbf, 32, len(paths) * mul]) for _ in range(layers)])
        self.mixes = nn.ParameterList([nn.Parameter(torch.randn(3, mul, mul) / math.sqrt(mul)) for _ in range(layers)])
        self.selves = nn.ParameterList([nn.Parameter(torch.randn(3, mul, mul) / math.sqrt(mul)) for _ in range(layers)])
        self.gates = nn.ModuleList([nn.Linear(mul, 2 * mul) for _ in range(layers)])
        self.out = MLP([mul, 16, 1])

    def tensor_product(self, x: Tensor, y: Tensor, w: Tensor) -> Tensor:
        t0 = torch.einsum('eui,ej,ijk->euk', x[:, :, 0:1], y[:, 0:1], self.cg0) * w[:, 0].unsqueeze(-1)
        t1 = torch.einsum('eui,ej,ijk->euk', x[:, :, 0:1], y[:, 1:4], self.cg1) * w[:, 1].unsqueeze(-1)
        t2 = torch.einsum('eui,ej,ijk->euk', x[:, :, 0:1], y[:, 4:9], self.cg2) * w[:, 2].unsqueeze(-1)
        t3 = torch.einsum('eui,ej,ijk->euk', x[:, :, 1:4], y[:, 0:1], self.cg3) * w[:, 3].unsqueeze(-1)
        t4 = torch.einsum('eui,ej,ijk->euk', x[:, :, 1:4], y[:, 1:4], self.cg4) * w[:, 4].unsqueeze(-1)
        t5 = torch.einsum('eui,ej,ijk->euk', x[:, :, 1:4], y[:, 1:4], self.cg5) * w[:, 5].unsqueeze(-1)
        t6 = torch.einsum('eui,ej,ijk->euk', x[:, :, 1:4], y[:, 1:4], self.cg6) * w[:, 6].unsqueeze(-1)
        t7 = torch.einsum('eui,ej,ijk->euk', x[:, :, 1:4], y[:, 4:9], self.cg7) * w[:, 7].unsqueeze(-1)
        t8 = torch.einsum('eui,ej,ijk->euk', x[:, :, 1:4], y[:, 4:9], self.cg8) * w[:, 8].unsqueeze(-1)
        t9 = torch.einsum('eui,ej,ijk->euk', x[:, :, 4:9], y[:, 0:1], self.cg9) * w[:, 9].unsqueeze(-1)
        t10 = torch.einsum('eui,ej,ijk->euk', x[:, :, 4:9], y[:, 1:4], self.cg10) * w[:, 10].unsqueeze(-1)
        t11 = torch.einsum('eui,ej,ijk->euk', x[:, :, 4:9], y[:, 1:4], self.cg11) * w[:, 11].unsqueeze(-1)
        t12 = torch.einsum('eui,ej,ijk->euk', x[:, :, 4:9], y[:, 4:9], self.cg12) * w[:, 12].unsqueeze(-1)
        t13 = torch.einsum('eui,ej,ijk->euk', x[:, :, 4:9], y[:, 4:9], self.cg13) * w[:, 13].unsqueeze(-1)
        t14 = torch.einsum('eui,ej,ijk->euk', x[:, :, 4:9], y[:, 4:9], self.cg14) * w[:, 14].unsqueeze(-1)
        return torch.cat([t0 + t4 + t12, t1 + t3 + t5 + t7 + t10 + t13, t2 + t6 + t8 + t9 + t11 + t14], dim=-1)

    def forward(self, data: Dict[str, Tensor]) -> Dict[str, Tensor]:
        pos = data["pos"]
        strain = torch.zeros(3, 3, dtype=pos.dtype)
        strain.requires_grad_(True)
        pos.requires_grad_(True)
        sym = 0.5 * (strain + strain.t())
        moved = pos + torch.mm(pos, sym)
        cell = data["cell"] + torch.mm(data["cell"], sym)
        i, j = data["edge_index"][0], data["edge_index"][1]
        d = moved[j] - moved[i] + torch.mm(data["edge_cell_shift"], cell)
        r = d.norm(p=2, dim=-1)
        y = harmonics(d / r.unsqueeze(-1))
        basis = bessel(r, self.rbf, self.cutoff) * polynomial_cutoff(r, self.cutoff, 6.0).unsqueeze(-1)
        n = pos.size(0)
        scalars = self.embedding(F.one_hot(data["atom_types"], 4).to(pos.dtype))
        x = torch.cat([scalars.unsqueeze(-1), torch.zeros(n, self.mul, 8, dtype=pos.dtype)], dim=-1)
        for radial, mix, own, gate in zip(self.radials, self.mixes, self.selves, self.gates):
            w = radial(basis).view(-1, 15, self.mul)
            xj = x[j]
            messages = self.tensor_product(xj, y, w)
            agg = torch.zeros_like(x).index_add(0, i, messages) / 4.0
            parts = [torch.einsum("nui,uv->nvi", agg[:, :, 0:1], mix[0]) + torch.einsum("nui,uv->nvi", x[:, :, 0:1], own[0]),
                     torch.einsum("nui,uv->nvi", agg[:, :, 1:4], mix[1]) + torch.einsum("nui,uv->nvi", x[:, :, 1:4], own[1]),
                     torch.einsum("nui,uv->nvi", agg[:, :, 4:9], mix[2]) + torch.einsum("nui,uv->nvi", x[:, :, 4:9], own[2])]
            g = torch.sigmoid(gate(parts[0].squeeze(-1))).view(n, 2, self.mul, 1)
            x = torch.cat([F.silu(parts[0]), parts[1] * g[:, 0], parts[2] * g[:, 1]], dim=-1)
        energies = self.out(x[:, :, 0])
        energy = energies.sum()
        grads = torch.autograd.grad([energy], [pos, strain])
        forces, virial = grads[0], grads[1]
        assert forces is not None
        assert virial is not None
        data["atomic_energy"] = energies
        data["total_energy"] = energy
        data["forces"] = -forces
        data["stress"] = virial / torch.det(data["cell"])
        return data


class ANI(nn.Module):
    """Radial and angular symmetry functions, a network for each element (Smith et al. 2017)."""
    def __init__(self, species: int = 3):
        super().__init__()
        self.species = species
        self.register_buffer("eta_r", torch.tensor([16.0])); self.register_buffer("shift_r", torch.linspace(0.9, 4.9, 16))
        self.register_buffer("shift_a", torch.linspace(0.9, 2.8, 4)); self.register_buffer("shift_z", torch.linspace(0.2, 2.9, 8))
        length = species * 16 + species * (species + 1) // 2 * 32
        self.length = length
        self.nets = nn.ModuleList([MLP([length, 64, 48, 1], act=lambda: nn.CELU(0.1)) for _ in range(species)])
        pairs = torch.zeros(species, species, dtype=torch.long)
        k = 0
        for a in range(species):
            for b in range(a, species):
                pairs[a, b] = pairs[b, a] = k
                k += 1
        self.register_buffer("pairs", pairs)

    def aev(self, z: Tensor, pos: Tensor, edge_index: Tensor) -> Tensor:
        n = z.size(0)
        i, j = edge_index[0], edge_index[1]
        d = pos[j] - pos[i]
        r = d.norm(2, -1)
        radial = 0.25 * torch.exp(-self.eta_r * (r.unsqueeze(-1) - self.shift_r) ** 2) * cosine_cutoff(r, 5.2).unsqueeze(-1)
        radial_aev = torch.zeros(n * self.species, 16, dtype=pos.dtype).index_add(0, i * self.species + z[j], radial).view(n, -1)
        near = (r < 3.5).nonzero().flatten()
        i, j, d, r = i[near], j[near], d.index_select(0, near), r.index_select(0, near)
        same = (i.unsqueeze(0) == i.unsqueeze(1)).triu(1).nonzero()
        a, b = same[:, 0], same[:, 1]
        da, db = d.index_select(0, a), d.index_select(0, b)
        cos = torch.nn.functional.cosine_similarity(da, db, dim=-1)
        theta = torch.acos(0.95 * cos)
        mean = (r[a] + r[b]) / 2
        f1 = ((1 + torch.cos(theta.unsqueeze(-1) - self.shift_z)) / 2) ** 32.0
        f2 = torch.exp(-8.0 * (mean.unsqueeze(-1) - self.shift_a) ** 2)
        cut = cosine_cutoff(r, 3.5)
        terms = 2 * f1.unsqueeze(-2) * f2.unsqueeze(-1) * (cut[a] * cut[b]).view(-1, 1, 1)
        index = i[a] * (self.species * (self.species + 1) // 2) + self.pairs[z[j[a]], z[j[b]]]
        angular = torch.zeros(n * (self.species * (self.species + 1) // 2), 32, dtype=pos.dtype).index_add(0, index, terms.flatten(1)).view(n, -1)
        return torch.cat([radial_aev, angular], dim=-1)

    def forward(self, z: Tensor, pos: Tensor, edge_index: Tensor) -> Tuple[Tensor, Tensor]:
        pos = pos.detach().requires_grad_(True)
        aev = self.aev(z, pos, edge_index)
        atomic = torch.zeros(z.size(0), dtype=pos.dtype)
        for k, net in enumerate(self.nets):
            mask = z == k
            at = mask.nonzero().flatten()
            if at.numel() > 0:
                atomic.masked_scatter_(mask, net(aev.index_select(0, at)).flatten())
        energy = atomic.sum()
        g = torch.autograd.grad([energy], [pos])[0]
        assert g is not None
        return energy, -g


class DeePMD(nn.Module):
    """Smooth environment matrices and an embedding network (Zhang et al. 2018), in float64."""
    def __init__(self, m1: int = 64, m2: int = 8):
        super().__init__()
        self.m1, self.m2 = m1, m2
        self.embed = MLP([1, 16, 32, m1], act=nn.Tanh)
        self.fit = MLP([m1 * m2, 64, 64, 1], act=nn.Tanh)

    def forward(self, pos: Tensor, nlist: Tensor, mask: Tensor) -> Tuple[Tensor, Tensor]:
        pos.requires_grad_(True)
        n, k = nlist.shape[0], nlist.shape[1]
        d = torch.index_select(pos, 0, nlist.view(-1)).view(n, k, 3) - pos.unsqueeze(1)
        d = torch.where(mask.unsqueeze(-1), d, torch.ones_like(d) * 9.0)
        r = torch.linalg.norm(d, dim=-1, keepdim=True)
        uu = ((r - 1.0) / 5.0).clamp(0.0, 1.0)
        sw = (uu * uu * uu * (-6 * uu * uu + 15 * uu - 10) + 1) * mask.unsqueeze(-1).to(pos.dtype)
        env = torch.cat([sw / r, sw * d / (r * r)], dim=-1)
        g = self.embed(env[:, :, 0:1])
        xyz = torch.matmul(env.transpose(1, 2), g) / k
        descriptor = torch.matmul(xyz.transpose(1, 2), xyz[:, :, 0:self.m2]).reshape(n, -1)
        energy = self.fit(descriptor).sum()
        grads = torch.autograd.grad([energy], [pos], create_graph=self.training, retain_graph=True)
        f = grads[0]
        assert f is not None
        return energy, -f


class MACE(nn.Module):
    """Many-body contractions of atomic bases (Batatia et al. 2022)."""
    def __init__(self, mul: int = 32, layers: int = 2):
        super().__init__()
        self.mul = mul
        torch.manual_seed(5)
        self.embedding = nn.Linear(4, mul, bias=False)
        self.radials = nn.ModuleList([MLP([8, 32, mul]) for _ in range(layers)])
        self.u2 = nn.ParameterList([nn.Parameter(torch.randn(9, 9, 4) / 9) for _ in range(layers)])
        self.u3 = nn.ParameterList([nn.Parameter(torch.randn(9, 9, 9, 2) / 27) for _ in range(layers)])
        self.w2 = nn.ParameterList([nn.Parameter(torch.randn(4, 4, mul)) for _ in range(layers)])
        self.w3 = nn.ParameterList([nn.Parameter(torch.randn(4, 2, mul)) for _ in range(layers)])
        self.mixes = nn.ModuleList([nn.Linear(mul, mul, bias=False) for _ in range(layers)])
        self.out = MLP([mul, 16, 1])

    def forward(self, attrs: Tensor, pos: Tensor, edge_index: Tensor) -> Tuple[Tensor, Tensor]:
        pos.requires_grad_(True)
        sender, receiver = edge_index[1], edge_index[0]
        d = pos[receiver] - pos[sender]
        r = torch.linalg.norm(d, dim=-1)
        y = harmonics(d / r.unsqueeze(-1))
        basis = bessel(r, 8, 5.0) * polynomial_cutoff(r, 5.0, 5.0).unsqueeze(-1)
        h = self.embedding(attrs)
        energy = torch.zeros([], dtype=pos.dtype)
        for radial, u2, u3, w2, w3, mix in zip(self.radials, self.u2, self.u3, self.w2, self.w3, self.mixes):
            edge = (radial(basis) * h[sender]).unsqueeze(-1) * y.unsqueeze(1)
            a = torch.zeros(attrs.size(0), self.mul, 9, dtype=pos.dtype).scatter_add(0, receiver.view(-1, 1, 1).expand_as(edge), edge) / 8.0
            b2 = torch.einsum("ijk,kec,be,bci,bcj->bc", u2, w2.transpose(0, 1), attrs, a, a)
            t3 = torch.einsum("ijlk,ekc,be->bcijl", u3, w3, attrs)
            b3 = torch.einsum("bcij,bci,bcj->bc", torch.einsum("bcijl,bcl->bcij", t3, a), a, a)
            h = mix(b2 + b3 + a[:, :, 0])
            energy = energy + self.out(h).sum()
        g = torch.autograd.grad([energy], [pos], retain_graph=False)[0]
        assert g is not None
        return energy, -g


class Allegro(nn.Module):
    """Products on edges without message passing (Musaelian et al. 2023)."""
    def __init__(self, mul: int = 16, layers: int = 2):
        super().__init__()
        torch.manual_seed(7)
        self.mul = mul
        self.first = MLP([8 + 8, 32, 32])
        self.start = nn.Linear(32, mul); self.others = nn.ModuleList([nn.Linear(32, mul) for _ in range(layers)])
        self.cgs = nn.ParameterList([nn.Parameter(torch.randn(9, 9, 9) / 9) for _ in range(layers)])
        self.latents = nn.ModuleList([MLP([32 + mul, 32, 32]) for _ in range(layers)])
        self.out = nn.Linear(32, 1)

    def forward(self, attrs: Tensor, pos: Tensor, edge_index: Tensor) -> Tuple[Tensor, Tensor]:
        pos.requires_grad_(True)
        i, j = edge_index[0], edge_index[1]
        d = pos[j] - pos[i]
        r = torch.linalg.norm(d, dim=-1)
        y = harmonics(d / r.unsqueeze(-1))
        cut = polynomial_cutoff(r, 5.0, 6.0).unsqueeze(-1)
        latent = self.first(torch.cat([attrs[i], attrs[j], bessel(r, 8, 5.0)], dim=-1)) * cut
        v = self.start(latent).unsqueeze(-1) * y.unsqueeze(1)
        for w, cg, net in zip(self.others, self.cgs, self.latents):
            env = torch.zeros(attrs.size(0), self.mul, 9, dtype=pos.dtype).index_add(0, i, w(latent).unsqueeze(-1) * y.unsqueeze(1)) / 6.0
            v = torch.einsum("eui,euj,ijk->euk", v, env[i], cg)
            latent = (latent + net(torch.cat([latent, v[:, :, 0]], dim=-1)) * cut) * 0.7071
        edge_energy = self.out(latent)
        energy = torch.zeros(attrs.size(0), 1, dtype=pos.dtype).index_add(0, i, edge_energy).sum()
        g = torch.autograd.grad([energy], [pos])[0]
        assert g is not None
        return energy, -g


def atoms(n, density=0.08, cutoff=5.0, seed=0, dtype=torch.float32):
    g = torch.Generator().manual_seed(seed)
    box = (n / density) ** (1 / 3)
    side = math.ceil(n ** (1 / 3))
    grid = torch.stack(torch.meshgrid(*[torch.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)[:n].to(torch.float64)
    pos = (grid + 0.5 + 0.3 * (torch.rand(n, 3, generator=g, dtype=torch.float64) - 0.5)) * (box / side)
    dist = torch.cdist(pos, pos).fill_diagonal_(2.0 * cutoff)
    i, j = (dist < cutoff).nonzero(as_tuple=True)
    z = torch.randint(0, 4, (n,), generator=g)
    return pos.to(dtype), torch.stack([i, j]), z, torch.eye(3, dtype=dtype) * box


def cases(n, dtype=torch.float32):
    pos, edges, z, cell = atoms(n, dtype=dtype)
    attrs = F.one_hot(z, 4).to(dtype)
    torch.manual_seed(1)
    out = {}
    out["painn"] = (PaiNN(), (z, pos, edges, torch.zeros(edges.shape[1], 3, dtype=dtype)))
    out["nequip"] = (NequIP(), ({"pos": pos, "cell": cell, "edge_index": edges, "edge_cell_shift": torch.zeros(edges.shape[1], 3, dtype=dtype), "atom_types": z},))
    pos2, edges2, z2, _ = atoms(n, density=0.05, cutoff=5.2, seed=2, dtype=dtype)
    out["ani"] = (ANI(), (z2 % 3, pos2, edges2))
    k = 40
    dist = torch.cdist(pos, pos) + torch.eye(n, dtype=dtype) * 100
    near, nlist = dist.topk(min(k, n - 1), largest=False)
    out["deepmd"] = (DeePMD(), (pos, nlist, near < 6.0))
    out["mace"] = (MACE(), (attrs, pos, edges))
    out["allegro"] = (Allegro(), (attrs, pos, edges))
    return {k: (m.to(dtype).eval(), a) for k, (m, a) in out.items()}
