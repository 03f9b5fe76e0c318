// SPDX-License-Identifier: BSD-2-Clause
// Tests recordings: replayed runs must return the same results as the first run, for any inputs, also if two inputs are
// the same tensor, and after any failure and cancellation. The test also runs with TSan.
#include <pthread.h>

#include "runtime/session.h"
#include "tests/api/load_text.h"
#include "tests/unit/program_fixture.h"

#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ADD, MUL, ADD_IN_PLACE, APPEND, TRUTH, ZEROS_LIKE, ADD_OUT };

static function make(const code *instructions, size_t count, const char *const *arguments)
{
    TEXTS(operators, "aten::add.Tensor 2", "aten::mul.Tensor 2", "aten::add_.Tensor 2", "aten::append.t 2",
          "aten::Bool.Tensor 1", "aten::zeros_like 1", "aten::add.out 4");
    TEXTS(constants, "1", "3");
    TEXTS(types, "List[Tensor]");
    return (function){.name = "__torch__.Net.forward",
                      .code = instructions,
                      .code_count = count,
                      .operators = operators,
                      .constants = constants,
                      .types = types,
                      .arguments = arguments,
                      .registers = 10};
}

#define PUT(op, a, b, to)                                                                                              \
    {"LOAD", a, 0}, {"LOAD", b, 0}, {"OP", op, 0},                                                                     \
    {                                                                                                                  \
        "STORE", to, 0                                                                                                 \
    }

static uint64_t replayed(const program *p)
{
    return p->session->recorder.replayed;
}

static void two_vectors(const program *p, int64_t n, float x, float y, taper_value **inputs)
{
    inputs[0] = vector(p, n, x);
    inputs[1] = vector(p, n, y);
}

static taper_value *run_two(program *p, int64_t n, float x, float y)
{
    taper_value *inputs[2];
    two_vectors(p, n, x, y, inputs);
    taper_value *result = run_program(p, inputs, 2);
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    return result;
}

// The program is: a = x + y; b = a * y; c = a + b; d = c * c; compute d * y without using it; return d.
static const code diamond[] = {{"STOREN", 1, 3},  PUT(ADD, 2, 3, 4), PUT(MUL, 4, 3, 5), PUT(ADD, 4, 5, 6),
                               PUT(MUL, 6, 6, 7), PUT(MUL, 7, 3, 8), {"LOAD", 7, 0},    {"RET", 0, 0}};

static float diamond_of(float x, float y)
{
    const float a = x + y, b = a * y, c = a + b;
    return c * c;
}

static void chains_and_diamonds(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(diamond, COUNT(diamond), arguments);
    // Sizes for which a kernel prepares calls, and sizes for which no kernel does.
    for (int64_t n = 4; n < 100000; n *= 20) {
        program p;
        open_program(&p, &f, false);
        taper_value *kept[8];
        for (int i = 0; i < 8; i++) {
            kept[i] = run_two(&p, n, (float)i, 2);
        }
        assert_true(n > 1000 || replayed(&p) == 7 * 5);
        for (int i = 0; i < 8; i++) {
            expect_vector(kept[i], n, diamond_of((float)i, 2));
            taper_value_release(kept[i]);
        }
        close_program(&p);
    }
}

static void sizes_in_turn(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(diamond, COUNT(diamond), arguments);
    program p;
    open_program(&p, &f, false);
    uint64_t before = 0;
    for (int round = 0; round < 6; round++) {
        for (int64_t n = 3; n < 6; n++) { // the largest size comes last, so that the arena is allocated again
            taper_value *result = run_two(&p, n * n * n, (float)round, (float)n);
            expect_vector(result, n * n * n, diamond_of((float)round, (float)n));
            taper_value_release(result);
        }
        assert_true(replayed(&p) == before + (round == 0 ? 0 : 3 * 5));
        before = replayed(&p);
    }
    taper_session_trim(p.session);
    taper_value *result = run_two(&p, 27, 1, 3);
    expect_vector(result, 27, diamond_of(1, 3));
    taper_value_release(result);
    for (int round = 0; round < 3; round++) {
        for (int64_t n = 1; n < 40; n++) { // 39 sizes are more than the number of plans that a session keeps
            result = run_two(&p, n, (float)round, (float)n);
            expect_vector(result, n, diamond_of((float)round, (float)n));
            taper_value_release(result);
        }
    }
    close_program(&p);
}

// The program is: a = x + y; b = a * y; return [a, b, b + a].
static const code several[] = {{"STOREN", 1, 3},         PUT(ADD, 2, 3, 4), PUT(MUL, 4, 3, 5), {"LOAD", 4, 0},
                               {"LOAD", 5, 0},           {"LOAD", 5, 0},    {"LOAD", 4, 0},    {"OP", ADD, 0},
                               {"LIST_CONSTRUCT", 0, 3}, {"RET", 0, 0}};

static void results_outlive_runs(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(several, COUNT(several), arguments);
    program p;
    open_program(&p, &f, false);
    taper_value *kept[6];
    for (int i = 0; i < 6; i++) {
        kept[i] = run_two(&p, 10, (float)i, 3);
    }
    assert_true(replayed(&p) == 5 * 3);
    for (int i = 0; i < 6; i++) {
        const float a = (float)i + 3, b = a * 3, wanted[] = {a, b, b + a};
        for (size_t k = 0; k < 3; k++) {
            taper_value *item;
            assert_int_equal(taper_value_item(kept[i], k, &item, NULL), TAPER_OK);
            expect_vector(item, 10, wanted[k]);
            taper_value_release(item);
        }
        taper_value_release(kept[i]);
    }
    close_program(&p);
}

// The program is: a = x + y; b = a * y; a += b; x += y; return [a * b, a, x * y].
static const code written[] = {
    {"STOREN", 1, 3},        PUT(ADD, 2, 3, 4),        PUT(MUL, 4, 3, 5), {"LOAD", 4, 0}, {"LOAD", 5, 0},
    {"OP", ADD_IN_PLACE, 0}, {"DROP", 0, 0},           {"LOAD", 2, 0},    {"LOAD", 3, 0}, {"OP", ADD_IN_PLACE, 0},
    {"DROP", 0, 0},          PUT(MUL, 4, 5, 6),        PUT(MUL, 2, 3, 7), {"LOAD", 6, 0}, {"LOAD", 4, 0},
    {"LOAD", 7, 0},          {"LIST_CONSTRUCT", 0, 3}, {"RET", 0, 0}};

static void written_in_place(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(written, COUNT(written), arguments);
    program p;
    open_program(&p, &f, false);
    for (int i = 0; i < 6; i++) {
        taper_value *result = run_two(&p, 10, (float)i, 3);
        const float b = ((float)i + 3) * 3, a = (float)i + 3 + b, wanted[] = {a * b, a, ((float)i + 3) * 3};
        for (size_t k = 0; k < 3; k++) {
            taper_value *item;
            assert_int_equal(taper_value_item(result, k, &item, NULL), TAPER_OK);
            expect_vector(item, 10, wanted[k]);
            taper_value_release(item);
        }
        taper_value_release(result);
    }
    assert_true(replayed(&p) > 0);
    close_program(&p);
}

// The program is: a = x + y; b = a * y; if flag: list.append(b); c = b * y; d = c + y; e = d * d; f = e + d; return f.
static const code escaping[] = {
    {"STOREN", 1, 5},  PUT(ADD, 2, 3, 6), PUT(MUL, 6, 3, 7), {"LOAD", 4, 0}, {"OP", TRUTH, 0}, {"JF", 6, 0},
    {"LOAD", 5, 0},    {"LOAD", 7, 0},    {"OP", APPEND, 0}, {"DROP", 0, 0}, {"JMP", 1, 0},    PUT(MUL, 7, 3, 8),
    PUT(ADD, 8, 3, 9), PUT(MUL, 9, 9, 6), PUT(ADD, 6, 9, 7), {"LOAD", 7, 0}, {"RET", 0, 0}};

static void what_lives_longer_this_time(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor", "Tensor", "List[Tensor]");
    const function f = make(escaping, COUNT(escaping), arguments);
    for (int first = 0; first < 2; first++) { // value of flag in the run that is recorded
        program p;
        open_program(&p, &f, false);
        for (int i = 0; i < 8; i++) {
            const bool flag = i % 3 == 0 ? first == 1 : first == 0;
            taper_value *inputs[4];
            two_vectors(&p, 10, (float)i, 2, inputs);
            inputs[2] = vector(&p, 1, flag ? 1 : 0);
            assert_int_equal(taper_value_list(p.context, "Tensor", NULL, 0, &inputs[3], NULL), TAPER_OK);
            taper_value *result = run_program(&p, inputs, 4);
            const float b = ((float)i + 2) * 2, d = b * 2 + 2;
            expect_vector(result, 10, d * d + d);
            assert_int_equal(taper_value_count(inputs[3]), flag ? 1 : 0);
            if (flag) {
                taper_value *item;
                assert_int_equal(taper_value_item(inputs[3], 0, &item, NULL), TAPER_OK);
                expect_vector(item, 10, b);
                taper_value_release(item);
            }
            taper_value_release(result);
            for (size_t k = 0; k < 4; k++) {
                taper_value_release(inputs[k]);
            }
        }
        assert_true(replayed(&p) > 0);
        close_program(&p);
    }
}

static void other_kinds_of_inputs(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(diamond, COUNT(diamond), arguments);
    program p;
    open_program(&p, &f, false);
    for (int i = 0; i < 4; i++) {
        taper_value *result = run_two(&p, 6, 1, 2);
        taper_value_release(result);
        taper_value *inputs[2] = {vector(&p, 6, (float)i), NULL};
        inputs[1] = inputs[0]; // passes one tensor as both inputs
        result = run_program(&p, inputs, 2);
        expect_vector(result, 6, diamond_of((float)i, (float)i));
        taper_value_release(result);
        taper_value_release(inputs[0]);
    }
    assert_true(replayed(&p) > 0);
    close_program(&p);
}

// ---- stopped runs

static void instruction_budgets(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(diamond, COUNT(diamond), arguments);
    program p;
    open_program(&p, &f, false);
    taper_value *inputs[2];
    two_vectors(&p, 10, 1, 2, inputs);
    bool passed = false;
    for (uint64_t budget = 1; !passed; budget++) {
        taper_session *session;
        const taper_session_options options = {.struct_size = sizeof options, .instruction_budget = budget};
        assert_int_equal(taper_session_create(p.model, &options, &session, NULL), TAPER_OK);
        for (int i = 0; i < 4; i++) { // every run must end with the same status
            taper_value *result;
            const bool done = taper_session_run(session, NULL, inputs, 2, &result, p.error) == TAPER_OK;
            passed = i == 0 ? done : passed;
            assert_true(done == passed);
            assert_true(done || strstr(taper_error_message(p.error), "instruction") != NULL);
            taper_value_release(result);
        }
        assert_true(session->recorder.replayed == (passed ? 3 * 5 : 0));
        taper_session_destroy(session);
    }
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    close_program(&p);
}

static void cancelled(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(diamond, COUNT(diamond), arguments);
    program p;
    open_program(&p, &f, false);
    taper_value *inputs[2];
    two_vectors(&p, 10, 1, 2, inputs);
    for (int i = 0; i < 6; i++) {
        taper_value *result = run_program(&p, inputs, 2);
        expect_vector(result, 10, diamond_of(1, 2));
        taper_value_release(result);
        taper_session_cancel(p.session);
        assert_int_equal(taper_session_run(p.session, NULL, inputs, 2, &result, p.error), TAPER_ERROR_CANCELLED);
        assert_null(result);
    }
    assert_true(replayed(&p) == 5 * 5);
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    close_program(&p);
}

// Results are kept, so that a later run needs a block. The allocator refuses this block, which makes a step in the
// middle of a recording fail.
static void a_step_fails(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(several, COUNT(several), arguments);
    program p;
    open_program(&p, &f, false);
    taper_value *inputs[2], *kept[32];
    size_t count = 0;
    two_vectors(&p, 10, 1, 2, inputs);
    while (count < 4) {
        kept[count++] = run_program(&p, inputs, 2);
    }
    const uint64_t before = replayed(&p);
    bool failed = true;
    size_t failures = 0;
    for (size_t n = 1; failed && count < COUNT(kept); n++) {
        p.memory.fail_at = atomic_load(&p.memory.calls) + n;
        taper_value *result, *item;
        const taper_status status = taper_session_run(p.session, NULL, inputs, 2, &result, p.error);
        failed = atomic_load(&p.memory.calls) >= p.memory.fail_at;
        assert_int_equal(status, failed ? TAPER_ERROR_RESOURCE : TAPER_OK);
        const bool blamed = strncmp(taper_error_message(p.error), "aten::", 6) == 0;
        failures += failed && blamed;
        assert_true(!blamed || strstr(taper_error_detail(p.error), "called with self: float32[10]") != NULL);
        p.memory.fail_at = 0;
        taper_value_release(result);
        kept[count++] = run_program(&p, inputs, 2); // the session must still work after the failed run
        assert_int_equal(taper_value_item(kept[count - 1], 2, &item, NULL), TAPER_OK);
        expect_vector(item, 10, 9);
        taper_value_release(item);
    }
    assert_true(!failed && failures > 2 && replayed(&p) > before);
    while (count > 0) {
        taper_value_release(kept[--count]);
    }
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    close_program(&p);
}

static taper_status four_runs(taper_context *context, const void *what, taper_error *error)
{
    const bytes *file = what;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *inputs[2] = {NULL}, *kept[4] = {NULL};
    const int64_t n = 10;
    taper_status status =
        taper_model_load_memory(context, file->data, file->size, NULL, NULL, &as_saved, &model, error);
    for (size_t i = 0; status == TAPER_OK && i < 2; i++) {
        taper_tensor_info info = {.struct_size = sizeof info};
        status = taper_value_tensor(context, TAPER_F32, 1, &n, &inputs[i], error);
        for (int64_t k = 0; status == TAPER_OK && taper_value_get_tensor(inputs[i], &info, NULL) == TAPER_OK && k < n;
             k++) {
            ((float *)info.data)[k] = 2;
        }
    }
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    for (size_t i = 0; status == TAPER_OK && i < 4; i++) {
        status = taper_session_run(session, NULL, inputs, 2, &kept[i], error);
        for (size_t k = 0; status == TAPER_OK && k <= i; k++) {
            expect_vector(kept[k], n, diamond_of(2, 2));
        }
    }
    for (size_t i = 0; i < 4; i++) {
        taper_value_release(kept[i]);
    }
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void each_allocation_fails(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(diamond, COUNT(diamond), arguments);
    bytes file = build_program(&f, 1);
    test_each_allocation_fails("recordings", four_runs, &file);
    bytes_free(&file);
}

// ---- weights that the host changes

// The host changes the weights of a session after some runs. A session whose weights were changed before the first run
// must give the same results.
static void weight_that_is_written(const char *name)
{
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    const test_call *call = &test_calls[0];
    assert_int_equal(test_load(context, call->file, true, &model, NULL), TAPER_OK);
    taper_session *sessions[2];
    taper_value *before[2], *after[2], *late = NULL;
    for (int s = 0; s < 2; s++) {
        assert_int_equal(taper_session_create(model, NULL, &sessions[s], NULL), TAPER_OK);
        for (int i = 0; s == 0 && i < 4; i++) {
            taper_value_release(late);
            assert_int_equal(test_run(context, sessions[s], call, &late, NULL), TAPER_OK);
        }
        before[s] = late;
        late = NULL;
        taper_value *weight;
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_session_attribute(sessions[s], name, &weight, NULL), TAPER_OK);
        assert_int_equal(taper_value_make_writable(weight, NULL), TAPER_OK);
        assert_int_equal(taper_value_get_tensor(weight, &info, NULL), TAPER_OK);
        for (size_t i = 0; i < info.bytes / sizeof(float); i++) {
            ((float *)info.data)[i] *= -1.5f;
        }
        taper_value_release(weight);
        for (int i = 0; i < 3; i++) {
            taper_value_release(late);
            assert_int_equal(test_run(context, sessions[s], call, &late, NULL), TAPER_OK);
        }
        after[s] = late;
        late = NULL;
    }
    assert_true(sessions[0]->recorder.replayed > 0);
    assert_true(test_same(after[0], after[1]));
    assert_false(test_same(before[0], after[0]));
    for (int s = 0; s < 2; s++) {
        taper_value_release(before[s]);
        taper_value_release(after[s]);
        taper_session_destroy(sessions[s]);
    }
    taper_model_release(model);
    taper_context_release(context);
}

static void weights_that_are_written(void **state)
{
    (void)state;
    // Weights of the first convolution, a depthwise convolution and a linear layer.
    weight_that_is_written("conv.weight");
    weight_that_is_written("dw.weight");
    weight_that_is_written("fc.weight");
    weight_that_is_written("fc.bias");
}

// Later runs must give bit-identical results, no matter which calls the first run prepares.
static void later_runs_are_as_the_first(void **state)
{
    (void)state;
    uint64_t replayed = 0;
    for (size_t i = 0; i < test_call_count; i++) {
        const test_call *call = &test_calls[i];
        if (call->status != TAPER_OK || call->counts) {
            continue;
        }
        taper_context *context = test_context(NULL, 1);
        taper_model *model;
        taper_session *session;
        taper_value *first, *later;
        assert_int_equal(test_load(context, call->file, true, &model, NULL), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
        assert_int_equal(test_run(context, session, call, &first, NULL), TAPER_OK);
        for (int run = 1; run < 5; run++) {
            assert_int_equal(test_run(context, session, call, &later, NULL), TAPER_OK);
            if (!test_same(first, later)) {
                fail_msg("%s %s(%s): run %d differs", call->file, call->method, call->args, run + 1);
            }
            taper_value_release(later);
        }
        replayed += session->recorder.replayed;
        taper_value_release(first);
        taper_session_destroy(session);
        taper_model_release(model);
        taper_context_release(context);
    }
    assert_true(replayed > 0);
}

// ---- sessions on several threads

typedef struct worker {
    pthread_t thread;
    program *p;
    taper_value *inputs[2];
    float wanted;
    taper_value *last;
    bool replays;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    taper_session *session;
    if (taper_session_create(w->p->model, NULL, &session, NULL) != TAPER_OK) {
        return NULL;
    }
    for (int i = 0; i < 20; i++) {
        taper_value_release(w->last);
        if (taper_session_run(session, NULL, w->inputs, 2, &w->last, NULL) != TAPER_OK) {
            break;
        }
    }
    w->replays = session->recorder.replayed == 19 * 5;
    taper_session_destroy(session);
    return NULL;
}

static void sessions_in_threads(void **state)
{
    (void)state;
    enum { SESSIONS = 16 };
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(diamond, COUNT(diamond), arguments);
    program p;
    open_program(&p, &f, false);
    worker workers[SESSIONS] = {{.p = NULL}};
    for (int i = 0; i < SESSIONS; i++) {
        workers[i].p = &p;
        workers[i].wanted = diamond_of((float)i, 2);
        two_vectors(&p, 10 + i % 3, (float)i, 2, workers[i].inputs);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < SESSIONS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        assert_true(workers[i].replays);
        expect_vector(workers[i].last, 10 + i % 3, workers[i].wanted);
        taper_value_release(workers[i].last);
        taper_value_release(workers[i].inputs[0]);
        taper_value_release(workers[i].inputs[1]);
    }
    close_program(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains_and_diamonds),
                                       cmocka_unit_test(sizes_in_turn),
                                       cmocka_unit_test(results_outlive_runs),
                                       cmocka_unit_test(written_in_place),
                                       cmocka_unit_test(what_lives_longer_this_time),
                                       cmocka_unit_test(other_kinds_of_inputs),
                                       cmocka_unit_test(instruction_budgets),
                                       cmocka_unit_test(cancelled),
                                       cmocka_unit_test(a_step_fails),
                                       cmocka_unit_test(each_allocation_fails),
                                       cmocka_unit_test(weights_that_are_written),
                                       cmocka_unit_test(later_runs_are_as_the_first),
                                       cmocka_unit_test(sessions_in_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
