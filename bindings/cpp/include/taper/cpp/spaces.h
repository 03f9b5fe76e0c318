/* SPDX-License-Identifier: BSD-2-Clause */
// torch::fft, torch::linalg and torch::special: operators of at:: under names without the prefix.
#ifndef TAPER_CPP_SPACES_H
#define TAPER_CPP_SPACES_H

#include <taper/cpp/functions.h>
#include <taper/cpp/generated/spaces.h>

namespace torch
{

namespace fft
{
// Frequencies of the n elements of a transform, whose samples are at distance d.
inline at::Tensor fftfreq(int64_t n, const at::TensorOptions &options)
{
    return fftfreq(n, 1.0, options);
}
inline at::Tensor rfftfreq(int64_t n, const at::TensorOptions &options)
{
    return rfftfreq(n, 1.0, options);
}
} // namespace fft

// Functions whose names repeat the name of the namespace.
namespace linalg
{
inline at::Tensor linalg_det(const at::Tensor &self)
{
    return linalg::det(self);
}
inline at::Tensor linalg_norm(const at::Tensor &self, const c10::optional<c10::Scalar> &order,
                              c10::OptionalIntArrayRef dim, bool keepdim, c10::optional<c10::ScalarType> dtype)
{
    return linalg::norm(self, order, dim, keepdim, dtype);
}
inline at::Tensor linalg_norm(const at::Tensor &self, c10::string_view order, c10::OptionalIntArrayRef dim,
                              bool keepdim, c10::optional<c10::ScalarType> dtype)
{
    return linalg::norm(self, order, dim, keepdim, dtype);
}
inline at::Tensor &linalg_norm_out(at::Tensor &result, const at::Tensor &self, const c10::optional<c10::Scalar> &order,
                                   c10::OptionalIntArrayRef dim, bool keepdim, c10::optional<c10::ScalarType> dtype)
{
    return at::linalg_norm_out(result, self, order, dim, keepdim, dtype);
}
inline at::Tensor &linalg_norm_out(at::Tensor &result, const at::Tensor &self, c10::string_view order,
                                   c10::OptionalIntArrayRef dim, bool keepdim, c10::optional<c10::ScalarType> dtype)
{
    return at::linalg_norm_out(result, self, order, dim, keepdim, dtype);
}
// These functions have the result as their last argument.
inline at::Tensor &matrix_norm_out(const at::Tensor &self, const c10::Scalar &order, at::IntArrayRef dim, bool keepdim,
                                   c10::optional<c10::ScalarType> dtype, at::Tensor &result)
{
    return at::linalg_matrix_norm_out(result, self, order, dim, keepdim, dtype);
}
inline at::Tensor &matrix_norm_out(const at::Tensor &self, std::string order, at::IntArrayRef dim, bool keepdim,
                                   c10::optional<c10::ScalarType> dtype, at::Tensor &result)
{
    return at::linalg_matrix_norm_out(result, self, order, dim, keepdim, dtype);
}
inline at::Tensor &matrix_power_out(const at::Tensor &self, int64_t n, at::Tensor &result)
{
    return at::linalg_matrix_power_out(result, self, n);
}
inline at::Tensor &multi_dot_out(at::TensorList tensors, at::Tensor &result)
{
    return at::linalg_multi_dot_out(result, tensors);
}
} // namespace linalg

} // namespace torch

#endif
