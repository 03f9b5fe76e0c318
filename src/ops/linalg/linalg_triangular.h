// SPDX-License-Identifier: BSD-2-Clause
// Part of linalg_dense.c: triangular systems of real numbers.
#ifndef TAPER_OPS_LINALG_LINALG_TRIANGULAR_H
#define TAPER_OPS_LINALG_LINALG_TRIANGULAR_H

// Subtracts from four numbers the dot products of `a` with four columns. The first column is x, and columns are
// `across` apart. The four sums are independent, so the CPU overlaps them.
static void subtract_dots(int64_t n, const double *a, int64_t a_step, const double *x, int64_t step, int64_t across,
                          double *y)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int64_t i = 0; i < n; i++, x += step) {
        const double factor = a[i * a_step];
        s0 += factor * x[0];
        s1 += factor * x[across];
        s2 += factor * x[2 * across];
        s3 += factor * x[3 * across];
    }
    y[0] -= s0;
    y[across] -= s1;
    y[2 * across] -= s2;
    y[3 * across] -= s3;
}

// Solves real systems. Returns false for complex systems. If the elements of a row of b are contiguous, the function
// handles a row of all columns at a time, otherwise one or four columns. Unless `transposed` is set, it skips solved
// elements that are zero, whatever their factors are, as taper_dense_triangular does.
static bool triangular_real(const taper_dense *a, bool upper, bool transposed, bool unit, const taper_dense *b)
{
    if (a->complex) {
        return false;
    }
    enum { FOUR = 4 };
    const int64_t n = a->rows, down = transposed ? a->right : a->down, right = transposed ? a->down : a->right;
    const bool backwards = upper != transposed, side_by_side = b->right == 1 && b->columns > 1;
    const bool dots = transposed && !side_by_side;
    int64_t columns = 1;
    for (int64_t c = 0; c < b->columns; c += columns) {
        columns = side_by_side ? b->columns : dots && b->columns - c >= FOUR ? FOUR : 1;
        double *const x = taper_dense_at(b, 0, c);
        for (int64_t at = 0; at < n; at++) {
            const int64_t k = backwards ? n - 1 - at : at, first = backwards ? k + 1 : 0;
            double *const row = x + k * b->down;
            // The factors of the elements that are solved already.
            const double *const factors = a->data + k * down + first * right;
            if (!taper_dense_goes_on(a, (at + 1) * columns)) {
                return true;
            }
            if (dots && columns == FOUR) {
                subtract_dots(at, factors, right, x + first * b->down, b->down, b->right, row);
            } else if (dots) {
                *row -= real_dot(at, factors, right, x + first * b->down, b->down);
            }
            for (int64_t step = 0; step < at && !dots; step++) {
                const int64_t i = backwards ? at - 1 - step : step;
                const double factor = factors[i * right], *const solved = x + (first + i) * b->down;
                for (int64_t j = 0; j < columns; j++) {
                    row[j] -= transposed || solved[j] != 0.0 ? factor * solved[j] : 0.0;
                }
            }
            const double diagonal = a->data[k * (a->down + a->right)];
            const int64_t across = dots ? b->right : 1;
            for (int64_t j = 0; j < columns && !unit; j++) {
                double *const y = row + j * across;
                *y = transposed || *y != 0.0 ? *y / diagonal : *y;
            }
        }
    }
    return true;
}

#endif
