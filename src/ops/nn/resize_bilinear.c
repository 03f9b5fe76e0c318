// SPDX-License-Identifier: BSD-2-Clause
// Bilinear interpolation of floats. For an NHWC result, the pixels of an output row are computed from their four
// neighbours, a piece of the row at a time. For planes (from planes or from NHWC), two input rows at a time are
// interpolated to the output's width, then blended. If an image shrinks, each pair of rows is used once, so both steps
// are one pass. Interpolation along rows comes first, as in PyTorch.
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/resize.h"
#include "ops/nn/resize_rows.h"

// PIECE: pixels that are computed together. ROWS: smallest number of rows in a task, of all planes together.
enum { PIECE = 64, ROWS = 8 };

// The inputs that an output position reads along the width: offsets in a row, in floats, and weights.
typedef struct stretch {
    int32_t left, right;
    float left_weight, right_weight;
} stretch;

typedef struct bilinear_job {
    const taper_vector_entry *vector;
    const taper_resize_axis *h, *w;
    const taper_volume *x, *y;
    const float *in;
    float *out;
    taper_places places; // memory per thread for two rows of the output's width
    bool at_once;        // true if each pair of input rows is used for only one output row
    stretch *columns;    // for planes: one item per output position
} bilinear_job;

// Finds the two input positions that an output position reads. Returns the weight of the second position.
static float taps_at(const taper_resize_axis *axis, int64_t o, int64_t *first, int64_t *second)
{
    *first = axis->index[o * axis->taps];
    *second = axis->taps == 2 ? axis->index[o * 2 + 1] : *first;
    return axis->taps == 2 ? (float)axis->weight[o * 2 + 1] : 0.0f;
}

// ---- NHWC

static void pixels_range(void *argument, size_t begin, size_t end)
{
    const bilinear_job *job = argument;
    const taper_volume *x = job->x, *y = job->y;
    for (size_t r = begin; r < end; r++) {
        const int64_t n = (int64_t)r / job->h->output, o = (int64_t)r % job->h->output;
        int64_t top, bottom;
        const float weight = taps_at(job->h, o, &top, &bottom);
        const float *upper = job->in + n * x->stride_n + top * x->stride[1];
        const float *lower = job->in + n * x->stride_n + bottom * x->stride[1];
        float *row = job->out + n * y->stride_n + o * y->stride[1];
        for (int64_t first = 0; first < job->w->output; first += PIECE) {
            const float *pointers[4 * PIECE];
            float weights[2 * PIECE];
            const size_t count = (size_t)taper_min_i64(PIECE, job->w->output - first);
            for (size_t i = 0; i < count; i++) {
                int64_t left, right;
                weights[2 * i] = taps_at(job->w, first + (int64_t)i, &left, &right);
                weights[2 * i + 1] = weight;
                pointers[i] = upper + left * x->stride[2];
                pointers[PIECE + i] = upper + right * x->stride[2];
                pointers[2 * PIECE + i] = lower + left * x->stride[2];
                pointers[3 * PIECE + i] = lower + right * x->stride[2];
            }
            job->vector->bilinear(count, (size_t)x->c, pointers, PIECE, 0, weights, row + first * y->stride[2],
                                  (size_t)y->stride[2]);
        }
    }
}

// ---- planes

static void find_columns(const bilinear_job *job)
{
    const int64_t step = job->x->stride[2];
    for (int64_t o = 0; o < job->w->output; o++) {
        int64_t left, right;
        const float weight = taps_at(job->w, o, &left, &right);
        job->columns[o] = (stretch){(int32_t)(left * step), (int32_t)(right * step), 1.0f - weight, weight};
    }
}

static void stretch_row(const bilinear_job *job, const float *restrict in, float *restrict out)
{
    const stretch *restrict at = job->columns, *const end = at + job->w->output;
    for (; at < end; at++) {
        *out++ = in[at->left] * at->left_weight + in[at->right] * at->right_weight;
    }
}

#include "ops/nn/resize_bilinear_pairs.h"

// Computes output rows [begin, end), numbered plane after plane.
static void plane_rows(void *argument, size_t begin, size_t end)
{
    const bilinear_job *job = argument;
    const taper_volume *x = job->x, *y = job->y;
    const size_t width = (size_t)job->w->output;
    float *const rows = taper_place_take(&job->places, begin, (size_t)(x->n * x->c * job->h->output));
    taper_row_pair pair = {{rows, rows + width}, {-1, -1}};
    for (size_t r = begin; r < end; r++) {
        const int64_t plane = (int64_t)r / job->h->output, o = (int64_t)r % job->h->output;
        const int64_t n = plane / x->c, c = plane % x->c;
        const float *in = job->in + n * x->stride_n + c * x->stride_c;
        float *const out = job->out + n * y->stride_n + c * y->stride_c + o * y->stride[1];
        int64_t want[2], at[2];
        const float weight = taps_at(job->h, o, &at[0], &at[1]);
        if (job->h->taps == 1) { // the height stays, so rows are not blended
            stretch_row(job, in + at[0] * x->stride[1], out);
            continue;
        }
        if (job->at_once) {
            stretch_rows(job, in + at[0] * x->stride[1], in + at[1] * x->stride[1], weight, out);
            continue;
        }
        for (size_t i = 0; i < 2; i++) {
            want[i] = plane * x->size[1] + at[i];
        }
        taper_row_pair_want(&pair, want);
        for (size_t i = 0; i < 2; i++) {
            if (pair.held[i] != want[i]) {
                stretch_row(job, in + at[i] * x->stride[1], pair.rows[i]);
                pair.held[i] = want[i];
            }
        }
        job->vector->blend(width, pair.rows[0], pair.rows[1], 1.0f - weight, weight, out);
    }
    taper_place_leave(rows);
}

static taper_status run_planes(taper_run *run, bilinear_job *job)
{
    job->at_once = are_pairs(job);
    const size_t width = (size_t)job->w->output, rows = (size_t)(job->x->n * job->x->c * job->h->output);
    size_t bytes, columns;
    const int64_t step = job->x->stride[2], last = job->x->size[2] - 1;
    if (step < 0 || step > INT32_MAX || last > INT32_MAX / taper_max_i64(step, 1) ||
        !taper_mul_size(width, 2 * sizeof(float), &bytes) || !taper_mul_size(width, sizeof(stretch), &columns)) {
        return TAPER_DECLINED;
    }
    job->columns = taper_heap_alloc(run->heap, columns);
    if (job->columns == NULL || !taper_places_open(run, bytes, rows, &job->places)) {
        taper_heap_free(run->heap, job->columns, job->columns == NULL ? 0 : columns);
        return TAPER_DECLINED; // the loop of taper_resize_weighted computes the result, and reports missing memory
    }
    find_columns(job);
    const taper_status status = taper_run_range(run, plane_rows, job, rows, ROWS, (double)rows * (double)width);
    taper_places_close(run, &job->places);
    taper_heap_free(run->heap, job->columns, columns);
    return status;
}

taper_status taper_resize_bilinear(taper_run *run, const taper_resize_axis *axes, const taper_volume *x,
                                   const float *in, const taper_volume *y, float *out)
{
    for (size_t i = 1; i < 3; i++) {
        if (axes[i].taps < 1 || axes[i].taps > 2 || axes[i].count != NULL || axes[i].weight == NULL) {
            return TAPER_DECLINED;
        }
    }
    const bool pixels = taper_volume_channels_inner(x) && taper_volume_channels_inner(y);
    if (axes[0].input != 1 || axes[0].output != 1 || (!pixels && y->stride[2] != 1)) {
        return TAPER_DECLINED;
    }
    bilinear_job job = {.vector = taper_vector_f32_select(run->cpu),
                        .h = &axes[1],
                        .w = &axes[2],
                        .x = x,
                        .y = y,
                        .in = in,
                        .out = out};
    run->kernel = job.vector->name;
    if (!pixels) {
        return run_planes(run, &job);
    }
    return taper_run_floats(run, pixels_range, &job, (size_t)(x->n * axes[1].output),
                            2.0 * (double)(axes[2].output * x->c));
}
