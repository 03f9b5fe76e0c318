// SPDX-License-Identifier: BSD-2-Clause
// The table of upgraders. gelu needs no upgrader: its new argument has a default with the old meaning. The same holds
// for linspace and logspace if the argument `steps` is omitted. If `steps` is None, it means 100; the operator itself
// handles a None that is known only at run time.
//
// div, versions 0 to 3: true division if any operand is floating point, otherwise division that truncates:
//   if is_floating_point(self) or is_floating_point(other): div(self, other)
//   else: div(self, other, rounding_mode="trunc")
#include "frontend/upgrade.h"
#include "ir/effects.h"

typedef struct upgrader {
    const char *schema_start;
    int64_t last_version;
    const char *overload; // overload that has the argument rounding_mode
    const char *name;
} upgrader;

static const upgrader upgraders[] = {
    {"aten::div.Tensor(", 3, "Tensor_mode", "aten::div"},   {"aten::div.Scalar(", 3, "Scalar_mode", "aten::div"},
    {"aten::div_.Tensor(", 3, "Tensor_mode", "aten::div_"}, {"aten::div_.Scalar(", 3, "Scalar_mode", "aten::div_"},
    {"aten::div.out(", 3, "out_mode", "aten::div"},
};

static taper_status op_node(taper_graph *graph, taper_registry *registry, const char *name, const char *overload,
                            size_t inputs, taper_node **node, taper_error *error)
{
    const taper_op *op = taper_row_find(name, overload);
    if (op == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "operator %s.%s, which an upgrader needs, is not part of this build",
                   name, overload);
    }
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_OP, inputs, 1, node, error));
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(registry, op, &schema, error));
    taper_node_set_op(*node, op, schema);
    return TAPER_OK;
}

// Inserts `first or second` as an If, as PyTorch's upgraders do.
static taper_status either(taper_graph *graph, taper_node *before, taper_ir_value *first, taper_node *second,
                           taper_ir_value **result, taper_error *error)
{
    taper_node *branch, *yes;
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_IF, 1, 1, &branch, error));
    TAPER_TRY(taper_node_constant(graph, taper_val_bool(true), &yes, error));
    taper_node_insert_before(yes, before);
    taper_node_insert_before(branch, before);
    taper_node_set_input(branch, 0, first);
    branch->block_count = 2;
    for (size_t b = 0; b < 2; b++) {
        taper_ir_value *gives = b == 0 ? &yes->outputs[0] : &second->outputs[0];
        TAPER_TRY(taper_block_create(graph, branch, 0, &branch->blocks[b], error));
        TAPER_TRY(taper_block_set_results(branch->blocks[b], &gives, 1, error));
    }
    *result = &branch->outputs[0];
    return TAPER_OK;
}

// Inserts nodes before `node`: `is_floating_point` of every tensor argument, `isinstance(…, float)` of every number,
// and their disjunction.
static taper_status any_floating(taper_graph *graph, taper_registry *registry, taper_node *node,
                                 taper_ir_value **result, taper_error *error)
{
    static const taper_type *const floats[1] = {&taper_type_float};
    *result = NULL;
    for (size_t i = 0; i < node->input_count; i++) {
        taper_node *test;
        if (node->schema->args[i].type->kind == TAPER_TYPE_TENSOR) {
            TAPER_TRY(op_node(graph, registry, "aten::is_floating_point", "", 1, &test, error));
        } else {
            TAPER_TRY(taper_node_create(graph, TAPER_NODE_ISINSTANCE, 1, 1, &test, error));
            test->types = floats;
            test->type_count = 1;
        }
        taper_node_insert_before(test, node);
        taper_node_set_input(test, 0, taper_node_in(node, i));
        if (*result == NULL) {
            *result = &test->outputs[0];
            continue;
        }
        TAPER_TRY(either(graph, node, *result, test, result, error));
    }
    return TAPER_OK;
}

static taper_status upgrade_div(taper_graph *graph, taper_node *node, taper_registry *registry, const upgrader *u,
                                taper_ir_value **outputs, taper_error *error)
{
    taper_ir_value *floating;
    taper_node *branch, *truncated, *mode;
    const size_t inputs = node->input_count;
    TAPER_TRY(any_floating(graph, registry, node, &floating, error));
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_IF, 1, 1, &branch, error));
    TAPER_TRY(op_node(graph, registry, u->name, u->overload, inputs + 1, &truncated, error));
    taper_string *text = taper_string_new(taper_registry_heap(registry), "trunc", 5);
    if (text == NULL) {
        return taper_fail_memory(error);
    }
    TAPER_TRY(taper_node_constant(graph, TAPER_VAL(text), &mode, error));
    taper_node_insert_before(mode, node);
    taper_node_insert_before(branch, node);
    for (size_t i = 0; i < inputs; i++) {
        taper_node_set_input(truncated, i < 2 ? i : i + 1,
                             taper_node_in(node, i)); // the order is self, other, rounding_mode, out
    }
    taper_node_set_input(truncated, 2, &mode->outputs[0]);
    taper_node_set_input(branch, 0, floating);
    branch->block_count = 2;
    TAPER_TRY(taper_block_create(graph, branch, 0, &branch->blocks[0], error));
    TAPER_TRY(taper_block_create(graph, branch, 0, &branch->blocks[1], error));
    taper_node *plain;
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_OP, inputs, 1, &plain, error));
    taper_node_set_op(plain, node->op, node->schema);
    plain->debug = truncated->debug = node->debug;
    plain->instruction = truncated->instruction = branch->instruction = node->instruction;
    for (size_t i = 0; i < inputs; i++) {
        taper_node_set_input(plain, i, taper_node_in(node, i));
    }
    taper_node_append(branch->blocks[0], plain);
    taper_node_append(branch->blocks[1], truncated);
    taper_ir_value *results[2] = {&plain->outputs[0], &truncated->outputs[0]};
    TAPER_TRY(taper_block_set_results(branch->blocks[0], &results[0], 1, error));
    TAPER_TRY(taper_block_set_results(branch->blocks[1], &results[1], 1, error));
    taper_value_replace_uses(&node->outputs[0], &branch->outputs[0]);
    taper_node_remove(node);
    outputs[0] = &branch->outputs[0];
    return TAPER_OK;
}

// Replaces argument `replaced` of `node` by the result of `instead` if, during the run, argument `asked` is None.
static taper_status when_none(taper_graph *graph, taper_node *node, taper_registry *registry, size_t asked,
                              size_t replaced, taper_node *instead, taper_error *error)
{
    taper_node *test, *none, *branch;
    const taper_node *known = taper_value_constant(taper_node_in(node, asked));
    if (known != NULL) {
        taper_node_insert_before(instead, node);
        taper_node_set_input(node, replaced, &instead->outputs[0]);
        return TAPER_OK;
    }
    TAPER_TRY(op_node(graph, registry, "aten::__is__", "", 2, &test, error));
    TAPER_TRY(taper_node_constant(graph, taper_val_none(), &none, error));
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_IF, 1, 1, &branch, error));
    taper_node_insert_before(none, node);
    taper_node_insert_before(test, node);
    taper_node_insert_before(branch, node);
    taper_node_set_input(test, 0, taper_node_in(node, asked));
    taper_node_set_input(test, 1, &none->outputs[0]);
    taper_node_set_input(branch, 0, &test->outputs[0]);
    branch->block_count = 2;
    for (size_t b = 0; b < 2; b++) {
        taper_ir_value *gives = b == 0 ? &instead->outputs[0] : taper_node_in(node, replaced);
        TAPER_TRY(taper_block_create(graph, branch, 0, &branch->blocks[b], error));
        if (b == 0) {
            taper_node_append(branch->blocks[0], instead);
        }
        TAPER_TRY(taper_block_set_results(branch->blocks[b], &gives, 1, error));
    }
    taper_node_set_input(node, replaced, &branch->outputs[0]);
    return TAPER_OK;
}

static bool may_be_none(const taper_node *node, size_t input)
{
    const taper_ir_value *value = taper_node_in(node, input);
    const taper_node *known = taper_value_constant(value);
    return known != NULL ? known->constant.tag == TAPER_NONE : value->type == NULL || value->type != &taper_type_int;
}

// Upgrades full of TorchScript versions 0 to 4, where the result without a dtype is floating point for every value: if
// dtype is None: fill_value = float(fill_value)
static taper_status upgrade_full(taper_graph *graph, taper_node *node, taper_registry *registry, taper_error *error)
{
    enum { VALUE = 1, DTYPE };
    taper_node *real;
    if (!may_be_none(node, DTYPE)) {
        return TAPER_OK;
    }
    TAPER_TRY(op_node(graph, registry, "aten::Float", "Scalar", 1, &real, error));
    taper_node_set_input(real, 0, taper_node_in(node, VALUE));
    return when_none(graph, node, registry, DTYPE, VALUE, real, error);
}

// Upgrades linspace and logspace of versions 0 to 7:
//     if steps is None: steps = 100
static taper_status upgrade_steps(taper_graph *graph, taper_node *node, taper_registry *registry, taper_error *error)
{
    enum { STEPS = 2, OF_NONE = 100 };
    taper_node *hundred;
    if (node->input_count <= STEPS || !may_be_none(node, STEPS)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_node_constant(graph, taper_val_int(OF_NONE), &hundred, error));
    return when_none(graph, node, registry, STEPS, STEPS, hundred, error);
}

// Quantized convolutions of PyTorch 1.5 and before had arguments for stride, padding, dilation and groups, although
// their packed parameters also contain these. When PyTorch reads such TorchScript, it calls the overload without these
// arguments.
static const char *const old_convs[] = {"quantized::conv2d(", "quantized::conv2d_relu(", "quantized::conv3d(",
                                        "quantized::conv3d_relu("};

static taper_status upgrade_conv(taper_graph *graph, taper_node *node, taper_registry *registry, size_t which,
                                 taper_ir_value **outputs, taper_error *error)
{
    static const size_t kept[] = {0, 1, 6, 7};
    char name[32];
    taper_node *short_form;
    const size_t length = strlen(old_convs[which]) - 1;
    memcpy(name, old_convs[which], length);
    name[length] = '\0';
    TAPER_TRY(op_node(graph, registry, name, "new", 4, &short_form, error));
    short_form->debug = node->debug;
    short_form->instruction = node->instruction;
    for (size_t i = 0; i < 4; i++) {
        taper_node_set_input(short_form, i, taper_node_in(node, kept[i]));
    }
    taper_node_insert_before(short_form, node);
    taper_value_replace_uses(&node->outputs[0], &short_form->outputs[0]);
    taper_node_remove(node);
    outputs[0] = &short_form->outputs[0];
    return TAPER_OK;
}

taper_status taper_upgrade_node(taper_graph *graph, taper_node *node, taper_registry *registry,
                                const taper_module *module, taper_ir_value **outputs, taper_error *error)
{
    const int64_t version = module->operator_version;
    if (module->torchscript && version <= 4 && strncmp(node->op_name, "aten::full(", 11) == 0) {
        return upgrade_full(graph, node, registry, error);
    }
    if (version <= 7 &&
        (strncmp(node->op_name, "aten::linspace", 14) == 0 || strncmp(node->op_name, "aten::logspace", 14) == 0)) {
        return upgrade_steps(graph, node, registry, error);
    }
    for (size_t i = 0; module->torchscript && i < sizeof old_convs / sizeof old_convs[0]; i++) {
        if (node->input_count == 8 && strncmp(node->op_name, old_convs[i], strlen(old_convs[i])) == 0) {
            return upgrade_conv(graph, node, registry, i, outputs, error);
        }
    }
    for (size_t i = 0; i < sizeof upgraders / sizeof upgraders[0]; i++) {
        const upgrader *u = &upgraders[i];
        if (version <= u->last_version && strncmp(node->op_name, u->schema_start, strlen(u->schema_start)) == 0) {
            return upgrade_div(graph, node, registry, u, outputs, error);
        }
    }
    return TAPER_OK;
}

const char *taper_upgrade_overload(const char *name, const char *overload, int64_t version)
{
    for (size_t i = 0; i < sizeof upgraders / sizeof upgraders[0]; i++) {
        const upgrader *u = &upgraders[i];
        const size_t base = strlen(u->name), extra = strlen(overload);
        if (version <= u->last_version && strcmp(u->name, name) == 0 && u->schema_start[base] == '.' &&
            strncmp(u->schema_start + base + 1, overload, extra) == 0 && u->schema_start[base + 1 + extra] == '(') {
            return u->overload;
        }
    }
    return NULL;
}
