// SPDX-License-Identifier: BSD-2-Clause
// Builds programs for the interpreter from graphs.
#include "runtime/program.h"

#include "compiler/pass.h"
#include "ir/liveness.h"
#include "ops/backend.h"
#include "ops/list/op_table.h"

typedef struct builder {
    taper_program *program;
    taper_kernel_chooser choose;
    const void *user;
    taper_error *error;
} builder;

static taper_status add_operand(builder *b, uint32_t operand)
{
    taper_program *p = b->program;
    TAPER_TRY(TAPER_GROW(p->allocator, p->operands, p->operand_capacity, p->operand_count + 1, b->error));
    p->operands[p->operand_count++] = operand;
    return TAPER_OK;
}

// Returns true for results that cannot change: numbers, strings, tensors, containers that no code changes, and packed
// weights.
static bool is_fixed(const taper_ir_value *result)
{
    const taper_node *node = taper_value_constant(result);
    if (node == NULL) {
        return false;
    }
    const taper_val value = node->constant;
    if (value.tag == TAPER_OBJECT) {
        return value.as.object->klass != NULL && taper_class_is_native(value.as.object->klass->name);
    }
    return !taper_val_is_object(value) || value.tag == TAPER_TENSOR || value.tag == TAPER_STRING ||
           node->own.constant.frozen || (value.tag == TAPER_LIST && node->own.constant.held);
}

static uint32_t operand_of(const taper_ir_input *input)
{
    const taper_ir_value *value = input->value;
    if (taper_value_constant(value) != NULL) {
        return TAPER_OPERAND_CONSTANT | (is_fixed(value) ? TAPER_OPERAND_FIXED : 0) | value->reg;
    }
    return value->reg | (input->last ? TAPER_OPERAND_LAST : 0);
}

static taper_status add(builder *b, taper_opcode opcode, const taper_ir_input *inputs, size_t in_count,
                        const taper_ir_value *outputs, size_t out_count, size_t *at)
{
    taper_program *p = b->program;
    TAPER_TRY(TAPER_GROW(p->allocator, p->code, p->code_capacity, p->code_count + 1, b->error));
    taper_instruction *in = &p->code[p->code_count];
    memset(in, 0, sizeof *in);
    in->opcode = (uint8_t)opcode;
    in->in_count = (uint32_t)in_count;
    in->out_count = (uint32_t)out_count;
    in->in = (uint32_t)p->operand_count;
    for (size_t i = 0; i < in_count; i++) {
        TAPER_TRY(add_operand(b, operand_of(&inputs[i])));
    }
    in = &p->code[p->code_count];
    in->out = (uint32_t)p->operand_count;
    for (size_t i = 0; i < out_count; i++) {
        TAPER_TRY(add_operand(b, outputs[i].reg));
    }
    p->scratch_count = taper_max_size(p->scratch_count, in_count + out_count);
    if (at != NULL) {
        *at = p->code_count;
    }
    p->code_count++;
    return TAPER_OK;
}

static taper_status add_clears(builder *b, const uint32_t *registers, size_t count)
{
    if (count == 0) {
        return TAPER_OK;
    }
    size_t at;
    TAPER_TRY(add(b, TAPER_DO_CLEAR, NULL, 0, NULL, 0, &at));
    b->program->code[at].in = (uint32_t)b->program->operand_count;
    b->program->code[at].in_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(add_operand(b, registers[i]));
    }
    return TAPER_OK;
}

static taper_status build_block(builder *b, const taper_block *block);

// Adds an instruction that empties the registers of results that nothing uses.
static void discard_unused(taper_program *p, size_t first, const taper_ir_value *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (outputs[i].uses == NULL) {
            p->operands[first + i] |= TAPER_OPERAND_LAST;
        }
    }
}

// Marks results that the program only returns (taper_ret_leaves).
static void note_leaving(const builder *b, const taper_instruction *in, const taper_ir_value *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const taper_value_use *use = outputs[i].uses;
        const bool leaves = use != NULL && use->next == NULL && use->user == NULL;
        if (leaves && use->block == b->program->graph->body) {
            b->program->operands[in->out + i] |= TAPER_OPERAND_FIXED;
        }
    }
}

static void jump_here(builder *b, size_t at)
{
    b->program->code[at].target = (uint32_t)b->program->code_count;
}

static taper_status build_if(builder *b, const taper_node *node)
{
    size_t branch, jump;
    TAPER_TRY(add(b, TAPER_DO_BRANCH, node->inputs, 1, NULL, 0, &branch));
    for (size_t i = 0; i < 2; i++) {
        const taper_block *block = node->blocks[i];
        TAPER_TRY(add_clears(b, block->clears, block->clear_count));
        TAPER_TRY(build_block(b, block));
        if (block->result_count != 0) {
            size_t move;
            TAPER_TRY(
                add(b, TAPER_DO_MOVE, block->results, block->result_count, node->outputs, node->output_count, &move));
            discard_unused(b->program, b->program->code[move].out, node->outputs, node->output_count);
        }
        if (i == 0) {
            TAPER_TRY(add(b, TAPER_DO_JUMP, NULL, 0, NULL, 0, &jump));
            jump_here(b, branch);
        }
    }
    jump_here(b, jump);
    return TAPER_OK;
}

// Builds a loop. The registers of the body's parameters contain the number of the iteration and the carried values. Two
// more registers contain the counter and the condition (node->own.loop).
static taper_status build_loop(builder *b, const taper_node *node)
{
    const taper_block *body = node->blocks[0];
    const size_t carried = node->output_count;
    taper_program *p = b->program;
    taper_ir_value counter = {.reg = node->own.loop.counter}, condition = {.reg = node->own.loop.condition};
    TAPER_TRY(add(b, TAPER_DO_LOOP_BEGIN, NULL, 0, &counter, 1, NULL));
    size_t move;
    TAPER_TRY(add(b, TAPER_DO_MOVE, node->inputs + 1, carried + 1, NULL, 0, &move));
    p->code[move].out = (uint32_t)p->operand_count;
    p->code[move].out_count = (uint32_t)carried + 1;
    TAPER_TRY(add_operand(b, condition.reg));
    for (size_t i = 0; i < carried; i++) {
        TAPER_TRY(add_operand(b, body->params[i + 1].reg));
    }
    p->scratch_count = taper_max_size(p->scratch_count, 2 * carried + 2);
    size_t test;
    TAPER_TRY(add(b, TAPER_DO_LOOP_TEST, node->inputs, 1, NULL, 0, &test));
    TAPER_TRY(add_operand(b, condition.reg));
    TAPER_TRY(add_operand(b, counter.reg));
    p->code[test].in_count = 3;
    p->operands[p->code[test].in] &= ~TAPER_OPERAND_LAST; // not the last use, because later instructions use the value
    p->code[test].out = (uint32_t)p->operand_count;
    p->code[test].out_count = 1;
    TAPER_TRY(add_operand(b, body->params[0].reg));
    TAPER_TRY(build_block(b, body));
    TAPER_TRY(add(b, TAPER_DO_MOVE, body->results, carried + 1, NULL, 0, &move));
    p->code[move].out = (uint32_t)p->operand_count;
    p->code[move].out_count = (uint32_t)carried + 1;
    TAPER_TRY(add_operand(b, condition.reg));
    for (size_t i = 0; i < carried; i++) {
        TAPER_TRY(add_operand(b, body->params[i + 1].reg));
    }
    size_t jump;
    TAPER_TRY(add(b, TAPER_DO_JUMP, NULL, 0, NULL, 0, &jump));
    p->code[jump].target = (uint32_t)test;
    jump_here(b, test);
    if (carried != 0) {
        TAPER_TRY(add(b, TAPER_DO_MOVE, NULL, 0, node->outputs, carried, &move));
        p->code[move].in = (uint32_t)p->operand_count;
        p->code[move].in_count = (uint32_t)carried;
        discard_unused(p, p->code[move].out, node->outputs, carried);
        for (size_t i = 0; i < carried; i++) {
            TAPER_TRY(add_operand(b, body->params[i + 1].reg | TAPER_OPERAND_LAST));
        }
    }
    return add_clears(b, body->clears, body->clear_count);
}

static void set_operator(builder *b, taper_instruction *in, const taper_op *op, const taper_schema *schema)
{
    in->op = op;
    in->schema = schema;
    in->state = (uint32_t)(b->program->first_state + b->program->state_count++);
}

// Builds a segment. The code is SEGMENT, then for a declined call: the original nodes, a MOVE of their results,
// SEGMENT_DONE if the backend needs it, and a JUMP to the end. For a call that the backend ran, a CLEAR follows for the
// registers that the original nodes would have emptied.
static taper_status build_segment(builder *b, const taper_node *node)
{
    const taper_block *body = taper_node_last_block(node);
    size_t at, move, jump, told;
    TAPER_TRY(add(b, TAPER_DO_SEGMENT, node->inputs, node->input_count, node->outputs, node->output_count, &at));
    taper_instruction *in = &b->program->code[at];
    in->node = node;
    in->segment = node->segment;
    in->kernel = taper_segment_call;
    set_operator(b, in, node->segment->op, node->segment->schema);
    discard_unused(b->program, in->out, node->outputs, node->output_count);
    note_leaving(b, in, node->outputs, node->output_count);
    TAPER_TRY(build_block(b, body));
    TAPER_TRY(add(b, TAPER_DO_MOVE, body->results, body->result_count, node->outputs, node->output_count, &move));
    discard_unused(b->program, b->program->code[move].out, node->outputs, node->output_count);
    if (TAPER_DEVICES && node->segment->device->backend->measured != NULL) {
        TAPER_TRY(add(b, TAPER_DO_SEGMENT_DONE, NULL, 0, NULL, 0, &told));
        b->program->code[told].segment = node->segment;
        b->program->code[told].state = b->program->code[at].state;
    }
    TAPER_TRY(add(b, TAPER_DO_JUMP, NULL, 0, NULL, 0, &jump));
    jump_here(b, at);
    TAPER_TRY(add_clears(b, node->blocks[0]->clears, node->blocks[0]->clear_count));
    jump_here(b, jump);
    return TAPER_OK;
}

static taper_status build_block(builder *b, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        size_t at;
        switch (node->kind) {
        case TAPER_NODE_CONSTANT:
            break;
        case TAPER_NODE_IF:
            TAPER_TRY(build_if(b, node));
            break;
        case TAPER_NODE_LOOP:
            TAPER_TRY(build_loop(b, node));
            break;
        case TAPER_NODE_SEGMENT:
            TAPER_TRY(build_segment(b, node));
            break;
        default: {
            const bool op = node->kind == TAPER_NODE_OP;
            TAPER_TRY(add(b, op ? TAPER_DO_OP : TAPER_DO_NODE, node->inputs, node->input_count, node->outputs,
                          node->output_count, &at));
            taper_instruction *in = &b->program->code[at];
            discard_unused(b->program, in->out, node->outputs, node->output_count);
            in->kind = node->kind;
            in->node = node;
            if (op) {
                note_leaving(b, in, node->outputs, node->output_count);
                const taper_kernel kernel = b->choose != NULL ? b->choose(node->op, b->user) : NULL;
                in->kernel = kernel != NULL ? kernel : taper_row_kernel(node->op);
                set_operator(b, in, node->op, node->schema);
            }
            break;
        }
        }
    }
    return TAPER_OK;
}

typedef struct numbering {
    size_t constants, registers;
} numbering;

static void number_values(const taper_block *block, numbering *n)
{
    for (size_t i = 0; i < block->param_count; i++) {
        block->params[i].reg = (uint32_t)n->registers++;
    }
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_CONSTANT) {
            node->outputs[0].reg = (uint32_t)n->constants++;
            continue;
        }
        for (size_t i = 0; i < node->output_count; i++) {
            node->outputs[i].reg = (uint32_t)n->registers++;
        }
        if (node->kind == TAPER_NODE_LOOP) {
            node->own.loop.counter = (uint32_t)n->registers++;
            node->own.loop.condition = (uint32_t)n->registers++;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            number_values(node->blocks[b], n);
        }
    }
}

taper_status taper_program_build(taper_graph *graph, taper_kernel_chooser choose, const void *user,
                                 size_t first_constant, size_t first_state, taper_program *program, taper_error *error)
{
    *program = (taper_program){.allocator = graph->arena.allocator,
                               .graph = graph,
                               .first_constant = first_constant,
                               .first_state = first_state,
                               .param_count = graph->body->param_count};
    numbering n = {first_constant, 0};
    number_values(graph->body, &n);
    program->register_count = n.registers;
    program->constant_count = n.constants - first_constant;
    builder b = {program, choose, user, error};
    taper_status status = TAPER_OK;
    if (n.registers > TAPER_OPERAND_INDEX || n.constants > TAPER_OPERAND_INDEX) {
        status = taper_fail(error, TAPER_ERROR_RESOURCE, "the model has too many values");
    }
    if (status == TAPER_OK) {
        status = taper_liveness(graph, error);
    }
    if (status == TAPER_OK) {
        status = build_block(&b, graph->body);
    }
    if (status == TAPER_OK) {
        status = add(&b, TAPER_DO_RETURN, graph->body->results, 1, NULL, 0, NULL);
    }
    if (status != TAPER_OK) {
        taper_program_free(program);
    }
    return status;
}

// Returns true if the operator returns numbers that may differ between two calls with tensors of the same sizes and
// dtypes.
static bool asks_elements(const taper_instruction *in)
{
    const taper_schema *schema = in->schema;
    bool takes_tensor = schema->vararg, gives_number = false;
    for (size_t i = 0; i < schema->arg_count; i++) {
        const taper_type *type = schema->args[i].type;
        takes_tensor |= type->kind == TAPER_TYPE_TENSOR ||
                        (type->count != 0 && type->items[type->count - 1]->kind == TAPER_TYPE_TENSOR);
    }
    for (size_t i = 0; i < schema->ret_count; i++) {
        const taper_type_kind kind = (taper_type_kind)schema->rets[i].type->kind;
        gives_number |= (kind >= TAPER_TYPE_INT && kind <= TAPER_TYPE_NUMBER) || kind == TAPER_TYPE_LIST;
    }
    return takes_tensor && gives_number && !taper_op_has(in->op, TAPER_OP_ASKS_SHAPE);
}

// Returns true if the operator changes a list or dict.
static bool changes_container(const taper_instruction *in)
{
    bool changes = false;
    for (size_t i = 0; i < in->schema->arg_count; i++) {
        const int kind = in->schema->args[i].type->kind;
        changes |= in->schema->args[i].written && (kind == TAPER_TYPE_LIST || kind == TAPER_TYPE_DICT);
    }
    return changes;
}

bool taper_program_repeats(const taper_program *program)
{
    static const uint32_t changing = 1U << TAPER_NODE_SET_ATTR | 1U << TAPER_NODE_CALL | 1U << TAPER_NODE_OBJECT;
    const uint64_t effects = TAPER_OP_REGISTERED | TAPER_OP_RESIZES | TAPER_OP_REPLACES;
    // changes: true if an instruction changes a container, which may be an attribute that later calls read
    bool repeats = true, has_attributes = false, changes = false;
    for (size_t i = 0; repeats && i < program->code_count; i++) {
        const taper_instruction *in = &program->code[i];
        repeats = in->opcode == TAPER_DO_OP     ? !taper_op_has(in->op, effects) && !asks_elements(in)
                  : in->opcode == TAPER_DO_NODE ? (changing >> in->kind & 1) == 0
                                                : true;
        changes |= in->opcode == TAPER_DO_OP && changes_container(in);
        has_attributes |= in->opcode == TAPER_DO_NODE && in->kind == TAPER_NODE_GET_ATTR;
    }
    return repeats && !(changes && has_attributes);
}

void taper_program_free(taper_program *program)
{
    if (program->graph == NULL) {
        return;
    }
    taper_free(program->allocator, program->code, program->code_capacity * sizeof *program->code);
    taper_free(program->allocator, program->operands, program->operand_capacity * sizeof *program->operands);
    taper_graph_destroy(program->graph);
    memset(program, 0, sizeof *program);
}

static void visit_constants(const taper_block *block, void (*visit)(void *user, taper_val value), void *user)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_CONSTANT) {
            visit(user, node->constant);
        }
        for (size_t b = 0; b < node->block_count; b++) {
            visit_constants(node->blocks[b], visit, user);
        }
    }
}

void taper_program_constants(const taper_program *program, void (*visit)(void *user, taper_val value), void *user)
{
    visit_constants(program->graph->body, visit, user);
}
