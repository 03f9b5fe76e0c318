/* SPDX-License-Identifier: BSD-2-Clause */
// torch::optim, so that programs that also train compile. Options are kept as in libtorch. There are no optimizers:
// their constructors throw c10::NotImplementedError.
#ifndef TAPER_CPP_OPTIM_H
#define TAPER_CPP_OPTIM_H

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <taper/cpp/nn/expanding_array.h>
#include <taper/cpp/tensor.h>

namespace torch
{
namespace serialize
{
class InputArchive;
class OutputArchive;
} // namespace serialize

namespace optim
{

namespace detail
{
[[noreturn]] inline void no_training(const std::string &name)
{
    throw c10::NotImplementedError("torch::optim::" + name + ": there is no training");
}
} // namespace detail

// The base of the options of an optimizer and of the state of a parameter.
#define TAPER_CPP_OPTIM_BASE(name)                                                                                     \
    virtual ~name() = default;                                                                                         \
    virtual std::unique_ptr<name> clone() const                                                                        \
    {                                                                                                                  \
        TORCH_CHECK(false, "clone() has not been implemented for torch::optim::" #name                                 \
                           ". Subclass torch::optim::OptimizerCloneable" TAPER_CPP_OPTIM_##name                        \
                    "<YourOptimizer" TAPER_CPP_OPTIM_##name "> instead of torch::optim::" #name                        \
                                                            " to inherit the ability to clone.");                      \
    }                                                                                                                  \
    virtual void serialize(serialize::InputArchive &)                                                                  \
    {                                                                                                                  \
        detail::no_training(#name "::serialize");                                                                      \
    }                                                                                                                  \
    virtual void serialize(serialize::OutputArchive &) const                                                           \
    {                                                                                                                  \
        detail::no_training(#name "::serialize");                                                                      \
    }
#define TAPER_CPP_OPTIM_OptimizerOptions "Options"
#define TAPER_CPP_OPTIM_OptimizerParamState "ParamState"

class OptimizerParamState
{
  public:
    TAPER_CPP_OPTIM_BASE(OptimizerParamState)
};

class OptimizerOptions
{
  public:
    TAPER_CPP_OPTIM_BASE(OptimizerOptions)
    virtual double get_lr() const
    {
        TORCH_CHECK(false, "double get_lr() has not been overidden and implemented in subclass of "
                           "torch::optim::OptimizerOptions, you must override it in your subclass.");
    }
    virtual void set_lr(const double)
    {
        TORCH_CHECK(false, "double set_lr() has not been overidden and implemented in subclass of "
                           "torch::optim::OptimizerOptions, you must override it in your subclass.");
    }
};
#undef TAPER_CPP_OPTIM_OptimizerOptions
#undef TAPER_CPP_OPTIM_OptimizerParamState
#undef TAPER_CPP_OPTIM_BASE

template <class Derived> class OptimizerCloneableParamState : public OptimizerParamState
{
    std::unique_ptr<OptimizerParamState> clone() const override
    {
        return std::make_unique<Derived>(static_cast<const Derived &>(*this));
    }
};

template <class Derived> class OptimizerCloneableOptions : public OptimizerOptions
{
    std::unique_ptr<OptimizerOptions> clone() const override
    {
        return std::make_unique<Derived>(static_cast<const Derived &>(*this));
    }
};

// Parameters with options of their own, which the group owns. A copy clones the options.
class OptimizerParamGroup
{
  public:
    OptimizerParamGroup(const OptimizerParamGroup &other)
        : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr)
    {
    }
    OptimizerParamGroup(std::vector<at::Tensor> params) : params_(std::move(params))
    {
    }
    OptimizerParamGroup(std::vector<at::Tensor> params, std::unique_ptr<OptimizerOptions> options)
        : params_(std::move(params)), options_(std::move(options))
    {
    }
    bool has_options() const
    {
        return options_ != nullptr;
    }
    OptimizerOptions &options()
    {
        TORCH_CHECK(has_options());
        return *options_;
    }
    const OptimizerOptions &options() const
    {
        TORCH_CHECK(has_options());
        return *options_;
    }
    void set_options(std::unique_ptr<OptimizerOptions> options)
    {
        options_ = std::move(options);
    }
    std::vector<at::Tensor> &params()
    {
        return params_;
    }
    const std::vector<at::Tensor> &params() const
    {
        return params_;
    }

  protected:
    std::vector<at::Tensor> params_;
    std::unique_ptr<OptimizerOptions> options_;
};

// The base of all optimizers. Its constructors throw, so that the other functions are never called.
class Optimizer
{
  public:
    using LossClosure = std::function<at::Tensor()>;
    using State = std::unordered_map<std::string, std::unique_ptr<OptimizerParamState>>;

    // name: the class that the error names.
    explicit Optimizer(std::vector<OptimizerParamGroup>, std::unique_ptr<OptimizerOptions>,
                       const char *name = "Optimizer")
    {
        detail::no_training(name);
    }
    explicit Optimizer(std::vector<at::Tensor>, std::unique_ptr<OptimizerOptions>, const char *name = "Optimizer")
    {
        detail::no_training(name);
    }
    Optimizer(const Optimizer &) = delete;
    Optimizer(Optimizer &&) = default;
    virtual ~Optimizer() = default;

    virtual at::Tensor step(LossClosure closure = nullptr) = 0;
    virtual void save(serialize::OutputArchive &) const
    {
        detail::no_training("Optimizer::save");
    }
    virtual void load(serialize::InputArchive &)
    {
        detail::no_training("Optimizer::load");
    }
    void add_param_group(const OptimizerParamGroup &)
    {
        detail::no_training("Optimizer::add_param_group");
    }
    void add_parameters(const std::vector<at::Tensor> &)
    {
        detail::no_training("Optimizer::add_parameters");
    }
    void zero_grad(bool = true)
    {
        detail::no_training("Optimizer::zero_grad");
    }
    const std::vector<at::Tensor> &parameters() const noexcept
    {
        return param_groups_.at(0).params();
    }
    std::vector<at::Tensor> &parameters() noexcept
    {
        return param_groups_.at(0).params();
    }
    size_t size() const noexcept
    {
        return 0;
    }
    OptimizerOptions &defaults() noexcept
    {
        return *defaults_;
    }
    const OptimizerOptions &defaults() const noexcept
    {
        return *defaults_;
    }
    std::vector<OptimizerParamGroup> &param_groups() noexcept
    {
        return param_groups_;
    }
    const std::vector<OptimizerParamGroup> &param_groups() const noexcept
    {
        return param_groups_;
    }
    State &state() noexcept
    {
        return state_;
    }
    const State &state() const noexcept
    {
        return state_;
    }

  protected:
    std::vector<OptimizerParamGroup> param_groups_;
    State state_;
    std::unique_ptr<OptimizerOptions> defaults_;
};

inline serialize::OutputArchive &operator<<(serialize::OutputArchive &archive, const Optimizer &optimizer)
{
    optimizer.save(archive);
    return archive;
}
inline serialize::InputArchive &operator>>(serialize::InputArchive &archive, Optimizer &optimizer)
{
    optimizer.load(archive);
    return archive;
}

// Begins the class of an optimizer's options, with the default of the learning rate.
#define TAPER_CPP_OPTIM_OPTIONS(name, initial)                                                                         \
    struct name##Options : public OptimizerCloneableOptions<name##Options> {                                           \
        name##Options(double lr initial) : lr_(lr)                                                                     \
        {                                                                                                              \
        }                                                                                                              \
        TORCH_ARG(double, lr);                                                                                         \
                                                                                                                       \
      public:                                                                                                          \
        double get_lr() const override                                                                                 \
        {                                                                                                              \
            return lr_;                                                                                                \
        }                                                                                                              \
        void set_lr(const double lr) override                                                                          \
        {                                                                                                              \
            lr_ = lr;                                                                                                  \
        }
// Defines an optimizer from its options and the state that it would keep for a parameter.
#define TAPER_CPP_OPTIMIZER(name, ...)                                                                                 \
    class name : public Optimizer                                                                                      \
    {                                                                                                                  \
      public:                                                                                                          \
        explicit name(std::vector<OptimizerParamGroup> groups, name##Options __VA_ARGS__)                              \
            : Optimizer(std::move(groups), nullptr, #name)                                                             \
        {                                                                                                              \
        }                                                                                                              \
        explicit name(std::vector<at::Tensor> params, name##Options __VA_ARGS__)                                       \
            : Optimizer(std::move(params), nullptr, #name)                                                             \
        {                                                                                                              \
        }                                                                                                              \
        at::Tensor step(LossClosure = nullptr) override                                                                \
        {                                                                                                              \
            detail::no_training(#name "::step");                                                                       \
        }                                                                                                              \
    };

TAPER_CPP_OPTIM_OPTIONS(SGD, )
TORCH_ARG(double, momentum) = 0;
TORCH_ARG(double, dampening) = 0;
TORCH_ARG(double, weight_decay) = 0;
TORCH_ARG(bool, nesterov) = false;
};
TAPER_CPP_OPTIMIZER(SGD, )

TAPER_CPP_OPTIM_OPTIONS(Adam, = 1e-3)
using betas_t = std::tuple<double, double>;
TORCH_ARG(betas_t, betas) = betas_t(0.9, 0.999);
TORCH_ARG(double, eps) = 1e-8;
TORCH_ARG(double, weight_decay) = 0;
TORCH_ARG(bool, amsgrad) = false;
};
TAPER_CPP_OPTIMIZER(Adam, = {})

TAPER_CPP_OPTIM_OPTIONS(AdamW, = 1e-3)
using betas_t = std::tuple<double, double>;
TORCH_ARG(betas_t, betas) = betas_t(0.9, 0.999);
TORCH_ARG(double, eps) = 1e-8;
TORCH_ARG(double, weight_decay) = 1e-2;
TORCH_ARG(bool, amsgrad) = false;
}
;
TAPER_CPP_OPTIMIZER(AdamW, = {})

TAPER_CPP_OPTIM_OPTIONS(RMSprop, = 1e-2)
TORCH_ARG(double, alpha) = 0.99;
TORCH_ARG(double, eps) = 1e-8;
TORCH_ARG(double, weight_decay) = 0;
TORCH_ARG(double, momentum) = 0;
TORCH_ARG(bool, centered) = false;
}
;
TAPER_CPP_OPTIMIZER(RMSprop, = {})

TAPER_CPP_OPTIM_OPTIONS(Adagrad, = 1e-2)
TORCH_ARG(double, lr_decay) = 0;
TORCH_ARG(double, weight_decay) = 0;
TORCH_ARG(double, initial_accumulator_value) = 0;
TORCH_ARG(double, eps) = 1e-10;
}
;
TAPER_CPP_OPTIMIZER(Adagrad, = {})

TAPER_CPP_OPTIM_OPTIONS(LBFGS, = 1)
TORCH_ARG(int64_t, max_iter) = 20;
TORCH_ARG(c10::optional<int64_t>, max_eval) = c10::nullopt;
TORCH_ARG(double, tolerance_grad) = 1e-7;
TORCH_ARG(double, tolerance_change) = 1e-9;
TORCH_ARG(int64_t, history_size) = 100;
TORCH_ARG(c10::optional<std::string>, line_search_fn) = c10::nullopt;
}
;
TAPER_CPP_OPTIMIZER(LBFGS, = {})
#undef TAPER_CPP_OPTIM_OPTIONS
#undef TAPER_CPP_OPTIMIZER

// Would change the learning rate of an optimizer. The constructor of this class throws, because there are no
// optimizers.
class LRScheduler
{
  public:
    LRScheduler(Optimizer &)
    {
        detail::no_training("LRScheduler");
    }
    virtual ~LRScheduler() = default;
    void step()
    {
        detail::no_training("LRScheduler::step");
    }

  protected:
    virtual std::vector<double> get_lrs() = 0;
    std::vector<double> get_current_lrs() const
    {
        return {};
    }
    unsigned step_count_ = 0;
};

class StepLR : public LRScheduler
{
  public:
    StepLR(Optimizer &optimizer, unsigned, double = 0.1) : LRScheduler(optimizer)
    {
    }

  private:
    std::vector<double> get_lrs() override
    {
        return {};
    }
};

} // namespace optim
} // namespace torch

#endif
