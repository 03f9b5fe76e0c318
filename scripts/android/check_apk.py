#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_apk.py FILE.apk …: checks that libraries and models are stored uncompressed, and libraries at multiples of 16,384, so that Android maps
them from the package, and that each ABI has libpytorch_jni.so."""
import struct
import sys
import zipfile

PAGE = 16384
status = 0


def failed(path, what):
    global status
    status = 1
    print("FAILED  %s: %s" % (path, what))


for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        abis, libraries, size = set(), set(), 0
        for entry in archive.infolist():
            if not entry.filename.endswith((".so", ".ptl")):
                continue
            file.seek(entry.header_offset + 26)
            name, extra = struct.unpack("<HH", file.read(4))
            offset = entry.header_offset + 30 + name + extra
            if entry.compress_type != zipfile.ZIP_STORED:
                failed(path, entry.filename + " is compressed")
            if entry.filename.endswith(".so"):
                abis.add(entry.filename.split("/")[1])
                libraries.add(entry.filename)
                if offset % PAGE:
                    failed(path, "%s lies at %d, which is no multiple of %d" % (entry.filename, offset, PAGE))
        for abi in abis:
            if "lib/%s/libpytorch_jni.so" % abi not in libraries:
                failed(path, "no libpytorch_jni.so for " + abi)
        if not abis or "classes.dex" not in archive.namelist():
            failed(path, "no libraries or no classes")
        file.seek(0, 2)
        print("%10d  %s: %s" % (file.tell(), path, ", ".join(sorted(abis))))
sys.exit(status)
