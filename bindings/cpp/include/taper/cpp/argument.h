/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Argument: an argument or a result of a schema.
#ifndef TAPER_CPP_ARGUMENT_H
#define TAPER_CPP_ARGUMENT_H

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <taper/cpp/alias_info.h>
#include <taper/cpp/ivalue.h>
#include <taper/cpp/print.h>

namespace c10
{

class Argument
{
  public:
    Argument(std::string name = "", TypePtr type = nullptr, optional<int32_t> length = nullopt,
             optional<IValue> fallback = nullopt, bool kwarg_only = false)
        : name_(std::move(name)), type_(type != nullptr ? std::move(type) : TensorType::get()), length_(length),
          default_(std::move(fallback)), kwarg_only_(kwarg_only)
    {
    }
    template <class Info, std::enable_if_t<std::is_same<Info, AliasInfo>::value, int> = 0>
    Argument(std::string name, TypePtr type, optional<int32_t> length, optional<IValue> fallback, bool kwarg_only,
             const optional<Info> &alias)
        : Argument(std::move(name), std::move(type), length, std::move(fallback), kwarg_only)
    {
        if (alias.has_value()) {
            alias_ = str(alias->containedTypes().empty() ? *alias : alias->containedTypes()[0]);
        }
    }
    // libtorch's arguments have two types. Here an argument has only the second type, which is the type in the schema's
    // text.
    Argument(std::string name, const TypePtr &, TypePtr real_type, optional<int32_t> length = nullopt,
             optional<IValue> fallback = nullopt, bool kwarg_only = false)
        : Argument(std::move(name), std::move(real_type), length, std::move(fallback), kwarg_only)
    {
    }
    template <class Info, std::enable_if_t<std::is_same<Info, AliasInfo>::value, int> = 0>
    Argument(std::string name, const TypePtr &, TypePtr real_type, optional<int32_t> length, optional<IValue> fallback,
             bool kwarg_only, const optional<Info> &alias)
        : Argument(std::move(name), std::move(real_type), length, std::move(fallback), kwarg_only, alias)
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
    bool is_out() const
    {
        return kwarg_only_ && is_write();
    }
    // The mark that says which memory an argument shares, such as "(a!)"; "!" says that the operator writes to the
    // argument.
    const std::string &alias_text() const
    {
        return alias_;
    }
    void set_alias_text(std::string text)
    {
        alias_ = std::move(text);
        alias_info_.reset();
    }
    // Returns the content of the mark, or null if there is no mark. The result is valid as long as the argument exists.
    template <class Info = AliasInfo> const Info *alias_info() const
    {
        if (!alias_.empty() && alias_info_ == nullptr) {
            Info made = Info::template parse<Info>(alias_);
            if (type_->kind() == TypeKind::ListType) { // the mark of a list is the mark of its elements
                Info list;
                list.setIsWrite(made.isWrite());
                list.addContainedType(std::move(made));
                made = std::move(list);
            }
            alias_info_ = std::make_shared<Info>(std::move(made));
        }
        return alias_info_.get();
    }
    bool is_write() const
    {
        return alias_.find('!') != std::string::npos;
    }
    bool is_inferred_type() const
    {
        return false;
    }
    Argument cloneWithType(TypePtr type) const
    {
        Argument made = *this;
        made.type_ = std::move(type);
        return made;
    }
    // Returns the lines of the error for a value that does not have the argument's type.
    std::string formatTypeMismatchMsg(const std::string &actual_type) const;
    // Returns true if calls written for the old argument are right for this argument. Writes to why_not, unless it is
    // null, why the types do not fit.
    bool isBackwardCompatibleWith(const Argument &old, std::ostream *why_not = nullptr) const
    {
        return has_same_form(old) && old.type_->isSubtypeOfExt(*type_, why_not) &&
               (!old.default_.has_value() || has_default_of(old));
    }
    // Returns true if calls written for this argument are right for the old argument.
    bool isForwardCompatibleWith(const Argument &old, std::ostream *why_not = nullptr) const
    {
        return has_same_form(old) && type_->isSubtypeOfExt(*old.type_, why_not) &&
               (old.default_.has_value() ? has_default_of(old) : !default_.has_value());
    }
    friend bool operator==(const Argument &a, const Argument &b)
    {
        return a.name_ == b.name_ && *a.type_ == *b.type_ && a.kwarg_only_ == b.kwarg_only_ && a.alias_ == b.alias_ &&
               a.length_ == b.length_ && a.default_.has_value() == b.default_.has_value() &&
               (!a.default_.has_value() || *a.default_ == *b.default_);
    }
    friend bool operator!=(const Argument &a, const Argument &b)
    {
        return !(a == b);
    }

  private:
    bool has_same_form(const Argument &old) const
    {
        return name_ == old.name_ && length_ == old.length_ && alias_ == old.alias_ &&
               (!kwarg_only_ || old.kwarg_only_);
    }
    bool has_default_of(const Argument &old) const
    {
        return default_.has_value() && *default_ == *old.default_;
    }
    std::string name_;
    TypePtr type_;
    optional<int32_t> length_;
    optional<IValue> default_;
    bool kwarg_only_;
    std::string alias_;
    mutable std::shared_ptr<AliasInfo> alias_info_; // null until needed
};

// Selects the arguments or the results of a schema.
enum class SchemaArgType { input, output };
struct SchemaArgument {
    SchemaArgType type;
    size_t index;
    SchemaArgument(SchemaArgType type_, size_t index_) : type(type_), index(index_)
    {
    }
    bool operator==(const SchemaArgument &other) const
    {
        return type == other.type && index == other.index;
    }
};

// Returns the index of the first argument that the operator writes its result to, or the number of arguments if there
// is no such argument.
inline size_t findFirstOutArg(const std::vector<Argument> &arguments)
{
    size_t index = 0;
    while (index < arguments.size() && !arguments[index].is_out()) {
        index++;
    }
    return index;
}
// Returns true if the names are equal, and each type of the child is a subtype of the parent's type.
inline bool isSubtypeOfList(ArrayRef<Argument> child, ArrayRef<Argument> parent, std::ostream *why_not)
{
    bool is = child.size() == parent.size();
    for (size_t i = 0; is && i < child.size(); i++) {
        is = child[i].name() == parent[i].name() && child[i].type()->isSubtypeOfExt(*parent[i].type(), why_not);
    }
    return is;
}

} // namespace c10

#endif
