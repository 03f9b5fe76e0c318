#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_training_mode.py TAPER: checks the note of taper run about a model that was saved in training mode and ran in it. The note must be printed
if, and only if, the result of an operator depends on the mode, for TorchScript and for bytecode. With --no-optimize branches are not decided
before the run, so operators in a branch that does not run in training mode count too."""
import os
import subprocess
import sys
import tempfile

import torch
from torch import nn

SAID = "was saved in training mode and ran in it"


class Branch(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x) if self.training else x


class Recurrent(nn.Module):
    def __init__(self, kind, dropout):
        super().__init__()
        self.layer = kind(4, 4, num_layers=2, dropout=dropout)

    def forward(self, x):
        return self.layer(x[0, 0])[0]


class Held(nn.Module):
    """A module in training mode whose layer is in evaluation mode."""
    def __init__(self, layer):
        super().__init__()
        self.layer = layer.eval()

    def forward(self, x):
        return self.layer(x) + 1


CASES = (("nothing", nn.Sequential(nn.Linear(4, 4), nn.ReLU()), False),
         ("dropout", nn.Dropout(), True), ("dropout of nothing", nn.Dropout(0.0), False), ("dropout2d", nn.Dropout2d(), True),
         ("alpha_dropout", nn.AlphaDropout(), True), ("rrelu", nn.RReLU(), True), ("branch", Branch(), True),
         ("batch_norm", nn.BatchNorm2d(3), True), ("batch_norm of the batch", nn.BatchNorm2d(3, track_running_stats=False), False),
         ("instance_norm", nn.InstanceNorm2d(3), False), ("instance_norm, tracking", nn.InstanceNorm2d(3, track_running_stats=True), True),
         ("lstm", Recurrent(nn.LSTM, 0.0), False), ("gru", Recurrent(nn.GRU, 0.0), False), ("attention", nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), False))


def said(taper, model, options):
    p = subprocess.run([taper, "run", model, "-i", "ones:2x3x4x4" if "attention" not in model else "ones:2x3x4", *options],
                       capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr)
    return SAID in p.stderr


def main():
    taper = sys.argv[1]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, module, depends in CASES:
            held = Held(module.train())
            for what, m, wanted in ((name, nn.Sequential(module), depends), (name + ", held", held, False)):
                m.train()
                if m is held:
                    held.layer.eval()
                files = [os.path.join(folder, name + end) for end in (".pt", ".ptl")]
                scripted = torch.jit.script(m)
                scripted.save(files[0])
                scripted._save_for_lite_interpreter(files[1])
                for file in files:
                    for options, expected in (([], wanted), (["--no-optimize"], wanted), (["--eval"], False)):
                        got = said(taper, file, options)
                        good = got == expected or (got and "--no-optimize" in options)
                        passed, failed = passed + good, failed + (not good)
                        if not good:
                            print(f"FAILED {what} {os.path.splitext(file)[1]} {options}: the remark is {'there' if got else 'missing'}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
