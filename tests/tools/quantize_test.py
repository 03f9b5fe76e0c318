# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper quantize on the command line: the arguments that it refuses, its output, and that the demo's classifier keeps
its accuracy."""
import json
import os
import zipfile

from toolcase import DEMO, ToolCase, main, np

MODEL = os.path.join(DEMO, "classifier.pt")
IMAGES = os.path.join(DEMO, "images")


class Quantize(ToolCase):
    def test_wrong_usage(self):
        whole = [MODEL, "-o", "o.ptl", "--mode", "core", "--calibrate", IMAGES]
        for arguments, says in [
                ([], "MODEL is missing"), (whole[:1] + whole[3:], "-o OUT is missing"), (whole[:3] + whole[5:], "--mode is missing"),
                (whole[:5], "--calibrate is missing"), (whole + ["--mode", "half"], 'no mode "half"'),
                (whole + ["--observer", "eyes"], 'no observer "eyes"'), (whole + ["--percentile", "10"], "--percentile"),
                (whole + ["--percentile", "nan"], "--percentile"), (whole + ["--compare", "-1"], "--compare"),
                (whole + ["--bytecode", "3"], "--bytecode"), (whole + ["--dance"], "--dance")]:
            with self.subTest(arguments):
                self.misused("quantize", *arguments, says=says)

    def test_refusals(self):
        core = ["-o", "o.ptl", "--mode", "core"]
        os.mkdir(self.path("empty"))
        for arguments, says in [
                ([MODEL, *core, "--calibrate", "absent"], "absent"), ([MODEL, *core, "--calibrate", "empty"], "no samples"),
                ([MODEL, *core, "--calibrate", MODEL], "samples are"), (["absent.pt", *core, "--calibrate", IMAGES], "absent.pt"),
                ([MODEL, *core, "--calibrate", IMAGES, "--preserve", "absent"], "no method absent"),
                ([MODEL, *core, "--calibrate", IMAGES, "--keep-float", "feature"], 'no layer "feature"')]:
            with self.subTest(arguments):
                self.fails("quantize", *arguments, says=says)
                self.assertFalse(os.path.exists(self.path("o.ptl")))

    def test_demo(self):
        pictures = sorted(os.path.join(IMAGES, name) for name in os.listdir(IMAGES))
        float_classes = json.loads(self.call("classify", MODEL, *pictures, "--top", "1", "--json").stdout)
        said = self.call("quantize", MODEL, "-o", "o.ptl", "--mode", "core", "--calibrate", IMAGES, "--keep-float", "classifier",
                         "--report", "r.json").stdout
        self.assertIn("1 kept float", said)
        with open(self.path("r.json")) as file:
            report = json.load(file)
        self.assertGreater(report["sqnr"], 20)
        self.assertEqual([layer["name"] for layer in report["layers"] if layer["float"]], ["classifier.1"])
        classes = json.loads(self.call("classify", "o.ptl", *pictures, "--top", "1", "--json").stdout)
        for picture in pictures:
            if float_classes[picture][0]["probability"] > 0.9:
                self.assertEqual(classes[picture][0]["label"], float_classes[picture][0]["label"])

    def with_settings(self, name, settings):
        """Writes the model o.ptl with another taper.json."""
        with zipfile.ZipFile(self.path("o.ptl")) as old, zipfile.ZipFile(self.path(name), "w") as new:
            for info in old.infolist():
                new.writestr(info.filename, settings if info.filename.endswith("taper.json") else old.read(info))
        return name

    def test_full(self):
        """Float inputs of a quantized model are quantized as its taper.json says; other members of the file are kept."""
        pictures = sorted(os.path.join(IMAGES, name) for name in os.listdir(IMAGES))
        x = np.random.default_rng(2).standard_normal((1, 3, 96, 96), np.float32)
        self.save("x.npy", x)
        for model in (MODEL, os.path.join(DEMO, "classifier.ptl")):
            said = self.call("quantize", model, "-o", "o.ptl", "--mode", "full", "--calibrate", IMAGES).stdout
            self.assertIn("input 0: quint8 with scale", said)
            with zipfile.ZipFile(self.path("o.ptl")) as new, zipfile.ZipFile(model) as old:
                settings = json.loads(new.read("o/extra/taper.json"))
                before = json.loads(old.read("classifier/extra/taper.json"))
            entry = settings.pop("inputs")[0]
            self.assertEqual(settings, before)
            self.assertEqual(entry["dtype"], "quint8")
            q = np.clip(np.rint(x / np.float32(entry["scale"])) + entry["zero_point"], 0, 255).astype(np.uint8)
            self.save("q.npy", q)
            given = json.dumps({"@tensor": "q.npy", **entry})
            got = self.run_npz("o.ptl", "-i", "x.npy")["output"]
            self.assertLessEqual(abs(got.astype(int) - self.run_npz("o.ptl", "-i", given)["output"]).max(), 1)
            floats = json.loads(self.call("classify", model, *pictures, "--top", "1", "--json").stdout)
            ints = json.loads(self.call("classify", "o.ptl", *pictures, "--top", "1", "--json").stdout)
            for picture in pictures:
                if floats[picture][0]["probability"] > 0.9:
                    self.assertEqual(ints[picture][0]["label"], floats[picture][0]["label"])
        self.call("bench", "o.ptl", "--input-dims", "1,3,96,96", "--iter", "1")
        self.call("diff", model, "--against", "o.ptl", "-i", "x.npy", "--tolerance", "1")
        self.call("quantize", model, "-o", "o.ptl", "--mode", "core", "--calibrate", IMAGES)
        with zipfile.ZipFile(self.path("o.ptl")) as new:
            self.assertEqual(json.loads(new.read("o/extra/taper.json")), before)

    def test_broken_settings(self):
        self.call("quantize", MODEL, "-o", "o.ptl", "--mode", "full", "--calibrate", IMAGES)
        self.save("x.npy", np.zeros((1, 3, 96, 96), np.float32))
        for entry in ('{}', '3', '{"dtype": "quint8", "scale": 0, "zero_point": 0}', '{"dtype": 1, "scale": 1, "zero_point": 0}',
                      '{"dtype": "quint8", "scale": NaN, "zero_point": 0}', '{"dtype": "quint8", "scale": -1, "zero_point": 0}',
                      '{"dtype": "quint8", "scale": Infinity, "zero_point": 0}',
                      '{"dtype": "quint8", "scale": 1, "zero_point": 300}', '{"dtype": "quint8", "scale": 1, "zero_point": -1}',
                      '{"dtype": "quint8", "scale": 1, "zero_point": 9223372036854775807}',
                      '{"dtype": "qint8", "scale": 1, "zero_point": 0}'):
            with self.subTest(entry):
                model = self.with_settings("b.ptl", f'{{"inputs": [{entry}]}}')
                self.fails("run", model, "-i", "x.npy", says="taper.json: input 0")
        for settings in ('{"inputs": [{"dtype": "quint8", "scale": 1e-300, "zero_point": 0}]}',
                         '{"inputs": 3}', '{"inputs": []}', '{"inputs": [null]}', '[{"inputs": 3}]', '"inputs"', "", "{"):
            with self.subTest(settings):
                self.fails("run", self.with_settings("b.ptl", settings), "-i", "x.npy")
        self.fails("quantize", MODEL, "-o", "n.ptl", "--mode", "full", "--calibrate", "absent", says="absent")


if __name__ == "__main__":
    main()
