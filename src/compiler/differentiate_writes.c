// SPDX-License-Identifier: BSD-2-Clause
// Writes between the inputs and the outputs of a request for gradients. A write to a tensor that only later nodes use
// is treated like any other node. Tensors that are written to in any other way are noted, because gradients must not
// read them.
#include "compiler/differentiate.h"

enum { MOST_USES = 64 }; // largest number of uses of a tensor that an in-place operator overwrites

// Returns true if the operator writes to its argument `index`, which is a tensor, a list of tensors, or unknown.
static bool writes_tensor_at(const taper_node *node, size_t index)
{
    const bool known = node->kind == TAPER_NODE_OP && index < node->schema->arg_count;
    const taper_type *const type = known ? node->schema->args[index].type : NULL;
    const bool container = type != NULL && (type->kind == TAPER_TYPE_LIST || type->kind == TAPER_TYPE_DICT) &&
                           type->items[0]->kind != TAPER_TYPE_TENSOR;
    return taper_node_writes(node, index) && !container && !taper_ahead_returns_argument(node);
}

bool taper_ahead_writes_tensor(const taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (writes_tensor_at(node, i)) {
            return true;
        }
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            if (taper_ahead_writes_tensor(inner)) {
                return true;
            }
        }
    }
    return false;
}

bool taper_ahead_writes_container(const taper_node *node)
{
    for (size_t i = 0; node->kind == TAPER_NODE_OP && i < node->input_count; i++) {
        if (taper_node_writes(node, i) && !writes_tensor_at(node, i) && !taper_ahead_returns_argument(node)) {
            return true;
        }
    }
    return false;
}

void taper_ahead_note_writes(const taper_ahead *a, const taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (writes_tensor_at(node, i)) {
            a->written[taper_aliases_set(a->aliases, taper_node_in(node, i))] = true;
        }
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            taper_ahead_note_writes(a, inner);
        }
    }
}

// Returns true if the user comes before the node that is examined, in its block, and kept no reference.
static bool is_earlier_reader(const taper_ahead *a, const taper_value_use *use)
{
    return use->user != NULL && use->user->block == a->block && use->user->output_count != 0 &&
           taper_ahead_has(a, &use->user->outputs[0], TAPER_AHEAD_SEEN) && !taper_use_hands_on_memory(use);
}

// Returns true if the node writes to a tensor that an operator of the block has made, and only earlier readers and
// later users use that tensor. Later users then take the node's result. Returns false for any other write.
static bool write_is_separate(const taper_ahead *a, taper_node *node)
{
    taper_ir_value *const self = taper_node_in(node, 0);
    const taper_node *const maker = self->node;
    if (!node->schema->in_place || self->block != a->block || maker == NULL || taper_ahead_returns_argument(node) ||
        !(taper_value_is_fresh(self) || (maker->kind == TAPER_NODE_OP && maker->schema->in_place &&
                                         taper_ahead_has(a, taper_node_in(maker, 0), TAPER_AHEAD_OVERWRITTEN)))) {
        return false;
    }
    size_t uses = 0;
    for (const taper_value_use *use = self->uses; use != NULL; use = use->next) {
        const bool early = use->user == node || is_earlier_reader(a, use);
        const bool later = use->user == NULL || use->user->block != a->block || use->user->output_count == 0 ||
                           !taper_ahead_has(a, &use->user->outputs[0], TAPER_AHEAD_SEEN);
        if (++uses > MOST_USES || (use->user == node && use->index != 0) || !(early || later)) {
            return false;
        }
        // A user in another block could be in a branch before the node.
        if (!early && use->user != NULL && use->user->block != a->block) {
            return false;
        }
    }
    return true;
}

bool taper_ahead_separate(const taper_ahead *a, taper_node *node)
{
    if (!write_is_separate(a, node)) {
        return false;
    }
    taper_ir_value *const self = taper_node_in(node, 0);
    taper_ahead_mark(a, self, TAPER_AHEAD_OVERWRITTEN);
    taper_ahead_mark(a, &node->outputs[0], taper_ahead_facts(a, self) & TAPER_AHEAD_REACHED);
    for (taper_value_use *use = self->uses, *next; use != NULL; use = next) {
        next = use->next;
        if (use->user != NULL && use->user != node && !is_earlier_reader(a, use)) {
            taper_node_set_input(use->user, use->index, &node->outputs[0]);
        }
    }
    return true;
}
