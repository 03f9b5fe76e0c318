/* SPDX-License-Identifier: BSD-2-Clause */
// Modules in archives.
#ifndef TAPER_CPP_NN_ARCHIVE_H
#define TAPER_CPP_NN_ARCHIVE_H

#include <taper/cpp/nn/module.h>

namespace torch
{
namespace nn
{

inline void Module::save(serialize::OutputArchive &) const
{
    throw c10::NotImplementedError("torch::nn::Module::save is not implemented");
}
inline void Module::load(serialize::InputArchive &)
{
    throw c10::NotImplementedError("torch::nn::Module::load is not implemented");
}

} // namespace nn
} // namespace torch

#endif
