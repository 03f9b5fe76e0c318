#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""pytorch_double.py FOLDER: runs PyTorch's own NNAPI models on the imitation of libneuralnetworks.so. PyTorch converts and loads small models
with the imitation of each level (FOLDER has LEVEL/libneuralnetworks.so). Results must agree with the traced model's: floats within 1e-4 times
the largest absolute value, integers within 1. The log of misuse must stay empty."""
import os
import subprocess
import sys
import tempfile
import warnings

LEVELS = (29, 30, 31)  # PyTorch needs level 29


def make_cases():
    """Returns (name, module, inputs) to trace, convert and run; an optional fourth item has the inputs for the conversion, with 0 for each size
    that only the run decides."""
    import torch
    from torch import nn

    torch.manual_seed(7)
    torch.backends.quantized.engine = "qnnpack"

    class Net(nn.Module):
        """A function as a module, with the modules that it calls as submodules."""

        def __init__(self, function, **modules):
            super().__init__()
            self.function = function
            for name, module in modules.items():
                setattr(self, name, module)

        def forward(self, *inputs):
            return self.function(self, *inputs)

    def nhwc(tensor):
        tensor = tensor.contiguous(memory_format=torch.channels_last)
        tensor.nnapi_nhwc = True
        return tensor

    def quant(tensor, scale=0.04, zero_point=110):
        return torch.quantize_per_tensor(tensor, scale, zero_point, torch.quint8)

    image, row = torch.randn(2, 6, 9, 11), torch.randn(3, 8)
    conv = nn.Sequential(nn.Conv2d(6, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, groups=8, padding=(1, 0)), nn.ReLU6(),
                         nn.Conv2d(8, 4, 1))
    head = nn.Sequential(nn.Conv2d(6, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(8, 5), nn.Softmax(dim=1))
    cases = [("conv nchw", conv, [image]), ("conv nhwc", conv, [nhwc(image)]), ("classifier nchw", head, [image]),
             ("classifier nhwc", head, [nhwc(image)]),
             ("max pool nchw", nn.MaxPool2d(3, 2, 1), [image]), ("max pool nhwc", nn.MaxPool2d((2, 3)), [nhwc(image)]),
             ("average pool", nn.AvgPool2d(2), [nhwc(image)]), ("upsample", nn.UpsamplingNearest2d(scale_factor=2), [image]),
             ("upsample nhwc", nn.UpsamplingNearest2d(size=(13, 17)), [nhwc(image)]),
             ("linear", nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3), nn.Sigmoid()), [row]),
             ("log softmax", nn.LogSoftmax(dim=1), [row]), ("prelu", nn.PReLU(), [row]), ("hardtanh", nn.Hardtanh(), [row])]
    # A slice of 2:7:2 has 3 elements; PyTorch's converter writes 2. Android refuses such a model when the model runs, and the imitation
    # refuses it when the model is finished. The slice here therefore has a whole number of steps.
    functions = {"add": lambda self, x: x + x * x, "sub": lambda self, x: x - x * x, "div": lambda self, x: x / torch.sigmoid(x),
                 "unsqueeze": lambda self, x: x.unsqueeze(1), "reshape": lambda self, x: x.reshape(2, 12), "slice": lambda self, x: x[:, 2:8:2],
                 "cat": lambda self, x: torch.cat([x, x * x], 1), "mean": lambda self, x: torch.mean(x, [1], keepdim=True),
                 "flatten": lambda self, x: torch.flatten(x)}
    cases += [(name, Net(function), [row]) for name, function in functions.items()]
    cases.append(("mean nhwc", Net(lambda self, x: torch.mean(x, [2, 3])), [nhwc(image)]))
    cases.append(("two inputs", Net(lambda self, x, y: torch.relu(x * y)), [row, torch.randn(3, 8)]))
    cases.append(("flexible linear", nn.Linear(8, 5), [row], [torch.zeros(0, 8)]))
    cases.append(("flexible relu nhwc", nn.ReLU(), [nhwc(image)], [nhwc(torch.zeros(0, 6, 0, 0))]))
    cases.append(("flexible cat", Net(lambda self, x, y: torch.cat([x, y], 1)), [row, row + 1.0], [torch.zeros(0, 8), torch.zeros(0, 8)]))

    # ---- quantized models: PyTorch prepares, calibrates and converts them; the tested part is between quantizer and dequantizer
    class Block(nn.Module):
        """An inverted residual, as in MobileNetV2."""

        def __init__(self, residual):
            super().__init__()
            layers = [nn.Conv2d(6, 12, 1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1, groups=12), nn.ReLU(), nn.Conv2d(12, 6, 1)]
            self.layers, self.add, self.residual = nn.Sequential(*layers), nn.quantized.FloatFunctional(), residual

        def forward(self, x):
            return self.add.add(x, self.layers(x)) if self.residual else self.layers(x)

    class Whole(nn.Module):
        def __init__(self, core):
            super().__init__()
            self.quant, self.core, self.dequant = torch.quantization.QuantStub(), core, torch.quantization.DeQuantStub()

        def forward(self, x):
            return self.dequant(self.core(self.quant(x)))

    # One scale for all weights of a layer, because the converter does not support several scales.
    config = torch.quantization.QConfig(activation=torch.quantization.default_observer.with_args(reduce_range=False),
                                        weight=torch.quantization.default_weight_observer)

    def quantize(core, tensor, fuse=()):
        whole = Whole(core).eval()
        for names in fuse:
            torch.quantization.fuse_modules(whole, list(names), inplace=True)
        whole.qconfig = config
        torch.quantization.prepare(whole, inplace=True)
        for _ in range(3):
            whole(tensor)
        torch.quantization.convert(whole, inplace=True)
        return whole

    fuse = [("core.0.layers.0", "core.0.layers.1"), ("core.0.layers.2", "core.0.layers.3")]
    for residual in (False, True):
        core = nn.Sequential(Block(residual), nn.Conv2d(6, 4, 3, stride=2))
        whole = quantize(core, image, fuse)
        name = "residual" if residual else "block"
        cases.append((f"quantized {name} nchw", whole.core, [whole.quant(image)]))
        cases.append((f"quantized {name} nhwc", whole.core, [nhwc(whole.quant(image))]))
        cases.append((f"quantized {name} with its ends", whole, [nhwc(image)]))
    whole = quantize(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), row, ())
    cases.append(("quantized linear", whole.core, [whole.quant(row)]))
    whole = quantize(nn.ConvTranspose2d(6, 4, 3, stride=2), image)
    cases.append(("quantized transposed", whole.core, [nhwc(whole.quant(image))]))
    cases.append(("quantized add", Net(lambda self, x, y: torch.ops.quantized.add(x, y, 0.07, 120)), [quant(row), quant(row * 0.5, 0.03, 90)]))
    cases.append(("quantized mul", Net(lambda self, x, y: torch.ops.quantized.mul(x, y, 0.09, 100)), [quant(row), quant(row * 0.5, 0.03, 90)]))
    cases.append(("quantized max pool", nn.MaxPool2d(2), [nhwc(quant(image))]))
    cases.append(("quantized average pool", nn.AvgPool2d(2), [nhwc(quant(image))]))
    cases.append(("quantized cat", Net(lambda self, x, y: torch.cat([x, y], 1)), [quant(row), quant(row + 1.0)]))
    cases.append(("quantized relu", nn.ReLU(), [quant(row)]))
    return cases


def differs(want, got):
    """Returns a text about the difference of two results, or None if they agree."""
    import torch

    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype} {list(got.shape)}, not {want.dtype} {list(want.shape)}"
    if want.is_quantized:
        if (want.q_scale(), want.q_zero_point()) != (got.q_scale(), got.q_zero_point()):
            return "another scale or zero point"
        worst = (want.int_repr().int() - got.int_repr().int()).abs().max().item()
        return f"integers differ by {worst}" if worst > 1 else None
    worst = (want - got).abs().max().item()
    return f"numbers differ by {worst}" if not worst <= 1e-4 * want.abs().max().item() + 1e-6 else None


def run_level():
    """Runs a level, in a process with the libneuralnetworks.so of that level. Exit status 77: PyTorch cannot load it."""
    import torch
    from torch.backends._nnapi.prepare import convert_model_to_nnapi

    warnings.simplefilter("ignore")
    log, failed = os.environ["TAPER_NNAPI_DOUBLE_LOG"], 0
    cases = make_cases()
    for name, module, inputs, *flexible in cases:
        module.eval()
        with torch.no_grad():
            traced = torch.jit.trace(module, inputs, check_trace=False)
            want = traced(*inputs)
        try:
            converted = convert_model_to_nnapi(traced, flexible[0] if flexible else inputs)
            got = converted(*inputs)
            wrong = differs(want, got) or differs(want, converted(*inputs))
        except Exception as error:  # an exception of the converter, or of a call
            if "libneuralnetworks" in str(error):
                print("SKIPPED: PyTorch cannot load the double:", str(error).split("\n")[0])
                return 77
            wrong = f"{type(error).__name__}: {error}".split("\n")[0]
        said = open(log).read() if os.path.exists(log) else ""
        if said:
            os.remove(log)
        if wrong or said:
            failed += 1
            print(f"FAILED {name}: {wrong or 'misuse'}\n{said}", flush=True)
    print(f"{len(cases) - failed} of {len(cases)} models as they should be", flush=True)
    return int(failed > 0)


def main():
    if sys.argv[1] == "--level":
        sys.exit(run_level())
    statuses = []
    with tempfile.TemporaryDirectory() as folder:
        for level in LEVELS:
            log = f"{folder}/log{level}"
            environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(f"{sys.argv[1]}/{level}"), TAPER_NNAPI_DOUBLE_LOG=log)
            print("level", level, flush=True)
            statuses.append(subprocess.run([sys.executable, os.path.abspath(__file__), "--level"], env=environment).returncode)
            if os.path.exists(log):  # misuse at the end of the process
                print("FAILED: at the end:", open(log).read())
                statuses.append(1)
    sys.exit(1 if any(status not in (0, 77) for status in statuses) else 77 if 77 in statuses else 0)


main()
