/* SPDX-License-Identifier: BSD-2-Clause */
// caffe2::TypeMeta: the type of Tensor::dtype(). A TypeMeta compares equal to the ScalarType of the same numbers.
#ifndef TAPER_CPP_TYPE_META_H
#define TAPER_CPP_TYPE_META_H

#include <functional>

#include <taper/cpp/optional.h>
#include <taper/cpp/scalar_type.h>

namespace caffe2
{

using TypeMetaName = const char *;

// A number for each type of elements.
class TypeIdentifier final
{
  public:
    constexpr TypeIdentifier() : number_(static_cast<uint64_t>(c10::ScalarType::Undefined))
    {
    }
    explicit constexpr TypeIdentifier(c10::ScalarType type) : number_(static_cast<uint64_t>(type))
    {
    }
    template <class T> static constexpr TypeIdentifier Get() noexcept
    {
        return TypeIdentifier(c10::CppTypeToScalarType<T>::value);
    }
    static constexpr TypeIdentifier uninitialized()
    {
        return TypeIdentifier();
    }
    constexpr uint64_t underlyingId() const
    {
        return number_;
    }
    friend constexpr bool operator==(TypeIdentifier a, TypeIdentifier b)
    {
        return a.number_ == b.number_;
    }
    friend constexpr bool operator!=(TypeIdentifier a, TypeIdentifier b)
    {
        return a.number_ != b.number_;
    }
    friend constexpr bool operator<(TypeIdentifier a, TypeIdentifier b)
    {
        return a.number_ < b.number_;
    }
    friend std::ostream &operator<<(std::ostream &out, TypeIdentifier id)
    {
        return out << id.number_;
    }

  private:
    uint64_t number_;
};

class TypeMeta final
{
  public:
    TypeMeta() = default;
    TypeMeta(c10::ScalarType type) : type_(type)
    {
    }
    c10::ScalarType toScalarType() const
    {
        return type_;
    }
    bool isScalarType() const noexcept
    {
        return type_ < c10::ScalarType::Undefined;
    }
    bool isScalarType(c10::ScalarType type) const noexcept
    {
        return type_ == type;
    }
    TypeIdentifier id() const noexcept
    {
        return TypeIdentifier(type_);
    }
    size_t itemsize() const
    {
        return c10::elementSize(type_);
    }
    const char *name() const
    {
        switch (type_) {
        case c10::ScalarType::Byte:
            return "unsigned char";
        case c10::ScalarType::Char:
            return "signed char";
        case c10::ScalarType::Short:
            return "short int";
        case c10::ScalarType::Long:
            return sizeof(long) == 8 ? "long int" : "long long int";
#define TAPER_CPP_NAME(type, name)                                                                                     \
    case c10::ScalarType::name:                                                                                        \
        return #type;
            TAPER_CPP_NAME(int, Int)
            TAPER_CPP_NAME(c10::Half, Half)
            TAPER_CPP_NAME(float, Float)
            TAPER_CPP_NAME(double, Double)
            TAPER_CPP_NAME(bool, Bool)
            TAPER_CPP_NAME(c10::complex<c10::Half>, ComplexHalf)
            TAPER_CPP_NAME(c10::complex<float>, ComplexFloat)
            TAPER_CPP_NAME(c10::complex<double>, ComplexDouble)
            TAPER_CPP_NAME(c10::BFloat16, BFloat16)
            AT_FORALL_QINT_TYPES(TAPER_CPP_NAME)
#undef TAPER_CPP_NAME
        default:
            return "nullptr (uninitialized)";
        }
    }
    template <class T> static TypeMeta Make()
    {
        return TypeMeta(c10::CppTypeToScalarType<T>::value);
    }
    template <class T> static TypeIdentifier Id() noexcept
    {
        return TypeIdentifier::Get<T>();
    }
    template <class T> static const char *TypeName() noexcept
    {
        return Make<T>().name();
    }
    template <class T> static constexpr size_t ItemSize() noexcept
    {
        return sizeof(T);
    }
    static TypeMeta fromScalarType(c10::ScalarType type)
    {
        return TypeMeta(type);
    }
    template <class T> bool Match() const
    {
        return type_ == c10::CppTypeToScalarType<T>::value;
    }
    friend bool operator==(const TypeMeta &a, const TypeMeta &b)
    {
        return a.type_ == b.type_;
    }
    friend bool operator!=(const TypeMeta &a, const TypeMeta &b)
    {
        return a.type_ != b.type_;
    }
    friend std::ostream &operator<<(std::ostream &out, const TypeMeta &type)
    {
        return out << type.name();
    }

  private:
    c10::ScalarType type_ = c10::ScalarType::Undefined;
};

} // namespace caffe2

namespace c10
{
inline ScalarType typeMetaToScalarType(const caffe2::TypeMeta &type)
{
    TORCH_CHECK(type.isScalarType(), "Unsupported TypeMeta in ATen: ", type, " (please report this error)");
    return type.toScalarType();
}
inline optional<ScalarType> optTypeMetaToScalarType(const optional<caffe2::TypeMeta> &type)
{
    return type.has_value() ? optional<ScalarType>(type->toScalarType()) : optional<ScalarType>();
}
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType type)
{
    return caffe2::TypeMeta(type);
}
} // namespace c10

namespace caffe2
{
using c10::typeMetaToScalarType;
}
namespace c10
{
inline bool operator==(ScalarType a, caffe2::TypeMeta b) noexcept
{
    return b.isScalarType(a);
}
inline bool operator==(caffe2::TypeMeta a, ScalarType b) noexcept
{
    return a.isScalarType(b);
}
inline bool operator!=(ScalarType a, caffe2::TypeMeta b) noexcept
{
    return !(a == b);
}
inline bool operator!=(caffe2::TypeMeta a, ScalarType b) noexcept
{
    return !(a == b);
}
} // namespace c10

namespace at
{
using c10::typeMetaToScalarType;
using caffe2::TypeMeta;
using DataType = caffe2::TypeIdentifier;
} // namespace at
namespace torch
{
using namespace at;
using Dtype = c10::ScalarType;
} // namespace torch

namespace std
{
template <> struct hash<caffe2::TypeIdentifier> {
    size_t operator()(caffe2::TypeIdentifier id) const
    {
        return static_cast<size_t>(id.underlyingId());
    }
};
} // namespace std

#endif
