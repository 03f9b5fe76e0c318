// SPDX-License-Identifier: BSD-2-Clause
// Lowers targets (the operators and functions that the program's nodes call) that are not operators of Taper: new names
// of PyTorch 2, questions about sizes, and assertions.
#include <stdio.h>

#include "frontend/export/parts.h"
#include "ir/tensor.h"

typedef taper_status special_lower(taper_export_lowering *l, taper_export_scope *scope);

static taper_status argument(taper_export_lowering *l, const taper_export_scope *scope, const char *name,
                             size_t position, const taper_type *type, taper_ir_value **value)
{
    const taper_pt2_argument *given = taper_export_argument(l->node, name, position);
    return given != NULL ? taper_export_value(l, scope, given, type, value)
                         : taper_export_refuse(l, "argument %s is missing", name);
}

// ---- assertions

static taper_status lower_nothing(taper_export_lowering *l, taper_export_scope *scope)
{
    (void)l, (void)scope;
    return TAPER_OK;
}

static taper_status lower_assert(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_argument *message = taper_export_argument(l->node, "assert_msg", 1);
    const taper_pt2_argument *condition = taper_export_argument(l->node, "self", 0);
    taper_ir_value *value;
    if (l->options->no_guards || condition == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_export_value(l, scope, condition, NULL, &value));
    const taper_type *type = value->type;
    const taper_node *constant = taper_value_constant(value);
    const bool is_int =
        constant != NULL ? constant->constant.tag == TAPER_INT : type != NULL && type->kind == TAPER_TYPE_INT;
    if (type != NULL && type->kind == TAPER_TYPE_TENSOR) {
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_Bool_Tensor), &value, value));
    } else if (is_int) {
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_Bool_int), &value, value));
    }
    return taper_emit_assert(&l->emit, value,
                             message != NULL && message->kind == TAPER_PT2_STRING ? message->as.text
                                                                                  : "an assertion of the model failed");
}

// ---- tensors as numbers

static taper_status lower_item(taper_export_lowering *l, taper_export_scope *scope)
{
    taper_ir_value *x, *number;
    TAPER_TRY(argument(l, scope, "self", 0, NULL, &x));
    if (l->node->output_count == 0 || l->node->outputs[0].kind != TAPER_PT2_VALUE) {
        return TAPER_OK;
    }
    const taper_type *type = taper_export_type(&scope->graph->values[l->node->outputs[0].as.value]);
    const taper_op *op = type->kind == TAPER_TYPE_FLOAT  ? TAPER_OP(aten_Float_Tensor)
                         : type->kind == TAPER_TYPE_BOOL ? TAPER_OP(aten_Bool_Tensor)
                                                         : TAPER_OP(aten_Int_Tensor);
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, op, &number, x));
    return taper_export_name(l, scope, 0, number);
}

// Lowers a question about a tensor, such as its rank. If of_dim is true, the question is about one dimension, such as
// its size.
static taper_status ask(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op, bool of_dim)
{
    taper_ir_value *args[2], *answer;
    TAPER_TRY(argument(l, scope, "self", 0, NULL, &args[0]));
    TAPER_TRY(of_dim ? argument(l, scope, "dim", 1, &taper_type_int, &args[1]) : TAPER_OK);
    TAPER_TRY(taper_emit_call(&l->emit, op, args, of_dim ? 2 : 1, &answer));
    return taper_export_name(l, scope, 0, answer);
}

static taper_status lower_size(taper_export_lowering *l, taper_export_scope *scope)
{
    return ask(l, scope, TAPER_OP(aten_size_int), true);
}

static taper_status lower_stride(taper_export_lowering *l, taper_export_scope *scope)
{
    return ask(l, scope, TAPER_OP(aten_stride_int), true);
}

static taper_status lower_numel(taper_export_lowering *l, taper_export_scope *scope)
{
    return ask(l, scope, TAPER_OP(aten_numel), false);
}

static taper_status lower_storage_offset(taper_export_lowering *l, taper_export_scope *scope)
{
    return ask(l, scope, TAPER_OP(aten_storage_offset), false);
}

static taper_status lower_is_contiguous(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_argument *given = taper_export_argument(l->node, "memory_format", 1);
    taper_ir_value *x, *format, *answer;
    TAPER_TRY(argument(l, scope, "self", 0, NULL, &x));
    TAPER_TRY(given != NULL ? taper_export_value(l, scope, given, &taper_type_int, &format)
                            : taper_emit_constant(&l->emit, taper_val_int(0), &format));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_is_contiguous_memory_format), &answer, x, format));
    return taper_export_name(l, scope, 0, answer);
}

// ---- layers

// Lowers batch norm outside of training to the plain operator, which other passes can fuse. The
// results save_mean and save_invstd are empty, because outside of training nothing uses them.
static taper_status lower_batch_norm(taper_export_lowering *l, taper_export_scope *scope)
{
    static const char *const names[] = {"input", "weight", "bias", "running_mean", "running_var"};
    taper_ir_value *v[9], *y;
    for (size_t i = 0; i < 5; i++) {
        TAPER_TRY(argument(l, scope, names[i], i, &taper_type_optional_tensor, &v[i]));
    }
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_bool(false), &v[5]));
    TAPER_TRY(argument(l, scope, "momentum", 5, &taper_type_float, &v[6]));
    TAPER_TRY(argument(l, scope, "eps", 6, &taper_type_float, &v[7]));
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_bool(true), &v[8]));
    TAPER_TRY(taper_emit_call(&l->emit, TAPER_OP(aten_batch_norm), v, 9, &y));
    TAPER_TRY(taper_export_name(l, scope, 0, y));
    // The results save_mean and save_invstd are empty tensors, as in PyTorch.
    for (size_t i = 1; i < 3; i++) {
        taper_tensor *empty;
        const int64_t none[] = {0};
        TAPER_TRY(taper_tensor_new(l->emit.heap, TAPER_F32, 1, none, NULL, &empty, l->emit.error));
        TAPER_TRY(taper_emit_constant(&l->emit, TAPER_VAL(empty), &y));
        TAPER_TRY(taper_export_name(l, scope, i, y));
    }
    return TAPER_OK;
}

// ---- operators whose further results are for training: they become the plain layer if these results are unused

typedef struct layer_row {
    const char *target, *layer; // target without the prefix "torch.ops.", and name of the layer without "aten::"
    // Name of an argument of the layer, and its name in the target; NULL if all names are equal.
    const char *formal, *given;
} layer_row;

static const layer_row layers[] = {
    {"aten.native_layer_norm.default", "layer_norm", NULL, NULL},
    {"aten.native_group_norm.default", "group_norm", "num_groups", "group"},
    {"aten._fused_rms_norm.default", "rms_norm", NULL, NULL},
    {"aten.max_pool2d_with_indices.default", "max_pool2d", NULL, NULL},
    {"aten.max_pool3d_with_indices.default", "max_pool3d", NULL, NULL},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default", "scaled_dot_product_attention", NULL, NULL},
    {"aten._scaled_dot_product_flash_attention.default", "scaled_dot_product_attention", NULL, NULL},
    {"aten._scaled_dot_product_efficient_attention.default", "scaled_dot_product_attention", "attn_mask", "attn_bias"},
};

static taper_status lower_layer(taper_export_lowering *l, taper_export_scope *scope, const char *target, bool *done)
{
    const taper_pt2_node *node = l->node;
    bool alone =
        // at first, true if the file has names of arguments; the loop clears this flag if an output other than the
        // first is used
        node->input_count != 0 && node->inputs[0].name[0] != '\0';
    for (size_t i = 1; alone && i < node->output_count; i++) {
        alone = node->outputs[i].kind != TAPER_PT2_VALUE || !scope->used[node->outputs[i].as.value];
    }
    for (size_t i = 0; alone && i < sizeof layers / sizeof layers[0]; i++) {
        const layer_row *row = &layers[i];
        char name[64];
        if (strcmp(row->target, target) != 0) {
            continue;
        }
        (void)snprintf(name, sizeof name, "aten::%s", row->layer);
        const taper_op *op = taper_row_find(name, "");
        *done = op != NULL; // false in a selective build without the layer; the build may have the target operator
        return op != NULL ? taper_export_call(l, scope, op, row->formal, row->given, true) : TAPER_OK;
    }
    return TAPER_OK;
}

// ---- functionalized assertions: they return their token

static taper_status lower_functional(taper_export_lowering *l, taper_export_scope *scope)
{
    taper_ir_value *token;
    TAPER_TRY(argument(l, scope, "dep_token", l->node->input_count - 1, NULL, &token));
    return taper_export_name(l, scope, 0, token);
}

static taper_status lower_functional_assert(taper_export_lowering *l, taper_export_scope *scope)
{
    TAPER_TRY(lower_assert(l, scope));
    return lower_functional(l, scope);
}

static taper_status lower_token(taper_export_lowering *l, taper_export_scope *scope)
{
    taper_ir_value *token;
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_none(), &token));
    return taper_export_name(l, scope, 0, token);
}

// ---- parts of tensors of Python subclasses

// Returns the object that contains the parts of a subclass tensor, if `value` is such an object, otherwise NULL.
static const taper_object *parts_of(const taper_export_lowering *l, const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (node == NULL) {
        return value == &l->emit.graph->body->params[0] ? l->module->root.as.object : NULL;
    }
    const taper_object *outer = node->kind == TAPER_NODE_GET_ATTR ? parts_of(l, taper_node_in(node, 0)) : NULL;
    return outer != NULL && outer->slots[node->own.slot].tag == TAPER_OBJECT ? outer->slots[node->own.slot].as.object
                                                                             : NULL;
}

// Lowers export::access_subclass_inner_tensor(tensor, name).
static taper_status lower_inner_tensor(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_argument *name = taper_export_argument(l->node, "attr", 1);
    taper_ir_value *value;
    TAPER_TRY(argument(l, scope, "src_subclass_tensor", 0, NULL, &value));
    const taper_object *parts = parts_of(l, value);
    if (parts == NULL || name == NULL || name->kind != TAPER_PT2_STRING) {
        return taper_export_refuse(l, "a part of something that is not a parameter or buffer of a subclass");
    }
    uint32_t slot = 0;
    while (slot < parts->klass->count && strcmp(parts->klass->slots[slot], name->as.text) != 0) {
        slot++;
    }
    if (slot == parts->klass->count) {
        return taper_export_refuse(l, "the tensor has no part \"%.100s\"", name->as.text);
    }
    taper_node *node;
    TAPER_TRY(taper_emit_node(&l->emit, TAPER_NODE_GET_ATTR, 1, 1, &node));
    taper_node_set_input(node, 0, value);
    node->own.slot = slot;
    const taper_val part = parts->slots[slot];
    node->outputs[0].type = &taper_type_tensor;
    if (part.tag == TAPER_OBJECT) {
        TAPER_TRY(taper_type_make(l->module->types, TAPER_TYPE_CLASS, part.as.object->klass->name, NULL, NULL, 0,
                                  &node->outputs[0].type, l->emit.error));
    }
    return taper_export_name(l, scope, 0, &node->outputs[0]);
}

typedef struct special_row {
    const char *target; // target without the prefix "torch.ops."
    special_lower *lower;
} special_row;

static const special_row rows[] = {
    {"aten._assert_scalar.default", lower_assert},
    {"aten._assert_async.msg", lower_assert},
    {"aten._assert_async.default", lower_assert},
    {"aten._assert_tensor_metadata.default", lower_nothing},
    {"aten.sym_constrain_range.default", lower_nothing},
    {"aten.sym_constrain_range_for_size.default", lower_nothing},
    {"aten._functional_assert_async.msg", lower_functional_assert},
    {"aten._functional_assert_scalar.default", lower_functional_assert},
    {"aten._functional_sym_constrain_range.default", lower_functional},
    {"aten._functional_sym_constrain_range_for_size.default", lower_functional},
    {"aten._make_dep_token.default", lower_token},
    {"aten.item.default", lower_item},
    {"aten._local_scalar_dense.default", lower_item},
    {"aten.sym_size.int", lower_size},
    {"aten.sym_stride.int", lower_stride},
    {"aten.sym_numel.default", lower_numel},
    {"aten.sym_storage_offset.default", lower_storage_offset},
    {"aten.sym_is_contiguous.default", lower_is_contiguous},
    {"aten._native_batch_norm_legit_no_training.default", lower_batch_norm},
    {"export.access_subclass_inner_tensor.default", lower_inner_tensor},
};

taper_status taper_export_special(taper_export_lowering *l, taper_export_scope *scope, const char *target, bool *done)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].target, target) == 0) {
            *done = true;
            return rows[i].lower(l, scope);
        }
    }
    return lower_layer(l, scope, target, done);
}
