/* SPDX-License-Identifier: BSD-2-Clause */
// A reference to a taper_value, and the context of all values of the process.
#ifndef TAPER_CPP_HANDLE_H
#define TAPER_CPP_HANDLE_H

#include <atomic>
#include <utility>

#include <taper/cpp/error.h>
#include <taper/cpp/thread_allocator.h>

namespace taper
{
namespace cpp
{

// Returns the context of the process. It is released at exit; existing values, modules and operators keep it. Later
// calls return NULL, for which the library reports an error.
inline taper_context *context()
{
    struct Made {
        Made() : context(nullptr)
        {
            ErrorScope error;
            taper_context *made = nullptr;
            const taper_allocator allocator = ThreadAllocator::get();
            taper_context_options options = taper_context_options();
            options.struct_size = sizeof options;
            options.allocator = &allocator;
            error.check(taper_context_create(&options, &made, error));
            context = made;
        }
        ~Made()
        {
            taper_context_release(context.exchange(nullptr));
        }
        std::atomic<taper_context *> context;
    };
    static Made made; // if the constructor throws, the next call of context() tries again
    return made.context.load(std::memory_order_acquire);
}

class Handle
{
  public:
    Handle() noexcept : value_(nullptr)
    {
    }
    // Takes ownership of the reference.
    explicit Handle(taper_value *value) noexcept : value_(value)
    {
    }
    Handle(const Handle &other) noexcept : value_(other.value_ != nullptr ? taper_value_retain(other.value_) : nullptr)
    {
    }
    Handle(Handle &&other) noexcept : value_(other.value_)
    {
        other.value_ = nullptr;
    }
    ~Handle()
    {
        taper_value_release(value_);
    }
    Handle &operator=(Handle other) noexcept
    {
        std::swap(value_, other.value_);
        return *this;
    }
    taper_value *get() const noexcept
    {
        return value_;
    }
    explicit operator bool() const noexcept
    {
        return value_ != nullptr;
    }
    taper_kind kind() const noexcept
    {
        return value_ != nullptr ? taper_value_kind(value_) : TAPER_KIND_NONE;
    }

  private:
    taper_value *value_;
};

// Makes a value with make(context, arguments…, &value, error).
template <class Make, class... Args> Handle make_value(Make make, Args... args)
{
    ErrorScope error;
    taper_value *value = nullptr;
    error.check(make(context(), args..., &value, error));
    return Handle(value);
}

// Returns item `index` of a list or tuple, or value `index` of a dict.
inline Handle item_of(const Handle &all, size_t index)
{
    ErrorScope error;
    taper_value *item = nullptr;
    error.check(taper_value_item(all.get(), index, &item, error));
    return Handle(item);
}

} // namespace cpp
} // namespace taper

#endif
