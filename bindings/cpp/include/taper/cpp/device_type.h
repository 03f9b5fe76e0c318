/* SPDX-License-Identifier: BSD-2-Clause */
// The kinds of devices that programs name. Tensors are on the CPU; models can also run on Vulkan and Metal.
#ifndef TAPER_CPP_DEVICE_TYPE_H
#define TAPER_CPP_DEVICE_TYPE_H

#include <functional>

#include <taper/cpp/check.h>

// Rows of (enumerator, number, name in lower case, name in upper case), in the order in which errors list the names.
#define TAPER_CPP_DEVICE_TYPES(row)                                                                                    \
    row(CPU, 0, "cpu", "CPU") row(CUDA, 1, "cuda", "CUDA") row(IPU, 18, "ipu", "IPU") row(XPU, 12, "xpu", "XPU")       \
        row(MKLDNN, 2, "mkldnn", "MKLDNN") row(OPENGL, 3, "opengl", "OPENGL") row(OPENCL, 4, "opencl", "OPENCL")       \
            row(IDEEP, 5, "ideep", "IDEEP") row(HIP, 6, "hip", "HIP") row(VE, 16, "ve", "VE")                          \
                row(FPGA, 7, "fpga", "FPGA") row(ORT, 8, "ort", "ORT") row(XLA, 9, "xla", "XLA")                       \
                    row(Lazy, 17, "lazy", "LAZY") row(Vulkan, 10, "vulkan", "VULKAN") row(Metal, 11, "metal", "METAL") \
                        row(MPS, 13, "mps", "MPS") row(Meta, 14, "meta", "META") row(HPU, 15, "hpu", "HPU")            \
                            row(PrivateUse1, 19, "privateuseone", "PRIVATEUSEONE")

namespace c10
{

enum class DeviceType : int8_t {
#define TAPER_CPP_DEVICE(type, number, lower, upper) type = number,
    TAPER_CPP_DEVICE_TYPES(TAPER_CPP_DEVICE)
#undef TAPER_CPP_DEVICE
        COMPILE_TIME_MAX_DEVICE_TYPES = 20
};
constexpr int COMPILE_TIME_MAX_DEVICE_TYPES = static_cast<int>(DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES);
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kHIP = DeviceType::HIP;
constexpr DeviceType kFPGA = DeviceType::FPGA, kORT = DeviceType::ORT, kXLA = DeviceType::XLA;
constexpr DeviceType kVulkan = DeviceType::Vulkan, kMetal = DeviceType::Metal, kXPU = DeviceType::XPU;
constexpr DeviceType kMPS = DeviceType::MPS, kMeta = DeviceType::Meta, kHPU = DeviceType::HPU;
constexpr DeviceType kVE = DeviceType::VE, kLazy = DeviceType::Lazy, kIPU = DeviceType::IPU;
constexpr DeviceType kPrivateUse1 = DeviceType::PrivateUse1;

inline std::string DeviceTypeName(DeviceType type, bool lower_case = false)
{
    switch (type) {
#define TAPER_CPP_DEVICE(type, number, lower, upper)                                                                   \
    case DeviceType::type:                                                                                             \
        return lower_case ? lower : upper;
        TAPER_CPP_DEVICE_TYPES(TAPER_CPP_DEVICE)
#undef TAPER_CPP_DEVICE
    default:
        TORCH_CHECK(false, "Unknown device: ", static_cast<int16_t>(type),
                    ". If you have recently updated the caffe2.proto file to add a new device type, did you forget to "
                    "update the DeviceTypeName() function to reflect such recent changes?");
        return "";
    }
}
inline bool isValidDeviceType(DeviceType type)
{
    return type >= DeviceType::CPU && type < DeviceType::COMPILE_TIME_MAX_DEVICE_TYPES;
}
inline std::ostream &operator<<(std::ostream &out, DeviceType type)
{
    return out << DeviceTypeName(type, true);
}

} // namespace c10

namespace std
{
template <> struct hash<c10::DeviceType> {
    size_t operator()(c10::DeviceType type) const
    {
        return static_cast<size_t>(type);
    }
};
} // namespace std

namespace torch
{
using namespace at;
using c10::DeviceType;
} // namespace torch

#endif
