#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make_pt2.py OUT [NAME…]: exports small modules with the installed PyTorch (2.1 and newer), saves them as OUT/VERSION_NAME.pt2, and writes their
contents to OUT/VERSION_NAME.txt, from Python's own reading of the JSON and from the tensors of torch.export.load. tests/unit/pt2_test.c prints
the same text from the reader in src/format. torch2.sh runs this with older versions of PyTorch."""
import base64
import collections
import io
import json
import pathlib
import re
import sys
import zipfile

import torch
from torch.export import export, load, save

VERSION = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
Pair = collections.namedtuple("Pair", ["left", "right"])


# ---- modules


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.register_buffer("count", torch.zeros(2))
        self.register_buffer("scratch", torch.ones(2), persistent=False)
        self.table = torch.arange(2.0)
        with torch.no_grad():
            self.layer.weight.copy_(torch.arange(6.0).reshape(2, 3))
            self.layer.bias.copy_(torch.tensor([0.5, -0.5]))

    def forward(self, x, more):
        self.count.add_(1)
        y = torch.relu(self.layer(x)) + self.scratch + torch.tensor([1.5]) + self.table
        return {"out": y * self.count.sum(), "rest": (more["a"] + 1, [y.sum()])}


class Dynamic(torch.nn.Module):
    def forward(self, x):
        n = x.shape[0]
        parts = torch.split(x, [1, x.shape[1] - 1], dim=1)
        return x.reshape(n * 2, -1), parts[0] * n, n, x.new_zeros(n, 3), x * (n / 2)


class Control(torch.nn.Module):
    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda a: torch.cond(a.mean() > 1, lambda b: b + 1, lambda b: b * 2, (a,)), lambda a: a - 1, (x,))
        from torch._higher_order_ops.while_loop import while_loop
        z = while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (torch.tensor(0), y))
        return y, z[1]


class Weights(torch.nn.Module):
    def __init__(self):
        super().__init__()
        whole = torch.arange(12.0).reshape(3, 4)
        self.whole = torch.nn.Parameter(whole)
        self.tied = self.whole
        self.register_buffer("row", whole[1])
        self.register_buffer("turned", whole.t())
        self.register_buffer("halves", torch.arange(3, dtype=torch.bfloat16))
        self.register_buffer("truth", torch.tensor([True, False, True]))
        self.register_buffer("empty", torch.zeros(0, 3))
        self.register_buffer("seven", torch.tensor(7))
        self.register_buffer("wave", torch.tensor([1 + 2j, -1j]))
        if VERSION >= (2, 9):
            self.register_buffer("eight", torch.ones(2).to(torch.float8_e4m3fn))

    def forward(self, x):
        y = x + self.whole + self.tied + self.row + self.turned.sum() + self.halves.sum() + self.truth.sum() + self.seven
        y = y + self.empty.sum() + self.wave.real.sum()
        return y + self.eight.to(torch.float32).sum() if VERSION >= (2, 9) else y


class Arguments(torch.nn.Module):
    def forward(self, x):
        y = torch.nn.functional.gelu(x, approximate="tanh").to(torch.float64)
        y = y.masked_fill(y > 1, float("-inf")) + torch.empty_like(y, memory_format=torch.channels_last).fill_(0.25)
        z = torch.zeros(2, 3, dtype=torch.int32, device="cpu", layout=torch.strided)
        with torch.no_grad():
            index = torch.tensor([0, 1]) * 1
        mask = torch.ops.aten.convolution_backward.default(x, x, x, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, False, False])
        return y, z, x[:, index, :, index], torch.cat([x, x], 1), torch.nn.functional.interpolate(x, scale_factor=2.0), torch.mul(x, 1j), mask[0]


class Containers(torch.nn.Module):
    def forward(self, x, pair, *, flag=None, scale=2.5, mode="up"):
        y = pair.left + pair.right["k"] * scale
        if mode == "up":
            y = y + 1
        return Pair(y, collections.OrderedDict([("b", x), ("a", [x + y, None])])), {1: y, "two": 2, "none": flag}


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("batch", min=2, max=8), 1: torch.export.Dim("width", min=4)}}


def register_pair():
    from torch.utils import _pytree
    if hasattr(_pytree, "_register_namedtuple"):
        _pytree._register_namedtuple(Pair, serialized_type_name="test.Pair")


def shorten_traces(program):
    """Removes the paths of this machine."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if "stack_trace" in node.meta:
                node.meta["stack_trace"] = re.sub(r'File ".*/([^/"]+)"', r'File "\1"', node.meta["stack_trace"] or "")


# name: (module, arguments, keywords, options of export, the first version)
ONES = torch.ones(2, 3)
SAMPLES = {
    "small": (Small, (ONES, {"a": torch.ones(2)}), {}, {}, (2, 1)),
    "decomposed": (Small, (ONES, {"a": torch.ones(2)}), {}, {}, (2, 6)),
    "weights": (Weights, (torch.ones(3, 4),), {}, {}, (2, 1)),
    "dynamic": (Dynamic, (torch.ones(4, 6),), {}, {"dynamic_shapes": dynamic_shapes}, (2, 6)),
    "arguments": (Arguments, (torch.ones(2, 2, 2, 2),), {}, {}, (2, 6)),
    "containers": (Containers, (ONES, Pair(ONES, {"k": ONES})), {"flag": None, "scale": 1.5, "mode": "up"}, {}, (2, 6)),
    "control": (Control, (ONES,), {}, {}, (2, 6)),
}


# ---- the contents of a program, as text

MEMORY_FORMATS = {1: 0, 2: 2, 3: 3, 4: 1}
LAYOUTS = {1: 1, 2: 2, 3: 4, 4: 5, 5: 6, 6: 3, 7: 0}
KINDS = {"tensor": "value", "optional_tensor": "value", "sym_int": "int", "sym_float": "float", "sym_bool": "bool"}
KEPT = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex32,
        torch.complex64, torch.complex128, torch.bool, torch.bfloat16}


def dtype_name(number):
    from torch._export.serde.serialize import _SERIALIZE_TO_TORCH_DTYPE as dtypes
    return str({int(key): value for key, value in dtypes.items()}[number]).removeprefix("torch.")


def slim(json_value):
    """Removes the members that are null, which the first schemas have in every union."""
    if isinstance(json_value, dict):
        return {key: slim(value) for key, value in json_value.items() if value is not None}
    return [slim(value) for value in json_value] if isinstance(json_value, list) else json_value


def text_float(value):
    return repr(float({"Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}.get(value, value)))


def text_device(device):
    return device["type"] + (f":{device['index']}" if "index" in device else "")


def text_item(kind, value):
    if kind in KINDS and isinstance(value, dict) and next(iter(value)).startswith("as_"):
        return text_argument(value)
    if kind in ("tensor", "custom_obj", "name"):
        return "%" + (value if isinstance(value, str) else value["name"])
    plain = {
        "none": lambda: "None", "int": lambda: str(value), "float": lambda: text_float(value), "bool": lambda: str(value),
        "string": lambda: f'"{value}"', "scalar_type": lambda: "dtype " + dtype_name(value),
        "memory_format": lambda: f"memory_format {MEMORY_FORMATS[value]}", "layout": lambda: f"layout {LAYOUTS[value]}",
        "device": lambda: "device " + text_device(value), "operator": lambda: f"operator {value}",
        "complex": lambda: f"complex({text_float(value['real'])}, {text_float(value['imag'])})",
        "graph": lambda: f"graph {value['name']} {{\n{text_graph(value['graph'])}}}",
        "string_to_argument": lambda: "{" + ", ".join(f"{key}: {text_argument(item)}" for key, item in value.items()) + "}",
    }
    return plain[kind]()


def text_argument(argument):
    (kind, value), = argument.items()
    kind = kind.removeprefix("as_")
    for ending, inner in (("_lists", 2), ("s", 1)):
        if kind.startswith("nested_"):
            return "list[" + ", ".join(text_argument({"as_tensors": item}) for item in value) + "]"
        if kind.endswith(ending):
            kind = kind.removesuffix(ending)
            if inner == 2:
                return "list[" + ", ".join(text_argument({f"as_{kind}s": item}) for item in value) + "]"
            return KINDS.get(kind, kind) + "[" + ", ".join(text_item(kind, item) for item in value) + "]"
    return text_item(kind, value)


def text_number(number):
    if not isinstance(number, dict):
        return str(number)
    (kind, value), = number.items()
    return value if isinstance(value, str) and kind == "as_expr" else value["expr_str"] if kind == "as_expr" else str(value)


def text_meta(meta):
    meta = meta.get("meta", meta)
    sizes, strides = ([text_number(item) for item in meta[key]] for key in ("sizes", "strides"))
    return (f"{dtype_name(meta['dtype'])} [{', '.join(sizes)}] [{', '.join(strides)}] {text_number(meta['storage_offset'])} "
            f"{text_device(meta['device'])} {LAYOUTS[meta['layout']]} {meta['requires_grad']}")


def module_of(stack):
    last = stack.split(";")[-1]
    old = re.match(r"[^,]*?:\(([^,]*)", last)
    return old.group(1) if old else last.split(",")[1] if "," in last else last


def text_graph(graph):
    lines = []
    names = set()

    def visit(argument):
        if isinstance(argument, list):
            for item in argument:
                visit(item)
        elif isinstance(argument, dict):
            for key, value in argument.items():
                if key == "graph":
                    continue
                if key in ("as_name", "as_tensor", "as_custom_obj", "as_tensors", "as_nested_tensors") and not isinstance(value, dict):
                    for item in value if isinstance(value, list) else [value]:
                        for inner in item if isinstance(item, list) else [item]:
                            names.add(inner["name"] if isinstance(inner, dict) else inner)
                elif key in ("as_tensor", "as_custom_obj"):
                    names.add(value["name"])
                else:
                    visit(value)

    visit([graph["inputs"], graph["outputs"], [[node["inputs"], node["outputs"]] for node in graph["nodes"]]])
    known = {}
    for key, text in (("tensor_values", text_meta), ("sym_int_values", text_number), ("sym_float_values", text_number),
                      ("sym_bool_values", text_number)):
        for name, value in graph.get(key, {}).items():
            known[name] = f"{key.removesuffix('_values').removeprefix('sym_')} {text(value)}"
    for name in sorted(names | set(known), key=str.encode):
        lines.append(f"value {name} {known.get(name, 'unknown')}")
    for what in ("inputs", "outputs"):
        lines.append(f"{what} {', '.join(text_argument(item) for item in graph[what])}")
    for node in graph["nodes"]:
        meta = node["metadata"]
        trace = meta["stack_trace"].rpartition("\n")[2] if "stack_trace" in meta else "unknown"
        module = module_of(meta["nn_module_stack"]) if "nn_module_stack" in meta else "unknown"
        lines.append(f"node {node['target']} name {node.get('name', 'unknown')} module {module} single "
                     f"{node.get('is_hop_single_tensor_return', False)} trace {trace}")
        for item in node["inputs"]:
            lines.append(f"  {'keyword' if item.get('kind') == 2 else 'in'} {item['name']} {text_argument(item['arg'])}")
        for item in node["outputs"]:
            lines.append(f"  out {text_argument(item)}")
    lines.append(f"single {graph.get('is_single_tensor_return', False)}")
    return "".join(line + "\n" for line in lines)


def text_tree(tree, fields):
    children = [text_tree(child, fields) for child in tree["children_spec"]]
    kind, context = tree["type"], tree["context"]
    if kind is None:
        return "*"
    if kind in ("builtins.tuple", "builtins.list"):
        return ("(%s)" if kind == "builtins.tuple" else "[%s]") % ", ".join(children)
    if kind in ("builtins.dict", "collections.OrderedDict"):
        keys = [f'"{key}"' if isinstance(key, str) else str(key) for key in json.loads(context)]
        return "{" + ", ".join(f"{key}: {child}" for key, child in zip(keys, children)) + "}"
    names = fields.get(context.strip('"'), {}).get("field_names")
    return f"{context}(" + ", ".join(f"{name}={child}" for name, child in zip(names, children)) + ")" if names else \
        f"{context}(" + ", ".join(children) + ")"


def text_signature(module, constants):
    """Returns the lines of inputs and outputs, in the order of the graph. The first schema has no input_specs."""
    signature, graph = module["signature"], module["graph"]
    lines = []
    if "input_specs" not in signature:
        for argument in graph["inputs"]:
            name = argument["as_tensor"]["name"]
            kind = "parameter" if name in signature["inputs_to_parameters"] else "buffer" if name in signature["inputs_to_buffers"] else "user"
            target = {**signature["inputs_to_parameters"], **signature["inputs_to_buffers"]}.get(name, "")
            lines.append(f"input {kind} {target} %{name} True".replace("  ", " "))
        lines += [f"input tensor {name} %{name} True" for name in constants]
        mutated = signature["buffers_to_mutate"]
        for at, argument in enumerate(graph["outputs"]):
            name = argument["as_tensor"]["name"]
            is_buffer = at < len(mutated) and name in mutated
            lines.append(f"output buffer {mutated[name]} %{name}" if is_buffer else f"output user %{name}")
        return lines
    kinds = {"user_input": "user", "constant_input": "constant", "tensor_constant": "tensor", "user_output": "user",
             "buffer_mutation": "buffer", "user_input_mutation": "input"}
    for what in ("input", "output"):
        for spec, argument in zip(signature[f"{what}_specs"], graph[f"{what}s"]):
            (kind, body), = spec.items()
            target = [value for key, value in body.items() if key.endswith("name")]
            line = [what, kinds.get(kind, kind), *target, text_argument(argument)]
            lines.append(" ".join(line + ([str(body.get("persistent", True))] if what == "input" else [])))
    return lines


def text_weights(tensors):
    lines, first = [], {}
    for name in sorted(tensors, key=str.encode):
        tensor = tensors[name].detach()
        if tensor.dtype not in KEPT:
            lines.append(f"weight {name} refused")
            continue
        place = tensor.untyped_storage().data_ptr()
        shared = first.setdefault(place, name) if place != 0 and tensor.untyped_storage().nbytes() != 0 else name
        data = bytes(tensor.contiguous().clone().untyped_storage()).hex()
        lines.append(f"weight {name} {str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)} {list(tensor.stride())} of {shared}: {data}")
    return lines


def constants_of(program, module):
    if "constants" in module["graph"]:
        blobs = {name: torch.load(io.BytesIO(base64.b64decode(text))) for name, text in module["graph"]["constants"].items()}
        return blobs
    found = getattr(program, "constants", None) or getattr(program, "tensor_constants", {})
    return {name: value for name, value in found.items() if isinstance(value, torch.Tensor)}


def describe(path):
    with zipfile.ZipFile(path) as archive:
        record, = [name for name in archive.namelist() if name.endswith(("models/model.json", "serialized_exported_program.json"))]
        whole = json.loads(archive.read(record))
    calls = [entry["signature"] for entry in whole["graph_module"]["module_call_graph"] if entry["fqn"] == ""] or \
        [whole["graph_module"]["call_spec"]]
    fields = whole["graph_module"].get("treespec_namedtuple_fields", {})
    in_tree, out_tree = (text_tree(json.loads(calls[0][key])[1], fields) for key in ("in_spec", "out_spec"))
    if "call_spec" in whole["graph_module"] and not re.fullmatch(r"\(\(.*\), \{.*\}\)", in_tree):
        in_tree = f"({in_tree}, {{}})"
    whole = slim(whole)
    module = whole["graph_module"]
    version = whole["schema_version"]
    program = load(path)
    constants = constants_of(program, module)
    lines = [f"schema {version['major']} {version['minor']}" if isinstance(version, dict) else f"schema {version} 0",
             f"torch {whole.get('torch_version', 'unknown')}"]
    lines += [f"opset {name} {number}" for name, number in whole["opset_version"].items()]
    lines += [f"range {name} {item.get('min_val', 'none')} {item.get('max_val', 'none')}" for name, item in whole["range_constraints"].items()]
    lines += [f"guard {text}" for text in whole.get("guards_code", [])]
    lines += text_signature(module, constants)
    if "constants" in module["graph"]:  # only the first schema has this member; the reader turns constants into inputs
        module["graph"]["inputs"] += [{"as_tensor": {"name": name}} for name in constants]
    lines += [f"in {in_tree}", f"out {out_tree}", "names " + " ".join(calls[0].get("forward_arg_names") or [])]
    return "\n".join(lines) + "\n" + text_graph(module["graph"]) + "".join(
        line + "\n" for line in text_weights({**program.state_dict, **constants}))


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    register_pair()
    for name in sys.argv[2:] or SAMPLES:
        module, arguments, keywords, options, first = SAMPLES[name]
        if VERSION < first:
            continue
        torch.manual_seed(0)
        path = out / f"{VERSION[0]}.{VERSION[1]}_{name}.pt2"
        options = {key: value() for key, value in options.items()}
        program = export(module().eval(), arguments, keywords, **options)
        if name == "decomposed":
            program = program.run_decompositions()
        shorten_traces(program)
        save(program, path, extra_files={"note.txt": "hello"})
        path.with_suffix(".txt").write_text(describe(path))
        print(path, path.stat().st_size)


main()
