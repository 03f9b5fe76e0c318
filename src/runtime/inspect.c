// SPDX-License-Identifier: BSD-2-Clause
// Shows memory plans and profiles to the host (taper_inspect.h).
#include <taper/taper_inspect.h>

#include "base/arguments.h"
#include "ops/backend.h"
#include "runtime/planner.h"
#include "runtime/session.h"

// Fails if a run is active, because a run changes the data.
static taper_status check_idle(const taper_session *session, taper_error *error)
{
    if (taper_session_is_busy(session)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the session of %s is running: ask when its call has ended",
                   taper_model_name(session->model));
    }
    return TAPER_OK;
}

size_t taper_inspect_plan_count(const taper_session *session)
{
    size_t count = 0;
    if (session != NULL && !taper_session_is_busy(session)) {
        (void)taper_planner_latest(session->planner, &count);
    }
    return count;
}

taper_status taper_inspect_plan_item(const taper_session *session, size_t index, taper_plan_item *item,
                                     taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_NEED(item, error);
    TAPER_TRY(check_idle(session, error));
    size_t count;
    const taper_birth *births = taper_planner_latest(session->planner, &count);
    if (index >= count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no plan item %zu", index);
    }
    const taper_birth *b = &births[index];
    const taper_schema *schema = NULL;
    if (b->op != NULL) { // this operator has run, so its schema exists
        TAPER_TRY(taper_registry_schema(session->model->context->registry, b->op, &schema, error));
    }
    const taper_plan_item full = {.bytes = b->bytes,
                                  .offset = b->offset,
                                  .born = b->born,
                                  .died = b->died,
                                  .outlives_run = b->died == UINT32_MAX,
                                  .operator_name = schema != NULL ? schema->text : NULL,
                                  .operator_length = schema != NULL ? strcspn(schema->text, "(") : 0};
    return taper_struct_write(item, "taper_plan_item", &full, sizeof full, error);
}

typedef struct storage_teller {
    void (*each)(void *user, size_t arena, const taper_plan_item *item);
    void *user;
    size_t arena;
    bool any;
} storage_teller;

static void tell_storage(void *user, const taper_device_storage *storage)
{
    storage_teller *teller = user;
    const char *name = storage->node != NULL ? storage->node->op_name : NULL;
    const taper_plan_item item = {.struct_size = sizeof item,
                                  .bytes = (size_t)storage->bytes,
                                  .offset = (size_t)storage->offset,
                                  .born = storage->born,
                                  .died = storage->died,
                                  .operator_name = name,
                                  .operator_length = name != NULL ? strcspn(name, "(") : 0};
    teller->any = true;
    teller->each(teller->user, teller->arena, &item);
}

taper_status taper_inspect_device_plan(const taper_session *session,
                                       void (*each)(void *user, size_t arena, const taper_plan_item *item), void *user,
                                       taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_NEED(each, error);
    taper_session *const used = (taper_session *)(uintptr_t)session;
    // locks the session, because the host's function `each` must not run it
    TAPER_TRY(taper_session_enter(used, error));
    storage_teller teller = {.each = each, .user = user};
    for (size_t i = 0; TAPER_DEVICES && i < session->model->state_count; i++) {
        teller.any = false;
        taper_segment_storages(session->prepared[i], tell_storage, &teller);
        teller.arena += teller.any;
    }
    taper_session_leave(used);
    return TAPER_OK;
}

#include "runtime/inspect_peak.h"

static taper_status set_profiling(taper_session *session, int on, taper_error *error)
{
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
    session->part_count = 0;
    measure_peak(session);
    session->profiling = true;
    return TAPER_OK;
}

taper_status taper_profile_set(taper_session *session, int on, taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_TRY(taper_session_enter(session, error));
    const taper_status status = set_profiling(session, on, error);
    taper_session_leave(session);
    return status;
}

size_t taper_profile_count(const taper_session *session)
{
    return session != NULL && !taper_session_is_busy(session) && session->profile != NULL
               ? session->model->state_count + session->part_count
               : 0;
}

// Returns the first operator with a result among fused operators. This operator is the layer with which the fused
// operators begin.
static const taper_node *first_of(const taper_node *node)
{
    const taper_node *at = node->kind == TAPER_NODE_SEGMENT ? node->blocks[1]->first : node;
    while (at != NULL && (at->kind != TAPER_NODE_OP || at->output_count == 0)) {
        at = at->next;
    }
    return at != NULL ? at : node;
}

static taper_status get_part(const taper_profile_part *part, taper_profile_item *item, taper_error *error)
{
    const taper_node *node = part->last.node;
    taper_profile_item full = {.name = "",
                               .kernel = part->last.kernel,
                               .calls = part->calls,
                               .seconds = part->last.seconds,
                               .flops = part->last.flops,
                               .bytes = part->last.bytes,
                               .peak_flops = part->last.peak_flops,
                               .peak_bytes = part->last.peak_bytes};
    if (node != NULL && node->kind == TAPER_NODE_OP) {
        full.name = node->schema->text;
        full.name_length = strcspn(full.name, "(");
        full.node = node;
        full.method = node->block->graph->name;
        full.value = node->output_count != 0 ? node->outputs[0].id : 0;
    }
    return taper_struct_write(item, "taper_profile_item", &full, sizeof full, error);
}

taper_status taper_profile_get(const taper_session *session, size_t index, taper_profile_item *item, taper_error *error)
{
    TAPER_NEED(session, error);
    TAPER_NEED(item, error);
    TAPER_TRY(check_idle(session, error));
    if (index >= taper_profile_count(session)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no call site %zu", index);
    }
    if (TAPER_DEVICES && index >= session->model->state_count) {
        return get_part(&session->parts[index - session->model->state_count], item, error);
    }
    const taper_profile_site *site = &session->profile[index];
    taper_profile_item full = {
        .name = "", .kernel = "", .calls = site->calls, .seconds = site->seconds, .flops = site->flops};
    if (site->instruction != NULL) {
        full.name = site->instruction->schema->text;
        full.name_length = strcspn(full.name, "(");
        full.kernel = site->kernel != NULL ? site->kernel : "";
        full.fused = site->instruction->segment != NULL;
        full.node = first_of(site->instruction->node);
        full.method = full.node->block->graph->name;
        full.value = full.node->output_count != 0 ? full.node->outputs[0].id : 0;
        full.cpu_reason = site->why != NULL ? site->why : full.node->why;
        say_peak(session, site, &full);
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
