#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_without_schema.py TAPER: tests files written from files of bytecode 3 and 4 whose functions have no schema. If the archive contains the
TorchScript source, Taper reads it, as torch.jit.load does, and takes the schema from the source. Otherwise arguments have the type Any. In
both cases PyTorch's lite interpreter runs the written files, from bytecode 4 to the flatbuffer, with the module's results."""
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from typing import List, Optional, Tuple

import numpy as np
import torch
from torch.jit.mobile import _backport_for_mobile, _load_for_lite_interpreter

import make_bytecode3

torch.manual_seed(0)


class Convolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())

    def forward(self, picture):
        return self.layers(picture)


class Arguments(torch.nn.Module):
    def forward(self, x, times: int, sizes: List[int], bias: Optional[torch.Tensor] = None):
        y = x.view(sizes) * times
        return y if bias is None else y + bias


class State(torch.nn.Module):
    """A module whose submodule is saved by __getstate__."""
    def __init__(self):
        super().__init__()
        self.below = Below()

    def forward(self, x):
        return self.below(x), [x, x + 1]


class Below(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.randn(4)

    @torch.jit.export
    def __getstate__(self) -> Tuple[torch.Tensor, bool]:
        return self.w * 2, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, bool]):
        self.w = state[0] / 2
        self.training = state[1]

    def forward(self, x):
        return x * self.w


CASES = ((Convolution(), [torch.randn(1, 3, 8, 8)], ["picture"]),
         (Arguments(), [torch.randn(2, 6), 3, [3, 4], torch.randn(4)], ["x", "times", "sizes", "bias"]),
         (State(), [torch.randn(3, 4)], ["x"]))
TARGETS = {"optimize": [], "convert": [], "convert5": ["--bytecode", "5"], "convert4": ["--bytecode", "4"], "flatbuffer": ["--flatbuffer"],
           "bundle": []}


def strip(source, target, version, with_source):
    """Returns functions without their third item, the schema. For version 3 the version number is omitted too."""
    with zipfile.ZipFile(source) as read, open(target, "wb") as file:
        writer = torch._C.PyTorchFileWriter(file)
        for name in read.namelist():
            record, data = name.split("/", 1)[1], read.read(name)
            if record in ("version", ".data/version") or record.endswith(".debug_pkl") or (record.startswith("code/") and not with_source):
                continue
            if record == "bytecode.pkl":
                program = make_bytecode3.read(data)
                program = ((4,) if version == 4 else ()) + tuple(f[:2] for f in program[1:])
                data = b"\x80\x02" + make_bytecode3.write(program) + b"."
            writer.write_record(record, data, len(data))
        writer.write_end_of_file()


def command(taper, *words):
    p = subprocess.run([taper, *words], capture_output=True, text=True)
    if p.returncode:
        raise AssertionError(f"taper {' '.join(words)}: {p.stderr}")
    return p.stdout


def flat(results):
    for r in results if isinstance(results, (tuple, list)) else [results]:
        yield from flat(r) if isinstance(r, (tuple, list)) else [r.detach().numpy()]


def check(wanted, got, who):
    got = list(got)
    assert len(wanted) == len(got), f"{who} gives {len(got)} results"
    for a, b in zip(wanted, got):
        assert a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-5), f"{who} gives something else"


def inputs_of(folder, values):
    words = []
    for i, value in enumerate(values):
        if isinstance(value, torch.Tensor):
            np.save(os.path.join(folder, f"{i}.npy"), value.numpy())
        words += ["-i", os.path.join(folder, f"{i}.npy") if isinstance(value, torch.Tensor) else json.dumps(value).replace(" ", "")]
    return words


def run_case(taper, folder, module, values, names, version, with_source):
    new, backported, old, out = (os.path.join(folder, name) for name in ("new.ptl", "backported.ptl", "old.ptl", "out.npz"))
    scripted = torch.jit.script(module.eval())
    scripted._save_for_lite_interpreter(new)
    _backport_for_mobile(new, backported, 4)
    strip(backported, old, version, with_source)
    wanted, given = list(flat(scripted(*values))), inputs_of(folder, values)
    for name, options in TARGETS.items():
        path = os.path.join(folder, name + ".ptl")
        words = [name.rstrip("45").replace("flatbuffer", "convert"), old, "-o", path, *options]
        command(taper, *words, *(given if name == "bundle" else []))
        read = _load_for_lite_interpreter(path)
        check(wanted, flat(read(*values)), f"PyTorch with {name}")
        command(taper, "run", path, *given, "-o", out)
        with np.load(out) as archive:
            check(wanted, [archive[key] for key in archive.files], f"taper run with {name}")
        if name == "bundle":
            sample = read.run_method("get_all_bundled_inputs")[0]
            check(wanted, flat(read(*sample)), "PyTorch with the bundled inputs")
        if with_source or name != "convert4":
            methods = {m["name"]: m for m in json.loads(command(taper, "inspect", path, "--json"))["methods"]}
            told = [a["name"] for a in methods["forward"]["arguments"]]
            expected = names if with_source else [f"argument_{i + 1}" for i in range(len(names))]
            assert told == expected, f"{name}: the arguments are {told}"


def main():
    taper = sys.argv[1]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for module, values, names in CASES:
            for version in (3, 4):
                for with_source in (True, False):
                    try:
                        run_case(taper, folder, module, values, names, version, with_source)
                        passed += 1
                    except AssertionError as e:
                        failed += 1
                        print(f"FAILED {type(module).__name__} bytecode {version} {'with' if with_source else 'without'} source: {e}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
