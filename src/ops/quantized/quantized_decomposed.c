// SPDX-License-Identifier: BSD-2-Clause
// quantized_decomposed::quantize_… and dequantize_…: integers in plain tensors, with scales and zero points as
// arguments, as in programs that were quantized with PyTorch 2. PyTorch computes them by a sequence of operators. This
// file follows the roundings and dtypes of these operators. Per token and per group, a number is rounded after its zero
// point is added; otherwise it is rounded before.
#include "base/checked.h"
#include "ops/engine/elementwise_loops.h"
#include "ops/engine/matmul.h"
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/elementwise_copy.h"
#include "ops/tensor/reduce_kernels.h"

// ---- loops over elements

// Rounds to the nearest integer, and halves to the even integer, in a form that compilers vectorize. All numbers from
// `whole` on are integers.
#define NEAREST(type, suffix, whole)                                                                                   \
    static inline type nearest_##suffix(type x)                                                                        \
    {                                                                                                                  \
        const type size = x < 0 ? -x : x, rounded = (size + (type)(whole)) - (type)(whole);                            \
        return size < (type)(whole) ? (x < 0 ? -rounded : rounded) : x;                                                \
    }
NEAREST(float, f32, 8388608.0)
NEAREST(double, f64, 4503599627370496.0)

#define HELD(v) ((v) < least ? least : (v) > most ? most : (v))
#define BOUNDS(type) const type least = (type)args->f[2], most = (type)args->f[3];

#define QUANTIZE_LOOPS(type, suffix)                                                                                   \
    static void quantize_each_##suffix(size_t n, void *out, const void *const *in, taper_ew_args *args)                \
    {                                                                                                                  \
        BOUNDS(type)                                                                                                   \
        type *o = out;                                                                                                 \
        const type *x = in[0], *inverse = in[1], *point = in[2];                                                       \
        TAPER_EW_VECTOR for (size_t k = 0; k < n; k++)                                                                 \
        {                                                                                                              \
            const type v = nearest_##suffix(x[k] * inverse[k]) + point[k];                                             \
            o[k] = HELD(v);                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    TAPER_EW_LOOP3(dequantize_each_##suffix, type, type, type, (void)args;, (x - z) * y)                               \
    TAPER_EW_LOOP1(dequantize_all_##suffix, type, type, TAPER_EW_NUMBERS_F(type), (x - p0) * p1)
QUANTIZE_LOOPS(float, f32)
QUANTIZE_LOOPS(double, f64)

static void quantize_all_f32(size_t n, void *out, const void *const *in, taper_ew_args *args)
{
    const float inverse = (float)args->f[0], point = (float)args->f[1];
    BOUNDS(float)
    float *o = out;
    const float *x = in[0];
    TAPER_EW_VECTOR for (size_t k = 0; k < n; k++)
    {
        const float v = nearest_f32(x[k] * inverse) + point;
        o[k] = HELD(v);
    }
}

static const taper_ew_op quantize_all = {.loops = {quantize_all_f32}},
                         dequantize_all = {.loops = {dequantize_all_f32, dequantize_all_f64}},
                         quantize_each = {.loops = {quantize_each_f32, quantize_each_f64}},
                         dequantize_each = {.loops = {dequantize_each_f32, dequantize_each_f64}};

// ---- arguments

static bool is_half(taper_dtype dtype)
{
    return dtype == TAPER_F16 || dtype == TAPER_BF16;
}

// Reads arguments `at` to `at` + 2: quant_min, quant_max and the dtype of the integers.
static taper_status arg_integers(const taper_call *call, size_t at, taper_dtype *dtype, taper_ew_args *args)
{
    taper_scalar low, high;
    TAPER_TRY(taper_arg_scalar(call, at, &low)); // the arguments are numbers, or tensors of one element
    TAPER_TRY(taper_arg_scalar(call, at + 1, &high));
    TAPER_TRY(taper_arg_dtype_or(call, at + 2, TAPER_I8, dtype));
    if (*dtype != TAPER_U8 && *dtype != TAPER_I8 && *dtype != TAPER_I16 && *dtype != TAPER_I32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "argument 'dtype': integers here are uint8, int8, int16 or int32, not %s",
                   taper_dtype_torch_name(*dtype));
    }
    const int64_t bits = *dtype == TAPER_I32 ? 31 : *dtype == TAPER_I16 ? 15 : *dtype == TAPER_I8 ? 7 : 8;
    const int64_t most = (INT64_C(1) << bits) - 1, least = *dtype == TAPER_U8 ? 0 : -most - 1;
    if (low.i < least || high.i > most) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "arguments 'quant_min' and 'quant_max': %lld to %lld is out of bounds for dtype %s",
                   (long long)low.i, (long long)high.i, taper_dtype_torch_name(*dtype));
    }
    args->f[2] = (double)low.i;
    args->f[3] = (double)high.i;
    return TAPER_OK;
}

static taper_status check_floats(const taper_call *call, const taper_tensor *x)
{
    if (x->dtype != TAPER_F32 && !is_half((taper_dtype)x->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expecting input to have dtype torch.float32, but got dtype: %s",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    return TAPER_OK;
}

// Reads argument 0, the integers to dequantize, and checks that argument `at` is the dtype of argument 0.
static taper_status arg_quantized(const taper_call *call, size_t at, taper_tensor **x)
{
    taper_dtype dtype;
    TAPER_TRY(taper_arg_tensor(call, 0, x));
    TAPER_TRY(taper_arg_dtype_or(call, at, TAPER_I8, &dtype));
    if ((*x)->dtype != dtype || !taper_dtype_is_integral(dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Expecting input to have dtype: %s, but got %s",
                   taper_dtype_torch_name(dtype), taper_dtype_torch_name((taper_dtype)(*x)->dtype));
    }
    return TAPER_OK;
}

static taper_tensor *converted(taper_compose *c, taper_tensor *x, taper_dtype dtype)
{
    taper_tensor *result = NULL;
    if (c->status == TAPER_OK) {
        taper_compose_fail(c, taper_tensor_cast(c->run, x, dtype, &result));
    }
    return taper_compose_keep(c, c->status == TAPER_OK ? result : NULL);
}

// Computes a new tensor by an elementwise operator from three tensors that broadcast.
static taper_tensor *computed(taper_compose *c, taper_call *call, const taper_ew_op *op, const taper_ew_args *args,
                              taper_tensor *const *inputs, taper_dtype common, taper_dtype result)
{
    taper_tensor *made = NULL;
    if (c->status == TAPER_OK) {
        taper_ew ew = taper_ew_make(op);
        for (size_t i = 0; i < 3; i++) {
            taper_ew_input_tensor(&ew, inputs[i]);
        }
        ew.args = *args;
        ew.common = (int)common;
        ew.result = (int)result;
        ew.unconverted = true;
        taper_compose_fail(c, taper_ew_compute(call, &ew, &made));
    }
    return taper_compose_keep(c, c->status == TAPER_OK ? made : NULL);
}

// ---- per tensor

TAPER_KERNEL(taper_op_decomposed_quantize)
{
    taper_tensor *x;
    taper_scalar scale, point;
    taper_dtype dtype;
    taper_ew ew = taper_ew_make(&quantize_all);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_scalar(call, 1, &scale));
    TAPER_TRY(taper_arg_scalar(call, 2, &point));
    TAPER_TRY(check_floats(call, x));
    TAPER_TRY(arg_integers(call, 3, &dtype, &ew.args));
    if (scale.f == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'scale' is 0");
    }
    ew.args.f[0] = 1.0 / scale.f;
    ew.args.f[1] = (double)point.i;
    ew.common = TAPER_F32;
    ew.result = (int)dtype;
    ew.unconverted = true;
    taper_ew_input_tensor(&ew, x);
    return taper_ew_run(call, &ew);
}

// Dequantizes to half precision. Each step rounds its result.
static taper_status dequantize_half(taper_call *call, taper_tensor *x, taper_dtype dtype, double scale, int64_t point)
{
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *y = converted(&c, x, dtype);
    y = TAPER_COMPOSE(&c, taper_op_sum2, &taper_ew_sub, taper_compose_arg(y), taper_val_int(point), taper_val_int(1));
    return taper_compose_ret(&c, call, 0, taper_compose_mul_number(&c, y, scale));
}

TAPER_KERNEL(taper_op_decomposed_dequantize)
{
    taper_tensor *x;
    taper_scalar scale, point;
    taper_dtype dtype;
    TAPER_TRY(arg_quantized(call, 5, &x));
    TAPER_TRY(taper_arg_scalar(call, 1, &scale));
    TAPER_TRY(taper_arg_scalar(call, 2, &point));
    TAPER_TRY(taper_arg_dtype_or(call, 6, TAPER_F32, &dtype));
    if (is_half(dtype)) {
        return dequantize_half(call, x, dtype, scale.f, point.i);
    }
    if (!taper_dtype_is_float(dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "argument 'out_dtype': %s is not supported",
                   taper_dtype_torch_name(dtype));
    }
    taper_ew ew = taper_ew_make(&dequantize_all);
    ew.args.f[0] = (double)point.i;
    ew.args.f[1] = scale.f;
    ew.common = ew.result = (int)dtype;
    ew.unconverted = true;
    taper_ew_input_tensor(&ew, x);
    return taper_ew_run(call, &ew);
}

// ---- per channel

typedef struct channels {
    taper_tensor scales, points; // views with x's rank and stride 0 along the other dimensions
    bool has_points;
} channels;

// Reads arguments 1 to 3: scales, zero points (which may be None if `optional` is set) and the axis.
static taper_status arg_channels(const taper_call *call, const taper_tensor *x, bool optional, channels *of)
{
    taper_tensor *vectors[2];
    int64_t axis;
    TAPER_TRY(taper_arg_tensor(call, 1, &vectors[0]));
    TAPER_TRY(optional ? taper_arg_tensor_or_none(call, 2, &vectors[1]) : taper_arg_tensor(call, 2, &vectors[1]));
    TAPER_TRY(taper_arg_int(call, 3, &axis));
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis >= x->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Expecting axis to be < %u", (unsigned)x->rank);
    }
    of->has_points = vectors[1] != NULL;
    for (size_t i = 0; i < 2; i++) {
        const taper_tensor *v = vectors[i];
        int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK] = {0};
        if (v == NULL) {
            continue;
        }
        if (v->rank != 1 || (v->sizes[0] != x->sizes[axis] && v->sizes[0] != 1)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "argument '%s': a number for each of %lld channels is expected, its sizes are %s",
                       taper_arg_name(call, i + 1), (long long)x->sizes[axis], TAPER_SHAPE(v));
        }
        for (size_t d = 0; d < x->rank; d++) {
            sizes[d] = 1;
        }
        sizes[axis] = v->sizes[0];
        strides[axis] = v->strides[0];
        *(i == 0 ? &of->scales : &of->points) = taper_tensor_twin(v, x->rank, sizes, strides);
    }
    return TAPER_OK;
}

static taper_dtype fine_or_not(const taper_tensor *scales)
{
    return scales->dtype == TAPER_F64 ? TAPER_F64 : TAPER_F32;
}

TAPER_KERNEL(taper_op_decomposed_quantize_channel)
{
    taper_tensor *x;
    channels of;
    taper_dtype dtype;
    taper_ew_args args = {0};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(check_floats(call, x));
    TAPER_TRY(arg_channels(call, x, false, &of));
    TAPER_TRY(arg_integers(call, 4, &dtype, &args));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *inputs[] = {x, TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_reciprocal, TAPER_VAL(&of.scales)),
                              &of.points};
    return taper_compose_ret(&c, call, 0,
                             computed(&c, call, &quantize_each, &args, inputs, fine_or_not(&of.scales), dtype));
}

// Computes x * scales, or (x - zero points) * scales. For integers of less than 32 bits one loop does both steps,
// because their differences are exact.
static taper_tensor *dequantized(taper_compose *c, taper_call *call, taper_tensor *x, taper_tensor *scales,
                                 taper_tensor *points, taper_dtype dtype)
{
    const taper_ew_args none = {0};
    const bool exact = x->dtype != TAPER_I32 && x->dtype != TAPER_I64 && !is_half((taper_dtype)scales->dtype) &&
                       (points == NULL || taper_dtype_is_integral((taper_dtype)points->dtype));
    if (exact && points != NULL) {
        taper_tensor *inputs[] = {x, scales, points};
        return computed(c, call, &dequantize_each, &none, inputs, fine_or_not(scales), dtype);
    }
    taper_tensor *left = points != NULL ? taper_compose_sub(c, x, points) : x;
    return converted(c, taper_compose_mul(c, left, scales), dtype);
}

TAPER_KERNEL(taper_op_decomposed_dequantize_channel)
{
    taper_tensor *x;
    channels of;
    taper_dtype dtype, integers;
    taper_ew_args args;
    TAPER_TRY(arg_quantized(call, 6, &x));
    TAPER_TRY(arg_integers(call, 4, &integers, &args));
    TAPER_TRY(arg_channels(call, x, true, &of));
    TAPER_TRY(taper_arg_dtype_or(call, 7, TAPER_F32, &dtype));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    return taper_compose_ret(&c, call, 0,
                             dequantized(&c, call, x, &of.scales, of.has_points ? &of.points : NULL, dtype));
}

TAPER_KERNEL(taper_op_decomposed_fake_quantize)
{
    taper_tensor *x;
    channels of;
    int64_t low, high;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 4, &low));
    TAPER_TRY(taper_arg_int(call, 5, &high));
    if (x->dtype != TAPER_F32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expecting input to have dtype torch.float32, but got dtype: %s",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    TAPER_TRY(arg_channels(call, x, false, &of));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    const taper_ew_args args = {.f = {0, 0, (double)low, (double)high}};
    taper_tensor *scales = converted(&c, &of.scales, TAPER_F32), *points = converted(&c, &of.points, TAPER_I32);
    taper_tensor *inputs[] = {x, TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_reciprocal, taper_compose_arg(scales)),
                              points};
    taper_tensor *q = computed(&c, call, &quantize_each, &args, inputs, TAPER_F32, TAPER_F32);
    return taper_compose_ret(&c, call, 0, taper_compose_mul(&c, taper_compose_sub(&c, q, points), scales));
}

// ---- per token: scales and zero points already broadcast to the rows

static taper_tensor *quantized_behind(taper_compose *c, taper_tensor *x, taper_tensor *scales, taper_tensor *points,
                                      const taper_ew_args *args, taper_dtype dtype)
{
    taper_tensor *y = TAPER_COMPOSE(c, taper_op_unary, &taper_ew_reciprocal, taper_compose_arg(scales));
    y = taper_compose_add(c, taper_compose_mul(c, x, y), points);
    y = TAPER_COMPOSE(c, taper_op_unary, &taper_ew_round, taper_compose_arg(y));
    y = TAPER_COMPOSE(c, taper_op_clamp, NULL, taper_compose_arg(y), taper_val_double(args->f[2]),
                      taper_val_double(args->f[3]));
    return converted(c, y, dtype);
}

static taper_status arg_tokens(const taper_call *call, const taper_tensor *x, taper_tensor *vectors[2])
{
    int64_t tokens = 1;
    for (size_t d = 0; d + 1 < x->rank; d++) {
        if (!taper_mul_i64(tokens, x->sizes[d], &tokens)) { // the product may overflow if another dimension has size 0
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'input' is too large");
        }
    }
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_arg_tensor(call, i + 1, &vectors[i]));
        if (taper_tensor_numel(vectors[i]) != tokens) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "num_tokens: %lld %s: %s", (long long)tokens,
                       taper_arg_name(call, i + 1), TAPER_SHAPE(vectors[i]));
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_decomposed_quantize_token)
{
    taper_tensor *x, *vectors[2];
    taper_dtype dtype;
    taper_ew_args args;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(arg_integers(call, 3, &dtype, &args));
    TAPER_TRY(arg_tokens(call, x, vectors));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    return taper_compose_ret(&c, call, 0, quantized_behind(&c, x, vectors[0], vectors[1], &args, dtype));
}

TAPER_KERNEL(taper_op_decomposed_dequantize_token)
{
    taper_tensor *x, *scales, *points;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &scales));
    TAPER_TRY(taper_arg_tensor(call, 2, &points));
    TAPER_TRY(taper_arg_dtype_or(call, 6, TAPER_F32, &dtype));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    return taper_compose_ret(&c, call, 0, dequantized(&c, call, x, scales, points, dtype));
}

// ---- per group of the second dimension

// Returns a view of x in which each row is one group.
static taper_status in_groups(const taper_call *call, const taper_tensor *x, const taper_tensor *scales, size_t at,
                              int64_t *sizes)
{
    int64_t group;
    TAPER_TRY(taper_arg_int(call, at, &group));
    const bool column = scales->rank != 0 && scales->sizes[scales->rank - 1u] == 1;
    if (x->rank != 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "input must be 2-dimensional");
    }
    if (group <= 1) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "group_size must be > 1");
    }
    group = group > x->sizes[1] && column ? x->sizes[1] : group;
    if (group == 0 || x->sizes[1] % group != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "input.shape[-1] must be divisible by group_size");
    }
    sizes[0] = taper_tensor_numel(x) / group;
    sizes[1] = group;
    return TAPER_OK;
}

static taper_tensor *as_column(taper_compose *c, taper_tensor *vector)
{
    const int64_t sizes[] = {taper_tensor_numel(vector), 1};
    return taper_compose_reshape(c, vector, 2, sizes);
}

TAPER_KERNEL(taper_op_decomposed_quantize_group)
{
    taper_tensor *x, *scales, *points;
    taper_dtype dtype;
    taper_ew_args args;
    int64_t sizes[2];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &scales));
    TAPER_TRY(taper_arg_tensor(call, 2, &points));
    TAPER_TRY(arg_integers(call, 3, &dtype, &args));
    TAPER_TRY(in_groups(call, x, scales, 6, sizes));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *rows = taper_compose_reshape(&c, x, 2, sizes);
    taper_tensor *odd = TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_isnan, taper_compose_arg(rows));
    odd = TAPER_COMPOSE(&c, taper_op_any, &taper_reduce_all_only, taper_compose_arg(odd));
    if (c.status == TAPER_OK && *(const uint8_t *)taper_tensor_data(odd) != 0) {
        taper_compose_fail(&c, taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "to_quant must not contain NaNs"));
    }
    taper_tensor *q = quantized_behind(&c, rows, as_column(&c, scales), as_column(&c, points), &args, dtype);
    return taper_compose_ret(&c, call, 0, taper_compose_reshape(&c, q, 2, x->sizes));
}

TAPER_KERNEL(taper_op_decomposed_dequantize_group)
{
    taper_tensor *x, *scales, *points;
    taper_dtype dtype;
    int64_t sizes[2];
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &scales));
    TAPER_TRY(taper_arg_tensor_or_none(call, 2, &points));
    TAPER_TRY(in_groups(call, x, scales, 6, sizes));
    TAPER_TRY(taper_arg_dtype_or(call, 7, TAPER_F32, &dtype));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *rows = taper_compose_reshape(&c, x, 2, sizes);
    taper_tensor *columns[] = {as_column(&c, scales), points != NULL ? as_column(&c, points) : NULL};
    taper_tensor *y = c.status == TAPER_OK ? dequantized(&c, call, rows, columns[0], columns[1], dtype) : NULL;
    return taper_compose_ret(&c, call, 0, taper_compose_reshape(&c, y, 2, x->sizes));
}

TAPER_KERNEL(taper_op_decomposed_convert)
{
    taper_tensor *x;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dtype_or(call, 1, (taper_dtype)x->dtype, &dtype));
    return taper_ret_copy(call, x, dtype, TAPER_FORMAT_PRESERVE);
}
