// SPDX-License-Identifier: BSD-2-Clause
// Sums, products, extremes, any and all, moments and norms: the kernels that use the reduction engine. The overloads
// differ mainly in the positions of their arguments, which the operator's param gives.
#include "ops/tensor/reduce_kernels.h"

#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/reduce.h"
#include "ops/engine/softmax_lines.h"
#include "ops/math/elementwise_ops.h"

#define WHERE(name, ...) const taper_reduce_where taper_reduce_##name = {__VA_ARGS__};
WHERE(all_dtype, .dtype = 1)
WHERE(dim_keep_dtype, .dim = 1, .keep = 2, .dtype = 3)
WHERE(dim_keep, .dim = 1, .keep = 2)
WHERE(dims_keep, .dim = 1, .keep = 2, .empty = true)
WHERE(dim_only, .dim = 1)
WHERE(all_only, .dim = 0)
WHERE(p, .p = 1)
WHERE(p_dim_keep, .p = 1, .dim = 2, .keep = 3)
WHERE(p_dim_keep_dtype, .p = 1, .dim = 2, .keep = 3, .dtype = 4)
WHERE(p_dtype, .p = 1, .dtype = 2)
WHERE(unbiased, .unbiased = 1)
WHERE(dim_unbiased_keep, .dim = 1, .unbiased = 2, .keep = 3)
WHERE(dim_correction_keep, .dim = 1, .correction = 2, .keep = 3)

static bool is_whole(taper_dtype dtype)
{
    return dtype == TAPER_BOOL || taper_dtype_is_integral(dtype);
}

// Reads self, the dimensions and keepdim. The dtype is the dtype of self.
static taper_status start(const taper_call *call, taper_reduce *r, const taper_reduce_op *op)
{
    const taper_reduce_where *where = call->param;
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_reduce_supported(call, x));
    *r = taper_reduce_make(x, op, (taper_dtype)x->dtype);
    if (where->dim == 0) {
        taper_reduce_all(r);
    } else {
        TAPER_TRY(taper_reduce_dims_arg(call, where->dim, x->rank, r->over));
        const taper_val *dims = &call->args[where->dim];
        if (where->empty && dims->tag == TAPER_LIST && dims->as.list->count == 0) {
            memset(r->over, false, sizeof r->over);
        }
    }
    if (where->keep != 0) {
        TAPER_TRY(taper_arg_bool(call, where->keep, &r->keep));
    }
    return TAPER_OK;
}

// Applies the dtype argument: elements are first converted to it. If the argument is None, the elements get the dtype
// of an out argument, or `otherwise` if there is no out argument.
static taper_status apply_dtype(const taper_call *call, taper_reduce *r, taper_dtype otherwise)
{
    const taper_reduce_where *where = call->param;
    const taper_tensor *target = taper_ret_target(call, 0);
    taper_dtype dtype = otherwise;
    if (where->dtype != 0 && !taper_arg_is_none(call, where->dtype)) {
        TAPER_TRY(taper_arg_dtype_or(call, where->dtype, dtype, &dtype));
    } else if (target != NULL && where->dtype != 0 && !taper_op_has(call->op, TAPER_OP_OUT_SAME)) {
        dtype = (taper_dtype)target->dtype;
    }
    const taper_ew_class class_ = taper_ew_class_of(dtype);
    if (class_ == TAPER_EW_CLASSES) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument 'dtype': %s is not possible",
                   taper_dtype_torch_name(dtype));
    }
    r->dtype = dtype;
    r->class_ = class_ == TAPER_EW_U8 ? TAPER_EW_I64 : class_;
    return TAPER_OK;
}

// ---- sums, means and products

static taper_status run_sum(taper_call *call, const taper_reduce_op *op)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, op));
    TAPER_TRY(apply_dtype(call, &r, is_whole((taper_dtype)r.x->dtype) ? TAPER_I64 : (taper_dtype)r.x->dtype));
    if (r.dtype == TAPER_BOOL) { // `any` and `every` convert the elements to bool before they are added
        r.first = op == &taper_reduce_prod ? &taper_reduce_every : &taper_reduce_any;
        r.class_ = TAPER_EW_F64;
    }
    return taper_reduce_run(call, &r);
}

TAPER_KERNEL(taper_op_sum)
{
    return run_sum(call, &taper_reduce_sum);
}
TAPER_KERNEL(taper_op_nansum)
{
    return run_sum(call, &taper_reduce_nansum);
}
TAPER_KERNEL(taper_op_prod)
{
    return run_sum(call, &taper_reduce_prod);
}

static taper_status run_mean(taper_call *call, bool nan)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, nan ? &taper_reduce_nansum : &taper_reduce_sum));
    TAPER_TRY(apply_dtype(call, &r, (taper_dtype)r.x->dtype));
    if (is_whole(r.dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
                   "dtype. Got: %s",
                   taper_dtype_torch_name(r.dtype));
    }
    r.second = nan ? &taper_reduce_numbers : NULL;
    r.finish = nan ? TAPER_FINISH_RATIO : TAPER_FINISH_MEAN;
    return taper_reduce_run(call, &r);
}

TAPER_KERNEL(taper_op_mean)
{
    return run_mean(call, false);
}
TAPER_KERNEL(taper_op_nanmean)
{
    return run_mean(call, true);
}

// Sums self to a shape that can be broadcast to the shape of self.
TAPER_KERNEL(taper_op_sum_to_size)
{
    taper_tensor *x;
    int64_t sizes[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, sizes, &count));
    // A tensor without dimensions may also be summed to a shape without dimensions.
    bool fits = count <= x->rank, any = count < x->rank || count == 0;
    const size_t lead = fits ? x->rank - count : 0;
    taper_reduce r =
        taper_reduce_make(x, &taper_reduce_sum, is_whole((taper_dtype)x->dtype) ? TAPER_I64 : (taper_dtype)x->dtype);
    for (size_t i = 0; i < x->rank && fits; i++) {
        r.over[i] = i < lead || (sizes[i - lead] == 1 && x->sizes[i] != 1);
        fits = i < lead || sizes[i - lead] == x->sizes[i] || sizes[i - lead] == 1;
        any = any || r.over[i];
    }
    if (!fits) {
        const taper_sizes_text a = taper_sizes_print(x->rank, x->sizes), b = taper_sizes_print(count, sizes);
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "size %s is not expandable to size %s.", b.text, a.text);
    }
    if (!any) {
        taper_ret(call, 0, taper_val_retain(call->args[0]));
        return TAPER_OK;
    }
    r.keep = true;
    TAPER_TRY(taper_reduce_run(call, &r));
    taper_tensor *kept = call->rets[0].as.tensor, *view;
    TAPER_TRY(taper_tensor_alias(call->run->heap, kept, kept->offset, count, sizes, kept->strides + lead, &view,
                                 call->run->error));
    taper_ret(call, 0, TAPER_VAL(view));
    return TAPER_OK;
}

// ---- maxima and minima

static taper_status check_not_empty(const taper_call *call, const taper_reduce *r, const char *name)
{
    for (size_t i = 0; i < r->x->rank; i++) {
        if (r->over[i] && r->x->sizes[i] == 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "%s(): Expected reduction dim %zu to have non-zero size.", name, i);
        }
    }
    return TAPER_OK;
}

static taper_status run_extreme(taper_call *call, const taper_reduce_op *op)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, op));
    TAPER_TRY(check_not_empty(call, &r, op == &taper_reduce_max ? "max" : "min"));
    return taper_reduce_run(call, &r);
}

TAPER_KERNEL(taper_op_amax)
{
    return run_extreme(call, &taper_reduce_max);
}
TAPER_KERNEL(taper_op_amin)
{
    return run_extreme(call, &taper_reduce_min);
}

// Computes aminmax(dim=0, keepdim=True) of a 0-dim tensor, whose results have one dimension.
static taper_status aminmax_number(taper_call *call, taper_tensor *x)
{
    const int64_t one = 1;
    for (size_t k = 0; k < 2; k++) {
        taper_tensor *copy, *line;
        TAPER_TRY(taper_view_clone(call->run, x, TAPER_FORMAT_CONTIGUOUS, &copy));
        const taper_status status =
            taper_tensor_alias(call->run->heap, copy, copy->offset, 1, &one, &one, &line, call->run->error);
        taper_tensor_drop(copy);
        TAPER_TRY(status);
        TAPER_TRY(taper_ret_tensor(call, k, line));
    }
    return TAPER_OK;
}

// Computes aminmax, which has the arguments int? dim and keepdim and two results.
TAPER_KERNEL(taper_op_aminmax)
{
    taper_reduce first;
    TAPER_TRY(start(call, &first, &taper_reduce_min));
    if (first.x->rank == 0 && first.keep && !taper_arg_is_none(call, 1)) {
        return aminmax_number(call, first.x);
    }
    for (size_t k = 0; k < 2; k++) {
        taper_reduce r;
        taper_call part = *call; // a call that has only result k
        TAPER_TRY(start(call, &r, k == 0 ? &taper_reduce_min : &taper_reduce_max));
        TAPER_TRY(check_not_empty(call, &r, "aminmax"));
        if (taper_ret_target(call, 0) == NULL) {
            part.rets = call->rets + k;
            part.ret_count = 1;
            TAPER_TRY(taper_reduce_run(&part, &r));
            continue;
        }
        taper_val ret = taper_val_none();
        part.schema = NULL; // computes a new tensor, which is copied to the given tensor
        part.rets = &ret;
        part.ret_count = 1;
        const taper_status status = taper_reduce_run(&part, &r);
        if (status != TAPER_OK) {
            taper_val_release(ret);
            return status;
        }
        TAPER_TRY(taper_ret_tensor(call, k, ret.as.tensor));
    }
    return TAPER_OK;
}

// ---- any, all, count_nonzero

static taper_status run_truth(taper_call *call, const taper_reduce_op *op)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, op));
    r.dtype = r.x->dtype == TAPER_U8 ? TAPER_U8 : TAPER_BOOL;
    const taper_tensor *target = taper_ret_target(call, 0);
    if (target != NULL) {
        if (target->dtype != TAPER_BOOL && target->dtype != TAPER_U8) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "out: expected a bool or uint8 tensor");
        }
        r.dtype = (taper_dtype)target->dtype;
    }
    return taper_reduce_run(call, &r);
}

TAPER_KERNEL(taper_op_any)
{
    return run_truth(call, &taper_reduce_any);
}
TAPER_KERNEL(taper_op_every)
{
    return run_truth(call, &taper_reduce_every);
}

TAPER_KERNEL(taper_op_count_nonzero)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, &taper_reduce_nonzero));
    r.dtype = TAPER_I64;
    r.real = true;
    return taper_reduce_run(call, &r);
}

// ---- variances and standard deviations

// Reads the number that is subtracted from the count in the divisor of a variance.
static taper_status correction(const taper_call *call, double *number)
{
    const taper_reduce_where *where = call->param;
    bool unbiased = true;
    *number = 1;
    if (where->unbiased != 0) {
        TAPER_TRY(taper_arg_bool(call, where->unbiased, &unbiased));
        *number = unbiased ? 1 : 0;
    } else if (where->correction != 0) {
        // Since PyTorch 2 the correction may be a fraction.
        return taper_arg_double_or(call, where->correction, 1.0, number);
    }
    return TAPER_OK;
}

static taper_status run_moments(taper_call *call, bool root, bool mean_too)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, &taper_reduce_sum));
    if (is_whole((taper_dtype)r.x->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "std and var only support floating point and complex dtypes");
    }
    TAPER_TRY(correction(call, &r.correction));
    r.second = &taper_reduce_deviation;
    r.centre = TAPER_CENTRE_MEAN;
    r.finish = root ? TAPER_FINISH_STD : TAPER_FINISH_VAR;
    r.real = true;
    r.dtype = taper_dtype_to_real(r.dtype);
    r.mean_too = mean_too;
    return taper_reduce_run(call, &r);
}

TAPER_KERNEL(taper_op_var)
{
    return run_moments(call, false, false);
}
TAPER_KERNEL(taper_op_std)
{
    return run_moments(call, true, false);
}
TAPER_KERNEL(taper_op_var_mean)
{
    return run_moments(call, false, true);
}
TAPER_KERNEL(taper_op_std_mean)
{
    return run_moments(call, true, true);
}

// ---- norms

// PyTorch adds the powers of float16 numbers in float16, where this number and all larger numbers are infinite.
#define HALF_OVERFLOW 65520.0

static void set_norm(taper_reduce *r, double p)
{
    r->args.p = p;
    r->real = true;
    r->finish = TAPER_FINISH_SAME;
    if (p == 0) {
        r->first = &taper_reduce_nonzero;
    } else if (p == 1) {
        r->first = &taper_reduce_abs_sum;
    } else if (p == 2) {
        r->first = &taper_reduce_square_sum;
        r->finish = TAPER_FINISH_SQRT;
    } else if (isinf(p)) {
        r->first = p > 0 ? &taper_reduce_abs_max : &taper_reduce_abs_min;
    } else {
        r->first = &taper_reduce_power_sum;
        r->finish = TAPER_FINISH_ROOT;
    }
}

static taper_status ret_norm(taper_call *call, taper_reduce *r, double p)
{
    if (is_whole(r->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "norm(): input dtype should be either floating point or complex. Got %s instead.",
                   taper_dtype_torch_name(r->dtype));
    }
    set_norm(r, p);
    r->overflow = r->dtype == TAPER_F16 ? HALF_OVERFLOW : 0;
    r->dtype = taper_dtype_to_real(r->dtype);
    return taper_reduce_run(call, r);
}

static taper_status run_norm(taper_call *call, double p)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, &taper_reduce_square_sum));
    TAPER_TRY(apply_dtype(call, &r, (taper_dtype)r.x->dtype));
    return ret_norm(call, &r, p);
}

TAPER_KERNEL(taper_op_norm)
{
    const taper_reduce_where *where = call->param;
    double p = 2;
    if (where->p != 0 && !taper_arg_is_none(call, where->p)) {
        taper_scalar scalar;
        TAPER_TRY(taper_arg_scalar(call, where->p, &scalar));
        p = scalar.f;
    }
    return run_norm(call, p);
}

TAPER_KERNEL(taper_op_vector_norm)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (is_whole((taper_dtype)x->dtype)) { // integers and bool are refused, whatever dtype the result should have
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expected a floating point or complex tensor as input. Got %s",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    return taper_op_norm(call);
}

// Makes a contiguous copy with the kept dimensions first and the reduced dimensions merged to one line.
static taper_status turn_to_lines(taper_run *run, const taper_reduce *r, taper_tensor **lines)
{
    const taper_tensor *x = r->x;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK], shape[2] = {1, 1};
    size_t rank = 0;
    for (int over = 0; over < 2; over++) {
        for (size_t i = 0; i < x->rank; i++) {
            if (r->over[i] == (over != 0)) {
                sizes[rank] = x->sizes[i];
                strides[rank++] = x->strides[i];
                shape[over] *= x->sizes[i]; // the product is at most the number of elements, so it cannot overflow
            }
        }
    }
    taper_tensor *turned, *dense;
    TAPER_TRY(taper_tensor_view(run->heap, x->storage, (taper_dtype)x->dtype, x->offset, rank, sizes, strides, &turned,
                                run->error));
    const taper_status status = taper_run_contiguous(run, turned, &dense);
    taper_tensor_drop(turned);
    TAPER_TRY(status);
    const int64_t steps[2] = {shape[1], 1};
    const taper_status viewed =
        taper_tensor_view(run->heap, dense->storage, TAPER_F32, dense->offset, 2, shape, steps, lines, run->error);
    taper_tensor_drop(dense);
    return viewed;
}

// Computes logsumexp of floats by the softmax kernels: one dimension in place, several dimensions as lines.
static taper_status log_sum_exp_lines(taper_call *call, const taper_reduce *r)
{
    taper_tensor *x = r->x, *out;
    taper_lines lines;
    int64_t sizes[TAPER_MAX_RANK];
    size_t dim = 0, count = 0;
    for (size_t i = 0; i < x->rank; i++) {
        dim = r->over[i] ? i : dim;
        count += r->over[i];
    }
    if (count == 0 || x->dtype != TAPER_F32 || r->dtype != TAPER_F32 || x->hidden_nhwc || call->run->portable ||
        !taper_tensor_is_contiguous(x) || taper_tensor_numel(x) == 0 || taper_ret_target(call, 0) != NULL) {
        return TAPER_DECLINED;
    }
    const size_t rank = taper_reduce_sizes(x, r->over, r->keep, sizes);
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, rank, sizes, NULL, &out));
    if (count == 1) {
        taper_lines_make(&lines, x, dim, out, true, r->keep);
        return taper_softmax_lines(call->run, &lines, TAPER_LOG_SUM_EXP, taper_tensor_data(x),
                                   taper_tensor_mutable(out));
    }
    taper_tensor *turned;
    TAPER_TRY(turn_to_lines(call->run, r, &turned));
    const int64_t item = sizeof(float), n = turned->sizes[1];
    lines = (taper_lines){.line = {n, item, 0}, .kept = {{turned->sizes[0], n * item, item}}, .kept_count = 1};
    const taper_status status =
        taper_softmax_lines(call->run, &lines, TAPER_LOG_SUM_EXP, taper_tensor_data(turned), taper_tensor_mutable(out));
    taper_tensor_drop(turned);
    return status;
}

TAPER_KERNEL(taper_op_logsumexp)
{
    taper_reduce r;
    TAPER_TRY(start(call, &r, &taper_reduce_max));
    TAPER_TRY(apply_dtype(call, &r, taper_dtype_to_float((taper_dtype)r.x->dtype)));
    const taper_status status = log_sum_exp_lines(call, &r);
    if (status != TAPER_DECLINED) {
        return status;
    }
    r.second = &taper_reduce_exp_sum;
    r.centre = TAPER_CENTRE_FINITE;
    r.finish = TAPER_FINISH_LOG;
    return taper_reduce_run(call, &r);
}

// Computes dist(self, other, p), the norm of the difference.
TAPER_KERNEL(taper_op_dist)
{
    taper_scalar p, one = taper_scalar_int(1);
    TAPER_TRY(taper_arg_scalar(call, 2, &p));
    taper_ew ew = taper_ew_make(&taper_ew_sub);
    TAPER_TRY(taper_ew_input_arg(&ew, call, 0));
    TAPER_TRY(taper_ew_input_arg(&ew, call, 1));
    taper_ew_set_scalar(&ew.args, 0, &one);
    taper_tensor *difference;
    TAPER_TRY(taper_ew_compute(call, &ew, &difference));
    taper_reduce r = taper_reduce_make(difference, &taper_reduce_square_sum, (taper_dtype)difference->dtype);
    taper_reduce_all(&r);
    const taper_status status = ret_norm(call, &r, p.f);
    taper_tensor_drop(difference);
    return status;
}

// ---- comparisons of whole tensors

// Sets *holds to true if the comparison holds for all pairs of elements.
static taper_status all_pairs(taper_call *call, taper_ew *ew, bool *holds)
{
    taper_tensor *truth;
    TAPER_TRY(taper_ew_compute(call, ew, &truth));
    taper_val ret = taper_val_none();
    taper_call part = *call;
    part.schema = NULL;
    part.rets = &ret;
    part.ret_count = 1;
    taper_reduce r = taper_reduce_make(truth, &taper_reduce_every, TAPER_BOOL);
    taper_reduce_all(&r);
    const taper_status status = taper_reduce_run(&part, &r);
    taper_tensor_drop(truth);
    *holds = status == TAPER_OK && *(const uint8_t *)taper_tensor_data(ret.as.tensor) != 0;
    taper_val_release(ret);
    return status;
}

TAPER_KERNEL(taper_op_equal)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    bool holds = a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) == 0;
    if (holds && taper_tensor_numel(a) != 0) {
        taper_ew ew = taper_ew_make(&taper_ew_eq);
        taper_ew_input_tensor(&ew, a);
        taper_ew_input_tensor(&ew, b);
        TAPER_TRY(all_pairs(call, &ew, &holds));
    }
    taper_ret(call, 0, taper_val_bool(holds));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_allclose)
{
    taper_ew ew;
    TAPER_TRY(taper_ew_isclose_args(call, &ew));
    bool holds;
    TAPER_TRY(all_pairs(call, &ew, &holds));
    taper_ret(call, 0, taper_val_bool(holds));
    return TAPER_OK;
}
