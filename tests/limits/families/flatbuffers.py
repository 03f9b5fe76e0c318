# SPDX-License-Identifier: BSD-2-Clause
"""Families of flatbuffer modules. Each family is a function that returns a file of about `size` bytes with as much of one feature as possible."""
import make_corpus_flatbuffer as fb
from make_corpus_flatbuffer import NONE, Late, Table, function, i8, indexes, instruction, integer, ivalue, module, net, obj, string

RET = [instruction(fb.STOREN, 1, 1), instruction(fb.LOADC, 0), instruction(fb.RET)]
SELF = [("self", "__torch__.Net", 0)]


def forward(name="__torch__.Net.forward", code=RET, **options):
    return function(name, code, constants=options.pop("constants", (0,)), arguments=SELF, **options)


def flat_numbers(size):
    n = max(size // 40, 1)
    return module([NONE] + [integer(i) for i in range(n)] + [obj(0, 0, [n])], n + 1, [net("a")])


def flat_lists_that_double(size):
    """Each list contains the previous list twice."""
    n = max(size // 60, 2)
    values = [NONE, integer(1)] + [ivalue(8, Table(indexes(i, i))) for i in range(1, n)]
    return module(values + [obj(0, 0, [n])], n + 1, [net("a")])


def flat_wide_lists(size):
    """Many lists that contain the same values."""
    n = max(int((size / 4) ** 0.5), 2)
    values = [NONE, integer(1)] + [ivalue(7, Table(indexes(*([1] * n)), "List[int]")) for _ in range(n)]
    return module(values + [obj(0, 0, [n + 1])], n + 2, [net("a")])


def flat_shared_vector(size):
    """Lists that share one vector of values."""
    shared = Late(indexes(*([1] * max(size // 8, 1))))
    n = max(size // 80, 1)
    values = [NONE, integer(1)] + [ivalue(7, Table(shared, "List[int]")) for _ in range(n)]
    return module(values + [obj(0, 0, [n + 1])], n + 2, [net("a")])


def flat_functions(size):
    n = max(size // 350, 1)
    values = [NONE] + [forward(f"__torch__.Net.f{i}") for i in range(n)]
    return module(values + [obj(0, 0, [0])], n + 1, [net("a")])


def flat_shared_functions(size):
    """Many references to one function's table."""
    body = [instruction(fb.STOREN, 1, 1)] + [instruction(fb.LOADC, 0), instruction(6)] * max(size // 32, 1) + RET[1:]
    one = Late(forward(code=body))
    n = max(size // 8, 1)
    return module([NONE] + [one] * n + [obj(0, 0, [0])], n + 1, [net("a")])


def flat_objects_of_wide_type(size):
    n = max(size // 60, 1)
    names = [f"a{i}" for i in range(n)]
    shared = Late(indexes(*([0] * n)))
    objects = [ivalue(10, Table(("I", 0), ("I", 0), shared, ("I", 0))) for _ in range(n)]
    return module([NONE] + objects + [obj(0, 0, [0] * n)], n + 1, [net(*names)])


def flat_strings(size):
    n = max(size // 60, 1)
    return module([NONE] + [string(f"text {i}") for i in range(n)] + [obj(0, 0, [n])], n + 1, [net("a")])


def flat_shared_string(size):
    shared = Late("x" * (size // 2))
    n = max(size // 2 // 40, 1)
    return module([NONE] + [ivalue(6, Table(shared)) for _ in range(n)] + [obj(0, 0, [n])], n + 1, [net("a")])


def flat_shared_dict_key(size):
    key = Late(ivalue(6, Table("k" * (size // 2))))
    n = max(size // 2 // 80, 1)
    values = [NONE, key] + [ivalue(9, Table(indexes(1), indexes(0), "Dict[str, Any]")) for _ in range(n)]
    return module(values + [obj(0, 0, [n + 1])], n + 2, [net("a")])


def flat_class_name(size):
    """Many objects of a class with a long name, each of which waits for its __setstate__."""
    name = "__torch__." + "N" * (size // 2)
    state = function(name + ".__setstate__", [instruction(fb.STOREN, 1, 2), instruction(fb.LOADC, 0), instruction(fb.RET)], constants=(0,),
                     arguments=[("self", "Any", 0), ("state", "Any", 0)])
    one, n = Late(obj(1, 0, (), 1)), max(size // 8, 1)
    return module([NONE, state] + [one] * n + [obj(0, 0, [n])], n + 2, [net("a"), Table(name, i8(3), [])])


def flat_handles(size):
    """Functions that share their handles."""
    shared = Late(Table(fb.Numbers("q", list(range(size // 2 // 8)))))
    n = max(size // 2 // 350, 1)
    def with_handles(i):
        whole = forward(f"__torch__.Net.f{i}")
        whole.fields[1].fields = whole.fields[1].fields[:7] + (shared,) + whole.fields[1].fields[8:]
        return whole
    return module([NONE] + [with_handles(i) for i in range(n)] + [obj(0, 0, [0])], n + 1, [net("a")])


def flat_extras(size):
    n = max(size // 60, 1)
    return module([NONE, forward(), obj(0, 0, [0])], 2, [net("a")], extras=[(f"e{i}", "text") for i in range(n)])


FAMILIES = {f.__name__: f for f in (flat_numbers, flat_lists_that_double, flat_wide_lists, flat_shared_vector, flat_functions, flat_shared_functions,
                                    flat_objects_of_wide_type, flat_strings, flat_shared_string, flat_shared_dict_key,
                                    flat_class_name, flat_handles, flat_extras)}
