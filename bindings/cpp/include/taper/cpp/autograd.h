/* SPDX-License-Identifier: BSD-2-Clause */
// torch::autograd: functions that compute gradients, and other names that programs for inference use.
#ifndef TAPER_CPP_AUTOGRAD_H
#define TAPER_CPP_AUTOGRAD_H

#include <taper/cpp/guards.h>
#include <taper/cpp/operators.h>
#include <taper/cpp/tensor.h>

namespace torch
{
namespace autograd
{

using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;

namespace detail
{
// Makes a list of tensors. Undefined tensors become None.
inline taper::cpp::Handle list_of(const variable_list &tensors, const char *type)
{
    std::vector<taper_value *> items;
    const taper::cpp::Handle none = taper::cpp::make_value(taper_value_none);
    items.reserve(tensors.size());
    for (const Variable &each : tensors) {
        items.push_back(each.defined() ? each.handle().get() : none.get());
    }
    taper::cpp::ErrorScope error;
    taper_value *list = nullptr;
    error.check(taper_value_list(taper::cpp::context(), type, items.data(), items.size(), &list, error));
    return taper::cpp::Handle(list);
}
inline taper::cpp::Handle flag_of(bool flag)
{
    return taper::cpp::make_value(taper_value_bool, flag ? 1 : 0);
}
} // namespace detail

// Computes the gradients of the tensors and adds them to grad() of the leaves that require gradients. grad_tensors: for
// each tensor the gradient from which the computation starts; an undefined tensor stands for the number 1. `inputs`
// must be empty.
inline void backward(const variable_list &tensors, const variable_list &grad_tensors = {},
                     c10::optional<bool> retain_graph = c10::nullopt, bool create_graph = false,
                     const variable_list &inputs = {})
{
    if (!inputs.empty()) {
        throw c10::NotImplementedError("torch::autograd::backward of some inputs: use torch::autograd::grad");
    }
    (void)taper::cpp::call_operator(taper::cpp::operator_of("aten::backward.TensorList"),
                                    {detail::list_of(tensors, "Tensor"),
                                     grad_tensors.empty() ? taper::cpp::make_value(taper_value_none)
                                                          : detail::list_of(grad_tensors, "Optional[Tensor]"),
                                     detail::flag_of(retain_graph.value_or(create_graph)),
                                     detail::flag_of(create_graph)});
}

// Returns the gradients of the sum of the outputs with respect to the inputs. grad_outputs: for each output the
// gradient from which the computation starts; an undefined tensor stands for the number 1. An input on which no output
// depends gets an undefined tensor if allow_unused is true; otherwise the function throws.
inline variable_list grad(const variable_list &outputs, const variable_list &inputs,
                          const variable_list &grad_outputs = {}, c10::optional<bool> retain_graph = c10::nullopt,
                          bool create_graph = false, bool allow_unused = false)
{
    std::vector<taper::cpp::Handle> found =
        taper::cpp::call_operator(taper::cpp::operator_of("aten::grad"),
                                  {detail::list_of(outputs, "Tensor"), detail::list_of(inputs, "Tensor"),
                                   grad_outputs.empty() ? taper::cpp::make_value(taper_value_none)
                                                        : detail::list_of(grad_outputs, "Optional[Tensor]"),
                                   detail::flag_of(retain_graph.value_or(create_graph)), detail::flag_of(create_graph),
                                   detail::flag_of(allow_unused)});
    variable_list gradients;
    const size_t count = taper_value_count(found[0].get());
    for (size_t i = 0; i < count; i++) {
        taper::cpp::ErrorScope error;
        taper_value *item = nullptr;
        error.check(taper_value_item(found[0].get(), i, &item, error));
        taper::cpp::Handle owned(item);
        gradients.push_back(owned.kind() == TAPER_KIND_NONE ? Variable() : Variable(std::move(owned)));
    }
    return gradients;
}

// Stores the setting of anomaly detection, which has no effect.
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

// Returns `data`, because every tensor is a variable.
inline Variable make_variable(at::Tensor data, bool = false, bool = true)
{
    return data;
}

} // namespace autograd

using Variable = at::Tensor;

} // namespace torch

#endif
