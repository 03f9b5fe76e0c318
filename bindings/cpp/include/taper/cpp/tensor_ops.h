/* SPDX-License-Identifier: BSD-2-Clause */
// Tensor's hand-written methods and its operators.
#ifndef TAPER_CPP_TENSOR_OPS_H
#define TAPER_CPP_TENSOR_OPS_H

#include <algorithm>
#include <iostream>

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
inline Tensor Tensor::to(c10::Device device, caffe2::TypeMeta dtype, bool non_blocking, bool copy) const
{
    return to(device, dtype.toScalarType(), non_blocking, copy);
}
inline Tensor Tensor::to(caffe2::TypeMeta dtype, bool non_blocking, bool copy) const
{
    return to(dtype.toScalarType(), non_blocking, copy);
}
inline Tensor Tensor::operator[](int64_t index) const
{
    return select(0, index);
}
inline Tensor Tensor::operator[](const c10::Scalar &index) const
{
    if (!index.isIntegral(false)) {
        throw c10::IndexError("Can only index tensors with integral scalars");
    }
    return (*this)[index.toLong()];
}
inline Tensor Tensor::operator[](const Tensor &index) const
{
    if (!index.defined()) {
        throw c10::IndexError("Can only index with tensors that are defined");
    }
    if (index.dim() != 0) {
        throw c10::IndexError("Can only index with tensors that are scalars (zero-dim)");
    }
    return (*this)[index.item()];
}
inline Tensor Tensor::std(int dim) const
{
    return std(IntArrayRef{dim});
}
inline Tensor Tensor::var(int dim) const
{
    return var(IntArrayRef{dim});
}
inline Tensor Tensor::conj() const
{
    return is_complex() ? _conj() : *this;
}
inline Tensor Tensor::data() const
{
    return detach();
}
inline Tensor Tensor::tensor_data() const
{
    return detach();
}
inline Tensor Tensor::variable_data() const
{
    return detach();
}
inline void Tensor::set_data(const Tensor &from) const
{
    taper::cpp::run("WT aten::set_data", this, &from);
}

// ---- gradients
inline bool TensorBase::is_leaf() const
{
    return !requires_grad() || taper::cpp::result_of<bool>("T aten::is_leaf", this);
}
inline void Tensor::backward(const Tensor &gradient, c10::optional<bool> retain_graph, bool create_graph,
                             c10::optional<TensorList> inputs) const
{
    if (inputs.has_value()) {
        throw c10::NotImplementedError("backward of some inputs: use torch::autograd::grad");
    }
    const bool keeps = retain_graph.value_or(create_graph);
    const c10::optional<Tensor> given = gradient.defined() ? c10::optional<Tensor>(gradient) : c10::nullopt;
    const c10::optional<bool> kept(keeps);
    taper::cpp::run("TOBb aten::backward", this, &given, &kept, &create_graph);
}
inline void Tensor::retain_grad() const
{
    if (!is_leaf()) {
        throw c10::NotImplementedError("retain_grad: ask for the gradient with torch::autograd::grad");
    }
}
inline const Tensor &Tensor::grad() const
{
    enum { kept = 64 };
    static thread_local Tensor grads[kept];
    static thread_local size_t next = 0;
    Tensor &place = grads[next++ % kept];
    place = requires_grad() ? taper::cpp::tensor_of("T prim::grad", this) : Tensor();
    return place;
}
inline Tensor &Tensor::mutable_grad() const
{
    throw c10::NotImplementedError("mutable_grad: write to grad(), as in x.grad().zero_()");
}

// ---- the operators of TensorBase
inline TensorBase TensorBase::contiguous(c10::MemoryFormat format) const
{
    return Tensor(*this).contiguous(format);
}
inline const TensorBase &TensorBase::fill_(const c10::Scalar &value) const
{
    Tensor(*this).fill_(value);
    return *this;
}
inline const TensorBase &TensorBase::zero_() const
{
    Tensor(*this).zero_();
    return *this;
}
inline TensorBase TensorBase::to(c10::TensorOptions options, bool non_blocking, bool copy,
                                 c10::optional<c10::MemoryFormat> format) const
{
    return Tensor(*this).to(options, non_blocking, copy, format);
}
inline TensorBase TensorBase::data() const
{
    return Tensor(*this).detach();
}
inline TensorBase TensorBase::tensor_data() const
{
    return data();
}
inline TensorBase TensorBase::variable_data() const
{
    return data();
}
inline void TensorBase::set_data(const TensorBase &from) const
{
    Tensor(*this).set_data(from);
}

// ---- geometry
inline bool TensorBase::is_non_overlapping_and_dense() const
{
    if (numel() < 2) {
        return true;
    }
    // The dimensions in the order of their strides must follow one another without a gap.
    std::vector<size_t> order;
    for (size_t d = 0; d < sizes().size(); d++) {
        if (sizes()[d] != 1) {
            order.push_back(d);
        }
    }
    const IntArrayRef steps = strides();
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return steps[a] < steps[b]; });
    int64_t expected = 1;
    for (size_t d : order) {
        if (steps[d] != expected) {
            return false;
        }
        expected *= sizes()[d];
    }
    return true;
}
inline int64_t TensorBase::storage_offset() const
{
    return !defined() ? 0 : taper::cpp::result_of<int64_t>("T aten::storage_offset", this);
}
inline void TensorBase::print() const
{
    if (defined()) {
        std::cerr << "[" << toString() << " " << sizes() << "]" << std::endl;
    } else {
        std::cerr << "[UndefinedTensor]" << std::endl;
    }
}
inline Tensor Tensor::operator-() const
{
    return neg();
}
inline Tensor Tensor::operator~() const
{
    return bitwise_not();
}

// With this overload, std(x, 1) means dimension 1, as Tensor::std(1) does, and not the bool `unbiased`.
inline Tensor std(const Tensor &self, int dim)
{
    return at::std(self, IntArrayRef{dim});
}
inline Tensor var(const Tensor &self, int dim)
{
    return at::var(self, IntArrayRef{dim});
}
inline std::tuple<Tensor, Tensor> std_mean(const Tensor &self, int dim)
{
    return at::std_mean(self, IntArrayRef{dim});
}
inline std::tuple<Tensor, Tensor> var_mean(const Tensor &self, int dim)
{
    return at::var_mean(self, IntArrayRef{dim});
}
inline int64_t size(const Tensor &self, int64_t dim)
{
    return self.size(dim);
}
inline int64_t stride(const Tensor &self, int64_t dim)
{
    return self.stride(dim);
}
inline int64_t numel(const Tensor &self)
{
    return self.numel();
}
inline bool is_floating_point(const Tensor &self)
{
    return self.is_floating_point();
}
inline bool is_complex(const Tensor &self)
{
    return self.is_complex();
}
inline Tensor conj(const Tensor &self)
{
    return self.conj();
}
inline bool is_inference(const Tensor &self)
{
    return self.is_inference();
}
inline bool is_conj(const Tensor &self)
{
    return self.is_conj();
}
inline bool is_neg(const Tensor &self)
{
    return self.is_neg();
}
inline int64_t get_device(const TensorBase &self)
{
    return self.get_device();
}
inline bool is_signed(const Tensor &self)
{
    return self.is_signed();
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
inline Tensor DeprecatedTypeProperties::copy(const Tensor &source, bool non_blocking,
                                             c10::optional<c10::Device> device) const
{
    return source.to(options(device), non_blocking, true);
}

} // namespace at

#endif
