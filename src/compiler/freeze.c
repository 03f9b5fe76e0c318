// SPDX-License-Identifier: BSD-2-Clause
// GetAttr on an object that is known (the root, or what was read from it) becomes the attribute itself, as a constant.
// Sound because nothing but SetAttr changes a slot: a slot number that any graph sets is left alone everywhere. Writing
// into a tensor, list or dict in place is no obstacle: a session's constants and attributes are copies that share what
// the model's share.
#include "compiler/pass.h"

enum { SLOTS = 4096 };

typedef struct taper_set_slots {
    bool beyond; // a slot above the table is set
    bool set[SLOTS];
} set_slots;

static void collect(const taper_block *block, set_slots *slots)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_SET_ATTR) {
            if (node->number < SLOTS) {
                slots->set[node->number] = true;
            } else {
                slots->beyond = true;
            }
        }
        for (size_t b = 0; b < node->block_count; b++) {
            collect(node->blocks[b], slots);
        }
    }
}

static bool of_root(const taper_compilation *compilation, const taper_graph *graph)
{
    const char *name = compilation->root.as.object->klass != NULL ? compilation->root.as.object->klass->name : "";
    const char *dot = strrchr(graph->name, '.');
    return dot != NULL && strlen(name) == (size_t)(dot - graph->name) &&
           strncmp(graph->name, name, (size_t)(dot - graph->name)) == 0;
}

static taper_status freeze_block(taper_compilation *compilation, taper_block *block, const taper_ir_value *self,
                                 const set_slots *slots)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(freeze_block(compilation, node->blocks[b], self, slots));
        }
        if (node->kind != TAPER_NODE_GET_ATTR) {
            continue;
        }
        const taper_ir_value *from = taper_node_in(node, 0);
        const taper_node *constant = taper_value_constant(from);
        const taper_val object = from == self       ? compilation->root
                                 : constant != NULL ? constant->constant
                                                    : taper_val_none();
        const bool is_set = node->number < SLOTS ? slots->set[node->number] : slots->beyond;
        if (object.tag != TAPER_OBJECT || is_set || (uint64_t)node->number >= object.as.object->count) {
            continue;
        }
        taper_ir_value *value;
        TAPER_TRY(taper_constant_before(node, taper_val_retain(object.as.object->slots[node->number]), &value,
                                        compilation->error));
        value->node->number2 = TAPER_CONSTANT_ATTRIBUTE;
        taper_value_replace_uses(&node->outputs[0], value);
        taper_node_remove(node);
    }
    return TAPER_OK;
}

// Once for all graphs: none gets another SetAttr.
static taper_status find_set_slots(taper_compilation *compilation)
{
    if (compilation->set_slots != NULL) {
        return TAPER_OK;
    }
    compilation->set_slots = taper_alloc_zeroed(compilation->allocator, sizeof *compilation->set_slots);
    if (compilation->set_slots == NULL) {
        return taper_fail_memory(compilation->error);
    }
    for (size_t g = 0; g < compilation->count; g++) {
        if (compilation->graphs[g] != NULL) {
            collect(compilation->graphs[g]->body, compilation->set_slots);
        }
    }
    return TAPER_OK;
}

taper_status taper_slot_is_set(taper_compilation *compilation, int64_t slot, bool *is_set)
{
    TAPER_TRY(find_set_slots(compilation));
    *is_set = slot >= 0 && slot < SLOTS ? compilation->set_slots->set[slot] : compilation->set_slots->beyond;
    return TAPER_OK;
}

taper_status taper_pass_freeze(taper_compilation *compilation, taper_graph *graph)
{
    if (compilation->root.tag != TAPER_OBJECT) {
        return TAPER_OK;
    }
    TAPER_TRY(find_set_slots(compilation));
    const taper_ir_value *self =
        graph->body->param_count != 0 && of_root(compilation, graph) ? &graph->body->params[0] : NULL;
    return freeze_block(compilation, graph->body, self, compilation->set_slots);
}

void taper_pass_freeze_end(taper_compilation *compilation)
{
    taper_free(compilation->allocator, compilation->set_slots, sizeof *compilation->set_slots);
    compilation->set_slots = NULL;
}
