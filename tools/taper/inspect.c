// SPDX-License-Identifier: BSD-2-Clause
// taper inspect: prints the contents of a model file.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/markup.h"
#include "common/suffix.h"
#include "taper/bench_inputs.h"
#include "taper/commands.h"
#include "taper/inputs.h"
#include "taper/inspect_detail.h"

static const char usage[] =
    "usage: taper inspect MODEL [--lint] [--graph] [--memory] [-i INPUT…] [--json]\n\n"
    "Shows the versions, methods, extra files and operators of a model file, and which operators this build lacks.\n\n"
    "  --lint              what had better be otherwise before the file goes to phones: no bundled input, training\n"
    "                      mode, dropout, batch norm, gradients, float64, the same weights twice\n"
    "  --graph             the methods as graphs, as they run after optimization; with --no-optimize as they are\n"
    "                      before it; with inputs forward is run once and shows the shapes of its values\n"
    "  --memory            run forward once and draw the memory plan, and that of each part which runs on --device;\n"
    "                      inputs as for `taper bench`:\n"
    "  -o, --output FILE   draw it instead, as FILE.svg or FILE.html for a browser: of --graph forward alone\n"
    "  -i, --input INPUT   an input\n"
    "  --bundled K         the model's bundled inputs, number K\n"
    "  --input-dims D;…    float tensors of ones: 1,3,224,224\n"
    "  --json              the same as JSON\n" MODEL_OPTION_USAGE;

enum { DEPTH_LIMIT = 64, ATTRIBUTE_LIMIT = 1 << 20 };

typedef struct parameter_count {
    uint64_t tensors, elements;
    size_t visited;
} parameter_count;

// Counts the tensors inside of an object. Objects may refer to each other, so the depth and the number of visits are
// limited.
static void count_tensors(const taper_value *value, int depth, parameter_count *count)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    if (depth > DEPTH_LIMIT || ++count->visited > ATTRIBUTE_LIMIT) {
        return;
    }
    if (taper_value_kind(value) == TAPER_KIND_TENSOR && taper_value_get_tensor(value, &info, NULL) == TAPER_OK) {
        uint64_t elements = 1;
        for (size_t i = 0; i < info.rank; i++) {
            elements *= (uint64_t)info.sizes[i];
        }
        count->tensors++;
        count->elements += elements;
        return;
    }
    for (size_t i = 0; i < taper_value_count(value); i++) {
        taper_value *item;
        if (taper_value_item(value, i, &item, NULL) == TAPER_OK) {
            count_tensors(item, depth + 1, count);
            taper_value_release(item);
        }
    }
}

static size_t count_missing(const taper_model *model)
{
    size_t missing = 0;
    for (size_t i = 0; i < taper_model_operator_count(model); i++) {
        missing += (size_t)taper_model_operator_missing(model, i);
    }
    return missing;
}

static parameter_count count_parameters(const opened_model *opened)
{
    parameter_count count = {0};
    taper_value *root;
    if (opened->session != NULL && taper_session_attribute(opened->session, "", &root, NULL) == TAPER_OK) {
        count_tensors(root, 0, &count);
        taper_value_release(root);
    }
    return count;
}

static void put_plain(const char *text)
{
    text_put(stdout, text, strlen(text), false);
}

static void put_signature(const taper_model *model, const char *method)
{
    const int count = taper_model_method_arguments(model, method);
    put_plain(method);
    fputc('(', stdout);
    for (int i = 0; i < count; i++) {
        const char *name = taper_model_argument_name(model, method, (size_t)i);
        const char *type = taper_model_argument_text(model, method, (size_t)i);
        fputs(i != 0 ? ", " : "", stdout);
        put_plain(name != NULL ? name : "?");
        fputs(": ", stdout);
        put_plain(type != NULL ? type : "?");
    }
    fputs(count < 0 ? "…)" : ")", stdout);
    const char *returns = taper_model_return_text(model, method);
    if (returns != NULL) {
        fputs(" -> ", stdout);
        put_plain(returns);
    }
}

static void put_text(const opened_model *opened)
{
    taper_model *model = opened->model;
    const parameter_count parameters = count_parameters(opened);
    put_plain(opened->path);
    fputs("\n  class      ", stdout);
    put_plain(taper_model_name(model));
    if (taper_model_exported_by(model) != NULL) {
        fputs("\n  exported   program of PyTorch ", stdout);
        put_plain(taper_model_exported_by(model));
        fputs("\n", stdout);
    } else if (taper_model_bytecode_version(model) == 0) {
        printf("\n  TorchScript, operators version %" PRId64 "\n", taper_model_operator_version(model));
    } else {
        printf("\n  bytecode   version %" PRId64 ", operators version %" PRId64 "\n",
               taper_model_bytecode_version(model), taper_model_operator_version(model));
    }
    if (parameters.tensors != 0) {
        printf("  tensors    %" PRIu64 " with %" PRIu64 " elements\n", parameters.tensors, parameters.elements);
    }
    if (taper_model_is_training(model)) {
        fputs("  mode       training, as it was saved: --eval runs it in evaluation mode, `taper optimize` writes it "
              "so\n",
              stdout);
    }
    inspect_put_facts(opened);
    fputs("\nmethods\n", stdout);
    for (size_t i = 0; i < taper_model_method_count(model); i++) {
        fputs("  ", stdout);
        put_signature(model, taper_model_method_name(model, i));
        fputc('\n', stdout);
    }
    inspect_put_bundled(opened);
    if (taper_model_extra_count(model) != 0) {
        fputs("\nextra files\n", stdout);
    }
    for (size_t i = 0; i < taper_model_extra_count(model); i++) {
        const char *name = taper_model_extra_name(model, i);
        const void *data;
        size_t size;
        fputs("  ", stdout);
        put_plain(name);
        if (taper_model_extra(model, name, &data, &size, NULL) == TAPER_OK) {
            printf("  %zu bytes", size);
        }
        fputc('\n', stdout);
    }
    const size_t missing = count_missing(model);
    printf("\noperators (%zu, ", taper_model_operator_count(model));
    printf(missing != 0 ? "%zu of them not in this build: the model cannot run)\n" : "all in this build)\n", missing);
    for (size_t i = 0; i < taper_model_operator_count(model); i++) {
        const size_t calls = taper_model_operator_calls(model, i);
        fputs("  ", stdout);
        put_plain(taper_model_operator_name(model, i));
        if (strncmp(taper_model_operator_name(model, i), "__torch__.", 10) == 0) {
            fputs("  class", stdout);
        } else {
            printf("  %zu call%s", calls, calls == 1 ? "" : "s");
        }
        puts(taper_model_operator_missing(model, i) ? "  MISSING" : "");
    }
}

// ---- JSON

static void put_string(const char *text)
{
    if (text != NULL) {
        json_put_text(stdout, text, strlen(text));
    } else {
        fputs("null", stdout);
    }
}

static void put_method(const taper_model *model, const char *method)
{
    const int count = taper_model_method_arguments(model, method);
    fputs("{\"name\": ", stdout);
    put_string(method);
    fputs(", \"arguments\": ", stdout);
    fputs(count < 0 ? "null" : "[", stdout);
    for (int i = 0; i < count; i++) {
        fputs(i != 0 ? ", {\"name\": " : "{\"name\": ", stdout);
        put_string(taper_model_argument_name(model, method, (size_t)i));
        fputs(", \"type\": ", stdout);
        put_string(taper_model_argument_text(model, method, (size_t)i));
        fputc('}', stdout);
    }
    fputs(count < 0 ? "" : "]", stdout);
    fputs(", \"returns\": ", stdout);
    put_string(taper_model_return_text(model, method));
    fputc('}', stdout);
}

// Prints counts of operators, such as "aten::add.Tensor": 3, ….
static void put_counts(const taper_model *model, bool missing_only)
{
    bool first = true;
    for (size_t i = 0; i < taper_model_operator_count(model); i++) {
        if (!missing_only || taper_model_operator_missing(model, i)) {
            fputs(first ? "" : ", ", stdout);
            put_string(taper_model_operator_name(model, i));
            printf(": %zu", taper_model_operator_calls(model, i));
            first = false;
        }
    }
}

static void put_json(const opened_model *opened)
{
    taper_model *model = opened->model;
    const parameter_count parameters = count_parameters(opened);
    fputs("{\n  \"file\": ", stdout);
    put_string(opened->path);
    fputs(",\n  \"name\": ", stdout);
    put_string(taper_model_name(model));
    printf(",\n  \"bytecode_version\": %" PRId64 ",\n  \"operator_version\": %" PRId64 ",\n",
           taper_model_bytecode_version(model), taper_model_operator_version(model));
    printf("  \"training\": %s,\n", taper_model_is_training(model) ? "true" : "false");
    inspect_put_facts_json(opened);
    if (opened->session != NULL) {
        printf("  \"tensors\": %" PRIu64 ",\n  \"elements\": %" PRIu64 ",\n", parameters.tensors, parameters.elements);
    }
    fputs("  \"methods\": [", stdout);
    for (size_t i = 0; i < taper_model_method_count(model); i++) {
        fputs(i != 0 ? ",\n    " : "\n    ", stdout);
        put_method(model, taper_model_method_name(model, i));
    }
    fputs("\n  ],\n  \"extra_files\": {", stdout);
    for (size_t i = 0; i < taper_model_extra_count(model); i++) {
        const char *name = taper_model_extra_name(model, i);
        const void *data;
        size_t size;
        fputs(i != 0 ? ", " : "", stdout);
        put_string(name);
        if (taper_model_extra(model, name, &data, &size, NULL) == TAPER_OK) {
            printf(": %zu", size);
        } else {
            fputs(": null", stdout);
        }
    }
    fputs("},\n  \"operators\": [", stdout);
    for (size_t i = 0; i < taper_model_operator_count(model); i++) {
        fputs(i != 0 ? ",\n    " : "\n    ", stdout);
        put_string(taper_model_operator_name(model, i));
    }
    fputs("\n  ],\n  \"operator_calls\": {", stdout);
    put_counts(model, false);
    fputs("},\n  \"missing_operators\": {", stdout);
    put_counts(model, true);
    fputs("}\n}\n", stdout);
}

typedef struct inspect_options {
    model_options model;
    arg_texts positional, inputs;
    const char *dims, *output;
    long bundled;
    bool graph, memory, lint, json;
} inspect_options;

static bool has_inputs(const inspect_options *options)
{
    return options->bundled >= 0 || options->dims != NULL || options->inputs.count != 0;
}

static bool read_inputs(const inspect_options *options, const opened_model *opened, call_inputs *inputs)
{
    return options->bundled >= 0   ? inputs_from_bundle(opened, NULL, (size_t)options->bundled, inputs)
           : options->dims != NULL ? bench_inputs_ones(opened, options->dims, inputs)
                                   : inputs_from_texts(opened, NULL, &options->inputs, inputs);
}

static bool inspect_memory(const inspect_options *options, const opened_model *opened)
{
    call_inputs inputs;
    if (!read_inputs(options, opened, &inputs)) {
        return false;
    }
    taper_value *result;
    const bool done = model_run(opened, NULL, inputs.values, inputs.count, &result);
    if (done) {
        taper_value_release(result);
    }
    inputs_release(&inputs);
    return done && inspect_print_memory(opened, options->json, options->output);
}

static bool inspect_graphs(const inspect_options *options, const opened_model *opened)
{
    call_inputs inputs;
    if (!has_inputs(options)) {
        return inspect_print_graphs(opened, NULL, options->output);
    }
    if (!read_inputs(options, opened, &inputs)) {
        return false;
    }
    const bool done = inspect_print_graphs(opened, &inputs, options->output);
    inputs_release(&inputs);
    return done;
}

static int inspect_checked(inspect_options *options)
{
    const int status = model_options_check(&options->model, usage);
    if (status != ARGS_GO_ON) {
        return status;
    }
    const bool running = options->graph || options->memory;
    if (options->lint && running) {
        return error_usage(usage, "--lint looks at the file, --graph and --memory at how it runs: one at a time");
    }
    if (options->output != NULL && options->graph == options->memory) {
        return error_usage(usage, "-o takes the picture of --graph or of --memory");
    }
    if (options->output != NULL && (options->json || !suffix_among(options->output, MARKUP_SUFFIXES))) {
        return error_usage(usage, "-o %.200s: pictures are written as .svg or .html, without --json", options->output);
    }
    // The printed facts describe the file, so the model is not optimized unless it runs.
    options->model.no_optimize = options->model.no_optimize || !running;
    options->model.print_to_stderr = options->json;
    // The code in the file makes the bundled inputs. This code may be malicious, so its run gets a budget.
    options->model.session = (taper_session_options){.struct_size = sizeof options->model.session,
                                                     .time_budget = running ? 0 : 2,
                                                     .memory_budget = running ? 0 : 1 << 30};
    const char *path = options->positional.items[0];
    opened_model opened;
    options->model.listing = !running;
    if (options->memory) {
        // The checks that compare the device's results with the CPU's are off, because their runs on the CPU would
        // change the memory plan that is shown.
        model_options_on_gpu(&options->model, "checks=0");
    }
    // The note about training mode is for models that run.
    options->model.quiet = !options->memory && !(options->graph && has_inputs(options));
    if (!model_open(&opened, path, &options->model)) {
        return EXIT_WORK_FAILED;
    }
    if (!running && count_missing(opened.model) == 0) { // tensors are counted only if the objects can be made
        model_close(&opened);
        options->model.listing = false;
        if (!model_open(&opened, path, &options->model)) {
            return EXIT_WORK_FAILED;
        }
    }
    bool done = true;
    if (options->lint) {
        done = inspect_print_lints(&opened, options->json);
    } else if (!running) {
        (options->json ? put_json : put_text)(&opened);
    }
    if (options->graph) {
        done = inspect_graphs(options, &opened);
    }
    if (done && options->memory) {
        done = inspect_memory(options, &opened);
    }
    model_close(&opened);
    return done ? 0 : EXIT_WORK_FAILED;
}

int command_inspect(int argc, char **argv)
{
    inspect_options options = {.bundled = -1};
    const arg_option rows[] = {
        {"--graph", 0, ARG_FLAG, &options.graph, 0, 0},
        {"--memory", 0, ARG_FLAG, &options.memory, 0, 0},
        {"--lint", 0, ARG_FLAG, &options.lint, 0, 0},
        {"--output", 'o', ARG_TEXT, &options.output, 0, 0},
        {"--input", 'i', ARG_TEXTS, &options.inputs, 0, 0},
        {"--bundled", 0, ARG_COUNT, &options.bundled, 0, 1 << 30},
        {"--input-dims", 0, ARG_TEXT, &options.dims, 0, 0},
        {"--json", 0, ARG_JSON, &options.json, 0, 0},
        MODEL_OPTION_ROWS(options.model),
    };
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, 1, "MODEL is missing", &options.positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = inspect_checked(&options);
    }
    args_release(&table);
    return status;
}
