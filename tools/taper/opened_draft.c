// SPDX-License-Identifier: BSD-2-Clause
#include "taper/opened_draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/errors.h"
#include "common/files.h"
#include "common/suffix.h"
#include "common/waiting.h"

bool draft_open(opened_draft *opened, const char *path, const char *const *methods, size_t method_count,
                const save_arguments *arguments)
{
    *opened = (opened_draft){.path = path, .error = taper_error_create()};
    taper_context_options context = {.struct_size = sizeof context, .threads = 1};
    taper_load_options load = {
        .struct_size = sizeof load, .compiler = taper_compiler(), .methods = methods, .method_count = method_count};
    load_limits_apply(&arguments->limits, &load);
    bool done = true;
    if (opened->error == NULL) {
        done = error_report_memory(path);
    } else if (!cpu_mask_read(arguments->cpu, &context.cpu_mask)) {
        done = false;
    } else {
        waiting shown;
        waiting_begin(&shown, "loading", path);
        done = taper_context_create(&context, &opened->context, opened->error) == TAPER_OK &&
               taper_draft_load(opened->context, path, &load, &opened->draft, opened->error) == TAPER_OK;
        waiting_end(&shown);
        done = done || error_report_library(path, opened->error);
    }
    if (!done) {
        draft_close(opened);
    }
    return done;
}

void draft_close(opened_draft *opened)
{
    taper_draft_release(opened->draft);
    taper_context_release(opened->context);
    taper_error_destroy(opened->error);
    *opened = (opened_draft){0};
}

static int write_stream(void *user, const void *data, size_t size)
{
    return output_write(user, data, size) ? 0 : -1;
}

// Returns the name of the archive's folder: the name of the file without folders and extension. The caller frees it.
static char *archive_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    char *copy = calloc(length + 1, 1);
    if (copy != NULL) {
        memcpy(copy, name, length);
    }
    return copy;
}

bool draft_save(const opened_draft *opened, const char *path, const taper_save_options *options)
{
    output_file file;
    taper_save_options named = *options;
    char *name = archive_name(path);
    if (name == NULL) {
        return error_report_memory(path);
    }
    named.name = *name != '\0' ? name : "model";
    bool done = output_open(&file, path);
    if (done) {
        waiting shown;
        errno = 0;
        waiting_begin(&shown, "saving", path);
        const taper_status status = taper_draft_save(opened->draft, &named, write_stream, &file, opened->error);
        const int problem = errno;
        waiting_end(&shown);
        if (status != TAPER_OK) {
            done = ferror(file.stream) ? error_report(path, "cannot write: %s", strerror(problem))
                                       : error_report_library(opened->path, opened->error);
            output_discard(&file);
        } else {
            done = output_commit(&file);
        }
    }
    free(name);
    return done;
}

int save_arguments_check(const save_arguments *arguments, const char *usage, taper_save_options *options)
{
    if (arguments->output == NULL) {
        return error_usage(usage, "-o OUT is missing: where shall the model be written?");
    }
    if (suffix_among(arguments->output, SUFFIXES_OF_ARRAYS " " SUFFIXES_OF_PICTURES " " SUFFIXES_OF_MODELS)) {
        return error_usage(usage, "-o %.200s: models are written for the lite interpreter, as .ptl", arguments->output);
    }
    if (arguments->flatbuffer && arguments->bytecode != 0) {
        return error_usage(usage, "--bytecode and --flatbuffer exclude each other: a flatbuffer has version 9");
    }
    if (arguments->flatbuffer && arguments->debug_info) {
        return error_usage(usage,
                           "--debug-info and --flatbuffer exclude each other: a flatbuffer holds no call stacks");
    }
    *options = (taper_save_options){.struct_size = sizeof *options,
                                    .bytecode = (int)arguments->bytecode,
                                    .flatbuffer = arguments->flatbuffer,
                                    .debug_info = arguments->debug_info};
    return ARGS_GO_ON;
}
