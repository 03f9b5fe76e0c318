/* SPDX-License-Identifier: BSD-2-Clause */
// intrusive_ptr: a shared reference to an object that contains its reference count.
#ifndef TAPER_CPP_INTRUSIVE_PTR_H
#define TAPER_CPP_INTRUSIVE_PTR_H

#include <atomic>
#include <cstddef>
#include <utility>

#include <taper/cpp/error.h>

namespace c10
{

class intrusive_ptr_target
{
  public:
    intrusive_ptr_target() = default;
    intrusive_ptr_target(const intrusive_ptr_target &)
    {
    }
    intrusive_ptr_target &operator=(const intrusive_ptr_target &)
    {
        return *this;
    }
    virtual ~intrusive_ptr_target() = default;
    void retain() const noexcept
    {
        count_.fetch_add(1, std::memory_order_relaxed);
    }
    void release() const noexcept
    {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }
    size_t references() const noexcept
    {
        return count_.load(std::memory_order_relaxed);
    }

  private:
    mutable std::atomic<size_t> count_{0};
};

template <class T> class intrusive_ptr
{
  public:
    using element_type = T;
    intrusive_ptr() noexcept : target_(nullptr)
    {
    }
    intrusive_ptr(std::nullptr_t) noexcept : target_(nullptr)
    {
    }
    // Increments the reference count of target.
    explicit intrusive_ptr(T *target) noexcept : target_(target)
    {
        if (target_ != nullptr) {
            target_->retain();
        }
    }
    intrusive_ptr(const intrusive_ptr &other) noexcept : intrusive_ptr(other.target_)
    {
    }
    intrusive_ptr(intrusive_ptr &&other) noexcept : target_(other.target_)
    {
        other.target_ = nullptr;
    }
    ~intrusive_ptr()
    {
        if (target_ != nullptr) {
            target_->release();
        }
    }
    intrusive_ptr &operator=(intrusive_ptr other) noexcept
    {
        std::swap(target_, other.target_);
        return *this;
    }
    T *get() const noexcept
    {
        return target_;
    }
    T *operator->() const noexcept
    {
        return target_;
    }
    T &operator*() const noexcept
    {
        return *target_;
    }
    explicit operator bool() const noexcept
    {
        return target_ != nullptr;
    }
    bool defined() const noexcept
    {
        return target_ != nullptr;
    }
    size_t use_count() const noexcept
    {
        return target_ != nullptr ? target_->references() : 0;
    }
    friend bool operator==(const intrusive_ptr &a, const intrusive_ptr &b) noexcept
    {
        return a.target_ == b.target_;
    }
    friend bool operator!=(const intrusive_ptr &a, const intrusive_ptr &b) noexcept
    {
        return a.target_ != b.target_;
    }

  private:
    T *target_;
};

template <class T, class... Args> intrusive_ptr<T> make_intrusive(Args &&...args)
{
    return intrusive_ptr<T>(new T(std::forward<Args>(args)...));
}

template <class T, class U> intrusive_ptr<T> static_intrusive_pointer_cast(const intrusive_ptr<U> &pointer)
{
    return intrusive_ptr<T>(static_cast<T *>(pointer.get()));
}
template <class T, class U> intrusive_ptr<T> dynamic_intrusive_pointer_cast(const intrusive_ptr<U> &pointer)
{
    return intrusive_ptr<T>(dynamic_cast<T *>(pointer.get()));
}

} // namespace c10

#endif
