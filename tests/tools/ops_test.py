# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper ops --config: the header of a selective build has everything that a file needs, also operators that no OP instruction calls."""
import os
import re

from toolcase import DEMO, ROOT, ToolCase, main

SAMPLES = os.path.join(ROOT, "tests", "data", "samples")


class Config(ToolCase):
    def config(self, model):
        text = self.call("ops", model, "--config").stdout
        lines = text.split("\n")
        self.assertEqual((lines[0][:3], lines[-1]), ("// ", ""))
        rows = [re.fullmatch(r"#define TAPER_USE_(\w+) 1", line).group(1) for line in lines[1:-1]]
        self.assertEqual(len(rows), len(set(rows)))
        names = self.call("ops", model).stdout.split("\n")[:-1]
        for name in names:
            self.assertIn(re.sub(r"\W", "_", name.replace("::", "_")), rows)
        return set(rows)

    def sample(self, name):
        return self.config(os.path.join(SAMPLES, name + ".ptl"))

    def test_several(self):
        """One build for several models has the union of their operators."""
        models = [os.path.join(SAMPLES, name) for name in ("s04_containers.ptl", "s01_convnet.pt", "s11_xnnpack.ptl")]
        for options in ([], ["--config"]):
            wanted = set()
            for model in models:
                wanted |= {line for line in self.call("ops", model, *options).stdout.splitlines() if line[:2] != "//"}
            lines = self.call("ops", *models, *options).stdout.splitlines()
            if options:
                self.assertEqual(lines.pop(0), "// Operators of s04_containers.ptl, s01_convnet.pt, s11_xnnpack.ptl, made by `taper ops --config`.")
            self.assertEqual(lines, sorted(wanted))
        self.assertEqual(self.call("ops", DEMO).stdout,
                         self.call("ops", *(os.path.join(DEMO, name) for name in sorted(os.listdir(DEMO)) if name[-4:] in (".ptl", "r.pt"))).stdout)
        self.fails("ops", models[0], "absent.ptl", "--config", says="absent.ptl")

    def test_operators_alone(self):
        rows = self.config(os.path.join(DEMO, "classifier.ptl"))
        self.assertIn("prepacked_conv2d_clamp_run", rows)
        self.assertFalse([row for row in rows if "class_" in row or "div" in row], rows)

    def test_branches(self):
        """In branches and loops without uses, only operators with effects are needed. The list must be equal to PyTorch's."""
        wanted = ["aten::__getitem__.t", "aten::add.Scalar", "aten::append.t", "aten::eq.int", "aten::gt.int", "aten::mul_.Scalar",
                  "aten::relu", "aten::sigmoid", "prim::Print"]
        self.assertEqual(self.call("ops", os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "branches.pt")).stdout.split(), wanted)

    def test_upgraders(self):
        rows = self.sample("s20_div_v3")
        wanted = {"aten_div_Tensor", "aten_div_Tensor_mode", "aten_is_floating_point"}
        self.assertEqual(wanted - rows, set())
        # In a file of a newer version, div needs no replacement by aten_div_Tensor_mode.
        rows = self.sample("s19_versions")
        self.assertIn("aten_div_Tensor", rows)
        self.assertNotIn("aten_div_Tensor_mode", rows)

    def test_instructions(self):
        self.assertIn("prim_RaiseException", self.sample("s06_raise"))

    def test_interface_methods(self):
        # The list has functions of all submodules, also of those that forward does not name, in both containers.
        rows = self.sample("s03_control_flow")
        self.assertEqual(rows, self.sample("s03_control_flow.fb"))

    def test_classes(self):
        self.assertIn("class__nnapi_Compilation", self.sample("s15_nnapi_float"))
        self.assertFalse([row for row in self.sample("s11_xnnpack") if row.startswith("class_")])

    def test_depthwise_kernels(self):
        self.assertIn("dwconv_k3", self.config(os.path.join(DEMO, "classifier.ptl")))
        self.assertFalse([row for row in self.sample("s06_raise") if row.startswith("dwconv_")])

    def test_operators_of_the_demo(self):
        """examples/demo/operators.h, with which `./dev demo` builds, has exactly the operators of its two models."""
        models = [os.path.join(DEMO, name) for name in ("classifier.ptl", "segmenter.ptl")]
        with open(os.path.join(DEMO, "operators.h")) as file:
            self.assertEqual(file.read(), self.call("ops", *models, "--config").stdout)


if __name__ == "__main__":
    main()
