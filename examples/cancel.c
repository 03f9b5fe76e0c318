/* SPDX-License-Identifier: BSD-2-Clause
 *
 * cancel MODEL MILLISECONDS: runs a model repeatedly in a thread, as an app does while its user waits, until the
 * main thread cancels it. The current run ends within about a millisecond, and the session can be used again. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <taper/taper_compile.h>
#include <time.h>

typedef struct worker {
    taper_session *session;
    taper_value *input;
    taper_error *error;
    taper_status status; /* status of the thread's last run */
    int runs;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    taper_value *output;
    while ((w->status = taper_session_run(w->session, NULL, &w->input, 1, &output, w->error)) == TAPER_OK) {
        taper_value_release(output);
        w->runs++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static float black[3 * 96 * 96];
    const int64_t sizes[] = {1, 3, 96, 96};
    taper_context *context = NULL;
    taper_model *model = NULL;
    taper_value *output;
    worker w = {.error = taper_error_create()};
    pthread_t thread;
    if (argc != 3 || taper_context_create(NULL, &context, w.error) ||
        taper_model_open(context, argv[1], NULL, &model, w.error) ||
        taper_session_create(model, NULL, &w.session, w.error) ||
        taper_value_tensor_from(context, TAPER_F32, 4, sizes, NULL, black, sizeof black, 1, NULL, NULL, &w.input,
                                w.error) ||
        pthread_create(&thread, NULL, work, &w) != 0) {
        fprintf(stderr, "%s\n", argc == 3 ? taper_error_message(w.error) : "usage: cancel MODEL MILLISECONDS");
        return 1;
    }
    const long wait = atol(argv[2]);
    const struct timespec time = {wait / 1000, wait % 1000 * 1000000};
    nanosleep(&time, NULL);
    taper_session_cancel(w.session); /* the main thread calls this function while the worker thread runs the model */
    pthread_join(thread, NULL);
    const int cancelled = w.status == TAPER_ERROR_CANCELLED;
    printf("%d runs, then: %s\n", w.runs, taper_error_message(w.error));
    const int again = taper_session_run(w.session, NULL, &w.input, 1, &output, w.error) == TAPER_OK;
    printf("and again: %s\n", again ? "done" : taper_error_message(w.error));
    if (again) {
        taper_value_release(output);
    }
    taper_value_release(w.input);
    taper_session_destroy(w.session);
    taper_model_release(model);
    taper_context_release(context);
    taper_error_destroy(w.error);
    return !(cancelled && again);
}
