/* SPDX-License-Identifier: BSD-2-Clause */
// TensorAccessor: access to elements by index, using the tensor's strides. Indices are not checked.
#ifndef TAPER_CPP_ACCESSOR_H
#define TAPER_CPP_ACCESSOR_H

#include <taper/cpp/array_ref.h>

namespace at
{

template <class T, size_t N, class Index = int64_t> class TensorAccessor
{
  public:
    TensorAccessor(T *data, const Index *sizes, const Index *strides) : data_(data), sizes_(sizes), strides_(strides)
    {
    }
    TensorAccessor<T, N - 1, Index> operator[](Index index) const
    {
        return TensorAccessor<T, N - 1, Index>(data_ + strides_[0] * index, sizes_ + 1, strides_ + 1);
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
    T *data() const
    {
        return data_;
    }

  private:
    T *data_;
    const Index *sizes_, *strides_;
};

template <class T, class Index> class TensorAccessor<T, 1, Index>
{
  public:
    TensorAccessor(T *data, const Index *sizes, const Index *strides) : data_(data), sizes_(sizes), strides_(strides)
    {
    }
    T &operator[](Index index) const
    {
        return data_[strides_[0] * index];
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
        return c10::ArrayRef<Index>(sizes_, 1);
    }
    c10::ArrayRef<Index> strides() const
    {
        return c10::ArrayRef<Index>(strides_, 1);
    }
    T *data() const
    {
        return data_;
    }

  private:
    T *data_;
    const Index *sizes_, *strides_;
};

// An accessor with its own copies of sizes and strides.
template <class T, size_t N, class Index> class PackedTensorAccessor
{
  public:
    PackedTensorAccessor(T *data, const int64_t *sizes, const int64_t *strides) : data_(data)
    {
        for (size_t i = 0; i < N; i++) {
            sizes_[i] = static_cast<Index>(sizes[i]);
            strides_[i] = static_cast<Index>(strides[i]);
        }
    }
    decltype(auto) operator[](Index index) const
    {
        return TensorAccessor<T, N, Index>(data_, sizes_, strides_)[index];
    }
    Index size(Index dim) const
    {
        return sizes_[dim];
    }
    Index stride(Index dim) const
    {
        return strides_[dim];
    }
    T *data() const
    {
        return data_;
    }

  private:
    T *data_;
    Index sizes_[N], strides_[N];
};

} // namespace at

namespace torch
{
using namespace at;
}

#endif
