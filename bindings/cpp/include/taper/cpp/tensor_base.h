/* SPDX-License-Identifier: BSD-2-Clause */
// at::TensorBase: a reference to a taper_value that is a tensor, and what is known of it without calling an operator:
// its geometry, dtype, device and memory. at::Tensor (tensor.h) adds the operators.
#ifndef TAPER_CPP_TENSOR_BASE_H
#define TAPER_CPP_TENSOR_BASE_H

#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include <taper/cpp/accessor.h>
#include <taper/cpp/generator.h>
#include <taper/cpp/grad_mode.h>
#include <taper/cpp/handle.h>
#include <taper/cpp/optional_array_ref.h>
#include <taper/cpp/scalar.h>
#include <taper/cpp/storage.h>
#include <taper/cpp/tensor_options.h>
#include <taper/cpp/tensor_type.h>
#include <taper/taper_device.h>

namespace c10
{
// Returns the channels-last strides for sizes N, C, H, W or C, H, W.
inline std::vector<int64_t> get_channels_last_strides_2d(IntArrayRef sizes)
{
    return taper::cpp::channels_last_strides(sizes, 2);
}
// Returns the channels-last strides for sizes N, C, D, H, W or C, D, H, W.
inline std::vector<int64_t> get_channels_last_strides_3d(IntArrayRef sizes)
{
    return taper::cpp::channels_last_strides(sizes, 3);
}
} // namespace c10

namespace at
{

using c10::ArrayRef;
using c10::IntArrayRef;
using c10::OptionalIntArrayRef;
class Tensor;
class TensorBase;
using TensorList = c10::ArrayRef<Tensor>;

class TensorBase
{
  public:
    TensorBase() = default;
    explicit TensorBase(taper::cpp::Handle value) : value_(std::move(value))
    {
    }
    TensorBase(const TensorBase &) = default;
    TensorBase(TensorBase &&) = default;
    TensorBase &operator=(const TensorBase &) & = default;
    TensorBase &operator=(TensorBase &&) & = default;

    bool defined() const
    {
        return static_cast<bool>(value_);
    }
    void reset()
    {
        value_ = taper::cpp::Handle();
    }
    bool is_same(const TensorBase &other) const noexcept
    {
        return value_.get() == other.value_.get() ||
               (defined() && taper_value_identity(value_.get()) == taper_value_identity(other.value_.get()));
    }
    // Returns the number of references to the tensor: the references of Tensors, lists, modules and so on.
    size_t use_count() const noexcept
    {
        return taper_value_use_count(value_.get());
    }
    size_t weak_use_count() const noexcept
    {
        return defined() ? 1 : 0; // all strong references count as one weak reference, as in PyTorch
    }
    // Returns the description of a defined tensor, and throws for an undefined one.
    taper_tensor_info info() const
    {
        if (!defined()) {
            throw c10::Error("the tensor is undefined");
        }
        taper_tensor_info info;
        info.struct_size = sizeof info;
        // The first call has no error object, to save time, because each access to a tensor makes this call.
        if (taper_value_get_tensor(value_.get(), &info, nullptr) != TAPER_OK) {
            taper::cpp::ErrorScope error;
            error.check(taper_value_get_tensor(value_.get(), &info, error));
        }
        return info;
    }

    // ---- sizes and strides. An undefined tensor has one dimension of size 0.
    IntArrayRef sizes() const
    {
        static const int64_t none[] = {0};
        if (!defined()) {
            return IntArrayRef(none, 1);
        }
        const taper_tensor_info all = info();
        return IntArrayRef(all.sizes, all.rank);
    }
    IntArrayRef strides() const
    {
        need("strides()");
        const taper_tensor_info all = info();
        return IntArrayRef(all.strides, all.rank);
    }
    int64_t dim() const
    {
        return defined() ? static_cast<int64_t>(info().rank) : 1;
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
    bool is_contiguous(c10::MemoryFormat format = c10::MemoryFormat::Contiguous) const
    {
        if (!defined()) {
            return format == c10::MemoryFormat::Contiguous;
        }
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
    bool is_non_overlapping_and_dense() const; // defined in tensor_ops.h
    // exact: has no effect, because channels-last strides are always compared exactly.
    c10::MemoryFormat suggest_memory_format(bool exact = false) const
    {
        (void)exact;
        if (!is_contiguous() && is_contiguous(c10::MemoryFormat::ChannelsLast)) {
            return c10::MemoryFormat::ChannelsLast;
        }
        return !is_contiguous() && is_contiguous(c10::MemoryFormat::ChannelsLast3d) ? c10::MemoryFormat::ChannelsLast3d
                                                                                    : c10::MemoryFormat::Contiguous;
    }

    // Returns the offset of the first element from the start of the storage, in elements.
    int64_t storage_offset() const; // defined in tensor_ops.h

    // ---- dtype and device
    c10::ScalarType scalar_type() const
    {
        return defined() ? static_cast<c10::ScalarType>(info().dtype) : c10::ScalarType::Undefined;
    }
    caffe2::TypeMeta dtype() const
    {
        return defined() ? caffe2::TypeMeta(scalar_type()) : caffe2::TypeMeta();
    }
    size_t itemsize() const
    {
        if (!defined()) {
            throw c10::Error(
                "Cannot report itemsize of Tensor that doesn't have initialized dtype (e.g., caffe2::Tensor "
                "x(CPU), prior to calling mutable_data<T>() on x)");
        }
        return c10::elementSize(scalar_type());
    }
    int64_t element_size() const
    {
        return static_cast<int64_t>(itemsize());
    }
    size_t nbytes() const
    {
        return static_cast<size_t>(numel()) * itemsize();
    }
    bool is_floating_point() const
    {
        return c10::isFloatingType(scalar_type());
    }
    bool is_complex() const
    {
        return c10::isComplexType(scalar_type());
    }
    bool is_signed() const
    {
        return c10::isSignedType(scalar_type());
    }
    bool is_quantized() const
    {
        return defined() && info().quantized != 0;
    }
    c10::Device device() const
    {
        if (!defined()) {
            throw c10::Error("tensor does not have a device");
        }
        return c10::Device(c10::kCPU);
    }
    int64_t get_device() const
    {
        need("get_device()");
        return -1; // the index of the CPU
    }
    c10::Layout layout() const
    {
        if (!defined()) {
            throw c10::Error("unsupported tensor type for layout: the tensor is undefined");
        }
        return c10::kStrided;
    }
    c10::TensorOptions options() const
    {
        return c10::TensorOptions(scalar_type()).device(device());
    }
    // Returns the class of the tensor, which old programs compare, or from which they get the dtype.
    DeprecatedTypeProperties type() const
    {
        return DeprecatedTypeProperties(!defined()       ? c10::Backend::Undefined
                                        : is_quantized() ? c10::Backend::QuantizedCPU
                                                         : c10::Backend::CPU,
                                        scalar_type());
    }
    // Returns, for example, "CPUFloatType".
    std::string toString() const
    {
        return type().toString();
    }
    // Prints class and sizes to stderr.
    void print() const;

    bool is_cpu() const
    {
        return defined();
    }
    // These functions return false, because tensors are in memory of the CPU, are strided, and have no names.
#define TAPER_CPP_NEVER(name)                                                                                          \
    bool name() const                                                                                                  \
    {                                                                                                                  \
        return false;                                                                                                  \
    }
    TAPER_CPP_NEVER(is_cuda)
    TAPER_CPP_NEVER(is_hip)
    TAPER_CPP_NEVER(is_hpu)
    TAPER_CPP_NEVER(is_inference)
    TAPER_CPP_NEVER(is_ipu)
    TAPER_CPP_NEVER(is_lazy)
    TAPER_CPP_NEVER(is_meta)
    TAPER_CPP_NEVER(is_metal)
    TAPER_CPP_NEVER(is_mkldnn)
    TAPER_CPP_NEVER(is_mps)
    TAPER_CPP_NEVER(is_mtia)
    TAPER_CPP_NEVER(is_nested)
    TAPER_CPP_NEVER(is_ort)
    TAPER_CPP_NEVER(is_sparse)
    TAPER_CPP_NEVER(is_sparse_csr)
    TAPER_CPP_NEVER(is_ve)
    TAPER_CPP_NEVER(is_vulkan)
    TAPER_CPP_NEVER(is_xla)
    TAPER_CPP_NEVER(is_xpu)
    TAPER_CPP_NEVER(has_names)
#undef TAPER_CPP_NEVER
    bool requires_grad() const
    {
        return defined() && info().requires_grad != 0;
    }
    bool is_leaf() const; // returns false for a tensor that was computed from a tensor that requires a gradient
    bool retains_grad() const
    {
        return false;
    }
    // Returns the number of the result of the function that made the tensor: 0, because none is recorded.
    int64_t output_nr() const
    {
        return 0;
    }
    // Returns false: numbers are conjugated and negated at once, not when they are read.
    bool is_conj() const
    {
        return false;
    }
    bool is_neg() const
    {
        return false;
    }
    const TensorBase &set_requires_grad(bool wanted) const
    {
        if (wanted && !is_floating_point() && !is_complex()) {
            throw c10::Error("Only Tensors of floating point and complex dtype can require gradients");
        }
        if (wanted || requires_grad()) {
            taper::cpp::require_gradient(value_, wanted);
        }
        return *this;
    }
    const TensorBase &requires_grad_(bool wanted = true) const
    {
        return set_requires_grad(wanted);
    }

    // ---- operators that programs call for a TensorBase; defined in tensor_ops.h
    TensorBase contiguous(c10::MemoryFormat format = c10::MemoryFormat::Contiguous) const;
    const TensorBase &fill_(const c10::Scalar &value) const;
    const TensorBase &zero_() const;
    TensorBase to(c10::TensorOptions options = {}, bool non_blocking = false, bool copy = false,
                  c10::optional<c10::MemoryFormat> format = c10::nullopt) const;
    TensorBase data() const;
    TensorBase tensor_data() const;
    TensorBase variable_data() const;
    void set_data(const TensorBase &from) const;

    // ---- memory
    bool has_storage() const
    {
        return defined();
    }
    // Returns all memory that the tensor and its views share.
    c10::Storage storage() const
    {
        need("storage()");
        const size_t before = static_cast<size_t>(storage_offset()) * itemsize();
        void *const data = static_cast<char *>(data_ptr()) - before;
        return c10::Storage(value_, data, info().bytes + before);
    }
    bool is_alias_of(const TensorBase &other) const
    {
        return storage().is_alias_of(other.storage());
    }
    // Returns the elements for reading and writing. A tensor over the model's own bytes first gets a copy of the bytes.
    // Call const_data_ptr instead for tensors of a module that runs in another thread.
    void *data_ptr() const
    {
        if (!defined()) {
            return nullptr;
        }
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
    void *mutable_data_ptr() const
    {
        return data_ptr();
    }
    const void *const_data_ptr() const
    {
        return defined() ? info().data : nullptr;
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
        static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
        if (dim() != static_cast<int64_t>(N)) {
            throw c10::Error(c10::str("TensorAccessor expected ", N, " dims but tensor has ", dim()));
        }
        return TensorAccessor<T, N>(data_ptr<T>(), sizes().data(), strides().data());
    }
    // Deleted, because the accessor would outlive the tensor.
    template <class T, size_t N> TensorAccessor<T, N> accessor() && = delete;
    template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits, class Index = int64_t>
    GenericPackedTensorAccessor<T, N, Pointers, Index> generic_packed_accessor() const &
    {
        const TensorAccessor<T, N> all = accessor<T, N>();
        return GenericPackedTensorAccessor<T, N, Pointers, Index>(all.data(), all.sizes().data(), all.strides().data());
    }
    template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits, class Index = int64_t>
    GenericPackedTensorAccessor<T, N, Pointers, Index> generic_packed_accessor() && = delete;
    template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits, class Index = int64_t>
    GenericPackedTensorAccessor<T, N, Pointers, Index> packed_accessor() const &
    {
        return generic_packed_accessor<T, N, Pointers, Index>();
    }
    template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, Pointers> packed_accessor32() const &
    {
        if (numel() > std::numeric_limits<int32_t>::max()) {
            throw c10::Error("numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
        }
        return generic_packed_accessor<T, N, Pointers, int32_t>();
    }
    template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, Pointers> packed_accessor32() && = delete;
    template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, Pointers> packed_accessor64() const &
    {
        return generic_packed_accessor<T, N, Pointers, int64_t>();
    }
    template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, Pointers> packed_accessor64() && = delete;

    const taper::cpp::Handle &handle() const
    {
        return value_;
    }

  protected:
    void need(const char *what) const
    {
        if (!defined()) {
            throw c10::Error(std::string(what) + " called on an undefined Tensor");
        }
    }
    template <class T> void expect() const
    {
        const c10::ScalarType wanted = c10::CppTypeToScalarType<std::remove_const_t<T>>::value, found = scalar_type();
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

    taper::cpp::Handle value_;
};

} // namespace at

namespace torch
{
using namespace at;
}

#endif
