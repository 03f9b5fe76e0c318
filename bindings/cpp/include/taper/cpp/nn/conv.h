/* SPDX-License-Identifier: BSD-2-Clause */
// Convolutions and transposed convolutions over one, two and three dimensions.
#ifndef TAPER_CPP_NN_CONV_H
#define TAPER_CPP_NN_CONV_H

#include <cmath>

#include <taper/cpp/nn/init.h>
#include <taper/cpp/nn/padding.h>

namespace torch
{
namespace nn
{
namespace detail
{
using conv_padding_mode_t =
    c10::variant<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
template <size_t D> using conv_padding_t = c10::variant<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;
} // namespace detail

// The options that all convolutions have.
#define TAPER_CPP_NN_CONV_ARGS(name)                                                                                   \
    name(int64_t in, int64_t out, ExpandingArray<D> kernel)                                                            \
        : in_channels_(in), out_channels_(out), kernel_size_(std::move(kernel))                                        \
    {                                                                                                                  \
    }                                                                                                                  \
    TORCH_ARG(int64_t, in_channels);                                                                                   \
    TORCH_ARG(int64_t, out_channels);                                                                                  \
    TORCH_ARG(ExpandingArray<D>, kernel_size);                                                                         \
    TORCH_ARG(ExpandingArray<D>, stride) = 1;                                                                          \
    TORCH_ARG(ExpandingArray<D>, dilation) = 1;                                                                        \
    TORCH_ARG(int64_t, groups) = 1;                                                                                    \
    TORCH_ARG(bool, bias) = true;                                                                                      \
    TORCH_ARG(detail::conv_padding_mode_t, padding_mode) = torch::kZeros;
// A padding, given as numbers or by name.
#define TAPER_CPP_NN_CONV_PADDING                                                                                      \
  public:                                                                                                              \
    using padding_t = torch::nn::detail::conv_padding_t<D>;                                                            \
    TORCH_ARG(padding_t, padding) = ExpandingArray<D>(0);                                                              \
                                                                                                                       \
  public:                                                                                                              \
    decltype(auto) padding(std::initializer_list<int64_t> numbers)                                                     \
    {                                                                                                                  \
        return padding(padding_t(ExpandingArray<D>(numbers)));                                                         \
    }

namespace detail
{
// The options of convolutions and of transposed convolutions in one struct, which the modules keep.
template <size_t D> struct ConvNdOptions {
    TAPER_CPP_NN_CONV_ARGS(ConvNdOptions)
    TAPER_CPP_NN_CONV_PADDING
    TORCH_ARG(bool, transposed) = false;
    TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
};
} // namespace detail

template <size_t D> struct ConvOptions {
    using padding_mode_t = detail::conv_padding_mode_t;
    TAPER_CPP_NN_CONV_ARGS(ConvOptions)
    TAPER_CPP_NN_CONV_PADDING
};
template <size_t D> struct ConvTransposeOptions {
    using padding_mode_t = detail::conv_padding_mode_t;
    TAPER_CPP_NN_CONV_ARGS(ConvTransposeOptions)
    TORCH_ARG(ExpandingArray<D>, padding) = 0;
    TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
};
TAPER_CPP_NN_OPTIONS_ND(Conv)
TAPER_CPP_NN_OPTIONS_ND(ConvTranspose)

namespace functional
{
template <size_t D> struct ConvFuncOptions {
    TAPER_CPP_NN_CONV_PADDING
    TORCH_ARG(torch::Tensor, bias) = Tensor();
    TORCH_ARG(ExpandingArray<D>, stride) = 1;
    TORCH_ARG(ExpandingArray<D>, dilation) = 1;
    TORCH_ARG(int64_t, groups) = 1;
};
template <size_t D> struct ConvTransposeFuncOptions {
    TORCH_ARG(torch::Tensor, bias) = Tensor();
    TORCH_ARG(ExpandingArray<D>, stride) = 1;
    TORCH_ARG(ExpandingArray<D>, padding) = 0;
    TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
    TORCH_ARG(int64_t, groups) = 1;
    TORCH_ARG(ExpandingArray<D>, dilation) = 1;
};

namespace detail
{
// padding: the numbers of the padding. named: its name, such as "same", which replaces the numbers; null if the numbers
// apply. The stride has one number for each dimension.
inline Tensor conv(const Tensor &input, const Tensor &weight, const Tensor &bias, IntArrayRef stride,
                   IntArrayRef padding, const char *named, IntArrayRef dilation, int64_t groups)
{
#define TAPER_CPP_NN_CONV(D)                                                                                           \
    return named == nullptr ? at::conv##D##d(input, weight, bias, stride, padding, dilation, groups)                   \
                            : at::conv##D##d(input, weight, bias, stride, c10::string_view(named), dilation, groups)
    switch (stride.size()) {
    case 1:
        TAPER_CPP_NN_CONV(1);
    case 2:
        TAPER_CPP_NN_CONV(2);
    default:
        TAPER_CPP_NN_CONV(3);
    }
#undef TAPER_CPP_NN_CONV
}
inline Tensor conv_transpose(const Tensor &input, const Tensor &weight, const Tensor &bias, IntArrayRef stride,
                             IntArrayRef padding, IntArrayRef output_padding, int64_t groups, IntArrayRef dilation)
{
    return (stride.size() == 1   ? at::conv_transpose1d
            : stride.size() == 2 ? static_cast<decltype(&at::conv_transpose1d)>(at::conv_transpose2d)
                                 : static_cast<decltype(&at::conv_transpose1d)>(at::conv_transpose3d))(
        input, weight, bias, stride, padding, output_padding, groups, dilation);
}
template <size_t D> IntArrayRef padding_numbers(const nn::detail::conv_padding_t<D> &padding)
{
    const ExpandingArray<D> *const numbers = c10::get_if<ExpandingArray<D>>(&padding);
    return numbers != nullptr ? IntArrayRef(*numbers) : IntArrayRef();
}
// Returns the name of the padding, or null if it is given as numbers.
template <size_t D> const char *padding_name(const nn::detail::conv_padding_t<D> &padding)
{
    return c10::holds_alternative<enumtype::kValid>(padding)  ? "valid"
           : c10::holds_alternative<enumtype::kSame>(padding) ? "same"
                                                              : nullptr;
}
} // namespace detail

#define TAPER_CPP_NN_CONV(D)                                                                                           \
    using Conv##D##dFuncOptions = ConvFuncOptions<D>;                                                                  \
    using ConvTranspose##D##dFuncOptions = ConvTransposeFuncOptions<D>;                                                \
    inline Tensor conv##D##d(const Tensor &input, const Tensor &weight, const Conv##D##dFuncOptions &options = {})     \
    {                                                                                                                  \
        return detail::conv(input, weight, options.bias(), options.stride(),                                           \
                            detail::padding_numbers<D>(options.padding()), detail::padding_name<D>(options.padding()), \
                            options.dilation(), options.groups());                                                     \
    }                                                                                                                  \
    inline Tensor conv_transpose##D##d(const Tensor &input, const Tensor &weight,                                      \
                                       const ConvTranspose##D##dFuncOptions &options = {})                             \
    {                                                                                                                  \
        return detail::conv_transpose(input, weight, options.bias(), options.stride(), options.padding(),              \
                                      options.output_padding(), options.groups(), options.dilation());                 \
    }
TAPER_CPP_NN_CONV(1)
TAPER_CPP_NN_CONV(2)
TAPER_CPP_NN_CONV(3)
#undef TAPER_CPP_NN_CONV
} // namespace functional

template <size_t D, class Derived> class ConvNdImpl : public Cloneable<Derived>
{
  public:
    explicit ConvNdImpl(detail::ConvNdOptions<D> from) : options(std::move(from))
    {
        ConvNdImpl::reset();
    }
    void reset() override
    {
        TORCH_CHECK(options.in_channels() % options.groups() == 0, "in_channels must be divisible by groups");
        TORCH_CHECK(options.out_channels() % options.groups() == 0, "out_channels must be divisible by groups");
        find_padding();
        std::vector<int64_t> sizes = {options.out_channels(), options.in_channels() / options.groups()};
        if (options.transposed()) {
            sizes = {options.in_channels(), options.out_channels() / options.groups()};
        }
        sizes.insert(sizes.end(), options.kernel_size()->begin(), options.kernel_size()->end());
        weight = this->register_parameter("weight", at::empty(sizes));
        bias = options.bias() ? this->register_parameter("bias", at::empty(options.out_channels()))
                              : this->register_parameter("bias", Tensor(), false);
        reset_parameters();
    }
    void reset_parameters()
    {
        init::kaiming_uniform_(weight, std::sqrt(5));
        if (bias.defined()) {
            const double fan = static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight)));
            const double bound = 1 / std::sqrt(fan);
            init::uniform_(bias, -bound, bound);
        }
    }
    void pretty_print(std::ostream &out) const override
    {
        print_as(out, "Conv");
    }
    detail::ConvNdOptions<D> options;
    Tensor weight, bias;

  protected:
    void print_as(std::ostream &out, const char *name) const
    {
        const char *const padding = functional::detail::padding_name<D>(options.padding());
        out << "torch::nn::" << name << D << "d(" << options.in_channels() << ", " << options.out_channels()
            << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
        if (padding != nullptr) {
            out << ", padding='" << padding << "'";
        } else {
            print_unless(out, ", padding=", c10::get<ExpandingArray<D>>(options.padding()), 0);
        }
        print_unless(out, ", dilation=", options.dilation(), 1);
        print_unless(out, ", output_padding=", options.output_padding(), 0);
        if (options.groups() != 1) {
            out << ", groups=" << options.groups();
        }
        if (!options.bias()) {
            out << ", bias=" << std::boolalpha << false;
        }
        if (!pads_zeros()) {
            out << ", padding_mode=" << enumtype::get_enum_name(options.padding_mode());
        }
        out << ")";
    }
    bool pads_zeros() const
    {
        return c10::holds_alternative<enumtype::kZeros>(options.padding_mode());
    }
    Tensor convolve(const Tensor &input, const Tensor &by) const
    {
        if (pads_zeros()) {
            return functional::detail::conv(
                input, by, bias, options.stride(), functional::detail::padding_numbers<D>(options.padding()),
                functional::detail::padding_name<D>(options.padding()), options.dilation(), options.groups());
        }
        functional::PadFuncOptions::mode_t mode = torch::kCircular;
        if (c10::holds_alternative<enumtype::kReflect>(options.padding_mode())) {
            mode = torch::kReflect;
        } else if (c10::holds_alternative<enumtype::kReplicate>(options.padding_mode())) {
            mode = torch::kReplicate;
        }
        return functional::detail::conv(functional::detail::pad(input, _reversed_padding_repeated_twice, mode, 0), by,
                                        bias, options.stride(), ExpandingArray<D>(0), nullptr, options.dilation(),
                                        options.groups());
    }
    // The padding as functional::pad takes it: from the last dimension on, both sides.
    std::vector<int64_t> _reversed_padding_repeated_twice;

  private:
    static void print_unless(std::ostream &out, const char *what, const ExpandingArray<D> &numbers, int64_t usual)
    {
        if (*numbers != *ExpandingArray<D>(usual)) {
            out << what << numbers;
        }
    }
    void find_padding()
    {
        const bool same = c10::holds_alternative<enumtype::kSame>(options.padding());
        const ExpandingArray<D> *const numbers = c10::get_if<ExpandingArray<D>>(&options.padding());
        _reversed_padding_repeated_twice.assign(2 * D, 0);
        for (size_t d = 0; d < D; d++) {
            int64_t *const both = &_reversed_padding_repeated_twice[2 * d];
            if (numbers != nullptr) {
                both[0] = both[1] = (**numbers)[D - 1 - d];
            } else if (same) {
                TORCH_CHECK((*options.stride())[d] == 1, "padding='same' is not supported for strided convolutions");
                const int64_t total = (*options.dilation())[d] * ((*options.kernel_size())[d] - 1);
                both[0] = total / 2;
                both[1] = total - both[0];
            }
        }
    }
};

template <size_t D, class Derived> class ConvTransposeNdImpl : public ConvNdImpl<D, Derived>
{
  public:
    explicit ConvTransposeNdImpl(detail::ConvNdOptions<D> from) : ConvNdImpl<D, Derived>(std::move(from))
    {
        TORCH_INTERNAL_ASSERT(c10::holds_alternative<ExpandingArray<D>>(this->options.padding()),
                              "ConvTranspose padding cannot be a string");
    }
    void pretty_print(std::ostream &out) const override
    {
        this->print_as(out, "ConvTranspose");
    }

  protected:
    const ExpandingArray<D> &padding() const
    {
        return c10::get<ExpandingArray<D>>(this->options.padding());
    }
    // Returns the output padding that gives a result of the requested size.
    std::vector<int64_t> _output_padding(const Tensor &input, const c10::optional<IntArrayRef> &output_size,
                                         const ExpandingArray<D> &stride, const ExpandingArray<D> &pad,
                                         const ExpandingArray<D> &kernel) const
    {
        if (!output_size.has_value()) {
            return IntArrayRef(this->options.output_padding()).vec();
        }
        const size_t k = static_cast<size_t>(input.dim()) - 2;
        const IntArrayRef asked = output_size->size() == k + 2 ? output_size->slice(2) : *output_size;
        TORCH_CHECK(asked.size() == k, "output_size must have ", k, " or ", k + 2, " elements (got ", asked.size(),
                    ")");
        std::vector<int64_t> least(k), most(k), extra(k);
        bool fits = true;
        for (size_t d = 0; d < k; d++) {
            least[d] = (input.sizes()[d + 2] - 1) * (*stride)[d] - 2 * (*pad)[d] + (*kernel)[d];
            most[d] = least[d] + (*stride)[d] - 1;
            extra[d] = asked[d] - least[d];
            fits = fits && asked[d] >= least[d] && asked[d] <= most[d];
        }
        TORCH_CHECK(fits, "requested an output size of ", asked, ", but valid sizes range from ", least, " to ", most,
                    " (for an input of ", input.sizes().slice(2), ")");
        return extra;
    }
    Tensor upsample(const Tensor &input, const c10::optional<IntArrayRef> &output_size) const
    {
        TORCH_CHECK(this->pads_zeros(), "Only `zeros` padding mode is supported for ConvTranspose", D, "d");
        const auto &o = this->options;
        return functional::detail::conv_transpose(
            input, this->weight, this->bias, o.stride(), padding(),
            _output_padding(input, output_size, o.stride(), padding(), o.kernel_size()), o.groups(), o.dilation());
    }
};

#define TAPER_CPP_NN_CONV(D)                                                                                           \
    class Conv##D##dImpl : public ConvNdImpl<D, Conv##D##dImpl>                                                        \
    {                                                                                                                  \
      public:                                                                                                          \
        TAPER_CPP_NN_LATE Conv##D##dImpl(int64_t in, int64_t out, ExpandingArray<D> kernel)                            \
            : Conv##D##dImpl(Conv##D##dOptions(in, out, kernel))                                                       \
        {                                                                                                              \
        }                                                                                                              \
        TAPER_CPP_NN_LATE explicit Conv##D##dImpl(Conv##D##dOptions from)                                              \
            : ConvNdImpl(detail::ConvNdOptions<D>(from.in_channels(), from.out_channels(), from.kernel_size())         \
                             .stride(from.stride())                                                                    \
                             .padding(from.padding())                                                                  \
                             .dilation(from.dilation())                                                                \
                             .groups(from.groups())                                                                    \
                             .bias(from.bias())                                                                        \
                             .padding_mode(from.padding_mode()))                                                       \
        {                                                                                                              \
        }                                                                                                              \
        Tensor forward(const Tensor &input)                                                                            \
        {                                                                                                              \
            return convolve(input, weight);                                                                            \
        }                                                                                                              \
                                                                                                                       \
      protected:                                                                                                       \
        Tensor _conv_forward(const Tensor &input, const Tensor &by)                                                    \
        {                                                                                                              \
            return convolve(input, by);                                                                                \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(Conv##D##d);                                                                                          \
    class ConvTranspose##D##dImpl : public ConvTransposeNdImpl<D, ConvTranspose##D##dImpl>                             \
    {                                                                                                                  \
      public:                                                                                                          \
        TAPER_CPP_NN_LATE ConvTranspose##D##dImpl(int64_t in, int64_t out, ExpandingArray<D> kernel)                   \
            : ConvTranspose##D##dImpl(ConvTranspose##D##dOptions(in, out, kernel))                                     \
        {                                                                                                              \
        }                                                                                                              \
        TAPER_CPP_NN_LATE explicit ConvTranspose##D##dImpl(ConvTranspose##D##dOptions from)                            \
            : ConvTransposeNdImpl(                                                                                     \
                  detail::ConvNdOptions<D>(from.in_channels(), from.out_channels(), from.kernel_size())                \
                      .stride(from.stride())                                                                           \
                      .padding(detail::conv_padding_t<D>(from.padding()))                                              \
                      .dilation(from.dilation())                                                                       \
                      .transposed(true)                                                                                \
                      .output_padding(from.output_padding())                                                           \
                      .groups(from.groups())                                                                           \
                      .bias(from.bias())                                                                               \
                      .padding_mode(from.padding_mode()))                                                              \
        {                                                                                                              \
        }                                                                                                              \
        Tensor forward(const Tensor &input, const c10::optional<IntArrayRef> &output_size = c10::nullopt)              \
        {                                                                                                              \
            return upsample(input, output_size);                                                                       \
        }                                                                                                              \
                                                                                                                       \
      protected:                                                                                                       \
        FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(c10::optional<IntArrayRef>())})                                          \
    };                                                                                                                 \
    TORCH_MODULE(ConvTranspose##D##d);
TAPER_CPP_NN_CONV(1)
TAPER_CPP_NN_CONV(2)
TAPER_CPP_NN_CONV(3)
#undef TAPER_CPP_NN_CONV

} // namespace nn
} // namespace torch

#endif
