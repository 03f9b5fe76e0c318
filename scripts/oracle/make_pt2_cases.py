#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_pt2_cases.py OUT [NAME…]: small modules exported by the PyTorch at hand (2.8 and newer), as OUT/NAME.pt2, with calls of them and
what PyTorch answers in OUT/NAME.npz: arrays in.CALL.LEAF (numbers in.CALL.LEAF.number), CALL.output….  tests/models/test_pt2.py runs them."""
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch
from torch import nn
from torch.export import Dim, export, save
from torch.nn import functional as F
from torch.utils import _pytree

torch.manual_seed(3)


class Case:
    """module, its arguments when exported, further calls; decompose: to core ATen."""

    def __init__(self, module, args, calls=(), kwargs=None, dynamic=None, decompose=False):
        self.module, self.args, self.kwargs, self.dynamic, self.decompose = module.eval(), args, kwargs or {}, dynamic, decompose
        self.calls = [(args, self.kwargs), *((call, self.kwargs) if isinstance(call, tuple) else call for call in calls)]


def module(function, **parts):
    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                if isinstance(part, torch.Tensor):
                    self.register_buffer(name, part)
                else:
                    setattr(self, name, part)

    Made.forward = function
    return Made()


def convnet():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2),
                        nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=8), nn.Hardswish(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5))
    nn.init.uniform_(net[1].running_var, 0.5, 2)
    nn.init.uniform_(net[1].running_mean, -1, 1)
    return net


def x(*sizes):
    return torch.randn(*sizes)


def counted(self, x):
    self.count.add_(1)
    return x * self.count, self.count + 0


def arithmetic(self, x):
    n, m = x.shape
    return (x.reshape(n * m), x.new_zeros(n // 2 + 1, max(n, 4) % 5 + 1), x * n, x + m / 2, x[: n - 1], torch.full((2, n), m),
            x.new_ones(n).cumsum(0) if n > 0 else x, n * m)


def branches(self, x):
    return torch.cond(x.sum() > 0, lambda a: torch.cond(a.mean() > 1, lambda b: b + 1, lambda b: b * 2, (a,)), lambda a: a - 1, (x,))


def loop(self, x):
    from torch._higher_order_ops.while_loop import while_loop
    return while_loop(lambda i, a: i < a.abs().max().to(torch.int64), lambda i, a: (i + 1, a / 2 + 1), (torch.tensor(0), x))


def scanned(self, x, start):
    from torch._higher_order_ops.scan import scan
    return scan(lambda carry, item: (carry * 0.5 + item, carry + item * self.weight), start, x, dim=0)


def mapped(self, xs, y):
    from torch._higher_order_ops.map import map as over
    return over(lambda item, other: item @ other + self.weight, xs, y)


def no_grad(self, x):
    with torch.no_grad():
        y = x * self.weight
    return y + 1


def asserted(self, x):
    n = x.max().item()
    torch._check(n >= 2)
    torch._check(n < 10)
    return torch.zeros(n + 1), x.sum().item()


def containers(self, x, more, *, scale=1.0, flag=None):
    y = more["a"] * scale + more["b"][0]
    return {"y": y, "list": [x, (y, x + 1)], "none": flag, "number": 3}


class Answer(dict):
    """A dict that PyTorch is told about, with its keys for a context, as the results of transformers are."""


_pytree.register_pytree_node(Answer, lambda a: (list(a.values()), list(a.keys())), lambda values, keys: Answer(zip(keys, values)),
                             serialized_type_name="made.Answer")


def cases():
    attention = module(lambda self, q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.2))
    yield "convnet", Case(convnet(), (x(1, 3, 16, 16),))
    yield "convnet_core", Case(convnet(), (x(1, 3, 16, 16),), decompose=True)
    yield "convnet_batch", Case(convnet(), (x(2, 3, 16, 16),), [(x(1, 3, 16, 16),), (x(5, 3, 16, 16),)],
                                dynamic=({0: Dim("batch", max=8)},))
    yield "counter", Case(module(counted, count=torch.zeros(1)), (x(2),), [(x(2),), (x(2),)])
    yield "counter_core", Case(module(counted, count=torch.zeros(1)), (x(2),), [(x(2),), (x(2),)], decompose=True)
    yield "sizes", Case(module(arithmetic), (x(3, 5),), [(x(4, 2),), (x(7, 9),)], dynamic=({0: Dim.AUTO, 1: Dim.AUTO},))
    squares = module(lambda self, x: (x[:1].expand((x.shape[0] // 2) ** 2 + 1, -1), x * x.shape[0] ** 2))
    yield "power", Case(squares, (x(6, 3),), [(x(2, 3),), (x(7, 3),)], dynamic=({0: Dim.AUTO},))
    yield "branches", Case(module(branches), (x(4),), [(-torch.ones(4),), (torch.full((4,), 0.5),), (torch.full((4,), 3.0),)])
    yield "loop", Case(module(loop), (x(4) * 9,), [(torch.full((4,), 100.0),), (torch.zeros(4),)])
    yield "scan", Case(module(scanned, weight=x(3)), (x(5, 3), x(3)))
    yield "map", Case(module(mapped, weight=x(4)), (x(3, 2, 4), x(4, 4)))
    yield "no_grad", Case(module(no_grad, weight=x(3)), (x(2, 3),))
    yield "asserted", Case(module(asserted), (torch.tensor([3, 4]),), [(torch.tensor([9, 2]),)])
    yield "containers", Case(module(containers), (x(2), {"a": x(2), "b": [x(2)]}), kwargs={"scale": 1.5, "flag": None})
    yield "answer", Case(module(lambda self, x: Answer(logits=x * 2, hidden=(x + 1, Answer(last=x)))), (x(2),))
    yield "attention", Case(attention, (x(2, 4, 6, 8), x(2, 4, 9, 8), x(2, 4, 9, 8), x(6, 9)),
                            [(x(2, 4, 6, 8), x(2, 4, 9, 8), x(2, 4, 9, 8), x(6, 9))])
    grouped = module(lambda self, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True))
    yield "attention_groups", Case(grouped, (x(1, 8, 5, 8), x(2, 2, 7, 8), x(2, 2, 7, 4)))
    seen = torch.rand(2, 1, 6, 9) > 0.4
    seen[0, 0, 2] = False
    masked = module(lambda self, q, k, v, m: F.scaled_dot_product_attention(q, k, v, m))
    yield "attention_mask", Case(masked, (x(2, 4, 6, 8), x(2, 4, 9, 8), x(2, 4, 9, 8), seen))
    yield "guard_float", Case(module(lambda self, y: y + 1 if y.shape[0] * 0.5 < 20 else y), (x(4, 3),), [(x(9, 3),)], dynamic=({0: Dim.AUTO},))
    yield "encoder", Case(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (x(2, 5, 16),), decompose=True)
    yield "lstm", Case(nn.LSTM(4, 6, 2, bidirectional=True, batch_first=True), (x(2, 5, 4),))
    yield "half", Case(module(lambda self, x: (x.to(torch.bfloat16) * self.weight).to(torch.float32), weight=x(4).bfloat16()), (x(3, 4),))


def main():
    out, names = pathlib.Path(sys.argv[1]), set(sys.argv[2:])
    out.mkdir(parents=True, exist_ok=True)
    for name, case in cases():
        if names and name not in names:
            continue
        program = export(case.module, case.args, case.kwargs, dynamic_shapes=case.dynamic)
        program = program.run_decompositions() if case.decompose else program
        save(program, out / f"{name}.pt2")
        run, arrays = program.module(), {}
        for number, (args, kwargs) in enumerate(case.calls):
            for leaf, value in enumerate(_pytree.tree_leaves((args, kwargs))):
                if isinstance(value, torch.Tensor):
                    arrays[f"in.{number}.{leaf}"] = value.numpy()
                elif value is not None:
                    arrays[f"in.{number}.{leaf}.number"] = np.asarray(value)
                else:
                    arrays[f"in.{number}.{leaf}.none"] = np.zeros(0)
            with torch.no_grad():
                result = run(*args, **kwargs)
            flatten(f"{number}.output", result, arrays)
        np.savez_compressed(out / f"{name}.npz", **arrays)


def flatten(name, value, arrays):
    if isinstance(value, dict):
        for key, item in value.items():
            flatten(f"{name}.{key}", item, arrays)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            flatten(f"{name}.{i}", item, arrays)
    elif value is not None:
        arrays[name] = value.detach().numpy().copy() if isinstance(value, torch.Tensor) else np.asarray(value)


if __name__ == "__main__":
    main()
