// SPDX-License-Identifier: BSD-2-Clause
// taper_inspect.h: graphs, memory plans and profiles as the host sees them.
#include <taper/taper_inspect.h>

#include "runtime/model.h"
#include "runtime/planner.h"

taper_status taper_inspect_graph(taper_model *model, const char *method, taper_write_function write, void *user,
                                 taper_error *error)
{
    const char *name = method != NULL ? method : "forward";
    const taper_function *function = taper_model_find(model, taper_model_name(model), name);
    if (model->listing) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model was loaded for listing: it has no graphs");
    }
    if (function == NULL || function->program.graph == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model has no method %s", name);
    }
    taper_text text = taper_text_make(&model->context->allocator);
    taper_graph_print(function->program.graph, &text);
    const taper_status status = text.failed ? taper_fail_memory(error) : TAPER_OK;
    if (status == TAPER_OK) {
        write(user, taper_text_get(&text), text.length);
    }
    taper_text_free(&text);
    return status;
}

size_t taper_inspect_plan_count(const taper_session *session)
{
    size_t count;
    (void)taper_planner_latest(session->planner, &count);
    return count;
}

taper_status taper_inspect_plan_item(const taper_session *session, size_t index, taper_plan_item *item,
                                     taper_error *error)
{
    size_t count;
    const taper_birth *births = taper_planner_latest(session->planner, &count);
    if (index >= count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no plan item %zu", index);
    }
    const taper_birth *b = &births[index];
    const taper_plan_item full = {.struct_size = item->struct_size,
                                  .bytes = b->bytes,
                                  .offset = b->offset,
                                  .born = b->born,
                                  .died = b->died,
                                  .outlives = b->died == UINT32_MAX,
                                  .operator_name = b->op != NULL ? b->op->schema : NULL,
                                  .operator_length = b->op != NULL ? strcspn(b->op->schema, "(") : 0};
    memcpy(item, &full, taper_min_size(item->struct_size, sizeof full));
    return TAPER_OK;
}

taper_status taper_profile_set(taper_session *session, int on, taper_error *error)
{
    session->profiling = false;
    if (on == 0) {
        return TAPER_OK;
    }
    const size_t bytes = session->model->state_count * sizeof *session->profile;
    if (session->profile == NULL && bytes != 0) {
        session->profile = taper_alloc(&session->model->context->allocator, bytes);
        if (session->profile == NULL) {
            return taper_fail_memory(error);
        }
    }
    if (bytes != 0) {
        memset(session->profile, 0, bytes);
    }
    session->profiling = true;
    return TAPER_OK;
}

size_t taper_profile_count(const taper_session *session)
{
    return session->profile != NULL ? session->model->state_count : 0;
}

taper_status taper_profile_get(const taper_session *session, size_t index, taper_profile_item *item, taper_error *error)
{
    if (index >= taper_profile_count(session)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no call site %zu", index);
    }
    const taper_profile_site *site = &session->profile[index];
    taper_profile_item full = {.struct_size = item->struct_size,
                               .name = "",
                               .kernel = "",
                               .calls = site->calls,
                               .seconds = site->seconds,
                               .flops = site->flops};
    if (site->instruction != NULL) {
        full.name = site->instruction->op->schema;
        full.name_length = strcspn(full.name, "(");
        full.kernel = site->kernel;
        full.fused = site->instruction->fusion != NULL;
    }
    memcpy(item, &full, taper_min_size(item->struct_size, sizeof full));
    return TAPER_OK;
}

void taper_session_observe(taper_session *session, taper_observe_function observe, void *user)
{
    session->observe = observe;
    session->observe_user = user;
}

// ---- places

enum { DEEPEST = 64 };

// The attributes from self to what value is, innermost first; 0 when it is no attribute of self.
static size_t attribute_path(const taper_ir_value *value, int64_t slots[DEEPEST])
{
    size_t depth = 0;
    while (value != NULL && value->node != NULL && value->node->kind == TAPER_NODE_GET_ATTR && depth < DEEPEST) {
        slots[depth++] = value->node->number;
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
    taper_text text = taper_text_make(&model->context->allocator);
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
