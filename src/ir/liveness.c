// SPDX-License-Identifier: BSD-2-Clause
// Visits the blocks backwards with the set of values that are still needed. A trail lists the values that a branch adds
// to the set, so that the other branch can start from the set after the if. The cost grows with the number of uses, not
// of values.
#include "ir/liveness.h"

#include "base/budget.h"

typedef struct liveness {
    taper_graph *graph;
    uint8_t *live; // for each value, by id: 1 if live
    taper_ir_value **trail;
    size_t count, capacity;
    taper_error *error;
} liveness;

static bool counts(const taper_ir_value *value)
{
    return taper_value_constant(value) == NULL;
}

static taper_status make_live(liveness *l, taper_ir_value *value)
{
    TAPER_TRY(TAPER_GROW(l->graph->arena.allocator, l->trail, l->capacity, l->count + 1, l->error));
    l->trail[l->count++] = value;
    l->live[value->id] = 1;
    return TAPER_OK;
}

// Visits the inputs backwards, so that the last one of several equal inputs is marked as the last use.
static taper_status look(liveness *l, taper_ir_input *inputs, size_t count)
{
    for (size_t i = count; i-- > 0;) {
        inputs[i].last = false;
        if (counts(inputs[i].value) && !l->live[inputs[i].value->id]) {
            inputs[i].last = true;
            TAPER_TRY(make_live(l, inputs[i].value));
        }
    }
    return TAPER_OK;
}

static taper_status add_clear(liveness *l, taper_block *block, size_t limit, const taper_ir_value *value)
{
    if (block->clears == NULL) {
        block->clears = taper_arena_array(&l->graph->arena, limit, sizeof *block->clears);
        if (block->clears == NULL) {
            return taper_fail_memory(l->error);
        }
    }
    block->clears[block->clear_count++] = value->reg;
    return TAPER_OK;
}

static taper_status walk_block(liveness *l, taper_block *block);

static bool inside(const taper_ir_value *value, const taper_block *block)
{
    const taper_block *at = value->block;
    while (at != NULL && at != block) {
        at = at->parent != NULL ? at->parent->block : NULL;
    }
    return at == block;
}

// Removes from the set the values that a branch added to the trail since `mark`. Values of the branch itself are
// removed from the trail too. Values from outside of the branch remain on the trail, up to the returned index.
static size_t take_trail(liveness *l, size_t mark, const taper_block *block)
{
    size_t kept = mark;
    for (size_t i = mark; i < l->count; i++) {
        taper_ir_value *value = l->trail[i];
        l->live[value->id] = 0;
        if (!inside(value, block)) {
            l->trail[kept++] = value;
        }
    }
    l->count = kept;
    return kept;
}

static taper_status walk_if(liveness *l, taper_node *node)
{
    taper_block *const branches[2] = {node->blocks[0], taper_node_last_block(node)};
    const size_t start = l->count;
    TAPER_TRY(walk_block(l, branches[0]));
    const size_t middle = take_trail(l, start, branches[0]);
    TAPER_TRY(walk_block(l, branches[1]));
    const size_t end = take_trail(l, middle, branches[1]);
    for (size_t i = 0; i < 2; i++) {
        branches[i]->clears = NULL;
        branches[i]->clear_count = 0;
    }
    // `live` is now the set of values that are live after the `if`. Bit 2 marks values that the first block uses, and
    // bit 4 marks values that the second block uses.
    for (size_t i = start; i < end; i++) {
        l->live[l->trail[i]->id] |= i < middle ? 2 : 4;
    }
    const size_t limit = end - start;
    size_t kept = start;
    for (size_t i = start; i < end; i++) {
        taper_ir_value *value = l->trail[i];
        const uint8_t bits = l->live[value->id];
        if ((bits & 6) == 0) {
            continue; // this entry of the trail was handled before
        }
        if ((bits & 2) == 0) {
            TAPER_TRY(add_clear(l, branches[0], limit, value));
        } else if ((bits & 4) == 0) {
            TAPER_TRY(add_clear(l, branches[1], limit, value));
        }
        l->live[value->id] = 1;
        l->trail[kept++] = value;
    }
    l->count = kept;
    return look(l, node->inputs, node->input_count);
}

// Marks every value as live that the loop's body uses and that is defined outside of it.
static taper_status add_outer_uses(liveness *l, const taper_block *root, const taper_ir_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_ir_value *value = inputs[i].value;
        if (counts(value) && !l->live[value->id] && !inside(value, root)) {
            TAPER_TRY(make_live(l, value));
        }
    }
    return TAPER_OK;
}

static taper_status find_outer_uses(liveness *l, const taper_block *root, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        TAPER_TRY(taper_charge(l->graph->arena.allocator, 4 + 8 * (uint64_t)node->input_count, l->error));
        TAPER_TRY(add_outer_uses(l, root, node->inputs, node->input_count));
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(find_outer_uses(l, root, node->blocks[b]));
        }
    }
    return add_outer_uses(l, root, block->results, block->result_count);
}

static taper_status walk_loop(liveness *l, taper_node *node)
{
    taper_block *body = node->blocks[0];
    body->clears = NULL;
    body->clear_count = 0;
    const size_t start = l->count;
    // The maximum number of iterations is read before every iteration, so it lives through the loop, like the values
    // from outside that the body uses.
    TAPER_TRY(add_outer_uses(l, body, node->inputs, 1));
    TAPER_TRY(find_outer_uses(l, body, body));
    const size_t limit = l->count - start;
    for (size_t i = start; i < start + limit; i++) {
        TAPER_TRY(add_clear(l, body, limit, l->trail[i]));
    }
    const size_t mark = l->count;
    TAPER_TRY(walk_block(l, body));
    l->count = take_trail(l, mark, body);
    return look(l, node->inputs, node->input_count);
}

static taper_status walk_block(liveness *l, taper_block *block)
{
    TAPER_TRY(look(l, block->results, block->result_count));
    for (taper_node *node = block->last; node != NULL; node = node->previous) {
        if (node->kind == TAPER_NODE_IF || node->kind == TAPER_NODE_SEGMENT) {
            TAPER_TRY(walk_if(l, node));
        } else if (node->kind == TAPER_NODE_LOOP) {
            TAPER_TRY(walk_loop(l, node));
        } else {
            TAPER_TRY(look(l, node->inputs, node->input_count));
        }
    }
    return TAPER_OK;
}

taper_status taper_liveness(taper_graph *graph, taper_error *error)
{
    const taper_allocator *allocator = graph->arena.allocator;
    const size_t size = (size_t)graph->value_count + 1;
    liveness l = {.graph = graph, .live = taper_alloc_zeroed(allocator, size), .error = error};
    const taper_status status = l.live == NULL ? taper_fail_memory(error) : walk_block(&l, graph->body);
    taper_free(allocator, l.live, size);
    taper_free(allocator, l.trail, l.capacity * sizeof *l.trail);
    return status;
}
