/* SPDX-License-Identifier: BSD-2-Clause */
// c10::NamedType: types that have names. Classes, enums and tuples with named fields are such types.
#include <taper/cpp/ivalue.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_NAMED_TYPE_H
#define TAPER_CPP_NAMED_TYPE_H

#include <taper/cpp/optional_array_ref.h>
#include <taper/cpp/qualified_name.h>

namespace torch
{
namespace jit
{
struct CompilationUnit;
}
} // namespace torch

namespace c10
{

struct NamedType : public Type {
    explicit NamedType(const std::string &text) : Type(text), name_(text)
    {
    }
    NamedType(TypeKind kind, optional<QualifiedName> name)
        : Type(name.has_value() ? name->qualifiedName() : std::string(), kind), name_(std::move(name))
    {
    }
    const optional<QualifiedName> &name() const
    {
        return name_;
    }

  private:
    optional<QualifiedName> name_;
};
using NamedTypePtr = std::shared_ptr<NamedType>;
using ConstNamedTypePtr = std::shared_ptr<const NamedType>;

// Types that schemas and sources can name, but that no value has.
struct InterfaceType : public NamedType {
    using NamedType::NamedType;
    static constexpr TypeKind Kind = TypeKind::InterfaceType;
};
struct FunctionType : public NamedType {
    using NamedType::NamedType;
    static constexpr TypeKind Kind = TypeKind::FunctionType;
};
struct VarType : public Type {
    explicit VarType(std::string name) : Type(std::move(name), TypeKind::VarType)
    {
    }
    static constexpr TypeKind Kind = TypeKind::VarType;
    template <class Text = std::string> static std::shared_ptr<VarType> create(Text name)
    {
        return std::make_shared<VarType>(std::move(name));
    }
    const std::string &name() const
    {
        return annotation_str();
    }
};
using InterfaceTypePtr = std::shared_ptr<InterfaceType>;
using FunctionTypePtr = std::shared_ptr<FunctionType>;
using VarTypePtr = std::shared_ptr<VarType>;

// A name of an enum, and the value of this name. Only C++ code makes enums; values of models are never enums.
using EnumNameValue = std::pair<std::string, IValue>;
struct EnumType : public NamedType {
    static constexpr TypeKind Kind = TypeKind::EnumType;
    EnumType(const QualifiedName &name, TypePtr value, std::vector<EnumNameValue> names)
        : NamedType(TypeKind::EnumType, name), value_(std::move(value)), names_(std::move(names))
    {
    }
    template <class Names = std::vector<EnumNameValue>>
    static std::shared_ptr<EnumType> create(const QualifiedName &name, TypePtr value, Names names,
                                            std::weak_ptr<torch::jit::CompilationUnit> = {})
    {
        switch (value->kind()) {
        case TypeKind::IntType:
        case TypeKind::FloatType:
        case TypeKind::StringType:
            return std::make_shared<EnumType>(name, std::move(value), std::move(names));
        default:
            throw Error("Cannot create Enum with value type '" + value->str() +
                        "', only int, float and string are supported");
        }
    }
    std::string str() const override
    {
        return "Enum<" + annotation_str() + ">";
    }
    std::string repr_str() const override
    {
        return str();
    }
    TypePtr getValueType() const
    {
        return value_;
    }
    QualifiedName qualifiedClassName() const
    {
        return *name();
    }
    ArrayRef<EnumNameValue> enumNamesValues() const
    {
        return names_;
    }

  protected:
    std::vector<TypePtr> contained() const override
    {
        return {value_};
    }

  private:
    TypePtr value_;
    std::vector<EnumNameValue> names_;
};
using EnumTypePtr = std::shared_ptr<EnumType>;

namespace ivalue
{

// One of the names of an enum, as an IValue can hold it.
class EnumHolder final : public Foreign
{
  public:
    EnumHolder(EnumTypePtr type, std::string name, IValue value)
        : type_(std::move(type)), name_(std::move(name)), value_(std::move(value))
    {
    }
    std::string qualifiedClassName() const
    {
        return type_->annotation_str();
    }
    std::string unqualifiedClassName() const
    {
        return type_->qualifiedClassName().name();
    }
    const std::string &name() const
    {
        return name_;
    }
    const IValue &value() const
    {
        return value_;
    }
    EnumTypePtr type() const
    {
        return type_;
    }
    bool is(const EnumHolder &other) const
    {
        return this == &other;
    }
    friend bool operator==(const EnumHolder &a, const EnumHolder &b)
    {
        return a.name_ == b.name_ && *a.type_ == *b.type_;
    }
    friend std::ostream &operator<<(std::ostream &out, const EnumHolder &holder)
    {
        return out << holder.qualifiedClassName() << "." << holder.name_;
    }

  private:
    EnumTypePtr type_;
    std::string name_;
    IValue value_;
};

// An object of C++ that a value holds: a generator or a storage.
template <class T> class Box final : public Foreign
{
  public:
    explicit Box(T held) : value(std::move(held))
    {
    }
    const T value;
};

} // namespace ivalue

inline IValue::IValue(intrusive_ptr<ivalue::EnumHolder> holder)
    : IValue(impl::present(holder).qualifiedClassName(), holder.get())
{
}
inline IValue::IValue(at::Generator generator)
    : IValue("Generator", make_intrusive<ivalue::Box<at::Generator>>(std::move(generator)).get())
{
}
inline IValue::IValue(at::Storage storage)
    : IValue("Storage", make_intrusive<ivalue::Box<at::Storage>>(std::move(storage)).get())
{
}
inline bool IValue::isEnum() const noexcept
{
    return foreign<ivalue::EnumHolder>() != nullptr;
}
inline bool IValue::isGenerator() const noexcept
{
    return foreign<ivalue::Box<at::Generator>>() != nullptr;
}
inline bool IValue::isStorage() const noexcept
{
    return foreign<ivalue::Box<at::Storage>>() != nullptr;
}
inline intrusive_ptr<ivalue::EnumHolder> IValue::toEnumHolder() const
{
    const ivalue::EnumHolder *holder = foreign<ivalue::EnumHolder>();
    return holder != nullptr ? intrusive_ptr<ivalue::EnumHolder>(const_cast<ivalue::EnumHolder *>(holder))
                             : (refuse("Enum"), nullptr);
}
inline at::Generator IValue::toGenerator() const
{
    const ivalue::Box<at::Generator> *box = foreign<ivalue::Box<at::Generator>>();
    return box != nullptr ? box->value : (refuse("Generator"), at::Generator());
}
inline at::Storage IValue::toStorage() const
{
    const ivalue::Box<at::Storage> *box = foreign<ivalue::Box<at::Storage>>();
    return box != nullptr ? box->value : (refuse("Storage"), at::Storage());
}
inline TypePtr IValue::type() const
{
    return isEnum() ? TypePtr(toEnumHolder()->type()) : Type::of(isNone() ? "NoneType" : type_text());
}

// Throws if the type of an attribute is Any.
inline void checkNoAny(const Type &base, const char *what, const std::string &name, const TypePtr &type)
{
    if (containsAnyType(type)) {
        throw Error(std::string("attempting to add ") + what + " '" + name + "' of type " + type->repr_str() + " to '" +
                    base.repr_str() +
                    "' but it contains an Any type. Any types cannot be members of modules, classes, or named tuples.");
    }
}
inline bool elementTypeCanBeInferredFromMembers(const TypePtr &type)
{
    switch (type->kind()) {
    case TypeKind::UnionType:
    case TypeKind::OptionalType:
    case TypeKind::NumberType:
    case TypeKind::InterfaceType:
    case TypeKind::AnyType:
        return false;
    default:
        return true;
    }
}
// In containers an object is equal to itself, even if it is a NaN, which is not equal to itself as a number.
inline bool _fastEqualsForContainer(const IValue &a, const IValue &b)
{
    return a.is(b) || a == b;
}

// The owner of a list that may be missing.
template <class T> struct OptionalArray {
    optional<std::vector<T>> list;
    OptionalArray() = default;
    OptionalArray(std::vector<T> items) : list(std::move(items))
    {
    }
    OptionalArray &operator=(optional<ArrayRef<T>> items)
    {
        list = items.has_value() ? optional<std::vector<T>>(items->vec()) : nullopt;
        return *this;
    }
    OptionalArray &operator=(OptionalArrayRef<T> items)
    {
        list = items.has_value() ? optional<std::vector<T>>(items->vec()) : nullopt;
        return *this;
    }
    operator optional<ArrayRef<T>>()
    {
        return list.has_value() ? optional<ArrayRef<T>>(ArrayRef<T>(*list)) : nullopt;
    }
    operator OptionalArrayRef<T>()
    {
        return list.has_value() ? OptionalArrayRef<T>(ArrayRef<T>(*list)) : OptionalArrayRef<T>();
    }
};
struct Capsule {
    intrusive_ptr<torch::CustomClassHolder> obj_ptr;
    explicit Capsule(intrusive_ptr<torch::CustomClassHolder> pointer) : obj_ptr(std::move(pointer))
    {
    }
};
template <class T> struct tagged_capsule {
    IValue ivalue;
};
template <class T> using SingletonOrSharedTypePtr = std::shared_ptr<T>;
namespace ivalue
{
struct GenericDict;
template <class T> using Shared = intrusive_ptr<T>;
struct ComplexHolder : public intrusive_ptr_target {
    c10::complex<double> val;
    ComplexHolder() = default;
    template <class T>
    ComplexHolder(c10::complex<T> number) : val(static_cast<double>(number.real()), static_cast<double>(number.imag()))
    {
    }
};
} // namespace ivalue

} // namespace c10

namespace torch
{
namespace jit
{
using c10::EnumType;
using c10::EnumTypePtr;
using c10::FunctionType;
using c10::InterfaceType;
using c10::VarType;
} // namespace jit
} // namespace torch

#endif
