/* SPDX-License-Identifier: BSD-2-Clause */
// Guards of autograd: they set the modes of a thread while they exist. Calls are recorded for gradients while the mode
// `grad` is set.
#ifndef TAPER_CPP_GUARDS_H
#define TAPER_CPP_GUARDS_H

#include <taper/cpp/exception.h>
#include <taper/cpp/grad_mode.h>

namespace c10
{

struct GradMode {
    static bool is_enabled()
    {
        return detail::autograd_modes().grad;
    }
    static void set_enabled(bool enabled)
    {
        detail::autograd_modes().grad = enabled;
    }
};
// Sets whether gradients are computed, until the guard is destroyed.
struct AutoGradMode {
    AutoGradMode(bool enabled) : prev_mode(GradMode::is_enabled())
    {
        GradMode::set_enabled(enabled);
    }
    ~AutoGradMode()
    {
        GradMode::set_enabled(prev_mode);
    }
    AutoGradMode(const AutoGradMode &) = delete;
    AutoGradMode &operator=(const AutoGradMode &) = delete;
    bool prev_mode;
};
struct NoGradGuard : public AutoGradMode {
    NoGradGuard() : AutoGradMode(false)
    {
    }
};
struct AutoFwGradMode {
    AutoFwGradMode(bool enabled) : prev_mode(detail::autograd_modes().forward_grad)
    {
        detail::autograd_modes().forward_grad = enabled;
    }
    ~AutoFwGradMode()
    {
        detail::autograd_modes().forward_grad = prev_mode;
    }
    AutoFwGradMode(const AutoFwGradMode &) = delete;
    AutoFwGradMode &operator=(const AutoFwGradMode &) = delete;
    bool prev_mode;
};
class InferenceMode
{
  public:
    explicit InferenceMode(bool enabled = true) : before_(detail::autograd_modes())
    {
        detail::AutogradModes &modes = detail::autograd_modes();
        modes.inference = enabled;
        modes.grad = modes.forward_grad = !enabled;
    }
    ~InferenceMode()
    {
        detail::autograd_modes() = before_;
    }
    InferenceMode(const InferenceMode &) = delete;
    InferenceMode &operator=(const InferenceMode &) = delete;
    static bool is_enabled()
    {
        return detail::autograd_modes().inference;
    }

  private:
    detail::AutogradModes before_;
};

} // namespace c10

// Defines a guard of the dispatcher, which has nothing to do. Its destructor prevents warnings about unused guards.
#define TAPER_CPP_GUARD(name, ...)                                                                                     \
    class name                                                                                                         \
    {                                                                                                                  \
      public:                                                                                                          \
        explicit name(bool __VA_ARGS__)                                                                                \
        {                                                                                                              \
        }                                                                                                              \
        ~name()                                                                                                        \
        {                                                                                                              \
        }                                                                                                              \
        name(const name &) = delete;                                                                                   \
        name &operator=(const name &) = delete;                                                                        \
    };

namespace at
{
using c10::AutoGradMode;
using c10::GradMode;
using c10::NoGradGuard;
TAPER_CPP_GUARD(AutoNonVariableTypeMode, = true)
TAPER_CPP_GUARD(AutoDispatchBelowADInplaceOrView, = true)
TAPER_CPP_GUARD(AutoDispatchBelowAutograd, = true)
TAPER_CPP_GUARD(AutoDispatchSkipFunctionalize, = true)
} // namespace at

namespace torch
{
using namespace at;
using c10::AutoGradMode;
using c10::InferenceMode;
using c10::NoGradGuard;
namespace autograd
{
using c10::AutoGradMode;
using c10::GradMode;
using c10::InferenceMode;
} // namespace autograd
} // namespace torch

#include <taper/cpp/executor.h>

#endif
