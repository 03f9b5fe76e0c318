/* SPDX-License-Identifier: BSD-2-Clause */
// Tensor's hand-written methods and its operators.
#ifndef TAPER_CPP_TENSOR_OPS_H
#define TAPER_CPP_TENSOR_OPS_H

#include <taper/cpp/generated/functions.h>

namespace at
{

inline c10::Scalar Tensor::item() const
{
    if (numel() != 1) {
        throw c10::Error(c10::str("a Tensor with ", numel(),
                                  " elements cannot be converted to Scalar")); // the text of PyTorch's error
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

inline Tensor Tensor::contiguous(c10::MemoryFormat format) const
{
    if (is_contiguous(format)) {
        return *this;
    }
    return taper::cpp::tensor_of("Tm aten::contiguous", this, &format);
}
inline Tensor Tensor::to(c10::TensorOptions options, bool non_blocking, bool copy,
                         c10::optional<c10::MemoryFormat> format) const
{
    const Tensor there = options.has_device() ? on(options.device()) : *this;
    return there.to(options.dtype_opt().value_or(scalar_type()), non_blocking, copy,
                    format.has_value() ? format : options.memory_format_opt());
}
inline Tensor Tensor::to(c10::optional<c10::ScalarType> dtype, c10::optional<c10::Layout>,
                         c10::optional<c10::Device> device, c10::optional<bool>, bool non_blocking, bool copy,
                         c10::optional<c10::MemoryFormat> format) const
{
    return to(c10::TensorOptions().dtype(dtype).device(device), non_blocking, copy, format);
}
inline Tensor Tensor::to(c10::Device device, c10::ScalarType dtype, bool non_blocking, bool copy,
                         c10::optional<c10::MemoryFormat> format) const
{
    return to(c10::TensorOptions(dtype).device(device), non_blocking, copy, format);
}
inline Tensor Tensor::toType(c10::ScalarType dtype) const
{
    return to(dtype);
}
inline Tensor Tensor::operator[](int64_t index) const
{
    return select(0, index);
}
inline Tensor Tensor::operator-() const
{
    return neg();
}
inline Tensor Tensor::operator~() const
{
    return bitwise_not();
}

#define TAPER_CPP_ASSIGN(sign, name)                                                                                   \
    inline Tensor &Tensor::operator sign##=(const Tensor &other)                                                       \
    {                                                                                                                  \
        return name##_(other);                                                                                         \
    }
#define TAPER_CPP_ASSIGN_BOTH(sign, name)                                                                              \
    TAPER_CPP_ASSIGN(sign, name)                                                                                       \
    inline Tensor &Tensor::operator sign##=(const c10::Scalar &other)                                                  \
    {                                                                                                                  \
        return name##_(other);                                                                                         \
    }
TAPER_CPP_ASSIGN_BOTH(+, add)
TAPER_CPP_ASSIGN_BOTH(-, sub)
TAPER_CPP_ASSIGN_BOTH(*, mul)
TAPER_CPP_ASSIGN_BOTH(/, div)
TAPER_CPP_ASSIGN(&, bitwise_and)
TAPER_CPP_ASSIGN(|, bitwise_or)
TAPER_CPP_ASSIGN(^, bitwise_xor)
#undef TAPER_CPP_ASSIGN_BOTH
#undef TAPER_CPP_ASSIGN

// Defines an operator for two tensors, a tensor and a number, and a number and a tensor.
#define TAPER_CPP_TENSORS(sign, name)                                                                                  \
    inline Tensor operator sign(const Tensor &a, const Tensor &b)                                                      \
    {                                                                                                                  \
        return a.name(b);                                                                                              \
    }                                                                                                                  \
    inline Tensor operator sign(const Tensor &a, const c10::Scalar &b)                                                 \
    {                                                                                                                  \
        return a.name(b);                                                                                              \
    }
#define TAPER_CPP_COMMUTED(sign, name)                                                                                 \
    TAPER_CPP_TENSORS(sign, name)                                                                                      \
    inline Tensor operator sign(const c10::Scalar &a, const Tensor &b)                                                 \
    {                                                                                                                  \
        return b.name(a);                                                                                              \
    }
#define TAPER_CPP_COMPARED(sign, name, turned)                                                                         \
    TAPER_CPP_TENSORS(sign, name)                                                                                      \
    inline Tensor operator sign(const c10::Scalar &a, const Tensor &b)                                                 \
    {                                                                                                                  \
        return b.turned(a);                                                                                            \
    }
TAPER_CPP_COMMUTED(+, add)
TAPER_CPP_COMMUTED(*, mul)
TAPER_CPP_TENSORS(-, sub)
TAPER_CPP_TENSORS(/, div)
TAPER_CPP_TENSORS(%, remainder)
TAPER_CPP_COMMUTED(&, bitwise_and)
TAPER_CPP_COMMUTED(|, bitwise_or)
TAPER_CPP_COMMUTED(^, bitwise_xor)
TAPER_CPP_COMPARED(<, lt, gt)
TAPER_CPP_COMPARED(<=, le, ge)
TAPER_CPP_COMPARED(>, gt, lt)
TAPER_CPP_COMPARED(>=, ge, le)
TAPER_CPP_COMPARED(==, eq, eq)
TAPER_CPP_COMPARED(!=, ne, ne)
#undef TAPER_CPP_COMPARED
#undef TAPER_CPP_COMMUTED
#undef TAPER_CPP_TENSORS
inline Tensor operator-(const c10::Scalar &a, const Tensor &b)
{
    return rsub(b, a, 1);
}
inline Tensor operator/(const c10::Scalar &a, const Tensor &b)
{
    return b.reciprocal() * a;
}
inline Tensor operator%(const c10::Scalar &a, const Tensor &b)
{
    return remainder(a, b);
}

} // namespace at

#endif
