// SPDX-License-Identifier: BSD-2-Clause
// In a model that will be quantized, gives layers the name of the module that owns their weights, so that people can
// choose which layers remain float. The pass runs before batch norm is folded, which replaces the weights.
#include "base/pointer_map.h"
#include "compiler/quantization.h"

typedef struct namer {
    taper_compilation *compilation;
    taper_pointer_map objects; // objects already visited
    taper_pointer_map modules; // maps the storage of each attribute to the index of its module's name
    const char **names;
    size_t name_count, name_capacity;
    taper_text path;
} namer;

static taper_status add_module_name(namer *n, size_t *number)
{
    const char *text = taper_text_get(&n->path);
    char *name = taper_arena_string(&n->compilation->module->arena, text, n->path.length);
    if (name == NULL || n->path.failed) {
        return taper_fail_memory(n->compilation->error);
    }
    TAPER_TRY(
        TAPER_GROW(n->compilation->allocator, n->names, n->name_capacity, n->name_count + 1, n->compilation->error));
    n->names[n->name_count] = name;
    *number = n->name_count++;
    return TAPER_OK;
}

static taper_status walk(namer *n, const taper_object *object, int depth)
{
    if (depth > TAPER_LIMIT_VALUE_DEPTH || object->klass == NULL || object->klass->slots == NULL ||
        object->count > object->klass->count || taper_pointer_find(&n->objects, object) != NULL) {
        return TAPER_OK;
    }
    const taper_allocator *allocator = n->compilation->allocator;
    TAPER_TRY(taper_pointer_add(allocator, &n->objects, object, 0, n->compilation->error));
    size_t number = SIZE_MAX;
    for (size_t i = 0; i < object->count; i++) {
        const taper_val value = object->slots[i];
        if (value.tag == TAPER_TENSOR && taper_pointer_find(&n->modules, value.as.tensor->storage) == NULL) {
            if (number == SIZE_MAX) {
                TAPER_TRY(add_module_name(n, &number));
            }
            TAPER_TRY(
                taper_pointer_add(allocator, &n->modules, value.as.tensor->storage, number, n->compilation->error));
        }
        if (value.tag == TAPER_OBJECT) {
            const size_t length = n->path.length;
            taper_text_format(&n->path, "%s%s", length != 0 ? "." : "", object->klass->slots[i]);
            TAPER_TRY(walk(n, value.as.object, depth + 1));
            n->path.length = length;
        }
    }
    return TAPER_OK;
}

static void name_nodes(const namer *n, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        taper_layer layer;
        for (size_t b = 0; b < node->block_count; b++) {
            name_nodes(n, node->blocks[b]);
        }
        const taper_tensor *weight = taper_layer_match(n->compilation, node, &layer)
                                         ? layer.weight
                                         : taper_recurrent_weight(n->compilation, node);
        if (weight != NULL) {
            const size_t *number = taper_pointer_find(&n->modules, weight->storage);
            node->name = number != NULL && n->names[*number][0] != '\0' ? n->names[*number] : node->name;
        }
    }
}

taper_status taper_pass_name_layers(taper_compilation *compilation, taper_graph *graph)
{
    if (compilation->preparer != NULL || compilation->root.tag != TAPER_OBJECT) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_written_storages_find(compilation));
    const taper_allocator *allocator = compilation->allocator;
    namer n = {.compilation = compilation, .path = taper_text_make(allocator)};
    const taper_status status = walk(&n, compilation->root.as.object, 0);
    if (status == TAPER_OK) {
        name_nodes(&n, graph->body);
    }
    taper_pointer_free(allocator, &n.objects);
    taper_pointer_free(allocator, &n.modules);
    taper_free(allocator, (void *)n.names, n.name_capacity * sizeof *n.names);
    taper_text_free(&n.path);
    return status;
}
