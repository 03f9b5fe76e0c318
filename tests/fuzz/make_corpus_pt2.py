#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_pt2 to corpus/pt2 next to this file: small programs, tables of weights and packings as JSON. Each has a form that
the reader supports, or an error. Whole files are in tests/data/pt2. Everything is made here, without PyTorch, and is the same every time."""
import base64
import io
import json
import pathlib
import struct
import zipfile

FOLDER = pathlib.Path(__file__).parent / "corpus/pt2"
FOLDER.mkdir(parents=True, exist_ok=True)
LEAF = {"type": None, "context": None, "children_spec": []}


def write(name, value):
    (FOLDER / name).write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())


def tree(kind, context, *children):
    return {"type": kind, "context": context, "children_spec": list(children)}


def spec(value):
    return json.dumps([1, value])


CALL = {"in_spec": spec(tree("builtins.tuple", "null", tree("builtins.tuple", "null", LEAF), tree("builtins.dict", "[]"))),
        "out_spec": spec(LEAF), "forward_arg_names": ["x"]}


def tensor(name):
    return {"as_tensor": {"name": name}}


def meta(**changes):
    return {"dtype": 7, "sizes": [{"as_int": 2}], "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7, **changes}


def node(arguments, **more):
    return {"target": "torch.ops.aten.add.Tensor", "inputs": [{"name": "self", "arg": argument, "kind": 1} for argument in arguments],
            "outputs": [tensor("y")], "metadata": {"stack_trace": "File \"a\"\n  y = x", "nn_module_stack": "k,,Net;l,layer,Linear"}, **more}


def graph(nodes, inputs=("w", "x"), outputs=("y",), **more):
    return {"inputs": [tensor(name) for name in inputs], "outputs": [tensor(name) for name in outputs], "nodes": nodes,
            "tensor_values": {"x": meta()}, "sym_int_values": {}, "sym_bool_values": {}, **more}


def program(whole_graph, signature=None, calls=None, **more):
    usual = {"input_specs": [{"parameter": {"arg": {"name": "w"}, "parameter_name": "w"}}, {"user_input": {"arg": tensor("x")}}],
             "output_specs": [{"user_output": {"arg": tensor("y")}}]}
    return {"graph_module": {"graph": whole_graph, "signature": signature or usual,
                             "module_call_graph": calls or [{"fqn": "", "signature": CALL}]},
            "opset_version": {"aten": 10}, "range_constraints": {"s0": {"min_val": 2, "max_val": None}},
            "schema_version": {"major": 8, "minor": 20}, "torch_version": "2.15", "guards_code": ["True"], **more}


ALTERNATIVES = {
    "none": True, "tensor": {"name": "x"}, "tensors": [{"name": "x"}], "nested_tensors": [[{"name": "x"}]],
    "optional_tensor": {"as_none": True}, "optional_tensors": [tensor("x"), {"as_none": True}], "int": 1, "ints": [1, 2],
    "int_lists": [[1], []], "sym_int": {"as_name": "n"}, "sym_ints": [{"as_name": "n"}, {"as_int": 2}], "float": 0.5, "floats": [0.5, "NaN"],
    "float_lists": [[0.5]], "sym_float": {"as_float": 1.5}, "sym_floats": [{"as_name": "f"}], "bool": True, "bools": [False],
    "sym_bool": {"as_name": "b"}, "sym_bools": [{"as_bool": True}], "complex": {"real": 1.0, "imag": "-Infinity"}, "string": "none",
    "strings": ["a", "b"], "scalar_type": 5, "memory_format": 2, "layout": 7, "device": {"type": "cuda", "index": 1},
    "operator": "torch.ops.aten.add.Tensor", "custom_obj": {"name": "o", "class_fqn": "c"},
    "string_to_argument": {"k": {"as_int": 1}, "l": {"as_string_to_argument": {}}},
    "graph": {"name": "g", "graph": graph([node([tensor("x")])], inputs=["x"], is_single_tensor_return=True)},
}
for name, value in ALTERNATIVES.items():
    write(f"as_{name}", program(graph([node([{f"as_{name}": value}])])))
write("alternatives", program(graph([node([{f"as_{name}": value} for name, value in ALTERNATIVES.items()], name="y")])))


def call(target, arguments, outputs=("y",), names=()):
    """names: names of the arguments; empty for a higher-order operator."""
    return node([], target="torch.ops." + target, outputs=[tensor(name) for name in outputs],
                inputs=[{"name": name, "arg": argument, "kind": 1} for name, argument in zip(names or [""] * len(arguments), arguments)])


FOUR = meta(sizes=[{"as_int": 2}] * 4, strides=[{"as_int": 8}, {"as_int": 4}, {"as_int": 2}, {"as_int": 1}])
INNER = graph([call("aten.linear.default", [tensor("x"), tensor("w")], names=("input", "weight")),
               call("aten.cat.default", [{"as_tensors": [{"name": "y"}, {"name": "x"}]}, {"as_int": 0}], ["z"], ("tensors", "dim")),
               call("aten.prod.default", [tensor("z")], ["p"], ["self"])], inputs=("x", "w"), outputs=["p"],
              tensor_values={"x": meta(), "w": meta(), "y": meta(dtype=13), "z": meta(), "p": meta()})
for name, on in (("autocast", True), ("autocast_off", False)):
    write(name, program(graph([call("higher_order.wrap_with_autocast", [
        {"as_string": "cpu"}, {"as_scalar_type": 13}, {"as_bool": on}, {"as_bool": False}, {"as_graph": {"name": "g", "graph": INNER}}, tensor("x"),
        tensor("w")])])))
write("attended", program(graph([call("aten._scaled_dot_product_flash_attention_for_cpu.default", [
    tensor("x"), tensor("x"), tensor("w"), {"as_float": 0.0}, {"as_bool": True}, tensor("w"), {"as_float": 0.5}], ["y", "z"],
    ("query", "key", "value", "dropout_p", "is_causal", "attn_mask", "scale"))], outputs=["z"], tensor_values={"x": FOUR}), signature={
        "input_specs": [{"parameter": {"arg": {"name": "w"}, "parameter_name": "w"}}, {"user_input": {"arg": tensor("x")}}],
        "output_specs": [{"user_output": {"arg": tensor("z")}}]}))
write("chunks", program(graph([call("aten._chunk_cat.default", [{"as_tensors": [{"name": "x"}, {"name": "x"}]}, {"as_int": 1}, {"as_int": 3}],
                                    names=("tensors", "dim", "num_chunks"))], tensor_values={"x": FOUR})))
write("unions_with_nulls", program(graph([node([{"as_none": None, "as_int": 1, "as_graph": None}])])))
write("values", program(graph(
    [], outputs=["x"], sym_int_values={"n": {"as_expr": {"expr_str": "Symbol('s0')", "hint": {"as_int": 2}}}, "m": {"as_int": 3}},
    sym_float_values={"f": {"as_float": 0.5}}, sym_bool_values={"b": {"as_expr": "s0 > 1"}}, custom_obj_values={"o": {"name": "o", "class_fqn": "c"}}),
    signature={"input_specs": [{"buffer": {"arg": {"name": "w"}, "buffer_name": "w", "persistent": False}}, {"user_input": {"arg": tensor("x")}}],
               "output_specs": [{"buffer_mutation": {"arg": {"name": "x"}, "buffer_name": "w"}}]}))
INPUTS = {"tensor_constant": {"arg": {"name": "w"}, "tensor_constant_name": "w"}, "custom_obj": {"arg": {"name": "w", "class_fqn": "c"}, "custom_obj_name": "w"},
          "token": {"arg": {"name": "w"}}, "constant_input": {"name": "k", "value": {"as_int": 1}}}
OUTPUTS = {"user_input_mutation": {"arg": {"name": "y"}, "user_input_name": "x"}, "parameter_mutation": {"arg": {"name": "y"}, "parameter_name": "w"},
           "loss_output": {"arg": {"name": "y"}}, "token": {"arg": {"name": "y"}},
           "gradient_to_parameter": {"arg": {"name": "y"}, "parameter_name": "w"}, "gradient_to_user_input": {"arg": {"name": "y"}, "user_input_name": "x"}}
for name, body in INPUTS.items():
    write(f"input_{name}", program(graph([node([])]), {"input_specs": [{name: body}, {"user_input": {"arg": tensor("x")}}],
                                                      "output_specs": [{"user_output": {"arg": tensor("y")}}]}))
for name, body in OUTPUTS.items():
    write(f"output_{name}", program(graph([node([])]), {"input_specs": [{"parameter": {"arg": {"name": "w"}, "parameter_name": "w"}},
                                                                       {"user_input": {"arg": tensor("x")}}], "output_specs": [{name: body}]}))

# The first schema has dicts, an additional object around a tensor's metadata, and archives of torch.save in base64.
stream = io.BytesIO()
with zipfile.ZipFile(stream, "w") as archive:
    pickle = (b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" b"0X\3\0\0\0cpuK\1tQ"
              b"K\0K\1\x85K\1\x85\x89ccollections\nOrderedDict\n)RtR.")
    for name, data in (("data.pkl", pickle), ("data/0", struct.pack("<f", 1.5)), ("version", b"3\n")):
        archive.writestr(zipfile.ZipInfo(f"archive/{name}"), data)
first = graph([node([tensor("c")])], tensor_values={"x": {"meta": meta(storage_offset=0)}}, constants={"c": base64.b64encode(stream.getvalue()).decode()})
write("first_schema", {"graph_module": {"graph": first, "signature": {
    "inputs_to_parameters": {}, "inputs_to_buffers": {}, "user_inputs": ["w", "x"], "user_outputs": [], "buffers_to_mutate": {}},
    "call_spec": {"in_spec": spec(tree("builtins.tuple", "null", LEAF)), "out_spec": spec(LEAF)}, "module_call_graph": []},
    "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": 1})

# Tables of weights, packings, and broken files.
write("table", {"config": {"w": {"path_name": "weight_0", "is_param": True, "use_pickle": False, "tensor_meta": meta()},
                           "v": {"path_name": "weight_0", "use_pickle": False, "tensor_meta": meta(dtype=4, sizes=[{"as_int": 2}, {"as_int": 3}],
                                                                                                   strides=[{"as_int": 1}, {"as_int": 2}])},
                           "f": {"path_name": "weight_0", "use_pickle": False, "tensor_meta": meta(dtype=29)},
                           "p": {"path_name": "weight_0", "use_pickle": True, "tensor_meta": None}}})
write("table_outside", {"config": {"w": {"path_name": "weight_0", "tensor_meta": meta(sizes=[{"as_int": 1 << 40}])}}})
write("packing", [1, tree("builtins.tuple", "null", tree("builtins.list", "null", LEAF, LEAF), tree("builtins.dict", '["a", 1, null, true, 2.5]', *[LEAF] * 5),
                          tree("collections.OrderedDict", '["k"]', LEAF), tree("collections.namedtuple", '"T"', LEAF, LEAF),
                          tree("collections.defaultdict", {"default_factory_name": "list", "dict_context": ["k"]}, LEAF),
                          tree("my.Class", '{"x": []}', LEAF))])
write("packing_keys", [1, tree("builtins.dict", '["a", ["b"]]', LEAF, LEAF)])
write("packing_protocol", [2, LEAF])
write("major", program(graph([]), schema_version={"major": 9, "minor": 0}))
write("deep", b'{"a": ' + b"[" * 600)
write("names", b'{"graph_module": {"graph": {"inputs": [{"as_tensor": {"name": "\\u0000"}}]}}}')
print(len(list(FOLDER.iterdir())), "seeds")
