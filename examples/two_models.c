/* SPDX-License-Identifier: BSD-2-Clause
 *
 * two_models FIRST SECOND [RUNS]: runs two models at once, each in a thread with a session of its own. The inputs are
 * the models' bundled inputs, or a black picture of 96 x 96 if a model has none. The two models share one context and
 * its threads: a run uses the threads that the second model's run does not need. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <taper/taper_app.h>
#include <taper/taper_compile.h>

enum { MOST_INPUTS = 8 };

typedef struct worker {
    taper_context *context;
    const char *path;
    int runs;
    int done; /* number of finished runs */
    char result[128];
} worker;

static int make_inputs(const worker *w, taper_session *session, taper_value **inputs, size_t *count, taper_error *error)
{
    static float black[3 * 96 * 96];
    const int64_t sizes[] = {1, 3, 96, 96};
    size_t samples = 0;
    if (taper_bundled_count(session, NULL, &samples, error) != TAPER_OK) {
        return 0;
    }
    if (samples != 0) {
        return taper_bundled_inputs(session, NULL, 0, inputs, MOST_INPUTS, count, error) == TAPER_OK;
    }
    *count = 1;
    return taper_value_tensor_from(w->context, TAPER_F32, 4, sizes, NULL, black, sizeof black, 1, NULL, NULL,
                                   &inputs[0], error) == TAPER_OK;
}

static void *work(void *argument)
{
    worker *w = argument;
    taper_error *error = taper_error_create(); /* each thread needs an error object of its own */
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *inputs[MOST_INPUTS] = {NULL}, *output = NULL;
    size_t count = 0;
    int good = taper_model_open(w->context, w->path, NULL, &model, error) == TAPER_OK &&
               taper_session_create(model, NULL, &session, error) == TAPER_OK &&
               make_inputs(w, session, inputs, &count, error);
    while (good && w->done < w->runs) {
        taper_value_release(output);
        good = taper_session_run(session, NULL, inputs, count, &output, error) == TAPER_OK;
        w->done += good;
    }
    if (good) {
        taper_value_type(output, w->result, sizeof w->result);
    } else {
        snprintf(w->result, sizeof w->result, "%s", taper_error_message(error));
    }
    for (size_t i = 0; i < MOST_INPUTS; i++) {
        taper_value_release(inputs[i]);
    }
    taper_value_release(output);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_error_destroy(error);
    return NULL;
}

int main(int argc, char **argv)
{
    taper_context *context;
    pthread_t threads[2];
    worker workers[2];
    int failed = 0;
    if (argc < 3 || argc > 4 || taper_context_create(NULL, &context, NULL) != TAPER_OK) {
        fprintf(stderr, "usage: two_models FIRST SECOND [RUNS]\n");
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        workers[i] = (worker){.context = context, .path = argv[i + 1], .runs = argc == 4 ? atoi(argv[3]) : 20};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "no thread\n");
            return 1;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        printf("%s: %d runs, %s\n", workers[i].path, workers[i].done, workers[i].result);
        failed |= workers[i].done != workers[i].runs;
    }
    taper_context_release(context);
    return failed;
}
