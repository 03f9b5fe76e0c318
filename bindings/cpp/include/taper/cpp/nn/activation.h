/* SPDX-License-Identifier: BSD-2-Clause */
// Activations: their options, functions and modules.
#ifndef TAPER_CPP_NN_ACTIVATION_H
#define TAPER_CPP_NN_ACTIVATION_H

#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

struct ELUOptions {
    TORCH_ARG(double, alpha) = 1.0;
    TORCH_ARG(bool, inplace) = false;
};
struct CELUOptions {
    TORCH_ARG(double, alpha) = 1.0;
    TORCH_ARG(bool, inplace) = false;
};
struct GELUOptions {
    TORCH_ARG(std::string, approximate) = "none";
};
struct HardtanhOptions {
    TORCH_ARG(double, min_val) = -1.0;
    TORCH_ARG(double, max_val) = 1.0;
    TORCH_ARG(bool, inplace) = false;
};
struct LeakyReLUOptions {
    TORCH_ARG(double, negative_slope) = 1e-2;
    TORCH_ARG(bool, inplace) = false;
};
struct PReLUOptions {
    TORCH_ARG(int64_t, num_parameters) = 1;
    TORCH_ARG(double, init) = 0.25;
};
struct RReLUOptions {
    TORCH_ARG(double, lower) = 1.0 / 8.0;
    TORCH_ARG(double, upper) = 1.0 / 3.0;
    TORCH_ARG(bool, inplace) = false;
};
struct SoftplusOptions {
    TORCH_ARG(double, beta) = 1.0;
    TORCH_ARG(double, threshold) = 20.0;
};
struct ThresholdOptions {
    ThresholdOptions(double threshold, double value) : threshold_(threshold), value_(value)
    {
    }
    TORCH_ARG(double, threshold);
    TORCH_ARG(double, value);
    TORCH_ARG(bool, inplace) = false;
};
// Options with a single value, from which they can be constructed.
#define TAPER_CPP_NN_ONE(name, type, option, ...)                                                                      \
    struct name##Options {                                                                                             \
        name##Options(type option __VA_ARGS__) : option##_(option)                                                     \
        {                                                                                                              \
        }                                                                                                              \
        TORCH_ARG(type, option);                                                                                       \
    };
TAPER_CPP_NN_ONE(SELU, bool, inplace, = false)
TAPER_CPP_NN_ONE(ReLU, bool, inplace, = false)
TAPER_CPP_NN_ONE(ReLU6, bool, inplace, = false)
TAPER_CPP_NN_ONE(GLU, int64_t, dim, = -1)
TAPER_CPP_NN_ONE(Hardshrink, double, lambda, = 0.5)
TAPER_CPP_NN_ONE(Softshrink, double, lambda, = 0.5)
TAPER_CPP_NN_ONE(Softmax, int64_t, dim, )
TAPER_CPP_NN_ONE(Softmin, int64_t, dim, )
TAPER_CPP_NN_ONE(LogSoftmax, int64_t, dim, )
#undef TAPER_CPP_NN_ONE

namespace functional
{

using ELUFuncOptions = ELUOptions;
using CELUFuncOptions = CELUOptions;
using GELUFuncOptions = GELUOptions;
using GLUFuncOptions = GLUOptions;
using SELUFuncOptions = SELUOptions;
using ReLUFuncOptions = ReLUOptions;
using ReLU6FuncOptions = ReLU6Options;
using HardshrinkFuncOptions = HardshrinkOptions;
using HardtanhFuncOptions = HardtanhOptions;
using LeakyReLUFuncOptions = LeakyReLUOptions;
using SoftplusFuncOptions = SoftplusOptions;
using SoftshrinkFuncOptions = SoftshrinkOptions;
using ThresholdFuncOptions = ThresholdOptions;

struct RReLUFuncOptions {
    TORCH_ARG(double, lower) = 1.0 / 8.0;
    TORCH_ARG(double, upper) = 1.0 / 3.0;
    TORCH_ARG(bool, training) = false;
    TORCH_ARG(bool, inplace) = false;
};
struct GumbelSoftmaxFuncOptions {
    TORCH_ARG(double, tau) = 1.0;
    TORCH_ARG(bool, hard) = false;
    TORCH_ARG(int, dim) = -1;
};

// Defines a function that works in place if its options say so. The last parameters are the operator's arguments.
#define TAPER_CPP_NN_INPLACE(name, Name, defaults, ...)                                                                \
    inline Tensor name(Tensor input, const Name##FuncOptions &options defaults)                                        \
    {                                                                                                                  \
        return options.inplace() ? at::name##_(__VA_ARGS__) : at::name(__VA_ARGS__);                                   \
    }
TAPER_CPP_NN_INPLACE(elu, ELU, = {}, input, options.alpha())
TAPER_CPP_NN_INPLACE(celu, CELU, = {}, input, options.alpha())
TAPER_CPP_NN_INPLACE(selu, SELU, = {}, input)
TAPER_CPP_NN_INPLACE(relu, ReLU, = {}, input)
TAPER_CPP_NN_INPLACE(relu6, ReLU6, = {}, input)
TAPER_CPP_NN_INPLACE(hardtanh, Hardtanh, = {}, input, options.min_val(), options.max_val())
TAPER_CPP_NN_INPLACE(leaky_relu, LeakyReLU, = {}, input, options.negative_slope())
TAPER_CPP_NN_INPLACE(rrelu, RReLU, = {}, input, options.lower(), options.upper(), options.training())
TAPER_CPP_NN_INPLACE(threshold, Threshold, , input, options.threshold(), options.value())
#undef TAPER_CPP_NN_INPLACE

// Defines a softmax: its options, which also have a dtype, and its function. x: the argument of the operator `op`.
#define TAPER_CPP_NN_SOFTMAX(name, Name, op, x)                                                                        \
    struct Name##FuncOptions {                                                                                         \
        Name##FuncOptions(int64_t dim) : dim_(dim)                                                                     \
        {                                                                                                              \
        }                                                                                                              \
        TORCH_ARG(int64_t, dim);                                                                                       \
        TORCH_ARG(c10::optional<torch::Dtype>, dtype) = c10::nullopt;                                                  \
    };                                                                                                                 \
    inline Tensor name(const Tensor &input, const Name##FuncOptions &options)                                          \
    {                                                                                                                  \
        return (x).op(options.dim(), options.dtype());                                                                 \
    }
TAPER_CPP_NN_SOFTMAX(softmax, Softmax, softmax, input)
TAPER_CPP_NN_SOFTMAX(softmin, Softmin, softmax, -input)
TAPER_CPP_NN_SOFTMAX(log_softmax, LogSoftmax, log_softmax, input)
#undef TAPER_CPP_NN_SOFTMAX

inline Tensor hardshrink(const Tensor &input, const HardshrinkFuncOptions &options = {})
{
    return at::hardshrink(input, options.lambda());
}
inline Tensor softshrink(const Tensor &input, const SoftshrinkFuncOptions &options = {})
{
    return at::softshrink(input, options.lambda());
}
inline Tensor softplus(const Tensor &input, const SoftplusFuncOptions &options = {})
{
    return at::softplus(input, options.beta(), options.threshold());
}
inline Tensor gelu(const Tensor &input, const GELUFuncOptions &options = {})
{
    return at::gelu(input, options.approximate());
}
inline Tensor glu(const Tensor &input, const GLUFuncOptions &options = {})
{
    TORCH_CHECK(input.dim() != 0, "glu does not suppport scalars because halving size must be even");
    return at::glu(input, options.dim());
}
inline Tensor logsigmoid(const Tensor &input)
{
    return at::log_sigmoid(input);
}
inline Tensor silu(const Tensor &input)
{
    return at::silu(input);
}
inline Tensor mish(const Tensor &input)
{
    return at::mish(input);
}
inline Tensor prelu(const Tensor &input, const Tensor &weight)
{
    return at::prelu(input, weight);
}
inline Tensor softsign(const Tensor &input)
{
    return input / (input.abs() + 1);
}
inline Tensor tanhshrink(const Tensor &input)
{
    return input - input.tanh();
}
inline Tensor gumbel_softmax(const Tensor &logits, const GumbelSoftmaxFuncOptions &options = {})
{
    const Tensor noise = -at::empty_like(logits).exponential_().log();
    const Tensor soft = ((logits + noise) / options.tau()).softmax(options.dim());
    if (!options.hard()) {
        return soft;
    }
    const Tensor best = std::get<1>(soft.max(options.dim(), true));
    return at::zeros_like(logits).scatter_(options.dim(), best, 1.0) - soft + soft;
}

} // namespace functional

namespace detail
{
// Prints ", inplace=true", or nothing.
struct Inplace {
    explicit Inplace(bool on_, const char *before_ = ", ") : on(on_), before(before_)
    {
    }
    friend std::ostream &operator<<(std::ostream &out, const Inplace &inplace)
    {
        return inplace.on ? out << inplace.before << std::boolalpha << "inplace=" << true : out;
    }
    bool on;
    const char *before;
};
inline Tensor softmax2d(const Tensor &input)
{
    TORCH_CHECK(input.dim() == 4 || input.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input");
    return functional::softmax(input, -3);
}
} // namespace detail

// A module whose forward calls one function with its options. The last parameters: what the module prints between the
// parentheses.
#define TAPER_CPP_NN_ACTIVATION(name, function, defaults, ...)                                                         \
    class name##Impl : public detail::PlainModule<name##Impl, name##Options>                                           \
    {                                                                                                                  \
      public:                                                                                                          \
        TAPER_CPP_NN_LATE explicit name##Impl(const name##Options &from defaults) : PlainModule(from)                  \
        {                                                                                                              \
        }                                                                                                              \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            out << "torch::nn::" #name "(" << __VA_ARGS__ << ")";                                                      \
        }                                                                                                              \
        Tensor forward(Tensor input)                                                                                   \
        {                                                                                                              \
            return functional::function;                                                                               \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(name);
TAPER_CPP_NN_ACTIVATION(ELU, elu(input, options), = {},
                        "alpha=" << options.alpha() << detail::Inplace(options.inplace()))
TAPER_CPP_NN_ACTIVATION(CELU, celu(input, options), = {},
                        "alpha=" << options.alpha() << detail::Inplace(options.inplace()))
TAPER_CPP_NN_ACTIVATION(SELU, selu(input, options), = {}, detail::Inplace(options.inplace(), ""))
TAPER_CPP_NN_ACTIVATION(ReLU, relu(input, options), = {}, detail::Inplace(options.inplace(), ""))
TAPER_CPP_NN_ACTIVATION(ReLU6, relu6(input, options), = {}, detail::Inplace(options.inplace(), ""))
TAPER_CPP_NN_ACTIVATION(LeakyReLU, leaky_relu(input, options), = {},
                        "negative_slope=" << options.negative_slope() << detail::Inplace(options.inplace()))
TAPER_CPP_NN_ACTIVATION(GLU, glu(input, options), = {}, "dim=" << options.dim())
TAPER_CPP_NN_ACTIVATION(GELU, gelu(input, options), = {}, "")
TAPER_CPP_NN_ACTIVATION(Hardshrink, hardshrink(input, options), = {}, options.lambda())
TAPER_CPP_NN_ACTIVATION(Softshrink, softshrink(input, options), = {}, options.lambda())
TAPER_CPP_NN_ACTIVATION(Softplus, softplus(input, options), = {},
                        "beta=" << options.beta() << ", threshold=" << options.threshold())
TAPER_CPP_NN_ACTIVATION(Softmax, softmax(input, options.dim()), , "dim=" << options.dim())
TAPER_CPP_NN_ACTIVATION(Softmin, softmin(input, options.dim()), , "dim=" << options.dim())
TAPER_CPP_NN_ACTIVATION(LogSoftmax, log_softmax(input, options.dim()), , "dim=" << options.dim())
#undef TAPER_CPP_NN_ACTIVATION

class ThresholdImpl : public detail::PlainModule<ThresholdImpl, ThresholdOptions>
{
  public:
    TAPER_CPP_NN_LATE ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value))
    {
    }
    TAPER_CPP_NN_LATE explicit ThresholdImpl(const ThresholdOptions &from) : PlainModule(from)
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Threshold(threshold=" << options.threshold() << ", value=" << options.value()
            << detail::Inplace(options.inplace()) << ")";
    }
    Tensor forward(Tensor input)
    {
        return functional::threshold(input, options);
    }
};
TORCH_MODULE(Threshold);

class HardtanhImpl : public detail::PlainModule<HardtanhImpl, HardtanhOptions>
{
  public:
    TAPER_CPP_NN_LATE explicit HardtanhImpl(const HardtanhOptions &from = {}) : PlainModule(from)
    {
        HardtanhImpl::reset();
    }
    void reset() override
    {
        TORCH_CHECK(options.max_val() > options.min_val(), "max_val must be greater than min_val");
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Hardtanh(min_val=" << options.min_val() << ", max_val=" << options.max_val()
            << detail::Inplace(options.inplace()) << ")";
    }
    Tensor forward(Tensor input)
    {
        return functional::hardtanh(input, options);
    }
};
TORCH_MODULE(Hardtanh);

class RReLUImpl : public detail::PlainModule<RReLUImpl, RReLUOptions>
{
  public:
    TAPER_CPP_NN_LATE explicit RReLUImpl(const RReLUOptions &from = {}) : PlainModule(from)
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::RReLU(lower=" << options.lower() << ", upper=" << options.upper()
            << detail::Inplace(options.inplace()) << ")";
    }
    Tensor forward(Tensor input)
    {
        return functional::rrelu(input, functional::RReLUFuncOptions()
                                            .lower(options.lower())
                                            .upper(options.upper())
                                            .training(is_training())
                                            .inplace(options.inplace()));
    }
};
TORCH_MODULE(RReLU);

class PReLUImpl : public Cloneable<PReLUImpl>
{
  public:
    TAPER_CPP_NN_LATE explicit PReLUImpl(const PReLUOptions &from = {}) : options(from)
    {
        PReLUImpl::reset();
    }
    void reset() override
    {
        weight = register_parameter("weight", at::full(options.num_parameters(), options.init()));
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ")";
    }
    Tensor forward(const Tensor &input)
    {
        return functional::prelu(input, weight);
    }
    PReLUOptions options;
    Tensor weight;
};
TORCH_MODULE(PReLU);

// A module without options.
#define TAPER_CPP_NN_BARE(name, function)                                                                              \
    class name##Impl : public Cloneable<name##Impl>                                                                    \
    {                                                                                                                  \
      public:                                                                                                          \
        void reset() override                                                                                          \
        {                                                                                                              \
        }                                                                                                              \
        void pretty_print(std::ostream &out) const override                                                            \
        {                                                                                                              \
            out << "torch::nn::" #name "()";                                                                           \
        }                                                                                                              \
        Tensor forward(const Tensor &input)                                                                            \
        {                                                                                                              \
            return function(input);                                                                                    \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(name);
TAPER_CPP_NN_BARE(LogSigmoid, at::log_sigmoid)
TAPER_CPP_NN_BARE(Sigmoid, at::sigmoid)
TAPER_CPP_NN_BARE(SiLU, at::silu)
TAPER_CPP_NN_BARE(Mish, at::mish)
TAPER_CPP_NN_BARE(Tanh, at::tanh)
TAPER_CPP_NN_BARE(Softsign, functional::softsign)
TAPER_CPP_NN_BARE(Tanhshrink, functional::tanhshrink)
TAPER_CPP_NN_BARE(Softmax2d, detail::softmax2d)
#undef TAPER_CPP_NN_BARE

} // namespace nn
} // namespace torch

#endif
