// SPDX-License-Identifier: BSD-2-Clause
// rand, randn, randint, randperm, bernoulli, normal, multinomial and the in-place fills. The order in which numbers are
// drawn is PyTorch's: elements in the order of memory.
#include <math.h>

#include "ops/create.h"
#include "ops/kernels.h"
#include "ops/promote.h"
#include "ops/random.h"
#include "ops/view_shape.h"

static const double PI = 3.14159265358979323846;

// How the elements of a tensor are drawn.
typedef struct draw {
    taper_rng *rng;
    taper_dtype dtype; // of the result
    double a, b;
    uint64_t span;
    int64_t base;
    taper_scalar (*next)(struct draw *draw);
    double parameter; // from another tensor, per element
} draw;

// A run without a generator draws from a fresh one.
typedef struct generator {
    taper_rng own;
} generator;

static taper_rng *open_generator(const taper_call *call, generator *g)
{
    if (call->run->rng != NULL) {
        return call->run->rng;
    }
    taper_rng_seed(&g->own, TAPER_RNG_SEED);
    return &g->own;
}

// Dimensions from the smallest stride to the largest, as the iteration goes.
static void smallest_first(const taper_tensor *x, unsigned *order)
{
    for (unsigned i = 0; i < x->rank; i++) {
        unsigned d = x->rank - 1u - i, at = i;
        while (at > 0 && x->strides[d] != 0 && x->strides[order[at - 1]] > x->strides[d]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = d;
    }
}

// parameter: a tensor with x's sizes (expanded), or NULL.
static taper_status draw_all(taper_call *call, taper_tensor *x, draw *d, const taper_tensor *parameter)
{
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, call->run->error));
    TAPER_TRY(taper_check_writable(x, call->run->error));
    const int64_t count = taper_tensor_numel(x);
    unsigned order[TAPER_MAX_RANK] = {0};
    int64_t at[TAPER_MAX_RANK] = {0}, source = 0;
    smallest_first(x, order);
    char *p = taper_tensor_mutable(x);
    for (int64_t i = 0; i < count; i++) {
        if (parameter != NULL) {
            d->parameter = taper_load_double((taper_dtype)parameter->dtype, taper_tensor_data(parameter), source);
        }
        const taper_scalar value = d->next(d);
        taper_scalar_store((taper_dtype)x->dtype, p, &value);
        for (unsigned k = 0; k < x->rank; k++) {
            const unsigned dim = order[k];
            p += x->strides[dim] * (int64_t)item;
            source += parameter != NULL ? parameter->strides[dim] : 0;
            if (++at[dim] < x->sizes[dim]) {
                break;
            }
            p -= x->strides[dim] * x->sizes[dim] * (int64_t)item;
            source -= parameter != NULL ? parameter->strides[dim] * parameter->sizes[dim] : 0;
            at[dim] = 0;
        }
    }
    return TAPER_OK;
}

static taper_status need_float(taper_call *call, const char *name, const taper_tensor *x)
{
    return taper_dtype_is_float((taper_dtype)x->dtype)
               ? TAPER_OK
               : taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED, "\"%s\" not implemented for '%s'", name,
                            taper_dtype_torch_name((taper_dtype)x->dtype));
}

// ---- uniform

static taper_scalar next_uniform(draw *d)
{
    const double span = d->b - d->a;
    double value;
    switch (d->dtype) {
    case TAPER_F64: value = taper_rng_uniform_f64(d->rng) * span + d->a; break;
    case TAPER_F16: value = (double)((float)(taper_rng_u32(d->rng) & 0x7ffu) * (1.0f / 2048.0f) * (float)span + (float)d->a); break;
    case TAPER_BF16: value = (double)((float)(taper_rng_u32(d->rng) & 0xffu) * (1.0f / 256.0f) * (float)span + (float)d->a); break;
    default: value = (double)(taper_rng_uniform_f32(d->rng) * ((float)d->b - (float)d->a) + (float)d->a); break;
    }
    return taper_scalar_double(value);
}

static taper_status fill_uniform(taper_call *call, taper_tensor *x, double from, double to)
{
    generator g;
    TAPER_TRY(need_float(call, "check_uniform_bounds", x));
    if (!(from <= to)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from, to);
    }
    draw d = {.rng = open_generator(call, &g), .dtype = (taper_dtype)x->dtype, .a = from, .b = to, .next = next_uniform};
    return draw_all(call, x, &d, NULL);
}

// ---- normal

static taper_scalar next_normal(draw *d)
{
    return taper_scalar_double(taper_rng_normal(d->rng) * d->b + d->a);
}

static taper_status fill_normal(taper_call *call, taper_tensor *x, double mean, double deviation)
{
    generator g;
    taper_rng *rng = open_generator(call, &g);
    if (taper_dtype_is_complex((taper_dtype)x->dtype)) { // both parts, each with half the variance
        taper_tensor parts = *x; // seen as real numbers; never leaves this function
        if (!taper_tensor_is_contiguous(x) || x->rank == TAPER_MAX_RANK || x->dtype == TAPER_C32) {
            return taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED, "normal_: this complex tensor is not supported");
        }
        parts.dtype = x->dtype == TAPER_C64 ? TAPER_F32 : TAPER_F64;
        parts.offset *= 2;
        parts.sizes[parts.rank++] = 2;
        taper_strides_contiguous(parts.rank, parts.sizes, parts.strides);
        return fill_normal(call, &parts, mean, deviation / sqrt(2.0));
    }
    TAPER_TRY(need_float(call, "normal_kernel_cpu", x));
    if (!(deviation >= 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "normal expects std >= 0.0, but found std %g", deviation);
    }
    const int64_t count = taper_tensor_numel(x);
    if (count >= 16 && taper_tensor_is_contiguous(x)) {
        if (x->dtype == TAPER_F32) {
            taper_rng_fill_normal_f32(rng, taper_tensor_mutable(x), count, (float)mean, (float)deviation);
            return TAPER_OK;
        }
        if (x->dtype == TAPER_F64) {
            taper_rng_fill_normal_f64(rng, taper_tensor_mutable(x), count, mean, deviation);
            return TAPER_OK;
        }
    }
    draw d = {.rng = rng, .dtype = (taper_dtype)x->dtype, .a = mean, .b = deviation, .next = next_normal};
    return draw_all(call, x, &d, NULL);
}

// ---- integers

static taper_scalar next_integer(draw *d)
{
    const uint64_t bits = d->span == 0 || d->span >= UINT64_C(1) << 32 ? taper_rng_u64(d->rng) : taper_rng_u32(d->rng);
    const uint64_t value = (d->span == 0 ? bits : bits % d->span) + (uint64_t)d->base; // span 0: 2^64
    return taper_scalar_int((int64_t)value);
}

static taper_scalar next_any(draw *d) // random_(): all that the dtype holds exactly
{
    uint64_t value;
    switch (d->dtype) {
    case TAPER_BOOL: value = taper_rng_u32(d->rng) & 1u; break;
    case TAPER_I64: value = taper_rng_u64(d->rng) % (UINT64_C(1) << 63); break;
    case TAPER_F64: value = taper_rng_u64(d->rng) % ((UINT64_C(1) << 53) + 1); break;
    case TAPER_F32: value = taper_rng_u32(d->rng) % ((UINT64_C(1) << 24) + 1); break;
    case TAPER_F16: value = taper_rng_u32(d->rng) % ((UINT64_C(1) << 11) + 1); break;
    case TAPER_BF16: value = taper_rng_u32(d->rng) % ((UINT64_C(1) << 8) + 1); break;
    case TAPER_I32: value = taper_rng_u32(d->rng) % (UINT64_C(1) << 31); break;
    case TAPER_I16: value = taper_rng_u32(d->rng) % (UINT64_C(1) << 15); break;
    case TAPER_I8: value = taper_rng_u32(d->rng) % (UINT64_C(1) << 7); break;
    default: value = taper_rng_u32(d->rng) % (UINT64_C(1) << 8); break;
    }
    return taper_scalar_int((int64_t)value);
}

// The largest integer up to which (and from whose negative on) the dtype holds all.
static bool integer_limits(taper_dtype dtype, int64_t *low, int64_t *high)
{
    switch (dtype) {
    case TAPER_U8: *low = 0; *high = UINT8_MAX; return true;
    case TAPER_I8: *low = INT8_MIN; *high = INT8_MAX; return true;
    case TAPER_I16: *low = INT16_MIN; *high = INT16_MAX; return true;
    case TAPER_I32: *low = INT32_MIN; *high = INT32_MAX; return true;
    case TAPER_I64: *low = INT64_MIN; *high = INT64_MAX; return true;
    case TAPER_BOOL: *low = 0; *high = 1; return true;
    case TAPER_F16: *low = -65504; *high = 65504; return true;
    case TAPER_F32:
    case TAPER_F64:
    case TAPER_BF16: *low = INT64_MIN; *high = INT64_MAX; return true;
    default: return false;
    }
}

static taper_status fill_integers(taper_call *call, taper_tensor *x, int64_t from, int64_t to)
{
    taper_error *error = call->run->error;
    generator g;
    int64_t low, high;
    if (from >= to) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
                          (long long)from, (long long)to);
    }
    if (!integer_limits((taper_dtype)x->dtype, &low, &high)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "random_: not implemented for %s", taper_dtype_name((taper_dtype)x->dtype));
    }
    if (from < low || from > high || to - 1 < low || to - 1 > high) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s is out of bounds for %s", from < low || from > high ? "from" : "to - 1",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    draw d = {.rng = open_generator(call, &g),
              .dtype = (taper_dtype)x->dtype,
              .span = (uint64_t)to - (uint64_t)from,
              .base = from,
              .next = next_integer};
    return draw_all(call, x, &d, NULL);
}

static taper_status fill_from(taper_call *call, taper_tensor *x, int64_t from)
{
    taper_error *error = call->run->error;
    generator g;
    int64_t low, high;
    if (!integer_limits((taper_dtype)x->dtype, &low, &high) || from < low || from > high) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "from is out of bounds for %s", taper_dtype_name((taper_dtype)x->dtype));
    }
    high = x->dtype == TAPER_F32    ? INT64_C(1) << 24
           : x->dtype == TAPER_F64  ? INT64_C(1) << 53
           : x->dtype == TAPER_F16  ? INT64_C(1) << 11
           : x->dtype == TAPER_BF16 ? INT64_C(1) << 8
                                    : high;
    if (from > high) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc'");
    }
    draw d = {.rng = open_generator(call, &g),
              .dtype = (taper_dtype)x->dtype,
              .span = (uint64_t)high - (uint64_t)from + 1, // 0: all of int64
              .base = from,
              .next = next_integer};
    return draw_all(call, x, &d, NULL);
}

// ---- other distributions

static taper_scalar next_bernoulli(draw *d)
{
    return taper_scalar_int(taper_rng_uniform_f64(d->rng) < d->a);
}
static taper_scalar next_bernoulli_f64(draw *d)
{
    return taper_scalar_int(taper_rng_uniform_f64(d->rng) < d->parameter);
}
static taper_scalar next_bernoulli_f32(draw *d)
{
    return taper_scalar_int(taper_rng_uniform_f32(d->rng) < (float)d->parameter);
}
static taper_scalar next_exponential(draw *d)
{
    return taper_scalar_double(-1.0 / d->a * log1p(-taper_rng_uniform_f64(d->rng)));
}
static taper_scalar next_geometric(draw *d)
{
    return taper_scalar_double(ceil(log(taper_rng_uniform_f64(d->rng)) / log1p(-d->a)));
}
static taper_scalar next_cauchy(draw *d)
{
    return taper_scalar_double(d->a + d->b * tan(PI * (taper_rng_uniform_f64(d->rng) - 0.5)));
}
static taper_scalar next_log_normal(draw *d)
{
    return taper_scalar_double(exp(taper_rng_normal(d->rng) * d->b + d->a));
}

typedef taper_scalar (*next_function)(draw *d);

static taper_status fill_with(taper_call *call, taper_tensor *x, next_function next, double a, double b)
{
    generator g;
    draw d = {.rng = open_generator(call, &g), .dtype = (taper_dtype)x->dtype, .a = a, .b = b, .next = next};
    return draw_all(call, x, &d, NULL);
}

// ---- the operators: argument 0 filled, in place or in a clone

typedef taper_status (*fill_function)(taper_call *call, taper_tensor *x);

static taper_status in_place(taper_call *call, int64_t format, fill_function fill)
{
    taper_tensor *self;
    TAPER_TRY(taper_inplace_begin(call, format, &self));
    const taper_status status = fill(call, self);
    if (status != TAPER_OK) {
        taper_tensor_drop(self);
        return status;
    }
    return taper_inplace_end(call, self);
}

#define FILLED(name, fill)                                            \
    taper_status name(taper_call *call)                               \
    {                                                                 \
        return in_place(call, TAPER_FORMAT_PRESERVE, fill);           \
    }
#define FILLED_PLAIN(name, fill)                                      \
    taper_status name(taper_call *call)                               \
    {                                                                 \
        return in_place(call, TAPER_FORMAT_CONTIGUOUS, fill);         \
    }

static taper_status two_doubles(taper_call *call, double *a, double *b)
{
    TAPER_TRY(taper_arg_double(call, 1, a));
    return taper_arg_double(call, 2, b);
}

static taper_status do_uniform(taper_call *call, taper_tensor *x)
{
    double a, b;
    TAPER_TRY(two_doubles(call, &a, &b));
    return fill_uniform(call, x, a, b);
}
FILLED(taper_op_uniform, do_uniform)

static taper_status do_normal(taper_call *call, taper_tensor *x)
{
    double a, b;
    TAPER_TRY(two_doubles(call, &a, &b));
    return fill_normal(call, x, a, b);
}
FILLED(taper_op_normal, do_normal)

static taper_status do_random(taper_call *call, taper_tensor *x)
{
    int64_t low, high;
    if (!integer_limits((taper_dtype)x->dtype, &low, &high)) {
        return taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED, "random_: not implemented for %s",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    return fill_with(call, x, next_any, 0, 0);
}
FILLED(taper_op_random, do_random)

static taper_status do_random_to(taper_call *call, taper_tensor *x)
{
    int64_t to;
    TAPER_TRY(taper_arg_int(call, 1, &to));
    return fill_integers(call, x, 0, to);
}
FILLED(taper_op_random_to, do_random_to)

static taper_status do_random_from(taper_call *call, taper_tensor *x)
{
    int64_t from, to;
    TAPER_TRY(taper_arg_int(call, 1, &from));
    if (taper_arg_is_none(call, 2)) {
        return fill_from(call, x, from);
    }
    TAPER_TRY(taper_arg_int(call, 2, &to));
    return fill_integers(call, x, from, to);
}
FILLED(taper_op_random_from, do_random_from)

static taper_status do_exponential(taper_call *call, taper_tensor *x)
{
    double rate;
    TAPER_TRY(taper_arg_double(call, 1, &rate));
    TAPER_TRY(need_float(call, "exponential_cpu", x));
    if (!(rate > 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "exponential_ expects lambda > 0.0, but found lambda=%g", rate);
    }
    return fill_with(call, x, next_exponential, rate, 0);
}
FILLED(taper_op_exponential, do_exponential)

static taper_status do_geometric(taper_call *call, taper_tensor *x)
{
    double p;
    TAPER_TRY(taper_arg_double(call, 1, &p));
    if (!(p > 0 && p < 1) || taper_dtype_is_complex((taper_dtype)x->dtype) || x->dtype == TAPER_BOOL) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "geometric_ expects p to be in (0, 1), but got p=%g", p);
    }
    return fill_with(call, x, next_geometric, p, 0);
}
FILLED(taper_op_geometric, do_geometric)

static taper_status do_cauchy(taper_call *call, taper_tensor *x)
{
    double a, b;
    TAPER_TRY(two_doubles(call, &a, &b));
    TAPER_TRY(need_float(call, "cauchy_cpu", x));
    if (!(b > 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "cauchy_ expects sigma > 0.0, but found sigma=%g", b);
    }
    return fill_with(call, x, next_cauchy, a, b);
}
FILLED(taper_op_cauchy, do_cauchy)

static taper_status do_log_normal(taper_call *call, taper_tensor *x)
{
    double a, b;
    TAPER_TRY(two_doubles(call, &a, &b));
    TAPER_TRY(need_float(call, "log_normal_cpu", x));
    if (!(b > 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "log_normal_ expects std > 0.0, but found std=%g", b);
    }
    return fill_with(call, x, next_log_normal, a, b);
}
FILLED(taper_op_log_normal, do_log_normal)

// ---- bernoulli

static taper_status bernoulli_p(taper_call *call, taper_tensor *x, double p)
{
    if (!(p >= 0 && p <= 1)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "bernoulli_ expects p to be in [0, 1], but got p=%g", p);
    }
    return fill_with(call, x, next_bernoulli, p, 0);
}

static taper_status bernoulli_tensor(taper_call *call, taper_tensor *x, const taper_tensor *p)
{
    taper_error *error = call->run->error;
    generator g;
    taper_tensor *wide;
    if (!taper_dtype_is_float((taper_dtype)p->dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "p: a floating-point tensor is wanted");
    }
    TAPER_TRY(taper_expand(call->run, p, x->rank, x->sizes, &wide));
    draw d = {.rng = open_generator(call, &g),
              .dtype = (taper_dtype)x->dtype,
              .next = p->dtype == TAPER_F64 ? next_bernoulli_f64 : next_bernoulli_f32};
    const taper_status status = draw_all(call, x, &d, wide);
    taper_tensor_drop(wide);
    return status;
}

static taper_status do_bernoulli_p(taper_call *call, taper_tensor *x)
{
    double p;
    TAPER_TRY(taper_arg_double(call, 1, &p));
    return bernoulli_p(call, x, p);
}
FILLED_PLAIN(taper_op_bernoulli_p, do_bernoulli_p)

static taper_status do_bernoulli_tensor(taper_call *call, taper_tensor *x)
{
    taper_tensor *p;
    TAPER_TRY(taper_arg_tensor(call, 1, &p));
    return bernoulli_tensor(call, x, p);
}
FILLED_PLAIN(taper_op_bernoulli_tensor, do_bernoulli_tensor)

static taper_status do_bernoulli(taper_call *call, taper_tensor *x) // x, a clone, holds the probabilities
{
    taper_tensor *p;
    TAPER_TRY(taper_arg_tensor(call, 0, &p));
    return bernoulli_tensor(call, x, p);
}
FILLED_PLAIN(taper_op_bernoulli, do_bernoulli)

// ---- by sizes

typedef enum random_kind { UNIFORM, NORMAL } random_kind;

static taper_status fill_kind(taper_call *call, random_kind kind, taper_tensor *x)
{
    return kind == UNIFORM ? fill_uniform(call, x, 0, 1) : fill_normal(call, x, 0, 1);
}

// dtype_at: 1, or 2 after a generator.
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

taper_status taper_op_rand(taper_call *call)
{
    return by_sizes(call, UNIFORM, 1);
}
taper_status taper_op_rand_generator(taper_call *call)
{
    return by_sizes(call, UNIFORM, 2);
}
taper_status taper_op_randn(taper_call *call)
{
    return by_sizes(call, NORMAL, 1);
}
taper_status taper_op_randn_generator(taper_call *call)
{
    return by_sizes(call, NORMAL, 2);
}

taper_status taper_op_rand_like(taper_call *call)
{
    taper_tensor *result;
    TAPER_TRY(taper_create_like(call, 1, &result));
    return fill_kind(call, UNIFORM, result);
}
taper_status taper_op_randn_like(taper_call *call)
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
    return fill_integers(call, result, low, high);
}

taper_status taper_op_randint(taper_call *call)
{
    return randint(call, false, false);
}
taper_status taper_op_randint_low(taper_call *call)
{
    return randint(call, true, false);
}
taper_status taper_op_randint_generator(taper_call *call)
{
    return randint(call, false, true);
}
taper_status taper_op_randint_low_generator(taper_call *call)
{
    return randint(call, true, true);
}

taper_status taper_op_randint_like(taper_call *call)
{
    int64_t high;
    taper_tensor *result;
    TAPER_TRY(taper_arg_int(call, 1, &high));
    TAPER_TRY(taper_create_like(call, 2, &result));
    return fill_integers(call, result, 0, high);
}
taper_status taper_op_randint_like_low(taper_call *call)
{
    int64_t low, high;
    taper_tensor *result;
    TAPER_TRY(taper_arg_int(call, 1, &low));
    TAPER_TRY(taper_arg_int(call, 2, &high));
    TAPER_TRY(taper_create_like(call, 3, &result));
    return fill_integers(call, result, low, high);
}

static taper_status randperm(taper_call *call, size_t dtype_at)
{
    taper_error *error = call->run->error;
    generator g;
    taper_rng *rng = open_generator(call, &g);
    int64_t n, low, high;
    taper_dtype dtype;
    taper_tensor *order;
    TAPER_TRY(taper_arg_int(call, 0, &n));
    TAPER_TRY(taper_create_options(call, dtype_at, TAPER_I64, &dtype));
    TAPER_TRY(taper_create_count(error, "n", n));
    if (!integer_limits(dtype, &low, &high) || n - 1 > high || dtype == TAPER_BOOL) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "n is too large for result tensor type: '%s'", taper_dtype_name(dtype));
    }
    TAPER_TRY(taper_create_new(call, TAPER_I64, 1, &n, &order));
    int64_t *p = taper_tensor_mutable(order);
    for (int64_t i = 0; i < n; i++) {
        p[i] = i;
    }
    for (int64_t i = 0; i < n - 1; i++) {
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
        status = taper_tensor_copy(result, order, error);
    }
    taper_tensor_drop(order);
    return status;
}

taper_status taper_op_randperm(taper_call *call)
{
    return randperm(call, 1);
}
taper_status taper_op_randperm_generator(taper_call *call)
{
    return randperm(call, 2);
}

// ---- normal with means and deviations that are tensors

// Standard numbers, scaled and moved afterwards.
static taper_status normal_of(taper_call *call, const taper_tensor *mean, double mean_number, const taper_tensor *deviation,
                              double deviation_number)
{
    taper_run *run = call->run;
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    const taper_tensor *given[2] = {mean, deviation};
    taper_promotion promotion = taper_promotion_start();
    for (size_t i = 0; i < 2; i++) {
        if (given[i] == NULL) {
            continue;
        }
        taper_promotion_tensor(&promotion, given[i]);
        if (!taper_dtype_is_float((taper_dtype)given[i]->dtype) ||
            !taper_broadcast_sizes(&rank, sizes, given[i]->rank, given[i]->sizes)) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "mean, std: floating-point tensors whose sizes broadcast are wanted");
        }
    }
    taper_tensor *result, *wide[2] = {NULL, NULL};
    TAPER_TRY(taper_tensor_new(run->heap, taper_promotion_result(&promotion), rank, sizes, NULL, &result, run->error));
    taper_status status = fill_normal(call, result, 0, 1);
    for (size_t i = 0; i < 2 && status == TAPER_OK; i++) {
        taper_tensor *expanded;
        if (given[i] != NULL) {
            status = taper_expand(run, given[i], rank, sizes, &expanded);
            if (status == TAPER_OK) {
                status = taper_tensor_contiguous(run->heap, expanded, &wide[i], run->error);
                taper_tensor_drop(expanded);
            }
        }
    }
    if (status == TAPER_OK) {
        const int64_t count = taper_tensor_numel(result);
        const taper_dtype dtype = (taper_dtype)result->dtype;
        void *data = taper_tensor_mutable(result);
        for (int64_t i = 0; i < count && status == TAPER_OK; i++) {
            const double m = wide[0] == NULL ? mean_number : taper_load_double((taper_dtype)wide[0]->dtype, taper_tensor_data(wide[0]), i);
            const double s = wide[1] == NULL ? deviation_number
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

taper_status taper_op_normal_tensor_tensor(taper_call *call)
{
    taper_tensor *mean, *deviation;
    TAPER_TRY(taper_arg_tensor(call, 0, &mean));
    TAPER_TRY(taper_arg_tensor(call, 1, &deviation));
    return normal_of(call, mean, 0, deviation, 1);
}
taper_status taper_op_normal_tensor_float(taper_call *call)
{
    taper_tensor *mean;
    double deviation;
    TAPER_TRY(taper_arg_tensor(call, 0, &mean));
    TAPER_TRY(taper_arg_double(call, 1, &deviation));
    return normal_of(call, mean, 0, NULL, deviation);
}
taper_status taper_op_normal_float_tensor(taper_call *call)
{
    taper_tensor *deviation;
    double mean;
    TAPER_TRY(taper_arg_double(call, 0, &mean));
    TAPER_TRY(taper_arg_tensor(call, 1, &deviation));
    return normal_of(call, NULL, mean, deviation, 1);
}
taper_status taper_op_normal_float_float(taper_call *call)
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
    return fill_normal(call, result, mean, deviation);
}

taper_status taper_op_manual_seed(taper_call *call)
{
    int64_t seed;
    TAPER_TRY(taper_arg_int(call, 0, &seed));
    if (call->run->rng != NULL) {
        taper_rng_seed(call->run->rng, (uint64_t)seed);
    }
    return TAPER_OK;
}
