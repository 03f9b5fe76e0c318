# SPDX-License-Identifier: BSD-2-Clause
"""Tests --cache DIR: a second process uses the packed weights that the first one wrote to a file, and gives the same results, bit for bit. A damaged
file never changes a result. Concurrent processes do not disturb each other."""
import os
import subprocess
import unittest
import zipfile

import numpy as np

from toolcase import BIN, DEMO, ToolCase, main

CLASSIFIER = os.path.join(DEMO, "classifier.ptl")


class CacheTest(ToolCase):
    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")
        os.mkdir(self.cache)
        self.input = self.save("x.npy", np.random.default_rng(1).random((1, 3, 64, 64), dtype=np.float32))

    def result(self, *arguments, model=CLASSIFIER, says=""):
        out = self.path("out.npz")
        done = self.call("run", model, "-i", self.input, "-o", out, *arguments)
        self.assertIn(says, done.stderr)
        with np.load(out) as archive:
            return archive[archive.files[0]]

    def files(self):
        return sorted(os.listdir(self.cache))

    def packs(self):
        (name,) = self.files()
        self.assertRegex(name, r"^taper-[0-9a-f]{16}\.packs$")
        return os.path.join(self.cache, name)

    def test_second_process(self):
        plain = self.result()
        np.testing.assert_array_equal(self.result("--cache", self.cache), plain)
        path = self.packs()
        before = os.stat(path)
        self.assertEqual(before.st_mode & 0o777, 0o600)
        for threads in (1, 2, 3):
            np.testing.assert_array_equal(self.result("--cache", self.cache, "--threads", threads), plain)
        after = os.stat(path)
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))  # the second process did not write the file, because no packed weights were missing

    def test_written_beside_runs(self):
        self.call("bench", CLASSIFIER, "-i", self.input, "--cache", self.cache, "--iter", 20)
        before = os.stat(self.packs())
        self.result("--cache", self.cache)
        self.assertEqual(os.stat(self.packs()).st_ino, before.st_ino)

    def test_other_kernels(self):
        """Packed weights for other kernels and for other options are added to the file."""
        scalar, plain, low = self.result("--cpu", "scalar"), self.result(), self.result("--memory", "low")
        sizes = []
        for _ in range(2):
            for arguments, expected in ((["--cpu", "scalar"], scalar), ([], plain), (["--memory", "low"], low)):
                np.testing.assert_array_equal(self.result("--cache", self.cache, *arguments), expected)
                sizes.append(os.path.getsize(self.packs()))
        self.assertEqual(sizes[2:], sizes[2:3] * 4)

    def test_other_containers(self):
        """A flatbuffer, and an archive with compressed records: each has its own file."""
        plain = self.result()
        flat, small = self.path("model.fb.ptl"), self.path("small.ptl")
        self.call("convert", CLASSIFIER, "-o", flat, "--flatbuffer")
        with zipfile.ZipFile(CLASSIFIER) as old, zipfile.ZipFile(small, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
        for number, model in enumerate((flat, small)):
            for _ in range(2):
                np.testing.assert_array_equal(self.result("--cache", self.cache, model=model), plain)
            self.assertEqual(len(self.files()), number + 1)

    def test_damaged(self):
        plain = self.result("--cache", self.cache)
        path = self.packs()
        with open(path, "rb") as file:
            good = file.read()
        random = np.random.default_rng(2)
        for turn in range(25):
            bad = bytearray(good)
            for at in random.integers(0, len(bad), 1 + turn % 3):
                bad[at] ^= 1 << int(random.integers(8))
            if turn % 5 == 4:
                bad = bad[:int(random.integers(len(bad)))]
            with open(path, "wb") as file:
                file.write(bad)
            np.testing.assert_array_equal(self.result("--cache", self.cache), plain)
            with open(path, "rb") as file:
                self.assertEqual(len(file.read()), len(good))  # the damaged file was written anew

    def test_changed_model(self):
        """A file with other weights in the same places is another model."""
        self.result("--cache", self.cache)
        with open(CLASSIFIER, "rb") as file:
            content = bytearray(file.read())
        other = self.path("other.ptl")
        self.call("convert", CLASSIFIER, "-o", other)
        with open(other, "rb") as file:
            self.assertNotEqual(bytes(content), file.read())
        np.testing.assert_array_equal(self.result("--cache", self.cache, model=other), self.result(model=other))
        self.assertEqual(len(self.files()), 2)

    def test_many_at_once(self):
        plain = self.result()
        command = [os.path.join(BIN, "taper"), "run", CLASSIFIER, "-i", self.input, "--cache", self.cache, "-o"]
        for _ in range(2):
            running = [subprocess.Popen([*command, self.path(f"out{i}.npy.npz")]) for i in range(8)]
            self.assertEqual([process.wait(300) for process in running], [0] * 8)
        for i in range(8):
            with np.load(self.path(f"out{i}.npy.npz")) as archive:
                np.testing.assert_array_equal(archive[archive.files[0]], plain)
        self.packs()

    def test_no_directory(self):
        self.fails("run", CLASSIFIER, "-i", self.input, "--cache", self.path("none"), says="cache_dir: there is no directory")

    def test_cannot_write(self):
        os.mkdir(os.path.join(self.cache, "taken"))
        self.result("--cache", self.cache)
        path = os.path.join(self.cache, next(name for name in self.files() if name != "taken"))
        os.unlink(path)
        os.mkdir(path)  # a folder in the place of the file must not be a failure
        done = self.result("--cache", self.cache, says="packed weights are not kept for later processes")
        np.testing.assert_array_equal(done, self.result())


if __name__ == "__main__":
    main()
