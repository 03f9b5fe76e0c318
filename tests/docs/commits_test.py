# SPDX-License-Identifier: BSD-2-Clause
"""commits_test.py SOURCE: checks in small histories that scripts/check_commits.py accepts messages that follow the rules and names each
rule that a message breaks. Exit status 77: git is not installed."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
LONG = "word " * 16
# (message, a part of the expected finding, or "" if no finding is expected)
MESSAGES = [
    ("gpu: free the arena after a failed run\n\nIt leaked.", ""),
    ("src/ops, docs: pass sizes on", ""),
    (".ci: need one run", ""),
    ("gpu: free the arena\n\nhttps://example.org/" + "a" * 100, ""),
    ("gpu: " + "f" * 67, ""),
    ("gpu: " + "f" * 68, "the subject has 73 columns, and may have 72"),
    ("gpu: free the arena.", "the subject ends with a period"),
    ("gpu: free the arena; count blocks", "the subject has a semicolon"),
    ("free the arena", "the subject is not \"area: imperative\""),
    ("Free the arena: now", "the subject is not \"area: imperative\""),
    ("gpu: Free the arena", "\"Free\" is not a verb in lower case"),
    ("gpu: freed the arena", "\"freed\" is not"),
    ("gpu: frees the arena", "\"frees\" is not an imperative"),
    ("gpu: freeing the arena", "\"freeing\" is not an imperative"),
    ("gpu: free the arena\nIt leaked.", "the line after the subject is not blank"),
    ("gpu: free the arena\n\n" + LONG.strip(), ""),
    ("gpu: free the arena\n\nIt leaked.\n" + LONG + "more", "line 4 has 84 columns, and may have 80"),
]

passed = failed = 0


def check(what, right, got=""):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    if not right:
        print(f"FAILED {what}: {got}")


def git(folder, *arguments, message=None):
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "-C", str(folder), *arguments],
                          input=message, capture_output=True, text=True, check=True).stdout.strip()


def commit(folder, message):
    git(folder, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-F", "-", message=message)


def run(folder, *arguments):
    done = subprocess.run([sys.executable, str(folder / "scripts/check_commits.py"), *arguments], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()


def tree(folder):
    """A history whose second commit adds the script."""
    git(folder, "init", "-q")
    commit(folder, "The first commit, from before the rules.")
    (folder / "scripts").mkdir()
    shutil.copy(SOURCE / "scripts/check_commits.py", folder / "scripts")
    git(folder, "add", ".")
    commit(folder, "scripts: check commits")


if shutil.which("git") is None:
    print("SKIPPED: git is not installed")
    sys.exit(77)
os.environ["GIT_CONFIG_GLOBAL"] = os.environ["GIT_CONFIG_SYSTEM"] = os.devnull
os.environ["GIT_CEILING_DIRECTORIES"] = tempfile.gettempdir()
with tempfile.TemporaryDirectory() as name:
    top = pathlib.Path(name) / "tree"
    top.mkdir()
    tree(top)
    check("commits from before the script are not checked", run(top, "--last", "20") == (0, "1 commits, 0 findings"), run(top, "--last", "20"))
    for text, wanted in MESSAGES:
        commit(top, text)
        status, said = run(top, "HEAD~1..HEAD")
        lines = said.split("\n")[:-1]
        check(text, status == bool(wanted) and len(lines) == bool(wanted) and (not wanted or wanted in lines[0]), said)
    BAD = sum(bool(wanted) for _, wanted in MESSAGES)
    check("all of them", run(top, "--last", "40")[1].endswith(f"{1 + len(MESSAGES)} commits, {BAD} findings"), run(top, "--last", "40"))
    status, said = run(top, "0" * 40 + "..HEAD")
    check("a range whose start is unknown", status == 1 and said.startswith("git does not know 000"), said)
    status, said = run(top, "HEAD..nowhere")
    check("a range whose end is unknown", status == 1 and said == "check_commits.py: git does not know HEAD..nowhere", said)
    git(name, "clone", "-q", "--depth", "2", f"file://{top}", "shallow")
    status, said = run(pathlib.Path(name) / "shallow", "--last", "20")
    check("a shallow clone", status == 77 and said.startswith("SKIPPED: this is a shallow clone"), said)
    shutil.rmtree(top / ".git")
    check("a tree without history", run(top, "--last", "20") == (77, "SKIPPED: this tree has no git history"), run(top, "--last", "20"))
    git(name, "init", "-q")
    check("a tree within another one", run(top, "--last", "20") == (77, "SKIPPED: this tree has no git history"), run(top, "--last", "20"))
TEMPLATE = (SOURCE / ".gitmessage").read_text(encoding="utf-8")
check("the template has comments only, so an unchanged message is empty", all(line.startswith("#") or not line for line in TEMPLATE.split("\n")), TEMPLATE)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
