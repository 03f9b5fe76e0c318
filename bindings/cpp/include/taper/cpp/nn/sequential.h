/* SPDX-License-Identifier: BSD-2-Clause */
// torch::nn::Sequential: modules that run one after the other.
#ifndef TAPER_CPP_NN_SEQUENTIAL_H
#define TAPER_CPP_NN_SEQUENTIAL_H

#include <initializer_list>
#include <string>
#include <vector>

#include <taper/cpp/nn/any_module.h>

namespace torch
{
namespace nn
{

class SequentialImpl : public Cloneable<SequentialImpl>
{
    template <class T>
    using is_name = std::integral_constant<bool, std::is_same<std::decay_t<T>, std::string>::value ||
                                                     std::is_same<std::decay_t<T>, const char *>::value>;

  public:
    using Iterator = std::vector<AnyModule>::iterator;
    using ConstIterator = std::vector<AnyModule>::const_iterator;

    SequentialImpl() = default;
    template <class... Modules> explicit SequentialImpl(Modules &&...modules)
    {
        push_back(std::forward<Modules>(modules)...);
    }
    explicit SequentialImpl(OrderedDict<std::string, AnyModule> &&modules)
    {
        for (auto &item : modules) {
            push_back(item.key(), std::move(item.value()));
        }
    }
    explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules)
    {
        for (const NamedAnyModule &each : modules) {
            push_back(each.name(), each.module());
        }
    }
    std::shared_ptr<Module> clone(const optional<Device> &device = nullopt) const override
    {
        const auto copy = std::make_shared<SequentialImpl>();
        for (const AnyModule &each : modules_) {
            copy->push_back(each.clone(device));
        }
        return copy;
    }
    void reset() override
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Sequential";
    }

    template <class Return = Tensor, class... Inputs> Return forward(Inputs &&...inputs)
    {
        TORCH_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
        AnyValue value = modules_[0].any_forward(std::forward<Inputs>(inputs)...);
        for (size_t i = 1; i < modules_.size(); i++) {
            value = modules_[i].any_forward(std::move(value));
        }
        Return *const found = value.template try_get<Return>();
        TORCH_CHECK(found != nullptr, "The type of the return value is ", taper::cpp::type_text(value.type_info()),
                    ", but you asked for type ", taper::cpp::type_text(typeid(Return)));
        return std::move(*found);
    }

    template <class M> void push_back(std::shared_ptr<M> module)
    {
        push_back(next_name(), AnyModule(std::move(module)));
    }
    template <class M> void push_back(std::string name, std::shared_ptr<M> module)
    {
        push_back(std::move(name), AnyModule(std::move(module)));
    }
    template <class M, class = torch::detail::enable_if_module_t<M>> void push_back(M &&module)
    {
        push_back(next_name(), AnyModule(std::forward<M>(module)));
    }
    template <class M, class = torch::detail::enable_if_module_t<M>> void push_back(std::string name, M &&module)
    {
        push_back(std::move(name), AnyModule(std::forward<M>(module)));
    }
    template <class M> void push_back(const ModuleHolder<M> &holder)
    {
        push_back(next_name(), AnyModule(holder));
    }
    template <class M> void push_back(std::string name, const ModuleHolder<M> &holder)
    {
        push_back(std::move(name), AnyModule(holder));
    }
    void push_back(AnyModule module)
    {
        push_back(next_name(), std::move(module));
    }
    void push_back(std::string name, AnyModule module)
    {
        modules_.push_back(std::move(module));
        register_module(std::move(name), modules_.back().ptr());
    }
    template <class Container> void extend(const Container &container)
    {
        for (const auto &each : container) {
            push_back(each);
        }
    }

    Iterator begin()
    {
        return modules_.begin();
    }
    ConstIterator begin() const
    {
        return modules_.begin();
    }
    Iterator end()
    {
        return modules_.end();
    }
    ConstIterator end() const
    {
        return modules_.end();
    }
    template <class T> T &at(size_t index)
    {
        check(index);
        return modules_[index].get<T>();
    }
    template <class T> const T &at(size_t index) const
    {
        check(index);
        return modules_[index].get<T>();
    }
    std::shared_ptr<Module> ptr(size_t index) const
    {
        check(index);
        return modules_[index].ptr();
    }
    template <class T> std::shared_ptr<T> ptr(size_t index) const
    {
        check(index);
        return modules_[index].ptr<T>();
    }
    std::shared_ptr<Module> operator[](size_t index) const
    {
        return ptr(index);
    }
    size_t size() const noexcept
    {
        return modules_.size();
    }
    bool is_empty() const noexcept
    {
        return modules_.empty();
    }

  private:
    template <class First, class Second, class... Rest, class = std::enable_if_t<!is_name<First>::value>>
    void push_back(First &&first, Second &&second, Rest &&...rest)
    {
        push_back(std::forward<First>(first));
        push_back(std::forward<Second>(second), std::forward<Rest>(rest)...);
    }
    void push_back()
    {
    }
    std::string next_name() const
    {
        return std::to_string(modules_.size());
    }
    void check(size_t index) const
    {
        TORCH_CHECK(index < modules_.size(), "Index out of range");
    }

    std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl>
{
  public:
    using ModuleHolder<SequentialImpl>::ModuleHolder;
    Sequential() : ModuleHolder(std::make_shared<SequentialImpl>())
    {
    }
    Sequential(std::initializer_list<NamedAnyModule> modules) : ModuleHolder(std::make_shared<SequentialImpl>(modules))
    {
    }
};

} // namespace nn
} // namespace torch

#endif
