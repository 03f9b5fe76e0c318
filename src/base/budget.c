// SPDX-License-Identifier: BSD-2-Clause
// Counts the bytes and steps of a load and ends a load that needs too many.
#include "base/budget.h"

#include "base/atomic.h"
#include "base/limits.h"

struct taper_budget {
    taper_budget_steps steps; // first member, because taper_spend casts the budget to it
    // Only one thread loads a model. bytes_left and the next members are therefore loaded and stored without atomic
    // read-modify-write operations, which would be slower. If another thread frees a block of a draft at the same
    // moment, the size of that block is not counted.
    _Atomic(uint64_t) bytes_left;
    atomic_bool ended;
    atomic_uint refused; // reasons of all refusals, as bits of enum refusal
    taper_refs refs;
    taper_allocator own; // allocator that allocates from `inner` and counts the bytes
    taper_allocator inner;
    uint64_t file_bytes, byte_limit, step_limit;
};

enum refusal { BYTES = 1, STEPS = 2 };

enum { STEPS_A_BLOCK = 40, BYTES_A_STEP = 4 };

static uint64_t saturated(uint64_t base, uint64_t factor, uint64_t size)
{
    uint64_t product, sum;
    return __builtin_mul_overflow(factor, size, &product) || __builtin_add_overflow(base, product, &sum) ? INT64_MAX
                                                                                                         : sum;
}

// Sets the number of steps that are left to 0, so that every further charge fails too.
static TAPER_COLD bool refuse(taper_budget *budget, enum refusal why)
{
    if (atomic_load_explicit(&budget->refused, memory_order_relaxed) == 0) {
        atomic_store_explicit(&budget->refused, why, memory_order_relaxed);
    }
    atomic_store_explicit(&budget->steps.left, 0, memory_order_relaxed);
    return false;
}

bool taper_budget_refuse_steps(taper_budget_steps *steps)
{
    return refuse((taper_budget *)steps, STEPS);
}

void *taper_budget_reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    taper_budget *budget = user;
    if (atomic_load_explicit(&budget->ended, memory_order_relaxed)) {
        return budget->inner.reallocate(budget->inner.user, ptr, old_size, new_size);
    }
    if (new_size > old_size) {
        if (!taper_spend_steps(&budget->steps, STEPS_A_BLOCK + new_size / BYTES_A_STEP)) {
            return NULL;
        }
        if (new_size - old_size > atomic_load_explicit(&budget->bytes_left, memory_order_relaxed)) {
            (void)refuse(budget, BYTES);
            return NULL;
        }
    }
    void *block = budget->inner.reallocate(budget->inner.user, ptr, old_size, new_size);
    if (block != NULL || new_size == 0) {
        const uint64_t left = atomic_load_explicit(&budget->bytes_left, memory_order_relaxed);
        atomic_store_explicit(&budget->bytes_left, left + old_size - new_size, memory_order_relaxed);
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
    b->own = (taper_allocator){.user = b, .reallocate = taper_budget_reallocate};
    b->inner = *allocator;
    b->file_bytes = file_bytes;
    b->byte_limit = bytes != 0 ? bytes : saturated(TAPER_LOAD_BYTES, TAPER_LOAD_BYTES_A_BYTE, file_bytes);
    b->step_limit = steps != 0 ? steps : saturated(TAPER_LOAD_STEPS, TAPER_LOAD_STEPS_A_BYTE, file_bytes);
    atomic_init(&b->bytes_left, b->byte_limit);
    atomic_init(&b->steps.left, b->step_limit);
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
    atomic_store_explicit(&budget->steps.left, UINT64_MAX, memory_order_relaxed);
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

taper_budget *taper_budget_of(const taper_allocator *allocator)
{
    return allocator->reallocate == taper_budget_reallocate ? allocator->user : NULL;
}

taper_status taper_charge(const taper_allocator *allocator, uint64_t steps, taper_error *error)
{
    return taper_spend(allocator, steps)
               ? TAPER_OK
               : taper_budget_explain(taper_budget_of(allocator), TAPER_ERROR_RESOURCE, error);
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
