# SPDX-License-Identifier: BSD-2-Clause
"""workflows_test.py SOURCE: checks that the hosted workflows call existing scripts of this tree with options that these scripts know. Each job is
a row of scripts/release/artefacts.tsv or a target of tests/targets/targets.tsv. Each artefact that can be made has one job, on a suitable machine,
and so has each target. Needs Python's yaml; exit status 77 without it. If actionlint is installed, it also checks the workflows."""
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    print("SKIPPED: the workflows are read with Python's yaml (Debian: python3-yaml)")
    sys.exit(77)

SOURCE = sys.argv.pop(1)
FOLDER = os.path.join(SOURCE, ".github", "workflows")
sys.path[:0] = [os.path.join(SOURCE, "scripts", "release"), os.path.join(SOURCE, "scripts")]
sys.dont_write_bytecode = True
import release  # noqa: E402
import targets  # noqa: E402

ROWS = {artefact.name: artefact for artefact in release.artefacts()}
TARGETS = {f"target-{name}": ["./dev", "test", "--target", name] for name in targets.targets()}
# A job may run these commands in addition to scripts: they install the packages that checkout and the script need on a bare machine.
PREPARES = (["apt-get", "update"], ["apt-get", "install"], ["apk", "add"], ["brew", "install"], ["git", "config"])
VARIABLE = re.compile(r"\$\{\{ *matrix\.([\w-]+) *\}\}")


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


WORKFLOWS = {name: yaml.safe_load(read(name)) for name in sorted(os.listdir(FOLDER))}


def choices(job):
    """Yields each combination of a job's matrix, as {variable: value}; a job without a matrix has one empty combination."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    included = matrix.pop("include", None)
    if included:
        return included
    return [dict(zip(matrix, values)) for values in itertools.product(*matrix.values())]


def filled(text, choice):
    return VARIABLE.sub(lambda match: str(choice[match.group(1)]), text)


class Job:
    def __init__(self, identifier, job, choice):
        self.name = filled(job["name"], choice) if "name" in job else identifier
        self.runner, self.container = filled(job["runs-on"], choice), job.get("container", "")
        self.steps, self.choice = job["steps"], choice

    def commands(self):
        """Yields the words of each command that the job runs."""
        for step in self.steps:
            for line in filled(step.get("run", ""), self.choice).splitlines():
                for command in line.split("&&"):
                    yield shlex.split(command)

    def makes(self):
        """Yields the artefacts that the job makes."""
        return [words[words.index("--only") + 1] for words in self.commands() if "--only" in words]

    def machine(self):
        """Returns the job's machine, as in artefacts.tsv."""
        if self.runner.startswith("macos-"):
            return "Darwin-arm64"
        processor = "aarch64" if self.runner.endswith("-arm") else "x86_64"
        return ("Musl-" if self.container.startswith("alpine:") else "Linux-") + processor


def jobs(workflow):
    return [Job(identifier, job, choice) for identifier, job in workflow["jobs"].items() for choice in choices(job)]


class Workflows(unittest.TestCase):
    def test_triggers(self):
        ci, tagged = WORKFLOWS["ci.yml"][True], WORKFLOWS["release.yml"][True]  # YAML reads the key `on` as true
        self.assertLessEqual({"push", "pull_request"}, set(ci))
        self.assertEqual(tagged["push"], {"tags": ["v*"]})

    def test_names(self):
        for name, workflow in WORKFLOWS.items():
            found = [job.name for job in jobs(workflow)]
            self.assertEqual(len(found), len(set(found)), name)
            self.assertLessEqual(set(found), {*ROWS, *TARGETS}, name)

    def test_every_row_has_a_job(self):
        ci = {job.name: job for job in jobs(WORKFLOWS["ci.yml"])}
        tagged = {job.name: job for job in jobs(WORKFLOWS["release.yml"])}
        for row in ROWS.values():
            if row.machine == "none":
                self.assertNotIn(row.name, {**ci, **tagged})
            elif row.machine == "ci":
                self.assertIn(row.command, list(ci[row.name].commands()), row.name)
            elif row.machine == "GitHub":
                self.assertIn("scripts/release/" + row.command[0], [words[0] for words in tagged[row.name].commands()])
            else:
                self.assertEqual(set(tagged[row.name].makes()), {row.name})
                self.assertIn(row.machine, ("any", tagged[row.name].machine()), row.name)

    def test_every_target_has_a_job(self):
        ci = {job.name: job for job in jobs(WORKFLOWS["ci.yml"])}
        for name, command in TARGETS.items():
            self.assertIn(name, ci, "add the target to the matrix of ci.yml")
            self.assertIn(command, list(ci[name].commands()), name)

    def test_commands(self):
        usage = subprocess.run([os.path.join(SOURCE, "dev")], capture_output=True, text=True, check=True).stdout
        for job in itertools.chain.from_iterable(map(jobs, WORKFLOWS.values())):
            for words in job.commands():
                if words[:2] in PREPARES:
                    continue
                path = os.path.join(SOURCE, words[0])
                self.assertIn("/", words[0], f"{job.name} runs {words}, which is no script of this tree")
                self.assertTrue(os.access(path, os.X_OK), f"{job.name}: {words[0]}")
                options = {word for word in words[1:] if word.startswith("--")}
                if words[0] == "./dev":
                    verb = re.search(rf"^  {words[1]}\b.*?(?=^  [a-z]|^$)", usage, re.M | re.S)
                    self.assertIsNotNone(verb, words)
                    known = set(re.findall(r"--[a-z-]+", verb.group(0)))
                else:
                    with open(path, encoding="utf-8") as file:
                        known = set(re.findall(r"--[a-z-]+", file.read()))
                self.assertLessEqual(options, known, words)

    def test_later_jobs_wait(self):
        """The job for checksums runs after the jobs of all artefacts, and each job uploads the files that it made."""
        found = WORKFLOWS["release.yml"]["jobs"]
        makers = {name for name in found if name not in ("version", "checksums", "publish")}
        self.assertEqual(set(found["checksums"]["needs"]), makers)
        for job in jobs(WORKFLOWS["release.yml"]):
            for step in job.steps:
                if step.get("uses", "").startswith("actions/upload-artifact@"):
                    self.assertEqual(filled(step["with"]["name"], job.choice), job.name)
                    self.assertEqual(filled(step["with"]["path"], job.choice), "build/release/" + job.name)

    def test_home(self):
        """Maven requires the project's address, which the tree does not contain."""
        self.assertIn("TAPER_HOME", WORKFLOWS["release.yml"]["jobs"]["android"]["env"])

    def test_pinned(self):
        """A workflow names an action by the action's commit, followed by its version. No job has more rights than it needs."""
        for name, workflow in WORKFLOWS.items():
            for used in re.findall(r"uses: (.*)", read(name)):
                self.assertRegex(used, r"^actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
            self.assertEqual(workflow["permissions"], {"contents": "read"})
            self.assertNotIn("://", read(name), "an address")
            for job, text in workflow["jobs"].items():
                self.assertIn("timeout-minutes", text, job)
                self.assertTrue(job == "publish" or "permissions" not in text, job)

    def test_actionlint(self):
        if shutil.which("actionlint") is None:
            self.skipTest("no actionlint")
        done = subprocess.run(["actionlint", *(os.path.join(FOLDER, name) for name in WORKFLOWS)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


unittest.main()
