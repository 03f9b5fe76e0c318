#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""record_pt2.py RECORDED_CASES: writes PyTorch 2's results of the calls in pt2_calls.py, with their exported programs, to
tests/data/recorded/pt2_operators.rec, which runs everywhere without PyTorch. Run it with a Python that has PyTorch 2.8 or newer.
RECORDED_CASES then runs the recording; failures that are not known differences must be fixed."""
import io
import json
import os
import re
import subprocess
import sys
import zipfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
sys.path.insert(0, os.path.join(TOP, "tests", "ops"))
import torch

import agreement
import oracle
import pt2_calls
import recording

MOST = 16384  # largest number of bytes of a case's inputs and results


def slim(program):
    """Returns the archive with only the parts that are needed to run it, without the lines of Python source."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(program)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("models/model.json"):
                model = json.loads(data)
                for node in model["graph_module"]["graph"]["nodes"]:
                    node["metadata"] = {}
                data = json.dumps(model, separators=(",", ":")).encode()
            if "/sample_inputs/" not in name and "/.data/" not in name:
                new.writestr(zipfile.ZipInfo(name), data)
    return out.getvalue()


class Pt2Recording(recording.Recording):
    def add_program(self, name, program, args, want, options):
        case = recording.text(name) + self.blob(program) + bytes([len(args)])
        self.cases.append(case + b"".join(self.tensor(a, True, None) for a in args) + self.result(want, options))


def record(rec, name, call):
    """Returns false if the call cannot be recorded: random or uninitialized results, too large."""
    module = pt2_calls.Call(*call).eval()
    args = [oracle.passable(pt2_calls.resolved(module.leaves[i].detach())) for i in module.where]
    want = pt2_calls.resolved(pt2_calls.result_of(module, args))
    if sum(t.numel() * t.element_size() for t in agreement.numbers([args, want])) > MOST:
        return False
    out = io.BytesIO()
    torch.export.save(torch.export.export(module, tuple(a.clone() for a in args)), out)
    options = {"scale": agreement.scale(args) or agreement.scale(want), "length": agreement.length(args)}
    rec.add_program(name, slim(out.getvalue()), args, want, options)
    return True


def main():
    path, rec, left, numbers = os.path.join(TOP, "tests/data/recorded/pt2_operators.rec"), Pt2Recording(), [], {}
    for call in [*pt2_calls.core(), *pt2_calls.others()]:
        name = re.sub(r"\.default(?=\.|$)", "", pt2_calls.name_of(call))
        numbers[name] = numbers.get(name, 0) + 1
        if "empty" in name or pt2_calls.name_of(call) in pt2_calls.KNOWN or not record(rec, f"{name}/{numbers[name]}", call):
            left.append(name)
    with open(path, "wb") as file:
        file.write(rec.packed())
    print(f"{path}: {len(rec.cases)} cases, {os.path.getsize(path)} bytes; left out: {', '.join(left)}")
    return subprocess.run([sys.argv[1], path], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
