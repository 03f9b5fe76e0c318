#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_write.py WRITER DIR...: WRITER (module_write_test) reads the lite samples of each DIR and writes them again, with and without their
sources, as a zip archive and as a flatbuffer. PyTorch must load the written files with bit-identical results; the records and pickles of an
archive are compared with the original's field by field."""
import io
import json
import os
import pickle
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import torch
from torch.jit.mobile import _backport_for_mobile, _load_for_lite_interpreter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sampling

torch.backends.quantized.engine = "qnnpack"
torch.set_num_threads(1)
FORMS = ("whole", "bare", "flat")  # the names that module_write_test uses
OLDER = (4, 5, 6, 7)  # versions to which PyTorch can convert its files


# ---- results

def to_input(folder, v):
    if v["t"] == "tensor":
        plain = torch.from_numpy(np.load(os.path.join(folder, v["npy"])))
        if "scale" in v:
            dtype = getattr(torch, v["dtype"])
            return torch._make_per_tensor_quantized_tensor(plain, v["scale"], v["zero_point"]).to(dtype)
        made = torch.empty_strided(v["shape"], v["strides"], dtype=plain.dtype)
        return made.copy_(plain)
    if v["t"] in ("list", "tuple"):
        return (list if v["t"] == "list" else tuple)(to_input(folder, x) for x in v["v"])
    if v["t"] == "dict":
        return {k["v"]: to_input(folder, x) for k, x in v["v"]}
    return v["v"]


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        if (a.dtype, a.shape, a.stride()) != (b.dtype, b.shape, b.stride()) or a.is_quantized != b.is_quantized:
            return False
        return a.detach().contiguous().view(-1).numpy().tobytes() == b.detach().contiguous().view(-1).numpy().tobytes() \
            if not a.is_quantized else torch.equal(a, b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return repr(a) == repr(b)


def call(module, folder, c):
    try:
        return module.run_method(c["method"], *[to_input(folder, a) for a in c["args"]])
    except Exception as e:
        return str(e).strip().split("\n")[-1]  # the last line is the exception; the lines before it are places in the file


def compare_results(folder, original, copy, calls):
    a = _load_for_lite_interpreter(original)
    b = _load_for_lite_interpreter(copy)
    for c in calls:
        if not same(call(a, folder, c), call(b, folder, c)):
            return f"{c['method']}() gives something else"
    return None


# ---- comparing written archives

class Tree(pickle.Unpickler):
    """Returns a pickle as tuples, lists and dicts that can be compared."""

    known = {}

    def find_class(self, module, name):
        if (module, name) in self.known:
            return self.known[module, name]

        class Named:
            def __new__(cls, *arguments):
                made = object.__new__(cls)
                made.text, made.arguments, made.state = f"{module}.{name}", arguments, None
                return made

            def __setstate__(self, state):
                self.state = state

            def __eq__(self, other):
                return (self.text, self.arguments, self.state) == (other.text, other.arguments, other.state)

            def __repr__(self):
                return f"{self.text}{self.arguments}{self.state}"
        return self.known.setdefault((module, name), Named)

    def persistent_load(self, pid):
        return ("storage", pid[1](), *pid[2:])


def tree(archive, record):
    return Tree(io.BytesIO(archive.read(record))).load()


def without_blanks(function):
    """Removes blanks, because PyTorch writes types without them."""
    name, table, *schema = function
    return (name, tuple((k, tuple(t.replace(" ", "") for t in v)) if k == "types" else (k, v) for k, v in table), *schema)


def names(archive):
    infos = archive.infolist()
    folder = infos[0].filename.split("/")[0] + "/"
    return folder, [i.filename[len(folder):] for i in infos]


def compare_archives(original, copy, code):
    """Compares the records. code: the copy has the sources."""
    a, b = zipfile.ZipFile(original), zipfile.ZipFile(copy)
    if b.testzip() is not None:
        return f"zipfile finds {b.testzip()} damaged"
    (a_folder, a_names), (b_folder, b_names) = names(a), names(b)
    program = tree(a, a_folder + "bytecode.pkl")
    wanted = [n for n in a_names if code or not n.startswith(("code/", "constants/", "constants.pkl"))]
    if not code:
        b_names = [n for n in b_names if not n.startswith(("code/", "constants/", "constants.pkl"))]
    if program[0] >= 8 and wanted != b_names:  # only compared from version 8 on, because older files have another order
        return f"records {b_names}, wanted {wanted}"
    again = tree(b, b_folder + "bytecode.pkl")
    if program[0] != again[0]:
        return f"bytecode version {again[0]}"
    if code and [without_blanks(f) for f in program[1:]] != list(map(without_blanks, again[1:])):
        return "bytecode.pkl differs"
    if tree(a, a_folder + "data.pkl") != tree(b, b_folder + "data.pkl"):
        return "data.pkl differs"
    for name in a_names:
        if name in b_names and not name.endswith((".pkl", "version")) and a.read(a_folder + name) != b.read(b_folder + name):
            return f"{name} differs"
    if "mobile_debug_handles.pkl" in a_names:  # skips the first item, the version, because a copy for an older version keeps the older version
        handles = [tree(x, folder + "mobile_debug_handles.pkl")[1:] for x, folder in ((a, a_folder), (b, b_folder))]
        if handles[0] != handles[1]:
            return "the debug handles differ"
    if code:
        if a.read(a_folder + a_names[-1]) != b.read(b_folder + b_names[-1]) and a_names[-1] == b_names[-1]:
            return f"version {b.read(b_folder + b_names[-1])!r}"
        return compare_scripts(original, copy)
    return None


def compare_scripts(original, copy):
    try:
        torch.jit.load(original)
    except RuntimeError:
        return None  # None if this PyTorch lacks a class of the file
    torch.jit.load(copy)  # the copy must load, because its records and data.pkl are those of the original
    return None


# ----

def apart(work):
    """Calls `work` in a process of its own, because PyTorch may crash. Returns the text that `work` returns ("" for None), or a text about its error or
    crash."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            answer = work()
        except Exception as e:
            answer = f"{type(e).__name__}: {str(e).strip().splitlines()[0][:300]}"
        os.write(write, (answer or "").encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return answer if os.WIFEXITED(status) else f"ended by signal {os.WTERMSIG(status)}"


def own_flatbuffer(folder, entry, out):
    """Returns the path of the flatbuffer that PyTorch writes, or None. PyTorch cannot write some models as flatbuffers."""
    script = os.path.join(folder, entry["name"] + ".pt")
    if not os.path.exists(script):
        return None
    made = os.path.join(out, entry["name"] + ".own.ptl")
    wrong = apart(lambda: torch.jit.load(script)._save_for_lite_interpreter(made, _use_flatbuffer=True))
    return None if wrong else made


def backports(folder, entry, model, out):
    """Returns the paths of an archive's older forms."""
    made = []
    if ".bc" in model or not zipfile.is_zipfile(os.path.join(folder, model)):
        return made
    for version in OLDER:
        path = os.path.join(out, f"{entry['name']}.back{version}.ptl")
        if not apart(lambda: None if _backport_for_mobile(os.path.join(folder, model), path, version) else "no"):
            made.append(path)
    return made


def main():
    writer, folders = sys.argv[1], sys.argv[2:]
    cases = differing = unable = 0
    for folder in folders:
        with tempfile.TemporaryDirectory() as out:
            manifest = json.load(open(os.path.join(folder, "manifest.json")))
            models = [(e, os.path.join(folder, m)) for e in manifest for m in e["models"] if m.endswith(".ptl") and sampling.taken(m, 0.4)]
            models += [(e, p) for e, m in list(models) for p in backports(folder, e, os.path.basename(m), out)]
            p = subprocess.run([writer, "--out", out] + [path for _, path in models], capture_output=True, text=True)
            if p.returncode != 0:
                print(p.stdout + p.stderr)
                return 1
            for entry, original in models:
                model = os.path.basename(original)
                reason = apart(lambda: compare_results(folder, original, original, entry["calls"]))
                if reason:
                    unable += 1
                    print(f"skipped {model}: this PyTorch does not run it ({reason[:80]})")
                for form in FORMS:
                    copy = os.path.join(out, f"{model}.{form}.ptl")
                    if not os.path.exists(copy):
                        continue  # a flatbuffer always has version 9
                    base, unfit = original, reason
                    if form == "flat" and not reason:
                        base = own_flatbuffer(folder, entry, out) or original
                        unfit = apart(lambda: compare_results(folder, base, base, entry["calls"]))
                        if unfit:
                            print(f"skipped {model} as {form}: PyTorch cannot run its own either ({unfit[:80]})")
                    work = []
                    if not unfit:
                        work.append(lambda: compare_results(folder, base, copy, entry["calls"]))
                    if form != "flat" and zipfile.is_zipfile(original):
                        work.append(lambda: compare_archives(original, copy, form == "whole"))
                    for one in work:
                        wrong = apart(one)
                        cases += 1
                        if wrong:
                            differing += 1
                            print(f"FAILED {model} as {form}: {wrong}")
    print(f"{cases} comparisons, {differing} differing; {unable} models that this PyTorch cannot run")
    return 1 if differing or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
