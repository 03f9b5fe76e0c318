// SPDX-License-Identifier: BSD-2-Clause
// Charges the budget of a load (base/budget.h). The functions are inline because every block and every node calls them.
#ifndef TAPER_BASE_CHARGE_H
#define TAPER_BASE_CHARGE_H

#include "base/atomic.h"
#include "base/status.h"

typedef struct taper_budget_steps {
    _Atomic(uint64_t) left; // steps left; 0 after a refusal, UINT64_MAX after taper_budget_end
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
        atomic_store_explicit(&budget->left, left - steps,
                              // an atomic exchange is not needed, because only one thread loads a model
                              memory_order_relaxed);
    }
    return true;
}

// Charges steps to the allocator's budget. Returns false if the budget is spent. Always returns true if the allocator
// has no budget, or after taper_budget_end.
static inline bool taper_spend(const taper_allocator *allocator, uint64_t steps)
{
    return allocator->reallocate != taper_budget_reallocate || taper_spend_steps(allocator->user, steps);
}
// Does what taper_spend does. If the budget is spent, fails with the text of taper_budget_explain.
TAPER_MUST_USE taper_status taper_charge(const taper_allocator *allocator, uint64_t steps, taper_error *error);

void taper_allocator_hold(const taper_allocator *allocator);
// Releases a reference to the allocator's budget. The last reference frees the budget. Does nothing if the allocator
// has no budget.
void taper_allocator_let_go(const taper_allocator *allocator);

#endif
