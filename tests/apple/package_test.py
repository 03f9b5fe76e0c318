#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""package_test.py PACKAGE [--zig FOLDER]: checks that the result of scripts/apple/package.py has the form that Xcode, SwiftPM and CocoaPods
expect. The xcframework's libraries match the processors in its Info.plist, the module map and the headers compile, and podspecs name existing
files. With zig the sources of the Swift package compile with its definitions and flags. The test lists parts that it cannot test on this machine
as skipped."""
import argparse
import fnmatch
import glob
import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "scripts", "apple"))
import macho  # noqa: E402  pylint: disable=wrong-import-position

PASSED = FAILED = SKIPPED = 0


def expect(is_so, what):
    global PASSED, FAILED
    if is_so:
        PASSED += 1
    else:
        FAILED += 1
        print("FAILED  " + what)


def skip(what):
    global SKIPPED
    SKIPPED += 1
    print("SKIPPED: " + what)


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


# ---- the xcframework


def test_xcframework(package):
    framework = os.path.join(package, "Taper.xcframework")
    with open(os.path.join(framework, "Info.plist"), "rb") as file:
        info = plistlib.load(file)
    expect(info["CFBundlePackageType"] == "XFWK" and info["XCFrameworkFormatVersion"] == "1.0", "the Info.plist is an xcframework's")
    wanted = {("ios", None): {"arm64"}, ("ios", "simulator"): {"arm64", "x86_64"}, ("macos", None): {"arm64", "x86_64"}}
    found = {}
    for library in info["AvailableLibraries"]:
        folder = os.path.join(framework, library["LibraryIdentifier"])
        key = (library["SupportedPlatform"], library.get("SupportedPlatformVariant"))
        found[key] = set(library["SupportedArchitectures"])
        with open(os.path.join(folder, library["LibraryPath"]), "rb") as file:
            parts = {(part.platform, part.cpu) for _, part in macho.files(file.read())}
        platform = "-".join(part for part in key if part)
        expect(parts == {(platform, cpu) for cpu in found[key]}, "%s holds %s" % (library["LibraryIdentifier"], sorted(parts)))
        headers = os.path.join(folder, library["HeadersPath"])
        with open(os.path.join(headers, "module.modulemap"), encoding="utf-8") as file:
            named = set(re.findall(r'header "([^"]+)"', file.read()))
        there = {"taper/" + name for name in os.listdir(os.path.join(headers, "taper"))}
        expect(named == there, "the module map names %s, there are %s" % (sorted(named), sorted(there)))
        test_privacy(os.path.join(folder, "PrivacyInfo.xcprivacy"))
    expect(found == wanted, "the slices are %s" % found)
    expect(sorted(os.listdir(framework)) == sorted(["Info.plist"] + [one["LibraryIdentifier"] for one in info["AvailableLibraries"]]),
           "nothing else is in the xcframework")


def test_privacy(path):
    with open(path, "rb") as file:
        privacy = plistlib.load(file)
    expect(privacy["NSPrivacyTracking"] is False and privacy["NSPrivacyCollectedDataTypes"] == [], "nothing is collected")
    types = {entry["NSPrivacyAccessedAPIType"]: entry["NSPrivacyAccessedAPITypeReasons"] for entry in privacy["NSPrivacyAccessedAPITypes"]}
    expect(types == {"NSPrivacyAccessedAPICategoryFileTimestamp": ["C617.1"]}, "reasons: %s" % types)


def test_module(package, scratch):
    if not shutil.which("clang"):
        skip("no clang here: the module map is not compiled")
        return
    source = os.path.join(scratch, "use.m")
    with open(source, "w", encoding="utf-8") as file:
        file.write("@import CTaper;\nconst char *version(void) { return taper_version(); }\n")
    empty = os.path.join(scratch, "sdk")
    os.makedirs(empty, exist_ok=True)
    for slice_, target in (("ios-arm64", "arm64-apple-ios12.0"), ("macos-arm64_x86_64", "x86_64-apple-macos11.0")):
        done = run("clang", "-target", target, "-isysroot", empty, "-ffreestanding", "-fmodules", "-fmodules-cache-path=" + os.path.join(scratch, "m"),
                   "-Wall", "-Wextra", "-Werror", "-I", os.path.join(package, "Taper.xcframework", slice_, "Headers"), "-c", source, "-o",
                   os.path.join(scratch, "use.o"))
        expect(done.returncode == 0, "@import CTaper for %s: %s" % (target, done.stderr))


# ---- headers and pods

SPELLINGS = ["LibTorch-Lite/LibTorch-Lite.h", "Libtorch-Lite/Libtorch-Lite.h", "LibTorch-Lite-Nightly/LibTorch-Lite.h",
             "Libtorch-Lite-Nightly/Libtorch-Lite.h", "LibTorch/LibTorch.h", "Libtorch/Libtorch.h", "torch/script.h",
             "torch/csrc/jit/mobile/import.h", "torch/csrc/jit/mobile/module.h"]


def test_podspec(package, pods, name):
    path = os.path.join(package, name + ".podspec")
    expect(run("ruby", "-c", path).returncode == 0, "ruby -c %s" % path)
    done = run("ruby", os.path.join(HERE, "podspec.rb"), path, env=dict(os.environ, TAPER_PODS=""))
    expect(done.returncode == 0, "%s: %s" % (path, done.stderr))
    said = json.loads(done.stdout)
    expect(said["name"] == name and said["summary"] and said["homepage"] and said["license"] and said["version"], name + " says what it is")
    expect(said["ios.deployment_target"] == "12.0", name + " is for iOS 12")
    expect(os.path.exists(os.path.join(package, said["license"]["file"])), "%s has a licence" % name)
    expect(run("ruby", os.path.join(HERE, "podspec.rb"), path, env=dict(os.environ, TAPER_PODS="https://pods")).stdout.find('"https://pods/package.zip"') > 0,
           name + " comes from TAPER_PODS")
    files = said["source_files"] if isinstance(said["source_files"], list) else [said["source_files"]]
    for pattern in files:
        patterns = [pattern.replace("{h,m}", end) for end in ("h", "m")] if "{h,m}" in pattern else [pattern]
        for one in patterns:
            expect(glob.glob(os.path.join(package, one)), "%s: %s is there" % (name, one))
    if name == "LibTorchvision":
        expect("vendored_frameworks" not in said, "LibTorchvision brings no second library")
        return
    expect(os.path.isdir(os.path.join(package, said["vendored_frameworks"])) and "z" in said["libraries"] and "c++" in said["libraries"],
           name + " links what it needs")
    expect(all(os.path.exists(os.path.join(package, one)) for one in said["resource_bundles"][name]), name + " has the privacy manifest")
    # The folder Pods/ has CocoaPods' layout, in which the header folders must exist.
    paths = re.findall(r'"([^"]+)"', said["user_target_xcconfig"]["HEADER_SEARCH_PATHS"].replace("$(PODS_ROOT)", pods))
    wanted = os.path.join(pods, name, "install", "include")
    expect(wanted in paths and os.path.isdir(wanted), "$(PODS_ROOT)/%s/install/include is searched and there" % name)
    with open(os.path.join(package, "install", "include", "torch", "script.h"), "rb") as file, open(os.path.join(paths[1], "torch", "script.h"), "rb") as other:
        expect(file.read() == other.read(), "the folder of a pod by :path is searched")


def test_pods(package, scratch):
    if not shutil.which("ruby"):
        skip("no ruby here: podspecs are not read")
        return
    pods = os.path.join(scratch, "Pods")
    for name in ("LibTorch-Lite", "LibTorch-Lite-Nightly", "LibTorch", "LibTorchvision"):
        with zipfile.ZipFile(os.path.join(package, "package.zip")) as archive:
            archive.extractall(os.path.join(pods, name))
        test_podspec(package, pods, name)
    # For a pod by :path the script makes links from Pods/NAME to the package.
    phase = json.loads(run("ruby", os.path.join(HERE, "podspec.rb"), os.path.join(package, "LibTorch-Lite.podspec")).stdout)["script_phase"]
    shutil.rmtree(os.path.join(pods, "LibTorch-Lite"))
    for _ in range(2):  # each build runs the script
        done = run("sh", "-c", phase["script"], env=dict(os.environ, PODS_ROOT=pods, PODS_TARGET_SRCROOT=os.path.abspath(package)))
        expect(done.returncode == 0, "the script phase: " + done.stderr)
    expect(os.path.isdir(os.path.join(pods, "LibTorch-Lite", "install", "include", "torch")), "the script phase leads to the headers")


def test_headers(package, scratch):
    include = os.path.join(package, "install", "include")
    for spelling in SPELLINGS:
        expect(os.path.exists(os.path.join(include, spelling)), spelling + " is there")
    compiler = shutil.which("clang++") or shutil.which("g++")
    if not compiler:
        skip("no C++ compiler here: the headers are not compiled")
        return
    source = os.path.join(scratch, "headers.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write("".join("#include <%s>\n" % spelling for spelling in SPELLINGS) +
                   "torch::jit::mobile::Module load() { return torch::jit::_load_for_mobile(\"model.ptl\"); }\n")
    for folder, more in ((include, []), (os.path.join(package, "Sources", "LibTorchLite", "include"),
                                         ["-I", os.path.join(package, "Taper.xcframework", "ios-arm64", "Headers")])):
        done = run(compiler, "-std=c++14", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", folder, *more, source)
        expect(done.returncode == 0, "headers in %s: %s" % (folder, done.stderr))


# ---- the Swift package


def test_swift(package, scratch, zig):
    with open(os.path.join(package, "Package.swift"), encoding="utf-8") as file:
        text = file.read()
    expect(re.match(r"// swift-tools-version:5\.\d+\n", text), "Package.swift begins with its version")
    if shutil.which("swift"):
        expect(run("swift", "package", "dump-package", cwd=package).returncode == 0, "swift reads Package.swift")
    else:
        skip("no swift here: Package.swift is read as text")
    for path in re.findall(r'binaryTarget\(name: "\w+", path: "([^"]+)"', text):
        expect(os.path.isdir(os.path.join(package, path)), path + " is there")
    targets = re.findall(r'\.target\(\s*name: "(\w+)"', text)
    expect(set(re.findall(r'targets: \["(\w+)"\]', text)) == set(targets), "products are of targets")
    for target in targets:
        folder = os.path.join(package, "Sources", target)
        expect(os.path.isdir(os.path.join(folder, "include")) and os.path.exists(os.path.join(folder, "PrivacyInfo.xcprivacy")),
               target + " has headers and the privacy manifest")
    if not zig:
        skip("no zig here: the sources of the Swift package are not compiled")
        return
    folder = os.path.join(package, "Sources", "TaperFromSource")
    flags = ["-D%s=%s" % pair for pair in re.findall(r'\.define\("(\w+)", to: "(\w+)"\)', text)]
    flags += re.findall(r'"(-[\w=-]+)"', text) + ["-I" + os.path.join(folder, path) for path in re.findall(r'\.headerSearchPath\("(\w+)"\)', text)]
    sources = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if fnmatch.fnmatch(name, "*.c")]
    env = dict(os.environ, ZIG_GLOBAL_CACHE_DIR=os.path.join(ROOT, "build", "zig-cache"), ZIG_LOCAL_CACHE_DIR=os.path.join(ROOT, "build", "zig-cache"))
    for cpu in ("aarch64", "x86_64"):
        library = os.path.join(scratch, "libtaper-%s.dylib" % cpu)
        done = run(os.path.join(zig, "zig"), "cc", "-target", cpu + "-macos.11.0", "-std=c11", "-dynamiclib", "-install_name", "@rpath/libtaper.dylib",
                   *flags, "-I" + os.path.join(folder, "include"), *sources, os.path.join(ROOT, "scripts", "apple", "libz.tbd"), "-o", library, env=env)
        expect(done.returncode == 0, "the sources for %s: %s" % (cpu, done.stderr[:2000]))
        if done.returncode == 0:
            checked = run(sys.executable, os.path.join(ROOT, "scripts", "apple", "check_macho.py"), library)
            expect(checked.returncode == 0, checked.stdout)
            with open(library, "rb") as file:
                kernels = b"neondot" if cpu == "aarch64" else b"avx512vnni"
                expect(kernels in file.read(), "its kernels for %s are in" % kernels.decode())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package")
    parser.add_argument("--zig")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        test_xcframework(arguments.package)
        test_module(arguments.package, scratch)
        test_headers(arguments.package, scratch)
        test_pods(arguments.package, scratch)
        test_swift(arguments.package, scratch, arguments.zig)
    print("%d passed, %d failed%s" % (PASSED, FAILED, ", %d skipped" % SKIPPED if SKIPPED else ""))
    return int(FAILED != 0)


if __name__ == "__main__":
    sys.exit(main())
