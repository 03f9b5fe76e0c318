/* SPDX-License-Identifier: BSD-2-Clause */
// The modes of autograd, of which each thread has its own, and the recording of calls for gradients.
#ifndef TAPER_CPP_GRAD_MODE_H
#define TAPER_CPP_GRAD_MODE_H

#include <atomic>

#include <taper/cpp/handle.h>
#include <taper/taper_gradient.h>
#include <taper/taper_operator.h>

namespace c10
{
namespace detail
{
struct AutogradModes {
    bool grad = true, forward_grad = true, inference = false, multithreading = true;
};
inline AutogradModes &autograd_modes()
{
    static thread_local AutogradModes modes;
    return modes;
}
} // namespace detail
} // namespace c10

namespace taper
{
namespace cpp
{

// True once the program has set a tensor to require a gradient. Until then no call is recorded, so programs that only
// run models are not slowed down.
inline std::atomic<bool> &gradients_asked()
{
    static std::atomic<bool> asked(false);
    return asked;
}
inline bool records_now()
{
    return gradients_asked().load(std::memory_order_relaxed) && c10::detail::autograd_modes().grad;
}
// Makes the next call of the handle record for gradients exactly if the thread's mode requires it.
inline void record_call(taper_operator *op)
{
    if (gradients_asked().load(std::memory_order_relaxed)) {
        ErrorScope error;
        error.check(taper_operator_record(op, records_now() ? 1 : 0, error));
    }
}
// Sets whether gradients of a tensor will be asked for. A library that computes no gradients ignores the setting: an
// error comes when the program asks for a gradient.
inline void require_gradient(const Handle &tensor, bool wanted)
{
    ErrorScope error;
    const taper_status status = taper_value_require_gradient(tensor.get(), wanted ? 1 : 0, error);
    if (status == TAPER_ERROR_UNSUPPORTED) {
        return;
    }
    error.check(status);
    if (wanted) {
        gradients_asked().store(true, std::memory_order_relaxed);
    }
}

// Returns true if the value is a tensor that requires a gradient, or contains one at most `depth` containers deep.
inline bool requires_gradient(const taper_value *value, int depth = 8)
{
    const taper_kind kind = taper_value_kind(value);
    if (kind == TAPER_KIND_TENSOR) {
        taper_tensor_info info;
        info.struct_size = sizeof info;
        return taper_value_get_tensor(value, &info, nullptr) == TAPER_OK && info.requires_grad != 0;
    }
    const bool holds = kind == TAPER_KIND_LIST || kind == TAPER_KIND_TUPLE || kind == TAPER_KIND_DICT;
    const size_t count = holds && depth > 0 ? taper_value_count(value) : 0;
    for (size_t i = 0; i < count; i++) {
        taper_value *item = nullptr;
        const bool found = taper_value_item(value, i, &item, nullptr) == TAPER_OK && requires_gradient(item, depth - 1);
        taper_value_release(item);
        if (found) {
            return true;
        }
    }
    return false;
}

} // namespace cpp
} // namespace taper

#endif
