#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests loading from all sources, facts about models, profiles, and files made from other files: optimized, converted, bundled, quantized."""
import errno
import io
import json
import os
import pathlib
import pickle
import re
import tempfile
import unittest

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np

import taper

SMALL, VALUES = support.model_path("small.pt"), support.model_path("values.pt")
X = np.random.default_rng(1).standard_normal((2, 3, 8, 8)).astype(np.float32)


def close(a, b):
    a, b = a.numpy().astype(np.float64), b.numpy().astype(np.float64)
    return a.shape == b.shape and np.abs(a - b).max() <= 1e-4 * np.abs(b).max() + 1e-5


class Loading(unittest.TestCase):
    def test_sources(self):
        with open(SMALL, "rb") as file:
            data = file.read()
        wanted = taper.load(SMALL, optimize=False)(X)
        with open(SMALL, "rb") as file:
            models = [taper.load(SMALL), taper.load(pathlib.Path(SMALL)), taper.load(os.fsencode(SMALL).decode()), taper.load(data),
                      taper.load(bytearray(data)), taper.load(memoryview(data)), taper.load(io.BytesIO(data)), taper.load(file),
                      taper.load(taper.load(SMALL)), taper.load(SMALL, copy=True), taper.load(SMALL, reference=True),
                      taper.load(SMALL, threads=2), taper.load(SMALL, device="cpu", low_memory=True), taper.load(SMALL, methods=[]),
                      taper.load(SMALL, cpu="scalar"), taper.load(SMALL, disable_passes=["segments"])]
        for model in models:
            self.assertTrue(close(model(X), wanted))
        self.assertEqual(models[13].methods, ["forward"])
        self.assertEqual(models[0].methods, ["forward", "classes"])

    def test_precision(self):
        model = support.model_path("classifier.ptl")
        x = np.random.default_rng(2).standard_normal((1, 3, 96, 96)).astype(np.float32)
        wanted = taper.load(model, cpu="scalar")(x).numpy()
        for precision, bound in [("fp16", 2e-3), ("bf16", 2e-2)]:
            error = np.abs(taper.load(model, cpu="scalar", precision=precision)(x).numpy() - wanted).max() / np.abs(wanted).max()
            self.assertLess(error, bound)
            self.assertGreater(error, bound / 1000)
        for wrong in ["fp64", ""]:
            with self.assertRaisesRegex(taper.Error, "should be fp32, fp16 or bf16"):
                taper.load(model, precision=wrong)
        with self.assertRaisesRegex(TypeError, "precision"):
            taper.load(model, precision=16)

    def test_exported_programs(self):
        folder = os.path.join(support.SOURCE, "tests/data/pt2")
        opened = 0
        for name in sorted(os.listdir(folder)):
            if name.endswith(".pt2") and "weights" not in name:  # programs with "weights" in their name are skipped, because they have dtypes that Taper lacks
                model = taper.load(os.path.join(folder, name))
                self.assertRegex(model.exported_by, r"^2\.|^$")
                self.assertIn("forward", model.methods)
                self.assertIn("return", model.graph())
                opened += 1
        self.assertGreater(opened, 3)

    def test_wrong(self):
        class Module:
            state_dict = named_modules = None

        cases = [
            (taper.Error, "nothing.pt", lambda: taper.load("/nothing.pt")), (taper.Error, "", lambda: taper.load(b"")), (taper.Error, "", lambda: taper.load(b"PK\3\4")),
            (TypeError, "a model is a path", lambda: taper.load(3)), (TypeError, "a model is a path", lambda: taper.load(None)),
            (TypeError, "torch.jit.script", lambda: taper.load(Module())), (TypeError, "not text", lambda: taper.load(io.StringIO("x"))),
            (ValueError, "null|NUL|embedded", lambda: taper.load("a\0b")), (ValueError, "no pass 'nothing'", lambda: taper.load(SMALL, disable_passes="nothing")),
            (TypeError, "device", lambda: taper.load(SMALL, device=3)), (taper.Error, "nowhere|device", lambda: taper.load(SMALL, device="nowhere!")),
            (TypeError, "unexpected keyword", lambda: taper.load(SMALL, thread=3)), (ValueError, "own threads", lambda: taper.load(SMALL, threads=1, context=taper.Context())),
            (TypeError, "taper.Context", lambda: taper.load(SMALL, context=3)), (TypeError, "names", lambda: taper.load(SMALL, methods=[3])),
            (TypeError, "time_budget", lambda: taper.load(SMALL, time_budget="1")), (ValueError, "time_budget", lambda: taper.load(SMALL, time_budget=-1)),
            (ValueError, "time_budget", lambda: taper.load(SMALL, time_budget=float("nan"))), (OverflowError, "", lambda: taper.load(SMALL, memory_budget=-1)),
            (taper.Error, "limit", lambda: taper.load(SMALL, load_memory_limit=1000)), (TypeError, "abstract|instance|create", lambda: taper.Model()),
        ]
        for kind, words, call in cases:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()

    def test_own_errors_are_python_s_too(self):
        cases = [
            (TypeError, lambda: taper.load(3)), (TypeError, lambda: taper.load(io.StringIO("x"))), (TypeError, lambda: taper.load(SMALL, device=3)),
            (TypeError, lambda: taper.load(SMALL, context=3)), (TypeError, lambda: taper.load(SMALL, methods=[3])), (TypeError, lambda: taper.load(SMALL, methods=3)),
            (TypeError, lambda: taper.load(SMALL, threads="1")), (TypeError, lambda: taper.load(SMALL, time_budget="1")),
            (ValueError, lambda: taper.load("a\0b")), (ValueError, lambda: taper.convert("a\0b")), (ValueError, lambda: taper.load(SMALL, disable_passes="nothing")),
            (ValueError, lambda: taper.load(SMALL, threads=1, context=taper.Context())), (ValueError, lambda: taper.load(SMALL, time_budget=-1)),
            (ValueError, lambda: taper.load(SMALL, precision="fp17")), (ValueError, lambda: taper.load(SMALL, device="nowhere!")),
            (OverflowError, lambda: taper.load(SMALL, memory_budget=-1)), (ValueError, lambda: taper.load(SMALL).profile(runs=0)),
            (TypeError, lambda: taper.optimize_for_mobile(SMALL, backend=3)), (TypeError, lambda: taper.convert(SMALL, extra_files={"a": 3})),
            (TypeError, lambda: taper.optimize_for_mobile(SMALL, inputs=3)), (TypeError, lambda: taper.convert(SMALL, extra_files=3)),
            (TypeError, lambda: taper.convert(SMALL, extra_files={1: b""})), (TypeError, lambda: taper.bundle(SMALL, 3)),
            (TypeError, lambda: taper.quantize(SMALL, 3)), (TypeError, lambda: taper.quantize(SMALL, [X], compare="1")),
            (TypeError, lambda: taper.load(SMALL).profile(X, runs="1")), (ValueError, lambda: taper.load(SMALL).profile(X, warmup=-1)),
            (TypeError, lambda: taper.load(SMALL).save(3)), (TypeError, lambda: taper.tensor(X, context=3)), (TypeError, lambda: taper.convert(SMALL, context=3)),
            (ValueError, lambda: taper.quantize(SMALL)), (ValueError, lambda: taper.quantize(SMALL, [X], mode="best")),
        ]
        for number, (kind, call) in enumerate(cases):
            with self.subTest(number):
                with self.assertRaises(kind) as caught:
                    call()
                self.assertIsInstance(caught.exception, taper.Error)
                self.assertEqual(len(str(caught.exception).splitlines()), 1)

    def test_missing_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "nothing.pt")
            gone = os.path.join(folder, "gone.pt")
            taper.load(SMALL).save(gone)
            model = taper.load(gone, copy=True)
            os.unlink(gone)
            for wanted, call in [
                (path, lambda: taper.load(path)), (path, lambda: taper.load(pathlib.Path(path))), (path, lambda: taper.convert(path)),
                (path, lambda: taper.optimize_for_mobile(path)), (path, lambda: taper.bundle(path, [X])), (path, lambda: taper.quantize(path, [X])),
                (gone, model.to_bytes), (os.path.join(folder, "no"), lambda: taper.load(SMALL).save(os.path.join(folder, "no", "a.pt"))),
            ]:
                for kind in (FileNotFoundError, taper.Error, taper.FileNotFound):
                    with self.assertRaisesRegex(kind, "^" + re.escape(wanted) + ": .*[Nn]o such file") as caught:
                        call()
                error = caught.exception
                self.assertEqual((error.errno, error.filename, error.status), (errno.ENOENT, wanted, taper.Status.FILE))
                again = pickle.loads(pickle.dumps(error))
                self.assertEqual((type(again), str(again), again.errno, again.filename), (type(error), str(error), error.errno, error.filename))
            with self.assertRaises(taper.Error) as caught:
                taper.load(folder)
            self.assertNotIsInstance(caught.exception, FileNotFoundError)

    def test_repr(self):
        self.assertRegex(repr(taper.load(SMALL)), r"^<taper.Model of '/.*small\.pt': forward\(x: Tensor\) -> Tensor, on cpu>$")
        with open(SMALL, "rb") as file:
            self.assertRegex(repr(taper.load(file)), r"^<taper.Model of bytes: forward\(x: Tensor\) -> Tensor, on cpu>$")
        lite = taper.convert(SMALL)
        self.assertRegex(repr(lite), r"^<taper.Model of bytes: forward\(.*\).*, on cpu>$")
        self.assertIn("forward(", repr(lite.method("forward")))

    def test_modes(self):
        model = taper.load(SMALL)
        self.assertFalse(model.training)
        self.assertIs(model.eval(), model)
        self.assertIs(model.train(False), model)
        for call in (model.train, lambda: model.train(True)):
            with self.assertRaisesRegex(taper.Error, "evaluation mode"):
                call()
        model = taper.load(VALUES)
        self.assertTrue(model.training)
        self.assertIs(model.train(), model)
        for call in (model.eval, lambda: model.train(False)):
            with self.assertRaisesRegex(taper.Error, "evaluation=True"):
                call()
        model = taper.load(VALUES, evaluation=True)
        self.assertIs(model.eval(), model)

    def test_every_truncation(self):
        with open(VALUES, "rb") as file:
            data = file.read()
        for size in range(0, len(data), 97):
            with self.assertRaises(taper.Error):
                taper.load(data[:size])

    def test_budgets(self):
        for arguments, words in [({"instruction_budget": 1000}, "instruction"), ({"time_budget": 0.02}, "time")]:
            model = taper.load(VALUES, **arguments)
            with self.assertRaisesRegex(taper.Error, words) as caught:
                model.spin(10 ** 12)
            self.assertIs(caught.exception.status, taper.Status.RESOURCE)
            self.assertEqual(model.spin(3), 3)
        model = taper.load(VALUES).clone(memory_budget=100000)
        with self.assertRaisesRegex(taper.Error, "memory"):
            model.many(100000)

    def test_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            wanted = taper.load(SMALL)(X)
            for _ in range(2):
                model = taper.load(SMALL, cache_dir=folder)
                for _ in range(3):
                    self.assertTrue(close(model(X), wanted))
                del model


class Facts(unittest.TestCase):
    def test_facts(self):
        model = taper.load(SMALL)
        self.assertEqual((model.name, model.bytecode_version, model.training, model.exported_by), ("__torch__.Small", 0, False, None))
        self.assertEqual(model.extra_files, {"note": b"hello"})
        self.assertEqual(model.signature(), ([("x", "Tensor")], "Tensor"))
        self.assertEqual(model.operators["aten::conv2d"], 1)
        facts = model.inspect()
        self.assertEqual(facts["methods"]["classes"], {"arguments": [], "returns": "int"})
        self.assertIn("conv2d", model.graph())
        self.assertLessEqual({"classes", "profile", "forward"}, set(dir(model)))
        with self.assertRaises(AttributeError):
            model.signature("nothing")
        with self.assertRaises(taper.Error):
            model.graph("nothing")

    def test_build(self):
        self.assertIn("scalar", taper.build()["cpu_sets"])
        self.assertIn("bfloat16", taper.build()["dtypes"])
        self.assertEqual(taper.__version__, taper.build()["version"])
        self.assertTrue(any(name == "fold_batch_norm" or in_draft for name, _, _, in_draft in taper.passes()))

    def test_profile(self):
        model = taper.load(SMALL)
        profile = model.profile(X, runs=3)
        self.assertEqual(sum(row.calls for row in profile if row.name == "aten::conv2d"), 3)
        self.assertGreater(profile.seconds, 0)
        self.assertIn("aten::conv2d", str(profile))
        self.assertEqual(len(model.profile(method="classes")), len(list(model.profile(method="classes"))))
        with self.assertRaises(taper.Error):
            model.profile()
        with self.assertRaises(ValueError):
            model.profile(X, runs=0)
        self.assertEqual(model.memory()["allocator_calls"], 0)
        model.trim()
        model.seed(3)


class Preparing(unittest.TestCase):
    def setUp(self):
        self.wanted = taper.load(SMALL, optimize=False)(X)

    def test_optimize(self):
        for backend in ("CPU", "cpu", "Vulkan", "Metal"):
            model = taper.optimize_for_mobile(SMALL, backend=backend)
            self.assertTrue(close(model(X), self.wanted), backend)
            self.assertEqual((model.bytecode_version, model.methods), (8, ["forward"]))
        self.assertIn("metal_prepack::conv2d_run", model.operators)
        model = taper.optimize_for_mobile(taper.load(SMALL), {"CONV_BN_FUSION"}, ["classes"], bytecode=5, extra_files={"a": "1", "b": b"2"})
        self.assertEqual((model.bytecode_version, model.classes(), model.extra_files["a"], model.extra_files["b"]), (5, 5, b"1", b"2"))
        self.assertIn("aten::batch_norm", model.operators)
        nnapi = taper.optimize_for_mobile(SMALL, backend="NNAPI", inputs=(X,))
        self.assertTrue(close(nnapi(X), self.wanted))
        for kind, words, arguments in [(taper.Error, "nothing", {"backend": "nothing"}), (TypeError, "backend", {"backend": 3}), (ValueError, "no pass", {"optimization_blocklist": ["x"]}),
                                       (taper.Error, "nothing", {"preserved_methods": ["nothing"]}), (TypeError, "names", {"preserved_methods": [3]}),
                                       (taper.Error, "", {"bytecode": 3}), (TypeError, "extra_files", {"extra_files": {"a": 3}}), (TypeError, "keyword", {"x": 1}),
                                       (TypeError, "object", {"backend": "nnapi", "inputs": [object()]})]:
            with self.subTest(**{"words": words}), self.assertRaises(kind):
                taper.optimize_for_mobile(SMALL, **arguments)

    def test_save(self):
        model = taper.optimize_for_mobile(SMALL)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "small.ptl")
            model.save(path)
            self.assertTrue(close(taper.load(path)(X), self.wanted))
            self.assertEqual(os.listdir(folder), ["small.ptl"])
            model._save_for_lite_interpreter(pathlib.Path(path))
            with open(path, "rb") as file:
                self.assertEqual(file.read(), model.to_bytes())
            with self.assertRaises(OSError):
                model.save(os.path.join(folder, "no", "small.ptl"))
            taper.load(path).save(path + "2")
            self.assertTrue(close(taper.load(path + "2")(X), self.wanted))

    def test_convert(self):
        for arguments, version in [({"bytecode": 4}, 4), ({"bytecode": 7}, 7), ({"flatbuffer": True}, 9), ({}, 8)]:
            model = taper.convert(SMALL, **arguments)
            self.assertEqual(model.bytecode_version, version)
            self.assertTrue(close(model(X), self.wanted))

    def test_bundle(self):
        model = taper.bundle(SMALL, [X, (X + 1,)])
        inputs = model.bundled_inputs()
        self.assertEqual([len(sample) for sample in inputs], [1, 1])
        np.testing.assert_array_equal(inputs[1][0].numpy(), X + 1)
        self.assertEqual(len(model.profile(runs=1)) > 0, True)
        self.assertEqual(taper.load(SMALL).bundled_inputs(), [])
        self.assertEqual(len(taper.load(support.model_path("s17_bundled.ptl")).bundled_inputs()) > 0, True)
        with self.assertRaises(taper.Error):
            taper.bundle(SMALL, [(X, X)])

    def test_quantize(self):
        samples = [X + 0.1 * i for i in range(10)]
        for mode in ("core", "full"):
            made = taper.quantize(SMALL, iter(samples), mode=mode, per_channel=True)
            self.assertGreater(made.sqnr, 20)
            self.assertIn("conv", [layer.name for layer in made.layers])
            x = X if mode == "core" else taper.quantize_tensor(X, *made.inputs[0])
            y = made(x)
            y = y.dequantize() if mode == "full" else y
            self.assertLess(np.abs(y.numpy() - self.wanted.numpy()).max(), 0.1 * np.abs(self.wanted.numpy()).max())
            self.assertEqual(taper.load(made.to_bytes()).bytecode_version, 8)
        settings = json.loads(made.model.extra_files["taper.json"])
        self.assertEqual((settings["inputs"][0]["scale"], settings["inputs"][0]["zero_point"]), made.inputs[0])
        self.assertEqual(made.model.extra_files["note"], b"hello")
        dynamic = taper.quantize(SMALL, mode="dynamic")
        self.assertIn("quantized::linear_dynamic", dynamic.model.operators)
        self.assertIn("Quantized", repr(dynamic))
        with tempfile.TemporaryDirectory() as folder:
            dynamic.save(os.path.join(folder, "a.ptl"))
        for kind, arguments in [(ValueError, {}), (ValueError, {"samples": samples, "mode": "best"}), (ValueError, {"samples": samples, "observer": "best"}),
                                (taper.Error, {"samples": samples, "keep_float": ["nothing"]}), (taper.Error, {"samples": []}), (TypeError, {"samples": [object()]}),
                                (taper.Error, {"samples": [np.zeros((1, 2), np.float32)]}), (TypeError, {"samples": samples, "percentile": "x"})]:
            with self.subTest(arguments=str(arguments)[:80]), self.assertRaises(kind):
                taper.quantize(SMALL, **arguments)


class Samples(unittest.TestCase):
    """Runs the calls of tests/data/samples and compares with PyTorch's results."""

    def value(self, entry):
        kind = entry["t"]
        if kind == "tensor":
            return np.load(support.model_path(entry["npy"]))
        if kind in ("list", "tuple"):
            return (list if kind == "list" else tuple)(self.value(item) for item in entry["v"])
        if kind == "dict":
            pairs = entry["v"].items() if isinstance(entry["v"], dict) else entry["v"]
            return {key if isinstance(key, str) else self.value(key): self.value(item) for key, item in pairs}
        return entry["v"]

    def same(self, got, entry):
        if entry["t"] == "tensor":
            wanted = self.value(entry)
            self.assertEqual((got.dtype, list(got.shape), list(got.strides)), (entry["dtype"], entry["shape"], entry["strides"]))
            if wanted.dtype.kind == "f":
                self.assertLessEqual(np.abs(got.numpy() - wanted).max(initial=0), 1e-4 * np.abs(wanted).max(initial=0) + 1e-5)
            else:
                np.testing.assert_array_equal(got.numpy(), wanted)
        elif entry["t"] in ("list", "tuple"):
            self.assertIs(isinstance(got, list), entry["t"] == "list")
            self.assertEqual(len(got), len(entry["v"]))
            for item, part in zip(got, entry["v"]):
                self.same(item, part)
        elif entry["t"] == "dict":
            pairs = entry["v"].items() if isinstance(entry["v"], dict) else entry["v"]
            for key, item in pairs:
                self.same(got[key if isinstance(key, str) else self.value(key)], item)
        elif entry["t"] == "float":
            self.assertAlmostEqual(got, entry["v"], 5)
        else:
            self.assertEqual(got, entry["v"])

    def test_recorded(self):
        with open(support.model_path("manifest.json")) as file:
            manifest = json.load(file)
        calls = 0
        for sample in manifest:
            for name in sample["models"]:
                model = taper.load(support.model_path(name))
                for call in sample["calls"]:
                    if call["method"] not in model.methods:
                        continue
                    method, args = model.method(call["method"]), [self.value(argument) for argument in call["args"]]
                    calls += 1
                    with self.subTest(model=name, method=call["method"]):
                        if "raises" in call:
                            self.assertRaises(taper.Error, method, *args)
                        else:
                            self.same(method(*args), call["ret"])
        self.assertGreater(calls, 60)


if __name__ == "__main__":
    support.main()
