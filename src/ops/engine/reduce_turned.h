// SPDX-License-Identifier: BSD-2-Clause
// Part of reduce.c. Reduces many short lines at once: a transposition puts each line into its own lane.
#ifndef TAPER_OPS_ENGINE_REDUCE_TURNED_H
#define TAPER_OPS_ENGINE_REDUCE_TURNED_H

// Reduces m short lines of doubles. Returns false if the lines are long.
static bool fold_turned_doubles(walk *w, const taper_native_folder *native, double *acc, const char *from, size_t m)
{
    enum { COLUMNS = 16, LINES = TAPER_EW_BLOCK_BYTES / sizeof(double) / COLUMNS };
    const size_t n = (size_t)w->reduced[0].size, stride = (size_t)w->kept[0].in / sizeof(double);
    if (n > COLUMNS || w->reduced_count != 1 || m < 8 || native == NULL || w->r->x->dtype != TAPER_F64) {
        return false;
    }
    for (size_t line = 0; line < m && go_on(w, n * taper_min_size(LINES, m - line)); line += LINES) {
        const size_t lines = taper_min_size(LINES, m - line);
        const double *x = (const double *)(const void *)from + line * stride;
        for (size_t k = 0; k < lines; k++, x += stride) {
            for (size_t i = 0; i < n; i++) {
                w->elements.f64[i * lines + k] = x[i];
            }
        }
        native->rows(n, lines, w->elements.f64, lines, acc + line);
    }
    return true;
}

// Reduces m short lines after a transposition. Returns false if the lines are long, or if floats could not represent a
// result.
static bool fold_turned(walk *w, const taper_reduce_op *op, const taper_reduce_vector *v,
                        const taper_native_folder *native, double *acc, const char *from, size_t m)
{
    // LINES: largest number of lines in a transposed block. COLUMNS: largest number of elements in each line in the
    // block.
    enum { COLUMNS = 16, LINES = TAPER_EW_BLOCK_BYTES / sizeof(float) / COLUMNS };
    if (w->r->class_ == TAPER_EW_F64) {
        return fold_turned_doubles(w, native, acc, from, m);
    }
    const size_t n = (size_t)w->reduced[0].size;
    const size_t stride = (size_t)w->kept[0].in / sizeof(float);
    if (n > TAPER_REDUCE_ROWS || w->reduced_count != 1 || m < 8 || w->r->class_ != TAPER_EW_F32 || w->turned == NULL ||
        (v == NULL && native == NULL)) {
        return false;
    }
    bool held = go_on(w, n * m);
    for (size_t i = 0; i < (n - 1) / COLUMNS + 1 && held; i++) {
        const size_t at = i * COLUMNS, count = taper_min_size(COLUMNS, n - at);
        for (size_t line = 0; line < m && held; line += LINES) {
            const size_t lines = taper_min_size(LINES, m - line);
            const float *x = (const float *)(const void *)from + line * stride + at;
            w->turned(lines, count, x, stride, w->elements.f32, lines);
            if (v == NULL) {
                native->rows(count, lines, w->elements.f32, lines, acc + line);
            } else {
                held = taper_reduce_vector_rows(v, acc + line, w->elements.f32, count, lines, lines);
            }
        }
    }
    for (size_t k = 0; k < m && !held; k++) {
        acc[k] = op->start; // floats overflowed, so the caller computes these results again from the start
    }
    return held;
}

#endif
