// SPDX-License-Identifier: BSD-2-Clause
// taper diff: compares two ways to compute the same model and shows where they diverge.
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "taper/commands.h"
#include "taper/diff.h"

static const char usage[] =
    "usage: taper diff MODEL [--device D | --against MODEL2] [-i INPUT]… [options]\n\n"
    "Runs a model in two ways on the same inputs and names the first operator whose result differs.\n"
    "Exit status: 0 when nothing diverges, 1 when something does (the first is named on stderr) or the work failed.\n\n"
    "  --device cpu        compare the portable reference operators, the model as it was saved, with the device's\n"
    "                      fast ones and the optimizer (default)\n" DEVICE_OPTION_USAGE
    "  --precision P       the device's, or MODEL2's: fp32, fp16 or bf16\n"
    "  --against MODEL2    compare with another file of the same network: quantized, optimized, .pt or .ptl; both run\n"
    "                      as they were saved, and their operators are aligned by name, order and module\n"
    "  -i, --input INPUT   as for `taper run`\n"
    "  --bundled K         use MODEL's bundled inputs, number K\n"
    "  --method NAME       the method to call (default: forward)\n"
    "  --tolerance R[,A]   max|a-b| may be R max|b| + A, b being the reference's or MODEL's (default: 1e-4,1e-5; with\n"
    "                      fp16 1e-2,1e-4, with bf16 8e-2,1e-3);\n"
    "                      integers, and quantized tensors of one scale, must be equal\n"
    "  --top N             show the N results that differ most (default: 10)\n"
    "  --json              print all figures as JSON\n"
    "  --threads N         threads to use (default: one for each big core it may use)\n" CPU_OPTION_USAGE
    "  --no-optimize       without the optimizer\n"
    "  --disable PASS,…    without these passes of the optimizer\n" FILE_OPTION_USAGE MEMORY_OPTION_USAGE
    "  --reference         with --against: use the portable operators only\n" LOAD_LIMIT_USAGE;

typedef struct diff_options {
    model_options model;
    arg_texts positional, inputs;
    const char *against, *method, *tolerance_text;
    long bundled, top;
    bool json;
    diff_tolerance tolerance;
} diff_options;

// ---- options

static int check_tolerance(diff_options *o)
{
    char first[64];
    const char *precision = o->model.precision != NULL ? o->model.precision : "";
    o->tolerance = strcmp(precision, "bf16") == 0   ? (diff_tolerance){8e-2, 1e-3}
                   : strcmp(precision, "fp16") == 0 ? (diff_tolerance){1e-2, 1e-4}
                                                    : (diff_tolerance){1e-4, 1e-5};
    if (o->tolerance_text == NULL) {
        return ARGS_GO_ON;
    }
    const size_t length = strcspn(o->tolerance_text, ",");
    const char *second = o->tolerance_text[length] == ',' ? o->tolerance_text + length + 1 : "0";
    if (length < sizeof first) {
        memcpy(first, o->tolerance_text, length);
        first[length] = '\0';
        if (args_parse_double(first, &o->tolerance.relative) && args_parse_double(second, &o->tolerance.absolute) &&
            o->tolerance.relative >= 0 && o->tolerance.absolute >= 0) {
            return ARGS_GO_ON;
        }
    }
    return error_usage(usage, "--tolerance takes one or two numbers such as 1e-4,1e-5, not \"%s\"", o->tolerance_text);
}

static int check(diff_options *o)
{
    if (o->inputs.count != 0 && o->bundled >= 0) {
        return error_usage(usage, "-i and --bundled exclude each other");
    }
    if (o->against != NULL && o->model.device != NULL) {
        return error_usage(usage, "--device and --against exclude each other");
    }
    if (o->against == NULL && o->model.reference) {
        return error_usage(usage, "--reference is what MODEL is compared with already, unless --against is given");
    }
    const int status = check_tolerance(o);
    return status == ARGS_GO_ON ? model_options_check(&o->model, usage) : status;
}

// ---- running and comparing the models

typedef struct diffing {
    const diff_options *options;
    long bundled; // index of the bundled sample that gives the inputs; -1 if the option -i gives them
    opened_model wanted, got;
    diff_trace wanted_results, got_results, wanted_outputs, got_outputs;
    diff_matches nodes, outputs;
    size_t *match_of; // for each result of the trace `got`: 1 + index of its match, or 0 if it has none
} diffing;

// Makes new inputs for each run, because the model may write to its inputs.
static bool make_inputs(const diffing *d, const opened_model *opened, call_inputs *inputs)
{
    const diff_options *o = d->options;
    return (d->bundled >= 0 ? inputs_from_bundle(&d->wanted, o->method, (size_t)d->bundled, inputs)
                            : inputs_from_texts(opened, o->method, &o->inputs, inputs)) &&
           inputs_quantize(opened, o->method, inputs);
}

static bool open_models(diffing *d)
{
    const diff_options *o = d->options;
    model_options wanted = o->model, got = o->model;
    got.keeps_numbers = true; // value numbers are kept, because they show which results correspond
    if (o->against == NULL) {
        wanted.reference = true;
    } else {
        wanted.no_optimize = got.no_optimize = true;
        wanted.precision = NULL;
    }
    if (!model_open(&d->wanted, o->positional.items[0], &wanted)) {
        return false;
    }
    got.context = d->wanted.context; // both runs share the context, because they use the same values
    return model_open(&d->got, o->against != NULL ? o->against : o->positional.items[0], &got);
}

static bool run_both(diffing *d)
{
    call_inputs inputs;
    bool done = make_inputs(d, &d->wanted, &inputs);
    if (done) {
        done = diff_trace_run(&d->wanted, d->options->method, &inputs, DIFF_KEEP_DATA, &d->wanted_results,
                              &d->wanted_outputs);
        inputs_release(&inputs);
    }
    if (done && make_inputs(d, &d->got, &inputs)) {
        done =
            diff_trace_run(&d->got, d->options->method, &inputs, DIFF_KEEP_NOTHING, &d->got_results, &d->got_outputs);
        inputs_release(&inputs);
        return done;
    }
    return false;
}

static void compare_pair(const diffing *d, diff_match *m, size_t wanted, size_t got, const diff_record *a,
                         const diff_record *b)
{
    const diff_figures f = diff_compare(a, b, d->options->against == NULL);
    if (!m->compared || (m->figures.mismatch && !f.mismatch) ||
        (f.mismatch == m->figures.mismatch && diff_sqnr(&f) > diff_sqnr(&m->figures))) {
        m->compared = true;
        m->best_wanted = wanted;
        m->best_got = got;
        m->figures = f;
    }
}

static bool is_nothing(const diff_record *record)
{
    char kind[64];
    diff_operator_kind(record->name, kind, sizeof kind);
    return kind[0] == '\0';
}

static bool compare_result(void *user, size_t index, const diff_record *record)
{
    const diffing *d = user;
    const size_t match = index < d->got_results.count ? d->match_of[index] : 0;
    diff_match *m = match != 0 ? &d->nodes.items[match - 1] : NULL;
    if (m == NULL || (index != m->got && is_nothing(record))) {
        return true;
    }
    for (size_t i = m->wanted; i < m->wanted_end; i++) {
        const diff_record *wanted = &d->wanted_results.items[i];
        if (i == m->wanted || !is_nothing(wanted)) {
            compare_pair(d, m, i, index, wanted, record);
        }
    }
    return true;
}

static bool compare_nodes(diffing *d)
{
    call_inputs inputs;
    d->match_of = calloc(d->got_results.count + 1, sizeof *d->match_of);
    if (d->match_of == NULL) {
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < d->nodes.count; i++) {
        for (size_t j = d->nodes.items[i].got; j < d->nodes.items[i].got_end; j++) {
            d->match_of[j] = i + 1;
        }
    }
    if (!make_inputs(d, &d->got, &inputs)) {
        return false;
    }
    const bool done = diff_trace_again(&d->got, d->options->method, &inputs, compare_result, d);
    inputs_release(&inputs);
    return done;
}

// Returns the index of the output with this name, which is usually `at`, or the number of outputs if no output has the
// name.
static size_t find_output(const diff_trace *outputs, const char *name, size_t at)
{
    size_t i = at < outputs->count && strcmp(name, outputs->items[at].name) == 0 ? at : 0;
    while (i < outputs->count && strcmp(name, outputs->items[i].name) != 0) {
        i++;
    }
    return i;
}

static bool compare_outputs(diffing *d)
{
    const diff_trace *a = &d->wanted_outputs, *b = &d->got_outputs;
    d->outputs.items = calloc(a->count + b->count + 1, sizeof *d->outputs.items);
    if (d->outputs.items == NULL) {
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < a->count; i++) {
        const size_t j = find_output(b, a->items[i].name, i);
        diff_match *m = &d->outputs.items[d->outputs.count++];
        if (j < b->count) {
            compare_pair(d, m, i, j, &a->items[i], &b->items[j]);
        } else {
            *m = (diff_match){.compared = true, .best_wanted = i, .best_got = j, .figures = {.mismatch = true}};
        }
    }
    for (size_t j = 0; j < b->count; j++) {
        if (find_output(a, b->items[j].name, j) == a->count) {
            d->outputs.items[d->outputs.count++] =
                (diff_match){.compared = true, .best_wanted = a->count, .best_got = j, .figures = {.mismatch = true}};
        }
    }
    return true;
}

static bool diff(diffing *d, bool *diverges)
{
    const diff_options *o = d->options;
    bool done = open_models(d);
    d->bundled = done && o->bundled < 0 && o->inputs.count == 0 ? inputs_default(&d->wanted, o->method) : o->bundled;
    done = done && run_both(d);
    done = done && (o->against != NULL ? diff_match_operators : diff_match_values)(&d->wanted_results, &d->got_results,
                                                                                   &d->nodes);
    done = done && compare_nodes(d) && compare_outputs(d);
    if (!done) {
        return false;
    }
    const diff_report report = {.wanted = &d->wanted,
                                .got = &d->got,
                                .wanted_name = o->against != NULL ? d->wanted.path : "reference",
                                .got_name = o->against != NULL ? o->against : "cpu",
                                .wanted_results = &d->wanted_results,
                                .got_results = &d->got_results,
                                .wanted_outputs = &d->wanted_outputs,
                                .got_outputs = &d->got_outputs,
                                .nodes = &d->nodes,
                                .outputs = &d->outputs,
                                .tolerance = o->tolerance,
                                .top = o->top};
    *diverges = diff_first(&report, &d->nodes) != NULL || diff_first(&report, &d->outputs) != NULL;
    return (o->json ? diff_report_json : diff_report_text)(&report);
}

static void release(diffing *d)
{
    diff_trace_release(&d->wanted_results);
    diff_trace_release(&d->got_results);
    diff_trace_release(&d->wanted_outputs);
    diff_trace_release(&d->got_outputs);
    free(d->nodes.items);
    free(d->outputs.items);
    free(d->match_of);
    model_close(&d->got);
    model_close(&d->wanted);
}

int command_diff(int argc, char **argv)
{
    diff_options options = {.bundled = -1, .top = 10};
    const arg_option rows[] = {
        {"--against", 0, ARG_TEXT, &options.against, 0, 0},
        {"--input", 'i', ARG_TEXTS, &options.inputs, 0, 0},
        {"--bundled", 0, ARG_COUNT, &options.bundled, 0, 1 << 30},
        {"--method", 0, ARG_TEXT, &options.method, 0, 0},
        {"--tolerance", 0, ARG_TEXT, &options.tolerance_text, 0, 0},
        {"--top", 0, ARG_COUNT, &options.top, 0, 1 << 20},
        {"--json", 0, ARG_JSON, &options.json, 0, 0},
        MODEL_OPTION_ROWS(options.model),
        MEMORY_OPTION_ROW(options.model),
    };
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, 1, "MODEL is missing", &options.positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = check(&options);
    }
    if (status == ARGS_GO_ON) {
        diffing d = {.options = &options};
        bool diverges = false;
        options.model.print_to_stderr = true;
        status = diff(&d, &diverges) && !diverges ? 0 : EXIT_WORK_FAILED;
        release(&d);
    }
    args_release(&table);
    return status;
}
