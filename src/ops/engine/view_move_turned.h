// SPDX-License-Identifier: BSD-2-Clause
// Part of view_move.c: elements in reverse order, eight bytes at a time.
#ifndef TAPER_OPS_ENGINE_VIEW_MOVE_TURNED_H
#define TAPER_OPS_ENGINE_VIEW_MOVE_TURNED_H

// Reverses the order of the elements, of 1, 2 or 4 bytes, within a word.
static inline uint64_t turned(uint64_t x, size_t item)
{
    const uint64_t halves = 0x0000FFFF0000FFFF, bytes = 0x00FF00FF00FF00FF;
    x = x << 32 | x >> 32;
    x = item <= 2 ? (x & halves) << 16 | (x >> 16 & halves) : x;
    return item == 1 ? (x & bytes) << 8 | (x >> 8 & bytes) : x;
}

// Copies eight bytes at a time, while at least eight bytes are left.
#define TURNED(bytes)                                                                                                  \
    for (; *n >= 8 / (bytes); *n -= 8 / (bytes), *to += 8, *from -= 8) {                                               \
        uint64_t some;                                                                                                 \
        memcpy(&some, *from + (bytes)-8, sizeof some);                                                                 \
        some = turned(some, (bytes));                                                                                  \
        memcpy(*to, &some, sizeof some);                                                                               \
    }

// Copies the elements of a line that fill whole words, and reduces *n by their number. The caller copies the remaining
// elements.
static void move_turned(size_t item, int64_t *n, char **to, int64_t to_step, const char **from, int64_t from_step)
{
    if (to_step != (int64_t)item || from_step != -to_step) {
        return;
    }
    switch (item) {
    case 1:
        TURNED(1) break;
    case 2:
        TURNED(2) break;
    case 4:
        TURNED(4) break;
    default:
        break;
    }
}
#undef TURNED

#endif
