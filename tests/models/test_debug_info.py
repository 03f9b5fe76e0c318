#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_debug_info.py TAPER DIR...: compares the debug records of `taper convert --debug-info` and `taper optimize --debug-info` for the
TorchScript samples of each DIR with the records of PyTorch's _save_for_lite_interpreter(_save_mobile_debug_info=True).

For every operator that both files call from one range of source, Taper's chain of calls must contain PyTorch's, in order; PyTorch omits some
calls around branches and loops. Most chains must be equal."""
import glob
import os
import pickle
import sys
import tempfile
import zipfile

import torch
from torch.jit.mobile import _load_for_lite_interpreter

from running import taper

torch.set_num_threads(1)


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        return lambda *arguments: list(arguments[0]) if arguments else []


class Records:
    """The meaning of a file's handles: (node, range, frames), with the outermost frame first."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        self.folder = self.zip.namelist()[0].split("/")[0]
        self.ranges = {}
        for name in self.zip.namelist():
            if name.endswith(".debug_pkl"):
                self.read_ranges(self.read(name))
        self.handles = {e[0]: e[1][0][1][0] for e in self.read(self.folder + "/mobile_debug_handles.pkl")[1:]}
        self.meanings = {}
        for handle, tag, node, frame in self.read(self.folder + "/callstack_debug_map.pkl"):
            assert handle not in self.meanings, f"handle {handle} stands twice"
            self.meanings[handle] = node, self.ranges[tag], tuple(self.frames(frame))

    def read(self, name):
        return Unpickler(self.zip.open(name)).load()

    def read_ranges(self, record):
        assert record[0] == "FORMAT_WITH_STRING_TABLE"
        texts = record[1]
        for _, ((lines, file, first), start, end), tag in record[2]:
            text = "".join(texts[i] for i in lines)[start:end], texts[file], first
            assert self.ranges.setdefault(tag, text) == text, f"tag {tag} is that of two ranges"

    def frames(self, frame):
        while frame is not None:
            yield frame[0], self.ranges[frame[1]] if frame[1] >= 0 else None, frame[3]
            frame = frame[2]

    def operators(self, function):
        """Returns the chains of calls of each (node, range)."""
        found = {}
        for handle in self.handles.get(function, []):
            node, place, frames = self.meanings.get(handle, ("", None, ()))
            if node and not node.startswith("prim::"):
                found.setdefault((node, place), set()).add(frames)
        return found


def holds(ours, theirs):
    rest = iter(ours)
    return all(any(frame == other for other in rest) for frame in theirs)


def compare(name, ours, theirs, faults):
    """Returns [number of operators compared, number of operators with equal chains]."""
    counts = [0, 0]
    for function in theirs.handles:
        mine, others = ours.operators(function), theirs.operators(function)
        for key in mine.keys() & others.keys():
            counts[0] += 1
            counts[1] += mine[key] == others[key]
            if not all(any(holds(a, b) for a in mine[key]) for b in others[key]):
                faults.append(f"{name}: {function}: {key}: called through {sorted(mine[key], key=str)}, PyTorch {sorted(others[key], key=str)}")
    return counts


def main():
    program, folders = sys.argv[1], sys.argv[2:]
    faults, script, lite, files = [], [0, 0], [0, 0], 0
    with tempfile.TemporaryDirectory() as scratch:
        theirs_path, ours_path = os.path.join(scratch, "theirs.ptl"), os.path.join(scratch, "ours.ptl")
        for path in sorted(p for folder in folders for p in glob.glob(os.path.join(folder, "*.pt"))):
            name = os.path.basename(path)
            try:
                torch.jit.load(path)._save_for_lite_interpreter(theirs_path, _save_mobile_debug_info=True)
                theirs = Records(theirs_path)
            except (RuntimeError, KeyError):
                continue  # PyTorch cannot save this model with debug records
            taper(program, "convert", path, "-o", ours_path, "--debug-info")
            script = [a + b for a, b in zip(script, compare(name, Records(ours_path), theirs, faults))]
            _load_for_lite_interpreter(ours_path)
            taper(program, "optimize", path, "-o", ours_path, "--debug-info")
            Records(ours_path)
            _load_for_lite_interpreter(ours_path)
            # A lite file keeps its debug records.
            taper(program, "convert", theirs_path, "-o", ours_path)
            lite = [a + b for a, b in zip(lite, compare(name + " (lite)", Records(ours_path), theirs, faults))]
            taper(program, "convert", path, "-o", ours_path)
            if any("debug_map" in n or "debug_handles" in n for n in zipfile.ZipFile(ours_path).namelist()):
                faults.append(f"{name}: debug records that nobody asked for")
            files += 1
    print(f"{files} files, {script[0]} operators compared, {script[1]} called in the same words, {len(faults)} differ; "
          f"of lite files {lite[0]} and {lite[1]}")
    print("\n".join(faults[:20]))
    return 1 if faults or not files or script[1] < 0.7 * script[0] or lite[1] != lite[0] else 0


if __name__ == "__main__":
    sys.exit(main())
