/* SPDX-License-Identifier: BSD-2-Clause */
// c10::Half and c10::BFloat16: 16-bit floats. Arithmetic widens them to float and rounds the result to the nearest
// number, or to the even one if two are equally near.
#ifndef TAPER_CPP_HALF_H
#define TAPER_CPP_HALF_H

#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <type_traits>

#include <taper/cpp/exception.h>

namespace c10
{

namespace detail
{
inline uint32_t float_bits(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
inline float bits_float(uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline float half_to_float(uint16_t half)
{
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16, bits = half & 0x7fffU;
    if (bits >= 0x7c00U) { // infinity or NaN
        return bits_float(sign | 0x7f800000U | (bits << 13));
    }
    if (bits >= 0x0400U) {
        return bits_float(sign | ((bits << 13) + 0x38000000U));
    }
    // A subnormal is a multiple of 2^-24.
    return bits_float(sign | float_bits(static_cast<float>(bits) * (1.0F / 16777216.0F)));
}
inline uint16_t float_to_half(float value)
{
    const uint32_t all = float_bits(value), sign = (all >> 16) & 0x8000U, bits = all & 0x7fffffffU;
    if (bits > 0x7f800000U) {
        return static_cast<uint16_t>(sign | 0x7e00U); // NaN
    }
    if (bits >= 0x47800000U) { // 65536, beyond all halves
        return static_cast<uint16_t>(sign | 0x7c00U);
    }
    if (bits >= 0x38800000U) { // 2^-14, the smallest normal half
        const uint32_t rounded = bits + 0x0fffU + ((bits >> 13) & 1U);
        return static_cast<uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
    }
    // After 0.5 is added, the last bits of the sum count multiples of 2^-24: the processor has rounded the number to a
    // subnormal half.
    return static_cast<uint16_t>(sign | (float_bits(bits_float(bits) + 0.5F) - 0x3f000000U));
}
inline float bfloat16_to_float(uint16_t half)
{
    return bits_float(static_cast<uint32_t>(half) << 16);
}
inline uint16_t float_to_bfloat16(float value)
{
    const uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return 0x7fc0U; // NaN
    }
    return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}
} // namespace detail

struct alignas(2) Half {
    uint16_t x;
    struct from_bits_t {
    };
    static constexpr from_bits_t from_bits()
    {
        return from_bits_t();
    }
    Half() = default;
    constexpr Half(uint16_t bits, from_bits_t) : x(bits)
    {
    }
    Half(float value) : x(detail::float_to_half(value))
    {
    }
    operator float() const
    {
        return detail::half_to_float(x);
    }
};
struct alignas(2) BFloat16 {
    uint16_t x;
    struct from_bits_t {
    };
    static constexpr from_bits_t from_bits()
    {
        return from_bits_t();
    }
    BFloat16() = default;
    constexpr BFloat16(uint16_t bits, from_bits_t) : x(bits)
    {
    }
    BFloat16(float value) : x(detail::float_to_bfloat16(value))
    {
    }
    operator float() const
    {
        return detail::bfloat16_to_float(x);
    }
};

// Defines an operator of a 16-bit type. With an operand of the same type or an integer it returns the 16-bit type; with
// a float or a double it returns the operand's type.
#define TAPER_CPP_HALF_OPERATOR(type, op)                                                                              \
    inline type operator op(type a, type b)                                                                            \
    {                                                                                                                  \
        return static_cast<float>(a) op static_cast<float>(b);                                                         \
    }                                                                                                                  \
    inline float operator op(type a, float b)                                                                          \
    {                                                                                                                  \
        return static_cast<float>(a) op b;                                                                             \
    }                                                                                                                  \
    inline float operator op(float a, type b)                                                                          \
    {                                                                                                                  \
        return a op static_cast<float>(b);                                                                             \
    }                                                                                                                  \
    inline double operator op(type a, double b)                                                                        \
    {                                                                                                                  \
        return static_cast<double>(static_cast<float>(a)) op b;                                                        \
    }                                                                                                                  \
    inline double operator op(double a, type b)                                                                        \
    {                                                                                                                  \
        return a op static_cast<double>(static_cast<float>(b));                                                        \
    }                                                                                                                  \
    inline type operator op(type a, int b)                                                                             \
    {                                                                                                                  \
        return a op static_cast<type>(static_cast<float>(b));                                                          \
    }                                                                                                                  \
    inline type operator op(int a, type b)                                                                             \
    {                                                                                                                  \
        return static_cast<type>(static_cast<float>(a)) op b;                                                          \
    }                                                                                                                  \
    inline type operator op(type a, int64_t b)                                                                         \
    {                                                                                                                  \
        return a op static_cast<type>(static_cast<float>(b));                                                          \
    }                                                                                                                  \
    inline type operator op(int64_t a, type b)                                                                         \
    {                                                                                                                  \
        return static_cast<type>(static_cast<float>(a)) op b;                                                          \
    }                                                                                                                  \
    inline type &operator op##=(type &a, const type &b)                                                                \
    {                                                                                                                  \
        a = a op b;                                                                                                    \
        return a;                                                                                                      \
    }                                                                                                                  \
    inline float &operator op##=(float &a, type b)                                                                     \
    {                                                                                                                  \
        return a op## = static_cast<float>(b);                                                                         \
    }
#define TAPER_CPP_HALF_OPERATORS(type)                                                                                 \
    TAPER_CPP_HALF_OPERATOR(type, +)                                                                                   \
    TAPER_CPP_HALF_OPERATOR(type, -)                                                                                   \
    TAPER_CPP_HALF_OPERATOR(type, *)                                                                                   \
    TAPER_CPP_HALF_OPERATOR(type, /)                                                                                   \
    inline type operator-(const type &a)                                                                               \
    {                                                                                                                  \
        return -static_cast<float>(a);                                                                                 \
    }                                                                                                                  \
    inline std::ostream &operator<<(std::ostream &out, const type &value)                                              \
    {                                                                                                                  \
        return out << static_cast<float>(value);                                                                       \
    }
TAPER_CPP_HALF_OPERATORS(Half)
TAPER_CPP_HALF_OPERATORS(BFloat16)
#undef TAPER_CPP_HALF_OPERATORS
#undef TAPER_CPP_HALF_OPERATOR

// Operators on the bits of bfloat16 numbers.
inline BFloat16 operator|(const BFloat16 &a, const BFloat16 &b)
{
    return BFloat16(static_cast<uint16_t>(a.x | b.x), BFloat16::from_bits());
}
inline BFloat16 operator^(const BFloat16 &a, const BFloat16 &b)
{
    return BFloat16(static_cast<uint16_t>(a.x ^ b.x), BFloat16::from_bits());
}
inline BFloat16 operator&(const BFloat16 &a, const BFloat16 &b)
{
    return BFloat16(static_cast<uint16_t>(a.x & b.x), BFloat16::from_bits());
}

} // namespace c10

namespace std
{
// digits: number of bits of the significand, including the leading 1. The constants are bit patterns.
#define TAPER_CPP_LIMITS(type, digits_, digits10_, max_digits10_, min_exponent_, min_exponent10_, max_exponent_,       \
                         max_exponent10_, min_, lowest_, max_, epsilon_, round_, infinity_, nan_, signaling_, tiny_)   \
    template <> class numeric_limits<type>                                                                             \
    {                                                                                                                  \
      public:                                                                                                          \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;           \
        static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;                     \
        static constexpr auto has_denorm = numeric_limits<float>::has_denorm;                                          \
        static constexpr auto has_denorm_loss = numeric_limits<float>::has_denorm_loss;                                \
        static constexpr auto round_style = numeric_limits<float>::round_style;                                        \
        static constexpr bool is_iec559 = digits_ == 11, is_bounded = true, is_modulo = false;                         \
        static constexpr int digits = digits_, digits10 = digits10_, max_digits10 = max_digits10_, radix = 2;          \
        static constexpr int min_exponent = min_exponent_, min_exponent10 = min_exponent10_;                           \
        static constexpr int max_exponent = max_exponent_, max_exponent10 = max_exponent10_;                           \
        static constexpr auto traps = numeric_limits<float>::traps;                                                    \
        static constexpr auto tinyness_before = numeric_limits<float>::tinyness_before;                                \
        static constexpr type min()                                                                                    \
        {                                                                                                              \
            return type(min_, type::from_bits());                                                                      \
        }                                                                                                              \
        static constexpr type lowest()                                                                                 \
        {                                                                                                              \
            return type(lowest_, type::from_bits());                                                                   \
        }                                                                                                              \
        static constexpr type max()                                                                                    \
        {                                                                                                              \
            return type(max_, type::from_bits());                                                                      \
        }                                                                                                              \
        static constexpr type epsilon()                                                                                \
        {                                                                                                              \
            return type(epsilon_, type::from_bits());                                                                  \
        }                                                                                                              \
        static constexpr type round_error()                                                                            \
        {                                                                                                              \
            return type(round_, type::from_bits());                                                                    \
        }                                                                                                              \
        static constexpr type infinity()                                                                               \
        {                                                                                                              \
            return type(infinity_, type::from_bits());                                                                 \
        }                                                                                                              \
        static constexpr type quiet_NaN()                                                                              \
        {                                                                                                              \
            return type(nan_, type::from_bits());                                                                      \
        }                                                                                                              \
        static constexpr type signaling_NaN()                                                                          \
        {                                                                                                              \
            return type(signaling_, type::from_bits());                                                                \
        }                                                                                                              \
        static constexpr type denorm_min()                                                                             \
        {                                                                                                              \
            return type(tiny_, type::from_bits());                                                                     \
        }                                                                                                              \
    };
TAPER_CPP_LIMITS(c10::Half, 11, 3, 5, -13, -4, 16, 4, 0x0400, 0xfbff, 0x7bff, 0x1400, 0x3800, 0x7c00, 0x7e00, 0x7d00,
                 0x0001)
TAPER_CPP_LIMITS(c10::BFloat16, 8, 2, 4, -125, -37, 128, 38, 0x0080, 0xff7f, 0x7f7f, 0x3c00, 0x3f00, 0x7f80, 0x7fc0,
                 0x7f80, 0x0001)
#undef TAPER_CPP_LIMITS
} // namespace std

#endif
