#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""join.py LIB BUILD…: writes the libraries that projects of PyTorch Mobile link to the folder LIB. libtorch.a joins the libtaper.a of the builds,
one for each processor. The other libraries have one object with one unused name, because some linkers refuse an empty archive."""
import os
import re
import subprocess
import sys
import tempfile

import macho

# The other libraries that PyTorch's own build for phones installs.
EMPTY = ["torch_cpu", "c10", "clog", "cpuinfo", "eigen_blas", "pthreadpool", "pytorch_qnnpack", "nnpack", "XNNPACK"]


def cached(build, name):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search(r"^%s:[A-Z]+=(.*)$" % name, file.read(), re.M).group(1)


def joined(parts):
    return parts[0][1] if len(parts) == 1 else macho.fat(parts)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def empty(build, name):
    """Writes an archive with one nearly empty object, using the tools that built the library."""
    with tempfile.TemporaryDirectory() as scratch:
        source, object_, archive = (os.path.join(scratch, "empty" + end) for end in (".c", ".o", ".a"))
        with open(source, "w", encoding="ascii") as file:
            file.write("extern const char taper_empty_%s;\nconst char taper_empty_%s = 0;\n" % (name, name))
        subprocess.run([*cached(build, "TAPER_APPLE_CC").split(";"), "-fvisibility=hidden", "-c", source, "-o", object_], check=True)
        subprocess.run([cached(build, "TAPER_APPLE_AR"), "rcs", archive, object_], check=True)
        return read(archive)


def main():
    lib, builds = sys.argv[1], sys.argv[2:]
    cpus = ["x86_64" if "x86_64" in cached(build, "TAPER_APPLE_SLICE") else "arm64" for build in builds]
    files = {"torch": [read(os.path.join(build, "lib", "libtaper.a")) for build in builds]}
    for name in EMPTY:
        files[name] = [empty(build, name) for build in builds]
    for name, parts in files.items():
        with open(os.path.join(lib, "lib%s.a" % name), "wb") as file:
            file.write(joined(list(zip(cpus, parts))))


if __name__ == "__main__":
    main()
