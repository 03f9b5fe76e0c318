// SPDX-License-Identifier: BSD-2-Clause
// `cov` and `corrcoef`, with variables in rows and observations in columns.
#include "ir/tensor.h"
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/reduce_kernels.h"

static taper_tensor *sum_all(taper_compose *c, taper_tensor *x)
{
    return TAPER_COMPOSE(c, taper_op_sum, &taper_reduce_all_dtype, taper_compose_arg(x), taper_val_none());
}

static double number_of(const taper_tensor *scalar)
{
    return taper_load_double((taper_dtype)scalar->dtype, taper_tensor_data(scalar), 0);
}

// Reads fweights (if `whole` is set) or aweights. There is one weight for each observation, and no weight may be
// negative. *weights is NULL if the weights are not given.
static taper_status read_weights(const taper_call *call, size_t at, bool whole, int64_t observations,
                                 taper_tensor **weights)
{
    taper_error *error = call->run->error;
    const char *name = whole ? "fweights" : "aweights";
    TAPER_TRY(taper_arg_tensor_or_none(call, at, weights));
    const taper_tensor *w = *weights;
    if (w == NULL) {
        return TAPER_OK;
    }
    if (w->rank > 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "expected %s to have one or fewer dimensions but got %s with %u dimensions", name, name, w->rank);
    }
    if (whole ? !taper_dtype_is_integral((taper_dtype)w->dtype) : !taper_dtype_is_float((taper_dtype)w->dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "expected %s to have %s dtype but got %s with %s dtype", name,
                   whole ? "integral" : "floating point", name, taper_dtype_torch_name((taper_dtype)w->dtype));
    }
    if (taper_tensor_numel(w) != observations) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "expected %s to have the same numel as there are observations in the input but got %lld != %lld",
                   name, (long long)taper_tensor_numel(w), (long long)observations);
    }
    for (int64_t i = 0; i < observations && taper_run_step(call->run, i, 3); i++) {
        if (!(taper_load_double((taper_dtype)w->dtype, taper_tensor_data(w), w->rank == 0 ? 0 : i * w->strides[0]) >=
              0)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "%s cannot be negative", name);
        }
    }
    return TAPER_OK;
}

// Returns the divisor of the products: the sum of the weights minus the correction, but at least zero.
static taper_tensor *degrees(taper_compose *c, taper_tensor *sum, taper_tensor *w, taper_tensor *aweights,
                             int64_t correction)
{
    taper_tensor *factor;
    if (aweights != NULL && correction != 0) {
        taper_tensor *squares = sum_all(c, taper_compose_mul(c, w, aweights));
        taper_tensor *scaled =
            TAPER_COMPOSE(c, taper_op_binary, &taper_ew_mul, taper_compose_arg(squares), taper_val_int(correction));
        factor = taper_compose_sub(c, sum, taper_compose_div(c, scaled, sum));
    } else {
        factor = TAPER_COMPOSE(c, taper_op_sum2, &taper_ew_sub, taper_compose_arg(sum), taper_val_int(correction),
                               taper_val_int(1));
    }
    if (factor != NULL && number_of(factor) <= 0) {
        const taper_scalar zero = taper_scalar_int(0);
        taper_compose_fail(c, taper_tensor_fill(c->run, factor, &zero));
    }
    return factor;
}

static taper_tensor *covariance(taper_compose *c, taper_tensor *x, taper_tensor *fweights, taper_tensor *aweights,
                                int64_t correction)
{
    const int64_t row[2] = {1, taper_tensor_numel(x)};
    taper_tensor *in = x->rank < 2 ? taper_compose_reshape(c, x, 2, row) : x;
    taper_tensor *w = fweights != NULL && aweights != NULL ? taper_compose_mul(c, fweights, aweights)
                      : fweights != NULL                   ? fweights
                                                           : aweights;
    taper_tensor *sum = NULL;
    if (w != NULL) {
        sum = sum_all(c, w);
        if (sum != NULL && number_of(sum) == 0) {
            taper_compose_fail(
                c, taper_fail(c->run->error, TAPER_ERROR_ARGUMENT, "weights sum to zero, can't be normalized"));
        }
    } else if (in != NULL) {
        const taper_scalar count = taper_scalar_int(in->sizes[1]);
        taper_compose_fail(c, taper_tensor_new(c->run->heap, TAPER_I64, 0, NULL, NULL, &sum, c->run->error));
        if (taper_compose_keep(c, sum) != NULL) {
            taper_compose_fail(c, taper_tensor_fill(c->run, sum, &count));
        }
    }
    taper_tensor *mean =
        taper_compose_div(c, taper_compose_sum(c, w != NULL ? taper_compose_mul(c, in, w) : in, 1), sum);
    taper_tensor *factor = degrees(c, sum, w, aweights, correction);
    taper_tensor *column = TAPER_COMPOSE(c, taper_op_unsqueeze, NULL, taper_compose_arg(mean), taper_val_int(1));
    in = taper_compose_sub(c, in, column);
    taper_tensor *other =
        TAPER_COMPOSE(c, taper_op_t, NULL, taper_compose_arg(w != NULL ? taper_compose_mul(c, in, w) : in));
    other = TAPER_COMPOSE(c, taper_op_conj, NULL, taper_compose_arg(other));
    taper_tensor *products = TAPER_COMPOSE(c, taper_op_mm, NULL, taper_compose_arg(in), taper_compose_arg(other));
    return TAPER_COMPOSE(c, taper_op_squeeze, NULL, taper_compose_arg(taper_compose_div(c, products, factor)));
}

TAPER_KERNEL(taper_op_cov)
{
    taper_tensor *x, *fweights, *aweights;
    int64_t correction;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &correction));
    if (x->rank > 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "expected input to have two or fewer dimensions but got an input with %u dimensions", x->rank);
    }
    if (x->dtype == TAPER_BOOL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "bool dtype is not supported for input");
    }
    const int64_t observations = x->rank < 2 ? taper_tensor_numel(x) : x->sizes[1];
    TAPER_TRY(read_weights(call, 2, true, observations, &fweights));
    TAPER_TRY(read_weights(call, 3, false, observations, &aweights));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    return taper_compose_ret(&c, call, 0, covariance(&c, x, fweights, aweights, correction));
}

static taper_tensor *clipped(taper_compose *c, taper_tensor *x)
{
    return TAPER_COMPOSE(c, taper_op_clamp, NULL, taper_compose_arg(x), taper_val_int(-1), taper_val_int(1));
}

TAPER_KERNEL(taper_op_corrcoef)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank > 2 || x->dtype == TAPER_BOOL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "expected a numeric input of two or fewer dimensions but got %s with %u dimensions",
                   taper_dtype_torch_name((taper_dtype)x->dtype), x->rank);
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *r = covariance(&c, x, NULL, NULL, 1);
    if (r == NULL) {
        return taper_compose_end(&c);
    }
    if (r->rank == 0) { // the correlation of a single variable is 1, or NaN
        return taper_compose_ret(&c, call, 0, taper_compose_div(&c, r, r));
    }
    const bool complex = taper_dtype_is_complex((taper_dtype)r->dtype);
    const int64_t n = r->sizes[0], column[2] = {n, 1}, row[2] = {1, n};
    taper_tensor *variances = TAPER_COMPOSE(&c, taper_op_diag, NULL, TAPER_VAL(r), taper_val_int(0));
    if (complex) {
        variances = TAPER_COMPOSE(&c, taper_op_real, NULL, taper_compose_arg(variances));
    }
    taper_tensor *deviations = TAPER_COMPOSE(&c, taper_op_unary, &taper_ew_sqrt, taper_compose_arg(variances));
    r = taper_compose_div(&c, r, taper_compose_reshape(&c, deviations, 2, column));
    r = taper_compose_div(&c, r, taper_compose_reshape(&c, deviations, 2, row));
    if (!complex) {
        // rounding may give numbers outside of [-1, 1], so the result is clipped
        return taper_compose_ret(&c, call, 0, clipped(&c, r));
    }
    taper_tensor *re = clipped(&c, TAPER_COMPOSE(&c, taper_op_real, NULL, taper_compose_arg(r)));
    taper_tensor *im = clipped(&c, TAPER_COMPOSE(&c, taper_op_imag, NULL, taper_compose_arg(r)));
    return taper_compose_ret(
        &c, call, 0,
        TAPER_COMPOSE(&c, taper_op_complex, &taper_ew_complex, taper_compose_arg(re), taper_compose_arg(im)));
}
