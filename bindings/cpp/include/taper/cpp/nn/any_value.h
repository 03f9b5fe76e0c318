/* SPDX-License-Identifier: BSD-2-Clause */
// torch::nn::AnyValue: a value of any copyable type. It is an argument or a result of a module of any type.
#ifndef TAPER_CPP_NN_ANY_VALUE_H
#define TAPER_CPP_NN_ANY_VALUE_H

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#if defined(__GNUG__)
#include <cstdlib>
#include <cxxabi.h>
#endif

#include <taper/cpp/error.h>

namespace taper
{
namespace cpp
{

// Returns the name of a type as C++ spells it.
inline std::string type_text(const std::type_info &type)
{
#if defined(__GNUG__)
    int status = 0;
    char *const name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
    const std::string text = name != nullptr ? name : type.name();
    std::free(name);
    return text;
#else
    std::string text = type.name();
    for (const char *prefix : {"struct ", "class "}) {
        text =
            text.compare(0, std::string(prefix).size(), prefix) == 0 ? text.substr(std::string(prefix).size()) : text;
    }
    return text;
#endif
}

// The part of a held value that does not depend on its type.
struct AnyContent {
    explicit AnyContent(const std::type_info &of) noexcept : type(of)
    {
    }
    virtual ~AnyContent() = default;
    virtual std::unique_ptr<AnyContent> copy() const = 0;
    const std::type_info &type;
};
template <class T> struct AnyContentOf : AnyContent {
    template <class U> explicit AnyContentOf(U &&from) : AnyContent(typeid(T)), value(std::forward<U>(from))
    {
    }
    std::unique_ptr<AnyContent> copy() const override
    {
        return std::unique_ptr<AnyContent>(new AnyContentOf(value));
    }
    T value;
};

} // namespace cpp
} // namespace taper

namespace torch
{
namespace nn
{

class AnyValue
{
  public:
    AnyValue(AnyValue &&) = default;
    AnyValue &operator=(AnyValue &&) = default;
    AnyValue(const AnyValue &other) : content_(other.content_->copy())
    {
    }
    AnyValue &operator=(const AnyValue &other)
    {
        content_ = other.content_->copy();
        return *this;
    }
    template <class T, class = std::enable_if_t<!std::is_same<std::decay_t<T>, AnyValue>::value>>
    explicit AnyValue(T &&value) : content_(new taper::cpp::AnyContentOf<std::decay_t<T>>(std::forward<T>(value)))
    {
    }

    // Returns a pointer to the value, or null if the value has another type.
    template <class T> T *try_get()
    {
        static_assert(std::is_same<T, std::decay_t<T>>::value, "an AnyValue holds no references and no arrays");
        return typeid(T) == type_info() ? &static_cast<taper::cpp::AnyContentOf<T> &>(*content_).value : nullptr;
    }
    template <class T> T get()
    {
        T *const found = try_get<T>();
        TORCH_CHECK(found != nullptr, "Attempted to cast AnyValue to ", taper::cpp::type_text(typeid(T)),
                    ", but its actual type is ", taper::cpp::type_text(type_info()));
        return *found;
    }
    const std::type_info &type_info() const noexcept
    {
        return content_->type;
    }

  private:
    std::unique_ptr<taper::cpp::AnyContent> content_;
};

} // namespace nn
} // namespace torch

#endif
