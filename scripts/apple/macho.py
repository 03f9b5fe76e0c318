# SPDX-License-Identifier: BSD-2-Clause
"""Reads the files of Apple's linkers: 64-bit Mach-O files, archives of them, fat files of either, and the text stubs of libraries (.tbd). Raises
ValueError for other or truncated files."""
import re
import struct

CPU = {0x01000007: "x86_64", 0x0100000C: "arm64"}
PLATFORM = {1: "macos", 2: "ios", 7: "ios-simulator"}
KIND = {1: "object", 2: "program", 6: "library"}
FAT, THIN, ARCHIVE = b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"!<arch>\n"


def unpack(form, data, at):
    if at < 0 or at + struct.calcsize(form) > len(data):
        raise ValueError("ends in the middle of something")
    return struct.unpack_from(form, data, at)


def text_at(data, at):
    end = data.find(b"\0", at)
    return data[at:end if end >= 0 else len(data)].decode("utf-8", "replace")


class MachO:
    """One file: kind, cpu, platform, minimum (version of the system), needed, rpaths, symbols, sections."""

    def __init__(self, data):
        magic, cpu, _, kind, commands, _, _, _ = unpack("<4sIIIIIII", data, 0)
        if magic != THIN or cpu not in CPU or kind not in KIND:
            raise ValueError("is no Mach-O file for arm64 or x86_64")
        self.size, self.cpu, self.kind = len(data), CPU[cpu], KIND[kind]
        self.platform = self.minimum = self.name = None
        self.needed, self.rpaths, self.sections, self.symbols = [], [], [], []
        at = 32
        for _ in range(commands):
            command, length = unpack("<II", data, at)
            if length < 8:
                raise ValueError("has a load command of %d bytes" % length)
            self.read_command(data, at, command, length)
            at += length

    def read_command(self, data, at, command, length):
        if command in (0x0C, 0x80000018, 0x8000001F, 0x0D):  # a needed library, or the name of this library
            name = text_at(data, at + unpack("<I", data, at + 8)[0])
            if command == 0x0D:
                self.name = name
            else:
                self.needed.append(name)
        elif command == 0x8000001C:
            self.rpaths.append(text_at(data, at + unpack("<I", data, at + 8)[0]))
        elif command == 0x32:
            platform, minimum = unpack("<II", data, at + 8)
            self.platform, self.minimum = PLATFORM.get(platform, str(platform)), self.version(minimum)
        elif command in (0x24, 0x25):  # the commands by which files for older systems state the oldest system
            self.platform = "macos" if command == 0x24 else "ios" if self.cpu == "arm64" else "ios-simulator"
            self.minimum = self.version(unpack("<I", data, at + 8)[0])
        elif command == 0x19:
            count = unpack("<I", data, at + 64)[0]
            for i in range(count):
                self.sections.append(text_at(unpack("<16s", data, at + 72 + 80 * i)[0], 0))
        elif command == 0x02:
            table, count, names, size = unpack("<IIII", data, at + 8)
            texts = data[names:names + size]
            for i in range(count):
                name, flags, _, _, value = unpack("<IBBHQ", data, table + 16 * i)
                if flags & 0xE0 == 0 and flags & 1:  # an external symbol, not one for debuggers
                    defined = flags & 0x0E != 0 or value != 0  # a common symbol has its size as value
                    self.symbols.append((text_at(texts, name), defined, flags & 0x10 != 0))

    @staticmethod
    def version(number):
        return "%d.%d" % (number >> 16, number >> 8 & 255)

    def defined(self, hidden):
        return {name for name, defined, private in self.symbols if defined and (hidden or not private)}

    def undefined(self):
        return {name for name, defined, _ in self.symbols if not defined}


def members(data):
    """Yields the names and bytes of the files of an archive."""
    at = len(ARCHIVE)
    while at < len(data):
        head = unpack("<16s12s6s6s8s10s2s", data, at)
        if head[6] != b"`\n":
            raise ValueError("has no header of a member at byte %d" % at)
        name, size = head[0].decode("ascii", "replace").strip(), int(head[5])
        start = at + 60
        body = data[start:start + size]
        if name.startswith("#1/"):
            length = int(name[3:])
            name, body = text_at(body[:length], 0), body[length:]
        if len(data) < start + size:
            raise ValueError("ends within %s" % name)
        if not name.startswith("__.SYMDEF"):
            yield name, body
        at = start + size + size % 2


def slices(data):
    """Yields (cpu or None, bytes) for the parts of a fat file, or for another file as a whole."""
    if data[:4] != FAT:
        return [(None, data)]
    parts = []
    for i in range(unpack(">I", data, 4)[0]):
        cpu, _, offset, size, _ = unpack(">IIIII", data, 8 + 20 * i)
        if offset + size > len(data):
            raise ValueError("its part %d ends behind it" % i)
        parts.append((CPU.get(cpu, hex(cpu)), data[offset:offset + size]))
    return parts


def files(data):
    """Yields every Mach-O file in the bytes of a file."""
    for _, part in slices(data):
        if part[:8] == ARCHIVE:
            for name, body in members(part):
                try:
                    yield name, MachO(body)
                except ValueError as error:
                    raise ValueError("%s %s" % (name, error)) from None
        else:
            yield None, MachO(part)


def fat(parts):
    """Returns a fat file of several (cpu, bytes) for different processors."""
    number = {name: (cpu, 0 if name == "arm64" else 3) for cpu, name in CPU.items()}
    align = 14
    head, body = struct.pack(">4sI", FAT, len(parts)), b""
    at = -(-(8 + 20 * len(parts)) // (1 << align)) << align
    start = at
    for cpu, data in parts:
        head += struct.pack(">IIIII", *number[cpu], at, len(data), align)
        body += data + b"\0" * (-len(data) % (1 << align))
        at = start + len(body)
    return head + b"\0" * (start - len(head)) + body


def stub_exports(text):
    """Returns the symbols that a .tbd names, for all libraries in it."""
    return {name.strip("'\"") for block in re.findall(r"(?<!-)symbols:\s*\[([^\]]*)\]", text) for name in re.split(r"[\s,]+", block) if name}
