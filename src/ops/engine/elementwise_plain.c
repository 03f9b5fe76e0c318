// SPDX-License-Identifier: BSD-2-Clause
// The fast path of the elementwise engine: up to a few thousand floats, with all tensors of one shape and either
// contiguous or hidden NHWC. Most calls between layers are of this kind, and for them deciding takes longer than
// computing. For such calls the decisions of elementwise_run.c are known in advance.
#include "ops/call/prepared.h"
#include "ops/engine/elementwise_vector.h"

enum { MOST_ELEMENTS = 1 << 14, WORK_OF_AN_ELEMENT = 16 };

static bool is_like(const taper_tensor *x, const taper_tensor *first)
{
    return x == first || (x->dtype == TAPER_F32 && x->hidden_nhwc == first->hidden_nhwc && x->rank == first->rank &&
                          memcmp(x->sizes, first->sizes, first->rank * sizeof *x->sizes) == 0 &&
                          (x->hidden_nhwc || taper_tensor_is_contiguous(x)));
}

// Returns true if all inputs have one layout, and an in-place target shares no storage with another input.
static bool all_alike(const taper_ew *ew, const taper_tensor *target)
{
    const taper_tensor *first = ew->inputs[0].tensor;
    if (first == NULL || first->rank == 0 || first->dtype != TAPER_F32 ||
        (first->hidden_nhwc ? target != NULL : !taper_tensor_is_contiguous(first)) ||
        (target != NULL && target != first)) {
        return false;
    }
    for (size_t k = 1; k < ew->count; k++) {
        const taper_tensor *x = ew->inputs[k].tensor;
        if (x == NULL || !is_like(x, first) || (target != NULL && x != target && x->storage == target->storage)) {
            return false;
        }
    }
    return true;
}

// The decisions about a call, for this call and later calls with equal arguments.
typedef struct plain {
    const taper_ew_op *op;
    taper_ew_args args;
    taper_ew_vector_plan plan;
    bool planned; // true if the plan is used; otherwise the operator's own loop runs
    size_t count;
    uint8_t at[TAPER_EW_INPUTS]; // position of each input among the arguments
    int64_t n;
} plain;

static taper_ew_walk walk_over(const plain *p)
{
    static const int64_t item = sizeof(float);
    taper_ew_walk walk = {.rank = 1, .sides = p->count + 1, .sizes = &p->n};
    for (size_t k = 0; k <= p->count; k++) {
        walk.steps[k] = &item;
    }
    return walk;
}

static taper_status run(taper_call *call, plain *p, taper_tensor *const *inputs, taper_tensor *to)
{
    taper_ew_walk walk = walk_over(p);
    const void *in[TAPER_EW_INPUTS] = {NULL};
    walk.data[0] = taper_tensor_mutable(to);
    for (size_t k = 0; k < p->count; k++) {
        in[k] = taper_tensor_data(inputs[k]);
        walk.data[k + 1] = (char *)(uintptr_t)in[k];
    }
    if (p->planned) {
        return taper_ew_vector(call->run, &p->plan, &walk);
    }
    p->args.zero_division = p->args.stopped = false;
    p->args.run = call->run;
    if (taper_run_goes_on(call->run, (uint64_t)p->n * WORK_OF_AN_ELEMENT + 20)) {
        p->op->loops[TAPER_EW_F32]((size_t)p->n, walk.data[0], in, &p->args);
    }
    return TAPER_OK;
}

static taper_status run_again(taper_call *call, void *data)
{
    plain *p = data;
    taper_tensor *inputs[TAPER_EW_INPUTS] = {NULL};
    for (size_t k = 0; k < p->count; k++) {
        inputs[k] = call->args[p->at[k]].as.tensor;
    }
    taper_tensor *to;
    TAPER_TRY(taper_ret_prepared(call, &to));
    return run(call, p, inputs, to);
}

taper_status taper_ew_run_plain(taper_call *call, taper_ew *ew, bool *done)
{
    const taper_ew_op *op = ew->op;
    const taper_tensor *first = ew->inputs[0].tensor, *target = taper_ret_target(call, ew->ret);
    *done = false;
    if (op->loops[TAPER_EW_F32] == NULL || op->result != TAPER_EW_SAME || op->masks != 0 || ew->common >= 0 ||
        ew->result >= 0 || !all_alike(ew, target)) {
        return TAPER_OK;
    }
    plain p = {.op = op, .args = ew->args, .count = ew->count};
    p.n = taper_tensor_numel(first);
    if (p.n == 0 || p.n > MOST_ELEMENTS) {
        return TAPER_OK;
    }
    *done = true;
    const taper_ew_walk walk = walk_over(&p);
    p.planned = !call->run->portable && taper_ew_vector_plan_make(&p.plan, call->run->cpu, op, &p.args, &walk);
    taper_tensor *to, *inputs[TAPER_EW_INPUTS] = {NULL};
    bool keeps = ew->whole;
    for (size_t k = 0; k < ew->count; k++) {
        inputs[k] = ew->inputs[k].tensor;
        keeps = keeps && ew->inputs[k].at != 0;
        p.at[k] = (uint8_t)(ew->inputs[k].at - 1);
    }
    // Only TAPER_EW_LIKE copies the input's strides. Other results get contiguous strides, because the input may have
    // any stride in a dimension of size 1.
    const int64_t *strides = ew->layout == TAPER_EW_LIKE ? first->strides : NULL;
    TAPER_TRY(first->hidden_nhwc ? taper_ret_new_nhwc(call, ew->ret, TAPER_F32, first->rank, first->sizes, true, &to)
                                 : taper_ret_new(call, ew->ret, TAPER_F32, first->rank, first->sizes, strides, &to));
    TAPER_TRY(run(call, &p, inputs, to));
    plain *kept = keeps ? taper_prepare(call, run_again, sizeof p) : NULL;
    if (kept != NULL) {
        *kept = p;
    }
    return TAPER_OK;
}
