# SPDX-License-Identifier: BSD-2-Clause
"""taper classify and taper segment on the demo's pictures, against what PyTorch makes of them (expected.json)."""
import json
import os

from toolcase import DEMO, VALUES, ToolCase, main

with open(os.path.join(DEMO, "expected.json")) as file:
    EXPECTED = json.load(file)


class Demo(ToolCase):
    def picture(self, name):
        return os.path.join(DEMO, "images", name)

    def test_classify(self):
        paths = [self.picture(name) for name in EXPECTED]
        found = json.loads(self.call("classify", os.path.join(DEMO, "classifier.ptl"), *paths, "--json").stdout)
        for name, path in zip(EXPECTED, paths):
            for wanted, got in zip(EXPECTED[name]["classify"], found[path]):
                if wanted["probability"] > 1e-4:
                    self.assertEqual(wanted["label"], got["label"])
                self.assertAlmostEqual(wanted["probability"], got["probability"], delta=1e-4)

    def test_classify_for_people(self):
        done = self.call("classify", os.path.join(DEMO, "classifier.ptl"), self.picture("lake.jpg"), "--top", 2)
        lines = done.stdout.rstrip("\n").split("\n")
        self.assertEqual(len(lines), 3)
        self.assertIn("dog", lines[1])
        self.assertIn("100.0 %", lines[1])

    def test_labels(self):
        names = "\n".join(f"name {i}" for i in range(20))
        self.write("labels.txt", names)
        self.write("labels.json", json.dumps(names.split("\n")))
        for file in ["labels.txt", "labels.json"]:
            done = self.call("classify", os.path.join(DEMO, "classifier.ptl"), self.picture("lake.jpg"), "--labels",
                             file, "--top", 1)
            self.assertIn("name 0 ", done.stdout)

    def test_segment(self):
        for name in EXPECTED:
            done = self.call("segment", os.path.join(DEMO, "segmenter.ptl"), self.picture(name), "-o", "mask.png",
                             "--json")
            found = {item["label"]: item["part"] for item in json.loads(done.stdout)["classes"]}
            for label, part in EXPECTED[name]["segment"].items():
                self.assertAlmostEqual(part, found[label], delta=2e-3)
            self.assertAlmostEqual(sum(found.values()), 1)

    def test_overlay(self):
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("no PIL")
        self.call("segment", os.path.join(DEMO, "segmenter.ptl"), self.picture("picnic.jpg"), "-o", "mask.png")
        with Image.open(self.path("mask.png")) as mask, Image.open(self.picture("picnic.jpg")) as photo:
            self.assertEqual((mask.size, mask.mode), (photo.size, "RGB"))

    def test_wrong_model(self):
        self.fails("classify", VALUES, self.picture("lake.jpg"), "--size", "0x5", status=2)
        self.fails("segment", os.path.join(DEMO, "classifier.ptl"), self.picture("lake.jpg"), "-o", "mask.png",
                   says="scores of")


if __name__ == "__main__":
    main()
