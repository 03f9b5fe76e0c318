// SPDX-License-Identifier: BSD-2-Clause
// Compositions of recurrent networks: for each layer and direction, one cell for each time step.
#include "ops/gradient/steps_math.h"

enum { LSTM, GRU, RNN_TANH, RNN_RELU };

typedef struct layer {
    taper_val weights[4]; // weights for the input and for the state, then their biases or None
    int64_t kind, size;   // size: number of elements of the state
    bool back;
} layer;

// The state of a layer; owned references.
typedef struct state {
    taper_val h, c;
} state;

static taper_val gate(taper_steps *s, const layer *l, taper_val all, int64_t index)
{
    return taper_step_narrow(s, all, -1, index * l->size, l->size);
}

static taper_val gate_sum(taper_steps *s, const layer *l, taper_val in, taper_val rec, int64_t index)
{
    return TAPER_STEP(s, aten_sigmoid, taper_step_add(s, gate(s, l, in, index), gate(s, l, rec, index)));
}

// Computes the next state. `in` is the product of the input and its weights.
static taper_status next_state(taper_call *call, const layer *l, taper_val all_inputs, int64_t moment, state *now)
{
    taper_steps s;
    taper_steps_begin(&s, call->run);
    const taper_val in = TAPER_STEP(&s, aten_select_int, all_inputs, taper_val_int(0), taper_val_int(moment));
    const taper_val rec = TAPER_STEP(&s, aten_linear, now->h, l->weights[1], l->weights[3]);
    taper_val h = taper_val_none(), c = now->c;
    if (l->kind == LSTM) {
        const taper_val made = TAPER_STEP(&s, aten_tanh, taper_step_add(&s, gate(&s, l, in, 2), gate(&s, l, rec, 2)));
        c = taper_step_add(&s, taper_step_mul(&s, gate_sum(&s, l, in, rec, 1), now->c),
                           taper_step_mul(&s, gate_sum(&s, l, in, rec, 0), made));
        h = taper_step_mul(&s, gate_sum(&s, l, in, rec, 3), TAPER_STEP(&s, aten_tanh, c));
    } else if (l->kind == GRU) {
        const taper_val reset = gate_sum(&s, l, in, rec, 0), keep = gate_sum(&s, l, in, rec, 1);
        const taper_val made = TAPER_STEP(
            &s, aten_tanh, taper_step_add(&s, gate(&s, l, in, 2), taper_step_mul(&s, reset, gate(&s, l, rec, 2))));
        h = taper_step_add(&s, made, taper_step_mul(&s, keep, taper_step_sub(&s, now->h, made)));
    } else {
        const taper_val sum = taper_step_add(&s, in, rec);
        h = l->kind == RNN_TANH ? TAPER_STEP(&s, aten_tanh, sum) : TAPER_STEP(&s, aten_relu, sum);
    }
    if (s.status == TAPER_OK) {
        taper_val_replace(&now->h, taper_val_retain(h));
        if (l->kind == LSTM) {
            taper_val_replace(&now->c, taper_val_retain(c));
        }
    }
    return taper_steps_end(&s);
}

// Runs a layer in one direction over x, [moments, …]. *output receives a reference.
static taper_status run_layer(taper_call *call, const layer *l, taper_val x, state *now, taper_val *output)
{
    taper_steps s;
    const int64_t moments = x.as.tensor->sizes[0];
    taper_list *const outputs = taper_list_new(call->run->heap, &taper_type_tensor, (size_t)moments);
    if (outputs == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_steps_begin(&s, call->run);
    taper_steps_keep(&s, TAPER_VAL(outputs));
    const taper_val in = TAPER_STEP(&s, aten_linear, x, l->weights[0], l->weights[2]);
    for (int64_t i = 0; i < moments; i++) {
        outputs->items[outputs->count++] = taper_val_none();
    }
    for (int64_t i = 0; i < moments && s.status == TAPER_OK; i++) {
        const int64_t moment = l->back ? moments - 1 - i : i;
        taper_steps_fail(&s, next_state(call, l, in, moment, now));
        taper_val_replace(&outputs->items[moment], taper_val_retain(now->h));
    }
    const taper_val all = TAPER_STEP(&s, aten_stack, TAPER_VAL(outputs), taper_val_int(0));
    *output = s.status == TAPER_OK ? taper_val_retain(all) : taper_val_none();
    return taper_steps_end(&s);
}

static taper_status start_state(taper_call *call, size_t at, int64_t kind, state *now)
{
    taper_steps s;
    const taper_list *const hx = call->args[1].as.list;
    taper_steps_begin(&s, call->run);
    const taper_val first = taper_val_int(0), index = taper_val_int((int64_t)at);
    const taper_val h = TAPER_STEP(&s, aten_select_int, hx->items[0], first, index);
    const taper_val c = kind == LSTM ? TAPER_STEP(&s, aten_select_int, hx->items[1], first, index) : taper_val_none();
    *now = (state){taper_val_none(), taper_val_none()};
    if (s.status == TAPER_OK) {
        *now = (state){taper_val_retain(h), taper_val_retain(c)};
    }
    return taper_steps_end(&s);
}

typedef struct network {
    int64_t layers, kind;
    size_t directions;
    double dropout;
    bool biases, train;
} network;

// Joins the directions of a layer, and applies dropout between layers.
static taper_status join(taper_call *call, const network *n, int64_t at, const taper_val *parts, taper_val *x)
{
    taper_steps s;
    taper_steps_begin(&s, call->run);
    taper_val all = parts[0];
    if (n->directions == 2) {
        all = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, parts, 2), taper_val_int(-1));
    }
    if (n->train && n->dropout > 0 && at + 1 < n->layers) {
        all = TAPER_STEP(&s, aten_dropout, all, taper_val_double(n->dropout), taper_val_bool(true));
    }
    if (s.status == TAPER_OK) {
        taper_val_replace(x, taper_val_retain(all));
    }
    return taper_steps_end(&s);
}

static taper_status run_network(taper_call *call, const network *n, taper_val *x, taper_list *const *ends)
{
    const taper_list *const params = call->args[2].as.list, *const hx = call->args[1].as.list;
    const size_t each = n->biases ? 4 : 2;
    const taper_tensor *const h = hx->items[0].as.tensor;
    for (int64_t i = 0; i < n->layers; i++) {
        taper_val parts[2] = {taper_val_none(), taper_val_none()};
        taper_status status = TAPER_OK;
        for (size_t d = 0; d < n->directions && status == TAPER_OK; d++) {
            const size_t at = (size_t)i * n->directions + d;
            const taper_val *const p = params->items + at * each;
            const layer l = {{p[0], p[1], n->biases ? p[2] : taper_val_none(), n->biases ? p[3] : taper_val_none()},
                             n->kind,
                             h->sizes[h->rank - 1],
                             d == 1};
            state now;
            status = start_state(call, at, n->kind, &now);
            status = status == TAPER_OK ? run_layer(call, &l, *x, &now, &parts[d]) : status;
            for (size_t e = 0; e < 2; e++) {
                if (ends[e] != NULL) {
                    ends[e]->items[ends[e]->count++] = e == 0 ? now.h : now.c;
                } else {
                    taper_val_release(e == 0 ? now.h : now.c);
                }
            }
        }
        status = status == TAPER_OK ? join(call, n, i, parts, x) : status;
        taper_val_release(parts[0]);
        taper_val_release(parts[1]);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

TAPER_STEPS_KERNEL(taper_op_recurrent_steps)
{
    taper_steps s;
    network n;
    bool both, batch_first;
    TAPER_TRY(taper_arg_bool(call, 3, &n.biases));
    TAPER_TRY(taper_arg_int(call, 4, &n.layers));
    TAPER_TRY(taper_arg_double(call, 5, &n.dropout));
    TAPER_TRY(taper_arg_bool(call, 6, &n.train));
    TAPER_TRY(taper_arg_bool(call, 7, &both));
    TAPER_TRY(taper_arg_bool(call, 8, &batch_first));
    TAPER_TRY(taper_arg_int(call, 9, &n.kind));
    n.directions = both ? 2 : 1;
    const taper_list *const params = call->args[2].as.list, *const hx = call->args[1].as.list;
    const taper_tensor *const input = call->args[0].as.tensor;
    const size_t each = n.directions * (n.biases ? 4 : 2);
    if (n.layers < 0 || params->count % each != 0 || params->count / each != (uint64_t)n.layers ||
        hx->count != (n.kind == LSTM ? 2 : 1) || hx->items[0].as.tensor->rank == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "the gradient of a recurrent network with projections is not supported: use proj_size=0");
    }
    taper_list *const ends[2] = {taper_list_new(call->run->heap, &taper_type_tensor, params->count),
                                 n.kind == LSTM ? taper_list_new(call->run->heap, &taper_type_tensor, params->count)
                                                : NULL};
    taper_steps_begin(&s, call->run);
    if (ends[0] == NULL || (ends[1] == NULL && n.kind == LSTM)) {
        taper_steps_fail(&s, taper_fail_memory(call->run->error));
    }
    for (size_t e = 0; e < 2; e++) {
        if (ends[e] != NULL) {
            taper_steps_keep(&s, TAPER_VAL(ends[e]));
        }
    }
    const bool turned = batch_first && input->rank == 3;
    const taper_val start = turned ? taper_step_transpose(&s, call->args[0], 0, 1) : call->args[0];
    taper_val x = s.status == TAPER_OK ? taper_val_retain(start) : taper_val_none();
    if (s.status == TAPER_OK) {
        taper_steps_fail(&s, run_network(call, &n, &x, ends));
    }
    taper_steps_keep(&s, x);
    taper_steps_ret(&s, call, 0, turned ? taper_step_transpose(&s, x, 0, 1) : x);
    for (size_t e = 0; e < 2 && s.status == TAPER_OK; e++) {
        taper_steps_ret(&s, call, e + 1,
                        TAPER_STEP(&s, aten_stack, TAPER_VAL(ends[ends[e] != NULL ? e : 0]), taper_val_int(0)));
    }
    return taper_steps_end(&s);
}
