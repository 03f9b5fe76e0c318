/* SPDX-License-Identifier: BSD-2-Clause */
// c10::variant, which holds a value of one of several types. The class is the same in every C++ standard.
#ifndef TAPER_CPP_NN_VARIANT_H
#define TAPER_CPP_NN_VARIANT_H

#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace c10
{

struct monostate {
};
inline bool operator==(monostate, monostate)
{
    return true;
}

class bad_variant_access : public std::exception
{
  public:
    const char *what() const noexcept override
    {
        return "bad_variant_access";
    }
};

constexpr size_t variant_npos = static_cast<size_t>(-1);

namespace detail
{

constexpr size_t largest(size_t one)
{
    return one;
}
template <class... Rest> constexpr size_t largest(size_t one, size_t two, Rest... rest)
{
    return largest(one > two ? one : two, rest...);
}

// Returns the index of the first true value.
constexpr size_t first_true()
{
    return 0;
}
template <class... Rest> constexpr size_t first_true(bool first, Rest... rest)
{
    return first ? 0 : 1 + first_true(rest...);
}

template <size_t I, class... T> struct type_at;
template <class First, class... T> struct type_at<0, First, T...> {
    using type = First;
};
template <size_t I, class First, class... T> struct type_at<I, First, T...> : type_at<I - 1, T...> {
};

// Functions for a value whose type the variant knows by its index alone.
template <class T> struct VariantPart {
    static void destroy(void *at)
    {
        static_cast<T *>(at)->~T();
    }
    static void copy(void *to, const void *from)
    {
        new (to) T(*static_cast<const T *>(from));
    }
    static void move(void *to, void *from)
    {
        new (to) T(std::move(*static_cast<T *>(from)));
    }
    static bool equal(const void *a, const void *b)
    {
        return *static_cast<const T *>(a) == *static_cast<const T *>(b);
    }
};

} // namespace detail

template <class... T> class variant
{
    // The alternative that stores a value of type U: U if U is an alternative, otherwise the first alternative to which
    // U converts.
    template <class U> struct Place {
        static constexpr size_t same = detail::first_true(std::is_same<U, T>::value...);
        static constexpr size_t value =
            same < sizeof...(T) ? same : detail::first_true(std::is_convertible<U, T>::value...);
    };

  public:
    variant() : index_(0)
    {
        new (static_cast<void *>(place_)) typename detail::type_at<0, T...>::type();
    }
    variant(const variant &other) : index_(other.index_)
    {
        using Copy = void (*)(void *, const void *);
        static constexpr Copy copy[] = {&detail::VariantPart<T>::copy...};
        copy[index_](place_, other.place_);
    }
    variant(variant &&other) : index_(other.index_)
    {
        take(other);
    }
    template <class U, class = std::enable_if_t<!std::is_same<std::decay_t<U>, variant>::value &&
                                                (Place<std::decay_t<U>>::value < sizeof...(T))>>
    variant(U &&value) : index_(Place<std::decay_t<U>>::value)
    {
        using Chosen = typename detail::type_at<Place<std::decay_t<U>>::value, T...>::type;
        new (static_cast<void *>(place_)) Chosen(std::forward<U>(value));
    }
    ~variant()
    {
        destroy();
    }
    variant &operator=(const variant &other)
    {
        if (this != &other) {
            variant copy(other);
            *this = std::move(copy);
        }
        return *this;
    }
    variant &operator=(variant &&other)
    {
        if (this != &other) {
            destroy();
            index_ = other.index_;
            take(other);
        }
        return *this;
    }

    size_t index() const noexcept
    {
        return index_;
    }
    bool valueless_by_exception() const noexcept
    {
        return false;
    }
    template <class Which> Which *find() noexcept
    {
        return index_ == detail::first_true(std::is_same<Which, T>::value...) ? reinterpret_cast<Which *>(place_)
                                                                              : nullptr;
    }
    template <class Which> const Which *find() const noexcept
    {
        return const_cast<variant *>(this)->template find<Which>();
    }

    friend bool operator==(const variant &a, const variant &b)
    {
        using Equal = bool (*)(const void *, const void *);
        static constexpr Equal equal[] = {&detail::VariantPart<T>::equal...};
        return a.index_ == b.index_ && equal[a.index_](a.place_, b.place_);
    }
    friend bool operator!=(const variant &a, const variant &b)
    {
        return !(a == b);
    }

  private:
    void destroy()
    {
        using Destroy = void (*)(void *);
        static constexpr Destroy each[] = {&detail::VariantPart<T>::destroy...};
        each[index_](place_);
    }
    void take(variant &other)
    {
        using Move = void (*)(void *, void *);
        static constexpr Move move[] = {&detail::VariantPart<T>::move...};
        move[index_](place_, other.place_);
    }
    alignas(T...) unsigned char place_[detail::largest(sizeof(T)...)];
    size_t index_;
};

template <class V> struct variant_size;
template <class... T> struct variant_size<variant<T...>> : std::integral_constant<size_t, sizeof...(T)> {
};
template <size_t I, class V> struct variant_alternative;
template <size_t I, class... T> struct variant_alternative<I, variant<T...>> : detail::type_at<I, T...> {
};
template <size_t I, class V> using variant_alternative_t = typename variant_alternative<I, V>::type;

template <class Which, class... T> bool holds_alternative(const variant<T...> &of) noexcept
{
    return of.template find<Which>() != nullptr;
}
template <class Which, class... T> Which *get_if(variant<T...> *of) noexcept
{
    return of == nullptr ? nullptr : of->template find<Which>();
}
template <class Which, class... T> const Which *get_if(const variant<T...> *of) noexcept
{
    return of == nullptr ? nullptr : of->template find<Which>();
}
template <class Which, class... T> Which &get(variant<T...> &of)
{
    Which *const found = of.template find<Which>();
    return found != nullptr ? *found : throw bad_variant_access();
}
template <class Which, class... T> const Which &get(const variant<T...> &of)
{
    return get<Which>(const_cast<variant<T...> &>(of));
}
template <size_t I, class... T> typename detail::type_at<I, T...>::type &get(variant<T...> &of)
{
    return get<typename detail::type_at<I, T...>::type>(of);
}
template <size_t I, class... T> const typename detail::type_at<I, T...>::type &get(const variant<T...> &of)
{
    return get<typename detail::type_at<I, T...>::type>(of);
}

namespace detail
{
template <class Result, class Visitor, class Variant, class Last>
Result visit_each(Visitor &visitor, Variant &of, const Last *last)
{
    (void)last;
    return visitor(get<Last>(of));
}
template <class Result, class Visitor, class Variant, class First, class... Rest>
Result visit_each(Visitor &visitor, Variant &of, const First *first, const Rest *...rest)
{
    (void)first;
    if (holds_alternative<First>(of)) {
        return visitor(get<First>(of));
    }
    return visit_each<Result>(visitor, of, rest...);
}
} // namespace detail

// Calls visitor with the value that the variant holds.
template <class Visitor, class First, class... Rest>
decltype(auto) visit(Visitor &&visitor, const variant<First, Rest...> &of)
{
    using Result = decltype(visitor(std::declval<const First &>()));
    return detail::visit_each<Result>(visitor, of, static_cast<const First *>(nullptr),
                                      static_cast<const Rest *>(nullptr)...);
}
template <class Visitor, class First, class... Rest>
decltype(auto) visit(Visitor &&visitor, variant<First, Rest...> &of)
{
    using Result = decltype(visitor(std::declval<First &>()));
    return detail::visit_each<Result>(visitor, of, static_cast<const First *>(nullptr),
                                      static_cast<const Rest *>(nullptr)...);
}

// A function object with the call operators of several function objects.
template <class... F> struct overloaded_t;
template <class F> struct overloaded_t<F> : F {
    explicit overloaded_t(F f) : F(std::move(f))
    {
    }
    using F::operator();
};
template <class F, class... Rest> struct overloaded_t<F, Rest...> : F, overloaded_t<Rest...> {
    overloaded_t(F f, Rest... rest) : F(std::move(f)), overloaded_t<Rest...>(std::move(rest)...)
    {
    }
    using F::operator();
    using overloaded_t<Rest...>::operator();
};
template <class... F> overloaded_t<F...> overloaded(F... f)
{
    return overloaded_t<F...>(std::move(f)...);
}

} // namespace c10

namespace at
{
using namespace c10;
}
namespace torch
{
using namespace at;
}

#endif
