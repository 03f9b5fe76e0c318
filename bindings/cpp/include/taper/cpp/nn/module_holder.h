/* SPDX-License-Identifier: BSD-2-Clause */
// ModuleHolder and TORCH_MODULE: the class Linear is a shared pointer to a LinearImpl that is called like a function.
#ifndef TAPER_CPP_NN_MODULE_HOLDER_H
#define TAPER_CPP_NN_MODULE_HOLDER_H

#include <memory>
#include <ostream>
#include <type_traits>
#include <utility>

#include <taper/cpp/error.h>

namespace torch
{
namespace nn
{
class Module;
}

namespace detail
{

struct ModuleHolderIndicator {
};
template <class T> using is_module_holder = std::is_base_of<ModuleHolderIndicator, std::decay_t<T>>;
template <class T> using disable_if_module_holder_t = std::enable_if_t<!is_module_holder<T>::value>;
template <class T> using is_module = std::is_base_of<nn::Module, std::decay_t<T>>;
template <class M, class T = void> using enable_if_module_t = std::enable_if_t<is_module<M>::value, T>;

// Is true if T is a holder of the module type Contained.
template <bool holder, class T, class Contained> struct holder_of : std::false_type {
};
template <class T, class Contained>
struct holder_of<true, T, Contained> : std::is_same<typename std::decay_t<T>::ContainedType, Contained> {
};
template <class T, class Contained>
struct is_module_holder_of : holder_of<is_module_holder<T>::value, T, std::decay_t<Contained>> {
};

// Is true if T has one member function `forward` that is not a template.
template <class T, class = void> struct has_forward : std::false_type {
};
template <class T> struct has_forward<T, decltype(static_cast<void>(&T::forward))> : std::true_type {
};

} // namespace detail

namespace nn
{

template <class Contained> class ModuleHolder : torch::detail::ModuleHolderIndicator
{
  public:
    using ContainedType = Contained;

    ModuleHolder() : impl_(new Contained())
    {
    }
    ModuleHolder(std::nullptr_t)
    {
    }
    template <
        class Head, class... Tail,
        class = std::enable_if_t<!(torch::detail::is_module_holder_of<Head, Contained>::value && sizeof...(Tail) == 0)>>
    explicit ModuleHolder(Head &&head, Tail &&...tail)
        : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...))
    {
    }
    ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module))
    {
    }

    explicit operator bool() const noexcept
    {
        return !is_empty();
    }
    Contained *operator->()
    {
        return get();
    }
    const Contained *operator->() const
    {
        return get();
    }
    Contained &operator*()
    {
        return *get();
    }
    const Contained &operator*() const
    {
        return *get();
    }
    const std::shared_ptr<Contained> &ptr() const
    {
        TORCH_CHECK(!is_empty(), "Accessing empty ModuleHolder");
        return impl_;
    }
    Contained *get()
    {
        return ptr().get();
    }
    const Contained *get() const
    {
        return ptr().get();
    }
    template <class... Args, class C = Contained>
    auto operator()(Args &&...args) -> decltype(std::declval<C &>().forward(std::forward<Args>(args)...))
    {
        return get()->forward(std::forward<Args>(args)...);
    }
    template <class Arg> decltype(auto) operator[](Arg &&arg)
    {
        return (*impl_)[std::forward<Arg>(arg)];
    }
    bool is_empty() const noexcept
    {
        return impl_ == nullptr;
    }

  protected:
    std::shared_ptr<Contained> impl_;
};

template <class Contained> std::ostream &operator<<(std::ostream &out, const ModuleHolder<Contained> &module)
{
    return out << *module;
}

} // namespace nn
} // namespace torch

#define TORCH_MODULE_IMPL(Name, ImplType)                                                                              \
    class Name : public torch::nn::ModuleHolder<ImplType>                                                              \
    {                                                                                                                  \
      public:                                                                                                          \
        using torch::nn::ModuleHolder<ImplType>::ModuleHolder;                                                         \
        using Impl = ImplType;                                                                                         \
    }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)

#endif
