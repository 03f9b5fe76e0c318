// SPDX-License-Identifier: BSD-2-Clause
// Fills tensors with random numbers: uniform_, normal_, random_, bernoulli, exponential_, …. Numbers are drawn in
// PyTorch's order, in which elements are in the order of memory.
#include <math.h>

#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/engine/view_shape.h"
#include "ops/tensor/create_random.h"

static const double PI = 3.14159265358979323846;

// The state of drawing the elements of a tensor.
typedef struct draw {
    taper_rng *rng;
    taper_dtype dtype; // dtype of the result
    double a, b;
    uint64_t span;
    int64_t base;
    taper_scalar (*next)(struct draw *draw);
    double parameter; // element of the parameter tensor, for operators that have one
} draw;

// Sorts dimensions by increasing stride, the order in which PyTorch iterates.
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

// Draws every element of x. parameter is a tensor with the sizes of x (expanded), or NULL.
static taper_status draw_all(taper_call *call, taper_tensor *x, draw *d, const taper_tensor *parameter)
{
    size_t item;
    TAPER_TRY(taper_move_item(x, &item, call->run->error));
    TAPER_TRY(taper_ret_check_overlap(call, x));
    const int64_t count = taper_tensor_numel(x);
    unsigned order[TAPER_MAX_RANK] = {0};
    smallest_first(x, order);
    int64_t steps[TAPER_MAX_RANK], sources[TAPER_MAX_RANK] = {0};
    taper_tensor_steps(x, item, steps);
    if (parameter != NULL) {
        taper_tensor_steps(parameter, 1, sources);
    }
    taper_walk walk;
    taper_walk_begin(&walk, 2);
    for (unsigned k = 0; k < x->rank; k++) {
        int64_t *const to = taper_walk_add(&walk, x->sizes[order[k]]);
        to[0] = steps[order[k]];
        to[1] = sources[order[k]];
    }
    char *const p = taper_tensor_mutable(x);
    for (int64_t i = 0; i < count && taper_run_step(call->run, i, 50); i++) {
        if (parameter != NULL) {
            d->parameter = taper_load_double((taper_dtype)parameter->dtype, taper_tensor_data(parameter), walk.at[1]);
        }
        const taper_scalar value = d->next(d);
        taper_scalar_store((taper_dtype)x->dtype, p + walk.at[0], &value);
        (void)taper_walk_next(&walk);
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

// Views a complex tensor as real numbers while a call runs.
static taper_status parts_of(taper_call *call, const char *name, const taper_tensor *x, taper_tensor *parts)
{
    *parts = taper_tensor_local(x);
    if (!taper_tensor_is_contiguous(x) || x->rank == TAPER_MAX_RANK || x->dtype == TAPER_C32) {
        return taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED, "%s: this complex tensor is not supported", name);
    }
    parts->dtype = x->dtype == TAPER_C64 ? TAPER_F32 : TAPER_F64;
    parts->offset *= 2;
    parts->sizes[parts->rank++] = 2;
    taper_strides_contiguous(parts->rank, parts->sizes, parts->strides);
    return TAPER_OK;
}

// ---- uniform

static taper_scalar next_uniform(draw *d)
{
    const double span = d->b - d->a;
    double value;
    switch (d->dtype) {
    case TAPER_F64:
        value = taper_rng_uniform_f64(d->rng) * span + d->a;
        break;
    case TAPER_F16:
        value = (double)((float)(taper_rng_u32(d->rng) & 0x7ffu) * (1.0f / 2048.0f) * (float)span + (float)d->a);
        break;
    case TAPER_BF16:
        value = (double)((float)(taper_rng_u32(d->rng) & 0xffu) * (1.0f / 256.0f) * (float)span + (float)d->a);
        break;
    default:
        value = (double)(taper_rng_uniform_f32(d->rng) * ((float)d->b - (float)d->a) + (float)d->a);
        break;
    }
    return taper_scalar_double(value);
}

taper_status taper_fill_uniform(taper_call *call, taper_tensor *x, double from, double to)
{
    if (taper_dtype_is_complex((taper_dtype)x->dtype)) {
        taper_tensor parts;
        TAPER_TRY(parts_of(call, "uniform_", x, &parts));
        return taper_fill_uniform(call, &parts, from, to);
    }
    taper_fresh_rng g;
    TAPER_TRY(need_float(call, "check_uniform_bounds", x));
    if (!(from <= to)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "uniform_ expects to return a [from, to) range, but found from=%g > to=%g", from, to);
    }
    draw d = {.rng = taper_rng_of(call, &g), .dtype = (taper_dtype)x->dtype, .a = from, .b = to, .next = next_uniform};
    return draw_all(call, x, &d, NULL);
}

// ---- normal

enum { PIECE = 1 << 14 }; // number of numbers that are drawn between two checks of the run's time

static taper_scalar next_normal(draw *d)
{
    return taper_scalar_double(taper_rng_normal(d->rng) * d->b + d->a);
}

taper_status taper_fill_normal(taper_call *call, taper_tensor *x, double mean, double deviation)
{
    taper_fresh_rng g;
    taper_rng *rng = taper_rng_of(call, &g);
    // Draws the real and the imaginary part, each with half the variance.
    if (taper_dtype_is_complex((taper_dtype)x->dtype)) {
        taper_tensor parts;
        TAPER_TRY(parts_of(call, "normal_", x, &parts));
        return taper_fill_normal(call, &parts, mean, deviation / sqrt(2.0));
    }
    TAPER_TRY(need_float(call, "normal_kernel_cpu", x));
    if (!(deviation >= 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "normal expects std >= 0.0, but found std %g",
                          deviation);
    }
    const int64_t count = taper_tensor_numel(x);
    if (count >= 16 && taper_tensor_is_contiguous(x)) {
        if (x->dtype == TAPER_F32 || x->dtype == TAPER_F64) {
            // Pieces are whole blocks of 16 numbers, except the last piece.
            for (int64_t at = 0, piece; at < count; at += piece) {
                piece = count - at < 2 * PIECE ? count - at : PIECE;
                TAPER_TRY(taper_run_spend(call->run, (uint64_t)piece * 40));
                if (x->dtype == TAPER_F32) {
                    taper_rng_fill_normal_f32(rng, (float *)taper_tensor_mutable(x) + at, piece, (float)mean,
                                              (float)deviation);
                } else {
                    taper_rng_fill_normal_f64(rng, (double *)taper_tensor_mutable(x) + at, piece, mean, deviation);
                }
            }
            return TAPER_OK;
        }
    }
    draw d = {.rng = rng, .dtype = (taper_dtype)x->dtype, .a = mean, .b = deviation, .next = next_normal};
    return draw_all(call, x, &d, NULL);
}

// ---- random integers

static taper_scalar next_integer(draw *d)
{
    const uint64_t bits = d->span == 0 || d->span >= UINT64_C(1) << 32 ? taper_rng_u64(d->rng) : taper_rng_u32(d->rng);
    const uint64_t value = (d->span == 0 ? bits : bits % d->span) + (uint64_t)d->base; // a span of 0 means 2^64
    return taper_scalar_int((int64_t)value);
}

static taper_scalar next_any(draw *d) // random_() draws every integer that the dtype represents exactly
{
    uint64_t value;
    switch (d->dtype) {
    case TAPER_BOOL:
        value = taper_rng_u32(d->rng) & 1u;
        break;
    case TAPER_I64:
        value = taper_rng_u64(d->rng) % (UINT64_C(1) << 63);
        break;
    case TAPER_F64:
        value = taper_rng_u64(d->rng) % ((UINT64_C(1) << 53) + 1);
        break;
    case TAPER_F32:
        value = taper_rng_u32(d->rng) % ((UINT64_C(1) << 24) + 1);
        break;
    case TAPER_F16:
        value = taper_rng_u32(d->rng) % ((UINT64_C(1) << 11) + 1);
        break;
    case TAPER_BF16:
        value = taper_rng_u32(d->rng) % ((UINT64_C(1) << 8) + 1);
        break;
    case TAPER_I32:
        value = taper_rng_u32(d->rng) % (UINT64_C(1) << 31);
        break;
    case TAPER_I16:
        value = taper_rng_u32(d->rng) % (UINT64_C(1) << 15);
        break;
    case TAPER_I8:
        value = taper_rng_u32(d->rng) % (UINT64_C(1) << 7);
        break;
    default:
        value = taper_rng_u32(d->rng) % (UINT64_C(1) << 8);
        break;
    }
    return taper_scalar_int((int64_t)value);
}

bool taper_integer_limits(taper_dtype dtype, int64_t *low, int64_t *high)
{
    switch (dtype) {
    case TAPER_U8:
        *low = 0;
        *high = UINT8_MAX;
        return true;
    case TAPER_I8:
        *low = INT8_MIN;
        *high = INT8_MAX;
        return true;
    case TAPER_I16:
        *low = INT16_MIN;
        *high = INT16_MAX;
        return true;
    case TAPER_I32:
        *low = INT32_MIN;
        *high = INT32_MAX;
        return true;
    case TAPER_I64:
        *low = INT64_MIN;
        *high = INT64_MAX;
        return true;
    case TAPER_BOOL:
        *low = 0;
        *high = 1;
        return true;
    case TAPER_F16:
        *low = -65504;
        *high = 65504;
        return true;
    case TAPER_F32:
    case TAPER_F64:
    case TAPER_BF16:
        *low = INT64_MIN;
        *high = INT64_MAX;
        return true;
    default:
        return false;
    }
}

taper_status taper_fill_integers(taper_call *call, taper_tensor *x, int64_t from, int64_t to)
{
    taper_error *error = call->run->error;
    taper_fresh_rng g;
    int64_t low, high;
    if (from >= to) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld", (long long)from,
                          (long long)to);
    }
    if (!taper_integer_limits((taper_dtype)x->dtype, &low, &high)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "random_: not implemented for %s",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    if (from < low || from > high || to - 1 < low || to - 1 > high) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "%s is out of bounds for %s",
                          from < low || from > high ? "from" : "to - 1", taper_dtype_name((taper_dtype)x->dtype));
    }
    draw d = {.rng = taper_rng_of(call, &g),
              .dtype = (taper_dtype)x->dtype,
              .span = (uint64_t)to - (uint64_t)from,
              .base = from,
              .next = next_integer};
    return draw_all(call, x, &d, NULL);
}

static taper_status fill_from(taper_call *call, taper_tensor *x, int64_t from)
{
    taper_error *error = call->run->error;
    taper_fresh_rng g;
    int64_t low, high;
    if (!taper_integer_limits((taper_dtype)x->dtype, &low, &high) || from < low || from > high) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "from is out of bounds for %s",
                          taper_dtype_name((taper_dtype)x->dtype));
    }
    high = x->dtype == TAPER_F32    ? INT64_C(1) << 24
           : x->dtype == TAPER_F64  ? INT64_C(1) << 53
           : x->dtype == TAPER_F16  ? INT64_C(1) << 11
           : x->dtype == TAPER_BF16 ? INT64_C(1) << 8
                                    : high;
    if (from > high) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT,
                          "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc'");
    }
    draw d = {.rng = taper_rng_of(call, &g),
              .dtype = (taper_dtype)x->dtype,
              .span = (uint64_t)high - (uint64_t)from + 1, // a span of 0 means all of int64
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
    taper_fresh_rng g;
    draw d = {.rng = taper_rng_of(call, &g), .dtype = (taper_dtype)x->dtype, .a = a, .b = b, .next = next};
    return draw_all(call, x, &d, NULL);
}

// ---- the operators: fill argument 0, in place or in a clone

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

#define FILLED(name, fill)                                                                                             \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return in_place(call, TAPER_FORMAT_PRESERVE, fill);                                                            \
    }
#define FILLED_PLAIN(name, fill)                                                                                       \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return in_place(call, TAPER_FORMAT_CONTIGUOUS, fill);                                                          \
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
    return taper_fill_uniform(call, x, a, b);
}
FILLED(taper_op_uniform, do_uniform)

static taper_status do_normal(taper_call *call, taper_tensor *x)
{
    double a, b;
    TAPER_TRY(two_doubles(call, &a, &b));
    return taper_fill_normal(call, x, a, b);
}
FILLED(taper_op_normal, do_normal)

static taper_status do_random(taper_call *call, taper_tensor *x)
{
    int64_t low, high;
    if (!taper_integer_limits((taper_dtype)x->dtype, &low, &high)) {
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
    return taper_fill_integers(call, x, 0, to);
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
    return taper_fill_integers(call, x, from, to);
}
FILLED(taper_op_random_from, do_random_from)

static taper_status do_exponential(taper_call *call, taper_tensor *x)
{
    double rate;
    TAPER_TRY(taper_arg_double(call, 1, &rate));
    TAPER_TRY(need_float(call, "exponential_cpu", x));
    if (!(rate > 0)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT,
                          "exponential_ expects lambda > 0.0, but found lambda=%g", rate);
    }
    return fill_with(call, x, next_exponential, rate, 0);
}
FILLED(taper_op_exponential, do_exponential)

static taper_status do_geometric(taper_call *call, taper_tensor *x)
{
    double p;
    TAPER_TRY(taper_arg_double(call, 1, &p));
    if (!(p > 0 && p < 1) || taper_dtype_is_complex((taper_dtype)x->dtype) || x->dtype == TAPER_BOOL) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "geometric_ expects p to be in (0, 1), but got p=%g",
                          p);
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

taper_status taper_fill_bernoulli(taper_call *call, taper_tensor *x, double p)
{
    if (!(p >= 0 && p <= 1)) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "bernoulli_ expects p to be in [0, 1], but got p=%g",
                          p);
    }
    return fill_with(call, x, next_bernoulli, p, 0);
}

static taper_status bernoulli_tensor(taper_call *call, taper_tensor *x, const taper_tensor *p)
{
    taper_error *error = call->run->error;
    taper_fresh_rng g;
    taper_tensor *wide;
    if (!taper_dtype_is_float((taper_dtype)p->dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "p: expected a floating-point tensor");
    }
    TAPER_TRY(taper_expand(call->run, p, x->rank, x->sizes, &wide));
    draw d = {.rng = taper_rng_of(call, &g),
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
    return taper_fill_bernoulli(call, x, p);
}
FILLED_PLAIN(taper_op_bernoulli_p, do_bernoulli_p)

static taper_status do_bernoulli_tensor(taper_call *call, taper_tensor *x)
{
    taper_tensor *p;
    TAPER_TRY(taper_arg_tensor(call, 1, &p));
    return bernoulli_tensor(call, x, p);
}
FILLED_PLAIN(taper_op_bernoulli_tensor, do_bernoulli_tensor)

static taper_status do_bernoulli(taper_call *call, taper_tensor *x) // x is a clone that contains the probabilities
{
    taper_tensor *p;
    TAPER_TRY(taper_arg_tensor(call, 0, &p));
    return bernoulli_tensor(call, x, p);
}
FILLED_PLAIN(taper_op_bernoulli, do_bernoulli)
