// SPDX-License-Identifier: BSD-2-Clause
// threads.h over one of three engines: the host's pool, pthreadpool, or pool_own.c.
#include "platform/threads.h"

#include "platform/platform.h"
#include "platform/pool_own.h"

#ifdef TAPER_WITH_PTHREADPOOL
#include <pthreadpool.h>
#endif

struct taper_pool {
    taper_allocator allocator;
    unsigned threads;
    bool has_host;
    taper_thread_pool host;
    taper_mutex *turn; // several sessions share one pool: they take turns
#ifdef TAPER_WITH_PTHREADPOOL
    pthreadpool_t engine;
#else
    taper_own_pool *engine;
#endif
};

taper_status taper_pool_create(const taper_allocator *allocator, unsigned threads, const taper_thread_pool *host,
                               taper_pool **pool, taper_error *error)
{
    taper_pool *p = taper_alloc_zeroed(allocator, sizeof *p);
    *pool = NULL;
    if (p == NULL) {
        return taper_fail_memory(error);
    }
    p->allocator = *allocator;
    p->threads = threads != 0 ? threads : taper_cpu_cores();
    taper_status status = taper_mutex_create(allocator, &p->turn, error);
    if (status == TAPER_OK && host != NULL) {
        p->has_host = true;
        p->host = *host;
        const size_t count = host->thread_count(host->user);
        p->threads = count > 0 ? (unsigned)taper_min_size(count, 1024) : 1;
    } else if (status == TAPER_OK && p->threads > 1) {
#ifdef TAPER_WITH_PTHREADPOOL
        p->engine = pthreadpool_create(p->threads);
        if (p->engine == NULL) {
            status = taper_fail(error, TAPER_ERROR_RESOURCE, "%u threads cannot be started", p->threads);
        }
#else
        status = taper_own_pool_create(allocator, p->threads, &p->engine, error);
#endif
    }
    if (status != TAPER_OK) {
        taper_pool_destroy(p);
        return status;
    }
    *pool = p;
    return TAPER_OK;
}

void taper_pool_destroy(taper_pool *pool)
{
    if (pool == NULL) {
        return;
    }
#ifdef TAPER_WITH_PTHREADPOOL
    if (pool->engine != NULL) {
        pthreadpool_destroy(pool->engine);
    }
#else
    taper_own_pool_destroy(pool->engine);
#endif
    taper_mutex_destroy(pool->turn);
    const taper_allocator allocator = pool->allocator;
    taper_free(&allocator, pool, sizeof *pool);
}

unsigned taper_pool_threads(const taper_pool *pool)
{
    return pool != NULL ? pool->threads : 1;
}

void taper_pool_each(const taper_pool *pool, taper_index_task task, void *argument, size_t count)
{
    if (pool == NULL || pool->threads <= 1 || count <= 1) {
        for (size_t i = 0; i < count; i++) {
            task(argument, i);
        }
        return;
    }
    taper_mutex_lock(pool->turn);
    if (pool->has_host) {
        pool->host.run(pool->host.user, task, argument, count);
    } else {
#ifdef TAPER_WITH_PTHREADPOOL
        pthreadpool_parallelize_1d(pool->engine, (pthreadpool_task_1d_t)task, argument, count, 0);
#else
        taper_own_pool_run(pool->engine, task, argument, count);
#endif
    }
    taper_mutex_unlock(pool->turn);
}

typedef struct range_job {
    taper_range_task task;
    void *argument;
    size_t count, piece;
} range_job;

static void run_piece(void *argument, size_t index)
{
    const range_job *job = argument;
    const size_t begin = index * job->piece;
    job->task(job->argument, begin, taper_min_size(begin + job->piece, job->count));
}

void taper_pool_range(const taper_pool *pool, taper_range_task task, void *argument, size_t count, size_t grain)
{
    if (count == 0) {
        return;
    }
    const unsigned threads = taper_pool_threads(pool);
    if (threads <= 1 || count <= grain) {
        task(argument, 0, count);
        return;
    }
    const size_t pieces = 4 * (size_t)threads;
    range_job job = {task, argument, count, taper_max_size((count + pieces - 1) / pieces, taper_max_size(grain, 1))};
    taper_pool_each(pool, run_piece, &job, (count + job.piece - 1) / job.piece);
}
