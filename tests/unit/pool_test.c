// SPDX-License-Identifier: BSD-2-Clause
// Tests the thread pool: every index is processed once, with any number of callers and any state of the workers. The
// test also runs with TSan.
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/atomic.h"
#include "platform/platform.h"
#include "platform/threads.h"

enum { MOST = 4096 };

typedef struct job {
    atomic_uint *ran;   // for each index: number of times it was processed
    atomic_uint pieces; // number of finished pieces
    pthread_t caller;
    atomic_uint elsewhere; // number of pieces that other threads processed
    taper_pool *inner;     // pool that is used inside the job
} job;

static taper_pool *make_pool(unsigned threads)
{
    taper_pool *pool;
    assert_int_equal(taper_pool_create(&taper_allocator_system, threads, NULL, &pool, NULL), TAPER_OK);
    assert_int_equal(taper_pool_threads(pool), threads);
    return pool;
}

static void count_range(void *argument, size_t begin, size_t end)
{
    job *j = argument;
    for (size_t i = begin; i < end; i++) {
        atomic_fetch_add_explicit(&j->ran[i], 1u, memory_order_relaxed);
    }
    if (!pthread_equal(pthread_self(), j->caller)) {
        atomic_fetch_add(&j->elsewhere, 1u);
    }
    atomic_fetch_add(&j->pieces, 1u);
}

static bool always(void *user)
{
    const job *j = user;
    return pthread_equal(pthread_self(), j->caller) != 0;
}

// The job and its counters are on this function's stack, so that TSan and ASan detect late accesses.
static bool run_in_parts(taper_pool *pool, size_t count, size_t piece, unsigned parts)
{
    atomic_uint ran[MOST];
    for (size_t i = 0; i < count; i++) {
        atomic_init(&ran[i], 0u);
    }
    job j = {.ran = ran, .caller = pthread_self()};
    bool right = taper_pool_run(pool, count_range, &j, count, piece, always, &j);
    for (size_t i = 0; i < count; i++) {
        right = right && atomic_load(&ran[i]) == 1;
    }
    // There may be `parts` more pieces than count / piece, because each thread's share may end with a shorter piece.
    right = right && atomic_load(&j.pieces) <= (count + piece - 1) / piece + parts;
    memset(ran, 0xff, sizeof ran);
    return right;
}

static bool run_once(taper_pool *pool, size_t count, size_t piece)
{
    return run_in_parts(pool, count, piece, taper_pool_threads(pool)); // one share for each thread
}

static void every_index_once(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 4, 8, 64};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        taper_pool *pool = make_pool(threads[t]);
        for (size_t count = 0; count < 200; count += 1 + count / 7) {
            for (size_t piece = 1; piece <= count + 1; piece += 1 + piece / 2) {
                assert_true(run_once(pool, count, piece));
            }
        }
        taper_pool_destroy(pool);
    }
    assert_true(run_once(NULL, 10, 3));
}

// ---- several callers

typedef struct caller {
    pthread_t thread;
    taper_pool *pool;
    unsigned parts, seed;
    bool right;
} caller;

static void *call_often(void *argument)
{
    caller *c = argument;
    c->right = true;
    for (unsigned i = 0; i < 300; i++) {
        c->seed = c->seed * 1103515245u + 12345u;
        const size_t count = 1 + c->seed / 65536u % 300u;
        const bool enters = i % 5 != 0;
        if (enters) {
            taper_pool_enter(c->pool, i % 2 == 0);
        }
        c->right = run_in_parts(c->pool, count, 1 + count / 40, c->parts) && c->right;
        if (enters) {
            taper_pool_leave(c->pool);
        }
    }
    return NULL;
}

static void call_from(taper_pool *pool, size_t count, unsigned parts)
{
    caller callers[16];
    for (size_t i = 0; i < count; i++) {
        callers[i] = (caller){.pool = pool, .parts = parts, .seed = (unsigned)i};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
        assert_true(callers[i].right);
    }
}

static void many_callers(void **state)
{
    (void)state;
    static const unsigned threads[] = {2, 4, 12, 32};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        taper_pool *pool = make_pool(threads[t]);
        call_from(pool, 3, threads[t]);
        call_from(pool, 16, threads[t]);
        taper_pool_destroy(pool);
    }
}

// All threads run on one core, so a waiting thread must yield to the other threads.
static void on_one_core(void **state)
{
#ifdef __linux__
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
            break;
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    many_callers(state);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
#else
    (void)state;
    skip();
#endif
}

// ---- calls while all threads wait

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    unsigned inside;
    taper_pool *pool;
} gate;

static void wait_at_gate(void *argument, size_t begin, size_t end)
{
    gate *g = argument;
    (void)begin;
    (void)end;
    (void)pthread_mutex_lock(&g->lock);
    g->inside++;
    (void)pthread_cond_broadcast(&g->changed);
    while (!g->open) {
        (void)pthread_cond_wait(&g->changed, &g->lock);
    }
    (void)pthread_mutex_unlock(&g->lock);
}

static bool yes(void *user)
{
    (void)user;
    return true;
}

static void *hold_all_threads(void *argument)
{
    gate *g = argument;
    (void)taper_pool_run(g->pool, wait_at_gate, g, taper_pool_threads(g->pool), 1, yes, NULL);
    return NULL;
}

// No worker processes pieces of the second job. The second job's caller must neither wait for a worker nor for the
// first job.
static void no_worker_comes(void **state)
{
    (void)state;
    gate g = {.pool = make_pool(3)};
    (void)pthread_mutex_init(&g.lock, NULL);
    (void)pthread_cond_init(&g.changed, NULL);
    pthread_t holder;
    assert_int_equal(pthread_create(&holder, NULL, hold_all_threads, &g), 0);
    (void)pthread_mutex_lock(&g.lock);
    while (g.inside < 3) {
        (void)pthread_cond_wait(&g.changed, &g.lock);
    }
    (void)pthread_mutex_unlock(&g.lock);
    assert_true(run_once(g.pool, 100, 1));
    (void)pthread_mutex_lock(&g.lock);
    g.open = true;
    (void)pthread_cond_broadcast(&g.changed);
    (void)pthread_mutex_unlock(&g.lock);
    assert_int_equal(pthread_join(holder, NULL), 0);
    taper_pool_destroy(g.pool);
    (void)pthread_cond_destroy(&g.changed);
    (void)pthread_mutex_destroy(&g.lock);
}

// If there are as many runs as threads, no thread is free to help.
static void runs_take_the_threads(void **state)
{
    (void)state;
    taper_pool *pool = make_pool(2);
    taper_pool_enter(pool, false);
    taper_pool_enter(pool, false);
    for (int i = 0; i < 200; i++) {
        atomic_uint ran[64];
        memset(ran, 0, sizeof ran);
        job j = {.ran = ran, .caller = pthread_self()};
        assert_true(taper_pool_run(pool, count_range, &j, 64, 1, always, &j));
        assert_int_equal(atomic_load(&j.elsewhere), 0);
        assert_int_equal(atomic_load(&j.pieces), 64);
    }
    taper_pool_leave(pool);
    taper_pool_leave(pool);
    taper_pool_destroy(pool);
}

// ---- changing the number of threads

static void *change_often(void *argument)
{
    caller *c = argument;
    for (unsigned i = 0; i < 2000; i++) {
        taper_pool_set_threads(c->pool, 1 + i * 7 % 11);
    }
    return NULL;
}

static void threads_change_during_jobs(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 6; threads += 2) {
        caller c = {.pool = make_pool(threads)};
        assert_int_equal(pthread_create(&c.thread, NULL, change_often, &c), 0);
        call_from(c.pool, 4, threads); // the number of shares does not change during the job
        assert_int_equal(pthread_join(c.thread, NULL), 0);
        taper_pool_destroy(c.pool);
    }
}

static void *hold_four_threads(void *argument)
{
    gate *g = argument;
    (void)taper_pool_run(g->pool, wait_at_gate, g, 4, 1, yes, NULL);
    return NULL;
}

static void as_many_threads_as_asked_for(void **state)
{
    (void)state;
    gate g = {.pool = make_pool(2)};
    taper_pool_set_threads(g.pool, 1000);
    assert_int_equal(taper_pool_threads(g.pool), 64);
    taper_pool_set_threads(g.pool, 0);
    assert_int_equal(taper_pool_threads(g.pool), taper_cpu_cores() < 64 ? taper_cpu_cores() : 64);
    taper_pool_set_threads(g.pool, 1);
    atomic_uint ran[64];
    memset(ran, 0, sizeof ran);
    job j = {.ran = ran, .caller = pthread_self()};
    assert_true(taper_pool_run(g.pool, count_range, &j, 64, 1, always, &j));
    assert_int_equal(atomic_load(&j.elsewhere), 0);
    // Each of the four threads waits for all others, in a pool that was made for two.
    taper_pool_set_threads(g.pool, 4);
    (void)pthread_mutex_init(&g.lock, NULL);
    (void)pthread_cond_init(&g.changed, NULL);
    pthread_t holder;
    assert_int_equal(pthread_create(&holder, NULL, hold_four_threads, &g), 0);
    (void)pthread_mutex_lock(&g.lock);
    while (g.inside < 4) { // a further run wakes a worker that fell asleep when the job began
        (void)pthread_mutex_unlock(&g.lock);
        assert_true(run_once(g.pool, 8, 1));
        (void)pthread_mutex_lock(&g.lock);
    }
    g.open = true;
    (void)pthread_cond_broadcast(&g.changed);
    (void)pthread_mutex_unlock(&g.lock);
    assert_int_equal(pthread_join(holder, NULL), 0);
    taper_pool_destroy(g.pool);
    (void)pthread_cond_destroy(&g.changed);
    (void)pthread_mutex_destroy(&g.lock);
}

// Each piece of the job runs another job.
static void run_inner(void *argument, size_t begin, size_t end)
{
    job *j = argument;
    for (size_t i = begin; i < end; i++) {
        atomic_fetch_add(&j->ran[i], run_once(j->inner, 20, 3) ? 1u : 100u);
    }
}

static void nested(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 8; threads += 2) {
        atomic_uint ran[50];
        memset(ran, 0, sizeof ran);
        job j = {.ran = ran, .caller = pthread_self(), .inner = make_pool(threads)};
        assert_true(taper_pool_run(j.inner, run_inner, &j, 50, 1, always, &j));
        for (size_t i = 0; i < 50; i++) {
            assert_int_equal(atomic_load(&ran[i]), 1);
        }
        taper_pool_destroy(j.inner);
    }
}

// ---- jobs that are stopped

typedef struct stopping {
    job job;
    unsigned left; // number of further calls of the function that return true
} stopping;

static bool until_spent(void *user)
{
    stopping *s = user;
    return s->left-- > 0;
}

static void stops_on(taper_pool *pool, unsigned yesses, size_t most)
{
    atomic_uint ran[1000];
    memset(ran, 0, sizeof ran);
    stopping s = {.job = {.ran = ran, .caller = pthread_self()}, .left = yesses};
    // Workers may finish all pieces before the caller has called until_spent `yesses` times.
    const bool going = taper_pool_run(pool, count_range, &s.job, 1000, 1, until_spent, &s);
    assert_true(!going || (yesses > 0 && most == 1000));
    unsigned done = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(atomic_load(&ran[i]) <= 1);
        done += atomic_load(&ran[i]);
    }
    assert_true(going ? done == 1000 : done <= most);
    assert_int_equal(done, atomic_load(&s.job.pieces));
}

static void stops(void **state)
{
    (void)state;
    stops_on(NULL, 0, 0);
    stops_on(NULL, 7, 7);
    taper_pool *pool = make_pool(1);
    stops_on(pool, 7, 7);
    taper_pool_destroy(pool);
    for (unsigned threads = 2; threads < 10; threads += 3) {
        pool = make_pool(threads);
        for (unsigned i = 0; i < 100; i++) {
            stops_on(pool, i % 5, 1000);
            assert_true(run_once(pool, 50, 1)); // the pool must still work after a job was stopped
        }
        taper_pool_destroy(pool);
    }
}

// ---- the host's pool

typedef struct host {
    atomic_uint inside, calls;
    bool together; // true if two calls ran at the same time
} host;

static size_t host_threads(void *user)
{
    (void)user;
    return 4;
}

static void host_run(void *user, void (*task)(void *argument, size_t index), void *argument, size_t count)
{
    host *h = user;
    if (atomic_fetch_add(&h->inside, 1u) != 0) {
        h->together = true;
    }
    atomic_fetch_add(&h->calls, 1u);
    for (size_t i = count; i-- > 0;) {
        task(argument, i);
    }
    atomic_fetch_sub(&h->inside, 1u);
}

static void of_the_host(void **state)
{
    (void)state;
    host h = {.together = false};
    const taper_thread_pool mine = {.user = &h, .thread_count = host_threads, .run = host_run};
    taper_pool *pool;
    assert_int_equal(taper_pool_create(&taper_allocator_system, 9, &mine, &pool, NULL), TAPER_OK);
    assert_int_equal(taper_pool_threads(pool), 4);
    assert_true(run_once(pool, 100, 1));
    assert_int_equal(atomic_load(&h.calls), 1);
    assert_true(run_once(pool, 1000, 1)); // divided into batches, so that the job can be stopped between them
    stops_on(pool, 1, 999);
    call_from(pool, 5, taper_pool_threads(pool));
    assert_false(h.together);
    taper_pool_destroy(pool);
}

// ---- creating and destroying pools

static void storms(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        taper_pool *pool = make_pool(1 + i % 7);
        for (unsigned k = 0; k < i % 3; k++) {
            taper_pool_enter(pool, false);
            assert_true(run_once(pool, 1 + i % 30, 1));
            taper_pool_leave(pool);
        }
        taper_pool_destroy(pool);
    }
    for (unsigned threads = 1; threads <= 64; threads++) {
        taper_pool *pool = make_pool(threads);
        assert_true(run_once(pool, 100, 1));
        taper_pool_destroy(pool);
    }
    taper_pool_destroy(NULL);
}

// A forked child has the pool without its workers, which may have been asleep or working.
static void forked(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        taper_pool *pool = make_pool(4);
        taper_pool_enter(pool, false);
        assert_true(run_once(pool, 100, 1));
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            const bool right = run_once(pool, 100, 1) && run_once(pool, 50, 7);
            taper_pool_leave(pool);
            taper_pool_destroy(pool);
            _exit(right ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        taper_pool_leave(pool);
        taper_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_index_once),
                                       cmocka_unit_test(many_callers),
                                       cmocka_unit_test(on_one_core),
                                       cmocka_unit_test(no_worker_comes),
                                       cmocka_unit_test(nested),
                                       cmocka_unit_test(stops),
                                       cmocka_unit_test(runs_take_the_threads),
                                       cmocka_unit_test(threads_change_during_jobs),
                                       cmocka_unit_test(as_many_threads_as_asked_for),
                                       cmocka_unit_test(of_the_host),
                                       cmocka_unit_test(storms),
                                       cmocka_unit_test(forked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
