// SPDX-License-Identifier: BSD-2-Clause
// Scales weights by their norms along all dimensions except one: renorm, and the parametrization of weight_norm.
#include "ir/tensor.h"
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/elementwise_copy.h"
#include "ops/tensor/reduce_kernels.h"

// Returns the p-norms of x for each index of dimension *dim, or of all elements of x if dim is NULL. Reduced dimensions
// remain with size 1.
static taper_tensor *norms(taper_compose *c, taper_tensor *x, double p, const size_t *dim, taper_dtype dtype)
{
    taper_list *dims = taper_list_new(c->run->heap, &taper_type_int, TAPER_MAX_RANK);
    if (dims == NULL) {
        taper_compose_fail(c, taper_fail_memory(c->run->error));
        return NULL;
    }
    for (size_t i = 0; i < x->rank; i++) {
        if (dim == NULL || i != *dim) {
            taper_compose_fail(c, taper_list_append(dims, taper_val_int((int64_t)i), c->run->error));
        }
    }
    taper_tensor *result;
    if (dims->count == 0 && x->rank != 0) { // in a tensor of one dimension, each element has a norm
        result = TAPER_COMPOSE(c, taper_op_unary, &taper_ew_abs, TAPER_VAL(x));
        result = TAPER_COMPOSE(c, taper_op_to, &taper_to_dtype, taper_compose_arg(result), taper_val_int(dtype),
                               taper_val_bool(false), taper_val_bool(false), taper_val_none());
    } else {
        result = TAPER_COMPOSE(c, taper_op_norm, &taper_reduce_p_dim_keep_dtype, TAPER_VAL(x), taper_val_double(p),
                               TAPER_VAL(dims), taper_val_bool(true), taper_val_int(dtype));
    }
    taper_val_release(TAPER_VAL(dims));
    return result;
}

static taper_tensor *contiguous(taper_compose *c, taper_tensor *x)
{
    taper_tensor *result = NULL;
    if (x == NULL || c->status != TAPER_OK) {
        return NULL;
    }
    taper_compose_fail(c, taper_run_contiguous(c->run, x, &result));
    return taper_compose_keep(c, result);
}

// Returns float32 for half precision, otherwise the dtype itself.
static taper_dtype wide_dtype(taper_dtype dtype)
{
    return dtype == TAPER_F16 || dtype == TAPER_BF16 ? TAPER_F32 : dtype;
}

// ---- renorm

static taper_tensor *factors(taper_compose *c, const taper_tensor *norm, taper_dtype dtype, double limit)
{
    taper_tensor *result = NULL;
    if (norm == NULL) {
        return NULL;
    }
    taper_compose_fail(c, taper_tensor_new(c->run->heap, dtype, norm->rank, norm->sizes, NULL, &result, c->run->error));
    if (taper_compose_keep(c, result) == NULL) {
        return NULL;
    }
    const int64_t count = taper_tensor_numel(norm), item = (int64_t)taper_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) { // the norms are contiguous, because only one dimension is larger than 1
        const double n = taper_load_double((taper_dtype)norm->dtype, taper_tensor_data(norm), i);
        const taper_scalar factor = taper_scalar_double(n > limit ? limit / (n + 1e-7) : 1);
        taper_scalar_store(dtype, (char *)taper_tensor_mutable(result) + i * item, &factor);
    }
    return result;
}

TAPER_KERNEL(taper_op_renorm)
{
    taper_tensor *x;
    taper_scalar p, limit;
    size_t dim;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_scalar(call, 1, &p));
    TAPER_TRY(taper_arg_scalar(call, 3, &limit));
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (p.kind == TAPER_SCALAR_COMPLEX || !(p.f > 0)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'p': non-positive-norm not supported");
    }
    if (limit.kind == TAPER_SCALAR_COMPLEX || !(limit.f >= 0)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'maxnorm': expected maxnorm to be >= 0 but got %g", limit.f);
    }
    if (x->rank < 2) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "input needs at least 2 dimensions, got %u", x->rank);
    }
    TAPER_TRY(taper_arg_dim(call, 2, x->rank, &dim));
    if (!taper_dtype_is_float(dtype) && !taper_dtype_is_complex(dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'", taper_dtype_torch_name(dtype));
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *norm = norms(&c, x, p.f, &dim, wide_dtype(dtype));
    taper_tensor *scaled = taper_compose_mul(&c, x, factors(&c, norm, dtype, limit.f));
    return taper_compose_ret(&c, call, 0, contiguous(&c, scaled));
}

// ---- weight_norm

// Computes v g / |v|. If norm_too is set, the norm is the second result. For the first and the last dimension PyTorch
// has a kernel with contiguous results.
static taper_status scale_weights(taper_call *call, bool norm_too)
{
    taper_tensor *v, *g;
    int64_t number;
    TAPER_TRY(taper_arg_tensor(call, 0, &v));
    TAPER_TRY(taper_arg_tensor(call, 1, &g));
    TAPER_TRY(taper_arg_int(call, 2, &number));
    const taper_dtype dtype = (taper_dtype)v->dtype;
    if (!taper_dtype_is_float(dtype) || g->dtype != v->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "arguments 'v' and 'g': expected floating-point tensors of one dtype");
    }
    const bool fused = number == 0 || number == (int64_t)v->rank - 1;
    size_t dim = 0;
    if (number != -1 || norm_too) {
        TAPER_TRY(taper_arg_dim(call, 2, v->rank, &dim));
    }
    if (norm_too && !fused) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'dim': fused kernels can only be applied for first or last dim");
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *norm = norms(&c, v, 2, number == -1 && !fused ? NULL : &dim, fused ? wide_dtype(dtype) : dtype);
    taper_tensor *scaled = taper_compose_mul(&c, v, taper_compose_div(&c, g, norm));
    if (scaled != NULL && scaled->dtype != dtype) {
        scaled = TAPER_COMPOSE(&c, taper_op_to, &taper_to_dtype, TAPER_VAL(scaled), taper_val_int(dtype),
                               taper_val_bool(false), taper_val_bool(false), taper_val_none());
    }
    if (norm_too && norm != NULL && c.status == TAPER_OK) {
        taper_obj_retain(&norm->head);
        taper_compose_fail(&c, taper_ret_tensor(call, 1, norm));
    }
    return taper_compose_ret(&c, call, 0, fused ? contiguous(&c, scaled) : scaled);
}

TAPER_KERNEL(taper_op_weight_norm)
{
    return scale_weights(call, false);
}
TAPER_KERNEL(taper_op_weight_norm_interface)
{
    return scale_weights(call, true);
}

TAPER_KERNEL(taper_op_norm_except_dim)
{
    taper_tensor *v;
    int64_t p, number;
    size_t dim = 0;
    TAPER_TRY(taper_arg_tensor(call, 0, &v));
    TAPER_TRY(taper_arg_int(call, 1, &p));
    TAPER_TRY(taper_arg_int(call, 2, &number));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    if (number == -1) { // the norm of all elements has no dimensions
        return taper_compose_ret(
            &c, call, 0, TAPER_COMPOSE(&c, taper_op_norm, &taper_reduce_p, TAPER_VAL(v), taper_val_double((double)p)));
    }
    TAPER_TRY(taper_arg_dim(call, 2, v->rank, &dim));
    taper_tensor *result = norms(&c, v, (double)p, &dim, (taper_dtype)v->dtype), *view = result;
    if (result != NULL && dim + 1 != v->rank) { // PyTorch reduces a matrix and transposes the result
        int64_t strides[TAPER_MAX_RANK];
        for (size_t i = 0; i < result->rank; i++) {
            strides[i] = 1;
        }
        taper_compose_fail(&c, taper_tensor_alias(call->run->heap, result, result->offset, result->rank, result->sizes,
                                                  strides, &view, call->run->error));
        taper_compose_keep(&c, view);
    }
    return taper_compose_ret(&c, call, 0, view);
}
