// SPDX-License-Identifier: BSD-2-Clause
// avg_pool and adaptive_avg_pool in one to three dimensions.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/pool_planes.h"

typedef struct avg_work {
    taper_run *run;
    const taper_pooling *pooling;
    taper_volume x, y;
    const void *in;
    void *out;
    taper_dtype dtype;
    size_t item;
    bool count_padding;
    bool adaptive; // true if averages of planes are divided by the window's sizes one after the other, as PyTorch does
    int64_t divisor; // divisor of each sum, or 0 to divide by the size of the window
    const taper_quantizer *quantizer;
} avg_work;

typedef struct avg_place {
    taper_pool_window d, h, w;
    int64_t taps, divisor;
} avg_place;

enum { TILE = 128, LONG_WINDOW = 64, LANES = 16 };

#include "ops/nn/pool_avg_pixels.h"

// Adds windows of many elements in doubles, row by row, so that rounding errors do not accumulate.
static void channels_long_f32(const avg_work *work, const avg_place *place, const float *in, float *out)
{
    const taper_volume *x = &work->x;
    const double divisor = (double)place->divisor;
    enum { TOGETHER = 32 }; // number of pixels that a kernel adds while they are in the L1 cache
    taper_reduce_rows_f32_function *const add = find_add(work);
    for (int64_t c0 = 0; c0 < x->c; c0 += TILE) {
        const int64_t n = x->c - c0 < TILE ? x->c - c0 : TILE;
        double total[TILE] = {0.0};
        for (int64_t i = 0; i < place->d.taps; i++) {
            for (int64_t j = 0; j < place->h.taps; j++) {
                const float *row = in + c0 + (place->d.first + i) * x->stride[0] + (place->h.first + j) * x->stride[1] +
                                   place->w.first * x->stride[2];
                float part[TILE] = {0.0f};
                for (int64_t k = 0, some = 1; k < place->w.taps; k += some) {
                    if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, n)) {
                        return;
                    }
                    float sums[TILE];
                    const float *pixel = row + k * x->stride[2];
                    if (add != NULL) {
                        some = taper_min_i64(place->w.taps - k, TOGETHER);
                        add((size_t)some, (size_t)n, pixel, (size_t)x->stride[2], sums);
                        pixel = sums;
                    }
                    for (int64_t c = 0; c < n; c++) {
                        part[c] += pixel[c];
                    }
                }
                for (int64_t c = 0; c < n; c++) {
                    total[c] += (double)part[c];
                }
            }
        }
        for (int64_t c = 0; c < n; c++) {
            out[c0 + c] = (float)(total[c] / divisor);
        }
    }
}

static void channels_f32(const avg_work *work, const avg_place *place, const float *in, float *restrict out)
{
    const taper_volume *x = &work->x;
    if (place->taps > LONG_WINDOW) {
        channels_long_f32(work, place, in, out);
        return;
    }
    const int64_t channels = x->c;
    memset(out, 0, (size_t)channels * sizeof *out);
    for (int64_t i = 0; i < place->d.taps; i++) {
        for (int64_t j = 0; j < place->h.taps; j++) {
            const float *row = in + (place->d.first + i) * x->stride[0] + (place->h.first + j) * x->stride[1] +
                               place->w.first * x->stride[2];
            for (int64_t k = 0; k < place->w.taps; k++) {
                const float *restrict pixel = row + k * x->stride[2];
                for (int64_t c = 0; c < channels; c++) {
                    out[c] += pixel[c];
                }
            }
        }
    }
    const float divisor = (float)place->divisor;
    for (int64_t c = 0; c < channels; c++) {
        out[c] /= divisor;
    }
}

static void one_f32(const avg_work *work, const avg_place *place, const float *in, float *out)
{
    const taper_volume *x = &work->x;
    const bool is_long = place->taps > LONG_WINDOW;
    if (place->taps > LANES && x->stride[2] == 1 && place->w.taps == x->size[2] && x->stride[1] == x->size[2] &&
        place->d.taps == 1) {
        // Whole rows are contiguous, so they are added as one run of elements.
        const float *rows = in + place->d.first * x->stride[0] + place->h.first * x->stride[1];
        *out = (float)(taper_sum_f32(work->run, rows, place->taps) / (double)place->divisor);
        return;
    }
    double total = 0.0;
    float sum = 0.0f;
    for (int64_t i = 0; i < place->d.taps; i++) {
        for (int64_t j = 0; j < place->h.taps; j++) {
            const float *row = in + (place->d.first + i) * x->stride[0] + (place->h.first + j) * x->stride[1] +
                               place->w.first * x->stride[2];
            if (is_long && !taper_run_goes_on(work->run, 10)) {
                return;
            }
            if (is_long && x->stride[2] == 1) {
                total += taper_sum_f32(work->run, row, place->w.taps);
            } else if (is_long) {
                for (int64_t k = 0; k < place->w.taps; k++) {
                    if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, 1)) {
                        return;
                    }
                    total += (double)row[k * x->stride[2]];
                }
            } else {
                for (int64_t k = 0; k < place->w.taps; k++) {
                    sum += row[k * x->stride[2]];
                }
            }
        }
    }
    *out = is_long          ? (float)(total / (double)place->divisor)
           : work->adaptive ? sum / (float)place->d.taps / (float)place->h.taps / (float)place->w.taps
                            : sum / (float)place->divisor;
}

static void one_any(const avg_work *work, const avg_place *place, const char *in, char *out)
{
    const taper_volume *x = &work->x;
    double total = 0.0;
    int64_t exact = 0;
    for (int64_t i = 0; i < place->d.taps; i++) {
        for (int64_t j = 0; j < place->h.taps; j++) {
            for (int64_t k = 0; k < place->w.taps; k++) {
                if (!taper_pool_goes_on(work->run, place->taps, k, place->w.taps, 3)) {
                    return;
                }
                const int64_t at = (place->d.first + i) * x->stride[0] + (place->h.first + j) * x->stride[1] +
                                   (place->w.first + k) * x->stride[2];
                if (work->dtype == TAPER_I64) {
                    exact = (int64_t)((uint64_t)exact + (uint64_t)((const int64_t *)(const void *)in)[at]);
                } else {
                    total += taper_number_load(work->dtype, in, at);
                }
            }
        }
    }
    if (work->dtype == TAPER_I64) {
        // A divisor of -1 is special because INT64_MIN / -1 overflows.
        *(int64_t *)(void *)out = place->divisor == -1 ? (int64_t)(0 - (uint64_t)exact) : exact / place->divisor;
    } else if (work->quantizer != NULL) {
        // Quantized elements are added as integers. The zero point is subtracted before the division, which is in
        // single precision, and added afterwards.
        const double zero = (double)work->quantizer->zero_point;
        const float mean = (float)(total - zero * (double)place->taps) * (1.0f / (float)place->divisor);
        taper_number_store(work->dtype, out, 0, rint((double)mean) + zero);
    } else {
        taper_number_store(work->dtype, out, 0, total / (double)place->divisor);
    }
}

static void run_channels(const avg_work *work, const avg_place *place, int64_t in_at, int64_t out_at)
{
    const int64_t item = (int64_t)work->item;
    if (place->taps == 0) { // true if the window is completely in the padding
        for (int64_t c = 0; c < work->x.c; c++) {
            memset((char *)work->out + (out_at + c * work->y.stride_c) * item, 0, work->item);
        }
        return;
    }
    if (work->dtype == TAPER_F32) {
        const float *in = (const float *)work->in + in_at;
        float *out = (float *)work->out + out_at;
        if (taper_volume_channels_inner(&work->x) && taper_volume_channels_inner(&work->y)) {
            channels_f32(work, place, in, out);
            return;
        }
        for (int64_t c = 0; c < work->x.c; c++) {
            one_f32(work, place, in + c * work->x.stride_c, out + c * work->y.stride_c);
        }
        return;
    }
    for (int64_t c = 0; c < work->x.c; c++) {
        one_any(work, place, (const char *)work->in + (in_at + c * work->x.stride_c) * item,
                (char *)work->out + (out_at + c * work->y.stride_c) * item);
    }
}

// Returns the divisor of a window's sum. Returns INT64_MAX if the number of padded positions overflows.
static int64_t divisor_of(const avg_work *work, const avg_place *place)
{
    int64_t divisor = work->divisor;
    if (divisor != 0) {
        return divisor;
    }
    if (!work->count_padding) {
        return place->taps;
    }
    if (!taper_mul_i64(place->d.padded, place->h.padded, &divisor) ||
        !taper_mul_i64(divisor, place->w.padded, &divisor)) {
        return INT64_MAX;
    }
    return divisor;
}

static void run_avg(const avg_work *work)
{
    const taper_pool_axis *axis = work->pooling->axis;
    const taper_volume *x = &work->x, *y = &work->y;
    avg_work plane = *work;
    const bool inner = x->stride_c == 1;
    const int64_t planes = inner ? 1 : x->c;
    if (!inner) {
        plane.x.c = 1;
    }
    for (int64_t n = 0; n < x->n; n++) {
        for (int64_t p = 0; p < planes; p++) {
            const int64_t in_at = n * x->stride_n + p * x->stride_c;
            avg_place place;
            for (int64_t d = 0; d < axis[0].output; d++) {
                place.d = taper_pool_window_at(&axis[0], d);
                for (int64_t h = 0; h < axis[1].output; h++) {
                    place.h = taper_pool_window_at(&axis[1], h);
                    for (int64_t w = 0; w < axis[2].output; w++) {
                        place.w = taper_pool_window_at(&axis[2], w);
                        place.taps = place.d.taps * place.h.taps * place.w.taps;
                        place.divisor = divisor_of(work, &place);
                        if (!taper_run_goes_on(work->run, taper_pool_work(place.taps, plane.x.c))) {
                            return;
                        }
                        run_channels(&plane, &place, in_at,
                                     n * y->stride_n + p * y->stride_c + d * y->stride[0] + h * y->stride[1] +
                                         w * y->stride[2]);
                    }
                }
            }
        }
    }
}

static taper_status avg_pool(taper_call *call, const taper_tensor *x, const taper_pooling *pooling, bool count_padding,
                             int64_t divisor)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const bool quantized = x->quantizer != NULL && x->quantizer->scheme == TAPER_PER_TENSOR_AFFINE &&
                           (dtype == TAPER_QU8 || dtype == TAPER_QI8);
    const bool integral = dtype == TAPER_I64 && !pooling->axis[2].adaptive;
    if (!taper_dtype_is_float(dtype) && !integral && !quantized) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input must be a tensor of floating-point numbers");
    }
    avg_work work = {.run = call->run,
                     .pooling = pooling,
                     .x = taper_volume_of(x, pooling->spatial),
                     .dtype = dtype,
                     .item = taper_tensor_item(x),
                     .count_padding = count_padding,
                     .adaptive = pooling->axis[2].adaptive,
                     .divisor = divisor,
                     .quantizer = quantized ? x->quantizer : NULL};
    taper_tensor *y;
    TAPER_TRY(taper_volume_result(call, 0, x, dtype, pooling->spatial, pooling->size, pooling->spatial < 3, &y));
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
                                    .count_padding = count_padding,
                                    .adaptive = work.adaptive,
                                    .divisor = divisor};
        const taper_status status = taper_pool_planes_run(call->run, &planes);
        if (status != TAPER_DECLINED) {
            return status;
        }
    }
    run_avg(&work);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_avg_pool)
{
    taper_tensor *x;
    taper_pooling pooling;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_pooling_read(call, 1, false, x, taper_spatial_of(call), &pooling));
    bool count_padding;
    TAPER_TRY(taper_arg_bool(call, 5, &count_padding));
    int64_t divisor = 0;
    if (pooling.spatial > 1 && !taper_arg_is_none(call, 6)) {
        TAPER_TRY(taper_arg_int(call, 6, &divisor));
        if (divisor == 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "divisor_override must not be zero");
        }
    }
    return avg_pool(call, x, &pooling, count_padding, divisor);
}

TAPER_KERNEL(taper_op_adaptive_avg_pool)
{
    taper_tensor *x;
    taper_pooling pooling;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_pooling_read_adaptive(call, 1, x, taper_spatial_of(call), &pooling));
    return avg_pool(call, x, &pooling, false, 0);
}

// Computes adaptive_avg_pool. For an output of one pixel PyTorch computes a mean and accepts an input of any rank.
// Inputs of other ranks than usual are therefore viewed as one image whose channels are all their planes.
TAPER_KERNEL(taper_op_adaptive_avg_pool_mean)
{
    taper_tensor *x, *plain;
    static const int64_t one[] = {1, 1, 1};
    int64_t size[3], sizes[5] = {1, 1};
    size_t count;
    const size_t spatial = taper_spatial_of(call);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, spatial, spatial, size, &count));
    bool pixel = x->rank >= spatial && x->rank != spatial + 1 && x->rank != spatial + 2;
    for (size_t i = 0; i < spatial; i++) {
        pixel = pixel && size[i] == 1;
    }
    if (!pixel) {
        return taper_op_adaptive_avg_pool(call);
    }
    const size_t lead = x->rank - spatial;
    for (size_t i = 0; i < lead; i++) {
        sizes[0] *= x->sizes[i];
    }
    memcpy(sizes + 2, x->sizes + lead, spatial * sizeof *sizes);
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    taper_tensor planes = taper_tensor_local(plain);
    planes.rank = (uint8_t)(spatial + 2);
    memcpy(planes.sizes, sizes, sizeof sizes);
    taper_strides_contiguous(planes.rank, planes.sizes, planes.strides);
    taper_status status = taper_pool_area(call, &planes, spatial, one);
    taper_obj_release(&plain->head);
    if (status == TAPER_OK) {
        taper_tensor *const means = call->rets[0].as.tensor;
        means->rank = x->rank;
        memcpy(means->sizes, x->sizes, lead * sizeof *sizes);
        memcpy(means->sizes + lead, one, spatial * sizeof *one);
        taper_strides_contiguous(means->rank, means->sizes, means->strides);
    }
    return status;
}

taper_status taper_pool_area(taper_call *call, const taper_tensor *x, size_t spatial, const int64_t size[3])
{
    taper_pooling pooling;
    TAPER_TRY(taper_volume_check(call, x, spatial, true));
    TAPER_TRY(taper_pooling_adaptive(call, x, spatial, size, &pooling));
    return avg_pool(call, x, &pooling, false, 0);
}
