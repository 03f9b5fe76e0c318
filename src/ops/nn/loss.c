// SPDX-License-Identifier: BSD-2-Clause
// Losses that compare broadcast tensors element by element.
#include "ops/nn/loss.h"

#include <math.h>

#include "ir/walk.h"
#include "ops/call/promote.h"
#include "ops/kernels/kernel_select.h"
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/reduce_kernels.h"

const taper_loss taper_loss_mse = {TAPER_LOSS_MSE}, taper_loss_smooth_l1 = {TAPER_LOSS_SMOOTH_L1},
                 taper_loss_huber = {TAPER_LOSS_HUBER}, taper_loss_bce = {TAPER_LOSS_BCE},
                 taper_loss_bce_logits = {TAPER_LOSS_BCE_LOGITS}, taper_loss_kl_div = {TAPER_LOSS_KL_DIV},
                 taper_loss_soft_margin = {TAPER_LOSS_SOFT_MARGIN}, taper_loss_hinge = {TAPER_LOSS_HINGE},
                 taper_loss_poisson = {TAPER_LOSS_POISSON};

enum { INPUTS = 4 };

typedef struct loss_work {
    taper_loss_kind kind;
    taper_tensor *inputs[INPUTS]; // inputs of the loss; NULL for a missing input
    size_t input_count;
    double number; // beta, delta, margin or eps
    bool flags[2]; // log_target of KL_DIV; or log_input and full of POISSON
    int64_t reduction;
    // The broadcast shape, and the inputs' strides along it in elements.
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
    int64_t strides[INPUTS][TAPER_MAX_RANK];
} loss_work;

taper_status taper_loss_reduction(const taper_call *call, size_t at, int64_t *reduction)
{
    TAPER_TRY(taper_arg_int(call, at, reduction));
    if (*reduction < TAPER_REDUCE_NONE || *reduction > TAPER_REDUCE_SUM) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "there is no reduction %lld", (long long)*reduction);
    }
    return TAPER_OK;
}

taper_status taper_loss_scalar(taper_call *call, size_t at, taper_dtype dtype, double value)
{
    taper_tensor *y;
    const taper_tensor *target = taper_ret_target(call, at);
    if (target != NULL && target->dtype != dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the out tensor must have the dtype of the result");
    }
    TAPER_TRY(taper_ret_new(call, at, dtype, 0, NULL, NULL, &y));
    taper_number_store(dtype, taper_tensor_mutable(y), 0, value);
    return TAPER_OK;
}

static taper_status broadcast(const taper_call *call, loss_work *work)
{
    for (size_t i = 0; i < work->input_count; i++) {
        const taper_tensor *t = work->inputs[i];
        work->rank = t != NULL && t->rank > work->rank ? t->rank : work->rank;
    }
    for (size_t d = 0; d < work->rank; d++) {
        int64_t size = 1;
        for (size_t i = 0; i < work->input_count; i++) {
            const taper_tensor *t = work->inputs[i];
            if (t == NULL || d + t->rank < work->rank) {
                continue;
            }
            const int64_t own = t->sizes[d + t->rank - work->rank];
            if (own != 1 && size != 1 && own != size) {
                TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "sizes %lld and %lld cannot be broadcast",
                           (long long)size, (long long)own);
            }
            size = own != 1 ? own : size;
        }
        work->sizes[d] = size;
        for (size_t i = 0; i < work->input_count; i++) {
            const taper_tensor *t = work->inputs[i];
            const bool absent = t == NULL || d + t->rank < work->rank;
            work->strides[i][d] =
                absent || t->sizes[d + t->rank - work->rank] == 1 ? 0 : t->strides[d + t->rank - work->rank];
        }
    }
    return TAPER_OK;
}

static double times_log(double factor, double x)
{
    return factor == 0.0 && x == x ? 0.0 : factor * log(x);
}

static double at_least(double x, double low)
{
    return x < low ? low : x;
}

// Returns the loss of one element of each input; a missing tensor counts as 1.
static double loss_of(const loss_work *work, const double in[INPUTS])
{
    const double x = in[0], t = in[1], n = work->number;
    switch (work->kind) {
    case TAPER_LOSS_MSE:
        return (x - t) * (x - t);
    case TAPER_LOSS_SMOOTH_L1: {
        const double z = fabs(x - t);
        return z < n ? 0.5 * z * z / n : z - 0.5 * n;
    }
    case TAPER_LOSS_HUBER: {
        const double z = fabs(x - t);
        return z <= n ? 0.5 * z * z : n * (z - 0.5 * n);
    }
    case TAPER_LOSS_BCE:
        return ((t - 1.0) * at_least(log1p(-x), -100.0) - t * at_least(log(x), -100.0)) * in[2];
    case TAPER_LOSS_BCE_LOGITS: {
        const double greatest = at_least(-x, 0.0);
        const double positive = (in[3] - 1.0) * t + 1.0;
        const double rest = log(exp(-greatest) + exp(-x - greatest)) + greatest;
        return ((1.0 - t) * x + positive * rest) * in[2];
    }
    case TAPER_LOSS_KL_DIV:
        return work->flags[0] ? exp(t) * (t - x) : times_log(t, t) - t * x;
    case TAPER_LOSS_SOFT_MARGIN:
        return log1p(exp(-x * t));
    case TAPER_LOSS_HINGE:
        return (t != 1.0 ? at_least(n - x, 0.0) : 0.0) + (t != -1.0 ? x : 0.0);
    case TAPER_LOSS_POISSON: {
        const double loss = work->flags[0] ? exp(x) - t * x : x - t * log(x + n);
        const double stirling = t * log(t) - t + 0.5 * log(2.0 * 3.14159265358979323846 * t);
        return work->flags[1] && t > 1.0 ? loss + stirling : loss;
    }
    }
    return 0.0;
}

static taper_status check_values(const taper_call *call, const loss_work *work)
{
    if (work->kind == TAPER_LOSS_SMOOTH_L1 && work->number < 0.0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "beta must not be negative");
    }
    if (work->kind == TAPER_LOSS_HUBER && !(work->number > 0.0)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "delta must be positive");
    }
    return TAPER_OK;
}

enum { PIECE = 1 << 12, WORK_OF_AN_ELEMENT = 50 };

// Computes the losses over the broadcast shape. If y is NULL, only adds the losses to *sum.
static taper_status run_loss(const taper_call *call, const loss_work *work, taper_tensor *y, double *sum)
{
    int64_t count = 1;
    taper_walk walk; // walk over the elements of the result and of the inputs
    const void *data[INPUTS];
    for (size_t d = 0; d < work->rank; d++) {
        if (work->sizes[d] == 0) {
            return TAPER_OK;
        }
        if (!taper_mul_i64(count, work->sizes[d], &count)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_RESOURCE, "the broadcast tensors are too large");
        }
    }
    for (size_t i = 0; i < work->input_count; i++) {
        data[i] = work->inputs[i] != NULL ? taper_tensor_data(work->inputs[i]) : NULL;
    }
    taper_walk_begin(&walk, 1 + work->input_count);
    for (size_t d = work->rank; d-- > 0;) {
        int64_t *const steps = taper_walk_add(&walk, work->sizes[d]);
        steps[0] = y != NULL ? y->strides[d] : 0;
        for (size_t i = 0; i < work->input_count; i++) {
            steps[1 + i] = work->strides[i][d];
        }
    }
    for (int64_t left = count; left > 0; left--) {
        if (left % PIECE == 0) {
            TAPER_TRY(taper_run_spend(call->run, PIECE * WORK_OF_AN_ELEMENT));
        }
        double in[INPUTS] = {1.0, 1.0, 1.0, 1.0};
        for (size_t i = 0; i < work->input_count; i++) {
            if (work->inputs[i] != NULL) {
                in[i] = taper_number_load((taper_dtype)work->inputs[i]->dtype, data[i], walk.at[1 + i]);
            }
        }
        if (work->kind == TAPER_LOSS_BCE && !(in[0] >= 0.0 && in[0] <= 1.0)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "all elements of input should be between 0 and 1");
        }
        const double loss = loss_of(work, in);
        if (y != NULL) {
            taper_number_store((taper_dtype)y->dtype, taper_tensor_mutable(y), walk.at[0], loss);
        }
        *sum += loss;
        (void)taper_walk_next(&walk);
    }
    if (work->reduction == TAPER_REDUCE_MEAN) {
        *sum /= (double)count;
    }
    return TAPER_OK;
}

static taper_status read_args(const taper_call *call, loss_work *work)
{
    size_t at = 2;
    TAPER_TRY(taper_arg_tensor(call, 0, &work->inputs[0]));
    TAPER_TRY(taper_arg_tensor(call, 1, &work->inputs[1]));
    work->input_count = 2;
    switch (work->kind) {
    case TAPER_LOSS_BCE: // the arguments are weight, reduction
        TAPER_TRY(taper_arg_tensor_or_none(call, 2, &work->inputs[2]));
        work->input_count = 3;
        at = 3;
        break;
    case TAPER_LOSS_BCE_LOGITS: // the arguments are weight, pos_weight, reduction
        TAPER_TRY(taper_arg_tensor_or_none(call, 2, &work->inputs[2]));
        TAPER_TRY(taper_arg_tensor_or_none(call, 3, &work->inputs[3]));
        work->input_count = 4;
        at = 4;
        break;
    case TAPER_LOSS_SMOOTH_L1: // the arguments are reduction, beta
    case TAPER_LOSS_HUBER:     // the arguments are reduction, delta
        TAPER_TRY(taper_arg_double(call, 3, &work->number));
        break;
    case TAPER_LOSS_KL_DIV: // the arguments are reduction, log_target
        TAPER_TRY(taper_arg_bool(call, 3, &work->flags[0]));
        break;
    case TAPER_LOSS_HINGE: // the arguments are margin, reduction
        TAPER_TRY(taper_arg_double(call, 2, &work->number));
        at = 3;
        break;
    case TAPER_LOSS_POISSON: // the arguments are log_input, full, eps, reduction
        TAPER_TRY(taper_arg_bool(call, 2, &work->flags[0]));
        TAPER_TRY(taper_arg_bool(call, 3, &work->flags[1]));
        TAPER_TRY(taper_arg_double(call, 4, &work->number));
        at = 5;
        break;
    case TAPER_LOSS_MSE:
    case TAPER_LOSS_SOFT_MARGIN:
        break;
    }
    return taper_loss_reduction(call, at, &work->reduction);
}

// ---- losses of floats by the elementwise engine

static void loss_loop(size_t n, void *out, const void *const *in, taper_ew_args *args)
{
    const loss_work work = {.kind = (taper_loss_kind)args->i[2], .number = args->f[0], .flags = {args->i[3] != 0}};
    const float *x = in[0], *target = in[1], *weight = in[2];
    float *y = out;
    for (size_t i = 0; i < n; i++) {
        const double at[INPUTS] = {(double)x[i], (double)target[i], (double)weight[i], 1.0};
        y[i] = (float)loss_of(&work, at);
    }
}

#include "ops/nn/loss_kernels.h"

// Fails unless each element is in [0, 1].
static taper_status check_probabilities(const taper_call *call, taper_tensor *x)
{
    taper_tensor *dense = NULL;
    TAPER_TRY(taper_run_contiguous(call->run, x, &dense));
    const taper_vector_entry *v = taper_vector_f32_select(call->run->cpu);
    const float *p = taper_tensor_data(dense);
    const size_t count = (size_t)taper_tensor_numel(dense);
    bool good = true;
    for (size_t at = 0; at < count && good && taper_run_goes_on(call->run, PIECE); at += PIECE) {
        const size_t n = taper_min_size(PIECE, count - at);
        good = v->fold[TAPER_REDUCTION_LEAST](n, p + at) >= 0 && v->fold[TAPER_REDUCTION_MOST](n, p + at) <= 1;
    }
    taper_tensor_drop(dense);
    return good ? TAPER_OK
                : taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "all elements of input should be between 0 and 1");
}

static taper_status run_floats(taper_call *call, const loss_work *work, uint8_t native, taper_tensor *y)
{
    taper_ew_op op = {.loops = {loss_loop}, .native = native};
    taper_ew ew = taper_ew_make(&op);
    taper_ew_input_tensor(&ew, work->inputs[0]);
    taper_ew_input_tensor(&ew, work->inputs[1]);
    if (work->inputs[2] != NULL) {
        taper_ew_input_tensor(&ew, work->inputs[2]);
    } else {
        taper_ew_input_scalar(&ew, taper_scalar_double(1));
    }
    ew.args.f[0] = work->number;
    ew.args.i[2] = work->kind;
    ew.args.i[3] = work->flags[0];
    if (y != NULL) {
        return taper_ew_into(call, &ew, y);
    }
    taper_compose c;
    taper_tensor *losses = NULL;
    taper_compose_begin(&c, call->run);
    taper_compose_fail(&c, taper_ew_compute(call, &ew, &losses));
    losses = taper_compose_keep(&c, losses);
    return taper_compose_ret(&c, call, 0,
                             TAPER_COMPOSE(&c, work->reduction == TAPER_REDUCE_MEAN ? taper_op_mean : taper_op_sum,
                                           &taper_reduce_all_dtype, taper_compose_arg(losses), taper_val_none()));
}

// Computes the loss of logits for a target and a weight of 1, which is log(1 + exp(-x)).
static taper_tensor *softplus_of(taper_compose *c, taper_call *call, const loss_work *work, uint8_t native)
{
    taper_ew_op op = {.loops = {loss_loop}, .native = native};
    taper_ew ew = taper_ew_make(&op);
    taper_tensor *result = NULL;
    taper_ew_input_tensor(&ew, work->inputs[0]);
    taper_ew_input_scalar(&ew, taper_scalar_double(1));
    taper_ew_input_scalar(&ew, taper_scalar_double(1));
    ew.args.i[2] = work->kind;
    taper_compose_fail(c, taper_ew_compute(call, &ew, &result));
    return taper_compose_keep(c, result);
}

// Computes binary_cross_entropy_with_logits of floats with pos_weight, reduced: the loss without pos_weight, plus
// (pos_weight - 1) * target * log(1 + exp(-x)) for each logit x.
static taper_status run_positive(taper_call *call, loss_work *work, uint8_t native)
{
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *const weight = work->inputs[2], *const target = work->inputs[1];
    taper_tensor *more = TAPER_COMPOSE(&c, taper_op_sum2, &taper_ew_add, TAPER_VAL(work->inputs[3]),
                                       taper_val_double(-1), taper_val_int(1));
    more = taper_compose_mul(&c, taper_compose_mul(&c, more, target), softplus_of(&c, call, work, native));
    more = weight != NULL ? taper_compose_mul(&c, more, weight) : more;
    taper_tensor *const plain = TAPER_COMPOSE(&c, taper_op_loss, &taper_loss_bce_logits, TAPER_VAL(work->inputs[0]),
                                              TAPER_VAL(target), weight != NULL ? TAPER_VAL(weight) : taper_val_none(),
                                              taper_val_none(), taper_val_int(TAPER_REDUCE_NONE));
    return taper_compose_ret(&c, call, 0,
                             TAPER_COMPOSE(&c, work->reduction == TAPER_REDUCE_MEAN ? taper_op_mean : taper_op_sum,
                                           &taper_reduce_all_dtype,
                                           taper_compose_arg(taper_compose_add(&c, plain, more)), taper_val_none()));
}

TAPER_KERNEL(taper_op_loss)
{
    loss_work work;
    memset(&work, 0, sizeof work);
    work.kind = ((const taper_loss *)call->param)->kind;
    TAPER_TRY(read_args(call, &work));
    TAPER_TRY(check_values(call, &work));
    taper_promotion promotion = taper_promotion_start();
    for (size_t i = 0; i < work.input_count; i++) {
        if (work.inputs[i] != NULL) {
            const taper_dtype dtype = (taper_dtype)work.inputs[i]->dtype;
            if (taper_dtype_is_complex(dtype) || taper_dtype_is_quantized(dtype)) {
                TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                           "losses of complex or quantized tensors are not supported");
            }
            taper_promotion_tensor(&promotion, work.inputs[i]);
        }
    }
    const taper_dtype dtype = taper_dtype_to_float(taper_promotion_result(&promotion));
    uint8_t native;
    loss_work plain = work;
    plain.inputs[3] = NULL;
    const bool positive = work.inputs[3] != NULL && work.inputs[3]->dtype == TAPER_F32 &&
                          work.reduction != TAPER_REDUCE_NONE && has_kernel(call, &plain, &native);
    TAPER_TRY(broadcast(call, &work));
    if (positive) {
        return run_positive(call, &work, native);
    }
    const bool fast = has_kernel(call, &work, &native);
    if (fast && work.kind == TAPER_LOSS_BCE) {
        TAPER_TRY(check_probabilities(call, work.inputs[0]));
    }
    if (fast && work.reduction != TAPER_REDUCE_NONE) {
        return run_floats(call, &work, native, NULL);
    }
    TAPER_TRY(taper_out_check(call, 0, work.inputs[0], dtype));
    double sum = 0.0;
    if (work.reduction != TAPER_REDUCE_NONE) {
        if (work.reduction == TAPER_REDUCE_MEAN) {
            for (size_t d = 0; d < work.rank; d++) {
                sum = work.sizes[d] == 0 ? (double)NAN : sum; // the mean of no elements is NaN
            }
        }
        TAPER_TRY(run_loss(call, &work, NULL, &sum));
        return taper_loss_scalar(call, 0, dtype, sum);
    }
    taper_tensor *y;
    int64_t strides[TAPER_MAX_RANK];
    const taper_tensor *x = work.inputs[0];
    const bool like = x->rank == work.rank && memcmp(x->sizes, work.sizes, work.rank * sizeof *work.sizes) == 0;
    if (like) {
        taper_strides_like(x, work.sizes, strides);
    }
    TAPER_TRY(taper_ret_new(call, 0, dtype, work.rank, work.sizes, like ? strides : NULL, &y));
    return fast ? run_floats(call, &work, native, y) : run_loss(call, &work, y, &sum);
}
