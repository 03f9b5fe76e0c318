#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Converts values of every kind to Taper and back. Each error must be one clear exception."""
import decimal
import unittest
import warnings

import support  # imported before NumPy, because support reports a missing NumPy

import numpy as np

import taper

MODEL = taper.load(support.model_path("values.pt"))


class Values(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(MODEL.number(1, 2.5, True, 3 + 4j, "x\0é"), (1, 2.5, True, 3 + 4j, "x\0é"))
        self.assertEqual(MODEL.number(-2 ** 63, 2, False, 1j, ""), (-2 ** 63, 2.0, False, 1j, ""))
        self.assertIs(type(MODEL.number(1, 2, True, 1j, "")[1]), float)
        self.assertEqual(MODEL.number(np.int32(7), np.float32(0.5), np.bool_(True), np.complex64(2j), "")[:4], (7, 0.5, True, 2j))
        self.assertEqual(MODEL.number(np.array(7), np.array(0.5), np.array(False), np.array(1j), "")[:3], (7, 0.5, False))
        self.assertEqual(MODEL.anything(None), None)
        self.assertIs(MODEL.anything(True), True)
        self.assertIs(MODEL.optional(None), 0)
        self.assertTrue(np.isnan(MODEL.floats([float("nan")])))

    def test_containers(self):
        self.assertEqual(MODEL.ints([]), [0])
        self.assertEqual(MODEL.ints((1, 2)), [1, 2, 2])
        self.assertEqual(MODEL.floats([1, 2.5]), 3.5)
        self.assertEqual(MODEL.floats([]), 0)
        self.assertEqual(MODEL.tensors([np.ones(2), np.ones(2)]).tolist(), [2, 2])
        self.assertEqual(MODEL.table({"a": np.ones(2), "b": np.ones(2)})["sum"].tolist(), [2, 2])
        self.assertEqual(MODEL.numbered({5: [1, 2]}), {5: [1.0, 2.0], 1: [0.5]})
        self.assertEqual(MODEL.numbered({}), {0: [0.5]})
        self.assertEqual(MODEL.anything([1, [2]][1:]), [[2]])
        self.assertEqual(MODEL.anything(("a", (1, None), {"k": [1.5]})), ("a", (1, None), {"k": [1.5]}))
        self.assertEqual(MODEL.anything([]), [])
        self.assertEqual(MODEL.anything({}), {})
        self.assertEqual(MODEL.anything(()), ())
        x, n = MODEL.pair((np.ones(2), 3))
        self.assertEqual((x.tolist(), n), ([4, 4], 3))
        self.assertEqual(MODEL.pair([np.ones(2), 3])[1], 3)
        self.assertEqual([t.tolist() for t in MODEL.many(3)], [[0, 0], [1, 1], [2, 2]])

    def test_types_within_types(self):
        model = taper.load(support.model_path("nested.pt"))
        self.assertEqual(model.ints([[1, 2], []]), [[1, 2], [], [2]])
        self.assertEqual(model.floats([[1, 2], []]), [[1.0, 2.0], [], [0.5]])
        self.assertEqual(model.optionals([None, 3]), [-1, 3])
        self.assertEqual(model.masks([None, np.zeros(3)]), [-1, 3])
        self.assertEqual(model.maybe_inner([None, [1], []]), [-1, 1, 0])
        self.assertEqual(model.numbered({5: {"a": [1], "b": []}, 6: {}}), {5: {"a": [1], "b": []}, 6: {}, 2: {"new": [7]}})
        self.assertEqual(model.mixed([{"a": ([1, None, 2.5], 3)}, {}]), 10.5)
        self.assertEqual([tuple(point) for point in model.points([(1, "a"), [2, "b"]])], [(2, "a!"), (3, "b!")])
        self.assertEqual(model.points([]), [])
        self.assertEqual(model.complexes([1j, 2, 3.5]), [2j, 4, 7])
        self.assertEqual([model.either(x) for x in (1, ["a"], {"a": [1]})], ["int", "list", "dict"])
        for wrong in ([(1, 2)], [(1,)], [(1, "a", 3)], [1]):
            with self.assertRaisesRegex((taper.Error, ValueError), "Point"):
                model.points(wrong)

    def test_ints_have_64_bits(self):
        model = taper.load(support.model_path("nested.pt"))
        self.assertEqual(model.ints([[-2 ** 63, 2 ** 63 - 1]])[0], [-2 ** 63, 2 ** 63 - 1])
        for call in (lambda: model.ints([[2 ** 63]]), lambda: model.optionals([-2 ** 63 - 1]), lambda: model.numbered({2 ** 64: {}}),
                     lambda: taper.tensor([2 ** 63]), lambda: model.seed(2 ** 64), lambda: model.seed(-2 ** 63 - 1)):
            self.assertRaisesRegex(OverflowError, "64 bits", call)
        model.seed(2 ** 64 - 1)
        model.seed(-2 ** 63)

    def test_deep(self):
        value = 1
        for _ in range(60):
            value = [value]
        self.assertEqual(MODEL.anything(value), value)
        self.assertEqual(str(MODEL.deep(400)).count("["), 401)

    def test_named_tuple(self):
        point = MODEL.point((np.zeros(1), "a"))
        self.assertEqual((point.x.tolist(), point.name), ([1], "a!"))
        self.assertEqual(type(point).__name__, "Point")
        self.assertIs(type(MODEL.point(point)), type(point))
        self.assertEqual(MODEL.point(point).name, "a!!")

    def test_objects(self):
        counter = MODEL.counter(3)
        self.assertIn("Counter", counter.type)
        self.assertIn("Counter", repr(counter))
        self.assertEqual([MODEL.add_to(counter, 2), MODEL.add_to(counter, 2)], [5, 7])
        self.assertEqual(MODEL.add_to(MODEL.anything([counter])[0], 1), 8)
        layer = taper.load(support.model_path("small.pt")).attribute("conv")
        self.assertIn("weight", layer.fields)
        self.assertEqual((layer.weight.shape, layer.training), ((8, 3, 3, 3), False))
        for kind, call in [(AttributeError, lambda: counter.nothing), (taper.Error, lambda: MODEL(counter)), (TypeError, lambda: taper.Object()),
                           (ValueError, lambda: taper.load(support.model_path("values.pt"), threads=1).add_to(counter, 1))]:
            with self.assertRaises(kind):
                call()

    def test_union(self):
        self.assertEqual([MODEL.union(1), MODEL.union("1"), MODEL.union([1]), MODEL.union([])], ["int", "str", "list", "list"])

    def test_keywords(self):
        x = np.ones(2, np.float32)
        self.assertEqual(MODEL(x).tolist(), [2, 2])
        self.assertEqual(MODEL(x, 3.0, 4).tolist(), [7, 7])
        self.assertEqual(MODEL(x, shift=4).tolist(), [6, 6])  # an omitted argument gets its default
        self.assertEqual(MODEL(scale=3, x=x).tolist(), [3, 3])
        self.assertEqual(MODEL.method("forward")(shift=1, x=x).tolist(), [3, 3])
        for words, call in [
            ("no argument 'y'", lambda: MODEL(x, y=1)), ("two values", lambda: MODEL(x, x=x)), ("'x' is missing", lambda: MODEL(scale=2.0)),
        ]:
            with self.assertRaisesRegex(TypeError, words):
                call()

    def test_wrong(self):
        x = np.ones(2, np.float32)
        loop = []
        loop.append(loop)
        shared = 1
        for _ in range(60):
            shared = (shared, shared)
        cases = [
            (taper.Error, "should be Tensor, got str", lambda: MODEL("x")),
            (taper.Error, "should be Tensor, got int", lambda: MODEL(3)),
            (taper.Error, "takes 1 to 3 inputs", lambda: MODEL()),
            (taper.Error, "takes 1 to 3 inputs", lambda: MODEL(x, 1.0, 2, 3)),
            (taper.Error, "takes 1 to 3 inputs", lambda: MODEL(x, 1.0, 2, *range(40))),
            (TypeError, "takes int here, this is str", lambda: MODEL.number("a", 1.0, True, 1j, "")),
            (taper.Error, "should be int, got float", lambda: MODEL.number(1.5, 1.0, True, 1j, "")),
            (TypeError, "takes bool here, this is list", lambda: MODEL.number(1, 1.0, [], 1j, "")),
            (OverflowError, "64 bits", lambda: MODEL.ints([2 ** 63])),
            (OverflowError, "64 bits", lambda: MODEL.anything(-2 ** 63 - 1)),
            (OverflowError, "too large", lambda: MODEL.floats([10 ** 400])),
            (UnicodeEncodeError, "surrogates", lambda: MODEL.anything("\ud800")),
            (TypeError, "object cannot be given to a model", lambda: MODEL.anything(object())),
            (TypeError, "set cannot be given", lambda: MODEL.anything({1})),
            (TypeError, "Decimal cannot be given", lambda: MODEL.anything(decimal.Decimal(1))),
            (TypeError, "function cannot be given", lambda: MODEL.anything(lambda: 1)),
            (RecursionError, "nested more than 64", lambda: MODEL.anything(loop)),
            (MemoryError, "the input holds too many items", lambda: MODEL.anything(shared)),
            (MemoryError, "the input holds too many items", lambda: MODEL.anything([{"a": shared}])),
            (RecursionError, "nested more than 500", lambda: MODEL.deep(600)),
            (RecursionError, "nested more than 500", lambda: MODEL.itself()),
            (ValueError, "a tuple of 2 here, this has 3", lambda: MODEL.pair((x, 1, 2))),
            (TypeError, "takes int here, this is str", lambda: MODEL.ints([1, "a"])),
            (taper.Error, "item 1 should be int, got float", lambda: MODEL.ints([1, 1.5])),
            (taper.Error, "should be Union", lambda: MODEL.union(1.5)),
            (taper.Error, "Dict", lambda: MODEL.table([x])),
            (AttributeError, "no method 'nothing'", lambda: MODEL.method("nothing")),
            (AttributeError, "nothing", lambda: MODEL.nothing),
            (TypeError, "a str", lambda: MODEL.method(3)),
            (TypeError, "a str", lambda: MODEL.attribute(None)),
            (taper.Error, "no attribute", lambda: MODEL.attribute("nothing.here")),
            (MemoryError, "too many items", lambda: MODEL.wide(60)),
        ]
        for kind, words, call in cases:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                call()

    def test_list_that_changes(self):
        items = []

        class Sly:
            shape = ()
            dtype = None

            def item(self):
                items.clear()
                return 3

        items.extend([Sly(), 1, 2])
        self.assertEqual(MODEL.ints(items), [3, 1, 2, 3])

    def test_exceptions_pass(self):
        class Bad:
            def __dlpack_device__(self):
                raise KeyError("mine")

            def __dlpack__(self):
                raise AssertionError

        with self.assertRaisesRegex(KeyError, "mine"):
            MODEL.alias(Bad())

        class Interrupted(Bad):
            def __dlpack_device__(self):
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            MODEL.alias(Interrupted())

    def test_raised(self):
        with self.assertRaisesRegex(taper.Error, "^boo") as caught:
            MODEL.fail("boo")
        error = caught.exception
        self.assertIs(error.status, taper.Status.RAISED)
        self.assertIn("builtins.ValueError", error.detail)
        self.assertIsNone(error.offset)
        self.assertEqual(MODEL.ints([]), [0])  # the model can be called again

    def test_pickled_error(self):
        import pickle
        with self.assertRaises(taper.Error) as caught:
            taper.load(b"nothing")
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((str(again), again.status), (str(caught.exception), taper.Status.FILE))

    def test_own_errors_are_python_s_too(self):
        x = np.ones(2, np.float32)
        cases = [
            (ValueError, lambda: MODEL("x")), (ValueError, lambda: MODEL()), (ValueError, lambda: MODEL.number(1.5, 1.0, True, 1j, "")),
            (ValueError, lambda: MODEL.attribute("nothing.here")), (ValueError, lambda: MODEL.pair((x, 1, 2))),
            (ValueError, lambda: taper.tensor(x).to("float33")), (ValueError, lambda: taper.Context(threads=0)), (ValueError, lambda: taper.Context(cpu="mmx")),
            (TypeError, lambda: MODEL(x, y=1)), (TypeError, lambda: MODEL(x, x=x)), (TypeError, lambda: MODEL.anything(object())),
            (TypeError, lambda: MODEL.method(3)), (TypeError, lambda: MODEL.seed("1")), (TypeError, lambda: taper.tensor(x).to(3)),
            (TypeError, lambda: taper.Context(threads="2")), (TypeError, lambda: taper.Context(cache_dir=3)), (TypeError, lambda: taper.Context(cpu=3)),
            (TypeError, lambda: taper.quantize_tensor(x, "1", 0)), (TypeError, lambda: taper.tensor(np.zeros(2, np.uint16))),
            (OverflowError, lambda: MODEL.ints([2 ** 63])), (OverflowError, lambda: MODEL.floats([10 ** 400])), (OverflowError, lambda: MODEL.seed(2 ** 64)),
            (AttributeError, lambda: MODEL.method("nothing")), (AttributeError, lambda: MODEL.signature("nothing")),
            (RecursionError, lambda: MODEL.itself()),
        ]
        for number, (kind, call) in enumerate(cases):
            with self.subTest(number):
                with self.assertRaises(kind) as caught:
                    call()
                self.assertIsInstance(caught.exception, taper.Error)
                self.assertIsInstance(caught.exception.status, taper.Status)
                self.assertEqual(caught.exception.detail, "")

    def test_inputs_that_a_model_refuses(self):
        model = taper.load(support.model_path("s01_convnet.ptl"))
        with self.assertRaises(ValueError) as caught:
            model(np.zeros((1, 12, 12, 3), np.float32))
        self.assertIn("the model takes it with the channels before height and width: float32 [1, 3, 12, 12]", caught.exception.detail)
        with self.assertRaises(ValueError) as caught:
            model(np.zeros((1, 4, 12, 12), np.float32))
        self.assertIn("was float32 [1, 4, 12, 12], refused in conv", caught.exception.detail)
        self.assertNotIn("\n", str(caught.exception))

    def test_exceptions_of_others_stay(self):
        class Bad:
            def __dlpack_device__(self):
                raise ValueError("mine")

            def __dlpack__(self):
                raise AssertionError

        with self.assertRaises(ValueError) as caught:
            MODEL.alias(Bad())
        self.assertNotIsInstance(caught.exception, taper.Error)

    def test_one_line_and_detail(self):
        import traceback
        for text, line in [("boo", "boo"), ("first\nsecond\nthird", "first second third")]:
            with self.assertRaises(taper.Error) as caught:
                MODEL.fail(text)
            error = caught.exception
            self.assertEqual(str(error), line)
            self.assertIn("builtins.ValueError", error.detail)
            self.assertIn(error.detail, "".join(traceback.format_exception(error)))  # the traceback of an uncaught exception shows the whole detail


class State(unittest.TestCase):
    def test_state(self):
        model = taper.load(support.model_path("values.pt"))
        self.assertEqual([model.step(), model.step(), model.attribute("count")], [1, 2, 2])
        other = model.clone()
        self.assertEqual([other.step(), model.step()], [1, 3])

    def test_results_outlive(self):
        model = taper.load(support.model_path("values.pt"))
        weight, state = model.get_weight(), model.get_state()
        array, state_array = weight.numpy(), state.numpy()
        model.grow_state()  # this moves the model's tensor, not the tensor that was returned
        self.assertEqual(model.get_state().shape, (200000,))
        del model, weight, state
        self.assertEqual(array.tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(state_array.tolist(), [0, 0, 0, 0])

    def test_input_that_is_resized(self):
        x = taper.tensor(np.arange(3.0))
        array = x.numpy()
        self.assertEqual(MODEL.grow(x).shape, (100000,))
        self.assertEqual((x.shape, array.tolist()), ((3,), [0, 1, 2]))

    def test_print_and_warn(self):
        import contextlib
        import io
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            MODEL.say("hello")
        self.assertEqual(out.getvalue(), "hello\n")
        with self.assertWarnsRegex(UserWarning, "^careful$"):
            MODEL.warn("careful")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaisesRegex(UserWarning, "^serious$"):
                MODEL.warn("serious")
        self.assertEqual(MODEL.ints([]), [0])


if __name__ == "__main__":
    support.main()
