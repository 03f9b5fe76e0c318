/* SPDX-License-Identifier: BSD-2-Clause */
// Guards of autograd and of the graph executor. They do nothing, because gradients are not supported.
#ifndef TAPER_CPP_GUARDS_H
#define TAPER_CPP_GUARDS_H

#include <taper/cpp/error.h>

// Defines a class that stores a flag. Its destructor prevents warnings about unused guards.
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

namespace c10
{
TAPER_CPP_GUARD(InferenceMode, = true)
TAPER_CPP_GUARD(AutoGradMode, )
} // namespace c10

namespace at
{
TAPER_CPP_GUARD(AutoNonVariableTypeMode, = true)
TAPER_CPP_GUARD(AutoDispatchBelowADInplaceOrView, = true)
TAPER_CPP_GUARD(NoGradGuard, = true)
} // namespace at

namespace torch
{
using namespace at;
using c10::AutoGradMode;
using c10::InferenceMode;
namespace autograd
{
using c10::AutoGradMode;
}
namespace jit
{
TAPER_CPP_GUARD(GraphOptimizerEnabledGuard, )
}
} // namespace torch

#endif
