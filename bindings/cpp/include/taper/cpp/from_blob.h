/* SPDX-License-Identifier: BSD-2-Clause */
// from_blob: a tensor over the app's memory, which is neither copied nor freed.
#ifndef TAPER_CPP_FROM_BLOB_H
#define TAPER_CPP_FROM_BLOB_H

#include <functional>

#include <taper/cpp/tensor.h>

namespace taper
{
namespace cpp
{

using Deleter = std::function<void(void *)>;

struct BlobOwner {
    Deleter deleter;
    void *data;
    // The library calls this function from C, so no exception may leave the function.
    static void release(void *user) noexcept
    {
        const std::unique_ptr<BlobOwner> owner(static_cast<BlobOwner *>(user));
        try {
            owner->deleter(owner->data);
        } catch (...) {
        }
    }
};

// Returns the number of bytes from the start of the first element to the end of the last element.
inline size_t blob_bytes(c10::IntArrayRef sizes, c10::IntArrayRef strides, size_t element)
{
    const int64_t most = std::numeric_limits<int64_t>::max();
    const bool contiguous = strides.empty();
    int64_t last = 0, step = 1; // last: offset of the last element, in elements
    for (size_t i = sizes.size(); i-- > 0;) {
        if (sizes[i] < 0) {
            throw c10::Error(c10::str("Trying to create tensor with negative dimension ", sizes[i], ": ", sizes));
        }
    }
    for (size_t i = sizes.size(); i-- > 0;) {
        if (sizes[i] == 0) {
            return 0;
        }
        const int64_t stride = contiguous ? step : strides[i];
        if (stride < 0) {
            throw c10::Error(c10::str("Trying to create tensor with negative stride: ", strides));
        }
        const int64_t more = sizes[i] - 1;
        if ((more != 0 && stride > (most - last) / more) || (contiguous && step > most / sizes[i])) {
            throw c10::Error(c10::str("the sizes ", sizes, " are too large"));
        }
        last += more * stride;
        step *= contiguous ? sizes[i] : 1;
    }
    if (element == 0 || last == most ||
        static_cast<uint64_t>(last) + 1 > std::numeric_limits<size_t>::max() / element) {
        throw c10::Error(c10::str("the sizes ", sizes, " are too large, or the dtype is none of memory"));
    }
    return (static_cast<size_t>(last) + 1) * element;
}

inline at::Tensor blob(void *data, c10::IntArrayRef sizes, const c10::IntArrayRef *strides, Deleter deleter,
                       const c10::TensorOptions &options)
{
    if (options.device().type() != c10::kCPU) {
        throw c10::NotImplementedError("from_blob: memory of " + options.device().str() + " cannot be used");
    }
    if (strides != nullptr && strides->size() != sizes.size()) {
        throw c10::Error(c10::str("from_blob: sizes ", sizes, " and strides ", *strides, " differ in length"));
    }
    const c10::ScalarType type = options.dtype().toScalarType();
    const bool strided = strides != nullptr && !strides->empty();
    const size_t bytes = blob_bytes(sizes, strided ? *strides : c10::IntArrayRef(), c10::elementSize(type));
    if (data == nullptr && bytes != 0) {
        throw c10::Error("from_blob: data is null");
    }
    std::unique_ptr<BlobOwner> owner;
    if (deleter) {
        owner.reset(new BlobOwner{std::move(deleter), data});
    }
    static const int64_t none[1] = {0};
    static char nothing[1];
    ErrorScope error;
    taper_value *value = nullptr;
    error.check(taper_value_tensor_from(context(), static_cast<taper_dtype>(type), sizes.size(),
                                        sizes.empty() ? none : sizes.data(), strided ? strides->data() : nullptr,
                                        data != nullptr ? data : nothing, bytes, 0,
                                        owner ? BlobOwner::release : nullptr, owner.get(), &value, error));
    owner.release(); // the library owns `owner` from here on
    at::Tensor made{Handle(value)};
    if (options.requires_grad()) {
        made.set_requires_grad(true);
    }
    return made;
}

// Does the work of blob() for a tensor whose first element is `offset` elements after `data`. The deleter gets `data`.
inline at::Tensor blob_from(void *data, int64_t offset, c10::IntArrayRef sizes, const c10::IntArrayRef *strides,
                            const Deleter &deleter, const c10::TensorOptions &options)
{
    const size_t element = c10::elementSize(options.dtype().toScalarType());
    if (offset < 0 || element == 0 ||
        static_cast<uint64_t>(offset) > std::numeric_limits<size_t>::max() / 2 / element) {
        throw c10::ValueError(c10::str("the storage offset ", offset, " is negative or too large"));
    }
    return blob(static_cast<char *>(data) + static_cast<size_t>(offset) * element, sizes, strides,
                deleter ? Deleter([deleter, data](void *) { deleter(data); }) : nullptr, options);
}

} // namespace cpp
} // namespace taper

namespace at
{

inline Tensor from_blob(void *data, IntArrayRef sizes, const c10::TensorOptions &options = {})
{
    return taper::cpp::blob(data, sizes, nullptr, nullptr, options);
}
inline Tensor from_blob(void *data, IntArrayRef sizes, IntArrayRef strides, const c10::TensorOptions &options = {})
{
    return taper::cpp::blob(data, sizes, &strides, nullptr, options);
}
// storage_offset: the number of elements between `data` and the tensor's first element.
inline Tensor from_blob(void *data, IntArrayRef sizes, IntArrayRef strides, int64_t storage_offset,
                        const taper::cpp::Deleter &deleter, const c10::TensorOptions &options = {})
{
    return taper::cpp::blob_from(data, storage_offset, sizes, &strides, deleter, options);
}
inline Tensor from_blob(void *data, IntArrayRef sizes, const taper::cpp::Deleter &deleter,
                        const c10::TensorOptions &options = {}, c10::optional<c10::Device> = c10::nullopt)
{
    return taper::cpp::blob(data, sizes, nullptr, deleter, options);
}
inline Tensor from_blob(void *data, IntArrayRef sizes, IntArrayRef strides, const taper::cpp::Deleter &deleter,
                        const c10::TensorOptions &options = {}, c10::optional<c10::Device> = c10::nullopt)
{
    return taper::cpp::blob(data, sizes, &strides, deleter, options);
}

// Makes a tensor over the app's memory from parts that functions set.
class TensorMaker
{
  public:
    using ContextDeleter = c10::DeleterFnPtr;

    TensorMaker &strides(c10::OptionalIntArrayRef value) noexcept
    {
        strides_ = value;
        return *this;
    }
    // Sets the number of elements between the start of the memory and the tensor's first element.
    TensorMaker &storage_offset(c10::optional<int64_t> value) noexcept
    {
        offset_ = value.value_or(0);
        return *this;
    }
    TensorMaker &deleter(std::function<void(void *)> value) noexcept
    {
        deleter_ = std::move(value);
        return *this;
    }
    // The deleter gets the context when the tensor's memory is no longer used.
    TensorMaker &context(void *value, ContextDeleter deleter = nullptr) noexcept
    {
        context_ = {value, deleter != nullptr ? deleter : c10::detail::deleteNothing};
        return *this;
    }
    TensorMaker &target_device(c10::optional<c10::Device>) noexcept
    {
        return *this;
    }
    TensorMaker &options(c10::TensorOptions value) noexcept
    {
        options_ = value;
        return *this;
    }
    Tensor make_tensor()
    {
        TORCH_CHECK(!deleter_ || !context_, "The deleter and context arguments are mutually exclusive.");
        if (context_) {
            const std::shared_ptr<void> context(std::move(context_));
            deleter_ = [context](void *) {};
        }
        const IntArrayRef strides = strides_.has_value() ? *strides_ : IntArrayRef();
        return taper::cpp::blob_from(data_, offset_, sizes_, strides_.has_value() ? &strides : nullptr, deleter_,
                                     options_);
    }

  private:
    friend TensorMaker for_blob(void *data, IntArrayRef sizes) noexcept;
    TensorMaker(void *data, IntArrayRef sizes) noexcept : data_(data), sizes_(sizes)
    {
    }
    void *data_;
    IntArrayRef sizes_;
    c10::OptionalIntArrayRef strides_;
    int64_t offset_ = 0;
    std::function<void(void *)> deleter_;
    std::unique_ptr<void, ContextDeleter> context_{nullptr, c10::detail::deleteNothing};
    c10::TensorOptions options_;
};

inline TensorMaker for_blob(void *data, IntArrayRef sizes) noexcept
{
    return TensorMaker(data, sizes);
}

} // namespace at

namespace torch
{
using namespace at;
}

#endif
