// SPDX-License-Identifier: BSD-2-Clause
// taper optimize: does the work of torch.utils.mobile_optimizer.optimize_for_mobile and _save_for_lite_interpreter.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_device.h>

#include "common/args.h"
#include "common/errors.h"
#include "common/waiting.h"
#include "taper/commands.h"
#include "taper/inputs.h"
#include "taper/opened_draft.h"
#include "taper/opened_model.h"
#include "taper/pass_names.h"
#include "taper/placement.h"

static const char usage[] =
    "usage: taper optimize MODEL -o OUT [options]\n"
    "       taper optimize --list-passes\n\n"
    "Prepares a TorchScript or lite model for phones: folds batch norm and constants, packs weights for a backend, "
    "fuses\n"
    "activations, and writes a model for the lite interpreter.\n\n"
    "  --backend NAME      whose packed weights: cpu (XNNPACK), vulkan or metal (default: cpu), or nnapi: what NNAPI\n"
    "                      can do becomes modules for it; every such file also runs on the CPU\n"
    "  -i, --input INPUT   for nnapi: a sample of the inputs, whose sizes the file is made for (default: the first\n"
    "                      bundled ones)\n"
    "  --backend-options LIST  for nnapi: layout=nhwc|pytorch|pytorch_nhwc, flexible=none|batch|sizes, level=27..31 "
    "(29),\n"
    "                      relax_f32_to_f16=0|1, preference=low_power|fast_single_answer|sustained_speed, "
    "comma-separated\n"
    "  --report            for nnapi: a line for every operator\n"
    "  --preserve METHOD   keep this method too, besides forward and those of bundled inputs\n"
    "  --disable PASS,…    leave out passes; PyTorch's names (CONV_BN_FUSION, …) are known too\n"
    "  --list-passes       print the names of the passes in their order\n"
    "  --operators         print the operators before and after\n"
    "  --graph             print the graph of forward before and after\n" SAVE_OPTION_USAGE;

typedef struct optimize_arguments {
    arg_texts positional, preserve, disable, inputs;
    save_arguments save;
    const char *backend, *backend_options;
    taper_device_choice device; // the device that `backend` names
    taper_nnapi_conversion nnapi;
    bool list_passes, operators, graph, report;
} optimize_arguments;

static bool is_nnapi(const optimize_arguments *arguments)
{
    return arguments->device.kind == TAPER_DEVICE_NNAPI;
}

static void put_passes(void)
{
    for (size_t i = 0; i < taper_compiler_pass_count(); i++) {
        const int stages = taper_compiler_pass_stages(i);
        printf("%-18s %s%s\n", taper_compiler_pass_name(i), taper_compiler_pass_summary(i),
               stages == TAPER_PASS_AT_LOAD    ? " (at load)"
               : stages == TAPER_PASS_IN_DRAFT ? ""
                                               : " (and at load)");
    }
}

static bool put_operators(const opened_draft *opened, const char *title)
{
    size_t count;
    if (taper_draft_operators(opened->draft, &count, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    printf("%s:\n", title);
    for (size_t i = 0; i < count; i++) {
        const char *name = taper_draft_operator_name(opened->draft, i);
        printf("  %6zu  ", taper_draft_operator_calls(opened->draft, i));
        text_put(stdout, name, strlen(name), false);
        fputc('\n', stdout);
    }
    return true;
}

static int put_text(void *user, const void *text, size_t length)
{
    text_put(user, text, length, true);
    return 0;
}

static bool put_state(const optimize_arguments *arguments, const opened_draft *opened, const char *title)
{
    if (arguments->graph) {
        printf("%s:\n", title);
        if (taper_draft_print(opened->draft, NULL, put_text, stdout, opened->error) != TAPER_OK) {
            return error_report_library(opened->path, opened->error);
        }
    }
    return !arguments->operators || put_operators(opened, title);
}

// Reads the inputs for a conversion to NNAPI: those that options give, otherwise the model's first bundled sample.
static bool read_inputs(const optimize_arguments *arguments, const opened_draft *opened, opened_model *model,
                        call_inputs *inputs)
{
    const model_options options = {.cpu = arguments->save.cpu, .limits = arguments->save.limits};
    if (arguments->inputs.count != 0) {
        const opened_model draft = {.path = opened->path,
                                    .error = opened->error,
                                    .context = opened->context,
                                    .model = (taper_model *)(uintptr_t)taper_draft_model(opened->draft)};
        return inputs_from_texts(&draft, NULL, &arguments->inputs, inputs);
    }
    return model_open(model, opened->path, &options) && inputs_from_bundle(model, NULL, 0, inputs);
}

static bool optimize(const optimize_arguments *arguments, const opened_draft *opened, const taper_save_options *save)
{
    opened_model model = {0};
    call_inputs inputs = {0};
    placement placed = {0};
    if (is_nnapi(arguments) && !read_inputs(arguments, opened, &model, &inputs)) {
        if (model.path != NULL) {
            model_close(&model);
        }
        return false;
    }

    pass_names disabled;
    if (!pass_names_read(&arguments->disable, NULL, &disabled)) {
        return error_report_memory(opened->path);
    }
    const taper_optimize_options options = {.struct_size = sizeof options,
                                            .device = arguments->device.kind,
                                            .preserve = arguments->preserve.items,
                                            .preserve_count = arguments->preserve.count,
                                            .disabled_passes = disabled.items,
                                            .disabled_pass_count = disabled.count,
                                            .inputs = inputs.values,
                                            .input_count = inputs.count,
                                            .nnapi = &arguments->nnapi,
                                            .report = placement_add,
                                            .report_user = &placed};
    const size_t before = taper_draft_node_count(opened->draft);
    bool done = put_state(arguments, opened, "before");
    if (done) {
        waiting shown;
        waiting_begin(&shown, "optimizing", opened->path);
        done = taper_draft_optimize(opened->draft, &options, opened->error) == TAPER_OK;
        waiting_end(&shown);
        done = done || error_report_library(opened->path, opened->error);
    }
    pass_names_free(&disabled);
    done = done && put_state(arguments, opened, "after") && draft_save(opened, arguments->save.output, save);
    if (done) {
        printf("%s: %zu nodes, %zu before\n", arguments->save.output, taper_draft_node_count(opened->draft), before);
    }
    if (is_nnapi(arguments) && (done || placed.count != 0)) {
        placement_print(&placed, arguments->report);
    }
    placement_free(&placed);
    inputs_release(&inputs);
    if (model.path != NULL) {
        model_close(&model);
    }
    return done;
}

// Parses --backend and --backend-options. Returns ARGS_GO_ON, or the exit status after a wrong option was reported.
static int read_backend(optimize_arguments *arguments)
{
    static const taper_device_kind known[] = {TAPER_DEVICE_CPU, TAPER_DEVICE_VULKAN, TAPER_DEVICE_METAL,
                                              TAPER_DEVICE_NNAPI};
    const char *backend = arguments->backend != NULL ? arguments->backend : "cpu";
    arguments->device.struct_size = sizeof arguments->device;
    arguments->nnapi.struct_size = sizeof arguments->nnapi;
    for (size_t i = 0; strcmp(backend, taper_device_kind_name(known[i])) != 0;) {
        if (++i == sizeof known / sizeof *known) {
            return error_usage(usage, "--backend: there is no backend \"%s\": cpu, vulkan, metal and nnapi are",
                               backend);
        }
    }
    taper_error *error = taper_error_create();
    int status = ARGS_GO_ON;
    if (taper_device_parse(backend, &arguments->device, error) != TAPER_OK ||
        taper_nnapi_conversion_parse(arguments->backend_options, &arguments->nnapi, error) != TAPER_OK) {
        status = error_usage(usage, "--backend-options: %s", taper_error_message(error));
    }
    taper_error_destroy(error);
    return status;
}

static int check(optimize_arguments *arguments, taper_save_options *save)
{
    if (arguments->list_passes) {
        put_passes();
        return 0;
    }
    if (arguments->positional.count == 0) {
        return error_usage(usage, "MODEL is missing");
    }
    const int backend = read_backend(arguments);
    if (backend != ARGS_GO_ON) {
        return backend;
    }
    if (!is_nnapi(arguments) &&
        (arguments->inputs.count != 0 || arguments->backend_options != NULL || arguments->report)) {
        return error_usage(usage, "-i, --backend-options and --report are for --backend nnapi");
    }
    const int status = passes_check(&arguments->disable, usage);
    return status != ARGS_GO_ON ? status : save_arguments_check(&arguments->save, usage, save);
}

int command_optimize(int argc, char **argv)
{
    optimize_arguments a = {0};
    const arg_option rows[] = {{"--backend", 0, ARG_TEXT, &a.backend, 0, 0},
                               {"--input", 'i', ARG_TEXTS, &a.inputs, 0, 0},
                               {"--backend-options", 0, ARG_TEXT, &a.backend_options, 0, 0},
                               {"--report", 0, ARG_FLAG, &a.report, 0, 0},
                               {"--preserve", 0, ARG_TEXTS, &a.preserve, 0, 0},
                               {"--disable", 0, ARG_TEXTS, &a.disable, 0, 0},
                               {"--list-passes", 0, ARG_FLAG, &a.list_passes, 0, 0},
                               {"--operators", 0, ARG_FLAG, &a.operators, 0, 0},
                               {"--graph", 0, ARG_FLAG, &a.graph, 0, 0},
                               SAVE_OPTION_ROWS(a.save)};
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 0, 1, "MODEL is missing", &a.positional};
    taper_save_options save;
    opened_draft opened;
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = check(&a, &save);
    }
    if (status == ARGS_GO_ON) {
        status = EXIT_WORK_FAILED;
        // If the user lists no methods to preserve, the file keeps only forward, so only forward is read.
        static const char *const none[] = {NULL};
        if (draft_open(&opened, a.positional.items[0], a.preserve.count != 0 ? a.preserve.items : none,
                       a.preserve.count, &a.save)) {
            status = optimize(&a, &opened, &save) ? 0 : EXIT_WORK_FAILED;
            draft_close(&opened);
        }
    }
    args_release(&table);
    return status;
}
