/* SPDX-License-Identifier: BSD-2-Clause */
// intrusive_ptr: a shared reference to an object that contains its reference count; weak_intrusive_ptr, a reference
// that does not keep the object alive.
#ifndef TAPER_CPP_INTRUSIVE_PTR_H
#define TAPER_CPP_INTRUSIVE_PTR_H

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <taper/cpp/exception.h>

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
    // If this was the last reference, the object is destroyed, or only its contents if a weak reference remains.
    void release() const noexcept
    {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            if (weak_.load(std::memory_order_acquire) != 1) {
                const_cast<intrusive_ptr_target *>(this)->release_resources();
            }
            release_weak();
        }
    }
    size_t references() const noexcept
    {
        return count_.load(std::memory_order_relaxed);
    }
    void retain_weak() const noexcept
    {
        weak_.fetch_add(1, std::memory_order_relaxed);
    }
    void release_weak() const noexcept
    {
        if (weak_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }
    size_t weak_references() const noexcept
    {
        return weak_.load(std::memory_order_relaxed);
    }
    // Adds a strong reference, unless no strong reference is left.
    bool retain_if_alive() const noexcept
    {
        size_t count = count_.load(std::memory_order_relaxed);
        while (count != 0 && !count_.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) {
        }
        return count != 0;
    }
    virtual void release_resources()
    {
    }

  private:
    mutable std::atomic<size_t> count_{0};
    mutable std::atomic<size_t> weak_{1}; // number of weak references, plus one for all strong references together
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
    intrusive_ptr(std::unique_ptr<T> target) noexcept : intrusive_ptr(target.release())
    {
    }
    intrusive_ptr(const intrusive_ptr &other) noexcept : intrusive_ptr(other.target_)
    {
    }
    intrusive_ptr(intrusive_ptr &&other) noexcept : target_(other.target_)
    {
        other.target_ = nullptr;
    }
    template <class U, class = std::enable_if_t<std::is_convertible<U *, T *>::value && !std::is_same<U, T>::value>>
    intrusive_ptr(const intrusive_ptr<U> &other) noexcept : intrusive_ptr(static_cast<T *>(other.get()))
    {
    }
    template <class U, class = std::enable_if_t<std::is_convertible<U *, T *>::value && !std::is_same<U, T>::value>>
    intrusive_ptr(intrusive_ptr<U> &&other) noexcept : target_(other.release())
    {
    }
    ~intrusive_ptr()
    {
        reset();
    }
    intrusive_ptr &operator=(intrusive_ptr other) noexcept
    {
        swap(other);
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
    void reset() noexcept
    {
        if (target_ != nullptr) {
            std::exchange(target_, nullptr)->release();
        }
    }
    void swap(intrusive_ptr &other) noexcept
    {
        std::swap(target_, other.target_);
    }
    size_t use_count() const noexcept
    {
        return target_ != nullptr ? target_->references() : 0;
    }
    size_t weak_use_count() const noexcept
    {
        return target_ != nullptr ? target_->weak_references() : 0;
    }
    bool unique() const noexcept
    {
        return use_count() == 1;
    }
    // Returns the pointer with its reference, which the caller must pass to reclaim().
    T *release() noexcept
    {
        return std::exchange(target_, nullptr);
    }
    static intrusive_ptr reclaim(T *target)
    {
        intrusive_ptr taken;
        taken.target_ = target;
        return taken;
    }
    static intrusive_ptr reclaim_copy(T *target)
    {
        return intrusive_ptr(target);
    }
    template <class... Args> static intrusive_ptr make(Args &&...args)
    {
        return intrusive_ptr(new T(std::forward<Args>(args)...));
    }

  private:
    T *target_;
};

template <class T> class weak_intrusive_ptr
{
  public:
    using element_type = T;
    weak_intrusive_ptr(const intrusive_ptr<T> &strong) noexcept : weak_intrusive_ptr(strong.get())
    {
    }
    weak_intrusive_ptr(const weak_intrusive_ptr &other) noexcept : weak_intrusive_ptr(other.target_)
    {
    }
    weak_intrusive_ptr(weak_intrusive_ptr &&other) noexcept : target_(std::exchange(other.target_, nullptr))
    {
    }
    template <class U, class = std::enable_if_t<std::is_convertible<U *, T *>::value && !std::is_same<U, T>::value>>
    weak_intrusive_ptr(const weak_intrusive_ptr<U> &other) noexcept
        : weak_intrusive_ptr(static_cast<T *>(other._unsafe_get_target()))
    {
    }
    ~weak_intrusive_ptr()
    {
        reset();
    }
    weak_intrusive_ptr &operator=(weak_intrusive_ptr other) noexcept
    {
        swap(other);
        return *this;
    }
    void reset() noexcept
    {
        if (target_ != nullptr) {
            std::exchange(target_, nullptr)->release_weak();
        }
    }
    void swap(weak_intrusive_ptr &other) noexcept
    {
        std::swap(target_, other.target_);
    }
    T *_unsafe_get_target() const noexcept
    {
        return target_;
    }
    size_t use_count() const noexcept
    {
        return target_ != nullptr ? target_->references() : 0;
    }
    size_t weak_use_count() const noexcept
    {
        return target_ != nullptr ? target_->weak_references() : 0;
    }
    bool expired() const noexcept
    {
        return use_count() == 0;
    }
    // Returns a strong reference, or an empty intrusive_ptr if the object is destroyed.
    intrusive_ptr<T> lock() const noexcept
    {
        return target_ != nullptr && target_->retain_if_alive() ? intrusive_ptr<T>::reclaim(target_)
                                                                : intrusive_ptr<T>();
    }
    // Returns the pointer with its weak reference, which the caller must pass to reclaim().
    T *release() noexcept
    {
        return std::exchange(target_, nullptr);
    }
    static weak_intrusive_ptr reclaim(T *target)
    {
        weak_intrusive_ptr taken(static_cast<T *>(nullptr));
        taken.target_ = target;
        return taken;
    }
    static weak_intrusive_ptr reclaim_copy(T *target)
    {
        return weak_intrusive_ptr(target);
    }

  private:
    explicit weak_intrusive_ptr(T *target) noexcept : target_(target)
    {
        if (target_ != nullptr) {
            target_->retain_weak();
        }
    }
    T *target_;
};

#define TAPER_CPP_POINTER_ORDER(pointer, of)                                                                           \
    template <class T, class U> bool operator==(const pointer<T> &a, const pointer<U> &b) noexcept                     \
    {                                                                                                                  \
        return a.of() == b.of();                                                                                       \
    }                                                                                                                  \
    template <class T, class U> bool operator!=(const pointer<T> &a, const pointer<U> &b) noexcept                     \
    {                                                                                                                  \
        return a.of() != b.of();                                                                                       \
    }                                                                                                                  \
    template <class T, class U> bool operator<(const pointer<T> &a, const pointer<U> &b) noexcept                      \
    {                                                                                                                  \
        return std::less<const void *>()(a.of(), b.of());                                                              \
    }                                                                                                                  \
    template <class T> void swap(pointer<T> &a, pointer<T> &b) noexcept                                                \
    {                                                                                                                  \
        a.swap(b);                                                                                                     \
    }
TAPER_CPP_POINTER_ORDER(intrusive_ptr, get)
TAPER_CPP_POINTER_ORDER(weak_intrusive_ptr, _unsafe_get_target)
#undef TAPER_CPP_POINTER_ORDER
template <class T> bool operator==(const intrusive_ptr<T> &a, std::nullptr_t) noexcept
{
    return a.get() == nullptr;
}
template <class T> bool operator==(std::nullptr_t, const intrusive_ptr<T> &a) noexcept
{
    return a.get() == nullptr;
}
template <class T> bool operator!=(const intrusive_ptr<T> &a, std::nullptr_t) noexcept
{
    return a.get() != nullptr;
}
template <class T> bool operator!=(std::nullptr_t, const intrusive_ptr<T> &a) noexcept
{
    return a.get() != nullptr;
}

template <class T, class... Args> intrusive_ptr<T> make_intrusive(Args &&...args)
{
    return intrusive_ptr<T>(new T(std::forward<Args>(args)...));
}
template <class T, class U> intrusive_ptr<T> static_intrusive_pointer_cast(intrusive_ptr<U> from)
{
    return intrusive_ptr<T>::reclaim(static_cast<T *>(from.release()));
}
template <class T, class U> intrusive_ptr<T> dynamic_intrusive_pointer_cast(intrusive_ptr<U> from)
{
    return intrusive_ptr<T>(dynamic_cast<T *>(from.get()));
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

namespace std
{
template <class T> struct hash<c10::intrusive_ptr<T>> {
    size_t operator()(const c10::intrusive_ptr<T> &pointer) const
    {
        return hash<T *>()(pointer.get());
    }
};
template <class T> struct hash<c10::weak_intrusive_ptr<T>> {
    size_t operator()(const c10::weak_intrusive_ptr<T> &pointer) const
    {
        return hash<T *>()(pointer._unsafe_get_target());
    }
};
} // namespace std

#endif
