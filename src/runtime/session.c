// SPDX-License-Identifier: BSD-2-Clause
// Sessions. A session has one user's state of a model, and runs its methods.
#include "runtime/session.h"
#include "base/arguments.h"
#include "ops/call/generator.h"
#include "ops/call/prepared.h"
#include "runtime/device.h"
#include "runtime/planner.h"

static taper_status session_stop(taper_run *run, double ahead)
{
    const taper_session *session =
        (const taper_session *)(const void *)((const char *)run - offsetof(taper_session, run));
    if (atomic_load_explicit(&((taper_session *)(uintptr_t)session)->cancelled, memory_order_relaxed)) {
        return TAPER_ERROR_CANCELLED;
    }
    return session->time_budget > 0 && taper_clock() + ahead > session->deadline ? TAPER_ERROR_RESOURCE : TAPER_OK;
}

// Copies the root object and the constants for the session. Values that share memory in the model also share it in the
// copies.
static taper_status clone_state(taper_session *session, taper_error *error)
{
    const taper_model *model = session->model;
    taper_clone_memo *memo;
    TAPER_TRY(taper_clone_begin(session->heap, &memo, error));
    taper_status status = taper_clone_value(memo, model->module.root, &session->root, error);
    for (size_t i = 0; status == TAPER_OK && i < model->constant_count; i++) {
        status = taper_clone_value(memo, model->constants[i], &session->constants[i], error);
    }
    taper_clone_end(memo);
    return status;
}

static void free_session(taper_session *session)
{
    taper_model *model = session->model;
    const taper_allocator *allocator = model->allocator;
    taper_session_tape_free(session);
    taper_val_release(session->root);
    for (size_t i = 0; session->constants != NULL && i < model->constant_count; i++) {
        taper_val_release(session->constants[i]);
    }
    for (size_t i = 0; session->prepared != NULL && i < model->state_count; i++) {
        taper_prepared_drop(session->heap, session->prepared[i]);
    }
#ifdef TAPER_WITH_OPERATORS
    taper_generator_release(session->run.generator);
#endif
    taper_planner_destroy(session->planner);
    taper_recorder_trim(session);
    taper_profile_free(session);
    taper_heap_close(session->heap);
    taper_free(allocator, session->constants, model->constant_count * sizeof *session->constants);
    taper_free(allocator, session->states, model->state_count * sizeof *session->states);
    taper_free(allocator, session->prepared, model->state_count * sizeof *session->prepared);
    taper_free(allocator, session, sizeof *session);
    taper_model_release(model);
}

taper_status taper_session_create(taper_model *model, const taper_session_options *options, taper_session **session,
                                  taper_error *error)
{
    taper_session_options o;
    TAPER_NEED_OUT(session, error);
    TAPER_NEED(model, error);
    TAPER_TRY(taper_struct_read(options, "taper_session_options", &o, sizeof o, error));
    if (model->listing) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the model was loaded for listing: load it without that option to run it");
    }
    taper_context *context = model->context;
    const taper_allocator *allocator = &context->allocator;
    taper_session *s = taper_alloc_zeroed(allocator, sizeof *s);
    if (s == NULL) {
        return taper_fail_memory(error);
    }
    taper_refs_add(&model->refs);
    s->model = model;
    s->instruction_budget = o.instruction_budget;
    s->time_budget = o.time_budget;
    atomic_init(&s->cancelled, false);
    atomic_init(&s->use, 0u);
    taper_rng_seed(&s->rng, TAPER_RNG_SEED);
    taper_status status = taper_heap_create(allocator, model->types, &s->heap, error);
    if (status == TAPER_OK) {
        s->constants = taper_alloc_zeroed(allocator, model->constant_count * sizeof *s->constants);
        s->states = taper_alloc_zeroed(allocator, model->state_count * sizeof *s->states);
        s->prepared = taper_alloc_zeroed(allocator, model->state_count * sizeof *s->prepared);
        if ((s->constants == NULL && model->constant_count != 0) ||
            ((s->states == NULL || s->prepared == NULL) && model->state_count != 0)) {
            status = taper_fail_memory(error);
        }
    }
    if (status == TAPER_OK) {
        status = clone_state(s, error);
    }
    if (status == TAPER_OK) {
        status = taper_planner_create(allocator, s->heap, &s->run.current, &s->planner, error);
    }
    if (status != TAPER_OK) {
        free_session(s);
        return status;
    }
    s->memory_budget = o.memory_budget;
    taper_heap_set_limit(s->heap, s->memory_budget);
    s->run = (taper_run){.heap = s->heap,
                         .pool = context->pool,
                         .cpu = context->cpu,
                         .registry = context->registry,
                         .packs = model->packs,
                         .rng = &s->rng,
                         .portable = model->reference || context->host == NULL,
                         .low_memory = model->low_memory,
                         .precision = model->precision,
                         .log = context->log,
                         .log_user = context->log_user,
                         .context = context,
                         .compiler = model->compiler,
                         .is_limited = TAPER_DEVICES && s->time_budget > 0,
                         .results_stay = TAPER_DEVICES && model->device != NULL && o.results_stay != 0,
                         .stop = session_stop};
    status = taper_session_tape_create(s, error);
    if (status != TAPER_OK) {
        free_session(s);
        return status;
    }
    if (TAPER_DEVICES && s->run.results_stay) {
        atomic_store_explicit(&context->results_stay, true, memory_order_relaxed);
    }
    *session = s;
    return TAPER_OK;
}

// ---- one call at a time

// Bits of taper_session.use.
enum {
    IN_USE = 1, // a call is active
    TRIM = 2,   // the call must end with taper_session_trim
    DESTROY = 4 // the call must end with taper_session_destroy
};

static void trim(taper_session *session)
{
    taper_planner_forget(session->planner);
    taper_recorder_trim(session);
    taper_heap_trim(session->heap);
}

taper_status taper_session_enter(taper_session *session, taper_error *error)
{
    if ((atomic_fetch_or_explicit(&session->use, IN_USE, memory_order_acquire) & IN_USE) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the session of %s is running: a session runs one call at a time",
                   taper_model_name(session->model));
    }
    return TAPER_OK;
}

void taper_session_leave(taper_session *session)
{
    unsigned use = atomic_load_explicit(&session->use, memory_order_relaxed);
    for (;;) {
        if ((use & DESTROY) != 0) {
            free_session(session);
            return;
        }
        if ((use & TRIM) != 0) {
            trim(session); // repeats, because trim calls the host's allocator, which may request another trim
            (void)atomic_fetch_and_explicit(&session->use, ~(unsigned)TRIM, memory_order_relaxed);
            use = atomic_load_explicit(&session->use, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&session->use, &use, 0, memory_order_release,
                                                         memory_order_relaxed)) {
            return;
        }
    }
}

bool taper_session_is_busy(const taper_session *session)
{
    return (atomic_load_explicit(&((taper_session *)(uintptr_t)session)->use, memory_order_relaxed) & IN_USE) != 0;
}

// Trims or destroys the session, as the bit `what` requests. If a call is active, this happens at the end of the call.
static void ask_for(taper_session *session, unsigned what)
{
    if (session != NULL &&
        (atomic_fetch_or_explicit(&session->use, IN_USE | what, memory_order_acquire) & IN_USE) == 0) {
        taper_session_leave(session);
    }
}

void taper_session_destroy(taper_session *session)
{
    ask_for(session, DESTROY);
}

void taper_session_trim(taper_session *session)
{
    ask_for(session, TRIM);
}

void taper_session_cancel(taper_session *session)
{
    if (session != NULL) {
        atomic_store_explicit(&session->cancelled, true, memory_order_relaxed);
    }
}

taper_status taper_session_at(const taper_session *session, const char *path, taper_val *found, taper_error *error)
{
    const taper_val *at = &session->root;
    for (const char *rest = path; *rest != '\0';) {
        char name[256];
        const size_t length = strcspn(rest, ".");
        int64_t slot = -1;
        if (length < sizeof name && at->tag == TAPER_OBJECT) {
            memcpy(name, rest, length);
            name[length] = '\0';
            slot = taper_object_slot(at->as.object, name);
        }
        if (slot < 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no attribute %s: %s has no %.*s", path,
                       taper_val_kind_name(*at), (int)length, rest);
        }
        at = &at->as.object->slots[slot];
        rest += length + (rest[length] == '.');
    }
    *found = *at;
    return TAPER_OK;
}

taper_status taper_session_attribute(taper_session *session, const char *path, taper_value **value, taper_error *error)
{
    TAPER_NEED_OUT(value, error);
    TAPER_NEED(session, error);
    TAPER_NEED(path, error);
    TAPER_TRY(taper_session_enter(session, error));
    taper_val found;
    taper_status status = taper_session_at(session, path, &found, error);
    if (status == TAPER_OK) {
        status = taper_session_box(session, false, taper_val_retain(found), value, error);
    }
    taper_session_leave(session);
    return status;
}

void taper_session_seed(taper_session *session, uint64_t seed)
{
    if (session != NULL) {
        taper_rng_seed(&session->rng, seed);
    }
}

#ifdef TAPER_WITH_OPERATORS
void taper_session_draw_from(taper_session *session, taper_generator *generator)
{
    if (session != NULL && taper_session_enter(session, NULL) == TAPER_OK) {
        taper_run_draw_from(&session->run, generator, &session->rng);
        taper_session_leave(session);
    }
}
#endif

void taper_session_memory(taper_session *session, taper_memory_info *info)
{
    taper_memory_info full = {0};
    if (session != NULL) {
        full.allocator_calls = session->calls_of_run;
        full.arena_bytes = taper_planner_bytes(session->planner);
        full.pool_bytes = taper_heap_bytes(session->heap);
        full.packed_bytes = taper_packs_bytes(session->model->packs);
        full.banded_calls = session->recorder.banded;
        full.placed_results = session->placed_results;
    }
    if (info != NULL) {
        // A failure leaves the host's struct unchanged and is ignored, because this function returns no status.
        (void)taper_struct_write(info, "taper_memory_info", &full, sizeof full, NULL);
    }
}
