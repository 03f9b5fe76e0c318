#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_calls.py [--find]: writes a C++ program that calls every at:: function and method of Tensor that PyTorch declares for an operator of
Taper's list, and prints the results. Arguments are drawn until PyTorch accepts them; calls_parts.h makes the same tensors from the same
numbers. calls.txt has the number of the draw for each function; --find writes this file, which takes minutes. The operators without
accepted arguments are listed on stderr. Needs python3-torch."""
import argparse
import math
import os
import pathlib
import random
import signal
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
import numpy as np
import torch

import signatures_test

torch.set_num_threads(1)
torch.backends.quantized.engine = "qnnpack"
TRIES = 600
ATTEMPTS = pathlib.Path(__file__).with_name("calls.txt")
DTYPES = {torch.float32: 6, torch.int64: 4, torch.bool: 11, torch.float64: 7, torch.uint8: 0, torch.int32: 3, torch.complex64: 9}
# Kinds of elements, with the numbers of calls_parts.h
NUMBERS, UNIT, INDEX, POSITIVE, DEFINITE, LOWER, QUANTIZED, ONES, ZEROS = range(9)
SIZES = [(2, 3), (3, 3), (4,), (2, 3, 4, 4), (1, 2, 5), (3,), (2, 2, 3), (), (1,), (2, 4, 4), (4, 4), (1, 3, 4, 4, 4), (6,), (2, 2, 2, 2), (5, 2), (1, 4)]
# These operators return memory that is not initialized, so elements are not compared.
ANYTHING = ("empty", "new_empty", "resize", "_resize", "_empty", "set_")
# Functions that are not called: they end the process, count threads, or need arguments that cannot be drawn.
LEFT = {"_nnpack_available": "depends on the machine", "is_vulkan_available": "there is one in neither, by chance",
        "q_per_channel_scales": "behaviour_test"}


def pseudo(seed, count):
    """Returns the pseudo-random numbers that calls_parts.h makes from the seed."""
    state, out = (seed * 2654435761 + 12345) % 2**64, np.empty(count, np.int64)
    for i in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out[i] = state >> 33
    return out


class Drawn:
    """A tensor with random elements, and the C++ that makes the same tensor."""

    def __init__(self, seed, sizes, dtype, kind):
        self.cpp = f"made({seed}, {{{', '.join(map(str, sizes))}}}, {DTYPES[dtype]}, {kind})"
        self.how = seed, sizes, dtype, kind

    def value(self):
        seed, sizes, dtype, kind = self.how
        n = pseudo(seed, math.prod(sizes))
        if kind == INDEX:
            v = n % 2
        elif dtype == torch.bool:
            v = n % 2
        elif kind == UNIT:
            v = (n % 1001) / 1000.0 if dtype.is_floating_point else n % 2
        elif not dtype.is_floating_point and not dtype.is_complex:
            v = n % 4 if dtype == torch.uint8 or kind == POSITIVE else n % 9 - 4
        else:
            v = (n % 2001) / 500.0 + 0.01 if kind == POSITIVE else (n % 2001 - 1000) / 500.0
        if kind in (ONES, ZEROS):
            v = np.full(len(n), kind == ONES)
        t = torch.from_numpy(np.asarray(v, dtype=np.float64).reshape(sizes)).to(dtype)
        if kind in (DEFINITE, LOWER):
            t = t.matmul(t.transpose(-2, -1)) + 2 * torch.eye(sizes[-1], dtype=dtype)
            t = t.tril() if kind == LOWER else t
        if kind == QUANTIZED:
            t = torch.quantize_per_tensor(t, 0.1, 64, torch.quint8)
        return t


class Draw:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.sizes = r.choice(SIZES)  # most tensors of a call have the same sizes
        self.dtype = r.choice([torch.float32] * 8 + list(DTYPES))
        self.kind = r.choice([NUMBERS] * 6 + [UNIT, POSITIVE, POSITIVE, DEFINITE, LOWER, QUANTIZED, INDEX, ONES])
        self.alike = r.random() < 0.5

    def tensor(self, name):
        r = self.r
        sizes, dtype, kind = self.sizes, self.dtype, self.kind
        if any(word in name for word in ("ind", "target", "sorter", "length", "offset", "labels", "split", "zero_point", "batch_sizes",
                                         "observer_on", "fake_quant_on", "sections", "repeats", "pivots")):
            dtype, kind = r.choice([torch.int64, torch.int32, torch.int64]), r.choice([INDEX, INDEX, POSITIVE, ONES])
        elif any(word in name for word in ("mask", "condition", "training")):
            dtype, kind = torch.bool, NUMBERS
        elif not self.alike and r.random() < 0.3:
            dtype = r.choice([torch.float32] * 4 + list(DTYPES))
        if not self.alike and r.random() < 0.6:
            sizes = r.choice(SIZES)
        if name in ("weight", "bias", "running_mean", "running_var", "scale", "scales") and r.random() < 0.6:
            sizes = (self.sizes[1] if len(self.sizes) > 1 else 3,)
        if kind in (DEFINITE, LOWER) and (not (dtype.is_floating_point or dtype.is_complex) or len(sizes) < 2 or sizes[-1] != sizes[-2]):
            kind = NUMBERS
        if kind == QUANTIZED and dtype != torch.float32:
            kind = NUMBERS
        return Drawn(r.randrange(10**6), sizes, dtype, kind)

    def whole(self, name):
        r = self.r
        if name in ("dim", "dim0", "dim1", "axis", "start_dim", "end_dim", "axis0", "axis1", "source", "destination", "chunk_dim"):
            return r.choice([0, 0, 1, 1, -1, 2])
        if "correction" in name or name in ("diagonal", "offset", "dim1", "dim2", "n"):
            return r.choice([0, 1, 1, 2])
        return r.choice([0, 1, 1, 2, 2, 3, 4])

    def value(self, kind, name):
        """Returns (a value of this type for PyTorch in Python, the C++ of the same value)."""
        r = self.r
        if kind.endswith("?") and not kind.endswith("[]?") or kind.endswith("[]?"):
            if r.random() < 0.4 or kind in ("Generator?", "Device?", "Layout?", "Storage?"):
                return None, "c10::nullopt"
            value, cpp = self.value(kind[:-1], name)
            inner = {"Tensor": "at::Tensor", "int": "int64_t", "SymInt": "int64_t", "float": "double", "bool": "bool", "Scalar": "at::Scalar",
                     "str": "c10::string_view", "ScalarType": "at::ScalarType", "MemoryFormat": "at::MemoryFormat"}.get(kind[:-1])
            return value, f"c10::optional<{inner}>({cpp})" if inner else cpp
        if kind.endswith("]"):
            base, count = kind[:-1].split("[")
            count = int(count) if count else r.choice([1, 2, 2, 3] if base != "Tensor" else [1, 2, 2, 3, 4])
            if base == "SymInt" or base == "int":
                if name in ("size", "sizes", "shape", "stride", "strides") and not kind[:-1].split("[")[1] and r.random() < 0.5:
                    count = len(self.sizes)
                    numbers = list(self.sizes)
                    r.shuffle(numbers)
                else:
                    numbers = [self.whole(name if "dim" not in name else "dim") for _ in range(count)]
                    if "dim" in name and r.random() < 0.5:
                        numbers = list(range(count))
                return numbers, f"std::vector<int64_t>{{{', '.join(map(str, numbers))}}}"
            items = [self.value(base, name) for _ in range(count)]
            inner = {"Tensor": "std::vector<at::Tensor>", "float": "std::vector<double>", "bool": f"std::array<bool, {count}>",
                     "Scalar": "std::vector<at::Scalar>", "Tensor?": "c10::List<c10::optional<at::Tensor>>"}[base]
            body = ", ".join(cpp for _, cpp in items)
            return [v for v, _ in items], f"{inner}({{{body}}})" if "List" in inner else f"{inner}{{{{{body}}}}}" if base == "bool" else f"{inner}{{{body}}}"
        if kind == "Tensor":
            drawn = self.tensor(name)
            return drawn, drawn.cpp
        if kind in ("int", "SymInt"):
            if name == "reduction":
                n = r.choice([0, 1, 2])
            else:
                n = self.whole(name)
            return n, str(n)
        if kind == "float":
            x = r.choice([0.5, 1.0, 0.25, 2.0, 0.1, 1e-5])
            return x, repr(x)
        if kind == "bool":
            b = r.random() < 0.5
            return b, "true" if b else "false"
        if kind == "Scalar":
            x = r.choice([1, 2, 0.5, 1.5, -1, 3])
            return x, f"at::Scalar({x})"
        if kind == "ScalarType":
            dtype = r.choice([torch.float32, torch.float64, torch.int64, torch.quint8, torch.qint8])
            return dtype, {torch.quint8: "at::kQUInt8", torch.qint8: "at::kQInt8"}.get(dtype) or f"static_cast<at::ScalarType>({DTYPES[dtype]})"
        if kind == "MemoryFormat":
            return torch.contiguous_format, "at::MemoryFormat::Contiguous"
        if kind == "str":
            text = {"reduce": ["sum", "mean", "prod", "amax", "add", "multiply"], "rounding_mode": ["floor", "trunc"], "padding": ["valid", "same"],
                    "mode": ["reduced", "complete", "constant", "reflect"], "approximate": ["none", "tanh"], "indexing": ["ij", "xy"],
                    "equation": ["ij,jk->ik", "ij->ji", "i,i->", "...ij->...ji"], "ord": ["fro", "nuc"], "UPLO": ["L", "U"],
                    "p": ["fro", "nuc"], "side": ["left", "right"], "norm": ["ortho", "backward", "forward"]}.get(name, ["mean", "none", "L"])
            text = r.choice(text)
            return text, f'"{text}"'
        if kind == "Device":
            return torch.device("cpu"), "at::Device(at::kCPU)"
        if kind == "Layout":
            return torch.strided, "at::kStrided"
        raise TypeError(kind)


def recipe(text):
    """Parses "self=2x3 weight=4x3:positive dims=[1,2] flag=true": arguments by name; missing arguments are None, false, zero or an empty out
    tensor."""
    named = dict(part.split("=") for part in text.split())

    def value(argument):
        word = named.get(argument, "none")
        if word[0] == "[" and "x" in word:  # tensors
            all_of = [value_of(argument, w, i) for i, w in enumerate(word[1:-1].split(";"))]
            return [v for v, _ in all_of], f"std::vector<at::Tensor>{{{', '.join(c for _, c in all_of)}}}"
        return value_of(argument, word, len(argument))

    def value_of(argument, word, seed):
        sizes, _, kind = word.partition(":")
        if word == "none":
            return None, "c10::nullopt"
        if word in ("out", "outi", "outb"):
            dtype, name = {"out": (torch.float32, "at::kFloat"), "outi": (torch.int64, "at::kLong"), "outb": (torch.bool, "at::kBool")}[word]
            return Drawn(1, (0,), dtype, NUMBERS), f"at::empty({{0}}, {name})"
        if word in ("qu8", "i32"):
            return (torch.quint8, "at::kQUInt8") if word == "qu8" else (torch.int32, "at::kInt")
        if word in ("true", "false"):
            return word == "true", word
        if word[0] == "[":
            numbers = [float(n) if "." in n else int(n) for n in word[1:-1].split(",") if n]
            inner = "double" if any(isinstance(n, float) for n in numbers) else "int64_t"
            return numbers, f"std::vector<{inner}>{{{', '.join(map(str, numbers))}}}"
        if word[0] == "'":
            return word[1:-1], f'"{word[1:-1]}"'
        if word.startswith("t"):  # a tensor, such as t2x3:unit
            kinds = {"": NUMBERS, "unit": UNIT, "index": INDEX, "positive": POSITIVE, "definite": DEFINITE, "lower": LOWER, "ones": ONES,
                     "q": QUANTIZED, "iones": ONES, "zeros": ZEROS, "i32ones": ONES}
            dtype = torch.int64 if kind in ("index", "iones", "zeros") else torch.int32 if kind == "i32ones" else torch.float32
            drawn = Drawn(seed + 1, tuple(int(n) for n in sizes[1:].split("x") if n), dtype, kinds[kind])
            return drawn, drawn.cpp
        number = float(word) if "." in word or "e" in word else int(word)
        return number, word
    return value


CONV = "bias=t4 stride=[1,1] padding=[1,1] dilation=[1,1] groups=1 output_padding=[0,0] benchmark=false deterministic=false cudnn_enabled=false " \
    "allow_tf32=false transposed=false"
CONV3 = "stride=[1,1,1] padding=[0,0,0] dilation=[1,1,1] kernel_size=[2,2,2]"
RNN = "has_biases=true num_layers=1 dropout=0.0 train=false bidirectional=false params=[t{g}x3;t{g}x4;t{g};t{g}]"
LSTM, RNN1 = RNN.format(g=16), RNN.format(g=4)
GRU = RNN.format(g=12)
BOTH = {  # operators with and without an out argument
    "_convolution": f"input=t1x3x5x5 weight=t4x3x3x3 {CONV}", "convolution": f"input=t1x3x5x5 weight=t4x3x3x3 {CONV}",
    "convolution_overrideable": f"input=t1x3x5x5 weight=t4x3x3x3 {CONV}",
    "_conv_depthwise2d": "self=t1x4x5x5 weight=t4x1x3x3 kernel_size=[3,3] bias=t4 stride=[1,1] padding=[1,1] dilation=[1,1]",
    "conv_depthwise3d": "self=t1x4x5x5x5 weight=t4x1x3x3x3 kernel_size=[3,3,3] bias=t4 stride=[1,1,1] padding=[1,1,1] dilation=[1,1,1]",
    "affine_grid_generator": "theta=t2x2x3 size=[2,3,4,4] align_corners=false",
    "avg_pool3d": "self=t1x2x4x4x4 kernel_size=[2,2,2] stride=[2,2,2] padding=[0,0,0] ceil_mode=false count_include_pad=true",
    "max_pool3d_with_indices": "self=t1x2x4x4x4 kernel_size=[2,2,2] stride=[2,2,2] padding=[0,0,0] dilation=[1,1,1] ceil_mode=false",
    "binary_cross_entropy": "self=t2x3:unit target=t2x3:unit weight=t2x3:positive reduction=1",
    "binary_cross_entropy_with_logits": "self=t2x3 target=t2x3:unit weight=t2x3:positive pos_weight=t3:positive reduction=0",
    "grid_sampler_3d": "input=t1x2x3x3x3 grid=t1x2x2x2x3 interpolation_mode=0 padding_mode=1 align_corners=true",
    "addmv": "self=t2 mat=t2x3 vec=t3 beta=0.5 alpha=2", "slow_conv_dilated2d": f"self=t1x3x5x5 weight=t4x3x3x3 kernel_size=[3,3] {CONV}",
    "slow_conv_transpose3d": f"self=t1x2x3x3x3 weight=t2x3x2x2x2 bias=t3 output_padding=[0,0,0] {CONV3}",
    "slow_conv_dilated3d": f"self=t1x2x4x4x4 weight=t3x2x2x2x2 bias=t3 {CONV3}",
    "quantile": "self=t3x4 q=t2:unit dim=1 keepdim=true interpolation='linear'", "nanquantile": "self=t3x4 q=t2:unit dim=0 keepdim=false interpolation='linear'",
    "_pdist_forward": "self=t4x3 p=2.0", "grid_sampler_2d": "input=t1x2x4x4 grid=t1x3x3x2:unit interpolation_mode=0 padding_mode=0 align_corners=false",
    "_symeig_helper": "self=t3x3:definite eigenvectors=true upper=true", "_transform_bias_rescale_qkv": "qkv=t2x3x12 qkv_bias=t12 num_heads=2",
    "lu_unpack": "LU_data=t3x3 LU_pivots=t3:i32ones unpack_data=true unpack_pivots=true",
    "multi_margin_loss": "self=t3x4 target=t3:index p=1 margin=1 reduction=1",
    "slow_conv3d": f"self=t1x2x4x4x4 weight=t3x2x2x2x2 bias=t3 {CONV3}",
    "_embedding_bag": "weight=t4x3 indices=t6:index offsets=t2:zeros mode=0 scale_grad_by_freq=false sparse=false include_last_offset=false "
        "padding_idx=-1", "native_group_norm": "input=t2x4x3 weight=t4 bias=t4 N=2 C=4 HxW=3 group=2 eps=0.001",
    "diagonal_scatter": "self=t3x3 src=t3 offset=0 dim1=0 dim2=1",
    "max_pool2d_with_indices": "self=t1x2x4x4 kernel_size=[2,2] stride=[2,2] padding=[0,0] dilation=[1,1] ceil_mode=false",
    "ormqr": "self=t3x3 input2=t3 input3=t3x2 left=true transpose=false",
    "linalg_lu_solve": "LU=t3x3:definite pivots=t3:i32ones B=t3x2 left=true adjoint=false",
    "linalg_ldl_solve": "LD=t3x3:definite pivots=t3:index B=t3x2 hermitian=false", "lu_solve": "self=t2x2 LU_data=t2x2:lower LU_pivots=t2:index",
}
LOSS = "self=t3x4 target=t3:index weight=t4:positive reduction=1 ignore_index=-100"
CELL = "input=t2x3 w_ih=t{g}x3 w_hh=t{g}x4 b_ih=t{g} b_hh=t{g} hx="
ATTENTION = "query=t2x3x4 key=t2x5x4 value=t2x5x4 dropout_p=0.0 need_attn_weights=true is_causal=false"
POOL2 = "self=t1x2x5x5 kernel_size=[2,2] output_size=[3,3] random_samples=t1x2x2:unit output=out indices=outi"
POOL3 = "self=t1x2x5x5x5 kernel_size=[2,2,2] output_size=[3,3,3] random_samples=t1x2x3:unit output=out indices=outi"
RECIPES = {
    "_empty_per_channel_affine_quantized": "size=[3,4] scales=t3:positive zero_points=t3:index axis=0 dtype=qu8",
    "_histogramdd_bin_edges": "self=t5x2 bins=[3,3] density=false", "_local_scalar_dense": "self=t1", "logspace": "start=1 end=3 steps=3 base=2.0",
    "_pad_packed_sequence": "data=t3x2 batch_sizes=t3:iones batch_first=true padding_value=0.5 total_length=4",
    "_scaled_dot_product_attention": ATTENTION, "_scaled_dot_product_attention_forward": ATTENTION, "_scaled_dot_product_attention_math": ATTENTION,
    "cosine_embedding_loss": "input1=t3x4 input2=t3x4 target=t3:iones margin=0.1 reduction=1",
    "fractional_max_pool2d": POOL2, "fractional_max_pool2d.output": POOL2, "fractional_max_pool3d": POOL3, "fractional_max_pool3d.output": POOL3,
    "grid_sampler": "input=t1x2x4x4 grid=t1x3x3x2:unit interpolation_mode=0 padding_mode=0 align_corners=false",
    "gru_cell": CELL.format(g=12) + "t2x4", "lstm_cell": CELL.format(g=16) + "[t2x4;t2x4]", "rnn_tanh_cell": CELL.format(g=4) + "t2x4",
    "rnn_relu_cell": CELL.format(g=4) + "t2x4", "svd.U": "self=t3x2 some=true compute_uv=true U=out S=out V=out",
    "linalg_lstsq.out": "self=t4x3 b=t4x2 driver='gelsd' solution=out residuals=out rank=outi singular_values=out",
    "native_batch_norm": "input=t2x3x4 weight=t3 bias=t3 running_mean=t3 running_var=t3:positive training=false momentum=0.1 eps=0.001",
    "nll_loss": LOSS, "nll_loss_forward": LOSS, "nll_loss_nd": LOSS, "nll_loss_forward.output": LOSS + " output=out total_weight=out",
    "rrelu_with_noise_": "self=t2x3 noise=t2x3 lower=0.1 upper=0.3 training=true", "slow_conv3d_forward": BOTH["slow_conv3d"],
    "view.dtype": "self=t2x3 dtype=i32", "addr_": "self=t2x3 vec1=t2 vec2=t3 beta=0.5 alpha=2",
    "conv1d.padding": "input=t1x3x5 weight=t4x3x3 bias=t4 stride=[1] padding='same' dilation=[1] groups=1",
    "conv2d.padding": "input=t1x3x5x5 weight=t4x3x3x3 bias=t4 stride=[1,1] padding='valid' dilation=[1,1] groups=1",
    "embedding_bag": "weight=t4x3 indices=t6:index offsets=t2:zeros mode=1 scale_grad_by_freq=false sparse=false include_last_offset=false",
    "ctc_loss.Tensor": "log_probs=t5x2x3 targets=t2x2:iones input_lengths=t2:iones target_lengths=t2:iones blank=0 reduction=1 zero_infinity=false",
    "nll_loss2d_forward": "self=t1x3x2x2 target=t1x2x2:index reduction=1 ignore_index=-100", "mv.out": "self=t2x3 vec=t3 out=out",
    "nll_loss2d_forward.output": "self=t1x3x2x2 target=t1x2x2:index reduction=1 ignore_index=-100 output=out total_weight=out",
    "nll_loss2d.out": "self=t1x3x2x2 target=t1x2x2:index reduction=1 ignore_index=-100 out=out",
    "isin.Tensor_Tensor_out": "elements=t3:index test_elements=t2:iones assume_unique=false invert=false out=outb",
    "addbmm.out": "self=t2x4 batch1=t3x2x5 batch2=t3x5x4 beta=0.5 alpha=2 out=out",
    "gradient.tensorarray": "self=t3x4 spacing=[t3:positive;t4:positive] dim=[0,1] edge_order=1",
    "lstm.data": f"data=t3x3 batch_sizes=t3:iones hx=[t1x1x4;t1x1x4] {LSTM}", "gru.data": f"data=t3x3 batch_sizes=t3:iones hx=t1x1x4 {GRU}",
    "rnn_tanh.data": f"data=t3x3 batch_sizes=t3:iones hx=t1x1x4 {RNN1}", "rnn_relu.data": f"data=t3x3 batch_sizes=t3:iones hx=t1x1x4 {RNN1}",
    "conv2d": f"input=t1x3x5x5 weight=t4x3x3x3 {CONV}", "_convolution.deprecated": f"input=t1x3x5x5 weight=t4x3x3x3 {CONV}",
    "conv3d": f"input=t1x2x4x4x4 weight=t3x2x2x2x2 bias=t3 groups=1 {CONV3}",
    "conv3d.padding": "input=t1x2x4x4x4 weight=t3x2x3x3x3 bias=t3 groups=1 stride=[1,1,1] padding='same' dilation=[1,1,1]",
    "_convolution_mode": "input=t1x3x5x5 weight=t4x3x3x3 bias=t4 stride=[1,1] padding='same' dilation=[1,1] groups=1",
    "conv_transpose2d.input": f"input=t1x3x4x4 weight=t3x4x3x3 {CONV}",
    "conv_transpose3d.input": f"input=t1x2x3x3x3 weight=t2x3x2x2x2 bias=t3 groups=1 output_padding=[0,0,0] {CONV3}",
    "max_pool3d": BOTH["max_pool3d_with_indices"], "mv": "self=t2x3 vec=t3", "addmv_": BOTH["addmv"],
    "addbmm": "self=t2x4 batch1=t3x2x5 batch2=t3x5x4 beta=0.5 alpha=2", "addbmm_": "self=t2x4 batch1=t3x2x5 batch2=t3x5x4 beta=1 alpha=1",
    "kl_div": "self=t2x3 target=t2x3:unit reduction=1 log_target=false",
    "quantile.scalar": "self=t3x4 q=0.3 dim=1 keepdim=true interpolation='linear'", "nanquantile.scalar": "self=t3x4 q=0.3 interpolation='linear' keepdim=false",
    "quantile.scalar_out": "self=t3x4 q=0.3 dim=1 keepdim=true interpolation='linear' out=out",
    "nanquantile.scalar_out": "self=t3x4 q=0.3 dim=1 interpolation='linear' keepdim=false out=out",
    "lstm.input": f"input=t2x3x3 hx=[t1x2x4;t1x2x4] batch_first=true {LSTM}", "gru.input": f"input=t2x3x3 hx=t1x2x4 batch_first=true {GRU}",
    "rnn_tanh.input": f"input=t2x3x3 hx=t1x2x4 batch_first=true {RNN1}", "rnn_relu.input": f"input=t2x3x3 hx=t1x2x4 batch_first=true {RNN1}",
    "narrow.Tensor": "self=t4x3 dim=0 start=t:index length=2",
    "upsample_nearest3d.vec": "input=t1x2x3x3x3 output_size=[4,5,6]", "upsample_trilinear3d.vec": "input=t1x2x3x3x3 output_size=[4,5,6] align_corners=false",
    "polar.out": "abs=t3:positive angle=t3 out=none", "nll_loss2d": "self=t1x3x2x2 target=t1x2x2:index reduction=1 ignore_index=-100",
    "is_coalesced": "self=t2", "native_norm": "self=t2x3 p=2",
    "slow_conv_transpose2d.out": f"self=t1x3x4x4 weight=t3x4x3x3 kernel_size=[3,3] out=out {CONV}",
}
for base, text in BOTH.items():
    RECIPES[base] = text
    RECIPES[base + ".out"] = text + " out=out out0=out out1=out out2=out indices=outi P=out L=out U=out"
RECIPES.pop("polar.out")
RECIPES = {name: recipe(text) for name, text in RECIPES.items()}


def overload(name):
    base, _, over = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), over or "default")


def kinds_of(f):
    """Returns (name, type, true for an out argument) of each argument, as in native_functions.yaml."""
    outs = {a.name for a in f.func.arguments.out}
    return [(a.name, str(a.type), a.name in outs) for a in f.func.arguments.flat_all]


def given_at(name, f, attempt):
    """Returns the arguments of a draw: {argument: (a value, its C++)}."""
    if name in RECIPES:
        return {k: RECIPES[name](k) for k, _, _ in kinds_of(f)}
    draw, given = Draw(f"{name} {attempt}"), {}
    for argument, kind, out in kinds_of(f):
        if out and kind == "Tensor" and attempt % 4:
            given[argument] = (Drawn(1, (0,), draw.dtype, NUMBERS), f"at::empty({{0}}, static_cast<at::ScalarType>({DTYPES[draw.dtype]}))")
        else:
            given[argument] = draw.value(kind, argument)
        if argument == "dtype" and given[argument][0] is not None and attempt % 2 and kind.endswith("?"):
            given[argument] = (None, "c10::nullopt")
    return given


def made_of(value):
    return value.value() if isinstance(value, Drawn) else [made_of(v) for v in value] if isinstance(value, list) else value


def works(name, f, attempt):
    op, given = overload(name), {k: made_of(v) for k, (v, _) in given_at(name, f, attempt).items()}
    torch.manual_seed(0)
    positional = [given[a.name] for a in op._schema.arguments if not a.kwarg_only]
    keywords = {a.name: given[a.name] for a in op._schema.arguments if a.kwarg_only}
    try:
        op(*positional, **keywords)
        return True
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, KeyError):
        return False


def find(name, f, first, into):
    """Returns the number of the first draw, from `first` on, that PyTorch accepts, or -1 if it accepts none."""
    for attempt in range(first, 1 if name in RECIPES else TRIES):
        into.write(f"{attempt}\n")  # tells the parent process the number of the draw, in case PyTorch crashes
        into.flush()
        if works(name, f, attempt):
            return attempt
    return -1


def find_safely(name, f, first):
    """Runs find in processes of their own, because PyTorch crashes or hangs on some arguments."""
    while first < TRIES:
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            signal.alarm(20)
            with os.fdopen(into, "w") as file:
                file.write(f"found {find(name, f, first, file)}\n")
                file.flush()
                os._exit(0)
        os.close(into)
        with os.fdopen(out) as file:
            last = file.read().split("\n")[-2]
        os.waitpid(child, 0)
        if last.startswith("found"):
            return int(last.split()[1])
        first = int(last) + 1
    return -1


def options(given):
    text = "at::TensorOptions()"
    if given["dtype"][0] is not None:
        text += f".dtype({given['dtype'][1]})"
    return text


def call(signature, given, method):
    """Returns the C++ of a call; tensors are named variables, because some calls write to them."""
    declared, arguments = [], []
    number = 0
    with signatures_test.as_headers():
        bindings = list(signature.arguments())
    for binding in bindings:
        if binding.name == "options":
            arguments.append(options(given))
            continue
        value, cpp = given[binding.name]
        declared_type = binding.type.rstrip("& ").removeprefix("const ")
        if declared_type == "at::Tensor":
            declared.append(f"at::Tensor t{number} = {cpp};")
            cpp = f"t{number}"
            number += 1
        elif value is None:
            cpp = declared_type + "()"
        elif declared_type in ("at::IntArrayRef", "at::OptionalIntArrayRef"):
            cpp = f"at::OptionalIntArrayRef(at::IntArrayRef({cpp}))" if "Optional" in declared_type else f"at::IntArrayRef({cpp})"
        elif declared_type == "c10::optional<at::ArrayRef<double>>":
            cpp = f"{declared_type}(at::ArrayRef<double>({cpp}))"
        arguments.append(cpp)
    if method:
        declared.append(f"at::Tensor self = {given['self'][1]};")
        return declared, f"self.{signature.name()}({', '.join(arguments)})"
    return declared, f"at::{signature.name()}({', '.join(arguments)})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--find", action="store_true", help="find arguments and write ATTEMPTS anew")
    parser.add_argument("--filter", default="")
    parser.add_argument("--advance", nargs="*", metavar="NAME", help="find other arguments for these")
    a = parser.parse_args()
    known = signatures_test.operators()
    names = [n for n in sorted(signatures_test.listed() & set(known)) if a.filter in n and not known[n].manual_cpp_binding
             and n.split(".")[0] not in LEFT and n not in signatures_test.BY_HAND]
    attempts = {name: int(number) for name, number in (line.split() for line in ATTEMPTS.read_text().split("\n") if line)}
    if a.find or a.advance:
        for name in a.advance or names:
            attempts[name] = find_safely(name, known[name], attempts.get(name, -1) + 1 if a.advance and name not in RECIPES else 0)
        ATTEMPTS.write_text("".join(f"{name} {attempts[name]}\n" for name in sorted(attempts)))
    none = [name for name in names if attempts.get(name, -1) < 0]
    calls = 0
    print("// Made by make_calls.py.\n#include \"calls_parts.h\"\n")
    for name in names:
        f, base = known[name], name.split(".")[0]
        for method, signature in signatures_test.signatures(f) if name not in none else ():
            declared, text = call(signature, given_at(name, f, attempts[name]), method)
            how = "sizes" if base.startswith(ANYTHING) else "show"
            result = f"{text}; std::cout << \"done\\n\"" if not f.func.returns else f"{how}({text})"
            print(f"static void call{calls}()\n{{\n    " + "\n    ".join(declared + [result + ";"]) + "\n}")
            print(f'static const Case case{calls}("{name}{" (method)" if method else ""}", call{calls});')
            calls += 1
    print(f"{calls} calls; no arguments for {len(none)} operators:", *none, file=sys.stderr)


if __name__ == "__main__":
    main()
