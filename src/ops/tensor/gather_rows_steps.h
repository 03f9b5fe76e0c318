// SPDX-License-Identifier: BSD-2-Clause
// Part of gather_rows.c: loops with constant steps, and several elements at a time.
#ifndef TAPER_OPS_TENSOR_GATHER_ROWS_STEPS_H
#define TAPER_OPS_TENSOR_GATHER_ROWS_STEPS_H

// Calls the loop with constant steps if all steps are 1 (of the table: 0), so that the compiler optimizes it. A
// dimension of one element may have any stride, so its step is replaced by 0.
#define STEP(step) (n > 1 ? job->step : 0)
#define CALL(loop, ...)                                                                                                \
    (job->g.step == 1 && job->index_step == 1 && job->other_step == 1 && job->table_step == 0                          \
         ? loop(__VA_ARGS__, 1, 1, 1, 0)                                                                               \
         : loop(__VA_ARGS__, job->g.step, STEP(index_step), STEP(other_step), STEP(table_step)))

// Gathers four elements at a time, while at least four elements are left.
#define GATHER_FOUR(type)                                                                                              \
    for (; done + 4 <= n; done += 4, index += 4 * is, o += 4 * os, t += 4 * ts) {                                      \
        const uint64_t a = (uint64_t)index[0], b = (uint64_t)index[is], c = (uint64_t)index[2 * is],                   \
                       d = (uint64_t)index[3 * is];                                                                    \
        if ((a >= size) | (b >= size) | (c >= size) | (d >= size)) {                                                   \
            return false;                                                                                              \
        }                                                                                                              \
        const type v = t[(int64_t)a * step], w = t[ts + (int64_t)b * step], x = t[2 * ts + (int64_t)c * step],         \
                   y = t[3 * ts + (int64_t)d * step];                                                                  \
        o[0] = v, o[os] = w, o[2 * os] = x, o[3 * os] = y;                                                             \
    }

enum { SCATTERED = 4 }; // number of elements whose indices are checked together

#endif
