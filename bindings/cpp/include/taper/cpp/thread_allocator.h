/* SPDX-License-Identifier: BSD-2-Clause */
// The library's allocator: uses the allocator of this thread's guard, otherwise the system's.
#ifndef TAPER_CPP_THREAD_ALLOCATOR_H
#define TAPER_CPP_THREAD_ALLOCATOR_H

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <taper/taper.h>

namespace taper
{
namespace cpp
{

class LoadedModel;

// An allocator that may be used under a guard.
struct GuardedAllocator {
    taper_allocator allocator; // may be called from any thread until its last block is freed
    // Called before a module runs in this thread; nullptr if unused.
    void (*ran)(void *user, const std::shared_ptr<LoadedModel> &model);
    void *user;
};

// Returns the allocator of this thread's innermost guard, or nullptr if there is none.
inline const GuardedAllocator *&guarded_allocator()
{
    static thread_local const GuardedAllocator *current = nullptr;
    return current;
}

// Each block is preceded by a pointer to its allocator. The allocator frees the block in any thread, whatever guards
// the thread has.
class ThreadAllocator
{
  public:
    static taper_allocator get()
    {
        return {nullptr, reallocate};
    }

  private:
    struct alignas(std::max_align_t) Origin {
        taper_allocator from;
    };

    static void *reallocate_system(void *, void *block, size_t, size_t new_size) noexcept
    {
        if (new_size == 0) {
            std::free(block);
            return nullptr;
        }
        return std::realloc(block, new_size);
    }
    // The library calls this function from C, so it must not throw.
    static void *reallocate(void *, void *block, size_t old_size, size_t new_size) noexcept
    {
        if (new_size > static_cast<size_t>(-1) - sizeof(Origin)) {
            return nullptr;
        }
        Origin *origin = block != nullptr ? static_cast<Origin *>(block) - 1 : nullptr;
        taper_allocator from = {nullptr, reallocate_system};
        if (origin != nullptr) {
            from = origin->from;
        } else if (const GuardedAllocator *guarded = guarded_allocator()) {
            from = guarded->allocator;
        }
        const size_t old_all = origin != nullptr ? old_size + sizeof(Origin) : 0;
        const size_t new_all = new_size != 0 ? new_size + sizeof(Origin) : 0;
        if (origin == nullptr && new_all == 0) {
            return nullptr;
        }
        void *all = from.reallocate(from.user, origin, old_all, new_all);
        if (all == nullptr) {
            return nullptr;
        }
        origin = static_cast<Origin *>(all);
        origin->from = from;
        return origin + 1;
    }
};

// Sets the allocator of this thread, and restores the previous allocator when destroyed.
class AllocatorGuard
{
  public:
    explicit AllocatorGuard(const GuardedAllocator *allocator) : before_(guarded_allocator())
    {
        guarded_allocator() = allocator;
    }
    ~AllocatorGuard()
    {
        guarded_allocator() = before_;
    }
    AllocatorGuard(const AllocatorGuard &) = delete;
    AllocatorGuard &operator=(const AllocatorGuard &) = delete;

  private:
    const GuardedAllocator *before_;
};

} // namespace cpp
} // namespace taper

#endif
