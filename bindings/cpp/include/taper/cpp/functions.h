/* SPDX-License-Identifier: BSD-2-Clause */
// at::tensor().
#ifndef TAPER_CPP_FUNCTIONS_H
#define TAPER_CPP_FUNCTIONS_H

#include <initializer_list>

#include <taper/cpp/from_blob.h>
#include <taper/cpp/tensor_ops.h>

namespace at
{

// Returns a 1-D tensor with a copy of the numbers.
template <class T> Tensor tensor(c10::ArrayRef<T> numbers, const c10::TensorOptions &options = {})
{
    const c10::ScalarType type = std::is_same<T, double>::value ? c10::kFloat : c10::CppTypeToScalarType<T>::value;
    const Tensor all = from_blob(const_cast<T *>(numbers.data()), {static_cast<int64_t>(numbers.size())},
                                 c10::CppTypeToScalarType<T>::value);
    const c10::ScalarType wanted = options.dtype_opt().value_or(std::is_same<T, int>::value ? c10::kLong : type);
    return all.to(wanted, false, true);
}
template <class T> Tensor tensor(std::initializer_list<T> numbers, const c10::TensorOptions &options = {})
{
    return tensor(c10::ArrayRef<T>(numbers.begin(), numbers.size()), options);
}
template <class T> Tensor tensor(const std::vector<T> &numbers, const c10::TensorOptions &options = {})
{
    return tensor(c10::ArrayRef<T>(numbers), options);
}
template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
Tensor tensor(T number, const c10::TensorOptions &options = {})
{
    return tensor(c10::ArrayRef<T>(&number, 1), options).reshape({});
}

} // namespace at

namespace torch
{
using namespace at;
}

#endif
