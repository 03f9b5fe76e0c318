/* SPDX-License-Identifier: BSD-2-Clause */
// OptionalArrayRef: optional numbers as an argument. Unlike c10::optional<ArrayRef>, it accepts a list in braces.
#ifndef TAPER_CPP_OPTIONAL_ARRAY_REF_H
#define TAPER_CPP_OPTIONAL_ARRAY_REF_H

#include <initializer_list>
#include <vector>

#include <taper/cpp/array_ref.h>
#include <taper/cpp/optional.h>

namespace c10
{

template <class T> class OptionalArrayRef final
{
  public:
    OptionalArrayRef() = default;
    OptionalArrayRef(nullopt_t)
    {
    }
    OptionalArrayRef(ArrayRef<T> all) : all_(all)
    {
    }
    OptionalArrayRef(const optional<ArrayRef<T>> &all) : all_(all)
    {
    }
    OptionalArrayRef(const std::vector<T> &all) : all_(ArrayRef<T>(all))
    {
    }
    OptionalArrayRef(const std::initializer_list<T> &all) : all_(ArrayRef<T>(all))
    {
    }
    template <size_t N> OptionalArrayRef(const std::array<T, N> &all) : all_(ArrayRef<T>(all))
    {
    }
    OptionalArrayRef(const T &one) : all_(ArrayRef<T>(one))
    {
    }
    bool has_value() const
    {
        return all_.has_value();
    }
    explicit operator bool() const
    {
        return has_value();
    }
    const ArrayRef<T> &value() const
    {
        return all_.value();
    }
    const ArrayRef<T> &operator*() const
    {
        return *all_;
    }
    const ArrayRef<T> *operator->() const
    {
        return all_.operator->();
    }
    template <class U> ArrayRef<T> value_or(U &&other) const
    {
        return all_.value_or(std::forward<U>(other));
    }

    template <class... Args> ArrayRef<T> &emplace(Args &&...args)
    {
        all_ = ArrayRef<T>(std::forward<Args>(args)...);
        return *all_;
    }
    void reset() noexcept
    {
        all_.reset();
    }
    void swap(OptionalArrayRef &other)
    {
        std::swap(all_, other.all_);
    }

  private:
    optional<ArrayRef<T>> all_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;
inline bool operator==(const OptionalIntArrayRef &a, const IntArrayRef &b)
{
    return a.has_value() && a.value().equals(b);
}
inline bool operator==(const IntArrayRef &a, const OptionalIntArrayRef &b)
{
    return b == a;
}

} // namespace c10

#endif
