/* SPDX-License-Identifier: BSD-2-Clause */
// c10::complex: a complex number with the memory layout of std::complex, and its functions. complex<float> converts to
// complex<double> without a cast; other conversions need a cast.
#ifndef TAPER_CPP_COMPLEX_H
#define TAPER_CPP_COMPLEX_H

#include <complex>
#include <istream>
#include <limits>

#include <taper/cpp/half.h>

namespace c10
{

template <class T> struct alignas(sizeof(T) * 2) complex {
    using value_type = T;
    T real_ = T(0);
    T imag_ = T(0);

    constexpr complex() = default;
    constexpr complex(const T &re, const T &im = T()) : real_(re), imag_(im)
    {
    }
    template <class U, std::enable_if_t<std::is_same<U, float>::value && std::is_same<T, double>::value, int> = 0>
    constexpr complex(const complex<U> &other) : real_(other.real()), imag_(other.imag())
    {
    }
    template <class U, std::enable_if_t<!std::is_same<U, T>::value &&
                                            !(std::is_same<U, float>::value && std::is_same<T, double>::value),
                                        int> = 0>
    explicit constexpr complex(const complex<U> &other)
        : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag()))
    {
    }
    template <class U>
    explicit constexpr complex(const std::complex<U> &other)
        : real_(static_cast<T>(other.real())), imag_(static_cast<T>(other.imag()))
    {
    }
    template <class U> explicit constexpr operator std::complex<U>() const
    {
        return std::complex<U>(static_cast<U>(real_), static_cast<U>(imag_));
    }
    explicit constexpr operator bool() const
    {
        return real() != T(0) || imag() != T(0);
    }

    constexpr complex<T> &operator=(T re)
    {
        real_ = re;
        imag_ = T(0);
        return *this;
    }
    constexpr complex<T> &operator+=(T re)
    {
        real_ += re;
        return *this;
    }
    constexpr complex<T> &operator-=(T re)
    {
        real_ -= re;
        return *this;
    }
    constexpr complex<T> &operator*=(T re)
    {
        real_ *= re;
        imag_ *= re;
        return *this;
    }
    constexpr complex<T> &operator/=(T re)
    {
        real_ /= re;
        imag_ /= re;
        return *this;
    }
    template <class U> constexpr complex<T> &operator=(const complex<U> &other)
    {
        real_ = static_cast<T>(other.real());
        imag_ = static_cast<T>(other.imag());
        return *this;
    }
    template <class U> constexpr complex<T> &operator=(const std::complex<U> &other)
    {
        real_ = static_cast<T>(other.real());
        imag_ = static_cast<T>(other.imag());
        return *this;
    }
    template <class U> constexpr complex<T> &operator+=(const complex<U> &other)
    {
        real_ += static_cast<T>(other.real());
        imag_ += static_cast<T>(other.imag());
        return *this;
    }
    template <class U> constexpr complex<T> &operator-=(const complex<U> &other)
    {
        real_ -= static_cast<T>(other.real());
        imag_ -= static_cast<T>(other.imag());
        return *this;
    }
    template <class U> constexpr complex<T> &operator*=(const complex<U> &other)
    {
        const T a = real_, b = imag_, c = static_cast<T>(other.real()), d = static_cast<T>(other.imag());
        real_ = a * c - b * d;
        imag_ = a * d + b * c;
        return *this;
    }
    // Divides by a denominator that is scaled by its larger part, so that the square of the denominator cannot
    // overflow.
    template <class U> constexpr complex<T> &operator/=(const complex<U> &other)
    {
        const T a = real_, b = imag_, c = static_cast<T>(other.real()), d = static_cast<T>(other.imag());
        const T abs_c = c < T(0) ? -c : c, abs_d = d < T(0) ? -d : d;
        if (abs_c >= abs_d) {
            if (abs_c == T(0) && abs_d == T(0)) {
                real_ = a / abs_c;
                imag_ = b / abs_d;
                return *this;
            }
            const T ratio = d / c, scale = T(1) / (c + d * ratio);
            real_ = (a + b * ratio) * scale;
            imag_ = (b - a * ratio) * scale;
        } else {
            const T ratio = c / d, scale = T(1) / (d + c * ratio);
            real_ = (a * ratio + b) * scale;
            imag_ = (b * ratio - a) * scale;
        }
        return *this;
    }

    constexpr T real() const
    {
        return real_;
    }
    constexpr T imag() const
    {
        return imag_;
    }
    constexpr void real(T value)
    {
        real_ = value;
    }
    constexpr void imag(T value)
    {
        imag_ = value;
    }
};

template <class T> constexpr complex<T> operator+(const complex<T> &value)
{
    return value;
}
template <class T> constexpr complex<T> operator-(const complex<T> &value)
{
    return complex<T>(-value.real(), -value.imag());
}
// Defines an operator of two complex numbers, of a complex and a real number, and of a complex number and an integer.
#define TAPER_CPP_COMPLEX_OPERATOR(op)                                                                                 \
    template <class T> constexpr complex<T> operator op(const complex<T> &a, const complex<T> &b)                      \
    {                                                                                                                  \
        complex<T> result = a;                                                                                         \
        result op## = b;                                                                                               \
        return result;                                                                                                 \
    }                                                                                                                  \
    template <class T> constexpr complex<T> operator op(const complex<T> &a, const T &b)                               \
    {                                                                                                                  \
        complex<T> result = a;                                                                                         \
        result op## = b;                                                                                               \
        return result;                                                                                                 \
    }                                                                                                                  \
    template <class T> constexpr complex<T> operator op(const T &a, const complex<T> &b)                               \
    {                                                                                                                  \
        complex<T> result(a, T());                                                                                     \
        result op## = b;                                                                                               \
        return result;                                                                                                 \
    }                                                                                                                  \
    template <class T, class I, std::enable_if_t<std::is_integral<I>::value, int> = 0>                                 \
    constexpr complex<T> operator op(const complex<T> &a, const I &b)                                                  \
    {                                                                                                                  \
        return a op static_cast<T>(b);                                                                                 \
    }                                                                                                                  \
    template <class T, class I, std::enable_if_t<std::is_integral<I>::value, int> = 0>                                 \
    constexpr complex<T> operator op(const I &a, const complex<T> &b)                                                  \
    {                                                                                                                  \
        return static_cast<T>(a) op b;                                                                                 \
    }
TAPER_CPP_COMPLEX_OPERATOR(+)
TAPER_CPP_COMPLEX_OPERATOR(-)
TAPER_CPP_COMPLEX_OPERATOR(*)
TAPER_CPP_COMPLEX_OPERATOR(/)
#undef TAPER_CPP_COMPLEX_OPERATOR
template <class T> constexpr bool operator==(const complex<T> &a, const complex<T> &b)
{
    return a.real() == b.real() && a.imag() == b.imag();
}
template <class T> constexpr bool operator==(const complex<T> &a, const T &b)
{
    return a.real() == b && a.imag() == T();
}
template <class T> constexpr bool operator==(const T &a, const complex<T> &b)
{
    return b == a;
}
template <class T> constexpr bool operator!=(const complex<T> &a, const complex<T> &b)
{
    return !(a == b);
}
template <class T> constexpr bool operator!=(const complex<T> &a, const T &b)
{
    return !(a == b);
}
template <class T> constexpr bool operator!=(const T &a, const complex<T> &b)
{
    return !(b == a);
}
template <class Char, class Traits, class T>
std::basic_ostream<Char, Traits> &operator<<(std::basic_ostream<Char, Traits> &out, const complex<T> &value)
{
    return out << static_cast<std::complex<T>>(value);
}
template <class Char, class Traits, class T>
std::basic_istream<Char, Traits> &operator>>(std::basic_istream<Char, Traits> &in, complex<T> &value)
{
    std::complex<T> read;
    in >> read;
    value = read;
    return in;
}
template <class T> complex<T> polar(const T &radius, const T &angle = T())
{
    return static_cast<complex<T>>(std::polar(radius, angle));
}

template <class T> struct is_complex : std::false_type {
};
template <class T> struct is_complex<std::complex<T>> : std::true_type {
};
template <class T> struct is_complex<complex<T>> : std::true_type {
};
template <class T> struct scalar_value_type {
    using type = T;
};
template <class T> struct scalar_value_type<std::complex<T>> {
    using type = T;
};
template <class T> struct scalar_value_type<complex<T>> {
    using type = T;
};

inline namespace complex_literals
{
constexpr complex<float> operator""_if(long double imag)
{
    return complex<float>(0.0F, static_cast<float>(imag));
}
constexpr complex<double> operator""_id(long double imag)
{
    return complex<double>(0.0, static_cast<double>(imag));
}
constexpr complex<float> operator""_if(unsigned long long imag)
{
    return complex<float>(0.0F, static_cast<float>(imag));
}
constexpr complex<double> operator""_id(unsigned long long imag)
{
    return complex<double>(0.0, static_cast<double>(imag));
}
} // namespace complex_literals

// The mathematical functions, which namespace std has too.
namespace complex_functions
{
#define TAPER_CPP_COMPLEX_FUNCTION(name)                                                                               \
    template <class T> c10::complex<T> name(const c10::complex<T> &value)                                              \
    {                                                                                                                  \
        return static_cast<c10::complex<T>>(std::name(static_cast<std::complex<T>>(value)));                           \
    }
TAPER_CPP_COMPLEX_FUNCTION(exp)
TAPER_CPP_COMPLEX_FUNCTION(log)
TAPER_CPP_COMPLEX_FUNCTION(log10)
TAPER_CPP_COMPLEX_FUNCTION(sqrt)
TAPER_CPP_COMPLEX_FUNCTION(sin)
TAPER_CPP_COMPLEX_FUNCTION(cos)
TAPER_CPP_COMPLEX_FUNCTION(tan)
TAPER_CPP_COMPLEX_FUNCTION(asin)
TAPER_CPP_COMPLEX_FUNCTION(acos)
TAPER_CPP_COMPLEX_FUNCTION(atan)
TAPER_CPP_COMPLEX_FUNCTION(sinh)
TAPER_CPP_COMPLEX_FUNCTION(cosh)
TAPER_CPP_COMPLEX_FUNCTION(tanh)
TAPER_CPP_COMPLEX_FUNCTION(asinh)
TAPER_CPP_COMPLEX_FUNCTION(acosh)
TAPER_CPP_COMPLEX_FUNCTION(atanh)
TAPER_CPP_COMPLEX_FUNCTION(conj)
TAPER_CPP_COMPLEX_FUNCTION(proj)
#undef TAPER_CPP_COMPLEX_FUNCTION
template <class T> T abs(const c10::complex<T> &value)
{
    return std::abs(static_cast<std::complex<T>>(value));
}
template <class T> T arg(const c10::complex<T> &value)
{
    return std::arg(static_cast<std::complex<T>>(value));
}
template <class T> constexpr T norm(const c10::complex<T> &value)
{
    return value.real() * value.real() + value.imag() * value.imag();
}
template <class T> constexpr T real(const c10::complex<T> &value)
{
    return value.real();
}
template <class T> constexpr T imag(const c10::complex<T> &value)
{
    return value.imag();
}
template <class T> c10::complex<T> log2(const c10::complex<T> &value)
{
    return log(value) / static_cast<T>(0.693147180559945309417232121458176568L);
}
template <class T> c10::complex<T> pow(const c10::complex<T> &base, const c10::complex<T> &exponent)
{
    return static_cast<c10::complex<T>>(
        std::pow(static_cast<std::complex<T>>(base), static_cast<std::complex<T>>(exponent)));
}
template <class T> c10::complex<T> pow(const c10::complex<T> &base, const T &exponent)
{
    return static_cast<c10::complex<T>>(std::pow(static_cast<std::complex<T>>(base), exponent));
}
template <class T> c10::complex<T> pow(const T &base, const c10::complex<T> &exponent)
{
    return static_cast<c10::complex<T>>(std::pow(base, static_cast<std::complex<T>>(exponent)));
}
} // namespace complex_functions

} // namespace c10

namespace std
{
using c10::complex_functions::abs;
using c10::complex_functions::acos;
using c10::complex_functions::acosh;
using c10::complex_functions::arg;
using c10::complex_functions::asin;
using c10::complex_functions::asinh;
using c10::complex_functions::atan;
using c10::complex_functions::atanh;
using c10::complex_functions::conj;
using c10::complex_functions::cos;
using c10::complex_functions::cosh;
using c10::complex_functions::exp;
using c10::complex_functions::imag;
using c10::complex_functions::log;
using c10::complex_functions::log10;
using c10::complex_functions::log2;
using c10::complex_functions::norm;
using c10::complex_functions::pow;
using c10::complex_functions::proj;
using c10::complex_functions::real;
using c10::complex_functions::sin;
using c10::complex_functions::sinh;
using c10::complex_functions::sqrt;
using c10::complex_functions::tan;
using c10::complex_functions::tanh;
template <class T> class numeric_limits<c10::complex<T>> : public numeric_limits<T>
{
};
} // namespace std

#endif
