// SPDX-License-Identifier: BSD-2-Clause
// Part of scan_lines.c: running extremes of contiguous lines.
#ifndef TAPER_OPS_TENSOR_SCAN_LINES_WHOLE_H
#define TAPER_OPS_TENSOR_SCAN_LINES_WHOLE_H

// Defines functions that scan contiguous lines a block at a time, because most blocks contain no new extreme. They
// return true, because they scan all lines.
#define LINE(name, type, better)                                                                                       \
    static void name##_line(int64_t size, const type *x, type *y, int64_t *p)                                          \
    {                                                                                                                  \
        enum { BLOCK = 16 };                                                                                           \
        type best = x[0];                                                                                              \
        int64_t at = 0;                                                                                                \
        for (int64_t r = 0; r < size;) {                                                                               \
            const int64_t end = taper_min_i64(r + BLOCK, size);                                                        \
            int some = end - r < BLOCK;                                                                                \
            for (int64_t j = 0; j < BLOCK && end - r == BLOCK; j++) {                                                  \
                some |= (x[r + j] better best) | (x[r + j] != x[r + j]);                                               \
            }                                                                                                          \
            for (; r < end && some != 0; r++) {                                                                        \
                const bool taken = (x[r] better best) | (x[r] != x[r]);                                                \
                best = taken ? x[r] : best;                                                                            \
                at = taken ? r : at;                                                                                   \
                y[r] = best;                                                                                           \
                p[r] = at;                                                                                             \
            }                                                                                                          \
            for (int64_t j = 0; j < BLOCK && r < end; j++) {                                                           \
                y[r + j] = best;                                                                                       \
                p[r + j] = at;                                                                                         \
            }                                                                                                          \
            r = end;                                                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    static bool name##_whole(int64_t size, size_t n, const char *x, int64_t x_step, char *y, int64_t y_step, char *p,  \
                             int64_t p_step)                                                                           \
    {                                                                                                                  \
        for (size_t k = 0; k < n; k++, x += x_step, y += y_step, p += p_step) {                                        \
            name##_line(size, (const type *)(const void *)x, (type *)(void *)y, (int64_t *)(void *)p);                 \
        }                                                                                                              \
        return true;                                                                                                   \
    }

#endif
