/* SPDX-License-Identifier: BSD-2-Clause */
// at::Scalar: a number of any kind, as an argument.
#ifndef TAPER_CPP_SCALAR_H
#define TAPER_CPP_SCALAR_H

#include <type_traits>

#include <taper/cpp/scalar_type.h>
#include <taper/cpp/type_cast.h>

namespace c10
{

class Scalar
{
  public:
    Scalar() : Scalar(int64_t{0})
    {
    }
    template <class T, std::enable_if_t<std::is_integral<T>::value, int> = 0>
    Scalar(T number)
        : type_(std::is_same<T, bool>::value ? kBool : kLong), int_(static_cast<int64_t>(number)),
          re_(static_cast<double>(number))
    {
    }
    template <class T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>
    Scalar(T number) : type_(kDouble), int_(0), re_(static_cast<double>(number))
    {
    }
    Scalar(Half number) : Scalar(static_cast<double>(static_cast<float>(number)))
    {
    }
    Scalar(BFloat16 number) : Scalar(static_cast<double>(static_cast<float>(number)))
    {
    }
    Scalar(complex<double> number) : type_(kComplexDouble), int_(0), re_(number.real()), im_(number.imag())
    {
    }
    Scalar(complex<float> number) : Scalar(complex<double>(number))
    {
    }
    Scalar(complex<Half> number)
        : Scalar(complex<double>(static_cast<float>(number.real()), static_cast<float>(number.imag())))
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
    bool isSymInt() const
    {
        return false;
    }
    bool isSymFloat() const
    {
        return false;
    }
    bool isSymbolic() const
    {
        return false;
    }

    // Conversions throw if the type cannot hold the number.
    template <class T> T to() const
    {
        return checked<T>(typeid(T).name());
    }
#define TAPER_CPP_TO(type, name)                                                                                       \
    type to##name() const                                                                                              \
    {                                                                                                                  \
        return checked<type>(#type);                                                                                   \
    }
    AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(TAPER_CPP_TO)
#undef TAPER_CPP_TO

    template <class T, std::enable_if_t<!is_complex<T>::value, int> = 0> bool equal(T number) const
    {
        if (isComplex()) {
            return re_ == static_cast<double>(number) && im_ == 0;
        }
        if (isFloatingPoint()) {
            return re_ == static_cast<double>(number);
        }
        return isIntegral(false) && int_ == static_cast<int64_t>(number);
    }
    template <class T, std::enable_if_t<is_complex<T>::value, int> = 0> bool equal(T number) const
    {
        const double re = static_cast<double>(number.real()), im = static_cast<double>(number.imag());
        return !isBoolean() && (isIntegral(false) ? static_cast<double>(int_) : re_) == re && im_ == im;
    }
    bool equal(bool flag) const
    {
        return isBoolean() && (int_ != 0) == flag;
    }
    Scalar operator-() const
    {
        TORCH_CHECK(!isBoolean(), "torch boolean negative, the `-` operator, is not supported.");
        return isComplex() ? Scalar(-toComplexDouble()) : isFloatingPoint() ? Scalar(-re_) : Scalar(-int_);
    }
    Scalar conj() const
    {
        return isComplex() ? Scalar(std::conj(toComplexDouble())) : *this;
    }
    Scalar log() const
    {
        return isComplex() ? Scalar(std::log(toComplexDouble()))
                           : Scalar(std::log(isFloatingPoint() ? re_ : static_cast<double>(int_)));
    }

  private:
    template <class T> T checked(const char *name) const
    {
        switch (type_) {
        case kDouble:
            return checked_convert<T>(re_, name);
        case kComplexDouble:
            return checked_convert<T>(complex<double>(re_, im_), name);
        case kBool:
            return checked_convert<T>(int_ != 0, name);
        default:
            return checked_convert<T>(int_, name);
        }
    }
    ScalarType type_;
    int64_t int_;
    double re_, im_ = 0;
};
#define TAPER_CPP_TO(type, name)                                                                                       \
    template <> inline type Scalar::to<type>() const                                                                   \
    {                                                                                                                  \
        return to##name();                                                                                             \
    }
AT_FORALL_SCALAR_TYPES_WITH_COMPLEX(TAPER_CPP_TO)
#undef TAPER_CPP_TO

inline std::ostream &operator<<(std::ostream &out, const Scalar &number)
{
    return number.isFloatingPoint() ? out << number.toDouble()
           : number.isComplex()     ? out << number.toComplexDouble()
           : number.isBoolean()     ? out << (number.toBool() ? "true" : "false")
                                    : out << number.toLong();
}
inline std::string toString(const Scalar &number)
{
    return str(number);
}

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
