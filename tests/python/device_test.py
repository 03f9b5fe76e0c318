# SPDX-License-Identifier: BSD-2-Clause
"""Tests models on a GPU, with results that stay on the GPU between calls. Uses Mesa's software driver; skipped if it is not installed."""
import logging
import re
import sys
import unittest

import support

import numpy as np

import taper

DEVICE = "vulkan:llvmpipe"


class Listener(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


class ResultsStay(unittest.TestCase):
    def steps(self, **options):
        """Runs calls whose states are passed to the next call, and returns the bytes moved between host and device in each."""
        listener, logger = Listener(), logging.getLogger("taper")
        logger.addHandler(listener)
        logger.setLevel(logging.INFO)
        try:
            model = taper.load(support.model_path("gpu_state.pt"), threads=1, **options)
            state, outputs = np.zeros((1, 24), np.float32), []
            for step in range(6):
                out, state = model(np.full((1, 8), 0.1 * step, np.float32), state)
                outputs.append(out)
            return [np.array(one) for one in outputs] + [np.array(state)], listener.lines
        finally:
            logger.removeHandler(listener)

    def bytes_of(self, lines):
        """Returns the number of bytes that the last run copied between host and device."""
        found = [int(m.group(1)) for m in (re.search(r"(\d+) bytes from and to the host", line) for line in lines) if m]
        self.assertTrue(found, lines)
        return found[-1]

    def test_states_stay(self):
        wanted, _ = self.steps(device="cpu")
        moved, lines = self.steps(device=DEVICE + "!")
        stayed, few = self.steps(device=DEVICE + "!", results_stay=True)
        for one, other, want in zip(moved, stayed, wanted):
            np.testing.assert_allclose(one, want, rtol=1e-4, atol=1e-5)
            np.testing.assert_array_equal(one, other)
        self.assertEqual(self.bytes_of(lines), 4 * (8 + 24 + 6 + 24))
        self.assertEqual(self.bytes_of(few), 4 * 8)  # only the input moves; the results stay on the device

    def test_clones_and_what_outlives(self):
        model = taper.load(support.model_path("gpu_state.pt"), threads=1, device=DEVICE + "!").clone(results_stay=True)
        x, h = np.ones((1, 8), np.float32), np.zeros((1, 24), np.float32)
        out, state = model(x, h)
        del model  # a result must outlive its model
        want = taper.load(support.model_path("gpu_state.pt"), device="cpu")(x, h)
        np.testing.assert_allclose(np.asarray(state), np.asarray(want[1]), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(np.asarray(out), np.asarray(want[0]), rtol=1e-4, atol=1e-5)
        with self.assertRaises(TypeError):
            taper.load(support.model_path("gpu_state.pt"), results_stays=True)


if __name__ == "__main__":
    try:
        taper.load(support.model_path("gpu_state.pt"), device=DEVICE + "!")
    except taper.Error as error:
        print(f"SKIPPED: device_test.py needs lavapipe (mesa-vulkan-drivers): {error}")
        sys.exit(77)
    support.main()
