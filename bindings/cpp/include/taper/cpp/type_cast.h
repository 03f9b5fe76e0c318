/* SPDX-License-Identifier: BSD-2-Clause */
// Conversions of numbers: c10::convert, and c10::checked_convert, which throws if the type cannot hold the number.
#ifndef TAPER_CPP_TYPE_CAST_H
#define TAPER_CPP_TYPE_CAST_H

#include <cmath>
#include <stdexcept>

#include <taper/cpp/complex.h>

namespace c10
{

namespace detail
{
// The real part of a number.
template <class T> constexpr T real_part(const T &value)
{
    return value;
}
template <class T> constexpr T real_part(const complex<T> &value)
{
    return value.real();
}
template <class To, bool Complex> struct Cast { // casts a number to a real number
    template <class From> static constexpr To from(const From &value)
    {
        return static_cast<To>(real_part(value));
    }
};
template <class To> struct Cast<To, true> {
    template <class From> static constexpr To from(const From &value)
    {
        return To(static_cast<typename To::value_type>(value));
    }
    template <class From> static constexpr To from(const complex<From> &value)
    {
        return To(static_cast<typename To::value_type>(value.real()),
                  static_cast<typename To::value_type>(value.imag()));
    }
};
} // namespace detail

// A complex number that becomes real loses its imaginary part.
template <class To, class From> To convert(From value)
{
    return detail::Cast<To, is_complex<To>::value>::from(value);
}

// Returns true if the type To cannot hold the number. Negative integers wrap around in unsigned types.
template <class To, class From, std::enable_if_t<std::is_same<From, bool>::value, int> = 0> bool overflows(From)
{
    return false;
}
template <class To, class From,
          std::enable_if_t<std::is_integral<From>::value && !std::is_same<From, bool>::value, int> = 0>
bool overflows(From value)
{
    using limits = std::numeric_limits<typename scalar_value_type<To>::type>;
    if (!limits::is_integer) { // every integer is within the range of every floating-point type except Half
        const double number = static_cast<double>(value);
        return number > static_cast<double>(limits::max()) || number < static_cast<double>(limits::lowest());
    }
    if (value < From()) {
        const uint64_t size = uint64_t() - static_cast<uint64_t>(value);
        return limits::is_signed ? size - 1 > static_cast<uint64_t>(limits::max())
                                 : size > static_cast<uint64_t>(limits::max());
    }
    return static_cast<uint64_t>(value) > static_cast<uint64_t>(limits::max());
}
template <class To, class From, std::enable_if_t<std::is_floating_point<From>::value, int> = 0>
bool overflows(From value)
{
    using limits = std::numeric_limits<typename scalar_value_type<To>::type>;
    if (limits::has_infinity && std::isinf(static_cast<double>(value))) {
        return false;
    }
    if (!limits::has_quiet_NaN && value != value) {
        return true;
    }
    return value < static_cast<From>(limits::lowest()) || value > static_cast<From>(limits::max());
}
template <class To, class From, std::enable_if_t<is_complex<From>::value, int> = 0> bool overflows(From value)
{
    if (!is_complex<To>::value && value.imag() != 0) {
        return true;
    }
    return overflows<typename scalar_value_type<To>::type>(value.real()) ||
           overflows<typename scalar_value_type<To>::type>(value.imag());
}

[[noreturn]] inline void report_overflow(const char *name)
{
    throw std::runtime_error(std::string("value cannot be converted to type ") + name + " without overflow");
}
// name: the name of the type for the error.
template <class To, class From> To checked_convert(From value, const char *name)
{
    if (!std::is_same<To, bool>::value && overflows<To>(value)) {
        report_overflow(name);
    }
    return convert<To>(value);
}

} // namespace c10

#endif
