// SPDX-License-Identifier: BSD-2-Clause
// Quantization after training (taper_compile.h). One draft of the file becomes the float model. The first run of the
// float model shows which values are float tensors, so that a second draft can be planned. Later runs are observed.
// Further drafts are saved, or compared with the float model.
#include "runtime/calibrator.h"
#include "runtime/device.h"

#include "base/arguments.h"

static const taper_quantization_table *table(const taper_calibrator *calibrator)
{
    return calibrator->compiler->quantization;
}

// ---- options

static taper_status copy_texts(taper_arena *arena, const char *name, const char *const **texts, size_t count,
                               taper_error *error)
{
    TAPER_TRY(taper_check_items(*texts, name, count, error));
    const char **copies = taper_arena_array(arena, count, sizeof *copies);
    for (size_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = taper_arena_string(arena, (*texts)[i], strlen((*texts)[i]));
        if (copies[i] == NULL) {
            return taper_fail_memory(error);
        }
    }
    *texts = copies;
    return copies != NULL ? TAPER_OK : taper_fail_memory(error);
}

static taper_status copy_budgets(taper_arena *arena, const taper_session_options **budgets, taper_error *error)
{
    if (*budgets == NULL) {
        return TAPER_OK;
    }
    taper_session_options *copy = taper_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) {
        return taper_fail_memory(error);
    }
    TAPER_TRY(taper_struct_read(*budgets, "taper_session_options", copy, sizeof *copy, error));
    copy->struct_size = sizeof *copy;
    *budgets = copy;
    return TAPER_OK;
}

static taper_status read_options(taper_calibrator *calibrator, const taper_load_options *load,
                                 const taper_quantize_options *given, taper_error *error)
{
    taper_quantize_options *o = &calibrator->options;
    taper_device_choice device;
    TAPER_TRY(load != NULL ? taper_load_options_read(calibrator->context, load, &calibrator->load, error) : TAPER_OK);
    TAPER_TRY(taper_device_choice_read(calibrator->context, calibrator->load.device, &device, error));
    TAPER_TRY(taper_device_check(calibrator->context, &device, error));
    if (calibrator->load.compiler == NULL || calibrator->load.compiler->quantization == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "quantizing needs taper_load_options.compiler: set it to taper_compiler()");
    }
    calibrator->compiler = calibrator->load.compiler;
    calibrator->load.flags &= ~TAPER_LOAD_LISTING;
    calibrator->load.precision = TAPER_PRECISION_FP32;
    // These pointers refer to the host's memory, which may be freed before drafts are loaded, so they are cleared.
    calibrator->load.disabled_passes = calibrator->load.methods = NULL;
    calibrator->load.disabled_pass_count = calibrator->load.method_count = calibrator->load.setting_count = 0;
    calibrator->load.settings = NULL;
    calibrator->load.device = NULL;
    TAPER_TRY(taper_struct_read(given, "taper_quantize_options", o, sizeof *o, error));
    if ((unsigned)o->mode > TAPER_QUANTIZE_DYNAMIC || (unsigned)o->observer > TAPER_OBSERVER_PERCENTILE) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "there is no such mode or observer of quantization");
    }
    o->percentile = o->percentile == 0 ? 99.99 : o->percentile;
    if (!(o->percentile > 0 && o->percentile <= 100)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "percentile: %g is not within 0 and 100", o->percentile);
    }
    TAPER_TRY(copy_budgets(&calibrator->arena, &o->budgets, error));
    TAPER_TRY(copy_texts(&calibrator->arena, "keep_float", &o->keep_float, o->keep_float_count, error));
    return copy_texts(&calibrator->arena, "preserve", &o->preserve, o->preserve_count, error);
}

// ---- drafts

static taper_function *forward_of(const taper_draft *draft)
{
    return taper_model_find(draft->model, taper_model_name(draft->model), "forward");
}

static taper_status adjust(const taper_calibrator *calibrator, taper_draft *draft, taper_error *error)
{
    taper_compilation compilation;
    TAPER_TRY(taper_model_begin_compilation(draft->model, &compilation, error));
    const taper_status status = table(calibrator)->adjust(&calibrator->options, &compilation, forward_of(draft)->graph);
    taper_model_end_compilation(draft->model, &compilation);
    return status;
}

// Loads a draft of the file, and prepares and equalizes it.
static taper_status prepared_draft(const taper_calibrator *calibrator, taper_draft **draft, taper_error *error)
{
    const taper_optimize_options options = {.struct_size = sizeof options,
                                            .preserve = calibrator->options.preserve,
                                            .preserve_count = calibrator->options.preserve_count};
    TAPER_TRY(calibrator->path != NULL
                  ? taper_draft_load(calibrator->context, calibrator->path, &calibrator->load, draft, error)
                  : taper_draft_load_memory(calibrator->context, calibrator->bytes, calibrator->size, &calibrator->load,
                                            draft, error));
    taper_status status = taper_draft_prepare(*draft, &options, NULL, error);
    const taper_function *forward = status == TAPER_OK ? forward_of(*draft) : NULL;
    if (status == TAPER_OK && (forward == NULL || forward->graph == NULL)) {
        status = taper_fail(error, TAPER_ERROR_ARGUMENT, "the model has no method forward to quantize");
    }
    if (status == TAPER_OK) {
        status = adjust(calibrator, *draft, error);
    }
    if (status != TAPER_OK) {
        taper_draft_release(*draft);
        *draft = NULL;
    }
    return status;
}

taper_status taper_calibrator_draft(taper_calibrator *calibrator, bool keep_root, taper_draft **draft,
                                    taper_error *error)
{
    taper_compilation compilation;
    TAPER_TRY(prepared_draft(calibrator, draft, error));
    taper_status status = taper_model_begin_compilation((*draft)->model, &compilation, error);
    if (status == TAPER_OK) {
        status = table(calibrator)
                     ->rewrite(calibrator->quantization, &compilation, forward_of(*draft)->graph,
                               keep_root ? NULL : &(*draft)->root);
        taper_model_end_compilation((*draft)->model, &compilation);
    }
    if (status != TAPER_OK) {
        taper_draft_release(*draft);
        *draft = NULL;
    }
    return status;
}

// ---- loading

// Records the name of forward and the ids of its parameters.
static taper_status note_forward(taper_calibrator *calibrator, const taper_graph *graph, taper_error *error)
{
    uint32_t *params = taper_arena_array(&calibrator->arena, graph->body->param_count + (size_t)1, sizeof *params);
    calibrator->forward = taper_arena_string(&calibrator->arena, graph->name, strlen(graph->name));
    if (params == NULL || calibrator->forward == NULL) {
        return taper_fail_memory(error);
    }
    for (uint32_t i = 0; i < graph->body->param_count; i++) {
        params[i] = graph->body->params[i].id;
    }
    calibrator->params = params;
    calibrator->param_count = graph->body->param_count;
    return TAPER_OK;
}

static taper_status plan(taper_calibrator *calibrator, taper_error *error)
{
    taper_compilation compilation;
    taper_draft *draft = calibrator->draft;
    taper_status status = taper_model_begin_compilation(draft->model, &compilation, error);
    if (status == TAPER_OK) {
        status = table(calibrator)->plan(calibrator->quantization, &compilation, forward_of(draft)->graph);
        taper_model_end_compilation(draft->model, &compilation);
    }
    taper_draft_release(draft);
    calibrator->draft = NULL;
    calibrator->planned = status == TAPER_OK;
    return status;
}

static taper_status start(taper_calibrator *calibrator, taper_error *error)
{
    taper_draft *draft;
    TAPER_TRY(prepared_draft(calibrator, &draft, error));
    const taper_graph *graph = forward_of(draft)->graph;
    taper_status status = note_forward(calibrator, graph, error);
    if (status == TAPER_OK) {
        status = table(calibrator)
                     ->create(&calibrator->context->allocator, &calibrator->options, graph->value_count,
                              &calibrator->quantization, error);
    }
    if (status != TAPER_OK) {
        taper_draft_release(draft);
        return status;
    }
    // The model is not optimized further, because fused operators would hide values that must be observed.
    TAPER_TRY(taper_draft_finish(draft, &calibrator->model, error));
    TAPER_TRY(taper_session_create(calibrator->model, calibrator->options.budgets, &calibrator->session, error));
    TAPER_TRY(prepared_draft(calibrator, &calibrator->draft, error));
    return calibrator->options.mode == TAPER_QUANTIZE_DYNAMIC ? plan(calibrator, error) : TAPER_OK;
}

static taper_status load(taper_context *context, const char *path, const void *bytes, size_t size,
                         const taper_load_options *load_options, const taper_quantize_options *options,
                         taper_calibrator **calibrator, taper_error *error)
{
    TAPER_NEED_OUT(calibrator, error);
    TAPER_NEED(context, error);
    taper_calibrator *q = taper_alloc_zeroed(&context->allocator, sizeof *q);
    if (q == NULL) {
        return taper_fail_memory(error);
    }
    taper_context_retain(context);
    q->context = context;
    taper_arena_init(&q->arena, &context->allocator);
    q->bytes = bytes;
    q->size = size;
    taper_status status = read_options(q, load_options, options, error);
    if (status == TAPER_OK && path != NULL) {
        q->path = taper_arena_string(&q->arena, path, strlen(path));
        status = q->path != NULL ? TAPER_OK : taper_fail_memory(error);
    }
    if (status == TAPER_OK) {
        status = start(q, error);
    }
    if (status != TAPER_OK) {
        taper_calibrator_release(q);
        return status;
    }
    *calibrator = q;
    return TAPER_OK;
}

taper_status taper_calibrator_load(taper_context *context, const char *path, const taper_load_options *load_options,
                                   const taper_quantize_options *options, taper_calibrator **calibrator,
                                   taper_error *error)
{
    TAPER_NEED(path, error);
    return load(context, path, NULL, 0, load_options, options, calibrator, error);
}

taper_status taper_calibrator_load_memory(taper_context *context, const void *bytes, size_t size,
                                          const taper_load_options *load_options, const taper_quantize_options *options,
                                          taper_calibrator **calibrator, taper_error *error)
{
    TAPER_NEED(bytes, error);
    return load(context, NULL, bytes, size, load_options, options, calibrator, error);
}

void taper_calibrator_free_comparison(taper_calibrator *calibrator)
{
    taper_session_destroy(calibrator->quantized_session);
    taper_model_release(calibrator->quantized);
    calibrator->quantized_session = NULL;
    calibrator->quantized = NULL;
}

void taper_calibrator_release(taper_calibrator *calibrator)
{
    if (calibrator == NULL) {
        return;
    }
    taper_context *context = calibrator->context;
    taper_calibrator_free_comparison(calibrator);
    if (calibrator->quantization != NULL) {
        table(calibrator)->destroy(calibrator->quantization);
    }
    taper_draft_release(calibrator->draft);
    taper_session_destroy(calibrator->session);
    taper_model_release(calibrator->model);
    taper_arena_free(&calibrator->arena);
    taper_free(&context->allocator, calibrator, sizeof *calibrator);
    taper_context_release(context);
}

taper_model *taper_calibrator_model(const taper_calibrator *calibrator)
{
    return calibrator != NULL ? calibrator->model : NULL;
}

// ---- calibration

static void look(void *user, const taper_observation *observation)
{
    taper_calibrator *calibrator = user;
    if (calibrator->status != TAPER_OK || strcmp(observation->method, calibrator->forward) != 0) {
        return;
    }
    if (!calibrator->planned) {
        table(calibrator)->meet(calibrator->quantization, observation->value, observation->result->val);
    } else {
        calibrator->status =
            table(calibrator)
                ->observe(calibrator->quantization, observation->value, observation->result->val, calibrator->failure);
    }
}

static taper_status run_observed(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                                 taper_error *error)
{
    taper_value *result;
    calibrator->failure = error;
    calibrator->status = TAPER_OK;
    for (size_t i = 0; calibrator->status == TAPER_OK && i < count && i + 1 < calibrator->param_count; i++) {
        const taper_observation input = {
            .method = calibrator->forward, .value = calibrator->params[i + 1], .result = inputs[i]};
        look(calibrator, &input);
    }
    taper_session_observe(calibrator->session, look, calibrator);
    taper_status status = calibrator->status;
    if (status == TAPER_OK) {
        status = taper_session_run(calibrator->session, NULL, inputs, count, &result, error);
        taper_value_release(result);
    }
    taper_session_observe(calibrator->session, NULL, NULL);
    return status == TAPER_OK ? calibrator->status : status;
}

taper_status taper_calibrator_idle(const taper_calibrator *calibrator, taper_error *error)
{
    if (calibrator->running) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the calibrator is running: it makes one call at a time");
    }
    return TAPER_OK;
}

static taper_status calibrate(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                              taper_error *error)
{
    if (calibrator->quantized != NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model was compared already: calibrate before that");
    }
    if (calibrator->options.mode == TAPER_QUANTIZE_DYNAMIC) {
        return TAPER_OK;
    }
    if (!calibrator->planned && calibrator->draft == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model could not be planned: load it again");
    }
    if (!calibrator->planned) {
        TAPER_TRY(run_observed(calibrator, inputs, count, error));
        TAPER_TRY(plan(calibrator, error));
    }
    return run_observed(calibrator, inputs, count, error);
}

taper_status taper_calibrator_run(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                                  taper_error *error)
{
    TAPER_NEED(calibrator, error);
    TAPER_TRY(taper_check_items(inputs, "inputs", count, error));
    TAPER_TRY(taper_calibrator_idle(calibrator, error));
    calibrator->running = true;
    const taper_status status = calibrate(calibrator, inputs, count, error);
    calibrator->running = false;
    return status;
}
taper_status taper_calibrator_ready(taper_calibrator *calibrator, taper_error *error)
{
    TAPER_NEED(calibrator, error);
    TAPER_TRY(taper_calibrator_idle(calibrator, error));
    if (!calibrator->planned) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "nothing was calibrated: run taper_calibrator_run on samples");
    }
    return TAPER_OK;
}

taper_status taper_calibrator_finish(taper_calibrator *calibrator, taper_draft **draft, taper_error *error)
{
    TAPER_NEED_OUT(draft, error);
    TAPER_TRY(taper_calibrator_ready(calibrator, error));
    return taper_calibrator_draft(calibrator, false, draft, error);
}
