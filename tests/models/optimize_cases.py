# SPDX-License-Identifier: BSD-2-Clause
"""Modules of test_optimize.py: patterns that passes change, and similar patterns that they must keep. CASES: (name, maker, tuples of
arguments). FOLDED: {case: operators of which none may remain}. BATCHES_ONLY: cases that PyTorch's lite interpreter refuses after
optimization, as it refuses the results of its own optimizer."""
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CASES, FOLDED, BATCHES_ONLY = [], {}, set()


def case(*calls, folded=None, batches_only=False, **attributes):
    """Makes a case of the decorated function. It is the forward of a module with these attributes (name=lambda: value), which are
    made anew for each use."""
    def add(forward):
        def make():
            module = type(forward.__name__, (nn.Module,), {"forward": forward, "__module__": __name__})()
            for name, value in attributes.items():
                value = value()
                if isinstance(value, Tensor) and value.is_floating_point():
                    value = nn.Parameter(value)
                setattr(module, name, value)
            stir(module)
            return module
        if folded:
            FOLDED[forward.__name__.replace("_", " ")] = folded
        if batches_only:
            BATCHES_ONLY.add(forward.__name__.replace("_", " "))
        CASES.append((forward.__name__.replace("_", " "), make, list(calls)))
        return forward
    return add


def stir(module):
    """Sets statistics and affine weights to values other than 0 and 1."""
    for m in module.modules():
        if isinstance(m, nn.modules.batchnorm._NormBase):
            if m.running_mean is not None:
                m.running_mean.normal_(0, 0.3)
                m.running_var.uniform_(0.5, 1.5)
            if m.weight is not None:
                nn.init.uniform_(m.weight, 0.6, 1.4)
                nn.init.normal_(m.bias, 0, 0.2)


def some(*sizes):
    return torch.randn(sizes, generator=torch.Generator().manual_seed(sum(sizes)))


IMAGE, LINES, ROWS = some(2, 4, 6, 5), some(2, 4, 9), some(3, 8)


# ---- products that become linear layers

@case((ROWS,), (some(8),), (some(2, 3, 8),), w=lambda: some(8, 5), b=lambda: some(5))
def product_and_sum(self, x):
    return torch.matmul(x, self.w) + self.b


@case((ROWS,), w=lambda: some(8, 5), b=lambda: some(5))
def product_whose_input_is_written_before_the_sum(self, x):
    x = x + 1
    y = torch.matmul(x, self.w)
    x.add_(1)
    z = y + self.b
    return z, x


@case((ROWS,), (some(2, 8),), w=lambda: some(5, 8), b=lambda: some(5), one=lambda: some(1))
def addmm_of_transposed(self, x):
    return torch.addmm(self.b, x, self.w.t()) + torch.addmm(self.one, x, self.w.t()) + torch.addmm(self.b, x, self.w.t(), beta=2)


@case((ROWS,), w=lambda: some(8, 5))
def product_with_a_matrix_that_changes(self, x):
    y = torch.matmul(x, self.w)
    self.w.data.add_(1)
    return y, torch.matmul(x, self.w)


# ---- batch norm

@case((IMAGE,), (some(1, 4, 3, 3),), conv=lambda: nn.Conv2d(4, 6, 3, padding=1), norm=lambda: nn.BatchNorm2d(6))
def conv_norm(self, x):
    return F.relu(self.norm(self.conv(x)))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3, bias=False, groups=2), norm=lambda: nn.BatchNorm2d(6, affine=False))
def conv_norm_without_weights(self, x):
    return F.relu6(self.norm(self.conv(x)))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 4, 3, padding=1), norm=lambda: nn.BatchNorm2d(4), other=lambda: nn.BatchNorm2d(4))
def conv_with_two_norms(self, x):
    y = self.conv(x)
    return self.norm(y) + self.other(y)


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 4, 3, padding=1), norm=lambda: nn.BatchNorm2d(4))
def conv_and_norm_shared(self, x):
    return self.norm(self.conv(self.norm(self.conv(x))))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 2), norm=lambda: nn.BatchNorm2d(4))
def norm_conv(self, x):
    return self.conv(self.norm(x))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 2, groups=2), norm=lambda: nn.BatchNorm2d(4))
def norm_conv_whose_input_is_written_between(self, x):
    x = x + 1
    y = self.norm(x)
    x.relu_()
    return self.conv(y), x


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3, padding=1), norm=lambda: nn.BatchNorm2d(4))
def norm_conv_that_pads(self, x):
    return self.conv(self.norm(x))


@case((IMAGE,), conv=lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1, groups=2), norm=lambda: nn.BatchNorm2d(6))
def transposed_norm(self, x):
    return F.relu(self.norm(self.conv(x)))


@case((some(1, 4, 3, 6, 5),), conv=lambda: nn.Conv3d(4, 6, 2), norm=lambda: nn.BatchNorm3d(6))
def conv3d_norm(self, x):
    return self.norm(self.conv(x))


@case((LINES,), conv=lambda: nn.Conv1d(4, 6, 3, dilation=2, stride=2, padding=1), norm=lambda: nn.BatchNorm1d(6), folded="aten::batch_norm")
def conv1d_norm(self, x):
    return F.relu(self.norm(self.conv(x)))


@case((LINES,), (some(1, 4, 3),), conv=lambda: nn.Conv1d(4, 6, 3, groups=2, padding=1))
def conv1d_of_groups(self, x):
    return self.conv(x)


@case((some(2, 9, 4),), conv=lambda: nn.Conv1d(4, 6, 3))
def conv1d_of_transposed(self, x):
    y = self.conv(x.transpose(1, 2))
    return y.view(y.size(0), -1), y.stride()


@case((LINES,), conv=lambda: nn.Conv1d(4, 6, 3, groups=2), norm=lambda: nn.BatchNorm1d(4), folded="aten::batch_norm")
def norm_conv1d(self, x):
    return self.conv(self.norm(x))


@case((LINES,), conv=lambda: nn.ConvTranspose1d(4, 6, 3, stride=2), norm=lambda: nn.BatchNorm1d(6), folded="aten::batch_norm")
def transposed1d_norm(self, x):
    return F.relu(self.norm(self.conv(x)))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3), drop=lambda: nn.Dropout2d(), norm=lambda: nn.BatchNorm2d(6), folded="aten::batch_norm")
def conv_dropout_norm(self, x):
    return self.norm(self.drop(self.conv(x)))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3), norm=lambda: nn.BatchNorm2d(6), folded="aten::batch_norm")
def conv_norm_of_known_sizes(self, x):
    y = self.conv(x)
    return self.norm(y).view(y.size(0), -1), y.dim(), y.size()


@case((IMAGE,), line=lambda: nn.Linear(120, 3), norm=lambda: nn.BatchNorm1d(120), other=lambda: nn.BatchNorm1d(3), folded="aten::batch_norm")
def norm_linear_norm(self, x):
    return self.other(self.line(self.norm(torch.flatten(x, 1))))


@case((some(2, 8, 8),), line=lambda: nn.Linear(8, 3), norm=lambda: nn.BatchNorm1d(8))
def norm_linear_of_another_dimension(self, x):
    return self.line(self.norm(x))


@case((ROWS,), line=lambda: nn.Linear(8, 3), norm=lambda: nn.BatchNorm1d(3))
def linear_norm(self, x):
    return self.norm(self.line(x))


@case((some(2, 3, 8),), line=lambda: nn.Linear(8, 3), norm=lambda: nn.BatchNorm1d(3))
def linear_norm_of_another_dimension(self, x):
    return self.norm(self.line(x))


@case((IMAGE,), (IMAGE,), conv=lambda: nn.Conv2d(4, 6, 1), norm=lambda: nn.BatchNorm2d(6))
def norm_that_learns(self, x):
    y = F.batch_norm(self.conv(x), self.norm.running_mean, self.norm.running_var, self.norm.weight, self.norm.bias, True, 0.1, 1e-5)
    return self.norm(self.conv(x)), y


# ---- packed weights

@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3, padding="same"))
def conv_with_padding_in_words(self, x):
    return self.conv(x)


@case((IMAGE,), (IMAGE[:0],), conv=lambda: nn.Conv2d(4, 6, 3, stride=(2, 1), padding=(0, 2), dilation=(1, 2)))
def conv_of_no_images(self, x):
    return self.conv(x)


@case((IMAGE,), conv=lambda: nn.ConvTranspose2d(4, 3, 2, stride=3))
def transposed_with_gaps(self, x):
    return self.conv(x)


@case((IMAGE,), conv=lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1))
def transposed_with_output_padding(self, x):
    return self.conv(x)


@case((IMAGE,), conv=lambda: nn.ConvTranspose2d(4, 2, 3, dilation=2, output_padding=1))
def transposed_with_more_output_padding_than_stride(self, x):
    return self.conv(x)


@case((IMAGE,), conv=lambda: nn.ConvTranspose2d(4, 2, 3, dilation=2, stride=(2, 1), groups=2))
def transposed_with_dilation(self, x):
    return self.conv(x)


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3))
def conv_of_batches_and_of_an_image(self, x):
    return self.conv(x), F.relu(self.conv(x[0])), self.conv(x[1:].squeeze(0).contiguous())


@case((IMAGE,), (IMAGE[0],), conv=lambda: nn.Conv2d(4, 6, 3))
def conv_of_a_batch_or_an_image(self, x):
    if x.dim() == 3:
        x = x * 2
    return self.conv(F.relu(x))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3), norm=lambda: nn.InstanceNorm2d(6), other=lambda: nn.Conv2d(6, 3, 1), folded="aten::conv2d")
def conv_between_instance_norm(self, x):
    return self.other(self.norm(self.conv(x)))


@case((IMAGE,), (IMAGE[0],), conv=lambda: nn.Conv2d(4, 6, 3), folded="aten::conv2d")
def conv_of_an_image_that_becomes_a_batch(self, x):
    if x.dim() == 3:
        x = x.unsqueeze(0)
    return self.conv(x)


@case((some(4, 6, 5).to(torch.float64),), w=lambda: some(6, 5).to(torch.float64))
def linear_of_doubles(self, x):
    return F.linear(x, self.w.t())


@case((some(2, 4, 6, 5).to(memory_format=torch.channels_last),), conv=lambda: nn.Conv2d(4, 6, 3))
def conv_of_channels_last(self, x):
    return self.conv(x), x * 2


@case((ROWS,), (some(8),), (some(0, 8),), line=lambda: nn.Linear(8, 3, bias=False))
def linear_of_ranks(self, x):
    return F.relu(self.line(x))


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3))
def weights_written_before_use(self, x):
    y = self.conv(x)
    self.conv.weight.data.add_(1)
    return y, self.conv(x)


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3))
def weights_returned(self, x):
    return self.conv(x), self.conv.weight, self.conv.bias


@case((IMAGE,), (-IMAGE,), conv=lambda: nn.Conv2d(4, 6, 3), other=lambda: nn.Conv2d(4, 6, 3))
def layer_of_a_branch(self, x):
    if bool(x[0, 0, 0, 0] > 0):
        y = F.relu(self.conv(x))
    else:
        y = F.hardtanh(self.other(x), -0.5, 0.25)
    return y


@case((IMAGE, 0), (IMAGE, 3), conv=lambda: nn.Conv2d(4, 4, 3, padding=1))
def layer_of_a_loop(self, x, n: int):
    for i in range(n):
        x = F.relu(self.conv(x)) + i
    return x


# ---- bounds of a layer's results

@case((IMAGE,), conv=lambda: nn.Conv2d(4, 3, 1))
def bounds(self, x):
    y = self.conv(x)
    return [F.relu(self.conv(x)), F.relu6(self.conv(x)), F.hardtanh(self.conv(x)), torch.clamp(self.conv(x), 0, 1),
            torch.clamp(self.conv(x), min=0.1), torch.clamp(self.conv(x), max=0.1), torch.clamp(self.conv(x), -1.5, 0.5), F.relu(y), y]


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 3, 1))
def bounds_that_no_object_takes(self, x):
    inf = float("inf")
    return [torch.clamp(self.conv(x), 1.0, 1.0), torch.clamp(self.conv(x), 1.0, -1.0), torch.clamp(self.conv(x), -1e300, 1e300),
            torch.clamp(self.conv(x), 0.0, 1e-300), torch.clamp(self.conv(x), min=inf), torch.clamp(self.conv(x), -inf, inf),
            torch.clamp(self.conv(x), max=-inf), torch.clamp(self.conv(x), min=float("nan")), torch.clamp(self.conv(x), 0.0, float("nan"))]


@case((IMAGE,), conv=lambda: nn.Conv2d(4, 3, 1))
def no_bounds(self, x):
    return torch.clamp(self.conv(x), None, None)


@case((IMAGE, 0.1), (IMAGE, 0.5), conv=lambda: nn.Conv2d(4, 3, 1))
def bounds_of_the_caller(self, x, high: float):
    return F.hardtanh(self.conv(x), -0.1, high), torch.clamp(self.conv(x), min=high)


@case((ROWS,), line=lambda: nn.Linear(8, 3))
def bounds_in_place(self, x):
    y = self.line(x)
    z = F.relu_(y)
    return z + y


# ---- sums with a relu

@case((some(3, 4), some(3, 4)), (some(3, 4), some(4)), (some(4).double(), some(3, 4)), 
      (torch.tensor([1, -2]), torch.tensor([3, -4])), (torch.tensor([1, 200], dtype=torch.uint8), torch.tensor([3, 4], dtype=torch.uint8)),
      (torch.tensor([1, -2]), torch.tensor([0.5, -0.5])), (torch.tensor([1, -2]), torch.tensor(True)))
def sum_relu(self, x, y):
    return F.relu(x + y), F.relu(torch.add(x, y, alpha=2))


@case((some(3, 4).half(), some(3, 4).half()))
def sum_relu_of_halves(self, x, y):
    return F.relu(x + y)


@case((some(2, 3, 4, 4), some(2, 3, 4, 4)), conv=lambda: nn.Conv2d(3, 3, 3, padding=1))
def sum_relu_of_layers(self, x, y):
    a, b = self.conv(x), self.conv(y)
    c = F.relu(a + b)
    d = self.conv(c)
    d += c
    e = F.relu_(d)
    return e, torch.relu(self.conv(e) + x.clone().add_(y).relu_())


@case((some(3, 4), some(3, 4)))
def sum_in_place_looked_at_before_the_relu(self, x, y):
    a = x * 2
    b = a.add_(y)
    c = a * 3
    return b.relu_(), c, a


# ---- attributes

@case((some(3),), (some(3),), state=lambda: torch.zeros(3), count=lambda: 0)
def state(self, x):
    self.count += 1
    self.state.data.add_(x)
    return self.state.clone(), self.count


@case((some(3),), (some(3),), w=lambda: some(3), names=lambda: ["a", "b"], shared=lambda: torch.tensor([1, 2, 3]))
def kept(self, x):
    w = self.w
    held = [w, w + 1]
    self.shared += 1
    return held[0] + x, self.names[1], self.shared, (w, w)


@case((some(3),), table=lambda: {"a": 1, "b": 2}, pair=lambda: (1, 2.5))
def containers(self, x):
    found = torch.jit.annotate(List[int], [])
    for k, v in self.table.items():
        found.append(v + len(k))
    words: Dict[str, Tensor] = {}
    words["x"] = x
    words["y"] = x * self.pair[1]
    return found, words, self.pair


# ---- weights that require gradients, before layers that do not accept such weights

@case((some(1, 4, 8),), (some(3, 2, 8),), recurrent=lambda: nn.GRU(8, 6, 2, batch_first=True), head=lambda: nn.Linear(6, 3))
def gru_and_linear(self, x):
    return self.head(self.recurrent(x)[0][:, -1])


@case((ROWS,), pieces=lambda: [nn.Parameter(some(8)), nn.Parameter(some(1))], named=lambda: {"a": nn.Parameter(some(8)), "b": some(2)},
      pair=lambda: (nn.Parameter(some(8)), [nn.Parameter(some(8)), some(8)]), head=lambda: nn.Linear(8, 3))
def parameters_in_containers(self, x):
    for piece in self.pieces:
        x = x * piece
    return self.head(x + self.named["a"] * self.pair[0] + self.pair[1][0]), self.pieces[0] is self.pieces[1], len(self.named)


@case((ROWS,), weights=lambda: nn.ParameterList([some(8), some(8)]), head=lambda: nn.Linear(8, 3))
def list_of_parameters(self, x):
    for weight in self.weights:
        x = x * weight
    return self.head(x)


@case((some(3, 9, 8),), conv=lambda: nn.Conv2d(3, 4, 3), up=lambda: nn.ConvTranspose2d(4, 2, 2, 2), batches_only=True)
def image_without_batch(self, x):
    return self.up(F.relu(self.conv(x)))


@case((some(216),), conv=lambda: nn.Conv2d(3, 4, 3), up=lambda: nn.ConvTranspose2d(4, 2, 2, 2))
def image_of_a_vector(self, x):
    return self.up(F.relu(self.conv(x.view(3, 9, 8))))


@case((some(3, 9, 8),), conv=lambda: nn.Conv2d(3, 4, 3))
def image_that_was_checked(self, x):
    if x.dim() != 3:
        raise ValueError("an image is wanted")
    return F.relu(self.conv(x))


# ---- code that looks dead, or equal

@case((some(3),), (some(0),), drop=lambda: nn.Dropout(0.5))
def dropout(self, x):
    y = F.dropout(x, 0.3, False)
    z = self.drop(y)
    z = z + 1
    z.mul_(2)
    return z, x


@case((some(3),), (some(4),))
def checks(self, x):
    if x.size(0) != 3:
        raise ValueError("three, not " + str(x.size(0)))
    unused = x.view(3, 1)
    assert unused.dim() == 2
    return x + 1


@case((some(3),))
def alike(self, x):
    a, b = x + 1, x + 1
    a.mul_(2)
    c, d = torch.zeros(2), torch.zeros(2)
    c += 1
    return a, b, c, d


@case((some(3), None), (some(3), some(3)))
def optional(self, x, y: Optional[Tensor]):
    if y is None:
        y = torch.ones_like(x)
    z: Tuple[Tensor, Optional[Tensor]] = (x, y)
    return z[0] + y, z[1] is None


@case((some(3), 5), (some(3), 0))
def appends(self, x, n: int):
    out = [x]
    out.append(x + 1)
    other = out
    other.append(x + 2)
    for i in range(n):
        out.append(x * i)
    last = out.pop()
    return torch.cat(out), last, len(other)
