/* SPDX-License-Identifier: BSD-2-Clause */
// For what tensors a function of an operator is.
#ifndef TAPER_CPP_DISPATCH_KEY_H
#define TAPER_CPP_DISPATCH_KEY_H

#include <taper/cpp/device.h>

namespace c10
{

// Those that apps name. Tensors are on the CPU here: QuantizedCPU is for calls with a quantized one, then comes CPU,
// then the keys for all devices, then those of autograd. Functions of other keys are kept and never called.
enum class DispatchKey : uint16_t {
    Undefined,
    CPU,
    QuantizedCPU,
    MkldnnCPU,
    SparseCPU,
    CompositeExplicitAutograd,
    CompositeImplicitAutograd,
    CatchAll = CompositeImplicitAutograd,
    Autograd,
    AutogradCPU,
    AutogradOther,
    ADInplaceOrView,
    Autocast,
    BackendSelect,
    CUDA,
    QuantizedCUDA,
    SparseCUDA,
    AutogradCUDA,
    HIP,
    MPS,
    Metal,
    Vulkan,
    XLA,
    Meta,
    PrivateUse1,
    Tracer
};

// Of functions for tensors on a device.
inline DispatchKey dispatch_key_of(DeviceType type)
{
    switch (type) {
    case DeviceType::CUDA:
        return DispatchKey::CUDA;
    case DeviceType::Vulkan:
        return DispatchKey::Vulkan;
    case DeviceType::Metal:
        return DispatchKey::Metal;
    case DeviceType::MPS:
        return DispatchKey::MPS;
    default:
        return DispatchKey::CPU;
    }
}

// What a function does to its arguments; here every operator of an app is taken to do anything that its schema allows.
enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };

} // namespace c10

namespace at
{
using c10::DispatchKey;
}
namespace torch
{
using c10::DispatchKey;
}

#endif
