#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes one declaration for each public name of a C++ library. The declaration compiles only if programs can use the name: the declaration is a call
with arguments of the declared types, the type of a variable, or an alias of a type. clang compiles all declarations as one unit and reports the lines
that fail."""
import re
import subprocess
import tempfile

BINARY = {"==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
          "^=", "<<=", ">>=", "="}
# Arguments for the templates whose members are compiled. Members of other templates are only looked up.
ARGUMENTS = {
    "c10::ArrayRef": ["int64_t"], "c10::List": ["int64_t"], "c10::Dict": ["std::string", "int64_t"], "c10::optional": ["int64_t"],
    "c10::intrusive_ptr": ["c10::ivalue::Tuple", ""], "c10::OptionalArrayRef": ["int64_t"], "c10::complex": ["float"],
    "c10::SmallVector": ["int64_t", "5"], "c10::SmallVectorImpl": ["int64_t"], "c10::basic_string_view": ["char"],
    "c10::MaybeOwned": ["at::Tensor"], "at::TensorAccessor": ["float", "2", "at::DefaultPtrTraits", "int64_t"],
    "c10::integer_range": ["int64_t", "true", ""], "torch::OrderedDict": ["std::string", "at::Tensor"], "torch::ExpandingArray": ["2", "int64_t"],
    "torch::jit::slot_list_impl": ["torch::jit::detail::ModulePolicy"], "torch::nn::ConvOptions": ["2"], "torch::nn::ConvTransposeOptions": ["2"],
    "torch::nn::detail::ConvNdOptions": ["2"], "torch::nn::AvgPoolOptions": ["2"], "torch::nn::MaxPoolOptions": ["2"],
    "torch::nn::AdaptiveAvgPoolOptions": ["at::ExpandingArray<2>"], "torch::nn::MaxUnpoolOptions": ["2"], "torch::nn::LPPoolOptions": ["2"],
    "torch::nn::ReflectionPadOptions": ["2"], "torch::nn::ReplicationPadOptions": ["2"], "torch::nn::ConstantPadOptions": ["2"],
    "torch::nn::functional::ConvFuncOptions": ["2"], "torch::nn::functional::ConvTransposeFuncOptions": ["2"],
    "torch::nn::functional::MaxUnpoolFuncOptions": ["2"], "torch::nn::FractionalMaxPoolOptions": ["2"],
}
PRELUDE = "#include <utility>\nnamespace cpp_names_probe { template <class T> T &&of() noexcept; }\n"
OF = "::cpp_names_probe::of"


def spelled(name):
    return "::" + "::".join(name.scope)


def class_of(name):
    """Returns the declarations that a probe of a member needs, and None if the member cannot be compiled alone."""
    path = "::".join(name.scope)
    if not name.outer:
        return f"using C = {spelled(name)};"
    arguments = ARGUMENTS.get(path)
    if arguments is None or len(name.outer) != len(arguments):
        return None
    names = "".join(f"using {n} = {a};" if kind == "TemplateTypeParmDecl" else f"constexpr auto {n} = {a};"
                    for (kind, n), a in zip(name.outer, arguments) if n and a)
    return f"{names} using C = {spelled(name)}<{', '.join(a for a in arguments if a)}>;"


def typed(name, text):
    """Converts names that are written inside a class template to the form that they have outside of it."""
    if name.outer:
        own = re.escape(name.scope[-1])
        text = re.sub(rf"(?:\w+::)*\b{own}(?:<[\w, ]+>)?::", "C::", text)
        text = re.sub(rf"(?<![\w:]){own}(?![\w<])", "C", text)
    return text.replace("_Bool", "bool")


def call(name, count):
    """Returns the expression that calls the function with its first `count` arguments."""
    values = [f"{OF}<{typed(name, t)}>()" for t, _ in name.parameters[:count]]
    qualifier = name.const
    member = name.kind in ("method", "conversion")
    this = f"{OF}<{'const ' if 'const' in qualifier else ''}C{'&&' if '&&' in qualifier else ' &'}>()"
    operator = re.fullmatch(r"operator ?(\W+)", name.name)
    if name.kind == "constructor":
        return f"new C({', '.join(values)})"
    if name.kind == "conversion":
        return f"static_cast<{typed(name, name.name[len('operator '):])}>({this})"
    if operator and not name.static:
        operands = ([this] if member else []) + values
        symbol = operator.group(1)
        if symbol in BINARY and len(operands) == 2:
            return f"({operands[0]} {symbol} {operands[1]})"
        if symbol in ("[]", "()"):
            return f"{operands[0]}{symbol[0]}{', '.join(operands[1:])}{symbol[1]}"
        if len(operands) == 1 and symbol != "->":
            return f"({symbol}{operands[0]})"
        if symbol in ("++", "--"):
            return f"({operands[0]}{symbol})"
    if member:
        return f"{'C::' if name.static else this + '.'}{name.name}({', '.join(values)})"
    return f"{spelled(name)}::{name.name}({', '.join(values)})"


def probe(name):
    """Returns the text of a probe, or None for a name that can only be looked up."""
    member = len(name.scope) > name.space
    if name.templates and (member or name.kind != "function") and name.kind != "template":
        return None
    known = class_of(name) if member else ""
    if known is None or (name.kind == "template" and member):
        return None
    if name.kind in ("template", "using", "type") or (name.kind == "function" and name.templates):
        if not member:
            return f"using {spelled(name)}::{name.name};"
        return f"{known} using p = C::{name.name};" if name.kind == "type" else None
    if name.kind == "value":
        inside = f"C::{name.name}" if name.static else f"{OF}<C &>().{name.name}"
        return f"{known} using p = decltype({inside if member else spelled(name) + '::' + name.name});"
    required = sum(not default for _, default in name.parameters)
    return known + " ".join(f"using p{n} = decltype({call(name, n)});" for n in sorted({required, len(name.parameters)}))


def failing(clang, flags, headers, probes):
    """Compiles the probes, a list of (namespaces, text). Returns the set of the indexes that fail."""
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as unit:
        unit.write(headers.replace("\n", " \n") + PRELUDE)
        first = headers.count("\n") + PRELUDE.count("\n") + 1
        for number, (space, text) in enumerate(probes):
            around = "".join(f"namespace {s} {{ " for s in space)
            unit.write(f"{around}namespace probe_{number} {{ {text} }}{' }' * len(space)}\n")
        unit.flush()
        run = subprocess.run([clang, *flags, "-fsyntax-only", "-w", "-ferror-limit=0", "-fno-color-diagnostics", "-fno-caret-diagnostics", unit.name],
                             stderr=subprocess.PIPE, text=True, check=False)
        bad, pending = set(), False
        place = re.compile(re.escape(unit.name) + r":(\d+):\d+: (error|fatal error|note)")
        for line in run.stderr.splitlines():
            here = place.match(line)
            if ": error: " in line or ": fatal error: " in line:
                pending = here is None
            if here and (pending or here.group(2) != "note"):
                bad.add(int(here.group(1)) - first)
                pending = False
        return bad
