// SPDX-License-Identifier: BSD-2-Clause
// Bilinear interpolation of floats. NHWC: pieces of output rows, every pixel from its four neighbours. A result of
// planes (from planes or from NHWC): two rows of the input's height at a time are stretched to the output's width, then
// blended.
#include "backends/cpu/fast_cpu.h"
#include "backends/cpu/kernel_select.h"
#include "backends/cpu/row_pair.h"
#include "platform/threads.h"

enum { PIECE = 64 }; // pixels

typedef struct bilinear_job {
    const taper_vector_entry *vector;
    const taper_resize_axis *h, *w;
    const taper_volume *x, *y;
    const float *in;
    float *out;
    float *rows; // two per task
    size_t tasks;
} bilinear_job;

// The two input positions of an output position, and the weight of the second.
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

static void stretch_row(const bilinear_job *job, const float *in, float *out)
{
    const int64_t step = job->x->stride[2], count = job->w->output;
    for (int64_t o = 0; o < count; o++) {
        int64_t left, right;
        const float weight = taps_at(job->w, o, &left, &right);
        out[o] = in[left * step] * (1.0f - weight) + in[right * step] * weight;
    }
}

static void planes_task(void *argument, size_t task)
{
    const bilinear_job *job = argument;
    const taper_volume *x = job->x, *y = job->y;
    const size_t planes = (size_t)(x->n * x->c), width = (size_t)job->w->output;
    const size_t begin = task * planes / job->tasks, end = (task + 1) * planes / job->tasks;
    for (size_t p = begin; p < end; p++) {
        const int64_t n = (int64_t)p / x->c, c = (int64_t)p % x->c;
        const float *in = job->in + n * x->stride_n + c * x->stride_c;
        float *out = job->out + n * y->stride_n + c * y->stride_c;
        taper_row_pair pair = {{job->rows + 2 * task * width, job->rows + (2 * task + 1) * width}, {-1, -1}};
        for (int64_t o = 0; o < job->h->output; o++) {
            int64_t want[2];
            const float weight = taps_at(job->h, o, &want[0], &want[1]);
            taper_row_pair_want(&pair, want);
            for (size_t i = 0; i < 2; i++) {
                if (pair.held[i] != want[i]) {
                    stretch_row(job, in + want[i] * x->stride[1], pair.rows[i]);
                    pair.held[i] = want[i];
                }
            }
            job->vector->blend(width, pair.rows[0], pair.rows[1], 1.0f - weight, weight, out + o * y->stride[1]);
        }
    }
}

static bool run_planes(taper_run *run, bilinear_job *job)
{
    const size_t planes = (size_t)(job->x->n * job->x->c);
    const unsigned threads = taper_pool_threads(run->pool);
    job->tasks = threads == 1 ? 1 : taper_min_size(planes, 4 * (size_t)threads);
    size_t bytes;
    if (!taper_mul_size((size_t)job->w->output, 2 * sizeof(float) * job->tasks, &bytes)) {
        return false;
    }
    job->rows = taper_heap_alloc(run->heap, bytes);
    if (job->rows == NULL) {
        return false; // the portable loops say so, if they need memory
    }
    taper_pool_each(run->pool, planes_task, job, job->tasks);
    taper_heap_free(run->heap, job->rows, bytes);
    return true;
}

bool taper_cpu_bilinear(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const float *in,
                        const taper_volume *y, float *out)
{
    for (size_t i = 1; i < 3; i++) {
        if (axes[i].taps < 1 || axes[i].taps > 2 || axes[i].count != NULL || axes[i].weight == NULL) {
            return false;
        }
    }
    const bool pixels = taper_volume_channels_inner(x) && taper_volume_channels_inner(y);
    if (axes[0].input != 1 || axes[0].output != 1 || (!pixels && y->stride[2] != 1)) {
        return false;
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
    taper_pool_range(run->pool, pixels_range, &job, (size_t)(x->n * axes[1].output),
                     taper_cpu_grain((size_t)(axes[2].output * x->c)));
    return true;
}
