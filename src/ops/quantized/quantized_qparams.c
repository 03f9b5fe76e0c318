// SPDX-License-Identifier: BSD-2-Clause
// Quantizers: checks, quantizers of results and of views, and operators that query them.
#include <inttypes.h>

#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/quantized/quantized.h"

taper_dtype taper_q_plain_dtype(taper_dtype dtype)
{
    return dtype == TAPER_QU8 ? TAPER_U8 : dtype == TAPER_QI8 ? TAPER_I8 : TAPER_I32;
}

taper_status taper_q_dtype_of(const taper_call *call, taper_dtype plain, taper_dtype *dtype)
{
    if (plain != TAPER_U8 && plain != TAPER_I8 && plain != TAPER_I32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "integers of a quantized tensor are uint8, int8 or int32, not %s", taper_dtype_name(plain));
    }
    *dtype = plain == TAPER_U8 ? TAPER_QU8 : plain == TAPER_I8 ? TAPER_QI8 : TAPER_QI32;
    return TAPER_OK;
}

// ---- checks of quantizers

static bool good(taper_dtype dtype, double scale, int64_t zero_point)
{
    const taper_q_range range = taper_q_range_of(dtype);
    return scale > 0 && !isinf(scale) && zero_point >= range.low && zero_point <= range.high;
}

static TAPER_COLD taper_status refuse(taper_dtype dtype, double scale, int64_t zero_point, taper_error *error)
{
    const taper_q_range range = taper_q_range_of(dtype);
    TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
               "scale %g and zero point %" PRId64 " do not quantize to %s: the scale must be positive and finite, the "
               "zero point between %" PRId64 " and %" PRId64,
               scale, zero_point, taper_dtype_name(dtype), range.low, range.high);
}

taper_status taper_q_check(taper_dtype dtype, double scale, int64_t zero_point, taper_error *error)
{
    return good(dtype, scale, zero_point) ? TAPER_OK : refuse(dtype, scale, zero_point, error);
}

static bool is_vector(const taper_tensor *t, int64_t count)
{
    return t != NULL && taper_tensor_numel(t) == count && taper_tensor_is_contiguous(t);
}

static taper_status check_channels(taper_run *run, const char *name, const taper_tensor *tensor)
{
    const taper_quantizer *z = tensor->quantizer;
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (z->scheme == TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "argument '%s': float zero points are not supported", name);
    }
    const bool axis = z->axis >= 0 && z->axis < tensor->rank;
    const int64_t count = axis ? tensor->sizes[z->axis] : 0;
    if (!axis || !is_vector(z->scales, count) || !is_vector(z->zero_points, count) ||
        !taper_dtype_is_float((taper_dtype)z->scales->dtype) ||
        !taper_dtype_is_integral((taper_dtype)z->zero_points->dtype)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': the scales and zero points do not fit dimension %" PRId64 " of the tensor", name,
                   z->axis);
    }
    const void *scales = taper_tensor_data(z->scales), *points = taper_tensor_data(z->zero_points);
    TAPER_TRY(taper_run_spend(run, (uint64_t)count * 10));
    for (int64_t c = 0; c < count; c++) {
        const double scale = taper_load_double((taper_dtype)z->scales->dtype, scales, c);
        const int64_t point = taper_load_int((taper_dtype)z->zero_points->dtype, points, c);
        if (!good(dtype, scale, point)) {
            return refuse(dtype, scale, point, run->error);
        }
    }
    return TAPER_OK;
}

taper_status taper_q_check_tensor(taper_run *run, const char *name, const taper_tensor *tensor)
{
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (tensor->quantizer == NULL) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument '%s' is not a quantized tensor but %s%s", name,
                   taper_dtype_name(dtype), taper_dtype_is_quantized(dtype) ? " without scale and zero point" : "");
    }
    if (!taper_q_is_dtype(dtype)) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "argument '%s': %s tensors are not supported here", name,
                   taper_dtype_name(dtype));
    }
    const taper_quantizer *z = tensor->quantizer;
    if (z->scheme != TAPER_PER_TENSOR_AFFINE && z->scheme != TAPER_PER_TENSOR_SYMMETRIC) {
        return check_channels(run, name, tensor);
    }
    return good(dtype, z->scale, z->zero_point) ? TAPER_OK : refuse(dtype, z->scale, z->zero_point, run->error);
}

taper_status taper_arg_quantized(const taper_call *call, size_t at, taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_tensor(call, at, tensor));
    return taper_q_check_tensor(call->run, taper_arg_name(call, at), *tensor);
}

taper_status taper_arg_uniform(const taper_call *call, size_t at, taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_quantized(call, at, tensor));
    if ((*tensor)->quantizer->scales != NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' is quantized per channel; only tensors quantized per tensor are possible here",
                   taper_arg_name(call, at));
    }
    return TAPER_OK;
}

taper_status taper_arg_qparams(const taper_call *call, size_t at, taper_dtype dtype, double *scale, int64_t *zero_point)
{
    TAPER_TRY(taper_arg_double(call, at, scale));
    TAPER_TRY(taper_arg_int(call, at + 1, zero_point));
    return taper_q_check(dtype, *scale, *zero_point, call->run->error);
}

// ---- quantizers of results

taper_tensor *taper_q_out(const taper_call *call, size_t at)
{
    const taper_schema *schema = call->schema;
    const size_t last = schema != NULL && schema->arg_count != 0 ? schema->arg_count - 1 : 0;
    const bool positional = at == 0 && last != 0 && last < call->arg_count && schema->args[last].written &&
                            call->args[last].tag == TAPER_TENSOR && !taper_op_has(call->op, TAPER_OP_OUT_COPY);
    return positional ? call->args[last].as.tensor : taper_ret_target(call, at);
}

taper_status taper_ret_quantized(taper_call *call, size_t at, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                 const int64_t *strides, double scale, int64_t zero_point, taper_tensor **tensor)
{
    const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = scale, .zero_point = zero_point};
    TAPER_TRY(taper_q_check(dtype, scale, zero_point, call->run->error));
    taper_tensor *const target = taper_q_out(call, at);
    if (target != NULL && target->dtype != dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor must be %s, not %s", taper_dtype_name(dtype),
                   taper_dtype_name((taper_dtype)target->dtype));
    }
    if (target != NULL && target != taper_ret_target(call, at)) {
        TAPER_TRY(taper_out_resize(call, target, rank, sizes, strides));
        TAPER_TRY(taper_ret_check_overlap(call, target));
        TAPER_TRY(taper_storage_write(target->storage, call->run->error));
        taper_obj_retain(&target->head);
        taper_ret(call, at, TAPER_VAL(target));
        *tensor = target;
    } else {
        TAPER_TRY(taper_ret_new(call, at, dtype, rank, sizes, strides, tensor));
    }
    return taper_tensor_set_quantizer(*tensor, &quantizer, call->run->error);
}

taper_status taper_ret_quantized_like(taper_call *call, size_t at, const taper_tensor *x, double scale,
                                      int64_t zero_point, taper_tensor **tensor)
{
    int64_t strides[TAPER_MAX_RANK];
    const bool planes = taper_tensor_suggests_channels_last(x);
    if (planes) {
        taper_strides_channels_last(x->rank, x->sizes, strides);
    }
    return taper_ret_quantized(call, at, (taper_dtype)x->dtype, x->rank, x->sizes, planes ? strides : NULL, scale,
                               zero_point, tensor);
}

void taper_q_release(taper_quantizer *quantizer)
{
    taper_tensor_drop(quantizer->scales);
    taper_tensor_drop(quantizer->zero_points);
    quantizer->scales = quantizer->zero_points = NULL;
}

// Makes a vector of another dtype with `count` numbers of `from`: every `step`th number, beginning with number `start`.
static taper_status pick(taper_run *run, const taper_tensor *from, taper_dtype dtype, int64_t start, int64_t step,
                         int64_t count, taper_tensor **vector)
{
    TAPER_TRY(taper_tensor_new(run->heap, dtype, 1, &count, NULL, vector, run->error));
    const void *data = taper_tensor_data(from);
    for (int64_t i = 0; i < count && taper_run_step(run, i, 5); i++) {
        const int64_t at = start + i * step;
        if (dtype == TAPER_F64) {
            ((double *)taper_tensor_mutable(*vector))[i] = taper_load_double((taper_dtype)from->dtype, data, at);
        } else {
            ((int64_t *)taper_tensor_mutable(*vector))[i] = taper_load_int((taper_dtype)from->dtype, data, at);
        }
    }
    return TAPER_OK;
}

taper_status taper_q_channel_quantizer(const taper_call *call, const taper_tensor *scales,
                                       const taper_tensor *zero_points, int64_t axis, taper_quantizer *quantizer)
{
    *quantizer = (taper_quantizer){.scheme = TAPER_PER_CHANNEL_AFFINE, .scale = 1, .axis = axis};
    if (scales->rank != 1 || zero_points->rank != 1 || scales->sizes[0] != zero_points->sizes[0]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "scales and zero_points must be vectors of one length, got %u and %u dimensions, %" PRId64
                   " and %" PRId64 " elements",
                   scales->rank, zero_points->rank, taper_tensor_numel(scales), taper_tensor_numel(zero_points));
    }
    if (!taper_dtype_is_float((taper_dtype)scales->dtype) ||
        !taper_dtype_is_integral((taper_dtype)zero_points->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "scales must be floating-point numbers and zero_points integers, got %s and %s",
                   taper_dtype_name((taper_dtype)scales->dtype), taper_dtype_name((taper_dtype)zero_points->dtype));
    }
    const int64_t count = scales->sizes[0];
    taper_status status = pick(call->run, scales, TAPER_F64, 0, scales->strides[0], count, &quantizer->scales);
    if (status == TAPER_OK) {
        status = pick(call->run, zero_points, TAPER_I64, 0, zero_points->strides[0], count, &quantizer->zero_points);
    }
    if (status != TAPER_OK) {
        taper_q_release(quantizer);
    }
    return status;
}

// ---- quantizers of views

static taper_quantizer channel(const taper_quantizer *z, int64_t index)
{
    return (taper_quantizer){
        .scheme = TAPER_PER_TENSOR_AFFINE,
        .scale = taper_load_double((taper_dtype)z->scales->dtype, taper_tensor_data(z->scales), index),
        .zero_point = taper_load_int((taper_dtype)z->zero_points->dtype, taper_tensor_data(z->zero_points), index)};
}

taper_status taper_q_slice(taper_run *run, taper_tensor *view, const taper_tensor *of, size_t dim, int64_t start,
                           int64_t step)
{
    const taper_quantizer *z = of->quantizer;
    if (z == NULL || z->scales == NULL || z->axis != (int64_t)dim) {
        return TAPER_OK;
    }
    taper_quantizer part = *z;
    part.scales = part.zero_points = NULL;
    const int64_t count = view->sizes[dim];
    if (count == 1) { // PyTorch makes the quantizer of a single channel a per-tensor quantizer
        part = channel(z, start);
        return taper_tensor_set_quantizer(view, &part, run->error);
    }
    taper_status status = pick(run, z->scales, TAPER_F64, start, step, count, &part.scales);
    if (status == TAPER_OK) {
        status = pick(run, z->zero_points, TAPER_I64, start, step, count, &part.zero_points);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_set_quantizer(view, &part, run->error);
    }
    taper_q_release(&part);
    return status;
}

taper_status taper_q_select(taper_run *run, taper_tensor *view, const taper_tensor *of, size_t dim, int64_t index)
{
    const taper_quantizer *z = of->quantizer;
    if (z == NULL || z->scales == NULL || z->axis < (int64_t)dim) {
        return TAPER_OK;
    }
    taper_quantizer part = *z;
    if (z->axis > (int64_t)dim) {
        part.axis--;
    } else {
        part = channel(z, index);
    }
    return taper_tensor_set_quantizer(view, &part, run->error);
}

// ---- operators that query quantizers

TAPER_KERNEL(taper_op_q_scale)
{
    taper_tensor *q;
    TAPER_TRY(taper_arg_uniform(call, 0, &q));
    taper_ret(call, 0, taper_val_double(q->quantizer->scale));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_zero_point)
{
    taper_tensor *q;
    TAPER_TRY(taper_arg_uniform(call, 0, &q));
    taper_ret(call, 0, taper_val_int(q->quantizer->zero_point));
    return TAPER_OK;
}

static taper_status per_channel(const taper_call *call, taper_tensor **q)
{
    TAPER_TRY(taper_arg_quantized(call, 0, q));
    if ((*q)->quantizer->scales == NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the tensor is quantized per tensor, not per channel");
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_q_per_channel_scales)
{
    taper_tensor *q, *made;
    TAPER_TRY(per_channel(call, &q));
    const taper_tensor *scales = q->quantizer->scales;
    TAPER_TRY(pick(call->run, scales, TAPER_F64, 0, 1, taper_tensor_numel(scales), &made));
    return taper_ret_tensor(call, 0, made);
}

TAPER_KERNEL(taper_op_q_per_channel_zero_points)
{
    taper_tensor *q, *made;
    TAPER_TRY(per_channel(call, &q));
    const taper_tensor *points = q->quantizer->zero_points;
    TAPER_TRY(pick(call->run, points, TAPER_I64, 0, 1, taper_tensor_numel(points), &made));
    return taper_ret_tensor(call, 0, made);
}

TAPER_KERNEL(taper_op_q_per_channel_axis)
{
    taper_tensor *q;
    TAPER_TRY(per_channel(call, &q));
    taper_ret(call, 0, taper_val_int(q->quantizer->axis));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_qscheme)
{
    taper_tensor *q;
    TAPER_TRY(taper_arg_quantized(call, 0, &q));
    taper_ret(call, 0, taper_val_int(q->quantizer->scheme));
    return TAPER_OK;
}
