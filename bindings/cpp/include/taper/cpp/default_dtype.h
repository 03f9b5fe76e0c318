/* SPDX-License-Identifier: BSD-2-Clause */
// The dtype of tensors that are made without a dtype, which is always float, and other defaults of options.
#ifndef TAPER_CPP_DEFAULT_DTYPE_H
#define TAPER_CPP_DEFAULT_DTYPE_H

#include <taper/cpp/device.h>
#include <taper/cpp/optional.h>
#include <taper/cpp/type_meta.h>

namespace c10
{

inline caffe2::TypeMeta get_default_dtype()
{
    return caffe2::TypeMeta(kFloat);
}
inline ScalarType get_default_dtype_as_scalartype()
{
    return kFloat;
}
inline caffe2::TypeMeta get_default_complex_dtype()
{
    return caffe2::TypeMeta(kComplexFloat);
}
// Throws unless the type is float.
inline void set_default_dtype(caffe2::TypeMeta type)
{
    TORCH_CHECK_NOT_IMPLEMENTED(type == get_default_dtype(), "set_default_dtype: the default is always float, not ",
                                type);
}

inline ScalarType dtype_or_default(optional<ScalarType> type)
{
    return type.value_or(kFloat);
}
inline caffe2::TypeMeta dtype_or_default(optional<caffe2::TypeMeta> type)
{
    return type.value_or(get_default_dtype());
}
inline Layout layout_or_default(optional<Layout> layout)
{
    return layout.value_or(kStrided);
}
inline Device device_or_default(optional<Device> device)
{
    return device.value_or(Device(kCPU));
}
inline bool pinned_memory_or_default(optional<bool> pinned)
{
    return pinned.value_or(false);
}

} // namespace c10

namespace at
{
using c10::get_default_dtype;
using c10::set_default_dtype;

// The tags with which PyTorch describes operators.
enum class Tag {
    data_dependent_output,
    dynamic_output_shape,
    generated,
    inplace_view,
    nondeterministic_bitwise,
    nondeterministic_seeded,
    view_copy
};
} // namespace at
namespace torch
{
using c10::get_default_dtype;
using c10::get_default_dtype_as_scalartype;
using c10::set_default_dtype;
} // namespace torch

#endif
