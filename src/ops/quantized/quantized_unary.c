// SPDX-License-Identifier: BSD-2-Clause
// Activations of quantized tensors. For some of them quint8 uses QNNPACK's tables of 256 results. For other activations
// the tensor is dequantized, and the result in floats is quantized.
#include "ir/storage.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized_walk.h"

// ---- clamping integers

typedef struct bounds {
    taper_dtype dtype;
    int64_t low, high;
} bounds;

static void clamp_row(const void *work, const taper_q_row *row)
{
    const bounds *b = work;
    for (int64_t i = 0; i < row->count; i++) {
        int64_t q = taper_q_load(b->dtype, row->a, row->a_at + i * row->a_step);
        q = q < b->low ? b->low : q;
        taper_q_store(b->dtype, row->y, row->y_at + i * row->y_step, q > b->high ? b->high : q);
    }
}

static void walk_clamped(taper_run *run, taper_tensor *y, const taper_tensor *x, const bounds *b)
{
    taper_q_tables tables;
    const int64_t high = b->high < 255 ? b->high : 255; // a larger bound has no effect
    if (b->dtype == TAPER_QI32) {
        taper_q_walk(run, y, x, NULL, clamp_row, b);
        return;
    }
    tables.run = run;
    for (int i = 0; i < 256; i++) {
        int64_t q = b->dtype == TAPER_QI8 ? (int8_t)i : i;
        q = q < b->low ? b->low : q;
        tables.plain[i] = tables.wide[i] = (uint8_t)(q > high ? high : q);
    }
    taper_q_walk(run, y, x, NULL, taper_q_table_row, &tables);
}

// Makes the tensor for result 0 with x's quantizer. For an in-place operator the result is x itself.
static taper_status ret_like(taper_call *call, const taper_tensor *x, bool contiguous, taper_tensor **y)
{
    const taper_quantizer z = *x->quantizer;
    return contiguous
               ? taper_ret_quantized(call, 0, (taper_dtype)x->dtype, x->rank, x->sizes, NULL, z.scale, z.zero_point, y)
               : taper_ret_quantized_like(call, 0, x, z.scale, z.zero_point, y);
}

static taper_status clamp(taper_call *call, const taper_tensor *x, bounds b, bool contiguous)
{
    taper_tensor *y;
    b.dtype = (taper_dtype)x->dtype;
    TAPER_TRY(ret_like(call, x, contiguous, &y));
    walk_clamped(call->run, y, x, &b);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_relu)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    return clamp(call, x, (bounds){.low = x->quantizer->zero_point, .high = INT32_MAX}, false);
}

// Converts a bound to an integer of x. QNNPACK divides by the scale; other code multiplies by the inverse.
static int64_t bound(const taper_tensor *x, float number)
{
    const taper_quantizer *z = x->quantizer;
    const float scale = (float)z->scale;
    return taper_q_round(x->dtype == TAPER_QU8 ? number / scale : number * (1.0f / scale), z->zero_point,
                         taper_q_range_of((taper_dtype)x->dtype));
}

static taper_status clamp_numbers(taper_call *call, const taper_tensor *x, double low, double high)
{
    const bounds b = {.low = bound(x, (float)low), .high = bound(x, (float)high)};
    return clamp(call, x, b, x->dtype == TAPER_QU8);
}

// Computes clamp(self, min, max) or hardtanh(self, min_val, max_val). QNNPACK needs both bounds.
TAPER_KERNEL(taper_op_q_clamp)
{
    taper_tensor *x;
    taper_scalar low, high;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    if (taper_arg_is_none(call, 1) || taper_arg_is_none(call, 2)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "arguments '%s' and '%s': both bounds are needed to clamp a quantized tensor",
                   taper_arg_name(call, 1), taper_arg_name(call, 2));
    }
    TAPER_TRY(taper_arg_scalar(call, 1, &low));
    TAPER_TRY(taper_arg_scalar(call, 2, &high));
    return clamp_numbers(call, x, low.f, high.f);
}

// Computes aten::relu6, or quantized::relu6(qx, inplace).
TAPER_KERNEL(taper_op_q_relu6)
{
    taper_tensor *x;
    bool in_place = false;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    if (call->arg_count > 1) {
        TAPER_TRY(taper_arg_bool(call, 1, &in_place));
    }
    if (!in_place) {
        return clamp_numbers(call, x, 0, 6);
    }
    const bounds b = {.dtype = (taper_dtype)x->dtype, .low = bound(x, 0), .high = bound(x, 6)};
    TAPER_TRY(taper_ret_check_overlap(call, x));
    TAPER_TRY(taper_storage_write(x->storage, call->run->error));
    walk_clamped(call->run, x, x, &b);
    taper_obj_retain(&x->head);
    taper_ret(call, 0, TAPER_VAL(x));
    return TAPER_OK;
}

// ---- functions of one float

static float leaky_relu(const taper_q_map *map, float x)
{
    return x > 0 ? x : x * map->p[0];
}

static float threshold(const taper_q_map *map, float x)
{
    return x > map->p[0] ? x : map->p[1];
}

static float six(float x) // clamps x to [0, 6]
{
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

static float hardswish(const taper_q_map *map, float x)
{
    (void)map;
    return x * six(x + 3.0f) / 6.0f;
}

static float hardsigmoid(const taper_q_map *map, float x)
{
    (void)map;
    return six(x + 3.0f) / 6.0f;
}

static float sigmoid(const taper_q_map *map, float x)
{
    (void)map;
    return (float)(1.0 / (1.0 + (double)expf(-x)));
}

static float sigmoid_wide(const taper_q_map *map, float x)
{
    (void)map;
    return 1.0f / (1.0f + expf(-x));
}

static float hyperbolic_tangent(const taper_q_map *map, float x)
{
    (void)map;
    return tanhf(x);
}

static float elu(const taper_q_map *map, float x) // map->p contains alpha, scale and input_scale
{
    return x >= 0 ? x * map->p[1] : expm1f(x * map->p[2]) * map->p[0] * map->p[1];
}

static float gelu(const taper_q_map *map, float x)
{
    (void)map;
    return (float)((double)x * 0.5 * (1 + erf((double)x * 0.70710678118654752440)));
}

static float gelu_wide(const taper_q_map *map, float x)
{
    (void)map;
    return x * 0.5f * (1.0f + erff(x * 0.70710678118654752440f));
}

static float gelu_tanh(const taper_q_map *map, float x)
{
    (void)map;
    const double beta = 0.79788456080286535588, kappa = 0.044715; // sqrt(2 / pi)
    const float cube = x * x * x;
    return (float)(0.5 * (double)x * (1.0 + tanh(beta * ((double)x + kappa * (double)cube))));
}

static float gelu_tanh_wide(const taper_q_map *map, float x)
{
    (void)map;
    const float cube = x * x * x;
    return 0.5f * x * (1.0f + tanhf(0.79788456080286535588f * (x + 0.044715f * cube)));
}

// Computes a function of quint8 by a table as QNNPACK does: the zero point is added before rounding.
static taper_status run_table(taper_call *call, const taper_tensor *x, const taper_q_map *map, double scale,
                              int64_t zero_point)
{
    taper_tensor *y;
    uint8_t table[256];
    const float from = (float)x->quantizer->scale, inverse = 1.0f / (float)scale;
    const int64_t point = x->quantizer->zero_point;
    for (int i = 0; i < 256; i++) {
        const float number = inverse * map->value(map, from * (float)(i - point)) + (float)zero_point;
        table[i] = (uint8_t)lrintf(number > 255 ? 255 : number > 0 ? number : 0);
    }
    TAPER_TRY(taper_ret_quantized_like(call, 0, x, scale, zero_point, &y));
    uint8_t *bytes = taper_tensor_mutable(y); // the table is applied to all of y's memory, because y is dense
    const uint8_t *from_bytes = taper_tensor_data(x);
    if (memcmp(x->strides, y->strides, x->rank * sizeof *x->strides) != 0) {
        TAPER_TRY(taper_run_copy(call->run, y, x));
        from_bytes = bytes;
    }
    // The table translates all bytes in one pass over the memory.
    taper_q_translate(call->run, table, (size_t)taper_tensor_numel(y), from_bytes, bytes);
    return taper_run_spend(call->run, (uint64_t)taper_tensor_numel(y));
}

static taper_status run_map(taper_call *call, const taper_tensor *x, const taper_q_map *map, double scale,
                            int64_t zero_point)
{
    taper_tensor *y;
    TAPER_TRY(taper_ret_quantized_like(call, 0, x, scale, zero_point, &y));
    taper_q_map_run(call->run, map, y, x);
    return TAPER_OK;
}

// ---- results with x's quantizer

static taper_status arg_float(const taper_call *call, size_t at, float *number)
{
    taper_scalar scalar;
    TAPER_TRY(taper_arg_scalar(call, at, &scalar));
    *number = (float)scalar.f;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_leaky_relu)
{
    taper_tensor *x, *y;
    taper_q_map map = {.value = leaky_relu};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(arg_float(call, 1, &map.p[0]));
    TAPER_TRY(ret_like(call, x, false, &y));
    taper_q_map_run(call->run, &map, y, x);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_threshold)
{
    taper_tensor *x, *y;
    taper_q_map map = {.value = threshold};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(arg_float(call, 1, &map.p[0]));
    TAPER_TRY(arg_float(call, 2, &map.p[1]));
    TAPER_TRY(ret_like(call, x, false, &y));
    map.inverse_wide = (float)(1.0 / (double)(float)x->quantizer->scale);
    taper_q_map_run(call->run, &map, y, x);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_gelu)
{
    taper_tensor *x;
    const taper_string *approximate;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_string(call, 1, &approximate));
    const bool none = strcmp(approximate->data, "none") == 0;
    if (!none && strcmp(approximate->data, "tanh") != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "approximate argument must be either none or tanh.");
    }
    const float scale = (float)x->quantizer->scale;
    const taper_q_map map = {.value = none ? gelu : gelu_tanh,
                             .value_wide = none ? gelu_wide : gelu_tanh_wide,
                             .inverse_wide = (float)(1.0 / (double)scale)};
    return run_map(call, x, &map, (double)scale, x->quantizer->zero_point);
}

// ---- results with a fixed quantizer

// Returns the scale for x's dtype; qint32 has 24 bits more than the other dtypes.
static double fixed_scale(const taper_tensor *x, double scale)
{
    return x->dtype == TAPER_QI32 ? ldexp(scale, -24) : scale;
}

TAPER_KERNEL(taper_op_q_sigmoid)
{
    taper_tensor *x;
    taper_q_map map = {.value = sigmoid, .value_wide = sigmoid_wide};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    double scale = fixed_scale(x, 1.0 / 256);
    int64_t zero_point = x->dtype == TAPER_QI8 ? -128 : 0;
    if (call->arg_count > 2 && taper_ret_argument(call, 0) == NULL) { // true for the overload quantized::sigmoid
        TAPER_TRY(taper_arg_qparams(call, 1, (taper_dtype)x->dtype, &scale, &zero_point));
    }
    if (x->dtype == TAPER_QU8) {
        if ((float)scale != 1.0f / 256 || zero_point != 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "the sigmoid of quint8 has the scale 1/256 and the zero point 0");
        }
        map.value = sigmoid_wide;
        return run_table(call, x, &map, scale, zero_point);
    }
    map.inverse_wide = (float)(1.0 / scale);
    return run_map(call, x, &map, scale, zero_point);
}

TAPER_KERNEL(taper_op_q_tanh)
{
    taper_tensor *x;
    const taper_q_map map = {.value = hyperbolic_tangent};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    const double scale = fixed_scale(x, 1.0 / 128);
    return x->dtype == TAPER_QU8 ? run_table(call, x, &map, scale, 128) : run_map(call, x, &map, scale, 0);
}

TAPER_KERNEL(taper_op_q_hardsigmoid)
{
    taper_tensor *x;
    const taper_q_map map = {.value = hardsigmoid};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    const double scale = fixed_scale(x, 1.0 / 256);
    return x->dtype == TAPER_QU8 ? run_table(call, x, &map, scale, 0)
                                 : run_map(call, x, &map, scale, x->dtype == TAPER_QI8 ? -128 : 0);
}

// ---- results with a given quantizer

TAPER_KERNEL(taper_op_q_hardswish_to)
{
    taper_tensor *x;
    double scale;
    int64_t zero_point;
    taper_q_map map = {.value = hardswish};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_qparams(call, 1, (taper_dtype)x->dtype, &scale, &zero_point));
    map.inverse_wide = (float)(1.0 / scale);
    return x->dtype == TAPER_QU8 ? run_table(call, x, &map, scale, zero_point)
                                 : run_map(call, x, &map, scale, zero_point);
}

// Computes quantized::leaky_relu(qx, negative_slope, inplace, output_scale, output_zero_point). inplace has no effect.
TAPER_KERNEL(taper_op_q_leaky_relu_to)
{
    taper_tensor *x;
    double scale;
    int64_t zero_point;
    taper_q_map map = {.value = leaky_relu};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(arg_float(call, 1, &map.p[0]));
    TAPER_TRY(taper_arg_qparams(call, 3, (taper_dtype)x->dtype, &scale, &zero_point));
    if (taper_tensor_suggests_channels_last(x)) {
        return run_map(call, x, &map, scale, zero_point);
    }
    taper_tensor *plain;
    TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    const taper_status status = run_map(call, plain, &map, scale, zero_point);
    taper_obj_release(&plain->head);
    return status;
}

static taper_status run_elu(taper_call *call, const taper_tensor *x, taper_q_map *map)
{
    taper_tensor *y;
    double scale;
    int64_t zero_point;
    map->value = elu;
    TAPER_TRY(taper_arg_qparams(call, 1, (taper_dtype)x->dtype, &scale, &zero_point));
    TAPER_TRY(taper_ret_quantized(call, 0, (taper_dtype)x->dtype, x->rank, x->sizes, NULL, scale, zero_point, &y));
    map->inverse_wide = (float)(1.0 / (double)(float)scale);
    taper_q_map_run(call->run, map, y, x);
    return TAPER_OK;
}

// Computes quantized::elu(self, output_scale, output_zero_point, alpha, scale, input_scale).
TAPER_KERNEL(taper_op_q_elu_to)
{
    taper_tensor *x;
    taper_q_map map = {0};
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    for (size_t i = 0; i < 3; i++) {
        TAPER_TRY(arg_float(call, 3 + i, &map.p[i]));
    }
    return run_elu(call, x, &map);
}

TAPER_KERNEL(taper_op_q_celu_to)
{
    taper_tensor *x;
    taper_scalar alpha;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_scalar(call, 3, &alpha));
    if (alpha.f == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'alpha' cannot be 0 for CELU");
    }
    taper_q_map map = {.p = {(float)alpha.f, 1, (float)(1.0 / alpha.f)}};
    return run_elu(call, x, &map);
}

// Computes quantized::dropout, which has no effect, also in training, as in PyTorch.
TAPER_KERNEL(taper_op_q_dropout)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    taper_obj_retain(&x->head);
    taper_ret(call, 0, TAPER_VAL(x));
    return TAPER_OK;
}
