#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests the conversion of arrays and tensors: shared memory, every dtype, byte order and stride."""
import array
import ctypes
import gc
import mmap
import os
import subprocess
import sys
import unittest
import weakref

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np

import taper

MODEL = taper.load(support.model_path("values.pt"))
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", "bool"]


def address(x):
    return x.__array_interface__["data"][0]


class In(unittest.TestCase):
    def test_dtypes_without_copies(self):
        for name in DTYPES:
            x = np.array([[0, 1, 1], [1, 0, 1]], name)
            t = MODEL.alias(x)
            self.assertEqual((t.dtype, t.shape, t.strides, t.nbytes), (name, (2, 3), (3, 1), x.nbytes))
            self.assertEqual(address(t), x.ctypes.data)
            np.testing.assert_array_equal(t.numpy(), x)
            self.assertEqual(t.numpy().dtype, x.dtype)

    def test_bytes_in_the_other_order(self):
        for name in DTYPES:
            x = np.arange(6).reshape(2, 3).astype(name)
            t = MODEL.alias(x.astype(x.dtype.newbyteorder(">")))
            np.testing.assert_array_equal(t.numpy(), x)
            t = MODEL.alias(x.astype(x.dtype.newbyteorder("<")))
            np.testing.assert_array_equal(t.numpy(), x)

    def test_strides(self):
        x = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
        for view, shared in [(x[:, ::2], True), (x.transpose(3, 0, 2, 1), True), (x[..., ::-1], False), (x[::-1, ::-2], False),
                             (x[1:1], True), (x[:, :, :0], True), (x[0, 0, 0, 0:1][::-1], True), (x.reshape(-1)[3:7], True),
                             (np.asfortranarray(x), True), (np.broadcast_to(x[:1], (4, 3, 4, 5)), True),
                             (np.broadcast_to(np.float32(3), (1 << 20, 0, 1 << 10)), True)]:
            t = MODEL.alias(view)
            np.testing.assert_array_equal(t.numpy(), view)
            if view.size:
                self.assertEqual(address(t) == view.__array_interface__["data"][0], shared, view.strides)

    def test_strides_that_are_no_elements(self):
        record = np.zeros(5, np.dtype([("flag", np.uint8), ("value", "<f4")]))
        record["value"] = np.arange(5)
        np.testing.assert_array_equal(MODEL.alias(record["value"]).numpy(), np.arange(5))
        raw = bytearray(4 * 4 + 1)
        unaligned = np.frombuffer(raw, np.float32, 4, offset=1)
        unaligned[:] = [1, 2, 3, 4]
        np.testing.assert_array_equal(MODEL.alias(unaligned).numpy(), [1, 2, 3, 4])

    def test_who_sees_writes(self):
        x = np.zeros(3, np.float32)
        t = MODEL.add_one(x)
        self.assertEqual(x.tolist(), [1, 1, 1])  # the model writes to its input, which shares memory with x, as torch.from_numpy(x) does
        self.assertEqual(address(t), x.ctypes.data)
        x.setflags(write=False)
        t = MODEL.add_one(x)
        self.assertEqual((x.tolist(), t.tolist()), ([1, 1, 1], [2, 2, 2]))
        same = MODEL.alias(x)
        self.assertEqual((same.read_only, same.numpy().flags.writeable, address(same) == x.ctypes.data), (True, False, True))
        self.assertNotEqual(np.from_dlpack(same).ctypes.data, x.ctypes.data)
        self.assertEqual(MODEL.add_one(b"abc").tolist(), [98, 99, 100])
        negative = np.zeros(3, np.float32)[::-1]
        self.assertEqual((MODEL.add_one(negative).tolist(), negative.tolist()), ([1, 1, 1], [0, 0, 0]))  # negative strides: the model writes to a copy

    def test_other_buffers(self):
        self.assertEqual(MODEL.alias(array.array("f", [1, 2])).tolist(), [1, 2])
        self.assertEqual(MODEL.alias(array.array("l", [1, 2])).dtype, "int64" if ctypes.sizeof(ctypes.c_long) == 8 else "int32")
        self.assertEqual(MODEL.alias(bytearray(b"ab")).tolist(), [97, 98])
        self.assertEqual(MODEL.alias(memoryview(b"abcd").cast("B", (2, 2))).shape, (2, 2))
        self.assertEqual(MODEL.alias((ctypes.c_float * 3)(1, 2, 3)).tolist(), [1, 2, 3])
        self.assertEqual(MODEL.alias(((ctypes.c_int16 * 2) * 2)((1, 2), (3, 4))).tolist(), [[1, 2], [3, 4]])
        with mmap.mmap(-1, 8) as pages:
            self.assertEqual(MODEL.add_one(pages).shape, (8,))
            gc.collect()
        self.assertEqual(MODEL.alias(np.float32(3)).shape, ())
        self.assertEqual(MODEL.alias(memoryview(np.arange(6).reshape(2, 3))[::2]).tolist(), [[0, 1, 2]])

    def test_interface_alone(self):
        class Interface:
            def __init__(self, x):
                self.__array_interface__ = x.__array_interface__
                self.kept = x

        class Array:
            def __array__(self, dtype=None, copy=None):
                return np.arange(3)

        self.assertEqual(MODEL.alias(Interface(np.arange(3))).tolist(), [0, 1, 2])
        self.assertEqual(MODEL.alias(Array()).tolist(), [0, 1, 2])

    def test_refused(self):
        x = np.zeros(4)
        for kind, words, value in [
            (TypeError, "format \"H\"", np.zeros(2, np.uint16)), (TypeError, "format \"[Ll]\"|format \"Q\"", np.zeros(2, np.uint64)),
            (TypeError, "format \"g\"", np.zeros(2, np.longdouble)), (TypeError, "no such dtype", np.zeros(2, "S3")),
            (TypeError, "no such dtype", np.zeros(2, "U3")), (TypeError, "no such dtype", np.array([object()])),
            (TypeError, "no such dtype", np.zeros(2, [("a", "f4"), ("b", "f4")])), (ValueError, "17 dimensions", x.reshape((1,) * 16 + (4,))),
            (ValueError, "buffer", np.zeros(2, "M8[s]")),
        ]:
            with self.subTest(value=repr(value)), self.assertRaisesRegex(kind, words):
                MODEL.alias(value)

    def test_memory_is_held_as_long_as_it_is_used(self):
        x = np.zeros(5)
        seen = weakref.ref(x)
        t = MODEL.alias(x)
        count = sys.getrefcount(x)
        del x
        gc.collect()
        self.assertIsNotNone(seen())
        n = t.numpy()
        del t
        gc.collect()
        self.assertIsNotNone(seen())
        n[0] = 5
        self.assertEqual(seen()[0], 5)
        del n
        gc.collect()
        self.assertIsNone(seen())
        self.assertGreater(count, 2)

    def test_resizing_is_refused_while_memory_is_used(self):
        raw = bytearray(8)
        t = MODEL.alias(raw)
        with self.assertRaises(BufferError):
            raw.append(1)
        del t
        raw.append(1)

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("there is no package ml_dtypes here")
        t = MODEL.alias(np.array([1, 2.5], ml_dtypes.bfloat16))
        self.assertEqual((t.dtype, t.to("float32").tolist()), ("bfloat16", [1, 2.5]))


class Out(unittest.TestCase):
    def test_numpy_shares(self):
        t = MODEL(np.arange(6, dtype=np.float32).reshape(2, 3))
        n = t.numpy()
        n[0, 0] = 42
        self.assertEqual(memoryview(t)[0, 0], 42)
        self.assertEqual(np.asarray(t).ctypes.data, n.ctypes.data)
        self.assertEqual(np.array(t, copy=True).tolist()[0][0], 42)
        self.assertEqual(np.asarray(t, np.float64).dtype, np.float64)
        np.testing.assert_array_equal(np.from_dlpack(t), n)
        self.assertEqual(np.from_dlpack(t).ctypes.data, n.ctypes.data)

    def test_buffers(self):
        t = MODEL.strided(np.arange(12, dtype=np.float32).reshape(3, 4))
        view = memoryview(t)
        self.assertEqual((view.shape, view.strides, view.format, view.c_contiguous, view.f_contiguous), ((4, 2), (4, 16), "f", False, True))
        with self.assertRaisesRegex(TypeError, "not C contiguous"):
            (ctypes.c_char * 32).from_buffer(t)
        self.assertEqual(bytes(MODEL.alias(np.arange(3, dtype=np.int16))), b"\0\0\1\0\2\0")
        flat = (ctypes.c_float * 4).from_buffer(MODEL.alias(np.ones(4, np.float32)))
        self.assertEqual(list(flat), [1] * 4)

    def test_read_only(self):
        weight = MODEL.get_weight()
        self.assertTrue(weight.read_only)
        with self.assertRaises(ValueError):
            weight.numpy()[0, 0] = 1
        with self.assertRaisesRegex(TypeError, "not writable"):
            (ctypes.c_float * 6).from_buffer(weight)
        copy = np.from_dlpack(weight)  # NumPy gets a copy of the weight, to which the program may write
        self.assertNotEqual(address(weight), copy.ctypes.data)
        with self.assertRaisesRegex(BufferError, "read-only"):
            weight.__dlpack__(copy=False)
        self.assertEqual(weight.tolist(), [[0, 1, 2], [3, 4, 5]])

    def test_dtypes_that_numpy_lacks(self):
        t = MODEL.bfloat(np.array([1, 2.5, -0.0], np.float32))
        self.assertEqual((t.dtype, t.shape, t.nbytes), ("bfloat16", (3,), 6))
        self.assertEqual(t.to("float32").tolist(), [1, 2.5, 0])
        self.assertIs(hasattr(t, "__array_interface__"), False)
        for call in (t.numpy, t.tolist, lambda: np.asarray(t)):
            with self.assertRaisesRegex(TypeError, "to\\(\"float32\"\\)"):
                call()
        with self.assertRaises(BufferError):
            memoryview(t)
        self.assertEqual(MODEL.halves(np.ones(2, np.float32)).numpy().dtype, np.float16)

    def test_quantized(self):
        t = MODEL.integers(np.array([0, 1, 100], np.float32))
        self.assertEqual((t.dtype, t.is_quantized, t.scale, t.zero_point), ("quint8", True, 0.5, 3))
        self.assertEqual(t.tolist(), [3, 5, 203])
        self.assertEqual(t.dequantize().tolist(), [0, 1, 100])
        with self.assertRaisesRegex(BufferError, "quint8"):
            t.__dlpack__()
        again = MODEL.alias(t)
        self.assertEqual((again.scale, again.tolist()), (0.5, [3, 5, 203]))
        made = taper.quantize_tensor(np.array([0.5, 1.0], np.float32), 0.5, 10)
        self.assertEqual((made.dtype, made.tolist()), ("quint8", [11, 12]))
        with self.assertRaises(ValueError):
            taper.quantize_tensor(np.zeros(1, np.float32), 0.5, 0, "quint9")
        with self.assertRaises(taper.Error):
            taper.quantize_tensor(np.zeros(1, np.float32), 0.5, 0, "float32")

    def test_conversions(self):
        t = taper.tensor(np.array([1.5]))
        self.assertEqual((float(t), int(t), bool(t), t.item(), len(t)), (1.5, 1, True, 1.5, 1))
        self.assertEqual(repr(t), "<taper.Tensor float64 [1]>")
        grid = taper.tensor(np.arange(6).reshape(2, 3))
        self.assertEqual((grid[1, 2], grid[0].tolist(), grid[:, 1:].tolist()), (5, [0, 1, 2], [[1, 2], [4, 5]]))
        grid[1][0] = 7
        self.assertEqual(grid.tolist(), [[0, 1, 2], [7, 4, 5]])
        self.assertEqual((np.array([grid, grid]).shape, np.stack([grid, grid]).shape, np.concatenate([grid, grid]).shape), ((2, 2, 3), (2, 2, 3), (4, 3)))
        self.assertEqual([row.tolist() for row in grid], grid.tolist())
        self.assertEqual(np.asarray(grid).ctypes.data, address(grid))
        with self.assertRaises(IndexError):
            grid[2]
        self.assertEqual(taper.tensor(np.array([1.7]), "int64").tolist(), [1])
        self.assertEqual(t.to("float64").dtype, "float64")
        for kind, call in [(TypeError, lambda: len(taper.tensor(np.array(1)))), (ValueError, lambda: t.to("float33")), (TypeError, lambda: t.to(3)),
                           (ValueError, lambda: float(taper.tensor(np.zeros(2)))), (TypeError, lambda: taper.Tensor()),
                           (TypeError, lambda: taper.tensor(object())), (taper.Error, lambda: t.to("quint8"))]:
            with self.assertRaises(kind):
                call()

    def test_dlpack_arguments(self):
        t = taper.tensor(np.arange(3))
        self.assertEqual(t.__dlpack_device__(), (1, 0))
        self.assertIn("dltensor_versioned", repr(t.__dlpack__(max_version=(1, 0))))
        self.assertIn("\"dltensor\"", repr(t.__dlpack__()))
        self.assertIn("\"dltensor\"", repr(t.__dlpack__(max_version=(0, 8), dl_device=(1, 0), stream=None)))
        for kind, arguments in [(BufferError, {"dl_device": (2, 0)}), (BufferError, {"stream": 1}), (TypeError, {"max_version": 3}), (TypeError, {"other": 3})]:
            with self.assertRaises(kind):
                t.__dlpack__(**arguments)

    def test_str(self):
        rng = np.random.default_rng(0)
        for array in [
            np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([0.1, 2.5, -3]), np.array([1e10, 1, 2.5]), np.array([0.001, 100.5]), np.array(3.5),
            np.array(7), np.array([True, False]), np.arange(24).reshape(2, 3, 4), np.array([np.nan, 1, np.inf, -np.inf]), rng.standard_normal((2, 3)),
            rng.standard_normal((2, 3)).astype(np.float32), np.arange(2000), np.arange(20000.).reshape(100, 200), np.array([1 + 2j, 3.5 - 1j]),
            np.float16([0.1, 0.5]), rng.standard_normal((5, 40)), rng.standard_normal((3, 4, 5, 60)), np.arange(12.0).reshape(3, 4).T,
            np.array([-128, 127], np.int8), np.arange(300, dtype=np.uint8), np.float32([3.4028235e38, 1]), np.array([-0.0, 0.5]),
        ]:
            t = taper.tensor(array)
            numbers, about = str(t).rsplit("\n", 1)
            self.assertEqual(numbers, str(array))
            self.assertEqual(about, repr(t))
            self.assertEqual(f"{t}", str(t))
        self.assertEqual(str(taper.tensor(np.zeros((3, 0)))), "[]\n<taper.Tensor float64 [3, 0]>")
        self.assertEqual(str(taper.tensor(np.float32([0.1, 2, -3])).to("bfloat16")), "[ 0.1  2.  -3. ]\n<taper.Tensor bfloat16 [3]>")
        self.assertTrue(str(taper.quantize_tensor(np.float32([0.5, -1]), 0.5, 128)).startswith("[ 0.5 -1. ]\n"))
        self.assertLess(len(str(taper.tensor(np.zeros((2,) * 16)))), 100)  # with 16 dimensions there are too many corners to print

    def test_str_without_numpy(self):
        # The code runs in its own process, in which the import of NumPy fails.
        code = ("import sys; sys.modules['numpy'] = None; import array, taper; "
                "print(taper.tensor(array.array('f', [0.5, 2])), taper.tensor(memoryview(bytes(6)).cast('B', (2, 3))))")
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(taper.__file__))},
                              capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr),
                         ("[0.5 2. ]\n<taper.Tensor float32 [2]> [[0 0 0]\n [0 0 0]]\n<taper.Tensor uint8 [2, 3]>\n", ""))

    def test_capsules_are_used_once(self):
        capsule = taper.tensor(np.arange(3)).__dlpack__()

        class Holder:
            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self, **unused):
                return capsule

        self.assertEqual(MODEL.alias(Holder()).tolist(), [0, 1, 2])
        with self.assertRaises(ValueError):
            MODEL.alias(Holder())

    def test_dlpack_of_others(self):
        class Holder:
            def __init__(self, device, answer):
                self.device, self.answer = device, answer

            def __dlpack_device__(self):
                return self.device

            def __dlpack__(self):  # DLPack before it had versions
                return self.answer

        fine = taper.tensor(np.arange(3)).__dlpack__()
        self.assertEqual(MODEL.alias(Holder((1, 0), fine)).tolist(), [0, 1, 2])
        for kind, device, answer in [(ValueError, (2, 0), None), (ValueError, (1, 0), 3), (ValueError, (1, 0), None)]:
            with self.assertRaises(kind):
                MODEL.alias(Holder(device, answer))
        for device in (3, (), ("a", 0), None):
            with self.assertRaises((TypeError, ValueError)):
                MODEL.alias(Holder(device, fine))


class Plain(ctypes.Structure):
    """Returns DLPack's tensor in a capsule of the form that older packages make."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("sizes", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64), ("user", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Capsules(unittest.TestCase):
    def give(self, name=b"dltensor", sizes=(2, 3), strides=None, **fields):
        numbers = np.arange(20, dtype=np.float32)
        keep = [(ctypes.c_int64 * max(len(sizes), 1))(*sizes), (ctypes.c_int64 * len(strides))(*strides) if strides else None, numbers]
        tensor = Plain(numbers.ctypes.data, 1, 0, len(sizes), 2, 32, 1, keep[0], keep[1], 0, None, None)
        for field, value in fields.items():
            setattr(tensor, field, value)
        keep.append(tensor)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        keep.append(name)
        capsule = make(ctypes.addressof(tensor), name, None)

        class Holder:
            kept = keep

            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self):
                return capsule

        return Holder()

    def test_plain(self):
        for arguments, wanted in [({}, [[0, 1, 2], [3, 4, 5]]), ({"offset": 8}, [[2, 3, 4], [5, 6, 7]]), ({"strides": (1, 2)}, [[0, 2, 4], [1, 3, 5]]),
                                  ({"strides": (-3, 1), "offset": 12}, [[3, 4, 5], [0, 1, 2]]), ({"sizes": ()}, 0), ({"sizes": (0, 3), "data": None}, []),
                                  ({"offset": 2, "bits": 16, "code": 0}, [[0, 0, 16256], [0, 16384, 0]])]:
            holder = self.give(**arguments)
            self.assertEqual(MODEL.alias(holder).tolist(), wanted, arguments)
            gc.collect()

    def test_hostile(self):
        for kind, arguments in [(ValueError, {"rank": -1}), (ValueError, {"rank": 99}), (ValueError, {"sizes": (-1, 3)}), (ValueError, {"sizes": (2 ** 62, 2 ** 62)}),
                                (ValueError, {"sizes": (2, 2), "strides": (2 ** 62, 1)}), (ValueError, {"data": None}), (TypeError, {"code": 77}), (TypeError, {"bits": 7}),
                                (TypeError, {"lanes": 4}), (TypeError, {"bits": 128, "code": 2}), (ValueError, {"name": b"something"}), (TypeError, {"code": 1, "bits": 16})]:
            with self.subTest(**arguments), self.assertRaises(kind):
                MODEL.alias(self.give(**arguments))


class Contexts(unittest.TestCase):
    def test_tensors_of_other_contexts(self):
        other = taper.load(support.model_path("values.pt"), threads=1)
        t = MODEL(np.ones(3, np.float32))
        u = other.add_one(t)
        self.assertEqual((u.tolist(), t.tolist()), ([3] * 3, [3] * 3))
        self.assertEqual(address(u), address(t))
        del t
        gc.collect()
        self.assertEqual(u.tolist(), [3] * 3)
        q = MODEL.integers(np.ones(1, np.float32))
        with self.assertRaisesRegex(ValueError, "same context"):
            other.alias(q)

    def test_settings(self):
        context = taper.Context(threads=2)
        self.assertEqual(context.threads, 2)
        a, b = taper.load(support.model_path("values.pt"), context=context), taper.load(support.model_path("small.pt"), context=context)
        self.assertIs(a.context, context)
        self.assertIs(b.context, context)
        self.assertIs(MODEL.context, taper.default_context())
        self.assertEqual(MODEL.device, "cpu")
        self.assertEqual(taper.Context(cpu="scalar").cpu, ["scalar"])
        context.trim()
        for kind, arguments in [(ValueError, {"threads": 0}), (ValueError, {"threads": 10 ** 6}), (TypeError, {"threads": "2"}), (ValueError, {"cpu": "mmx"}),
                                (TypeError, {"cpu": 3}), (TypeError, {"cache_dir": 3}), (TypeError, {"thread": 3})]:
            with self.subTest(**arguments), self.assertRaises(kind):
                taper.Context(**arguments)


if __name__ == "__main__":
    support.main()
