// SPDX-License-Identifier: BSD-2-Clause
// Charging the budget of a load (base/budget.h), which is done for every block and node.
#ifndef TAPER_BASE_CHARGE_H
#define TAPER_BASE_CHARGE_H

#include "base/atomic.h"
#include "base/status.h"

typedef struct taper_budget_steps {
    _Atomic(uint64_t) left; // 0: something was refused; UINT64_MAX: nothing is counted any more
} taper_budget_steps;

void *taper_budget_reallocate(void *budget, void *ptr, size_t old_size, size_t new_size);
TAPER_COLD bool taper_budget_refuse_steps(taper_budget_steps *steps);

static inline bool taper_spend_steps(taper_budget_steps *budget, uint64_t steps)
{
    const uint64_t left = atomic_load_explicit(&budget->left, memory_order_relaxed);
    if (left <= steps) {
        return taper_budget_refuse_steps(budget);
    }
    if (left != UINT64_MAX) {
        atomic_store_explicit(&budget->left, left - steps, memory_order_relaxed); // one thread works
    }
    return true;
}

// Charges steps to the allocator's budget. False: it is spent. Without a budget, or after its end, always true.
static inline bool taper_spend(const taper_allocator *allocator, uint64_t steps)
{
    return allocator->reallocate != taper_budget_reallocate || taper_spend_steps(allocator->user, steps);
}
// The same as a status.
TAPER_MUST_USE taper_status taper_charge(const taper_allocator *allocator, uint64_t steps, taper_error *error);

void taper_allocator_hold(const taper_allocator *allocator);
void taper_allocator_let_go(const taper_allocator *allocator); // its budget may be gone after this

#endif
