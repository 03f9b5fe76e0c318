// SPDX-License-Identifier: BSD-2-Clause
// Keeps the walk (the loops over the elements, elementwise.h) of a float computation whose operands have any strides,
// including broadcast ones and numbers. Later calls with equal arguments run over the same walk.
#include "ops/call/prepared.h"
#include "ops/engine/elementwise_vector.h"

enum { MOST_DIMS = 4 }; // largest number of dimensions of a walk that is kept, after merging

typedef struct strided {
    taper_ew_vector_plan plan;
    size_t rank, count;
    uint8_t at[TAPER_EW_INPUTS]; // position of each input among the arguments
    bool is_number[TAPER_EW_INPUTS];
    float numbers[TAPER_EW_INPUTS];
    int64_t sizes[MOST_DIMS], steps[TAPER_EW_INPUTS + 1][MOST_DIMS];
} strided;

static taper_status run_again(taper_call *call, void *data)
{
    strided *s = data;
    taper_ew_walk walk = {.rank = s->rank, .sides = s->count + 1, .sizes = s->sizes, .steps = {s->steps[0]}};
    taper_tensor *to;
    TAPER_TRY(taper_ret_prepared(call, &to));
    walk.data[0] = taper_tensor_mutable(to);
    for (size_t k = 0; k < s->count; k++) {
        walk.data[k + 1] = s->is_number[k] ? (char *)&s->numbers[k]
                                           : (char *)(uintptr_t)taper_tensor_data(call->args[s->at[k]].as.tensor);
        walk.steps[k + 1] = s->steps[k + 1];
    }
    return taper_ew_vector(call->run, &s->plan, &walk);
}

void taper_ew_keep_walk(taper_call *call, const taper_ew *ew, const taper_ew_walk *walk,
                        const taper_ew_vector_plan *plan)
{
    bool keeps = ew->whole && walk->rank <= MOST_DIMS;
    for (size_t k = 0; k < ew->count; k++) {
        const taper_tensor *x = ew->inputs[k].tensor;
        keeps = keeps && ew->inputs[k].at != 0 && (x == NULL || x->dtype == TAPER_F32);
    }
    strided *s = keeps ? taper_prepare(call, run_again, sizeof *s) : NULL;
    if (s == NULL) {
        return;
    }
    s->plan = *plan; // the other members are zero, because taper_prepare zeroes the memory
    s->rank = walk->rank;
    s->count = ew->count;
    for (size_t k = 0; k < ew->count; k++) {
        s->at[k] = (uint8_t)(ew->inputs[k].at - 1);
        s->is_number[k] = ew->inputs[k].tensor == NULL;
        if (s->is_number[k]) {
            memcpy(&s->numbers[k], walk->data[k + 1], sizeof s->numbers[k]);
        }
    }
    memcpy(s->sizes, walk->sizes, walk->rank * sizeof *s->sizes);
    for (size_t k = 0; k <= ew->count; k++) {
        memcpy(s->steps[k], walk->steps[k], walk->rank * sizeof *s->sizes);
    }
}
