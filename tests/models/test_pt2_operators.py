#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests the core operators of PyTorch 2 (torch.Tag.core) in exported programs. The calls are those that the samples of PyTorch's operator database
(OpInfo) consist of, and those of pt2_calls.py. Each becomes a module of one call, is exported without and with run_decompositions(), and runs in
Taper.

  test_pt2_operators.py TAPER [OPERATOR…] [--max N] [--functions] [--cases DIR] [--taper-arg ARG]…

TAPER_TORCH2 names a python with PyTorch 2.8 or newer; without it the test is skipped. An OPERATOR is "add" or "add.Tensor". --max N runs N calls of
each (2). --functions runs the database's functions of all operators instead, each with N samples. --cases DIR keeps the programs in DIR and reuses
those of an earlier run. Values, dtypes, sizes and strides are compared as in tests/ops/oracle.py, also of random results; values of uninitialized
memory are not compared. Known differences do not fail the test. Ends with a table of the operators that failed and "N passed, N failed"."""
import argparse
import collections
import json
import os
import sys
import tempfile
import types
import unittest
import warnings

SKIPPED = 77
if "TAPER_TORCH2" not in os.environ:
    print("skipped: TAPER_TORCH2 does not name a python with PyTorch 2.8 or newer")
    sys.exit(SKIPPED)
if os.path.realpath(sys.executable) != os.path.realpath(os.environ["TAPER_TORCH2"]) or "TAPER_TORCH2_STARTED" not in os.environ:
    os.environ["TAPER_TORCH2_STARTED"] = "1"
    os.execv(os.environ["TAPER_TORCH2"], [os.environ["TAPER_TORCH2"], *sys.argv])

warnings.filterwarnings("ignore")
os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ops"))
if "expecttest" not in sys.modules:  # torch.testing imports it, but this test does not need it
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = type("TestCase", (unittest.TestCase,), {})
    stand_in.ACCEPT = False
    sys.modules["expecttest"] = stand_in
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

import agreement
import oracle
import pt2_calls
from pt2_calls import Call, resolved, result_of

DTYPES = (torch.float32, torch.int64, torch.bool)
UNINITIALIZED = ("empty", "_empty_affine", "new_empty", "empty_like", "empty_strided", "empty_permuted", "new_empty_strided")


# ---- the calls

def core_operators():
    """Returns {"aten.add.Tensor": the overload}."""
    found = {}
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            f = getattr(packet, overload)
            if torch.Tag.core in f.tags:
                found[str(f)] = f
    return found


def names_of(name):
    """Returns the names of an operator on the command line: "aten.add.Tensor" is "add.Tensor" and "add", too."""
    parts = name.split(".")
    return [name, ".".join(parts[1:]), *parts[:2]]


def detached(v):
    return tree_map(lambda x: x.detach().clone(memory_format=torch.preserve_format) if isinstance(x, torch.Tensor) else x, v)


def passable(leaves):
    return all(not isinstance(x, torch.Tensor) or (x.layout == torch.strided and not x.is_quantized and type(x) is torch.Tensor) for x in leaves)


class Recorder(TorchDispatchMode):
    """Records the calls of the wanted operators."""

    def __init__(self, wanted, most):
        super().__init__()
        self.wanted, self.most, self.kinds, self.calls = wanted, most, {}, collections.defaultdict(list)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.note(str(func), func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def note(self, name, func, args, kwargs):
        leaves, _ = tree_flatten((args, kwargs))
        if name not in self.wanted or not passable(leaves) or len(self.calls[name]) >= self.most:
            return
        # Selects calls whose arguments differ in dtype, rank or kind, not only in their numbers.
        kind = tuple((x.dtype, x.dim(), x.numel() == 0) if isinstance(x, torch.Tensor) else repr(x) for x in leaves)
        if kind not in self.kinds.setdefault(name, set()):
            self.kinds[name].add(kind)
            self.calls[name].append((func, detached(args), detached(kwargs)))


def spread(found, most):
    return found if len(found) <= most else [found[i * len(found) // most] for i in range(most)]


def samples_of(op, dtype, most):
    torch.manual_seed(7)
    try:
        return spread(list(op.sample_inputs("cpu", dtype, requires_grad=False)), most)
    except Exception:
        return []


def record_calls(wanted, most):
    """Returns {operator: [(function, args, kwargs)]} of the database's samples. Samples with the operator's own name come first."""
    import torch.testing._internal.common_methods_invocations as database
    names = {name.split(".")[1] for name in wanted}
    recorder = Recorder(wanted, most)
    own = [op for op in database.op_db if op.name in names or op.aten_name in names or op.name.split(".")[-1] in names]
    for op in own + [op for op in database.op_db if op not in own]:
        if all(len(recorder.calls[name]) >= most for name in wanted):
            break
        for dtype in DTYPES:
            for sample in samples_of(op, dtype, 12) if op.supports_dtype(dtype, "cpu") else ():
                try:
                    with torch.no_grad(), recorder:
                        op(sample.input, *sample.args, **sample.kwargs)
                except Exception:
                    pass  # the sample raises, or cannot run in this form
    return recorder.calls


def function_calls(most, wanted):
    """Returns {operator: [(function, args, kwargs)]} of the database's functions themselves."""
    import torch.testing._internal.common_methods_invocations as database
    calls = {}
    for op in database.op_db:
        label = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if wanted and label not in wanted and op.name not in wanted:
            continue
        for dtype in DTYPES:
            for sample in samples_of(op, dtype, most) if op.supports_dtype(dtype, "cpu") else ():
                call = (op.op, (sample.input, *sample.args), sample.kwargs)
                if passable(tree_flatten(call[1:])[0]):
                    calls.setdefault(label, []).append(call)
    return calls


# ---- programs of the calls

def write_case(folder, call, left_out):
    """Writes DIR/{plain,core}.{pt2,pt}: the programs, their inputs and results."""
    module = Call(*call).eval()
    tensors = [oracle.passable(resolved(module.leaves[i].detach())) for i in module.where]
    try:
        want = resolved(result_of(module, tensors))
    except Exception:
        left_out["PyTorch raises"] += 1
        return
    os.makedirs(folder, exist_ok=True)
    try:
        program = torch.export.export(module, tuple(x.clone() for x in tensors))
        torch.export.save(program, os.path.join(folder, "plain.pt2"))
    except Exception:
        left_out["PyTorch does not export"] += 1
        return
    torch.save((tensors, want), os.path.join(folder, "plain.pt"))
    try:
        core = program.run_decompositions()
        torch.export.save(core, os.path.join(folder, "core.pt2"))
        torch.save((tensors, resolved(result_of(core.module(), tensors))), os.path.join(folder, "core.pt"))
    except Exception:
        left_out["PyTorch does not decompose"] += 1


def write_cases(folder, arguments):
    left_out = collections.Counter()
    if arguments.functions:
        calls = function_calls(arguments.max, arguments.operators)
    else:
        wanted = {name: f for name, f in core_operators().items()
                  if not arguments.operators or set(names_of(name)) & set(arguments.operators)}
        calls = record_calls(wanted, arguments.max)
        for call in [call for call in pt2_calls.core() if pt2_calls.name_of(call) in wanted] + list(pt2_calls.others()):
            if not arguments.operators or set(names_of(pt2_calls.name_of(call))) & set(arguments.operators):
                calls[pt2_calls.name_of(call)].append(call)
        for name in sorted(set(wanted) - {name for name in calls if calls[name]}):
            print(f"no call of {name}", flush=True)
            left_out["no call"] += 1
    torch.set_num_threads(1)
    for name, found in calls.items():
        for n, call in enumerate(found):
            write_case(os.path.join(folder, name, str(n)), call, left_out)
    print("left out: " + (", ".join(f"{n} {why}" for why, n in sorted(left_out.items())) or "none"), flush=True)


# ---- Taper's runs

def shape_only(v):
    return tree_map(lambda x: torch.empty_strided(x.shape, x.stride(), dtype=x.dtype).zero_() if isinstance(x, torch.Tensor) else x, v)


def without_values(got):
    """Returns a printed result with zeros in its tensors."""
    def zeros(data):
        return [zeros(x) for x in data] if isinstance(data, list) else 0

    if isinstance(got, dict) and "data" in got:
        return {**got, "data": zeros(got["data"])}
    return [without_values(x) for x in got] if isinstance(got, list) else got


def run_case(taper, extra, name, case, program):
    tensors, want = torch.load(os.path.join(case, program.removesuffix("2")), weights_only=False)
    files = []
    command = [taper, "run", os.path.join(case, program), "--json", *extra]
    for tensor in tensors:
        command += ["-i", json.dumps(oracle.to_input(tensor, case, files))]
    process, wrong = oracle.run_taper(command)
    for file in files:
        os.unlink(file)
    if wrong or process.returncode != 0:
        return wrong or process.stderr.strip()[:400]
    got = json.loads(process.stdout)
    if any(part in UNINITIALIZED for part in name.split(".")):
        want, got = shape_only(want), without_values(got)
    options = {"scale": agreement.scale(tensors) or agreement.scale(want), "length": agreement.length(tensors)}
    return oracle.compare(want, got, options)


def run_cases(folder, arguments):
    """Returns (passed, failed, {operator: error})."""
    passed = failed = 0
    wrongs, operators = {}, sorted(os.listdir(folder))
    for name in operators:
        if arguments.operators and not set(names_of(name)) & set(arguments.operators):
            continue
        for case in sorted(os.listdir(os.path.join(folder, name)), key=int):
            for program in ("plain.pt2", "core.pt2"):
                path = os.path.join(folder, name, case)
                if not all(os.path.exists(os.path.join(path, file)) for file in (program, program.removesuffix("2"))):
                    continue
                wrong = run_case(arguments.taper, arguments.taper_arg, name, path, program)
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if wrong:
                    wrong = " ".join(wrong.split())
                    print(f"FAILED {name} {case}/{program}: {wrong}", flush=True)
                    wrongs.setdefault(name, []).append(wrong)
    return passed, failed, wrongs, len(operators)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--max", type=int, default=2)
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--cases")
    parser.add_argument("--taper-arg", action="append", default=[])
    arguments = parser.parse_intermixed_args()
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 8):
        print(f"skipped: TAPER_TORCH2 has PyTorch {torch.__version__}, 2.8 or newer is needed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.cases or scratch
        if not os.path.isdir(folder) or not os.listdir(folder):
            write_cases(folder, arguments)
        passed, failed, wrongs, operators = run_cases(folder, arguments)
    for name, found in sorted(wrongs.items()):
        print(f"{name:45} {len(found):3} failed: {found[0][:120]}")
    for name in sorted(set(wrongs) & set(pt2_calls.KNOWN)):
        print(f"known: {name}: {pt2_calls.KNOWN[name]}")
    print(f"{operators - len(wrongs)} of {operators} operators agree")
    print(f"{passed} passed, {failed} failed")
    return 1 if set(wrongs) - set(pt2_calls.KNOWN) or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
