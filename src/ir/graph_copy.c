// SPDX-License-Identifier: BSD-2-Clause
// Copies nodes and blocks of graphs.
#include "ir/graph_copy.h"

taper_status taper_copier_make_room(taper_copier *c, const taper_graph *from)
{
    const size_t want = from->value_count;
    TAPER_TRY(TAPER_GROW(c->allocator, c->values, c->capacity, want, c->error));
    memset(c->values + c->count, 0, (want - c->count) * sizeof *c->values);
    c->count = want;
    return TAPER_OK;
}

void taper_copier_free(taper_copier *c)
{
    taper_free(c->allocator, (void *)c->values, c->capacity * sizeof *c->values);
}

taper_status taper_copy_block(const taper_copier *c, taper_node *parent, const taper_block *block, taper_block **made)
{
    TAPER_TRY(taper_block_create(c->to, parent, block->param_count, made, c->error));
    for (size_t i = 0; i < block->param_count; i++) {
        (*made)->params[i].type = block->params[i].type;
        taper_stands_for(c, &block->params[i], &(*made)->params[i]);
    }
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        taper_node *copy;
        TAPER_TRY(taper_copy_node(c, node, &copy));
        taper_node_append(*made, copy);
    }
    taper_ir_value **results = taper_arena_array(&c->to->arena, block->result_count, sizeof *results);
    if (results == NULL) {
        return taper_fail_memory(c->error);
    }
    for (size_t i = 0; i < block->result_count; i++) {
        results[i] = taper_copy_of(c, block->results[i].value);
    }
    return taper_block_set_results(*made, results, block->result_count, c->error);
}

// Copies the data to which a node's members point, if the data is in the arena of the source graph.
static taper_status copy_what_it_holds(const taper_copier *c, taper_node *copy)
{
    if (copy->name != NULL) {
        copy->name = taper_arena_string(&c->to->arena, copy->name, strlen(copy->name));
    }
    const taper_type **types = taper_arena_array(&c->to->arena, copy->type_count, sizeof *types);
    if (types == NULL || (copy->name == NULL && copy->kind == TAPER_NODE_CALL)) {
        return taper_fail_memory(c->error);
    }
    if (copy->type_count != 0) {
        memcpy((void *)types, (const void *)copy->types, copy->type_count * sizeof *types);
        copy->types = types;
    }
    return TAPER_OK;
}

taper_status taper_copy_node(const taper_copier *c, const taper_node *node, taper_node **made)
{
    const bool elsewhere = node->block->graph != c->to;
    if (elsewhere && node->kind == TAPER_NODE_CONSTANT) {
        TAPER_TRY(taper_node_constant(c->to, taper_val_retain(node->constant), made, c->error));
    } else {
        TAPER_TRY(taper_node_create(c->to, (taper_node_kind)node->kind, node->input_count, node->output_count, made,
                                    c->error));
        (*made)->constant = node->constant; // borrowed; the graph owns a reference
    }
    taper_node *copy = *made;
    copy->op = node->op;
    copy->op_name = node->op_name;
    copy->schema = node->schema;
    copy->type = node->type;
    copy->types = node->types;
    copy->type_count = node->type_count;
    copy->name = node->name;
    copy->own = node->own;
    copy->debug = node->debug;
    copy->instruction = node->instruction;
    TAPER_TRY(elsewhere ? copy_what_it_holds(c, copy) : TAPER_OK);
    for (size_t i = 0; i < node->input_count; i++) {
        taper_node_set_input(copy, i, taper_copy_of(c, taper_node_in(node, i)));
    }
    for (size_t b = 0; b < node->block_count; b++) {
        TAPER_TRY(taper_copy_block(c, copy, node->blocks[b], &copy->blocks[b]));
        copy->block_count = (uint32_t)b + 1;
    }
    for (size_t i = 0; i < node->output_count; i++) {
        copy->outputs[i].type = node->outputs[i].type;
        taper_stands_for(c, &node->outputs[i], &copy->outputs[i]);
    }
    return TAPER_OK;
}
