# SPDX-License-Identifier: BSD-2-Clause
"""Families of lite archives with pickles, records and tables that need much work to read: each function returns a file of about `size` bytes with
as much of one feature as possible."""
import io
import struct
import zipfile

from make_corpus_archive import (FLOAT, ORDERED, archive, argument, attributes, glob, items, many, memo, number, obj, pair, schema, storage,
                                 tagged, tensor, text, typed, whole)

CONSTANTS = whole(b")")


def wide(n):
    return b"\x8a\x08" + struct.pack("<q", n)


def put(slot, value):
    return value + b"r" + struct.pack("<I", slot)


def get(slot):
    return b"j" + struct.pack("<I", slot)


def lite(data, functions=b"", form=zipfile.ZIP_STORED, extra=()):
    """Returns an archive with this data.pkl and these functions in its bytecode.pkl."""
    code = whole(many(number(8), functions))
    return archive([("m/data.pkl", whole(data)), ("m/constants.pkl", CONSTANTS), ("m/bytecode.pkl", code), ("m/version", b"3\n"), *extra], form)


ROOT = obj("__torch__", "M", attributes(a=number(1)))
RET = many(text("RET"), number(0), number(0))
SELF = argument(text("self"), text("__torch__.M"))


def table(instructions=RET, operators=b"", constants=b"", types=b"", registers=2, whole_instructions=None):
    return many(pair("instructions", whole_instructions or many(instructions)), pair("operators", many(operators)),
                pair("constants", many(constants)), pair("types", many(types)), pair("register_size", wide(registers)))


def function(name, the_table, parts=None):
    return many(name if isinstance(name, bytes) else text(name), the_table, parts if parts is not None else schema(SELF))


def repeat(size, make, start=0):
    """Returns make(0) + make(1) + … with about `size` bytes."""
    parts, total, i = [], 0, start
    while total < size:
        parts.append(make(i))
        total += len(parts[-1])
        i += 1
    return b"".join(parts)


# ---- large values in attributes

def numbers(size):
    return lite(obj("__torch__", "M", attributes(a=items(b"K\x01" * (size // 2)))))


def strings(size):
    return lite(obj("__torch__", "M", attributes(a=items(repeat(size, lambda i: text(str(i)))))))


def tuples_of_tuples(size):
    return lite(obj("__torch__", "M", attributes(a=items((b")" + b"\x85" * 150) * (size // 151)))))


def shared_list(size):
    """Half of the file is one list, and the other half is references to this list."""
    return lite(obj("__torch__", "M", attributes(a=put(7, items(b"K\x01" * (size // 4))), b=items(get(7) * (size // 10)))))


def typed_again(size):
    n = size // 20
    return lite(obj("__torch__", "M", attributes(a=many(
        glob("torch.jit._pickle", "build_intlist") + b"q\x00", b"](" + b"K\x01" * n + b"eq\x01", b"h\x00h\x01\x85R" * n))))


def long_type_again(size):
    kind = "List[Tuple[" + ", ".join(["int"] * 2000) + "]]"
    first = glob("torch.jit._pickle", "restore_type_tag") + b"q\x01]" + put(5, text(kind if len(kind) < size // 2 else "List[int]")) + b"\x86R"
    return lite(obj("__torch__", "M", attributes(a=items(first + (b"h\x01]" + get(5) + b"\x86R") * (size // 20)))))


def long_keys(size):
    """Dicts that share one long key."""
    key = "k" * (size // 2)
    each = b"}(" + get(9) + b"K\x01u"
    return lite(obj("__torch__", "M", attributes(a=put(9, text(key)), b=items(each * (size // 2 // len(each))))))


def complex_keys(size):
    """A dict whose complex keys collide in a hash that only adds up their parts: re ^ 31 im is equal for all keys."""
    def part(bits):
        return b"G" + struct.pack(">Q", bits)

    def key(i):
        im = 0x3ff0000000000000 + i
        return (get(9) if i else put(9, glob("builtins", "complex"))) + part(0x4050000000000000 ^ im * 31 & 2**64 - 1) + part(im) + b"\x86RN"
    return lite(obj("__torch__", "M", attributes(a=b"}(" + repeat(size, key) + b"u")))


def objects_with_shared_state(size):
    """Many objects that share a state of many attributes."""
    n = size // 2 // 12
    state = put(9, b"}(" + repeat(size // 2, lambda i: text(f"a{i}") + b"K\x01") + b"u")
    first = glob("__torch__", "N") + b"q\x01)\x81" + state + b"b"
    return lite(obj("__torch__", "M", attributes(a=items(first + (b"h\x01)\x81" + get(9) + b"b") * n))))


def objects_of_long_class(size):
    first = glob("__torch__", "N" * (size // 2)) + b"q\x01)\x81}b"
    each = b"h\x01)\x81}b"
    return lite(obj("__torch__", "M", attributes(a=items(first + each * (size // 2 // len(each))))))


def classes(size):
    return lite(obj("__torch__", "M", attributes(a=items(repeat(size, lambda i: obj("__torch__", f"N{i}", attributes(x=b"N")))))))


def attributes_of_one(size):
    return lite(obj("__torch__", "M", b"}(" + repeat(size, lambda i: text(f"a{i}") + b"N") + b"u"))


def globals_again(size):
    return lite(obj("__torch__", "M", attributes(a=items(repeat(size, lambda i: glob("torch", "device") + text("cpu") + b"\x85R")))))


def tensors(size):
    """Many tensors that are views of one storage."""
    shared = put(3, storage("FloatStorage", "0", 16))
    one = (glob("torch._utils", "_rebuild_tensor_v2") + b"q\x04" + many(shared, number(0), many(number(2)), many(number(1)), b"\x89", ORDERED) + b"R")
    again = b"h\x04" + many(get(3), number(0), many(number(2)), many(number(1)), b"\x89", ORDERED) + b"R"
    return lite(obj("__torch__", "M", attributes(a=items(one + again * (size // len(again))))), extra=[("m/data/0", bytes(64))])


def shared_scales(size):
    """Quantized tensors per channel that share their scales as floats, which readers convert to doubles."""
    n = max(size // 24, 4)
    scales = put(5, tensor("FloatStorage", "s", n, (n,), (1,)))
    zeros = put(6, tensor("LongStorage", "z", n, (n,), (1,)))
    body = put(7, many(put(4, storage("QInt8Storage", "0", n)), number(0), many(wide(n), number(1)), many(number(1), number(1)),
                       many(glob("torch", "per_channel_affine"), scales, zeros, number(0)), b"\x89", ORDERED))
    first = glob("torch._utils", "_rebuild_qtensor") + b"q\x08" + body + b"R"
    again = b"h\x08" + get(7) + b"R"
    return lite(obj("__torch__", "M", attributes(a=items(first + again * (size // 4 // len(again))))),
                extra=[("m/data/0", bytes(n)), ("m/data/s", b"\0\0\x80?" * n), ("m/data/z", bytes(8 * n))])


# ---- records of the archive

def empty_records(size):
    return lite(ROOT, extra=[(f"m/extra/{i}", b"") for i in range(max(size // 110, 1))])


def deflated_none(size):
    """A pickle that inflates to a thousand times its size."""
    return lite(obj("__torch__", "M", attributes(a=items(b"N" * min(size * 900, 100000000)))), form=zipfile.ZIP_DEFLATED)


def deflated_strings(size):
    return lite(obj("__torch__", "M", attributes(a=items(text("x" * 60) * min(size * 12, 1000000)))), form=zipfile.ZIP_DEFLATED)


def deflated_weights(size):
    n = min(size * 100, 20000000)
    parts = [(f"m/data/{i}", bytes(4 * n)) for i in range(2)]
    return lite(obj("__torch__", "M", attributes(a=tensor("FloatStorage", "0", n, (n,), (1,)), b=tensor("FloatStorage", "1", n, (n,), (1,)))),
                form=zipfile.ZIP_DEFLATED, extra=parts)


def deflated_extras(size):
    each = 1 << 20
    return lite(ROOT, form=zipfile.ZIP_DEFLATED, extra=[(f"m/extra/{i}", bytes(each)) for i in range(min(max(size // 1200, 1), 300))])


def one_record_many_names(size):
    """Directory entries that all refer to the same deflated bytes."""
    plain = io.BytesIO(lite(ROOT, form=zipfile.ZIP_DEFLATED, extra=[("m/extra/a", bytes(200000))]))
    data = plain.getvalue()
    end = data.rindex(b"PK\5\6")
    count, length, at = struct.unpack("<HII", data[end + 10:end + 20])
    directory = data[at:end]
    entry = directory[directory.rindex(b"PK\1\2"):]
    more = b"".join(entry[:-1] + bytes([97 + i % 26]) for i in range(max(size // len(entry), 1)))
    total = count + len(more) // len(entry)
    count = min(total, 0xffff)
    return data[:end] + more + data[end:end + 8] + struct.pack("<HHII", count, count, len(directory) + len(more), at) + b"\0\0"


def debug_maps(size):
    frame = many(many(text("__torch__.A"), text("a")), number(0), b"N", text("forward"))
    return lite(ROOT, function("__torch__.M.forward", table()), extra=[
        ("m/callstack_debug_map.pkl", whole(many(put(3, frame), repeat(size, lambda i: many(wide(i), number(0), text("aten::add"), get(3))))))])


def debug_handles(size):
    """Functions that share one list of pairs, in which no pair has handles."""
    each = put(5, many(text("function_debug_handles"), number(0)))
    pairs = put(6, many(each, get(5) * (size // 2 // 5)))
    count = max(size // 2 // 110, 1)
    functions = function("__torch__.M.f", put(7, table())) + b"".join(function(f"__torch__.M.f{i}", get(7)) for i in range(count))
    handles = many(number(8), many(text("__torch__.M.f"), pairs), b"".join(many(text(f"__torch__.M.f{i}"), get(6)) for i in range(count)))
    return lite(ROOT, functions, extra=[("m/mobile_debug_handles.pkl", whole(handles))])


def handles_of_long_name(size):
    """Many entries and functions with the same long name."""
    name, count = "f" * (size // 3), max(size // 3 // 60, 1)
    functions = function(put(5, text(name)), put(7, table())) + function(get(5), get(7)) * count
    handles = many(number(8), many(put(5, text(name)), b")"), many(get(5), b")") * (size // 3 // 8))
    return lite(ROOT, functions, extra=[("m/mobile_debug_handles.pkl", whole(handles))])


def deep_debug_maps(size):
    """Nested frames, shared by all handles."""
    frame = b"N"
    for _ in range(100):
        frame = many(many(text("__torch__.A"), text("a")), number(0), frame, text("forward"))
    return lite(ROOT, function("__torch__.M.forward", table()), extra=[
        ("m/callstack_debug_map.pkl", whole(many(many(b"N", number(0), text("x"), put(3, frame)), repeat(size, lambda i: many(wide(i), number(0), text("aten::add"), get(3))))))])


# ---- functions in bytecode

def functions(size):
    return lite(ROOT, repeat(size, lambda i: function(f"__torch__.M.f{i}", table())))


def same_name(size):
    return lite(ROOT, repeat(size, lambda i: function("__torch__.M.f", table())))


def shared_name(size):
    return lite(ROOT, put(5, text("__torch__.M." + "f" * (size // 2)))[:0] + function(put(5, text("__torch__.M." + "f" * (size // 2))), table()) +
                repeat(size // 2, lambda i: function(get(5), table())))


def shared_table(part):
    """Half of the file is one part of a function's table. The other half is functions that share this part."""
    def family(size):
        half = size // 2
        each = {"instructions": many(text("LOADC"), number(0), number(0)) + many(text("DROP"), number(0), number(0)),
                "operators": many(text("aten::relu"), text("")), "constants": b"K\x01", "types": text("List[int]")}[part]
        shared = {"instructions": many(b"K\x01" * 0, *([each] * (half // len(each))), many(text("LOADC"), number(0), number(0)), RET)}
        if part == "instructions":
            first = table(constants=b"K\x01", whole_instructions=put(5, shared["instructions"]))
            other = table(constants=b"K\x01", whole_instructions=get(5))
        else:
            values = many(each * (half // len(each)))
            def with_part(value):
                pairs = {"instructions": many(RET), "operators": many(), "constants": many(), "types": many(), "register_size": number(2)}
                pairs[part] = value
                return many(*(pair(k, v) for k, v in pairs.items()))
            first, other = with_part(put(5, values)), with_part(get(5))
        return lite(ROOT, function("__torch__.M.f", first) + repeat(half, lambda i: function(f"__torch__.M.f{i}", other)))
    return family


def shared_schema(size):
    shared = put(5, schema(SELF, *[argument(text(f"x{i}"), text("int")) for i in range(min(size // 100, 4000))]))
    return lite(ROOT, function("__torch__.M.f", table(), shared) + repeat(size // 2, lambda i: function(f"__torch__.M.f{i}", table(), get(5))))


def registers(size):
    return lite(ROOT, repeat(size, lambda i: function(f"__torch__.M.f{i}", table(registers=1000000))))


def code(lines):
    """Returns the instructions of "NAME X N; …"."""
    return b"".join(many(text(name), wide(int(x)), wide(int(n))) for name, x, n in (line.split() for line in lines.split(";") if line.strip()))


def big_function(instructions, constants=b"K\x01", operators=b"", types=b"", setstate=False, takes=()):
    names = "__torch__.N.__setstate__" if setstate else "__torch__.M.forward"
    parts = schema(SELF, argument(text("state"), text("Any"))) if setstate else schema(SELF, *takes)
    return function(names, table(instructions, operators=operators, constants=constants, types=types, registers=8), parts)


def unpacked(size):
    """Each instruction pushes 4,000 values."""
    one = code("LOADC 0 0; LIST_UNPACK 4000 0; LIST_CONSTRUCT 0 4000; DROP 0 0")
    return lite(ROOT, big_function(one * max(size // len(one), 1) + code("LOADC 0 0; RET 0 0"), types=text("List[int]")))


def branches(size):
    one = code("LOADC 1 0; JF 3 0; LOADC 0 0; JMP 2 0; LOADC 0 0; DROP 0 0")
    return lite(ROOT, big_function(one * max(size // len(one), 1) + code("LOADC 0 0; RET 0 0"), constants=b"K\x01\x88"))


def nested_branches(size):
    """Many sequences of blocks that are nested as deep as allowed."""
    depth = 150
    opening = b"".join(code(f"LOADC 1 0; JF {3 + 4 * (depth - d - 1) + 0} 0") for d in range(depth))
    closing = b"".join(code("JMP 2 0; LOADC 0 0") for _ in range(depth))
    one = opening + code("LOADC 0 0") + closing + code("DROP 0 0")
    return lite(ROOT, big_function(one * max(size // len(one), 1) + code("LOADC 0 0; RET 0 0"), constants=b"K\x01\x88"))


def tall_stack(size):
    """An if is repeated while many values are on the stack."""
    n = size // 3 // 30
    one = code("LOADC 1 0; JF 3 0; LOADC 0 0; JMP 2 0; LOADC 0 0")
    return lite(ROOT, big_function(code("LOADC 0 0") * n + one * n + code("RET 0 0"), constants=b"K\x01\x88"))


def type_tests(size):
    many_types = text("int") * 2000 if size > 20000 else text("int") * 20
    n = 2000 if size > 20000 else 20
    one = code(f"LOADC 0 0; ISINSTANCE 0 {n}; DROP 0 0")
    return lite(ROOT, big_function(one * max((size - len(many_types)) // len(one), 1) + code("LOADC 0 0; RET 0 0"), types=many_types))


def long_method_name(size):
    one = code("LOAD 1 0; INTERFACE_CALL 0 1; DROP 0 0")
    return lite(ROOT, big_function(code("STOREN 1 1") + one * (size // 2 // len(one)) + code("LOAD 1 0; RET 0 0"), constants=text("f" * (size // 2))))


def big_constant_again(size):
    constant = items(b"K\x01" * (size // 4))
    one = code("LOADC 0 0; DROP 0 0")
    return lite(ROOT, big_function(one * (size // 2 // len(one)) + code("LOADC 0 0; RET 0 0"), constants=constant))


# ---- code that runs while a file loads

PENDING = obj("__torch__", "M", attributes(a=obj("__torch__", "N", number(5))))


def laughs(make, **options):
    """forward returns a container that contains another container twice, which contains a third container twice, and so on."""
    def family(size):
        depth = 24 if size < 10000 else 60 if size < 100000 else 150
        return lite(ROOT, big_function(code("STOREN 1 2; LOAD 2 0") + code(make) * depth + code("RET 0 0"), takes=[argument(text("x"), text("Any"))], **options))
    return family


laughs_returned = laughs("STORE 3 0; LOAD 3 0; LOAD 3 0; TUPLE_CONSTRUCT 2 0")
laughs_of_lists = laughs("STORE 3 0; LOAD 3 0; LOAD 3 0; LIST_CONSTRUCT 0 2", types=text("List[Any]"))
laughs_of_dicts = laughs("STORE 3 0; LOADC 0 0; LOAD 3 0; LOADC 1 0; LOAD 3 0; DICT_CONSTRUCT 0 4", types=text("Dict[int, Any]"), constants=b"K\x01K\x02")


def setstate(instructions, operators, constants=b"K\x01", types=b"", pending=PENDING):
    def family(size):
        padding = many(b"N" * max(size - 2000, 0)) if size > 3000 else b""
        return lite(pending, big_function(code("STOREN 1 2") + instructions + code("LOADC 0 0; RET 0 0"), constants + padding, operators, types, True))
    return family


def operator(name, overload="", count=None):
    return many(text(name), text(overload), *([number(count)] if count is not None else []))


# the method's loop is: while True: i + 1
endless = setstate(code("LOADC 3 0; LOADC 1 0; LOADC 2 0; LOOP 8 2; DROP 0 0; LOADC 0 0; LOADC 0 0; OP 0 0; DROP 0 0; LOADC 2 0; JMP -7 0"),
                   operator("aten::add", "int", 2), b"K\x01" + wide(2**62) + b"\x88K\x00")
# the method computes zeros(n, n) @ zeros(n, n) without end
products = setstate(code("LOADC 1 0; LOADC 1 0; LIST_CONSTRUCT 0 2; LOADC 4 0; LOADC 4 0; LOADC 4 0; LOADC 4 0; OP 0 0; STORE 3 0; LOADC 5 0; LOADC 2 0; LOADC 3 0; "
                         "LOOP 8 2; DROP 0 0; LOAD 3 0; LOAD 3 0; OP 1 0; DROP 0 0; LOADC 3 0; JMP -7 0"),
                    operator("aten::zeros", "", 5) + operator("aten::matmul", "", 2), b"K\x01" + wide(1500) + wide(2**62) + b"\x88NK\x00", text("List[int]"))
# the method computes adaptive pooling over a trillion elements
pooling = setstate(code("LOADC 0 0; LOADC 0 0; LOADC 0 0; LIST_CONSTRUCT 0 3; LOADC 2 0; LOADC 2 0; LOADC 2 0; LOADC 2 0; OP 0 0; LOADC 0 0; LOADC 1 0; LOADC 1 0; "
                        "LIST_CONSTRUCT 0 3; OP 1 0; LOADC 0 0; LOADC 0 0; LIST_CONSTRUCT 0 2; OP 2 0; DROP 0 0"),
                   operator("aten::zeros", "", 5) + operator("aten::expand", "", 2) + operator("aten::adaptive_avg_pool2d", "", 2),
                   b"K\x01" + wide(1000000) + b"N", text("List[int]"))
# the method's loop is: s = s + s, which doubles a string
doubling = setstate(code("LOADC 1 0; STORE 3 0; LOADC 4 0; LOADC 2 0; LOADC 3 0; LOOP 8 2; DROP 0 0; LOAD 3 0; LOAD 3 0; OP 0 0; STORE 3 0; LOADC 3 0; JMP -7 0"),
                    operator("aten::add", "str", 2), b"K\x01" + text("0123456789abcdef") + wide(2**62) + b"\x88K\x00")
# the method's loop is: l.append(i)
growing = setstate(code("LIST_CONSTRUCT 0 0; STORE 3 0; LOADC 3 0; LOADC 1 0; LOADC 2 0; LOOP 8 2; DROP 0 0; LOAD 3 0; LOADC 0 0; OP 0 0; DROP 0 0; LOADC 2 0; JMP -7 0"),
                   operator("aten::append", "t", 2), b"K\x01" + wide(2**62) + b"\x88K\x00", text("List[int]"))


def states_of_long_class(size):
    """Objects of a class with a long name, whose states the class's __setstate__ sets."""
    name = "N" * (size // 2)
    first = put(3, glob("__torch__", name)) + b")\x81K\x05b"
    pending = obj("__torch__", "M", attributes(a=items(first + (get(3) + b")\x81K\x05b") * (size // 2 // 14))))
    state = function(f"__torch__.{name}.__setstate__", table(code("STOREN 1 2; LOADC 0 0; RET 0 0"), constants=b"K\x01", registers=8),
                     schema(SELF, argument(text("state"), text("Any"))))
    return lite(pending, state)


def many_states(size):
    """Objects that share a slow __setstate__."""
    first = put(3, glob("__torch__", "N")) + b")\x81K\x05b"
    pending = obj("__torch__", "M", attributes(a=items(first + (get(3) + b")\x81K\x05b") * (size // 14))))
    loop = code("LOADC 3 0; LOADC 1 0; LOADC 2 0; LOOP 8 2; DROP 0 0; LOADC 0 0; LOADC 0 0; OP 0 0; DROP 0 0; LOADC 2 0; JMP -7 0")
    return lite(pending, big_function(code("STOREN 1 2") + loop + code("LOADC 0 0; RET 0 0"), b"K\x01" + wide(1000) + b"\x88K\x00",
                                      operator("aten::add", "int", 2), setstate=True))


FAMILIES = {f.__name__: f for f in (
    numbers, strings, tuples_of_tuples, shared_list, typed_again, long_type_again, long_keys, complex_keys, objects_with_shared_state, objects_of_long_class, classes,
    attributes_of_one, globals_again, tensors, shared_scales, empty_records, deflated_none, deflated_strings, deflated_weights, deflated_extras,
    one_record_many_names, debug_maps, debug_handles, handles_of_long_name, deep_debug_maps, functions, same_name, shared_name, shared_schema, registers, unpacked, branches, nested_branches,
    tall_stack, type_tests, long_method_name, big_constant_again, states_of_long_class, many_states)}
FAMILIES |= {f"shared_{part}": shared_table(part) for part in ("instructions", "operators", "constants", "types")}
FAMILIES |= {"endless": endless, "products": products, "pooling": pooling, "doubling": doubling, "growing": growing,
             "laughs_returned": laughs_returned, "laughs_of_lists": laughs_of_lists, "laughs_of_dicts": laughs_of_dicts}
