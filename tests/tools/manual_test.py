# SPDX-License-Identifier: BSD-2-Clause
"""Tests the manual pages and completions (build/manual, made from the programs' tables): pages and completions contain every option of the programs
and no others, shells complete commands, options and files, and the pages are valid roff."""
import os
import re
import shutil
import subprocess
import sys

from toolcase import BIN, ToolCase, main

MANUAL = os.path.join(os.path.dirname(BIN), "manual")
NAME = re.compile(r"^\\fB((?:\\-){2}[^ ]+?)\\fR|^\\fB\\-.\\fR, \\fB((?:\\-){2}[^ ]+?)\\fR", re.M)


def read(*path):
    with open(os.path.join(MANUAL, *path)) as file:
        return file.read()


def named(page):
    """Returns the options that a page or a usage text explains."""
    return {(a or b).replace("\\-", "-") for a, b in NAME.findall(page)}


def verbs():
    return re.findall(r"\\fBtaper\\-(\w+)\\fR\(1\)\n", read("man", "taper.1").split(".SH ENVIRONMENT")[0])


class Pages(ToolCase):
    def test_every_command_has_a_page(self):
        said = self.call("help").stdout
        listed = re.findall(r"^  (\w+) ", said, re.M)
        self.assertEqual(listed, verbs())
        for verb in listed:
            self.assertTrue(read("man", f"taper-{verb}.1"))

    def test_pages_have_what_help_says_and_programs_know_it(self):
        for verb in verbs():
            page = named(read("man", f"taper-{verb}.1"))
            usage = self.call("help", verb).stdout
            self.assertEqual(page, set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", usage, re.M)), verb)
            self.assertGreater(len(page), 1)
            for option in page:
                done = subprocess.run([os.path.join(BIN, "taper"), verb, option], capture_output=True, text=True, timeout=60)
                self.assertNotIn("unknown option", done.stderr, (verb, option))
        done = subprocess.run([os.path.join(BIN, "taper"), "run", "--inputt"], capture_output=True, text=True, timeout=60)
        self.assertIn("unknown option", done.stderr)

    def test_benchmark(self):
        page = named(read("man", "speed_benchmark_torch.1"))
        said = self.call("--help", program="speed_benchmark_torch").stdout
        self.assertEqual(page, set(re.findall(r"^    (--\w+):", said, re.M)))

    def test_roff(self):
        if shutil.which("groff") is None:
            self.skipTest("no groff")
        for name in sorted(os.listdir(os.path.join(MANUAL, "man"))):
            done = subprocess.run(["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-P-c", "-P-b", "-P-u", os.path.join(MANUAL, "man", name)],
                                  capture_output=True, text=True, encoding="utf-8", timeout=60)
            self.assertEqual(done.stderr, "", name)
            self.assertIn("SYNOPSIS", done.stdout)


class Bash(ToolCase):
    def complete(self, *words, program="taper"):
        if shutil.which("bash") is None:
            self.skipTest("no bash")
        script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _' + program + '; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", script, os.path.join(MANUAL, "bash", program), program, *words],
                              capture_output=True, text=True, cwd=self.folder.name, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1]

    def test_commands(self):
        self.assertEqual(self.complete(""), [*verbs(), "help", "version", "--help", "--version"])
        self.assertEqual(self.complete("be"), ["bench"])
        self.assertEqual(self.complete("help", "qu"), ["quantize"])

    def test_options(self):
        for verb in verbs():
            page = named(read("man", f"taper-{verb}.1"))
            self.assertEqual(set(self.complete(verb, "--")), page | {"--help"})
        self.assertEqual(self.complete("run", "m.pt", "--time-"), ["--time-limit"])

    def test_files(self):
        self.write("a model.ptl", "")
        self.write("picture.png", "")
        os.mkdir(self.path("folder"))
        self.assertEqual(self.complete("run", "a"), ["a model.ptl"])
        self.assertEqual(sorted(self.complete("classify", "m.ptl", "")), ["a model.ptl", "folder", "picture.png"])
        self.assertEqual(self.complete("run", "m.ptl", "-i", "pic"), ["picture.png"])
        self.assertEqual(self.complete("run", "m.ptl", "--input", "=", "pic"), ["picture.png"])
        self.assertEqual(self.complete("run", "m.ptl", "--cache", ""), ["folder"])
        self.assertEqual(self.complete("--model", "=", "pic", program="speed_benchmark_torch"), ["picture.png"])

    def test_values(self):
        self.write("file", "")
        self.assertEqual(self.complete("quantize", "m.ptl", "--mode", ""), ["core", "full", "dynamic"])
        self.assertEqual(self.complete("run", "m.ptl", "--memory", "=", "l"), ["low"])
        self.assertEqual(self.complete("run", "m.ptl", "--threads", ""), [""])

    def test_benchmark(self):
        page = named(read("man", "speed_benchmark_torch.1"))
        self.assertEqual(set(self.complete("--", program="speed_benchmark_torch")), page | {"--help"})


class OtherShells(ToolCase):
    def fish(self, line):
        if shutil.which("fish") is None:
            self.skipTest("no fish")
        done = subprocess.run(["fish", "--no-config", "-c", f"source {MANUAL}/fish/taper.fish; complete -C '{line}'"],
                              capture_output=True, text=True, cwd=self.folder.name, timeout=60,
                              env={**os.environ, "HOME": self.folder.name})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    def test_fish(self):
        self.assertEqual(self.fish("taper quan"), ["quantize"])
        self.assertEqual(sorted(self.fish("taper quantize --")), sorted(named(read("man", "taper-quantize.1"))))
        self.assertEqual(self.fish("taper run m.ptl --memory "), ["fast", "low"])

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("no zsh")
        # Stand-ins for zsh's functions print their arguments.
        script = ("_arguments() { print -rl -- \"$@\" }; _describe() { print -rl -- ${(P)2} }\n"
                  "words=(\"$@\") CURRENT=$#; f() { source " + MANUAL + "/zsh/_taper }; f")
        for verb in verbs():
            done = subprocess.run(["zsh", "-f", "-c", script, "zsh", "taper", verb, ""], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            found = set(re.findall(r"--[\w-]+(?=\[)", done.stdout))
            self.assertEqual(found, named(read("man", f"taper-{verb}.1")) | {"--help"}, verb)
        done = subprocess.run(["zsh", "-f", "-c", script, "zsh", "taper", ""], capture_output=True, text=True, timeout=60)
        self.assertEqual([row.split(":")[0] for row in done.stdout.splitlines()], [*verbs(), "help", "version"])


if not os.path.isdir(MANUAL):
    print("SKIPPED: this build has made no pages")
    sys.exit(77)
main()
