# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper optimize and taper convert on the command line: the arguments that they refuse, their output, and that they leave
no partial file."""
import os
import resource

from toolcase import DEMO, ROOT, VALUES, ToolCase, main, np

SAMPLES = os.path.join(ROOT, "tests", "data", "samples")
NET = os.path.join(SAMPLES, "s01_convnet.pt")
WRITERS = ("optimize", "convert")


class Optimize(ToolCase):
    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_wrong_usage(self):
        for arguments, says in [
                ([], "MODEL is missing"), ([NET], "-o OUT is missing"), ([NET, "-o"], "-o"), ([NET, VALUES, "-o", "o"], ""),
                ([NET, "-o", "o", "--backend", "toaster"], 'no backend "toaster"'), ([NET, "-o", "o", "--backend", ""], "backend"),
                ([NET, "-o", "o", "--disable", "no_such_pass"], "no_such_pass"), ([NET, "-o", "o", "--disable", "cse,nonsense"], "nonsense"),
                ([NET, "-o", "o", "--bytecode", "3"], "--bytecode"), ([NET, "-o", "o", "--bytecode", "9"], "--bytecode"),
                ([NET, "-o", "o", "--bytecode", "x"], "--bytecode"), ([NET, "-o", "o", "--bytecode", "4", "--flatbuffer"], "exclude"),
                ([NET, "-o", "o", "--dance"], "--dance")]:
            with self.subTest(arguments):
                self.misused("optimize", *arguments, says=says)
        for arguments in [[], [NET], [NET, "-o", "o", "--bytecode", "0x8"], [NET, "-o", "o", "--backend", "cpu"]]:
            with self.subTest(arguments):
                self.misused("convert", *arguments)

    def test_methods(self):
        self.fails("optimize", NET, "-o", "o.ptl", "--preserve", "absent", says="no method absent")
        self.call("optimize", VALUES, "-o", "o.ptl", "--preserve", "real", "--preserve", "ints")
        self.assertEqual(self.run_json("o.ptl", "--method", "real", "-i", "2.5"), 2.5)
        self.fails("run", "o.ptl", "--method", "words", says="words")

    def test_nnapi(self):
        x = np.load(os.path.join(SAMPLES, "s01_convnet.c0.in0.npy"))
        self.save("x.npy", x)
        for layout in ("nhwc", "pytorch", "pytorch_nhwc"):
            with self.subTest(layout):
                said = self.call("optimize", NET, "-o", "n.ptl", "--backend", "nnapi", "-i", "x.npy", "--backend-options", f"layout={layout}",
                                 "--report").stdout
                self.assertIn("NNAPI: ", said)
                self.assertIn("NNAPI 0", said)
                self.call("run", "n.ptl", "-i", "x.npy", "-o", "y.npz")
                want = np.load(os.path.join(SAMPLES, "s01_convnet.c0.out.npy"))
                got = np.load(self.path("y.npz"))["output"]
                self.assertLessEqual(np.abs(got - want).max(), 1e-4 * np.abs(want).max())
        self.call("bundle", NET, "-o", "b.pt", "-i", "x.npy")
        self.assertIn("NNAPI: 1 modules", self.call("optimize", "b.pt", "-o", "n2.ptl", "--backend", "nnapi").stdout)
        nnapi = "optimize", NET, "-o", "w.ptl", "--backend", "nnapi", "-i", "x.npy", "--backend-options"
        for wrong in ("layout=nchw", "level=26", "level=300", "relax_f32_to_f16", "relax=1", "preference=fast", "speed=1", "layout=nhwc,,", "=", ","):
            with self.subTest(wrong):
                self.fails(*nnapi, wrong, status=2, says="--backend-options")
        self.fails(*nnapi, "flexible=batch,layout=pytorch", says="flexible sizes are for layout=nhwc")
        self.fails("optimize", NET, "-o", "w.ptl", "--backend", "nnapi", says="no bundled inputs")
        self.fails("optimize", NET, "-o", "w.ptl", "--backend", "nnapi", "-i", "x.npy", "-i", "x.npy", says="inputs")
        self.fails("optimize", NET, "-o", "w.ptl", "-i", "x.npy", status=2, says="--backend nnapi")
        self.fails("optimize", NET, "-o", "w.ptl", "--report", status=2, says="--backend nnapi")
        self.fails("optimize", VALUES, "-o", "w.ptl", "--backend", "nnapi", "-i", "x.npy", says="nothing of forward can be converted for NNAPI")
        self.assertFalse(os.path.exists(self.path("w.ptl")))
        self.save("x1.npy", np.concatenate([x, x]))
        self.fails("run", "n.ptl", "-i", "x1.npy", says="convert it again")

    def test_debug_info(self):
        net = os.path.join(SAMPLES, "s05_methods.pt")
        self.save("x.npy", np.ones((1, 7), np.float32))
        for command in WRITERS:
            with self.subTest(command):
                self.call(command, net, "-o", "plain.ptl")
                told = self.fails("run", "plain.ptl", "-i", "x.npy").stderr
                self.assertNotIn("Module hierarchy", told)
                self.call(command, net, "-o", "debug.ptl", "--debug-info")
                told = self.fails("run", "debug.ptl", "-i", "x.npy").stderr
                self.assertIn("Module hierarchy:top(Parent)::<unknown>.", told)
                self.call("convert", "debug.ptl", "-o", "again.ptl")  # the debug records of a lite file are kept
                self.assertEqual(told.split("\n")[1:], self.fails("run", "again.ptl", "-i", "x.npy").stderr.split("\n")[1:])
                self.fails(command, net, "-o", "o.ptl", "--debug-info", "--flatbuffer", status=2, says="--flatbuffer exclude")

    def test_passes(self):
        listed = [line.split()[0] for line in self.call("optimize", "--list-passes").stdout.splitlines()]
        self.assertIn("prepack", listed)
        for name in set(listed) | {"CONV_BN_FUSION", "INSERT_FOLD_PREPACK_OPS", "REMOVE_DROPOUT", "FUSE_ADD_RELU",
                                   "HOIST_CONV_PACKED_PARAMS", "CONV_1D_TO_2D"}:
            with self.subTest(name):
                self.call("optimize", NET, "-o", "o.ptl", "--disable", name)
        self.call("optimize", NET, "-o", "o.ptl", "--disable", "prepack,cse", "--disable", "freeze")
        self.assertIn("aten::conv2d", self.call("ops", "o.ptl").stdout)

    def test_outputs(self):
        for command in WRITERS:
            with self.subTest(command):
                self.fails(command, NET, "-o", "absent/o.ptl", says="absent/o.ptl")
                self.fails(command, NET, "-o", self.folder.name, says=self.folder.name)
                self.fails(command, NET, "-o", "/dev/full", says="/dev/full")
                self.fails(command, NET, "-o", "")
                limits = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
                self.fails(command, NET, "-o", "large.ptl", says="large.ptl")
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
                self.call(command, NET, "-o", "/dev/null")
                self.write("locked", "old")
                self.fails(command, "absent.pt", "-o", "locked", says="absent.pt")
                self.assertEqual(self.read("locked"), b"old")

    def test_the_input_is_the_output(self):
        x = self.save("x.npy", np.linspace(-1, 1, 360, dtype="float32").reshape(1, 3, 10, 12))
        wanted = self.run_npz(NET, "-i", x)["output"]
        with open(NET, "rb") as file:
            self.write("m.ptl", file.read())
        for command in (["convert"], ["optimize"], ["convert", "--flatbuffer"], ["convert", "--bytecode", "4"], ["optimize", "--backend", "vulkan"]):
            self.call(command[0], "m.ptl", "-o", "m.ptl", *command[1:])
            got = self.run_npz("m.ptl", "-i", x)["output"]
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
        os.symlink("m.ptl", self.path("link.ptl"))
        self.call("convert", "link.ptl", "-o", "link.ptl")
        self.assertTrue(os.path.islink(self.path("link.ptl")))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["link.ptl", "m.ptl", "out.npz", "x.npy"])

    def test_damaged_inputs(self):
        for name in ("s01_convnet.pt", "s01_convnet.ptl", "s01_convnet.fb.ptl"):
            with open(os.path.join(SAMPLES, name), "rb") as file:
                data = file.read()
            damaged = {"empty": b"", "short": data[:len(data) // 2], "start": data[:100], "text": b"not a model",
                       "end": data[64:]}
            for what, content in damaged.items():
                path = self.write(f"{what}.{name}", content)
                for command in WRITERS:
                    with self.subTest(path=path, command=command):
                        self.fails(command, path, "-o", "o.ptl", says=path)

    def test_missing_operators(self):
        with open(os.path.join(SAMPLES, "s01_convnet.fb.ptl"), "rb") as file:
            model = self.write("missing.ptl", file.read().replace(b"aten::flatten", b"aten::flaxxen"))
        for command in WRITERS:
            self.fails(command, model, "-o", "o.ptl", says="operator")

    def test_what_is_printed(self):
        done = self.call("optimize", NET, "-o", "o.ptl", "--operators", "--graph")
        self.assertRegex(done.stdout, r"before:\n")
        self.assertRegex(done.stdout, r"after:\n")
        self.assertRegex(done.stdout, r"prepacked::conv2d_clamp_run")
        self.assertRegex(done.stdout, r"o\.ptl: \d+ nodes, \d+ before\n$")

    def test_the_demo(self):
        for backend in ("cpu", "vulkan", "metal"):
            self.call("optimize", os.path.join(DEMO, "classifier.ptl"), "-o", "o.ptl", "--backend", backend)
            self.call("bench", "o.ptl", "--input-dims", "1,3,96,96", "--iter", 1, "--warmup", 0)


if __name__ == "__main__":
    main()
