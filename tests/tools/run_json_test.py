# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper run with JSON inputs, converted to the declared types, and JSON output in Python's dialect."""
import json
import math

from toolcase import VALUES, ToolCase, main, np


class Inputs(ToolCase):
    def method(self, name, *inputs):
        return self.run_json(VALUES, "--method", name, *[part for i in inputs for part in ("-i", json.dumps(i))])

    def test_shaped_to_types(self):
        self.assertEqual(repr(self.method("real", 3)), "3.0")
        self.assertEqual(self.method("ints", []), [])
        self.assertEqual(self.method("ints", [1, -2, 2**62 + 1]), [1, -2, 2**62 + 1])
        self.assertEqual(repr(self.method("nested", [[1, [2, 3.5]], [4, []]])), "[[1, [2.0, 3.5]], [4, []]]")
        self.assertEqual(repr(self.method("numbered", {"1": 2, "-3": 0.5})), "{'1': 2.0, '-3': 0.5}")

    def test_scalars(self):
        for values in [[1, 2.5, True, "text", None], [-1, 1e300, False, "", 4.0], [0, 3, True, "@not a file.npy", 1]]:
            self.assertEqual(self.method("scalars", *values), values)

    def test_strings(self):
        for text in ["", "a\"b\\c\n\t\r\b\f", "ünïcödé 漢字 😀", "nul\0inside", "\x7f\x01",
                     "no UTF-8: \udcc8 \udcff\udc80"]:
            self.assertEqual(self.method("same_any", text), text)
        self.assertEqual(self.call("run", VALUES, "--method", "same_any", "-i", r'"\ud83d\ude00\u00e9"',
                                   "--json").stdout, '"😀é"\n')

    def test_without_a_declared_type(self):
        for value in [None, True, 3, -2**63, 2.5, [1, 2], [1.0, 2.0], [1, 2.5], [[1], [2, 3]], ["a", None],
                      {"a": 1, "b": 2}, [], {}]:
            self.assertEqual(repr(self.method("same_any", value)), repr(value))

    def test_numbers_of_python(self):
        values = [math.nan, math.inf, -math.inf, -0.0, 0.1, 1e-320, 1.7976931348623157e308]
        self.assertEqual(repr(self.method("same_any", values)), repr(values))

    def test_tensors_in_structures(self):
        x = self.save("x.npy", np.arange(3, dtype="float32"))
        result = self.method("pair", ["@x.npy", 4])
        self.assertEqual((result[0]["data"], result[1]), ([4.0, 5.0, 6.0], 4))
        result = self.method("table", {"b": "@" + x, "a": {"@tensor": x}})
        self.assertEqual(list(result), ["b", "a"])
        self.assertEqual(len(self.method("tensors", ["@x.npy"] * 3)), 3)

    def test_forms_of_a_tensor(self):
        self.save("x.npy", np.arange(24, dtype="float32").reshape(1, 2, 3, 4))
        result = self.method("same", {"@tensor": "x.npy", "memory_format": "channels_last"})
        self.assertEqual((result["shape"], result["strides"]), ([1, 2, 3, 4], [24, 1, 8, 2]))
        self.assertEqual(np.ravel(result["data"]).tolist(), list(range(24)))
        self.assertEqual(self.method("same", {"@tensor": "x.npy", "dtype": "bfloat16"})["dtype"], "bfloat16")
        self.save("f.npy", np.asfortranarray(np.arange(6, dtype="float32").reshape(2, 3)))
        result = self.run_json(VALUES, "--method", "same", "-i", "f.npy")
        self.assertEqual((result["strides"], result["data"]), ([1, 2], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))

    def test_mismatches_are_named(self):
        self.save("x.npy", np.ones(2, "float32"))
        for name, text, says in [("real", '"a"', "float"), ("ints", "[1, 2.5]", "int"), ("ints", "3", "List[int]"),
                                 ("pair", '["@x.npy"]', "2 items, not 1"), ("pair", "3", "Tuple"),
                                 ("same", "3", "Tensor"),
                                 ("table", "[1]", "Dict"), ("scalars", "2.0", "int"), ("real", "null", "float")]:
            done = self.fails("run", VALUES, "--method", name, "-i", text, says="input 0")
            self.assertIn(says, done.stderr.split("\n")[0])
        self.fails("run", VALUES, "--method", "real", "-i", "1", "-i", "2", says="takes 1 inputs, 2 were given")
        self.fails("run", VALUES, "--method", "absent", says="no method \"absent\"")

    def test_wrong_tensor_forms(self):
        self.save("x.npy", np.ones(2, "float32"))
        for form in [{"@tensor": 3}, {"@tensor": "x.npy", "dtype": "quint8"}, {"@tensor": "x.npy", "scale": 1},
                     {"@tensor": "x.npy", "dtype": "quint8", "scale": 1, "zero_point": 0},
                     {"@tensor": "x.npy", "dtype": "int3"}, {"@tensor": "x.npy", "memory_format": "channels_last"},
                     {"@tensor": "x.npy", "dtype": "quint8", "scale": math.nan, "zero_point": 0}]:
            self.fails("run", VALUES, "--method", "same", "-i", json.dumps(form))

    def test_broken_json(self):
        for text in ["", "[1", "[1,]", "{\"a\"}", "{1: 2}", "nul", "1 2", "\"a", "--1", "1.", "+1", "01x",
                     "[" * 100 + "]" * 100,
                     "1" * 30, "\"\\u12\"", "\"\\ud83d\"", "\"\\udc00\"", "\"\\ud83d\\u0041\"", "\"\\x\"", "1e", ".,"]:
            self.fails("run", VALUES, "--method", "same_any", "-i", text, says="not valid JSON")


class Results(ToolCase):
    def tensor(self, array, method="same"):
        return self.run_json(VALUES, "--method", method, "-i", self.save("x.npy", array))

    def test_tensors(self):
        for array in [np.float32(1.5).reshape(()), np.zeros((2, 0, 3), "float32"),
                      np.arange(6, dtype="int64").reshape(2, 3),
                      np.array([True, False]), np.array([0.1, 1e-45, 16777216, 3e38, 1e-7], "float32"),
                      np.array([0.1, 1 / 3]),
                      np.array([0.1, 65504], "float16"), np.array([-128, 127], "int8")]:
            result = self.tensor(array)
            self.assertEqual((result["dtype"], result["shape"]), (array.dtype.name, list(array.shape)))
            back = np.array(result["data"], array.dtype).reshape(array.shape)
            self.assertEqual(back.tobytes(), array.tobytes())
        self.assertEqual(self.tensor(np.zeros((2, 0, 3), "float32"))["data"], [[], []])

    def test_special_numbers(self):
        result = self.tensor(np.array([np.nan, np.inf, -np.inf], "float32"))["data"]
        self.assertTrue(math.isnan(result[0]) and result[1:] == [math.inf, -math.inf])

    def test_large_tensors_are_whole(self):
        array = np.random.default_rng(1).random(20000).astype("float32")
        self.assertEqual(np.array(self.tensor(array)["data"], "float32").tobytes(), array.tobytes())

    def test_complex(self):
        self.assertEqual(self.tensor(np.array([1 + 2j, -3.5j]))["data"], [[1.0, 2.0], [-0.0, -3.5]])

    def test_quantized(self):
        result = self.tensor(np.array([0.0, 0.5], "float32"), "quantized")
        self.assertEqual((result["dtype"], result["scale"], result["zero_point"], result["data"]),
                         ("quint8", 0.5, 3, [3, 4]))

    def test_strides(self):
        result = self.tensor(np.arange(6, dtype="float32").reshape(2, 3), "transposed")
        self.assertEqual((result["shape"], result["strides"], result["data"]),
                         ([3, 2], [1, 3], [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]))

    def test_structures(self):
        self.save("x.npy", np.ones((1, 1), "float32"))
        result = self.run_json(VALUES, "--method", "structure", "-i", "x.npy")
        self.assertEqual([item[1] for item in result["a"]], [1, 2])
        self.assertIsNone(self.run_json(VALUES, "--method", "nothing"))
        self.assertEqual(self.run_json(VALUES, "--method", "words"), "say \"hi\"\n\tünïcode")
        named = self.run_json(VALUES, "--method", "named", "-i", "x.npy")
        self.assertEqual(named[1], 4)

    def test_strict(self):
        """With --json=strict the output has no words that JSON lacks, so a strict reader accepts it."""
        def refuse(word):
            raise ValueError(word)
        self.save("x.npy", np.array([[np.nan, np.inf], [-np.inf, 1]], np.float32))
        given = ["run", VALUES, "--method", "same", "-i", "x.npy"]
        with self.assertRaises(ValueError):
            json.loads(self.call(*given, "--json").stdout, parse_constant=refuse)
        found = json.loads(self.call(*given, "--json=strict").stdout, parse_constant=refuse)
        self.assertEqual(json.dumps(found).count('"NaN"'), 1)
        self.assertEqual(json.dumps(found).count('"Infinity"'), 1)
        self.assertEqual(json.dumps(found).count('"-Infinity"'), 1)
        self.save("y.npy", np.ones((2, 2), np.float32))
        for line in (["diff", VALUES, "-i", "y.npy"], ["bench", VALUES, "-i", "y.npy", "--iter", "1"], ["inspect", VALUES]):
            json.loads(self.call(*line, "--json=strict").stdout, parse_constant=refuse)
        self.misused(*given, "--json=5", says="strict")

    def test_what_the_model_prints_stays_apart(self):
        done = self.call("run", VALUES, "--method", "says", "-i", "3", "--json")
        self.assertEqual((done.stdout, done.stderr), ("3\n", "model says 3\n"))
        self.assertIn("model says 3\n", self.call("run", VALUES, "--method", "says", "-i", "3").stdout)

    def test_json_and_archive_together(self):
        self.save("x.npy", np.ones(2, "float32"))
        done = self.call("run", VALUES, "-i", "x.npy", "-o", "out.npz", "--json")
        self.assertEqual(json.loads(done.stdout)["data"], [2.0, 2.0])
        self.assertEqual(np.load(self.path("out.npz"))["output"].tolist(), [2.0, 2.0])


if __name__ == "__main__":
    main()
