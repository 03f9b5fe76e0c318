/* SPDX-License-Identifier: BSD-2-Clause */
// Element types: ScalarType (with the numbers of taper_dtype), the C++ type of each, and their arithmetic.
#ifndef TAPER_CPP_SCALAR_TYPE_H
#define TAPER_CPP_SCALAR_TYPE_H

#include <taper/cpp/check.h>
#include <taper/cpp/complex.h>
#include <taper/cpp/error.h>
#include <taper/cpp/scalar_type_macros.h>

namespace c10
{

// Defines a type for the elements of quantized tensors.
#define TAPER_CPP_QUANTIZED(name, number)                                                                              \
    struct alignas(sizeof(number)) name {                                                                              \
        using underlying = number;                                                                                     \
        number val_;                                                                                                   \
        name() = default;                                                                                              \
        explicit name(number value) : val_(value)                                                                      \
        {                                                                                                              \
        }                                                                                                              \
    };
TAPER_CPP_QUANTIZED(qint8, int8_t)
TAPER_CPP_QUANTIZED(quint8, uint8_t)
TAPER_CPP_QUANTIZED(qint32, int32_t)
#undef TAPER_CPP_QUANTIZED
struct alignas(1) quint4x2 {
    using underlying = uint8_t;
    uint8_t val_;
};
struct alignas(1) quint2x4 {
    using underlying = uint8_t;
    uint8_t val_;
};

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
    Undefined = 18,
    NumOptions
};
constexpr uint16_t NumScalarTypes = static_cast<uint16_t>(ScalarType::NumOptions);

#define TAPER_CPP_CONSTANT(type, name) constexpr ScalarType k##name = ScalarType::name;
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(TAPER_CPP_CONSTANT)
#undef TAPER_CPP_CONSTANT
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong;
constexpr ScalarType kFloat16 = kHalf, kFloat32 = kFloat, kFloat64 = kDouble;
constexpr ScalarType kU8 = kByte, kI8 = kChar, kI16 = kShort, kI32 = kInt, kI64 = kLong;
constexpr ScalarType kF16 = kHalf, kF32 = kFloat, kF64 = kDouble;

inline const char *toString(ScalarType type)
{
    switch (type) {
#define TAPER_CPP_NAME(type_, name)                                                                                    \
    case ScalarType::name:                                                                                             \
        return #name;
        AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(TAPER_CPP_NAME)
#undef TAPER_CPP_NAME
    default:
        return "UNKNOWN_SCALAR";
    }
}
inline std::ostream &operator<<(std::ostream &out, ScalarType type)
{
    return out << toString(type);
}

inline size_t elementSize(ScalarType type)
{
    return type == ScalarType::QUInt4x2 || type == ScalarType::QUInt2x4
               ? 1
               : taper_dtype_size(static_cast<taper_dtype>(type));
}
inline bool isIntegralType(ScalarType type, bool with_bool = false)
{
    return (type >= ScalarType::Byte && type <= ScalarType::Long) || (with_bool && type == ScalarType::Bool);
}
inline bool isFloatingType(ScalarType type)
{
    return (type >= ScalarType::Half && type <= ScalarType::Double) || type == ScalarType::BFloat16;
}
inline bool isReducedFloatingType(ScalarType type)
{
    return type == ScalarType::Half || type == ScalarType::BFloat16;
}
inline bool isComplexType(ScalarType type)
{
    return type >= ScalarType::ComplexHalf && type <= ScalarType::ComplexDouble;
}
inline bool isQIntType(ScalarType type)
{
    return (type >= ScalarType::QInt8 && type <= ScalarType::QInt32) || type == ScalarType::QUInt4x2 ||
           type == ScalarType::QUInt2x4;
}
// The first function returns the quantized type whose integers have the given type. The second function does the
// reverse. Both functions return any other type unchanged.
inline ScalarType toQIntType(ScalarType type)
{
    return type == ScalarType::Byte   ? ScalarType::QUInt8
           : type == ScalarType::Char ? ScalarType::QInt8
           : type == ScalarType::Int  ? ScalarType::QInt32
                                      : type;
}
inline ScalarType toUnderlying(ScalarType type)
{
    switch (type) {
    case ScalarType::QUInt8:
    case ScalarType::QUInt4x2:
    case ScalarType::QUInt2x4:
        return ScalarType::Byte;
    case ScalarType::QInt8:
        return ScalarType::Char;
    case ScalarType::QInt32:
        return ScalarType::Int;
    default:
        return type;
    }
}
inline bool isUnderlying(ScalarType type, ScalarType quantized)
{
    return type == toUnderlying(quantized);
}
inline bool isSignedType(ScalarType type)
{
    TORCH_CHECK(!isQIntType(type), "isSignedType not supported for quantized types");
    TORCH_CHECK(type < ScalarType::Undefined, "Unknown ScalarType");
    return type != ScalarType::Byte && type != ScalarType::Bool;
}
inline ScalarType toRealValueType(ScalarType type)
{
    return type == ScalarType::ComplexHalf     ? ScalarType::Half
           : type == ScalarType::ComplexFloat  ? ScalarType::Float
           : type == ScalarType::ComplexDouble ? ScalarType::Double
                                               : type;
}
inline ScalarType toValueType(ScalarType type)
{
    return toRealValueType(type);
}
inline ScalarType toComplexType(ScalarType type)
{
    switch (type) {
    case ScalarType::BFloat16: // there is no complex type of bfloat16
    case ScalarType::Float:
        return ScalarType::ComplexFloat;
    case ScalarType::Half:
        return ScalarType::ComplexHalf;
    case ScalarType::Double:
        return ScalarType::ComplexDouble;
    default:
        TORCH_CHECK(isComplexType(type), "Unknown Complex ScalarType for ", type);
        return type;
    }
}
// Returns true if a result of the first type can be stored as the second. The kinds are bool, integer, float and
// complex; a number can become its own kind or a later kind.
inline bool canCast(const ScalarType from, const ScalarType to)
{
    return !(isComplexType(from) && !isComplexType(to)) && !(isFloatingType(from) && isIntegralType(to, false)) &&
           !(from != ScalarType::Bool && to == ScalarType::Bool);
}

// Returns the type of the result of an operation on elements of the two types.
inline ScalarType promoteTypes(ScalarType a, ScalarType b)
{
    if (a == ScalarType::Undefined || b == ScalarType::Undefined) {
        return ScalarType::Undefined;
    }
    if (a == b) {
        return a;
    }
    TORCH_CHECK(!isQIntType(a) && !isQIntType(b),
                "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, "
                "offending types: ",
                toString(a), " ", toString(b));
    if (isComplexType(a) || isComplexType(b)) {
        const ScalarType real = promoteTypes(toRealValueType(a), toRealValueType(b));
        return isFloatingType(real) ? toComplexType(real) : toComplexType(toRealValueType(isComplexType(a) ? a : b));
    }
    if (isFloatingType(a) && isFloatingType(b)) {
        const bool halves = isReducedFloatingType(a) && isReducedFloatingType(b);
        const ScalarType wider =
            a == ScalarType::Double || b == ScalarType::Double ? ScalarType::Double : ScalarType::Float;
        return halves ? ScalarType::Float : wider;
    }
    if (isFloatingType(a) || isFloatingType(b)) {
        return isFloatingType(a) ? a : b;
    }
    if (a == ScalarType::Bool || b == ScalarType::Bool) {
        return a == ScalarType::Bool ? b : a;
    }
    // The result is the wider one of two integer types, or int16 for uint8 with int8.
    const ScalarType wider = a > b ? a : b;
    return wider == ScalarType::Char ? ScalarType::Short : wider;
}

// CppTypeToScalarType<float>::value. Other types have no value, so that data_ptr of such a type does not compile.
template <class T> struct CppTypeToScalarType;
#define TAPER_CPP_TYPE(type, name)                                                                                     \
    template <> struct CppTypeToScalarType<type> : std::integral_constant<ScalarType, ScalarType::name> {              \
    };
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(TAPER_CPP_TYPE)
#undef TAPER_CPP_TYPE
// The other integer type of 64 bits: long long if int64_t is long, or the reverse.
template <>
struct CppTypeToScalarType<std::conditional_t<std::is_same<int64_t, long>::value, long long, long>>
    : std::integral_constant<ScalarType, sizeof(long) == 4 && std::is_same<int64_t, long long>::value
                                             ? ScalarType::Int
                                             : ScalarType::Long> {
};

namespace impl
{
template <ScalarType> struct ScalarTypeToCPPType;
#define TAPER_CPP_TYPE(type_, name)                                                                                    \
    template <> struct ScalarTypeToCPPType<ScalarType::name> {                                                         \
        using type = type_;                                                                                            \
        static type_ t;                                                                                                \
    };
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(TAPER_CPP_TYPE)
#undef TAPER_CPP_TYPE
template <ScalarType type> using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;
} // namespace impl

} // namespace c10

#include <taper/cpp/type_meta.h>

#endif
