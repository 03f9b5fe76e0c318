# SPDX-License-Identifier: BSD-2-Clause
"""Tests inputs that need no Python: generated numbers, arrays of JSON, archives and pictures. Tests the advice about inputs that a model
refuses."""
import json
import os
import shutil
import unittest

from toolcase import DEMO, VALUES, ToolCase, main, np

try:
    import torch
except ImportError:
    torch = None
CLASSIFIER = os.path.join(DEMO, "classifier.ptl")
LAKE = os.path.join(DEMO, "images", "lake.jpg")


class Made(ToolCase):
    def made(self, text):
        return self.run_npz(VALUES, "--method", "same", "-i", text)["output"]

    def test_zeros_and_ones(self):
        for name, function in [("zeros", np.zeros), ("ones", np.ones)]:
            for dtype in ["float32", "float64", "bool", "uint8", "int8", "int16", "int32", "int64"]:
                for sizes, shape in [("1x3x2x5", (1, 3, 2, 5)), ("7", (7,)), ("2,3", (2, 3)), ("2x0x3", (2, 0, 3)), ("", ())]:
                    got, wanted = self.made(f"{name}:{sizes}:{dtype}"), function(shape, dtype)
                    self.assertEqual((got.dtype, got.shape, got.tobytes()), (wanted.dtype, shape, wanted.tobytes()))
        self.assertEqual(self.made("ones:2x2").dtype, np.float32)

    def test_rand(self):
        x = self.made("rand:100x100")
        self.assertEqual((x.dtype, x.shape), (np.float32, (100, 100)))
        self.assertTrue(0 <= x.min() < 0.01 and 0.99 < x.max() < 1 and abs(x.mean() - 0.5) < 0.02 and abs(x.std() - 12 ** -0.5) < 0.02)
        self.assertTrue(abs(np.corrcoef(x[:, :-1].ravel(), x[:, 1:].ravel())[0, 1]) < 0.05)
        np.testing.assert_array_equal(x, self.made("rand:100x100"))
        np.testing.assert_array_equal(self.made("rand:100x100:float64"), x.astype("float64"))
        pair = self.run_json(VALUES, "--method", "tensors", "-i", '["@rand:3", "@ones:2"]')
        self.assertEqual((pair[0]["shape"], pair[1]["data"]), ([3], [1.0, 1.0]))

    def test_inputs_differ(self):
        self.call("bundle", CLASSIFIER, "-i", "rand:1x3x8x8", "-o", "one.ptl")
        first = self.run_json("one.ptl", "--method", "get_all_bundled_inputs")[0][0]["data"]
        self.assertEqual(np.array(first, "float32").tobytes(), self.made("rand:1x3x8x8").tobytes())


# (JSON, dtype of torch.tensor's result, sizes)
ARRAYS = [
    ("[[1, 2], [3, 4]]", "int64", [2, 2]), ("[1.5, 2]", "float32", [2]), ("[true, false]", "bool", [2]), ("[true, 2]", "int64", [2]),
    ("[true, 0.5]", "float32", [2]), ("[]", "float32", [0]), ("[[], []]", "float32", [2, 0]), ("[[[-9223372036854775808]]]", "int64", [1, 1, 1]),
    ("[9223372036854775807]", "int64", [1]), ("[0.1, 1e300, -1e-50, 16777217.0]", "float32", [4]), ("[NaN, -Infinity, -0.0]", "float32", [3]),
    ("[" * 16 + "1" + "]" * 16, "int64", [1] * 16),
]


class Arrays(ToolCase):
    def test_dtypes_and_sizes(self):
        for text, dtype, sizes in ARRAYS:
            with self.subTest(text):
                got = self.run_json(VALUES, "--method", "same", "-i", text)
                self.assertEqual((got["dtype"], got["shape"]), (dtype, sizes))
                self.assertEqual(np.array(got["data"], dtype).tobytes(), np.array(json.loads(text), "float64" if dtype == "float32" else dtype)
                                 .astype(dtype).tobytes())

    @unittest.skipIf(torch is None, "PyTorch is missing")
    def test_as_pytorch(self):
        for text, dtype, sizes in ARRAYS:
            made = torch.tensor(json.loads(text))
            self.assertEqual((str(made.dtype), list(made.shape)), ("torch." + dtype, sizes), text)
            got = self.run_json(VALUES, "--method", "same", "-i", text)["data"]
            self.assertEqual(np.array(got, dtype).tobytes(), made.numpy().tobytes(), text)

    def test_in_structures(self):
        got = self.run_json(VALUES, "--method", "table", "-i", '{"a": [1, 2], "b": [[0.5]]}')
        self.assertEqual((got["a"]["dtype"], got["b"]["shape"]), ("int64", [1, 1]))
        self.assertEqual(self.run_json(VALUES, "--method", "ints", "-i", "[1, 2]"), [1, 2])
        self.assertEqual(self.run_json(VALUES, "--method", "same_any", "-i", "[1, 2]"), [1, 2])

    def test_dtype_of_choice(self):
        for dtype, values in [("float32", [1, 2]), ("float64", [1, 0.1]), ("uint8", [0, 255]), ("int8", [-128, 127]), ("int16", [-32768, 32767]),
                              ("int32", [-2**31, 2**31 - 1]), ("bool", [0, 7]), ("int64", [True, 2])]:
            got = self.run_npz(VALUES, "--method", "same", "-i", json.dumps({"@tensor": values, "dtype": dtype}))["output"]
            np.testing.assert_array_equal(got, np.array(values, dtype))
            self.assertEqual(got.dtype, dtype)
        for dtype, value, says in [("uint8", 256, "256 is no uint8"), ("uint8", -1, "-1 is no uint8"), ("int8", 128, "128 is no int8"),
                                   ("int16", -32769, "is no int16"), ("int32", 2**31, "is no int32"), ("int64", 0.5, "0.5 is no int64"),
                                   ("int3", 1, 'no dtype "int3"')]:
            self.fails("run", VALUES, "--method", "same", "-i", json.dumps({"@tensor": [value], "dtype": dtype}), says=says)

    def test_no_tensors(self):
        for text in ["[[1], 2]", "[1, [2]]", "[[1, 2], [3]]", "[null]", '[{"a": 1}]', "[[], [1]]", "[" * 17 + "1" + "]" * 17]:
            self.fails("run", VALUES, "--method", "same", "-i", text, says="input 0 (x)")


class Archives(ToolCase):
    def test_as_written(self):
        x = np.arange(6, dtype="float32").reshape(2, 3)
        self.call("run", VALUES, "-i", self.save("x.npy", x), "-o", "one.npz")
        np.testing.assert_array_equal(self.run_npz(VALUES, "-i", "one.npz")["output"], x * 4)
        self.call("run", VALUES, "--method", "structure", "-i", "x.npy", "-o", "many.npz")
        np.testing.assert_array_equal(self.run_npz(VALUES, "-i", "many.npz:output.a.1.0")["output"], (x + 1) * 2)
        self.call("run", VALUES, "--method", "quantized", "-i", "x.npy", "-o", "q.npz")
        got = self.run_json(VALUES, "--method", "same", "-i", "q.npz")
        self.assertEqual((got["dtype"], got["scale"], got["zero_point"], got["data"]), ("quint8", 0.5, 3, [[3, 5, 7], [9, 11, 13]]))

    def test_as_numpy_writes(self):
        x, y = np.random.default_rng(1).random((40, 50)), np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3))
        for save in (np.savez, np.savez_compressed):
            save(self.path("n.npz"), x=x, **{"ü y": y})
            np.testing.assert_array_equal(self.run_npz(VALUES, "--method", "same", "-i", "n.npz:x")["output"], x)
            np.testing.assert_array_equal(self.run_npz(VALUES, "--method", "same", "-i", '{"@tensor": "n.npz:ü y"}')["output"], y)
            save(self.path("n.npz"), x)
            np.testing.assert_array_equal(self.run_npz(VALUES, "--method", "same", "-i", "n.npz")["output"], x)

    def test_damaged(self):
        np.savez_compressed(self.path("good.npz"), x=np.arange(100))
        with open(self.path("good.npz"), "rb") as file:
            good = file.read()
        for cut in list(range(0, len(good), 7)) + [len(good) - 1]:
            self.write("bad.npz", good[:cut])
            self.fails("run", VALUES, "--method", "same", "-i", "bad.npz", says="bad.npz")
        for at in range(len(good)):  # an archive with one changed byte is refused, or read unchanged
            self.write("bad.npz", good[:at] + bytes([good[at] ^ 0x41]) + good[at + 1:])
            done = self.any_status("run", VALUES, "--method", "same", "-i", "bad.npz", "--json")
            if done.returncode == 0:
                self.assertEqual(json.loads(done.stdout)["data"], list(range(100)))
            else:
                self.assertEqual((done.returncode, done.stderr.startswith("taper: error: ")), (1, True))

    def any_status(self, *arguments):
        import subprocess
        from toolcase import BIN
        return subprocess.run([os.path.join(BIN, "taper"), *arguments], capture_output=True, text=True, cwd=self.folder.name, timeout=60)


class Pictures(ToolCase):
    def test_in_every_verb(self):
        wanted = json.loads(self.call("classify", CLASSIFIER, LAKE, "--json").stdout)[LAKE][0]
        scores = self.run_npz(CLASSIFIER, "-i", LAKE)["output"]
        self.assertEqual(int(scores.argmax()), wanted["index"])
        shutil.copy(LAKE, self.path("LAKE.JPG"))
        shutil.copy(LAKE, self.path("misnamed.npy"))
        for name in ("LAKE.JPG", "misnamed.npy", '"@LAKE.JPG"'):
            np.testing.assert_array_equal(self.run_npz(CLASSIFIER, "-i", name)["output"], scores)
        self.call("bundle", CLASSIFIER, "-i", LAKE, "-o", "b.ptl")
        np.testing.assert_array_equal(self.run_npz("b.ptl", "--bundled", 0)["output"], scores)
        self.call("bench", CLASSIFIER, "-i", LAKE, "--iter", 1, "--warmup", 0)
        self.write("calls.json", '[{"inputs": ["@LAKE.JPG"]}]')
        np.testing.assert_array_equal(self.run_npz(CLASSIFIER, "--calls", "calls.json")["0.output"], scores)
        self.call("quantize", os.path.join(DEMO, "classifier.pt"), "-o", "q.ptl", "--mode", "core", "--calibrate", LAKE)

    def test_size_mean_and_std(self):
        x = self.run_npz(VALUES, "--method", "same", "-i", LAKE)["output"]
        self.assertEqual((x.shape, x.dtype), ((1, 3, 224, 224), np.float32))
        same = ["run", VALUES, "--method", "same", "-i", LAKE]
        plain = self.run_npz(*same[1:], "--size", "64x48", "--mean", "0,0,0", "--std", "1,1,1")["output"]
        self.assertEqual(plain.shape, (1, 3, 48, 64))
        self.assertTrue(plain.min() >= 0 and 0.5 < plain.max() <= 1)
        shifted = self.run_npz(*same[1:], "--size", "64x48", "--mean", "0.5,0.25,0", "--std", "0.5,1,2")["output"]
        wanted = (plain - np.array([0.5, 0.25, 0]).reshape(1, 3, 1, 1)) / np.array([0.5, 1, 2]).reshape(1, 3, 1, 1)
        np.testing.assert_allclose(shifted, wanted, atol=1e-6)
        self.call("bundle", VALUES, "-i", LAKE, "--size", "64x48", "--mean", "0,0,0", "--std", "1,1,1", "-o", "b.ptl")
        np.testing.assert_array_equal(self.run_npz("b.ptl", "--bundled", 0)["output"], plain * 2)


class Advice(ToolCase):
    def advice(self, x, verb="run"):
        done = self.fails(verb, CLASSIFIER, "-i", self.save("x.npy", x))
        return done.stderr.rstrip("\n").split("\n")[-1]

    def test_what_was_forgotten(self):
        rows = [(np.zeros((3, 96, 96), "float32"), "input 0 is float32 [3, 96, 96]; the model takes it with a batch dimension: float32 [1, 3, 96, 96]"),
                (np.zeros((1, 96, 96, 3), "float32"),
                 "input 0 is float32 [1, 96, 96, 3]; the model takes it with the channels before height and width: float32 [1, 3, 96, 96]"),
                (np.zeros((96, 80, 3), "float32"),
                 "input 0 is float32 [96, 80, 3]; the model takes it with the channels before height and width: float32 [1, 3, 96, 80]"),
                (np.zeros((1, 3, 96, 96)), "input 0 is float64 [1, 3, 96, 96]; the model takes it converted: float32 [1, 3, 96, 96]")]
        for x, line in rows:
            for verb in ("run", "bench"):
                self.assertEqual(self.advice(x, verb), line)

    def test_nothing_is_made_up(self):
        for x in (np.zeros((1, 5, 96, 96), "float32"), np.zeros((2, 2), "float32"), np.zeros((), "float32")):
            self.assertNotIn("the model takes it", self.advice(x))
        self.assertNotIn("the model takes it", self.fails("run", VALUES, "--method", "refuse", "-i", "5").stderr)


if __name__ == "__main__":
    main()
