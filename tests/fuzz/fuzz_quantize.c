// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a float model, calibrates it on generated inputs, quantizes it, compares it with the float model
// and saves it. The saved file must be valid, and must run if the quantized model ran before. The first byte selects
// mode, observer and options; the rest is the file. Repeats everything with a failing allocation.
#include <stdio.h>

#include <taper/taper_compile.h>

#include "tests/api/load_text.h"
#include "tests/cpu_mask.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/fuzz/run_and_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PLACES = 1500 }; // approximate number of allocations for a small model

static const taper_session_options budgets = {
    .struct_size = sizeof budgets, .instruction_budget = 20000, .time_budget = 1.0, .memory_budget = (size_t)64 << 20};

static taper_quantize_options choose(uint8_t byte)
{
    return (taper_quantize_options){.struct_size = sizeof(taper_quantize_options),
                                    .mode = (taper_quantize_mode)(byte % 4 % 3),
                                    .observer = (taper_observer_kind)(byte / 4 % 4),
                                    .per_channel = byte / 16 % 2,
                                    .bias_correction = byte / 32 % 2,
                                    .equalize = byte / 64 % 2,
                                    .budgets = &budgets};
}

typedef taper_status calibrate(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                               taper_error *error);

// Calls the function with several rounds of inputs. It is enough if one round succeeds, because most models accept only
// some inputs.
static taper_status feed(taper_context *context, taper_calibrator *calibrator, calibrate *function, unsigned round,
                         taper_error *error)
{
    taper_value *inputs[MADE_MOST_INPUTS];
    const size_t count = make_inputs(context, taper_calibrator_model(calibrator), round, inputs);
    const taper_status status = function(calibrator, inputs, count, error);
    release_inputs(inputs, count);
    return status;
}

static bool ran_out(taper_status status)
{
    return status == TAPER_ERROR_RESOURCE || status == TAPER_ERROR_CANCELLED;
}

static void print_layers(taper_calibrator *calibrator)
{
    for (size_t i = 0; i < taper_calibrator_layer_count(calibrator); i++) {
        taper_quantized_layer layer = {.struct_size = sizeof layer};
        need(taper_calibrator_layer(calibrator, i, &layer, NULL));
        if (layer.name == NULL || strlen(layer.name) > 65536 ||
            strnlen(layer.operator_name, layer.operator_length) == 0) {
            abort();
        }
    }
}

// Saves the quantized model and runs it. runs: true if the float model accepts the inputs of this round, and the
// quantized model ran on them before it was saved.
static void save_and_run(taper_context *context, taper_calibrator *calibrator, unsigned round, bool runs,
                         taper_error *error)
{
    const taper_save_options save = {.struct_size = sizeof save, .flatbuffer = (int)round % 2};
    const taper_load_options plain = {.struct_size = sizeof plain}, compiled = {.struct_size = sizeof compiled,
                                                                                .compiler = taper_compiler(),
                                                                                .device = &on_cpu};
    taper_draft *draft;
    taper_model *model, *optimized;
    void *bytes;
    size_t size;
    if (taper_calibrator_finish(calibrator, &draft, error) != TAPER_OK) {
        return;
    }
    if (taper_draft_save_memory(draft, &save, &bytes, &size, error) == TAPER_OK) {
        if (taper_model_load_memory(context, bytes, size, NULL, NULL, &plain, &model, error) != TAPER_OK ||
            taper_model_load_memory(context, bytes, size, NULL, NULL, &compiled, &optimized, error) != TAPER_OK) {
            (void)fprintf(stderr, "what was written cannot be read: %s\n", taper_error_message(error));
            abort();
        }
        taper_value *result, *other;
        const taper_status status = run(context, model, model, round, &result, error);
        if (status != TAPER_OK && runs && !ran_out(status)) {
            (void)fprintf(stderr, "after: %s\n", taper_error_message(error));
            abort();
        }
        if (status == TAPER_OK && run(context, model, optimized, round, &other, error) == TAPER_OK) {
            if (!same(result, other, false, 0)) {
                (void)fprintf(stderr, "other results when optimized\n");
                abort();
            }
            taper_value_release(other);
        }
        taper_value_release(result);
        taper_model_release(optimized);
        taper_model_release(model);
    }
    taper_saved_free(draft, bytes, size);
    taper_draft_release(draft);
}

static void quantize(const uint8_t *data, size_t size, const taper_quantize_options *options, taper_error *error)
{
    const taper_context_options one = {
        .struct_size = sizeof one, .threads = 1, .log = say_nothing, .cpu_mask = test_cpu_mask()};
    const taper_load_options compiled = {
        .struct_size = sizeof compiled, .compiler = taper_compiler(), .device = &on_cpu};
    taper_context *context;
    taper_calibrator *calibrator;
    need(taper_context_create(&one, &context, NULL));
    taper_status status = taper_calibrator_load_memory(context, data, size, &compiled, options, &calibrator, error);
    if (status == TAPER_OK) {
        unsigned round = 0;
        do {
            status = feed(context, calibrator, taper_calibrator_run, round, error);
        } while (status != TAPER_OK && ++round < MADE_ROUNDS && taper_error_status(error) != TAPER_ERROR_INTERNAL);
        if (status == TAPER_OK) {
            const taper_status compared = feed(context, calibrator, taper_calibrator_compare, round, error);
            print_layers(calibrator);
            save_and_run(context, calibrator, round, compared == TAPER_OK && options->mode != TAPER_QUANTIZE_FULL,
                         error);
            status = compared;
        }
        taper_calibrator_release(calibrator);
    }
    if (status == TAPER_ERROR_INTERNAL) {
        (void)fprintf(stderr, "%s\n", taper_error_message(error));
        abort();
    }
    taper_context_release(context);
}

static void quantize_with_failure(const uint8_t *data, size_t size, const taper_quantize_options *options,
                                  taper_error *error)
{
    static const int64_t sizes[] = {1, 3, 8, 8};
    failing_allocator failing;
    failing_start(&failing, failing_place(data, size, MOST_PLACES));
    const taper_context_options one = {.struct_size = sizeof one,
                                       .allocator = &failing.allocator,
                                       .threads = 1,
                                       .log = say_nothing,
                                       .cpu_mask = test_cpu_mask()};
    const taper_load_options compiled = {
        .struct_size = sizeof compiled, .compiler = taper_compiler(), .device = &on_cpu};
    const taper_save_options save = {.struct_size = sizeof save};
    taper_context *context;
    taper_calibrator *calibrator;
    taper_draft *draft;
    taper_value *input = NULL;
    void *bytes;
    size_t written;
    if (taper_context_create(&one, &context, error) == TAPER_OK) {
        if (taper_calibrator_load_memory(context, data, size, &compiled, options, &calibrator, error) == TAPER_OK) {
            if (taper_value_tensor(context, TAPER_F32, 4, sizes, &input, error) == TAPER_OK &&
                taper_calibrator_run(calibrator, &input, 1, error) == TAPER_OK &&
                taper_calibrator_compare(calibrator, &input, 1, error) == TAPER_OK &&
                taper_calibrator_finish(calibrator, &draft, error) == TAPER_OK) {
                if (taper_draft_save_memory(draft, &save, &bytes, &written, error) == TAPER_OK) {
                    taper_saved_free(draft, bytes, written);
                }
                taper_draft_release(draft);
            }
            taper_value_release(input);
            taper_calibrator_release(calibrator);
        }
        taper_context_release(context);
    }
    failing_end(&failing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const taper_quantize_options options = choose(data[0]);
    uint8_t *file = malloc(size); // the model's bytes are copied to a block of their own, which is aligned
    if (file == NULL) {
        return 0;
    }
    memcpy(file, data + 1, size - 1);
    taper_error *error = taper_error_create();
    quantize(file, size - 1, &options, error);
    quantize_with_failure(file, size - 1, &options, error);
    taper_error_destroy(error);
    free(file);
    return 0;
}
