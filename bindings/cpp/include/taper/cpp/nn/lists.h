/* SPDX-License-Identifier: BSD-2-Clause */
// ModuleList, ModuleDict, ParameterList, ParameterDict and Functional.
#ifndef TAPER_CPP_NN_LISTS_H
#define TAPER_CPP_NN_LISTS_H

#include <string>
#include <utility>
#include <vector>

#include <taper/cpp/nn/module.h>

namespace torch
{
namespace nn
{

class ModuleListImpl : public Cloneable<ModuleListImpl>
{
    using Pointer = std::shared_ptr<Module>;

  public:
    using Iterator = std::vector<Pointer>::iterator;
    using ConstIterator = std::vector<Pointer>::const_iterator;

    ModuleListImpl() = default;
    template <class... Modules> explicit ModuleListImpl(Modules &&...modules)
    {
        const int in_order[] = {0, (push_back(std::forward<Modules>(modules)), 0)...};
        (void)in_order;
    }
    Pointer clone(const optional<Device> &device = nullopt) const override
    {
        const auto copy = std::make_shared<ModuleListImpl>();
        for (const Pointer &each : modules_) {
            copy->push_back(each->clone(device));
        }
        return copy;
    }
    void reset() override
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::ModuleList";
    }

    void push_back(Pointer module)
    {
        modules_.push_back(std::move(module));
        register_module(std::to_string(modules_.size() - 1), modules_.back());
    }
    template <class M, class = torch::detail::enable_if_module_t<M>> void push_back(M &&module)
    {
        push_back(std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
    }
    template <class M> void push_back(const ModuleHolder<M> &holder)
    {
        push_back(Pointer(holder.ptr()));
    }
    template <class Container> void extend(const Container &container)
    {
        for (const auto &each : container) {
            push_back(each);
        }
    }
    // Only the inserted module and the last one get their new names, as in libtorch.
    void insert(size_t index, Pointer module)
    {
        TORCH_CHECK(index <= size(), "Index out of range");
        if (index == size()) {
            push_back(std::move(module));
            return;
        }
        modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
        replace_module(std::to_string(index), modules_[index]);
        register_module(std::to_string(size() - 1), modules_.back());
    }
    template <class M> void insert(size_t index, const ModuleHolder<M> &holder)
    {
        insert(index, Pointer(holder.ptr()));
    }
    template <class M, class = torch::detail::enable_if_module_t<M>> void insert(size_t index, M &&module)
    {
        insert(index, Pointer(std::make_shared<std::decay_t<M>>(std::forward<M>(module))));
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
        return *ptr(index)->as<T>();
    }
    template <class T> const T &at(size_t index) const
    {
        return *ptr(index)->as<T>();
    }
    Pointer ptr(size_t index) const
    {
        TORCH_CHECK(index < size(), "Index out of range");
        return modules_[index];
    }
    template <class T> std::shared_ptr<T> ptr(size_t index) const
    {
        return std::dynamic_pointer_cast<T>(ptr(index));
    }
    Pointer operator[](size_t index) const
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
    std::vector<Pointer> modules_;
};
TORCH_MODULE(ModuleList);

class ModuleDictImpl : public Cloneable<ModuleDictImpl>
{
    using Pointer = std::shared_ptr<Module>;
    using Dict = OrderedDict<std::string, Pointer>;

  public:
    using Iterator = Dict::Iterator;
    using ConstIterator = Dict::ConstIterator;

    ModuleDictImpl() = default;
    explicit ModuleDictImpl(const std::vector<std::pair<std::string, Pointer>> &modules)
    {
        update(modules);
    }
    explicit ModuleDictImpl(const Dict &modules)
    {
        update(modules);
    }
    Pointer clone(const optional<Device> &device = nullopt) const override
    {
        const auto copy = std::make_shared<ModuleDictImpl>();
        for (const auto &item : modules_) {
            copy->insert(item.key(), item.value()->clone(device));
        }
        return copy;
    }
    void reset() override
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::ModuleDict";
    }

    std::vector<std::pair<std::string, Pointer>> items() const
    {
        return modules_.pairs();
    }
    std::vector<std::string> keys() const
    {
        return modules_.keys();
    }
    std::vector<Pointer> values() const
    {
        return modules_.values();
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
    size_t size() const noexcept
    {
        return modules_.size();
    }
    bool empty() const noexcept
    {
        return modules_.is_empty();
    }
    bool contains(const std::string &key) const noexcept
    {
        return modules_.contains(key);
    }
    void clear()
    {
        modules_.clear();
    }
    Pointer operator[](const std::string &key) const
    {
        return modules_[key];
    }
    template <class T> T &at(const std::string &key)
    {
        return *modules_[key]->as<T>();
    }
    template <class T> const T &at(const std::string &key) const
    {
        return *modules_[key]->as<T>();
    }
    Pointer pop(const std::string &key)
    {
        const Pointer module = modules_[key];
        modules_.erase(key);
        return module;
    }
    void update(const std::vector<std::pair<std::string, Pointer>> &modules)
    {
        for (const auto &item : modules) {
            insert(item.first, item.second);
        }
    }
    template <class Container> void update(const Container &container)
    {
        for (const auto &item : container) {
            insert(item.key(), item.value());
        }
    }

  private:
    void insert(const std::string &key, Pointer module)
    {
        if (contains(key)) {
            modules_[key] = module;
            replace_module(key, std::move(module));
        } else {
            modules_.insert(key, module);
            register_module(key, std::move(module));
        }
    }
    Dict modules_;
};
TORCH_MODULE(ModuleDict);

namespace detail
{
// The parameters of a module as a container.
template <class Derived> class ParameterContainer : public Cloneable<Derived>
{
  public:
    using Iterator = OrderedDict<std::string, Tensor>::Iterator;
    using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;
    void reset() override
    {
    }
    Iterator begin()
    {
        return this->parameters_.begin();
    }
    ConstIterator begin() const
    {
        return this->parameters_.begin();
    }
    Iterator end()
    {
        return this->parameters_.end();
    }
    ConstIterator end() const
    {
        return this->parameters_.end();
    }
    size_t size() const noexcept
    {
        return this->parameters_.size();
    }

  protected:
    void print_as(std::ostream &out, const char *name) const
    {
        out << "torch::nn::" << name << "(\n";
        for (const auto &item : this->parameters_) {
            out << "(" << item.key() << "): Parameter containing: [" << item->scalar_type() << " of size "
                << item->sizes() << "]\n";
        }
        out << ")";
    }
    Tensor &add(std::string name, Tensor parameter)
    {
        return this->register_parameter(std::move(name), std::move(parameter), false);
    }
};
} // namespace detail

class ParameterListImpl : public detail::ParameterContainer<ParameterListImpl>
{
  public:
    ParameterListImpl() = default;
    template <class... Tensors> explicit ParameterListImpl(const Tensors &...parameters)
    {
        const int in_order[] = {0, (append(parameters), 0)...};
        (void)in_order;
    }
    void pretty_print(std::ostream &out) const override
    {
        print_as(out, "ParameterList");
    }
    void append(const Tensor &parameter)
    {
        add(std::to_string(size()), parameter);
    }
    void append(const OrderedDict<std::string, Tensor>::Item &item)
    {
        append(item.value());
    }
    template <class Container> void extend(const Container &container)
    {
        for (const auto &each : container) {
            append(each);
        }
    }
    template <class Container> ParameterListImpl &operator+=(const Container &container)
    {
        extend(container);
        return *this;
    }
    Tensor &at(size_t index)
    {
        TORCH_CHECK(index < size(), "Index out of range");
        return parameters_[std::to_string(index)];
    }
    const Tensor &at(size_t index) const
    {
        return const_cast<ParameterListImpl *>(this)->at(index);
    }
    Tensor &operator[](size_t index)
    {
        return at(index);
    }
    const Tensor &operator[](size_t index) const
    {
        return at(index);
    }
    bool is_empty() const noexcept
    {
        return parameters_.is_empty();
    }
};
TORCH_MODULE(ParameterList);

class ParameterDictImpl : public detail::ParameterContainer<ParameterDictImpl>
{
  public:
    ParameterDictImpl() = default;
    explicit ParameterDictImpl(const OrderedDict<std::string, Tensor> &parameters)
    {
        parameters_ = parameters;
    }
    void pretty_print(std::ostream &out) const override
    {
        print_as(out, "ParameterDict");
    }
    Tensor &insert(std::string key, Tensor parameter)
    {
        return add(std::move(key), std::move(parameter));
    }
    Tensor pop(const std::string &key)
    {
        const Tensor parameter = parameters_[key];
        parameters_.erase(key);
        return parameter;
    }
    std::vector<std::string> keys() const
    {
        return parameters_.keys();
    }
    std::vector<Tensor> values() const
    {
        return parameters_.values();
    }
    bool empty() const noexcept
    {
        return parameters_.is_empty();
    }
    template <class Container> void update(const Container &container)
    {
        for (const auto &item : container) {
            parameters_[item.key()] = item.value();
        }
    }
    void clear()
    {
        parameters_.clear();
    }
    bool contains(const std::string &key) const noexcept
    {
        return parameters_.contains(key);
    }
    Tensor &get(const std::string &key)
    {
        return parameters_[key];
    }
    const Tensor &get(const std::string &key) const
    {
        return parameters_[key];
    }
    Tensor &operator[](const std::string &key)
    {
        return parameters_[key];
    }
    const Tensor &operator[](const std::string &key) const
    {
        return parameters_[key];
    }
};
TORCH_MODULE(ParameterDict);

// A function as a module; arguments after the first are fixed.
class FunctionalImpl : public Cloneable<FunctionalImpl>
{
  public:
    using Function = std::function<Tensor(Tensor)>;
    explicit FunctionalImpl(Function function) : function_(std::move(function))
    {
    }
    template <class F, class... Args, class = std::enable_if_t<(sizeof...(Args) > 0)>>
    explicit FunctionalImpl(F function, Args &&...args)
        : function_(std::bind(function, std::placeholders::_1, std::forward<Args>(args)...))
    {
    }
    void reset() override
    {
    }
    void pretty_print(std::ostream &out) const override
    {
        out << "torch::nn::Functional()";
    }
    Tensor forward(Tensor input)
    {
        return function_(std::move(input));
    }
    Tensor operator()(Tensor input)
    {
        return function_(std::move(input));
    }
    bool is_serializable() const override
    {
        return false;
    }

  private:
    Function function_;
};
TORCH_MODULE(Functional);

} // namespace nn
} // namespace torch

#endif
