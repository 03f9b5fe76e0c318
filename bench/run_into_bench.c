// SPDX-License-Identifier: BSD-2-Clause
// run_into_bench MODEL N,C,H,W ROUNDS: measures the cost of a float result in memory of the caller, with a run followed
// by a copy, and with taper_session_run_into. Both ways alternate. Prints the median of each way in milliseconds, the
// median of the ratios, and the number of results that the last run placed in the caller's memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <taper/taper_compile.h>

enum { MOST = 1000 };

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, by_size);
    return numbers[count / 2];
}

static taper_status open_input(taper_context *context, const char *text, taper_value **input, taper_error *error)
{
    int64_t sizes[4];
    for (size_t i = 0; i < 4; i++) {
        char *end;
        sizes[i] = strtol(text, &end, 10);
        text = end + (*end == ',');
    }
    const taper_status status = taper_value_tensor(context, TAPER_F32, 4, sizes, input, error);
    taper_tensor_info info = {.struct_size = sizeof info};
    if (status == TAPER_OK && taper_value_get_tensor(*input, &info, error) == TAPER_OK) {
        memset(info.data, 0, info.bytes);
    }
    return status;
}

static taper_status copied(taper_session *session, taper_value **input, void *to, taper_tensor_info *info)
{
    taper_value *result;
    taper_status status = taper_session_run(session, NULL, input, 1, &result, NULL);
    if (status == TAPER_OK) {
        status = taper_value_get_tensor(result, info, NULL);
        if (status == TAPER_OK && to != NULL) {
            memcpy(to, info->data, info->bytes);
        }
        taper_value_release(result);
    }
    return status;
}

int main(int argc, char **argv)
{
    static double apart[MOST], into[MOST], ratio[MOST];
    taper_error *error = taper_error_create();
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *input, *result;
    taper_tensor_info info = {.struct_size = sizeof info};
    const size_t rounds = argc == 4 ? (size_t)strtoul(argv[3], NULL, 10) : 0;
    if (rounds == 0 || rounds > MOST) {
        fprintf(stderr, "usage: run_into_bench MODEL N,C,H,W ROUNDS\n");
        return 2;
    }
    const taper_context_options options = {.struct_size = sizeof options, .threads = 1};
    if (taper_context_create(&options, &context, error) || taper_model_open(context, argv[1], NULL, &model, error) ||
        taper_session_create(model, NULL, &session, error) || open_input(context, argv[2], &input, error) ||
        taper_session_run(session, NULL, &input, 1, &result, error) || taper_value_get_tensor(result, &info, error)) {
        fprintf(stderr, "%s\n", taper_error_message(error));
        return 1;
    }
    int64_t sizes[TAPER_MAX_RANK];
    memcpy(sizes, info.sizes, info.rank * sizeof *sizes);
    void *memory = aligned_alloc(64, (info.bytes + 63) / 64 * 64);
    const taper_output output = {info.dtype, info.rank, sizes, memory, info.bytes};
    taper_value_release(result);
    for (size_t i = 0; memory != NULL && i < rounds + 3; i++) { // three rounds of warm-up
        const size_t at = i < 3 ? 0 : i - 3;
        const double begin = now();
        if (copied(session, &input, memory, &info) != TAPER_OK) {
            return 1;
        }
        const double between = now();
        if (taper_session_run_into(session, NULL, &input, 1, &output, 1, error) != TAPER_OK) {
            fprintf(stderr, "%s\n", taper_error_message(error));
            return 1;
        }
        apart[at] = 1e3 * (between - begin);
        into[at] = 1e3 * (now() - between);
        ratio[at] = into[at] / apart[at];
    }
    taper_memory_info used = {.struct_size = sizeof used};
    taper_session_memory(session, &used);
    printf("run and copy %.3f ms, run_into %.3f ms, ratio %.3f, %d of 1 placed\n", median(apart, rounds),
           median(into, rounds), median(ratio, rounds), (int)used.placed_results);
    free(memory);
    taper_value_release(input);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    return 0;
}
