#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_models.py FOLDER BUILDER SIZE: writes one of torchvision's networks in each form that bench/compare needs. The weights have seed 0, and
the batch norms were trained on noise, so that activations keep their scale. The files are NAME.pt (script), NAME.ptl, NAME.opt.ptl
(optimize_for_mobile), NAME.trace.pt, NAME.onnx (with QDQ for 8-bit networks) and NAME.input (floats). Needs python3-torch and
python3-torchvision."""
import os
import sys
import warnings

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "scripts", "oracle"))


def main():
    folder, name, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    import torch
    from torch import nn
    from torch.utils.mobile_optimizer import optimize_for_mobile

    import make_zoo

    int8 = name.endswith("+int8")
    model = make_zoo.build(name, image_size=size)[0]
    x = torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(1))
    norms = [m for m in model.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    if norms and not int8:
        noise = torch.randn(4, 3, min(size, 224), min(size, 224), generator=torch.Generator().manual_seed(2))
        for m in norms:
            m.train()
            m.momentum = None
        with torch.no_grad():
            model(noise)
        for m in norms:
            m.eval()
    path = os.path.join(folder, name.replace("+", "_"))
    x.numpy().tofile(path + ".input")

    class Plain(nn.Module):  # a module that returns only the entry "out" of a network's result dict
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, image):
            return self.inner(image)["out"]

    plain = Plain(model).eval() if make_zoo.module_of(name.split("+")[0]) == "segmentation" else model
    with torch.no_grad():
        traced = torch.jit.trace(plain, x, check_trace=False)
        scripted = torch.jit.script(model)
        scripted.save(path + ".pt")
        scripted._save_for_lite_interpreter(path + ".ptl")
        optimize_for_mobile(scripted)._save_for_lite_interpreter(path + ".opt.ptl")
        traced.save(path + ".trace.pt")
        try:
            # swin_v2 makes its masks with zero_, which PyTorch's exporter does not support.
            torch.onnx.register_custom_op_symbolic("aten::zero", lambda g, x: g.op("Sub", x, x), 9)
            with torch.enable_grad():  # if gradients are disabled, attention becomes one operator, which the exporter does not support
                torch.onnx.export(plain, x, path + ".onnx", opset_version=13 if int8 else 14)
        except Exception as e:
            print(f"{name}: no ONNX file: {str(e).splitlines()[0][:200]}", file=sys.stderr)
            if os.path.exists(path + ".onnx"):
                os.remove(path + ".onnx")


if __name__ == "__main__":
    main()
