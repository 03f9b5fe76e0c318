// SPDX-License-Identifier: BSD-2-Clause
// Layers of files that were prepared for XNNPACK, Vulkan or Metal: reads the states of their objects for conv.c and
// linear.c, and contains the operators that make such objects. The state of a file's object is checked like any other
// argument.
#include "ops/nn/prepacked.h"

#include <math.h>

#include "ops/call/call.h"
#include "ops/engine/matmul.h"

// ---- states of packed-weight objects

typedef struct state_items {
    const taper_val *items;
    size_t count;
    const char *name; // name of the object's class, for messages
} state_items;

static const char *short_name(const taper_object *object)
{
    static const char prefix[] = "__torch__.torch.classes.";
    const char *name = object->klass != NULL ? object->klass->name : "?";
    return strncmp(name, prefix, sizeof prefix - 1) == 0 ? name + sizeof prefix - 1 : name;
}

static taper_status open_state(const taper_call *call, const taper_object *object, size_t least, size_t most,
                               state_items *state)
{
    state->name = short_name(object);
    const taper_val value = object->count != 0 ? object->slots[0] : taper_val_none();
    if (value.tag == TAPER_TUPLE) {
        state->items = value.as.tuple->items;
        state->count = value.as.tuple->count;
    } else if (value.tag == TAPER_LIST) {
        state->items = value.as.list->items;
        state->count = value.as.list->count;
    } else {
        TAPER_FAIL(call->run->error, TAPER_ERROR_FILE, "%s: its state is not a tuple or list but %s", state->name,
                   taper_val_kind_name(value));
    }
    if (state->count < least || state->count > most) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_FILE, "%s: its state has %zu items, expected %zu", state->name,
                   state->count, most);
    }
    return TAPER_OK;
}

static TAPER_COLD taper_status wrong_item(const taper_call *call, const state_items *state, size_t at,
                                          const char *expected)
{
    TAPER_FAIL(call->run->error, TAPER_ERROR_FILE, "%s: item %zu of its state should be %s but is %s", state->name, at,
               expected, taper_val_kind_name(state->items[at]));
}

static taper_status state_tensor(const taper_call *call, const state_items *state, size_t at, bool optional,
                                 taper_tensor **tensor)
{
    *tensor = NULL;
    if (optional && (at >= state->count || state->items[at].tag == TAPER_NONE)) {
        return TAPER_OK;
    }
    if (state->items[at].tag != TAPER_TENSOR) {
        return wrong_item(call, state, at, "a Tensor");
    }
    *tensor = state->items[at].as.tensor;
    // Packed weights are read as plain tensors, so a hidden NHWC tensor is made contiguous first.
    return taper_run_settle(call->run, *tensor);
}

static taper_status state_pair(const taper_call *call, const state_items *state, size_t at, int64_t *numbers)
{
    const taper_val value = state->items[at];
    if (value.tag != TAPER_LIST || (value.as.list->count != 2 && value.as.list->count != 1)) {
        return wrong_item(call, state, at, "a list of two ints");
    }
    for (size_t i = 0; i < 2; i++) {
        const taper_val item = value.as.list->items[value.as.list->count == 1 ? 0 : i];
        if (item.tag != TAPER_INT) {
            return wrong_item(call, state, at, "a list of two ints");
        }
        numbers[i] = item.as.i;
    }
    return TAPER_OK;
}

static taper_status state_int(const taper_call *call, const state_items *state, size_t at, int64_t *number)
{
    if (state->items[at].tag != TAPER_INT && state->items[at].tag != TAPER_BOOLEAN) {
        return wrong_item(call, state, at, "an int");
    }
    *number = state->items[at].as.i;
    return TAPER_OK;
}

static taper_status state_bounds(const taper_call *call, const state_items *state, size_t at, bool *clamped,
                                 double *min, double *max)
{
    for (size_t i = 0; i < 2; i++) {
        double *bound = i == 0 ? min : max;
        *bound = i == 0 ? -INFINITY : INFINITY;
        if (at + i >= state->count || state->items[at + i].tag == TAPER_NONE) {
            continue;
        }
        const taper_val value = state->items[at + i];
        if (value.tag != TAPER_DOUBLE && value.tag != TAPER_INT && value.tag != TAPER_BOOLEAN) {
            return wrong_item(call, state, at + i, "a number");
        }
        *bound = value.tag == TAPER_DOUBLE ? value.as.f : (double)value.as.i;
        *clamped = true;
    }
    if (*clamped && !(*min < *max)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s: output_min %g must be less than output_max %g",
                   state->name, *min, *max);
    }
    return TAPER_OK;
}

static bool class_is(const taper_object *object, const char *name)
{
    return strcmp(short_name(object), name) == 0;
}

// ---- convolutions

taper_status taper_prepacked_conv_state(const taper_call *call, const taper_object *object, taper_conv_args *args)
{
    state_items state;
    taper_conv_params *params = &args->params;
    params->rank = 2;
    if (class_is(object, "vulkan.Conv2dPackedContext")) {
        int64_t transposed = 0, quantized = 0;
        TAPER_TRY(open_state(call, object, 9, 11, &state));
        TAPER_TRY(state_pair(call, &state, 2, params->stride));
        TAPER_TRY(state_pair(call, &state, 3, params->padding));
        TAPER_TRY(state_pair(call, &state, 4, params->dilation));
        TAPER_TRY(state_int(call, &state, 5, &transposed));
        TAPER_TRY(state_int(call, &state, 6, &quantized));
        params->transposed = transposed != 0;
        if (params->transposed) {
            TAPER_TRY(state_pair(call, &state, 7, params->output_padding));
        }
        TAPER_TRY(state_int(call, &state, 8, &params->groups));
        TAPER_TRY(state_bounds(call, &state, 9, &args->clamped, &args->min, &args->max));
        if (quantized != 0) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                       "%s: quantized weights are not supported; export the model for the CPU", state.name);
        }
    } else if (class_is(object, "xnnpack.TransposeConv2dOpContext")) {
        TAPER_TRY(open_state(call, object, 9, 9, &state));
        params->transposed = true;
        TAPER_TRY(state_pair(call, &state, 2, params->stride));
        TAPER_TRY(state_pair(call, &state, 3, params->padding));
        TAPER_TRY(state_pair(call, &state, 4, params->output_padding));
        TAPER_TRY(state_pair(call, &state, 5, params->dilation));
        TAPER_TRY(state_int(call, &state, 6, &params->groups));
        TAPER_TRY(state_bounds(call, &state, 7, &args->clamped, &args->min, &args->max));
    } else if (class_is(object, "xnnpack.Conv2dOpContext") || class_is(object, "metal.Conv2dOpContext") ||
               class_is(object, "vulkan.Conv2dOpContext")) {
        TAPER_TRY(open_state(call, object, 8, 8, &state));
        TAPER_TRY(state_pair(call, &state, 2, params->stride));
        TAPER_TRY(state_pair(call, &state, 3, params->padding));
        TAPER_TRY(state_pair(call, &state, 4, params->dilation));
        TAPER_TRY(state_int(call, &state, 5, &params->groups));
        TAPER_TRY(state_bounds(call, &state, 6, &args->clamped, &args->min, &args->max));
    } else {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': expected the packed weights of a convolution, got %s", call->schema->args[1].name,
                   short_name(object));
    }
    args->follows_input = strncmp(state.name, "xnnpack.", 8) == 0;
    memcpy(params->padding_end, params->padding, sizeof params->padding);
    TAPER_TRY(state_tensor(call, &state, 0, false, &args->weight));
    TAPER_TRY(state_tensor(call, &state, 1, true, &args->bias));
    if (args->weight->rank != 4) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_FILE, "%s: the weight should have 4 dimensions, its sizes are %s",
                   state.name, TAPER_SHAPE(args->weight));
    }
    return TAPER_OK;
}

taper_status taper_prepacked_conv_parse(taper_call *call, taper_conv_args *args)
{
    taper_object *object;
    TAPER_TRY(taper_arg_tensor(call, 0, &args->input));
    TAPER_TRY(taper_arg_object(call, 1, &object));
    // PyTorch accepts only a batch. If the optimizer packed a layer without knowing the rank of its input, an image
    // without a batch was valid before, so it is accepted here.
    args->unbatched = args->input->rank == 3;
    if (args->input->rank != 4 && !args->unbatched) { // known_ranks.c of the compiler depends on this check
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "convolutions with packed weights take an image (3 dimensions) or a batch of images (4 dimensions), "
                   "got %u dimensions",
                   (unsigned)args->input->rank);
    }
    return taper_prepacked_conv_state(call, object, args);
}

// ---- linear layers

taper_status taper_prepacked_linear_state(const taper_call *call, const taper_object *object, taper_linear_args *args)
{
    state_items state;
    if (class_is(object, "vulkan.LinearPackedContext")) {
        TAPER_TRY(open_state(call, object, 1, 2, &state));
        args->weight_is_in_out = true;
    } else if (class_is(object, "xnnpack.LinearOpContext") || class_is(object, "metal.LinearOpContext")) {
        TAPER_TRY(open_state(call, object, 4, 4, &state));
        TAPER_TRY(state_bounds(call, &state, 2, &args->clamped, &args->min, &args->max));
    } else {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s': expected the packed weights of a linear layer, got %s", call->schema->args[1].name,
                   short_name(object));
    }
    TAPER_TRY(state_tensor(call, &state, 0, false, &args->weight));
    TAPER_TRY(state_tensor(call, &state, 1, true, &args->bias));
    if (args->weight->rank != 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_FILE, "%s: the weight should be a matrix, its sizes are %s",
                   state.name, TAPER_SHAPE(args->weight));
    }
    const int64_t out = args->weight->sizes[args->weight_is_in_out ? 1 : 0];
    if (args->bias != NULL && (args->bias->rank != 1 || args->bias->sizes[0] != out)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_FILE, "%s: the bias should have %lld elements, its sizes are %s",
                   state.name, (long long)out, TAPER_SHAPE(args->bias));
    }
    return TAPER_OK;
}

taper_status taper_prepacked_linear_parse(taper_call *call, taper_linear_args *args)
{
    taper_object *object;
    TAPER_TRY(taper_arg_tensor(call, 0, &args->input));
    TAPER_TRY(taper_arg_object(call, 1, &object));
    TAPER_TRY(taper_prepacked_linear_state(call, object, args));
    const int64_t in = args->weight->sizes[args->weight_is_in_out ? 0 : 1];
    if (args->input->rank == 0 || args->input->sizes[args->input->rank - 1u] != in) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "argument '%s' should have %lld elements in its last dimension, its sizes are %s",
                   call->schema->args[0].name, (long long)in, TAPER_SHAPE(args->input));
    }
    return TAPER_OK;
}

// ---- packing at run time: the object holds the arguments, in the order of its class's state

static const taper_class conv_class = {.name = "__torch__.torch.classes.xnnpack.Conv2dOpContext"};
static const taper_class conv_transpose_class = {.name = "__torch__.torch.classes.xnnpack.TransposeConv2dOpContext"};
static const taper_class linear_class = {.name = "__torch__.torch.classes.xnnpack.LinearOpContext"};
static const taper_class metal_conv_class = {.name = "__torch__.torch.classes.metal.Conv2dOpContext"};
static const taper_class metal_linear_class = {.name = "__torch__.torch.classes.metal.LinearOpContext"};
static const taper_class vulkan_old_conv_class = {.name = "__torch__.torch.classes.vulkan.Conv2dOpContext"};
static const taper_class vulkan_conv_class = {.name = "__torch__.torch.classes.vulkan.Conv2dPackedContext"};
static const taper_class vulkan_linear_class = {.name = "__torch__.torch.classes.vulkan.LinearPackedContext"};
static const taper_class vulkan_gru_class = {.name = "__torch__.torch.classes.vulkan.GruPackedContext"};
static const taper_class vulkan_lstm_class = {.name = "__torch__.torch.classes.vulkan.LstmPackedContext"};

// order: for each slot of the state the index of the argument; -1 stands for false, -2 for true, -3 for [0].
typedef struct prepack_form {
    const taper_class *klass;
    bool list;
    size_t count;
    int8_t order[11];
} prepack_form;

static const prepack_form forms[] = {
    {&conv_class, false, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {&conv_transpose_class, false, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
    {&linear_class, false, 4, {0, 1, 2, 3}},
    {&metal_conv_class, false, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {&metal_linear_class, false, 4, {0, 1, 2, 3}},
    {&vulkan_old_conv_class, false, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {&vulkan_conv_class, true, 11, {0, 1, 2, 3, 4, -1, -1, -3, 5, 6, 7}},
    {&vulkan_conv_class, true, 11, {0, 1, 2, 3, 5, -2, -1, 4, 6, 7, 8}}, // this row is for the transposed convolution
    {&vulkan_linear_class, true, 2, {0, 1}},
    {&vulkan_gru_class, true, 7, {0, 1, 2, 3, 4, 5, 6}},
    {&vulkan_lstm_class, true, 7, {0, 1, 2, 3, 4, 5, 6}},
};

static taper_status equal_ints(taper_call *call, int64_t number, size_t count, taper_val *ints)
{
    taper_list *list = taper_list_new(call->run->heap, &taper_type_int, count);
    *ints = taper_val_none();
    if (list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    while (list->count < count) {
        list->items[list->count++] = taper_val_int(number);
    }
    *ints = TAPER_VAL(list);
    return TAPER_OK;
}

// Returns an argument for the state; an int[2] given as one int becomes a list.
static taper_status state_argument(taper_call *call, size_t at, taper_val *value)
{
    *value = at < call->arg_count ? taper_val_retain(call->args[at]) : taper_val_none();
    if (value->tag == TAPER_INT && at < call->schema->arg_count && call->schema->args[at].size == 2) {
        return equal_ints(call, value->as.i, 2, value);
    }
    return TAPER_OK;
}

static taper_status prepack(taper_call *call, const prepack_form *form)
{
    taper_error *error = call->run->error;
    taper_tuple *tuple = form->list ? NULL : taper_tuple_new(call->run->heap, NULL, form->count);
    taper_list *list = form->list ? taper_list_new(call->run->heap, &taper_type_any, form->count) : NULL;
    if (tuple == NULL && list == NULL) {
        return taper_fail_memory(error);
    }
    taper_val state = form->list ? TAPER_VAL(list) : TAPER_VAL(tuple);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < form->count && status == TAPER_OK; i++) {
        taper_val value = taper_val_bool(form->order[i] == -2);
        if (form->order[i] == -3) {
            status = equal_ints(call, 0, 1, &value); // PyTorch stores [0] if there is no output padding
        } else if (form->order[i] >= 0) {
            status = state_argument(call, (size_t)form->order[i], &value);
        }
        if (status != TAPER_OK) {
            break;
        }
        if (form->list) {
            status = taper_list_append(list, value, error);
        } else {
            tuple->items[i] = value;
        }
    }
    if (status == TAPER_OK) {
        taper_object *object = taper_object_new(call->run->heap, form->klass, 1);
        if (object == NULL) {
            status = taper_fail_memory(error);
        } else {
            object->slots[0] = state;
            taper_ret(call, 0, TAPER_VAL(object));
            return TAPER_OK;
        }
    }
    taper_val_release(state);
    return status;
}

TAPER_KERNEL(taper_op_prepack_conv2d)
{
    return prepack(call, &forms[0]);
}
TAPER_KERNEL(taper_op_prepack_conv2d_transpose)
{
    return prepack(call, &forms[1]);
}
TAPER_KERNEL(taper_op_prepack_linear)
{
    return prepack(call, &forms[2]);
}
TAPER_KERNEL(taper_op_metal_prepack_conv2d)
{
    return prepack(call, &forms[3]);
}
TAPER_KERNEL(taper_op_metal_prepack_linear)
{
    return prepack(call, &forms[4]);
}
TAPER_KERNEL(taper_op_vulkan_prepack_conv2d_old)
{
    return prepack(call, &forms[5]);
}
TAPER_KERNEL(taper_op_vulkan_prepack_conv2d)
{
    return prepack(call, &forms[6]);
}
TAPER_KERNEL(taper_op_vulkan_prepack_tconv2d)
{
    return prepack(call, &forms[7]);
}
TAPER_KERNEL(taper_op_vulkan_prepack_linear)
{
    return prepack(call, &forms[8]);
}
TAPER_KERNEL(taper_op_vulkan_prepack_gru)
{
    return prepack(call, &forms[9]);
}
TAPER_KERNEL(taper_op_vulkan_prepack_lstm)
{
    return prepack(call, &forms[10]);
}

// ---- operators that copy tensors or inspect packed weights

// Returns its argument, because on the CPU there is nothing to copy.
TAPER_KERNEL(taper_op_metal_copy_to_host)
{
    taper_tensor *input;
    TAPER_TRY(taper_arg_tensor(call, 0, &input));
    taper_ret(call, 0, TAPER_VAL(taper_tensor_keep(input)));
    return TAPER_OK;
}

static taper_status append_sizes(taper_call *call, const taper_tensor *tensor, taper_val *value)
{
    *value = taper_val_none();
    if (tensor == NULL) {
        return TAPER_OK;
    }
    taper_list *list = taper_list_new(call->run->heap, &taper_type_int, tensor->rank);
    if (list == NULL) {
        return taper_fail_memory(call->run->error);
    }
    for (size_t i = 0; i < tensor->rank; i++) {
        const taper_status status = taper_list_append(list, taper_val_int(tensor->sizes[i]), call->run->error);
        if (status != TAPER_OK) {
            taper_val_release(TAPER_VAL(list));
            return status;
        }
    }
    *value = TAPER_VAL(list);
    return TAPER_OK;
}

// Returns (sizes of the weight, sizes of the bias or None), then the other items of the state, for tools that inspect
// models.
TAPER_KERNEL(taper_op_unpack_prepacked_sizes)
{
    taper_object *object;
    state_items state;
    taper_tensor *weight, *bias;
    TAPER_TRY(taper_arg_object(call, 0, &object));
    TAPER_TRY(open_state(call, object, 2, 11, &state));
    TAPER_TRY(state_tensor(call, &state, 0, false, &weight));
    TAPER_TRY(state_tensor(call, &state, 1, true, &bias));
    const bool conv = state.count >= 8;
    taper_tuple *tuple = taper_tuple_new(call->run->heap, NULL, conv ? 6 : 2);
    if (tuple == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_status status = append_sizes(call, weight, &tuple->items[0]);
    if (status == TAPER_OK) {
        status = append_sizes(call, bias, &tuple->items[1]);
    }
    if (status != TAPER_OK) {
        taper_val_release(TAPER_VAL(tuple));
        return status;
    }
    for (size_t i = 2; conv && i < 6; i++) {
        tuple->items[i] = taper_val_retain(state.items[i]);
    }
    taper_ret(call, 0, TAPER_VAL(tuple));
    return TAPER_OK;
}
