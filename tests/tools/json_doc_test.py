# SPDX-License-Identifier: BSD-2-Clause
"""Tests docs/json.md: the output of each command must have exactly the members of its example, with the same kinds of
values."""
import json
import os
import re

from toolcase import BUNDLED, DEMO, ROOT, VALUES, ToolCase, main

PICTURE = os.path.join(DEMO, "images", "lake.jpg")
CLASSIFIER, DIMS = os.path.join(DEMO, "classifier.pt"), ["--input-dims", "1,3,96,96"]
COMMANDS = {
    "run": [["run", BUNDLED]],
    "classify": [["classify", CLASSIFIER, PICTURE]],
    "run --times": [["run", BUNDLED, "--times"]],
    "classify --times": [["classify", CLASSIFIER, PICTURE, "--times"]],
    "segment": [["segment", os.path.join(DEMO, "segmenter.ptl"), PICTURE, "-o", "m.png"]],
    "inspect": [["inspect", BUNDLED], ["inspect", CLASSIFIER], ["inspect", os.path.join(DEMO, "classifier.ptl")]],
    "inspect --lint": [["inspect", CLASSIFIER, "--lint"], ["inspect", BUNDLED, "--lint"]],
    "inspect --memory": [["inspect", CLASSIFIER, "--memory", *DIMS]],
    "bench --profile": [["bench", CLASSIFIER, "--profile", "--iter", "2", *DIMS]],
    "devices": [["devices"]],
    "diff": [["diff", CLASSIFIER, "-i", "zeros:1x3x96x96"]],
}


class Documented(ToolCase):
    def check(self, example, found, where):
        if example is None or found is None:
            return
        if isinstance(example, dict):
            self.assertIsInstance(found, dict, where)
            any_name = next((name for name in example if name.isupper()), None)
            if any_name is None and set(found) != set(example):
                self.fail(f"{where}: {sorted(set(found) ^ set(example))}")
            for name, value in found.items():
                self.check(example[any_name or name], value, f"{where}.{name}")
        elif isinstance(example, list):
            self.assertIsInstance(found, list, where)
            for index, value in enumerate(found):
                alike = [item for item in example if not isinstance(item, dict) or set(item) == set(value)]
                self.check(alike[0] if alike else example[0], value, f"{where}[{index}]")
        elif isinstance(example, bool) or isinstance(example, str):
            self.assertIsInstance(found, type(example), where)
        else:
            self.assertIn(type(found), (int, float), where)

    def test_examples(self):
        with open(os.path.join(ROOT, "docs", "json.md")) as file:
            examples = dict(re.findall(r"```json (.*)\n((?:.*\n)*?)```", file.read()))
        self.assertEqual(set(examples), set(COMMANDS))
        for name, commands in COMMANDS.items():
            for command in commands:
                with self.subTest(command):
                    found = json.loads(self.call(*command, "--json").stdout)
                    self.check(json.loads(examples[name]), found, name)

    def test_times(self):
        """Results are the same as without times; if a call fails, the output has the results of the calls before it."""
        other = os.path.join(DEMO, "images", "night.png")
        plain = json.loads(self.call("classify", CLASSIFIER, PICTURE, other, "--json").stdout)
        timed = json.loads(self.call("classify", CLASSIFIER, PICTURE, other, "--json", "--times").stdout)
        self.assertEqual({one["image"]: one["classes"] for one in timed["pictures"]}, plain)
        self.assertTrue(timed["load_ms"] > 0 and all(one["ms"] > 0 for one in timed["pictures"]))
        found = json.loads(self.call("classify", CLASSIFIER, "absent.png", "--json", "--times", status=1).stdout)
        self.assertEqual((found["model"], found["pictures"]), (CLASSIFIER, []))
        self.write("calls.json", json.dumps([{"method": "scalars", "inputs": [1, 0.5, True, "text", None]}, {"method": "absent"}]))
        found = json.loads(self.call("run", VALUES, "--calls", "calls.json", "--json", "--times", status=1).stdout)
        self.assertEqual([one["name"] for one in found["calls"]], ["0.output"])
        self.assertEqual([found["calls"][0]["result"]],
                         json.loads(self.call("run", VALUES, "--calls", "calls.json", "--json", status=1).stdout))
        self.call("run", BUNDLED, "--json", "--times", "-o", "r.json")
        with open(self.path("r.json")) as file:
            self.assertEqual(list(json.load(file)), ["model", "load_ms", "calls"])
        for verb in (["run", BUNDLED], ["classify", CLASSIFIER, PICTURE]):
            self.misused(*verb, "--times", says="--json")


if __name__ == "__main__":
    main()
