// SPDX-License-Identifier: BSD-2-Clause
// Part of elementwise_vector.c: outer products, and short rows that are copied side by side.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_ROWS_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_ROWS_H

// Limits for short rows, such as points and boxes. Their operands are copied side by side, so that the kernel sees one
// long row. SHORT is the largest number of floats in a short row, and the smallest number of rows. REPEATED replaces
// SHORT as the largest number of floats if each operand is contiguous or repeats one row, which is copied once. BESIDE
// is the number of floats in a long row.
enum { SHORT = 8, REPEATED = 40, BESIDE = 512 };
static bool are_short(const taper_ew_walk *w)
{
    const int64_t n = w->sizes[0], item = sizeof(float);
    bool beside = w->rank > 1 && n <= REPEATED && w->sizes[1] >= SHORT && (n <= SHORT || w->steps[0][1] == n * item);
    // Rows longer than SHORT must be contiguous in each operand. The operand's rows must also be adjacent, or be one
    // repeated row. Shorter rows may have any strides.
    for (size_t k = 1; k < w->sides; k++) {
        beside =
            beside && (n <= SHORT || (w->steps[k][0] == item && (w->steps[k][1] == 0 || w->steps[k][1] == n * item)));
    }
    return beside;
}

// Copies `rows` rows of n floats, or of one float that fills the row, side by side. Callers pass n as a constant, so
// that the copy of a row takes only a few moves.
static inline __attribute__((always_inline)) void lay_rows(float *to, size_t rows, const size_t n, const char *from,
                                                           int64_t step, bool spread)
{
    for (size_t i = 0; i < rows; i++, from += step, to += n) {
        const float *const row = (const float *)(const void *)from;
        for (size_t j = 0; j < n; j++) {
            to[j] = row[spread ? 0 : j];
        }
    }
}

static void lay(float *to, size_t rows, size_t n, const char *from, int64_t step, bool spread)
{
#define LAY(n)                                                                                                         \
    case n:                                                                                                            \
        spread ? lay_rows(to, rows, n, from, step, true) : lay_rows(to, rows, n, from, step, false);                   \
        return
    switch (n) {
        LAY(1);
        LAY(2);
        LAY(3);
        LAY(4);
        LAY(5);
    default:
        if (n > SHORT && !spread) {
            for (size_t i = 0; i < rows; i++) {
                memcpy(to + i * n, from + (int64_t)i * step, n * sizeof *to);
            }
            return;
        }
        lay_rows(to, rows, n, from, step, spread);
    }
#undef LAY
}

// Copies rows of n floats that are side by side to rows that are `step` bytes apart.
static void put_apart(char *to, int64_t step, size_t rows, size_t n, const float *from)
{
#define APART(n)                                                                                                       \
    case n:                                                                                                            \
        for (size_t i = 0; i < rows; i++) {                                                                            \
            memcpy(to + (int64_t)i * step, from + i * n, n * sizeof *from);                                            \
        }                                                                                                              \
        return
    switch (n) {
        APART(1);
        APART(2);
        APART(3);
        APART(4);
        APART(5);
    default:
        for (size_t i = 0; i < rows; i++) {
            memcpy(to + (int64_t)i * step, from + i * n, n * sizeof *from);
        }
    }
#undef APART
}

static void run_short(const loop_job *job, size_t count, char *const *at)
{
    const taper_ew_walk *w = job->walk;
    const size_t n = (size_t)w->sizes[0], most = job->crossed ? 1 : BESIDE / n;
    const int64_t result_step = w->steps[0][1], row = (int64_t)(n * sizeof(float));
    float laid[2][BESIDE], made[BESIDE];
    for (size_t first = 0; first < count; first += most) {
        const size_t rows = taper_min_size(most, count - first);
        const float *x[2] = {NULL, NULL};
        for (size_t k = 1; k < w->sides; k++) {
            const int64_t step = w->steps[k][1];
            const char *from = at[k] + (int64_t)first * step;
            const bool spread = w->steps[k][0] == 0;
            x[k - 1] = step == row && !spread ? (const float *)(const void *)from : laid[k - 1];
            if (x[k - 1] == laid[k - 1] && step == 0 && first != 0 &&
                !job->crossed) { // an earlier turn has copied the repeated row
                continue;
            }
            if (x[k - 1] == laid[k - 1]) {
                lay(laid[k - 1], rows, n, from, step, spread);
            }
        }
        char *const result = at[0] + (int64_t)first * result_step;
        const bool adjacent = result_step == row;
        taper_ew_run_vector(&job->plan->loop, rows * n, x, adjacent ? (float *)(void *)result : made);
        if (!adjacent) {
            put_apart(result, result_step, rows, n, made);
        }
    }
}

// Chooses the outer product if each row of the result is one vector multiplied by a number.
static void choose_outer(taper_ew_vector_plan *plan, const taper_ew_walk *w, const taper_ew_op *op,
                         taper_operands operands)
{
    if (w->rank > 1 && operands != TAPER_OPERANDS_VV) {
        plan->narrow = operands == TAPER_OPERANDS_VS ? 2 : 1;
        plan->wide = 3 - plan->narrow;
        plan->outer = op->kernel == TAPER_EW_KERNEL_BINARY + TAPER_BINARY_MUL && w->steps[plan->wide][1] == 0 &&
                      w->steps[plan->narrow][1] >= 0;
    }
}

static bool run_outer(const loop_job *job, size_t count, size_t n, char *const *at)
{
    const taper_ew_walk *w = job->walk;
    const taper_ew_vector_plan *plan = job->plan;
    if (plan->outer) {
        plan->loop.vector->outer(count, n, (const float *)(const void *)at[plan->narrow],
                                 (size_t)w->steps[plan->narrow][1] / sizeof(float),
                                 (const float *)(const void *)at[plan->wide], NULL, 0, (float *)(void *)at[0],
                                 (size_t)w->steps[0][1] / sizeof(float));
    }
    return plan->outer;
}

#endif
