/* SPDX-License-Identifier: BSD-2-Clause */
// Functions and modules for pictures: interpolation, sampling at given places, pixel shuffling, folding.
#ifndef TAPER_CPP_NN_VISION_H
#define TAPER_CPP_NN_VISION_H

#include <cmath>

#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

struct UpsampleOptions {
    using mode_t = c10::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                                enumtype::kTrilinear>;
    TORCH_ARG(c10::optional<std::vector<int64_t>>, size) = c10::nullopt;
    TORCH_ARG(c10::optional<std::vector<double>>, scale_factor) = c10::nullopt;
    TORCH_ARG(mode_t, mode) = torch::kNearest;
    TORCH_ARG(c10::optional<bool>, align_corners) = c10::nullopt;
};
struct PixelShuffleOptions {
    PixelShuffleOptions(int64_t factor) : upscale_factor_(factor)
    {
    }
    TORCH_ARG(int64_t, upscale_factor);
};
struct PixelUnshuffleOptions {
    PixelUnshuffleOptions(int64_t factor) : downscale_factor_(factor)
    {
    }
    TORCH_ARG(int64_t, downscale_factor);
};
#define TAPER_CPP_NN_WINDOW_ARGS                                                                                       \
    TORCH_ARG(ExpandingArray<2>, kernel_size);                                                                         \
    TORCH_ARG(ExpandingArray<2>, dilation) = 1;                                                                        \
    TORCH_ARG(ExpandingArray<2>, padding) = 0;                                                                         \
    TORCH_ARG(ExpandingArray<2>, stride) = 1;
struct FoldOptions {
    FoldOptions(ExpandingArray<2> size, ExpandingArray<2> kernel) : output_size_(size), kernel_size_(kernel)
    {
    }
    TORCH_ARG(ExpandingArray<2>, output_size);
    TAPER_CPP_NN_WINDOW_ARGS
};
struct UnfoldOptions {
    UnfoldOptions(ExpandingArray<2> kernel) : kernel_size_(kernel)
    {
    }
    TAPER_CPP_NN_WINDOW_ARGS
};
#undef TAPER_CPP_NN_WINDOW_ARGS

namespace functional
{

struct InterpolateFuncOptions {
    using mode_t = c10::variant<enumtype::kNearest, enumtype::kLinear, enumtype::kBilinear, enumtype::kBicubic,
                                enumtype::kTrilinear, enumtype::kArea, enumtype::kNearestExact>;
    TORCH_ARG(c10::optional<std::vector<int64_t>>, size) = c10::nullopt;
    TORCH_ARG(c10::optional<std::vector<double>>, scale_factor) = c10::nullopt;
    TORCH_ARG(mode_t, mode) = torch::kNearest;
    TORCH_ARG(c10::optional<bool>, align_corners) = c10::nullopt;
    TORCH_ARG(c10::optional<bool>, recompute_scale_factor) = c10::nullopt;
    TORCH_ARG(bool, antialias) = false;
};
struct GridSampleFuncOptions {
    using mode_t = c10::variant<enumtype::kBilinear, enumtype::kNearest>;
    using padding_mode_t = c10::variant<enumtype::kZeros, enumtype::kBorder, enumtype::kReflection>;
    TORCH_ARG(mode_t, mode) = torch::kBilinear;
    TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
    TORCH_ARG(c10::optional<bool>, align_corners) = c10::nullopt;
};
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;

// Returns the sizes of the result of an interpolation over `rank` dimensions.
inline std::vector<int64_t> _interp_output_size(int64_t rank, const Tensor &input,
                                                const c10::optional<std::vector<int64_t>> &size,
                                                const c10::optional<std::vector<double>> &scale)
{
    TORCH_CHECK(size.has_value() || scale.has_value(), "either size or scale_factor should be defined");
    TORCH_CHECK(!size.has_value() || !scale.has_value(), "only one of size or scale_factor should be defined");
    if (size.has_value()) {
        return *size;
    }
    TORCH_CHECK(static_cast<int64_t>(scale->size()) == rank, "scale_factor shape must match input shape. Input is ",
                rank, "D, scale_factor size is ", c10::ArrayRef<double>(*scale));
    std::vector<int64_t> sizes;
    for (size_t d = 0; d < scale->size(); d++) {
        sizes.push_back(static_cast<int64_t>(std::floor(static_cast<double>(input.sizes()[d + 2]) * (*scale)[d])));
    }
    return sizes;
}

namespace detail
{
enum {
    Nearest,
    Linear,
    Bilinear,
    Bicubic,
    Trilinear,
    Area,
    NearestExact
}; // in the order of InterpolateFuncOptions::mode_t

// Returns the ranks of inputs that a mode accepts, as a sum of 1 << rank.
inline int interpolated_ranks(size_t mode)
{
    switch (mode) {
    case Linear:
        return 1 << 3;
    case Bilinear:
    case Bicubic:
        return 1 << 4;
    case Trilinear:
        return 1 << 5;
    default:
        return 1 << 3 | 1 << 4 | 1 << 5;
    }
}
inline void check_interpolated(const Tensor &input, const InterpolateFuncOptions::mode_t &named, bool has_corners,
                               bool antialias)
{
    const int64_t rank = input.dim();
    const size_t mode = named.index();
    TORCH_CHECK((mode != Nearest && mode != Area) || !has_corners,
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear");
    TORCH_CHECK(!antialias || (rank == 4 && (mode == Bilinear || mode == Bicubic)),
                "Anti-alias option is only supported for bilinear and bicubic modes");
    const bool fits = rank >= 3 && rank <= 5 && (interpolated_ranks(mode) >> rank & 1) != 0;
    TORCH_CHECK(fits || rank < 3 || rank > 5 || mode == Bicubic, "Got ", rank, "D input, but ",
                mode == Linear     ? "linear mode needs 3D"
                : mode == Bilinear ? "bilinear mode needs 4D"
                                   : "trilinear mode needs 5D",
                " input");
    TORCH_CHECK(fits, "Input Error: Only 3D, 4D and 5D input Tensors supported (got ", rank,
                "D) for the modes: nearest | linear | bilinear | bicubic | trilinear (got ",
                enumtype::get_enum_name(named), ")");
}

inline Tensor interpolate(const Tensor &input, const c10::optional<std::vector<int64_t>> &sizes,
                          const c10::optional<std::vector<double>> &scales, const InterpolateFuncOptions::mode_t &mode,
                          const c10::optional<bool> &align_corners, const c10::optional<bool> &recompute,
                          bool antialias)
{
    check_interpolated(input, mode, align_corners.has_value(), antialias);
    const int64_t rank = input.dim();
    const std::vector<int64_t> size = _interp_output_size(rank - 2, input, sizes, scales);
    c10::optional<double> scale[3];
    if (scales.has_value() && !recompute.value_or(false)) {
        std::copy(scales->begin(), scales->end(), scale);
    }
    const bool corners = align_corners.value_or(false);
    switch (mode.index()) {
    case Nearest:
        return rank == 3   ? at::upsample_nearest1d(input, size, scale[0])
               : rank == 4 ? at::upsample_nearest2d(input, size, scale[0], scale[1])
                           : at::upsample_nearest3d(input, size, scale[0], scale[1], scale[2]);
    case NearestExact:
        return rank == 3   ? at::_upsample_nearest_exact1d(input, size, scale[0])
               : rank == 4 ? at::_upsample_nearest_exact2d(input, size, scale[0], scale[1])
                           : at::_upsample_nearest_exact3d(input, size, scale[0], scale[1], scale[2]);
    case Area:
        return rank == 3   ? at::adaptive_avg_pool1d(input, size)
               : rank == 4 ? at::adaptive_avg_pool2d(input, size)
                           : at::adaptive_avg_pool3d(input, size);
    case Linear:
        return at::upsample_linear1d(input, size, corners, scale[0]);
    case Bilinear:
        return antialias ? at::_upsample_bilinear2d_aa(input, size, corners, scale[0], scale[1])
                         : at::upsample_bilinear2d(input, size, corners, scale[0], scale[1]);
    case Bicubic:
        return antialias ? at::_upsample_bicubic2d_aa(input, size, corners, scale[0], scale[1])
                         : at::upsample_bicubic2d(input, size, corners, scale[0], scale[1]);
    default:
        return at::upsample_trilinear3d(input, size, corners, scale[0], scale[1], scale[2]);
    }
}
} // namespace detail

inline Tensor interpolate(const Tensor &input, const InterpolateFuncOptions &options = {})
{
    return detail::interpolate(input, options.size(), options.scale_factor(), options.mode(), options.align_corners(),
                               options.recompute_scale_factor(), options.antialias());
}

inline Tensor affine_grid(const Tensor &theta, const IntArrayRef &size, bool align_corners = false)
{
    TORCH_CHECK(theta.is_floating_point(), "Expected theta to have floating point type, but got ", theta.dtype());
    TORCH_CHECK(size.size() == 4 || size.size() == 5,
                "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size ",
                size);
    const int64_t rank = static_cast<int64_t>(size.size()) - 2;
    TORCH_CHECK(theta.dim() == 3 && theta.size(-2) == rank && theta.size(-1) == rank + 1, "Expected a batch of ", rank,
                "D affine matrices of shape Nx", rank, "x", rank + 1, " for size ", size, ". Got ", theta.sizes(), ".");
    TORCH_CHECK(*std::min_element(size.begin(), size.end()) > 0, "Expected non-zero, positive output size. Got ", size);
    return at::affine_grid_generator(theta, size, align_corners);
}
inline Tensor grid_sample(const Tensor &input, const Tensor &grid, const GridSampleFuncOptions &options = {})
{
    return at::grid_sampler(input, grid, static_cast<int64_t>(options.mode().index()),
                            static_cast<int64_t>(options.padding_mode().index()),
                            options.align_corners().value_or(false));
}
inline Tensor pixel_shuffle(const Tensor &input, const PixelShuffleFuncOptions &options)
{
    return at::pixel_shuffle(input, options.upscale_factor());
}
inline Tensor pixel_unshuffle(const Tensor &input, const PixelUnshuffleFuncOptions &options)
{
    return at::pixel_unshuffle(input, options.downscale_factor());
}
inline Tensor fold(const Tensor &input, const FoldFuncOptions &options)
{
    TORCH_CHECK(input.dim() == 3 || input.dim() == 2,
                "Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got ", input.dim(),
                "D)");
    return at::col2im(input, options.output_size(), options.kernel_size(), options.dilation(), options.padding(),
                      options.stride());
}
inline Tensor unfold(const Tensor &input, const UnfoldFuncOptions &options)
{
    TORCH_CHECK(input.dim() == 4, "Input Error: Only 4D input Tensors are supported (got ", input.dim(), "D)");
    return at::im2col(input, options.kernel_size(), options.dilation(), options.padding(), options.stride());
}

} // namespace functional

class UpsampleImpl : public detail::PlainModule<UpsampleImpl, UpsampleOptions>
{
  public:
    TAPER_CPP_NN_LATE explicit UpsampleImpl(const UpsampleOptions &from = {}) : PlainModule(from)
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Upsample(";
        if (options.scale_factor().has_value()) {
            out << "scale_factor=" << c10::ArrayRef<double>(*options.scale_factor());
        } else {
            out << "size=" << IntArrayRef(options.size().value());
        }
        out << ", mode=" << enumtype::get_enum_name(options.mode()) << ")";
    }
    Tensor forward(const Tensor &input)
    {
        const auto mode =
            c10::visit([](auto value) { return functional::InterpolateFuncOptions::mode_t(value); }, options.mode());
        return functional::detail::interpolate(input, options.size(), options.scale_factor(), mode,
                                               options.align_corners(), c10::nullopt, false);
    }
};
TORCH_MODULE(Upsample);

// A module that calls one function with its options.
#define TAPER_CPP_NN_VISION(name, function, ...)                                                                       \
    class name##Impl : public detail::PlainModule<name##Impl, name##Options>                                           \
    {                                                                                                                  \
      public:                                                                                                          \
        using detail::PlainModule<name##Impl, name##Options>::PlainModule;                                             \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            const name##Options &o = options;                                                                          \
            out << "torch::nn::" #name "(" << __VA_ARGS__ << ")";                                                      \
        }                                                                                                              \
        Tensor forward(const Tensor &input)                                                                            \
        {                                                                                                              \
            return functional::function(input, options);                                                               \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(name);
TAPER_CPP_NN_VISION(PixelShuffle, pixel_shuffle, "upscale_factor=" << o.upscale_factor())
TAPER_CPP_NN_VISION(PixelUnshuffle, pixel_unshuffle, "downscale_factor=" << o.downscale_factor())
#undef TAPER_CPP_NN_VISION

class FoldImpl : public detail::PlainModule<FoldImpl, FoldOptions>
{
  public:
    using detail::PlainModule<FoldImpl, FoldOptions>::PlainModule;
    TAPER_CPP_NN_LATE FoldImpl(ExpandingArray<2> size, ExpandingArray<2> kernel)
        : PlainModule(FoldOptions(size, kernel))
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Fold(output_size=" << options.output_size() << ", kernel_size=" << options.kernel_size()
            << ", dilation=" << options.dilation() << ", padding=" << options.padding()
            << ", stride=" << options.stride() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return functional::fold(input, options);
    }
};
TORCH_MODULE(Fold);

class UnfoldImpl : public detail::PlainModule<UnfoldImpl, UnfoldOptions>
{
  public:
    using detail::PlainModule<UnfoldImpl, UnfoldOptions>::PlainModule;
    TAPER_CPP_NN_LATE UnfoldImpl(ExpandingArray<2> kernel) : PlainModule(UnfoldOptions(kernel))
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Unfold(kernel_size=" << options.kernel_size() << ", dilation=" << options.dilation()
            << ", padding=" << options.padding() << ", stride=" << options.stride() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return functional::unfold(input, options);
    }
};
TORCH_MODULE(Unfold);

} // namespace nn
} // namespace torch

#endif
