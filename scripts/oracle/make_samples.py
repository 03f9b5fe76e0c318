#!/usr/bin/env python3
"""Writes the small reference models in samples/ (random weights), their inputs and expected
outputs (.npy) and samples/manifest.json.  Needs PyTorch 1.13 with QNNPACK and XNNPACK
(Debian python3-torch).  Run: /usr/bin/python3 make_samples.py [outdir]"""
import io, json, os, sys, zipfile, warnings
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.bundled_inputs as bi
from torch.utils.mobile_optimizer import optimize_for_mobile
from torch.jit.mobile import (_load_for_lite_interpreter, _backport_for_mobile,
                              _get_model_bytecode_version)

warnings.filterwarnings("ignore")
OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "samples")
os.makedirs(OUT, exist_ok=True)
torch.backends.quantized.engine = "qnnpack"
MAN = []


def rnd(*shape, seed=0, lo=-1.0, hi=1.0):
    g = torch.Generator().manual_seed(seed + 1000)
    return torch.rand(*shape, generator=g) * (hi - lo) + lo


def reseed(seed):
    torch.manual_seed(seed)


def desc(prefix, v, files):
    """Describes a value as JSON; tensors go to .npy files."""
    if isinstance(v, torch.Tensor):
        fn = prefix + ".npy"
        d = {"t": "tensor", "dtype": str(v.dtype).replace("torch.", ""), "shape": list(v.shape),
             "strides": list(v.stride()) if v.layout == torch.strided else None, "npy": fn}
        if v.is_quantized:
            d["scale"], d["zero_point"] = v.q_scale(), v.q_zero_point()
            np.save(os.path.join(OUT, fn), v.int_repr().contiguous().numpy())
        else:
            np.save(os.path.join(OUT, fn), v.detach().contiguous().numpy())
        files.append(fn)
        return d
    if v is None or isinstance(v, (bool, int, float, str)):
        return {"t": type(v).__name__, "v": v}
    if isinstance(v, complex):
        return {"t": "complex", "v": [v.real, v.imag]}
    if isinstance(v, dict):
        return {"t": "dict", "v": [[desc(f"{prefix}_k{i}", k, files), desc(f"{prefix}_v{i}", x, files)]
                                  for i, (k, x) in enumerate(v.items())]}
    if isinstance(v, (list, tuple)):
        return {"t": "tuple" if isinstance(v, tuple) else "list",
                "v": [desc(f"{prefix}_{i}", x, files) for i, x in enumerate(v)]}
    return {"t": "opaque", "v": str(type(v))}


def clone(v):
    if isinstance(v, torch.Tensor):
        return v.clone()
    if isinstance(v, dict):
        return {k: clone(x) for k, x in v.items()}
    if isinstance(v, list):
        return [clone(x) for x in v]
    return v


def record(name, files, calls, runner, note, **kw):
    ent = {"name": name, "models": files, "note": note, "calls": [], **kw}
    npys = []
    for i, (method, args) in enumerate(calls):
        e = {"method": method, "args": [desc(f"{name}.c{i}.in{j}", a, npys) for j, a in enumerate(args)]}
        if runner is not None:
            try:
                r = runner(method, [clone(a) for a in args])
                e["ret"] = desc(f"{name}.c{i}.out", r, npys)
            except Exception as ex:  # in one sample an exception is the expected result
                e["raises"] = str(ex).strip().splitlines()[-1]
        ent["calls"].append(e)
    MAN.append(ent)


def script_runner(m):
    return lambda meth, args: getattr(m, meth)(*args)


def lite_runner(path):
    m = _load_for_lite_interpreter(path)
    return lambda meth, args: m.run_method(meth, *args)


def check_lite(path, calls, ref):
    lr = lite_runner(path)
    for meth, args in calls:
        try:
            a = ref(meth, [clone(x) for x in args])
        except Exception:
            continue
        b = lr(meth, [clone(x) for x in args])
        if isinstance(a, torch.Tensor):
            assert torch.equal(a.dequantize() if a.is_quantized else a, b.dequantize() if b.is_quantized else b), path


def save_all(name, m, calls, note, pt=True, ptl=True, fb=False, extra=None, debug=False, run=True, **kw):
    files = []
    ref = script_runner(m) if run else None
    if pt:
        m.save(os.path.join(OUT, name + ".pt"), _extra_files=extra or {})
        files.append(name + ".pt")
    if ptl:
        p = os.path.join(OUT, name + ".ptl")
        m._save_for_lite_interpreter(p, _extra_files=extra or {}, _save_mobile_debug_info=debug)
        files.append(name + ".ptl")
        if run:
            check_lite(p, calls, ref)
    if fb:
        p = os.path.join(OUT, name + ".fb.ptl")
        m._save_for_lite_interpreter(p, _extra_files=extra or {}, _use_flatbuffer=True)
        files.append(name + ".fb.ptl")
        if run:
            check_lite(p, calls, ref)
    # The expected results come from a fresh copy, because the checks above may have changed the module.
    record(name, files, calls, script_runner(torch.jit.load(os.path.join(OUT, files[0]))) if run and files[0].endswith(".pt") else ref,
           note, **kw)


# ---- 01 plain scripted convnet, three containers -------------------------------------------
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.bn = nn.BatchNorm2d(6)
        self.dw = nn.Conv2d(6, 6, 3, padding=1, groups=6, bias=False)
        self.fc = nn.Linear(6, 4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        x = F.relu6(self.bn(self.conv(x)))
        y = F.hardswish(self.dw(x)) + x
        y = F.relu(y)
        y = F.adaptive_avg_pool2d(y, 1).flatten(1)
        return self.fc(self.drop(y))


def make_net():
    reseed(1)
    n = Net()
    n.bn.running_mean.uniform_(-.3, .3)
    n.bn.running_var.uniform_(.5, 1.5)
    return n.eval()


X = rnd(1, 3, 10, 12)
net = make_net()
s = torch.jit.script(net)
save_all("s01_convnet", s, [("forward", [X])], "scripted CNN: .pt, zip .ptl, flatbuffer .ptl", fb=True,
         extra={"meta.json": b'{"labels": 4}', "sub/notes.txt": b"hello"})

# ---- 02 traced ------------------------------------------------------------------------------
t = torch.jit.trace(net, X)
save_all("s02_traced", t, [("forward", [X])], "traced form of the same network")


# ---- 03 control flow ------------------------------------------------------------------------
class Flow(nn.Module):
    def forward(self, x, n: int, flag: bool = True):
        y = x
        i = 0
        while i < n and bool(y.sum() < 100):
            if flag:
                y = y * 2
            elif i % 2 == 0:
                y = y + 1
            else:
                y = y - x
            i += 1
        for k in range(3):
            if k == 1:
                continue
            y = y + k
        for v in [1.5, 2.5]:
            y = y * v
            if bool(y.max() > 1000):
                break
        z: Optional[torch.Tensor] = None
        if n > 2:
            z = y
        if z is not None:
            return z, i
        return x, -1


save_all("s03_control_flow", torch.jit.script(Flow()),
         [("forward", [rnd(2, 3), 4, True]), ("forward", [rnd(2, 3), 5, False]), ("forward", [rnd(2, 3), 1, True])],
         "if/elif/while/for/continue/break/Optional refinement, default argument", fb=True)


# ---- 04 containers --------------------------------------------------------------------------
class Pair(NamedTuple):
    a: torch.Tensor
    n: int


class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.table: Dict[str, List[int]] = {"x": [1, 2, 300], "y": [-5, 70000, 5000000000]}
        self.mixed: List[Optional[torch.Tensor]] = [torch.ones(2), None]
        self.tl: List[torch.Tensor] = [torch.zeros(2), torch.arange(3)]
        self.fl: List[float] = [0.5, float("inf")]
        self.bl: List[bool] = [True, False]
        self.sl: List[str] = ["a", "b\n\u00e9"]
        self.tup: Tuple[int, str, float] = (3, "q", 1e-12)
        self.cplx = complex(1.0, -2.0)
        self.dev = torch.device("cpu")
        self.id: Dict[int, torch.Tensor] = {7: torch.full((2,), 7.0)}

    def forward(self, x):
        d: Dict[str, torch.Tensor] = {}
        d["in"] = x
        d["sum"] = x.sum(0)
        l: List[torch.Tensor] = []
        for i, v in enumerate(self.table["x"]):
            l.append(x * v + i)
        l2 = [t.mean() for t in l]
        p = Pair(torch.stack(l), len(l2))
        a, b = torch.chunk(x, 2, 1)
        tail = self.table["y"][1:]
        keys = [k for k in d.keys()]
        s = "n={} k={}".format(p.n, keys[0])
        ok = "sum" in d and isinstance(p.n, int) and not ("zzz" in d)
        return d, l2, (p.a, p.n), s, ok, tail, x.size(), x[0].tolist() if False else self.fl, (a + b).shape[1]


save_all("s04_containers", torch.jit.script(Boxes()), [("forward", [rnd(3, 4)])],
         "lists, dicts, named tuple, str format, comprehension, typed container attributes, complex, device")


# ---- 05 submodules, methods, free functions, interface ---------------------------------------
@torch.jit.script
def helper(x: torch.Tensor, k: float) -> torch.Tensor:
    return x * k + 1


@torch.jit.interface
class Iface(nn.Module):
    def go(self, x: torch.Tensor) -> torch.Tensor:
        pass


class ImplA(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.tensor([2.0, 3.0]))

    def go(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.w


class Parent(nn.Module):
    impl: Iface

    def __init__(self):
        super().__init__()
        self.impl = ImplA()
        self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2, bias=False)])
        self.d = nn.ModuleDict({"act": nn.ReLU()})
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))
        self.c = torch.tensor([10.0, 20.0])

    @torch.jit.export
    def set_count(self, n: int) -> int:
        self.count[0] = n
        return int(self.count.item())

    @torch.jit.export
    def twice(self, x):
        return self._inner(self._inner(x))

    def _inner(self, x):
        for b in self.blocks:
            x = b(x)
        return self.d["act"](x)

    def forward(self, x):
        y = helper(self.twice(x), 0.5) + self.c + torch.tensor([1, 2])
        return self.impl.go(y) + self.count


reseed(5)
par = torch.jit.script(Parent().eval())
torch._C._enable_mobile_interface_call_export()
save_all("s05_methods", par, [("forward", [rnd(3, 2)]), ("twice", [rnd(3, 2)]), ("set_count", [4]), ("forward", [rnd(3, 2)])],
         "submodule methods, ModuleList/ModuleDict, module interface (INTERFACE_CALL in .ptl), free function, mutable "
         "buffer (call 3 changes what call 4 returns), CONSTANTS table")


# ---- 06 exceptions, asserts, warnings ---------------------------------------------------------
class Raiser(nn.Module):
    def forward(self, x, mode: int):
        assert x.dim() == 2, "need 2-d"
        if mode == 1:
            raise ValueError("bad mode {}".format(mode))
        if mode == 2:
            warnings.warn("mode two")
        d = {"k": 1}
        if mode == 3:
            return x + d["missing"]
        return x + d["k"]


save_all("s06_raise", torch.jit.script(Raiser()), [("forward", [rnd(2, 2), 0]), ("forward", [rnd(2, 2), 1]),
                                                   ("forward", [rnd(2, 2), 2]), ("forward", [rnd(2, 2), 3]),
                                                   ("forward", [rnd(2), 0])],
         "RAISE_EXCEPTION, WARN, KeyError, assert; debug handles saved", debug=True)


# ---- 07..09 quantized ------------------------------------------------------------------------
class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.c1 = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.r1 = nn.ReLU()
        self.dw = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.pw = nn.Conv2d(8, 8, 1)
        self.add = torch.ao.nn.quantized.FloatFunctional()
        self.cat = torch.ao.nn.quantized.FloatFunctional()
        self.mul = torch.ao.nn.quantized.FloatFunctional()
        self.hs = nn.Hardswish()
        self.fc = nn.Linear(16, 4)
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        x = self.quant(x)
        x = self.r1(self.c1(x))
        y = self.pw(self.dw(x))
        z = self.add.add(x, y)
        w = self.mul.mul(self.hs(z), y)
        z = self.cat.cat([z, w], 1)
        z = F.max_pool2d(z, 2)
        z = F.adaptive_avg_pool2d(z, 1)
        return self.dequant(self.fc(torch.flatten(z, 1)))


def quantize(qconfig):
    reseed(7)
    n = QNet().eval()
    n.qconfig = qconfig
    n = torch.ao.quantization.fuse_modules(n, [["c1", "r1"]])
    p = torch.ao.quantization.prepare(n)
    for i in range(4):
        p(rnd(2, 3, 8, 8, seed=20 + i, lo=-2, hi=2))
    return torch.ao.quantization.convert(p)


XQ = rnd(2, 3, 8, 8, lo=-2, hi=2)
q = quantize(torch.ao.quantization.get_default_qconfig("qnnpack"))
save_all("s07_q_per_tensor", torch.jit.script(q), [("forward", [XQ])], "static int8, per-tensor weights, qnnpack engine", fb=True)
pc = torch.ao.quantization.QConfig(
    activation=torch.ao.quantization.HistogramObserver.with_args(reduce_range=True),
    weight=torch.ao.quantization.default_per_channel_weight_observer)
save_all("s08_q_per_channel", torch.jit.script(quantize(pc)), [("forward", [XQ])],
         "static int8, per-channel weights (fbgemm-style qconfig, reduce_range=True), run with qnnpack", fb=True)
optq = optimize_for_mobile(torch.jit.script(q))
save_all("s09_q_optimized", optq, [("forward", [XQ])],
         "s07 after optimize_for_mobile: packed params hoisted to the root module", pt=True)


# ---- 10 dynamic quantized --------------------------------------------------------------------
class Dyn(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(11, 6)
        self.lstm = nn.LSTM(6, 5, batch_first=True)
        self.fc = nn.Linear(5, 3)

    def forward(self, ids):
        y, (h, c) = self.lstm(self.emb(ids))
        return self.fc(F.relu(y[:, -1])), h


reseed(10)
dyn = torch.ao.quantization.quantize_dynamic(Dyn().eval(), {nn.LSTM, nn.Linear}, dtype=torch.qint8)
save_all("s10_dynamic", torch.jit.script(dyn), [("forward", [torch.tensor([[1, 4, 9, 2], [0, 3, 3, 10]])])],
         "embedding + dynamic quantized LSTM and Linear")

# ---- 11 optimize_for_mobile (xnnpack) ----------------------------------------------------------
opt = optimize_for_mobile(torch.jit.script(make_net()))
save_all("s11_xnnpack", opt, [("forward", [X])], "s01 after optimize_for_mobile(backend='CPU')", fb=True)


class Mix(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv1d(2, 3, 3, padding=1)
        self.t = nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, output_padding=1)
        self.fc = nn.Linear(4, 4)
        self.fc2 = nn.Linear(4, 2)
        self.c2 = nn.Conv2d(2, 3, 3, padding=2, dilation=2)

    def forward(self, x, y):
        a = self.c1(x)
        b = self.t(a.unsqueeze(0).unsqueeze(0).reshape(1, 3, 2, 4))
        return torch.clamp(self.fc(y), 0.1, 0.9) + 0, F.relu(y + y), F.hardtanh(self.fc2(y), -0.2, 0.3), F.relu(self.c2(b))


reseed(11)
opt2 = optimize_for_mobile(torch.jit.script(Mix().eval()))
save_all("s12_xnnpack_mix", opt2, [("forward", [rnd(1, 2, 8), rnd(3, 4)])],
         "conv1d->conv2d rewrite, transposed conv context, hardtanh and relu fused as clamps, add_relu")

# ---- 13/14 vulkan and metal rewritten ------------------------------------------------------------
# A stock build of PyTorch has the passes but not the ops and classes; gpu_prepack_stub.cpp beside this file
# registers stand-ins (same schemas, same state layout), built on the fly.
stub = os.path.join(OUT, "gpu_prepack_stub.so")
src = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_prepack_stub.cpp")
if os.system(f"g++ -std=c++17 -O1 -fPIC -shared -I/usr/include/torch/csrc/api/include {src} -o {stub} "
             "-ltorch_cpu -lc10 2>/dev/null") == 0:
    torch.ops.load_library(stub)
    os.remove(stub)
for nm, be in (("s13_vulkan", "vulkan"), ("s14_metal", "metal")):
    try:
        o = optimize_for_mobile(torch.jit.script(make_net()), backend=be)
        save_all(nm, o, [("forward", [X])], f"optimize_for_mobile(backend='{be}'), written with stand-in classes; values computed on the CPU in fp32")
    except Exception as ex:
        print(nm, "not produced:", str(ex).strip().splitlines()[0][:160])

# ---- 15/16 NNAPI --------------------------------------------------------------------------------
import torch.backends._nnapi.prepare as nnprep


class NNNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 4, 3, padding=1)
        self.dw = nn.Conv2d(4, 4, 3, padding=1, groups=4)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        y = F.relu(self.c(x))
        y = self.dw(y) + y
        y = F.max_pool2d(y, 2, 2)  # an implicit stride makes the NNAPI serializer fail
        y = F.adaptive_avg_pool2d(y, 1)
        return self.fc(torch.flatten(y, 1))


reseed(15)
nn_ = NNNet().eval()
xin = rnd(1, 3, 6, 6).contiguous(memory_format=torch.channels_last)
xin.nnapi_nhwc = True
with torch.no_grad():
    tr = torch.jit.trace(nn_, xin)
    nm = nnprep.convert_model_to_nnapi(tr, xin)
save_all("s15_nnapi_float", nm, [("forward", [xin])],
         "convert_model_to_nnapi, float, NHWC input; expected values are those of the traced CPU model", run=False)
MAN[-1]["calls"][0]["ret"] = desc("s15_nnapi_float.c0.out", tr(xin), [])


class QCore(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = torch.ao.quantization.QuantStub()
        self.c = nn.Conv2d(3, 4, 3, padding=1)
        self.r = nn.ReLU()
        self.add = torch.ao.nn.quantized.FloatFunctional()
        self.fc = nn.Linear(4, 2)
        self.dequant = torch.ao.quantization.DeQuantStub()

    def forward(self, x):
        x = self.quant(x)
        y = self.r(self.c(x))
        y = self.add.add(y, y)
        y = F.adaptive_avg_pool2d(y, 1)
        return self.dequant(self.fc(torch.flatten(y, 1)))


reseed(16)
qc = QCore().eval()
qc.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
qc = torch.ao.quantization.fuse_modules(qc, [["c", "r"]])
pp = torch.ao.quantization.prepare(qc)
for i in range(3):
    pp(rnd(1, 3, 6, 6, seed=60 + i))
qc = torch.ao.quantization.convert(pp)
quantizer, dequantizer = qc.quant, qc.dequant
qc.quant, qc.dequant = nn.Identity(), nn.Identity()
xq = quantizer(rnd(1, 3, 6, 6)).contiguous(memory_format=torch.channels_last)
xq.nnapi_nhwc = True
with torch.no_grad():
    tr = torch.jit.trace(qc, xq)
    nm = nnprep.convert_model_to_nnapi(tr, xq)
save_all("s16_nnapi_quant", nm, [("forward", [xq])],
         "convert_model_to_nnapi, quint8 NHWC interface; expected values are those of the traced CPU model", run=False)
MAN[-1]["calls"][0]["ret"] = desc("s16_nnapi_quant.c0.out", tr(xq), [])


# ---- 17 bundled inputs ---------------------------------------------------------------------------
class Two(nn.Module):
    def forward(self, a, b, k: int):
        return (a * b).sum() + k


m = torch.jit.script(Two())
big = torch.zeros(1, 3, 32, 32) + 0.5
cl = big.contiguous(memory_format=torch.channels_last)
fn = ("def {}(self, value: Tensor) -> Tensor:\n"
      "    return value.to(torch.float32).div(255).expand(1, 3, 32, 32).contiguous()\n")
bi.augment_model_with_bundled_inputs(m, [
    (torch.ones(2), torch.tensor([2.0, 3.0]), 1),
    (big, cl, 2),
    (bi.InflatableArg(value=torch.tensor(7, dtype=torch.uint8), fmt_fn=fn), bi.InflatableArg(torch.ones(1), "{}.expand(1, 3, 32, 32)"), 3),
    (bi.bundle_large_tensor(rnd(5, 5)), torch.ones(1), 4),
], info=["small", "constant fill", "inflated", "large"])
save_all("s17_bundled", m, [("get_num_bundled_inputs", []), ("get_all_bundled_inputs", []),
                            ("get_bundled_inputs_functions_and_info", [])],
         "bundled inputs: raw, expanded constant, fmt, fmt_fn, bundle_large_tensor")


# ---- 18 storages: views, sharing, dtypes ----------------------------------------------------------
class Store(nn.Module):
    def __init__(self):
        super().__init__()
        base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
        self.register_buffer("base", base)
        self.register_buffer("view", base.t()[1:3])
        self.register_buffer("f64", torch.tensor([1.5, -2.5], dtype=torch.float64))
        self.register_buffer("f16", torch.tensor([1.5, -2.5], dtype=torch.float16))
        self.register_buffer("bf16", torch.tensor([1.5, -2.5], dtype=torch.bfloat16))
        self.register_buffer("u8", torch.tensor([0, 255], dtype=torch.uint8))
        self.register_buffer("i8", torch.tensor([-128, 127], dtype=torch.int8))
        self.register_buffer("i16", torch.tensor([-300, 300], dtype=torch.int16))
        self.register_buffer("i32", torch.tensor([-70000, 70000], dtype=torch.int32))
        self.register_buffer("i64", torch.tensor([-5000000000, 5], dtype=torch.int64))
        self.register_buffer("b", torch.tensor([True, False]))
        self.register_buffer("c64", torch.tensor([1 + 2j]))
        self.register_buffer("empty", torch.zeros(0, 3))
        self.register_buffer("scalar", torch.tensor(3.5))
        self.register_buffer("q8", torch.quantize_per_tensor(torch.tensor([-1.0, 0.0, 1.0]), 0.01, 100, torch.quint8))
        self.register_buffer("qi8", torch.quantize_per_channel(torch.ones(2, 2), torch.tensor([0.1, 0.2], dtype=torch.float64),
                                                              torch.tensor([0, 0]), 0, torch.qint8))

    def forward(self, x):
        return (x + self.view.sum() + self.f64.sum() + self.u8.sum() + self.i8.sum() + self.i16.sum()
                + self.i32.sum() + self.i64.sum() + self.b.sum() + self.scalar + self.q8.dequantize().sum()
                + self.qi8.dequantize().sum() + self.empty.sum() + self.f16.float().sum())


save_all("s18_storages", torch.jit.script(Store()), [("forward", [rnd(2)])], "every storage dtype, shared storage, strided views", fb=True)


# ---- 19 operator versions and bytecode versions -----------------------------------------------------
class Vers(nn.Module):
    def forward(self, a, b):
        return torch.div(a, b), torch.gelu(a.float()) if False else F.gelu(a.to(torch.float32)), torch.linspace(0, 1, 5)


vs = torch.jit.script(Vers())
calls = [("forward", [torch.tensor([7, -7, 9]), torch.tensor([2, 2, 4])])]
save_all("s19_versions", vs, calls, "div, gelu, linspace: the archive version becomes 10, so it lies in .data/version")


def repack(src, dst, version):
    """Writes the same records with another archive version; keeps the 64-byte alignment that PyTorch writes."""
    zi = zipfile.ZipFile(src)
    with zipfile.ZipFile(dst, "w") as zo:
        for n in zi.namelist():
            data = zi.read(n)
            if n.endswith("/.data/version") or n.endswith("/version"):
                n = n.split("/")[0] + "/version"
                data = b"%d\n" % version
            zo.writestr(zipfile.ZipInfo(n), data)


class Div(nn.Module):
    def forward(self, a, b):
        return torch.div(a, b)


dv = torch.jit.script(Div())
buf = os.path.join(OUT, "tmp.ptl")
dv._save_for_lite_interpreter(buf)
repack(buf, os.path.join(OUT, "s20_div_v3.ptl"), 3)
dv.save(buf)
repack(buf, os.path.join(OUT, "s20_div_v3.pt"), 3)
os.remove(buf)
record("s20_div_v3", ["s20_div_v3.pt", "s20_div_v3.ptl"], calls,
       lite_runner(os.path.join(OUT, "s20_div_v3.ptl")),
       "archive version 3: aten::div must act as integer division truncating toward zero for integer tensors")
for v in (7, 6, 5, 4):
    p = f"s03_control_flow.bc{v}.ptl"
    assert _backport_for_mobile(os.path.join(OUT, "s03_control_flow.ptl"), os.path.join(OUT, p), v)
    assert _get_model_bytecode_version(os.path.join(OUT, p)) == v
    for e in MAN:
        if e["name"] == "s03_control_flow":
            e["models"].append(p)

json.dump(MAN, open(os.path.join(OUT, "manifest.json"), "w"), indent=1)
tot = 0
for e in MAN:
    for f in e["models"]:
        sz = os.path.getsize(os.path.join(OUT, f))
        tot += sz
        print(f"{f:34s} {sz:7d}")
print(len(MAN), "samples,", tot, "bytes of models")
