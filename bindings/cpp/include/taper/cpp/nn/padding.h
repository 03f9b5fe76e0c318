/* SPDX-License-Identifier: BSD-2-Clause */
// functional::pad and the modules that pad.
#ifndef TAPER_CPP_NN_PADDING_H
#define TAPER_CPP_NN_PADDING_H

#include <taper/cpp/nn/options.h>

namespace at
{
enum class padding_mode { reflect, replicate, circular, constant };
}

namespace torch
{
namespace nn
{
namespace functional
{

struct PadFuncOptions {
    using mode_t = c10::variant<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
    PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad))
    {
    }
    TORCH_ARG(std::vector<int64_t>, pad);
    TORCH_ARG(mode_t, mode) = torch::kConstant;
    TORCH_ARG(double, value) = 0;
};

namespace detail
{
inline Tensor pad(const Tensor &input, IntArrayRef pad, PadFuncOptions::mode_t mode, double value)
{
    const at::padding_mode modes[] = {at::padding_mode::constant, at::padding_mode::reflect,
                                      at::padding_mode::replicate, at::padding_mode::circular};
    const c10::optional<double> fill =
        value < 0 || value > 0 || value != value ? c10::make_optional(value) : c10::optional<double>();
    return at::_pad_enum(input, pad, static_cast<int64_t>(modes[mode.index()]), fill);
}
} // namespace detail

inline Tensor pad(const Tensor &input, const PadFuncOptions &options)
{
    return detail::pad(input, options.pad(), options.mode(), options.value());
}

} // namespace functional

namespace detail
{

// A module that pads by 2 * D numbers, from the last dimension on.
template <size_t D, class Derived, class Options> class PadModule : public PlainModule<Derived, Options>
{
  public:
    PadModule(ExpandingArray<D * 2> padding) : PlainModule<Derived, Options>(Options(padding))
    {
    }
    explicit PadModule(const Options &from) : PlainModule<Derived, Options>(from)
    {
    }

  protected:
    Tensor padded(const Tensor &input, functional::PadFuncOptions::mode_t mode, double value = 0) const
    {
        return functional::detail::pad(input, this->options.padding(), mode, value);
    }
};

} // namespace detail

// Defines a family of modules whose only option is the padding, for one to three dimensions D.
#define TAPER_CPP_NN_PAD(family, pad_mode)                                                                             \
    template <size_t D> struct family##PadOptions {                                                                    \
        family##PadOptions(ExpandingArray<D * 2> padding) : padding_(padding)                                          \
        {                                                                                                              \
        }                                                                                                              \
        TORCH_ARG(ExpandingArray<D * 2>, padding);                                                                     \
    };                                                                                                                 \
    TAPER_CPP_NN_OPTIONS_ND(family##Pad)                                                                               \
    template <size_t D, class Derived>                                                                                 \
    class family##PadImpl : public detail::PadModule<D, Derived, family##PadOptions<D>>                                \
    {                                                                                                                  \
      public:                                                                                                          \
        using detail::PadModule<D, Derived, family##PadOptions<D>>::PadModule;                                         \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            out << "torch::nn::" #family "Pad" << D << "d(padding=" << this->options.padding() << ")";                 \
        }                                                                                                              \
        Tensor forward(const Tensor &input)                                                                            \
        {                                                                                                              \
            return this->padded(input, pad_mode);                                                                      \
        }                                                                                                              \
    };

TAPER_CPP_NN_PAD(Reflection, torch::kReflect)
TAPER_CPP_NN_PAD(Replication, torch::kReplicate)
TAPER_CPP_NN_MODULES_ND(ReflectionPad)
TAPER_CPP_NN_MODULES_ND(ReplicationPad)

template <size_t D> struct ConstantPadOptions {
    ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value)
    {
    }
    TORCH_ARG(ExpandingArray<D * 2>, padding);
    TORCH_ARG(double, value);
};
TAPER_CPP_NN_OPTIONS_ND(ConstantPad)

template <size_t D, class Derived> class ConstantPadImpl : public detail::PadModule<D, Derived, ConstantPadOptions<D>>
{
    using Base = detail::PadModule<D, Derived, ConstantPadOptions<D>>;

  public:
    ConstantPadImpl(ExpandingArray<D * 2> padding, double value) : Base(ConstantPadOptions<D>(padding, value))
    {
    }
    explicit ConstantPadImpl(const ConstantPadOptions<D> &from) : Base(from)
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::ConstantPad" << D << "d(padding=" << this->options.padding()
            << ", value=" << this->options.value() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return this->padded(input, torch::kConstant, this->options.value());
    }
};
TAPER_CPP_NN_MODULES_ND(ConstantPad)

struct ZeroPad2dOptions {
    ZeroPad2dOptions(ExpandingArray<4> padding) : padding_(padding)
    {
    }
    TORCH_ARG(ExpandingArray<4>, padding);
};
class ZeroPad2dImpl : public detail::PadModule<2, ZeroPad2dImpl, ZeroPad2dOptions>
{
  public:
    using detail::PadModule<2, ZeroPad2dImpl, ZeroPad2dOptions>::PadModule;
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::ZeroPad2d(padding=" << options.padding() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return padded(input, torch::kConstant);
    }
};
TORCH_MODULE(ZeroPad2d);

} // namespace nn
} // namespace torch

#endif
