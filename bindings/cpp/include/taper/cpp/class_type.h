/* SPDX-License-Identifier: BSD-2-Clause */
// c10::ClassType: the type of a module, with the names and types of its attributes.
#ifndef TAPER_CPP_CLASS_TYPE_H
#define TAPER_CPP_CLASS_TYPE_H

#include <memory>
#include <string>
#include <vector>

#include <taper/cpp/model_interface.h>
#include <taper/cpp/named_type.h>

namespace c10
{

// The type has the attributes that the module had when the type was requested.
class ClassType : public NamedType
{
  public:
    static constexpr TypeKind Kind = TypeKind::ClassType;
    ClassType(const std::string &name, std::vector<taper::cpp::Slot> slots, std::vector<std::string> methods,
              bool is_module)
        : NamedType(name), slots_(std::move(slots)), methods_(std::move(methods)), is_module_(is_module)
    {
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
