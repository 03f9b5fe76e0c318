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
    TensorOptions(Layout layout) : layout_(layout)
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
    TensorOptions dtype(optional<caffe2::TypeMeta> dtype_of) const
    {
        return dtype_of.has_value() ? dtype(*dtype_of) : dtype(optional<ScalarType>());
    }
    // Returns a copy with the CUDA device of this index.
    TensorOptions device_index(DeviceIndex index) const
    {
        return device(kCUDA, index);
    }
    TensorOptions merge_memory_format(optional<MemoryFormat> format) const
    {
        TensorOptions copy(*this);
        merge(copy.format_, format);
        return copy;
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
    TensorOptions layout(optional<Layout> layout) const
    {
        TensorOptions copy(*this);
        copy.layout_ = layout;
        return copy;
    }
    TensorOptions requires_grad(optional<bool> wanted) const
    {
        TensorOptions copy(*this);
        copy.requires_grad_ = wanted;
        return copy;
    }
    // Has no effect on tensors, because memory is pinned for CUDA alone.
    TensorOptions pinned_memory(optional<bool> wanted) const
    {
        TensorOptions copy(*this);
        copy.pinned_memory_ = wanted;
        return copy;
    }
    // Returns a copy of these options, in which every option that `options` sets is replaced.
    TensorOptions merge_in(const TensorOptions &options) const
    {
        TensorOptions merged(*this);
        merge(merged.dtype_, options.dtype_);
        merge(merged.device_, options.device_);
        merge(merged.layout_, options.layout_);
        merge(merged.format_, options.format_);
        merge(merged.requires_grad_, options.requires_grad_);
        merge(merged.pinned_memory_, options.pinned_memory_);
        return merged;
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
        return layout_.value_or(kStrided);
    }
    optional<Layout> layout_opt() const
    {
        return layout_;
    }
    bool has_layout() const
    {
        return layout_.has_value();
    }
    bool is_sparse() const
    {
        return layout() == kSparse;
    }
    bool is_sparse_csr() const
    {
        return layout() == kSparseCsr;
    }
    bool requires_grad() const
    {
        return requires_grad_.value_or(false);
    }
    optional<bool> requires_grad_opt() const
    {
        return requires_grad_;
    }
    bool has_requires_grad() const
    {
        return requires_grad_.has_value();
    }
    bool pinned_memory() const
    {
        return pinned_memory_.value_or(false);
    }
    optional<bool> pinned_memory_opt() const
    {
        return pinned_memory_;
    }
    bool has_pinned_memory() const
    {
        return pinned_memory_.has_value();
    }
    int32_t device_index() const
    {
        return device().index();
    }
    bool has_memory_format() const
    {
        return format_.has_value();
    }
    bool type_equal(const TensorOptions &other) const
    {
        return dtype() == other.dtype() && device().type() == other.device().type() && layout() == other.layout();
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
    template <class T> static void merge(optional<T> &mine, const optional<T> &other)
    {
        if (other.has_value()) {
            mine = other;
        }
    }

    optional<ScalarType> dtype_;
    optional<Device> device_;
    optional<Layout> layout_;
    optional<MemoryFormat> format_;
    optional<bool> requires_grad_, pinned_memory_;
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
inline TensorOptions device(DeviceType type)
{
    return TensorOptions(type);
}
inline TensorOptions device_index(DeviceIndex index)
{
    return TensorOptions(Device(kCUDA, index));
}
inline TensorOptions dtype(caffe2::TypeMeta type)
{
    return TensorOptions(type);
}
inline TensorOptions layout(Layout layout)
{
    return TensorOptions(layout);
}
inline TensorOptions memory_format(MemoryFormat format)
{
    return TensorOptions(format);
}
inline TensorOptions requires_grad(bool wanted = true)
{
    return TensorOptions().requires_grad(optional<bool>(wanted));
}
inline std::ostream &operator<<(std::ostream &out, const TensorOptions &options)
{
    const auto mark = [&](bool given) { return given ? "" : " (default)"; };
    const char *const grad = options.requires_grad() ? "true" : "false",
                      *pinned = options.pinned_memory() ? "true" : "false";
    out << "TensorOptions(dtype=" << options.dtype() << mark(options.has_dtype()) << ", device=" << options.device()
        << mark(options.has_device()) << ", layout=" << options.layout() << mark(options.has_layout())
        << ", requires_grad=" << grad << mark(options.has_requires_grad()) << ", pinned_memory=" << pinned
        << mark(options.has_pinned_memory()) << ", memory_format=";
    if (options.has_memory_format()) {
        return out << *options.memory_format_opt() << ")";
    }
    return out << "(nullopt))";
}

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
