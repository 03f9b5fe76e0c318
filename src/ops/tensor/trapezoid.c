// SPDX-License-Identifier: BSD-2-Clause
// Integrals by the trapezoidal rule: trapezoid (trapz) and cumulative_trapezoid, over points x or with a constant step.
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"

static taper_status begin(const taper_call *call, size_t dim_at, taper_tensor **y, size_t *dim)
{
    TAPER_TRY(taper_arg_tensor(call, 0, y));
    TAPER_TRY(taper_arg_dim(call, dim_at, (*y)->rank, dim));
    if ((*y)->rank == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'y': dimension specified as %zu but tensor has no dimensions", *dim);
    }
    return TAPER_OK;
}

static taper_status check_bool(const taper_call *call, const taper_tensor *y, const taper_tensor *x)
{
    if (y->dtype == TAPER_BOOL || (x != NULL && x->dtype == TAPER_BOOL)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "received a bool input for `x` or `y`, but bool is not supported");
    }
    return TAPER_OK;
}

// Sets the result to the integral over no points: zeros, as in NumPy.
static taper_status ret_zeros(taper_call *call, const taper_tensor *y, size_t dim)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t i = 0; i < y->rank; i++) {
        if (i != dim) {
            sizes[rank++] = y->sizes[i];
        }
    }
    taper_tensor *zeros;
    TAPER_TRY(taper_run_zeros(call->run, (taper_dtype)y->dtype, rank, sizes, &zeros));
    return taper_ret_tensor(call, 0, zeros);
}

// Returns the distances of the points x along dim. The result has as many dimensions as y, because PyTorch broadcasts
// the distances with y in this form.
static taper_tensor *steps(taper_compose *c, taper_tensor *x, const taper_tensor *y, size_t dim)
{
    int64_t sizes[TAPER_MAX_RANK];
    taper_tensor *seen = x;
    if (x->rank == 1 && x->sizes[0] != y->sizes[dim]) {
        taper_compose_fail(
            c, taper_fail(c->run->error, TAPER_ERROR_ARGUMENT, "There must be one `x` value for each sample point"));
        return NULL;
    }
    if (x->rank == 1 || x->rank < y->rank) {
        for (size_t i = 0; i < y->rank; i++) {
            const size_t lead = y->rank - x->rank;
            sizes[i] = x->rank == 1 ? (i == dim ? x->sizes[0] : 1) : i < lead ? 1 : x->sizes[i - lead];
        }
        seen = taper_compose_reshape(c, x, y->rank, sizes);
    }
    taper_tensor *left = taper_compose_slice(c, seen, dim, 0, -1),
                 *right = taper_compose_slice(c, seen, dim, 1, INT64_MAX);
    return taper_compose_sub(c, right, left);
}

static taper_tensor *sums_of_neighbours(taper_compose *c, taper_tensor *y, size_t dim)
{
    taper_tensor *left = taper_compose_slice(c, y, dim, 0, -1), *right = taper_compose_slice(c, y, dim, 1, INT64_MAX);
    return taper_compose_add(c, left, right);
}

// Reads the argument dx, the step of the .dx overloads.
static taper_status read_step(const taper_call *call, double *step)
{
    taper_scalar scalar;
    TAPER_TRY(taper_arg_scalar(call, 1, &scalar));
    if (scalar.kind == TAPER_SCALAR_BOOL || scalar.kind == TAPER_SCALAR_COMPLEX) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument 'dx': currently, we only support dx as a real number.");
    }
    *step = scalar.f;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_trapezoid_x)
{
    taper_tensor *y, *x;
    size_t dim;
    TAPER_TRY(begin(call, 2, &y, &dim));
    TAPER_TRY(taper_arg_tensor(call, 1, &x));
    if (y->sizes[dim] == 0) {
        return ret_zeros(call, y, dim);
    }
    TAPER_TRY(check_bool(call, y, x));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *dx = steps(&c, x, y, dim);
    taper_tensor *areas = taper_compose_mul(&c, sums_of_neighbours(&c, y, dim), dx);
    return taper_compose_ret(&c, call, 0, taper_compose_div_number(&c, taper_compose_sum(&c, areas, dim), 2));
}

TAPER_KERNEL(taper_op_trapezoid_dx)
{
    taper_tensor *y;
    size_t dim;
    double dx;
    TAPER_TRY(begin(call, 2, &y, &dim));
    if (y->sizes[dim] == 0) {
        return ret_zeros(call, y, dim);
    }
    TAPER_TRY(check_bool(call, y, NULL));
    TAPER_TRY(read_step(call, &dx));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *ends =
        taper_compose_add(&c, taper_compose_select(&c, y, dim, 0), taper_compose_select(&c, y, dim, -1));
    taper_tensor *all = taper_compose_sum(&c, y, dim), *half = taper_compose_mul_number(&c, ends, 0.5);
    return taper_compose_ret(&c, call, 0, taper_compose_mul_number(&c, taper_compose_sub(&c, all, half), dx));
}

static taper_tensor *running(taper_compose *c, taper_tensor *areas, size_t dim)
{
    return TAPER_COMPOSE(c, taper_op_cumsum, NULL, taper_compose_arg(areas), taper_val_int((int64_t)dim),
                         taper_val_none());
}

TAPER_KERNEL(taper_op_cumulative_trapezoid_x)
{
    taper_tensor *y, *x;
    size_t dim;
    TAPER_TRY(begin(call, 2, &y, &dim));
    TAPER_TRY(taper_arg_tensor(call, 1, &x));
    TAPER_TRY(check_bool(call, y, x));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *dx = steps(&c, x, y, dim), *areas = taper_compose_mul(&c, sums_of_neighbours(&c, y, dim), dx);
    return taper_compose_ret(&c, call, 0, taper_compose_div_number(&c, running(&c, areas, dim), 2));
}

TAPER_KERNEL(taper_op_cumulative_trapezoid_dx)
{
    taper_tensor *y;
    size_t dim;
    double dx;
    TAPER_TRY(begin(call, 2, &y, &dim));
    TAPER_TRY(check_bool(call, y, NULL));
    TAPER_TRY(read_step(call, &dx));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *areas = taper_compose_mul_number(&c, sums_of_neighbours(&c, y, dim), dx / 2);
    return taper_compose_ret(&c, call, 0, running(&c, areas, dim));
}
