/* SPDX-License-Identifier: BSD-2-Clause */
// Average, maximum and power-average pooling, adaptive pooling and unpooling.
#ifndef TAPER_CPP_NN_POOLING_H
#define TAPER_CPP_NN_POOLING_H

#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

// The options kernel and stride. If the stride is not given, it equals the kernel.
#define TAPER_CPP_NN_POOL_ARGS(name)                                                                                   \
    name(ExpandingArray<D> kernel) : kernel_size_(kernel), stride_(kernel)                                             \
    {                                                                                                                  \
    }                                                                                                                  \
    TORCH_ARG(ExpandingArray<D>, kernel_size);                                                                         \
    TORCH_ARG(ExpandingArray<D>, stride);                                                                              \
    TORCH_ARG(ExpandingArray<D>, padding) = 0;
template <size_t D> struct AvgPoolOptions {
    TAPER_CPP_NN_POOL_ARGS(AvgPoolOptions)
    TORCH_ARG(bool, ceil_mode) = false;
    TORCH_ARG(bool, count_include_pad) = true;
    TORCH_ARG(c10::optional<int64_t>, divisor_override) = c10::nullopt;
};
template <size_t D> struct MaxPoolOptions {
    TAPER_CPP_NN_POOL_ARGS(MaxPoolOptions)
    TORCH_ARG(ExpandingArray<D>, dilation) = 1;
    TORCH_ARG(bool, ceil_mode) = false;
};
template <size_t D> struct MaxUnpoolOptions {
    TAPER_CPP_NN_POOL_ARGS(MaxUnpoolOptions)
};
template <class Size> struct AdaptiveMaxPoolOptions {
    AdaptiveMaxPoolOptions(Size size) : output_size_(size)
    {
    }
    TORCH_ARG(Size, output_size);
};
template <class Size> struct AdaptiveAvgPoolOptions {
    AdaptiveAvgPoolOptions(Size size) : output_size_(size)
    {
    }
    TORCH_ARG(Size, output_size);
};
template <size_t D> struct FractionalMaxPoolOptions {
    using ExpandingArrayDouble = torch::ExpandingArray<D, double>;
    FractionalMaxPoolOptions(ExpandingArray<D> kernel) : kernel_size_(kernel)
    {
    }
    TORCH_ARG(ExpandingArray<D>, kernel_size);
    TORCH_ARG(c10::optional<ExpandingArray<D>>, output_size) = c10::nullopt;
    TORCH_ARG(c10::optional<ExpandingArrayDouble>, output_ratio) = c10::nullopt;
    TORCH_ARG(torch::Tensor, _random_samples) = Tensor();
};
template <size_t D> struct LPPoolOptions {
    LPPoolOptions(double norm, ExpandingArray<D> kernel) : norm_type_(norm), kernel_size_(kernel), stride_(kernel)
    {
    }
    TORCH_ARG(double, norm_type);
    TORCH_ARG(ExpandingArray<D>, kernel_size);
    TORCH_ARG(ExpandingArray<D>, stride);
    TORCH_ARG(bool, ceil_mode) = false;
};
TAPER_CPP_NN_OPTIONS_ND(AvgPool)
TAPER_CPP_NN_OPTIONS_ND(MaxPool)
TAPER_CPP_NN_OPTIONS_ND(MaxUnpool)
TAPER_CPP_NN_OPTIONS_2D(FractionalMaxPool)
using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<3>>;
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<3>>;

namespace modules
{
namespace utils
{
// Replaces absent sizes by the last items of the defaults.
inline std::vector<int64_t> _list_with_default(c10::ArrayRef<c10::optional<int64_t>> sizes, IntArrayRef defaults)
{
    TORCH_CHECK(defaults.size() > sizes.size(), "Input dimension should be at least ", sizes.size() + 1);
    std::vector<int64_t> all = defaults.slice(defaults.size() - sizes.size()).vec();
    for (size_t i = 0; i < all.size(); i++) {
        all[i] = sizes[i].value_or(all[i]);
    }
    return all;
}
inline std::vector<int64_t> _reverse_repeat_vector(IntArrayRef numbers, int64_t times)
{
    std::vector<int64_t> all;
    for (size_t i = numbers.size(); i-- > 0;) {
        all.insert(all.end(), static_cast<size_t>(times), numbers[i]);
    }
    return all;
}
} // namespace utils
} // namespace modules

namespace functional
{

template <size_t D> struct MaxUnpoolFuncOptions {
    TAPER_CPP_NN_POOL_ARGS(MaxUnpoolFuncOptions)
    TORCH_ARG(c10::optional<std::vector<int64_t>>, output_size) = c10::nullopt;
};
#undef TAPER_CPP_NN_POOL_ARGS
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;

// Returns the sizes of an unpooled input: the requested sizes, or the sizes that pooling would reduce to the sizes of
// the input.
inline std::vector<int64_t> _unpool_output_size(const Tensor &input, const IntArrayRef &kernel,
                                                const IntArrayRef &stride, const IntArrayRef &padding,
                                                const c10::optional<std::vector<int64_t>> &output_size)
{
    std::vector<int64_t> usual, asked;
    for (size_t d = 0; d < kernel.size(); d++) {
        usual.push_back((input.sizes()[d + 2] - 1) * stride[d] + kernel[d] - 2 * padding[d]);
    }
    if (!output_size.has_value()) {
        return usual;
    }
    if (output_size->size() == kernel.size() + 2) {
        asked = IntArrayRef(*output_size).slice(2).vec();
    }
    TORCH_CHECK(asked.size() == kernel.size(), "output_size should be a sequence containing ", kernel.size(), " or ",
                kernel.size() + 2, " elements, but it has a length of '", asked.size(), "'");
    for (size_t d = 0; d < kernel.size(); d++) {
        const int64_t least = usual[d] - stride[d], most = usual[d] + stride[d];
        TORCH_CHECK(least <= asked[d] && asked[d] <= most, "invalid output_size ", asked, " (dim ", d,
                    " must be between ", least, " and ", most, ")");
    }
    return asked;
}

namespace detail
{

// Returns the sizes of the result of a fractional pooling, which are either given or computed by a ratio from the sizes
// of the input.
template <size_t D>
std::vector<int64_t> fractional_sizes(const Tensor &input, const FractionalMaxPoolOptions<D> &options)
{
    if (options.output_size().has_value()) {
        return IntArrayRef(*options.output_size()).vec();
    }
    TORCH_CHECK(options.output_ratio().has_value(), "fractional_max_pool", D,
                "d requires specifying either an output_size or an output_ratio");
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < D; d++) {
        const double size = static_cast<double>(input.size(static_cast<int64_t>(d) - static_cast<int64_t>(D)));
        sizes.push_back(static_cast<int64_t>(size * (**options.output_ratio())[d]));
    }
    return sizes;
}
// Returns the given samples, or draws samples if none are given.
template <size_t D> Tensor fractional_samples(const Tensor &input, const FractionalMaxPoolOptions<D> &options)
{
    const int64_t rank = static_cast<int64_t>(D);
    return options._random_samples().defined()
               ? options._random_samples()
               : at::rand({input.dim() == rank + 1 ? 1 : input.size(0), input.size(-rank - 1), rank}, input.options());
}
// Takes the root of a mean of powers, and keeps the sign of the mean. count: the number of elements of a kernel.
inline Tensor root_of_mean(const Tensor &mean, int64_t count, double norm)
{
    return (at::sign(mean) * at::relu(at::abs(mean))).mul(count).pow(1. / norm);
}

} // namespace detail

// Defines the functions for D dimensions. target: the sizes that adaptive pooling gives the operator.
#define TAPER_CPP_NN_POOL(D, target)                                                                                   \
    using AvgPool##D##dFuncOptions = AvgPool##D##dOptions;                                                             \
    using MaxPool##D##dFuncOptions = MaxPool##D##dOptions;                                                             \
    using MaxUnpool##D##dFuncOptions = MaxUnpoolFuncOptions<D>;                                                        \
    using AdaptiveMaxPool##D##dFuncOptions = AdaptiveMaxPool##D##dOptions;                                             \
    using AdaptiveAvgPool##D##dFuncOptions = AdaptiveAvgPool##D##dOptions;                                             \
    inline Tensor max_pool##D##d(const Tensor &input, const MaxPool##D##dFuncOptions &options)                         \
    {                                                                                                                  \
        return at::max_pool##D##d(input, options.kernel_size(), options.stride(), options.padding(),                   \
                                  options.dilation(), options.ceil_mode());                                            \
    }                                                                                                                  \
    inline std::tuple<Tensor, Tensor> max_pool##D##d_with_indices(const Tensor &input,                                 \
                                                                  const MaxPool##D##dFuncOptions &options)             \
    {                                                                                                                  \
        return at::max_pool##D##d_with_indices(input, options.kernel_size(), options.stride(), options.padding(),      \
                                               options.dilation(), options.ceil_mode());                               \
    }                                                                                                                  \
    inline std::tuple<Tensor, Tensor> adaptive_max_pool##D##d_with_indices(                                            \
        const Tensor &input, const AdaptiveMaxPool##D##dFuncOptions &options)                                          \
    {                                                                                                                  \
        return at::adaptive_max_pool##D##d(input, target);                                                             \
    }                                                                                                                  \
    inline Tensor adaptive_max_pool##D##d(const Tensor &input, const AdaptiveMaxPool##D##dFuncOptions &options)        \
    {                                                                                                                  \
        return std::get<0>(adaptive_max_pool##D##d_with_indices(input, options));                                      \
    }                                                                                                                  \
    inline Tensor adaptive_avg_pool##D##d(const Tensor &input, const AdaptiveAvgPool##D##dFuncOptions &options)        \
    {                                                                                                                  \
        return at::adaptive_avg_pool##D##d(input, target);                                                             \
    }
TAPER_CPP_NN_POOL(1, options.output_size())
TAPER_CPP_NN_POOL(2, modules::utils::_list_with_default(options.output_size(), input.sizes()))
TAPER_CPP_NN_POOL(3, modules::utils::_list_with_default(options.output_size(), input.sizes()))
#undef TAPER_CPP_NN_POOL

inline Tensor avg_pool1d(const Tensor &input, const AvgPool1dFuncOptions &options)
{
    return at::avg_pool1d(input, options.kernel_size(), options.stride(), options.padding(), options.ceil_mode(),
                          options.count_include_pad());
}
inline Tensor max_unpool1d(const Tensor &input, const Tensor &indices, const MaxUnpool1dFuncOptions &options)
{
    std::vector<int64_t> sizes =
        _unpool_output_size(input, options.kernel_size(), options.stride(), options.padding(), options.output_size());
    sizes.push_back(1);
    return at::max_unpool2d(input.unsqueeze(3), indices.unsqueeze(3), sizes).squeeze(3);
}
inline Tensor max_unpool2d(const Tensor &input, const Tensor &indices, const MaxUnpool2dFuncOptions &options)
{
    return at::max_unpool2d(
        input, indices,
        _unpool_output_size(input, options.kernel_size(), options.stride(), options.padding(), options.output_size()));
}
inline Tensor max_unpool3d(const Tensor &input, const Tensor &indices, const MaxUnpool3dFuncOptions &options)
{
    return at::max_unpool3d(
        input, indices,
        _unpool_output_size(input, options.kernel_size(), options.stride(), options.padding(), options.output_size()),
        options.stride(), options.padding());
}
#define TAPER_CPP_NN_POOL(D)                                                                                           \
    using FractionalMaxPool##D##dFuncOptions = FractionalMaxPool##D##dOptions;                                         \
    inline Tensor avg_pool##D##d(const Tensor &input, const AvgPool##D##dFuncOptions &options)                         \
    {                                                                                                                  \
        return at::avg_pool##D##d(input, options.kernel_size(), options.stride(), options.padding(),                   \
                                  options.ceil_mode(), options.count_include_pad(), options.divisor_override());       \
    }                                                                                                                  \
    inline std::tuple<Tensor, Tensor> fractional_max_pool##D##d_with_indices(                                          \
        const Tensor &input, const FractionalMaxPool##D##dFuncOptions &options)                                        \
    {                                                                                                                  \
        const std::vector<int64_t> sizes = detail::fractional_sizes(input, options);                                   \
        return at::fractional_max_pool##D##d(input, options.kernel_size(), sizes,                                      \
                                             detail::fractional_samples(input, options));                              \
    }                                                                                                                  \
    inline Tensor fractional_max_pool##D##d(const Tensor &input, const FractionalMaxPool##D##dFuncOptions &options)    \
    {                                                                                                                  \
        return std::get<0>(fractional_max_pool##D##d_with_indices(input, options));                                    \
    }
TAPER_CPP_NN_POOL(2)
TAPER_CPP_NN_POOL(3)
#undef TAPER_CPP_NN_POOL
inline Tensor lp_pool1d(const Tensor &input, const LPPool1dFuncOptions &options)
{
    const Tensor mean =
        avg_pool1d(input.pow(options.norm_type()),
                   AvgPool1dOptions(options.kernel_size()).stride(options.stride()).ceil_mode(options.ceil_mode()));
    return detail::root_of_mean(mean, (*options.kernel_size())[0], options.norm_type());
}
inline Tensor lp_pool2d(const Tensor &input, const LPPool2dFuncOptions &options)
{
    const Tensor mean =
        avg_pool2d(input.pow(options.norm_type()),
                   AvgPool2dOptions(options.kernel_size()).stride(options.stride()).ceil_mode(options.ceil_mode()));
    return detail::root_of_mean(mean, (*options.kernel_size())[0] * (*options.kernel_size())[1], options.norm_type());
}

} // namespace functional

// The base of the modules of a family: its options and what it prints.
#define TAPER_CPP_NN_POOL(family, ...)                                                                                 \
    template <size_t D, class Derived> class family##Impl : public detail::PlainModule<Derived, family##Options<D>>    \
    {                                                                                                                  \
      public:                                                                                                          \
        using detail::PlainModule<Derived, family##Options<D>>::PlainModule;                                           \
        family##Impl(ExpandingArray<D> kernel)                                                                         \
            : detail::PlainModule<Derived, family##Options<D>>(family##Options<D>(kernel))                             \
        {                                                                                                              \
        }                                                                                                              \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            const auto &o = this->options;                                                                             \
            out << "torch::nn::" #family << D << "d(kernel_size=" << o.kernel_size() << ", stride=" << o.stride()      \
                << ", padding=" << o.padding() << __VA_ARGS__ << ")";                                                  \
        }                                                                                                              \
    };
TAPER_CPP_NN_POOL(AvgPool, "")
TAPER_CPP_NN_POOL(MaxPool, ", dilation=" << o.dilation() << ", ceil_mode=" << std::boolalpha << o.ceil_mode())
TAPER_CPP_NN_POOL(MaxUnpool, "")
#undef TAPER_CPP_NN_POOL
#define TAPER_CPP_NN_POOL(family)                                                                                      \
    template <size_t D, class Size, class Derived>                                                                     \
    class family##Impl : public detail::PlainModule<Derived, family##Options<Size>>                                    \
    {                                                                                                                  \
      public:                                                                                                          \
        using detail::PlainModule<Derived, family##Options<Size>>::PlainModule;                                        \
        family##Impl(Size size) : detail::PlainModule<Derived, family##Options<Size>>(family##Options<Size>(size))     \
        {                                                                                                              \
        }                                                                                                              \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            out << "torch::nn::" #family << D << "d(output_size=" << this->options.output_size() << ")";               \
        }                                                                                                              \
    };
TAPER_CPP_NN_POOL(AdaptiveMaxPool)
TAPER_CPP_NN_POOL(AdaptiveAvgPool)
#undef TAPER_CPP_NN_POOL

template <size_t D, class Derived> class LPPoolImpl : public detail::PlainModule<Derived, LPPoolOptions<D>>
{
    using Base = detail::PlainModule<Derived, LPPoolOptions<D>>;

  public:
    using Base::Base;
    LPPoolImpl(double norm, ExpandingArray<D> kernel) : Base(LPPoolOptions<D>(norm, kernel))
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        const auto &o = this->options;
        out << std::boolalpha << "torch::nn::LPPool" << D << "d(norm_type=" << o.norm_type()
            << ", kernel_size=" << o.kernel_size() << ", stride=" << o.stride() << ", ceil_mode=" << o.ceil_mode()
            << ")";
    }
};

namespace detail
{
template <size_t D, class Derived>
class FractionalMaxPoolModule : public PlainModule<Derived, FractionalMaxPoolOptions<D>>
{
    using Base = PlainModule<Derived, FractionalMaxPoolOptions<D>>;

  public:
    FractionalMaxPoolModule(ExpandingArray<D> kernel) : FractionalMaxPoolModule(FractionalMaxPoolOptions<D>(kernel))
    {
    }
    explicit FractionalMaxPoolModule(const FractionalMaxPoolOptions<D> &from) : Base(from)
    {
        FractionalMaxPoolModule::reset();
    }
    void reset() override
    {
        const auto &o = this->options;
        _random_samples = this->register_buffer("_random_samples", o._random_samples());
        TORCH_CHECK(o.output_size().has_value() || o.output_ratio().has_value(), "FractionalMaxPool", D,
                    "d requires specifying either an output size, or a pooling ratio");
        TORCH_CHECK(!o.output_size().has_value() || !o.output_ratio().has_value(),
                    "only one of output_size and output_ratio may be specified");
        for (size_t d = 0; o.output_ratio().has_value() && d < D; d++) {
            const double ratio = (**o.output_ratio())[d];
            TORCH_CHECK(0 < ratio && ratio < 1, "output_ratio must be between 0 and 1 (got ",
                        c10::ArrayRef<double>(*o.output_ratio()), ")");
        }
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::FractionalMaxPool" << D << "d()";
    }
    Tensor _random_samples;

  protected:
    FractionalMaxPoolOptions<D> with_samples() const
    {
        return FractionalMaxPoolOptions<D>(this->options)._random_samples(_random_samples);
    }
};
} // namespace detail

// The classes for one number of dimensions. Some modules also return the positions of the values.
#define TAPER_CPP_NN_POOL_CLASS(name, function, from, more, ...)                                                       \
    class name##Impl : public __VA_ARGS__                                                                              \
    {                                                                                                                  \
        using Base = __VA_ARGS__;                                                                                      \
                                                                                                                       \
      public:                                                                                                          \
        using Base::Base;                                                                                              \
        Tensor forward(const Tensor &input)                                                                            \
        {                                                                                                              \
            return functional::function(input, from);                                                                  \
        }                                                                                                              \
        more(function, from)                                                                                           \
    };                                                                                                                 \
    TORCH_MODULE(name);
#define TAPER_CPP_NN_POOL_ALONE(function, from)
#define TAPER_CPP_NN_POOL_INDICES(function, from)                                                                      \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor &input)                                               \
    {                                                                                                                  \
        return functional::function##_with_indices(input, from);                                                       \
    }
#define TAPER_CPP_NN_POOL(D, Size)                                                                                     \
    TAPER_CPP_NN_POOL_CLASS(AvgPool##D##d, avg_pool##D##d, options, TAPER_CPP_NN_POOL_ALONE,                           \
                            AvgPoolImpl<D, AvgPool##D##dImpl>)                                                         \
    TAPER_CPP_NN_POOL_CLASS(MaxPool##D##d, max_pool##D##d, options, TAPER_CPP_NN_POOL_INDICES,                         \
                            MaxPoolImpl<D, MaxPool##D##dImpl>)                                                         \
    TAPER_CPP_NN_POOL_CLASS(AdaptiveAvgPool##D##d, adaptive_avg_pool##D##d, options, TAPER_CPP_NN_POOL_ALONE,          \
                            AdaptiveAvgPoolImpl<D, Size<D>, AdaptiveAvgPool##D##dImpl>)                                \
    TAPER_CPP_NN_POOL_CLASS(AdaptiveMaxPool##D##d, adaptive_max_pool##D##d, options, TAPER_CPP_NN_POOL_INDICES,        \
                            AdaptiveMaxPoolImpl<D, Size<D>, AdaptiveMaxPool##D##dImpl>)                                \
    class MaxUnpool##D##dImpl : public MaxUnpoolImpl<D, MaxUnpool##D##dImpl>                                           \
    {                                                                                                                  \
      public:                                                                                                          \
        using MaxUnpoolImpl<D, MaxUnpool##D##dImpl>::MaxUnpoolImpl;                                                    \
        Tensor forward(const Tensor &input, const Tensor &indices,                                                     \
                       const c10::optional<std::vector<int64_t>> &output_size = c10::nullopt)                          \
        {                                                                                                              \
            return functional::max_unpool##D##d(input, indices,                                                        \
                                                functional::MaxUnpool##D##dFuncOptions(options.kernel_size())          \
                                                    .stride(options.stride())                                          \
                                                    .padding(options.padding())                                        \
                                                    .output_size(output_size));                                        \
        }                                                                                                              \
                                                                                                                       \
      protected:                                                                                                       \
        FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(c10::optional<std::vector<int64_t>>())})                                 \
    };                                                                                                                 \
    TORCH_MODULE(MaxUnpool##D##d);
TAPER_CPP_NN_POOL(1, ExpandingArray)
TAPER_CPP_NN_POOL(2, ExpandingArrayWithOptionalElem)
TAPER_CPP_NN_POOL(3, ExpandingArrayWithOptionalElem)
#undef TAPER_CPP_NN_POOL
TAPER_CPP_NN_POOL_CLASS(LPPool1d, lp_pool1d, options, TAPER_CPP_NN_POOL_ALONE, LPPoolImpl<1, LPPool1dImpl>)
TAPER_CPP_NN_POOL_CLASS(LPPool2d, lp_pool2d, options, TAPER_CPP_NN_POOL_ALONE, LPPoolImpl<2, LPPool2dImpl>)
TAPER_CPP_NN_POOL_CLASS(FractionalMaxPool2d, fractional_max_pool2d, with_samples(), TAPER_CPP_NN_POOL_INDICES,
                        detail::FractionalMaxPoolModule<2, FractionalMaxPool2dImpl>)
TAPER_CPP_NN_POOL_CLASS(FractionalMaxPool3d, fractional_max_pool3d, with_samples(), TAPER_CPP_NN_POOL_INDICES,
                        detail::FractionalMaxPoolModule<3, FractionalMaxPool3dImpl>)
#undef TAPER_CPP_NN_POOL_CLASS
#undef TAPER_CPP_NN_POOL_ALONE
#undef TAPER_CPP_NN_POOL_INDICES

} // namespace nn
} // namespace torch

#endif
