#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_networks_torch2.py TAPER [FAMILY | FAMILY:NETWORK]… [--forms FORM,…] [--failed-only] [--keep DIR] [--limit SECONDS]

Builds the networks of tests/models/networks_torch2.py with weights from a seed, writes each in several forms with the installed PyTorch 2, runs the
files in Taper and compares every result with PyTorch's. Floats may differ by 1e-4 of the largest plus 1e-5; everything else must be equal.

  static             torch.export with fixed sizes
  core               static after run_decompositions()
  strict             static, exported through Dynamo
  batch              torch.export with a dynamic batch, and run with another batch
  sizes              torch.export with dynamic sizes, as far as PyTorch supports them, and run with other sizes
  trace, script      torch.jit.save
  freeze, optimized  torch.jit.freeze and optimize_for_inference of the trace or the script
  ptl                _save_for_lite_interpreter
  flat               ptl as a flatbuffer

FAMILY is torchvision, transforms, timm, transformers, ultralytics, torchaudio; without one, all. TAPER_TORCH2 names a python with PyTorch 2.8 or newer and these
packages; without it the script is skipped. If a package is missing, its family is skipped. Networks that PyTorch itself cannot export or run are
counted separately. One process builds one network, because exporting does not free its memory; --limit is its time in seconds (900). Prints a line
for each network and form, a table, and "N passed, M failed"."""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import warnings

SKIPPED, FORMS = 77, ("static", "strict", "core", "batch", "sizes", "trace", "script", "freeze", "optimized", "ptl", "flat")
EXPORTED = ("static", "strict", "core", "batch", "sizes")
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- one network, which runs in its own process

def flatten(name, value, into):
    """Yields the parts of a result with the names of `taper run`."""
    import torch
    if isinstance(value, dict):
        for key, item in value.items():
            flatten(f"{name}.{key}", item, into)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            flatten(f"{name}.{i}", item, into)
    elif isinstance(value, torch.Tensor):
        into[name] = value.detach().float().numpy() if value.dtype == torch.bfloat16 else value.detach().numpy()
    elif isinstance(value, (bool, int, float)):
        into[name] = value


def differences(got, wanted):
    import numpy as np
    for name, b in wanted.items():
        a, b = got.get(name), np.asarray(b)
        if a is None or a.shape != b.shape:
            return f"{name}: sizes {None if a is None else a.shape} for {b.shape}; there are {', '.join(sorted(got))[:200]}"
        if np.issubdtype(b.dtype, np.floating):
            same = np.array_equal(np.isnan(a), np.isnan(b)) and np.array_equal(np.where(np.isinf(a), a, 0), np.where(np.isinf(b), b, 0))
            finite = np.isfinite(b)
            off, most = np.abs(a - b, where=finite, out=np.zeros_like(b)).max(initial=0), np.abs(b, where=finite, out=np.zeros_like(b)).max(initial=0)
            if not same or off > 1e-4 * most + 1e-5:
                return f"{name}: off by {off:g}, the largest is {most:g}" + ("" if same else ", others are infinite or NaN")
        elif not np.array_equal(a, b):
            return f"{name}: {np.count_nonzero(a != b)} of {b.size} differ"
    return ""


def same_detections(got, wanted, module, call):
    """Returns true if detections are equal to PyTorch's, except for the order of equal scores and changes that one rounding of the images causes."""
    import run_zoo
    import torch
    near, (images,) = [], call[0]
    for to in (torch.ones, torch.zeros):
        into = {}
        with torch.no_grad():
            flatten("0.output", module([torch.nextafter(image, to(image.shape)) for image in images]), into)
        near.append(into)
    prefixes = {name.rpartition(".")[0] for name in wanted}
    return sorted(got) == sorted(wanted) and all(run_zoo.same_detections(*({
        name: value for name, value in one.items() if name.startswith(prefix + ".")} for one in (got, wanted)), near) for prefix in prefixes)


def run_taper(arguments, path, calls, folder):
    """Returns ({name: array}, "") for the results of a run, or (None, error)."""
    import numpy as np
    from torch.utils._pytree import tree_flatten
    import torch
    written = []
    for number, call in enumerate(calls):
        leaves = []
        for i, leaf in enumerate(tree_flatten(call)[0]):
            if isinstance(leaf, torch.Tensor):
                np.save(os.path.join(folder, f"{number}.{i}.npy"), leaf.numpy())
                leaf = "@" + os.path.join(folder, f"{number}.{i}.npy")
            leaves.append(leaf)
        if path.endswith((".pt", ".ptl")) and isinstance(call[0], tuple) and len(call[0]) == 1 and isinstance(call[0][0], list):
            leaves = [leaves]
        written.append({"method": "forward", "inputs": leaves})
    with open(os.path.join(folder, "calls.json"), "w") as file:
        json.dump(written, file)
    out = os.path.join(folder, "out.npz")
    done = subprocess.run([arguments.taper, "run", path, "--calls", os.path.join(folder, "calls.json"), "-o", out, *arguments.taper_arg],
                          capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        return None, " | ".join(done.stderr.strip().split("\n"))[:600]
    with np.load(out) as archive:
        return {name: archive[name] for name in archive.files}, ""


class Unable(Exception):
    """Raised if PyTorch does not support the form."""


def ask(what, function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise Unable(f"{what}: {type(error).__name__}: {' '.join(str(error).split())[:160]}")


class Forms:
    def __init__(self, network, arguments, folder):
        self.network, self.arguments, self.folder = network, arguments, folder
        self.scripted = None

    def exported(self, form):
        import torch
        network = self.network
        if form in ("batch", "sizes") and form not in network.dynamic:
            raise Unable("not tried")
        example = network.steps[form][0] if network.steps and form in network.steps else network.make(2 if form in ("batch", "sizes") else 1, 0)
        shapes = network.dynamic.get(form)
        options = {**({"dynamic_shapes": shapes} if shapes else {}), **({"strict": True} if form == "strict" else {})}
        program = ask("export", torch.export.export, network.module, *example, **options)
        if form == "core":
            if not hasattr(program, "run_decompositions"):  # PyTorch before 2.2 lacks this method
                raise Unable("not tried")
            program = ask("run_decompositions", program.run_decompositions)
        path = os.path.join(self.folder, f"{form}.pt2")
        ask("save", torch.export.save, program, path)
        if network.steps:
            calls = network.steps.get(form, network.steps["static"])
        else:
            calls = [example] + ([network.make(3, 0)] if form == "batch" else [network.make(2, 1)] if form == "sizes" else [])
        return path, calls, program.module() if hasattr(program, "module") else program

    def script_module(self, form):
        import torch
        network = self.network
        if network.steps:
            raise Unable("not tried")
        example = network.make(1, 0)
        if form == "script" or (form != "trace" and network.scripts and not network.traces):
            if not network.scripts:
                raise Unable("not tried")
            return ask("script", torch.jit.script, network.module), example
        if not network.traces:
            raise Unable("not tried")
        args, kwargs = example
        options = {"example_kwarg_inputs": kwargs} if kwargs else {"example_inputs": args}
        return ask("trace", torch.jit.trace, network.module, check_trace=False, strict=False, **options), example

    def saved(self, form):
        import torch
        module, example = self.script_module(form)
        module.eval()
        if form in ("freeze", "optimized"):
            module = ask("freeze", torch.jit.freeze, module)
        if form == "optimized":
            module = ask("optimize_for_inference", torch.jit.optimize_for_inference, module)
        lite = form in ("ptl", "flat")
        path = os.path.join(self.folder, f"{form}.{'ptl' if lite else 'pt'}")
        if lite:
            ask("save", module._save_for_lite_interpreter, path, **({"_use_flatbuffer": True} if form == "flat" else {}))
        else:
            ask("save", torch.jit.save, module, path)
        if lite:
            from torch.jit.mobile import _load_for_lite_interpreter
            again = ask("load", _load_for_lite_interpreter, path)
            return path, [example], lambda *args, **kwargs: again(*args, *kwargs.values())
        return path, [example], ask("load", torch.jit.load, path)  # fails if constants are tensors of oneDNN

    def run(self, form):
        import torch
        network = self.network
        path, calls, module = (self.exported if form in EXPORTED else self.saved)(form)
        wanted, refused = {}, ""
        for number, (args, kwargs) in enumerate(calls):
            from torch.utils._pytree import tree_map
            copies = tree_map(lambda v: v.clone() if isinstance(v, torch.Tensor) else v, (args, kwargs))
            torch.manual_seed(67280421310721)  # the seed with which Taper's generator starts
            try:
                with torch.no_grad():
                    result = module(*copies[0], **copies[1])
            except Exception as error:
                if number == 0:
                    raise Unable(f"run: {type(error).__name__}: {' '.join(str(error).split())[:160]}")
                refused = " ".join(str(error).split())[:160]
                del calls[number:]
                break
            flatten(f"{number}.output", result, wanted)
        got, error = run_taper(self.arguments, path, calls, self.folder)
        found = error or differences(got, wanted)
        if found and not error and network.detects and same_detections(got, wanted, module, calls[0]):
            return "", "in another order, or as far off as one rounding of the images"
        if self.arguments.keep and found:
            os.makedirs(self.arguments.keep, exist_ok=True)
            os.replace(path, os.path.join(self.arguments.keep, f"{self.arguments.name.replace(':', '_')}.{os.path.basename(path)}"))
        if os.path.exists(path):
            os.remove(path)
        return found, f"PyTorch takes no other sizes ({refused})" if refused else ""


def run_one(arguments):
    import torch
    sys.path.insert(0, HERE)
    import networks_torch2
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    family, name = arguments.name.split(":", 1)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            network = networks_torch2.build(family, name)
        except Exception as error:
            print("RESULT " + json.dumps([["build", "unable", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"]]))
            return
        for form in arguments.forms:
            try:
                found, note = Forms(network, arguments, folder).run(form)
                results.append([form, "failed" if found else "ok", found or note])
            except Unable as error:
                results.append([form, "untried" if str(error) == "not tried" else "unable", str(error)])
            except Exception as error:
                results.append([form, "failed", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"])
            print("RESULT " + json.dumps(results), flush=True)


# ---- all networks

def table(results):
    counts = collections.defaultdict(collections.Counter)
    for name, form, outcome, _ in results:
        counts[name.split(":")[0], form][outcome] += 1
    print(f"{'':14}" + "".join(f"{form:>12}" for form in FORMS))
    for family in sorted({key[0] for key in counts}):
        cells = [counts.get((family, form), {}) for form in FORMS]
        print(f"{family:14}" + "".join(f"{c['ok']} of {c['ok'] + c['failed']}".rjust(12) if c and c["ok"] + c["failed"] else f"{'-':>12}" for c in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--forms", type=lambda text: text.split(","), default=list(FORMS))
    parser.add_argument("--keep", help="a folder for the files that failed")
    parser.add_argument("--limit", type=int, default=900)
    parser.add_argument("--failed-only", action="store_true")
    parser.add_argument("--taper-arg", action="append", default=[])
    parser.add_argument("--one", dest="name", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.name:
        run_one(arguments)
        return
    if "TAPER_TORCH2" not in os.environ:
        print("skipped: TAPER_TORCH2 does not name a python with PyTorch 2.8 or newer")
        sys.exit(SKIPPED)
    python = os.environ["TAPER_TORCH2"]
    listing = ("import sys, json; sys.path.insert(0, sys.argv[1]); import networks_torch2 as n\n"
               "wanted = sys.argv[2:] or list(n.FAMILIES)\n"
               "print('NAMES ' + json.dumps([[w] if ':' in w else [f'{w}:{x}' for x in n.names(w)] if n.available(w) else w for w in wanted]))")
    said = subprocess.run([python, "-W", "ignore", "-c", listing, HERE, *arguments.names], capture_output=True, text=True)
    lines = [line[6:] for line in said.stdout.split("\n") if line.startswith("NAMES ")]
    if not lines:
        sys.exit(f"the networks cannot be listed: {said.stderr[-400:]}")
    results, names = [], []
    for group in json.loads(lines[0]):
        if isinstance(group, str):
            print(f"skipped: {group} is not installed")
        else:
            names += group
    for name in names:
        command = [python, "-W", "ignore", os.path.abspath(__file__), arguments.taper, "--one", name, "--forms", ",".join(arguments.forms)]
        command += [f"--taper-arg={item}" for item in arguments.taper_arg] + (["--keep", arguments.keep] if arguments.keep else [])
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.limit)
            out, died = done.stdout, f"exit status {done.returncode}: {done.stderr[-200:]}"
        except subprocess.TimeoutExpired as late:
            out, died = (late.stdout or b"").decode(), f"no end within {arguments.limit} s"
        lines = [line[7:] for line in out.split("\n") if line.startswith("RESULT ")]
        found = json.loads(lines[-1]) if lines else []
        if not found or (found[0][0] != "build" and len(found) < len(arguments.forms)):
            found.append([arguments.forms[len(found)] if len(found) < len(arguments.forms) else "?", "unable", died])
        for form, outcome, text in found:
            results.append((name, form, outcome, text))
            if outcome not in ("ok", "untried") or (text and outcome == "ok") or not arguments.failed_only and outcome == "ok":
                print(f"{outcome:6} {name} {form}" + (f": {text}" if text else ""), flush=True)
    table(results)
    count = collections.Counter(outcome for _, _, outcome, _ in results)
    print(f"PyTorch itself could not make or run {count['unable']}")
    print(f"{count['ok']} passed, {count['failed']} failed")
    sys.exit(count["failed"] != 0)


if __name__ == "__main__":
    main()
