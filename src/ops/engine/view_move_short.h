// SPDX-License-Identifier: BSD-2-Clause
// Part of view_move.c: lines of a few elements or bytes, for which a loop or a function call per line is too slow.
#ifndef TAPER_OPS_ENGINE_VIEW_MOVE_SHORT_H
#define TAPER_OPS_ENGINE_VIEW_MOVE_SHORT_H

// Copies lines of 2 to 4 elements, or of up to 7 floats, such as points and colours. The constant length avoids a loop
// per line.
#define SHORT_LINES(bytes, count)                                                                                      \
    for (int64_t i = 0; i < outer->size; i++, to += outer->to, from += outer->from) {                                  \
        for (int64_t k = 0; k < (count); k++) {                                                                        \
            memcpy(to + k * (bytes), from + k * step, (bytes));                                                        \
        }                                                                                                              \
    }
#define FEW(bytes)                                                                                                     \
    if (inner->size == 2) {                                                                                            \
        SHORT_LINES(bytes, 2)                                                                                          \
    } else if (inner->size == 3) {                                                                                     \
        SHORT_LINES(bytes, 3)                                                                                          \
    } else if (inner->size == 4) {                                                                                     \
        SHORT_LINES(bytes, 4)                                                                                          \
    } else {                                                                                                           \
        return false;                                                                                                  \
    }
static bool move_short_lines(size_t item, const move_dim *outer, const move_dim *inner, char *to, const char *from)
{
    const int64_t step = inner->from;
    if (inner->size < 2 || inner->size > 7 || inner->to != (int64_t)item) {
        return false;
    }
    switch (item) {
    case 1:
        FEW(1) return true;
    case 2:
        FEW(2) return true;
    case 4:
        if (inner->size == 5) {
            SHORT_LINES(4, 5)
        } else if (inner->size == 6) {
            SHORT_LINES(4, 6)
        } else if (inner->size == 7) {
            SHORT_LINES(4, 7)
        } else {
            FEW(4)
        }
        return true;
    case 8:
        FEW(8) return true;
    default:
        return false;
    }
}
#undef FEW
#undef SHORT_LINES

// Copies rows of `half` to 2 * `half` bytes in two parts of constant length. The second part may overlap the first.
#define HALVES(half)                                                                                                   \
    for (int64_t i = 0; i < outer->size; i++, to += outer->to, from += outer->from) {                                  \
        memcpy(to, from, (half));                                                                                      \
        memcpy(to + bytes - (half), from + bytes - (half), (half));                                                    \
    }
#define ROWS(bytes)                                                                                                    \
    for (int64_t i = 0; i < outer->size; i++) {                                                                        \
        memcpy(to + i * outer->to, from + i * outer->from, (bytes));                                                   \
    }
// Copies rows by a constant length where possible: memcpy of a variable length spends most of its time on finding the
// length.
static void move_rows(size_t bytes, const move_dim *outer, char *to, const char *from)
{
    switch (bytes) {
    case 4:
        ROWS(4) break;
    case 6:
        ROWS(6) break;
    case 8:
        ROWS(8) break;
    case 12:
        ROWS(12) break;
    case 16:
        ROWS(16) break;
    default:
        if (bytes > 16 && bytes <= 32) {
            HALVES(16)
        } else if (bytes > 32 && bytes <= 64) {
            HALVES(32)
        } else {
            ROWS(bytes)
        }
        break;
    }
}
#undef ROWS
#undef HALVES

// Returns true if a move has at most `most` elements, the number of elements that are copied between two checks of the
// run's time.
static bool is_few(double elements, double most)
{
    return elements <= most;
}

// Returns the index of the dimension for the innermost loop: `pick`, or a dimension that is not short if the innermost
// dimensions are short.
static size_t pick_long(const move_dim *dims, size_t n, size_t pick)
{
    for (size_t d = n; d-- > 0 && dims[pick].size < SHORT;) {
        pick = dims[d].size >= SHORT ? d : pick;
    }
    return pick;
}

#endif
