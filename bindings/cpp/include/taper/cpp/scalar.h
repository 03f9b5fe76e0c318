/* SPDX-License-Identifier: BSD-2-Clause */
// at::Scalar: a number of any kind, as an argument.
#ifndef TAPER_CPP_SCALAR_H
#define TAPER_CPP_SCALAR_H

#include <type_traits>

#include <taper/cpp/scalar_type.h>

namespace c10
{

class Scalar
{
  public:
    Scalar() : Scalar(int64_t{0})
    {
    }
    template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0> Scalar(T number)
    {
        if (std::is_same<T, bool>::value) {
            type_ = kBool;
        } else {
            type_ = std::is_integral<T>::value ? kLong : kDouble;
        }
        int_ = std::is_integral<T>::value ? static_cast<int64_t>(number) : 0;
        re_ = static_cast<double>(number);
    }
    Scalar(Half number) : Scalar(static_cast<float>(number))
    {
    }
    Scalar(BFloat16 number) : Scalar(static_cast<float>(number))
    {
    }
    Scalar(c10::complex<float> number) : Scalar(c10::complex<double>(number.real(), number.imag()))
    {
    }
    Scalar(c10::complex<double> number) : type_(kComplexDouble), int_(0), re_(number.real()), im_(number.imag())
    {
    }

    ScalarType type() const
    {
        return type_;
    }
    bool isFloatingPoint() const
    {
        return type_ == kDouble;
    }
    bool isComplex() const
    {
        return type_ == kComplexDouble;
    }
    bool isBoolean() const
    {
        return type_ == kBool;
    }
    bool isIntegral(bool with_bool = false) const
    {
        return type_ == kLong || (with_bool && type_ == kBool);
    }
    template <class T> T to() const
    {
        return isIntegral(true) ? static_cast<T>(int_) : static_cast<T>(re_);
    }
    c10::complex<double> toComplexDouble() const
    {
        return {re_, im_};
    }
    double toDouble() const
    {
        return to<double>();
    }
    float toFloat() const
    {
        return to<float>();
    }
    int64_t toLong() const
    {
        return to<int64_t>();
    }
    int toInt() const
    {
        return to<int>();
    }
    bool toBool() const
    {
        return isIntegral(true) ? int_ != 0 : re_ != 0 || im_ != 0;
    }

  private:
    ScalarType type_;
    int64_t int_;
    double re_, im_ = 0;
};
template <> inline bool Scalar::to<bool>() const
{
    return toBool();
}

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
