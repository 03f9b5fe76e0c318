// SPDX-License-Identifier: BSD-2-Clause
// Emits bytecode in which every value has its own register. A node loads its inputs, with MOVE at their last use, and
// stores its outputs at once. Calls have the form that PyTorch's interpreter expects for the bytecode version:
// 4, 5   operators take all arguments
// 6      trailing arguments equal to the schema's defaults are omitted, unless out arguments follow
// 7      such arguments are omitted before out arguments too
// 8      some operators are instructions of their own
#include "compiler/emit_bytecode.h"

#include "base/charge.h"
#include "base/hash.h"
#include "base/pointer_map.h"
#include "format/bytecode_rows.h"
#include "ir/effects.h"
#include "ir/liveness.h"
#include "ops/list/op_names.h"
#include "ops/list/op_table.h"

enum { STEPS_A_NODE = 300 }; // upper bound of the steps to emit and write one node

typedef struct call_site { // an entry of the function's table of operators
    const taper_schema *schema;
    int32_t arguments;
} call_site;

typedef struct emitter {
    const taper_emit_target *target;
    taper_graph *graph;
    taper_error *error;
    taper_lite_instruction *code;
    size_t code_count, code_capacity;
    call_site *calls;
    size_t call_count, call_capacity;
    taper_pointer_map call_numbers; // maps each operator to its index in `calls`
    taper_val *constants;           // constants of the function, borrowed from the graph
    size_t constant_count, constant_capacity;
    uint32_t *constant_index; // index in `constants` + 1, in a hash table of the constants
    size_t constant_index_size;
    taper_val *made; // constants made by the emitter, owned
    size_t made_count, made_capacity;
    const taper_type **types;
    size_t type_count, type_capacity;
    taper_pointer_map type_numbers;
    uint32_t registers;
    bool unpacks;
} emitter;

static TAPER_COLD taper_status cannot(const emitter *e, const taper_node *node, const char *why)
{
    TAPER_FAIL(e->error, TAPER_ERROR_UNSUPPORTED, "%s cannot be written as bytecode %d: %s %s", e->graph->name,
               e->target->version, node->kind == TAPER_NODE_OP ? node->op_name : taper_node_kind_name(node->kind), why);
}

// ---- tables of a function: constants, operators, types

static size_t hash_constant(const emitter *e, taper_val value)
{
    const uint64_t seed = taper_hash_seed(e) + value.tag;
    if (value.tag == TAPER_STRING) {
        return (size_t)taper_hash_keyed(seed, value.as.string->data, value.as.string->length);
    }
    return (size_t)taper_hash_spread(value.tag == TAPER_NONE      ? seed
                                     : value.tag == TAPER_BOOLEAN ? seed ^ value.as.b
                                                                  : seed ^ (uint64_t)value.as.i);
}

// Returns true if the two constants can share a table entry: numbers are compared bit by bit, strings by their text,
// all other values by identity.
static bool same_constant(taper_val a, taper_val b)
{
    if (a.tag != b.tag || a.tag == TAPER_NONE) {
        return a.tag == b.tag;
    }
    if (a.tag == TAPER_STRING) {
        return a.as.string->length == b.as.string->length &&
               memcmp(a.as.string->data, b.as.string->data, a.as.string->length) == 0;
    }
    return a.tag == TAPER_BOOLEAN ? a.as.b == b.as.b : a.as.i == b.as.i;
}

// Enlarges the hash table to four times its size and enters all constants again.
static taper_status grow_index(emitter *e)
{
    const taper_allocator *allocator = e->target->allocator;
    taper_free(allocator, e->constant_index, e->constant_index_size * sizeof *e->constant_index);
    e->constant_index_size = e->constant_index_size == 0 ? 64 : 4 * e->constant_index_size;
    e->constant_index = taper_alloc_zeroed(allocator, e->constant_index_size * sizeof *e->constant_index);
    if (e->constant_index == NULL) {
        e->constant_index_size = 0;
        return taper_fail_memory(e->error);
    }
    for (size_t i = 0; i < e->constant_count; i++) {
        size_t at = hash_constant(e, e->constants[i]) & (e->constant_index_size - 1);
        while (e->constant_index[at] != 0) {
            at = (at + 1) & (e->constant_index_size - 1);
        }
        e->constant_index[at] = (uint32_t)i + 1;
    }
    return TAPER_OK;
}

static taper_status constant_number(emitter *e, taper_val value, int32_t *number)
{
    if (e->constant_index_size < 2 * (e->constant_count + 1)) {
        TAPER_TRY(grow_index(e));
    }
    size_t at = hash_constant(e, value) & (e->constant_index_size - 1);
    for (; e->constant_index[at] != 0; at = (at + 1) & (e->constant_index_size - 1)) {
        if (same_constant(e->constants[e->constant_index[at] - 1], value)) {
            *number = (int32_t)e->constant_index[at] - 1;
            return TAPER_OK;
        }
    }
    TAPER_TRY(TAPER_GROW(e->target->allocator, e->constants, e->constant_capacity, e->constant_count + 1, e->error));
    e->constants[e->constant_count++] = value;
    e->constant_index[at] = (uint32_t)e->constant_count;
    *number = (int32_t)e->constant_count - 1;
    return TAPER_OK;
}

static call_site *find_call(const emitter *e, const taper_op *op)
{
    const size_t *number = taper_pointer_find(&e->call_numbers, op);
    return number != NULL ? &e->calls[*number] : NULL;
}

// Returns the number of arguments that a file of the target's version contains for this call. Arguments at the end are
// omitted if they equal their defaults; out arguments are always given. Returns -1 for a variable number.
static int32_t arguments_given(const emitter *e, const taper_node *node)
{
    const taper_schema *schema = node->schema;
    if (schema->vararg) {
        return -1;
    }
    const uint32_t outs = schema->out_count;
    uint32_t given = schema->arg_count - outs;
    // Arguments of prim::RaiseException are never omitted, because PyTorch's interpreter has no defaults for them.
    if (e->target->version < 6 || (e->target->version == 6 && outs != 0) ||
        taper_node_calls(node, TAPER_OP(prim_RaiseException))) {
        return (int32_t)schema->arg_count;
    }
    while (given != 0 && schema->args[given - 1].has_default) {
        const taper_val *value = taper_node_constant_in(node, given - 1);
        const taper_val byte_default = schema->args[given - 1].default_value;
        if (value == NULL || value->tag != byte_default.tag || !taper_val_equal(*value, byte_default)) {
            break;
        }
        given--;
    }
    return (int32_t)(given + outs);
}

// Counts the arguments of each call. The table of operators has one entry for each operator, with the largest number of
// arguments of any call.
static taper_status collect_calls(emitter *e, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(collect_calls(e, node->blocks[b]));
        }
        if (node->kind != TAPER_NODE_OP) {
            continue;
        }
        call_site *call = find_call(e, node->op);
        const int32_t given = arguments_given(e, node);
        if (call != NULL) {
            call->arguments = given > call->arguments ? given : call->arguments;
            continue;
        }
        TAPER_TRY(TAPER_GROW(e->target->allocator, e->calls, e->call_capacity, e->call_count + 1, e->error));
        TAPER_TRY(taper_pointer_add(e->target->allocator, &e->call_numbers, node->op, e->call_count, e->error));
        e->calls[e->call_count++] = (call_site){node->schema, given};
    }
    return TAPER_OK;
}

static taper_status type_number(emitter *e, const taper_type *type, int32_t *number)
{
    const size_t *known = taper_pointer_find(&e->type_numbers, type);
    if (known != NULL) {
        *number = (int32_t)*known;
        return TAPER_OK;
    }
    TAPER_TRY(taper_pointer_add(e->target->allocator, &e->type_numbers, type, e->type_count, e->error));
    TAPER_TRY(TAPER_GROW(e->target->allocator, e->types, e->type_capacity, e->type_count + 1, e->error));
    e->types[e->type_count++] = type;
    *number = (int32_t)e->type_count - 1;
    return TAPER_OK;
}

// ---- instructions

static taper_status emit(emitter *e, taper_lite_opcode op, int64_t x, size_t n, int32_t debug)
{
    if (n > UINT16_MAX || e->code_count >= TAPER_LIMIT_INSTRUCTIONS) {
        TAPER_FAIL(e->error, TAPER_ERROR_RESOURCE, "%s is too long for bytecode", e->graph->name);
    }
    TAPER_TRY(TAPER_GROW(e->target->allocator, e->code, e->code_capacity, e->code_count + 1, e->error));
    e->code[e->code_count++] =
        (taper_lite_instruction){.op = (uint8_t)op, .n = (uint16_t)n, .x = (int32_t)x, .debug = debug};
    return TAPER_OK;
}

// Finds the debug number for all instructions of the node.
static taper_status debug_of(emitter *e, const taper_node *node, int32_t *debug)
{
    taper_module_callstacks *c = e->target->callstacks;
    *debug = e->target->debug ? node->debug : -1;
    if (c == NULL || node->debug < 0 || c->count >= INT32_MAX) {
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_GROW(e->target->allocator, c->items, c->capacity, c->count + 1, e->error));
    const char *name = node->kind == TAPER_NODE_OP ? node->op_name : taper_node_kind_name((taper_node_kind)node->kind);
    c->items[c->count] = (taper_module_callstack){.place = (uint32_t)node->debug, .node = name};
    *debug = (int32_t)c->count++;
    return TAPER_OK;
}

static taper_status load_constant(emitter *e, taper_val value, int32_t debug)
{
    int32_t number;
    TAPER_TRY(constant_number(e, value, &number));
    return emit(e, TAPER_LITE_LOADC, number, 0, debug);
}

static taper_status load(emitter *e, const taper_ir_input *input, int32_t debug)
{
    const taper_node *constant = taper_value_constant(input->value);
    if (constant != NULL) {
        return load_constant(e, constant->constant, debug);
    }
    return emit(e, input->last ? TAPER_LITE_MOVE : TAPER_LITE_LOAD, input->value->reg, 0, debug);
}

static taper_status load_all(emitter *e, const taper_ir_input *inputs, size_t count, int32_t debug)
{
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(load(e, &inputs[i], debug));
    }
    return TAPER_OK;
}

// Pops the values from the stack and stores them in their registers, which are consecutive.
static taper_status store(emitter *e, const taper_ir_value *values, size_t count, int32_t debug)
{
    if (count == 1) {
        return values[0].uses != NULL ? emit(e, TAPER_LITE_STORE, values[0].reg, 0, debug)
                                      : emit(e, TAPER_LITE_DROP, 0, 0, debug);
    }
    if (count != 0) {
        TAPER_TRY(emit(e, TAPER_LITE_STOREN, values[0].reg, count, debug));
    }
    for (size_t i = 0; i < count; i++) {
        if (values[i].uses == NULL) {
            TAPER_TRY(emit(e, TAPER_LITE_DROPR, values[i].reg, 0, debug));
        }
    }
    return TAPER_OK;
}

static taper_status drop_clears(emitter *e, const taper_block *block)
{
    for (size_t i = 0; i < block->clear_count; i++) {
        TAPER_TRY(emit(e, TAPER_LITE_DROPR, block->clears[i], 0, -1));
    }
    return TAPER_OK;
}

static taper_status emit_block(emitter *e, const taper_block *block);

static taper_status emit_if(emitter *e, const taper_node *node)
{
    int32_t debug;
    TAPER_TRY(debug_of(e, node, &debug));
    TAPER_TRY(load(e, &node->inputs[0], debug));
    const size_t test = e->code_count;
    TAPER_TRY(emit(e, TAPER_LITE_JF, 0, 0, debug));
    TAPER_TRY(drop_clears(e, node->blocks[0]));
    TAPER_TRY(emit_block(e, node->blocks[0]));
    const size_t jump = e->code_count;
    TAPER_TRY(emit(e, TAPER_LITE_JMP, 0, 0, debug));
    e->code[test].x = (int32_t)(e->code_count - test);
    TAPER_TRY(drop_clears(e, node->blocks[1]));
    TAPER_TRY(emit_block(e, node->blocks[1]));
    e->code[jump].x = (int32_t)(e->code_count - jump);
    return store(e, node->outputs, node->output_count, debug);
}

static taper_status emit_loop(emitter *e, const taper_node *node)
{
    int32_t debug;
    TAPER_TRY(debug_of(e, node, &debug));
    const taper_block *body = node->blocks[0];
    TAPER_TRY(load_constant(e, taper_val_int(0), debug));
    TAPER_TRY(load_all(e, node->inputs, node->input_count, debug));
    const size_t start = e->code_count;
    TAPER_TRY(emit(e, TAPER_LITE_LOOP, 0, node->input_count, debug));
    // All parameters are stored, even the unused ones, because they must be taken off the stack.
    TAPER_TRY(emit(e, TAPER_LITE_STOREN, body->params[0].reg, body->param_count, debug));
    TAPER_TRY(emit_block(e, body));
    TAPER_TRY(emit(e, TAPER_LITE_JMP, (int64_t)start - (int64_t)e->code_count, 0, debug));
    e->code[start].x = (int32_t)(e->code_count - start);
    TAPER_TRY(store(e, node->outputs, node->output_count, debug));
    return drop_clears(e, body);
}

// Returns the instruction that replaces a call of this operator, or -1 if no instruction does. From bytecode version 8
// on, some operators are instructions. warn is the instruction WARN in all versions.
static int instruction_of(const emitter *e, const taper_schema *schema)
{
    const int instruction = taper_bytecode_instruction_of(schema->name, schema->overload);
    return e->target->version >= 8 || instruction == TAPER_LITE_WARN ? instruction : -1;
}

static taper_status emit_operator(emitter *e, const taper_node *node)
{
    int32_t debug;
    TAPER_TRY(debug_of(e, node, &debug));
    const call_site *call = find_call(e, node->op);
    if (taper_op_has(node->op, TAPER_OP_TARGET)) {
        return cannot(e, node, "is not an operator of PyTorch");
    }
    const int instruction = instruction_of(e, node->schema);
    if (instruction >= 0) {
        TAPER_TRY(load_all(e, node->inputs, node->input_count, debug));
        // The operand of FORMAT is the number of values. The operand of WARN is -1, which means that no number can
        // silence the warning.
        const int64_t x = instruction == TAPER_LITE_FORMAT ? (int64_t)node->input_count
                          : instruction == TAPER_LITE_WARN ? -1
                                                           : 0;
        TAPER_TRY(emit(e, (taper_lite_opcode)instruction, x, 0, debug));
    } else if (node->schema->vararg) {
        TAPER_TRY(load_all(e, node->inputs, node->input_count, debug));
        TAPER_TRY(emit(e, TAPER_LITE_OPN, (int64_t)(call - e->calls), node->input_count, debug));
    } else {
        const size_t outs = e->target->version >= 6 ? node->schema->out_count : 0;
        const size_t plain = taper_min_size((size_t)call->arguments - outs, node->input_count);
        TAPER_TRY(load_all(e, node->inputs, plain, debug));
        TAPER_TRY(load_all(e, node->inputs + node->input_count - outs, outs, debug));
        TAPER_TRY(emit(e, TAPER_LITE_OP, (int64_t)(call - e->calls), 0, debug));
    }
    return store(e, node->outputs, node->output_count, debug);
}

static taper_status emit_plain(emitter *e, const taper_node *node, taper_lite_opcode op, int64_t x, size_t n)
{
    int32_t debug;
    TAPER_TRY(debug_of(e, node, &debug));
    TAPER_TRY(load_all(e, node->inputs, node->input_count, debug));
    TAPER_TRY(emit(e, op, x, n, debug));
    return store(e, node->outputs, node->output_count, debug);
}

static taper_status emit_typed(emitter *e, const taper_node *node, taper_lite_opcode op)
{
    int32_t type;
    if (node->type == NULL) {
        return cannot(e, node, "has no type");
    }
    TAPER_TRY(type_number(e, node->type, &type));
    return emit_plain(e, node, op, type, op == TAPER_LITE_CREATE_OBJECT ? 0 : node->input_count);
}

// Emits ISINSTANCE. Its types must be consecutive in the function's table of types.
static taper_status emit_isinstance(emitter *e, const taper_node *node)
{
    const size_t first = e->type_count;
    for (size_t i = 0; i < node->type_count; i++) {
        TAPER_TRY(TAPER_GROW(e->target->allocator, e->types, e->type_capacity, e->type_count + 1, e->error));
        e->types[e->type_count++] = node->types[i];
    }
    return emit_plain(e, node, TAPER_LITE_ISINSTANCE, (int64_t)first, node->type_count);
}

static taper_status own_string(emitter *e, const char *text, taper_val *value)
{
    taper_string *string = NULL;
    TAPER_TRY(TAPER_GROW(e->target->allocator, e->made, e->made_capacity, e->made_count + 1, e->error));
    string = taper_string_new(e->target->heap, text, strlen(text));
    if (string == NULL) {
        return taper_fail_memory(e->error);
    }
    *value = e->made[e->made_count++] = TAPER_VAL(string);
    return TAPER_OK;
}

static taper_status emit_call(emitter *e, const taper_node *node)
{
    taper_val name;
    int32_t number;
    TAPER_TRY(own_string(e, node->name, &name));
    TAPER_TRY(constant_number(e, name, &number));
    return emit_plain(e, node, TAPER_LITE_INTERFACE_CALL, number, node->input_count);
}

// Emits a call of prim::TupleUnpack, which is an operator in every version.
static taper_status emit_tuple_unpack(emitter *e, const taper_node *node)
{
    int32_t debug;
    TAPER_TRY(debug_of(e, node, &debug));
    if (node->output_count == 0) {
        return TAPER_OK;
    }
    TAPER_TRY(load_all(e, node->inputs, node->input_count, debug));
    e->unpacks = true; // prim::TupleUnpack gets the entry after the operators of `calls`
    TAPER_TRY(emit(e, TAPER_LITE_OP, (int64_t)e->call_count, 0, debug));
    return store(e, node->outputs, node->output_count, debug);
}

static taper_status emit_node(emitter *e, const taper_node *node)
{
    switch ((taper_node_kind)node->kind) {
    case TAPER_NODE_CONSTANT:
        return TAPER_OK;
    case TAPER_NODE_OP:
        return emit_operator(e, node);
    case TAPER_NODE_IF:
        return emit_if(e, node);
    case TAPER_NODE_LOOP:
        return emit_loop(e, node);
    case TAPER_NODE_GET_ATTR:
        return emit_plain(e, node, TAPER_LITE_GET_ATTR, node->own.slot, 0);
    case TAPER_NODE_SET_ATTR:
        return emit_plain(e, node, TAPER_LITE_SET_ATTR, node->own.slot, 0);
    case TAPER_NODE_LIST:
        return emit_typed(e, node, TAPER_LITE_LIST_CONSTRUCT);
    case TAPER_NODE_DICT:
        return emit_typed(e, node, TAPER_LITE_DICT_CONSTRUCT);
    case TAPER_NODE_OBJECT:
        return emit_typed(e, node, TAPER_LITE_CREATE_OBJECT);
    case TAPER_NODE_TUPLE:
        return node->type != NULL ? emit_typed(e, node, TAPER_LITE_NAMED_TUPLE_CONSTRUCT)
                                  : emit_plain(e, node, TAPER_LITE_TUPLE_CONSTRUCT, (int64_t)node->input_count, 0);
    case TAPER_NODE_LIST_UNPACK:
        return emit_plain(e, node, TAPER_LITE_LIST_UNPACK, (int64_t)node->output_count, 0);
    case TAPER_NODE_TUPLE_UNPACK:
        return emit_tuple_unpack(e, node);
    case TAPER_NODE_TUPLE_SLICE:
        if (node->own.slice.end < node->own.slice.begin) {
            return cannot(e, node, "has an end before its begin");
        }
        return emit_plain(e, node, TAPER_LITE_TUPLE_SLICE, node->own.slice.begin,
                          (size_t)(node->own.slice.end - node->own.slice.begin));
    case TAPER_NODE_ISINSTANCE:
        return emit_isinstance(e, node);
    case TAPER_NODE_CALL:
        return emit_call(e, node);
    case TAPER_NODE_SEGMENT:
    case TAPER_NODE_KIND_COUNT:
        break;
    }
    return cannot(e, node, "is of this machine only");
}

// Emits the block and leaves its results on the stack.
static taper_status emit_block(emitter *e, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        TAPER_TRY(emit_node(e, node));
    }
    return load_all(e, block->results, block->result_count, -1);
}

// ---- emitting a function

static void number_values(emitter *e, taper_ir_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i].reg = ++e->registers; // registers start at 1
    }
}

static void number_block(emitter *e, taper_block *block)
{
    number_values(e, block->params, block->param_count);
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind != TAPER_NODE_CONSTANT) {
            number_values(e, node->outputs, node->output_count);
        }
        for (size_t b = 0; b < node->block_count; b++) {
            number_block(e, node->blocks[b]);
        }
    }
}

static taper_status fill_operators(const emitter *e, taper_module_function *function)
{
    const size_t count = e->call_count + (e->unpacks ? 1 : 0);
    function->operators = taper_arena_array(e->target->arena, count, sizeof *function->operators);
    if (function->operators == NULL) {
        return taper_fail_memory(e->error);
    }
    function->operator_count = count;
    for (size_t i = 0; i < e->call_count; i++) {
        const call_site *call = &e->calls[i];
        function->operators[i] = (taper_lite_operator){call->schema->name, call->schema->overload, call->arguments};
    }
    if (e->unpacks) {
        function->operators[e->call_count] = (taper_lite_operator){TAPER_NAME_TUPLE_UNPACK, "", 1};
    }
    return TAPER_OK;
}

static taper_status fill_function(const emitter *e, taper_module_function *function)
{
    taper_arena *arena = e->target->arena;
    function->instructions = taper_arena_array(arena, e->code_count, sizeof *e->code);
    function->constants = taper_arena_array(arena, e->constant_count, sizeof *e->constants);
    function->types = taper_arena_array(arena, e->type_count, sizeof *e->types);
    if (function->instructions == NULL || function->constants == NULL || function->types == NULL) {
        return taper_fail_memory(e->error);
    }
    memcpy(function->instructions, e->code, e->code_count * sizeof *e->code);
    function->instruction_count = e->code_count;
    for (size_t i = 0; i < e->constant_count; i++) {
        function->constants[function->constant_count++] = taper_val_retain(e->constants[i]);
    }
    for (size_t i = 0; i < e->type_count; i++) {
        function->types[i] = e->types[i];
    }
    function->type_count = e->type_count;
    function->register_count = e->registers;
    return fill_operators(e, function);
}

static taper_status emit_function(emitter *e, taper_module_function *function)
{
    taper_block *body = e->graph->body;
    TAPER_TRY(taper_charge(e->target->allocator, STEPS_A_NODE * (uint64_t)e->graph->node_count, e->error));
    number_block(e, body);
    TAPER_TRY(taper_liveness(e->graph, e->error));
    TAPER_TRY(collect_calls(e, body));
    if (body->param_count != 0) {
        TAPER_TRY(emit(e, TAPER_LITE_STOREN, body->params[0].reg, body->param_count, -1));
        for (size_t i = 0; i < body->param_count; i++) {
            if (body->params[i].uses == NULL) {
                TAPER_TRY(emit(e, TAPER_LITE_DROPR, body->params[i].reg, 0, -1));
            }
        }
    }
    TAPER_TRY(emit_block(e, body));
    TAPER_TRY(emit(e, TAPER_LITE_RET, 0, 0, -1));
    return fill_function(e, function);
}

taper_status taper_emit_bytecode(const taper_emit_target *target, taper_graph *graph, taper_module_function *function,
                                 taper_error *error)
{
    emitter e = {.target = target, .graph = graph, .error = error};
    const taper_status status = emit_function(&e, function);
    const taper_allocator *allocator = target->allocator;
    for (size_t i = 0; i < e.made_count; i++) {
        taper_val_release(e.made[i]);
    }
    taper_free(allocator, e.made, e.made_capacity * sizeof *e.made);
    taper_free(allocator, e.code, e.code_capacity * sizeof *e.code);
    taper_free(allocator, e.calls, e.call_capacity * sizeof *e.calls);
    taper_pointer_free(allocator, &e.call_numbers);
    taper_pointer_free(allocator, &e.type_numbers);
    taper_free(allocator, e.constants, e.constant_capacity * sizeof *e.constants);
    taper_free(allocator, e.constant_index, e.constant_index_size * sizeof *e.constant_index);
    taper_free(allocator, (void *)e.types, e.type_capacity * sizeof *e.types);
    return status;
}
