# SPDX-License-Identifier: BSD-2-Clause
"""Families of exported programs (.pt2): graphs, nested graphs, packings, guards, symbols and names. Each family is a function that returns a file
of about `size` bytes with as much of one feature as possible."""
import io
import json
import sys
import zipfile

sys.setrecursionlimit(100000)  # json recurses once for each level of nesting

LEAF = {"type": None, "context": None, "children_spec": []}


def tensor(name):
    return {"as_tensor": {"name": name}}


def meta(sizes=("2",)):
    return {"dtype": 7, "sizes": [{"as_expr": {"expr_str": s}} if s[0] == "S" else {"as_int": int(s)} for s in sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [{"as_int": 1}] * len(sizes), "storage_offset": {"as_int": 0}, "layout": 7}


def node(target, outputs, *arguments):
    return {"target": target, "inputs": [{"name": "", "arg": a, "kind": 1} for a in arguments], "outputs": outputs, "metadata": {}}


def relu(x, y):
    return node("torch.ops.aten.relu.default", [tensor(y)], tensor(x))


def graph(nodes, inputs=("x",), outputs=("y",), **more):
    return {"inputs": [tensor(n) for n in inputs], "outputs": [tensor(n) for n in outputs], "nodes": nodes, "tensor_values": {},
            "sym_int_values": {}, "sym_bool_values": {}, **more}


def pack(kind, context, *children):
    return {"type": kind, "context": context, "children_spec": list(children)}


def whole(main, inputs=1, outputs=LEAF, weights=(), guards=(), ranges=None, given=None, calls=None, deflated=False, programs=1, named=()):
    """Returns an archive of a program. Its inputs are x, x1, … (`inputs` tensors), or the packing `given`. programs: number of copies with other
    names."""
    names = [name["as_tensor"]["name"] for name in main["inputs"]][len(weights):]
    specs = [{"parameter": {"arg": {"name": f"w{i}"}, "parameter_name": w}} for i, w in enumerate(weights)]
    args = given or pack("builtins.tuple", "null", *[LEAF] * len(names))
    program = {"graph_module": {"graph": main, "signature": {
        "input_specs": specs + [{"user_input": {"arg": tensor(n)}} for n in names],
        "output_specs": [{"user_output": {"arg": o}} for o in main["outputs"]]},
        "module_call_graph": [{"fqn": "", "signature": {
            "in_spec": json.dumps([1, pack("builtins.tuple", "null", args, pack("builtins.dict", json.dumps(list(named)), *[LEAF] * len(named)))]),
            "out_spec": json.dumps([1, outputs]), "forward_arg_names": []}}]},
        "opset_version": {"aten": 10}, "range_constraints": ranges or {}, "schema_version": {"major": 8, "minor": 20},
        "torch_version": "2.15", "guards_code": list(guards)}
    table = {"config": {w: {"path_name": "weight_0", "is_param": True, "use_pickle": False, "tensor_meta": meta()} for w in weights}}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED) as archive:
        for name, data in (("m/archive_format", "pt2"), ("m/archive_version", "0"), ("m/models/model.json", json.dumps(program)),
                           ("m/data/weights/model_weights_config.json", json.dumps(table)), ("m/data/weights/weight_0", bytes(64))):
            archive.writestr(zipfile.ZipInfo(name), data, archive.compression)
        for i in range(1, programs):
            archive.writestr(zipfile.ZipInfo(f"m/models/p{i}.json"), json.dumps(program), archive.compression)
    return stream.getvalue()


def numbers(size, each):
    return range(max(1, size // each))


def chain(size):
    count = len(numbers(size, 190))
    return whole(graph([relu("x" if i == 0 else f"y{i - 1}", f"y{i}") for i in range(count)], outputs=(f"y{count - 1}",)))


def unknown_operators(size):
    return whole(graph([node(f"torch.ops.aten.none{i}.default", [tensor("y" if i == 0 else f"y{i}")], tensor("x")) for i in numbers(size, 190)]))


def branches(size):
    inner = graph([relu("x", "y")])
    for _ in range(min(18, size // 500)):
        inner = graph([node("torch.ops.higher_order.cond", [tensor("y")], tensor("x"), {"as_graph": {"name": "a", "graph": inner}},
                            {"as_graph": {"name": "b", "graph": graph([relu("x", "y")])}}, {"as_tensors": [{"name": "x"}]})])
    return whole(inner)


def loops_in_conditions(size):
    """Each condition is lowered twice: before the loop and inside it."""
    inner = graph([relu("x", "y")])
    for _ in range(min(18, size // 500)):
        inner = graph([node("torch.ops.higher_order.while_loop", [tensor("y")], {"as_graph": {"name": "a", "graph": inner}},
                            {"as_graph": {"name": "b", "graph": graph([relu("x", "y")])}}, {"as_tensors": [{"name": "x"}]}, {"as_tensors": []})])
    return whole(inner)


def inputs_of_one_symbol(size):
    count = len(numbers(size, 300))
    names = [f"x{i}" for i in range(count)]
    return whole(graph([relu("x0", "y")], inputs=names, tensor_values={n: meta(["Symbol('s0')"]) for n in names}))


def symbols(size):
    count = len(numbers(size, 360))
    names = [f"x{i}" for i in range(count)]
    return whole(graph([relu("x0", "y")], inputs=names, tensor_values={n: meta([f"Symbol('s{i}')"]) for i, n in enumerate(names)}),
                 ranges={f"s{i}": {"min_val": 3, "max_val": 9} for i in range(count)})


def ranges_by_symbols(size):
    """Each size of each input is a symbol; the ranges of the symbols are in reverse order."""
    count, rank = len(numbers(size, 900)), 8
    names = [f"x{i}" for i in range(count)]
    return whole(graph([relu("x0", "y")], inputs=names, tensor_values={n: meta([f"S{i}_{d}" for d in range(rank)]) for i, n in enumerate(names)}),
                 ranges={f"S{i}_{d}": {"min_val": 3, "max_val": 9} for i in reversed(range(count)) for d in reversed(range(rank))})


def long_symbols(size):
    """One symbol with a long name is the size of all inputs."""
    name, count = "S" * (size // 3), len(numbers(size // 3, 300))
    names = [f"x{i}" for i in range(count)]
    return whole(graph([relu("x0", "y")], inputs=names, tensor_values={n: meta([name]) if i == 0 else meta([f"S{i}"]) for i, n in enumerate(names)}),
                 ranges={name: {"min_val": 3, "max_val": 9}})


def guards(size):
    return whole(graph([relu("x", "y")]), guards=["L['args'][0].size()[0] > 1"] * len(numbers(size, 40)))


def long_guard(size):
    return whole(graph([relu("x", "y")]), guards=["1" + " + 1" * (size // 4) + " > 0"])


def deep_guard(size):
    return whole(graph([relu("x", "y")]), guards=["(" * (size // 2) + "1 > 0" + ")" * (size // 2)])


def guards_of_many(size):
    count = len(numbers(size, 150))
    names = [f"x{i}" for i in range(count)]
    return whole(graph([relu("x0", "y")], inputs=names), guards=[f"L['args'][{count - 1}].size()[0] > 1"] * count)


def guards_by_name(size):
    """Guards that name the last of many keyword inputs."""
    count = len(numbers(size, 190))
    names = [f"x{i}" for i in range(count)]
    data = whole(graph([relu("x0", "y")], inputs=names), given=pack("builtins.tuple", "null"), guards=[f"L['k{count - 1}'].size()[0] > 1"] * count,
                 named=[f"k{i}" for i in range(count)])
    return data


def weights(size):
    count = len(numbers(size, 450))
    return whole(graph([relu("w0", "y")], inputs=[f"w{i}" for i in range(count)] + ["x"]), weights=[f"w{i}" for i in range(count)])


def deep_weights(size):
    count = len(numbers(size, 800))
    path = ".".join("m" * 60)
    return whole(graph([relu("w0", "y")], inputs=[f"w{i}" for i in range(count)] + ["x"]), weights=[f"{path}.w{i}" for i in range(count)])


def wide_result(size):
    count = len(numbers(size, 90))
    return whole(graph([], outputs=("x",) * count), outputs=pack("builtins.list", "null", *[LEAF] * count))


def deep_result(size):
    tree = LEAF
    for _ in range(min(28, size // 60)):
        tree = pack("builtins.tuple", "null", tree)
    return whole(graph([], outputs=("x",)), outputs=tree)


def many_arguments(size):
    count = len(numbers(size, 70))
    return whole(graph([{"target": "torch.ops.aten.relu.default", "outputs": [tensor("y")], "metadata": {},
                         "inputs": [{"name": f"a{i}", "arg": {"as_none": True}, "kind": 1} for i in range(count)] +
                                   [{"name": "self", "arg": tensor("x"), "kind": 1}]}]))


def programs(size):
    return whole(graph([relu("x", "y")]), programs=len(numbers(size, 1100)))


def many_programs_packed(size):
    return whole(graph([relu("x", "y")]), programs=len(numbers(size, 500)), deflated=True)


def autocast(size):
    """A list that is concatenated repeatedly, of values that are cast each time."""
    count = int((size / 60) ** 0.5) + 1
    many = {"as_tensors": [{"name": "x" if i % 2 else "h"} for i in range(count)]}
    inner = graph([node("torch.ops.aten.cat.default", [tensor(f"y{i}" if i + 1 < count else "y")], many) for i in range(count)], inputs=("x", "h"),
                  tensor_values={"x": meta(), "h": {**meta(), "dtype": 13}})
    return whole(graph([node("torch.ops.higher_order.wrap_with_autocast", [tensor("y")], {"as_string": "cpu"}, {"as_scalar_type": 13}, {"as_bool": True},
                             {"as_bool": False}, {"as_graph": {"name": "g", "graph": inner}}, tensor("x"), tensor("h"))], inputs=("x", "h")))


def packed_small(size):
    return whole(graph([relu("x" if i == 0 else f"y{i - 1}", f"y{i}") for i in numbers(size * 12, 190)], outputs=("y0",)), deflated=True)


FAMILIES = {f"pt2_{f.__name__}": f for f in (chain, unknown_operators, branches, loops_in_conditions, inputs_of_one_symbol, symbols, ranges_by_symbols,
                                            long_symbols, guards, long_guard,
                                            deep_guard, guards_of_many, guards_by_name, weights, deep_weights, wide_result, deep_result, many_arguments, programs,
                                            many_programs_packed, autocast, packed_small)}
