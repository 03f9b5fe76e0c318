/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::Module and torch::jit::mobile::Module: a loaded model, or a module below its root. Copies of a module
// share its content, as in PyTorch.
#ifndef TAPER_CPP_MODULE_H
#define TAPER_CPP_MODULE_H

#include <iostream>
#include <map>
#include <unordered_set>

#include <taper/cpp/class_type.h>
#include <taper/cpp/method.h>
#include <taper/cpp/slot_list.h>

namespace torch
{
namespace jit
{

using ExtraFilesMap = std::unordered_map<std::string, std::string>;
using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;
using ModulePtr = ObjectPtr;
using c10::ClassTypePtr;
using c10::QualifiedName;

// An attribute that an object does not have was requested.
struct ObjectAttributeError : public std::runtime_error {
    ObjectAttributeError(const std::string &what) : std::runtime_error(what)
    {
    }
};

namespace detail
{

// The common base of both kinds of modules.
class ModuleBase
{
  public:
    ModuleBase() = default;
    explicit ModuleBase(std::shared_ptr<taper::cpp::LoadedModel> model, std::string path = "")
        : model_(std::move(model)), path_(std::move(path))
    {
    }
    explicit ModuleBase(const ObjectPtr &object)
    {
        if (object == nullptr || !object->model()) {
            throw c10::Error("the object is not an attribute of a module, so it has no methods");
        }
        model_ = object->model();
        path_ = object->path();
    }

    c10::IValue forward(std::vector<c10::IValue> inputs, const Kwargs &kwargs = {}) const
    {
        return loaded().run(path_, "forward", std::move(inputs), kwargs);
    }
    c10::IValue operator()(std::vector<c10::IValue> inputs, const Kwargs &kwargs = {}) const
    {
        return forward(std::move(inputs), kwargs);
    }
    template <class... T> c10::IValue run_method(const std::string &name, T &&...inputs) const
    {
        return get_method(name)(std::vector<c10::IValue>{c10::IValue(std::forward<T>(inputs))...});
    }
    Method get_method(const std::string &name) const
    {
        const c10::optional<Method> found = find_method(name);
        if (!found.has_value()) {
            throw c10::Error("Method '" + name + "' is not defined.");
        }
        return *found;
    }
    c10::optional<Method> find_method(const std::string &name) const
    {
        for (const std::string &each : loaded().methods(path_)) {
            if (each == name && (!path_.empty() || model_->shows(name))) {
                return Method(model_, path_, name);
            }
        }
        return c10::nullopt;
    }
    std::vector<Method> get_methods() const
    {
        std::vector<Method> all;
        for (const std::string &each : loaded().methods(path_)) {
            if (!path_.empty() || model_->shows(each)) {
                all.emplace_back(model_, path_, each);
            }
        }
        return all;
    }

    void eval()
    {
        train(false);
    }
    void train(bool on = true)
    {
        loaded().train(path_, on);
    }
    bool is_training() const
    {
        return attr("training", true).toBool();
    }
    // Returns an attribute by its path; names of submodules are separated by points: "layer1.weight".
    c10::IValue attr(const std::string &name) const
    {
        bool found = false;
        c10::IValue value = lookup(name, c10::IValue(), found);
        if (!found) {
            throw ObjectAttributeError(c10::str(loaded().class_name(path_), " (of Python compilation unit at: ",
                                                static_cast<const void *>(model_.get()),
                                                ") does not have a field with name '", name, "'"));
        }
        return value;
    }
    c10::IValue attr(const std::string &name, c10::IValue otherwise) const
    {
        bool found = false;
        return lookup(name, otherwise, found);
    }
    bool hasattr(const std::string &name) const
    {
        bool found = false;
        lookup(name, c10::IValue(), found);
        return found;
    }
    // Sets an attribute, whose type must be the declared one. The next run sees it.
    void setattr(const std::string &name, c10::IValue value)
    {
        for (const taper::cpp::Slot &each : loaded().slots(path_)) {
            if (each.name == name) {
                const c10::TypePtr type = value.type(), declared = c10::Type::of(each.type);
                if (!fits(value, *type, *declared)) {
                    throw c10::Error("Expected a value of type '" + declared->repr_str() + "' for field '" + name +
                                     "', but found '" + type->repr_str() + "'");
                }
                model_->set_attribute(taper::cpp::join_path(path_, name), value);
                return;
            }
        }
        throw c10::Error("Module has no attribute '" + name + "'");
    }
    int64_t bytecode_version() const
    {
        return loaded().bytecode_version();
    }
    ObjectPtr _ivalue() const
    {
        return loaded().attribute(path_).toObject();
    }
    size_t num_slots() const
    {
        return loaded().slots(path_).size();
    }

  protected:
    // An empty list or dict may have no types of its own.
    static bool fits(const c10::IValue &value, const c10::Type &type, const c10::Type &declared)
    {
        return type.isSubtypeOf(declared) ||
               ((value.isList() || value.isGenericDict()) && type.kind() == declared.kind() &&
                taper_value_count(value.handle().get()) == 0);
    }
    taper::cpp::LoadedModel &loaded() const
    {
        if (!model_) {
            throw c10::Error("the module is empty: it was default-constructed or moved from");
        }
        return *model_;
    }
    c10::IValue lookup(const std::string &name, const c10::IValue &otherwise, bool &found) const
    {
        const std::string path = taper::cpp::join_path(path_, name);
        found = loaded().has_attribute(path);
        if (found) {
            return model_->attribute(path);
        }
        const std::shared_ptr<const taper::cpp::ClassSource> source = model_->class_at(path_);
        if (source != nullptr && model_->shows("")) {
            for (const auto &each : source->constants) {
                const c10::optional<c10::IValue> value =
                    each.first == name ? c10::parse_literal(each.second) : c10::nullopt;
                if (value.has_value()) {
                    found = true;
                    return *value;
                }
            }
        }
        return otherwise;
    }
    // Visits the attributes in PyTorch's order: each module before its own attributes.
    template <class Visit>
    void each_slot(const std::string &path, const std::string &name, bool recurse, const Visit &visit) const
    {
        for (const taper::cpp::Slot &slot : loaded().slots(path)) {
            const std::string full = taper::cpp::join_path(name, slot.name);
            visit(full, slot);
            if (recurse && slot.is_module) {
                each_slot(taper::cpp::join_path(path, slot.name), full, recurse, visit);
            }
        }
    }
    std::vector<NameTensor> tensors(bool recurse, bool of_parameters, bool of_buffers) const
    {
        std::vector<NameTensor> all;
        each_slot(path_, "", recurse, [&](const std::string &name, const taper::cpp::Slot &slot) {
            if (slot.is_parameter && of_parameters && slot.value.isTensor()) {
                all.push_back({name, slot.value.toTensor()});
            } else if (slot.is_buffer && of_buffers && slot.type == "Tensor") {
                all.push_back({name, slot.value.toTensor()});
            }
        });
        return all;
    }
    static std::vector<at::Tensor> values(const std::vector<NameTensor> &named)
    {
        std::vector<at::Tensor> all;
        for (const NameTensor &each : named) {
            all.push_back(each.value);
        }
        return all;
    }

    std::shared_ptr<taper::cpp::LoadedModel> model_;
    std::string path_; // path of this module below the root of the model; "" is the root
};

} // namespace detail

class Module : public detail::ModuleBase
{
  public:
    using ModuleBase::ModuleBase;
    Module() = default;
    // Makes a module without attributes and methods, for attributes that are then saved.
    explicit Module(const c10::QualifiedName &name);

    // ---- attributes

    parameter_list parameters(bool recurse = true) const
    {
        return parameter_list(values(tensors(recurse, true, false)));
    }
    named_parameter_list named_parameters(bool recurse = true) const
    {
        return named_parameter_list(tensors(recurse, true, false));
    }
    buffer_list buffers(bool recurse = true) const
    {
        return buffer_list(values(tensors(recurse, false, true)));
    }
    named_buffer_list named_buffers(bool recurse = true) const
    {
        return named_buffer_list(tensors(recurse, false, true));
    }
    named_attribute_list named_attributes(bool recurse = true) const
    {
        std::vector<NameValue> all;
        each_slot(path_, "", recurse, [&](const std::string &name, const taper::cpp::Slot &slot) {
            all.push_back({name, slot.value});
        });
        return named_attribute_list(std::move(all));
    }
    attribute_list attributes(bool recurse = true) const
    {
        std::vector<c10::IValue> all;
        each_slot(path_, "", recurse,
                  [&](const std::string &, const taper::cpp::Slot &slot) { all.push_back(slot.value); });
        return attribute_list(std::move(all));
    }
    // The direct submodules; modules() has this module and all below it.
    module_list children() const;
    named_module_list named_children() const;
    module_list modules() const;
    named_module_list named_modules() const;
    // Calls the function with the modules below this one, and then with this one.
    void apply(const std::function<void(Module &)> &function);

    void register_parameter(const std::string &name, at::Tensor value, bool is_buffer)
    {
        loaded().add_attribute(path_, {name, "Tensor", !is_buffer, is_buffer}, c10::IValue(std::move(value)));
    }
    void register_buffer(const std::string &name, at::Tensor value)
    {
        register_parameter(name, std::move(value), true);
    }
    void register_attribute(const std::string &name, const c10::TypePtr &type, c10::IValue value,
                            bool is_parameter = false, bool is_buffer = false)
    {
        loaded().add_attribute(path_, {name, type->annotation_str(), is_parameter, is_buffer}, value);
    }
    void register_module(const std::string &name, const Module &)
    {
        throw c10::NotImplementedError("register_module(" + name +
                                       "): a module of another file cannot become a part of this one");
    }
    void define(const std::string &, const void * = nullptr)
    {
        throw c10::NotImplementedError("Module::define(): TorchScript can be loaded from files only");
    }

    // ---- type and text

    c10::ClassTypePtr type() const
    {
        return std::make_shared<c10::ClassType>(loaded().class_name(path_), model_->slots(path_),
                                                model_->methods(path_), model_->is_module(path_));
    }
    // Returns PyTorch's description. The bodies of methods are Taper's graphs.
    std::string dump_to_str(bool print_method_bodies, bool print_attr_values, bool print_param_values) const
    {
        std::ostringstream out;
        describe(out, print_method_bodies, print_attr_values, print_param_values, "");
        return out.str();
    }
    void dump(bool print_method_bodies, bool print_attr_values, bool print_param_values) const
    {
        std::cout << dump_to_str(print_method_bodies, print_attr_values, print_param_values) << std::endl;
    }
    bool is_optimized() const
    {
        return true;
    }
    void set_optimized(bool)
    {
    }

    // ---- conversion

    // Has no effect for the CPU; other devices are chosen when a module is loaded.
    void to(c10::Device device, bool = false)
    {
        if (!device.is_cpu()) {
            throw c10::NotImplementedError("a module is on " + device.str() + " when it is loaded for it");
        }
    }
    // Converts all parameters and buffers.
    void to(c10::ScalarType dtype, bool = false)
    {
        for (const NameTensor &each : tensors(true, true, true)) {
            if (each.value.scalar_type() != dtype) {
                model_->set_attribute(taper::cpp::join_path(path_, each.name), c10::IValue(each.value.to(dtype)));
            }
        }
    }
    void to(c10::Device device, c10::ScalarType dtype, bool non_blocking = false)
    {
        to(device);
        to(dtype, non_blocking);
    }

    // ---- copies. They share no tensors with this module

    Module copy() const
    {
        loaded();
        return Module(model_->copy(path_));
    }
    Module deepcopy() const
    {
        return copy();
    }
    Module clone(bool = false) const
    {
        return copy();
    }
    bool operator==(const Module &other) const noexcept
    {
        return model_ == other.model_ && path_ == other.path_;
    }

    // ---- saving

    void save(std::ostream &out, const ExtraFilesMap &extra_files = ExtraFilesMap()) const
    {
        loaded().save(path_, "archive", extra_files, taper::cpp::stream_sink(out));
    }
    void save(const std::string &filename, const ExtraFilesMap &extra_files = ExtraFilesMap()) const
    {
        loaded();
        taper::cpp::OutputFile file(filename);
        model_->save(path_, taper::cpp::archive_folder(filename), extra_files, taper::cpp::stream_sink(file.stream()));
        file.finish();
    }
    void _save_for_mobile(std::ostream &out, const ExtraFilesMap &extra_files = ExtraFilesMap(),
                          bool save_mobile_debug_info = false, bool use_flatbuffer = false) const
    {
        loaded().save_lite(path_, extra_files, save_mobile_debug_info, use_flatbuffer, taper::cpp::stream_sink(out));
    }
    void _save_for_mobile(const std::string &filename, const ExtraFilesMap &extra_files = ExtraFilesMap(),
                          bool save_mobile_debug_info = false, bool use_flatbuffer = false) const
    {
        loaded();
        taper::cpp::OutputFile file(filename);
        _save_for_mobile(file.stream(), extra_files, save_mobile_debug_info, use_flatbuffer);
        file.finish();
    }

    // Returns a copy whose other attributes and methods are hidden.
    Module frozen(const std::vector<std::string> &preserved) const
    {
        const Module made = copy();
        made.model_->freeze(preserved);
        return made;
    }

  private:
    // Returns the text of a value, whose lines after the first begin with the indent.
    static std::string indented(const c10::IValue &value, const std::string &indent)
    {
        std::ostringstream out;
        out << value;
        std::string text = out.str();
        for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
            text.insert(at + 1, indent);
        }
        return text;
    }
    void describe(std::ostream &out, bool bodies, bool attributes, bool parameters, const std::string &indent) const;
};

inline void Module::describe(std::ostream &out, bool bodies, bool attributes, bool parameters,
                             const std::string &indent) const
{
    std::ostringstream modules;
    out << indent << "module " << loaded().class_name(path_) << " {\n" << indent << "  parameters {\n";
    const std::vector<taper::cpp::Slot> slots = model_->slots(path_);
    for (const taper::cpp::Slot &slot : slots) {
        if (slot.is_parameter && slot.value.isTensor()) {
            out << indent << "    " << slot.name << " = ";
            out << (parameters ? indented(slot.value, indent + "    ") : "...") << "\n";
        }
    }
    out << indent << "  }\n" << indent << "  attributes {\n";
    for (const taper::cpp::Slot &slot : slots) {
        out << indent << "    " << slot.name << " = "
            << (!slot.value.isTensor() || attributes ? indented(slot.value, indent + "    ") : "...") << "\n";
        if (slot.is_module) {
            Module(model_, taper::cpp::join_path(path_, slot.name))
                .describe(modules, bodies, attributes, parameters, indent + "    ");
        }
    }
    out << indent << "  }\n" << indent << "  methods {\n";
    for (const Method &method : get_methods()) {
        out << indent << "    method " << method.name() << " {\n";
        if (bodies) {
            out << method.graph()->toString();
        }
        out << indent << "    }\n";
    }
    out << indent << "  }\n" << indent << "  submodules {\n" << modules.str() << indent << "  }\n" << indent << "}\n";
}

inline named_module_list Module::named_children() const
{
    std::vector<NameModule> all;
    for (const taper::cpp::Slot &slot : loaded().slots(path_)) {
        if (slot.is_module) {
            all.push_back({slot.name, Module(model_, taper::cpp::join_path(path_, slot.name))});
        }
    }
    return named_module_list(std::move(all));
}
inline named_module_list Module::named_modules() const
{
    std::vector<NameModule> all{{"", *this}};
    each_slot(path_, "", true, [&](const std::string &name, const taper::cpp::Slot &slot) {
        if (slot.is_module) {
            all.push_back({name, Module(model_, taper::cpp::join_path(path_, name))});
        }
    });
    return named_module_list(std::move(all));
}
inline module_list Module::children() const
{
    std::vector<Module> all;
    for (const NameModule &each : named_children()) {
        all.push_back(each.value);
    }
    return module_list(std::move(all));
}
inline module_list Module::modules() const
{
    std::vector<Module> all;
    for (const NameModule &each : named_modules()) {
        all.push_back(each.value);
    }
    return module_list(std::move(all));
}
inline void Module::apply(const std::function<void(Module &)> &function)
{
    for (Module each : children()) {
        each.apply(function);
    }
    function(*this);
}
inline Module Method::owner() const
{
    return Module(model_, path_);
}

inline Module::Module(const c10::QualifiedName &name)
{
    const std::string full = name.prefix().empty() ? "__torch__." + name.name() : name.qualifiedName();
    const c10::QualifiedName qualified(full);
    std::string record = "code/" + qualified.prefix() + ".py";
    std::replace(record.begin(), record.end() - 3, '.', '/');
    taper::cpp::ModelSource source;
    source.bytes = std::make_shared<std::string>();
    taper::cpp::ArchiveWriter writer("archive", taper::cpp::string_sink(*source.bytes));
    writer.value("data",
                 taper::cpp::make_value(taper_value_object, full.c_str(), static_cast<const char *const *>(nullptr),
                                        static_cast<taper_value *const *>(nullptr), size_t(0)));
    writer.record(record, "class " + qualified.name() + "(Module):\n  __parameters__ = []\n  __buffers__ = []\n");
    writer.record("version", "3\n");
    writer.finish();
    model_ = std::make_shared<taper::cpp::LoadedModel>(std::move(source));
}

// Returns a copy in evaluation mode whose attributes are constants, except the preserved ones. Taper treats attributes
// that no method sets as constants in any case.
inline Module freeze(const Module &module, c10::optional<std::vector<std::string>> preserved_attrs = c10::nullopt,
                     bool = true)
{
    if (module.hasattr("training") && module.is_training()) {
        throw c10::Error(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() before freezing");
    }
    return module.frozen(preserved_attrs.has_value() ? *preserved_attrs : std::vector<std::string>());
}
// Freezes the module, unless it is frozen. Taper optimizes every module while it is loaded.
inline Module optimize_for_inference(Module &module, const std::vector<std::string> &other_methods = {})
{
    return module.hasattr("training") ? freeze(module, other_methods) : module;
}

namespace script
{
using Module = ::torch::jit::Module;
using ExtraFilesMap = ::torch::jit::ExtraFilesMap;
} // namespace script

namespace mobile
{
class Module : public detail::ModuleBase
{
  public:
    using ModuleBase::ModuleBase;
    Module() = default;
    std::string name() const
    {
        return loaded().class_name(path_);
    }
    std::vector<c10::IValue> slots() const
    {
        return _ivalue()->slots();
    }
    // All tensors among the attributes, as in PyTorch.
    std::vector<at::Tensor> parameters() const
    {
        std::vector<at::Tensor> all;
        each_slot(path_, "", true, [&](const std::string &, const taper::cpp::Slot &slot) {
            if (slot.value.isTensor()) {
                all.push_back(slot.value.toTensor());
            }
        });
        return all;
    }
    // The tensors that were saved with requires_grad, as in PyTorch.
    std::map<std::string, at::Tensor> named_parameters() const
    {
        std::map<std::string, at::Tensor> all;
        each_slot(path_, "", true, [&](const std::string &name, const taper::cpp::Slot &slot) {
            if (slot.value.isTensor() && slot.value.toTensor().info().requires_grad) {
                all[name] = slot.value.toTensor();
            }
        });
        return all;
    }
    void to(c10::Device device, bool = false)
    {
        torch::jit::Module(model_, path_).to(device);
    }
};
using Method = ::torch::jit::Method;
} // namespace mobile

} // namespace jit
} // namespace torch

namespace c10
{

inline torch::jit::Module IValue::toModule() const
{
    expect(TAPER_KIND_OBJECT, "Object");
    return torch::jit::Module(toObject());
}
inline bool IValue::isModule() const
{
    if (!isObject()) {
        return false;
    }
    const intrusive_ptr<ivalue::Object> object = toObject();
    return object->model() ? object->model()->is_module(object->path())
                           : object->name().find("__torch__.torch.classes.") != 0;
}
inline void ivalue::Object::setAttr(const std::string &name, IValue value) const
{
    if (!model_) {
        throw Error("the object is not an attribute of a module: its attribute '" + name + "' cannot be set");
    }
    model_->set_attribute(taper::cpp::join_path(path_, name), value);
}

} // namespace c10

#endif
