# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper bundle. taper, speed_benchmark_torch and PyTorch must find the samples, which have the form of torch.utils.bundled_inputs."""
import json
import os
import subprocess
import sys
import unittest
import zipfile
from typing import Dict, List, Optional, Tuple

from toolcase import BUNDLED, ROOT, VALUES, ToolCase, main, np

try:
    import torch
    import torch.utils.bundled_inputs as bundled_inputs
    from torch.jit.mobile import _load_for_lite_interpreter
except ImportError:
    torch = None
SAMPLE = os.path.join(ROOT, "tests", "data", "samples", "s17_bundled.ptl")
ALL_DEFAULTS = os.path.join(ROOT, "tests", "tools", "data", "defaults.ptl")
METHODS = ("get_num_bundled_inputs", "get_all_bundled_inputs", "get_bundled_inputs_functions_and_info")


def like(got, wanted):
    """Returns true if both values have the same types and contents, dicts with entries in the same order, and tensors with the same strides."""
    if type(got) is not type(wanted):
        return False
    if isinstance(got, (list, tuple)):
        return len(got) == len(wanted) and all(map(like, got, wanted))
    if isinstance(got, dict):
        return list(got) == list(wanted) and all(like(got[k], wanted[k]) for k in got)
    if hasattr(got, "stride"):
        return got.dtype == wanted.dtype and got.stride() == wanted.stride() and torch.equal(got, wanted)
    return got == wanted


class Bundle(ToolCase):
    def test_samples_without_a_schema(self):
        made = os.path.join(ROOT, "tests", "models", "make_bytecode3.py")
        subprocess.run([sys.executable, made, os.path.join(os.path.dirname(SAMPLE), "s03_control_flow.bc4.ptl"), self.path("with.ptl")], check=True)
        with zipfile.ZipFile(self.path("with.ptl")) as read, zipfile.ZipFile(self.path("old.ptl"), "w") as write:
            for name in read.namelist():
                if "/code/" not in name: # sources would show the types
                    write.writestr(name, read.read(name))
        with open(self.path("calls.json"), "w") as file:
            json.dump([{"inputs": [1, 2, 3]}, {"inputs": [1]}], file)
        self.fails("bundle", "old.ptl", "--calls", "calls.json", "-o", "out.ptl", says="forward takes 3 inputs, 1 were given")
        self.assertFalse(os.path.exists(self.path("out.ptl")))

    def test_one_sample(self):
        x = np.arange(40, dtype="float32").reshape(4, 10)
        self.call("bundle", VALUES, "-i", self.save("x.npy", x), "-i", 3, "-o", "out.ptl")
        np.testing.assert_array_equal(self.run_npz("out.ptl", "--bundled", 0)["output"], x * 3)
        np.testing.assert_array_equal(self.run_npz("out.ptl", "-i", "x.npy")["output"], x * 2)
        self.assertEqual(self.run_json("out.ptl", "--method", "get_num_bundled_inputs"), 1)
        self.assertEqual(self.run_json("out.ptl", "--method", "get_bundled_inputs_functions_and_info"),
                         {"forward": {"info": [], "get_inputs_function_name": ["get_all_bundled_inputs_for_forward"]}})
        self.fails("run", "out.ptl", "--bundled", 1, says="only 1 bundled input")

    def test_the_first_is_used_when_none_is_given(self):
        said = "no input is given: the model's bundled input 0 is used\n"
        for command in (["run", BUNDLED, "-o", "out.npz"], ["bench", BUNDLED, "--iter", 1], ["diff", BUNDLED]):
            self.assertEqual(self.remarks(*command), said)
        np.testing.assert_array_equal(np.load(self.path("out.npz"))["output"], np.full((2, 2), 3))
        for given in (["--bundled", 1], ["-i", "ones:2"]):
            for verb in ("run", "bench", "diff"):
                self.assertEqual(self.remarks(verb, BUNDLED, *given), "")
        self.call("bundle", VALUES, "-i", "ones:2", "-o", "out.ptl")
        self.assertEqual(self.remarks("run", "out.ptl", "--method", "nothing"), "")  # this method needs no input
        self.fails("run", "out.ptl", "--method", "real", says="real takes 1 inputs (x: float), got 0")
        self.fails("run", VALUES, says="forward takes 1 to 2 inputs (x: Tensor, n: int), got 0")

    def test_none_is_used_where_none_is_needed(self):
        self.write("calls.json", json.dumps([{"inputs": [5.5]}]))
        self.call("bundle", ALL_DEFAULTS, "--calls", "calls.json", "-o", "out.ptl")
        self.assertEqual((self.run_json("out.ptl"), self.run_json("out.ptl", "--bundled", 0)), (2.5, 5.5))

    def test_defaults_are_part_of_a_sample(self):
        self.call("bundle", VALUES, "-i", self.save("x.npy", np.ones((2, 2), "float32")), "-o", "out.ptl")
        self.assertEqual(self.run_json("out.ptl", "--method", "get_all_bundled_inputs")[0][1], 2)

    def test_equal_elements_are_stored_once(self):
        x = self.save("x.npy", np.full((1, 3, 200, 200), 0.25, "float32"))
        self.call("bundle", VALUES, "-i", x, "-o", "out.ptl")
        self.assertLess(os.path.getsize(self.path("out.ptl")), os.path.getsize(VALUES) + 20000)
        np.testing.assert_array_equal(self.run_npz("out.ptl", "--bundled", 0)["output"], np.full((1, 3, 200, 200), 0.5))

    def test_programs(self):
        self.save("x.npy", np.full((5, 5), 2, "float32"))
        self.write("calls.json", json.dumps([{"inputs": ["@x.npy", n]} for n in (3, 4)]))
        for form in ([], ["--flatbuffer"], ["--bytecode", "5"]):
            self.call("bundle", VALUES, "--calls", "calls.json", "-o", "out.ptl", *form)
            np.testing.assert_array_equal(self.run_npz("out.ptl", "--bundled", 1)["output"], np.full((5, 5), 8))
            self.call("bench", "out.ptl", "--bundled", 1, "--iter", 1, "--warmup", 0)
            done = self.call("--model", "out.ptl", "--use_bundled_input=1", "--print_output", "--iter=1",
                             program="speed_benchmark_torch")
            self.assertIn("8.0, 8.0", done.stdout.split("\n")[0])
            done = self.call("--model", "out.ptl", "--use_bundled_input=2", program="speed_benchmark_torch", status=1)
            self.assertIn("Model has only 2 bundled inputs.", done.stderr)

    def test_values_of_every_kind(self):
        self.save("x.npy", np.arange(6, dtype="float32"))
        calls = [("scalars", [1, 0.5, True, "text", None]), ("scalars", [-2, 1e300, False, "", 2.5]),
                 ("pair", [["@x.npy", 7]]), ("tensors", [["@x.npy", "@x.npy"]]), ("nested", [[[1, [0.5]], [2, []]]]),
                 ("nothing", [])]
        self.write("calls.json", json.dumps([{"method": m, "inputs": i} for m, i in calls]))
        self.call("bundle", VALUES, "--calls", "calls.json", "-o", "out.ptl")
        self.assertEqual(self.run_json("out.ptl", "--method", "get_all_bundled_inputs_for_scalars"),
                         [[1, 0.5, True, "text", None], [-2, 1e300, False, "", 2.5]])
        self.assertEqual(self.run_json("out.ptl", "--method", "get_all_bundled_inputs_for_nested"), [[[[1, [0.5]], [2, []]]]])
        self.assertEqual(self.run_json("out.ptl", "--method", "get_all_bundled_inputs_for_nothing"), [[]])
        self.assertEqual(list(self.run_json("out.ptl", "--method", "get_bundled_inputs_functions_and_info")),
                         ["scalars", "pair", "tensors", "nested", "nothing"])
        self.fails("run", "out.ptl", "--method", "get_num_bundled_inputs", says="get_num_bundled_inputs")

    def test_existing_ones_stay(self):
        for model in (SAMPLE, BUNDLED):
            for command in (["optimize", model, "-o", "o.ptl"], ["optimize", model, "-o", "o.ptl", "--backend", "metal"],
                            ["convert", model, "-o", "o.ptl", "--flatbuffer"], ["convert", model, "-o", "o.ptl", "--bytecode", 4]):
                self.call(*command)
                for method in METHODS:
                    given = ["--method", method]
                    if model == SAMPLE and method == "get_all_bundled_inputs":
                        continue  # this case has random results
                    self.assertEqual(self.run_json("o.ptl", *given), self.run_json(model, *given))
                self.call("run", "o.ptl", "--bundled", 1, "--json")
                self.call("bench", "o.ptl", "--bundled", 1, "--iter", 1, "--warmup", 0)

    def test_strip_and_replace(self):
        for model, inputs in ((SAMPLE, ["ones:2", "[5.0, 2.0]", "3"]), (BUNDLED, ["[[5.0, 2.0]]", "3"])):
            given = [word for text in inputs for word in ("-i", text)]
            wanted = self.run_json(model, *given)
            for form in ([], ["--flatbuffer"], ["--bytecode", "5"]):
                self.call("bundle", model, "--strip", "-o", "plain.ptl", *form)
                named = [method["name"] for method in json.loads(self.call("inspect", "plain.ptl", "--json").stdout)["methods"]]
                self.assertEqual(named, ["forward"])
                self.fails("run", "plain.ptl", "--bundled", 0, says="no bundled inputs")
                self.fails("run", "plain.ptl", says="got 0")
                self.call("bundle", model, "--replace", *given, "-o", "other.ptl", *form)
                self.assertEqual(self.run_json("other.ptl", "--method", "get_num_bundled_inputs"), 1)
                self.assertEqual(self.run_json("other.ptl"), wanted)
                self.call("bundle", "plain.ptl", *given, "-o", "third.ptl", *form)  # samples can be added to a stripped file
                self.assertEqual(self.run_json("third.ptl"), wanted)
                for made in ("plain.ptl", "other.ptl", "third.ptl"):
                    self.assertEqual(self.run_json(made, *given), wanted)
                    self.call("optimize", made, "-o", "again.ptl")
                    self.assertEqual(self.run_json("again.ptl", *given), wanted)
                    if made != "plain.ptl":
                        self.assertEqual(self.run_json("again.ptl"), wanted)
        x = self.save("x.npy", np.random.default_rng(1).random((1, 3, 50, 50)).astype("float32"))
        self.call("bundle", VALUES, "-i", x, "-o", "large.ptl")
        self.call("bundle", "large.ptl", "--strip", "-o", "small.ptl")
        self.assertGreater(os.path.getsize(self.path("large.ptl")), 30000)
        self.assertLess(os.path.getsize(self.path("small.ptl")), os.path.getsize(VALUES) + 1000)
        for option in (["--strip"], ["--replace", "-i", "ones:2"]):  # a model without samples
            self.call("bundle", VALUES, *option, "-o", "out.ptl")
            self.assertEqual(self.run_json("out.ptl", "--method", "words"), self.run_json(VALUES, "--method", "words"))
        self.misused("bundle", BUNDLED, "--strip", "-i", "ones:2", "-o", "out.ptl", says="--strip only takes samples out")

    def test_failures(self):
        self.save("x.npy", np.ones(3, "float32"))
        self.fails("bundle", VALUES, "-o", "out.ptl", status=2, says="-i INPUT is missing")
        self.fails("bundle", VALUES, "-i", "x.npy", status=2, says="-o OUT is missing")
        self.fails("bundle", VALUES, "-i", "x.npy", "--calls", "calls.json", "-o", "out.ptl", status=2, says="--calls")
        self.fails("bundle", BUNDLED, "-i", "x.npy", "-o", "out.ptl", says="bundled inputs already")
        self.fails("bundle", VALUES, "-i", "x.npy", "--method", "absent", "-o", "out.ptl", says="absent")
        self.fails("bundle", VALUES, "-i", "x.npy", "-i", "1", "-i", "2", "-o", "out.ptl")
        self.fails("bundle", VALUES, "-i", "absent.npy", "-o", "out.ptl", says="absent.npy")
        self.write("calls.json", "[]")
        self.fails("bundle", VALUES, "--calls", "calls.json", "-o", "out.ptl", says="nothing to bundle")
        self.write("calls.json", json.dumps([{"method": "scalars", "inputs": [1]}]))
        self.fails("bundle", VALUES, "--calls", "calls.json", "-o", "out.ptl")


if torch is not None:
    class Sampled(torch.nn.Module):
        def forward(self, x, n: int, f: float = 0.5, flag: bool = True, names: Optional[List[str]] = None):
            return x * n * f

        @torch.jit.export
        def other(self, d: Dict[str, torch.Tensor], t: Tuple[int, torch.Tensor]):
            return d["a"] + t[1]


@unittest.skipIf(torch is None, "PyTorch is missing")
class InPyTorch(ToolCase):
    def test_same_as_pytorch(self):
        module = torch.jit.script(Sampled().eval())
        module.save(self.path("source.pt"))
        module._save_for_lite_interpreter(self.path("source.ptl"))
        tensors = [torch.zeros(3, 3), torch.zeros(2, 3, 4, 4), torch.tensor([1, 2, 3]), torch.full((40,), 7, dtype=torch.uint8)]
        rest = [(2, 0.25, False, ["a", "b"]), (1, 0.5, True, None), (3, 1.5, True, []), (-4, 0.0, False, None)]
        forward = [(x, *r) for x, r in zip(tensors, rest)]
        other = [({"a": torch.ones(2), "b": torch.zeros(3)}, (1, torch.ones(2)))]
        bundled_inputs.augment_many_model_functions_with_bundled_inputs(module, {module.forward: forward, module.other: other})
        module._save_for_lite_interpreter(self.path("wanted.ptl"))
        wanted = _load_for_lite_interpreter(self.path("wanted.ptl"))

        calls = [{"inputs": ["@" + self.save(f"{i}.npy", x.numpy()), *r]} for i, (x, r) in enumerate(zip(tensors, rest))]
        self.save("one.npy", np.ones(2, "float32"))
        self.save("zero.npy", np.zeros(3, "float32"))
        calls.append({"method": "other", "inputs": [{"a": "@one.npy", "b": "@zero.npy"}, [1, "@one.npy"]]})
        self.write("calls.json", json.dumps(calls))
        for source in ("source.pt", "source.ptl"):
            for form in ([], ["--flatbuffer"], ["--bytecode", "4"]):
                self.call("bundle", source, "--calls", "calls.json", "-o", "out.ptl", *form)
                got = _load_for_lite_interpreter(self.path("out.ptl"))
                for method in METHODS + ("get_all_bundled_inputs_for_forward", "get_all_bundled_inputs_for_other",
                                         "_generate_bundled_inputs_for_forward"):
                    a, b = got.run_method(method), wanted.run_method(method)
                    self.assertTrue(like(a, b), f"{source} {form}: {method}() gives {a}, PyTorch's {b}")
                self.assertTrue(torch.equal(got.forward(*forward[1]), wanted.forward(*forward[1])))
        module.save(self.path("wanted.pt"))
        for source, form in (("wanted.ptl", []), ("wanted.ptl", ["--flatbuffer"]), ("wanted.ptl", ["--bytecode", "4"]), ("wanted.pt", [])):
            # removes PyTorch's samples and adds the same samples again
            self.call("bundle", source, "--replace", "--calls", "calls.json", "-o", "out.ptl", *form)
            self.call("bundle", source, "--strip", "-o", "plain.ptl", *form)
            got, plain = _load_for_lite_interpreter(self.path("out.ptl")), _load_for_lite_interpreter(self.path("plain.ptl"))
            for method in METHODS:
                self.assertTrue(like(got.run_method(method), wanted.run_method(method)), f"{form}: {method}()")
                with self.assertRaises(RuntimeError):
                    plain.run_method(method)
            self.assertTrue(torch.equal(plain.forward(*forward[1]), wanted.forward(*forward[1])))


if __name__ == "__main__":
    main()
