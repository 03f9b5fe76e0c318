// SPDX-License-Identifier: BSD-2-Clause
// Replaces PyTorch's benchmark program, with the same flags and the same lines on stdout.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_app.h>
#include <taper/taper_compile.h>
#include <taper/taper_memory.h>

#include "common/cpu_mask.h"
#include "common/errors.h"
#include "common/fresh_inputs.h"
#include "common/ones.h"
#include "common/result.h"
#include "common/terminal.h"
#include "speed_benchmark_torch/flags.h"

typedef struct settings {
    const char *model, *input_dims, *input_type, *input_memory_format, *cpu;
    bool no_inputs, use_caching_allocator, print_output, report_pep, vulkan;
    int use_bundled_input, warmup, iter, pytext_len, pthreadpool_size;
} settings;

enum { INPUT_LIMIT = 64 };

typedef struct benchmark {
    const settings *flags;
    taper_error *error;
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *inputs[INPUT_LIMIT];
    size_t input_count;
    fresh_inputs fresh; // copies of the inputs for each run
} benchmark;

// Finds the next text between semicolons and skips empty ones. Returns false at the end.
static bool next_piece(const char **rest, const char **piece, size_t *length)
{
    while (**rest == ';') {
        ++*rest;
    }
    *piece = *rest;
    *length = strcspn(*rest, ";");
    *rest += *length;
    return *length != 0;
}

static size_t count_pieces(const char *text)
{
    const char *piece;
    size_t length, count = 0;
    while (next_piece(&text, &piece, &length)) {
        count++;
    }
    return count;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool add_input(benchmark *b, const char *dims, size_t dims_length, const char *type, size_t type_length,
                      const char *format, size_t format_length)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank;
    if (!ones_parse_sizes("--input_dims", dims, dims_length, sizes, &rank)) {
        return false;
    }
    const bool is_float = is_word(type, type_length, "float"), is_byte = is_word(type, type_length, "uint8_t");
    if (!is_float && !is_byte && !is_word(type, type_length, "int64")) {
        return error_report(NULL, "Unsupported input type: %.*s", (int)type_length, type);
    }
    const bool channels_last = is_word(format, format_length, "channels_last");
    if (channels_last && rank != 4) {
        return error_report(NULL, "channels_last memory format only available on 4D tensors!");
    }
    if (!channels_last && !is_word(format, format_length, "contiguous_format")) {
        return error_report(NULL, "Unsupported input memory format: %.*s", (int)format_length, format);
    }
    if (!ones_tensor("--input_dims", b->context, b->error,
                     is_float  ? TAPER_F32
                     : is_byte ? TAPER_U8
                               : TAPER_I64,
                     rank, sizes, channels_last, 1, &b->inputs[b->input_count])) {
        return false;
    }
    b->input_count++;
    return true;
}

// Returns true if no flag describes inputs. The model's bundled inputs are then used.
static bool says_nothing(const settings *f)
{
    return !f->no_inputs && f->use_bundled_input < 0 && *f->input_dims == '\0' && *f->input_type == '\0' &&
           f->pytext_len <= 0;
}

static bool make_inputs(benchmark *b)
{
    const settings *f = b->flags;
    if (f->no_inputs || f->use_bundled_input >= 0) {
        return true;
    }
    const size_t count = count_pieces(f->input_dims);
    if (count != count_pieces(f->input_type)) {
        return error_report(NULL, "Input dims and type should have the same number of items.");
    }
    if (count != count_pieces(f->input_memory_format)) {
        return error_report(NULL, "Input dims and format should have the same number of items.");
    }
    if (count > INPUT_LIMIT - 1) {
        return error_report(NULL, "more than %d inputs", INPUT_LIMIT - 1);
    }
    const char *dims_rest = f->input_dims, *type_rest = f->input_type, *format_rest = f->input_memory_format;
    const char *dims, *type, *format;
    size_t dims_length, type_length, format_length;
    while (next_piece(&dims_rest, &dims, &dims_length) && next_piece(&type_rest, &type, &type_length) &&
           next_piece(&format_rest, &format, &format_length)) {
        if (!add_input(b, dims, dims_length, type, type_length, format, format_length)) {
            return false;
        }
    }
    if (f->pytext_len > 0) {
        const int64_t one = 1;
        if (!ones_tensor("--pytext_len", b->context, b->error, TAPER_I64, 1, &one, false, f->pytext_len,
                         &b->inputs[b->input_count])) {
            return false;
        }
        b->input_count++;
    }
    return true;
}

static bool library_failed(const benchmark *b)
{
    return error_report_library(b->flags->model, b->error);
}

static bool has_method(const benchmark *b, const char *name)
{
    for (size_t i = 0; i < taper_model_method_count(b->model); i++) {
        if (strcmp(taper_model_method_name(b->model, i), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool take_sample(benchmark *b, const taper_value *sample)
{
    const size_t count = taper_value_count(sample);
    if (count > INPUT_LIMIT) {
        return error_report(b->flags->model, "more than %d inputs", INPUT_LIMIT);
    }
    while (b->input_count < count) {
        if (taper_value_item(sample, b->input_count, &b->inputs[b->input_count], b->error) != TAPER_OK) {
            return library_failed(b);
        }
        b->input_count++;
    }
    return true;
}

static bool take_bundled(benchmark *b)
{
    static const char getter[] = "get_all_bundled_inputs";
    taper_value *all, *sample;
    if (b->flags->use_bundled_input < 0) {
        return true;
    }
    if (!has_method(b, getter)) {
        fputs("Model does not have bundled inputs.  Before saving,\n"
              "use torch.utils.bundled_inputs.augment_model_with_bundled_inputs.\n",
              stderr);
        return false;
    }
    if (taper_session_run(b->session, getter, NULL, 0, &all, b->error) != TAPER_OK) {
        return library_failed(b);
    }
    const size_t count = taper_value_count(all), index = (size_t)b->flags->use_bundled_input;
    bool done = index < count;
    if (!done) {
        fprintf(stderr, "Model has only %zu bundled inputs.\n", count);
    } else if (taper_value_item(all, index, &sample, b->error) != TAPER_OK) {
        done = library_failed(b);
    } else {
        done = take_sample(b, sample);
        taper_value_release(sample);
    }
    taper_value_release(all);
    return done;
}

// Uses the model's bundled inputs if no flag describes inputs. PyTorch's program fails without such a flag.
static bool take_default(benchmark *b)
{
    size_t count;
    if (!says_nothing(b->flags)) {
        return true;
    }
    if (taper_model_method_required(b->model, NULL) == 0 ||
        taper_bundled_count(b->session, NULL, &count, b->error) != TAPER_OK || count == 0) {
        return make_inputs(b);
    }
    fputs("no input is given: the model's bundled input 0 is used\n", stderr);
    return taper_bundled_inputs(b->session, NULL, 0, b->inputs, INPUT_LIMIT, &b->input_count, b->error) == TAPER_OK ||
           library_failed(b);
}

static bool run_model(const benchmark *b, taper_value **result)
{
    return taper_session_run(b->session, NULL, b->fresh.values, b->fresh.count, result, b->error) == TAPER_OK ||
           library_failed(b);
}

static bool run_times(benchmark *b, int times, double *seconds)
{
    for (int i = 0; i < times; i++) {
        taper_value *result;
        if (!fresh_inputs_next(&b->fresh)) {
            return false;
        }
        const double begin = clock_seconds();
        if (!run_model(b, &result)) {
            return false;
        }
        taper_value_release(result);
        if (seconds != NULL) {
            seconds[i] = clock_seconds() - begin;
        }
    }
    return true;
}

static bool measure(benchmark *b)
{
    const settings *f = b->flags;
    puts("Starting benchmark.");
    puts("Running warmup runs.");
    if (f->warmup < 0) {
        return error_report(NULL, "Number of warm up runs should be non negative, provided %d.", f->warmup);
    }
    fflush(stdout);
    if (!run_times(b, f->warmup, NULL)) {
        return false;
    }
    puts("Main runs.");
    if (f->iter < 0) {
        return error_report(NULL, "Number of main runs should be non negative, provided %d.", f->iter);
    }
    fflush(stdout);
    double *seconds = calloc((size_t)f->iter + 1, sizeof *seconds);
    if (seconds == NULL) {
        return error_report_memory(NULL);
    }
    const bool done = run_times(b, f->iter, seconds);
    double micros = 0; // sum of the runs' times, without the time to make the inputs
    for (int i = 0; i < f->iter; i++) {
        micros += seconds[i] * 1e6;
    }
    for (int i = 0; done && f->report_pep && i < f->iter; i++) {
        printf("PyTorchObserver {\"type\": \"NET\", \"unit\": \"us\", \"metric\": \"latency\", \"value\": \"%lld\"}\n",
               (long long)(seconds[i] * 1e6));
    }
    if (done) {
        printf("Main run finished. Microseconds per iter: %g. Iters per second: %g\n", micros / f->iter,
               1e6 * f->iter / micros);
    }
    free(seconds);
    return done;
}

static bool print_output(benchmark *b)
{
    taper_value *result;
    if (!b->flags->print_output) {
        return true;
    }
    if (!fresh_inputs_next(&b->fresh) || !run_model(b, &result)) {
        return false;
    }
    const bool done = result_to_json(stdout, "output", result, b->error);
    fputc('\n', stdout);
    taper_value_release(result);
    return done;
}

static bool load(benchmark *b)
{
    const taper_load_options options = {.struct_size = sizeof options,
                                        .compiler = taper_compiler(),
                                        // Sets evaluation mode, because PyTorch's program calls eval().
                                        .flags = TAPER_LOAD_EVALUATION};
    return (taper_model_load(b->context, b->flags->model, &options, &b->model, b->error) == TAPER_OK &&
            taper_session_create(b->model, NULL, &b->session, b->error) == TAPER_OK) ||
           library_failed(b);
}

static bool run_benchmark(const settings *f)
{
    benchmark b = {.flags = f, .error = taper_error_create()};
    taper_caching_allocator *caching = NULL;
    taper_context_options options = {.struct_size = sizeof options,
                                     .threads = f->pthreadpool_size > 0 ? (unsigned)f->pthreadpool_size : 0};
    bool done = !f->use_caching_allocator || taper_caching_allocator_create(NULL, 0, &caching, b.error) == TAPER_OK ||
                library_failed(&b);
    options.allocator = taper_caching_allocator_get(caching);
    done = done && cpu_mask_read(f->cpu, &options.cpu_mask) &&
           (taper_context_create(&options, &b.context, b.error) == TAPER_OK || library_failed(&b));
    done = done && (says_nothing(f) || make_inputs(&b)) && load(&b) && take_bundled(&b) && take_default(&b) &&
           fresh_inputs_begin(b.context, b.error, b.inputs, b.input_count, &b.fresh) && print_output(&b) && measure(&b);
    fresh_inputs_release(&b.fresh);
    for (size_t i = 0; i < b.input_count; i++) {
        taper_value_release(b.inputs[i]);
    }
    taper_session_destroy(b.session);
    taper_model_release(b.model);
    taper_context_release(b.context);
    taper_caching_allocator_release(caching);
    taper_error_destroy(b.error);
    return done;
}

int main(int argc, char **argv)
{
    settings f = {.model = "",
                  .input_dims = "",
                  .input_type = "",
                  .input_memory_format = "contiguous_format",
                  .use_bundled_input = -1,
                  .iter = 10};
    const flag flags[] = {
        {"model", "the model to benchmark", FLAG_TEXT, &f.model},
        {"input_dims", "sizes of the inputs: commas between sizes, semicolons between inputs", FLAG_TEXT,
         &f.input_dims},
        {"input_type", "float, uint8_t or int64 for each input", FLAG_TEXT, &f.input_type},
        {"input_memory_format", "contiguous_format or channels_last for each input", FLAG_TEXT, &f.input_memory_format},
        {"no_inputs", "call the model without inputs", FLAG_BOOL, &f.no_inputs},
        {"use_bundled_input", "the bundled input to use", FLAG_INT, &f.use_bundled_input},
        {"use_caching_allocator", "keep freed memory by size; a run like one before asks for none anyway", FLAG_BOOL,
         &f.use_caching_allocator},
        {"print_output", "print the result before the benchmark", FLAG_BOOL, &f.print_output},
        {"warmup", "runs before the measured ones", FLAG_INT, &f.warmup},
        {"iter", "measured runs", FLAG_INT, &f.iter},
        {"report_pep", "print the time of each run", FLAG_BOOL, &f.report_pep},
        {"pytext_len", "length of an input sequence, given as one more input", FLAG_INT, &f.pytext_len},
        {"vulkan", "run on the GPU", FLAG_BOOL, &f.vulkan},
        {"pthreadpool_size", "threads; 0: one for each big core it may use", FLAG_INT, &f.pthreadpool_size},
        {"cpu", "instruction sets to use, as scalar or avx2; default: all", FLAG_TEXT, &f.cpu},
        {"caffe2_log_level", NULL, FLAG_INT, NULL},
        {"logtostderr", NULL, FLAG_BOOL, NULL},
        {"minloglevel", NULL, FLAG_INT, NULL},
        {"v", NULL, FLAG_INT, NULL},
    };
    const size_t count = sizeof flags / sizeof *flags;
    bool help;
    errors_set_program("speed_benchmark_torch");
    if (!flags_parse(flags, count, argc, argv, &help)) {
        fputs("Failed to parse command line flags!\n", stderr);
        return EXIT_WORK_FAILED;
    }
    if (help) {
        puts("Run speed benchmark for pytorch model.\n"
             "Example usage:\n"
             "./speed_benchmark_torch --model=<model_file> --use_bundled_input=0 --warmup=5 --iter=20\n"
             "Arguments:");
        flags_put_help(flags, count);
        return 0;
    }
    if (f.vulkan) {
        error_report("--vulkan", "not available in this build");
        return EXIT_WORK_FAILED;
    }
    const bool done = run_benchmark(&f);
    return fflush(stdout) == 0 && done ? 0 : EXIT_WORK_FAILED;
}
