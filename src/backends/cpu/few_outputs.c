// SPDX-License-Identifier: BSD-2-Clause
// Computes a few dot products for each row, and transposes them into rows of outputs.
#include "backends/cpu/few_outputs.h"

#include <math.h>

#include "base/checked.h"

void taper_few_outputs_rows(const taper_few_outputs *f, size_t rows, const float *x, size_t x_step, float *y)
{
    enum {
        TOGETHER = 4,
        FLOATS = 4096
    }; // TOGETHER: rows that gemv computes at a time; FLOATS: floats of rows that stay in the L1 cache for all outputs
    float made[TAPER_FEW_OUTPUTS * TAPER_FEW_OUTPUTS_GRAIN];
    const size_t fitting = FLOATS / f->in / TOGETHER * TOGETHER;
    const size_t most = f->out == 1 ? TAPER_FEW_OUTPUTS_GRAIN
                                    : taper_max_size(taper_min_size(fitting, TAPER_FEW_OUTPUTS_GRAIN), TOGETHER);
    for (size_t count; rows != 0; rows -= count, x += count * x_step, y += count * f->out) {
        count = taper_min_size(rows, most);
        float *to = f->out == 1 ? y : made;
        for (size_t o = 0; o < f->out; o++) {
            f->vector->gemv(count, f->in, f->weights + o * f->weights_step, x, x_step, NULL, to + o * count, -INFINITY,
                            INFINITY);
        }
        if (f->out != 1) {
            f->vector->transpose(f->out, count, made, count, y, f->out);
        }
        if (f->bias != NULL || f->min > -INFINITY || f->max < INFINITY) {
            f->vector->channels(count, f->out, y, f->out, NULL, f->bias, y, f->out, f->min, f->max);
        }
    }
}
