#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_optimize to corpus/optimize beside this file: the first byte (fuzz_optimize.c says what it chooses) and a model
of fuzz_program's or of the unit tests' data. Everything is made here, without PyTorch, and comes out the same every time."""
import os

import make_corpus_program as program
from make_corpus_flatbuffer import write

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "data", "flatbuffer")
# cpu, vulkan, metal, only converted; with passes left out, with samples, as a flatbuffer, in versions 5 to 8 of bytecode.
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


def text(value):
    return b"X" + len(value).to_bytes(4, "little") + value


def places(rows, strings):
    """The record of places in the sources, as PyTorch 1.13 writes it."""
    def number(n):
        return b"K" + bytes([n]) if n < 256 else b"M" + n.to_bytes(2, "little")
    lines = b"".join(b"(" + number(at) + b"((" + b"(" + b"".join(number(t) for t in tag) + b"t" + number(1) + number(2) + b"t" + number(0) +
                     number(9) + b"t" + number(handle) + b"t" for at, tag, handle in rows)
    return b"\x80\x02(" + text(b"FORMAT_WITH_STRING_TABLE") + b"(" + b"".join(map(text, strings)) + b"t(" + lines + b"tt."


def main():
    for i, (name, source) in enumerate(sorted(SOURCES.items())):
        for choice in (CHOICES[i], 16 + 3 * (i % 2)):  # with records of places
            write("optimize", f"{name}_{choice}", bytes([choice]) + (HEAD + source).encode())
    for i, rows in enumerate((((0, (0, 1), 5), (60, (1,), 6), (140, (0,), 7), (400, (1,), 300)), ((90, (0,), 1), (80, (0,), 2)), ())):
        write("optimize", f"places_{i}", bytes([16 + 3 * (i % 2)]) + places(rows, [b"    y = conv(x)\n", b"net.py"]))
    for i, (name, data) in enumerate(sorted((program.run_programs() | program.stop_programs()).items())):
        write("optimize", name, bytes([CHOICES[i % len(CHOICES)]]) + data)
    for i, name in enumerate(sorted(os.listdir(MODELS))):
        with open(os.path.join(MODELS, name), "rb") as file:
            data = file.read()
        if name.endswith(".fb.ptl"):
            for choice in (CHOICES[i % 3], CHOICES[3 + i % 7]):
                write("optimize", f"{name[:-7]}_{choice}", bytes([choice]) + data)


if __name__ == "__main__":
    main()
