// SPDX-License-Identifier: BSD-2-Clause
// compare_worker MODEL THREADS INPUT N,C,H,W [CACHE]: the process that runs Taper for bench/compare. INPUT is a file
// with the floats of the single input. First it prints a line "LOAD FIRST PEAK", in milliseconds and KB. Then it
// executes each line it reads:
//   time SECONDS   run for that time, at least once; prints a line with the milliseconds of the runs
//   save FILE      write the floats of the first tensor of the last result
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <taper/taper_compile.h>

#include "tests/cpu_mask.h"

typedef struct worker {
    taper_error *error;
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *input, *result;
} worker;

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static taper_status run(worker *w)
{
    taper_value_release(w->result);
    w->result = NULL;
    return taper_session_run(w->session, NULL, &w->input, 1, &w->result, w->error);
}

static taper_status open_input(worker *w, const char *path, const char *text)
{
    int64_t sizes[8];
    size_t count = 1, rank = 0;
    for (char *end; rank < 8 && *text != '\0'; rank++, text = end + (*end == ',')) {
        sizes[rank] = strtol(text, &end, 10);
        if (end == text || sizes[rank] < 1 || (size_t)sizes[rank] > SIZE_MAX / sizeof(float) / count) {
            return TAPER_ERROR_ARGUMENT;
        }
        count *= (size_t)sizes[rank];
    }
    float *data = malloc(count * sizeof *data);
    FILE *file = fopen(path, "rb");
    const bool read = data != NULL && file != NULL && fread(data, sizeof *data, count, file) == count;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!read) {
        free(data);
        return TAPER_ERROR_FILE;
    }
    return taper_value_tensor_from(w->context, TAPER_F32, rank, sizes, NULL, data, count * sizeof *data, 1, free, data,
                                   &w->input, w->error);
}

static taper_status load(worker *w, const char *path)
{
    const taper_load_options options = {.struct_size = sizeof options, .compiler = taper_compiler()};
    taper_status status = taper_model_load(w->context, path, &options, &w->model, w->error);
    return status == TAPER_OK ? taper_session_create(w->model, NULL, &w->session, w->error) : status;
}

static void time_runs(worker *w, double seconds)
{
    const double end = now_ms() + 1e3 * seconds;
    double before = now_ms(), after;
    do {
        if (run(w) != TAPER_OK) {
            break;
        }
        after = now_ms();
        printf("%.5f ", after - before);
        before = now_ms();
    } while (after < end);
    printf("\n");
}

// Returns the first tensor of a result: the result itself if it is a tensor, otherwise the first tensor in a dict,
// tuple or list.
static const taper_value *tensor_in(const taper_value *value)
{
    taper_value *inner = NULL;
    while (value != NULL && taper_value_kind(value) != TAPER_KIND_TENSOR) {
        if (taper_value_item(value, 0, &inner, NULL) != TAPER_OK) {
            return NULL;
        }
        value = inner; // the outer container keeps `value` alive after this release
        taper_value_release(inner);
    }
    return value;
}

static bool write_floats(const taper_tensor_info *t, size_t dimension, const float *at, FILE *file)
{
    if (dimension == t->rank) {
        return fwrite(at, sizeof *at, 1, file) == 1;
    }
    bool done = true;
    for (int64_t i = 0; i < t->sizes[dimension] && done; i++) {
        done = write_floats(t, dimension + 1, at + i * t->strides[dimension], file);
    }
    return done;
}

static bool save(const worker *w, const char *path)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    const taper_value *tensor = tensor_in(w->result);
    if (tensor == NULL || taper_value_get_tensor(tensor, &info, w->error) != TAPER_OK || info.dtype != TAPER_F32) {
        return false;
    }
    FILE *file = fopen(path, "wb");
    const bool done = file != NULL && write_floats(&info, 0, info.data, file);
    return file != NULL && fclose(file) == 0 && done;
}

static void close_worker(worker *w)
{
    taper_value_release(w->result);
    taper_value_release(w->input);
    taper_session_destroy(w->session);
    taper_model_release(w->model);
    taper_context_release(w->context);
    taper_error_destroy(w->error);
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: compare_worker MODEL THREADS INPUT N,C,H,W [CACHE]\n");
        return 2;
    }
    worker w = {.error = taper_error_create()};
    const taper_context_options options = {.struct_size = sizeof options,
                                           .threads = (unsigned)strtoul(argv[2], NULL, 10),
                                           .cpu_mask = test_cpu_mask(),
                                           .cache_dir = argv[5]};
    taper_status status = taper_context_create(&options, &w.context, w.error);
    status = status == TAPER_OK ? open_input(&w, argv[3], argv[4]) : status;
    const double begun = now_ms();
    status = status == TAPER_OK ? load(&w, argv[1]) : status;
    const double loaded = now_ms();
    status = status == TAPER_OK ? run(&w) : status;
    const double first = now_ms();
    char line[4096];
    if (status == TAPER_OK) {
        struct rusage usage;
        (void)getrusage(RUSAGE_SELF, &usage);
        printf("%.4f %.4f %ld\n", loaded - begun, first - loaded, usage.ru_maxrss);
        (void)fflush(stdout);
    }
    while (status == TAPER_OK && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "save ", 5) == 0) {
            printf("%s\n", save(&w, line + 5) ? "saved" : "not saved");
        } else {
            time_runs(&w, strncmp(line, "time ", 5) == 0 ? strtod(line + 5, NULL) : 0);
        }
        (void)fflush(stdout);
    }
    if (status != TAPER_OK) {
        fprintf(stderr, "compare_worker: %s\n", taper_error_message(w.error));
    }
    close_worker(&w);
    return status == TAPER_OK ? 0 : 1;
}
