// SPDX-License-Identifier: BSD-2-Clause
// taper bundle: stores sample inputs in the model file, in the form of torch.utils.bundled_inputs.
#include <stdio.h>
#include <stdlib.h>

#include "common/args.h"
#include "common/errors.h"
#include "taper/calls.h"
#include "taper/commands.h"
#include "taper/inputs.h"
#include "taper/opened_draft.h"
#include "taper/vision.h"

static const char usage[] =
    "usage: taper bundle MODEL -i INPUT… -o OUT [options]\n"
    "       taper bundle MODEL --calls FILE.json -o OUT [options]\n"
    "       taper bundle MODEL --strip -o OUT [options]\n\n"
    "Puts sample inputs into a model, where `taper run --bundled K` and speed_benchmark_torch find them.\n\n"
    "  -i, --input INPUT   the arguments of one sample, as for `taper run`\n"
    "  --calls FILE.json   several samples, of any methods: [{\"method\": NAME, \"inputs\": [INPUT…]}, …]\n"
    "  --method NAME       the method that -i is for (default: forward)\n"
    "  --replace           take out the samples that the model carries first; without it such a model is refused\n"
    "  --strip             take them out, and put none in\n" PICTURE_OPTION_USAGE SAVE_OPTION_USAGE;

typedef struct bundle_arguments {
    arg_texts positional, inputs;
    const char *calls, *method;
    bool replace, strip;
    save_arguments save;
    vision_options vision;
} bundle_arguments;

static bool add(const opened_draft *opened, const char *method, const call_inputs *inputs)
{
    return taper_draft_bundle(opened->draft, method, inputs->values, inputs->count, opened->error) == TAPER_OK ||
           error_report_library(opened->path, opened->error);
}

static bool add_calls(const opened_draft *opened, const opened_model *model, const char *path, const json_value *calls)
{
    char *folder = calls_folder(path);
    bool done = calls->count != 0 || error_report(path, "holds no calls: there is nothing to bundle");
    for (size_t i = 0; done && i < calls->count; i++) {
        const json_value *call = &calls->items[i];
        call_inputs inputs;
        done = inputs_from_json(model, call_method(call), call_items(call), folder, i, &inputs);
        if (done) {
            done = add(opened, call_method(call), &inputs);
            inputs_release(&inputs);
        }
    }
    free(folder);
    return done;
}

static bool bundle(const bundle_arguments *a, const opened_draft *opened)
{
    if ((a->replace || a->strip) && taper_draft_unbundle(opened->draft, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    if (a->strip) {
        return true;
    }
    const opened_model model = {.path = opened->path,
                                .error = opened->error,
                                .context = opened->context,
                                .vision = &a->vision,
                                .model = (taper_model *)(uintptr_t)taper_draft_model(opened->draft)};
    if (a->calls != NULL) {
        json_value *calls;
        const bool done = calls_read(a->calls, &calls) && add_calls(opened, &model, a->calls, calls);
        json_free(calls);
        return done;
    }
    call_inputs inputs;
    if (!inputs_from_texts(&model, a->method, &a->inputs, &inputs)) {
        return false;
    }
    const bool done = add(opened, a->method, &inputs);
    inputs_release(&inputs);
    return done;
}

static int check(const bundle_arguments *a, taper_save_options *save)
{
    if (a->strip && (a->replace || a->calls != NULL || a->inputs.count != 0 || a->method != NULL)) {
        return error_usage(usage, "--strip only takes samples out: --replace puts others in their place");
    }
    if (a->calls != NULL && (a->inputs.count != 0 || a->method != NULL)) {
        return error_usage(usage, "--calls takes the place of -i and --method");
    }
    if (a->calls == NULL && a->inputs.count == 0 && !a->strip) {
        return error_usage(usage, "-i INPUT is missing: what shall be bundled?");
    }
    return save_arguments_check(&a->save, usage, save);
}

int command_bundle(int argc, char **argv)
{
    bundle_arguments a = {0};
    vision_options_init(&a.vision);
    const arg_option rows[] = {{"--input", 'i', ARG_TEXTS, &a.inputs, 0, 0},
                               {"--calls", 0, ARG_TEXT, &a.calls, 0, 0},
                               {"--method", 0, ARG_TEXT, &a.method, 0, 0},
                               {"--replace", 0, ARG_FLAG, &a.replace, 0, 0},
                               {"--strip", 0, ARG_FLAG, &a.strip, 0, 0},
                               PICTURE_OPTION_ROWS(a.vision),
                               SAVE_OPTION_ROWS(a.save)};
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, 1, "MODEL is missing", &a.positional};
    taper_save_options save;
    opened_draft opened;
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = check(&a, &save);
    }
    if (status == ARGS_GO_ON) {
        status = EXIT_WORK_FAILED;
        if (draft_open(&opened, a.positional.items[0], NULL, 0, &a.save)) {
            status = bundle(&a, &opened) && draft_save(&opened, a.save.output, &save) ? 0 : EXIT_WORK_FAILED;
            draft_close(&opened);
        }
    }
    args_release(&table);
    return status;
}
