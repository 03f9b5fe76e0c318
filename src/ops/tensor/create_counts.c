// SPDX-License-Identifier: BSD-2-Clause
// Random numbers of the Poisson, binomial and gamma distributions. For small means events are counted one by one. For
// large means the methods are Hörmann's transformed rejections (PTRS and BTRS, 1993), with PyTorch's order of draws.
#include <float.h>
#include <math.h>

#include "base/single.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/lang/scalar.h"
#include "ops/tensor/create_random.h"

// ---- poisson

static double poisson_many(taper_rng *rng, double rate)
{
    const double root = sqrt(rate), log_rate = log(rate);
    const double b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), bound = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = taper_rng_uniform_f64(rng) - 0.5, v = taper_rng_uniform_f64(rng);
        const double us = 0.5 - fabs(u);
        const double k = (double)taper_double_to_int(floor((2 * a / us + b) * u + rate + 0.43));
        if (us >= 0.07 && v <= bound) {
            return k;
        }
        if (k < 0 || (us < 0.013 && v > us)) {
            continue;
        }
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -rate + k * log_rate - lgamma(k + 1)) {
            return k;
        }
    }
}

static double poisson(taper_run *run, taper_rng *rng, taper_dtype dtype, double rate)
{
    (void)run;
    (void)dtype;
    if (rate >= 10) {
        return poisson_many(rng, rate);
    }
    if (rate == 0) {
        return 0;
    }
    const double least = exp(-rate);
    double product = 1, count = 0;
    for (;;) {
        product *= taper_rng_uniform_f64(rng);
        if (!(product > least)) {
            return count;
        }
        count++;
    }
}

// Draws a number for each element of x. The element is the parameter of the distribution.
static taper_status draw_each(taper_call *call, double (*next)(taper_run *, taper_rng *, taper_dtype, double))
{
    taper_run *run = call->run;
    taper_fresh_rng g;
    taper_rng *rng = taper_rng_of(call, &g);
    taper_tensor *x, *plain, *result;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    const taper_dtype dtype = (taper_dtype)x->dtype;
    if (dtype != TAPER_F32 && dtype != TAPER_F64 && (dtype != TAPER_BF16 || next != poisson)) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                          taper_dtype_torch_name(dtype));
    }
    TAPER_TRY(taper_run_contiguous(run, x, &plain));
    taper_status status = taper_tensor_new(run->heap, dtype, x->rank, x->sizes, NULL, &result, run->error);
    if (status != TAPER_OK) {
        taper_tensor_drop(plain);
        return status;
    }
    const int64_t count = taper_tensor_numel(x);
    for (int64_t i = 0; i < count && status == TAPER_OK && taper_run_goes_on(run, 200); i++) {
        const double rate = taper_load_double(dtype, taper_tensor_data(plain), i);
        if (!(rate >= 0) && next == poisson) {
            status =
                taper_fail(run->error, TAPER_ERROR_ARGUMENT, "invalid Poisson rate, expected rate to be non-negative");
            break;
        }
        taper_put_double(dtype, taper_tensor_mutable(result), i, next(run, rng, dtype, rate));
    }
    taper_tensor_drop(plain);
    if (status != TAPER_OK) {
        taper_tensor_drop(result);
        return status;
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_poisson)
{
    return draw_each(call, poisson);
}

// ---- gamma

// Draws a number by Marsaglia and Tsang's method (2000) with PyTorch's roundings: shape has the tensor's precision,
// everything else is double.
static double gamma_number(taper_run *run, taper_rng *rng, double shape, bool single)
{
    double scale = 1;
    if (shape < 1) {
        if (shape == 0) {
            return 0;
        }
        const double power = single ? (double)(1.0f / (float)shape) : 1 / shape;
        scale = pow(1 - taper_rng_uniform_f64(rng), power);
        shape = single ? (double)((float)shape + 1.0f) : shape + 1;
    }
    const float third = 1.0f / 3.0f;
    const double d = single ? (double)((float)shape - third) : shape - (double)third, c = 1 / sqrt(9 * d);
    while (taper_run_goes_on(run, 100)) {
        double x, y;
        do {
            x = taper_rng_normal(rng);
            y = 1 + c * x;
        } while (y <= 0 && taper_run_goes_on(run, 50));
        const double v = y * y * y, u = 1 - taper_rng_uniform_f64(rng), square = x * x;
        if (u < 1 - (double)0.0331f * square * square || log(u) < 0.5 * square + d * (1 - v + log(v))) {
            return scale * d * v;
        }
    }
    return 0;
}

// Returns a number that is at least the smallest normal number, so that its logarithm is finite. The number is raised
// to this limit even if the distribution does not exist, for example if shape is NaN.
static double gamma_above(taper_run *run, taper_rng *rng, taper_dtype dtype, double shape)
{
    const bool single = dtype == TAPER_F32;
    const double least = single ? (double)FLT_MIN : DBL_MIN, drawn = gamma_number(run, rng, shape, single);
    const double number = taper_step(single, drawn);
    return number > least ? number : least;
}

TAPER_KERNEL(taper_op_standard_gamma)
{
    return draw_each(call, gamma_above);
}

// ---- binomial

// Returns log((k + 1)!) minus Stirling's formula: exact values up to 9, then the series.
static double stirling_tail(double k)
{
    static const double first[10] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                     0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                     0.00925546218271273, 0.00833056343336287};
    if (k <= 9) {
        return first[k > 0 ? (int)k : 0];
    }
    const double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

static double binomial_few(taper_run *run, taper_rng *rng, double count, double p)
{
    const double log_miss = log1p(-p);
    double trials = 0, hits = 0;
    for (;;) {
        trials += ceil(log(taper_rng_uniform_f64(rng)) / log_miss);
        if (!(trials <= count) || !taper_run_goes_on(run, 50)) {
            return hits;
        }
        hits++;
    }
}

static double binomial_many(taper_run *run, taper_rng *rng, double count, double p)
{
    const double deviation = sqrt(count * p * (1 - p));
    const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
    const double bound = 0.92 - 4.2 / b, ratio = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation;
    const double m = floor((count + 1) * p);
    for (;;) {
        const double u = taper_rng_uniform_f64(rng) - 0.5;
        double v = taper_rng_uniform_f64(rng);
        const double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        if (!taper_run_goes_on(run, 100)) {
            return 0;
        }
        if (k < 0 || k > count) {
            continue;
        }
        if (us >= 0.07 && v <= bound) {
            return k;
        }
        v = log(v * alpha / (a / (us * us) + b));
        const double limit = (m + 0.5) * log((m + 1) / (ratio * (count - m + 1))) +
                             (count + 1) * log((count - m + 1) / (count - k + 1)) +
                             (k + 0.5) * log(ratio * (count - k + 1) / (k + 1)) + stirling_tail(m) +
                             stirling_tail(count - m) - stirling_tail(k) - stirling_tail(count - k);
        if (v <= limit) {
            return k;
        }
    }
}

static double binomial(taper_run *run, taper_rng *rng, taper_dtype dtype, double count, double p)
{
    if (count <= 0 || p <= 0) {
        return 0;
    }
    if (p >= 1) {
        return count;
    }
    if (!(count < INFINITY) || p != p) { // `count` is not a possible number of trials; PyTorch would loop forever
        return NAN;
    }
    const bool flip = p > 0.5;
    const double q = !flip ? p : taper_step(dtype == TAPER_F32, 1 - p);
    const double mean = dtype == TAPER_F32 ? (double)((float)count * (float)q) : count * q;
    const double hits = mean >= 10 ? binomial_many(run, rng, count, q) : binomial_few(run, rng, count, q);
    return flip ? count - hits : hits;
}

static taper_status wide(taper_run *run, taper_tensor *x, size_t rank, const int64_t *sizes, taper_tensor **plain)
{
    taper_tensor *expanded;
    TAPER_TRY(taper_expand(run, x, rank, sizes, &expanded));
    const taper_status status = taper_run_contiguous(run, expanded, plain);
    taper_tensor_drop(expanded);
    return status;
}

TAPER_KERNEL(taper_op_binomial)
{
    taper_run *run = call->run;
    taper_fresh_rng g;
    taper_rng *rng = taper_rng_of(call, &g);
    taper_tensor *count, *p, *counts = NULL, *chances = NULL, *result = NULL;
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    TAPER_TRY(taper_arg_tensor(call, 0, &count));
    TAPER_TRY(taper_arg_tensor(call, 1, &p));
    const taper_dtype dtype = (taper_dtype)count->dtype;
    if (p->dtype != dtype || (dtype != TAPER_F32 && dtype != TAPER_F64)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "arguments 'count' and 'prob': expected two float32 or two float64 tensors, not %s and %s",
                          taper_dtype_name(dtype), taper_dtype_name((taper_dtype)p->dtype));
    }
    if (!taper_broadcast_sizes(&rank, sizes, count->rank, count->sizes) ||
        !taper_broadcast_sizes(&rank, sizes, p->rank, p->sizes)) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "the sizes of 'count' and 'prob' do not broadcast");
    }
    taper_status status = wide(run, count, rank, sizes, &counts);
    if (status == TAPER_OK) {
        status = wide(run, p, rank, sizes, &chances);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, dtype, rank, sizes, NULL, &result, run->error);
    }
    if (status == TAPER_OK) {
        const int64_t items = taper_tensor_numel(result);
        for (int64_t i = 0; i < items && taper_run_goes_on(run, 200); i++) {
            taper_put_double(dtype, taper_tensor_mutable(result), i,
                             binomial(run, rng, dtype, taper_load_double(dtype, taper_tensor_data(counts), i),
                                      taper_load_double(dtype, taper_tensor_data(chances), i)));
        }
    }
    taper_tensor_drop(counts);
    taper_tensor_drop(chances);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, result) : status;
}
