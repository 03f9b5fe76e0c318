/* SPDX-License-Identifier: BSD-2-Clause */
// torch::nn::AnyModule: a module of any type, whose forward takes and returns values of any types.
#ifndef TAPER_CPP_NN_ANY_MODULE_H
#define TAPER_CPP_NN_ANY_MODULE_H

#include <string>
#include <vector>

#include <taper/cpp/nn/module.h>

namespace torch
{
namespace nn
{

class AnyModule
{
  public:
    AnyModule() = default;
    template <class M> explicit AnyModule(std::shared_ptr<M> module)
    {
        static_assert(torch::detail::is_module<M>::value, "an AnyModule holds classes derived from nn::Module");
        static_assert(torch::detail::has_forward<M>::value,
                      "an AnyModule holds modules with one forward(), which is not a template");
        hold(std::move(module), &M::forward);
    }
    template <class M, class = torch::detail::enable_if_module_t<M>>
    explicit AnyModule(M &&module) : AnyModule(std::make_shared<std::decay_t<M>>(std::forward<M>(module)))
    {
    }
    template <class M> explicit AnyModule(const ModuleHolder<M> &holder) : AnyModule(holder.ptr())
    {
    }
    template <class M> AnyModule &operator=(std::shared_ptr<M> module)
    {
        return *this = AnyModule(std::move(module));
    }
    AnyModule clone(optional<Device> device = nullopt) const
    {
        AnyModule copy(*this);
        copy.module_ = module_ == nullptr ? nullptr : module_->clone(device);
        return copy;
    }

    template <class... Args> AnyValue any_forward(Args &&...args)
    {
        TORCH_CHECK(!is_empty(), "Cannot call forward() on an empty AnyModule");
        std::vector<AnyValue> values;
        values.reserve(sizeof...(Args));
        const int in_order[] = {0, (values.emplace_back(std::forward<Args>(args)), 0)...};
        (void)in_order;
        complete(values);
        return call_(*module_, values);
    }
    template <class Return = Tensor, class... Args> Return forward(Args &&...args)
    {
        return any_forward(std::forward<Args>(args)...).template get<Return>();
    }

    template <class T, class = torch::detail::enable_if_module_t<T>> T &get()
    {
        return checked<T>("get");
    }
    template <class T, class = torch::detail::enable_if_module_t<T>> const T &get() const
    {
        return checked<T>("get");
    }
    template <class T, class Contained = typename T::ContainedType> T get() const
    {
        return T(ptr<Contained>());
    }
    std::shared_ptr<Module> ptr() const
    {
        TORCH_CHECK(!is_empty(), "Cannot call ptr() on an empty AnyModule");
        return module_;
    }
    template <class T, class = torch::detail::enable_if_module_t<T>> std::shared_ptr<T> ptr() const
    {
        checked<T>("ptr");
        return std::dynamic_pointer_cast<T>(module_);
    }
    const std::type_info &type_info() const
    {
        TORCH_CHECK(!is_empty(), "Cannot call type_info() on an empty AnyModule");
        return *type_;
    }
    bool is_empty() const noexcept
    {
        return module_ == nullptr;
    }

  private:
    // Calls the module's forward; there is one value for each argument of forward.
    using Call = AnyValue (*)(Module &module, std::vector<AnyValue> &values);

    template <class M, class Class, class Return, class... Args>
    void hold(std::shared_ptr<M> &&module, Return (Class::*)(Args...))
    {
        static_assert(!std::is_void<Return>::value, "an AnyModule holds modules that return a value");
        module_ = std::move(module);
        type_ = &typeid(M);
        count_ = sizeof...(Args);
        call_ = [](Module &of, std::vector<AnyValue> &values) {
            return invoke<M, Args...>(static_cast<M &>(of), values, std::index_sequence_for<Args...>());
        };
    }
    template <class M, class... Args, size_t... I>
    static AnyValue invoke(M &module, std::vector<AnyValue> &values, std::index_sequence<I...>)
    {
        (void)values;
        return AnyValue(module.forward(argument<Args>(values, I)...));
    }
    template <class T> static std::decay_t<T> &&argument(std::vector<AnyValue> &values, size_t index)
    {
        static_assert(!std::is_lvalue_reference<T>::value || std::is_const<std::remove_reference_t<T>>::value,
                      "modules in an AnyModule take no references to what they change");
        std::decay_t<T> *const found = values[index].template try_get<std::decay_t<T>>();
        if (found == nullptr) {
            wrong_type(index, typeid(T), values[index].type_info());
        }
        return std::move(*found);
    }
    static void wrong_type(size_t index, const std::type_info &wanted, const std::type_info &found)
    {
        throw c10::Error(c10::str("Expected argument #", index, " to be of type ", taper::cpp::type_text(wanted),
                                  ", but received value of type ", taper::cpp::type_text(found)));
    }

    // Adds the defaults of arguments that were not given.
    void complete(std::vector<AnyValue> &values) const
    {
        const std::string name = taper::cpp::type_text(*type_);
        if (module_->_forward_has_default_args()) {
            const unsigned int least = module_->_forward_num_required_args();
            TORCH_CHECK(values.size() >= least && values.size() <= count_, name,
                        "'s forward() method expects at least ", least, " argument(s) and at most ", count_,
                        " argument(s), but received ", values.size(), ".");
            values = module_->_forward_populate_default_args(std::move(values));
        }
        const std::string prompt = values.size() >= count_
                                       ? ""
                                       : " If " + name +
                                             "'s forward() method has default arguments, please make sure the "
                                             "forward() method is declared with a corresponding "
                                             "`FORWARD_HAS_DEFAULT_ARGS` macro.";
        TORCH_CHECK(values.size() == count_, name, "'s forward() method expects ", count_,
                    " argument(s), but received ", values.size(), ".", prompt);
    }
    template <class T> T &checked(const char *method) const
    {
        TORCH_CHECK(!is_empty(), "Cannot call ", method, "() on an empty AnyModule");
        TORCH_CHECK(typeid(T) == *type_, "Attempted to cast module of type ", taper::cpp::type_text(*type_),
                    " to type ", taper::cpp::type_text(typeid(T)));
        return static_cast<T &>(*module_);
    }

    std::shared_ptr<Module> module_;
    const std::type_info *type_ = nullptr;
    size_t count_ = 0;
    Call call_ = nullptr;
};

// A module with a name, as an item of a list that makes a Sequential.
class NamedAnyModule
{
  public:
    NamedAnyModule(std::string name, AnyModule module) : name_(std::move(name)), module_(std::move(module))
    {
    }
    template <class M>
    NamedAnyModule(std::string name, std::shared_ptr<M> module) : NamedAnyModule(std::move(name), AnyModule(module))
    {
    }
    template <class M, class = torch::detail::enable_if_module_t<M>>
    NamedAnyModule(std::string name, M &&module) : NamedAnyModule(std::move(name), AnyModule(std::forward<M>(module)))
    {
    }
    template <class M>
    NamedAnyModule(std::string name, const ModuleHolder<M> &holder) : NamedAnyModule(std::move(name), holder.ptr())
    {
    }
    const std::string &name() const noexcept
    {
        return name_;
    }
    AnyModule &module() noexcept
    {
        return module_;
    }
    const AnyModule &module() const noexcept
    {
        return module_;
    }

  private:
    std::string name_;
    AnyModule module_;
};

} // namespace nn
} // namespace torch

#endif
