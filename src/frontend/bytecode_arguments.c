// SPDX-License-Identifier: BSD-2-Clause
// Finds the number of arguments of a call in old bytecode by the types on the stack.
#include "frontend/bytecode_arguments.h"
#include "ops/list/op_names.h"

// Limit on the depth of blocks and values in searches for a type.
#define SEARCH_DEPTH 16

// ---- facts about a value

static const taper_type *type_of(const taper_module_function *f, const taper_ir_value *value, int depth);

// Returns the value of self, or of an attribute reached from self, in the module's objects before the run. Returns NULL
// if `value` is something else.
static const taper_val *attribute_of(const taper_module *module, const taper_module_function *function,
                                     const taper_ir_value *value, int depth)
{
    const taper_node *node = value->node;
    const taper_val *root = &module->root;
    if (depth == SEARCH_DEPTH) {
        return NULL;
    }
    if (node == NULL) {
        const taper_class *klass = root->tag == TAPER_OBJECT ? root->as.object->klass : NULL;
        const size_t length = klass != NULL ? strlen(klass->name) : 0;
        const char *name = function->name;
        const bool is_self = value->block->parent == NULL && value->index == 0 && length != 0 &&
                             strncmp(name, klass->name, length) == 0 && name[length] == '.' &&
                             strchr(name + length + 1, '.') == NULL;
        return is_self ? root : NULL;
    }
    const taper_val *object =
        node->kind == TAPER_NODE_GET_ATTR ? attribute_of(module, function, taper_node_in(node, 0), depth + 1) : NULL;
    return object != NULL && object->tag == TAPER_OBJECT && (uint64_t)node->own.slot < object->as.object->count
               ? &object->as.object->slots[node->own.slot]
               : NULL;
}

static const taper_type *item_of(const taper_type *type, size_t index)
{
    if (type == NULL || (type->kind != TAPER_TYPE_LIST && type->kind != TAPER_TYPE_TUPLE)) {
        return NULL;
    }
    const size_t at = type->kind == TAPER_TYPE_LIST ? 0 : index;
    return at < type->count ? type->items[at] : NULL;
}

static const taper_type *type_of_param(const taper_module_function *f, const taper_ir_value *value, int depth)
{
    const taper_node *loop = value->block->parent;
    if (loop == NULL) {
        return f->has_schema && value->index < f->argument_count ? f->arguments[value->index].type : NULL;
    }
    if (value->index == 0) {
        return &taper_type_int; // parameter 0 of a loop's body is the number of the iteration
    }
    return value->index + 1 < loop->input_count ? type_of(f, taper_node_in(loop, value->index + 1), depth) : NULL;
}

// Returns the type of the value, or NULL if it is unknown.
static const taper_type *type_of(const taper_module_function *f, const taper_ir_value *value, int depth)
{
    const taper_node *node = value->node;
    if (depth == SEARCH_DEPTH || value->type != NULL) {
        return value->type;
    }
    if (node == NULL) {
        return type_of_param(f, value, depth + 1);
    }
    switch ((taper_node_kind)node->kind) {
    case TAPER_NODE_OP:
        return value->index < node->schema->ret_count ? node->schema->rets[value->index].type : NULL;
    case TAPER_NODE_IF:
        return type_of(f, node->blocks[0]->results[value->index].value, depth + 1);
    case TAPER_NODE_LOOP:
        return type_of(f, taper_node_in(node, value->index + 2), depth + 1);
    case TAPER_NODE_LIST:
    case TAPER_NODE_DICT:
    case TAPER_NODE_OBJECT:
        return node->type;
    case TAPER_NODE_TUPLE:
    case TAPER_NODE_TUPLE_SLICE:
        return node->type != NULL ? node->type : &taper_type_any_tuple;
    case TAPER_NODE_LIST_UNPACK:
    case TAPER_NODE_TUPLE_UNPACK:
        return item_of(type_of(f, taper_node_in(node, 0), depth + 1), value->index);
    case TAPER_NODE_ISINSTANCE:
        return &taper_type_bool;
    default:
        return NULL;
    }
}

// ---- comparison of types

static bool is_number(const taper_type *type)
{
    return type->kind == TAPER_TYPE_INT || type->kind == TAPER_TYPE_FLOAT || type->kind == TAPER_TYPE_BOOL ||
           type->kind == TAPER_TYPE_COMPLEX || type->kind == TAPER_TYPE_NUMBER;
}

static bool is_open(const taper_type *type)
{
    return type == NULL || type->kind == TAPER_TYPE_ANY || type->kind == TAPER_TYPE_VARIABLE ||
           type->kind == TAPER_TYPE_UNION || type->kind == TAPER_TYPE_OPAQUE;
}

// Returns false only if the value cannot have the type. All kinds of numbers are compatible.
static bool may_be(const taper_type *actual, const taper_type *formal)
{
    if (is_open(actual) || is_open(formal)) {
        return true;
    }
    if (actual->kind == TAPER_TYPE_OPTIONAL) {
        return formal->kind == TAPER_TYPE_OPTIONAL || formal->kind == TAPER_TYPE_NONE ||
               may_be(actual->items[0], formal);
    }
    if (formal->kind == TAPER_TYPE_OPTIONAL) {
        return actual->kind == TAPER_TYPE_NONE || may_be(actual, formal->items[0]);
    }
    if (is_number(actual) || is_number(formal)) {
        return is_number(actual) && is_number(formal);
    }
    if (formal->kind == TAPER_TYPE_DEVICE && actual->kind == TAPER_TYPE_STRING) {
        return true;
    }
    if (formal->kind == TAPER_TYPE_LIST && actual->kind == TAPER_TYPE_LIST) {
        return may_be(actual->items[0], formal->items[0]);
    }
    const bool lists = (formal->kind == TAPER_TYPE_LIST && actual->kind == TAPER_TYPE_ANY_LIST) ||
                       (formal->kind == TAPER_TYPE_ANY_LIST && actual->kind == TAPER_TYPE_LIST);
    const bool tuples = (formal->kind == TAPER_TYPE_TUPLE && actual->kind == TAPER_TYPE_ANY_TUPLE) ||
                        (formal->kind == TAPER_TYPE_ANY_TUPLE && actual->kind == TAPER_TYPE_TUPLE);
    return formal->kind == actual->kind || lists || tuples;
}

static bool value_may_be(taper_val value, const taper_type *formal)
{
    switch (value.tag) {
    case TAPER_NONE:
        return may_be(&taper_type_none, formal);
    case TAPER_TENSOR:
        return may_be(&taper_type_tensor, formal);
    case TAPER_INT:
    case TAPER_DOUBLE:
    case TAPER_BOOLEAN:
    case TAPER_COMPLEX:
        return may_be(&taper_type_number, formal);
    case TAPER_STRING:
        return may_be(&taper_type_string, formal);
    case TAPER_LIST: // an empty list fits every list type
        formal = formal->kind == TAPER_TYPE_OPTIONAL ? formal->items[0] : formal;
        return is_open(formal) || formal->kind == TAPER_TYPE_LIST || formal->kind == TAPER_TYPE_ANY_LIST;
    default:
        return true;
    }
}

static bool argument_may_be(const taper_module *module, const taper_module_function *function,
                            const taper_ir_value *value, const taper_type *formal)
{
    const taper_node *constant = taper_value_constant(value);
    if (constant != NULL) {
        return value_may_be(constant->constant, formal);
    }
    const taper_val *attribute = attribute_of(module, function, value, 0);
    // An attribute that is None now may become something else later.
    return attribute != NULL && attribute->tag != TAPER_NONE ? value_may_be(*attribute, formal)
                                                             : may_be(type_of(function, value, 0), formal);
}

static bool fits(const taper_bytecode_stack *stack, const taper_schema *schema, size_t given, size_t dropped)
{
    if (given + dropped > stack->count) {
        return false;
    }
    taper_ir_value *const *args = stack->values + (stack->count - given - dropped);
    for (size_t i = 0; i < given; i++) {
        if (!argument_may_be(stack->module, stack->function, args[i], schema->args[i].type)) {
            return false;
        }
    }
    return true;
}

static bool top_is_none(const taper_bytecode_stack *stack)
{
    const taper_node *top = stack->count == 0 ? NULL : taper_value_constant(stack->values[stack->count - 1]);
    return top != NULL && top->constant.tag == TAPER_NONE;
}

static int64_t count_by_types(const taper_bytecode_stack *stack, const taper_schema *schema, size_t *dropped)
{
    for (size_t given = schema->arg_count;; given--) {
        if (fits(stack, schema, given, 0)) {
            return (int64_t)given;
        }
        if (given == 0 || !schema->args[given - 1].has_default) {
            break;
        }
    }
    // The last argument of unflatten(dim, sizes, names=None) in PyTorch 1.12 and before is dropped.
    *dropped = top_is_none(stack) && fits(stack, schema, schema->arg_count, 1);
    return schema->arg_count;
}

bool taper_bytecode_is_tolist(const taper_schema *schema)
{
    return strcmp(schema->name, TAPER_NAME_TOLIST) == 0;
}

int64_t taper_bytecode_argument_count(const taper_bytecode_stack *stack, const taper_schema *schema, int64_t given,
                                      size_t *dropped)
{
    *dropped = 0;
    if (given < 0 && taper_bytecode_is_tolist(schema)) {
        return 3;
    }
    if (given < 0) {
        return schema->vararg ? schema->arg_count : count_by_types(stack, schema, dropped);
    }
    // Files of bytecode 6 and 7 state one argument for prim::RaiseException(msg, cls=None), but push both.
    if (given == 1 && stack->count >= 2 && top_is_none(stack) &&
        strcmp(schema->name, TAPER_NAME_RAISE_EXCEPTION) == 0) {
        return 2;
    }
    return given > schema->arg_count && !schema->vararg ? schema->arg_count : given;
}

// ---- checks before writing

// Returns true if a reader that counts the arguments by their types (count_by_types) takes all arguments of the call,
// although some do not fit their types. A reader takes all arguments if no smaller number of arguments fits better. For
// example, a call that never runs may have None as an argument. In written files, the stack contains only the arguments
// of the call.
static bool is_read_whole(const taper_module *module, const taper_module_function *function, const taper_node *node)
{
    enum { MOST = 32 };
    taper_ir_value *values[MOST];
    size_t dropped = 0;
    if (node->input_count > MOST) {
        return false;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        values[i] = taper_node_in(node, i);
    }
    const taper_bytecode_stack stack = {module, function, values, node->input_count};
    return count_by_types(&stack, node->schema, &dropped) == (int64_t)node->input_count;
}

static taper_status check_call(const taper_module *module, const taper_module_function *function,
                               const taper_node *node, taper_error *error)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (!argument_may_be(module, function, taper_node_in(node, i), node->schema->args[i].type)) {
            if (is_read_whole(module, function, node)) {
                return TAPER_OK;
            }
            TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                       "bytecode before 6 does not say how many arguments a call has, and argument '%s' of %s in %s "
                       "does not fit its type: write bytecode 6 or later",
                       node->schema->args[i].name, node->schema->name, function->name);
        }
    }
    return TAPER_OK;
}

static taper_status check_block(const taper_module *module, const taper_module_function *function,
                                const taper_block *block, taper_error *error)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_OP && !node->schema->vararg && node->input_count == node->schema->arg_count) {
            TAPER_TRY(check_call(module, function, node, error));
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(check_block(module, function, node->blocks[b], error));
        }
    }
    return TAPER_OK;
}

taper_status taper_bytecode_check_counts(const taper_module *module, const taper_module_function *function,
                                         const taper_graph *graph, taper_error *error)
{
    return check_block(module, function, graph->body, error);
}
