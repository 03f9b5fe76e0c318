// SPDX-License-Identifier: BSD-2-Clause
// Transpositions of planes, whatever the dtype: squares that are read whole and then written whole, so that neither
// side needs more lines of a cache at a time than a square has, even where rows are powers of two apart.
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

enum { SIDE = 8, SPAN = 32 };

// Squares of 8 x 8 bytes or 4 x 4 pairs of them, whose columns are the words of x, become their rows: what lies across
// the diagonal is exchanged, from neighbours to halves.
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

// Where a square of so many begins: the last one lies over the one before it.
static inline int64_t place(int64_t at, int64_t side, int64_t all)
{
    return at + side <= all ? at : all - side;
}

// Of bytes or pairs of them, SPAN rows at a time; there is a square at least.
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

static inline void move_elements(size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from,
                                 int64_t from_column)
{
    enum { TILE = 16 };
    const int64_t width = (int64_t)item;
    for (int64_t r0 = 0; r0 < rows; r0 += TILE) {
        for (int64_t c0 = 0; c0 < columns; c0 += TILE) {
            for (int64_t r = r0; r < taper_min_i64(r0 + TILE, rows); r++) {
                for (int64_t c = c0; c < taper_min_i64(c0 + TILE, columns); c++) {
                    memcpy(to + r * to_row + c * width, from + r * width + c * from_column, item);
                }
            }
        }
    }
}

static void move_any(size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row, const char *from,
                     int64_t from_column)
{
    switch (item) {
    case 1:
        move_elements(1, rows, columns, to, to_row, from, from_column);
        break;
    case 2:
        move_elements(2, rows, columns, to, to_row, from, from_column);
        break;
    case 4:
        move_elements(4, rows, columns, to, to_row, from, from_column);
        break;
    case 8:
        move_elements(8, rows, columns, to, to_row, from, from_column);
        break;
    default:
        move_elements(16, rows, columns, to, to_row, from, from_column);
        break;
    }
}

void taper_move_transposed(const taper_run *run, size_t item, int64_t rows, int64_t columns, char *to, int64_t to_row,
                           const char *from, int64_t from_column)
{
    if (item == sizeof(float) && to_row >= 0 && from_column >= 0 && !run->portable) { // of whatever dtype
        taper_vector_f32_select(run->cpu)->transpose((size_t)columns, (size_t)rows, (const float *)(const void *)from,
                                                     (size_t)from_column / item, (float *)(void *)to,
                                                     (size_t)to_row / item);
        return;
    }
    const int64_t packed = (int64_t)(8 / item), width = (int64_t)item;
    int64_t tall = 0, wide = 0; // what squares cover
    if (!TAPER_SMALL && item <= 2 && rows >= packed && columns >= packed) {
        (item == 1 ? move_bytes : move_pairs)(rows, columns, to, to_row, from, from_column);
        return;
    }
    if (!TAPER_SMALL && item == sizeof(uint64_t)) {
        tall = rows / SIDE * SIDE;
        wide = columns / SIDE * SIDE;
        move_words(tall, wide, to, to_row, from, from_column);
    }
    move_any(item, tall, columns - wide, to + wide * width, to_row, from + wide * from_column, from_column);
    move_any(item, rows - tall, columns, to + tall * to_row, to_row, from + tall * width, from_column);
}
