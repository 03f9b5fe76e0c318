# SPDX-License-Identifier: BSD-2-Clause
"""Tests --cpu and TAPER_CPU_MASK: every instruction set of this machine gives the same results, a program uses only the named sets, and an
unknown set is an error that lists the known sets."""
import os
import re
import unittest

import numpy as np

from toolcase import DEMO, VALUES, ToolCase, main

CLASSIFIER = os.path.join(DEMO, "classifier.ptl")
NO_MASK = {"TAPER_CPU_MASK": ""}


class CpuTest(ToolCase):
    def setUp(self):
        super().setUp()
        size = 64
        self.input = self.save("x.npy", np.random.default_rng(1).random((1, 3, size, size), dtype=np.float32))
        said = self.call("run", CLASSIFIER, "-i", self.input, "--cpu", "none", status=1, env=NO_MASK).stderr
        self.sets = re.search(r"there are: (.*)", said).group(1).split(", ")
        self.assertEqual(self.sets[0], "scalar")

    def result(self, *arguments, env=None):
        out = self.path("out.npz")
        self.call("run", CLASSIFIER, "-i", self.input, "-o", out, *arguments, env={**NO_MASK, **(env or {})})
        with np.load(out) as archive:
            return archive[archive.files[0]]

    def test_results_agree(self):
        best = self.result()
        for name in self.sets:
            np.testing.assert_allclose(self.result("--cpu", name), best, rtol=1e-4, atol=1e-5, err_msg=name)
        np.testing.assert_array_equal(self.result("--cpu", ",".join(self.sets)), best)

    def test_sets_are_used(self):
        if len(self.sets) == 1:
            self.skipTest("this machine has the portable kernels only")
        # Only the scalar kernels round each product before it is added.
        scalar = self.result("--cpu", "scalar")
        self.assertTrue((scalar != self.result("--cpu", self.sets[1])).any())
        # The number of threads must not change the bits.
        np.testing.assert_array_equal(scalar, self.result("--cpu=scalar", "--threads", "2"))

    def test_environment(self):
        scalar = self.result("--cpu", "scalar")
        np.testing.assert_array_equal(self.result(env={"TAPER_CPU_MASK": "scalar"}), scalar)
        for name in self.sets:  # the option --cpu must override TAPER_CPU_MASK
            np.testing.assert_array_equal(self.result("--cpu", "scalar", env={"TAPER_CPU_MASK": name}), scalar)
        wrong = {"TAPER_CPU_MASK": "sse7"}
        np.testing.assert_array_equal(self.result("--cpu", "scalar", env=wrong), scalar)
        for command in (("run", CLASSIFIER, "-i", self.input), ("bench", CLASSIFIER, "-i", self.input)):
            said = self.call(*command, status=1, env=wrong).stderr
            self.assertTrue(said.startswith('taper: error: TAPER_CPU_MASK: no instruction set "sse7"'), said)

    def test_what_is_not_there(self):
        out = self.path("out.ptl")
        names = ["sse7", "", "scalar,", "scalar,sse7"]
        names += [name for name in ("avx2", "neon") if name not in self.sets]
        self.assertGreater(len(names), 4)  # an error for a set that this machine lacks, because no machine has both avx2 and neon
        for name in names:
            for command in (("run", CLASSIFIER, "-i", self.input), ("bench", CLASSIFIER, "-i", self.input),
                            ("inspect", CLASSIFIER), ("diff", CLASSIFIER, "-i", self.input),
                            ("optimize", VALUES, "-o", out), ("convert", VALUES, "-o", out),
                            ("quantize", VALUES, "--mode", "dynamic", "-o", out)):
                self.fails(*command, "--cpu", name, says="there are: " + ", ".join(self.sets))

    def test_programs_take_it(self):
        out = self.path("out.ptl")
        for name in self.sets:
            self.call("bench", CLASSIFIER, "-i", self.input, "--cpu", name, "--iter", "1", "--warmup", "0")
            self.call("optimize", CLASSIFIER, "-o", out, "--cpu", name)
            self.call("convert", CLASSIFIER, "-o", out, "--cpu", name)
            self.call("--model=" + CLASSIFIER, "--input_dims=1,3,64,64", "--input_type=float", "--iter=1", "--cpu=" + name,
                      program="speed_benchmark_torch")
        said = self.call("--model=" + CLASSIFIER, "--input_dims=1,3,64,64", "--input_type=float", "--cpu=sse7",
                         program="speed_benchmark_torch", status=1).stderr
        self.assertIn('--cpu: no instruction set "sse7"', said)


if __name__ == "__main__":
    main()
