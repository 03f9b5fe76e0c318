#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_corpus_torchscript.py OUTDIR [FILE.pt…]: writes seeds for fuzz_torchscript: small valid and invalid pieces of TorchScript, one for
each thing that the front end supports or refuses, and the sources of the given models, shortened."""
import os
import sys
import zipfile

GOOD = {
    "literals": """def f() -> Tuple[int, float, bool, str, complex]:
  a = -3
  b = -9223372036854775808
  c = [1., 1e+20, -0., .5, inf, -inf, nan]
  d = "a\\"b\\\\c\\n\\x41\\101"
  e = 1.5+2.j
  g = -2.j
  h = 3-infj
  i = {"a": 1, "b": 2}
  k = (1,)
  m = ()
  n = None
  o = torch.device("cuda:1")
  return (a, c[0], True, d, e)
""",
    "annotations": """def f(x: Optional[Tensor], y: Dict[str, List[int]], z: Tuple[()], u: Union[int, str], v: Future[int], w: RRef[int]) -> Any:
  a = annotate(List[Optional[Tensor]], [None, x])
  b = annotate(Dict[str, int], {})
  c = uninitialized(Tensor)
  d = unchecked_cast(Tensor, x)
  e = torch._unwrap_optional(x)
  f : int = annotate(int, d)
  g : Final[int] = 3
  h = isinstance(u, int)
  i = isinstance(u, (int, str))
  j = annotate(List[List[float]], (d).tolist())
  return j
""",
    "control": """def f(x: Tensor, n: int, c: bool) -> Tensor:
  a = 0
  y = x
  if torch.gt(n, 3):
    y = torch.add(x, 1)
    b = 2
    z = 1
  else:
    if c:
      y = torch.mul(x, 2)
    else:
      pass
    z = 1.5
  for i in range(n):
    a0 = torch.add(a, i)
    a = a0
    for k in range(3):
      y = torch.add(y, k)
  w = True
  while w:
    a = torch.sub(a, 1)
    w = torch.gt(a, 0)
  for t in [1, 2]:
    a = t
  for p, q in torch.items({"a": 1}):
    a = q
  return y
""",
    "own_functions": """def f(x: Tensor, n: int) -> Tensor:
  a = torch.mul(2, x)
  b = torch.sub(2.5, torch.div(n, a))
  c = torch.lt(n, b)
  d = torch.floordiv(b, 2)
  e = torch._pair(n)
  g = torch._triple([n, 1, 2])
  h = ops.prim.shape(d)
  i = torch.add(1.j, x)
  k = torch.lt(1.j, x)
  return ops.prim.mT(d)
""",
    "classes": """class N(NamedTuple):
  a : Tensor
  b : Optional[int]
class E(Enum):
  RED = "red"
  BLUE = "blue"
class I(ModuleInterface):
  def go(self, x: Tensor) -> Tensor:
    pass
class P:
  v : int
  def __init__(self: __torch__.P,
    v: int) -> NoneType:
    self.v = v
    return None
  def __enter__(self: __torch__.P) -> int:
    return self.v
  def __exit__(self: __torch__.P, a: Any, b: Any, c: Any) -> NoneType:
    return None
class M(Module):
  __parameters__ = ["w", ]
  __buffers__ = []
  __forward_hooks__ = ["h", ]
  __forward_pre_hooks__ = ["g", ]
  __annotations__ = []
  __annotations__["0"] = __torch__.I
  w : Tensor
  e : __torch__.E
  n : Final[List[int]] = [1, 2]
  p : __torch__.torch.classes.xnnpack.LinearOpContext
  _packed_params : Tensor
  def forward(self: __torch__.M, x: Tensor, k: int=3, r: str="a") -> __torch__.N:
    t = __torch__.N(x, k)
    _0, _1, = t
    s = (t).a
    q = __torch__.P.__new__(__torch__.P)
    _2 = (q).__init__(4, )
    u = __torch__.P(5)
    with u as z:
      y = torch.add(x, z)
    with q:
      pass
    i = getattr(self, "0")
    y0 = (i).go(y, )
    _3 = __torch__.E.RED
    _4 = (self.e).value
    _5 = (self.e).name
    if torch.eq(self.e, __torch__.E.BLUE):
      self.w = y0
    else:
      pass
    c = (self.p).something(y0, )
    d = self.n
    _6 = (t)[0:1]
    _7 = (t)[-1]
    _8 = (self).helper(x, k=2)
    return __torch__.N(_8, k)
  def helper(self: __torch__.M, x: Tensor, k: int) -> Tensor:
    _0 = __torch__.free
    return _0(x, )
  def h(self: __torch__.M, i: Tuple[Tensor, int, str], o: __torch__.N) -> __torch__.N:
    return o
  def g(self: __torch__.M, i: Tuple[Tensor, int, str]) -> NoneType:
    return None
def free(x: Tensor) -> Tensor:
  return torch.relu(x)
""",
    "operators": """def f(x: Tensor, l: List[Tensor], s: str, n: number, o: Optional[int]) -> Tensor:
  a, b = torch.max(x, 1, True)
  c = torch.add(x, n, alpha=2)
  d = torch.conv2d(x, x, None, [1, 1], [0, 0], [1, 1])
  e = torch.view(x, (1, 2))
  g = torch.max_pool2d(x, 2)
  h = x[0]
  i = x[1:2]
  j = l[0]
  k = s[0]
  m = l[0:1]
  p = torch.format("{} {}", s, 3)
  q = ops.prim.NumToTensor(3)
  r = int(q)
  t = float(x)
  u = str(x)
  v = bool(x)
  w = torch.to(x, s)
  print(x, s)
  y = sorted([2, 1])
  z = torch.__isnot__(o, None)
  a0 = torch.append(l, x)
  b0 = ops.prim.RaiseException("no", "builtins.ValueError")
  c0 = CONSTANTS.c1
  d0 = -x
  e0 = x + x
  f0 = x - 1
  g0 = torch.sum(x, 1)
  h0 = torch.expand(x, [n, 1])
  return torch.empty(torch.size(x), dtype=6, layout=None, device=torch.device("cpu"))
""",
    "fork": """def f(x: Tensor) -> Tensor:
  y = torch.relu(x)
  def __forked_function0() -> Tensor:
    y = torch.neg(x)
    return y
  a = fork(__forked_function0)
  b = fork(__torch__.g, x)
  return torch.add(torch.wait(a), torch.add(torch.wait(b), y))
def g(x: Tensor) -> Tensor:
  return x
""",
    "old": """op_version_set = 1
import __torch__.other
class C(Module):
  __parameters__ = ["weight", ]
  weight : Tensor
  def forward(self: __torch__.C,
    x: Tensor) -> Tensor:
    _0 = torch.t(self.weight)
    return torch.matmul(x, _0)
""",
    "files": """def f(x: Tensor) -> Tensor:
  return __torch__.a.g(x, )
#: code/__torch__/a.py
def g(x: Tensor) -> Tensor:
  return __torch__.a.b.h(x, )
#: code/__torch__/a/b.py
def h(x: Tensor) -> Tensor:
  return torch.neg(x)
""",
    "root": """class S(Module):
  a : int
  def __setstate__(self: __torch__.S, state: Dict[str, int]) -> NoneType:
    self.a = state["a"]
    return None
class E(Enum):
  A = 1
  B = 2
class M(Module):
  a : Tensor
  l : List[int]
  d : Dict[str, List[int]]
  t : Tuple[int, str]
  s : __torch__.S
  i : __torch__.I
  o : Optional[List[str]]
  def forward(self: __torch__.M, x: Tensor) -> Tensor:
    return (self.i).go(x, )
  def __setstate__(self: __torch__.M, state: Any) -> NoneType:
    return None
class I(ModuleInterface):
  def go(self, x: Tensor) -> Tensor:
    pass
class J(Module):
  def go(self: __torch__.J, x: Tensor) -> Tensor:
    return torch.neg(x)
""",
    "hooked": """class M(Module):
  __forward_hooks__ = ["h", ]
  __forward_pre_hooks__ = ["g", "k", ]
  a : int
  l : List[List[int]]
  def forward(self: __torch__.M, x: Tensor) -> Tensor:
    return torch.add(x, self.a)
  def h(self: __torch__.M, i: Tuple[Tensor], o: Tensor) -> Tensor:
    return torch.neg(o)
  def g(self: __torch__.M, i: Tuple[Tensor]) -> Tuple[Tensor]:
    return (i[0],)
  def k(self: __torch__.M, i: Tuple[Tensor]) -> Tensor:
    return i[0]
""",
    "unions": """def f(x: Tensor, u: Union[int, str, Tensor], v: Union[int, NoneType], l: List[int], t: Tuple[int, str]) -> Union[int, str, Tensor]:
  a = __torch__.g(u, l, t, )
  if isinstance(u, int):
    b = unchecked_cast(int, u)
    return b
  c = torch.neg(x)
  if isinstance(u, str):
    d = unchecked_cast(str, u)
    if torch.eq(d, "a"):
      return d
    e = torch.len(d)
  else:
    return c
  return torch.add(c, e)
def g(u: Union[int, str, Tensor, float], l: list, t: tuple) -> NoneType:
  if isinstance(u, (int, float)):
    pass
  else:
    return None
def h(x: Tensor, n: int) -> Tensor:
  if torch.gt(n, 2):
    y = torch.add(x, 1)
    if torch.gt(n, 4):
      return y
    z = torch.mul(y, 2)
  else:
    z = x
  w = torch.neg(z)
  if torch.gt(n, 3):
    return w
  else:
    if torch.gt(n, 1):
      return torch.add(w, ops.prim.NumToTensor(n))
  for i in range(n):
    pass
  return z
def i(x: Tensor, n: int) -> Tensor:
  a = ops.prim.NumToTensor(torch.size(x, 0))
  b = int(a)
  c = torch.size(x, 1)
  d = ops.prim.NumToTensor(c)
  e = torch.add(d, CONSTANTS.c1)
  y = torch.view(x, [b, int(e), float(a), a, d])
  z = torch.mul(y, a, out=y)
  return torch.expand(z, 3)
def j(x: Tensor) -> Tuple[int, float]:
  return (torch.size(x, 0), 1, 2)
def k(x: Tensor) -> Tuple[Optional[int], float]:
  return (torch.size(x, 0), 1)
def m(c: bool) -> int:
  if c:
    return 1
def n(c: bool) -> int:
  if c:
    return 1
  return "a"
def o(c: bool):
  if c:
    return
  print(c)
""",
    "types": """class N(NamedTuple):
  a : int
class Linear(Module):
  _packed_params : Tensor
class M(Module):
  _packed_params : Tensor
  def f(self: __torch__.M, a: Layout, b: QScheme, c: Generator, d: list, e: tuple, g: Scalar, h: complex, i: None, j: Optional[None]) -> NoneType:
    k = (__torch__.Linear.__new__(__torch__.Linear))._packed_params
    l : List[__torch__.N] = []
    m : Union[int, None] = None
    n : Tuple[List[int], Dict[str, __torch__.N]] = ([1], {"a": __torch__.N(1)})
    o = [(1, None), (2, x)]
    return None
def g(c: bool, x: Optional[Tensor], y: Tuple[int, Optional[int]], z: List[int]) -> Any:
  if c:
    a = (1, None)
    b = None
    d = 1
    e = x
  else:
    a = (1, 2)
    b = 2
    d = 2.5
    e = None
  f = torch.sum(x, z)
  h = torch.add(torch.sum(x), torch.item(x))
  i : List[int] = y
  j = torch.full((2, 3), torch.item(x))
  k : float = annotate(float, torch.item(x))
  l : Device = "cpu"
  m = int(ops.prim.NumToTensor(torch.size(x, 0)))
  n = torch.dim(torch.conv2d(x, x))
  o = torch.__isnot__(b, None)
  p = torch.eq(y, y)
  return [a, b, e]
""",
    "interfaces": """class A(Module):
  def go(self: __torch__.A, x: int) -> int:
    return x
class B(Interface):
  def go(self, x: int) -> int:
    pass
def f(b: __torch__.B) -> int:
  a = __torch__.A.__new__(__torch__.A)
  c = __torch__.torch.classes._nnapi.Compilation.__new__(__torch__.torch.classes._nnapi.Compilation)
  if True:
    d = __torch__.q(a, )
  else:
    d = 1
  return (b).go(d, )
def q(b: __torch__.B) -> int:
  return (b).go(2, )
""",
}
# Bodies of functions, each with an error that the front end reports at its line.
BAD = [
    "return y", "return torch.nothing(x)", "return torch.add(x, )", "return torch.add(y=x)", "return torch.add(x, k=1, 2)", "a, b = x",
    "a, b, c = torch.max(x, 1)", "return (x).nothing()", "return x.nothing", "return __torch__.f(x, )", "return __torch__.f(x, 1, )",
    "return __torch__.f()", "return __torch__.f(y=x)", "return __torch__.nothing", "a = b : int", "a : Foo = 1", "a : List[int, int] = []",
    "a : Dict[int] = {}", "a : Optional[Optional[int]] = None", "a : int", "a : -1 = 2", "return CONSTANTS.c9", "return CONSTANTS.x",
    "return 9223372036854775808", "return 99999999999999999999", "return 1e999", "return \"abc", "return (1", "return )", "return [1, 2",
    "return @x", "if x:\n    return x\n  else:\n    return x", "for i in range(1, 2):\n    pass", "for i in 3:\n    pass",
    "while True:\n    return x", "with x:\n    pass", "with x as y:\n    pass", "return x\n  return x", "x.y = 1", "1 = x", "f(x) = 1",
    "return isinstance(x)", "return annotate(int)", "return unchecked_cast(x, x)", "return uninitialized()", "return getattr(x)",
    "return fork()", "return fork(x)", "return foo(x)", "return int()", "return (1, 2)[5]", "return (1, 2)[x]", "return (1, 2)[x:]",
    "return (1, 2)[::]", "return x(1)", "return torch.add(" * 300 + "x" + ")" * 300, "return " + "-" * 300 + "1", "return x" + ".a" * 300,
    "return x" + "[0]" * 300, "return 1" + "+1" * 300, "class C:\n    pass", "def g():\n    pass", "import x", "return ops.x", "return ops.a.b(x)",
    "return torch", "a = torch.add", "return (x).tolist()", "return annotate(List[Tensor], (x).tolist())", "if 1:\n    pass", "if None:\n    pass",
    "return {1: x, \"a\": 2}", "return [1, x, None]", "return {None: 1}", "return torch.dict(1)", "return 1 +", "return 0x10", "return 1jj",
    "return torch.device(\"nonsense\")", "return torch.wait(x)", "return torch.__isnot__(None, None)", "return torch.__is__(x, x)",
    "return print(x)", "return sorted(3)", "pass\n   pass", "pass\n pass", "\tpass", "return x # comment", "return 'a'", "return \"\\", "return \"\\x4\"",
    "a = x\n  a, a = a, a\n  return a", "return torch.view(x, 1, 2)", "return torch.stack((x, x))", "return torch.cat([x, None])",
]
BROKEN_FILES = [
    "", "\n\n", "class", "class C", "class C(", "class C(1):", "class C(Module)", "class C(Module):", "class C(Module): pass",
    "class C(Module):\n  3\n", "class C(Module):\n  a\n", "class C(Module):\n  a.b : int\n", "class C(Module):\n  a : \n", "def", "def f", "def f(",
    "def f(x", "def f(x:", "def f(x: int=", "def f(x) ->", "def f(x)", "def f(x):", "def f(x):\n", "def f(x):\nreturn x\n", "def f(1):\n  pass\n",
    "def f(x: Tensor=3):\n  return x\ndef g():\n  return __torch__.f()\n", "def f(x: int=__torch__.E.A):\n  return x\ndef g():\n  return __torch__.f()\n",
    "class N(NamedTuple):\n  a : __torch__.N\ndef f(n: __torch__.N):\n  pass\n", "class N(NamedTuple):\n  a = 3\ndef f(n: __torch__.N):\n  pass\n",
    "class E(Enum):\n  A = -[1, \"a\"]\n  B = [1, f()]\ndef f():\n  return __torch__.E.A\n", "class E(Enum):\n  A = __torch__.E.A\ndef f():\n  return __torch__.E.A\n", "class E(Enum):\n  pass\ndef f(e: __torch__.E):\n  return (e).value\n",
    "class E(Enum):\n  A : int\ndef f(e: __torch__.E):\n  return (e).value\n", "class C:\n  a : Foo\n  def f(self: __torch__.C):\n    return self.a\n",
    "class M(Module):\n  __forward_hooks__ = [3]\n  def forward(self: __torch__.M):\n    pass\n",
    "class C:\n  def f(self: __torch__.C):\n    return (self).f()\n", "def f():\n  return __torch__.g()\ndef g():\n  return __torch__.f()\n",
    "def a(x):\n  return x\n" + "".join(f"def {chr(98 + i)}(x):\n  _0 = __torch__.{chr(97 + i)}(x, )\n  return __torch__.{chr(97 + i)}(_0, )\n" for i in range(24)),
    "#: code/__torch__/a.py\n#: code/__torch__/a.py\ndef f():\n  return __torch__.a.b.c()\n", "def f():\n" + "".join(" " * (2 + i) + "if True:\n" for i in range(260)),
    "def f(" + ", ".join(f"a{i}: int" for i in range(70)) + "):\n  return __torch__.f(" + ", ".join("1" for _ in range(70)) + ")\n",
    "def f(x: Tensor) -> int:\n  return x\ndef g(x: Tensor) -> int:\n  return __torch__.f(x, )\n", "\x00", "def f():\n  return \x80\n", "x = 1", "(", "  def f():\n    pass\n",
]
LONGEST = 16000


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    seeds = dict(GOOD)
    for i, body in enumerate(BAD):
        seeds[f"bad_{i:02}"] = f"def f(x: Tensor) -> Any:\n  {body}\n"
    for i, text in enumerate(BROKEN_FILES):
        seeds[f"file_{i:02}"] = text
    for path in sys.argv[2:]:
        archive = zipfile.ZipFile(path)
        stem = os.path.basename(path).split(".")[0]
        for k, name in enumerate(n for n in archive.namelist() if "/code/" in n and n.endswith(".py")):
            text = archive.read(name).decode()
            if 200 < len(text) <= LONGEST:
                seeds[f"{stem}_{k}"] = text
    for name, text in seeds.items():
        with open(os.path.join(out, name), "wb") as f:
            f.write(text.encode("latin-1", "replace"))


if __name__ == "__main__":
    main()
