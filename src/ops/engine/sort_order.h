// SPDX-License-Identifier: BSD-2-Clause
// Sorts and selects the elements of a line by keys: integers that sort, ascending, as the elements do. Stable orders
// are computed by a radix sort. For other orders PyTorch calls std::sort, std::nth_element and std::partial_sort, and
// the C++ library decides the order of equal elements. Lines with equal elements therefore follow libstdc++'s
// introsort, introselect and heap step by step.
#ifndef TAPER_OPS_SORT_ORDER_H
#define TAPER_OPS_SORT_ORDER_H

#include "ops/engine/elementwise.h"

// Returns the bits of a float as an integer that sorts like the number. Negative numbers are mirrored, -0 equals 0, and
// NaN is the largest.
#define TAPER_KEY_OF_FLOAT(name, type, integer, least, most)                                                           \
    static inline integer name(type x)                                                                                 \
    {                                                                                                                  \
        integer bits;                                                                                                  \
        memcpy(&bits, &x, sizeof bits);                                                                                \
        return x != x ? (most) : bits >= 0 ? bits : (least)-bits;                                                      \
    }
TAPER_KEY_OF_FLOAT(taper_key_of_f32, float, int32_t, INT32_MIN, INT32_MAX)
TAPER_KEY_OF_FLOAT(taper_key_of_f64, double, int64_t, INT64_MIN, INT64_MAX)

typedef struct taper_sort_entry {
    int64_t key, at;
} taper_sort_entry;

// The entries of a line. Entries are narrow if keys have 32 bits: one 64-bit word, with the key above the position.
// Builds for size have no narrow entries.
typedef struct taper_sort_line {
    taper_run *run;
    size_t n;
    bool narrow, floats;
    void *entries, *spare; // two arrays of `most` entries, in one block; sorting may swap the pointers
    void *block;
    size_t most, bytes;
    taper_ew_block elements, temp;
} taper_sort_line;

// Allocates entries for lines of at most `most` elements. taper_sort_close frees them.
TAPER_MUST_USE taper_status taper_sort_open(taper_sort_line *line, taper_run *run, size_t most);
void taper_sort_close(taper_sort_line *line);
// Reads n elements of a real dtype, `step` bytes apart. NaN is the largest number. With `down` the order is descending.
// Fails if the run must end.
TAPER_MUST_USE taper_status taper_sort_read(taper_sort_line *line, taper_dtype dtype, const void *from, int64_t step,
                                            size_t n, bool down);
// Reads a line, but keeps only the first `count` entries of its order, in any order among equal entries. count is at
// least 1.
TAPER_MUST_USE taper_status taper_sort_read_first(taper_sort_line *line, taper_dtype dtype, const void *from,
                                                  int64_t step, size_t n, bool down, size_t count);
static inline taper_status taper_sort_read_keys(taper_sort_line *line, const int64_t *keys, size_t n)
{
    return taper_sort_read(line, TAPER_I64, keys, sizeof *keys, n, false);
}

// Returns the position of entry i's element in the line.
static inline int64_t taper_sort_at(const taper_sort_line *line, size_t i)
{
    return line->narrow ? (int64_t)(((const uint64_t *)line->entries)[i] & UINT32_MAX)
                        : ((const taper_sort_entry *)line->entries)[i].at;
}
// Returns true if entries i and j have equal keys.
bool taper_sort_same(const taper_sort_line *line, size_t i, size_t j);
// Returns true if entry i is a NaN. The line must have been read in ascending order.
bool taper_sort_is_nan(const taper_sort_line *line, size_t i);

void taper_sort_stably(taper_sort_line *line);
// Sorts the first n entries. Here and in the functions below the order of equal entries is not stable.
void taper_sort_all(taper_sort_line *line, size_t n);
// Moves entry number nth of the sorted order to index nth, with smaller entries before it.
void taper_sort_nth(taper_sort_line *line, size_t nth);
// Does what taper_sort_nth does, by the Hoare partition that PyTorch's kthvalue uses.
void taper_sort_kth(taper_sort_line *line, size_t k);
// Returns the position in the line of the element at index k of the stable order. The entries are destroyed.
int64_t taper_sort_pick(taper_sort_line *line, size_t k);

#endif
