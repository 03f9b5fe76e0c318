/* SPDX-License-Identifier: BSD-2-Clause */
// c10::FunctionSchema: the arguments and results of a module's method, with self first.
#ifndef TAPER_CPP_METHOD_SCHEMA_H
#define TAPER_CPP_METHOD_SCHEMA_H

#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include <taper/cpp/ivalue.h>
#include <taper/cpp/print.h>

namespace c10
{

class Argument
{
  public:
    Argument(std::string name, TypePtr type, optional<int32_t> length = nullopt, optional<IValue> fallback = nullopt,
             bool kwarg_only = false)
        : name_(std::move(name)), type_(std::move(type)), length_(length), default_(std::move(fallback)),
          kwarg_only_(kwarg_only)
    {
    }
    const std::string &name() const
    {
        return name_;
    }
    const TypePtr &type() const
    {
        return type_;
    }
    const TypePtr &real_type() const
    {
        return type_;
    }
    optional<int32_t> N() const
    {
        return length_;
    }
    const optional<IValue> &default_value() const
    {
        return default_;
    }
    bool kwarg_only() const
    {
        return kwarg_only_;
    }

  private:
    std::string name_;
    TypePtr type_;
    optional<int32_t> length_;
    optional<IValue> default_;
    bool kwarg_only_;
};

class FunctionSchema
{
  public:
    FunctionSchema(std::string name, std::string overload_name, std::vector<Argument> arguments,
                   std::vector<Argument> returns, bool is_vararg = false, bool is_varret = false)
        : name_(std::move(name)), overload_name_(std::move(overload_name)), arguments_(std::move(arguments)),
          returns_(std::move(returns)), is_vararg_(is_vararg), is_varret_(is_varret)
    {
    }
    FunctionSchema(std::string name, std::vector<Argument> arguments, std::vector<Argument> returns)
        : FunctionSchema(std::move(name), std::string(), std::move(arguments), std::move(returns))
    {
    }
    const std::string &name() const
    {
        return name_;
    }
    const std::string &overload_name() const
    {
        return overload_name_;
    }
    const std::vector<Argument> &arguments() const
    {
        return arguments_;
    }
    const std::vector<Argument> &returns() const
    {
        return returns_;
    }
    bool is_vararg() const
    {
        return is_vararg_;
    }
    bool is_varret() const
    {
        return is_varret_;
    }
    optional<int> argumentIndexWithName(const std::string &name) const
    {
        for (size_t i = 0; i < arguments_.size(); i++) {
            if (arguments_[i].name() == name) {
                return static_cast<int>(i);
            }
        }
        return nullopt;
    }

  private:
    std::string name_, overload_name_;
    std::vector<Argument> arguments_, returns_;
    bool is_vararg_, is_varret_;
};

inline std::ostream &operator<<(std::ostream &out, const Argument &argument)
{
    out << argument.type()->str() << " " << argument.name();
    if (argument.default_value().has_value()) {
        const IValue &value = *argument.default_value();
        out << "=";
        if (value.isString()) {
            out << '"' << value.toStringRef() << '"';
        } else {
            out << value;
        }
    }
    return out;
}
inline std::ostream &operator<<(std::ostream &out, const FunctionSchema &schema)
{
    out << schema.name() << (schema.overload_name().empty() ? "" : ".") << schema.overload_name() << "(";
    bool is_named = false;
    for (size_t i = 0; i < schema.arguments().size(); i++) {
        out << (i == 0 ? "" : ", ");
        if (schema.arguments()[i].kwarg_only() && !is_named) {
            is_named = true;
            out << "*, ";
        }
        out << schema.arguments()[i];
    }
    const std::vector<Argument> &returns = schema.returns();
    out << (schema.is_vararg() ? schema.arguments().empty() ? "..." : ", ..." : "") << ") -> ";
    out << (returns.size() == 1 ? "" : "(");
    for (size_t i = 0; i < returns.size(); i++) {
        out << (i == 0 ? "" : ", ") << returns[i].type()->str() << (returns[i].name().empty() ? "" : " ")
            << returns[i].name();
    }
    return out << (returns.size() == 1 ? "" : ")");
}

// Returns the value that a literal of TorchScript stands for. Other expressions give an empty optional.
inline optional<IValue> parse_literal(const std::string &text)
{
    if (text.empty()) {
        return nullopt;
    }
    if (text == "None") {
        return IValue();
    }
    if (text == "True" || text == "False") {
        return IValue(text == "True");
    }
    if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) {
        return IValue(text.substr(1, text.size() - 2));
    }
    char *end = nullptr;
    const long long whole = std::strtoll(text.c_str(), &end, 10);
    if (*end == '\0') {
        return IValue(static_cast<int64_t>(whole));
    }
    const double number = std::strtod(text.c_str(), &end);
    return *end == '\0' ? optional<IValue>(IValue(number)) : nullopt;
}

// Parses the head of a method in TorchScript: "(self: __torch__.Net, x: Tensor, y: int=3) -> Tensor".
inline FunctionSchema parse_signature(const std::string &name, const std::string &text)
{
    std::vector<Argument> arguments, returns;
    size_t depth = 0, start = 1, colon = std::string::npos, equal = std::string::npos, i = 0;
    for (; i < text.size(); i++) {
        const char c = text[i];
        if (c == '"') {
            i = text.find('"', i + 1);
            if (i == std::string::npos) {
                break;
            }
            continue;
        }
        depth += c == '(' || c == '[' ? 1 : 0;
        if (depth == 1 && c == ':' && colon == std::string::npos) {
            colon = i;
        } else if (depth == 1 && c == '=' && equal == std::string::npos) {
            equal = i;
        }
        if (depth == 1 && (c == ',' || c == ')')) {
            const size_t end_of_type = equal != std::string::npos ? equal : i;
            if (colon != std::string::npos) {
                start = text.find_first_not_of(' ', start);
                arguments.emplace_back(text.substr(start, colon - start),
                                       Type::of(text.substr(colon + 2, end_of_type - colon - 2)), nullopt,
                                       equal != std::string::npos ? parse_literal(text.substr(equal + 1, i - equal - 1))
                                                                  : nullopt);
            }
            start = i + 1;
            colon = equal = std::string::npos;
        }
        depth -= c == ')' || c == ']' ? 1 : 0;
        if (depth == 0) {
            break;
        }
    }
    const size_t arrow = i < text.size() ? text.find("-> ", i) : std::string::npos;
    returns.emplace_back("", Type::of(arrow != std::string::npos ? text.substr(arrow + 3) : "NoneType"));
    return FunctionSchema(name, std::move(arguments), std::move(returns));
}

} // namespace c10

namespace torch
{
namespace jit
{
using c10::Argument;
using c10::FunctionSchema;

// The members of PyTorch's class Function that apps use: the name and the schema of a method.
class Function
{
  public:
    explicit Function(c10::FunctionSchema schema) : schema_(std::move(schema))
    {
    }
    const c10::FunctionSchema &getSchema() const
    {
        return schema_;
    }
    const std::string &name() const
    {
        return schema_.name();
    }
    size_t num_inputs() const
    {
        return schema_.arguments().size();
    }

  private:
    c10::FunctionSchema schema_;
};
namespace mobile
{
using Function = torch::jit::Function;
}
} // namespace jit
} // namespace torch

#endif
