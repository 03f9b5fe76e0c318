// SPDX-License-Identifier: BSD-2-Clause
// Infers the shapes of results of layers with packed weights. The sizes of the weight and the layer's parameters are in
// the state of the packed object. The layouts of states are in ops/quantized/quantized_params.h and ops/nn/prepacked.c.
// If a state has another layout, nothing is known.
#include "ir/infer.h"

typedef struct items {
    const taper_val *of;
    size_t count;
} items;

static bool items_of(taper_val value, items *found)
{
    if (value.tag == TAPER_TUPLE) {
        *found = (items){value.as.tuple->items, value.as.tuple->count};
    } else if (value.tag == TAPER_LIST) {
        *found = (items){value.as.list->items, value.as.list->count};
    } else {
        return false;
    }
    return true;
}

static bool item_list(const items *from, size_t at, items *found)
{
    return at < from->count && items_of(from->of[at], found);
}

// Reads a tensor of int16, or a list of ints. Returns the number of integers, or 0 for any other value.
enum { MOST_NUMBERS = 5 * 3 + 3 };
static size_t numbers_of(taper_val value, int64_t *numbers)
{
    items list;
    if (value.tag == TAPER_TENSOR) {
        const taper_tensor *t = value.as.tensor;
        if (t->dtype != TAPER_I16 || t->rank != 1 || t->sizes[0] > MOST_NUMBERS || t->storage->data == NULL) {
            return 0;
        }
        const int16_t *data = taper_tensor_data(t);
        for (int64_t i = 0; i < t->sizes[0]; i++) {
            numbers[i] = data[i * t->strides[0]];
        }
        return (size_t)t->sizes[0];
    }
    if (!items_of(value, &list) || list.count > MOST_NUMBERS) {
        return 0;
    }
    for (size_t i = 0; i < list.count; i++) {
        if (list.of[i].tag != TAPER_INT) {
            return 0;
        }
        numbers[i] = list.of[i].as.i;
    }
    return list.count;
}

// Reads a state: k, then k strides, k paddings, k dilations, k output paddings, groups, and 1 if transposed. Returns
// the weight, or NULL if the state has another layout.
static const taper_tensor *conv_state(const items *state, int64_t *numbers, size_t *count)
{
    items lists[2];
    taper_val config, weight;
    if (state->count >= 3 && state->of[0].tag == TAPER_INT && item_list(state, 2, &lists[1]) && lists[1].count >= 2) {
        config = state->of[1];
        weight = lists[1].of[1];
    } else if (state->count >= 2 && state->of[0].tag == TAPER_STRING && item_list(state, 1, &lists[0]) &&
               lists[0].count >= 2) {
        config = lists[0].of[0];
        weight = lists[0].of[1];
    } else {
        return NULL;
    }
    *count = numbers_of(config, numbers);
    return weight.tag == TAPER_TENSOR ? weight.as.tensor : NULL;
}

static bool is_named(const taper_object *object, const char *name)
{
    const size_t length = object->klass != NULL ? strlen(object->klass->name) : 0, wanted = strlen(name);
    return length >= wanted && strcmp(object->klass->name + length - wanted, name) == 0;
}

// Classes of layers in files that were prepared for XNNPACK, Vulkan and Metal. `lists`, `groups` and `transposed` are
// indices in the layer's state, whose first two items are weight and bias. Classes in different namespaces with the
// same last name have the same indices.
typedef struct layer_class {
    char name[26];
    uint8_t linear, in_out; // linear: true for a linear layer; in_out: true if the weight is [in, out]
    // Indices of stride, padding, dilation, output padding; 0 for a parameter that the class lacks.
    uint8_t lists[4], groups, transposed;
} layer_class;

static const layer_class classes[] = {
    {.name = ".Conv2dOpContext", .lists = {2, 3, 4}},
#ifndef TAPER_WITHOUT_DEVICES // the CPU runs these layers without their packed weights
    {.name = ".TransposeConv2dOpContext", .lists = {2, 3, 5, 4}, .groups = 6},
    {.name = ".Conv2dPackedContext", .lists = {2, 3, 4, 7}, .groups = 8, .transposed = 5},
    {.name = ".LinearPackedContext", .linear = 1, .in_out = 1},
#endif
    {.name = ".LinearOpContext", .linear = 1},
    {.name = ".LinearPackedParamsBase", .linear = 1},
};

static const layer_class *find_layer(const taper_object *object)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (is_named(object, classes[i].name)) {
            return &classes[i];
        }
    }
    return NULL;
}

static int64_t channels_of(const taper_tensor *weight, bool transposed, int64_t groups)
{
    const bool fits = groups > 0 && groups <= INT32_MAX && weight->sizes[1] <= INT32_MAX;
    return !transposed ? weight->sizes[0] : fits ? weight->sizes[1] * groups : TAPER_UNKNOWN;
}

static bool read_flag(const items *state, size_t at, bool *flag)
{
    const taper_tag tag = at < state->count ? state->of[at].tag : TAPER_NONE;
    *flag = (tag == TAPER_BOOLEAN || tag == TAPER_INT) && state->of[at].as.i != 0;
    return tag == TAPER_BOOLEAN || tag == TAPER_INT;
}

static bool packed_conv(const taper_shape *x, const layer_class *layer, const items *state, taper_shape *shape)
{
    taper_conv_shape conv = {.transposed = TAPER_DEVICES && layer->groups != 0};
    int64_t *const lists[] = {conv.stride, conv.padding, conv.dilation, conv.more}, numbers[MOST_NUMBERS];
    const taper_tensor *weight = state->of[0].as.tensor;
    const int channel = x->rank - 3;
    if (weight->rank != 4 || (channel != 0 && channel != 1) ||
        (TAPER_DEVICES && layer->transposed != 0 && !read_flag(state, layer->transposed, &conv.transposed))) {
        return false;
    }
    for (size_t i = 0; i < (conv.transposed ? 4 : 3); i++) {
        const size_t count = layer->lists[i] < state->count ? numbers_of(state->of[layer->lists[i]], numbers) : 0;
        if (count != 1 && count != 2) {
            return false;
        }
        lists[i][0] = numbers[0];
        lists[i][1] = numbers[count - 1];
    }
    const bool grouped = conv.transposed && layer->groups < state->count && state->of[layer->groups].tag == TAPER_INT;
    *shape = *x;
    shape->sizes[channel] = channels_of(weight, conv.transposed, grouped ? state->of[layer->groups].as.i : 0);
    for (size_t d = 0; d < 2; d++) {
        conv.kernel[d] = weight->sizes[2 + d];
        const int at = channel + 1 + (int)d;
        shape->sizes[at] = taper_infer_conv_size(&conv, d, x->sizes[at]);
    }
    return true;
}

int64_t taper_infer_both_directions(const taper_infer_call *call)
{
    // A recurrent network that was packed for Vulkan has a list as its state. Item 5 is the flag `bidirectional`.
    enum { BOTH = 5 };
    const taper_known *last = &call->args[call->count - 1];
    items state;
    bool both;
    if ((taper_op_facts(call->op) & TAPER_OP_PACKED) == 0) {
        return taper_infer_int(call, "bidirectional", TAPER_UNKNOWN);
    }
    return last->kind == TAPER_KNOWN_VALUE && last->value.tag == TAPER_OBJECT && last->value.as.object->count != 0 &&
                   items_of(last->value.as.object->slots[0], &state) && read_flag(&state, BOTH, &both)
               ? both
               : TAPER_UNKNOWN;
}

bool taper_infer_packed(const taper_infer_call *call, taper_shape *shape)
{
    const taper_shape x = taper_infer_tensor(call, 0);
    items state;
    if (call->count < 2 || call->args[1].kind != TAPER_KNOWN_VALUE || call->args[1].value.tag != TAPER_OBJECT) {
        return false;
    }
    const taper_object *object = call->args[1].value.as.object;
    if (object->count == 0 || !items_of(object->slots[0], &state)) {
        return false;
    }
    const layer_class *const layer = find_layer(object);
    if (layer != NULL) {
        const bool weighs = state.count != 0 && state.of[0].tag == TAPER_TENSOR;
        if (!weighs || !layer->linear) {
            return weighs && packed_conv(&x, layer, &state, shape);
        }
        if (x.rank < 1 || state.of[0].as.tensor->rank != 2) {
            return false;
        }
        *shape = x;
        shape->sizes[x.rank - 1] = state.of[0].as.tensor->sizes[layer->in_out];
        return true;
    }
    int64_t numbers[MOST_NUMBERS];
    size_t count;
    const taper_tensor *weight =
        is_named(object, ".quantized.Conv2dPackedParamsBase") ? conv_state(&state, numbers, &count) : NULL;
    if (weight == NULL || weight->rank != 4 || x.rank != 4 || count != 11 || numbers[0] != 2) {
        return false;
    }
    const taper_conv_shape conv = {.stride = {numbers[1], numbers[2]},
                                   .padding = {numbers[3], numbers[4]},
                                   .dilation = {numbers[5], numbers[6]},
                                   .more = {numbers[7], numbers[8]},
                                   .kernel = {weight->sizes[2], weight->sizes[3]},
                                   .transposed = numbers[10] != 0};
    *shape = x;
    shape->sizes[1] = channels_of(weight, conv.transposed, numbers[9]);
    for (size_t d = 0; d < 2; d++) {
        shape->sizes[2 + d] = taper_infer_conv_size(&conv, d, x.sizes[2 + d]);
    }
    return true;
}
