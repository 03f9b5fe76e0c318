#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""taper devices: what there is, as text and as JSON."""
import json
import os
import tempfile
import unittest

from toolcase import DEMO, ToolCase, main


class Devices(ToolCase):
    def test_text(self):
        out = self.call("devices").stdout
        self.assertTrue(out.startswith("cpu\n"), out)

    def test_json(self):
        devices = json.loads(self.call("devices", "--json").stdout)["devices"]
        self.assertEqual(devices[0]["name"], "cpu")
        for device in devices:
            self.assertEqual(sorted(device), ["available", "called", "facts", "name", "why"])
            self.assertEqual(device["why"] == "", device["available"])

    def test_named_ones_run(self):
        for device in json.loads(self.call("devices", "--json").stdout)["devices"]:
            if device["available"] and device["name"].startswith("vulkan:"):
                self.call("bench", os.path.join(DEMO, "classifier.ptl"), "--input-dims", "1,3,96,96", "--iter", "1", "--device", device["name"] + "!")

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
