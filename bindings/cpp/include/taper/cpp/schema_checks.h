/* SPDX-License-Identifier: BSD-2-Clause */
// Comparisons of schemas with older schemas, and the error texts for arguments of wrong types.
#include <taper/cpp/method_schema.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_SCHEMA_CHECKS_H
#define TAPER_CPP_SCHEMA_CHECKS_H

#include <algorithm>

namespace c10
{

inline std::string Argument::formatTypeMismatchMsg(const std::string &actual_type) const
{
    std::string hint;
    if (is_inferred_type()) {
        hint = "Inferred '" + name_ + "' to be of type 'Tensor' because it was not annotated with an explicit type.\n";
    }
    return "Expected a value of type '" + type_->repr_str() + "' for argument '" + name_ +
           "' but instead found type '" + actual_type + "'.\n" + hint;
}
inline std::string FunctionSchema::formatTypeMismatchMsg(const Argument &expected, const std::string &actual_type,
                                                         optional<size_t> position, optional<std::string> value) const
{
    return name_ + "() " + expected.formatTypeMismatchMsg(actual_type) +
           (position.has_value() ? "Position: " + std::to_string(*position) + "\n" : std::string()) +
           (value.has_value() ? "Value: " + *value + "\n" : std::string()) + "Declaration: " + text();
}
// Arguments that the new schema adds need defaults, and come before the arguments that receive results.
inline bool FunctionSchema::isBackwardCompatibleWith(const FunctionSchema &old, std::ostream *why_not) const
{
    if (!has_same_form(old) || arguments_.size() < old.arguments_.size()) {
        return false;
    }
    for (size_t i = 0; i < returns_.size(); i++) { // the type of a result may become a subtype
        if (!old.returns_[i].isBackwardCompatibleWith(returns_[i], why_not)) {
            return false;
        }
    }
    const size_t old_out = findFirstOutArg(old.arguments_), out = findFirstOutArg(arguments_);
    for (size_t i = 0; i < old_out; i++) {
        if (!arguments_.at(i).isBackwardCompatibleWith(old.arguments_[i], why_not)) {
            return false;
        }
    }
    for (size_t i = old_out; i < out; i++) {
        if (!arguments_[i].default_value().has_value()) {
            if (why_not != nullptr) {
                *why_not << "Function schema not backward compatible since the new argument '" << arguments_[i].name()
                         << "' of type " << arguments_[i].type()->str() << " did not provide a default value.";
            }
            return false;
        }
    }
    for (size_t i = old_out; i < old.arguments_.size(); i++) {
        if (!arguments_.at(i - old_out + out).isBackwardCompatibleWith(old.arguments_[i], why_not)) {
            return false;
        }
    }
    return true;
}
inline bool FunctionSchema::isForwardCompatibleWith(const FunctionSchema &old, std::ostringstream &why_not) const
{
    if (!has_same_form(old)) {
        return false;
    }
    const size_t old_out = findFirstOutArg(old.arguments_), out = findFirstOutArg(arguments_);
    if (old.arguments_.size() - old_out != arguments_.size() - out) {
        why_not << "Function schema should have the same number of out arguments";
        return false;
    }
    for (size_t i = 0; i < std::min(old_out, out); i++) {
        if (!arguments_[i].isForwardCompatibleWith(old.arguments_[i])) {
            why_not << "'" << arguments_[i].name()
                    << "' is not forward compatible with the older version of the schema";
            return false;
        }
    }
    for (size_t i = old_out; i < out; i++) {
        const optional<IValue> &value = arguments_[i].default_value();
        if (!value.has_value() || value->isList() || value->isGenericDict()) {
            why_not << "Function schema is not forward compatible since the new argument '" << arguments_[i].name()
                    << "' of type " << arguments_[i].type()->str()
                    << (value.has_value() ? " has a container type as its default value."
                                          : " did not provide a default value.");
            return false;
        }
    }
    for (size_t i = old_out; i < old.arguments_.size(); i++) {
        const Argument &argument = arguments_.at(i - old_out + out);
        if (!argument.isForwardCompatibleWith(old.arguments_[i])) {
            why_not << "Out argument ''" << argument.name() << " is not FC with the older version of the schema";
            return false;
        }
    }
    return true;
}

} // namespace c10

#endif
