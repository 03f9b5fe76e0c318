// SPDX-License-Identifier: BSD-2-Clause
// Average pooling of quantized tensors; results keep the quantizer. There are three methods, as in PyTorch. QNNPACK's
// method, for quint8, divides by the whole size of the window. The method for channels-last tensors requantizes sums of
// distances from the zero point. The plain method is for all other tensors.
#include "ir/tensor.h"
#include "ops/list/shared_kernels.h"
#include "ops/nn/pool.h"
#include "ops/quantized/quantized.h"

typedef enum pool_form {
    POOL_QNNPACK,
    POOL_CHANNELS_LAST,
    POOL_PLAIN,
    POOL_ADAPTIVE_CHANNELS_LAST,
    POOL_ADAPTIVE_PLAIN
} pool_form;

typedef struct pool_work {
    const taper_pooling *pooling;
    pool_form form;
    taper_dtype dtype;
    taper_volume x, y;
    const void *in;
    void *out;
    float scale;
    int64_t zero_point;
    bool count_padding;
    int64_t divisor; // divisor of each sum, or 0 to divide by the size of the window
} pool_work;

typedef struct pool_place {
    taper_pool_window d, h, w;
    int64_t taps;
} pool_place;

static int64_t divisor_of(const pool_work *work, const pool_place *place)
{
    return work->divisor != 0    ? work->divisor
           : work->count_padding ? place->d.padded * place->h.padded * place->w.padded
                                 : place->taps;
}

static int64_t round_plain(const pool_work *work, const pool_place *place, int64_t sum)
{
    const taper_q_range range = taper_q_range_of(work->dtype);
    const float multiplier = (float)(1.0 / (double)divisor_of(work, place));
    const float distance = (float)(int32_t)(uint32_t)(uint64_t)(sum - place->taps * work->zero_point);
    const float q = nearbyintf(distance * multiplier + (float)work->zero_point);
    return taper_q_clamp(q >= -2147483648.0f && q < 2147483648.0f ? (int64_t)q : INT32_MIN, range);
}

static int64_t round_adaptive_plain(const pool_work *work, const pool_place *place, int64_t sum)
{
    const float share = (float)(1.0 / (double)place->d.taps) / (float)place->h.taps / (float)place->w.taps;
    const float q = nearbyintf((float)sum * share);
    return taper_q_clamp(q >= -2147483648.0f && q < 2147483648.0f ? (int64_t)q : INT32_MIN,
                         taper_q_range_of(work->dtype));
}

static int64_t round_sum(const pool_work *work, const pool_place *place, int64_t sum, bool wide)
{
    const int32_t acc = (int32_t)(uint32_t)(uint64_t)(sum - place->taps * work->zero_point);
    const taper_q_range range = taper_q_range_of(work->dtype);
    if (work->form == POOL_QNNPACK) {
        const taper_pool_axis *axis = work->pooling->axis;
        const float size = (float)(axis[1].kernel * axis[2].kernel);
        return taper_q_requantize(acc, work->scale / (work->scale * size), work->zero_point, range);
    }
    if (work->form == POOL_PLAIN) {
        return round_plain(work, place, sum);
    }
    if (work->form == POOL_ADAPTIVE_PLAIN) {
        return round_adaptive_plain(work, place, sum);
    }
    const float multiplier = 1.0f / (float)(work->form == POOL_CHANNELS_LAST ? divisor_of(work, place) : place->taps);
    return wide ? taper_q_round_wide((float)acc * multiplier, work->zero_point, range)
                : taper_q_round((float)acc * (1.0f / (1.0f / multiplier)), work->zero_point, range);
}

static void pool_channels(taper_run *run, const pool_work *work, const pool_place *place, int64_t in_at, int64_t out_at)
{
    const taper_volume *x = &work->x;
    const int64_t wide = work->form == POOL_CHANNELS_LAST && work->dtype != TAPER_QI32 ? x->c / 8 * 8 : 0;
    for (int64_t c = 0; c < x->c; c++) {
        int64_t sum = 0;
        for (int64_t d = 0; d < place->d.taps; d++) {
            for (int64_t h = 0; h < place->h.taps; h++) {
                for (int64_t w = 0; w < place->w.taps; w++) {
                    if (!taper_pool_goes_on(run, place->taps, w, place->w.taps, 1)) {
                        return;
                    }
                    sum += taper_q_load(work->dtype, work->in,
                                        in_at + c * x->stride_c + (place->d.first + d) * x->stride[0] +
                                            (place->h.first + h) * x->stride[1] + (place->w.first + w) * x->stride[2]);
                }
            }
        }
        taper_q_store(work->dtype, work->out, out_at + c * work->y.stride_c, round_sum(work, place, sum, c < wide));
    }
}

static taper_status run_pool(taper_run *run, const pool_work *work)
{
    const taper_pool_axis *axis = work->pooling->axis;
    const taper_volume *x = &work->x, *y = &work->y;
    for (int64_t n = 0; n < x->n; n++) {
        pool_place place;
        for (int64_t d = 0; d < axis[0].output; d++) {
            place.d = taper_pool_window_at(&axis[0], d);
            for (int64_t h = 0; h < axis[1].output; h++) {
                place.h = taper_pool_window_at(&axis[1], h);
                for (int64_t w = 0; w < axis[2].output; w++) {
                    place.w = taper_pool_window_at(&axis[2], w);
                    place.taps = place.d.taps * place.h.taps * place.w.taps;
                    TAPER_TRY(taper_run_spend(run, taper_pool_work(place.taps + 5, x->c) * 2));
                    pool_channels(run, work, &place, n * x->stride_n,
                                  n * y->stride_n + d * y->stride[0] + h * y->stride[1] + w * y->stride[2]);
                }
            }
        }
    }
    return TAPER_OK;
}

// Returns true if the tensor is channels-last, with size 1 for missing dimensions.
static bool is_channels_last(const taper_tensor *x, size_t spatial)
{
    taper_tensor seen = taper_tensor_local(x);
    if (spatial == 1 && x->rank == 3) { // a 1-D image is viewed as N, C, 1, W
        seen.rank = 4;
        seen.sizes[3] = x->sizes[2];
        seen.strides[3] = x->strides[2];
        seen.sizes[2] = 1;
        seen.strides[2] = taper_wrap_mul(x->sizes[2], x->strides[2]);
    }
    return taper_tensor_is_channels_last(&seen);
}

// Makes result 0. If `planes` is set, the result has channels-last strides.
static taper_status ret_pooled(taper_call *call, const taper_tensor *x, const taper_pooling *pooling, bool planes,
                               taper_tensor **y)
{
    const size_t rank = x->rank, spatial = pooling->spatial;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], step = x->sizes[rank - spatial - 1];
    memcpy(sizes, x->sizes, sizeof sizes);
    for (size_t i = 0; i < spatial; i++) {
        sizes[rank - spatial + i] = pooling->size[3 - spatial + i];
    }
    planes = planes && rank == spatial + 2;
    if (planes) {
        strides[1] = 1;
        for (size_t d = rank; d-- > 2;) {
            strides[d] = step;
            step *= sizes[d]; // may wrap around, but then taper_tensor_new fails and strides are not used
        }
        strides[0] = step;
    }
    return taper_ret_quantized(call, 0, (taper_dtype)x->dtype, rank, sizes, planes ? strides : NULL,
                               x->quantizer->scale, x->quantizer->zero_point, y);
}

static taper_status average(taper_call *call, taper_tensor *x, const taper_pooling *pooling, pool_form form,
                            bool count_padding, int64_t divisor)
{
    const size_t spatial = pooling->spatial;
    pool_work work = {.pooling = pooling,
                      .form = form,
                      .dtype = (taper_dtype)x->dtype,
                      .scale = (float)x->quantizer->scale,
                      .zero_point = x->quantizer->zero_point,
                      .count_padding = count_padding,
                      .divisor = divisor};
    const bool own = form == POOL_CHANNELS_LAST || form == POOL_ADAPTIVE_CHANNELS_LAST;
    bool planes = own && (spatial == 3 || taper_tensor_suggests_channels_last(x));
    if (form == POOL_QNNPACK) { // the result is always channels-last, even if it is also contiguous
        const bool one_place = pooling->size[1] == 1 && pooling->size[2] == 1;
        planes = taper_tensor_suggests_channels_last(x) || one_place || x->sizes[x->rank - spatial - 1] == 1;
    }
    taper_tensor *y;
    TAPER_TRY(ret_pooled(call, x, pooling, planes, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    work.x = taper_volume_of(x, spatial);
    work.y = taper_volume_of(y, spatial);
    work.in = taper_tensor_data(x);
    work.out = taper_tensor_mutable(y);
    return run_pool(call->run, &work);
}

TAPER_KERNEL(taper_op_q_avg_pool)
{
    taper_tensor *x;
    taper_pooling pooling;
    bool ceil_mode, count_padding;
    int64_t divisor = 0;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_pooling_read(call, 1, false, x, taper_spatial_of(call), &pooling));
    TAPER_TRY(taper_arg_bool(call, 4, &ceil_mode));
    TAPER_TRY(taper_arg_bool(call, 5, &count_padding));
    if (pooling.spatial > 1 && !taper_arg_is_none(call, 6)) {
        TAPER_TRY(taper_arg_int(call, 6, &divisor));
        if (divisor == 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "divisor_override must not be zero");
        }
    }
    const bool bytes = pooling.spatial < 3 && x->dtype == TAPER_QU8 && !ceil_mode;
    const bool last = pooling.spatial == 3 || is_channels_last(x, pooling.spatial);
    return average(call, x, &pooling,
                   bytes  ? POOL_QNNPACK
                   : last ? POOL_CHANNELS_LAST
                          : POOL_PLAIN,
                   count_padding, divisor);
}

TAPER_KERNEL(taper_op_q_adaptive_avg_pool)
{
    taper_tensor *x;
    taper_pooling pooling;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_pooling_read_adaptive(call, 1, x, taper_spatial_of(call), &pooling));
    bool even = pooling.spatial < 3 && x->dtype == TAPER_QU8, same = true;
    for (size_t i = 1; i < 3; i++) {
        taper_pool_axis *axis = &pooling.axis[i];
        even = even && axis->output != 0 && axis->input % axis->output == 0;
        same = same && axis->output == axis->input;
        axis->kernel = axis->output != 0 ? axis->input / axis->output : 1;
    }
    const bool last = is_channels_last(x, pooling.spatial);
    return average(call, x, &pooling,
                   even && !same ? POOL_QNNPACK
                   : last        ? POOL_ADAPTIVE_CHANNELS_LAST
                                 : POOL_ADAPTIVE_PLAIN,
                   false, 0);
}

// Computes maximum pools that exist for quantized tensors only.
TAPER_KERNEL(taper_op_q_max_pool)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    return taper_op_max_pool(call);
}
