// SPDX-License-Identifier: BSD-2-Clause
// Compositions of recurrent networks: for each layer and direction, one cell for each time step.
#include "ops/gradient/steps_math.h"

enum { LSTM, GRU, RNN_TANH, RNN_RELU };

typedef struct layer {
    taper_step_value weights[4]; // weights of the input and of the state, then the two biases, or None
    int64_t kind, size;          // kind: LSTM, GRU, or a plain network. size: number of elements of the state
    bool back;
} layer;

// The state of a layer: h, and c or None.
enum { H, C, STATE };

static taper_step_value gate(taper_steps *s, const layer *l, taper_step_value all, int64_t index)
{
    return taper_step_narrow(s, all, -1, index * l->size, l->size);
}

static taper_step_value gate_sum(taper_steps *s, const layer *l, taper_step_value in, taper_step_value rec,
                                 int64_t index)
{
    return TAPER_STEP(s, aten_sigmoid, taper_step_add(s, gate(s, l, in, index), gate(s, l, rec, index)));
}

// Computes the state after time step `moment`. all_inputs contains, for all steps, the products of the inputs and their
// weights.
static void next_state(taper_steps *s, const layer *l, taper_step_value all_inputs, int64_t moment,
                       taper_step_value *now)
{
    const taper_step_value in =
        TAPER_STEP(s, aten_select_int, all_inputs, TAPER_STEP_INT(0), taper_step_int(s, moment));
    const taper_step_value rec = TAPER_STEP(s, aten_linear, now[H], l->weights[1], l->weights[3]);
    if (l->kind == LSTM) {
        const taper_step_value made =
            TAPER_STEP(s, aten_tanh, taper_step_add(s, gate(s, l, in, 2), gate(s, l, rec, 2)));
        now[C] = taper_step_add(s, taper_step_mul(s, gate_sum(s, l, in, rec, 1), now[C]),
                                taper_step_mul(s, gate_sum(s, l, in, rec, 0), made));
        now[H] = taper_step_mul(s, gate_sum(s, l, in, rec, 3), TAPER_STEP(s, aten_tanh, now[C]));
    } else if (l->kind == GRU) {
        const taper_step_value reset = gate_sum(s, l, in, rec, 0), keep = gate_sum(s, l, in, rec, 1);
        const taper_step_value made = TAPER_STEP(
            s, aten_tanh, taper_step_add(s, gate(s, l, in, 2), taper_step_mul(s, reset, gate(s, l, rec, 2))));
        now[H] = taper_step_add(s, made, taper_step_mul(s, keep, taper_step_sub(s, now[H], made)));
    } else {
        const taper_step_value sum = taper_step_add(s, in, rec);
        now[H] = l->kind == RNN_TANH ? TAPER_STEP(s, aten_tanh, sum) : TAPER_STEP(s, aten_relu, sum);
    }
}

// Runs a layer in one direction over x, which is [time steps, …].
static taper_step_value run_layer(taper_steps *s, const layer *l, taper_step_value x, taper_step_value *now)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    const int64_t moments = t != NULL ? t->sizes[0] : 0;
    const taper_step_value in = TAPER_STEP(s, aten_linear, x, l->weights[0], l->weights[2]);
    const taper_step_value outputs = taper_steps_new_list(s, &taper_type_tensor, (size_t)moments);
    const size_t kept = s->count;
    for (int64_t i = 0; i < moments && s->status == TAPER_OK; i++) {
        taper_steps_append(s, outputs, taper_step_none);
    }
    for (int64_t i = 0; i < moments && s->status == TAPER_OK; i++) {
        const int64_t moment = l->back ? moments - 1 - i : i;
        next_state(s, l, in, moment, now);
        taper_val_replace(&outputs->as.list->items[moment], taper_val_retain(*now[H]));
        taper_steps_carry(s, kept, now, STATE);
    }
    return TAPER_STEP(s, aten_stack, outputs, TAPER_STEP_INT(0));
}

static void start_state(taper_steps *s, size_t at, int64_t kind, taper_step_value *now)
{
    const taper_list *const hx = s->args[1].as.list;
    const taper_step_value first = TAPER_STEP_INT(0), index = taper_step_int(s, (int64_t)at);
    now[H] = TAPER_STEP(s, aten_select_int, &hx->items[0], first, index);
    now[C] = kind == LSTM ? TAPER_STEP(s, aten_select_int, &hx->items[1], first, index) : taper_step_none;
}

typedef struct network {
    int64_t layers, kind;
    size_t directions;
    double dropout;
    bool biases, train;
} network;

// Joins the directions of a layer, and drops elements between layers.
static taper_step_value join(taper_steps *s, const network *n, int64_t at, const taper_step_value *parts)
{
    taper_step_value all = parts[0];
    if (n->directions == 2) {
        all = TAPER_STEP(s, aten_cat, taper_steps_list(s, parts, 2), TAPER_STEP_INT(-1));
    }
    if (n->train && n->dropout > 0 && at + 1 < n->layers) {
        all = TAPER_STEP(s, aten_dropout, all, taper_step_double(s, n->dropout), taper_step_bool(true));
    }
    return all;
}

// Runs all layers. ends: lists to which each layer adds its last state.
static taper_step_value run_network(taper_steps *s, const network *n, taper_step_value x, const taper_step_value *ends)
{
    const taper_list *const params = s->args[2].as.list, *const hx = s->args[1].as.list;
    const size_t each = n->biases ? 4 : 2, kept = s->count;
    const taper_tensor *const h = hx->items[0].as.tensor;
    for (int64_t i = 0; i < n->layers; i++) {
        taper_step_value parts[2];
        for (size_t d = 0; d < n->directions; d++) {
            const size_t at = (size_t)i * n->directions + d;
            const taper_val *const p = params->items + at * each;
            const layer l = {{p, p + 1, n->biases ? p + 2 : taper_step_none, n->biases ? p + 3 : taper_step_none},
                             n->kind,
                             h->sizes[h->rank - 1],
                             d == 1};
            taper_step_value now[STATE];
            start_state(s, at, n->kind, now);
            parts[d] = run_layer(s, &l, x, now);
            for (size_t e = 0; e < STATE; e++) {
                taper_steps_append(s, ends[e], now[e]);
            }
        }
        x = join(s, n, i, parts);
        taper_steps_carry(s, kept, &x, 1);
    }
    return x;
}

TAPER_STEPS_KERNEL(taper_op_recurrent_steps)
{
    const bool both = taper_steps_bool(s, 7), batch_first = taper_steps_bool(s, 8);
    const network n = {.biases = taper_steps_bool(s, 3),
                       .layers = taper_steps_int(s, 4),
                       .dropout = taper_steps_double(s, 5),
                       .train = taper_steps_bool(s, 6),
                       .kind = taper_steps_int(s, 9),
                       .directions = both ? 2 : 1};
    const taper_list *const params = s->args[2].as.list, *const hx = s->args[1].as.list;
    const taper_tensor *const input = s->args[0].as.tensor;
    const size_t each = n.directions * (n.biases ? 4 : 2), states = n.kind == LSTM ? 2 : 1;
    if (n.layers < 0 || params->count % each != 0 || params->count / each != (uint64_t)n.layers ||
        hx->count != states || hx->items[0].as.tensor->rank == 0) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "the gradient of a recurrent network with projections is not supported: use proj_size=0");
    }
    taper_step_value ends[STATE];
    for (size_t e = 0; e < STATE; e++) {
        ends[e] = taper_steps_new_list(s, &taper_type_tensor, params->count);
    }
    const bool turned = batch_first && input->rank == 3;
    taper_step_value x = turned ? taper_step_transpose(s, &s->args[0], 0, 1) : &s->args[0];
    x = run_network(s, &n, x, ends);
    taper_steps_ret(s, 0, turned ? taper_step_transpose(s, x, 0, 1) : x);
    for (size_t e = 0; e < STATE; e++) { // a network without c returns h twice
        taper_steps_ret(s, e + 1, TAPER_STEP(s, aten_stack, ends[e < states ? e : 0], TAPER_STEP_INT(0)));
    }
    return s->status;
}
