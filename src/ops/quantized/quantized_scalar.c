// SPDX-License-Identifier: BSD-2-Clause
// Operators on a quantized tensor and a number. Most of them change the quantizer and keep the integers.
#include <inttypes.h>

#include "ops/call/call.h"
#include "ops/quantized/quantized_walk.h"

typedef struct shift_work {
    taper_dtype dtype;
    int64_t from_point, point, low, add;
    float multiplier; // factor that requantizes the integer; 0 to keep the integer; negative to mirror the integer
    int64_t mirror;   // the sum of an integer and its mirrored value
} shift_work;

static void shift_row(const void *work, const taper_q_row *row)
{
    const shift_work *w = work;
    for (int64_t i = 0; i < row->count; i++) {
        int64_t q = taper_q_load(w->dtype, row->a, row->a_at + i * row->a_step);
        if (w->multiplier > 0) {
            const int32_t c = (int32_t)((uint32_t)(q - w->from_point) + (uint32_t)w->add);
            q = taper_q_from_int(w->dtype, c, w->multiplier, w->point, i < row->wide);
        } else if (w->multiplier < 0) {
            q = w->mirror - q;
        }
        taper_q_store(w->dtype, row->y, row->y_at + i * row->y_step, q < w->low ? w->low : q);
    }
}

// Reads argument 0 and the number, in either order. The number may be a tensor of one element.
static taper_status read_args(const taper_call *call, taper_tensor **x, double *number)
{
    taper_scalar scalar;
    const bool first = call->args[0].tag == TAPER_TENSOR && (call->arg_count < 2 || call->args[1].tag != TAPER_TENSOR ||
                                                             call->args[0].as.tensor->quantizer != NULL);
    TAPER_TRY(taper_arg_uniform(call, first ? 0 : 1, x));
    const size_t at = first ? 1 : 0;
    if (at < call->arg_count && call->args[at].tag == TAPER_TENSOR &&
        taper_dtype_is_quantized((taper_dtype)call->args[at].as.tensor->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' must be a number", taper_arg_name(call, at));
    }
    TAPER_TRY(taper_arg_scalar(call, at, &scalar));
    if (scalar.kind == TAPER_SCALAR_COMPLEX || !isfinite(scalar.f)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' must be a finite real number, not %g",
                   taper_arg_name(call, at), scalar.f);
    }
    *number = scalar.f;
    return TAPER_OK;
}

static taper_status run_shift(taper_call *call, const taper_tensor *x, shift_work *w, double scale, int64_t point,
                              bool relu)
{
    taper_tensor *y;
    const taper_tensor *out = taper_q_out(call, 0);
    if (out != NULL && out != x && out->storage == x->storage) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor shares memory with the input");
    }
    w->dtype = (taper_dtype)x->dtype;
    w->from_point = x->quantizer->zero_point;
    w->point = point;
    w->low = relu ? point : INT64_MIN;
    const float from_scale = (float)x->quantizer->scale;
    TAPER_TRY(taper_ret_quantized_like(call, 0, x, scale, point, &y));
    w->multiplier = w->multiplier > 0 ? from_scale * (1.0f / (float)scale) : w->multiplier;
    taper_q_walk(call->run, y, x, NULL, shift_row, w);
    return TAPER_OK;
}

// Adds a number to x by moving the zero point. If the zero point would leave the range, the scale is increased.
static taper_status add_number(taper_call *call, bool relu)
{
    taper_tensor *x;
    double number;
    TAPER_TRY(read_args(call, &x, &number));
    const taper_quantizer *z = x->quantizer;
    const taper_q_range range = taper_q_range_of((taper_dtype)x->dtype);
    const double steps = nearbyint(number / z->scale);
    if (!(steps >= INT32_MIN && steps <= INT32_MAX)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%g is too large a number for the scale %g", number,
                   z->scale);
    }
    const int64_t c = (int64_t)steps, moved = z->zero_point - c;
    shift_work w = {.add = c};
    const double span = (double)range.high - (double)range.low;
    if (moved < range.low) {
        w.multiplier = 1;
        return run_shift(call, x, &w, ((double)range.high - (double)moved) / span * z->scale, range.low, relu);
    }
    if (moved > range.high) {
        w.multiplier = 1;
        return run_shift(call, x, &w, ((double)moved - (double)range.low) / span * z->scale, range.high, relu);
    }
    return run_shift(call, x, &w, z->scale, moved, relu);
}

// Multiplies x by a number: multiplies the scale, and mirrors the integers if the number is negative.
static taper_status multiply_number(taper_call *call, bool relu)
{
    taper_tensor *x;
    double number;
    TAPER_TRY(read_args(call, &x, &number));
    const taper_quantizer *z = x->quantizer;
    const taper_q_range range = taper_q_range_of((taper_dtype)x->dtype);
    shift_work w = {0};
    if (number > 0) {
        return run_shift(call, x, &w, number * z->scale, z->zero_point, relu);
    }
    w.multiplier = -1;
    if (number < 0) {
        w.mirror = range.high + range.low;
        return run_shift(call, x, &w, -number * z->scale, range.high - (z->zero_point - range.low), relu);
    }
    taper_tensor *y;
    TAPER_TRY(taper_ret_quantized_like(call, 0, x, 1, 0, &y));
    memset(y->storage->data, 0, y->storage->bytes);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_add_number)
{
    return add_number(call, false);
}

TAPER_KERNEL(taper_op_q_add_number_relu)
{
    return add_number(call, true);
}

TAPER_KERNEL(taper_op_q_mul_number)
{
    return multiply_number(call, false);
}

TAPER_KERNEL(taper_op_q_mul_number_relu)
{
    return multiply_number(call, true);
}
