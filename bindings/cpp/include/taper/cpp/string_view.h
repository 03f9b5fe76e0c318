/* SPDX-License-Identifier: BSD-2-Clause */
// c10::string_view: characters that others own. Since C++17 it converts from and to std::string_view.
#ifndef TAPER_CPP_STRING_VIEW_H
#define TAPER_CPP_STRING_VIEW_H

#include <cstring>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <string>

#if __cplusplus >= 201703L
#include <string_view>
#endif

#include <taper/cpp/exception.h>

namespace c10
{

template <class C> class basic_string_view final
{
  public:
    using value_type = C;
    using traits_type = std::char_traits<C>;
    using pointer = C *;
    using const_pointer = const C *;
    using reference = C &;
    using const_reference = const C &;
    using const_iterator = const C *;
    using iterator = const_iterator;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;
    using reverse_iterator = const_reverse_iterator;
    using size_type = size_t;
    using difference_type = std::ptrdiff_t;
    static constexpr size_type npos = static_cast<size_type>(-1);

    constexpr basic_string_view() noexcept : data_(nullptr), size_(0)
    {
    }
    constexpr basic_string_view(const C *text, size_type size) : data_(text), size_(size)
    {
    }
    constexpr basic_string_view(const C *text) : data_(text), size_(length(text))
    {
    }
    basic_string_view(const std::basic_string<C> &text) : data_(text.data()), size_(text.size())
    {
    }
#if __cplusplus >= 201703L
    constexpr basic_string_view(std::basic_string_view<C> text) noexcept : data_(text.data()), size_(text.size())
    {
    }
    constexpr operator std::basic_string_view<C>() const noexcept
    {
        return std::basic_string_view<C>(data_, size_);
    }
#endif
    explicit operator std::basic_string<C>() const
    {
        return std::basic_string<C>(begin(), end());
    }

    constexpr const_iterator begin() const noexcept
    {
        return data_;
    }
    constexpr const_iterator cbegin() const noexcept
    {
        return data_;
    }
    constexpr const_iterator end() const noexcept
    {
        return data_ + size_;
    }
    constexpr const_iterator cend() const noexcept
    {
        return data_ + size_;
    }
    const_reverse_iterator rbegin() const noexcept
    {
        return const_reverse_iterator(end());
    }
    const_reverse_iterator crbegin() const noexcept
    {
        return const_reverse_iterator(end());
    }
    const_reverse_iterator rend() const noexcept
    {
        return const_reverse_iterator(begin());
    }
    const_reverse_iterator crend() const noexcept
    {
        return const_reverse_iterator(begin());
    }
    constexpr const_reference operator[](size_type index) const
    {
        return data_[index];
    }
    const_reference at(size_type index) const
    {
        if (index >= size_) {
            throw std::out_of_range("string_view::operator[] or string_view::at() out of range. Index: " +
                                    std::to_string(index) + ", size: " + std::to_string(size_));
        }
        return data_[index];
    }
    constexpr const_reference front() const
    {
        return data_[0];
    }
    constexpr const_reference back() const
    {
        return data_[size_ - 1];
    }
    constexpr const_pointer data() const noexcept
    {
        return data_;
    }
    constexpr size_type size() const noexcept
    {
        return size_;
    }
    constexpr size_type length() const noexcept
    {
        return size_;
    }
    constexpr size_type max_size() const noexcept
    {
        return static_cast<size_type>(-1) / 2;
    }
    constexpr bool empty() const noexcept
    {
        return size_ == 0;
    }

    void remove_prefix(size_type count)
    {
        within(count, "remove_prefix");
        data_ += count;
        size_ -= count;
    }
    void remove_suffix(size_type count)
    {
        within(count, "remove_suffix");
        size_ -= count;
    }
    void swap(basic_string_view &other) noexcept
    {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    size_type copy(pointer to, size_type count, size_type from = 0) const
    {
        within(from, "copy");
        count = count < size_ - from ? count : size_ - from;
        traits_type::copy(to, data_ + from, count);
        return count;
    }
    basic_string_view substr(size_type from = 0, size_type count = npos) const
    {
        within(from, "substr");
        return basic_string_view(data_ + from, count < size_ - from ? count : size_ - from);
    }
    int compare(basic_string_view other) const noexcept
    {
        const size_type common = size_ < other.size_ ? size_ : other.size_;
        const int order = common == 0 ? 0 : traits_type::compare(data_, other.data_, common);
        return order != 0 ? order : size_ < other.size_ ? -1 : size_ > other.size_ ? 1 : 0;
    }
    int compare(size_type from, size_type count, basic_string_view other) const
    {
        return substr(from, count).compare(other);
    }
    int compare(size_type from, size_type count, basic_string_view other, size_type from2, size_type count2) const
    {
        return substr(from, count).compare(other.substr(from2, count2));
    }
    int compare(const C *other) const
    {
        return compare(basic_string_view(other));
    }
    int compare(size_type from, size_type count, const C *other) const
    {
        return substr(from, count).compare(basic_string_view(other));
    }
    int compare(size_type from, size_type count, const C *other, size_type count2) const
    {
        return substr(from, count).compare(basic_string_view(other, count2));
    }
    bool starts_with(basic_string_view begin) const noexcept
    {
        return size_ >= begin.size_ && basic_string_view(data_, begin.size_) == begin;
    }
    bool starts_with(C begin) const noexcept
    {
        return size_ != 0 && data_[0] == begin;
    }
    bool starts_with(const C *begin) const
    {
        return starts_with(basic_string_view(begin));
    }
    bool ends_with(basic_string_view end) const noexcept
    {
        return size_ >= end.size_ && basic_string_view(data_ + size_ - end.size_, end.size_) == end;
    }
    bool ends_with(C end) const noexcept
    {
        return size_ != 0 && data_[size_ - 1] == end;
    }
    bool ends_with(const C *end) const
    {
        return ends_with(basic_string_view(end));
    }

    size_type find(basic_string_view part, size_type from = 0) const noexcept
    {
        for (size_type i = from; i <= size_ && part.size_ <= size_ - i; i++) {
            if (basic_string_view(data_ + i, part.size_) == part) {
                return i;
            }
        }
        return npos;
    }
    size_type find(C part, size_type from = 0) const noexcept
    {
        return find_first_of(basic_string_view(&part, 1), from);
    }
    size_type find(const C *part, size_type from, size_type count) const
    {
        return find(basic_string_view(part, count), from);
    }
    size_type find(const C *part, size_type from = 0) const
    {
        return find(basic_string_view(part), from);
    }
    size_type rfind(basic_string_view part, size_type from = npos) const noexcept
    {
        if (size_ < part.size_) {
            return npos;
        }
        for (size_type i = (from < size_ - part.size_ ? from : size_ - part.size_) + 1; i-- > 0;) {
            if (basic_string_view(data_ + i, part.size_) == part) {
                return i;
            }
        }
        return npos;
    }
    size_type rfind(C part, size_type from = npos) const noexcept
    {
        return find_last_of(basic_string_view(&part, 1), from);
    }
    size_type rfind(const C *part, size_type from, size_type count) const
    {
        return rfind(basic_string_view(part, count), from);
    }
    size_type rfind(const C *part, size_type from = npos) const
    {
        return rfind(basic_string_view(part), from);
    }
// Searches for a character that is in a set, or not in it, from either end.
#define TAPER_CPP_FIND(name, begin, search)                                                                            \
    size_type name(basic_string_view set, size_type from = begin) const noexcept                                       \
    {                                                                                                                  \
        return search;                                                                                                 \
    }                                                                                                                  \
    size_type name(C set, size_type from = begin) const noexcept                                                       \
    {                                                                                                                  \
        return name(basic_string_view(&set, 1), from);                                                                 \
    }                                                                                                                  \
    size_type name(const C *set, size_type from, size_type count) const                                                \
    {                                                                                                                  \
        return name(basic_string_view(set, count), from);                                                              \
    }                                                                                                                  \
    size_type name(const C *set, size_type from = begin) const                                                         \
    {                                                                                                                  \
        return name(basic_string_view(set), from);                                                                     \
    }
    TAPER_CPP_FIND(find_first_of, 0, forwards(set, from, true))
    TAPER_CPP_FIND(find_last_of, npos, backwards(set, from, true))
    TAPER_CPP_FIND(find_first_not_of, 0, forwards(set, from, false))
    TAPER_CPP_FIND(find_last_not_of, npos, backwards(set, from, false))
#undef TAPER_CPP_FIND

    friend bool operator==(basic_string_view a, basic_string_view b) noexcept
    {
        return a.size_ == b.size_ && a.compare(b) == 0;
    }
    friend bool operator!=(basic_string_view a, basic_string_view b) noexcept
    {
        return !(a == b);
    }
    friend bool operator<(basic_string_view a, basic_string_view b) noexcept
    {
        return a.compare(b) < 0;
    }
    friend bool operator>(basic_string_view a, basic_string_view b) noexcept
    {
        return a.compare(b) > 0;
    }
    friend bool operator<=(basic_string_view a, basic_string_view b) noexcept
    {
        return a.compare(b) <= 0;
    }
    friend bool operator>=(basic_string_view a, basic_string_view b) noexcept
    {
        return a.compare(b) >= 0;
    }
    friend std::basic_ostream<C> &operator<<(std::basic_ostream<C> &out, basic_string_view text)
    {
        return out.write(text.data_, static_cast<std::streamsize>(text.size_));
    }

  private:
    static constexpr size_type length(const C *text)
    {
        size_type size = 0;
        while (text[size] != C()) {
            size++;
        }
        return size;
    }
    void within(size_type from, const char *what) const
    {
        if (from > size_) {
            throw std::out_of_range(std::string("basic_string_view::") + what + ": out of range. PrefixLength: " +
                                    std::to_string(from) + ", size: " + std::to_string(size_));
        }
    }
    bool has(C one) const noexcept
    {
        return size_ != 0 && traits_type::find(data_, size_, one) != nullptr;
    }
    size_type forwards(basic_string_view set, size_type from, bool wanted) const noexcept
    {
        for (size_type i = from; i < size_; i++) {
            if (set.has(data_[i]) == wanted) {
                return i;
            }
        }
        return npos;
    }
    size_type backwards(basic_string_view set, size_type from, bool wanted) const noexcept
    {
        for (size_type i = from < size_ ? from + 1 : size_; i-- > 0;) {
            if (set.has(data_[i]) == wanted) {
                return i;
            }
        }
        return npos;
    }
    const C *data_;
    size_type size_;
};
#if __cplusplus < 201703L
template <class C> constexpr size_t basic_string_view<C>::npos;
#endif

template <class C> void swap(basic_string_view<C> &a, basic_string_view<C> &b) noexcept
{
    a.swap(b);
}
using string_view = basic_string_view<char>;

} // namespace c10

namespace std
{
template <class C> struct hash<::c10::basic_string_view<C>> {
    size_t operator()(::c10::basic_string_view<C> text) const
    {
        return hash<basic_string<C>>()(basic_string<C>(text.begin(), text.end()));
    }
};
} // namespace std

#endif
