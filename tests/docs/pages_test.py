# SPDX-License-Identifier: BSD-2-Clause
"""pages_test.py SOURCE BUILD CC CXX PAGE: runs every block of a page, in order, in one folder. The folder contains links to the tree, a model
under the names that pages use, files that cannot be loaded (broken_files.py), and a picture. `$ command` is followed by the output of the command,
in which numbers may differ slightly. Each command of a block after <!-- fails --> has to fail. A comment before a block that cannot run gives the
reason, which is printed. `pages_test.py SOURCE BUILD CC CXX` without PAGE checks links, quotations and the form of all pages."""
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

import broken_files
import pages

SOURCE, BUILD, CC, CXX = (sys.argv[1:5])
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
TIMES = re.compile(r"\d[\d.]*(?= (?:ms|s|µs|kB|MB)\b)")


def same_line(wanted, got):
    wanted, got = (" ".join(re.sub(r"[█▉▊▋▌▍▎▏]+", "", TIMES.sub("0", line)).split()) for line in (wanted, got))
    if NUMBER.sub("#", wanted) != NUMBER.sub("#", got):
        return False
    if " nodes, " in wanted: # the number of nodes may change with the compiler
        return True
    pairs = zip(map(float, NUMBER.findall(wanted)), map(float, NUMBER.findall(got)))
    return all(abs(a - b) <= 2e-3 * abs(a) + 2e-3 or (abs(a - b) < 0.11 and "%" in wanted) for a, b in pairs)


def compare(wanted, got):
    """Returns a text about the first difference, or None if the output matches. A line `…` stands for any lines."""
    wanted = [line for line in wanted if line.strip()]
    got = [line for line in got if line.strip()]
    anything = False
    for line in wanted:
        if line.strip() == "…":
            anything = True
            continue
        while anything and got and not same_line(line, got[0]):
            got = got[1:]
        if not got or not same_line(line, got[0]):
            return f"wanted: {line}\ngot:    {got[0] if got else '(nothing more)'}"
        got, anything = got[1:], False
    return f"more than said: {got[0]}" if got and not anything else None


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    return done.returncode, done.stdout


def run_console(body, folder, environment, fails):
    steps = []
    for line in body.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif line.startswith("> ") and not steps[-1][1]:
            steps[-1] = (steps[-1][0] + "\n" + line[2:], [])
        else:
            steps[-1][1].append(line)
    for command, wanted in steps:
        status, said = run(["sh", "-euc", command], folder, environment)
        if (status != 0) != fails:
            return f"$ {command}\n{said}exit status {status}"
        wrong = compare(wanted, said.split("\n")) if any(line.strip() for line in wanted) else None
        if wrong:
            return f"$ {command}\n{wrong}"
    return None


def run_program(block, compiler, flags, suffix, folder, environment):
    path = os.path.join(folder, f"block{block.line}{suffix}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(block.body)
    program = path + ".out"
    library = os.path.join(BUILD, "lib")
    status, said = run([compiler, *flags, path, "-I" + os.path.join(SOURCE, "include"), "-L" + library, "-Wl,-rpath," + library, "-ltaper", "-lm",
                        "-o", program], folder, environment)
    if status != 0:
        return said
    if block.said.startswith("run: "):
        status, said = run([program, *block.said[5:].split()], folder, environment)
        if status != 0:
            return f"{said}exit status {status}"
    return None


def prepare(folder):
    for name in os.listdir(SOURCE):
        if not name.startswith((".", "build")):
            os.symlink(os.path.join(SOURCE, name), os.path.join(folder, name))
    os.symlink(BUILD, os.path.join(folder, "build"))
    demo = os.path.join(SOURCE, "examples", "demo")
    for name, copied in (("model.pt", "classifier.pt"), ("model.ptl", "classifier.ptl"), ("photo.jpg", "images/picnic.jpg")):
        shutil.copyfile(os.path.join(demo, copied), os.path.join(folder, name))
    broken_files.write(folder, os.path.join(demo, "classifier.pt"), os.path.join(demo, "classifier.ptl"))


def run_page(page):
    found, _ = pages.blocks(pages.read(SOURCE, page))
    environment = {**os.environ, "PATH": os.path.join(BUILD, "bin") + ":" + os.environ["PATH"],
                   "PYTHONPATH": os.path.join(BUILD, "python"), "CC": CC, "CXX": CXX, "COLUMNS": "120"}
    if shutil.which("ninja") is not None: # building Taper needs Ninja; make may be missing
        environment["CMAKE_GENERATOR"] = "Ninja"
    passed = failed = 0
    python, python_block = "", None
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder)
        for block in found:
            if block.language in pages.TEXT:
                continue
            where = f"{page}:{block.line}"
            if block.said.startswith("not run: "):
                print(f"{where}: {block.said}")
                continue
            wrong = None
            if block.language == "console":
                wrong = run_console(block.body, folder, environment, block.said == "fails")
            elif block.language == "sh":
                status, said = run(["sh", "-euxc", block.body], folder, environment)
                wrong = f"{said}exit status {status}" if status != 0 else None
            elif block.language == "c":
                wrong = run_program(block, CC, ["-std=c99", "-Wall", "-Wextra", "-Werror"], ".c", folder, environment)
            elif block.language == "python":
                if not glob.glob(os.path.join(BUILD, "python", "taper", "_taper*")) or importlib.util.find_spec("numpy") is None:
                    print(f"{where}: SKIPPED, this build has no Python binding, or Python no NumPy")
                    continue
                python, python_block = python + block.body, block # each block continues the blocks before it
                status, said = run([sys.executable, "-c", python], folder, environment)
                wrong = f"{said}exit status {status}" if status != 0 else None
            else:
                wrong = "a block of this language cannot be run: a comment before it says why (<!-- not run: … -->)"
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print(f"FAILED {where}\n{wrong}")
    print(f"{passed} passed, {failed} failed")
    return failed


def check_forms():
    problems = []
    every = pages.pages(SOURCE)
    texts = {page: pages.read(SOURCE, page) for page in every}
    for page, text in texts.items():
        problems += [f"{page}:{problem}" for problem in pages.blocks(text)[1]]
        for target in pages.links(text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if file in ("docs/commands.md", "docs/supported-ops.md") or file.startswith("docs/api"): # `./dev docs` makes these pages
                continue
            if not os.path.exists(os.path.join(SOURCE, file)):
                problems.append(f"{page}: a link to {target}, which is not there")
            elif anchor and file.endswith(".md") and anchor not in pages.anchors(texts.get(file) or pages.read(SOURCE, file)):
                problems.append(f"{page}: a link to {target}, whose heading is not there")
        for path, quoted in pages.quotations(text):
            if not os.path.exists(os.path.join(SOURCE, path)) or quoted not in pages.read(SOURCE, path):
                problems.append(f"{page}: {path} does not have \"{quoted}\"")
    for page in [*every, "bindings/wasm/package/README.md"]:
        if page != "CHANGELOG.md" and pages.says_published(pages.read(SOURCE, page)) not in (None, pages.published(SOURCE)):
            wrong = "still says that no version is published" if pages.published(SOURCE) else "does not say that no version is published yet"
            problems.append(f"{page}: has coordinates of packages, and {wrong}")
    print("\n".join(problems))
    print(f"{len(every)} pages, {len(problems)} failed")
    return len(problems)


SOURCE, BUILD = os.path.abspath(SOURCE), os.path.abspath(BUILD)
sys.exit(1 if (run_page(sys.argv[5]) if len(sys.argv) > 5 else check_forms()) else 0)
