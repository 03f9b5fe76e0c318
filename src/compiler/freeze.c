// SPDX-License-Identifier: BSD-2-Clause
// Replaces GetAttr on a known object (the root, or an object read from it) by the attribute itself, as a constant.
//
// Replacing attributes by constants is correct because only SetAttr changes a slot. If a graph sets a slot number, the
// pass does not replace that slot in objects of the same class, or in all objects if the class is not known. Writes in
// place into a tensor, list or dict are no obstacle at run time, because each session has its own copies of constants
// and attributes, which share storages with one another as in the model. However, later passes take the shape of a
// constant as known. If any graph changes the shape of a tensor in place (transpose_, resize_, set_, an out argument),
// tensors that are written to therefore remain attributes.
//
// A file stores constants and attributes separately. So for a graph that is written to a file (the portable stage), the
// pass does not replace an attribute to which a graph writes, or an attribute that is an object. Packed weights are the
// exception: they become constants.
#include <string.h>

#include "compiler/pass.h"
#include "ir/tensor_def.h"

enum { SLOTS = 4096 };

enum { CLASSES = 64 }; // number of classes for which slots are recorded separately

typedef struct taper_set_slots {
    bool beyond;     // true if a slot is set whose number is too large for the array `set`
    bool set[SLOTS]; // slots set in some object whose class is not known
    size_t class_count;
    struct {
        const char *name;
        uint64_t set[SLOTS / 64];
    } classes[CLASSES]; // slots set in objects of this class
} set_slots;

// Returns self in methods of the root's class, or NULL in other graphs.
static const taper_ir_value *self_of(const taper_compilation *compilation, const taper_graph *graph)
{
    return graph->body->param_count != 0 && taper_is_of_root(compilation, graph) ? &graph->body->params[0] : NULL;
}

// Returns the name of the object's class, or NULL if it is not known.
static const char *class_of(const taper_compilation *compilation, const taper_ir_value *object)
{
    // Self counts as the known root only in builds with devices: devices need the weights of self as constants, while
    // the CPU can read the weights from attributes.
    if (TAPER_DEVICES && object == self_of(compilation, object->block->graph)) {
        return compilation->root.as.object->klass->name;
    }
    const taper_type *type =
        object->node != NULL && object->node->kind == TAPER_NODE_OBJECT ? object->node->type : object->type;
    return type != NULL && type->kind == TAPER_TYPE_CLASS ? type->name : NULL;
}

static size_t find_class(const set_slots *slots, const char *name)
{
    size_t i = 0;
    while (i < slots->class_count && strcmp(slots->classes[i].name, name) != 0) {
        i++;
    }
    return i;
}

static void note_set(const taper_compilation *compilation, const taper_node *node, set_slots *slots)
{
    const char *name = class_of(compilation, taper_node_in(node, 0));
    const size_t at = name != NULL ? find_class(slots, name) : CLASSES;
    if (node->own.slot >= SLOTS) {
        slots->beyond = true;
    } else if (at == CLASSES) {
        slots->set[node->own.slot] = true;
    } else {
        slots->class_count += at == slots->class_count;
        slots->classes[at].name = name;
        slots->classes[at].set[node->own.slot / 64] |= UINT64_C(1) << node->own.slot % 64;
    }
}

static void collect(const taper_compilation *compilation, const taper_block *block, set_slots *slots)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_SET_ATTR) {
            note_set(compilation, node, slots);
        }
        for (size_t b = 0; b < node->block_count; b++) {
            collect(compilation, node->blocks[b], slots);
        }
    }
}

static bool is_in(const set_slots *slots, size_t at, uint64_t slot)
{
    return (slots->classes[at].set[slot / 64] >> slot % 64 & 1) != 0;
}

// Returns true if this slot of the object may be set during a run.
static bool may_be_set(const set_slots *slots, const taper_object *object, uint64_t slot)
{
    if (slot >= SLOTS) {
        return slots->beyond;
    }
    if (slots->set[slot]) {
        return true;
    }
    if (object->klass == NULL || object->klass->name == NULL) {
        for (size_t i = 0; i < slots->class_count; i++) {
            if (is_in(slots, i, slot)) {
                return true;
            }
        }
        return false;
    }
    const size_t at = find_class(slots, object->klass->name);
    return at < slots->class_count && is_in(slots, at, slot);
}

static bool is_packed(taper_val value)
{
    return value.tag == TAPER_OBJECT && value.as.object->klass != NULL &&
           taper_class_is_native(value.as.object->klass->name);
}

// Returns true if the value may be in a function's table of constants.
static bool is_constant(taper_compilation *compilation, taper_val value)
{
    switch (value.tag) {
    case TAPER_OBJECT:
        return !compilation->portable || is_packed(value);
    case TAPER_TENSOR:
    case TAPER_LIST:
    case TAPER_DICT:
    case TAPER_TUPLE:
        return (!compilation->portable && !taper_ranks_change(compilation)) || !taper_is_written(compilation, value);
    case TAPER_GENERATOR:
        return !compilation->portable;
    default:
        return true;
    }
}

// *constant receives the constant that replaces an attribute; the caller owns this reference. In a graph that is
// written to a file (the portable stage), its tensors no longer require gradients, as in PyTorch's freezing. PyTorch's
// CPU engine refuses weights that require gradients, and also images computed from such weights.
static taper_status constant_of(taper_compilation *compilation, taper_val value, taper_val *constant)
{
    *constant = value;
    if (compilation->portable) {
        TAPER_TRY(taper_clone_detached(compilation->module->heap, &compilation->detached, value, constant,
                                       compilation->error));
    }
    (void)taper_val_retain(*constant);
    return TAPER_OK;
}

// Returns the value that this IR value has at run time, or None if it is unknown. Reads attributes that no code sets.
static taper_val object_of(const taper_compilation *compilation, const taper_ir_value *value,
                           const taper_ir_value *self, const set_slots *slots, int depth)
{
    const taper_node *node = value->node;
    if (value == self) {
        return compilation->root;
    }
    if (node != NULL && node->kind == TAPER_NODE_CONSTANT) {
        return node->constant;
    }
    if (node == NULL || node->kind != TAPER_NODE_GET_ATTR || depth > TAPER_LIMIT_INLINE_DEPTH) {
        return taper_val_none();
    }
    const taper_val object = object_of(compilation, taper_node_in(node, 0), self, slots, depth + 1);
    return object.tag == TAPER_OBJECT && !may_be_set(slots, object.as.object, (uint64_t)node->own.slot) &&
                   (uint64_t)node->own.slot < object.as.object->count
               ? object.as.object->slots[node->own.slot]
               : taper_val_none();
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
        const taper_val object = object_of(compilation, taper_node_in(node, 0), self, slots, 0);
        if (object.tag != TAPER_OBJECT || may_be_set(slots, object.as.object, (uint64_t)node->own.slot) ||
            (uint64_t)node->own.slot >= object.as.object->count ||
            !is_constant(compilation, object.as.object->slots[node->own.slot])) {
            continue;
        }
        taper_ir_value *value;
        taper_val constant;
        TAPER_TRY(constant_of(compilation, object.as.object->slots[node->own.slot], &constant));
        TAPER_TRY(taper_constant_before(node, constant, &value, compilation->error));
        value->node->own.constant.attribute = true;
        taper_value_replace_uses(&node->outputs[0], value);
        taper_node_remove(node);
    }
    return TAPER_OK;
}

// Records the slots that SetAttr writes. Runs once for all graphs, because no pass adds a SetAttr.
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
            collect(compilation, compilation->graphs[g]->body, compilation->set_slots);
        }
    }
    return TAPER_OK;
}

taper_status taper_slot_is_set(taper_compilation *compilation, int64_t slot, bool *is_set)
{
    TAPER_TRY(find_set_slots(compilation));
    const set_slots *slots = compilation->set_slots;
    *is_set = slot >= 0 && slot < SLOTS ? slots->set[slot] : slots->beyond;
    for (size_t i = 0; i < slots->class_count && slot >= 0 && slot < SLOTS; i++) {
        *is_set = *is_set || is_in(slots, i, (uint64_t)slot);
    }
    return TAPER_OK;
}

taper_status taper_pass_freeze(taper_compilation *compilation, taper_graph *graph)
{
    if (compilation->root.tag != TAPER_OBJECT) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_written_storages_find(compilation));
    TAPER_TRY(find_set_slots(compilation));
    return freeze_block(compilation, graph->body, self_of(compilation, graph), compilation->set_slots);
}

void taper_pass_freeze_end(taper_compilation *compilation)
{
    taper_free(compilation->allocator, compilation->set_slots, sizeof *compilation->set_slots);
    compilation->set_slots = NULL;
    taper_clone_end(compilation->detached);
    compilation->detached = NULL;
}
