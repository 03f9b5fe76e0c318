# SPDX-License-Identifier: BSD-2-Clause
"""Families of TorchScript archives: sources, classes and objects. Each family is a function that returns a file of about `size` bytes with as much
of one feature as possible."""
import struct
import zipfile

from make_corpus_archive import archive, attributes, glob, items, many, number, obj, text, whole
from families.pickles import get, put, repeat

HEAD = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"


def script(body, data=None, files=(), form=zipfile.ZIP_STORED, head=HEAD):
    data = data if data is not None else obj("__torch__", "M", attributes(training=b"\x89"))
    return archive([("m/data.pkl", whole(data)), ("m/constants.pkl", whole(b")")), ("m/version", b"3\n"),
                    ("m/code/__torch__.py", (head + body).encode()), *files], form)


def lines(size, make):
    return repeat(size, lambda i: make(i).encode()).decode()


FORWARD = "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"


def statements(size):
    return script(FORWARD + lines(size, lambda i: f"    x{i} = torch.relu(x)\n") + "    return x\n")


def chain(size):
    return script(FORWARD + "    x0 = x\n" + lines(size, lambda i: f"    x{i + 1} = torch.add(x{i}, x{i})\n") + "    return x\n")


def long_expression(size):
    return script(FORWARD + "    y = [x" + ", x" * (size // 3) + "]\n    return x\n")


def nested_expression(size):
    deep = "torch.neg(" * 100 + "x" + ")" * 100
    return script(FORWARD + lines(size, lambda i: f"    x{i} = {deep}\n") + "    return x\n")


def comments(size):
    return script(FORWARD + "    # nothing\n" * (size // 14) + "    return x\n")


def methods(size):
    return script(lines(size, lambda i: f"  def f{i}(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.relu(x)\n") + FORWARD + "    return x\n")


def calls(size):
    """Methods that each call the method before twice, so each inlined method is twice as long as the method before."""
    return script("  def f0(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.relu(x)\n" +
                  lines(size, lambda i: f"  def f{i + 1}(self: __torch__.M, x: Tensor) -> Tensor:\n    return (self).f{i}((self).f{i}(x, ), )\n")[:-1] +
                  "\n" + FORWARD + "    return x\n")


def calls_of_one(size):
    """One long method, called repeatedly."""
    return script("  def f(self: __torch__.M, x: Tensor) -> Tensor:\n" + "    x = torch.relu(x)\n" * (size // 46) + "    return x\n" + FORWARD +
                  "    x = (self).f(x, )\n" * (size // 46) + "    return x\n")


def names_in_branches(size):
    """Many names are assigned in many ifs, so each name becomes an output of each if."""
    n = max(int((size / 2) ** 0.5) // 6, 2)
    setting = "".join(f"      x{i} = x\n" for i in range(n))
    start = "".join(f"    x{i} = x\n" for i in range(n))
    one = f"    if bool(x):\n{setting}    else:\n      pass\n"
    return script(FORWARD + start + one * max((size - len(start)) // len(one), 1) + "    return x\n")


def nested_ifs(size):
    depth = 60
    one = "".join("  " * d + "    if bool(x):\n" for d in range(depth)) + "  " * depth + "    y = 1\n"
    one += "".join("  " * d + "    else:\n" + "  " * d + "      y = 2\n" for d in reversed(range(depth)))
    return script(FORWARD + one * max(size // len(one), 1) + "    return x\n")


def nested_loops(size):
    depth = 60
    one = "".join("  " * d + f"    for i{d} in range(torch.dim(x)):\n" for d in range(depth)) + "  " * depth + "    x = torch.relu(x)\n"
    return script(FORWARD + one * max(size // len(one), 1) + "    return x\n")


def unrolled(size):
    """Nested loops with few iterations, which a compiler may unroll."""
    one = "".join("  " * d + f"    for i{d} in range(8):\n" for d in range(10)) + "  " * 10 + "    x = torch.relu(x)\n"
    return script(FORWARD + one * max(size // len(one), 1) + "    return x\n")


def long_loop(size):
    return script(FORWARD + ("    for i in range(1000000000):\n      x = torch.relu(x)\n") * max(size // 58, 1) + "    return x\n")


def types_that_double(size):
    """Each name is a tuple that contains the previous name's tuple twice."""
    return script(FORWARD + "    x0 = (x, x)\n" + lines(min(size, 4000), lambda i: f"    x{i + 1} = (x{i}, x{i})\n") + "    return x\n")


def lists_that_double(size):
    return script(FORWARD + "    x0 = [1, 1]\n" + lines(size, lambda i: f"    x{i + 1} = torch.add(x{i}, x{i})\n") + "    return x\n")


def strings_that_double(size):
    return script(FORWARD + "    x0 = \"0123456789abcdef\"\n" + lines(size, lambda i: f"    x{i + 1} = torch.add(x{i}, x{i})\n") + "    return x\n")


def constant_tensors(size):
    """Tensors of a million ones, in expressions that a compiler may fold."""
    return script(FORWARD + lines(size, lambda i: f"    x{i} = torch.ones([1000, 1000])\n    y{i} = torch.mm(x{i}, x{i})\n") + "    return x\n")


def classes(size):
    text_ = "".join(f"class N{i}(Module):\n  __parameters__ = []\n  __buffers__ = []\n  a : int\n  def f(self: __torch__.N{i}, x: Tensor) -> Tensor:\n"
                    f"    return torch.relu(x)\n" for i in range(max(size // 170, 1)))
    return script(FORWARD + "    return x\n" + text_)


def modules(size):
    n = max(size // 110, 1)
    head = HEAD + "".join(f"  a{i} : __torch__.N\n" for i in range(n))
    state = b"}(" + text("training") + b"\x89" + b"".join(text(f"a{i}") + obj("__torch__", "N", attributes(training=b"\x89")) for i in range(n)) + b"u"
    child = "class N(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n  def forward(self: __torch__.N, x: Tensor) -> Tensor:\n    return x\n"
    return script(FORWARD + "".join(f"    x = (self.a{i}).forward(x, )\n" for i in range(n)) + "    return x\n" + child, obj("__torch__", "M", state), head=head)


def attributes_of_class(size):
    n = max(size // 30, 1)
    head = HEAD + "".join(f"  a{i} : int\n" for i in range(n))
    state = b"}(" + text("training") + b"\x89" + b"".join(text(f"a{i}") + number(1) for i in range(n)) + b"u"
    return script(FORWARD + "    return x\n", obj("__torch__", "M", state), head=head)


def objects_of_wide_class(size):
    """Objects that share one state, of a class with many attributes."""
    n = max(size // 3 // 14, 1)
    child = "class N(Module):\n  __parameters__ = []\n  __buffers__ = []\n" + "".join(f"  a{i} : int\n" for i in range(n)) + \
            "  def forward(self: __torch__.N, x: Tensor) -> Tensor:\n    return x\n"
    state = put(9, b"}(" + b"".join(text(f"a{i}") + b"K\x01" for i in range(n)) + b"u")
    first = glob("__torch__", "N") + b"q\x01)\x81" + state + b"b"
    data = obj("__torch__", "M", attributes(training=b"\x89", a=items(first + (b"h\x01)\x81" + get(9) + b"b") * n)))
    return script(FORWARD + "    return x\n" + child, data, head=HEAD + "  a : List[__torch__.N]\n")


def enum_members(size):
    """An enum of many members, and references to the last of them in data.pkl."""
    n = max(size // 4 // 12, 2)
    state = put(3, glob("__torch__", "E")) + b"J" + struct.pack("<i", n - 1) + b"\x85R"
    data = obj("__torch__", "M", attributes(training=b"\x89", a=items(state + (get(3) + b"J" + struct.pack("<i", n - 1) + b"\x85R") * (size // 2 // 12))))
    return script(FORWARD + "    return x\nclass E(Enum):\n" + "".join(f"  m{i} = {i}\n" for i in range(n)), data,
                  head=HEAD + "  a : List[__torch__.E]\n")


def enum_names(size):
    """An enum of many members, and references to the last of them in the sources."""
    n = max(size // 2 // 12, 2)
    return script(FORWARD + f"    y = __torch__.E.m{n - 1}\n" * (size // 2 // 30) + "    return x\nclass E(Enum):\n" +
                  "".join(f"  m{i} = {i}\n" for i in range(n)))


def last_attribute(size):
    """The last of many attributes is read and written, repeatedly."""
    n = max(size // 3 // 30, 1)
    head = HEAD + "".join(f"  a{i} : int\n" for i in range(n))
    state = b"}(" + text("training") + b"\x89" + b"".join(text(f"a{i}") + number(1) for i in range(n)) + b"u"
    return script(FORWARD + f"    self.a{n - 1} = torch.add(self.a{n - 1}, 1)\n" * (size // 3 // 40) + "    return x\n", obj("__torch__", "M", state), head=head)


def last_field(size):
    """The last of the fields of a named tuple is read, repeatedly."""
    n = max(min(size // 2 // 12, 4000), 1)
    tuples = "class T(NamedTuple):\n" + "".join(f"  f{i} : int\n" for i in range(n))
    return script(f"  def forward(self: __torch__.M,\n    t: __torch__.T) -> int:\n" + f"    x = t.f{n - 1}\n" * (size // 2 // 14) + "    return x\n" + tuples)


def last_method(size):
    """The last of many methods is called, repeatedly."""
    n = max(size // 2 // 60, 1)
    return script("".join(f"  def f{i}(self: __torch__.M, x: Tensor) -> Tensor:\n    return x\n" for i in range(n)) + FORWARD +
                  f"    x = (self).f{n - 1}(x, )\n" * (size // 2 // 26) + "    return x\n")


def files(size):
    n = max(size // 400, 1)
    body = "class N(Module):\n  __parameters__ = []\n  __buffers__ = []\n  def forward(self, x: Tensor) -> Tensor:\n    return x\n"
    return script(FORWARD + "    return x\n", files=[(f"m/code/__torch__/a{i}.py", body.encode()) for i in range(n)])


def chained_files(size):
    """A chain of files: each one calls a function of the next file."""
    n = max(size // 300, 1)
    made = [(f"m/code/__torch__/a{i}.py", f"def f(x: Tensor) -> Tensor:\n  _0 = __torch__.a{i + 1}.f\n  return _0(x, )\n".encode()) for i in range(n)]
    made.append((f"m/code/__torch__/a{n}.py", b"def f(x: Tensor) -> Tensor:\n  return x\n"))
    return script(FORWARD + "    _0 = __torch__.a0.f\n    return _0(x, )\n", files=made)


def deflated_source(size):
    return script(FORWARD + "    x = torch.relu(x)\n" * min(size * 20, 5000000) + "    return x\n", form=zipfile.ZIP_DEFLATED)


def long_names(size):
    name = "n" * (size // 4)
    return script(FORWARD + f"    {name} = x\n" + f"    x = torch.relu(x)\n" * (size // 60) + f"    return {name}\n")


def long_types(size):
    kind = "Tuple[" + ", ".join(["int"] * 200) + "]"
    return script(FORWARD + lines(size, lambda i: f"    x{i} = annotate(Optional[{kind}], None)\n") + "    return x\n")


def setstate_of_script(size):
    """A __setstate__ that sums large tensors without end."""
    child = ("class N(Module):\n  __parameters__ = []\n  __buffers__ = []\n  a : Tensor\n  def __getstate__(self: __torch__.N) -> int:\n    return 1\n"
             "  def __setstate__(self: __torch__.N,\n    state: int) -> NoneType:\n    y = torch.ones([512, 512])\n"
             "    for i in range(1000000000):\n      y = torch.mm(y, y)\n    self.a = y\n    return None\n")
    padding = "    # padding\n" * (size // 14)
    data = obj("__torch__", "M", attributes(training=b"\x89", a=obj("__torch__", "N", number(1))))
    return script(FORWARD + padding + "    return x\n" + child, data, head=HEAD + "  a : __torch__.N\n")


def unused_functions(size):
    return script(FORWARD + "    return x\n" + lines(size, lambda i: f"def f{i}(x: Tensor) -> Tensor:\n  return torch.relu(x)\n"))


def dicts(size):
    n = max(size // 12, 1)
    return script(FORWARD + "    y = {" + ", ".join(f"\"k{i}\": {i}" for i in range(n)) + "}\n    return x\n")


def written_in_place(size):
    return script(FORWARD + lines(size, lambda i: f"    x{i} = torch.slice(x, 0, 0, {i}, 1)\n    y{i} = torch.add_(x{i}, 1)\n") + "    return x\n")


def lists_written(size):
    return script(FORWARD + "    l = annotate(List[Tensor], [])\n" + lines(size, lambda i: f"    _{i} = torch.append(l, x)\n    y{i} = torch.cat(l)\n") + "    return x\n")


FAMILIES = {f"script_{f.__name__}": f for f in (
    statements, chain, long_expression, nested_expression, comments, methods, calls, calls_of_one, names_in_branches, nested_ifs, nested_loops, unrolled,
    long_loop, types_that_double, lists_that_double, strings_that_double, constant_tensors, classes, modules, attributes_of_class, objects_of_wide_class,
    enum_members, enum_names, last_attribute, last_field, last_method, files, chained_files, deflated_source, long_names, long_types, setstate_of_script, unused_functions, dicts, written_in_place, lists_written)}
