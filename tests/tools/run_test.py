# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper run with .npy inputs and .npz outputs, which NumPy writes and reads."""
import json
import os
import zipfile

from toolcase import BUNDLED, DEMO, IN_TRAINING, VALUES, ToolCase, main, np

DTYPES = ["float16", "float32", "float64", "complex64", "complex128", "uint8", "int8", "int16", "int32", "int64",
          "bool"]
RANDOM = np.random.default_rng(1)


def numbers(dtype, shape):
    values = RANDOM.integers(0, 100, shape)
    return (values % 2 if dtype == "bool" else values).astype(dtype)


class Npy(ToolCase):
    def same(self, array):
        self.save("in.npy", array)
        result = self.run_npz(VALUES, "--method", "same", "-i", "in.npy")
        self.assertEqual(list(result), ["output"])
        native = array.dtype.newbyteorder("=")
        self.assertEqual((result["output"].dtype, result["output"].shape), (native, array.shape))
        self.assertEqual(result["output"].tobytes(), np.ascontiguousarray(array.astype(native)).tobytes())

    def test_every_dtype(self):
        for dtype in DTYPES:
            with self.subTest(dtype):
                self.same(numbers(dtype, (2, 3, 4)))

    def test_shapes(self):
        for shape in [(), (1,), (0,), (3, 0, 2), (1, 2, 3, 4, 5, 1, 2, 1)]:
            with self.subTest(shape):
                self.same(numbers("float32", shape))

    def test_fortran_order(self):
        for dtype in ["float32", "int64", "complex128", "bool"]:
            with self.subTest(dtype):
                self.same(np.asfortranarray(numbers(dtype, (3, 4, 5))))

    def test_big_endian(self):
        for dtype in [">f2", ">f4", ">f8", ">i2", ">i8", ">c8", ">c16"]:
            with self.subTest(dtype):
                self.same(numbers(dtype, (3, 4)))

    def test_bits_survive(self):
        self.same(np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38], "float32"))
        self.same(np.array([2**63 - 1, -2**63, 2**53 + 1], "int64"))

    def test_versions_of_the_format(self):
        array = numbers("float32", (2, 2))
        for version in [(1, 0), (2, 0), (3, 0)]:
            with open(self.path("in.npy"), "wb") as file:
                np.lib.format.write_array(file, array, version)
            np.testing.assert_array_equal(self.run_npz(VALUES, "--method", "same", "-i", "in.npy")["output"], array)

    def test_refused_dtypes(self):
        for dtype in ["uint16", "uint64", "U3", "M8[s]"]:
            self.save("in.npy", np.zeros(2, dtype))
            self.fails("run", VALUES, "-i", "in.npy", says="in.npy")
        self.save("in.npy", np.zeros(2, [("a", "f4")]))
        self.fails("run", VALUES, "-i", "in.npy", says="records")

    def test_damaged_files(self):
        self.save("good.npy", numbers("float32", (4, 4)))
        with open(self.path("good.npy"), "rb") as file:
            good = file.read()
        for cut in [0, 5, 9, 40, 100, len(good) - 1]:
            self.write("in.npy", good[:cut])
            self.fails("run", VALUES, "-i", "in.npy", says="in.npy")
        for old, new in [(b"(4, 4)", b"(4,-4)"), (b"(4, 4)", b"(4,49)"), (b"(4, 4)", b"(4 x4)"), (b"<f4", b"<q4"),
                         (b"descr", b"descs"), (b"(4, 4), ", b"(9999999"), (b"(4, 4)", b"[4, 4]")]:
            self.assertIn(old, good)
            self.write("in.npy", good.replace(old, new))
            self.fails("run", VALUES, "-i", "in.npy", says="in.npy")
        self.fails("run", VALUES, "-i", "absent.npy", says="absent.npy")

    def test_enormous_shapes(self):
        header = "{'descr': '<f4', 'fortran_order': %s, 'shape': %s, }"
        for order in ["False", "True"]:
            for shape in ["(9223372036854775807, 9223372036854775807)", "(4294967296, 4294967296, 4)",
                          "(99999999999999999999,)", "(1,)" * 2, "(1,1,1,1,1,1,1,1,1)"]:
                text = (header % (order, shape)).encode()
                self.write("in.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
                self.fails("run", VALUES, "-i", "in.npy", says="in.npy")


class Npz(ToolCase):
    def test_archive_is_whole(self):
        self.save("in.npy", np.ones((2, 2), "float32"))
        self.call("run", VALUES, "--method", "structure", "-i", "in.npy", "-o", "out.npz")
        with zipfile.ZipFile(self.path("out.npz")) as archive:
            self.assertIsNone(archive.testzip())
            self.assertTrue(all(item.compress_type == zipfile.ZIP_STORED for item in archive.infolist()))

    def test_structure(self):
        x = self.save("in.npy", np.arange(6, dtype="float32").reshape(2, 3))
        result = self.run_npz(VALUES, "--method", "structure", "-i", x)
        x = np.load(x)
        self.assertEqual(list(result), ["output.a.0.0", "output.a.0.1", "output.a.1.0", "output.a.1.1", "output.b.0.0",
                                        "output.b.0.1"])
        np.testing.assert_array_equal(result["output.a.1.0"], x + 1)
        np.testing.assert_array_equal(result["output.b.0.0"], x.T)
        self.assertEqual((result["output.b.0.1"].dtype, result["output.b.0.1"].shape, int(result["output.b.0.1"])),
                         (np.dtype("int64"), (), 3))

    def test_strided_results_are_contiguous(self):
        x = np.arange(12, dtype="float32").reshape(3, 4)
        result = self.run_npz(VALUES, "--method", "transposed", "-i", self.save("in.npy", x))["output"]
        np.testing.assert_array_equal(result, x.T)
        self.assertTrue(result.flags.c_contiguous)
        row = np.arange(4, dtype="int64")
        result = self.run_npz(VALUES, "--method", "expanded", "-i", self.save("in.npy", row))["output"]
        np.testing.assert_array_equal(result, np.broadcast_to(row, (3, 4)))

    def test_scalars(self):
        result = self.run_npz(VALUES, "--method", "scalars", "-i", "7", "-i", "0.5", "-i", "true", "-i", '"s"', "-i",
                              "null")
        self.assertEqual({k: (v.dtype.name, v.shape, v.item()) for k, v in result.items()},
                         {"output.0": ("int64", (), 7), "output.1": ("float64", (), 0.5),
                          "output.2": ("bool", (), True), "output.3": ("str32", (), "s")})

    def test_strings(self):
        for text in ["", "a", "say \"hi\"\n", "ünïcödé 漢字 😀", "\u07ff\u0800\uffff\U00010000\U0010ffff"]:
            result = self.run_npz(VALUES, "--method", "same_any", "-i", json.dumps(text))["output"]
            self.assertEqual((result.dtype.kind, result.shape, result.item()), ("U", (), text))
        text = r'"no UTF-8: \udcc8 \udcff"'
        self.assertEqual(self.run_npz(VALUES, "--method", "same_any", "-i", text)["output"].item(), json.loads(text))

    def test_training_mode_is_said_once(self):
        self.save("x.npy", np.ones((2, 2), np.float32))
        model = os.path.join(os.path.dirname(VALUES), "training.ptl")
        said = model + IN_TRAINING
        for verb in (["run", "--json"], ["bench", "--iter", "1"], ["bench", "--iter", "1", "--profile"], ["diff"],
                     ["inspect", "--graph"], ["inspect", "--memory"]):
            self.assertEqual(self.call(verb[0], model, "-i", "x.npy", *verb[1:]).stderr, said, verb)
        # VALUES was saved in training mode too, but none of its operators depends on the mode.
        for command in (["run", model, "--eval", "-i", "x.npy"], ["inspect", model], ["ops", model],
                        ["optimize", model, "-o", "o.ptl"], ["run", "o.ptl", "-i", "x.npy"], ["run", VALUES, "-i", "x.npy"],
                        ["bench", "--iter", "1", VALUES, "-i", "x.npy"]):
            self.assertEqual(self.call(*command).stderr, "", command)
        done = self.fails("run", model, "--method", "absent")
        self.assertNotIn(IN_TRAINING, done.stderr)

    def test_what_takes_long_is_shown_on_a_terminal(self):
        """With TAPER_PATIENCE=0 all work is shown on a terminal, and the shown lines are removed at the end. A pipe gets nothing."""
        import pty
        import subprocess
        from toolcase import BIN
        model = os.path.join(DEMO, "classifier.pt")
        self.save("x.npy", np.zeros((16, 3, 96, 96), np.float32))
        photo = os.path.join(DEMO, "images", "lake.jpg")
        of = {"saving": "o.ptl", "reading": photo, "writing": "m.png"}
        for command, words in ((["run", model, "-i", "x.npy", "-o", "r.npz"], {"loading", "running"}),
                               (["optimize", model, "-o", "o.ptl"], {"loading", "optimizing", "saving"}),
                               (["classify", model, photo], {"loading", "reading", "running"}),
                               (["segment", os.path.join(DEMO, "segmenter.pt"), photo, "-o", "m.png"], {"reading", "writing"})):
            controller, terminal = pty.openpty()
            done = subprocess.run([os.path.join(BIN, "taper"), *command], stderr=terminal, stdout=subprocess.PIPE,
                                  cwd=self.folder.name, env={**os.environ, "TAPER_PATIENCE": "0"}, timeout=60)
            os.close(terminal)
            text = b""
            while True:
                try:
                    piece = os.read(controller, 65536)
                except OSError:  # Linux raises this error after all output is read
                    break
                if not piece:
                    break
                text += piece
            os.close(controller)
            self.assertEqual(done.returncode, 0)
            for word in words:
                self.assertIn(f"{word} {of.get(word, model)}, 0 s ".encode(), text)
            self.assertTrue(text.endswith(b"\r\033[K"), text)
            self.assertEqual(self.call(*command, env={"TAPER_PATIENCE": "0"}).stderr, "")

    def test_folder(self):
        os.mkdir(self.path("in"))
        arrays = {f"x{i}": np.full((2, 2), i, np.float32) for i in range(3)}
        for name, array in arrays.items():
            self.save(f"in/{name}.npy", array)
        self.write("in/notes.txt", "no input")
        found = self.run_npz(VALUES, "-i", "in")
        self.assertEqual(sorted(found), [f"x{i}.output" for i in range(3)])
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name + ".output"], 2 * array)
        rows = self.run_json(VALUES, "-i", "in")
        self.assertEqual([row["shape"] for row in rows], [[2, 2]] * 3)
        self.write("in/x1.npy", b"damaged")
        self.save("in/x2.npy", np.ones((3, 3), np.float32))
        found = self.run_npz(VALUES, "-i", "in", status=1)  # the results of the files that succeed are kept
        self.assertEqual(sorted(found), ["x0.output", "x2.output"])
        self.write("in/x0.npz", b"PK")
        self.assertIn("would be named as", self.call("run", VALUES, "-i", "in", status=1).stderr)
        self.misused("run", VALUES, "-i", "in", "-o", "out.npy", says="holds one result")
        os.mkdir(self.path("empty"))
        self.fails("run", VALUES, "-i", "empty", says="the folder holds no inputs")

    def test_what_is_left_out_is_said(self):
        given = ["--method", "scalars", "-i", "7", "-i", "0.5", "-i", "true", "-i", '"s"', "-o", "out.npz"]
        self.assertEqual(self.remarks("run", VALUES, *given, "-i", "null"),
                         "not in the archive, which holds arrays: output.4 (NoneType); -o FILE.json holds everything\n")
        self.assertEqual(self.remarks("run", VALUES, *given, "-i", "1.5"), "")
        done = self.call("run", VALUES, "--method", "same_any", "-i", "[null, [], {}]", "-o", "out.npz")
        self.assertIn("output.0 (NoneType) and 2 more", done.stderr)

    def test_nothing(self):
        self.assertEqual(self.run_npz(VALUES, "--method", "nothing"), {})

    def test_bfloat16_as_float32(self):
        x = np.array([1.0, -2.5, 3.140625, np.inf], "float32")
        result = self.run_npz(VALUES, "--method", "narrow", "-i", self.save("in.npy", x))["output"]
        self.assertEqual(result.dtype, np.dtype("float32"))
        np.testing.assert_array_equal(result, x)

    def test_quantized(self):
        x = np.array([[0.0, 0.5, 1.0], [-1.0, 2.0, 200.0]], "float32")
        result = self.run_npz(VALUES, "--method", "quantized", "-i", self.save("in.npy", x))
        np.testing.assert_array_equal(result["output"], np.array([[3, 4, 5], [1, 7, 255]], "uint8"))
        self.assertEqual((result["output.scale"].item(), result["output.zero_point"].item()), (0.5, 3))
        self.assertEqual((result["output.scale"].dtype.name, result["output.zero_point"].dtype.name),
                         ("float64", "int64"))

    def test_quantized_inputs(self):
        for dtype, kind in [("quint8", "uint8"), ("qint8", "int8"), ("qint32", "int32")]:
            x = np.array([[0, 4, 100]], kind)
            form = json.dumps({"@tensor": self.save("q.npy", x), "scale": 0.25, "zero_point": 4, "dtype": dtype})
            result = self.run_npz(VALUES, "--method", "dequantized", "-i", form)["output"]
            np.testing.assert_array_equal(result, (x.astype("float32") - 4) * 0.25)

    def test_keys_beyond_ascii(self):
        x = self.save("in.npy", np.ones(1, "float32"))
        result = self.run_npz(VALUES, "--method", "table", "-i", json.dumps({"größe": "@" + x, "a/b": "@" + x}))
        self.assertEqual(list(result), ["output.größe", "output.a/b"])


class Calls(ToolCase):
    def test_state_is_kept(self):
        self.write("calls.json", json.dumps([{"method": "count", "inputs": []}] * 3))
        result = self.run_npz(VALUES, "--calls", "calls.json")
        self.assertEqual({k: v.item() for k, v in result.items()}, {"0.output": 1, "1.output": 2, "2.output": 3})

    def test_inputs_and_default_method(self):
        x = np.ones((2, 2), "float32")
        self.save("x.npy", x)
        calls = [{"inputs": ["@x.npy", 5]}, {"method": "forward", "inputs": ["x.npy"]},
                 {"method": "real", "inputs": [3]}]
        self.write("calls.json", json.dumps(calls))
        result = self.run_npz(VALUES, "--calls", "calls.json")
        np.testing.assert_array_equal(result["0.output"], x * 5)
        np.testing.assert_array_equal(result["1.output"], x * 2)
        self.assertEqual(result["2.output"].item(), 3.0)

    def test_a_raise_keeps_what_came_before(self):
        self.write("calls.json", json.dumps([{"method": "refuse", "inputs": [i]} for i in (0, 1, 2, 0)]))
        result = self.run_npz(VALUES, "--calls", "calls.json", status=1)
        self.assertEqual({k: v.item() for k, v in result.items()}, {"0.output": 0, "1.output": 1})
        done = self.call("run", VALUES, "--calls", "calls.json", "--json", status=1)
        self.assertEqual(json.loads(done.stdout), [0, 1])
        self.assertIn("too large", done.stderr.split("\n")[0])
        self.assertIn("call 2", done.stderr.split("\n")[0])

    def test_wrong_lists(self):
        for text in ["{", "{}", "[3]", '[{"method": 3}]', '[{"inputs": {}}]']:
            self.write("calls.json", text)
            self.fails("run", VALUES, "--calls", "calls.json", "-o", "out.npz", says="calls.json")


class Limits(ToolCase):
    """--time-limit and --memory-limit, of every command that runs a model: within the limits, results are the same as without limits. Beyond a
    limit, the error names it and says how to raise it."""
    MODEL = os.path.join(DEMO, "classifier.pt")

    def verbs(self):
        picture = self.save("x.npy", np.zeros((16, 3, 96, 96), "float32"))
        yield ["run", self.MODEL, "-i", picture, "-o", "y.npz"]
        yield ["bench", self.MODEL, "-i", picture, "--iter", "1", "--warmup", "1"]
        yield ["quantize", self.MODEL, "-o", "q.ptl", "--mode", "core", "--calibrate", picture, "--compare", "1"]

    def test_limits(self):
        for arguments in self.verbs():
            with self.subTest(arguments[0]):
                self.fails(*arguments, "--time-limit", "1e-9", says="its time budget is spent")
                self.fails(*arguments, "--time-limit", "1e-9", says="--time-limit S raises it")
                self.fails(*arguments, "--memory-limit", "1", says="memory budget of 1048576 bytes is spent")
                self.fails(*arguments, "--memory-limit", "1", says="--memory-limit MB raises it")
                self.call(*arguments, "--time-limit", "600", "--memory-limit", "1000")

    def test_wrong_limits(self):
        for arguments in self.verbs():
            for option, value in [("--time-limit", "0"), ("--time-limit", "-1"), ("--time-limit", "nan"),
                                  ("--time-limit", "soon"), ("--memory-limit", "0"), ("--memory-limit", "x")]:
                with self.subTest(f"{arguments[0]} {option} {value}"):
                    self.fails(*arguments, option, value, status=2, says=option)


class Bundled(ToolCase):
    def test_bundled(self):
        np.testing.assert_array_equal(self.run_npz(BUNDLED, "--bundled", "0")["output"], np.full((2, 2), 3, "float32"))
        np.testing.assert_array_equal(self.run_npz(BUNDLED, "--bundled", 1)["output"], np.full((1, 4), 50, "float32"))

    def test_absent(self):
        self.fails("run", BUNDLED, "--bundled", 2, says="only 2 bundled inputs")
        self.fails("run", VALUES, "--bundled", 0, says="no bundled inputs")


class Formats(ToolCase):
    """The suffix of an output file decides its format."""
    def test_npy(self):
        for array in [np.arange(6, dtype="float32").reshape(2, 3), np.zeros((2, 0), "int64"), np.array(True), np.array([1j, 2])]:
            self.call("run", VALUES, "--method", "same", "-i", self.save("x.npy", array), "-o", "out.npy")
            got = np.load(self.path("out.npy"))
            self.assertEqual((got.dtype, got.shape, got.tobytes()), (array.dtype, array.shape, array.tobytes()))
        x = self.save("x.npy", np.arange(6, dtype="float32").reshape(2, 3))
        self.call("run", VALUES, "--method", "transposed", "-i", x, "-o", "out.npy")
        np.testing.assert_array_equal(np.load(self.path("out.npy")), np.load(x).T)
        self.call("run", VALUES, "--method", "narrow", "-i", x, "-o", "OUT.NPY")
        np.testing.assert_array_equal(np.load(self.path("OUT.NPY")), np.load(x))

    def test_npy_holds_one_tensor(self):
        x = self.save("x.npy", np.ones(2, "float32"))
        for given, says in [(["--method", "structure", "-i", x], "Dict"), (["--method", "count"], "int"), (["--method", "nothing"], "NoneType"),
                            (["--method", "quantized", "-i", x], "quint8")]:
            self.fails("run", VALUES, *given, "-o", "out.npy", says=says)
        self.write("calls.json", "[]")
        self.misused("run", VALUES, "--calls", "calls.json", "-o", "out.npy", says="a .npy file holds one result")

    def test_json(self):
        x = self.save("x.npy", np.arange(6, dtype="float32").reshape(2, 3))
        for given in [["-i", x], ["--method", "structure", "-i", x], ["--method", "words"], ["--method", "nothing"],
                      ["--method", "quantized", "-i", x]]:
            self.call("run", VALUES, *given, "-o", "out.json")
            with open(self.path("out.json")) as file:
                self.assertEqual(file.read(), self.call("run", VALUES, *given, "--json").stdout)
        done = self.call("run", VALUES, "-i", x, "-o", "out.json", "--json")
        with open(self.path("out.json")) as file:
            self.assertEqual(file.read(), done.stdout)

    def test_json_of_calls(self):
        self.write("calls.json", '[{"method": "count"}, {"method": "words"}, {"method": "refuse", "inputs": [5]}, {"method": "count"}]')
        self.call("run", VALUES, "--calls", "calls.json", "-o", "out.json", status=1)
        with open(self.path("out.json")) as file:
            self.assertEqual(json.load(file), [1, "say \"hi\"\n\tünïcode"])
        self.write("calls.json", "[]")
        self.call("run", VALUES, "--calls", "calls.json", "-o", "out.json")
        with open(self.path("out.json")) as file:
            self.assertEqual(json.load(file), [])

    def test_whole_or_absent(self):
        for name in ("out.json", "out.npy"):
            self.fails("run", VALUES, "--method", "refuse", "-i", "5", "-o", name, says="too large")
            self.fails("run", VALUES, "-i", "ones:2", "-o", "absent/" + name, says="absent/" + name)

    def test_other_names(self):
        for name in ("plain", "out.v1", ".npy"):
            self.call("run", VALUES, "-i", "ones:2", "-o", name)
            self.assertTrue(zipfile.is_zipfile(self.path(name)))


if __name__ == "__main__":
    main()
