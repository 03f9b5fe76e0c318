// SPDX-License-Identifier: BSD-2-Clause
// Tests that models give bit-identical results on the CPU and on a backend whose tensors only the backend can read. It
// must not matter which nodes the backend claims, which shapes it declines, and which calls fail.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/cpu_backend.h"
#include "runtime/device.h"
#include "tests/api/fixture.h"
#include "tests/backend/away_world.h"
#include "tests/backend/replay.h"

// ---- the CPU's results: the calls of one file in one session, `rounds` times

enum { MOST_CALLS = 8, ROUNDS = 3 };

typedef struct answers {
    taper_context *context;
    taper_value *results[ROUNDS][MOST_CALLS];
    size_t first, count;
} answers;

static void ask_cpu_so(answers *a, size_t first, const char *disabled)
{
    char path[1024];
    taper_model *model;
    taper_session *session;
    const taper_load_options options = {.struct_size = sizeof options,
                                        .compiler = taper_compiler(),
                                        .disabled_passes = &disabled,
                                        .disabled_pass_count = disabled != NULL};
    *a = (answers){.context = test_context(NULL, 1), .first = first, .count = test_group(first)};
    assert_true(a->count <= MOST_CALLS);
    test_path(test_calls[first].file, path, sizeof path);
    assert_int_equal(taper_model_load(a->context, path, &options, &model, NULL), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < a->count; i++) {
            const test_call *call = &test_calls[first + i];
            assert_int_equal(test_run(a->context, session, call, &a->results[round][i], NULL), call->status);
        }
    }
    taper_session_destroy(session);
    taper_model_release(model);
}

static void ask_cpu(answers *a, size_t first)
{
    ask_cpu_so(a, first, "segments");
}

static void drop_answers(answers *a)
{
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < a->count; i++) {
            taper_value_release(a->results[round][i]);
        }
    }
    taper_context_release(a->context);
}

static bool is_right(const answers *a, size_t round, size_t i, const taper_value *result)
{
    const taper_value *wanted = a->results[round][i];
    return (result == NULL) == (wanted == NULL) && (result == NULL || test_same(result, wanted));
}

// Compares the results of the device with the results of the CPU. Returns false if bits differ. Bits may differ because
// a tensor has another layout on the device, with which some kernels round differently. Fails the test if the results
// differ by more than rounding.
static bool hold_against(world *w, const answers *a, const taper_model *model)
{
    bool same = true;
    taper_session *session;
    assert_int_equal(taper_session_create((taper_model *)(uintptr_t)model, NULL, &session, w->error), TAPER_OK);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < a->count; i++) {
            const test_call *call = &test_calls[a->first + i];
            taper_value *result;
            const taper_status status = test_run(w->context, session, call, &result, w->error);
            const bool right = is_right(a, round, i, result);
            same = same && right;
            // If layouts may change, the results may differ by rounding.
            const bool near = right || (!w->away.keeps_layout && result != NULL && a->results[round][i] != NULL &&
                                        test_difference(a->results[round][i], result) < 1e-6);
            if (status != call->status || !near) {
                fail_msg("%s %s(%s), run %zu, %s: status %d, %s", call->file, call->method, call->args, round + 1,
                         away_claims_name(w->away.claims), (int)status,
                         status != call->status ? taper_error_message(w->error) : "another result");
            }
            taper_value_release(result);
        }
    }
    taper_session_destroy(session);
    return same;
}

// Returns true if fusing nodes to chains on the CPU does not change the bits of the results.
static bool is_the_same_in_chains(const answers *a)
{
    answers chains;
    bool same = true;
    ask_cpu_so(&chains, a->first, NULL);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < a->count; i++) {
            same &= is_right(a, round, i, chains.results[round][i]);
        }
    }
    drop_answers(&chains);
    return same;
}

typedef struct work_done {
    size_t segments, runs, declined, stored, fetched, rounded_otherwise;
} work_done;

// Compares the results for one of the ways in which the nodes may be divided between device and CPU.
static bool hold_one_way(const answers *a, unsigned way, bool chains, bool keeps_layout, work_done *done)
{
    world w;
    taper_model *model;
    open_world(&w, (away_claims)(way / 4), (way & 1) != 0, (way & 2) != 0 ? 3 : 0);
    w.away.always_away = way % 4 == 3;
    w.away.keeps_layout = keeps_layout;
    w.cpu.claim = chains ? taper_backend_cpu.claim : w.cpu.claim;
    assert_int_equal(world_load(w.context, test_calls[a->first].file, &model, w.error), TAPER_OK);
    const bool same = hold_against(&w, a, model);
    taper_model_release(model);
    done->segments += w.away.segments;
    done->runs += w.away.runs;
    done->declined += w.away.declined;
    done->stored += w.away.stored;
    done->fetched += w.away.fetched;
    close_world(&w, test_calls[a->first].file);
    return same;
}

static void every_sample(void **state)
{
    (void)state;
    work_done done = {0};
    size_t files = 0;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        answers a;
        ask_cpu(&a, first);
        const bool chains = is_the_same_in_chains(&a);
        bool same = true;
        for (unsigned way = 0; way < 4 * AWAY_CLAIMS; way++) {
            if (!hold_one_way(&a, way, chains, false, &done)) {
                same = false;
                (void)hold_one_way(&a, way, chains, true, &done);
            }
        }
        done.rounded_otherwise += !same;
        files++;
        drop_answers(&a);
    }
    print_message("%zu segments, %zu runs, %zu declined, %zu tensors stored, %zu fetched; %zu of %zu files round "
                  "otherwise in other layouts\n",
                  done.segments, done.runs, done.declined, done.stored, done.fetched, done.rounded_otherwise, files);
    assert_true(done.segments > 100 && done.runs > 300 && done.declined > 20 && done.stored > 100 &&
                done.fetched > 300);
    assert_true(done.rounded_otherwise < files / 4);
}

// ---- failing calls of a backend

// Loads the file and repeats each call until it succeeds. The failing backend call may make one run fail, or the load.
static bool fail_at(const answers *a, layer_call call, size_t at, taper_status status, away_claims claims)
{
    const char *file = test_calls[a->first].file;
    char what[128];
    world w;
    taper_model *model = NULL;
    taper_session *session;
    size_t failures = 0;
    open_world(&w, claims, call == LAYER_RECORD, 0);
    failing_arm(&w.failing, call, at, status);
    snprintf(what, sizeof what, "%s: %s %zu answers %d", file, layer_call_names[call], at, (int)status);
    for (int tries = 0; model == NULL; tries++) {
        const taper_status loaded = world_load(w.context, file, &model, w.error);
        failures += loaded != TAPER_OK;
        if (tries > 1 || (loaded != TAPER_OK && (loaded != status || taper_error_message(w.error)[0] == '\0'))) {
            fail_msg("%s: the load ends with %d, %s", what, (int)loaded, taper_error_message(w.error));
        }
    }
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < a->count; i++) {
            taper_value *result;
            const test_call *row = &test_calls[a->first + i];
            const taper_status wanted = status == TAPER_DEVICE_LOST ? TAPER_ERROR_DEVICE : status;
            taper_status got = test_run(w.context, session, row, &result, w.error);
            if (got != row->status && got == wanted && failures++ == 0 && taper_error_message(w.error)[0] != '\0') {
                got = test_run(w.context, session, row, &result, w.error); // the next run must succeed
            }
            if (got != row->status || (!row->counts && !is_right(a, round, i, result))) {
                fail_msg("%s: %s(%s) ends with %d, %s", what, row->method, row->args, (int)got,
                         got != row->status ? taper_error_message(w.error) : "another result");
            }
            taper_value_release(result);
        }
    }
    taper_session_destroy(session);
    taper_model_release(model);
    const bool came = atomic_load(&w.failing.seen) >= at,
               costs = (int)status > 0 || (call == LAYER_FETCH && status == TAPER_DEVICE_LOST);
    if (failures != (costs && came ? 1u : 0u)) {
        fail_msg("%s: %zu failures", what, failures);
    }
    close_world(&w, what);
    return came;
}

static void on_command(void **state)
{
    (void)state;
    static const layer_call calls[] = {LAYER_OPEN, LAYER_CLAIM, LAYER_PLAN, LAYER_RECORD,
                                       LAYER_RUN,  LAYER_STORE, LAYER_FETCH};
    static const taper_status statuses[] = {TAPER_DECLINED, TAPER_DEVICE_LOST, TAPER_ERROR_RESOURCE};
    size_t came = 0;
    static const char *const files[] = {"s01_convnet.ptl", "s03_control_flow.ptl", "s04_containers.ptl",
                                        "s06_raise.ptl",   "s12_xnnpack_mix.ptl",  "int8_convnet.ptl"};
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        bool wanted = false;
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            wanted |= strcmp(files[i], test_calls[first].file) == 0;
        }
        if (!wanted) {
            continue;
        }
        answers a;
        ask_cpu(&a, first);
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
            for (size_t s = 0; s < sizeof statuses / sizeof *statuses; s++) {
                for (size_t at = 1; at <= (calls[c] == LAYER_OPEN ? 1 : 5); at++) {
                    if (calls[c] != LAYER_FETCH || statuses[s] != TAPER_DECLINED) {
                        came += fail_at(&a, calls[c], at, statuses[s], (away_claims)((at + c) % AWAY_CLAIMS));
                    }
                }
            }
        }
        drop_answers(&a);
    }
    print_message("%zu failures on command\n", came);
    assert_true(came > 300);
}

// ---- out of memory

typedef struct sample {
    const char *file;
    size_t row;
    const taper_backend *const *backends;
} sample;

static taper_status load_and_run(taper_context *context, const void *what, taper_error *error)
{
    const sample *s = what;
    taper_model *model;
    taper_session *session;
    TAPER_TRY(taper_context_set_backends(context, s->backends, error));
    TAPER_TRY(world_load(context, s->file, &model, error));
    taper_status status = taper_session_create(model, NULL, &session, error);
    for (int round = 0; status == TAPER_OK && round < 2; round++) {
        taper_value *result;
        status = test_run(context, session, &test_calls[s->row], &result, error);
        taper_value_release(result);
    }
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    static const char *const files[] = {"s01_convnet.ptl", "s04_containers.ptl", "int8_dynamic.ptl"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        world w; // provides only the backends, because load_and_run creates its own contexts
        open_world(&w, i == 1 ? AWAY_EVERY_SECOND : AWAY_EVERYTHING, i == 0, 0);
        w.away.always_away = true;
        sample s = {.file = files[i], .backends = w.backends};
        while (strcmp(test_calls[s.row].file, s.file) != 0) {
            s.row++;
        }
        test_each_allocation_fails(s.file, load_and_run, &s);
        close_world(&w, s.file);
    }
}

// ---- concurrent sessions

typedef struct runner {
    world *world;
    const answers *answers;
    const taper_model *model;
    pthread_t thread;
    bool right;
} runner;

static void *run_rounds(void *argument)
{
    runner *r = argument;
    const answers *a = r->answers;
    taper_session *session;
    r->right = taper_session_create((taper_model *)(uintptr_t)r->model, NULL, &session, NULL) == TAPER_OK;
    for (size_t round = 0; r->right && round < ROUNDS; round++) {
        for (size_t i = 0; r->right && i < a->count; i++) {
            taper_value *result;
            const taper_status status = test_run(r->world->context, session, &test_calls[a->first + i], &result, NULL);
            r->right = status == test_calls[a->first + i].status && is_right(a, round, i, result);
            taper_value_release(result);
        }
    }
    taper_session_destroy(session);
    return NULL;
}

static void four_sessions(void **state)
{
    (void)state;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        answers a;
        world w;
        taper_model *model;
        runner runners[4];
        ask_cpu(&a, first);
        open_world(&w, (away_claims)(first % AWAY_CLAIMS), first % 2 == 0, first % 4 == 0 ? 4 : 0);
        assert_int_equal(world_load(w.context, test_calls[first].file, &model, w.error), TAPER_OK);
        for (size_t i = 0; i < 4; i++) {
            runners[i] = (runner){.world = &w, .answers = &a, .model = model};
            assert_int_equal(pthread_create(&runners[i].thread, NULL, run_rounds, &runners[i]), 0);
        }
        for (size_t i = 0; i < 4; i++) {
            pthread_join(runners[i].thread, NULL);
            if (!runners[i].right) {
                fail_msg("%s: a session beside others gives another result", test_calls[first].file);
            }
        }
        taper_model_release(model);
        close_world(&w, test_calls[first].file);
        drop_answers(&a);
    }
}

// ---- repeated calls

// A second session must make the same backend calls as the first session, and later runs of a session must make the
// same backend calls as earlier runs.
static void same_questions(void **state)
{
    (void)state;
    size_t lines = 0;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        if (test_calls[first].counts) {
            continue;
        }
        away_backend away;
        replay written;
        away_init(&away, (away_claims)(first % AWAY_CLAIMS), first % 2 == 0);
        replay_init(&written, &away.table);
        const taper_backend *const backends[] = {&written.layer.table, &taper_backend_cpu, NULL};
        taper_context *context = test_context(NULL, 1);
        taper_model *model;
        assert_int_equal(taper_context_set_backends(context, backends, NULL), TAPER_OK);
        assert_int_equal(world_load(context, test_calls[first].file, &model, NULL), TAPER_OK);
        const size_t loaded = written.length;
        size_t first_run = 0, second_run = 0;
        for (int s = 0; s < 2; s++) {
            taper_session *session;
            assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
            for (int round = 0; round < 4; round++) {
                taper_value *result;
                if (s == 0 && round == 2) {
                    replay_begin(&written, first_run);
                }
                (void)test_run(context, session, &test_calls[first], &result, NULL);
                taper_value_release(result);
                if (s == 0) {
                    first_run = round == 0 ? written.length : first_run;
                    second_run = round == 1 ? written.length : second_run;
                    assert_true(round != 2 || replay_is_done(&written, second_run));
                    written.replaying = false;
                    written.length = round >= 1 ? second_run : written.length;
                } else if (round == 1) {
                    assert_true(replay_is_done(&written, second_run));
                    written.replaying = false;
                    written.length = second_run;
                }
            }
            taper_session_destroy(session);
            written.length = second_run;
            replay_begin(&written, loaded);
        }
        lines += written.lines;
        taper_model_release(model);
        taper_context_release(context);
        replay_free(&written);
    }
    print_message("%zu lines\n", lines);
    assert_true(lines > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample),  cmocka_unit_test(on_command),     cmocka_unit_test(out_of_memory),
        cmocka_unit_test(four_sessions), cmocka_unit_test(same_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
