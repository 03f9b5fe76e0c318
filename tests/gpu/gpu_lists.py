#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gpu_lists.py TAPER [--filter TEXT]: compares every operator of PyTorch 1.13's Vulkan and Metal backends with PyTorch. The
device name ends with "!", so that the operators run only on the GPU. TAPER_GPU names the device (vulkan:llvmpipe). NOT_HERE has the operators
that compute nothing; docs/gpu.md gives the reason."""
import argparse
import os
import subprocess
import sys
import tempfile

import torch

import gpu_operators

# Operators that PyTorch's sources register (aten/src/ATen/native/vulkan, …/metal). A name with "_" at its end writes in place.
VULKAN = """_adaptive_avg_pool2d _empty_affine_quantized _log_softmax _reshape_alias _softmax add.Scalar add.Tensor add_.Scalar add_.Tensor addmm
    avg_pool2d batch_norm cat clamp clamp_ clone convolution_overrideable cumsum dequantize.self div.Scalar div.Tensor div_.Scalar div_.Tensor
    empty.memory_format empty_strided glu gru.input hardshrink hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ layer_norm
    leaky_relu leaky_relu_ lerp.Scalar lerp.Tensor lerp_.Scalar lerp_.Tensor lstm.input max_pool2d mean.dim mm mul.Scalar mul.Tensor
    mul_.Scalar mul_.Tensor permute quantize_per_tensor reflection_pad2d relu relu_ replication_pad2d select.int sigmoid sigmoid_ slice.Tensor
    stack sub.Scalar sub.Tensor sub_.Scalar sub_.Tensor tanh tanh_ threshold upsample_nearest2d view""".split()
METAL = """adaptive_avg_pool2d add.Tensor add_.Tensor addmm cat chunk clamp conv2d detach div.Tensor div_.Tensor empty.memory_format empty_strided
    flatten.using_ints hardshrink hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ leaky_relu leaky_relu_ log_softmax.int max_pool2d
    mean.dim mul.Tensor mul_.Tensor reflection_pad2d relu relu_ reshape sigmoid softmax.int sub.Tensor sub_.Tensor t tanh transpose.int
    upsample_nearest2d.vec view""".split()
NOT_HERE = {"_empty_affine_quantized", "empty.memory_format", "empty_strided"}

# The calls. x is the result of a convolution, of sizes [2, 8, 7, 6]; y is another tensor, w a matrix of sizes [6, 6].
CALLS = {
    "_adaptive_avg_pool2d": "torch.ops.aten._adaptive_avg_pool2d(x, [2, 3])", "_log_softmax": "torch.ops.aten._log_softmax(x, 1, False)",
    "_reshape_alias": "torch.ops.aten._reshape_alias(x, [2, 336], [336, 1])", "_softmax": "torch.ops.aten._softmax(x, 1, False)",
    "add.Scalar": "torch.add(x, 1.5)", "add.Tensor": "torch.add(x, y)", "add_.Scalar": "x.add_(1.5)", "add_.Tensor": "x.add_(y)",
    "addmm": "torch.addmm(w, x[0, 0, :6], w)", "avg_pool2d": "torch.nn.functional.avg_pool2d(x, [3, 3], [2, 2], [1, 1])",
    "batch_norm": "torch.batch_norm(x, b, b, b * 0.5, b * b + 0.5, False, 0.1, 1e-5, False)", "cat": "torch.cat([x, y], 1)",
    "clamp": "torch.clamp(x, -0.5, 0.5)", "clamp_": "x.clamp_(-0.5, 0.5)", "clone": "x.clone() + 1",
    "convolution_overrideable": "torch.ops.aten.convolution_overrideable(x, c, b, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)",
    "conv2d_padded": "torch.conv2d(x, c, b, [1, 1], [1, 1])", "cumsum": "torch.cumsum(x, 1)",
    "dequantize.self": "torch.quantize_per_tensor(x, 0.05, 128, 13).dequantize()", "div.Scalar": "torch.div(x, 1.5)",
    "div.Tensor": "torch.div(x, y.abs() + 1)", "div_.Scalar": "x.div_(1.5)", "div_.Tensor": "x.div_(y.abs() + 1)", "glu": "torch.nn.functional.glu(x, 1)",
    "gru.input": "torch.gru(x[0], h, [g0, g1, g2, g2], True, 1, 0.0, False, False, False)[0]", "hardshrink": "torch.hardshrink(x, 0.3)",
    "hardsigmoid": "torch.nn.functional.hardsigmoid(x)", "hardsigmoid_": "torch.ops.aten.hardsigmoid_(x)",
    "hardswish": "torch.ops.aten.hardswish(x)", "hardswish_": "torch.ops.aten.hardswish_(x)", "hardtanh": "torch.ops.aten.hardtanh(x, -0.5, 0.7)",
    "hardtanh_": "torch.ops.aten.hardtanh_(x, -0.5, 0.7)", "layer_norm": "torch.layer_norm(x, [6], w[0], w[1], 1e-5)",
    "leaky_relu": "torch.ops.aten.leaky_relu(x, 0.2)", "leaky_relu_": "torch.ops.aten.leaky_relu_(x, 0.2)", "lerp.Scalar": "torch.lerp(x, y, 0.3)",
    "lerp.Tensor": "torch.lerp(x, y, y.sigmoid())", "lerp_.Scalar": "x.lerp_(y, 0.3)", "lerp_.Tensor": "x.lerp_(y, y.sigmoid())",
    "lstm.input": "torch.lstm(x[0], [h, h], [l0, l1, l2, l2], True, 1, 0.0, False, False, False)[0]",
    "max_pool2d": "torch.max_pool2d(x, [3, 3], [2, 2], [1, 1])", "mean.dim": "torch.mean(x, [2, 3])", "mm": "torch.mm(x[0, 0], w)",
    "mul.Scalar": "torch.mul(x, 1.5)", "mul.Tensor": "torch.mul(x, y)", "mul_.Scalar": "x.mul_(1.5)", "mul_.Tensor": "x.mul_(y)",
    "permute": "x.permute(0, 2, 3, 1) + 1", "quantize_per_tensor": "torch.quantize_per_tensor(x, 0.05, 128, 13).dequantize()",
    "reflection_pad2d": "torch.ops.aten.reflection_pad2d(x, [1, 2, 3, 1])", "relu": "torch.relu(x)", "relu_": "torch.relu_(x)",
    "replication_pad2d": "torch.ops.aten.replication_pad2d(x, [1, 2, 3, 1])", "select.int": "x.select(2, 3) + 1", "sigmoid": "torch.sigmoid(x)",
    "sigmoid_": "torch.sigmoid_(x)", "slice.Tensor": "x[:, 1:5] + 1", "stack": "torch.stack([x, y], 1)", "sub.Scalar": "torch.sub(x, 1.5)",
    "sub.Tensor": "torch.sub(x, y)", "sub_.Scalar": "x.sub_(1.5)", "sub_.Tensor": "x.sub_(y)", "tanh": "torch.tanh(x)", "tanh_": "torch.tanh_(x)",
    "threshold": "torch.threshold(x, 0.2, -1.0)", "upsample_nearest2d": "torch.ops.aten.upsample_nearest2d(x, [11, 9])", "view": "x.view([2, 4, 2, 42]) + 1",
    "adaptive_avg_pool2d": "torch.ops.aten.adaptive_avg_pool2d(x, [2, 3])", "chunk": "torch.chunk(x, 2, 1)[1] + 1", "conv2d": "torch.conv2d(x, c, b)",
    "detach": "x.detach() + 1", "flatten.using_ints": "torch.flatten(x, 1) + 1", "log_softmax.int": "torch.log_softmax(x, 1)",
    "reshape": "torch.reshape(x, [2, 16, 21]) + 1", "softmax.int": "torch.softmax(x, 1)", "t": "torch.t(x[0, 0]) + 1", "transpose.int": "torch.transpose(x, 1, 2) + 1",
    "upsample_nearest2d.vec": "torch.ops.aten.upsample_nearest2d(x, None, [2.0, 2.0])",
}
# Operators that only PyTorch's GPU backends implement, with an operator of the CPU that gives the same result.
SAME = {"convolution_overrideable": "conv2d_padded"}


def anchor():
    """Returns a module with weights, of a new class that can get its own method."""
    class Anchor(torch.nn.Module):
        pass

    made = Anchor()
    torch.manual_seed(3)
    for name, sizes in {"k": (8, 3, 1, 1), "c": (8, 8, 3, 3), "b": (8,), "w": (6, 6), "h": (1, 7, 5), "g0": (15, 6), "g1": (15, 5), "g2": (15,),
                        "l0": (20, 6), "l1": (20, 5), "l2": (20,)}.items():
        made.register_buffer(name, torch.randn(sizes) * 0.5)
    return torch.jit.script(made.eval())


def module_of(name):
    """Returns the operator after a convolution, scripted and frozen. In-place operators write to the result of a sum."""
    module = anchor()
    names = [n for n, _ in module.named_buffers() if n != "k"]
    lines = [f"    {n} = self.{n}" for n in names]
    module.define("def forward(self, a):\n" + "\n".join(lines) + "\n    y = torch.conv2d(a, self.k)\n    x = y * 2 + y\n"
                  f"    return {CALLS[name]}\n")
    return module if name == "detach" else torch.jit.freeze(module)  # freezing removes detach


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = torch.nn.GRU(4, 3, 2, batch_first=True)
        self.lstm = torch.nn.LSTM(4, 3, 1, batch_first=True)

    def forward(self, x, h, c):
        a, b = self.gru(x, h)
        d, (e, f) = self.lstm(x, (h[:1], c))
        return torch.cat([a.reshape(-1), b.reshape(-1), d.reshape(-1), e.reshape(-1), f.reshape(-1)])


def prepared(taper, folder, device):
    """Makes calls that only files prepared for Vulkan have: recurrent layers with packed weights."""
    source, made = os.path.join(folder, "recurrent.pt"), os.path.join(folder, "recurrent.ptl")
    module, inputs = torch.jit.script(Recurrent().eval()), [torch.randn(2, 5, 4), torch.randn(2, 2, 3), torch.randn(1, 2, 3)]
    module.save(source)
    subprocess.run([taper, "optimize", source, "-o", made, "--backend", "vulkan"], check=True, capture_output=True)
    listed = subprocess.run([taper, "ops", made], check=True, capture_output=True, text=True).stdout.split()
    if not {"vulkan_prepack::run_gru_context", "vulkan_prepack::run_lstm_context"} <= set(listed):
        return f"prepared networks call {listed}"
    got, said = gpu_operators.by_program(taper, made, [one.numpy() for one in inputs], device, False)
    return said if got is None else gpu_operators.difference(got[0], module(*inputs).detach().numpy(), 1e-4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taper")
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    device, folder = os.environ.get("TAPER_GPU", "vulkan:llvmpipe"), tempfile.mkdtemp()
    torch.manual_seed(1)
    x, failed, count = torch.randn(2, 3, 7, 6), 0, 0
    for name in sorted(set(VULKAN + METAL) - NOT_HERE):
        if args.filter not in name:
            continue
        module, wrong = module_of(name), None
        graph, plain = str(module.graph), name.split(".")[0]
        if f"aten::{plain}(" not in graph:
            wrong = f"the graph does not call it:\n{graph}"
        else:
            path = os.path.join(folder, "m.pt")
            module.save(path)
            want = module_of(SAME.get(name, name))(x)
            got, said = gpu_operators.by_program(args.taper, path, [x.numpy()], device, False)
            wrong = said if got is None else gpu_operators.difference(got[0], want.numpy(), 1e-4)
        count += 1
        if wrong:
            print(f"{name}: {wrong}", flush=True)
            failed += 1
    if args.filter in "prepared":
        wrong = prepared(args.taper, folder, device)
        count, failed = count + 1, failed + bool(wrong)
        print(f"prepared: {wrong}\n" if wrong else "", end="", flush=True)
    print(f"{count - failed} passed, {failed} failed")
    return failed != 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
