// SPDX-License-Identifier: BSD-2-Clause
#include "platform/pool_own.h"

#include <pthread.h>

#include "base/atomic.h"

enum { SPINS = 20000 }; // about 50 us: longer than the gap between two operators of a network

struct taper_own_pool {
    taper_allocator allocator;
    unsigned workers; // started
    size_t threads_bytes;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint job;    // counts the jobs; a change is the signal
    atomic_uint active; // workers still in the job
    atomic_size_t next; // index to be taken
    atomic_bool stop;
    void (*task)(void *argument, size_t index);
    void *argument;
    size_t count;
};

static void take_work(taper_own_pool *pool)
{
    for (;;) {
        const size_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= pool->count) {
            return;
        }
        pool->task(pool->argument, index);
    }
}

static void *work(void *argument)
{
    taper_own_pool *pool = argument;
    unsigned seen = 0;
    for (;;) {
        unsigned spins = 0;
        while (atomic_load_explicit(&pool->job, memory_order_acquire) == seen) {
            if (++spins > SPINS) {
                (void)pthread_mutex_lock(&pool->lock);
                while (atomic_load_explicit(&pool->job, memory_order_acquire) == seen) {
                    (void)pthread_cond_wait(&pool->wake, &pool->lock);
                }
                (void)pthread_mutex_unlock(&pool->lock);
            }
        }
        seen = atomic_load_explicit(&pool->job, memory_order_acquire);
        if (atomic_load_explicit(&pool->stop, memory_order_acquire)) {
            return NULL;
        }
        take_work(pool);
        atomic_fetch_sub_explicit(&pool->active, 1u, memory_order_release);
    }
}

static void signal_job(taper_own_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    atomic_fetch_add_explicit(&pool->job, 1u, memory_order_release);
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->lock);
}

taper_status taper_own_pool_create(const taper_allocator *allocator, unsigned threads, taper_own_pool **pool,
                                   taper_error *error)
{
    taper_own_pool *p = taper_alloc_zeroed(allocator, sizeof *p);
    *pool = NULL;
    if (p == NULL) {
        return taper_fail_memory(error);
    }
    p->allocator = *allocator;
    p->threads_bytes = threads * sizeof *p->threads;
    p->threads = taper_alloc(allocator, p->threads_bytes);
    if (p->threads == NULL || pthread_mutex_init(&p->lock, NULL) != 0) {
        taper_free(allocator, p->threads, p->threads_bytes);
        taper_free(allocator, p, sizeof *p);
        return taper_fail_memory(error);
    }
    (void)pthread_cond_init(&p->wake, NULL);
    atomic_init(&p->job, 0u);
    atomic_init(&p->active, 0u);
    atomic_init(&p->stop, false);
    while (p->workers + 1 < threads && pthread_create(&p->threads[p->workers], NULL, work, p) == 0) {
        p->workers++; // fewer threads than wished still do the work
    }
    *pool = p;
    return TAPER_OK;
}

void taper_own_pool_destroy(taper_own_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    atomic_store_explicit(&pool->stop, true, memory_order_release);
    signal_job(pool);
    for (unsigned i = 0; i < pool->workers; i++) {
        (void)pthread_join(pool->threads[i], NULL);
    }
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->lock);
    const taper_allocator allocator = pool->allocator;
    taper_free(&allocator, pool->threads, pool->threads_bytes);
    taper_free(&allocator, pool, sizeof *pool);
}

void taper_own_pool_run(taper_own_pool *pool, void (*task)(void *argument, size_t index), void *argument, size_t count)
{
    pool->task = task;
    pool->argument = argument;
    pool->count = count;
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->active, pool->workers, memory_order_release);
    signal_job(pool);
    take_work(pool);
    while (atomic_load_explicit(&pool->active, memory_order_acquire) != 0) {
    }
}
