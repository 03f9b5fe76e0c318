# SPDX-License-Identifier: BSD-2-Clause
"""Tests the pictures and pages that taper inspect --graph -o, inspect --memory -o and bench --profile -o write. Each picture or page is one
self-contained file. If a browser is installed, it displays the files (TAPER_BROWSER, or a Chromium on the path)."""
import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.dom.minidom

from toolcase import DEMO, ROOT, VALUES, ToolCase, main

CLASSIFIER = os.path.join(DEMO, "classifier.pt")
CONTROL = os.path.join(ROOT, "tests", "data", "samples", "s03_control_flow.pt")
DIMS = ["--input-dims", "1,3,96,96"]
BROWSER = os.environ.get("TAPER_BROWSER") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Tags(html.parser.HTMLParser):
    """Checks that every tag that must be closed is closed, in order."""
    def __init__(self, text):
        super().__init__()
        self.open, self.names, self.wrong = [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        if tag not in ("meta", "th"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.names.append(tag)

    def handle_endtag(self, tag):
        self.wrong = self.wrong or not self.open or self.open.pop() != tag


class Seeing(ToolCase):
    def check_alone(self, name):
        """Checks that a file is well-formed and that nothing in the file makes a browser load another file or run a script."""
        with open(self.path(name), encoding="utf-8") as file:
            text = file.read()
        rest = text.replace('xmlns="http://www.w3.org/2000/svg"', "")
        self.assertIsNone(re.search(r"(?i)https?:|//[a-z]|<script|<link|<img|<iframe|@import|url\(|src=|href=", rest))
        if name.endswith(".svg"):
            return xml.dom.minidom.parseString(text).documentElement, text
        tags = Tags(text)
        self.assertEqual((tags.wrong, tags.open), (False, []))
        return tags, text

    def test_graph(self):
        self.call("inspect", CLASSIFIER, "--graph", *DIMS, "-o", "g.svg")
        root, text = self.check_alone("g.svg")
        self.assertIn("conv2d + batch_norm + hardtanh_", text)
        self.assertIn("float32 [1, 16, 48, 48]", text)
        lines = [line for line in self.call("inspect", CLASSIFIER, "--graph").stdout.splitlines() if re.match("  [^ ]", line)]
        boxes = root.getElementsByTagName("g")
        self.assertEqual(len([g for g in boxes if g.getElementsByTagName("rect")]), len(lines) + 1)  # one box for each node, and one for the input
        width, height = float(root.getAttribute("width")), float(root.getAttribute("height"))
        places = set()
        for g in boxes:
            for rect in g.getElementsByTagName("rect"):
                x, y, w, h = (float(rect.getAttribute(name)) for name in ("x", "y", "width", "height"))
                self.assertTrue(0 <= x and x + w <= width and 0 <= y and y + h <= height)
                self.assertNotIn((x, y), places)
                places.add((x, y))
        for path in root.getElementsByTagName("path"):  # every edge leads from top to bottom
            numbers = [float(number) for number in re.findall(r"-?[0-9.]+", path.getAttribute("d"))]
            self.assertLess(numbers[1], numbers[-1])

    def test_graph_of_blocks(self):
        for options in ([], ["--no-optimize"]):
            for name in ("g.svg", "g.html"):
                self.call("inspect", CONTROL, "--graph", *options, "-o", name)
                found, text = self.check_alone(name)
                self.assertIn("prim::Loop", text)

    def test_memory(self):
        self.call("inspect", CLASSIFIER, "--memory", *DIMS, "-o", "m.svg")
        root, text = self.check_alone("m.svg")
        self.call("inspect", CLASSIFIER, "--memory", *DIMS, "-o", "m.html")
        self.check_alone("m.html")
        plan = json.loads(self.call("inspect", CLASSIFIER, "--memory", *DIMS, "--json").stdout)
        inside = [item for item in plan["storages"] if item["offset"] is not None]
        self.assertEqual(len(root.getElementsByTagName("g")), len(inside))
        for item in inside:
            self.assertIn(f"{item['bytes']} bytes at {item['offset']}, from step {item['born']} to {item['died']}<", text)

    def test_profile(self):
        self.call("bench", CLASSIFIER, *DIMS, "--iter", 2, "--profile", "-o", "p.html")
        tags, text = self.check_alone("p.html")
        self.assertIn("<td>features.0.0</td>", text)
        self.assertEqual(tags.names.count("table"), 2)

    def test_text_of_the_model_is_text(self):
        shutil.copy(CLASSIFIER, self.path("<b>&.pt"))
        self.call("inspect", "<b>&.pt", "--graph", "-o", "g.html")
        tags, text = self.check_alone("g.html")
        self.assertNotIn("b", tags.names)
        self.call("inspect", "<b>&.pt", "--graph", "-o", "g.svg")
        root, text = self.check_alone("g.svg")
        self.assertEqual(root.getElementsByTagName("title")[0].firstChild.data, "<b>&.pt")

    def test_wrong_use(self):
        self.misused("inspect", CLASSIFIER, "-o", "g.svg", says="--graph or of --memory")
        self.misused("inspect", CLASSIFIER, "--graph", "--memory", "-o", "g.svg", says="--graph or of --memory")
        self.misused("inspect", CLASSIFIER, "--graph", "-o", "g.png", says="written as .svg or .html")
        self.misused("inspect", CLASSIFIER, "--graph", "--json", "-o", "g.svg", says="without --json")
        self.misused("bench", CLASSIFIER, "-o", "p.html", says="--profile -o FILE.html")
        self.misused("bench", CLASSIFIER, "--profile", "-o", "p.svg", says="--profile -o FILE.html")
        self.fails("inspect", CLASSIFIER, "--graph", "-o", "absent/g.svg", says="absent/g.svg")
        self.fails("inspect", VALUES, "--graph", "--input-dims", "1;2;3", "-o", "g.svg")

    @unittest.skipUnless(BROWSER, "there is no Chromium")
    def test_in_a_browser(self):
        self.call("inspect", CLASSIFIER, "--graph", *DIMS, "-o", "g.svg")
        self.call("inspect", CLASSIFIER, "--memory", *DIMS, "-o", "m.html")
        self.call("bench", CLASSIFIER, *DIMS, "--iter", 1, "--profile", "-o", "p.html")
        for name, words in (("g.svg", "conv2d + batch_norm"), ("m.html", "an arena of"), ("p.html", "features.0.0")):
            done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                                   "--user-data-dir=" + self.path("profile"), "file://" + self.path(name)],
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(words, done.stdout)
            self.assertNotIn("parsererror", done.stdout)


if __name__ == "__main__":
    main()
