/* SPDX-License-Identifier: BSD-2-Clause */
// TORCH_ARG, which declares an option with its reader and its writers, and ExpandingArray: D numbers, or one number D
// times.
#ifndef TAPER_CPP_NN_EXPANDING_ARRAY_H
#define TAPER_CPP_NN_EXPANDING_ARRAY_H

#include <array>
#include <initializer_list>
#include <string>
#include <vector>

#include <taper/cpp/array_ref.h>
#include <taper/cpp/optional.h>

// The default of the option may follow: TORCH_ARG(bool, bias) = true;
#define TORCH_ARG(T, name)                                                                                             \
  public:                                                                                                              \
    auto name(const T &value)->decltype(*this)                                                                         \
    {                                                                                                                  \
        name##_ = value;                                                                                               \
        return *this;                                                                                                  \
    }                                                                                                                  \
    auto name(T &&value)->decltype(*this)                                                                              \
    {                                                                                                                  \
        name##_ = std::move(value);                                                                                    \
        return *this;                                                                                                  \
    }                                                                                                                  \
    const T &name() const noexcept                                                                                     \
    {                                                                                                                  \
        return name##_;                                                                                                \
    }                                                                                                                  \
    T &name() noexcept                                                                                                 \
    {                                                                                                                  \
        return name##_;                                                                                                \
    }                                                                                                                  \
                                                                                                                       \
  private:                                                                                                             \
    T name##_

namespace torch
{

template <size_t D, class T = int64_t> class ExpandingArray
{
  public:
    ExpandingArray(std::initializer_list<T> list) : ExpandingArray(c10::ArrayRef<T>(list))
    {
    }
    ExpandingArray(const std::vector<T> &all) : ExpandingArray(c10::ArrayRef<T>(all))
    {
    }
    ExpandingArray(c10::ArrayRef<T> all)
    {
        expect(all.size());
        std::copy(all.begin(), all.end(), values_.begin());
    }
    ExpandingArray(T one)
    {
        values_.fill(one);
    }
    ExpandingArray(const std::array<T, D> &all) : values_(all)
    {
    }
    std::array<T, D> &operator*()
    {
        return values_;
    }
    const std::array<T, D> &operator*() const
    {
        return values_;
    }
    std::array<T, D> *operator->()
    {
        return &values_;
    }
    const std::array<T, D> *operator->() const
    {
        return &values_;
    }
    operator c10::ArrayRef<T>() const
    {
        return values_;
    }
    size_t size() const noexcept
    {
        return D;
    }

  protected:
    static void expect(size_t size)
    {
        TORCH_CHECK(size == D, "Expected ", D, " values, but instead got ", size);
    }
    std::array<T, D> values_;
};

template <size_t D, class T> std::ostream &operator<<(std::ostream &out, const ExpandingArray<D, T> &all)
{
    return D == 1 ? out << (*all)[0] : out << static_cast<c10::ArrayRef<T>>(all);
}

// An ExpandingArray of which any number may be absent.
template <size_t D, class T = int64_t> class ExpandingArrayWithOptionalElem : public ExpandingArray<D, c10::optional<T>>
{
    using Base = ExpandingArray<D, c10::optional<T>>;

  public:
    using Base::Base;
    ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
        : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list))
    {
    }
    ExpandingArrayWithOptionalElem(const std::vector<T> &all) : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(all))
    {
    }
    ExpandingArrayWithOptionalElem(c10::ArrayRef<T> all) : Base(c10::optional<T>())
    {
        Base::expect(all.size());
        std::copy(all.begin(), all.end(), this->values_.begin());
    }
    ExpandingArrayWithOptionalElem(T one) : Base(c10::optional<T>(one))
    {
    }
    ExpandingArrayWithOptionalElem(const std::array<T, D> &all) : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(all))
    {
    }
};

template <size_t D, class T>
std::ostream &operator<<(std::ostream &out, const ExpandingArrayWithOptionalElem<D, T> &all)
{
    std::vector<std::string> texts;
    for (const c10::optional<T> &each : *all) {
        texts.push_back(each.has_value() ? c10::str(*each) : "None");
    }
    return D == 1 ? out << texts[0] : out << c10::ArrayRef<std::string>(texts);
}

} // namespace torch

#endif
