// SPDX-License-Identifier: BSD-2-Clause
// Sorting and selecting keys with their positions, without keeping the order of equal keys. PyTorch does this with the
// C++ library's sort, nth_element and partial_sort, and which of several equal elements comes first is theirs to say:
// so these are the introsort, introselect and heap of libstdc++, step by step.
#ifndef TAPER_OPS_SORT_ORDER_H
#define TAPER_OPS_SORT_ORDER_H

#include "ops/call/call.h"

typedef struct taper_sort_entry {
    union {
        double f;
        int64_t i;
    } key;
    int64_t at;
} taper_sort_entry;

// NaN counts as the largest number.
typedef enum taper_order { TAPER_UP_F64, TAPER_DOWN_F64, TAPER_UP_I64, TAPER_DOWN_I64 } taper_order;

#define TAPER_BEFORE_UP_F64(a, b) ((a).key.f < (b).key.f || ((b).key.f != (b).key.f && (a).key.f == (a).key.f))
#define TAPER_BEFORE_DOWN_F64(a, b) ((a).key.f > (b).key.f || ((a).key.f != (a).key.f && (b).key.f == (b).key.f))
#define TAPER_BEFORE_UP_I64(a, b) ((a).key.i < (b).key.i)
#define TAPER_BEFORE_DOWN_I64(a, b) ((a).key.i > (b).key.i)

void taper_sort_all(taper_run *run, taper_order order, taper_sort_entry *entries, size_t n);
// entries[nth] becomes what it is in a sorted array, with smaller ones before it.
void taper_sort_nth(taper_run *run, taper_order order, taper_sort_entry *entries, size_t n, size_t nth);
// The first `count` entries become those of a sorted array.
void taper_sort_first(taper_run *run, taper_order order, taper_sort_entry *entries, size_t n, size_t count);
// As taper_sort_nth for an ascending order, by the Hoare partition that PyTorch's kthvalue has of its own.
void taper_sort_kth(taper_run *run, bool whole, taper_sort_entry *entries, size_t n, size_t k);

#endif
