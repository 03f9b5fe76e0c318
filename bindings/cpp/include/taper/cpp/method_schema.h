/* SPDX-License-Identifier: BSD-2-Clause */
// c10::FunctionSchema: the arguments and results of a module's method, with self first.
#ifndef TAPER_CPP_METHOD_SCHEMA_H
#define TAPER_CPP_METHOD_SCHEMA_H

#include <cstdlib>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include <taper/cpp/argument.h>
#include <taper/cpp/dispatch_key.h>
#include <taper/cpp/operator_name.h>

namespace c10
{

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
    FunctionSchema(Symbol name, std::string overload_name, std::vector<Argument> arguments,
                   std::vector<Argument> returns, bool is_vararg = false, bool is_varret = false)
        : FunctionSchema(std::string(name.toQualString()), std::move(overload_name), std::move(arguments),
                         std::move(returns), is_vararg, is_varret)
    {
    }
    const std::string &name() const
    {
        return name_;
    }
    OperatorName operator_name() const
    {
        return {name_, overload_name_};
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
    bool is_mutable() const
    {
        for (const Argument &each : arguments_) {
            if (each.is_write()) {
                return true;
            }
        }
        return false;
    }
    // Returns the arguments or the results.
    const std::vector<Argument> &getCorrectList(SchemaArgType type) const
    {
        return type == SchemaArgType::input ? arguments_ : returns_;
    }
    bool is_aliasing(const SchemaArgument &argument) const
    {
        return !listed(argument).alias_text().empty();
    }
    bool is_mutable(const SchemaArgument &argument) const
    {
        return listed(argument).is_write();
    }
    bool is_mutable(string_view name) const
    {
        const optional<int> index = argumentIndexWithName(name);
        if (!index.has_value()) {
            throw Error(str("Schema has no argument named ", name));
        }
        return arguments_[static_cast<size_t>(*index)].is_write();
    }
    bool hasAnyAliasInfo() const
    {
        for (const Argument &each : arguments_) {
            if (!each.alias_text().empty()) {
                return true;
            }
        }
        return false;
    }
    optional<string_view> getNamespace() const
    {
        const size_t colons = name_.find("::");
        return colons == std::string::npos ? optional<string_view>() : string_view(name_.data(), colons);
    }
    FunctionSchema cloneWithName(std::string name, std::string overload_name) const
    {
        return FunctionSchema(std::move(name), std::move(overload_name), arguments_, returns_, is_vararg_, is_varret_);
    }
    FunctionSchema cloneWithArguments(std::vector<Argument> arguments) const
    {
        return FunctionSchema(name_, overload_name_, std::move(arguments), returns_, is_vararg_, is_varret_);
    }
    FunctionSchema cloneWithReturns(std::vector<Argument> returns) const
    {
        return FunctionSchema(name_, overload_name_, arguments_, std::move(returns), is_vararg_, is_varret_);
    }
    // Sets the namespace of the name, if it has none, and returns true.
    bool setNamespaceIfNotSet(const char *space)
    {
        if (getNamespace().has_value()) {
            return false;
        }
        name_ = std::string(space) + "::" + name_;
        return true;
    }
    // Returns why these names of arguments do not fit the schema.
    std::string findErrorInKwargs(const std::vector<std::string> &names) const
    {
        for (const std::string &each : names) {
            if (!argumentIndexWithName(each).has_value()) {
                return "Unknown keyword argument '" + each + "' for operator '" + name_ + "'. Schema: " + text();
            }
        }
        return "";
    }
    // Puts arguments by name, and defaults, at their places after the inputs, and compares the types.
    void checkAndNormalizeInputs(std::vector<IValue> &inputs,
                                 const std::unordered_map<std::string, IValue> &named = {}) const
    {
        if (inputs.size() > arguments_.size() && !is_vararg_) {
            throw Error(str("Expected at most ", arguments_.size(), " argument(s) for operator '", name_,
                            "', but received ", inputs.size(), " argument(s). Declaration: ", text()));
        }
        size_t used = 0;
        for (size_t i = 0; i < arguments_.size(); i++) {
            if (i >= inputs.size()) {
                const auto found = named.find(arguments_[i].name());
                used += found != named.end() ? 1 : 0;
                if (found == named.end() && !arguments_[i].default_value().has_value()) {
                    throw Error(name_ + "() is missing value for argument '" + arguments_[i].name() +
                                "'. Declaration: " + text());
                }
                inputs.push_back(found != named.end() ? found->second : *arguments_[i].default_value());
            }
        }
        if (used != named.size()) {
            std::vector<std::string> names;
            for (const auto &each : named) {
                names.push_back(each.first);
            }
            throw Error(findErrorInKwargs(names));
        }
    }
    std::string formatTypeMismatchMsg(const Argument &expected, const std::string &actual_type,
                                      optional<size_t> position = nullopt, optional<std::string> value = nullopt) const;
    FunctionSchema cloneWithRemappedTypes(const std::function<TypePtr(TypePtr)> &map) const
    {
        FunctionSchema made = *this;
        for (std::vector<Argument> *list : {&made.arguments_, &made.returns_}) {
            for (Argument &each : *list) {
                each = each.cloneWithType(map(each.type()));
            }
        }
        return made;
    }
    // Returns a copy of the schema: libtorch replaces each type by its real type, but here the types are the real types
    // already.
    FunctionSchema cloneWithRealTypes(bool = true) const
    {
        return *this;
    }
    // Returns true if functions of this schema may be used in place of functions of the schema `other`. as_method: if
    // true, the first argument is the object, whose type is not compared.
    bool isSubtypeOf(const FunctionSchema &other, bool as_method, std::ostream *why_not = nullptr) const
    {
        const size_t start = as_method ? 1 : 0;
        return isSubtypeOfList(ArrayRef<Argument>(other.arguments_).slice(start),
                               ArrayRef<Argument>(arguments_).slice(start), why_not) &&
               isSubtypeOfList(returns_, other.returns_, why_not);
    }
    // The first function returns true if calls written for the old schema are right for this schema. The second
    // function returns true if calls written for this schema are right for the old schema.
    bool isBackwardCompatibleWith(const FunctionSchema &old, std::ostream *why_not = nullptr) const;
    bool isForwardCompatibleWith(const FunctionSchema &old, std::ostringstream &why_not) const;
    void dump() const; // prints the schema and a newline

    // Return true if two arguments or results may share memory, or have items that do; defined in schema_alias.h.
    template <class Unused = void> bool may_alias(const SchemaArgument &a, const SchemaArgument &b) const;
    template <class Unused = void>
    bool may_contain_alias(const SchemaArgument &a, const SchemaArgument &b, bool bidirectional = true) const;
    template <class Unused = void>
    bool canAliasTypeSetsAlias(const optional<AliasTypeSet> &a, const optional<AliasTypeSet> &b) const;
    template <class Unused = void>
    optional<AliasTypeSet> getAliasTypeSetContainedTypes(const optional<AliasTypeSet> &types) const;
    // Returns this type, or the types inside it, whose values can share memory. Returns nullopt if there are no such
    // types.
    template <class Unused = void> optional<AliasTypeSet> mapTypeToAliasTypeSet(const TypePtr &type) const;
    bool isDefaultAliasAnalysisKind() const
    {
        return !alias_kind_.has_value();
    }
    AliasAnalysisKind aliasAnalysis() const
    {
        return alias_kind_.value_or(AliasAnalysisKind::CONSERVATIVE);
    }
    void setAliasAnalysis(AliasAnalysisKind kind)
    {
        alias_kind_ = kind;
    }
    friend bool operator==(const FunctionSchema &a, const FunctionSchema &b)
    {
        return a.name_ == b.name_ && a.overload_name_ == b.overload_name_ && a.arguments_ == b.arguments_ &&
               a.returns_ == b.returns_ && a.is_vararg_ == b.is_vararg_ && a.is_varret_ == b.is_varret_;
    }
    friend bool operator!=(const FunctionSchema &a, const FunctionSchema &b)
    {
        return !(a == b);
    }
    optional<int> argumentIndexWithName(string_view name) const
    {
        for (size_t i = 0; i < arguments_.size(); i++) {
            if (name == arguments_[i].name()) {
                return static_cast<int>(i);
            }
        }
        return nullopt;
    }

  private:
    std::string text() const;
    const Argument &listed(const SchemaArgument &argument) const
    {
        const std::vector<Argument> &list = getCorrectList(argument.type);
        TORCH_INTERNAL_ASSERT(argument.index < list.size(), "Invalid index for schema.");
        return list[argument.index];
    }
    bool has_same_form(const FunctionSchema &old) const
    {
        return name_ == old.name_ && overload_name_ == old.overload_name_ && is_vararg_ == old.is_vararg_ &&
               is_varret_ == old.is_varret_ && returns_.size() == old.returns_.size();
    }
    std::string name_, overload_name_;
    std::vector<Argument> arguments_, returns_;
    bool is_vararg_, is_varret_;
    optional<AliasAnalysisKind> alias_kind_;
};

inline std::ostream &operator<<(std::ostream &out, const Argument &argument)
{
    std::string type = argument.type()->str();
    if (argument.N().has_value()) { // the length of a list such as int[2]
        const size_t end = type.find_last_of(']');
        type.insert(end == std::string::npos ? type.size() : end, std::to_string(*argument.N()));
    }
    if (!argument.alias_text().empty()) { // the mark follows the innermost type: Tensor(a!)[]
        const size_t end = type.find_first_of("[?");
        type.insert(end == std::string::npos ? type.size() : end, argument.alias_text());
    }
    out << type << (argument.name().empty() ? "" : " ") << argument.name();
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
    if (schema.is_varret() && returns.empty()) {
        return out << "...";
    }
    out << (returns.size() == 1 ? "" : "(");
    for (size_t i = 0; i < returns.size(); i++) {
        out << (i == 0 ? "" : ", ") << returns[i];
    }
    return out << (schema.is_varret() ? ", ..." : "") << (returns.size() == 1 ? "" : ")");
}

inline std::string toString(const FunctionSchema &schema)
{
    std::ostringstream out;
    out << schema;
    return out.str();
}
inline std::string FunctionSchema::text() const
{
    return toString(*this);
}
inline void FunctionSchema::dump() const
{
    std::cout << *this << "\n";
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

} // namespace jit
} // namespace torch

#include <taper/cpp/named_tuple.h>

#include <taper/cpp/function.h>

#include <taper/cpp/schema_checks.h>

#include <taper/cpp/schema_alias.h>

#endif
