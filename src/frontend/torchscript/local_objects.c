// SPDX-License-Identifier: BSD-2-Clause
// If an object is used only in the block that makes it, replaces the object by the values of its attributes. `with
// torch.no_grad():` makes such an object. PyTorch's lite interpreter cannot read zip archives whose functions make
// objects.
#include "frontend/torchscript/lower.h"

enum { MOST_SLOTS = 8 };

// Returns true if the node gets or sets an attribute of the object.
static bool is_access(const taper_node *node, const taper_node *object)
{
    return (node->kind == TAPER_NODE_GET_ATTR || node->kind == TAPER_NODE_SET_ATTR) &&
           taper_node_in(node, 0) == &object->outputs[0];
}

// Returns true if all uses of the object are in its block, and either set its attributes or get attributes that were
// set before.
static bool is_local(const taper_node *object, size_t *looks)
{
    size_t left = 0;
    bool set[MOST_SLOTS] = {false};
    for (const taper_value_use *use = object->outputs[0].uses; use != NULL; use = use->next, left++) {
        if (use->user == NULL || use->user->block != object->block || use->index != 0 ||
            !is_access(use->user, object) || use->user->own.slot < 0 || use->user->own.slot >= MOST_SLOTS) {
            return false;
        }
    }
    for (const taper_node *node = object->next; left != 0 && *looks != 0; node = node->next, --*looks) {
        if (is_access(node, object)) {
            left--;
            if (node->kind == TAPER_NODE_GET_ATTR && !set[node->own.slot]) {
                return false;
            }
            set[node->own.slot] = true;
        }
    }
    return left == 0;
}

static void dissolve(taper_node *object)
{
    taper_ir_value *slots[MOST_SLOTS];
    for (taper_node *node = object->next, *next; object->outputs[0].uses != NULL; node = next) {
        next = node->next;
        if (!is_access(node, object)) {
            continue;
        }
        if (node->kind == TAPER_NODE_SET_ATTR) {
            slots[node->own.slot] = taper_node_in(node, 1);
        } else {
            taper_value_replace_uses(&node->outputs[0], slots[node->own.slot]);
        }
        taper_node_remove(node);
    }
    taper_node_remove(object);
}

void taper_ts_dissolve_objects(taper_block *block, size_t *looks)
{
    for (taper_node *node = block->last, *previous; node != NULL; node = previous) {
        previous = node->previous;
        for (size_t b = 0; b < node->block_count; b++) {
            taper_ts_dissolve_objects(node->blocks[b], looks);
        }
        if (node->kind == TAPER_NODE_OBJECT && is_local(node, looks)) {
            dissolve(node);
        }
    }
}
