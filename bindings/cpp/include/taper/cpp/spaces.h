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
// Frequencies of the elements of a transform of n elements at distance d.
inline at::Tensor fftfreq(int64_t n, const at::TensorOptions &options)
{
    return fftfreq(n, 1.0, options);
}
inline at::Tensor rfftfreq(int64_t n, const at::TensorOptions &options)
{
    return rfftfreq(n, 1.0, options);
}
} // namespace fft

} // namespace torch

#endif
