#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""torch_test.py [--torch2]: tests the Python module together with PyTorch. The tests pass tensors in both directions by DLPack, load modules from
memory, call functions as with torch.jit, and compare optimize_for_mobile with PyTorch's. With --torch2 the tests run in the Python that
TAPER_TORCH2 names, with PyTorch 2.8 or newer."""
import gc
import io
import os
import sys
import time
import unittest
import warnings
from typing import Dict, List, Optional, Tuple

if sys.argv[-1] == "--torch2":
    if "TAPER_TORCH2" not in os.environ:
        print("skipped: TAPER_TORCH2 does not name a python with PyTorch 2.8 or newer")
        sys.exit(77)
    os.execv(os.environ["TAPER_TORCH2"], [os.environ["TAPER_TORCH2"], *sys.argv[:-1]])
warnings.simplefilter("ignore")  # PyTorch 2 warns about torch.jit

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np
import torch
import torch.jit.mobile
import torch.utils.bundled_inputs
from torch.utils import mobile_optimizer

import taper

VALUES = support.model_path("values.pt")
MODEL = taper.load(VALUES)
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
          torch.complex64, torch.complex128, torch.bool]


def close(a, b):
    a = torch.from_dlpack(a)
    if a.dtype.is_floating_point:
        return a.dtype == b.dtype and (a.double() - b.double()).abs().max() <= 1e-4 * b.double().abs().max() + 1e-5
    return a.dtype == b.dtype and torch.equal(a, b)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.drop = torch.nn.Dropout(0.5)
        self.last = torch.nn.Linear(8, 5)

    def forward(self, x, mask: Optional[torch.Tensor] = None, scale: float = 1.0):
        y = torch.relu(self.norm(self.conv(x)))
        if mask is not None:
            y = y * mask
        return self.last(self.drop(y).mean([2, 3])) * scale

    @torch.jit.export
    def features(self, xs: List[torch.Tensor], names: Dict[str, int]) -> Tuple[torch.Tensor, Dict[str, int]]:
        return torch.stack(xs).sum(0), names


class Bundled(Net):  # a class of its own, because PyTorch adds the methods of bundled inputs to all modules of a class
    pass


def net(kind=Net):
    torch.manual_seed(1)
    module = kind()
    for _ in range(3):
        module(torch.randn(4, 3, 8, 8))
    return module


class Tensors(unittest.TestCase):
    def test_in(self):
        for dtype in DTYPES:
            for x in (torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype), torch.zeros(3, 0, 2, dtype=dtype), torch.ones((), dtype=dtype),
                      torch.ones(2, 3, 4, 5, dtype=dtype).permute(3, 0, 2, 1), torch.ones(2, 3, 4, 5, dtype=dtype).to(memory_format=torch.channels_last),
                      torch.ones(4, 1, dtype=dtype).expand(4, 7), torch.ones(9, dtype=dtype)[1::3]):
                t = MODEL.alias(x)
                self.assertEqual(("torch." + t.dtype, tuple(t.shape), t.ndim), (str(dtype), tuple(x.shape), x.dim()))
                if x.numel() and 1 not in x.shape:
                    self.assertEqual(tuple(t.strides), x.stride())
                if dtype is not torch.bfloat16:
                    np.testing.assert_array_equal(t.numpy(), x.numpy())
                    if x.numel():
                        self.assertEqual(t.__array_interface__["data"][0], x.data_ptr())

    def test_out(self):
        for dtype in DTYPES:
            x = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
            t = MODEL.alias(x)
            if dtype is torch.bool and torch.__version__ < "2":  # PyTorch 1.13 accepts no bools by DLPack
                back = torch.from_numpy(t.numpy())
            else:
                back = torch.from_dlpack(t)
            self.assertTrue(torch.equal(back, x))
            self.assertEqual(back.data_ptr(), x.data_ptr())
            del t, x
            gc.collect()
            self.assertEqual(back.dtype, dtype)
            self.assertEqual(int(back.sum().real), 4)

    def test_bools_cost_no_more(self):
        """PyTorch 1.13 takes half a millisecond to refuse bools by DLPack, so only the first call tries."""
        def time_of(x):
            times = []
            for _ in range(60):
                begin = time.perf_counter()
                MODEL.alias(x)
                times.append(time.perf_counter() - begin)
            return sorted(times)[len(times) // 2]
        self.assertLess(time_of(torch.zeros(2, 3, dtype=torch.bool)), 20 * time_of(torch.zeros(2, 3)) + 2e-5)
        for x in (torch.zeros(2, dtype=torch.bool), torch.ones(2), torch.ones(2, dtype=torch.bool), np.ones(2, bool)):
            self.assertEqual(MODEL.alias(x).tolist(), x.tolist())

    def test_writes(self):
        x = torch.zeros(3)
        t = torch.from_dlpack(MODEL.add_one(x))
        self.assertEqual(x.tolist(), [1, 1, 1])
        t += 1
        self.assertEqual(x.tolist(), [2, 2, 2])
        weight = torch.from_dlpack(MODEL.get_weight())
        weight += 1  # PyTorch gets a copy, because the file's pages cannot be written to
        self.assertEqual(MODEL.get_weight().tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_refused(self):
        for kind, x in [(Exception, torch.zeros(2, requires_grad=True)), (ValueError, torch.zeros(2, device="meta")),
                        (Exception, torch.zeros(2).to_sparse()), (Exception, torch.quantize_per_tensor(torch.zeros(2), 1.0, 0, torch.quint8))]:
            with self.assertRaises(kind) as caught:
                MODEL.alias(x)
            self.assertNotIsInstance(caught.exception, SystemError)
            self.assertTrue(str(caught.exception))

    def test_numbers_of_torch(self):
        self.assertEqual(MODEL.number(torch.tensor(3), torch.tensor(2.5), torch.tensor(True), torch.tensor(1j), "")[:3], (3, 2.5, True))

    def test_memory(self):
        x = torch.zeros(1000)
        before = sys.getrefcount(x)
        for _ in range(1000):
            torch.from_dlpack(MODEL.alias(x))
        self.assertLessEqual(sys.getrefcount(x), before + 1)  # at most one more, because PyTorch 2 holds one reference


class Calls(unittest.TestCase):
    def test_as_torch(self):
        oracle = torch.jit.load(VALUES)
        x = torch.arange(12.0).reshape(3, 4)
        for name, args, keywords in [
            ("forward", (x,), {}), ("forward", (x, 3), {}), ("forward", (x,), {"shift": 3}), ("forward", (), {"x": x, "scale": 4.0}), ("strided", (x,), {}),
            ("halves", (x,), {}), ("bfloat", (x,), {}), ("get_weight", (), {}), ("alias", (x.t(),), {}), ("tensors", ([x, x],), {}),
        ]:
            wanted = getattr(oracle, name)(*args, **keywords)
            got = getattr(MODEL, name)(*args, **keywords)
            self.assertTrue(close(got, wanted), name)
            self.assertEqual(got.strides, wanted.stride(), name)
        for name, args in [("number", (1, 2.0, True, 1j, "a")), ("ints", ([1, 2],)), ("floats", ([1.0, 2.0],)), ("numbered", ({1: [2.0]},)), ("union", ("a",)),
                           ("optional", (None,)), ("spin", (100,)), ("step", ()), ("step", ()), ("anything", ({"a": [1]},)), ("wide", (4,))]:
            self.assertEqual(getattr(MODEL.clone() if name != "step" else MODEL, name)(*args), getattr(oracle, name)(*args), name)
        quantized, wanted = MODEL.integers(x), oracle.integers(x)
        self.assertEqual((quantized.tolist(), quantized.scale, quantized.zero_point), (wanted.int_repr().tolist(), wanted.q_scale(), wanted.q_zero_point()))

    def test_modules_from_memory(self):
        x, mask = torch.randn(2, 3, 8, 8), torch.rand(8, 8)
        for module in (torch.jit.script(net().eval()), torch.jit.script(net().eval()), torch.jit.freeze(torch.jit.script(net().eval()))):
            model = taper.load(module)
            self.assertTrue(close(model(x), module(x)))
            self.assertTrue(close(model(x, scale=2.0, mask=mask), module(x, scale=2.0, mask=mask)))
        traced = torch.jit.trace(net().eval(), x)
        self.assertTrue(close(taper.load(traced)(x), traced(x)))
        with self.assertRaisesRegex(TypeError, "torch.jit.script"):
            taper.load(net())
        training = torch.jit.script(net())
        self.assertTrue(taper.load(training).training)
        self.assertTrue(close(taper.load(training, evaluation=True)(x), training.eval()(x)))

    @unittest.skipUnless(hasattr(torch, "export"), "this PyTorch exports no programs")
    def test_exported_programs(self):
        x, module = torch.randn(2, 3, 8, 8), net().eval()
        program = torch.export.export(module, (x,))
        model = taper.load(program)
        self.assertEqual(model.exported_by.split("+")[0], torch.__version__.split("+")[0])
        self.assertTrue(close(model(x), module(x)))
        self.assertTrue(close(taper.optimize_for_mobile(program)(x), module(x)))
        with self.assertRaises(taper.Error):
            model(torch.randn(3, 3, 8, 8))
        self.assertTrue(close(taper.load(program, guards=False)(torch.ones(3, 3, 8, 8)), module(torch.ones(3, 3, 8, 8))))

    @unittest.skipUnless(torch._C._is_xnnpack_enabled(), "this PyTorch is built without XNNPACK")
    def test_optimize_for_mobile(self):
        x = torch.randn(2, 3, 8, 8)
        script = torch.jit.script(net().eval())
        for arguments in ({}, {"preserved_methods": ["features"]}, {"optimization_blocklist": {mobile_optimizer.MobileOptimizerType.CONV_BN_FUSION}},
                          {"optimization_blocklist": {mobile_optimizer.MobileOptimizerType.INSERT_FOLD_PREPACK_OPS}}):
            theirs = mobile_optimizer.optimize_for_mobile(script, **arguments)
            ours = taper.optimize_for_mobile(script, **arguments)
            self.assertTrue(close(ours(x), script(x)), arguments)
            again = torch.jit.load(io.BytesIO(ours.to_bytes())) if ours.bytecode_version == 0 else \
                torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(ours.to_bytes()))
            self.assertTrue((again(x) - theirs(x)).abs().max() < 1e-5)
            lite = taper.load(theirs._save_to_buffer_for_lite_interpreter())
            self.assertEqual("prepacked::conv2d_clamp_run" in ours.operators, "prepacked::conv2d_clamp_run" in lite.operators, arguments)
            self.assertEqual("aten::batch_norm" in ours.operators, "aten::batch_norm" in lite.operators, arguments)
            self.assertEqual(set(ours.methods), {"forward", *arguments.get("preserved_methods", [])})

    def test_quantize(self):
        torch.backends.quantized.engine = "qnnpack"
        script = torch.jit.script(net().eval())
        samples = [torch.randn(1, 3, 8, 8) for _ in range(8)]
        made = taper.quantize(script, samples)
        theirs = torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(made.to_bytes()))
        for x in samples:
            self.assertTrue(close(made(x), theirs(x)))
            self.assertLess((torch.from_dlpack(made(x)) - script(x)).abs().max(), 0.1)

    def test_bundled_inputs(self):
        script = torch.jit.script(net(Bundled).eval())
        x = torch.randn(2, 3, 8, 8)
        large = torch.utils.bundled_inputs.bundle_large_tensor
        torch.utils.bundled_inputs.augment_model_with_bundled_inputs(script, [(large(x), None, 1.0), (large(x + 1), None, 1.0)])
        bundled = taper.load(script).bundled_inputs()
        self.assertEqual(len(bundled), 2)
        self.assertTrue(close(bundled[1][0], x + 1))
        ours = torch.jit.mobile._load_for_lite_interpreter(io.BytesIO(taper.bundle(torch.jit.script(net().eval()), [x]).to_bytes()))
        self.assertTrue(torch.equal(ours.run_method("get_all_bundled_inputs")[0][0], x))


if __name__ == "__main__":
    support.main()
