// SPDX-License-Identifier: BSD-2-Clause
// Float tensors of one shape without gaps, a few thousand elements: what most calls between layers are, and where the
// way to the loop costs more than the loop. Everything that elementwise.c decides is known here.
#include "ops/call/fast.h"
#include "ops/engine/elementwise.h"

enum { MOST_ELEMENTS = 1 << 14, WORK_OF_AN_ELEMENT = 16 };

static bool is_like(const taper_tensor *x, const taper_tensor *first)
{
    return x == first ||
           (x->dtype == TAPER_F32 && !x->hidden_nhwc && x->rank == first->rank &&
            memcmp(x->sizes, first->sizes, first->rank * sizeof *x->sizes) == 0 && taper_tensor_is_contiguous(x));
}

// Whether all inputs lie alike, and what is written in place, if anything is, lies beside the others.
static bool all_alike(const taper_ew *ew, const taper_tensor *target)
{
    const taper_tensor *first = ew->inputs[0].tensor;
    if (first == NULL || first->rank == 0 || first->dtype != TAPER_F32 || first->hidden_nhwc ||
        !taper_tensor_is_contiguous(first) || (target != NULL && target != first)) {
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

taper_status taper_ew_run_plain(taper_call *call, taper_ew *ew, bool *done)
{
    static const int64_t item = sizeof(float);
    const taper_ew_op *op = ew->op;
    const taper_tensor *first = ew->inputs[0].tensor;
    taper_tensor *to;
    *done = false;
    if (op->loops[TAPER_EW_F32] == NULL || op->result != TAPER_EW_SAME || op->masks != 0 || ew->common >= 0 ||
        ew->result >= 0 || !all_alike(ew, taper_ret_target(call, ew->ret))) {
        return TAPER_OK;
    }
    const int64_t n = taper_tensor_numel(first);
    if (n == 0 || n > MOST_ELEMENTS) {
        return TAPER_OK;
    }
    *done = true;
    int64_t strides[TAPER_MAX_RANK];
    taper_strides_contiguous(first->rank, first->sizes, strides);
    TAPER_TRY(taper_ret_new(call, ew->ret, TAPER_F32, first->rank, first->sizes, strides, &to));
    taper_ew_walk walk = {.rank = 1, .sides = ew->count + 1, .sizes = &n};
    const void *in[TAPER_EW_INPUTS] = {NULL};
    walk.data[0] = taper_tensor_mutable(to);
    walk.steps[0] = &item;
    for (size_t k = 0; k < ew->count; k++) {
        in[k] = taper_tensor_data(ew->inputs[k].tensor);
        walk.data[k + 1] = (char *)(uintptr_t)in[k];
        walk.steps[k + 1] = &item;
    }
    ew->args.zero_division = ew->args.stopped = false;
    ew->args.run = call->run;
    if (call->run->fast != NULL) {
        const taper_status status = call->run->fast->elementwise(call->run, op, &ew->args, &walk);
        if (status != TAPER_DECLINED) {
            return status;
        }
    }
    if (taper_run_goes_on(call->run, (uint64_t)n * WORK_OF_AN_ELEMENT + 20)) {
        op->loops[TAPER_EW_F32]((size_t)n, walk.data[0], in, &ew->args);
    }
    return TAPER_OK;
}
