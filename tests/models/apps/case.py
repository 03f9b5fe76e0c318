# SPDX-License-Identifier: BSD-2-Clause
"""The parts of a case of test_apps.py."""
import copy

import torch


class Case:
    """A module and calls of it. calls: [(method, args), …] run in order on one loaded model. trace: true if forward can be traced with the first
    call's inputs. mobile: freezing and optimize_for_mobile are tried. loose_bytes: integers may differ by one (rounded floats). no_schema: the
    inputs need no schema (defaults, tuples), so that bytecode 4 and 3 can be tried. preserve: names that freezing must keep."""

    def __init__(self, name, make, calls, trace=False, mobile=True, loose_bytes=False, no_schema=True, rtol=1e-4, preserve=()):
        self.name, self.make, self.calls, self.trace, self.mobile = name, make, calls, trace, mobile
        self.loose_bytes, self.no_schema, self.rtol, self.preserve = loose_bytes, no_schema, rtol, list(preserve)


def renew(v):
    """Returns other values of the same shapes."""
    if isinstance(v, torch.Tensor):
        if v.is_floating_point():
            return v.flip(-1) * 0.75 + 0.125 if v.dim() else v * 0.75
        return v.flip(-1) if v.dim() else v.clone()
    if isinstance(v, (list, tuple)):
        return type(v)(renew(x) for x in v)
    if isinstance(v, dict):
        return {k: renew(x) for k, x in v.items()}
    return copy.copy(v)


def calls_of(a, b, method="forward"):
    """Returns calls with sizes A, B, A, A; the third call has other values."""
    return [(method, a), (method, b), (method, renew(a)), (method, a)]


def images(a, b):
    g = torch.Generator().manual_seed(sum(a) * 31 + sum(b))
    return calls_of((torch.randn(a, generator=g),), (torch.randn(b, generator=g),))


def stir(module):
    """Sets running statistics and affine weights to values other than 0 and 1."""
    for m in module.modules():
        if isinstance(m, torch.nn.modules.batchnorm._NormBase):
            if m.running_mean is not None:
                m.running_mean.normal_(0, 0.3)
                m.running_var.uniform_(0.5, 1.5)
            if m.weight is not None:
                torch.nn.init.uniform_(m.weight, 0.6, 1.4)
                torch.nn.init.normal_(m.bias, 0, 0.2)
    return module
