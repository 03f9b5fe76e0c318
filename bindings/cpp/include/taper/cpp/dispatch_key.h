/* SPDX-License-Identifier: BSD-2-Clause */
// Dispatch keys: the tensors for which a function of an operator is registered.
#ifndef TAPER_CPP_DISPATCH_KEY_H
#define TAPER_CPP_DISPATCH_KEY_H

#include <taper/cpp/device.h>

namespace c10
{

// The keys that apps use. All tensors are on the CPU here. A call with a quantized tensor looks for QuantizedCPU first.
// All calls then look for CPU, the keys for all devices, and the autograd keys. Functions that an app registers for any
// other key are stored and never called.
#define TAPER_CPP_DISPATCH_KEYS(row)                                                                                   \
    row(Undefined) row(CPU) row(CUDA) row(HIP) row(XLA) row(MPS) row(Meta) row(Metal) row(Vulkan) row(MkldnnCPU)       \
        row(QuantizedCPU) row(QuantizedCUDA) row(SparseCPU) row(SparseCUDA) row(SparseCsrCPU) row(NestedTensorCPU)     \
            row(PrivateUse1) row(BackendSelect) row(ADInplaceOrView) row(AutogradOther) row(AutogradCPU)               \
                row(AutogradCUDA) row(Tracer) row(AutocastCPU) row(AutocastCUDA) row(Autograd)                         \
                    row(CompositeImplicitAutograd) row(CompositeImplicitAutogradNestedTensor)                          \
                        row(CompositeExplicitAutograd) row(CompositeExplicitAutogradNonFunctional)
enum class DispatchKey : uint16_t {
#define TAPER_CPP_KEY(name) name,
    TAPER_CPP_DISPATCH_KEYS(TAPER_CPP_KEY)
#undef TAPER_CPP_KEY
        CatchAll = CompositeImplicitAutograd,
    Autocast = AutocastCUDA
};
constexpr DispatchKey kAutograd = DispatchKey::Autograd;

inline const char *toString(DispatchKey key)
{
    switch (key) {
#define TAPER_CPP_KEY(name)                                                                                            \
    case DispatchKey::name:                                                                                            \
        return #name;
        TAPER_CPP_DISPATCH_KEYS(TAPER_CPP_KEY)
#undef TAPER_CPP_KEY
    }
    return "UNKNOWN_TENSOR_TYPE_ID";
}
inline std::ostream &operator<<(std::ostream &out, DispatchKey key)
{
    return out << toString(key);
}
inline DispatchKey parseDispatchKey(const std::string &text)
{
#define TAPER_CPP_KEY(name)                                                                                            \
    if (text == #name) {                                                                                               \
        return DispatchKey::name;                                                                                      \
    }
    TAPER_CPP_DISPATCH_KEYS(TAPER_CPP_KEY)
#undef TAPER_CPP_KEY
    TORCH_CHECK(false, "could not parse dispatch key: ", text);
    return DispatchKey::Undefined;
}
inline bool isAliasDispatchKey(DispatchKey key)
{
    return key >= DispatchKey::Autograd && key <= DispatchKey::CompositeExplicitAutogradNonFunctional;
}

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

// Declares the side effects of a function. The declaration is ignored: every operator of an app is assumed to do
// whatever its schema allows.
enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };

} // namespace c10

namespace at
{
using c10::DispatchKey;
}
namespace torch
{
using c10::DispatchKey;
using c10::kAutograd;
} // namespace torch

#endif
