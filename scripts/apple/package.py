#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""package.py BUILT OUT: writes Taper for apps to the folder OUT: Taper.xcframework with the slices in BUILT/SLICE, the Swift package and the
pods, and package.zip with all of them."""
import argparse
import json
import os
import plistlib
import re
import shutil
import subprocess
import zipfile

import macho

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
APPLE = os.path.join(ROOT, "bindings", "apple")
LIBRARIES = {  # {library of the xcframework: the slices that are joined in it}
    "ios-arm64": ["ios-arm64"],
    "ios-arm64_x86_64-simulator": ["ios-arm64-simulator", "ios-x86_64-simulator"],
    "macos-arm64_x86_64": ["macos-arm64", "macos-x86_64"],
}
CLASSES = ["TPRModule.m", "TPRTensor.m", "TPRValue.m"]
PODS = ["LibTorch-Lite", "LibTorch-Lite-Nightly", "LibTorch"]
LICENSED = "/* SPDX-License-Identifier: BSD-2-Clause */\n"
DATE = (2026, 1, 1, 0, 0, 0)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(text, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        file.write(text)


def copy(source, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    shutil.copyfile(source, os.path.join(*path))


# ---- the xcframework


def info_plist(names):
    """Returns the Info.plist in which Xcode finds the library for a build."""
    libraries = []
    for name in names:
        entry = {
            "BinaryPath": "libtaper.a",
            "HeadersPath": "Headers",
            "LibraryIdentifier": name,
            "LibraryPath": "libtaper.a",
            "SupportedArchitectures": [slice_.split("-")[1] for slice_ in LIBRARIES[name]],
            "SupportedPlatform": name.split("-")[0],
        }
        if name.endswith("-simulator"):
            entry["SupportedPlatformVariant"] = "simulator"
        libraries.append(entry)
    return plistlib.dumps({"AvailableLibraries": libraries, "CFBundlePackageType": "XFWK", "XCFrameworkFormatVersion": "1.0"})


def make_xcframework(built, out):
    for name, slices in LIBRARIES.items():
        parts = []
        for slice_ in slices:
            with open(os.path.join(built, slice_, "lib", "libtaper.a"), "rb") as file:
                parts.append((slice_.split("-")[1], file.read()))
        folder = os.path.join(out, name)
        os.makedirs(folder)
        with open(os.path.join(folder, "libtaper.a"), "wb") as file:
            file.write(parts[0][1] if len(parts) == 1 else macho.fat(parts))
        shutil.copytree(os.path.join(ROOT, "include", "taper"), os.path.join(folder, "Headers", "taper"))
        copy(os.path.join(APPLE, "module.modulemap"), folder, "Headers", "module.modulemap")
        copy(os.path.join(APPLE, "PrivacyInfo.xcprivacy"), folder, "PrivacyInfo.xcprivacy")
    with open(os.path.join(out, "Info.plist"), "wb") as file:
        file.write(info_plist(LIBRARIES))


# ---- the library as sources of one Swift package, which cannot have flags for a single file or definitions for a processor


def kernel_targets():
    """Returns {file of src: target attribute of its functions} for the kernels that need flags, and {key: condition} of all
    instruction sets."""
    targets, keys = {}, {}
    for architecture, macro in (("arm", "__aarch64__"), ("x86", "__x86_64__")):
        listed = subprocess.run(["cmake", "-DTAPER_ARCHITECTURE=" + architecture, "-P", os.path.join(ROOT, "cmake", "TaperIsa.cmake")],
                                check=True, capture_output=True, text=True)
        for line in (listed.stdout + listed.stderr).splitlines():
            source, *flags = line.split()
            if source == "definitions":
                for key in re.findall(r"-DTAPER_BUILT_(\w+)=1", line):
                    keys.setdefault(key, "1" if key == "scalar" else macro)
            elif flags:
                targets[source] = ",".join(re.sub(r"^-march=armv8.2-a\+|^-m", "", flag) for flag in flags)
    return targets, keys


def for_processor(text, path, targets):
    """Returns the text of a kernel's file, which is empty for other processors. Its functions may use the instruction sets that the
    kernel is listed with."""
    arm = "/arm/" in path
    lines = ["#ifdef %s" % ("__aarch64__" if arm else "__x86_64__")]
    if path in targets:
        # The intrinsics have target attributes of their own, so their header comes before the pragma.
        lines += ["#include <%s>" % ("arm_neon.h" if arm else "immintrin.h"),
                  '#pragma clang attribute push(__attribute__((target("%s"))), apply_to = function)' % targets[path], text,
                  "#pragma clang attribute pop"]
    else:
        lines.append(text)
    return "\n".join(lines + ["#else", "typedef int taper_not_for_this_processor;", "#endif", ""])


def definitions(built, keys):
    """Returns the definitions of the slice's build. A definition that depends on the processor gets as value the compiler's macro for that
    processor, which is 1."""
    found = {}
    for command in json.loads(read(built, "ios-arm64", "compile_commands.json")):
        found.update(re.findall(r"(?<= )-D(TAPER_(?!BUILT_|OP_CONFIG)\w+)=(\w+)(?= )", command["command"]))
    found.update(("TAPER_BUILT_" + key, value) for key, value in keys.items())
    found.update({"_POSIX_C_SOURCE": "200809L", "_FILE_OFFSET_BITS": "64"})
    found.pop("TAPER_LAST_RESORT_KERNEL", None)  # only some kernels have this definition
    return "".join('                .define("%s", to: "%s"),\n' % pair for pair in sorted(found.items()))


def make_sources(built, out):
    targets, keys = kernel_targets()
    compiled = {os.path.relpath(command["file"], ROOT) for command in json.loads(read(built, "ios-arm64", "compile_commands.json"))}
    compiled |= {os.path.relpath(command["file"], ROOT) for command in json.loads(read(built, "ios-x86_64-simulator", "compile_commands.json"))}
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            if path.startswith(("src/lean/", "src/one/")):
                continue
            if path.endswith((".h", ".inc")) or path in compiled:
                # The slices are small builds: a file of src/lean replaces the file of src with the same path.
                small = path.replace("src/", "src/lean/", 1)
                text = read(ROOT, small if os.path.exists(os.path.join(ROOT, small)) else path)
                if path.endswith(".c") and re.search(r"/kernels/(arm|x86)/", path):
                    text = for_processor(text, path, targets)
                write(text, out, path)
    generated = os.path.join(built, "ios-arm64", "generated")
    for folder, _, names in os.walk(generated):
        for name in names:
            if name.endswith((".h", ".inc")):
                copy(os.path.join(folder, name), out, "generated", os.path.relpath(folder, generated), name)
    shutil.copytree(os.path.join(ROOT, "include", "taper"), os.path.join(out, "include", "taper"))
    return definitions(built, keys)


# ---- the package


def copy_class(out):
    copy(os.path.join(APPLE, "TPRModule.h"), out, "include", "TPRModule.h")
    copy(os.path.join(APPLE, "TPRShared.h"), out, "TPRShared.h")
    for name in CLASSES:
        copy(os.path.join(APPLE, name), out, name)
    copy(os.path.join(APPLE, "PrivacyInfo.xcprivacy"), out, "PrivacyInfo.xcprivacy")


def make_zip(out):
    paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(out) for name in names)
    with zipfile.ZipFile(os.path.join(out, "package.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            entry = zipfile.ZipInfo(os.path.relpath(path, out), DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with open(path, "rb") as file:
                archive.writestr(entry, file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("built")
    parser.add_argument("out")
    arguments = parser.parse_args()
    built, out = arguments.built, arguments.out
    shutil.rmtree(out, ignore_errors=True)
    sources = os.path.join(out, "Sources")
    make_xcframework(built, os.path.join(out, "Taper.xcframework"))
    copy_class(os.path.join(sources, "Taper"))
    copy_class(os.path.join(sources, "TaperFromSource"))
    defined = make_sources(built, os.path.join(sources, "TaperFromSource"))
    write(read(APPLE, "Package.swift").replace("                // DEFINITIONS: scripts/apple/package.py replaces this line by the definitions of the build.\n", defined), out, "Package.swift")
    for folder in (os.path.join(out, "install", "include"), os.path.join(sources, "LibTorchLite", "include")):
        subprocess.run([os.path.join(ROOT, "scripts", "apple", "headers.sh"), folder], check=True)
    for name in os.listdir(os.path.join(ROOT, "include", "taper")):  # the xcframework contains the C headers
        os.remove(os.path.join(sources, "LibTorchLite", "include", "taper", name))
    write(LICENSED + "// The C++ headers are all there is; Xcode wants a source.\n", sources, "LibTorchLite", "headers.cpp")
    write("module LibTorchLite {\n}\n", sources, "LibTorchLite", "include", "module.modulemap")  # the module has no headers, because Swift cannot read C++
    copy(os.path.join(APPLE, "PrivacyInfo.xcprivacy"), sources, "LibTorchLite", "PrivacyInfo.xcprivacy")
    write(LICENSED + "// Nothing: the operators are in the library.\nextern const char taper_torchvision;\nconst char taper_torchvision = 0;\n",
          sources, "LibTorchvision", "empty.c")
    version = re.search(r"^project\(taper VERSION ([0-9.]+)", read(ROOT, "CMakeLists.txt"), re.M).group(1)
    for pod in PODS + ["LibTorchvision"]:
        template = read(APPLE, "pods", "podspec.rb.in" if pod in PODS else pod + ".podspec.in")
        write(template.replace("@NAME@", pod).replace("@VERSION@", version), out, pod + ".podspec")
    copy(os.path.join(ROOT, "LICENSE"), out, "LICENSE")
    make_zip(out)


if __name__ == "__main__":
    main()
