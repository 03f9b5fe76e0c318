# SPDX-License-Identifier: BSD-2-Clause
"""Recordings: cases with their models, inputs and PyTorch's results, which recorded_cases (C) runs without PyTorch.

A file has "TAPERREC", the size of the unpacked data (8 bytes), and a zlib stream. The unpacked data is a table of byte strings (models and elements
of tensors, each once), followed by the cases. All numbers are little-endian. recording.h describes the values."""
import ctypes
import hashlib
import io
import struct
import zipfile
import zlib

import numpy as np
import torch

import agreement

DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex32,
          torch.complex64, torch.complex128, torch.bool, torch.qint8, torch.quint8, torch.qint32, torch.bfloat16, torch.quint4x2]
EXACT, EACH, WHOLE = 0, 1, 2  # modes in which elements are compared: equal bits, each with a tolerance, or the tensor as a whole
PLAIN_TYPES = {"FloatType": float, "IntType": int, "BoolType": bool, "ComplexType": complex}


def elements(t):
    """Returns the bytes of a tensor, in the order of its indices."""
    t = t.detach().resolve_conj().resolve_neg()
    t = torch.zeros(t.shape, dtype=t.dtype) if t._is_zerotensor() else t  # autograd's zero tensors have no memory, so a new tensor of zeros replaces them
    t = (t.int_repr() if t.is_quantized else t).contiguous()
    return ctypes.string_at(t.data_ptr(), t.numel() * t.element_size()) if t.numel() else b""


def mobile_parts(model):
    """Returns an archive with only the parts that are needed to run: no source code, no debug records, no alignment."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(model)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            if "/code/" not in name and "debug" not in name:
                new.writestr(zipfile.ZipInfo(name), old.read(name))
    return out.getvalue()


def text(s):
    b = s.encode("utf-8", "surrogateescape") if isinstance(s, str) else s
    return struct.pack("<I", len(b)) + b


class Recording:
    def __init__(self):
        self.blobs, self.order, self.cases = {}, [], []

    def blob(self, data):
        key = hashlib.sha256(data).digest()
        if key not in self.blobs:
            self.blobs[key] = len(self.order)
            self.order.append(data)
        return struct.pack("<I", self.blobs[key])

    def tensor(self, t, memory_order, agree):
        """agree: (mode, relative, absolute) of a result."""
        q = t.is_quantized and t.qscheme() == torch.per_tensor_affine
        head = b"T" + struct.pack("<BBB", DTYPES.index(t.dtype), t.dim(), q)
        head += struct.pack(f"<{2 * t.dim()}q", *t.shape, *t.stride())
        if q:
            head += struct.pack("<dq", t.q_scale(), t.q_zero_point())
        channels_last = memory_order and t.dim() == 4 and not t.is_contiguous()
        data = self.blob(elements(t.permute(0, 2, 3, 1) if channels_last else t))
        return head + data + (struct.pack("<Bdd", *agree) if agree else b"")

    def argument(self, v, kind):
        """Encodes a value with the type of a schema's argument."""
        name = type(kind).__name__
        if v is None:
            return b"N"
        if name == "OptionalType":
            return self.argument(v, kind.getElementType())
        if isinstance(v, torch.Tensor):
            return self.tensor(v, True, None)
        if name in PLAIN_TYPES and not isinstance(v, str):
            v = PLAIN_TYPES[name](v)
        if isinstance(v, list):
            inner = kind.getElementType() if name == "ListType" else None
            return b"l" + text(inner.annotation_str if inner else "") + struct.pack("<I", len(v)) + b"".join(self.argument(x, inner) for x in v)
        if isinstance(v, tuple):
            inner = kind.elements() if name == "TupleType" else [kind.getElementType() if name == "ListType" else None] * len(v)
            if name == "ListType":
                return self.argument(list(v), kind)
            return b"t" + struct.pack("<I", len(v)) + b"".join(self.argument(x, k) for x, k in zip(v, inner))
        if isinstance(v, dict):
            key, value = (kind.getKeyType(), kind.getValueType()) if name == "DictType" else (None, None)
            types = text(key.annotation_str if key else "") + text(value.annotation_str if value else "")
            return b"m" + types + struct.pack("<I", len(v)) + b"".join(self.argument(k, key) + self.argument(x, value) for k, x in v.items())
        return self.number(v)

    @staticmethod
    def number(v):
        if isinstance(v, bool):
            return b"b" + struct.pack("<B", v)
        if isinstance(v, int):
            return b"i" + struct.pack("<q", v)
        if isinstance(v, float):
            return b"d" + struct.pack("<d", v)
        if isinstance(v, complex):
            return b"c" + struct.pack("<dd", v.real, v.imag)
        if isinstance(v, (str, torch.device)):
            return b"s" + text(str(v))
        raise TypeError(f"{type(v).__name__} cannot be recorded")

    def result(self, v, options):
        if v is None:
            return b"N"
        if isinstance(v, torch.Tensor):
            if v.layout != torch.strided:
                raise TypeError("not strided")
            return self.tensor(v, False, self.agreement(v, options))
        if isinstance(v, (list, tuple)):
            return b"l" + text("") + struct.pack("<I", len(v)) + b"".join(self.result(x, options) for x in v)
        if isinstance(v, dict):
            return b"m" + text("") * 2 + struct.pack("<I", len(v)) + b"".join(self.number(k) + self.result(x, options) for k, x in v.items())
        return self.number(v)

    @staticmethod
    def agreement(want, options):
        if not (want.is_floating_point() or want.is_complex()):
            return EXACT, 0.0, 0.0
        each = agreement.bounds(want, options)
        return (EACH, *each) if each else (WHOLE, *agreement.whole_bounds(want, options))

    def add(self, name, module, model, args, want, raised, options):
        """raised: the library's message, or None."""
        kinds = [a.type for a in module.forward.schema.arguments[1:]]
        case = text(name) + self.blob(mobile_parts(model)) + struct.pack("<B", len(args))
        case += b"".join(self.argument(a, k) for a, k in zip(args, kinds))
        case += b"E" + text(raised) if raised is not None else self.result(want, options)
        self.cases.append(case)

    def packed(self):
        raw = struct.pack("<I", len(self.order)) + b"".join(text(b) for b in self.order)
        raw += struct.pack("<I", len(self.cases)) + b"".join(self.cases)
        return b"TAPERREC" + struct.pack("<Q", len(raw)) + zlib.compress(raw, 9)
