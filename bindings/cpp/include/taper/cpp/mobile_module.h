/* SPDX-License-Identifier: BSD-2-Clause */
// Functions over modules for phones: they list what a file for the lite interpreter contains, and prepare such a file.
#ifndef TAPER_CPP_MOBILE_MODULE_H
#define TAPER_CPP_MOBILE_MODULE_H

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <taper/cpp/load.h>
#include <taper/cpp/stream_archive.h>

namespace torch
{
namespace jit
{
namespace mobile
{

using Stack = std::vector<c10::IValue>;

struct ModuleInfo {
    uint64_t bytecode_version;
    uint64_t operator_version;
    std::unordered_map<std::string, int> opname_to_num_args; // empty: Taper does not keep the numbers of arguments
    std::unordered_set<std::string> function_names;
    std::unordered_set<std::string> type_names;
};
inline ModuleInfo get_module_info(const Module &module)
{
    ModuleInfo info;
    info.bytecode_version = static_cast<uint64_t>(module.bytecode_version());
    info.operator_version = static_cast<uint64_t>(module.operator_version());
    const std::string name = module.name();
    for (const std::string &each : module.operators()) {
        info.opname_to_num_args[each] = 0;
    }
    for (const torch::jit::Method &each : module.get_methods()) {
        info.function_names.insert(name + "." + each.name());
    }
    info.type_names.insert(name);
    return info;
}
// Returns the names of the operators that the module calls, for example "aten::add.Tensor".
inline std::set<std::string> _export_operator_list(Module &module)
{
    const std::vector<std::string> all = module.operators();
    return std::set<std::string>(all.begin(), all.end());
}

} // namespace mobile

// Returns the tensors of a module that were saved with requires_grad, by their names.
inline std::map<std::string, at::Tensor> mobile_module_to_parameter_map(const mobile::Module &module)
{
    return module.named_parameters();
}
inline std::map<std::string, at::Tensor> _load_parameters(std::istream &in,
                                                          c10::optional<c10::Device> device = c10::nullopt)
{
    return _load_for_mobile(in, device).named_parameters();
}
inline std::map<std::string, at::Tensor> _load_parameters(const std::string &filename,
                                                          c10::optional<c10::Device> device = c10::nullopt)
{
    return _load_for_mobile(filename, device).named_parameters();
}

enum class MobileOptimizerType : int8_t {
    CONV_BN_FUSION,
    INSERT_FOLD_PREPACK_OPS,
    REMOVE_DROPOUT,
    FUSE_ADD_RELU,
    HOIST_CONV_PACKED_PARAMS,
    CONV_1D_TO_2D,
};
// Returns a copy in evaluation mode. Taper optimizes every module while it is loaded, so the block list has no effect.
inline Module optimizeForMobile(const Module &module, const std::set<MobileOptimizerType> & = {},
                                const std::vector<std::string> & = {})
{
    Module made = module.copy();
    made.eval();
    return made;
}

// Return copies in evaluation mode, as optimizeForMobile does. The device is chosen when a file is loaded.
inline Module metalOptimizeForMobile(const Module &module, const std::vector<std::string> & = {})
{
    return optimizeForMobile(module);
}
inline Module vulkanOptimizeForMobile(const Module &module, const std::vector<std::string> & = {})
{
    return optimizeForMobile(module);
}

namespace mobile
{
namespace quantization
{
class PTQQuanizationHelper
{
  public:
    [[noreturn]] void quantize_dynamic(Module &, const std::string &method)
    {
        throw c10::NotImplementedError("PTQQuanizationHelper::quantize_dynamic(" + method +
                                       "): quantize the file with `taper quantize`, and load the result");
    }
};
} // namespace quantization
} // namespace mobile

namespace detail
{
inline taper::cpp::ModelSource from_bytes(const std::shared_ptr<char> &bytes, size_t size)
{
    return {"", std::make_shared<std::string>(bytes.get(), size), nullptr, ""};
}
} // namespace detail
// Load flatbuffers from memory, which is copied.
inline mobile::Module load_flatbuffer_bytes(std::shared_ptr<char> bytes, size_t size, c10::optional<c10::Device> device,
                                            ExtraFilesMap *extra_files)
{
    return mobile::Module(taper::cpp::load_model(detail::from_bytes(bytes, size), device, extra_files));
}
inline mobile::Module load_flatbuffer_bytes_no_object(std::shared_ptr<char> bytes, size_t size,
                                                      c10::optional<c10::Device> device)
{
    return load_flatbuffer_bytes(std::move(bytes), size, device, nullptr);
}
inline Module _load_jit_module_from_flatbuffer_bytes(std::shared_ptr<char> bytes, size_t size,
                                                     ExtraFilesMap &extra_files, c10::optional<c10::Device> device)
{
    return Module(taper::cpp::load_model(detail::from_bytes(bytes, size), device, &extra_files));
}

} // namespace jit
} // namespace torch

#endif
