/* SPDX-License-Identifier: BSD-2-Clause */
// at::Tensor: a reference to a taper_value that is a tensor. Copies refer to the same tensor, as in PyTorch. Operators
// are in tensor_ops.h and generated/functions.h.
#ifndef TAPER_CPP_TENSOR_H
#define TAPER_CPP_TENSOR_H

#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include <taper/cpp/accessor.h>
#include <taper/cpp/generator.h>
#include <taper/cpp/handle.h>
#include <taper/cpp/optional_array_ref.h>
#include <taper/cpp/scalar.h>
#include <taper/cpp/tensor_options.h>
#include <taper/taper_device.h>

namespace c10
{
// Returns the channels-last strides for sizes N, C, H, W or C, H, W.
inline std::vector<int64_t> get_channels_last_strides_2d(IntArrayRef sizes)
{
    if (sizes.size() != 3 && sizes.size() != 4) {
        throw Error("ChannelsLast2d doesn't support size " + std::to_string(sizes.size()));
    }
    const size_t c = sizes.size() - 3, h = c + 1, w = c + 2;
    std::vector<int64_t> strides(sizes.size(), 1);
    strides[w] = sizes[c];
    strides[h] = strides[w] * sizes[w];
    if (c == 1) {
        strides[0] = strides[h] * sizes[h];
    }
    return strides;
}
} // namespace c10

namespace c10
{
template <class T> class List;
} // namespace c10

namespace at
{

using c10::ArrayRef;
using c10::IntArrayRef;
using c10::OptionalIntArrayRef;
class Tensor;
using TensorList = c10::ArrayRef<Tensor>;
namespace indexing
{
struct TensorIndex; // defined in indexing.h
}

class Tensor
{
  public:
    Tensor() = default;
    Tensor(const Tensor &) = default;
    Tensor(Tensor &&) = default;
    Tensor &operator=(const Tensor &) & = default;
    Tensor &operator=(Tensor &&) & = default;
    Tensor &operator=(const Tensor &from) &&; // x[0] = y writes to x; defined in indexing.h
    Tensor &operator=(Tensor &&from) &&;
    Tensor &operator=(const c10::Scalar &value) &&;
    explicit Tensor(taper::cpp::Handle value) : value_(std::move(value))
    {
    }

    bool defined() const
    {
        return static_cast<bool>(value_);
    }
    void reset()
    {
        value_ = taper::cpp::Handle();
    }
    bool is_same(const Tensor &other) const
    {
        return value_.get() == other.value_.get();
    }
    taper_tensor_info info() const
    {
        if (!defined()) {
            throw c10::Error("the tensor is undefined");
        }
        taper_tensor_info info;
        info.struct_size = sizeof info;
        // The first call has no error object, because each access to a tensor makes it.
        if (taper_value_get_tensor(value_.get(), &info, nullptr) != TAPER_OK) {
            taper::cpp::ErrorScope error;
            error.check(taper_value_get_tensor(value_.get(), &info, error));
        }
        return info;
    }

    IntArrayRef sizes() const
    {
        const taper_tensor_info all = info();
        return IntArrayRef(all.sizes, all.rank);
    }
    IntArrayRef strides() const
    {
        const taper_tensor_info all = info();
        return IntArrayRef(all.strides, all.rank);
    }
    int64_t dim() const
    {
        return static_cast<int64_t>(info().rank);
    }
    int64_t ndimension() const
    {
        return dim();
    }
    int64_t size(int64_t index) const
    {
        return sizes()[dimension(index)];
    }
    int64_t stride(int64_t index) const
    {
        return strides()[dimension(index)];
    }
    int64_t numel() const
    {
        int64_t count = 1; // the library refuses tensors whose number of elements would overflow
        for (int64_t size : sizes()) {
            count *= size;
        }
        return count;
    }
    size_t itemsize() const
    {
        return c10::elementSize(scalar_type());
    }
    size_t element_size() const
    {
        return itemsize();
    }
    size_t nbytes() const
    {
        return static_cast<size_t>(numel()) * itemsize();
    }

    c10::ScalarType scalar_type() const
    {
        return static_cast<c10::ScalarType>(info().dtype);
    }
    caffe2::TypeMeta dtype() const
    {
        return defined() ? caffe2::TypeMeta(scalar_type()) : caffe2::TypeMeta();
    }
    c10::Device device() const
    {
        return c10::Device(c10::kCPU);
    }
    c10::Layout layout() const
    {
        return c10::kStrided;
    }
    c10::TensorOptions options() const
    {
        return c10::TensorOptions(scalar_type()).device(c10::kCPU);
    }
    bool is_cpu() const
    {
        return true;
    }
    bool is_cuda() const
    {
        return false;
    }
    bool is_vulkan() const
    {
        return false;
    }
    bool is_metal() const
    {
        return false;
    }
    bool is_quantized() const
    {
        return info().quantized != 0;
    }
    bool is_floating_point() const
    {
        return c10::isFloatingType(scalar_type());
    }
    bool is_complex() const
    {
        return c10::isComplexType(scalar_type());
    }
    bool requires_grad() const
    {
        return false;
    }
    // Returns, for example, "CPUFloatType".
    std::string toString() const
    {
        return defined() ? std::string(is_quantized() ? "QuantizedCPU" : "CPU") + c10::toString(scalar_type()) + "Type"
                         : "UndefinedType";
    }

    bool is_contiguous(c10::MemoryFormat format = c10::MemoryFormat::Contiguous) const
    {
        const taper_tensor_info all = info();
        // The order of dimensions in memory, from the innermost to the outermost.
        static const size_t last[] = {1, 3, 2, 0}, last3d[] = {1, 4, 3, 2, 0};
        const bool channels = format == c10::MemoryFormat::ChannelsLast || format == c10::MemoryFormat::ChannelsLast3d;
        const size_t rank = format == c10::MemoryFormat::ChannelsLast ? 4 : 5;
        const size_t *order = rank == 4 ? last : last3d;
        if (channels && all.rank != rank) {
            return false;
        }
        int64_t expected = 1;
        bool fits = true;
        for (size_t i = 0; i < all.rank; i++) {
            const size_t d = channels ? order[i] : all.rank - 1 - i;
            if (all.sizes[d] == 0) {
                return true;
            }
            fits = fits && (all.sizes[d] == 1 || all.strides[d] == expected);
            expected *= all.sizes[d];
        }
        return fits;
    }
    c10::MemoryFormat suggest_memory_format() const
    {
        if (!is_contiguous() && is_contiguous(c10::MemoryFormat::ChannelsLast)) {
            return c10::MemoryFormat::ChannelsLast;
        }
        return !is_contiguous() && is_contiguous(c10::MemoryFormat::ChannelsLast3d) ? c10::MemoryFormat::ChannelsLast3d
                                                                                    : c10::MemoryFormat::Contiguous;
    }

    // Returns the elements for reading and writing. A tensor over the model's own bytes gets a copy of them first.
    // Tensors of a module that runs in another thread must therefore use const_data_ptr.
    void *data_ptr() const
    {
        taper_tensor_info all = info();
        if (all.read_only) {
            taper::cpp::ErrorScope error;
            error.check(taper_value_make_writable(value_.get(), error));
            all = info();
        }
        return all.data;
    }
    template <class T> T *data_ptr() const
    {
        expect<T>();
        return static_cast<T *>(data_ptr());
    }
    template <class T> T *data() const
    {
        return data_ptr<T>();
    }
    const void *const_data_ptr() const
    {
        return info().data;
    }
    template <class T> const T *const_data_ptr() const
    {
        expect<T>();
        return static_cast<const T *>(info().data);
    }
    template <class T> T *mutable_data_ptr() const
    {
        return data_ptr<T>();
    }

    template <class T, size_t N> TensorAccessor<T, N> accessor() const &
    {
        if (dim() != static_cast<int64_t>(N)) {
            throw c10::Error(c10::str("TensorAccessor expected ", N, " dims but tensor has ", dim()));
        }
        return TensorAccessor<T, N>(data_ptr<T>(), sizes().data(), strides().data());
    }
    // Deleted, because the accessor would outlive the tensor.
    template <class T, size_t N> TensorAccessor<T, N> accessor() && = delete;
    template <class T, size_t N> PackedTensorAccessor<T, N, int32_t> packed_accessor32() const &
    {
        const TensorAccessor<T, N> all = accessor<T, N>();
        for (int64_t size : sizes()) {
            if (size > std::numeric_limits<int32_t>::max()) {
                throw c10::Error("numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
            }
        }
        return PackedTensorAccessor<T, N, int32_t>(all.data(), all.sizes().data(), all.strides().data());
    }
    template <class T, size_t N> PackedTensorAccessor<T, N, int64_t> packed_accessor64() const &
    {
        const TensorAccessor<T, N> all = accessor<T, N>();
        return PackedTensorAccessor<T, N, int64_t>(all.data(), all.sizes().data(), all.strides().data());
    }

    c10::Scalar item() const;
    template <class T> T item() const
    {
        return item().to<T>();
    }

    Tensor cpu() const
    {
        return on(c10::kCPU);
    }
    Tensor vulkan() const
    {
        return on(c10::kVulkan);
    }
    Tensor metal() const
    {
        return on(c10::kMetal);
    }
    Tensor contiguous(c10::MemoryFormat format = c10::MemoryFormat::Contiguous) const;
    Tensor to(c10::TensorOptions options = {}, bool non_blocking = false, bool copy = false,
              c10::optional<c10::MemoryFormat> format = c10::nullopt) const;
    Tensor to(c10::optional<c10::ScalarType> dtype, c10::optional<c10::Layout> layout,
              c10::optional<c10::Device> device, c10::optional<bool> pin_memory, bool non_blocking, bool copy,
              c10::optional<c10::MemoryFormat> format) const;
    Tensor to(c10::Device device, c10::ScalarType dtype, bool non_blocking = false, bool copy = false,
              c10::optional<c10::MemoryFormat> format = c10::nullopt) const;
    Tensor toType(c10::ScalarType dtype) const;
    Tensor operator[](int64_t index) const;
    Tensor operator-() const;
    Tensor operator~() const;
    Tensor &operator+=(const Tensor &other);
    Tensor &operator+=(const c10::Scalar &other);
    Tensor &operator-=(const Tensor &other);
    Tensor &operator-=(const c10::Scalar &other);
    Tensor &operator*=(const Tensor &other);
    Tensor &operator*=(const c10::Scalar &other);
    Tensor &operator/=(const Tensor &other);
    Tensor &operator/=(const c10::Scalar &other);
    Tensor &operator&=(const Tensor &other);
    Tensor &operator|=(const Tensor &other);
    Tensor &operator^=(const Tensor &other);

#include <taper/cpp/generated/methods.inc>

    Tensor index(c10::ArrayRef<indexing::TensorIndex> indices) const; // defined in indexing.h
    Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
    Tensor &index_put_(c10::ArrayRef<indexing::TensorIndex> indices, const Tensor &value);
    Tensor &index_put_(c10::ArrayRef<indexing::TensorIndex> indices, const c10::Scalar &value);
    Tensor &index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor &value);
    Tensor &index_put_(std::initializer_list<indexing::TensorIndex> indices, const c10::Scalar &value);

    const taper::cpp::Handle &handle() const
    {
        return value_;
    }

  private:
    template <class T> void expect() const
    {
        const c10::ScalarType wanted = c10::CppTypeToScalarType<T>::value, found = scalar_type();
        if (found != wanted) {
            throw c10::Error(c10::str("expected scalar type ", wanted, " but found ", found));
        }
    }
    size_t dimension(int64_t index) const
    {
        const int64_t rank = dim(), wrapped = index < 0 ? index + rank : index;
        if (wrapped < 0 || wrapped >= rank) {
            throw c10::IndexError(rank == 0 ? std::string("dimension specified as ") + std::to_string(index) +
                                                  " but tensor has no dimensions"
                                            : c10::str("Dimension out of range (expected to be in range of [", -rank,
                                                       ", ", rank - 1, "], but got ", index, ")"));
        }
        return static_cast<size_t>(wrapped);
    }
    // Returns the tensor on a device. If the GPU is not available here, the tensor remains where it is, because models
    // prepared for the GPU then run on the CPU. Other unavailable devices are an error.
    Tensor on(c10::Device device) const
    {
        taper::cpp::ErrorScope error;
        taper_value *moved = nullptr;
        info(); // throws for an undefined tensor
        taper_device_choice choice;
        std::memset(&choice, 0, sizeof choice);
        choice.struct_size = sizeof choice;
        error.check(taper_device_parse(device.str().c_str(), &choice, error));
        const taper_status status = taper_value_to_device(value_.get(), &choice, &moved, error);
        if (status == TAPER_ERROR_UNSUPPORTED && (device.is_vulkan() || device.is_metal())) {
            return *this;
        }
        error.check(status);
        return Tensor(taper::cpp::Handle(moved));
    }

    taper::cpp::Handle value_;
};

} // namespace at

namespace torch
{
using namespace at;
}

#endif
