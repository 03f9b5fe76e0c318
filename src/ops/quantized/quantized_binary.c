// SPDX-License-Identifier: BSD-2-Clause
// Sums and products of two quantized tensors. Tensors of equal sizes are added in integers, with the ratios of the
// scales as 21-bit numbers: quint8 as in QNNPACK, qint8 as in XNNPACK. Other sums are computed in floats. Products are
// requantized.
#include <inttypes.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_shape.h"
#include "ops/quantized/quantized_walk.h"

typedef struct pair {
    taper_tensor *a, *b;
    taper_dtype dtype;
    bool relu;
    float a_scale, b_scale, scale;
    int64_t a_point, b_point, point;
    taper_q_range range; // range of the result; with relu it starts at the zero point
    float multiplier;
    // For integer sums: the factors of the integers of `a` and of `b`, the number that is added to their sum, and the
    // shift of the sum to the right.
    int32_t a_multiplier, b_multiplier, bias;
    int shift;
    bool half_up; // true if halves are rounded up, as in XNNPACK; otherwise they are rounded away from zero
} pair;

static int32_t wrap(int64_t number)
{
    return (int32_t)(uint32_t)(uint64_t)number;
}

// ---- loops over the elements of a row

static void float_row(const void *work, const taper_q_row *row)
{
    const pair *p = work;
    const float inverse = 1.0f / p->scale;
    const taper_q_range range = taper_q_range_of(p->dtype);
    for (int64_t i = 0; i < row->count; i++) {
        const bool wide = i < row->wide;
        const int64_t a = taper_q_load(p->dtype, row->a, row->a_at + i * row->a_step);
        const int64_t b = taper_q_load(p->dtype, row->b, row->b_at + i * row->b_step);
        float sum = wide
                        ? taper_q_dequantize_wide(p->a_scale, p->a_point, a) +
                              taper_q_dequantize_wide(p->b_scale, p->b_point, b)
                        : taper_q_dequantize(p->a_scale, p->a_point, a) + taper_q_dequantize(p->b_scale, p->b_point, b);
        sum = p->relu && !(sum > 0) ? 0 : sum;
        taper_q_store(p->dtype, row->y, row->y_at + i * row->y_step,
                      wide && p->dtype != TAPER_QI32 ? taper_q_round_wide(sum * inverse, p->point, range)
                                                     : taper_q_round(sum * inverse, p->point, range));
    }
}

static void product_row(const void *work, const taper_q_row *row)
{
    const taper_q_product *p = work;
    for (int64_t i = 0; i < row->count; i++) {
        const int64_t a = wrap(taper_q_load(p->dtype, row->a, row->a_at + i * row->a_step) - p->a_point);
        const int64_t b = wrap(taper_q_load(p->dtype, row->b, row->b_at + i * row->b_step) - p->b_point);
        int64_t q = taper_q_from_int(p->dtype, wrap(a * b), p->multiplier, p->point, i < row->wide);
        q = p->relu && q < p->point ? p->point : q;
        taper_q_store(p->dtype, row->y, row->y_at + i * row->y_step, q);
    }
}

static void integer_row(const void *work, const taper_q_row *row)
{
    const pair *p = work;
    const int64_t unit = INT64_C(1) << p->shift, half = unit / 2;
    for (int64_t i = 0; i < row->count; i++) {
        const int64_t a = taper_q_load(p->dtype, row->a, row->a_at + i * row->a_step);
        const int64_t b = taper_q_load(p->dtype, row->b, row->b_at + i * row->b_step);
        const int64_t sum = wrap(p->bias + wrap(a * p->a_multiplier) + wrap(b * p->b_multiplier));
        const int64_t up = p->half_up || sum >= 0 ? sum + half : sum + half - 1;
        const int64_t q = up >= 0 ? up / unit : -((-up + unit - 1) / unit); // this division rounds down
        const int64_t held = q < INT16_MIN ? INT16_MIN : q > INT16_MAX ? INT16_MAX : q;
        taper_q_store(p->dtype, row->y, row->y_at + i * row->y_step, taper_q_clamp(held + p->point, p->range));
    }
}

// ---- operators for sums and products

static taper_status read_pair(const taper_call *call, bool relu, pair *p)
{
    *p = (pair){.relu = relu};
    TAPER_TRY(taper_arg_uniform(call, 0, &p->a));
    TAPER_TRY(taper_arg_uniform(call, 1, &p->b));
    if (p->a->dtype != p->b->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the operands must have one dtype, got %s and %s",
                   taper_dtype_name((taper_dtype)p->a->dtype), taper_dtype_name((taper_dtype)p->b->dtype));
    }
    p->dtype = (taper_dtype)p->a->dtype;
    p->a_scale = (float)p->a->quantizer->scale;
    p->b_scale = (float)p->b->quantizer->scale;
    p->a_point = p->a->quantizer->zero_point;
    p->b_point = p->b->quantizer->zero_point;
    return TAPER_OK;
}

// Makes the result: either an out argument, which has a quantizer, or a new tensor in a's format with the scale and
// zero point of arguments 2 and 3.
static taper_status ret_pair(taper_call *call, pair *p, taper_tensor **y)
{
    taper_error *error = call->run->error;
    size_t rank = p->a->rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    double scale;
    int64_t point;
    memcpy(sizes, p->a->sizes, sizeof sizes);
    if (!taper_broadcast_sizes(&rank, sizes, p->b->rank, p->b->sizes)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "tensors of sizes %s and %s do not broadcast",
                   taper_sizes_print(p->a->rank, p->a->sizes).text, taper_sizes_print(p->b->rank, p->b->sizes).text);
    }
    taper_tensor *out = taper_q_out(call, 0);
    if (out != NULL) {
        TAPER_TRY(taper_q_check_tensor(call->run, "out", out));
        if (out->quantizer->scales != NULL) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the out tensor is quantized per channel");
        }
        scale = out->quantizer->scale;
        point = out->quantizer->zero_point;
    } else {
        TAPER_TRY(taper_arg_qparams(call, 2, p->dtype, &scale, &point));
    }
    const bool planes = taper_tensor_suggests_channels_last(p->a) && rank == p->a->rank;
    if (planes) {
        taper_strides_channels_last(rank, sizes, strides);
    }
    TAPER_TRY(taper_ret_quantized(call, 0, p->dtype, rank, sizes, planes ? strides : NULL, scale, point, y));
    p->scale = (float)scale;
    p->point = point;
    p->range = taper_q_range_of(p->dtype);
    p->range.low = p->relu ? point : p->range.low;
    return TAPER_OK;
}

static bool same_sizes(const taper_tensor *a, const taper_tensor *b)
{
    return a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof a->sizes[0]) == 0;
}

// Computes the multipliers so that the larger one has 21 bits. The ratios of the operands' scales to the result's scale
// must be within [least, 256).
static taper_status prepare_sum(const taper_call *call, pair *p, float least, int bits)
{
    const float a = p->a_scale / p->scale, b = p->b_scale / p->scale;
    if (!(a >= least && a < 256 && b >= least && b < 256)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "the ratio of an operand's scale to the result's must be in [%g, 256), got %g and %g", (double)least,
                   (double)a, (double)b);
    }
    int exponent;
    frexpf(a > b ? a : b, &exponent);
    p->shift = bits - (exponent - 1);
    p->a_multiplier = (int32_t)lrintf(ldexpf(a, p->shift));
    p->b_multiplier = (int32_t)lrintf(ldexpf(b, p->shift));
    p->bias = wrap(-(p->a_multiplier * p->a_point + p->b_multiplier * p->b_point));
    return TAPER_OK;
}

static taper_status sum(taper_call *call, bool relu)
{
    pair p;
    taper_tensor *y;
    TAPER_TRY(read_pair(call, relu, &p));
    TAPER_TRY(ret_pair(call, &p, &y));
    taper_q_row_function row = float_row;
    if (taper_q_out(call, 0) == NULL && p.dtype == TAPER_QU8 && same_sizes(p.a, p.b)) {
        TAPER_TRY(prepare_sum(call, &p, 0x1p-14f, 21));
        row = integer_row;
    } else if (taper_q_out(call, 0) == NULL && p.dtype == TAPER_QI8) {
        TAPER_TRY(prepare_sum(call, &p, 0x1p-10f, 20));
        p.half_up = true;
        row = integer_row;
    }
    taper_q_walk(call->run, y, p.a, p.b, row, &p);
    return TAPER_OK;
}

taper_status taper_q_multiply(taper_call *call, bool relu, taper_q_row_function fast, const void *kernels)
{
    enum { FITS = 1 << 14 }; // the product of two bytes has 16 bits and a sign
    pair p;
    taper_tensor *y;
    TAPER_TRY(read_pair(call, relu, &p));
    TAPER_TRY(ret_pair(call, &p, &y));
    // The factor is computed as in XNNPACK's kernel.
    if (taper_q_out(call, 0) == NULL && p.dtype == TAPER_QI8 && p.point < 127) {
        p.multiplier = p.a_scale * p.b_scale / p.scale;
        if (!(p.multiplier >= 0x1p-16f && p.multiplier < 256)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "the ratio of the operands' scales to the result's must be in [2^-16, 256), got %g",
                       (double)p.multiplier);
        }
    } else {
        p.multiplier = p.a_scale * p.b_scale * (1.0f / p.scale);
    }
    const taper_q_product work = {.dtype = p.dtype,
                                  .multiplier = p.multiplier,
                                  .a_point = p.a_point,
                                  .b_point = p.b_point,
                                  .point = p.point,
                                  .relu = relu,
                                  .kernels = kernels};
    const bool fits = fast != NULL && p.dtype == TAPER_QU8 && p.multiplier <= FITS;
    taper_q_walk(call->run, y, p.a, p.b, fits ? fast : product_row, &work);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_add)
{
    return sum(call, false);
}

TAPER_KERNEL(taper_op_q_add_relu)
{
    return sum(call, true);
}

TAPER_KERNEL(taper_op_q_mul)
{
    return taper_q_multiply(call, false, NULL, NULL);
}

TAPER_KERNEL(taper_op_q_mul_relu)
{
    return taper_q_multiply(call, true, NULL, NULL);
}

// ---- prelu: numbers above the zero point stay, numbers below it are multiplied by the weight

typedef struct prelu_work {
    taper_dtype dtype;
    int64_t x_point, w_point, point, one;
    float multiplier;
} prelu_work;

static void prelu_row(const void *work, const taper_q_row *row)
{
    const prelu_work *p = work;
    for (int64_t i = 0; i < row->count; i++) {
        const int64_t x = taper_q_load(p->dtype, row->a, row->a_at + i * row->a_step);
        const int64_t w = taper_q_load(p->dtype, row->b, row->b_at + i * row->b_step);
        const int64_t above = wrap((x > p->x_point ? x : p->x_point) - p->x_point);
        const int64_t below = wrap((x < p->x_point ? x : p->x_point) - p->x_point);
        const int32_t acc = wrap(wrap(above * p->one) + (int64_t)wrap(below * wrap(w - p->w_point)));
        taper_q_store(p->dtype, row->y, row->y_at + i * row->y_step,
                      taper_q_from_int(p->dtype, acc, p->multiplier, p->point, i < row->wide));
    }
}

static taper_status prelu(taper_call *call, bool own)
{
    taper_tensor *x, *w, *y;
    double scale;
    int64_t point;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_uniform(call, 1, &w));
    if (x->dtype != w->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'weight' must be %s, as the input, not %s",
                   taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name((taper_dtype)w->dtype));
    }
    const int64_t count = taper_tensor_numel(w), channels = x->rank > 1 ? x->sizes[1] : 1;
    if (x->rank == 0 || (count != 1 && count != channels) || !taper_tensor_is_contiguous(w)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "argument 'weight': expected one number or one for each of %" PRId64 " channels, got %" PRId64,
                   channels, count);
    }
    if (own) {
        TAPER_TRY(taper_arg_qparams(call, 2, (taper_dtype)x->dtype, &scale, &point));
    } else {
        scale = x->quantizer->scale;
        point = x->quantizer->zero_point;
    }
    taper_tensor weights = taper_tensor_local(w); // weights viewed as 1 × C × 1 …, on the stack only
    weights.rank = x->rank;
    for (size_t d = 0; d < x->rank; d++) {
        weights.sizes[d] = d == 1 ? count : 1;
        weights.strides[d] = 1;
    }
    TAPER_TRY(taper_ret_quantized_like(call, 0, x, scale, point, &y));
    const float x_scale = (float)x->quantizer->scale, w_scale = (float)w->quantizer->scale;
    const prelu_work work = {.dtype = (taper_dtype)x->dtype,
                             .x_point = x->quantizer->zero_point,
                             .w_point = w->quantizer->zero_point,
                             .point = point,
                             .one = taper_q_round(1.0f * (1.0f / w_scale), w->quantizer->zero_point,
                                                  taper_q_range_of((taper_dtype)w->dtype)) -
                                    w->quantizer->zero_point,
                             .multiplier = x_scale * w_scale * (1.0f / (float)scale)};
    taper_q_walk(call->run, y, x, &weights, prelu_row, &work);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_prelu)
{
    return prelu(call, false);
}

TAPER_KERNEL(taper_op_q_prelu_to)
{
    return prelu(call, true);
}
