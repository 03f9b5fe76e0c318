/* SPDX-License-Identifier: BSD-2-Clause */
// The classes of types, such as c10::ListType, and functions over types.
#include <taper/cpp/type.h> // the two headers include each other, so that a program may include either first
#ifndef TAPER_CPP_TYPE_KINDS_H
#define TAPER_CPP_TYPE_KINDS_H

namespace c10
{

// Defines the class of a kind of types and its function get(): for example TensorType with TensorType::get().
#define TAPER_CPP_KIND(kind, text)                                                                                     \
    struct kind : public Type {                                                                                        \
        using Type::Type;                                                                                              \
        static constexpr TypeKind Kind = TypeKind::kind;                                                               \
        static TypePtr get()                                                                                           \
        {                                                                                                              \
            return Type::of(text);                                                                                     \
        }                                                                                                              \
        static TypePtr create()                                                                                        \
        {                                                                                                              \
            return get();                                                                                              \
        }                                                                                                              \
    };                                                                                                                 \
    using kind##Ptr = std::shared_ptr<kind>;
TAPER_CPP_LEAF_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND

// A type with one type inside.
template <TypeKind K, class T> struct SingleElementType : public Type {
    using Type::Type;
    static constexpr TypeKind Kind = K;
    TypePtr getElementType() const
    {
        return containedType(0);
    }
    // These functions do the same as the functions of Type. Programs also call these functions by the name of this
    // class.
    bool hasFreeVariables() const
    {
        return Type::hasFreeVariables();
    }
    std::vector<TypePtr> containedTypes() const
    {
        return contained();
    }
    bool equals(const Type &other) const
    {
        return Type::equals(other);
    }
};
#define TAPER_CPP_KIND(kind, text)                                                                                     \
    struct kind : public SingleElementType<TypeKind::kind, kind> {                                                     \
        using SingleElementType::SingleElementType;                                                                    \
        static TypePtr create(const TypePtr &element)                                                                  \
        {                                                                                                              \
            return Type::of(text + element->annotation_str() + "]");                                                   \
        }                                                                                                              \
    };                                                                                                                 \
    using kind##Ptr = std::shared_ptr<kind>;
TAPER_CPP_KIND(FutureType, "Future[")
TAPER_CPP_KIND(RRefType, "RRef[")
#undef TAPER_CPP_KIND

struct OptionalType : public SingleElementType<TypeKind::OptionalType, OptionalType> {
    using SingleElementType::SingleElementType;
    static TypePtr create(const TypePtr &element)
    {
        return Type::of("Optional[" + element->annotation_str() + "]");
    }
    static TypePtr get(const TypePtr &element)
    {
        return create(element);
    }
    static TypePtr ofTensor()
    {
        return Type::of("Optional[Tensor]");
    }
};
using OptionalTypePtr = std::shared_ptr<OptionalType>;

struct ListType : public SingleElementType<TypeKind::ListType, ListType> {
    using SingleElementType::SingleElementType;
    static TypePtr create(const TypePtr &element)
    {
        return Type::of("List[" + element->annotation_str() + "]");
    }
    static TypePtr ofTensors()
    {
        return Type::of("List[Tensor]");
    }
    static TypePtr ofInts()
    {
        return Type::of("List[int]");
    }
    static TypePtr ofFloats()
    {
        return Type::of("List[float]");
    }
    static TypePtr ofBools()
    {
        return Type::of("List[bool]");
    }
    static TypePtr get(const std::string &, const TypePtr &element)
    {
        return create(element);
    }
    static TypePtr ofOptionalTensors()
    {
        return Type::of("List[Optional[Tensor]]");
    }
    static TypePtr ofComplexDoubles()
    {
        return Type::of("List[complex]");
    }
    static TypePtr ofStrings()
    {
        return Type::of("List[str]");
    }
};
using ListTypePtr = std::shared_ptr<ListType>;

struct DictType : public Type {
    using Type::Type;
    static constexpr TypeKind Kind = TypeKind::DictType;
    static TypePtr create(const TypePtr &key, const TypePtr &value)
    {
        return Type::of("Dict[" + key->annotation_str() + ", " + value->annotation_str() + "]");
    }
    static TypePtr get(const std::string &, const TypePtr &key, const TypePtr &value)
    {
        return create(key, value);
    }
    TypePtr getKeyType() const
    {
        return containedType(0);
    }
    TypePtr getValueType() const
    {
        return containedType(1);
    }
};
using DictTypePtr = std::shared_ptr<DictType>;

namespace impl
{
inline TypePtr type_around(const char *open, const std::vector<TypePtr> &inside)
{
    std::string all = open;
    for (size_t i = 0; i < inside.size(); i++) {
        all += (i == 0 ? "" : ", ") + inside[i]->annotation_str();
    }
    return Type::of(all + "]");
}
} // namespace impl

struct UnionType : public Type {
    using Type::Type;
    static constexpr TypeKind Kind = TypeKind::UnionType;
    static TypePtr create(const std::vector<TypePtr> &inside)
    {
        return impl::type_around("Union[", inside);
    }
    std::vector<TypePtr> elements() const
    {
        return containedTypes();
    }
};
using UnionTypePtr = std::shared_ptr<UnionType>;

class QualifiedName;
class FunctionSchema;
struct IValue;

struct TupleType : public Type {
    using Type::Type;
    static constexpr TypeKind Kind = TypeKind::TupleType;
    static TypePtr create(const std::vector<TypePtr> &inside = {})
    {
        return impl::type_around("Tuple[", inside);
    }
    // Returns the type of a tuple whose fields have names; defined in named_tuple.h.
    template <class Text, class Values = std::vector<IValue>>
    static std::shared_ptr<TupleType> createNamed(const optional<QualifiedName> &name, const std::vector<Text> &fields,
                                                  const std::vector<TypePtr> &types, const Values &defaults = {});
    std::vector<TypePtr> elements() const
    {
        return containedTypes();
    }
    // These functions return null and an empty optional if the fields have no names.
    virtual std::shared_ptr<FunctionSchema> schema() const
    {
        return nullptr;
    }
    virtual optional<std::vector<string_view>> names() const
    {
        return nullopt;
    }
};
using TupleTypePtr = std::shared_ptr<TupleType>;

// One kind of shared pointer serves all classes, because each kind costs time to compile.
inline TypePtr Type::of(std::string text)
{
    switch (kind_of(text)) {
#define TAPER_CPP_KIND(kind, name)                                                                                     \
    case TypeKind::kind:                                                                                               \
        return TypePtr(static_cast<Type *>(new c10::kind(std::move(text))));
        TAPER_CPP_LEAF_KINDS(TAPER_CPP_KIND)
        TAPER_CPP_NODE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
    default:
        break;
    }
    return std::make_shared<Type>(std::move(text));
}

using TypePrinter = std::function<optional<std::string>(const Type &)>;
using SharedType = Type;

inline std::string toString(const Type &type)
{
    return type.str();
}
inline std::string toString(const TypePtr &type)
{
    return type->str();
}
// Which parts of the types of tensors are printed. Taper's types have no sizes, so that all values print the same.
enum class TypeVerbosity { None, Type, TypeAndStride, Full, Symbolic, Default = Full };
inline TypeVerbosity type_verbosity()
{
    return TypeVerbosity::Default;
}
using NameList = std::vector<std::string>;
using OptNameList = optional<NameList>;
using AliasTypeSet = std::vector<TypePtr>;
// Returns true if the elements of a tensor are stored one after the other.
inline bool is_contiguous_strides(const IntArrayRef sizes, const IntArrayRef strides)
{
    int64_t step = 1;
    for (size_t i = sizes.size(); i-- > 0; step = strides[i] * sizes[i]) {
        if (strides[i] != step) {
            return false;
        }
    }
    return true;
}
// Returns the type itself, because Taper's types have no sizes of tensors.
inline TypePtr unshapedType(const TypePtr &type)
{
    return type;
}
inline bool containsAnyType(const TypePtr &type)
{
    return type->annotation_str().find("Any") != std::string::npos;
}

} // namespace c10

namespace torch
{
using namespace at;
namespace jit
{
using c10::Type;
using c10::TypeKind;
using c10::TypePtr;
#define TAPER_CPP_KIND(kind, text) using c10::kind;
TAPER_CPP_LEAF_KINDS(TAPER_CPP_KIND)
TAPER_CPP_NODE_KINDS(TAPER_CPP_KIND)
#undef TAPER_CPP_KIND
} // namespace jit
} // namespace torch

#endif
