# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper diff: wrong usage, equal models, and a changed weight that is located, for all file formats."""
import json
import os
import zipfile

from toolcase import BUNDLED, DEMO, IN_TRAINING, ROOT, VALUES, ToolCase, main, np

MODEL, LITE = os.path.join(DEMO, "classifier.pt"), os.path.join(DEMO, "classifier.ptl")
VIT = os.path.join(os.environ.get("TAPER_SHARED", os.path.join(ROOT, "..", "shared")), "models", "vit4mnist")


class Diff(ToolCase):
    def setUp(self):
        super().setUp()
        self.x = self.save("x.npy", np.random.default_rng(1).standard_normal((1, 3, 96, 96), np.float32))

    def diff(self, *arguments, status=0):
        done = self.call("diff", *arguments, "--json", status=status)
        figures = json.loads(done.stdout)
        if status == 0:
            self.assertIsNone(figures["first"])
            self.assertEqual(figures["diverging"], 0)
            self.assertEqual(done.stderr.replace(IN_TRAINING, "").replace(str(arguments[0]), ""), "")
        else:
            self.assertNotIn("error", done.stderr)
            self.assertIn("diverg", done.stderr)
        return figures

    def changed(self, name, record):
        """Writes the classifier with one number of a weight changed."""
        with zipfile.ZipFile(MODEL) as old, zipfile.ZipFile(self.path(name), "w") as new:
            for info in old.infolist():
                data = old.read(info)
                if info.filename.endswith(f"/data/{record}"):
                    numbers = np.frombuffer(data, np.float32).copy()
                    numbers[0] += 1
                    data = numbers.tobytes()
                new.writestr(info.filename, data)
        return self.path(name)

    def test_wrong_usage(self):
        for arguments, says in [
                ([], "MODEL is missing"), ([MODEL, LITE], "unexpected"), ([MODEL, "--dance"], "--dance"),
                ([MODEL, "--device", "cpu", "--against", LITE], "exclude"), ([MODEL, "-i", "1", "--bundled", "0"], "exclude"),
                ([MODEL, "--reference"], "--reference"), ([MODEL, "--tolerance", "much"], "--tolerance"),
                ([MODEL, "--tolerance", "-1"], "--tolerance"), ([MODEL, "--tolerance", "1,2,3"], "--tolerance"),
                ([MODEL, "--top", "-1"], "--top"), ([MODEL, "--disable", "luck"], 'no pass "luck"')]:
            with self.subTest(arguments):
                self.misused("diff", *arguments, says=says)

    def test_precision(self):
        figures = {}
        for precision in ["fp32", "fp16", "bf16"]:
            figures[precision] = self.diff(LITE, "-i", self.x, "--precision", precision)
            with self.subTest(precision, against=True):
                same = self.diff(LITE, "--against", LITE, "-i", self.x, "--precision", precision)
                self.assertEqual(same["outputs"][0]["max_difference"] == 0, precision == "fp32")
        errors = [figures[p]["outputs"][0]["max_difference"] for p in ["fp32", "fp16", "bf16"]]
        self.assertLess(4 * errors[0], errors[1])
        # errors[2] is 1.9 times errors[1] if only weights are rounded to bf16, and larger if activations are rounded
        # too.
        self.assertLess(1.5 * errors[1], errors[2])
        self.diff(LITE, "-i", self.x, "--precision", "bf16", "--tolerance", "1e-5", status=1)

    def test_failures(self):
        self.save("small.npy", np.zeros((1, 1, 96, 96), np.float32))
        for arguments, says in [
                (["absent.pt", "-i", self.x], "absent.pt"), ([MODEL, "--against", "absent.pt", "-i", self.x], "absent.pt"),
                ([MODEL, "-i", "absent.npy"], "absent.npy"), ([MODEL, "-i", "small.npy"], "channels"),
                ([MODEL, "-i", self.x, "--method", "backward"], "backward"), ([MODEL, "--bundled", "0"], "bundled"),
                ([MODEL, "-i", self.x, "--device", "cuda!"], "device cuda is not part of this build")]:
            with self.subTest(arguments):
                self.fails("diff", *arguments, says=says)

    def test_reference(self):
        figures = self.diff(MODEL, "-i", self.x)
        self.assertEqual((figures["wanted"], figures["got"]), ("reference", "cpu"))
        # Each layer is found by its module, also if it is fused.
        layers = [row["module"] for row in figures["nodes"] if row["got"]["name"] == "aten::conv2d"]
        self.assertEqual(len(layers), 34)
        self.assertEqual(layers[:2], ["features.0.0", "features.1.conv.0.0"])
        plain = self.diff(MODEL, "-i", self.x, "--no-optimize")
        self.assertEqual(plain["compared"], plain["results"])
        said = self.call("diff", MODEL, "-i", self.x, "--top", "2").stdout
        self.assertIn("nothing diverges", said)
        self.assertIn("in features.12.0", said)
        # No float computation meets a tolerance of 0.
        self.assertIn(MODEL + ": first diverging node: ", self.call("diff", MODEL, "-i", self.x, "--tolerance", "0", status=1).stderr)

    def test_bundled(self):
        self.assertEqual(len(self.diff(BUNDLED, "--bundled", "0")["outputs"]), 1)
        self.diff(BUNDLED, "--bundled", "0", "--against", BUNDLED)

    def test_structures(self):
        """Results of a method that are numbers, texts and containers of them."""
        methods = json.loads(self.call("inspect", VALUES, "--json").stdout)["methods"]
        for method in methods:
            if not method["arguments"]:
                figures = self.diff(VALUES, "--method", method["name"])
                self.assertFalse([row for row in figures["outputs"] if row["diverges"]])

    def test_forms(self):
        """The same network as TorchScript, packed for phones, written again, quantized."""
        for options in (["--backend", "cpu"], ["--backend", "vulkan"], ["--backend", "metal"]):
            self.call("optimize", MODEL, "-o", "o.ptl", *options)
            for a, b in ((MODEL, "o.ptl"), ("o.ptl", MODEL), ("o.ptl", LITE)):
                figures = self.diff(a, "--against", b, "-i", self.x)
                convolutions = [row for row in figures["nodes"] if "conv2d" in row["wanted"]["name"] + row["got"]["name"]]
                self.assertEqual(len(convolutions), 34)
        self.call("convert", MODEL, "-o", "c.ptl")
        figures = self.diff(MODEL, "--against", "c.ptl", "-i", self.x)
        self.assertEqual(figures["compared"], figures["results"] - 1)  # all results are compared, except the result of dropout
        self.assertTrue(all(row["differing"] == 0 for row in figures["nodes"]))
        self.call("quantize", LITE, "-o", "q.ptl", "--mode", "core", "--calibrate", self.x)
        figures = self.diff(MODEL, "--against", "q.ptl", "-i", self.x, status=1)
        self.assertEqual(figures["first"]["module"], "features.0.0")
        sqnr = [row["sqnr"] for row in figures["nodes"] if row["got"]["dtype"] == "quint8"]
        self.assertEqual(len(sqnr), 43)
        self.assertGreater(min(sqnr), 5)  # every layer's ratio of signal to noise must be above 5 dB
        self.diff(MODEL, "--against", "q.ptl", "-i", self.x, "--tolerance", "1")

    def test_changed_weight(self):
        for record, module in ((0, "features.0.0"), (60, "features.4.conv.1.0"), (61, "features.4.conv.1.1")):
            model = self.changed("changed.pt", record)
            for first in (MODEL, LITE):
                figures = self.diff(first, "--against", model, "-i", self.x, status=1)
                # A packed layer contains its convolution and its batch norm.
                expected = {module} if first == MODEL else {module, module[:-1] + "0"}
                self.assertIn(figures["first"]["module"], expected)
            done = self.call("diff", MODEL, "--against", model, "-i", self.x, "--top", "1", status=1)
            self.assertIn("first diverging node", done.stderr)
            self.assertIn(module, done.stderr)
            self.assertIn("code/__torch__/", done.stdout)

    def test_other_network(self):
        figures = self.diff(MODEL, "--against", os.path.join(DEMO, "segmenter.pt"), "-i", self.x, status=1)
        self.assertTrue([row for row in figures["outputs"] if row["diverges"]])

    def test_vit(self):
        """Tests a whole dynamically quantized model: its best class must be PyTorch's, its results within 2 % of PyTorch's, and the fast operators
        must agree with the reference."""
        model = os.path.join(VIT, "vit4mnist.ptl")
        if not os.path.exists(model):
            self.skipTest(f"there is no {model}")
        for digit in ("digit0", "digit1", "digit7"):
            given, wanted = os.path.join(VIT, digit, "in0.npy"), np.load(os.path.join(VIT, digit, "out0.npy"))
            got = self.run_npz(model, "-i", given)["output"]
            self.assertEqual(got.argmax(), wanted.argmax())
            self.assertLessEqual(abs(got - wanted).max(), 0.02 * abs(wanted).max())
            figures = self.diff(model, "-i", given, "--tolerance", "0.02")
            # Tracing turned sizes into tensors. These tensors are not compared, because the optimizer computes with
            # sizes as numbers.
            self.assertEqual((figures["compared"], figures["results"]), (213, 309))
            self.diff(model, "-i", given, "--against", model)


if __name__ == "__main__":
    main()
