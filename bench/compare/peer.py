#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""peer.py PEER MODEL THREADS INPUT N,C,H,W: runs an engine other than Taper, with the protocol of worker.c. PEER is a function of this file and
needs a Python package. Exit status 77 means that the package is not installed."""
import os
import resource
import sys
import time

now = time.perf_counter


def torch_lite(model, threads, x):
    """PyTorch's lite interpreter in its fastest form: an optimized file and the input in channels_last; the measured time includes the input's
    conversion to channels_last."""
    import torch
    from torch.jit.mobile import _load_for_lite_interpreter

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    import torch_blas

    torch_blas.require("TAPER_ANY_BLAS" in os.environ)
    torch.set_num_threads(threads)
    if "int8" in os.path.basename(model):
        torch.backends.quantized.engine = "qnnpack"
    yield
    network, image = _load_for_lite_interpreter(model), torch.from_numpy(x)
    yield

    def run():
        with torch.inference_mode():
            result = network(image.contiguous(memory_format=torch.channels_last) if image.dim() == 4 else image)
        return next(iter(result.values())) if isinstance(result, dict) else result[0] if isinstance(result, tuple) else result

    yield run


def onnxruntime(model, threads, x):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    yield
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: x}
    yield
    yield lambda: session.run(None, feed)[0]


def openvino(model, threads, x):
    import openvino as ov

    core = ov.Core()
    yield
    compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1",
                                                 "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    yield
    yield lambda: request.infer([x], share_inputs=True, share_outputs=True)[0]


def ncnn(model, threads, x):
    import ncnn as engine

    yield
    network = engine.Net()
    network.opt.num_threads = threads
    network.opt.use_fp16_packed = network.opt.use_fp16_storage = network.opt.use_fp16_arithmetic = False
    network.opt.use_bf16_storage = False
    if network.load_param(model) or network.load_model(model[: -len("param")] + "bin"):
        raise RuntimeError("ncnn does not load " + model)
    name, out = network.input_names()[0], network.output_names()[0]
    image = engine.Mat(x[0]).clone()
    yield

    def run():
        extractor = network.create_extractor()
        extractor.input(name, image)
        return extractor.extract(out)[1].numpy()

    yield run


def mnn(model, threads, x):
    import MNN

    yield
    runtime = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": threads},))
    network = MNN.nn.load_module_from_file(model, [], [], runtime_manager=runtime)
    image = MNN.expr.placeholder(list(x.shape), MNN.expr.NCHW)
    image.write(x.ravel().tolist())
    yield

    def run():
        result = network.forward([image])
        return (result[0] if isinstance(result, (list, tuple)) else result).read()

    yield run


def executorch(model, threads, x):
    """ExecuTorch with XNNPACK's kernels, to which make_edge.py lowered the network."""
    import torch
    from executorch.extension.pybindings import portable_lib

    portable_lib._unsafe_reset_threadpool(threads)
    yield
    program = portable_lib._load_for_executorch(model)
    image = torch.from_numpy(x)
    yield
    yield lambda: program.forward([image])[0].numpy()


def litert(model, threads, x):
    """LiteRT with XNNPACK's kernels, which are LiteRT's default."""
    from ai_edge_litert.interpreter import Interpreter

    yield
    interpreter = Interpreter(model, num_threads=threads)
    interpreter.allocate_tensors()
    into, out = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
    yield

    def run():
        interpreter.set_tensor(into, x)
        interpreter.invoke()
        return interpreter.get_tensor(out)

    yield run


def main():
    peer, model, threads, data, sizes = sys.argv[1:]
    try:
        import numpy as np

        x = np.fromfile(data, np.float32).reshape([int(s) for s in sizes.split(",")])
        steps = globals()[peer](model, int(threads), x)
        next(steps)
    except ImportError as e:
        print(e, file=sys.stderr)
        sys.exit(77)
    begun = now()
    next(steps)
    run, loaded = next(steps), now()
    result = run()
    first = now()
    print((loaded - begun) * 1e3, (first - loaded) * 1e3, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, flush=True)
    for line in sys.stdin:
        verb, argument = line.split()
        if verb == "save":
            np.ascontiguousarray(result, np.float32).tofile(argument)
            print("saved", flush=True)
            continue
        times, end, after = [], now() + float(argument), 0
        while not times or after < end:
            before = now()
            result = run()
            after = now()
            times.append("%.5f" % ((after - before) * 1e3))
        print(*times, flush=True)


if __name__ == "__main__":
    main()
