#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the seeds of fuzz_program to corpus/program next to this file: small flatbuffer modules, written as lines of instructions. Together they
use each instruction, and show each way in which a function is refused or stops. Everything is made here, without PyTorch, and is the same every
time."""
import make_corpus_archive as archive
import make_corpus_flatbuffer as fb
from make_corpus_flatbuffer import NONE, integer, string, write

NAMES = ("OP OPN LOAD MOVE STOREN STORE DROP DROPR LOADC JF JMP LOOP RET WAIT CALL GUARD TYPECHECK FAIL_GUARD PROFILE_OP TAIL_CALL INTERFACE_CALL "
         "GET_ATTR SET_ATTR LIST_UNPACK TUPLE_CONSTRUCT NAMED_TUPLE_CONSTRUCT LIST_CONSTRUCT DICT_CONSTRUCT CREATE_OBJECT ISINSTANCE TUPLE_SLICE "
         "TUPLE_INDEX RAISE_EXCEPTION DICT_INDEX UNCHECKED_CAST __IS__ UN_INITIALIZED __ISNOT__ FORMAT DEVICE DTYPE DIM __NOT__ TO_LIST "
         "NUM_TO_TENSOR IS_CUDA FORK WARN ENTER EXIT").split()
TRUE, FALSE, HALF = fb.ivalue(2, fb.Struct("B", 1)), fb.ivalue(2, fb.Struct("B", 0)), fb.double(0.5)
# Constants of every function, by the names that the lines use.
CONSTANTS = {"none": NONE, "0": integer(0), "1": integer(1), "2": integer(2), "6": integer(6), "many": integer(2**62), "true": TRUE, "false": FALSE,
             "half": HALF, "a": string("a"), "{}": string("{} {}"), "forward": string("forward"), "other": string("other"), "init": string("init"),
             "run": string("run"), "restored": string("__setstate__")}
# Operators by the names that the lines use, with the number of arguments that a call gives, for files that state this
# number.
GIVEN = {"aten::add.Tensor": 3, "aten::mul.Tensor": 2, "prim::RaiseException": 1, "aten::add.int": 2, "aten::lt.int": 2, "aten::softmax.int": 3,
         "aten::relu": 1, "aten::append.t": 2, "aten::cat": 2, "aten::dropout": 3, "aten::clamp": 3, "aten::nowhere": 1}
PAIR, COMPILATION = "__torch__.P[NamedTuple,[[x,int],[y,int]]]", "__torch__.torch.classes._nnapi.Compilation"


def number_of(items, item):
    if item not in items:
        items.append(item)
    return items.index(item)


class Function:
    """Lines of instructions, separated by ';': "LOADC half" names a constant, "OP aten::relu" an operator. Other instructions have numbers, or the
    name of a type (or several for ISINSTANCE, separated by '|')."""

    def __init__(self, lines, name="forward", arguments=("Tensor",), cls="__torch__.Net", schema=True):
        self.name, self.schema, self.constants, self.operators, self.types = f"{cls}.{name}", None, [], [], []
        if schema:
            self.schema = [("self", cls, 0)] + [(f"x{i}", t, 0) for i, t in enumerate(arguments)]
        self.code = [self.instruction(*line.split()) for line in lines.split(";")]

    def instruction(self, name, *parts):
        numbers = [int(p) if p.lstrip("-").isdigit() and not (name == "LOADC" and p in CONSTANTS) else p for p in parts]
        if numbers and isinstance(numbers[0], str):
            if name in ("LOADC", "INTERFACE_CALL"):
                numbers[0] = number_of(self.constants, numbers[0])
            elif name in ("OP", "OPN"):
                numbers[0] = number_of(self.operators, numbers[0])
            else:
                several = numbers[0].split("|")
                numbers[0] = [number_of(self.types, t) for t in several][0]
                numbers += [len(several)] if name == "ISINSTANCE" else []
        return fb.instruction(NAMES.index(name), *numbers)

    def value(self, constants):
        operators = [(*operator.partition(".")[::2], GIVEN.get(operator, -1)) for operator in self.operators]
        return fb.function(self.name, self.code, operators, [constants.index(c) for c in self.constants], self.types, 8, self.schema, ["Any"])


def module(*functions, setstate=None, **options):
    """Returns a module with one object of the class Net with one attribute; setstate: number of the function that restores its inner object."""
    constants = ["none"]
    for f in functions:
        for constant in f.constants:
            number_of(constants, constant)
    items = [CONSTANTS[c] for c in constants] + [f.value(constants) for f in functions]
    attribute = 0
    if setstate is not None:
        items.append(fb.obj(1, 0, (), len(constants) + setstate))
        attribute = len(items) - 1
    items.append(fb.obj(0, 0, [attribute]))
    return fb.module(items, len(items) - 1, [fb.net("a"), fb.STATEFUL], **options)


def simple(lines, **options):
    return module(Function("STOREN 1 2; " + lines + "; RET", **options))


def run_programs():
    """Writes programs that succeed."""
    return {
        "lists": simple("LOADC 1; LOADC 2; LIST_CONSTRUCT List[int] 2; LIST_UNPACK 2; TUPLE_CONSTRUCT 2; OP prim::TupleUnpack; STOREN 3 2; LOAD 3; "
                        "LOAD 4; NAMED_TUPLE_CONSTRUCT " + PAIR + " 2; STORE 5; LOAD 5; TUPLE_SLICE 0 1; DROP; LOAD 5; LOADC 1; TUPLE_INDEX"),
        "dicts": simple("LOADC a; LOADC 1; DICT_CONSTRUCT Dict[str,int] 2; LOADC a; DICT_INDEX"),
        "tests": simple("LOAD 2; ISINSTANCE int|Tensor; STORE 3; LOAD 3; __NOT__; DROP; LOAD 2; LOADC none; __IS__; DROP; LOAD 2; LOADC none; __ISNOT__; DROP; "
                        "UN_INITIALIZED; DROP; LOAD 2; ISINSTANCE int"),
        "tensors": simple("LOAD 2; DEVICE; DROP; LOAD 2; DTYPE; DROP; LOAD 2; DIM; DROP; LOAD 2; IS_CUDA; DROP; LOADC half; NUM_TO_TENSOR; UNCHECKED_CAST; "
                          "DROPR 3; DROP; LOADC 1; NUM_TO_TENSOR; LOADC 0; LOADC 0; TO_LIST"),
        "texts": simple("LOADC a; LOADC 2; WARN; LOADC {}; LOADC 1; LOADC a; FORMAT 3"), "nothing": simple("LOAD 2; DROP"),
        "tolist": simple("LOADC 1; NUM_TO_TENSOR; LOADC 0; LOADC 0; OP prim::tolist"), "input": simple("LOAD 2"), "no_class": module(
            Function("STOREN 1 2; MOVE 2; RET")),
        "branch": simple("LOAD 2; DIM; LOADC 2; OP aten::lt.int; JF 4; LOAD 2; OP aten::relu; JMP 2; LOAD 2"),
        "constant_branch": simple("LOADC true; JF 4; LOAD 2; OP aten::relu; JMP 2; LOAD 2"), "unused_branch": simple(
            "LOAD 2; DIM; LOADC 2; OP aten::lt.int; JF 5; LOADC 1; LOADC 1; OP aten::add.int; JMP 2; LOADC 2; DROP; LOAD 2"),
        "nested": simple("LOADC 1; LOADC 2; OP aten::lt.int; JF 9; LOAD 2; DIM; LOADC 2; OP aten::lt.int; JF 3; LOADC 1; JMP 2; LOADC 2; JMP 2; LOADC 6"),
        "counted": simple("LOADC 0; LOADC 6; LOADC true; LOADC 1; LOOP 8 3; STOREN 3 2; LOADC true; LOAD 3; LOAD 4; OP aten::add.int; NUM_TO_TENSOR; JMP -7; "
                          "DROP; LOAD 2"),
        "summed": simple("LOADC 0; LOADC 6; LOADC true; LOADC 1; LOOP 7 3; STOREN 3 2; LOADC true; LOAD 3; LOAD 4; OP aten::add.int; JMP -6"),
        "unused_loop": simple("LOADC 0; LOADC 6; LOADC true; LOADC 1; LOOP 7 3; STOREN 3 2; LOADC true; LOAD 3; LOAD 4; OP aten::add.int; JMP -6; DROP; LOAD 2"),
        "call": module(Function("STOREN 1 2; LOAD 1; LOAD 2; INTERFACE_CALL other 2; RET"), Function("STOREN 1 2; LOAD 2; OP aten::relu; RET", "other")),
        "methods": module(Function("STOREN 1 2; LOAD 2; RET"), *(Function(f"STOREN 1 2; LOADC {i % 3}; RET", f"m{i}") for i in range(9))),
        "attribute": simple("LOAD 1; LOADC 6; SET_ATTR 0; LOAD 1; GET_ATTR 0; LOAD 1; GET_ATTR 0; OP aten::add.int"), "softmax": simple(
            "LOAD 2; LOADC 0; LOADC none; OP aten::softmax.int"),
        "defaults": simple("LOAD 2; LOAD 2; OPN aten::add.Tensor 2"), "dropout": simple(
            "LOAD 2; LOADC half; LOADC false; OP aten::dropout; LOADC half; LOADC none; OP aten::clamp"),
        "tensor_list": simple("LOAD 2; LOAD 2; LIST_CONSTRUCT List[Tensor] 2; STORE 3; LOAD 3; LOAD 2; OP aten::append.t; DROP; LOAD 3; LOADC 0; OP aten::cat"),
        "many_arguments": simple("LOAD 2", arguments=("Tensor", "int", "float", "bool", "str", "Optional[int]", "List[int]")), "containers_in": simple(
            "LOAD 2", arguments=("Tuple[int, int]", "List[Tensor]", "Dict[str, int]")),
        "no_schema": module(Function("STOREN 1 2; MOVE 2; RET", schema=False), versions=(4, 3)), "store_first": module(
            Function("STORE 1; LOADC 1; RET", schema=False), versions=(4, 3)),
        "raised_class": module(Function("STOREN 1 2; LOADC a; LOADC none; OP prim::RaiseException; LOAD 2; RET"), versions=(6, 3)),
        "compilation": simple("CREATE_OBJECT " + COMPILATION + " 0; STORE 3; LOAD 3; LOAD 2; LOAD 2; INTERFACE_CALL init 3"), "compilation_run": simple(
            "CREATE_OBJECT " + COMPILATION + " 0; LOAD 2; INTERFACE_CALL run 2"),
        "setstate": module(Function("STOREN 1 2; LOAD 1; GET_ATTR 0; RET"), Function(
            "STOREN 1 2; LOAD 1; LOADC 6; SET_ATTR 0; LOADC none; RET", "__setstate__", ("int",), "__torch__.S"), setstate=1),
    }


def stop_programs():
    """Writes programs that stop while they run or are loaded."""
    return {
        "unpack_list": simple("LOADC 1; LIST_CONSTRUCT List[int] 1; LIST_UNPACK 2"), "unpack_tensor": simple("LOAD 2; LIST_UNPACK 1"),
        "unpack_tuple": simple("LOADC 1; TUPLE_CONSTRUCT 1; OP prim::TupleUnpack; STOREN 3 2; LOAD 3"), "unpack_none": simple(
            "LOADC none; OP prim::TupleUnpack"), "slice": simple("LOADC 1; TUPLE_CONSTRUCT 1; TUPLE_SLICE 1 5"), "slice_none": simple("LOADC none; TUPLE_SLICE 0 1"),
        "get_attr": simple("LOAD 1; GET_ATTR 9"), "get_none": simple("LOADC none; GET_ATTR 0"), "set_none": simple("LOADC none; LOADC 1; SET_ATTR 0; LOAD 2"),
        "create": simple("CREATE_OBJECT int 0"), "create_foreign": simple("CREATE_OBJECT __torch__.Net 0"), "no_method": simple("LOAD 1; INTERFACE_CALL other 1"),
        "recursion": simple("LOAD 1; LOAD 2; INTERFACE_CALL forward 2"), "fewer_given": simple("LOAD 1; INTERFACE_CALL forward 1"), "call_none": simple(
            "LOADC none; INTERFACE_CALL other 1"), "not_bool": simple("LOAD 2; JF 3; LOADC 1; JMP 2; LOADC 2"), "raise": simple("LOADC a; LOADC none; RAISE_EXCEPTION; LOAD 2"),
        "wrong_type": simple("LOADC a; LOAD 2; OP aten::mul.Tensor"), "trips": simple(
            "LOADC 0; LOADC a; LOADC true; LOADC 1; LOOP 5 3; STOREN 3 2; LOADC true; LOAD 4; JMP -4"),
        "endless": simple("LOADC 0; LOADC many; LOADC true; LOOP 4 2; STORE 3; LOADC true; JMP -3"), "unhashable": simple(
            "LOAD 2; LIST_CONSTRUCT List[int] 1; LOADC 1; DICT_CONSTRUCT Dict[str,int] 2"),
        "setstate_calls": module(Function("STOREN 1 2; LOAD 2; RET"), Function(
            "STOREN 1 2; LOAD 1; LOAD 2; INTERFACE_CALL other 2; RET", "__setstate__", ("int",), "__torch__.S"), Function(
                "STOREN 1 2; LOAD 2; RET", "other", ("int",), "__torch__.S"), setstate=1),
        "setstate_itself": module(Function("STOREN 1 2; LOAD 2; RET"), Function(
            "STOREN 1 2; LOAD 1; LOAD 2; INTERFACE_CALL restored 2; RET", "__setstate__", ("int",), "__torch__.S"), setstate=1),
    }


def refused_programs():
    """Writes programs that no compiler of PyTorch emits."""
    loop = "LOADC 0; LOADC 6; LOADC true; LOADC 1; LOOP 5 3; STOREN 3 2; LOADC true; LOAD 4; JMP -4"
    parts = {
        "stack": "OP aten::relu", "register": "LOAD 2; STORE 99", "unset": "LOAD 7", "type": "LOAD 2; LIST_CONSTRUCT 99 1", "constant": "LOADC 99",
        "operator": "OP 99", "slot": "LOAD 1; GET_ATTR -1", "slot_set": "LOAD 1; LOADC 1; SET_ATTR -1", "items": "LOAD 2; LIST_UNPACK -1",
        "key": "LOADC a; DICT_CONSTRUCT Dict[str,int] 1", "fields": "LOADC 1; NAMED_TUPLE_CONSTRUCT " + PAIR + " 1", "types": "LOAD 2; ISINSTANCE 6 40",
        "method": "LOAD 1; INTERFACE_CALL 1 1", "jump": "LOAD 2; JMP 1", "return": "LOAD 2; RET; LOAD 2", "wait": "LOAD 2; WAIT", "left": "LOADC true; JF 3; LOADC 1; JMP 1",
        "if_back": "LOADC true; JF -1; LOAD 2", "if_plain": "LOADC true; JF 3; LOADC 1; LOADC 1; LOAD 2", "if_beyond": "LOADC true; JF 3; LOADC 1; JMP 90; LOAD 2",
        "missing": "LOAD 2; OPN aten::mul.Tensor 1", "loop_inputs": loop.replace("LOOP 5 3", "LOOP 5 1"), "loop_jump": loop.replace("JMP -4", "JMP -3"),
        "loop_from": loop.replace("LOADC 0; LOADC 6", "LOADC 1; LOADC 6"), "loop_results": loop.replace("LOAD 4; ", "").replace("-4", "-3").replace("LOOP 5", "LOOP 4"),
        "deep": "LOADC true; JF 205; " * 205 + "JMP 1; " * 205 + "LOAD 2",
    }
    seeds = {"refused_" + name: simple(lines) for name, lines in parts.items()}
    seeds["refused_end"] = module(Function("STOREN 1 2; LOAD 2"))
    seeds["unknown"] = simple("LOAD 2; OP aten::nowhere")
    return seeds


def archives():
    """Writes programs in archives with records of the origin of instructions."""
    a = archive
    names = [("STOREN", 1, 2), ("LOADC", 0, 0), ("LOADC", 1, 0), ("RAISE_EXCEPTION", 0, 0), ("LOAD", 2, 0), ("RET", 0, 0)]
    code = a.many(*(a.many(a.text(n), a.number(x), a.number(y)) for n, x, y in names))
    schema = a.schema(a.argument(a.text("self"), a.text("__torch__.M")), a.argument(a.text("x"), a.text("Tensor")), returns=a.many(a.argument(type=a.text("Any"))))
    program = a.program(schema, instructions=code, constants=a.many(a.text("raised"), b"N"), register_size=a.number(3))
    handles = a.whole(a.many(a.number(8), a.many(a.FORWARD, a.many(a.pair("function_debug_handles", a.many(a.items(*map(a.number, (1, 1, 1, 2, 3, 3)))))))))
    stacks = a.whole(a.many(*(a.many(a.number(n), a.number(0), a.text("prim::RaiseException"), a.FRAME) for n in (5, 2, 9, 1))))
    return {"hierarchy": a.module({"bytecode.pkl": program, "mobile_debug_handles.pkl": handles, "callstack_debug_map.pkl": stacks}),
            "archive": a.module()}


def main():
    for name, data in (run_programs() | stop_programs() | refused_programs() | archives()).items():
        write("program", name, data)


if __name__ == "__main__":
    main()
