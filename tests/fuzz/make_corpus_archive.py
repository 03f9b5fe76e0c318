#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_zip, fuzz_pickle, fuzz_lite_archive and fuzz_type to corpus/ beside this file.

Everything is made here, without PyTorch, and comes out the same every time. Each seed is small and shows one form that
the readers know, or one way in which files are broken.
"""
import io
import pathlib
import struct
import warnings
import zipfile

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


def storage(cls, key, numel):
    return many(text("storage"), glob("torch", cls), text(key), text("cpu"), number(numel)) + b"Q"


ORDERED = glob("collections", "OrderedDict") + b")R"


def tensor(cls, key, numel, sizes, strides):
    return (glob("torch._utils", "_rebuild_tensor_v2") +
            many(storage(cls, key, numel), number(0), many(*map(number, sizes)), many(*map(number, strides)), b"\x89", ORDERED) + b"R")


def qtensor(scheme, parameters):
    return (glob("torch._utils", "_rebuild_qtensor") +
            many(storage("QInt8Storage", "1", 4), number(0), many(number(2), number(2)), many(number(2), number(1)),
                 many(glob("torch", scheme), *parameters), b"\x89", ORDERED) + b"R")


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
    # broken
    "cycle": b"]q\x00(h\x00e", "depth": b"\x85" * 3 + b")" + b"\x85" * 250, "system": glob("os", "system") + text("true") + b"\x85R",
    "outside": tensor("FloatStorage", "0", 6, (2, 4), (4, 1)), "negative": tensor("FloatStorage", "0", 6, (-1,), (1,)),
    "nine": tensor("FloatStorage", "0", 6, (1,) * 9, (1,) * 9), "mark": b"(((((", "underflow": b"\x87",
    "forged": glob("torch._utils", "_rebuild_tensor_v2") + many(b"NK\x00K\x06\x87", number(0), b")", b")", b"\x89", ORDERED) + b"R",
    "long_text": b"X\xff\xff\xff\xff", "far_memo": b"Nr\xff\xff\xff\xff",
}


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
    seeds = {
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


def modules():
    seeds = {
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
        # read as records of an archive by the fuzz target
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
]


def main():
    warnings.simplefilter("ignore")  # one seed has two records of one name on purpose
    for name, body in PICKLES.items():
        write("pickle", name, whole(body))
    for name, data in zips().items():
        write("zip", name, data)
    for name, data in modules().items():
        write("lite_archive", name, data)
    for i, line in enumerate(TYPES):
        write("type", f"type{i:02}", line.encode())


if __name__ == "__main__":
    main()
