// SPDX-License-Identifier: BSD-2-Clause
// Files for some devices store packed weights as attributes of the root, with the names that PyTorch's folding of
// prepack operators gives them. Files for other devices keep them among the constants.
#include "compiler/pass.h"

typedef struct packed_list {
    taper_compilation *compilation;
    taper_node **nodes;
    size_t count, capacity;
} packed_list;

static taper_status find_packed(packed_list *list, taper_block *block)
{
    static const char prefix[] = "__torch__.torch.classes.";
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(find_packed(list, node->blocks[b]));
        }
        if (node->kind == TAPER_NODE_CONSTANT && node->constant.tag == TAPER_OBJECT &&
            node->constant.as.object->klass != NULL && node->outputs[0].uses != NULL &&
            strncmp(node->constant.as.object->klass->name, prefix, sizeof prefix - 1) == 0) {
            TAPER_TRY(TAPER_GROW(list->compilation->allocator, list->nodes, list->capacity, list->count + 1,
                                 list->compilation->error));
            list->nodes[list->count++] = node;
        }
    }
    return TAPER_OK;
}

// Adds attributes to the root for the packed weights.
static taper_status add_slots(taper_compilation *compilation, const char *method, size_t count)
{
    taper_arena *arena = &compilation->module->arena;
    const char **names = taper_arena_array(arena, count, sizeof *names);
    if (names == NULL) {
        return taper_fail_memory(compilation->error);
    }
    taper_text text = taper_text_make(compilation->allocator);
    bool failed = false;
    for (size_t i = 0; i < count && !failed; i++) {
        text.length = 0;
        taper_text_format(&text, "prepack_folding_%s._jit_pass_packed_weight_%zu", method, i);
        names[i] = text.failed ? NULL : taper_arena_string(arena, taper_text_get(&text), text.length);
        failed = names[i] == NULL;
    }
    taper_text_free(&text);
    return failed ? taper_fail_memory(compilation->error)
                  : taper_object_add_slots(compilation->root.as.object, compilation->module->types, names, count,
                                           compilation->error);
}

static taper_status hoist(taper_compilation *compilation, taper_graph *graph, const packed_list *list)
{
    taper_object *root = compilation->root.as.object;
    const size_t first = root->klass->count;
    TAPER_TRY(add_slots(compilation, strrchr(graph->name, '.') + 1, list->count));
    for (size_t i = 0; i < list->count; i++) {
        taper_node *constant = list->nodes[i], *get;
        taper_val_replace(&root->slots[first + i], taper_val_retain(constant->constant));
        TAPER_TRY(taper_node_create(graph, TAPER_NODE_GET_ATTR, 1, 1, &get, compilation->error));
        get->own.slot = (int64_t)(first + i);
        get->debug = -1;
        taper_node_insert_before(get, constant);
        taper_node_set_input(get, 0, &graph->body->params[0]);
        taper_node_replace(constant, get);
    }
    return TAPER_OK;
}

taper_status taper_pass_hoist_packed(taper_compilation *compilation, taper_graph *graph)
{
    if (compilation->preparer == NULL || !compilation->preparer->keeps_packs || !taper_is_of_root(compilation, graph) ||
        graph->body->param_count == 0 || compilation->root.as.object->klass->slots == NULL ||
        compilation->root.as.object->count != compilation->root.as.object->klass->count) {
        return TAPER_OK;
    }
    packed_list list = {.compilation = compilation};
    taper_status status = find_packed(&list, graph->body);
    if (status == TAPER_OK && list.count != 0) {
        status = hoist(compilation, graph, &list);
    }
    taper_free(compilation->allocator, list.nodes, list.capacity * sizeof *list.nodes);
    return status;
}
