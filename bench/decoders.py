#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""decoders.py make FOLDER [--shape S] [--formats F…]: writes decoders with random weights as .pt2, and as GGUF if the package gguf is installed.
decoders.py time FOLDER TAPER [--shape S] [--formats F…] [--threads N] [--rounds R]: times one token and a prompt of 128.

Needs a Python with PyTorch 2.15 and torchao 0.18. llama.cpp (llama-cpp-python) and eager PyTorch are peers if they are installed; a line names each
missing one. The .pt2 and the GGUF of a format have the same integers and scales, except that the embedding is stored as floats in the .pt2. The peers
alternate, each in a new process. Prints the medians of the rounds' smallest times, and the medians of Taper's ratios to the peers in the rounds.

The network is Llama's: RMS norm, rotary embedding, grouped queries, SwiGLU, a static cache of 512. Formats: f32, bf16, int8 and int4 (groups of
32, symmetric, as Q8_0 and Q4_0), 8da4w (int4 with int8 activations; no GGUF)."""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

CONTEXT, PROMPT, AT, TOKENS, GROUP = 512, 128, 200, 24, 32
SHAPES = {"smollm2-135m": dict(layers=30, width=576, inner=1536, heads=9, shared=3, depth=64, vocabulary=49152, base=10000.0),
          "llama-3.2-1b": dict(layers=16, width=2048, inner=8192, heads=32, shared=8, depth=64, vocabulary=128256, base=500000.0),
          "tiny": dict(layers=2, width=128, inner=256, heads=4, shared=2, depth=32, vocabulary=512, base=10000.0)}
GGUF = {"f32": "f32", "bf16": "bf16", "int8": "q8_0", "int4": "q4_0"}
FORMATS = [*GGUF, "8da4w"]


# ---- the network

def decoder(shape):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.heads, self.shared, self.depth = shape["heads"], shape["shared"], shape["depth"]
            self.q = nn.Linear(shape["width"], self.heads * self.depth, bias=False)
            self.k = nn.Linear(shape["width"], self.shared * self.depth, bias=False)
            self.v = nn.Linear(shape["width"], self.shared * self.depth, bias=False)
            self.o = nn.Linear(self.heads * self.depth, shape["width"], bias=False)
            self.register_buffer("keys", torch.zeros(1, self.shared, CONTEXT, self.depth))
            self.register_buffer("values", torch.zeros(1, self.shared, CONTEXT, self.depth))

        def forward(self, x, at, cos, sin, mask):
            def split(y, heads):
                return y.view(1, -1, heads, self.depth).transpose(1, 2)

            def turned(y):
                half = self.depth // 2
                return y * cos + torch.cat([-y[..., half:], y[..., :half]], -1) * sin

            self.keys.index_copy_(2, at, turned(split(self.k(x), self.shared)))
            self.values.index_copy_(2, at, split(self.v(x), self.shared))
            each = self.heads // self.shared
            y = F.scaled_dot_product_attention(turned(split(self.q(x), self.heads)), self.keys.repeat_interleave(each, 1),
                                               self.values.repeat_interleave(each, 1), attn_mask=mask)
            return self.o(y.transpose(1, 2).reshape(1, -1, self.heads * self.depth))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.attention, self.inner_norm = nn.RMSNorm(shape["width"], 1e-5), Attention(), nn.RMSNorm(shape["width"], 1e-5)
            self.gate = nn.Linear(shape["width"], shape["inner"], bias=False)
            self.up = nn.Linear(shape["width"], shape["inner"], bias=False)
            self.down = nn.Linear(shape["inner"], shape["width"], bias=False)

        def forward(self, x, *rest):
            x = x + self.attention(self.norm(x), *rest)
            y = self.inner_norm(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(shape["vocabulary"], shape["width"])
            self.blocks = nn.ModuleList(Block() for _ in range(shape["layers"]))
            self.norm = nn.RMSNorm(shape["width"], 1e-5)
            self.head = nn.Linear(shape["width"], shape["vocabulary"], bias=False)
            rates = shape["base"] ** -(torch.arange(0, shape["depth"], 2).float() / shape["depth"])
            angles = torch.arange(CONTEXT).float()[:, None] * torch.cat([rates, rates])
            self.register_buffer("cos", angles.cos())
            self.register_buffer("sin", angles.sin())

        def forward(self, tokens, at):
            x = self.embedding(tokens)
            mask = (torch.arange(CONTEXT)[None] <= at[:, None])[None, None]
            for block in self.blocks:
                x = block(x, at, self.cos[at].to(x.dtype), self.sin[at].to(x.dtype), mask)
            return self.head(self.norm(x[:, -1:]))

    torch.manual_seed(0)
    return Decoder().eval()


def quantized(model, form):
    import torch
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, IntxWeightOnlyConfig, quantize_
    from torchao.quantization.granularity import PerGroup

    if form == "bf16":
        return model.bfloat16()
    if form == "f32":
        return model
    if form == "8da4w":
        quantize_(model, Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(GROUP)))
    else:
        quantize_(model, IntxWeightOnlyConfig(weight_dtype={"int8": torch.int8, "int4": torch.int4}[form], granularity=PerGroup(GROUP)))
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.Linear):
                module.weight.scale.copy_(module.weight.scale.half().float())  # GGUF stores scales in half precision
    return model


def inputs(count):
    import torch
    first = 0 if count > 1 else AT
    return torch.arange(count)[None] % 100, torch.arange(first, first + count)


# ---- files

def block_bytes(weight, form):
    """Returns the bytes of a quantized weight in GGUF's form: for each group a scale, then its integers."""
    import numpy as np
    integers = weight.qdata.numpy().reshape(-1, GROUP)
    scales = weight.scale.numpy().reshape(-1, 1).astype(np.float16).view(np.uint8)
    if form == "int4":
        raised = (integers + 8).astype(np.uint8)
        integers = raised[:, :GROUP // 2] | raised[:, GROUP // 2:] << 4
    return np.concatenate([scales, integers.view(np.uint8)], 1).reshape(weight.shape[0], -1)


def write_gguf(model, shape, form, path):
    import gguf
    writer = gguf.GGUFWriter(path, "llama")
    for add, value in ((writer.add_context_length, CONTEXT), (writer.add_embedding_length, shape["width"]), (writer.add_block_count, shape["layers"]),
                       (writer.add_feed_forward_length, shape["inner"]), (writer.add_head_count, shape["heads"]),
                       (writer.add_head_count_kv, shape["shared"]), (writer.add_layer_norm_rms_eps, 1e-5), (writer.add_rope_freq_base, shape["base"]),
                       (writer.add_rope_dimension_count, shape["depth"]), (writer.add_vocab_size, shape["vocabulary"]),
                       (writer.add_tokenizer_model, "no_vocab"), (writer.add_file_type, 0)):
        add(value)
    kind = gguf.GGMLQuantizationType[GGUF[form].upper()]

    def put(name, weight):
        if hasattr(weight, "qdata"):
            writer.add_tensor(name, block_bytes(weight, form), raw_dtype=kind)
        elif weight.dim() == 1 or form == "f32":
            writer.add_tensor(name, weight.detach().float().numpy())
        else:
            writer.add_tensor(name, gguf.quants.quantize(weight.detach().float().numpy(), kind), raw_dtype=kind)

    put("token_embd.weight", model.embedding.weight)
    put("output_norm.weight", model.norm.weight)
    put("output.weight", model.head.weight)
    for i, block in enumerate(model.blocks):
        a = block.attention
        for name, layer in (("attn_norm", block.norm), ("attn_q", a.q), ("attn_k", a.k), ("attn_v", a.v), ("attn_output", a.o),
                            ("ffn_norm", block.inner_norm), ("ffn_gate", block.gate), ("ffn_up", block.up), ("ffn_down", block.down)):
            put(f"blk.{i}.{name}.weight", layer.weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def file_of(options, form, ending):
    return pathlib.Path(options.folder) / f"{options.shape}-{form}{ending}"


def make(options):
    import numpy as np
    import torch
    pathlib.Path(options.folder).mkdir(parents=True, exist_ok=True)
    for form in options.formats:
        model = quantized(decoder(SHAPES[options.shape]), form)
        for count, kind in ((1, "token"), (PROMPT, "prompt")):
            with torch.no_grad():
                torch.export.save(torch.export.export(model, inputs(count), strict=False), file_of(options, form, f"-{kind}.pt2"))
            for name, value in zip(("tokens", "at"), inputs(count)):
                np.save(pathlib.Path(options.folder) / f"{kind}-{name}.npy", value.numpy())
        if form not in GGUF:
            continue
        try:
            write_gguf(model, SHAPES[options.shape], form, str(file_of(options, form, ".gguf")))
        except ImportError:
            print("no GGUF: this Python has no package gguf")


# ---- times; each of these prints {"token": ms, "prompt": ms}

def time_torch(options, form):
    import time

    import torch
    torch.set_num_threads(options.threads)
    model = quantized(decoder(SHAPES[options.shape]), form)
    least = {}
    with torch.inference_mode():
        for kind, count, times in (("prompt", PROMPT, 3), ("token", 1, TOKENS // 2)):
            for _ in range(times):
                begin = time.perf_counter()
                model(*inputs(count))
                least[kind] = min(least.get(kind, 1e9), (time.perf_counter() - begin) * 1e3)
    print(json.dumps(least))


def time_llama(options, form):
    import time

    import llama_cpp
    model = llama_cpp.Llama(str(file_of(options, form, ".gguf")), n_ctx=CONTEXT, n_threads=options.threads, n_threads_batch=options.threads,
                            n_batch=CONTEXT, verbose=False)
    prompt, least = list(range(PROMPT)), {"prompt": 1e9, "token": 1e9}
    for _ in range(3):
        model.reset()
        begin = time.perf_counter()
        model.eval(prompt)
        least["prompt"] = min(least["prompt"], (time.perf_counter() - begin) * 1e3)
    model.eval(list(range(AT - PROMPT)))
    for token in range(TOKENS):
        begin = time.perf_counter()
        model.eval([token])
        least["token"] = min(least["token"], (time.perf_counter() - begin) * 1e3)
    print(json.dumps(least))


def time_taper(options, form):
    least = {}
    for kind, times in (("token", TOKENS), ("prompt", 5)):
        names = [str(pathlib.Path(options.folder) / f"{kind}-{name}.npy") for name in ("tokens", "at")]
        done = subprocess.run([options.taper, "bench", file_of(options, form, f"-{kind}.pt2"), "-i", names[0], "-i", names[1], "--json",
                               "--threads", str(options.threads), "--warmup", "2", "--iter", str(times)], check=True, capture_output=True, text=True)
        least[kind] = json.loads(done.stdout)["min_ms"]
    print(json.dumps(least))


PEERS = {"Taper": time_taper, "llama.cpp": time_llama, "PyTorch": time_torch}


def one(options, peer, form):
    command = [sys.executable, __file__, "one", options.folder, options.taper, "--shape", options.shape, "--formats", form, "--peer", peer,
               "--threads", str(options.threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{form}: no {peer}: {(done.stderr.strip().splitlines() or ['it ended'])[-1]}")
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare(options):
    print(f"{options.shape}, {options.threads} threads, {options.rounds} rounds: ms of a token at {AT}, and of a prompt of {PROMPT}")
    for form in options.formats:
        peers = [peer for peer in PEERS if peer != "llama.cpp" or form in GGUF]
        found = {peer: [] for peer in peers}
        for _ in range(options.rounds):
            for peer in list(found):
                times = one(options, peer, form)
                if times is None:
                    del found[peer]
                else:
                    found[peer].append(times)
        for peer, rounds in found.items():
            text = ", ".join(f"{kind} {statistics.median(times[kind] for times in rounds):.1f}" for kind in ("token", "prompt"))
            if peer != "Taper" and "Taper" in found:
                text += ", Taper's ratio " + ", ".join(f"{statistics.median(t[kind] / times[kind] for t, times in zip(found['Taper'], rounds)):.2f}"
                                                       for kind in ("token", "prompt"))
            print(f"{form:6} {peer:10} {text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["make", "time", "one"])
    parser.add_argument("folder")
    parser.add_argument("taper", nargs="?", default="build/bin/taper")
    parser.add_argument("--shape", choices=SHAPES, default="smollm2-135m")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.command == "make":
        make(options)
    elif options.command == "one":
        PEERS[options.peer](options, options.formats[0])
    else:
        compare(options)


if __name__ == "__main__":
    main()
