// SPDX-License-Identifier: BSD-2-Clause
// Part of pool_max.c: maxima of doubles that are contiguous along a row, a row of windows at a time.
#ifndef TAPER_OPS_NN_POOL_MAX_ROWS_H
#define TAPER_OPS_NN_POOL_MAX_ROWS_H

// Sets m[o] to the maximum of m[o] and x[o * stride]. A NaN is larger than any number.
static void greater_apart(int64_t count, const double *restrict x, int64_t stride, double *restrict m)
{
    if (stride == 1) {
        for (int64_t o = 0; o < count; o++) {
            m[o] = ((x[o] > m[o]) | (x[o] != x[o])) ? x[o] : m[o];
        }
        return;
    }
    for (int64_t o = 0; o < count; o++) {
        const double v = x[o * stride];
        m[o] = ((v > m[o]) | (v != v)) ? v : m[o];
    }
}

// Computes which windows [*begin, *end) of a row are completely inside the input's columns, so that row_f64 can compute
// them tap by tap. The range is empty if row_f64 cannot do the call.
static void rows_inside(const max_work *work, int64_t *begin, int64_t *end)
{
    const taper_pool_axis *w = &work->pooling->axis[2];
    const int64_t reach = (w->kernel - 1) * w->dilation, room = w->input + w->padding - reach - 1;
    *begin = *end = 0;
    if (!w->adaptive && work->dtype == TAPER_F64 && work->indices == NULL && work->x.c == 1 && work->x.stride[2] == 1 &&
        work->y.stride[2] == 1 && room >= 0) {
        *begin = taper_min_i64((w->padding + w->stride - 1) / w->stride, w->output);
        *end = taper_max_i64(taper_min_i64(room / w->stride + 1, w->output), *begin);
    }
}

static void row_f64(const max_work *work, const max_place *place, const double *in, double *out, int64_t count)
{
    const taper_pool_axis *w = &work->pooling->axis[2];
    for (int64_t o = 0; o < count; o++) {
        out[o] = -INFINITY;
    }
    for (int64_t i = 0; i < place->d.taps; i++) {
        for (int64_t j = 0; j < place->h.taps; j++) {
            const double *row = in + (place->d.first + i * place->d.step) * work->x.stride[0] +
                                (place->h.first + j * place->h.step) * work->x.stride[1];
            for (int64_t k = 0; k < w->kernel && taper_run_goes_on(work->run, (uint64_t)count * 2 + 5); k++) {
                greater_apart(count, row + k * w->dilation, w->stride, out);
            }
        }
    }
}

#endif
