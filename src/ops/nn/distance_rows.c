// SPDX-License-Identifier: BSD-2-Clause
// Distances of each row of one matrix of floats to each of another, for cdist. Some rows of the second are turned so
// that their elements lie side by side; the sums of a row to all of them are then made together. Some tens of terms are
// added as floats, and what these give to the result.
#include "ops/nn/distance_rows.h"

#include <math.h>

#include "ops/call/parallel.h"

enum { TURNED = 64, DEPTH = 64 };

typedef struct distance_job {
    const float *x, *y;
    float *out;
    int64_t m, n, k;
    bool squares;
} distance_job;

// sums[j] += the terms of row and column j of the turned ones.
#define SUMS(name, term)                                                                                               \
    static void name(const float *row, const float *restrict turned, int64_t depth, float *restrict sums)              \
    {                                                                                                                  \
        for (int64_t i = 0; i < depth; i++, turned += TURNED) {                                                        \
            const float a = row[i];                                                                                    \
            for (size_t j = 0; j < TURNED; j++) {                                                                      \
                const float apart = a - turned[j];                                                                     \
                sums[j] += term;                                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
SUMS(sum_squares, apart *apart)
SUMS(sum_magnitudes, fabsf(apart))

// Items are TURNED rows of y.
static void rows_range(void *argument, size_t begin, size_t end)
{
    const distance_job *job = argument;
    for (int64_t first = (int64_t)begin * TURNED; first < (int64_t)end * TURNED; first += TURNED) {
        const int64_t count = taper_min_i64(TURNED, job->n - first);
        for (int64_t at = 0; at < job->k; at += DEPTH) {
            float turned[DEPTH * TURNED];
            const int64_t depth = taper_min_i64(DEPTH, job->k - at);
            for (int64_t i = 0; i < depth; i++) {
                for (int64_t j = 0; j < TURNED; j++) { // behind the last row the first one again
                    turned[i * TURNED + j] = job->y[(first + (j < count ? j : 0)) * job->k + at + i];
                }
            }
            for (int64_t i = 0; i < job->m; i++) {
                float sums[TURNED] = {0}, *const out = job->out + i * job->n + first;
                (job->squares ? sum_squares : sum_magnitudes)(job->x + i * job->k + at, turned, depth, sums);
                for (int64_t j = 0; j < count; j++) {
                    out[j] = at == 0 ? sums[j] : out[j] + sums[j];
                }
            }
        }
        for (int64_t i = 0; i < job->m && job->squares; i++) {
            float *const out = job->out + i * job->n + first;
            for (int64_t j = 0; j < count; j++) {
                out[j] = sqrtf(out[j]);
            }
        }
    }
}

taper_status taper_distance_rows(taper_run *run, int64_t m, int64_t n, int64_t k, const float *x, const float *y,
                                 bool squares, float *out)
{
    distance_job job = {x, y, out, m, n, k, squares};
    return taper_run_floats(run, rows_range, &job, (size_t)((n - 1) / TURNED + 1),
                            ((double)m + 8) * (double)k * TURNED);
}
