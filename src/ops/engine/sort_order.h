// SPDX-License-Identifier: BSD-2-Clause
// Sorting and selecting the elements of a line by their keys: integers that order as the elements do, ascending. Stable
// orders are found digit by digit. Elsewhere PyTorch uses the C++ library's sort, nth_element and partial_sort, and
// which of several equal elements comes first is theirs to say: so these are the introsort, introselect and heap of
// libstdc++, step by step, where there are equal ones.
#ifndef TAPER_OPS_SORT_ORDER_H
#define TAPER_OPS_SORT_ORDER_H

#include "ops/engine/elementwise.h"

// The bits of a float in the order of its number: the larger a negative one's magnitude, the smaller; 0 of both signs.
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

// Entries are narrow where keys have 32 bits: one word, the key above the position. Builds for size have none.
typedef struct taper_sort_line {
    taper_run *run;
    size_t n;
    bool narrow, floats;
    void *entries, *spare; // `most` each, one block; they may change places
    void *block;
    size_t most, bytes;
    taper_ew_block elements, temp;
} taper_sort_line;

// For lines of at most so many elements.
TAPER_MUST_USE taper_status taper_sort_open(taper_sort_line *line, taper_run *run, size_t most);
void taper_sort_close(taper_sort_line *line);
// Reads n elements of a real dtype, step bytes apart. NaN counts as the largest number; down: the largest comes first.
// Fails when the run is to end.
TAPER_MUST_USE taper_status taper_sort_read(taper_sort_line *line, taper_dtype dtype, const void *from, int64_t step,
                                            size_t n, bool down);
// Of which the first `count` entries, 1 or more, are as in a sorted line, equal ones anywhere; the others are not
// there.
TAPER_MUST_USE taper_status taper_sort_read_first(taper_sort_line *line, taper_dtype dtype, const void *from,
                                                  int64_t step, size_t n, bool down, size_t count);
static inline taper_status taper_sort_read_keys(taper_sort_line *line, const int64_t *keys, size_t n)
{
    return taper_sort_read(line, TAPER_I64, keys, sizeof *keys, n, false);
}

// The position of entry i, where the line's element was.
static inline int64_t taper_sort_at(const taper_sort_line *line, size_t i)
{
    return line->narrow ? (int64_t)(((const uint64_t *)line->entries)[i] & UINT32_MAX)
                        : ((const taper_sort_entry *)line->entries)[i].at;
}
// Whether entries i and j have one key.
bool taper_sort_same(const taper_sort_line *line, size_t i, size_t j);
// Of a line that goes up.
bool taper_sort_is_nan(const taper_sort_line *line, size_t i);

void taper_sort_stably(taper_sort_line *line);
// The first n entries; equal ones stand anywhere, as in all that follow.
void taper_sort_all(taper_sort_line *line, size_t n);
// Entry nth becomes what it is in a sorted line, with smaller ones before it.
void taper_sort_nth(taper_sort_line *line, size_t nth);
// As taper_sort_nth, by the Hoare partition that PyTorch's kthvalue has of its own.
void taper_sort_kth(taper_sort_line *line, size_t k);
// The position of the element that would stand at k in a stable order; the entries are lost.
int64_t taper_sort_pick(taper_sort_line *line, size_t k);

#endif
