// SPDX-License-Identifier: BSD-2-Clause
// Part of sort_order.c: entries with a key of 32 bits and a position of 32 bits.
#ifndef TAPER_OPS_ENGINE_SORT_NARROW_H
#define TAPER_OPS_ENGINE_SORT_NARROW_H

enum { SORTS_NARROW = 1 };
#define ENTRY uint64_t
#define KEY(entry) ((entry) >> 32)
#define AT(entry) ((size_t)((entry)&UINT32_MAX))
#define BEFORE(a, b) ((a) >> 32 < (b) >> 32)
#define NAME(function) function##_narrow
#include "ops/engine/sort_order.inc"
#undef ENTRY
#undef KEY
#undef AT
#undef BEFORE
#undef NAME
#define BY_WIDTH(function, ...)                                                                                        \
    (line->narrow ? function##_narrow(line->run, line->entries, __VA_ARGS__)                                           \
                  : function##_wide(line->run, line->entries, __VA_ARGS__))

// Writes a 32-bit key for each float. A flip of -1 makes the order descending.
static void keys_of_floats(int32_t *to, const float *x, size_t n, int32_t flip)
{
    for (size_t k = 0; k < n; k++) {
        to[k] = taper_key_of_f32(x[k]) ^ flip;
    }
}

// Writes the low 32 bits of each integer as its key. Returns false if an integer does not fit into 32 bits.
static bool keys_of_integers(int32_t *to, const int64_t *x, size_t n, int32_t flip)
{
    uint64_t above = 0;
    for (size_t k = 0; k < n; k++) {
        above |= (uint64_t)x[k] + ((uint64_t)1 << 31);
        to[k] = (int32_t)(uint32_t)(uint64_t)x[k] ^ flip;
    }
    return above >> 32 == 0;
}

static inline uint64_t narrow_entry(int32_t key, size_t at)
{
    return (uint64_t)((uint32_t)key ^ (uint32_t)1 << 31) << 32 | at;
}

// Offers n more keys, of the elements from `at` on, to a heap of the `count` smallest entries. Groups of keys that are
// all too large are the common case, so they are skipped together.
static void offer(taper_run *run, uint64_t *heap, size_t count, const int32_t *keys, size_t at, size_t n)
{
    enum { TOGETHER = 16 };
    for (size_t i = 0; i < n;) {
        const int32_t top = (int32_t)((uint32_t)(heap[0] >> 32) ^ (uint32_t)1 << 31);
        if (i + TOGETHER <= n && at + i >= TOGETHER * count) {
            int32_t any = 0;
            TAPER_NO_UNROLL
            for (size_t k = 0; k < TOGETHER; k++) {
                any |= keys[i + k] < top ? -1 : 0;
            }
            if (any == 0) {
                i += TOGETHER;
                continue;
            }
        }
        const size_t end = taper_min_size(n, i + TOGETHER);
        for (; i < end && keys[i] >= top; i++) {
        }
        if (i < end) {
            sift_narrow(heap, 0, count, narrow_entry(keys[i], at + i));
            i++;
        }
    }
    (void)taper_run_goes_on(run, n);
}

// Reads m elements, which follow the first `at` elements of the line. Returns false if an element does not fit into a
// narrow entry.
static bool read_narrow(taper_sort_line *line, const void *x, size_t m, size_t at, bool single, bool down, size_t first)
{
    int32_t keys[BLOCK];
    uint64_t *const to = line->entries;
    if (single) {
        keys_of_floats(keys, x, m, down ? -1 : 0);
    } else if (!keys_of_integers(keys, x, m, down ? -1 : 0)) {
        return false;
    }
    if (first != 0 && at >= first) {
        offer(line->run, to, first, keys, at, m);
        return true;
    }
    for (size_t k = 0; k < m; k++) {
        to[at + k] = narrow_entry(keys[k], at + k);
    }
    if (first != 0 && at + m == first) {
        heap_select_narrow(line->run, to, first, first);
    }
    return true;
}

static void sort_heap(taper_sort_line *line, size_t count)
{
    from_heap_narrow(line->run, line->entries, count);
}

#endif
