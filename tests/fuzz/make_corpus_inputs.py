#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_image, fuzz_npy, fuzz_npz, fuzz_json and fuzz_settings to corpus/ next to this file. Everything is made here and is the
same every time."""
import struct
import zlib

from make_corpus_flatbuffer import write


def png(width, height, depth, colour, rows, interlace=0, extra=()):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(k, d) for k, d in extra) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def jpeg(components=1, width=8):
    """Returns a JPEG of height 8 whose coefficients are all zero. Each table has one symbol, so a block of a component has two bits."""
    def segment(marker, data):
        return bytes([0xff, marker]) + struct.pack(">H", len(data) + 2) + data
    table = bytes([1] + [0] * 15 + [0])
    frame = struct.pack(">BHHB", 8, 8, width, components) + b"".join(bytes([i + 1, 0x11, 0]) for i in range(components))
    scan = bytes([components]) + b"".join(bytes([i + 1, 0]) for i in range(components)) + b"\0\x3f\0"
    return (b"\xff\xd8" + segment(0xdb, b"\0" + bytes([1] * 64)) + segment(0xc0, frame) + segment(0xc4, b"\0" + table) +
            segment(0xc4, b"\x10" + table) + segment(0xda, scan) + bytes([0xff >> 2 * components]) + b"\xff\xd9")


def npz(entries, count=None):
    """entries: (name, data, true to deflate the data, changes of the central header's fields)."""
    out, directory = b"", b""
    for name, data, packed, changes in entries:
        at = len(out)
        stored = zlib.compressobj(9, zlib.DEFLATED, -15) if packed else None
        body = stored.compress(data) + stored.flush() if packed else data
        fields = {"method": 8 * packed, "crc": zlib.crc32(data), "packed": len(body), "size": len(data), "at": at, **changes}
        common = struct.pack("<HHHHHIIIHH", 20, 0, fields["method"], 0, 33, fields["crc"], fields["packed"], fields["size"], len(name), 0)
        out += b"PK\3\4" + common + name + body
        directory += b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, fields["at"]) + name
    count = len(entries) if count is None else count
    return out + directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(out), 0)


def main():
    one = b"\x93NUMPY an array"
    for packed in (0, 1):
        write("npz", f"one{packed}.npz", npz([(b"x.npy", one, packed, {})]))
        write("npz", f"size{packed}.npz", npz([(b"x.npy", one, packed, {"size": 17})]))
        write("npz", f"crc{packed}.npz", npz([(b"x.npy", one, packed, {"crc": 1})]))
    write("npz", "quantized.npz", npz([(b"x.npy", one, 0, {}), (b"x.scale.npy", one, 0, {}), (b"x.zero_point.npy", one, 1, {})]))
    write("npz", "several.npz", npz([(b"%03d.npy" % i, one, 0, {}) for i in range(70)]))
    write("npz", "far.npz", npz([(b"x.npy", one, 0, {"at": 10000})]))
    write("npz", "long.npz", npz([(b"x.npy", one, 0, {"packed": 10000, "size": 10000})]))
    write("npz", "zip64.npz", npz([(b"x.npy", one, 0, {"size": 0xffffffff})]))
    write("npz", "method.npz", npz([(b"x.npy", one, 0, {"method": 9})]))
    write("npz", "bomb.npz", npz([(b"x.npy", one, 1, {"size": 0x7fffffff})]))
    write("npz", "count.npz", npz([(b"x.npy", one, 0, {})], 5))
    write("npz", "none.npz", npz([(b"x.txt", one, 0, {})]))
    write("npz", "empty.npz", npz([]))
    write("npz", "cut.npz", npz([(b"x.npy", one, 0, {})])[:-10])
    write("npz", "nothing", b"")
    write("npz", "words", b"words\n")
    write("npz", "bytes", b"\0\1\2\3")
    write("image", "grey.png", png(3, 2, 8, 0, b"\0abc\1def"))
    write("image", "colour.png", png(2, 1, 8, 2, b"\0abcdef"))
    write("image", "alpha16.png", png(1, 1, 16, 6, b"\0abcdefgh"))
    write("image", "palette.png", png(4, 1, 2, 3, b"\0\x1b", extra=[(b"PLTE", bytes(range(12))), (b"tRNS", b"\0\x80")]))
    write("image", "interlaced.png", png(2, 2, 8, 0, b"\0a\0b\0cd", 1))
    write("image", "huge.png", png(2**31 - 1, 2**31 - 1, 8, 2, b"\0"))
    write("image", "cut.png", png(3, 2, 8, 0, b"\0abc"))
    write("image", "grey.jpg", jpeg())
    write("image", "cut.jpg", jpeg()[:-4])
    write("image", "empty", b"")
    write("image", "grey4.png", png(3, 2, 4, 0, b"\0\x12\x30\0\x45\x60"))
    write("image", "wide.png", png(9, 5, 8, 2, (b"\0" + bytes(range(27))) * 5))
    write("image", "same_width.png", png(7, 2, 8, 0, b"\0abcdefg\2abcdefg"))
    write("image", "same_size.png", png(7, 5, 8, 0, b"\0abcdefg" * 5))
    write("image", "line.png", png(2, 5, 8, 4, b"\0abcd" * 5))
    write("image", "checksum.png", png(3, 2, 8, 0, b"\0abc\1def").replace(b"IDAT", b"IDAU"))
    write("image", "colour.jpg", jpeg(3))
    write("image", "inks.jpg", jpeg(4))
    write("image", "huge.jpg", jpeg(1, 20000))
    write("image", "two.jpg", jpeg(2))

    def turned(order, count, entry, first=8):
        """Returns a picture with EXIF data of one entry."""
        tiff = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", first, count) + entry
        exif = b"Exif\0\0" + tiff
        return jpeg(3)[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + jpeg(3)[2:]
    write("image", "turned.jpg", turned("<", 1, struct.pack("<HHIHH", 0x112, 3, 1, 6, 0)))
    write("image", "mirrored.jpg", turned(">", 2, struct.pack(">HHIHH", 0x10f, 2, 1, 0, 0) + struct.pack(">HHIHH", 0x112, 3, 1, 7, 0)))
    write("image", "turned_far.jpg", turned("<", 65535, b"", 2**32 - 1))
    write("image", "turned_cut.jpg", turned("<", 9, struct.pack("<HH", 0x112, 3)))
    write("image", "turned.png", png(3, 2, 8, 0, b"\0abc\1def", extra=[(b"eXIf", b"MM\0*" + struct.pack(">IHHHIHH", 8, 1, 0x112, 3, 1, 8, 0))]))

    def npy(header, data, version=b"\1\0"):
        header = header.encode() + b"\n"
        return b"\x93NUMPY" + version + (struct.pack("<H", len(header)) if version == b"\1\0" else struct.pack("<I", len(header))) + header + data
    form = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"
    write("npy", "floats", npy(form % ("<f4", "False", "(2, 3)"), bytes(24)))
    write("npy", "swapped", npy(form % (">i2", "True", "(2,)"), bytes(4)))
    write("npy", "scalar", npy(form % ("|b1", "False", "()"), b"\1", b"\2\0"))
    write("npy", "complex", npy(form % ("<c16", "False", "(1,)"), bytes(16)))
    write("npy", "huge", npy(form % ("<f8", "False", "(4611686018427387904, 4)"), bytes(8)))
    write("npy", "short", npy(form % ("<f4", "False", "(3,)"), bytes(8)))
    write("npy", "ranks", npy(form % ("<f4", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), bytes(4)))
    write("npy", "object", npy(form % ("|O", "False", "(1,)"), bytes(8)))
    write("npy", "tensor.npy", npy(form % ("<f4", "False", "(1, 2, 1, 2)"), struct.pack("<4f", 0, 1, 2, 3)))
    for name, parts in (("record", ("x", "False", "(1,)")), ("shapeless", ("<f4", "False", "5")), ("shape_text", ("<f4", "False", "(x,)")),
                        ("shape_open", ("<f4", "False", "(1")), ("overflow", ("<f4", "False", "(99999999999999999999,)")), ("big", (">f4", "False", "(1,)")),
                        ("empty", ("<f4", "False", "(4611686018427387904, 0, 9)")), ("fortran", ("=i8", "True", "(2, 2)")), ("missing", ("<f4", "False", ""))):
        header = form % parts
        write("npy", name, npy(header.replace("'x'", "[('x', '<f4')]") if name == "record" else header, bytes(32)))
    write("npy", "no_order", npy("{'descr': '<f4', 'shape': (1,), }", bytes(4)))
    write("npy", "dtypes", npy(form % ("<f2", "False", "(1,)"), bytes(2), b"\3\0"))
    write("npy", "version", npy(form % ("<f4", "False", "(1,)"), bytes(4), b"\4\0"))
    write("npy", "cut", npy(form % ("<f4", "False", "(1,)"), b"")[:40])
    write("npy", "foreign", b"PK\3\4 not an array")
    for name, text in (("numbers", "[1, -2.5e3, 9223372036854775807, NaN, -Infinity, true, null]"), ("object", '{"a": [1, 2], "b": {"a": []}}'),
                       ("texts", '["\\u00e4\\n", "\\ud83d\\ude00", ""]'), ("deep", "[" * 300), ("nested", "[" * 20 + "1" + "]" * 20),
                       ("rows", "[[1, 2], [3, 4.5]]"), ("cut", '{"a": '),
                       ("flat", "17"), ("half", "0.5"), ("yes", "true"), ("nothing", "null"), ("string", '"text"'), ("pair", "[1, 2]"), ("mixed", '[1, "a"]'),
                       ("escapes", '"\\u0041\\u20ac\\/\\b\\u0000"'), ("no_escape", '"\\x"'), ("no_hex", '"\\u12g4"'), ("no_low", '"\\ud800\\u0041"'),
                       ("no_end", '"abc'), ("no_key", "{1: 2}"), ("no_colon", '{"a" 1}'), ("no_comma", "[1 2]"), ("no_comma_object", '{"a": 1 "b": 2}'),
                       ("no_number", "1-2"), ("more", "1 1"), ("keys", '{"1": true, "2": false}'), ("keys_text", '{"a": true}'), ("twice", '{"a": 1, "a": 2}'), ("zero_key", '{"a": 1, "a\\u0000": 2}'),
                       ("empty_list", "[]"), ("empty_object", "{}"), ("file", '"@tensor.npy"'), ("file_plain", '"tensor.npy"'), ("no_file", '"@nowhere.npy"'),
                       ("files", '["@tensor.npy", "@tensor.npy"]'), ("file_mixed", '["@tensor.npy", 1]'), ("tensor", '{"@tensor": "tensor.npy"}'),
                       ("channels", '{"@tensor": "tensor.npy", "memory_format": "channels_last"}'), ("narrow", '{"@tensor": "tensor.npy", "dtype": "bfloat16"}'),
                       ("no_parameters", '{"@tensor": "tensor.npy", "dtype": "quint8"}'), ("optional", "[null, null]"), ("point", '{"x": 1, "y": [2]}'),
                       ("lists", "[[1, 2], [3]]"), ("deep_values", "[" * 70 + "]" * 70), ("surrogate", '"\\ud800"'), ("empty", ""), ("long", "1" * 400)):
        write("json", name, text.encode())
    for name, text in (("whole", '{"task": "segment", "size": [9, 4], "resize": 12, "mean": [0, 0.5, 1], "std": [1, 2, 0.25], "labels": ["a", "b\\n"], '
                                 '"colors": ["#00fF7a"], "inputs": [null, {"dtype": "quint8", "scale": 0.5, "zero_point": 3}]}'),
                       ("nothing", "{}"), ("other", '{"model": {"a": [1, {}]}, "x": null}'), ("list", "[]"), ("size", '{"size": [3]}'), ("side", '{"size": [0, 20000]}'),
                       ("resize", '{"resize": 1.5}'), ("mean", '{"mean": [1, NaN, 2]}'), ("std", '{"std": [0, 1, 1]}'), ("large", '{"std": [1e-40, 1, 1], "mean": [1e39, 0, 0]}'),
                       ("labels", '{"labels": ["\\u00e4", 3]}'), ("twice", '{"labels": ["a"], "labels": ["b", "c"]}'), ("color", '{"colors": ["#12345"]}'),
                       ("input", '{"inputs": [{"dtype": "qint8", "scale": 1, "zero_point": 0}]}'), ("scale", '{"inputs": [{"dtype": "quint8", "scale": -1, "zero_point": 999}]}'),
                       ("task", '{"task": 3}'), ("behind", "{} {}"), ("cut", '{"labels": ["a"'), ("deep", '{"a": ' + "[" * 100), ("crop", '{"size": [300, 2], "resize": 3}')):
        write("settings", name, text.encode())


if __name__ == "__main__":
    main()
