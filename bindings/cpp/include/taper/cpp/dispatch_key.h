/* SPDX-License-Identifier: BSD-2-Clause */
// Dispatch keys: the tensors for which a function of an operator is registered.
#ifndef TAPER_CPP_DISPATCH_KEY_H
#define TAPER_CPP_DISPATCH_KEY_H

#include <taper/cpp/device.h>

namespace c10
{

// The keys that apps use. All tensors are on the CPU here. A call with a quantized tensor looks for QuantizedCPU first.
// All calls then look for CPU, the keys for all devices, and the autograd keys. Functions of other keys are stored and
// never called.
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

// Returns the key of functions for tensors on the device.
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

// Declares the side effects of a function. It is ignored: every operator of an app is assumed to do whatever its schema
// allows.
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
