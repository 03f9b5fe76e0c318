/* SPDX-License-Identifier: BSD-2-Clause */
// torch::nn::init: first values of weights. After torch::manual_seed they are the numbers that libtorch draws.
#ifndef TAPER_CPP_NN_INIT_H
#define TAPER_CPP_NN_INIT_H

#include <cmath>
#include <tuple>

#include <taper/cpp/functions.h>
#include <taper/cpp/nn/enum.h>

namespace torch
{
namespace nn
{
namespace init
{

using NonlinearityType =
    c10::variant<enumtype::kLinear, enumtype::kConv1D, enumtype::kConv2D, enumtype::kConv3D, enumtype::kConvTranspose1D,
                 enumtype::kConvTranspose2D, enumtype::kConvTranspose3D, enumtype::kSigmoid, enumtype::kTanh,
                 enumtype::kReLU, enumtype::kLeakyReLU>;
using FanModeType = c10::variant<enumtype::kFanIn, enumtype::kFanOut>;

// Returns the factor by which the standard deviation of weights is multiplied for a nonlinearity. param: the slope of
// LeakyReLU.
inline double calculate_gain(NonlinearityType nonlinearity, double param = 0.01)
{
    if (c10::holds_alternative<enumtype::kTanh>(nonlinearity)) {
        return 5.0 / 3.0;
    }
    if (c10::holds_alternative<enumtype::kReLU>(nonlinearity)) {
        return std::sqrt(2.0);
    }
    if (c10::holds_alternative<enumtype::kLeakyReLU>(nonlinearity)) {
        return std::sqrt(2.0 / (1 + std::pow(param, 2)));
    }
    return 1.0;
}

// Returns the number of inputs and of outputs of one unit of a layer with these weights.
inline std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor &tensor)
{
    const int64_t rank = tensor.dim();
    TORCH_CHECK(rank >= 2, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
    int64_t field = 1;
    for (int64_t d = 2; d < rank; d++) {
        field *= tensor.size(d);
    }
    return std::make_tuple(tensor.size(1) * field, tensor.size(0) * field);
}

inline Tensor constant_(Tensor tensor, Scalar value)
{
    return tensor.fill_(value);
}
inline Tensor ones_(Tensor tensor)
{
    return tensor.fill_(1);
}
inline Tensor zeros_(Tensor tensor)
{
    return tensor.zero_();
}
inline Tensor normal_(Tensor tensor, double mean = 0, double std = 1)
{
    return tensor.normal_(mean, std);
}
inline Tensor uniform_(Tensor tensor, double low = 0, double high = 1)
{
    return tensor.uniform_(low, high);
}

// Sets the weights of a convolution so that its output channels are copies of its first input channels.
inline Tensor dirac_(Tensor tensor)
{
    const int64_t rank = tensor.dim();
    TORCH_CHECK(rank >= 3 && rank <= 5, "Only tensors with 3, 4, or 5 dimensions are supported");
    tensor.zero_();
    for (int64_t i = 0; i < std::min(tensor.size(0), tensor.size(1)); i++) {
        Tensor middle = tensor.select(0, i).select(0, i);
        for (int64_t d = 2; d < rank; d++) {
            middle = middle.select(0, tensor.size(d) / 2);
        }
        middle.fill_(1);
    }
    return tensor;
}
inline Tensor eye_(Tensor matrix)
{
    TORCH_CHECK(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
    return at::eye_out(matrix, matrix.size(0), matrix.size(1));
}
inline Tensor orthogonal_(Tensor tensor, double gain = 1.0)
{
    TORCH_CHECK(tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported");
    const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
    Tensor flat = at::randn({rows, columns});
    if (rows < columns) {
        flat.t_();
    }
    Tensor q, r;
    std::tie(q, r) = at::linalg_qr(flat);
    q *= at::diag(r, 0).sign(); // makes the distribution uniform
    if (rows < columns) {
        q.t_();
    }
    tensor.view_as(q).copy_(q);
    return tensor.mul_(gain);
}
// sparsity: the fraction of each column that is zero.
inline Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01)
{
    TORCH_CHECK(tensor.dim() == 2, "Only tensors with 2 dimensions are supported");
    const int64_t rows = tensor.size(0), columns = tensor.size(1);
    const int64_t zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
    tensor.normal_(0, std);
    for (int64_t column = 0; column < columns; column++) {
        const Tensor chosen = at::randperm(rows).slice(0, 0, zeros);
        tensor.select(1, column).index_fill_(0, chosen, 0);
    }
    return tensor;
}

namespace detail
{
inline double kaiming_deviation(const Tensor &tensor, double a, const FanModeType &mode,
                                const NonlinearityType &nonlinearity)
{
    int64_t in, out;
    std::tie(in, out) = _calculate_fan_in_and_fan_out(tensor);
    const int64_t fan = c10::holds_alternative<enumtype::kFanIn>(mode) ? in : out;
    return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan));
}
inline double xavier_deviation(const Tensor &tensor, double gain)
{
    int64_t in, out;
    std::tie(in, out) = _calculate_fan_in_and_fan_out(tensor);
    return gain * std::sqrt(2.0 / static_cast<double>(in + out));
}
} // namespace detail

// a: the slope of the LeakyReLU after the layer.
inline Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = torch::kFanIn,
                              NonlinearityType nonlinearity = torch::kLeakyReLU)
{
    return tensor.normal_(0, detail::kaiming_deviation(tensor, a, mode, nonlinearity));
}
inline Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = torch::kFanIn,
                               NonlinearityType nonlinearity = torch::kLeakyReLU)
{
    const double bound = std::sqrt(3.0) * detail::kaiming_deviation(tensor, a, mode, nonlinearity);
    return tensor.uniform_(-bound, bound);
}
inline Tensor xavier_normal_(Tensor tensor, double gain = 1.0)
{
    return tensor.normal_(0, detail::xavier_deviation(tensor, gain));
}
inline Tensor xavier_uniform_(Tensor tensor, double gain = 1.0)
{
    const double bound = std::sqrt(3.0) * detail::xavier_deviation(tensor, gain);
    return tensor.uniform_(-bound, bound);
}

} // namespace init
} // namespace nn
} // namespace torch

#endif
