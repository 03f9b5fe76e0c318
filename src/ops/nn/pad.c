// SPDX-License-Identifier: BSD-2-Clause
// Padding. Constant padding fills the borders and copies the input to the middle, in any number of dimensions. The
// other modes read an input position for each output position, which is a resize by a table (resize_loops.c).
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/nn/resize.h"

enum { LARGEST = INT32_MAX }; // bound for a padding, so that its sum with a size does not overflow

static taper_status read_pads(const taper_call *call, size_t at, size_t want, int64_t *pads, size_t *count)
{
    TAPER_TRY(taper_arg_ints(call, at, 0, 2 * TAPER_MAX_RANK, pads, count));
    if (*count % 2 != 0 || (want != 0 && *count != want)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "padding has %zu elements", *count);
    }
    for (size_t i = 0; i < *count; i++) {
        if (pads[i] < -(int64_t)LARGEST || pads[i] > LARGEST) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a padding of %lld is out of range", (long long)pads[i]);
        }
    }
    return TAPER_OK;
}

// ---- padding with a constant

// Stores value as one element of the tensor's dtype.
static void element_of(const taper_tensor *x, const taper_scalar *value, void *element)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const bool whole = value->kind == TAPER_SCALAR_BOOL || value->kind == TAPER_SCALAR_INT;
    memset(element, 0, 16);
    if (dtype == TAPER_I64 && whole) {
        memcpy(element, &value->i, sizeof value->i);
    } else if (dtype == TAPER_C64) {
        const float parts[2] = {(float)value->f, value->kind == TAPER_SCALAR_COMPLEX ? (float)value->im : 0.0f};
        memcpy(element, parts, sizeof parts);
    } else if (dtype == TAPER_C128) {
        const double parts[2] = {value->f, value->kind == TAPER_SCALAR_COMPLEX ? value->im : 0.0};
        memcpy(element, parts, sizeof parts);
    } else if (x->quantizer != NULL) {
        taper_number_store(dtype, element, 0, rint(value->f / x->quantizer->scale) + (double)x->quantizer->zero_point);
    } else {
        const bool integral = taper_dtype_is_integral(dtype);
        taper_number_store(dtype, element, 0, integral ? trunc(value->f) : value->f);
    }
}

// Fills the borders: for each dimension the slabs before and after the input, within the range that the earlier
// dimensions leave.
static void fill_borders(taper_run *run, taper_tensor *y, const int64_t *start, const int64_t *inside,
                         const void *element)
{
    static const int64_t none[TAPER_MAX_RANK] = {0};
    const size_t item = taper_tensor_item(y);
    char *out = taper_tensor_mutable(y);
    int64_t sizes[TAPER_MAX_RANK], base = 0;
    memcpy(sizes, y->sizes, sizeof sizes);
    for (size_t i = 0; i < y->rank; i++) {
        const int64_t behind = start[i] + inside[i];
        sizes[i] = start[i];
        taper_move(run, item, y->rank, sizes, out + base * (int64_t)item, y->strides, element, none);
        sizes[i] = y->sizes[i] - behind;
        if (sizes[i] > 0) {
            taper_move(run, item, y->rank, sizes, out + (base + behind * taper_tensor_step(y, i)) * (int64_t)item,
                       y->strides, element, none);
        }
        sizes[i] = inside[i];
        base += start[i] * taper_tensor_step(y, i);
    }
}

static taper_status constant_result(taper_call *call, const taper_tensor *x, const int64_t *sizes, bool only_crops,
                                    taper_tensor **y)
{
    const size_t rank = x->rank;
    const taper_dtype dtype = (taper_dtype)x->dtype;
    TAPER_TRY(taper_out_check(call, 0, x, dtype));
    const bool ranked = rank == 4 || rank == 5;
    if (x->hidden_nhwc || (!only_crops && ranked && taper_tensor_suggests_channels_last(x))) {
        TAPER_TRY(taper_ret_new_nhwc(call, 0, dtype, rank, sizes, x->hidden_nhwc, y));
    } else if (only_crops) { // PyTorch clones the cropped view, and keeps its strides if they are dense
        int64_t strides[TAPER_MAX_RANK];
        taper_strides_like(x, sizes, strides);
        TAPER_TRY(taper_ret_new(call, 0, dtype, rank, sizes, strides, y));
    } else {
        TAPER_TRY(taper_ret_new(call, 0, dtype, rank, sizes, NULL, y));
    }
    if (x->quantizer != NULL) {
        TAPER_TRY(taper_tensor_set_quantizer(*y, x->quantizer, call->run->error));
    }
    return TAPER_OK;
}

static taper_status pad_constant(taper_call *call, const taper_tensor *x, const int64_t *pads, size_t count,
                                 const taper_scalar *value)
{
    taper_error *error = call->run->error;
    const size_t rank = x->rank;
    if (count / 2 > rank) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "padding has %zu elements for %zu dimensions", count, rank);
    }
    if (taper_dtype_is_quantized((taper_dtype)x->dtype) &&
        (x->quantizer == NULL || x->quantizer->scheme != TAPER_PER_TENSOR_AFFINE)) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "padding of tensors quantized per channel is not supported");
    }
    if (taper_tensor_item(x) == 0 || x->dtype == TAPER_C32) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "padding of this dtype is not supported");
    }
    TAPER_TRY(taper_scalar_check((taper_dtype)x->dtype, value, error));
    int64_t sizes[TAPER_MAX_RANK], start[TAPER_MAX_RANK] = {0}, inside[TAPER_MAX_RANK], base = 0;
    bool only_crops = true;
    for (size_t i = 0; i < rank; i++) {
        const size_t at = 2 * (rank - 1 - i);
        const int64_t before = at < count ? pads[at] : 0, behind = at < count ? pads[at + 1] : 0;
        const int64_t cropped = taper_min_i64(before, 0) + taper_min_i64(behind, 0);
        only_crops = only_crops && before <= 0 && behind <= 0;
        inside[i] = x->sizes[i] + cropped;
        sizes[i] = inside[i] + taper_max_i64(before, 0) + taper_max_i64(behind, 0);
        start[i] = taper_max_i64(before, 0);
        if (inside[i] < 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "the padding %lld, %lld crops more than the %lld elements of dimension %zu", (long long)before,
                       (long long)behind, (long long)x->sizes[i], i);
        }
        base -= taper_min_i64(before, 0) * taper_tensor_step(x, i);
    }
    taper_tensor *y;
    TAPER_TRY(constant_result(call, x, sizes, only_crops, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    char element[16];
    element_of(x, value, element);
    if (!only_crops) {
        fill_borders(call->run, y, start, inside, element);
    }
    int64_t to = 0;
    bool any = true;
    for (size_t i = 0; i < rank; i++) {
        to += start[i] * taper_tensor_step(y, i);
        any = any && inside[i] > 0;
    }
    if (any) {
        const size_t item = taper_tensor_item(x);
        taper_move(call->run, item, rank, inside, (char *)taper_tensor_mutable(y) + to * (int64_t)item, y->strides,
                   (const char *)taper_tensor_data(x) + base * (int64_t)item, x->strides);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_constant_pad_nd)
{
    taper_tensor *x;
    int64_t pads[2 * TAPER_MAX_RANK];
    size_t count;
    taper_scalar value;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(read_pads(call, 1, 0, pads, &count));
    TAPER_TRY(taper_arg_scalar(call, 2, &value));
    return pad_constant(call, x, pads, count, &value);
}

// ---- padding by reflection, by replication, and circular

// The modes, in the order of PyTorch's numbers for them.
typedef enum pad_mode { PAD_REFLECT, PAD_REPLICATE, PAD_CIRCULAR, PAD_CONSTANT } pad_mode;

// Returns the input position that output position o reads.
static int64_t source_of(pad_mode mode, int64_t o, int64_t input, int64_t before, int64_t behind)
{
    int64_t at = o - before;
    if (mode == PAD_REFLECT) {
        at = at < 0 ? -at : at;
        return at < input ? at : 2 * (input - 1) - at;
    }
    if (mode == PAD_REPLICATE) {
        return taper_min_i64(taper_max_i64(at, 0), input - 1);
    }
    // Circular padding repeats the elements of the input that remain after cropping.
    const int64_t skipped = taper_max_i64(-before, 0);
    const int64_t left = input - skipped - taper_max_i64(-behind, 0);
    at = (o - taper_max_i64(before, 0)) % left;
    return skipped + (at < 0 ? at + left : at);
}

static taper_status check_pads(const taper_call *call, pad_mode mode, int64_t input, int64_t before, int64_t behind)
{
    const int64_t most = mode == PAD_REFLECT ? input - 1 : mode == PAD_CIRCULAR ? input : INT64_MAX;
    if (before > most || behind > most) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "a padding of %lld, %lld is too large for an input of size %lld", (long long)before,
                   (long long)behind, (long long)input);
    }
    const int64_t left = input + taper_min_i64(before, 0) + taper_min_i64(behind, 0);
    if (input + before + behind < 1 || left < (mode == PAD_CIRCULAR ? 1 : 0)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "a padding of %lld, %lld leaves nothing of an input of size %lld", (long long)before,
                   (long long)behind, (long long)input);
    }
    return TAPER_OK;
}

static taper_status pad_mapped(taper_call *call, const taper_tensor *x, size_t spatial, pad_mode mode,
                               const int64_t *pads)
{
    TAPER_TRY(taper_volume_check(call, x, spatial, true));
    const size_t item = taper_tensor_item(x);
    if (item == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "padding of this dtype is not supported");
    }
    const taper_volume from = taper_volume_of(x, spatial);
    int64_t size[3] = {1, 1, 1}, before[3] = {0, 0, 0}, behind[3] = {0, 0, 0}, cells = 0;
    for (size_t i = 3 - spatial; i < 3; i++) {
        before[i] = pads[2 * (2 - i)];
        behind[i] = pads[2 * (2 - i) + 1];
        TAPER_TRY(check_pads(call, mode, from.size[i], before[i], behind[i]));
        size[i] = from.size[i] + before[i] + behind[i];
    }
    taper_tensor *y;
    TAPER_TRY(taper_volume_result(call, 0, x, (taper_dtype)x->dtype, spatial, size, false, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        cells += size[i]; // each size is below 2^47, so `cells` cannot overflow
    }
    const size_t bytes = (size_t)cells * sizeof(int64_t);
    int64_t *index = taper_heap_alloc(call->run->heap, bytes);
    if (index == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_resize_axis axes[3];
    int64_t *next = index;
    for (size_t i = 0; i < 3; i++) {
        // Cropping keeps some of the input, which is copied to the middle of the output.
        const int64_t run_at = taper_max_i64(before[i], 0), skipped = run_at - before[i];
        const int64_t run = taper_max_i64(from.size[i] - skipped + taper_min_i64(behind[i], 0), 0);
        axes[i] = (taper_resize_axis){
            .input = from.size[i], .output = size[i], .taps = 1, .index = next, .run_at = run_at, .run = run};
        for (int64_t o = 0; o < size[i] && taper_run_step(call->run, o, 10); o++) {
            const bool middle = o >= run_at && o - run_at < run;
            *next++ = middle ? o - before[i] : source_of(mode, o, from.size[i], before[i], behind[i]);
        }
    }
    const taper_volume to = taper_volume_of(y, spatial);
    taper_resize_nearest(call->run, axes, &from, taper_tensor_data(x), &to, taper_tensor_mutable(y), item);
    taper_heap_free(call->run->heap, index, bytes);
    return TAPER_OK;
}

static taper_status pad_fixed(taper_call *call, pad_mode mode)
{
    taper_tensor *x;
    int64_t pads[2 * TAPER_MAX_RANK];
    size_t count;
    const size_t spatial = taper_spatial_of(call);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(read_pads(call, 1, 2 * spatial, pads, &count));
    return pad_mapped(call, x, spatial, mode, pads);
}

TAPER_KERNEL(taper_op_reflection_pad)
{
    return pad_fixed(call, PAD_REFLECT);
}

TAPER_KERNEL(taper_op_replication_pad)
{
    return pad_fixed(call, PAD_REPLICATE);
}

// ---- the operators that choose a mode

static taper_status pad_any(taper_call *call, const taper_tensor *x, pad_mode mode, const taper_scalar *value)
{
    int64_t pads[2 * TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(read_pads(call, 1, 0, pads, &count));
    if (mode == PAD_CONSTANT) {
        return pad_constant(call, x, pads, count, value);
    }
    const size_t spatial = count / 2;
    if (spatial < 1 || spatial > 3 || (x->rank != spatial + 2 && (mode == PAD_CIRCULAR || x->rank != spatial + 1))) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "padding of %zu dimensions other than by a constant does not go with %u", spatial,
                   (unsigned)x->rank);
    }
    return pad_mapped(call, x, spatial, mode, pads);
}

TAPER_KERNEL(taper_op_pad_circular)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    return pad_any(call, x, PAD_CIRCULAR, NULL);
}

static taper_status pad_with_value(taper_call *call, pad_mode mode)
{
    taper_tensor *x;
    taper_scalar value = {.kind = TAPER_SCALAR_DOUBLE};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (!taper_arg_is_none(call, 3)) {
        TAPER_TRY(taper_arg_scalar(call, 3, &value));
    }
    return pad_any(call, x, mode, &value);
}

TAPER_KERNEL(taper_op_pad_enum)
{
    int64_t mode;
    TAPER_TRY(taper_arg_int(call, 2, &mode));
    if (mode < PAD_REFLECT || mode > PAD_CONSTANT) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "there is no padding mode %lld", (long long)mode);
    }
    return pad_with_value(call, (pad_mode)mode);
}

TAPER_KERNEL(taper_op_pad)
{
    static const char *const names[] = {"reflect", "replicate", "circular", "constant"};
    const taper_string *mode;
    TAPER_TRY(taper_arg_string(call, 2, &mode));
    for (int i = 0; i < 4; i++) {
        if (strcmp(mode->data, names[i]) == 0) {
            return pad_with_value(call, (pad_mode)i);
        }
    }
    TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "there is no padding mode \"%s\"", mode->data);
}
