# SPDX-License-Identifier: BSD-2-Clause
"""Families of flatbuffer modules of about `size` bytes that hold as much of one thing as fits."""
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
    """Each list holds the one before twice."""
    n = max(size // 60, 2)
    values = [NONE, integer(1)] + [ivalue(8, Table(indexes(i, i))) for i in range(1, n)]
    return module(values + [obj(0, 0, [n])], n + 1, [net("a")])


def flat_wide_lists(size):
    """Lists that all hold the same many values."""
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
    """Functions that are one table."""
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


def flat_extras(size):
    n = max(size // 60, 1)
    return module([NONE, forward(), obj(0, 0, [0])], 2, [net("a")], extras=[(f"e{i}", "text") for i in range(n)])


FAMILIES = {f.__name__: f for f in (flat_numbers, flat_lists_that_double, flat_wide_lists, flat_shared_vector, flat_functions, flat_shared_functions,
                                    flat_objects_of_wide_type, flat_strings, flat_shared_string, flat_shared_dict_key, flat_extras)}
