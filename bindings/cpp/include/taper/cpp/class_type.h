/* SPDX-License-Identifier: BSD-2-Clause */
// c10::ClassType: the type of a module, with the names and types of its attributes.
#ifndef TAPER_CPP_CLASS_TYPE_H
#define TAPER_CPP_CLASS_TYPE_H

#include <memory>
#include <string>
#include <vector>

#include <taper/cpp/loaded_model.h>

namespace c10
{

// A name with dots: "__torch__.Net".
class QualifiedName
{
  public:
    QualifiedName() = default;
    QualifiedName(const std::string &name) : name_(name)
    {
        if (name.empty()) {
            throw Error("the qualified name is empty");
        }
    }
    QualifiedName(const char *name) : QualifiedName(std::string(name))
    {
    }
    explicit QualifiedName(const std::vector<std::string> &atoms)
    {
        for (const std::string &each : atoms) {
            name_ += (name_.empty() ? "" : ".") + each;
        }
    }
    QualifiedName(const QualifiedName &prefix, const std::string &name) : QualifiedName(prefix.name_ + "." + name)
    {
    }
    const std::string &qualifiedName() const
    {
        return name_;
    }
    // Return the part before the last dot, and the part after it.
    std::string prefix() const
    {
        const size_t dot = name_.find_last_of('.');
        return dot == std::string::npos ? "" : name_.substr(0, dot);
    }
    std::string name() const
    {
        const size_t dot = name_.find_last_of('.');
        return dot == std::string::npos ? name_ : name_.substr(dot + 1);
    }
    std::vector<std::string> atoms() const
    {
        std::vector<std::string> all;
        for (size_t start = 0; start <= name_.size();) {
            const size_t dot = name_.find('.', start), end = dot == std::string::npos ? name_.size() : dot;
            all.push_back(name_.substr(start, end - start));
            start = end + 1;
        }
        return all;
    }
    bool isPrefixOf(const QualifiedName &other) const
    {
        return other.name_ == name_ || other.name_.compare(0, name_.size() + 1, name_ + ".") == 0;
    }
    bool operator==(const QualifiedName &other) const
    {
        return name_ == other.name_;
    }
    bool operator!=(const QualifiedName &other) const
    {
        return name_ != other.name_;
    }

  private:
    std::string name_;
};

// The attributes are those of the time when the type was requested.
class ClassType : public Type
{
  public:
    static constexpr TypeKind Kind = TypeKind::ClassType;
    ClassType(const std::string &name, std::vector<taper::cpp::Slot> slots, std::vector<std::string> methods,
              bool is_module)
        : Type(name), name_(name), slots_(std::move(slots)), methods_(std::move(methods)), is_module_(is_module)
    {
    }
    optional<QualifiedName> name() const
    {
        return name_;
    }
    bool is_module() const override
    {
        return is_module_;
    }
    size_t numAttributes() const
    {
        return slots_.size();
    }
    TypePtr getAttribute(size_t slot) const
    {
        return Type::of(slots_.at(slot).type);
    }
    TypePtr getAttribute(const std::string &name) const
    {
        return getAttribute(getAttributeSlot(name));
    }
    const std::string &getAttributeName(size_t slot) const
    {
        return slots_.at(slot).name;
    }
    optional<size_t> findAttributeSlot(const std::string &name) const
    {
        for (size_t i = 0; i < slots_.size(); i++) {
            if (slots_[i].name == name) {
                return i;
            }
        }
        return nullopt;
    }
    size_t getAttributeSlot(const std::string &name) const
    {
        const optional<size_t> found = findAttributeSlot(name);
        if (!found.has_value()) {
            throw Error(annotation_str() + " does not have an attribute with name '" + name + "'");
        }
        return *found;
    }
    TypePtr findAttribute(const std::string &name) const
    {
        const optional<size_t> found = findAttributeSlot(name);
        return found.has_value() ? getAttribute(*found) : nullptr;
    }
    bool hasAttribute(const std::string &name) const
    {
        return findAttributeSlot(name).has_value();
    }
    bool is_parameter(size_t slot) const
    {
        return slots_.at(slot).is_parameter;
    }
    bool is_buffer(size_t slot) const
    {
        return slots_.at(slot).is_buffer;
    }
    bool hasMethod(const std::string &name) const
    {
        return std::find(methods_.begin(), methods_.end(), name) != methods_.end();
    }

  private:
    QualifiedName name_;
    std::vector<taper::cpp::Slot> slots_;
    std::vector<std::string> methods_;
    bool is_module_;
};
using ClassTypePtr = std::shared_ptr<ClassType>;

} // namespace c10

namespace torch
{
namespace jit
{
using c10::ClassType;
using c10::DynamicType;
} // namespace jit
} // namespace torch

#endif
