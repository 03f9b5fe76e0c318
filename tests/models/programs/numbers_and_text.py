# SPDX-License-Identifier: BSD-2-Clause
"""Expressions of numbers, bools and strings. Each function returns makers: functions of the remaining depth."""
from kinds import BOOL, COMPLEX, FLOAT, INT, NUMBERS, REALS, STR, WORDS, keyed, listed, optional, tensor, tupled

# Divisors and shift counts are taken from these constants: `%` by zero ends PyTorch's process, and a shift by a
# negative number is undefined.
DIVISORS = ["2", "3", "5", "7", "-2", "-3"]


def divisor(e, d):
    r = e.r
    return r.choice(DIVISORS) if r.random() < 0.7 else f"({e.expr(INT, d)} % 5 + 1)"


def whole(e):
    r, x = e.r, e.expr
    return [
        lambda d: f"({x(INT, d)} {r.choice('+-*')} {x(INT, d)})", lambda d: f"({x(INT, d)} {r.choice('+-')} {x(INT, d)})",
        lambda d: f"({x(INT, d)} // {divisor(e, d)})", lambda d: f"({x(INT, d)} % {divisor(e, d)})",
        lambda d: f"(-{x(INT, d)})", lambda d: f"({x(INT, d)} {r.choice(['<<', '>>'])} {r.randrange(5)})",
        lambda d: f"({x(INT, d)} {r.choice('&|^')} {x(INT, d)})", lambda d: f"abs({x(INT, d)})",
        lambda d: f"{r.choice(['min', 'max'])}({x(INT, d)}, {x(INT, d)})", lambda d: f"int({x(BOOL, d)})",
        lambda d: f"int({bounded(e, d)})", lambda d: f"math.{r.choice(['floor', 'ceil'])}({bounded(e, d)})",
        lambda d: f"len({x(r.choice([STR, listed(INT), listed(STR), listed(FLOAT), keyed(STR, INT), keyed(INT, FLOAT)]), d)})",
        lambda d: f"{x(STR, d)}.{r.choice(['find', 'rfind', 'count'])}({r.choice(WORDS[1:])!r})",
        lambda d: f"sum({x(listed(INT), d)})", lambda d: f"{x(listed(INT), d)}.count({x(INT, d)})",
        lambda d: f"{x(keyed(STR, INT), d)}.get({x(STR, d)}, {x(INT, d)})", lambda d: f"int({x(tensor('int64', ()), d)})",
        lambda d: f"{e.any_tensor(d)}.{r.choice(['dim()', 'numel()', 'ndim'])}", lambda d: f"{x(tensor(), d)}.size({r.choice([0, 1, -1, -2])})",
        lambda d: f"{x(tensor(), d)}.shape[{r.choice([0, 1, -1])}]", lambda d: f"ord({r.choice(['a', 'Z', ' ', '~'])!r})",
        lambda d: f"divmod({x(INT, d)}, {r.choice(DIVISORS)})[{r.randrange(2)}]", lambda d: f"int({r.choice(['12', '-7', '0'])!r})",
        lambda d: f"int({x(tensor('int64', ()), d)}.item())", lambda d: f"len({x(tensor(), d)})", lambda d: f"{x(listed(INT), d)}.index({x(INT, d)})" if r.random() < 0.05 else f"len({x(STR, d)})",
        lambda d: f"({x(listed(INT), d)} + [{x(INT, d)}])[{r.choice(['0', '-1'])}]", lambda d: f"sum([{x(INT, d)} * 2, {x(INT, d)}])",
        lambda d: f"math.gcd({x(INT, d)}, {x(INT, d)})", lambda d: f"[{x(INT, d)}, {x(INT, d)}, {x(INT, d)}][{r.choice([0, 1, 2, -1, -3])}]",
        lambda d: f"int(round({bounded(e, d)}))", lambda d: f"{r.choice(['min', 'max'])}([{x(INT, d)}, {x(INT, d)}])",
    ]


def bounded(e, d):
    """Returns a float in the range of int."""
    return f"max(-1e6, min(1e6, {e.expr(FLOAT, d)}))"


def real(e):
    r, x = e.r, e.expr
    n = lambda d: x(r.choice([INT, FLOAT]), d)
    return [
        lambda d: f"({x(FLOAT, d)} {r.choice('+-*')} {n(d)})", lambda d: f"({n(d)} {r.choice('+-*')} {x(FLOAT, d)})",
        lambda d: f"({n(d)} / {r.choice(['2', '4.0', '-3', '0.5'])})", lambda d: f"({x(INT, d)} / {divisor(e, d)})",
        lambda d: f"({x(FLOAT, d)} // {r.choice(REALS[1:])})", lambda d: f"({x(FLOAT, d)} % {r.choice(REALS[1:])})", lambda d: f"(-{x(FLOAT, d)})",
        lambda d: f"abs({x(FLOAT, d)})", lambda d: f"float({x(r.choice([INT, BOOL, FLOAT]), d)})", lambda d: f"{r.choice(['min', 'max'])}({n(d)}, {x(FLOAT, d)})",
        lambda d: f"math.{r.choice(['sqrt', 'log1p'])}(abs({n(d)}))", lambda d: f"math.{r.choice(['sin', 'cos', 'atan', 'tanh', 'fabs', 'degrees', 'radians'])}({n(d)})",
        lambda d: f"math.{r.choice(['copysign', 'atan2'])}({x(FLOAT, d)}, {x(FLOAT, d)})", lambda d: f"math.fmod({x(FLOAT, d)}, {r.choice(REALS[1:])})",
        lambda d: f"(abs({x(FLOAT, d)}) ** {r.choice(['2', '0.5', '2.0'])})", lambda d: f"round({x(FLOAT, d)})", lambda d: f"math.pow({r.choice(REALS[1:])}, {r.choice(['2', '3'])})",
        lambda d: f"sum({x(listed(FLOAT), d)})", lambda d: f"float({x(tensor('float32', ()), d)})", lambda d: f"float({x(tensor('int64'), d)}.sum())",
        lambda d: f"abs({x(COMPLEX, d)})", lambda d: f"float({r.choice(['1.5', '-2', '1e3'])!r})",
        lambda d: r.choice(["math.pi", "math.inf", "-math.inf", "float('inf')"]) if r.random() < 0.1 else "math.pi",
        lambda d: f"{x(keyed(INT, FLOAT), d)}.get({x(INT, d)}, {x(FLOAT, d)})", lambda d: f"math.ldexp({x(FLOAT, d)}, {r.randrange(5)})",
        lambda d: f"math.modf({x(FLOAT, d)})[{r.randrange(2)}]",
    ]


def truth(e):
    r, x = e.r, e.expr
    compare = lambda: r.choice(["<", ">", "<=", ">=", "==", "!="])
    number = lambda d: x(r.choice([INT, FLOAT]), d)
    return [
        lambda d: f"({number(d)} {compare()} {number(d)})", lambda d: f"({x(STR, d)} {compare()} {x(STR, d)})", lambda d: f"({x(INT, d)} {compare()} {x(INT, d)})",
        lambda d: f"(not {x(BOOL, d)})", lambda d: f"({x(BOOL, d)} {r.choice(['and', 'or'])} {x(BOOL, d)})", lambda d: f"({x(BOOL, d)} {r.choice(['==', '!=', '^', '&', '|'])} {x(BOOL, d)})",
        lambda d: f"({x(INT, d)} < {x(INT, d)} <= {x(INT, d)})", lambda d: f"({x(INT, d)} {r.choice(['in', 'not in'])} {x(listed(INT), d)})",
        lambda d: f"({x(STR, d)} in {x(r.choice([listed(STR), keyed(STR, INT), keyed(STR, tensor())]), d)})", lambda d: f"({r.choice(WORDS)!r} in {x(STR, d)})",
        lambda d: f"({x(listed(INT), d)} {r.choice(['==', '!='])} {x(listed(INT), d)})", lambda d: f"({x(listed(STR), d)} {r.choice(['==', '!='])} {x(listed(STR), d)})",
        lambda d: f"{x(STR, d)}.{r.choice(['isdigit', 'isalpha', 'isupper', 'islower', 'isspace', 'isalnum', 'istitle'])}()",
        lambda d: f"{x(STR, d)}.{r.choice(['startswith', 'endswith'])}({r.choice(WORDS[1:])!r})",
        lambda d: f"bool({x(r.choice([INT, FLOAT]), d)})", lambda d: f"bool({x(tensor('bool', ()), d)})", lambda d: f"bool(({x(tensor(), d)} > {x(FLOAT, d)}).{r.choice(['any', 'all'])}())",
        lambda d: f"{e.any_tensor(d)}.{r.choice(['is_floating_point()', 'is_contiguous()', 'is_complex()'])}",
        lambda d: f"({e.any_tensor(d)}.dtype == torch.{r.choice(['float32', 'int64', 'bool'])})", lambda d: f"({e.any_tensor(d)}.device.type == 'cpu')",
        lambda d: f"({e.annotated(optional(INT), d)} {r.choice(['is', 'is not'])} None)",
        lambda d: f"isinstance({x(r.choice([INT, FLOAT, STR, listed(INT)]), d)}, {r.choice(['int', 'float', '(int, str)', 'list'])})",
        lambda d: f"any([{x(BOOL, d)}, {x(BOOL, d)}])", lambda d: f"all([{x(BOOL, d)}, {x(BOOL, d)}])", lambda d: f"({x(COMPLEX, d)} {r.choice(['==', '!='])} {x(COMPLEX, d)})",
        lambda d: f"({x(tensor(), d)}.shape == {r.choice(['[2, 3]', '[3, 2]'])})", lambda d: f"({e.any_tensor(d)}.dtype == {e.any_tensor(d)}.dtype)", lambda d: f"({e.any_tensor(d)}.device == {e.any_tensor(0)}.device)",
        lambda d: f"math.{r.choice(['isnan', 'isinf', 'isfinite'])}({x(FLOAT, d)})", lambda d: f"torch.equal({x(tensor(), d)}, {x(tensor(), d)})",
    ]


def text(e):
    r, x = e.r, e.expr
    shown = lambda d: x(r.choice([INT, FLOAT, BOOL, STR, INT, STR, listed(INT), listed(STR), tupled(INT, FLOAT)]), d)
    return [
        lambda d: f"str({x(tensor(r.choice(['int64', 'bool']), r.choice([(), (3,), (2, 3)])), d)}).splitlines()[0]", lambda d: f"({x(STR, d)} + {x(STR, d)})", lambda d: f"str({x(r.choice([INT, FLOAT, BOOL, STR]), d)})", lambda d: f"f\"<{{{quoted(shown, d)}}} {{{quoted(shown, d)}}}>\"",
        lambda d: f"'{{}}:{{}}'.format({shown(d)}, {shown(d)})", lambda d: f"('%d-%s' % ({x(INT, d)}, {x(STR, d)}))",
        lambda d: f"{x(STR, d)}.{r.choice(['upper', 'lower', 'strip', 'title', 'swapcase', 'capitalize', 'lstrip', 'rstrip'])}()",
        lambda d: f"{x(STR, d)}.replace({r.choice(WORDS[1:])!r}, {x(STR, d)})", lambda d: f"{x(STR, d)}.{r.choice(['center', 'ljust', 'rjust', 'zfill'])}({r.randrange(12)})",
        lambda d: f"{r.choice([',', '', ' - '])!r}.join({x(listed(STR), d)})", lambda d: f"{x(STR, d)}[{r.choice(['1:', ':2', '-2:', ':-1', '1:3', '::2'])}]",
        lambda d: f"({x(STR, d)} + 'k')[{r.choice(['0', '-1'])}]", lambda d: f"chr({x(INT, d)} % 26 + 97)", lambda d: f"{r.choice(['hex', 'oct', 'bin'])}({x(INT, d)})",
        lambda d: f"{x(STR, d)}.partition({r.choice(['a', ',', ' '])!r})[{r.randrange(3)}]", lambda d: f"str({e.any_tensor(d)}.dtype == torch.float32)",
        lambda d: f"{x(STR, d)}.{r.choice(['strip', 'lstrip', 'rstrip'])}({r.choice(['a', ' Z', '1x'])!r})", lambda d: f"str({x(listed(r.choice([INT, FLOAT, BOOL])), d)})",
        lambda d: f"f\"{{{quoted(lambda k: x(INT, k), d)}}}{r.choice(['', '!', '%', ' and '])}{{{quoted(lambda k: x(FLOAT, k), d)}}}\"",
    ]


def quoted(shown, d):
    """Returns text for an f-string in double quotes."""
    made = shown(min(d, 1))
    for _ in range(5):
        if '"' not in made and "{" not in made and "\\" not in made:
            return made
        made = shown(0)
    return "1"


def pair(e):
    r, x = e.r, e.expr
    return [
        lambda d: f"complex({x(FLOAT, d)}, {x(FLOAT, d)})", lambda d: f"({x(COMPLEX, d)} {r.choice('+-*')} {x(COMPLEX, d)})",
        lambda d: f"({x(COMPLEX, d)} / {r.choice(['(1+2j)', '2j'])})", lambda d: f"(-{x(COMPLEX, d)})", lambda d: r.choice(["2j", "(1-1j)", "(0.5+3j)"]), lambda d: f"complex({x(INT, d)})",
    ]


MAKERS = {INT: whole, FLOAT: real, BOOL: truth, STR: text, COMPLEX: pair}
