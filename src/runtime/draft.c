// SPDX-License-Identifier: BSD-2-Clause
// Drafts (taper_compile.h): models that are loaded, rewritten and saved. A draft is a model whose load stops before its
// programs are built. The compiler rewrites its graphs and makes bytecode of them, and format/ writes the bytecode.
#include "runtime/draft.h"

#include "base/arguments.h"
#include "base/budget.h"
#include "format/module_write.h"
#include "frontend/bytecode_arguments.h"
#include "runtime/device.h"

#define CONVERTER(name) extern const taper_converter taper_converter_##name;
#include "backends/converter_list.inc"
#undef CONVERTER

static const taper_converter *const converters[] = {
#define CONVERTER(name) &taper_converter_##name,
#include "backends/converter_list.inc"
#undef CONVERTER
    NULL};

// ---- loading drafts

static taper_status make_draft(taper_model *model, const struct taper_compiler *compiler, taper_draft **draft,
                               taper_error *error)
{
    const taper_allocator *allocator = model->allocator;
    taper_draft *made = taper_alloc_zeroed(allocator, sizeof *made);
    if (made == NULL) {
        taper_model_release(model);
        return taper_fail_memory(error);
    }
    made->model = model;
    made->compiler = compiler;
    made->root = taper_val_none();
    made->name = taper_text_make(allocator);
    const taper_status status = taper_draft_settle_states(made, error);
    if (status != TAPER_OK) {
        taper_draft_release(made);
        return status;
    }
    *draft = made;
    return TAPER_OK;
}

static taper_status check_load_options(const taper_context *context, const taper_load_options *given,
                                       taper_load_options *options, taper_error *error)
{
    TAPER_NEED(context, error);
    TAPER_TRY(given != NULL ? taper_load_options_read(context, given, options, error) : TAPER_OK);
    if (given == NULL || options->compiler == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "a draft needs taper_load_options.compiler: set it to taper_compiler()");
    }
    options->flags &= ~TAPER_LOAD_LISTING;
    return TAPER_OK;
}

taper_status taper_draft_load(taper_context *context, const char *path, const taper_load_options *options,
                              taper_draft **draft, taper_error *error)
{
    taper_load_options o;
    taper_model *model;
    TAPER_NEED_OUT(draft, error);
    TAPER_TRY(check_load_options(context, options, &o, error));
    TAPER_TRY(taper_model_load_for(TAPER_MODEL_DRAFT, context, path, &o, &model, error));
    return make_draft(model, o.compiler, draft, error);
}

taper_status taper_draft_load_memory(taper_context *context, const void *bytes, size_t size,
                                     const taper_load_options *options, taper_draft **draft, taper_error *error)
{
    taper_load_options o;
    taper_model *model;
    TAPER_NEED_OUT(draft, error);
    TAPER_TRY(check_load_options(context, options, &o, error));
    TAPER_TRY(taper_model_load_memory_for(TAPER_MODEL_DRAFT, context, bytes, size, &o, &model, error));
    return make_draft(model, o.compiler, draft, error);
}

void taper_draft_release(taper_draft *draft)
{
    if (draft == NULL) {
        return;
    }
    taper_model *model = draft->model;
    taper_context *context = model->context;
    taper_context_retain(context);
    taper_draft_free_bundles(draft);
    taper_needs_free(&draft->operators);
    taper_text_free(&draft->name);
    taper_val_release(draft->root);
    taper_free(&context->allocator, draft, sizeof *draft);
    taper_model_release(model);
    taper_context_release(context);
}

// ---- the functions of the saved file

static taper_status keep_methods(taper_draft *draft, const taper_optimize_options *options, taper_error *error)
{
    taper_model *model = draft->model;
    for (size_t i = 0; i < options->preserve_count; i++) {
        if (taper_model_find(model, taper_model_name(model), options->preserve[i]) == NULL) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model has no method %s to preserve", options->preserve[i]);
        }
    }
    for (size_t i = 0; i < model->function_count; i++) {
        taper_function *function = &model->functions[i];
        function->of_root &= model->module.exported != NULL || // in an exported program, every method is kept
                             taper_module_keeps(function->method, options->preserve,
                                                // A method that is not preserved remains if another method calls it.
                                                options->preserve_count);
    }
    return taper_draft_drop_uncalled(draft, error);
}

// ---- optimizing drafts

static taper_status find_preparer(taper_device_kind kind, const taper_preparer **preparer, taper_error *error)
{
    for (*preparer = taper_preparers; kind != 0 && kind != (*preparer)->kind;) {
        if ((++*preparer)->name == NULL) {
            const char *name = taper_device_kind_name(kind);
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "no file is prepared for %s: the devices are %s",
                       name != NULL ? name : "a device of that kind", taper_preparer_names(false).text);
        }
    }
    return TAPER_OK;
}

static const taper_converter *converter_of(const taper_preparer *preparer)
{
    size_t i = 0;
    while (converters[i] != NULL && (preparer == NULL || strcmp(converters[i]->name, preparer->name) != 0)) {
        i++;
    }
    return converters[i];
}

static taper_status check_conversion(const taper_preparer *preparer, const taper_optimize_options *options,
                                     taper_error *error)
{
    const taper_converter *converter = converter_of(preparer);
    if (converter == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "this build has no %s: a model optimized for %s runs everywhere",
                   preparer->title, taper_preparers[0].name);
    }
    TAPER_TRY(converter->check(options, error));
    TAPER_NEED_ARRAY(options->inputs, options->input_count, error);
    for (size_t i = 0; i < options->input_count; i++) {
        TAPER_NEED(options->inputs[i], error);
    }
    return TAPER_OK;
}

static taper_status prepare(taper_draft *draft, const taper_optimize_options *options, const taper_preparer *preparer,
                            taper_error *error)
{
    TAPER_TRY(keep_methods(draft, options, error));
    draft->optimized = draft->broken = true;
    TAPER_TRY(taper_model_evaluate(draft->model, error));
    TAPER_TRY(taper_model_lower_embedded(draft->model, error));
    taper_needs_free(&draft->operators);
    taper_compilation compilation;
    TAPER_TRY(taper_model_begin_compilation(draft->model, &compilation, error));
    compilation.disabled = options->disabled_passes;
    compilation.takes_gradients = draft->model->takes_gradients;
    compilation.disabled_count = options->disabled_pass_count;
    compilation.preparer = preparer;
    // If layers are not packed, later code reads the weights or runs the model, so the weights must be computed now
    // (ir/scaled_storage.h).
    compilation.to_save = preparer != NULL && preparer->packer != TAPER_PACKER_NONE;
    compilation.converter = converter_of(preparer);
    compilation.options = options;
    const taper_status status = draft->compiler->prepare(&compilation, &draft->root);
    taper_model_end_compilation(draft->model, &compilation);
    draft->broken = status != TAPER_OK;
    return status;
}

taper_status taper_draft_prepare(taper_draft *draft, const taper_optimize_options *options,
                                 const taper_preparer *preparer, taper_error *error)
{
    return taper_budget_explain(draft->model->budget, prepare(draft, options, preparer, error), error);
}

taper_status taper_draft_optimize(taper_draft *draft, const taper_optimize_options *given, taper_error *error)
{
    taper_optimize_options options;
    const taper_preparer *preparer;
    TAPER_NEED(draft, error);
    TAPER_TRY(taper_struct_read(given, "taper_optimize_options", &options, sizeof options, error));
    TAPER_TRY(taper_check_items(options.preserve, "preserve", options.preserve_count, error));
    TAPER_TRY(taper_check_items(options.disabled_passes, "disabled_passes", options.disabled_pass_count, error));
    if (draft->optimized || draft->broken) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the draft was optimized before");
    }
    if (draft->methods != NULL) { // converters name attributes by indices, and passes change these indices
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "the draft was saved with bundled inputs: optimize it before it is saved");
    }
    TAPER_TRY(find_preparer(options.device, &preparer, error));
    TAPER_TRY(preparer->converts ? check_conversion(preparer, &options, error) : TAPER_OK);
    return taper_draft_prepare(draft, &options, preparer, error);
}

// ---- making a model that runs from a draft

taper_status taper_draft_finish(taper_draft *draft, taper_model **model, taper_error *error)
{
    if (model == NULL || draft == NULL) {
        taper_draft_release(draft);
    }
    TAPER_NEED_OUT(model, error);
    TAPER_NEED(draft, error);
    taper_status status = draft->broken ? taper_fail(error, TAPER_ERROR_ARGUMENT, "the draft's optimization failed")
                                        : taper_draft_finish_bundles(draft, error);
    if (status == TAPER_OK && (draft->method_count != 0 || draft->root.tag != TAPER_NONE)) {
        status = taper_fail(error, TAPER_ERROR_UNSUPPORTED, "this draft must be saved and loaded to be run");
    }
    if (status == TAPER_OK) {
        status = taper_model_finish_draft(draft->model, error);
    }
    if (status == TAPER_OK) {
        *model = draft->model;
        taper_refs_add(&draft->model->refs);
    }
    taper_draft_release(draft);
    return status;
}

// ---- saving drafts

static void free_constants(taper_module_function *function)
{
    for (size_t i = 0; i < function->constant_count; i++) {
        taper_val_release(function->constants[i]);
    }
    function->constant_count = 0;
}

static taper_status emit_function(taper_draft *draft, taper_compilation *compilation, taper_graph *graph,
                                  const taper_module_function *source, int version, taper_arena *arena,
                                  taper_module *written)
{
    taper_module_function *function = &written->functions[written->function_count++];
    *function = (taper_module_function){.name = source->name,
                                        .has_schema = source->has_schema,
                                        .arguments = source->arguments,
                                        .returns = source->returns,
                                        .argument_count = source->argument_count,
                                        .return_count = source->return_count};
    if (version > 4) {
        TAPER_TRY(taper_draft_derive_schema(written->types, graph, arena, function, compilation->error));
    }
    if (version < 6) {
        TAPER_TRY(taper_bytecode_check_counts(written, function, graph, compilation->error));
    }
    return draft->compiler->emit(compilation, graph, version, arena, function);
}

// Returns the graph of a __setstate__ if the draft is unchanged bytecode. In that case, objects of the class are saved
// with the state that was read. Otherwise (TorchScript, or after optimization) returns NULL, and the objects are saved
// with the attributes that the method has set.
static taper_graph *kept_setstate(const taper_draft *draft, const taper_function *function)
{
    return !draft->optimized && taper_module_has_bytecode(&draft->model->module) &&
                   strcmp(function->method, "__setstate__") == 0
               ? function->program.graph
               : NULL;
}

// Sets *written to a module that borrows everything from the draft's module, except its functions, which are allocated
// in `arena`.
static taper_status emit_functions(taper_draft *draft, int version, taper_module_callstacks *callstacks,
                                   taper_arena *arena, taper_module *written, taper_error *error)
{
    taper_model *model = draft->model;
    taper_compilation compilation;
    *written = model->module;
    written->root = taper_draft_root(draft);
    written->bytecode_version = version;
    if (draft->optimized || !taper_module_has_bytecode(&draft->model->module)) {
        written->pending_count = 0; // the objects are saved as their attributes, without a state
    }
    // Upgraders were applied, so operators have their newest meaning.
    written->operator_version = TAPER_OPERATOR_VERSION;
    written->function_count = 0;
    written->functions =
        taper_arena_array(arena, model->function_count + draft->method_count, sizeof *written->functions);
    if (written->functions == NULL) {
        return taper_fail_memory(error);
    }
    TAPER_TRY(taper_draft_drop_uncalled(draft, error));
    TAPER_TRY(taper_model_begin_compilation(model, &compilation, error));
    compilation.callstacks = callstacks;
    written->callstacks = callstacks;
    taper_status status = TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < model->function_count; i++) {
        const taper_function *function = &model->functions[i];
        taper_graph *graph = function->graph != NULL ? function->graph : kept_setstate(draft, function);
        if (graph != NULL) {
            status = emit_function(draft, &compilation, graph, function->source, version, arena, written);
        }
    }
    for (size_t i = 0; status == TAPER_OK && i < draft->method_count; i++) {
        const taper_draft_method *method = &draft->methods[i];
        status = emit_function(draft, &compilation, method->graph, &method->source, version, arena, written);
    }
    taper_model_end_compilation(model, &compilation);
    return status;
}

static taper_status read_save_options(const taper_draft *draft, const taper_save_options *given,
                                      taper_save_options *options, taper_error *error)
{
    TAPER_TRY(taper_struct_read(given, "taper_save_options", options, sizeof *options, error));
    if (options->extra_name != NULL) {
        TAPER_NEED_ARRAY(options->extra_data, options->extra_size, error);
    }
    if (draft->broken) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the draft's optimization failed: load it again");
    }
    options->bytecode = options->flatbuffer ? 9 : options->bytecode == 0 ? 8 : options->bytecode;
    if (!options->flatbuffer && (options->bytecode < 4 || options->bytecode > 8)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "bytecode %d cannot be written: 4 to 8 can", options->bytecode);
    }
    if (options->flatbuffer && options->debug_info) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "debug_info: a flatbuffer holds no call stacks; write a zip archive");
    }
    return TAPER_OK;
}

static taper_status save(taper_draft *draft, const taper_save_options *given, const taper_sink *sink,
                         taper_error *error)
{
    taper_save_options options;
    taper_module written;
    TAPER_TRY(read_save_options(draft, given, &options, error));
    TAPER_TRY(taper_draft_finish_bundles(draft, error));
    taper_arena arena;
    taper_module_callstacks callstacks = {.count = 0};
    const bool tells = options.debug_info != 0 && draft->model->module.torchscript;
    taper_arena_init(&arena, draft->model->allocator);
    taper_status status = emit_functions(draft, options.bytecode, tells ? &callstacks : NULL, &arena, &written, error);
    if (status == TAPER_OK) {
        const taper_module_extra extra = {options.extra_name, options.extra_data, options.extra_size};
        const taper_write_options how = {.extras = &extra,
                                         .extra_count = options.extra_name != NULL,
                                         .bytecode_version = options.bytecode,
                                         .archive_name = options.name,
                                         .without_code = draft->optimized,
                                         .code_version = draft->model->module.operator_version};
        status = options.flatbuffer ? taper_lite_flatbuffer_write(&written, &how, sink, error)
                                    : taper_lite_archive_write(&written, &how, sink, error);
    }
    for (size_t i = 0; written.functions != NULL && i < written.function_count; i++) {
        free_constants(&written.functions[i]);
    }
    taper_free(draft->model->allocator, callstacks.items, callstacks.capacity * sizeof *callstacks.items);
    taper_arena_free(&arena);
    return status;
}

typedef struct callback_sink {
    taper_save_function write;
    void *user;
} callback_sink;

static taper_status write_callback(void *user, const void *data, size_t size, taper_error *error)
{
    const callback_sink *callback = user;
    if (callback->write(callback->user, data, size) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the file could not be written");
    }
    return TAPER_OK;
}

taper_status taper_draft_save(taper_draft *draft, const taper_save_options *options, taper_save_function write,
                              void *user, taper_error *error)
{
    TAPER_NEED(draft, error);
    TAPER_NEED(write, error);
    callback_sink callback = {write, user};
    const taper_sink sink = {write_callback, &callback};
    return taper_budget_explain(draft->model->budget, save(draft, options, &sink, error), error);
}

taper_status taper_draft_save_memory(taper_draft *draft, const taper_save_options *options, void **bytes, size_t *size,
                                     taper_error *error)
{
    TAPER_NEED_OUT(bytes, error);
    TAPER_NEED(size, error);
    *size = 0;
    TAPER_NEED(draft, error);
    taper_bytes file = taper_bytes_make(draft->model->allocator);
    const taper_sink sink = taper_bytes_sink(&file);
    taper_status status = save(draft, options, &sink, error);
    if (status == TAPER_OK && file.failed) {
        status = taper_fail_memory(error);
    }
    if (status == TAPER_OK) {
        // The block must have exactly the size of the content, because the caller frees it with that size.
        void *exact = taper_realloc(file.allocator, file.data, file.capacity, file.size);
        if (exact != NULL) {
            *bytes = exact;
            *size = file.size;
            return TAPER_OK;
        }
        status = taper_fail_memory(error);
    }
    taper_bytes_free(&file);
    return taper_budget_explain(draft->model->budget, status, error);
}

void taper_saved_free(taper_draft *draft, void *bytes, size_t size)
{
    if (bytes != NULL && draft != NULL) {
        taper_free(draft->model->allocator, bytes, size);
    }
}

// ---- inspecting a draft

const taper_model *taper_draft_model(const taper_draft *draft)
{
    return draft != NULL ? draft->model : NULL;
}

static size_t count_nodes(const taper_block *block)
{
    size_t count = 0;
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        count += node->kind != TAPER_NODE_CONSTANT;
        for (size_t b = 0; b < node->block_count; b++) {
            count += count_nodes(node->blocks[b]);
        }
    }
    return count;
}

size_t taper_draft_node_count(const taper_draft *draft)
{
    size_t count = 0;
    for (size_t i = 0; draft != NULL && i < draft->model->function_count; i++) {
        if (draft->model->functions[i].graph != NULL) {
            count += count_nodes(draft->model->functions[i].graph->body);
        }
    }
    return count;
}

taper_status taper_draft_operators(taper_draft *draft, size_t *count, taper_error *error)
{
    TAPER_NEED(count, error);
    *count = 0;
    TAPER_NEED(draft, error);
    taper_needs_free(&draft->operators);
    draft->operators.allocator = draft->model->allocator;
    for (size_t i = 0; i < draft->model->function_count; i++) {
        const taper_function *function = &draft->model->functions[i];
        if (function->graph != NULL && function->of_root) {
            TAPER_TRY(taper_needs_add_graph(&draft->operators, function->graph, error));
        }
    }
    taper_needs_merge(&draft->operators);
    size_t kept = 0; // keeps only operators, not classes
    for (size_t i = 0; i < draft->operators.count; i++) {
        if (draft->operators.items[i].overload != NULL) {
            draft->operators.items[kept++] = draft->operators.items[i];
        }
    }
    draft->operators.count = kept;
    *count = kept;
    return TAPER_OK;
}

const char *taper_draft_operator_name(taper_draft *draft, size_t index)
{
    if (draft == NULL || index >= draft->operators.count) {
        return NULL;
    }
    const taper_need *need = &draft->operators.items[index];
    draft->name.length = 0;
    taper_text_string(&draft->name, need->name);
    if (need->overload != NULL && need->overload[0] != '\0') {
        taper_text_format(&draft->name, ".%s", need->overload);
    }
    return draft->name.failed ? need->name : taper_text_get(&draft->name);
}

size_t taper_draft_operator_calls(const taper_draft *draft, size_t index)
{
    return draft != NULL && index < draft->operators.count ? draft->operators.items[index].calls : 0;
}

taper_status taper_draft_print(taper_draft *draft, const char *method, taper_save_function write, void *user,
                               taper_error *error)
{
    TAPER_NEED(draft, error);
    TAPER_NEED(write, error);
    const char *name = method != NULL ? method : "forward";
    const taper_function *function = taper_model_find(draft->model, taper_model_name(draft->model), name);
    if (function == NULL || function->graph == NULL) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the model has no method %s", name);
    }
    taper_text text = taper_text_make(draft->model->allocator);
    taper_graph_print(function->graph, &text);
    taper_status status = text.failed ? taper_fail_memory(error) : TAPER_OK;
    if (status == TAPER_OK && write(user, taper_text_get(&text), text.length) != 0) {
        status = taper_fail(error, TAPER_ERROR_FILE, "the graph could not be written");
    }
    taper_text_free(&text);
    return status;
}
