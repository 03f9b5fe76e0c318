# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper inspect: the backend for which a file was made, bundled inputs, and the findings of --lint, which are compared
with PyTorch's own lints."""
import glob
import json
import os
import subprocess
import sys
import time
import zipfile

from toolcase import BUNDLED, DEMO, HERE, ROOT, VALUES, ToolCase, main, np

SAMPLES = os.path.join(ROOT, "tests", "data", "samples")
DATA = os.path.join(ROOT, "tests", "data")
ORACLE = """
import json, sys, torch
from torch.utils.mobile_optimizer import generate_mobile_module_lints
print(json.dumps([generate_mobile_module_lints(torch.jit.load(path)) for path in sys.argv[1:]]))
"""


class Inspect(ToolCase):
    def inspect(self, model, *arguments):
        return json.loads(self.call("inspect", model, "--json", *arguments).stdout)

    def names(self, model):
        return [(lint["name"], lint["where"]) for lint in self.inspect(model, "--lint")["lints"]]

    def test_prepared(self):
        for name, wanted in [("s11_xnnpack.ptl", ["cpu"]), ("s13_vulkan.ptl", ["vulkan"]), ("s14_metal.ptl", ["metal"]),
                             ("s15_nnapi_float.ptl", ["nnapi"]), ("s01_convnet.ptl", []), ("s04_containers.pt", [])]:
            model = os.path.join(SAMPLES, name)
            self.assertEqual(self.inspect(model)["prepared_for"], wanted, name)
            text = self.call("inspect", model).stdout
            self.assertEqual(text.count("  prepared   for "), len(wanted))
            for backend in wanted:
                self.assertIn("  prepared   for " + backend, text)

    def test_quantized(self):
        self.call("quantize", os.path.join(DEMO, "classifier.ptl"), "-o", "q.ptl", "--mode", "core", "--calibrate",
                  os.path.join(DEMO, "images"))
        self.assertGreater(self.inspect("q.ptl")["quantized_calls"], 20)
        self.assertRegex(self.call("inspect", "q.ptl").stdout, r"  quantized  [0-9]+ calls of operators on integers")
        self.assertEqual(self.inspect(VALUES)["quantized_calls"], 0)

    def test_bundled(self):
        self.assertEqual(self.inspect(BUNDLED)["bundled_inputs"],
                         {"forward": [[{"dtype": "float32", "shape": [2, 2]}, {"type": "int"}],
                                      [{"dtype": "float32", "shape": [1, 4]}, {"type": "int"}]]})
        self.assertIn("bundled inputs\n  forward  2, the first: float32 [2, 2], int\n", self.call("inspect", BUNDLED).stdout)
        self.assertEqual(self.inspect(VALUES)["bundled_inputs"], {})
        self.assertNotIn("bundled", self.call("inspect", VALUES).stdout)

    def test_inputs_that_take_for_good(self):
        """The file's own code makes its inputs, and has a budget of two seconds."""
        model = os.path.join(HERE, "data", "endless.ptl")
        begin = time.monotonic()
        self.assertEqual(self.inspect(model)["bundled_inputs"], {"forward": [None]})
        self.assertIn("  forward  cannot be made: ", self.call("inspect", model).stdout)
        self.assertLess(time.monotonic() - begin, 60)

    def test_lints(self):
        model = os.path.join(DEMO, "classifier.pt")
        names = self.names(model)
        self.assertEqual(names[:3], [("BUNDLED_INPUT", ""), ("BATCHNORM", "aten::batch_norm"), ("DROPOUT", "aten::dropout")])
        self.assertIn(("REQUIRES_GRAD", "features.0.0.weight"), names)
        text = self.call("inspect", model, "--lint").stdout
        self.assertEqual(text.count("REQUIRES_GRAD"), 2)  # printed twice: for the first finding, and for the number of further findings
        self.assertIn(f" {sum(name == 'REQUIRES_GRAD' for name, where in names) - 1} more\n", text)
        self.save("x.npy", np.zeros((1, 3, 96, 96), np.float32))
        self.call("optimize", model, "-o", "o.ptl")
        self.call("bundle", "o.ptl", "-i", "x.npy", "-o", "b.ptl")
        self.assertEqual(self.call("inspect", "b.ptl", "--lint").stdout, "b.ptl\n  nothing to say\n")
        self.assertEqual(self.inspect("b.ptl", "--lint"), {"model": "b.ptl", "lints": []})
        self.assertIn(("TRAINING", ""), self.names(VALUES))
        self.misused("inspect", model, "--lint", "--graph", says="one at a time")

    def test_weights_twice_and_float64(self):
        """Writes a copy of the classifier in which two weights have the same bytes, and changes the name of a dtype in the pickle."""
        model = os.path.join(DEMO, "classifier.pt")
        with zipfile.ZipFile(model) as old:
            records = {info.filename: old.read(info) for info in old.infolist()}
        sizes = {}
        for name, data in records.items():
            if "/data/" in name and len(data) >= 1 << 16:
                sizes.setdefault(len(data), []).append(name)
        pair = next(names for names in sizes.values() if len(names) > 1)
        before = self.names(model)
        with zipfile.ZipFile(self.path("twice.pt"), "w") as new:
            for name, data in records.items():
                new.writestr(name, records[pair[0]] if name == pair[1] else data)
        self.assertNotIn("DUPLICATE", [name for name, where in before])
        found = [lint for lint in self.inspect("twice.pt", "--lint")["lints"] if lint["name"] == "DUPLICATE"]
        self.assertEqual(len(found), 1)
        self.assertRegex(found[0]["message"], r"^[0-9]+ bytes that are those of features\.")

    def test_lints_of_pytorch(self):
        models = sorted(glob.glob(os.path.join(SAMPLES, "*.pt"))) + [os.path.join(DEMO, "classifier.pt")]
        done = subprocess.run([sys.executable, "-c", ORACLE, *models], capture_output=True, text=True)
        if done.returncode != 0:
            self.skipTest("PyTorch is missing: " + done.stderr.strip().split("\n")[-1])
        for model, lints in zip(models, json.loads(done.stdout)):
            wanted = []
            for lint in lints:
                words = lint["message"].split()
                wanted.append((lint["name"], "" if lint["name"] == "BUNDLED_INPUT" else words[1]))
            ours = [(name, where) for name, where in self.names(model) if name in
                    ("BUNDLED_INPUT", "REQUIRES_GRAD", "DROPOUT", "BATCHNORM")]
            self.assertEqual(sorted(ours), sorted(wanted), model)


if __name__ == "__main__":
    main()
