// SPDX-License-Identifier: BSD-2-Clause
// taper run: calls one method, or a list of methods on one loaded model.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/file_list.h"
#include "common/files.h"
#include "common/terminal.h"
#include "taper/calls.h"
#include "taper/commands.h"
#include "taper/input_advice.h"
#include "taper/run_limits.h"
#include "taper/run_output.h"
#include "taper/vision.h"

static const char usage[] =
    "usage: taper run MODEL [-i INPUT]… [-o OUT] [options]\n\n"
    "Calls a method of a model. INPUT is\n"
    "  FILE.npy, FILE.npz or FILE.npz:KEY, PICTURE.png or .jpg\n"
    "  zeros:1x3x224x224, ones:…, rand:… (always the same numbers); float32, or a dtype as in ones:1x16:int64\n"
    "  JSON: 3, 2.5, true, null, '\"text\"', '[1, 2]', '{\"a\": 1}'. Where the method takes a tensor, an array is one, "
    "as\n"
    "  torch.tensor makes it; a string \"@FILE.npy\" is a tensor, and so are {\"@tensor\": [[1, 2]], \"dtype\": "
    "\"float32\"}\n"
    "  and {\"@tensor\": \"FILE.npy\", \"scale\": S, \"zero_point\": Z, \"dtype\": \"quint8\"}, a quantized one.\n\n"
    "  -i, --input INPUT   the next argument of the method; missing ones take their defaults. A folder, alone: the\n"
    "                      method is called for each array and picture in it; results are named NAME.output, …\n"
    "  --bundled K         take the arguments from the model's bundled inputs, number K (0 when no INPUT is given)\n"
    "  -o, --output FILE   store the result as FILE.npz: arrays output, output.0, output.key, …; as FILE.npy, one "
    "tensor;\n"
    "                      or as FILE.json, what --json prints\n"
    "  --json[=strict]     print the result as JSON; strict: NaN and infinities as strings, which all programs read\n"
    "  --times             with --json: how long loading and each call took, too\n"
    "  --method NAME       the method to call (default: forward)\n"
    "  --calls FILE.json   instead of -i: [{\"method\": NAME, \"inputs\": [INPUT, …]}, …], called in order;\n"
    "                      results are named 0.output, 1.output, …\n" PICTURE_OPTION_USAGE MODEL_OPTION_USAGE
        MEMORY_OPTION_USAGE RUN_LIMIT_USAGE;

typedef struct run_options {
    model_options model;
    run_limits limits;
    vision_options vision;
    arg_texts positional, inputs;
    const char *output, *method, *calls;
    long bundled; // index of the bundled sample to use as inputs; -1 to use none
    bool json, times;
} run_options;

// Calls inputs_run and measures the time of the run.
static bool run_timed(const opened_model *opened, const char *method, const call_inputs *inputs, taper_value **result,
                      run_output *output)
{
    const double begin = clock_seconds();
    const bool done = inputs_run(opened, method, inputs, result);
    output->ms = (clock_seconds() - begin) * 1e3;
    return done;
}

static bool run_once(const run_options *options, const opened_model *opened, run_output *output)
{
    call_inputs inputs;
    const bool given = options->bundled >= 0 || options->inputs.count != 0;
    const long bundled = given ? options->bundled : inputs_default(opened, options->method);
    const bool ready = bundled >= 0 ? inputs_from_bundle(opened, options->method, (size_t)bundled, &inputs)
                                    : inputs_from_texts(opened, options->method, &options->inputs, &inputs);
    if (!ready) {
        return false;
    }
    taper_value *result = NULL;
    const bool done = run_timed(opened, options->method, &inputs, &result, output) &&
                      run_output_add(output, "output", result, opened->error);
    taper_value_release(result);
    inputs_release(&inputs);
    return done;
}

// ---- a folder of inputs

// Writes the name of a result, which is the file's name without folder and extension: "cat.0" for "in/cat.0.npy".
static void name_of(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path, *dot = strrchr(base, '.');
    snprintf(name, size, "%.*s", (int)(dot != NULL ? (size_t)(dot - base) : strlen(base)), base);
}

static bool run_file(const run_options *options, const opened_model *opened, const char *path, run_output *output)
{
    const arg_texts one = {&path, 1};
    char name[300], key[320];
    call_inputs inputs;
    if (!inputs_from_texts(opened, options->method, &one, &inputs)) {
        return false;
    }
    taper_value *result = NULL;
    name_of(path, name, sizeof name);
    snprintf(key, sizeof key, "%s.output", name);
    const bool done = run_timed(opened, options->method, &inputs, &result, output) &&
                      run_output_add(output, key, result, opened->error);
    taper_value_release(result);
    inputs_release(&inputs);
    return done;
}

// Runs the model on each file of the folder and continues after a file that fails. Two files whose results would have
// the same name are an error.
static bool run_folder(const run_options *options, const opened_model *opened, run_output *output)
{
    file_list files = {0};
    char name[300], other[300];
    bool done = file_list_add(&files, options->inputs.items[0], ".npy .npz " SUFFIXES_THAT_ARE_READ, "inputs");
    for (size_t i = 0; i < files.count; i++) {
        bool good = true;
        name_of(files.paths[i], name, sizeof name);
        for (size_t k = 0; good && k < i; k++) {
            name_of(files.paths[k], other, sizeof other);
            good = strcmp(name, other) != 0 ||
                   error_report(files.paths[i], "its result would be named as that of %s", files.paths[k]);
        }
        done = good && run_file(options, opened, files.paths[i], output) && done;
    }
    file_list_release(&files);
    return done;
}

static bool is_folder(const run_options *options)
{
    return options->calls == NULL && options->inputs.count == 1 && path_is_folder(options->inputs.items[0]);
}

// ---- --calls

static bool run_call(const opened_model *opened, const json_value *call, const char *folder, size_t index,
                     run_output *output)
{
    const char *name = call_method(call);
    char key[64];
    snprintf(key, sizeof key, "%zu.output", index);
    call_inputs inputs;
    if (!inputs_from_json(opened, name, call_items(call), folder, index, &inputs)) {
        return false;
    }
    taper_value *result = NULL;
    const double begin = clock_seconds();
    bool done =
        taper_session_run(opened->session, name, inputs.values, inputs.count, &result, opened->error) == TAPER_OK;
    output->ms = (clock_seconds() - begin) * 1e3;
    if (!done) {
        char subject[512];
        snprintf(subject, sizeof subject, "%s: call %zu (%s)", opened->path, index, name != NULL ? name : "forward");
        error_report_library(subject, opened->error);
    }
    done = done && run_output_add(output, key, result, opened->error);
    taper_value_release(result);
    inputs_release(&inputs);
    return done;
}

// Runs the calls in order. If a call fails, the results of the calls before it are kept.
static bool run_calls(const opened_model *opened, const char *path, const json_value *calls, run_output *output)
{
    char *folder = calls_folder(path);
    bool done = true;
    for (size_t i = 0; done && i < calls->count; i++) {
        done = run_call(opened, &calls->items[i], folder, i, output);
    }
    free(folder);
    return done;
}

static bool run_all(const run_options *options, const opened_model *opened, const json_value *calls)
{
    run_output output;
    const bool folder = is_folder(options);
    const run_output start = {.path = options->output,
                              .json = options->json,
                              .several = calls != NULL || folder,
                              .times = options->times,
                              .model = opened->path,
                              .load_ms = opened->load_seconds * 1e3};
    if (!run_output_open(&output, &start)) {
        return false;
    }
    return run_output_close(&output, calls != NULL ? run_calls(opened, options->calls, calls, &output)
                                     : folder      ? run_folder(options, opened, &output)
                                                   : run_once(options, opened, &output));
}

static int run_checked(run_options *options)
{
    const bool listed = options->inputs.count != 0;
    if (options->calls != NULL && (listed || options->bundled >= 0 || options->method != NULL)) {
        return error_usage(usage, "--calls takes the place of -i, --bundled and --method");
    }
    if (options->bundled >= 0 && listed) {
        return error_usage(usage, "--bundled takes the place of -i");
    }
    if (options->times && !options->json) {
        return error_usage(usage, "--times goes with --json; \"taper bench\" says how fast a model is");
    }
    int status = run_output_check(options->output, options->calls != NULL || is_folder(options), usage);
    if (status == ARGS_GO_ON) {
        status = model_options_check(&options->model, usage);
    }
    if (status == ARGS_GO_ON) {
        status = run_limits_read(&options->limits, usage, &options->model.session);
    }
    if (status != ARGS_GO_ON) {
        return status;
    }
    options->model.print_to_stderr = options->json;
    json_value *calls = NULL;
    opened_model opened;
    bool done = options->calls == NULL || calls_read(options->calls, &calls);
    if (done) {
        done = model_open(&opened, options->positional.items[0], &options->model);
        if (done) {
            opened.vision = &options->vision;
            done = run_all(options, &opened, calls);
            model_close(&opened);
        }
    }
    json_free(calls);
    return done ? 0 : EXIT_WORK_FAILED;
}

int command_run(int argc, char **argv)
{
    run_options options = {.bundled = -1};
    vision_options_init(&options.vision);
    const arg_option rows[] = {
        {"--input", 'i', ARG_TEXTS, &options.inputs, 0, 0},
        {"--output", 'o', ARG_TEXT, &options.output, 0, 0},
        {"--bundled", 0, ARG_COUNT, &options.bundled, 0, 1 << 30},
        {"--method", 0, ARG_TEXT, &options.method, 0, 0},
        {"--calls", 0, ARG_TEXT, &options.calls, 0, 0},
        {"--json", 0, ARG_JSON, &options.json, 0, 0},
        {"--times", 0, ARG_FLAG, &options.times, 0, 0},
        PICTURE_OPTION_ROWS(options.vision),
        MODEL_OPTION_ROWS(options.model),
        MEMORY_OPTION_ROW(options.model),
        RUN_LIMIT_ROWS(options.limits),
    };
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, 1, "MODEL is missing", &options.positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = run_checked(&options);
    }
    args_release(&table);
    return status;
}
