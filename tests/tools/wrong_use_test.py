# SPDX-License-Identifier: BSD-2-Clause
"""Tests wrong command lines of the programs. Each stands here with its output, so that all messages for users are visible in one place. setUp() makes
the files that the rows name."""
import os
import subprocess
import unittest

from toolcase import DEMO, ROOT, VALUES, ToolCase, main, np

# (command line, first line of stderr after "taper: error: "). A wrong use of the program must end with exit status 2 and the line `see "taper
# VERB --help"`.
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
    ("run v.ptl --json=yes", "--json takes no value but strict, not \"yes\""),
    ("run v.ptl --times", '--times goes with --json; "taper bench" says how fast a model is'),
    ("classify m.ptl a.jpg --times", "--times goes with --json; without it the times are shown"),
    ("run v.ptl --disable csee", '--disable: there is no pass "csee"; did you mean cse?'),
    ("run v.ptl --disable luck", '--disable: there is no pass "luck"; `taper optimize --list-passes` lists them'),
    ("run v.ptl -i 1 --bundled 0", "--bundled takes the place of -i"),
    ("run v.ptl --time-limit soon", '--time-limit: "soon" is not a number of seconds above 0'),
    ("run v.ptl -i x.npy -o y.csv", "-o y.csv: results are written as .npz, .npy or .json"),
    ("run v.ptl -i x.npy -o y.PNG", "-o y.PNG: results are written as .npz, .npy or .json"),
    ("run v.ptl -i x.npy -o v.ptl", "-o v.ptl: results are written as .npz, .npy or .json"),
    ("run v.ptl --calls c.json -o y.npy", "-o y.npy: a .npy file holds one result, there are several"),
    ("segment m.ptl a.jpg -o y.jpg", "-o y.jpg: the picture is written as .png"),
    ("optimize v.ptl -o y.npz", "-o y.npz: models are written for the lite interpreter, as .ptl"),
    ("convert v.ptl -o y.pt2", "-o y.pt2: models are written for the lite interpreter, as .ptl"),
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
    ("bundle v.ptl -o o.ptl --strip -i x.npy", "--strip only takes samples out: --replace puts others in their place"),
    ("convert v.ptl -o o.ptl --bytecode 3", '--bytecode takes a whole number from 4 to 8, not "3"'),
    ("diff v.ptl --tolerance small", '--tolerance takes one or two numbers such as 1e-4,1e-5, not "small"'),
    ("bench v.ptl --iters 3", "unknown option --iters; did you mean --iter?"),
    ("inspect v.ptl --grpah", "unknown option --grpah; did you mean --graph?"),
]

# Commands whose work fails, with exit status 1.
FAILURES = [
    ("run absent.ptl", None),
    ("run v.ptl --method words -o y.npy", "y.npy: a .npy file holds one tensor, the result is str: use .npz or .json"),
    ("run v.ptl --method quantized -i x.npy -o y.npy", "y.npy: a .npy file holds no quint8 numbers: use .npz or .json"),
    ("run v.ptl --method wordz", 'v.ptl: the model has no method "wordz"; did you mean words?'),
    ("run v.ptl --method dance", 'v.ptl: the model has no method "dance"; `taper inspect` lists what it has'),
    ("run v.ptl --method real -i 1 -i 2", "v.ptl: real takes 1 inputs, 2 were given"),
    ("run v.ptl -i absent.npy", "absent.npy: cannot open: No such file or directory"),
    ("run v.ptl -i hello", 'input 0 (x): "hello" is no file that is here and not valid JSON; an input is FILE.npy, FILE.npz, a PNG or JPEG '
     'picture, zeros:, ones: or rand:1x3x224x224, or JSON'),
    ("run v.ptl -i notes.txt", "notes.txt: holds text; a tensor is read from .npy, .npz, PNG and JPEG files"),
    ("run v.ptl -i wrong.npy", "wrong.npy: holds a GIF picture; a tensor is read from .npy, .npz, PNG and JPEG files"),
    ("run v.ptl -i empty.npy", "empty.npy: holds nothing; a tensor is read from .npy, .npz, PNG and JPEG files"),
    ("run v.ptl -i two.npz", "two.npz: holds several arrays: say which, as in two.npz:a (a, b)"),
    ("run v.ptl -i two.npz:c", 'two.npz: there is no array "c" in it: it holds a, b'),
    ("run v.ptl -i v.ptl", "v.ptl: a zip archive without arrays; numpy.savez writes such with them"),
    ("run v.ptl -i 3", 'input 0 (x): the method takes a Tensor here, this is an integer; give a file as "@file.npy", or an array: [1, 2]'),
    ("run v.ptl -i [[1,2],[3]]", "input 0 (x): rows of a tensor have one length: one of 2 and one of 1 are given"),
    ('run v.ptl -i ["a"]', "input 0 (x): a string stands where a tensor has a number"),
    ("run v.ptl -i [1", None),
    ("run v.ptl -i zeros:1xx3", 'input 0 (x): "1xx3" gives no sizes; give them as in 1x3x224x224'),
    ("run v.ptl -i rand:3:int64", "input 0 (x): rand: makes float32 and float64 numbers, not int64"),
    ("run v.ptl -i ones:3:half", 'input 0 (x): there is no dtype "half" for this: float32, float64, bool, uint8, int8, int16, int32 and int64 are'),
    ("run v.ptl -i zeros:999999999999x999999999999", "input 0 (x): the tensor would be larger than 1 TiB"),
    ("run v.ptl --method real -i a.jpg", 'input 0 (x): the method takes float here, "a.jpg" is a tensor'),
    ("run v.ptl --method scalars -i 1 -i 2 -i true -i text", """input 3 (s): not valid JSON, in which texts have quotes: '"text"'"""),
    ("classify a.jpg m.ptl", "a.jpg: the file is a JPEG picture, not a model (at byte 0)"),
    ("classify m.ptl a.jpg --mean 123,116,103", "m.ptl: mean 123 is of channels in 0..255, here they are in 0..1: give --mean as "
     "255th parts, 0.482, and --std, which is 0.229 now"),
    ("classify m.ptl notes.txt", "notes.txt: neither a PNG nor a JPEG picture"),
    ("bundle v.ptl -i two.npz -o o.ptl", "two.npz: holds several arrays: say which, as in two.npz:a (a, b)"),
    ("quantize m.ptl -o o.ptl --mode core --calibrate notes.txt", "notes.txt: samples are .npy, .npz, .json, .png, .jpg and .jpeg files"),
]


class WrongUse(ToolCase):
    def setUp(self):
        super().setUp()
        os.symlink(VALUES, self.path("v.ptl"))
        os.symlink(os.path.join(DEMO, "classifier.ptl"), self.path("m.ptl"))
        os.symlink(os.path.join(DEMO, "images", "lake.jpg"), self.path("a.jpg"))
        self.save("x.npy", np.ones((2, 2), "float32"))
        self.write("notes.txt", "some words\n")
        self.write("wrong.npy", b"GIF89a" + bytes(40))
        self.write("empty.npy", b"")
        np.savez(self.path("two.npz"), a=np.ones(2), b=np.ones(2))

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
    """Runs ./dev with nothing on PATH that could build or install, in case ./dev continues."""
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
