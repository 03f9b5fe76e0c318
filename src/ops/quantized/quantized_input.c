// SPDX-License-Identifier: BSD-2-Clause
// Reads the activations of quantized layers as contiguous bytes.
#include "ir/tensor.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized_layer.h"

static bool lies_nhwc(const taper_tensor *tensor)
{
    return tensor->rank == 4 || tensor->rank == 5 ? taper_tensor_is_channels_last(tensor)
                                                  : taper_tensor_is_contiguous(tensor);
}

static taper_status new_like(taper_run *run, taper_dtype dtype, const taper_tensor *like, taper_tensor **tensor)
{
    int64_t strides[TAPER_MAX_RANK];
    const bool image = like->rank == 4 || like->rank == 5;
    if (image) {
        taper_strides_channels_last(like->rank, like->sizes, strides);
    }
    return taper_tensor_new(run->heap, dtype, like->rank, like->sizes, image ? strides : NULL, tensor, run->error);
}

taper_status taper_q_input_open(taper_run *run, taper_tensor *tensor, taper_q_input *input)
{
    const bool is_signed = tensor->dtype == TAPER_QI8;
    const taper_quantizer *z = tensor->quantizer;
    *input = (taper_q_input){0};
    if (z == NULL || z->scales != NULL || (!is_signed && tensor->dtype != TAPER_QU8)) {
        TAPER_FAIL(
            run->error, TAPER_ERROR_ARGUMENT, "the input should be quint8 or qint8, quantized per tensor, but is %s%s",
            z != NULL && z->scales != NULL ? "per-channel " : "", taper_dtype_torch_name((taper_dtype)tensor->dtype));
    }
    const taper_q_range range = taper_q_range_of((taper_dtype)tensor->dtype);
    if (!(z->scale > 0) || isinf(z->scale) || z->zero_point < range.low || z->zero_point > range.high) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the input has scale %g and zero point %lld; the scale must be positive and finite, the zero point "
                   "within its dtype",
                   z->scale, (long long)z->zero_point);
    }
    input->scale = z->scale;
    input->zero_point = (int32_t)z->zero_point + (is_signed ? 128 : 0);
    if (!is_signed && lies_nhwc(tensor)) {
        input->kept = taper_tensor_keep(tensor); // also keeps the storage if the tensor is a view on the stack
        input->data = taper_tensor_data(tensor);
        return TAPER_OK;
    }
    taper_tensor *copy;
    TAPER_TRY(new_like(run, (taper_dtype)tensor->dtype, tensor, &copy));
    const taper_status status = taper_run_copy(run, copy, tensor);
    if (status != TAPER_OK) {
        taper_tensor_drop(copy);
        return status;
    }
    uint8_t *bytes = taper_tensor_mutable(copy);
    const int64_t count = taper_tensor_numel(copy);
    for (int64_t i = 0; is_signed && i < count; i++) {
        bytes[i] ^= 0x80;
    }
    input->kept = copy;
    input->data = bytes;
    return TAPER_OK;
}

void taper_q_input_close(taper_q_input *input)
{
    taper_tensor_drop(input->kept);
    *input = (taper_q_input){0};
}

// ---- inputs of dynamic layers

taper_status taper_q_choose(taper_run *run, taper_q_range range, float min, float max, double *scale,
                            int64_t *zero_point)
{
    if (isinf(min) || isinf(max)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the input has infinities: it cannot be quantized");
    }
    taper_q_span(min, max, range, false, scale, zero_point);
    return TAPER_OK;
}

// Returns a contiguous float32 tensor with the same elements.
static taper_status floats_of(taper_run *run, taper_tensor *tensor, taper_tensor **plain)
{
    *plain = NULL;
    if (tensor->dtype != TAPER_F32) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the input of a dynamically quantized layer should be float32 but is %s",
                   taper_dtype_torch_name((taper_dtype)tensor->dtype));
    }
    if (lies_nhwc(tensor)) {
        *plain = taper_tensor_keep(tensor);
        return TAPER_OK;
    }
    TAPER_TRY(new_like(run, TAPER_F32, tensor, plain));
    return taper_run_copy(run, *plain, tensor);
}

// Quantizes floats to bytes by the input's scale and zero point. Infinity becomes 255, and -infinity becomes 0.
static taper_status quantize_floats(taper_run *run, const taper_tensor *plain, taper_q_input *input)
{
    const taper_q_range range = taper_q_range_of(TAPER_QU8);
    const float inverse = 1.0f / (float)input->scale, far = 1e9f;
    const float *values = taper_tensor_data(plain);
    TAPER_TRY(new_like(run, TAPER_U8, plain, &input->kept));
    uint8_t *q = taper_tensor_mutable(input->kept);
    for (int64_t i = 0; i < taper_tensor_numel(plain); i++) {
        const float scaled = values[i] * inverse;
        q[i] = (uint8_t)taper_q_round(scaled > far ? far : scaled, input->zero_point, range);
    }
    input->data = q;
    return TAPER_OK;
}

taper_status taper_q_input_dynamic(taper_run *run, taper_tensor *tensor, taper_q_input *input)
{
    *input = (taper_q_input){0};
    taper_tensor *plain;
    taper_status status = floats_of(run, tensor, &plain);
    float min = 0, max = 0;
    const int64_t count = status == TAPER_OK ? taper_tensor_numel(plain) : 0;
    const float *values = status == TAPER_OK ? taper_tensor_data(plain) : NULL;
    for (int64_t i = 0; i < count && status == TAPER_OK; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
        if (isnan(values[i])) {
            status =
                taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                           "In ChooseQuantizationParams, min should be less than or equal to max: the input has NaNs");
        }
    }
    int64_t zero_point = 0;
    if (status == TAPER_OK) {
        status = taper_q_choose(run, taper_q_range_of(TAPER_QU8), min, max, &input->scale, &zero_point);
    }
    if (status == TAPER_OK) {
        input->zero_point = (int32_t)zero_point;
        status = quantize_floats(run, plain, input);
    }
    taper_tensor_drop(plain);
    return status;
}

taper_status taper_q_input_told(taper_run *run, taper_tensor *tensor, double scale, int64_t zero_point,
                                taper_q_input *input)
{
    *input = (taper_q_input){.scale = scale, .zero_point = (int32_t)zero_point};
    taper_tensor *plain;
    taper_status status = floats_of(run, tensor, &plain);
    if (status == TAPER_OK) {
        status = quantize_floats(run, plain, input);
    }
    taper_tensor_drop(plain);
    return status;
}
