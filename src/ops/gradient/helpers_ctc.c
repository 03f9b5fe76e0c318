// SPDX-License-Identifier: BSD-2-Clause
// The composition of the CTC loss: the forward recursion over the labels of each sequence, with blanks between them.
// The logarithm of an impossible path is a large negative number, so that no gradient is NaN.
#include <math.h>

#include "ir/tensor.h"
#include "ops/gradient/steps_math.h"

static const double impossible = -1e30;

typedef struct sequences {
    int64_t moments, batch, classes,
        width; // moments: number of time steps; width: number of states of the longest sequence
    int64_t blank;
    taper_step_value lengths,
        target_lengths; // number of time steps and number of labels of each sequence, as int64 vectors
    // Tables [batch, width]. labels: label of each state. starts, ends: 0 if a path may start or end in the state,
    // otherwise `impossible`. skips: 0 if a path may skip the state before, otherwise `impossible`.
    taper_step_value labels, starts, ends, skips;
} sequences;

static taper_step_value as_numbers(taper_steps *s, taper_step_value value)
{
    if (value->tag == TAPER_LIST) {
        const taper_list *const list = value->as.list;
        const int64_t count = (int64_t)list->count;
        int64_t *const numbers = taper_step_table(s, TAPER_I64, 1, &count, &value);
        for (size_t i = 0; numbers != NULL && i < list->count; i++) {
            numbers[i] = list->items[i].as.i;
        }
        return value;
    }
    value = TAPER_STEP(s, aten_to_dtype, value, taper_step_int(s, TAPER_I64));
    value = TAPER_STEP(s, aten_contiguous, value);
    return TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, (int64_t[]){-1}, 1));
}

static void *new_table(taper_steps *s, const sequences *q, taper_dtype dtype, taper_step_value *table)
{
    return taper_step_table(s, dtype, 2, (int64_t[]){q->batch, q->width}, table);
}

// Writes the tables of the states: state 2 k + 1 of a sequence is its label k, and the other states are blanks.
static void make_tables(taper_steps *s, sequences *q, const taper_tensor *shape, taper_step_value targets)
{
    const taper_tensor *const flat = taper_steps_tensor(s, targets), *const counts =
                                                                         taper_steps_tensor(s, q->target_lengths);
    int64_t *const labels = new_table(s, q, TAPER_I64, &q->labels);
    double *const starts = new_table(s, q, TAPER_F64, &q->starts), *const ends = new_table(s, q, TAPER_F64, &q->ends);
    double *const skips = new_table(s, q, TAPER_F64, &q->skips);
    if (s->status != TAPER_OK) {
        return;
    }
    const int64_t *const numbers = taper_tensor_data(flat), *const lengths = taper_tensor_data(counts);
    const int64_t all = taper_tensor_numel(flat);
    int64_t before = 0;
    for (int64_t n = 0; n < q->batch; n++) {
        const int64_t first = shape->rank == 2 ? taper_wrap_mul(n, shape->sizes[1]) : before, length = lengths[n];
        for (int64_t k = 0; k < q->width; k++) {
            const int64_t at = n * q->width + k, from = taper_wrap_add(first, k / 2);
            const bool used = k % 2 == 1 && k / 2 < length && from >= 0 && from < all;
            labels[at] = used ? numbers[from] : q->blank;
            starts[at] = k == 0 || (k == 1 && length > 0) ? 0 : impossible;
            ends[at] = k == 2 * length || (length > 0 && k == 2 * length - 1) ? 0 : impossible;
            skips[at] = used && k >= 2 && labels[at] != labels[at - 2] ? 0 : impossible;
        }
        before = taper_wrap_add(before, length);
    }
}

static taper_step_value shifted(taper_steps *s, taper_step_value alpha, int64_t by)
{
    const int64_t pad[2] = {by, -by};
    return TAPER_STEP(s, aten_constant_pad_nd, alpha, taper_steps_ints(s, pad, 2), taper_step_double(s, impossible));
}

// Returns for each state the logarithm of the probability of all paths to it, after one more time step.
static taper_step_value advance(taper_steps *s, const sequences *q, taper_step_value emitted, int64_t moment,
                                taper_step_value alpha)
{
    const taper_step_value now = TAPER_STEP(s, aten_select_int, emitted, TAPER_STEP_INT(0), taper_step_int(s, moment));
    const taper_step_value ways[3] = {alpha, shifted(s, alpha, 1), taper_step_add(s, shifted(s, alpha, 2), q->skips)};
    taper_step_value next = TAPER_STEP(s, aten_stack, taper_steps_list(s, ways, 3), TAPER_STEP_INT(0));
    const int64_t first = 0;
    next = TAPER_STEP(s, aten_logsumexp, next, taper_steps_ints(s, &first, 1));
    next = taper_step_add(s, next, now);
    const taper_step_value lasts = TAPER_STEP(s, aten_gt_Scalar, q->lengths, taper_step_int(s, moment));
    return taper_step_where(s, taper_step_unsqueeze(s, lasts, 1), next, alpha);
}

// Adds a summand that is always 0, but whose gradient is the gradient of the sum of all probabilities. PyTorch's
// gradient of the loss has this summand, which a log_softmax before the loss removes.
static taper_step_value with_probabilities(taper_steps *s, const sequences *q, taper_step_value logs,
                                           taper_step_value loss)
{
    taper_step_value moments = TAPER_STEP(s, aten_arange, taper_step_int(s, q->moments));
    moments =
        TAPER_STEP(s, aten_lt_Tensor, taper_step_unsqueeze(s, moments, 1), taper_step_unsqueeze(s, q->lengths, 0));
    taper_step_value sum = taper_step_sum(s, TAPER_STEP(s, aten_exp, logs), 2, false);
    sum = TAPER_STEP(s, aten_masked_fill_Scalar, sum, TAPER_STEP(s, aten_logical_not, moments), TAPER_STEP_INT(0));
    sum = taper_step_sum(s, sum, 0, false);
    return taper_step_add(s, loss, taper_step_sub(s, sum, taper_step_detach(s, sum)));
}

static taper_step_value reduced(taper_steps *s, const sequences *q, taper_step_value loss, int64_t reduction)
{
    if (reduction == 1) {
        const taper_step_value counts = TAPER_STEP(s, aten_clamp_min, q->target_lengths, TAPER_STEP_INT(1));
        loss = taper_step_div(s, loss, counts);
    }
    return taper_step_reduced(s, loss, reduction);
}

TAPER_STEPS_KERNEL(taper_op_ctc_steps)
{
    sequences q = {.batch = 1};
    const taper_tensor *const shape = s->args[1].as.tensor, *const given = s->args[0].as.tensor;
    q.blank = taper_steps_int(s, 4);
    const int64_t reduction = taper_steps_int(s, 5);
    const bool zeroes = taper_steps_bool(s, 6);
    const bool single = given->rank == 2;
    const taper_step_value logs = single ? taper_step_unsqueeze(s, &s->args[0], 1) : &s->args[0];
    const taper_tensor *const t = taper_steps_tensor(s, logs);
    const taper_step_value targets = as_numbers(s, &s->args[1]);
    q.lengths = as_numbers(s, &s->args[2]);
    q.target_lengths = as_numbers(s, &s->args[3]);
    const taper_tensor *const counts = taper_steps_tensor(s, q.target_lengths);
    if (t == NULL || counts == NULL || t->rank != 3 || taper_tensor_numel(counts) != t->sizes[1]) {
        if (s->status == TAPER_OK) {
            taper_steps_fail(s, taper_fail(s->call->run->error, TAPER_ERROR_ARGUMENT,
                                           "ctc_loss expects a target length for each sequence"));
        }
        return s->status;
    }
    q.moments = t->sizes[0];
    q.batch = t->sizes[1];
    q.classes = t->sizes[2];
    const int64_t labels = taper_tensor_numel(shape);
    for (int64_t n = 0; n < q.batch; n++) {
        const int64_t length = ((const int64_t *)taper_tensor_data(counts))[n];
        if (length < 0 || length > labels) {
            taper_steps_fail(s, taper_fail(s->call->run->error, TAPER_ERROR_ARGUMENT,
                                           "ctc_loss expects target lengths from 0 to the number of targets, and "
                                           "sequence %lld has %lld",
                                           (long long)n, (long long)length));
            return s->status;
        }
        q.width = taper_max_i64(q.width, 2 * length + 1);
    }
    make_tables(s, &q, shape, targets);
    const taper_step_value dtype = taper_step_int(s, given->dtype);
    q.starts = TAPER_STEP(s, aten_to_dtype, q.starts, dtype);
    q.ends = TAPER_STEP(s, aten_to_dtype, q.ends, dtype);
    q.skips = TAPER_STEP(s, aten_to_dtype, q.skips, dtype);
    const int64_t wide[3] = {q.moments, q.batch, q.width};
    const taper_step_value index =
        TAPER_STEP(s, aten_expand, taper_step_unsqueeze(s, q.labels, 0), taper_steps_ints(s, wide, 3));
    const taper_step_value emitted = TAPER_STEP(s, aten_gather, logs, TAPER_STEP_INT(2), index);
    const size_t before = s->count;
    taper_step_value alpha =
        taper_step_add(s, TAPER_STEP(s, aten_select_int, emitted, TAPER_STEP_INT(0), TAPER_STEP_INT(0)), q.starts);
    for (int64_t moment = 1; moment < q.moments && s->status == TAPER_OK; moment++) {
        alpha = advance(s, &q, emitted, moment, alpha);
        taper_steps_carry(s, before, &alpha, 1);
    }
    const int64_t last = 1;
    taper_step_value loss = taper_step_neg(
        s, TAPER_STEP(s, aten_logsumexp, taper_step_add(s, alpha, q.ends), taper_steps_ints(s, &last, 1)));
    loss = with_probabilities(s, &q, logs, loss);
    const taper_step_value none = TAPER_STEP(s, aten_gt_Scalar, loss, taper_step_double(s, -impossible / 10));
    loss = TAPER_STEP(s, aten_masked_fill_Scalar, loss, none, taper_step_double(s, zeroes ? 0 : INFINITY));
    loss = reduced(s, &q, loss, reduction);
    loss = single && reduction == 0 ? TAPER_STEP(s, aten_squeeze_dim, loss, TAPER_STEP_INT(0)) : loss;
    return taper_steps_ret(s, 0, loss);
}

TAPER_STEPS_KERNEL(taper_op_ctc_list_steps)
{
    return run_taper_op_ctc_steps(s);
}
