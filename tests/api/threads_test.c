// SPDX-License-Identifier: BSD-2-Clause
// Tests threads that share one model, with a session each: all sessions must give the same results, and threads release
// values that other threads made. The test also runs with TSan.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"
#include "tests/unit/program_builder.h"

enum { THREADS = 4, ROUNDS = 3 };

typedef struct worker {
    pthread_t thread;
    taper_context *context;
    taper_model *model;
    size_t first;
    taper_value *results[16]; // results of the last round
    taper_value *left[16];    // values made by this thread, released by the main thread after the session
    taper_status status;
    bool same;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    taper_session *session;
    w->same = true;
    w->status = taper_session_create(w->model, NULL, &session, NULL);
    const size_t group = test_group(w->first);
    for (size_t round = 0; round < ROUNDS && w->status == TAPER_OK; round++) {
        for (size_t i = 0; i < group && w->status == TAPER_OK; i++) {
            taper_value *result;
            const test_call *call = &test_calls[w->first + i];
            const taper_status status = test_run(w->context, session, call, &result, NULL);
            w->status = status == call->status ? TAPER_OK : TAPER_ERROR_INTERNAL;
            taper_value_release(w->left[i]);
            w->left[i] = w->results[i];
            w->results[i] = result;
            w->same =
                w->same && (w->left[i] == NULL || result == NULL || call->counts || test_same(w->left[i], result));
        }
    }
    taper_session_destroy(session);
    return NULL;
}

static void share(const char *file, test_source source, unsigned pool_threads)
{
    size_t first = 0;
    while (test_calls[first].file != file) {
        first += test_group(first);
    }
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_context *context = test_context(&allocator, pool_threads);
    taper_model *model;
    assert_int_equal(test_load_from(context, file, source, true, &model, NULL), TAPER_OK);
    worker workers[THREADS] = {{.context = NULL}};
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].context = context;
        workers[i].model = model;
        workers[i].first = first;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    taper_model_release(model);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].status, TAPER_OK);
        assert_true(workers[i].same);
        for (size_t k = 0; k < test_group(first); k++) {
            if (workers[i].results[k] != NULL) {
                assert_true(test_same(workers[i].results[k], workers[0].results[k]));
            }
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        for (size_t k = 0; k < test_group(first); k++) {
            taper_value_release(workers[i].results[k]);
            taper_value_release(workers[i].left[k]);
        }
    }
    taper_context_release(context);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

static void every_sample(void **state)
{
    (void)state;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        share(test_calls[first].file, (test_source)(first % TEST_SOURCE_COUNT), 1);
    }
}

static void with_a_pool(void **state)
{
    (void)state;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        const char *file = test_calls[first].file; // networks: the demo's classifier, s01, s11 and quantized networks
        if (file[0] == 'c' || file[2] == '1' || file[0] == 'i') {
            share(file, TEST_MEMORY, 3);
        }
    }
}

// Another thread releases results of a session that continues to run.
typedef struct crossing {
    pthread_mutex_t lock;
    taper_value *waiting;
    bool done;
} crossing;

static void *release_what_comes(void *argument)
{
    crossing *c = argument;
    for (bool done = false; !done;) {
        pthread_mutex_lock(&c->lock);
        taper_value *value = c->waiting;
        c->waiting = NULL;
        done = c->done && value == NULL;
        pthread_mutex_unlock(&c->lock);
        taper_value_release(value);
        nanosleep(&(struct timespec){0, 20000}, NULL);
    }
    return NULL;
}

static void released_elsewhere(void **state)
{
    (void)state;
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_context *context = test_context(&allocator, 1);
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        if (test_calls[first].file[1] > '9' || test_calls[first].status != TAPER_OK) {
            continue;
        }
        taper_model *model;
        taper_session *session;
        assert_int_equal(test_load(context, test_calls[first].file, true, &model, NULL), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
        crossing c = {.waiting = NULL};
        pthread_mutex_init(&c.lock, NULL);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, release_what_comes, &c), 0);
        taper_value *result;
        for (size_t i = 0; i < 40; i++) {
            assert_int_equal(test_run(context, session, &test_calls[first], &result, NULL), TAPER_OK);
            pthread_mutex_lock(&c.lock);
            taper_value *old = c.waiting;
            c.waiting = result;
            pthread_mutex_unlock(&c.lock);
            taper_value_release(old);
        }
        pthread_mutex_lock(&c.lock);
        c.done = true;
        pthread_mutex_unlock(&c.lock);
        taper_session_destroy(session);
        taper_model_release(model);
        pthread_join(thread, NULL);
        pthread_mutex_destroy(&c.lock);
    }
    taper_context_release(context);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

// Sessions read the same input values while the model's weights are packed. Another thread asks for the size of the
// packed weights, and the owner releases the model.
typedef struct sharer {
    pthread_t thread;
    taper_session *session;
    taper_value *const *inputs;
    size_t count;
    taper_value *result;
} sharer;

static void *run_shared(void *argument)
{
    sharer *s = argument;
    for (int round = 0; round < ROUNDS; round++) {
        taper_value_release(s->result);
        s->result = NULL;
        if (taper_session_run(s->session, NULL, s->inputs, s->count, &s->result, NULL) != TAPER_OK) {
            break;
        }
        taper_memory_info memory = {.struct_size = sizeof memory};
        taper_session_memory(s->session, &memory);
    }
    taper_session_destroy(s->session);
    return NULL;
}

static taper_value *float_input(taper_context *context, size_t rank, const int64_t *sizes, bool constant, float *data,
                                size_t count)
{
    taper_value *value;
    for (size_t i = 0; i < count; i++) {
        data[i] = (float)(i * 37 % 101) / 50.0f - 1.0f;
    }
    assert_int_equal(taper_value_tensor_from(context, TAPER_F32, rank, sizes, NULL, data, count * sizeof *data,
                                             constant, NULL, NULL, &value, NULL),
                     TAPER_OK);
    return value;
}

static void share_inputs(const char *path, const int64_t *sizes, bool constant)
{
    static float data[3 * 96 * 96];
    taper_context *context = test_context(NULL, 1);
    const taper_load_options options = {.struct_size = sizeof options, .compiler = taper_compiler()};
    taper_model *model;
    assert_int_equal(taper_model_load(context, path, &options, &model, NULL), TAPER_OK);
    taper_value *input = float_input(context, 4, sizes, constant, data, (size_t)(sizes[1] * sizes[2] * sizes[3]));
    sharer sharers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        sharers[i] = (sharer){.inputs = &input, .count = 1};
        assert_int_equal(taper_session_create(model, NULL, &sharers[i].session, NULL), TAPER_OK);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&sharers[i].thread, NULL, run_shared, &sharers[i]), 0);
    }
    taper_model_release(model); // the sessions keep the model alive
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(sharers[i].thread, NULL), 0);
        assert_non_null(sharers[i].result);
        assert_true(test_same(sharers[i].result, sharers[0].result));
    }
    for (size_t i = 0; i < THREADS; i++) {
        taper_value_release(sharers[i].result);
    }
    taper_value_release(input);
    taper_context_release(context);
}

static void shared_inputs(void **state)
{
    (void)state;
    char path[1024];
    test_path("classifier.ptl", path, sizeof path);
    for (int constant = 0; constant < 2; constant++) {
        share_inputs(path, (const int64_t[]){1, 3, 96, 96}, constant != 0);
        share_inputs(TEST_MODELS "/per_channel.ptl", (const int64_t[]){1, 3, 8, 8}, constant != 0);
    }
}

// One tensor is both operands of a matrix product in all sessions: threads may only read those members of the tensor
// that do not change.
static void shared_by_products(void **state)
{
    (void)state;
    static const code product[] = {{"STOREN", 1, 2}, {"LOAD", 2, 0},  {"LOAD", 2, 0}, {"OP", 0, 0},
                                   {"DROPR", 1, 0},  {"DROPR", 2, 0}, {"RET", 0, 0}};
    static const char *const operators[] = {"aten::matmul 2", NULL}, *const arguments[] = {"Tensor", NULL};
    const function f = {.name = "__torch__.Net.forward",
                        .code = product,
                        .code_count = sizeof product / sizeof *product,
                        .operators = operators,
                        .arguments = arguments,
                        .registers = 3};
    bytes file = build_program(&f, 1);
    static float data[3 * 8 * 8];
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    assert_int_equal(taper_model_load_memory(context, file.data, file.size, NULL, NULL, &as_saved, &model, NULL),
                     TAPER_OK);
    taper_value *input = float_input(context, 3, (const int64_t[]){3, 8, 8}, false, data, 3 * 8 * 8);
    sharer sharers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        sharers[i] = (sharer){.inputs = &input, .count = 1};
        assert_int_equal(taper_session_create(model, NULL, &sharers[i].session, NULL), TAPER_OK);
        assert_int_equal(pthread_create(&sharers[i].thread, NULL, run_shared, &sharers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(sharers[i].thread, NULL), 0);
        assert_true(sharers[i].result != NULL && test_same(sharers[i].result, sharers[0].result));
    }
    for (size_t i = 0; i < THREADS; i++) {
        taper_value_release(sharers[i].result);
    }
    taper_value_release(input);
    taper_model_release(model);
    taper_context_release(context);
    bytes_free(&file);
}

// ---- one source of random numbers

enum { DRAWS = 200 };

typedef struct drawer {
    pthread_t thread;
    taper_operator *op;
    taper_value *like;
    int drawn;
} drawer;

static void *draw(void *argument)
{
    drawer *d = argument;
    for (int i = 0; i < DRAWS; i++) {
        taper_value *result;
        if (taper_operator_call(d->op, &d->like, 1, &result, 1, NULL) == TAPER_OK) {
            d->drawn++;
            taper_value_release(result);
        }
    }
    return NULL;
}

// Threads draw from one generator in any order: after the same number of draws, the next number must be the same.
static void shared_generator(void **state)
{
    (void)state;
    static float data[3];
    taper_context *context = test_context(NULL, 1);
    taper_generator *generator;
    taper_value *like = float_input(context, 1, (const int64_t[]){3}, false, data, 3), *next, *want = NULL;
    assert_int_equal(taper_generator_create(context, 5, &generator, NULL), TAPER_OK);
    drawer drawers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        drawers[i] = (drawer){.like = like};
        assert_int_equal(taper_operator_find(context, "aten::rand_like", &drawers[i].op, NULL), TAPER_OK);
        taper_operator_draw_from(drawers[i].op, generator);
        assert_int_equal(pthread_create(&drawers[i].thread, NULL, draw, &drawers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(drawers[i].thread, NULL), 0);
        assert_int_equal(drawers[i].drawn, DRAWS);
    }
    assert_int_equal(taper_operator_call(drawers[0].op, &like, 1, &next, 1, NULL), TAPER_OK);
    taper_operator *alone = drawers[1].op;
    taper_operator_draw_from(alone, NULL);
    taper_operator_seed(alone, 5);
    for (int i = 0; i < THREADS * DRAWS + 1; i++) {
        taper_value_release(want);
        assert_int_equal(taper_operator_call(alone, &like, 1, &want, 1, NULL), TAPER_OK);
    }
    assert_true(test_same(next, want));
    taper_value_release(next);
    taper_value_release(want);
    taper_value_release(like);
    taper_generator_release(generator);
    for (size_t i = 0; i < THREADS; i++) {
        taper_operator_release(drawers[i].op);
    }
    taper_context_release(context);
}

typedef struct counted_tasks {
    taper_context *context;
    atomic_uint calls[64], inner;
} counted_tasks;

static void count_inner(void *argument, size_t index)
{
    (void)index;
    atomic_fetch_add(&((counted_tasks *)argument)->inner, 1u);
}

static void count_task(void *argument, size_t index)
{
    counted_tasks *tasks = argument;
    atomic_fetch_add(&tasks->calls[index], 1u);
    taper_context_run_tasks(tasks->context, count_inner, argument, index % 3);
}

// taper_run_tasks must call every task once, also if a task starts other tasks, and also without a context.
static void tasks_of_the_host(void **state)
{
    (void)state;
    taper_context *context;
    const taper_context_options options = {.struct_size = sizeof options, .threads = THREADS};
    assert_int_equal(taper_context_create(&options, &context, NULL), TAPER_OK);
    for (int with_context = 0; with_context < 2; with_context++) {
        counted_tasks tasks = {.context = with_context ? context : NULL};
        taper_context_run_tasks(tasks.context, count_task, &tasks, 64);
        for (size_t i = 0; i < 64; i++) {
            assert_int_equal(atomic_load(&tasks.calls[i]), 1);
        }
        assert_int_equal(atomic_load(&tasks.inner), 63);
    }
    taper_context_run_tasks(context, NULL, NULL, 2);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_sample),       cmocka_unit_test(with_a_pool),
                                       cmocka_unit_test(released_elsewhere), cmocka_unit_test(shared_inputs),
                                       cmocka_unit_test(shared_by_products), cmocka_unit_test(shared_generator),
                                       cmocka_unit_test(tasks_of_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
