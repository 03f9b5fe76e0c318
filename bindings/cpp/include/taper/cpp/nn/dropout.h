/* SPDX-License-Identifier: BSD-2-Clause */
// Dropout of elements and of channels. In evaluation mode the modules return their input.
#ifndef TAPER_CPP_NN_DROPOUT_H
#define TAPER_CPP_NN_DROPOUT_H

#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

struct DropoutOptions {
    DropoutOptions(double p = 0.5) : p_(p)
    {
    }
    TORCH_ARG(double, p);
    TORCH_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional
{

#define TAPER_CPP_NN_DROPOUT_OPTIONS(name, trains)                                                                     \
    struct name##FuncOptions {                                                                                         \
        TORCH_ARG(double, p) = 0.5;                                                                                    \
        TORCH_ARG(bool, training) = trains;                                                                            \
        TORCH_ARG(bool, inplace) = false;                                                                              \
    };
TAPER_CPP_NN_DROPOUT_OPTIONS(Dropout, true)
TAPER_CPP_NN_DROPOUT_OPTIONS(AlphaDropout, false)
TAPER_CPP_NN_DROPOUT_OPTIONS(FeatureAlphaDropout, false)
#undef TAPER_CPP_NN_DROPOUT_OPTIONS
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

namespace detail
{
inline void check_dropout(double p)
{
    TORCH_CHECK(p >= 0. && p <= 1., "dropout probability has to be between 0 and 1, but got ", p);
}
// Drops channels; an input whose rank is not `batched` gets a batch dimension for the call.
inline Tensor dropout_channels(Tensor input, int64_t batched, double p, bool training, bool inplace)
{
    check_dropout(p);
    const bool is_batched = input.dim() == batched;
    if (!is_batched) {
        input = inplace ? input.unsqueeze_(0) : input.unsqueeze(0);
    }
    Tensor result = inplace ? at::feature_dropout_(input, p, training) : at::feature_dropout(input, p, training);
    return is_batched ? result : inplace ? result.squeeze_(0) : result.squeeze(0);
}
#define TAPER_CPP_NN_DROPOUT(name)                                                                                     \
    inline Tensor name(Tensor input, double p, bool training, bool inplace)                                            \
    {                                                                                                                  \
        check_dropout(p);                                                                                              \
        return inplace ? at::name##_(input, p, training) : at::name(input, p, training);                               \
    }
TAPER_CPP_NN_DROPOUT(dropout)
TAPER_CPP_NN_DROPOUT(alpha_dropout)
TAPER_CPP_NN_DROPOUT(feature_alpha_dropout)
#undef TAPER_CPP_NN_DROPOUT
inline Tensor dropout2d(Tensor input, double p, bool training, bool inplace)
{
    return dropout_channels(std::move(input), 4, p, training, inplace);
}
inline Tensor dropout3d(Tensor input, double p, bool training, bool inplace)
{
    return dropout_channels(std::move(input), 5, p, training, inplace);
}
} // namespace detail

} // namespace functional

namespace detail
{
template <class Derived> class _DropoutNd : public Cloneable<Derived>
{
  public:
    _DropoutNd(double p) : _DropoutNd(DropoutOptions().p(p))
    {
    }
    explicit _DropoutNd(const DropoutOptions &from = {}) : options(from)
    {
        _DropoutNd::reset();
    }
    void reset() override
    {
        functional::detail::check_dropout(options.p());
    }
    DropoutOptions options;
};
} // namespace detail

// A kind of dropout: the function and the module.
#define TAPER_CPP_NN_DROPOUT(name, function)                                                                           \
    namespace functional                                                                                               \
    {                                                                                                                  \
    inline Tensor function(Tensor input, const name##FuncOptions &options = {})                                        \
    {                                                                                                                  \
        return detail::function(std::move(input), options.p(), options.training(), options.inplace());                 \
    }                                                                                                                  \
    }                                                                                                                  \
    class name##Impl : public detail::_DropoutNd<name##Impl>                                                           \
    {                                                                                                                  \
      public:                                                                                                          \
        using detail::_DropoutNd<name##Impl>::_DropoutNd;                                                              \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            out << std::boolalpha << "torch::nn::" #name "(p=" << options.p() << ", inplace=" << options.inplace()     \
                << ")";                                                                                                \
        }                                                                                                              \
        Tensor forward(Tensor input)                                                                                   \
        {                                                                                                              \
            return functional::detail::function(std::move(input), options.p(), is_training(), options.inplace());      \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(name);
TAPER_CPP_NN_DROPOUT(Dropout, dropout)
TAPER_CPP_NN_DROPOUT(Dropout2d, dropout2d)
TAPER_CPP_NN_DROPOUT(Dropout3d, dropout3d)
TAPER_CPP_NN_DROPOUT(AlphaDropout, alpha_dropout)
TAPER_CPP_NN_DROPOUT(FeatureAlphaDropout, feature_alpha_dropout)
#undef TAPER_CPP_NN_DROPOUT

} // namespace nn
} // namespace torch

#endif
