#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares gradients with PyTorch's, for the samples of PyTorch's own operator database (torch.testing, OpInfo).

  run_gradients.py TAPER [OPERATOR…] [--second] [--max N] [--part I/K] [--report FILE.tsv] [--list]

Each sample becomes a module that computes a weighted sum of the operator's results and returns the gradients of its tensors, by
torch.autograd.grad; with --second, also the gradients of the sum of these gradients' squares, if PyTorch can compute them. Numbers are float64. An
operator counts as passed if all of its samples agree. An operator that Taper lacks is left out. --part 0/8 takes every eighth operator, and --part
seed/8 those that TAPER_SEED chooses. --list prints a line for each operator. Ends with "N passed, N failed", counted in operators."""
import argparse
import collections
import json
import linecache
import os
import shutil
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import numpy as np
import run_opinfo
import torch

import oracle


# Operators whose eigenvectors have signs that depend on the version of LAPACK. The gradients of the absolute values are compared.
SIGNS_DIFFER = ("linalg.eigh",)

# Operators whose gradients have other values than PyTorch's, with the reason. docs/numerics-differences.md has the same reasons. An error of Taper is
# a failure for these operators, too.
DIFFERENCES = {
    "as_strided_scatter": "PyTorch passes the gradient of overwritten elements on",
    "linalg.norm.subgradients_at_zero": "PyTorch's second derivative is NaN at 0",
    "special.bessel_j0": "PyTorch's Bessel functions are correct to seven digits",
    "special.bessel_j1": "PyTorch's Bessel functions are correct to seven digits",
    "special.bessel_y0": "PyTorch's Bessel functions are correct to seven digits",
    "special.bessel_y1": "PyTorch's Bessel functions are correct to seven digits",
}


def is_real(t):
    return isinstance(t, torch.Tensor) and t.dtype.is_floating_point


def loss_lines(result, signs_differ):
    """Returns lines that compute `loss` from `r`, or None if nothing in the result has a gradient."""
    parts = [("r", result)] if isinstance(result, torch.Tensor) else [(f"r[{i}]", x) for i, x in enumerate(result)]
    if signs_differ:
        parts = [(name + ".abs()", x) for name, x in parts]
    lines = []
    for name, t in parts:
        if is_real(t):
            lines.append(f"    loss = loss + ({name} * torch.cos(torch.arange({name}.numel(), dtype=torch.float64)).reshape({name}.shape)).sum()")
    return ["    loss = torch.zeros([], dtype=torch.float64)"] + lines if lines else None


def source_of(expression, tensors, result, second, signs_differ):
    asked = [i for i, t in enumerate(tensors) if is_real(t)]
    loss = loss_lines(result, signs_differ)
    if not asked or loss is None:
        return None
    names = ", ".join(f"t{i}" for i in asked)
    lines = [f"def forward({', '.join(f't{i}: Tensor' for i in range(len(tensors)))}):"]
    lines += [f"    t{i} = t{i}.detach().requires_grad_(True)" for i in asked]
    lines += [f"    r = {expression}"] + loss
    lines.append(f"    g = torch.autograd.grad([loss], [{names}], create_graph={second}, allow_unused=True)")
    if not second:
        return "\n".join(lines + ["    return g"]) + "\n"
    lines.append("    second = torch.zeros([], dtype=torch.float64)")
    for i in range(len(asked)):
        lines += [f"    g{i} = g[{i}]", f"    if g{i} is not None:", f"        second = second + (g{i} * g{i}).sum()"]
    lines.append("    gg: List[Optional[Tensor]] = []")
    lines.append("    if second.requires_grad:")
    lines.append(f"        gg = torch.autograd.grad([second], [{names}], allow_unused=True)")
    return "\n".join(lines + ["    return g, gg"]) + "\n"


def script(source):
    return oracle.scripted_module(source, len(linecache.cache))


def find_form(op, sample, second):
    """Returns (module, tensors, expression, result) of the first form of the sample that PyTorch runs, or the reason why PyTorch runs no form."""
    tensors = []
    first = list(sample.input) if isinstance(sample.input, (list, tuple)) else sample.input
    arguments = [run_opinfo.literal(a, tensors) for a in [first] + list(sample.args)]
    keywords = [f"{k}={run_opinfo.literal(v, tensors)}" for k, v in sample.kwargs.items()]
    wrong = "no form"
    for expression, own in run_opinfo.expressions(op, arguments, keywords, sample, tensors):
        plain = f"def forward({', '.join(f't{i}: Tensor' for i in range(len(own)))}):\n    return {expression}\n"
        try:
            result = script(plain)(*oracle.clone(own))
            source = source_of(expression, own, result, second, op.name in SIGNS_DIFFER)
            if source is None:
                return "nothing to differentiate"
            module = script(source)
            want = module(*oracle.clone(own))
            again = module(*oracle.clone(own))
            return (module, own, expression, want) if run_opinfo.same(run_opinfo.resolved(want), run_opinfo.resolved(again)) else "random"
        except Exception as e:
            wrong = str(e).strip().split("\n")[-1][:100]
    return wrong


def run_sample(taper, folder, form, second):
    module, tensors, _, want = form
    path = os.path.join(folder, "model.pt")
    module.save(path)
    command, files = [taper, "run", path, "--json"], []
    for tensor in run_opinfo.resolved(tensors):
        command += ["-i", json.dumps(oracle.to_input(oracle.passable(tensor), folder, files))]
    p, wrong = oracle.run_taper(command)
    if wrong or p.returncode != 0:
        return wrong or p.stderr.strip()[:300]
    got = json.loads(p.stdout)
    if second:
        want, got = without_zeros(want), without_zeros(got)
    want = strip(want)
    single = any(t.dtype == torch.float32 for t in tensors)  # some samples have float32 tensors among the float64 ones, for example the weights of `cov`
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if single else {"rtol": 1e-7, "atol": 1e-9}
    return oracle.compare(want, without_empty(want, strip(got)), {**tolerance, "strides": False})


def is_zero(v):
    """Returns true for None, and for a gradient whose elements are 0 except for rounding."""
    if isinstance(v, torch.Tensor):
        v = v.detach().resolve_conj().resolve_neg() + 0  # + 0 makes a new tensor, because a gradient of zeros may have no memory
        v = {"data": (torch.view_as_real(v) if v.is_complex() else v).numpy()}
    return v is None or (isinstance(v, dict) and not np.any(~(np.abs(np.array(v["data"], dtype=np.float64)) <= 1e-9)))


def without_zeros(found):
    """Returns (gradients, second gradients) with None for a second gradient that is 0. For a second derivative that is 0, an operator may
    record zeros or nothing."""
    first, gradients = found
    gradients = [None if is_zero(x) else x for x in gradients]
    return [list(first), gradients if any(x is not None for x in gradients) else []]


def without_empty(want, got):
    """Returns Taper's gradients, with None in place of a gradient that is empty or 0 if PyTorch gives no gradient."""
    if want is None and isinstance(got, dict) and (0 in got.get("shape", [1]) or is_zero(got)):
        return None
    if isinstance(want, (list, tuple)) and isinstance(got, list) and len(want) == len(got):
        return [without_empty(a, b) for a, b in zip(want, got)]
    return got


def strip(v):
    """Returns the value with contiguous tensors, because PyTorch does not specify the strides of gradients."""
    if isinstance(v, torch.Tensor):
        return v.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    if isinstance(v, dict) and "strides" in v:
        shape, strides = v["shape"], []
        for size in reversed(shape):
            strides.insert(0, strides[0] * max(shape[len(shape) - len(strides)], 1) if strides else 1)
        return {**v, "strides": strides}
    if isinstance(v, dict):
        return {k: strip(x) for k, x in v.items()}
    return type(v)(strip(x) for x in v) if isinstance(v, (list, tuple)) else v


def run_operator(taper, op, limit, second, counts):
    """Returns (number of samples that agree, list of (expression, difference))."""
    torch.manual_seed(7)
    found = list(op.sample_inputs("cpu", torch.float64, requires_grad=False))
    if limit and len(found) > limit:
        found = [found[i * len(found) // limit] for i in range(limit)]
    agreed, differ = 0, []
    for sample in found:
        try:
            form = find_form(op, sample, second)
        except Exception as e:
            form = type(e).__name__
        if isinstance(form, str):
            counts[form] += 1
            continue
        folder = tempfile.mkdtemp()
        try:
            wrong = run_sample(taper, folder, form, second)
        finally:
            shutil.rmtree(folder)
        if wrong and "operator that this build of Taper does not have" in wrong:
            counts["not in Taper"] += 1
        elif wrong:
            differ.append((form[2], " ".join(wrong.split())))
        else:
            agreed += 1
    return agreed, differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--second", action="store_true")
    parser.add_argument("--max", type=int, default=6)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--report")
    parser.add_argument("--list", action="store_true")
    a = parser.parse_args()
    import torch.testing._internal.common_methods_invocations as database
    first, of = a.part.split("/")
    index, of = int(os.environ.get("TAPER_SEED") or 0) % int(of) if first == "seed" else int(first), int(of)
    passed = failed = 0
    report = open(a.report, "w") if a.report else None
    for number, op in enumerate(database.op_db):
        label = run_opinfo.label_of(op)
        if (a.operators and label not in a.operators and op.name not in a.operators) or number % of != index:
            continue
        if not op.supports_autograd or not op.supports_dtype(torch.float64, "cpu"):
            continue
        counts = collections.Counter()
        try:
            agreed, differ = run_operator(a.taper, op, a.max, a.second and op.supports_gradgrad, counts)
        except Exception as e:
            print(f"left out {label}: {type(e).__name__} {str(e)[:80]}", flush=True)
            continue
        if agreed + len(differ) == 0:
            if a.list:
                print(f"left out {label}: {dict(counts)}", flush=True)
            continue
        if differ and label in DIFFERENCES and all(wrong.startswith("result") or wrong.startswith("structure") for _, wrong in differ):
            print(f"differs {label}: {DIFFERENCES[label]}", flush=True)
            continue
        passed, failed = passed + (not differ), failed + bool(differ)
        for expression, wrong in differ[:1]:
            print(f"FAILED {label}: {len(differ)} of {agreed + len(differ)}: {expression}: {wrong[:200]}", flush=True)
        if a.list and not differ:
            print(f"agrees {label}: {agreed}", flush=True)
        if report:
            print(f"{label}\t{agreed}\t{len(differ)}\t{differ[0][1] if differ else ''}", file=report, flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
