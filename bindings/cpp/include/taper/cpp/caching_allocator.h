/* SPDX-License-Identifier: BSD-2-Clause */
// c10::CPUCachingAllocator: keeps the memory of finished runs for the next run.
#ifndef TAPER_CPP_CACHING_ALLOCATOR_H
#define TAPER_CPP_CACHING_ALLOCATOR_H

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <taper/cpp/module.h>
#include <taper/taper_memory.h>

namespace c10
{

// Serves the allocations of threads with a guard of this allocator. Modules keep the memory that their runs need.
// Memory that they free, because sizes changed or they are destroyed, is cached here. Any number of threads may use one
// allocator.
class CPUCachingAllocator
{
  public:
    CPUCachingAllocator()
    {
        taper::cpp::ErrorScope error;
        error.check(taper_caching_allocator_create(nullptr, 0, &caching_, error));
        guarded_ = {*taper_caching_allocator_get(caching_), ran, this};
    }
    // Blocks that are still in use are freed when they are returned.
    virtual ~CPUCachingAllocator()
    {
        trim_models();
        for (const auto &block : blocks_) {
            give_back(block.second);
        }
        taper_caching_allocator_release(caching_);
    }
    CPUCachingAllocator(const CPUCachingAllocator &) = delete;
    CPUCachingAllocator &operator=(const CPUCachingAllocator &) = delete;

    // Frees the cached blocks, and the memory that modules keep for their next runs, except modules that are running.
    void free_cached()
    {
        trim_models();
        taper_caching_allocator_trim(caching_);
    }

    // Allocates a block for the app itself, aligned to 64 bytes.
    virtual void *allocate(size_t bytes)
    {
        constexpr size_t alignment = 64;
        const taper_allocator &from = guarded_.allocator;
        if (bytes > static_cast<size_t>(-1) - alignment) {
            throw Error(str("out of memory: ", bytes, " bytes"));
        }
        const size_t all = bytes + alignment;
        char *begin = static_cast<char *>(from.reallocate(from.user, nullptr, 0, all));
        if (begin == nullptr) {
            throw Error(str("out of memory: ", bytes, " bytes"));
        }
        char *block = begin + alignment - reinterpret_cast<uintptr_t>(begin) % alignment;
        try {
            const std::lock_guard<std::mutex> guard(lock_);
            blocks_[block] = {begin, all};
        } catch (...) {
            from.reallocate(from.user, begin, all, 0);
            throw;
        }
        return block;
    }
    virtual void free(void *block)
    {
        if (block == nullptr) {
            return;
        }
        Block found;
        {
            const std::lock_guard<std::mutex> guard(lock_);
            const auto at = blocks_.find(block);
            if (at == blocks_.end()) {
                throw Error("the block is not one of this allocator");
            }
            found = at->second;
            blocks_.erase(at);
        }
        give_back(found);
    }

    const taper::cpp::GuardedAllocator &guarded() const
    {
        return guarded_;
    }

  private:
    struct Block {
        char *begin;
        size_t size;
    };
    void give_back(const Block &block)
    {
        guarded_.allocator.reallocate(guarded_.allocator.user, block.begin, block.size, 0);
    }

    // A module calls this function before it runs under a guard of this allocator.
    static void ran(void *user, const std::shared_ptr<taper::cpp::LoadedModel> &model)
    {
        CPUCachingAllocator *self = static_cast<CPUCachingAllocator *>(user);
        const std::lock_guard<std::mutex> guard(self->lock_);
        std::weak_ptr<taper::cpp::LoadedModel> &kept = self->models_[model.get()];
        if (kept.expired()) { // the module is new, or an earlier module at this address is gone
            kept = model;
            for (auto at = self->models_.begin(); at != self->models_.end();) {
                at = at->second.expired() ? self->models_.erase(at) : std::next(at);
            }
        }
    }
    void trim_models()
    {
        std::vector<std::shared_ptr<taper::cpp::LoadedModel>> alive; // releases last references outside the lock
        {
            const std::lock_guard<std::mutex> guard(lock_);
            for (auto &each : models_) {
                if (std::shared_ptr<taper::cpp::LoadedModel> model = each.second.lock()) {
                    alive.push_back(std::move(model));
                }
            }
        }
        for (const std::shared_ptr<taper::cpp::LoadedModel> &model : alive) {
            model->trim();
        }
        taper_context_trim(taper::cpp::context());
    }

    taper_caching_allocator *caching_ = nullptr;
    taper::cpp::GuardedAllocator guarded_;
    std::mutex lock_;
    std::unordered_map<const void *, Block> blocks_;
    std::unordered_map<const void *, std::weak_ptr<taper::cpp::LoadedModel>> models_;
};

// Makes the allocator serve this thread's allocations. The allocator must outlive the guard; guards of one thread nest.
class WithCPUCachingAllocatorGuard
{
  public:
    explicit WithCPUCachingAllocatorGuard(CPUCachingAllocator *allocator)
        : guard_(allocator != nullptr ? &allocator->guarded() : nullptr)
    {
    }

  private:
    taper::cpp::AllocatorGuard guard_;
};

} // namespace c10

namespace at
{
using c10::CPUCachingAllocator;
using c10::WithCPUCachingAllocatorGuard;
} // namespace at

#endif
