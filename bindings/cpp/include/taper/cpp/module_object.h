/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::Object: an object of a loaded model, with its attributes and methods. Modules are such objects.
#ifndef TAPER_CPP_MODULE_OBJECT_H
#define TAPER_CPP_MODULE_OBJECT_H

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

struct Property; // property of a class in TorchScript sources

// Exists so that code that passes a CompilationUnit to a module or an archive compiles.
struct CompilationUnit {
};

// An object with methods: the common base of both kinds of modules.
class Object
{
  public:
    Object() = default;
    explicit Object(std::shared_ptr<taper::cpp::LoadedModel> model, std::string path = "")
        : model_(std::move(model)), path_(std::move(path))
    {
    }
    Object(const ObjectPtr &object)
    {
        if (object == nullptr || !object->model()) {
            throw c10::Error("the object is not an attribute of a module, so it has no methods");
        }
        model_ = object->model();
        path_ = object->path();
    }

    // Makes an object without attributes and methods; defined in module.h.
    template <class Unused = void>
    Object(const c10::QualifiedName &name, const std::shared_ptr<CompilationUnit> &, bool = false);
    [[noreturn]] Object(const std::shared_ptr<CompilationUnit> &, const c10::ClassTypePtr &type)
    {
        throw c10::NotImplementedError("Object(CompilationUnit, " + type->annotation_str() +
                                       "): objects of a class can be loaded from files only");
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
    // Sets an attribute. The value must have the declared type. The next run reads the new value.
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
    c10::ClassTypePtr type() const
    {
        return std::make_shared<c10::ClassType>(loaded().class_name(path_), model_->slots(path_),
                                                model_->methods(path_), model_->is_module(path_));
    }
    // Returns a copy, which shares no tensors with this object.
    Object copy() const
    {
        loaded();
        return Object(model_->copy(path_));
    }
    Object deepcopy() const
    {
        return copy();
    }
    void define(const std::string &, const void * = nullptr)
    {
        throw c10::NotImplementedError("Module::define(): TorchScript can be loaded from files only");
    }
    // Python's properties, which Taper calls only from methods.
    struct Property {
        std::string name;
        Method getter_func;
        c10::optional<Method> setter_func;
    };
    bool has_property(const std::string &) const
    {
        return false;
    }
    Property get_property(const std::string &name) const
    {
        throw c10::Error("Property '" + name + "' is not defined.");
    }
    std::vector<Property> get_properties() const
    {
        return {};
    }
    size_t num_slots() const
    {
        return loaded().slots(path_).size();
    }

  protected:
    // Returns true if a value of `type` may be an attribute of the declared type. An empty list or dict fits any list
    // or dict type, because it may have no types of its own.
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

} // namespace jit
} // namespace torch

#endif
