#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_zip, fuzz_pickle, fuzz_lite_archive, fuzz_type and fuzz_write to corpus/ next to this file.
Everything is made here, without PyTorch, and is the same every time. Each seed is small and shows one form that the
readers know, or one way in which files are broken.
"""
import io
import pathlib
import struct
import warnings
import zipfile
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"


def write(kind, name, data):
    folder = CORPUS / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


# ---- pickles

def text(s):
    b = s.encode()
    return b"X" + struct.pack("<I", len(b)) + b


def number(n):
    return b"K" + bytes([n]) if 0 <= n < 256 else b"J" + struct.pack("<i", n)


def glob(module, name):
    return f"c{module}\n{name}\n".encode()


def many(*items):
    return b"(" + b"".join(items) + b"t"


def pair(key, value):
    return text(key) + value + b"\x86"


def storage(cls, key, numel, location="cpu"):
    return many(text("storage"), glob("torch", cls), text(key), text(location), number(numel)) + b"Q"


ORDERED = glob("collections", "OrderedDict") + b")R"


def tensor(cls, key, numel, sizes, strides):
    return (glob("torch._utils", "_rebuild_tensor_v2") +
            many(storage(cls, key, numel), number(0), many(*map(number, sizes)), many(*map(number, strides)), b"\x89", ORDERED) + b"R")


def qtensor(scheme, parameters, cls="QInt8Storage"):
    return (glob("torch._utils", "_rebuild_qtensor") +
            many(storage(cls, "1", 4), number(0), many(number(2), number(2)), many(number(2), number(1)),
                 many(glob("torch", scheme) if isinstance(scheme, str) else scheme, *parameters), b"\x89", ORDERED) + b"R")


def rebuilt(*arguments, function="_rebuild_tensor_v2"):
    return glob("torch._utils", function) + many(*arguments) + b"R"


def typed(function, argument):
    return glob("torch.jit._pickle", function) + argument + b"\x85R"


def tagged(container, type):
    return glob("torch.jit._pickle", "restore_type_tag") + container + text(type) + b"\x86R"


def items(*values):
    return b"](" + b"".join(values) + b"e"


def device(*parts):
    return glob("torch", "device") + many(*parts) + b"R"


def per_channel(scales, zeros, axis=0, scheme="per_channel_affine", **options):
    return qtensor(scheme, (tensor(*scales), tensor(*zeros), number(axis)), **options)


def whole(body):
    return b"\x80\x02" + body + b"."


def obj(module, name, state):
    return glob(module, name) + b")\x81" + state + b"b"


def attributes(**values):
    return b"}(" + b"".join(text(k) + v for k, v in values.items()) + b"u"


FLOAT = b"G" + struct.pack(">d", 0.5)
PICKLES = {
    "none": b"N", "numbers": many(number(7), number(-7), b"M\x34\x12", b"\x8a\x08" + b"\xff" * 8, FLOAT, b"\x88", b"\x89"),
    "containers": many(b"](K\x01K\x02e", attributes(a=b"N"), b")", b"K\x01\x85"),
    "list_opcode": b"(K\x01K\x02l", "dict_opcode": b"(K\x01K\x02d",
    "memo": b"](K\x01eq\x00h\x00\x86", "long_memo": b"Nr\x02\x00\x00\x00j\x02\x00\x00\x00\x86",
    "typed": glob("torch.jit._pickle", "build_intlist") + b"(](K\x01etR",
    "tagged": glob("torch.jit._pickle", "restore_type_tag") + b"}(" + text("k") + b"]u" + text("Dict[str, List[int]]") + b"\x86R",
    "typed_again": b"(" + glob("torch.jit._pickle", "build_intlist") + b"q\x00](" + b"K\x01" * 400 + b"eq\x01\x85R" +
                   b"h\x00h\x01\x85R" * 400 + b"t",
    "device": glob("torch", "device") + text("cpu") + b"\x85R",
    "complex": glob("builtins", "complex") + FLOAT + FLOAT + b"\x86R",
    "object": obj("__torch__", "M", attributes(a=b"K\x01", b=obj("__torch__.x", "N", attributes()))),
    "state": obj("__torch__", "S", b"K\x01"),
    "native": obj("__torch__.torch.classes.xnnpack", "Ctx", b"K\x01N\x86"),
    "tensor": tensor("FloatStorage", "0", 6, (2, 3), (3, 1)), "scalar": tensor("LongStorage", "0", 1, (), ()),
    "empty": tensor("FloatStorage", "0", 0, (0,), (1,)), "expanded": tensor("FloatStorage", "0", 1, (200, 200), (0, 0)),
    "per_tensor": qtensor("per_tensor_affine", (FLOAT, number(3))),
    "per_channel": qtensor("per_channel_affine", (tensor("DoubleStorage", "2", 2, (2,), (1,)),
                                                  tensor("LongStorage", "3", 2, (2,), (1,)), number(0))),
    # broken pickles
    "cycle": b"]q\x00(h\x00e", "depth": b"\x85" * 3 + b")" + b"\x85" * 250, "system": glob("os", "system") + text("true") + b"\x85R",
    "outside": tensor("FloatStorage", "0", 6, (2, 4), (4, 1)), "negative": tensor("FloatStorage", "0", 6, (-1,), (1,)),
    "nine": tensor("FloatStorage", "0", 6, (1,) * 9, (1,) * 9), "mark": b"(((((", "underflow": b"\x87",
    "forged": glob("torch._utils", "_rebuild_tensor_v2") + many(b"NK\x00K\x06\x87", number(0), b")", b")", b"\x89", ORDERED) + b"R",
    "long_text": b"X\xff\xff\xff\xff", "far_memo": b"Nr\xff\xff\xff\xff",
}

# All forms of tensors, typed containers and devices, and all the ways in which they are refused.
ONE, SCALES, ZEROS = storage("FloatStorage", "0", 1), ("DoubleStorage", "2", 2, (2,), (1,)), ("LongStorage", "3", 2, (2,), (1,))
DIMS, QUANTIZER = many(number(1)), many(glob("torch", "per_tensor_affine"), FLOAT, number(3))
PICKLES.update({
    "typed_forms": many(typed("build_doublelist", items(FLOAT)), typed("build_boollist", items(b"\x88")),
                        typed("build_tensorlist", items(tensor("FloatStorage", "0", 1, (), ())))),
    "tagged_forms": many(tagged(items(b"N", number(1)), "List[Optional[int]]"), tagged(items(many(number(1), FLOAT)), "List[Tuple[int, float]]"),
                         tagged(items(items(number(1))), "List[List[int]]"), tagged(items(attributes(a=number(1))), "List[Dict[str, int]]"),
                         tagged(items(obj("__torch__", "M", attributes())), "List[__torch__.M]"), tagged(items(b"N"), "Any")),
    "typed_wrong": typed("build_intlist", items(number(1), b"N")), "typed_none": typed("build_intlist", b"N"),
    "tagged_wrong": tagged(items(many(number(1))), "List[Tuple[int, float]]"), "tagged_number": tagged(number(1), "List[int]"),
    "tagged_broken": tagged(items(), "List["), "tagged_alone": glob("torch.jit._pickle", "restore_type_tag") + b"]\x85R",
    "tagged_dict_wrong": tagged(attributes(a=b"N"), "Dict[str, int]"),
    "devices": many(device(text("cuda:1")), device(text("cuda"), number(3)), device(text("vulkan"))), "device_nameless": device(number(1)),
    "device_foreign": device(text("abacus")), "device_number": device(text("cuda:x")), "device_long": device(text("cuda:12345")),
    "complex_text": glob("builtins", "complex") + FLOAT + text("a") + b"\x86R",
    "ordered_filled": glob("collections", "OrderedDict") + b"N\x85R", "sparse": rebuilt(function="_rebuild_sparse_tensor"),
    "enum": glob("__torch__", "E") + b"K\x01\x85R", "legacy": glob("__main__", "IntList") + b")R",
    "storage_called": glob("torch", "FloatStorage") + b")R", "class_nameless": glob("__torch__", ""), "class_alone": glob("__torch__", "M"),
    "state_number": obj("__torch__", "M", b"K\x01"), "state_key": obj("__torch__", "M", b"}(K\x01K\x02u"), "state_refused": obj("__torch__", "F", b"N"),
    "state_twice": obj("__torch__", "M", attributes()) + attributes() + b"b", "build_none": b"NNb", "new_none": b"N)\x81", "call_none": b"N)R",
    "native_twice": b"(" + obj("__torch__.torch.classes.x", "Y", b"N") + obj("__torch__.torch.classes.x", "Y", b"]") + b"t",
    # broken stacks, memos and numbers
    "no_mark": b"t", "two_values": b"NN", "memo_twice": b"Nq\x00q\x00", "memo_unset": b"h\x07", "memo_object": obj("__torch__", "M", b"}")[:-2] +
    b"q\x00}bh\x00\x86", "append_none": b"N(NNe", "append_class": b"](" + glob("__torch__", "M") + b"e", "append_used": b"]q\x00h\x00\x86h\x00(Ne",
    "set_none": b"N(NNu", "set_odd": b"}(Nu", "set_list": b"}(]Nu", "deep_lists": b"](" * 220 + b"e" * 220, "long_integer": b"\x8a\x09" + b"\1" * 9,
    "long_zero": b"\x8a\x00", "protocol": b"\x80\x04N", "opcode": b"\xff", "cut_short": b"M\x01",
    # tensors
    "storage_none": b"NQ", "storage_negative": storage("FloatStorage", "0", -1), "storage_meta": storage("FloatStorage", "0", 1, "meta"),
    "storage_large": tensor("FloatStorage", "0", 10**6, (1,), (1,)), "dtypes": many(*(tensor(c + "Storage", "0", 1, (1,), (1,)) for c in (
        "Byte", "Char", "Short", "Int", "Long", "Half", "Double", "ComplexHalf", "ComplexFloat", "ComplexDouble", "Bool", "BFloat16"))),
    "list_dims": rebuilt(ONE, number(0), items(number(1)), items(number(1)), b"\x88", ORDERED), "no_dims": rebuilt(ONE, number(0), b"N", b"N", b"\x89", ORDERED),
    "fewer_strides": rebuilt(ONE, number(0), DIMS, b")", b"\x89", ORDERED), "negative_size": rebuilt(ONE, number(0), many(number(-1)), DIMS, b"\x89", ORDERED),
    "arguments": rebuilt(ONE), "quantized_plain": rebuilt(storage("QInt8Storage", "0", 1), number(0), DIMS, DIMS, b"\x89", ORDERED),
    "bits_clear": rebuilt(ONE, number(0), DIMS, DIMS, b"\x89", ORDERED, attributes(neg=b"\x89")),
    "bits_set": rebuilt(ONE, number(0), DIMS, DIMS, b"\x89", ORDERED, attributes(conj=b"\x88")),
    "q_arguments": rebuilt(ONE, function="_rebuild_qtensor"), "q_plain": qtensor("per_tensor_affine", (FLOAT, number(3)), cls="FloatStorage"),
    "q_scheme": qtensor(b"N", (FLOAT, number(3))), "q_scale": qtensor("per_tensor_affine", (b"N", number(3))),
    "q_zero": qtensor("per_tensor_affine", (FLOAT, b"\x8a\x08" + b"\x7f" * 8)), "q_axis": per_channel(SCALES, ZEROS, 7),
    "q_converted": per_channel(("FloatStorage", "2", 2, (2,), (1,)), ("IntStorage", "3", 2, (2,), (1,))),
    "q_float": per_channel(("FloatStorage", "2", 2, (2,), (1,)), ("FloatStorage", "3", 2, (2,), (1,)), scheme="per_channel_affine_float_qparams"),
    "q_short": per_channel(("FloatStorage", "2", 1, (1,), (1,)), ZEROS), "q_zeros": per_channel(SCALES, ("LongStorage", "3", 1, (1,), (1,))),
})


# ---- archives

def archive(records, form=zipfile.ZIP_STORED, comment=b"", zip64=False):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.comment = comment
        for name, data in records:
            info = zipfile.ZipInfo(name)
            info.compress_type = form
            with z.open(info, "w", force_zip64=zip64) as f:
                f.write(data)
    return out.getvalue()


class Stream(io.RawIOBase):
    """Takes bytes and cannot go back, so that zipfile writes data descriptors."""

    def __init__(self):
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, b):
        self.data += b
        return len(b)


def streamed(records):
    out = Stream()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in records:
            z.writestr(zipfile.ZipInfo(name), data)
    return bytes(out.data)


PLAIN = [("m/a", b"first"), ("m/b/c", b"second" * 20), ("other/x", b"")]


def zips():
    plain = archive(PLAIN)
    seeds = odd_zips() | {
        "plain": plain, "deflated": archive(PLAIN, zipfile.ZIP_DEFLATED), "zip64": archive(PLAIN, zip64=True),
        "descriptors": streamed(PLAIN), "comment": archive(PLAIN, comment=b"PK\x05\x06" * 6),
        "empty": archive([]), "no_folder": archive([("a", b"")]), "twice": archive([("m/a", b"1"), ("m/b", b"2"), ("m/a", b"3")]),
        "cut": plain[:-30], "no_start": plain[40:], "bzip2": archive(PLAIN, zipfile.ZIP_BZIP2),
        "bomb": archive([("m/zeros", bytes(200000))], zipfile.ZIP_DEFLATED),
    }
    end = plain.rindex(b"PK\x05\x06")
    entry = plain.index(b"PK\x01\x02")
    for name, at, size in (("count", end + 10, 2), ("directory_size", end + 12, 4), ("directory_offset", end + 16, 4),
                           ("packed", entry + 20, 4), ("unpacked", entry + 24, 4), ("name_length", entry + 28, 2),
                           ("extra_length", entry + 30, 2), ("header", entry + 42, 4)):
        seeds["wrong_" + name] = plain[:at] + b"\xfe\xff\xff\xff"[:size] + plain[at + size:]
        seeds["full_" + name] = plain[:at] + b"\xff" * size + plain[at + size:]
    return seeds


# ---- archives that zipfile does not write

def record(name, data, method=0, flags=0, size=None, packed=None, crc=None, header=None, extra=b"", magic=b"PK\x01\x02", raw=None):
    """Returns the bytes of a record, and a function that returns its entry in the directory for an offset."""
    if raw is None:
        pack = zlib.compressobj(9, zlib.DEFLATED, -15)
        raw = pack.compress(data) + pack.flush() if method == 8 else data
    name = name.encode()
    crc = zlib.crc32(data) if crc is None else crc
    local = b"PK\x03\x04" + struct.pack("<HHHIIIIHH", 20, flags, method, 0, crc, len(raw), len(data), len(name), 0) + name + raw

    def entry(at):
        return magic + struct.pack("<HHHHIIIIHHHHHII", 20, 20, flags, method, 0, crc, len(raw) if packed is None else packed,
                                   len(data) if size is None else size, len(name), len(extra), 0, 0, 0, 0, at if header is None else header) + name + extra
    return local, entry


def assembled(*records, disk=0, zip64=False, locator=None):
    body, directory = b"", b""
    for local, entry in records:
        directory += entry(len(body))
        body += local
    count, start, tail = len(records), len(body), b""
    if zip64:
        at = start + len(directory) if locator is None else locator
        tail = (b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, len(directory), start) +
                b"PK\x06\x07" + struct.pack("<IQI", 0, at, 1))
    saturated = zip64 or locator is not None
    numbers = (0xffff, 0xffff, 2**32 - 1, 2**32 - 1) if saturated else (count, count, len(directory), start)
    return body + directory + tail + b"PK\x05\x06" + struct.pack("<HHHHIIH", disk, disk, *numbers, 0)


def odd_zips():
    a, b = record("m/a", b"first"), record("m/b", b"second" * 300, 8)
    full, zip64 = dict(size=2**32 - 1, packed=2**32 - 1, header=2**32 - 1), struct.pack("<HHQQQ", 1, 24, 5, 5, 0)
    return {
        "end64": assembled(a, b, zip64=True), "end64_away": assembled(a, b, zip64=True, locator=7), "end64_missing": assembled(a, disk=1, locator=7),
        "split": assembled(a, disk=1), "field64": assembled(record("m/a", b"first", extra=zip64, **full)),
        "field64_second": assembled(record("m/a", b"first", extra=b"XX\2\0ab" + zip64, **full)),
        "field64_short": assembled(record("m/a", b"first", extra=struct.pack("<HHQQ", 1, 16, 5, 5), **full)),
        "field64_cut": assembled(record("m/a", b"first", extra=zip64[:9], **full)),
        "no_entry": assembled(a, record("m/b", b"", magic=b"PK\x01\x03")), "long_name": assembled(record("m/" + "n" * 4100, b"")),
        "encrypted": assembled(record("m/a", b"first", flags=1)), "beyond": assembled(record("m/a", b"first", size=900, packed=900)),
        "ratio": assembled(record("m/a", b"first", 8, size=900000)), "longer": assembled(record("m/a", b"first", 8, size=4)),
        "shorter": assembled(record("m/a", b"first", 8, size=6)), "garbage": assembled(record("m/a", b"first", 8, raw=b"\xff" * 9)),
        "stored_sum": assembled(record("m/a", b"first", crc=1)), "deflated_sum": assembled(record("m/a", b"first", 8, crc=1)),
        "no_sum": assembled(record("m/a", b"first", 8, crc=0)), "large": assembled(record("m/a", bytes(1500))), "nothing": assembled(record("m/a", b"", 8)),
    }


# ---- modules

def bytecode(version, operator=3, schema=True, extra=()):
    instruction = many(text("STOREN"), number(1), number(2)), many(text("JMP"), number(-1), number(0)), many(text("RET"), number(0), number(0))
    table = many(
        pair("instructions", many(*instruction)),
        pair("operators", many(many(text("aten::add"), text("Tensor"), *([number(2)] if operator == 3 else [])))),
        pair("constants", many(number(3), tensor("FloatStorage", "w", 2, (2,), (1,)))),
        pair("types", many(text("List[int]"), text("__torch__.P[NamedTuple, [[x, int]]]"), text("__torch__.P"))),
        pair("register_size", number(4)))
    argument = many(pair("name", text("self")), pair("type", text("__torch__.M")), pair("default_value", b"N"))
    parts = many(pair("arguments", many(argument)), pair("returns", many()))
    function = many(text("__torch__.M.forward"), table, *([parts] if schema else []))
    return whole(many(*([number(version)] if version else []), function, *extra))


DATA = whole(obj("__torch__", "M", attributes(w=tensor("FloatStorage", "0", 2, (2,), (1,)), n=obj("__torch__", "N", b"K\x05"))))
DEBUG_HANDLES = whole(many(number(8), many(text("__torch__.M.forward"), many(pair("function_debug_handles", many(
    glob("torch.jit._pickle", "build_intlist") + b"(](" + number(1) + number(2) + number(3) + b"etR"))))))
FRAME = many(many(text("__torch__.A"), text("a")), number(0), b"N", text("forward"))
CALLSTACKS = whole(many(many(number(1), number(0), text("aten::add"), FRAME), many(number(2), number(0), text("prim::If"), b"N"), b"N"))
NO_STATE = many(text("__torch__.N.__setstate__"), many(*(pair(k, many()) for k in ("instructions", "operators", "constants", "types")),
                                                       pair("register_size", number(0))))


def module(change=None, form=zipfile.ZIP_STORED, **options):
    records = {
        "data.pkl": DATA, "data/0": b"\0\0\x80?" * 2, "constants/w": b"\0\0\0@" * 2, "constants.pkl": whole(b")"),
        "bytecode.pkl": bytecode(options.pop("version", 8), extra=(NO_STATE,), **options),
        "mobile_debug_handles.pkl": DEBUG_HANDLES, "callstack_debug_map.pkl": CALLSTACKS, "extra/note": b"note", "version": b"3\n",
    }
    records.update(change or {})
    return archive([("m/" + k, v) for k, v in records.items() if v is not None], form)


FORWARD = text("__torch__.M.forward")
TABLE = {"instructions": many(many(text("RET"), number(0), number(0))), "operators": many(), "constants": many(), "types": many(),
         "register_size": number(0)}


def program(*schema, name=FORWARD, version=8, functions=(), **changes):
    """Returns bytecode.pkl of one function, with parts of its table replaced (None: omitted)."""
    table = many(*(pair(k, v) for k, v in (TABLE | changes).items() if v is not None))
    return whole(many(number(version), many(name, table, *schema), *functions))


def schema(*arguments, returns=many()):
    return many(pair("arguments", many(*arguments)), pair("returns", returns))


def argument(name=text("x"), type=text("int"), default=b"N"):
    return many(pair("name", name), pair("type", type), pair("default_value", default))


def programs():
    """The fuzz target reads these pickles as bytecode.pkl. In each pickle, one part of a function differs from PyTorch's form, or is broken."""
    def one(name, x=number(0), n=number(0)):
        return many(many(name, x, n))
    shared = text("aten::add") + b"q\x00"
    seeds = {
        "shared_names": program(operators=many(many(shared, b"h\x00"), many(b"h\x00", b"h\x00", b"N")), types=many(text("int") + b"q\x01", b"h\x01")),
        "name_number": program(name=number(1)), "name_zero": program(name=text("a\0b")), "type_broken": program(types=many(text("List["))),
        "instruction_nameless": program(instructions=one(b"N")), "instruction_foreign": program(instructions=one(text("SPIN"))),
        "instruction_none": program(instructions=many(b"N")), "instruction_far": program(instructions=one(text("RET"), b"\x8a\x06" + b"\x7f" * 6)),
        "operator_none": program(operators=many(b"N")), "operator_given": program(operators=many(many(text("a::b"), text(""), b"J\xff\xff\0\0"))),
        "no_registers": program(register_size=None), "many_registers": program(register_size=b"J\xff\xff\xff\x7f"), "no_types": program(types=None),
        "schema_number": program(number(1)), "schema_empty": program(many()), "argument_none": program(schema(b"N")), "returns_none": program(schema(returns=b"N")),
        "argument_name": program(schema(argument(name=b"N"))), "argument_type": program(schema(argument(type=text("[")))),
        "arguments": program(schema(argument(), argument(type=text("Optional[int]")), argument(default=number(7)), returns=many(argument()))),
        "many_arguments": program(schema(argument() + b"q\0", *([b"h\0"] * 4096))), "no_function": program(functions=(b"N",)), "two": program(functions=(
            many(text("__torch__.M.other"), many(*(pair(k, v) for k, v in TABLE.items())), b"N"),)),
        "version2": whole(many(number(2))), "version_none": whole(many()), "no_tuple": whole(b"]"), "constant_storages": program(constants=many(
            tensor("FloatStorage", "w", 4, (4,), (1,)), tensor("ByteStorage", "w", 16, (16,), (1,)), tensor("ComplexDoubleStorage", "w", 1, (1,), (1,)),
            tensor("FloatStorage", "w", 2, (2,), (1,)))),
        "constant_large": program(constants=many(tensor("FloatStorage", "w", 5, (5,), (1,)))), "constant_nowhere": program(constants=many(
            tensor("FloatStorage", "none", 1, (1,), (1,)))), "constant_name": program(constants=many(tensor("FloatStorage", "n" * 4095, 1, (1,), (1,)))),
        # the fuzz target reads these as data.pkl
        "module_storages": whole(obj("__torch__", "M", attributes(a=tensor("ByteStorage", "0", 16, (16,), (1,)), b=tensor("DoubleStorage", "0", 2, (2,), (1,))))),
        # the fuzz target reads these as debug records
        "long_frames": whole(many(many(number(1), number(0), text("n" * 600), many(many(text("a" * 600), text("b" * 600)), number(0), FRAME, text("f"))))),
        "frames": whole(many(many(number(3), number(0), FRAME), many(number(2), number(0), b"N", many(b"N", number(0), b"N")),
                             many(number(1), number(0), text("x"), many(b"N", number(0), many(many(number(1), b"N"), b"N", b"N"))))),
        "deep_frames": whole(many(many(number(1), number(0), text("x"), frames(150)))),
        "handle_forms": whole(many(number(8), b"N", many(text("none"), many()), many(FORWARD, b"N"), many(FORWARD, b"N"))),
        "handles_other": whole(many(number(8), many(FORWARD, many(pair("other", many(b"]")), pair("function_debug_handles", many(b"N")))))),
        "handles_far": whole(many(number(8), many(FORWARD, many(pair("function_debug_handles", many(items(b"N", b"\x8a\x06" + b"\x7f" * 6))))))),
    }
    return seeds


def frames(count):
    inner = b"N"
    for _ in range(count):
        inner = many(many(text("__torch__.Name"), text("attribute")), number(0), inner)
    return inner


def odd_modules():
    data = obj("__torch__", "M", attributes(w=tensor("FloatStorage", "0", 2, (2,), (1,)), n=obj("__torch__", "N", b"K\x05"), v=b"t"))
    letters = b"abc" * 400
    return {
        "no_version": module({"version": None}), "version_text": module({"version": b"three"}), "little": module({"byteorder": b"little"}),
        "pending_cut": module({"data.pkl": whole(data)}), "no_handles": module({"mobile_debug_handles.pkl": None}),
        "bad_handles": module({"mobile_debug_handles.pkl": b"\x80\x02"}), "no_callstacks": module({"callstack_debug_map.pkl": None}),
        "extras": module({"extra/a": letters, "extra/": b"", "extra/b": b""}, zipfile.ZIP_DEFLATED), "nothing": archive([("m/other", b"")]), "text": b"plain text",
        "pickle4": b"\x80\x04N.", "constants_only": archive([("m/data.pkl", DATA), ("m/constants.pkl", b"")]),
        "bad_extra": module({"extra/a": letters}, zipfile.ZIP_DEFLATED).replace(b"m/extra/aK", b"m/extra/a\xff"),
        "other_extra": assembled(*(record("m/" + k, v, m, raw=r) for k, v, m, r in (
            ("data.pkl", DATA, 8, None), ("data/0", b"\0\0\x80?" * 2, 8, None), ("bytecode.pkl", program(), 0, None), ("version", b"3", 0, None),
            ("extra/a", b"bz", 12, None), ("extra/b", letters, 8, b"\xff" * 40), ("extra/c", b"xyz", 0, None)))),
        "bad_data": assembled(*(record("m/" + k, v, m, raw=r) for k, v, m, r in (
            ("data.pkl", DATA, 8, None), ("data/0", b"\0\0\x80?" * 2, 8, b"\xff" * 9), ("bytecode.pkl", program(), 0, None), ("version", b"3", 0, None)))),
    }


def modules():
    seeds = programs() | odd_modules() | {
        "plain": module(), "deflated": module(form=zipfile.ZIP_DEFLATED),
        "version3": module(version=3, operator=2, schema=False), "unnumbered": module(version=0, operator=2, schema=False),
        "version4": module({"constants/w": None, "bytecode/w": b"\0\0\0@" * 2}, version=4, operator=2),
        "version10": module(version=10), "dot_version": module({".data/version": b"10\n"}), "big": module({"byteorder": b"big"}),
        "new_archive": module({"version": b"99\n"}), "short_storage": module({"data/0": b"1234"}), "no_storage": module({"constants/w": None}),
        "no_data": module({"data.pkl": None}), "no_bytecode": module({"bytecode.pkl": None}), "tuple": module({"data.pkl": whole(b")")}),
        "bad_debug": module({"callstack_debug_map.pkl": whole(many(b"N", many(number(1), b"N", b"N")))}),
        "torch_save": archive([("m/data.pkl", whole(b"}")), ("m/data/0", b"1")]), "script": archive([("m/data.pkl", DATA), ("m/code/a.py", b"")]),
        "old": archive([("m/model.json", b"{}")]), "empty": b"", "pickle": whole(b"N"), "gzip": b"\x1f\x8b\x08\0", "flatbuffer": b"\x10\0\0\0PTMF",
        "cut": module()[:-60], "head": b"PK\x03\x04",
        # the fuzz target reads these as records of an archive
        "program8": bytecode(8), "program5": bytecode(5, operator=2), "program3": bytecode(3, operator=2, schema=False),
        "handles": DEBUG_HANDLES, "callstacks": CALLSTACKS,
    }
    return seeds


# ---- types

TYPES = [
    "Tensor", "List[int]\nOptional[Tensor]\nDict[str,Tensor]", "Tuple[()]\nTuple[int, Tuple[float, str]]", "Union[int, List[str]]",
    "__torch__.Q[NamedTuple, [[f, Tensor],[g, List[int]]]]\n__torch__.Q\nList[__torch__.Q]", "__torch__.torch.classes.a.B",
    "Future[int]\nRRef[int]\nAwait[int]", "number\nScalar\nAny\nNoneType\nlist\ntuple\nStream\nt\ntVal", "List[" * 40 + "int" + "]" * 40,
    "a.N1[NamedTuple, [[x, int],[y, int]]]\n" + "\n".join(
        f"a.N{i}[NamedTuple, [[x, a.N{i - 1}],[y, a.N{i - 1}]]]" for i in range(2, 20)),
    "__torch__.E[NamedTuple, []]\nTuple[int, __torch__.E[NamedTuple, []]]", "List[", "Tuple[int", "Foo[int]", "a.b[NamedTuple, [[", "int]", "Dict[int]",
    "bool\ncomplex\nDevice\nGenerator\nCapsule\nStorage\nt1\nLayout", "List[int]\nList[Any]\nList[t]\nList[number]\nDict[str, int]\nDict[str, Any]",
    "Tuple[int, str]\nTuple[Any, str]\nTuple[str, str]\nTuple[int]", "RRef[int]\nRRef[Any]\nFuture[Any]\nAwait[int]", "in\x01t\nTensor", "a.b[Tuple, []]",
    "Union[int, List[str]", "a.P\na.P[NamedTuple, [[x, int]]]\na.P\na.P[NamedTuple, [[y, int]]]\na.P[NamedTuple, [[x, str]]]\nb.P",
    "List[" * 31 + "int" + "]" * 31, "Optional[int]\nOptional[Optional[int]]\nOptional[Any]", "Tuple[(, )]", "Tuple[() ", "Dict[str, int\nDict[str int]", " \n",
]
# Named tuples that are defined repeatedly.
TYPES += ["\n".join(f"a.M{i % 3}[NamedTuple, [[f{i}, a.M{(i + 1) % 3}]]]" for i in range(20))]


# ---- modules to be written again: values that several objects share, and values that only one of the containers can
# store

def root(**values):
    return whole(obj("__torch__", "M", attributes(**values)))


def memo(slot, value):
    return value + b"q" + bytes([slot])


def written():
    held = tensor("FloatStorage", "0", 4, (2, 2), (2, 1))
    return {
        "shared": root(a=memo(0, items(number(1))), b=b"h\x00", c=many(b"h\x00", b"h\x00"), d=memo(1, text("word")), e=b"h\x01"),
        "shared_tensors": root(a=memo(0, held), b=b"h\x00", c=tensor("FloatStorage", "0", 4, (4,), (1,)), d=tensor("LongStorage", "0", 2, (2,), (1,)),
                               e=tensor("FloatStorage", "1", 4, (3, 2), (0, 1)), f=tensor("ByteStorage", "1", 0, (0,), (1,))),
        "shared_objects": root(a=memo(0, obj("__torch__.x", "N", attributes(b=held))), b=b"h\x00", c=memo(1, obj("__torch__", "S", number(1))), d=b"h\x01",
                               e=memo(2, obj("__torch__.torch.classes.n", "C", many(number(1), held))), f=b"h\x02"),
        "states": root(a=obj("__torch__", "S", memo(0, items(obj("__torch__", "S", b"N")))), b=b"h\x00", c=glob("__torch__", "S") + b")\x81"),
        "quantized": root(a=qtensor("per_tensor_affine", (FLOAT, number(3))), b=per_channel(SCALES[:1] + ("0",) + SCALES[2:], ZEROS[:1] + ("1",) + ZEROS[2:]),
                          c=per_channel(("FloatStorage", "0", 2, (2,), (1,)), ("FloatStorage", "1", 2, (2,), (1,)), scheme="per_channel_affine_float_qparams")),
        "typed": root(a=tagged(items(b"N", number(1)), "List[Optional[int]]"), b=tagged(attributes(k=items(number(1))), "Dict[str, List[int]]"),
                      c=typed("build_doublelist", items(FLOAT)), d=items(number(1), FLOAT), e=b"}", f=tagged(b"]", "List[__torch__.Q[NamedTuple, [[x, int]]]]")),
        "scalars": root(a=glob("builtins", "complex") + FLOAT + FLOAT + b"\x86R", b=device(text("cuda:1")), c=b"\x8a\x08" + b"\xff" * 8,
                        d=b"G\x7f\xf8" + b"\0" * 5 + b"\x01", e=b"M\xff\xff", f=text("a\0b"), g=b"\x88"),
        "deep": root(a=b")" + b"\x85" * 190), "deeper": root(a=b")" + b"\x85" * 197), "no_build": whole(glob("__torch__", "M") + b")\x81"),
        "native_empty": root(a=glob("__torch__.torch.classes.n", "C") + b")\x81"), "many": root(a=memo(0, text("x")), **{f"n{i}": b"h\x00" for i in range(300)}),
        "two_extras": module({"extra/a": b"1", "extra/b": b"2" * 70}, zipfile.ZIP_DEFLATED), "with_code": module({"code/a.py": b"class", "constants.pkl": whole(b")")}),
        "version3": module(version=3, operator=2, schema=False), "old_folder": module({"constants/w": None, "bytecode/w": b"\0\0\0@" * 2}, version=4, operator=2),
        "debug": module({"mobile_debug_handles.pkl": DEBUG_HANDLES, "callstack_debug_map.pkl": CALLSTACKS, "code/a.py.debug_pkl": b"places"}),
    }


def main():
    warnings.simplefilter("ignore")  # one seed has two records with one name, about which zipfile warns
    for name, body in PICKLES.items():
        write("pickle", name, whole(body))
    for name, data in zips().items():
        write("zip", name, data)
    for name, data in modules().items():
        write("lite_archive", name, data)
    for name, data in written().items():
        write("write", name, data)
    for i, line in enumerate(TYPES):
        write("type", f"type{i:02}", line.encode())


if __name__ == "__main__":
    main()
