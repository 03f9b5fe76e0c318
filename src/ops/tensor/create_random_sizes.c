// SPDX-License-Identifier: BSD-2-Clause
// New tensors of random numbers: rand, randn, randint, randperm, their _like overloads, and normal of tensors;
// manual_seed.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/create_random.h"

// ---- tensors of given sizes

typedef enum random_kind { UNIFORM, NORMAL } random_kind;

static taper_status fill_kind(taper_call *call, random_kind kind, taper_tensor *x)
{
    return kind == UNIFORM ? taper_fill_uniform(call, x, 0, 1) : taper_fill_normal(call, x, 0, 1);
}

// Sets result 0 to a new tensor of random numbers with the sizes of argument 0. dtype_at is 1, or 2 if a generator
// argument precedes the dtype.
static taper_status by_sizes(taper_call *call, random_kind kind, size_t dtype_at)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_create_sizes(call, 0, &rank, sizes));
    TAPER_TRY(taper_create_options(call, dtype_at, TAPER_F32, &dtype));
    TAPER_TRY(taper_ret_new(call, 0, dtype, rank, sizes, NULL, &result));
    return fill_kind(call, kind, result);
}

TAPER_KERNEL(taper_op_rand)
{
    return by_sizes(call, UNIFORM, 1);
}
TAPER_KERNEL(taper_op_rand_generator)
{
    return by_sizes(call, UNIFORM, 2);
}
TAPER_KERNEL(taper_op_randn)
{
    return by_sizes(call, NORMAL, 1);
}
TAPER_KERNEL(taper_op_randn_generator)
{
    return by_sizes(call, NORMAL, 2);
}

TAPER_KERNEL(taper_op_rand_like)
{
    taper_tensor *result;
    TAPER_TRY(taper_create_like(call, 1, &result));
    return fill_kind(call, UNIFORM, result);
}
TAPER_KERNEL(taper_op_randn_like)
{
    taper_tensor *result;
    TAPER_TRY(taper_create_like(call, 1, &result));
    return fill_kind(call, NORMAL, result);
}

static taper_status randint(taper_call *call, bool has_low, bool has_generator)
{
    int64_t low = 0, high, sizes[TAPER_MAX_RANK];
    size_t rank, at = 0;
    taper_dtype dtype;
    taper_tensor *result;
    if (has_low) {
        TAPER_TRY(taper_arg_int(call, at++, &low));
    }
    TAPER_TRY(taper_arg_int(call, at++, &high));
    TAPER_TRY(taper_create_sizes(call, at++, &rank, sizes));
    TAPER_TRY(taper_create_options(call, at + (has_generator ? 1 : 0), TAPER_F32, &dtype));
    TAPER_TRY(taper_ret_new(call, 0, dtype, rank, sizes, NULL, &result));
    return taper_fill_integers(call, result, low, high);
}

TAPER_KERNEL(taper_op_randint)
{
    return randint(call, false, false);
}
TAPER_KERNEL(taper_op_randint_low)
{
    return randint(call, true, false);
}
TAPER_KERNEL(taper_op_randint_generator)
{
    return randint(call, false, true);
}
TAPER_KERNEL(taper_op_randint_low_generator)
{
    return randint(call, true, true);
}

TAPER_KERNEL(taper_op_randint_like)
{
    int64_t high;
    taper_tensor *result;
    TAPER_TRY(taper_arg_int(call, 1, &high));
    TAPER_TRY(taper_create_like(call, 2, &result));
    return taper_fill_integers(call, result, 0, high);
}
TAPER_KERNEL(taper_op_randint_like_low)
{
    int64_t low, high;
    taper_tensor *result;
    TAPER_TRY(taper_arg_int(call, 1, &low));
    TAPER_TRY(taper_arg_int(call, 2, &high));
    TAPER_TRY(taper_create_like(call, 3, &result));
    return taper_fill_integers(call, result, low, high);
}

static taper_status randperm(taper_call *call, size_t dtype_at)
{
    taper_error *error = call->run->error;
    taper_fresh_rng g;
    taper_rng *rng = taper_rng_of(call, &g);
    int64_t n, low, high;
    taper_dtype dtype;
    taper_tensor *order;
    TAPER_TRY(taper_arg_int(call, 0, &n));
    TAPER_TRY(taper_create_options(call, dtype_at, TAPER_I64, &dtype));
    TAPER_TRY(taper_create_count(error, "n", n));
    if (!taper_integer_limits(dtype, &low, &high) || n - 1 > high || dtype == TAPER_BOOL) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "n is too large for result tensor type: '%s'",
                          taper_dtype_name(dtype));
    }
    TAPER_TRY(taper_create_new(call, TAPER_I64, 1, &n, &order));
    int64_t *p = taper_tensor_mutable(order);
    for (int64_t i = 0; i < n && taper_run_step(call->run, i, 2); i++) {
        p[i] = i;
    }
    for (int64_t i = 0; i < n - 1 && taper_run_step(call->run, i, 30); i++) {
        const int64_t other = i + (int64_t)((uint64_t)taper_rng_u32(rng) % (uint64_t)(n - i));
        const int64_t swap = p[i];
        p[i] = p[other];
        p[other] = swap;
    }
    if (dtype == TAPER_I64) {
        return taper_ret_tensor(call, 0, order);
    }
    taper_tensor *result;
    taper_status status = taper_ret_new(call, 0, dtype, 1, &n, NULL, &result);
    if (status == TAPER_OK) {
        status = taper_run_copy(call->run, result, order);
    }
    taper_tensor_drop(order);
    return status;
}

TAPER_KERNEL(taper_op_randperm)
{
    return randperm(call, 1);
}
TAPER_KERNEL(taper_op_randperm_generator)
{
    return randperm(call, 2);
}

// ---- normal with means and deviations that are tensors

// Draws standard normal numbers, then multiplies by the deviation and adds the mean.
static taper_status normal_of(taper_call *call, const taper_tensor *mean, double mean_number,
                              const taper_tensor *deviation, double deviation_number)
{
    taper_run *run = call->run;
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    const taper_tensor *given[2] = {mean, deviation};
    // If the deviation is a number, PyTorch fills the out tensor in the shape that it has, and adds the means to it.
    const taper_tensor *const filled = deviation == NULL ? taper_ret_target(call, 0) : NULL;
    taper_promotion promotion = taper_promotion_start();
    if (filled != NULL) {
        rank = filled->rank;
        memcpy(sizes, filled->sizes, sizeof sizes);
    }
    for (size_t i = 0; i < 2; i++) {
        if (given[i] == NULL) {
            continue;
        }
        taper_promotion_tensor(&promotion, given[i]);
        if (!taper_dtype_is_float((taper_dtype)given[i]->dtype) ||
            !taper_broadcast_sizes(&rank, sizes, given[i]->rank, given[i]->sizes)) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                              "mean, std: expected floating-point tensors whose sizes broadcast");
        }
    }
    if (filled != NULL && (rank != filled->rank || memcmp(sizes, filled->sizes, rank * sizeof *sizes) != 0)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "mean: its sizes do not broadcast to those of out");
    }
    taper_tensor *result, *wide[2] = {NULL, NULL};
    TAPER_TRY(taper_tensor_new(run->heap, taper_promotion_result(&promotion), rank, sizes, NULL, &result, run->error));
    taper_status status = taper_fill_normal(call, result, 0, 1);
    for (size_t i = 0; i < 2 && status == TAPER_OK; i++) {
        taper_tensor *expanded;
        if (given[i] != NULL) {
            status = taper_expand(run, given[i], rank, sizes, &expanded);
            if (status == TAPER_OK) {
                status = taper_run_contiguous(run, expanded, &wide[i]);
                taper_tensor_drop(expanded);
            }
        }
    }
    if (status == TAPER_OK) {
        const int64_t count = taper_tensor_numel(result);
        const taper_dtype dtype = (taper_dtype)result->dtype;
        void *data = taper_tensor_mutable(result);
        for (int64_t i = 0; i < count && status == TAPER_OK && taper_run_step(run, i, 30); i++) {
            const double m = wide[0] == NULL
                                 ? mean_number
                                 : taper_load_double((taper_dtype)wide[0]->dtype, taper_tensor_data(wide[0]), i);
            const double s = wide[1] == NULL
                                 ? deviation_number
                                 : taper_load_double((taper_dtype)wide[1]->dtype, taper_tensor_data(wide[1]), i);
            if (s < 0) {
                status = taper_fail(run->error, TAPER_ERROR_ARGUMENT, "normal expects all elements of std >= 0.0");
            }
            taper_put_double(dtype, data, i, taper_load_double(dtype, data, i) * s + m);
        }
    }
    taper_tensor_drop(wide[0]);
    taper_tensor_drop(wide[1]);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_normal_tensor_tensor)
{
    taper_tensor *mean, *deviation;
    TAPER_TRY(taper_arg_tensor(call, 0, &mean));
    TAPER_TRY(taper_arg_tensor(call, 1, &deviation));
    return normal_of(call, mean, 0, deviation, 1);
}
TAPER_KERNEL(taper_op_normal_tensor_float)
{
    taper_tensor *mean;
    double deviation;
    TAPER_TRY(taper_arg_tensor(call, 0, &mean));
    TAPER_TRY(taper_arg_double(call, 1, &deviation));
    return normal_of(call, mean, 0, NULL, deviation);
}
TAPER_KERNEL(taper_op_normal_float_tensor)
{
    taper_tensor *deviation;
    double mean;
    TAPER_TRY(taper_arg_double(call, 0, &mean));
    TAPER_TRY(taper_arg_tensor(call, 1, &deviation));
    return normal_of(call, NULL, mean, deviation, 1);
}
TAPER_KERNEL(taper_op_normal_float_float)
{
    double mean, deviation;
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_double(call, 0, &mean));
    TAPER_TRY(taper_arg_double(call, 1, &deviation));
    TAPER_TRY(taper_create_sizes(call, 2, &rank, sizes));
    TAPER_TRY(taper_create_options(call, 4, TAPER_F32, &dtype));
    TAPER_TRY(taper_ret_new(call, 0, dtype, rank, sizes, NULL, &result));
    return taper_fill_normal(call, result, mean, deviation);
}

TAPER_KERNEL(taper_op_manual_seed)
{
    int64_t seed;
    TAPER_TRY(taper_arg_int(call, 0, &seed));
    if (call->run->rng != NULL) {
        taper_rng_seed(call->run->rng, (uint64_t)seed);
    }
    return TAPER_OK;
}
