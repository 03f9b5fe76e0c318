/* SPDX-License-Identifier: BSD-2-Clause */
// Calculations with dimensions and sizes: wrapping negative dimensions, broadcasting, views and strides.
#ifndef TAPER_CPP_SIZES_H
#define TAPER_CPP_SIZES_H

#include <functional>
#include <memory>
#include <stdexcept>
#include <tuple>

#include <taper/cpp/functions.h>
#include <taper/cpp/utility.h>

namespace c10
{

// Returns `dim`, counted from the first dimension. A negative `dim` counts from the end. Throws if `dim` is out of
// range.
inline int64_t maybe_wrap_dim(int64_t dim, int64_t rank, bool wrap_scalar = true)
{
    if (rank <= 0) {
        TORCH_CHECK_INDEX(wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions");
        rank = 1;
    }
    TORCH_CHECK_INDEX(dim >= -rank && dim < rank, "Dimension out of range (expected to be in range of [", -rank, ", ",
                      rank - 1, "], but got ", dim, ")");
    return dim < 0 ? dim + rank : dim;
}
inline DimVector contiguous_strides(const IntArrayRef sizes)
{
    DimVector strides(sizes.size(), 1);
    for (size_t i = sizes.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * (sizes[i] > 1 ? sizes[i] : 1);
    }
    return strides;
}
namespace detail
{
// Returns true if the strides grow from the channels outwards. If all sizes except the batch are 1, equal strides do
// not show an order, so the result is false.
inline bool are_channels_last(IntArrayRef sizes, IntArrayRef strides, size_t spatial)
{
    if (sizes.size() != spatial + 2 || strides.size() != sizes.size() || strides[1] == 0) {
        return false;
    }
    int64_t smallest = 0;
    for (size_t i = 0; i < sizes.size(); i++) {
        const size_t d = i == 0 ? 1 : i <= spatial ? spatial + 2 - i : 0;
        if (sizes[d] == 0 || strides[d] < smallest || (d == 0 && smallest == strides[1])) {
            return false;
        }
        smallest = strides[d] * (sizes[d] > 1 ? sizes[d] : 1);
    }
    return true;
}
} // namespace detail
inline bool is_channels_last_strides_2d(const IntArrayRef sizes, const IntArrayRef strides)
{
    return detail::are_channels_last(sizes, strides, 2);
}
inline bool is_channels_last_strides_3d(const IntArrayRef sizes, const IntArrayRef strides)
{
    return detail::are_channels_last(sizes, strides, 3);
}

} // namespace c10

namespace at
{

using c10::maybe_wrap_dim;
inline int64_t maybe_wrap_dim(int64_t dim, TensorList tensors)
{
    return tensors.empty() ? dim : maybe_wrap_dim(dim, tensors[0].dim());
}
inline int64_t maybe_wrap_dim(int64_t dim, const std::vector<std::vector<int64_t>> &sizes)
{
    return sizes.empty() ? dim : maybe_wrap_dim(dim, static_cast<int64_t>(sizes[0].size()));
}
inline void maybe_wrap_dims_n(int64_t *dims, int64_t count, int64_t rank)
{
    for (int64_t i = 0; i < count; i++) {
        dims[i] = maybe_wrap_dim(dims[i], rank);
    }
}
template <class C> void maybe_wrap_dims(C &dims, int64_t rank)
{
    maybe_wrap_dims_n(dims.data(), static_cast<int64_t>(dims.size()), rank);
}
inline void wrap_all_dims(std::vector<int64_t> &dims, int64_t rank)
{
    maybe_wrap_dims(dims, rank);
}

// Returns the sizes to which two tensors with these sizes broadcast.
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b)
{
    const size_t rank = a.size() > b.size() ? a.size() : b.size();
    std::vector<int64_t> sizes(rank);
    for (size_t i = 0; i < rank; i++) {
        const size_t from_end = rank - 1 - i;
        const int64_t of_a = from_end < a.size() ? a[a.size() - 1 - from_end] : 1;
        const int64_t of_b = from_end < b.size() ? b[b.size() - 1 - from_end] : 1;
        TORCH_CHECK(of_a == of_b || of_a == 1 || of_b == 1, "The size of tensor a (", of_a,
                    ") must match the size of tensor b (", of_b, ") at non-singleton dimension ", i);
        sizes[i] = of_a == 1 ? of_b : of_a;
    }
    return sizes;
}
inline DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b)
{
    return DimVector(infer_size(a, b));
}
// Returns the sizes of a view of count elements. One size of shape may be -1.
inline std::vector<int64_t> infer_size(IntArrayRef shape, int64_t count)
{
    int64_t known = 1;
    std::vector<int64_t> sizes = shape.vec();
    int64_t *open = nullptr;
    for (int64_t &size : sizes) {
        if (size == -1) {
            if (open != nullptr) {
                throw std::runtime_error("only one dimension can be inferred");
            }
            open = &size;
        } else {
            TORCH_CHECK(size >= 0, "invalid shape dimension ", size);
            known *= size;
        }
    }
    if (count == known || (open != nullptr && known > 0 && count % known == 0)) {
        if (open != nullptr) {
            TORCH_CHECK(known != 0, "cannot reshape tensor of 0 elements into shape ", shape,
                        " because the unspecified dimension size -1 can be any value and is ambiguous");
            *open = count / known;
        }
        return sizes;
    }
    throw std::runtime_error(c10::str("shape '", shape, "' is invalid for input of size ", count));
}
inline DimVector infer_size_dv(IntArrayRef shape, int64_t count)
{
    return DimVector(infer_size(shape, count));
}
inline bool is_expandable_to(IntArrayRef shape, IntArrayRef wanted)
{
    if (shape.size() > wanted.size()) {
        return false;
    }
    const size_t more = wanted.size() - shape.size();
    for (size_t i = 0; i < shape.size(); i++) {
        if (shape[i] != 1 && shape[i] != wanted[more + i]) {
            return false;
        }
    }
    return true;
}
inline bool are_expandable(IntArrayRef a, IntArrayRef b)
{
    const size_t common = a.size() < b.size() ? a.size() : b.size();
    for (size_t i = 1; i <= common; i++) {
        const int64_t of_a = a[a.size() - i], of_b = b[b.size() - i];
        if (of_a != of_b && of_a != 1 && of_b != 1) {
            return false;
        }
    }
    return true;
}
inline bool geometry_is_contiguous(IntArrayRef sizes, IntArrayRef strides)
{
    int64_t expected = 1;
    bool contiguous = true;
    for (size_t i = sizes.size(); i-- > 0;) {
        if (sizes[i] == 0) {
            return true;
        }
        contiguous = contiguous && (sizes[i] == 1 || strides[i] == expected);
        expected *= sizes[i];
    }
    return contiguous;
}
// Sums a tensor to sizes from which it could have been broadcast: over the dimensions in which the broadcast repeats
// elements.
inline Tensor sum_to(Tensor tensor, const IntArrayRef shape, bool always_return_non_view = false)
{
    const IntArrayRef sizes = tensor.sizes();
    if (shape.empty()) {
        return tensor.sum();
    }
    const int64_t more = static_cast<int64_t>(sizes.size()) - static_cast<int64_t>(shape.size());
    std::vector<int64_t> dims;
    for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); i++) {
        if (i < more || (shape[static_cast<size_t>(i - more)] == 1 && sizes[static_cast<size_t>(i)] != 1)) {
            dims.push_back(i);
        }
    }
    if (!dims.empty()) {
        tensor = tensor.sum(dims, true);
    }
    if (more > 0) {
        return always_return_non_view ? tensor.reshape(shape).clone() : tensor.view(shape);
    }
    return always_return_non_view && dims.empty() ? tensor.clone() : tensor;
}

inline void check_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors, const char *name)
{
    for (const Tensor &each : tensors) {
        TORCH_CHECK(each.defined(), name, "(...) called with an undefined Tensor");
    }
}
using ExpandedTensor = c10::MaybeOwned<Tensor>;
// Returns the tensor expanded to these sizes, or the tensor itself if it has these sizes.
inline ExpandedTensor expand_size(const Tensor &tensor, IntArrayRef sizes)
{
    return tensor.sizes().equals(sizes) ? ExpandedTensor::borrowed(tensor)
                                        : ExpandedTensor::owned(tensor.expand(sizes, true));
}
inline ExpandedTensor expand_size(const Tensor &tensor, IntArrayRef sizes, const char *name)
{
    check_defined({tensor}, name);
    return expand_size(tensor, sizes);
}
inline ExpandedTensor expand_inplace(const Tensor &to, const Tensor &tensor)
{
    return expand_size(tensor, to.sizes());
}
inline ExpandedTensor expand_inplace(const Tensor &to, const Tensor &tensor, const char *name)
{
    check_defined({to, tensor}, name);
    return expand_inplace(to, tensor);
}
inline std::tuple<ExpandedTensor, ExpandedTensor> expand_inplace(const Tensor &to, const Tensor &a, const Tensor &b)
{
    return std::make_tuple(expand_inplace(to, a), expand_inplace(to, b));
}
inline std::tuple<ExpandedTensor, ExpandedTensor> expand_inplace(const Tensor &to, const Tensor &a, const Tensor &b,
                                                                 const char *name)
{
    check_defined({to, a, b}, name);
    return expand_inplace(to, a, b);
}
inline std::tuple<ExpandedTensor, ExpandedTensor> expand_outplace(const Tensor &a, const Tensor &b)
{
    const std::vector<int64_t> sizes = infer_size(a.sizes(), b.sizes());
    return std::make_tuple(expand_size(a, sizes), expand_size(b, sizes));
}
inline std::tuple<ExpandedTensor, ExpandedTensor> expand_outplace(const Tensor &a, const Tensor &b, const char *name)
{
    check_defined({a, b}, name);
    return expand_outplace(a, b);
}
inline std::tuple<ExpandedTensor, ExpandedTensor, ExpandedTensor> expand_outplace(const Tensor &a, const Tensor &b,
                                                                                  const Tensor &c)
{
    const std::vector<int64_t> sizes = infer_size(infer_size(a.sizes(), b.sizes()), c.sizes());
    return std::make_tuple(expand_size(a, sizes), expand_size(b, sizes), expand_size(c, sizes));
}
inline std::tuple<ExpandedTensor, ExpandedTensor, ExpandedTensor> expand_outplace(const Tensor &a, const Tensor &b,
                                                                                  const Tensor &c, const char *name)
{
    check_defined({a, b, c}, name);
    return expand_outplace(a, b, c);
}
// Undefined tensors stay as they are.
inline std::vector<Tensor> expand_outplace(TensorList tensors)
{
    std::vector<int64_t> sizes;
    bool first = true;
    for (const Tensor &each : tensors) {
        if (each.defined()) {
            sizes = first ? each.sizes().vec() : infer_size(sizes, each.sizes());
            first = false;
        }
    }
    std::vector<Tensor> results;
    for (const Tensor &each : tensors) {
        results.push_back(each.defined() && !each.sizes().equals(sizes) ? each.expand(sizes, true) : each);
    }
    return results;
}

} // namespace at

namespace torch
{
using namespace at;
}

#endif
