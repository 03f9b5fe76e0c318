/* SPDX-License-Identifier: BSD-2-Clause */
// TensorArg and the checks of arguments, at::checkDim and others, whose errors name the argument.
#ifndef TAPER_CPP_TENSOR_CHECKS_H
#define TAPER_CPP_TENSOR_CHECKS_H

#include <taper/cpp/sizes.h>

namespace at
{

// The sizes and strides of a tensor.
struct TensorGeometry {
    TensorGeometry() = default;
    explicit TensorGeometry(const Tensor &tensor)
        : sizes_(tensor.sizes().vec()), strides_(tensor.strides().vec()), offset_(tensor.storage_offset()),
          numel_(tensor.numel())
    {
    }
    bool is_contiguous() const
    {
        return geometry_is_contiguous(sizes_, strides_);
    }
    int64_t dim() const
    {
        return static_cast<int64_t>(sizes_.size());
    }
    int64_t size(int64_t dim) const
    {
        return sizes_[static_cast<size_t>(maybe_wrap_dim(dim, this->dim()))];
    }
    IntArrayRef sizes() const
    {
        return sizes_;
    }
    int64_t stride(int64_t dim) const
    {
        return strides_[static_cast<size_t>(maybe_wrap_dim(dim, this->dim()))];
    }
    IntArrayRef strides() const
    {
        return strides_;
    }
    int64_t storage_offset() const
    {
        return offset_;
    }
    int64_t numel() const
    {
        return numel_;
    }
    TensorGeometry transpose(int64_t dim0, int64_t dim1) const
    {
        TORCH_CHECK(dim0 < dim(), "transpose: dim0=", dim0, " out of range (dim=", dim(), ")");
        TORCH_CHECK(dim1 < dim(), "transpose: dim1=", dim1, " out of range (dim=", dim(), ")");
        TensorGeometry copy = *this;
        std::swap(copy.sizes_[static_cast<size_t>(dim0)], copy.sizes_[static_cast<size_t>(dim1)]);
        std::swap(copy.strides_[static_cast<size_t>(dim0)], copy.strides_[static_cast<size_t>(dim1)]);
        return copy;
    }

  private:
    std::vector<int64_t> sizes_ = {0}, strides_ = {1};
    int64_t offset_ = 0, numel_ = 0;
};

// A tensor with its name and place among the arguments of a function. Place 0 means that errors name no place.
struct TensorArg {
    TensorArg(const Tensor &the_tensor, const char *the_name, int the_pos)
        : tensor(the_tensor), name(the_name), pos(the_pos)
    {
    }
    const Tensor *operator->() const
    {
        return &tensor;
    }
    const Tensor &operator*() const
    {
        return tensor;
    }
    const Tensor &tensor;
    const char *name;
    int pos;
};
struct TensorGeometryArg {
    TensorGeometryArg(TensorArg arg) : tensor(TensorGeometry{arg.tensor}), name(arg.name), pos(arg.pos)
    {
    }
    TensorGeometryArg(TensorGeometry the_tensor, const char *the_name, int the_pos)
        : tensor(std::move(the_tensor)), name(the_name), pos(the_pos)
    {
    }
    const TensorGeometry *operator->() const
    {
        return &tensor;
    }
    const TensorGeometry &operator*() const
    {
        return tensor;
    }
    TensorGeometry tensor;
    const char *name;
    int pos;
};
inline std::ostream &operator<<(std::ostream &out, const TensorGeometryArg &arg)
{
    return arg.pos == 0 ? out << "'" << arg.name << "'" : out << "argument #" << arg.pos << " '" << arg.name << "'";
}

using CheckedFrom = const char *;
#define TAPER_CPP_CHECK_ARG(condition, ...)                                                                            \
    TORCH_CHECK(condition, __VA_ARGS__, " (while checking arguments for ", c, ")")

inline void checkBackend(CheckedFrom c, ArrayRef<Tensor> tensors, Backend backend)
{
    for (const Tensor &each : tensors) {
        const Backend is = !each.defined()       ? Backend::Undefined
                           : each.is_quantized() ? Backend::QuantizedCPU
                                                 : Backend::CPU;
        TORCH_CHECK(!each.defined() || is == backend, "Expected tensor to have ", c10::toString(backend),
                    " Backend, but got tensor with ", c10::toString(is), " Backend (while checking arguments for ", c,
                    ")");
    }
}
inline void checkDim(CheckedFrom c, const TensorGeometryArg &t, int64_t dim)
{
    TAPER_CPP_CHECK_ARG(t->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ", t->dim(),
                        "-dimensional tensor for ", t);
}
inline void checkDim(CheckedFrom c, const Tensor &tensor, const char *name, int pos, int64_t dim)
{
    checkDim(c, TensorGeometryArg(TensorArg(tensor, name, pos)), dim);
}
// Throws unless the number of dimensions is in [first, last).
inline void checkDimRange(CheckedFrom c, const TensorGeometryArg &t, int64_t first, int64_t last)
{
    TAPER_CPP_CHECK_ARG(t->dim() >= first && t->dim() < last, "Expected ", first, " to ", last - 1,
                        " dimensions, but got ", t->dim(), "-dimensional tensor for ", t);
}
inline void checkSameDim(CheckedFrom c, const TensorGeometryArg &a, const TensorGeometryArg &b)
{
    TAPER_CPP_CHECK_ARG(a->dim() == b->dim(), "Expected tensor for ", a, " to have the same dimension as tensor for ",
                        b, "; but ", a->dim(), " does not equal ", b->dim());
}
inline void checkContiguous(CheckedFrom c, const TensorGeometryArg &t)
{
    TAPER_CPP_CHECK_ARG(t->is_contiguous(), "Expected contiguous tensor, but got non-contiguous tensor for ", t);
}
inline void checkSize(CheckedFrom c, const TensorGeometryArg &t, IntArrayRef sizes)
{
    checkDim(c, t, static_cast<int64_t>(sizes.size()));
    TAPER_CPP_CHECK_ARG(t->sizes().equals(sizes), "Expected tensor of size ", sizes, ", but got tensor of size ",
                        t->sizes(), " for ", t);
}
inline void checkSize(CheckedFrom c, const TensorGeometryArg &t, int64_t dim, int64_t size)
{
    TAPER_CPP_CHECK_ARG(t->size(dim) == size, "Expected tensor to have size ", size, " at dimension ", dim,
                        ", but got size ", t->size(dim), " for ", t);
}
inline void checkNumel(CheckedFrom c, const TensorGeometryArg &t, int64_t numel)
{
    TAPER_CPP_CHECK_ARG(t->numel() == numel, "Expected tensor for ", t, " to have ", numel,
                        " elements; but it actually has ", t->numel(), " elements");
}
inline void checkSameNumel(CheckedFrom c, const TensorArg &a, const TensorArg &b)
{
    TAPER_CPP_CHECK_ARG(a->numel() == b->numel(), "Expected tensor for ", TensorGeometryArg(a),
                        " to have same number of elements as tensor for ", TensorGeometryArg(b), "; but ", a->numel(),
                        " does not equal ", b->numel());
}
inline void checkSameSize(CheckedFrom c, const TensorArg &a, const TensorArg &b)
{
    TAPER_CPP_CHECK_ARG(a->sizes().equals(b->sizes()), "Expected tensor for ", TensorGeometryArg(a),
                        " to have same size as tensor for ", TensorGeometryArg(b), "; but ", a->sizes(),
                        " does not equal ", b->sizes());
}
inline void checkScalarType(CheckedFrom c, const TensorArg &t, ScalarType type)
{
    TAPER_CPP_CHECK_ARG(t->scalar_type() == type, "Expected tensor for ", TensorGeometryArg(t), " to have scalar type ",
                        toString(type), "; but got ", t->toString(), " instead");
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg &t, ArrayRef<ScalarType> types)
{
    if (std::find(types.begin(), types.end(), t->scalar_type()) == types.end()) {
        std::string names;
        for (ScalarType type : types) {
            names += (names.empty() ? "" : ", ") + std::string(toString(type));
        }
        TAPER_CPP_CHECK_ARG(false, "Expected tensor for ", TensorGeometryArg(t),
                            " to have one of the following scalar types: ", names, "; but got ", t->toString(),
                            " instead");
    }
}
inline void checkSameType(CheckedFrom c, const TensorArg &a, const TensorArg &b)
{
    TAPER_CPP_CHECK_ARG(a->options().type_equal(b->options()), "Expected tensor for ", TensorGeometryArg(a),
                        " to have the same type as tensor for ", TensorGeometryArg(b), "; but type ", a->toString(),
                        " does not equal ", b->toString());
}
// Always throws, because all tensors are on the CPU.
inline void checkSameGPU(CheckedFrom c, const TensorArg &a, const TensorArg &b)
{
    TORCH_CHECK(false, "Tensor for ", TensorGeometryArg(a), " is on CPU, Tensor for ", TensorGeometryArg(b),
                " is on CPU, but expected it to be on GPU (while checking arguments for ", c, ")");
}
inline void checkDefined(CheckedFrom c, const TensorArg &t)
{
    if (!t->defined()) {
        const std::string place = t.pos == 0 ? std::string() : "argument #" + std::to_string(t.pos) + " ";
        TAPER_CPP_CHECK_ARG(false, "Expected tensor for ", place, "'", t.name,
                            "' to be non-null, but it was undefined ");
    }
}
inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> all)
{
    for (const TensorArg &t : all) {
        checkDefined(c, t);
    }
}
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> all)
{
    for (const TensorArg &t : all) {
        if (t->defined()) {
            checkContiguous(c, t);
        }
    }
}
inline void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> all)
{
    for (size_t i = 1; i < all.size(); i++) {
        checkSameNumel(c, all[0], all[i]);
    }
}
inline void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> all)
{
    for (size_t i = 1; i < all.size(); i++) {
        checkSameType(c, all[0], all[i]);
    }
}
inline void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> all)
{
    for (size_t i = 1; i < all.size(); i++) {
        checkSameGPU(c, all[0], all[i]);
    }
}
inline void checkLayout(CheckedFrom c, const Tensor &tensor, Layout layout)
{
    TAPER_CPP_CHECK_ARG(!tensor.defined() || tensor.layout() == layout, "Expected tensor to have ", layout,
                        " Layout, but got tensor with ", tensor.layout(), " Layout");
}
inline void checkLayout(CheckedFrom c, ArrayRef<Tensor> tensors, Layout layout)
{
    for (const Tensor &each : tensors) {
        checkLayout(c, each, layout);
    }
}
inline void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType type)
{
    for (const Tensor &each : tensors) {
        TAPER_CPP_CHECK_ARG(!each.defined() || each.device().type() == type, "Expected tensor to have ", type,
                            " DeviceType, but got tensor with ", each.device().type(), " DeviceType");
    }
}
#undef TAPER_CPP_CHECK_ARG
inline void *maybe_data_ptr(const Tensor &tensor)
{
    return tensor.defined() ? tensor.data_ptr() : nullptr;
}
inline void *maybe_data_ptr(const TensorArg &arg)
{
    return maybe_data_ptr(arg.tensor);
}
inline void check_dim_size(const Tensor &tensor, int64_t rank, int64_t dim, int64_t size)
{
    TORCH_CHECK(tensor.dim() == rank && tensor.size(dim) == size, "Expected a tensor of dimension ", rank,
                " and tensor.size[", dim, "] == ", size, " but got: dimension ", tensor.dim(), " and tensor.size[", dim,
                "] = ", tensor.size(dim));
}
inline c10::optional<Device> device_of(const Tensor &tensor)
{
    return tensor.defined() ? c10::optional<Device>(tensor.device()) : c10::optional<Device>();
}
inline c10::optional<Device> device_of(const c10::optional<Tensor> &tensor)
{
    return tensor.has_value() ? device_of(*tensor) : c10::optional<Device>();
}

} // namespace at

#endif
