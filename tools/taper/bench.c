// SPDX-License-Identifier: BSD-2-Clause
// taper bench: measures load time, first run, steady state and memory.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_inspect.h>

#include "common/errors.h"
#include "common/fresh_inputs.h"
#include "common/json_value.h"
#include "common/stats.h"
#include "common/suffix.h"
#include "common/terminal.h"
#include "taper/bench_inputs.h"
#include "taper/bench_profile.h"
#include "taper/commands.h"
#include "taper/input_advice.h"
#include "taper/run_limits.h"
#include "taper/vision.h"

static const char usage[] =
    "usage: taper bench MODEL [-i INPUT]… [options]\n\n"
    "Measures how long a model takes to load, to run for the first time and to run again, and the memory it takes.\n\n"
    "  -i, --input INPUT   as for `taper run`\n"
    "  --bundled K         use the model's bundled inputs, number K (0 when no INPUT is given)\n"
    "  --input-dims D;…    use float tensors of ones: 1,3,224,224\n"
    "  --method NAME       the method to call (default: forward)\n"
    "  --warmup W          runs before the measured ones, the first included (default: 3)\n"
    "  --iter N            measured runs (default: 20)\n"
    "  --json              print the figures as JSON\n"
    "  --profile           time spent in each operator and in each layer\n"
    "  -o, --output FILE   with --profile: write it as FILE.html, too, for a browser, or as FILE.json, a trace for "
    "Chrome\n"
    "                      or Perfetto\n" PICTURE_OPTION_USAGE MODEL_OPTION_USAGE MEMORY_OPTION_USAGE RUN_LIMIT_USAGE;

typedef struct bench_options {
    model_options model;
    run_limits limits;
    vision_options vision;
    arg_texts positional, inputs;
    const char *dims, *method, *output;
    long bundled, warmup, iterations;
    bool json, profile;
} bench_options;

typedef struct bench_figures {
    double load_ms, first_ms, second_ms;
    double *iter_ms;
    size_t count;
    // Number of allocations in the last run, and number of its steps that ran in bands of rows.
    uint64_t allocations, banded;
} bench_figures;

static bool run_timed(const opened_model *opened, const char *method, const call_inputs *inputs, double *milliseconds)
{
    taper_value *result;
    const double begin = clock_seconds();
    const bool done = inputs_run(opened, method, inputs, &result);
    if (done) {
        taper_value_release(result);
    }
    *milliseconds = (clock_seconds() - begin) * 1e3;
    return done;
}

static bool measure(const bench_options *options, const opened_model *opened, fresh_inputs *fresh,
                    bench_figures *figures)
{
    const size_t warmup = (size_t)(options->warmup > 1 ? options->warmup : 1), total = warmup + figures->count;
    progress shown;
    progress_begin(&shown, "run");
    bool done = true;
    for (size_t i = 0; done && i < total; i++) {
        double milliseconds;
        progress_step(&shown, i, total);
        if (i == warmup && options->profile && taper_profile_set(opened->session, 1, opened->error) != TAPER_OK) {
            error_report_library(opened->path, opened->error);
            done = false;
            break;
        }
        done = fresh_inputs_next(fresh) &&
               run_timed(opened, options->method, &(call_inputs){fresh->values, fresh->count}, &milliseconds);
        if (i == 0) {
            figures->first_ms = milliseconds;
        } else if (i == 1) { // the second run packs the weights for good; the first run packs them only temporarily
            figures->second_ms = milliseconds;
        }
        if (i >= warmup) {
            figures->iter_ms[i - warmup] = milliseconds;
        }
    }
    progress_end(&shown);
    taper_memory_info memory = {.struct_size = sizeof memory};
    taper_session_memory(opened->session, &memory);
    figures->allocations = memory.allocator_calls;
    figures->banded = memory.banded_calls;
    return done;
}

static void put_figures_json(const bench_options *options, const opened_model *opened, const bench_figures *f,
                             const bench_profile *profile)
{
    fputs("{\"model\": ", stdout);
    json_put_text(stdout, opened->path, strlen(opened->path));
    printf(", \"device\": \"%s\", \"threads\": %u, \"load_ms\": %.4f, \"first_ms\": %.4f, \"second_ms\": %.4f, "
           "\"iter_ms\": [",
           taper_model_device(opened->model), taper_context_threads(opened->context), f->load_ms, f->first_ms,
           f->second_ms);
    for (size_t i = 0; i < f->count; i++) {
        printf("%s%.4f", i != 0 ? ", " : "", f->iter_ms[i]);
    }
    printf("], \"median_ms\": %.4f, \"min_ms\": %.4f, \"p90_ms\": %.4f, \"peak_rss_kb\": %ld, "
           "\"allocations_per_iter\": %" PRIu64 ", \"banded_operators\": %" PRIu64,
           stats_percentile(f->iter_ms, f->count, 0.5), stats_minimum(f->iter_ms, f->count),
           stats_percentile(f->iter_ms, f->count, 0.9), stats_peak_rss_kb(), f->allocations, f->banded);
    if (options->profile) {
        bench_profile_json(profile);
    }
    fputs("}\n", stdout);
}

static bool put_figures(const bench_options *options, const opened_model *opened, const bench_figures *f,
                        const bench_profile *profile)
{
    const double median = stats_percentile(f->iter_ms, f->count, 0.5);
    const unsigned threads = taper_context_threads(opened->context);
    text_put(stdout, opened->path, strlen(opened->path), false);
    printf("  (%s, %u thread%s)\n", taper_model_device(opened->model), threads, threads == 1 ? "" : "s");
    printf("  load         %10.3f ms\n", f->load_ms);
    printf("  first run    %10.3f ms   the second: %.3f\n", f->first_ms, f->second_ms);
    printf("  median       %10.3f ms   of %zu runs: min %.3f, p90 %.3f\n", median, f->count,
           stats_minimum(f->iter_ms, f->count), stats_percentile(f->iter_ms, f->count, 0.9));
    printf("  rate         %10.1f runs/s\n", median > 0 ? 1e3 / median : 0);
    printf("  peak memory  %10.1f MB\n", (double)stats_peak_rss_kb() / 1024);
    printf("  allocations  %10" PRIu64 " in the last run\n", f->allocations);
    if (f->banded != 0) {
        printf("  in bands     %10" PRIu64 " operators of the last run, some rows at a time\n", f->banded);
    }
    return !options->profile || bench_profile_print(profile);
}

static bool bench(const bench_options *options, const opened_model *opened)
{
    call_inputs inputs;
    const bool given = options->bundled >= 0 || options->inputs.count != 0 || options->dims != NULL;
    const long bundled = given ? options->bundled : inputs_default(opened, options->method);
    const bool ready = bundled >= 0            ? inputs_from_bundle(opened, options->method, (size_t)bundled, &inputs)
                       : options->dims != NULL ? bench_inputs_ones(opened, options->dims, &inputs)
                                               : inputs_from_texts(opened, options->method, &options->inputs, &inputs);
    if (!ready || !inputs_quantize(opened, options->method, &inputs)) {
        return false;
    }
    bench_figures figures = {.load_ms = opened->load_seconds * 1e3, .count = (size_t)options->iterations};
    figures.iter_ms = calloc(figures.count, sizeof *figures.iter_ms);
    fresh_inputs fresh = {0};
    bool done = (figures.iter_ms != NULL || error_report_memory(NULL)) &&
                fresh_inputs_begin(opened->context, opened->error, inputs.values, inputs.count, &fresh) &&
                measure(options, opened, &fresh, &figures);
    done = done && fresh_inputs_next(&fresh); // inputs for the profiled runs
    const call_inputs last = {fresh.values, fresh.count};
    bench_profile profile = {0};
    if (done && options->profile) {
        double seconds = 0;
        for (size_t i = 0; i < figures.count; i++) {
            seconds += figures.iter_ms[i] * 1e-3;
        }
        done = bench_profile_create(opened, &options->model, options->method, &last, figures.count, seconds, &profile);
    }
    if (done && options->output != NULL) {
        done = suffix_among(options->output, ".json") ? bench_profile_trace(&profile, options->output)
                                                      : bench_profile_page(&profile, opened->path, options->output);
    }
    if (done && options->json) {
        put_figures_json(options, opened, &figures, &profile);
    } else if (done) {
        done = put_figures(options, opened, &figures, &profile);
    }
    bench_profile_release(&profile);
    free(figures.iter_ms);
    fresh_inputs_release(&fresh);
    inputs_release(&inputs);
    return done;
}

static int bench_checked(bench_options *options)
{
    if ((options->inputs.count != 0) + (options->bundled >= 0) + (options->dims != NULL) > 1) {
        return error_usage(usage, "-i, --bundled and --input-dims exclude each other");
    }
    if (options->output != NULL && (!options->profile || !suffix_among(options->output, ".html .json"))) {
        return error_usage(usage, "-o takes the profile as a page or a trace: --profile -o FILE.html or FILE.json");
    }
    if (options->profile) {
        // The option makes the device report the time of each dispatch as a separate item.
        model_options_on_gpu(&options->model, "times=1");
        options->model.keeps_numbers = true; // value numbers are kept, because they lead to the names of layers
    }
    int status = model_options_check(&options->model, usage);
    if (status == ARGS_GO_ON) {
        status = run_limits_read(&options->limits, usage, &options->model.session);
    }
    if (status != ARGS_GO_ON) {
        return status;
    }
    options->model.print_to_stderr = options->json;
    opened_model opened;
    if (!model_open(&opened, options->positional.items[0], &options->model)) {
        return EXIT_WORK_FAILED;
    }
    opened.vision = &options->vision;
    opened.measured = true;
    const bool done = bench(options, &opened);
    model_close(&opened);
    return done ? 0 : EXIT_WORK_FAILED;
}

int command_bench(int argc, char **argv)
{
    bench_options options = {.bundled = -1, .warmup = 3, .iterations = 20};
    vision_options_init(&options.vision);
    const arg_option rows[] = {
        {"--input", 'i', ARG_TEXTS, &options.inputs, 0, 0},
        {"--bundled", 0, ARG_COUNT, &options.bundled, 0, 1 << 30},
        {"--input-dims", 0, ARG_TEXT, &options.dims, 0, 0},
        {"--output", 'o', ARG_TEXT, &options.output, 0, 0},
        {"--method", 0, ARG_TEXT, &options.method, 0, 0},
        {"--warmup", 0, ARG_COUNT, &options.warmup, 0, 1 << 24},
        {"--iter", 0, ARG_COUNT, &options.iterations, 1, 1 << 24},
        {"--json", 0, ARG_JSON, &options.json, 0, 0},
        {"--profile", 0, ARG_FLAG, &options.profile, 0, 0},
        PICTURE_OPTION_ROWS(options.vision),
        MODEL_OPTION_ROWS(options.model),
        MEMORY_OPTION_ROW(options.model),
        RUN_LIMIT_ROWS(options.limits),
    };
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, 1, "MODEL is missing", &options.positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = bench_checked(&options);
    }
    args_release(&table);
    return status;
}
