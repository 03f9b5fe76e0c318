/* SPDX-License-Identifier: BSD-2-Clause */
// c10::optional: std::optional since C++17, so that programs may use both names, and a class like it in C++14.
#ifndef TAPER_CPP_OPTIONAL_H
#define TAPER_CPP_OPTIONAL_H

#include <taper/cpp/exception.h>

#if __cplusplus >= 201703L || (defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)

#include <optional>

namespace c10
{
using std::bad_optional_access;
using std::in_place;
using std::in_place_index_t;
using std::in_place_t;
using std::in_place_type_t;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
} // namespace c10

#else

#include <initializer_list>
#include <new>
#include <stdexcept>
#include <type_traits>

namespace c10
{

struct in_place_t {
    explicit in_place_t() = default;
};
template <size_t> struct in_place_index_t {
    explicit in_place_index_t() = default;
};
template <class T> struct in_place_type_t {
    explicit in_place_type_t() = default;
};
constexpr in_place_t in_place{};

struct nullopt_t {
    struct init {
    };
    explicit constexpr nullopt_t(init)
    {
    }
};
constexpr nullopt_t nullopt{nullopt_t::init()};

class bad_optional_access : public std::logic_error
{
  public:
    bad_optional_access() : std::logic_error("bad optional access")
    {
    }
};

template <class T> class optional
{
  public:
    using value_type = T;
    optional() noexcept : nothing_()
    {
    }
    optional(nullopt_t) noexcept : nothing_()
    {
    }
    optional(const optional &other) : nothing_()
    {
        if (other.has_) {
            emplace(other.value_);
        }
    }
    optional(optional &&other) noexcept(std::is_nothrow_move_constructible<T>::value) : nothing_()
    {
        if (other.has_) {
            emplace(std::move(other.value_));
        }
    }
    template <class U = T,
              class = std::enable_if_t<std::is_constructible<T, U &&>::value && std::is_convertible<U &&, T>::value &&
                                       !std::is_same<std::decay_t<U>, optional>::value &&
                                       !std::is_same<std::decay_t<U>, nullopt_t>::value>>
    optional(U &&value) : nothing_()
    {
        emplace(std::forward<U>(value));
    }
    template <class U, class = std::enable_if_t<std::is_constructible<T, const U &>::value &&
                                                !std::is_convertible<const optional<U> &, T>::value>>
    optional(const optional<U> &other) : nothing_()
    {
        if (other.has_value()) {
            emplace(*other);
        }
    }
    template <class... Args> explicit optional(in_place_t, Args &&...args) : nothing_()
    {
        emplace(std::forward<Args>(args)...);
    }
    template <class U, class... Args>
    explicit optional(in_place_t, std::initializer_list<U> items, Args &&...args) : nothing_()
    {
        emplace(items, std::forward<Args>(args)...);
    }
    ~optional()
    {
        reset();
    }
    optional &operator=(nullopt_t) noexcept
    {
        reset();
        return *this;
    }
    optional &operator=(const optional &other)
    {
        if (this != &other) {
            optional copy(other);
            *this = std::move(copy);
        }
        return *this;
    }
    optional &operator=(optional &&other) noexcept(std::is_nothrow_move_constructible<T>::value)
    {
        if (this != &other) {
            reset();
            if (other.has_) {
                emplace(std::move(other.value_));
            }
        }
        return *this;
    }

    template <class... Args> T &emplace(Args &&...args)
    {
        reset();
        new (static_cast<void *>(std::addressof(value_))) T(std::forward<Args>(args)...);
        has_ = true;
        return value_;
    }
    void reset() noexcept
    {
        if (has_) {
            has_ = false;
            value_.~T();
        }
    }
    bool has_value() const noexcept
    {
        return has_;
    }
    explicit operator bool() const noexcept
    {
        return has_;
    }
    T &value() &
    {
        return has_ ? value_ : throw bad_optional_access();
    }
    const T &value() const &
    {
        return has_ ? value_ : throw bad_optional_access();
    }
    T &&value() &&
    {
        return has_ ? std::move(value_) : throw bad_optional_access();
    }
    T &operator*() &
    {
        return value_;
    }
    const T &operator*() const &
    {
        return value_;
    }
    T &&operator*() &&
    {
        return std::move(value_);
    }
    T *operator->()
    {
        return std::addressof(value_);
    }
    const T *operator->() const
    {
        return std::addressof(value_);
    }
    template <class U> T value_or(U &&other) const &
    {
        return has_ ? value_ : static_cast<T>(std::forward<U>(other));
    }

    void swap(optional &other)
    {
        optional kept(std::move(other));
        other = std::move(*this);
        *this = std::move(kept);
    }
    friend void swap(optional &a, optional &b)
    {
        a.swap(b);
    }

    friend bool operator==(const optional &a, const optional &b)
    {
        return a.has_ == b.has_ && (!a.has_ || a.value_ == b.value_);
    }
    friend bool operator!=(const optional &a, const optional &b)
    {
        return !(a == b);
    }
    // An empty optional is less than every value.
    friend bool operator<(const optional &a, const optional &b)
    {
        return b.has_ && (!a.has_ || a.value_ < b.value_);
    }
    friend bool operator>(const optional &a, const optional &b)
    {
        return b < a;
    }
    friend bool operator<=(const optional &a, const optional &b)
    {
        return !(b < a);
    }
    friend bool operator>=(const optional &a, const optional &b)
    {
        return !(a < b);
    }
    friend bool operator==(const optional &a, nullopt_t)
    {
        return !a.has_;
    }
    friend bool operator==(nullopt_t, const optional &a)
    {
        return !a.has_;
    }
    friend bool operator!=(const optional &a, nullopt_t)
    {
        return a.has_;
    }
    friend bool operator!=(nullopt_t, const optional &a)
    {
        return a.has_;
    }

  private:
    union {
        char nothing_;
        T value_;
    };
    bool has_ = false;
};

template <class T> optional<std::decay_t<T>> make_optional(T &&value)
{
    return optional<std::decay_t<T>>(std::forward<T>(value));
}

} // namespace c10

#endif

namespace c10
{
// Returns the value, or what the function returns if there is no value.
template <class T, class F> T value_or_else(const optional<T> &value, F &&otherwise)
{
    return value.has_value() ? *value : static_cast<T>(otherwise());
}
} // namespace c10

namespace torch
{
using namespace at;
}

#endif
