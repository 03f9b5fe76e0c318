#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""signatures_test.py FOLDER…: checks that the functions and methods made from the operator list (taper/cpp/generated in one of the folders) are
declared as in PyTorch, by torchgen, PyTorch's own generator, which is part of python3-torch. Symbolic sizes are numbers on purpose, and
hand-written functions are not checked."""
import pathlib
import re
import sys

try:
    import torchgen.local
    from torchgen.api.types import CppSignatureGroup
    from torchgen.gen import parse_native_yaml
    from torchgen.model import Variant
except ImportError as error:
    print(f"SKIPPED: torchgen is not installed (Debian: python3-torch): {error}")
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import op_rows  # noqa: E402

# Functions that tensor.h and global_context.h define by hand.
BY_HAND = {"is_vulkan_available", "item", "to.device", "to.dtype_layout"}
DTYPES = {"at::kLong": "4"}


def as_headers():
    return torchgen.local.parametrize(use_const_ref_for_mutable_tensors=False, use_ilistref_for_tensor_lists=False)


def plain(declaration):
    """Returns a declaration without the parts that do not change its meaning."""
    text = re.sub(r"\s+", " ", declaration)
    text = text.replace("at::OptionalIntArrayRef", "OptionalIntArrayRef").replace("inline ", "").replace("at::Tensor at::", "at::Tensor ")
    text = re.sub(r"static_cast<at::\w+>\((\d+)\)", r"\1", text)
    for name, number in DTYPES.items():
        text = text.replace("=" + name, "=" + number)
    text = re.sub(r"=(\d+)\.(?=[,) ])", r"=\1.0", text)
    text = re.sub(r"=(-?\d+(?:\.\d+)?(?:e-?\d+)?)", lambda m: "=" + repr(float(m[1])), text)
    text = re.sub(r"=\{(-?\d+(?:, ?-?\d+)*)\}", lambda m: "={" + ",".join(str(float(n)) for n in m[1].split(",")) + "}", text)
    text = re.sub(r"=\{(-?[\d.]+)\}", r"=\1", text)
    text = text.replace("={}", "=none").replace("=MemoryFormat::Contiguous", "=0.0").replace("=c10::nullopt", "=none").replace("=at::Reduction::Mean", "=1.0")
    return re.sub(r" ?([&,(){}<>=*]) ?", r"\1", text).strip()


def made(folders):
    folder = next(p for f in folders for p in [pathlib.Path(f, "taper/cpp/generated")] if p.is_dir())
    methods = [line for line in (folder / "methods.inc").read_text().split("\n") if line.endswith(" const;")]
    functions = re.findall(r"^inline (.*\)(?: const)?)$", (folder / "functions.h").read_text(), re.M)
    return {plain(m[:-1]) for m in methods}, {plain(f) for f in functions if " Tensor::" not in f}


def operators():
    """Returns {name: PyTorch's function}."""
    import torchgen.packaged
    root = pathlib.Path(list(torchgen.packaged.__path__)[0], "ATen/native")
    return {str(f.func.name): f for f in parse_native_yaml(str(root / "native_functions.yaml"), str(root / "tags.yaml")).native_functions}


def signatures(f):
    """Yields (true for a method, signature) of each signature of a function, with plain integers instead of symbolic sizes."""
    with as_headers():
        return [(method, s) for variant, method in ((Variant.method, True), (Variant.function, False)) if variant in f.variants
                for s in CppSignatureGroup.from_native_function(f, method=method, fallback_binding=False).signatures() if not s.symint]


def declared():
    """Returns {name: (methods, functions)} as PyTorch declares them."""
    all_of = {}
    for name, f in operators().items():
        if not f.manual_cpp_binding:
            with as_headers():
                texts = [(method, plain(s.decl()) + ("const" if method else "")) for method, s in signatures(f)]
            all_of[name] = ({t for method, t in texts if method}, {t for method, t in texts if not method})
    return all_of


def listed():
    """Returns the names of Taper's operators, with overloads."""
    return {row.name[len("aten::"):] for row in op_rows.rows(TOP) if row.name.startswith("aten::")}


def main():
    methods, functions = made(sys.argv[1:])
    methods = {m.replace(" const", "const") for m in methods}
    known = declared()
    passed = failed = 0
    for kind, ours, at in (("method", methods, 0), ("function", functions, 1)):
        theirs = set().union(*(texts[at] for name, texts in known.items()))
        for text in sorted(ours):
            if text in theirs:
                passed += 1
            else:
                failed += 1
                base = re.split(r"[ &>]", text.split("(")[0])[-1]
                like = [t for t in theirs if re.split(r"[ &>]", t.split("(")[0])[-1] == base]
                print(f"FAILED {kind} {text}\n    PyTorch's: {like[:3]}")
    # If PyTorch has a function or a method for an operator of the list, the binding must have it too.
    ours_all = listed()
    for name, (m, f) in known.items():
        if name not in ours_all or name in BY_HAND:
            continue
        missing = [t for t in m if t not in methods] + [t for t in f if t not in functions]
        passed, failed = passed + (not missing), failed + bool(missing)
        for text in missing:
            print(f"FAILED {name}: there is no {text}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
