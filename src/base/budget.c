// SPDX-License-Identifier: BSD-2-Clause
#include "base/budget.h"

#include "base/atomic.h"
#include "base/limits.h"

struct taper_budget {
    taper_refs refs;
    taper_allocator own; // hands out blocks of inner, and counts them
    taper_allocator inner;
    uint64_t file_bytes, byte_limit, step_limit;
    _Atomic(uint64_t) bytes, peak, steps; // other threads may free what a draft gave out
    atomic_bool ended;
    atomic_uint refused; // bits of refusal
};

enum refusal { BYTES = 1, STEPS = 2 };

enum { STEPS_A_BLOCK = 40, BYTES_A_STEP = 4 };

static uint64_t saturated(uint64_t base, uint64_t factor, uint64_t size)
{
    uint64_t product, sum;
    return __builtin_mul_overflow(factor, size, &product) || __builtin_add_overflow(base, product, &sum) ? UINT64_MAX
                                                                                                         : sum;
}

static bool refuse(taper_budget *budget, enum refusal why)
{
    atomic_fetch_or_explicit(&budget->refused, why, memory_order_relaxed);
    return false;
}

static bool spend(taper_budget *budget, uint64_t steps)
{
    if (atomic_load_explicit(&budget->ended, memory_order_relaxed)) {
        return true;
    }
    const uint64_t before = atomic_load_explicit(&budget->steps, memory_order_relaxed);
    if (atomic_load_explicit(&budget->refused, memory_order_relaxed) != 0) {
        return false;
    }
    if (steps > budget->step_limit - before) {
        return refuse(budget, STEPS);
    }
    atomic_store_explicit(&budget->steps, before + steps, memory_order_relaxed); // one thread works
    return true;
}

static void *reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    taper_budget *budget = user;
    if (atomic_load_explicit(&budget->ended, memory_order_relaxed)) {
        return budget->inner.reallocate(budget->inner.user, ptr, old_size, new_size);
    }
    if (new_size > old_size) {
        const uint64_t more = new_size - old_size;
        const uint64_t held = atomic_load_explicit(&budget->bytes, memory_order_relaxed);
        if (!spend(budget, STEPS_A_BLOCK + new_size / BYTES_A_STEP)) {
            return NULL;
        }
        if (held > budget->byte_limit || more > budget->byte_limit - held) {
            (void)refuse(budget, BYTES);
            return NULL;
        }
    }
    void *block = budget->inner.reallocate(budget->inner.user, ptr, old_size, new_size);
    if (block == NULL && new_size != 0) {
        return NULL;
    }
    const uint64_t held =
        atomic_fetch_add_explicit(&budget->bytes, (uint64_t)new_size - (uint64_t)old_size, memory_order_relaxed) +
        ((uint64_t)new_size - (uint64_t)old_size);
    if (new_size > old_size && held > atomic_load_explicit(&budget->peak, memory_order_relaxed)) {
        atomic_store_explicit(&budget->peak, held, memory_order_relaxed);
    }
    return block;
}

taper_status taper_budget_create(const taper_allocator *allocator, uint64_t file_bytes, uint64_t bytes, uint64_t steps,
                                 taper_budget **budget, taper_error *error)
{
    taper_budget *b = taper_alloc_zeroed(allocator, sizeof *b);
    *budget = b;
    if (b == NULL) {
        return taper_fail_memory(error);
    }
    taper_refs_init(&b->refs);
    b->own = (taper_allocator){.user = b, .reallocate = reallocate};
    b->inner = *allocator;
    b->file_bytes = file_bytes;
    b->byte_limit = bytes != 0 ? bytes : saturated(TAPER_LOAD_BYTES, TAPER_LOAD_BYTES_A_BYTE, file_bytes);
    b->step_limit = steps != 0 ? steps : saturated(TAPER_LOAD_STEPS, TAPER_LOAD_STEPS_A_BYTE, file_bytes);
    atomic_init(&b->bytes, 0);
    atomic_init(&b->peak, 0);
    atomic_init(&b->steps, 0);
    atomic_init(&b->ended, false);
    atomic_init(&b->refused, 0u);
    taper_allocator_hold(&b->inner);
    return TAPER_OK;
}

void taper_budget_release(taper_budget *budget)
{
    if (budget != NULL && taper_refs_drop(&budget->refs)) {
        const taper_allocator inner = budget->inner;
        taper_free(&inner, budget, sizeof *budget);
        taper_allocator_let_go(&inner);
    }
}

const taper_allocator *taper_budget_allocator(taper_budget *budget)
{
    return &budget->own;
}

void taper_budget_end(taper_budget *budget)
{
    atomic_store_explicit(&budget->ended, true, memory_order_relaxed);
}

taper_status taper_budget_explain(const taper_budget *budget, taper_status status, taper_error *error)
{
    const unsigned refused = budget != NULL ? atomic_load_explicit(&budget->refused, memory_order_relaxed) : 0;
    if (status == TAPER_OK || refused == 0) {
        return status;
    }
    if ((refused & BYTES) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE,
                   "loading needs more than the %llu MB of memory that a file of %llu bytes may take; "
                   "taper_load_options.memory_limit or --load-memory MB raises the limit",
                   (unsigned long long)(budget->byte_limit >> 20), (unsigned long long)budget->file_bytes);
    }
    TAPER_FAIL(error, TAPER_ERROR_RESOURCE,
               "loading takes more than the %llu million steps that a file of %llu bytes may; "
               "taper_load_options.step_limit or --load-steps MILLIONS raises the limit",
               (unsigned long long)(budget->step_limit / 1000000), (unsigned long long)budget->file_bytes);
}

uint64_t taper_budget_steps(const taper_budget *budget)
{
    return atomic_load_explicit(&((taper_budget *)(uintptr_t)budget)->steps, memory_order_relaxed);
}

uint64_t taper_budget_peak(const taper_budget *budget)
{
    return atomic_load_explicit(&((taper_budget *)(uintptr_t)budget)->peak, memory_order_relaxed);
}

taper_budget *taper_budget_of(const taper_allocator *allocator)
{
    return allocator->reallocate == reallocate ? allocator->user : NULL;
}

bool taper_spend(const taper_allocator *allocator, uint64_t steps)
{
    taper_budget *budget = taper_budget_of(allocator);
    return budget == NULL || spend(budget, steps);
}

taper_status taper_charge(const taper_allocator *allocator, uint64_t steps, taper_error *error)
{
    taper_budget *budget = taper_budget_of(allocator);
    if (budget == NULL || spend(budget, steps)) {
        return TAPER_OK;
    }
    return taper_budget_explain(budget, TAPER_ERROR_RESOURCE, error);
}

void taper_allocator_hold(const taper_allocator *allocator)
{
    taper_budget *budget = taper_budget_of(allocator);
    if (budget != NULL) {
        taper_refs_add(&budget->refs);
    }
}

void taper_allocator_let_go(const taper_allocator *allocator)
{
    taper_budget_release(taper_budget_of(allocator));
}
