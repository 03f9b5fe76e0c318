// SPDX-License-Identifier: BSD-2-Clause
// Reads and makes the parameters of quantized recurrent cells.
#include "ops/quantized/quantized_cells.h"

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

static const taper_class cell_class = {.name = "__torch__.torch.classes.rnn.CellParamsBase"};

// ---- reading cells

taper_status taper_qcell_of_weights(taper_run *run, taper_tensor *const *weights, taper_tensor *const *biases,
                                    const double *scales, const int64_t *zero_points, taper_qcell_params *params)
{
    *params = (taper_qcell_params){0};
    for (size_t i = 0; i < 2; i++) {
        static const char *const names[] = {"the weight of the input (w_ih)", "the weight of the state (w_hh)"};
        taper_qlinear_params *layer = i == 0 ? &params->input : &params->hidden;
        const taper_tensor *w = weights[i], *b = biases[i];
        if (w->dtype != TAPER_I8 || w->rank != 2 || w->hidden_nhwc) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "%s should be an int8 matrix but is %s of sizes %s", names[i],
                       taper_dtype_torch_name((taper_dtype)w->dtype), TAPER_SHAPE(w));
        }
        if (b->dtype != TAPER_F32 || b->rank != 1 || b->sizes[0] != w->sizes[0]) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                       "the bias of %s should be a float32 vector of %lld elements but is %s of sizes %s", names[i],
                       (long long)w->sizes[0], taper_dtype_torch_name((taper_dtype)b->dtype), TAPER_SHAPE(b));
        }
        params->quantizers[i] =
            (taper_quantizer){.scheme = TAPER_PER_TENSOR_AFFINE, .scale = scales[i], .zero_point = zero_points[i]};
        params->weights[i] = taper_tensor_twin(w, 2, w->sizes, w->strides);
        params->weights[i].dtype = TAPER_QI8;
        params->weights[i].quantizer = &params->quantizers[i];
        TAPER_TRY(taper_qweight_check(run, &params->weights[i], TAPER_QI8, 0, names[i]));
        *layer = (taper_qlinear_params){
            .weight = &params->weights[i], .bias = biases[i], .out = w->sizes[0], .in = w->sizes[1]};
    }
    return TAPER_OK;
}

static taper_status list_item(taper_run *run, const taper_q_state *state, size_t list, size_t at, taper_tag tag,
                              const char *expected, taper_val *value)
{
    const taper_val items = state->items[list];
    const taper_val *all = items.tag == TAPER_LIST    ? items.as.list->items
                           : items.tag == TAPER_TUPLE ? items.as.tuple->items
                                                      : NULL;
    const size_t count = items.tag == TAPER_LIST    ? items.as.list->count
                         : items.tag == TAPER_TUPLE ? items.as.tuple->count
                                                    : 0;
    if (at >= count || all[at].tag != (uint32_t)tag) {
        return taper_q_state_wrong(run, state, list, expected);
    }
    *value = all[at];
    return TAPER_OK;
}

static taper_status open_plain(taper_run *run, const taper_q_state *state, taper_qcell_params *params)
{
    taper_tensor *weights[2], *biases[2];
    double scales[2];
    int64_t zero_points[2];
    for (size_t i = 0; i < 2; i++) {
        taper_val w, b, scale, point;
        TAPER_TRY(list_item(run, state, 1, i, TAPER_TENSOR, "[w_ih, w_hh, b_ih, b_hh, …]", &w));
        TAPER_TRY(list_item(run, state, 1, 2 + i, TAPER_TENSOR, "[w_ih, w_hh, b_ih, b_hh, …]", &b));
        TAPER_TRY(list_item(run, state, 2, i, TAPER_DOUBLE, "two scales", &scale));
        TAPER_TRY(list_item(run, state, 3, i, TAPER_INT, "two zero points", &point));
        weights[i] = w.as.tensor;
        biases[i] = b.as.tensor;
        scales[i] = scale.as.f;
        zero_points[i] = point.as.i;
        TAPER_TRY(taper_run_settle(run, weights[i]));
    }
    return taper_qcell_of_weights(run, weights, biases, scales, zero_points, params);
}

taper_status taper_qcell_open(taper_run *run, taper_object *object, taper_qcell_params *params)
{
    taper_q_state state;
    TAPER_TRY(taper_q_state_open(run, object, "rnn.CellParamsBase", 5, &state));
    *params = (taper_qcell_params){0};
    if (taper_val_string_is(state.items[0], "quantized")) {
        return open_plain(run, &state, params);
    }
    if (!taper_val_string_is(state.items[0], "quantized_dynamic") &&
        !taper_val_string_is(state.items[0], "quantized_fp16")) {
        return taper_q_state_wrong(run, &state, 0, "\"quantized_dynamic\", \"quantized_fp16\" or \"quantized\"");
    }
    for (size_t i = 0; i < 2; i++) {
        taper_val layer;
        TAPER_TRY(list_item(run, &state, 4, i, TAPER_OBJECT, "two objects of class LinearPackedParamsBase", &layer));
        TAPER_TRY(taper_qlinear_open(run, layer.as.object, i == 0 ? &params->input : &params->hidden));
    }
    return TAPER_OK;
}

// ---- making cells

typedef struct cell_state {
    const char *kind;
    taper_val tensors[6], floats[2], ints[2], layers[2]; // values of the state, owned
    size_t tensor_count, float_count, int_count, layer_count;
} cell_state;

// Makes an object with this state as result 0. Takes over the references in the state.
static taper_status make_cell(taper_call *call, const cell_state *state)
{
    taper_run *run = call->run;
    // PyTorch reads the state from a file only if its lists have these types.
    static const taper_type layer = {.kind = TAPER_TYPE_CLASS,
                                     .name = "__torch__.torch.classes.quantized.LinearPackedParamsBase"};
    taper_tuple *tuple = taper_tuple_new(run->heap, NULL, 5);
    taper_string *kind = taper_string_new(run->heap, state->kind, strlen(state->kind));
    const struct {
        const taper_type *type;
        const taper_val *values;
        size_t count;
    } lists[] = {{&taper_type_tensor, state->tensors, state->tensor_count},
                 {&taper_type_float, state->floats, state->float_count},
                 {&taper_type_int, state->ints, state->int_count},
                 {&layer, state->layers, state->layer_count}};
    taper_status status = tuple == NULL || kind == NULL ? taper_fail_memory(run->error) : TAPER_OK;
    for (size_t l = 0; l < 4; l++) {
        taper_val list = taper_val_none();
        const taper_status made = taper_q_list(run, lists[l].type, lists[l].values, lists[l].count, &list);
        status = status == TAPER_OK ? made : status;
        if (tuple != NULL) {
            tuple->items[1 + l] = list;
        } else {
            taper_val_release(list);
        }
    }
    if (kind != NULL && tuple != NULL) {
        tuple->items[0] = TAPER_VAL(kind);
    } else if (kind != NULL) {
        taper_val_release(TAPER_VAL(kind));
    }
    taper_object *object = status == TAPER_OK ? taper_object_new(run->heap, &cell_class, 1) : NULL;
    if (object == NULL) {
        if (tuple != NULL) {
            taper_val_release(TAPER_VAL(tuple));
        }
        return status != TAPER_OK ? status : taper_fail_memory(run->error);
    }
    object->slots[0] = TAPER_VAL(tuple);
    taper_ret(call, 0, TAPER_VAL(object));
    return TAPER_OK;
}

static taper_status make_of_layers(taper_call *call, const char *kind)
{
    taper_object *layers[2];
    cell_state state = {.kind = kind, .layer_count = 2};
    for (size_t i = 0; i < 2; i++) {
        taper_qlinear_params checked;
        TAPER_TRY(taper_arg_qlinear(call, i, &checked));
        TAPER_TRY(taper_arg_object(call, i, &layers[i]));
    }
    if (call->schema->arg_count > 2) {
        taper_tensor *biases[2];
        bool reduce_range;
        TAPER_TRY(taper_arg_tensor(call, 2, &biases[0]));
        TAPER_TRY(taper_arg_tensor(call, 3, &biases[1]));
        TAPER_TRY(taper_arg_bool(call, 4, &reduce_range));
        state.tensors[0] = TAPER_VAL(taper_tensor_keep(biases[0]));
        state.tensors[1] = TAPER_VAL(taper_tensor_keep(biases[1]));
        state.tensor_count = 2;
        state.ints[0] = taper_val_int(reduce_range ? 1 : 0);
        state.int_count = 1;
    }
    for (size_t i = 0; i < 2; i++) {
        state.layers[i] = taper_val_retain(TAPER_VAL(layers[i]));
    }
    return make_cell(call, &state);
}

TAPER_KERNEL(taper_op_make_quantized_cell_params_dynamic)
{
    return make_of_layers(call, "quantized_dynamic");
}

TAPER_KERNEL(taper_op_make_quantized_cell_params_fp16)
{
    return make_of_layers(call, "quantized_fp16");
}

// Quantizes a weight to int8 by the range of all its elements. For each row it computes the sum of the distances of its
// integers from the zero point.
static taper_status quantize_weight(taper_call *call, size_t at, taper_tensor **weight, taper_tensor **offsets,
                                    double *scale, int64_t *zero_point)
{
    taper_run *run = call->run;
    taper_tensor *from, *plain;
    const taper_q_range range = taper_q_range_of(TAPER_QI8);
    TAPER_TRY(taper_arg_tensor(call, at, &from));
    if (from->dtype != TAPER_F32 || from->rank != 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument '%s' should be a float32 matrix but is %s of sizes %s",
                   taper_arg_name(call, at), taper_dtype_torch_name((taper_dtype)from->dtype), TAPER_SHAPE(from));
    }
    TAPER_TRY(taper_run_contiguous(run, from, &plain));
    const float *values = taper_tensor_data(plain);
    const int64_t rows = from->sizes[0], columns = from->sizes[1], count = taper_tensor_numel(from);
    float min = 0, max = 0;
    bool nan = false;
    for (int64_t i = 0; i < count; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
        nan = nan || isnan(values[i]);
    }
    taper_status status = nan ? taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                                           "argument '%s' has NaNs: it cannot be quantized", taper_arg_name(call, at))
                              : taper_q_choose(run, range, min, max, scale, zero_point);
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_I8, 2, from->sizes, NULL, weight, run->error);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_I32, 1, &rows, NULL, offsets, run->error);
    }
    if (status == TAPER_OK) {
        int8_t *q = taper_tensor_mutable(*weight);
        int32_t *sums = taper_tensor_mutable(*offsets);
        const float inverse = 1.0f / (float)*scale;
        for (int64_t r = 0; r < rows; r++) {
            uint32_t sum = 0;
            for (int64_t i = 0; i < columns; i++) {
                const int64_t value = taper_q_round(values[r * columns + i] * inverse, *zero_point, range);
                q[r * columns + i] = (int8_t)value;
                sum += (uint32_t)(value - *zero_point);
            }
            sums[r] = (int32_t)sum;
        }
    }
    taper_tensor_drop(plain);
    return status;
}

TAPER_KERNEL(taper_op_make_quantized_cell_params)
{
    taper_tensor *biases[2], *weights[2] = {NULL, NULL}, *offsets[2] = {NULL, NULL};
    cell_state state = {.kind = "quantized", .tensor_count = 6, .float_count = 2, .int_count = 2};
    TAPER_TRY(taper_arg_tensor(call, 2, &biases[0]));
    TAPER_TRY(taper_arg_tensor(call, 3, &biases[1]));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < 2 && status == TAPER_OK; i++) {
        double scale = 0;
        int64_t zero_point = 0;
        status = quantize_weight(call, i, &weights[i], &offsets[i], &scale, &zero_point);
        state.floats[i] = taper_val_double(scale);
        state.ints[i] = taper_val_int(zero_point);
    }
    if (status != TAPER_OK) {
        for (size_t i = 0; i < 2; i++) {
            taper_tensor_drop(weights[i]);
            taper_tensor_drop(offsets[i]);
        }
        return status;
    }
    for (size_t i = 0; i < 2; i++) {
        state.tensors[i] = TAPER_VAL(weights[i]);
        state.tensors[2 + i] = TAPER_VAL(taper_tensor_keep(biases[i]));
        state.tensors[4 + i] = TAPER_VAL(offsets[i]);
    }
    return make_cell(call, &state);
}
