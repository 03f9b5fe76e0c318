/* SPDX-License-Identifier: BSD-2-Clause */
// Devices, layouts, memory formats and quantization schemes.
#ifndef TAPER_CPP_DEVICE_H
#define TAPER_CPP_DEVICE_H

#include <cctype>

#include <taper/cpp/device_type.h>

namespace c10
{

using DeviceIndex = int8_t;

struct Device {
    using Type = DeviceType;
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index)
    {
    }
    // text: for example "cpu" or "vulkan:0".
    Device(const std::string &text) : type_(DeviceType::CPU), index_(-1)
    {
        TORCH_CHECK(!text.empty(), "Device string must not be empty");
        size_t name = 0;
        while (name < text.size() && (std::isalpha(static_cast<unsigned char>(text[name])) != 0 || text[name] == '_')) {
            name++;
        }
        bool valid = name > 0;
        if (valid && name < text.size()) {
            size_t digits = name + 1;
            while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) {
                digits++;
            }
            const bool zeros = digits > name + 2 && text[name + 1] == '0';
            valid = text[name] == ':' && digits > name + 1 && digits == text.size() && !zeros;
        }
        TORCH_CHECK(valid, "Invalid device string: '", text, "'");
        type_ = parse_type(text.substr(0, name), text);
        int number = name < text.size() ? 0 : -1;
        for (size_t i = name + 1; i < text.size() && number <= 127; i++) {
            number = number * 10 + (text[i] - '0');
        }
        TORCH_CHECK(number <= 127, "Could not parse device index '", text.substr(name + 1), "' in device string '",
                    text, "'");
        index_ = static_cast<DeviceIndex>(number);
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
    void set_index(DeviceIndex index)
    {
        index_ = index;
    }
    bool supports_as_strided() const noexcept
    {
        return type_ != DeviceType::IPU && type_ != DeviceType::XLA && type_ != DeviceType::Lazy;
    }
#define TAPER_CPP_IS(name, type)                                                                                       \
    bool is_##name() const noexcept                                                                                    \
    {                                                                                                                  \
        return type_ == DeviceType::type;                                                                              \
    }
    TAPER_CPP_IS(cpu, CPU)
    TAPER_CPP_IS(cuda, CUDA)
    TAPER_CPP_IS(mps, MPS)
    TAPER_CPP_IS(hip, HIP)
    TAPER_CPP_IS(ve, VE)
    TAPER_CPP_IS(xpu, XPU)
    TAPER_CPP_IS(ipu, IPU)
    TAPER_CPP_IS(xla, XLA)
    TAPER_CPP_IS(hpu, HPU)
    TAPER_CPP_IS(lazy, Lazy)
    TAPER_CPP_IS(vulkan, Vulkan)
    TAPER_CPP_IS(metal, Metal)
    TAPER_CPP_IS(ort, ORT)
    TAPER_CPP_IS(meta, Meta)
#undef TAPER_CPP_IS
    std::string str() const
    {
        return DeviceTypeName(type_, true) + (has_index() ? ":" + std::to_string(index_) : std::string());
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
    static DeviceType parse_type(const std::string &name, const std::string &text)
    {
#define TAPER_CPP_DEVICE(type, number, lower, upper)                                                                   \
    if (name == lower) {                                                                                               \
        return DeviceType::type;                                                                                       \
    }
        TAPER_CPP_DEVICE_TYPES(TAPER_CPP_DEVICE)
#undef TAPER_CPP_DEVICE
        TORCH_CHECK(false,
                    "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, ort, xla, "
                    "lazy, vulkan, mps, meta, hpu, privateuseone device type at start of device string: ",
                    text.substr(0, name.size()));
        return DeviceType::CPU;
    }
    DeviceType type_;
    DeviceIndex index_;
};
inline std::ostream &operator<<(std::ostream &out, const Device &device)
{
    return out << device.str();
}

// Tensors are strided; the other layouts are names that programs compare with.
enum class Layout : int8_t { Strided, Sparse, SparseCsr, Mkldnn, SparseCsc, SparseBsr, SparseBsc, NumOptions };
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse, kSparseCsr = Layout::SparseCsr;
constexpr Layout kMkldnn = Layout::Mkldnn, kSparseCsc = Layout::SparseCsc, kSparseBsr = Layout::SparseBsr;
constexpr Layout kSparseBsc = Layout::SparseBsc;
inline std::ostream &operator<<(std::ostream &out, Layout layout)
{
    static const char *const names[] = {"Strided",   "Sparse",    "SparseCsr", "Mkldnn",
                                        "SparseCsc", "SparseBsr", "SparseBsc"};
    TORCH_CHECK(layout < Layout::NumOptions, "Unknown layout");
    return out << names[static_cast<int>(layout)];
}

enum class QScheme : uint8_t {
    PER_TENSOR_AFFINE = 0,
    PER_CHANNEL_AFFINE = 1,
    PER_TENSOR_SYMMETRIC = 2,
    PER_CHANNEL_SYMMETRIC = 3,
    PER_CHANNEL_AFFINE_FLOAT_QPARAMS = 4,
    COMPILE_TIME_NUM_QSCHEMES = 5
};
constexpr int COMPILE_TIME_NUM_QSCHEMES = static_cast<int>(QScheme::COMPILE_TIME_NUM_QSCHEMES);
constexpr QScheme kPerTensorAffine = QScheme::PER_TENSOR_AFFINE, kPerChannelAffine = QScheme::PER_CHANNEL_AFFINE;
constexpr QScheme kPerTensorSymmetric = QScheme::PER_TENSOR_SYMMETRIC;
constexpr QScheme kPerChannelSymmetric = QScheme::PER_CHANNEL_SYMMETRIC;
constexpr QScheme kPerChannelAffineFloatQParams = QScheme::PER_CHANNEL_AFFINE_FLOAT_QPARAMS;

inline std::string toString(QScheme scheme)
{
    static const char *const names[] = {"per_tensor_affine", "per_channel_affine", "per_tensor_symmetric",
                                        "per_channel_symmetric", "per_channel_affine_float_qparams"};
    TORCH_CHECK(scheme < QScheme::COMPILE_TIME_NUM_QSCHEMES, "Unrecognized qscheme: ", static_cast<int>(scheme));
    return names[static_cast<int>(scheme)];
}

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d, NumOptions };
inline MemoryFormat get_contiguous_memory_format()
{
    return MemoryFormat::Contiguous;
}
inline std::ostream &operator<<(std::ostream &out, MemoryFormat format)
{
    const char *const names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
    TORCH_CHECK(format < MemoryFormat::NumOptions, "Unknown memory format ", static_cast<int>(format));
    return out << names[static_cast<int>(format)];
}

} // namespace c10

namespace std
{
template <> struct hash<c10::Device> {
    size_t operator()(const c10::Device &device) const noexcept
    {
        return static_cast<size_t>(device.type()) << 8 | static_cast<uint8_t>(device.index());
    }
};
} // namespace std

namespace torch
{
using namespace at;
}

#endif
