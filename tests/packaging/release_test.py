# SPDX-License-Identifier: BSD-2-Clause
"""release_test.py SOURCE: tests the scripts of scripts/release that run without a build: the table of artefacts, tags of wheels, contents of the
npm package, the bill of materials, checksums, and the dry run for an artefact that cannot be made here."""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = sys.argv.pop(1)
RELEASE = os.path.join(SOURCE, "scripts", "release")


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(RELEASE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


release, wheel_tag, npm_contents, sbom = map(load, ("release", "wheel_tag", "npm_contents", "sbom"))


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


class Table(unittest.TestCase):
    def test_scripts_exist(self):
        for artefact in release.artefacts():
            if artefact.machine == "none":
                self.assertEqual(artefact.command, [], artefact.name)
                self.assertTrue(artefact.text, artefact.name)
                continue
            folder = SOURCE if artefact.machine == "ci" else RELEASE
            self.assertTrue(os.access(os.path.join(folder, artefact.command[0]), os.X_OK), artefact.name)

    def test_names_are_unique(self):
        names = [artefact.name for artefact in release.artefacts()]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(run(sys.executable, RELEASE + "/release.py", "--names").stdout.split(), names)

    def test_dry_run(self):
        """With --dry-run an artefact of another machine is a row with the reason. Without --dry-run it is an error."""
        with tempfile.TemporaryDirectory() as out:
            dry = run(sys.executable, RELEASE + "/release.py", "--dry-run", "--only", "windows", "--only", "publish", "--only", "version", "--out", out)
            self.assertEqual(dry.returncode, 0, dry.stderr)
            self.assertRegex(dry.stdout, r"(?m)^windows +left out +there is no code for Windows")
            self.assertRegex(dry.stdout, r"(?m)^publish +untried here +a job of release.yml")
            self.assertRegex(dry.stdout, r"(?m)^version +here +\d+\.\d+")
            self.assertEqual(run(sys.executable, RELEASE + "/release.py", "--only", "publish", "--out", out).returncode, 1)
            self.assertEqual(os.listdir(out), [])
        self.assertEqual(run(sys.executable, RELEASE + "/release.py", "--only", "nothing").returncode, 2)
        self.assertEqual(run(sys.executable, RELEASE + "/release.py").returncode, 2)

    def test_missing_tools(self):
        """If PATH has only the tools of a minimal system, each script is skipped and does not fail."""
        wanted = {"wheel.sh": (), "npm.sh": (), "debian.sh": (), "android.sh": (), "programs.sh": ("x86_64",), "wheel_zig.sh": ("aarch64",), "amalgamation.sh": ()}
        with tempfile.TemporaryDirectory() as scratch:
            for tool in ("sh", "dirname", "mkdir", "uname", "sed", "cat"):
                os.symlink(run("sh", "-c", "command -v " + tool).stdout.strip(), os.path.join(scratch, tool))
            environment = {"PATH": scratch}
            for script, arguments in wanted.items():
                done = run(os.path.join(RELEASE, script), *arguments, os.path.join(scratch, "out"), env=environment)
                self.assertEqual(done.returncode, 77, f"{script}: {done.stdout} {done.stderr}")
                self.assertRegex(done.stdout, r"(?m)^SKIPPED: .", script)


class Parts(unittest.TestCase):
    def test_wheel_tag(self):
        versions = "Name: GLIBC_2.2.5 Flags\n Name: GLIBC_2.34\n Name: GLIBC_2.9\n"
        self.assertEqual(wheel_tag.platform_tag(["libc.so.6", "libm.so.6", "libz.so.1"], versions, "x86_64"), "manylinux_2_34_x86_64")
        self.assertEqual(wheel_tag.platform_tag(["libc.so.6"], versions + "Name: GLIBC_ABI_DT_RELR\n", "aarch64"), "manylinux_2_36_aarch64")
        self.assertEqual(wheel_tag.platform_tag(["libc.musl-x86_64.so.1", "libz.so.1"], "", "x86_64"), "musllinux_1_2_x86_64")
        self.assertEqual(wheel_tag.platform_tag(["libc.so"], "", "aarch64"), "musllinux_1_2_aarch64")
        for libraries, text in ((["libc.so.6", "libstdc++.so.6"], versions), (["libc.so.6"], ""), (["libc.musl-x86_64.so.1", "libm.so.6"], "")):
            with self.assertRaises(ValueError):
                wheel_tag.platform_tag(libraries, text, "x86_64")
        self.assertEqual(wheel_tag.needed(" 0x1 (NEEDED)  Shared library: [libm.so.6]\n 0xe (SONAME) Library soname: [x]\n"), ["libm.so.6"])

    def test_npm_contents(self):
        package = {"version": "1.0", "license": "BSD-2-Clause", "files": ["a.js"]}
        names = ["package/package.json", "package/a.js"]
        self.assertEqual(npm_contents.problems(names, package, "1.0"), [])
        for other in (names[:1], names + ["package/.env"]):
            self.assertEqual(len(npm_contents.problems(other, package, "1.0")), 1)
        for change in ({"version": "2.0"}, {"license": "MIT"}, {"scripts": {"postinstall": "x"}}, {"dependencies": {}}):
            self.assertEqual(len(npm_contents.problems(names, {**package, **change}, "1.0")), 1, change)

    def test_sbom(self):
        found = sbom.document()
        self.assertEqual(sbom.problems(found), [])
        self.assertEqual(found, sbom.document())
        self.assertEqual({package["name"] for package in found["packages"]}, {"taper", "zlib", "libpng", "libjpeg-turbo"})
        names = {entry["fileName"] for entry in found["files"]}
        self.assertLessEqual({"./LICENSE", "./CMakeLists.txt", "./include/taper/taper.h"}, names)
        self.assertFalse([name for name in names if name.startswith(("./tests/", "./build"))])
        broken = json.loads(json.dumps(found))
        broken["relationships"][0]["relatedSpdxElement"] = "SPDXRef-Nothing"
        broken["files"][0]["checksums"] = []
        self.assertEqual(len(sbom.problems(broken)), 2)

    def test_checksums(self):
        with tempfile.TemporaryDirectory() as out:
            script = os.path.join(RELEASE, "checksums.sh")
            self.assertEqual(run(script, out + "/checksums").returncode, 77)
            for name in ("a", "b"):
                os.mkdir(os.path.join(out, name))
                with open(os.path.join(out, name, name + " file"), "w", encoding="ascii") as file:
                    file.write(name)
            done = run(script, out + "/checksums")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(os.path.join(out, "checksums", "SHA256SUMS"), encoding="ascii") as file:
                lines = file.read().splitlines()
            self.assertEqual([re.sub("^[0-9a-f]{64}  ", "", line) for line in lines], ["a file", "b file"])
            os.rename(os.path.join(out, "b", "b file"), os.path.join(out, "b", "a file"))
            self.assertIn("two files are called", run(script, out + "/checksums").stderr)


unittest.main()
