// SPDX-License-Identifier: BSD-2-Clause
// Nested tensors as padded tensors. The padding is a NaN with a reserved bit pattern.
#include "ops/nn/nested.h"

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

static const uint32_t mark = UINT32_C(0x7fc54150); // bit pattern of the quiet NaN that marks padding

static bool is_marked(taper_run *run, const taper_tensor *t, int64_t batch, int64_t row)
{
    if (t->sizes[2] == 0) {
        return false;
    }
    const float *at = (const float *)taper_tensor_data(t) + batch * t->strides[0] + row * t->strides[1];
    for (int64_t i = 0; i < t->sizes[2] && taper_run_step(run, i, 1); i++) {
        uint32_t bits;
        memcpy(&bits, at + i * t->strides[2], sizeof bits);
        if (bits != mark) {
            return false;
        }
    }
    return true;
}

taper_status taper_nested_padding(taper_run *run, const taper_tensor *src, taper_tensor **padding)
{
    *padding = NULL;
    if (src->dtype != TAPER_F32 || src->rank != 3) {
        return TAPER_OK;
    }
    taper_status status = TAPER_OK;
    for (int64_t b = 0; b < src->sizes[0] && status == TAPER_OK; b++) {
        status = taper_run_spend(run, 20);
        // Padding is at the end of a sequence, so the search starts there.
        for (int64_t t = src->sizes[1] - 1; t >= 0 && status == TAPER_OK && is_marked(run, src, b, t); t--) {
            status = *padding == NULL ? taper_run_zeros(run, TAPER_BOOL, 2, src->sizes, padding) : TAPER_OK;
            if (status == TAPER_OK) {
                ((uint8_t *)taper_tensor_mutable(*padding))[b * src->sizes[1] + t] = 1;
                status = taper_run_spend(run, 5);
            }
        }
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(*padding);
        *padding = NULL;
    }
    return status;
}

static void fill_padding(taper_tensor *tensor, const taper_tensor *padding, uint32_t bits)
{
    const uint8_t *is_padding = taper_tensor_data(padding);
    char *rows = taper_tensor_mutable(tensor);
    const int64_t count = tensor->sizes[0] * tensor->sizes[1], width = tensor->sizes[2];
    for (int64_t r = 0; r < count; r++) {
        for (int64_t i = 0; is_padding[r] && i < width; i++) {
            memcpy(rows + (r * width + i) * (int64_t)sizeof bits, &bits, sizeof bits);
        }
    }
}

void taper_nested_mark(taper_tensor *tensor, const taper_tensor *padding)
{
    fill_padding(tensor, padding, mark);
}

taper_status taper_nested_cleared(taper_run *run, const taper_tensor *src, const taper_tensor *padding,
                                  taper_tensor **cleared)
{
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, 3, src->sizes, NULL, cleared, run->error));
    TAPER_TRY(taper_run_copy(run, *cleared, src));
    fill_padding(*cleared, padding, 0);
    return TAPER_OK;
}

// ---- operators on nested tensors

// Reads t [B, T, E] and mask [B, T], which is true for tokens.
static taper_status take_pair(const taper_call *call, taper_tensor **t, taper_tensor **mask)
{
    TAPER_TRY(taper_arg_tensor(call, 0, t));
    TAPER_TRY(taper_arg_tensor(call, 1, mask));
    if ((*mask)->dtype != TAPER_BOOL || (*mask)->rank != 2 || (*t)->rank != 3 ||
        memcmp((*mask)->sizes, (*t)->sizes, 2 * sizeof(int64_t)) != 0) {
        TAPER_FAIL(
            call->run->error, TAPER_ERROR_ARGUMENT,
            "mask should be a bool tensor of the first two sizes of a 3-dimensional t; their sizes are %s and %s",
            TAPER_SHAPE(*mask), TAPER_SHAPE(*t));
    }
    return TAPER_OK;
}

static bool has_token(const taper_tensor *mask, int64_t batch, int64_t at)
{
    return ((const uint8_t *)taper_tensor_data(mask))[batch * mask->strides[0] + at * mask->strides[1]] != 0;
}

// Returns true if in every sequence all tokens come before the padding. Also returns false if the run must end: an
// expanded mask may be one element that is read everywhere, so its length is not bounded by memory.
static bool is_left_aligned(taper_run *run, const taper_tensor *mask)
{
    for (int64_t b = 0; b < mask->sizes[0]; b++) {
        for (int64_t t = 1; t < mask->sizes[1]; t++) {
            if (!taper_run_goes_on(run, 4)) {
                return false;
            }
            if (has_token(mask, b, t) && !has_token(mask, b, t - 1)) {
                return false;
            }
        }
    }
    return true;
}

TAPER_KERNEL(taper_op_nested_left_aligned)
{
    taper_tensor *t, *mask;
    TAPER_TRY(take_pair(call, &t, &mask));
    taper_ret(call, 0, taper_val_bool(is_left_aligned(call->run, mask)));
    return TAPER_OK;
}

// Makes a tensor [B, T] that is true for rows of padding.
static taper_status make_padding(taper_run *run, const taper_tensor *mask, taper_tensor **padding)
{
    TAPER_TRY(taper_run_zeros(run, TAPER_BOOL, 2, mask->sizes, padding));
    for (int64_t b = 0; b < mask->sizes[0]; b++) {
        for (int64_t t = 0; t < mask->sizes[1]; t++) {
            ((uint8_t *)taper_tensor_mutable(*padding))[b * mask->sizes[1] + t] = !has_token(mask, b, t);
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_nested_from_mask)
{
    taper_run *run = call->run;
    taper_tensor *t, *mask, *padding, *result = NULL;
    TAPER_TRY(take_pair(call, &t, &mask));
    if (t->dtype != TAPER_F32) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "nested tensors are supported of dtype float32 only");
    }
    if (!is_left_aligned(run, mask)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "Mask must be left-aligned without gaps");
    }
    TAPER_TRY(make_padding(run, mask, &padding));
    const taper_status status = taper_nested_cleared(run, t, padding, &result);
    if (status == TAPER_OK) {
        taper_nested_mark(result, padding);
        taper_ret(call, 0, TAPER_VAL(result));
    } else {
        taper_tensor_drop(result);
    }
    taper_tensor_drop(padding);
    return status;
}

// Makes the result: each sequence has the length of the longest one, and padding is replaced by `value`.
static taper_status pad(taper_call *call, const taper_tensor *t, const taper_tensor *padding, float value)
{
    const uint8_t *is_padding = padding != NULL ? taper_tensor_data(padding) : NULL;
    int64_t longest = is_padding == NULL && t->sizes[0] != 0 ? t->sizes[1] : 0;
    for (int64_t b = 0; b < t->sizes[0] && is_padding != NULL; b++) {
        TAPER_TRY(taper_run_spend(call->run, (uint64_t)t->sizes[1] + 1));
        for (int64_t i = 0; i < t->sizes[1]; i++) {
            if (!is_padding[b * t->sizes[1] + i]) {
                longest = taper_max_i64(longest, i + 1);
            }
        }
    }
    taper_tensor *result;
    const int64_t sizes[3] = {t->sizes[0], longest, t->sizes[2]};
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, 3, sizes, NULL, &result));
    const float *from = taper_tensor_data(t);
    float *to = taper_tensor_mutable(result);
    for (int64_t b = 0; b < sizes[0] && sizes[2] != 0; b++) {
        for (int64_t i = 0; i < longest && taper_run_goes_on(call->run, (uint64_t)sizes[2] * 2 + 5); i++) {
            const bool empty = is_padding != NULL && is_padding[b * t->sizes[1] + i];
            for (int64_t e = 0; e < sizes[2]; e++) {
                *to++ = empty ? value : from[b * t->strides[0] + i * t->strides[1] + e * t->strides[2]];
            }
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_nested_to_padded)
{
    taper_tensor *t, *padding;
    double value;
    TAPER_TRY(taper_arg_tensor(call, 0, &t));
    TAPER_TRY(taper_arg_double(call, 1, &value));
    if (t->dtype != TAPER_F32 || t->rank != 3 || !taper_arg_is_none(call, 2)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "only nested tensors of 3 dimensions and dtype float32, without output_size, are supported");
    }
    TAPER_TRY(taper_nested_padding(call->run, t, &padding));
    const taper_status status = pad(call, t, padding, (float)value);
    taper_tensor_drop(padding);
    return status;
}
