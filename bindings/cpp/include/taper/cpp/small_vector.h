/* SPDX-License-Identifier: BSD-2-Clause */
// c10::SmallVector: a vector of the standard library with the additional functions of libtorch's SmallVector. Unlike
// libtorch's class, it also allocates memory for its first elements. Programs do not notice this.
#ifndef TAPER_CPP_SMALL_VECTOR_H
#define TAPER_CPP_SMALL_VECTOR_H

#include <initializer_list>
#include <ostream>
#include <vector>

#include <taper/cpp/array_ref.h>

namespace c10
{

template <class T> class SmallVectorImpl : public std::vector<T>
{
    using Base = std::vector<T>;

  public:
    using size_type = size_t;
    using ValueParamT = const T &;
    using Base::Base;
    using Base::operator=;
    SmallVectorImpl() = default;

    void append(const SmallVectorImpl &other)
    {
        append(other.begin(), other.end());
    }
    template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
    void append(Iterator begin, Iterator end)
    {
        Base::insert(Base::end(), begin, end);
    }
    void append(size_type count, const T &value)
    {
        Base::insert(Base::end(), count, value);
    }
    void append(std::initializer_list<T> items)
    {
        append(items.begin(), items.end());
    }
    using Base::assign;
    void assign(const SmallVectorImpl &other)
    {
        Base::assign(other.begin(), other.end());
    }
    T pop_back_val()
    {
        T last = std::move(Base::back());
        Base::pop_back();
        return last;
    }
    void pop_back_n(size_type count)
    {
        Base::resize(Base::size() - count);
    }
    void truncate(size_type count)
    {
        Base::resize(count);
    }
    // For numbers, whose new elements need no initial value.
    void resize_for_overwrite(size_type count)
    {
        Base::resize(count);
    }
    void set_size(size_type count)
    {
        Base::resize(count);
    }
    size_t size_in_bytes() const
    {
        return Base::size() * sizeof(T);
    }
    size_t capacity_in_bytes() const
    {
        return Base::capacity() * sizeof(T);
    }
};

template <class T, unsigned N = 4> class SmallVector : public SmallVectorImpl<T>
{
    using Base = SmallVectorImpl<T>;

  public:
    using Base::operator=;
    SmallVector() = default;
    explicit SmallVector(size_t count, const T &value = T())
    {
        this->assign(count, value);
    }
    template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
    SmallVector(Iterator begin, Iterator end)
    {
        this->append(begin, end);
    }
    template <class C,
              class = std::enable_if_t<!std::is_integral<std::decay_t<C>>::value &&
                                       !std::is_base_of<SmallVector, std::decay_t<C>>::value>,
              class = decltype(std::declval<const C &>().begin()), class = decltype(std::declval<const C &>().end())>
    explicit SmallVector(C &&all)
    {
        this->append(all.begin(), all.end());
    }
    SmallVector(std::initializer_list<T> items)
    {
        this->append(items);
    }
    SmallVector(Base &&other) : Base(std::move(other))
    {
    }
    template <class C, class = decltype(std::declval<const C &>().begin())> SmallVector &operator=(const C &all)
    {
        this->assign(all.begin(), all.end());
        return *this;
    }
};

template <class T> std::ostream &operator<<(std::ostream &out, const SmallVectorImpl<T> &all)
{
    return out << ArrayRef<T>(all);
}
template <class T, unsigned N> size_t capacity_in_bytes(const SmallVector<T, N> &all)
{
    return all.capacity_in_bytes();
}
template <class Range>
SmallVector<std::decay_t<decltype(*std::begin(std::declval<Range &>()))>, 4> to_vector(Range &&range)
{
    return {std::begin(range), std::end(range)};
}
template <class T> ArrayRef<T> makeArrayRef(const SmallVectorImpl<T> &all)
{
    return ArrayRef<T>(all.data(), all.size());
}

constexpr size_t kDimVectorStaticSize = 5;
using DimVector = SmallVector<int64_t, kDimVectorStaticSize>;

} // namespace c10

namespace at
{
using c10::DimVector;
using c10::kDimVectorStaticSize;
} // namespace at

#endif
