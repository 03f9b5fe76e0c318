/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::Module and torch::jit::mobile::Module: a loaded model, or a module below its root. Copies of a module
// share its content, as in PyTorch.
#ifndef TAPER_CPP_MODULE_H
#define TAPER_CPP_MODULE_H

#include <iostream>
#include <map>
#include <unordered_set>

#include <taper/cpp/loaded_model.h>
#include <taper/cpp/module_object.h>

namespace torch
{
namespace jit
{

class Module : public Object
{
  public:
    using Object::Object;
    Module() = default;
    // Makes a module without attributes and methods. Programs add attributes to such a module and save it.
    template <class Unused = void> explicit Module(const c10::QualifiedName &name);
    template <class Unused = void>
    Module(const c10::QualifiedName &name, const std::shared_ptr<CompilationUnit> &, bool = false) : Module(name)
    {
    }

    [[noreturn]] Module(const std::shared_ptr<CompilationUnit> &, const c10::ClassTypePtr &type)
    {
        throw c10::NotImplementedError("Module(CompilationUnit, " + type->annotation_str() +
                                       "): modules of a class can be loaded from files only");
    }
    [[noreturn]] void clone_method(const Module &, const std::string &name)
    {
        throw c10::NotImplementedError("Module::clone_method(" + name + "): methods can be loaded from files only");
    }
    template <class... T> [[noreturn]] c10::IValue create_class(const c10::QualifiedName &name, T &&...) const
    {
        throw c10::NotImplementedError("Module::create_class(" + name.qualifiedName() +
                                       "): TorchScript can be loaded from files only");
    }
    [[noreturn]] c10::IValue create_class(const c10::QualifiedName &name, Stack) const
    {
        create_class(name);
    }

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
    // children() returns the direct submodules; modules() returns this module and all modules below it.
    module_list children() const;
    named_module_list named_children() const;
    module_list modules() const;
    named_module_list named_modules() const;
    // Calls the function with each module below this module, and then with this module.
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
    // ---- type and text

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

    // Keeps memory of the app as long as the module exists.
    void set_delete_memory(std::shared_ptr<char> memory)
    {
        memory_ = std::move(memory);
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
    // Returns a copy without the named methods and attributes.
    Module clone(bool, const std::unordered_set<std::string> &ignored_methods,
                 const std::unordered_set<std::string> &ignored_attributes) const
    {
        if (ignored_methods.empty() && ignored_attributes.empty()) {
            return copy();
        }
        std::vector<std::string> kept;
        for (const std::string &name : model_->methods(path_)) {
            if (ignored_methods.count(name) == 0) {
                kept.push_back(name);
            }
        }
        for (const taper::cpp::Slot &slot : model_->slots(path_)) {
            if (ignored_attributes.count(slot.name) == 0) {
                kept.push_back(slot.name);
            }
        }
        return frozen(kept);
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

    // Returns a copy in which all attributes and methods except the preserved ones are hidden.
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
    std::shared_ptr<char> memory_;
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
template <class Unused>
Object::Object(const c10::QualifiedName &name, const std::shared_ptr<CompilationUnit> &, bool) : Object(Module(name))
{
}
[[noreturn]] inline std::shared_ptr<CompilationUnit> compile(const std::string &)
{
    throw c10::NotImplementedError("torch::jit::compile: TorchScript can be loaded from files only; save the module "
                                   "with Python's torch.jit.save, and load it with torch::jit::load");
}
[[noreturn]] inline std::shared_ptr<Graph> lastExecutedOptimizedGraph()
{
    throw c10::NotImplementedError("torch::jit::lastExecutedOptimizedGraph: call graph() of a method");
}

template <class Unused> Module::Module(const c10::QualifiedName &name)
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
    model_ = taper::cpp::make_model(std::move(source));
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
// Freezes the module, unless the module is frozen already. Taper optimizes every module while it is loaded.
inline Module optimize_for_inference(Module &module, const std::vector<std::string> &other_methods = {})
{
    return module.hasattr("training") ? freeze(module, other_methods) : module;
}

inline Module freeze_module(const Module &module, std::vector<std::string> preserved_attrs = {}, bool = true,
                            bool = false)
{
    return freeze(module, std::move(preserved_attrs));
}
inline void freeze_module_inplace(Module *module, std::vector<std::string> preserved_attrs = {}, bool = true,
                                  bool = false)
{
    *module = freeze(*module, std::move(preserved_attrs));
}
using ModuleLookup = std::function<Module(const std::vector<std::string> &)>;

namespace script
{
using Module = ::torch::jit::Module;
using Object = ::torch::jit::Object;
using CompilationUnit = ::torch::jit::CompilationUnit;
using ExtraFilesMap = ::torch::jit::ExtraFilesMap;
} // namespace script

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

#include <taper/cpp/mobile_class.h>

#endif
