# SPDX-License-Identifier: BSD-2-Clause
"""Makes cases (oracle.py) of an operator's forms from its arguments: functional, out= and in-place, as in PyTorch's schemas.

forms("add", "x, y", "x, 2") is two cases, each with the functional form, out= into an empty tensor and into a tensor with gaps, and add_ on a copy
and on a tensor with gaps, plus cases with out tensors of another dtype. Arguments are expressions of the tensors of POOL; the tensors that an
expression names become the case's inputs."""
import re
from typing import List, Optional

import torch


def numbers(*shape, seed=1, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def integers(*shape, seed=1, low=-9, high=9, dtype=torch.int64):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


POOL = {
    "x": numbers(3, 4), "y": numbers(3, 4, seed=2), "w": numbers(3, 4, seed=3), "u": torch.rand(3, 4, generator=torch.Generator().manual_seed(4)) * 0.9 + 0.05,
    "p": torch.rand(3, 4, generator=torch.Generator().manual_seed(5)) * 3 + 1.1, "d": numbers(3, 4, dtype=torch.float64),
    "h": numbers(3, 4, dtype=torch.float16), "z": torch.complex(numbers(3, 4), numbers(3, 4, seed=2)),
    "i": integers(3, 4), "j": integers(3, 4, seed=2, low=1), "k": integers(3, 4, seed=3, low=0, high=6, dtype=torch.int32),
    "b": integers(3, 4) > 0, "c": integers(3, 4, seed=2) > 0, "r": numbers(4), "s": torch.tensor(1.5), "n": torch.tensor(3), "e": torch.zeros(0, 4),
    "v": numbers(4, seed=7), "m": numbers(4, 4), "g": numbers(4, 3, seed=6), "q": numbers(2, 3, 4, 5), "t": numbers(2, 3, 4),
    "l": numbers(2, 4, 5, seed=8), "a": numbers(2, 2, 4, 4, 4),
}

# PyTorch's kernels of these operators refuse out tensors of another dtype; Taper converts.
CONVERTED = ("abs", "absolute")


def parts(text):
    """Returns the arguments of a call, split at its commas."""
    found, depth, last = [], 0, ""
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            found.append(last.strip())
            last = ""
        else:
            last += letter
    return found + [last.strip()] if last.strip() else found


def schemas(op):
    return [s for s in torch._C._jit_get_schemas_for_operator(op if "::" in op else "aten::" + op) if "names" not in s.overload_name]


def outs_of(op):
    """Returns the names of the out arguments of the operator's first .out form, or ()."""
    for schema in schemas(op):
        names = tuple(a.name for a in schema.arguments if a.is_out)
        if names and not any(str(a.type) == "List[Tensor]" for a in schema.arguments if a.is_out):
            return names
    return ()


def case(name, body, *texts, options=None, pool=POOL):
    """Returns a case with this body ("    …\\n"). Inputs: tensors that `texts` name, or that the body names if there are no texts."""
    used = [k for k in pool if any(re.search(rf"(?<![\w.]){k}(?!\w|=)", text) for text in texts or (body,))]
    made = (name, f"def f({', '.join(k + ': Tensor' for k in used)}):\n{body}", lambda: tuple(pool[k] for k in used))
    return made + ((options,) if options else ())


def works(body, pool):
    """Returns true if PyTorch runs the lines without an exception."""
    space = {k: v.clone() for k, v in pool.items()}
    space |= {"torch": torch, "List": List, "Optional": Optional, "Tensor": torch.Tensor}
    try:
        with torch.no_grad():
            exec("\n".join(line.strip() for line in body.strip().split("\n")), space)
        return True
    except Exception:
        return False


def forms(op, *calls, outs=None, functional=True, out=True, in_place=True, other=True, empty=True, gaps=True, options=None, pool=POOL):
    """Returns the cases. outs: names of the out arguments, "a b", if the first .out form is not the intended one. If functional, out or in_place
    is False, the form of this name is omitted. If other is False, there are no out tensors of another dtype; None: only if PyTorch converts. If
    empty or gaps is False, there are no out tensors that are empty or have gaps. A form that PyTorch refuses becomes a case of its own, which must
    raise."""
    name = "torch.ops.aten." + op
    outs = tuple(outs.split()) if isinstance(outs, str) else outs_of(op) if outs is None else outs
    cases = []
    in_place = in_place and bool(schemas(op + "_"))
    for at, call in enumerate(calls):
        results = [f"A{n}" for n in range(max(1, len(outs)))]
        first = f"    {', '.join(results)} = {name}({call})\n"
        body, given = first, list(results) if functional else []
        if not works(first, pool):
            cases.append(case(f"raises {op}({call})", first + "    return A0\n", call, pool=pool))
            continue
        further = []
        if outs and out:
            for label, make in (("B", "torch.empty([0], dtype={}.dtype)"), ("C", "torch.stack([{0}, {0}], -1)[..., 0].zero_()"))[0 if empty else 1:2 if gaps else 1]:
                names = [label + str(n) for n in range(len(outs))]
                lines = "".join(f"    {o} = {make.format(r)}\n" for o, r in zip(names, results))
                lines += f"    {label} = {name}({call}, {', '.join(f'{k}={o}' for k, o in zip(outs, names))})\n"
                further.append((f"out {label}", lines, names + ([f"{label}[{n}]" for n in range(len(outs))] if len(outs) > 1 else [label])))
        if outs and out and other is not False:
            # Out tensors of dtypes other than the result's, if PyTorch accepts them: empty tensors, and tensors with
            # the sizes of the results.
            for label, make in (("F", "torch.empty([0], dtype=torch.float64)"), ("G", "torch.zeros_like({}, dtype=torch.int32)")):
                lines = "".join(f"    {label}{n} = {make.format(r)}\n" for n, r in enumerate(results))
                lines += f"    {name}({call}, {', '.join(f'{k}={label}{n}' for n, k in enumerate(outs))})\n"
                further.append((f"out {label}", lines, [f"{label}{n}{part}" for n in range(len(outs)) for part in (".float()", ".dtype")]))
        if in_place:
            target, *rest = parts(call)
            for label, make in (("D", "({}).clone()"), ("E", "torch.stack([{0}, {0}], -1)[..., 0]")):
                lines = f"    {label}0 = {make.format(target)}\n    {label} = {name}_({', '.join([label + '0'] + rest)})\n"
                further.append((f"in place {label}", lines, [label + "0", label]))
        for label, lines, tensors in further:
            if works(first + lines, pool):
                body += lines
                given += tensors
            elif label[-1] in "BD":
                cases.append(case(f"raises {op}({call}) {label[:-2]}", first + lines + f"    return {tensors[0]}\n", call, pool=pool))
        if given:
            cases.append(case(f"{op}({call})", body + f"    return ({', '.join(given)},)\n", call, options=options, pool=pool))
        if outs and out and other is not False and at == 0:
            for dtype in ("float64", "int32", "bool") if other else ("float64",):
                body = first + "".join(f"    B{n} = {r}.to(torch.{dtype})\n" for n, r in enumerate(results))
                body += f"    {name}({call}, {', '.join(f'{k}=B{n}' for n, k in enumerate(outs))})\n"
                raises = not works(body, pool)
                if raises and dtype == "float64" and op in CONVERTED or not raises and not other:
                    continue
                given = "B0" if raises else f"({', '.join(f'B{n}.dtype, B{n}.float()' for n in range(len(outs)))},)"
                cases.append(case(f"{op}({call}) to {dtype}", body + f"    return {given}\n", call, options=options, pool=pool))
    return cases


def plain(label, *expressions, options=None, pool=POOL):
    """Returns one case, which computes the values of the expressions."""
    return case(label, f"    return ({', '.join(expressions)},)\n", *expressions, options=options, pool=pool)


def raising(*expressions, pool=POOL):
    """Returns a case for each expression, which must raise."""
    return [case("raises " + e, f"    return {e}\n", e, pool=pool) for e in expressions]
