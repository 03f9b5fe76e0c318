// SPDX-License-Identifier: BSD-2-Clause
// Implements the steps that pt2_check.h describes. Each step calls ended() at its end.
#define _XOPEN_SOURCE 700
#include "tests/fuzz/pt2_check.h"
#include "tests/api/load_text.h"

#include <time.h>
#include <unistd.h>

#include <taper/taper_compile.h>
#include <taper/taper_inspect.h>

#include "tests/cpu_mask.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/fuzz/run_and_compare.h"

typedef struct work {
    taper_context *context;
    taper_error *error;
    const pt2_shapes *shapes;
    const bytes *file;
    pt2_counts *progress;
    clock_t began; // time at which the current step began
    uint64_t choice;
    // The model loaded from the file without passes, for comparison; NULL if it could not be loaded.
    taper_model *original;
} work;

static const taper_session_options budgets = {
    .struct_size = sizeof budgets, .instruction_budget = 20000, .time_budget = 0.5, .memory_budget = (size_t)64 << 20};

static void fail(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why);
    (void)fflush(NULL);
    _exit(PT2_CHECK_FAILED);
}

// The check calls this after each operation. Fails if an error has no message, or if the operation took too long.
static bool ended(work *w, const char *what, taper_status status)
{
    const double seconds = (double)(clock() - w->began) / CLOCKS_PER_SEC;
    if (status == TAPER_ERROR_INTERNAL) {
        fail(what, taper_error_message(w->error));
    }
    if (status != TAPER_OK && (taper_error_status(w->error) != status || taper_error_message(w->error)[0] == '\0')) {
        fail(what, "failed without saying why");
    }
    if (seconds > 2) {
        fail(what, "took longer than two seconds");
    }
    w->began = clock();
    return status == TAPER_OK;
}

// Returns true if the choice, divided by `by`, selects item number `one` of `count`.
static bool chosen(const work *w, uint64_t by, uint64_t one, uint64_t count)
{
    return w->choice == PT2_CHECK_ALL || w->choice / by % count == one;
}

// ---- reading facts of a model

static void count_text(void *user, const char *text, size_t length)
{
    (void)text;
    *(size_t *)user += length;
}

static int count_bytes(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return 0;
}

static void look_at_model(work *w, taper_model *model)
{
    size_t length = 0;
    (void)ended(w, "inspect graph", taper_inspect_graph(model, NULL, count_text, &length, w->error));
    (void)ended(w, "inspect config", taper_inspect_config(model, count_text, &length, w->error));
    const int arguments = taper_model_method_arguments(model, "forward");
    for (int i = 0; i < arguments; i++) {
        taper_value *value = NULL;
        const char *name = taper_model_argument_name(model, "forward", (size_t)i);
        length += name != NULL ? strlen(name) : 0;
        if (ended(w, "default", taper_inspect_default(model, "forward", (size_t)i, &value, w->error))) {
            taper_value_release(value);
        }
    }
}

static void count_planned(void *user, size_t arena, const taper_plan_item *item)
{
    (void)arena;
    *(size_t *)user += item->bytes;
}

static void look_at_plans(work *w, const taper_session *session)
{
    size_t total = 0;
    for (size_t i = 0; i < taper_inspect_plan_count(session); i++) {
        taper_plan_item item = {.struct_size = sizeof item};
        (void)ended(w, "plan", taper_inspect_plan_item(session, i, &item, w->error));
        total += item.operator_name != NULL ? strnlen(item.operator_name, item.operator_length) : 0;
    }
    (void)ended(w, "device plan", taper_inspect_device_plan(session, count_planned, &total, w->error));
}

// ---- running

static taper_value *shaped_input(work *w, size_t i)
{
    const pt2_shape *s = &w->shapes->items[i % w->shapes->count];
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_tensor(w->context, s->dtype, s->rank, s->sizes, &value, NULL) != TAPER_OK) {
        return made_tensor(w->context, 0);
    }
    need(taper_value_get_tensor(value, &info, NULL));
    for (size_t k = 0; k < info.bytes / taper_dtype_size(info.dtype); k++) {
        if (info.dtype == TAPER_F32) {
            ((float *)info.data)[k] = (float)(k % 17) / 8 - 1;
        } else {
            // Sets the lowest byte of each element to 0 or 1, which makes small numbers on little-endian machines.
            ((unsigned char *)info.data)[k * taper_dtype_size(info.dtype)] = k % 2;
        }
    }
    return value;
}

// Makes inputs: in round 0 with the shapes of the sample's inputs, in other rounds with generated shapes.
static size_t inputs_of(work *w, const taper_model *model, unsigned round, taper_value **inputs)
{
    const size_t count = make_inputs(w->context, model, round != 0 ? round - 1 : 0, inputs);
    for (size_t i = 0; i < count && round == 0 && w->shapes->count != 0; i++) {
        if (taper_value_kind(inputs[i]) == TAPER_KIND_TENSOR) {
            taper_value_release(inputs[i]);
            inputs[i] = shaped_input(w, i);
        }
    }
    return count;
}

static void run_model(work *w, taper_model *model, unsigned rounds, const char *what)
{
    taper_session *session;
    if (!ended(w, "session", taper_session_create(model, &budgets, &session, w->error))) {
        return;
    }
    for (unsigned round = 0; round < rounds; round++) {
        taper_value *inputs[MADE_MOST_INPUTS], *result = NULL;
        const size_t count = inputs_of(w, model, round, inputs);
        for (unsigned times = 0; times < 2; times++) { // runs twice, because the second run uses the plan of the first
            w->began = clock();
            if (!ended(w, what, taper_session_run(session, "forward", inputs, count, &result, w->error))) {
                break;
            }
            w->progress->ran++;
            look_at_plans(w, session);
            taper_value_release(result);
        }
        release_inputs(inputs, count);
    }
    taper_session_destroy(session);
}

static void load_and_run(work *w, const bytes *file, const taper_load_options *options, const char *what)
{
    taper_model *model;
    w->began = clock();
    if (ended(w, what,
              taper_model_load_memory(w->context, file->data, file->size, NULL, NULL, options, &model, w->error))) {
        w->progress->loaded++;
        look_at_model(w, model);
        if ((options->flags & TAPER_LOAD_LISTING) == 0) {
            run_model(w, model, (options->flags & TAPER_LOAD_NO_GUARDS) != 0 ? 3 : 1, what);
        }
        taper_model_release(model);
    }
}

// ---- saving

typedef enum comparison {
    NOT_COMPARED,
    RUNS, // the saved file must run if the original file runs
    CLOSE,
    EXACT
} comparison;

// A saved file, and the rules for comparing it.
typedef struct saved {
    const char *what;
    bytes file;
    comparison how;
    unsigned rounds; // number of rounds of different inputs
} saved;

// Runs a newly loaded file once, because other runs may have changed the state of the model.
static taper_status run_once(work *w, const bytes *file, const taper_load_options *options, unsigned round,
                             taper_value **result)
{
    taper_model *model;
    taper_session *session;
    taper_value *inputs[MADE_MOST_INPUTS];
    *result = NULL;
    taper_status status =
        taper_model_load_memory(w->context, file->data, file->size, NULL, NULL, options, &model, w->error);
    if (status != TAPER_OK) {
        return status;
    }
    status = taper_session_create(model, &budgets, &session, w->error);
    if (status == TAPER_OK) {
        const size_t count = inputs_of(w, w->original, round, inputs);
        status = taper_session_run(session, "forward", inputs, count, result, w->error);
        release_inputs(inputs, count);
        taper_session_destroy(session);
    }
    taper_model_release(model);
    return status;
}

// Compares a saved file with the original, if the original gives the same result twice, that is, uses no random
// numbers. Passes turn layers between quantizers into integer layers, which round differently (docs/numerics.md). A
// file to which these passes were applied is therefore compared with the original loaded with the same passes.
static void compare(work *w, const saved *s, const taper_load_options *options, bool exact)
{
    const taper_load_options first = {.struct_size = sizeof first,
                                      .compiler = s->how == EXACT ? options->compiler : taper_compiler(),
                                      .device = &on_cpu,
                                      .flags = TAPER_LOAD_NO_GUARDS};
    for (unsigned round = 0; round < s->rounds; round++) {
        taper_value *wanted, *again, *got;
        if (run_once(w, w->file, &first, round, &wanted) != TAPER_OK) {
            continue; // not compared: passes may have removed an unused operator that fails
        }
        if (run_once(w, w->file, &first, round, &again) == TAPER_OK && same(wanted, again, true, 0)) {
            const taper_status status = run_once(w, &s->file, options, round, &got);
            if (status != TAPER_OK && status != TAPER_ERROR_RESOURCE && status != TAPER_ERROR_CANCELLED) {
                fail(s->what, taper_error_message(w->error));
            }
            if (status == TAPER_OK && s->how != RUNS && !same(wanted, got, exact, 0)) {
                fail(s->what, exact ? "other results than the original" : "other results than about the original's");
            }
            taper_value_release(got);
        }
        taper_value_release(again);
        taper_value_release(wanted);
    }
}

// Checks that a saved file can be read.
static void read_saved(work *w, taper_draft *draft, int flatbuffer, saved *s)
{
    const taper_load_options plain = {.struct_size = sizeof plain}, compiled = {.struct_size = sizeof compiled,
                                                                                .compiler = taper_compiler(),
                                                                                .device = &on_cpu};
    const taper_save_options save = {.struct_size = sizeof save, .flatbuffer = flatbuffer};
    taper_model *model;
    void *data;
    if (!ended(w, s->what, taper_draft_save_memory(draft, &save, &data, &s->file.size, w->error))) {
        return;
    }
    s->file.data = data;
    w->progress->saved++;
    for (int i = 0; i < 2; i++) {
        const taper_load_options *options = i == 0 ? &plain : &compiled;
        if (!ended(w, s->what,
                   taper_model_load_memory(w->context, data, s->file.size, NULL, NULL, options, &model, w->error))) {
            fail(s->what, taper_error_message(w->error));
        }
        run_model(w, model, 1, s->what);
        taper_model_release(model);
        if (s->how != NOT_COMPARED && w->original != NULL) {
            compare(w, s, options, s->how == EXACT && i == 0);
        }
        w->began = clock();
    }
    taper_saved_free(draft, data, s->file.size);
}

// Returns how closely the results of an optimized draft must match. With quantizers, a result may be rounded to the
// next integer, a difference of one scale of the file (docs/numerics.md).
static comparison closeness(work *w, taper_draft *draft)
{
    size_t count = 0;
    comparison how = CLOSE;
    (void)ended(w, "draft operators", taper_draft_operators(draft, &count, w->error));
    for (size_t i = 0; i < count; i++) {
        how = strstr(taper_draft_operator_name(draft, i), "quantize") != NULL ? RUNS : how;
    }
    return how;
}

static void optimize_and_save(work *w, taper_device_kind device)
{
    const taper_load_options load = {
        .struct_size = sizeof load, .compiler = taper_compiler(), .flags = TAPER_LOAD_NO_GUARDS};
    taper_optimize_options options = {.struct_size = sizeof options, .device = device};
    taper_value *inputs[MADE_MOST_INPUTS];
    taper_draft *draft;
    const char *what = device != 0 ? taper_device_kind_name(device) : "convert";
    const bool nnapi = device == TAPER_DEVICE_NNAPI;
    size_t count = 0, printed = 0;
    w->began = clock();
    if (!ended(w, "draft",
               taper_draft_load_memory(w->context, w->file->data, w->file->size, &load, &draft, w->error))) {
        return;
    }
    taper_status status = TAPER_OK;
    if (device != 0) {
        count = nnapi ? inputs_of(w, taper_draft_model(draft), 0, inputs) : 0;
        options.inputs = count != 0 ? inputs : NULL;
        options.input_count = count;
        w->began = clock();
        status = taper_draft_optimize(draft, &options, w->error);
        release_inputs(inputs, count);
    }
    if (ended(w, what, status)) {
        const comparison how = device == 0 ? EXACT : closeness(w, draft);
        (void)ended(w, "draft text", taper_draft_print(draft, NULL, count_bytes, &printed, w->error));
        saved s = {.what = what, .how = how, .rounds = nnapi ? 1 : 3};
        for (int flatbuffer = 0; flatbuffer < 2; flatbuffer++) {
            if (chosen(w, 5, (uint64_t)flatbuffer, 2)) {
                read_saved(w, draft, flatbuffer, &s);
            }
        }
    }
    taper_draft_release(draft);
}

static void quantize(work *w, taper_quantize_mode mode)
{
    const taper_load_options load = {
        .struct_size = sizeof load, .compiler = taper_compiler(), .flags = TAPER_LOAD_NO_GUARDS};
    const taper_quantize_options options = {.struct_size = sizeof options, .mode = mode, .budgets = &budgets};
    taper_calibrator *calibrator;
    w->began = clock();
    if (!ended(w, "calibrator",
               taper_calibrator_load_memory(w->context, w->file->data, w->file->size, &load, &options, &calibrator,
                                            w->error))) {
        return;
    }
    taper_status status = TAPER_OK;
    if (mode != TAPER_QUANTIZE_DYNAMIC) {
        taper_value *inputs[MADE_MOST_INPUTS];
        const size_t count = inputs_of(w, taper_calibrator_model(calibrator), 0, inputs);
        status = taper_calibrator_run(calibrator, inputs, count, w->error);
        release_inputs(inputs, count);
    }
    taper_draft *draft;
    if (ended(w, "calibrate", status) && ended(w, "quantize", taper_calibrator_finish(calibrator, &draft, w->error))) {
        w->progress->quantized++;
        saved s = {.what = "quantized", .how = NOT_COMPARED};
        read_saved(w, draft, mode == TAPER_QUANTIZE_DYNAMIC, &s);
        taper_draft_release(draft);
    }
    taper_calibrator_release(calibrator);
}

// ---- a file

void pt2_check_file(const bytes *file, const pt2_shapes *taken, uint64_t choice, pt2_counts *progress)
{
    static const taper_device_kind backends[] = {(taper_device_kind)0, TAPER_DEVICE_CPU, TAPER_DEVICE_VULKAN,
                                                 TAPER_DEVICE_METAL, TAPER_DEVICE_NNAPI};
    failing_allocator counting;
    failing_start(&counting, 0);
    const taper_context_options options = {.struct_size = sizeof options,
                                           .allocator = &counting.allocator,
                                           .threads = 1,
                                           .log = say_nothing,
                                           .cpu_mask = test_cpu_mask()};
    const taper_load_options loads[] = {
        {.struct_size = sizeof loads[0]},
        {.struct_size = sizeof loads[0], .flags = TAPER_LOAD_NO_GUARDS},
        {.struct_size = sizeof loads[0], .flags = TAPER_LOAD_LISTING},
        {.struct_size = sizeof loads[0], .compiler = taper_compiler(), .device = &on_cpu},
        {.struct_size = sizeof loads[0],
         .compiler = taper_compiler(),
         .device = &on_cpu,
         .flags = TAPER_LOAD_NO_GUARDS}};
    static const char *const names[] = {"load", "load without guards", "list", "load and compile",
                                        "load and compile without guards"};
    work w = {.error = taper_error_create(), .shapes = taken, .file = file, .progress = progress, .choice = choice};
    need(taper_context_create(&options, &w.context, w.error));
    const size_t before = progress->loaded;
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++) {
        load_and_run(&w, file, &loads[i], names[i]);
    }
    if (taper_model_load_memory(w.context, file->data, file->size, NULL, NULL, &loads[1], &w.original, w.error) !=
        TAPER_OK) {
        w.original = NULL;
    }
    // A file that cannot be loaded in any way is not rewritten.
    for (size_t i = 0; i < sizeof backends / sizeof backends[0] && progress->loaded != before; i++) {
        if (chosen(&w, 1, i, sizeof backends / sizeof backends[0])) {
            optimize_and_save(&w, backends[i]);
        }
    }
    for (uint64_t i = 0; i < 2 && progress->loaded != before; i++) {
        if (chosen(&w, 10, i, 4)) { // only half of the files are quantized
            quantize(&w, i == 0 ? TAPER_QUANTIZE_CORE : TAPER_QUANTIZE_DYNAMIC);
        }
    }
    taper_model_release(w.original);
    taper_context_release(w.context);
    taper_error_destroy(w.error);
    if (counting.blocks != 0 || counting.bytes != 0) {
        fail("memory", "not all of it was given back");
    }
}
