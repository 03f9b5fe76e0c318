// SPDX-License-Identifier: BSD-2-Clause
// thread_cases RECORDING…: runs every case of the recordings with one thread and with several, and expects identical
// bits. The program is linked with a library that shares even the smallest work among threads (TAPER_SHARES_ALL in
// ops/call/parallel.c), so that cases with few elements are divided as well. TAPER_STRIDE=N runs every Nth case,
// beginning with the case that TAPER_SEED selects.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_compile.h>

#include "tests/cpu_mask.h"
#include "tests/ops/recording.h"
#include "tests/ops/value_bytes.h"
#include "tests/sample.h"

// ---- cases

enum { MOST_INPUTS = 64 };

static const unsigned thread_counts[] = {1, 2, 3, 4, 7};
enum { COUNTS = sizeof thread_counts / sizeof *thread_counts };

static taper_status run_model(taper_context *context, blob model, taper_value *const *inputs, size_t count,
                              taper_value **result, taper_error *error)
{
    taper_model *loaded = NULL;
    taper_session *session = NULL;
    const taper_load_options options = {.struct_size = sizeof options, .compiler = taper_compiler()};
    taper_status status =
        taper_model_load_memory(context, model.data, model.size, NULL, NULL, &options, &loaded, error);
    if (status == TAPER_OK) {
        status = taper_session_create(loaded, NULL, &session, error);
    }
    if (status == TAPER_OK) {
        status = taper_session_run(session, NULL, inputs, count, result, error);
    }
    taper_session_destroy(session);
    taper_model_release(loaded);
    return status;
}

// Runs the model once and appends its outcome to b. Reads the inputs again for each run, because a run may write to the
// inputs, and the written inputs are part of its outcome.
static void answer(recording *r, taper_context *context, blob model, size_t count, taper_error *error, value_bytes *b)
{
    taper_value *inputs[MOST_INPUTS] = {NULL}, *result = NULL;
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < count; i++) {
        inputs[i] = recording_input(r, context, error);
        status = inputs[i] != NULL ? status : taper_error_status(error);
    }
    if (status == TAPER_OK) {
        status = run_model(context, model, inputs, count, &result, error);
    }
    value_bytes_put(b, &status, sizeof status);
    if (status == TAPER_OK) {
        value_bytes_add(b, result);
        for (size_t i = 0; i < count; i++) {
            value_bytes_add(b, inputs[i]);
        }
    }
    taper_value_release(result);
    for (size_t i = 0; i < count; i++) {
        taper_value_release(inputs[i]);
    }
}

// Runs one case with each context, that is, each number of threads. Returns true if all runs give the same bits.
static bool run_case(recording *r, taper_context *const *contexts, taper_error *error, bool taken)
{
    const blob name = recording_text(r), model = recording_blob(r);
    const size_t count = recording_byte(r);
    const unsigned char *const start = r->at;
    value_bytes answers[COUNTS] = {{NULL}};
    bool same = true;
    if (count > MOST_INPUTS) {
        fprintf(stderr, "%.*s has too many inputs\n", (int)name.size, (const char *)name.data);
        exit(2);
    }
    for (size_t i = 0; i < count && !taken; i++) {
        taper_value_release(recording_input(r, contexts[0], error));
    }
    for (size_t n = 0; n < COUNTS && taken; n++) {
        r->at = start;
        answer(r, contexts[n], model, count, error, &answers[n]);
        if (n > 0 &&
            (answers[n].size != answers[0].size || memcmp(answers[n].data, answers[0].data, answers[0].size) != 0)) {
            printf("FAILED %.*s: %u threads give other bits than one\n", (int)name.size, (const char *)name.data,
                   thread_counts[n]);
            same = false;
        }
    }
    recording_skip_outcome(r);
    for (size_t n = 0; n < COUNTS; n++) {
        free(answers[n].data);
    }
    return same;
}

static void say_nothing(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

int main(int argc, char **argv)
{
    taper_error *error = taper_error_create();
    taper_context *contexts[COUNTS] = {NULL};
    for (size_t n = 0; n < COUNTS; n++) {
        taper_context_options options = {.struct_size = sizeof options,
                                         .threads = thread_counts[n],
                                         .log = say_nothing,
                                         .cpu_mask = test_cpu_mask()};
        if (taper_context_create(&options, &contexts[n], error) != TAPER_OK) {
            return 2;
        }
    }
    size_t passed = 0, failed = 0, number = 0;
    for (int i = 1; i < argc; i++) {
        recording r;
        recording_open(argv[i], &r);
        for (size_t k = 0; k < r.case_count; k++) {
            const bool taken = number++ % sample_stride() == sample_first();
            const bool same = run_case(&r, contexts, error, taken);
            passed += taken && same;
            failed += taken && !same;
        }
        recording_close(&r);
    }
    for (size_t n = 0; n < COUNTS; n++) {
        taper_context_release(contexts[n]);
    }
    taper_error_destroy(error);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed != 0;
}
