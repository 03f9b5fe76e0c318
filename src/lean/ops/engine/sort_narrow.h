// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/sort_narrow.h in small builds, which lack the sort for small entries: a key of 32 bits and a
// position of 32 bits.
#ifndef TAPER_OPS_ENGINE_SORT_NARROW_H
#define TAPER_OPS_ENGINE_SORT_NARROW_H

enum { SORTS_NARROW = 0 };
#define BY_WIDTH(function, ...) function##_wide(line->run, line->entries, __VA_ARGS__)

static inline bool read_narrow(taper_sort_line *line, const void *x, size_t m, size_t at, bool single, bool down,
                               size_t first)
{
    (void)line, (void)x, (void)m, (void)at, (void)single, (void)down, (void)first;
    return false;
}

static inline void sort_heap(taper_sort_line *line, size_t count)
{
    (void)line, (void)count;
}

#endif
