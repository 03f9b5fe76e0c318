#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""macho_test.py: checks that scripts/apple/check_macho.py finds problems in files that the test makes, and reports broken files. clang makes the
files, and llvm-lipo the fat files."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "apple")
sys.path.insert(0, SCRIPTS)
import macho  # noqa: E402  pylint: disable=wrong-import-position

PASSED = FAILED = 0


def expect(is_so, what):
    global PASSED, FAILED
    if is_so:
        PASSED += 1
    else:
        FAILED += 1
        print("FAILED  " + what)


def checked(*arguments):
    done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "check_macho.py"), *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def archive(scratch, name, text, target, kind="c"):
    source, object_, path = (os.path.join(scratch, name + end) for end in ("." + kind, ".o", ".a"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["clang", "-target", target, "-c", source, "-o", object_], check=True)
    if os.path.exists(path):
        os.remove(path)
    subprocess.run(["llvm-ar", "rcs", path, object_], check=True)
    return path


def main():
    if not shutil.which("clang") or not shutil.which("llvm-ar"):
        print("SKIPPED: no clang or llvm here")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        phone, both = "arm64-apple-ios12.0", {}
        good = archive(scratch, "good", "int taper_f(void) { return 1; }", phone)
        expect(checked("--slice", "ios-arm64", good)[0] == 0, "a good archive passes")
        for what, slice_, text, target, words in (
                ("a name of its own", "ios-arm64", "int other(void) { return 1; }", phone, "defines _other"),
                ("a constructor", "ios-arm64", "__attribute__((constructor)) void taper_f(void) {}", phone, "before main"),
                ("another processor", "ios-arm64", "int taper_f(void) { return 1; }", "x86_64-apple-ios12.0-simulator", "is for"),
                ("a simulator's", "ios-arm64", "int taper_f(void) { return 1; }", "arm64-apple-ios14.0-simulator", "is for"),
                ("a newer system", "ios-arm64", "int taper_f(void) { return 1; }", "arm64-apple-ios16.0", "16.0, not 12.0"),
                ("an API with a reason", "ios-arm64", "void mach_absolute_time(void); void taper_f(void) { mach_absolute_time(); }", phone,
                 "privacy manifest"),
                ("what the system has not", "ios-arm64", "void nobody(void); void taper_f(void) { nobody(); }", phone, "takes _nobody")):
            path = archive(scratch, "bad", text, target)
            privacy = os.path.join(SCRIPTS, "..", "..", "bindings", "apple", "PrivacyInfo.xcprivacy")
            code, said = checked("--slice", slice_, "--privacy", privacy, "--stub", os.path.join(SCRIPTS, "libz.tbd"), path)
            expect(code == 1 and words in said, "%s: %s" % (what, said))
        reason = archive(scratch, "reason", "int stat(void); int taper_f(void) { return stat(); }", phone)
        expect(checked("--privacy", privacy, reason)[0] == 0, "stat has a reason")

        # Fat files
        simulator = archive(scratch, "simulator", "int taper_f(void) { return 1; }", "x86_64-apple-ios12.0-simulator")
        arm = archive(scratch, "arm", "int taper_f(void) { return 2; }", "arm64-apple-ios14.0-simulator")
        for cpu, path in (("arm64", arm), ("x86_64", simulator)):
            with open(path, "rb") as file:
                both[cpu] = file.read()
        joined = os.path.join(scratch, "both.a")
        with open(joined, "wb") as file:
            file.write(macho.fat(list(both.items())))
        expect(checked(joined)[0] == 0, "a fat archive passes")
        with open(joined, "rb") as file:
            expect(dict(macho.slices(file.read())) == both, "a fat file's parts are what went in")
        lipo = shutil.which("llvm-lipo") or shutil.which("llvm-lipo-14")
        if lipo:
            for cpu, data in both.items():
                thin = os.path.join(scratch, cpu)
                subprocess.run([lipo, joined, "-thin", cpu, "-output", thin], check=True)
                with open(thin, "rb") as file:
                    expect(file.read() == data, "llvm-lipo takes %s out" % cpu)

        # Broken files
        random.seed(1)
        with open(joined, "rb") as file:
            whole = file.read()
        broken = os.path.join(scratch, "broken")
        cases = [whole[:size] for size in range(0, len(whole), 1 + len(whole) // 40)]
        cases += [bytes(b if random.random() > 0.001 else random.randrange(256) for b in whole) for _ in range(10)]
        for case in cases:
            with open(broken, "wb") as file:
                file.write(case)
            said = checked(broken)[1]
            expect("Traceback" not in said, "a broken file: " + said)
        for case in (b"", b"no such thing", whole[:100]):
            with open(broken, "wb") as file:
                file.write(case)
            expect(checked(broken)[0] == 1, "%d bytes of no Mach-O file" % len(case))
    print("%d passed, %d failed" % (PASSED, FAILED))
    return int(FAILED != 0)


if __name__ == "__main__":
    sys.exit(main())
