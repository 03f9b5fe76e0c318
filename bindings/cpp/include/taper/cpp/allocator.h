/* SPDX-License-Identifier: BSD-2-Clause */
// c10::DataPtr and c10::Allocator. The library provides the memory of tensors. An allocator serves only the memory that
// a program allocates through it.
#ifndef TAPER_CPP_ALLOCATOR_H
#define TAPER_CPP_ALLOCATOR_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>

#include <taper/cpp/device.h>

namespace c10
{

using DeleterFnPtr = void (*)(void *);

namespace detail
{
inline void deleteNothing(void *)
{
}
} // namespace detail

// An address, and the context that owns its memory. The deleter gets the context when the DataPtr is destroyed.
class DataPtr
{
  public:
    DataPtr() : DataPtr(nullptr, Device(kCPU))
    {
    }
    // Makes a DataPtr that does not own the memory.
    DataPtr(void *data, Device device) : DataPtr(data, nullptr, detail::deleteNothing, device)
    {
    }
    DataPtr(void *data, void *context, DeleterFnPtr deleter, Device device)
        : data_(data), context_(context, deleter != nullptr ? deleter : detail::deleteNothing), device_(device)
    {
    }
    void *get() const
    {
        return data_;
    }
    void *operator->() const
    {
        return data_;
    }
    operator bool() const
    {
        return data_ != nullptr || context_ != nullptr;
    }
    Device device() const
    {
        return device_;
    }
    void clear()
    {
        context_ = nullptr;
        data_ = nullptr;
    }
    void *get_context() const
    {
        return context_.get();
    }
    void *release_context()
    {
        return context_.release();
    }
    std::unique_ptr<void, DeleterFnPtr> &&move_context()
    {
        return std::move(context_);
    }
    DeleterFnPtr get_deleter() const
    {
        return context_.get_deleter();
    }
    // Returns the context, or nullptr if the deleter is not `expected`.
    template <class T> T *cast_context(DeleterFnPtr expected) const
    {
        return get_deleter() == expected ? static_cast<T *>(get_context()) : nullptr;
    }
    // Replaces the deleter if it is `expected`. Returns true if the deleter was replaced.
    bool compare_exchange_deleter(DeleterFnPtr expected, DeleterFnPtr replacement)
    {
        if (get_deleter() != expected) {
            return false;
        }
        context_ = std::unique_ptr<void, DeleterFnPtr>(context_.release(), replacement);
        return true;
    }
    friend bool operator==(const DataPtr &data, std::nullptr_t) noexcept
    {
        return !data;
    }
    friend bool operator==(std::nullptr_t, const DataPtr &data) noexcept
    {
        return !data;
    }
    friend bool operator!=(const DataPtr &data, std::nullptr_t) noexcept
    {
        return data;
    }
    friend bool operator!=(std::nullptr_t, const DataPtr &data) noexcept
    {
        return data;
    }

  private:
    void *data_;
    std::unique_ptr<void, DeleterFnPtr> context_;
    Device device_;
};

struct Allocator {
    virtual ~Allocator() = default;
    virtual DataPtr allocate(size_t bytes) const = 0;
    // Returns the deleter for plain addresses, or nullptr if the allocator's contexts are not the addresses themselves.
    virtual DeleterFnPtr raw_deleter() const
    {
        return nullptr;
    }
    void *raw_allocate(size_t bytes)
    {
        DataPtr data = allocate(bytes);
        TORCH_INTERNAL_ASSERT(data.get() == data.get_context());
        return data.release_context();
    }
    void raw_deallocate(void *data)
    {
        const DeleterFnPtr deleter = raw_deleter();
        TORCH_INTERNAL_ASSERT(deleter);
        deleter(data);
    }
};

// The context of a DataPtr whose memory is freed by a std::function.
struct InefficientStdFunctionContext {
    std::unique_ptr<void, std::function<void(void *)>> ptr_;
    InefficientStdFunctionContext(std::unique_ptr<void, std::function<void(void *)>> &&ptr) : ptr_(std::move(ptr))
    {
    }
    static DataPtr makeDataPtr(void *data, const std::function<void(void *)> &deleter, Device device)
    {
        return {data, new InefficientStdFunctionContext({data, deleter}), destroy, device};
    }

  private:
    static void destroy(void *context)
    {
        delete static_cast<InefficientStdFunctionContext *>(context);
    }
};

constexpr size_t gAlignment = 64; // alignment in bytes of memory of the CPU

// The address that the system returned for a block is stored before the block.
class CPUBlockAllocator : public Allocator
{
  public:
    DataPtr allocate(size_t bytes) const override
    {
        if (bytes == 0) {
            return {nullptr, nullptr, release, Device(kCPU)};
        }
        const size_t more = gAlignment + sizeof(void *);
        void *const all = bytes <= SIZE_MAX - more ? std::malloc(bytes + more) : nullptr;
        TORCH_CHECK(all != nullptr, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
                    " bytes.");
        const uintptr_t first = reinterpret_cast<uintptr_t>(all) + sizeof(void *);
        void *const block = reinterpret_cast<void *>((first + gAlignment - 1) / gAlignment * gAlignment);
        static_cast<void **>(block)[-1] = all;
        return {block, block, release, Device(kCPU)};
    }
    DeleterFnPtr raw_deleter() const override
    {
        return release;
    }

  private:
    static void release(void *block)
    {
        if (block != nullptr) {
            std::free(static_cast<void **>(block)[-1]);
        }
    }
};

inline Allocator *GetDefaultCPUAllocator()
{
    static CPUBlockAllocator allocator;
    return &allocator;
}

namespace detail
{
// The allocator that a program set for the CPU. Programs set it before they start threads.
struct AllocatorOfCPU {
    Allocator *allocator;
    uint8_t priority;
    static AllocatorOfCPU &get()
    {
        static AllocatorOfCPU now = {GetDefaultCPUAllocator(), 0};
        return now;
    }
};
} // namespace detail

// Sets the allocator of a device. The program owns the allocator, which must outlive all memory that it has provided.
inline void SetAllocator(DeviceType type, Allocator *allocator, uint8_t priority = 0)
{
    TORCH_CHECK(type == kCPU, "there are allocators for the CPU alone");
    detail::AllocatorOfCPU &now = detail::AllocatorOfCPU::get();
    if (priority >= now.priority) {
        now = {allocator, priority};
    }
}
inline Allocator *GetAllocator(const DeviceType &type)
{
    Allocator *const found = type == kCPU ? detail::AllocatorOfCPU::get().allocator : nullptr;
    TORCH_INTERNAL_ASSERT(found, "Allocator for ", type, " is not set.");
    return found;
}
inline Allocator *GetCPUAllocator()
{
    return GetAllocator(kCPU);
}
inline void SetCPUAllocator(Allocator *allocator, uint8_t priority = 0)
{
    SetAllocator(kCPU, allocator, priority);
}
inline Allocator *GetDefaultMobileCPUAllocator()
{
    return GetDefaultCPUAllocator();
}
template <DeviceType type> struct AllocatorRegisterer {
    explicit AllocatorRegisterer(Allocator *allocator)
    {
        SetAllocator(type, allocator);
    }
};
#define REGISTER_ALLOCATOR(type, allocator)                                                                            \
    namespace                                                                                                          \
    {                                                                                                                  \
    static c10::AllocatorRegisterer<type> g_allocator_d(allocator);                                                    \
    }

using MemoryDeleter = void (*)(void *);
inline void NoDelete(void *)
{
}

} // namespace c10

namespace at
{
using c10::Allocator;
using c10::DataPtr;
using c10::DeleterFnPtr;
inline Allocator *getCPUAllocator()
{
    return c10::GetCPUAllocator();
}
} // namespace at

#endif
