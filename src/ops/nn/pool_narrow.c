// SPDX-License-Identifier: BSD-2-Clause
// Pools small planes. LANES planes at a time are transposed, so that their elements at one position are contiguous,
// pooled position by position, and transposed back. Elements are taken in the order of pool_planes.c, so sums have the
// same bits, and the first of equal maxima is found.
#include "base/checked.h"
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/pool_planes.h"

// LANES: number of planes that are pooled together. MOST_ELEMENTS and MOST_WIDTH: bounds for a plane and its rows.
// MOST_TAPS: bound for the number of taps in a plane's windows together, divided by the number of the plane's elements.
enum { LANES = 16, MOST_ELEMENTS = 1024, MOST_WIDTH = 32, MOST_TAPS = 32 };

typedef struct turned {
    float in[MOST_ELEMENTS * LANES], out[MOST_ELEMENTS * LANES];
    int32_t at[MOST_ELEMENTS * LANES];
} turned;

static int64_t elements_of(const taper_volume *v)
{
    return v->size[0] * v->size[1] * v->size[2];
}

// Returns true if the planes and their elements are contiguous.
static bool is_dense(const taper_volume *v)
{
    return v->stride[2] == 1 && (v->size[1] == 1 || v->stride[1] == v->size[2]) &&
           (v->size[0] == 1 || v->stride[0] == v->size[1] * v->size[2]) && v->stride_c == elements_of(v) &&
           (v->n == 1 || v->stride_n == v->c * v->stride_c);
}

static bool is_small(const taper_volume *v, int64_t width)
{
    return v->size[2] <= width && v->size[1] <= MOST_ELEMENTS && v->size[0] <= MOST_ELEMENTS &&
           elements_of(v) <= MOST_ELEMENTS;
}

bool taper_pool_is_narrow(const taper_pool_planes *job)
{
    const taper_volume *x = &job->x, *y = &job->y;
    // The rows of an adaptive pool may be wide: its windows differ, so the kernels that compute a row of equal windows
    // cannot be used for it anyway.
    const int64_t width = job->pooling->axis[2].adaptive ? MOST_ELEMENTS : MOST_WIDTH;
    if (!is_small(x, width) || !is_small(y, width) || !is_dense(x) || !is_dense(y) || x->n * x->c < LANES / 4 ||
        (job->indices != NULL && !is_dense(&job->where))) {
        return false;
    }
    int64_t taps = 1;
    for (size_t a = 0; a < 3; a++) {
        int64_t most = 0;
        for (int64_t o = 0; o < y->size[a]; o++) {
            most = taper_max_i64(most, job->windows[a][o].taps);
        }
        taps *= most; // cannot overflow, because most is at most MOST_ELEMENTS for small planes
    }
    return taps * elements_of(y) <= MOST_TAPS * elements_of(x);
}

// Adds one more element to the window of each lane.
static inline void add(const float *restrict from, float *restrict sum)
{
    for (size_t c = 0; c < LANES; c++) {
        sum[c] += from[c];
    }
}

static inline void take_greater(const float *restrict from, float *restrict most)
{
    for (size_t c = 0; c < LANES; c++) {
        most[c] = ((from[c] > most[c]) | (from[c] != from[c])) ? from[c] : most[c];
    }
}

static inline void take_greater_at(const float *restrict from, int32_t position, float *restrict most,
                                   int32_t *restrict at)
{
    for (size_t c = 0; c < LANES; c++) {
        const int32_t here = -(int32_t)((from[c] > most[c]) | (from[c] != from[c]));
        most[c] = here != 0 ? from[c] : most[c];
        at[c] ^= (at[c] ^ position) & here;
    }
}

static void make_window(const taper_pool_planes *job, const taper_pool_window *d, const taper_pool_window *h,
                        const taper_pool_window *w, turned *t, size_t o)
{
    const taper_volume *x = &job->x;
    float *out = t->out + o * LANES;
    const int64_t first = (d->first * x->size[1] + h->first) * x->size[2] + w->first;
    if (job->max) {
        memcpy(out, t->in + first * LANES, LANES * sizeof *out);
    } else {
        memset(out, 0, LANES * sizeof *out);
    }
    for (size_t c = 0; c < LANES && job->indices != NULL; c++) {
        t->at[o * LANES + c] = (int32_t)first;
    }
    for (int64_t i = 0; i < d->taps; i++) {
        for (int64_t j = 0; j < h->taps; j++) {
            int64_t at = first + (i * d->step * x->size[1] + j * h->step) * x->size[2];
            for (int64_t k = 0; k < w->taps; k++, at += w->step) {
                if (!job->max) {
                    add(t->in + at * LANES, out);
                } else if (job->indices != NULL) {
                    take_greater_at(t->in + at * LANES, (int32_t)at, out, t->at + o * LANES);
                } else {
                    take_greater(t->in + at * LANES, out);
                }
            }
        }
    }
    if (job->max) {
        return;
    }
    if (job->adaptive) {
        const float deep = (float)d->taps, high = (float)h->taps, wide = (float)w->taps;
        for (size_t c = 0; c < LANES; c++) {
            out[c] = out[c] / deep / high / wide;
        }
        return;
    }
    const float divisor = taper_pool_divisor(job, d, h, w);
    for (size_t c = 0; c < LANES; c++) {
        out[c] /= divisor;
    }
}

typedef struct narrow_run {
    const taper_pool_planes *job;
    taper_places places;
    size_t groups;
} narrow_run;

static void narrow_range(void *argument, size_t begin, size_t end)
{
    const narrow_run *r = argument;
    const taper_pool_planes *job = r->job;
    const taper_volume *x = &job->x, *y = &job->y;
    const size_t in = (size_t)elements_of(x), out = (size_t)elements_of(y), planes = (size_t)(x->n * x->c);
    turned *t = taper_place_take(&r->places, begin, r->groups);
    memset(t->in, 0, in * LANES * sizeof *t->in); // clears lanes that have no plane
    for (size_t group = begin; group < end; group++) {
        const size_t plane = group * LANES, lanes = taper_min_size(planes - plane, LANES);
        job->vector->transpose(lanes, in, job->in + plane * in, in, t->in, LANES);
        size_t o = 0;
        for (int64_t i = 0; i < y->size[0]; i++) {
            for (int64_t j = 0; j < y->size[1]; j++) {
                for (int64_t k = 0; k < y->size[2]; k++, o++) {
                    make_window(job, &job->windows[0][i], &job->windows[1][j], &job->windows[2][k], t, o);
                }
            }
        }
        job->vector->transpose(out, lanes, t->out, LANES, job->out + plane * out, out);
        for (size_t c = 0; c < lanes && job->indices != NULL; c++) {
            for (size_t k = 0; k < out; k++) {
                job->indices[(plane + c) * out + k] = t->at[k * LANES + c];
            }
        }
    }
    taper_place_leave(t);
}

taper_status taper_pool_narrow_run(taper_run *run, const taper_pool_planes *job)
{
    const size_t planes = (size_t)(job->x.n * job->x.c), groups = (planes - 1) / LANES + 1;
    const double floats = (double)(elements_of(&job->x) + elements_of(&job->y));
    narrow_run r = {.job = job, .groups = groups};
    if (!taper_places_open(run, sizeof(turned), groups, &r.places)) {
        return TAPER_DECLINED;
    }
    const taper_status status = taper_run_floats(run, narrow_range, &r, groups, 2 * LANES * floats);
    taper_places_close(run, &r.places);
    return status;
}
