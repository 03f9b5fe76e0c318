// SPDX-License-Identifier: BSD-2-Clause
// The weights of a frozen module are constants. If they were also saved as attributes, the file would contain them
// twice. Slots that no graph gets or sets are therefore removed, and the remaining slots are renumbered for each class,
// because all objects of a class have the same slots. Nothing is removed if a graph reads an object of unknown class,
// or passes on an object that contains other objects.
#include "base/pointer_map.h"
#include "compiler/pass.h"

typedef struct class_slots {
    const taper_class *klass; // class of the objects before pruning
    const taper_object *example;
    uint32_t *number; // new slot + 1 for each old slot, or 0 if the slot is unused
    size_t slots, kept;
    const taper_class *pruned;
} class_slots;

typedef struct pruning {
    taper_compilation *compilation;
    taper_error *error;
    class_slots *classes;
    size_t class_count, class_capacity;
    taper_pointer_map class_numbers; // maps each class before pruning to its index in `classes`
    taper_pointer_map objects; // maps each object before pruning to its replacement, or to 0 if it was only visited
    bool unknown;
    // Cache of class_of_self: the last graph, and the index of the class of its self, or class_count if it has no self.
    const taper_graph *self_of;
    size_t self;
} pruning;

static class_slots *find_class(const pruning *p, const taper_class *klass)
{
    const size_t *number = taper_pointer_find(&p->class_numbers, klass);
    return number != NULL ? &p->classes[*number] : NULL;
}

static bool is_plain(taper_val value) // returns true for an object with attributes, false for packed weights
{
    static const char prefix[] = "__torch__.torch.classes.";
    return value.tag == TAPER_OBJECT && value.as.object->klass != NULL && value.as.object->klass->slots != NULL &&
           strncmp(value.as.object->klass->name, prefix, sizeof prefix - 1) != 0;
}

// Records the classes of all objects that can be reached through attributes. If an object is in a container, sets
// `unknown`, and all attributes are kept.
static taper_status add_object(pruning *p, const taper_object *object, int depth)
{
    if (taper_pointer_find(&p->objects, object) != NULL) {
        return TAPER_OK;
    }
    if (depth > TAPER_LIMIT_VALUE_DEPTH || object->count > object->klass->count) {
        p->unknown = true;
        return TAPER_OK;
    }
    TAPER_TRY(taper_pointer_add(p->compilation->allocator, &p->objects, object, 0, p->error));
    if (find_class(p, object->klass) == NULL) {
        TAPER_TRY(TAPER_GROW(p->compilation->allocator, p->classes, p->class_capacity, p->class_count + 1, p->error));
        TAPER_TRY(
            taper_pointer_add(p->compilation->allocator, &p->class_numbers, object->klass, p->class_count, p->error));
        class_slots *made = &p->classes[p->class_count++];
        *made = (class_slots){.klass = object->klass, .example = object, .slots = object->klass->count};
        made->number = taper_arena_array(&p->compilation->module->arena, made->slots + 1, sizeof *made->number);
        if (made->number == NULL) {
            return taper_fail_memory(p->error);
        }
    }
    for (size_t i = 0; i < object->count; i++) {
        if (is_plain(object->slots[i])) {
            TAPER_TRY(add_object(p, object->slots[i].as.object, depth + 1));
        }
    }
    return TAPER_OK;
}

// ---- slots in use

static const class_slots *class_of(pruning *p, const taper_graph *graph, const taper_ir_value *value, int depth);

static const class_slots *class_of_slot(pruning *p, const class_slots *owner, int64_t slot)
{
    if (owner == NULL || (uint64_t)slot >= owner->example->count || !is_plain(owner->example->slots[slot])) {
        return NULL;
    }
    return find_class(p, owner->example->slots[slot].as.object->klass);
}

// Returns the class of self. The result for one graph is cached, because every attribute access asks for it.
static const class_slots *class_of_self(pruning *p, const taper_graph *graph)
{
    const char *dot = strrchr(graph->name, '.');
    if (p->self_of == graph) {
        return p->self < p->class_count ? &p->classes[p->self] : NULL;
    }
    p->self_of = graph;
    for (p->self = 0; dot != NULL && p->self < p->class_count; p->self++) {
        const char *name = p->classes[p->self].klass->name;
        if (strlen(name) == (size_t)(dot - graph->name) && strncmp(name, graph->name, strlen(name)) == 0) {
            return &p->classes[p->self];
        }
    }
    p->self = p->class_count;
    return NULL;
}

static const class_slots *class_of(pruning *p, const taper_graph *graph, const taper_ir_value *value, int depth)
{
    const taper_node *node = value->node;
    if (node == NULL) {
        if (value->block != graph->body || value->index != 0) {
            return NULL;
        }
        return class_of_self(p, graph);
    }
    if (node->kind == TAPER_NODE_CONSTANT) {
        return is_plain(node->constant) ? find_class(p, node->constant.as.object->klass) : NULL;
    }
    return node->kind == TAPER_NODE_GET_ATTR && depth < TAPER_LIMIT_INLINE_DEPTH
               ? class_of_slot(p, class_of(p, graph, taper_node_in(node, 0), depth + 1), node->own.slot)
               : NULL;
}

// Marks all slots of an object that is used for anything except access to its attributes. Operators on enums and
// containers of modules may read any attribute, and so may a caller that gets the object.
static void mark_whole(pruning *p, const taper_node *user, const class_slots *owner)
{
    bool leaf = user != NULL && taper_node_calls_any(user, TAPER_OP(prim_ModuleContainerIndex_list));
    if (!leaf) {
        leaf = true;
        for (size_t i = 0; i < owner->example->count; i++) {
            leaf = leaf && !is_plain(owner->example->slots[i]);
        }
    }
    p->unknown = p->unknown || !leaf;
    for (size_t i = 0; i < owner->slots; i++) {
        owner->number[i] = 1;
    }
}

// Marks the objects among these inputs, because their user may read any attribute. If `user` is NULL, the inputs are
// the results of a block.
static void mark_inputs(pruning *p, const taper_graph *graph, const taper_node *user, const taper_ir_input *inputs,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool asked =
            user != NULL && i == 0 &&
            (user->kind == TAPER_NODE_GET_ATTR || user->kind == TAPER_NODE_SET_ATTR || user->kind == TAPER_NODE_CALL);
        const class_slots *owner = asked ? NULL : class_of(p, graph, inputs[i].value, 0);
        if (owner != NULL) {
            mark_whole(p, user, owner);
        }
    }
}

static void mark_block(pruning *p, const taper_graph *graph, const taper_block *block)
{
    mark_inputs(p, graph, NULL, block->results, block->result_count);
    for (const taper_node *node = block->first; node != NULL && !p->unknown; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            mark_block(p, graph, node->blocks[b]);
        }
        mark_inputs(p, graph, node, node->inputs, node->input_count);
        if (node->kind == TAPER_NODE_GET_ATTR || node->kind == TAPER_NODE_SET_ATTR) {
            const class_slots *owner = class_of(p, graph, taper_node_in(node, 0), 0);
            if (owner == NULL || (uint64_t)node->own.slot >= owner->slots) {
                p->unknown = true;
            } else {
                owner->number[node->own.slot] = 1;
            }
        }
    }
}

static void renumber_block(pruning *p, const taper_graph *graph, taper_block *block)
{
    // Visits the last node first, because class_of reads the numbers in nodes before the current one, which must still
    // be the old numbers.
    for (taper_node *node = block->last; node != NULL; node = node->previous) {
        for (size_t b = 0; b < node->block_count; b++) {
            renumber_block(p, graph, node->blocks[b]);
        }
        if (node->kind == TAPER_NODE_GET_ATTR || node->kind == TAPER_NODE_SET_ATTR) {
            const class_slots *owner = class_of(p, graph, taper_node_in(node, 0), 0);
            node->own.slot = (int64_t)owner->number[node->own.slot] - 1;
        }
    }
}

// ---- the pruned objects

static taper_status make_class(pruning *p, class_slots *c, bool is_root)
{
    const char **names = taper_arena_array(&p->compilation->module->arena, c->slots + 1, sizeof *names);
    if (names == NULL) {
        return taper_fail_memory(p->error);
    }
    for (size_t i = 0; i < c->slots; i++) {
        for (const taper_preparer *whose = taper_preparers; is_root && whose->name != NULL; whose++) {
            c->number[i] |= strcmp(c->klass->slots[i], whose->attribute) == 0;
        }
        if (c->number[i] != 0) {
            names[c->kept] = c->klass->slots[i];
            c->number[i] = (uint32_t)++c->kept;
        }
    }
    c->pruned = taper_types_class(p->compilation->module->types, c->klass->name, c->kept, names);
    return c->pruned == NULL ? taper_fail_memory(p->error) : TAPER_OK;
}

static taper_status prune_object(pruning *p, const taper_object *object, taper_val *result)
{
    const size_t *known = taper_pointer_find(&p->objects, object);
    if (known != NULL && *known != 0) {
        *result = taper_val_retain(TAPER_VAL((taper_object *)*known));
        return TAPER_OK;
    }
    const class_slots *c = find_class(p, object->klass);
    taper_object *made = taper_object_new(p->compilation->module->heap, c->pruned, c->kept);
    if (made == NULL) {
        return taper_fail_memory(p->error);
    }
    *result = TAPER_VAL(made);
    *taper_pointer_find(&p->objects, object) = (uintptr_t)made;
    for (size_t i = 0; i < object->count; i++) {
        if (c->number[i] == 0) {
            continue;
        }
        taper_val value = taper_val_retain(object->slots[i]);
        if (is_plain(object->slots[i])) {
            taper_val_release(value);
            value = taper_val_none();
            const taper_status status = prune_object(p, object->slots[i].as.object, &value);
            made->slots[c->number[i] - 1] = value;
            TAPER_TRY(status);
        } else {
            made->slots[c->number[i] - 1] = value;
        }
    }
    return TAPER_OK;
}

static taper_status prune(pruning *p, taper_val *root)
{
    taper_compilation *compilation = p->compilation;
    const taper_object *object = compilation->root.as.object;
    TAPER_TRY(add_object(p, object, 0));
    for (size_t g = 0; g < compilation->count; g++) {
        if (compilation->graphs[g] != NULL) {
            mark_block(p, compilation->graphs[g], compilation->graphs[g]->body);
        }
    }
    if (p->unknown) {
        *root = taper_val_retain(compilation->root);
        return TAPER_OK;
    }
    for (size_t i = 0; i < p->class_count; i++) {
        TAPER_TRY(make_class(p, &p->classes[i], p->classes[i].klass == object->klass));
    }
    TAPER_TRY(prune_object(p, object, root));
    for (size_t g = 0; g < compilation->count; g++) {
        if (compilation->graphs[g] != NULL) {
            renumber_block(p, compilation->graphs[g], compilation->graphs[g]->body);
        }
    }
    return TAPER_OK;
}

// Adds the attribute by which PyTorch recognizes an optimized module.
static taper_status mark_optimized(taper_compilation *compilation, taper_object *root)
{
    const taper_preparer *whose = compilation->preparer != NULL ? compilation->preparer : taper_preparers;
    const char *mark = whose->attribute;
    const taper_class *old = root->klass;
    if (old == NULL || old->slots == NULL || root->count != old->count || taper_object_slot(root, mark) >= 0) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_object_add_slots(root, compilation->module->types, &mark, 1, compilation->error));
    taper_val_replace(&root->slots[root->count - 1], taper_val_bool(true));
    return TAPER_OK;
}

taper_status taper_prune_attributes(taper_compilation *compilation, taper_val *root)
{
    *root = taper_val_none();
    if (!is_plain(compilation->root)) {
        *root = taper_val_retain(compilation->root);
        return TAPER_OK;
    }
    pruning p = {.compilation = compilation, .error = compilation->error};
    taper_status status = prune(&p, root);
    if (status == TAPER_OK) {
        status = mark_optimized(compilation, root->as.object);
    }
    taper_free(compilation->allocator, p.classes, p.class_capacity * sizeof *p.classes);
    taper_pointer_free(compilation->allocator, &p.class_numbers);
    taper_pointer_free(compilation->allocator, &p.objects);
    if (status != TAPER_OK) {
        taper_val_release(*root);
        *root = taper_val_none();
    }
    return status;
}
