// SPDX-License-Identifier: BSD-2-Clause
#include "taper/opened_model.h"

#include <stdlib.h>
#include <string.h>

#include <taper/taper_compile.h>
#include <taper/taper_device.h>

#include "common/errors.h"
#include "common/terminal.h"
#include "common/waiting.h"
#include "taper/pass_names.h"

void model_options_on_gpu(model_options *options, const char *device_options)
{
    const char *device = options->device != NULL ? options->device : "";
    if (options->device_options == NULL && (strncmp(device, "vulkan", 6) == 0 || strncmp(device, "metal", 5) == 0)) {
        options->device_options = device_options;
    }
}

int model_options_check(const model_options *options, const char *usage)
{
    if (options->memory != NULL && strcmp(options->memory, "low") != 0 && strcmp(options->memory, "fast") != 0) {
        return error_usage(usage, "--memory should be low or fast, not \"%.100s\"", options->memory);
    }
    return passes_check(&options->disable, usage);
}

static void log_text(void *user, taper_log_level level, const char *text, size_t length)
{
    const model_options *options = user;
    FILE *stream = level == TAPER_LOG_PRINT && !options->print_to_stderr ? stdout : stderr;
    if (level != TAPER_LOG_INFO || options->verbose) {
        text_put(stream, text, length, true);
        fputs(length == 0 || text[length - 1] != '\n' ? "\n" : "", stream);
    }
}

enum { MOST_SETTINGS = 32 };

// The load options, together with the memory to which some of these options point.
typedef struct load_request {
    taper_load_options load;
    taper_device_choice device;
    taper_device_setting settings[MOST_SETTINGS];
    pass_names disabled;
    uint64_t cpu_mask;
} load_request;

static taper_status read_device(const model_options *options, load_request *request, taper_error *error)
{
    taper_load_options *load = &request->load;
    request->device.struct_size = sizeof request->device;
    taper_status status = TAPER_OK;
    if (options->device != NULL) {
        status = taper_device_parse(options->device, &request->device, error);
        load->device = &request->device;
    }
    if (status == TAPER_OK) {
        status = taper_precision_parse(options->precision, &load->precision, error);
    }
    if (status == TAPER_OK) {
        status = taper_device_options_parse(options->device_options, request->settings, MOST_SETTINGS,
                                            &load->setting_count, error);
        load->settings = request->settings;
    }
    return status;
}

static uint64_t flags_of(const model_options *options)
{
    return (options->reference ? TAPER_LOAD_REFERENCE : 0) | (options->listing ? TAPER_LOAD_LISTING : 0) |
           (options->evaluation ? TAPER_LOAD_EVALUATION : 0) | (options->no_guards ? TAPER_LOAD_NO_GUARDS : 0) |
           (options->verify ? TAPER_LOAD_VERIFY : 0) |
           (options->memory != NULL && strcmp(options->memory, "low") == 0 ? TAPER_LOAD_LOW_MEMORY : 0);
}

static bool open_steps(opened_model *opened, const model_options *options, load_request *request)
{
    const taper_context_options context = {.struct_size = sizeof context,
                                           .threads = (unsigned)options->threads,
                                           .cpu_mask = request->cpu_mask,
                                           .cache_dir = options->cache,
                                           .log = log_text,
                                           .log_user = (void *)(uintptr_t)options};
    request->load =
        (taper_load_options){.struct_size = sizeof request->load,
                             .compiler = options->no_optimize || options->reference ? NULL : taper_compiler(),
                             .flags = flags_of(options),
                             .disabled_passes = request->disabled.items,
                             .disabled_pass_count = request->disabled.count};
    load_limits_apply(&options->limits, &request->load);
    if (read_device(options, request, opened->error) != TAPER_OK) {
        return false;
    }
    opened->context = options->context;
    opened->has_context = options->context == NULL;
    if (opened->has_context && taper_context_create(&context, &opened->context, opened->error) != TAPER_OK) {
        return false;
    }
    waiting shown;
    const double begin = clock_seconds();
    waiting_begin(&shown, "loading", opened->path);
    const bool done =
        taper_model_load(opened->context, opened->path, &request->load, &opened->model, opened->error) == TAPER_OK &&
        (options->listing ||
         taper_session_create(opened->model, options->session.struct_size != 0 ? &options->session : NULL,
                              &opened->session, opened->error) == TAPER_OK);
    opened->load_seconds = clock_seconds() - begin;
    waiting_end(&shown);
    return done;
}

bool model_open(opened_model *opened, const char *path, const model_options *options)
{
    load_request request = {0};
    *opened = (opened_model){.path = path, .error = taper_error_create()};
    // fix_attributes is added here, because it is a step of the import of sources, not a pass that --disable accepts.
    bool done = opened->error != NULL &&
                pass_names_read(&options->disable, options->keeps_numbers ? "fix_attributes" : NULL, &request.disabled);
    if (!done) {
        error_report_memory(path);
    } else if (!cpu_mask_read(options->cpu, &request.cpu_mask)) {
        done = false;
    } else if (!open_steps(opened, options, &request)) {
        done = error_report_library(path, opened->error);
    }
    pass_names_free(&request.disabled);
    opened->runs_in_training = done && opened->session != NULL && !options->quiet && options->context == NULL &&
                               taper_model_is_training(opened->model) != 0 &&
                               taper_model_uses_training(opened->model) != 0;
    if (!done) {
        model_close(opened);
    }
    return done;
}

void model_close(opened_model *opened)
{
    // Dropout and batch norm compute different results in training mode, which is rarely intended.
    if (opened->runs_in_training && !errors_reported()) {
        fflush(stdout);
        text_put(stderr, opened->path, strlen(opened->path), false);
        fputs(": the model was saved in training mode and ran in it; --eval runs it in evaluation mode\n", stderr);
    }
    taper_session_destroy(opened->session);
    taper_model_release(opened->model);
    if (opened->has_context) {
        taper_context_release(opened->context);
    }
    taper_error_destroy(opened->error);
    *opened = (opened_model){0};
}

bool model_run(const opened_model *opened, const char *method, taper_value *const *inputs, size_t count,
               taper_value **result)
{
    waiting shown = {.active = false};
    if (!opened->measured) {
        waiting_begin(&shown, "running", opened->path);
    }
    const taper_status status = taper_session_run(opened->session, method, inputs, count, result, opened->error);
    waiting_end(&shown);
    return status == TAPER_OK || error_report_library(opened->path, opened->error);
}

bool model_has_method(const opened_model *opened, const char *method)
{
    for (size_t i = 0; i < taper_model_method_count(opened->model); i++) {
        if (strcmp(taper_model_method_name(opened->model, i), method) == 0) {
            return true;
        }
    }
    return false;
}
