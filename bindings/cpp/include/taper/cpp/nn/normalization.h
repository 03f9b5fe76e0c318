/* SPDX-License-Identifier: BSD-2-Clause */
// Layer, group and local response normalization.
#ifndef TAPER_CPP_NN_NORMALIZATION_H
#define TAPER_CPP_NN_NORMALIZATION_H

#include <taper/cpp/nn/init.h>
#include <taper/cpp/nn/padding.h>

namespace torch
{
namespace nn
{

struct LayerNormOptions {
    LayerNormOptions(std::vector<int64_t> shape) : normalized_shape_(std::move(shape))
    {
    }
    TORCH_ARG(std::vector<int64_t>, normalized_shape);
    TORCH_ARG(double, eps) = 1e-5;
    TORCH_ARG(bool, elementwise_affine) = true;
};
struct GroupNormOptions {
    GroupNormOptions(int64_t groups, int64_t channels) : num_groups_(groups), num_channels_(channels)
    {
    }
    TORCH_ARG(int64_t, num_groups);
    TORCH_ARG(int64_t, num_channels);
    TORCH_ARG(double, eps) = 1e-5;
    TORCH_ARG(bool, affine) = true;
};
struct LocalResponseNormOptions {
    LocalResponseNormOptions(int64_t size) : size_(size)
    {
    }
    TORCH_ARG(int64_t, size);
    TORCH_ARG(double, alpha) = 1e-4;
    TORCH_ARG(double, beta) = 0.75;
    TORCH_ARG(double, k) = 1.;
};
struct CrossMapLRN2dOptions {
    CrossMapLRN2dOptions(int64_t size) : size_(size)
    {
    }
    TORCH_ARG(int64_t, size);
    TORCH_ARG(double, alpha) = 1e-4;
    TORCH_ARG(double, beta) = 0.75;
    TORCH_ARG(int64_t, k) = 1;
};

namespace functional
{
struct LayerNormFuncOptions {
    LayerNormFuncOptions(std::vector<int64_t> shape) : normalized_shape_(std::move(shape))
    {
    }
    TORCH_ARG(std::vector<int64_t>, normalized_shape);
    TORCH_ARG(Tensor, weight) = {};
    TORCH_ARG(Tensor, bias) = {};
    TORCH_ARG(double, eps) = 1e-5;
};
struct GroupNormFuncOptions {
    GroupNormFuncOptions(int64_t groups) : num_groups_(groups)
    {
    }
    TORCH_ARG(int64_t, num_groups);
    TORCH_ARG(Tensor, weight) = {};
    TORCH_ARG(Tensor, bias) = {};
    TORCH_ARG(double, eps) = 1e-5;
};
struct NormalizeFuncOptions {
    TORCH_ARG(double, p) = 2.0;
    TORCH_ARG(int64_t, dim) = 1;
    TORCH_ARG(double, eps) = 1e-12;
    TORCH_ARG(c10::optional<Tensor>, out) = c10::nullopt;
};
using LocalResponseNormFuncOptions = LocalResponseNormOptions;

inline Tensor normalize(const Tensor &input, NormalizeFuncOptions options = {})
{
    const Tensor norm = input.norm(options.p(), options.dim(), true).clamp_min(options.eps()).expand_as(input);
    return options.out().has_value() ? at::div_out(*options.out(), input, norm) : input / norm;
}
inline Tensor layer_norm(const Tensor &input, const LayerNormFuncOptions &options)
{
    return at::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(), options.eps());
}
inline Tensor group_norm(const Tensor &input, const GroupNormFuncOptions &options)
{
    return at::group_norm(input, options.num_groups(), options.weight(), options.bias(), options.eps(), true);
}
inline Tensor local_response_norm(const Tensor &input, const LocalResponseNormFuncOptions &options)
{
    const int64_t rank = input.dim(), size = options.size(), before = size / 2, after = (size - 1) / 2;
    TORCH_CHECK(rank >= 3, "Expected 3D or higher dimensionality input (got ", rank, " dimensions)");
    Tensor mean = input.mul(input).unsqueeze(1);
    if (rank == 3) {
        mean = detail::pad(mean, {0, 0, before, after}, torch::kConstant, 0);
        mean = at::avg_pool2d(mean, {size, 1}, 1).squeeze(1);
    } else {
        const IntArrayRef sizes = input.sizes();
        mean = mean.view({sizes[0], 1, sizes[1], sizes[2], -1});
        mean = detail::pad(mean, {0, 0, 0, 0, before, after}, torch::kConstant, 0);
        mean = at::avg_pool3d(mean, {size, 1, 1}, 1).squeeze(1).view(sizes);
    }
    return input / mean.mul(options.alpha()).add(options.k()).pow(options.beta());
}
} // namespace functional

namespace detail
{
// A module with a weight and a bias of one shape. At first the weight is 1 and the bias is 0.
template <class Derived, class Options> class AffineModule : public Cloneable<Derived>
{
  public:
    explicit AffineModule(const Options &from) : options(from)
    {
    }
    void reset_parameters()
    {
        if (weight.defined()) {
            init::ones_(weight);
            init::zeros_(bias);
        }
    }
    Options options;
    Tensor weight, bias;

  protected:
    void make(bool affine, IntArrayRef shape)
    {
        weight = this->register_parameter("weight", affine ? at::empty(shape) : Tensor(), affine);
        bias = this->register_parameter("bias", affine ? at::empty(shape) : Tensor(), affine);
        reset_parameters();
    }
};
} // namespace detail

class LayerNormImpl : public detail::AffineModule<LayerNormImpl, LayerNormOptions>
{
  public:
    TAPER_CPP_NN_LATE LayerNormImpl(std::vector<int64_t> shape) : LayerNormImpl(LayerNormOptions(std::move(shape)))
    {
    }
    TAPER_CPP_NN_LATE explicit LayerNormImpl(const LayerNormOptions &from) : AffineModule(from)
    {
        LayerNormImpl::reset();
    }
    void reset() override
    {
        make(options.elementwise_affine(), options.normalized_shape());
    }
    void pretty_print(std::ostream &out) const override
    {
        out << std::boolalpha << "torch::nn::LayerNorm(" << IntArrayRef(options.normalized_shape())
            << ", eps=" << options.eps() << ", elementwise_affine=" << options.elementwise_affine() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return at::layer_norm(input, options.normalized_shape(), weight, bias, options.eps());
    }
};
TORCH_MODULE(LayerNorm);

class GroupNormImpl : public detail::AffineModule<GroupNormImpl, GroupNormOptions>
{
  public:
    TAPER_CPP_NN_LATE GroupNormImpl(int64_t groups, int64_t channels)
        : GroupNormImpl(GroupNormOptions(groups, channels))
    {
    }
    TAPER_CPP_NN_LATE explicit GroupNormImpl(const GroupNormOptions &from) : AffineModule(from)
    {
        GroupNormImpl::reset();
    }
    void reset() override
    {
        make(options.affine(), options.num_channels());
    }
    void pretty_print(std::ostream &out) const override
    {
        out << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
            << ", eps=" << options.eps() << ", affine=" << options.affine() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return at::group_norm(input, options.num_groups(), weight, bias, options.eps(), true);
    }
};
TORCH_MODULE(GroupNorm);

class LocalResponseNormImpl : public detail::PlainModule<LocalResponseNormImpl, LocalResponseNormOptions>
{
  public:
    TAPER_CPP_NN_LATE explicit LocalResponseNormImpl(const LocalResponseNormOptions &from) : PlainModule(from)
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::LocalResponseNorm(" << options.size() << ", alpha=" << options.alpha()
            << ", beta=" << options.beta() << ", k=" << options.k() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return functional::local_response_norm(input, options);
    }
};
TORCH_MODULE(LocalResponseNorm);

class CrossMapLRN2dImpl : public detail::PlainModule<CrossMapLRN2dImpl, CrossMapLRN2dOptions>
{
  public:
    TAPER_CPP_NN_LATE explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions &from) : PlainModule(from)
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::CrossMapLRN2d(" << options.size() << ", alpha=" << options.alpha()
            << ", beta=" << options.beta() << ", k=" << options.k() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        TORCH_CHECK(input.dim() == 4);
        const int64_t channels = input.size(1), reach = (options.size() - 1) / 2 + 1;
        const Tensor square = at::pow(input, 2);
        Tensor scale = at::empty_like(input), first = scale.select(1, 0).zero_();
        for (int64_t c = 0; c < std::min(reach, channels); c++) {
            first.add_(square.select(1, c));
        }
        // The sum of a channel is the sum of the previous channel, plus the element that enters the window, minus the
        // element that leaves it.
        for (int64_t c = 1; c < channels; c++) {
            Tensor sum = scale.select(1, c).copy_(scale.select(1, c - 1));
            if (c < channels - reach + 1) {
                sum.add_(square.select(1, c + reach - 1), 1);
            }
            if (c > reach) {
                sum.add_(square.select(1, c - reach), -1);
            }
        }
        scale.mul_(options.alpha() / static_cast<double>(options.size())).add_(options.k());
        return at::pow(scale, -options.beta()).mul_(input);
    }
};
TORCH_MODULE(CrossMapLRN2d);

} // namespace nn
} // namespace torch

#endif
