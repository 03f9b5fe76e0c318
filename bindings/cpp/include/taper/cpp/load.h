/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::load and torch::jit::_load_for_mobile. Both read all file formats. The functions are templates, so that
// only programs that load a model compile ModelOf.
#ifndef TAPER_CPP_LOAD_H
#define TAPER_CPP_LOAD_H

#include <taper/cpp/module.h>

namespace taper
{
namespace cpp
{

template <class Source>
std::shared_ptr<LoadedModel> load_model(Source source, c10::optional<c10::Device> device,
                                        std::unordered_map<std::string, std::string> *extra_files)
{
    if (device.has_value()) {
        source.device = device->is_cpu() ? "cpu" : device->str();
    }
    const std::shared_ptr<LoadedModel> model = make_model(std::move(source));
    if (extra_files != nullptr) {
        model->extra_files(*extra_files);
    }
    return model;
}
} // namespace cpp
} // namespace taper

namespace torch
{
namespace jit
{

#define TAPER_CPP_LOAD(function, result, argument, source)                                                             \
    template <class Unused = void> result function(argument from, c10::optional<c10::Device> device = c10::nullopt)    \
    {                                                                                                                  \
        return result(taper::cpp::load_model(taper::cpp::source, device, nullptr));                                    \
    }                                                                                                                  \
    template <class Unused = void>                                                                                     \
    result function(argument from, c10::optional<c10::Device> device, ExtraFilesMap &extra_files)                      \
    {                                                                                                                  \
        return result(taper::cpp::load_model(taper::cpp::source, device, &extra_files));                               \
    }
TAPER_CPP_LOAD(load, Module, const std::string &, from_path(from))
TAPER_CPP_LOAD(load, Module, std::istream &, from_stream(from))
TAPER_CPP_LOAD(load, Module, std::shared_ptr<caffe2::serialize::ReadAdapterInterface>, from_adapter(std::move(from)))
TAPER_CPP_LOAD(_load_for_mobile, mobile::Module, const std::string &, from_path(from))
TAPER_CPP_LOAD(_load_for_mobile, mobile::Module, std::istream &, from_stream(from))
TAPER_CPP_LOAD(_load_for_mobile, mobile::Module, std::unique_ptr<caffe2::serialize::ReadAdapterInterface>,
               from_adapter(std::move(from)))
#undef TAPER_CPP_LOAD

// Fills in the extra files that are requested, and drops the module.
template <class Unused = void>
void _load_extra_only_for_mobile(const std::string &filename, c10::optional<c10::Device> device,
                                 ExtraFilesMap &extra_files)
{
    _load_for_mobile(filename, device, extra_files);
}
enum MobileModuleLoadOptions { OPERATOR_CHECK = 1, PARSE_ALL_EXTRA_FILE_MAPS = 2 };
const uint64_t kDefaultMobileLoadOptions = OPERATOR_CHECK;
// The options have no effect: operators are always checked.
template <class Unused = void>
mobile::Module _load_for_mobile(const std::string &filename, c10::optional<c10::Device> device,
                                ExtraFilesMap &extra_files, uint64_t)
{
    return _load_for_mobile(filename, device, extra_files);
}
template <class Unused = void>
mobile::Module _load_for_mobile(std::unique_ptr<caffe2::serialize::ReadAdapterInterface> from,
                                c10::optional<c10::Device> device, ExtraFilesMap &extra_files, uint64_t)
{
    return _load_for_mobile(std::move(from), device, extra_files);
}
// The first parameter, in libtorch the owner of the module's classes, is not used.
template <class Unused = void>
Module import_ir_module(const std::shared_ptr<CompilationUnit> &, const std::string &filename,
                        c10::optional<c10::Device> device = c10::nullopt)
{
    return load(filename, device);
}
template <class Unused = void>
Module import_ir_module(const std::shared_ptr<CompilationUnit> &, std::istream &in,
                        c10::optional<c10::Device> device = c10::nullopt)
{
    return load(in, device);
}
template <class Unused = void>
Module import_ir_module(const std::shared_ptr<CompilationUnit> &, const std::string &filename,
                        c10::optional<c10::Device> device, ExtraFilesMap &extra_files)
{
    return load(filename, device, extra_files);
}
template <class Unused = void>
Module import_ir_module(const std::shared_ptr<CompilationUnit> &, std::istream &in, c10::optional<c10::Device> device,
                        ExtraFilesMap &extra_files)
{
    return load(in, device, extra_files);
}

} // namespace jit
} // namespace torch

#endif
