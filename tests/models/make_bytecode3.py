#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Rewrites a lite module of bytecode version 4 as version 3, which PyTorch 1.6 wrote. Its functions have no schema.

Usage: make_bytecode3.py IN.ptl OUT.ptl [--unnumbered]

Today's PyTorch neither writes nor reads version 3, so tests make such files with this script. --unnumbered also omits
the version number; readers then assume version 3.
"""
import argparse
import pickletools
import struct
import zipfile

MARK = object()


class Node:
    """A part of a pickle that the rewriting does not interpret: the opcode, its argument, and its operands."""

    def __init__(self, op, arg=None, parts=()):
        self.op, self.arg, self.parts = op, arg, parts


def read(data):
    """Returns the value of a pickle; globals, calls and persistent ids remain Nodes."""
    stack, memo = [], {}

    def to_mark():
        items = []
        while stack[-1] is not MARK:
            items.append(stack.pop())
        stack.pop()
        return items[::-1]

    for op, arg, _ in pickletools.genops(data):
        name = op.name
        if name in ("PROTO", "STOP"):
            continue
        elif name == "MARK":
            stack.append(MARK)
        elif name in ("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE"):
            stack.append(arg)
        elif name in ("NONE", "NEWTRUE", "NEWFALSE"):
            stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[name])
        elif name in ("EMPTY_TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"):
            n = ("EMPTY_TUPLE", "TUPLE1", "TUPLE2", "TUPLE3").index(name)
            items = tuple(stack[len(stack) - n:])
            del stack[len(stack) - n:]
            stack.append(items)
        elif name == "TUPLE":
            stack.append(tuple(to_mark()))
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name == "APPENDS":
            items = to_mark()
            stack[-1].extend(items)
        elif name == "EMPTY_DICT":
            stack.append({})
        elif name == "SETITEMS":
            items = to_mark()
            stack[-1].update(zip(items[::2], items[1::2]))
        elif name == "GLOBAL":
            stack.append(Node(name, arg))
        elif name == "BINPERSID":
            stack.append(Node(name, None, (stack.pop(),)))
        elif name in ("REDUCE", "NEWOBJ", "BUILD"):
            second = stack.pop()
            stack.append(Node(name, None, (stack.pop(), second)))
        elif name in ("BINPUT", "LONG_BINPUT"):
            memo[arg] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(memo[arg])
        else:
            raise ValueError(f"opcode {name}")
    return stack.pop()


CODES = {"REDUCE": b"R", "NEWOBJ": b"\x81", "BUILD": b"b", "BINPERSID": b"Q"}


def write(value):
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, int):
        if -2**31 <= value < 2**31:
            return b"J" + struct.pack("<i", value)
        return b"\x8a\x08" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return b"X" + struct.pack("<I", len(text)) + text
    if isinstance(value, tuple):
        return b"(" + b"".join(map(write, value)) + b"t"
    if isinstance(value, list):
        return b"](" + b"".join(map(write, value)) + b"e"
    if isinstance(value, dict):
        return b"}(" + b"".join(write(k) + write(v) for k, v in value.items()) + b"u"
    if value.op == "GLOBAL":
        return b"c" + value.arg.replace(" ", "\n").encode() + b"\n"
    return b"".join(map(write, value.parts)) + CODES[value.op]


def rewrite(data, numbered):
    program = read(data)
    if program[0] != 4:
        raise SystemExit(f"bytecode version {program[0]} where 4 is expected")
    functions = tuple(function[:2] for function in program[1:])
    return b"\x80\x02" + write(((3,) if numbered else ()) + functions) + b"."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--unnumbered", action="store_true")
    options = parser.parse_args()
    with zipfile.ZipFile(options.source) as source, open(options.target, "wb") as out, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("/bytecode.pkl"):
                data = rewrite(data, not options.unnumbered)
            info = zipfile.ZipInfo(name)
            start = out.tell() + 30 + len(name.encode()) + 4
            padding = -start % 64
            info.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
            target.writestr(info, data)


if __name__ == "__main__":
    main()
