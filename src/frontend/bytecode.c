// SPDX-License-Identifier: BSD-2-Clause
// Turns functions of lite-interpreter bytecode into graphs by symbolic execution of the stack machine.
#include "frontend/bytecode.h"

#include "frontend/bytecode_arguments.h"
#include "frontend/upgrade.h"
#include "ir/effects.h"
#include "ops/list/op_names.h"

typedef struct register_change {
    uint32_t at;
    taper_ir_value *before;
} register_change;

enum { RECENT_ROWS = 64 };

// An operator, and the texts by which it was found. The texts belong to the module or the library, so their addresses
// identify them.
typedef struct recent_row {
    const char *name, *overload;
    const taper_op *op;
} recent_row;

typedef struct lowering {
    const taper_module *module;
    const taper_module_function *function;
    taper_registry *registry;
    const taper_allocator *allocator;
    taper_graph *graph;
    taper_error *error;
    taper_ir_value **registers;
    taper_ir_value **constants; // value of each constant, made at its first use; NULL before
    taper_ir_value **stack;
    size_t height, stack_capacity;
    register_change *trail; // old contents of registers that blocks have changed, restored at the end of each block
    size_t trail_count, trail_capacity;
    size_t nodes;
    recent_row recent[RECENT_ROWS]; // cache of operators, by the addresses of their texts
} lowering;

static TAPER_COLD taper_status bad_at(const lowering *l, size_t pc, const char *what)
{
    const unsigned op =
        pc < l->function->instruction_count ? l->function->instructions[pc].op : TAPER_LITE_OPCODE_COUNT;
    TAPER_FAIL(l->error, TAPER_ERROR_FILE, "function %s, instruction %zu (%s): %s", l->function->name, pc,
               op < TAPER_LITE_OPCODE_COUNT ? taper_lite_opcode_name(op) : "end", what);
}

// ---- stack and registers

static taper_status push(lowering *l, taper_ir_value *value)
{
    TAPER_TRY(TAPER_GROW(l->allocator, l->stack, l->stack_capacity, l->height + 1, l->error));
    l->stack[l->height++] = value;
    return TAPER_OK;
}

static taper_status need(const lowering *l, size_t pc, size_t floor, int64_t count)
{
    if (count < 0 || count > TAPER_LIMIT_ARGUMENTS || (size_t)count > l->height || l->height - (size_t)count < floor) {
        return bad_at(l, pc, "the stack holds fewer values than it takes");
    }
    return TAPER_OK;
}

static taper_status set_register(lowering *l, size_t pc, int64_t at, taper_ir_value *value)
{
    if (at < 0 || (size_t)at > l->function->register_count) {
        return bad_at(l, pc, "its register is out of range");
    }
    TAPER_TRY(TAPER_GROW(l->allocator, l->trail, l->trail_capacity, l->trail_count + 1, l->error));
    l->trail[l->trail_count++] = (register_change){(uint32_t)at, l->registers[at]};
    l->registers[at] = value;
    return TAPER_OK;
}

static void undo_registers(lowering *l, size_t mark)
{
    while (l->trail_count > mark) {
        l->trail_count--;
        l->registers[l->trail[l->trail_count].at] = l->trail[l->trail_count].before;
    }
}

// ---- nodes

static taper_status add_node(lowering *l, taper_block *block, size_t pc, taper_node_kind kind, size_t inputs,
                             size_t outputs, taper_node **node)
{
    if (++l->nodes > 2 * (size_t)TAPER_LIMIT_INSTRUCTIONS) {
        return bad_at(l, pc, "the function is too long");
    }
    TAPER_TRY(taper_node_create(l->graph, kind, inputs, outputs, node, l->error));
    (*node)->debug = l->function->instructions[pc].debug;
    (*node)->instruction = (uint32_t)pc;
    taper_node_append(block, *node);
    return TAPER_OK;
}

// Adds a constant at the start of the body, so that every block can use it. Takes over the reference.
static taper_status add_constant(lowering *l, taper_val value, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_node_constant(l->graph, value, &node, l->error));
    if (l->graph->body->first != NULL) {
        taper_node_insert_before(node, l->graph->body->first);
    } else {
        taper_node_append(l->graph->body, node);
    }
    *made = &node->outputs[0];
    return TAPER_OK;
}

// Takes the top `count` values of the stack as inputs and pushes the outputs.
static taper_status node_from_stack(lowering *l, taper_block *block, size_t pc, size_t floor, taper_node_kind kind,
                                    int64_t count, size_t outputs, taper_node **node)
{
    TAPER_TRY(need(l, pc, floor, count));
    TAPER_TRY(add_node(l, block, pc, kind, (size_t)count, outputs, node));
    l->height -= (size_t)count;
    for (size_t i = 0; i < (size_t)count; i++) {
        taper_node_set_input(*node, i, l->stack[l->height + i]);
    }
    for (size_t i = 0; i < outputs; i++) {
        TAPER_TRY(push(l, &(*node)->outputs[i]));
    }
    return TAPER_OK;
}

// Returns the number of results of an operator whose schema does not fix this number. The next instruction stores the
// results and contains their number.
static size_t results_by_store(const lowering *l, size_t pc)
{
    if (pc + 1 < l->function->instruction_count && l->function->instructions[pc + 1].op == TAPER_LITE_STOREN) {
        return l->function->instructions[pc + 1].n;
    }
    return 1;
}

// Adds a call of an operator. given: number of arguments on the stack according to the file, or -1 if the file does not
// state this number.
static taper_status lower_operator(lowering *l, taper_block *block, size_t pc, size_t floor, const taper_op *op,
                                   int64_t given)
{
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(l->registry, op, &schema, l->error));
    if (strcmp(schema->name, TAPER_NAME_TUPLE_UNPACK) == 0) {
        taper_node *node;
        return node_from_stack(l, block, pc, floor, TAPER_NODE_TUPLE_UNPACK, 1, results_by_store(l, pc), &node);
    }
    const taper_bytecode_stack stack = {l->module, l->function, l->stack + floor,
                                        l->height < floor ? 0 : l->height - floor};
    size_t dropped;
    given = taper_bytecode_argument_count(&stack, schema, given, &dropped);
    TAPER_TRY(need(l, pc, floor, given + (int64_t)dropped));
    l->height -= dropped;
    size_t count = schema->vararg ? (size_t)given : schema->arg_count;
    const size_t outputs = taper_bytecode_is_tolist(schema) ? 1
                           : schema->varret                 ? results_by_store(l, pc)
                                                            : schema->ret_count;
    taper_node *node;
    TAPER_TRY(add_node(l, block, pc, TAPER_NODE_OP, count, outputs, &node));
    taper_node_set_op(node, op, schema);
    l->height -= (size_t)given;
    taper_ir_value **args = l->stack + l->height;
    // From bytecode 7 on, out arguments are pushed even if arguments with defaults before them are omitted.
    const size_t outs = l->module->bytecode_version >= 7 ? taper_min_size(schema->out_count, (size_t)given) : 0;
    const size_t plain = (size_t)given - outs;
    for (size_t i = 0; i < count; i++) {
        taper_ir_value *value;
        if (i < plain) {
            value = args[i];
        } else if (i >= count - outs) {
            value = args[plain + (i - (count - outs))];
        } else if (schema->args[i].has_default) {
            TAPER_TRY(add_constant(l, taper_val_retain(schema->args[i].default_value), &value));
        } else {
            return taper_fail(l->error, TAPER_ERROR_FILE,
                              "function %s, instruction %zu: %s.%s is called without its argument '%s'",
                              l->function->name, pc, schema->name, schema->overload, schema->args[i].name);
        }
        taper_node_set_input(node, i, value);
    }
    for (size_t i = 0; i < outputs; i++) {
        TAPER_TRY(push(l, &node->outputs[i]));
    }
    return taper_upgrade_node(l->graph, node, l->registry, l->module, &l->stack[l->height - outputs], l->error);
}

static taper_status lower_row(lowering *l, taper_block *block, size_t pc, size_t floor, const char *name,
                              const char *overload, int64_t given)
{
    recent_row *recent = &l->recent[(((uintptr_t)name >> 4) ^ ((uintptr_t)overload >> 3)) % RECENT_ROWS];
    if (recent->op == NULL || recent->name != name || recent->overload != overload) {
        *recent = (recent_row){name, overload, taper_row_find(name, overload)};
    }
    if (recent->op == NULL) {
        TAPER_FAIL(l->error, TAPER_ERROR_UNSUPPORTED, "operator %s%s%s is not part of this build", name,
                   overload[0] != '\0' ? "." : "", overload);
    }
    return lower_operator(l, block, pc, floor, recent->op, given);
}

// Lowers an instruction that stands for a call of an operator, such as TUPLE_INDEX for prim::TupleIndex.
static taper_status lower_short(lowering *l, taper_block *block, size_t pc, size_t floor)
{
    const taper_lite_instruction *in = &l->function->instructions[pc];
    const taper_bytecode_row *row = taper_bytecode_row_of(in->op);
    if (row == NULL) {
        return bad_at(l, pc, "the lite interpreter has no such instruction");
    }
    return lower_row(l, block, pc, floor, row->name, row->overload, row->inputs >= 0 ? row->inputs : in->x);
}

// ---- control flow

static taper_status lower_range(lowering *l, taper_block *block, size_t pc, size_t end, size_t floor, int depth);

// Lowers the instructions from pc to before `end` into `block`. The instructions must leave exactly `want` values
// (SIZE_MAX: any number) above `floor` on the stack, which become the results of the block.
static taper_status lower_block(lowering *l, taper_block *block, size_t pc, size_t end, size_t floor, size_t want,
                                int depth)
{
    const size_t mark = l->trail_count;
    TAPER_TRY(lower_range(l, block, pc, end, floor, depth + 1));
    undo_registers(l, mark);
    if (l->height < floor || (want != SIZE_MAX && l->height - floor != want)) {
        return bad_at(l, pc, "its block leaves another number of values than it should");
    }
    TAPER_TRY(taper_block_set_results(block, l->stack + floor, l->height - floor, l->error));
    l->height = floor;
    return TAPER_OK;
}

static taper_status lower_if(lowering *l, taper_block *block, size_t *pc, size_t end, size_t floor, int depth)
{
    const size_t start = *pc;
    const taper_lite_instruction *code = l->function->instructions;
    const int64_t other = (int64_t)start + code[start].x;
    if (other <= (int64_t)start + 1 || other > (int64_t)end || code[other - 1].op != TAPER_LITE_JMP) {
        return bad_at(l, start, "the jump is not that of an if");
    }
    const int64_t after = other - 1 + code[other - 1].x;
    if (after < other || after > (int64_t)end) {
        return bad_at(l, (size_t)other - 1, "the jump is not that of an if");
    }
    TAPER_TRY(need(l, start, floor, 1));
    taper_ir_value *condition = l->stack[--l->height];
    // The number of outputs is known only after the blocks are lowered. The first block determines this number.
    taper_block *blocks[2];
    TAPER_TRY(taper_block_create(l->graph, NULL, 0, &blocks[0], l->error));
    TAPER_TRY(taper_block_create(l->graph, NULL, 0, &blocks[1], l->error));
    const size_t height = l->height;
    TAPER_TRY(lower_block(l, blocks[0], start + 1, (size_t)other - 1, height, SIZE_MAX, depth));
    const size_t outputs = blocks[0]->result_count;
    TAPER_TRY(lower_block(l, blocks[1], (size_t)other, (size_t)after, height, outputs, depth));
    taper_node *node;
    TAPER_TRY(add_node(l, block, start, TAPER_NODE_IF, 1, outputs, &node));
    taper_node_set_input(node, 0, condition);
    node->block_count = 2;
    for (size_t i = 0; i < 2; i++) {
        node->blocks[i] = blocks[i];
        blocks[i]->parent = node;
    }
    for (size_t i = 0; i < outputs; i++) {
        TAPER_TRY(push(l, &node->outputs[i]));
    }
    *pc = (size_t)after;
    return TAPER_OK;
}

static taper_status lower_loop(lowering *l, taper_block *block, size_t *pc, size_t end, size_t floor, int depth)
{
    const size_t start = *pc;
    const taper_lite_instruction *code = l->function->instructions;
    const int64_t after = (int64_t)start + code[start].x;
    const size_t inputs = code[start].n;
    if (after <= (int64_t)start + 1 || after > (int64_t)end || code[after - 1].op != TAPER_LITE_JMP ||
        after - 1 + code[after - 1].x != (int64_t)start || inputs < 2) {
        return bad_at(l, start, "the jump is not that of a loop");
    }
    TAPER_TRY(need(l, start, floor, (int64_t)inputs + 1));
    taper_ir_value **base = l->stack + l->height - inputs - 1;
    const taper_node *trip = taper_value_constant(base[0]);
    if (trip == NULL || trip->constant.tag != TAPER_INT || trip->constant.as.i != 0) {
        return bad_at(l, start, "the loop does not count from 0");
    }
    const size_t carried = inputs - 2;
    taper_node *node;
    TAPER_TRY(add_node(l, block, start, TAPER_NODE_LOOP, inputs, carried, &node));
    for (size_t i = 0; i < inputs; i++) {
        taper_node_set_input(node, i, base[1 + i]);
    }
    l->height -= inputs + 1;
    TAPER_TRY(taper_block_create(l->graph, node, carried + 1, &node->blocks[0], l->error));
    node->block_count = 1;
    const size_t height = l->height;
    for (size_t i = 0; i <= carried; i++) {
        TAPER_TRY(push(l, &node->blocks[0]->params[i]));
    }
    TAPER_TRY(lower_block(l, node->blocks[0], start + 1, (size_t)after - 1, height, carried + 1, depth));
    for (size_t i = 0; i < carried; i++) {
        TAPER_TRY(push(l, &node->outputs[i]));
    }
    *pc = (size_t)after;
    return TAPER_OK;
}

// ---- single instructions

static taper_status type_at(const lowering *l, size_t pc, int64_t at, const taper_type **type)
{
    if (at < 0 || (size_t)at >= l->function->type_count) {
        return bad_at(l, pc, "its type is out of range");
    }
    *type = l->function->types[at];
    return TAPER_OK;
}

static taper_status constant_at(lowering *l, size_t pc, int64_t at, taper_ir_value **value)
{
    if (at < 0 || (size_t)at >= l->function->constant_count) {
        return bad_at(l, pc, "its constant is out of range");
    }
    if (l->constants[at] == NULL) {
        TAPER_TRY(add_constant(l, taper_val_retain(l->function->constants[at]), &l->constants[at]));
    }
    *value = l->constants[at];
    return TAPER_OK;
}

static taper_status lower_stores(lowering *l, size_t pc, size_t floor)
{
    const taper_lite_instruction *in = &l->function->instructions[pc];
    const size_t count = in->op == TAPER_LITE_STORE ? 1 : in->n;
    TAPER_TRY(need(l, pc, floor, (int64_t)count));
    l->height -= count;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(set_register(l, pc, (int64_t)in->x + (int64_t)i, l->stack[l->height + i]));
    }
    return TAPER_OK;
}

static taper_status lower_instruction(lowering *l, taper_block *block, size_t pc, size_t floor)
{
    const taper_lite_instruction *in = &l->function->instructions[pc];
    taper_ir_value *value;
    taper_node *node;
    switch ((taper_lite_opcode)in->op) {
    case TAPER_LITE_OP:
    case TAPER_LITE_OPN: {
        if (in->x < 0 || (size_t)in->x >= l->function->operator_count) {
            return bad_at(l, pc, "its operator is out of range");
        }
        const taper_lite_operator *called = &l->function->operators[in->x];
        return lower_row(l, block, pc, floor, called->name, called->overload,
                         in->op == TAPER_LITE_OPN ? in->n : called->arguments);
    }
    case TAPER_LITE_LOAD:
    case TAPER_LITE_MOVE:
        if (in->x < 0 || (size_t)in->x > l->function->register_count || l->registers[in->x] == NULL) {
            return bad_at(l, pc, "its register was not set");
        }
        return push(l, l->registers[in->x]);
    case TAPER_LITE_STORE:
    case TAPER_LITE_STOREN:
        return lower_stores(l, pc, floor);
    case TAPER_LITE_DROP:
        TAPER_TRY(need(l, pc, floor, 1));
        l->height--;
        return TAPER_OK;
    case TAPER_LITE_DROPR:
        return TAPER_OK; // DROP of a register needs no code, because taper_liveness computes when a value is dead
    case TAPER_LITE_LOADC:
        TAPER_TRY(constant_at(l, pc, in->x, &value));
        return push(l, value);
    case TAPER_LITE_GET_ATTR:
        if (in->x < 0) {
            return bad_at(l, pc, "its slot is out of range");
        }
        TAPER_TRY(node_from_stack(l, block, pc, floor, TAPER_NODE_GET_ATTR, 1, 1, &node));
        node->own.slot = in->x;
        return TAPER_OK;
    case TAPER_LITE_SET_ATTR:
        if (in->x < 0 || in->x > TAPER_LIMIT_REGISTERS) {
            return bad_at(l, pc, "its slot is out of range");
        }
        TAPER_TRY(node_from_stack(l, block, pc, floor, TAPER_NODE_SET_ATTR, 2, 0, &node));
        node->own.slot = in->x;
        return TAPER_OK;
    case TAPER_LITE_LIST_UNPACK:
        if (in->x < 0 || in->x > TAPER_LIMIT_ARGUMENTS) {
            return bad_at(l, pc, "its number of items is out of range");
        }
        return node_from_stack(l, block, pc, floor, TAPER_NODE_LIST_UNPACK, 1, (size_t)in->x, &node);
    case TAPER_LITE_TUPLE_CONSTRUCT:
        return node_from_stack(l, block, pc, floor, TAPER_NODE_TUPLE, in->x, 1, &node);
    case TAPER_LITE_NAMED_TUPLE_CONSTRUCT:
    case TAPER_LITE_LIST_CONSTRUCT:
    case TAPER_LITE_DICT_CONSTRUCT: {
        const taper_type *type = NULL;
        TAPER_TRY(type_at(l, pc, in->x, &type));
        const taper_node_kind kind = in->op == TAPER_LITE_LIST_CONSTRUCT   ? TAPER_NODE_LIST
                                     : in->op == TAPER_LITE_DICT_CONSTRUCT ? TAPER_NODE_DICT
                                                                           : TAPER_NODE_TUPLE;
        if (kind == TAPER_NODE_DICT && in->n % 2 != 0) {
            return bad_at(l, pc, "a key has no value");
        }
        if (kind == TAPER_NODE_TUPLE && (type->kind != TAPER_TYPE_TUPLE || type->count != in->n)) {
            return bad_at(l, pc, "its type is not a tuple of that many fields");
        }
        TAPER_TRY(node_from_stack(l, block, pc, floor, kind, in->n, 1, &node));
        node->type = type;
        return TAPER_OK;
    }
    case TAPER_LITE_CREATE_OBJECT:
        TAPER_TRY(node_from_stack(l, block, pc, floor, TAPER_NODE_OBJECT, 0, 1, &node));
        return type_at(l, pc, in->x, &node->type);
    case TAPER_LITE_ISINSTANCE: {
        if (in->x < 0 || (size_t)in->x > l->function->type_count || in->n > l->function->type_count - (size_t)in->x) {
            return bad_at(l, pc, "its types are out of range");
        }
        TAPER_TRY(node_from_stack(l, block, pc, floor, TAPER_NODE_ISINSTANCE, 1, 1, &node));
        const taper_type **types = taper_arena_array(&l->graph->arena, in->n, sizeof *types);
        if (types == NULL) {
            return taper_fail_memory(l->error);
        }
        for (size_t i = 0; i < in->n; i++) {
            types[i] = l->function->types[(size_t)in->x + i];
        }
        node->types = types;
        node->type_count = in->n;
        return TAPER_OK;
    }
    case TAPER_LITE_TUPLE_SLICE:
        TAPER_TRY(node_from_stack(l, block, pc, floor, TAPER_NODE_TUPLE_SLICE, 1, 1, &node));
        node->own.slice.begin = in->x;
        node->own.slice.end = (int64_t)in->x + in->n;
        return TAPER_OK;
    case TAPER_LITE_INTERFACE_CALL:
        if (in->x < 0 || (size_t)in->x >= l->function->constant_count ||
            l->function->constants[in->x].tag != TAPER_STRING || in->n == 0) {
            return bad_at(l, pc, "the method has no name");
        }
        TAPER_TRY(node_from_stack(l, block, pc, floor, TAPER_NODE_CALL, in->n, 1, &node));
        node->name = taper_arena_string(&l->graph->arena, l->function->constants[in->x].as.string->data,
                                        l->function->constants[in->x].as.string->length);
        return node->name == NULL ? taper_fail_memory(l->error) : TAPER_OK;
    case TAPER_LITE_UNCHECKED_CAST:
        return TAPER_OK;
    case TAPER_LITE_UN_INITIALIZED:
        TAPER_TRY(add_constant(l, taper_val_none(), &value));
        return push(l, value);
    case TAPER_LITE_JMP:
        return bad_at(l, pc, "the jump belongs to no if and no loop");
    case TAPER_LITE_RET:
        return bad_at(l, pc, "it stands inside the function");
    default:
        return lower_short(l, block, pc, floor);
    }
}

static taper_status lower_range(lowering *l, taper_block *block, size_t pc, size_t end, size_t floor, int depth)
{
    if (depth > TAPER_LIMIT_BLOCK_DEPTH) {
        return bad_at(l, pc, "blocks are nested too deep");
    }
    while (pc < end) {
        const unsigned op = l->function->instructions[pc].op;
        if (op == TAPER_LITE_JF) {
            TAPER_TRY(lower_if(l, block, &pc, end, floor, depth));
        } else if (op == TAPER_LITE_LOOP) {
            TAPER_TRY(lower_loop(l, block, &pc, end, floor, depth));
        } else {
            TAPER_TRY(lower_instruction(l, block, pc, floor));
            pc++;
        }
    }
    return TAPER_OK;
}

static taper_status lower_function(lowering *l)
{
    const taper_module_function *f = l->function;
    size_t end = f->instruction_count;
    if (end == 0 || f->instructions[end - 1].op != TAPER_LITE_RET) {
        return bad_at(l, end, "the function does not end in RET");
    }
    taper_block *body = l->graph->body;
    for (size_t i = 0; i < body->param_count; i++) {
        TAPER_TRY(push(l, &body->params[i]));
    }
    TAPER_TRY(lower_range(l, body, 0, end - 1, 0, 0));
    if (l->height == 0) { // the function returns nothing
        taper_ir_value *none;
        TAPER_TRY(add_constant(l, taper_val_none(), &none));
        TAPER_TRY(push(l, none));
    }
    TAPER_TRY(taper_block_set_results(body, l->stack, 1, l->error));
    return taper_graph_verify(l->graph, l->error);
}

// Returns the number of parameters. Without a schema (bytecode 3 and some of 4), the number is in the first
// instruction: STOREN 1, number.
static size_t count_params(const taper_module_function *f)
{
    if (f->has_schema) {
        return f->argument_count;
    }
    if (f->instruction_count != 0 && f->instructions[0].op == TAPER_LITE_STOREN) {
        return f->instructions[0].n;
    }
    return f->instruction_count != 0 && f->instructions[0].op == TAPER_LITE_STORE ? 1 : 0;
}

taper_status taper_bytecode_lower(const taper_module *module, const taper_module_function *function,
                                  taper_registry *registry, taper_graph **graph, taper_error *error)
{
    lowering l = {
        .module = module, .function = function, .registry = registry, .allocator = module->allocator, .error = error};
    TAPER_TRY(taper_graph_create(module->allocator, function->name, count_params(function), graph, error));
    l.graph = *graph;
    const size_t registers = (function->register_count + 1) * sizeof *l.registers;
    const size_t constants = (function->constant_count + 1) * sizeof *l.constants;
    l.registers = taper_alloc_zeroed(l.allocator, registers);
    l.constants = taper_alloc_zeroed(l.allocator, constants);
    const taper_status status =
        l.registers == NULL || l.constants == NULL ? taper_fail_memory(error) : lower_function(&l);
    taper_free(l.allocator, l.registers, registers);
    taper_free(l.allocator, l.constants, constants);
    taper_free(l.allocator, l.stack, l.stack_capacity * sizeof *l.stack);
    taper_free(l.allocator, l.trail, l.trail_capacity * sizeof *l.trail);
    if (status != TAPER_OK) {
        taper_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}
