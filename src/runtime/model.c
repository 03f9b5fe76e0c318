// SPDX-License-Identifier: BSD-2-Clause
// Loads a model: reads the file, checks its operators, lowers every function, runs __setstate__ of classes that have
// one, optimizes, and flattens the graphs to programs.
#include "runtime/model.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "frontend/bytecode.h"
#include "frontend/embedded.h"
#include "frontend/export/export.h"
#include "frontend/torchscript/torchscript.h"
#include "ops/call/packs_later.h"
#include "runtime/device.h"
#include "runtime/device_options.h"
#include "runtime/kept_packs.h"

static void free_functions(taper_model *model)
{
    for (size_t i = 0; model->functions != NULL && i < model->function_count; i++) {
        taper_graph_destroy(model->functions[i].graph);
        taper_program_free(&model->functions[i].program);
    }
    taper_free(model->allocator, model->functions, model->function_count * sizeof *model->functions);
}

void taper_model_release(taper_model *model)
{
    if (model == NULL || !taper_refs_drop(&model->refs)) {
        return;
    }
    taper_context *context = model->context;
    taper_budget *budget = model->budget;
    const taper_allocator *allocator = model->allocator;
    taper_model_tell_of_packs(model, taper_packs_end(model->packs));
    taper_packs_destroy(model->packs);
    free_functions(model);
    taper_free(allocator, model->name_index, model->name_index_size * sizeof *model->name_index);
    taper_free(allocator, model->constants, model->constant_count * sizeof *model->constants);
    taper_free(allocator, model->methods, model->method_count * sizeof *model->methods);
    taper_free(allocator, model->operators, model->operator_capacity * sizeof *model->operators);
    taper_module_free(&model->module);
    taper_types_release(model->types);
    taper_free(&context->allocator, model, sizeof *model);
    taper_budget_release(budget);
    taper_context_release(context);
}

// ---- programs and constants

taper_status taper_model_begin_compilation(taper_model *model, taper_compilation *compilation, taper_error *error)
{
    const taper_allocator *allocator = model->allocator;
    const size_t bytes = (model->function_count + 1) * sizeof(void *);
    taper_graph **graphs = taper_alloc_zeroed(allocator, bytes);
    const char **names = taper_alloc_zeroed(allocator, bytes);
    if (graphs == NULL || names == NULL) {
        taper_free(allocator, graphs, bytes);
        taper_free(allocator, (void *)names, bytes);
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < model->function_count; i++) {
        graphs[i] = model->functions[i].graph;
        names[i] = model->functions[i].source->name;
    }
    *compilation = (taper_compilation){.allocator = allocator,
                                       .registry = model->context->registry,
                                       .module = &model->module,
                                       .root = model->module.root,
                                       .graphs = graphs,
                                       .names = names,
                                       .count = model->function_count,
                                       .error = error};
    return TAPER_OK;
}

void taper_model_end_compilation(const taper_model *model, const taper_compilation *compilation)
{
    const size_t bytes = (model->function_count + 1) * sizeof(void *);
    taper_free(compilation->allocator, compilation->graphs, bytes);
    taper_free(compilation->allocator, (void *)compilation->names, bytes);
}

taper_status taper_model_lower_embedded(taper_model *model, taper_error *error)
{
    if (!taper_knows_embedded()) {
        return TAPER_OK;
    }
    taper_compilation all;
    TAPER_TRY(taper_model_begin_compilation(model, &all, error));
    const taper_status status =
        taper_lower_embedded(&model->module, all.root, all.registry, all.graphs, all.count, error);
    taper_model_end_compilation(model, &all);
    return status;
}

// Fails if the host requires a device ("!") that does not run any part of the model. Without this check, the CPU would
// silently run everything.
static taper_status check_taken(const taper_model *model, const taper_compilation *all, taper_error *error)
{
    if (TAPER_DEVICES && model->device_required && !model->reference && (all == NULL || all->taken == 0)) {
        const bool known = all != NULL && all->left != NULL;
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
                   "device %s can do no part of the model%s%s%s%s; without \"!\" the CPU runs what the device cannot",
                   model->device->name, known ? ": declined " : "", known ? all->left : "", known ? ", " : "",
                   known ? all->left_why : "");
    }
    return TAPER_OK;
}

static taper_status optimize(taper_model *model, const taper_load_options *options, taper_error *error)
{
    if (options->compiler == NULL) {
        return check_taken(model, NULL, error);
    }
    taper_compilation compilation;
    TAPER_TRY(taper_model_begin_compilation(model, &compilation, error));
    compilation.disabled = options->disabled_passes;
    compilation.disabled_count = options->disabled_pass_count;
    compilation.takes_gradients = model->takes_gradients;
    compilation.keeps_gradients = model->keeps_gradients;
    taper_device *devices[2], *const host = model->context->host;
    compilation.devices = devices;
    compilation.device_required = model->device_required;
    if (TAPER_DEVICES && model->device != NULL) {
        devices[compilation.device_count++] = model->device;
    }
    if (host != NULL) {
        devices[compilation.device_count++] = host;
    }
    compilation.device_count = model->reference ? 0 : compilation.device_count;
    const taper_status status = options->compiler->optimize(&compilation);
    model->takes_gradients =
        compilation.takes_gradients; // false if the compiler has replaced all requests for gradients
    taper_model_end_compilation(model, &compilation);
    return status == TAPER_OK ? check_taken(model, &compilation, error) : status;
}

#if TAPER_WITH_TORCHSCRIPT
static taper_status evaluate(void *user, taper_error *error)
{
    return taper_model_evaluate(user, error);
}

static taper_status load_torchscript(taper_model *model, const taper_load_options *options, taper_error *error)
{
    // If the model will be frozen, attributes are treated as constant while sources are lowered, which removes
    // branches. Attributes are not treated as constant for a model that is written to a file or runs as it was saved,
    // or if the host wants the original numbers of values.
    bool fixed = options->compiler != NULL && !model->draft;
    for (size_t i = 0; i < options->disabled_pass_count; i++) {
        const char *name = options->disabled_passes[i];
        fixed = fixed && strcmp(name, "freeze") != 0 && strcmp(name, "fix_attributes") != 0;
    }
    const taper_torchscript_options how = {.listing = model->listing,
                                           .methods = options->methods,
                                           .method_count = options->method_count,
                                           .fixed = fixed && !model->listing,
                                           .ready = (options->flags & TAPER_LOAD_EVALUATION) != 0 ? evaluate : NULL,
                                           .user = model};
    taper_torchscript script;
    taper_status status = taper_torchscript_load(&model->module, model->context->registry, &how, &script, error);
    if (status == TAPER_OK) {
        status = taper_model_index_functions(model, error);
    }
    for (size_t i = 0; status == TAPER_OK && i < script.count; i++) {
        model->functions[i].graph = script.graphs[i];
        script.graphs[i] = NULL;
    }
    if (status == TAPER_OK) {
        status = taper_model_list_operators(model, &script.missing, error);
    }
    taper_torchscript_free(&script, model->allocator);
    return status;
}
#endif

#if TAPER_WITH_PT2
static taper_status load_exported(taper_model *model, const taper_load_options *options, taper_error *error)
{
    const taper_export_options how = {.no_guards = (options->flags & TAPER_LOAD_NO_GUARDS) != 0,
                                      .listing = model->listing};
    taper_needs missing = {.allocator = model->allocator};
    const size_t count = taper_export_methods(&model->module);
    taper_graph **graphs = taper_alloc(model->allocator, count * sizeof(taper_graph *));
    if (graphs == NULL) {
        return taper_fail_memory(error);
    }
    taper_status status = taper_export_load(&model->module, model->context->registry, &how, graphs, &missing, error);
    if (status == TAPER_OK) {
        status = taper_model_index_functions(model, error);
        for (size_t i = 0; i < count; i++) {
            if (status == TAPER_OK) {
                model->functions[i].graph = graphs[i];
            } else {
                taper_graph_destroy(graphs[i]);
            }
        }
    }
    if (status == TAPER_OK) {
        model->exported_by = taper_export_torch_version(&model->module);
        status = taper_model_list_operators(model, &missing, error);
    }
    taper_free(model->allocator, graphs, count * sizeof(taper_graph *));
    taper_needs_free(&missing);
    return status;
}
#endif

static taper_status load_bytecode(taper_model *model, taper_error *error)
{
    TAPER_TRY(taper_model_index_functions(model, error));
    if (model->listing) {
        taper_needs missing = {.allocator = model->allocator};
        taper_status status = taper_needs_add_missing_classes(&missing, &model->module, error);
        if (status == TAPER_OK) {
            taper_needs_merge(&missing);
            status = taper_model_list_operators(model, &missing, error);
        }
        taper_needs_free(&missing);
        return status;
    }
    TAPER_TRY(taper_model_list_operators(model, NULL, error));
    TAPER_TRY(taper_bytecode_check_operators(&model->module, error));
    for (size_t i = 0; i < model->function_count; i++) {
        taper_function *function = &model->functions[i];
        TAPER_TRY(
            taper_bytecode_lower(&model->module, function->source, model->context->registry, &function->graph, error));
    }
    return TAPER_OK;
}

static taper_status load_functions(taper_model *model, const taper_load_options *options, taper_error *error)
{
#if TAPER_WITH_TORCHSCRIPT
    if (model->module.torchscript) {
        return load_torchscript(model, options, error);
    }
#endif
#if TAPER_WITH_PT2
    if (model->module.exported != NULL) {
        return load_exported(model, options, error);
    }
#endif
    (void)options;
    return load_bytecode(model, error);
}

static taper_status load_module(taper_model *model, const taper_load_options *options, taper_error *error)
{
    TAPER_TRY(load_functions(model, options, error));
    TAPER_TRY(model->listing ? TAPER_OK : taper_model_run_setstates(model, error));
    TAPER_TRY((options->flags & TAPER_LOAD_EVALUATION) != 0 ? taper_model_evaluate(model, error) : TAPER_OK);
    taper_model_find_gradients(model);
    if (model->listing || model->draft) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_model_lower_embedded(model, error));
    TAPER_TRY(taper_model_mark_gradient_modes(model, error));
    TAPER_TRY(optimize(model, options, error));
    return taper_model_build_programs(model, error);
}

// Makes an empty model with the budget for a load of `bytes` bytes. *model is NULL if memory is missing.
static taper_status begin(taper_context *context, const taper_load_options *options, uint64_t bytes,
                          taper_model **model, taper_error *error)
{
    taper_model *m = *model = taper_alloc_zeroed(&context->allocator, sizeof *m);
    if (m == NULL) {
        return taper_fail_memory(error);
    }
    taper_refs_init(&m->refs);
    taper_context_retain(context);
    m->context = context;
    m->reference = (options->flags & TAPER_LOAD_REFERENCE) != 0;
    m->low_memory = (options->flags & TAPER_LOAD_LOW_MEMORY) != 0;
    m->keeps_gradients = m->takes_gradients = (options->flags & TAPER_LOAD_GRADIENTS) != 0;
    m->compiler = options->compiler;
    m->module.root = taper_val_none();
    TAPER_TRY(
        taper_budget_create(&context->allocator, bytes, options->memory_limit, options->step_limit, &m->budget, error));
    m->allocator = taper_budget_allocator(m->budget);
    TAPER_TRY(taper_types_create(m->allocator, &m->types, error));
    return taper_packs_create(&context->allocator, &m->packs, error);
}

// Ends the load after success or failure. On failure frees the model.
static taper_status end(taper_model *m, taper_status status, taper_model **model, taper_error *error)
{
    if (!m->draft && m->budget != NULL) {
        taper_budget_end(m->budget);
    }
    status = taper_budget_explain(m->budget, status, error);
    if (status != TAPER_OK) {
        taper_model_release(m);
        return status;
    }
    *model = m;
    return TAPER_OK;
}

static taper_status fill_with_graph(taper_model *m, const taper_load_options *options, const char *class_name,
                                    const char *method, taper_model_make *make, const void *user, taper_error *error)
{
    static const char *const none[1] = {NULL};
    taper_module *module = &m->module;
    char name[128];
    TAPER_TRY(taper_module_init(m->allocator, m->types, module, error));
    taper_packs_belong(m->packs, module->heap);
    const taper_class *klass = taper_types_class(m->types, class_name, 0, none);
    taper_object *root = klass != NULL ? taper_object_new(module->heap, klass, 0) : NULL;
    const int length = snprintf(name, sizeof name, "%s.%s", class_name, method);
    module->functions = taper_arena_array(&module->arena, 1, sizeof *module->functions);
    if (root == NULL || module->functions == NULL ||
        (module->functions[0].name = taper_arena_string(&module->arena, name, (size_t)length)) == NULL) {
        taper_val_release(root != NULL ? TAPER_VAL(root) : taper_val_none());
        return taper_fail_memory(error);
    }
    module->root = TAPER_VAL(root);
    module->function_count = 1;
    TAPER_TRY(taper_model_index_functions(m, error));
    taper_graph **graph = &m->functions[0].graph;
    TAPER_TRY(taper_graph_create(m->allocator, module->functions[0].name, 2, graph, error));
    TAPER_TRY(make(user, m, *graph, error));
    TAPER_TRY(taper_graph_verify(*graph, error));
    TAPER_TRY(optimize(m, options, error));
    return taper_model_build_programs(m, error);
}

taper_status taper_model_of_graph(taper_context *context, const struct taper_compiler *compiler, bool reference,
                                  uint64_t bytes, const char *class_name, const char *method, taper_model_make *make,
                                  const void *user, taper_model **model, taper_error *error)
{
    const taper_load_options options = {.compiler = compiler, .flags = reference ? TAPER_LOAD_REFERENCE : 0};
    taper_model *m;
    taper_status status = begin(context, &options, bytes, &m, error);
    if (m == NULL) {
        return status;
    }
    if (status == TAPER_OK) {
        status = fill_with_graph(m, &options, class_name, method, make, user, error);
    }
    return end(m, status, model, error);
}

static taper_status check_device(taper_context *context, const taper_load_options *options, taper_error *error)
{
    taper_device_choice choice;
    TAPER_TRY(taper_device_choice_read(context, options->device, &choice, error));
    return taper_device_check(context, &choice, error);
}

// Loads from a blob. Takes over the reference to `blob`.
static taper_status load_blob(taper_model_purpose purpose, taper_context *context, taper_blob *blob,
                              const taper_load_options *options, taper_model **model, taper_error *error)
{
    taper_model *m;
    taper_status status = begin(context, options, blob->size, &m, error);
    if (m == NULL) {
        taper_obj_release(&blob->head);
        return status;
    }
    m->listing = (options->flags & TAPER_LOAD_LISTING) != 0;
    m->draft = purpose == TAPER_MODEL_DRAFT;
    if (status == TAPER_OK && (options->flags & TAPER_LOAD_VERIFY) != 0) {
        status = taper_module_verify(m->allocator, blob, error);
    }
    if (status == TAPER_OK) {
        status =
            (m->draft ? taper_module_read_to_save : taper_module_read)(m->allocator, m->types, blob, &m->module, error);
    }
    taper_obj_release(&blob->head);
    if (status == TAPER_OK) {
        taper_packs_belong(m->packs, m->module.heap);
        status =
            m->draft || m->listing ? check_device(context, options, error) : taper_model_find_device(m, options, error);
    }
    if (status == TAPER_OK && !m->draft && !m->listing) {
        status = taper_model_use_cache(m, error);
    }
    if (status == TAPER_OK) {
        status = load_module(m, options, error);
    }
    return end(m, status, model, error);
}

// ---- sources of the bytes

taper_status taper_load_options_read(const taper_context *context, const taper_load_options *given,
                                     taper_load_options *options, taper_error *error)
{
    enum { KNOWN_FLAGS = 2 * TAPER_LOAD_GRADIENTS - 1 };
    taper_device_choice choice;
    if (given == NULL) {
        TAPER_FAIL(
            error, TAPER_ERROR_ARGUMENT,
            "options is NULL: taper_model_open (taper_compile.h) opens a model optimized, a taper_load_options says "
            "otherwise");
    }
    TAPER_TRY(taper_struct_read(given, "taper_load_options", options, sizeof *options, error));
    if ((options->flags & ~(uint64_t)KNOWN_FLAGS) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "flags has bits that this version does not know: %#llx",
                   (unsigned long long)(options->flags & ~(uint64_t)KNOWN_FLAGS));
    }
    if ((options->flags & TAPER_LOAD_GRADIENTS) != 0) {
        TAPER_TRY(taper_gradients_built(error));
        options->barred_devices = ~UINT32_C(0);
    }
    TAPER_TRY(taper_device_choice_read(context, options->device, &choice, error));
    TAPER_TRY(taper_precision_check(options->precision, context, &choice, error));
    TAPER_TRY(TAPER_DEVICES ? taper_settings_check(options->settings, options->setting_count, error) : TAPER_OK);
    TAPER_TRY(taper_check_items(options->disabled_passes, "disabled_passes", options->disabled_pass_count, error));
    return options->methods == NULL ? TAPER_OK
                                    : taper_check_items(options->methods, "methods", options->method_count, error);
}

// Reads or maps the file. Reading is safer, because if a mapped file is truncated, accessing it ends the process.
static taper_status load_fd(taper_model_purpose purpose, taper_context *context, int fd, uint64_t offset,
                            uint64_t length, const taper_load_options *options, taper_model **model, taper_error *error)
{
    const taper_allocator *allocator = &context->allocator;
    taper_load_options o;
    taper_blob *blob;
    TAPER_TRY(taper_load_options_read(context, options, &o, error));
    if ((o.flags & TAPER_LOAD_COPY) != 0) {
        void *copy;
        size_t size;
        TAPER_TRY(taper_read_fd(allocator, fd, offset, length, &copy, &size, error));
        TAPER_TRY(taper_blob_from_block(allocator, copy, size, &blob, error));
    } else {
        taper_mapping mapping;
        TAPER_TRY(taper_map_fd(fd, offset, length, &mapping, error));
        TAPER_TRY(taper_blob_from_mapping(allocator, &mapping, &blob, error));
    }
    return load_blob(purpose, context, blob, &o, model, error);
}

taper_status taper_model_load_for(taper_model_purpose purpose, taper_context *context, const char *path,
                                  const taper_load_options *options, taper_model **model, taper_error *error)
{
    TAPER_NEED_OUT(model, error);
    TAPER_NEED(context, error);
    TAPER_NEED(path, error);
    int fd;
    TAPER_TRY(taper_open_file(path, &fd, error));
    const taper_status status = load_fd(purpose, context, fd, 0, 0, options, model, error);
    taper_close_file(fd);
    return status;
}

taper_status taper_model_load(taper_context *context, const char *path, const taper_load_options *options,
                              taper_model **model, taper_error *error)
{
    return taper_model_load_for(TAPER_MODEL_RUN, context, path, options, model, error);
}

taper_status taper_model_load_fd(taper_context *context, int fd, uint64_t offset, uint64_t length,
                                 const taper_load_options *options, taper_model **model, taper_error *error)
{
    TAPER_NEED_OUT(model, error);
    TAPER_NEED(context, error);
    return load_fd(TAPER_MODEL_RUN, context, fd, offset, length, options, model, error);
}

taper_status taper_model_load_memory_for(taper_model_purpose purpose, taper_context *context, const void *bytes,
                                         size_t size, const taper_load_options *options, taper_model **model,
                                         taper_error *error)
{
    taper_load_options o;
    taper_blob *blob;
    TAPER_NEED_OUT(model, error);
    TAPER_NEED(context, error);
    TAPER_NEED_ARRAY(bytes, size, error);
    TAPER_TRY(taper_load_options_read(context, options, &o, error));
    TAPER_TRY(taper_blob_from_memory(&context->allocator, bytes, size, NULL, NULL, &blob, error));
    return load_blob(purpose, context, blob, &o, model, error);
}

taper_status taper_model_load_memory(taper_context *context, const void *bytes, size_t size,
                                     void (*release)(void *user), void *user, const taper_load_options *options,
                                     taper_model **model, taper_error *error)
{
    TAPER_TRY(taper_model_load_memory_for(TAPER_MODEL_RUN, context, bytes, size, options, model, error));
    // The release function is set only now, because on failure the host keeps its memory.
    taper_blob *blob = (taper_blob *)(*model)->module.blob;
    blob->release = release;
    blob->user = user;
    return TAPER_OK;
}

taper_status taper_model_load_callback(taper_context *context, taper_read_function read, void *user, uint64_t size,
                                       const taper_load_options *options, taper_model **model, taper_error *error)
{
    taper_load_options o;
    TAPER_NEED_OUT(model, error);
    TAPER_NEED(context, error);
    TAPER_NEED(read, error);
    TAPER_TRY(taper_load_options_read(context, options, &o, error));
    void *block = size > 0 && size < SIZE_MAX / 4 ? taper_alloc(&context->allocator, (size_t)size) : NULL;
    if (block == NULL) {
        TAPER_FAIL(error, size == 0 ? TAPER_ERROR_FILE : TAPER_ERROR_RESOURCE,
                   size == 0 ? "the file is empty" : "out of memory");
    }
    if (read(user, 0, block, (size_t)size) != 0) {
        taper_free(&context->allocator, block, (size_t)size);
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the read callback failed");
    }
    taper_blob *blob;
    TAPER_TRY(taper_blob_from_block(&context->allocator, block, (size_t)size, &blob, error));
    return load_blob(TAPER_MODEL_RUN, context, blob, &o, model, error);
}
