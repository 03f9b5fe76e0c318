// SPDX-License-Identifier: BSD-2-Clause
// Loads any bytes as a model with the public functions, as an app does, with and without optimizing, and runs `forward`
// on inputs generated from the declared types, with budgets of instructions, memory and time. The bytes come from
// memory, from a file and from a callback; with the callback, an allocation fails.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <taper/taper.h>
#include <taper/taper_compile.h>
#include <taper/taper_inspect.h>

#include "tests/api/load_text.h"
#include "tests/cpu_mask.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/fuzz/made_inputs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_PLACES = 100 // approximate number of allocations for loading and running a small model
};

// ---- running

static void look_at(const taper_value *value, unsigned depth)
{
    char type[64];
    (void)taper_value_type(value, type, sizeof type);
    const size_t count = taper_value_count(value);
    for (size_t i = 0; i < count && i < 8 && depth < MADE_DEPTH; i++) {
        taper_value *item;
        if (taper_value_item(value, i, &item, NULL) == TAPER_OK) {
            look_at(item, depth + 1);
            taper_value_release(item);
        }
    }
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_kind(value) == TAPER_KIND_TENSOR && taper_value_get_tensor(value, &info, NULL) == TAPER_OK &&
        info.bytes != 0) {
        volatile unsigned char sum = 0; // checks that the first and last bytes are readable
        sum = (unsigned char)(sum + ((const unsigned char *)info.data)[0]);
        sum = (unsigned char)(sum + ((const unsigned char *)info.data)[info.bytes - 1]);
    }
}

static taper_status run(taper_context *context, taper_model *model, taper_session *session, unsigned round,
                        taper_error *error)
{
    const int arguments = taper_model_method_arguments(model, "forward");
    const size_t count = arguments < 0 ? 1 : arguments > MADE_MOST_INPUTS ? MADE_MOST_INPUTS : (size_t)arguments;
    taper_value *inputs[MADE_MOST_INPUTS], *result;
    for (size_t i = 0; i < count; i++) {
        inputs[i] = made_input(context, taper_model_argument_type(model, "forward", i), round, 0);
    }
    const taper_status status = taper_session_run(session, "forward", inputs, count, &result, error);
    if (status == TAPER_OK) {
        look_at(result, 0);
        taper_value_release(result);
    } else if (taper_error_status(error) != status || status == TAPER_ERROR_INTERNAL) {
        abort(); // the load or run failed without a message, or with an internal error
    }
    for (size_t i = 0; i < count; i++) {
        taper_value_release(inputs[i]);
    }
    return status;
}

// Runs twice with each set of inputs; the second run uses the plan of the first. profiled: use the profiler, which
// measures the machine's peak for a tenth of a second in each context.
static void run_all(taper_context *context, taper_model *model, bool profiled, taper_error *error)
{
    const taper_session_options budgets = {.struct_size = sizeof budgets,
                                           .instruction_budget = 20000,
                                           .time_budget = 1.0,
                                           .memory_budget = (size_t)64 << 20};
    taper_session *session;
    if (taper_session_create(model, &budgets, &session, error) != TAPER_OK) {
        return;
    }
    for (unsigned round = 0; round < MADE_ROUNDS; round++) {
        (void)run(context, model, session, round, error);
        need(taper_profile_set(session, profiled, error));
        const taper_status status = run(context, model, session, round, error);
        need(taper_profile_set(session, 0, error));
        const size_t sites = taper_profile_count(session);
        for (size_t i = 0; i < sites; i++) {
            taper_profile_item item = {.struct_size = sizeof item};
            need(taper_profile_get(session, i, &item, error));
            if (item.calls != 0 && (item.name == NULL || item.kernel == NULL || !(item.seconds >= 0))) {
                abort();
            }
        }
        if (round == 0 && status == TAPER_OK) {
            taper_session_cancel(session);
            const taper_status cancelled = run(context, model, session, round, error);
            if (cancelled != TAPER_OK && cancelled != TAPER_ERROR_CANCELLED && cancelled != TAPER_ERROR_RAISED) {
                abort();
            }
        }
    }
    taper_session_destroy(session);
}

static void run_out_of_time(taper_context *context, taper_model *model, taper_error *error)
{
    const taper_session_options budgets = {
        .struct_size = sizeof budgets, .instruction_budget = 20000, .time_budget = 1e-9};
    taper_session *session;
    if (taper_session_create(model, &budgets, &session, error) == TAPER_OK) {
        if (run(context, model, session, 0, error) == TAPER_OK) {
            abort(); // must fail, because even one instruction exceeds the budget
        }
        taper_session_destroy(session);
    }
}

// ---- sources of the bytes

static taper_status load_file(taper_context *context, const uint8_t *data, size_t size, taper_model **model,
                              taper_error *error)
{
    static FILE *file; // the same file is used for all inputs
    if (file == NULL) {
        file = tmpfile();
    }
    const int fd = file != NULL ? fileno(file) : -1;
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size) {
        abort();
    }
    const taper_load_options options = {.struct_size = sizeof options,
                                        .compiler = taper_compiler(),
                                        .flags = size % 2 != 0 ? TAPER_LOAD_COPY : 0,
                                        .device = &on_cpu};
    return taper_model_load_fd(context, fd, 0, size, &options, model, error);
}

typedef struct source {
    const uint8_t *data;
    size_t size;
} source;

static int read_source(void *user, uint64_t offset, void *to, size_t size)
{
    const source *from = user;
    if (offset > from->size || size > from->size - offset) {
        abort();
    }
    memcpy(to, from->data + offset, size);
    return from->size % 16 == 15 ? 1 : 0; // sometimes returns fewer bytes than requested, as a faulty medium may do
}

// Loads and runs once. All memory of the context must be freed afterwards.
static void load_with_failure(const uint8_t *data, size_t size, size_t fail_at, taper_error *error)
{
    failing_allocator failing;
    failing_start(&failing, fail_at);
    const taper_context_options options = {.struct_size = sizeof options,
                                           .allocator = &failing.allocator,
                                           .threads = 1,
                                           .log = say_nothing,
                                           .cpu_mask = test_cpu_mask()};
    const taper_load_options load = {
        .struct_size = sizeof load, .compiler = size % 4 < 2 ? taper_compiler() : NULL, .device = &on_cpu};
    const taper_session_options budgets = {
        .struct_size = sizeof budgets, .instruction_budget = 1000, .memory_budget = (size_t)16 << 20};
    taper_context *context;
    if (taper_context_create(&options, &context, error) == TAPER_OK) {
        source from = {data, size};
        taper_model *model;
        if (taper_model_load_callback(context, read_source, &from, size, &load, &model, error) == TAPER_OK) {
            taper_session *session;
            taper_value *input, *result;
            if (taper_session_create(model, &budgets, &session, error) == TAPER_OK) {
                if (taper_value_int(context, 1, &input, error) == TAPER_OK) {
                    if (taper_session_run(session, "forward", &input, 1, &result, error) == TAPER_OK) {
                        taper_value_release(result);
                    }
                    taper_value_release(input);
                }
                taper_session_destroy(session);
            }
            taper_model_release(model);
        }
        taper_context_release(context);
    }
    failing_end(&failing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .log = say_nothing, .cpu_mask = test_cpu_mask()};
    const taper_load_options plain = {.struct_size = sizeof plain}, wrong = {.struct_size = 1};
    taper_context *context;
    taper_model *model;
    need(taper_context_create(&options, &context, NULL));
    taper_error *error = taper_error_create();
    const taper_status status = taper_model_load_memory(context, data, size, NULL, NULL, &plain, &model, error);
    if (status == TAPER_OK) {
        run_all(context, model, size % 8 == 1, error);
        run_out_of_time(context, model, error);
        taper_model_release(model);
    } else if (model != NULL || taper_error_status(error) != status || status == TAPER_ERROR_INTERNAL) {
        abort();
    }
    const taper_status optimized = load_file(context, data, size, &model, error);
    if (optimized != status) {
        abort(); // with the same bytes, loading with the optimizer must succeed or refuse the model
    }
    if (optimized == TAPER_OK) {
        run_all(context, model, size % 8 == 1, error);
        taper_model_release(model);
    }
    if (taper_model_load_memory(context, data, size, NULL, NULL, &wrong, &model, error) != TAPER_ERROR_ARGUMENT ||
        model != NULL) {
        abort();
    }
    taper_context_release(context);
    load_with_failure(data, size, failing_place(data, size, MOST_PLACES), error);
    taper_error_destroy(error);
    return 0;
}
