/* SPDX-License-Identifier: BSD-2-Clause */
// torch::tensor(): a tensor of numbers that are written in the program, also as nested lists.
#ifndef TAPER_CPP_TENSOR_DATA_H
#define TAPER_CPP_TENSOR_DATA_H

#include <initializer_list>
#include <ostream>
#include <vector>

#include <taper/cpp/from_blob.h>
#include <taper/cpp/std_print.h>
#include <taper/cpp/tensor_ops.h>

namespace torch
{
namespace detail
{

// The types of numbers that torch::tensor() takes.
#define TAPER_CPP_NUMBERS(each)                                                                                        \
    each(uint8_t, Byte) each(int8_t, Char) each(int16_t, Short) each(int, Int) each(int64_t, Long) each(float, Float)  \
        each(double, Double) each(bool, Bool) each(c10::Half, Half) each(c10::BFloat16, BFloat16)                      \
            each(c10::complex<float>, ComplexFloat) each(c10::complex<double>, ComplexDouble)

// A number, an array of numbers, or a list of such containers.
class TensorDataContainer
{
  public:
    TensorDataContainer() : sizes_({0}), type_(c10::kFloat)
    {
    }
#define TAPER_CPP_NUMBER(number, name)                                                                                 \
    TensorDataContainer(number value) : type_(c10::ScalarType::name), numbers_{c10::Scalar(value)}                     \
    {                                                                                                                  \
    }                                                                                                                  \
    TensorDataContainer(c10::ArrayRef<number> values) : type_(c10::ScalarType::name)                                   \
    {                                                                                                                  \
        take(const_cast<number *>(values.data()), values.size());                                                      \
    }
    TAPER_CPP_NUMBERS(TAPER_CPP_NUMBER)
#undef TAPER_CPP_NUMBER
    template <class T> TensorDataContainer(const std::vector<T> &values) : TensorDataContainer(c10::ArrayRef<T>(values))
    {
    }
    TensorDataContainer(std::initializer_list<TensorDataContainer> list) : type_(list.begin()->type_)
    {
        const TensorDataContainer &first = *list.begin();
        for (const TensorDataContainer &each : list) {
            if (each.sizes_ != first.sizes_) {
                throw c10::Error(c10::str("Expected all sub-lists to have sizes: ", first.sizes_, " (e.g. ", first,
                                          "), but got sub-list ", each, " with sizes: ", each.sizes_));
            }
            if (each.type_ != type_) {
                throw c10::Error(c10::str("Expected all elements of the tensor to have the same scalar type: ", type_,
                                          ", but got element of scalar type: ", each.type_));
            }
        }
        sizes_.push_back(static_cast<int64_t>(list.size()));
        sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
        for (const TensorDataContainer &each : list) {
            if (each.array_.defined()) {
                throw c10::Error("arrays of numbers cannot be in a list of tensor(): stack() puts tensors together");
            }
            numbers_.insert(numbers_.end(), each.numbers_.begin(), each.numbers_.end());
        }
    }

    const std::vector<int64_t> &sizes() const
    {
        return sizes_;
    }
    const c10::ScalarType &scalar_type() const
    {
        return type_;
    }
    // Integers become int64 and floating-point numbers float32, unless the options name a dtype.
    at::Tensor convert_to_tensor(const c10::TensorOptions &options) const
    {
        const bool whole = type_ == c10::kInt || type_ == c10::kLong;
        const c10::ScalarType natural = whole ? c10::kLong : type_ == c10::kDouble ? c10::kFloat : type_;
        const at::Tensor all = array_.defined() ? array_ : collected();
        const at::Tensor made = all.to(options.dtype(options.dtype_opt().value_or(natural)), false, array_.defined());
        return made.set_requires_grad(options.requires_grad());
    }
    friend std::ostream &operator<<(std::ostream &out, const TensorDataContainer &data)
    {
        size_t next = 0;
        data.print(out, 0, next);
        return out;
    }

  private:
    void take(void *values, size_t count)
    {
        sizes_ = {static_cast<int64_t>(count)};
        array_ = at::from_blob(values, sizes_, c10::TensorOptions(type_)).clone();
    }
    // Returns the numbers as int64, float64 or complex128, which hold all of them exactly.
    at::Tensor collected() const
    {
        const bool whole = c10::isIntegralType(type_, true), complex = c10::isComplexType(type_);
        const c10::ScalarType wide = whole ? c10::kLong : complex ? c10::kComplexDouble : c10::kDouble;
        const at::Tensor all = at::empty(sizes_, c10::TensorOptions(wide));
        void *const to = all.data_ptr();
        for (size_t i = 0; i < numbers_.size(); i++) {
            if (whole) {
                static_cast<int64_t *>(to)[i] = numbers_[i].toLong();
            } else if (complex) {
                static_cast<c10::complex<double> *>(to)[i] = numbers_[i].toComplexDouble();
            } else {
                static_cast<double *>(to)[i] = numbers_[i].toDouble();
            }
        }
        return all;
    }
    void print(std::ostream &out, size_t depth, size_t &next) const
    {
        if (depth == sizes_.size()) {
            const c10::Scalar &number = numbers_[next++];
            number.isComplex()         ? out << number.toComplexDouble()
            : number.isFloatingPoint() ? out << number.toDouble()
                                       : out << number.toLong();
            return;
        }
        out << "{";
        for (int64_t i = 0; i < sizes_[depth] && !numbers_.empty(); i++) {
            out << (i == 0 ? "" : ", ");
            print(out, depth + 1, next);
        }
        out << "}";
    }

    std::vector<int64_t> sizes_;
    c10::ScalarType type_;
    std::vector<c10::Scalar> numbers_; // in the order of the elements
    at::Tensor array_;                 // the copy of an array; undefined for numbers and lists
};

} // namespace detail

inline at::Tensor tensor(const detail::TensorDataContainer &data, const c10::TensorOptions &options = {})
{
    return data.convert_to_tensor(options);
}

} // namespace torch

namespace at
{

// Return tensors with the dtype of the numbers.
template <class T> Tensor tensor(c10::ArrayRef<T> numbers, const c10::TensorOptions &options)
{
    const c10::ScalarType type = c10::CppTypeToScalarType<T>::value;
    return torch::detail::TensorDataContainer(numbers).convert_to_tensor(
        options.dtype(options.dtype_opt().value_or(type)));
}
template <class T> Tensor tensor(c10::ArrayRef<T> numbers)
{
    return at::tensor(numbers, c10::TensorOptions());
}
template <class T> Tensor tensor(std::initializer_list<T> numbers, const c10::TensorOptions &options = {})
{
    return at::tensor(c10::ArrayRef<T>(numbers.begin(), numbers.size()), options);
}
template <class T> Tensor tensor(const std::vector<T> &numbers, const c10::TensorOptions &options = {})
{
    return at::tensor(c10::ArrayRef<T>(numbers), options);
}
template <class T, class = decltype(c10::CppTypeToScalarType<T>::value)>
Tensor tensor(T number, const c10::TensorOptions &options = {})
{
    return at::tensor(c10::ArrayRef<T>(&number, 1), options.requires_grad(false))
        .reshape({})
        .set_requires_grad(options.requires_grad());
}

} // namespace at

#endif
