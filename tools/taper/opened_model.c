// SPDX-License-Identifier: BSD-2-Clause
#include "taper/opened_model.h"

#include <stdlib.h>
#include <string.h>

#include <taper/taper_compile.h>

#include "common/errors.h"
#include "common/suggest.h"
#include "common/terminal.h"
#include "common/waiting.h"

int passes_check(const arg_texts *disable, const char *usage)
{
    for (size_t i = 0; i < disable->count; i++) {
        for (const char *name = disable->items[i]; *name != '\0';) {
            const size_t length = strcspn(name, ",");
            if (length != 0 && !taper_compiler_has_pass(name, length)) {
                suggestion near = suggest_for(name, length);
                for (size_t k = 0; k < taper_compiler_pass_count(); k++) {
                    suggest_among(&near, taper_compiler_pass_name(k));
                }
                return error_usage(usage, "--disable: there is no pass \"%.*s\"%s", (int)length, name,
                                   near.best != NULL ? suggest_text(&near)
                                                     : "; `taper optimize --list-passes` lists them");
            }
            name += length + (name[length] == ',');
        }
    }
    return ARGS_GO_ON;
}

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

char *passes_join(const arg_texts *disable, const char *also)
{
    size_t size = 1 + (also != NULL ? strlen(also) + 1 : 0);
    for (size_t i = 0; i < disable->count; i++) {
        size += strlen(disable->items[i]) + 1;
    }
    char *joined = disable->count != 0 || also != NULL ? calloc(size, 1) : NULL;
    for (size_t i = 0; joined != NULL && i < disable->count; i++) {
        strcat(strcat(joined, i != 0 ? "," : ""), disable->items[i]);
    }
    return joined != NULL && also != NULL ? strcat(strcat(joined, disable->count != 0 ? "," : ""), also) : joined;
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

static bool open_steps(opened_model *opened, const model_options *options, uint64_t cpu_mask, const char *disabled)
{
    const taper_context_options context = {.struct_size = sizeof context,
                                           .threads = (unsigned)options->threads,
                                           .cpu_mask = cpu_mask,
                                           .cache_dir = options->cache,
                                           .log = log_text,
                                           .log_user = (void *)(uintptr_t)options};
    taper_load_options load = {.struct_size = sizeof load,
                               .compiler = options->no_optimize || options->reference ? NULL : taper_compiler(),
                               .disable_passes = disabled,
                               .reference = options->reference,
                               .listing = options->listing,
                               .evaluation = options->evaluation,
                               .no_guards = options->no_guards,
                               .verify = options->verify,
                               .device = options->device,
                               .precision = options->precision,
                               .device_options = options->device_options,
                               .low_memory = options->memory != NULL && strcmp(options->memory, "low") == 0};
    load_limits_apply(&options->limits, &load);
    opened->context = options->context;
    opened->has_context = options->context == NULL;
    if (opened->has_context && taper_context_create(&context, &opened->context, opened->error) != TAPER_OK) {
        return false;
    }
    waiting shown;
    const double begin = clock_seconds();
    waiting_begin(&shown, "loading", opened->path);
    const bool done =
        taper_model_load(opened->context, opened->path, &load, &opened->model, opened->error) == TAPER_OK &&
        (options->listing ||
         taper_session_create(opened->model, options->session.struct_size != 0 ? &options->session : NULL,
                              &opened->session, opened->error) == TAPER_OK);
    opened->load_seconds = clock_seconds() - begin;
    waiting_end(&shown);
    return done;
}

bool model_open(opened_model *opened, const char *path, const model_options *options)
{
    uint64_t cpu_mask;
    *opened = (opened_model){.path = path, .error = taper_error_create()};
    // What is done while sources are lowered is no pass that --disable knows.
    const char *also = options->keeps_numbers ? "fix_attributes" : NULL;
    char *disabled = passes_join(&options->disable, also);
    bool done = opened->error != NULL && (disabled != NULL || (options->disable.count == 0 && also == NULL));
    if (!done) {
        error_report_memory(path);
    } else if (!cpu_mask_read(options->cpu, &cpu_mask)) {
        done = false;
    } else if (!open_steps(opened, options, cpu_mask, disabled)) {
        done = error_report_library(path, opened->error);
    }
    free(disabled);
    opened->runs_in_training = done && opened->session != NULL && !options->quiet && options->context == NULL &&
                               taper_model_is_training(opened->model) != 0 && taper_model_trains(opened->model) != 0;
    if (!done) {
        model_close(opened);
    }
    return done;
}

void model_close(opened_model *opened)
{
    if (opened->runs_in_training && !errors_reported()) { // dropout and batch norm do what nobody wants by chance
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
