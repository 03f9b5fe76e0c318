// SPDX-License-Identifier: BSD-2-Clause
// taper quantize: converts a float model to 8-bit integers, calibrated with samples.
#include "taper/quantize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/stats.h"
#include "common/suffix.h"
#include "common/terminal.h"
#include "taper/calibration.h"
#include "taper/commands.h"
#include "taper/opened_draft.h"
#include "taper/run_limits.h"
#include "taper/settings.h"

static const char usage[] =
    "usage: taper quantize MODEL -o OUT --mode core|full|dynamic --calibrate DIR-or-FILE… [options]\n\n"
    "Writes a model that computes with 8-bit integers, for the lite interpreter and PyTorch's QNNPACK engine, and\n"
    "reports how far it is from the float model.\n\n"
    "  --mode core|full|dynamic\n"
    "                      core: integers inside, float tensors in and out; full: quint8 tensors in and out, `taper`\n"
    "                      quantizes float inputs for it, as its taper.json says; dynamic: only linear and recurrent\n"
    "                      layers, whose inputs are quantized as they come, no samples needed\n"
    "  --calibrate PATH    samples of the input: .npy files, pictures, .json files with an array of inputs as for\n"
    "                      `taper run`, or folders of these; further FILEs may follow\n"
    "  --keep-float LAYER  a layer, or a module with all its layers, that stays float; may be given several times\n"
    "  --observer NAME     what chooses ranges: histogram (default), min-max, moving-average or percentile\n"
    "  --percentile P      of the values that the percentile observer covers (default: 99.99)\n"
    "  --per-channel       a scale for each output channel of the weights\n"
    "  --bias-correction   biases make up for what rounding the weights changes on average\n"
    "  --equalize          bring the weights of neighbouring layers to like ranges first\n"
    "  --compare N         samples to compare float and int8 with (default: 8; 0: none)\n"
    "  --report FILE       write the comparison of all layers as JSON\n"
    "  --preserve METHOD   keep this method too, besides forward and those of bundled inputs\n" VISION_OPTION_USAGE
        SAVE_OPTION_USAGE RUN_LIMIT_USAGE;

typedef struct quantize_arguments {
    arg_texts positional, calibrate, keep_float, preserve;
    save_arguments save;
    run_limits limits;
    vision_options vision;
    const char *mode, *observer, *percentile, *report;
    bool per_channel, bias_correction, equalize;
    long compare;
} quantize_arguments;

// ---- options

static int find_name(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int check(const quantize_arguments *a, taper_save_options *save, taper_quantize_options *options)
{
    static const char *const modes[] = {"core", "full", "dynamic"}; // names in the order of taper_quantize_mode
    static const char *const observers[] = {"histogram", "min-max", "moving-average", "percentile"};
    const int mode = a->mode != NULL ? find_name(modes, sizeof modes / sizeof *modes, a->mode) : -1;
    const int observer =
        a->observer != NULL ? find_name(observers, sizeof observers / sizeof *observers, a->observer) : 0;
    if (a->mode == NULL) {
        return error_usage(usage, "--mode is missing: core, full or dynamic");
    }
    if (mode < 0) {
        return error_usage(usage, "--mode: there is no mode \"%s\": core, full and dynamic are", a->mode);
    }
    if (observer < 0) {
        return error_usage(
            usage, "--observer: there is no observer \"%s\": histogram, min-max, moving-average and percentile are",
            a->observer);
    }
    if (mode != TAPER_QUANTIZE_DYNAMIC && a->calibrate.count == 0 && a->positional.count < 2) {
        return error_usage(usage, "--calibrate is missing: which samples shall the ranges be taken from?");
    }
    *options = (taper_quantize_options){.struct_size = sizeof *options,
                                        .mode = (taper_quantize_mode)mode,
                                        .observer = (taper_observer_kind)observer,
                                        .per_channel = a->per_channel,
                                        .bias_correction = a->bias_correction,
                                        .equalize = a->equalize,
                                        .keep_float = a->keep_float.items,
                                        .keep_float_count = a->keep_float.count,
                                        .preserve = a->preserve.items,
                                        .preserve_count = a->preserve.count};
    if (a->percentile != NULL && (!args_parse_double(a->percentile, &options->percentile) ||
                                  !(options->percentile > 50 && options->percentile <= 100))) {
        return error_usage(usage, "--percentile: \"%s\" is not a number above 50 and at most 100", a->percentile);
    }
    return save_arguments_check(&a->save, usage, save);
}

// ---- quantizing the model

typedef struct quantizing {
    opened_model opened; // context, session and options of the float model; the calibrator owns the model itself
    taper_calibrator *calibrator;
    file_list files;
    vision v;
    bool has_vision;
} quantizing;

static bool is_array(const char *path)
{
    return suffix_among(path, ".npy .npz");
}

static bool open_model(quantizing *q, const quantize_arguments *a, const taper_quantize_options *options)
{
    taper_context_options context = {.struct_size = sizeof context};
    taper_load_options load = {.struct_size = sizeof load, .compiler = taper_compiler()};
    load_limits_apply(&a->save.limits, &load);
    opened_model *o = &q->opened;
    *o = (opened_model){.path = a->positional.items[0], .error = taper_error_create(), .has_context = true};
    if (o->error == NULL) {
        return error_report_memory(o->path);
    }
    if (!cpu_mask_read(a->save.cpu, &context.cpu_mask)) {
        return false;
    }
    if (taper_context_create(&context, &o->context, o->error) != TAPER_OK ||
        taper_calibrator_load(o->context, o->path, &load, options, &q->calibrator, o->error) != TAPER_OK) {
        return error_report_library(o->path, o->error);
    }
    o->model = taper_calibrator_model(q->calibrator);
    bool pictures = false;
    for (size_t i = 0; i < q->files.count; i++) {
        pictures = pictures || !is_array(q->files.paths[i]);
    }
    q->has_vision = pictures && vision_create(o, &a->vision, false, &q->v);
    return !pictures || q->has_vision;
}

static void close_model(quantizing *q)
{
    if (q->has_vision) {
        vision_release(&q->v);
    }
    taper_calibrator_release(q->calibrator);
    q->opened.model = NULL; // NULL, because the calibrator has released the model
    model_close(&q->opened);
    file_list_release(&q->files);
}

typedef taper_status (*calibrator_step)(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                                        taper_error *error);

// Returns the subject of the error about a sample that failed. It is the model's path if no layer was found although
// the float model accepts the sample, otherwise the sample's path.
static const char *subject_of(const quantizing *q, const char *path, const call_inputs *inputs)
{
    taper_session *session;
    taper_value *result;
    const char *subject = path;
    if (taper_calibrator_layer_count(q->calibrator) == 0 &&
        taper_session_create(q->opened.model, NULL, &session, NULL) == TAPER_OK) {
        if (taper_session_run(session, NULL, inputs->values, inputs->count, &result, NULL) == TAPER_OK) {
            subject = q->opened.path;
            taper_value_release(result);
        }
        taper_session_destroy(session);
    }
    return subject;
}

static bool for_samples(quantizing *q, const char *what, size_t count, calibrator_step step)
{
    progress p;
    bool done = true;
    progress_begin(&p, what);
    for (size_t i = 0; done && i < count; i++) {
        call_inputs inputs;
        // If only `count` samples are used, they are spread evenly over the whole list.
        const char *path = q->files.paths[i * q->files.count / count];
        progress_step(&p, i, count);
        done = calibration_inputs(&q->opened, &q->v, path, &inputs);
        if (done && step(q->calibrator, inputs.values, inputs.count, q->opened.error) != TAPER_OK) {
            progress_end(&p);
            done = error_report_library(subject_of(q, path, &inputs), q->opened.error);
        }
        if (done || inputs.values != NULL) {
            inputs_release(&inputs);
        }
    }
    progress_end(&p);
    return done;
}

static bool save_model(quantizing *q, const char *path, const taper_save_options *save)
{
    opened_draft opened = {.path = q->opened.path, .error = q->opened.error, .context = q->opened.context};
    if (taper_calibrator_finish(q->calibrator, &opened.draft, opened.error) != TAPER_OK) {
        return error_report_library(opened.path, opened.error);
    }
    taper_save_options options = *save;
    char *settings;
    bool done = settings_with_inputs(&q->opened, q->calibrator, &settings, &options.extra_size);
    options.extra_name = done && settings != NULL ? settings_name : NULL;
    options.extra_data = settings;
    done = done && draft_save(&opened, path, &options);
    free(settings);
    taper_draft_release(opened.draft);
    return done;
}

static bool quantize(quantizing *q, const quantize_arguments *a, const taper_quantize_options *options,
                     const taper_save_options *save)
{
    const double begin = clock_seconds();
    bool done = true;
    for (size_t i = 0; done && i < a->calibrate.count; i++) {
        done = calibration_add(&q->files, a->calibrate.items[i]);
    }
    for (size_t i = 1; done && i < a->positional.count; i++) {
        done = calibration_add(&q->files, a->positional.items[i]);
    }
    done = done && open_model(q, a, options);
    if (done && options->mode != TAPER_QUANTIZE_DYNAMIC) {
        done = for_samples(q, "calibrating", q->files.count, taper_calibrator_run);
    }
    const size_t compared = (size_t)a->compare < q->files.count ? (size_t)a->compare : q->files.count;
    done = done && save_model(q, a->save.output, save) &&
           for_samples(q, "comparing", compared, taper_calibrator_compare) &&
           quantize_report(&(quantize_figures){.calibrator = q->calibrator,
                                               .error = q->opened.error,
                                               .model = q->opened.path,
                                               .output = a->save.output,
                                               .samples = q->files.count,
                                               .compared = compared,
                                               .seconds = clock_seconds() - begin,
                                               .peak_kb = stats_peak_rss_kb()},
                           a->report);
    return done;
}

int command_quantize(int argc, char **argv)
{
    quantize_arguments a = {.compare = 8};
    vision_options_init(&a.vision);
    const arg_option rows[] = {{"--mode", 0, ARG_TEXT, &a.mode, 0, 0},
                               {"--calibrate", 0, ARG_TEXTS, &a.calibrate, 0, 0},
                               {"--keep-float", 0, ARG_TEXTS, &a.keep_float, 0, 0},
                               {"--observer", 0, ARG_TEXT, &a.observer, 0, 0},
                               {"--percentile", 0, ARG_TEXT, &a.percentile, 0, 0},
                               {"--per-channel", 0, ARG_FLAG, &a.per_channel, 0, 0},
                               {"--bias-correction", 0, ARG_FLAG, &a.bias_correction, 0, 0},
                               {"--equalize", 0, ARG_FLAG, &a.equalize, 0, 0},
                               {"--compare", 0, ARG_COUNT, &a.compare, 0, 1000000},
                               {"--report", 0, ARG_TEXT, &a.report, 0, 0},
                               {"--preserve", 0, ARG_TEXTS, &a.preserve, 0, 0},
                               VISION_OPTION_ROWS(a.vision),
                               SAVE_OPTION_ROWS(a.save),
                               RUN_LIMIT_ROWS(a.limits)};
    const arg_table table = {usage,        rows, sizeof rows / sizeof *rows, 1, (size_t)argc, "MODEL is missing",
                             &a.positional};
    taper_save_options save;
    taper_quantize_options options;
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = check(&a, &save, &options);
    }
    taper_session_options budgets;
    if (status == ARGS_GO_ON) {
        status = run_limits_read(&a.limits, usage, &budgets);
        options.budgets = &budgets;
    }
    if (status == ARGS_GO_ON) {
        quantizing q = {0};
        status = quantize(&q, &a, &options, &save) ? 0 : EXIT_WORK_FAILED;
        close_model(&q);
    }
    args_release(&table);
    return status;
}
