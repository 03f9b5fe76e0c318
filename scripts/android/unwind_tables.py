#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""unwind_tables.py COMMAND…: links a library with a command of clang and lld, and replaces its unwind tables by tables that have a twentieth of
their size.

A linker writes an entry for each of thousands of functions, but after a function has set up its frame there are few different frames. The library
is therefore linked three times. The first link (with link-time optimization, if the command asks for it) finds the functions and their frames.
The second link places functions with equal frames next to each other. The third link omits the objects' own tables and adds one entry for each
run of functions with equal frames.

A shared entry describes the frame after it is set up. For the few instructions that set up the frame, the entry is not exact, but only a stack
overflow can fault there. A function keeps its own entry if it does anything else while it sets up its frame, if it branches there, or if its
frame changes later. Callee-saved registers are still restored, which unwinding into the code of Android's runtime needs.

The result is read and compared for each function. If anything differs, or the command is not supported (only arm64 with lld is), the library is
the one that the command alone makes, and a note says this."""
import collections
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

ARM64 = 183
SP, BRANCHES = 31, 5
FUNCTION, GLOBAL = 2, 1
EXCLUDED = 0x80000000  # a section that a linker leaves out
CIE_HEAD = b"zR\0" + bytes((1, 0x7C, 30, 1, 0x1B))  # code alignment 1, data alignment -4, the return address in x30, relative pointers

Entry = collections.namedtuple("Entry", "start end rule program")  # rule: None if the entry keeps its own call frame instructions


class NotHere(Exception):
    pass


def uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def put_uleb(value):
    out = bytearray()
    while True:
        out.append(value & 127 | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


def run(program, cfa, saved):
    """Returns (last offset of a change, rule) of a program of call frame instructions, or None if it has instructions that prologues do not have."""
    at = place = last = 0
    while at < len(program):
        code = program[at]
        at += 1
        if code == 0:
            continue
        if code >> 6 == 1:
            place += code & 63
            continue
        if code in (2, 3):
            place += int.from_bytes(program[at:at + code - 1], "little")
            at += code - 1
            continue
        if code >> 6 == 2:
            saved[code & 63], at = uleb(program, at)
        elif code == 5:
            register, at = uleb(program, at)
            saved[register], at = uleb(program, at)
        elif code == 0x0C:
            register, at = uleb(program, at)
            offset, at = uleb(program, at)
            cfa = (register, offset)
        elif code == 0x0D:
            register, at = uleb(program, at)
            cfa = (register, cfa[1])
        elif code == 0x0E:
            offset, at = uleb(program, at)
            cfa = (cfa[0], offset)
        else:
            return None
        last = place
    return last, (cfa, tuple(sorted(saved.items())))


def program_of(rule):
    (register, offset), saved = rule
    out = bytearray(b"\x0c" + put_uleb(register) + put_uleb(offset))
    for name, at in saved:
        out += (bytes((0x80 | name,)) if name < 64 else b"\x05" + put_uleb(name)) + put_uleb(at)
    return bytes(out)


class Elf:
    def __init__(self, data):
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 18)[0] != ARM64:
            raise NotHere("it is not for arm64")
        self.sections_at, = struct.unpack_from("<Q", data, 40)
        count, names = struct.unpack_from("<HH", data, 60)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, self.sections_at + 64 * i) for i in range(count)]
        start = headers[names][4]
        self.names = [data[start + s[0]:data.index(b"\0", start + s[0])].decode() for s in headers]
        self.sections = dict(zip(self.names, headers))

    def bytes_of(self, name):
        s = self.sections[name]
        return self.data[s[4]:s[4] + s[5]]


def without_tables(data):
    """Writes an object whose table a linker omits."""
    elf, out = Elf(data), bytearray(data)
    for i, name in enumerate(elf.names):
        if name == ".eh_frame":
            at = elf.sections_at + 64 * i + 8
            struct.pack_into("<Q", out, at, struct.unpack_from("<Q", out, at)[0] | EXCLUDED)
    return bytes(out)


class Library(Elf):
    """A linked library. Its entries are relative to the beginning of .text, which moves when tables
    shrink."""

    def __init__(self, path):
        with open(path, "rb") as file:
            super().__init__(file.read())
        self.text = self.sections[".text"]
        texts = self.bytes_of(".strtab")
        self.functions, self.shown = {}, {}
        for name, kind, _, section, value, size in struct.iter_unpack("<IBBHQQ", self.bytes_of(".symtab")):
            if kind & 15 == FUNCTION and section != 0 and size != 0:
                text = texts[name:texts.index(b"\0", name)].decode()
                if text.startswith("__CortexA53843419"):  # code that the linker appends to avoid a fault of a processor
                    continue
                self.functions.setdefault(value - self.text[3], text)
                if kind >> 4 == GLOBAL:
                    self.shown[value - self.text[3]] = text
        self.entries = []
        if ".eh_frame" in self.sections:
            self.entries = sorted(self.read(*[self.sections[".eh_frame"][i] for i in (3, 4, 5)]), key=lambda e: e.start)

    def read(self, address, offset, size):
        """Reads the entries of the functions."""
        heads, at, data = {}, 0, self.data[offset:offset + size]
        while at + 4 <= size:
            length, = struct.unpack_from("<I", data, at)
            if length == 0:
                break
            end = at + 4 + length
            identifier, = struct.unpack_from("<I", data, at + 4)
            if identifier == 0:
                known = data[at + 8] == 1 and data[at + 9:at + 17] == CIE_HEAD
                heads[at] = run(data[at + 17:end], (SP, 0), {})[1] if known else None
            else:
                place, count = struct.unpack_from("<iI", data, at + 8)
                start = address + at + 8 + place - self.text[3]
                if heads[at + 4 - identifier] is None:  # an entry by another compiler, from a library that is linked in
                    yield Entry(start, start + count, None, None)
                    at = end
                    continue
                more, behind = uleb(data, at + 16)
                program = data[behind + more:end].rstrip(b"\0")
                cfa, saved = heads[at + 4 - identifier]
                ran = run(program, cfa, dict(saved))
                plain = ran is not None and self.is_prologue(start, ran[0])
                yield Entry(start, start + count, ran[1] if plain else None, program)
            at = end

    def is_prologue(self, start, length):
        """Returns true if these instructions access only the stack and are no target of a branch."""
        if start < 0 or start + length > self.text[5]:
            return False
        for word, in struct.iter_unpack("<I", self.data[self.text[4] + start:self.text[4] + start + length]):
            if word >> 26 & 7 == BRANCHES or word >> 25 & 5 == 4 and word >> 5 & 31 != SP:
                return False
        return True


def order(library):
    """Returns the functions' names sorted by frame; functions with equal frames keep their old order. Functions with entries of their own come
    last."""
    groups = collections.OrderedDict()
    for entry in library.entries:
        if entry.start in library.functions:
            groups.setdefault(entry.rule, []).append(library.functions[entry.start])
    own = groups.pop(None, [])
    return [name for group in list(groups.values()) + [own] for name in group]


def runs_of(entries, others):
    """Merges the entries of neighbouring functions that have the same rule. Neighbours may be separated by a few bytes. Functions that have
    entries in others are omitted."""
    runs, foreign = [], {e.start for e in others}
    apart = True
    for entry in entries:
        if entry.start in foreign:
            apart = True
            continue
        if entry.program is None:
            raise NotHere("its compiler makes other tables than LLVM's does")
        if not apart and entry.rule is not None and entry.rule == runs[-1].rule and 0 <= entry.start - runs[-1].end < 64:
            runs[-1] = runs[-1]._replace(end=entry.end)
        else:
            runs.append(entry)
        apart = False
    return runs


def assembly(runs, library):
    """Returns the assembly of the table of runs, whose addresses are relative to an exported function."""
    base, name = min(library.shown.items())
    out, heads = ['.section .eh_frame,"a",@progbits'], {}

    def record(label, fields, body):
        out.extend(["%s:\n.long 2f - 1f\n1:" % label, fields, ".byte %s" % ", ".join(map(str, body)), ".balign 4\n2:"])

    for i, entry in enumerate(runs):
        rule = entry.rule if entry.rule is not None else ((SP, 0), ())
        if rule not in heads:
            heads[rule] = "h%d" % len(heads)
            record(heads[rule], ".long 0", b"\1" + CIE_HEAD + program_of(rule))
        record("e%d" % i, ".long . - %s\n.long %s + (%d) - .\n.long %d" % (heads[rule], name, entry.start - base, entry.end - entry.start),
               b"\0" + (entry.program if entry.rule is None else b""))
    return "\n".join(out) + '\n.section .note.GNU-stack,"",@progbits\n'


def differs(before, after):
    """Returns the first function for which an unwinder finds another rule in `after`. Unwinders look for the last entry before an address."""
    at = 0
    for entry in before.entries:
        while at + 1 < len(after.entries) and after.entries[at + 1].start <= entry.start:
            at += 1
        found = after.entries[at]
        same = found.program == entry.program if entry.rule is None else found.rule == entry.rule
        alone = at + 1 == len(after.entries) or after.entries[at + 1].start >= entry.end
        if not (found.start <= entry.start and entry.end <= found.end and alone and same):
            return "%s at %x" % (before.functions.get(entry.start, "a function"), entry.start)
    return None if before.functions == after.functions else "the order of functions"


def call(command):
    status = subprocess.call(command)
    if status:
        sys.exit(status)


def link_small(command, folder, library):
    """Links the library. Raises NotHere if the result of the command must be kept."""
    at = command.index("-o") + 1

    def link(out, *more, objects=None):
        changed = [(objects or {}).get(word, word) for word in command]
        changed[at] = out
        call([word for word in changed if word] + list(more))

    paths = {name: os.path.join(folder, name) for name in ("whole.o", "first.so", "order", "sorted.so", "bare.so", "table.s", "table.o")}
    link(paths["first.so"], "-Wl,--lto-obj-path=" + paths["whole.o"])
    first = Library(paths["first.so"])
    shutil.copy(paths["first.so"], library)
    with open(paths["order"], "w", encoding="utf-8") as file:
        file.write("".join(name + "\n" for name in order(first)))
    # The single file that the optimizer made of the objects replaces these objects.
    plain, bare, place = {}, {}, paths["whole.o"]
    for word in command:
        if word.endswith(".o") and os.path.exists(word):
            with open(word, "rb") as file:
                data = file.read()
            plain[word] = word
            if data[:2] == b"BC":
                plain[word], place = place, ""
            if plain[word]:
                bare[word] = os.path.join(folder, "%d.o" % len(bare))
                with open(plain[word], "rb") as file, open(bare[word], "wb") as copy:
                    copy.write(without_tables(file.read()))
            else:
                bare[word] = ""
    sort = ("-Wl,--symbol-ordering-file=" + paths["order"], "-Wl,--no-warn-symbol-ordering")
    link(paths["sorted.so"], *sort, objects=plain)
    link(paths["bare.so"], *sort, objects=bare)
    before = Library(paths["sorted.so"])
    runs = runs_of(before.entries, Library(paths["bare.so"]).entries)
    with open(paths["table.s"], "w", encoding="utf-8") as file:
        file.write(assembly(runs, before))
    call([command[0]] + [word for word in command[1:] if word.startswith("--target=")] + ["-c", paths["table.s"], "-o", paths["table.o"]])
    link(paths["first.so"], *sort, paths["table.o"], objects=bare)
    fault = differs(before, Library(paths["first.so"]))
    if fault:
        raise NotHere("%s would be described otherwise" % fault)
    shutil.copy(paths["first.so"], library)
    print("%s: unwind tables of %d functions in %d entries" % (library, len(before.entries), len(runs)))


def main():
    command = []
    for word in sys.argv[1:]:
        if word.startswith("@") and os.path.exists(word[1:]):
            with open(word[1:], encoding="utf-8") as file:
                command += shlex.split(file.read())
        else:
            command.append(word)
    library = command[command.index("-o") + 1]
    if os.path.exists(library):
        os.remove(library)
    if "-shared" not in command:
        call(command)
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            link_small(command, folder, library)
    except NotHere as e:
        print("%s: has the linker's unwind tables: %s" % (library, e))


if __name__ == "__main__":
    main()
