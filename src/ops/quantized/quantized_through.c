// SPDX-License-Identifier: BSD-2-Clause
// Operators that PyTorch computes on the dequantized tensors: comparisons, means that are not over the innermost
// dimensions, softmax, matmul. QNNPACK's mean and softmax, which compute some calls in integers, are here too.
#include <inttypes.h>

#include "ir/walk.h"
#include "ops/engine/view_move.h"
#include "ops/list/shared_kernels.h"
#include "ops/quantized/quantized.h"

enum { MOST = 8 };

// Runs a kernel as the functional overload of its operator. It does not use that operator's row in the operator list,
// because a selective build may lack the row.
static taper_status run_kernel(taper_run *run, taper_kernel kernel, taper_val *args, size_t count, taper_val *ret)
{
    static const taper_op no_row;
    void *state = NULL;
    taper_call call = {
        .run = run, .op = &no_row, .args = args, .arg_count = count, .rets = ret, .ret_count = 1, .state = &state};
    *ret = taper_val_none();
    const taper_status status = kernel(&call);
    if (status != TAPER_OK) {
        taper_val_replace(ret, taper_val_none());
    }
    return status;
}

static taper_status dequantized(taper_run *run, taper_tensor *q, taper_tensor **plain)
{
    taper_val arg = TAPER_VAL(q), made;
    TAPER_TRY(run_kernel(run, taper_op_dequantize, &arg, 1, &made));
    *plain = made.as.tensor;
    return TAPER_OK;
}

// Runs the kernel on args, with quantized arguments dequantized. If kernel is NULL, it runs the kernel of the call's
// operator.
static taper_status run_floats(const taper_call *call, taper_kernel kernel, const taper_val *args, size_t count,
                               taper_val *ret)
{
    taper_run *run = call->run;
    taper_val plain[MOST];
    taper_tensor *made[MOST] = {NULL};
    taper_status status = count > MOST ? taper_fail(run->error, TAPER_ERROR_INTERNAL, "too many arguments") : TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        plain[i] = args[i];
        if (args[i].tag == TAPER_TENSOR && taper_dtype_is_quantized((taper_dtype)args[i].as.tensor->dtype)) {
            status = dequantized(run, args[i].as.tensor, &made[i]);
            plain[i] = status == TAPER_OK ? TAPER_VAL(made[i]) : plain[i];
        }
    }
    if (status == TAPER_OK) {
        status = kernel == NULL ? taper_call_op(run, call->op, plain, count, ret, 1)
                                : run_kernel(run, kernel, plain, count, ret);
    }
    for (size_t i = 0; i < taper_min_size(count, MOST); i++) {
        taper_tensor_drop(made[i]);
    }
    return status;
}

// Quantizes a float result and sets it as result 0.
static taper_status ret_requantized(taper_call *call, taper_tensor *y, taper_dtype dtype, double scale, int64_t point)
{
    taper_val args[4] = {TAPER_VAL(y), taper_val_double(scale), taper_val_int(point), taper_val_int((int64_t)dtype)};
    return run_kernel(call->run, taper_op_quantize_per_tensor, args, 4, call->rets);
}

// Computes eq, ne, lt, le, gt and ge, whose result is not quantized.
TAPER_KERNEL(taper_op_q_compare)
{
    for (size_t i = 0; i < 2; i++) {
        if (call->args[i].tag == TAPER_TENSOR &&
            !taper_dtype_is_quantized((taper_dtype)call->args[i].as.tensor->dtype) &&
            call->args[i].as.tensor->dtype != TAPER_F32) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "argument '%s': a quantized tensor is compared with quantized or float32 ones, not %s",
                       taper_arg_name(call, i), taper_dtype_name((taper_dtype)call->args[i].as.tensor->dtype));
        }
    }
    return run_floats(call, NULL, call->args, call->arg_count, call->rets);
}

// ---- mean and standard deviation

// Reads argument 1, the dimensions, of which each may be named once. No dimensions mean all. *innermost is true if they
// are the last dimensions.
static taper_status read_dims(const taper_call *call, const taper_tensor *x, bool *reduced, size_t *count,
                              bool *innermost)
{
    int64_t dims[TAPER_MAX_RANK];
    *count = 0;
    if (call->arg_count > 1 && !taper_arg_is_none(call, 1)) {
        TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, dims, count));
    }
    for (size_t d = 0; d < x->rank; d++) {
        reduced[d] = *count == 0;
    }
    for (size_t i = 0; i < *count; i++) {
        size_t d;
        TAPER_TRY(taper_wrap_dim_or_fail(dims[i], x->rank, &d, call->run->error));
        if (x->rank != 0 && reduced[d]) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "dim %zu appears multiple times in the list of dims", d);
        }
        if (x->rank != 0) {
            reduced[d] = true;
        }
    }
    *innermost = true;
    for (size_t d = 1; d < x->rank; d++) {
        *innermost = *innermost && (reduced[d] || !reduced[d - 1]);
    }
    return TAPER_OK;
}

static bool is_qnnpack_mean(const taper_call *call, const taper_tensor *x)
{
    if (x->dtype != TAPER_QU8 || x->rank != 4 || call->args[1].tag != TAPER_LIST) {
        return false;
    }
    const taper_list *dims = call->args[1].as.list;
    return dims->count == 2 && dims->items[0].as.i == 2 && dims->items[1].as.i == 3;
}

// Computes the mean over the last dimensions, in integers.
static taper_status mean_inner(taper_call *call, taper_tensor *x, const bool *reduced, bool keep, bool qnnpack)
{
    int64_t sizes[TAPER_MAX_RANK], count = 1;
    size_t rank = 0;
    for (size_t d = 0; d < x->rank; d++) {
        count *= reduced[d] ? x->sizes[d] : 1;
        if (!reduced[d] || keep) {
            sizes[rank++] = reduced[d] ? 1 : x->sizes[d];
        }
    }
    taper_tensor *plain, *y;
    const taper_tensor *target = taper_ret_target(call, 0);
    const taper_dtype dtype = (taper_dtype)x->dtype;
    const taper_q_range range = taper_q_range_of(dtype);
    const float scale = (float)x->quantizer->scale;
    const int64_t point = x->quantizer->zero_point;
    if (target != NULL && target->storage == x->storage) { // true if the target has x's storage and will be resized
        TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_CONTIGUOUS, &plain));
    } else {
        TAPER_TRY(taper_run_contiguous(call->run, x, &plain));
    }
    const taper_status status = taper_ret_quantized(call, 0, dtype, rank, sizes, NULL, x->quantizer->scale, point, &y);
    if (status != TAPER_OK) {
        taper_tensor_drop(plain);
        return status;
    }
    for (int64_t i = 0; i < taper_tensor_numel(y); i++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < count && taper_run_goes_on(call->run, 3); k++) {
            sum += taper_q_load(dtype, taper_tensor_data(plain), i * count + k);
        }
        const int64_t q =
            qnnpack ? taper_q_requantize((int32_t)(uint32_t)(uint64_t)(sum - count * point),
                                         scale / (scale * (float)count), point, range)
                    : taper_q_clamp(count == 0 ? range.low : (int64_t)nearbyintf((float)sum / (float)count), range);
        taper_q_store(dtype, taper_tensor_mutable(y), i, q);
    }
    taper_tensor_drop(plain);
    return TAPER_OK;
}

// Reads mean(self, dtype) or mean.dim(self, dim, keepdim, dtype) and computes it.
TAPER_KERNEL(taper_op_q_mean)
{
    taper_tensor *x;
    bool reduced[TAPER_MAX_RANK], keep = false, innermost;
    size_t count;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    const bool dims = call->arg_count > 2;
    const size_t dtype_at = dims ? 3 : 1;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_dtype_or(call, dtype_at, (taper_dtype)x->dtype, &dtype));
    if (dtype != x->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the mean of %s numbers is %s, not %s",
                   taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name((taper_dtype)x->dtype),
                   taper_dtype_name(dtype));
    }
    taper_call all = *call;
    all.arg_count = dims ? call->arg_count : 1;
    TAPER_TRY(read_dims(&all, x, reduced, &count, &innermost));
    if (dims) {
        TAPER_TRY(taper_arg_bool(call, 2, &keep));
        if (is_qnnpack_mean(call, x)) {
            return mean_inner(call, x, reduced, keep, true);
        }
    }
    if (innermost && taper_tensor_is_contiguous(x)) {
        return mean_inner(call, x, reduced, keep, false);
    }
    taper_val args[MOST], mean = taper_val_none();
    for (size_t i = 0; i < call->arg_count && i < MOST; i++) {
        args[i] = i == dtype_at ? taper_val_none() : call->args[i];
    }
    TAPER_TRY(run_floats(call, NULL, args, call->arg_count, &mean));
    const taper_status status =
        ret_requantized(call, mean.as.tensor, (taper_dtype)x->dtype, x->quantizer->scale, x->quantizer->zero_point);
    taper_val_release(mean);
    return status;
}

// ---- softmax and matmul

// Computes QNNPACK's softmax of `count` bytes: exponentials of the distances from the maximum, as integers.
static void softmax_bytes(const uint32_t *table, const uint8_t *x, int64_t step, int64_t count, uint8_t *y,
                          int64_t y_step)
{
    int64_t most = 0;
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        most = x[i * step] > most ? x[i * step] : most;
    }
    for (int64_t i = 0; i < count; i++) {
        sum += table[255 - most + x[i * step]];
    }
    for (int64_t i = 0; i < count; i++) {
        const uint64_t share = ((((uint64_t)table[255 - most + x[i * step]]) << 8) + (sum >> 1)) / (sum == 0 ? 1 : sum);
        y[i * y_step] = (uint8_t)(share > 255 ? 255 : share);
    }
}

// Computes the strides of PyTorch's result: dim is exchanged with the last dimension if dim is not innermost.
static void softmax_strides(const taper_tensor *x, size_t dim, int64_t *strides)
{
    const size_t last = x->rank - 1u;
    int64_t sizes[TAPER_MAX_RANK], step;
    if (x->strides[dim] == 1 && taper_tensor_suggests_channels_last(x)) {
        taper_strides_channels_last(x->rank, x->sizes, strides);
        return;
    }
    memcpy(sizes, x->sizes, sizeof sizes);
    const bool exchange = x->strides[dim] != 1;
    if (exchange) {
        sizes[dim] = x->sizes[last];
        sizes[last] = x->sizes[dim];
    }
    taper_strides_contiguous(x->rank, sizes, strides);
    if (exchange) {
        step = strides[dim];
        strides[dim] = strides[last];
        strides[last] = step;
    }
}

static taper_status softmax_qnnpack(taper_call *call, const taper_tensor *x, size_t dim)
{
    uint32_t table[256];
    taper_tensor *y;
    int64_t strides[TAPER_MAX_RANK];
    const int64_t count = x->sizes[dim];
    const double unit = fmin(4294967295.0 / (double)taper_max_i64(count, 1), 8388607.0);
    for (int i = 0; i < 256; i++) {
        table[i] = (uint32_t)lrint(unit * exp((double)(i - 255) * (double)(float)x->quantizer->scale));
    }
    softmax_strides(x, dim, strides);
    TAPER_TRY(taper_ret_quantized(call, 0, TAPER_QU8, x->rank, x->sizes, strides, 1.0 / 256, 0, &y));
    const uint8_t *from = taper_tensor_data(x);
    uint8_t *to = taper_tensor_mutable(y);
    int64_t in[TAPER_MAX_RANK], out[TAPER_MAX_RANK];
    taper_tensor_steps(x, 1, in);
    taper_tensor_steps(y, 1, out);
    taper_walk walk;
    taper_walk_over(&walk, x->rank, x->sizes, dim, in, out);
    const int64_t rows = taper_tensor_numel(x) == 0 ? 0 : taper_tensor_numel(x) / count;
    for (int64_t n = 0; n < rows && taper_run_goes_on(call->run, (uint64_t)count * 12 + 20); n++) {
        softmax_bytes(table, from + walk.at[0], in[dim], count, to + walk.at[1], out[dim]);
        (void)taper_walk_next(&walk);
    }
    return TAPER_OK;
}

// Reads quantized::softmax(qx, dim, output_scale, output_zero_point) and computes it.
TAPER_KERNEL(taper_op_q_softmax)
{
    taper_tensor *x;
    size_t dim;
    double scale;
    int64_t point;
    TAPER_TRY(taper_arg_uniform(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_qparams(call, 2, (taper_dtype)x->dtype, &scale, &point));
    if (x->dtype == TAPER_QU8 && x->rank > 0 && scale == 1.0 / 256 && point == 0) {
        return softmax_qnnpack(call, x, dim);
    }
    taper_val args[3] = {call->args[0], call->args[1], taper_val_none()}, y = taper_val_none();
    TAPER_TRY(run_floats(call, taper_op_softmax, args, 3, &y));
    const taper_status status = ret_requantized(call, y.as.tensor, (taper_dtype)x->dtype, scale, point);
    taper_val_release(y);
    return status;
}

// Reads quantized::matmul(qa, qb, scale, zero_point) and computes it.
TAPER_KERNEL(taper_op_q_matmul)
{
    taper_tensor *a, *b;
    double scale;
    int64_t point;
    TAPER_TRY(taper_arg_uniform(call, 0, &a));
    TAPER_TRY(taper_arg_uniform(call, 1, &b));
    TAPER_TRY(taper_arg_qparams(call, 2, (taper_dtype)a->dtype, &scale, &point));
    if (a->dtype != b->dtype || a->dtype == TAPER_QI32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "both operands must be quint8 or both qint8, got %s and %s",
                   taper_dtype_name((taper_dtype)a->dtype), taper_dtype_name((taper_dtype)b->dtype));
    }
    taper_val y = taper_val_none();
    TAPER_TRY(run_floats(call, taper_op_matmul, call->args, 2, &y));
    const taper_status status = ret_requantized(call, y.as.tensor, (taper_dtype)a->dtype, scale, point);
    taper_val_release(y);
    return status;
}
