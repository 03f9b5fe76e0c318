/* SPDX-License-Identifier: BSD-2-Clause */
// torch::jit::load and torch::jit::_load_for_mobile. Both read all file formats.
#ifndef TAPER_CPP_LOAD_H
#define TAPER_CPP_LOAD_H

#include <taper/cpp/module.h>

namespace taper
{
namespace cpp
{

inline std::shared_ptr<LoadedModel> load_model(ModelSource source, c10::optional<c10::Device> device,
                                               std::unordered_map<std::string, std::string> *extra_files)
{
    if (device.has_value()) {
        source.device = device->is_cpu() ? "cpu" : device->str();
    }
    const std::shared_ptr<LoadedModel> model = std::make_shared<LoadedModel>(std::move(source));
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
    inline result function(argument from, c10::optional<c10::Device> device = c10::nullopt)                            \
    {                                                                                                                  \
        return result(taper::cpp::load_model(taper::cpp::source, device, nullptr));                                    \
    }                                                                                                                  \
    inline result function(argument from, c10::optional<c10::Device> device, ExtraFilesMap &extra_files)               \
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

} // namespace jit
} // namespace torch

#endif
