/* SPDX-License-Identifier: BSD-2-Clause */
// ArrayRef: a pointer and a length that do not own the memory.
#ifndef TAPER_CPP_ARRAY_REF_H
#define TAPER_CPP_ARRAY_REF_H

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <vector>

#include <taper/cpp/check.h>
#include <taper/cpp/string_view.h>

namespace c10
{

template <class T> class ArrayRef final
{
  public:
    using value_type = T;
    using size_type = size_t;
    using iterator = const T *;
    using const_iterator = const T *;
    using reverse_iterator = std::reverse_iterator<iterator>;

    constexpr ArrayRef() : data_(nullptr), size_(0)
    {
    }
    constexpr ArrayRef(const T &one) : data_(&one), size_(1)
    {
    }
    constexpr ArrayRef(const T *data, size_t size) : data_(data), size_(size)
    {
    }
    // Makes an ArrayRef over a container of contiguous elements, such as SmallVector.
    template <
        class C,
        class = std::enable_if_t<
            std::is_convertible<decltype(std::declval<const C &>().data()), const T *>::value &&
            std::is_same<std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<C &>().data())>>, T>::value &&
            std::is_convertible<decltype(std::declval<const C &>().size()), size_t>::value>>
    ArrayRef(const C &all) : data_(all.data()), size_(all.size())
    {
    }
    constexpr ArrayRef(const T *first, const T *last) : data_(first), size_(static_cast<size_t>(last - first))
    {
    }
    template <class A> ArrayRef(const std::vector<T, A> &all) : data_(all.data()), size_(all.size())
    {
        static_assert(!std::is_same<T, bool>::value, "a vector of bool has no array of them");
    }
    template <size_t N> constexpr ArrayRef(const std::array<T, N> &all) : data_(all.data()), size_(N)
    {
    }
    template <size_t N> constexpr ArrayRef(const T (&all)[N]) : data_(all), size_(N)
    {
    }
    // Use this constructor only for arguments of calls, because the list is destroyed at the end of the full
    // expression.
    ArrayRef(const std::initializer_list<T> &all)
        : data_(std::begin(all) == std::end(all) ? nullptr : std::begin(all)), size_(all.size())
    {
    }

    constexpr iterator begin() const
    {
        return data_;
    }
    constexpr iterator end() const
    {
        return data_ + size_;
    }
    constexpr const_iterator cbegin() const
    {
        return data_;
    }
    constexpr const_iterator cend() const
    {
        return data_ + size_;
    }
    reverse_iterator rbegin() const
    {
        return reverse_iterator(end());
    }
    reverse_iterator rend() const
    {
        return reverse_iterator(begin());
    }
    constexpr bool empty() const
    {
        return size_ == 0;
    }
    constexpr const T *data() const
    {
        return data_;
    }
    constexpr size_t size() const
    {
        return size_;
    }
    const T &front() const
    {
        TORCH_CHECK(!empty(), "ArrayRef: attempted to access front() of empty list");
        return data_[0];
    }
    const T &back() const
    {
        TORCH_CHECK(!empty(), "ArrayRef: attempted to access back() of empty list");
        return data_[size_ - 1];
    }
    constexpr const T &operator[](size_t index) const
    {
        return data_[index];
    }
    const T &at(size_t index) const
    {
        TORCH_CHECK(index < size_, "ArrayRef: invalid index Index = ", index, "; Length = ", size_);
        return data_[index];
    }
    ArrayRef slice(size_t first, size_t count) const
    {
        TORCH_CHECK(first <= size_ && count <= size_ - first, "ArrayRef: invalid slice, N = ", first, "; M = ", count,
                    "; size = ", size_);
        return ArrayRef(data_ + first, count);
    }
    ArrayRef slice(size_t first) const
    {
        TORCH_CHECK(first <= size_, "ArrayRef: invalid slice, N = ", first, "; size = ", size_);
        return slice(first, size_ - first);
    }
    bool equals(ArrayRef other) const
    {
        return size_ == other.size_ && std::equal(begin(), end(), other.begin());
    }
    std::vector<T> vec() const
    {
        return std::vector<T>(begin(), end());
    }

  private:
    const T *data_;
    size_t size_;
};

template <class T> bool operator==(ArrayRef<T> a, ArrayRef<T> b)
{
    return a.equals(b);
}
template <class T> bool operator!=(ArrayRef<T> a, ArrayRef<T> b)
{
    return !a.equals(b);
}
template <class T> bool operator==(ArrayRef<T> a, const std::vector<T> &b)
{
    return a.equals(ArrayRef<T>(b));
}
template <class T> bool operator==(const std::vector<T> &a, ArrayRef<T> b)
{
    return b.equals(ArrayRef<T>(a));
}
template <class T> bool operator!=(ArrayRef<T> a, const std::vector<T> &b)
{
    return !a.equals(ArrayRef<T>(b));
}
template <class T> std::ostream &operator<<(std::ostream &out, ArrayRef<T> all)
{
    out << '[';
    for (size_t i = 0; i < all.size(); i++) {
        out << (i == 0 ? "" : ", ") << all[i];
    }
    return out << ']';
}

template <class T> ArrayRef<T> makeArrayRef(const T &one)
{
    return one;
}
template <class T> ArrayRef<T> makeArrayRef(const T *data, size_t size)
{
    return ArrayRef<T>(data, size);
}
template <class T> ArrayRef<T> makeArrayRef(const T *first, const T *last)
{
    return ArrayRef<T>(first, last);
}
template <class T> ArrayRef<T> makeArrayRef(const std::vector<T> &all)
{
    return all;
}
template <class T, size_t N> ArrayRef<T> makeArrayRef(const std::array<T, N> &all)
{
    return all;
}
template <class T> ArrayRef<T> makeArrayRef(const ArrayRef<T> &all)
{
    return all;
}
template <class T, size_t N> ArrayRef<T> makeArrayRef(const T (&all)[N])
{
    return ArrayRef<T>(all);
}

using IntArrayRef = ArrayRef<int64_t>;
using IntList = ArrayRef<int64_t>;

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
