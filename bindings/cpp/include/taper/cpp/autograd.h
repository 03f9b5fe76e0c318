/* SPDX-License-Identifier: BSD-2-Clause */
// Names of torch::autograd that programs for inference use. Functions that compute gradients throw.
#ifndef TAPER_CPP_AUTOGRAD_H
#define TAPER_CPP_AUTOGRAD_H

#include <taper/cpp/guards.h>
#include <taper/cpp/tensor.h>

namespace torch
{
namespace autograd
{

using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;

namespace detail
{
[[noreturn]] inline void no_gradients(const char *name)
{
    throw c10::NotImplementedError(std::string(name) + ": gradients are not computed");
}
} // namespace detail

inline void backward(const variable_list &, const variable_list & = {}, c10::optional<bool> = c10::nullopt,
                     bool = false, const variable_list & = {})
{
    detail::no_gradients("torch::autograd::backward");
}
inline variable_list grad(const variable_list &, const variable_list &, const variable_list & = {},
                          c10::optional<bool> = c10::nullopt, bool = false, bool = false)
{
    detail::no_gradients("torch::autograd::grad");
}

// Keeps the mode, which has no effect without gradients.
struct AnomalyMode {
    static bool is_enabled()
    {
        return flag();
    }
    static void set_enabled(bool enabled, bool = true)
    {
        flag() = enabled;
    }

  private:
    static std::atomic<bool> &flag()
    {
        static std::atomic<bool> enabled{false};
        return enabled;
    }
};
class DetectAnomalyGuard
{
  public:
    explicit DetectAnomalyGuard(bool = true) : before_(AnomalyMode::is_enabled())
    {
        AnomalyMode::set_enabled(true);
    }
    ~DetectAnomalyGuard()
    {
        AnomalyMode::set_enabled(before_);
    }
    DetectAnomalyGuard(const DetectAnomalyGuard &) = delete;
    DetectAnomalyGuard &operator=(const DetectAnomalyGuard &) = delete;

  private:
    bool before_;
};

// Makes a tensor that does not share the attributes of another.
inline Variable make_variable(at::Tensor data, bool = false, bool = true)
{
    return data;
}

} // namespace autograd

using Variable = at::Tensor;

} // namespace torch

#endif
