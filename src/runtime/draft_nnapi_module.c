// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's NnapiModule (torch/backends/_nnapi/prepare.py) as an attribute of the root, and what its forward does as
// nodes, as they are after inlining: stock PyTorch runs them, and frontend/nnapi/nnapi.c knows them when it reads them.
#include <stdio.h>

#include "backends/nnapi/serialize.h"
#include "frontend/nnapi/lowering.h"
#include "runtime/draft_nnapi.h"

// Attributes, in the order of their slots.
enum {
    TRAINING,
    SER_MODEL,
    WEIGHTS,
    INP_MEM_FMTS,
    OUT_MEM_FMTS,
    OUT_TEMPLATES,
    COMP,
    COMPILATION_PREFERENCE,
    RELAX_F32_TO_F16,
    ATTRIBUTES
};
static const char *const names[ATTRIBUTES] = {"training",        "ser_model",     "weights", "inp_mem_fmts",
                                              "out_mem_fmts",    "out_templates", "comp",    "compilation_preference",
                                              "relax_f32_to_f16"};
static const char module_class[] = "__torch__.torch.backends._nnapi.prepare.NnapiModule",
                  compilation_class[] = "__torch__.torch.classes._nnapi.Compilation";

// ---- the object

// output: of the results, otherwise of the inputs.
static taper_status formats(taper_heap *heap, const taper_network *network, bool output, taper_val *made,
                            taper_error *error)
{
    const size_t count = output ? network->output_count : network->input_count;
    taper_list *list = taper_list_new(heap, &taper_type_int, count);
    if (list == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[list->count++] =
            taper_val_int(output ? network->output_images[i] : network->operands[network->inputs[i]].is_image);
    }
    *made = TAPER_VAL(list);
    return TAPER_OK;
}

static taper_status fill_object(const taper_nnapi_part *part, taper_object *object, taper_error *error)
{
    const taper_network *network = part->network;
    taper_heap *heap = part->compilation->module->heap;
    taper_tensor *blob;
    taper_list *buffers;
    TAPER_TRY(taper_network_serialize(network, heap, &blob, &buffers, error));
    taper_val_replace(&object->slots[SER_MODEL], TAPER_VAL(blob));
    taper_val_replace(&object->slots[WEIGHTS], TAPER_VAL(buffers));
    TAPER_TRY(formats(heap, network, false, &object->slots[INP_MEM_FMTS], error));
    TAPER_TRY(formats(heap, network, true, &object->slots[OUT_MEM_FMTS], error));
    taper_list *templates = taper_list_new(heap, &taper_type_tensor, 0);
    if (templates == NULL) {
        return taper_fail_memory(error);
    }
    taper_val_replace(&object->slots[OUT_TEMPLATES], TAPER_VAL(templates));
    object->slots[TRAINING] = taper_val_bool(false);
    object->slots[COMPILATION_PREFERENCE] = taper_val_int(part->preference);
    object->slots[RELAX_F32_TO_F16] = taper_val_bool(part->relax);
    return TAPER_OK;
}

// As a new attribute of the root.
static taper_status add_object(const taper_nnapi_part *part, int64_t *slot, taper_error *error)
{
    taper_compilation *compilation = part->compilation;
    taper_object *root = compilation->root.as.object;
    taper_types *types = compilation->module->types;
    char name[32];
    const char *const added[] = {name};
    const taper_class *klass = taper_types_class(types, module_class, ATTRIBUTES, names);
    taper_object *object = klass != NULL ? taper_object_new(compilation->module->heap, klass, ATTRIBUTES) : NULL;
    if (object == NULL) {
        return taper_fail_memory(error);
    }
    (void)snprintf(name, sizeof name, "nnapi_module_%zu", part->number);
    *slot = (int64_t)root->klass->count;
    taper_status status = fill_object(part, object, error);
    if (status == TAPER_OK) {
        status = taper_object_add_slots(root, types, added, 1, error);
    }
    if (status != TAPER_OK) {
        taper_val_release(TAPER_VAL(object));
        return status;
    }
    taper_val_replace(&root->slots[*slot], TAPER_VAL(object));
    return TAPER_OK;
}

// ---- nodes

static taper_status append(taper_nnapi_lowering *l, taper_node *node, taper_ir_value **made)
{
    node->debug = l->debug;
    node->instruction = l->instruction;
    taper_node_append(l->block, node);
    if (made != NULL) {
        *made = &node->outputs[0];
    }
    return TAPER_OK;
}

static taper_status get(taper_nnapi_lowering *l, taper_ir_value *object, int64_t slot, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_GET_ATTR, 1, 1, &node, l->error));
    node->number = slot;
    TAPER_TRY(append(l, node, made));
    taper_node_set_input(node, 0, object);
    return TAPER_OK;
}

static taper_status set(taper_nnapi_lowering *l, taper_ir_value *object, int64_t slot, taper_ir_value *value)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_SET_ATTR, 2, 0, &node, l->error));
    node->number = slot;
    TAPER_TRY(append(l, node, NULL));
    taper_node_set_input(node, 0, object);
    taper_node_set_input(node, 1, value);
    return TAPER_OK;
}

static taper_status call(taper_nnapi_lowering *l, const char *method, taper_ir_value *const *args, size_t count)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_CALL, count, 1, &node, l->error));
    node->name = method;
    TAPER_TRY(append(l, node, NULL));
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(node, i, args[i]);
    }
    return TAPER_OK;
}

// An If without results; *outer: where its block is left to.
static taper_status begin_if(taper_nnapi_lowering *l, taper_ir_value *condition, taper_block **outer)
{
    taper_node *node;
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_IF, 1, 0, &node, l->error));
    TAPER_TRY(append(l, node, NULL));
    taper_node_set_input(node, 0, condition);
    node->block_count = 2;
    for (size_t b = 0; b < 2; b++) {
        TAPER_TRY(taper_block_create(l->graph, node, 0, &node->blocks[b], l->error));
    }
    *outer = l->block;
    l->block = node->blocks[0];
    return TAPER_OK;
}

// for index in range(len(list))
static taper_status begin_loop(taper_nnapi_lowering *l, taper_ir_value *list, taper_ir_value **index,
                               taper_block **outer)
{
    taper_node *node;
    taper_ir_value *trips, *always;
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_len_t), &trips, list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_bool(true), &always));
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_LOOP, 2, 0, &node, l->error));
    TAPER_TRY(append(l, node, NULL));
    taper_node_set_input(node, 0, trips);
    taper_node_set_input(node, 1, always);
    node->block_count = 1;
    TAPER_TRY(taper_block_create(l->graph, node, 1, &node->blocks[0], l->error));
    TAPER_TRY(taper_block_set_results(node->blocks[0], (taper_ir_value *const[]){always}, 1, l->error));
    *index = &node->blocks[0]->params[0];
    *outer = l->block;
    l->block = node->blocks[0];
    return TAPER_OK;
}

// ---- init

// An empty tensor like result i, in NNAPI's order of dimensions.
static taper_status make_template(taper_nnapi_lowering *l, const taper_nnapi_part *part, size_t i,
                                  taper_ir_value **made)
{
    const taper_network_operand *o = &part->network->operands[part->network->outputs[i]];
    int64_t sizes[TAPER_MAX_RANK];
    const int64_t one = 1;
    for (uint32_t d = 0; d < o->rank; d++) {
        sizes[d] = o->sizes[d];
    }
    taper_ir_value *list, *dtype, *zeros, *scale, *zero_point, *kind;
    if (o->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        TAPER_TRY(taper_nnapi_int_list(l, sizes, o->rank, &list));
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(TAPER_F32), &dtype));
        return TAPER_NNAPI_CALL(l, TAPER_OP(aten_zeros), made, list, dtype);
    }
    TAPER_TRY(taper_nnapi_int_list(l, &one, 1, &list));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_zeros), &zeros, list));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_double(part->scales[i]), &scale));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(o->zero_point), &zero_point));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(TAPER_QU8), &kind));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_quantize_per_tensor), &zeros, zeros, scale, zero_point, kind));
    TAPER_TRY(taper_nnapi_int_list(l, sizes, o->rank, &list));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_expand), &zeros, zeros, list));
    return TAPER_NNAPI_CALL(l, TAPER_OP(aten_contiguous), made, zeros);
}

// if self.comp is None: templates, and the compilation
static taper_status add_init(taper_nnapi_lowering *l, const taper_nnapi_part *part, taper_ir_value *module)
{
    taper_ir_value *comp, *none, *is_none, *templates, *made, *args[5], **items;
    taper_block *outer;
    taper_node *create;
    TAPER_TRY(get(l, module, COMP, &comp));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_none(), &none));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten___is__), &is_none, comp, none));
    TAPER_TRY(begin_if(l, is_none, &outer));
    TAPER_TRY(taper_nnapi_values(l, part->network->output_count, &items));
    for (size_t i = 0; i < part->network->output_count; i++) {
        TAPER_TRY(make_template(l, part, i, &items[i]));
    }
    TAPER_TRY(taper_nnapi_list(l, &taper_type_list_tensor, items, part->network->output_count, &templates));
    TAPER_TRY(set(l, module, OUT_TEMPLATES, templates));
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_OBJECT, 0, 1, &create, l->error));
    TAPER_TRY(taper_type_make(part->compilation->module->types, TAPER_TYPE_CLASS, compilation_class, NULL, NULL, 0,
                              &create->type, l->error));
    TAPER_TRY(append(l, create, &made));
    TAPER_TRY(call(l, "__init__", &made, 1));
    args[0] = made;
    TAPER_TRY(get(l, module, SER_MODEL, &args[1]));
    TAPER_TRY(get(l, module, WEIGHTS, &args[2]));
    TAPER_TRY(get(l, module, COMPILATION_PREFERENCE, &args[3]));
    TAPER_TRY(get(l, module, RELAX_F32_TO_F16, &args[4]));
    TAPER_TRY(call(l, "init2", args, 5));
    TAPER_TRY(set(l, module, COMP, made));
    l->block = outer;
    return TAPER_OK;
}

// ---- forward

static taper_status permuted(taper_nnapi_lowering *l, taper_ir_value *x, bool to_image, taper_ir_value **made)
{
    static const int64_t orders[2][4] = {{0, 3, 1, 2}, {0, 2, 3, 1}};
    taper_ir_value *order;
    TAPER_TRY(taper_nnapi_int_list(l, orders[to_image], 4, &order));
    return TAPER_NNAPI_CALL(l, TAPER_OP(aten_permute), made, x, order);
}

static taper_status add_run(taper_nnapi_lowering *l, const taper_nnapi_part *part, taper_ir_value *module,
                            taper_ir_value **outs)
{
    taper_ir_value *templates, *index, *item, *empty, *appended, *fixed, *x, *args[3];
    taper_block *outer;
    TAPER_TRY(get(l, module, COMP, &args[0]));
    TAPER_TRY(taper_nnapi_list(l, &taper_type_list_tensor, NULL, 0, outs));
    TAPER_TRY(get(l, module, OUT_TEMPLATES, &templates));
    TAPER_TRY(begin_loop(l, templates, &index, &outer));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten___getitem___t), &item, templates, index));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_empty_like), &empty, item));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_append_t), &appended, *outs, empty));
    l->block = outer;
    TAPER_TRY(taper_nnapi_list(l, &taper_type_list_tensor, NULL, 0, &fixed));
    for (uint32_t i = 0; i < part->network->input_count; i++) {
        x = (taper_ir_value *)(uintptr_t)part->inputs[i];
        if (part->network->operands[part->network->inputs[i]].is_image) {
            TAPER_TRY(permuted(l, x, true, &x));
        }
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_contiguous), &x, x));
        TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_append_t), &appended, fixed, x));
    }
    args[1] = fixed;
    args[2] = *outs;
    return call(l, "run", args, 3);
}

// Images among the results are [N, C, H, W] again.
static taper_status add_formats(taper_nnapi_lowering *l, taper_ir_value *module, taper_ir_value *outs)
{
    taper_ir_value *modes, *templates, *index, *mode, *one, *image, *item, *set_item;
    taper_block *outer, *loop;
    TAPER_TRY(get(l, module, OUT_TEMPLATES, &templates));
    TAPER_TRY(get(l, module, OUT_MEM_FMTS, &modes));
    TAPER_TRY(begin_loop(l, templates, &index, &outer));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten___getitem___t), &mode, modes, index));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(1), &one));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten_eq_int), &image, mode, one));
    TAPER_TRY(begin_if(l, image, &loop));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten___getitem___t), &item, outs, index));
    TAPER_TRY(permuted(l, item, false, &item));
    TAPER_TRY(TAPER_NNAPI_CALL(l, TAPER_OP(aten__set_item_t), &set_item, outs, index, item));
    l->block = outer;
    (void)loop;
    return TAPER_OK;
}

taper_status taper_draft_nnapi_module(const taper_nnapi_part *part, taper_ir_value ***given, taper_error *error)
{
    taper_node *const segment = part->segment, *holder;
    int64_t slot;
    taper_ir_value *module, *outs, *number, **results;
    taper_nnapi_lowering l = {.registry = part->compilation->registry,
                              .heap = part->compilation->module->heap,
                              .graph = part->graph,
                              .error = error,
                              .debug = segment->debug,
                              .instruction = segment->instruction};
    TAPER_TRY(add_object(part, &slot, error));
    TAPER_TRY(taper_node_create(part->graph, TAPER_NODE_IF, 0, 0, &holder, error));
    TAPER_TRY(taper_block_create(part->graph, holder, 0, &l.block, error));
    taper_block *const block = l.block;
    TAPER_TRY(get(&l, &part->graph->body->params[0], slot, &module));
    TAPER_TRY(add_init(&l, part, module));
    TAPER_TRY(add_run(&l, part, module, &outs));
    TAPER_TRY(add_formats(&l, module, outs));
    TAPER_TRY(taper_nnapi_values(&l, segment->output_count, &results));
    for (uint32_t i = 0; i < segment->output_count; i++) {
        TAPER_TRY(taper_nnapi_constant(&l, taper_val_int(i), &number));
        TAPER_TRY(TAPER_NNAPI_CALL(&l, TAPER_OP(aten___getitem___t), &results[i], outs, number));
    }
    taper_block_inline_before(block, segment);
    for (uint32_t i = 0; i < segment->output_count; i++) {
        taper_value_replace_uses(&segment->outputs[i], results[i]);
    }
    taper_node_remove(segment);
    *given = results;
    return TAPER_OK;
}
