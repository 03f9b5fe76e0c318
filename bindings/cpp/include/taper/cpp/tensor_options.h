/* SPDX-License-Identifier: BSD-2-Clause */
// TensorOptions: the options of functions that make a tensor.
#ifndef TAPER_CPP_TENSOR_OPTIONS_H
#define TAPER_CPP_TENSOR_OPTIONS_H

#include <taper/cpp/device.h>
#include <taper/cpp/optional.h>
#include <taper/cpp/scalar_type.h>

namespace c10
{

class TensorOptions
{
  public:
    TensorOptions() = default;
    TensorOptions(ScalarType dtype) : dtype_(dtype)
    {
    }
    TensorOptions(caffe2::TypeMeta dtype) : dtype_(dtype.toScalarType())
    {
    }
    TensorOptions(Device device) : device_(device)
    {
    }
    TensorOptions(DeviceType device) : device_(Device(device))
    {
    }
    TensorOptions(Layout)
    {
    }
    TensorOptions(MemoryFormat format) : format_(format)
    {
    }

    TensorOptions dtype(optional<ScalarType> dtype) const
    {
        TensorOptions copy(*this);
        copy.dtype_ = dtype;
        return copy;
    }
    TensorOptions dtype(ScalarType type) const
    {
        return dtype(optional<ScalarType>(type));
    }
    TensorOptions dtype(caffe2::TypeMeta dtype_of) const
    {
        return dtype(optional<ScalarType>(dtype_of.toScalarType()));
    }
    TensorOptions device(optional<Device> device) const
    {
        TensorOptions copy(*this);
        copy.device_ = device;
        return copy;
    }
    TensorOptions device(DeviceType type, DeviceIndex index = -1) const
    {
        return device(optional<Device>(Device(type, index)));
    }
    TensorOptions layout(optional<Layout>) const
    {
        return *this;
    }
    // Has no effect, because gradients are not supported.
    TensorOptions requires_grad(optional<bool>) const
    {
        return *this;
    }
    TensorOptions pinned_memory(optional<bool>) const
    {
        return *this;
    }
    TensorOptions memory_format(optional<MemoryFormat> format) const
    {
        TensorOptions copy(*this);
        copy.format_ = format;
        return copy;
    }

    caffe2::TypeMeta dtype() const
    {
        return dtype_.value_or(ScalarType::Float);
    }
    optional<ScalarType> dtype_opt() const
    {
        return dtype_;
    }
    Device device() const
    {
        return device_.value_or(Device(kCPU));
    }
    optional<Device> device_opt() const
    {
        return device_;
    }
    Layout layout() const
    {
        return kStrided;
    }
    bool requires_grad() const
    {
        return false;
    }
    optional<MemoryFormat> memory_format_opt() const
    {
        return format_;
    }
    bool has_dtype() const
    {
        return dtype_.has_value();
    }
    bool has_device() const
    {
        return device_.has_value();
    }

  private:
    optional<ScalarType> dtype_;
    optional<Device> device_;
    optional<MemoryFormat> format_;
};

inline TensorOptions dtype(ScalarType type)
{
    return TensorOptions(type);
}
template <class T> TensorOptions dtype()
{
    return TensorOptions(CppTypeToScalarType<T>::value);
}
inline TensorOptions device(Device where)
{
    return TensorOptions(where);
}
inline TensorOptions requires_grad(bool = true)
{
    return TensorOptions();
}

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
