// SPDX-License-Identifier: BSD-2-Clause
// taper_inspect.h: memory plans and profiles as the host sees them.
#include <taper/taper_inspect.h>

#include "runtime/arguments.h"
#include "runtime/planner.h"
#include "runtime/session.h"

size_t taper_inspect_plan_count(const taper_session *session)
{
    size_t count = 0;
    if (session != NULL) {
        (void)taper_planner_latest(session->planner, &count);
    }
    return count;
}

taper_status taper_inspect_plan_item(const taper_session *session, size_t index, taper_plan_item *item,
                                     taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_NEED(item, error);
    size_t count;
    const taper_birth *births = taper_planner_latest(session->planner, &count);
    if (index >= count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no plan item %zu", index);
    }
    const taper_birth *b = &births[index];
    const taper_schema *schema = NULL;
    if (b->op != NULL) { // it ran: its schema is known
        TAPER_TRY(taper_registry_schema(session->model->context->registry, b->op, &schema, error));
    }
    const taper_plan_item full = {.bytes = b->bytes,
                                  .offset = b->offset,
                                  .born = b->born,
                                  .died = b->died,
                                  .outlives = b->died == UINT32_MAX,
                                  .operator_name = schema != NULL ? schema->text : NULL,
                                  .operator_length = schema != NULL ? strcspn(schema->text, "(") : 0};
    return taper_struct_write(item, "taper_plan_item", &full, sizeof full, error);
}

taper_status taper_profile_set(taper_session *session, int on, taper_error *error)
{
    TAPER_NEED(session, error);
    session->profiling = false;
    if (on == 0) {
        return TAPER_OK;
    }
    const size_t bytes = session->model->state_count * sizeof *session->profile;
    if (session->profile == NULL && bytes != 0) {
        session->profile = taper_alloc(session->model->allocator, bytes);
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
    return session != NULL && session->profile != NULL ? session->model->state_count : 0;
}

// Of what is fused the layer that it begins with: the first operator with a result.
static const taper_node *first_of(const taper_node *node)
{
    const taper_node *at = node->kind == TAPER_NODE_SEGMENT ? node->blocks[1]->first : node;
    while (at != NULL && (at->kind != TAPER_NODE_OP || at->output_count == 0)) {
        at = at->next;
    }
    return at != NULL ? at : node;
}

taper_status taper_profile_get(const taper_session *session, size_t index, taper_profile_item *item, taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_NEED(item, error);
    if (index >= taper_profile_count(session)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no call site %zu", index);
    }
    const taper_profile_site *site = &session->profile[index];
    taper_profile_item full = {
        .name = "", .kernel = "", .calls = site->calls, .seconds = site->seconds, .flops = site->flops};
    if (site->instruction != NULL) {
        full.name = site->instruction->schema->text;
        full.name_length = strcspn(full.name, "(");
        full.kernel = site->kernel;
        full.fused = site->instruction->segment != NULL;
        full.node = first_of(site->instruction->node);
        full.method = full.node->block->graph->name;
        full.value = full.node->output_count != 0 ? full.node->outputs[0].id : 0;
    }
    return taper_struct_write(item, "taper_profile_item", &full, sizeof full, error);
}

void taper_session_observe(taper_session *session, taper_observe_function observe, void *user)
{
    if (session != NULL) {
        session->observe = observe;
        session->observe_user = user;
    }
}
