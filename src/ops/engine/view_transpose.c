// SPDX-License-Identifier: BSD-2-Clause
// Transposes planes of any dtype. Each square is read completely and then written, so neither the source nor the
// destination needs more cache lines at a time than a square has. This matters most for rows that are powers of two
// apart.
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

#include "ops/engine/view_squares.h"

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
    // This kernel transposes elements of any dtype of 4 bytes.
    if (item == sizeof(float) && to_row >= 0 && from_column >= 0 && !run->portable) {
        taper_vector_f32_select(run->cpu)->transpose((size_t)columns, (size_t)rows, (const float *)(const void *)from,
                                                     (size_t)from_column / item, (float *)(void *)to,
                                                     (size_t)to_row / item);
        return;
    }
    const int64_t width = (int64_t)item;
    int64_t tall = 0, wide = 0; // numbers of rows and columns that the squares have transposed
    if (move_squares(item, rows, columns, to, to_row, from, from_column, &tall, &wide)) {
        return;
    }
    move_any(item, tall, columns - wide, to + wide * width, to_row, from + wide * from_column, from_column);
    move_any(item, rows - tall, columns, to + tall * to_row, to_row, from + tall * width, from_column);
}
