# SPDX-License-Identifier: BSD-2-Clause
"""Wrong uses of the programs, each with the line that it prints: what users get to read is kept in view here. The files that the rows name
are those of setUp()."""
import os
import subprocess
import unittest

from toolcase import DEMO, ROOT, VALUES, ToolCase, main, np

# Words of the command line, "taper: error: " aside the first line of stderr. What is wrong in the use of the program itself ends with
# exit status 2 and the line `see "taper VERB --help"`.
MISUSES = [
    ("", "a command is missing"),
    ("runn v.ptl", 'there is no command "runn"; did you mean run?'),
    ("clasify m.ptl a.jpg", 'there is no command "clasify"; did you mean classify?'),
    ("help optimise", 'there is no command "optimise"; did you mean optimize?'),
    ("help run bench", "help takes one command"),
    ("v.ptl -i x.npy", 'there is no command "v.ptl"; did you mean taper run v.ptl?'),
    ("dance", 'there is no command "dance"'),
    ("--dance", 'there is no command "--dance"'),
    ("run", "MODEL is missing"),
    ("run v.ptl x.npy", 'unexpected argument "x.npy"'),
    ("run v.ptl --thread 2", "unknown option --thread; did you mean --threads?"),
    ("run v.ptl -threads 2", "unknown option -threads; did you mean --threads?"),
    ("run v.ptl -input x.npy", "unknown option -input; did you mean --input?"),
    ("run v.ptl --outptu=y.npz", "unknown option --outptu=y.npz; did you mean --output?"),
    ("run v.ptl --dance", "unknown option --dance"),
    ("run v.ptl --threads", "--threads needs a value"),
    ("run v.ptl --threads two", '--threads takes a whole number from 1 to 1024, not "two"'),
    ("run v.ptl --json=yes", "--json takes no value"),
    ("run v.ptl --disable csee", '--disable: there is no pass "csee"; did you mean cse?'),
    ("run v.ptl --disable luck", '--disable: there is no pass "luck"; `taper optimize --list-passes` lists them'),
    ("run v.ptl -i 1 --bundled 0", "--bundled takes the place of -i"),
    ("run v.ptl --time-limit soon", '--time-limit: "soon" is not a number of seconds above 0'),
    ("run v.ptl --memory some", '--memory should be low or fast, not "some"'),
    ("classify m.ptl", "MODEL or IMAGE is missing"),
    ("classify m.ptl a.jpg --size 224", '--size takes WIDTHxHEIGHT such as 224x224, not "224"'),
    ("classify m.ptl a.jpg --mean 0.5", '--mean takes three numbers such as 0.485,0.456,0.406, not "0.5"'),
    ("segment m.ptl a.jpg", "-o MASK.png is missing"),
    ("optimize v.ptl", "-o OUT is missing: where shall the model be written?"),
    ("optimize v.ptl -o o.ptl --backend vulcan", '--backend: there is no backend "vulcan": cpu, vulkan, metal and nnapi are'),
    ("quantize m.pt -o o.ptl --mode int8", '--mode: there is no mode "int8": core, full and dynamic are'),
    ("quantize m.pt -o o.ptl --mode core", "--calibrate is missing: which samples shall the ranges be taken from?"),
    ("bundle v.ptl -o o.ptl", "-i INPUT is missing: what shall be bundled?"),
    ("convert v.ptl -o o.ptl --bytecode 3", '--bytecode takes a whole number from 4 to 8, not "3"'),
    ("diff v.ptl --tolerance small", '--tolerance takes one or two numbers such as 1e-4,1e-5, not "small"'),
    ("bench v.ptl --iters 3", "unknown option --iters; did you mean --iter?"),
    ("inspect v.ptl --grpah", "unknown option --grpah; did you mean --graph?"),
]

# The same for work that fails, with exit status 1.
FAILURES = [
    ("run absent.ptl", None),
    ("run v.ptl --method wordz", 'v.ptl: the model has no method "wordz"; did you mean words?'),
    ("run v.ptl --method dance", 'v.ptl: the model has no method "dance"; `taper inspect` lists what it has'),
    ("run v.ptl --method real -i 1 -i 2", "v.ptl: real takes 1 inputs, 2 were given"),
]


class WrongUse(ToolCase):
    def setUp(self):
        super().setUp()
        os.symlink(VALUES, self.path("v.ptl"))
        os.symlink(os.path.join(DEMO, "classifier.ptl"), self.path("m.ptl"))
        os.symlink(os.path.join(DEMO, "images", "lake.jpg"), self.path("a.jpg"))
        self.save("x.npy", np.ones((2, 2), "float32"))

    def test_misuses(self):
        for words, line in MISUSES:
            with self.subTest(words):
                words = words.split()
                verb = words[0] if words and line.find("command") < 0 else ""
                done = self.misused(*words, command=verb)
                self.assertEqual(done.stderr.split("\n")[0], "taper: error: " + line)

    def test_failures(self):
        for words, line in FAILURES:
            with self.subTest(words):
                done = self.fails(*(words if isinstance(words, tuple) else words.split()))
                if line is not None:
                    self.assertEqual(done.stderr.split("\n")[0], "taper: error: " + line)
                self.assertNotIn("usage: ", done.stderr)

    def test_flags_of_pytorchs_program(self):
        done = self.call("--modle=v.ptl", program="speed_benchmark_torch", status=1)
        self.assertEqual(done.stderr, "unknown flag --modle=v.ptl; did you mean --model?\nFailed to parse command line flags!\n")


class Dev(unittest.TestCase):
    """./dev with nothing on PATH that could build or install, should it go on."""
    ROWS = [
        (["tset"], 'there is no verb "tset"'), (["test", "--quik"], 'test has no option "--quik"; it takes --quick --full'),
        (["test", "--quick", "--full"], 'test takes one option, not "--quick --full"'), (["demo", "now"], 'demo has no option "now"; it takes none'),
        (["build", "fast"], 'build has no option "fast"'), (["check", "--quik"], "it takes --quick"), (["format", "--chek"], "it takes --check"),
    ]

    def test_wrong_use(self):
        import shutil
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            for tool in ("cat", "dirname", "getconf", "sed", "tr"):
                os.symlink(shutil.which(tool), os.path.join(folder, tool))
            for words, says in self.ROWS:
                with self.subTest(words):
                    done = subprocess.run(["/bin/sh", os.path.join(ROOT, "dev"), *words], capture_output=True, text=True, env={"PATH": folder},
                                          timeout=60)
                    lines = done.stderr.split("\n")
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertTrue(lines[0].startswith("dev: error: "), done.stderr)
                    self.assertIn(says, lines[0])
                    self.assertEqual(lines[1:], ['see "./dev"', ""])
                    self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    main()
