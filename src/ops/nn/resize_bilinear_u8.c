// SPDX-License-Identifier: BSD-2-Clause
// Bilinear interpolation of quantized NHWC tensors. The two input rows around an output row are interpolated to the
// output's width in floats, then blended and rounded.
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/resize.h"
#include "ops/nn/resize_rows.h"

enum { PIECE = 64, ROWS = 8 }; // PIECE: pixels that are computed together; ROWS: smallest number of rows in a task

typedef struct bilinear_job {
    const taper_vector_u8_entry *vector;
    const taper_resize_axis *h, *w;
    const taper_volume *x, *y;
    const uint8_t *in;
    uint8_t *out;
    taper_places places; // memory per thread for two rows
    int32_t zero_point;
} bilinear_job;

static void stretch_row(const bilinear_job *job, const uint8_t *in, float *to)
{
    const int64_t step = job->x->stride[2];
    for (int64_t first = 0; first < job->w->output; first += PIECE) {
        const uint8_t *taps[2 * PIECE];
        float weights[2 * PIECE];
        const size_t count = (size_t)taper_min_i64(PIECE, job->w->output - first);
        for (size_t i = 0; i < 2 * count; i++) {
            taps[i] = in + job->w->index[2 * first + (int64_t)i] * step;
            weights[i] = (float)job->w->weight[2 * first + (int64_t)i];
        }
        job->vector->stretch(count, (size_t)job->x->c, taps, weights, to + first * job->x->c);
    }
}

static void rows_range(void *argument, size_t begin, size_t end)
{
    const bilinear_job *job = argument;
    const taper_volume *x = job->x, *y = job->y;
    float *const rows = taper_place_take(&job->places, begin, (size_t)(x->n * job->h->output));
    taper_row_pair pair = {{rows, rows + job->w->output * x->c}, {-1, -1}};
    for (size_t r = begin; r < end; r++) {
        const int64_t n = (int64_t)r / job->h->output, o = (int64_t)r % job->h->output;
        const float weights[2] = {(float)job->h->weight[2 * o], (float)job->h->weight[2 * o + 1]};
        const int64_t want[2] = {n * x->size[1] + job->h->index[2 * o], n * x->size[1] + job->h->index[2 * o + 1]};
        taper_row_pair_want(&pair, want);
        for (size_t i = 0; i < 2; i++) {
            if (pair.held[i] != want[i]) {
                const int64_t row = n * x->stride_n + job->h->index[2 * o + (int64_t)i] * x->stride[1];
                stretch_row(job, job->in + row, pair.rows[i]);
                pair.held[i] = want[i];
            }
        }
        job->vector->blend((size_t)job->w->output, (size_t)x->c, pair.rows[0], pair.rows[1], weights, job->zero_point,
                           job->out + n * y->stride_n + o * y->stride[1], (size_t)y->stride[2]);
    }
    taper_place_leave(rows);
}

taper_status taper_resize_bilinear_u8(taper_run *run, const taper_resize_axis *axes, const taper_volume *x,
                                      const uint8_t *in, const taper_volume *y, uint8_t *out, int32_t zero_point)
{
    if (axes[1].taps != 2 || axes[2].taps != 2 || axes[0].input != 1 || axes[0].output != 1 ||
        !taper_volume_channels_inner(x) || !taper_volume_channels_inner(y)) {
        return TAPER_DECLINED;
    }
    bilinear_job job = {.vector = taper_vector_u8_select(run->cpu),
                        .h = &axes[1],
                        .w = &axes[2],
                        .x = x,
                        .y = y,
                        .in = in,
                        .out = out,
                        .zero_point = zero_point};
    const size_t floats = (size_t)(axes[2].output * x->c), rows = (size_t)(x->n * axes[1].output);
    size_t bytes;
    if (!taper_mul_size(floats, 2 * sizeof(float), &bytes) || !taper_places_open(run, bytes, rows, &job.places)) {
        return TAPER_DECLINED; // memory is missing: other loops, which need none, compute the result
    }
    run->kernel = job.vector->name;
    const taper_status status =
        taper_run_range(run, rows_range, &job, rows, ROWS, taper_floats_work(2.0 * (double)rows * (double)floats));
    taper_places_close(run, &job.places);
    return status;
}
