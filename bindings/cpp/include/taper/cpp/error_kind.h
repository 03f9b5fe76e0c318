/* SPDX-License-Identifier: BSD-2-Clause */
// The exception for an error of the C library. The library's error of an operator has the operator's name and PyTorch's
// text, but no type. The type of the exception is therefore derived from the text.
#ifndef TAPER_CPP_ERROR_KIND_H
#define TAPER_CPP_ERROR_KIND_H

#include <cctype>
#include <initializer_list>
#include <stdexcept>

#include <taper/cpp/exception.h>
#include <taper/cpp/jit_exception.h>
#include <taper/taper.h>

namespace taper
{
namespace cpp
{

enum class ErrorKind { Plain, Index, LinAlg, Runtime, NotImplemented };

// Returns the length of a prefix such as "aten::add.Tensor: " at the beginning of the text, or 0 if there is none. The
// names of an app's own operators are not prefixes and stay in the texts.
inline size_t operator_prefix(const std::string &text)
{
    for (const char *space : {"aten::", "quantized::", "torchvision::"}) {
        size_t end = std::char_traits<char>::length(space);
        if (text.compare(0, end, space) != 0) {
            continue;
        }
        while (end < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == '.')) {
            end++;
        }
        return text.compare(end, 2, ": ") == 0 ? end + 2 : 0;
    }
    return 0;
}

// Returns the kind of exception that PyTorch throws with this text. op: the name of the operator, or "".
inline ErrorKind error_kind(taper_status status, const std::string &op, const std::string &text)
{
    static const struct {
        ErrorKind kind;
        const char *op, *begin, *part; // beginning of the operator's name; beginning and a later part of the text
    } rules[] = {
        {ErrorKind::Index, "", "Dimension out of range (", ""},
        {ErrorKind::Index, "", "Dimension specified as ", ""},
        {ErrorKind::Index, "", "dimension specified as ", ""},
        {ErrorKind::Index, "", "select(): index ", ""},
        {ErrorKind::Index, "", "select() cannot be applied to a 0-dim tensor", ""},
        {ErrorKind::Index, "", "index out of range in self", ""},
        {ErrorKind::Index, "", "out of range: tried to access index ", ""},
        {ErrorKind::Index, "", "too many indices for tensor of dimension ", ""},
        {ErrorKind::Index, "", "The shape of the mask [", ""},
        {ErrorKind::Index, "", "shape mismatch: indexing tensors could not be broadcast", ""},
        {ErrorKind::Index, "", "tensors used as indices must be long", ""},
        {ErrorKind::Index, "", "index_select(): Index is supposed to be a vector", ""},
        {ErrorKind::Plain, "aten::max: ", "", "Expected reduction dim "},
        {ErrorKind::Plain, "aten::min: ", "", "Expected reduction dim "},
        {ErrorKind::Index, "", "", "Expected reduction dim "},
        {ErrorKind::Index, "aten::index", "", " is out of bounds for dimension "},
        {ErrorKind::Index, "aten::nll_loss", "target ", " is out of bounds"},
        {ErrorKind::Index, "aten::cross_entropy_loss", "target ", " is out of bounds"},
        {ErrorKind::LinAlg, "", "linalg.", " because the input "},
        {ErrorKind::LinAlg, "", "torch.linalg.", " because the input "},
        {ErrorKind::LinAlg, "", "cholesky: ", " because the input "},
        {ErrorKind::Runtime, "", "shape '[", "' is invalid for input of size "},
        {ErrorKind::Runtime, "", "only one dimension can be inferred", ""},
        {ErrorKind::Plain, "", "", "not implemented for '"},
    };
    for (const auto &rule : rules) {
        if (op.compare(0, std::char_traits<char>::length(rule.op), rule.op) == 0 &&
            text.compare(0, std::char_traits<char>::length(rule.begin), rule.begin) == 0 &&
            text.find(rule.part) != std::string::npos) {
            return rule.kind;
        }
    }
    return status == TAPER_ERROR_UNSUPPORTED ? ErrorKind::NotImplemented : ErrorKind::Plain;
}

// Returns PyTorch's text of an error for which the library's text says more about an argument.
inline std::string pytorch_text(const std::string &text)
{
    const size_t dimension = text.find("': dimension out of range (");
    if (text.compare(0, 10, "argument '") == 0 && dimension != std::string::npos) {
        return "D" + text.substr(dimension + 4);
    }
    if (text.find(" should be Tensor, got NoneType") != std::string::npos) {
        const size_t number = text.find(' ') + 1, name = text.find("('");
        if (name != std::string::npos && name > number && text.find("')", name) != std::string::npos) {
            return "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #" +
                   text.substr(number, name - number - 1) + " '" +
                   text.substr(name + 2, text.find("')", name) - name - 2) + "'";
        }
    }
    return text.compare(0, 28, "index out of range in self: ") == 0 ? "index out of range in self" : text;
}

inline bool ends_with(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
// Returns true if the line that the traceback marks raises an exception.
inline bool marks_raise(const std::string &detail)
{
    const size_t mark = detail.rfind("<--- HERE"), end = detail.rfind('\n', mark);
    if (mark == std::string::npos || end == std::string::npos || end == 0) {
        return false;
    }
    const std::string call = "ops.prim.RaiseException(";
    const size_t line = detail.find_first_not_of(" \n", detail.rfind('\n', end - 1));
    return line != std::string::npos && detail.compare(line, call.size(), call) == 0;
}
// Throws the exception that a model raised, with the traceback after its text. Returns if the model did not raise the
// error. Exceptions of lite models have no text except what(), as in PyTorch.
inline void throw_raised(const std::string &message, const std::string &detail)
{
    const bool is_lite = ends_with(detail, ".prim::RaiseException");
    if (!is_lite && !marks_raise(detail)) {
        return;
    }
    const std::string begin = "raised as ";
    using Text = c10::optional<std::string>;
    const Text name = detail.compare(0, begin.size(), begin) == 0
                          ? Text(detail.substr(begin.size(), detail.find('\n') - begin.size()))
                          : Text();
    throw torch::jit::JITException(message + "\n" + detail, name, is_lite ? Text() : Text(message));
}

// detail: one line with the arguments of an operator's call, or several lines with the places in the model's code. One
// line means that the program itself called the operator. The exception then has PyTorch's text, and the operator's
// name with the arguments.
[[noreturn]] inline void throw_error(taper_status status, const std::string &message, std::string detail)
{
    const size_t prefix = operator_prefix(message);
    const std::string op = message.substr(0, prefix), text = pytorch_text(message.substr(prefix));
    while (!detail.empty() && detail.back() == '\n') {
        detail.pop_back();
    }
    if (status == TAPER_ERROR_RAISED) {
        throw_raised(message, detail);
    }
    const bool called = prefix != 0 && detail.find('\n') == std::string::npos;
    const std::string &said = called ? text : message;
    if (called) {
        detail = detail.empty() ? std::string() : op.substr(0, prefix - 2) + " was " + detail;
    }
    switch (error_kind(status, op, text)) {
    case ErrorKind::Index:
        throw c10::IndexError(said, detail);
    case ErrorKind::LinAlg:
        throw c10::LinAlgError(said, detail);
    case ErrorKind::Runtime:
        throw std::runtime_error(said);
    case ErrorKind::NotImplemented:
        throw c10::NotImplementedError(said, detail);
    case ErrorKind::Plain:
        break;
    }
    throw c10::Error(said, detail);
}

} // namespace cpp
} // namespace taper

#endif
