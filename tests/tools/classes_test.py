# SPDX-License-Identifier: BSD-2-Clause
"""Tests files with a class that only a C++ extension has. The load and taper inspect must report the missing class at every place where its
name may occur."""
import json
import os
import zipfile

from toolcase import ROOT, ToolCase, main

SAMPLES = os.path.join(ROOT, "tests", "data", "samples")
CLASS = "__torch__.torch.classes.my_ext7.Options"
# Places of a type in TorchScript: {place: (text of the flow sample's source, its replacement)}.
FORMS = {
    "attribute": ("_is_full_backward_hook : Optional[bool]", f"_is_full_backward_hook : Optional[{CLASS}]"),
    "argument": ("flag: bool=True) ->", f"flag: bool=True,\n    e: Optional[{CLASS}]=None) ->"),
    "annotation": ("    y = x\n", f"    l = annotate(List[{CLASS}], [])\n    y = x\n"),
    "dictionary": ("    y = x\n", f"    l = annotate(Dict[str, Tuple[int, {CLASS}]], {{}})\n    y = x\n"),
    "method of an item": ("    y = x\n", f"    l = annotate(List[{CLASS}], [])\n    y = torch.add(x, (l[0]).flag_getter())\n"),
    "instance": ("    y = x\n", f"    y = x\n    t = isinstance(x, {CLASS})\n"),
    "object": ("    y = x\n", f"    y = x\n    o = {CLASS}.__new__({CLASS})\n"),
}


def rewrite(source, target, change):
    """Writes the archive `source` to the file `target`, with change(name, data) in place of the data of each record."""
    with zipfile.ZipFile(source) as read, zipfile.ZipFile(target, "w") as write:
        for name in read.namelist():
            write.writestr(zipfile.ZipInfo(name), change(name, read.read(name)))


class Classes(ToolCase):
    def expect(self, path, name, where, *inputs):
        done = self.call("run", path, *inputs, status=1)
        self.assertIn("1 class that this build of Taper does not have: " + name, done.stderr, where)
        self.assertIn("C++ extensions", done.stderr, where)
        told = json.loads(self.call("inspect", path, "--json").stdout)
        self.assertIn(name, told["missing_operators"], where)
        text = self.call("inspect", path).stdout
        self.assertIn(f"  {name}  class  MISSING", text, where)

    def test_torchscript(self):
        for where, (old, new) in FORMS.items():
            def change(record, data):
                if record.endswith(".py"):
                    self.assertEqual(data.count(old.encode()), 1, where)
                    return data.replace(old.encode(), new.encode())
                return data

            path = self.path("classes.pt")
            rewrite(os.path.join(SAMPLES, "s03_control_flow.pt"), path, change)
            self.expect(path, CLASS, where, "-i", "ones:3", "-i", "2")

    def test_objects(self):
        """Tests objects of pickles and of a flatbuffer, in which xnnpack's class is renamed to a class of the same length."""
        name = "__torch__.torch.classes.my_ext7."

        def renamed(data):
            return data.replace(b"classes.xnnpack", b"classes.my_ext7")

        for sample in "s11_xnnpack.pt", "s11_xnnpack.ptl", "s11_xnnpack.fb.ptl":
            path = self.path(sample)
            if sample.endswith(".fb.ptl"):
                with open(os.path.join(SAMPLES, sample), "rb") as read, open(path, "wb") as write:
                    write.write(renamed(read.read()))
            else:
                rewrite(os.path.join(SAMPLES, sample), path, lambda record, data: renamed(data))
            done = self.call("run", path, "-i", "ones:1x3x8x8", status=1)
            self.assertIn("that this build of Taper does not have: " + name + "Conv2dOpContext", done.stderr, sample)
            self.assertIn("  " + name + "LinearOpContext (a class", done.stderr, sample)
            told = json.loads(self.call("inspect", path, "--json").stdout)
            self.assertEqual([c for c in told["missing_operators"] if c.startswith("__torch__")],
                             [name + "Conv2dOpContext", name + "LinearOpContext"], sample)


if __name__ == "__main__":
    main()
