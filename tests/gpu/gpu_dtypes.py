# SPDX-License-Identifier: BSD-2-Clause
"""Cases of gpu_operators.py with bools, masks and integers. Inputs are multiples of 1/4, which half precision represents exactly, so that
comparisons give the same result."""
import os
import subprocess

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Second(nn.Module):
    """A layer of the first input, and a function of its result and the other inputs."""

    def __init__(self, layer, function):
        super().__init__()
        self.layer, self.function = layer, function

    def forward(self, x, *others):
        return self.function(self.layer(x), *others)


class Table(nn.Module):
    def __init__(self, function, rows=19, size=18):
        super().__init__()
        self.table, self.layer, self.function = nn.Embedding(rows, size), nn.Linear(size, 9), function

    def forward(self, ids, *others):
        return self.layer(self.function(self.table, ids, *others))


class Encoder(nn.Module):
    """Converts tokens to features, as BERT does, with a mask for padding."""

    def __init__(self, layers=2, size=32, heads=4):
        super().__init__()
        self.tokens, self.places, self.norm = nn.Embedding(50, size), nn.Embedding(16, size), nn.LayerNorm(size)
        self.qkv = nn.ModuleList(nn.Linear(size, 3 * size) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(size, size) for _ in range(layers))
        self.more = nn.ModuleList(nn.Sequential(nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size)) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(2 * layers))
        self.register_buffer("numbers", torch.arange(16).unsqueeze(0))
        self.heads = heads

    def forward(self, ids, mask):
        b, t = ids.shape
        x = self.norm(self.tokens(ids) + self.places(self.numbers[:, :t]))
        c = x.shape[2]
        added = (1.0 - mask[:, None, None, :].to(torch.float32)) * -10000.0
        for i, qkv in enumerate(self.qkv):
            q, k, v = qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
            scores = q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5 + added
            y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c)
            x = self.norms[2 * i](x + self.out[i](y))
            x = self.norms[2 * i + 1](x + self.more[i](x))
        return x


def quarters(*shape):
    return torch.randint(-8, 9, shape) / 4


def masked_product(fill):
    def attend(y, mask):
        q, k, v = y.view(2, 11, 3, 2, 12).permute(2, 0, 3, 1, 4).unbind(0)
        return fill(q @ k.transpose(-2, -1), mask).softmax(-1) @ v
    return attend


def add(case):
    m, n, some = quarters(2, 11, 18), quarters(2, 11, 18), torch.rand(2, 11, 18) > 0.4
    row = torch.rand(18) > 0.5
    lone = float("nan")
    two = {
        "eq": lambda y, m, n: (y, m == n), "ne": lambda y, m, n: (y, m != n), "lt": lambda y, m, n: (y, m < n), "le": lambda y, m, n: (y, m <= n),
        "gt": lambda y, m, n: (y, m > n), "ge": lambda y, m, n: (y, m >= n), "eq_number": lambda y, m, n: (y, m == 0.25), "gt_number": lambda y, m, n: (y, m > 0),
        "and": lambda y, m, n: (y, (m > 0) & (n > 0)), "or": lambda y, m, n: (y, torch.logical_or(m, n)), "xor": lambda y, m, n: (y, (m > 0) ^ (n > 0)),
        "not": lambda y, m, n: (y, ~(m > 0), torch.logical_not(n)), "isnan": lambda y, m, n: (y, torch.isnan(m / n)),
        "times": lambda y, m, n: y * (m > n), "to_float": lambda y, m, n: y + (m >= 0).to(torch.float32), "to_bool": lambda y, m, n: (y, m.to(torch.bool)),
        "where": lambda y, m, n: torch.where(m > n, y, n), "where_row": lambda y, m, n: torch.where(m > 0, y, n[:1, :1]),
        "where_lane": lambda y, m, n: torch.where(m[:, :, :1] > 0, y[:1], n[:, :, 1:2]), "where_zero": lambda y, m, n: torch.where(m > 0, y, torch.zeros(())),
        "where_first": lambda y, m, n: torch.where(m > 0, torch.tensor(2.5), y), "masked_fill": lambda y, m, n: y.masked_fill(m == n, -3.5),
        "masked_fill_row": lambda y, m, n: y.masked_fill(m[:1] > 0, 1e4) * 2, "masked_softmax": lambda y, m, n: y.masked_fill(m > 1, float("-inf")).softmax(-1),
        "blind_softmax": lambda y, m, n: y.masked_fill(m < 9, float("-inf")).softmax(-1), "clamp": lambda y, m, n: y.clamp(m, n), "clamp_min": lambda y, m, n: y.clamp(min=m),
        "clamp_max": lambda y, m, n: torch.clamp_max(y, n), "maximum": lambda y, m, n: torch.max(y, m) + torch.min(y, n),
        "sign": lambda y, m, n: y + m.sign(), "trunc": lambda y, m, n: y + m.trunc() + (n * 0.5).round(), "cat": lambda y, m, n: (y, torch.cat([m > 0, n[:, :3] > 0], 1)),
        "stack": lambda y, m, n: (y, torch.stack([m > 0, n > 0], 1)), "slice": lambda y, m, n: y[:, 2:5] * (m > 0)[:, 2:5], "view": lambda y, m, n: y * (m > 0).flatten()[:18],
        "flip": lambda y, m, n: (y, (m > 0).flip([1])), "roll": lambda y, m, n: (y, (m > n).roll(3, 1)), "expand": lambda y, m, n: y * (m[:1] > 0).expand(2, -1, -1),
    }
    arithmetic = {
        "remainder": lambda y, m, n: y + torch.remainder(m, n), "remainder_number": lambda y, m, n: y + m % 0.75, "remainder_negative": lambda y, m, n: (y, m % -1.25),
        "fmod": lambda y, m, n: (y, torch.fmod(m, n)), "fmod_number": lambda y, m, n: (y, m.fmod(0.5) + n.fmod(-0.75)), "fmod_splat": lambda y, m, n: (y, torch.fmod(m, n[:, :, :1])),
        "floor_divide": lambda y, m, n: (y, torch.floor_divide(m, n)), "floor_divide_number": lambda y, m, n: (y, m // 0.75, n // -0.5),
        "div_floor": lambda y, m, n: (y, torch.div(m, n, rounding_mode="floor"), torch.div(m, 3, rounding_mode="floor")),
        "remainder_chain": lambda y, m, n: (y, (m * 3 % 2.0 + 1).square() // 0.5), "remainder_behind": lambda y, m, n: (y.relu() % 0.5, m % (n * 2)),
        "power": lambda y, m, n: (y, torch.pow(m.abs(), n)), "power_whole": lambda y, m, n: (y, torch.pow(m, n.round())), "power_any": lambda y, m, n: (y, m**n),
        "power_number": lambda y, m, n: (y, m**3, (m.abs() + 0.1) ** 1.7, n**-2.0, m**0, m**4), "power_of": lambda y, m, n: (y, 2.5**m, 0**n, 1**m, (-2) ** n.round()),
        "power_chain": lambda y, m, n: (y, torch.pow(m, 2.0 * n.round()) * 0.5 + 1), "power_behind": lambda y, m, n: (y, torch.pow(m.abs() + 1, n)),
        "logarithms": lambda y, m, n: (y, (m.abs() + 0.25).log2(), (m.abs() * 0.01).log1p(), (n * 0.1).expm1(), n.square()),
    }
    far = {  # cases with values outside the range of half precision
        "fmod_far": lambda y, m, n: (y, torch.fmod(m * 1.3e20, n * 1.7e-10), torch.remainder(m * 1e30, n + 1e-3)),
        "floor_divide_far": lambda y, m, n: (y, torch.floor_divide(m * 1e5, n + 1e-3), (m * 1.1) // (n * 0.1)),
        "power_far": lambda y, m, n: (y, torch.pow(m.abs() * 1e3, n * 5), torch.pow(1 + m.abs() * 1e-4, n * 1000)),
        "power_edges": lambda y, m, n: (y, torch.pow(m / (n - 1), 3), torch.pow(m, n / (m - 1)), torch.pow(n / (m * 0), m), torch.pow(m * -0.0, n.round())),
    }
    for name, function in arithmetic.items():
        case(f"two_{name}", Second(nn.Linear(7, 18), function), (2, 11, 7), m, n)
    for name, function in far.items():
        case(f"far_{name}", Second(nn.Linear(7, 18), function), (2, 11, 7), m, n)
    two |= {name: arithmetic[name] for name in ("remainder", "fmod", "floor_divide", "power_any")}
    for name, function in two.items():
        case(f"truth_{name}", Second(nn.Linear(7, 18), function), (2, 11, 7), m, n)
    with_nan = m.clone()
    with_nan[0, 3:5, ::3], with_nan[1, 2] = lone, float("inf")
    for name in ("lt", "ge", "eq", "ne", "not", "isnan", "clamp", "sign", "where", "remainder", "fmod", "floor_divide", "power_any"):
        case(f"truth_nan_{name}", Second(nn.Linear(7, 18), two[name]), (2, 11, 7), with_nan, n)
    given = {"fill": lambda y, b: y.masked_fill(b, 0.5), "where": lambda y, b: torch.where(b, y, y * 2), "not": lambda y, b: (y, ~b), "times": lambda y, b: y * b,
             "out": lambda y, b: (y, b & (y.detach()[:1] == y.detach()[:1]))}
    for name, function in given.items():
        case(f"bool_{name}", Second(nn.Linear(7, 18), function), (2, 11, 7), some)
        case(f"bool_row_{name}", Second(nn.Linear(7, 18), function), (2, 11, 7), row)
    image = torch.rand(2, 5, 9, 7) > 0.5
    case("bool_image", Second(nn.Conv2d(3, 5, 3, padding=1), lambda y, b: y.masked_fill(b, 0) + y.masked_fill(~b[:, :1], -1)), (2, 3, 9, 7), image)
    scores = torch.rand(2, 2, 11, 11) > 0.3
    scores[..., 0] = True
    padding = (torch.arange(11) < torch.tensor([[11], [6]]))
    case("mask_added", Second(nn.Linear(7, 72), masked_product(lambda s, m: s + m)), (2, 11, 7), quarters(11, 11))
    case("mask_added_heads", Second(nn.Linear(7, 72), masked_product(lambda s, m: s * 0.25 + m)), (2, 11, 7), quarters(1, 2, 11, 11))
    case("mask_added_infinite", Second(nn.Linear(7, 72), masked_product(lambda s, m: s + m)), (2, 11, 7), torch.zeros(2, 1, 11, 11).masked_fill(~scores[:, :1], float("-inf")))
    case("mask_added_blind", Second(nn.Linear(7, 72), masked_product(lambda s, m: s + m)), (2, 11, 7),
         torch.zeros(11, 11).masked_fill(torch.eye(11).cumsum(0) < 1, float("-inf")).roll(1, 0))
    case("mask_filled", Second(nn.Linear(7, 72), masked_product(lambda s, m: s.masked_fill(m, -1e4))), (2, 11, 7), ~scores)
    case("mask_chosen", Second(nn.Linear(7, 72), masked_product(lambda s, m: torch.where(m, s, torch.tensor(-1e4)))), (2, 11, 7), scores)
    case("mask_padding", Second(nn.Linear(7, 72), masked_product(lambda s, m: s.masked_fill(~m[:, None, None], float("-inf")))), (2, 11, 7), padding)


    def added_product(y, mask):
        q, k, v = y.view(2, 11, 3, 24).permute(2, 0, 1, 3).unbind(0)
        return torch.bmm(torch.baddbmm(mask, q, k.transpose(1, 2)).softmax(-1), v)

    case("mask_baddbmm", Second(nn.Linear(7, 72), added_product), (2, 11, 7), torch.zeros(2, 1, 11).masked_fill(~padding[:, None], float("-inf")))
    case("mask_baddbmm_same", Second(nn.Linear(7, 72), added_product), (2, 11, 7), quarters(2, 11, 1))
    case("baddbmm", Second(nn.Linear(7, 18), lambda y, m: torch.baddbmm(m, y.transpose(1, 2), y)), (2, 11, 7), quarters(2, 18, 18))
    case("baddbmm_row", Second(nn.Linear(7, 18), lambda y, m: torch.baddbmm(m, y, y.transpose(1, 2)).relu()), (2, 11, 7), quarters(11))

    ids, other = torch.randint(0, 19, (2, 11)), torch.randint(0, 19, (2, 11))
    tables = {
        "": lambda t, i: t(i), "rows": lambda t, i: t(i[:, 2:7]), "turned": lambda t, i: t(i.t()), "more": lambda t, i: t(i.unsqueeze(1).expand(-1, 3, -1)),
        "one": lambda t, i: t(i[1]), "masked": lambda t, i: t(i) * (i != 3).unsqueeze(-1), "float": lambda t, i: t(i) + i.to(torch.float32).unsqueeze(-1) * 0.25,
    }
    for name, function in tables.items():
        case(f"embedding_{name}", Table(function), ids)
        case(f"embedding32_{name}", Table(function), ids.to(torch.int32))
    case("embedding_odd", Table(lambda t, i: t(i), 7, 5), ids % 7)
    case("embedding_two", Table(lambda t, i, j: t(i) + t(j)), ids, other)
    few, each = torch.randint(0, 11, (5,)), torch.randint(0, 11, (2, 6, 18))
    case("index_select_rows", Second(nn.Linear(7, 18), lambda y, i: y.index_select(1, i)), (2, 11, 7), few)
    case("index_select_last", Second(nn.Linear(7, 18), lambda y, i: y.index_select(-1, i)), (2, 11, 7), few)
    case("index_select_channels", Second(nn.Conv2d(3, 11, 1), lambda y, i: y.index_select(1, i)), (2, 3, 9, 7), few)
    indexed, signed = nn.Linear(7, 18), torch.randint(-22, 22, (5,))
    lists = {
        "": lambda y, i: y.flatten(0, 1)[i], "matrix": lambda y, i: y.flatten(0, 1)[i[:4].view(2, 2)], "expanded": lambda y, i: y.flatten(0, 1)[i.unsqueeze(0).expand(3, -1)] * 2,
        "elements": lambda y, i: y.flatten()[i], "elements_matrix": lambda y, i: y.flatten()[i[1:].view(2, 2)] + 1, "turned": lambda y, i: y.flatten(0, 1).t()[i],
        "more": lambda y, i: y.view(22, 2, 3, 3)[i], "truths": lambda y, i: (y, (y > 0.1).flatten(0, 1)[i]), "twice": lambda y, i: y.flatten(0, 1)[i] + (y.flatten(0, 1) * 3)[i],
        "heads": lambda y, i: (y.flatten(0, 1)[i.unsqueeze(1).expand(-1, 5).flatten()].view(5, 5, -1).permute(2, 0, 1).contiguous().unsqueeze(0)),
    }
    for name, function in lists.items():
        case(f"index_list_{name}", Second(indexed, function), (2, 11, 7), signed % 18 - 9 if name == "turned" else signed)

    class Places(nn.Module):
        """Adds values of a table, read with constant indices, to the attention scores of windows."""

        def __init__(self):
            super().__init__()
            self.layer, self.table = nn.Linear(7, 9), nn.Parameter(torch.randn(25, 3))
            self.register_buffer("places", torch.randint(-25, 25, (81,)))

        def forward(self, x):
            y = self.layer(x)
            return y + self.table[self.places].view(9, 9, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    case("index_list_constant", Places(), (2, 3, 9, 7))
    case("gather_rows", Second(nn.Linear(7, 18), lambda y, i: y.gather(1, i)), (2, 11, 7), each)
    case("gather_last", Second(nn.Linear(7, 18), lambda y, i: y.gather(2, i[:, :, :7])), (2, 11, 7), each)
    case("gather_repeated", Second(nn.Linear(7, 18), lambda y, i: y.gather(1, i[:, :, :1].expand(-1, -1, 18))), (2, 11, 7), each)
    case("gather_batch", Second(nn.Linear(7, 18), lambda y, i: y.gather(0, i)), (11, 6, 7), each)
    case("encoder", Encoder(), torch.randint(0, 50, (2, 11)), padding.to(torch.int64))


def refusals(taper, device, folder):
    """An invalid index is refused with the same error message as on the CPU; integers that floats cannot represent run on the CPU."""
    wrong = 0
    model, x, rows = Second(nn.Linear(7, 18), lambda y, i: y[i]), torch.randn(11, 7), torch.randint(-11, 11, (5,))
    torch.jit.trace(model, (x, rows)).save(os.path.join(folder, "m.pt"))
    np.save(os.path.join(folder, "x.npy"), x.numpy())
    for bad in (11, -12, 2**40, -(2**24) - 1):
        rows[3] = bad
        np.save(os.path.join(folder, "ids.npy"), rows.numpy())
        said = [subprocess.run([taper, "run", os.path.join(folder, "m.pt"), "-i", os.path.join(folder, "x.npy"), "-i", os.path.join(folder, "ids.npy"), "--device", name],
                               capture_output=True, text=True, check=False).stderr for name in ("cpu", device, device + "!")]
        if not all(f"index {bad} is out of bounds" in text for text in said):
            print(f"index {bad}: {[text.strip().splitlines()[-1:] for text in said]}")
            wrong += 1
    model, ids = Table(lambda t, i: t(i)), torch.randint(0, 19, (2, 11))
    torch.jit.trace(model, (ids,)).save(os.path.join(folder, "m.pt"))
    for bad in (19, -1, 2**40, 2**24 + 1):
        ids[1, 3] = bad
        np.save(os.path.join(folder, "ids.npy"), ids.numpy())
        said = [subprocess.run([taper, "run", os.path.join(folder, "m.pt"), "-i", os.path.join(folder, "ids.npy"), "--device", name], capture_output=True,
                               text=True, check=False).stderr for name in ("cpu", device, device + "!")]
        if not all(f"index out of range in self: {bad} with size 19" in text for text in said):
            print(f"index {bad}: {[text.strip().splitlines()[-1:] for text in said]}")
            wrong += 1
    model, numbers = Second(nn.Linear(7, 3), lambda y, i: (y, i == 2**24)), torch.tensor([2**24, 2**24 + 1, 5])
    x = torch.randn(2, 7)
    torch.jit.trace(model, (x, numbers)).save(os.path.join(folder, "m.pt"))
    np.save(os.path.join(folder, "x.npy"), x.numpy())
    np.save(os.path.join(folder, "ids.npy"), numbers.numpy())
    run = subprocess.run([taper, "run", os.path.join(folder, "m.pt"), "-i", os.path.join(folder, "x.npy"), "-i", os.path.join(folder, "ids.npy"),
                          "--device", device, "-o", os.path.join(folder, "y.npz")], capture_output=True, text=True, check=False)
    if run.returncode != 0 or not np.array_equal(np.load(os.path.join(folder, "y.npz"))["output.1"], [True, False, False]):
        print(f"large numbers: {run.stderr[-200:]}")
        wrong += 1
    return wrong + refused_sizes(taper, device, folder)


def refused_sizes(taper, device, folder):
    """Models that PyTorch refuses for sizes that differ from the trace."""
    forms = {
        "view": lambda y: y.view(-1, 6), "view_all": lambda y: y.view(6, 3), "reshape": lambda y: y.transpose(0, 1).reshape(3, -1, 2), "unflatten": lambda y: y.unflatten(0, (2, -1)),
        "expand": lambda y: y.unsqueeze(0).expand(2, 2, 9), "split": lambda y: y.split([1, 1]), "split_even": lambda y: y.split(1), "unbind": lambda y: y.unbind(0), "chunk": lambda y: y.chunk(2)}
    wrong = 0
    for name, function in forms.items():
        model, x = Second(nn.Linear(7, 9), function), torch.randn(2, 7)
        model = torch.jit.trace(model, (x,))
        model.save(os.path.join(folder, "m.pt"))
        for rows in (2, 5, 3):
            x = torch.randn(rows, 7)
            try:
                model(x)
                fine = True
            except RuntimeError:
                fine = False
            np.save(os.path.join(folder, "x.npy"), x.numpy())
            run = subprocess.run([taper, "run", os.path.join(folder, "m.pt"), "-i", os.path.join(folder, "x.npy"), "--device", device + "!", "--device-options", "checks=0"],
                                 capture_output=True, text=True, check=False)
            if (run.returncode == 0) != fine or run.returncode not in (0, 1):
                print(f"{name} of {rows}: {run.returncode}, {run.stderr[-200:]}")
                wrong += 1
    return wrong
