// SPDX-License-Identifier: BSD-2-Clause
// Tells the host to which module of the model an operator belongs (taper_inspect.h). Only command-line programs use
// this, so libraries built without drafts lack this file.
#include <taper/taper_inspect.h>

#include "base/arguments.h"
#include "runtime/session.h"

enum { DEEPEST = 64 };

// Finds the chain of attributes from self to the value, the innermost first. Returns its length, or 0 if the value is
// not reached from self by attributes.
static size_t attribute_path(const taper_ir_value *value, int64_t slots[DEEPEST])
{
    size_t depth = 0;
    while (value != NULL && value->node != NULL && value->node->kind == TAPER_NODE_GET_ATTR && depth < DEEPEST) {
        slots[depth++] = value->node->own.slot;
        value = taper_node_in(value->node, 0);
    }
    return value != NULL && value->node == NULL && value->block->parent == NULL && value->index == 0 ? depth : 0;
}

static void put_module(const taper_model *model, const taper_ir_value *value, taper_text *text)
{
    int64_t slots[DEEPEST];
    size_t depth = attribute_path(value, slots);
    taper_val at = model->module.root;
    while (depth > 1) {
        const taper_object *object = at.tag == TAPER_OBJECT ? at.as.object : NULL;
        const uint64_t slot = (uint64_t)slots[--depth];
        if (object == NULL || object->klass == NULL || object->klass->slots == NULL || slot >= object->count ||
            slot >= object->klass->count) {
            text->length = 0;
            return;
        }
        taper_text_format(text, "%s%s", text->length != 0 ? "." : "", object->klass->slots[slot]);
        at = object->slots[slot];
    }
}

static bool is_method_of_root(const taper_model *model, const char *name)
{
    const char *root = taper_model_name(model);
    const size_t length = strlen(root);
    return strncmp(name, root, length) == 0 && name[length] == '.' && strchr(name + length + 1, '.') == NULL;
}

taper_status taper_inspect_place(const taper_model *model, const struct taper_node *node, taper_place_part part,
                                 taper_write_function write, void *user, taper_error *error)
{
    TAPER_NEED(model, error);
    TAPER_NEED(node, error);
    TAPER_NEED(write, error);
    if (part == TAPER_PLACE_SOURCE) {
        taper_error *trace = taper_error_create();
        if (trace == NULL) {
            return taper_fail_memory(error);
        }
        taper_trace_node(&model->module, node, trace);
        write(user, taper_error_detail(trace), strlen(taper_error_detail(trace)));
        taper_error_destroy(trace);
        return TAPER_OK;
    }
    taper_text text = taper_text_make(model->allocator);
    for (size_t i = 0; i < node->input_count && text.length == 0 && is_method_of_root(model, node->block->graph->name);
         i++) {
        put_module(model, taper_node_in(node, i), &text);
    }
    const taper_status status = text.failed ? taper_fail_memory(error) : TAPER_OK;
    if (status == TAPER_OK) {
        write(user, taper_text_get(&text), text.length);
    }
    taper_text_free(&text);
    return status;
}
