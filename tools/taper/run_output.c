// SPDX-License-Identifier: BSD-2-Clause
#include "taper/run_output.h"

#include <errno.h>
#include <string.h>

#include "common/args.h"
#include "common/errors.h"
#include "common/json_value.h"
#include "common/suffix.h"

#define OTHER_FORMATS SUFFIXES_OF_ARRAYS " " SUFFIXES_OF_PICTURES " .ptl .pt .pth " SUFFIXES_OF_MODELS

static run_format format_of(const char *path)
{
    return suffix_among(path, ".npy") ? RUN_NPY : suffix_among(path, ".json") ? RUN_JSON : RUN_NPZ;
}

int run_output_check(const char *path, bool several, const char *usage)
{
    if (path == NULL || suffix_among(path, ".npz .json")) {
        return ARGS_GO_ON;
    }
    if (suffix_among(path, ".npy")) {
        return several ? error_usage(usage, "-o %.200s: a .npy file holds one result, there are several", path)
                       : ARGS_GO_ON;
    }
    return suffix_among(path, OTHER_FORMATS)
               ? error_usage(usage, "-o %.200s: results are written as .npz, .npy or .json", path)
               : ARGS_GO_ON;
}

bool run_output_open(run_output *output, const run_output *start)
{
    *output = *start;
    if (output->path == NULL) {
        return true;
    }
    output->format = format_of(output->path);
    return output->format == RUN_NPZ ? npz_open(&output->npz, output->path) : output_open(&output->file, output->path);
}

static void begin_times(const run_output *output, FILE *stream)
{
    fputs("{\"model\": ", stream);
    json_put_text(stream, output->model, strlen(output->model));
    fprintf(stream, ", \"load_ms\": %.4f, \"calls\": [\n", output->load_ms);
}

static bool add_with_times(const run_output *output, FILE *stream, const char *name, const taper_value *result,
                           taper_error *error)
{
    if (output->results == 0) {
        begin_times(output, stream);
    }
    fputs(output->results == 0 ? "{\"name\": " : ",\n{\"name\": ", stream);
    json_put_text(stream, name, strlen(name));
    fprintf(stream, ", \"ms\": %.4f, \"result\": ", output->ms);
    const bool done = result_to_json(stream, name, result, error);
    fputc('}', stream);
    return done;
}

static bool add_json(const run_output *output, FILE *stream, const char *name, const taper_value *result,
                     taper_error *error)
{
    if (output->times) {
        return add_with_times(output, stream, name, result, error);
    }
    fputs(!output->several ? "" : output->results == 0 ? "[\n" : ",\n", stream);
    return result_to_json(stream, name, result, error);
}

bool run_output_add(run_output *output, const char *name, const taper_value *result, taper_error *error)
{
    bool done = true;
    if (output->path != NULL) {
        done = output->format == RUN_NPZ   ? result_to_npz(&output->npz, name, result, error)
               : output->format == RUN_NPY ? result_to_npy(&output->file, name, result, error)
                                           : add_json(output, output->file.stream, name, result, error);
    }
    if (done && output->json) {
        done = add_json(output, stdout, name, result, error);
    } else if (done && output->path == NULL) {
        done = result_to_text(stdout, name, result, error);
    }
    output->results += done;
    return done;
}

static void end_json(const run_output *output, FILE *stream)
{
    if (output->times) {
        if (output->results == 0) {
            begin_times(output, stream);
        }
        fputs("\n]}\n", stream);
        return;
    }
    fputs(!output->several ? "\n" : output->results == 0 ? "[]\n" : "\n]\n", stream);
}

static bool commit(run_output *output)
{
    if (output->format == RUN_NPZ) {
        return npz_commit(&output->npz);
    }
    if (output->format == RUN_JSON) {
        end_json(output, output->file.stream);
    }
    return output_commit(&output->file);
}

bool run_output_close(run_output *output, bool done)
{
    if (done || output->several) {
        if (output->json) {
            end_json(output, stdout);
        }
        done = (output->path == NULL || commit(output)) && done;
    }
    npz_discard(&output->npz);
    output_discard(&output->file);
    return done;
}
