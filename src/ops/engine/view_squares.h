// SPDX-License-Identifier: BSD-2-Clause
// Part of view_transpose.c: transposes squares of elements of 1, 2 or 8 bytes.
#ifndef TAPER_OPS_ENGINE_VIEW_SQUARES_H
#define TAPER_OPS_ENGINE_VIEW_SQUARES_H

enum { SIDE = 8, SPAN = 32 };

// Transposes a square of 8 x 8 bytes, or of 4 x 4 pairs of bytes, in the words x. Each step exchanges blocks across the
// diagonal: first single elements, last halves.
#define EXCHANGE(a, b, bits, mask)                                                                                     \
    other = (x[a] >> (bits) ^ x[b]) & (mask);                                                                          \
    x[b] ^= other;                                                                                                     \
    x[a] ^= other << (bits);

static inline void turn_bytes(uint64_t *x)
{
    const uint64_t ones = 0x00FF00FF00FF00FF, twos = 0x0000FFFF0000FFFF, fours = 0x00000000FFFFFFFF;
    uint64_t other;
    EXCHANGE(0, 1, 8, ones)
    EXCHANGE(2, 3, 8, ones)
    EXCHANGE(4, 5, 8, ones)
    EXCHANGE(6, 7, 8, ones)
    EXCHANGE(0, 2, 16, twos)
    EXCHANGE(1, 3, 16, twos)
    EXCHANGE(4, 6, 16, twos)
    EXCHANGE(5, 7, 16, twos)
    EXCHANGE(0, 4, 32, fours)
    EXCHANGE(1, 5, 32, fours)
    EXCHANGE(2, 6, 32, fours)
    EXCHANGE(3, 7, 32, fours)
}

static inline void turn_pairs(uint64_t *x)
{
    const uint64_t ones = 0x0000FFFF0000FFFF, twos = 0x00000000FFFFFFFF;
    uint64_t other;
    EXCHANGE(0, 1, 16, ones)
    EXCHANGE(2, 3, 16, ones)
    EXCHANGE(0, 2, 32, twos)
    EXCHANGE(1, 3, 32, twos)
}
#undef EXCHANGE

// Returns the start of the square at `at`. The last square of a side of length `all` is moved back, so that it overlaps
// the square before it.
static inline int64_t place(int64_t at, int64_t side, int64_t all)
{
    return at + side <= all ? at : all - side;
}

// Transposes elements of 1 or 2 bytes, SPAN rows at a time. The plane is at least as large as a square.
static inline void move_packed(size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from,
                               int64_t from_column)
{
    const int64_t lanes = (int64_t)(8 / item), width = (int64_t)item;
    for (int64_t r0 = 0; r0 < rows; r0 += SPAN) {
        for (int64_t left = 0; left < columns; left += lanes) {
            const int64_t c = place(left, lanes, columns);
            for (int64_t above = r0; above < taper_min_i64(r0 + SPAN, rows); above += lanes) {
                const int64_t r = place(above, lanes, rows);
                uint64_t x[SIDE];
                for (int64_t k = 0; k < lanes; k++) {
                    memcpy(&x[k], from + r * width + (c + k) * from_column, sizeof *x);
                }
                if (item == 1) {
                    turn_bytes(x);
                } else {
                    turn_pairs(x);
                }
                for (int64_t k = 0; k < lanes; k++) {
                    memcpy(to + (r + k) * to_row + c * width, &x[k], sizeof *x);
                }
            }
        }
    }
}

static void move_bytes(int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from, int64_t from_column)
{
    move_packed(1, rows, columns, to, to_row, from, from_column);
}

static void move_pairs(int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from, int64_t from_column)
{
    move_packed(2, rows, columns, to, to_row, from, from_column);
}

static void move_words(int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from, int64_t from_column)
{
    const int64_t width = sizeof(uint64_t);
    for (int64_t r0 = 0; r0 < rows; r0 += SPAN) {
        for (int64_t c = 0; c < columns; c += SIDE) {
            for (int64_t r = r0; r < taper_min_i64(r0 + SPAN, rows); r += SIDE) {
                uint64_t x[SIDE][SIDE], row[SIDE];
                for (int64_t k = 0; k < SIDE; k++) {
                    memcpy(x[k], from + r * width + (c + k) * from_column, sizeof *x);
                }
                for (int64_t k = 0; k < SIDE; k++) {
                    for (int64_t j = 0; j < SIDE; j++) {
                        row[j] = x[j][k];
                    }
                    memcpy(to + (r + k) * to_row + c * width, row, sizeof row);
                }
            }
        }
    }
}

// Transposes the elements that whole squares cover. Returns true if the squares cover all elements; otherwise *tall and
// *wide receive the numbers of rows and columns that are done.
static bool move_squares(size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from,
                         int64_t from_column, int64_t *tall, int64_t *wide)
{
    const int64_t packed = (int64_t)(8 / item);
    if (item <= 2 && rows >= packed && columns >= packed) {
        (item == 1 ? move_bytes : move_pairs)(rows, columns, to, to_row, from, from_column);
        return true;
    }
    if (item == sizeof(uint64_t)) {
        *tall = rows / SIDE * SIDE;
        *wide = columns / SIDE * SIDE;
        move_words(*tall, *wide, to, to_row, from, from_column);
    }
    return false;
}

#endif
