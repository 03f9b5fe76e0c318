#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the samples of PyTorch's own operator database (torch.testing, OpInfo) in PyTorch's lite interpreter and in Taper.

  run_opinfo.py TAPER [OPERATOR…] [--dtypes A,B…] [--max N] [--part I/K] [--cases DIR] [--report FILE.tsv] [--taper-arg ARG]…

Each sample becomes a module of one expression: its tensors are arguments of forward, and everything else is a literal. Samples are
omitted if they cannot be scripted, if PyTorch's lite interpreter refuses them, if their results are random or uninitialized, and if they
have sparse tensors. --max N runs N samples, spread over an operator's list (8; 0: all). --part I/K runs every K-th operator. --cases DIR
keeps the models in DIR and reuses those of an earlier run. Values, dtypes, sizes and strides are compared as oracle.py does. Ends with
"N passed, N failed"."""
import argparse
import collections
import io
import json
import linecache
import math
import os
import shutil
import sys
import tempfile
import types
import unittest
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
if "expecttest" not in sys.modules:  # an empty module replaces expecttest, which torch.testing imports and Debian does not have
    stand_in = types.ModuleType("expecttest")
    stand_in.TestCase = type("TestCase", (unittest.TestCase,), {})
    stand_in.ACCEPT = False
    sys.modules["expecttest"] = stand_in
import numpy as np
import torch
from torch.jit.mobile import _load_for_lite_interpreter

import oracle

DTYPES = "float32,int64,bool,float16,bfloat16,complex64"
# The results of these operators are uninitialized memory.
UNINITIALIZED = ("empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided")

# In Debian's build the product of two complex vectors is 0: its BLAS returns complex numbers in another way than PyTorch expects.
COMPLEX_DOT = ("dot", "vdot", "inner", "matmul", "__rmatmul__", "linalg.vecdot", "linalg.multi_dot", "tensordot")

# Expressions that differ from torch.NAME(…) and tensor.NAME(…). {0}, {1}: arguments; {kw}: keyword arguments.
EXPRESSIONS = {
    "nn.functional.embedding": "torch.nn.functional.embedding({1}, {0}{kw})",
    "T": "{0}.T", "mT": "{0}.mT", "H": "{0}.H", "mH": "{0}.mH",
    "bfloat16": "{0}.to(torch.bfloat16)", "bool": "{0}.to(torch.bool)", "nonzero": "torch.nonzero({0})",
    "einsum": "torch.einsum({1}, {0})", "polygamma": "torch.polygamma({1}, {0})",
    "special.polygamma": "torch.special.polygamma({1}, {0})", "fill": "{0}.fill_({1})",
}
REFLECTED = {"radd": "+", "rsub": "-", "rmul": "*", "rdiv": "/", "rmod": "%", "rpow": "**", "rand": "&", "ror": "|", "rxor": "^",
             "rmatmul": "@"}


def label_of(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def literal(v, tensors):
    """Returns the Python source of an argument; tensors become t0, t1, …"""
    if isinstance(v, torch.Tensor):
        tensors.append(v.detach().clone())
        return f"t{len(tensors) - 1}"
    if v is None or isinstance(v, (bool, str, complex)):
        return repr(v)
    if isinstance(v, (int, np.integer)):
        return repr(int(v))
    if isinstance(v, (float, np.floating)):
        return repr(float(v)) if math.isfinite(v) else f'float("{float(v)}")'
    if isinstance(v, tuple):
        return "(" + "".join(literal(x, tensors) + ", " for x in v) + ")"
    if isinstance(v, list):
        return "[" + ", ".join(literal(x, tensors) for x in v) + "]"
    if isinstance(v, torch.device):
        return f'torch.device("{v}")'
    if isinstance(v, (torch.dtype, torch.layout, torch.memory_format)):
        return str(v)
    if isinstance(v, slice):
        return ":".join("" if x is None else literal(x, tensors) for x in (v.start, v.stop, v.step))
    if v is Ellipsis:
        return "..."
    raise TypeError("argument of type " + type(v).__name__)


def expressions(op, arguments, keywords, sample, tensors):
    """Yields the expressions to try, with their tensors."""
    name = op.name
    extra = "".join(", " + k for k in keywords)
    if name in EXPRESSIONS and ("{1}" not in EXPRESSIONS[name] or len(arguments) > 1):
        yield EXPRESSIONS[name].format(*arguments, kw=extra), tensors
    if name == "__getitem__":
        own = []
        first = literal(sample.input, own)
        index = sample.args[0]
        yield f"{first}[{', '.join(literal(i, own) for i in index) if isinstance(index, tuple) else literal(index, own)}]", own
    elif name.startswith("__") and name.strip("_") in REFLECTED:
        yield f"({arguments[1]} {REFLECTED[name.strip('_')]} {arguments[0]})", tensors
    yield f"torch.{name}({', '.join(arguments + keywords)})", tensors
    if "." not in name:
        yield f"{arguments[0]}.{name}({', '.join(arguments[1:] + keywords)})", tensors


def scripted(op, sample):
    """Returns (module, tensors, expression); raises an exception if no form can be scripted."""
    tensors = []
    first = list(sample.input) if isinstance(sample.input, (list, tuple)) else sample.input
    arguments = [literal(a, tensors) for a in [first] + list(sample.args)]
    keywords = [f"{k}={literal(v, tensors)}" for k, v in sample.kwargs.items()]
    wrong = None
    for expression, own in expressions(op, arguments, keywords, sample, tensors):
        source = f"def forward({', '.join(f't{i}: Tensor' for i in range(len(own)))}):\n    return {expression}\n"
        try:
            module = oracle.scripted_module(source, len(linecache.cache))
            if "Union" in str(module.graph):  # PyTorch's lite interpreter crashes on lists of mixed types
                raise TypeError("a list of mixed types")
            return module, own, expression
        except Exception as e:
            wrong = wrong or e
    raise wrong


def flat(v):
    return [x for _, x in oracle.flatten(v, "", [])]


def plain(t):
    """Returns the tensor without NaN and as real numbers, because nan_to_num does not support complex numbers."""
    return torch.nan_to_num(torch.view_as_real(t.resolve_conj()) if t.is_complex() else t)


def same(a, b):
    a, b = flat(a), flat(b)
    return len(a) == len(b) and all(
        x.shape == y.shape and torch.equal(plain(x), plain(y)) if isinstance(x, torch.Tensor)
        and x.layout == torch.strided and isinstance(y, torch.Tensor) else isinstance(x, torch.Tensor) or x == y or x != x
        for x, y in zip(a, b))


def resolved(v):
    """Returns the tensor without lazy conjugation and negation, which torch.save ignores."""
    if isinstance(v, torch.Tensor):
        return v.resolve_conj().resolve_neg() if v.layout == torch.strided else v
    return type(v)(resolved(x) for x in v) if type(v) in (list, tuple) else v


def samples(op, dtype, limit, counts):
    """Yields (expression, file, tensors, result) of each sample that PyTorch runs."""
    torch.manual_seed(7)
    np.random.seed(7)
    found = list(op.sample_inputs("cpu", dtype, requires_grad=False))
    if limit and len(found) > limit:
        found = [found[i * len(found) // limit] for i in range(limit)]
    for sample in found:
        try:
            module, tensors, expression = scripted(op, sample)
            file = module._save_to_buffer_for_lite_interpreter()
        except Exception:
            counts["not scriptable"] += 1
            continue
        try:
            lite, results = _load_for_lite_interpreter(io.BytesIO(file)), []
            for seed in (3, 4, 67280421310721):  # three seeds show if a result is random; the last one is the seed with which Taper starts
                torch.manual_seed(seed)
                with torch.no_grad():
                    results.append(lite(*oracle.clone(tensors)))
        except Exception:
            counts["PyTorch raises"] += 1
            continue
        if any(isinstance(x, torch.Tensor) and x.layout != torch.strided for x in flat(tensors) + flat(results[2])):
            counts["sparse"] += 1
            continue
        if op.name in UNINITIALIZED or not same(*results[:2]):
            counts["random or uninitialized"] += 1
            continue
        if dtype.is_complex and op.name in COMPLEX_DOT and not any(x.any() for x in flat(results[2]) if isinstance(x, torch.Tensor)) \
                and any(t.any() for t in flat(tensors) if isinstance(t, torch.Tensor)):
            counts["complex dot products that are 0 in Debian's build"] += 1
            continue
        yield expression, file, resolved(tensors), resolved(results[2])


def make_cases(folder, dtypes, limit, wanted, part):
    """Writes OPERATOR/DTYPE_N/{model.ptl, case.pt} and counts the omitted samples."""
    import torch.testing._internal.common_methods_invocations as database
    index, of = (int(x) for x in part.split("/"))
    counts = collections.Counter()
    for number, op in enumerate(database.op_db):
        label = label_of(op)
        if (wanted and label not in wanted and op.name not in wanted) or number % of != index:
            continue
        for name in dtypes:
            dtype = getattr(torch, name)
            if not op.supports_dtype(dtype, "cpu"):
                continue
            try:
                for n, (expression, file, tensors, result) in enumerate(samples(op, dtype, limit, counts)):
                    saved = io.BytesIO()
                    torch.save((expression, tensors, result), saved)  # saving raises an exception for complex32
                    case = os.path.join(folder, label, f"{name}_{n}")
                    os.makedirs(case, exist_ok=True)
                    for file_name, content in (("model.ptl", file), ("case.pt", saved.getvalue())):
                        with open(os.path.join(case, file_name), "wb") as f:
                            f.write(content)
            except Exception as e:
                counts[f"no samples ({type(e).__name__})"] += 1
    print("left out: " + (", ".join(f"{n} {why}" for why, n in sorted(counts.items())) or "none"), flush=True)


def run_case(taper, extra, case):
    """Returns (None or the difference, expression)."""
    expression, tensors, want = torch.load(os.path.join(case, "case.pt"))
    files = []
    command = [taper, "run", os.path.join(case, "model.ptl"), "--json"] + extra
    for tensor in tensors:
        command += ["-i", json.dumps(oracle.to_input(oracle.passable(tensor), case, files))]
    p, wrong = oracle.run_taper(command)
    if wrong or p.returncode != 0:
        return wrong or p.stderr.strip()[:300], expression
    return oracle.compare(want, json.loads(p.stdout), {}), expression


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--dtypes", default=DTYPES)
    parser.add_argument("--max", type=int, default=8)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--cases")
    parser.add_argument("--report", help="a line for each case: operator, case, expression, result")
    parser.add_argument("--taper-arg", action="append", default=[])
    a = parser.parse_args()
    folder = a.cases or tempfile.mkdtemp()
    if not os.path.isdir(folder) or not os.listdir(folder):
        make_cases(folder, a.dtypes.split(","), a.max, a.operators, a.part)
    passed = failed = 0
    report = open(a.report, "w") if a.report else None
    for label in sorted(os.listdir(folder)):
        if a.operators and label not in a.operators and label.split(".")[0] not in a.operators:
            continue
        for case in sorted(os.listdir(os.path.join(folder, label))):
            wrong, expression = run_case(a.taper, a.taper_arg, os.path.join(folder, label, case))
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            line = f"{label}\t{case}\t{expression}\t{' '.join((wrong or 'agrees').split())}"
            if report:
                print(line, file=report, flush=True)
            if wrong:
                print("FAILED " + line.replace("\t", "  "), flush=True)
    if not a.cases:
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
