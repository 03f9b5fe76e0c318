// SPDX-License-Identifier: BSD-2-Clause
// Runs a program that was made during a run. Such a program is a model with one graph and without sessions. The run
// that calls such a program lends the program its heap, threads and limits.
#include "ops/call/made_program.h"

#include "runtime/session.h"

typedef struct made_program {
    taper_blob_head head;
    taper_model *model;
    void **states;
} made_program;

typedef struct maker {
    taper_program_maker *make;
    const void *user;
} maker;

static taper_status make_graph(const void *user, taper_model *model, taper_graph *graph, taper_error *error)
{
    const maker *m = user;
    const taper_emitter e = {.registry = model->context->registry,
                             .heap = model->module.heap,
                             .graph = graph,
                             .block = graph->body,
                             .error = error,
                             .debug = -1};
    return m->make(m->user, &e);
}

static void destroy(taper_obj *obj)
{
    made_program *made = (made_program *)obj;
    taper_context *context = made->model->context;
    taper_context_retain(context); // retained, because the model may hold the last reference to the context
    taper_free(&context->allocator, made->states, (made->model->state_count + 1) * sizeof *made->states);
    taper_model_release(made->model);
    taper_free(&context->allocator, made, sizeof *made);
    taper_context_release(context);
}

taper_status taper_made_program_create(taper_run *run, const char *class_name, const char *method, uint64_t bytes,
                                       taper_program_maker *make, const void *user, taper_val *program)
{
    const maker m = {make, user};
    taper_model *model = NULL;
    TAPER_TRY(taper_model_of_graph(run->context, run->compiler, run->portable, bytes, class_name, method, make_graph,
                                   &m, &model, run->error));
    const taper_allocator *allocator = &run->context->allocator;
    made_program *made = taper_alloc_zeroed(allocator, sizeof *made);
    void **states = taper_alloc_zeroed(allocator, (model->state_count + 1) * sizeof *states);
    if (made == NULL || states == NULL) {
        taper_free(allocator, made, sizeof *made);
        taper_free(allocator, states, (model->state_count + 1) * sizeof *states);
        taper_model_release(model);
        return taper_fail_memory(run->error);
    }
    made->head.head.tag = TAPER_BLOB;
    made->head.destroy = destroy;
    taper_refs_init(&made->head.head.refs);
    made->model = model;
    made->states = states;
    *program = (taper_val){.tag = TAPER_BLOB, .as.obj = &made->head.head};
    return TAPER_OK;
}

taper_status taper_made_program_run(taper_run *run, taper_val program, taper_val arg, taper_val *result)
{
    const made_program *made = (const made_program *)program.as.obj;
    taper_packs *packs = run->packs;
    const taper_frame_source frame = {
        .model = made->model, .run = run, .constants = made->model->constants, .states = made->states};
    const taper_val args[2] = {made->model->module.root, arg};
    run->packs = made->model->packs;
    const taper_status status = taper_interpret(&frame, &made->model->functions[0], args, 2, 0, result);
    run->packs = packs;
    return status;
}
