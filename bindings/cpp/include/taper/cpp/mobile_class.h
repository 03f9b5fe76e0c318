/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::mobile::Module: a loaded model, with the functions of PyTorch's lite interpreter.
#ifndef TAPER_CPP_MOBILE_CLASS_H
#define TAPER_CPP_MOBILE_CLASS_H

#include <taper/cpp/module.h>

namespace torch
{
namespace jit
{

class MobileDebugTable;

namespace mobile
{
class Module : public Object
{
  public:
    using Object::Object;
    Module() = default;
    Module(const c10::intrusive_ptr<c10::ivalue::Object> &object, const std::shared_ptr<CompilationUnit> &)
        : Object(object)
    {
    }
    template <class... T> c10::IValue run_method(const std::string &name, T &&...inputs) const
    {
        return Object::run_method(name, std::forward<T>(inputs)...);
    }
    // Returns false: errors of runs name modules and source lines without debug handles.
    bool hasDebugHandles() const
    {
        return false;
    }
    [[noreturn]] const MobileDebugTable &getDebugTable() const
    {
        throw c10::NotImplementedError("mobile::Module::getDebugTable: the file's table of handles is not kept");
    }
    std::shared_ptr<CompilationUnit> compilation_unit() const
    {
        return std::make_shared<CompilationUnit>();
    }
    std::string name() const
    {
        return loaded().class_name(path_);
    }
    std::vector<c10::IValue> slots() const
    {
        return _ivalue()->slots();
    }
    // Returns all tensors among the attributes, as in PyTorch.
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
    int64_t operator_version() const
    {
        return loaded().operator_version();
    }
    int64_t min_operator_version() const
    {
        return loaded().operator_version();
    }
    // Returns the names of the operators that the module calls.
    std::vector<std::string> operators() const
    {
        return loaded().operators();
    }
    // Returns the texts that the app has set.
    std::unordered_map<std::string, std::string> getMetadata() const
    {
        return metadata_;
    }
    void setMetadata(const std::unordered_map<std::string, std::string> &metadata)
    {
        metadata_ = metadata;
    }
    void set_delete_memory(std::shared_ptr<char> memory)
    {
        memory_ = std::move(memory);
    }
    // Returns PyTorch's text for no debug handle. Errors of runs name modules and source lines, so handles are not
    // needed.
    std::string get_forward_method_debug_info(int64_t) const
    {
        return "debug_handle:-1";
    }
    std::string getModuleHierarchy(int64_t) const
    {
        return get_forward_method_debug_info(0);
    }
    std::string getCallStack(int64_t) const
    {
        return get_forward_method_debug_info(0);
    }
    // Returns the tensors that were saved with requires_grad, as in PyTorch.
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

  private:
    std::unordered_map<std::string, std::string> metadata_;
    std::shared_ptr<char> memory_; // memory of the app, kept as long as the module exists
};
using Method = ::torch::jit::Method;
} // namespace mobile

inline Method::Method(const mobile::Module *module, Function *function)
    : Method(module->_ivalue()->model(), module->_ivalue()->path(), function->name())
{
}

} // namespace jit
} // namespace torch

#endif
