/* SPDX-License-Identifier: BSD-2-Clause */
// Functions that make and join tensors, of those that apps call.
#ifndef TAPER_CPP_FUNCTIONS_H
#define TAPER_CPP_FUNCTIONS_H

#include <initializer_list>

#include <taper/cpp/from_blob.h>
#include <taper/cpp/tensor_ops.h>

namespace taper
{
namespace cpp
{
// An operator that ends in "dtype, layout, device, pin_memory".
inline at::Tensor call_factory(const char *name, std::vector<c10::IValue> args, const c10::TensorOptions &options)
{
    if (options.device().type() != c10::kCPU) {
        throw c10::NotImplementedError(c10::str(name, ": there is no device ", options.device()));
    }
    args.emplace_back(options.dtype_opt());
    return call_tensor(name, args);
}
} // namespace cpp
} // namespace taper

namespace at
{

#define TAPER_CPP_SHAPED(name)                                                                                         \
    inline Tensor name(IntArrayRef sizes, const c10::TensorOptions &options = {})                                      \
    {                                                                                                                  \
        return taper::cpp::call_factory("aten::" #name, {sizes}, options);                                             \
    }
TAPER_CPP_SHAPED(zeros)
TAPER_CPP_SHAPED(ones)
TAPER_CPP_SHAPED(rand)
TAPER_CPP_SHAPED(randn)
#undef TAPER_CPP_SHAPED

inline Tensor empty(IntArrayRef sizes, const c10::TensorOptions &options = {},
                    c10::optional<c10::MemoryFormat> format = c10::nullopt)
{
    const c10::optional<c10::MemoryFormat> asked = format.has_value() ? format : options.memory_format_opt();
    return taper::cpp::call_tensor("aten::empty.memory_format",
                                   {sizes, options.dtype_opt(), c10::nullopt, c10::nullopt, c10::nullopt, asked});
}
inline Tensor full(IntArrayRef sizes, const c10::Scalar &value, const c10::TensorOptions &options = {})
{
    return taper::cpp::call_factory("aten::full", {sizes, value}, options);
}
inline Tensor eye(int64_t n, const c10::TensorOptions &options = {})
{
    return taper::cpp::call_factory("aten::eye", {n}, options);
}
inline Tensor arange(const c10::Scalar &end, const c10::TensorOptions &options = {})
{
    return taper::cpp::call_factory("aten::arange", {end}, options);
}
inline Tensor arange(const c10::Scalar &start, const c10::Scalar &end, const c10::TensorOptions &options = {})
{
    return taper::cpp::call_factory("aten::arange.start", {start, end}, options);
}
inline Tensor arange(const c10::Scalar &start, const c10::Scalar &end, const c10::Scalar &step,
                     const c10::TensorOptions &options = {})
{
    return taper::cpp::call_factory("aten::arange.start_step", {start, end, step}, options);
}
inline Tensor linspace(const c10::Scalar &start, const c10::Scalar &end, int64_t steps,
                       const c10::TensorOptions &options = {})
{
    return taper::cpp::call_factory("aten::linspace", {start, end, steps}, options);
}
inline Tensor logspace(const c10::Scalar &start, const c10::Scalar &end, int64_t steps, double base = 10.0,
                       const c10::TensorOptions &options = {})
{
    return taper::cpp::call_factory("aten::logspace", {start, end, steps, base}, options);
}
inline Tensor randint(int64_t high, IntArrayRef sizes, const c10::TensorOptions &options = c10::kLong)
{
    return taper::cpp::call_factory("aten::randint", {high, sizes}, options);
}
inline Tensor randint(int64_t low, int64_t high, IntArrayRef sizes, const c10::TensorOptions &options = c10::kLong)
{
    return taper::cpp::call_factory("aten::randint.low", {low, high, sizes}, options);
}
inline Tensor randperm(int64_t n, const c10::TensorOptions &options = c10::kLong)
{
    return taper::cpp::call_factory("aten::randperm", {n}, options);
}

inline Tensor cat(TensorList tensors, int64_t dim = 0)
{
    return taper::cpp::call_tensor("aten::cat", {tensors, dim});
}
inline Tensor stack(TensorList tensors, int64_t dim = 0)
{
    return taper::cpp::call_tensor("aten::stack", {tensors, dim});
}
inline Tensor matmul(const Tensor &a, const Tensor &b)
{
    return a.matmul(b);
}
inline Tensor softmax(const Tensor &self, int64_t dim, c10::optional<c10::ScalarType> dtype = c10::nullopt)
{
    return self.softmax(dim, dtype);
}
inline Tensor argmax(const Tensor &self, c10::optional<int64_t> dim = c10::nullopt, bool keepdim = false)
{
    return self.argmax(dim, keepdim);
}
inline std::tuple<Tensor, Tensor> topk(const Tensor &self, int64_t k, int64_t dim = -1, bool largest = true,
                                       bool sorted = true)
{
    return self.topk(k, dim, largest, sorted);
}
inline Tensor upsample_bilinear2d(const Tensor &self, IntArrayRef sizes, bool align_corners,
                                  c10::optional<double> scale_h = c10::nullopt,
                                  c10::optional<double> scale_w = c10::nullopt)
{
    return taper::cpp::call_tensor("aten::upsample_bilinear2d", {self, sizes, align_corners, scale_h, scale_w});
}

// A tensor of one dimension, a copy of these numbers.
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

inline Tensor operator+(const Tensor &a, const Tensor &b)
{
    return a.add(b);
}
inline Tensor operator-(const Tensor &a, const Tensor &b)
{
    return a.sub(b);
}
inline Tensor operator*(const Tensor &a, const Tensor &b)
{
    return a.mul(b);
}
inline Tensor operator/(const Tensor &a, const Tensor &b)
{
    return a.div(b);
}
inline Tensor operator+(const Tensor &a, const c10::Scalar &b)
{
    return a.add(b);
}
inline Tensor operator-(const Tensor &a, const c10::Scalar &b)
{
    return a.sub(b);
}
inline Tensor operator*(const Tensor &a, const c10::Scalar &b)
{
    return a.mul(b);
}
inline Tensor operator/(const Tensor &a, const c10::Scalar &b)
{
    return a.div(b);
}

} // namespace at

namespace torch
{
using namespace at;
}

#endif
