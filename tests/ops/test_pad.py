# SPDX-License-Identifier: BSD-2-Clause
# Padding against PyTorch. CASES: (name, source of a scripted function f, builder of its arguments).
import torch

CASES = []


def prelude(layout, rank):
    """Returns the line that changes the layout of x, because inputs are contiguous."""
    return {
        "contiguous": "",
        "channels_last": f"    x = x.contiguous(memory_format=torch.channels_last{'_3d' if rank == 5 else ''})\n",
        "transposed": "    x = x.transpose(-1, -2).contiguous().transpose(-1, -2)\n",
        "sliced": "    x = torch.cat([x, x], -1)[..., ::2]\n",
    }[layout]


def tensor(*sizes):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(0)) * 9


SIZES = [(5,), (4, 6), (3, 4, 6), (2, 4, 5, 6), (2, 3, 4, 5, 6)]


def layouts(sizes):
    return ["contiguous", "sliced"] + (["transposed"] if len(sizes) > 1 else []) + (["channels_last"] if len(sizes) > 3 else [])


def add(name, expression, sizes, dtype=None):
    convert = f"    x = x.to({dtype})\n" if dtype else ""
    for layout in layouts(sizes):
        before = convert + prelude(layout, len(sizes))
        CASES.append((f"{name}-{sizes}-{layout}", f"def f(x: Tensor) -> Tensor:\n{before}    return {expression}\n",
                      lambda sizes=sizes: (tensor(*sizes),)))


PADS = [[1, 2], [0, 0], [-1, 1], [-1, -1], [1, 1, 2, 0], [0, 0, 1, -1], [-1, 0, 0, -1], [1, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0, 1, 1], []]
for sizes in SIZES:
    for pads in PADS:
        if len(pads) <= 2 * len(sizes):
            add(f"constant_pad_nd-{pads}", f"torch.constant_pad_nd(x, torch.jit.annotate(List[int], {pads}), 2.5)", sizes)
for dtype in (torch.float64, torch.int8, torch.int32, torch.int64, torch.bool, torch.bfloat16, torch.complex64):
    add(f"constant_pad_nd-{dtype}", "torch.constant_pad_nd(x, [1, 2, 0, 1], 3)", (2, 4, 5, 6), dtype)
for sizes in SIZES[1:]:
    for pads in ([1, 2], [2, 0, 1, 3], [1, 1, 2, 0, 0, 1], [-1, 2]):
        count = len(pads) // 2
        for mode in ("reflect", "replicate", "circular"):
            if len(sizes) == count + 2 or (len(sizes) == count + 1 and mode != "circular"):
                if mode != "circular" or min(pads) >= 0:
                    add(f"pad-{mode}-{pads}", f"torch.nn.functional.pad(x, {pads}, '{mode}')", sizes)
        if len(sizes) in (count + 1, count + 2):
            add(f"reflection_pad-{pads}", f"torch.ops.aten.reflection_pad{count}d(x, {pads})", sizes)
            add(f"replication_pad-{pads}", f"torch.ops.aten.replication_pad{count}d(x, {pads})", sizes)

# These rows are so long that the unchanged part is copied as a block.
for mode in ("reflect", "replicate", "circular"):
    for pads, sizes in (([3, 5], (2, 3, 30)), ([-4, 2], (2, 3, 30)), ([1, -9], (2, 3, 30)), ([3, 0, 2, 1], (2, 3, 7, 19)), ([9, 9, -1, -1], (2, 3, 7, 19))):
        if mode != "circular" or min(pads) >= 0:
            add(f"pad-longer-{mode}-{pads}", f"torch.nn.functional.pad(x, {pads}, '{mode}')", sizes)
