# SPDX-License-Identifier: BSD-2-Clause
"""taper quantize on the command line: what it refuses, what it says, and that the demo's classifier stays as good."""
import json
import os

from toolcase import DEMO, ToolCase, main

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
                self.assertIn("usage: taper quantize", self.fails("quantize", *arguments, status=2, says=says).stderr)

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


if __name__ == "__main__":
    main()
