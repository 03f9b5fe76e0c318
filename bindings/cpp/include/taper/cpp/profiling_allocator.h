/* SPDX-License-Identifier: BSD-2-Clause */
// c10::CPUProfilingAllocator: records the allocations of a thread, plans addresses for them, and serves later
// allocations from the plan. Modules plan the memory of their runs without this allocator. This allocator records only
// allocations of their first runs, and of runs with new sizes.
#ifndef TAPER_CPP_PROFILING_ALLOCATOR_H
#define TAPER_CPP_PROFILING_ALLOCATOR_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <taper/cpp/error.h>
#include <taper/cpp/thread_allocator.h>

namespace c10
{

// Allocations in order: the size of each, and the number of allocations made before it was freed.
class AllocationPlan
{
  public:
    static constexpr uint64_t STAYS = UINT64_MAX; // lifetime of an allocation that was not freed; it is not planned
    struct Allocation {
        uint64_t size, lifetime, offset;
    };
    std::vector<Allocation> allocations;
    uint64_t total_size = 0;

    void clear()
    {
        allocations.clear();
        total_size = 0;
    }
    // Plans offsets, largest allocations first. Each gets the lowest offset that is free during its lifetime.
    void place()
    {
        std::vector<size_t> order, beside;
        for (size_t i = 0; i < allocations.size(); i++) {
            if (allocations[i].lifetime != STAYS) {
                order.push_back(i);
            }
        }
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return allocations[a].size > allocations[b].size; });
        total_size = 0;
        for (size_t placed = 0; placed < order.size(); placed++) {
            Allocation &each = allocations[order[placed]];
            beside.clear();
            for (size_t i = 0; i < placed; i++) {
                const size_t other = order[i];
                if (other < each.lifetime && order[placed] < allocations[other].lifetime) {
                    beside.push_back(other);
                }
            }
            std::sort(beside.begin(), beside.end(),
                      [&](size_t a, size_t b) { return allocations[a].offset < allocations[b].offset; });
            each.offset = 0;
            for (size_t other : beside) {
                if (each.offset + extent(each) <= allocations[other].offset) {
                    break;
                }
                each.offset = std::max(each.offset, allocations[other].offset + extent(allocations[other]));
            }
            total_size = std::max(total_size, each.offset + extent(each));
        }
    }

  private:
    static uint64_t extent(const Allocation &allocation)
    {
        return (allocation.size + 63) / 64 * 64;
    }
};

} // namespace c10

namespace taper
{
namespace cpp
{

// The allocator that serves one guard. It exists until its last block is freed, which may be after the guard ends.
class PlannedAllocator
{
  public:
    // plan: the expected allocations and their offsets; nullptr to record allocations.
    static PlannedAllocator *make(const c10::AllocationPlan *plan, bool placed)
    {
        return new PlannedAllocator(plan, placed);
    }
    const GuardedAllocator *guarded() const
    {
        return &guarded_;
    }
    // Ends the guard. Writes the recorded allocations to `seen`, unless it is nullptr. Returns true if they match the
    // plan.
    bool end(c10::AllocationPlan *seen)
    {
        bool same;
        {
            const std::lock_guard<std::mutex> guard(lock_);
            open_ = false;
            same = !failed_ && (!expects_ || as_expected());
            if (seen != nullptr) {
                seen->allocations.swap(seen_);
                seen->total_size = 0;
            }
        }
        forget();
        return same;
    }

  private:
    PlannedAllocator(const c10::AllocationPlan *plan, bool placed) : expects_(plan != nullptr)
    {
        if (plan != nullptr) {
            expected_ = plan->allocations;
        }
        if (placed && plan != nullptr && plan->total_size != 0) {
            memory_.reset(new char[plan->total_size + 64]);
            begin_ = memory_.get() + (64 - reinterpret_cast<uintptr_t>(memory_.get()) % 64);
            size_ = plan->total_size;
        }
        guarded_ = {{this, reallocate}, nullptr, nullptr};
    }
    bool as_expected() const
    {
        const auto same = [](const c10::AllocationPlan::Allocation &a, const c10::AllocationPlan::Allocation &b) {
            return a.size == b.size && a.lifetime == b.lifetime;
        };
        return seen_.size() == expected_.size() && std::equal(seen_.begin(), seen_.end(), expected_.begin(), same);
    }
    bool is_inside(const void *block) const
    {
        const char *at = static_cast<const char *>(block);
        return begin_ != nullptr && at >= begin_ && at < begin_ + size_;
    }
    // Returns the planned address of the next allocation. Returns nullptr if no address was planned or the address is
    // still in use.
    void *place(size_t size) const
    {
        const size_t next = seen_.size();
        if (begin_ == nullptr || next >= expected_.size() || expected_[next].size != size ||
            expected_[next].lifetime == c10::AllocationPlan::STAYS) {
            return nullptr;
        }
        char *const from = begin_ + expected_[next].offset;
        for (const auto &block : live_) {
            const char *other = static_cast<const char *>(block.first);
            if (is_inside(other) && other < from + size && from < other + block.second.size) {
                return nullptr;
            }
        }
        return from;
    }
    void *allocate(size_t size)
    {
        void *block = nullptr;
        {
            const std::lock_guard<std::mutex> guard(lock_);
            block = open_ ? place(size) : nullptr;
            const bool inside = block != nullptr;
            if (!inside && (block = std::malloc(size)) == nullptr) {
                return nullptr;
            }
            try {
                live_[block] = {size, seen_.size()};
                if (open_) {
                    seen_.push_back({size, c10::AllocationPlan::STAYS, 0});
                }
            } catch (const std::bad_alloc &) {
                live_.erase(block);
                failed_ = true;
                if (!inside) {
                    std::free(block);
                }
                return nullptr;
            }
            users_++;
        }
        return block;
    }
    void free(void *block)
    {
        {
            const std::lock_guard<std::mutex> guard(lock_);
            const auto found = live_.find(block);
            if (found->second.number < seen_.size() && open_) {
                seen_[found->second.number].lifetime = seen_.size();
            }
            live_.erase(found);
        }
        if (!is_inside(block)) {
            std::free(block);
        }
        forget();
    }
    void forget()
    {
        bool last;
        {
            const std::lock_guard<std::mutex> guard(lock_);
            last = --users_ == 0;
        }
        if (last) {
            delete this;
        }
    }
    // The library calls this function from C, so it must not throw.
    static void *reallocate(void *user, void *block, size_t old_size, size_t new_size) noexcept
    {
        PlannedAllocator *self = static_cast<PlannedAllocator *>(user);
        void *made = new_size != 0 ? self->allocate(new_size) : nullptr;
        if (block != nullptr && (made != nullptr || new_size == 0)) {
            if (made != nullptr) {
                std::memcpy(made, block, std::min(old_size, new_size));
            }
            self->free(block);
        }
        return made;
    }

    struct Block {
        size_t size, number;
    };
    GuardedAllocator guarded_;
    std::mutex lock_;
    size_t users_ = 1; // number of blocks in use, plus 1 for the guard
    bool expects_, open_ = true, failed_ = false;
    std::vector<c10::AllocationPlan::Allocation> seen_, expected_;
    std::map<void *, Block> live_;
    std::unique_ptr<char[]> memory_;
    char *begin_ = nullptr;
    size_t size_ = 0;
};

} // namespace cpp
} // namespace taper

namespace c10
{

// Records the allocations of this thread and plans them.
class WithProfileAllocationsGuard
{
  public:
    explicit WithProfileAllocationsGuard(AllocationPlan *plan)
        : plan_(plan), allocator_(taper::cpp::PlannedAllocator::make(nullptr, false)), guard_(allocator_->guarded())
    {
        plan_->clear();
    }
    ~WithProfileAllocationsGuard()
    {
        allocator_->end(plan_);
        try {
            plan_->place();
        } catch (const std::bad_alloc &) {
            plan_->clear();
        }
    }

  private:
    AllocationPlan *plan_;
    taper::cpp::PlannedAllocator *allocator_;
    taper::cpp::AllocatorGuard guard_;
};

// Sets *success to true if this thread allocates and frees as planned.
class WithValidateAllocationPlanGuard
{
  public:
    WithValidateAllocationPlanGuard(AllocationPlan *plan, bool *success)
        : success_(success), allocator_(taper::cpp::PlannedAllocator::make(plan, false)), guard_(allocator_->guarded())
    {
        *success_ = false;
    }
    ~WithValidateAllocationPlanGuard()
    {
        *success_ = allocator_->end(nullptr);
    }

  private:
    bool *success_;
    taper::cpp::PlannedAllocator *allocator_;
    taper::cpp::AllocatorGuard guard_;
};

// Serves allocations under a guard from one block, as planned. Other allocations get memory of their own; in PyTorch
// they are an error.
class CPUProfilingAllocator
{
};
class WithProfilingAllocatorGuard
{
  public:
    WithProfilingAllocatorGuard(CPUProfilingAllocator *, const AllocationPlan *plan)
        : allocator_(taper::cpp::PlannedAllocator::make(plan, true)), guard_(allocator_->guarded())
    {
    }
    ~WithProfilingAllocatorGuard()
    {
        allocator_->end(nullptr);
    }

  private:
    taper::cpp::PlannedAllocator *allocator_;
    taper::cpp::AllocatorGuard guard_;
};

} // namespace c10

#endif
