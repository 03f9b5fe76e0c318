// SPDX-License-Identifier: BSD-2-Clause
// The limits of a load: bytes allocated and steps of work. Neither is a time, so every machine accepts the same files.
// One budget serves the whole load, because every part of the load uses the budget's allocator. The allocator counts
// each block. Code that works without allocating (walkers of values, searches, inflating, lowering, folding, operators
// of __setstate__) charges steps. A step is a few nanoseconds of simple work. After a limit is reached, every further
// charge and every further block is refused. The load then returns from any depth, and taper_budget_explain replaces
// the error with one line that says which limit was reached and how to raise it.
//
// An object that uses a budget's allocator after the load (a heap, a type) takes a reference (taper_allocator_hold).
// The last reference frees the budget. After taper_budget_end the allocator counts nothing and passes each call to the
// allocator below it.
#ifndef TAPER_BASE_BUDGET_H
#define TAPER_BASE_BUDGET_H

#include "base/charge.h"
#include "base/memory.h"

typedef struct taper_budget taper_budget;

// Creates a budget. bytes, steps: the limits; 0 means the default for a file of file_bytes. allocator: the allocator
// that provides the blocks; the budget copies this struct.
TAPER_MUST_USE taper_status taper_budget_create(const taper_allocator *allocator, uint64_t file_bytes, uint64_t bytes,
                                                uint64_t steps, taper_budget **budget, taper_error *error);
void taper_budget_release(taper_budget *budget);
const taper_allocator *taper_budget_allocator(taper_budget *budget);
// From this call on, nothing is counted or refused.
void taper_budget_end(taper_budget *budget);
// If the budget has refused something, replaces the error by a message about the limit that was reached, and returns
// that message's status. Otherwise returns `status`. `budget` may be NULL.
taper_status taper_budget_explain(const taper_budget *budget, taper_status status, taper_error *error);

// Returns the budget that created this allocator, or NULL if no budget did.
taper_budget *taper_budget_of(const taper_allocator *allocator);

#endif
