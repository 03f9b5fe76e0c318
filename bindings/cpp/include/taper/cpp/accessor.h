/* SPDX-License-Identifier: BSD-2-Clause */
// TensorAccessor: access to elements by index, using the tensor's strides. Indices are not checked.
#ifndef TAPER_CPP_ACCESSOR_H
#define TAPER_CPP_ACCESSOR_H

#include <utility>
#include <vector>

#include <taper/cpp/array_ref.h>
#include <taper/cpp/error.h>

namespace taper
{
namespace cpp
{
// Returns the strides of a tensor whose last `spatial` dimensions follow its channels. The batch may be missing.
inline std::vector<int64_t> channels_last_strides(c10::IntArrayRef sizes, size_t spatial)
{
    if (sizes.size() != spatial + 1 && sizes.size() != spatial + 2) {
        throw c10::Error("ChannelsLast" + std::to_string(spatial) + "d doesn't support size " +
                         std::to_string(sizes.size()));
    }
    const size_t c = sizes.size() - spatial - 1;
    std::vector<int64_t> strides(sizes.size(), 1);
    int64_t step = sizes[c];
    for (size_t d = sizes.size(); d-- > c + 1; step *= sizes[d]) {
        strides[d] = step;
    }
    if (c == 1) {
        strides[0] = step;
    }
    return strides;
}
} // namespace cpp
} // namespace taper

namespace at
{

// PyTorch's type of the pointer in an accessor; on the CPU it is always a plain pointer.
template <class T> struct DefaultPtrTraits {
    using PtrType = T *;
};

// The members of an accessor that do not depend on the number of dimensions.
template <class T, size_t N, template <class> class Pointers, class Index> class TensorAccessorBase
{
  public:
    using PtrType = typename Pointers<T>::PtrType;

    TensorAccessorBase(PtrType data, const Index *sizes, const Index *strides)
        : data_(data), sizes_(sizes), strides_(strides)
    {
    }
    Index size(Index dim) const
    {
        return sizes_[dim];
    }
    Index stride(Index dim) const
    {
        return strides_[dim];
    }
    c10::ArrayRef<Index> sizes() const
    {
        return c10::ArrayRef<Index>(sizes_, N);
    }
    c10::ArrayRef<Index> strides() const
    {
        return c10::ArrayRef<Index>(strides_, N);
    }
    PtrType data() const
    {
        return data_;
    }

  protected:
    PtrType data_;
    const Index *sizes_, *strides_;
};

template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits, class Index = int64_t>
class TensorAccessor : public TensorAccessorBase<T, N, Pointers, Index>
{
  public:
    using PtrType = typename Pointers<T>::PtrType;

    TensorAccessor(PtrType data, const Index *sizes, const Index *strides)
        : TensorAccessorBase<T, N, Pointers, Index>(data, sizes, strides)
    {
    }
    TensorAccessor<T, N - 1, Pointers, Index> operator[](Index index) const
    {
        return TensorAccessor<T, N - 1, Pointers, Index>(this->data_ + this->strides_[0] * index, this->sizes_ + 1,
                                                         this->strides_ + 1);
    }
};
template <class T, template <class> class Pointers, class Index>
class TensorAccessor<T, 1, Pointers, Index> : public TensorAccessorBase<T, 1, Pointers, Index>
{
  public:
    using PtrType = typename Pointers<T>::PtrType;

    TensorAccessor(PtrType data, const Index *sizes, const Index *strides)
        : TensorAccessorBase<T, 1, Pointers, Index>(data, sizes, strides)
    {
    }
    T &operator[](Index index) const
    {
        return this->data_[this->strides_[0] * index];
    }
};

// An accessor with its own copies of sizes and strides. This base class has all members except operator[].
template <class T, size_t N, template <class> class Pointers, class Index> class GenericPackedTensorAccessorBase
{
  public:
    using PtrType = typename Pointers<T>::PtrType;

    // Sizes and strides of another type, such as a tensor's int64_t, must fit the type `Index`.
    template <class Source>
    GenericPackedTensorAccessorBase(PtrType data, const Source *sizes, const Source *strides) : data_(data)
    {
        for (size_t i = 0; i < N; i++) {
            sizes_[i] = static_cast<Index>(sizes[i]);
            strides_[i] = static_cast<Index>(strides[i]);
        }
    }
    Index size(Index dim) const
    {
        return sizes_[dim];
    }
    Index stride(Index dim) const
    {
        return strides_[dim];
    }
    PtrType data() const
    {
        return data_;
    }

  protected:
    void check(Index dim) const
    {
        if (dim < 0 || static_cast<size_t>(dim) >= N) {
            throw c10::IndexError("Index " + std::to_string(dim) + " is not within bounds of a tensor of dimension " +
                                  std::to_string(N));
        }
    }

    PtrType data_;
    Index sizes_[N], strides_[N];
};

template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits, class Index = int64_t>
class GenericPackedTensorAccessor : public GenericPackedTensorAccessorBase<T, N, Pointers, Index>
{
  public:
    using PtrType = typename Pointers<T>::PtrType;

    template <class Source>
    GenericPackedTensorAccessor(PtrType data, const Source *sizes, const Source *strides)
        : GenericPackedTensorAccessorBase<T, N, Pointers, Index>(data, sizes, strides)
    {
    }
    decltype(auto) operator[](Index index) const
    {
        return TensorAccessor<T, N, Pointers, Index>(this->data_, this->sizes_, this->strides_)[index];
    }
    // Returns an accessor with two dimensions exchanged.
    GenericPackedTensorAccessor transpose(Index a, Index b) const
    {
        this->check(a);
        this->check(b);
        GenericPackedTensorAccessor turned(*this);
        std::swap(turned.sizes_[a], turned.sizes_[b]);
        std::swap(turned.strides_[a], turned.strides_[b]);
        return turned;
    }
};
template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Pointers, int32_t>;
template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Pointers, int64_t>;
template <class T, size_t N, template <class> class Pointers = DefaultPtrTraits, class Index = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Pointers, Index>;

} // namespace at

namespace torch
{
using namespace at;
}

#endif
