// SPDX-License-Identifier: BSD-2-Clause
// sizes_bench MODEL SMALLEST STEP COUNT RUNS plain|kept: runs one session with images of changing sizes: COUNT heights
// and COUNT widths, from SMALLEST pixels in steps of STEP. With "kept", the allocator caches freed memory
// (taper_memory.h). Prints JSON: milliseconds, calls of the system's allocator and page faults per run, the peak of
// memory, and the memory after everything was freed. bench/caching.py calls this program.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <taper/taper_compile.h>
#include <taper/taper_memory.h>

typedef struct counted {
    unsigned long calls;
    size_t bytes;
} counted;

static void *reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    counted *c = user;
    c->calls++;
    c->bytes += new_size - old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long faults(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static taper_status run_once(taper_context *context, taper_session *session, const int64_t *sizes, taper_error *error)
{
    taper_value *input, *result = NULL;
    taper_tensor_info info = {.struct_size = sizeof info};
    taper_status status = taper_value_tensor(context, TAPER_F32, 4, sizes, &input, error);
    if (status == TAPER_OK) {
        status = taper_value_get_tensor(input, &info, error);
    }
    if (status == TAPER_OK) {
        memset(info.data, 0, info.bytes);
        status = taper_session_run(session, NULL, &input, 1, &result, error);
    }
    taper_value_release(input);
    taper_value_release(result);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: sizes_bench MODEL SMALLEST STEP COUNT RUNS plain|kept\n");
        return 2;
    }
    const long smallest = atol(argv[2]), step = atol(argv[3]), count = atol(argv[4]), runs = atol(argv[5]);
    const bool kept = strcmp(argv[6], "kept") == 0;
    counted system = {0};
    const taper_allocator under = {.user = &system, .reallocate = reallocate};
    taper_error *error = taper_error_create();
    taper_caching_allocator *caching = NULL;
    taper_context_options options = {.struct_size = sizeof options, .threads = 1, .allocator = &under};
    const taper_load_options load = {
        .struct_size = sizeof load, .compiler = taper_compiler(), .flags = TAPER_LOAD_EVALUATION};
    taper_context *context = NULL;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_status status = TAPER_OK;
    if (kept) {
        status = taper_caching_allocator_create(&under, 0, &caching, error);
        options.allocator = taper_caching_allocator_get(caching);
    }
    if (status != TAPER_OK || taper_context_create(&options, &context, error) != TAPER_OK ||
        taper_model_load(context, argv[1], &load, &model, error) != TAPER_OK ||
        taper_session_create(model, NULL, &session, error) != TAPER_OK) {
        fprintf(stderr, "%s\n", taper_error_message(error));
        return 1;
    }
    uint32_t seed = 1;
    double begin = 0;
    unsigned long calls = 0;
    long before = 0;
    for (long i = -2 * count; i < runs && status == TAPER_OK; i++) { // warm-up: two runs for each size
        if (i == 0) {
            calls = system.calls;
            before = faults();
            begin = now();
        }
        seed = seed * 1664525u + 1013904223u;
        const long at = (long)(seed >> 16) % count;
        const int64_t sizes[] = {1, 3, smallest + step * at, smallest + step * (at * 7 % count)};
        status = run_once(context, session, sizes, error);
    }
    if (status != TAPER_OK) {
        fprintf(stderr, "%s\n", taper_error_message(error));
        return 1;
    }
    const double ms = (now() - begin) * 1e3 / (double)runs;
    const size_t most = system.bytes;
    calls = system.calls - calls;
    before = faults() - before;
    taper_session_trim(session);
    taper_context_trim(context);
    taper_caching_allocator_trim(caching);
    printf("{\"ms\": %.4f, \"calls\": %.2f, \"faults\": %.1f, \"megabytes\": %.1f, \"trimmed\": %.1f}\n", ms,
           (double)calls / (double)runs, (double)before / (double)runs, (double)most / 1e6, (double)system.bytes / 1e6);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    taper_caching_allocator_release(caching);
    taper_error_destroy(error);
    return 0;
}
