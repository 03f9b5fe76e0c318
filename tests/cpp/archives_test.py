#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""archives_test.py COMPILER SOURCE PROGRAM MODELS: compiles same_archives.cpp with PyTorch's headers and compares its output with the
output of PROGRAM, the same source compiled with Taper. Then each program reads the files that the other one wrote, and Python's torch
reads Taper's files."""
import pathlib
import subprocess
import sys
import tempfile

from compare_text import compile_with_torch


def run(program, folder, writes, models):
    return subprocess.run([str(program), str(folder), writes, models], check=True, stdout=subprocess.PIPE, text=True).stdout


def read_in_python(folder):
    """Returns the number of values that Python's torch reads wrongly, or None if torch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    pickle = torch.load(folder / "pickle.pt")
    tensors = torch.jit.load(str(folder / "tensors.pt"))
    archive = torch.jit.load(str(folder / "archive.pt"))
    right = [
        pickle[0]["y"].dtype == torch.int32 and pickle[0]["y"].stride() == (1, 2),
        pickle[1:8] == ([1, None], "text", 2.5, None, True, [1, 2, 3], 1 + 2j),
        dict(tensors.named_parameters())["2"].dtype == torch.float16,
        torch.equal(archive.part.layer.bias.detach(), torch.ones(3)),
        archive.name == "again" and archive.part.count == 4 and [n for n, _ in archive.named_buffers()] == ["0"],
    ]
    return right.count(False)


def main():
    compiler, source, program, models = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        other = scratch / "same_archives"
        compile_with_torch(compiler, source, other)
        ours, theirs = scratch / "ours", scratch / "theirs"
        ours.mkdir(), theirs.mkdir()
        wanted = run(other, theirs, "1", models)
        for title, text in [("own files", run(program, ours, "1", models)), ("PyTorch's files", run(program, theirs, "0", models)),
                            ("Taper's files in PyTorch", run(other, ours, "0", models))]:
            if text != wanted:
                failed += 1
                print(f"FAILED {title}: printed", text, "wanted", wanted, sep="\n")
        wrong = read_in_python(ours)
        if wrong:
            print(f"FAILED: Python reads {wrong} values wrongly")
        print(f"{4 - failed - bool(wrong) - (wrong is None)} passed, {failed + bool(wrong)} failed")
        sys.exit(1 if failed or wrong else 0)


if __name__ == "__main__":
    main()
