/* SPDX-License-Identifier: BSD-2-Clause */
// ArrayRef: a pointer and a length that do not own the memory; string_view.
#ifndef TAPER_CPP_ARRAY_REF_H
#define TAPER_CPP_ARRAY_REF_H

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include <taper/cpp/error.h>

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
    // For arguments only: the list is destroyed at the end of the full expression.
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
        return at(0);
    }
    const T &back() const
    {
        return at(size_ - 1);
    }
    constexpr const T &operator[](size_t index) const
    {
        return data_[index];
    }
    const T &at(size_t index) const
    {
        if (index >= size_) {
            throw Error(str("ArrayRef: invalid index ", index, "; Length = ", size_));
        }
        return data_[index];
    }
    ArrayRef slice(size_t first, size_t count) const
    {
        if (first > size_ || count > size_ - first) {
            throw Error(str("ArrayRef: invalid slice of ", count, " from ", first, "; Length = ", size_));
        }
        return ArrayRef(data_ + first, count);
    }
    ArrayRef slice(size_t first) const
    {
        return slice(first, first > size_ ? 0 : size_ - first);
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

using IntArrayRef = ArrayRef<int64_t>;

// A string_view with only the functions that apps use: comparing, printing and converting to a string.
class string_view final
{
  public:
    constexpr string_view() : data_(""), size_(0)
    {
    }
    string_view(const char *text) : data_(text), size_(std::strlen(text))
    {
    }
    constexpr string_view(const char *text, size_t size) : data_(text), size_(size)
    {
    }
    string_view(const std::string &text) : data_(text.data()), size_(text.size())
    {
    }
    explicit operator std::string() const
    {
        return std::string(data_, size_);
    }
    constexpr const char *data() const
    {
        return data_;
    }
    constexpr size_t size() const
    {
        return size_;
    }
    constexpr bool empty() const
    {
        return size_ == 0;
    }
    constexpr const char *begin() const
    {
        return data_;
    }
    constexpr const char *end() const
    {
        return data_ + size_;
    }
    constexpr char operator[](size_t index) const
    {
        return data_[index];
    }
    friend bool operator==(string_view a, string_view b)
    {
        return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
    }
    friend bool operator!=(string_view a, string_view b)
    {
        return !(a == b);
    }
    friend std::ostream &operator<<(std::ostream &out, string_view text)
    {
        return out.write(text.data_, static_cast<std::streamsize>(text.size_));
    }

  private:
    const char *data_;
    size_t size_;
};

} // namespace c10

namespace torch
{
using namespace at;
}

#endif
