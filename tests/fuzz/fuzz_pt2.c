// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a .pt2 file. Bytes that look like JSON are also read as the program, as the table of weights and
// as the nesting of inputs of a valid archive, so that sizes and checksums do not stop the fuzzer. The result is
// printed, so that all of it is read, and lowered to a graph. Repeats everything with a failing allocation.
#include "frontend/export/export.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/fuzz/pt2_mutate.h"
#include "tests/unit/archive_builder.h"
#include "tests/unit/pt2_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

// Lowers the program, to run it or to list its operators. The graph must pass the verifier.
static taper_status lower(const taper_allocator *allocator, taper_module *module, taper_pt2_program *program,
                          taper_error *error)
{
    static taper_registry *registry;
    static taper_types *types;
    if (registry == NULL && (taper_types_create(&taper_allocator_system, &types, NULL) != TAPER_OK ||
                             taper_registry_create(&taper_allocator_system, types, &registry, NULL) != TAPER_OK)) {
        abort();
    }
    const taper_export_options options = {.listing = program->weight_count % 2 != 0};
    taper_needs missing = {.allocator = allocator};
    module->exported = program;
    const size_t count = taper_export_methods(module);
    taper_graph **graphs = calloc(count, sizeof(taper_graph *));
    if (graphs == NULL) {
        abort();
    }
    const taper_status status = taper_export_load(module, registry, &options, graphs, &missing, error);
    module->exported = NULL;
    taper_needs_free(&missing);
    for (size_t i = 0; i < count; i++) {
        taper_graph_destroy(graphs[i]);
    }
    free(graphs);
    return status;
}

static taper_status read_module(const taper_allocator *allocator, taper_types *types, taper_blob *blob,
                                taper_error *error)
{
    taper_module module;
    taper_pt2_program program = {.major = 0};
    taper_status status = taper_module_init(allocator, types, &module, error);
    if (status == TAPER_OK) {
        module.blob = &blob->head;
        taper_obj_retain(module.blob);
        status = taper_pt2_read(blob, &module, &program, error);
    }
    if (status == TAPER_OK) {
        taper_text text = taper_text_make(&taper_allocator_system);
        for (const taper_pt2_program *p = &program; p != NULL; p = p->next) {
            pt2_text_program(&text, p);
        }
        taper_text_free(&text);
        status = lower(allocator, &module, &program, error);
    }
    taper_pt2_release(&program);
    taper_module_free(&module);
    return status;
}

static taper_status load_with(failing_allocator *failing, const uint8_t *data, size_t size)
{
    taper_types *types;
    taper_blob *blob;
    taper_error *error = taper_error_create();
    taper_status status = taper_types_create(&failing->allocator, &types, error);
    if (status == TAPER_OK) {
        status = taper_blob_from_memory(&failing->allocator, data, size, NULL, NULL, &blob, error);
        if (status == TAPER_OK) {
            status = read_module(&failing->allocator, types, blob, error);
            taper_obj_release(&blob->head);
        }
    }
    if (taper_error_status(error) != status) {
        abort(); // the reader failed without a message
    }
    taper_error_destroy(error);
    taper_types_release(types);
    failing_end(failing);
    return status;
}

static void load(const uint8_t *data, size_t size)
{
    failing_allocator failing;
    failing_start(&failing, 0);
    const taper_status status = load_with(&failing, data, size);
    failing_start(&failing, failing_place(data, size, failing.calls));
    const taper_status failed = load_with(&failing, data, size);
    if (failed != status && failed != TAPER_ERROR_RESOURCE) {
        abort();
    }
}

static void load_records(const bytes *program, const void *table, size_t table_size, bool legacy, bool several)
{
    static const uint8_t weight[64] = {1, 2, 3};
    builder b = {.count = 0};
    if (legacy) {
        builder_add(&b, "serialized_exported_program.json", program->data, program->size, BUILD_NO_PADDING);
        builder_add(&b, "version", "8.2", 3, BUILD_NO_PADDING);
    } else {
        builder_add(&b, "m/models/model.json", program->data, program->size, BUILD_NO_PADDING);
        builder_add(&b, "m/data/weights/model_weights_config.json", table, table_size, BUILD_NO_PADDING);
        builder_add(&b, "m/data/weights/weight_0", weight, sizeof weight, 0);
        builder_add(&b, "m/archive_version", "0", 1, BUILD_NO_PADDING);
        if (several) {
            builder_add(&b, "m/models/other.json", program->data, program->size, BUILD_NO_PADDING);
            builder_add(&b, "m/data/weights/other_weights_config.json", table, table_size, BUILD_NO_PADDING);
        }
    }
    bytes file = builder_finish(&b, false, "");
    load(file.data, file.size);
    bytes_free(&file);
}

static void add_text(bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

// Makes a program that returns a weight. packing: JSON of the nesting of its inputs.
static bytes small_program(const uint8_t *packing, size_t size)
{
    bytes b = {.data = NULL};
    add_text(&b, "{\"graph_module\": {\"graph\": {\"inputs\": [{\"as_tensor\": {\"name\": \"w\"}}], \"outputs\": "
                 "[{\"as_tensor\": {\"name\": \"w\"}}], \"nodes\": []}, \"signature\": {\"input_specs\": "
                 "[{\"parameter\": {\"arg\": {\"name\": \"w\"}, \"parameter_name\": \"w\"}}], \"output_specs\": "
                 "[{\"user_output\": {\"arg\": {\"as_tensor\": {\"name\": \"w\"}}}}]}, \"module_call_graph\": "
                 "[{\"fqn\": \"\", \"signature\": {\"out_spec\": \"[1, {}]\", \"in_spec\": \"");
    for (size_t i = 0; i < size; i++) {
        if (packing[i] == '"' || packing[i] == '\\') {
            add_text(&b, "\\");
        }
        bytes_add(&b, &packing[i], 1);
    }
    add_text(&b, "\"}}], \"treespec_namedtuple_fields\": {\"T\": {\"field_names\": [\"x\", \"y\"]}}}}");
    return b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char table[] = "{\"config\": {\"w\": {\"path_name\": \"weight_0\", \"tensor_meta\": {\"dtype\": 7, "
                                "\"sizes\": [{\"as_int\": 2}], \"strides\": [{\"as_int\": 1}], \"layout\": 7}}}}";
    static const char no_arguments[] = "[1, {\"type\": \"builtins.tuple\", \"children_spec\": []}]";
    load(data, size);
    if (size < 2 || (data[0] != '{' && data[0] != '[')) {
        return 0;
    }
    bytes given = {.data = NULL}, around = small_program(data, size),
          usual = small_program((const uint8_t *)no_arguments, sizeof no_arguments - 1);
    bytes_add(&given, data, size);
    load_records(&given, table, sizeof table - 1, false, size % 2 != 0);
    load_records(&given, NULL, 0, true, false);
    load_records(&around, table, sizeof table - 1, false, false);
    load_records(&usual, data, size, false, size % 2 != 0);
    bytes_free(&given);
    bytes_free(&around);
    bytes_free(&usual);
    return 0;
}

#ifdef TAPER_HAS_LIBFUZZER
// Every second mutation changes the structure of an archive. Random changes of bytes are usually refused immediately,
// because their checksum is wrong.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static pt2_sample sample; // static because it is too large for the stack
    if (seed % 2 != 0 || !pt2_sample_read(data, size, &sample)) {
        return LLVMFuzzerMutate(data, size, room);
    }
    bytes file = sample.count != 0 ? pt2_mutate(&sample, 1, seed) : (bytes){.data = NULL};
    pt2_sample_free(&sample);
    const bool fits = file.size != 0 && file.size <= room;
    if (fits) {
        memcpy(data, file.data, file.size);
    }
    const size_t made = fits ? file.size : 0;
    bytes_free(&file);
    return made != 0 ? made : LLVMFuzzerMutate(data, size, room);
}
#endif
