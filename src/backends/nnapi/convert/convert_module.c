// SPDX-License-Identifier: BSD-2-Clause
// Makes PyTorch's NnapiModule (torch/backends/_nnapi/prepare.py) as an attribute of the root. The module's forward is
// written as the nodes that it consists of after inlining. Stock PyTorch can run them, and frontend/nnapi/nnapi.c
// recognizes them.
#include <stdio.h>

#include "backends/nnapi/convert/script_sizes.h"
#include "backends/nnapi/serialize.h"

// The attributes of the module, in the order of their slots.
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
    SIZES, // sizes for which a module with flexible sizes is compiled; other modules lack this attribute
    ATTRIBUTES
};
static const char *const names[ATTRIBUTES] = {"training",         "ser_model",     "weights", "inp_mem_fmts",
                                              "out_mem_fmts",     "out_templates", "comp",    "compilation_preference",
                                              "relax_f32_to_f16", "sizes"};
static const char module_class[] = "__torch__.torch.backends._nnapi.prepare.NnapiModule",
                  compilation_class[] = "__torch__.torch.classes._nnapi.Compilation";

// ---- the NnapiModule object

// Makes the list of memory formats: of the results if `output` is set, otherwise of the inputs.
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
    if (object->count > SIZES) {
        taper_list *sizes = taper_list_new(heap, &taper_type_int, 0);
        if (sizes == NULL) {
            return taper_fail_memory(error);
        }
        taper_val_replace(&object->slots[SIZES], TAPER_VAL(sizes));
    }
    object->slots[TRAINING] = taper_val_bool(false);
    object->slots[COMPILATION_PREFERENCE] = taper_val_int(part->preference);
    object->slots[RELAX_F32_TO_F16] = taper_val_bool(part->relax);
    return TAPER_OK;
}

// Adds the object as a new attribute of the root.
static taper_status add_object(const taper_nnapi_part *part, int64_t *slot, taper_error *error)
{
    taper_compilation *compilation = part->compilation;
    taper_object *root = compilation->root.as.object;
    taper_types *types = compilation->module->types;
    char name[32];
    const char *const added[] = {name};
    const size_t attributes = taper_script_is_open(part->network) ? ATTRIBUTES : SIZES;
    const taper_class *klass = taper_types_class(types, module_class, attributes, names);
    taper_object *object = klass != NULL ? taper_object_new(compilation->module->heap, klass, attributes) : NULL;
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

// ---- init: the nodes that compile the network before the module's first run

// Adds an empty tensor with the dtype and sizes of result i, in NNAPI's order of dimensions.
static taper_status make_template(taper_emitter *e, const taper_nnapi_part *part, const taper_script_sizes *open,
                                  size_t i, taper_ir_value **made)
{
    const taper_network_operand *o = &part->network->operands[part->network->outputs[i]];
    int64_t sizes[TAPER_MAX_RANK];
    const int64_t one = 1;
    for (uint32_t d = 0; d < o->rank; d++) {
        sizes[d] = o->sizes[d];
    }
    taper_ir_value *list, *dtype, *zeros, *scale, *zero_point, *kind;
    if (open != NULL) {
        TAPER_TRY(taper_script_sizes_of(e, open, part->network, part->network->outputs[i], &list));
    } else {
        TAPER_TRY(taper_emit_int_list(e, sizes, o->rank, &list));
    }
    taper_ir_value *const all = list;
    if (o->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        TAPER_TRY(taper_emit_constant(e, taper_val_int(TAPER_F32), &dtype));
        return TAPER_EMIT_CALL(e, TAPER_OP(aten_zeros), made, list, dtype);
    }
    TAPER_TRY(taper_emit_int_list(e, &one, 1, &list));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_zeros), &zeros, list));
    TAPER_TRY(taper_emit_constant(e, taper_val_double(part->scales[i]), &scale));
    TAPER_TRY(taper_emit_constant(e, taper_val_int(o->zero_point), &zero_point));
    TAPER_TRY(taper_emit_constant(e, taper_val_int(TAPER_QU8), &kind));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_quantize_per_tensor), &zeros, zeros, scale, zero_point, kind));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_expand), &zeros, zeros, all));
    return TAPER_EMIT_CALL(e, TAPER_OP(aten_contiguous), made, zeros);
}

// Adds the condition for init: self.comp is None or, for flexible sizes, the module was compiled for other sizes.
static taper_status must_init(taper_emitter *e, const taper_nnapi_part *part, taper_ir_value *module,
                              taper_script_sizes *open, taper_ir_value **now, taper_ir_value **must)
{
    taper_ir_value *have, *none;
    *now = NULL;
    if (taper_script_is_open(part->network)) {
        TAPER_TRY(taper_script_read_sizes(e, part, open, now));
        TAPER_TRY(taper_script_get(e, module, SIZES, &have));
        return TAPER_EMIT_CALL(e, TAPER_OP(aten_ne_int_list), must, *now, have);
    }
    TAPER_TRY(taper_script_get(e, module, COMP, &have));
    TAPER_TRY(taper_emit_constant(e, taper_val_none(), &none));
    return TAPER_EMIT_CALL(e, TAPER_OP(aten___is__), must, have, none);
}

// Adds nodes that make the templates of the results and the Compilation object, if they must be made.
static taper_status add_init(taper_emitter *e, const taper_nnapi_part *part, taper_ir_value *module)
{
    taper_ir_value *must, *now, *templates, *made, *args[5], **items;
    taper_script_sizes open;
    taper_block *outer;
    TAPER_TRY(must_init(e, part, module, &open, &now, &must));
    TAPER_TRY(taper_script_if(e, must, &outer));
    if (now != NULL) {
        TAPER_TRY(taper_script_compute_sizes(e, &open));
    }
    TAPER_TRY(taper_emit_values(e, part->network->output_count, &items));
    for (size_t i = 0; i < part->network->output_count; i++) {
        TAPER_TRY(make_template(e, part, now != NULL ? &open : NULL, i, &items[i]));
    }
    TAPER_TRY(taper_emit_list(e, &taper_type_list_tensor, items, part->network->output_count, &templates));
    TAPER_TRY(taper_script_set(e, module, OUT_TEMPLATES, templates));
    TAPER_TRY(taper_script_object(e, part->compilation->module->types, compilation_class, &made));
    TAPER_TRY(taper_script_call(e, "__init__", &made, 1));
    args[0] = made;
    TAPER_TRY(taper_script_get(e, module, SER_MODEL, &args[1]));
    if (now != NULL) {
        TAPER_TRY(taper_script_sized_model(e, &open, part->network, args[1], &args[1]));
    }
    TAPER_TRY(taper_script_get(e, module, WEIGHTS, &args[2]));
    TAPER_TRY(taper_script_get(e, module, COMPILATION_PREFERENCE, &args[3]));
    TAPER_TRY(taper_script_get(e, module, RELAX_F32_TO_F16, &args[4]));
    TAPER_TRY(taper_script_call(e, "init2", args, 5));
    TAPER_TRY(taper_script_set(e, module, COMP, made));
    if (now != NULL) {
        TAPER_TRY(taper_script_set(e, module, SIZES, now));
    }
    e->block = outer;
    return TAPER_OK;
}

// ---- the new forward

static taper_status permuted(taper_emitter *e, taper_ir_value *x, bool to_image, taper_ir_value **made)
{
    static const int64_t orders[2][4] = {{0, 3, 1, 2}, {0, 2, 3, 1}};
    taper_ir_value *order;
    TAPER_TRY(taper_emit_int_list(e, orders[to_image], 4, &order));
    return TAPER_EMIT_CALL(e, TAPER_OP(aten_permute), made, x, order);
}

static taper_status add_run(taper_emitter *e, const taper_nnapi_part *part, taper_ir_value *module,
                            taper_ir_value **outs)
{
    taper_ir_value *templates, *index, *item, *empty, *appended, *fixed, *x, *args[3];
    taper_block *outer;
    TAPER_TRY(taper_script_get(e, module, COMP, &args[0]));
    TAPER_TRY(taper_emit_list(e, &taper_type_list_tensor, NULL, 0, outs));
    TAPER_TRY(taper_script_get(e, module, OUT_TEMPLATES, &templates));
    TAPER_TRY(taper_script_for(e, templates, &index, &outer));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten___getitem___t), &item, templates, index));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_empty_like), &empty, item));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_append_t), &appended, *outs, empty));
    e->block = outer;
    TAPER_TRY(taper_emit_list(e, &taper_type_list_tensor, NULL, 0, &fixed));
    for (uint32_t i = 0; i < part->network->input_count; i++) {
        x = (taper_ir_value *)(uintptr_t)part->inputs[i];
        if (part->network->operands[part->network->inputs[i]].is_image) {
            TAPER_TRY(permuted(e, x, true, &x));
        }
        TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_contiguous), &x, x));
        TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_append_t), &appended, fixed, x));
    }
    args[1] = fixed;
    args[2] = *outs;
    return taper_script_call(e, "run", args, 3);
}

// Permutes images among the results to [N, C, H, W].
static taper_status add_formats(taper_emitter *e, taper_ir_value *module, taper_ir_value *outs)
{
    taper_ir_value *modes, *templates, *index, *mode, *one, *image, *item, *set_item;
    taper_block *outer, *loop;
    TAPER_TRY(taper_script_get(e, module, OUT_TEMPLATES, &templates));
    TAPER_TRY(taper_script_get(e, module, OUT_MEM_FMTS, &modes));
    TAPER_TRY(taper_script_for(e, templates, &index, &outer));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten___getitem___t), &mode, modes, index));
    TAPER_TRY(taper_emit_constant(e, taper_val_int(1), &one));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_eq_int), &image, mode, one));
    TAPER_TRY(taper_script_if(e, image, &loop));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten___getitem___t), &item, outs, index));
    TAPER_TRY(permuted(e, item, false, &item));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten__set_item_t), &set_item, outs, index, item));
    e->block = outer;
    (void)loop;
    return TAPER_OK;
}

taper_status taper_nnapi_write_module(const taper_nnapi_part *part, taper_ir_value ***given, taper_error *error)
{
    taper_node *const segment = part->segment, *holder;
    int64_t slot;
    taper_ir_value *module, *outs, *number, **results;
    taper_emitter e = {.registry = part->compilation->registry,
                       .heap = part->compilation->module->heap,
                       .graph = part->graph,
                       .error = error,
                       .debug = segment->debug,
                       .instruction = segment->instruction};
    TAPER_TRY(add_object(part, &slot, error));
    TAPER_TRY(taper_node_create(part->graph, TAPER_NODE_IF, 0, 0, &holder, error));
    TAPER_TRY(taper_block_create(part->graph, holder, 0, &e.block, error));
    taper_block *const block = e.block;
    TAPER_TRY(taper_script_get(&e, &part->graph->body->params[0], slot, &module));
    TAPER_TRY(add_init(&e, part, module));
    TAPER_TRY(add_run(&e, part, module, &outs));
    TAPER_TRY(add_formats(&e, module, outs));
    TAPER_TRY(taper_emit_values(&e, segment->output_count, &results));
    for (uint32_t i = 0; i < segment->output_count; i++) {
        TAPER_TRY(taper_emit_constant(&e, taper_val_int(i), &number));
        TAPER_TRY(TAPER_EMIT_CALL(&e, TAPER_OP(aten___getitem___t), &results[i], outs, number));
        if (part->network
                ->output_images[i]) { // without this permutation, views and the app could notice the memory order
            TAPER_TRY(TAPER_EMIT_CALL(&e, TAPER_OP(aten_contiguous), &results[i], results[i]));
        }
    }
    taper_block_inline_before(block, segment);
    for (uint32_t i = 0; i < segment->output_count; i++) {
        taper_value_replace_uses(&segment->outputs[i], results[i]);
    }
    taper_node_remove(segment);
    *given = results;
    return TAPER_OK;
}
