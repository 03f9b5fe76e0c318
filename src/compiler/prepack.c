// SPDX-License-Identifier: BSD-2-Clause
// Replaces layers with constant weights by calls of the backend's operator on an object of packed weights, as PyTorch's
// optimize_for_mobile does. The backend's own prepack operators make the objects (ops/nn/prepacked.c), so the states of
// the objects are valid. Packed convolutions take only batches of images, as in PyTorch. A convolution is therefore not
// packed if the graph shows that its input may be an image without a batch. The caller's input is assumed to be a
// batch, so a model whose input is one image must be optimized without this pass.
#include "compiler/prepack.h"

#include "compiler/layer.h"
#include "ir/tensor.h"

static taper_status ints(taper_compilation *compilation, const int64_t *numbers, taper_val *value)
{
    taper_list *list = taper_list_new(compilation->module->heap, &taper_type_int, 2);
    if (list == NULL) {
        return taper_fail_memory(compilation->error);
    }
    list->items[0] = taper_val_int(numbers[0]);
    list->items[1] = taper_val_int(numbers[1]);
    list->count = 2;
    *value = TAPER_VAL(list);
    return TAPER_OK;
}

taper_status taper_transposed_weight(const taper_compilation *compilation, const taper_tensor *w, taper_tensor **made)
{
    const int64_t sizes[2] = {w->sizes[1], w->sizes[0]}, strides[2] = {w->strides[1], w->strides[0]};
    return taper_tensor_view(compilation->module->heap, w->storage, (taper_dtype)w->dtype, w->offset, 2, sizes, strides,
                             made, compilation->error);
}

enum { MOST_ARGUMENTS = 9, MOST_BRANCHES = 4 };

// Sets `args` to the arguments of the prepack operator, in the order of its schema. The caller releases `args`. An
// argument that the layer does not determine is None if the schema has a default for it.
static taper_status fill_arguments(taper_compilation *compilation, const taper_layer *layer, bool transposed_weight,
                                   const taper_schema *schema, taper_val *args)
{
    for (size_t i = 0; i < schema->arg_count; i++) {
        const char *name = schema->args[i].name;
        taper_tensor *weight;
        if (strcmp(name, "W") == 0) {
            if (transposed_weight) {
                TAPER_TRY(taper_transposed_weight(compilation, layer->weight, &weight));
                args[i] = TAPER_VAL(weight);
            } else {
                args[i] = taper_val_retain(TAPER_VAL(layer->weight));
            }
        } else if (strcmp(name, "B") == 0) {
            args[i] = layer->bias != NULL ? taper_val_retain(TAPER_VAL(layer->bias)) : taper_val_none();
        } else if (strcmp(name, "stride") == 0) {
            TAPER_TRY(ints(compilation, layer->stride, &args[i]));
        } else if (strcmp(name, "padding") == 0) {
            TAPER_TRY(ints(compilation, layer->padding, &args[i]));
        } else if (strcmp(name, "dilation") == 0) {
            TAPER_TRY(ints(compilation, layer->dilation, &args[i]));
        } else if (strcmp(name, "output_padding") == 0) {
            TAPER_TRY(ints(compilation, layer->output_padding, &args[i]));
        } else if (strcmp(name, "groups") == 0) {
            args[i] = taper_val_int(layer->groups);
        }
    }
    return TAPER_OK;
}

// Makes the object of packed weights. *object is None if the operator refuses the layer.
static taper_status pack(taper_compilation *compilation, const taper_layer *layer, const taper_op *op,
                         bool transposed_weight, taper_val *object)
{
    const taper_schema *schema;
    *object = taper_val_none();
    if (op == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_registry_schema(compilation->registry, op, &schema, compilation->error));
    if (schema->arg_count > MOST_ARGUMENTS) {
        return TAPER_OK;
    }
    taper_val args[MOST_ARGUMENTS];
    for (size_t i = 0; i < MOST_ARGUMENTS; i++) {
        args[i] = taper_val_none();
    }
    taper_status status = fill_arguments(compilation, layer, transposed_weight, schema, args);
    if (status == TAPER_OK) {
        status = taper_prepack_object(compilation, op, args, schema->arg_count, object);
    }
    for (size_t i = 0; i < MOST_ARGUMENTS; i++) {
        taper_val_release(args[i]);
    }
    return status;
}

// Returns true for a transposed convolution whose output padding is at least the stride. PyTorch's CPU engine cannot
// run it.
static bool pads_too_much(const taper_layer *layer)
{
    return layer->transposed &&
           (layer->output_padding[0] >= layer->stride[0] || layer->output_padding[1] >= layer->stride[1]);
}

// If `node` is an If that compares a rank with 3, returns the value with that rank, otherwise NULL. *block: index of
// the block that runs if the rank is 3.
static const taper_ir_value *asked_for_rank(const taper_node *node, size_t *block)
{
    double asked;
    const taper_node *test = taper_node_in(node, 0)->node;
    if (test == NULL ||
        (!taper_node_calls(test, TAPER_OP(aten_eq_int)) && !taper_node_calls(test, TAPER_OP(aten_ne_int))) ||
        !taper_node_constant_is_number(test, 1, &asked) || asked != 3) {
        return NULL;
    }
    const taper_node *dim = taper_node_in(test, 0)->node;
    *block = taper_node_calls(test, TAPER_OP(aten_eq_int)) ? 0 : 1;
    return dim != NULL && taper_node_calls(dim, TAPER_OP(aten_dim)) ? taper_node_in(dim, 0) : NULL;
}

// Returns true if the input may be an image without a batch. PyTorch's modules for instance norm test with an If
// whether the rank is 3; the block for rank 3 adds a batch before the norm and removes it afterwards. Only the block
// for rank 3 can return its input as an image without a batch, and it does so only if it does not add a dimension.
static bool may_have_no_batch(const taper_ir_value *input, int branches)
{
    const taper_rank rank = taper_rank_of(input);
    const taper_node *node = rank.from->node;
    if (rank.number >= 0 || rank.more != 0) {
        return rank.number >= 0 ? rank.number == 3 : rank.more < 0;
    }
    if (node == NULL || node->kind != TAPER_NODE_IF || branches == 0) {
        return false;
    }
    size_t image = 0;
    const taper_ir_value *asked = asked_for_rank(node, &image);
    for (size_t b = 0; b < 2; b++) {
        const taper_ir_value *value = node->blocks[b]->results[rank.from->index].value;
        const taper_rank given = taper_rank_of(value);
        if (asked != NULL && given.from == taper_rank_of(asked).from) {
            if (b == image && !given.squeezed && given.more == taper_rank_of(asked).more) {
                return true;
            }
        } else if (may_have_no_batch(value, branches - 1)) {
            return true;
        }
    }
    return false;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    taper_layer layer;
    if (!taper_layer_match(compilation, node, &layer)) {
        return taper_prepack_recurrent(compilation, node);
    }
    if ((layer.convolution && (layer.dims != 2 || may_have_no_batch(layer.input, MOST_BRANCHES))) ||
        pads_too_much(&layer)) {
        return TAPER_OK;
    }
    const taper_op_layer kind = !layer.convolution ? TAPER_LAYER_LINEAR
                                : layer.transposed ? TAPER_LAYER_CONV_TRANSPOSED2
                                                   : TAPER_LAYER_CONV2;
    const taper_op *packs = taper_prepack_row(compilation, TAPER_OP_PACKS, kind),
                   *runs = taper_prepack_row(compilation, TAPER_OP_PACKED, kind);
    taper_val object;
    taper_node *run;
    taper_ir_value *packed;
    if (packs == NULL || runs == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(pack(compilation, &layer, packs, !layer.convolution && compilation->preparer->turns_linear, &object));
    if (object.tag != TAPER_OBJECT) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_constant_before(node, object, &packed, compilation->error));
    TAPER_TRY(taper_op_before(compilation, node, runs, &run));
    taper_node_set_input(run, 0, layer.input);
    taper_node_set_input(run, 1, packed);
    taper_node_replace(node, run);
    return TAPER_OK;
}

taper_status taper_pass_prepack(taper_compilation *compilation, taper_graph *graph)
{
    TAPER_TRY(taper_written_storages_find(compilation));
    return taper_visit_nodes(compilation, graph->body, visit);
}
