#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_optimize to corpus/optimize next to this file: a byte of choices (see fuzz_optimize.c) and a model from the seeds of
fuzz_program or from the unit tests' data. Everything is made here, without PyTorch, and is the same every time."""
import os

import make_corpus_program as program
from make_corpus_flatbuffer import write

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "data", "flatbuffer")
# Choices for cpu, vulkan, metal and for conversion alone; with passes omitted, with samples, as a flatbuffer, in versions 5 to 8 of bytecode.
CHOICES = (0, 1, 2, 3, 4 + 64, 5 + 32, 24 + 128, 24 + 32, 1 + 192, 6 + 128)


HEAD = """class M(Module):
  w : Tensor
  n : int
  training : bool
  def forward(self: __torch__.M,
    x: Tensor) -> """
SOURCES = {
    "source_layers": """Tensor:
    w = self.w
    a = torch.conv2d(x, w, None, [1, 1], [0, 0], [1, 1], 1)
    b = torch.batch_norm(a, (self).row(1, ), (self).row(2, ), (self).row(0, ), (self).row(1, ), False, 0.1, 1e-05, True)
    c = torch.relu(torch.add(b, a))
    d = torch.add(torch.matmul(torch.permute(c, [0, 2, 3, 1]), torch.squeeze(torch.squeeze(w, 3), 2)), 1)
    return torch.hardtanh(torch.dropout(d, 0.5, self.training), 0., 6.)
  def row(self: __torch__.M,
    i: int) -> Tensor:
    return torch.abs(torch.select(torch.squeeze(torch.squeeze(self.w, 3), 2), 0, i))
""",
    "source_loops": """Tuple[Tensor, List[int]]:
    y = x
    out = annotate(List[int], [])
    for i in range(self.n):
      y0 = torch.mul(y, i)
      if torch.gt(i, 1):
        y1 = torch.add_(y0, 1)
      else:
        y1 = y0
      _0 = torch.append(out, torch.len(torch.size(y1)))
      y = y1
    return (y, out)
""",
    "source_writes": """Dict[str, Tensor]:
    y = torch.add(x, 1)
    z = torch.slice(y, 1, 0, 2)
    z0 = torch.copy_(z, torch.neg(z))
    self.n = torch.add(self.n, 1)
    if torch.eq(self.n, 9):
      ops.prim.RaiseException("nine")
    else:
      pass
    u = torch.unsqueeze(torch.select(y, 1, 0), 1)
    v = torch.format("{} {}", self.n, torch.dim(u))
    return {"y": y, "u": torch.conv1d(torch.flatten(torch.cat([u, z0], 1), 2), torch.squeeze(self.w, 3)), "len": torch.tensor(torch.len(v))}
""",
}

# Choices for NNAPI: its layouts of images, and the levels 30 and 27.
NNAPI = (7, 7 + 8, 7 + 16, 7 + 24 + 32)
CONV = "torch.conv2d({}, self.w, None, [1, 1], [0, 0], [1, 1], 1)"
NNAPI_SOURCES = {
    "nnapi_images": """Tensor:
    a = torch.relu(""" + CONV.format("x") + """)
    b = torch.max_pool2d(a, [2, 2], [2, 2], [0, 0], [1, 1], False)
    c = torch.upsample_nearest2d(b, [8, 8], None)
    d = torch.avg_pool2d(torch.hardtanh(torch.add(c, a), 0., 6.), [2, 2], [2, 2], [0, 0], False, True, None)
    e = torch.constant_pad_nd(torch.sigmoid(""" + CONV.format("d") + """), [0, 1, 1, 0], 0)
    f = torch.adaptive_avg_pool2d(torch.mul(e, 2), [1, 1])
    return torch.softmax(torch.flatten(torch.leaky_relu(f, 0.1), 1), 1, None)
""",
    "nnapi_shapes": """Tuple[Tensor, Tensor]:
    a = """ + CONV.format("x") + """
    b = torch.size(a, 0)
    c = torch.size(a)[2:]
    d = torch.reshape(a, [b, -1, 4, 2])
    e = torch.permute(torch.slice(d, 1, 1, -1, 2), [0, 2, 3, 1])
    f, g, h, = torch.chunk(""" + CONV.format("a") + """, 3, 1)
    i = torch.transpose(torch.view(torch.cat([f, h, g, a], 1), [1, 2, 3, 8, 8]), 1, 2)
    j = torch.view(torch.contiguous(i), [1, 6, 8, 8])
    return (torch.mean(e, [2, 3], True), torch.unsqueeze(torch.mean(j, [2, 3]), 0))
""",
    "nnapi_lists": """Dict[str, Tensor]:
    out = annotate(List[Tensor], [])
    kept = annotate(Dict[str, Tensor], {})
    y = x
    for i in range(self.n):
      y0 = torch.relu(""" + CONV.format("y") + """)
      _0 = torch.append(out, y0)
      y = torch.cat(out, 1)
      y = torch.slice(y, 1, 0, 3)
      _1 = torch._set_item(kept, "last", y)
    _2 = torch._set_item(kept, "sum", torch.add(kept["last"], torch.select(torch.stack(out, 0), 0, 0), alpha=2))
    return kept
""",
    "nnapi_bytes": """Tensor:
    a = torch.quantize_per_tensor(x, 0.0625, 128, 13)
    b = torch.max_pool2d(torch.relu(a), [2, 2], [2, 2], [0, 0], [1, 1], False)
    c = ops.quantized.add(b, torch.mean(b, [2, 3], True), 0.125, 3)
    d = torch.dequantize(torch.cat([c, b], 1))
    return torch.add(torch.slice(d, 1, 0, 3), """ + CONV.format("torch.dequantize(b)") + """)
""",
}


def text(value):
    return b"X" + len(value).to_bytes(4, "little") + value


def places(rows, strings):
    """Returns the record of places in the sources, as PyTorch 1.13 writes it."""
    def number(n):
        return b"K" + bytes([n]) if n < 256 else b"M" + n.to_bytes(2, "little")
    lines = b"".join(b"(" + number(at) + b"((" + b"(" + b"".join(number(t) for t in tag) + b"t" + number(1) + number(2) + b"t" + number(0) +
                     number(9) + b"t" + number(handle) + b"t" for at, tag, handle in rows)
    return b"\x80\x02(" + text(b"FORMAT_WITH_STRING_TABLE") + b"(" + b"".join(map(text, strings)) + b"t(" + lines + b"tt."


def main():
    for i, (name, source) in enumerate(sorted(SOURCES.items())):
        for choice in (CHOICES[i], 16 + 3 * (i % 2)):  # the second choice adds records of places
            write("optimize", f"{name}_{choice}", bytes([choice]) + (HEAD + source).encode())
    for name, source in sorted(NNAPI_SOURCES.items()):
        for choice in NNAPI:
            write("optimize", f"{name}_{choice}", bytes([choice]) + (HEAD + source).encode())
    for i, rows in enumerate((((0, (0, 1), 5), (60, (1,), 6), (140, (0,), 7), (400, (1,), 300)), ((90, (0,), 1), (80, (0,), 2)), ())):
        write("optimize", f"places_{i}", bytes([16 + 3 * (i % 2)]) + places(rows, [b"    y = conv(x)\n", b"net.py"]))
    for i, (name, data) in enumerate(sorted((program.run_programs() | program.stop_programs()).items())):
        write("optimize", name, bytes([CHOICES[i % len(CHOICES)]]) + data)
    for i, name in enumerate(sorted(os.listdir(MODELS))):
        with open(os.path.join(MODELS, name), "rb") as file:
            data = file.read()
        if name.endswith(".fb.ptl"):
            for choice in (CHOICES[i % 3], CHOICES[3 + i % 7], NNAPI[i % 4]):
                write("optimize", f"{name[:-7]}_{choice}", bytes([choice]) + data)


if __name__ == "__main__":
    main()
