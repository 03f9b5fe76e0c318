#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_library.py [options] FILE…: checks libraries for Android. Each LOAD segment begins at a multiple of 16,384 in memory and in the file.
The library has no symbol table except the dynamic one. The library exports JNI_OnLoad, Java_* and taper_* and nothing else. It needs only
libraries that each Android has, has no text relocations and no search path of the build machine. --unwinds: it has tables to unwind a crash
in nearly all of its code. Prints a size for each file. Exit status 1 if a check fails."""
import argparse
import re
import struct
import sys

PAGE = 16384
NEEDED = {"bionic": r"lib(c|m|dl|log|z)\.so|libpytorch_jni\.so", "glibc": r"lib(c|m|dl|pthread|z)\.so\.\d+|ld-linux.*|libgcc_s.*|libpytorch_jni\.so"}
STUB = {"bionic": 4096, "glibc": 2 * PAGE}  # largest size of a stub in bytes; GNU's linker pads it to whole pages
SHOWN = r"JNI_OnLoad|Java_\w+|taper_\w+"
# Symbols that linkers add.
LINKER = r"__bss_start|_edata|_end|_init|_fini|__bss_start__|_bss_end__|__bss_end__|__end__"


class Elf:
    """The parts of an ELF file that loaders read."""

    def __init__(self, data):
        self.data = data
        if data[:4] != b"\x7fELF" or data[5] != 1:
            raise ValueError("is no little-endian ELF file")
        self.wide = data[4] == 2
        self.machine = struct.unpack_from("<H", data, 18)[0]
        if self.wide:
            offsets = struct.unpack_from("<QQ", data, 32)
            entry, count, section_entry, sections = struct.unpack_from("<HHHH", data, 54)
            self.segments = [dict(zip(("type", "flags", "offset", "address", "physical", "size", "memory", "align"),
                                      struct.unpack_from("<IIQQQQQQ", data, offsets[0] + i * entry))) for i in range(count)]
        else:
            offsets = struct.unpack_from("<II", data, 28)
            entry, count, section_entry, sections = struct.unpack_from("<HHHH", data, 42)
            self.segments = [dict(zip(("type", "offset", "address", "physical", "size", "memory", "flags", "align"),
                                      struct.unpack_from("<IIIIIIII", data, offsets[0] + i * entry))) for i in range(count)]
        self.section_types = [struct.unpack_from("<I", data, offsets[1] + i * section_entry + 4)[0] for i in range(sections)]
        headers = [struct.unpack_from("<QQQQ" if self.wide else "<IIII", data, offsets[1] + i * section_entry + 8) for i in range(sections)]
        self.code = sum(size for flags, _, _, size in headers if flags & 4)
        self.dynamic = self.read_dynamic()

    def read_dynamic(self):
        entries = []
        for s in self.segments:
            if s["type"] == 2:
                form = "<qQ" if self.wide else "<iI"
                for tag, value in struct.iter_unpack(form, self.data[s["offset"]:s["offset"] + s["size"]]):
                    if tag == 0:
                        break
                    entries.append((tag, value))
        return entries

    def at(self, address):
        for s in self.segments:
            if s["type"] == 1 and s["address"] <= address < s["address"] + s["size"]:
                return address - s["address"] + s["offset"]
        raise ValueError("address %x is in no segment" % address)

    def values(self, tag):
        return [value for t, value in self.dynamic if t == tag]

    def text(self, offset):
        start = self.at(self.values(5)[0]) + offset
        return self.data[start:self.data.index(b"\0", start)].decode()

    def texts(self, tag):
        return [self.text(value) for value in self.values(tag)]

    def symbols(self):
        """Returns (name, defined) of each dynamic symbol."""
        start, end = self.at(self.values(6)[0]), self.at(self.values(5)[0])  # linkers write the names right after the symbols
        size = 24 if self.wide else 16
        if self.values(4):  # the older hash table has one chain for each symbol
            end = start + size * struct.unpack_from("<I", self.data, self.at(self.values(4)[0]) + 4)[0]
        else:
            versions = [self.at(v) for v in self.values(0x6FFFFFF0)]
            end = start + size * ((versions[0] - start) // size) if versions and start < versions[0] < end else end
        for at in range(start + size, end - size + 1, size):
            if self.wide:
                name, _, _, section = struct.unpack_from("<IBBH", self.data, at)
            else:
                name, _, _, _, _, section = struct.unpack_from("<IIIBBH", self.data, at)
            yield self.text(name), section != 0


def unwound(elf):
    """Returns the share of the code that the table of .eh_frame_hdr covers. A table of .ARM.exidx does not say where functions end, so it
    counts as complete if it has at least 4,096 bytes."""
    covered = 0
    for s in elf.segments:
        if s["type"] == 0x70000001 and s["size"] >= 4096:
            covered = elf.code
        elif s["type"] == 0x6474E550:
            encodings, _, count = struct.unpack_from("<4siI", elf.data, s["offset"])
            if encodings[2:] != b"\x03\x3b":
                raise ValueError("its .eh_frame_hdr has no table that is known here")
            for i in range(count):
                place = s["address"] + struct.unpack_from("<i", elf.data, s["offset"] + 16 + 8 * i)[0]
                covered += struct.unpack_from("<I", elf.data, elf.at(place) + 12)[0]
    return covered / elf.code


def faults(elf, system, built=False):
    loads = [s for s in elf.segments if s["type"] == 1]
    for s in loads:
        if s["align"] < PAGE or s["align"] % PAGE or (s["address"] - s["offset"]) % PAGE:
            yield "the segment at 0x%x is aligned to %d bytes, not to %d" % (s["address"], s["align"], PAGE)
    pages = [(s["address"] // PAGE, (s["address"] + s["memory"] + PAGE - 1) // PAGE, s["flags"]) for s in loads]
    for i, (first, last, flags) in enumerate(pages):
        if flags & 3 == 3:
            yield "a segment is writable and executable"
        if i and pages[i - 1][1] > first:
            yield "two segments share a page of %d bytes" % PAGE
    if 2 in elf.section_types and not built:
        yield "it is not stripped"
    if elf.values(22):
        yield "it has relocations in code"
    if system == "bionic" and (elf.values(36) or elf.values(0x6FFFE000)):
        yield "it has packed relocations, which Android reads since API 28"
    for tag, name in ((15, "RPATH"), (29, "RUNPATH")):
        if elf.values(tag) and not built and (system == "bionic" or elf.texts(tag) != ["$ORIGIN"]):
            yield "it has a %s: %s" % (name, elf.texts(tag)[0])
    for name in elf.texts(1):
        if not re.fullmatch(NEEDED[system], name):
            yield "it needs %s" % name
    for name, defined in elf.symbols():
        if defined and name and not re.fullmatch(SHOWN + "|" + LINKER, name):
            yield "it shows %s" % name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, help="bytes that the file may have")
    parser.add_argument("--unwinds", action="store_true", help="with tables to unwind a crash by")
    parser.add_argument("--one-page", action="store_true", help="a stub: one page that needs libpytorch_jni.so")
    parser.add_argument("--system", choices=NEEDED, default="bionic")
    parser.add_argument("--built", action="store_true", help="as it was built for tests: with symbols, and folders to find libraries in")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    status = 0
    for path in options.files:
        with open(path, "rb") as file:
            data = file.read()
        try:
            elf = Elf(data)
            found = list(faults(elf, options.system, options.built))
        except (ValueError, struct.error, IndexError) as e:
            found = [str(e)]
        else:
            if options.limit and len(data) > options.limit:
                found.append("it has more than %d bytes" % options.limit)
            if options.unwinds and not 0.97 <= unwound(elf) < 1.01:
                found.append("its unwind tables are of %.1f %% of the code: a crash inside the rest says nothing of where it was called from"
                             % (100 * unwound(elf)))
            if options.one_page and (len(data) > STUB[options.system] * (1 + options.built) or elf.texts(1)[0] != "libpytorch_jni.so"):
                found.append("it is no stub of one page that needs libpytorch_jni.so")
            if not options.one_page and not any(name == "JNI_OnLoad" and defined for name, defined in elf.symbols()):
                found.append("it does not show JNI_OnLoad")
        print("%10d  %s%s" % (len(data), path, " (limit %d)" % options.limit if options.limit else ""))
        for fault in found:
            print("FAILED  %s: %s" % (path, fault))
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
