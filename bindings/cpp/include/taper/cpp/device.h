/* SPDX-License-Identifier: BSD-2-Clause */
// Devices, layouts, memory formats and quantization schemes.
#ifndef TAPER_CPP_DEVICE_H
#define TAPER_CPP_DEVICE_H

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>

#include <taper/cpp/error.h>

namespace c10
{

enum class DeviceType : int8_t { CPU = 0, CUDA = 1, Vulkan = 10, Metal = 11, MPS = 13 };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kVulkan = DeviceType::Vulkan;
constexpr DeviceType kMetal = DeviceType::Metal, kMPS = DeviceType::MPS;
using DeviceIndex = int8_t;

inline const char *DeviceTypeName(DeviceType type)
{
    switch (type) {
    case DeviceType::CPU:
        return "cpu";
    case DeviceType::CUDA:
        return "cuda";
    case DeviceType::Vulkan:
        return "vulkan";
    case DeviceType::Metal:
        return "metal";
    case DeviceType::MPS:
        return "mps";
    }
    return "unknown";
}
inline std::ostream &operator<<(std::ostream &out, DeviceType type)
{
    return out << DeviceTypeName(type);
}

struct Device {
    using Type = DeviceType;
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index)
    {
    }
    // text: for example "cpu" or "vulkan:0".
    Device(const std::string &text) : type_(DeviceType::CPU), index_(-1)
    {
        const size_t colon = text.find(':');
        const std::string name = text.substr(0, colon);
        bool found = false;
        for (DeviceType known : {kCPU, kCUDA, kVulkan, kMetal, kMPS}) {
            if (name == DeviceTypeName(known)) {
                type_ = known;
                found = true;
            }
        }
        int number = 0;
        size_t digits = 0;
        if (colon != std::string::npos) {
            for (size_t i = colon + 1; i < text.size() && text[i] >= '0' && text[i] <= '9' && number <= 127; i++) {
                number = number * 10 + (text[i] - '0');
                digits++;
            }
            found = found && digits > 0 && colon + 1 + digits == text.size() && number <= 127;
            index_ = static_cast<DeviceIndex>(number);
        }
        if (!found) {
            throw Error("Invalid device string: '" + text + "'");
        }
    }
    Device(const char *text) : Device(std::string(text))
    {
    }
    DeviceType type() const
    {
        return type_;
    }
    DeviceIndex index() const
    {
        return index_;
    }
    bool has_index() const
    {
        return index_ != -1;
    }
    bool is_cpu() const
    {
        return type_ == kCPU;
    }
    bool is_cuda() const
    {
        return type_ == kCUDA;
    }
    bool is_vulkan() const
    {
        return type_ == kVulkan;
    }
    bool is_metal() const
    {
        return type_ == kMetal;
    }
    std::string str() const
    {
        return DeviceTypeName(type_) + (has_index() ? ":" + std::to_string(index_) : std::string());
    }
    bool operator==(const Device &other) const
    {
        return type_ == other.type_ && index_ == other.index_;
    }
    bool operator!=(const Device &other) const
    {
        return !(*this == other);
    }

  private:
    DeviceType type_;
    DeviceIndex index_;
};
inline std::ostream &operator<<(std::ostream &out, const Device &device)
{
    return out << device.str();
}

// Tensors are strided; operators refuse the other layouts.
enum class Layout : int8_t { Strided, Sparse, SparseCsr, Mkldnn, SparseCsc, SparseBsr, SparseBsc, NumOptions };
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse, kSparseCsr = Layout::SparseCsr;
constexpr Layout kMkldnn = Layout::Mkldnn, kSparseCsc = Layout::SparseCsc, kSparseBsr = Layout::SparseBsr;
constexpr Layout kSparseBsc = Layout::SparseBsc;
inline std::ostream &operator<<(std::ostream &out, Layout layout)
{
    const char *const names[] = {"Strided", "Sparse", "SparseCsr", "Mkldnn", "SparseCsc", "SparseBsr", "SparseBsc"};
    if (layout >= Layout::NumOptions) {
        throw Error("Unknown layout");
    }
    return out << names[static_cast<int>(layout)];
}

enum class QScheme : uint8_t {
    PER_TENSOR_AFFINE = 0,
    PER_CHANNEL_AFFINE = 1,
    PER_TENSOR_SYMMETRIC = 2,
    PER_CHANNEL_SYMMETRIC = 3,
    PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4
};
constexpr QScheme kPerTensorAffine = QScheme::PER_TENSOR_AFFINE, kPerChannelAffine = QScheme::PER_CHANNEL_AFFINE;
constexpr QScheme kPerTensorSymmetric = QScheme::PER_TENSOR_SYMMETRIC;
constexpr QScheme kPerChannelSymmetric = QScheme::PER_CHANNEL_SYMMETRIC;
constexpr QScheme kPerChannelAffineFloatQParams = QScheme::PER_CHANNEL_AFFINE_FLOAT_QPARAMS;

enum class MemoryFormat : int8_t { Contiguous = 0, Preserve = 1, ChannelsLast = 2, ChannelsLast3d = 3 };
inline std::ostream &operator<<(std::ostream &out, MemoryFormat format)
{
    const char *const names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
    return out << names[static_cast<int>(format)];
}

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
