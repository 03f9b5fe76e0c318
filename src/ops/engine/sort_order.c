// SPDX-License-Identifier: BSD-2-Clause
// Orders in which equal keys stand as the C++ library would leave them (sort_order.h).
#include "ops/engine/sort_order.h"

static void swap(taper_sort_entry *a, taper_sort_entry *b)
{
    const taper_sort_entry t = *a;
    *a = *b;
    *b = t;
}

static size_t whole_log2(size_t n)
{
    size_t bits = 0;
    while (n > 1) {
        n /= 2;
        bits++;
    }
    return bits;
}

#define BEFORE(a, b) TAPER_BEFORE_UP_F64(a, b)
#define NAME(function) function##_up_f64
#include "ops/engine/sort_order.inc"
#undef BEFORE
#undef NAME
#define BEFORE(a, b) TAPER_BEFORE_DOWN_F64(a, b)
#define NAME(function) function##_down_f64
#include "ops/engine/sort_order.inc"
#undef BEFORE
#undef NAME
#define BEFORE(a, b) TAPER_BEFORE_UP_I64(a, b)
#define NAME(function) function##_up_i64
#include "ops/engine/sort_order.inc"
#undef BEFORE
#undef NAME
#define BEFORE(a, b) TAPER_BEFORE_DOWN_I64(a, b)
#define NAME(function) function##_down_i64
#include "ops/engine/sort_order.inc"
#undef BEFORE
#undef NAME

void taper_sort_all(taper_run *run, taper_order order, taper_sort_entry *entries, size_t n)
{
    static void (*const by_order[])(taper_run *, taper_sort_entry *, size_t) = {all_up_f64, all_down_f64, all_up_i64,
                                                                                all_down_i64};
    by_order[order](run, entries, n);
}

void taper_sort_nth(taper_run *run, taper_order order, taper_sort_entry *entries, size_t n, size_t nth)
{
    static void (*const by_order[])(taper_run *, taper_sort_entry *, size_t, size_t) = {nth_up_f64, nth_down_f64,
                                                                                        nth_up_i64, nth_down_i64};
    by_order[order](run, entries, n, nth);
}

void taper_sort_first(taper_run *run, taper_order order, taper_sort_entry *entries, size_t n, size_t count)
{
    static void (*const by_order[])(taper_run *, taper_sort_entry *, size_t, size_t) = {first_up_f64, first_down_f64,
                                                                                        first_up_i64, first_down_i64};
    by_order[order](run, entries, n, count);
}

static bool above(bool whole, const taper_sort_entry *a, const taper_sort_entry *b)
{
    return whole ? TAPER_BEFORE_DOWN_I64(*a, *b) : TAPER_BEFORE_DOWN_F64(*a, *b);
}

// Hoare's selection. The median of the first, the middle and the last entry of the part that is left becomes its first;
// the second and the last then bound the search from both sides.
void taper_sort_kth(taper_run *run, bool whole, taper_sort_entry *e, size_t n, size_t k)
{
    size_t low = 0, high = n - 1, rounds = 64 + 8 * whole_log2(n);
    while (high > low + 1) {
        if (rounds-- == 0) { // made to take long
            taper_sort_nth(run, whole ? TAPER_UP_I64 : TAPER_UP_F64, e, n, k);
            return;
        }
        if (!taper_run_goes_on(run, 4 * (high - low))) {
            return;
        }
        swap(&e[low + (high - low) / 2], &e[low + 1]);
        if (above(whole, &e[low + 1], &e[high])) {
            swap(&e[low + 1], &e[high]);
        }
        if (above(whole, &e[low], &e[high])) {
            swap(&e[low], &e[high]);
        }
        if (above(whole, &e[low + 1], &e[low])) {
            swap(&e[low + 1], &e[low]);
        }
        size_t i = low + 1, j = high;
        const taper_sort_entry pivot = e[low];
        for (;;) {
            do {
                i++;
            } while (above(whole, &pivot, &e[i]));
            do {
                j--;
            } while (above(whole, &e[j], &pivot));
            if (j < i) {
                break;
            }
            swap(&e[i], &e[j]);
        }
        swap(&e[low], &e[j]);
        const size_t found = j;
        if (found <= k) {
            low = i;
        }
        if (found >= k) {
            high = found == 0 ? 0 : found - 1;
        }
    }
    if (high == low + 1 && above(whole, &e[low], &e[high])) {
        swap(&e[low], &e[high]);
    }
}
