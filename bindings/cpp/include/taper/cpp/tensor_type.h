/* SPDX-License-Identifier: BSD-2-Clause */
// at::DeprecatedTypeProperties: the class of a tensor, which Tensor::type() returns for old programs; and c10::Backend.
#ifndef TAPER_CPP_TENSOR_TYPE_H
#define TAPER_CPP_TENSOR_TYPE_H

#include <string>

#include <taper/cpp/tensor_options.h>

namespace c10
{

// The backends that a tensor of Taper can have, and the backends that programs ask for.
enum class Backend { CPU, CUDA, HIP, QuantizedCPU, Undefined };

inline const char *toString(Backend backend)
{
    static const char *const names[] = {"CPU", "CUDA", "HIP", "QuantizedCPU"};
    return backend < Backend::Undefined ? names[static_cast<size_t>(backend)] : "UNKNOWN_BACKEND";
}
inline Layout layout_from_backend(Backend)
{
    return kStrided;
}
inline std::ostream &operator<<(std::ostream &out, Backend backend)
{
    return out << toString(backend);
}

} // namespace c10

namespace at
{

using c10::Backend;
class Tensor;

class DeprecatedTypeProperties
{
  public:
    DeprecatedTypeProperties(Backend backend, c10::ScalarType type) : backend_(backend), type_(type)
    {
    }
    Backend backend() const
    {
        return backend_;
    }
    c10::ScalarType scalarType() const
    {
        return type_;
    }
    caffe2::TypeMeta typeMeta() const
    {
        return type_;
    }
    c10::Layout layout() const
    {
        return c10::kStrided;
    }
    c10::DeviceType device_type() const
    {
        return backend_ == Backend::CUDA ? c10::kCUDA : backend_ == Backend::HIP ? c10::kHIP : c10::kCPU;
    }
    bool is_cuda() const
    {
        return backend_ == Backend::CUDA;
    }
    bool is_sparse() const
    {
        return false;
    }
    bool is_sparse_csr() const
    {
        return false;
    }
    DeprecatedTypeProperties cpu() const
    {
        return *this;
    }
    DeprecatedTypeProperties cuda() const
    {
        return toBackend(Backend::CUDA);
    }
    DeprecatedTypeProperties hip() const
    {
        return toBackend(Backend::HIP);
    }
    // Returns a copy of the tensor with this dtype; defined in tensor_ops.h.
    Tensor copy(const Tensor &source, bool non_blocking = false, c10::optional<c10::Device> = c10::nullopt) const;
    DeprecatedTypeProperties toBackend(Backend backend) const
    {
        return DeprecatedTypeProperties(backend, type_);
    }
    DeprecatedTypeProperties toScalarType(c10::ScalarType type) const
    {
        return DeprecatedTypeProperties(backend_, type);
    }
    // Returns, for example, "CPUFloatType".
    std::string toString() const
    {
        return backend_ == Backend::Undefined || type_ == c10::ScalarType::Undefined
                   ? "UndefinedType"
                   : std::string(c10::toString(backend_)) + c10::toString(type_) + "Type";
    }
    c10::TensorOptions options() const
    {
        return c10::TensorOptions(type_).device(device_type()).layout(c10::kStrided);
    }
    c10::TensorOptions options(int16_t) const
    {
        return options();
    }
    // device: the device of the options; the CPU if unset.
    c10::TensorOptions options(c10::optional<c10::Device> device) const
    {
        return device.has_value() ? options().device(*device) : options();
    }
    operator c10::TensorOptions() const
    {
        return options();
    }
    bool operator==(const DeprecatedTypeProperties &other) const
    {
        return backend_ == other.backend_ && type_ == other.type_;
    }
    bool operator!=(const DeprecatedTypeProperties &other) const
    {
        return !(*this == other);
    }

  private:
    Backend backend_;
    c10::ScalarType type_;
};
inline std::ostream &operator<<(std::ostream &out, const DeprecatedTypeProperties &type)
{
    return out << type.toString();
}
inline DeprecatedTypeProperties getDeprecatedTypeProperties(Backend backend, c10::ScalarType type)
{
    return DeprecatedTypeProperties(backend, type);
}
inline DeprecatedTypeProperties CUDA(c10::ScalarType type)
{
    return DeprecatedTypeProperties(Backend::CUDA, type);
}
inline DeprecatedTypeProperties CPU(c10::ScalarType type)
{
    return DeprecatedTypeProperties(Backend::CPU, type);
}

} // namespace at

#endif
