// SPDX-License-Identifier: BSD-2-Clause
// multinomial: draws categories with PyTorch's random numbers. Without replacement it takes the categories with the
// largest values of p / exponential. With replacement it inverts the cumulative distribution.
#include <math.h>

#include "base/single.h"
#include "ops/call/call.h"
#include "ops/tensor/create_random.h"

static double weight(const taper_tensor *x, int64_t row, int64_t column)
{
    const unsigned last = x->rank - 1u;
    const int64_t at = column * x->strides[last] + (x->rank == 2 ? row * x->strides[0] : 0);
    return taper_load_double((taper_dtype)x->dtype, taper_tensor_data(x), at);
}

static double in_dtype(taper_dtype dtype, double value)
{
    return taper_step(dtype != TAPER_F64, value);
}

// Restores the heap below index i, with the smallest key at the top. The key of an index in `order` is keys[index].
static void sift(const double *keys, int64_t *order, int64_t count, int64_t i)
{
    for (;;) {
        int64_t least = i;
        for (int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < count; child++) {
            if (keys[order[child]] < keys[order[least]]) {
                least = child;
            }
        }
        if (least == i) {
            return;
        }
        const int64_t swap = order[i];
        order[i] = order[least];
        order[least] = swap;
        i = least;
    }
}

// Sorts the indices by decreasing key.
static void sort_falling(taper_run *run, const double *keys, int64_t *order, int64_t count)
{
    for (int64_t i = 0; i < count; i++) { // count is at most 2^24
        order[i] = i;
    }
    for (int64_t i = count / 2; i-- > 0 && taper_run_goes_on(run, 50);) {
        sift(keys, order, count, i);
    }
    for (int64_t left = count - 1; left > 0 && taper_run_goes_on(run, 200); left--) {
        const int64_t swap = order[0];
        order[0] = order[left];
        order[left] = swap;
        sift(keys, order, left, 0);
    }
}

static taper_status check_row(taper_run *run, const taper_tensor *x, int64_t row, int64_t categories)
{
    taper_error *error = run->error;
    double sum = 0;
    TAPER_TRY(taper_run_spend(run, (uint64_t)categories * 5 + 20));
    for (int64_t i = 0; i < categories; i++) {
        const double p = weight(x, row, i);
        if (!(p >= 0) || isinf(p)) {
            return taper_fail(error, TAPER_ERROR_ARGUMENT,
                              "probability tensor contains either `inf`, `nan` or element < 0");
        }
        sum += p;
    }
    if (!(sum > 0)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "invalid multinomial distribution (sum of probabilities <= 0)");
    }
    return TAPER_OK;
}

static void sample_distinct(taper_run *run, taper_rng *rng, const taper_tensor *x, int64_t rows, int64_t categories,
                            int64_t samples, double *keys, int64_t *order, int64_t *to)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < categories; i++) {
            if (!taper_run_step(run, i, 60)) {
                return;
            }
            const double q = in_dtype(dtype, -log1p(-taper_rng_uniform_f64(rng)));
            keys[i] = in_dtype(dtype, weight(x, row, i) / q);
        }
        if (samples == 1) {
            int64_t best = 0;
            for (int64_t i = 1; i < categories; i++) {
                best = keys[i] > keys[best] ? i : best;
            }
            *to++ = best;
            continue;
        }
        sort_falling(run, keys, order, categories);
        memcpy(to, order, (size_t)samples * sizeof *to);
        to += samples;
    }
}

static void sample_again(taper_run *run, taper_rng *rng, const taper_tensor *x, int64_t rows, int64_t categories,
                         int64_t samples, double *cumulative, int64_t *to)
{
    const taper_dtype dtype = (taper_dtype)x->dtype;
    for (int64_t row = 0; row < rows; row++) {
        double sum = 0;
        if (!taper_run_goes_on(run, (uint64_t)categories * 20)) {
            return;
        }
        for (int64_t i = 0; i < categories; i++) {
            sum = in_dtype(dtype, sum + weight(x, row, i));
            cumulative[i] = sum;
        }
        for (int64_t i = 0; i < categories; i++) {
            cumulative[i] = in_dtype(dtype, cumulative[i] / sum);
        }
        cumulative[categories - 1] = 1;
        for (int64_t j = 0; j < samples && taper_run_step(run, j, 150); j++) {
            const double u = taper_rng_uniform_f64(rng);
            int64_t low = 0, high = categories;
            while (high - low > 0) {
                const int64_t middle = low + (high - low) / 2;
                if (cumulative[middle] < u) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            *to++ = low;
        }
    }
}

TAPER_KERNEL(taper_op_multinomial)
{
    taper_run *run = call->run;
    taper_tensor *x, *result, *keys = NULL, *order = NULL;
    int64_t samples;
    bool again;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_int(call, 1, &samples));
    TAPER_TRY(taper_arg_bool(call, 2, &again));
    if (x->rank != 1 && x->rank != 2) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "prob_dist must be 1 or 2 dim");
    }
    if (!taper_dtype_is_float((taper_dtype)x->dtype)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "multinomial only supports floating-point dtypes for input, got: %s",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    const int64_t categories = x->sizes[x->rank - 1], rows = x->rank == 2 ? x->sizes[0] : 1;
    if (samples <= 0 || (!again && samples > categories)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          samples <= 0 ? "cannot sample n_sample <= 0 samples"
                                       : "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    }
    if (categories == 0 || categories > INT64_C(1) << 24) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "number of categories must be between 1 and 2^24");
    }
    for (int64_t row = 0; row < rows; row++) {
        TAPER_TRY(check_row(run, x, row, categories));
    }
    const int64_t sizes[2] = {x->rank == 2 ? rows : samples, samples};
    TAPER_TRY(taper_create_new(call, TAPER_I64, x->rank, sizes, &result));
    taper_status status = taper_create_new(call, TAPER_F64, 1, &categories, &keys);
    if (status == TAPER_OK) {
        status = taper_create_new(call, TAPER_I64, 1, &categories, &order);
    }
    if (status == TAPER_OK) {
        taper_fresh_rng g;
        taper_rng *rng = taper_rng_of(call, &g);
        if (!again) {
            sample_distinct(run, rng, x, rows, categories, samples, taper_tensor_mutable(keys),
                            taper_tensor_mutable(order), taper_tensor_mutable(result));
        } else {
            sample_again(run, rng, x, rows, categories, samples, taper_tensor_mutable(keys),
                         taper_tensor_mutable(result));
        }
    }
    taper_tensor_drop(keys);
    taper_tensor_drop(order);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}
