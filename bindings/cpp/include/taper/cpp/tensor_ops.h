/* SPDX-License-Identifier: BSD-2-Clause */
// Methods of Tensor that compute: operators of the library, by name.
#ifndef TAPER_CPP_TENSOR_OPS_H
#define TAPER_CPP_TENSOR_OPS_H

#include <taper/cpp/ivalue.h>
#include <taper/cpp/operators.h>

namespace taper
{
namespace cpp
{

// Arguments in the order of the schema; those at its end may be left out.
inline std::vector<Handle> call_values(const char *name, const std::vector<c10::IValue> &args)
{
    std::vector<Handle> handles;
    handles.reserve(args.size());
    for (const c10::IValue &arg : args) {
        handles.push_back(arg.handle());
    }
    return call_operator(name, std::move(handles));
}
inline at::Tensor call_tensor(const char *name, const std::vector<c10::IValue> &args)
{
    return c10::IValue(call_values(name, args).at(0)).toTensor();
}

} // namespace cpp
} // namespace taper

namespace at
{

inline c10::Scalar Tensor::item() const
{
    if (numel() != 1) {
        throw c10::Error(
            c10::str("a Tensor with ", numel(), " elements cannot be converted to Scalar")); // as PyTorch says
    }
    const void *data = info().data;
    switch (scalar_type()) {
#define TAPER_CPP_ITEM(type, name)                                                                                     \
    case c10::ScalarType::name:                                                                                        \
        return c10::Scalar(*static_cast<const type *>(data));
        TAPER_CPP_ITEM(uint8_t, Byte)
        TAPER_CPP_ITEM(int8_t, Char)
        TAPER_CPP_ITEM(int16_t, Short)
        TAPER_CPP_ITEM(int32_t, Int)
        TAPER_CPP_ITEM(int64_t, Long)
        TAPER_CPP_ITEM(float, Float)
        TAPER_CPP_ITEM(double, Double)
        TAPER_CPP_ITEM(c10::complex<double>, ComplexDouble)
#undef TAPER_CPP_ITEM
    case c10::ScalarType::Bool:
        return c10::Scalar(*static_cast<const unsigned char *>(data) != 0);
    case c10::ScalarType::Half:
        return c10::Scalar(static_cast<float>(*static_cast<const c10::Half *>(data)));
    case c10::ScalarType::BFloat16:
        return c10::Scalar(static_cast<float>(*static_cast<const c10::BFloat16 *>(data)));
    case c10::ScalarType::ComplexFloat: {
        const c10::complex<float> number = *static_cast<const c10::complex<float> *>(data);
        return c10::Scalar(c10::complex<double>(number.real(), number.imag()));
    }
    default:
        return dequantize().item();
    }
}

inline Tensor Tensor::detach() const
{
    return taper::cpp::call_tensor("aten::detach", {*this});
}
inline Tensor Tensor::contiguous(c10::MemoryFormat format) const
{
    return taper::cpp::call_tensor("aten::contiguous", {*this, format});
}
inline Tensor Tensor::clone(c10::optional<c10::MemoryFormat> format) const
{
    return taper::cpp::call_tensor("aten::clone", {*this, format});
}
inline Tensor Tensor::to(c10::ScalarType dtype, bool non_blocking, bool copy,
                         c10::optional<c10::MemoryFormat> format) const
{
    return taper::cpp::call_tensor("aten::to.dtype", {*this, dtype, non_blocking, copy, format});
}
inline Tensor Tensor::to(const c10::TensorOptions &options, bool non_blocking, bool copy,
                         c10::optional<c10::MemoryFormat> format) const
{
    const Tensor there = options.has_device() ? to(options.device()) : *this;
    return there.to(options.dtype_opt().value_or(scalar_type()), non_blocking, copy,
                    format.has_value() ? format : options.memory_format_opt());
}
inline Tensor Tensor::to(c10::Device device, c10::ScalarType dtype, bool non_blocking, bool copy,
                         c10::optional<c10::MemoryFormat> format) const
{
    return to(device).to(dtype, non_blocking, copy, format);
}
inline Tensor Tensor::to(c10::Device device) const
{
    return on(device.str().c_str());
}
inline Tensor Tensor::to(c10::DeviceType device) const
{
    return to(c10::Device(device));
}
inline Tensor Tensor::toType(c10::ScalarType dtype) const
{
    return to(dtype);
}
inline Tensor Tensor::dequantize() const
{
    return taper::cpp::call_tensor("aten::dequantize.self", {*this});
}
inline Tensor Tensor::operator[](int64_t index) const
{
    return select(0, index);
}

inline Tensor Tensor::abs() const
{
    return taper::cpp::call_tensor("aten::abs", {*this});
}
inline Tensor Tensor::add(const Tensor &other, const c10::Scalar &alpha) const
{
    return taper::cpp::call_tensor("aten::add.Tensor", {*this, other, alpha});
}
inline Tensor Tensor::add(const c10::Scalar &other, const c10::Scalar &alpha) const
{
    return taper::cpp::call_tensor("aten::add.Scalar", {*this, other, alpha});
}
inline Tensor Tensor::sub(const Tensor &other, const c10::Scalar &alpha) const
{
    return taper::cpp::call_tensor("aten::sub.Tensor", {*this, other, alpha});
}
inline Tensor Tensor::sub(const c10::Scalar &other, const c10::Scalar &alpha) const
{
    return taper::cpp::call_tensor("aten::sub.Scalar", {*this, other, alpha});
}
inline Tensor Tensor::mul(const Tensor &other) const
{
    return taper::cpp::call_tensor("aten::mul.Tensor", {*this, other});
}
inline Tensor Tensor::mul(const c10::Scalar &other) const
{
    return taper::cpp::call_tensor("aten::mul.Scalar", {*this, other});
}
inline Tensor Tensor::div(const Tensor &other) const
{
    return taper::cpp::call_tensor("aten::div.Tensor", {*this, other});
}
inline Tensor Tensor::div(const c10::Scalar &other) const
{
    return taper::cpp::call_tensor("aten::div.Scalar", {*this, other});
}
inline Tensor &Tensor::add_(const Tensor &other, const c10::Scalar &alpha)
{
    return *this = taper::cpp::call_tensor("aten::add_.Tensor", {*this, other, alpha});
}
inline Tensor &Tensor::sub_(const Tensor &other, const c10::Scalar &alpha)
{
    return *this = taper::cpp::call_tensor("aten::sub_.Tensor", {*this, other, alpha});
}
inline Tensor &Tensor::mul_(const c10::Scalar &other)
{
    return *this = taper::cpp::call_tensor("aten::mul_.Scalar", {*this, other});
}
inline Tensor &Tensor::div_(const Tensor &other)
{
    return *this = taper::cpp::call_tensor("aten::div_.Tensor", {*this, other});
}
inline Tensor &Tensor::div_(const c10::Scalar &other)
{
    return *this = taper::cpp::call_tensor("aten::div_.Scalar", {*this, other});
}
inline Tensor &Tensor::fill_(const c10::Scalar &value)
{
    return *this = taper::cpp::call_tensor("aten::fill_.Scalar", {*this, value});
}
inline Tensor &Tensor::zero_()
{
    return *this = taper::cpp::call_tensor("aten::zero_", {*this});
}
inline Tensor &Tensor::copy_(const Tensor &from, bool non_blocking)
{
    return *this = taper::cpp::call_tensor("aten::copy_", {*this, from, non_blocking});
}
inline Tensor Tensor::argmax(c10::optional<int64_t> dim, bool keepdim) const
{
    return taper::cpp::call_tensor("aten::argmax", {*this, dim, keepdim});
}
inline Tensor Tensor::clamp(const c10::optional<c10::Scalar> &min, const c10::optional<c10::Scalar> &max) const
{
    return taper::cpp::call_tensor("aten::clamp", {*this, min, max});
}
inline Tensor Tensor::expand(IntArrayRef sizes, bool implicit) const
{
    return taper::cpp::call_tensor("aten::expand", {*this, sizes, implicit});
}
inline Tensor Tensor::flip(IntArrayRef dims) const
{
    return taper::cpp::call_tensor("aten::flip", {*this, dims});
}
inline Tensor Tensor::index_select(int64_t dim, const Tensor &index) const
{
    return taper::cpp::call_tensor("aten::index_select", {*this, dim, index});
}
inline Tensor Tensor::matmul(const Tensor &other) const
{
    return taper::cpp::call_tensor("aten::matmul", {*this, other});
}
inline Tensor Tensor::mean() const
{
    return taper::cpp::call_tensor("aten::mean", {*this});
}
inline Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const
{
    return taper::cpp::call_tensor("aten::narrow", {*this, dim, start, length});
}
inline Tensor Tensor::permute(IntArrayRef dims) const
{
    return taper::cpp::call_tensor("aten::permute", {*this, dims});
}
inline Tensor Tensor::reshape(IntArrayRef sizes) const
{
    return taper::cpp::call_tensor("aten::reshape", {*this, sizes});
}
inline Tensor Tensor::select(int64_t dim, int64_t index) const
{
    return taper::cpp::call_tensor("aten::select.int", {*this, dim, index});
}
inline Tensor Tensor::slice(int64_t dim, c10::optional<int64_t> start, c10::optional<int64_t> end, int64_t step) const
{
    return taper::cpp::call_tensor("aten::slice.Tensor", {*this, dim, start, end, step});
}
inline Tensor Tensor::softmax(int64_t dim, c10::optional<c10::ScalarType> dtype) const
{
    return taper::cpp::call_tensor("aten::softmax.int", {*this, dim, dtype});
}
inline Tensor Tensor::squeeze() const
{
    return taper::cpp::call_tensor("aten::squeeze", {*this});
}
inline Tensor Tensor::squeeze(int64_t dim) const
{
    return taper::cpp::call_tensor("aten::squeeze.dim", {*this, dim});
}
inline Tensor Tensor::sum(c10::optional<c10::ScalarType> dtype) const
{
    return taper::cpp::call_tensor("aten::sum", {*this, dtype});
}
inline Tensor Tensor::sum(IntArrayRef dims, bool keepdim, c10::optional<c10::ScalarType> dtype) const
{
    return taper::cpp::call_tensor("aten::sum.dim_IntList", {*this, dims, keepdim, dtype});
}
inline std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const
{
    const std::vector<taper::cpp::Handle> both =
        taper::cpp::call_values("aten::topk", {*this, k, dim, largest, sorted});
    return std::tuple<Tensor, Tensor>(Tensor(both.at(0)), Tensor(both.at(1)));
}
inline Tensor Tensor::transpose(int64_t first, int64_t second) const
{
    return taper::cpp::call_tensor("aten::transpose.int", {*this, first, second});
}
inline Tensor Tensor::unsqueeze(int64_t dim) const
{
    return taper::cpp::call_tensor("aten::unsqueeze", {*this, dim});
}
inline Tensor Tensor::view(IntArrayRef sizes) const
{
    return taper::cpp::call_tensor("aten::view", {*this, sizes});
}

} // namespace at

#endif
