#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_flatbuffer, and the first seeds of fuzz_program, to corpus/ next to this file. Everything is made here, without PyTorch,
and is the same every time. Models that PyTorch wrote, in tests/unit/data/flatbuffer, are further seeds of fuzz_flatbuffer and fuzz_program."""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(kind, name, data):
    folder = CORPUS / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


# ---- flatbuffers, written front to back: a table comes before the objects that it refers to

class Buffer:
    def __init__(self):
        self.data, self.late = bytearray(8), {}

    def align(self, n=8):
        self.data += bytes(-len(self.data) % n)

    def put(self, obj):
        """Writes an object and returns its position. The object is a Table, bytes (a struct), a str, or a list of numbers (u32), bytes or
        objects."""
        self.align()
        if isinstance(obj, Table):
            return obj.put(self)
        if isinstance(obj, Once):
            if obj.buffer is not self:
                obj.buffer, obj.at = self, self.put(obj.obj)
            return obj.at
        at = len(self.data)
        if isinstance(obj, (Struct, Raw)):
            self.data += obj.data
        elif isinstance(obj, (str, bytes)):
            raw = obj.encode() if isinstance(obj, str) else obj
            self.data += struct.pack("<I", len(raw)) + raw + b"\0"
        elif isinstance(obj, Numbers):
            self.data += struct.pack("<I", len(obj.items)) + b"".join(struct.pack("<" + obj.form, i) for i in obj.items)
        else:
            self.data += struct.pack("<I", len(obj)) + bytes(4 * len(obj))
            for i, item in enumerate(obj):
                self.refer(at + 4 + 4 * i, item)
        return at

    def refer(self, place, obj):
        if isinstance(obj, Late):
            self.late.setdefault(obj, []).append(place)
        else:
            self.data[place:place + 4] = struct.pack("<I", self.put(obj) - place)

    def finish(self, root):
        self.data[0:4] = struct.pack("<I", self.put(root))
        while self.late:
            shared, places = self.late.popitem()
            at = self.put(shared.obj)
            for place in places:
                self.data[place:place + 4] = struct.pack("<I", at - place)
        self.data[4:8] = b"PTMF"
        return bytes(self.data)


class Struct:
    def __init__(self, form, *values):
        self.data = struct.pack("<" + form, *values)


class Numbers:
    def __init__(self, form, items):
        self.form, self.items = form, items


class Raw:
    """Bytes that are written as they are."""

    def __init__(self, data):
        self.data = data


class Once:
    """An object that is written once, although lists may refer to it several times."""

    def __init__(self, obj):
        self.obj, self.buffer, self.at = obj, None, 0


class Late:
    """An object that is written once, after everything that refers to it."""

    def __init__(self, obj):
        self.obj = obj


class Table:
    """Fields by slot: (format, number), or an object that the field refers to."""

    def __init__(self, *fields):
        self.fields = fields

    def put(self, buffer):
        vtable, table, references = [], bytearray(4), []
        for field in self.fields:
            if field is None:
                vtable.append(0)
                continue
            reference = not isinstance(field, tuple)
            raw = bytes(4) if reference else struct.pack("<" + field[0], field[1])
            table += bytes(-len(table) % len(raw))
            vtable.append(len(table))
            if reference:
                references.append((len(table), field))
            table += raw
        start = len(buffer.data)
        buffer.data += struct.pack("<HH", 4 + 2 * len(vtable), len(table)) + b"".join(struct.pack("<H", v) for v in vtable)
        buffer.align()
        at = len(buffer.data)
        table[0:4] = struct.pack("<i", at - start)
        buffer.data += table
        for place, field in references:
            buffer.refer(at + place, field)
        return at


def u32(n):
    return ("I", n)


def i32(n):
    return ("i", n)


def i8(n):
    return ("B", n)


def ivalue(kind, obj):
    return Table(i8(kind), obj)


NONE = Table(i8(0))


def integer(n):
    return ivalue(1, Struct("q", n))


def double(x):
    return ivalue(3, Struct("d", x))


def string(s):
    return ivalue(6, Table(s))


def indexes(*items):
    return Numbers("I", items)


def tensor(storage, dtype, offset, sizes, strides, quantized=None):
    return Table(u32(storage), i8(dtype), i32(offset), Numbers("i", sizes), Numbers("i", strides), i8(0), quantized)


def instruction(op, x=0, n=0):
    return struct.pack("<BxHi", op, n, x)


def function(name, instructions, operators=(), constants=(), types=(), registers=4, arguments=None, returns=()):
    code = [struct.unpack("<q", i)[0] for i in instructions]
    schema = None if arguments is None else Table([Table(n, t, u32(d)) for n, t, d in arguments], [Table("", t, u32(0)) for t in returns])
    return ivalue(16, Table(name, Numbers("q", code), [Table(n, o, i32(k)) for n, o, k in operators], indexes(*constants), list(types),
                            i32(registers), schema, Table(Numbers("q", [1, -1])), u32(0)))


def module(ivalues, root, types, storages=(), versions=(9, 3), mobile=0, extras=()):
    return Buffer().finish(Table(u32(versions[0]), [Table(n, c) for n, c in extras], indexes(), u32(root), list(ivalues), i32(len(storages)),
                                 [Table(s) for s in storages], list(types), [], indexes(), u32(versions[1]), u32(mobile)))


def net(*attributes):
    return Table("__torch__.Net", i8(1), list(attributes))


STATEFUL = Table("__torch__.S", i8(3), [])
NATIVE = Table("__torch__.torch.classes.xnnpack.LinearOpContext", i8(2), [])


def obj(kind, state=0, attributes=(), setstate=0):
    return ivalue(10, Table(u32(kind), u32(state), indexes(*attributes), u32(setstate)))


def with_value(*values, **keywords):
    """Returns a module with these values from index 1 on. The last value is the attribute of the root."""
    return module([NONE, *values, obj(0, 0, [len(values)])], len(values) + 1, [net("a"), STATEFUL, NATIVE], **keywords)


STORAGE = struct.pack("<8f", *range(8))
RET, STOREN, LOAD, MOVE, LOADC, OP, JF, JMP, LOOP, GET_ATTR, SET_ATTR, LIST_CONSTRUCT = 12, 4, 2, 3, 8, 0, 9, 10, 11, 21, 22, 26


def broken(w):
    """Writes seeds that each have one part that no version of PyTorch writes."""
    w("kind", with_value(ivalue(17, Table(u32(0)))))
    w("kind_none", with_value(Table(i8(1))))
    w("list_type", with_value(integer(1), ivalue(7, Table(indexes(1), "int"))))
    w("list_item", with_value(string("a"), ivalue(7, Table(indexes(1), "List[int]"))))
    w("list_text", with_value(integer(1), ivalue(7, Table(indexes(1), "List["))))
    w("dict_kind", with_value(string("k"), integer(1), ivalue(9, Table(indexes(1), indexes(2), "int"))))
    w("dict_later", with_value(string("k"), ivalue(9, Table(indexes(1), indexes(5), "Dict[str, int]"))))
    w("zero_name", with_value(integer(1), ivalue(7, Table(indexes(1), "List[int]\0"))))
    w("foreign_device", with_value(ivalue(14, Table("abacus"))))
    w("class_number", with_value(obj(9)))
    w("class_fields", with_value(obj(0, 0, [0, 0])))
    for name, table in (("class_name", Table("Net", i8(1), [])), ("class_kind", Table("__torch__.Net", i8(4), [])),
                        ("class_native", Table("__torch__.torch.classes.a.B", i8(1), []))):
        w(name, module([NONE, obj(0)], 1, [table]))
    w("class_slot", module([NONE, obj(0, 0, [0])], 1, [Table("__torch__.Net", i8(1), ["a\0b"])]))
    w("root", module([NONE], 0, []))
    w("mobile_more", with_value(integer(1), mobile=99))
    w("negative", with_value(ivalue(5, tensor(0, 6, 0, [-1], [1])), storages=[STORAGE]))
    w("fewer_strides", with_value(ivalue(5, tensor(0, 6, 0, [2, 2], [1])), storages=[STORAGE]))
    w("dtype", with_value(ivalue(5, tensor(0, 99, 0, [2], [1])), storages=[STORAGE]))
    w("scheme", with_value(ivalue(5, tensor(0, 13, 0, [2], [1], Table(i8(7)))), storages=[STORAGE]))
    w("unquantized", with_value(ivalue(5, tensor(0, 13, 0, [2], [1])), storages=[STORAGE]))
    w("float_channels", with_value(ivalue(5, tensor(0, 12, 0, [2, 2], [2, 1], Table(i8(3), None, None, tensor(0, 6, 0, [2], [1]),
                                                                                     tensor(0, 6, 0, [2], [1]), i32(0)))), storages=[STORAGE]))
    for name, keywords in (("opcode", {"instructions": [instruction(77)]}), ("given", {"operators": [("a::b", "", 5000)]}), ("registers", {"registers": -1}),
                           ("many_registers", {"registers": 2**31 - 1}), ("function_type", {"types": ["List["]}), ("constant_later", {"constants": [7]}),
                           ("arguments", {"arguments": [("x", "Optional[int]", 0), ("y", "int", 0)]}), ("argument_type", {"arguments": [("x", "[", 0)]}),
                           ("argument_later", {"arguments": [("x", "int", 9)]})):
        w("function_" + name, with_value(function("__torch__.Net.f", **({"instructions": [instruction(RET)]} | keywords)), NONE))
    bare = Table("__torch__.Net.f", Numbers("q", []), [], indexes(), [], i32(0))
    w("function_bare", with_value(ivalue(16, bare), NONE))
    w("function_none", with_value(ivalue(16, Table()), NONE))
    w("setstate_refused", with_value(function("__torch__.S.__setstate__", [instruction(RET)]), obj(1, 0, (), 1), ivalue(14, Table("abacus"))))
    plain = with_value(NONE)
    root = struct.unpack_from("<I", plain)[0]
    start = root - struct.unpack_from("<i", plain, root)[0]
    for name, at, form, value in (("root_beyond", 0, "I", 2**31), ("no_description", root, "i", 2**30), ("description_far", root, "i", -2**30),
                                  ("description_size", start, "H", 3), ("description_long", start, "H", 60000), ("table_long", start + 2, "H", 60000),
                                  ("field_outside", start + 4, "H", 9000)):
        data = bytearray(plain)
        struct.pack_into("<" + form, data, at, value)
        w(name, bytes(data))
    w("vector_long", with_value(ivalue(6, Table(Raw(struct.pack("<I", 2**30))))))
    w("overlap", with_value(*[Once(ivalue(12, Table(Numbers("d", [0.5] * 400))))] * 40))


def flatbuffers():
    def w(name, data):
        write("flatbuffer", name, data)

    w("none", with_value(NONE))
    w("numbers", with_value(integer(-5), double(0.5), ivalue(2, Struct("B", 1)), ivalue(4, Struct("dd", 1, 2)),
                            ivalue(8, Table(indexes(1, 2, 3, 4)))))
    w("string", with_value(string("text")))
    w("lists", with_value(ivalue(11, Table(Numbers("q", [1, 2]))), ivalue(12, Table(Numbers("d", [0.5]))), ivalue(13, Table(Numbers("B", [1, 0]))),
                          string("a"), ivalue(7, Table(indexes(4, 4), "List[str]")), ivalue(8, Table(indexes(1, 2, 3, 5)))))
    w("dict", with_value(string("k"), integer(1), ivalue(9, Table(indexes(1), indexes(2), "Dict[str, int]"))))
    w("dict_type", with_value(string("k"), integer(1), ivalue(9, Table(indexes(1), indexes(2), "Dict[int, int]"))))
    w("dict_uneven", with_value(string("k"), integer(1), ivalue(9, Table(indexes(1, 1), indexes(2), "Dict[str, int]"))))
    w("dict_unhashable", with_value(ivalue(8, Table(indexes())), ivalue(9, Table(indexes(1), indexes(1), "Dict[Any, Any]"))))
    w("device", with_value(ivalue(14, Table("cuda:1"))))
    w("enum", with_value(integer(1), ivalue(15, Table("__torch__.E", u32(1)))))
    w("tensor", with_value(ivalue(5, tensor(0, 6, 1, [2, 3], [3, 1])), storages=[STORAGE]))
    w("tensor_beyond", with_value(ivalue(5, tensor(0, 6, 3, [2, 3], [3, 1])), storages=[STORAGE]))
    w("tensor_storage", with_value(ivalue(5, tensor(1, 6, 0, [2], [1])), storages=[STORAGE]))
    w("tensor_rank", with_value(ivalue(5, tensor(0, 6, 0, [1] * 9, [1] * 9)), storages=[STORAGE]))
    w("tensor_huge", with_value(ivalue(5, tensor(0, 6, 0, [2**31 - 1] * 3, [0] * 3)), storages=[STORAGE]))
    w("tensor_empty", with_value(ivalue(5, tensor(0, 6, 0, [0], [1])), storages=[b""]))
    w("quantized", with_value(ivalue(5, tensor(0, 13, 0, [2, 2], [2, 1], Table(i8(0), ("d", 0.5), i32(3)))), storages=[STORAGE]))
    scales, zeros = tensor(1, 7, 0, [2], [1]), tensor(2, 4, 0, [2], [1])
    for name, axis, second in (("channels", 0, zeros), ("channels_axis", 2, zeros), ("channels_missing", 0, None),
                               ("channels_short", 0, tensor(2, 4, 0, [1], [1]))):
        w(name, with_value(ivalue(5, tensor(0, 12, 0, [2, 2], [2, 1], Table(i8(1), None, None, scales, second, i32(axis)))),
                           storages=[STORAGE, struct.pack("<2d", 0.5, 0.25), struct.pack("<2q", 0, 1)]))
    w("later", with_value(ivalue(8, Table(indexes(2)))))
    w("itself", with_value(ivalue(8, Table(indexes(1)))))
    deep = [ivalue(8, Table(indexes(i, i))) for i in range(30)]
    w("doubling", with_value(*deep))
    w("native", with_value(integer(1), obj(2, 1)))
    setstate = function("__torch__.S.__setstate__", [instruction(STOREN, 1, 2), instruction(MOVE, 1), instruction(MOVE, 2),
                                                     instruction(SET_ATTR, 0), instruction(LOADC, 0), instruction(RET)], constants=[0])
    w("setstate", with_value(setstate, integer(7), obj(1, 2, (), 1)))
    w("setstate_other", with_value(integer(7), obj(1, 1, (), 1)))
    forward = function("__torch__.Net.forward", [instruction(STOREN, 1, 2), instruction(MOVE, 2), instruction(MOVE, 1), instruction(GET_ATTR, 0),
                                                 instruction(OP, 0), instruction(RET)], [("aten::mul", "Tensor", 2)], [], ["List[int]"], 2,
                       [("self", "__torch__.Net", 0), ("x", "Tensor", 0)], ["Tensor"])
    whole = with_value(forward, ivalue(5, tensor(0, 6, 0, [1], [1])), storages=[STORAGE], extras=[("note", "text")])
    w("forward", whole)
    w("function_as_value", with_value(forward))
    w("mobile_size", with_value(integer(1), mobile=2))
    for name, versions in (("version3", (3, 3)), ("version10", (10, 3)), ("operators0", (9, 0)), ("operators11", (9, 11))):
        w(name, with_value(NONE, versions=versions))
    broken(w)
    w("cut", whole[:len(whole) // 2])
    w("head", whole[:8])
    w("empty", b"")
    write("program", "forward", whole)
    loop = function("__torch__.Net.forward", [
        instruction(STOREN, 1, 2), instruction(LOADC, 0), instruction(LOADC, 1), instruction(LOADC, 2), instruction(LOAD, 2),
        instruction(LOOP, 8, 3), instruction(STOREN, 3, 2), instruction(LOADC, 2), instruction(LOAD, 4), instruction(LOAD, 2),
        instruction(LOADC, 3), instruction(OP, 0), instruction(JMP, -7), instruction(STOREN, 4, 1), instruction(MOVE, 4), instruction(RET)],
        [("aten::add", "Tensor", 3)], [1, 2, 3, 4], [], 6, [("self", "__torch__.Net", 0), ("x", "Tensor", 0)], ["Tensor"])
    write("program", "loop", with_value(integer(0), integer(2**62), ivalue(2, Struct("B", 1)), integer(1), loop, NONE))
    # This program makes a string of a gigabyte from constants. A load must not compute it.
    widen = function("__torch__.Net.forward", [
        instruction(STOREN, 1, 2), instruction(LOADC, 0), instruction(LOADC, 1), instruction(LOADC, 2), instruction(OP, 0),
        instruction(STOREN, 3, 1), instruction(MOVE, 3), instruction(RET)],
        [("aten::ljust", "", 3)], [1, 2, 3], [], 4, [("self", "__torch__.Net", 0), ("x", "Tensor", 0)], ["str"])
    write("program", "widen", with_value(string("a"), integer(10**9 - 1), string(" "), widen, NONE))
    # A method that runs while loading makes a tensor of gigabytes.
    grow = function("__torch__.S.__setstate__", [
        instruction(STOREN, 1, 2), instruction(MOVE, 1), instruction(LOADC, 0), instruction(LOADC, 0), instruction(LIST_CONSTRUCT, 0, 2),
        instruction(LOADC, 1), instruction(LOADC, 1), instruction(LOADC, 1), instruction(LOADC, 1), instruction(OP, 0),
        instruction(SET_ATTR, 0), instruction(LOADC, 1), instruction(RET)], [("aten::zeros", "", 5)], [1, 0], ["List[int]"])
    write("program", "grow", with_value(integer(30000), grow, integer(1), obj(1, 3, (), 2)))
    write("program", "empty", b"")


if __name__ == "__main__":
    flatbuffers()
