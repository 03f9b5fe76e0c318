#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""wheel_tag.py WHEEL OUT [--auditwheel PROGRAM]: writes WHEEL to OUT under the tag of the oldest C library that can load it.

With glibc this is manylinux_2_N (PEP 600), where N is the newest version of the symbols that the module uses from glibc. With musl it is
musllinux_1_2 (PEP 656), the only version whose ABI Taper was built for. The module may need only the C library, libm and zlib, which both policies
allow. If auditwheel is given, it must allow the same tag. Needs readelf and the Python package wheel."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libz.so.1"}
LOADER = re.compile(r"ld-linux[-\w]*\.so\.\d+|ld64\.so\.\d+")
MUSL_C = re.compile(r"libc\.musl-\w+\.so\.1|libc\.so") # zig links the second name; musl's loader treats both names as itself
MUSL = re.compile(MUSL_C.pattern + r"|libz\.so\.1")


def fail(text):
    sys.exit("wheel_tag.py: " + text)


def needed(dynamic):
    """Returns the libraries that `readelf -d` lists as needed."""
    return re.findall(r"\(NEEDED\).*\[([^\]]+)\]", dynamic)


def newest_glibc(versions):
    """Returns the newest (2, N) among the version names that `readelf -V` prints, or None."""
    found = [tuple(int(part) for part in text.split(".")) for text in re.findall(r"Name: GLIBC_([0-9.]+)", versions)]
    if "Name: GLIBC_ABI_DT_RELR" in versions:
        found.append((2, 36)) # the first glibc that reads packed relocations; auditwheel ignores this name
    return max(found)[:2] if found else None


def platform_tag(libraries, versions, machine):
    """Returns the tag for a module that needs these libraries and these versions of symbols. A library that neither policy allows is an error."""
    if any(MUSL_C.fullmatch(name) for name in libraries):
        foreign = [name for name in libraries if not MUSL.fullmatch(name)]
        tag = f"musllinux_1_2_{machine}"
    else:
        foreign = [name for name in libraries if name not in GLIBC and not LOADER.fullmatch(name)]
        newest = newest_glibc(versions)
        if not newest:
            raise ValueError("the module takes no symbol from glibc or musl")
        tag = f"manylinux_{newest[0]}_{newest[1]}_{machine}"
    if foreign:
        raise ValueError("the module needs libraries that wheels must not rely on: " + ", ".join(foreign))
    return tag


def readelf(option, path):
    return subprocess.run(["readelf", option, "--wide", path], capture_output=True, text=True, check=True).stdout


def audited(auditwheel, wheel, tag):
    """Checks that auditwheel's own tag for the wheel is not newer than ours, and returns its output."""
    done = subprocess.run([auditwheel, "show", wheel], capture_output=True, text=True)
    said = " ".join(done.stdout.split())
    found = re.search(r'consistent with the following platform tag: "((?:many|musl)linux_(\d+)_(\d+)_\w+)"', said)
    if done.returncode or not found:
        fail(f"auditwheel refuses the wheel: {said} {done.stderr.strip()}")
    ours = tuple(int(part) for part in tag.split("_")[1:3])
    if (int(found.group(2)), int(found.group(3))) > ours:
        fail(f"auditwheel says {found.group(1)}, which is newer than {tag}")
    return found.group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel")
    parser.add_argument("out")
    parser.add_argument("--auditwheel")
    options = parser.parse_args()
    name = os.path.basename(options.wheel)
    if "-abi3-linux_" not in name:
        fail(f"{name} is not a wheel of the stable ABI for Linux")
    machine = re.search(r"-linux_(\w+)\.whl$", name).group(1)
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(options.wheel) as archive:
            modules = [path for path in archive.namelist() if path.endswith(".so")]
            if len(modules) != 1:
                fail(f"{name} should have one module, and has {modules}")
            module = archive.extract(modules[0], scratch)
        try:
            tag = platform_tag(needed(readelf("-d", module)), readelf("-V", module), machine)
        except ValueError as error:
            fail(str(error))
        copy = shutil.copy(options.wheel, scratch)
        subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, copy], check=True, stdout=subprocess.DEVNULL)
        tagged = os.path.join(scratch, name.replace(f"linux_{machine}", tag))
        said = audited(options.auditwheel, tagged, tag) if options.auditwheel else ""
        shutil.copy(tagged, options.out)
    print(f"checked: abi3, {tag.rsplit('_' + machine, 1)[0]} by symbols" + (f", auditwheel {said}" if said else ""))


if __name__ == "__main__":
    main()
