# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper classify and taper segment on the demo's pictures. Their results are compared with PyTorch's results (expected.json)."""
import json
import os

from toolcase import DEMO, HERE, VALUES, ToolCase, main

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

    def test_folders(self):
        """Folders of pictures are sorted; a bad picture is reported, and the other pictures are processed."""
        import shutil
        os.mkdir(self.path("in"))
        names = sorted(EXPECTED)[:3]
        for name in names:
            shutil.copy(self.picture(name), self.path("in"))
        self.write("in/bad.jpg", b"nothing")
        self.write("in/notes.txt", "no picture")
        model = os.path.join(DEMO, "classifier.ptl")
        done = self.call("classify", model, "in", "absent.png", self.picture(names[0]), "--json", status=1)
        self.assertEqual(list(json.loads(done.stdout)), [f"in/{name}" for name in names] + [self.picture(names[0])])
        self.assertEqual(done.stderr.count("taper: error: "), 2)
        self.assertIn("in/bad.jpg: neither", done.stderr)
        self.assertIn("absent.png", done.stderr)
        self.assertEqual(self.call("classify", model, "in", "--top", "1", status=1).stdout.count(" ms\n"), 3)
        os.mkdir(self.path("empty"))
        done = self.call("classify", model, "empty", "in/" + names[0], "--json", status=1)
        self.assertIn("holds no pictures", done.stderr)
        self.assertEqual(list(json.loads(done.stdout)), ["in/" + names[0]])
        self.assertEqual(self.call("classify", model, "empty", "--json", status=1).stdout, "{}\n")
        model = os.path.join(DEMO, "segmenter.ptl")
        done = self.call("segment", model, "in", "-o", "out", "--json", status=1)
        self.assertEqual([item["image"] for item in json.loads(done.stdout)], [f"in/{name}" for name in names])
        self.assertEqual(sorted(os.listdir(self.path("out"))), [os.path.splitext(name)[0] + ".png" for name in names])
        done = self.call("segment", model, "in/" + names[0], self.picture(names[0]), "-o", "out", status=1)
        self.assertIn("would be written where", done.stderr)
        os.remove(self.path("in/bad.jpg"))
        self.call("segment", model, "in", "-o", "out")
        self.misused("segment", model, "in/" + names[0], "in/" + names[1], "-o", "m.png", says="names a folder")
        self.write("file", "")
        self.fails("segment", model, "in", "-o", "file", says="cannot make the folder")

    def test_class_map(self):
        from toolcase import np
        try:
            from PIL import Image
        except ImportError:
            self.skipTest("no PIL")
        for name in sorted(EXPECTED)[:3]:
            arguments = ["segment", os.path.join(DEMO, "segmenter.ptl"), self.picture(name), "--json"]
            counts = [row["pixels"] for row in json.loads(self.call(*arguments, "-o", "map.npy").stdout)["classes"]]
            classes = np.load(self.path("map.npy"))
            self.assertEqual(classes.dtype, np.int16)
            with Image.open(self.picture(name)) as photo:
                self.assertEqual(classes.shape, photo.size[::-1])
            np.testing.assert_array_equal(np.bincount(classes.ravel(), minlength=len(counts)), counts)
            self.call(*arguments, "--map", "-o", "map.png")
            with Image.open(self.path("map.png")) as gray:
                self.assertEqual(gray.mode, "L")
                np.testing.assert_array_equal(np.asarray(gray), classes)

    def test_what_is_noticed(self):
        model, picture = os.path.join(DEMO, "classifier.ptl"), self.picture("lake.jpg")
        self.write("labels.txt", "\n".join(f"name {i}" for i in range(19)) + "\n")
        done = self.call("classify", model, picture, picture, "--labels", "labels.txt")
        self.assertEqual(done.stderr, "labels.txt: there are 19 labels for 20 classes\n")
        for options in (["--mean", "123.675,116.28,103.53"], ["--std", "58.4,57.1,57.4"]):
            self.fails("classify", model, picture, *options, says="of channels in 0..255")
        self.fails("classify", model, picture, "--mean", "123.675,116.28,103.53", says="0.485")
        self.fails("classify", os.path.join(DEMO, "segmenter.ptl"), picture, says="`taper segment` takes such models")

    def test_known_labels(self):
        """A model without class names gets the names of the data set that has the same number of classes."""
        data, picture = os.path.join(HERE, "data"), self.picture("lake.jpg")
        done = self.call("classify", os.path.join(data, "thousand.ptl"), picture, picture, "--json", "--top", "2")
        self.assertEqual([row["label"] for row in json.loads(done.stdout)[picture]], ["toilet tissue", "ear"])
        self.assertEqual(done.stderr, "the model does not name its 1000 classes: they are called as ImageNet's, which has as many\n")
        done = self.call("segment", os.path.join(data, "voc.ptl"), picture, "-o", "m.png", "--json")
        self.assertEqual({row["label"]: row["part"] for row in json.loads(done.stdout)["classes"] if row["part"]}, {"dog": 1})
        self.assertIn("VOC's", done.stderr)
        # A map of integers does not tell how many classes a model has, so the 21 classes in this map get no names of a
        # data set.
        done = self.call("segment", os.path.join(data, "map.ptl"), picture, "-o", "m.png", "--json")
        self.assertEqual((json.loads(done.stdout)["classes"][20]["label"], done.stderr), ("class 20", ""))
        for count, said in ((20, "labels.txt: there are 20 labels for 21 classes\n"), (30, "")):
            self.write("labels.txt", "\n".join(map(str, range(count))))
            done = self.call("segment", os.path.join(data, "map.ptl"), picture, "-o", "m.png", "--labels", "labels.txt")
            self.assertEqual(done.stderr, said)
        self.write("labels.txt", "\n".join(map(str, range(1000))))
        done = self.call("classify", os.path.join(data, "thousand.ptl"), picture, "--labels", "labels.txt", "--json")
        self.assertEqual(json.loads(done.stdout)[picture][0]["label"], "999")
        self.assertEqual(done.stderr, "")

    def test_wrong_model(self):
        self.fails("classify", VALUES, self.picture("lake.jpg"), "--size", "0x5", status=2)
        self.fails("segment", os.path.join(DEMO, "classifier.ptl"), self.picture("lake.jpg"), "-o", "mask.png",
                   says="scores of")


if __name__ == "__main__":
    main()
