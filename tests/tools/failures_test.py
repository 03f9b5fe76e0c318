# SPDX-License-Identifier: BSD-2-Clause
"""Tests wrong usage and failures of the programs, which must leave no partial file."""
import os
import resource
import signal
import stat
import subprocess
import time
import zipfile

from toolcase import BIN, DEMO, ROOT, VALUES, ToolCase, main, np

COMMANDS = ["run", "classify", "segment", "inspect", "ops", "optimize", "quantize", "bundle", "convert", "diff", "bench"]


class Usage(ToolCase):
    def test_help(self):
        text = self.call("--help").stdout
        for command in COMMANDS:
            self.assertIn(command, text)
            self.assertTrue(self.call(command, "--help").stdout.startswith(f"usage: taper {command} "))
            self.assertEqual(self.call("help", command).stdout, self.call(command, "--help").stdout)
        self.assertEqual(self.call("help").stdout, text)
        self.assertRegex(self.call("--version").stdout, r"^taper \d+\.\d+\.\d+\n$")
        self.assertEqual(self.call("version").stdout, self.call("--version").stdout)

    def test_wrong_usage(self):
        picture = os.path.join(DEMO, "images", "lake.jpg")
        for arguments in [[], ["dance"], ["--dance"]]:
            with self.subTest(arguments):
                self.misused(*arguments, command="")
        for arguments in [[command] for command in COMMANDS] + [
                ["run", "a", "b"], ["run", "a", "--dance"], ["run", "a", "-i"], ["run", "a", "--threads", "0"],
                ["run", "a", "--threads", "2x"], ["run", "a", "--json=1"],
                ["run", "a", "--bundled", "-1"], ["run", "a", "--bundled", "0", "-i", "1"],
                ["run", "a", "--calls", "c", "-i", "1"],
                ["run", "a", "--disable", "no_such_pass"], ["classify", "a"],
                ["classify", "a", picture, "--size", "224"],
                ["classify", "a", picture, "--mean", "1,2"], ["classify", "a", picture, "--top", "none"],
                ["segment", "a", picture], ["bench", "a", "--iter", "0"], ["bench", "a", "-i", "1", "--bundled", "0"]]:
            with self.subTest(arguments):
                self.misused(*arguments)

    def test_unavailable(self):
        for command, arguments in [("run", []), ("bench", []), ("diff", []), ("classify", ["x.png"]),
                                   ("segment", ["x.png", "-o", "y.png"])]:
            for options, says in [(["--device", "cuda!"], "device cuda is not part of this build"),
                                  (["--device", "gpu"], "a device is cpu, nnapi, vulkan, metal, cuda or mps"), (["--device", "a b"], "KIND[:INDEX][!]"), (["--precision", "bf16", "--device", "cuda"], "is the CPU's"),
                                  (["--precision", "half"], "should be fp32, fp16 or bf16")]:
                with self.subTest(command, options=options):
                    self.fails(command, VALUES, *arguments, *options, says=says)

    def test_stand_in(self):
        told = self.call("run", VALUES, "--method", "count", "--device", "cuda:1", "--precision", "fp32")
        self.assertIn("device cuda:1 is not part of this build: the CPU runs the model", told.stderr)


class Failures(ToolCase):
    def test_files(self):
        for command in ["run", "inspect", "ops", "bench"]:
            self.fails(command, "absent.ptl", says="absent.ptl")
            self.fails(command, self.write("bad.ptl", b"not a model"), says="bad.ptl")
        self.fails("run", self.folder.name, says=self.folder.name)
        self.fails("classify", VALUES, "absent.jpg", says="absent.jpg")

    def test_checksums(self):
        """A weight with a changed bit is used, and --verify finds it."""
        for name in ("s01_convnet.ptl", "s01_convnet.pt"):
            path = os.path.join(ROOT, "tests", "data", "samples", name)
            with zipfile.ZipFile(path) as archive:
                weight = max((info for info in archive.infolist() if "/data/" in info.filename or "/constants/" in info.filename),
                             key=lambda info: info.file_size)
                content = archive.read(weight)
            with open(path, "rb") as file:
                model = file.read()
            self.assertEqual(model.count(content), 1)
            at = model.index(content) + len(content) // 2
            whole, changed = self.write("whole.ptl", model), self.write("changed.ptl", model[:at] + bytes([model[at] ^ 1]) + model[at + 1:])
            x = os.path.join(os.path.dirname(path), "s01_convnet.c0.in0.npy")
            for verb in (["run"], ["bench", "--iter", "1"], ["diff"]):
                self.call(*verb, whole, "-i", x, "--verify")
                self.call(*verb, changed, "-i", x)
                self.fails(*verb, changed, "-i", x, "--verify", says="checksum is wrong")
            self.call("inspect", whole, "--verify")
            with zipfile.ZipFile(path) as archive, zipfile.ZipFile(self.path("deflated.ptl"), "w", zipfile.ZIP_DEFLATED) as other:
                for info in archive.infolist():
                    other.writestr(info.filename, archive.read(info))
            self.call("run", "deflated.ptl", "-i", x, "--verify")
            self.fails("inspect", changed, "--verify", says=weight.filename.split("/", 1)[1])
        self.fails("run", os.path.join(ROOT, "tests", "data", "samples", "s01_convnet.fb.ptl"), "--verify", says="carries no checksums")
        self.fails("run", self.write("page.ptl", b"<html>"), "--verify", says="a web page")
        self.fails("run", self.write("cut.ptl", model[:1000]), "--verify", says="cut.ptl")

    def test_outputs_are_whole_or_absent(self):
        x = self.save("x.npy", np.ones((2, 2), "float32"))
        self.fails("run", VALUES, "--method", "refuse", "-i", "5", "-o", "out.npz", says="too large")
        self.fails("run", VALUES, "-i", "absent.npy", "-o", "out.npz")
        self.fails("run", VALUES, "-i", x, "-o", "absent/out.npz", says="absent/out.npz")
        self.fails("run", VALUES, "-i", x, "-o", self.folder.name, says=self.folder.name)
        self.fails("run", VALUES, "-i", x, "-o", "/dev/full", says="/dev/full")

    def test_an_old_output_survives_failure(self):
        self.write("out.npz", "old")
        self.fails("run", VALUES, "--method", "refuse", "-i", "5", "-o", "out.npz")
        with open(self.path("out.npz")) as file:
            self.assertEqual(file.read(), "old")

    def test_links_and_devices_stay(self):
        x = self.save("x.npy", np.ones((2, 2), "float32"))
        os.symlink("real.npz", self.path("link.npz"))
        self.write("real.npz", "old")
        self.call("run", VALUES, "-i", x, "-o", "link.npz")
        self.assertTrue(os.path.islink(self.path("link.npz")))
        self.assertEqual(np.load(self.path("real.npz"))["output"].shape, (2, 2))
        self.call("run", VALUES, "-i", x, "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_the_mode_of_an_old_output_stays(self):
        x = self.save("x.npy", np.ones((2, 2), "float32"))
        for mode in (0o600, 0o640):
            self.write("old.npz", "old")
            os.chmod(self.path("old.npz"), mode)
            self.call("run", VALUES, "-i", x, "-o", "old.npz")
            self.assertEqual(stat.S_IMODE(os.stat(self.path("old.npz")).st_mode), mode)
            self.assertEqual(np.load(self.path("old.npz"))["output"].shape, (2, 2))

    def test_a_read_only_output_is_not_replaced(self):
        x = self.save("x.npy", np.ones((2, 2), "float32"))
        self.write("kept.npz", "old")
        os.chmod(self.path("kept.npz"), 0o444)
        self.fails("run", VALUES, "-i", x, "-o", "kept.npz", says="read-only")
        with open(self.path("kept.npz")) as file:
            self.assertEqual(file.read(), "old")

    def test_a_link_to_nowhere_is_followed(self):
        x = self.save("x.npy", np.ones((2, 2), "float32"))
        os.mkdir(self.path("folder"))
        os.symlink("../there.npz", self.path("folder/second"))
        os.symlink("folder/second", self.path("first"))
        self.call("run", VALUES, "-i", x, "-o", "first")
        self.assertTrue(os.path.islink(self.path("first")) and os.path.islink(self.path("folder/second")))
        self.assertEqual(np.load(self.path("there.npz"))["output"].shape, (2, 2))

    def test_pipes_and_devices_are_no_models_and_no_inputs(self):
        os.mkfifo(self.path("pipe.ptl"))
        self.fails("run", "pipe.ptl", says="not a regular file")
        self.fails("inspect", "/dev/zero", says="not a regular file")
        self.fails("run", VALUES, "-i", '"@/dev/zero"', "-o", "out.npz", says="/dev/zero")

    def test_control_characters_of_a_file_stay_there(self):
        for name in ("csi\u009b31m.ptl", "esc\x1b[31m.ptl"):
            done = self.fails("run", name)
            self.assertNotIn("\u009b", done.stderr)
            self.assertNotIn("\x1b", done.stderr)
        done = subprocess.run([os.path.join(BIN, "taper"), "run", b"raw\x9b31m.ptl"], capture_output=True)
        self.assertNotIn(b"\x9b", done.stderr)

    def test_full_standard_output(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.path.join(BIN, "taper"), "inspect", VALUES], stdout=full, stderr=subprocess.PIPE,
                                  text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("taper: error: standard output", done.stderr)

    def test_a_signal_leaves_nothing(self):
        for number in (signal.SIGTERM, signal.SIGQUIT):
            self.ended_by(number)

    def ended_by(self, number):
        calls = ",".join(['{"method": "count"}'] * 60000)
        self.write("calls.json", f"[{calls}]")
        before = sorted(os.listdir(self.folder.name))
        process = subprocess.Popen([os.path.join(BIN, "taper"), "run", VALUES, "--calls", "calls.json", "-o",
                                    "out.npz"],
                                   cwd=self.folder.name, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
        for _ in range(500):  # waits for the unfinished file
            if sorted(os.listdir(self.folder.name)) != before or process.poll() is not None:
                break
            time.sleep(0.01)
        process.send_signal(number)
        self.assertIn(process.wait(timeout=60), (-number, 0))
        left = set(os.listdir(self.folder.name)) - set(before)
        self.assertTrue(left <= {"out.npz"}, left)


class Inspection(ToolCase):
    def test_inspect(self):
        text = self.call("inspect", VALUES).stdout
        self.assertIn("forward(x: Tensor, n: int) -> Tensor", text)
        self.assertIn("aten::add.Scalar", text)
        self.assertIn("aten::mul.Scalar", self.call("inspect", VALUES, "--graph").stdout)

    def test_inspect_mode(self):
        import json
        self.assertIn("mode       training", self.call("inspect", VALUES).stdout)
        self.assertTrue(json.loads(self.call("inspect", VALUES, "--json").stdout)["training"])
        self.assertNotIn("mode  ", self.call("inspect", VALUES, "--eval").stdout)
        out = os.path.join(self.folder.name, "optimized.ptl")
        self.call("optimize", VALUES, "-o", out)
        self.assertFalse(json.loads(self.call("inspect", out, "--json").stdout)["training"])

    def test_inspect_shapes(self):
        model = os.path.join(ROOT, "tests/data/samples/s01_convnet")
        text = self.call("inspect", model + ".ptl", "--graph", "-i", model + ".c0.in0.npy").stdout
        self.assertRegex(text, r"%\d+ = aten::linear\(.*# float32 \[1, 4\]")
        before = self.call("inspect", model + ".ptl", "--graph", "--no-optimize").stdout
        self.assertIn("prim::GetAttr", before)
        self.assertNotIn("prim::GetAttr", text)

    def test_inspect_json(self):
        import json
        found = json.loads(self.call("inspect", VALUES, "--json").stdout)
        self.assertEqual((found["name"], found["tensors"], found["elements"]), ("__torch__.Values", 1, 6))
        self.assertIn({"name": "real", "arguments": [{"name": "x", "type": "float"}], "returns": "float"},
                      found["methods"])
        found = json.loads(self.call("inspect", os.path.join(DEMO, "classifier.ptl"), "--json").stdout)
        self.assertEqual(list(found["extra_files"]), ["taper.json"])

    def test_wrong_shapes_name_the_input(self):
        for model in ("classifier.pt", "classifier.ptl"):
            done = self.fails("run", os.path.join(DEMO, model), "-i", "zeros:1x4x96x96", says="to have 3 channels, but got 4")
            self.assertIn("\ninput 0 (x) was float32 [1, 4, 96, 96]", done.stderr)
            called = next(line for line in done.stderr.split("\n") if line.startswith("called with "))
            self.assertLess(called.count("float32["), 3, called)  # the inputs of fused operators are not listed
        # If the file has modules, the error names the layer by its module, also for a layer in the middle.
        samples = os.path.join(ROOT, "tests", "data", "samples")
        for model, shape, layer in ((os.path.join(DEMO, "classifier.pt"), "1x4x96x96", "features.0.0"),
                                    (os.path.join(samples, "s01_convnet.ptl"), "1x4x12x12", "conv"),
                                    (os.path.join(samples, "s02_traced.ptl"), "1x4x12x12", "conv")):
            done = self.fails("run", model, "-i", "zeros:" + shape)
            self.assertIn(f", refused in {layer}\n", done.stderr)
        done = self.fails("run", os.path.join(samples, "s05_methods.ptl"), "-i", "zeros:3x5")
        self.assertIn("\ninput 0", done.stderr)

    def test_missing_operators(self):
        import json
        with open(os.path.join(ROOT, "tests", "data", "samples", "s01_convnet.fb.ptl"), "rb") as file:
            model = self.write("missing.ptl", file.read().replace(b"aten::flatten", b"aten::flaxxen"))
        self.assertIn("aten::flaxxen.using_ints", self.fails("run", model, says="operator").stderr)
        text = self.call("inspect", model).stdout
        self.assertRegex(text, r"operators \(\d+, 1 of them not in this build")
        self.assertRegex(text, r"aten::flaxxen.using_ints  \d calls?  MISSING")
        self.assertRegex(text, r"aten::conv2d  \d calls?\n")
        found = json.loads(self.call("inspect", model, "--json").stdout)
        self.assertEqual(list(found["missing_operators"]), ["aten::flaxxen.using_ints"])
        self.assertIn("aten::flaxxen.using_ints", self.call("ops", model).stdout.split("\n"))

    def test_ops(self):
        names = self.call("ops", VALUES).stdout.split("\n")[:-1]
        self.assertEqual(names, sorted(names))
        self.assertIn("aten::add_.Scalar", names)
        config = self.call("ops", VALUES, "--config").stdout
        self.assertIn("#define TAPER_USE_aten_add__Scalar 1\n", config)
        self.assertIn("#define TAPER_USE_aten_t 1\n", config)


if __name__ == "__main__":
    main()
