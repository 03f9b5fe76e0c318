/* SPDX-License-Identifier: BSD-2-Clause */
// Modules in archives: torch::save and torch::load of a module. An archive has the module's parameters and buffers
// under their names, and an archive for each child.
#ifndef TAPER_CPP_NN_ARCHIVE_H
#define TAPER_CPP_NN_ARCHIVE_H

#include <taper/cpp/nn/module_holder.h>
#include <taper/cpp/serialize.h>

namespace torch
{
namespace nn
{

inline void Module::save(serialize::OutputArchive &archive) const
{
    for (const auto &each : named_parameters(false)) {
        archive.write(each.key(), each.value());
    }
    for (const auto &each : named_buffers(false)) {
        archive.write(each.key(), each.value(), true);
    }
    for (const auto &each : named_children()) {
        if (each.value()->is_serializable()) {
            serialize::OutputArchive inner(archive.compilation_unit());
            each.value()->save(inner);
            archive.write(each.key(), inner);
        }
    }
}
inline void Module::load(serialize::InputArchive &archive)
{
    for (auto &each : named_parameters(false)) {
        archive.read(each.key(), each.value());
    }
    for (auto &each : named_buffers(false)) {
        archive.read(each.key(), each.value(), true);
    }
    for (const auto &each : named_children()) {
        if (each.value()->is_serializable()) {
            serialize::InputArchive inner;
            archive.read(each.key(), inner);
            each.value()->load(inner);
        }
    }
}

// The module must exist; it takes the elements that the archive has for its parameters and buffers.
template <class M, class = std::enable_if_t<std::is_base_of<Module, M>::value>>
serialize::OutputArchive &operator<<(serialize::OutputArchive &archive, const std::shared_ptr<M> &module)
{
    if (module == nullptr) {
        throw c10::Error("Cannot serialize empty module");
    }
    module->save(archive);
    return archive;
}
template <class M, class = std::enable_if_t<std::is_base_of<Module, M>::value>>
serialize::InputArchive &operator>>(serialize::InputArchive &archive, const std::shared_ptr<M> &module)
{
    if (module == nullptr) {
        throw c10::Error("Cannot deserialize empty module");
    }
    module->load(archive);
    return archive;
}
template <class Contained>
serialize::OutputArchive &operator<<(serialize::OutputArchive &archive, const ModuleHolder<Contained> &module)
{
    return archive << module.ptr();
}
template <class Contained>
serialize::InputArchive &operator>>(serialize::InputArchive &archive, ModuleHolder<Contained> &module)
{
    return archive >> module.ptr();
}

} // namespace nn
} // namespace torch

#endif
