/* SPDX-License-Identifier: BSD-2-Clause */
// Batch and instance normalization over one, two and three dimensions.
#ifndef TAPER_CPP_NN_BATCHNORM_H
#define TAPER_CPP_NN_BATCHNORM_H

#include <taper/cpp/nn/init.h>
#include <taper/cpp/nn/options.h>

namespace torch
{
namespace nn
{

struct BatchNormOptions {
    BatchNormOptions(int64_t features) : num_features_(features)
    {
    }
    TORCH_ARG(int64_t, num_features);
    TORCH_ARG(double, eps) = 1e-5;
    // If absent, the running mean and variance are averages over all batches.
    TORCH_ARG(c10::optional<double>, momentum) = 0.1;
    TORCH_ARG(bool, affine) = true;
    TORCH_ARG(bool, track_running_stats) = true;
};
struct InstanceNormOptions {
    InstanceNormOptions(int64_t features) : num_features_(features)
    {
    }
    TORCH_ARG(int64_t, num_features);
    TORCH_ARG(double, eps) = 1e-5;
    TORCH_ARG(double, momentum) = 0.1;
    TORCH_ARG(bool, affine) = false;
    TORCH_ARG(bool, track_running_stats) = false;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

namespace functional
{
struct BatchNormFuncOptions {
    TORCH_ARG(Tensor, weight) = Tensor();
    TORCH_ARG(Tensor, bias) = Tensor();
    TORCH_ARG(bool, training) = false;
    TORCH_ARG(c10::optional<double>, momentum) = 0.1;
    TORCH_ARG(double, eps) = 1e-5;
};
struct InstanceNormFuncOptions {
    TORCH_ARG(Tensor, running_mean) = Tensor();
    TORCH_ARG(Tensor, running_var) = Tensor();
    TORCH_ARG(Tensor, weight) = Tensor();
    TORCH_ARG(Tensor, bias) = Tensor();
    TORCH_ARG(bool, use_input_stats) = true;
    TORCH_ARG(double, momentum) = 0.1;
    TORCH_ARG(double, eps) = 1e-5;
};

namespace detail
{
inline Tensor batch_norm(const Tensor &input, const Tensor &mean, const Tensor &var, Tensor weight, Tensor bias,
                         bool training, c10::optional<double> momentum, double eps)
{
    if (training) {
        int64_t values = input.size(0);
        for (size_t d = 2; d < input.sizes().size(); d++) {
            values *= input.sizes()[d];
        }
        TORCH_CHECK(values != 1, "Expected more than 1 value per channel when training, got input size ",
                    input.sizes());
    }
    return at::batch_norm(input, weight, bias, mean, var, training, momentum.value(), eps, true);
}
inline Tensor instance_norm(const Tensor &input, const Tensor &mean, const Tensor &var, const Tensor &weight,
                            const Tensor &bias, bool use_input_stats, double momentum, double eps)
{
    return at::instance_norm(input, weight, bias, mean, var, use_input_stats, momentum, eps, true);
}
} // namespace detail

inline Tensor batch_norm(const Tensor &input, const Tensor &running_mean, const Tensor &running_var,
                         const BatchNormFuncOptions &options = {})
{
    return detail::batch_norm(input, running_mean, running_var, options.weight(), options.bias(), options.training(),
                              options.momentum(), options.eps());
}
inline Tensor instance_norm(const Tensor &input, const InstanceNormFuncOptions &options = {})
{
    return detail::instance_norm(input, options.running_mean(), options.running_var(), options.weight(), options.bias(),
                                 options.use_input_stats(), options.momentum(), options.eps());
}
} // namespace functional

template <size_t D, class Derived, class Options> class NormImplBase : public Cloneable<Derived>
{
  public:
    NormImplBase(const Options &from) : options(from)
    {
        NormImplBase::reset();
    }
    void reset() override
    {
        const int64_t n = options.num_features();
        const bool affine = options.affine(), tracks = options.track_running_stats();
        weight = this->register_parameter("weight", affine ? at::empty({n}) : Tensor(), affine);
        bias = this->register_parameter("bias", affine ? at::empty({n}) : Tensor(), affine);
        running_mean = this->register_buffer("running_mean", tracks ? at::zeros({n}) : Tensor());
        running_var = this->register_buffer("running_var", tracks ? at::ones({n}) : Tensor());
        num_batches_tracked =
            this->register_buffer("num_batches_tracked", tracks ? at::zeros({}, at::kLong) : Tensor());
        reset_parameters();
    }
    void reset_running_stats()
    {
        if (options.track_running_stats()) {
            running_mean.zero_();
            running_var.fill_(1);
            num_batches_tracked.zero_();
        }
    }
    void reset_parameters()
    {
        reset_running_stats();
        if (options.affine()) {
            init::ones_(weight);
            init::zeros_(bias);
        }
    }
    Options options;
    Tensor weight, bias, running_mean, running_var, num_batches_tracked;

  protected:
    virtual void _check_input_dim(const Tensor &input) = 0;
    // also_less: true if an input of rank D + 1 is accepted in addition to rank D + 2.
    void check_rank(const Tensor &input, bool also_less) const
    {
        const int64_t rank = input.dim(), wanted = static_cast<int64_t>(D) + 2;
        TORCH_CHECK(rank == wanted || (also_less && rank == wanted - 1), "expected ",
                    also_less ? c10::str(wanted - 1, "D or ") : std::string(), wanted, "D input (got ", rank,
                    "D input)");
    }
    void print_as(std::ostream &out, const char *name, double momentum) const
    {
        out << std::boolalpha << "torch::nn::" << name << D << "d(" << options.num_features()
            << ", eps=" << options.eps() << ", momentum=" << momentum << ", affine=" << options.affine()
            << ", track_running_stats=" << options.track_running_stats() << ")";
    }
};

template <size_t D, class Derived> class BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions>
{
  public:
    using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;
    Tensor forward(const Tensor &input)
    {
        this->_check_input_dim(input);
        const bool tracks = this->options.track_running_stats(), training = this->is_training();
        double momentum = this->options.momentum().value_or(0.0);
        if (training && tracks && this->num_batches_tracked.defined()) {
            this->num_batches_tracked += 1;
            if (!this->options.momentum().has_value()) {
                momentum = 1.0 / this->num_batches_tracked.template item<double>();
            }
        }
        return functional::detail::batch_norm(input, this->running_mean, this->running_var, this->weight, this->bias,
                                              training || !tracks, momentum, this->options.eps());
    }
    void pretty_print(std::ostream &out) const override
    {
        this->print_as(out, "BatchNorm", this->options.momentum().value());
    }
};

template <size_t D, class Derived> class InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions>
{
  public:
    using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;
    Tensor forward(const Tensor &input)
    {
        this->_check_input_dim(input);
        return input.dim() == D + 1 ? normalize(input.unsqueeze(0)).squeeze(0) : normalize(input);
    }
    void pretty_print(std::ostream &out) const override
    {
        this->print_as(out, "InstanceNorm", this->options.momentum());
    }

  private:
    Tensor normalize(const Tensor &input)
    {
        return functional::detail::instance_norm(input, this->running_mean, this->running_var, this->weight, this->bias,
                                                 this->is_training() || !this->options.track_running_stats(),
                                                 this->options.momentum(), this->options.eps());
    }
};

// also_less: an input without batches is accepted.
#define TAPER_CPP_NN_NORM(base, name, D, also_less)                                                                    \
    class name##D##dImpl : public base<D, name##D##dImpl>                                                              \
    {                                                                                                                  \
      public:                                                                                                          \
        using base<D, name##D##dImpl>::base;                                                                           \
                                                                                                                       \
      protected:                                                                                                       \
        void _check_input_dim(const Tensor &input) override                                                            \
        {                                                                                                              \
            check_rank(input, also_less);                                                                              \
        }                                                                                                              \
    };                                                                                                                 \
    TORCH_MODULE(name##D##d);
TAPER_CPP_NN_NORM(BatchNormImplBase, BatchNorm, 1, true)
TAPER_CPP_NN_NORM(BatchNormImplBase, BatchNorm, 2, false)
TAPER_CPP_NN_NORM(BatchNormImplBase, BatchNorm, 3, false)
TAPER_CPP_NN_NORM(InstanceNormImpl, InstanceNorm, 1, true)
TAPER_CPP_NN_NORM(InstanceNormImpl, InstanceNorm, 2, true)
TAPER_CPP_NN_NORM(InstanceNormImpl, InstanceNorm, 3, true)
#undef TAPER_CPP_NN_NORM

} // namespace nn
} // namespace torch

#endif
