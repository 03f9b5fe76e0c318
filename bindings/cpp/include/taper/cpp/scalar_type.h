/* SPDX-License-Identifier: BSD-2-Clause */
// Element types: ScalarType (with the numbers of taper_dtype), the C++ type of each, and TypeMeta.
#ifndef TAPER_CPP_SCALAR_TYPE_H
#define TAPER_CPP_SCALAR_TYPE_H

#include <complex>
#include <cstdint>
#include <cstring>
#include <ostream>

#include <taper/cpp/error.h>

// Rows of (C++ type of an element, name of the enumerator).
#define TAPER_CPP_SCALAR_TYPES(row)                                                                                    \
    row(uint8_t, Byte) row(int8_t, Char) row(int16_t, Short) row(int, Int) row(int64_t, Long) row(c10::Half, Half)     \
        row(float, Float) row(double, Double) row(c10::complex<float>, ComplexFloat)                                   \
            row(c10::complex<double>, ComplexDouble) row(bool, Bool) row(c10::qint8, QInt8) row(c10::quint8, QUInt8)   \
                row(c10::qint32, QInt32) row(c10::BFloat16, BFloat16)

namespace c10
{

// A 16-bit float, which is widened for arithmetic.
struct Half {
    uint16_t x;
    operator float() const
    {
        const uint32_t sign = static_cast<uint32_t>(x & 0x8000U) << 16, bits = x & 0x7fffU;
        uint32_t wide;
        if (bits >= 0x7c00U) { // infinity or NaN
            wide = 0x7f800000U | (bits << 13);
        } else if (bits >= 0x0400U) {
            wide = (bits << 13) + 0x38000000U;
        } else { // subnormal: a multiple of 2^-24
            const float small = static_cast<float>(bits) * (1.0F / 16777216.0F);
            std::memcpy(&wide, &small, sizeof wide);
        }
        wide |= sign;
        float result;
        std::memcpy(&result, &wide, sizeof result);
        return result;
    }
};
struct BFloat16 {
    uint16_t x;
    operator float() const
    {
        const uint32_t wide = static_cast<uint32_t>(x) << 16;
        float result;
        std::memcpy(&result, &wide, sizeof result);
        return result;
    }
};
struct qint8 {
    int8_t val_;
};
struct quint8 {
    uint8_t val_;
};
struct qint32 {
    int32_t val_;
};
template <class T> using complex = std::complex<T>;

enum class ScalarType : int8_t {
    Byte = 0,
    Char = 1,
    Short = 2,
    Int = 3,
    Long = 4,
    Half = 5,
    Float = 6,
    Double = 7,
    ComplexHalf = 8,
    ComplexFloat = 9,
    ComplexDouble = 10,
    Bool = 11,
    QInt8 = 12,
    QUInt8 = 13,
    QInt32 = 14,
    BFloat16 = 15,
    QUInt4x2 = 16,
    QUInt2x4 = 17,
    Undefined = 18
};

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double;
constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf, kComplexFloat = ScalarType::ComplexFloat;
constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble, kBool = ScalarType::Bool;
constexpr ScalarType kQInt8 = ScalarType::QInt8, kQUInt8 = ScalarType::QUInt8, kQInt32 = ScalarType::QInt32;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;

inline const char *toString(ScalarType type)
{
    switch (type) {
#define TAPER_CPP_NAME(type_, name)                                                                                    \
    case ScalarType::name:                                                                                             \
        return #name;
        TAPER_CPP_SCALAR_TYPES(TAPER_CPP_NAME)
#undef TAPER_CPP_NAME
    case ScalarType::ComplexHalf:
        return "ComplexHalf";
    case ScalarType::QUInt4x2:
        return "QUInt4x2";
    case ScalarType::QUInt2x4:
        return "QUInt2x4";
    case ScalarType::Undefined:
        break;
    }
    return "UNKNOWN_SCALAR";
}
inline std::ostream &operator<<(std::ostream &out, ScalarType type)
{
    return out << toString(type);
}

inline size_t elementSize(ScalarType type)
{
    return taper_dtype_size(static_cast<taper_dtype>(type));
}
inline bool isIntegralType(ScalarType type, bool with_bool = false)
{
    return (type >= ScalarType::Byte && type <= ScalarType::Long) || (with_bool && type == ScalarType::Bool);
}
inline bool isFloatingType(ScalarType type)
{
    return (type >= ScalarType::Half && type <= ScalarType::Double) || type == ScalarType::BFloat16;
}
inline bool isComplexType(ScalarType type)
{
    return type >= ScalarType::ComplexHalf && type <= ScalarType::ComplexDouble;
}
inline bool isSignedType(ScalarType type)
{
    return type != ScalarType::Byte && type != ScalarType::Bool && type != ScalarType::QUInt8;
}
inline bool isQIntType(ScalarType type)
{
    return type >= ScalarType::QInt8 && type <= ScalarType::QInt32;
}

// CppTypeToScalarType<float>::value. Other types have none, so that data_ptr of such a type does not compile.
template <class T> struct CppTypeToScalarType;
#define TAPER_CPP_TYPE(type, name)                                                                                     \
    template <> struct CppTypeToScalarType<type> {                                                                     \
        static constexpr ScalarType value = ScalarType::name;                                                          \
    };
TAPER_CPP_SCALAR_TYPES(TAPER_CPP_TYPE)
#undef TAPER_CPP_TYPE

} // namespace c10

namespace caffe2
{

// The type of Tensor::dtype(), which compares equal to its ScalarType.
class TypeMeta
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
            TAPER_CPP_NAME(c10::complex<float>, ComplexFloat)
            TAPER_CPP_NAME(c10::complex<double>, ComplexDouble)
            TAPER_CPP_NAME(c10::qint8, QInt8)
            TAPER_CPP_NAME(c10::quint8, QUInt8)
            TAPER_CPP_NAME(c10::qint32, QInt32)
            TAPER_CPP_NAME(c10::BFloat16, BFloat16)
#undef TAPER_CPP_NAME
        default:
            return "nullptr (uninitialized)";
        }
    }
    template <class T> static TypeMeta Make()
    {
        return TypeMeta(c10::CppTypeToScalarType<T>::value);
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
    return type.toScalarType();
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
namespace torch
{
using namespace at;
using Dtype = c10::ScalarType;
} // namespace torch

#endif
