# SPDX-License-Identifier: BSD-2-Clause
"""Tests the C programs of examples/: each must do what its first comment says."""
import json
import os
import re
import struct
import subprocess
import sys

from toolcase import BIN, BUNDLED, DEMO, HERE, ToolCase, main, np

try:
    from PIL import Image
except ImportError:
    print("SKIPPED: PIL is missing")
    sys.exit(77)

CLASSIFIER = os.path.join(DEMO, "classifier.ptl")
LISTENER = os.path.join(HERE, "data", "listener.ptl")


class Examples(ToolCase):
    def example(self, name, *arguments, status=0):
        return self.call(*arguments, program="example_" + name, status=status)

    def test_run_model(self):
        self.assertRegex(self.example("run_model", CLASSIFIER).stdout, r"^output: 1 x 20, first: -?[0-9.]+\n$")
        self.example("run_model", "absent.ptl", status=1)

    def test_top_classes(self):
        for name in sorted(os.listdir(os.path.join(DEMO, "images")))[:3]:
            path = os.path.join(DEMO, "images", name)
            with Image.open(path) as picture:
                picture.convert("RGB").save(self.path("a.ppm"))
            lines = self.example("top_classes", CLASSIFIER, "a.ppm").stdout.splitlines()
            self.assertEqual(len(lines), 5)
            (told,) = json.loads(self.call("classify", CLASSIFIER, path, "--json").stdout).values()
            for line, row in zip(lines, told):
                percent, index, label = re.match(r" *([0-9.]+) %  ([0-9]+)  (.*)", line).groups()
                self.assertEqual((int(index), label), (row["index"], row["label"]))
                self.assertAlmostEqual(float(percent), 100 * row["probability"], delta=0.06)
        self.assertIn("no PPM", self.example("top_classes", CLASSIFIER, CLASSIFIER, status=1).stderr)
        self.write("cut.ppm", b"P6 100 100 255 \0\0")
        self.example("top_classes", CLASSIFIER, "cut.ppm", status=1)
        self.assertIn("cannot be opened", self.example("top_classes", "absent.ptl", "a.ppm", status=1).stderr)

    def test_two_models(self):
        lines = self.example("two_models", CLASSIFIER, BUNDLED, 30).stdout.splitlines()
        self.assertEqual(lines, [f"{CLASSIFIER}: 30 runs, Tensor", f"{BUNDLED}: 30 runs, Tensor"])
        lines = self.example("two_models", CLASSIFIER, "absent.ptl", 3, status=1).stdout.splitlines()
        self.assertEqual(lines[0], f"{CLASSIFIER}: 3 runs, Tensor")
        self.assertRegex(lines[1], "^absent.ptl: 0 runs, .*cannot be opened")

    def test_streaming_audio(self):
        sound = (np.sin(np.arange(4000) / 20) * 12000).astype("<i2")
        done = subprocess.run([os.path.join(BIN, "example_streaming_audio"), LISTENER], input=sound.tobytes(),
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Computes the same result with a call for each of three pieces: the last piece is filled with silence, and the state of a call is an input of
        # the next call.
        state, told = None, []
        pieces = np.zeros((3, 1, 1600), np.float32)
        pieces.reshape(-1)[:4000] = sound.astype(np.float32) / 32768
        for piece in pieces:
            inputs = ["-i", self.save("x.npy", piece)] + ([] if state is None else ["-i", self.save("s.npy", state)])
            result = self.run_npz(LISTENER, *inputs)
            state = result["output.1"]
            told.append(result["output.0"].item())
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), 3)
        for number, (line, value) in enumerate(zip(lines, told)):
            self.assertEqual(int(line.split()[0]), number)
            self.assertAlmostEqual(float(line.split()[1]), value, delta=1.1e-4)
        self.assertGreater(len(set(lines)), 1)
        done = subprocess.run([os.path.join(BIN, "example_streaming_audio"), LISTENER, "17"], input=struct.pack("<h", 5),
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)  # fails, because 17 is not a multiple of 16
        self.assertIn(b"reshape", done.stderr + done.stdout)

    def test_own_allocator(self):
        lines = self.example("own_allocator", CLASSIFIER).stdout.splitlines()
        self.assertEqual([line.split(",")[0] for line in lines[3:5]],
                         ["run 3: 0 blocks asked for", "run 4: 0 blocks asked for"])
        self.assertRegex(lines[5], r"^[0-9]+ blocks, [0-9]+ bytes at most, 0 left$")
        most = int(lines[5].split()[2])
        for part in (0.001, 0.05, 0.1, 0.2):
            lines = self.example("own_allocator", CLASSIFIER, most * part / 1e6, status=2).stdout.splitlines()
            self.assertIn("memory", lines[-2])
            self.assertRegex(lines[-1], r", 0 left$")
        # With a little less memory than the program used at most, it still runs: weights are packed in place, and
        # memory is allocated in smaller pieces.
        lines = self.example("own_allocator", CLASSIFIER, most * 0.95 / 1e6).stdout.splitlines()
        self.assertEqual(lines[4].split(",")[0], "run 4: 0 blocks asked for")
        self.assertRegex(lines[5], r", 0 left$")

    def test_cancel(self):
        lines = self.example("cancel", CLASSIFIER, 150).stdout.splitlines()
        self.assertRegex(lines[0], r"^[1-9][0-9]* runs, then: .*cancelled")
        self.assertEqual(lines[1], "and again: done")


if __name__ == "__main__":
    main()
