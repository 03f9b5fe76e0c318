// SPDX-License-Identifier: BSD-2-Clause
// Quantizing and dequantizing, by the formulas in quantized.h. Results have the memory format that the argument's
// strides suggest.
#include <inttypes.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/engine/view_shape.h"
#include "ops/quantized/quantized.h"
#include "ops/quantized/quantized_bytes.h"

// ---- channels in memory order

static taper_q_runs runs_of(const taper_tensor *t, const taper_quantizer *z)
{
    taper_q_runs runs = {1, 1, taper_tensor_numel(t)};
    if (z->scales == NULL || runs.inner == 0) {
        return runs;
    }
    runs = (taper_q_runs){1, t->sizes[z->axis], 1};
    const bool planes = !taper_tensor_is_contiguous(t);
    for (int64_t d = 0; d < t->rank; d++) {
        // Place of dimension d in channels-last order: N, (D), H, W, C.
        const int64_t place = !planes || d == 0 ? d : d == 1 ? t->rank : d - 1;
        const int64_t axis = !planes || z->axis == 0 ? z->axis : z->axis == 1 ? t->rank : z->axis - 1;
        if (place < axis) {
            runs.outer *= t->sizes[d];
        } else if (place > axis) {
            runs.inner *= t->sizes[d];
        }
    }
    return runs;
}

// Returns the tensor (retained) if it is dense in the format that its strides suggest, otherwise a copy in this format.
// Also returns the strides of the format.
static taper_status in_format(taper_run *run, taper_tensor *x, taper_tensor **plain, int64_t *strides)
{
    const bool planes = taper_tensor_suggests_channels_last(x);
    if (planes) {
        taper_strides_channels_last(x->rank, x->sizes, strides);
    } else {
        taper_strides_contiguous(x->rank, x->sizes, strides);
    }
    if (planes ? taper_tensor_is_channels_last(x) : taper_tensor_is_contiguous(x)) {
        taper_obj_retain(&x->head);
        *plain = x;
        return TAPER_OK;
    }
    const int64_t format = !planes        ? TAPER_FORMAT_CONTIGUOUS
                           : x->rank == 4 ? TAPER_FORMAT_CHANNELS_LAST
                                          : TAPER_FORMAT_CHANNELS_LAST_3D;
    return taper_view_clone(run, x, format, plain);
}

// ---- quantizing

static taper_status quantize_elements(taper_run *run, taper_tensor *y, const float *from)
{
    const taper_quantizer *z = y->quantizer;
    const taper_dtype dtype = (taper_dtype)y->dtype;
    const taper_q_range range = taper_q_range_of(dtype);
    const taper_q_runs runs = runs_of(y, z);
    void *to = taper_tensor_mutable(y);
    int64_t at = 0;
    if (taper_q_has_kernels(run, dtype)) {
        return taper_q_quantize_bytes(run, dtype, z, &runs, from, to);
    }
    for (int64_t o = 0; o < runs.outer; o++) {
        for (int64_t c = 0; c < runs.channels; c++) {
            double scale;
            int64_t point;
            taper_q_channel_params(z, c, &scale, &point);
            const float inverse = 1.0f / (float)scale;
            for (const int64_t end = at + runs.inner; at < end && taper_run_step(run, at, 5); at++) {
                taper_q_store(dtype, to, at, taper_q_round(from[at] * inverse, point, range));
            }
        }
    }
    return TAPER_OK;
}

static taper_status check_input(const taper_call *call, const char *name, const taper_tensor *x, taper_dtype dtype)
{
    if (x->dtype != TAPER_F32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s': float32 is quantized, not %s", name,
                   taper_dtype_name((taper_dtype)x->dtype));
    }
    if (!taper_q_is_dtype(dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'dtype': tensors are quantized to quint8, qint8 or qint32, not %s",
                   taper_dtype_name(dtype));
    }
    return TAPER_OK;
}

// Makes a new tensor from x, quantized by the quantizer z.
static taper_status quantize(taper_call *call, const char *name, taper_tensor *x, taper_dtype dtype,
                             const taper_quantizer *z, taper_tensor **y)
{
    taper_tensor *plain;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(check_input(call, name, x, dtype));
    TAPER_TRY(in_format(call->run, x, &plain, strides));
    taper_status status = taper_tensor_new(call->run->heap, dtype, x->rank, x->sizes, strides, y, call->run->error);
    if (status == TAPER_OK) {
        status = taper_tensor_set_quantizer(*y, z, call->run->error);
        status = status == TAPER_OK ? taper_q_check_tensor(call->run, name, *y) : status;
        status = status == TAPER_OK ? quantize_elements(call->run, *y, taper_tensor_data(plain)) : status;
        if (status != TAPER_OK) {
            taper_tensor_drop(*y);
        }
    }
    taper_tensor_drop(plain);
    return status;
}

static taper_status quantize_uniform(taper_call *call, const char *name, taper_tensor *x, taper_dtype dtype,
                                     double scale, int64_t point, taper_tensor **y)
{
    const taper_quantizer z = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = scale, .zero_point = point};
    return quantize(call, name, x, dtype, &z, y);
}

TAPER_KERNEL(taper_op_quantize_per_tensor)
{
    taper_tensor *x, *y;
    taper_scalar scale, point;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_scalar(call, 1, &scale)); // the scale is a number, or a tensor of one element
    TAPER_TRY(taper_arg_scalar(call, 2, &point));
    TAPER_TRY(taper_arg_dtype_or(call, 3, TAPER_QU8, &dtype));
    TAPER_TRY(quantize_uniform(call, "self", x, dtype, scale.f, point.i, &y));
    return taper_ret_tensor(call, 0, y);
}

static taper_status arg_vector(const taper_call *call, size_t at, int64_t least, taper_tensor **vector)
{
    TAPER_TRY(taper_arg_plain(call, at, vector));
    if ((*vector)->rank != 1 || (*vector)->sizes[0] < least) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': expected a vector of at least %" PRId64 " elements", taper_arg_name(call, at),
                   least);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_quantize_per_tensor_list)
{
    taper_list *in, *out;
    taper_tensor *scales, *points;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_list(call, 0, &in));
    TAPER_TRY(arg_vector(call, 1, (int64_t)in->count, &scales));
    TAPER_TRY(arg_vector(call, 2, (int64_t)in->count, &points));
    TAPER_TRY(taper_arg_dtype_or(call, 3, TAPER_QU8, &dtype));
    TAPER_TRY(taper_ret_tensor_list(call, 0, in->count, &out));
    for (size_t i = 0; i < in->count; i++) {
        taper_tensor *x, *y;
        const int64_t at = (int64_t)i;
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &x));
        TAPER_TRY(taper_run_settle(call->run, x));
        TAPER_TRY(quantize_uniform(
            call, "tensors", x, dtype,
            taper_load_double((taper_dtype)scales->dtype, taper_tensor_data(scales), at * scales->strides[0]),
            taper_load_int((taper_dtype)points->dtype, taper_tensor_data(points), at * points->strides[0]), &y));
        TAPER_TRY(taper_tensor_list_add(call, out, y));
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_quantize_per_channel)
{
    taper_tensor *x, *scales, *points, *y;
    size_t axis;
    taper_dtype dtype;
    taper_quantizer z;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_plain(call, 1, &scales));
    TAPER_TRY(taper_arg_plain(call, 2, &points));
    int64_t number;
    TAPER_TRY(taper_arg_int(call, 3, &number));
    if (number < 0 || number >= x->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'axis': %" PRId64 " is not a dimension of a tensor of rank %u", number, x->rank);
    }
    axis = (size_t)number;
    TAPER_TRY(taper_arg_dtype_or(call, 4, TAPER_QU8, &dtype));
    TAPER_TRY(taper_q_channel_quantizer(call, scales, points, (int64_t)axis, &z));
    const taper_status status = quantize(call, "self", x, dtype, &z, &y);
    taper_q_release(&z);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, y) : status;
}

// ---- scale and zero point from the range of the numbers

void taper_q_span(float least, float most, taper_q_range range, bool symmetric, double *scale, int64_t *point)
{
    static const float small = 6.1e-5f; // if the scale is smaller than this, the range is widened
    symmetric = symmetric && least < 0 && most > 0;
    if (symmetric) {
        const float half = (float)((range.high - range.low) / 2);
        const double widest = (double)fmaxf(fabsf(least / -(half + 1)), fabsf(most / half));
        least = (float)(widest * -((double)half + 1));
        most = (float)(widest * (double)half);
    }
    float low = least < 0 ? least : 0, high = most > 0 ? most : 0;
    const double span = (double)(range.high - range.low);
    *scale = ((double)high - (double)low) / span;
    if ((float)*scale == 0.0f || isinf(1.0f / (float)*scale)) {
        *scale = 0.1;
    }
    if (*scale < (double)small) {
        const float factor = small / (float)*scale;
        *scale = (double)small;
        if (low == 0.0f) {
            high = small * (float)span;
        } else if (high == 0.0f) {
            low = -small * (float)span;
        } else {
            low *= factor;
            high *= factor;
        }
    }
    const double from_low = (double)range.low - (double)low / *scale,
                 from_high = (double)range.high - (double)high / *scale;
    const double low_error = fabs((double)range.low) - fabs((double)low / *scale);
    const double high_error = fabs((double)range.high) - fabs((double)high / *scale);
    const double best = symmetric                ? (double)(range.low + range.high) / 2
                        : low_error < high_error ? from_low
                                                 : from_high;
    *point = best < (double)range.low    ? range.low
             : best > (double)range.high ? range.high
             : best == best              ? (int64_t)nearbyint(best)
                                         : range.low;
}

static taper_status range_of_numbers(const taper_call *call, taper_tensor *x, taper_q_range range, double *scale,
                                     int64_t *point)
{
    taper_tensor *plain;
    if (x->dtype != TAPER_F32 || taper_tensor_numel(x) == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'self': a float32 tensor with elements is needed");
    }
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    const float *from = taper_tensor_data(plain);
    float least = from[0], most = from[0];
    bool finite = true;
    for (int64_t i = 0; i < taper_tensor_numel(plain) && taper_run_step(call->run, i, 2); i++) {
        least = from[i] < least ? from[i] : least;
        most = from[i] > most ? from[i] : most;
        finite = finite && isfinite(from[i]);
    }
    taper_tensor_drop(plain);
    if (!finite) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'self' has elements that are not finite");
    }
    taper_q_span(least, most, range, false, scale, point);
    return TAPER_OK;
}

// Computes quantize_per_tensor_dynamic(self, dtype, reduce_range). reduce_range has no effect, as in QNNPACK.
TAPER_KERNEL(taper_op_quantize_per_tensor_dynamic)
{
    taper_tensor *x, *y;
    taper_dtype dtype;
    double scale;
    int64_t point;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_dtype_or(call, 1, TAPER_QU8, &dtype));
    if (dtype != TAPER_QU8 && dtype != TAPER_QI8) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'dtype' must be quint8 or qint8, not %s",
                   taper_dtype_name(dtype));
    }
    TAPER_TRY(range_of_numbers(call, x, taper_q_range_of(dtype), &scale, &point));
    TAPER_TRY(quantize_uniform(call, "self", x, dtype, scale, point, &y));
    return taper_ret_tensor(call, 0, y);
}

// Computes _choose_qparams_per_tensor(self, reduce_range) -> (float, int) for quint8.
TAPER_KERNEL(taper_op_choose_qparams)
{
    taper_tensor *x;
    double scale;
    int64_t point;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(range_of_numbers(call, x, taper_q_range_of(TAPER_QU8), &scale, &point));
    taper_ret(call, 0, taper_val_double(scale));
    taper_ret(call, 1, taper_val_int(point));
    return TAPER_OK;
}

// ---- dequantizing

static taper_status dequantize(taper_call *call, const char *name, taper_tensor *q, taper_tensor **y)
{
    taper_run *run = call->run;
    // If the tensor is not quantized, PyTorch returns q.to(float32).
    if (!taper_dtype_is_quantized((taper_dtype)q->dtype)) {
        return taper_tensor_cast(run, q, TAPER_F32, y);
    }
    TAPER_TRY(taper_q_check_tensor(run, name, q));
    TAPER_TRY(taper_run_settle(run, q));
    taper_tensor *plain;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(in_format(run, q, &plain, strides));
    taper_status status = taper_tensor_new(run->heap, TAPER_F32, q->rank, q->sizes, strides, y, run->error);
    if (status == TAPER_OK && taper_q_has_kernels(run, (taper_dtype)q->dtype)) {
        const taper_q_runs runs = runs_of(plain, q->quantizer);
        status = taper_q_dequantize_bytes(run, (taper_dtype)q->dtype, q->quantizer, &runs, taper_tensor_data(plain),
                                          taper_tensor_mutable(*y));
        if (status != TAPER_OK) {
            taper_tensor_drop(*y);
        }
    } else if (status == TAPER_OK) {
        const taper_q_runs runs = runs_of(plain, q->quantizer);
        const void *from = taper_tensor_data(plain);
        float *to = taper_tensor_mutable(*y);
        int64_t at = 0;
        for (int64_t o = 0; o < runs.outer; o++) {
            for (int64_t c = 0; c < runs.channels; c++) {
                double scale;
                int64_t point;
                taper_q_channel_params(q->quantizer, c, &scale, &point);
                for (const int64_t end = at + runs.inner; at < end && taper_run_step(run, at, 4); at++) {
                    to[at] = taper_q_dequantize((float)scale, point, taper_q_load((taper_dtype)q->dtype, from, at));
                }
            }
        }
    }
    taper_tensor_drop(plain);
    return status;
}

TAPER_KERNEL(taper_op_dequantize)
{
    taper_tensor *q, *y;
    TAPER_TRY(taper_arg_plain(call, 0, &q));
    TAPER_TRY(dequantize(call, taper_arg_name(call, 0), q, &y));
    return taper_ret_tensor(call, 0, y);
}

TAPER_KERNEL(taper_op_dequantize_list)
{
    taper_list *in, *out;
    TAPER_TRY(taper_arg_list(call, 0, &in));
    TAPER_TRY(taper_ret_tensor_list(call, 0, in->count, &out));
    for (size_t i = 0; i < in->count; i++) {
        taper_tensor *q, *y;
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &q));
        TAPER_TRY(dequantize(call, taper_arg_name(call, 0), q, &y));
        TAPER_TRY(taper_tensor_list_add(call, out, y));
    }
    return TAPER_OK;
}

// ---- conversions between quantized tensors and their integers

// Copies x's elements in the format that its strides suggest, as another dtype of equal size.
static taper_status retype(taper_run *run, taper_tensor *x, taper_dtype dtype, taper_tensor **y)
{
    int64_t strides[TAPER_MAX_RANK];
    const bool planes = taper_tensor_suggests_channels_last(x);
    if (planes) {
        taper_strides_channels_last(x->rank, x->sizes, strides);
    }
    TAPER_TRY(taper_tensor_new(run->heap, dtype, x->rank, x->sizes, planes ? strides : NULL, y, run->error));
    const taper_status status = taper_run_copy(run, *y, x);
    if (status != TAPER_OK) {
        taper_tensor_drop(*y);
    }
    return status;
}

TAPER_KERNEL(taper_op_int_repr)
{
    taper_tensor *q, *ints;
    TAPER_TRY(taper_arg_quantized(call, 0, &q));
    TAPER_TRY(retype(call->run, q, taper_q_plain_dtype((taper_dtype)q->dtype), &ints));
    return taper_ret_tensor(call, 0, ints);
}

static taper_status ret_made(taper_call *call, taper_tensor *x, const taper_quantizer *z)
{
    taper_tensor *made;
    taper_dtype dtype;
    TAPER_TRY(taper_q_dtype_of(call, (taper_dtype)x->dtype, &dtype));
    TAPER_TRY(retype(call->run, x, dtype, &made));
    taper_status status = taper_tensor_set_quantizer(made, z, call->run->error);
    status = status == TAPER_OK ? taper_q_check_tensor(call->run, "self", made) : status;
    if (status != TAPER_OK) {
        taper_tensor_drop(made);
        return status;
    }
    return taper_ret_tensor(call, 0, made);
}

TAPER_KERNEL(taper_op_make_per_tensor_quantized)
{
    taper_tensor *x;
    taper_quantizer z = {.scheme = TAPER_PER_TENSOR_AFFINE};
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_double(call, 1, &z.scale));
    TAPER_TRY(taper_arg_int(call, 2, &z.zero_point));
    return ret_made(call, x, &z);
}

TAPER_KERNEL(taper_op_make_per_channel_quantized)
{
    taper_tensor *x, *scales, *points;
    int64_t axis;
    taper_quantizer z;
    TAPER_TRY(taper_arg_plain(call, 0, &x));
    TAPER_TRY(taper_arg_plain(call, 1, &scales));
    TAPER_TRY(taper_arg_plain(call, 2, &points));
    TAPER_TRY(taper_arg_int(call, 3, &axis));
    TAPER_TRY(taper_q_channel_quantizer(call, scales, points, axis, &z));
    const taper_status status = ret_made(call, x, &z);
    taper_q_release(&z);
    return status;
}
