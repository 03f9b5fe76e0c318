#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_networks_nnapi.py TAPER FOLDER [BUILDER… | --all] [--level N] [--no-pytorch]

Builds torchvision networks with scripts/oracle/make_zoo.py, converts their traces with `taper optimize --backend nnapi`, and prints the number of
modules and their share of the arithmetic. The result runs in Taper and, with stock PyTorch, on the imitation of NNAPI (FOLDER has
LEVEL/libneuralnetworks.so). Results must be PyTorch's: floats within 1e-4 of the largest, 8-bit networks within a twentieth of the range (the
difference is printed in steps). The log of misuse must stay empty. If no part of a network can be converted, the network is listed with the
reason. Then the networks are converted with PyTorch's layout: if PyTorch's own converter supports a network, both results must be equal word by
word, including weights. Prints a line for each network, and counts at the end. --all: classification, segmentation and 8-bit networks of
scripts/oracle/zoo.tsv."""
import argparse
import collections
import csv
import os
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "scripts", "oracle"))
STOCK = ("import sys, numpy as np, torch\n"
         "from torch.jit.mobile import _load_for_lite_interpreter\n"
         "torch.backends.quantized.engine = 'qnnpack'\n"
         "y = _load_for_lite_interpreter(sys.argv[1])(torch.from_numpy(np.load(sys.argv[2])))\n"
         "np.save(sys.argv[3], (y['out'] if isinstance(y, dict) else y[0] if isinstance(y, tuple) else y).numpy())\n")
NOTHING = 3  # exit status of a process whose network has no part that can be converted
INT8_SHARE = 0.05  # share of a network's range: each layer may differ by one step (test_nnapi_convert.py), and later layers increase the difference


def first(result):
    return result["out"] if isinstance(result, dict) else result[0] if isinstance(result, tuple) else result


def modules_of(path):
    """Returns the NnapiModules of a file, as (words, [weights])."""
    import numpy as np

    archive = zipfile.ZipFile(path)
    data = next(name for name in archive.namelist() if name.endswith("/data.pkl"))

    class Reader(pickle.Unpickler):
        def find_class(self, module, name):
            if name in ("_rebuild_tensor_v2", "_rebuild_qtensor"):
                return lambda storage, offset, size, stride, *rest: np.lib.stride_tricks.as_strided(
                    storage[offset:], size, [s * storage.itemsize for s in stride])
            if name.startswith("build_"):
                return lambda items: items
            if module == "torch":
                return name
            return collections.OrderedDict if module == "collections" else type(
                name, (), {"__setstate__": lambda self, state: self.__dict__.update(state if isinstance(state, dict) else {})})

        def persistent_load(self, pid):
            kinds = {"FloatStorage": "f4", "IntStorage": "i4", "QUInt8Storage": "u1", "LongStorage": "i8"}
            return np.frombuffer(archive.read(data[:-len("data.pkl")] + "data/" + pid[2]), kinds[pid[1]])

    root = Reader(archive.open(data)).load()
    found = [value for key, value in sorted(root.__dict__.items()) if key.startswith("nnapi_module_")]
    return [(np.asarray(module.ser_model).ravel(), [np.asarray(w).ravel() for w in module.weights]) for module in found]


class Nothing(Exception):
    """Raised if `taper optimize` says that nothing of this network can be converted."""


class Network:
    def __init__(self, name, arguments, folder):
        import torch
        import make_zoo

        self.name, self.arguments, self.folder = name, arguments, folder
        self.int8 = name.endswith("+int8")
        model, inputs = make_zoo.build(name)[:2]
        for module in model.modules():
            if hasattr(module, "inplace"):  # PyTorch's converter does not support in-place operators
                module.inplace = False
        self.x = inputs[0]
        with torch.no_grad():
            self.wanted = first(model(self.x)).numpy()
            self.traced = torch.jit.trace(model, (self.x,), check_trace=False, strict=False)

    def path(self, name):
        return os.path.join(self.folder, name)

    def convert(self, module, layout):
        import torch

        torch.jit.save(module, self.path("net.pt"))
        p = subprocess.run([self.arguments.taper, "optimize", self.path("net.pt"), "-o", self.path("net.ptl"), "--backend", "nnapi", "-i",
                            self.path("x.npy"), "--backend-options", f"layout={layout},level={self.arguments.level}"], capture_output=True,
                           text=True)
        refusal = re.search(r"nothing of \S+ can be converted for NNAPI \((.*?)\);", p.stderr)
        if p.returncode == 1 and refusal:
            raise Nothing(refusal[1])
        found = re.search(r"NNAPI: (\d+) modules with (\d+) of (\d+) operators(?:, ([\d.]+) %)?", p.stdout)
        if p.returncode != 0 or not found:
            raise RuntimeError(f"optimize: {p.stderr.strip()[-200:]}")
        return int(found[1]), float(found[4] or 0), p.stdout

    def check(self, got, who):
        import numpy as np

        if self.int8:
            values = np.unique(self.wanted)
            unit = np.diff(values).min() if len(values) > 1 else 1
            off = np.abs(got - self.wanted).max() / unit
            return f"{who} {off:.0f} steps", bool(off * unit <= INT8_SHARE * np.ptp(self.wanted))
        off = np.abs(got - self.wanted).max() / np.abs(self.wanted).max()
        return f"{who} {off:.1e}", bool(off <= 1e-4)

    def run_taper(self):
        import numpy as np

        p = subprocess.run([self.arguments.taper, "run", self.path("net.ptl"), "-i", self.path("x.npy"), "-o", self.path("y.npz")],
                           capture_output=True, text=True)
        if p.returncode != 0:
            return f"taper: {p.stderr.strip()[-200:]}", False
        results = np.load(self.path("y.npz"))
        return self.check(results[next(k for k in results.files if k in ("output", "output.out", "output.0"))], "taper")

    def run_stock(self):
        import numpy as np

        log = self.path("log")
        environment = dict(os.environ, TAPER_NNAPI_DOUBLE_LOG=log,
                           LD_LIBRARY_PATH=os.path.join(self.arguments.folder, str(max(self.arguments.level, 29))))
        p = subprocess.run([sys.executable, "-c", STOCK, self.path("net.ptl"), self.path("x.npy"), self.path("y.npy")],
                           capture_output=True, text=True, env=environment)
        if p.returncode != 0:
            return f"PyTorch: {p.stderr.strip()[-200:]}", False
        if os.path.exists(log) and open(log).read():
            return f"the double: {open(log).read()[:200]}", False
        return self.check(np.load(self.path("y.npy")), "double")

    def equal(self):
        """Returns true if PyTorch's converter writes the same words, or None if PyTorch's converter does not support the network."""
        import numpy as np
        import torch
        from torch.backends._nnapi.serializer import serialize_model

        frozen = torch.jit.freeze(self.traced.eval())
        for run_pass in ("remove_mutation", "fold_frozen_conv_bn", "dce"):
            getattr(torch._C, "_jit_pass_" + run_pass)(frozen.graph)
        x = self.x.contiguous(memory_format=torch.channels_last) if self.int8 else self.x.clone()
        x.nnapi_nhwc = self.int8
        try:
            words, weights = serialize_model(frozen, [x])[:2]
        except Exception:
            return None
        report = self.convert(frozen, "pytorch_nhwc" if self.int8 else "pytorch")[2]
        if "rounds sizes up" in report:  # None in this case, because PyTorch's converter writes other sizes than those of the network
            return None
        made = modules_of(self.path("net.ptl"))
        plain = [(w.contiguous().int_repr() if w.is_quantized else w.contiguous()).numpy().ravel() for w in weights]
        return len(made) == 1 and list(words) == list(made[0][0]) and len(plain) == len(made[0][1]) and all(
            np.array_equal(a, b) for a, b in zip(plain, made[0][1]))


def run_one(name, arguments):
    import numpy as np
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        network = Network(name, arguments, folder)
        np.save(network.path("x.npy"), network.x.numpy())
        try:
            count, share, report = network.convert(network.traced, "nhwc")
        except Nothing as reason:
            print(f"none {name}: {reason}", flush=True)
            return NOTHING
        said, good = network.run_taper()
        if arguments.pytorch:
            more, fine = network.run_stock()
            said, good = f"{said}, {more}", good and fine
        same = network.equal()
        left = re.findall(r"  CPU +(\d+ x \S+ .*)", report)
        equal = "" if same is None else ", equal to PyTorch's converter" if same else ", DIFFERS from PyTorch's converter"
        print(f"{'ok  ' if good and same is not False else 'FAIL'} {name}: {count} modules, {share:.1f} %, {said}{equal}"
              + (f"; left: {'; '.join(' '.join(item.split()) for item in left[:3])}" if left else ""), flush=True)
        return 0 if good and same is not False else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("folder")
    parser.add_argument("builders", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--level", type=int, default=29)
    parser.add_argument("--no-pytorch", dest="pytorch", action="store_false", help="do not run the files by PyTorch on the double")
    arguments = parser.parse_args()
    arguments.taper = os.path.abspath(arguments.taper)
    arguments.folder = os.path.abspath(arguments.folder)
    if arguments.one:
        sys.exit(run_one(arguments.builders[0], arguments))
    try:
        import torch  # noqa: F401
        import torchvision  # noqa: F401
    except ImportError:
        print("skipped: PyTorch 1.13 and torchvision (python3-torch, python3-torchvision) are not installed")
        sys.exit(77)
    names = arguments.builders
    if arguments.all:
        with open(os.path.join(HERE, os.pardir, os.pardir, "scripts", "oracle", "zoo.tsv")) as table:
            rows = [(row["builder"], row["kind"], int(row["params"] or 0)) for row in csv.DictReader(table, delimiter="\t")]
        names = [name for name, kind, _ in sorted(rows, key=lambda row: row[2])
                 if kind in ("classification", "segmentation") or name.endswith("+int8")]
    passed = failed = nothing = whole = equal = convertible = 0
    for name in names:
        command = [sys.executable, os.path.abspath(__file__), arguments.taper, arguments.folder, name, "--one", "--level",
                   str(arguments.level)] + ([] if arguments.pytorch else ["--no-pytorch"])
        p = subprocess.run(command, capture_output=True, text=True)
        line = p.stdout.strip() or f"FAIL {name}: {p.stderr.strip()[-300:]}"
        print(line, flush=True)
        passed += p.returncode == 0
        nothing += p.returncode == NOTHING
        failed += p.returncode not in (0, NOTHING)
        found = re.search(r": (\d+) modules, ([\d.]+) %", line)
        whole += bool(found) and 1 <= int(found[1]) <= 2 and float(found[2]) >= 95
        equal += "equal to PyTorch" in line
        convertible += "PyTorch's converter" in line
    print(f"{whole} of {len(names)} in one or two modules with 95 % of the arithmetic; {equal} of {convertible} equal to PyTorch's "
          f"converter; of {nothing} nothing is converted")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
