# SPDX-License-Identifier: BSD-2-Clause
# Cases of the language TorchScript: tuples, optionals, exceptions, attributes of tensors, tolist.
import torch

CASES = []


def add(name, source, *args):
    CASES.append((name, source, tuple(args)))


add("tuple", "def f(a: int, b: str):\n    t = (a, b, 2.5)\n    x, y, z = t\n    return t[0], t[-1], y, t[1:], len(t)\n", 3, "s")
for v in [None, 4]:
    add(f"optional-{v}", "def f(x: Optional[int]):\n    if x is None:\n        return -1\n    return x + 1\n", v)
    add(f"unwrap-{v}", "def f(x: Optional[int]):\n    return torch.jit._unwrap_optional(x)\n", v)
    add(f"refine-{v}", "def f(x: Optional[int]):\n    assert x is not None, 'it is none'\n    return x\n", v)
add("raise", "def f(x: int):\n    if x > 2:\n        raise ValueError('too large: {}'.format(x))\n    return x\n", 5)
add("raise-not", "def f(x: int):\n    if x > 2:\n        raise ValueError('too large: {}'.format(x))\n    return x\n", 1)
add("is", "def f(x: Tensor):\n    l = [1]\n    m = l\n    return l is m, l is not m, x is x, [1] is l\n", torch.ones(1))
for dtype in [torch.float32, torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool]:
    add(f"attributes-{dtype}", "def f(x: Tensor):\n    return x.dtype == torch.float32, x.device == torch.device('cpu'), x.is_cuda, x.is_quantized, "
        "x.is_sparse, x.is_mkldnn, x.requires_grad, x.dim(), x.layout == torch.strided, x.get_device()\n", torch.ones(2, 3).to(dtype))
add("device", "def f(s: str):\n    d = torch.device(s)\n    return d.type, d.index, str(d)\n", "cuda:1")
add("device-none", "def f(s: str):\n    d = torch.device(s)\n    return d.type, d.index, str(d)\n", "cpu")
add("device-wrong", "def f(s: str):\n    return torch.device(s).type\n", "abacus")
add("to-device", "def f(x: Tensor):\n    return x.to(x.device, x.dtype), x.cpu()\n", torch.ones(2))
for v, label in [(3, "int"), (2.5, "float"), (True, "bool")]:
    add(f"tensor-of-{label}", f"def f(x: {label}):\n    return torch.tensor(x), torch.as_tensor(x)\n", v)
add("num-to-tensor", "def f(x: Tensor):\n    return x + x.size(0), torch.ones(2) * len(x)\n", torch.ones(3))
for t, annotation in [(torch.tensor([[1, 2], [3, 4]]), "List[List[int]]"), (torch.tensor([1.5, -0.0]), "List[float]"),
                      (torch.tensor([True, False]), "List[bool]"), (torch.tensor(7), "int"), (torch.zeros(2, 0), "List[List[float]]"),
                      (torch.rand(2, 3, 2).double(), "List[List[List[float]]]"), (torch.tensor([1, 2]), "List[float]"),
                      (torch.tensor([1]), "List[List[int]]"), (torch.tensor([1], dtype=torch.int32), "List[int]")]:
    add(f"tolist-{annotation}-{list(t.shape)}-{t.dtype}", f"def f(x: Tensor):\n    y: {annotation} = x.tolist()\n    return y\n", t)
    if t.dim() > 1:
        add(f"tolist-transposed-{annotation}-{list(t.shape)}-{t.dtype}",
            f"def f(x: Tensor):\n    y: {annotation} = x.transpose(0, 1).tolist()\n    return y\n", t)
add("data", "def f(x: Tensor):\n    y = x.data\n    y.add_(1)\n    return x, y\n", torch.zeros(2))
add("scripting", "def f(x: int):\n    if torch.jit.is_scripting():\n        return x\n    return -x\n", 3)
add("print", "def f(x: Tensor):\n    print('x is', x, 3, [1.5])\n    return x\n", torch.ones(2))
add("ternary", "def f(a: int):\n    return 1 if a > 2 and not a == 5 or a == 0 else 2\n", 5)
add("while", "def f(n: int):\n    a, b = 0, 1\n    while n > 0:\n        a, b = b, a + b\n        n -= 1\n    return a\n", 90)
add("break", "def f(n: int):\n    out: List[int] = []\n    for i in range(n):\n        if i % 3 == 1:\n            continue\n        if i > 8:\n"
    "            break\n        out.append(i)\n    return out\n", 20)
add("enumerate-zip", "def f(a: List[int], b: List[str]):\n    out: List[str] = []\n    for i, (x, y) in enumerate(zip(a, b)):\n"
    "        out.append('{}:{}{}'.format(i, x, y))\n    return out\n", [1, 2, 3], ["a", "b"])
add("isinstance", "def f(x: Union[int, str]):\n    if isinstance(x, int):\n        return 1\n    return 2\n", "s")
add("tensor-device", "def f(x: Tensor):\n    d = x.device\n    return d.type, d.index, str(d), f'{d}', d == torch.zeros(1).device\n", torch.ones(2))
