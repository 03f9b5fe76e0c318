// SPDX-License-Identifier: BSD-2-Clause
// max_pool and adaptive_max_pool in one to three dimensions, with and without indices. The result is the first of the
// largest elements of a window. A NaN is larger than every number, and the last NaN is the result. A window without
// elements, which dilation can cause, gives -inf or the smallest integer, and its first position. PyTorch 2 accepts
// integers, except in the pools that it does not compute as 2-D or 3-D pools; those pools refuse integers here too.
#include <math.h>

#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/pool_planes.h"

typedef struct max_work {
    taper_run *run;
    const taper_pooling *pooling;
    taper_volume x, y, where;
    const void *in;
    void *out;
    int64_t *indices; // data of result 1, or NULL
    taper_dtype dtype;
    size_t item;
} max_work;

// The windows of one output position along the three axes.
typedef struct max_place {
    taper_pool_window d, h, w;
    int64_t taps;  // number of elements in the window
    int64_t first; // index of the window's first position, which is reported for an empty window
} max_place;

static inline int64_t index_of(const taper_volume *x, int64_t d, int64_t h, int64_t w)
{
    return (d * x->size[1] + h) * x->size[2] + w;
}

#include "ops/nn/pool_max_where.h"

// Computes the pixel of one output position, for contiguous channels.
static void channels_f32(const max_work *work, const max_place *place, const float *in, float *restrict out,
                         int64_t *restrict where)
{
    const taper_volume *x = &work->x;
    const int64_t channels = x->c;
    bool fresh = true;
    if (where != NULL) {
        fresh = false;
        for (int64_t c = 0; c < channels; c++) {
            out[c] = -INFINITY;
            where[c] = place->first;
        }
    }
    for (int64_t i = 0; i < place->d.taps; i++) {
        const int64_t d = place->d.first + i * place->d.step;
        for (int64_t j = 0; j < place->h.taps; j++) {
            const int64_t h = place->h.first + j * place->h.step;
            for (int64_t k = 0; k < place->w.taps; k++) {
                if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, x->c)) {
                    return;
                }
                const int64_t w = place->w.first + k * place->w.step;
                const float *restrict pixel = in + d * x->stride[0] + h * x->stride[1] + w * x->stride[2];
                if (fresh) {
                    memcpy(out, pixel, (size_t)channels * sizeof *out);
                    fresh = false;
                } else if (where == NULL) {
                    for (int64_t c = 0; c < channels; c++) {
                        const float v = pixel[c], m = out[c];
                        out[c] = ((v > m) | (v != v)) ? v : m;
                    }
                } else {
                    const int64_t position = index_of(x, d, h, w);
                    // The loop has no branches, because they would be unpredictable.
                    for (int64_t c = 0; c < channels; c++) {
                        const float v = pixel[c], m = out[c];
                        where[c] ^= (where[c] ^ position) & -(int64_t)((v > m) | (v != v));
                        out[c] = ((v > m) | (v != v)) ? v : m;
                    }
                }
            }
        }
    }
    if (fresh) {
        for (int64_t c = 0; c < channels; c++) {
            out[c] = -INFINITY;
        }
    }
}

#define ONE(name, T, LEAST)                                                                                            \
    static void name(const max_work *work, const max_place *place, const T *in, T *out, int64_t *where)                \
    {                                                                                                                  \
        const taper_volume *x = &work->x;                                                                              \
        T m = LEAST;                                                                                                   \
        int64_t position = place->first;                                                                               \
        for (int64_t i = 0; i < place->d.taps; i++) {                                                                  \
            const int64_t d = place->d.first + i * place->d.step;                                                      \
            for (int64_t j = 0; j < place->h.taps; j++) {                                                              \
                const int64_t h = place->h.first + j * place->h.step;                                                  \
                const T *row = in + d * x->stride[0] + h * x->stride[1] + place->w.first * x->stride[2];               \
                const int64_t step = place->w.step * x->stride[2];                                                     \
                if (where == NULL) {                                                                                   \
                    for (int64_t k = 0; k < place->w.taps; k++) {                                                      \
                        if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, 1)) {                        \
                            return;                                                                                    \
                        }                                                                                              \
                        const T v = row[k * step];                                                                     \
                        m = ((v > m) | (v != v)) ? v : m;                                                              \
                    }                                                                                                  \
                    continue;                                                                                          \
                }                                                                                                      \
                for (int64_t k = 0; k < place->w.taps; k++) {                                                          \
                    if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, 1)) {                            \
                        return;                                                                                        \
                    }                                                                                                  \
                    const T v = row[k * step];                                                                         \
                    if (v > m || v != v) {                                                                             \
                        m = v;                                                                                         \
                        position = index_of(x, d, h, place->w.first + k * place->w.step);                              \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        *out = m;                                                                                                      \
        if (where != NULL) {                                                                                           \
            *where = position;                                                                                         \
        }                                                                                                              \
    }
ONE(one_f32, float, -INFINITY)
ONE(one_f64, double, -(double)INFINITY)
ONE(one_i64, int64_t, INT64_MIN)
#undef ONE

static double least_of(taper_dtype dtype)
{
    switch (dtype) {
    case TAPER_U8:
        return 0;
    case TAPER_I8:
        return INT8_MIN;
    case TAPER_I16:
        return INT16_MIN;
    case TAPER_I32:
        return INT32_MIN;
    default:
        return -(double)INFINITY;
    }
}

// Computes one output element for any dtype whose elements a double represents exactly.
static void one_any(const max_work *work, const max_place *place, const char *in, char *out, int64_t *where)
{
    const taper_volume *x = &work->x;
    double m = least_of(work->dtype);
    int64_t position = place->first;
    for (int64_t i = 0; i < place->d.taps; i++) {
        const int64_t d = place->d.first + i * place->d.step;
        for (int64_t j = 0; j < place->h.taps; j++) {
            const int64_t h = place->h.first + j * place->h.step;
            for (int64_t k = 0; k < place->w.taps; k++) {
                if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, x->c)) {
                    return;
                }
                const int64_t w = place->w.first + k * place->w.step;
                const double v =
                    taper_number_load(work->dtype, in, d * x->stride[0] + h * x->stride[1] + w * x->stride[2]);
                if (v > m || v != v) {
                    m = v;
                    position = index_of(x, d, h, w);
                }
            }
        }
    }
    taper_number_store(work->dtype, out, 0, m);
    if (where != NULL) {
        *where = position;
    }
}

static void run_channels(const max_work *work, const max_place *place, int64_t in_at, int64_t out_at, int64_t where_at)
{
    int64_t *where = work->indices != NULL ? work->indices + where_at : NULL;
    if (work->dtype == TAPER_F32) {
        const float *in = (const float *)work->in + in_at;
        float *out = (float *)work->out + out_at;
        if (taper_volume_channels_inner(&work->x) && taper_volume_channels_inner(&work->y) &&
            (where == NULL || taper_volume_channels_inner(&work->where))) {
            const int64_t places = work->x.size[0] * work->x.size[1] * work->x.size[2];
            if (has_where(work, where, places)) {
                channels_where(work, place, in, out, where);
            } else {
                channels_f32(work, place, in, out, where);
            }
            return;
        }
        for (int64_t c = 0; c < work->x.c; c++) {
            one_f32(work, place, in + c * work->x.stride_c, out + c * work->y.stride_c,
                    where != NULL ? where + c * work->where.stride_c : NULL);
        }
        return;
    }
    for (int64_t c = 0; c < work->x.c && work->dtype == TAPER_F64; c++) {
        one_f64(work, place, (const double *)work->in + in_at + c * work->x.stride_c,
                (double *)work->out + out_at + c * work->y.stride_c,
                where != NULL ? where + c * work->where.stride_c : NULL);
    }
    for (int64_t c = 0; c < work->x.c && work->dtype == TAPER_I64; c++) {
        one_i64(work, place, (const int64_t *)work->in + in_at + c * work->x.stride_c,
                (int64_t *)work->out + out_at + c * work->y.stride_c,
                where != NULL ? where + c * work->where.stride_c : NULL);
    }
    const int64_t item = (int64_t)work->item;
    for (int64_t c = 0; c < work->x.c && work->dtype != TAPER_F64 && work->dtype != TAPER_I64; c++) {
        one_any(work, place, (const char *)work->in + (in_at + c * work->x.stride_c) * item,
                (char *)work->out + (out_at + c * work->y.stride_c) * item,
                where != NULL ? where + c * work->where.stride_c : NULL);
    }
}

#include "ops/nn/pool_max_rows.h"

static void run_max(const max_work *work)
{
    const taper_pool_axis *axis = work->pooling->axis;
    const taper_volume *x = &work->x, *y = &work->y, *i = &work->where;
    // If channels are planes, the loop over channels is the outer loop, so that each plane stays in the cache.
    max_work plane = *work;
    const bool inner = x->stride_c == 1;
    const int64_t planes = inner ? 1 : x->c;
    if (!inner) {
        plane.x.c = 1;
    }
    int64_t begin, end;
    rows_inside(&plane, &begin, &end);
    for (int64_t n = 0; n < x->n; n++) {
        for (int64_t p = 0; p < planes; p++) {
            const int64_t in_at = n * x->stride_n + p * x->stride_c;
            max_place place;
            for (int64_t d = 0; d < axis[0].output; d++) {
                place.d = taper_pool_window_at(&axis[0], d);
                for (int64_t h = 0; h < axis[1].output; h++) {
                    place.h = taper_pool_window_at(&axis[1], h);
                    const int64_t out_at = n * y->stride_n + p * y->stride_c + d * y->stride[0] + h * y->stride[1];
                    if (begin < end) {
                        row_f64(&plane, &place,
                                (const double *)work->in + in_at + (begin * axis[2].stride - axis[2].padding),
                                (double *)work->out + out_at + begin, end - begin);
                    }
                    for (int64_t w = 0; w < axis[2].output; w++) {
                        if (w == begin && begin < end) {
                            w = end - 1;
                            continue;
                        }
                        place.w = taper_pool_window_at(&axis[2], w);
                        place.taps = place.d.taps * place.h.taps * place.w.taps;
                        if (!taper_run_goes_on(work->run, taper_pool_work(place.taps, plane.x.c))) {
                            return;
                        }
                        place.first = index_of(x, place.d.first, place.h.first, place.w.first);
                        run_channels(&plane, &place, in_at, out_at + w * y->stride[2],
                                     n * i->stride_n + p * i->stride_c + d * i->stride[0] + h * i->stride[1] +
                                         w * i->stride[2]);
                    }
                }
            }
        }
    }
}

static taper_status max_pool(taper_call *call, const taper_tensor *x, const taper_pooling *pooling)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const bool indices = call->ret_count > 1;
    const bool whole =
        taper_dtype_is_integral(dtype) && !pooling->axis[2].adaptive && (pooling->spatial > 1 || indices);
    if (!taper_dtype_is_float(dtype) && !whole && !(taper_dtype_is_quantized(dtype) && dtype <= TAPER_QI32)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "not implemented for '%s'", taper_dtype_torch_name(dtype));
    }
    // PyTorch computes 1-D pools with indices and adaptive 1-D pools as 2-D pools, and other 1-D pools as 1-D.
    const bool follows = pooling->spatial == 2 || (pooling->spatial == 1 && indices);
    max_work work = {.run = call->run,
                     .pooling = pooling,
                     .x = taper_volume_of(x, pooling->spatial),
                     .dtype = dtype,
                     .item = taper_tensor_item(x)};
    taper_tensor *y, *where = NULL;
    TAPER_TRY(taper_volume_result(call, 0, x, dtype, pooling->spatial, pooling->size, follows, &y));
    if (indices) {
        TAPER_TRY(taper_volume_result(call, 1, x, TAPER_I64, pooling->spatial, pooling->size, follows, &where));
        work.where = taper_volume_of(where, pooling->spatial);
        work.indices = taper_tensor_mutable(where);
    }
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    work.y = taper_volume_of(y, pooling->spatial);
    work.in = taper_tensor_data(x);
    work.out = taper_tensor_mutable(y);
    if (dtype == TAPER_F32) {
        taper_pool_planes planes = {.pooling = pooling,
                                    .x = work.x,
                                    .y = work.y,
                                    .in = work.in,
                                    .out = work.out,
                                    .where = work.where,
                                    .indices = work.indices,
                                    .max = true};
        const taper_status status = taper_pool_planes_run(call->run, &planes);
        if (status != TAPER_DECLINED) {
            return status;
        }
    }
    run_max(&work);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_max_pool)
{
    taper_tensor *x;
    taper_pooling pooling;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_pooling_read(call, 1, true, x, taper_spatial_of(call), &pooling));
    return max_pool(call, x, &pooling);
}

TAPER_KERNEL(taper_op_adaptive_max_pool)
{
    taper_tensor *x;
    taper_pooling pooling;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_pooling_read_adaptive(call, 1, x, taper_spatial_of(call), &pooling));
    return max_pool(call, x, &pooling);
}
