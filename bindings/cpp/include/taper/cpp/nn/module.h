/* SPDX-License-Identifier: BSD-2-Clause */
// torch::nn::Module: parameters, buffers and submodules under names. Parameters do not require gradients by themselves,
// so a parameter is a tensor like any other.
#ifndef TAPER_CPP_NN_MODULE_H
#define TAPER_CPP_NN_MODULE_H

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <taper/cpp/functions.h>
#include <taper/cpp/nn/any_value.h>
#include <taper/cpp/nn/module_holder.h>
#include <taper/cpp/nn/ordered_dict.h>
#include <taper/cpp/print.h>

namespace torch
{

using Dtype = at::ScalarType;

namespace serialize
{
class OutputArchive;
class InputArchive;
} // namespace serialize

namespace nn
{

template <class Derived> class Cloneable;

class Module : public std::enable_shared_from_this<Module>
{
    using Tensors = OrderedDict<std::string, Tensor>;
    using Modules = OrderedDict<std::string, std::shared_ptr<Module>>;

  public:
    using ModuleApplyFunction = std::function<void(Module &)>;
    using ConstModuleApplyFunction = std::function<void(const Module &)>;
    using NamedModuleApplyFunction = std::function<void(const std::string &, Module &)>;
    using ConstNamedModuleApplyFunction = std::function<void(const std::string &, const Module &)>;
    using ModulePointerApplyFunction = std::function<void(const std::shared_ptr<Module> &)>;
    using NamedModulePointerApplyFunction = std::function<void(const std::string &, const std::shared_ptr<Module> &)>;

    Module() : parameters_("Parameter"), buffers_("Buffer"), children_("Submodule")
    {
    }
    explicit Module(std::string name) : Module()
    {
        name_ = std::move(name);
    }
    virtual ~Module() = default;

    // Returns the name given to the constructor, or the name of the class if none was given.
    const std::string &name() const noexcept
    {
        if (!name_.has_value()) {
            name_ = taper::cpp::type_text(typeid(*this));
        }
        return *name_;
    }
    virtual std::shared_ptr<Module> clone(const optional<Device> & = nullopt) const
    {
        throw c10::Error(c10::str("clone() has not been implemented for ", name(), ". Subclass torch::nn::Cloneable<",
                                  name(), "> instead of torch::nn::Module to inherit the ability to clone."));
    }

    void apply(const ModuleApplyFunction &function)
    {
        function(*this);
        each([&](const std::string &, const std::shared_ptr<Module> &module) { function(*module); });
    }
    void apply(const ConstModuleApplyFunction &function) const
    {
        function(*this);
        each([&](const std::string &, const std::shared_ptr<Module> &module) { function(*module); });
    }
    void apply(const NamedModuleApplyFunction &function, const std::string &prefix = std::string())
    {
        function(prefix, *this);
        each([&](const std::string &name, const std::shared_ptr<Module> &module) { function(name, *module); }, prefix);
    }
    void apply(const ConstNamedModuleApplyFunction &function, const std::string &prefix = std::string()) const
    {
        function(prefix, *this);
        each([&](const std::string &name, const std::shared_ptr<Module> &module) { function(name, *module); }, prefix);
    }
    void apply(const ModulePointerApplyFunction &function) const
    {
        function(shared());
        each([&](const std::string &, const std::shared_ptr<Module> &module) { function(module); });
    }
    void apply(const NamedModulePointerApplyFunction &function, const std::string &prefix = std::string()) const
    {
        function(prefix, shared());
        each(function, prefix);
    }

    std::vector<Tensor> parameters(bool recurse = true) const
    {
        return named_parameters(recurse).values();
    }
    Tensors named_parameters(bool recurse = true) const
    {
        return tensors(&Module::parameters_, recurse);
    }
    std::vector<Tensor> buffers(bool recurse = true) const
    {
        return named_buffers(recurse).values();
    }
    Tensors named_buffers(bool recurse = true) const
    {
        return tensors(&Module::buffers_, recurse);
    }
    std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const
    {
        std::vector<std::shared_ptr<Module>> all;
        if (include_self) {
            all.push_back(shared());
        }
        each([&](const std::string &, const std::shared_ptr<Module> &module) { all.push_back(module); });
        return all;
    }
    Modules named_modules(const std::string &prefix = std::string(), bool include_self = true) const
    {
        Modules all;
        if (include_self) {
            all.insert(prefix, shared());
        }
        each([&](const std::string &name, const std::shared_ptr<Module> &module) { all.insert(name, module); }, prefix);
        return all;
    }
    std::vector<std::shared_ptr<Module>> children() const
    {
        return children_.values();
    }
    Modules named_children() const
    {
        return children_;
    }

    virtual void train(bool on = true)
    {
        for (auto &child : children_) {
            child.value()->train(on);
        }
        is_training_ = on;
    }
    void eval()
    {
        train(false);
    }
    virtual bool is_training() const noexcept
    {
        return is_training_;
    }

    virtual void to(Device device, Dtype dtype, bool non_blocking = false)
    {
        for (auto &child : children_) {
            child.value()->to(device, dtype, non_blocking);
        }
        move(TensorOptions(dtype).device(device));
    }
    virtual void to(Dtype dtype, bool non_blocking = false)
    {
        for (auto &child : children_) {
            child.value()->to(dtype, non_blocking);
        }
        move(dtype);
    }
    virtual void to(Device device, bool non_blocking = false)
    {
        for (auto &child : children_) {
            child.value()->to(device, non_blocking);
        }
        move(device);
    }
    // Fills the gradients of the parameters with zeros. Gradients cannot be removed, so set_to_none has no effect.
    virtual void zero_grad(bool set_to_none = false)
    {
        (void)set_to_none;
        for (const Tensor &each : parameters()) {
            const Tensor grad = each.grad();
            if (grad.defined()) {
                grad.zero_();
            }
        }
    }

    template <class Holder> typename Holder::ContainedType *as() noexcept
    {
        return dynamic_cast<typename Holder::ContainedType *>(this);
    }
    template <class Holder> const typename Holder::ContainedType *as() const noexcept
    {
        return dynamic_cast<const typename Holder::ContainedType *>(this);
    }
    template <class M, class = torch::detail::disable_if_module_holder_t<M>> M *as() noexcept
    {
        return dynamic_cast<M *>(this);
    }
    template <class M, class = torch::detail::disable_if_module_holder_t<M>> const M *as() const noexcept
    {
        return dynamic_cast<const M *>(this);
    }

    // archive.h, which this header includes, defines save and load. They are declared inline here, because otherwise
    // every unit would contain the class's virtual functions.
    inline virtual void save(serialize::OutputArchive &archive) const;
    inline virtual void load(serialize::InputArchive &archive);
    virtual bool is_serializable() const
    {
        return true;
    }
    virtual void pretty_print(std::ostream &out) const
    {
        out << name();
    }

    Tensor &register_parameter(std::string name, Tensor tensor, bool requires_grad = true)
    {
        check_name("Parameter", name);
        TORCH_CHECK(!requires_grad || !tensor.defined() || tensor.is_floating_point() || tensor.is_complex(),
                    "Only Tensors of floating point and complex dtype can require gradients");
        return parameters_.insert(std::move(name), std::move(tensor));
    }
    Tensor &register_buffer(std::string name, Tensor tensor)
    {
        check_name("Buffer", name);
        return buffers_.insert(std::move(name), std::move(tensor));
    }
    template <class M> std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module)
    {
        add_module(std::move(name), module);
        return module;
    }
    template <class M> std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> module)
    {
        return register_module(std::move(name), module.ptr());
    }
    template <class M> std::shared_ptr<M> replace_module(const std::string &name, std::shared_ptr<M> module)
    {
        children_[name] = module;
        return module;
    }
    template <class M> std::shared_ptr<M> replace_module(const std::string &name, ModuleHolder<M> module)
    {
        return replace_module(name, module.ptr());
    }
    void unregister_module(const std::string &name)
    {
        TORCH_CHECK(children_.contains(name), "No Module with name `", name, "` is registered");
        children_.erase(name);
    }

  protected:
    // FORWARD_HAS_DEFAULT_ARGS overrides these functions in a module whose forward has defaults.
    virtual bool _forward_has_default_args()
    {
        return false;
    }
    virtual unsigned int _forward_num_required_args()
    {
        no_defaults("_forward_num_required_args");
        return 0;
    }
    virtual std::vector<AnyValue> _forward_populate_default_args(std::vector<AnyValue> &&arguments)
    {
        no_defaults("_forward_populate_default_args");
        return std::move(arguments);
    }

    void set_name(std::string name)
    {
        name_ = std::move(name);
    }

    OrderedDict<std::string, Tensor> parameters_;

  private:
    template <class Derived> friend class Cloneable;
    friend class AnyModule;
    friend std::ostream &operator<<(std::ostream &out, const Module &module)
    {
        module.print_tree(out, "");
        return out;
    }

    virtual void clone_(Module &, const optional<Device> &)
    {
    }
    static void no_defaults(const char *method)
    {
        throw c10::Error(c10::str("torch::nn::Module subclass that has default arguments in `forward` method must "
                                  "override `",
                                  method, "` method. Please use `FORWARD_HAS_DEFAULT_ARGS` macro to do so."));
    }
    static void check_name(const char *what, const std::string &name)
    {
        TORCH_CHECK(!name.empty(), what, " name must not be empty");
        TORCH_CHECK(name.find('.') == std::string::npos, what, " name must not contain a dot (got '", name, "')");
    }
    void add_module(std::string name, std::shared_ptr<Module> module)
    {
        check_name("Submodule", name);
        children_.insert(std::move(name), std::move(module));
    }

    // Calls `function` with the path and the pointer of each module below this module.
    void each(const NamedModulePointerApplyFunction &function, const std::string &prefix = std::string()) const
    {
        for (const auto &child : children_) {
            const std::string path = prefix.empty() ? child.key() : prefix + "." + child.key();
            function(path, child.value());
            child.value()->each(function, path);
        }
    }
    Tensors tensors(Tensors Module::*which, bool recurse) const
    {
        Tensors all;
        for (const auto &own : this->*which) {
            if (own->defined()) {
                all.insert(own.key(), own.value());
            }
        }
        if (recurse) {
            each([&](const std::string &path, const std::shared_ptr<Module> &module) {
                for (const auto &item : module.get()->*which) {
                    if (item->defined()) {
                        all.insert(path + "." + item.key(), item.value());
                    }
                }
            });
        }
        return all;
    }
    std::shared_ptr<Module> shared() const
    {
        // An object on the stack has no shared pointer; C++14 leaves undefined what shared_from_this() then does.
        const std::shared_ptr<const Module> self = owner();
        TORCH_CHECK(self != nullptr,
                    "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not "
                    "stored in a shared_ptr. Use std::make_shared<",
                    name(),
                    "> instead of creating your module on the stack, or alternatively do not try to access your "
                    "top-level module at all by passing /*include_self=*/false to modules() or named_modules()");
        return std::const_pointer_cast<Module>(self);
    }
    std::shared_ptr<const Module> owner() const
    {
        try {
            return shared_from_this();
        } catch (const std::bad_weak_ptr &) {
            return nullptr;
        }
    }
    // Converts the parameters and buffers in place, so every copy of these tensors sees the change.
    void move(const TensorOptions &options)
    {
        for (Tensors *const all : {&parameters_, &buffers_}) {
            for (auto &item : *all) {
                if (item->defined()) {
                    item->set_data(item->to(options));
                }
            }
        }
    }
    void print_tree(std::ostream &out, const std::string &indent) const
    {
        pretty_print(out);
        if (children_.is_empty()) {
            return;
        }
        out << "(\n";
        for (const auto &child : children_) {
            out << indent << "  (" << child.key() << "): ";
            child.value()->print_tree(out, indent + "  ");
            out << '\n';
        }
        out << indent << ")";
    }

    // The three steps of a clone: the copied module forgets the tensors that it shares with the original, makes its own
    // tensors by reset(), and takes the original's values.
    void forget()
    {
        parameters_.clear();
        buffers_.clear();
        children_.clear();
    }
    void take_from(const Module &original, const optional<Device> &device)
    {
        copy_tensors(parameters_, original.parameters_, "parameters", "register_parameter", device);
        copy_tensors(buffers_, original.buffers_, "buffers", "register_buffer", device);
        check_count(children_.size(), original.children_.size(), "child modules", "register_module");
        for (const auto &child : original.children_) {
            children_[child.key()]->clone_(*child.value(), device);
        }
    }
    static void check_count(size_t mine, size_t theirs, const char *what, const char *how)
    {
        TORCH_CHECK(mine == theirs, "The cloned module does not have the same number of ", what,
                    " as the original module after calling reset(). Are you sure you called ", how,
                    "() inside reset() and not the constructor?");
    }
    static void copy_tensors(Tensors &mine, const Tensors &theirs, const char *what, const char *how,
                             const optional<Device> &device)
    {
        check_count(mine.size(), theirs.size(), what, how);
        for (const auto &item : theirs) {
            if (item->defined()) {
                mine[item.key()].set_data(device.has_value() ? item->to(*device, false, true) : item->clone());
            }
        }
    }

    Tensors buffers_;
    Modules children_;
    mutable optional<std::string> name_;
    bool is_training_ = true;
};

// The base of modules that can be cloned. reset() makes the parameters, buffers and submodules of the module.
template <class Derived> class Cloneable : public Module
{
  public:
    Cloneable() = default;
    // Ignores the name, so that name() returns the name of the class. libtorch does the same, because there Module is a
    // virtual base of this class.
    explicit Cloneable(const std::string &)
    {
    }
    virtual void reset() = 0;
    std::shared_ptr<Module> clone(const optional<Device> &device = nullopt) const override
    {
        Derived *const copy = new Derived(static_cast<const Derived &>(*this));
        std::shared_ptr<Module> owned(copy);
        copy->forget();
        copy->reset();
        copy->take_from(*this, device);
        return owned;
    }

  private:
    void clone_(Module &other, const optional<Device> &device) override
    {
        const std::shared_ptr<Module> copy = other.clone(device);
        const Derived *const same = dynamic_cast<const Derived *>(copy.get());
        TORCH_CHECK(same != nullptr, "Attempted to clone submodule, but it is of a different type than the submodule "
                                     "it was to be cloned into");
        static_cast<Derived &>(*this) = *same;
    }
};

} // namespace nn
} // namespace torch

// For a module whose forward has defaults: the index and the value of each default argument.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                                                  \
    bool _forward_has_default_args() override                                                                          \
    {                                                                                                                  \
        return true;                                                                                                   \
    }                                                                                                                  \
    unsigned int _forward_num_required_args() override                                                                 \
    {                                                                                                                  \
        const std::vector<std::pair<unsigned int, torch::nn::AnyValue>> defaults = {__VA_ARGS__};                      \
        return defaults[0].first;                                                                                      \
    }                                                                                                                  \
    std::vector<torch::nn::AnyValue> _forward_populate_default_args(std::vector<torch::nn::AnyValue> &&arguments)      \
        override                                                                                                       \
    {                                                                                                                  \
        const std::vector<std::pair<unsigned int, torch::nn::AnyValue>> defaults = {__VA_ARGS__};                      \
        for (const auto &each : defaults) {                                                                            \
            if (each.first >= arguments.size()) {                                                                      \
                arguments.push_back(each.second);                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        return std::move(arguments);                                                                                   \
    }

#include <taper/cpp/nn/archive.h>

#endif
