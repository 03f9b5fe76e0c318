#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests gradients that a Python program asks for: taper.grad, over several calls and for gradients of gradients, and its errors. The numbers
are those of PyTorch 1.13 for tests/models/data/forces.pt (scripts/oracle/make_gradients.py)."""
import os
import unittest

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np

import taper

FORCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "models", "data", "forces.pt")
POSITIONS = np.array([[0, 0.5, 1], [1.5, -0.25, 0.75], [-1, 0.125, 2]], np.float32)
GRADIENT = -np.array([[-0.06657405, -0.19613096, 0.22958899], [-0.53001034, 0.14796783, 0.19979918],
                      [0.59658438, 0.04816313, -0.42938817]], np.float32)
SECOND = np.array([[0.20148769, 0.20833784, -0.32794479], [0.42607886, -0.11702380, -0.16245660],
                   [-0.62756658, -0.09131403, 0.49040139]], np.float32)


def positions():
    x = taper.tensor(POSITIONS.copy())
    x.requires_grad = True
    return x


class Gradients(unittest.TestCase):
    def setUp(self):
        self.model = taper.load(FORCES, gradients=True)
        self.energy = self.model.method("energy")

    def near(self, tensor, wanted):
        np.testing.assert_allclose(tensor.numpy(), wanted, atol=2e-6)

    def test_one(self):
        x = positions()
        for _ in range(3):
            energy = self.energy(x)
            self.assertTrue(energy.requires_grad)
            (gradient,) = taper.grad(energy, x)
            self.near(gradient, GRADIENT)
            self.assertFalse(gradient.requires_grad)
        self.assertIsInstance(taper.grad([self.energy(x)], [x]), tuple)

    def test_several_calls(self):
        x = positions()
        self.near(taper.grad([self.energy(x), self.energy(x)], x)[0], 2 * GRADIENT)
        self.near(taper.grad(self.energy(x), x, taper.tensor(np.float32(3)))[0], 3 * GRADIENT)
        self.near(taper.grad(self.energy(x), x, [None])[0], GRADIENT)

    def test_second(self):
        x = positions()
        (gradient,) = taper.grad(self.energy(x), x, create_graph=True)
        self.assertTrue(gradient.requires_grad)
        (second,) = taper.grad(gradient, x, taper.tensor(2 * gradient.numpy()))  # the squares of the gradient are differentiated
        self.near(second, SECOND)

    def test_retain(self):
        x = positions()
        energy = self.energy(x)
        taper.grad(energy, x, retain_graph=True)
        self.near(taper.grad(energy, x)[0], GRADIENT)
        with self.assertRaisesRegex(taper.WrongValue, "backward through the graph a second time"):
            taper.grad(energy, x)

    def test_unused(self):
        x, other = positions(), positions()
        energy = self.energy(x)
        with self.assertRaisesRegex(taper.WrongValue, "not have been used in the graph"):
            taper.grad(energy, [x, other], retain_graph=True)
        gradient, none = taper.grad(energy, [x, other], allow_unused=True)
        self.near(gradient, GRADIENT)
        self.assertIsNone(none)

    def test_errors(self):
        x = positions()
        plain = taper.load(support.model_path("values.pt"))
        with self.assertRaisesRegex(taper.WrongValue, "gradients=True"):
            taper.grad(plain(np.ones((3, 4), np.float32)), x)
        with self.assertRaises(taper.WrongType):
            taper.grad(self.energy(x), POSITIONS)
        with self.assertRaises(taper.WrongType):
            taper.grad([], x)
        with self.assertRaises(taper.WrongType):
            taper.grad([1.0, self.energy(x)], x)
        with self.assertRaises(taper.WrongValue):
            taper.tensor(np.arange(3)).requires_grad = True
        y = taper.tensor(POSITIONS)
        y.requires_grad = True
        y.requires_grad = False
        self.assertFalse(y.requires_grad)


if __name__ == "__main__":
    unittest.main()
