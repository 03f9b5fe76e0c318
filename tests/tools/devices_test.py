#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests taper devices: the list of devices, as text and as JSON."""
import json
import os
import tempfile
import unittest

from toolcase import DEMO, VALUES, ToolCase, main


class Devices(ToolCase):
    def test_text(self):
        out = self.call("devices").stdout
        self.assertTrue(out.startswith("cpu\n"), out)

    def test_json(self):
        listing = json.loads(self.call("devices", "--json").stdout)
        devices = listing["devices"]
        self.assertEqual((devices[0]["name"], devices[0]["kind"]), ("cpu", "cpu"))
        for device in devices:
            self.assertEqual(sorted(device), ["available", "called", "facts", "kind", "name", "why"])
            self.assertEqual(device["why"] == "", device["available"])

        for option in listing["options"]:
            with self.subTest(option["name"]):
                self.assertTrue(option["help"] and option["devices"])
                for value in option["values"] or [option["least"], option["most"]]:
                    self.call("run", VALUES, "--method", "count", "--device", option["devices"][0], "--device-options", f"{option['name']}={value}")
                self.assertIn(option["default"], [None, *range(option["least"], option["most"] + 1)])

    def test_named_ones_run(self):
        for device in json.loads(self.call("devices", "--json").stdout)["devices"]:
            if device["available"] and device["name"].startswith("vulkan:"):
                self.call("bench", os.path.join(DEMO, "classifier.ptl"), "--input-dims", "1,3,96,96", "--iter", "1", "--device", device["name"] + "!")

    def gpus(self):
        devices = json.loads(self.call("devices", "--json").stdout)["devices"]
        return [device["name"] for device in devices if device["available"] and device["name"].startswith("vulkan:")]

    def test_memory(self):
        model = (os.path.join(DEMO, "classifier.ptl"), "--input-dims", "1,3,96,96")
        for name in self.gpus():
            plan = json.loads(self.call("inspect", "--memory", *model, "--json", "--device", name + "!").stdout)
            self.assertEqual(len(plan["device"]), 1)  # the whole network runs as one segment on the device
            part = plan["device"][0]
            self.assertGreater(len(part["storages"]), 10)
            self.assertEqual(max(s["offset"] + s["bytes"] for s in part["storages"]), part["arena_bytes"])
            self.assertGreater(part["sum_bytes"], part["arena_bytes"])  # the storages reuse memory
            for a in part["storages"]:
                for b in part["storages"]:
                    apart = a["died"] <= b["born"] or b["died"] <= a["born"] or a["offset"] + a["bytes"] <= b["offset"] or \
                        b["offset"] + b["bytes"] <= a["offset"]
                    self.assertTrue(a is b or apart, (a, b))
            out = self.call("inspect", "--memory", *model, "--device", name + "!").stdout
            self.assertIn(f"memory plan of forward on {name}, part 1: {len(part['storages'])} storages", out)
            with tempfile.TemporaryDirectory() as folder:
                picture = os.path.join(folder, "plan.svg")
                self.call("inspect", "--memory", *model, "--device", name + "!", "-o", picture)
                with open(picture, encoding="utf-8") as file:
                    self.assertIn("on the device: an arena of", file.read())

    def test_profile(self):
        for name in self.gpus():
            model = os.path.join(DEMO, "segmenter.ptl")
            arguments = ("bench", model, "--input-dims", "1,3,64,64", "--profile", "--iter", "10", "--device", name)
            ops = json.loads(self.call(*arguments, "--json").stdout)["ops"]
            rows = [op for op in ops if op["bandwidth_percent"] is not None]
            self.assertGreater(len(rows), 5)
            self.assertTrue(all(0 < op["bandwidth_percent"] < 10000 and op["ms"] > 0 for op in rows), rows)
            self.assertTrue(any(0 < (op["peak_percent"] or 0) < 10000 and op["gflops"] > 0 for op in rows), rows)
            out = self.call(*arguments).stdout
            self.assertIn("  measured at most: ", out)
            for reason in {op["why"] for op in ops if op["why"] is not None}:
                self.assertIn(": " + reason + "\n", out)

    def test_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("gpu-0123456789abcdef.ok", "gpu-compiled-0123456789abcdef.ok", "gpu-vulkan.trying", "other"):
                with open(os.path.join(folder, name), "wb"):
                    pass
            kept = json.loads(self.call("devices", "--json", "--cache", folder).stdout)["kept"]
            self.assertEqual(kept, {"verdicts": 1, "compiled": 1, "tried": 1})

    def test_wrong(self):
        self.fails("devices", "--cache", "/nonexistent/folder", says="the folder cannot be opened")


if __name__ == "__main__":
    main()
