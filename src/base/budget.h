// SPDX-License-Identifier: BSD-2-Clause
// What a load may cost: bytes held and steps of work, never a clock, so that a file is accepted on every machine or on
// none. One budget serves everything that a load does, because everything has the budget's allocator at hand:
// blocks are counted as they are taken, and whoever works without taking blocks (walkers of values, searches,
// inflating, lowering, folding, operators of __setstate__) charges steps. A step is a few nanoseconds of simple work.
// Once either is spent, every further charge and every further block is refused, so the load unwinds wherever it is,
// and taper_budget_explain puts the one line that says which limit it was and how to raise it.
//
// An object that keeps a budget's allocator beyond its load (heaps, types) holds it (taper_allocator_hold): the budget
// lives until all have let go. After taper_budget_end it only forwards.
#ifndef TAPER_BASE_BUDGET_H
#define TAPER_BASE_BUDGET_H

#include "base/charge.h"
#include "base/memory.h"

typedef struct taper_budget taper_budget;

// bytes, steps: 0: what a file of this size may cost by itself. allocator: where blocks come from; copied.
TAPER_MUST_USE taper_status taper_budget_create(const taper_allocator *allocator, uint64_t file_bytes, uint64_t bytes,
                                                uint64_t steps, taper_budget **budget, taper_error *error);
void taper_budget_release(taper_budget *budget);
const taper_allocator *taper_budget_allocator(taper_budget *budget);
// Nothing is counted any more.
void taper_budget_end(taper_budget *budget);
// If something was refused: replaces what error says by the limit, and returns its status; otherwise returns status.
taper_status taper_budget_explain(const taper_budget *budget, taper_status status, taper_error *error);

// The budget behind an allocator; NULL: it has none.
taper_budget *taper_budget_of(const taper_allocator *allocator);

#endif
