// SPDX-License-Identifier: BSD-2-Clause
// session_bench MODEL N,C,H,W SESSIONS THREADS SECONDS: measures runs per second of one model in several sessions at
// once, each in its own thread. All sessions share a pool of THREADS threads (0 for the default). bench/threads.py
// calls this program.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <taper/taper_compile.h>

#include "tests/cpu_mask.h"

enum { MOST = 256 };

typedef struct user {
    pthread_t thread;
    taper_session *session;
    taper_value *input;
    atomic_bool *stop;
    unsigned long runs;
    bool failed;
} user;

static bool run_once(user *u)
{
    taper_value *result;
    u->failed = taper_session_run(u->session, NULL, &u->input, 1, &result, NULL) != TAPER_OK;
    taper_value_release(result);
    return !u->failed;
}

static void *run_on(void *argument)
{
    user *u = argument;
    while (!atomic_load_explicit(u->stop, memory_order_relaxed) && run_once(u)) {
        u->runs++;
    }
    return NULL;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The value keeps pointing to this memory until the program ends, so the memory is never freed.
static taper_status open_input(taper_context *context, const char *text, taper_value **input, taper_error *error)
{
    int64_t sizes[4];
    size_t count = 1;
    for (size_t i = 0; i < 4; i++) {
        char *end;
        sizes[i] = strtol(text, &end, 10);
        text = end + (*end == ',');
        count *= (size_t)sizes[i];
    }
    float *data = calloc(count, sizeof *data);
    return taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, data, count * sizeof *data, 1, free, data, input,
                                   error);
}

int main(int argc, char **argv)
{
    static user users[MOST];
    taper_error *error = taper_error_create();
    taper_context *context;
    taper_model *model;
    taper_value *input;
    const size_t count = argc == 6 ? (size_t)strtoul(argv[3], NULL, 10) : 0;
    if (count == 0 || count > MOST) {
        fprintf(stderr, "usage: session_bench MODEL N,C,H,W SESSIONS THREADS SECONDS\n");
        return 2;
    }
    const taper_context_options context_options = {.struct_size = sizeof context_options,
                                                   .threads = (unsigned)strtoul(argv[4], NULL, 10),
                                                   .cpu_mask = test_cpu_mask()};
    const taper_load_options options = {.struct_size = sizeof options, .compiler = taper_compiler()};
    if (taper_context_create(&context_options, &context, error) != TAPER_OK ||
        taper_model_load(context, argv[1], &options, &model, error) != TAPER_OK ||
        open_input(context, argv[2], &input, error) != TAPER_OK) {
        fprintf(stderr, "%s\n", taper_error_message(error));
        return 1;
    }
    atomic_bool stop = false;
    for (size_t i = 0; i < count; i++) {
        users[i] = (user){.input = input, .stop = &stop};
        if (taper_session_create(model, NULL, &users[i].session, error) != TAPER_OK || !run_once(&users[i])) {
            fprintf(stderr, "%s\n", taper_error_message(error));
            return 1;
        }
    }
    const double begin = now();
    for (size_t i = 0; i < count; i++) {
        if (pthread_create(&users[i].thread, NULL, run_on, &users[i]) != 0) {
            return 1;
        }
    }
    const double seconds = strtod(argv[5], NULL);
    (void)nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}, NULL);
    atomic_store(&stop, true);
    unsigned long runs = 0;
    for (size_t i = 0; i < count; i++) {
        (void)pthread_join(users[i].thread, NULL);
        runs += users[i].runs;
        taper_session_destroy(users[i].session);
        if (users[i].failed) {
            return 1;
        }
    }
    printf("%.3f\n", (double)runs / (now() - begin));
    taper_value_release(input);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(error);
    return 0;
}
