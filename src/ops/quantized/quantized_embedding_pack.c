// SPDX-License-Identifier: BSD-2-Clause
// Makes quantized tables of embeddings and reads them back: packed parameters of a quantized weight, or rows of bytes
// that end with their scale and bias, from a float weight.
#include "base/half.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized_params.h"

// ---- packed parameters

TAPER_KERNEL(taper_op_embedding_bag_prepack)
{
    taper_tensor *weight;
    taper_object *object;
    taper_qembedding_params params;
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    TAPER_TRY(taper_qembedding_make(call->run, weight, &object));
    const taper_status status = taper_qembedding_open(call->run, object, &params);
    if (status != TAPER_OK) {
        taper_val_release(TAPER_VAL(object));
        return status;
    }
    taper_ret(call, 0, TAPER_VAL(object));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_embedding_bag_unpack)
{
    taper_object *object;
    taper_qembedding_params params;
    TAPER_TRY(taper_arg_object(call, 0, &object));
    TAPER_TRY(taper_qembedding_open(call->run, object, &params));
    taper_ret(call, 0, TAPER_VAL(taper_tensor_keep(params.weight)));
    return TAPER_OK;
}

// ---- for each row, the range with the smallest loss

typedef struct float_range {
    float min, max;
} float_range;

static float as_half(float value)
{
    return taper_f16_to_float(taper_float_to_f16(value));
}

static float quantization_loss(const float *row, int64_t count, float_range range, int bits)
{
    const float min = as_half(range.min), width = range.max - min, most = (float)((1 << bits) - 1);
    const float scale = width == 0 ? 1.0f : as_half(width / most), inverse = scale == 0 ? 1.0f : 1.0f / scale;
    float norm = 0;
    for (int64_t i = 0; i < count; i++) {
        const float rounded = nearbyintf((row[i] - min) * inverse);
        const float q = rounded > most ? most : rounded > 0 ? rounded : 0.0f;
        const float lost = row[i] - (q * scale + min);
        norm += lost * lost;
    }
    return sqrtf(norm);
}

typedef struct fused_form {
    int bits;
    bool optimized;
    int64_t bins;
    float ratio;
} fused_form;

// Shrinks the range, step by step, at the end where less precision is lost, and keeps the range with the smallest loss.
static taper_status shrink_range(taper_run *run, const float *row, int64_t count, const fused_form *form,
                                 float_range *range)
{
    const float step = (range->max - range->min) / (float)form->bins;
    const int64_t least_bins = (int64_t)(int)((double)form->bins * (1.0 - (double)form->ratio));
    const float least = (float)least_bins * step;
    float_range current = *range;
    float loss = quantization_loss(row, count, current, form->bits), best = loss;
    for (int64_t i = 0; i <= form->bins && current.min + least < current.max; i++) {
        const float_range left = {current.min + step, current.max}, right = {current.min, current.max - step};
        const float of_left = quantization_loss(row, count, left, form->bits);
        const float of_right = quantization_loss(row, count, right, form->bits);
        if (loss < of_left && loss < of_right && loss < best) {
            best = loss;
            *range = current;
        }
        current = of_left < of_right ? left : right;
        loss = of_left < of_right ? of_left : of_right;
        TAPER_TRY(taper_run_spend(run, (uint64_t)count * 10));
    }
    return TAPER_OK;
}

// ---- fused rows: bytes of elements, then scale and bias

static void store_half(uint8_t *bytes, float value)
{
    const uint16_t half = taper_float_to_f16(value);
    memcpy(bytes, &half, sizeof half);
}

static float_range range_of(const float *row, int64_t count)
{
    float_range range = {row[0], row[0]};
    for (int64_t i = 1; i < count; i++) {
        range.min = row[i] < range.min ? row[i] : range.min;
        range.max = row[i] > range.max ? row[i] : range.max;
    }
    return range;
}

static uint8_t to_level(float value, float most) // returns 0 for NaN
{
    const float rounded = nearbyintf(value);
    return (uint8_t)(rounded > most ? most : rounded > 0 ? rounded : 0.0f);
}

static void pack_bytes(const float *row, int64_t count, uint8_t *to)
{
    const float_range range = range_of(row, count);
    const float width = range.max - range.min, scale = width / 255.0f, inverse = 255.0f / (width + 1e-8f);
    for (int64_t i = 0; i < count; i++) {
        to[i] = to_level((row[i] - range.min) * inverse, 255.0f);
    }
    memcpy(to + count, &scale, sizeof scale);
    memcpy(to + count + sizeof scale, &range.min, sizeof range.min);
}

static taper_status pack_bits(taper_run *run, const float *row, int64_t count, const fused_form *form, uint8_t *to)
{
    float_range range = range_of(row, count);
    if (form->optimized) {
        TAPER_TRY(shrink_range(run, row, count, form, &range));
    }
    const float min = as_half(range.min), width = range.max - min, most = (float)((1 << form->bits) - 1);
    float scale = width == 0 ? 1.0f : as_half(width / most), inverse = scale == 0 ? 1.0f : 1.0f / scale;
    if (scale == 0 || isinf(inverse)) { // all elements are equal, so any scale will do
        scale = inverse = 1.0f;
    }
    const int per_byte = 8 / form->bits;
    for (int64_t i = 0; i < count; i++) {
        const int level = to_level((row[i] - min) * inverse, most) << (i % per_byte * form->bits);
        to[i / per_byte] = (uint8_t)(i % per_byte == 0 ? level : to[i / per_byte] | level);
    }
    uint8_t *end = to + count / per_byte;
    store_half(end, scale);
    store_half(end + 2, min);
    return TAPER_OK;
}

static taper_status pack_rows(taper_call *call, const fused_form *form)
{
    taper_run *run = call->run;
    taper_tensor *weight, *plain, *y;
    int64_t sizes[TAPER_MAX_RANK];
    const int per_byte = 8 / form->bits;
    TAPER_TRY(taper_arg_tensor(call, 0, &weight));
    const bool rank_fits = form->bits == 8 ? weight->rank >= 1 : weight->rank == 2;
    if (!rank_fits || (weight->dtype != TAPER_F32 && weight->dtype != TAPER_F16) ||
        weight->sizes[weight->rank - 1u] == 0 || weight->sizes[weight->rank - 1u] % per_byte != 0) {
        TAPER_FAIL(
            run->error, TAPER_ERROR_ARGUMENT,
            "argument '%s' should be a float32 or float16 matrix, its columns a positive multiple of %d, but is %s "
            "of sizes %s",
            taper_arg_name(call, 0), per_byte, taper_dtype_torch_name((taper_dtype)weight->dtype), TAPER_SHAPE(weight));
    }
    const int64_t columns = weight->sizes[weight->rank - 1u], tail = form->bits == 8 ? 8 : 4;
    memcpy(sizes, weight->sizes, weight->rank * sizeof *sizes);
    if (!taper_add_i64(columns / per_byte, tail, &sizes[weight->rank - 1u])) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument '%s' has too long rows", taper_arg_name(call, 0));
    }
    TAPER_TRY(taper_ret_new(call, 0, TAPER_U8, weight->rank, sizes, NULL, &y));
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, weight->rank, weight->sizes, NULL, &plain, run->error));
    taper_status status = taper_run_copy(run, plain, weight);
    const int64_t rows = taper_tensor_numel(plain) / columns, row_bytes = sizes[weight->rank - 1u];
    for (int64_t r = 0; r < rows && status == TAPER_OK; r++) {
        const float *from = (const float *)taper_tensor_data(plain) + r * columns;
        uint8_t *to = (uint8_t *)taper_tensor_mutable(y) + r * row_bytes;
        if (form->bits == 8) {
            pack_bytes(from, columns, to);
        } else {
            status = pack_bits(run, from, columns, form, to);
        }
    }
    taper_tensor_drop(plain);
    return status;
}

static taper_status pack_few_bits(taper_call *call, int bits)
{
    fused_form form = {.bits = bits};
    double ratio;
    TAPER_TRY(taper_arg_bool(call, 1, &form.optimized));
    TAPER_TRY(taper_arg_int(call, 2, &form.bins));
    TAPER_TRY(taper_arg_double(call, 3, &ratio));
    form.ratio = (float)ratio;
    if (form.optimized && (form.bins < 1 || form.bins > 100000 || !(ratio >= 0 && ratio <= 1))) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "nbins should be between 1 and 100000 and ratio between 0 and 1, they are %lld and %g",
                   (long long)form.bins, ratio);
    }
    return pack_rows(call, &form);
}

TAPER_KERNEL(taper_op_embedding_bag_byte_prepack)
{
    return pack_rows(call, &(fused_form){.bits = 8});
}

TAPER_KERNEL(taper_op_embedding_bag_4bit_prepack)
{
    return pack_few_bits(call, 4);
}

TAPER_KERNEL(taper_op_embedding_bag_2bit_prepack)
{
    return pack_few_bits(call, 2);
}

// ---- conversion back to floats

static taper_status unpack_rows(taper_call *call, int bits)
{
    taper_run *run = call->run;
    taper_tensor *packed, *plain, *y;
    int64_t sizes[TAPER_MAX_RANK];
    const int per_byte = 8 / bits, mask = (1 << bits) - 1;
    const int64_t tail = bits == 8 ? 8 : 4;
    TAPER_TRY(taper_arg_tensor(call, 0, &packed));
    const bool rank_fits = bits == 8 ? packed->rank >= 1 : packed->rank == 2;
    if (!rank_fits || packed->dtype != TAPER_U8 || packed->sizes[packed->rank - 1u] < tail) {
        TAPER_FAIL(
            run->error, TAPER_ERROR_ARGUMENT,
            "argument '%s' should be a uint8 matrix whose rows end with %lld bytes of scale and bias, but is %s of "
            "sizes %s",
            taper_arg_name(call, 0), (long long)tail, taper_dtype_torch_name((taper_dtype)packed->dtype),
            TAPER_SHAPE(packed));
    }
    const int64_t row_bytes = packed->sizes[packed->rank - 1u];
    int64_t *columns = &sizes[packed->rank - 1u];
    memcpy(sizes, packed->sizes, packed->rank * sizeof *sizes);
    if (!taper_mul_i64(row_bytes - tail, per_byte, columns)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument '%s' has too long rows", taper_arg_name(call, 0));
    }
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, packed->rank, sizes, NULL, &y));
    TAPER_TRY(taper_run_contiguous(run, packed, &plain));
    const int64_t rows = taper_tensor_numel(plain) / row_bytes;
    float *to = taper_tensor_mutable(y);
    for (int64_t r = 0; r < rows; r++) {
        const uint8_t *row = (const uint8_t *)taper_tensor_data(plain) + r * row_bytes, *end = row + row_bytes - tail;
        float scale, bias;
        if (bits == 8) {
            memcpy(&scale, end, sizeof scale);
            memcpy(&bias, end + 4, sizeof bias);
        } else {
            uint16_t halves[2];
            memcpy(halves, end, sizeof halves);
            scale = taper_f16_to_float(halves[0]);
            bias = taper_f16_to_float(halves[1]);
        }
        for (int64_t i = 0; i < *columns; i++) {
            *to++ = (float)(row[i / per_byte] >> (i % per_byte * bits) & mask) * scale + bias;
        }
    }
    taper_tensor_drop(plain);
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_embedding_bag_byte_unpack)
{
    return unpack_rows(call, 8);
}

TAPER_KERNEL(taper_op_embedding_bag_4bit_unpack)
{
    return unpack_rows(call, 4);
}

TAPER_KERNEL(taper_op_embedding_bag_2bit_unpack)
{
    return unpack_rows(call, 2);
}
